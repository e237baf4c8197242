"""`wayfold path`."""

from __future__ import annotations

import time
from pathlib import Path as File
from typing import Any

import typer

from wayfold import load
from wayfold.agent import parse_motions
from wayfold.cli._output import check_writable, parse_point, print_facts, print_json
from wayfold.errors import ParameterError
from wayfold.graph import Graph
from wayfold.grid import DenseGrid, SparseGrid
from wayfold.hierarchy import Hierarchy
from wayfold.path import Path
from wayfold.view import pictures
from wayfold.view.hierarchy import draw_levels
from wayfold.view.sparse import draw_regions


def run(
    file: File,
    start: str,
    goal: str,
    smooth: bool,
    budget: int | None,
    partial: bool,
    algorithm: str,
    motions: str | None,
    picture: File | None,
    json: bool,
    *,
    level: int | None = None,
    exact: bool = False,
) -> None:
    """Plan one path and report it."""
    if picture is not None:
        check_writable(picture, (".png", ".svg", ".pdf"))
    world = DenseGrid.from_movingai(file) if file.name.lower().endswith(".map") else load(file)
    options: dict[str, Any] = {"budget": budget, "partial": partial}
    a: Any
    b: Any
    if isinstance(world, Hierarchy):
        if budget is not None or partial or motions is not None or algorithm != "astar":
            raise ParameterError("--budget, --partial, --motions and --algorithm are not for hierarchies")
        a, b = _node(world.graph, start, "START"), _node(world.graph, goal, "GOAL")
        options = {"level": level}
    elif level is not None:
        raise ParameterError("--level is for hierarchies: see wayfold build --accelerate hierarchy")
    elif isinstance(world, Graph):
        a, b = _node(world, start, "START"), _node(world, goal, "GOAL")
        options |= {"algorithm": algorithm, "motions": None if motions is None else parse_motions(motions)}
    else:
        if motions is not None or algorithm != "astar":
            raise ParameterError("--motions and --algorithm are for graphs; this is a grid")
        a, b = parse_point(start, "START"), parse_point(goal, "GOAL")
        if isinstance(world, SparseGrid):
            options = {"abstract": False, **options} if exact or partial or budget else {}
    if exact and not isinstance(world, SparseGrid):
        raise ParameterError("--exact is for sparse grids: every other search is exact as it is")
    world.path(a, b, **options)  # compiles and finds components, so that the time below is that of a query
    begin = time.perf_counter()
    path = world.path(a, b, **options)
    took = time.perf_counter() - begin
    if smooth:
        path = path.smooth()
    if picture is not None:
        pictures.save(_draw(world, path), picture)
    facts = _facts(path, took)
    if json:
        print_json({**facts, "points": path.points, "nodes": path.nodes})
    else:
        print_facts(f"{file}: {start} to {goal}", facts)
    if not path.points.size:
        raise typer.Exit(1)


def _draw(world: Any, path: Path) -> Any:
    if isinstance(world, Hierarchy):
        return draw_levels(world, path)
    return draw_regions(world, path) if isinstance(world, SparseGrid) else pictures.draw_path(world, path)


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
