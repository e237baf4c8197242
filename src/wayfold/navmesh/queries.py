"""Paths on a mesh: corridors with a funnel, exact shortest paths, cheapest paths where areas cost differently.

The quick corridor is widened, ring by ring, as far as time allows (a small mesh is in it as a whole). A search over
points of its portals finds the best of all corridors in it, and then the crossings move to where the path is cheapest.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.core.arrays import offsets_of
from wayfold.core.batches import run_chunks
from wayfold.geometry.chain_kernels import Chain, Newton
from wayfold.geometry.frame import SAME_LENGTH
from wayfold.graph import search_kernels as graph_kernels
from wayfold.graph import searcher
from wayfold.navmesh import _corridor_kernels, _ground_kernels, _interval_kernels, _price_kernels, _weighted_kernels
from wayfold.navmesh._corridor_kernels import PortalSpace
from wayfold.navmesh._weighted_kernels import Intervals, Line, PortalCrossings
from wayfold.navmesh.snapshot import AreaCosts, MeshSnapshot, Points, Room, search_room
from wayfold.path import Path, Status

_STATUS = (Status.FOUND, Status.UNREACHABLE, Status.PARTIAL, Status.BUDGET_EXHAUSTED)
Point = NDArray[np.float64]


def link_scale(snapshot: MeshSnapshot, rate: float) -> float:
    """What a metre of straight distance costs at least, where links may be shorter than the way."""
    links = snapshot.link_arrays
    if not len(links.costs):
        return rate
    spans = np.sqrt(((links.ends - links.starts) ** 2).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(spans > 0, links.costs / spans, np.inf)
    return float(min(rate, ratio.min()))


def open_ends(
    snapshot: MeshSnapshot, starts: NDArray[np.int32], goals: NDArray[np.int32], area_costs: AreaCosts
) -> tuple[int, int] | None:
    """A polygon of a start and one of a goal between which there is a way, the same one if possible; None without.

    `starts` and `goals` are the open convex pieces that the points are in (`MeshSnapshot.surround`).
    """
    owners = snapshot.topology.pieces.owners
    first, last = owners[starts].tolist(), owners[goals].tolist()
    for polygon in first:
        if polygon in last:
            return polygon, polygon
    islands = snapshot.islands(area_costs.closed)
    for a in first:
        for b in last:
            if islands.joined(a, b):
                return a, b
    return None


def same_polygon(polygon: int, start: Point, goal: Point, rate: float) -> Path:
    """Within one convex polygon the straight line is the shortest path."""
    cost = rate * float(np.hypot(*(goal[:2] - start[:2])))
    nodes = np.array([polygon], np.int32)
    return Path(Status.FOUND, np.array([start, goal]), nodes=nodes, cost=cost, lower_bound=cost)


def corridor(
    snapshot: MeshSnapshot, first: int, last: int, start: Point, goal: Point, area_costs: AreaCosts, budget: int
) -> Path:
    """A* from portal middle to portal middle, then the funnel."""
    ground, topology = snapshot.ground, snapshot.topology
    portals = topology.portals
    space = PortalSpace(
        portals,
        snapshot.areas,
        area_costs.rates,
        area_costs.uniform,
        snapshot.link_arrays,
        first,
        last,
        *start.tolist(),
        *goal.tolist(),
    )
    size = len(portals.edges)
    scale = link_scale(snapshot, area_costs.lowest)
    workspaces = snapshot.scratch.workspaces
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
    strings = _strings(len(trail))
    polygons = np.empty(len(trail), np.int32)
    count = _corridor_kernels.crossings(
        space, trail, ground.vertices, ground.corners, topology.twins, strings.over, strings.ends, polygons
    )
    polygons, points = polygons[: count + 1], np.empty((2 * count + 2, 3))
    used, cost = _corridor_kernels.pull(
        ground, prices_of(snapshot, area_costs), strings, count, polygons, snapshot.link_arrays, start, goal, points
    )
    return Path(Status.FOUND, points[:used], nodes=polygons, cost=float(cost), expanded=settled)


def funnel(
    snapshot: MeshSnapshot, polygons: NDArray[np.int32], start: Point, goal: Point, area_costs: AreaCosts
) -> Path:
    """The shortest way through a corridor: polygons, each a neighbour of the one before or joined to it by a link.

    Parameters
    ----------
    polygons : (k,) int32 array
        From the polygon of the start to that of the goal, such as the nodes of a path over `MeshSnapshot.graph`. Where
        two have several portals and links in common, the one nearest to the way is taken.
    start, goal : (3,) float64 array
        Places in the first and in the last polygon, on the surface.
    """
    offsets = np.array([0, len(polygons)])
    points, _, costs = funnel_many(snapshot, polygons, offsets, start[None], goal[None], area_costs, 1)
    if not len(points):
        return Path(Status.UNREACHABLE)
    return Path(Status.FOUND, points, nodes=polygons, cost=float(costs[0]))


def funnel_many(
    snapshot: MeshSnapshot,
    nodes: NDArray[np.int32],
    offsets: NDArray[np.int64],
    starts: NDArray[np.float64],
    goals: NDArray[np.float64],
    area_costs: AreaCosts,
    workers: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """`funnel` for many corridors at once.

    Parameters
    ----------
    nodes, offsets : (total,) int32 array, (q + 1,) int64 array
        Corridor i goes through the polygons ``nodes[offsets[i]:offsets[i + 1]]``; an empty one has no path.
    starts, goals : (q, 3) float64 array
        Places in the first and in the last polygon of each corridor, on the surface.

    Returns
    -------
    (total, 3) float64, (q + 1,) int64 and (q,) float64 arrays
        Points of all paths one after the other, where each begins, and costs (infinite without a path).
    """
    count = len(offsets) - 1
    counts, costs = np.empty(count, np.int64), np.empty(count)
    parts: dict[int, NDArray[np.float64]] = {}
    prices = prices_of(snapshot, area_costs)

    def work(first: int, last: int) -> None:
        sizes = np.diff(offsets[first : last + 1])
        strings = _strings(int(sizes.max()))
        points = np.empty((2 * int(sizes.sum()), 3))
        used = _corridor_kernels.pull_many(
            snapshot.ground, prices, snapshot.topology.twins, snapshot.link_arrays, nodes, offsets, starts, goals,
            first, last, strings, points, counts, costs,
        )  # fmt: skip
        parts[first] = points[:used].copy()

    run_chunks(work, count, workers=workers)
    ordered = [parts[first] for first in sorted(parts)]
    points = np.concatenate(ordered) if ordered else np.empty((0, 3))
    return points, offsets_of(counts), costs


def _strings(crossings: int) -> _corridor_kernels.Strings:
    return _corridor_kernels.Strings(
        np.empty((crossings, 6)),
        np.empty(crossings, np.int32),
        np.empty((crossings, 4)),
        np.empty((crossings + 2, 2)),
        np.empty(crossings + 2, np.int64),
        _price_kernels.new_front(),
    )


def prices_of(snapshot: MeshSnapshot, area_costs: AreaCosts) -> _corridor_kernels.AreaPrices:
    """Costs of walking, as kernels see them."""
    return _corridor_kernels.AreaPrices(
        snapshot.areas, area_costs.rates, area_costs.lowest if area_costs.even else 0.0, snapshot.topology.near
    )


def shortest(
    snapshot: MeshSnapshot,
    starts: NDArray[np.int32],
    goals: NDArray[np.int32],
    start: Point,
    goal: Point,
    area_costs: AreaCosts,
    budget: int,
) -> Path:
    """The shortest path over the polygons, exactly.

    `starts` and `goals` are the open convex pieces that the points are in (`MeshSnapshot.surround`).
    """
    plane, links = snapshot.plane(area_costs.closed), snapshot.piece_links
    if len(links.costs) and area_costs.closed.any():
        shut = area_costs.closed[snapshot.areas[plane.owners[links.targets]]] != 0
        links = links._replace(costs=np.where(shut, np.inf, links.costs))
    if area_costs.lowest != 1.0:
        links = links._replace(costs=links.costs / area_costs.lowest)
    scale = min(1.0, link_scale(snapshot, area_costs.lowest) / area_costs.lowest)
    borrowed = snapshot.scratch.take()
    while True:
        pool, heap, roots = borrowed
        status, end, expanded = _interval_kernels.search_intervals(
            plane, links, pool, heap, roots, starts, start[0], start[1], goals, goal[0], goal[1],
            snapshot.topology.near, scale, budget,
        )  # fmt: skip
        if status != _interval_kernels.POOL_FULL:
            break
        borrowed = snapshot.scratch.larger(borrowed)
    if end < 0:
        snapshot.scratch.give(borrowed)
        return Path(_STATUS[status], expanded=expanded)
    codes, polygons = np.empty(256, np.int32), np.empty(1024, np.int32)
    while True:
        count, passed = _interval_kernels.unwind(plane, links, pool, end, goal[0], goal[1], codes, polygons)
        if count <= codes.size and passed <= polygons.size:
            break
        codes, polygons = np.empty(count, np.int32), np.empty(passed, np.int32)
    points = [start]
    vertices = len(plane.vertices)
    taken, leaps = [], []
    for code in codes[:count][::-1].tolist():
        if code >= vertices:
            taken.append(code - vertices)
            leaps.append(len(points))
            points.extend((links.starts[code - vertices], links.ends[code - vertices]))
        elif code >= 0:
            points.append(plane.vertices[code])
        else:
            node, which = divmod(-1 - code, 2)
            bend = np.array([*pool.where[node, 2 * which : 2 * which + 2], 0.0])
            _ground_kernels.heights(snapshot.ground, plane.owners[pool.polygon[node : node + 1]], bend[None])
            points.append(bend)
    points.append(goal)
    snapshot.scratch.give(borrowed)
    nodes = polygons[:passed][::-1].copy()
    corners = np.array(points)
    # The search may have begun a hair beside the start: the cost is that of the points.
    legs = np.hypot(*np.diff(corners[:, :2], axis=0).T)
    if taken:
        legs[leaps] = links.costs[taken]
    return Path(
        Status.FOUND,
        corners[: _corridor_kernels.distinct(corners)],
        nodes=nodes,
        cost=area_costs.lowest * float(legs.sum()),
        expanded=expanded,
    )


def placed(snapshot: MeshSnapshot, path: Path) -> Path:
    """A path with its points as the user knows them; they come relative to the frame of the mesh."""
    if path.found and any(snapshot.frame.origin):
        path._points = snapshot.frame.world(path.points)
    return path


_STEPS = 250_000
"""Points on portals times points on a portal, about: what one search may cost."""
_DOORS = (48_000, 6_000)
"""Doors (sides of portals) of the regions that are searched: a wide one, and a narrow one with more points."""
_FINE = 9
"""Points on a portal that are enough."""
_BOUND_STEPS = 4_000_000
"""Intervals of portals times intervals of a portal, about, in the search of a lower bound."""
_CELLS = 20
"""Intervals that half a portal is cut into at most for a lower bound."""
_GRADE = 1.5
"""How much shorter intervals are towards the ends of a portal."""


def _shares(finer: int) -> NDArray[np.float64]:
    """Points on a portal, denser towards its ends, where paths pass by corners."""
    half = 0.5 * (np.arange(1, finer + 1) / finer) ** 2
    return np.concatenate([[0.0], half, 1.0 - half[-2::-1], [1.0]])


_SHARES = tuple(_shares(finer) for finer in (1, 2, 3, 4, 6, 8, 12, 16))


class PathQuery(NamedTuple):
    """One query."""

    snapshot: MeshSnapshot
    area_costs: AreaCosts
    starts: NDArray[np.int32]
    """Open polygons that hold the start."""
    goals: NDArray[np.int32]
    start: Point
    goal: Point


def cheapest(query: PathQuery, quick: Path, budget: int) -> Path:
    """A path as cheap as any that was looked at, never dearer than `quick`, the path through a corridor."""
    best = quick
    if not best.found:
        return best
    expanded = best.expanded
    for doors in _DOORS:
        path, fine = _refined(query, budget - expanded, best.nodes, doors)
        expanded += path.expanded
        if path.cost < best.cost:
            best = path
        if not path.found or fine:
            break
    best.expanded = expanded
    best._lower_bound = partial(lower_bound, query, best.cost)
    return best


def lower_bound(query: PathQuery, known: float) -> float:
    """Cost that no path from start to goal can be below; `known` is that of one path."""
    snapshot, start, goal = query.snapshot, query.start, query.goal
    topology, links, portals = snapshot.topology, snapshot.link_arrays, snapshot.topology.portals
    count = len(portals.edges)
    cells = 2 * int(np.clip(np.sqrt(_BOUND_STEPS / max(1, count)) / 2, 1, _CELLS))
    half = 0.5 * (np.arange(cells // 2 + 1) / (cells // 2)) ** _GRADE
    intervals = Intervals(np.empty((count, cells + 1, 2)), np.empty(count * cells))
    _weighted_kernels.cut(
        snapshot.ground, topology.twins, portals, np.concatenate([half, 1.0 - half[-2::-1]]), intervals
    )
    memory = search_room(count * cells + 2 + len(links.costs))[0]
    prices = prices_of(snapshot, query.area_costs)
    ends = query.starts, start[0], start[1], query.goals, goal[0], goal[1]
    _weighted_kernels.tilt(portals, prices, links, intervals, memory, *ends)
    _weighted_kernels.level(portals, prices, links, intervals, *ends)
    bound = _weighted_kernels.bound(portals, prices, links, intervals, memory, *ends, known)
    straight = link_scale(snapshot, query.area_costs.lowest) * float(np.hypot(*(goal[:2] - start[:2])))
    return min(known, max(straight, float(bound)) * (1.0 - SAME_LENGTH))


def _refined(query: PathQuery, budget: int, seeds: NDArray[np.int32], doors: int) -> tuple[Path, bool]:
    """The cheapest path in a region around some polygons, and whether it was searched with points enough."""
    snapshot, start, goal = query.snapshot, query.start, query.goal
    ground, topology, links = snapshot.ground, snapshot.topology, snapshot.link_arrays
    twins, portals = topology.twins, topology.portals
    prices = prices_of(snapshot, query.area_costs)
    room = snapshot.rooms.take()
    region = room.region
    seeds = np.concatenate([seeds, query.starts, query.goals])
    polygons, count = _weighted_kernels.widen(portals, prices, links, seeds, doors, region)
    shares = next((s for s in reversed(_SHARES) if count * s.size * s.size <= _STEPS), _SHARES[0])
    nodes = count * shares.size + 2 + len(links.costs)
    if nodes > room.via.size:
        room = Room(region, *search_room(nodes + nodes // 4))
    crossings = PortalCrossings(shares, room.share, room.places, room.via)
    scale = link_scale(snapshot, query.area_costs.lowest)
    status, settled = _weighted_kernels.search_crossings(
        ground, twins, portals, prices, links, region, crossings, polygons, count, room.state,
        query.starts, start[0], start[1], query.goals, goal[0], goal[1], scale, budget,
    )  # fmt: skip
    path = Path(Status.UNREACHABLE, expanded=settled)
    if status == graph_kernels.FOUND:
        trail = searcher.trail(room.state, count * shares.size + 1)
        capacity = 2 * len(trail) + 2
        ints, floats = np.empty((5, capacity), np.int32), np.empty((9, capacity))
        chain = Chain(ints[0], ints[1], floats[0], ints[2], floats[1], floats[2], np.empty(capacity, np.bool_))
        line = Line(np.empty((capacity, 3)), ints[3], ints[4], floats[3], np.empty((2, 2)))
        way = np.empty(len(trail) + 1, np.int32)
        used, passed = _weighted_kernels.lay(
            ground, twins, portals, prices, links, region, crossings, count, trail, start, goal, chain, line, way
        )
        used, cost = _weighted_kernels.refine(
            ground, prices, links, chain, used, Newton(*floats[4:9]), line, start, goal, _price_kernels.new_front()
        )
        if cost < np.inf:
            path = Path(Status.FOUND, line.points[:used], nodes=way[:passed], cost=cost, expanded=settled)
    _weighted_kernels.leave(region, polygons, count)
    snapshot.rooms.give(room)
    return path, shares.size >= _FINE


_AHEAD = 16  # corners that are tried at most, so that a path of many takes no longer for each
_ROOM = 1024  # pieces that one straight walk may branch into at vertices; one that needs more is not taken
_NEAR = 1e-3  # metres between the end of a walk and the corner that it was meant for: else it is on another floor


def shortcut(snapshot: MeshSnapshot, area_costs: AreaCosts, path: Path) -> Path:
    """A path on a mesh without the corners that a straight walk from an earlier one passes by.

    It is never longer. Where kinds of area cost differently, or where there are links, which a straight line would
    leave, it stays as it is.
    """
    points = path.points
    if len(points) < 3 or not area_costs.even or len(snapshot.link_arrays.costs):
        return path
    polygons, places, _ = snapshot.find(points, None, None, shut=snapshot.shut(area_costs.closed))
    plane = snapshot.plane(area_costs.closed)
    rows = snapshot.surround(polygons, places, area_costs.closed)
    pieces = np.array([row[0] if len(row) else 0 for row in rows], np.int32)
    starts = np.ascontiguousarray(rows[0] if len(rows[0]) else pieces[:1])
    kept = np.empty(len(points), np.int64)
    count = _ground_kernels.shortcuts(
        snapshot.ground, plane, starts, pieces, snapshot.frame.local(points), _AHEAD, _NEAR, snapshot.topology.near,
        np.empty(_ROOM, np.int32), kept,
    )  # fmt: skip
    line = points[kept[:count]]
    cost = area_costs.lowest * _across(line)
    return Path(path.status, line, cost=cost, expanded=path.expanded, timings=path.timings)


def _across(points: Points) -> float:
    """Length seen from above, which is what a metre of ground is counted by."""
    return float(np.hypot(*np.diff(points[:, :2], axis=0).T).sum())
