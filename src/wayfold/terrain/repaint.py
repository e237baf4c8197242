"""Polygons painted over triangles: only the triangles that an outline meets are cut, all others stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from wayfold.core.arrays import distinct
from wayfold.core.bounded_cache import BoundedCache
from wayfold.geometry.frame import same_points
from wayfold.geometry.polygon import overlaying
from wayfold.terrain._kernels import Triangulation
from wayfold.terrain.ground import Array, Ground, Ints
from wayfold.terrain.subdivision import UNPAINTED, curve, reconnect, split, turns

_NEAR = 4.0  # of the ground's resolution: points that lie as near to each other are one


_ROUNDS = 4  # in which ends are made one; what they then meet is mostly nothing
_TILE = 8  # triangles, one after the other, that are cut together where more than `_WHOLE` are to be cut
_WHOLE = 64


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


class CutPieces(NamedTuple):
    """Triangles that are not as they were, cluster by cluster."""

    numbers: Ints  # (p,)
    of: Ints  # (p,), the triangle of the ground that each is a part of
    cluster: Ints  # (p,), the cluster of each
    vertex_cluster: Ints  # (v,), the cluster of each new vertex, in the order of the vertices

    def after(self, pieces: int, vertices: int) -> CutPieces:
        """Those behind the first so many pieces and new vertices."""
        return CutPieces(self.numbers[pieces:], self.of[pieces:], self.cluster[pieces:], self.vertex_cluster[vertices:])


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
        self.pieces = CutPieces(none, none, none, none)
        self.covers = over  # the last polygon over each whole triangle of the ground
        self.cut = np.zeros(len(of), np.bool_)  # triangles of the ground that are in pieces
        self.before: CutPieces | None = None  # the pieces of the one it was made of

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
    clusters = [_cluster(ground, polygons, keys, outlines, members, prepared) for members in groups]
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
    painted.pieces = CutPieces(*(np.concatenate(pair) for pair in zip(last.pieces, new, strict=True)))
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
    where = ground.near(polygon.bounds, 2 * _NEAR * ground.slack)
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


class _Job(NamedTuple):
    """Triangles that are to be cut, and the polygons whose outlines meet one of them."""

    touched: Ints
    members: list[int]


def _cluster(
    ground: Ground,
    polygons: Sequence[Any],
    keys: list[bytes],
    outlines: list[Outline],
    members: list[int],
    prepared: BoundedCache,
) -> Cluster:
    """What polygons that hang together make of the triangles that they meet.

    Many triangles are cut tile by tile, so that one more polygon changes only the tiles that it meets, however many
    others it hangs together with. Where two outlines or an outline and a side cross depends on nothing else, so that
    the tiles fit together.
    """
    of = np.repeat(members, [len(outlines[number].touched) for number in members])
    triangle = np.concatenate([outlines[number].touched for number in members])
    touched = np.unique(triangle)
    whole = _Job(touched, members)
    if len(touched) > _WHOLE:
        order = np.argsort(triangle // _TILE, kind="stable")
        bounds = np.flatnonzero(np.diff(triangle[order] // _TILE)) + 1
        jobs = [_Job(np.unique(triangle[some]), np.unique(of[some]).tolist()) for some in np.split(order, bounds)]
        names = [("tile", int(job.touched[0]) // _TILE, *(keys[n] for n in job.members)) for job in jobs]
        tiles = [prepared.find(name) for name in names]
        missing = [index for index, tile in enumerate(tiles) if tile is None]
        made = _cut(ground, polygons, [jobs[index] for index in missing])
        for number, index in enumerate(missing):
            tiles[index] = prepared.get(names[index], partial(made.__getitem__, number))
        joined = _joined(ground, members, jobs, tiles)
        if joined is not None:
            return joined
    key = ("cluster", *(keys[number] for number in members))
    found: Cluster = prepared.get(key, lambda: _cut(ground, polygons, [whole])[0])
    return found


def _joined(ground: Ground, members: list[int], jobs: list[_Job], tiles: list[Cluster]) -> Cluster | None:
    """One cluster of its tiles; None where the cuts of two do not meet on the side between them."""
    place = {number: index for index, number in enumerate(members)}
    over = [
        np.append(np.array([place[n] for n in job.members], np.int32), UNPAINTED)[tile.over]
        for job, tile in zip(jobs, tiles, strict=True)
    ]
    fresh = np.concatenate([tile.fresh for tile in tiles])
    _, first, inverse = np.unique(fresh.view(np.complex128).ravel(), return_index=True, return_inverse=True)
    rank = np.argsort(first)  # in the order of the tiles
    number = np.empty(len(rank), np.int64)
    number[rank] = -1 - np.arange(len(rank))
    sizes = np.array([len(tile.fresh) for tile in tiles])
    begins = np.repeat(np.cumsum(sizes) - sizes, [len(tile.parts) for tile in tiles])[:, None]
    parts = np.concatenate([tile.parts for tile in tiles])
    new = parts < 0
    parts[new] = number[inverse.ravel()][(begins - 1 - parts)[new]]
    of = np.concatenate([tile.of for tile in tiles])
    touched = np.concatenate([job.touched for job in jobs])
    fresh = np.ascontiguousarray(fresh[first[rank]])
    if not _fits(ground, fresh, parts, of):
        return None
    found = touched, fresh, parts, of, np.concatenate(over)
    return Cluster(*found, sum(array.nbytes for array in found))


def _fits(ground: Ground, fresh: Array, parts: NDArray[np.int64], of: Ints) -> bool:
    """Whether all sides of pieces that end in a new vertex have a piece on either side, or lie on the map's border."""
    mesh = ground.mesh
    size = len(mesh.vertices) + len(fresh)
    begins = np.where(parts < 0, size + parts, parts).ravel()
    ends = np.roll(begins.reshape(-1, 3), -1, axis=1).ravel()
    sides, back = begins * size + ends, ends * size + begins
    alone = np.flatnonzero(((begins >= len(mesh.vertices)) | (ends >= len(mesh.vertices))) & ~np.isin(back, sides))
    if not len(alone):
        return True
    where = np.concatenate([mesh.vertices, fresh[::-1]])
    half = 3 * of[alone // 3, None].astype(np.int64) + np.arange(3)
    border = mesh.twins[half] < 0
    a, b = mesh.vertices[mesh.triangles.ravel()[half]], mesh.vertices[mesh.triangles[half // 3, (half + 1) % 3]]
    along = (b - a) / np.hypot(*np.moveaxis(b - a, 2, 0))[:, :, None]
    for tips in (begins, ends):
        to = where[tips[alone], None] - a
        border &= np.abs(along[:, :, 0] * to[:, :, 1] - along[:, :, 1] * to[:, :, 0]) <= 2 * _NEAR * ground.slack
    return bool(border.any(axis=1).all())


def _cut(ground: Ground, polygons: Sequence[Any], jobs: list[_Job]) -> list[Cluster]:
    """Cut triangles, each job by itself: what else is cut at the same time changes no digit."""
    if not jobs:
        return []
    vertices, triangles = ground.mesh.vertices, ground.mesh.triangles
    near = _NEAR * ground.slack
    touched = np.concatenate([job.touched for job in jobs])
    job_of = np.repeat(np.arange(len(jobs)), [len(job.touched) for job in jobs])
    corners = triangles[touched]
    begins, ends = corners.ravel(), corners[:, [1, 2, 0]].ravel()
    low, high = np.minimum(begins, ends), np.maximum(begins, ends)
    sides = distinct(np.column_stack([np.repeat(job_of, 3), low, high])).rows
    among = distinct(np.column_stack([np.repeat(job_of, 3), begins])).rows
    used = sorted({number for job in jobs for number in job.members})
    shapes = np.array([polygons[number] for number in used], object)
    legs, leg_job = _outline_legs(shapes, used, jobs, vertices[corners], job_of, near)
    legs, leg_job = np.concatenate([vertices[sides[:, 1:]], legs]), np.concatenate([sides[:, 0], leg_job])
    found = _noded(legs, leg_job, vertices[among[:, 1]], among[:, 0], near)
    faces, face_job = shapely.get_parts(shapely.polygonize(found[:, None]), return_index=True)
    places = shapely.points(shapely.get_coordinates(shapely.point_on_surface(faces)))
    # What lies in no touched triangle is outside of the map, or is made of triangles that stay.
    owner = np.full(len(faces), -1, np.int64)
    inside, of = shapely.STRtree(_polygons(vertices[corners])).query(places, predicate="intersects")
    mine = face_job[inside] == job_of[of]
    owner[inside[mine]] = of[mine]
    owned = owner >= 0
    faces, face_job, places, owner = faces[owned], face_job[owned], places[owned], owner[owned]
    position = np.full((len(jobs), len(used)), UNPAINTED, np.int32)
    for index, job in enumerate(jobs):
        position[index, np.searchsorted(used, job.members)] = np.arange(len(job.members))
    over = np.full(len(faces), UNPAINTED, np.int32)
    shape, face = shapely.STRtree(places).query(shapes, predicate="intersects")
    np.maximum.at(over, face, position[face_job[face], shape])
    points, face = split(faces)
    order = np.lexsort((curve(points.mean(axis=1), face_job[face]), face_job[face])) if len(face) else face
    points, face = points[order] + 0.0, face[order]  # 0.0 makes one number of the two zeros
    turn = turns(points.reshape(-1, 2), np.arange(points.size // 2, dtype=np.int32).reshape(-1, 3))
    points[turn < 0] = points[turn < 0][:, ::-1]
    points, face = points[turn != 0], face[turn != 0]
    bounds = np.searchsorted(face_job[face], np.arange(len(jobs) + 1))
    first = np.searchsorted(among[:, 0], np.arange(len(jobs) + 1))
    clusters = []
    for index, job in enumerate(jobs):
        some = slice(bounds[index], bounds[index + 1])
        parts, fresh = _numbered(points[some], vertices, among[first[index] : first[index + 1], 1])
        cut = job.touched, fresh, parts, touched[owner[face[some]]].astype(np.int32), over[face[some]]
        clusters.append(Cluster(*cut, sum(array.nbytes for array in cut)))
    return clusters


def _outline_legs(
    shapes: NDArray[Any], used: list[int], jobs: list[_Job], corners: Array, job_of: NDArray[np.int64], near: float
) -> tuple[Array, NDArray[np.int64]]:
    """The legs (n, 2, 2) of the outlines of each job that may come near to its triangles, and the job of each."""
    parts, shape = shapely.get_parts(shapes, return_index=True)
    rings, part = shapely.get_rings(parts, return_index=True)
    points, ring = shapely.get_coordinates(rings, return_index=True)
    step = np.flatnonzero((ring[1:] == ring[:-1]) & (points[1:] != points[:-1]).any(axis=1))
    legs = np.stack([points[step], points[step + 1]], axis=1)
    begins = np.searchsorted(shape[part[ring[step]]], np.arange(len(used) + 1))
    low, high = legs.min(axis=1), legs.max(axis=1)
    bounds = np.searchsorted(job_of, np.arange(len(jobs) + 1))
    found = []
    for index, job in enumerate(jobs):
        box = corners[bounds[index] : bounds[index + 1]].reshape(-1, 2)
        least, most = box.min(axis=0) - 4 * near, box.max(axis=0) + 4 * near
        here = np.searchsorted(used, job.members)
        own = np.concatenate([np.arange(begins[k], begins[k + 1]) for k in here.tolist()])
        found.append(own[((low[own] <= most) & (high[own] >= least)).all(axis=1)])
    return legs[np.concatenate(found)], np.repeat(np.arange(len(jobs)), [len(some) for some in found])


def _noded(
    legs: Array, job: NDArray[np.int64], corners: Array, corner_job: NDArray[np.int64], near: float
) -> NDArray[Any]:
    """Legs cut where they meet, without ends that are nearly the same or nearly on a leg; corners stay as they are.

    An outline that was computed runs along another one, or ends on it, only within rounding. Together they would leave
    slivers, faces that are not closed, and ends so close to each other that no route gets from one side to the other.

    What becomes of a leg depends on nothing that is not `near` to it, to the last digit: triangles are cut on either
    side of the same side in different jobs. Shapely's own noding is not like that, as it takes all lines at once in
    another way where two of them are difficult.
    """
    given, given_job = legs, job
    count = int(job.max()) + 1
    fixed = _apart(corners, corner_job, near)
    legs, job = _in_order(legs, job)
    changed = np.ones(count, np.bool_)
    for _ in range(_ROUNDS):
        meets, crossing = _crossings(legs, job)
        points = np.concatenate([legs.reshape(-1, 2), crossing])
        point_job = np.concatenate([np.repeat(job, 2), job[meets[:, 0]]])
        places = distinct(_apart(points, point_job, near))
        stands = _stand_ins(places.rows, fixed, near)
        same = stands[places.inverse, :2]
        stops = distinct(stands)
        ends = same[: 2 * len(legs)].reshape(-1, 2, 2)
        tied, of = _subdivided(
            ends, job, stops.rows[:, :2], point_job[places.first[stops.first]], meets, same[len(legs) * 2 :], near
        )
        tied, tied_job = _in_order(tied, job[of])
        changed = np.bincount(tied_job, minlength=count) != np.bincount(job, minlength=count)
        if not changed.any():
            moved = (tied != legs).any(axis=(1, 2))
            changed[job[moved]] = True
        legs, job = tied, tied_job
        if not changed.any():
            break
    # Corners of the ground that are nearly the same cannot be told apart from what is to be made one.
    _, alike = np.unique(
        np.concatenate([np.arange(len(fixed)), *cKDTree(fixed).query_pairs(near, output_type="ndarray").T]),
        return_counts=True,
    )
    changed[corner_job[alike > 1]] = True
    found = np.asarray(shapely.multilinestrings(shapely.linestrings(legs), indices=job))
    for number in np.flatnonzero(changed).tolist():
        found[number] = shapely.union_all(shapely.linestrings(given[given_job == number]))
    return found


def _apart(points: Array, job: NDArray[np.int64], near: float) -> Array:
    """Points (n, 3), those of different jobs farther than `near` from each other."""
    return np.column_stack([points, 8 * near * job])


def _in_order(legs: Array, job: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """Each leg that has a length once, in a direction and in an order that depend only on where they are."""
    begins, ends = legs[:, 0] + 0.0, legs[:, 1] + 0.0
    back = (begins[:, 0] > ends[:, 0]) | ((begins[:, 0] == ends[:, 0]) & (begins[:, 1] > ends[:, 1]))
    low, high = np.where(back[:, None], ends, begins), np.where(back[:, None], begins, ends)
    real = (low != high).any(axis=1)
    first = distinct(np.column_stack([job, low, high])[real]).first
    kept = np.flatnonzero(real)[first]
    return np.stack([low[kept], high[kept]], axis=1), job[kept]


def _crossings(legs: Array, job: NDArray[np.int64]) -> tuple[NDArray[np.int64], Array]:
    """Pairs (k, 2) of legs of a job that cross between their ends, and where they do."""
    lines = shapely.linestrings(legs)
    one, two = shapely.STRtree(lines).query(lines)
    pair = (one < two) & (job[one] == job[two])
    one, two = one[pair], two[pair]
    order = np.lexsort((two, one))
    one, two = one[order], two[order]
    (a, b), (c, d) = np.swapaxes(legs[one], 0, 1), np.swapaxes(legs[two], 0, 1)
    side_c, side_d = _side(a, b, c), _side(a, b, d)
    side_a, side_b = _side(c, d, a), _side(c, d, b)
    cross = (side_c * side_d < 0) & (side_a * side_b < 0)
    share = (side_a[cross] / (side_a[cross] - side_b[cross]))[:, None]
    return np.column_stack([one, two])[cross], a[cross] + share * (b[cross] - a[cross])


def _side(a: Array, b: Array, point: Array) -> Array:
    """Above 0 for points to the left of a line, below 0 to the right."""
    along, to = b - a, point - a
    return np.asarray(along[:, 0] * to[:, 1] - along[:, 1] * to[:, 0])


def _stand_ins(points: Array, corners: Array, near: float) -> Array:
    """What stands for each point: the nearest corner where there is one `near`, or the first of the points near it."""
    gap, index = cKDTree(corners).query(points, distance_upper_bound=near)
    free = np.isinf(gap)
    found = corners[np.where(free, 0, index)]
    found[free] = same_points(points[free], near)
    return found


def _subdivided(
    legs: Array,
    leg_job: NDArray[np.int64],
    points: Array,
    point_job: NDArray[np.int64],
    meets: NDArray[np.int64],
    crossing: Array,
    near: float,
) -> tuple[Array, NDArray[np.int64]]:
    """Legs by way of the points of their job that they pass within `near` and of their crossings; and which each was.

    Legs are (n, 2, 2); those in row k of `meets` cross in `crossing[k]`.
    """
    leg, point = shapely.STRtree(shapely.points(points)).query(
        shapely.linestrings(legs), predicate="dwithin", distance=near
    )
    mine = leg_job[leg] == point_job[point]
    leg = np.concatenate([leg[mine], meets[:, 0], meets[:, 1]])
    passed = np.concatenate([points[point[mine]], crossing, crossing])
    inner = (passed[:, None] != legs[leg]).any(axis=2).all(axis=1)
    leg, passed = leg[inner], passed[inner]
    begins, along = legs[leg, 0], legs[leg, 1] - legs[leg, 0]
    share = ((passed - begins) * along).sum(axis=1) / np.maximum((along**2).sum(axis=1), 1e-300)
    own = np.arange(len(legs))
    of = np.concatenate([own, leg, own])
    shares = np.concatenate([np.full(len(legs), -np.inf), share, np.full(len(legs), np.inf)])
    stops = np.concatenate([legs[:, 0], passed, legs[:, 1]])
    order = np.lexsort((stops[:, 1], stops[:, 0], shares, of))
    of, stops = of[order], stops[order]
    step = np.flatnonzero(of[1:] == of[:-1])
    return np.stack([stops[step], stops[step + 1]], axis=1), of[step]


def _polygons(corners: Array) -> NDArray[Any]:
    return np.asarray(shapely.polygons(corners[:, [0, 1, 2, 0]]))


def _numbered(corners: Array, vertices: Array, among: NDArray[np.int64]) -> tuple[NDArray[np.int64], Array]:
    """The number of each corner (m, 3, 2): that of the vertex in its place, or -1, -2, ... for new ones; and those."""
    # As complex numbers, which are sorted many times faster than rows; 0.0 makes one number of the two zeros.
    every = np.concatenate([vertices[among], corners.reshape(-1, 2)]) + 0.0
    _, first, inverse = np.unique(every.view(np.complex128).ravel(), return_index=True, return_inverse=True)
    new = first >= len(among)
    number = np.empty(len(first), np.int64)
    number[~new] = among[first[~new]]
    order = np.flatnonzero(new)[np.argsort(first[new])]  # as they come
    number[order] = -1 - np.arange(len(order))
    return number[inverse.ravel()[len(among) :]].reshape(-1, 3), np.ascontiguousarray(every[first[order]])
