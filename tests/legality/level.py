"""What the judge sees: triangles with solid blocks among them, and what it says of a path."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import shapely

CHUNK = 24  # samples that look at the same triangles


class Violation(NamedTuple):
    """One thing that is wrong with a path."""

    what: str
    where: tuple[float, float, float]
    value: float
    limit: float

    def __str__(self):
        at = ", ".join(f"{value:.3f}" for value in self.where)
        return f"{self.what} at ({at}): {self.value:.3f}, limit {self.limit:.3f}"


class Level:
    """Triangles, and solid blocks that were put among them.

    Parameters
    ----------
    corners : (m, 3, 3) array_like
    solids : sequence of (low, high) or (polygon, low, high)
        Boxes with their corners (3,), prisms over a polygon (k, 2) between two heights. Their surfaces are triangles
        like all others, and nobody may be inside.
    closed : (m,) array_like of bool, optional
        Triangles that are no ground whatever their slope, such as water.
    """

    def __init__(self, corners, solids=(), closed=None):
        self.bare = np.asarray(corners, float).reshape(-1, 3, 3)
        self.closed = np.zeros(len(self.bare), bool) if closed is None else np.asarray(closed, bool)
        self.solids = [_solid(shape) for shape in solids]
        parts = [self.bare] + [_skin(*solid) for solid in self.solids]
        self.corners = np.concatenate(parts)
        self.low, self.high = self.corners.min(axis=1), self.corners.max(axis=1)
        normal = np.cross(self.corners[:, 1] - self.corners[:, 0], self.corners[:, 2] - self.corners[:, 0])
        length = np.linalg.norm(normal, axis=1)
        kept = length > 0  # triangles without area lie on the edges of others
        self.corners, self.low, self.high = self.corners[kept], self.low[kept], self.high[kept]
        self.up = normal[kept, 2] / length[kept]
        added = np.zeros(len(length) - len(self.bare), bool)
        # What is closed counts as steep.
        self.up[np.r_[self.closed, added][kept]] = 0.0
        self.own = np.r_[~np.zeros(len(self.bare), bool), added][kept]

    def with_solids(self, solids):
        """The same triangles with other blocks."""
        return Level(self.bare, solids, self.closed)

    def near(self, low, high):
        """Numbers of the triangles whose boxes reach into a box: each is looked at."""
        return np.flatnonzero((self.low <= high).all(axis=1) & (self.high >= low).all(axis=1))

    def inside(self, points):
        """How deep each point is inside a block, 0 where it is outside of all of them."""
        deep = np.zeros(len(points))
        for ring, low, high in self.solids:
            height = np.minimum(points[:, 2] - low, high - points[:, 2])
            within = np.flatnonzero(height > 0)
            if len(within):
                flat = shapely.points(points[within, :2])
                side = np.where(shapely.contains(ring, flat), shapely.distance(ring.exterior, flat), 0.0)
                deep[within] = np.maximum(deep[within], np.minimum(side, height[within]))
        return deep


def _solid(shape):
    if len(shape) == 2:
        low, high = np.asarray(shape[0], float), np.asarray(shape[1], float)
        return shapely.box(low[0], low[1], high[0], high[1]), low[2], high[2]
    ring, low, high = shape
    return shapely.geometry.polygon.orient(shapely.Polygon(np.asarray(ring, float))), float(low), float(high)


def _skin(ring, low, high):
    """The surface of a prism, turned outwards."""
    around = np.asarray(ring.exterior.coords)
    if not ring.exterior.is_ccw:
        around = around[::-1]
    faces = []
    for (ax, ay), (bx, by) in pairwise(around):
        a, b, c, d = (ax, ay, low), (bx, by, low), (bx, by, high), (ax, ay, high)
        faces += [(a, b, c), (a, c, d)]
    for part in shapely.constrained_delaunay_triangles(ring).geoms:
        (ax, ay), (bx, by), (cx, cy) = list(shapely.geometry.polygon.orient(part).exterior.coords)[:3]
        faces += [((ax, ay, high), (bx, by, high), (cx, cy, high)), ((ax, ay, low), (cx, cy, low), (bx, by, low))]
    return np.array(faces, float)


# --- walking ---------------------------------------------------------------------------------------------------------
