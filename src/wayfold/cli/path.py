"""`wayfold path`: one path on any file, as a table, JSON or a picture."""

from __future__ import annotations

import time
from pathlib import Path as File
from typing import Any, Literal, NamedTuple

import typer

from wayfold import formats
from wayfold.agent import agent_named, parse_motions
from wayfold.cli import waypoints
from wayfold.cli.output import (
    check_other_file,
    check_writable,
    parse_point,
    parse_weights,
    print_facts,
    print_json,
    print_no_way,
    print_picture,
    progress,
)
from wayfold.core import checks
from wayfold.core.text import is_whole, place
from wayfold.errors import GeometryError, OffMapError, ParameterError
from wayfold.floorplan import Decomposition
from wayfold.formats import MovingAiMap, opening
from wayfold.graph import Graph
from wayfold.grid import DenseGrid, SparseGrid
from wayfold.hierarchy import Hierarchy
from wayfold.navmesh import NavMesh
from wayfold.path import Path
from wayfold.terrain import Terrain
from wayfold.terrain.terrain import GRAPHS
from wayfold.view import pictures
from wayfold.waypoints import VoxelWaypoints, WaypointGraph
from wayfold.world import Box, Planner, World

_TURNED = ("obj", "stl", "ply", "glb", "gltf")  # kinds of files that may have either axis up


class Options(NamedTuple):
    """The options of the command that apply to levels only."""

    agent: str | None
    up: Literal["y", "z"] | None
    map: str | None
    accelerator: str | None
    blocks: tuple[str, ...]
    explain: bool

    def given(self) -> set[str]:
        """Names of those that were given."""
        names = ("agent", "up", "map", "accelerator", "block", "explain")
        return {f"--{name}" for name, value in zip(names, self, strict=True) if value}


def is_level(kind: str) -> bool:
    """Whether a world is opened from this kind of file; a map of cells is searched as it is, for the shortest path."""
    return kind in ("sample", "geojson", "3dmap") or formats.KINDS[kind].is_mesh


def parse_block(text: str) -> Box:
    """A box from "x0,y0,z0,x1,y1,z1"."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != 6:
        raise ParameterError(f"--block must be x0,y0,z0,x1,y1,z1, not {text!r}")
    return Box(numbers[:3], numbers[3:])


def run_in_world(
    file: File,
    start: Any,
    goal: Any,
    options: Options,
    *,
    exact: bool,
    smooth: bool,
    picture: File | None,
    json: bool,
) -> None:
    """Open the level, plan one path and report it."""
    agent = agent_named(options.agent or "person")
    shapes = [parse_block(text) for text in options.blocks]
    world = World.open(str(file), up=options.up)
    try:
        with progress("building", None, json) as step:
            planner = world.planner(
                agent,
                map=options.map or "auto",
                accelerator=options.accelerator or "auto",
                progress=lambda what, done, total: step(f"{what}, {done} of {total}"),
            )
        for shape in shapes:
            world.block(shape)
        planner.path(start, goal)  # compiles, so that the time below is that of a query
        path = planner.path(start, goal, exact=exact)
    except OffMapError as error:
        low, high = (", ".join(f"{value:.5g}" for value in corner) for corner in world.bounds)
        bounds = "" if "reaches from" in str(error) else f"; the level reaches from ({low}) to ({high})"
        raise OffMapError(f"{error}{bounds}{_axis_hint(world, file, options)}") from None
    except GeometryError as error:
        raise GeometryError(f"{error}{_axis_hint(world, file, options)}") from None
    took = path.timings["total"]
    if smooth and path:
        path = path.smooth()
    if picture is not None:
        _draw(world, planner, path, picture)
    facts = {
        "status": path.status.name,
        "agent": options.agent or "person",
        "map": f"{planner.map_name} + {planner.accelerator_name}",
        "length": path.length,
        "cost": path.cost,
        "expanded": path.expanded,
        "ms": 1e3 * took,
    }
    if json:
        print_json({**facts, "why": path.why, "points": path.points, "explain": planner.explain().splitlines()})
    else:
        ends = (place(end).replace(", ", ",") for end in (start, goal))  # as they are given on the command line
        print_facts(f"{file}: {' to '.join(ends)}", facts)
        print_no_way(path, "for this agent" if options.explain else "for this agent: see --explain")
        if options.explain:
            print(planner.explain())
        print_picture(picture)
    if not path:
        raise typer.Exit(1)


def _axis_hint(world: World, file: File, options: Options) -> str:
    """A hint to give --up, for a level without it that is higher than deep."""
    if options.up is not None or world.mesh is None or str(file).startswith("sample:"):
        return ""
    _, depth, height = world.bounds[1] - world.bounds[0]
    kind = formats.sniff(file)
    if height <= depth or kind not in _TURNED:
        return ""
    other = "z" if kind in ("glb", "gltf") else "y"
    return f"; is the level {other}-up? give --up {other}"


def _draw(world: World, planner: Planner, path: Path, picture: File) -> None:
    from wayfold.view import oblique, pictures

    if world.mesh is None:
        pictures.save(pictures.draw_path(planner.map, path), picture)
        return
    draped = Path(path.status, planner.drape(path), cost=path.cost) if path else path
    solids = [shape.mesh() for shape in world.blocks]
    pictures.save(oblique.draw_characters(world.mesh, {world.name: draped}, solids=solids), picture)


class PathSettings(NamedTuple):
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
        """Names of the given options, except `smooth`, which every map accepts."""
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
    settings: PathSettings,
    level: Options,
    picture: File | None,
    json: bool,
) -> None:
    """Plan one path and report it."""
    if picture is not None:
        check_writable(picture, (".png", ".svg", ".pdf"))
        check_other_file(picture, str(file))
    kind = formats.sniff(file)
    if is_level(kind):
        wrong = settings.given() - {"--exact"}
        if wrong:
            raise ParameterError(f"{', '.join(sorted(wrong))} does not apply to a level: build a map from {file} first")
        ends = parse_point(start, "START"), parse_point(goal, "GOAL")
        run_in_world(file, *ends, level, exact=settings.exact, smooth=settings.smooth, picture=picture, json=json)
        return
    if level.given():
        names, title = ", ".join(sorted(level.given())), formats.KINDS[kind].title
        raise ParameterError(f"{names} applies to level files such as .obj, not to {file}, which holds {title}")
    world = opening.open(file)
    if isinstance(world, MovingAiMap):
        world = DenseGrid(world.kinds)
    if type(world) not in _OPTIONS:
        raise ParameterError(f"{file} holds {checks.a_type(world)}: wayfold path needs a level or a map to plan on")
    wrong = settings.given() - _OPTIONS[type(world)]
    if wrong:
        raise ParameterError(
            f"{', '.join(sorted(wrong))} does not apply to a {type(world).__name__}, which {file} holds"
        )
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


def _query(world: Any, start: str, goal: str, settings: PathSettings) -> tuple[Any, Any, dict[str, Any]]:
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
            raise ParameterError(f"--algorithm must be funnel on a navigation mesh, not {settings.algorithm}")
        options = {"budget": settings.budget, "exact": settings.algorithm != "funnel"}
    elif isinstance(world, Decomposition):
        options = {"smooth": settings.smooth, "exact": settings.exact}
    elif isinstance(world, SparseGrid):
        cells = settings.exact or settings.partial or settings.budget is not None
        options = {"exact": True, **options} if cells else {}
    return parse_point(start, "START"), parse_point(goal, "GOAL"), options


def _over_terrain(
    world: Terrain, file: File, start: str, goal: str, settings: PathSettings, picture: File | None, json: bool
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
    if is_whole(text.removeprefix("-")):
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
