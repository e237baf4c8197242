"""Bounds for exact planning (000, section 8): the abstraction says where to look from, the waypoints how far it is.

Landmarks are subregions around the rim of the world. The triangle inequality turns costs from a landmark into a lower
bound that respects walls, and that never falls by more than an edge costs, so that A* stays exact (Goldberg and
Harrelson's ALT, the paper's reference 24).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold import _threads
from wayfold.agent import Motion
from wayfold.graph import Graph
from wayfold.graph._kernels import GraphSpace
from wayfold.subregions._bounds_kernels import BoundedSpace

_ACTIVE = 4  # landmarks that a query looks at; more cost more than they save


class Bounds:
    """Costs of all waypoints from a few landmarks.

    Parameters
    ----------
    waypoints : Graph
    motions : Motion
        Edges that the character can use.
    subregions : Graph
        The abstraction.
    labels : (n,) array
        Subregion of each waypoint.
    count : int, >= 1
        Number of landmarks.

    Attributes
    ----------
    table : (n, count) float64
    """

    def __init__(self, waypoints: Graph, motions: Motion, subregions: Graph, labels: NDArray[Any], count: int) -> None:
        chosen = _around(subregions, count)
        nodes = [int(np.argmax(labels == label)) for label in chosen]
        self.table = np.full((waypoints.num_nodes, count), np.inf)

        def work(first: int, last: int) -> None:
            for at in range(first, last):
                self.table[:, at] = waypoints.distances(nodes[at], motions=int(motions))

        _threads.run_chunks(work, len(nodes), chunk=1)

    def space(self, graph: GraphSpace, scale: float, start: int, goal: int) -> BoundedSpace:
        """The search space of an exact query, with the landmarks that bound it best."""
        with np.errstate(invalid="ignore"):
            bounds = np.nan_to_num(np.abs(self.table[start] - self.table[goal]), nan=-1.0)
        active = np.argsort(-bounds, kind="stable")[:_ACTIVE]
        return BoundedSpace(graph, scale, self.table, active)


def _around(subregions: Graph, count: int) -> list[int]:
    """Subregions of the largest component, each the furthest from the middle in its direction.

    Directions lie in the plane of the world's two longest extents. Landmarks in the middle would bound little.
    """
    component = subregions.components()
    main = np.flatnonzero(component == np.argmax(np.bincount(component)))
    points = subregions.points[main].astype(np.float64)
    wide = np.argsort(-np.ptp(points, axis=0), kind="stable")[:2]
    away = (points - (points.min(axis=0) + points.max(axis=0)) / 2)[:, np.sort(wide)]
    sector = np.floor((np.arctan2(away[:, 1], away[:, 0]) / (2 * np.pi) + 0.5) * count).astype(np.int64) % count
    distance = np.hypot(away[:, 0], away[:, 1])
    order = np.lexsort((main, -distance, sector))
    first = np.unique(sector[order], return_index=True)[1]
    return [int(label) for label in main[order[first]]]
