"""Polygons in and out of shapely, and convex pieces joined where their union is convex.

The same operation ends DEACCON and space-filling volumes ("combineConvexShapes" in Algorithm 1 of Hale et al. 2008)
and is what Hertel and Mehlhorn do with the diagonals of a triangulation: an edge between two pieces is inessential
when both of its ends stay convex without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import MultiPolygon, Polygon

from wayfold.core import checks
from wayfold.errors import GeometryError, ParameterError

Floats = NDArray[np.float64]
_ROUNDS = 8  # of closing slits; a second one is rare
# Times the resolution: walls thinner than `_THIN` over more than `_LONG` become `_THICK` and stay so: making a plan and
# editing it may move either side by four, and regions less than two apart count as neighbours.
_THIN, _THICK, _LONG = 16.0, 24.0, 1024.0


@dataclass(frozen=True, eq=False)
class FreeSpace:
    """Where one can walk, in local coordinates: what the methods cut into regions."""

    free: MultiPolygon
    resolution: float
    """The grid that its coordinates lie on, metres."""

    @property
    def area(self) -> float:
        """Square metres."""
        return float(self.free.area)


def moved(shape: Any, by: tuple[float, float]) -> Any:
    """A geometry moved by (x, y); the same object where that is no way."""
    return shape if by == (0.0, 0.0) else shapely.transform(shape, lambda points: points + np.array(by))


def check(value: Any, name: str) -> Polygon | MultiPolygon:
    """A valid polygon with area, from shapely geometry or corners, without z."""
    if isinstance(value, (Polygon, MultiPolygon)):
        shape = shapely.force_2d(value)
    else:
        corners = checks.floats(value, name, "a shapely polygon or at least 3 corners (x, y)")
        if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3:
            raise ParameterError(
                f"{name} must be a shapely polygon or at least 3 corners (x, y), not {checks.shown(value)}"
            )
        checks.finite(corners, name)
        shape = Polygon(corners)
    if shape.is_empty:
        raise GeometryError(f"{name} is empty")
    checks.finite(shapely.get_coordinates(shape), name)
    if not shape.is_valid:
        raise GeometryError(f"{name} is not a valid polygon: {shapely.is_valid_reason(shape)}")
    if not shape.area > 0.0:
        raise GeometryError(f"{name} has no area")
    return shape


def clean(shape: Any, resolution: float) -> MultiPolygon:
    """The areas of a geometry, outer rings counter-clockwise, without corners in the middle of straight walls.

    Parts that are no wider than rounding (twice the resolution) are left out: they come from obstacles that touch. A
    wall is straight where rounding its corners to the resolution can have bent it: by twice the resolution.
    """
    parts = [part for part in shapely.get_parts(shape) if part.geom_type == "Polygon"]
    parts = [part for part in parts if part.area > resolution * part.length]
    whole = MultiPolygon([simplified(part, 2.0 * resolution) for part in parts])
    # Parts that touch may overlap once each has been made simpler: then they stay as they were.
    return shapely.orient_polygons(whole if whole.is_valid else MultiPolygon(parts))


def areas(shape: Any) -> MultiPolygon:
    """The polygons of a geometry; laid over each other, shapes that touch have lines and points in common too."""
    parts = shapely.get_parts(shapely.get_parts(shape))
    return MultiPolygon([part for part in parts if part.geom_type == "Polygon" and part.area > 0.0])


# Without a grid, GEOS may lose whole areas of shapes with edges that nearly lie on each other: a board along a slanted
# wall and the room had two points in common. So shapes are laid over each other on one, if need be far finer than any
# resolution.
_FINE = 2.0**-8


def common(a: Any, b: Any, resolution: float) -> Any:
    """What shapes have in common, to far less than the resolution."""
    return shapely.intersection(a, b, grid_size=_FINE * resolution)


def without(a: Any, b: Any, resolution: float) -> Any:
    """Shapes without others, to far less than the resolution."""
    return shapely.difference(a, b, grid_size=_FINE * resolution)


def united(shapes: Any, resolution: float) -> Any:
    """The union of shapes, to far less than the resolution."""
    return shapely.union_all(shapes, grid_size=_FINE * resolution)


def without_slits(free: MultiPolygon, width: float, resolution: float) -> MultiPolygon:
    """A free space whose passages narrower than `width` are closed: those that rounding opens where obstacles touch.

    A passage is narrowest where a corner faces a wall, so that is where it is closed. Eroding the space and growing it
    again does not tell: where two corners face each other, what grows back from either side meets in between. Corners
    that touch exactly are closed already and stay as they are, and so does the tip of a wedge.

    Closing one rounds and straightens walls, which may take another one from what it touches: they are looked at again.
    """
    return _closing(free, width, resolution, None)[0]


def slits(free: MultiPolygon, width: float, resolution: float, where: Any) -> list[Any]:
    """What `without_slits` closes of a free space in the area `where`, as polygons."""
    return _closing(free, width, resolution, where)[1]


def _closing(free: MultiPolygon, width: float, resolution: float, where: Any) -> tuple[MultiPolygon, list[Any]]:
    """A free space without its slits, and what closed them; only those in the area `where` if it is given."""
    closed = []
    for number in range(_ROUNDS):
        # What is not closed by a small plug may be opened again by its rounding, so the next ones are larger.
        plugs = _plugs(free, width, resolution, where, min(4.0 * 2.0**number * resolution, width))
        if plugs is None:
            break
        closed.append(plugs)
        free = clean(shapely.difference(free, plugs, grid_size=resolution), resolution)
    # Parts that are slits as a whole: what is left between two places where one was closed, or was never more.
    parts = shapely.get_parts(free)
    narrow = shapely.area(parts) <= 0.5 * width * shapely.length(parts)
    if where is not None:
        narrow &= shapely.covered_by(parts, where)
    if narrow.any():
        closed += parts[narrow].tolist()
        free = MultiPolygon(parts[~narrow].tolist())
    return free, closed


def _plugs(free: MultiPolygon, width: float, resolution: float, where: Any, size: float) -> Any:
    """What closes a free space where it is narrower than `width`, `size` beyond both walls; None where it is not."""
    ends, following, _ = walls(free)
    corners, edges = shapely.points(ends[:, :2]), shapely.linestrings(ends.reshape(-1, 2, 2))
    corner, edge = shapely.STRtree(edges).query(corners, predicate="dwithin", distance=width)
    other = (edge != corner) & (following[edge] != corner)
    corner, edge = corner[other], edge[other]
    bridges = shapely.shortest_line(corners[corner], edges[edge])
    across = shapely.get_coordinates(bridges).reshape(-1, 4)
    middle = 0.5 * (across[:, :2] + across[:, 2:])
    shapely.prepare(free)
    open_ = (across[:, :2] != across[:, 2:]).any(axis=1) & shapely.contains_xy(free, middle)
    if where is not None:
        open_ &= shapely.intersects(where, bridges)
    open_[open_] = _apart(ends, following, corner[open_], edge[open_], across[open_, 2:]) > 4.0 * width
    if not open_.any():
        return None
    return united(shapely.buffer(bridges[open_], size, cap_style="square"), resolution)


def thin_walls(shapes: Iterable[Any], resolution: float, *, outside: bool = False, where: Any = None) -> list[Any]:
    """What makes shapes thick enough to keep apart what lies on either side of them, as polygons.

    A needle is thinner than rounding over a long way from its tip, and so is a board from end to end: on a grid its two
    sides become one, or regions beside them seem to touch. `outside` is for what lies around the shapes; only what is
    in the bounding box of `where` is looked at if that is given.
    """
    parts, owner = shapely.get_parts(list(shapes), return_index=True)
    ends, _, _ = walls(shapely.MultiPolygon(shapely.orient_polygons(parts).tolist()))
    if outside:
        ends = ends[:, [2, 3, 0, 1]]
    owner = np.repeat(owner, shapely.get_num_coordinates(parts) - 1 - shapely.get_num_interior_rings(parts))
    long = np.hypot(*(ends[:, 2:] - ends[:, :2]).T) > _LONG * resolution
    if where is not None:
        left, low, right, high = where.bounds
        x, y = ends[:, ::2], ends[:, 1::2]
        long &= (x.max(axis=1) >= left) & (x.min(axis=1) <= right) & (y.max(axis=1) >= low) & (y.min(axis=1) <= high)
    ends, owner = ends[long], owner[long]
    edges = shapely.linestrings(ends.reshape(-1, 2, 2))
    i, j = shapely.STRtree(edges).query(edges, predicate="dwithin", distance=_THIN * resolution)
    once = (i < j) & (owner[i] == owner[j])
    i, j = i[once], j[once]
    begin, along = ends[i, :2], ends[i, 2:] - ends[i, :2]
    length = np.hypot(*along.T)
    along /= length[:, None]
    across = np.column_stack([-along[:, 1], along[:, 0]])
    # In the frame of edge i, with the solid on its left, the other edge runs backwards from (t0, d0) to (t1, d1).
    (t0, d0), (t1, d1) = (
        (((places - begin) * along).sum(axis=1), ((places - begin) * across).sum(axis=1))
        for places in (ends[j, :2], ends[j, 2:])
    )
    facing = np.minimum(t0, length) - np.maximum(t1, 0.0) > _LONG * resolution
    begin, along, across, length = begin[facing], along[facing], across[facing], length[facing]
    t0, d0, t1, d1 = t0[facing], d0[facing], t1[facing], d1[facing]
    slope = (d1 - d0) / (t1 - t0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Where it is as far away as a thin wall is wide, and where it is not away at all.
        wide, none = (t0 + (resolution * d - d0) / slope for d in (_THIN, -0.001))
    level = slope == 0.0
    inside = (d0 >= 0.0) & (d0 <= _THIN * resolution)
    low = np.where(level, np.where(inside, -np.inf, np.inf), np.minimum(wide, none))
    high = np.where(level, np.where(inside, np.inf, -np.inf), np.maximum(wide, none))
    first, last = np.maximum.reduce([t1, low, np.zeros(len(t1))]), np.minimum.reduce([t0, high, length])
    thin = last - first > _LONG * resolution
    first, last, middle = first[thin], last[thin], 0.5 * (d0 - t0 * slope)[thin]
    places = [
        begin[thin] + t[:, None] * along[thin] + (middle + 0.5 * t * slope[thin])[:, None] * across[thin]
        for t in (first, last)
    ]
    lines = shapely.linestrings(np.stack(places, axis=1))
    return list(shapely.buffer(lines, 0.5 * _THICK * resolution, cap_style="square"))


def thickened(shape: Any, resolution: float) -> Any:
    """A shape with its `thin_walls`; the same one if it has none."""
    thin = thin_walls([shape], resolution)
    return shapely.union_all([shape, *thin], grid_size=resolution) if thin else shape


def _apart(
    ends: Floats, following: NDArray[np.int32], corner: NDArray[np.int64], edge: NDArray[np.int64], places: Floats
) -> Floats:
    """How far it is along the wall from corners to places on edges, the shorter way round; infinite on other rings."""
    last = np.flatnonzero(following != np.arange(1, len(following) + 1))
    ring = np.searchsorted(last, np.arange(len(ends)))
    length = np.hypot(*(ends[:, 2:] - ends[:, :2]).T)
    before = np.cumsum(length) - length
    around = np.bincount(ring, weights=length)[ring[corner]]
    away = np.abs(before[edge] + np.hypot(*(places - ends[edge, :2]).T) - before[corner])
    return np.where(ring[corner] == ring[edge], np.minimum(away, around - away), np.inf)


def simplified(polygon: Polygon, tolerance: float) -> Polygon:
    """A polygon without the corners that lie within `tolerance` of the walls that are left, and still valid."""
    simple = shapely.simplify(polygon, tolerance, preserve_topology=True)
    rings = [without_end(ring, tolerance) for ring in (simple.exterior, *simple.interiors)]
    whole = Polygon(rings[0], rings[1:])
    # Leaving out a corner can, in theory, pinch a sliver shut: then it stays.
    for candidate in (whole, simple):
        if candidate.is_valid and candidate.area > 0.0:
            return candidate
    return polygon


def without_end(ring: Any, tolerance: float) -> Floats:
    """The corners of a ring; simplifying keeps the one that it begins with, which goes here if the wall is straight."""
    corners = shapely.get_coordinates(ring)[:-1]
    if len(corners) > 3:
        along, away = corners[1] - corners[-1], corners[0] - corners[-1]
        length = float(np.hypot(*along))
        aside = abs(along[0] * away[1] - along[1] * away[0])
        if aside <= tolerance * length and 0.0 < along @ away < length * length:
            return np.asarray(corners[1:])
    return np.asarray(corners)


def walls(free: MultiPolygon) -> tuple[Floats, NDArray[np.int32], NDArray[np.int32]]:
    """The border of a free space as directed edges with the free side on their left.

    Returns
    -------
    ends : (e, 4) float64 array
        ax, ay, bx, by
    following, previous : (e,) int32 arrays
        The edge that starts where an edge ends, and the other way round.
    """
    rings = shapely.get_rings(shapely.get_parts(free))
    coordinates, owner = shapely.get_coordinates(rings, return_index=True)
    same = owner[1:] == owner[:-1]
    ends = np.hstack([coordinates[:-1], coordinates[1:]])[same]
    counts = np.bincount(owner, minlength=len(rings)) - 1
    following = np.arange(1, len(ends) + 1, dtype=np.int32)
    last = np.cumsum(counts) - 1
    first = last - counts + 1
    following[last] = first
    previous = np.empty_like(following)
    previous[following] = np.arange(len(ends), dtype=np.int32)
    return np.ascontiguousarray(ends), following, previous


def protruding(free: MultiPolygon) -> int:
    """Number of corners of walls that stick into a free space: where it is not convex."""
    ends, following, _ = walls(free)
    along = ends[:, 2:] - ends[:, :2]
    after = along[following]
    return int(np.count_nonzero(along[:, 0] * after[:, 1] < along[:, 1] * after[:, 0]))


def from_cells(mask: NDArray[np.bool_], cell: float) -> MultiPolygon:
    """The union of the cells that are set, with their exact borders."""
    padded = np.pad(mask, ((0, 0), (1, 1)))
    steps = np.diff(padded.astype(np.int8), axis=1)
    row, begin = np.nonzero(steps == 1)
    _, end = np.nonzero(steps == -1)
    # Runs that repeat in the next row are one rectangle: far fewer shapes to unite.
    key = begin * (mask.shape[1] + 1) + end
    order = np.lexsort((row, key))
    row, begin, end, key = row[order], begin[order], end[order], key[order]
    new = np.ones(len(row), np.bool_)
    new[1:] = (key[1:] != key[:-1]) | (row[1:] != row[:-1] + 1)
    starts = np.flatnonzero(new)
    lasts = np.append(starts[1:], len(row)) - 1 if len(row) else starts
    boxes = shapely.box(begin[starts] * cell, row[starts] * cell, end[starts] * cell, (row[lasts] + 1) * cell)
    return clean(shapely.union_all(boxes), cell * 2.0**-30)


def is_convex(polygon: Polygon) -> bool:
    """Whether a polygon has no hole and fills its convex hull."""
    return not len(polygon.interiors) and polygon.area >= polygon.convex_hull.area * (1.0 - 1e-12)


class ConvexPieces(NamedTuple):
    """Convex polygons over common corners."""

    points: Floats
    """(n, 2)"""
    polygons: list[list[int]]
    """Corner numbers, counter-clockwise."""

    def rings(self) -> Iterator[Floats]:
        """The corners of each polygon, (k, 2)."""
        return (self.points[polygon] for polygon in self.polygons)


def joined(anchors: Floats, rings: list[Floats], tolerance: float, resolution: float) -> ConvexPieces:
    """Pieces from rings whose corners may differ by rounding; corners near an anchor become that anchor.

    Parameters
    ----------
    anchors : (a, 2) array
        Corners of walls, which are right to the last digit.
    rings : list of (k, 2) arrays
    tolerance : float, metres
        Corners closer than this are one corner.
    resolution : float, metres
        Resolution of the plan, for corners in the middle of straight edges.
    """
    from scipy.spatial import cKDTree

    if not rings:
        return ConvexPieces(np.empty((0, 2)), [])
    points = np.concatenate([anchors, *rings])
    pairs = cKDTree(points).query_pairs(tolerance, output_type="ndarray")
    same = np.arange(len(points))
    # Lower numbers first, so that chains of near points end at an anchor where there is one.
    for low, high in pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].tolist() if len(pairs) else ():
        same[high] = min(same[high], same[low])
    used, numbers = np.unique(same[len(anchors) :], return_inverse=True)
    corners = points[used]
    polygons = []
    for ring in np.split(numbers, np.cumsum([len(ring) for ring in rings])[:-1]):
        polygon = [a for a, b in zip(ring.tolist(), np.roll(ring, 1).tolist(), strict=True) if a != b]
        polygon = without_straight(corners, polygon, resolution)
        if len(polygon) >= 3:
            polygons.append(polygon)
    return ConvexPieces(corners, polygons)


def without_straight(points: Floats, polygon: list[int], resolution: float) -> list[int]:
    """A polygon without corners in the middle of straight edges and without edges of no length."""
    index = 0
    while len(polygon) >= 3 and index < len(polygon):
        if is_straight(points, polygon[index - 1], polygon[index], polygon[(index + 1) % len(polygon)], resolution):
            del polygon[index]
            index = max(index - 1, 0)
        else:
            index += 1
    return polygon


def turn(points: Floats, a: int, b: int, c: int) -> float:
    """Distance of b from the line a c, positive where a, b, c turn left."""
    (ax, ay), (bx, by), (cx, cy) = points[a].tolist(), points[b].tolist(), points[c].tolist()
    x, y = cx - ax, cy - ay
    length = (x * x + y * y) ** 0.5
    return ((bx - ax) * (cy - by) - (by - ay) * (cx - bx)) / length if length > 0.0 else 0.0


def is_straight(points: Floats, a: int, b: int, c: int, resolution: float) -> bool:
    """Whether b adds nothing to the way from a to c."""
    return abs(turn(points, a, b, c)) <= 0.01 * resolution


def combine(pieces: ConvexPieces, resolution: float) -> ConvexPieces:
    """Join pieces over common edges as long as their unions are convex, longest edges first."""
    return _Combiner(pieces, resolution).run()


class _Combiner:
    """Rings of corners linked by their directed edges; an edge (a, b) belongs to the piece on its left."""

    def __init__(self, pieces: ConvexPieces, resolution: float) -> None:
        self.points = pieces.points
        self.resolution = resolution
        self.after: dict[tuple[int, int], int] = {}  # directed edge -> corner after it
        self.before: dict[tuple[int, int], int] = {}  # directed edge -> corner before it
        for polygon in pieces.polygons:
            count = len(polygon)
            for index in range(count):
                edge = polygon[index], polygon[(index + 1) % count]
                self.after[edge] = polygon[(index + 2) % count]
                self.before[edge] = polygon[index - 1]

    def run(self) -> ConvexPieces:
        edges = [(a, b) for a, b in self.after if a < b and (b, a) in self.after]
        ends = np.array(edges, np.int64).reshape(-1, 2)
        length = np.hypot(*(self.points[ends[:, 0]] - self.points[ends[:, 1]]).T)
        waiting = [edges[k] for k in np.argsort(length, kind="stable")]
        while waiting:
            a, b = waiting.pop()
            if (a, b) in self.after and (b, a) in self.after:
                self._try(a, b, waiting)
        return ConvexPieces(self.points, self._polygons())

    def _try(self, a: int, b: int, waiting: list[tuple[int, int]]) -> None:
        """Join the pieces on both sides of an edge if that gives a convex piece."""
        after, before = self.after, self.before
        shared = [(a, b)]
        p, r = before[a, b], after[a, b]
        s, q = before[b, a], after[b, a]
        # The pieces may share a chain of edges in one line: all of it goes.
        while r == s and len(shared) < 64:
            shared.append((b, r))
            b, r, s = r, after[b, r], before[r, b]
        while p == q and len(shared) < 64:
            shared.append((p, a))
            a, p, q = p, before[p, a], after[a, p]
        if r == s or p == q:
            return
        slack = -0.01 * self.resolution
        if turn(self.points, p, a, q) < slack or turn(self.points, s, b, r) < slack:
            return
        for x, y in shared:
            del after[x, y], before[x, y], after[y, x], before[y, x]
        self._link(p, a, q)
        self._link(s, b, r)
        changed = set()
        for x, y, z in ((p, a, q), (s, b, r)):
            changed |= self._straighten(x, y, z)
        waiting += [edge for edge in changed if edge in after and edge[::-1] in after]

    def _link(self, p: int, a: int, q: int) -> None:
        self.after[p, a] = q
        self.before[a, q] = p

    def _straighten(self, p: int, a: int, q: int) -> set[tuple[int, int]]:
        """Drop corner a where p, a, q are straight, on this side and on the other side if it is one piece there."""
        if (p, a) not in self.after or self.after[p, a] != q or p == q:
            return set()
        # Beside a sliver without height the edge (p, q) is there already: then the corner stays.
        if (p, q) in self.after or not is_straight(self.points, p, a, q, self.resolution):
            return set()
        self._drop(p, a, q)
        if self.after.get((q, a)) == p and (q, p) not in self.after:
            self._drop(q, a, p)
        return {(p, q)}

    def _drop(self, p: int, a: int, q: int) -> None:
        """Replace the edges (p, a), (a, q) of a piece by (p, q)."""
        after, before = self.after, self.before
        first, last = before.pop((p, a)), after.pop((a, q))
        del after[p, a], before[a, q]
        before[p, q], after[p, q] = first, last
        after[first, p] = q
        before[q, last] = p

    def _polygons(self) -> list[list[int]]:
        polygons = []
        seen: set[tuple[int, int]] = set()
        for edge in self.after:
            if edge in seen:
                continue
            polygon = []
            a, b = edge
            while (a, b) not in seen:
                seen.add((a, b))
                polygon.append(a)
                a, b = b, self.after[a, b]
            polygons.append(polygon)
        return polygons
