"""Points that were computed and are meant to be one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def same_points(points: NDArray[np.float64], near: float) -> NDArray[np.float64]:
    """Points (n, d), with the first of those that are at most `near` metres apart, also by way of others, for each."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    if not len(points):
        return points
    pairs = cKDTree(points).query_pairs(near, output_type="ndarray")
    if not len(pairs):
        return points
    links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(points), len(points)))
    _, labels = connected_components(links, directed=False)
    _, first = np.unique(labels, return_index=True)
    return np.asarray(points[first[labels]])
