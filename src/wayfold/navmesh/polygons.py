"""Polygons from elsewhere: checks, directions, and who borders on whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.core.arrays import distinct
from wayfold.errors import GeometryError, ParameterError
from wayfold.geometry.frame import Frame
from wayfold.navmesh import _interval_kernels
from wayfold.navmesh._ground_kernels import PolyMesh
from wayfold.navmesh.topology import near_of

_FLAT = 1e-9  # sine of an angle by which a corner may be dented, where coordinates were rounded elsewhere


def from_lists(
    vertices: ArrayLike, polygons: Sequence[ArrayLike] | ArrayLike, areas: ArrayLike | None = None
) -> tuple[PolyMesh, NDArray[np.uint8]]:
    """A checked mesh of polygons that share edges."""
    points = checks.points3(vertices, "vertices")
    rows = [_row(polygon, at, len(points)) for at, polygon in enumerate(polygons)]  # type: ignore[arg-type]
    if not rows:
        raise GeometryError("a navigation mesh needs at least one polygon")
    # Equal vertices become one, the first of them.
    _, first, inverse, _ = distinct(points)
    same = first[inverse]
    sizes = np.array([len(row) for row in rows])
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    corners = same[np.concatenate(rows)].astype(np.int32)
    corners = turned_left(points, offsets, corners)
    neighbours = border(offsets, corners)
    ground, area = bare(points, offsets, corners, neighbours), _check_areas(areas, len(rows))
    return ground, area


def bare(
    points: NDArray[np.float64], offsets: NDArray[np.int64], corners: NDArray[np.int32], neighbours: NDArray[np.int32]
) -> PolyMesh:
    """A mesh whose surfaces are those of its polygons' corners, with only the vertices that it uses."""
    used = np.zeros(len(points), np.bool_)
    used[corners] = True
    number = (np.cumsum(used) - 1).astype(np.int32)
    return PolyMesh(
        np.ascontiguousarray(points[used]),
        offsets,
        number[corners],
        neighbours,
        np.empty((0, 3)),
        np.zeros(len(offsets), np.int64),
        np.empty((0, 3), np.int32),
    )


def _row(polygon: ArrayLike, at: int, count: int) -> NDArray[np.int64]:
    row = checks.numbers(polygon, f"polygon {at}", "at least 3 vertex numbers")
    if row.ndim != 1 or len(row) < 3 or row.dtype.kind not in "iu":
        raise GeometryError(f"polygon {at} must be at least 3 vertex numbers, not {checks.shown(polygon)}")
    if row.min() < 0 or row.max() >= count:
        raise GeometryError(f"polygon {at} names a vertex outside 0 to {count - 1}: {row.tolist()}")
    return row


def _check_areas(areas: ArrayLike | None, count: int) -> NDArray[np.uint8]:
    if areas is None:
        return np.ones(count, np.uint8)
    array = checks.numbers(areas, "areas")
    if (
        array.shape != (count,)
        or array.dtype.kind not in "iu"
        or (count and not 0 <= array.min() <= array.max() <= 255)
    ):
        raise ParameterError(f"areas must be a whole number from 0 to 255 for each of the {count} polygons")
    return array.astype(np.uint8)


def turned_left(
    points: NDArray[np.float64], offsets: NDArray[np.int64], corners: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The corners with every polygon counter-clockwise; refuses polygons that are not convex seen from above.

    A corner may be dented by a small angle, or by no more than the rounding of coordinates, which is no small angle
    where corners are close together.
    """
    result = corners.copy()
    frame = Frame.of(points)
    points, near = frame.local(points), near_of(frame)
    for at in range(len(offsets) - 1):
        row = corners[offsets[at] : offsets[at + 1]]
        ring = points[row, :2]
        step = np.roll(ring, -1, axis=0) - ring
        length = np.hypot(*step.T)
        if len(set(row.tolist())) < len(row) or (length == 0).any():
            raise GeometryError(f"polygon {at} has the same corner twice: {row.tolist()}")
        # All corners lie on one side of every edge.
        x, y = ring[:, 0] - ring[:, :1], ring[:, 1] - ring[:, 1:]
        turn = step[:, :1] * y - step[:, 1:] * x
        far = np.hypot(x, y)
        limit = np.maximum(_FLAT * length[:, None] * far, near * (length[:, None] + far))
        area = turn[:, 0].sum()
        if (turn >= -limit).all() and area >= 0:
            continue
        if (turn <= limit).all() and area <= 0:
            result[offsets[at] : offsets[at + 1]] = row[::-1]
            continue
        raise GeometryError(f"polygon {at} is not convex seen from above: {row.tolist()}")
    return result


def border(offsets: NDArray[np.int64], corners: NDArray[np.int32]) -> NDArray[np.int32]:
    """The polygon beyond each edge: the one that has the same edge in the other direction."""
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    nexts = np.arange(1, len(corners) + 1)
    nexts[offsets[1:] - 1] = offsets[:-1]
    count = int(corners.max()) + 1
    ahead = corners.astype(np.int64) * count + corners[nexts]
    back = corners[nexts].astype(np.int64) * count + corners
    order = np.argsort(ahead, kind="stable")
    twice = np.flatnonzero(ahead[order][1:] == ahead[order][:-1])
    if twice.size:
        a, b = owners[order[twice[0]]], owners[order[twice[0] + 1]]
        raise GeometryError(f"polygons {a} and {b} lie on the same side of an edge, so they overlap")
    place = np.minimum(np.searchsorted(ahead[order], back), len(order) - 1)
    match = order[place]
    return np.where(ahead[match] == back, owners[match], -1).astype(np.int32)


def check_ground(ground: PolyMesh, areas: NDArray[Any]) -> None:
    """Refuse arrays that a kernel could read beyond."""
    count = len(ground.offsets) - 1
    wanted = (np.float64, np.int64, np.int32, np.int32, np.float64, np.int64, np.int32)
    for array, dtype, name in zip(ground, wanted, PolyMesh._fields, strict=True):
        if array.dtype != dtype or not array.flags.c_contiguous:
            raise GeometryError(f"{name} must be a C-contiguous {np.dtype(dtype)} array, not {array.dtype}")
    for array, name in ((ground.vertices, "vertices"), (ground.surface_points, "surface_points")):
        if array.ndim != 2 or array.shape[1] != 3 or not np.isfinite(array).all():
            raise GeometryError(f"{name} must be finite points of shape (n, 3), not {array.shape}")
    edges = len(ground.corners)
    for offsets, size, name in (
        (ground.offsets, edges, "offsets"),
        (ground.surface_offsets, len(ground.surface_triangles), "surface_offsets"),
    ):
        if offsets.shape != (count + 1,) or offsets[0] != 0 or offsets[-1] != size or (np.diff(offsets) < 0).any():
            raise GeometryError(f"{name} must rise from 0 to {size}")
    if count and np.diff(ground.offsets).min() < 3:
        raise GeometryError("a polygon has fewer than 3 corners")
    if areas.shape != (count,) or areas.dtype != np.uint8 or ground.neighbours.shape != (edges,):
        raise GeometryError("areas and neighbours must have one entry for each polygon and edge")
    for array, low, high, name in (
        (ground.corners, 0, len(ground.vertices), "corners"),
        (ground.neighbours, -1, count, "neighbours"),
        (ground.surface_triangles, 0, len(ground.surface_points), "surface_triangles"),
    ):
        if array.size and (array.min() < low or array.max() >= high):
            raise GeometryError(f"{name} must be from {low} to {high - 1}")
    twins = np.empty(edges, np.int32)
    if _interval_kernels.twin_edges(ground.offsets, ground.corners, ground.neighbours, 0, count, twins):
        raise GeometryError("neighbours must name each other across the same edge")
