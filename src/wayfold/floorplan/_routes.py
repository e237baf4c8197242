"""Paths through the regions of a decomposition: A* over the navigation graph, the funnel, and exact shortest paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfold._threads import run_chunks
from wayfold.floorplan._route_kernels import RouteSpace
from wayfold.geometry._funnel_kernels import pull_string
from wayfold.graph import _kernels as graph_kernels
from wayfold.graph import searcher
from wayfold.path import Path, Status

if TYPE_CHECKING:
    from wayfold.floorplan.decomposition import Decomposition

Point = NDArray[np.float64]


def between(cut: Decomposition, start: Point, goal: Point, first: int, last: int, smooth: bool) -> Path:
    """The path of the paper's agent between places in two regions, pulled straight where `smooth` is set."""
    if first == last:
        return Path(Status.FOUND, np.vstack([start, goal]), cost=_length(start, goal), smoother=lambda path: path)
    graph = cut.graph
    component = graph.components()
    if component[first] != component[last]:
        return Path(Status.UNREACHABLE)
    space = RouteSpace(graph.offsets, graph.targets, graph.points, first, last, *start.tolist(), *goal.tolist())
    state, _, end, settled = searcher.run(
        cut.workspaces,
        lambda state: graph_kernels.search(
            space, state, first, last, 1.0, graph_kernels.UNLIMITED, searcher.NO_NODES, searcher.NO_BUDGET, False
        ),
    )
    nodes = searcher.trail(state, end)
    cut.workspaces.give(state)
    if smooth:
        return _pulled(cut, start, goal, nodes, settled)
    points = np.vstack([start, graph.points[nodes[1:-1]], goal])
    path = Path(Status.FOUND, points, nodes=nodes, expanded=settled)
    path.cost = path.length
    path._smoother = lambda _: _pulled(cut, start, goal, nodes, settled)
    return path


def many(
    cut: Decomposition,
    starts: NDArray[np.float64],
    goals: NDArray[np.float64],
    firsts: NDArray[np.int32],
    lasts: NDArray[np.int32],
    smooth: bool,
    optimal: bool,
    workers: int | None,
) -> list[Path]:
    """The paths of many queries, in threads."""
    if optimal and len(starts):
        _ = cut.exact_mesh  # made once, before the threads ask for it
    found: list[Any] = [None] * len(starts)

    def work(begin: int, end: int) -> None:
        for k in range(begin, end):
            first, last = int(firsts[k]), int(lasts[k])
            if optimal:
                found[k] = shortest(cut, starts[k], goals[k], first, last)
            else:
                found[k] = between(cut, starts[k], goals[k], first, last, smooth)

    run_chunks(work, len(starts), workers=workers, chunk=16)
    return found


def _pulled(cut: Decomposition, start: Point, goal: Point, nodes: NDArray[np.int32], settled: int) -> Path:
    path = Path(
        Status.FOUND, pull(cut, start, goal, nodes), nodes=nodes, expanded=settled, smoother=lambda whole: whole
    )
    path.cost = path.length
    return path


def pull(cut: Decomposition, start: Point, goal: Point, nodes: NDArray[np.int32]) -> NDArray[np.float64]:
    """The shortest way through the gateways among nodes of the graph, (k, 3)."""
    regions = nodes[nodes < cut.num_regions]
    doors = nodes[nodes >= cut.num_regions] - cut.num_regions
    segments = cut.gateways.segments[doors]
    # The first region of a gateway lies to the left of its segment: who leaves it has its end on the left.
    leaving = cut.gateways.pairs[doors, 0] == regions[:-1]
    portals = np.where(leaving[:, None], segments[:, [2, 3, 0, 1]], segments)
    points, portal = np.empty((len(doors) + 2, 2)), np.empty(len(doors) + 2, np.int64)
    used = pull_string(np.ascontiguousarray(portals), start[:2].copy(), goal[:2].copy(), points, portal)
    z = np.concatenate([[start[2]], cut.gateway_heights[doors], [goal[2]]])
    return np.column_stack([points[:used], z[portal[:used] + 1]])


def shortest(cut: Decomposition, start: Point, goal: Point, first: int, last: int) -> Path:
    """The shortest path of all through the regions, by the exact search of the navmesh room."""
    if first == last:
        return Path(Status.FOUND, np.vstack([start, goal]), cost=_length(start, goal))
    mesh = cut.exact_mesh
    inside = [_inside(cut, mesh, point, region) for point, region in ((start, first), (goal, last))]
    found: Path = mesh.path(*inside)
    if not found:
        return found
    points = found.points.copy()
    points[0], points[-1] = start, goal
    path = Path(Status.FOUND, points, nodes=found.nodes, expanded=found.expanded)
    path.cost = path.length
    return path


def _inside(cut: Decomposition, mesh: Any, point: Point, region: int) -> Point:
    """A point as the mesh takes it: one that rounding has put beside its region moves a hair towards the centre."""
    return point if mesh.locate(point) >= 0 else point + 1e-9 * (cut.centres[region] - point)


def _length(start: Point, goal: Point) -> float:
    return float(np.linalg.norm(goal - start))
