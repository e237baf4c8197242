"""Polygons painted over triangles: only the triangles that an outline meets are cut, all others stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold.core.arrays import distinct
from wayfold.core.bounded_cache import BoundedCache
from wayfold.geometry.frame import same_points
from wayfold.geometry.polygon import overlaying
from wayfold.terrain._kernels import Triangulation
from wayfold.terrain.ground import Array, Ground, Ints
from wayfold.terrain.subdivision import UNPAINTED, reconnect, triangulate

_NEAR = 4.0  # of the ground's resolution: points that lie as near to each other are one


_ROUNDS = 4  # in which ends are made one; what they then meet is mostly nothing


class Outline(NamedTuple):
    """Where one polygon lies."""

    touched: Ints  # triangles that its outline meets, or misses by no more than rounding
    inside: Ints  # other triangles that it covers
    nbytes: int


class Cluster(NamedTuple):
    """What polygons make of the triangles that their outlines meet."""

    touched: Ints
    fresh: Array  # (k, 2), new vertices
    parts: NDArray[np.int64]  # (m, 3), vertices of the pieces; new ones are numbered -1, -2, ...
    of: Ints  # (m,), the triangle that each piece is a part of
    over: Ints  # (m,), the last polygon of the cluster over each piece, UNPAINTED for none
    nbytes: int


class Pieces(NamedTuple):
    """Triangles that are not as they were, cluster by cluster."""

    numbers: Ints  # (p,)
    of: Ints  # (p,), the triangle of the ground that each is a part of
    cluster: Ints  # (p,), the cluster of each
    vertex_cluster: Ints  # (v,), the cluster of each new vertex, in the order of the vertices

    def after(self, pieces: int, vertices: int) -> Pieces:
        """Those behind the first so many pieces and new vertices."""
        return Pieces(self.numbers[pieces:], self.of[pieces:], self.cluster[pieces:], self.vertex_cluster[vertices:])


class Painted:
    """Triangles after cutting.

    Vertices keep their numbers, new ones come after, and so it is with triangles: the first piece of one that was cut
    takes its number, the others come after all. What one more polygon cuts therefore comes after everything, and the
    result is the same whether it was made of the one with a polygon less or from the beginning.
    """

    def __init__(
        self, keys: list[bytes], mesh: Triangulation | None, vertices: Array, triangles: Ints, of: Ints, over: Ints
    ) -> None:
        self.keys = keys
        self.mesh = mesh  # None where triangles could not keep their numbers
        self.vertices = vertices
        self.triangles = triangles
        self.of = of  # the triangle that each was a part of
        self.over = over  # the last polygon over each, UNPAINTED for none
        none = np.empty(0, np.int32)
        self.pieces = Pieces(none, none, none, none)
        self.covers = over  # the last polygon over each whole triangle of the ground
        self.cut = np.zeros(len(of), np.bool_)  # triangles of the ground that are in pieces
        self.before: Pieces | None = None  # the pieces of the one it was made of

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        arrays = [self.vertices, self.triangles, self.of, self.over, self.covers, self.cut, *self.pieces]
        return sum(array.nbytes for array in [*arrays, *(self.mesh or ())])


@overlaying()
def repaint(ground: Ground, polygons: Sequence[Any], prepared: BoundedCache) -> Painted:
    """Cut the triangles of a ground along the outlines of polygons.

    Parameters
    ----------
    ground : Ground
    polygons : list of shapely polygons or multipolygons
        Valid, with area, in the ground's coordinates; they may reach out of the map.
    prepared : BoundedCache
        Of this ground.
    """
    count = len(ground.mesh.triangles)
    keys: list[bytes] = shapely.to_wkb(np.array(polygons, object)).tolist()
    outlines: list[Outline] = [
        prepared.get(("outline", key), partial(_outline, ground, polygon))
        for key, polygon in zip(keys, polygons, strict=True)
    ]
    last: Painted | None = prepared.last
    begin = 0 if last is None else len(last.keys)
    if (
        last is None
        or keys[:begin] != last.keys
        or any(last.cut[outline.touched].any() for outline in outlines[begin:])
    ):
        mesh = ground.mesh
        own = np.arange(count, dtype=np.int32)
        last = Painted([], mesh, mesh.vertices, mesh.triangles, own, np.full(count, UNPAINTED, np.int32))
        begin = 0
    groups = [[begin + number for number in group] for group in _clusters(outlines[begin:])]
    clusters: list[Cluster] = [
        prepared.get(
            ("cluster", *(keys[number] for number in members)),
            partial(_cut, ground, [polygons[n] for n in members], [outlines[n] for n in members]),
        )
        for members in groups
    ]
    painted = _extended(last, keys, outlines, groups, clusters)
    if painted.mesh is not None:
        prepared.last = painted
    return painted


def _extended(
    last: Painted, keys: list[bytes], outlines: list[Outline], groups: list[list[int]], clusters: list[Cluster]
) -> Painted:
    """What was painted, with clusters of more polygons, which meet no triangle that is in pieces already."""
    covers = last.covers.copy()
    for number in range(len(last.keys), len(keys)):
        covers[outlines[number].inside] = number
    over = np.maximum(last.over, covers[last.of])  # the last one counts
    total = len(last.triangles)
    of = np.concatenate([np.empty(0, np.int32), *(cluster.of for cluster in clusters)])
    numbers = _places(of, total)
    more = int(numbers.max(initial=total - 1)) + 1 - total
    # All clusters at once, with the new vertices and the polygons of each after those of the one before it.
    sizes = np.array([len(cluster.of) for cluster in clusters], np.int64)
    fresh = np.array([len(cluster.fresh) for cluster in clusters], np.int64)
    parts = np.concatenate([np.empty((0, 3), np.int64), *(cluster.parts for cluster in clusters)])
    first = np.repeat(len(last.vertices) + np.cumsum(fresh) - fresh, sizes)
    parts = np.where(parts < 0, first[:, None] - 1 - parts, parts)
    own = np.concatenate([np.empty(0, np.int32), *(cluster.over for cluster in clusters)])
    members = np.array([len(group) for group in groups], np.int64)
    polygon = np.concatenate([np.empty(0, np.int64), *groups]).astype(np.int32)
    polygon = np.append(polygon, UNPAINTED)[np.where(own < 0, -1, np.repeat(np.cumsum(members) - members, sizes) + own)]
    triangles = np.concatenate([last.triangles, np.empty((more, 3), np.int32)])
    triangles[numbers] = parts
    sources = np.concatenate([last.of, np.empty(more, np.int32)])
    sources[numbers] = of
    over = np.concatenate([over, np.empty(more, np.int32)])
    # Polygons that cover the whole triangle count too, where they come later.
    over[numbers] = np.maximum(polygon, covers[of])
    vertices = np.concatenate([last.vertices, *(cluster.fresh for cluster in clusters)])
    touched = np.concatenate([np.empty(0, np.int32), *(cluster.touched for cluster in clusters)])
    cut = last.cut.copy()
    cut[touched] = True
    gone = np.setdiff1d(touched, of)
    if len(gone):  # a triangle as thin as rounding may leave nothing
        kept = np.delete(np.arange(len(triangles)), gone)
        return Painted(keys, None, vertices, np.ascontiguousarray(triangles[kept]), sources[kept], over[kept])
    mesh = last.mesh
    if len(of) and mesh is not None:
        mesh = reconnect(mesh, vertices, triangles, numbers)
    else:
        vertices, triangles = last.vertices, last.triangles
    painted = Painted(keys, mesh, vertices, triangles, sources, over)
    painted.covers, painted.cut, painted.before = covers, cut, last.pieces
    count = int(last.pieces.cluster.max(initial=-1)) + 1
    cluster = (count + np.repeat(np.arange(len(clusters)), sizes)).astype(np.int32)
    vertex_cluster = (count + np.repeat(np.arange(len(clusters)), fresh)).astype(np.int32)
    new = numbers, of, cluster, vertex_cluster
    painted.pieces = Pieces(*(np.concatenate(pair) for pair in zip(last.pieces, new, strict=True)))
    return painted


def _places(of: Ints, count: int) -> Ints:
    """The number of each piece: the first of a triangle takes its number, the others come after all."""
    _, first = np.unique(of, return_index=True)
    numbers = np.empty(len(of), np.int32)
    more = np.ones(len(of), np.bool_)
    more[first] = False
    numbers[first] = of[first]
    numbers[more] = count + np.arange(int(more.sum()), dtype=np.int32)
    return numbers


def _outline(ground: Ground, polygon: Any) -> Outline:
    vertices, triangles = ground.mesh.vertices, ground.mesh.triangles
    where = ground.near(polygon.bounds)
    corners = vertices[triangles[where]]
    outline = polygon.boundary
    shapely.prepare([polygon, outline])
    # It may yet move a little, to points that it nearly passes.
    meets = shapely.dwithin(outline, _polygons(corners), 2 * _NEAR * ground.slack)
    centres = corners.mean(axis=1)
    covered = ~meets & shapely.intersects_xy(polygon, centres[:, 0], centres[:, 1])
    touched, inside = where[meets].astype(np.int32), where[covered].astype(np.int32)
    return Outline(touched, inside, touched.nbytes + inside.nbytes)


def _clusters(outlines: Sequence[Outline]) -> list[list[int]]:
    """Polygons that meet the same triangles, directly or by way of others, in their order."""
    rows = np.repeat(np.arange(len(outlines)), [len(outline.touched) for outline in outlines])
    columns = np.concatenate([np.empty(0, np.int32), *(outline.touched for outline in outlines)])
    order = np.lexsort((rows, columns))
    same = np.flatnonzero(columns[order][1:] == columns[order][:-1])
    root = list(range(len(outlines)))

    def find(number: int) -> int:
        while root[number] != number:
            root[number] = number = root[root[number]]
        return number

    pairs = distinct(np.column_stack([rows[order[same]], rows[order[same + 1]]])).rows
    for a, b in pairs.tolist():
        low, high = sorted((find(a), find(b)))
        root[high] = low
    members: dict[int, list[int]] = {}
    for number, outline in enumerate(outlines):
        if len(outline.touched):
            members.setdefault(find(number), []).append(number)
    return list(members.values())


def _cut(ground: Ground, polygons: list[Any], outlines: list[Outline]) -> Cluster:
    vertices, triangles = ground.mesh.vertices, ground.mesh.triangles
    touched = np.unique(np.concatenate([outline.touched for outline in outlines]))
    among = np.unique(triangles[touched])
    pieces = _polygons(vertices[triangles[touched]])
    lines = np.concatenate([shapely.boundary(pieces), shapely.boundary(np.array(polygons, object))])
    found = triangulate(_noded(lines, vertices[among], _NEAR * ground.slack))
    inside, of = shapely.STRtree(pieces).query(shapely.points(found.places), predicate="intersects")
    # What lies in no touched triangle is outside of the map, or is made of triangles that stay.
    owner = np.full(len(found.places), -1, np.int64)
    owner[inside] = of
    over = np.full(len(found.places), UNPAINTED, np.int32)
    for number, polygon in enumerate(polygons):
        shapely.prepare(polygon)
        over[shapely.intersects_xy(polygon, found.places[:, 0], found.places[:, 1])] = number
    mine = owner[found.face] >= 0
    parts, face = found.triangles[mine], found.face[mine]
    numbers, fresh = _numbered(found.vertices, np.unique(parts), vertices, among)
    found_parts = touched, fresh, numbers[parts], touched[owner[face]].astype(np.int32), over[face]
    return Cluster(*found_parts, sum(array.nbytes for array in found_parts))


def _noded(lines: NDArray[Any], corners: Array, near: float) -> Any:
    """Lines cut where they meet, without ends that are nearly the same or nearly on a line; corners stay as they are.

    An outline that was computed runs along another one, or ends on it, only within rounding. Together they would leave
    slivers, faces that are not closed, and ends so close to each other that no route gets from one side to the other.
    """
    found = shapely.union_all(lines)
    for _ in range(_ROUNDS):
        parts = shapely.get_parts(found)
        points, line = shapely.get_coordinates(parts, return_index=True)
        fixed, same = np.split(same_points(np.concatenate([corners, points]), near), [len(corners)])
        if (fixed != corners).any():
            break
        step = np.flatnonzero((line[1:] == line[:-1]) & (same[1:] != same[:-1]).any(axis=1))
        legs = np.stack([same[step], same[step + 1]], axis=1)
        tied = _through(legs, distinct(same).rows, near)
        if len(tied) == len(legs) and (same == points).all():
            break
        found = shapely.union_all(shapely.linestrings(tied))
    return found


def _through(legs: Array, points: Array, near: float) -> Array:
    """Legs (n, 2, 2), each of them by way of the points that it passes within `near`."""
    leg, point = shapely.STRtree(shapely.points(points)).query(
        shapely.linestrings(legs), predicate="dwithin", distance=near
    )
    passed = points[point]
    inner = (passed[:, None] != legs[leg]).any(axis=2).all(axis=1)
    leg, passed = leg[inner], passed[inner]
    if not len(leg):
        return legs
    begins, along = legs[leg, 0], legs[leg, 1] - legs[leg, 0]
    share = ((passed - begins) * along).sum(axis=1) / (along**2).sum(axis=1)
    of = np.concatenate([np.arange(len(legs)), leg, np.arange(len(legs))])
    shares = np.concatenate([np.full(len(legs), -np.inf), share, np.full(len(legs), np.inf)])
    stops = np.concatenate([legs[:, 0], passed, legs[:, 1]])
    order = np.lexsort((shares, of))
    of, stops = of[order], stops[order]
    step = np.flatnonzero(of[1:] == of[:-1])
    return np.stack([stops[step], stops[step + 1]], axis=1)


def _polygons(corners: Array) -> NDArray[Any]:
    return np.asarray(shapely.polygons(corners[:, [0, 1, 2, 0]]))


def _numbered(points: Array, used: Ints, vertices: Array, among: Ints) -> tuple[NDArray[np.int64], Array]:
    """The number of each used point: that of the vertex in the same place, or -1, -2, ... for new ones; and those."""
    known = {(x, y): number for number, (x, y) in zip(among.tolist(), vertices[among].tolist(), strict=True)}
    numbers = np.zeros(len(points), np.int64)
    fresh: list[tuple[float, float]] = []
    for at in used.tolist():
        x, y = points[at].tolist()
        number = known.get((x, y))
        if number is None:
            fresh.append((x, y))
            number = -len(fresh)
        numbers[at] = number
    return numbers, np.array(fresh, np.float64).reshape(-1, 2)
