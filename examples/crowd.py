"""A crowd leaves a city for one square: one search serves everybody; then a street is closed, and all go another way.

Run it: ``python examples/crowd.py [picture.png [LEVEL.obj]]``. Without a file a city district is made up.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from wayfold import Agent, Box, World
from wayfold.view import pictures


def main(
    picture: str | None = None, file: str | None = None, *, size: float = 200.0, people: int = 1000
) -> list[float]:
    print("opening", file or f"a made-up district of {size:g} x {size:g} m")
    world = World.open(file) if file else World.sample("city", size=(size, size), seed=3)
    planner = world.planner(Agent())
    print(planner.explain())
    starts = planner.random_points(people, seed=1)
    square = planner.random_points(1, seed=2)[0]

    def everybody_goes() -> list:
        begin = time.perf_counter()
        ways = planner.field(square).paths(starts)
        took = time.perf_counter() - begin
        mean = np.mean([way.length for way in ways if way])
        print(f"{sum(map(bool, ways))} of {people} ways in {1e3 * took:.0f} ms, {mean:.1f} m on average")
        return [way for way in ways if way]

    ways = everybody_goes()
    # Where most of them walk: count the corners in squares of 6 m, away from the goal itself.
    corners = np.concatenate([way.points for way in ways])
    corners = corners[np.linalg.norm(corners - square, axis=1) > 0.15 * size]
    cells, counts = np.unique((corners[:, :2] // 6).astype(int), axis=0, return_counts=True)
    low = 6.0 * cells[counts.argmax()]
    street = Box((*low, world.bounds[0, 2] - 1), (*(low + 6), world.bounds[1, 2] + 1))
    print(f"{counts.max()} corners lie around {low + 3}: that street is closed")
    world.block(street)
    starts = starts[~street.contains(starts)]
    around = everybody_goes()
    if picture is not None:
        figure, axes = pictures.new_figure(*(world.bounds[1] - world.bounds[0])[:2])
        pictures.draw_mesh(axes, world.mesh)
        for way in around:
            axes.plot(*way.points[:, :2].T, color=pictures.ROUTE, linewidth=0.6, alpha=0.3)
        pictures.save(figure, picture)
    return [float(np.mean([way.length for way in found])) for found in (ways, around)]


if __name__ == "__main__":
    main(*sys.argv[1:3])
