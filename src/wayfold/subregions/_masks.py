"""Masks of allowed subregions: borrowed for one query, returned clean."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.core.locks import Portable


class Mask(NamedTuple):
    """Which subregions a filtered search may enter."""

    allowed: NDArray[np.uint8]
    marked: NDArray[np.int32]


class Masks(Portable):
    """A pool of masks for `count` subregions; threads need no lock, as append and pop of a deque are atomic."""

    _OWN = (("_free", deque),)

    def __init__(self, count: int) -> None:
        self.count = count
        self._free: deque[Mask] = deque()

    def take(self) -> Mask:
        """A mask that allows nothing."""
        try:
            return self._free.pop()
        except IndexError:
            return Mask(np.zeros(self.count, np.uint8), np.empty(self.count, np.int32))

    def give(self, mask: Mask) -> None:
        """Return a mask that allows nothing again."""
        self._free.append(mask)
