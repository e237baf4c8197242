"""Surfaces of Quake brushes (half-spaces) and patches (biquadratic Bezier surfaces)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_NEAR = 0.05  # units; planes are float32 at coordinates in the thousands, and bevels cut tips of about this size
_PARALLEL = 1e-4  # sine of the angle below which two planes have no useful common line
_FAR = 262144.0  # units; no level reaches this far, so a brush that does is open
_BLOCK = 1 << 20  # line-plane pairs that are looked at together
_MAX_PIECES = 32

_Surface = tuple[NDArray[np.float64], NDArray[np.int64]]
_NOTHING: _Surface = (np.empty((0, 3)), np.empty((0, 3), np.int64))


def brush_faces(normals: NDArray[np.float64], distances: NDArray[np.float64]) -> _Surface:
    """Vertices and outward triangles of the solid ``normals @ p <= distances``; nothing when it has no volume.

    Every pair of planes meets in a line; what the other planes leave of that line is an edge of the solid. The surface
    is the convex hull of the ends of all edges, merged within 0.05 units. It is closed whatever rounding does, which
    faces gathered plane by plane are not: compilers add bevel planes that touch a brush along an edge, nearly.
    """
    # About a place between the planes: how far a line drifts from one that it hardly meets grows with the coordinates.
    middle = np.linalg.lstsq(normals, distances, rcond=None)[0] if len(normals) else np.zeros(3)
    corners = _merge(_edge_ends(normals, distances - normals @ middle) + middle)
    if len(corners) < 4:
        return _NOTHING
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(corners)
    except QhullError:  # flat
        return _NOTHING
    triangles = hull.simplices.astype(np.int64)
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a - corners.mean(axis=0)) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return corners, triangles


def _edge_ends(normals: NDArray[np.float64], distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Both ends of every edge of the solid, (2 e, 3)."""
    count = len(normals)
    first, second = np.triu_indices(count, 1)
    ends = [np.empty((0, 3))]
    for block in range(0, len(first), max(1, _BLOCK // max(count, 1))):
        rows = slice(block, block + max(1, _BLOCK // count))
        i, j = first[rows], second[rows]
        along = np.cross(normals[i], normals[j])
        sine = np.linalg.norm(along, axis=1)
        useful = sine > _PARALLEL
        i, j, along, sine = i[useful], j[useful], along[useful], sine[useful, None]
        at = distances[i, None] * np.cross(normals[j], along) + distances[j, None] * np.cross(along, normals[i])
        at /= sine**2
        along /= sine
        room = distances - at @ normals.T
        speed = along @ normals.T
        index = np.arange(len(i))
        for own in (i, j):  # a line does not leave its own planes, but for rounding
            room[index, own], speed[index, own] = 0.0, 0.0
        level = np.abs(speed) < _PARALLEL
        time = np.divide(room, speed, out=np.zeros_like(room), where=~level)
        last = np.where(~level & (speed > 0), time, np.inf).min(axis=1)
        start = np.where(~level & (speed < 0), time, -np.inf).max(axis=1)
        kept = (
            ((room >= -_NEAR) | ~level).all(axis=1) & (last - start > _NEAR) & (np.abs([start, last]) < np.inf).all(0)
        )
        ends += [at[kept] + start[kept, None] * along[kept], at[kept] + last[kept, None] * along[kept]]
    points = np.concatenate(ends)
    return points[(np.abs(points) < _FAR).all(axis=1)]


def _merge(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """One of each group of points that are nearer than `_NEAR` to each other."""
    kept: list[NDArray[np.float64]] = []
    while len(points):
        kept.append(points[0])
        points = points[(np.abs(points - points[0]) > _NEAR).any(axis=1)]
    return np.array(kept).reshape(-1, 3)


def patch_faces(control: NDArray[np.float64], facing: NDArray[np.float64], error: float) -> _Surface:
    """Vertices and triangles of a patch.

    Parameters
    ----------
    control : (h, w, 3) float64 array, h and w odd
        Control points; every 3 x 3 of them with even corners is one biquadratic Bezier surface.
    facing : (3,) or (h, w, 3) float64 array
        Normals of the control points, or one for all: the side that is seen. A pipe has its own for every part.
    error : float, units, > 0
        Largest distance between a curve and its pieces.
    """
    rows = _subdivide(np.concatenate([control, np.broadcast_to(facing, control.shape)], axis=2), error)
    grid = _subdivide(rows.transpose(1, 0, 2), error).transpose(1, 0, 2)
    height, width = grid.shape[:2]
    number = np.arange(height * width).reshape(height, width)
    a, b, c, d = (part.ravel() for part in (number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]))
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    vertices, normals = grid.reshape(-1, 6)[:, :3].copy(), grid.reshape(-1, 6)[:, 3:]
    at = vertices[triangles]
    areas = np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0])
    turned = np.einsum("ij,ij->i", areas, normals[triangles].sum(axis=1)) < 0
    triangles[turned] = triangles[turned][:, ::-1]
    return vertices, triangles[(areas != 0).any(axis=1)]


def _subdivide(control: NDArray[np.float64], error: float) -> NDArray[np.float64]:
    """Points and normals on the quadratic curves down each column of a (2 n + 1, k, 6) array of control points."""
    pieces = [control[:1]]
    for top in range(0, len(control) - 1, 2):
        a, b, c = control[top : top + 3]
        # A quadratic curve leaves a chord over 1/n of it by |a - 2 b + c| / (4 n^2) at most.
        bend = float(np.linalg.norm((a - 2 * b + c)[:, :3], axis=1).max())
        count = min(_MAX_PIECES, max(1, math.ceil(math.sqrt(bend / (4 * error)))))
        t = (np.arange(1, count + 1) / count)[:, None, None]
        pieces.append((1 - t) ** 2 * a + 2 * t * (1 - t) * b + t**2 * c)
    return np.concatenate(pieces)
