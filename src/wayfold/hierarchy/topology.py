"""What depends only on which nodes are joined: portals, their numbers and rows (paper 002, algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayfold.graph import Graph
from wayfold.hierarchy import _customise_kernels, _level_kernels
from wayfold.hierarchy.partition import Partition

LANDMARKS = 8  # a row of them is one line of the processor's cache


@dataclass
class LevelParts:
    """The parts of a level that have portals, and where their arcs are in the pool."""

    numbers: NDArray[np.int32]  # by part of the level: index into the arrays below, -1 without portals
    parts: _customise_kernels.Parts
    blocks: NDArray[np.int64]  # (k, 4): first arc and room for arcs, first step and room for steps
    above: NDArray[np.int32]  # part of the next level, -1 on the highest
    aside: NDArray[np.bool_]  # whether an update has set the part aside
    work: NDArray[np.int64]  # arcs that making the part's arcs looks at, about


def base_slots(graph: Graph, partition: Partition) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Rows of the graph in the partition's order: their offsets, and the graph's slot of each of their edges."""
    degrees = np.diff(graph.offsets)[partition.order]
    offsets = np.concatenate([[0], np.cumsum(degrees)])
    slots = np.repeat(graph.offsets[partition.order] - offsets[:-1], degrees) + np.arange(offsets[-1])
    return offsets.astype(np.int32), slots


def portal_heights(
    sources: NDArray[np.int32], targets: NDArray[np.int32], cells: list[NDArray[np.int32]], chosen: bool
) -> NDArray[np.uint8]:
    """The highest level at which each place is a portal, 0 for none."""
    heights = np.zeros(cells[0].size if cells else 0, np.uint8)
    edges = np.arange(sources.size)
    for level, cell in enumerate(cells, start=1):
        edges = edges[cell[sources[edges]] != cell[targets[edges]]]
        if chosen and level > 1:
            edges = _middle_crossings(sources, targets, cells[level - 2], edges)
        heights[sources[edges]] = level
        heights[targets[edges]] = level
    return heights


def _middle_crossings(
    sources: NDArray[np.int32], targets: NDArray[np.int32], below: NDArray[np.int32], edges: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The paper's portals: of all edges between two neighbouring nodes of the level below, the one in the middle."""
    a, b = below[sources[edges]].astype(np.int64), below[targets[edges]].astype(np.int64)
    pairs = np.minimum(a, b) * (int(below.max()) + 1) + np.maximum(a, b)
    order = np.argsort(pairs, kind="stable")
    first = np.flatnonzero(np.diff(pairs[order], prepend=-1))
    count = np.diff(np.append(first, order.size))
    return np.sort(edges[order[first + count // 2]])


def lay_out(
    partition: Partition,
    offsets: NDArray[np.int32],
    targets: NDArray[np.int32],
    heights: NDArray[np.uint8],
    cells: list[NDArray[np.int32]],
) -> tuple[_level_kernels.Overlay, list[LevelParts]]:
    """Number the portals and lay out their rows; the arcs of levels above 0 are still missing."""
    portals = np.flatnonzero(heights)
    # The highest first: the top level is what long searches touch.
    places = portals[np.argsort(-heights[portals].astype(np.int64), kind="stable")].astype(np.int32)
    portal_at = np.full(heights.size, -1, np.int32)
    portal_at[places] = np.arange(places.size, dtype=np.int32)
    tall = heights[places]
    rows = np.concatenate([[0], np.cumsum(tall, dtype=np.int64)]).astype(np.int32)
    row_base = np.empty(rows[-1], np.int32)
    by_level = [np.flatnonzero(heights > level).astype(np.int32) for level in range(len(cells))]
    begins = np.concatenate([[0], np.cumsum([at.size for at in by_level])]).astype(np.int64)
    found = []
    for level, starts in enumerate(partition.starts):
        ranges = np.column_stack([starts[:-1], starts[1:]])
        own = np.searchsorted(by_level[level], ranges) + begins[level]
        members = ranges if level == 0 else np.searchsorted(by_level[level - 1], ranges) + begins[level - 1]
        at = by_level[level]
        row_base[rows[portal_at[at]] + level] = members[cells[level][at], 0]
        used = np.flatnonzero(own[:, 1] > own[:, 0])
        numbers = np.full(len(ranges), -1, np.int32)
        numbers[used] = np.arange(used.size, dtype=np.int32)
        above = cells[level + 1][starts[:-1][used]] if level + 1 < len(cells) else np.full(used.size, -1, np.int32)
        parts = _customise_kernels.Parts(
            *(np.ascontiguousarray(pairs[used], np.int32) for pairs in (ranges, members, own))
        )
        blocks = np.zeros((used.size, 4), np.int64)
        work = np.zeros(used.size, np.int64)
        found.append(LevelParts(numbers, parts, blocks, above, np.zeros(used.size, np.bool_), work))
    level_starts = np.concatenate([[0, 0], np.cumsum([starts.size for starts in partition.starts])])
    overlay = _level_kernels.Overlay(
        offsets=offsets,
        targets=targets,
        costs=np.empty(0, np.float32),
        subs=np.empty(0, np.int32),
        steps=np.empty(0, np.uint16),
        places=places,
        heights=tall,
        rows=rows,
        row_first=np.zeros(rows[-1], np.int32),
        row_last=np.zeros(rows[-1], np.int32),
        row_base=row_base,
        members=portal_at[np.concatenate([np.empty(0, np.int32), *by_level])],
        starts=np.concatenate([np.empty(0, np.int32), *partition.starts]),
        level_starts=level_starts.astype(np.int32),
        landmarks=np.zeros((places.size, LANDMARKS)),
    )
    return overlay, found
