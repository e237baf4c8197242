"""Places in narrow free space: in windows and tunnels, at their ends, and where they cross the faces between regions.

Samples on surfaces and on sharp edges are where balls start from (`_narrow_kernels`). On surfaces they are as far apart
as an empty ball allows for and closer only where something is opposite; along edges they are half a radius apart, since
a hole in a thin wall has nothing but edges. All of it is done for the agent's radius and then for twice as much, and so
on up to openings that the lattice of free places finds by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold._threads import run_chunks
from wayfold.geometry import Mesh
from wayfold.waypoints import _narrow_kernels
from wayfold.waypoints.surroundings import Surroundings

Points = NDArray[np.float64]

_WIDEST = 4.0  # radii of the largest ball at one scale: openings from 2 to 8 radii
_COARSE = 3.0  # radii between samples on a surface, where the ball of `_WIDEST` radii above each is empty
_FINE = 0.9  # radii between samples on a surface that has something opposite
_EDGE = 0.45  # radii between samples along an edge
_ROOM = 1.02  # radii of the ball that must be free, for a little room
_EXITS = (1.3, 2.6)  # radii in front of an opening
_SHARP = 0.9  # cosine between the normals of two faces, below which the edge between them is sharp
_WELD = 1e-9  # of the extent: vertices closer than this are one
_MOST_SAMPLES = 4_000_000
_PARTS = 9  # places along each side of the square in which room on a face is looked for


class Narrow(NamedTuple):
    """Balls in narrow places, the narrowest first."""

    centres: Points  # (k, 3)
    radii: Points  # (k,)

    def sorted(self) -> Narrow:
        """By radius, then by place, so that the order of triangles does not matter."""
        order = np.lexsort((*self.centres.T[::-1], np.round(self.radii, 6)))
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
    edges = _sharp_edges(mesh)
    while True:
        for spots, ways, exits in (
            (*_on_surfaces(surroundings, mesh, radius, box, workers), None),
            _on_edges(edges, radius, box),
        ):
            found = _balls(surroundings, spots, ways, radius, workers)
            kept = np.flatnonzero((found > 0.0) & (found < np.inf))
            middles, sizes = spots[kept] + found[kept, None] * ways[kept], found[kept]
            centres.append(middles)
            radii.append(sizes)
            if exits is not None:
                for far in _EXITS:
                    for side in (-far, far):
                        centres.append(middles + side * radius * exits[kept])
                        radii.append(sizes)
        if 2.0 * _WIDEST * radius >= widest:
            break
        radius *= 2.0
    return _thinned(Narrow(np.concatenate(centres), np.concatenate(radii)).sorted())


def on_planes(
    surroundings: Surroundings, narrow: Narrow, axis: int, planes: Points, workers: int | None = None
) -> tuple[Points, NDArray[np.int64]]:
    """Places on planes across an axis near narrow places, with most room, and the plane that each is on.

    The places (k, 4) have how far they should be apart as their last column.
    """
    if not len(planes) or not len(narrow.radii):
        return np.empty((0, 4)), np.empty(0, np.int64)
    where = narrow.centres[:, axis]
    nearest = np.clip(np.searchsorted(planes, where), 1, max(1, len(planes) - 1))
    lower = np.minimum(nearest - 1, len(planes) - 1)
    upper = np.minimum(nearest, len(planes) - 1)
    plane = np.where(np.abs(where - planes[lower]) <= np.abs(where - planes[upper]), lower, upper)
    near = np.flatnonzero(np.abs(where - planes[plane]) <= 1.3 * narrow.radii)
    centres, plane = np.ascontiguousarray(narrow.centres[near]), plane[near]
    radii, levels = np.ascontiguousarray(narrow.radii[near]), np.ascontiguousarray(planes[plane])
    fits = np.zeros(len(near), np.bool_)

    def work(first: int, last: int) -> None:
        _narrow_kernels.roomiest_on_planes(
            surroundings.world(), surroundings.body, axis, levels, centres, radii, _PARTS, first, last, fits
        )

    run_chunks(work, len(near), workers=workers, chunk=64)
    return np.column_stack([centres, radii])[fits], plane[fits]


def _balls(surroundings: Surroundings, spots: Points, ways: Points, radius: float, workers: int | None) -> Points:
    radii = np.empty(len(spots))

    def work(first: int, last: int) -> None:
        _narrow_kernels.narrow_balls(
            surroundings.world(), surroundings.body, spots, ways, radius, _WIDEST * radius, first, last, radii
        )

    run_chunks(work, len(spots), workers=workers, chunk=1024)
    return radii


def _thinned(narrow: Narrow) -> Narrow:
    """One ball for each cube of a third of its radius, by scale."""
    scale = np.floor(2.0 * np.log2(np.maximum(narrow.radii, 1e-300)))
    cell = np.floor(narrow.centres / (np.exp2(0.5 * scale) / 3.0)[:, None])
    _, first = np.unique(np.column_stack([scale, cell]), axis=0, return_index=True)
    first.sort()
    return Narrow(np.ascontiguousarray(narrow.centres[first]), np.ascontiguousarray(narrow.radii[first]))


def _inside(points: Points, box: tuple[Points, Points] | None) -> NDArray[np.bool_]:
    if box is None:
        return np.ones(len(points), np.bool_)
    return np.asarray(((points >= box[0]) & (points <= box[1])).all(axis=1))


def _on_surfaces(
    surroundings: Surroundings,
    mesh: Mesh,
    radius: float,
    box: tuple[Points, Points] | None,
    workers: int | None,
) -> tuple[Points, Points]:
    """Samples on both sides of surfaces that have something opposite, and unit normals."""
    spots, ways, sides = spread(mesh, _COARSE * radius, box)
    shut = np.flatnonzero(np.isfinite(_balls(surroundings, spots, ways, radius, workers)))
    spots, ways, sides = spots[shut], ways[shut], sides[shut]
    # Closer samples around each; beyond the rim of its triangle they do no harm.
    across = np.cross(ways, sides)
    steps = _FINE * radius * np.arange(-2, 3)
    u, v = (part.ravel()[None, :, None] for part in np.meshgrid(steps, steps))
    close = spots[:, None] + u * sides[:, None] + v * across[:, None]
    return close.reshape(-1, 3), np.repeat(ways, len(steps) ** 2, axis=0)


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


def _sharp_edges(mesh: Mesh) -> _Edges:
    """Edges at which a surface ends or turns, once for each face at them, and once between two faces."""
    extent = float(np.ptp(mesh.vertices, axis=0).max()) if len(mesh.vertices) else 0.0
    size = max(_WELD * extent, 1e-300)
    _, first, weld = np.unique(
        np.round((mesh.vertices - mesh.vertices.min(axis=0)) / size), axis=0, return_index=True, return_inverse=True
    )
    sides = weld.ravel()[mesh.triangles][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
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
    flat = pair & ((inward * inward[mate]).sum(axis=1) < -_SHARP)
    kept = good & ~flat
    between = kept & pair & (np.arange(len(edge)) < mate)
    middle = -(inward + inward[mate])[between]
    middle /= np.maximum(np.linalg.norm(middle, axis=1), 1e-300)[:, None]
    border = kept & ~pair
    lean = np.sqrt(0.5)
    parts = [
        (kept, -inward[kept], normals[kept]),
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


def beside_edges(mesh: Mesh, away: float, spacing: float) -> Points:
    """Points `away` metres from the sharp edges between two faces, at their ends and every `spacing` metres or less."""
    edges = _sharp_edges(mesh)
    a, b, ways = edges.starts[edges.between], edges.ends[edges.between], edges.ways[edges.between]
    parts = np.minimum(8, np.maximum(1, np.ceil(np.linalg.norm(b - a, axis=1) / spacing))).astype(np.int64)
    edge = np.repeat(np.arange(len(parts)), parts + 1)
    share = (np.arange(len(edge)) - np.repeat(np.cumsum(parts + 1) - parts - 1, parts + 1)) / parts[edge]
    return np.asarray(a[edge] + share[:, None] * (b - a)[edge] + away * ways[edge])


def _on_edges(edges: _Edges, radius: float, box: tuple[Points, Points] | None) -> tuple[Points, Points, Points]:
    """Samples along edges, unit vectors away from what ends there, and the ways out of an opening."""
    a, b, ways, exits, _ = edges
    if box is not None:
        near = ((np.minimum(a, b) <= box[1]) & (np.maximum(a, b) >= box[0])).all(axis=1)
        a, b, ways, exits = a[near], b[near], ways[near], exits[near]
    lengths = np.linalg.norm(b - a, axis=1)
    counts = np.maximum(1, np.ceil(lengths / (_EDGE * radius)).astype(np.int64))
    while counts.sum() > _MOST_SAMPLES:
        counts = np.maximum(1, counts // 2)
    edge = np.repeat(np.arange(len(counts)), counts)
    share = (np.arange(len(edge)) - np.repeat(np.cumsum(counts) - counts, counts) + 0.5) / counts[edge]
    spots = a[edge] + share[:, None] * (b - a)[edge]
    kept = _inside(spots, box)
    edge = edge[kept]
    return np.ascontiguousarray(spots[kept]), np.ascontiguousarray(ways[edge]), exits[edge]
