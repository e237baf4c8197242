"""A game level: guards walk from one spawn point to the next, a door closes, and they walk around.

Run it: ``python examples/game_level.py [picture.png [LEVEL.bsp]]``. Without a Quake 3 level a dungeon is made up.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np

from wayfold import Agent, Box, World, formats
from wayfold.view import pictures


def open_level(file: str | None, seed: int) -> tuple[World, Agent, list[np.ndarray]]:
    """A level, a guard of the level's size, and the places that the guard visits."""
    if file is None:
        world, guard = World.sample("dungeon", seed=seed), Agent()
        return world, guard, list(world.planner(guard).random_points(6, seed=1))
    level = formats.load_bsp(file)  # Quake's unit is about 3 cm
    guard = Agent(radius=15, height=56, climb=18, slope=45.57)
    spawns = [point.position for point in level.points if point.kind.startswith("info_player")]
    return World.from_mesh(level.mesh, name=file), guard, spawns


def main(picture: str | None = None, file: str | None = None, *, seed: int = 10) -> list[float]:
    print("opening", file or f"a dungeon made from seed {seed}")
    world, guard, places = open_level(file, seed)
    planner = world.planner(guard)
    print(planner.explain())
    places = [planner.nearest(place) for place in places[:8]]
    rounds = [planner.path(a, b, exact=True) for a, b in itertools.pairwise(places) if planner.reachable(a, b)]
    for path in rounds:
        ms = 1e3 * path.timings["total"]
        print(f"a leg of {path.length:.0f} with {len(path.points)} corners, planned in {ms:.2f} ms")
    longest = max(rounds, key=lambda path: path.length)
    steps = np.linalg.norm(np.diff(longest.points, axis=0), axis=1)
    at = int(steps.argmax())  # a door closes in the middle of the longest stretch
    middle = (longest.points[at] + longest.points[at + 1]) / 2
    size = np.array([3 * guard.radius, 3 * guard.radius, guard.height])
    door = world.block(Box(middle - size, middle + size))
    around = planner.path(longest.points[0], longest.points[-1], exact=True)
    says = f"around it are {around.length:.0f}" if around else "there is no way around it"
    print(f"a door closes on the leg of {longest.length:.0f}: {says}")
    world.unblock(door)
    print(f"it opens: {planner.path(longest.points[0], longest.points[-1], exact=True).length:.0f} again")
    if picture is not None:
        pictures.save(pictures.draw_path(planner.map, longest), picture)
        print("drawn:", picture)
    return [longest.length, around.length]


if __name__ == "__main__":
    print(__doc__) if "-" in {word[:1] for word in sys.argv[1:]} else main(*sys.argv[1:3])
