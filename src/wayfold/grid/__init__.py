"""Grid maps."""

from wayfold.grid.dense import DenseGrid
from wayfold.grid.sparse import Memory, RegionTable, SparseGrid

__all__ = ["DenseGrid", "Memory", "RegionTable", "SparseGrid"]
