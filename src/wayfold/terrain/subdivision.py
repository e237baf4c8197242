"""From painted polygons to triangles: noding, faces, constrained Delaunay triangulation (Tibboel 2012, section 4.2.2).

All outlines are noded together first, so that neighbouring faces share every corner; each face is then triangulated
by itself and belongs to the polygon that was painted last over it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold.core.arrays import distinct
from wayfold.errors import GeometryError
from wayfold.geometry.frame import same_points
from wayfold.terrain import _kernels

Array = NDArray[np.float64]
Ints = NDArray[np.int32]

UNPAINTED = -1
_BUCKETS = 1.0  # buckets a triangle


class Faces(NamedTuple):
    """Triangles of the faces between lines."""

    vertices: Array  # (n, 2)
    triangles: Ints  # (m, 3)
    places: Array  # (f, 2), a point inside each face
    face: NDArray[np.int64]  # (m,), the face that a triangle is a part of


def paint(
    shapes: NDArray[Any], bounds: tuple[float, float, float, float] | None, grain: float
) -> tuple[Array, Ints, Ints]:
    """Vertices, triangles and the number of the topmost shape (or UNPAINTED) of each triangle.

    Parameters
    ----------
    shapes : array of shapely polygons
        Valid, with area; later ones lie over earlier ones.
    bounds : (4,), optional
        A rectangle that is covered whether it is painted or not; what lies outside of it is cut off.
    grain : float, metres
        Slivers about as thin as this come from rounding and are closed.
    """
    lines = shapely.boundary(shapes)
    if bounds is not None:
        frame = shapely.box(*bounds)
        lines = np.append(shapely.intersection(lines, frame), shapely.boundary(frame))
    found = node(lines, grain)
    owners = _owners(shapes, found.places)[found.face]
    inside = np.ones(len(owners), np.bool_) if bounds is not None else owners != UNPAINTED
    if not inside.any():
        raise GeometryError("the regions cover no area")
    return found.vertices, found.triangles[inside], owners[inside]


def node(lines: NDArray[Any], grain: float) -> Faces:
    """Triangles between lines that may cross; slivers about as thin as `grain` are closed."""
    best = triangulate(shapely.union_all(lines))
    thin = thinnest(best.vertices, best.triangles)
    for way in (_tied, _rounded):
        if thin < 4 * grain:
            found = triangulate(way(lines, grain))
            height = thinnest(found.vertices, found.triangles)
            if height > thin:
                best, thin = found, height
    return best


def _rounded(lines: NDArray[Any], grain: float) -> Any:
    """Noded lines with all ends on a lattice."""
    return shapely.union_all(lines, grid_size=grain)


def _tied(lines: NDArray[Any], near: float) -> Any:
    """Noded lines that pass through every end of another line that they pass within `near`."""
    points = distinct(same_points(distinct(shapely.get_coordinates(lines)).rows, near)).rows
    line, point = shapely.STRtree(shapely.points(points)).query(lines, predicate="dwithin", distance=near)
    order = np.argsort(line, kind="stable")
    rows = np.split(point[order], np.flatnonzero(np.diff(line[order])) + 1)
    tied = lines.copy()
    for row, index in zip(rows, np.unique(line).tolist(), strict=True):
        tied[index] = shapely.snap(lines[index], shapely.multipoints(points[row]), near)
    return shapely.union_all(tied)


def triangulate(linework: Any) -> Faces:
    """Triangles of the faces between noded lines."""
    faces = shapely.get_parts(shapely.polygonize([linework]))
    if not len(faces):
        raise GeometryError("the regions enclose no area")
    places = shapely.get_coordinates(shapely.point_on_surface(faces))
    points, number = split(faces)
    order = np.argsort(curve(points.mean(axis=1)), kind="stable")
    points, number = points[order], number[order]
    # As complex numbers, which are sorted many times faster than rows; 0.0 makes one number of the two zeros.
    flat = np.ascontiguousarray(points.reshape(-1, 2) + 0.0).view(np.complex128).ravel()
    flat, first, inverse = np.unique(flat, return_index=True, return_inverse=True)
    vertices = flat.view(np.float64).reshape(-1, 2)
    rank = np.argsort(first)  # vertices in the order in which triangles need them
    place = np.empty(len(rank), np.int32)
    place[rank] = np.arange(len(rank))
    vertices, triangles = np.ascontiguousarray(vertices[rank]), place[inverse.ravel()].reshape(-1, 3)
    turn = turns(vertices, triangles)
    triangles[turn < 0] = triangles[turn < 0][:, ::-1]
    real = turn != 0
    return Faces(vertices, np.ascontiguousarray(triangles[real]), places, number[real])


def split(faces: NDArray[Any]) -> tuple[Array, NDArray[np.int64]]:
    """The corners (m, 3, 2) of the triangles of faces, and the face of each."""
    plain = (shapely.get_num_coordinates(faces) == 4) & (shapely.get_num_interior_rings(faces) == 0)
    corners = [shapely.get_coordinates(faces[plain]).reshape(-1, 4, 2)[:, :3]]
    owner = [np.flatnonzero(plain)]
    rest = np.flatnonzero(~plain)
    if len(rest):
        pieces, index = shapely.get_parts(shapely.constrained_delaunay_triangles(faces[rest]), return_index=True)
        corners.append(shapely.get_coordinates(pieces).reshape(-1, 4, 2)[:, :3])
        owner.append(rest[index])
    return np.concatenate(corners), np.concatenate(owner)


def turns(vertices: Array, triangles: Ints) -> NDArray[np.int8]:
    """1 for each triangle that runs counter-clockwise, -1 for clockwise, 0 without area; exact."""
    found = np.empty(len(triangles), np.int8)
    _kernels.turns(vertices, np.ascontiguousarray(triangles), found)
    return found


def curve(points: Array, group: NDArray[np.int64] | None = None) -> NDArray[np.uint64]:
    """Places on a curve that visits near points soon after each other (Morton's), so that searches stay in cache.

    Points of a group (numbered from 0, none of them empty) are on a curve of their own.
    """
    if group is None:
        group = np.zeros(len(points), np.int64)
    count = int(group.max(initial=-1)) + 1
    low, high = np.full((count, 2), np.inf), np.full((count, 2), -np.inf)
    np.minimum.at(low, group, points)
    np.maximum.at(high, group, points)
    size = np.maximum((high - low).max(axis=1, initial=0.0), 1e-300)
    cells = ((points - low[group]) / size[group, None] * 0xFFFF).astype(np.uint64)
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        cells = (cells | cells << np.uint64(shift)) & np.uint64(mask)
    return np.asarray(cells[:, 0] | cells[:, 1] << np.uint64(1))


def _owners(shapes: NDArray[Any], places: Array) -> Ints:
    """The last shape that covers each place, UNPAINTED where none does."""
    unique, _, inverse, _ = distinct(places)
    point, shape = shapely.STRtree(shapes).query(shapely.points(unique), predicate="intersects")
    owners = np.full(len(unique), UNPAINTED, np.int32)
    np.maximum.at(owners, point, shape.astype(np.int32))
    return owners[inverse]


def thinnest(vertices: Array, triangles: Ints) -> float:
    """The least height of any triangle."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    turn = np.abs((b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0]))
    longest = np.max([np.hypot(*(p - q).T) for p, q in ((a, b), (b, c), (c, a))], axis=0)
    return float((turn / longest).min()) if len(turn) else 0.0


def fans(mesh: _kernels.Triangulation, open_: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Into how many parts the open triangles around each vertex fall that share an edge there; 0 for a whole circle."""
    corners = np.bincount(mesh.triangles[open_].ravel(), minlength=len(mesh.vertices))
    half = np.flatnonzero(mesh.twins > np.arange(mesh.twins.size))
    half = half[open_[half // 3] & open_[mesh.twins[half] // 3]]
    begins, ends = mesh.triangles.ravel()[half], mesh.triangles[:, [1, 2, 0]].ravel()[half]
    return np.asarray(corners - np.bincount(np.concatenate([begins, ends]), minlength=len(mesh.vertices)))


def connect(vertices: Array, triangles: Ints) -> _kernels.Triangulation:
    """Half-edges and buckets of a triangulation."""
    count = len(triangles)
    begins = triangles.ravel().astype(np.int64)
    ends = triangles[:, [1, 2, 0]].ravel().astype(np.int64)
    key = begins * len(vertices) + ends
    order = np.argsort(key)
    if (np.diff(key[order]) == 0).any():
        raise GeometryError("triangles overlap: an edge has two triangles on the same side")
    back = ends * len(vertices) + begins
    place = np.minimum(np.searchsorted(key[order], back), key.size - 1)
    twins = np.where(key[order][place] == back, order[place], -1).astype(np.int32)

    low, high = vertices.min(axis=0), vertices.max(axis=0)
    size = np.maximum(high - low, 1e-300)
    bucket = max(float(np.sqrt(size[0] * size[1] / (_BUCKETS * count))), float(size.max()) / 30_000)
    columns, rows = (int(np.ceil(side / bucket)) for side in size)
    frame = np.array([low[0], low[1], bucket, columns, rows], np.float64)
    found = _in_buckets(vertices, triangles, twins, frame, np.empty((0, 2)))
    touching = fans(found, np.ones(count, np.bool_)) > 1
    return found._replace(pinches=np.ascontiguousarray(vertices[touching]))


def reconnect(mesh: _kernels.Triangulation, vertices: Array, triangles: Ints, pieces: Ints) -> _kernels.Triangulation:
    """The triangulation after some triangles were cut; all others keep their numbers, and vertices theirs.

    Parameters
    ----------
    mesh : Triangulation
        As it was.
    vertices, triangles
        As they are now, new ones at the end.
    pieces : (p,) int32 array
        Triangles that are not as they were.
    """
    count, size = len(mesh.triangles), len(vertices)
    fresh = np.zeros(len(triangles), np.bool_)
    fresh[pieces] = True
    twins = np.concatenate([mesh.twins, np.empty(3 * (len(triangles) - count), np.int32)])
    half = (3 * np.flatnonzero(fresh)[:, None] + np.arange(3)).ravel()
    # What is not cut is joined anew where it was beside what is.
    facing = mesh.twins[half[half < 3 * count]]
    facing = facing[facing >= 0]
    half = np.concatenate([half, facing[~fresh[facing // 3]]])
    begins = triangles.ravel()[half].astype(np.int64)
    ends = triangles[half // 3, (half + 1) % 3].astype(np.int64)
    key, back = begins * size + ends, ends * size + begins
    order = np.argsort(key)
    if (np.diff(key[order]) == 0).any():
        raise GeometryError("triangles overlap: an edge has two triangles on the same side")
    place = np.minimum(np.searchsorted(key[order], back), len(key) - 1)
    twins[half] = np.where(key[order][place] == back, half[order[place]], -1)
    return _in_buckets(vertices, triangles, twins, mesh.frame, mesh.pinches)


def _in_buckets(vertices: Array, triangles: Ints, twins: Ints, frame: Array, pinches: Array) -> _kernels.Triangulation:
    """The triangulation with its triangles in buckets."""
    bounds = np.zeros(int(frame[3]) * int(frame[4]) + 1, np.int64)
    _kernels.count_in_buckets(vertices, triangles, frame, bounds)
    np.cumsum(bounds, out=bounds)
    inside = np.empty(int(bounds[-1]), np.int32)
    _kernels.fill_buckets(vertices, triangles, frame, bounds[:-1].copy(), inside)
    return _kernels.Triangulation(vertices, triangles, twins, bounds, inside, frame, pinches)
