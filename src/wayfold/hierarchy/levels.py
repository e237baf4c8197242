"""The levels over a partition: portals, inter-edges and intra-edges, computed from the costs of the edges.

The partition, the portals and the rows depend only on which nodes are joined. `customise` takes all costs, `update`
some; both compute the arcs of a part from those of the level below, so an update only visits the parts that hold a
changed edge, from the bottom up.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.core import batches
from wayfold.core.arrays import offsets_of
from wayfold.core.locks import Portable
from wayfold.core.progress import Progress
from wayfold.graph import Graph
from wayfold.graph.search_kernels import SearchState
from wayfold.graph.searcher import NO_NODES, Workspaces
from wayfold.hierarchy import _customise_kernels, _query_kernels
from wayfold.hierarchy.partition import Carried, Partition

# More portals than this in a part, and the distances between them cost more than the search they save.
MOST_PORTALS = 1024
# Arcs that an update looks at before it sets parts aside: about a millisecond.
_MOST_WORK = 60_000


@dataclass(frozen=True)
class HierarchyLevel:
    """What one level holds (the paper's figures 18 and 23).

    Attributes
    ----------
    number : int
        0 is the graph itself.
    nodes : int
        Parts; the nodes of the graph at level 0.
    portals : int
    inter_edges, intra_edges : int
        Arcs, one for each direction; at level 0 the edges of the graph.
    nbytes : int
        Bytes of the arcs, rows and sub-paths of the level.
    """

    number: int
    nodes: int
    portals: int
    inter_edges: int
    intra_edges: int
    nbytes: int


class Levels:
    """Levels of one graph over one partition.

    Parameters
    ----------
    graph : Graph
    partition : Partition
    chosen : bool
        Whether portals are chosen as in the paper, one crossing for each pair of neighbours of the level below, instead
        of all crossings.
    """

    def __init__(self, graph: Graph, partition: Partition, *, chosen: bool = False) -> None:
        self.partition = partition
        self.one_way = graph.directed
        self.rank = np.empty(graph.num_nodes, np.int32)
        self.rank[partition.order] = np.arange(graph.num_nodes, dtype=np.int32)
        offsets, slots = base_slots(graph, partition)
        targets = self.rank[graph.targets[slots]]
        sources = np.repeat(np.arange(graph.num_nodes, dtype=np.int32), np.diff(offsets))
        cells = [np.repeat(np.arange(len(s) - 1, dtype=np.int32), np.diff(s)) for s in partition.starts]
        heights = portal_heights(sources, targets, cells, chosen)
        self.overlay, self._parts = lay_out(partition, offsets, targets, heights, cells)
        self.backward = self.overlay
        self._back: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]] | None = None
        if graph.directed:
            turned = np.argsort(targets, kind="stable")
            back_offsets = offsets_of(np.bincount(targets, minlength=graph.num_nodes))
            self._back = (back_offsets.astype(np.int32), sources[turned], turned)
        self._largest = [
            (int(np.diff(level.parts.portals).max(initial=1)), int(np.diff(level.parts.members).max(initial=1)))
            for level in self._parts
        ]
        self._maker = Maker(self.overlay.places.size, self._largest)
        self.version = 0
        self.most_work = _MOST_WORK
        self._used = np.zeros(2, np.int64)
        # Costs that edges had when the landmarks were placed, and how much cheaper some are now.
        self._reference: dict[int, float] = {}
        self._cheaper: dict[int, float] = {}

    @property
    def edges(self) -> int:
        """Number of arcs of level 0."""
        return int(self.overlay.offsets[-1])

    @property
    def fits(self) -> int:
        """How many levels have parts with few enough portals to pay; the others should be left out."""
        for level, (portals, members) in enumerate(self._largest):
            if portals > MOST_PORTALS or members > np.iinfo(np.uint16).max:
                return level
        return len(self._largest)

    def mean_extent(self, graph: Graph) -> float:
        """Mean extent in space of the parts of level 1 that have portals."""
        ranges = self._parts[0].parts.ranges
        points = graph.points[self.partition.order]
        starts = self.partition.starts[0][:-1]
        extent = np.maximum.reduceat(points, starts) - np.minimum.reduceat(points, starts)
        used = extent[np.searchsorted(starts, ranges[:, 0])].astype(np.float64)
        return float(np.sqrt((used * used).sum(axis=1)).mean())

    def sizes_and_arcs(self) -> list[tuple[float, int, int]]:
        """Mean number of nodes of the parts with portals, number of arcs and of portals, of each level from 1."""
        result = []
        for number, level in enumerate(self._parts, start=1):
            rows = self.overlay.rows[np.flatnonzero(self.overlay.heights >= number)] + number - 1
            arcs = int((self.overlay.row_last[rows] - self.overlay.row_first[rows]).sum())
            ranges = level.parts.ranges
            result.append((float(np.diff(ranges).mean()) if len(ranges) else 0.0, arcs, rows.size))
        return result

    def same_part(self, level: int, a: int, b: int) -> bool:
        """Whether two nodes lie in one part of a level."""
        starts = self.partition.starts[level - 1]
        first, second = np.searchsorted(starts, self.rank[[a, b]], side="right")
        return bool(first == second)

    @property
    def nbytes(self) -> int:
        """Bytes of everything that is kept, without scratch memory."""
        arrays = [*self.overlay, self.rank, self.partition.order]
        if self._back is not None:
            arrays += [*self._back, self.backward.costs]
        for level in self._parts:
            arrays += [level.numbers, *level.parts, level.blocks, level.above, level.aside, level.work]
        return sum(array.nbytes for array in arrays)

    def describe(self, nodes: int, edges: int) -> list[HierarchyLevel]:
        """What each level holds, the graph as level 0 first."""
        overlay = self.overlay
        inter = np.concatenate([[0], np.cumsum(overlay.subs < 0)])
        base = overlay.offsets.nbytes + 8 * self.edges
        result = [HierarchyLevel(0, nodes, 0, edges, 0, base)]
        for number, level in enumerate(self._parts, start=1):
            portals = np.flatnonzero(overlay.heights >= number)
            rows = overlay.rows[portals] + number - 1
            rows = rows[overlay.row_first[rows] >= 0]  # the others belong to parts that an update has set aside
            first, last = overlay.row_first[rows] - self.edges, overlay.row_last[rows] - self.edges
            outward = int((inter[last] - inter[first]).sum())
            arcs = int((last - first).sum())
            steps = int(level.blocks[:, 3].sum())
            size = 12 * arcs + 2 * steps + 16 * portals.size
            parts = self.partition.starts[number - 1].size - 1
            result.append(HierarchyLevel(number, parts, portals.size, outward, arcs - outward, size))
        return result

    # --- costs -----------------------------------------------------------------------------------------------------

    def customise(
        self,
        costs: NDArray[np.float32],
        components: NDArray[np.int32],
        *,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Make the arcs of all levels from the costs (m,) of the edges in `base_slots` order.

        `components` (n,) are those of the graph's nodes with these costs.
        """
        edges = self.edges
        overlay = self.overlay._replace(
            targets=self.overlay.targets[:edges], costs=costs, subs=np.empty(0, np.int32), steps=np.empty(0, np.uint16)
        )
        for level, level_parts in enumerate(self._parts, start=1):
            if progress is not None:
                progress("linking portals", level - 1, len(self._parts))
            made = self._maker.all(overlay, level, level_parts.parts, workers)
            overlay = append(overlay, level, level_parts, made)
        self._used[:] = overlay.targets.size, overlay.steps.size
        self.overlay = with_room(overlay, 0, 0)
        self._turn_round()
        self.place_landmarks(components)
        self._estimate_work()
        self.version += 1

    def copied(self) -> Levels:
        """The same levels, with arrays of their own wherever changes write."""
        twin = copy.copy(self)
        written = ("targets", "costs", "subs", "steps", "row_first", "row_last", "landmarks")
        twin.overlay = self.overlay._replace(**{name: getattr(self.overlay, name).copy() for name in written})
        twin._parts = [
            replace(level, blocks=level.blocks.copy(), aside=level.aside.copy(), work=level.work.copy())
            for level in self._parts
        ]
        twin._used = self._used.copy()
        twin._reference, twin._cheaper = dict(self._reference), dict(self._cheaper)
        twin._turn_round()
        return twin

    def carry_over(
        self, old: Levels, carried: Carried, costs: NDArray[np.float32], components: NDArray[np.int32]
    ) -> None:
        """Take the arcs of parts that stayed as they were from earlier levels, and make the others; all portals chosen.

        `costs` (m,) are those of the edges in `base_slots` order, `components` (n,) those of the graph's nodes.
        """
        edges, pool = self.edges, old.overlay.targets.size - old.edges
        overlay = self.overlay = self.overlay._replace(
            targets=np.concatenate([self.overlay.targets[:edges], np.empty(pool, np.int32)]),
            costs=np.concatenate([costs, np.empty(pool, np.float32)]),
            subs=np.empty(pool, np.int32),
            steps=np.empty(old.overlay.steps.size, np.uint16),
        )
        self._used[:] = edges, 0
        places, old_places = overlay.places, old.overlay.places
        heights, old_heights = (np.zeros(levels.rank.size, np.uint8) for levels in (self, old))
        heights[places], old_heights[old_places] = overlay.heights, old.overlay.heights
        portal_at = np.full(self.rank.size, -1, np.int32)
        portal_at[places] = np.arange(places.size, dtype=np.int32)
        moved = carried.new_place[old_places]
        portal_map = np.where(moved >= 0, portal_at[moved], -1).astype(np.int32)
        touched = np.ones(0, np.bool_)
        renewed = []
        for level, (mine, theirs) in enumerate(zip(self._parts, old._parts, strict=True), start=1):
            numbers, old_starts = carried.parts[level - 1], old.partition.starts[level - 1]
            if level == 1:
                # Parts that are gone count as touched: those that held them lost members.
                touched = np.ones(old_starts.size - 1, np.bool_)
                starts = self.partition.starts[0]
                changed = np.diff(starts) != np.diff(old_starts)[numbers]
                _customise_kernels.mark_touched(
                    old.overlay, overlay, old_heights, heights, carried.old_place, carried.new_place, starts, changed
                )
                touched[numbers] = changed
            else:
                below = touched
                touched = np.zeros(old_starts.size - 1, np.bool_)
                under = old.partition.starts[level - 2][:-1][below]
                touched[np.searchsorted(old_starts, under, side="right") - 1] = True
            # Parts with portals: where they are now, and where they were.
            now: NDArray[Any] = np.flatnonzero(mine.numbers >= 0)
            before = theirs.numbers[numbers[now]]
            same = ~touched[numbers[now]]
            same[same] = ~theirs.aside[before[same]]
            now = mine.numbers[now]
            blocks = np.zeros((int(same.sum()), 4), np.int64)
            _customise_kernels.carry_parts(
                old.overlay,
                self.overlay,
                level,
                theirs.parts.portals[before[same]],
                mine.parts.portals[now[same]],
                theirs.blocks[before[same]],
                blocks,
                portal_map,
                self._used,
            )
            mine.blocks[now[same]] = blocks
            renewed.append(now[~same])
        # What is carried over fits where it was; only then may others take room.
        for level, numbers in enumerate(renewed, start=1):
            self._remake(level, numbers, workers=1)
        spans = self._parts[0].parts.portals[renewed[0]] if renewed else np.empty((0, 2), np.int32)
        seeds = np.concatenate([NO_NODES, *(overlay.members[first:last] for first, last in spans)])
        self._turn_round()
        self._carry_landmarks(old, portal_map, seeds, components)
        self._estimate_work()
        self.version += 1

    def _carry_landmarks(
        self, old: Levels, portal_map: NDArray[np.int32], seeds: NDArray[np.int32], components: NDArray[np.int32]
    ) -> None:
        """Distances from the landmarks that there were, lowered where arcs `seeds` have are shorter than before."""
        overlay = self.overlay
        count = overlay.places.size
        if old.scale < old.full_scale:
            self.place_landmarks(components)
            return
        overlay.landmarks[:] = np.inf
        known = portal_map >= 0
        overlay.landmarks[portal_map[known]] = old.overlay.landmarks[known]
        if seeds.size:
            _customise_kernels.lower_landmarks(overlay, _room_for_all(count), seeds, overlay.landmarks)
        if not self.one_way:  # components without any landmark: no bound at all
            overlay.landmarks[np.isinf(overlay.landmarks)] = 0.0

    def update(self, sources: NDArray[np.int32], arcs: NDArray[np.int64], costs: NDArray[np.float32]) -> None:
        """Give some edges (arcs of level 0, from places) other costs and remake the parts that this changes, upward.

        Parts of high levels that would take long are set aside until `refresh`.
        """
        before = self.overlay.costs[arcs]
        self._note_cheaper(arcs, before, costs)
        self.overlay.costs[arcs] = costs
        numbers: NDArray[Any] = np.empty(0, np.int64)
        if self._parts:
            # An edge between two parts is an arc of the one that it leaves.
            places = sources[costs != before]
            holders = np.unique(np.searchsorted(self.partition.starts[0], places, side="right") - 1)
            numbers = self._parts[0].numbers[holders]
            numbers = numbers[numbers >= 0]
        work = 0
        for level, level_parts in enumerate(self._parts, start=1):
            numbers = numbers[~level_parts.aside[numbers]]
            if not numbers.size:
                break
            work += int(level_parts.work[numbers].sum())
            if level > 1 and work > self.most_work:
                self._set_aside(level, numbers)
                break
            above = np.unique(level_parts.above[numbers[self._remake(level, numbers, workers=1)]])
            if level < len(self._parts):
                numbers = self._parts[level].numbers[above]
                numbers = numbers[numbers >= 0]
        self._turn_round()
        self.version += 1

    def refresh(self, *, workers: int | None = None) -> None:
        """Remake the parts that updates have set aside, and give back the room that parts no longer need."""
        for level, level_parts in enumerate(self._parts, start=1):
            numbers = np.flatnonzero(level_parts.aside)
            if numbers.size:
                self._remake(level, numbers, workers=workers)
                level_parts.aside[:] = False
        self.overlay = compacted(self.overlay, self._parts, self._used, 0, 0)
        self._turn_round()
        self.version += 1

    def _remake(self, level: int, numbers: NDArray[Any], *, workers: int | None) -> NDArray[np.bool_]:
        """Make the arcs of some parts of a level again; returns which of the parts changed."""
        level_parts = self._parts[level - 1]
        changed = np.zeros(numbers.size, np.bool_)
        begin = 0
        every = _customise_kernels.PartBatch(*(pairs[numbers] for pairs in level_parts.parts))
        for batch in self._maker.all(self.overlay, level, every, workers):
            end = begin + len(batch.ends) - 1
            parts = _customise_kernels.PartBatch(*(pairs[begin:end] for pairs in every))
            blocks = level_parts.blocks[numbers[begin:end]]
            done = np.zeros(1, np.int64)
            while _customise_kernels.replace(
                self.overlay, level, parts, batch, blocks, self._used, changed[begin:end], done
            ):
                level_parts.blocks[numbers[begin:end]] = blocks
                more = 2 * int(batch.ends[-1, 1]), 2 * int(batch.ends[-1, 2])
                self.overlay = compacted(self.overlay, self._parts, self._used, *more)
                blocks = level_parts.blocks[numbers[begin:end]]
            level_parts.blocks[numbers[begin:end]] = blocks
            begin = end
        return changed

    def _set_aside(self, level: int, numbers: NDArray[Any]) -> None:
        """Let searches pass parts of a level, and the parts that hold them, one level lower."""
        for above in range(level, len(self._parts) + 1):
            level_parts = self._parts[above - 1]
            level_parts.aside[numbers] = True
            _customise_kernels.set_aside(self.overlay, above, level_parts.parts.portals[numbers])
            holders = np.unique(level_parts.above[numbers])
            if above < len(self._parts):
                numbers = self._parts[above].numbers[holders]
                numbers = numbers[numbers >= 0]

    # Above 1 by so little that it costs a path no more than the rounding of float32 costs does: of the many ways across
    # open ground that cost the same, one is followed instead of all at once. On grids this halves the work. What
    # distances from landmarks leave out of each arc comes on top.
    full_scale = (1.0 + 2e-7) / _customise_kernels.BEFORE_ROUNDING

    @property
    def scale(self) -> float:
        """What makes landmarks a lower bound: below 1 while an edge is cheaper than when they were placed."""
        return min(self._cheaper.values(), default=1.0) * self.full_scale

    def _note_cheaper(self, arcs: NDArray[np.int64], before: NDArray[np.float32], costs: NDArray[np.float32]) -> None:
        placed = [self._reference.setdefault(*pair) for pair in zip(arcs.tolist(), before.tolist(), strict=True)]
        cheaper = costs < np.array(placed)
        if self._cheaper:
            for arc in arcs[~cheaper].tolist():
                self._cheaper.pop(arc, None)
        for index in np.flatnonzero(cheaper).tolist():
            self._cheaper[int(arcs[index])] = float(costs[index]) / placed[index]

    def place_landmarks(self, components: NDArray[np.int32]) -> None:
        """Choose landmarks and measure distances from them, with the present costs."""
        overlay = self.overlay
        self._cheaper.clear()
        self._reference.clear()
        count = overlay.places.size
        if not count:
            return
        found = components[self.partition.order[overlay.places]]
        groups = np.argsort(found, kind="stable").astype(np.int32)
        changes = np.flatnonzero(np.diff(found[groups])) + 1
        starts = np.concatenate([[0], changes, [count]]).astype(np.int32)
        _customise_kernels.place_landmarks(
            overlay, _room_for_all(count), groups, starts, overlay.landmarks, np.empty(count)
        )

    def _estimate_work(self) -> None:
        overlay = self.overlay
        for level, level_parts in enumerate(self._parts, start=1):
            level_parts.aside[:] = False
            portals, members = level_parts.parts.portals, level_parts.parts.members
            degrees = np.diff(overlay.offsets)
            if level > 1:
                below = overlay.rows[overlay.members] + level - 2
                degrees = (overlay.row_last - overlay.row_first)[np.minimum(below, overlay.row_first.size - 1)]
            arcs = offsets_of(degrees)
            level_parts.work[:] = np.diff(portals)[:, 0] * (arcs[members[:, 1]] - arcs[members[:, 0]])

    def _turn_round(self) -> None:
        """The graph's edges the other way, for linking goals; the same arrays where edges are two-way."""
        self.backward = self.overlay
        if self._back is not None:
            offsets, targets, slots = self._back
            self.backward = self.overlay._replace(offsets=offsets, targets=targets, costs=self.overlay.costs[slots])


def _room_for_all(portals: int) -> SearchState:
    """Scratch memory of a search over portals whose heap has room for all of them."""
    workspaces = Workspaces(portals)
    state = workspaces.take()
    while state.keys.size < portals:
        state = workspaces.larger(state)
    return state


LANDMARKS = 8  # a row of them is one line of the processor's cache


@dataclass
class LevelParts:
    """The parts of a level that have portals, and where their arcs are in the pool."""

    numbers: NDArray[np.int32]  # by part of the level: index into the arrays below, -1 without portals
    parts: _customise_kernels.PartBatch
    blocks: NDArray[np.int64]  # (k, 4): first arc and room for arcs, first step and room for steps
    above: NDArray[np.int32]  # part of the next level, -1 on the highest
    aside: NDArray[np.bool_]  # whether an update has set the part aside
    work: NDArray[np.int64]  # arcs that making the part's arcs looks at, about


def base_slots(graph: Graph, partition: Partition) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Rows of the graph in the partition's order: their offsets, and the graph's slot of each of their edges."""
    degrees = np.diff(graph.offsets)[partition.order]
    offsets = offsets_of(degrees)
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
) -> tuple[_query_kernels.Overlay, list[LevelParts]]:
    """Number the portals and lay out their rows; the arcs of levels above 0 are still missing."""
    portals = np.flatnonzero(heights)
    # The highest first: the top level is what long searches touch.
    places = portals[np.argsort(-heights[portals].astype(np.int64), kind="stable")].astype(np.int32)
    portal_at = np.full(heights.size, -1, np.int32)
    portal_at[places] = np.arange(places.size, dtype=np.int32)
    tall = heights[places]
    rows = offsets_of(tall).astype(np.int32)
    row_base = np.empty(rows[-1], np.int32)
    by_level = [np.flatnonzero(heights > level).astype(np.int32) for level in range(len(cells))]
    begins = offsets_of([own.size for own in by_level])
    found = []
    for level, starts in enumerate(partition.starts):
        ranges = np.column_stack([starts[:-1], starts[1:]])
        own = np.searchsorted(by_level[level], ranges) + begins[level]
        members = ranges if level == 0 else np.searchsorted(by_level[level - 1], ranges) + begins[level - 1]
        own_places = by_level[level]
        row_base[rows[portal_at[own_places]] + level] = members[cells[level][own_places], 0]
        used = np.flatnonzero(own[:, 1] > own[:, 0])
        numbers = np.full(len(ranges), -1, np.int32)
        numbers[used] = np.arange(used.size, dtype=np.int32)
        above = cells[level + 1][starts[:-1][used]] if level + 1 < len(cells) else np.full(used.size, -1, np.int32)
        parts = _customise_kernels.PartBatch(
            *(np.ascontiguousarray(pairs[used], np.int32) for pairs in (ranges, members, own))
        )
        blocks = np.zeros((used.size, 4), np.int64)
        work = np.zeros(used.size, np.int64)
        found.append(LevelParts(numbers, parts, blocks, above, np.zeros(used.size, np.bool_), work))
    level_starts = np.concatenate([[0, 0], np.cumsum([starts.size for starts in partition.starts])])
    overlay = _query_kernels.Overlay(
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


_SPARE = 16  # a sixteenth of the pool is kept free for parts that grow in an update


class Maker(Portable):
    """Makes the arcs of parts; keeps its scratch memory for the next time.

    Parameters
    ----------
    portals : int
        Number of all portals.
    largest : list of (int, int)
        For each level the most portals and the most members of a part.
    """

    _OWN = (("_free", deque),)

    def __init__(self, portals: int, largest: list[tuple[int, int]]) -> None:
        self._portals = portals
        self._most_portals = max((most for most, _ in largest), default=1)
        self._most_members = max((most for _, most in largest), default=1)
        # append and pop of a deque are atomic, so threads need no lock of ours
        self._free: deque[tuple[Workspaces, _customise_kernels.PartScratch]] = deque()

    def all(
        self, overlay: _query_kernels.Overlay, level: int, parts: _customise_kernels.PartBatch, workers: int | None
    ) -> list[_customise_kernels.Batch]:
        """The arcs of some parts of a level, in batches."""
        count = len(parts.ranges)
        threads = batches.worker_count(workers)
        # Small enough to keep all threads busy to the end.
        chunk = max(1, count if threads == 1 else -(-count // (8 * threads)))
        made: dict[int, _customise_kernels.Batch] = {}

        def work(first: int, last: int) -> None:
            some = _customise_kernels.PartBatch(*(pairs[first:last] for pairs in parts))
            made[first] = self.batch(overlay, level, some)

        batches.run_chunks(work, count, workers=workers, chunk=chunk)
        return [made[first] for first in sorted(made)]

    def batch(
        self, overlay: _query_kernels.Overlay, level: int, parts: _customise_kernels.PartBatch
    ) -> _customise_kernels.Batch:
        """The arcs of some parts of a level, made by the calling thread."""
        try:
            workspaces, scratch = self._free.pop()
        except IndexError:
            workspaces = Workspaces(self._most_members)
            scratch = _customise_kernels.PartScratch(
                ordinals=np.zeros(self._portals, np.uint16),
                own=np.empty(self._most_portals, np.int32),
                direct=np.empty((self._most_portals, self._most_portals)),
                between=np.empty((self._most_portals, self._most_portals)),
                needed=np.empty(self._most_portals, np.bool_),
                # memory that is never written takes no room: either the parents or the rest
                parents=np.empty((self._most_portals, self._most_members), np.uint16),
                reduced=_reduced(min(self._most_members, _customise_kernels.MOST_MEMBERS)),
            )
        portals = int(np.diff(parts.portals).sum())
        room = 64 + 16 * portals
        batch = _customise_kernels.Batch(
            targets=np.empty(room, np.int32),
            costs=np.empty(room, np.float32),
            subs=np.empty(room, np.int32),
            steps=np.empty(8 * room, np.uint16),
            row_sizes=np.empty(portals, np.int32),
            ends=np.zeros((len(parts.ranges) + 1, 3), np.int64),
            done=np.zeros(1, np.int64),
        )
        state = workspaces.take()
        while True:
            status = _customise_kernels.customise(overlay, level, parts, state, scratch, batch)
            if status == _customise_kernels.MORE_ARCS:
                arrays = {name: np.resize(getattr(batch, name), 2 * room) for name in ("targets", "costs", "subs")}
                room *= 2
                batch = batch._replace(**arrays)
            elif status == _customise_kernels.MORE_STEPS:
                batch = batch._replace(steps=np.resize(batch.steps, 2 * batch.steps.size))
            elif status == _customise_kernels.MORE_HEAP:
                state = workspaces.larger(state)
            else:
                break
        workspaces.give(state)
        self._free.append((workspaces, scratch))
        return batch


def _reduced(members: int) -> _customise_kernels.Reduced:
    return _customise_kernels.Reduced(
        costs=np.empty(members * members),
        via=np.empty(members * members, np.int16),
        joined=np.empty(members * members, np.int16),
        degrees=np.empty(members, np.int32),
        done=np.empty(members, np.bool_),
        stack=np.empty((members + 2, 2), np.int32),
    )


def append(
    overlay: _query_kernels.Overlay, level: int, level_parts: LevelParts, batches: list[_customise_kernels.Batch]
) -> _query_kernels.Overlay:
    """Put the arcs of a whole level at the end of the pool."""
    targets, costs, subs, steps = [overlay.targets], [overlay.costs], [overlay.subs], [overlay.steps]
    arc, step, part = overlay.targets.size, overlay.steps.size, 0
    sizes = []
    for batch in batches:
        ends = batch.ends
        arcs, length = int(ends[-1, 1]), int(ends[-1, 2])
        targets.append(batch.targets[:arcs])
        costs.append(batch.costs[:arcs])
        moved = batch.subs[:arcs]
        subs.append(np.where(moved >= 0, moved + step, -1).astype(np.int32))
        steps.append(batch.steps[:length])
        sizes.append(batch.row_sizes)
        blocks = level_parts.blocks[part : part + len(ends) - 1]
        blocks[:, 0], blocks[:, 1] = arc + ends[:-1, 1], np.diff(ends[:, 1])
        blocks[:, 2], blocks[:, 3] = step + ends[:-1, 2], np.diff(ends[:, 2])
        arc, step, part = arc + arcs, step + length, part + len(ends) - 1
    if sizes:
        own = level_parts.parts.portals
        rows = overlay.rows[overlay.members[own[0, 0] : own[-1, 1]]] + level - 1
        arcs_of = np.concatenate(sizes)
        ends_of = overlay.targets.size + np.cumsum(arcs_of)
        overlay.row_last[rows] = ends_of
        overlay.row_first[rows] = ends_of - arcs_of
    return overlay._replace(
        targets=np.concatenate(targets),
        costs=np.concatenate(costs),
        subs=np.concatenate(subs),
        steps=np.concatenate(steps),
    )


def compacted(
    overlay: _query_kernels.Overlay, levels: Sequence[LevelParts], used: NDArray[np.int64], arcs: int, steps: int
) -> _query_kernels.Overlay:
    """The overlay without what parts left behind when they moved in the pool, with room for more arcs and steps.

    Parts that were set aside lose their place, as nobody reads it. `blocks` of the levels, rows of the overlay and
    `used` (2,) are changed in place.
    """
    edges = int(overlay.offsets[-1])
    arc, step = edges, 0
    sources, places, step_sources, step_places, ways = ([np.empty(0, np.int64)] for _ in range(5))
    for level, level_parts in enumerate(levels, start=1):
        blocks, spans = level_parts.blocks, level_parts.parts.portals.astype(np.int64)
        if not len(blocks):
            continue
        rows = overlay.rows[overlay.members[_ranges(spans[:, 0], spans[:, 1] - spans[:, 0])]] + level - 1
        portals = spans[:, 1] - spans[:, 0]
        part = np.repeat(np.arange(len(blocks)), portals)
        sizes = (overlay.row_last[rows] - overlay.row_first[rows]).astype(np.int64)
        begins = np.cumsum(portals) - portals
        first = overlay.row_first[rows[begins]].astype(np.int64)  # the arcs of a part lie row behind row
        there = first >= 0
        count = np.where(there, np.bincount(part, sizes, len(blocks)).astype(np.int64), 0)
        room = np.minimum(np.maximum(blocks[:, 1], count), count + count // 4) * there
        own = _ranges(first, count)
        needed = _steps_needed(overlay, own - edges, np.repeat(np.arange(len(blocks)), count), blocks[:, 2])
        step_room = np.minimum(np.maximum(blocks[:, 3], needed), needed + needed // 4) * there
        place, step_place = arc + np.cumsum(room) - room, step + np.cumsum(step_room) - step_room
        sources.append(own)
        places.append(_ranges(place, count))
        step_sources.append(_ranges(blocks[:, 2], needed))
        step_places.append(_ranges(step_place, needed))
        ways.append(np.repeat(step_place - blocks[:, 2], count))
        shift = np.where(there, place - first, 0).astype(np.int32)[part]
        overlay.row_first[rows] += shift
        overlay.row_last[rows] += shift
        blocks[:] = np.column_stack([place, room, step_place, step_room])
        arc, step = arc + int(room.sum()), step + int(step_room.sum())
    old, new = np.concatenate(sources), np.concatenate(places)
    size, step_size = arc + arcs + (arc - edges) // _SPARE, step + steps + step // _SPARE
    targets, costs = np.zeros(size, np.int32), np.full(size, np.inf, np.float32)
    subs, all_steps = np.full(size - edges, -1, np.int32), np.zeros(step_size, np.uint16)
    targets[:edges], costs[:edges] = overlay.targets[:edges], overlay.costs[:edges]
    targets[new], costs[new] = overlay.targets[old], overlay.costs[old]
    inner = overlay.subs[old - edges]
    subs[new - edges] = np.where(inner >= 0, inner + np.concatenate(ways), -1)
    all_steps[np.concatenate(step_places)] = overlay.steps[np.concatenate(step_sources)]
    used[:] = arc, step
    return overlay._replace(targets=targets, costs=costs, subs=subs, steps=all_steps)


def _steps_needed(
    overlay: _query_kernels.Overlay, arcs: NDArray[np.int64], part: NDArray[np.int64], first: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How many steps from the `first` of each part on its arcs use; `arcs` are places in `subs`, each of a `part`."""
    subs = overlay.subs[arcs].astype(np.int64)
    known = subs >= 0
    subs, part = subs[known], part[known]
    needed = np.zeros(len(first), np.int64)
    # The number of steps of an arc stands before them.
    np.maximum.at(needed, part, subs + 1 + overlay.steps[subs] - first[part])
    return needed


def _ranges(first: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of ranges one after the other."""
    ends = np.cumsum(sizes)
    return np.asarray(np.repeat(first - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0))


def with_room(overlay: _query_kernels.Overlay, arcs: int, steps: int) -> _query_kernels.Overlay:
    """The overlay with room at the end of its pool for so many arcs and steps, and some to spare."""
    arcs += (overlay.targets.size - int(overlay.offsets[-1])) // _SPARE
    steps += overlay.steps.size // _SPARE
    return overlay._replace(
        targets=np.concatenate([overlay.targets, np.zeros(arcs, np.int32)]),
        costs=np.concatenate([overlay.costs, np.full(arcs, np.inf, np.float32)]),
        subs=np.concatenate([overlay.subs, np.full(arcs, -1, np.int32)]),
        steps=np.concatenate([overlay.steps, np.zeros(steps, np.uint16)]),
    )
