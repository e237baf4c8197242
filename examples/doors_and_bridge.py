"""Doors that open and close and a bridge that is raised while agents walk: edits of a sparse grid, paths repaired.

Run it: ``python examples/doors_and_bridge.py [picture.png]``. It prints what happens and what each edit took.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from wayfold import SparseGrid

WIDTH, HEIGHT = 120, 60
DECK = 6  # levels of the bridge above the canal


def world() -> tuple[list[tuple[int, int, int]], dict[str, list[tuple[int, int, int]]]]:
    """A town on both sides of a sunken canal: its cells, and those that come and go."""
    canal = range(55, 66)
    walls = {30, 90}
    doors = {
        "west door": [(30, y, DECK) for y in range(12, 16)],
        "second west door": [(30, y, DECK) for y in range(48, 52)],
        "east door": [(90, y, DECK) for y in range(28, 33)],
    }
    bridge = {"bridge": [(x, y, DECK) for x in canal for y in range(27, 33)]}
    ground = [
        (x, y, 0 if x in canal else DECK)  # boats and swimmers pass below the bridge, on the floor of the canal
        for y in range(HEIGHT)
        for x in range(WIDTH)
        if x not in walls
    ]
    footbridge = [(x, 2, DECK) for x in canal]
    return ground + footbridge, doors | bridge


def main() -> None:
    cells, parts = world()
    grid = SparseGrid.from_cells(cells)
    for name, part in parts.items():
        grid.add(part)
        print(f"{name} is there: {len(part)} cells")
    goals = [((5, 5, DECK), (115, 55, DECK)), ((5, 55, DECK), (115, 5, DECK)), ((60, 0, 0), (60, 59, 0))]
    paths = [grid.path(start, goal, smooth=True) for start, goal in goals]
    events = [
        ("close", "west door"),
        ("close", "bridge"),
        ("close", "second west door"),
        ("open", "west door"),
        ("close", "east door"),
        ("open", "bridge"),
        ("open", "east door"),
        ("open", "second west door"),
    ]
    steps = [0.0] * len(goals)  # how far along its path each agent is, in cells
    places = [np.array(start) for start, _ in goals]
    for turn, (what, name) in enumerate(events):
        cells_of_part = np.array(parts[name])
        if what == "close" and any((cells_of_part == place).all(axis=1).any() for place in places):
            print(f"{turn}: somebody stands on the {name}, it stays")
            continue
        begin = time.perf_counter()
        (grid.remove if what == "close" else grid.add)(cells_of_part)
        took = time.perf_counter() - begin
        said = []
        for agent, (_, goal) in enumerate(goals):
            old = paths[agent]
            fresh = grid.replan(old) if old.found else grid.path(places[agent], goal)
            said.append(f"{fresh.cost:.0f}" if fresh else "waits")
            paths[agent] = fresh
            if fresh:  # walk on: the rest of the path is what the next event may change
                walked = np.cumsum(np.linalg.norm(np.diff(fresh.points[:, :2], axis=0), axis=1))
                at = int(np.searchsorted(walked, 8.0)) + 1
                steps[agent] += float(walked[min(at, len(walked)) - 1]) if len(walked) else 0.0
                places[agent] = fresh.points[min(at, len(fresh.points) - 1)].astype(int)
                paths[agent] = grid.path(places[agent], goal)
        print(f"{turn}: {what} the {name}: {1e3 * took:.2f} ms, agents: {', '.join(said)}, regions: {grid.num_regions}")
    print("walked:", ", ".join(f"{step:.0f} cells" for step in steps))
    if len(sys.argv) > 1:
        from wayfold.view.pictures import save
        from wayfold.view.sparse import draw_regions

        save(draw_regions(grid, grid.path(*goals[0], smooth=True)), sys.argv[1])


if __name__ == "__main__":
    main()
