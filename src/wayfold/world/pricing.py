"""What the edges of a waypoint graph cost where zones have costs, kept up to date while graph and zones change."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayfold.graph import Graph
from wayfold.waypoints import WaypointGraph
from wayfold.waypoints.edit_kernels import copy_rows, spare_targets
from wayfold.world import edges
from wayfold.world.shapes import Shape

Costs = tuple[tuple[Shape, float], ...]
Slots = NDArray[np.int64]


class EdgePrices:
    """A waypoint graph with what its edges cost in zones; the arrays are shared but for the costs.

    Making it prices every edge. Afterwards an edit prices what it touches: `changes` beside running queries where zones
    change, `follow` for edges that came and went.

    Parameters
    ----------
    waypoints : WaypointGraph
    costs : tuple of (Shape, float)
        Zones and what a metre costs in them; where they overlap the later one counts.

    Attributes
    ----------
    graph : Graph
    """

    def __init__(self, waypoints: WaypointGraph, costs: Costs) -> None:
        self.costs = costs
        self._take(waypoints.graph, edges.priced(waypoints.graph, costs).costs)

    def _take(self, base: Graph, costs: NDArray[np.float32] | None) -> None:
        self.graph = Graph(base.points, base.offsets, base.targets, costs, base.motions)
        self.graph._components = base._components  # a zone joins and parts nothing
        self._targets = base.targets.copy()  # as priced: edits change those of the graph in place

    def changes(self, waypoints: WaypointGraph, costs: Costs) -> tuple[Slots, NDArray[np.float32]]:
        """The edges (as slots of their rows) that other zones give other costs, and these; nothing is changed yet."""
        kept = [zone for zone in self.costs if zone in costs]
        same_order = kept == [zone for zone in costs if zone in self.costs]
        shapes = [shape for shape, _ in (set(self.costs) ^ set(costs) if same_order else {*self.costs, *costs})]
        graph, layout = self.graph, waypoints.layout
        if waypoints.surroundings is None:  # edges of any graph may lead from region to region
            slots = np.arange(graph.targets.size)
            return slots, self._prices(slots, costs)
        inside = np.zeros(len(layout.boxes), np.bool_)
        for shape in shapes:
            low, high = shape.bounds
            inside |= ((layout.boxes[:, :3] <= high) & (layout.boxes[:, 3:] >= low)).all(axis=1)
        members = [layout.members[layout.offsets[r] : layout.offsets[r + 1]] for r in np.flatnonzero(inside)]
        nodes = np.unique(np.concatenate([np.empty(0, np.int32), *members]))
        slots = _slots_of(graph, nodes)
        return slots, self._prices(slots, costs)

    def set_zones(self, costs: Costs, slots: Slots, prices: NDArray[np.float32]) -> None:
        """Make it so: what `changes` found for these zones."""
        self.costs = costs
        self._set(slots, prices)

    def follow(self, waypoints: WaypointGraph) -> None:
        """Price the edges that are others than before, wherever their rows lie now."""
        base, old = waypoints.graph, self.graph
        moved = np.empty(0, np.int32)
        if base.offsets is not old.offsets or base.targets is not old.targets or base.points is not old.points:
            known = old.num_nodes
            moved = np.flatnonzero((base.points[:known] != old.points).any(axis=1)).astype(np.int32)
            offsets = np.concatenate([old.offsets, np.full(base.num_nodes - known, old.offsets[-1])])
            targets, costs = np.empty(base.targets.size, np.int32), np.zeros(base.targets.size, np.float32)
            spare_targets(base.offsets, targets)
            copy_rows(offsets, self._targets, base.offsets, targets)
            assert old.costs is not None
            copy_rows(offsets, old.costs, base.offsets, costs)
            self._take(base, costs)
            self._targets = targets
        fresh = np.flatnonzero(base.targets != self._targets)
        if moved.size:
            at = _slots_of(base, moved)
            fresh = np.unique(np.concatenate([fresh, at, np.flatnonzero(np.isin(base.targets, moved))]))
        self._targets[fresh] = base.targets[fresh]
        self._set(fresh, self._prices(fresh, self.costs))

    def _prices(self, slots: Slots, costs: Costs) -> NDArray[np.float32]:
        graph = self.graph
        sources = np.searchsorted(graph.offsets, slots, side="right") - 1
        targets = graph.targets[slots]
        # From the lower node to the higher, so that both directions cost the same to the last digit.
        a, b = graph.points[np.minimum(sources, targets)], graph.points[np.maximum(sources, targets)]
        return np.asarray(np.linalg.norm(b - a, axis=1) * edges.rates(costs, a, b), np.float32)

    def _set(self, slots: Slots, prices: NDArray[np.float32]) -> None:
        graph = self.graph
        assert graph.costs is not None
        graph.costs[slots] = prices
        sources = np.searchsorted(graph.offsets, slots, side="right") - 1
        lengths = np.linalg.norm(graph.points[graph.targets[slots]] - graph.points[sources], axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            # What costs a metre less than anything did keeps the straight distance a lower bound.
            graph._scale = float(np.fmin.reduce(prices / lengths, initial=graph._scale))


def _slots_of(graph: Graph, nodes: NDArray[np.int32]) -> Slots:
    """The slots of some rows."""
    sizes = np.diff(graph.offsets)[nodes]
    return np.asarray(np.repeat(graph.offsets[nodes] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum()))
