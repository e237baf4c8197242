"""Subregions that follow their waypoint graph as it changes, repaired locally instead of built again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.core.arrays import offsets_of
from wayfold.graph import Graph
from wayfold.graph.build import cost_scale
from wayfold.subregions import _repair_kernels as kernels
from wayfold.subregions.abstraction import Abstraction, layout_of, region_order
from wayfold.waypoints import WaypointGraph
from wayfold.waypoints.edit_kernels import spare_targets

_SPARE = 8  # connections that a subregion can gain before all rows get more room


class Live:
    """A subregion graph in arrays with room to change.

    Parameters
    ----------
    waypoints : WaypointGraph
    parts : Abstraction
        Its labels are changed in place.
    seed : int
        Processing order.
    cost : str
        Cost scheme of the connections.
    """

    def __init__(self, waypoints: WaypointGraph, parts: Abstraction, seed: int, cost: str) -> None:
        self.cost = cost
        self.seed = seed
        self.labels = parts.labels
        limit = int(np.iinfo(self.labels.dtype).max)
        room = min(limit, parts.count + parts.count // 8 + 256)
        self.order = region_order(waypoints.num_regions, seed)
        self.regions = waypoints.num_regions
        rank = np.empty(self.regions, np.int32)
        rank[self.order] = np.arange(self.regions, dtype=np.int32)
        self.turns = kernels.Turns(
            rank,
            self.order,
            np.zeros(2 * self.regions, np.uint8),
            np.zeros(2 * self.regions, np.int64),
            np.zeros(1, np.int64),
        )
        self._lay_out(waypoints)
        self.groups = self._groups(waypoints, parts, room)
        self.centroids = np.zeros((room, 3))
        self.centroids[: parts.count] = parts.centroids
        self.links = self._links(parts, room)
        self.graph = self._graph()

    def _lay_out(self, waypoints: WaypointGraph) -> None:
        count = waypoints.num_waypoints
        self._regions = waypoints.layout
        self.layout = layout_of(waypoints, self.seed)
        self.group = np.full(count, -1, np.int32)
        self.queue = np.zeros(count, np.int32)
        if len(self.labels) != count:
            # Waypoints that are gone had no label any more.
            fresh = np.full(max(0, count - len(self.labels)), np.iinfo(self.labels.dtype).max, self.labels.dtype)
            self.labels = np.concatenate([self.labels[:count], fresh])

    def _groups(self, waypoints: WaypointGraph, parts: Abstraction, room: int) -> kernels.Groups:
        none = np.iinfo(self.labels.dtype).max
        size = np.bincount(self.labels[self.labels != none], minlength=room).astype(np.int32)
        # A subregion with a local waypoint was detected in its region's first turn, any other in its second.
        local = self.labels[(waypoints.layout.of[:, 1] < 0) & (self.labels != none)]
        second = np.ones(room, np.int64)
        second[local] = 0
        home = np.zeros(room, np.int32)
        home[: parts.count] = parts.homes
        turn = np.full(room, kernels.NEVER, np.int64)
        turn[: parts.count] = second[: parts.count] * self.regions + self.turns.rank[parts.homes]
        turn[size == 0] = kernels.NEVER
        unused = np.flatnonzero(turn == kernels.NEVER)[::-1]
        free = np.zeros(room, np.int32)
        free[: len(unused)] = unused
        counts = np.array([0, len(unused)], np.int64)
        return kernels.Groups(turn, size, home, np.zeros(room, np.uint8), np.zeros(room, np.int32), free, counts)

    def _links(self, parts: Abstraction, room: int) -> kernels.ConnectionRows:
        """Connections of both directions in rows with spare slots."""
        ends = np.concatenate([parts.pairs, parts.pairs[:, ::-1]]).astype(np.int64)
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        columns = parts.counts, parts.lengths[:, 0], parts.lengths[:, 2], parts.lengths[:, 1] * parts.counts
        return _rows(
            np.bincount(ends[:, 0], minlength=room) + _SPARE,
            ends[order, 0],
            ends[order, 1],
            [np.concatenate([values, values])[order] for values in columns],
        )

    def _graph(self) -> Graph:
        costs = None if self.cost == "centroid" else self._costs()
        return Graph(self.centroids, self.links.offsets, self.links.targets, costs)

    def _costs(self) -> NDArray[np.float32]:
        links = self.links
        if self.cost == "fixed":
            return np.ones(links.targets.size, np.float32)
        if self.cost == "average":
            return np.asarray(links.total / np.maximum(links.count, 1), np.float32)
        return np.asarray(links.shortest if self.cost == "min" else links.longest, np.float32)

    def repair(self, waypoints: WaypointGraph, space: Any, edges: NDArray[np.int32]) -> bool:
        """Bring everything up to date after `edges` changed; False when there is no room left for it."""
        if self._regions is not waypoints.layout:
            self._lay_out(waypoints)
        null = self.labels.dtype.type(np.iinfo(self.labels.dtype).max)
        kernels.find_dirty(space, self.layout, self.turns, self.groups, self.labels, null, edges)
        status = kernels.redo_turns(
            space, self.layout, self.turns, self.groups, self.labels, null, self.group, self.queue
        )
        if status != kernels.DONE:
            return False
        points = waypoints.graph.points
        changing = space, self.layout, self.groups
        moved = False
        while kernels.relink(*changing, self.links, self.labels, null, edges, points, self.centroids) != kernels.DONE:
            self._more_links()
            moved = True
        kernels.finish(self.groups)
        graph = self.graph
        if moved:
            self.graph = self._graph()
        else:
            graph.forget_components()
            if graph.costs is not None:
                graph.costs[:] = self._costs()
                graph.scale = cost_scale(graph.offsets, graph.targets, graph.costs, graph.points)
        return True

    def _more_links(self) -> None:
        """Lay the rows out anew: those without a spare slot become twice as long, others get back what they spare.

        Numbers of subregions are used again, so rows that only ever grew would all become as long as the longest.
        """
        links = self.links
        sizes = np.diff(links.offsets)
        rows = np.repeat(np.arange(len(sizes)), sizes)
        used = np.flatnonzero(links.targets != rows)
        degrees = np.bincount(rows[used], minlength=len(sizes))
        sizes = np.where(degrees == sizes, 2 * degrees, degrees + _SPARE)
        self.links = _rows(sizes, rows[used], links.targets[used], [values[used] for values in links[2:]])

    def abstraction(self) -> Abstraction:
        """The subregions numbered without gaps, as a build would give them up to their order."""
        alive = np.flatnonzero(self.groups.turn != kernels.NEVER)
        none = np.iinfo(self.labels.dtype).max
        number = np.full(none + 1 if self.labels.dtype == np.uint16 else len(self.groups.turn) + 1, -1, np.int64)
        number[alive] = np.arange(len(alive))
        known = self.labels != none
        labels = self.labels.copy()
        labels[known] = number[self.labels[known]]
        links = self.links
        rows = np.repeat(np.arange(len(links.offsets) - 1), np.diff(links.offsets))
        kept = np.flatnonzero(rows < links.targets)
        # A row leads to itself where a slot is spare, so every other slot is a connection.
        pairs = np.column_stack([number[rows[kept]], number[links.targets[kept]]])
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        kept, pairs = kept[order], pairs[order]
        average = links.total[kept] / np.maximum(links.count[kept], 1)
        lengths = np.column_stack([links.shortest[kept], average, links.longest[kept]]).astype(np.float32)
        return Abstraction(
            labels,
            self.groups.home[alive].copy(),
            self.centroids[alive].copy(),
            np.ascontiguousarray(pairs, np.int32),
            lengths,
            links.count[kept].copy(),
        )


def _rows(
    sizes: NDArray[np.int64], sources: NDArray[np.int64], targets: NDArray[Any], columns: list[NDArray[Any]]
) -> kernels.ConnectionRows:
    """Connections, ordered by their source, in rows of these sizes; what is left of a row is spare."""
    offsets = offsets_of(sizes)
    laid = np.empty(int(offsets[-1]), np.int32)
    spare_targets(offsets, laid)
    degrees = np.bincount(sources, minlength=len(sizes))
    slots = np.arange(len(sources)) + np.repeat(offsets[:-1] - offsets_of(degrees)[:-1], degrees)
    laid[slots] = targets
    filled = []
    for values, dtype in zip(columns, (np.int64, np.float64, np.float64, np.float64), strict=True):
        column = np.zeros(laid.size, dtype)
        column[slots] = values
        filled.append(column)
    return kernels.ConnectionRows(offsets, laid, *filled)
