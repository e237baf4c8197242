"""How a planner is made: its map and accelerator from the cache, or built and kept there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import Agent, Motion
from wayfold.core import checks
from wayfold.core.locks import ReadersWriter
from wayfold.core.progress import Progress
from wayfold.errors import GeometryError, ParameterError
from wayfold.geometry import Mesh
from wayfold.grid import SparseGrid
from wayfold.grid.agent_map import CellMap
from wayfold.hierarchy import Hierarchy
from wayfold.map import AgentMap
from wayfold.navmesh import NavMesh
from wayfold.subregions import SubregionGraph
from wayfold.terrain.agent_map import TerrainMap
from wayfold.waypoints import VoxelWaypoints, WaypointGraph
from wayfold.world.cache import Cache, key_of
from wayfold.world.choice import Choice, grid_settings, navmesh_settings, waypoint_settings
from wayfold.world.planner import Notes, Planner
from wayfold.world.roaming import RoamingMap
from wayfold.world.sources import Source
from wayfold.world.voxels import VoxelMap
from wayfold.world.walking import WalkingMap, WalkingSource, accelerate

_WALKABLE = 1
_ROUTE_OPTIONS = ("graph", "search", "epsilon", "cell", "nodes", "steps", "radius")


class PlannerRequest(NamedTuple):
    """What a planner is made from and for."""

    source: Source
    agent: Agent
    chosen: Choice
    costs: dict[str, float]
    settings: dict[str, Any]
    closed: Sequence[str]
    cache: Cache
    lock: ReadersWriter
    progress: Progress | None


def build(request: PlannerRequest) -> Planner:
    """A planner for the world as it is without edits."""
    chosen = request.chosen
    if request.costs and chosen.map not in ("navmesh", "terrain"):
        raise ParameterError(
            f"costs by name are for navigation meshes and terrains, not for {checks.shown(chosen.map)}"
        )
    notes = Notes(chosen.why_map, chosen.why_accelerator)
    built = _BUILDERS[chosen.map](request, notes)
    return Planner(built.agent, chosen.map, chosen.accelerator, notes, request.lock, built)


def _walking(request: PlannerRequest, notes: Notes) -> AgentMap:
    source, agent, chosen, costs, settings, closed, cache, _, progress = request
    mesh = source.mesh
    assert mesh is not None
    notes.settings = navmesh_settings(mesh, agent, settings)
    areas, rates = areas_and_rates(mesh, costs, closed)
    key = key_of(source.content, agent=asdict(agent), kinds=sorted(costs), closed=closed, **notes.settings)
    navmesh = _cached(cache, key, "navmesh", NavMesh, notes)
    if navmesh is None:
        navmesh = NavMesh.build(mesh, agent, areas=areas, progress=progress, **notes.settings)
        cache.put(key, "navmesh", navmesh)
    key = key_of(key, costs=costs, accelerator=chosen.accelerator)
    walked = WalkingSource(mesh, areas, rates, chosen.accelerator)
    now = WalkingMap(agent, walked, navmesh)
    fast = cache.get(key, "hierarchy", Hierarchy) if chosen.accelerator == "hierarchy" else None
    if fast is None:
        fast = accelerate(now.graph, chosen.accelerator, progress=progress)
        if isinstance(fast, Hierarchy):
            cache.put(key, "hierarchy", fast)
    return WalkingMap(agent, walked, navmesh, fast)


def _roaming(request: PlannerRequest, notes: Notes) -> AgentMap:
    source, agent, chosen, _, settings, closed, cache, _, progress = request
    mesh = source.mesh
    assert mesh is not None
    notes.settings = waypoint_settings(mesh, agent, settings)
    key = key_of(source.content, agent=asdict(agent), closed=closed, **notes.settings)
    waypoints = _cached(cache, key, "waypoints", WaypointGraph, notes)
    if waypoints is None:
        # A flyer cannot enter water, others cannot walk on it.
        around = mesh if agent.motions == Motion.VOLUMETRIC else mesh.without(*closed)
        shut = None if around is mesh else closed_surface(mesh, closed)
        waypoints = WaypointGraph.build(
            around, agent, motions=agent.motions, closed=shut, progress=progress, **notes.settings
        )
        cache.put(key, "waypoints", waypoints)
    fast: Any
    if chosen.accelerator == "subregions":
        fast = SubregionGraph.build(waypoints, agent.motions)  # takes less time than reading it
    else:
        fast = accelerate(waypoints.graph, chosen.accelerator, int(agent.motions), progress)
    return RoamingMap(agent, waypoints, fast)


def _on_cells(request: PlannerRequest, notes: Notes) -> AgentMap:
    source, agent, chosen, _, settings, closed, cache, lock, progress = request
    notes.settings = grid_settings(source.mesh, agent, settings)
    if source.mesh is None:
        assert source.cells is not None
        notes.remarks.append("the world is made of cells: the agent's size does not count in it")
        y, x = np.nonzero(source.cells)
        grid = SparseGrid.from_cells(np.column_stack([x, y]), kinds=source.cells[y, x] - 1, **notes.settings)
        return CellMap(agent, grid, source.cells, chosen.accelerator != "none", lock)
    notes.remarks.append("a cell is there where the agent can stand in its middle; costs are lengths seen from above")
    key = key_of(source.content, agent=asdict(agent), closed=closed, **notes.settings)
    found = _cached(cache, key, "sparse-grid", SparseGrid, notes)
    if found is None:
        found = SparseGrid.from_mesh(source.mesh.without(*closed), agent, progress=progress, **notes.settings)
        cache.put(key, "sparse-grid", found)
    if not found.num_cells:
        raise GeometryError("no cell fits this agent: use a smaller radius or smaller cells")
    return CellMap(agent, found, None, chosen.accelerator != "none", lock)


def _in_voxels(request: PlannerRequest, notes: Notes) -> AgentMap:
    agent, chosen, settings = request.agent, request.chosen, request.settings
    voxels = request.source.voxels
    assert voxels is not None
    for name in settings:
        if name != "region_size":
            raise ParameterError(f"a world of voxels has no setting {checks.shown(name)}: its only one is region_size")
    notes.settings = {"region_size": 16, **settings}
    notes.remarks.append("everybody flies through a world of voxels, as a point: size and motions do not count in it")
    waypoints = VoxelWaypoints.from_voxels(voxels, **notes.settings)
    return VoxelMap(replace(agent, motions=Motion.VOLUMETRIC), waypoints, voxels, chosen.accelerator)


def _over_terrain(request: PlannerRequest, notes: Notes) -> AgentMap:
    agent, terrain, costs, settings = request.agent, request.source.terrain, request.costs, request.settings
    assert terrain is not None
    for name in settings:
        if name not in _ROUTE_OPTIONS:
            raise ParameterError(
                f"a terrain has no setting {checks.shown(name)}: choose from {', '.join(_ROUTE_OPTIONS)}"
            )
    notes.settings = {"graph": "refined", "radius": agent.radius, **settings}
    notes.remarks.append("the agent is a disc; heights of points and shapes do not count")
    ground = terrain.with_weights(costs) if costs else terrain
    made = TerrainMap(agent, ground, notes.settings)
    made.keep()
    return made


_BUILDERS: dict[str, Callable[[PlannerRequest, Notes], AgentMap]] = {
    "navmesh": _walking,
    "waypoints": _roaming,
    "sparse-grid": _on_cells,
    "voxels": _in_voxels,
    "terrain": _over_terrain,
}


def closed_surface(mesh: Mesh, closed: Sequence[str]) -> Mesh | None:
    """The triangles of materials that nobody enters, None where there are none."""
    if mesh.materials is None:
        return None
    shut = np.isin(mesh.materials, [at for at, name in enumerate(mesh.material_names) if name in closed])
    return Mesh(mesh.vertices, mesh.triangles[shut]) if shut.any() else None


def areas_and_rates(
    mesh: Mesh, costs: dict[str, float], closed: Sequence[str]
) -> tuple[NDArray[np.uint8] | None, dict[int, float]]:
    """Kinds of area of the triangles, None for one kind everywhere, and what a metre costs in each."""
    shut = [name for name in closed if name in mesh.material_names]
    for name in costs:
        if name not in mesh.material_names:
            known = ", ".join(mesh.material_names) or "none"
            raise ParameterError(f"the mesh has no material {checks.shown(name)}: it has {known}")
    if mesh.materials is None or not (shut or costs):
        return None, {}
    by_material = np.full(max(int(mesh.materials.max()) + 1, len(mesh.material_names)), _WALKABLE, np.uint8)
    rates = {}
    for at, name in enumerate(sorted(costs)):
        rates[2 + at] = float(costs[name])
        by_material[mesh.material_names.index(name)] = 2 + at
    for name in shut:
        if name not in costs:
            by_material[mesh.material_names.index(name)] = 0
    return by_material[mesh.materials], rates


def _cached(cache: Cache, key: str, kind: str, of: Any, notes: Notes) -> Any:
    """What the cache has, noted."""
    found = cache.get(key, kind, of)
    if found is not None:
        notes.cached = str(cache.file(key, kind))
    return found
