"""Polygons painted over triangles: only the triangles that an outline meets are cut, all others stay as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold.terrain._subdivision import UNPAINTED, Array, Ints, triangulate


def repaint(vertices: Array, triangles: Ints, polygons: list[Any]) -> tuple[Array, Ints, Ints, Ints]:
    """Vertices and triangles after cutting, the triangle that each was a part of, and the last polygon over each.

    Vertices keep their numbers, new ones come after them; so do triangles that are not cut. A polygon of UNPAINTED
    stands for none.

    Parameters
    ----------
    polygons : list of shapely polygons or multipolygons
        Valid, with area; they may reach out of the map.
    """
    corners = vertices[triangles]
    low, high = corners.min(axis=1), corners.max(axis=1)
    cut = np.zeros(len(triangles), np.bool_)
    painted = np.full(len(triangles), UNPAINTED, np.int32)
    centres = corners.mean(axis=1)
    for number, polygon in enumerate(polygons):
        x0, y0, x1, y1 = polygon.bounds
        near = np.flatnonzero((low <= (x1, y1)).all(axis=1) & (high >= (x0, y0)).all(axis=1))
        outline = polygon.boundary
        shapely.prepare([polygon, outline])
        cut[near] |= shapely.intersects(outline, _polygons(corners[near]))
        painted[near[shapely.intersects_xy(polygon, centres[near, 0], centres[near, 1])]] = number
    touched = np.flatnonzero(cut)
    kept = np.flatnonzero(~cut)
    if not touched.size:
        return vertices, triangles, kept.astype(np.int32), painted
    pieces = _polygons(corners[touched])
    lines = np.concatenate([shapely.boundary(pieces), shapely.boundary(np.array(polygons, object))])
    points, parts, places = triangulate(shapely.union_all(lines))
    inside, of = shapely.STRtree(pieces).query(shapely.points(places), predicate="intersects")
    # What lies in no touched triangle is outside of the map, or is made of triangles that stay.
    inside, first = np.unique(inside, return_index=True)
    parts, places, of = parts[inside], places[inside], of[first]
    over = np.full(len(places), UNPAINTED, np.int32)
    for number, polygon in enumerate(polygons):
        over[shapely.intersects_xy(polygon, places[:, 0], places[:, 1])] = number
    numbers, more = _numbered(points, np.unique(parts), vertices, np.unique(triangles[touched]))
    return (
        np.concatenate([vertices, more]),
        np.ascontiguousarray(np.concatenate([triangles[kept], numbers[parts]]).astype(np.int32)),
        np.concatenate([kept, touched[of]]).astype(np.int32),
        np.concatenate([painted[kept], over]),
    )


def _polygons(corners: Array) -> NDArray[Any]:
    return np.asarray(shapely.polygons(corners[:, [0, 1, 2, 0]]))


def _numbered(points: Array, used: Ints, vertices: Array, among: Ints) -> tuple[NDArray[np.int64], Array]:
    """The number of each used point: that of the vertex in the same place, or one after the last; and the new ones."""
    known = {(x, y): number for number, (x, y) in zip(among.tolist(), vertices[among].tolist(), strict=True)}
    numbers = np.full(len(points), -1, np.int64)
    fresh: list[tuple[float, float]] = []
    for at in used.tolist():
        x, y = points[at].tolist()
        number = known.get((x, y))
        if number is None:
            number = len(vertices) + len(fresh)
            fresh.append((x, y))
        numbers[at] = number
    return numbers, np.array(fresh, np.float64).reshape(-1, 2)
