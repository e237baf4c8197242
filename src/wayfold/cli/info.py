"""`wayfold info`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import numpy as np

from wayfold import formats, load
from wayfold.cli import waypoints
from wayfold.cli.output import check_other_file, check_writable, print_facts, print_json, print_picture, print_table
from wayfold.core.text import show
from wayfold.errors import ParameterError
from wayfold.floorplan import Decomposition
from wayfold.formats import Map3D, MovingAiMap, Scenarios, Scenarios3D, opening
from wayfold.geometry import Mesh
from wayfold.graph import Graph
from wayfold.grid import DenseGrid, SparseGrid
from wayfold.hierarchy import Hierarchy
from wayfold.navmesh import NavMesh
from wayfold.samples import Plan, Scene
from wayfold.subregions import SubregionGraph
from wayfold.terrain import Terrain
from wayfold.waypoints import WaypointGraph

Up = Literal["y", "z"]


def run(file: Path, up: Up | None, json: bool, picture: Path | None = None) -> None:
    """Print what a file holds."""
    if picture is not None:
        check_writable(picture, (".png", ".svg", ".pdf"))
        check_other_file(picture, str(file))
    facts = describe(file, up)
    if picture is not None:
        from wayfold.view import hierarchy, pictures, sparse

        if facts["kind"] == "hierarchy":
            figure = hierarchy.draw_levels(load(file))
        elif facts["kind"] == "sparse grid":
            figure = sparse.draw_grid(load(file))
        else:
            raise ParameterError(f"--picture needs a hierarchy or a sparse grid, but {file} holds a {facts['kind']}")
        pictures.save(figure, picture)
    if json:
        print_json(facts)
    else:
        print_description(str(file), facts)
        print_picture(picture)


def print_description(title: str, facts: dict[str, Any]) -> None:
    """Print facts below a title, and the levels of a hierarchy as a table of their own."""
    print_facts(title, {name: value for name, value in facts.items() if name != "levels"})
    if "levels" in facts:
        names = list(facts["levels"][0])
        rows = [[show(level[name]) for name in names] for level in facts["levels"]]
        print_table("levels", [name.replace("_", " ") for name in names], rows)


def describe(file: Path, up: Up | None = None) -> dict[str, Any]:
    """Facts of any file that Wayfold reads."""
    kind = formats.sniff(file)
    if kind == "bsp":
        level = formats.load_bsp(file)
        mesh = level.mesh if up is None else formats.load_mesh(file, up)
        return {**_mesh(mesh), "kind": "Quake 3 level", "entities": len(level.points)}
    facts = describe_object(opening.open(file, up=up))
    return {**facts, "kind": "CityJSON"} if kind == "cityjson" else facts


def describe_object(thing: Any) -> dict[str, Any]:
    """Facts of a geometry, a graph or a map, with bytes per node, edge and cell."""
    if isinstance(thing, Mesh):
        return _mesh(thing)
    if isinstance(thing, Plan):
        return describe_object(thing.mesh() if thing.cells is None else DenseGrid(thing.cells))
    if isinstance(thing, Scene):
        return describe_object(Terrain.from_scene(thing))
    if isinstance(thing, MovingAiMap):
        return describe_object(DenseGrid(thing.kinds))
    if isinstance(thing, Map3D):
        count = int(np.prod(thing.shape, dtype=np.int64))
        return {"kind": "voxel map", "size": thing.shape, "blocked": len(thing.blocked), "voxels": count}
    if isinstance(thing, list):
        area = sum(feature.polygon.area for feature in thing)
        return {"kind": "GeoJSON polygons", "polygons": len(thing), "area": area}
    if isinstance(thing, (Scenarios, Scenarios3D)):
        return _scenarios(thing)
    if isinstance(thing, Graph):
        memory = thing.memory()
        slots = max(1, thing.targets.size)
        labels = thing.components()
        sizes = np.bincount(labels)
        return {
            "kind": "graph",
            "nodes": thing.num_nodes,
            "edges": thing.num_edges,
            "directed": thing.directed,
            "costs": "stored" if thing.costs is not None else "Euclidean",
            "motions": "stored" if thing.motions is not None else "none",
            "components": len(sizes),
            "largest_component": int(sizes.max()),
            "bytes": memory["total"],
            "bytes_per_directed_edge": (memory["targets"] + memory["costs"] + memory["motions"]) / slots,
            "bytes_per_node": (memory["points"] + memory["offsets"]) / thing.num_nodes,
            "search_bytes_per_node": thing.search_bytes / thing.num_nodes,
        }
    if isinstance(thing, DenseGrid):
        sizes = np.bincount(thing.components.ravel()[thing.kinds.ravel() != 0], minlength=1)
        return {
            "kind": "dense grid",
            "width": thing.width,
            "height": thing.height,
            "free_cells": thing.num_cells,
            "components": int(np.count_nonzero(sizes)),
            "largest_component": int(sizes.max()),
            "bytes": thing.nbytes,
            "bytes_per_cell": thing.nbytes / (thing.width * thing.height),
            "search_bytes_per_cell": thing.search_bytes / (thing.width * thing.height),
        }
    if isinstance(thing, SparseGrid):
        cells = thing.cells
        return {
            "kind": "sparse grid",
            "cells": thing.num_cells,
            "lowest_corner": cells.min(axis=0) if len(cells) else "none",
            "highest_corner": cells.max(axis=0) if len(cells) else "none",
            "sector_size": thing.sector_size,
            "regions": thing.num_regions,
            "abstract_edges": thing.num_abstract_edges,
            "successors": thing.successor_way,
            "max_step": thing.max_step,
            "bytes_as_the_paper_counts": thing.memory().total,
            "bytes": thing.nbytes,
            "bytes_per_cell": thing.nbytes / max(1, thing.num_cells),
        }
    if isinstance(thing, Hierarchy):
        return {
            "kind": "hierarchy",
            "nodes": thing.graph.num_nodes,
            "edges": thing.graph.num_edges,
            "paths": "shortest" if thing.exact else "as in the paper",
            "merge": thing.merge,
            "bytes": thing.nbytes,
            "bytes_per_node": thing.nbytes / thing.graph.num_nodes,
            "levels": [asdict(level) for level in thing.levels],
        }
    if isinstance(thing, NavMesh):
        return _navmesh(thing)
    if isinstance(thing, Decomposition):
        return _decomposition(thing)
    if isinstance(thing, Terrain):
        return {
            "kind": "terrain",
            "triangles": thing.num_triangles,
            "vertices": len(thing.vertices),
            "bounds": thing.bounds,
            "weights": ", ".join(f"{name}={weight:g}" for name, weight in list(thing.weights.items())[:40]),
            "bytes": thing.nbytes,
        }
    if isinstance(thing, (WaypointGraph, SubregionGraph)):
        return waypoints.describe(thing)
    raise ParameterError(f"cannot describe a {type(thing).__name__}")


def _navmesh(mesh: NavMesh) -> dict[str, Any]:
    sizes = np.bincount(mesh.components, weights=mesh.polygon_areas)
    return {
        "kind": "navigation mesh",
        "polygons": mesh.num_polygons,
        "vertices": len(mesh.vertices),
        "neighbours": int(sum((row >= 0).sum() for row in mesh.neighbours)) // 2,
        "area": mesh.area,
        "components": len(sizes),
        "largest_component_area": float(sizes.max()),
        "links": mesh.num_links,
        "agent": "none" if mesh.agent is None else str(mesh.agent),
        "bytes": mesh.nbytes,
        "bytes_per_polygon": mesh.nbytes / mesh.num_polygons,
    }


def _decomposition(cut: Decomposition) -> dict[str, Any]:
    none = not cut.num_regions
    return {
        "kind": "floor plan",
        "method": cut.method,
        "floors_and_transitions": len(cut.levels),
        "obstacles": sum(len(level.plan.obstacles) for level in cut.levels),
        "regions": cut.num_regions,
        "gateways": len(cut.gateways),
        "coverage": cut.coverage,
        "overlap": cut.overlap,
        "free_area": sum(level.plan.area for level in cut.levels),
        "components": 0 if none else int(cut.graph.components().max()) + 1,
        "median_area": 0.0 if none else float(np.median(cut.region_areas)),
        "median_width": 0.0 if none else float(np.median(cut.widths)),
    }


def _scenarios(rows: Scenarios | Scenarios3D) -> dict[str, Any]:
    lengths = rows.lengths
    return {
        "kind": "scenarios",
        "queries": len(rows),
        "shortest": float(lengths.min()) if len(rows) else 0.0,
        "longest": float(lengths.max()) if len(rows) else 0.0,
    }


def _mesh(mesh: Mesh) -> dict[str, Any]:
    low, high = mesh.bounds
    return {
        "kind": "triangle mesh",
        "triangles": len(mesh),
        "vertices": len(mesh.vertices),
        "lowest_corner": low,
        "highest_corner": high,
        "area": float(mesh.areas.sum()),
        "materials": 0 if mesh.materials is None else len(np.unique(mesh.materials)),
        "bytes": mesh.nbytes,
    }
