"""`info` and `path` on waypoint graphs and subregion graphs."""

from __future__ import annotations

import time
from pathlib import Path as File
from typing import Any

import typer

from wayfold.agent import Motion, parse_motions
from wayfold.cli.output import parse_point, print_facts, print_json, print_no_way, print_picture
from wayfold.core.text import is_whole
from wayfold.subregions import SubregionGraph
from wayfold.view import pictures
from wayfold.view import waypoints as view
from wayfold.waypoints import WaypointGraph

SETS = {"S": 1, "S+A": 3, "S+V": 5, "S+A+V": 7}
"""The paper's sets of motions."""


def describe(thing: WaypointGraph | SubregionGraph) -> dict[str, Any]:
    """Facts of a waypoint graph, with the counts of the paper's Table 1, or of a subregion graph."""
    if isinstance(thing, SubregionGraph):
        return {
            "kind": "subregion graph",
            "motions": names(thing.motions),
            "cost": thing.cost,
            "seed": thing.seed,
            "subregions": thing.num_subregions,
            "connections": thing.num_connections,
            "waypoints": len(thing.labels),
            "bytes": thing.nbytes,
            "bytes_per_label": thing.labels.itemsize,
        }
    facts: dict[str, Any] = {
        "kind": "waypoint graph",
        "regions": thing.num_regions if thing.layout.shape is None else " x ".join(map(str, thing.layout.shape)),
        "waypoints": thing.num_waypoints,
        "boundary_waypoints": int(thing.is_boundary.sum()),
        "edges": thing.num_edges,
        "bytes": thing.nbytes,
    }
    kinds = thing.graph.motions
    for motion in Motion:
        count = thing.num_edges if kinds is None else int(((kinds & int(motion)) > 0).sum()) // 2
        facts[f"{str(motion.name).lower()}_edges"] = count
    for name, motions in SETS.items():
        subregions = SubregionGraph.build(thing, motions)
        facts[f"subregions_{name}"] = subregions.num_subregions
        facts[f"connections_{name}"] = subregions.num_connections
    return facts


def names(motions: Motion) -> str:
    """Write motions as the command line accepts them."""
    return "+".join(str(motion.name).lower() for motion in Motion if motion in motions)


def path(
    file: File,
    world: WaypointGraph,
    start: str,
    goal: str,
    smooth: bool,
    budget: int | None,
    motions: str | None,
    picture: File | None,
    json: bool,
) -> None:
    """Plan one path through subregions, beside plain A*, and say what each took."""
    kinds = world.default_motions if motions is None else parse_motions(motions)
    a, b = (_place(text, name) for text, name in ((start, "START"), (goal, "GOAL")))
    subregions = SubregionGraph.build(world, kinds)
    subregions.path(a, b, budget=budget)  # compiles, so that the time below is that of a query
    world.path(a, b, motions=kinds)
    begin = time.perf_counter()
    found = subregions.path(a, b, budget=budget)
    middle = time.perf_counter()
    flat = world.path(a, b, motions=kinds)
    end = time.perf_counter()
    facts = {
        "status": found.status.name,
        "motions": names(kinds),
        "length": found.length,
        "length_of_plain_a_star": flat.length,
        "settled_waypoints": found.expanded,
        "settled_by_plain_a_star": flat.expanded,
        "milliseconds": (middle - begin) * 1e3,
        "milliseconds_of_plain_a_star": (end - middle) * 1e3,
    }
    if smooth and found:
        found = found.smooth()
        facts["smooth_length"] = found.length
    if picture is not None:
        pictures.save(view.draw_planning(subregions, found), picture)
    if json:
        print_json({**facts, "points": found.points, "nodes": found.nodes})
    else:
        print_facts(f"{file}: {start} to {goal}", facts)
        print_no_way(found)
        print_picture(picture)
    if not found.points.size:
        raise typer.Exit(1)


def _place(text: str, name: str) -> Any:
    if is_whole(text.removeprefix("-")):
        return int(text)
    return parse_point(text, f"{name} (a waypoint number or a point)")
