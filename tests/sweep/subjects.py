"""Every public callable with arguments that are right, found from the signatures.

A class without an example here, or a parameter that has no good value, fails the sweep: a new name of the package
enters it by itself.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import tempfile

import numpy as np

import wayfold
from wayfold import Agent, Box, Mesh, Motion
from wayfold.path import Path

PACKAGES = (
    "agent", "path", "geometry", "geometry.polygon", "graph", "grid", "navmesh", "waypoints", "terrain", "floorplan",
    "subregions", "hierarchy", "samples", "formats", "world", "errors", "formats.load", "formats.opening",
    "core.warmup",
)  # fmt: skip

SQUARE = [(0.0, 0.0), (20.0, 0.0), (20.0, 20.0), (0.0, 20.0)]
HOLE = [(8.0, 8.0), (12.0, 8.0), (12.0, 12.0), (8.0, 12.0)]
HERE, THERE = (3.0, 3.0, 0.0), (16.0, 15.0, 0.0)
FLYER = Agent(radius=0.3, height=0.6, motions=Motion.VOLUMETRIC)


# --- small worlds, one of each kind --------------------------------------------------------------------------------


@functools.cache
def mesh():
    corners = np.array([(x, y, 0.0) for x, y in SQUARE])
    pillar = np.array([(9, 9, 0), (11, 9, 0), (10, 11, 0), (10, 10, 3)], float)
    vertices = np.concatenate([corners, pillar])
    triangles = [(0, 1, 2), (0, 2, 3), (4, 5, 7), (5, 6, 7), (6, 4, 7)]
    return Mesh(vertices, np.array(triangles), np.array([0, 1, 0, 0, 0]), ("ground", "grass"))


@functools.cache
def graph():
    points = [(x, y, 0.0) for y in range(4) for x in range(4)]
    edges = [(a, a + 1) for a in range(16) if a % 4 < 3] + [(a, a + 4) for a in range(12)]
    return wayfold.Graph.from_edges(points, edges, motions=[1 + a % 7 for a in range(len(edges))])


def navmesh():
    vertices = [(x, y) for y in range(3) for x in range(3)]
    polygons = [(0, 1, 4, 3), (1, 2, 5, 4), (3, 4, 7, 6), (4, 5, 8, 7)]
    result = wayfold.NavMesh.from_polygons(np.array(vertices, float) * 10.0, polygons, areas=[0, 1, 0, 2])
    result.add_link(HERE, THERE)
    return result


def built_navmesh():
    result = wayfold.NavMesh.build(mesh(), Agent(), tile_size=24)
    result.add_link(HERE, THERE)
    return result


@functools.cache
def plan():
    return wayfold.FloorPlan(SQUARE, [HOLE])


@functools.cache
def still_waypoints():
    return waypoints()


def waypoints():
    return wayfold.WaypointGraph.build(mesh(), FLYER, region_size=10.0)


_STANDING = Box((1, 14, -1), (3, 16, 3))


def world():
    made = wayfold.World.from_mesh(mesh(), cache=False)
    made.block(_STANDING)
    return made


def voxels():
    blocked = np.zeros((5, 5, 5), bool)
    blocked[2, 2] = True
    return blocked


def cells():
    return [(x, y, 0) for y in range(12) for x in range(12) if (x, y) != (5, 5)]


def moving_ai():
    return wayfold.formats.MovingAiMap(np.full((12, 12), ord("."), np.uint8))


def map3d():
    return wayfold.formats.Map3D(np.array([5, 5, 5], np.int32), np.argwhere(voxels()).astype(np.int32))


@functools.cache
def scene():
    return wayfold.samples.zigzag()


@functools.cache
def terrain():
    return wayfold.Terrain([(_shapely(HOLE), 3.0, "mud"), (_shapely(), 1.0, "grass")])


def scenarios():
    file = folder("s.scen")
    with open(file, "w") as handle:
        handle.write("version 1\n0\tm.map\t12\t12\t1\t1\t5\t6\t7.0\n")
    return wayfold.formats.load_scen(file)


def scenarios3d():
    line = np.array([[0, 0, 0]], np.int32)
    return wayfold.formats.Scenarios3D("m.3dmap", line, line + 1, np.array([1.7]), np.array([1.0]))


@functools.cache
def _folder():
    return tempfile.TemporaryDirectory(prefix="wayfold-sweep-")


def folder(name=""):
    return os.path.join(_folder().name, name)


@functools.cache
def saved(name):
    """A good file for a reader."""
    from tests.formats import samples
    from wayfold import formats

    makers = {
        "graph.wayfold": lambda file: graph().save(file),
        "m.map": lambda file: formats.save_map(np.ones((6, 6), bool), file),
        "m.3dmap": lambda file: formats.save_map3d(map3d(), file),
        "m.obj": lambda file: formats.save_mesh(mesh(), file),
        "m.geojson": lambda file: formats.save_geojson(
            [formats.Feature(_shapely(), {"role": "boundary", "name": "grass", "weight": 2.0})], file
        ),
        "s.scen": lambda file: scenarios(),
        "m.bsp": lambda file: _write(file, samples.bsp()),
        "m.city.json": lambda file: _write(file, samples.cityjson()),
        "s.3dscen": lambda file: formats.save_scen3d(scenarios3d(), file),
    }
    makers[name](folder(name))
    return folder(name)


def _write(file, content):
    with open(file, "wb") as handle:
        handle.write(content)


def _shapely(corners=SQUARE):
    import shapely

    return shapely.Polygon(corners)


def planner(kind):
    """A planner of each kind of map."""
    makers = {
        "navmesh": lambda: world().planner(),
        "waypoints": lambda: world().planner(FLYER),
        "sparse-grid": lambda: wayfold.World.from_map(moving_ai(), cache=False).planner(),
        "mesh-cells": lambda: world().planner(map="sparse-grid"),
        "voxels": lambda: wayfold.World.from_map(map3d(), cache=False).planner(FLYER),
        "terrain": lambda: wayfold.World.from_terrain(terrain(), cache=False).planner(),
    }
    return makers[kind]()


def ends(kind):
    return {"sparse-grid": ((1, 1), (10, 9)), "voxels": ((0, 0, 0), (4, 4, 4))}.get(kind, (HERE, THERE))


class Example:
    """An object of a public class: how it is made, and a question whose answer says whether it has changed."""

    def __init__(self, make, probe=None, changes=(), good=None):
        self.make, self.probe, self.changes, self.good = make, probe or (lambda thing: None), changes, good or {}


def _examples():
    """By label: the name of a class, with a variant in brackets."""
    from wayfold import floorplan, formats, geometry, hierarchy, samples, subregions

    found = {
        "Path": Example(lambda: _cell_path(), lambda path: path),
        "Paths": Example(lambda: graph().paths([0, 1], [15, 15]), list),
        "Agent": Example(Agent, lambda agent: agent.radius),
        "Mesh": Example(mesh, lambda mesh: mesh.vertices),
        "CityMesh": Example(lambda: formats.CityMesh(mesh().vertices, mesh().triangles)),
        "TriangleIndex": Example(lambda: geometry.TriangleIndex(mesh())),
        "Voxels": Example(lambda: geometry.voxelise(mesh(), 1.0), len),
        "Graph": Example(graph, lambda graph: graph.path(0, 15)),
        "Tree": Example(lambda: graph().tree(3), lambda tree: tree.path(0)),
        "DenseGrid": Example(lambda: wayfold.DenseGrid(np.ones((12, 12), np.uint8)), _cells_probe),
        "SparseGrid": Example(
            _sparse_grid,
            lambda grid: (grid.path((1, 1), (10, 9)), grid.num_cells, grid.num_regions, grid.effects([(3, 3)])),
            ("add", "remove", "add_effect", "remove_effect", "add_link", "remove_link", "reserve", "compact"),
        ),
        "NavMesh": Example(
            navmesh,
            lambda navmesh: (navmesh.path(HERE, THERE), navmesh.num_links, navmesh.num_polygons),
            ("add_link", "remove_link", "clear_links", "rebuild"),
        ),
        "NavMesh[built]": Example(
            built_navmesh,
            lambda navmesh: (navmesh.path(HERE, THERE), navmesh.num_links, navmesh.num_polygons),
            ("add_link", "remove_link", "clear_links", "rebuild"),
        ),
        "Settings": Example(lambda: wayfold.navmesh.Settings(), lambda settings: settings.cell_size),
        "WaypointGraph": Example(waypoints, _waypoint_probe, ("update", "splice", "trim")),
        "VoxelWaypoints": Example(_voxel_waypoints, _voxel_probe, ("update", "splice", "trim")),
        "Terrain": Example(terrain, lambda terrain: terrain.path(HERE[:2], THERE[:2])),
        "TerrainField": Example(lambda: terrain().field(THERE[:2]), lambda field: list(field.paths([HERE[:2]]))),
        "FloorPlan": Example(plan, lambda plan: plan.area),
        "Building": Example(lambda: floorplan.Building.from_mesh(mesh())),
        "Decomposition": Example(
            lambda: plan().decompose("deaccon"),
            lambda parts: (parts.path(HERE[:2], THERE[:2]), parts.num_regions),
            ("add_obstacle", "remove_obstacle"),
        ),
        "Decomposition[triangles]": Example(
            lambda: plan().decompose("hertel-mehlhorn"),
            lambda parts: (parts.path(HERE[:2], THERE[:2]), parts.num_regions),
            ("add_obstacle", "remove_obstacle"),
        ),
        "SubregionGraph": Example(
            lambda: subregions.SubregionGraph.build(still_waypoints(), FLYER.motions),
            lambda parts: (parts.path(HERE, THERE), parts.num_subregions),
            ("repair", "attach", "prepare_exact"),
        ),
        "Hierarchy": Example(
            lambda: hierarchy.Hierarchy.build(graph(), merge=3, levels=2),
            lambda levels: (levels.path(0, 15), levels.portals(1)),
            ("update", "customise", "refresh"),
        ),
        "Plan": Example(lambda: samples.rooms(1)),
        "Scene": Example(scene, lambda scene: scene.weights),
        "Map3D": Example(map3d),
        "MovingAiMap": Example(moving_ai),
        "Scenarios": Example(scenarios, lambda lines: lines.starts),
        "Scenarios3D": Example(scenarios3d, lambda lines: lines.starts),
        "World": Example(world, _world_probe, ("block", "unblock", "set_cost", "planner")),
        "Box": Example(lambda: Box((5, 5, -1), (7, 7, 3)), lambda box: box.bounds),
        "Prism": Example(lambda: wayfold.Prism(HOLE, 0.0, 1.0), lambda prism: prism.bounds),
    }
    for kind in ("navmesh", "waypoints", "sparse-grid", "mesh-cells", "voxels", "terrain"):
        start, goal = ends(kind)
        good = {
            "start": start, "goal": goal, "starts": [start], "goals": [goal], "point": start, "points": [start],
            "path": functools.partial(lambda kind, start, goal: _planner(kind).path(start, goal), kind, start, goal),
        }  # fmt: skip
        asked = functools.partial(lambda start, goal, planner: planner.path(start, goal), start, goal)
        found[f"Planner[{kind}]"] = Example(functools.partial(planner, kind), asked, (), good)
        field = functools.partial(lambda kind, goal: _planner(kind).field(goal), kind, goal)
        asked = functools.partial(lambda start, field: field.path(start), start)
        found[f"Field[{kind}]"] = Example(field, asked, (), good)
    return found


@functools.cache
def _planner(kind):
    return planner(kind)


def _sparse_grid():
    grid = wayfold.SparseGrid.from_cells(cells())
    grid.add_link((0, 0, 0), (11, 11, 0))
    grid.add_effect([(3, 3)])
    return grid


def _cell_path():
    return wayfold.DenseGrid(np.ones((12, 12), np.uint8)).path((1, 1), (10, 9))


def _cells_probe(grid):
    return grid.path((1, 1), (10, 9))


def _voxel_waypoints():
    return wayfold.waypoints.VoxelWaypoints.from_voxels(voxels(), region_size=2)


def _voxel_probe(places):
    return places.path((0, 0, 0), (4, 4, 4)), places.num_waypoints, places.num_edges


def _waypoint_probe(places):
    return places.path(HERE, THERE), places.num_waypoints, places.num_edges


def _world_probe(world):
    return world.path(HERE, THERE), world.version, world.blocks, world.costs


# --- good arguments ------------------------------------------------------------------------------------------------

# By the name of a parameter, then by class, then by callable. What is callable makes a fresh value.
BY_NAME = {
    "a": [HERE], "b": [THERE], "c": [(1.0, 2.0)], "d": [(4.0, 1.0)],
    "agent": Agent, "mesh": mesh, "points": [HERE, THERE], "point": HERE, "polygon": SQUARE,
    "start": HERE, "goal": THERE, "starts": [HERE], "goals": [THERE], "target": THERE, "targets": None, "end": THERE,
    "cells": cells, "cell": 1.0, "box_low": HERE, "box_high": THERE, "box": (HERE, (9.0, 9.0, 1.0)),
    "directions": [(0.0, 0.0, -1.0)], "origins": [(3.0, 3.0, 5.0)], "low": HERE, "high": (9.0, 9.0, 9.0),
    "motions": Motion.SURFACE, "costs": None, "cost": 1.0, "count": 3, "seed": 0, "workers": 1, "progress": None,
    "radius": 0.4, "height": 1.8, "climb": 0.5, "slope": 45.0, "edges": [(0, 1), (1, 2)], "kinds": None, "areas": None,
    "vertices": SQUARE, "names": ["grass"], "boundary": SQUARE, "obstacles": [], "obstacle": [(2, 2), (3, 2), (3, 3)],
    "weights": {"grass": 2.0}, "shape": lambda: Box((5, 5, -1), (7, 7, 3)), "number": 0,
    "path": lambda: graph().path(0, 15), "world": voxels, "region": 0, "level": 1,
    "polygons": [(0, 1, 2, 3)], "free": np.ones((4, 4), bool), "spacing": 1.0, "max_distance": 5.0,
}  # fmt: skip
_NODES = {"start": 0, "goal": 15, "starts": [0], "goals": [15], "nodes": [3], "source": 0, "targets": [3]}
_CELLS = {
    "start": (1, 1), "goal": (10, 9), "starts": [(1, 1)], "goals": [(10, 9)], "cell": (1, 1),
    "cells": [(1, 1)], "a": (1, 1), "b": (7, 7),
}  # fmt: skip
_FLAT = {
    "start": HERE[:2], "goal": THERE[:2], "starts": [HERE[:2]], "goals": [THERE[:2]], "points": [HERE[:2], THERE[:2]],
}  # fmt: skip
BY_CLASS = {
    "Graph": _NODES | {"start": 0, "goal": 15},
    "Tree": _NODES,
    "Hierarchy": _NODES | {"graph_or_navmesh": graph, "edges": [0], "costs": [2.0], "level": 1},
    "DenseGrid": _CELLS | {"kinds": np.ones((4, 4), np.uint8)},
    "SparseGrid": _CELLS | {"z": np.zeros((4, 4)), "level": 0.5, "points": [HERE], "reach": 1.0},
    "WaypointGraph": {"motions": FLYER.motions, "agent": FLYER},
    "VoxelWaypoints": {
        "start": (0, 0, 0), "goal": (4, 4, 4), "point": (0, 0, 0), "where": (0, 0, 0), "motions": Motion.VOLUMETRIC,
        "starts": [(0, 0, 0)], "goals": [(4, 4, 4)], "agent": FLYER,
    },
    "Terrain": _FLAT,
    "TerrainField": _FLAT,
    "SubregionGraph": {"waypoints": still_waypoints, "motions": FLYER.motions, "cost": "fixed"},
    "FloorPlan": {"points": [(1.0, 1.0)], "height": 0.0},
    "Decomposition": {"plan": plan, "method": "deaccon", "points": [(1.0, 1.0)], "last": None} | _FLAT,
    "World": {"terrain": terrain},
}  # fmt: skip
_SPLICED = {
    "points": lambda: np.array([(4.0, 4.0, 2.0)]), "home": lambda: np.zeros((1, 2), np.int32),
    "edges": lambda: np.array([(0, 1)], np.int32), "motions": lambda: np.array([4], np.uint8),
}  # fmt: skip
BY_CALLABLE = {
    "Agent": {},
    "Mesh": {"vertices": [HERE, THERE, (1, 9, 0)], "triangles": [(0, 1, 2)], "materials": None, "material_names": ()},
    "Mesh.concatenate": {"meshes": lambda: [mesh(), mesh()]},
    "CityMesh": {"vertices": [HERE, THERE, (1, 9, 0)], "triangles": [(0, 1, 2)], "materials": None},
    "CityMesh.concatenate": {"meshes": lambda: [mesh(), mesh()]},
    "Voxels": {"cells": lambda: np.array([(0, 0, 0)], np.int32), "origin": np.zeros(3)},
    "Voxels.dense": {"limit": 10**6},
    "Map3D": {"shape": lambda: np.array([5, 5, 5], np.int32), "blocked": lambda: np.array([[1, 1, 1]], np.int32)},
    "Map3D.dense": {"limit": 10**6},
    "MovingAiMap": {"cells": lambda: np.full((4, 4), ord("."), np.uint8)},
    "Scenarios": {
        "bucket": lambda: np.zeros(1, np.int32), "map": ("m.map",), "width": lambda: np.full(1, 12, np.int32),
        "height": lambda: np.full(1, 12, np.int32), "starts": lambda: np.array([[1, 1]], np.int32),
        "goals": lambda: np.array([[5, 6]], np.int32), "lengths": lambda: np.array([7.0]),
    },
    "Scenarios3D": {
        "map": "m.3dmap", "starts": lambda: np.array([[1, 1, 1]], np.int32),
        "goals": lambda: np.array([[4, 4, 4]], np.int32), "lengths": lambda: np.array([7.0]),
        "ratios": lambda: np.array([1.0]),
    },
    "Graph": {
        "points": np.zeros((2, 3)), "offsets": np.array([0, 1, 2]), "targets": np.array([1, 0], np.int32),
        "costs": None, "motions": None,
    },
    "Graph.from_edges": {"points": [HERE, THERE, (1, 9, 0)], "costs": [1.0, 2.0], "motions": [1, 2]},
    "Graph.from_scipy": {"matrix": lambda: graph().to_scipy(), "points": [(x, y) for y in range(4) for x in range(4)]},
    "Graph.from_networkx": {"graph": lambda: graph().to_networkx(), "points": "pos", "weight": "weight"},
    "Graph.nearest": {"points": [HERE]},
    "Graph.path": {"labels": lambda: np.zeros(16, int), "allowed": [0]},
    "Graph.paths": {"labels": lambda: np.zeros(16, int), "allowed": [0]},
    "Graph.distances": {"labels": lambda: np.zeros(16, int), "allowed": [0], "limit": 10.0},
    "Tree": {"graph": graph, "goal": 3, "motions": 7},
    "Tree.trails": {"nodes": lambda: np.array([0, 5], np.int32)},
    "SparseGrid": {"sector_size": 8},
    "SparseGrid.from_cells": {"cells": cells},
    "SparseGrid.from_mesh": {"cell": 1.0, "level": None, "seeds": None},
    "SparseGrid.from_movingai": {"file": lambda: saved("m.map")},
    "SparseGrid.load": {"file": lambda: _saved_by("SparseGrid")},
    "SparseGrid.remove": {"cells": [(2, 2)]},
    "SparseGrid.add": {"cells": [(30, 2)]},
    "SparseGrid.add_effect": {"cells": [(2, 2)]}, "SparseGrid.remove_effect": {"cells": [(3, 3)]},
    "SparseGrid.remove_link": {"link": (0, 0, 0), "end": (11, 11, 0)},
    "SparseGrid.reserve": {"cells": 10, "edges": 5, "regions": 2},
    "SparseGrid.add_link": {"start": (0, 3, 0), "end": (11, 3, 0), "cost": 20.0},
    "SparseGrid.smooth": {"path": lambda: _sparse_grid().path((1, 1), (10, 9))},
    "SparseGrid.random_points": {"near": (3, 3), "radius": 4.0},
    "DenseGrid.random_points": {"near": (3, 3), "radius": 4.0},
    "DenseGrid": {"kinds": np.ones((4, 4), np.uint8)},
    "SparseGrid.replan": {"path": lambda: _sparse_grid().path((1, 1), (10, 9))},
    "DenseGrid.from_movingai": {"file": lambda: saved("m.map")},
    "Hierarchy.portals": {"level": 1}, "Hierarchy.update": {"edges": [(0, 1)]},
    "Hierarchy": {"graph": graph, "merge": 3, "levels": 2, "exact": True, "parts": lambda: _levels().partition},
    "Hierarchy.customise": {"motions": None, "costs": None},
    "Hierarchy.build": {"merge": 3, "levels": 2},
    "Hierarchy.changed": {"kept": lambda: np.arange(16)},
    "contains": {"points": [(1.0, 1.0)]},
    "segments_intersect": {"a": [(0.0, 0.0)], "b": [(1.0, 1.0)]},
    "Terrain": {"regions": lambda: [(_shapely(), 2.0, "grass")]},
    "Terrain.from_scene": {"scene": scene},
    "Terrain.from_geojson": {"file": lambda: saved("m.geojson")},
    "Terrain.from_movingai": {"file": lambda: saved("m.map"), "weights": {".": 1.0}},
    "Terrain.from_heights": {
        "heights": np.zeros((5, 5)), "cover": np.zeros((4, 4), np.uint8), "names": ("grass",), "weights": {0: 1.0},
    },
    "Terrain.from_raster": {"weights": np.ones((4, 4)), "names": None},
    "Terrain.changed": {"layers": lambda: [(_shapely(HOLE), 2.0)]},
    "Terrain.random_points": {"near": HERE[:2], "radius": 4.0, "component": 0},
    "Terrain.from_mesh": {"weights": {"ground": 1.0, "grass": 3.0}},
    "Terrain.path": {"weights": None, "nodes": "centres"},
    "Terrain.field": {"nodes": "centres"},
    "Terrain.paths": {"weights": None, "nodes": "centres"},
    "Terrain.cost": {"weights": None},
    "NavMesh.from_polygons": {"areas": [1]},
    "NavMesh": {"ground": lambda: _parts()[0], "areas": lambda: _parts()[1]},
    "NavMesh.build": {"cell_size": None, "zones": ()},
    "NavMesh.rebuild": {"zones": ()}, "NavMesh.changed": {"zones": ()},
    "NavMesh.export": {"file": lambda: folder("out.mesh")}, "NavMesh.read": {"file": lambda: _exported()},
    "NavMesh.path": {"costs": {1: 2.0}}, "NavMesh.remove_link": {"id": 0},
    "NavMesh.random_points": {"near": HERE, "radius": 3.0},
    "Settings": {"tile_size": 0}, "Settings.cells": {"square_metres": 4.0},
    "WaypointGraph.build": {"region_size": 10.0},
    "WaypointGraph.from_graph": {"graph": graph},
    "WaypointGraph": {"graph": lambda: still_waypoints().graph, "regions": lambda: still_waypoints().layout},
    "VoxelWaypoints": {"graph": lambda: _voxel_waypoints().graph, "regions": lambda: _voxel_waypoints().layout},
    "WaypointGraph.between": {"search": lambda: _no_search}, "VoxelWaypoints.between": {"search": lambda: _no_search},
    "WaypointGraph.finish": {
        "path": lambda: still_waypoints().graph.path(0, 1), "first": lambda: _place(0), "last": lambda: _place(1),
    },
    "VoxelWaypoints.finish": {
        "path": lambda: _voxel_waypoints().graph.path(0, 1), "first": lambda: _voxel_place(0),
        "last": lambda: _voxel_place(1),
    },
    "WaypointGraph.place": {"where": HERE, "name": "start"}, "VoxelWaypoints.place": {"name": "start"},
    "WaypointGraph.random_points": {"near": HERE, "radius": 20.0},
    "VoxelWaypoints.random_points": {"near": (0, 0, 0), "radius": 9.0},
    "WaypointGraph.renumbered": {"nodes": lambda: np.arange(5, dtype=np.int32)},
    "VoxelWaypoints.renumbered": {"nodes": lambda: np.arange(5, dtype=np.int32)},
    "WaypointGraph.splice": _SPLICED, "VoxelWaypoints.splice": _SPLICED,
    "WaypointGraph.update": {"edges": [(0, 1)], "motions": [4]},
    "VoxelWaypoints.from_graph": {"graph": graph}, "VoxelWaypoints.rebuilt": {"blocked": voxels},
    "VoxelWaypoints.build": {"region_size": 10.0},
    "VoxelWaypoints.update": {"edges": [(0, 1)], "motions": [4]},
    "FloorPlan": {"obstacles": [HOLE]},
    "FloorPlan.from_geojson": {"file": lambda: saved("m.geojson"), "role": "role"},
    "FloorPlan.from_movingai": {"file": lambda: saved("m.map")},
    "FloorPlan.slice": {"height": 0.0}, "FloorPlan.space_in": {"frame": lambda: _frame()},
    "Building": {"floors": lambda: [plan()], "transitions": ()},
    "Decomposition.neighbours": {"region": 0}, "Decomposition.random_points": {"near": HERE[:2], "radius": 4.0},
    "Decomposition.add_obstacle": {"level": 0}, "Decomposition.remove_obstacle": {"level": 0},
    "Decomposition.collides": {"radius": 0.2},
    "ground_planes": {"share": 0.02},
    "SubregionGraph": {"parts": lambda: _subregions().abstraction(), "waypoints": still_waypoints, "cost": "fixed"},
    "SubregionGraph.attach": {"waypoints": lambda: still_waypoints()},
    "SubregionGraph.repair": {"edit": lambda: waypoints().update([(0, 1)], [4])},
    "SubregionGraph.subregion_path": {"start": 0, "goal": 1},
    "SubregionGraph.expanded": {"start": 0, "goal": 5},
    "SubregionGraph.prepare_exact": {"landmarks": 2},
    "crowd_paths": {"subregions": lambda: [_subregions()], "which": [0], "weight": 1.1},
    "Planner.drape": {}, "Field.paths": {},
    "World": {"source": lambda: _source(), "name": "odd", "cache": False}, "World.unblock": {"shape": _STANDING},
    "World.planner": {"map": "auto", "accelerator": "auto"},
    "World.open": {"file": lambda: saved("m.obj"), "cache": False},
    "World.sample": {"name": "rooms", "cache": False},
    "World.from_mesh": {"cache": False}, "World.from_map": {"cells": moving_ai, "cache": False},
    "World.from_terrain": {"cache": False},
    "Prism": {"low": 0.0, "high": 2.0},
    "Box.hit_by": {"a": np.array([HERE]), "b": np.array([THERE])}, "Box.hit_at": {"points": np.array([HERE])},
    "Prism.hit_by": {"a": np.array([HERE]), "b": np.array([THERE])}, "Prism.hit_at": {"points": np.array([HERE])},
    "agent_named": {"name": "cart"}, "check_motions": {}, "parse_motions": {"text": "S+A"}, "make": {"name": "rooms"},
    "city": {"size": (60.0, 60.0)}, "dungeon": {"floors": 1}, "islands": {"size": (120.0, 120.0), "count": 2},
    "maze": {"width": 3, "height": 3}, "rooms": {"size": (20.0, 20.0)}, "forest": {"kind": "child"},
    "Plan": {"boundary": _shapely, "obstacles": list}, "Plan.mesh": {"wall_height": 3.0},
    "Scene.with_weights": {"weights": {"road": 2.0}},
    "Scene": {"regions": list, "default": 1.0, "bounds": (0.0, 0.0, 9.0, 9.0), "queries": list},
    "Transition": {"plan": plan, "floors": (0, 1)},
    "load": {"file": lambda: saved("graph.wayfold")}, "sniff": {"file": lambda: saved("m.map")},
    "open": {"file": lambda: saved("m.obj")},
    "load_map": {"file": lambda: saved("m.map")}, "load_map3d": {"file": lambda: saved("m.3dmap")},
    "load_mesh": {"file": lambda: saved("m.obj")}, "load_geojson": {"file": lambda: saved("m.geojson")},
    "load_scen": {"file": lambda: saved("s.scen")}, "load_scen3d": {"file": lambda: saved("s.3dscen")},
    "load_bsp": {"file": lambda: saved("m.bsp")}, "load_cityjson": {"file": lambda: saved("m.city.json")},
    "read_archive": {"file": lambda: saved("graph.wayfold"), "kind": None},
    "write_archive": {"kind": "odd", "arrays": lambda: {"a": np.zeros(2)}, "meta": None},
    "save_geojson": {"features": list, "file": lambda: folder("out.geojson")},
    "save_map": {"cells": np.ones((4, 4), bool), "file": lambda: folder("out.map")},
    "save_map3d": {"voxels": map3d}, "save_mesh": {"file": lambda: folder("out.obj")},
    "save_scen": {"scenarios": scenarios}, "save_scen3d": {"scenarios": scenarios3d},
    "FormatError": {"message": "odd", "file": None, "line": None},
    "VersionError": {"message": "odd", "file": None, "line": None},
}  # fmt: skip

# What `**options` and `*names` may hold, for every callable that has such; several where they exclude each other.
_CUT = {"spacing": None, "step": None, "follow": True, "in_turn": True, "combine": True}
_GRID = {"successors": "8-bit", "max_step": 1, "trim": True, "merge": True, "drop": 0, "effect_cost": 1.0}
_NAVMESH = {
    "min_region": None, "merge_region": None, "max_edge": 12.0, "max_error": 1.3, "max_bulge": None, "max_corners": 6,
    "detail_error": None,
}  # fmt: skip
OPTIONS = {
    "Path.plot": [{}],  # matplotlib's own
    "Mesh.without": [{"*names": "grass"}],
    "CityMesh.without": [{"*names": "grass"}],
    "SparseGrid.from_cells": [_GRID],
    "SparseGrid.from_heightmap": [_GRID],
    "SparseGrid.from_mesh": [{"sector_size": 8} | {name: _GRID[name] for name in _GRID if name != "max_step"}],
    "SparseGrid.from_movingai": [_GRID],
    "FloorPlan.decompose": [_CUT | {"method": "deaccon"}],
    "Building.decompose": [_CUT | {"method": "deaccon"}],
    "Decomposition.build": [_CUT],
    "make": [{"size": (20.0, 20.0), "seed": 0}, {"name": "maze", "width": 3, "height": 3, "seed": 0}],
    "World.sample": [{"size": (20.0, 20.0), "seed": 0}, {"name": "maze", "width": 3, "height": 3, "seed": 0}],
    "open": [{}, {"file": "sample:rooms", "size": (20.0, 20.0), "seed": 0}],
    "World.open": [
        {},
        {"file": lambda: saved("m.geojson"), "weights": None, "default": 1.0},
        {"file": "sample:rooms", "size": (20.0, 20.0), "seed": 0},
    ],
    "World.planner": [
        _NAVMESH | {"cell_size": 0.5, "cell_height": 0.25, "tile_size": 24, "keep": "all"},
        {"agent": FLYER, "region_size": 10.0},
        {"map": "sparse-grid", "cell": 1.0, "level": None, "sector_size": 8}
        | {name: _GRID[name] for name in ("successors", "trim", "merge", "effect_cost")},
    ],
}  # fmt: skip

# Not asked by strangers, each with its reason.
LEFT_OUT = {
    "Path": "answers are made by maps only", "Paths": "answers are made by maps only",
    "Paths.of": "answers are made by maps only",
    "Path.amend": "called by maps only", "Paths.amend": "called by maps only",
    "Field": "abstract", "Planner": "abstract", "Shape": "the base of Box and Prism; frozen record of checked numbers",
    "TerrainField": "made by Terrain.field from its own parts", "Decomposition": "made by decompose from its own parts",
    "Scene": "record of samples", "Plan": "record of samples", "Transition": "record of Building",
    "Feature": "record of load_geojson", "Voxels": "record of voxelise", "Map3D": "record of load_map3d",
    "MovingAiMap": "record of load_map", "Scenarios": "record of load_scen", "Scenarios3D": "record of load_scen3d",
    "warmup": "compiles everything; takes a callback only",
}  # fmt: skip


def _no_search(*_):
    return Path(wayfold.Status.UNREACHABLE)


def _place(node):
    return wayfold.waypoints.waypoints.Place("start", still_waypoints().points[node], None, node)


def _voxel_place(node):
    return wayfold.waypoints.waypoints.Place("start", _voxel_waypoints().points[node], None, node)


def _frame():
    from wayfold.geometry.frame import Frame

    return Frame((0.0, 0.0, 0.0), 20.0)


def _source():
    from wayfold.world import sources

    return sources.of(mesh())


def _parts():
    from wayfold.navmesh import polygons

    return polygons.from_lists(np.array(SQUARE), [(0, 1, 2, 3)], None)


@functools.cache
def _levels():
    return wayfold.Hierarchy.build(graph(), merge=3, levels=2)


# Variants of objects that refuse everything here.
REFUSED = {
    "NavMesh.rebuild": "only what was built from a mesh is rebuilt: NavMesh[built]",
    "NavMesh.changed": "only what was built from a mesh is rebuilt: NavMesh[built]",
}


@functools.cache
def _subregions():
    return wayfold.SubregionGraph.build(still_waypoints(), FLYER.motions)


@functools.cache
def _saved_by(name):
    file = folder(f"{name}.wayfold")
    _examples()[name].make().save(file)
    return file


@functools.cache
def _exported():
    built_navmesh().export(folder("exported.mesh"))
    return folder("exported.mesh")


class Subject:
    """One public callable with its good arguments, on a fresh enough object."""

    def __init__(self, label, arguments, example=None, method="", thing=None):
        self.label, self.arguments = label, arguments
        self._example, self.method, self._thing = example, method, thing
        self._object = self._before = None
        self.changes = example is not None and method in example.changes

    def good(self):
        """Fresh good arguments."""
        return {name: value() if _makes(value) else value for name, value in self.arguments.items()}

    def bind(self):
        """The callable, bound to an object if it is a method."""
        if self._example is None:
            return self._thing
        if self._object is None:
            self._object = self._example.make()
            self._before = self._example.probe(self._object)
        return getattr(self._object, self.method)

    def changed(self, same):
        """Whether the object answers otherwise than before."""
        if self._example is None or self._object is None:
            return False
        return not same(self._before, self._example.probe(self._object))

    def forget(self):
        """Take a new object for the next call."""
        self._object = None


def _makes(value):
    return callable(value) and not isinstance(value, np.ndarray)


def public():
    """Every public class and function of the package by name."""
    found = {}
    for package in PACKAGES:
        module = importlib.import_module(f"wayfold.{package}")
        for name in getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")]):
            thing = getattr(module, name, None)
            if callable(thing) and str(getattr(thing, "__module__", "")).startswith("wayfold"):
                found.setdefault(name, thing)
    return found


def _is_record(thing):
    """Enumerations, errors that only carry a message, and tuples of results."""
    import enum

    plain_error = issubclass(thing, Exception) and "__init__" not in vars(thing) and thing.__name__ != "VersionError"
    return issubclass(thing, (tuple, enum.Enum)) or plain_error


def _is_ours(method):
    """Methods of the package, not those that `collections.abc` gives to every sequence."""
    return (
        callable(method)
        and not inspect.isclass(method)
        and not hasattr(method, "__deprecated__")
        and str(getattr(method, "__module__", "")).startswith("wayfold")
    )


def subjects():
    """All of them by label, and what is missing."""
    found, unknown, examples = {}, [], _examples()
    used = set()
    for name, thing in public().items():
        if not inspect.isclass(thing):
            _add(found, unknown, name, name, thing)
            continue
        if _is_record(thing):
            continue
        _add(found, unknown, name, name, thing)
        variants = [label for label in examples if label.partition("[")[0] == name]
        used.update(variants)
        methods = [method for method in dir(thing) if not method.startswith("_") and _is_ours(getattr(thing, method))]
        if not variants and methods and name != "Shape" and not issubclass(thing, Exception):
            unknown.append(f"{name}: no example")
        for variant in variants:
            for method in methods:
                label = f"{variant}.{method}"
                _add(found, unknown, label, f"{name}.{method}", getattr(thing, method), examples[variant], method)
    unknown += [f"{label}: no such class" for label in examples if label not in used]
    unknown += [f"{label}: left out, but not there" for label in LEFT_OUT if label.partition(".")[0] not in public()]
    return found, unknown


def _add(found, unknown, label, plain, thing, example=None, method=""):
    if label in LEFT_OUT or plain in LEFT_OUT or label in REFUSED:
        return
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except ValueError:
        return
    owner = plain.partition(".")[0] if "." in plain else ""
    good = BY_NAME | BY_CLASS.get(owner, {}) | BY_CALLABLE.get(plain, {}) | (example.good if example else {})
    arguments, more = {}, [{}]
    for parameter in parameters:
        if parameter.name == "self":
            continue
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            if plain not in OPTIONS and not _is_error(thing):
                unknown.append(f"{label}(*{parameter.name})")
            more = OPTIONS.get(plain, [{}])
            continue
        if parameter.name in good:
            arguments[parameter.name] = good[parameter.name]
        elif parameter.name == "file":
            name = plain.partition(".")[0]
            load = method == "load"
            arguments["file"] = functools.partial(_saved_by, name) if load else functools.partial(folder, "out.wayfold")
        elif parameter.default is parameter.empty:
            unknown.append(f"{label}({parameter.name})")
        else:
            arguments[parameter.name] = parameter.default
    for number, options in enumerate(more):
        name = f"{label}[{number}]" if number else label
        found[name] = Subject(name, arguments | options, example, method, None if example else thing)


def _is_error(thing):
    return inspect.isclass(thing) and issubclass(thing, Exception)
