"""Run every kernel of the package once on tiny input."""

from __future__ import annotations

import numpy as np

from wayfold.grid import _dense_kernels, _search_kernels
from wayfold.grid.dense import DenseGrid
from wayfold.grid.sparse import SparseGrid


def warm() -> None:
    """Compile the searches for grids, and the edits of the sparse grid."""
    dense = DenseGrid([[1, 1, 1], [1, 0, 1], [1, 1, 1]])
    dense.path((0, 0), (2, 2)).smooth()
    dense.paths([(0, 0)], [(2, 2)], workers=1)
    dense.successors((0, 0))
    dense.nearest((0, 0))
    _dense_kernels.sum_successors(dense._space, np.zeros(1, np.int32), np.empty(8, np.int32))
    sparse = SparseGrid.from_cells([(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 1, 0)])
    sparse._editor.check(np.array([(0, 1, 0)]), True)
    sparse.add([(0, 1, 0)])
    sparse.remove([(0, 1, 0)])
    sparse.add_effect([(1, 0, 0)])
    sparse.remove_effect([(1, 0, 0)])
    sparse.successors((0, 0))
    sparse.nearest((0, 0))
    sparse.contains([(0, 0, 0)])
    sparse.memory(trimmed=True)
    sparse.regions()
    path = sparse.path((0, 0), (2, 1), smooth=True)
    sparse.replan(path)
    sparse.path((0, 0), (2, 1), exact=True)
    sparse._planner.costs_to(int(sparse._nodes(np.zeros((1, 3), np.int64))[0]))
    SparseGrid.from_cells([(0, 0, 2 * floor) for floor in range(70)])  # a crowded sector
    _search_kernels.sum_successors(sparse._store, np.zeros(1, np.int32), np.empty(8, np.int32), np.empty(8, np.int64))
