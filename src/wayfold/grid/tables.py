"""What a sparse grid says of itself: its memory as the paper counts it, and its regions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Memory(NamedTuple):
    """Bytes of a sparse grid as the paper counts them: 4 a sector, 12 a region, 4 an abstract edge, 2 a cell."""

    sectors: int
    regions: int
    edges: int
    cells: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.sectors + self.regions + self.edges + self.cells


class RegionTable(NamedTuple):
    """The regions of a grid, numbered from 0 in an order of no meaning."""

    cells: NDArray[np.int64]
    """(n, 3), all cells."""
    region: NDArray[np.int32]
    """(n,), region of each cell."""
    bits: NDArray[np.uint8]
    """(n,), movement bits of each cell: bit 0 is east, 1 south-east, ... clockwise where rows go down."""
    centres: NDArray[np.int64]
    """(r, 3), centre cell of each region."""
    bases: NDArray[np.int64]
    """(r,), base height."""
    free: NDArray[np.int64]
    """(r,), number of cells."""
    effects: NDArray[np.int64]
    """(r,), sum of the effect counts of the cells."""
    edges: NDArray[np.int32]
    """(e, 2), abstract edges: from region, to region."""
    supports: NDArray[np.int64]
    """(e,), number of grid edges of each abstract edge."""
