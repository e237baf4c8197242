"""Places that matter in a mesh: beside its corners, and in the middle of its openings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.core.arrays import distinct
from wayfold.geometry import Mesh

_WELD = 1e-6  # of the extent: vertices closer than this are one
_SHARP = 0.8  # cosine between the normals that meet at a corner, at most
_MOST_PAIRS = 2_000_000
_BESIDE = 1.3  # how far a place beside an edge is from it, in offsets: there is room for a body straight below
_LOWER = 0.97  # beside an edge one hangs on the wall rather than on what the wall carries
_INWARDS = 0.01  # how far inwards of a rim a place above it is, for each metre that it is higher: walls may be thin
_FURTHER = 1.12  # offsets that a place in an inner edge is from the further of the two surfaces
_LEVEL = 0.25  # offsets that two corners of an opening differ in height
_BAND = 0.25  # how far a place beside a wall may be moved towards it or away, in offsets
_ACROSS = 0.3  # sine of the angle between a plane and a wall that it cuts, at least


def corner_places(mesh: Mesh, offset: float, widest: float) -> NDArray[np.float64]:
    """Points beside the corners of a mesh, and the middles of gaps between two corners.

    Parameters
    ----------
    mesh : Mesh
    offset : float, metres
        How far from a corner, along the mean of the normals that meet there.
    widest : float, metres
        Gaps up to this wide count as openings.

    Returns
    -------
    (k, 3) float64, in the order of the corners of the mesh
    """
    normals = mesh.normals
    # A corner of something that stands up: at least one of its triangles is steep.
    first, weld = _welded(mesh)
    owner = weld[mesh.triangles].ravel()
    facing = np.repeat(normals, 3, axis=0)
    total = np.zeros((len(first), 3))
    # Sum distinct normals only: a flat side cut into many triangles counts as often as it is cut otherwise.
    quantised = np.round(facing * 8).astype(np.int64)
    code = (quantised[:, 0] * 41 + quantised[:, 1]) * 41 + quantised[:, 2]
    order = np.lexsort((code, owner))
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (owner[order][1:] != owner[order][:-1]) | (code[order][1:] != code[order][:-1])
    picked = order[fresh]
    for axis in range(3):
        total[:, axis] = np.bincount(owner[picked], facing[picked, axis], minlength=len(first))
    distinct = np.bincount(owner[picked], minlength=len(first))
    steep = np.zeros(len(first), np.bool_)
    steep[owner[np.abs(facing[:, 2]) < 0.5]] = True
    length = np.linalg.norm(total, axis=1)
    sharp = (distinct >= 2) & steep & (length > 0.2) & (length < _SHARP * np.maximum(distinct, 1) + 0.5)
    spots = mesh.vertices[first[sharp]]
    ways = total[sharp] / length[sharp, None]
    return np.concatenate([spots + 1.5 * offset * ways, _openings(spots, offset, widest)])


def _openings(spots: NDArray[np.float64], offset: float, widest: float) -> NDArray[np.float64]:
    """Middles between corners at about the same height that a body fits between."""
    from scipy.spatial import cKDTree

    if len(spots) < 2:
        return np.empty((0, 3))
    tree = cKDTree(spots)
    if tree.count_neighbors(tree, widest) > _MOST_PAIRS:
        return np.empty((0, 3))
    pairs = tree.query_pairs(widest, output_type="ndarray")
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    a, b = spots[pairs[:, 0]], spots[pairs[:, 1]]
    wide = np.linalg.norm(a[:, :2] - b[:, :2], axis=1)
    level = np.abs(a[:, 2] - b[:, 2]) < _LEVEL * offset
    return np.asarray(((a + b) / 2)[level & (wide > 2 * offset)])


def wall_places(mesh: Mesh, offset: float, cosine: float, spacing: float) -> NDArray[np.float64]:
    """Points beside walls and ceilings, one for each `spacing` squared of their area.

    Parameters
    ----------
    mesh : Mesh
    offset : float, metres
        How far from the surface.
    cosine : float
        Surfaces that face up more than this are floors.
    spacing : float, metres

    Returns
    -------
    (k, 3) float64, by triangle
    """
    areas = np.where(mesh.normals[:, 2] < cosine, mesh.areas, 0.0)
    ends = np.cumsum(areas)
    count = int(ends[-1] / spacing**2)
    picked = np.searchsorted(ends, (np.arange(count) + 0.5) * spacing**2)
    # Two irrational strides (Roberts' R2 sequence) spread the points over each triangle.
    a, b = (np.arange(count) * 0.7548776662466927) % 1.0, (np.arange(count) * 0.5698402909980532) % 1.0
    flip = a + b > 1.0
    a, b = np.where(flip, 1.0 - a, a), np.where(flip, 1.0 - b, b)
    p, q, r = (mesh.vertices[mesh.triangles[picked, k]] for k in range(3))
    spots = p + a[:, None] * (q - p) + b[:, None] * (r - p)
    return np.asarray(spots + offset * mesh.normals[picked])


def _welded(mesh: Mesh) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """One vertex of each place, and the place of each vertex."""
    low, high = mesh.bounds
    size = max(_WELD * float((high - low).max()), 1e-300)
    keys = np.round((mesh.vertices - low) / size).astype(np.int64)
    _, first, weld, _ = distinct(keys)
    return first, weld


def _folds(mesh: Mesh) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Sharp edges that two triangles share: the two, the vertices at the ends, and how the second triangle leans.

    The last is above 0 where it lies before the first one (an inner edge) and below 0 where it lies behind it.
    """
    normals = mesh.normals
    first, weld = _welded(mesh)
    ends = np.sort(weld[mesh.triangles][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends, owner = ends[order], order // 3
    twin = np.flatnonzero((ends[1:] == ends[:-1]).all(axis=1))
    one, other = owner[twin], owner[twin + 1]
    sharp = (normals[one] * normals[other]).sum(axis=1) < _SHARP
    one, other, twin = one[sharp], other[sharp], twin[sharp]
    centre = mesh.vertices[mesh.triangles].mean(axis=1)
    return one, other, first[ends[twin]], ((centre[other] - centre[one]) * normals[one]).sum(axis=1)


def crease_places(mesh: Mesh, offset: float, cosine: float, spacing: float) -> NDArray[np.float64]:
    """Points in the inner edges between two walls, or a wall and a ceiling, where one climbs from one to the other.

    Parameters
    ----------
    mesh : Mesh
    offset : float, metres
        How far from the nearer of the two surfaces; each is the nearer one once.
    cosine : float
        Surfaces that face up more than this are floors.
    spacing : float, metres
        Between places along an edge.

    Returns
    -------
    (k, 3) float64, by edge
    """
    normals = mesh.normals
    one, other, ends, bend = _folds(mesh)
    kept = (bend > 0.0) & (normals[one, 2] < cosine) & (normals[other, 2] < cosine)
    kept &= (normals[one] * normals[other]).sum(axis=1) > -_SHARP  # between two that lie on one another is no room
    one, other, ends = one[kept], other[kept], ends[kept]
    a, b = (mesh.vertices[ends[:, k]] for k in (0, 1))
    counts = np.maximum(1, np.round(np.linalg.norm(b - a, axis=1) / spacing).astype(np.int64))
    edge = np.repeat(np.arange(len(counts)), counts)
    share = (np.arange(len(edge)) - np.repeat(np.cumsum(counts) - counts, counts) + 0.5) / counts[edge]
    spots = a[edge] + share[:, None] * (b - a)[edge]
    # As far from both surfaces as `near` and `far` say: the sum of the normals solves for it.
    found = []
    u, v = normals[one][edge], normals[other][edge]
    between = (u * v).sum(axis=1)
    for near, far in ((1.0, _FURTHER), (_FURTHER, 1.0)):
        alpha = offset * (near - between * far) / (1.0 - between**2)
        beta = offset * (far - between * near) / (1.0 - between**2)
        found.append(spots + alpha[:, None] * u + beta[:, None] * v)
    return np.concatenate(found)


class Ridges(NamedTuple):
    """Outer edges of walls, with a row for each."""

    starts: NDArray[np.float64]  # (e, 3)
    ends: NDArray[np.float64]  # (e, 3)
    walls: NDArray[np.int64]  # (e,), the triangle of the wall
    tops: NDArray[np.int64]  # (e,), that of the other wall, the floor or the ceiling
    away: NDArray[np.float64]  # (e, 3), unit vectors away from the edge, between both normals


def ridges_of(mesh: Mesh, cosine: float) -> Ridges:
    """The outer edges of walls; surfaces that face up more than `cosine` are floors."""
    normals = mesh.normals
    one, other, ends, bend = _folds(mesh)
    steep = np.abs(normals[:, 2]) < cosine
    kept = (bend < 0.0) & (steep[one] | steep[other])
    # The wall first, then the other wall, the floor or the ceiling.
    wall = np.where(steep[one], one, other)[kept]
    top = np.where(steep[one], other, one)[kept]
    a, b = (mesh.vertices[ends[kept, k]] for k in (0, 1))
    away = normals[wall] + _LOWER * normals[top]
    away /= np.maximum(np.linalg.norm(away, axis=1), 1e-9)[:, None]
    return Ridges(a, b, wall, top, away)


def ridge_places(
    mesh: Mesh, ridges: Ridges, offset: float, lift: float, cosine: float, spacing: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points beside the outer edges of walls, where one climbs around a corner, and on the rims of what they carry.

    Parameters
    ----------
    mesh : Mesh
    ridges : Ridges
        Of the mesh.
    offset : float, metres
        How far from the edge, between both normals.
    lift : float, metres
        How far a walker's position is above the ground.
    cosine : float
        Surfaces that face up more than this are floors.
    spacing : float, metres
        Between places along an edge.

    Returns
    -------
    beside, rims : (k, 3) and (r, 6) float64, by edge
        Places beside the edges; for edges between a wall and a floor, a place above and the one beside each.
    """
    normals = mesh.normals
    a, b, wall, top, away = ridges
    counts = np.maximum(1, np.round(np.linalg.norm(b - a, axis=1) / spacing).astype(np.int64))
    edge = np.repeat(np.arange(len(wall)), counts)
    place = np.arange(len(edge)) - np.repeat(np.cumsum(counts) - counts, counts)
    spots = a[edge] + ((place + 0.5) / counts[edge])[:, None] * (b - a)[edge]
    rim = normals[top[edge], 2] >= cosine
    rise = np.minimum(1.1 * offset / normals[top[edge[rim]], 2], lift)  # clear of a roof that rises
    above = spots[rim] - _INWARDS * rise[:, None] * normals[wall[edge[rim]]]
    above[:, 2] += rise
    beside = spots + _BESIDE * offset * away[edge]
    return beside, np.concatenate([above, beside[rim]], axis=1)


class Crossings(NamedTuple):
    """Points on planes."""

    places: NDArray[np.float64]  # (n, 3)
    plane: NDArray[np.int64]  # (n,), the number of the plane that each is on


def plane_places(
    mesh: Mesh,
    ridges: Ridges,
    walls: NDArray[np.float64],
    rims: NDArray[np.float64],
    offset: float,
    cosine: float,
    spacing: float,
    axis: int,
    planes: NDArray[np.float64],
) -> tuple[Crossings, Crossings]:
    """Points on planes where a climber crosses them: beside walls and ceilings, and over rims.

    Parameters
    ----------
    mesh : Mesh
    ridges : Ridges
        Of the mesh.
    walls : (w, 3) float64
        Places beside walls, ceilings and outer edges.
    rims : (r, 6) float64
        Places above and beside rims, from `ridge_places`.
    offset : float, metres
        How far from a surface.
    cosine : float
        Surfaces that face up more than this are floors.
    spacing : float, metres
        Between places along the line where a plane cuts a wall.
    axis : int
        That the planes are across.
    planes : (k,) float64, ascending
        Coordinates of the planes.

    Returns
    -------
    beside, over : Crossings
        On the way along a surface, and on the way over a rim.
    """
    # From the place above a rim to the one beside it, and from there down the wall.
    pair, at_rim = _crossings(rims[:, axis], rims[:, axis + 3], planes)
    over = _where(rims[pair, :3], rims[pair, 3:], planes[at_rim], axis)
    lower = rims[:, 3:] - np.array([0.0, 0.0, 2.0 * offset])
    pair, at_drop = _crossings(rims[:, axis + 3], lower[:, axis], planes)
    drop = _where(rims[pair, 3:], lower[pair], planes[at_drop], axis)
    # Around edges.
    edge, at_edge = _crossings(ridges.starts[:, axis], ridges.ends[:, axis], planes)
    away, room = _within(ridges.away[edge], axis)
    around = _where(ridges.starts[edge], ridges.ends[edge], planes[at_edge], axis) + _BESIDE * offset * away
    fits = room >= _ACROSS
    around, at_edge = around[fits], at_edge[fits]
    # Along a surface that is about as far from the plane as one keeps from it.
    next_ = np.clip(np.searchsorted(planes, walls[:, axis] - _BAND * offset), 0, max(0, len(planes) - 1))
    close = np.flatnonzero(np.abs(walls[:, axis] - planes[next_]) <= _BAND * offset) if len(planes) else next_[:0]
    at_band = next_[close]
    # Beside surfaces: a plane that cuts a triangle cuts two of its sides.
    facing = np.flatnonzero(mesh.normals[:, 2] < cosine)
    corners = mesh.vertices[mesh.triangles[facing]]
    levels = corners[:, :, axis]
    cut, at_wall = _crossings(levels.min(axis=1), levels.max(axis=1), planes)
    way, room = _within(mesh.normals[facing[cut]], axis)
    fits = room >= _ACROSS
    cut, at_wall, way, room = cut[fits], at_wall[fits], way[fits], room[fits]
    below = levels[cut] < planes[at_wall][:, None]
    # The corner that is alone on its side of the plane, and the two others.
    few = np.where(below.sum(axis=1) == 1, below.argmax(axis=1), (~below).argmax(axis=1))
    p, q, r = (corners[cut, (few + k) % 3] for k in range(3))
    start, end = _where(p, q, planes[at_wall], axis), _where(p, r, planes[at_wall], axis)
    counts = np.maximum(1, np.round(np.linalg.norm(end - start, axis=1) / spacing).astype(np.int64))
    line = np.repeat(np.arange(len(cut)), counts)
    share = (np.arange(len(line)) - np.repeat(np.cumsum(counts) - counts, counts) + 0.5) / counts[line]
    beside = (start + (offset / room)[:, None] * way)[line] + share[:, None] * (end - start)[line]
    return (
        _on_planes([drop, around, walls[close], beside], [at_drop, at_edge, at_band, at_wall[line]], planes, axis),
        _on_planes([over], [at_rim], planes, axis),
    )


def _on_planes(
    places: list[NDArray[np.float64]], plane: list[NDArray[np.int64]], planes: NDArray[np.float64], axis: int
) -> Crossings:
    spots, at = np.concatenate(places), np.concatenate(plane)
    spots[:, axis] = planes[at]
    return Crossings(spots, at)


def _crossings(
    starts: NDArray[np.float64], ends: NDArray[np.float64], planes: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which spans between two coordinates cross which planes: numbers of both."""
    first = np.searchsorted(planes, np.minimum(starts, ends), side="right")
    counts = np.maximum(0, np.searchsorted(planes, np.maximum(starts, ends), side="right") - first)
    span = np.repeat(np.arange(len(starts)), counts)
    return span, np.arange(len(span)) - np.repeat(np.cumsum(counts) - counts, counts) + first[span]


def _where(
    starts: NDArray[np.float64], ends: NDArray[np.float64], level: NDArray[np.float64], axis: int
) -> NDArray[np.float64]:
    """Where lines cross planes."""
    share = (level - starts[:, axis]) / (ends[:, axis] - starts[:, axis])
    return np.asarray(starts + share[:, None] * (ends - starts))


def _within(vectors: NDArray[np.float64], axis: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Unit vectors in a plane, and how much of each vector is in it."""
    flat = vectors.copy()
    flat[:, axis] = 0.0
    length = np.linalg.norm(flat, axis=1)
    return flat / np.maximum(length, 1e-9)[:, None], length
