"""Floor plans and buildings from 3D geometry, cut as architects cut blueprints (Hale et al. 2008, introduction).

Ground within a step of a ground plane belongs to that floor. What lies between two neighbouring planes is cut out of
the mesh, what stands in the way there is taken out of it, and each connected rest that leads from one place of the
floors to another is a transition area. Where it may be entered is its *mouth*: the border along which its ground and
that of the floor are within a step of each other. Beside a ramp the two share a border too, but not a height.

The ground planes are the heights at which a mesh has much level ground. At each of them the ground within a step of
the plane is the floor, and what stands on it, from a step above it up to the height of who walks there, is an obstacle.
Walkable slopes and stairs between two planes are the transition areas that join the floors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.core.arrays import distinct
from wayfold.core.interrupts import interruptible
from wayfold.errors import GeometryError, ParameterError
from wayfold.floorplan import decomposition
from wayfold.floorplan.decomposition import Decomposition
from wayfold.floorplan.plan import METHODS, FloorPlan
from wayfold.floorplan.polygons import areas, moved
from wayfold.geometry import Mesh
from wayfold.geometry.frame import Frame, same_points
from wayfold.geometry.polygon import overlaying

Floats = NDArray[np.float64]
CUTS = (0.02, 0.5, 0.98)
"""Where between step and head solids are cut."""
_FINE = 2.0**-12  # of a grid: what shapes are rounded to, so that nearly equal edges become the same


def resolution_for(who: Agent) -> float:
    """What slices are exact to, metres: a thousandth of an agent's radius or less. Narrower slits are closed."""
    return float(2.0 ** np.floor(np.log2(max(who.radius, 1e-3 * who.height) / 1000.0)))


def hair(who: Agent) -> float:
    """Heights closer than this, metres, are the same, whatever rounding says."""
    return 1e-6 * who.height


def ground_at(mesh: Mesh, who: Agent, height: float) -> list[Floats]:
    """The ground within a step of the height of a floor, as rings of corners (k, 3)."""
    max_distance = who.climb + hair(who)
    return ground(mesh, who, height - max_distance, height + max_distance)


def ground(mesh: Mesh, who: Agent, bottom: float, top: float) -> list[Floats]:
    """The walkable ground between two heights, as rings of corners (k, 3)."""
    low, high = mesh.corners[:, :, 2].min(axis=1), mesh.corners[:, :, 2].max(axis=1)
    walkable = (mesh.normals[:, 2] >= np.cos(np.radians(who.slope))) & (high >= bottom) & (low <= top)
    whole = walkable & (low >= bottom) & (high <= top)
    return list(mesh.corners[whole]) + between(mesh.corners[walkable & ~whole], bottom, top)


def lying(mesh: Mesh, bottom: float, top: float, grid: float) -> Any:
    """What is not upright and lies between two heights, seen from above: ramps, tables, low ceilings."""
    low, high = mesh.corners[:, :, 2].min(axis=1), mesh.corners[:, :, 2].max(axis=1)
    chosen = (np.abs(mesh.normals[:, 2]) > 1e-3) & (high > bottom) & (low < top)
    return shadow(between(mesh.corners[chosen], bottom, top), grid)


def bodies(mesh: Mesh) -> NDArray[np.int32]:
    """A number for each triangle: the same for those that hang together over common corners."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    corner = distinct(mesh.vertices).inverse
    a, b, c = corner[mesh.triangles].T
    count = int(corner.max()) + 1
    arcs = coo_array((np.ones(2 * len(a)), (np.concatenate([a, b]), np.concatenate([b, c]))), shape=(count, count))
    _, labels = connected_components(arcs, directed=False)
    return np.asarray(labels[a], np.int32)


def near_box(mesh: Mesh, body: NDArray[np.int32], bounds: tuple[float, float, float, float]) -> Mesh:
    """The bodies of a mesh that come near a box seen from above, whole, so that their cross-sections are closed."""
    low, high = mesh.corners[:, :, :2].min(axis=1), mesh.corners[:, :, :2].max(axis=1)
    meets = ((high >= bounds[:2]) & (low <= bounds[2:])).all(axis=1)
    return Mesh(mesh.vertices, mesh.triangles[np.isin(body, body[meets])])


def united(shapes: Sequence[Any], grid: float) -> Any:
    """The union of areas, rounded to far less than a grid: nearly equal edges become the same."""
    fine = grid * _FINE
    try:
        return areas(shapely.union_all(shapes, grid_size=fine))
    except shapely.errors.GEOSException:
        # Rounding while uniting fails on some thousands of nearly equal edges; one after the other goes well.
        return areas(shapely.set_precision(shapely.union_all(shapely.set_precision(shapes, fine)), fine))


def without(shape: Any, other: Any, grid: float) -> Any:
    """An area without another, rounded as unions are."""
    return areas(shapely.difference(shape, other, grid_size=grid * _FINE))


def _grown(shape: Any, by: float, fine: float) -> Any:
    """An area with its border moved outwards, or inwards, and its corners as they are."""
    # Unrounded, edges that differ in their last digits have made whole areas of slits.
    rounded = shapely.set_precision(shape, fine)
    # GEOS keeps to the steps of what it is given, but rounds the new border before it looks which of its lines cross:
    # beside a sliver of a few steps it then lost all but the sliver. So what was rounded is moved in full precision.
    return shapely.set_precision(rounded, 0.0).buffer(by, join_style="mitre", mitre_limit=8.0)


def closed(shape: Any, grid: float) -> Any:
    """An area without the slits that are narrower than a grid: those that rounding leaves between solids that touch."""
    fine = grid * _FINE
    return areas(shapely.set_precision(_grown(_grown(shape, 0.5 * grid, fine), -0.5 * grid, fine), fine))


def opened(shape: Any, grid: float) -> Any:
    """An area without what is narrower than a grid, and without corners in the middle of straight edges."""
    fine = grid * _FINE
    wide = shapely.set_precision(_grown(_grown(shape, -0.5 * grid, fine), 0.5 * grid, fine), fine)
    return areas(shapely.simplify(wide, 0.125 * grid, preserve_topology=True))


def shadow(corners: Iterable[Floats], grid: float) -> Any:
    """The union of triangles (or of rings of corners) seen from above."""
    flat = [ring[:, :2] for ring in corners]
    parts = [part for part in map(shapely.Polygon, flat) if part.area > 0.0]
    return united([part if part.is_valid else part.buffer(0.0) for part in parts], grid)


def between(corners: Floats, bottom: float, top: float) -> list[Floats]:
    """The parts of triangles between two heights, as rings."""
    rings = []
    for triangle in corners:
        ring = triangle
        for sign, limit in ((1.0, bottom), (-1.0, top)):
            away = sign * (ring[:, 2] - limit)
            parts = []
            for k in range(len(ring)):
                other = (k + 1) % len(ring)
                if away[k] >= 0.0:
                    parts.append(ring[k])
                if (away[k] < 0.0) != (away[other] < 0.0):
                    parts.append(ring[k] + away[k] / (away[k] - away[other]) * (ring[other] - ring[k]))
            ring = np.array(parts).reshape(-1, 3)
        if len(ring) >= 3:
            rings.append(ring)
    return rings


def sections_of_solids(
    mesh: Mesh, heights: Sequence[float], where: Any, grid: float, thickness: float = 0.0
) -> list[Any]:
    """Cross-sections of the solids of a mesh that meet an area; walls that are single sheets get `thickness`.

    The lines of a cross-section cut the plane into faces, and a face is solid where the lines, each with the inside of
    its triangle to the left, wind around it. So solids may overlap, and a room of inward-facing walls is not solid.
    """
    shapes: list[Any] = []
    shapely.prepare(where)
    for height in heights:
        lines = section(mesh, height, grid)
        if not len(lines):
            continue
        noded = shapely.union_all(shapely.linestrings(lines), grid_size=grid * _FINE)
        faces = shapely.get_parts(shapely.polygonize([noded]))
        if len(faces):
            near = faces[shapely.intersects(where, faces)]
            inside = shapely.get_coordinates(shapely.point_on_surface(near))
            shapes += list(near[winding(lines, inside) > 0.5])
        if thickness > 0.0:
            loose = shapely.difference(noded, shapely.union_all(shapely.boundary(faces)).buffer(16.0 * grid * _FINE))
            if not loose.is_empty:
                shapes.append(loose.buffer(thickness / 2.0, cap_style="square", join_style="mitre"))
    return shapes


def section(mesh: Mesh, height: float, grid: float) -> Floats:
    """Where triangles cross a height: segments (k, 2, 2) with the inside of the triangle's solid to their left."""
    away = mesh.corners[:, :, 2] - height
    crossing = np.flatnonzero((away.min(axis=1) < 0.0) & (away.max(axis=1) >= 0.0))
    corners, z = mesh.corners[crossing], away[crossing]
    ends = np.full((len(crossing), 3, 2), np.nan)
    for k in range(3):
        m = (k + 1) % 3
        cut = (z[:, k] < 0.0) != (z[:, m] < 0.0)
        t = z[cut, k] / (z[cut, k] - z[cut, m])
        ends[cut, k] = corners[cut, k, :2] + t[:, None] * (corners[cut, m, :2] - corners[cut, k, :2])
    lines = ends[~np.isnan(ends[:, :, 0])].reshape(-1, 2, 2)
    normals = mesh.normals[crossing]
    along = lines[:, 1] - lines[:, 0]
    backwards = normals[:, 0] * along[:, 1] - normals[:, 1] * along[:, 0] < 0.0
    lines[backwards] = lines[backwards][:, ::-1]
    lines = same_points(lines.reshape(-1, 2), 16.0 * grid * _FINE).reshape(-1, 2, 2)
    return np.asarray(lines[(lines[:, 0] != lines[:, 1]).any(axis=1)])


def winding(lines: Floats, points: Floats) -> Floats:
    """How often directed segments wind around each point, counter-clockwise.

    Segments that close no ring (sheets without thickness) count with the part of a turn that they span, so a solid is
    where the sum is above a half.
    """
    result = np.empty(len(points))
    for k, point in enumerate(points):
        (ax, ay), (bx, by) = (lines[:, 0] - point).T, (lines[:, 1] - point).T
        result[k] = np.arctan2(ax * by - ay * bx, ax * bx + ay * by).sum()
    return result / (2.0 * np.pi)


_BANDS = 2  # bands in which obstacles on a slope are looked for, between step and head
_PARTS = 4  # samples along a border for each radius of an agent, to find mouths


@dataclass(frozen=True, eq=False)
class Transition:
    """An area of stairs or slope that joins floors.

    >>> from shapely import box
    >>> floors = [FloorPlan(box(0, 0, 4, 2)), FloorPlan(box(10, 0, 14, 2), height=3.0)]
    >>> stairs = Transition(FloorPlan(box(4, 0, 10, 2), height=1.5), floors=(0, 1))
    >>> Building(floors, [stairs]).decompose().reachable((1, 1, 0), (13, 1, 3))
    True
    """

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
    body = bodies(mesh)
    floors = []
    for plane, free in zip(planes, frees, strict=True):
        ground = _fans(ground_at(mesh, who, plane))
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
    beyond, grid = hair(who), resolution_for(who)
    for low, high in pairwise(edges.tolist()):
        band = ground(mesh, who, max(low - beyond, bottom), min(high + beyond, top))
        if not band:
            continue
        blocked = _blocked(mesh, body, band, who, low, high)
        for ring in band:
            shape = shapely.Polygon(ring[:, :2])
            if not blocked.is_empty and blocked.intersects(shape):
                shape = without(shape, blocked, grid)
            if shape.area > 0.0:
                rings.append(ring)
                shapes.append(shape)
    for floor in floors:
        shapes, rings = _uncovered(shapes, rings, floor, who)
    for group in _joined(shapes, rings, who.climb, grid):
        whole = opened(closed(united([shapes[k] for k in group], grid), grid), grid)
        if whole.area > 0.0:
            yield whole, _fans([rings[k] for k in group])


def _uncovered(shapes: list[Any], rings: list[Floats], floor: Floor, who: Agent) -> tuple[list[Any], list[Floats]]:
    """Faces without what lies within a step below or above a floor: steps that reach under the next one."""
    if not shapes:
        return shapes, rings
    array = np.array(shapes, dtype=object)
    shapely.prepare(floor.free)
    grid = resolution_for(who)
    for k in np.flatnonzero(shapely.intersects(floor.free, array)).tolist():
        common = shapely.intersection(array[k], floor.free, grid_size=grid * _FINE)
        if common.area > grid**2:
            place = shapely.get_coordinates(shapely.point_on_surface(common))
            mine = heights_at(_fans([rings[k]]), place, floor.height)
            theirs = heights_at(floor.ground, place, floor.height - who.climb, 2.0 * who.climb)
            if abs(mine - theirs)[0] <= who.climb * (1.0 + 1e-6):
                array[k] = without(array[k], floor.free, grid)
    left = [k for k in range(len(array)) if array[k].area > 0.0]
    return [array[k] for k in left], [rings[k] for k in left]


def _blocked(mesh: Mesh, body: NDArray[np.int32], band: list[Floats], who: Agent, low: float, high: float) -> Any:
    """What is in the way of who walks on ground between two heights: from a step above all of it up to the head."""
    bottom, top = high + who.climb + hair(who), low + who.height
    if top <= bottom:
        return shapely.MultiPolygon()
    area = shapely.MultiPolygon([shapely.Polygon(ring[:, :2]) for ring in band])
    near = near_box(mesh, body, area.bounds)
    grid = resolution_for(who)
    # One cut a band is enough: those of the bands above and below it are near.
    solids = sections_of_solids(near, [0.5 * (bottom + top)], area.envelope, grid)
    return closed(united([*solids, lying(near, bottom, top, grid)], grid), grid)


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
    arcs = coo_array((np.ones(int(step.sum())), (a[step], b[step])), shape=(len(array), len(array)))
    groups, labels = connected_components(arcs, directed=False)
    return [np.flatnonzero(labels == group) for group in range(groups)]


def _mouth(area: Any, ground: Floats, floor: Floor, who: Agent) -> Floats:
    """The parts of an area's border where it is within a step of the ground of a floor beside it, (k, 4)."""
    grid = resolution_for(who)
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
    return int(np.count_nonzero(shapely.dwithin(parts, lines, 4.0 * resolution_for(who))))


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
    max_distance = 2.0**-24 * float(np.ptp(flat.reshape(-1, 2), axis=0).max(initial=0.0)) if len(flat) else 0.0
    point, face = shapely.STRtree(shapes).query(shapely.points(points), predicate="dwithin", distance=max_distance)
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


_LEVEL = np.cos(np.radians(1.0))  # steeper ground makes no ground plane


@checks.checked
def ground_planes(mesh: Mesh, *, agent: Agent | None = None, share: float = 0.02) -> list[float]:
    """Return the heights of the ground planes of a mesh, lowest first.

    Parameters
    ----------
    mesh : Mesh
    agent : Agent, optional
        Planes less than its height apart are one floor. The default agent by default.
    share : float, 0 to 1
        A plane needs at least this part of all level ground; a larger share leaves landings and tables out.

    Examples
    --------
    >>> corners = [(x, y, z) for x, z in [(0, 0), (4, 0), (10, 3), (14, 3)] for y in (0, 2)]
    >>> strips = [(k, k + 2, k + 3, k + 1) for k in (0, 2, 4)]  # a floor, a ramp and a floor above
    >>> house = Mesh(corners, [t for a, b, c, d in strips for t in ((a, b, c), (a, c, d))])
    >>> ground_planes(house)
    [0.0, 3.0]
    """
    who = agent or Agent()
    share = checks.number(share, "share", low=0.0, high=1.0)
    level = mesh.normals[:, 2] >= _LEVEL
    if not level.any():
        raise GeometryError("the mesh has no level ground, so there is no ground plane: give the height of one")
    z, area = _levels(mesh.corners[level, :, 2].mean(axis=1), mesh.areas[level], hair(who))
    total = area.sum()
    planes: list[float] = []
    while area.sum() > 0.0:
        sums = np.concatenate([[0.0], np.cumsum(area)])
        # The step that holds most level ground; its height is that of its largest part.
        last = np.searchsorted(z, z + who.climb * (1.0 + 1e-6), side="right")
        weight = sums[last] - sums[:-1]
        first = int(np.argmax(weight))
        if weight[first] < share * total:
            break
        height = float(z[first + np.argmax(area[first : last[first]])])
        planes.append(height)
        area = np.where(np.abs(z - height) < who.height - hair(who), 0.0, area)
    return sorted(planes)


def _levels(z: Floats, area: Floats, near: float) -> tuple[Floats, Floats]:
    """Heights that are the same but for rounding as one, lowest first, and the area at each."""
    order = np.argsort(z, kind="stable")
    z, area = z[order], area[order]
    group = np.concatenate([[0], np.cumsum(np.diff(z) > near)])
    whole = np.asarray(np.bincount(group, area), np.float64)
    first = np.searchsorted(group, np.arange(len(whole)))
    # Relative to the lowest of a group, so that heights that are equal stay as they are.
    return z[first] + np.bincount(group, area * (z - z[first][group])) / np.maximum(whole, 1e-300), whole


def slice_mesh(mesh: Mesh, height: float, agent: Agent | None, thickness: float) -> FloorPlan:
    """See `FloorPlan.slice`."""
    who = agent or Agent()
    height = checks.number(height, "height", low=-checks.LARGEST, high=checks.LARGEST)
    thickness = checks.number(thickness, "thickness", low=0.0, high=checks.LARGEST)
    frame, local = _local(mesh)
    floor, free = _floor(local, height, who, thickness)
    return _plan(frame, floor, free, height, resolution_for(who))


def _local(mesh: Mesh) -> tuple[Frame, Mesh]:
    """A mesh relative to its frame, with heights as they are."""
    frame = Frame.of(mesh.vertices[:, :2])
    return frame, Mesh(frame.local(mesh.vertices), mesh.triangles)


def _floor(mesh: Mesh, height: float, who: Agent, thickness: float) -> tuple[Any, Any]:
    """The floor of a local mesh at a height, and what of it is free."""
    grid = resolution_for(who)
    floor = shadow(ground_at(mesh, who, height), grid)
    floor = closed(floor, grid)
    if floor.area == 0.0:
        raise GeometryError(f"the mesh has no ground within {who.climb:g} of the height {height:g}")
    bottom, top = height + who.climb + hair(who), height + who.height
    cuts = [bottom + part * (top - bottom) for part in CUTS]
    obstacles = sections_of_solids(mesh, cuts, floor, grid, thickness)
    solid = closed(united([*obstacles, lying(mesh, bottom, top, grid)], grid), grid)
    free = opened(without(floor, solid, grid), grid)
    return united([floor, free], grid), free


def _plan(frame: Frame, floor: Any, free: Any, height: float, grid: float) -> FloorPlan:
    """A plan of what was found in a local mesh: what of the floor is not free are its obstacles."""
    blocks = opened(without(floor, free, grid), 0.25 * grid)
    whole = closed(united([free, blocks], grid), 0.5 * grid)
    whole, blocks = (areas(shapely.make_valid(moved(shape, frame.origin[:2]))) for shape in (whole, blocks))
    return FloorPlan(whole, shapely.get_parts(blocks), height=height)


@checks.checked
class Building:
    """The floors of a mesh and the transition areas between them.

    Parameters
    ----------
    floors : sequence of FloorPlan
        Lowest first.
    transitions : sequence of Transition
        The paper's "special markups to show transition areas between different levels"; `from_mesh` finds them.
    slack : float, metres, >= 0
        How far the border of a transition area may lie from that of its floor and still be the same border.

    Examples
    --------
    >>> from shapely import box
    >>> floors = [FloorPlan(box(0, 0, 4, 2)), FloorPlan(box(10, 0, 14, 2), height=3.0)]
    >>> stairs = Transition(FloorPlan(box(4, 0, 10, 2), height=1.5), floors=(0, 1))
    >>> building = Building(floors, [stairs])
    >>> building
    <Building: 2 floors, 1 transitions>
    >>> building.decompose().path((1, 1, 0), (13, 1, 3)).points.tolist()
    [[1.0, 1.0, 0.0], [4.0, 1.0, 0.0], [10.0, 1.0, 3.0], [13.0, 1.0, 3.0]]
    """

    def __init__(
        self, floors: Sequence[FloorPlan], transitions: Sequence[Transition] = (), *, slack: float = 0.0
    ) -> None:
        if not len(floors):
            raise ParameterError("a building has at least one floor")
        for floor in floors:
            checks.instance(floor, "each of floors", FloorPlan)
        for transition in transitions:
            checks.instance(transition, "each of transitions", Transition)
            if any(not 0 <= floor < len(floors) for floor in transition.floors):
                raise ParameterError(f"a transition joins floors {transition.floors}, but there are {len(floors)}")
        self.slack = checks.number(slack, "slack", low=0.0)
        self.floors = tuple(floors)
        self.transitions = tuple(transitions)

    @classmethod
    @interruptible
    @overlaying()
    def from_mesh(
        cls, mesh: Mesh, *, agent: Agent | None = None, heights: Sequence[float] | None = None, thickness: float = 0.0
    ) -> Building:
        """Find the floors of a mesh and the stairs and slopes that join them.

        Parameters
        ----------
        mesh : Mesh
        agent : Agent, optional
            Who walks there, as for `FloorPlan.slice`. The default agent by default.
        heights : sequence of float, metres, optional
            Heights of the floors; by default the ground planes that `ground_planes` finds.
        thickness : float, metres, >= 0
            Width given to walls that are drawn as single sheets; 0 leaves them out.

        Raises
        ------
        GeometryError
            When the mesh has no level ground, or none at one of the given heights.

        Examples
        --------
        >>> corners = [(x, y, z) for x, z in [(0, 0), (4, 0), (10, 3), (14, 3)] for y in (0, 2)]
        >>> strips = [(k, k + 2, k + 3, k + 1) for k in (0, 2, 4)]  # a floor, a ramp and a floor above
        >>> house = Mesh(corners, [t for a, b, c, d in strips for t in ((a, b, c), (a, c, d))])
        >>> building = Building.from_mesh(house)
        >>> building, [floor.height for floor in building.floors]
        (<Building: 2 floors, 1 transitions>, [0.0, 3.0])
        """
        who = agent or Agent()
        if heights is None:
            planes = sorted(ground_planes(mesh, agent=who))
        else:
            given = checks.floats(heights, "heights")
            if given.ndim != 1 or not given.size:
                raise ParameterError(f"heights must be the heights of some floors, not {checks.shown(heights)}")
            checks.finite(given, "heights")
            planes = np.unique(given).tolist()
        thickness = checks.number(thickness, "thickness", low=0.0, high=checks.LARGEST)
        frame, local = _local(mesh)
        found = [_floor(local, z, who, thickness) for z in planes]
        grid = resolution_for(who)
        floors = [_plan(frame, floor, free, z, grid) for z, (floor, free) in zip(planes, found, strict=True)]
        transitions = find(local, frame, who, planes, [free for _, free in found])
        return cls(floors, transitions, slack=2.0 * grid)

    @interruptible
    def decompose(self, method: str = "deaccon", **options: Any) -> Decomposition:
        """Cut all floors and transition areas into convex regions with one navigation graph.

        Parameters
        ----------
        method : "deaccon", "space-filling" or "hertel-mehlhorn"
        **options
            As for `FloorPlan.decompose`.

        Examples
        --------
        >>> from shapely import box
        >>> floors = [FloorPlan(box(0, 0, 4, 2)), FloorPlan(box(10, 0, 14, 2), height=3.0)]
        >>> stairs = Transition(FloorPlan(box(4, 0, 10, 2), height=1.5), floors=(0, 1))
        >>> Building(floors, [stairs]).decompose("hertel-mehlhorn")
        <Decomposition by hertel-mehlhorn: 3 regions, 2 gateways>
        """
        checks.choice(method, "method", METHODS)
        frame = decomposition.frame_of([*self.floors, *(transition.plan for transition in self.transitions)])
        levels = [decomposition.level(plan, frame, method, options) for plan in self.floors]
        passages = []
        for transition in self.transitions:
            level = decomposition.level(
                transition.plan, frame, method, options, is_floor=False, ground=transition.ground
            )
            here = len(levels)
            for floor in transition.floors:
                mouth = transition.mouths.get(floor)
                local = None if mouth is None else frame.local(mouth.reshape(-1, 2)).reshape(-1, 4)
                passages.append(decomposition.Passage(floor, here, local))
            levels.append(level)
        return Decomposition._of_cut(levels, frame, method, options, passages=passages, slack=self.slack)

    def __repr__(self) -> str:
        return f"<Building: {len(self.floors)} floors, {len(self.transitions)} transitions>"
