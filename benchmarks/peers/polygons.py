"""Shortest paths among polygons: `NavMesh` against extremitypathfinder and pyvisgraph, on a place with buildings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import affinity

from benchmarks.harness import Comparison, Contender, compare, same_costs
from benchmarks.peers.libraries import LIBRARIES
from wayfold.floorplan import FloorPlan

Ask = Callable[[], list[float]]

PEERS = ("extremitypathfinder", "pyvisgraph")
_RULE = (
    "Rule: the shortest way for a point that may touch obstacles, by any angle. The libraries' graphs of what sees "
    "what and our mesh are made beforehand."
)
# Detours around corners are summed in other orders; a corner missed would cost more.
_SAME = 1e-6


@dataclass(frozen=True)
class Place:
    """A square with obstacles that touch neither each other nor the border, and places between them, (q, 2, 2)."""

    boundary: Any
    obstacles: list[Any]
    ends: NDArray[np.float64]


def place(rows: int, queries: int, side: float = 100.0) -> Place:
    """Turned boxes, one in each cell of a square of `rows` x `rows` cells."""
    rng = np.random.default_rng(3)
    cell = side / rows
    obstacles = []
    for row in range(rows):
        for column in range(rows):
            width, height = rng.uniform(0.25, 0.6, 2) * cell
            box = shapely.box(-width / 2, -height / 2, width / 2, height / 2)
            turned = affinity.rotate(box, float(rng.uniform(0, 180)), origin=(0, 0))
            obstacles.append(affinity.translate(turned, (column + 0.5) * cell, (row + 0.5) * cell))
    solid = shapely.union_all(obstacles)
    ends: list[NDArray[np.float64]] = []
    while len(ends) < queries:
        pair = rng.uniform(0.02 * side, 0.98 * side, (2, 2))
        if not shapely.intersects_xy(solid, pair[:, 0], pair[:, 1]).any():
            ends.append(pair)
    return Place(shapely.box(0.0, 0.0, side, side), obstacles, np.array(ends))


def run(
    where: Place, names: tuple[str, ...], *, rounds: int, progress: Callable[[str], None] | None = None
) -> Comparison | None:
    """Time `NavMesh.path` and the libraries that are installed; None when none is."""
    present = [name for name in names if LIBRARIES[name].installed]
    if not present:
        return None
    navmesh = FloorPlan(where.boundary, where.obstacles).decompose().navmesh()
    count = len(where.ends)
    contenders = [Contender("wayfold NavMesh", lambda: [navmesh.path(a, b).length for a, b in where.ends], count)]
    for name in present:
        if progress is not None:
            progress(f"preparing {name}")
        contenders.append(Contender(name, _PEERS[name](where), count))
    facts = {"rule": _RULE, "obstacles": len(where.obstacles), "queries": count}
    title = f"a place with {len(where.obstacles)} obstacles, {count} queries"
    check = same_costs(shortest(where), relative=_SAME)
    return compare(title, contenders, check, rounds=rounds, facts=facts, progress=progress)


def shortest(where: Place) -> NDArray[np.float64]:
    """The lengths by Dijkstra over everything that sees each other, tested with shapely: slow and obvious."""
    from scipy.sparse.csgraph import dijkstra

    corners = np.concatenate([shapely.get_coordinates(obstacle)[:-1] for obstacle in where.obstacles])
    points = np.concatenate([where.ends.reshape(-1, 2), corners])
    # A hair thinner, so that a way along a wall does not count as one through it.
    solid = shapely.union_all([obstacle.buffer(-1e-9 * 100.0) for obstacle in where.obstacles])
    shapely.prepare(solid)
    a, b = np.triu_indices(len(points), 1)
    lines = shapely.linestrings(np.stack([points[a], points[b]], axis=1))
    seen = ~shapely.intersects(solid, lines)
    matrix = np.zeros((len(points), len(points)))
    matrix[a[seen], b[seen]] = shapely.length(lines[seen])
    count = len(where.ends)
    return np.array([dijkstra(matrix, directed=False, indices=2 * at)[2 * at + 1] for at in range(count)])


def _extremitypathfinder(where: Place) -> Ask:
    from extremitypathfinder import PolygonEnvironment

    environment = PolygonEnvironment()
    # The boundary runs counter-clockwise, holes clockwise.
    holes = [shapely.get_coordinates(shapely.orient_polygons(hole, exterior_cw=True))[:-1] for hole in where.obstacles]
    edge = shapely.get_coordinates(shapely.orient_polygons(where.boundary, exterior_cw=False))[:-1]
    environment.store(edge, holes, validate=False)
    pairs = [(tuple(start), tuple(goal)) for start, goal in where.ends.tolist()]
    return lambda: [float(environment.find_shortest_path(start, goal)[1]) for start, goal in pairs]


def _pyvisgraph(where: Place) -> Ask:
    import pyvisgraph

    polygons = [
        [pyvisgraph.Point(x, y) for x, y in shapely.get_coordinates(obstacle)[:-1].tolist()]
        for obstacle in where.obstacles
    ]
    graph = pyvisgraph.VisGraph()
    graph.build(polygons, status=False)
    pairs = [tuple(pyvisgraph.Point(*point) for point in pair) for pair in where.ends.tolist()]

    def one(start: Any, goal: Any) -> float:
        path = np.array([(point.x, point.y) for point in graph.shortest_path(start, goal)])
        return float(np.hypot(*np.diff(path, axis=0).T).sum())

    return lambda: [one(start, goal) for start, goal in pairs]


_PEERS: dict[str, Callable[[Place], Ask]] = {"extremitypathfinder": _extremitypathfinder, "pyvisgraph": _pyvisgraph}
