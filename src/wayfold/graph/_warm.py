"""Run every kernel of the package once on tiny input."""

from __future__ import annotations

import numpy as np

from wayfold.core.schema import restored
from wayfold.graph.graph import Graph


def warm() -> None:
    """Compile the searches for graphs with and without costs, which share their types."""
    points = [(0, 0), (1, 0), (1, 1), (0, 1)]
    edges = [(0, 1), (1, 2), (2, 3)]
    for directed in (False, True):
        graph = Graph.from_edges(points, edges, costs=[1, 1, 1], motions=[1, 1, 1], directed=directed)
        graph.path(0, 3)
        graph.path(0, 3, algorithm="bidirectional")
        graph.path(0, 3, labels=np.zeros(4, np.uint16), allowed=[0])
        graph.paths([0], [3], workers=1)
        graph.distances(0, [3])
        graph.tree(3).paths([0])
        restored(Graph, graph._to_parts())
