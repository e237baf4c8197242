"""Edits of a sparse grid as its users call them: cells, area effects and links come and go, all of a batch or none."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from wayfold.core import checks
from wayfold.core.locks import ReadersWriter, writes
from wayfold.grid._editor import Editor, check_cells
from wayfold.grid._links import octile
from wayfold.grid._planner import Planner


@checks.checked
class Editing:
    """The part of `SparseGrid` that changes it."""

    _editor: Editor
    _planner: Planner
    _lock: ReadersWriter

    @writes
    def add(self, cells: ArrayLike, *, kind: int = 0) -> None:
        """Add cells; edges, regions and abstract edges follow.

        Parameters
        ----------
        cells : (n, 3) or (n, 2) array_like of int
        kind : int, 0 to 254
            Only cells of the same kind are linked.

        Raises
        ------
        EditError
            When a cell is already there, is listed twice or has a height beyond int16. Nothing is changed.
        """
        kinds = np.array([checks.whole(kind, "kind", low=0, high=254)], np.uint8)
        self._editor.edit(check_cells(cells), True, kinds)

    @writes
    def remove(self, cells: ArrayLike) -> None:
        """Remove cells; edges, regions and abstract edges follow.

        Raises
        ------
        EditError
            When a cell is not there or is listed twice. Nothing is changed.
        """
        self._editor.edit(check_cells(cells), False, np.zeros(1, np.uint8))

    @writes
    def add_effect(self, cells: ArrayLike) -> None:
        """Put one more area effect on cells (on a cell that is listed twice, two); at most 7 fit on a cell.

        Raises
        ------
        EditError
            When a cell is not there or would have more than 7 effects. Nothing is changed.
        """
        self._editor.change_effects(check_cells(cells), 1)

    @writes
    def remove_effect(self, cells: ArrayLike) -> None:
        """Take one area effect off cells.

        Raises
        ------
        EditError
            When a cell is not there or has no effect. Nothing is changed.
        """
        self._editor.change_effects(check_cells(cells), -1)

    @writes
    def add_link(self, a: ArrayLike, b: ArrayLike, *, cost: float | None = None, both_ways: bool = True) -> None:
        """Join two cells that need not be neighbours: a ladder, a lift, a walkable wall.

        Parameters
        ----------
        a, b : (x, y) or (x, y, z)
            Two cells that are there. While one of them is removed the link rests; it is back when the cell is.
        cost : float, optional
            At least the octile distance of the two columns, which plus one for each level is the default; at most 1e28.
        both_ways : bool
            Whether it also leads from `b` to `a`.
        """
        ends = np.array([checks.point3(a, "a"), checks.point3(b, "b")])
        self._planner.nodes_of(ends, "link")
        first, second = ends.astype(np.int64)
        least = float(octile(ends[None])[0])
        levels = float(abs(first[2] - second[2]))
        price = least + levels if cost is None else checks.number(cost, "cost", low=least, high=checks.LARGEST_COST)
        self._planner.links.add(first, second, price, bool(both_ways))

    @writes
    def remove_link(self, a: ArrayLike, b: ArrayLike) -> None:
        """Remove the link between two cells, whichever way it leads."""
        ends = np.array([checks.point3(a, "a"), checks.point3(b, "b")]).astype(np.int64)
        self._planner.links.remove(ends[0], ends[1])

    @writes
    def reserve(self, cells: int = 0, *, regions: int = 0, edges: int = 0) -> None:
        """Make room in the pools, so that edits allocate nothing until it is used up.

        Parameters
        ----------
        cells : int, >= 0
            Room for so many more cells in the boxes of regions; a region that grows moves to a larger block.
        regions, edges : int, >= 0
            Room for so many more regions and abstract edges.
        """
        self._editor.reserve(cells, regions, edges)

    @writes
    def compact(self) -> None:
        """Squeeze all gaps out of the pools; edits do so themselves once a quarter of a pool is gaps."""
        self._editor.compact()
