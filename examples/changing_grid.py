"""A changing grid world: doors open and close and a bridge is raised while people walk; paths are repaired.

Run it: ``python examples/changing_grid.py [picture.png]``. It prints what happens and how long each edit took.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from wayfold import SparseGrid
from wayfold.view import pictures, sparse

DECK = 6  # levels of the town and its bridges above the floor of the canal


def town(width: int, height: int) -> tuple[SparseGrid, dict[str, np.ndarray]]:
    """Streets on both sides of a sunken canal, and the parts that come and go: two doors in a wall, and the bridge."""
    wall, canal = width // 4, range(width // 2 - 5, width // 2 + 6)
    ground = [(x, y, 0 if x in canal else DECK) for y in range(height) for x in range(width) if x != wall]
    footbridge = [(x, 2, DECK) for x in canal]
    parts = {
        "north door": [(wall, y, DECK) for y in range(height // 5, height // 5 + 4)],
        "south door": [(wall, y, DECK) for y in range(4 * height // 5, 4 * height // 5 + 4)],
        "bridge": [(x, y, DECK) for x in canal for y in range(height // 2 - 3, height // 2 + 3)],
    }
    cells = [*ground, *footbridge, *parts["north door"], *parts["south door"], *parts["bridge"]]
    return SparseGrid.from_cells(cells), {name: np.array(part) for name, part in parts.items()}


def main(picture: str | None = None, *, width: int = 240, height: int = 120) -> list[float]:
    grid, parts = town(width, height)
    print(f"a town of {grid.num_cells:,} cells in {grid.num_regions} regions, {grid.nbytes / 1e3:.0f} kB")
    start, goal = (2, height // 5, DECK), (width - 3, height - 3, DECK)
    swim = grid.path((width // 2, 0, 0), (width // 2, height - 1, 0))
    path = grid.path(start, goal)
    print(f"a person walks {path.cost:.0f} cells to work, somebody swims {swim.cost:.0f} under the bridges")
    costs = [path.cost]
    for event in ("close bridge", "close north door", "close south door", "open north door", "open bridge"):
        what, name = event.split(" ", 1)
        begin = time.perf_counter()
        (grid.remove if what == "close" else grid.add)(parts[name])
        took = time.perf_counter() - begin
        # What closes may cut a path: its good part is kept. What opens may make another way shorter: plan anew.
        path = grid.replan(path) if what == "close" and path else grid.path(start, goal)
        says = f"{path.cost:.0f} cells, {path.expanded} settled to find them" if path else "no way: wait for a door"
        print(f"{event}: {1e3 * took:.2f} ms; {says}")
        costs.append(path.cost)
    if picture is not None:
        pictures.save(sparse.draw_regions(grid, grid.path(start, goal, smooth=True)), picture)
        print("drawn:", picture)
    return costs


if __name__ == "__main__":
    print(__doc__) if "-" in {word[:1] for word in sys.argv[1:]} else main(*sys.argv[1:2])
