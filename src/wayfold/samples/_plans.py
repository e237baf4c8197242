"""Flat floor plans: mazes and offices, as polygons, as cells where they come from cells, and as extruded meshes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon, affinity, box

from wayfold.core import checks
from wayfold.errors import ParameterError
from wayfold.geometry import Mesh
from wayfold.samples._builder import Builder

_RIM = 0.3
"""Thickness of the wall around a plan, metres."""


@checks.checked
@dataclass(frozen=True)
class Plan:
    """A floor, as `maze` and `rooms` make it: the free space is `boundary` without the `obstacles`, in metres.

    >>> plan = maze(3, 2, seed=1)
    >>> plan.boundary.bounds, plan.free.area, int(plan.cells.sum())  # cells of 2 m
    ((2.0, 2.0, 12.0, 8.0), 44.0, 11)
    """

    boundary: Polygon
    obstacles: list[Polygon]
    cells: NDArray[np.bool_] | None = None
    """(H, W), True where one can walk, row 0 at the bottom (least y); None for plans that are not made of cells."""

    @property
    def free(self) -> Polygon:
        """The free space as one polygon with holes."""
        return Polygon(self.boundary.exterior, [obstacle.exterior for obstacle in self.obstacles])

    def mesh(self, wall_height: float = 3.0) -> Mesh:
        """Extrude the plan: floor at z = 0, walls and obstacles, no ceiling.

        Parameters
        ----------
        wall_height : float, metres, > 0 to 1000
            Height of the walls and obstacles.

        Returns
        -------
        Mesh
            With the materials "floor" and "wall".

        Examples
        --------
        >>> maze(3, 2).mesh(wall_height=2.5)
        <Mesh: 58 triangles, 10.6 x 6.6 x 2.5 m>
        >>> maze(3, 2).mesh().material_names
        ('floor', 'wall')
        """
        height = checks.number(wall_height, "wall_height", low=0, high=1000, open_low=True)
        build = Builder()
        build.polygon(self.free, 0.0, "floor")
        build.walls(self.free, 0.0, height, "wall", inward=True)
        around = self.boundary.convex_hull.buffer(_RIM, join_style="mitre")
        build.polygon(around.difference(self.boundary), height, "wall")
        build.walls(around, 0.0, height, "wall")
        for obstacle in self.obstacles:
            build.polygon(obstacle, height, "wall")
        return build.mesh()


def _plan(free: Any, cells: NDArray[np.bool_] | None) -> Plan:
    """A plan from its free space; of several parts the largest."""
    space = max(shapely.get_parts(shapely.normalize(free)), key=lambda part: float(part.area))
    holes = [Polygon(ring) for ring in space.interiors]
    return Plan(Polygon(space.exterior), holes, cells)


def maze(width: int = 20, height: int = 20, seed: int = 0, *, cell: float = 2.0, loops: float = 0.1) -> Plan:
    """Return a maze of passages one cell wide between walls one cell thick.

    Parameters
    ----------
    width, height : int, 1 to 1000
        Junctions across and up. The plan has ``2 * width + 1`` by ``2 * height + 1`` cells, walls included.
    seed : int, >= 0
        The same seed gives the same maze.
    cell : float, metres, > 0
        Side of a cell.
    loops : float, 0 to 1
        Share of the remaining inner walls that are opened, so that there is more than one way; 0 gives a tree.

    Examples
    --------
    >>> for row in maze(6, 2, seed=1, loops=0.0).cells:
    ...     print("".join(".#"[not free] for free in row))
    #############
    #.#.....#...#
    #.#.#######.#
    #...........#
    #############
    """
    width = checks.whole(width, "width", low=1, high=1000)
    height = checks.whole(height, "height", low=1, high=1000)
    seed = checks.whole(seed, "seed", low=0)
    cell = checks.number(cell, "cell", low=0, high=1e4, open_low=True)
    loops = checks.number(loops, "loops", low=0, high=1)
    rng = np.random.default_rng(seed)
    cells = np.zeros((2 * height + 1, 2 * width + 1), bool)
    cells[1::2, 1::2] = True
    seen = np.zeros((height, width), bool)
    trail = [(int(rng.integers(height)), int(rng.integers(width)))]
    seen[trail[0]] = True
    # depth-first: long winding passages with dead ends
    while trail:
        row, column = trail[-1]
        around = [(row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)]
        fresh = [(r, c) for r, c in around if 0 <= r < height and 0 <= c < width and not seen[r, c]]
        if not fresh:
            trail.pop()
            continue
        r, c = fresh[int(rng.integers(len(fresh)))]
        cells[row + r + 1, column + c + 1] = True
        seen[r, c] = True
        trail.append((r, c))
    rows, columns = np.indices(cells.shape)
    inner = (rows > 0) & (rows < 2 * height) & (columns > 0) & (columns < 2 * width)
    walls = np.argwhere(inner & ~cells & ((rows + columns) % 2 == 1))
    opened = walls[rng.random(len(walls)) < loops]
    cells[opened[:, 0], opened[:, 1]] = True
    y, x = np.nonzero(cells)
    boxes = shapely.box(x * cell, y * cell, (x + 1) * cell, (y + 1) * cell)
    return _plan(shapely.union_all(boxes).simplify(0.0), cells)


def rooms(seed: int = 0, size: tuple[float, float] = (60.0, 36.0)) -> Plan:
    """Return an office floor: corridors, offices with door openings, furniture (some of it turned), columns.

    Parameters
    ----------
    seed : int, >= 0
        The same seed gives the same floor.
    size : (float, float), metres, each from 20 to 500
        Extent along x and y.

    Examples
    --------
    >>> office = rooms(seed=1, size=(30, 20))
    >>> office.boundary.bounds, round(office.free.area)
    ((0.0, 0.0, 30.0, 20.0), 548)
    """
    seed = checks.whole(seed, "seed", low=0)
    try:
        width, depth = size
    except (TypeError, ValueError):
        raise ParameterError(f"size must be two lengths in metres, not {checks.shown(size)}") from None
    width = checks.number(width, "size[0]", low=20, high=500)
    depth = checks.number(depth, "size[1]", low=20, high=500)
    rng = np.random.default_rng(seed)
    wall, hall = 0.2, 2.4
    walls: list[Any] = []
    doors: list[Any] = []
    furniture: list[Any] = []
    bands = max(1, round(depth / 16.0))
    edges = np.linspace(0, depth, bands + 1)
    for low, high in pairwise(edges):
        middle = (low + high) / 2 + rng.uniform(-1, 1)
        for bottom, top, door_at in ((low, middle - hall / 2, "top"), (middle + hall / 2, high, "bottom")):
            _row_of_offices(rng, (hall, bottom, width - hall, top), door_at, wall, walls, doors, furniture)
    for x in (hall + 6.0, width - hall - 6.0):
        furniture += [shapely.Point(x, y).buffer(0.45, quad_segs=2) for y in edges[1:-1]]
    solid = shapely.union_all(walls).difference(shapely.union_all(doors))
    floor = box(0, 0, width, depth)
    free = floor.difference(shapely.union_all([solid, *furniture]), grid_size=1e-4)
    return _plan(free, None)


def _row_of_offices(
    rng: np.random.Generator,
    place: tuple[float, float, float, float],
    door_at: str,
    wall: float,
    walls: list[Any],
    doors: list[Any],
    furniture: list[Any],
) -> None:
    """Offices side by side within `place`, each with a door to the corridor and desks; some also to the next."""
    left, bottom, right, top = place
    count = max(1, round((right - left) / rng.uniform(4.5, 7.5)))
    share = np.concatenate([[0.0], np.cumsum(rng.uniform(0.6, 1.5, count))])
    edges = left + share / share[-1] * (right - left)
    walls.append(box(left, bottom, right, top).difference(box(left + wall, bottom + wall, right - wall, top - wall)))
    for k, (a, b) in enumerate(pairwise(edges)):
        door = rng.uniform(a + 0.6, max(a + 0.61, b - 1.6))
        y = top if door_at == "top" else bottom
        doors.append(box(door, y - 0.5, door + 1.0, y + 0.5))
        if k:
            walls.append(box(a - wall / 2, bottom, a + wall / 2, top))
            if rng.random() < 0.2:
                y = rng.uniform(bottom + 1, top - 2)
                doors.append(box(a - 0.5, y, a + 0.5, y + 1.0))
        space = box(a + 1.1, bottom + 1.1, b - 1.1, top - 1.1)
        _furnish(rng, space, furniture)


def _furnish(rng: np.random.Generator, space: Any, furniture: list[Any]) -> None:
    """Desks, round tables and turned cupboards, clear of each other and of the walls by a metre or so."""
    if space.is_empty or space.area < 1:
        return
    left, bottom, right, top = space.bounds
    placed: list[Any] = []
    for _ in range(int(space.area / 5) + 1):
        centre = shapely.Point(rng.uniform(left, right), rng.uniform(bottom, top))
        if rng.random() < 0.25:
            shape = centre.buffer(rng.uniform(0.4, 0.8), quad_segs=2)
        else:
            half = rng.uniform(0.3, 0.45), rng.uniform(0.5, 0.9)
            flat = box(centre.x - half[0], centre.y - half[1], centre.x + half[0], centre.y + half[1])
            turn = float(rng.choice([0.0, 90.0])) if rng.random() < 0.6 else float(rng.uniform(0, 180))
            shape = affinity.rotate(flat, turn)
        if space.buffer(0.3).contains(shape) and all(shape.distance(other) > 0.9 for other in placed):
            placed.append(shape)
    furniture += placed
