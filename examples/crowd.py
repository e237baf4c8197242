"""A crowd leaves a city for one square: one search serves everybody; then a street is closed, and all go another way.

Run it: ``python examples/crowd.py [picture.png [LEVEL.obj [y]]]`` (y: it is y-up). Without a file a city is made up.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from wayfold import Agent, Box, World
from wayfold.view import pictures


def main(picture: str | None = None, file: str | None = None, up: str | None = None, *, size=200.0, people=1000):
    print("opening", file or f"a made-up district of {size:g} x {size:g} m")
    world = World.open(file, up=up) if file else World.sample("city", size=(size, size), seed=3)
    planner = world.planner(Agent())
    print(planner.explain())
    starts = planner.random_points(people, seed=1)
    square = planner.random_points(1, seed=2)[0]

    def everybody_goes() -> list:
        begin = time.perf_counter()
        ways = [way for way in planner.field(square).paths(starts) if way]
        took = time.perf_counter() - begin
        mean = np.mean([way.length for way in ways]) if ways else np.inf
        print(f"{len(ways)} of {len(starts)} ways in {1e3 * took:.0f} ms, {mean:.1f} m on average")
        return ways

    ways = everybody_goes()
    # Where most of them walk: count the corners in squares of up to 6 m, away from the goal itself.
    span = (world.bounds[1] - world.bounds[0])[:2]
    side = min(6.0, span.max() / 15)
    corners = np.concatenate([way.points for way in ways])
    away = np.linalg.norm(corners - square, axis=1) > 0.15 * span.max()
    cells, counts = np.unique((corners[away, :2] // side).astype(int), axis=0, return_counts=True)
    if not len(counts):
        sys.exit("everybody is there already: the level is too small for a crowd")
    low = side * cells[counts.argmax()]
    street = Box((*low, world.bounds[0, 2] - 1), (*(low + side), world.bounds[1, 2] + 1))
    print(f"{counts.max()} corners lie around {low + side / 2}: that street is closed")
    world.block(street)
    starts = starts[~street.contains(starts)]
    around = everybody_goes()
    if picture is not None:
        figure, axes = pictures.new_figure(*span)
        pictures.draw_mesh(axes, world.mesh)
        for way in around:
            axes.plot(*way.points[:, :2].T, color=pictures.ROUTE, linewidth=0.6, alpha=0.3)
        pictures.save(figure, picture)
        print("drawn:", picture)
    return [float(np.mean([way.length for way in found])) if found else np.inf for found in (ways, around)]


if __name__ == "__main__":
    print(__doc__) if "-" in {word[:1] for word in sys.argv[1:]} else main(*sys.argv[1:4])
