"""The levels over a partition: portals, inter-edges and intra-edges, made and remade from the costs of the edges.

The partition, the portals and the rows depend only on which nodes are joined. Costs come in by `customise` (all of
them) and `update` (some): both make the arcs of a part from those of the level below, so that an update needs to go
only through the parts that hold a changed edge, upward.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.graph import Graph
from wayfold.graph.searcher import NO_NODES
from wayfold.graph.workspace import Workspaces
from wayfold.hierarchy import _customise_kernels, _level_kernels, _repair_kernels, batches, topology
from wayfold.hierarchy.partition import Partition, Progress
from wayfold.hierarchy.repair import Carried

# More portals than this in a part, and the distances between them cost more than the search they save.
MOST_PORTALS = 1024
# Arcs that an update looks at before it sets parts aside: about a millisecond.
_MOST_WORK = 60_000


@dataclass(frozen=True)
class Level:
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
        offsets, slots = topology.base_slots(graph, partition)
        targets = self.rank[graph.targets[slots]]
        sources = np.repeat(np.arange(graph.num_nodes, dtype=np.int32), np.diff(offsets))
        cells = [np.repeat(np.arange(len(s) - 1, dtype=np.int32), np.diff(s)) for s in partition.starts]
        heights = topology.portal_heights(sources, targets, cells, chosen)
        self.overlay, self._parts = topology.lay_out(partition, offsets, targets, heights, cells)
        self.backward = self.overlay
        self._back: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]] | None = None
        if graph.directed:
            turned = np.argsort(targets, kind="stable")
            back_offsets = np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=graph.num_nodes))])
            self._back = (back_offsets.astype(np.int32), sources[turned], turned)
        self._largest = [
            (int(np.diff(level.parts.portals).max(initial=1)), int(np.diff(level.parts.members).max(initial=1)))
            for level in self._parts
        ]
        self._maker = batches.Maker(self.overlay.places.size, self._largest)
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

    def describe(self, nodes: int, edges: int) -> list[Level]:
        """What each level holds, the graph as level 0 first."""
        overlay = self.overlay
        inter = np.concatenate([[0], np.cumsum(overlay.subs < 0)])
        base = overlay.offsets.nbytes + 8 * self.edges
        result = [Level(0, nodes, 0, edges, 0, base)]
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
            result.append(Level(number, parts, portals.size, outward, arcs - outward, size))
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
            overlay = batches.append(overlay, level, level_parts, made)
        self._used[:] = overlay.targets.size, overlay.steps.size
        self.overlay = batches.with_room(overlay, 0, 0)
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
                _repair_kernels.mark_touched(
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
            _repair_kernels.carry_parts(
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
            workspaces = Workspaces(count)
            state = workspaces.take()
            while state.keys.size < count:
                state = workspaces.larger(state)
            _repair_kernels.lower_landmarks(overlay, state, seeds, overlay.landmarks)
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
        self.overlay = batches.compacted(self.overlay, self._parts, self._used, 0, 0)
        self._turn_round()
        self.version += 1

    def _remake(self, level: int, numbers: NDArray[Any], *, workers: int | None) -> NDArray[np.bool_]:
        """Make the arcs of some parts of a level again; returns which of the parts changed."""
        level_parts = self._parts[level - 1]
        changed = np.zeros(numbers.size, np.bool_)
        begin = 0
        every = _customise_kernels.Parts(*(pairs[numbers] for pairs in level_parts.parts))
        for batch in self._maker.all(self.overlay, level, every, workers):
            end = begin + len(batch.ends) - 1
            parts = _customise_kernels.Parts(*(pairs[begin:end] for pairs in every))
            blocks = level_parts.blocks[numbers[begin:end]]
            done = np.zeros(1, np.int64)
            while _customise_kernels.replace(
                self.overlay, level, parts, batch, blocks, self._used, changed[begin:end], done
            ):
                level_parts.blocks[numbers[begin:end]] = blocks
                more = 2 * int(batch.ends[-1, 1]), 2 * int(batch.ends[-1, 2])
                self.overlay = batches.compacted(self.overlay, self._parts, self._used, *more)
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
    # open ground that cost the same, one is followed instead of all at once. On grids this halves the work.
    full_scale = 1.0 + 2e-7

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
        for at in np.flatnonzero(cheaper).tolist():
            self._cheaper[int(arcs[at])] = float(costs[at]) / placed[at]

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
        near = np.zeros((self.partition.levels + 1, 2), np.int32)
        space = _level_kernels.Multilevel(overlay, near, np.zeros(topology.LANDMARKS), 1, self.one_way)
        workspaces = Workspaces(count)
        state = workspaces.take()
        while _customise_kernels.place_landmarks(
            space, state, NO_NODES, groups, starts, overlay.landmarks, np.empty(count)
        ):
            state = workspaces.larger(state)

    def _estimate_work(self) -> None:
        overlay = self.overlay
        for level, level_parts in enumerate(self._parts, start=1):
            level_parts.aside[:] = False
            portals, members = level_parts.parts.portals, level_parts.parts.members
            degrees = np.diff(overlay.offsets)
            if level > 1:
                below = overlay.rows[overlay.members] + level - 2
                degrees = (overlay.row_last - overlay.row_first)[np.minimum(below, overlay.row_first.size - 1)]
            arcs = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
            level_parts.work[:] = np.diff(portals)[:, 0] * (arcs[members[:, 1]] - arcs[members[:, 0]])

    def _turn_round(self) -> None:
        """The graph's edges the other way, for linking goals; the same arrays where edges are two-way."""
        self.backward = self.overlay
        if self._back is not None:
            offsets, targets, slots = self._back
            self.backward = self.overlay._replace(offsets=offsets, targets=targets, costs=self.overlay.costs[slots])
