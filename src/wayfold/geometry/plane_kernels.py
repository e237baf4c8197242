# mypy: ignore-errors
"""Primitives in the plane and the batch kernels of `polygon`. A polygon is an (n, 2) float64 ring, not closed."""

import math

from wayfold.core.jit import inline, kernel
from wayfold.geometry.predicate_kernels import orientation


@inline
def on_segment(px, py, ax, ay, bx, by):
    """Whether p is a point of the closed segment from a to b."""
    if not (min(ax, bx) <= px <= max(ax, bx) and min(ay, by) <= py <= max(ay, by)):
        return False
    return orientation(ax, ay, bx, by, px, py) == 0


@inline
def segments_cross(ax, ay, bx, by, cx, cy, dx, dy):
    """Whether the closed segments ab and cd share a point: 0 no, 1 they touch or overlap, 2 they cross inside both."""
    c_side = orientation(ax, ay, bx, by, cx, cy)
    d_side = orientation(ax, ay, bx, by, dx, dy)
    a_side = orientation(cx, cy, dx, dy, ax, ay)
    b_side = orientation(cx, cy, dx, dy, bx, by)
    if c_side * d_side < 0 and a_side * b_side < 0:
        return 2
    touching = (
        on_segment(ax, ay, cx, cy, dx, dy)
        or on_segment(bx, by, cx, cy, dx, dy)
        or on_segment(cx, cy, ax, ay, bx, by)
        or on_segment(dx, dy, ax, ay, bx, by)
    )
    return 1 if touching else 0


@inline
def point_segment2(px, py, ax, ay, bx, by):
    """Squared distance of p and the segment from a to b."""
    dx, dy = bx - ax, by - ay
    length2 = dx * dx + dy * dy
    t = (px - ax) * dx + (py - ay) * dy
    if t >= length2:
        ax, ay = bx, by
    elif t > 0.0:
        ax, ay = ax + t / length2 * dx, ay + t / length2 * dy
    dx, dy = px - ax, py - ay
    return dx * dx + dy * dy


@inline
def point_in_polygon(ring, x, y):
    """Whether a point lies in a polygon (even-odd rule); points of the boundary are in it.

    Exact as `orientation` is: each edge is taken with its lower end and without its upper one.
    """
    inside = False
    count = ring.shape[0]
    ax, ay = ring[count - 1, 0], ring[count - 1, 1]
    for k in range(count):
        bx, by = ring[k, 0], ring[k, 1]
        if min(ay, by) <= y <= max(ay, by) and x <= max(ax, bx):
            if on_segment(x, y, ax, ay, bx, by):
                return True
            if (ay > y) != (by > y) and orientation(ax, ay, bx, by, x, y) == (1 if by > ay else -1):
                inside = not inside
        ax, ay = bx, by
    return inside


@kernel
def points_in_polygon(ring, points, inside):
    """Set `inside` (q,) bool for `points` (q, 2) float64; see `point_in_polygon`."""
    for row in range(points.shape[0]):
        inside[row] = point_in_polygon(ring, points[row, 0], points[row, 1])


@kernel
def polygon_moments(ring):
    """Signed area (positive when counter-clockwise) and centroid: (area, x, y).

    Without area the centroid is that of the boundary, and without length the first corner.
    """
    count = ring.shape[0]
    ox, oy = ring[0, 0], ring[0, 1]  # sums about a corner, so that far from the origin no digits are lost
    area = sx = sy = length = lx = ly = 0.0
    for k in range(count):
        following = k + 1 if k + 1 < count else 0
        ax, ay = ring[k, 0] - ox, ring[k, 1] - oy
        bx, by = ring[following, 0] - ox, ring[following, 1] - oy
        twice = ax * by - ay * bx
        area += twice
        sx += twice * (ax + bx)
        sy += twice * (ay + by)
        edge = math.hypot(bx - ax, by - ay)
        length += edge
        lx += edge * (ax + bx)
        ly += edge * (ay + by)
    if area != 0.0:
        return 0.5 * area, ox + sx / (3.0 * area), oy + sy / (3.0 * area)
    if length > 0.0:
        return 0.0, ox + 0.5 * lx / length, oy + 0.5 * ly / length
    return 0.0, ox, oy


@kernel
def polygon_is_convex(ring):
    """1 when the ring goes once round a convex polygon counter-clockwise, -1 clockwise, 0 when it does not.

    Corners in a straight line and repeated corners are allowed; a polygon without area is not convex.
    """
    count = ring.shape[0]
    b = count - 1
    a = b - 1
    while a >= 0 and ring[a, 0] == ring[b, 0] and ring[a, 1] == ring[b, 1]:
        a -= 1
    if a < 0:
        return 0
    turn = 0
    reversals = 0
    forwards = ring[b, 0] > ring[a, 0] or (ring[b, 0] == ring[a, 0] and ring[b, 1] > ring[a, 1])
    for c in range(count):
        if ring[c, 0] == ring[b, 0] and ring[c, 1] == ring[b, 1]:
            continue
        side = orientation(ring[a, 0], ring[a, 1], ring[b, 0], ring[b, 1], ring[c, 0], ring[c, 1])
        if side * turn < 0:
            return 0
        if side != 0:
            turn = side
        ahead = ring[c, 0] > ring[b, 0] or (ring[c, 0] == ring[b, 0] and ring[c, 1] > ring[b, 1])
        if ahead != forwards:
            reversals += 1
        forwards = ahead
        a, b = b, c
    return turn if reversals == 2 else 0


@kernel
def segments_meet(starts, ends, other_starts, other_ends, meet):
    """Set `meet` (q,) int8 to `segments_cross` of each pair of segments; the ends are (q, 2) float64."""
    for row in range(meet.shape[0]):
        meet[row] = segments_cross(
            starts[row, 0],
            starts[row, 1],
            ends[row, 0],
            ends[row, 1],
            other_starts[row, 0],
            other_starts[row, 1],
            other_ends[row, 0],
            other_ends[row, 1],
        )
