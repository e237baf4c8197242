"""Cells of a sparse grid from height maps and triangle meshes, and an index of where cells lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import Agent
from wayfold.core import checks, text
from wayfold.core.arrays import distinct
from wayfold.errors import OffMapError, ParameterError
from wayfold.geometry import Mesh, TriangleIndex

if TYPE_CHECKING:
    from wayfold.grid.sparse import SparseGrid

_LEVELS_PER_CLIMB = 4
SEED_DISTANCE = 2.0  # cells, beside the agent's radius: how far from its cell a seed may lie
_RAYS_AT_ONCE = 1 << 18
# Surfaces this near to each other, as a share of the agent's height, are one: meshes often have floors on floors.
_SAME_SURFACE = 1e-3
_ASIDE = (0.0171, 0.0117)  # cells; a direction that no edge of a level runs in


def heightmap_cells(z: ArrayLike, passable: ArrayLike | None, level: float) -> NDArray[np.int64]:
    """Cells of a height map; NaN and impassable places have none."""
    heights = checks.floats(z, "z", "numbers of shape (rows, columns)")
    if heights.ndim != 2:
        raise ParameterError(f"z must have shape (rows, columns), not {heights.shape}")
    level = checks.number(level, "level", low=0.0, open_low=True)
    there = ~np.isnan(heights)
    if passable is not None:
        allowed = checks.numbers(passable, "passable", "an array of truth values", bools=True)
        if allowed.shape != heights.shape:
            raise ParameterError(f"passable must have the shape of z, {heights.shape}, not {allowed.shape}")
        there &= allowed.astype(bool)
    rows, columns = np.nonzero(there)
    with np.errstate(over="ignore"):
        levels = np.floor(heights[there] / level + 1e-9)
    if not (np.abs(levels) <= 32767).all():
        at = int(np.argmin(np.abs(levels) <= 32767))
        raise ParameterError(
            f"height {heights[there][at]:g} at row {rows[at]}, column {columns[at]} is beyond int16 levels of {level:g}"
        )
    return np.column_stack([columns, rows, levels.astype(np.int64)])


def mesh_cells(
    mesh: Mesh,
    agent: Agent,
    cell: float,
    level: float | None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[NDArray[np.int64], int, NDArray[np.float64], NDArray[np.float64]]:
    """Cells of a mesh where an agent can stand, the highest step in levels, and the grid's origin and scale."""
    cell = checks.number(cell, "cell", low=checks.SMALLEST, high=checks.LARGEST)
    if level is None:
        level = max(agent.climb / _LEVELS_PER_CLIMB, cell / 16.0)
    level = checks.number(level, "level", low=checks.SMALLEST / 16.0, high=checks.LARGEST)
    low, high = mesh.bounds
    columns, rows = (max(1, int(np.ceil((high[k] - low[k]) / cell))) for k in range(2))
    if columns * rows > 1 << 31 or (high[2] - low[2]) / level > 65535:
        raise ParameterError(f"{columns} x {rows} cells of {cell:g} m are too many for this mesh: use larger cells")
    index = TriangleIndex(mesh)
    sides = np.cross(mesh.corners[:, 1] - mesh.corners[:, 0], mesh.corners[:, 2] - mesh.corners[:, 0])
    lengths = np.linalg.norm(sides, axis=1)
    up = np.divide(sides[:, 2], lengths, out=np.zeros_like(lengths), where=lengths > 0)
    walkable = up >= np.cos(np.radians(agent.slope)) - 1e-9
    parts = []
    rows_at_once = max(1, _RAYS_AT_ONCE // columns)
    middle = float(low[2] + high[2]) / 2.0  # levels are counted from the middle: they must fit int16
    for first in range(0, rows, rows_at_once):
        count = min(rows_at_once, rows - first)
        x = np.tile(np.arange(columns), count)
        y = np.repeat(np.arange(first, first + count), columns)
        floors, which = _floors(
            index, walkable, agent, low[0] + (x + 0.5) * cell, low[1] + (y + 0.5) * cell, high[2], cell
        )
        levels = np.floor((floors - middle) / level + 1e-6).astype(np.int64)
        parts.append(np.column_stack([x[which], y[which], levels]))
        if progress is not None:
            progress(first + count, rows)
    cells = distinct(np.concatenate(parts)).rows
    origin = np.array([low[0] + cell / 2, low[1] + cell / 2, middle + level / 2])
    step = int(np.floor(agent.climb / level + 1e-6))
    return cells, step, origin, np.array([cell, cell, level])


def _floors(
    index: TriangleIndex,
    walkable: NDArray[np.bool_],
    agent: Agent,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    top: float,
    cell: float,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Heights of all floors below points of the sky on which an agent can stand, and the point of each.

    A ray may fall through the hairline crack between two triangles that should share an edge (terrain made of brushes
    is full of them), so that a second one beside it finds the floors that it missed.
    """
    heights, ray = _roomy_floors(index, walkable, agent, x, y, top)
    aside = _roomy_floors(index, walkable, agent, x + _ASIDE[0] * cell, y + _ASIDE[1] * cell, top)
    missed = _apart(heights, ray, *aside, agent.climb + 2.0 * _ASIDE[0] * cell)
    heights, ray = np.concatenate([heights, aside[0][missed]]), np.concatenate([ray, aside[1][missed]])
    low = np.column_stack([x[ray], y[ray], heights])
    high = low.copy()
    # What is not higher than a step is no obstacle: stairs can be climbed whose treads are narrower than an agent.
    bottom = min(agent.climb + agent.radius, max(agent.height - agent.radius, agent.height / 2.0))
    # A hair less than the radius: an agent may touch the walls of a passage that is exactly as wide as it is.
    radius = agent.radius * (1.0 - 1e-6)
    if radius > 0 and len(low):
        low[:, 2] += bottom
        high[:, 2] += max(bottom, agent.height - agent.radius)
        free = index.clear(low, high, radius)
        heights, ray = heights[free], ray[free]
    return heights, ray


def _apart(
    heights: NDArray[np.float64],
    ray: NDArray[np.int64],
    others: NDArray[np.float64],
    other_ray: NDArray[np.int64],
    distance: float,
) -> NDArray[np.bool_]:
    """Which of the other floors are not within a distance of a floor of the same ray."""
    if not len(heights) or not len(others):
        return np.ones(len(others), np.bool_)
    low, high = min(heights.min(), others.min()), max(heights.max(), others.max())
    far = float(high - low) + 2.0 * distance + 1.0  # floors of different rays are farther apart than this on the line
    line = np.sort(ray * far + heights - low)
    where = other_ray * far + others - low
    after = np.searchsorted(line, where)
    gap = np.minimum(np.abs(where - line[after - 1]), np.abs(line[np.minimum(after, len(line) - 1)] - where))
    return np.asarray(gap > distance)


def _roomy_floors(
    index: TriangleIndex,
    walkable: NDArray[np.bool_],
    agent: Agent,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    top: float,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Heights of all walkable floors below points of the sky with an agent's height of room above, and their points."""
    ceiling = top + agent.height + 1.0
    origins = np.column_stack([x, y, np.full(len(x), ceiling)])
    offsets, distances, triangles = index.all_hits(origins, [0.0, 0.0, -1.0])
    ray = np.repeat(np.arange(len(x)), np.diff(offsets))
    heights = ceiling - distances
    same = _SAME_SURFACE * agent.height
    # The surface above each one: hits are sorted from above, and those at the same height are one surface.
    above = np.arange(len(heights)) - 1
    clearance = np.full(len(heights), np.inf)
    first_of_surface = np.ones(len(heights), np.bool_)
    waiting = np.arange(len(heights))
    while len(waiting):
        over = above[waiting]
        waiting = waiting[(over >= 0) & (ray[over] == ray[waiting])]
        gap = heights[above[waiting]] - heights[waiting]
        apart = gap > same
        clearance[waiting[apart]] = gap[apart]
        waiting = waiting[~apart]
        first_of_surface[waiting[walkable[triangles[above[waiting]]]]] = False
        above[waiting] -= 1
    stands = np.flatnonzero(walkable[triangles] & first_of_surface & (clearance >= agent.height))
    return heights[stands], ray[stands]


def nearest_cells(
    grid: SparseGrid, points: NDArray[np.float64], wanted: NDArray[np.float64], max_distance: float
) -> NDArray[np.int64]:
    """The cell nearest to each point, which is given in cells and levels, and in metres for the message."""
    reach = checks.number(max_distance, "max_distance", low=0.0) + 0.5
    index = CellIndex(grid.cells)
    found = np.empty((len(points), 3), np.int64)
    for at, point in enumerate(points):
        around = index.cells(index.within(point[:2] - reach, point[:2] + reach))
        around = around[((around - point)[:, :2] ** 2).sum(axis=1) <= reach * reach]
        if not len(around):
            where = text.place(wanted[at], 1e3 * float(grid.scale.min()))
            raise OffMapError(f"points[{at}] ({where}) is not near any cell of the grid")
        under = around[around[:, 2] <= point[2] + 1]  # what stands in the air stands above its cell, not below it
        around = under if len(under) else around
        apart = (around - point) * grid.scale
        found[at] = around[np.argmin((apart * apart).sum(axis=1))]
    return found


def connected_cells(grid: SparseGrid, seeds: NDArray[np.int64]) -> NDArray[np.int64]:
    """All cells of the grid's components that hold one of some cells."""
    planner, store = grid._planner, grid._store
    labels = planner.components()
    nodes = planner.all_nodes()
    wanted = np.zeros(int(labels.max(initial=-1)) + 1, np.bool_)
    wanted[labels[store.owners[grid._nodes(seeds) >> 4]]] = True
    return planner.cells_of(nodes[wanted[labels[store.owners[nodes >> 4]]]])


Cells = NDArray[np.int64]
_LEVELS = 1 << 16
_LOWEST = -(1 << 15)


class CellIndex:
    """Cells by row, column and height; 8 bytes a cell.

    Parameters
    ----------
    cells : (n, 3) int64 array
        Sorted so, each once, with heights within int16: what `SparseGrid.cells` gives.
    """

    def __init__(self, cells: Cells) -> None:
        low = cells[:, :2].min(axis=0) if len(cells) else np.zeros(2, np.int64)
        high = cells[:, :2].max(axis=0) if len(cells) else np.zeros(2, np.int64)
        self._low = low
        self._high = high
        self._width = int(high[0] - low[0]) + 1
        self._order = self._key(cells)

    def __len__(self) -> int:
        return len(self._order)

    @property
    def nbytes(self) -> int:
        """Bytes of the list."""
        return self._order.nbytes

    def cells(self, at: NDArray[np.int64] | slice) -> Cells:
        """The cells at some places of the list, (k, 3)."""
        column, level = np.divmod(self._order[at], _LEVELS)
        y, x = np.divmod(column, self._width)
        return np.column_stack([x + self._low[0], y + self._low[1], level + _LOWEST])

    def find(self, cells: Cells) -> NDArray[np.int64]:
        """The place of each cell in the list, -1 for those that are not in it."""
        if not len(self._order):
            return np.full(len(cells), -1)
        inside = ((cells[:, :2] >= self._low) & (cells[:, :2] <= self._high)).all(axis=1)
        inside &= (cells[:, 2] >= _LOWEST) & (cells[:, 2] < -_LOWEST)
        wanted = self._key(cells)
        at = np.minimum(np.searchsorted(self._order, wanted), len(self._order) - 1)
        return np.where(inside & (self._order[at] == wanted), at, -1)

    def within(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.int64]:
        """Places of all cells whose column and row lie between two corners (x, y), both included."""
        first = np.maximum(np.ceil(low), self._low).astype(np.int64) - self._low
        last = np.minimum(np.floor(high), self._high).astype(np.int64) - self._low
        if (first > last).any():
            return np.empty(0, np.int64)
        rows = np.arange(first[1], last[1] + 1) * self._width
        begin = np.searchsorted(self._order, (rows + first[0]) * _LEVELS)
        count = np.searchsorted(self._order, (rows + last[0] + 1) * _LEVELS) - begin
        return np.repeat(begin - np.cumsum(count) + count, count) + np.arange(count.sum())

    def _key(self, cells: Cells) -> NDArray[np.int64]:
        column = (cells[:, 1] - self._low[1]) * self._width + cells[:, 0] - self._low[0]
        return np.asarray(column * _LEVELS + cells[:, 2] - _LOWEST)
