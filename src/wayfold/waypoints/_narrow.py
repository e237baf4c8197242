"""Places in narrow free space: in windows and tunnels, at their ends, and where they cross the faces between regions.

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

from wayfold.core.arrays import distinct
from wayfold.core.batches import run_chunks
from wayfold.geometry import Mesh
from wayfold.waypoints import _narrow_kernels
from wayfold.waypoints.surroundings import Body, Surroundings

Points = NDArray[np.float64]

_WIDEST = 4.0  # radii of the largest ball at one scale: openings from 2 to 8 radii
_LEAST = 2.5  # radii of the largest ball at the last scale, at least
_BEYOND = 0.6  # of the width of the widest openings: radius of the largest ball that is of use
_SCALE = 3.0  # between one scale and the next: the narrowest openings of the next are 2.7 of its radii wide
_COARSE = 3.0  # radii between samples on a surface, where the ball of `_WIDEST` radii above each is empty
_FINE = 0.9  # radii between samples on a surface that has something opposite
_EDGE = 0.45  # radii between balls along an edge: one in an opening of 2.5 radii is at most 0.25 off its middle
_EDGE_WIDE = 0.65  # the same at the other scales: in one of 2.7 radii 0.35
_ROOM = 1.02  # radii of the ball that must be free, for a little room
_EXITS = (1.3, 2.6)  # radii in front of an opening
_SHARP = 0.9  # cosine between the normals of two faces, below which the edge between them is sharp
_OBTUSE = 0.1  # cosine beyond which the angle between two faces is obtuse
_ASIDE = 0.05  # radii from a plane at which a place beside it is
_WELD = 1e-9  # of the extent: vertices closer than this are one
_MOST_SAMPLES = 4_000_000
_SLACK = 2.0  # radii of a ball, from which samples need not be closer
_THIN = 0.75  # radii: of balls as close as this one is enough
_TIGHT = 1.5  # radii of the body, below which they have to be a third closer
_FLAT = 1.5  # times as far apart on a face, where the place with most room is looked for


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
    """Places on planes across an axis near narrow places, with most room, and the plane that each is on.

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
        _narrow_kernels.roomiest_on_planes(
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
        _narrow_kernels.outside(surroundings.world(), places, first, last, result)

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
        _narrow_kernels.settled_balls(
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
    size = max(_WELD * extent, 1e-300)
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
    flat = pair & (opening < -_SHARP)
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
    offsets = np.concatenate([[0], np.cumsum(np.ceil(lengths / close).astype(np.int64) + 1)])
    shares, found = np.zeros(int(offsets[-1])), np.zeros(int(offsets[-1]))

    def work(first: int, last: int) -> None:
        _narrow_kernels.narrow_along(
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
    kept = _first_of_cells(middles, sizes, surroundings.body.radius)
    kept = kept[_outside(surroundings, middles[kept], workers)]
    middles, sizes, exits = middles[kept], sizes[kept], edges.exits[edge[line[kept]]]
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
