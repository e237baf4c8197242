"""`wayfold path` on a level file: a `World`, one of its agents, and what is blocked."""

from __future__ import annotations

from pathlib import Path as File
from typing import Any, Literal, NamedTuple

import typer

from wayfold.agent import CHARACTERS, Agent
from wayfold.cli.output import print_facts, print_json, print_no_way, print_picture, progress
from wayfold.core.text import place
from wayfold.errors import GeometryError, OffMapError, ParameterError
from wayfold.path import Path
from wayfold.world import Box, Planner, World

LEVELS = (".obj", ".glb", ".gltf", ".stl", ".ply", ".bsp", ".json", ".cityjson", ".3dmap", ".geojson", ".gz", ".xz")
_TURNED = (".obj", ".stl", ".ply", ".glb", ".gltf")  # files that may have either axis up


class Options(NamedTuple):
    """Options of the command that are for levels only, as they were given."""

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


def is_level(file: File) -> bool:
    """Whether a file is a level that a world is opened from."""
    return file.name.lower().endswith(LEVELS) or str(file).startswith("sample:")


def agent_named(name: str | None) -> Agent:
    """One of the characters by name."""
    if name is not None and name not in CHARACTERS:
        raise ParameterError(f"unknown agent {name!r}: choose from {', '.join(CHARACTERS)}")
    return CHARACTERS[name or "person"]


def parse_block(text: str) -> Box:
    """A box from "x0,y0,z0,x1,y1,z1"."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != 6:
        raise ParameterError(f"--block must be x0,y0,z0,x1,y1,z1, not {text!r}")
    return Box(numbers[:3], numbers[3:])


def run(
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
    agent = agent_named(options.agent)
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
    """What to try when a level that nobody said the axis of is higher than it is deep."""
    if options.up is not None or world.mesh is None or str(file).startswith("sample:"):
        return ""
    _, depth, height = world.bounds[1] - world.bounds[0]
    if height <= depth or not any(ending in file.name.lower() for ending in _TURNED):
        return ""
    other = "z" if any(ending in file.name.lower() for ending in (".glb", ".gltf")) else "y"
    return f"; is the level {other}-up? give --up {other}"


def _draw(world: World, planner: Planner, path: Path, picture: File) -> None:
    from wayfold.view import oblique, pictures

    if world.mesh is None:
        pictures.save(pictures.draw_path(planner.map, path), picture)
        return
    draped = Path(path.status, planner.drape(path), cost=path.cost) if path else path
    solids = [shape.mesh() for shape in world.blocks]
    pictures.save(oblique.draw_characters(world.mesh, {world.name: draped}, solids=solids), picture)
