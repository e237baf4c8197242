"""Where the cells of a grid lie in the world, and which of them a point is at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import Agent
from wayfold.grid import SparseGrid
from wayfold.grid.sources import CellIndex
from wayfold.map import off_map

_ASIDE = 1.5
"""Cells of a mesh end before walls: a point so many cells beside the middle of one is at it."""

Points = NDArray[np.float64]
At = NDArray[np.int64]


class Places:
    """The cells that a grid has without edits, numbered by row, column and height.

    Parameters
    ----------
    grid : SparseGrid
        As it was built; later edits of it do not matter.
    agent : Agent or None
        Whose mesh the cells were found in; None in a world of cells.
    """

    def __init__(self, grid: SparseGrid, agent: Agent | None) -> None:
        self.index = CellIndex(grid.cells)
        self.origin, self.scale = np.array(grid.origin), np.array(grid.scale)
        self.agent = agent
        self.half = float(self.scale[2]) / 2
        """Half the height of a level: how far the ground may lie from the middle of its cell."""

    def __len__(self) -> int:
        return len(self.index)

    def middles(self, at: At | slice) -> Points:
        """(k, 3) middles of cells in the world."""
        return np.asarray(self.index.cells(at) * self.scale + self.origin)

    def cells(self, points: Points) -> NDArray[np.int64]:
        """(k, 3) cells in which points lie, whether they are there or not."""
        return np.floor((points - self.origin) / self.scale + 0.5).astype(np.int64)

    def around(self, bounds: Points, radius: float) -> At:
        """The cells whose middle, seen from above, lies in a box or within a distance of it."""
        low, high = ((corner[:2] - self.origin[:2]) / self.scale[:2] for corner in bounds)
        grown = radius / self.scale[:2] + 1e-6
        return self.index.within(low - grown, high + grown)

    def find(self, points: Points, there: NDArray[np.bool_], name: str) -> At:
        """The cell that each point is at.

        Parameters
        ----------
        points : (q, 3) float64 array
            In a world of cells they are rounded; in a mesh the nearest cell counts, within 1.5 cells sideways and the
            agent's height. A height that is not a number stands for any.
        there : (n,) bool array
            Which cells are there now.
        name : str
            What the points are called in errors.
        """
        if self.agent is None:
            found = self.index.find(self.cells(np.clip(points, -1e9, 1e9)))
            found[found >= 0] = np.where(there[found[found >= 0]], found[found >= 0], -1)
        else:
            max_distance = _ASIDE * float(self.scale[0])
            max_height = max(self.agent.height, 4 * self.half)
            found = np.array([self.nearest(point, there, max_distance, max_height) for point in points], np.int64)
        if len(found) and found.min() < 0:
            bad = int(np.argmin(found))
            where = points[bad][np.isfinite(points[bad])]
            which = name if len(points) == 1 else f"{name}[{bad}]"
            raise off_map(where, f"({which}) is not a cell of the grid", 1e3 * float(self.scale.min()))
        return found

    def nearest(self, point: Points, there: NDArray[np.bool_], max_distance: float, max_height: float) -> int:
        """The nearest cell within a distance sideways and one up or down, metres; -1 for none."""
        box = np.array([point - max_distance, point + max_distance])
        at = self.around(box, 0.0)
        at = at[there[at]]
        apart = self.middles(at) - point
        if np.isnan(point[2]):
            apart[:, 2] = 0.0
        aside = (apart[:, :2] ** 2).sum(axis=1)
        near = np.flatnonzero((aside <= max_distance * max_distance * (1 + 1e-9)) & (np.abs(apart[:, 2]) <= max_height))
        if not near.size:
            return -1
        return int(at[near[np.argmin(aside[near] + apart[near, 2] ** 2)]])
