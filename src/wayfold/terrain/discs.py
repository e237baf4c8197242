"""Terrain for a disc (Tibboel 2012, section 6): what weighs most under the disc is the weight of its centre.

Grown by the radius and painted in the order of their weights, the regions give a terrain on which the disc is a point
again, so that the refined route works for discs as it does for points. Regions of one weight are grown as one, and
only those outlines are kept that no heavier region covers, so that the new map has little more triangles than the old
one. After an edit only its surroundings are grown again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold.core.interrupts import interruptible
from wayfold.terrain import _disc_kernels, _kernels
from wayfold.terrain.ground import Array, Ground, new_scratch
from wayfold.terrain.subdivision import triangulate

_SIDES = 1e-3
"""Of the radius: how much farther than it the sides of grown regions lie, so that rounding does not matter."""
_CORNERS = 0.09
"""Of the radius: how much farther the corners reach at most."""
_TIP = 0.01  # of the radius: the first part of the way, in which corners sharper than a right angle are blunted
_RIGHT = 1.4143  # mitre limit that leaves right angles as they are
_FINE = 4_000  # triangles up to which corners get twice as many sides, and reach a quarter as far
_TOGETHER = 8  # polygons near each other that are grown together
_SQUARE = 8.0  # of the reach: the least side of the squares in which more of them are grown
Layer = tuple[Any, float]


class Layers(NamedTuple):
    """Polygons and what the terrain of a disc's centre weighs in them, heavier ones later."""

    layers: list[Layer]
    nbytes: int
    """Bytes of the polygons, about."""


@interruptible
def grow(ground: Ground, weights: Array, radius: float) -> tuple[Ground, Array]:
    """The terrain of the centre of a disc: its triangles and their weights, without what is closed to it.

    Corners of regions become polygons around arcs. Their sides lie a thousandth of the radius too far out, their
    corners at most 9 % (2.5 % on small maps), so that a gap between two corners must be as much wider than the disc.
    """
    mesh = ground.mesh
    values, areas = _areas(ground, weights)
    fine = len(weights) <= _FINE
    wide = [_widened(area, radius + _margin(ground, radius), fine) for area in areas[1:]]
    lines = [shapely.multilinestrings(_borders(mesh, np.zeros(len(weights))))]
    covered = None
    for area in reversed(wide):
        outline = shapely.boundary(area)
        lines.append(outline if covered is None else shapely.difference(outline, covered))
        covered = area if covered is None else shapely.union(covered, area)
    # Ends of outlines were computed, and meet the outlines they end on only within rounding: they are snapped, by so
    # little that the border of the map stays where it counts as being.
    found = triangulate(shapely.union_all(np.array(lines, object), grid_size=0.5 * ground.slack))
    on_map = np.empty(len(found.places), np.int32)
    _kernels.locate(mesh, weights, found.places, 0.0, on_map)
    heavy = np.where(on_map >= 0, values[0], np.inf)
    for value, area in zip(values[1:], wide, strict=True):
        shapely.prepare(area)
        heavy[shapely.intersects_xy(area, found.places[:, 0], found.places[:, 1])] = value
    heavy[on_map < 0] = np.inf
    open_ = np.isfinite(heavy[found.face])
    if not open_.any():
        open_[:1] = True  # a map needs a triangle, even if it is a closed one
    used, numbers = np.unique(found.triangles[open_], return_inverse=True)
    vertices = np.ascontiguousarray(found.vertices[used])
    grown = Ground(vertices, numbers.reshape(-1, 3).astype(np.int32), ground.frame)
    return grown, np.ascontiguousarray(heavy[found.face][open_])


class Zone(NamedTuple):
    """Where the terrain of a disc's centre is another one after an edit."""

    area: Any
    members: list[int]  # the polygons that count there
    cell: tuple[float, int, int] | None  # side and place of the square that it is cut to, None if it is whole


def zones(ground: Ground, radius: float, changed: Sequence[Any]) -> list[Zone]:
    """Where the terrain of a disc's centre is another one after `changed` polygons.

    Polygons whose surroundings overlap are grown together; many of them square by square, so that one more polygon
    changes only the squares that it is in reach of.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    max_distance = _max_distance(ground, radius)
    around = shapely.buffer(np.array(changed, object), max_distance, join_style="mitre")
    one, two = shapely.STRtree(around).query(around, predicate="intersects")
    arcs = coo_array((np.ones(len(one), np.bool_), (one, two)), shape=(len(around), len(around)))
    _, group = connected_components(arcs, directed=False)
    order = np.argsort(group, kind="stable")
    # Each by itself: what lies elsewhere changes no digit. Ordered, so that one more comes after all.
    members = sorted(some.tolist() for some in np.split(order, np.flatnonzero(np.diff(group[order])) + 1))
    found: list[Zone] = []
    for some in members:
        if len(some) <= _TOGETHER:
            found.append(Zone(shapely.normalize(shapely.union_all(around[some])), some, None))
        else:
            found += _squares(around, np.array(some), max_distance)
    return found


def _squares(around: NDArray[Any], members: NDArray[np.int64], max_distance: float) -> list[Zone]:
    """The surroundings of many polygons, cut into squares that are larger than any of the polygons."""
    boxes = shapely.bounds(around[members])
    largest = float((boxes[:, 2:] - boxes[:, :2]).max())
    side = _SQUARE * max_distance
    side *= 2.0 ** max(0, int(np.ceil(np.log2(largest / side))))  # the same for more polygons, but for larger ones
    places: dict[tuple[int, int], list[int]] = {}
    for number, (x0, y0, x1, y1) in zip(
        members.tolist(), np.floor(boxes / side).astype(np.int64).tolist(), strict=True
    ):
        for column in range(x0, x1 + 1):
            for row in range(y0, y1 + 1):
                places.setdefault((column, row), []).append(number)
    found = []
    for (column, row), some in places.items():
        square = shapely.box(column * side, row * side, (column + 1) * side, (row + 1) * side)
        area = _polygonal(shapely.intersection(shapely.union_all(around[some]), square))
        if not area.is_empty:
            found.append(Zone(shapely.normalize(area), some, (side, column, row)))
    return found


def grown_layers(
    ground: Ground,
    weights: Array,
    radius: float,
    zone: Zone,
    fine: bool,
    polygons: Sequence[Any],
    factors: Sequence[float],
) -> Layers:
    """What the terrain of a disc's centre weighs in a zone, after the zone's polygons were painted over the ground.

    Shapes are cut to what counts there and brought into an order of their own: the same polygons give the same numbers
    to the last digit, whatever lies elsewhere.
    """
    max_distance = _max_distance(ground, radius)
    near = ground.near(zone.area.bounds, max_distance)
    triangles = shapely.polygons(ground.mesh.vertices[ground.mesh.triangles[near]][:, [0, 1, 2, 0]])
    window = shapely.normalize(shapely.buffer(zone.area, max_distance, join_style="mitre"))
    shapely.prepare(window)
    counts = shapely.intersects(window, triangles)
    triangles, local = triangles[counts], weights[near[counts]]
    layers: list[Layer] = []
    if not len(triangles):
        return Layers(layers, 0)
    land = _cut_to(triangles, window)
    areas = [(float(value), _cut_to(triangles[local == value], window)) for value in np.unique(local)]
    inside: dict[float, list[Any]] = {}
    covered = None  # by later polygons
    for factor, run in groupby(reversed(zone.members), key=lambda number: factors[number]):
        painted = shapely.union_all([polygons[number] for number in run])
        own = painted if covered is None else shapely.difference(painted, covered)
        covered = painted if covered is None else shapely.union(painted, covered)
        for value, area in areas if np.isfinite(factor) else [(np.inf, land)]:
            inside.setdefault(value * factor, []).append(_polygonal(shapely.intersection(area, own)))
    for value, area in areas:
        inside.setdefault(value, []).append(_polygonal(shapely.difference(area, covered)))
    whole = {value: shapely.normalize(shapely.union_all(shapes)) for value, shapes in inside.items()}
    values = sorted(value for value, area in whole.items() if not area.is_empty)
    over = None  # what heavier ground covers: where there is much of it, its outlines below need not be cut
    for number, value in reversed(list(enumerate(values))):
        lowest = whole[value] if zone.cell is None else land  # which lies under all others, and so may be everywhere
        wide = lowest if number == 0 else _widened(whole[value], radius + _margin(ground, radius), fine)
        wide = shapely.intersection(wide, zone.area)
        parts = shapely.get_parts(wide if over is None else shapely.difference(wide, over))
        layers += [(part, float(value)) for part in parts[::-1] if part.geom_type == "Polygon" and part.area > 0]
        if zone.cell is not None:
            over = wide if over is None else shapely.union(over, wide)
    layers.reverse()
    return Layers(layers, sum(200 + 16 * int(shapely.get_num_coordinates(polygon)) for polygon, _ in layers))


def _cut_to(triangles: NDArray[Any], window: Any) -> Any:
    """What of some triangles lies in a window."""
    whole = shapely.normalize(shapely.coverage_union_all(triangles))
    return shapely.normalize(_polygonal(shapely.intersection(whole, window)))


def _polygonal(shape: Any) -> Any:
    """What of a shape has an area."""
    parts = shapely.get_parts(shape)
    return shapely.multipolygons(parts[shapely.get_type_id(parts) == shapely.GeometryType.POLYGON])


def is_fine(weights: Array) -> bool:
    """Whether the corners of a map get twice as many sides."""
    return len(weights) <= _FINE


def _margin(ground: Ground, radius: float) -> float:
    return _SIDES * radius + 8 * ground.slack


def _max_distance(ground: Ground, radius: float) -> float:
    """How far a grown region reaches at most."""
    return (1 + _CORNERS) * (radius + _margin(ground, radius))


def _areas(ground: Ground, weights: Array) -> tuple[Array, list[Any]]:
    """The weights of a terrain, and the area of each as one shape."""
    values = np.unique(weights)
    faces = np.asarray(shapely.get_parts(shapely.polygonize(_borders(ground.mesh, weights))))
    places = shapely.get_coordinates(shapely.point_on_surface(faces))
    owner = np.empty(len(faces), np.int32)
    _kernels.locate(ground.mesh, weights, places, 0.0, owner)
    heavy = np.where(owner >= 0, weights[owner], np.nan)
    return values, [shapely.multipolygons(faces[heavy == value]) for value in values]


def _borders(mesh: _kernels.Triangulation, weights: Array) -> NDArray[Any]:
    """The edges between different weights, and around the map."""
    twins = mesh.twins
    half = np.flatnonzero((twins < 0) | (np.arange(twins.size) < twins))
    twin = twins[half]
    half = half[(twin < 0) | (weights[half // 3] != weights[np.maximum(twin, 0) // 3])]
    ends = np.stack([mesh.triangles.ravel()[half], mesh.triangles[:, [1, 2, 0]].ravel()[half]], axis=1)
    return np.asarray(shapely.linestrings(mesh.vertices[ends]))


def _widened(area: Any, distance: float, fine: bool) -> Any:
    """An area and everything less than `distance` from it; its corners are cut by tangents of their arcs.

    Small first steps blunt corners sharper than a right angle (and all of them once more if `fine`), the last one cuts
    each corner once, so that no tangent turns by more than 45 (22.5) degrees from the next.
    """
    limits = (_RIGHT, 1.0) if fine else (_RIGHT,) if _has_sharp(area) else ()
    for limit in limits:
        area = shapely.buffer(area, _TIP * distance, join_style="mitre", mitre_limit=limit)
    return shapely.buffer(area, (1 - _TIP * len(limits)) * distance, join_style="mitre", mitre_limit=1.0)


def _has_sharp(area: Any) -> bool:
    """Whether a ring of an area turns by more than a right angle anywhere, to either side."""
    points, ring = shapely.get_coordinates(shapely.get_rings(shapely.get_parts(area)), return_index=True)
    step = np.diff(points, axis=0)
    turn = (step[1:] * step[:-1]).sum(axis=1) < -1e-9 * np.hypot(*step[1:].T) * np.hypot(*step[:-1].T)
    inner = bool((turn & (ring[2:] == ring[:-2])).any())
    first = np.flatnonzero(np.diff(ring, prepend=-1))
    last = np.append(first[1:], len(points)) - 1
    ends = ((points[first + 1] - points[first]) * (points[last] - points[last - 1])).sum(axis=1)
    return inner or bool((ends < 0).any())


def exact_cost(ground: Ground, weights: Array, line: Array, radius: float) -> float:
    """Cost of a polyline for a disc: the highest weight under it along the way; for a point with radius 0."""
    capacity = 64
    while True:
        cost = _disc_kernels.disc_polyline_cost(ground.mesh, weights, line, radius, ground.slack, new_scratch(capacity))
        if cost >= 0:
            return float(cost)
        capacity *= 4


def fits(ground: Ground, weights: Array, points: Array, radius: float) -> NDArray[np.bool_]:
    """Whether a disc around each point (q, 2) meets no obstacle."""
    free = np.ones(len(points), np.bool_)
    if radius > 0:
        _disc_kernels.fits(ground.mesh, weights, points, radius, free)
    return free


def nearest(ground: Ground, weights: Array, point: Array, max_distance: float) -> Array:
    """The nearest place on open ground within a distance of a point, the point itself where there is none."""
    free = np.isfinite(weights)
    if np.isinf(max_distance):  # no farther than the nearest corner
        corners = ground.mesh.vertices[ground.mesh.triangles[free]].reshape(-1, 2)
        max_distance = float(np.hypot(*(corners - point).T).min(initial=0.0 if not len(corners) else np.inf))
        max_distance = max_distance * (1.0 + 1e-9) + ground.slack
    near = ground.near((point[0], point[1], point[0], point[1]), max_distance)
    near = near[free[near]]
    if not near.size:
        return point
    open_ = shapely.polygons(ground.mesh.vertices[ground.mesh.triangles[near]][:, [0, 1, 2, 0]])
    spot = shapely.Point(point)
    gaps = shapely.distance(open_, spot)
    owner = int(np.argmin(gaps))
    if gaps[owner] > max_distance or gaps[owner] == 0:
        return point
    return np.asarray(shapely.get_coordinates(shapely.shortest_line(open_[owner], spot))[0])
