"""Paths on a mesh: corridors with a funnel, and exact shortest paths. Free functions over one `State`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

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
    ground = state.ground
    space = PortalSpace(
        ground.offsets,
        ground.neighbours,
        state.owners,
        state.middles,
        state.kinds,
        rates.rates,
        state.links,
        first,
        last,
        *start.tolist(),
        *goal.tolist(),
    )
    size = len(ground.corners)
    scale = link_scale(state, rates.lowest)
    workspaces = state.workspaces
    borrowed, status, end, settled = searcher.run(
        workspaces,
        lambda borrowed: graph_kernels.search(
            space, borrowed, size, size + 1, scale, graph_kernels.UNLIMITED, searcher.NO_NODES, budget, False
        ),
    )
    nodes = searcher.trail(borrowed, end) if end >= 0 else searcher.NO_NODES
    workspaces.give(borrowed)
    if end < 0:
        return Path(_STATUS[status], expanded=settled)
    crossed = nodes[1:-1]
    polygons = np.empty(len(crossed) + 1, np.int32)
    polygons[0] = first
    over = crossed >= size + 2
    polygons[1:][over] = state.links.targets[crossed[over] - size - 2]
    polygons[1:][~over] = ground.neighbours[crossed[~over]]
    points = [start]
    cost = 0.0
    begin = 0
    for at in [*np.flatnonzero(over).tolist(), len(crossed)]:
        leg_end = goal if at == len(crossed) else state.links.starts[crossed[at] - size - 2]
        points.extend(_pull(state, crossed[begin:at], points[-1], leg_end))
        points.append(leg_end)
        if at < len(crossed):
            link = crossed[at] - size - 2
            points.append(state.links.ends[link])
            cost += float(state.links.costs[link])
        begin = at + 1
    if rates.even:
        cost += rates.lowest * _walked(points, state, crossed[over] - size - 2)
    else:
        cost += _weighted(state, np.array(points), polygons, rates)
    return Path(Status.FOUND, distinct(points), nodes=polygons, cost=cost, expanded=settled)


def _pull(state: State, portals: NDArray[np.int32], start: Point, goal: Point) -> list[Point]:
    """The corners of the shortest way through portals."""
    ground = state.ground
    corners = np.empty(len(portals) + 1, np.int32)
    count = _corridor_kernels.funnel(
        ground.vertices, ground.corners, state.nexts, portals, start[0], start[1], goal[0], goal[1], corners
    )
    return list(ground.vertices[corners[:count]])


def _walked(points: list[Point], state: State, links: NDArray[np.int32]) -> float:
    """Length of a path seen from above, without its links."""
    array = np.array(points)[:, :2]
    total = float(np.hypot(*np.diff(array, axis=0).T).sum()) if len(array) > 1 else 0.0
    if len(links):
        gaps = state.links.ends[links, :2] - state.links.starts[links, :2]
        total -= float(np.hypot(*gaps.T).sum())
    return total


def _weighted(state: State, points: NDArray[np.float64], polygons: NDArray[np.int32], rates: Rates) -> float:
    """Cost of walking along points through kinds of area that cost differently."""
    total = 0.0
    at = int(polygons[0])
    for a, b in pairwise(points):
        here = a
        for _ in range(len(polygons) + 1):
            total_step = np.hypot(*(b[:2] - here[:2]))
            leave, beyond = _leave(state, at, here, b)
            total += float(rates.rates[state.kinds[at]] * total_step * leave)
            if beyond < 0:
                break
            here = here + leave * (b - here)
            at = beyond
    return total


def _leave(state: State, polygon: int, here: Point, there: Point) -> tuple[float, int]:
    """How much of the straight way lies in a polygon, and the polygon that follows (-1 at the end of the way)."""
    ground = state.ground
    open_only = np.ones(256, np.uint8)  # every polygon beyond counts as closed, so the walk ends at the rim
    part, _, edge = _ground_kernels.walk(ground, open_only, state.kinds, polygon, here[0], here[1], there[0], there[1])
    return float(part), -1 if edge < 0 else int(ground.neighbours[edge])


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
    scratch = state.take_pool()
    while True:
        pool, heap, roots = scratch
        status, end, cost, expanded = _interval_kernels.search_intervals(
            plane, links, pool, heap, roots, first, start[0], start[1], last, goal[0], goal[1], scale, budget
        )
        if status != _interval_kernels.POOL_FULL:
            break
        scratch = state.larger_pool(scratch)
    if end < 0:
        state.give_pool(scratch)
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
    state.give_pool(scratch)
    nodes = polygons[:passed][::-1].copy()
    return Path(Status.FOUND, distinct(points), nodes=nodes, cost=rates.lowest * float(cost), expanded=expanded)
