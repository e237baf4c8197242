"""Waypoint graphs in `.wayfold` files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from wayfold.agent import AGENT_VALUES, agent_from_meta, agent_to_meta
from wayfold.core import checks
from wayfold.core.schema import Array, Parts, Schema, Value
from wayfold.geometry import Mesh
from wayfold.graph import Graph, files
from wayfold.waypoints.regions import Regions
from wayfold.waypoints.surroundings import Surroundings

if TYPE_CHECKING:
    from wayfold.waypoints.waypoints import WaypointGraph

_WaypointGraph = TypeVar("_WaypointGraph", bound="WaypointGraph")

_FAR = checks.LARGEST
_MOST = 2**20  # regions along an axis


def regions_fit(parts: Parts) -> None:
    """Regions are boxes, as many as a uniform cut has; those of a waypoint differ; no edge leads to a removed one."""
    boxes, of, removed = parts.arrays["boxes"], parts.arrays["regions"], parts.arrays["removed"]
    if (boxes[:, 3:] < boxes[:, :3]).any():
        raise ValueError("a region has a low corner above its high one")
    shape = parts.meta["shape"]
    if shape is not None and shape[0] * shape[1] * shape[2] != len(boxes):
        raise ValueError("there are other regions than the shape says")
    if (of[:, 0] < 0).any() or (of[:, 0] == of[:, 1]).any():
        raise ValueError("a waypoint has no region, or one twice")
    if removed[parts.arrays["targets"]].any() or np.diff(parts.arrays["offsets"])[removed].any():
        raise ValueError("an edge leads to a waypoint that was removed")
    if parts.meta["built"] > len(of):
        raise ValueError("there are fewer waypoints than were built")


def mesh_there(parts: Parts) -> None:
    """The triangles are there exactly where there is an agent; both arrays of a mesh or none."""
    arrays = parts.arrays
    for one, two in (("vertices", "triangles"), ("closed_vertices", "closed_triangles")):
        if (one in arrays) != (two in arrays):
            raise ValueError("a mesh is there in part only")
    if ("vertices" in arrays) != (parts.meta["agent"] is not None):
        raise ValueError("the mesh and the agent belong together")
    if "closed_vertices" in arrays and "vertices" not in arrays:
        raise ValueError("there is a closed mesh without a mesh")


SCHEMA = Schema(
    "waypoint-graph",
    {
        **files.ARRAYS,
        "boxes": Array("float64", ("regions", 6), "low and high corner of each region, metres", -4 * _FAR, 4 * _FAR),
        "regions": Array("int32", ("nodes", 2), "regions of each waypoint, -1 for no second", -1, refers="regions"),
        "removed": Array("bool", ("nodes",), "waypoints that edits have taken away"),
        "vertices": Array("float64", ("vertices", 3), "of the mesh, metres", -_FAR, _FAR, optional=True),
        "triangles": Array("int32", ("triangles", 3), "of the mesh", refers="vertices", optional=True),
        "closed_vertices": Array("float64", ("closed", 3), "of the closed mesh, metres", -_FAR, _FAR, optional=True),
        "closed_triangles": Array("int32", (".closed", 3), "of the closed mesh", refers="closed", optional=True),
    },
    {
        "shape": Value((list, type(None)), "regions along x, y and z", each=Value(int, "", 1, _MOST), length=3),
        "built": Value(int, "waypoints that it was made with", 0, 2**31 - 1),
        "agent": Value((dict, type(None)), "whom it was built for", fields=AGENT_VALUES),
    },
    {"nodes": 1, "regions": 1},
    (files.rows_fit, regions_fit, mesh_there),
)


def to_parts(waypoints: WaypointGraph) -> Parts:
    """A graph, its regions and the mesh it was built from."""
    graph, layout = waypoints.graph, waypoints.layout
    arrays = {**files.graph_arrays(graph), "boxes": layout.boxes, "regions": layout.of, "removed": waypoints.removed}
    shape = None if layout.shape is None else list(layout.shape)
    meta: dict[str, Any] = {"shape": shape, "agent": None, "built": waypoints.built}
    if waypoints.surroundings is not None:
        mesh, agent = waypoints.surroundings.mesh, waypoints.surroundings.agent
        arrays |= {"vertices": mesh.vertices, "triangles": mesh.triangles}
        closed = waypoints.surroundings.closed_mesh
        if closed is not None:
            arrays |= {"closed_vertices": closed.vertices, "closed_triangles": closed.triangles}
        meta["agent"] = agent_to_meta(agent)
    return Parts(arrays, meta)


def from_parts(kind: type[_WaypointGraph], parts: Parts) -> _WaypointGraph:
    """The graph."""
    arrays, facts, shape = parts.arrays, parts.meta["agent"], parts.meta["shape"]
    regions = Regions.from_pairs(arrays["boxes"], arrays["regions"], None if shape is None else tuple(shape))
    surroundings = None
    if facts is not None:
        agent = agent_from_meta(facts)
        closed = None
        if "closed_triangles" in arrays:
            closed = Mesh(arrays["closed_vertices"], arrays["closed_triangles"])
        surroundings = Surroundings(Mesh(arrays["vertices"], arrays["triangles"]), agent, closed)
    waypoints = kind(files.graph_of(Graph, parts), regions, surroundings)
    waypoints.removed, waypoints.built = arrays["removed"], parts.meta["built"]
    return waypoints
