"""Stairs and slopes between floors: the transition areas of paper 004's introduction, found in the mesh itself.

Ground within a step of a ground plane belongs to that floor. What lies between two neighbouring planes is cut out of
the mesh, what stands in the way there is taken out of it, and each connected rest that leads from one place of the
floors to another is a transition area. Where it may be entered is its *mouth*: the border along which its ground and
that of the floor are within a step of each other. Beside a ramp the two share a border too, but not a height.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold.agent import Agent
from wayfold.floorplan import _sections
from wayfold.floorplan._polygons import moved
from wayfold.floorplan.plan import FloorPlan
from wayfold.geometry import Mesh
from wayfold.geometry.frame import Frame

Floats = NDArray[np.float64]
_BANDS = 2  # bands in which obstacles on a slope are looked for, between step and head
_PARTS = 4  # samples along a border for each radius of an agent, to find mouths


@dataclass(frozen=True, eq=False)
class Transition:
    """An area of stairs or slope that joins floors."""

    plan: FloorPlan
    floors: tuple[int, ...]
    """Numbers of the floors that it joins."""
    mouths: dict[int, Floats] = field(default_factory=dict)
    """Segments (k, 4) of border over which each of these floors is entered; without an entry all of the border is."""
    ground: Floats = field(default_factory=lambda: np.empty((0, 3, 3)))
    """Triangles of its surface, where they are known."""


class Floor(NamedTuple):
    """A floor beside a transition area, in local coordinates."""

    height: float
    free: Any
    ground: Floats
    """Triangles of its ground."""


def find(mesh: Mesh, frame: Frame, who: Agent, planes: Sequence[float], frees: Sequence[Any]) -> list[Transition]:
    """The transition areas of a local mesh between the floors at `planes`, with free space `frees`; lowest first."""
    found = []
    body = _sections.bodies(mesh)
    floors = []
    for plane, free in zip(planes, frees, strict=True):
        ground = _fans(_sections.floor(mesh, who, plane))
        floors.append(Floor(plane, free, ground))
    for below in range(len(planes) - 1):
        bottom, top = planes[below] + who.climb, planes[below + 1] - who.climb
        for area, ground in _areas(mesh, body, who, bottom, top, floors[below : below + 2]):
            mouths = {k: _mouth(area, ground, floors[k], who) for k in (below, below + 1)}
            mouths = {k: mouth for k, mouth in mouths.items() if len(mouth)}
            if sum(_places(mouth, floors[k], who) for k, mouth in mouths.items()) < 2:
                continue
            height = float((planes[below] + planes[below + 1]) / 2.0)
            plan = FloorPlan(moved(area, frame.origin[:2]), height=height)
            world = {k: frame.world(mouth.reshape(-1, 2)).reshape(-1, 4) for k, mouth in mouths.items()}
            found.append(Transition(plan, tuple(mouths), world, frame.world(ground)))
    return found


def _areas(
    mesh: Mesh, body: NDArray[np.int32], who: Agent, bottom: float, top: float, floors: Sequence[Floor]
) -> Iterator[tuple[Any, Floats]]:
    """Connected walkable ground between two heights that no floor covers, seen from above, and its triangles."""
    if top <= bottom:
        return
    rings: list[Floats] = []
    shapes: list[Any] = []
    count = math.ceil((top - bottom) * _BANDS / (who.height - who.climb) * (1.0 - 1e-6))
    edges = np.linspace(bottom, top, count + 1)
    # Ground at the very height between two bands belongs to both, whatever rounding says.
    beyond = _sections.hair(who)
    for low, high in pairwise(edges.tolist()):
        band = _sections.ground(mesh, who, max(low - beyond, bottom), min(high + beyond, top))
        if not band:
            continue
        blocked = _blocked(mesh, body, band, who, low, high)
        for ring in band:
            shape = shapely.Polygon(ring[:, :2])
            if not blocked.is_empty and blocked.intersects(shape):
                shape = shapely.difference(shape, blocked)
            if shape.area > 0.0:
                rings.append(ring)
                shapes.append(shape)
    grid = _sections.grid(who)
    for floor in floors:
        shapes, rings = _uncovered(shapes, rings, floor, who)
    for group in _joined(shapes, rings, who.climb, grid):
        whole = _sections.opened(_sections.closed(_sections.united([shapes[k] for k in group], grid), grid), grid)
        if whole.area > 0.0:
            yield whole, _fans([rings[k] for k in group])


def _uncovered(shapes: list[Any], rings: list[Floats], floor: Floor, who: Agent) -> tuple[list[Any], list[Floats]]:
    """Faces without what lies within a step below or above a floor: steps that reach under the next one."""
    if not shapes:
        return shapes, rings
    array = np.array(shapes, dtype=object)
    shapely.prepare(floor.free)
    least = _sections.grid(who) ** 2
    for k in np.flatnonzero(shapely.intersects(floor.free, array)).tolist():
        common = shapely.intersection(array[k], floor.free)
        if common.area > least:
            place = shapely.get_coordinates(shapely.point_on_surface(common))
            mine = heights_at(_fans([rings[k]]), place, floor.height)
            theirs = heights_at(floor.ground, place, floor.height - who.climb, 2.0 * who.climb)
            if abs(mine - theirs)[0] <= who.climb * (1.0 + 1e-6):
                array[k] = shapely.difference(array[k], floor.free)
    left = [k for k in range(len(array)) if array[k].area > 0.0]
    return [array[k] for k in left], [rings[k] for k in left]


def _blocked(mesh: Mesh, body: NDArray[np.int32], band: list[Floats], who: Agent, low: float, high: float) -> Any:
    """What is in the way of who walks on ground between two heights: from a step above all of it up to the head."""
    bottom, top = high + who.climb + _sections.hair(who), low + who.height
    if top <= bottom:
        return shapely.MultiPolygon()
    area = shapely.MultiPolygon([shapely.Polygon(ring[:, :2]) for ring in band])
    near = _sections.near_box(mesh, body, area.bounds)
    grid = _sections.grid(who)
    # One cut a band is enough: those of the bands above and below it are near.
    solids = _sections.solids(near, [0.5 * (bottom + top)], area.envelope, grid)
    return _sections.closed(_sections.united([*solids, _sections.lying(near, bottom, top, grid)], grid), grid)


def _joined(shapes: list[Any], rings: list[Floats], climb: float, near: float) -> list[NDArray[np.int64]]:
    """Groups of faces that one can walk between: they touch seen from above and are within a step in height."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not shapes:
        return []
    low, high = np.array([(ring[:, 2].min(), ring[:, 2].max()) for ring in rings]).T
    array = np.array(shapes, dtype=object)
    a, b = shapely.STRtree(array).query(array, predicate="dwithin", distance=near)
    climb *= 1.0 + 1e-6
    step = (low[a] <= high[b] + climb) & (low[b] <= high[a] + climb)
    links = coo_array((np.ones(int(step.sum())), (a[step], b[step])), shape=(len(array), len(array)))
    groups, labels = connected_components(links, directed=False)
    return [np.flatnonzero(labels == group) for group in range(groups)]


def _mouth(area: Any, ground: Floats, floor: Floor, who: Agent) -> Floats:
    """The parts of an area's border where it is within a step of the ground of a floor beside it, (k, 4)."""
    grid = _sections.grid(who)
    contact = shapely.intersection(area.boundary, floor.free.buffer(2.0 * grid))
    lines = [shapely.get_coordinates(line) for line in shapely.get_parts(contact) if line.geom_type == "LineString"]
    ends = np.concatenate([np.empty((0, 4)), *(np.hstack([line[:-1], line[1:]]) for line in lines)])
    length = np.hypot(*(ends[:, 2:] - ends[:, :2]).T)
    ends, length = ends[length > 0.0], length[length > 0.0]
    if not len(ends):
        return np.empty((0, 4))
    along = (ends[:, 2:] - ends[:, :2]) / length[:, None]
    aside = 4.0 * grid * np.column_stack([-along[:, 1], along[:, 0]])
    shapely.prepare(area)
    shapely.prepare(floor.free)

    def enters(edge: NDArray[np.int64], t: Floats) -> NDArray[np.bool_]:
        """Whether one can step over the border at the places `t` metres along edges."""
        place = ends[edge, :2] + t[:, None] * along[edge]
        inwards = np.where(shapely.contains_xy(area, *(place + aside[edge]).T)[:, None], aside[edge], -aside[edge])
        mine = heights_at(ground, place + inwards, floor.height, who.climb)
        theirs = heights_at(floor.ground, place - inwards, floor.height - who.climb, 2.0 * who.climb)
        beside = shapely.contains_xy(floor.free, *(place - inwards).T)
        return np.asarray(beside & (np.abs(mine - theirs) <= who.climb * (1.0 + 1e-6)))

    # Samples along the border, and between one that is open and one that is not the place where that changes.
    counts = np.ceil(length * _PARTS / who.radius).astype(np.int64)
    edge = np.repeat(np.arange(len(ends)), counts)
    number = np.arange(len(edge)) - np.repeat(np.cumsum(counts) - counts, counts)
    t = (number + 0.5) * (length / counts)[edge]
    is_open = enters(edge, t)
    change = np.flatnonzero((edge[1:] == edge[:-1]) & (is_open[1:] != is_open[:-1]))
    low, high = t[change].copy(), t[change + 1].copy()
    while len(change) and (high - low).max() > 0.125 * grid:
        middle = 0.5 * (low + high)
        same = enters(edge[change], middle) == is_open[change]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    limit = dict(zip(change.tolist(), (0.5 * (low + high)).tolist(), strict=True))
    mouth = []
    for row in np.flatnonzero(is_open).tolist():
        begins = row == 0 or edge[row - 1] != edge[row] or not is_open[row - 1]
        if begins:
            begin = limit.get(row - 1, 0.0) if number[row] else 0.0
        if row + 1 == len(edge) or edge[row + 1] != edge[row] or not is_open[row + 1]:
            end = limit.get(row, length[edge[row]])
            points = ends[edge[row], :2] + np.outer((begin, end), along[edge[row]])
            mouth.append(points.ravel())
    found = np.array(mouth).reshape(-1, 4)
    wide = np.hypot(*(found[:, 2:] - found[:, :2]).T).sum() > who.radius / _PARTS
    return np.asarray(found if wide else found[:0])


def _places(mouth: Floats, floor: Floor, who: Agent) -> int:
    """How many parts of a floor, which cannot reach each other on it, a mouth leads to."""
    lines = shapely.union_all(shapely.linestrings(mouth.reshape(-1, 2, 2)))
    parts = shapely.get_parts(floor.free)
    return int(np.count_nonzero(shapely.dwithin(parts, lines, 4.0 * _sections.grid(who))))


def _fans(rings: list[Floats]) -> Floats:
    """Convex rings cut into triangles, (k, 3, 3)."""
    parts = [np.stack([ring[0], ring[k], ring[k + 1]]) for ring in rings for k in range(1, len(ring) - 1)]
    return np.array(parts).reshape(-1, 3, 3)


def heights_at(triangles: Floats, points: Floats, near: Floats | float, rise: float = 0.0) -> Floats:
    """Height of the ground at each point (q, 2), NaN where there is none.

    Of several faces above each other it is the one next to `near`, or the highest that lies at most `rise` above it:
    what is buried less than a step deep is not walked on.
    """
    found = np.full(len(points), np.nan)
    if not len(triangles):
        return found
    first, second, third = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    normal = np.cross(second - first, third - first)
    level = np.abs(normal[:, 2]) > 0.0
    first, normal = first[level], normal[level]
    flat = triangles[level][:, :, :2]
    shapes = shapely.polygons(flat)
    near = 2.0**-24 * float(np.ptp(flat.reshape(-1, 2), axis=0).max(initial=0.0)) if len(flat) else 0.0
    point, face = shapely.STRtree(shapes).query(shapely.points(points), predicate="dwithin", distance=near)
    away = points[point] - first[face, :2]
    z = first[face, 2] - (normal[face, :2] * away).sum(axis=1) / normal[face, 2]
    # The last to be written stays: the nearest, then the highest above it.
    order = np.argsort(-np.abs(z - np.broadcast_to(near, len(points))[point]), kind="stable")
    found[point[order]] = z[order]
    if rise > 0.0:
        above = np.flatnonzero(z <= found[point] + rise)
        order = above[np.argsort(z[above], kind="stable")]
        found[point[order]] = z[order]
    return found
