"""Partitions of a graph into nested parts, by METIS, and how they carry over to a changed graph.

`merged` is the paper's algorithm 1: each level is made of the one below by merging. `nested` goes the other way, from
large parts to small ones; its parts have shorter boundaries (a third fewer portals on the highest level of the city
graph, measured), which is what the exact search pays for, and it takes a fraction of the time.

When a graph changes, nodes that stay keep their part, so that only parts with a change are computed again. Any
partition gives shortest paths, so it need not be a good one where the graph has changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from wayfold.core import checks
from wayfold.core.arrays import offsets_of
from wayfold.core.progress import Progress
from wayfold.errors import ParameterError
from wayfold.graph import Graph
from wayfold.hierarchy import _customise_kernels

Labels = NDArray[np.int64]
_BLOCK = 1024  # nodes that METIS partitions at a time where it is asked for many parts


@dataclass(frozen=True)
class Partition:
    """Nested parts: nodes in an order in which every part of every level is a range.

    Attributes
    ----------
    order : (n,) int32 array
        The node at each place.
    starts : list of int32 arrays
        For each level from 1 the first place of each part, and n at the end.
    """

    order: NDArray[np.int32]
    starts: list[NDArray[np.int32]]

    @property
    def levels(self) -> int:
        """Number of levels above the graph."""
        return len(self.starts)

    def labels(self, level: int) -> NDArray[np.int32]:
        """The part of each node at a level from 1, in the graph's numbers."""
        starts = self.starts[level - 1]
        labels = np.empty(self.order.size, np.int32)
        labels[self.order] = np.repeat(np.arange(starts.size - 1, dtype=np.int32), np.diff(starts))
        return labels

    def upto(self, levels: int) -> Partition:
        """The same without the levels above `levels`."""
        return Partition(self.order, self.starts[:levels])


def merged(graph: Graph, merge: int, levels: int, seed: int, progress: Progress | None = None) -> Partition:
    """The paper's algorithm 1: partition each level's graph into ``nodes / merge`` parts, which are the next level's.

    Parameters
    ----------
    merge : int, >= 2
        Nodes that become one on the next level (`numMergedNodes`).
    levels : int, >= 1
        Maximum number of levels; fewer when less than two parts would be left.
    """
    current = _neighbours(graph)
    weights = np.ones(graph.num_nodes, np.int64)
    labels = np.arange(graph.num_nodes)
    found: list[Labels] = []
    for level in range(levels):
        if progress is not None:
            progress("partitioning", level, levels)
        # Nodes without edges to others cannot be merged any further.
        active = np.flatnonzero(np.diff(current.indptr))
        count = active.size // merge
        if count < 2:
            break
        below = current[active][:, active]
        parts = np.arange(current.shape[0])
        parts[active] = current.shape[0] + _many_parts(below, count, weights[active], seed)
        parts = np.unique(parts, return_inverse=True)[1]
        weights = np.bincount(parts, weights).astype(np.int64)
        current = _contract(current, parts)
        labels = parts[labels]
        found.append(labels)
    return _in_order(graph.num_nodes, found)


def nested(graph: Graph, sizes: list[int], seed: int, progress: Progress | None = None) -> Partition:
    """Cut the graph into parts of about ``sizes[-1]`` nodes, these into parts of the size before, and so on.

    Parameters
    ----------
    sizes : list of int, ascending
        Nodes of a part at each level from 1. Parts are connected, so some are smaller.
    """
    neighbours = _neighbours(graph)
    labels = connected_components(neighbours, directed=False)[1].astype(np.int64)
    found: list[Labels] = []
    for level, size in enumerate(reversed(sizes)):
        if progress is not None:
            progress("partitioning", level, len(sizes))
        order = np.argsort(labels, kind="stable")
        ends = np.cumsum(np.bincount(labels))
        finer = np.empty_like(labels)
        count = 0
        for first, last in zip(ends - np.bincount(labels), ends, strict=True):
            nodes = order[first:last]
            pieces = round(nodes.size / size)
            if pieces < 2:
                finer[nodes] = count
                count += 1
                continue
            inside = neighbours[nodes][:, nodes]
            parts = _check_parts(inside, _metis(inside, pieces, None, seed))
            finer[nodes] = count + parts
            count += int(parts.max()) + 1
        labels = finer
        found.append(labels)
    return _in_order(graph.num_nodes, found[::-1])


def _neighbours(graph: Graph) -> Any:
    """Which nodes are neighbours, in either direction, as a symmetric matrix of ones: costs do not matter."""
    shape = (graph.num_nodes, graph.num_nodes)
    ones = np.ones(graph.targets.size, np.int32)
    matrix = scipy.sparse.csr_array((ones, graph.targets, graph.offsets), shape=shape)
    both = scipy.sparse.coo_array(matrix + matrix.T)
    apart = both.coords[0] != both.coords[1]
    edges = (both.coords[0][apart], both.coords[1][apart])
    return scipy.sparse.csr_array((np.ones(edges[0].size, np.int32), edges), shape=shape)


def _many_parts(neighbours: Any, count: int, weights: NDArray[np.int64], seed: int) -> Labels:
    """Partition into `count` parts, a block of nodes at a time.

    Asked for tens of thousands of parts at once, METIS runs out of nodes in its first partition and complains on the
    standard output.
    """
    blocks = np.zeros(neighbours.shape[0], np.int64)
    if neighbours.shape[0] >= 2 * _BLOCK:
        blocks = _check_parts(neighbours, _metis(neighbours, neighbours.shape[0] // _BLOCK, weights, seed))
    order = np.argsort(blocks, kind="stable")
    ends = np.cumsum(np.bincount(blocks))
    result = np.empty_like(blocks)
    found = 0
    for nodes in np.split(order, ends[:-1]):
        pieces = round(count * nodes.size / neighbours.shape[0])
        parts = np.zeros(nodes.size, np.int64)
        if pieces >= 2:
            inside = neighbours[nodes][:, nodes]
            parts = _check_parts(inside, _metis(inside, pieces, weights[nodes], seed))
        result[nodes] = found + parts
        found += int(parts.max()) + 1
    return result


def _metis(neighbours: Any, count: int, weights: NDArray[np.int64] | None, seed: int) -> Labels:
    """METIS's k-way partition, which cuts few edges and gives parts of about equal weight."""
    import pymetis

    options = pymetis.Options()
    options.seed = seed
    _, parts = pymetis.part_graph(
        count,
        pymetis.CSRAdjacency(neighbours.indptr.astype(np.int32), neighbours.indices.astype(np.int32)),
        eweights=neighbours.data.astype(np.int32),
        vweights=None if weights is None else weights.astype(np.int32),
        recursive=False,
        options=options,
    )
    return np.asarray(parts, np.int64)


def _check_parts(neighbours: Any, parts: Labels) -> Labels:
    """The paper's `checkPartitions`: the nodes of a part must be linked; one in pieces becomes several parts."""
    edges = scipy.sparse.coo_array(neighbours)
    inside = parts[edges.coords[0]] == parts[edges.coords[1]]
    linked = (edges.data[inside], (edges.coords[0][inside], edges.coords[1][inside]))
    pieces = connected_components(scipy.sparse.csr_array(linked, shape=edges.shape), directed=False)[1]
    return np.asarray(pieces, np.int64)


def _contract(neighbours: Any, parts: Labels) -> Any:
    """The graph whose nodes are the parts; an edge weighs as much as those that it stands for."""
    edges = scipy.sparse.coo_array(neighbours)
    first, second = parts[edges.coords[0]], parts[edges.coords[1]]
    apart = first != second
    count = int(parts.max()) + 1
    return scipy.sparse.csr_array((edges.data[apart], (first[apart], second[apart])), shape=(count, count))


def _in_order(nodes: int, labels: list[Labels]) -> Partition:
    """Number the nodes so that every part of every level is a range."""
    if not labels:
        return Partition(np.arange(nodes, dtype=np.int32), [])
    order = np.lexsort(labels).astype(np.int32)
    starts = []
    for level in labels:
        changes = np.flatnonzero(np.diff(level[order])) + 1
        starts.append(np.concatenate([[0], changes, [nodes]]).astype(np.int32))
    return Partition(order, starts)


@dataclass(frozen=True)
class Carried:
    """A partition, and where its nodes and parts were before."""

    partition: Partition
    parts: list[NDArray[np.int64]]
    """For each level from 1 the old number of each part."""
    old_place: NDArray[np.int32]
    """(new places,) the old place, -1 for a new node."""
    new_place: NDArray[np.int32]
    """(old places,) the new place, -1 for a node that is gone."""


def check_kept(kept: ArrayLike, nodes: int, old_nodes: int) -> NDArray[np.int32]:
    """The old node of each new one, each old one at most once."""
    array = checks.numbers(kept, "kept")
    if array.shape != (nodes,) or array.dtype.kind not in "iu":
        raise ParameterError(f"kept must be one old node, or -1, for each of the {nodes} nodes, not {array.shape}")
    if nodes and (array.min() < -1 or array.max() >= old_nodes):
        raise ParameterError(f"kept names an old node outside -1 to {old_nodes - 1}")
    return array.astype(np.int32)


def carry_partition(old: Partition, graph: Graph, kept: NDArray[np.int32]) -> Carried:
    """The old parts with the nodes that are left of them; new nodes join the part of a neighbour.

    New nodes without any such neighbour join the part of the node before them.
    """
    nodes = graph.num_nodes
    new_of = np.full(old.order.size, -1, np.int32)
    stayed = np.flatnonzero(kept >= 0)
    new_of[kept[stayed]] = stayed
    if np.count_nonzero(new_of >= 0) != stayed.size:
        raise ParameterError("kept names an old node twice")
    labels = np.full(nodes, -1, np.int32)
    labels[stayed] = old.labels(1)[kept[stayed]] if old.levels else 0
    waiting = np.flatnonzero(labels < 0).astype(np.int32)
    _customise_kernels.adopt(graph.offsets, graph.targets, waiting, labels, np.empty(waiting.size, np.int32))
    if waiting.size and labels[waiting].min() < 0:
        last = np.maximum.accumulate(np.where(labels >= 0, np.arange(nodes), -1))
        labels = np.where(last >= 0, labels[last], 0).astype(np.int32)
    old_starts = old.starts or [np.array([0, old.order.size], np.int32)]
    counts = np.bincount(labels, minlength=old_starts[0].size - 1)
    firsts = offsets_of(counts)
    order = np.empty(nodes, np.int32)
    _customise_kernels.fill_order(old.order, new_of, labels, waiting, firsts[:-1].copy(), order)
    starts, parts = [], []
    for level_starts in old.starts:
        bounds = firsts[np.searchsorted(old_starts[0], level_starts)]
        alive = np.flatnonzero(np.diff(bounds))
        starts.append(np.append(bounds[alive], nodes).astype(np.int32))
        parts.append(alive)
    rank, old_rank = np.empty(nodes, np.int32), np.empty(old.order.size, np.int32)
    rank[order] = np.arange(nodes, dtype=np.int32)
    old_rank[old.order] = np.arange(old.order.size, dtype=np.int32)
    before, after = kept[order], new_of[old.order]
    return Carried(
        Partition(order, starts),
        parts,
        np.where(before >= 0, old_rank[before], -1).astype(np.int32),
        np.where(after >= 0, rank[after], -1).astype(np.int32),
    )
