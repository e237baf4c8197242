"""`wayfold build`: one builder for each kind of map."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from wayfold import formats, samples
from wayfold.agent import Agent, Motion, parse_motions
from wayfold.cli.info import describe, print_description
from wayfold.cli.output import (
    check_other_file,
    check_writable,
    parse_weights,
    print_json,
    print_picture,
    progress,
    sample_options,
)
from wayfold.core.text import is_whole
from wayfold.errors import ParameterError
from wayfold.floorplan import Building, Decomposition, FloorPlan
from wayfold.formats import Map3D, MovingAiMap, opening
from wayfold.geometry import Mesh
from wayfold.graph import Graph
from wayfold.grid import DenseGrid, SparseGrid
from wayfold.hierarchy import Hierarchy
from wayfold.navmesh import NavMesh
from wayfold.terrain import Terrain
from wayfold.waypoints import VoxelWaypoints, WaypointGraph

ACCELERATORS = ("hierarchy",)
_MESH_ENDINGS = (".obj", ".ply", ".stl", ".glb")
_WALKED = ("navmesh", "sparse-grid", "floorplan")
_PICTURES = (".png", ".svg", ".pdf")
_SUITABLE: dict[Any, str] = {
    (Mesh, samples.Plan): "navmesh, waypoints, sparse-grid, floorplan or terrain",
    samples.Scene: "terrain",
    list: "floorplan or terrain",
    DenseGrid: "dense-grid, sparse-grid, graph, floorplan or terrain",
    Map3D: "waypoints",
    NavMesh: "navmesh",
}
"""Maps that can be built from each kind of source."""


@dataclass(frozen=True)
class BuildRequest:
    """The options of the command; those not given are None."""

    source: str
    agent: Agent
    seed: int | None = None
    size: float | None = None
    up: Literal["y", "z"] | None = None
    accelerate: str | None = None
    merge: str = "8"
    levels: int = 4
    sector: int = 16
    cell: float | None = None
    cell_height: float = 0.2
    tile: int | None = None
    keep: str = "all"
    motions: str | None = None
    region_size: float = 50.0
    method: str | None = None
    plane: float | None = None
    weights: str | None = None
    default: float | None = None
    picture: Path | None = None
    quiet: bool = False

    @cached_property
    def kind(self) -> str:
        """What kind of file the source is; see `formats.sniff`."""
        return formats.sniff(self.source)

    @cached_property
    def world(self) -> Any:
        """The source, read: a mesh, a plan, a scene, a grid, or whatever else the file holds."""
        options = sample_options(self.source, self.seed, self.size)
        held = opening.open(self.source, up=self.up, **options)
        return DenseGrid(held.kinds) if isinstance(held, MovingAiMap) else held

    def wrong(self, wanted: str) -> ParameterError:
        """The error that the source is not what is wanted, with the maps that can be built from it."""
        title = "a sample" if self.kind == "sample" else formats.KINDS[self.kind].title
        maps = next((maps for kind, maps in _SUITABLE.items() if isinstance(self.world, kind)), "")
        choice = f"choose --map {maps}" if maps else "no map can be built from it"
        return ParameterError(f"{self.source} holds {title}, not {wanted}: {choice}")

    @property
    def mesh(self) -> Mesh:
        """The source as a mesh."""
        if isinstance(self.world, Mesh):
            return self.world
        if isinstance(self.world, samples.Plan):
            return self.world.mesh()
        raise self.wrong("a mesh")

    @property
    def grid(self) -> DenseGrid:
        """The source as a dense grid."""
        if isinstance(self.world, DenseGrid):
            return self.world
        if isinstance(self.world, samples.Plan) and self.world.cells is not None:
            return DenseGrid(self.world.cells)
        if isinstance(self.world, (Mesh, samples.Plan)):
            maps = "navmesh" if self.accelerate else "navmesh, waypoints, sparse-grid, floorplan or terrain"
            raise ParameterError(f"{self.source} is a mesh: choose --map {maps}")
        raise self.wrong("cells to build a grid from")


def run(request: BuildRequest, out: Path, map_kind: str | None, json: bool) -> None:
    """Build a map from a file or a sample, save it and describe it."""
    if request.accelerate is not None and request.accelerate not in ACCELERATORS:
        raise ParameterError(f"unknown accelerator {request.accelerate!r}: choose from {', '.join(ACCELERATORS)}")
    if map_kind is not None and map_kind not in MAPS:
        raise ParameterError(f"unknown map {map_kind!r}: choose from {', '.join(MAPS)}")
    if map_kind != "terrain" and (request.weights is not None or request.default is not None):
        raise ParameterError("--weights and --default need --map terrain")
    if map_kind != "floorplan" and (request.method or request.plane is not None or request.picture):
        raise ParameterError("--method, --plane and --picture need --map floorplan")
    if map_kind in _WALKED and Motion.SURFACE not in request.agent.motions:
        raise ParameterError(f"--map {map_kind} is for agents that walk: choose --map waypoints for this one")
    check_writable(out, (".wayfold", *_MESH_ENDINGS))
    if out.suffix.lower() in _MESH_ENDINGS and (map_kind or request.accelerate):
        asked = "--map" if map_kind else "--accelerate"
        raise ParameterError(f"{out} holds a mesh, not a map: leave {asked} out, or write to a .wayfold file")
    if request.picture is not None:
        check_writable(request.picture, _PICTURES)
    for file in filter(None, (out, request.picture)):
        check_other_file(file, request.source)
    begin = time.perf_counter()
    if out.suffix.lower() in _MESH_ENDINGS:
        formats.save_mesh(request.mesh, out)
    elif request.accelerate is not None:
        _hierarchy(request, map_kind).save(out)
    else:
        MAPS[map_kind or "dense-grid"](request).save(out)
    facts = {**describe(out), "seconds": time.perf_counter() - begin}
    if json:
        print_json(facts)
    else:
        print_description(f"{request.source} -> {out}", facts)
        print_picture(request.picture)


def _hierarchy(request: BuildRequest, map_kind: str | None) -> Hierarchy:
    if request.merge != "auto" and not is_whole(request.merge):
        raise ParameterError(f"--merge must be a whole number or auto, not {request.merge!r}")
    if map_kind == "navmesh":
        world: Any = _navmesh(request).graph
    else:
        world = request.world if isinstance(request.world, Graph) else request.grid
    with progress("levels", None, request.quiet) as step:
        return Hierarchy.build(
            world,
            merge="auto" if request.merge == "auto" else int(request.merge),
            levels=request.levels,
            progress=lambda what, done, total: step(f"{what}, level {done + 1} of {total}"),
        )


def _dense_grid(request: BuildRequest) -> DenseGrid:
    return request.grid


def _graph(request: BuildRequest) -> Graph:
    return request.grid.graph()[0]


def _sparse_grid(request: BuildRequest) -> SparseGrid:
    if request.kind == "map":
        return SparseGrid.from_movingai(request.source, request.sector)
    world = request.world
    if isinstance(world, Mesh) or (isinstance(world, samples.Plan) and world.cells is None):
        with progress("cells", None, request.quiet) as step:
            return SparseGrid.from_mesh(
                request.mesh,
                request.agent,
                request.cell or 0.5,
                request.sector,
                progress=lambda _, done, total: step(f"row {done} of {total}"),
            )
    kinds = request.grid.kinds
    rows, columns = kinds.nonzero()
    cells = list(zip(columns, rows, strict=True))
    return SparseGrid.from_cells(cells, request.sector, kinds=kinds[rows, columns] - 1)


def _navmesh(request: BuildRequest) -> NavMesh:
    if isinstance(request.world, NavMesh):
        return request.world
    with progress("building tiles", None, request.quiet) as step:
        return NavMesh.build(
            request.mesh,
            request.agent,
            cell_size=request.cell or 0.3,
            cell_height=request.cell_height,
            tile_size=request.tile,
            keep=request.keep,
            progress=lambda _, done, total: step(f"{done} of {total}"),
        )


def _floorplan(request: BuildRequest) -> Decomposition:
    """A floor plan of whatever has one, cut into regions; of a mesh without a plane all floors."""
    plan: FloorPlan | Building
    if request.kind == "map":
        plan = FloorPlan.from_movingai(request.source)
    elif request.kind == "geojson":
        plan = FloorPlan.from_geojson(request.source)
    elif isinstance(request.world, samples.Plan):
        plan = FloorPlan(request.world.boundary, request.world.obstacles)
    elif request.plane is not None:
        plan = FloorPlan.slice(request.mesh, request.plane, agent=request.agent)
    else:
        plan = Building.from_mesh(request.mesh, agent=request.agent)
    cut = plan.decompose(request.method or "deaccon")
    if request.picture is not None:
        from wayfold.view import pictures

        pictures.save(pictures.draw_path(cut), request.picture)
    return cut


def _terrain(request: BuildRequest) -> Terrain:
    """A terrain from a scene, GeoJSON, a MovingAI map or a mesh with materials."""
    weights, default = parse_weights(request.weights), request.default
    if request.kind == "geojson":
        return Terrain.from_geojson(request.source, weights=weights, default=default)
    if request.kind == "map":
        return Terrain.from_movingai(request.source, weights)
    if isinstance(request.world, samples.Scene):
        scene = request.world if default is None else replace(request.world, default=default)
        return Terrain.from_scene(scene).with_weights(weights)
    if not isinstance(request.world, Mesh):
        raise request.wrong("weighted regions or a mesh with materials")
    return Terrain.from_mesh(request.world, weights, default=1.0 if default is None else default)


def _waypoints(request: BuildRequest) -> WaypointGraph:
    if isinstance(request.world, Map3D):
        return VoxelWaypoints.from_voxels(request.world)
    with progress("waypoints", None, request.quiet) as step:
        return WaypointGraph.build(
            request.mesh,
            request.agent,
            region_size=request.region_size,
            motions=parse_motions(request.motions or "S+A+V"),
            progress=lambda _, done, total: step(f"region {done} of {total}"),
        )


MAPS: dict[str, Callable[[BuildRequest], Any]] = {
    "dense-grid": _dense_grid,
    "sparse-grid": _sparse_grid,
    "graph": _graph,
    "navmesh": _navmesh,
    "waypoints": _waypoints,
    "floorplan": _floorplan,
    "terrain": _terrain,
}
