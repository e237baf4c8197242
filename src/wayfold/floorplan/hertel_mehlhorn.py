"""Hertel and Mehlhorn (1983): triangulate the free space, then remove every inessential edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
from shapely import Polygon

from wayfold.core.arrays import distinct
from wayfold.floorplan.polygons import ConvexPieces, combine, moved
from wayfold.geometry.frame import Frame


def cut(free: Any, resolution: float, *, join: bool = True) -> ConvexPieces:
    """The constrained Delaunay triangles of an area, joined over the edges that convexity does not need.

    Parameters
    ----------
    free : shapely Polygon or MultiPolygon
    resolution : float, metres
        Corners that deviate less from a straight line count as lying on it.
    join : bool
        False leaves the triangles as they are.
    """
    triangles = shapely.get_parts(shapely.constrained_delaunay_triangles(shapely.get_parts(free)))
    if not len(triangles):
        return ConvexPieces(np.empty((0, 2)), [])
    corners = shapely.get_coordinates(shapely.orient_polygons(triangles)).reshape(-1, 4, 2)[:, :3]
    points, _, numbers, _ = distinct(corners.reshape(-1, 2))
    pieces = ConvexPieces(points, numbers.reshape(-1, 3).tolist())
    return combine(pieces, resolution) if join else pieces


def convex_parts(polygon: Polygon) -> list[Polygon]:
    """A polygon cut into convex ones."""
    frame = Frame.of(shapely.get_coordinates(polygon))
    local = moved(polygon, (-frame.origin[0], -frame.origin[1]))
    return [Polygon(frame.world(ring)) for ring in cut(local, frame.rounding).rings()]
