"""Grid maps."""

from wayfold.grid._store import Memory, RegionTable
from wayfold.grid.dense import DenseGrid
from wayfold.grid.sparse import SparseGrid

__all__ = ["DenseGrid", "Memory", "RegionTable", "SparseGrid"]
