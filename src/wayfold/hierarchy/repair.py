"""The parts of a graph that differs from an earlier one in places.

What stayed as it was keeps its part, so that only the parts that hold a change need be made again. Any partition gives
shortest paths, so it need not be a good one where the graph has changed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.errors import ParameterError
from wayfold.graph import Graph
from wayfold.hierarchy import _repair_kernels
from wayfold.hierarchy.partition import Partition


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
    _repair_kernels.adopt(graph.offsets, graph.targets, waiting, labels, np.empty(waiting.size, np.int32))
    if waiting.size and labels[waiting].min() < 0:
        last = np.maximum.accumulate(np.where(labels >= 0, np.arange(nodes), -1))
        labels = np.where(last >= 0, labels[last], 0).astype(np.int32)
    old_starts = old.starts or [np.array([0, old.order.size], np.int32)]
    counts = np.bincount(labels, minlength=old_starts[0].size - 1)
    firsts = np.concatenate([[0], np.cumsum(counts)])
    order = np.empty(nodes, np.int32)
    _repair_kernels.fill_order(old.order, new_of, labels, waiting, firsts[:-1].copy(), order)
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
