"""`wayfold path`: what is asked of each kind of map, and the answer as a table, JSON or a picture."""

from __future__ import annotations

import time
from pathlib import Path as File
from typing import Any, NamedTuple

import typer

from wayfold import load
from wayfold.agent import parse_motions
from wayfold.cli import journey, waypoints
from wayfold.cli.output import (
    check_writable,
    parse_point,
    parse_weights,
    print_facts,
    print_json,
    print_no_way,
    print_picture,
)
from wayfold.errors import ParameterError
from wayfold.floorplan import Decomposition
from wayfold.graph import Graph
from wayfold.grid import DenseGrid, SparseGrid
from wayfold.hierarchy import Hierarchy
from wayfold.navmesh import NavMesh
from wayfold.path import Path
from wayfold.terrain import Terrain
from wayfold.terrain.terrain import GRAPHS
from wayfold.view import pictures
from wayfold.waypoints import VoxelWaypoints, WaypointGraph


class Settings(NamedTuple):
    """The options of the command, as they were given."""

    smooth: bool
    budget: int | None
    partial: bool
    algorithm: str
    motions: str | None
    level: int | None
    exact: bool
    terrain: dict[str, Any]

    def given(self) -> set[str]:
        """Names of the options that were given, but for `smooth`, which every map answers in its own way."""
        names = {"budget": self.budget, "motions": self.motions, "level": self.level, **self.terrain}
        found = {f"--{name}" for name, value in names.items() if value is not None}
        flags = {"--partial": self.partial, "--exact": self.exact, "--algorithm": self.algorithm != "astar"}
        return found | {name for name, value in flags.items() if value}


# The options that mean something for each kind of map.
_OPTIONS: dict[type, set[str]] = {
    Hierarchy: {"--level"},
    Graph: {"--budget", "--partial", "--algorithm", "--motions"},
    NavMesh: {"--budget", "--algorithm"},
    Decomposition: {"--exact"},
    SparseGrid: {"--budget", "--partial", "--exact"},
    DenseGrid: {"--budget", "--partial"},
    WaypointGraph: {"--budget", "--motions"},
    VoxelWaypoints: {"--budget", "--motions"},
    Terrain: {"--radius", "--weights", "--graph", "--epsilon", "--cell"},
}


def run(
    file: File,
    start: str,
    goal: str,
    settings: Settings,
    level: journey.Options,
    picture: File | None,
    json: bool,
) -> None:
    """Plan one path and report it."""
    if picture is not None:
        check_writable(picture, (".png", ".svg", ".pdf"))
    if journey.is_level(file):
        wrong = settings.given() - {"--exact"}
        if wrong:
            raise ParameterError(f"{', '.join(sorted(wrong))} is not for a level: build a map from {file} for that")
        ends = parse_point(start, "START"), parse_point(goal, "GOAL")
        journey.run(file, *ends, level, exact=settings.exact, smooth=settings.smooth, picture=picture, json=json)
        return
    if level.given():
        raise ParameterError(f"{', '.join(sorted(level.given()))} is for level files such as .obj, not for {file}")
    world = _open(file)
    if type(world) not in _OPTIONS:
        raise ParameterError(f"{file} holds a {type(world).__name__}, on which this command cannot plan")
    wrong = settings.given() - _OPTIONS[type(world)]
    if wrong:
        raise ParameterError(f"{', '.join(sorted(wrong))} is not for a {type(world).__name__}, which {file} holds")
    if isinstance(world, WaypointGraph):
        waypoints.path(file, world, start, goal, settings.smooth, settings.budget, settings.motions, picture, json)
        return
    if isinstance(world, Terrain):
        _over_terrain(world, file, start, goal, settings, picture, json)
        return
    a, b, options = _query(world, start, goal, settings)
    world.path(a, b, **options)  # compiles and finds components, so that the time below is that of a query
    begin = time.perf_counter()
    path = world.path(a, b, **options)
    took = time.perf_counter() - begin
    if settings.smooth and path and not isinstance(world, (NavMesh, Decomposition)):
        path = path.smooth()
    if picture is not None:
        pictures.save(pictures.draw_path(world, path), picture)
    facts = _facts(path, took)
    if json:
        print_json({**facts, "points": path.points, "nodes": path.nodes})
    else:
        print_facts(f"{file}: {start} to {goal}", facts)
        print_no_way(path)
        print_picture(picture)
    if not path.points.size:
        raise typer.Exit(1)


def _open(file: File) -> Any:
    name = file.name.lower()
    if name.endswith(".map"):
        return DenseGrid.from_movingai(file)
    return NavMesh.read(file) if name.endswith(".mesh") else load(file)


def _query(world: Any, start: str, goal: str, settings: Settings) -> tuple[Any, Any, dict[str, Any]]:
    """Start, goal and options of `world.path`."""
    options: dict[str, Any] = {"budget": settings.budget, "partial": settings.partial}
    if isinstance(world, Hierarchy):
        return _node(world.graph, start, "START"), _node(world.graph, goal, "GOAL"), {"level": settings.level}
    if isinstance(world, Graph):
        motions = None if settings.motions is None else parse_motions(settings.motions)
        options |= {"algorithm": settings.algorithm, "motions": motions}
        return _node(world, start, "START"), _node(world, goal, "GOAL"), options
    if isinstance(world, NavMesh):
        if settings.algorithm not in ("astar", "funnel"):
            raise ParameterError(f"a navigation mesh takes --algorithm funnel, not {settings.algorithm}")
        options = {"budget": settings.budget, "optimal": settings.algorithm != "funnel"}
    elif isinstance(world, Decomposition):
        options = {"smooth": settings.smooth, "optimal": settings.exact}
    elif isinstance(world, SparseGrid):
        cells = settings.exact or settings.partial or settings.budget is not None
        options = {"abstract": False, **options} if cells else {}
    return parse_point(start, "START"), parse_point(goal, "GOAL"), options


def _over_terrain(
    world: Terrain, file: File, start: str, goal: str, settings: Settings, picture: File | None, json: bool
) -> None:
    """Plan one path over a terrain, or one with each graph, and report it."""
    given = settings.terrain
    world = world.with_weights(parse_weights(given["weights"]))
    a, b = parse_point(start, "START"), parse_point(goal, "GOAL")
    options = {name: given[name] for name in ("radius", "epsilon", "cell") if given[name] is not None}
    graphs = GRAPHS if given["graph"] == "all" else (given["graph"] or "refined",)
    paths, facts = {}, {}
    for graph in graphs:
        world.path(a, b, graph=graph, **options)  # compiles and builds, so that the time below is that of a query
        begin = time.perf_counter()
        path = paths[graph] = world.path(a, b, graph=graph, **options)
        facts[graph] = _facts(path, time.perf_counter() - begin)
    best = min(paths.values(), key=lambda path: path.cost)
    bound = best.lower_bound
    if picture is not None:
        from wayfold.view.terrain import draw_terrain

        pictures.save(draw_terrain(world, paths), picture)
    if json:
        found: dict[str, Any] = {graph: {**facts[graph], "points": paths[graph].points} for graph in graphs}
        print_json({**(found if len(graphs) > 1 else found[graphs[0]]), "lower_bound": bound})
    else:
        for graph in graphs:
            print_facts(f"{file}: {start} to {goal}, {graph}", facts[graph])
        if bound:
            print(f"at most {100 * (best.cost / bound - 1):.2g} % over the optimum, which costs at least {bound:.6g}")
        print_no_way(best)
        print_picture(picture)
    if not best:
        raise typer.Exit(1)


def _node(graph: Graph, text: str, name: str) -> int:
    if text.lstrip("-").isdigit():
        return int(text)
    return int(graph.nearest(parse_point(text, f"{name} (a node number or a point)")))


def _facts(path: Path, took: float) -> dict[str, Any]:
    return {
        "status": path.status.name,
        "length": path.length,
        "cost": path.cost,
        "corners": len(path.points),
        "settled_nodes": path.expanded,
        "milliseconds": took * 1e3,
    }
