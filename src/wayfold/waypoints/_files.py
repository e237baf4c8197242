"""Waypoint graphs in `.wayfold` files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from wayfold import _archive
from wayfold.agent import Agent, Motion
from wayfold.errors import FormatError, WayfoldError
from wayfold.geometry import Mesh
from wayfold.graph import Graph
from wayfold.graph._build import graph_arrays, graph_from_archive
from wayfold.waypoints.regions import Regions
from wayfold.waypoints.surroundings import Surroundings

if TYPE_CHECKING:
    from wayfold.waypoints.waypoints import WaypointGraph


def save(waypoints: WaypointGraph, file: str | os.PathLike[str]) -> None:
    """Write a graph, its regions and the mesh it was built from."""
    graph, layout = waypoints.graph, waypoints.layout
    arrays = {**graph_arrays(graph), "boxes": layout.boxes, "regions": layout.of}
    meta: dict[str, Any] = {"shape": layout.shape, "agent": None}
    if waypoints.surroundings is not None:
        mesh, agent = waypoints.surroundings.mesh, waypoints.surroundings.agent
        arrays |= {"vertices": mesh.vertices, "triangles": mesh.triangles}
        sizes = {name: getattr(agent, name) for name in ("radius", "height", "climb", "slope")}
        closed = waypoints.surroundings.closed_mesh
        if closed is not None:
            arrays |= {"closed_vertices": closed.vertices, "closed_triangles": closed.triangles}
        meta["agent"] = {**sizes, "motions": int(agent.motions)}
    _archive.write_archive(file, "waypoint-graph", arrays, meta)


def load(file: str | os.PathLike[str]) -> tuple[Graph, Regions, Surroundings | None]:
    """What `save` wrote: the parts of a waypoint graph."""
    archive = _archive.read_archive(file, "waypoint-graph")
    graph = graph_from_archive(Graph, archive, file)
    arrays = archive.arrays
    try:
        shape = archive.meta["shape"]
        of = np.ascontiguousarray(arrays["regions"], np.int32)
        boxes = np.ascontiguousarray(arrays["boxes"], np.float64)
        if of.shape != (graph.num_nodes, 2) or boxes.ndim != 2 or boxes.shape[1] != 6:
            raise FormatError("the regions do not belong to the waypoints", file)
        if of[:, 0].min() < 0 or of[:, 1].min() < -1 or of.max() >= len(boxes):
            raise FormatError("a waypoint names a region that is not there", file)
        regions = Regions.from_pairs(boxes, of, None if shape is None else tuple(shape))
        surroundings = None
        if archive.meta["agent"] is not None:
            agent = Agent(**{**archive.meta["agent"], "motions": Motion(archive.meta["agent"]["motions"])})
            closed = None
            if "closed_triangles" in arrays:
                closed = Mesh(arrays["closed_vertices"], arrays["closed_triangles"])
            surroundings = Surroundings(Mesh(arrays["vertices"], arrays["triangles"]), agent, closed)
    except (KeyError, TypeError) as error:
        raise FormatError(f"the archive has no {error}", file) from None
    except FormatError:
        raise
    except WayfoldError as error:
        raise FormatError(str(error), file) from None
    return graph, regions, surroundings
