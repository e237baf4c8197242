"""Places that matter: beside corners, in openings, windows and tunnels, and where they cross the faces between regions.

Samples on surfaces and on sharp edges are where balls start from (`_narrow_kernels`). On surfaces they are as far apart
as an empty ball allows for; a ball that is not empty moves to where there is most room, and closer samples follow only
where it is held there, outside of solids. A hole in a thin wall has nothing but edges: along these, balls are
half a radius apart where something is opposite. All of it is done for the agent's radius and then for three times as
much, and so on up to openings that the lattice of free places finds by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.core.arrays import distinct, offsets_of
from wayfold.core.batches import run_chunks
from wayfold.geometry import Mesh
from wayfold.waypoints import _place_kernels
from wayfold.waypoints.surroundings import Body, Surroundings

_CORNER_WELD = 1e-6  # of the extent: vertices closer than this are one
_SHARP_CORNER = 0.8  # cosine between the normals that meet at a corner, at most
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
    sharp = (distinct >= 2) & steep & (length > 0.2) & (length < _SHARP_CORNER * np.maximum(distinct, 1) + 0.5)
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
    size = max(_CORNER_WELD * float((high - low).max()), 1e-300)
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
    sharp = (normals[one] * normals[other]).sum(axis=1) < _SHARP_CORNER
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
    kept &= (normals[one] * normals[other]).sum(
        axis=1
    ) > -_SHARP_CORNER  # between two that lie on one another is no room
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


class FaceCrossings(NamedTuple):
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
) -> tuple[FaceCrossings, FaceCrossings]:
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
) -> FaceCrossings:
    spots, at = np.concatenate(places), np.concatenate(plane)
    spots[:, axis] = planes[at]
    return FaceCrossings(spots, at)


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


Points = NDArray[np.float64]

_WIDEST = 4.0  # radii of the largest ball at one scale: openings from 2 to 8 radii
_LEAST = 2.5  # radii of the largest ball at the last scale, at least
_BEYOND = 0.6  # of the width of the widest openings: radius of the largest ball that is of use
_SCALE = 3.0  # between one scale and the next: the narrowest openings of the next are 2.7 of its radii wide
_COARSE = 3.0  # radii between samples on a surface, where the ball of `_WIDEST` radii above each is empty
_FINE = 0.9  # radii between samples on a surface that has something opposite
_EDGE = 0.45  # radii between balls along an edge: one in an opening of 2.5 radii is at most 0.25 off its middle
_EDGE_WIDE = 0.65  # the same at the other scales: in one of 2.7 radii 0.35
_SHORT = 1.5  # radii: edges shorter than this may be the sides of an opening with many corners
_ROOM = 1.02  # radii of the ball that must be free, for a little room
_EXITS = (1.3, 2.6)  # radii in front of an opening
_SHARP_EDGE = 0.9  # cosine between the normals of two faces, below which the edge between them is sharp
_OBTUSE = 0.1  # cosine beyond which the angle between two faces is obtuse
_ASIDE = 0.05  # radii from a plane at which a place beside it is
_EDGE_WELD = 1e-9  # of the extent: vertices closer than this are one
_MOST_SAMPLES = 4_000_000
_SLACK = 2.0  # radii of a ball, from which samples need not be closer
_THIN = 0.75  # radii: of balls as close as this one is enough
_TIGHT = 1.5  # radii of the body, below which they have to be a third closer
_FLAT = 1.5  # times as far apart on a face, where a place with room is looked for


class Narrow(NamedTuple):
    """Balls in narrow places, the narrowest first."""

    centres: Points  # (k, 3)
    radii: Points  # (k,)

    def sorted(self, body: float) -> Narrow:
        """By radius, then by place, so that the order of triangles does not matter."""
        order = np.lexsort((*self.centres.T[::-1], np.round(self.radii / body, 6)))
        return Narrow(np.ascontiguousarray(self.centres[order]), self.radii[order])


def narrow_places(
    surroundings: Surroundings,
    mesh: Mesh,
    widest: float,
    *,
    box: tuple[Points, Points] | None = None,
    workers: int | None = None,
) -> Narrow:
    """Places in openings up to `widest` metres wide between the surfaces of a mesh, and at their ends.

    Parameters
    ----------
    surroundings : Surroundings
        What is in the way.
    mesh : Mesh
        Local coordinates; the surfaces from which to start.
    widest : float, metres
    box : low, high, optional
        Start only from what is in there.
    workers : int, optional
        Threads.
    """
    radius = surroundings.body.radius * _ROOM
    if radius <= 0.0:
        radius = 0.25 * surroundings.body.step
    centres, radii = [np.empty((0, 3))], [np.empty(0)]
    edges = _sharp_edges(mesh, extent_of(surroundings))
    while True:
        most = min(_WIDEST * radius, max(_LEAST * radius, _BEYOND * widest))
        for spots, sizes in (
            _on_surfaces(surroundings, mesh, (radius, most), box, workers),
            _on_edges(surroundings, edges, (radius, most), box, workers),
            _between_short_edges(surroundings, edges, (radius, most), box, workers),
        ):
            centres.append(spots)
            radii.append(sizes)
        if 2.0 * _WIDEST * radius >= widest:
            break
        radius *= _SCALE
    return thinned(Narrow(np.concatenate(centres), np.concatenate(radii)), surroundings.body)


def on_planes(
    surroundings: Surroundings, narrow: Narrow, axis: int, planes: list[Points], workers: int | None = None
) -> tuple[Points, NDArray[np.int64]]:
    """Places with room on planes across an axis near narrow places, and the plane that each is on.

    `planes` are the coordinates of the planes across every axis. The places (k, 4) have how far they should be apart as
    their last column.
    """
    levels = planes[axis]
    if not len(levels) or not len(narrow.radii):
        return np.empty((0, 4)), np.empty(0, np.int64)
    plane = _nearest(levels, narrow.centres[:, axis])
    near = np.flatnonzero(np.abs(narrow.centres[:, axis] - levels[plane]) <= 1.3 * narrow.radii)
    flat = narrow.centres.copy()
    flat[near, axis] = levels[plane[near]]
    near = near[_first_of_cells(flat[near], narrow.radii[near], surroundings.body.radius, _FLAT)]
    centres, plane = np.ascontiguousarray(narrow.centres[near]), plane[near]
    radii, heights = np.ascontiguousarray(narrow.radii[near]), np.ascontiguousarray(levels[plane])
    fits = np.zeros(len(near), np.bool_)

    def work(first: int, last: int) -> None:
        _place_kernels.roomiest_on_planes(
            surroundings.world(), surroundings.body, axis, heights, centres, radii, first, last, fits
        )

    run_chunks(work, len(near), workers=workers, chunk=64)
    places, plane = np.column_stack([centres, radii])[fits], plane[fits]
    for other in range(3):
        if other != axis:
            places, rows = _off_planes(places, other, planes[other], surroundings.body.radius)
            plane = plane[rows]
    return places, plane


def _nearest(levels: Points, where: Points) -> NDArray[np.int64]:
    """The number of the nearest of some ascending levels."""
    upper = np.clip(np.searchsorted(levels, where), 0, len(levels) - 1)
    lower = np.maximum(upper - 1, 0)
    return np.where(np.abs(where - levels[lower]) <= np.abs(where - levels[upper]), lower, upper)


def _off_planes(places: Points, axis: int, levels: Points, body: float) -> tuple[Points, NDArray[np.int64]]:
    """Places, also on the other side of planes that they have room to cross, and the row that each comes from.

    A waypoint belongs to two regions: where several planes meet none can be, and whoever passes there by a narrow way
    crosses one after the other.
    """
    rows = np.arange(len(places))
    if not len(levels) or not len(places):
        return places, rows
    aside = _ASIDE * body
    level = levels[_nearest(levels, places[:, axis])]
    off = places[:, axis] - level
    close = np.flatnonzero(np.abs(off) < np.maximum(aside, places[:, 3] - body))
    moved, there = places.copy(), places[close]
    on = np.abs(off) < aside
    moved[on, axis] = level[on] + aside
    there[:, axis] = level[close] - np.where(on[close] | (off[close] > 0), aside, -aside)
    rows = np.concatenate([rows, close])
    order = np.argsort(rows, kind="stable")
    return np.concatenate([moved, there])[order], rows[order]


def thinned(narrow: Narrow, body: Body) -> Narrow:
    """One ball for each cube of a share of its radius, by scale: the one with most room. The narrowest come first."""
    size = max(body.radius, 0.25 * body.step)
    narrow = narrow.sorted(size)
    last = len(narrow.radii) - 1
    first = last - _first_of_cells(narrow.centres[::-1], narrow.radii[::-1], size)[::-1]
    return Narrow(np.ascontiguousarray(narrow.centres[first]), np.ascontiguousarray(narrow.radii[first]))


def _first_of_cells(places: Points, radii: Points, body: float, times: float = 1.0) -> NDArray[np.int64]:
    """Rows of the first place in each cube of a share of its radius, by scale, in order."""
    scale = np.floor(2.0 * np.log2(np.maximum(radii, 1e-300)))
    sizes = np.exp2(0.5 * scale)
    sizes *= times * np.where(sizes < _TIGHT * body, _THIN / 1.5, _THIN)
    cell = np.floor(places / sizes[:, None]).astype(np.int64)
    # One number for each cube: mixed, so that cubes of any coordinates have different ones.
    code = scale.astype(np.int64)
    for axis in range(3):
        code = (code * 1_000_003 + cell[:, axis]) * 0x5851F42D4C957F2D
        code ^= code >> 29
    _, first = np.unique(code, return_index=True)
    first.sort()
    return np.asarray(first)


def _outside(surroundings: Surroundings, places: Points, workers: int | None) -> NDArray[np.bool_]:
    """Whether places are outside of what is solid."""
    result = np.zeros(len(places), np.bool_)

    def work(first: int, last: int) -> None:
        _place_kernels.outside(surroundings.world(), places, first, last, result)

    run_chunks(work, len(places), workers=workers, chunk=1024)
    return result


def _inside(points: Points, box: tuple[Points, Points] | None) -> NDArray[np.bool_]:
    if box is None:
        return np.ones(len(points), np.bool_)
    return np.asarray(((points >= box[0]) & (points <= box[1])).all(axis=1))


def _on_surfaces(
    surroundings: Surroundings,
    mesh: Mesh,
    limits: tuple[float, float],
    box: tuple[Points, Points] | None,
    workers: int | None,
) -> tuple[Points, Points]:
    """Balls that are held between surfaces, with radii within limits: centres and radii."""
    radius, _ = limits
    spots, ways, sides = spread(mesh, _COARSE * radius, box)
    centres, sizes = _settled(surroundings, spots, ways, limits, workers)
    held = np.flatnonzero((sizes > 0.0) & (sizes < np.inf))
    held = held[_outside(surroundings, centres[held], workers)]
    # Closer samples around those where it is tight; beyond the rim of its triangle they do no harm.
    tight = held[sizes[held] < _SLACK * radius]
    spots, ways, sides = spots[tight], ways[tight], sides[tight]
    across = np.cross(ways, sides)
    steps = _FINE * radius * np.arange(-1, 2)
    u, v = (np.delete(part.ravel(), 4)[None, :, None] for part in np.meshgrid(steps, steps))
    close = (spots[:, None] + u * sides[:, None] + v * across[:, None]).reshape(-1, 3)
    more, finer = _settled(surroundings, close, np.repeat(ways, 8, axis=0), limits, workers)
    kept = np.flatnonzero((finer > 0.0) & (finer < np.inf))
    return np.concatenate([centres[held], more[kept]]), np.concatenate([sizes[held], finer[kept]])


def _settled(
    surroundings: Surroundings, spots: Points, ways: Points, limits: tuple[float, float], workers: int | None
) -> tuple[Points, Points]:
    centres, radii = np.empty((len(spots), 3)), np.empty(len(spots))

    def work(first: int, last: int) -> None:
        _place_kernels.settled_balls(
            surroundings.world(), surroundings.body, spots, ways, *limits, first, last, centres, radii
        )

    run_chunks(work, len(spots), workers=workers, chunk=1024)
    return centres, radii


def spread(mesh: Mesh, spacing: float, box: tuple[Points, Points] | None) -> tuple[Points, Points, Points]:
    """Points on a mesh, one for each `spacing` squared on each side, with unit normals and tangents."""
    chosen = np.arange(len(mesh))
    corners = mesh.corners
    if box is not None:
        chosen = np.flatnonzero(((corners.min(axis=1) <= box[1]) & (corners.max(axis=1) >= box[0])).all(axis=1))
    ends = np.cumsum(mesh.areas[chosen])
    count = int(min(ends[-1] / spacing**2, _MOST_SAMPLES)) + 1 if len(chosen) else 0
    if not count:
        return np.empty((0, 3)), np.empty((0, 3)), np.empty((0, 3))
    picked = chosen[np.minimum(np.searchsorted(ends, (np.arange(count) + 0.5) * (ends[-1] / count)), len(chosen) - 1)]
    # Two irrational strides (Roberts' R2 sequence) spread the points over each triangle.
    a, b = (np.arange(count) * 0.7548776662466927) % 1.0, (np.arange(count) * 0.5698402909980532) % 1.0
    flip = a + b > 1.0
    a, b = np.where(flip, 1.0 - a, a), np.where(flip, 1.0 - b, b)
    p, q, r = (mesh.vertices[mesh.triangles[picked, k]] for k in range(3))
    spots = p + a[:, None] * (q - p) + b[:, None] * (r - p)
    kept = _inside(spots, box)
    spots, normals, sides = spots[kept], mesh.normals[picked[kept]], (q - p)[kept]
    sides /= np.maximum(np.linalg.norm(sides, axis=1), 1e-300)[:, None]
    return tuple(np.concatenate(pair) for pair in ((spots, spots), (normals, -normals), (sides, sides)))  # type: ignore[return-value]


class _Edges(NamedTuple):
    starts: Points  # (e, 3)
    ends: Points  # (e, 3)
    ways: Points  # (e, 3), where the material ends: across the edge, in the plane of a face and away from it
    exits: Points  # (e, 3), the normal of that face
    between: NDArray[np.bool_]  # (e,), whether the way is between those of two faces


def extent_of(surroundings: Surroundings) -> float:
    """The longest side of the box around a world, metres."""
    low, high = surroundings.local_mesh.bounds
    return float((high - low).max())


def _sharp_edges(mesh: Mesh, extent: float) -> _Edges:
    """Edges at which a surface ends or turns, once for each face at them, and once between two faces.

    Vertices that are close together by the `extent` of the world, metres, are one.
    """
    size = max(_EDGE_WELD * extent, 1e-300)
    _, first, weld, _ = distinct(np.round((mesh.vertices - mesh.vertices.min(axis=0)) / size))
    sides = weld[mesh.triangles][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    owner = np.repeat(np.arange(len(mesh)), 3)
    third = mesh.vertices[mesh.triangles[:, [2, 0, 1]]].reshape(-1, 3)
    ends = np.sort(sides, axis=1)
    code = ends[:, 0].astype(np.int64) * len(first) + ends[:, 1]
    _, edge, counts = np.unique(code, return_inverse=True, return_counts=True)
    edge = edge.ravel()
    a, b = mesh.vertices[first[ends[:, 0]]], mesh.vertices[first[ends[:, 1]]]
    along = b - a
    length = np.linalg.norm(along, axis=1)
    normals = mesh.normals[owner]
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = along / length[:, None]
        inward = third - a
        inward -= (inward * unit).sum(axis=1)[:, None] * unit
        inward /= np.linalg.norm(inward, axis=1)[:, None]
    good = np.isfinite(inward).all(axis=1) & (length > 0)
    # An edge between two faces is sharp unless they go on in one plane.
    order = np.argsort(edge, kind="stable")
    start = np.cumsum(counts) - counts
    pair = counts[edge] == 2
    mate = np.full(len(edge), -1)
    one, two = order[start[counts == 2]], order[start[counts == 2] + 1]
    mate[one], mate[two] = two, one
    # Opposite ways into two faces that go on in one plane; a fold has them alike.
    opening = (inward * inward[mate]).sum(axis=1)
    flat = pair & (opening < -_SHARP_EDGE)
    # Where each of two faces lies before the other one nothing ends: the ways would lead into what is solid.
    before = pair & ((inward[mate] * normals).sum(axis=1) > 0) & ((inward * normals[mate]).sum(axis=1) > 0)
    kept = good & ~flat & ~before
    between = kept & pair & (np.arange(len(edge)) < mate)
    middle = -(inward + inward[mate])[between]
    middle /= np.maximum(np.linalg.norm(middle, axis=1), 1e-300)[:, None]
    border = kept & ~pair
    lean = np.sqrt(0.5)
    # Where two faces meet in an obtuse angle a ball beyond the one is in the other.
    across = kept & ~(pair & (opening < -_OBTUSE))
    parts = [
        (across, -inward[across], normals[across]),
        (between, middle, normals[between]),
        (border, lean * (normals - inward)[border], normals[border]),
        (border, -lean * (normals + inward)[border], normals[border]),
    ]
    return _Edges(
        np.concatenate([a[mask] for mask, _, _ in parts]),
        np.concatenate([b[mask] for mask, _, _ in parts]),
        np.concatenate([ways for _, ways, _ in parts]),
        np.concatenate([exits for _, _, exits in parts]),
        np.repeat([False, True, False, False], [len(ways) for _, ways, _ in parts]),
    )


def beside_edges(mesh: Mesh, extent: float, away: float, spacing: float) -> Points:
    """Points `away` metres from the sharp edges between two faces, at their ends and every `spacing` metres or less.

    The mesh is in a world of an `extent`, metres.
    """
    edges = _sharp_edges(mesh, extent)
    a, b, ways = edges.starts[edges.between], edges.ends[edges.between], edges.ways[edges.between]
    parts = np.minimum(8, np.maximum(1, np.ceil(np.linalg.norm(b - a, axis=1) / spacing))).astype(np.int64)
    edge = np.repeat(np.arange(len(parts)), parts + 1)
    share = (np.arange(len(edge)) - np.repeat(np.cumsum(parts + 1) - parts - 1, parts + 1)) / parts[edge]
    return np.asarray(a[edge] + share[:, None] * (b - a)[edge] + away * ways[edge])


def shell(block: Mesh, extent: float, away: float) -> Points:
    """Triangles (t, 3, 3) `away` metres outside of the faces of a block, and flat ones around its sharp edges.

    The block is in a world of an `extent`, metres. At its corners the shell is open.
    """
    edges = _sharp_edges(block, extent)
    a, b, way, one = (part[edges.between] for part in (edges.starts, edges.ends, edges.ways, edges.exits))
    other = 2.0 * (one * way).sum(axis=1)[:, None] * way - one
    parts = [block.corners + away * block.normals[:, None]]
    for u, v in ((one, way), (way, other)):
        near, far = (a + away * u, b + away * u), (a + away * v, b + away * v)
        parts += [np.stack([*near, far[1]], axis=1), np.stack([near[0], far[1], far[0]], axis=1)]
    return np.concatenate(parts)


class SkirtLines(NamedTuple):
    """Straight pieces of lines along surfaces, past blocks."""

    starts: Points  # (k, 3)
    ends: Points  # (k, 3)

    @property
    def length(self) -> float:
        """How long they are together, metres."""
        return float(np.linalg.norm(self.ends - self.starts, axis=1).sum())

    def places(self, spacing: float, cell: float) -> Points:
        """The ends of every piece, and places between them that are at most `spacing` metres apart.

        Of those in one cube with sides of `cell` metres the first.
        """
        parts = np.maximum(1, np.ceil(np.linalg.norm(self.ends - self.starts, axis=1) / spacing)).astype(np.int64)
        line = np.repeat(np.arange(len(parts)), parts + 1)
        share = (np.arange(len(line)) - np.repeat(np.cumsum(parts + 1) - parts - 1, parts + 1)) / parts[line]
        places = self.starts[line] + share[:, None] * (self.ends - self.starts)[line]
        return np.asarray(places[np.sort(distinct(np.floor(places / cell).astype(np.int64)).first)])

    def crossings(self, planes: list[Points], body: float) -> Points:
        """Where they cross planes across each axis, or beside that where another plane is as close.

        A body has the radius `body`, metres.
        """
        found = [np.empty((0, 3))]
        for axis in range(3):
            line, at = _crossings(self.starts[:, axis], self.ends[:, axis], planes[axis])
            spots = _where(self.starts[line], self.ends[line], planes[axis][at], axis)
            spots[:, axis] = planes[axis][at]
            places = np.insert(spots, 3, body, axis=1)
            for other in range(3):
                if other != axis:
                    places, _ = _off_planes(places, other, planes[other], body)
            found.append(places[:, :3])
        return np.concatenate(found)


def lines_on(surfaces: Points, shell: Points) -> SkirtLines:
    """Where triangles (n, 3, 3) and those of a shell (m, 3, 3) meet."""
    low, high = shell.min(axis=1), shell.max(axis=1)
    within = (surfaces.min(axis=1) <= high.max(axis=0)) & (surfaces.max(axis=1) >= low.min(axis=0))
    surfaces = surfaces[within.all(axis=1)]
    meet = np.ones((len(surfaces), len(shell)), np.bool_)
    for axis in range(3):
        meet &= surfaces[:, :, axis].min(axis=1)[:, None] <= high[:, axis]
        meet &= surfaces[:, :, axis].max(axis=1)[:, None] >= low[:, axis]
    one, other = np.nonzero(meet)
    a, b = surfaces[one], shell[other]
    across_a, across_b = _across(surfaces)[one], _across(shell)[other]
    cut, a_starts, a_ends = _cut(a, b[:, 0], across_b)
    a, b, across_a, across_b = a[cut], b[cut], across_a[cut], across_b[cut]
    kept, b_starts, b_ends = _cut(b, a[:, 0], across_a)
    a_starts, a_ends = a_starts[kept], a_ends[kept]
    # Both pieces are on the line where the planes meet.
    along = np.cross(across_a[kept], across_b[kept])
    along /= np.maximum(np.linalg.norm(along, axis=1), 1e-300)[:, None]
    u, v, p, q = ((part * along).sum(axis=1) for part in (a_starts, a_ends, b_starts, b_ends))
    first, last = np.maximum(np.minimum(u, v), np.minimum(p, q)), np.minimum(np.maximum(u, v), np.maximum(p, q))
    both = np.flatnonzero(first < last)
    way = (a_ends - a_starts)[both] / (v - u)[both, None]
    starts, ends = (a_starts[both] + (part - u)[both, None] * way for part in (first, last))
    return SkirtLines(starts, ends)


def _across(corners: Points) -> Points:
    """Vectors across triangles (k, 3, 3), of any length."""
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def _cut(corners: Points, on: Points, across: Points) -> tuple[NDArray[np.int64], Points, Points]:
    """Which triangles (k, 3, 3) planes through `on`, `across` which the vectors are, cut, and from where to where."""
    away = ((corners - on[:, None]) * across[:, None]).sum(axis=2)
    below = away < 0.0
    cut = np.flatnonzero(below.any(axis=1) & ~below.all(axis=1))
    corners, away, below = corners[cut], away[cut], below[cut]
    # The corner that is alone on its side of the plane, and the two others.
    few = np.where(below.sum(axis=1) == 1, below.argmax(axis=1), (~below).argmax(axis=1))
    rows = np.arange(len(cut))
    (p, u), (q, v), (r, w) = ((corners[rows, (few + k) % 3], away[rows, (few + k) % 3]) for k in range(3))
    return cut, p + (u / (u - v))[:, None] * (q - p), p + (u / (u - w))[:, None] * (r - p)


def _on_edges(
    surroundings: Surroundings,
    edges: _Edges,
    limits: tuple[float, float],
    box: tuple[Points, Points] | None,
    workers: int | None,
) -> tuple[Points, Points]:
    """Balls that are held between edges and something opposite, and places on the ways out: centres and radii."""
    radius, most = limits
    starts, ends, edge = _clipped(edges, box)
    ways = np.ascontiguousarray(edges.ways[edge])
    lengths = np.linalg.norm(ends - starts, axis=1)
    close = radius * (_EDGE if radius <= _ROOM * surroundings.body.radius else _EDGE_WIDE)
    close = max(close, float(lengths.sum()) / _MOST_SAMPLES)
    offsets = offsets_of(np.ceil(lengths / close).astype(np.int64) + 1)
    shares, found = np.zeros(int(offsets[-1])), np.zeros(int(offsets[-1]))

    def work(first: int, last: int) -> None:
        _place_kernels.narrow_along(
            surroundings.world(),
            surroundings.body,
            starts,
            ends,
            ways,
            offsets,
            close,
            max(close, _FINE * radius),
            radius,
            most,
            first,
            last,
            shares,
            found,
        )

    run_chunks(work, len(edge), workers=workers, chunk=256)
    kept = np.flatnonzero(found > 0.0)
    sizes, line = found[kept], np.searchsorted(offsets, kept, side="right") - 1
    middles = starts[line] + shares[kept, None] * (ends - starts)[line] + sizes[:, None] * ways[line]
    return _with_exits(surroundings, middles, sizes, edges.exits[edge[line]], radius, workers)


def _between_short_edges(
    surroundings: Surroundings,
    edges: _Edges,
    limits: tuple[float, float],
    box: tuple[Points, Points] | None,
    workers: int | None,
) -> tuple[Points, Points]:
    """Balls in openings with many corners: centres and radii.

    Where edges meet at obtuse angles, as around a round window, a ball that touches one of them beside its middle soon
    meets the next one. So balls start small, and move to where there is most room.
    """
    radius, _ = limits
    sides = edges.ends - edges.starts
    lengths = np.linalg.norm(sides, axis=1)
    short = (lengths > _EDGE * radius) & (lengths < _SHORT * radius)
    if box is not None:
        low, high = np.minimum(edges.starts, edges.ends), np.maximum(edges.starts, edges.ends)
        short &= ((low <= box[1]) & (high >= box[0])).all(axis=1)
    chosen = np.flatnonzero(short)
    # An odd number, so that one is in the middle.
    counts = np.ceil(lengths[chosen] / (_EDGE * radius)).astype(np.int64) | 1
    edge = np.repeat(chosen, counts)
    share = (np.arange(len(edge)) - np.repeat(np.cumsum(counts) - counts, counts) + 0.5) / np.repeat(counts, counts)
    spots = edges.starts[edge] + share[:, None] * sides[edge]
    middles, sizes = _settled(surroundings, spots, np.ascontiguousarray(edges.ways[edge]), limits, workers)
    held = np.flatnonzero((sizes > 0.0) & (sizes < np.inf))
    return _with_exits(surroundings, middles[held], sizes[held], edges.exits[edge[held]], radius, workers)


def _with_exits(
    surroundings: Surroundings, middles: Points, sizes: Points, exits: Points, radius: float, workers: int | None
) -> tuple[Points, Points]:
    """The balls outside of solids, one of those that are close together, and places on the ways out of the openings."""
    kept = _first_of_cells(middles, sizes, surroundings.body.radius)
    kept = kept[_outside(surroundings, middles[kept], workers)]
    middles, sizes, exits = middles[kept], sizes[kept], exits[kept]
    tight = sizes < _SLACK * radius
    places = [middles[tight] + far * radius * exits[tight] for far in (*_EXITS, *(-far for far in _EXITS))]
    return np.concatenate([middles, *places]), np.concatenate([sizes, np.tile(sizes[tight], len(places))])


def _clipped(edges: _Edges, box: tuple[Points, Points] | None) -> tuple[Points, Points, NDArray[np.int64]]:
    """The parts of edges inside a box: starts, ends and numbers of the edges."""
    a, b = edges.starts, edges.ends
    edge = np.arange(len(a))
    if box is None:
        return np.ascontiguousarray(a), np.ascontiguousarray(b), edge
    way = b - a
    with np.errstate(divide="ignore", invalid="ignore"):
        one, two = (box[0] - a) / way, (box[1] - a) / way
    level = way == 0.0
    within = (a >= box[0]) & (a <= box[1])
    low = np.where(level, np.where(within, 0.0, np.inf), np.minimum(one, two)).max(axis=1, initial=0.0)
    high = np.where(level, np.where(within, 1.0, -np.inf), np.maximum(one, two)).min(axis=1, initial=1.0)
    edge = np.flatnonzero(low < high)
    a, way = a[edge], way[edge]
    return a + low[edge, None] * way, a + high[edge, None] * way, edge
