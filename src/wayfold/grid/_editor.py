"""Edits of a sparse grid: what enters is checked, kernels do the work, pools grow when they ask for it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.errors import EditError, ParameterError
from wayfold.grid import _edit_kernels, _pools
from wayfold.grid import _link_kernels as answers
from wayfold.grid import _store_kernels as layout

_CHUNK = 8192  # cells an edit: larger batches are checked as a whole and then applied in chunks of this size

_WRONG = {
    answers.ALREADY_THERE: "is already there: only new cells can be added",
    answers.NOT_THERE: "is not there",
    answers.TWICE: "is listed twice",
    answers.TOO_HIGH: "has a height beyond int16",
    answers.TOO_FAR: "lies beyond 2**30",
    answers.TOO_MANY: "has 7 area effects already: no more fit",
    answers.TOO_FEW: "has no area effect to remove",
}

Cells = NDArray[np.int64]
Kinds = NDArray[np.uint8]


class Editor:
    """The arrays of one grid and everything that changes them.

    Parameters
    ----------
    store : Store
    merge : bool
        Whether regions unite when an added cell joins them.
    """

    def __init__(self, store: layout.Store, merge: bool) -> None:
        self.store = store
        self.merge = merge
        self.version = 0  # counts what may have changed nodes
        self._scratch = _pools.Scratch()

    def set_frame(self, columns: int, rows: int) -> None:
        """Give an empty grid a rectangle of sectors that begins at the origin."""
        if columns * rows > _pools.MOST_SECTORS:
            raise ParameterError(f"{columns} x {rows} sectors are more than {_pools.MOST_SECTORS}: use several grids")
        self.store.frame[:4] = 0, 0, columns, rows
        self.store = self.store._replace(sectors=np.full(columns * rows, -1, np.int32))

    def fill(self, cells: Cells, kinds: Kinds) -> None:
        """Fill an empty grid, sector by sector, so that each one's blocks are settled before the next begins."""
        if not len(cells):
            return
        size = self.store.size
        if np.abs(cells[:, :2]).max() < _edit_kernels.FARTHEST:
            sx, sy = cells[:, 0] // size, cells[:, 1] // size
            key = (sy - sy.min()) * (sx.max() - sx.min() + 1) + sx - sx.min()
            order = np.argsort(key, kind="stable")
            cells, kinds = cells[order], kinds[order] if kinds.size > 1 else kinds
        self._apply(cells, True, kinds, True)
        self.store = _pools.squeezed(self.store)

    def edit(self, cells: Cells, adding: bool, kinds: Kinds) -> None:
        """Add or remove cells, all or none."""
        count = len(cells)
        self.version += 1
        if count > _CHUNK:
            self.check(cells, adding)
            for first in range(0, count, _CHUNK):
                self._apply(cells[first : first + _CHUNK], adding, kinds, False)
        elif count:
            self._apply(cells, adding, kinds, False)
        if _pools.wasteful(self.store):
            self.store = _pools.squeezed(self.store, spare=_pools.FOR_EDITS)

    def compact(self) -> None:
        """Squeeze all gaps out of the pools."""
        self.version += 1
        self.store = _pools.squeezed(self.store)

    def check(self, cells: Cells, adding: bool) -> None:
        """Raise the error that an edit would raise, or make the rectangle of sectors large enough for it."""
        work = self._scratch.take(len(cells), self.store.base.size)
        self._run(work, cells, False, lambda work: _edit_kernels.check(self.store, work, cells, adding))

    def change_effects(self, cells: Cells, change: int) -> None:
        """Add to the effect counts of cells, of all or none."""
        state = np.zeros(answers.STATE_SIZE, np.int64)
        status = _edit_kernels.change_effects(self.store, state, cells, change)
        if status != answers.DONE:
            raise _error(status, int(state[answers.WRONG]), cells)

    def reserve(self, cells: int, regions: int, edges: int) -> None:
        """Make room for more in the pools."""
        frame = self.store.frame
        self.store = _pools.resized(
            self.store,
            regions=int(frame[layout.REGION_TAIL]) + checks.whole(regions, "regions", low=0),
            granules=int(frame[layout.GRANULE_TAIL]) + -(-checks.whole(cells, "cells", low=0) // layout.GRANULE),
            edges=int(frame[layout.EDGE_TAIL]) + checks.whole(edges, "edges", low=0),
        )

    def _apply(self, cells: Cells, adding: bool, kinds: Kinds, bulk: bool) -> None:
        work = self._scratch.take(len(cells), self.store.base.size, bulk=bulk)
        edit, merge = _edit_kernels.edit, self.merge
        self._run(work, cells, bulk, lambda work: edit(self.store, work, cells, kinds, adding, merge, bulk))

    def _run(self, work: answers.Work, cells: Cells, bulk: bool, call: Callable[[answers.Work], int]) -> None:
        """Run an edit kernel, with more memory as long as it asks for it, and turn what is wrong into an error."""
        while (status := call(work)) != answers.DONE:
            if status == answers.GROW and work.state[answers.CROWDED]:
                work.state[answers.CROWDED] = 0
                self.store = _pools.indexed(self.store)
            elif status == answers.GROW:
                self.store = _pools.grown(self.store, 2 if bulk else 16)
                work = _pools.more_touched(work, self.store.base.size)
            elif status == answers.GROW_SECTORS:
                self.store = _pools.reframed(self.store, *work.state[answers.LOW_X : answers.HIGH_Y + 1].tolist())
            else:
                raise _error(status, int(work.state[answers.WRONG]), cells)


def _error(status: int, at: int, cells: Cells) -> EditError:
    return EditError(f"cells[{at}] {tuple(cells[at].tolist())} {_WRONG[status]}; the grid is unchanged")


def check_cells(cells: ArrayLike) -> Cells:
    """Whole cells as an (n, 3) int64 array."""
    array = checks.numbers(cells, "cells", "whole cells of shape (n, 2) or (n, 3)")
    if array.size == 0:
        return np.empty((0, 3), np.int64)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise ParameterError(f"cells must have shape (n, 2) or (n, 3), not {array.shape}")
    if array.dtype.kind not in "iu":
        array = checks.points3(array, "cells")
        fine = (array == np.floor(array)).all(axis=1) & (np.abs(array) < 2**53).all(axis=1)
        if not fine.all():
            raise ParameterError(f"cells[{int(np.argmin(fine))}] is not whole: {array[np.argmin(fine)].tolist()}")
        return array.astype(np.int64)
    array = checks.wholes(array, "cells")
    if array.shape[1] == 2:
        array = np.column_stack([array, np.zeros(len(array), np.int64)])
    return array


def check_kinds(kinds: ArrayLike | None, count: int) -> Kinds:
    """Kinds of cells as a uint8 array; a single 0 for none."""
    if kinds is None:
        return np.zeros(1, np.uint8)
    array = checks.numbers(kinds, "kinds", bools=True)
    whole = array.dtype.kind in "biu" or not count
    if array.shape != (count,) or not whole or (count and (array.min() < 0 or array.max() > 254)):
        raise ParameterError(f"kinds must be {count} whole numbers from 0 to 254")
    return array.astype(np.uint8)
