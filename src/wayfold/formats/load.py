"""`wayfold.load`: read a saved object back as the class that wrote it."""

from __future__ import annotations

import importlib
import os
from typing import Any

from wayfold.core import archive, checks
from wayfold.errors import FormatError

# The class of each kind of archive, by name, so that reading one kind does not import the others.
_KINDS = {
    "graph": ("wayfold.graph", "Graph"),
    "dense-grid": ("wayfold.grid", "DenseGrid"),
    "sparse-grid": ("wayfold.grid", "SparseGrid"),
    "hierarchy": ("wayfold.hierarchy", "Hierarchy"),
    "navmesh": ("wayfold.navmesh", "NavMesh"),
    "waypoint-graph": ("wayfold.waypoints", "WaypointGraph"),
    "voxel-waypoints": ("wayfold.waypoints", "VoxelWaypoints"),
    "subregion-graph": ("wayfold.subregions", "SubregionGraph"),
    "terrain": ("wayfold.terrain", "Terrain"),
    "decomposition": ("wayfold.floorplan", "Decomposition"),
}


@checks.checked
def load(file: str | os.PathLike[str]) -> Any:
    """Read a `.wayfold` file and return the object that was saved in it.

    Parameters
    ----------
    file : path
        A file written by the `save` method of a map, graph or accelerator.

    Returns
    -------
    The saved object. Its arrays stay on disk until they are used.

    Raises
    ------
    FormatError
        When the file is damaged, or of an unknown version or kind.

    Examples
    --------
    >>> from wayfold import Graph
    >>> Graph.from_edges([(0, 0), (3, 4)], [(0, 1)]).save("road.wayfold")
    >>> road = load("road.wayfold")
    >>> type(road).__name__, road.path(0, 1).cost
    ('Graph', 5.0)
    """
    kind = archive.read_archive(file, verify=False).kind
    if kind not in _KINDS:
        raise FormatError(f"holds a {kind!r}, which this version of Wayfold cannot read", file)
    module, name = _KINDS[kind]
    return getattr(importlib.import_module(module), name).load(file)
