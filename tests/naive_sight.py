"""Shortest walks by exact arithmetic: a visibility graph of the union of polygons in rational numbers.

It shares no code with the package, and no tolerance decides anything: coordinates are fractions, so a wall that is bent
by 1e-300 is bent. Only lengths are floats in the end.
"""

from __future__ import annotations

import heapq
import math
from fractions import Fraction
from itertools import pairwise


def turn(a, b, c):
    """Twice the signed area of a, b, c."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def exact(point):
    return Fraction(float(point[0])), Fraction(float(point[1]))


def _stay(ring, a, b):
    """The part [low, high] of the segment from a to b in a convex counter-clockwise ring, or None."""
    low, high = Fraction(0), Fraction(1)
    for p, q in pairwise([*ring, ring[0]]):
        at_a, at_b = turn(p, q, a), turn(p, q, b)
        if at_a < 0 and at_b < 0:
            return None
        if at_a < 0:
            low = max(low, at_a / (at_a - at_b))
        elif at_b < 0:
            high = min(high, at_a / (at_a - at_b))
    return (low, high) if low <= high else None


class Sight:
    """A mesh of polygons that are convex in exact arithmetic, some of them closed.

    Parameters
    ----------
    vertices : points
    polygons : lists of vertex numbers, counter-clockwise
    closed : polygons that nobody walks on
    """

    def __init__(self, vertices, polygons, closed=()):
        self.vertices = [exact(vertex) for vertex in vertices]
        self.polygons = {k: list(map(int, ring)) for k, ring in enumerate(polygons) if k not in set(closed)}
        self.rings = {k: [self.vertices[v] for v in ring] for k, ring in self.polygons.items()}
        self.beside = {k: [] for k in self.polygons}
        sides = {}
        for k, ring in self.polygons.items():
            for p, q in pairwise([*ring, ring[0]]):
                sides.setdefault(frozenset((p, q)), []).append(k)
        for side, who in sides.items():
            if len(who) == 2:
                p, q = side
                for one, two in (who, who[::-1]):
                    self.beside[one].append((two, self.vertices[p], self.vertices[q]))
        self.places = []
        for vertex in sorted({v for ring in self.polygons.values() for v in ring}):
            self.places += [(self.vertices[vertex], fan) for fan in self._fans(vertex)]

    def _fans(self, vertex):
        waiting = {k for k, ring in self.polygons.items() if vertex in ring}
        point = self.vertices[vertex]
        while waiting:
            fan, front = set(), [min(waiting)]
            while front:
                here = front.pop()
                if here not in fan:
                    fan.add(here)
                    front += [two for two, p, q in self.beside[here] if point in (p, q) and two not in fan]
            waiting -= fan
            yield fan

    def holding(self, point):
        """Open polygons that a point is in or on the rim of."""
        return {
            k for k, ring in self.rings.items() if all(turn(p, q, point) >= 0 for p, q in pairwise([*ring, ring[0]]))
        }

    def sees(self, a, b, first, last):
        """Whether one walks straight from a, in any of the polygons `first`, to b in any of `last`."""
        if a == b:
            return bool(first & last)
        parts = {}

        def part(k):
            if k not in parts:
                parts[k] = _stay(self.rings[k], a, b)
            return parts[k]

        # A state is a polygon that holds the walker; it changes where the walk touches the shared edge in both.
        reached = {}
        front = [(Fraction(0), k) for k in first if part(k) and part(k)[0] == 0]
        heapq.heapify(front)
        while front:
            since, here = heapq.heappop(front)
            if here in reached:
                continue
            reached[here] = since
            for other, p, q in self.beside[here]:
                if other in reached or not part(other):
                    continue
                low, high = max(since, part(here)[0], part(other)[0]), min(part(here)[1], part(other)[1])
                touch = _touch(a, b, p, q)
                if touch and max(low, touch[0]) <= min(high, touch[1]):
                    heapq.heappush(front, (max(low, touch[0]), other))
        return any(k in reached and part(k)[1] == 1 for k in last)

    def shortest(self, start, goal, links=()):
        """Length of the shortest walk between two points; `links` are (from, to, cost), one-way.

        Nobody walks through a vertex in which polygons only touch: where the start or the end of a link lies on it, it
        is left to all sides and never walked into; a goal or the beginning of a link is never walked out of.
        """
        ends = [(point, self.holding(point)) for point in (exact(start), exact(goal))]
        jumps = {}
        for tail, head, cost in links:
            jumps[len(ends)] = (len(ends) + 1, cost)
            ends += [(point, self.holding(point)) for point in (exact(tail), exact(head))]
        places = ends + self.places
        walked_into = set(range(len(places))) - {head for head, _ in jumps.values()}
        best = {0: 0.0}
        queue, done = [(0.0, 0)], set()
        while queue:
            cost, here = heapq.heappop(queue)
            if here == 1:
                return cost
            if here in done:
                continue
            done.add(here)
            steps = [jumps[here]] if here in jumps else []
            for other in () if here in jumps else walked_into - done:
                point, polygons = places[other]
                if self.sees(places[here][0], point, places[here][1], polygons):
                    x, y = (float(point[k] - places[here][0][k]) for k in range(2))
                    steps.append((other, math.hypot(x, y)))
            for other, length in steps:
                if cost + length < best.get(other, math.inf):
                    best[other] = cost + length
                    heapq.heappush(queue, (cost + length, other))
        return math.inf

    def walkable(self, points):
        """Whether every leg of a line of given points is walked straight."""
        places = [exact(point) for point in points]
        return all(self.sees(a, b, self.holding(a), self.holding(b)) for a, b in pairwise(places))


def _touch(a, b, p, q):
    """First and last share of the segment from a to b that lies on the segment from p to q, or None."""
    side_p, side_q = turn(a, b, p), turn(a, b, q)
    axis = 0 if abs(b[0] - a[0]) >= abs(b[1] - a[1]) else 1

    def share(point):
        return (point[axis] - a[axis]) / (b[axis] - a[axis])

    if side_p == 0 and side_q == 0:
        low, high = sorted((share(p), share(q)))
        low, high = max(low, Fraction(0)), min(high, Fraction(1))
        return (low, high) if low <= high else None
    if side_p * side_q > 0:
        return None
    part = side_p / (side_p - side_q)
    at = share((p[0] + part * (q[0] - p[0]), p[1] + part * (q[1] - p[1])))
    return (at, at) if 0 <= at <= 1 else None
