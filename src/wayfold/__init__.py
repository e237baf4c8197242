"""Wayfold plans paths for every kind of character through very large 2D and 3D worlds that change.

Everything is reached lazily: ``import wayfold`` loads no compiler and compiles nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_LAZY = {
    "Agent": "wayfold.agent",
    "Map": "wayfold.map",
    "Motion": "wayfold.agent",
    "Path": "wayfold.path",
    "Paths": "wayfold.path",
    "Status": "wayfold.path",
    "Graph": "wayfold.graph",
    "Mesh": "wayfold.geometry",
    "DenseGrid": "wayfold.grid",
    "SparseGrid": "wayfold.grid",
    "NavMesh": "wayfold.navmesh",
    "WaypointGraph": "wayfold.waypoints",
    "Terrain": "wayfold.terrain",
    "FloorPlan": "wayfold.floorplan",
    "Decomposition": "wayfold.floorplan",
    "SubregionGraph": "wayfold.subregions",
    "Hierarchy": "wayfold.hierarchy",
    "World": "wayfold.world",
    "Planner": "wayfold.world",
    "Box": "wayfold.world",
    "Prism": "wayfold.world",
    "load": "wayfold.formats.load",
    "open": "wayfold.formats.opening",
    "warmup": "wayfold.core.warmup",
}
_PACKAGES = (
    "errors",
    "floorplan",
    "formats",
    "geometry",
    "graph",
    "grid",
    "hierarchy",
    "navmesh",
    "samples",
    "subregions",
    "terrain",
    "waypoints",
    "world",
)

__all__ = [
    "Agent",
    "Box",
    "Decomposition",
    "DenseGrid",
    "FloorPlan",
    "Graph",
    "Hierarchy",
    "Map",
    "Mesh",
    "Motion",
    "NavMesh",
    "Path",
    "Paths",
    "Planner",
    "Prism",
    "SparseGrid",
    "Status",
    "SubregionGraph",
    "Terrain",
    "WaypointGraph",
    "World",
    "__version__",
    "errors",
    "floorplan",
    "formats",
    "geometry",
    "graph",
    "grid",
    "hierarchy",
    "load",
    "navmesh",
    "open",
    "samples",
    "subregions",
    "terrain",
    "warmup",
    "waypoints",
    "world",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    if name in _PACKAGES:
        return importlib.import_module(f"wayfold.{name}")
    raise AttributeError(f"module 'wayfold' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from wayfold import (
        errors,
        floorplan,
        formats,
        geometry,
        graph,
        grid,
        hierarchy,
        navmesh,
        samples,
        subregions,
        terrain,
        waypoints,
        world,
    )
    from wayfold.agent import Agent, Motion
    from wayfold.core.warmup import warmup
    from wayfold.floorplan import Decomposition, FloorPlan
    from wayfold.formats.load import load
    from wayfold.formats.opening import open
    from wayfold.geometry import Mesh
    from wayfold.graph import Graph
    from wayfold.grid import DenseGrid, SparseGrid
    from wayfold.hierarchy import Hierarchy
    from wayfold.map import Map
    from wayfold.navmesh import NavMesh
    from wayfold.path import Path, Paths, Status
    from wayfold.subregions import SubregionGraph
    from wayfold.terrain import Terrain
    from wayfold.waypoints import WaypointGraph
    from wayfold.world import Box, Planner, Prism, World
