"""Rectangles of tiles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Rectangle(NamedTuple):
    """Tiles from a first to a last column and row, both included."""

    x: int
    y: int
    last_x: int
    last_y: int

    @property
    def columns(self) -> int:
        """Tiles along x."""
        return self.last_x - self.x + 1

    @property
    def rows(self) -> int:
        """Tiles along y."""
        return self.last_y - self.y + 1

    def numbers(self, columns: int) -> NDArray[np.int64]:
        """The tiles in ascending order, in a world with `columns` tiles in a row."""
        x, y = np.arange(self.x, self.last_x + 1), np.arange(self.y, self.last_y + 1)
        return np.asarray((y[:, None] * columns + x).ravel())

    def grown(self, by: int, columns: int, rows: int) -> Rectangle:
        """With `by` more tiles on each side, as far as a world of `columns` x `rows` tiles goes."""
        return Rectangle(
            max(0, self.x - by),
            max(0, self.y - by),
            min(columns - 1, self.last_x + by),
            min(rows - 1, self.last_y + by),
        )

    def around(self, tiles: NDArray[np.int64], columns: int) -> Rectangle:
        """The smallest rectangle that also holds these tiles, in a world with `columns` tiles in a row."""
        if not len(tiles):
            return self
        x, y = tiles % columns, tiles // columns
        return Rectangle(
            min(self.x, int(x.min())),
            min(self.y, int(y.min())),
            max(self.last_x, int(x.max())),
            max(self.last_y, int(y.max())),
        )
