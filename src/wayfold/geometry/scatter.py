"""Random points spread evenly over triangles; triangles of convex polygons and of what discs cut out of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold.geometry.polygon import overlaying

Points = NDArray[np.float64]
_CORNERS = 64  # of a quarter of a disc


class Pieces(NamedTuple):
    """Triangles that some shapes are made of."""

    triangles: Points  # (k, 3, 2)
    of: NDArray[np.int64]  # (k,), the shape that each is a part of


def twice_areas(triangles: Points) -> Points:
    """Return twice the area of each triangle (k, 3, 2)."""
    a, b, c = np.swapaxes(triangles, 0, 1)
    return np.asarray(np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]), np.float64)


def fans(shapes: NDArray[Any]) -> Pieces:
    """Cut convex shapely polygons into triangles around the first corner of each; other shapes have none."""
    parts, shape = shapely.get_parts(shapes, return_index=True)
    flat = (shapely.get_type_id(parts) == shapely.GeometryType.POLYGON) & ~shapely.is_empty(parts)
    points, ring = shapely.get_coordinates(parts[flat], return_index=True)
    if not len(ring):
        return Pieces(np.empty((0, 3, 2)), np.empty(0, np.int64))
    first = np.flatnonzero(np.diff(ring, prepend=-1))[ring]
    second = np.flatnonzero((ring[:-1] == ring[1:]) & (np.arange(len(ring) - 1) > first[:-1]))
    triangles = np.stack([points[first[second]], points[second], points[second + 1]], axis=1)
    return Pieces(triangles, shape[flat][ring[second]].astype(np.int64))


@overlaying()
def within(shapes: NDArray[Any], centre: Points, radii: Any) -> Pieces:
    """Return what of convex shapely polygons lies in a disc: in a polygon of 256 corners on its circle.

    `radii` is one number, or one for each shape.
    """
    return fans(shapely.intersection(shapes, shapely.buffer(shapely.Point(centre[:2]), radii, quad_segs=_CORNERS)))


def scatter(
    triangles: Points, weights: Points, count: int, random: np.random.Generator
) -> tuple[Points, NDArray[np.int64]]:
    """Draw points (count, 2) from triangles, and say which each lies in; `weights` are in proportion to the areas."""
    chosen = random.choice(len(weights), count, p=weights / weights.sum())
    u, v = np.sort(random.random((2, count)), axis=0)[:, :, None]
    a, b, c = np.swapaxes(triangles, 0, 1)
    return a[chosen] * u + b[chosen] * (v - u) + c[chosen] * (1 - v), chosen
