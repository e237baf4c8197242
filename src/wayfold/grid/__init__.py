"""Grid maps."""

from wayfold.grid.dense import DenseGrid
from wayfold.grid.sparse import SparseGrid
from wayfold.grid.tables import Memory, RegionTable

__all__ = ["DenseGrid", "Memory", "RegionTable", "SparseGrid"]
