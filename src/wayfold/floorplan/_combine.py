"""Convex pieces with common corners, and the joining of those whose union is convex.

The same operation ends DEACCON and space-filling volumes ("combineConvexShapes" in Algorithm 1 of paper 004) and is
what Hertel and Mehlhorn do with the diagonals of a triangulation: an edge between two pieces is inessential when both
of its ends stay convex without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Pieces(NamedTuple):
    """Convex polygons over common corners."""

    points: Floats
    """(n, 2)"""
    polygons: list[list[int]]
    """Corner numbers, counter-clockwise."""

    def rings(self) -> Iterator[Floats]:
        """The corners of each polygon, (k, 2)."""
        return (self.points[polygon] for polygon in self.polygons)


def joined(anchors: Floats, rings: list[Floats], tolerance: float, resolution: float) -> Pieces:
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
        return Pieces(np.empty((0, 2)), [])
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
    return Pieces(corners, polygons)


def without_straight(points: Floats, polygon: list[int], resolution: float) -> list[int]:
    """A polygon without corners in the middle of straight edges and without edges of no length."""
    at = 0
    while len(polygon) >= 3 and at < len(polygon):
        if is_straight(points, polygon[at - 1], polygon[at], polygon[(at + 1) % len(polygon)], resolution):
            del polygon[at]
            at = max(at - 1, 0)
        else:
            at += 1
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


def combine(pieces: Pieces, resolution: float) -> Pieces:
    """Join pieces over common edges as long as their unions are convex, longest edges first."""
    return _Combiner(pieces, resolution).run()


class _Combiner:
    """Rings of corners linked by their directed edges; an edge (a, b) belongs to the piece on its left."""

    def __init__(self, pieces: Pieces, resolution: float) -> None:
        self.points = pieces.points
        self.resolution = resolution
        self.after: dict[tuple[int, int], int] = {}  # directed edge -> corner after it
        self.before: dict[tuple[int, int], int] = {}  # directed edge -> corner before it
        for polygon in pieces.polygons:
            count = len(polygon)
            for at in range(count):
                edge = polygon[at], polygon[(at + 1) % count]
                self.after[edge] = polygon[(at + 2) % count]
                self.before[edge] = polygon[at - 1]

    def run(self) -> Pieces:
        edges = [(a, b) for a, b in self.after if a < b and (b, a) in self.after]
        ends = np.array(edges, np.int64).reshape(-1, 2)
        length = np.hypot(*(self.points[ends[:, 0]] - self.points[ends[:, 1]]).T)
        waiting = [edges[k] for k in np.argsort(length, kind="stable")]
        while waiting:
            a, b = waiting.pop()
            if (a, b) in self.after and (b, a) in self.after:
                self._try(a, b, waiting)
        return Pieces(self.points, self._polygons())

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
