"""Which edges of a waypoint graph a shape touches, and what they cost where zones have costs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import Motion
from wayfold.graph import Graph
from wayfold.graph.convert import edge_costs
from wayfold.waypoints import WaypointGraph
from wayfold.world.shapes import Shape

Points = NDArray[np.float64]
Pairs = NDArray[np.int32]
_SAMPLES = 32  # places along an edge at which the cost of its zones is looked up


class Reach(NamedTuple):
    """How far the body of an agent reaches from its position, metres."""

    radius: float
    walking: float
    """Below the position of a walker: to the ground."""
    upright: float
    """Above the position of a walker or flyer: to the top of its head."""

    @property
    def farthest(self) -> float:
        """As far as any part of the body."""
        return max(self)

    @classmethod
    def of(cls, body: Any) -> Reach:
        """That of a body as the waypoint graph has it; None is a point."""
        return cls(0.0, 0.0, 0.0) if body is None else cls(body.radius, body.lift, body.top + body.radius)

    def around(self, motion: Motion) -> tuple[float, float]:
        """How far a body reaches below and above its position when it moves so."""
        below = self.walking if motion == Motion.SURFACE else self.radius
        return below, self.radius if motion == Motion.ADHESIVE else self.upright


def near(waypoints: WaypointGraph, shape: Shape, reach: Reach) -> tuple[Pairs, NDArray[np.uint8]]:
    """The edges of the regions that a shape, grown by the body, comes into; with their motions.

    No edge leaves its region, so these are all that it can touch.
    """
    graph, layout = waypoints.graph, waypoints.layout
    low, high = shape.bounds
    grown = np.array([reach.radius, reach.radius, max(reach.upright, reach.walking)])
    boxes = layout.boxes
    inside = ((boxes[:, :3] <= high + grown) & (boxes[:, 3:] >= low - grown)).all(axis=1)
    members = [layout.members[layout.offsets[r] : layout.offsets[r + 1]] for r in np.flatnonzero(inside)]
    nodes = np.unique(np.concatenate([np.empty(0, np.int32), *members]))
    sizes = np.diff(graph.offsets)[nodes]
    slots = np.repeat(graph.offsets[nodes] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    sources = np.repeat(nodes, sizes)
    targets = graph.targets[slots]
    kinds = np.full(len(slots), 7, np.uint8) if graph.motions is None else graph.motions[slots]
    used = (sources < targets) & (kinds > 0)
    return np.column_stack([sources[used], targets[used]]).astype(np.int32), kinds[used]


def hits(
    shapes: tuple[Shape, ...], points: NDArray[Any], pairs: Pairs, motions: NDArray[np.uint8], reach: Reach
) -> NDArray[np.bool_]:
    """Which edges an agent cannot take because it would touch one of the shapes."""
    result = np.zeros(len(pairs), np.bool_)
    a, b = points[pairs[:, 0]].astype(np.float64), points[pairs[:, 1]].astype(np.float64)
    for motion in Motion:
        chosen = np.flatnonzero(motions & int(motion))
        if not chosen.size:
            continue
        below, above = reach.around(motion)
        for shape in shapes:
            result[chosen] |= shape.hit_by(a[chosen], b[chosen], radius=reach.radius, below=below, above=above)
    return result


def rates(costs: tuple[tuple[Shape, float], ...], a: Points, b: Points) -> NDArray[np.float64]:
    """(q,) mean cost of a metre along straight moves, of which 32 places are looked at; the later zone counts."""
    total = np.ones(len(a))
    near_one = np.zeros(len(a), np.bool_)
    for shape, _ in costs:
        low, high = shape.bounds
        near_one |= ((np.minimum(a, b) <= high) & (np.maximum(a, b) >= low)).all(axis=1)
    at = np.flatnonzero(near_one)
    if at.size:
        steps = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
        places = a[at, None] + steps[None, :, None] * (b[at] - a[at])[:, None]
        rate = np.ones(places.shape[:2])
        for shape, cost in costs:
            rate[shape.contains(places.reshape(-1, 3)).reshape(rate.shape)] = cost
        total[at] = rate.mean(axis=1)
    return total


def priced(graph: Graph, costs: tuple[tuple[Shape, float], ...]) -> Graph:
    """The same graph with what its edges cost in zones; the arrays are shared but for the costs."""
    lengths = edge_costs(graph).astype(np.float64)
    points = graph.points.astype(np.float64)
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    # From the lower node to the higher, so that both directions cost the same to the last digit.
    lengths *= rates(costs, points[np.minimum(sources, graph.targets)], points[np.maximum(sources, graph.targets)])
    return Graph(graph.points, graph.offsets, graph.targets, lengths.astype(np.float32), graph.motions)
