"""`wayfold.load`: whatever `save` wrote, as the class that wrote it."""

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
    """Read a `.wayfold` file.

    Parameters
    ----------
    file : path
        A file that the `save` method of a map, graph or accelerator wrote.

    Returns
    -------
    The object that was saved. Its arrays stay on disk until they are touched.

    Raises
    ------
    FormatError
        When the file is not a whole, undamaged `.wayfold` file of a known version and kind.
    """
    kind = archive.read_archive(file, verify=False).kind
    if kind not in _KINDS:
        raise FormatError(f"holds a {kind!r}, which this version of Wayfold does not know", file)
    module, name = _KINDS[kind]
    return getattr(importlib.import_module(module), name).load(file)
