"""Polygons in the plane as (n, 2) arrays of corners: the few questions that maps ask by the million.

A polygon is a ring of at least three corners in either direction; the last corner is joined to the first and need not
repeat it. Signs are decided by a robust predicate, so that answers on shared edges agree. Everything else about
polygons (holes, unions, offsets) is shapely's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.errors import GeometryError, ParameterError
from wayfold.geometry import plane_kernels

Points = NDArray[np.float64]


def _points2(points: ArrayLike, name: str) -> Points:
    """A finite C-contiguous (n, 2) float64 array."""
    array = checks.floats(points, name, "an array of numbers of shape (n, 2)")
    if array.ndim != 2 or array.shape[1] != 2:
        raise ParameterError(f"{name} must have shape (n, 2), not {array.shape}")
    checks.finite(array, name)
    return array


def _ring(polygon: ArrayLike) -> Points:
    """The corners of a polygon, at least three of them."""
    ring = _points2(polygon, "polygon")
    if len(ring) < 3:
        raise GeometryError(f"a polygon needs at least 3 corners, not {len(ring)}")
    return ring


@contextlib.contextmanager
def overlaying() -> Iterator[None]:
    """Raise a `GeometryError` for whatever shapely cannot do with polygons inside; also a decorator.

    >>> import shapely
    >>> bowtie = shapely.Polygon([(0, 0), (2, 2), (2, 0), (0, 2)])
    >>> with overlaying():
    ...     shapely.union(bowtie, shapely.box(0, 0, 1, 2))
    Traceback (most recent call last):
        ...
    wayfold.errors.GeometryError: the polygons cannot be laid over each other: ...
    """
    from shapely.errors import ShapelyError

    try:
        yield
    except ShapelyError as error:
        raise GeometryError(f"the polygons cannot be laid over each other: {str(error)[:200]}") from None


def contains(polygon: ArrayLike, points: ArrayLike) -> NDArray[np.bool_]:
    """Return whether each point lies in a polygon; points of its edges and corners do.

    Parameters
    ----------
    polygon : (n, 2) array_like, metres
        Corners, n >= 3. Where it crosses itself the even-odd rule holds.
    points : (q, 2) array_like, metres
        What to look for.

    Returns
    -------
    (q,) bool

    Examples
    --------
    >>> room = [(0, 0), (6, 0), (6, 1), (1, 1), (1, 5), (0, 5)]  # L-shaped
    >>> contains(room, [(0.5, 2), (2, 2), (4, 1)]).tolist()  # inside, outside, on an edge
    [True, False, True]
    """
    ring, where = _ring(polygon), _points2(points, "points")
    inside = np.empty(len(where), np.bool_)
    plane_kernels.points_in_polygon(ring, where, inside)
    return inside


def area(polygon: ArrayLike) -> float:
    """Return the area of a simple polygon in square metres, >= 0 whichever way it turns.

    Parameters
    ----------
    polygon : (n, 2) array_like, metres
        Corners, n >= 3, in either direction.

    Examples
    --------
    >>> room = [(0, 0), (6, 0), (6, 1), (1, 1), (1, 5), (0, 5)]  # L-shaped
    >>> area(room), area(room[::-1])
    (10.0, 10.0)
    """
    return abs(float(plane_kernels.polygon_moments(_ring(polygon))[0]))


def centroid(polygon: ArrayLike) -> Points:
    """Return the centre of mass of a simple polygon, (2,) metres; of its boundary when it has no area.

    Parameters
    ----------
    polygon : (n, 2) array_like, metres
        Corners, n >= 3, in either direction.

    Examples
    --------
    >>> room = [(0, 0), (6, 0), (6, 1), (1, 1), (1, 5), (0, 5)]  # L-shaped
    >>> middle = centroid(room)
    >>> middle.tolist(), contains(room, [middle]).tolist()
    ([2.0, 1.5], [False])
    """
    return np.array(plane_kernels.polygon_moments(_ring(polygon))[1:])


def orientation(polygon: ArrayLike) -> int:
    """Return 1 when a simple polygon runs counter-clockwise, -1 when clockwise, 0 when it has no area.

    Parameters
    ----------
    polygon : (n, 2) array_like, metres
        Corners, n >= 3, in either direction.

    Examples
    --------
    >>> room = [(0, 0), (6, 0), (6, 1), (1, 1), (1, 5), (0, 5)]  # L-shaped
    >>> orientation(room), orientation(room[::-1]), orientation([(0, 0), (2, 0), (4, 0)])
    (1, -1, 0)
    """
    return int(np.sign(plane_kernels.polygon_moments(_ring(polygon))[0]))


def is_convex(polygon: ArrayLike) -> bool:
    """Return whether a polygon is convex: it goes round once, in either direction, and never turns back.

    Corners in the middle of a straight side and repeated corners are allowed; a polygon without area is not convex.

    Parameters
    ----------
    polygon : (n, 2) array_like, metres
        Corners, n >= 3, in either direction.

    Examples
    --------
    >>> room = [(0, 0), (6, 0), (6, 1), (1, 1), (1, 5), (0, 5)]  # L-shaped
    >>> is_convex(room), is_convex([(0, 0), (2, 0), (4, 0), (4, 1)])
    (False, True)
    """
    return bool(plane_kernels.polygon_is_convex(_ring(polygon)) != 0)


def segments_intersect(a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike) -> NDArray[np.int8]:
    """Return how the closed segments from a to b and from c to d meet, pair by pair.

    Parameters
    ----------
    a, b, c, d : (q, 2) array_like, metres
        Ends of the segments; a segment may be a point.

    Returns
    -------
    (q,) int8
        0 where they share no point, 1 where they touch or overlap, 2 where they cross at a point inside both.

    Examples
    --------
    >>> wall, ways = [(0, 0), (4, 0)], [((1, -1), (1, 1)), ((2, 0), (2, 1)), ((0, 1), (4, 1))]
    >>> segments_intersect([wall[0]] * 3, [wall[1]] * 3, [a for a, _ in ways], [b for _, b in ways]).tolist()
    [2, 1, 0]
    """
    a, b, c, d = _points2(a, "a"), _points2(b, "b"), _points2(c, "c"), _points2(d, "d")
    if not a.shape == b.shape == c.shape == d.shape:
        raise ParameterError(f"a, b, c and d must be as many points, not {len(a)}, {len(b)}, {len(c)} and {len(d)}")
    meet = np.empty(len(a), np.int8)
    plane_kernels.segments_meet(a, b, c, d, meet)
    return meet
