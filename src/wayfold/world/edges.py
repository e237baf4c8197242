"""Which edges of a waypoint graph a shape touches, and what they cost where zones have costs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayfold.graph import Graph
from wayfold.graph.graph import edge_costs
from wayfold.waypoints import WaypointGraph
from wayfold.waypoints.surroundings import Body
from wayfold.world.shapes import Shape

Points = NDArray[np.float64]
Pairs = NDArray[np.int32]


def reach_of(body: Body) -> Points:
    """(3,) how far from its position a body touches something along the axes, metres."""
    # Slices of an upright body are covered by balls that are a little wider than it.
    side = float(np.hypot(body.radius, 0.5 * max(1.5 * body.radius, 0.1 * body.top))) if body.top > 0 else body.radius
    return np.array([side, side, max(body.top + body.radius, body.lift)])


def near(waypoints: WaypointGraph, shape: Shape, body: Body) -> tuple[Pairs, NDArray[np.uint8]]:
    """The edges of the regions that a shape, grown by the body, comes into; with their motions.

    No edge leaves its region, so these are all that it can touch.
    """
    graph, layout = waypoints.graph, waypoints.layout
    low, high = shape.bounds
    grown = reach_of(body)
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


def rates(costs: tuple[tuple[Shape, float], ...], a: Points, b: Points) -> NDArray[np.float64]:
    """(q,) mean cost of a metre along straight moves; where zones overlap the later one counts."""
    total = np.ones(len(a))
    least, most = np.minimum(a, b), np.maximum(a, b)
    near = [((least <= shape.bounds[1]) & (most >= shape.bounds[0])).all(axis=1) for shape, _ in costs]
    at = np.flatnonzero(np.logical_or.reduce(near)) if near else np.empty(0, np.int64)
    if not at.size:
        return total
    start, way = a[at], (b - a)[at]
    # The cost changes only where a move crosses the side of a zone.
    cuts = [np.zeros((len(at), 1)), np.ones((len(at), 1))]
    for (shape, _), touched in zip(costs, near, strict=True):
        outline = shape.outline
        side = np.roll(outline, -1, axis=0) - outline
        with np.errstate(divide="ignore", invalid="ignore"):
            across = way[:, None, 0] * side[None, :, 1] - way[:, None, 1] * side[None, :, 0]
            away = outline[None] - start[:, None, :2]
            sides = (away[..., 0] * side[None, :, 1] - away[..., 1] * side[None, :, 0]) / across
            ends = (np.array([shape.low, shape.high]) - start[:, 2:]) / way[:, 2:]
        # A zone that a move is not near to changes nothing, not even the last digit.
        cuts += [np.where(touched[at, None], sides, 0.0), np.where(touched[at, None], ends, 0.0)]
    share = np.sort(np.clip(np.nan_to_num(np.concatenate(cuts, axis=1), posinf=1.0, neginf=0.0), 0.0, 1.0), axis=1)
    middle = 0.5 * (share[:, 1:] + share[:, :-1])
    places = start[:, None] + middle[..., None] * way[:, None]
    rate = np.ones(places.shape[:2])
    for shape, cost in costs:
        rate[shape.contains(places.reshape(-1, 3)).reshape(rate.shape)] = cost
    total[at] = np.cumsum(rate * np.diff(share, axis=1), axis=1)[:, -1]
    return total


def priced(graph: Graph, costs: tuple[tuple[Shape, float], ...]) -> Graph:
    """The same graph with what its edges cost in zones; the arrays are shared but for the costs."""
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    # From the lower node to the higher, so that both directions cost the same to the last digit.
    a = graph.points[np.minimum(sources, graph.targets)]
    b = graph.points[np.maximum(sources, graph.targets)]
    lengths = np.linalg.norm(b - a, axis=1) if graph.costs is None else edge_costs(graph).astype(np.float64)
    lengths *= rates(costs, a, b)
    return Graph(graph.points, graph.offsets, graph.targets, lengths.astype(np.float32), graph.motions)
