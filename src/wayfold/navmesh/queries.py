"""Paths on a mesh: corridors with a funnel, and exact shortest paths. Free functions over one `State`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayfold.geometry._funnel_kernels import pull_string
from wayfold.graph import _kernels as graph_kernels
from wayfold.graph import searcher
from wayfold.navmesh import _corridor_kernels, _ground_kernels, _interval_kernels
from wayfold.navmesh._corridor_kernels import PortalSpace
from wayfold.navmesh.state import Rates, State
from wayfold.path import Path, Status

_STATUS = (Status.FOUND, Status.UNREACHABLE, Status.PARTIAL, Status.BUDGET_EXHAUSTED)
Point = NDArray[np.float64]


def link_scale(state: State, rate: float) -> float:
    """What a metre of straight distance costs at least, where links may be shorter than the way."""
    links = state.links
    if not len(links.costs):
        return rate
    spans = np.sqrt(((links.ends - links.starts) ** 2).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(spans > 0, links.costs / spans, np.inf)
    return float(min(rate, ratio.min()))


def same_polygon(polygon: int, start: Point, goal: Point, rate: float) -> Path:
    """Within one convex polygon the straight line is the shortest path."""
    cost = rate * float(np.hypot(*(goal[:2] - start[:2])))
    return Path(Status.FOUND, np.array([start, goal]), nodes=np.array([polygon], np.int32), cost=cost)


def corridor(state: State, first: int, last: int, start: Point, goal: Point, rates: Rates, budget: int) -> Path:
    """A* from portal middle to portal middle, then the funnel."""
    ground, layout = state.ground, state.layout
    portals = layout.portals
    space = PortalSpace(
        portals,
        state.kinds,
        rates.rates,
        rates.uniform,
        state.links,
        first,
        last,
        *start.tolist(),
        *goal.tolist(),
    )
    size = len(portals.edges)
    scale = link_scale(state, rates.lowest)
    workspaces = state.scratch.workspaces
    borrowed, status, end, settled = searcher.run(
        workspaces,
        lambda borrowed: graph_kernels.search(
            space, borrowed, size, size + 1, scale, graph_kernels.UNLIMITED, searcher.NO_NODES, budget, False
        ),
    )
    trail = searcher.trail(borrowed, end) if end >= 0 else searcher.NO_NODES
    workspaces.give(borrowed)
    if end < 0:
        return Path(_STATUS[status], expanded=settled)
    crossed, ends, polygons = np.empty(len(trail), np.int32), np.empty((len(trail), 6)), np.empty(len(trail), np.int32)
    count = _corridor_kernels.crossings(
        space, trail, ground.vertices, ground.corners, layout.twins, crossed, ends, polygons
    )
    crossed, polygons = crossed[:count], polygons[: count + 1]
    points = [start]
    cost = 0.0
    begin = 0
    for at in [*np.flatnonzero(crossed >= size + 2).tolist(), count]:
        link = None if at == count else crossed[at] - size - 2
        leg_end = goal if link is None else state.links.starts[link]
        corners, price = _pull(state, ends[begin:at], points[-1], leg_end, polygons[begin : at + 1], rates)
        points += [*corners, leg_end]
        cost += price
        if link is not None:
            points.append(state.links.ends[link])
            cost += float(state.links.costs[link])
        begin = at + 1
    return Path(Status.FOUND, distinct(points), nodes=polygons, cost=cost, expanded=settled)


def _pull(
    state: State, ends: NDArray[np.float64], start: Point, goal: Point, polygons: NDArray[np.int32], rates: Rates
) -> tuple[list[Point], float]:
    """The corners of the shortest way through portals, given by their left and right ends, and what it costs."""
    count = len(ends)
    points, portal_of = np.empty((count + 2, 2)), np.empty(count + 2, np.int64)
    flat = np.ascontiguousarray(ends[:, [0, 1, 3, 4]])
    used = pull_string(flat, start[:2].copy(), goal[:2].copy(), points, portal_of)
    cost = _corridor_kernels.weigh(flat, points[:used], portal_of[:used], polygons, state.kinds, rates.rates)
    last = used - 1 if portal_of[used - 1] == count else used
    lifted = np.empty((max(0, last - 1), 3))
    _corridor_kernels.lift(ends, points[1:last], portal_of[1:last], lifted)
    return list(lifted), float(cost)


def distinct(points: list[Point]) -> NDArray[np.float64]:
    """Points without immediate repetitions, start and goal always kept."""
    kept = [points[0]]
    last = points[-1]
    for at in range(1, len(points) - 1):
        point, before = points[at], kept[-1]
        if point[0] == before[0] and point[1] == before[1] and point[2] == before[2]:
            continue
        if at == len(points) - 2 and point[0] == last[0] and point[1] == last[1]:
            continue
        kept.append(point)
    kept.append(last)
    return np.array(kept)


def shortest(state: State, first: int, last: int, start: Point, goal: Point, rates: Rates, budget: int) -> Path:
    """The shortest path over the polygons, exactly."""
    plane, links = state.plane(rates.closed), state.links
    if rates.closed.any() and len(links.costs):
        shut = rates.closed[state.kinds[links.targets]] != 0
        links = links._replace(costs=np.where(shut, np.inf, links.costs))
    if rates.lowest != 1.0:
        links = links._replace(costs=links.costs / rates.lowest)
    scale = min(1.0, link_scale(state, rates.lowest) / rates.lowest)
    borrowed = state.scratch.take()
    while True:
        pool, heap, roots = borrowed
        status, end, cost, expanded = _interval_kernels.search_intervals(
            plane, links, pool, heap, roots, first, start[0], start[1], last, goal[0], goal[1], scale, budget
        )
        if status != _interval_kernels.POOL_FULL:
            break
        borrowed = state.scratch.larger(borrowed)
    if end < 0:
        state.scratch.give(borrowed)
        return Path(_STATUS[status], expanded=expanded)
    corners, polygons = np.empty(256, np.int32), np.empty(1024, np.int32)
    while True:
        count, passed = _interval_kernels.unwind(plane, links, pool, end, first, goal[0], goal[1], corners, polygons)
        if count <= corners.size and passed <= polygons.size:
            break
        corners, polygons = np.empty(count, np.int32), np.empty(passed, np.int32)
    points = [start]
    vertices = len(plane.vertices)
    for code in corners[:count][::-1].tolist():
        if code >= vertices:
            points.extend((links.starts[code - vertices], links.ends[code - vertices]))
        elif code >= 0:
            points.append(plane.vertices[code])
        else:
            node, which = divmod(-1 - code, 2)
            bend = np.array([*pool.where[node, 2 * which : 2 * which + 2], 0.0])
            _ground_kernels.heights(state.ground, pool.polygon[node : node + 1], bend[None])
            points.append(bend)
    points.append(goal)
    state.scratch.give(borrowed)
    nodes = polygons[:passed][::-1].copy()
    return Path(Status.FOUND, distinct(points), nodes=nodes, cost=rates.lowest * float(cost), expanded=expanded)
