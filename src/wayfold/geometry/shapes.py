"""Shapes that edits block or give a cost: upright prisms over a polygon."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks, text
from wayfold.core.locks import Portable
from wayfold.errors import GeometryError, ParameterError
from wayfold.geometry.mesh import Mesh

Points = NDArray[np.float64]


@checks.checked
@dataclass(frozen=True)
class Shape(Portable):
    """An upright prism: what lies over a polygon between two heights. Make one as a `Box` or a `Prism`.

    Boxes are equal when their corners are, prisms when their polygons and heights are.

    >>> crate = Box((1, 1, 0), (3, 2, 1.5))
    >>> isinstance(crate, Shape), crate.bounds.tolist()
    (True, [[1.0, 1.0, 0.0], [3.0, 2.0, 1.5]])
    >>> crate.corners
    ((1.0, 1.0), (3.0, 1.0), (3.0, 2.0), (1.0, 2.0))
    """

    corners: tuple[tuple[float, float], ...]
    """Corners of the polygon seen from above, counter-clockwise from the least one, metres."""
    low: float
    high: float

    @cached_property
    def polygon(self) -> Any:
        """The polygon seen from above, as shapely has it; prepared."""
        polygon = shapely.Polygon(self.corners)
        shapely.prepare(polygon)
        return polygon

    @property
    def outline(self) -> Points:
        """(k, 2) corners of the polygon, counter-clockwise, metres."""
        return np.array(self.corners)

    @cached_property
    def bounds(self) -> Points:
        """(2, 3) low and high corner of the box around it, metres."""
        outline = self.outline
        bounds = np.array([[*outline.min(axis=0), self.low], [*outline.max(axis=0), self.high]])
        bounds.flags.writeable = False
        return bounds

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Return which points lie in the shape; its rim belongs to it, its top does not.

        Parameters
        ----------
        points : (q, 3) array_like, metres

        Returns
        -------
        (q,) bool

        Examples
        --------
        >>> crate = Box((1, 1, 0), (3, 2, 1.5))
        >>> crate.contains([(1, 1, 0), (2, 1.5, 1.5), (5, 5, 1)]).tolist()
        [True, False, False]
        """
        where = checks.points3(points)
        level = (where[:, 2] >= self.low) & (where[:, 2] < self.high)
        return np.asarray(level & shapely.intersects_xy(self.polygon, where[:, 0], where[:, 1]))

    def hit_by(
        self, a: Points, b: Points, *, radius: float = 0.0, below: float = 0.0, above: float = 0.0
    ) -> NDArray[np.bool_]:
        """Return which straight moves an upright cylinder cannot make because it would touch the shape.

        Parameters
        ----------
        a, b : (q, 3) float64 arrays, metres
            Ends of the moves.
        radius, below, above : float, metres, >= 0
            How far the cylinder reaches sideways, and below and above the moving point.

        Returns
        -------
        (q,) bool

        Examples
        --------
        >>> crate = Box((1, 1, 0), (3, 2, 1.5))
        >>> crate.hit_by([(0, 0, 0.5)], [(5, 0, 0.5)], radius=0.4).tolist()
        [False]
        >>> crate.hit_by([(0, 0, 0.5)], [(5, 3, 0.5)], radius=0.4).tolist()
        [True]
        >>> crate.hit_by([(0, 0, 2.0)], [(5, 3, 2.0)], below=0.3).tolist()  # above it
        [False]
        """
        a, b = checks.points3(a, "a"), checks.points3(b, "b")
        if len(a) != len(b):
            raise ParameterError(f"a and b must have the same length (got {len(a)} and {len(b)})")
        radius, below, above = _cylinder(radius, below, above)
        low, high = self.low - above, self.high + below
        (x0, y0, _), (x1, y1, _) = self.bounds
        least, most = np.minimum(a, b), np.maximum(a, b)
        near = (most[:, 2] > low) & (least[:, 2] < high)
        near &= (most[:, 0] >= x0 - radius) & (least[:, 0] <= x1 + radius)
        near &= (most[:, 1] >= y0 - radius) & (least[:, 1] <= y1 + radius)
        hit = np.zeros(len(a), np.bool_)
        chosen = np.flatnonzero(near)
        if chosen.size:
            # Only the part of a move that is at the shape's height can touch it.
            start, step = a[chosen], b[chosen] - a[chosen]
            with np.errstate(divide="ignore", invalid="ignore"):
                first, last = (low - start[:, 2]) / step[:, 2], (high - start[:, 2]) / step[:, 2]
            level = step[:, 2] == 0
            begin = np.where(level, 0.0, np.clip(np.minimum(first, last), 0.0, 1.0))
            end = np.where(level, 1.0, np.clip(np.maximum(first, last), 0.0, 1.0))
            ends = np.stack([start + begin[:, None] * step, start + end[:, None] * step], axis=1)[:, :, :2]
            hit[chosen] = shapely.dwithin(shapely.linestrings(ends), self.polygon, radius)
        return hit

    def hit_at(
        self, points: Points, *, radius: float = 0.0, below: float = 0.0, above: float = 0.0
    ) -> NDArray[np.bool_]:
        """Return at which places (q, 3) an upright cylinder would touch the shape, as (q,) bools.

        The parameters are those of `hit_by`, for moves without length.

        >>> crate = Box((1, 1, 0), (3, 2, 1.5))
        >>> crate.hit_at([(0.5, 1, 0.5), (0.8, 1, 0.5)], radius=0.4).tolist()
        [False, True]
        """
        points = checks.points3(points)
        radius, below, above = _cylinder(radius, below, above)
        hit: NDArray[np.bool_] = (points[:, 2] > self.low - above) & (points[:, 2] < self.high + below)
        at = np.flatnonzero(hit)
        if radius == 0:
            hit[at] = shapely.intersects_xy(self.polygon, points[at, 0], points[at, 1])
        else:
            hit[at] = shapely.dwithin(shapely.points(points[at, :2]), self.polygon, radius)
        return hit

    def mesh(self) -> Mesh:
        """Return its faces as triangles that face outwards, for pictures and files.

        >>> crate = Box((1, 1, 0), (3, 2, 1.5))
        >>> crate.mesh()
        <Mesh: 12 triangles, 2 x 1 x 1.5 m>
        >>> float(crate.mesh().areas.sum())  # square metres
        13.0
        """
        cut = shapely.constrained_delaunay_triangles(self.polygon).geoms
        flat = [np.array(part.exterior.coords)[:3] for part in cut]
        tops = np.stack([part if _area(part) > 0 else part[::-1] for part in flat])
        corners = self.outline
        following = np.roll(corners, -1, axis=0)
        faces = [_lifted(tops, self.high), _lifted(tops[:, ::-1], self.low)]
        quads = [(corners, self.low), (following, self.low), (following, self.high), (corners, self.high)]
        a, b, c, d = (np.column_stack([where, np.full(len(where), height)]) for where, height in quads)
        faces += [np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]
        triangles = np.concatenate(faces)
        return Mesh(triangles.reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3))


def _cylinder(radius: float, below: float, above: float) -> tuple[float, float, float]:
    sizes = (("radius", radius), ("below", below), ("above", above))
    reach, down, up = (checks.number(size, name, low=0.0, high=checks.LARGEST) for name, size in sizes)
    return reach, down, up


def _lifted(triangles: Points, height: float) -> Points:
    return np.concatenate([triangles, np.full((*triangles.shape[:2], 1), height)], axis=2)


def _area(corners: Points) -> float:
    (ax, ay), (bx, by) = corners[1] - corners[0], corners[2] - corners[0]
    return float(ax * by - ay * bx)


@checks.checked
class Box(Shape):
    """An upright box, to block ground with or to give it a cost.

    Parameters
    ----------
    low, high : (x, y, z), metres
        Opposite corners; `low` is less than `high` along every axis.

    Examples
    --------
    >>> crate = Box((1, 1, 0), (3, 2, 1.5))
    >>> crate.contains([(2, 1.5, 1), (2, 1.5, 2)]).tolist(), crate == Box((1, 1, 0), (3, 2, 1.5))
    ([True, False], True)
    >>> crate
    Box((1, 1, 0), (3, 2, 1.5))
    """

    def __init__(self, low: ArrayLike, high: ArrayLike) -> None:
        ends = _ends(low, high)
        (x0, y0, z0), (x1, y1, z1) = ends.tolist()
        super().__init__(((x0, y0), (x1, y0), (x1, y1), (x0, y1)), z0, z1)

    def __repr__(self) -> str:
        low, high = self.bounds
        extent = float((high - low).max())
        return f"Box(({text.place(low, extent)}), ({text.place(high, extent)}))"


@checks.checked
class Prism(Shape):
    """What lies over a polygon between two heights, to block ground with or to give it a cost.

    Parameters
    ----------
    polygon : (k, 2) array_like, metres
        At least three corners in either direction, not crossing itself; it need not be convex.
    low, high : float, metres
        The heights; ``low < high``.

    Examples
    --------
    >>> pond = Prism([(0, 0), (4, 0), (4, 3), (2, 1)], low=-1, high=0.5)
    >>> pond
    Prism(4 corners, -1 to 0.5 m)
    >>> pond.contains([(3, 1, 0), (1, 2, 0)]).tolist()
    [True, False]
    """

    def __init__(self, polygon: ArrayLike, low: float, high: float) -> None:
        corners = checks.floats(polygon, "polygon", "at least three corners (x, y)")
        if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 3:
            raise ParameterError("a prism needs a polygon of at least three corners (x, y)")
        checks.finite(corners, "polygon")
        outline = shapely.Polygon(corners)
        if not outline.is_valid or outline.area == 0:
            raise GeometryError(f"the prism's polygon is not simple: {shapely.is_valid_reason(outline)}")
        bottom = checks.number(low, "low", low=-checks.LARGEST)
        top = checks.number(high, "high", low=bottom, high=checks.LARGEST, open_low=True)
        ring = np.array(shapely.orient_polygons(outline).exterior.coords)[:-1]
        first = int(np.lexsort(ring.T[::-1])[0])
        ring = np.roll(ring, -first, axis=0)
        super().__init__(tuple((float(x), float(y)) for x, y in ring), bottom, top)

    def __repr__(self) -> str:
        return f"Prism({len(self.corners)} corners, {self.low:g} to {self.high:g} m)"


def as_shape(shape: Shape | ArrayLike) -> Shape:
    """A shape from what a user gave: a shape, or the (2, 3) corners of a box."""
    if isinstance(shape, Shape):
        return shape
    corners = checks.floats(shape, "a shape", "a Box, a Prism, or the low and high corner of a box")
    if corners.shape != (2, 3):
        raise ParameterError("a shape is a Box, a Prism, or the low and high corner of a box: (2, 3) numbers")
    return Box(corners[0], corners[1])


def _ends(low: ArrayLike, high: ArrayLike) -> Points:
    corners = [checks.floats(corner, name, "a corner (x, y, z)") for corner, name in ((low, "low"), (high, "high"))]
    if any(corner.shape != (3,) for corner in corners):
        raise ParameterError("a box needs two corners (x, y, z)")
    ends = np.array(corners)
    checks.finite(ends, "the corners of a box")
    if (ends[0] >= ends[1]).any():
        raise ParameterError("the low corner of a box must be below the high one along every axis")
    return ends
