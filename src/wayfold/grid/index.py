"""`CellIndex`: where the cells of a list lie, so that those near a place are found without looking at all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
