"""Grid maps."""

from wayfold.grid.dense import DenseGrid

__all__ = ["DenseGrid"]
