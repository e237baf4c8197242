"""Run every kernel of the package once on tiny input."""

from __future__ import annotations

import numpy as np

from wayfold.graph import Graph
from wayfold.hierarchy.hierarchy import Hierarchy


def warm() -> None:
    """Compile building, queries and updates; one-way graphs share their types with two-way ones."""
    side = 16
    numbers = np.arange(side * side).reshape(side, side)
    points = np.column_stack([numbers.ravel() % side, numbers.ravel() // side])
    across = np.column_stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()])
    down = np.column_stack([numbers[:-1].ravel(), numbers[1:].ravel()])
    edges = np.concatenate([across, down])
    graph = Graph.from_edges(points, edges)
    hierarchy = Hierarchy.build(graph, merge=2, levels=2, workers=1)
    queries = hierarchy._queries[True]
    queries.many(
        np.array([0], np.int32),
        np.array([side * side - 1], np.int32),
        possible=np.ones(1, np.bool_),
        points=hierarchy._points_of,
        workers=1,
    )
    hierarchy.path(0, side * side - 1, level=2)
    queries.levels.most_work = 0  # so that the parts of level 2 are set aside
    hierarchy.update(edges, 2.0)
    hierarchy.changed(Graph.from_edges(points, edges[:-1]), np.arange(side * side))
