"""A certified lower bound on the cost of the cheapest route.

Every route crosses edges. Cut the edges into intervals: from an interval to another one on the same triangle no route
is shorter than the distance between the two, so the cheapest way from interval to interval is a lower bound. Intervals
that no route as cheap as a known one can pass are dropped, the rest are halved, and the bound rises.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.graph import search_kernels as graph_kernels
from wayfold.graph import searcher
from wayfold.graph.searcher import Workspaces
from wayfold.terrain import _bound_kernels
from wayfold.terrain.ground import Array, Ground, Ints, query_space

_FIRST = 200_000  # steps between intervals in the first round
_MOST = 6_000_000  # and in the last
_GAP = 0.01  # relative distance from the known cost at which the bound is good enough
_ROUNDS = 40
_SHARE = 0.4  # intervals that lose at least this share of what the worst one loses are halved


def lower_bound(ground: Ground, weights: Array, ends: Array, places: Ints, known: float) -> float:
    """A cost that no route between the ends undercuts.

    Parameters
    ----------
    ground, weights
        The terrain.
    ends, places : start and goal, and their triangles
    known : float
        Cost of some route.
    """
    straight = float(weights.min() * np.hypot(*(ends[1] - ends[0])))
    if not np.isfinite(known) or known <= 0:
        return straight
    mesh = ground.mesh
    count = len(weights)
    pieces = int(np.clip(np.sqrt(_FIRST / (9 * count)), 1, 16))
    edges = np.repeat(np.arange(len(ground.edge_ends)), pieces)
    low = np.tile(np.arange(pieces) / pieces, len(ground.edge_ends))
    high = np.tile(np.arange(1, pieces + 1) / pieces, len(ground.edge_ends))
    best = straight
    for _ in range(_ROUNDS):
        bound, alive = _round(ground, weights, ends, places, known, edges, low, high)
        best = max(best, min(bound, known))
        if best >= (1 - _GAP) * known:
            break
        if not alive.any():  # no route as cheap as the known one crosses an edge
            inner = weights[places[0]] * np.hypot(*(ends[1] - ends[0])) if places[0] == places[1] else known
            best = max(best, min(float(inner), known))
            break
        edges, low, high = edges[alive], low[alive], high[alive]
        per_edge = np.bincount(edges, minlength=len(ground.edge_ends))
        on_triangle = per_edge[ground.edge_of].reshape(-1, 3).sum(axis=1)
        if 2 * float((on_triangle.astype(float) ** 2).sum()) > _MOST:
            break
        # The longest intervals lose the most: only those are halved.
        ends_of = mesh.vertices[ground.edge_ends[edges]]
        loss = (high - low) * np.hypot(*(ends_of[:, 1] - ends_of[:, 0]).T)
        parts = np.where(loss >= _SHARE * loss.max(), 2, 1)
        number = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
        width = np.repeat((high - low) / parts, parts)
        edges, low = np.repeat(edges, parts), np.repeat(low, parts) + number * width
        high = np.where(number + 1 == np.repeat(parts, parts), np.repeat(high, parts), low + width)
    return min(best, known)


def _round(
    ground: Ground,
    weights: Array,
    ends: Array,
    places: Ints,
    known: float,
    edges: NDArray[np.int64],
    low: Array,
    high: Array,
) -> tuple[float, NDArray[np.bool_]]:
    """The bound with these intervals, and which of them a route as cheap as the known one may pass."""
    mesh = ground.mesh
    count = len(edges)
    a, b = mesh.vertices[ground.edge_ends[edges, 0]], mesh.vertices[ground.edge_ends[edges, 1]]
    begin = np.where((low == 0)[:, None], a, a + low[:, None] * (b - a))
    end = np.where((high == 1)[:, None], b, a + high[:, None] * (b - a))
    spans = np.ascontiguousarray(np.column_stack([begin, end]))
    edge_first = np.searchsorted(edges, np.arange(len(ground.edge_ends) + 1)).astype(np.int64)
    # Vertices in which parts of the map touch: a route may pass from one to the other there.
    pinches = ground.pinches(np.ones(len(weights)))
    number = np.full(len(mesh.vertices), -1, np.int32)
    number[pinches] = np.arange(len(pinches))
    touching = np.where(np.column_stack([low == 0, high == 1]), number[ground.edge_ends[edges]], -1).astype(np.int32)
    interval, end_at = np.nonzero(touching >= 0)
    meetings = np.column_stack([touching[interval, end_at], interval]).astype(np.int32)
    meetings = np.ascontiguousarray(meetings[np.argsort(meetings[:, 0], kind="stable")])
    nodes = 2 * count + len(pinches)
    offsets = np.zeros(nodes + 1, np.int64)
    targets, costs = np.empty(0, np.int32), np.empty(0, np.float32)
    for _ in range(2):  # sizes first
        _bound_kernels.fill_gaps(
            ground.edge_of, ground.edge_halves, edge_first, edges, spans, weights, touching, meetings, offsets, targets,
            costs,
        )  # fmt: skip
        if not targets.size:
            targets, costs = np.empty(int(offsets[-1]), np.int32), np.empty(int(offsets[-1]), np.float32)
    workspaces = Workspaces(nodes + 2)
    doubled = np.concatenate([begin, begin, mesh.vertices[pinches]])
    reached = []
    for which in range(2):
        arcs, arc_costs = np.empty(count, np.int32), np.empty(count)
        used = _bound_kernels.end_gaps(
            ground.edge_of, edge_first, spans, weights, ends[which, 0], ends[which, 1], places[which], arcs, arc_costs
        )
        arcs, arc_costs = arcs[:used], arc_costs[:used]
        space = query_space(offsets, targets, costs, doubled, arcs, arc_costs, np.full(nodes, np.inf), ends)
        state, *_ = searcher.run(workspaces, partial(_search_within, space, nodes, known))
        settled = (state.stamp[: 2 * count] > state.clock[0]) & (state.place[: 2 * count] < 0)
        cost = np.where(settled, state.cost[: 2 * count], np.inf)
        # The least cost at which a route may be anywhere on the interval, before or after running along the edge.
        reached.append((cost[count:], arcs, arc_costs))
        workspaces.give(state)
    (from_start, _, _), (from_goal, arcs, arc_costs) = reached
    bound = float((from_start[arcs] + arc_costs).min()) if len(arcs) else np.inf
    if places[0] == places[1]:
        bound = min(bound, float(weights[places[0]] * np.hypot(*(ends[1] - ends[0]))))
    # Rounding may have made the known route itself look too dear: then nothing better exists.
    return min(bound, known), from_start + from_goal <= known * (1 + 1e-9)


def _search_within(space: Any, start: int, limit: float, state: graph_kernels.SearchState) -> Any:
    """Search everything that costs at most `limit`."""
    return graph_kernels.search(space, state, start, -1, 0.0, limit, searcher.NO_NODES, searcher.NO_BUDGET, False)
