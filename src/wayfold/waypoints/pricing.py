"""Edges of a waypoint graph near shapes, and their costs in zones, kept up to date while graph and zones change."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import ALL_MOTIONS
from wayfold.geometry.shapes import Shape
from wayfold.graph import Graph
from wayfold.graph.graph import edge_costs
from wayfold.waypoints.edit_kernels import copy_rows, spare_targets
from wayfold.waypoints.surroundings import Body
from wayfold.waypoints.waypoints import Price, WaypointGraph

Points = NDArray[np.float64]
Pairs = NDArray[np.int32]
Slots = NDArray[np.int64]
Costs = tuple[tuple[Shape, float], ...]
"""Zones and what a metre costs in them; where they overlap the later one counts."""


def body_extent(body: Body) -> Points:
    """(3,) how far from its position a body touches something along the axes, metres."""
    # Slices of an upright body are covered by balls that are a little wider than it.
    side = float(np.hypot(body.radius, 0.5 * max(1.5 * body.radius, 0.1 * body.top))) if body.top > 0 else body.radius
    return np.array([side, side, max(body.top + body.radius, body.lift)])


def edges_near(waypoints: WaypointGraph, shape: Shape, body: Body) -> tuple[Pairs, NDArray[np.uint8]]:
    """The edges of the regions that a shape, grown by the body, comes into; with their motions.

    No edge leaves its region, so these are all that it can touch.
    """
    graph, boxes = waypoints.graph, waypoints.boxes
    low, high = shape.bounds
    grown = body_extent(body)
    inside = ((boxes[:, :3] <= high + grown) & (boxes[:, 3:] >= low - grown)).all(axis=1)
    nodes = np.unique(waypoints.layout.waypoints_in(np.flatnonzero(inside)))
    slots = _slots_of(graph, nodes)
    sources = np.repeat(nodes, np.diff(graph.offsets)[nodes])
    targets = graph.targets[slots]
    motions = np.full(len(slots), int(ALL_MOTIONS), np.uint8) if graph.motions is None else graph.motions[slots]
    used = (sources < targets) & (motions > 0)
    return np.column_stack([sources[used], targets[used]]).astype(np.int32), motions[used]


def rates(costs: Costs, a: Points, b: Points) -> NDArray[np.float64]:
    """(q,) mean cost of a metre along straight moves; where zones overlap the later one counts."""
    total = np.ones(len(a))
    least, most = np.minimum(a, b), np.maximum(a, b)
    near = [((least <= shape.bounds[1]) & (most >= shape.bounds[0])).all(axis=1) for shape, _ in costs]
    moves = np.flatnonzero(np.logical_or.reduce(near)) if near else np.empty(0, np.int64)
    if not moves.size:
        return total
    start, way = a[moves], (b - a)[moves]
    # The cost changes only where a move crosses the side of a zone.
    cuts = [np.zeros((len(moves), 1)), np.ones((len(moves), 1))]
    for (shape, _), touched in zip(costs, near, strict=True):
        outline = shape.outline
        side = np.roll(outline, -1, axis=0) - outline
        with np.errstate(divide="ignore", invalid="ignore"):
            across = way[:, None, 0] * side[None, :, 1] - way[:, None, 1] * side[None, :, 0]
            away = outline[None] - start[:, None, :2]
            sides = (away[..., 0] * side[None, :, 1] - away[..., 1] * side[None, :, 0]) / across
            ends = (np.array([shape.low, shape.high]) - start[:, 2:]) / way[:, 2:]
        # A zone that a move is not near to changes nothing, not even the last digit.
        cuts += [np.where(touched[moves, None], sides, 0.0), np.where(touched[moves, None], ends, 0.0)]
    share = np.sort(np.clip(np.nan_to_num(np.concatenate(cuts, axis=1), posinf=1.0, neginf=0.0), 0.0, 1.0), axis=1)
    middle = 0.5 * (share[:, 1:] + share[:, :-1])
    places = start[:, None] + middle[..., None] * way[:, None]
    rate = np.ones(places.shape[:2])
    for shape, cost in costs:
        rate[shape.contains(places.reshape(-1, 3)).reshape(rate.shape)] = cost
    total[moves] = np.cumsum(rate * np.diff(share, axis=1), axis=1)[:, -1]
    return total


def price_in(costs: Costs) -> Price | None:
    """What straight moves cost where zones have costs; None where a metre costs as much everywhere."""
    if not costs:
        return None

    def price(a: Points, b: Points) -> Points:
        return np.asarray(np.linalg.norm(b - a, axis=1) * rates(costs, a, b))

    return price


def prices_of(graph: Graph, costs: Costs) -> NDArray[np.float32]:
    """(m,) what every edge of a graph costs in zones."""
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    # From the lower node to the higher, so that both directions cost the same to the last digit.
    a = graph.points[np.minimum(sources, graph.targets)]
    b = graph.points[np.maximum(sources, graph.targets)]
    lengths = np.linalg.norm(b - a, axis=1) if graph.costs is None else edge_costs(graph).astype(np.float64)
    lengths *= rates(costs, a, b)
    return lengths.astype(np.float32)


class EdgePrices:
    """A waypoint graph with the costs of its edges in zones; it shares all arrays but the costs.

    Making it prices every edge. Afterwards an edit prices only what it touches: `changes` (beside running queries)
    where zones change, `follow` where edges were added or removed.

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
        self._take(waypoints.graph, prices_of(waypoints.graph, costs))

    def _take(self, base: Graph, costs: NDArray[np.float32]) -> None:
        self.graph = base.with_costs(costs)  # a zone joins and parts nothing
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
        slots = _slots_of(graph, np.unique(layout.waypoints_in(np.flatnonzero(inside))))
        return slots, self._prices(slots, costs)

    def set_zones(self, costs: Costs, slots: Slots, prices: NDArray[np.float32]) -> None:
        """Take over what `changes` found for these zones."""
        self.costs = costs
        self._set(slots, prices)

    def follow(self, waypoints: WaypointGraph) -> None:
        """Price the edges that have changed, wherever their rows lie now."""
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
            slots = _slots_of(base, moved)
            fresh = np.unique(np.concatenate([fresh, slots, np.flatnonzero(np.isin(base.targets, moved))]))
        self._targets[fresh] = base.targets[fresh]
        self._set(fresh, self._prices(fresh, self.costs))

    def _prices(self, slots: Slots, costs: Costs) -> NDArray[np.float32]:
        graph = self.graph
        sources = np.searchsorted(graph.offsets, slots, side="right") - 1
        targets = graph.targets[slots]
        # From the lower node to the higher, so that both directions cost the same to the last digit.
        a, b = graph.points[np.minimum(sources, targets)], graph.points[np.maximum(sources, targets)]
        return np.asarray(np.linalg.norm(b - a, axis=1) * rates(costs, a, b), np.float32)

    def _set(self, slots: Slots, prices: NDArray[np.float32]) -> None:
        graph = self.graph
        assert graph.costs is not None
        graph.costs[slots] = prices
        sources = np.searchsorted(graph.offsets, slots, side="right") - 1
        lengths = np.linalg.norm(graph.points[graph.targets[slots]] - graph.points[sources], axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            # What costs a metre less than anything did keeps the straight distance a lower bound.
            graph.scale = float(np.fmin.reduce(prices / lengths, initial=graph.scale))


def _slots_of(graph: Graph, nodes: NDArray[np.int32]) -> Slots:
    """The slots of some rows."""
    sizes = np.diff(graph.offsets)[nodes]
    return np.asarray(np.repeat(graph.offsets[nodes] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum()))
