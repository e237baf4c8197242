"""Polygons in space cut into triangles, for formats whose faces have more than three corners, or holes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_FLAT = 1e-9  # a fan triangle may turn back by this part of the polygon's area and still count as flat


def newell(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Twice the area vectors of polygons (..., k, 3): along the normal, counter-clockwise seen from its tip."""
    return np.asarray(np.cross(corners, np.roll(corners, -1, axis=-2)).sum(axis=-2))


def triangulate_faces(
    vertices: NDArray[np.float64], corners: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Triangles of polygons without holes, in the order of the polygons.

    Parameters
    ----------
    vertices : (n, 3) float64 array
    corners : (sum of counts,) int64 array
        Vertex numbers of all polygons one after the other.
    counts : (f,) int64 array, >= 3
        Corners of each polygon.

    Returns
    -------
    vertices : (n + e, 3) float64 array
        With a new vertex at each place where a polygon crosses itself.
    triangles : (m, 3) int64 array
    faces : (m,) int64 array
        The polygon that each triangle is from.
    """
    starts = np.cumsum(counts) - counts
    triangles, faces, added = [], [], []
    total = len(vertices)
    for count in np.unique(counts).tolist():
        which = np.flatnonzero(counts == count)
        polygons = corners[starts[which, None] + np.arange(count)]
        fan = np.stack([np.repeat(polygons[:, :1], count - 2, axis=1), polygons[:, 1:-1], polygons[:, 2:]], axis=2)
        whole = np.ones(len(which), bool)
        if count > 3:
            at = vertices[polygons] - vertices[polygons[:, :1]]
            area = newell(at)
            parts = np.einsum("ijk,ik->ij", np.cross(at[:, 1:-1], at[:, 2:]), area)
            whole = (parts >= -_FLAT * (area * area).sum(axis=1, keepdims=True)).all(axis=1)
        triangles.append(fan[whole].reshape(-1, 3))
        faces.append(np.repeat(which[whole], count - 2))
        for row in np.flatnonzero(~whole):
            cut, new = triangulate(vertices[polygons[row]], [count])
            numbers = np.concatenate([polygons[row], np.arange(total, total + len(new))])
            triangles.append(numbers[cut])
            faces.append(np.full(len(cut), which[row]))
            added.append(new)
            total += len(new)
    face = np.concatenate(faces)
    order = np.argsort(face, kind="stable")
    return np.concatenate([vertices, *added]), np.concatenate(triangles)[order], face[order]


def triangulate(corners: NDArray[np.float64], sizes: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Triangles of one polygon that may be concave and have holes, by constrained Delaunay triangulation.

    Parameters
    ----------
    corners : (k, 3) float64 array
        Corners of the outer ring, then of each hole; the last corner of a ring does not repeat its first.
    sizes : sequence of int, >= 3
        Corners of each ring.

    Returns
    -------
    triangles : (m, 3) int64 array
        Numbers of corners, turning like the outer ring; none when the polygon has no area.
    added : (e, 3) float64 array
        Corners k, k + 1, ...: where rings cross themselves or each other.
    """
    import shapely

    none = np.empty((0, 3), np.int64), np.empty((0, 3))
    origin = corners[0]
    normal = newell(corners[: sizes[0]] - origin)
    length = np.linalg.norm(normal)
    if not length > 0:
        return none
    normal = normal / length
    u = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    u /= np.linalg.norm(u)
    v = np.cross(normal, u)
    flat = np.column_stack([(corners - origin) @ u, (corners - origin) @ v])
    rings = np.split(flat, np.cumsum(sizes)[:-1])
    polygon = shapely.Polygon(rings[0], rings[1:])
    if not polygon.is_valid:
        polygon = shapely.make_valid(polygon, method="structure")
    areas = [part for part in shapely.get_parts([polygon]) if part.geom_type == "Polygon" and part.area > 0]
    pieces = shapely.get_parts(shapely.constrained_delaunay_triangles(areas))
    if not len(pieces):
        return none
    points = shapely.get_coordinates(pieces).reshape(-1, 4, 2)[:, :3]
    a, b, c = (points[:, k] for k in range(3))
    turn = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    points[turn < 0] = points[turn < 0][:, ::-1]
    number: dict[tuple[float, float], int] = {}
    for k, (x, y) in enumerate(flat.tolist()):
        number.setdefault((x, y), k)
    triangles = np.array([number.setdefault((x, y), len(number)) for x, y in points.reshape(-1, 2).tolist()])
    new = np.array([place for place, k in number.items() if k >= len(corners)]).reshape(-1, 2)
    return triangles.reshape(-1, 3), origin + new[:, :1] * u + new[:, 1:] * v
