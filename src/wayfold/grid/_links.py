"""Vertical connections of the sparse grid: ladders, lifts, walkable walls (the open question of paper 001)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfold.errors import EditError
from wayfold.grid import _sparse_kernels

if TYPE_CHECKING:
    from wayfold.grid.sparse import SparseGrid


def octile(ends: NDArray[Any]) -> NDArray[np.float64]:
    """(k,) cost of the cheapest way over free cells between the columns of pairs of cells (k, 2, 3)."""
    across = np.abs(ends[:, 0, :2] - ends[:, 1, :2]).astype(np.float64)
    return np.asarray(across.max(axis=1) + (np.sqrt(2.0) - 1.0) * across.min(axis=1))


class LinkTable:
    """Links between cells by their coordinates, and as kernels see them while both of their cells are there."""

    def __init__(self, grid: SparseGrid) -> None:
        self.grid = grid
        self.ends = np.empty((0, 2, 3), np.int64)  # one-way: from, to
        self.costs = np.empty(0)
        self._found: tuple[int, int, _sparse_kernels.Links] | None = None
        self._changes = 0

    @property
    def version(self) -> tuple[int, int]:
        """Changes whenever other links may be usable; constant as long as there are none."""
        return (self._changes, self.grid._editor.version if len(self.costs) else 0)

    def add(self, a: NDArray[np.int64], b: NDArray[np.int64], cost: float, both_ways: bool) -> None:
        """Add a link; `EditError` when there is one already."""
        pairs = [(a, b), (b, a)] if both_ways else [(a, b)]
        if any(self._where(*pair).any() for pair in pairs):
            raise EditError(f"there is already a link between {tuple(a.tolist())} and {tuple(b.tolist())}")
        self._set(np.concatenate([self.ends, np.array(pairs)]), np.append(self.costs, [cost] * len(pairs)))

    def remove(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> None:
        """Remove the links between two cells, in both directions; `EditError` when there is none."""
        gone = self._where(a, b) | self._where(b, a)
        if not gone.any():
            raise EditError(f"there is no link between {tuple(a.tolist())} and {tuple(b.tolist())}")
        self._set(self.ends[~gone], self.costs[~gone])

    def restore(self, ends: NDArray[np.int64], costs: NDArray[np.float64]) -> None:
        """Take the links of a file."""
        self._set(ends, costs)

    def _set(self, ends: NDArray[np.int64], costs: NDArray[np.float64]) -> None:
        self.ends, self.costs = ends, costs
        self._changes += 1

    def _where(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray((self.ends == np.array([a, b])).all(axis=(1, 2)))

    def arrays(self) -> _sparse_kernels.Links:
        """The links whose cells are both there."""
        version = self.version
        if self._found is None or self._found[:2] != version:
            grid = self.grid
            nodes = [grid._nodes(np.ascontiguousarray(self.ends[:, side])) for side in range(2)]
            there = (nodes[0] >= 0) & (nodes[1] >= 0)
            sources, ends, costs = nodes[0][there], nodes[1][there], self.costs[there]
            order = np.lexsort((ends, sources))
            from_region, to_region = grid._store.owners[sources >> 4], grid._store.owners[ends >> 4]
            region_order = np.lexsort((to_region, from_region))
            links = _sparse_kernels.Links(
                sources[order],
                ends[order],
                costs[order],
                from_region[region_order],
                to_region[region_order],
                costs[region_order],
            )
            self._found = (*version, links)
        return self._found[2]
