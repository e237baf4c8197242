"""The navigation mesh against Recast and Detour: sizes, path lengths and query times, with every answer checked.

Recast and Detour are not run here; their figures (one thread, the same settings) come with the data and are listed
beside ours. Times are compared with `Graph.path` on Recast's own polygon graph in the same rounds.
"""

from __future__ import annotations

import csv
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import peers
from benchmarks.harness import Comparison, Contender, WrongAnswerError, compare
from wayfold.agent import Agent
from wayfold.formats import load_mesh, load_scen
from wayfold.geometry import Mesh
from wayfold.navmesh import NavMesh

AGENT = Agent(radius=0.6, height=2.0, climb=0.9, slope=45.0)
RECAST_POLYGONS = {"nav_test": 155, "dungeon": 118, "undulating": 216, "city": 161_090}
RECAST_CITY_SECONDS = 31.0
DETOUR_MEAN_LENGTH = 1424.5
DETOUR_MS = 3.4


def samples(data: Path) -> list[dict[str, Any]]:
    """Polygons and seconds of Recast's three sample meshes, each one tile."""
    rows = []
    for name in ("nav_test", "dungeon", "undulating"):
        mesh = load_mesh(data / f"recast/{name}.obj", up="y")
        NavMesh.build(mesh, AGENT, tile_size=0)  # compiles
        begin = time.perf_counter()
        navmesh = NavMesh.build(mesh, AGENT, tile_size=0)
        seconds = time.perf_counter() - begin
        ratio = navmesh.num_polygons / RECAST_POLYGONS[name]
        if not 1 / 1.25 <= ratio <= 1.25:
            raise WrongAnswerError(f"{name} has {navmesh.num_polygons} polygons, {ratio:.2f} of Recast's")
        rows.append({"name": name, "polygons": navmesh.num_polygons, "ratio": ratio, "ms": seconds * 1e3})
    return rows


def city(data: Path, workers: int | None = None) -> tuple[NavMesh, dict[str, Any]]:
    """The city's mesh, built in tiles of 48 columns, and what that and single questions to it took."""
    mesh = load_mesh(data / "city/city.obj.xz", up="y")
    begin, busy = time.perf_counter(), time.process_time()
    navmesh = NavMesh.build(mesh, AGENT, tile_size=48, workers=workers)
    facts = {
        "polygons": navmesh.num_polygons,
        "ratio": navmesh.num_polygons / RECAST_POLYGONS["city"],
        "seconds": time.perf_counter() - begin,
        "processor_seconds": time.process_time() - busy,
        "recast_seconds": RECAST_CITY_SECONDS,
        # Kilobytes on Linux; of the whole process, with the triangles and Python itself.
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }
    points = navmesh.random_points(200_000)
    navmesh.locate(points[:2])
    begin = time.perf_counter()
    if (navmesh.locate(points) < 0).any():
        raise WrongAnswerError("a point of the mesh was not found on it")
    facts["locate_us"] = (time.perf_counter() - begin) / len(points) * 1e6
    facts |= _unreachable(navmesh) | _rebuilds(navmesh, mesh)
    return navmesh, facts


def _unreachable(navmesh: NavMesh) -> dict[str, float]:
    """Microseconds for a goal on another island."""
    points = navmesh.random_points(2000, seed=3)
    labels = navmesh.components[navmesh.locate(points)]
    queries = [(a, b) for a, b, x, y in zip(points, points[1:], labels, labels[1:], strict=False) if x != y][:500]
    begin = time.perf_counter()
    if any(navmesh.path(a, b) for a, b in queries):
        raise WrongAnswerError("there is a path to another island")
    return {"unreachable_us": (time.perf_counter() - begin) / len(queries) * 1e6}


def _rebuilds(navmesh: NavMesh, mesh: Mesh) -> dict[str, float]:
    """Milliseconds to rebuild where a block is put into the city and taken away, and the first query after that."""
    vertices, components = navmesh.vertices, navmesh.components
    start, goal = navmesh.random_points(2, seed=7, component=int(np.bincount(navmesh.components).argmax()))
    rebuilds, queries = [], []
    for place in navmesh.random_points(6, seed=11):
        low, high = place - np.array([0.8, 0.8, 1.0]), place + np.array([0.8, 0.8, 3.0])
        for changed in (_with_block(mesh, low, high), mesh):
            navmesh.path(start, goal, exact=False)
            begin = time.perf_counter()
            navmesh.rebuild([low, high], changed)
            rebuilds.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            navmesh.path(start, goal, exact=False)
            queries.append(time.perf_counter() - begin)
    if not np.array_equal(vertices, navmesh.vertices) or not np.array_equal(components, navmesh.components):
        raise WrongAnswerError("the mesh is not what it was before a block was put in and taken away")
    begin = time.perf_counter()
    navmesh.path(start, goal, exact=False)
    again = time.perf_counter() - begin
    names = ("rebuild_ms", "rebuild_worst_ms", "query_after_rebuild_ms", "same_query_again_ms")
    # The first two rebuilds compile and touch fresh memory.
    values = (np.median(rebuilds[2:]), np.max(rebuilds[2:]), np.median(queries[2:]), again)
    return {name: float(value) * 1e3 for name, value in zip(names, values, strict=True)}


def _with_block(mesh: Mesh, low: NDArray[Any], high: NDArray[Any]) -> Mesh:
    """The mesh with a closed block in it."""
    corners = np.array([[x, y, z] for z in (low[2], high[2]) for y in (low[1], high[1]) for x in (low[0], high[0])])
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (1, 3, 7, 5), (3, 2, 6, 7), (2, 0, 4, 6)]
    faces = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]) + len(mesh.vertices)
    return Mesh(np.concatenate([mesh.vertices, corners]), np.concatenate([mesh.triangles, faces]))


def pairs(data: Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Starts and goals of the 100 pairs, z up."""
    with open(data / "city/detour_pairs100.csv", encoding="utf-8") as lines:
        rows = [[float(row[name]) for name in ("sx", "sy", "sz", "ex", "ey", "ez")] for row in csv.DictReader(lines)]
    table = np.array(rows)
    starts, goals = (np.column_stack([part[:, 0], -part[:, 2], part[:, 1]]) for part in (table[:, :3], table[:, 3:]))
    return starts, goals


def city_paths(
    navmesh: NavMesh, data: Path, *, rounds: int = 3, progress: Callable[[str], None] | None = None
) -> Comparison:
    """Corridors with funnel, exact paths, and A* on Recast's polygon graph, on the 100 pairs."""
    starts, goals = pairs(data)
    task = peers.city(data)
    ends = list(zip(task.starts.tolist(), task.goals.tolist(), strict=True))
    lengths: dict[str, float] = {}

    def check(name: str, answer: Any) -> None:
        if not np.isfinite(answer).all():
            raise WrongAnswerError(f"{name} found no path for pair {int(np.argmin(np.isfinite(answer)))}")
        lengths[name] = float(np.mean(answer))
        if name == "exact" and lengths[name] > lengths["corridor and funnel"] + 1e-9:
            raise WrongAnswerError("exact paths are longer than those of the funnel")

    contenders = [
        Contender("A* on Recast's polygon graph", lambda: [task.graph.path(a, b).cost for a, b in ends], len(ends)),
        Contender("corridor and funnel", lambda: _lengths(navmesh, starts, goals, exact=False), len(starts)),
        Contender("exact", lambda: _lengths(navmesh, starts, goals, exact=True), len(starts)),
    ]
    result = compare("city, 100 pairs", contenders, check, rounds=rounds, progress=progress)
    result.facts.update(lengths, detour_mean_length=DETOUR_MEAN_LENGTH, detour_ms=DETOUR_MS)
    return result


def _lengths(navmesh: NavMesh, starts: NDArray[Any], goals: NDArray[Any], *, exact: bool) -> list[float]:
    return [navmesh.path(a, b, exact=exact).length for a, b in zip(starts, goals, strict=True)]


def any_angle(data: Path, *, rounds: int = 3, progress: Callable[[str], None] | None = None) -> Comparison:
    """Exact paths for every pair of aurora, against the listed grid lengths; the corridor search beside it."""
    navmesh = NavMesh.read(data / "polyanya/v2-aurora-merged.mesh")
    rows = load_scen(data / "polyanya/aurora.scen")
    starts, goals = rows.starts[:, :2] + 0.5, rows.goals[:, :2] + 0.5

    def check(name: str, answer: Any) -> None:
        if name == "exact" and (np.asarray(answer) > rows.lengths * (1 + 1e-5) + 1e-5).any():
            raise WrongAnswerError("an exact path is longer than the listed grid path")

    contenders = [
        Contender("exact", lambda: _lengths(navmesh, starts, goals, exact=True), len(rows)),
        Contender("corridor and funnel", lambda: _lengths(navmesh, starts, goals, exact=False), len(rows)),
    ]
    return compare("aurora, all pairs", contenders, check, rounds=rounds, progress=progress)
