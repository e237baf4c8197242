"""Choose the map, the accelerator and the resolution for an agent; each choice comes with its reason."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, Literal, NamedTuple, get_args

from wayfold.agent import Agent, Motion
from wayfold.core import checks
from wayfold.errors import ParameterError
from wayfold.geometry import Mesh
from wayfold.navmesh.pipeline import Settings

MapName = Literal["navmesh", "waypoints", "sparse-grid", "terrain", "voxels"]
ACCELERATORS: dict[str, tuple[str, ...]] = {
    "navmesh": ("hierarchy", "subregions", "none"),
    "waypoints": ("subregions", "hierarchy", "none"),
    "voxels": ("subregions", "none"),
    "sparse-grid": ("regions", "none"),
    "terrain": ("none",),
}
"""Accelerators of each map; the first is the default."""
_TILE = 128
"""Columns of a tile: an edit builds whole tiles again, so they are smaller than for a world that stays as it is."""
_MAX_BULGE = 0.5
"""Cells that a rim may reach over the voxels': with more, bodies would come nearer to walls than their radius."""
_MOST_COLUMNS = 1 << 26
"""Columns of a navigation mesh up to which a cell is half the agent's radius."""
_MOST_PARTS = 8
"""Cells to a radius at most, however steep the ground may be."""
_NAVMESH_OPTIONS = (*(field.name for field in fields(Settings)), "keep")
_WAYPOINT_OPTIONS = ("region_size",)


class Choice(NamedTuple):
    """A map and an accelerator, and why."""

    map: str
    why_map: str
    accelerator: str
    why_accelerator: str


_WHY = {
    "hierarchy": "exact search through levels of parts, whose cost hardly grows with the world (Fuentes 2015)",
    "subregions": "two-level planning by subregions, for any set of motions (Wardhana et al. 2015)",
    "regions": "an abstract graph of regions that edits keep up to date (Sturtevant 2011)",
    "none": "plain A* on the map",
}


def choose(source: str, agent: Agent, map: str, accelerator: str) -> Choice:
    """The map and accelerator for an agent in a world made of `source`: "mesh", "cells", "voxels" or "terrain"."""
    checks.text(map, "map")
    checks.text(accelerator, "accelerator")
    name, why = (map, "asked for") if map != "auto" else _usual(source, agent)
    if name not in get_args(MapName):
        raise ParameterError(f"unknown map {checks.shown(name)}: choose from {', '.join(get_args(MapName))}")
    possible = {"mesh": ("navmesh", "waypoints", "sparse-grid"), "cells": ("sparse-grid",)}.get(source, (source,))
    if name not in possible:
        raise ParameterError(f"a world of {source} has no {checks.shown(name)}: choose from {', '.join(possible)}")
    if name == "navmesh" and agent.motions != Motion.SURFACE:
        raise ParameterError("a navigation mesh is for agents that only walk: use map='waypoints' for this one")
    if name == "sparse-grid" and source == "mesh" and agent.motions != Motion.SURFACE:
        raise ParameterError("a sparse grid of a mesh is for agents that only walk: use map='waypoints' for this one")
    if name == "sparse-grid" and source == "mesh" and 2 * agent.radius > agent.height:
        raise ParameterError("a sparse grid of a mesh is for agents that are taller than wide: use map='navmesh'")
    fast, why_fast = accelerator, "asked for"
    if fast == "auto":
        fast = ACCELERATORS[name][0]
        why_fast = _WHY[fast]
    if fast not in ACCELERATORS[name]:
        raise ParameterError(
            f"{checks.shown(name)} has no accelerator {checks.shown(fast)}: choose from {', '.join(ACCELERATORS[name])}"
        )
    return Choice(name, why, fast, why_fast)


def _usual(source: str, agent: Agent) -> tuple[str, str]:
    if source == "cells":
        return "sparse-grid", "a world of cells that may change: edits take well below a millisecond (Sturtevant 2011)"
    if source == "voxels":
        return "voxels", "a world of voxels: its free space is cut into boxes for flyers (Wardhana et al. 2015)"
    if source == "terrain":
        return "terrain", "weighted regions: cheapest routes that bend where the ground changes (Tibboel 2012)"
    if agent.motions == Motion.SURFACE:
        return "navmesh", "the agent only walks, so a navigation mesh of the ground is enough (Fuentes 2015)"
    ways = " and ".join(word for motion, word in _WAYS.items() if agent.motions & motion)
    return "waypoints", f"it {ways}, which takes waypoints with typed edges in space (Wardhana et al. 2015)"


_WAYS = {Motion.SURFACE: "walks", Motion.ADHESIVE: "climbs", Motion.VOLUMETRIC: "flies"}


def navmesh_settings(mesh: Mesh, agent: Agent, given: dict[str, Any]) -> dict[str, Any]:
    """Settings of a navigation mesh: cells that divide the radius evenly, so that voxels represent it exactly.

    Usually half of it, less where slopes are steep for its step, all of it in very large worlds.
    """
    for name in given:
        if name not in _NAVMESH_OPTIONS:
            raise ParameterError(
                f"a navigation mesh has no setting {name!r}: choose from {', '.join(_NAVMESH_OPTIONS)}"
            )
    parts = 2 if agent.radius > 0 else 1
    whole = agent.radius if agent.radius > 0 else agent.height / 8
    if agent.climb > 0 and agent.slope > 0:
        # On the steepest slope neighbouring columns must stay within half a step of each other.
        steepest = math.tan(math.radians(min(agent.slope, 89.0)))
        parts = max(parts, min(_MOST_PARTS, math.ceil(whole * steepest / (0.5 * agent.climb) - 1e-9)))
    width, depth, _ = (mesh.bounds[1] - mesh.bounds[0]).tolist()
    least = math.sqrt(width * depth / _MOST_COLUMNS)
    while parts > 1 and whole / parts < least:
        parts -= 1
    cell = max(whole / parts, least)
    height = agent.climb / 4 if agent.climb > 0 else cell / 2
    usual: dict[str, Any] = {"cell_size": cell, "cell_height": min(max(height, cell / 8), cell), "tile_size": _TILE}
    return {**usual, "max_bulge": _MAX_BULGE, **given}


_GRID_OPTIONS = ("sector_size", "successors", "trim", "merge", "effect_cost")
_MOST_CELLS = 1 << 24


def grid_settings(mesh: Mesh | None, agent: Agent, given: dict[str, Any]) -> dict[str, Any]:
    """Settings of a sparse grid: those that were given, and for a mesh the side of its cells.

    A cell is as wide as the agent's radius, but on the steepest slope neighbours must stay within a step.
    """
    known = _GRID_OPTIONS if mesh is None else (*_GRID_OPTIONS, "cell", "level")
    for name in given:
        if name not in known:
            raise ParameterError(
                f"a sparse grid has no setting {checks.shown(name)} here: choose from {', '.join(known)}"
            )
    if mesh is None:
        return given
    cell = agent.radius if agent.radius > 0 else agent.height / 4
    if agent.climb > 0 and agent.slope > 0:
        cell = min(cell, 0.75 * agent.climb / math.tan(math.radians(min(agent.slope, 89.0))))
    width, depth, _ = (mesh.bounds[1] - mesh.bounds[0]).tolist()
    return {"cell": max(cell, math.sqrt(width * depth / _MOST_CELLS)), **given}


def waypoint_settings(mesh: Mesh, agent: Agent, given: dict[str, Any]) -> dict[str, Any]:
    """The side of the regions, which decides how densely waypoints lie.

    125 radii (50 m for a person), but at least six regions along the longest side of a small level; never smaller than
    a body can move about in.
    """
    for name in given:
        if name not in _WAYPOINT_OPTIONS:
            raise ParameterError(
                f"waypoints have no setting {checks.shown(name)} here: choose from {', '.join(_WAYPOINT_OPTIONS)}"
            )
    longest = float((mesh.bounds[1] - mesh.bounds[0]).max())
    least = max(8.0 * agent.radius, 4.0 * agent.height)
    side = min(125.0 * agent.radius, longest / 6.0) if agent.radius > 0 else longest / 6.0
    return {"region_size": max(side, least), **given}
