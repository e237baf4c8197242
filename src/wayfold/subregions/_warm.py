"""Run every kernel of the package once on tiny input."""

from __future__ import annotations

from wayfold.graph import Graph
from wayfold.subregions.subregions import SubregionGraph


def warm() -> None:
    """Build, search and repair a subregion graph."""
    graph = Graph.from_edges([(0, 0), (1, 0), (9, 0), (10, 0)], [(0, 1), (2, 3), (1, 2)], motions=[1, 1, 1])
    subregions = SubregionGraph.build(graph, 1, "min", regions=(2, 1, 1))
    subregions.path(0, 3)
    subregions.path(0, 3, exact=True)
    waypoints = subregions.waypoints
    assert waypoints is not None
    subregions.repair(waypoints.update(remove=[(0, 1)]))
