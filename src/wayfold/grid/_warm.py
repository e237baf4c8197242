"""Run every kernel of the room once on tiny input."""

from __future__ import annotations

from wayfold.grid.dense import DenseGrid


def warm() -> None:
    """Compile the searches for grids."""
    grid = DenseGrid([[1, 1, 1], [1, 0, 1], [1, 1, 1]])
    grid.path((0, 0), (2, 2)).smooth()
    grid.paths([(0, 0)], [(2, 2)], workers=1)
    grid.successors((0, 0))
