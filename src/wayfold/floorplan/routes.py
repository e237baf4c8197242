"""Paths through the regions of a decomposition: A* over the navigation graph, the funnel, and exact shortest paths."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.core.batches import run_chunks
from wayfold.floorplan._query_kernels import RouteSpace
from wayfold.geometry.funnel_kernels import pull_string
from wayfold.graph import search_kernels as graph_kernels
from wayfold.graph import searcher
from wayfold.path import Path, Paths, Status

if TYPE_CHECKING:
    from wayfold.floorplan.decomposition import Decomposition

Point = NDArray[np.float64]
_WAYS = 200  # over other mouths that are looked at in one query at most; most take two or three
_ROUNDS = 100  # in which ways over mouths are straightened; most take a few


class RegionPlace(NamedTuple):
    """Where a start or a goal stands: on the ground of its region."""

    point: Point
    """(3,), as the user knows it."""
    local: Point
    """(3,), relative to the frame."""
    regions: NDArray[np.int32]
    """All regions that it touches."""


def between(cut: Decomposition, start: RegionPlace, goal: RegionPlace, smooth: bool) -> Path:
    """The paper's path between two places, pulled straight if `smooth`."""
    if np.intersect1d(start.regions, goal.regions).size:
        return _straight(start, goal)
    best = Path(Status.UNREACHABLE)
    for first in start.regions.tolist():
        for last in goal.regions.tolist():
            path = _between_regions(cut, start, goal, first, last, smooth)
            if path and (not best or path.length < best.length):
                best = path
    return best


def _straight(start: RegionPlace, goal: RegionPlace) -> Path:
    points = np.vstack([start.point, goal.point])
    length = float(np.linalg.norm(goal.local - start.local))
    return Path(Status.FOUND, points, cost=length, smoother=lambda path: path)


def _between_regions(
    cut: Decomposition, start: RegionPlace, goal: RegionPlace, first: int, last: int, smooth: bool
) -> Path:
    """The path from one of the regions of the start to one of the goal's."""
    graph = cut.graph
    component = graph.components()
    if component[first] != component[last]:
        return Path(Status.UNREACHABLE)
    ends = (*start.local.tolist(), *goal.local.tolist())
    space = RouteSpace(graph.offsets, graph.targets, cut.nodes, first, last, *ends)
    state, _, end, settled = searcher.run(
        cut.workspaces,
        lambda state: graph_kernels.search(
            space, state, first, last, 1.0, graph_kernels.UNLIMITED, searcher.NO_NODES, searcher.NO_BUDGET, False
        ),
    )
    nodes = searcher.trail(state, end)
    cut.workspaces.give(state)
    if smooth:
        return _smoothed(cut, start, goal, nodes, settled)
    points = cut.frame.world(np.vstack([start.local, cut.nodes[nodes[1:-1]], goal.local]))
    points[0], points[-1] = start.point, goal.point
    path = Path(Status.FOUND, points, nodes=nodes, expanded=settled)
    path.cost = path.length
    path._smoother = lambda _: _smoothed(cut, start, goal, nodes, settled)
    return path


def many(
    cut: Decomposition,
    starts: list[RegionPlace],
    goals: list[RegionPlace],
    smooth: bool,
    exact: bool,
    workers: int | None,
) -> Paths:
    """The paths of many queries, in threads."""
    if exact and len(starts):
        _ = cut.exact_mesh  # made once, before the threads ask for it
    found: list[Any] = [None] * len(starts)

    def work(begin: int, end: int) -> None:
        for k in range(begin, end):
            if exact:
                found[k] = shortest(cut, starts[k], goals[k])
            else:
                found[k] = between(cut, starts[k], goals[k], smooth)

    run_chunks(work, len(starts), workers=workers, chunk=16)
    return Paths.of(found)


def _smoothed(
    cut: Decomposition, start: RegionPlace, goal: RegionPlace, nodes: NDArray[np.int32], settled: int
) -> Path:
    points = cut.frame.world(_corners(cut, start.local, goal.local, nodes))
    points[0], points[-1] = start.point, goal.point
    path = Path(Status.FOUND, points, nodes=nodes, expanded=settled, smoother=lambda whole: whole)
    path.cost = path.length
    return path


def _corners(cut: Decomposition, start: Point, goal: Point, nodes: NDArray[np.int32]) -> NDArray[np.float64]:
    """The shortest way through the gateways among nodes of the graph, (k, 3), all of it local."""
    regions = nodes[nodes < cut.num_regions]
    return _taut(cut, start, goal, regions, nodes[nodes >= cut.num_regions] - cut.num_regions)[0]


def _taut(
    cut: Decomposition, start: Point, goal: Point, regions: NDArray[Any], doors: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The shortest way through regions and the gateways between them, (k, 3), and where it passes mouths, (m, 3).

    The ground bends at mouths, where floors and stairs meet, and is even between them: there the way is straight or
    bends around corners as it does seen from above. Where it passes a mouth is moved until nothing gets shorter.
    """
    segments = cut.gateways.local[doors]
    # The first region of a gateway lies to the left of its segment: who leaves it has its end on the left.
    leaving = cut.gateways.pairs[doors, 0] == regions[:-1]
    portals = np.ascontiguousarray(np.where(leaving[:, None], segments[:, [2, 3, 0, 1]], segments))
    mouths = np.flatnonzero(cut.is_mouth[doors])
    whole = _funnel(cut, start, goal, doors, portals)
    if not len(mouths):
        return whole, np.empty((0, 3))
    places = _crossings(cut, whole, doors[mouths])
    first, last = np.append(0, mouths + 1), np.append(mouths, len(doors))
    for _ in range(_ROUNDS):
        stops = [start, *places, goal]
        parts = [
            _funnel(cut, a, b, doors[i:j], portals[i:j])
            for (a, b), i, j in zip(pairwise(stops), first, last, strict=True)
        ]
        before = places.copy()
        for index, mouth in enumerate(doors[mouths].tolist()):
            # A part of no length has one point.
            ahead = next((part[1] for part in parts[index + 1 :] if len(part) > 1), goal)
            behind = next((part[-2] for part in parts[index::-1] if len(part) > 1), start)
            places[index] = _between(cut, mouth, behind, ahead, places[index])
            if len(parts[index]) > 1:
                parts[index][-1] = places[index]
            if len(parts[index + 1]) > 1:
                parts[index + 1][0] = places[index]
        if np.abs(places - before).max() <= cut.rounding:
            break
    whole = np.concatenate(parts)
    # A corner of the way may lie on a mouth: it is there once.
    new = np.hypot(*np.diff(whole[:, :2], axis=0).T) > cut.rounding
    return np.asarray(whole[np.concatenate([[True], new[:-1], [True]])]), places


def _over_mouths(
    cut: Decomposition, mesh: Any, points: NDArray[np.float64], regions: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """The shortest way over the mouths that a way through regions passes, and its regions, all of it local.

    On stairs a way bends at mouths, so between them it may pass other regions than it does seen from above, and go
    round the other side of what stands there. So it is searched anew from where it passes them, and from their ends.
    """
    start, goal = points[0], points[-1]
    doors = _doors(cut, regions, points)
    mouths = np.flatnonzero(cut.is_mouth[doors])
    if not len(mouths):
        return points, regions
    points, places = _taut(cut, start, goal, regions, doors)
    tried = {regions.tobytes()}
    waiting = _moved(cut, places, doors[mouths])
    while waiting:
        other = _searched(cut, mesh, [start, *waiting.pop(), goal], regions, mouths)
        if other.tobytes() in tried:
            continue
        tried.add(other.tobytes())
        passed = _doors(cut, other, points)
        way, spots = _taut(cut, start, goal, other, passed)
        if _length(way) < _length(points) - cut.rounding:
            points, places, regions = way, spots, other
            mouths = np.flatnonzero(cut.is_mouth[passed])
            waiting = _moved(cut, places, passed[mouths])
    return points, regions


def _moved(cut: Decomposition, places: NDArray[np.float64], mouths: NDArray[Any]) -> list[NDArray[np.float64]]:
    """Places on mouths as they are, and with each of them at either end of its mouth."""
    result = []
    for index, mouth in enumerate(mouths.tolist()):
        for end in cut.gateways.local[mouth].reshape(2, 2):
            other = places.copy()
            other[index, :2] = end
            result.append(other)
    return [*result, places]


def _searched(
    cut: Decomposition, mesh: Any, stops: list[Point], regions: NDArray[Any], mouths: NDArray[np.int64]
) -> NDArray[Any]:
    """The regions of the shortest way over stops on mouths, each left into and reached from the region it was."""
    parts = []
    for (a, b), part in zip(pairwise(stops), np.split(regions, mouths + 1), strict=True):
        parts.append(part)
        if len(part) > 1:
            ends = []
            for stop, region in ((a, int(part[0])), (b, int(part[-1]))):
                there = np.arange(cut.num_regions) == region
                ends.append(_inside(cut, mesh, RegionPlace(stop, stop, np.array([region], np.int32)), there))
            found = mesh.path(*ends)
            levels = cut.region_levels[found.nodes] if found else np.empty(0)
            if len(levels) and (levels == cut.region_levels[part[0]]).all():
                ends_kept = found.nodes[0] == part[0] and found.nodes[-1] == part[-1]
                parts[-1] = found.nodes if ends_kept else part
    return np.concatenate(parts)


def _length(points: NDArray[np.float64]) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def _funnel(
    cut: Decomposition, start: Point, goal: Point, doors: NDArray[Any], portals: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The shortest way through gateways seen from above, with the heights of its corners."""
    first, last = _ahead(portals, start, goal, cut.rounding)
    doors, portals = doors[first:last], portals[first:last].copy()
    if len(doors):
        _edge_on(portals[0], start, cut.rounding)
        _edge_on(portals[-1], goal, cut.rounding)
    points, portal = np.empty((len(doors) + 2, 2)), np.empty(len(doors) + 2, np.int64)
    used = pull_string(portals, start[:2].copy(), goal[:2].copy(), cut.rounding, points, portal)
    result = np.empty((used, 3))
    result[:, :2] = points[:used]
    inner = doors[portal[1 : used - 1]] if used > 2 else doors[:0]
    second = (cut.gateways.local[inner, :2] != points[1 : used - 1]).any(axis=1)
    result[1:-1, 2] = cut.vertex_heights[cut.topology.ends[inner, second.astype(np.int64)]]
    result[0, 2], result[-1, 2] = start[2], goal[2]
    return result


def _ahead(portals: NDArray[np.float64], start: Point, goal: Point, near: float) -> tuple[int, int]:
    """The range of portals left to pass once those that start or goal lie on are skipped."""
    begin, along = portals[:, :2], portals[:, 2:] - portals[:, :2]
    size = np.maximum((along * along).sum(axis=1), 1e-300)
    on = []
    for point in (start[:2], goal[:2]):
        part = (((point - begin) * along).sum(axis=1) / size).clip(0.0, 1.0)
        on.append(np.hypot(*(begin + part[:, None] * along - point).T) <= near)
    first = int(np.argmin(on[0])) if not on[0].all() else len(portals)
    last = len(portals) - (int(np.argmin(on[1][::-1])) if not on[1].all() else len(portals))
    return first, max(first, last)


def _edge_on(portal: NDArray[np.float64], point: Point, near: float) -> None:
    """Shrink a portal that a point sees edge-on, within rounding, to its nearer end."""
    left, right = portal[:2].copy(), portal[2:].copy()
    along, away = right - left, point[:2] - left
    if abs(along[0] * away[1] - along[1] * away[0]) <= near * float(np.hypot(*along)):
        nearer = left if np.hypot(*away) <= np.hypot(*(point[:2] - right)) else right
        portal[:2], portal[2:] = nearer, nearer


def _between(cut: Decomposition, mouth: int, behind: Point, ahead: Point, place: Point) -> Point:
    """Where the shortest way between two points passes a mouth: straight, if the ground were unfolded about it."""
    (ax, ay, bx, by), height = cut.gateways.local[mouth].tolist(), cut.gateway_heights[mouth]
    begin, along = np.array([ax, ay, height]), np.array([bx - ax, by - ay, 0.0])
    width = float(np.linalg.norm(along))
    along /= width
    near, far = (float((point - begin) @ along) for point in (behind, ahead))
    off, beyond = (
        float(np.linalg.norm(point - begin - metres * along)) for point, metres in ((behind, near), (ahead, far))
    )
    if off + beyond <= cut.rounding:  # along the mouth
        return place
    return _on(cut, mouth, (near * beyond + far * off) / (off + beyond))


def _on(cut: Decomposition, mouth: int, metres: float) -> Point:
    """The point of a mouth that many metres from its begin, or its nearer end: that one to the last digit."""
    ends, height = cut.gateways.local[mouth].reshape(2, 2), cut.gateway_heights[mouth]
    along = ends[1] - ends[0]
    width = float(np.hypot(*along))
    # The next gateway often begins where a mouth ends: a hair beside that corner one would stand beyond it.
    if metres <= cut.rounding:
        return np.append(ends[0], height)
    if metres >= width - cut.rounding:
        return np.append(ends[1], height)
    return np.append(ends[0] + metres / width * along, height)


def _crossings(cut: Decomposition, points: NDArray[np.float64], mouths: NDArray[Any]) -> NDArray[np.float64]:
    """Where a local way passes from floors to stairs and back, (m, 3)."""
    result = []
    rest = points  # what comes after the last mouth: stairs may lead back over the floor that the way came from
    for mouth in mouths.tolist():
        ax, ay, bx, by = cut.gateways.local[mouth].tolist()
        along = np.array([bx - ax, by - ay])
        width = float(np.hypot(*along))
        along /= width
        away = rest[:, :2] - (ax, ay)
        side, metres = along[0] * away[:, 1] - along[1] * away[:, 0], away @ along
        # The first leg that crosses the line of the mouth where the mouth is, but for rounding.
        span = side[:-1] - side[1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(span == 0.0, 0.0, side[:-1] / span).clip(0.0, 1.0)
        there = metres[:-1] + part * np.diff(metres)
        beside = np.maximum(np.maximum(-there, there - width), 0.0) + np.abs(side[:-1] - part * span)
        leg = int(np.flatnonzero(beside <= beside.min() + cut.rounding)[0])
        place = _on(cut, mouth, float(there[leg]))
        result.append(place)
        rest = np.concatenate([place[None], rest[leg + 1 :]])
    return np.array(result)


def shortest(cut: Decomposition, start: RegionPlace, goal: RegionPlace) -> Path:
    """The shortest path of all through the regions, by the exact search of the navmesh package.

    The search sees lengths from above, and no way is shorter than that. So where there are stairs, ways are looked at
    in the order of their lengths from above, each without some of the mouths that others pass, until one is as long
    from above as the best is on the ground.
    """
    if np.intersect1d(start.regions, goal.regions).size:
        return _straight(start, goal)
    component = cut.graph.components()[: cut.num_regions]
    common = np.intersect1d(component[start.regions], component[goal.regions])
    if not len(common):
        return Path(Status.UNREACHABLE)
    mesh = cut.exact_mesh
    # Who stands on a pinch point is in several parts of the free space at once, or on several sides of one.
    ends = [
        (_inside(cut, mesh, start, here), _inside(cut, mesh, goal, there))
        for part in common.tolist()
        for here in _sides(cut, start, component == part)
        for there in _sides(cut, goal, component == part)
    ]
    best = Path(Status.UNREACHABLE)
    if len(cut.levels) > 1:
        best = between(cut, start, goal, smooth=True)
        best = Path(Status.FOUND, best.points, cost=best.cost, nodes=best.nodes[::2], expanded=best.expanded)
    waiting: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    known: set[tuple[int, ...]] = set()
    while waiting and len(known) <= _WAYS:
        least, closed = heappop(waiting)
        if least >= best.length:
            break
        found: Path = min((cut._mesh_without(closed).path(*points) for points in ends), key=_from_above)
        if _from_above(found) >= best.length:
            continue
        points, regions = found.points, found.nodes
        passed = _mouths(cut, regions, points)
        if len(passed):
            points, regions = _over_mouths(cut, mesh, points, regions)
        points = cut.frame.world(points)
        points[0], points[-1] = start.point, goal.point
        path = Path(Status.FOUND, points, nodes=regions, expanded=found.expanded)
        path.cost = path.length
        best = path if path.length < best.length or not best else best
        for mouth in passed:
            other = tuple(sorted({*closed, mouth}))
            if other not in known:
                known.add(other)
                heappush(waiting, (_from_above(found), other))
    return best


def _from_above(path: Path) -> float:
    """The length of a local way seen from above."""
    return float(np.hypot(*np.diff(path.points[:, :2], axis=0).T).sum()) if path else np.inf


def _mouths(cut: Decomposition, regions: NDArray[Any], points: NDArray[np.float64]) -> list[int]:
    """The mouths that a local way through regions passes."""
    if len(cut.levels) == 1 or len(regions) < 2:
        return []
    doors = _doors(cut, regions, points)
    passed: list[int] = np.unique(doors[cut.is_mouth[doors]]).tolist()
    return passed


def _doors(cut: Decomposition, regions: NDArray[Any], points: NDArray[np.float64]) -> NDArray[np.int64]:
    """The gateways that a local way through regions passes: where two regions have several, the nearest to it."""
    import shapely

    pairs = np.sort(np.column_stack([regions[:-1], regions[1:]]), axis=1)
    known = cut.gateways.pairs
    way = shapely.linestrings(points[:, :2])
    doors = np.empty(len(pairs), np.int64)
    for index, pair in enumerate(pairs):
        found = np.flatnonzero((known == pair).all(axis=1))
        if len(found) > 1:
            gaps = shapely.distance(way, shapely.linestrings(cut.gateways.local[found].reshape(-1, 2, 2)))
            found = found[[int(np.argmin(gaps))]]
        doors[index] = found[0]
    return doors


def _sides(cut: Decomposition, place: RegionPlace, there: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    """The regions `there` that touch a place, grouped by gateways at the place."""
    rest = set(place.regions[there[place.regions]].tolist())
    sides = []
    while rest:
        side, waiting = set(), [rest.pop()]
        while waiting:
            region = waiting.pop()
            side.add(region)
            beside = rest.intersection(cut.neighbours(region).tolist())
            rest -= beside
            waiting += beside
        sides.append(side)
    if len(sides) == 1:
        return [there]
    return [there & np.isin(np.arange(cut.num_regions), list(side)) for side in sides]


def _inside(cut: Decomposition, mesh: Any, place: RegionPlace, there: NDArray[np.bool_]) -> Point:
    """A local point as the mesh takes it: one that it finds in none of the regions `there` moves a hair into one."""
    point = place.local
    region = place.regions[there[place.regions]][0]
    # A region no wider than rounding is an island of the mesh: who stands in it stands in one beside it too.
    open_ = there & ~cut.apart
    near = np.concatenate([place.regions, *(cut.neighbours(one) for one in place.regions.tolist())])
    near = near[open_[near]]
    if len(near):
        region, there = near[0], open_
    away = cut.frame.local(cut.centres[region]) - point
    part = cut.rounding / max(float(np.hypot(away[0], away[1])), cut.rounding)
    while part < 1.0:
        known = mesh.locate(point)
        if known >= 0 and there[known]:
            return point
        point = place.local + part * away
        part *= 4.0
    return point
