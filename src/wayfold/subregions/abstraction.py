"""From a waypoint graph to its subregions: what stands between the class and the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import Motion
from wayfold.graph import Graph
from wayfold.subregions import _kernels
from wayfold.waypoints import WaypointGraph

COSTS = ("fixed", "min", "average", "max", "centroid")


_MOST_SHORT_LABELS = 65_535  # the 65,536th number of two bytes says "no label"


@dataclass
class Abstraction:
    """Subregions and connections, before a cost scheme is chosen."""

    labels: NDArray[Any]  # (n,) uint16 or int32
    homes: NDArray[np.int32]  # (s,) active region of each subregion
    centroids: NDArray[np.float64]  # (s, 3)
    pairs: NDArray[np.int32]  # (c, 2), sorted
    lengths: NDArray[np.float32]  # (c, 3): shortest, average and longest edge
    counts: NDArray[np.int64]  # (c,) edges between the two
    fingerprint: str | None = None  # of the waypoint graph, known once it was saved or loaded

    @property
    def count(self) -> int:
        """Number of subregions."""
        return len(self.homes)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(a.nbytes for a in (self.labels, self.homes, self.centroids, self.pairs, self.lengths, self.counts))

    def graph(self, cost: str) -> Graph:
        """Subregions as nodes, connections as edges, under a cost scheme (Wardhana et al. 2015, section 5.2)."""
        if cost == "centroid":
            costs = None
        elif cost == "fixed":
            costs = np.ones(len(self.pairs), np.float32)
        else:
            costs = self.lengths[:, ("min", "average", "max").index(cost)]
        points = self.centroids if len(self.centroids) else np.zeros((1, 3))
        return Graph.from_edges(points, self.pairs, costs=costs)


def _mix(numbers: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Scrambled numbers (the finaliser of SplitMix64): an order that does not depend on how many numbers there are."""
    with np.errstate(over="ignore"):
        x = numbers * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def region_order(count: int, seed: int) -> NDArray[np.int32]:
    """The order in which regions are processed."""
    return np.argsort(_mix(np.arange(count, dtype=np.uint64), seed), kind="stable").astype(np.int32)


def layout_of(waypoints: WaypointGraph, seed: int) -> _kernels.RegionLayout:
    """Regions for the kernels, with a random active one for boundary waypoints (Wardhana et al. 2015, section 5.1)."""
    of = waypoints.layout.of
    choice = _mix(np.arange(len(of), dtype=np.uint64), seed + 1) & np.uint64(1)
    active = np.where(of[:, 1] >= 0, choice, 0).astype(np.uint8)
    return _kernels.RegionLayout(of, waypoints.layout.offsets, waypoints.layout.members, active)


def abstract(waypoints: WaypointGraph, motions: Motion, seed: int) -> Abstraction:
    """Algorithm 1."""
    graph = waypoints.graph
    space = graph.search_space(motions)
    labels = np.empty(graph.num_nodes, np.int32)
    homes = np.empty(graph.num_nodes, np.int32)
    queue = np.empty(graph.num_nodes, np.int32)
    layout = layout_of(waypoints, seed)
    order = region_order(waypoints.num_regions, seed)
    count = int(_kernels.detect(space, layout, order, labels, homes, queue))
    pairs, lengths, counts = connections(space, labels)
    sums, sizes = np.zeros((count, 3)), np.zeros(count, np.int64)
    _kernels.centroids(graph.points, labels, sums, sizes)
    middle = sums / np.maximum(sizes, 1)[:, None]
    return Abstraction(short(labels, count), homes[:count].copy(), middle, pairs, lengths, counts)


def short(labels: NDArray[np.int32], count: int) -> NDArray[Any]:
    """Labels in 2 bytes where they fit; the highest number of the dtype stands for none."""
    dtype = np.uint16 if count <= _MOST_SHORT_LABELS else np.int32
    return np.where(labels < 0, np.iinfo(dtype).max, labels).astype(dtype)


def new_table(size: int) -> _kernels.Connections:
    """An empty table of connections; `size` is a power of two."""
    return _kernels.Connections(
        np.full(size, -1, np.int64), np.empty(size, np.int64), np.empty(size), np.empty(size), np.empty(size)
    )


def connections(
    space: Any, labels: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]:
    """Pairs of connected subregions, sorted, with the shortest, average and longest edge of each and their number."""
    size = 1 << 10
    while True:
        table = new_table(size)
        if _kernels.connect(space, labels, table) != _kernels.FULL:
            break
        size *= 8
    filled = np.flatnonzero(table.keys >= 0)
    filled = filled[np.argsort(table.keys[filled])]
    keys = table.keys[filled]
    pairs = np.column_stack([keys >> 32, keys & 0xFFFFFFFF]).astype(np.int32)
    average = table.total[filled] / table.count[filled]
    lengths = np.column_stack([table.shortest[filled], average, table.longest[filled]]).astype(np.float32)
    return np.ascontiguousarray(pairs), np.ascontiguousarray(lengths), table.count[filled]
