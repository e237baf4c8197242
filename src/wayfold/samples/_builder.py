"""Collects triangles by material: quads, boxes, prisms, polygons, stairs. Every sample mesh is made with it.

All shapes are given in arrays, so that a thousand boxes cost one call. Faces are counter-clockwise from outside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from wayfold.geometry import Mesh

Array = NDArray[np.float64]
Height = float | Callable[[Array], Array]
"""Height of a surface: one number, or a function from (n, 2) positions to (n,) heights."""

STEP = 0.17
"""Rise of a comfortable stair step in metres."""
TREAD = 0.3
"""Depth of a stair step in metres."""

_GRAIN = 1e-4
"""Vertices are rounded to a tenth of a millimetre, so that pieces that meet share them."""


def lift(points: Array, height: Height) -> Array:
    """(n, 3) points above the (n, 2) positions `points`, on the surface `height`."""
    z = height(points) if callable(height) else np.full(len(points), float(height))
    return np.column_stack([points, z])


def subdivide(points: ArrayLike, pieces: ArrayLike) -> Array:
    """The closed ring `points` with edge k (from point k to the next) cut into ``pieces[k]`` equal parts."""
    ring = np.asarray(points, float)
    count = np.asarray(pieces, int)
    edge = np.repeat(np.arange(len(ring)), count)
    along = (np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count)) / count[edge]
    following = np.roll(ring, -1, axis=0)
    return np.asarray(ring[edge] * (1 - along)[:, None] + following[edge] * along[:, None])


def ring_of(polygon: Any) -> Array:
    """Exterior of a polygon, counter-clockwise, (n, 2), without the repeated last point."""
    ring: Array = np.asarray(shapely.get_coordinates(shapely.orient_polygons(polygon).exterior))
    return np.ascontiguousarray(ring[:-1])


class Builder:
    """An open mesh that grows by shapes and is closed by `mesh`."""

    def __init__(self) -> None:
        self._pieces: list[Array] = []
        self._kinds: list[NDArray[np.int32]] = []
        self._names: dict[str, int] = {}
        self.count = 0

    def triangles(self, corners: ArrayLike, material: str) -> None:
        """Triangles with (m, 3, 3) corners."""
        array = np.asarray(corners, float).reshape(-1, 3, 3)
        if len(array):
            kind = self._names.setdefault(material, len(self._names))
            self._pieces.append(array)
            self._kinds.append(np.full(len(array), kind, np.int32))
            self.count += len(array)

    def quads(self, a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike, material: str) -> None:
        """Quads with corners a, b, c, d, each (n, 3)."""
        corner = [np.asarray(p, float).reshape(-1, 3) for p in (a, b, c, d)]
        self.triangles(np.stack([corner[0], corner[1], corner[2], corner[0], corner[2], corner[3]], axis=1), material)

    def strip(self, right: Array, left: Array, material: str, *, closed: bool = False) -> None:
        """The band between two polylines with as many points each; seen from outside, `left` is left of `right`."""
        if closed:
            right, left = np.vstack([right, right[:1]]), np.vstack([left, left[:1]])
        self.quads(right[:-1], right[1:], left[1:], left[:-1], material)

    def fan(self, centre: ArrayLike, ring: Array, material: str) -> None:
        """Triangles from `centre` to the edges of the closed `ring` (n, 3)."""
        middle = np.broadcast_to(np.asarray(centre, float), ring.shape)
        self.triangles(np.stack([middle, ring, np.roll(ring, -1, axis=0)], axis=1), material)

    def boxes(self, origin: ArrayLike, u: ArrayLike, v: ArrayLike, w: ArrayLike, material: str, skip: str = "") -> None:
        """Boxes with a corner at `origin` and edges u, v, w (right-handed), each (n, 3).

        `skip` names faces to leave out: ``"bottom"`` (at `origin`, spanned by u and v).
        """
        o, a, b, c = (np.asarray(p, float).reshape(-1, 3) for p in (origin, u, v, w))
        p = [o, o + a, o + a + b, o + b]
        q = [corner + c for corner in p]
        for k in range(4):
            self.quads(p[k], p[(k + 1) % 4], q[(k + 1) % 4], q[k], material)
        self.quads(q[0], q[1], q[2], q[3], material)
        if skip != "bottom":
            self.quads(p[3], p[2], p[1], p[0], material)

    def prisms(
        self, base: ArrayLike, radius: ArrayLike, height: ArrayLike, sides: int, material: str, taper: float = 1.0
    ) -> None:
        """Upright prisms standing on `base` (n, 3); the top is `taper` times as wide (0: a pyramid)."""
        foot = np.asarray(base, float).reshape(-1, 3)
        angle = np.arange(sides) * (2 * np.pi / sides)
        spoke = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(sides)])
        wide = np.broadcast_to(np.asarray(radius, float), len(foot))[:, None, None]
        up = np.zeros_like(foot)
        up[:, 2] = height
        low = foot[:, None] + spoke * wide
        top = (foot + up)[:, None] + spoke * wide * taper
        following = np.roll(np.arange(sides), -1)
        middle = np.broadcast_to((foot + up)[:, None], top.shape)
        if taper == 0.0:
            self.triangles(np.stack([low, low[:, following], middle], axis=2), material)
            return
        a, b, c, d = (p.reshape(-1, 3) for p in (low, low[:, following], top[:, following], top))
        self.quads(a, b, c, d, material)
        self.triangles(np.stack([middle, top, top[:, following]], axis=2), material)

    def polygon(self, polygon: Any, height: Height, material: str, *, up: bool = True) -> None:
        """A shapely polygon or multipolygon, with holes, draped over `height`; no point is added to its edges."""
        # rounding to the mesh's own grain closes slivers that no triangulation could cover
        clean = shapely.get_parts(shapely.set_precision(polygon, _GRAIN))
        clean = clean[shapely.area(clean) > _GRAIN]
        faces = shapely.get_parts(shapely.constrained_delaunay_triangles(clean))
        if len(faces) == 0:
            return
        flat = shapely.get_coordinates(faces).reshape(-1, 4, 2)[:, :3]
        a, b, c = flat[:, 0], flat[:, 1], flat[:, 2]
        twice = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
        wrong = (twice > 0) != up
        flat[wrong] = flat[wrong][:, ::-1]
        self.triangles(lift(flat.reshape(-1, 2), height), material)

    def walls(self, polygon: Any, low: Height, high: Height, material: str, *, inward: bool = False) -> None:
        """Vertical faces along every ring of a polygon, seen from outside it (or from inside with `inward`)."""
        oriented = shapely.orient_polygons(polygon)
        for part in shapely.get_parts(oriented):
            for ring in shapely.get_rings(part):
                points = np.asarray(shapely.get_coordinates(ring))
                if inward:
                    points = points[::-1]
                self.strip(lift(points, low), lift(points, high), material)

    def extrude(self, polygon: Any, low: Height, high: Height, side: str, top: str, bottom: str = "") -> None:
        """A polygon drawn up from `low` to `high`; the underside is closed when `bottom` names a material."""
        self.walls(polygon, low, high, side)
        self.polygon(polygon, high, top)
        if bottom:
            self.polygon(polygon, low, bottom, up=False)

    def stairs(
        self,
        top: ArrayLike,
        outward: ArrayLike,
        width: float,
        fall: float,
        *,
        foot: float = 0.4,
        flights: int = 1,
        landing: float = 1.2,
        material: str = "stairs",
    ) -> float:
        """Solid stairs that go down from the middle of their upper edge `top` (3,) towards `outward` (2,).

        The steps fall by `fall` in all, none by more than `STEP`, and reach `foot` below the lowest ground.
        The last riser stands on the ground. Returns the length of the stairs on the ground.
        """
        steps = int(np.ceil(fall / STEP - 1e-9))
        rise = fall / steps
        depth = np.full(steps - 1, TREAD)
        for flight in range(1, flights):
            depth[flight * (steps - 1) // flights] = landing
        start = np.concatenate([[0.0], np.cumsum(depth)])
        ahead = np.array([*np.asarray(outward, float), 0.0])
        right = np.array([ahead[1], -ahead[0], 0.0])
        base = np.asarray(top, float)
        drop = rise * np.arange(1, steps)
        side = right * (width / 2)
        floor = base[2] - fall - foot
        near, far = base + ahead * start[:-1, None], base + ahead * start[1:, None]
        near[:, 2] = far[:, 2] = base[2] - drop
        deep_near, deep_far, above = near.copy(), far.copy(), near.copy()
        deep_near[:, 2] = deep_far[:, 2] = floor
        above[:, 2] += rise
        self.quads(far + side, far - side, near - side, near + side, material)
        self.quads(near + side, near - side, above - side, above + side, material)
        self.quads(deep_near + side, deep_far + side, far + side, near + side, material)
        self.quads(deep_far - side, deep_near - side, near - side, far - side, material)
        last, sunk = far[-1:], deep_far[-1:]
        self.quads(sunk + side, sunk - side, last - side, last + side, material)
        return float(start[-1])

    def ramp(self, top: ArrayLike, outward: ArrayLike, width: float, fall: float, run: float, material: str) -> None:
        """A solid straight ramp that goes down by `fall` over `run` metres from the middle of its upper edge."""
        ahead = np.array([*np.asarray(outward, float), 0.0])
        right = np.array([ahead[1], -ahead[0], 0.0]) * (width / 2)
        high = np.asarray(top, float)
        low = high + ahead * run - [0.0, 0.0, fall]
        deep = np.array([high[0], high[1], low[2] - 0.3])
        sunk = low - [0.0, 0.0, 0.3]
        self.quads(low + right, low - right, high - right, high + right, material)
        self.quads(sunk + right, sunk - right, low - right, low + right, material)
        self.quads(sunk + right, low + right, high + right, deep + right, material)
        self.quads(deep - right, high - right, low - right, sunk - right, material)

    def mesh(self, *, swap: bool = False) -> Mesh:
        """The finished mesh: vertices shared, faces without area left out; `swap` exchanges x and y."""
        corners = np.concatenate(self._pieces)
        kinds = np.concatenate(self._kinds)
        if swap:
            corners = corners[:, ::-1][:, :, [1, 0, 2]]
        grains = np.rint(corners.reshape(-1, 3) / _GRAIN).astype(np.int64)
        order = np.lexsort(grains.T)
        ordered = grains[order]
        fresh = np.ones(len(ordered), bool)
        fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
        number = np.empty(len(ordered), np.int32)
        number[order] = np.cumsum(fresh) - 1
        vertices = ordered[fresh] * _GRAIN
        triangles = number.reshape(-1, 3)
        a, b, c = (vertices[triangles[:, k]] for k in range(3))
        solid = np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-7
        return Mesh(vertices, triangles[solid], kinds[solid], tuple(self._names))
