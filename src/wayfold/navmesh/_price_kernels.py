# mypy: ignore-errors
"""What a walk along given points costs: the integral of the cost of a metre, the cheaper side along a border.

A leg is followed with a *front*: all open polygons that hold the walker at the moment, with the least cost of being
there by way of each. A stretch along an edge is walked on both sides at once and so costs the cheaper one (Tibboel
2012). One gets from polygon to polygon only where the leg touches the edge that they share, so floors stay apart, and
what only touches in a corner is not joined.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline

_FRONT = 1024  # polygons that can meet in one point
_WIDER = 64.0  # times the rounding that is allowed for, where a leg is lost between two polygons
STRICT = 1  # tries: a walk that must be legal to the last digit, and end in the polygon that it should
LENIENT = 3  # tries: a path that is known to be legal


class Front(NamedTuple):
    """The polygons that hold a walker (scratch)."""

    polygon: np.ndarray  # (k,) int32
    cost: np.ndarray  # (k,) float64, least cost of being here in this polygon
    high: np.ndarray  # (k,) float64, share of the leg at which it leaves the polygon


def new_front() -> Front:
    """Scratch for `price`."""
    return Front(np.empty(_FRONT, np.int32), np.empty(_FRONT), np.empty(_FRONT))


@inline
def _ends(ground, polygon, edge):
    """Where an edge begins, its direction and its length."""
    after = edge + 1 if edge + 1 < ground.offsets[polygon + 1] else ground.offsets[polygon]
    a, b = ground.corners[edge], ground.corners[after]
    ax, ay = ground.vertices[a, 0], ground.vertices[a, 1]
    ux, uy = ground.vertices[b, 0] - ax, ground.vertices[b, 1] - ay
    return ax, ay, ux, uy, np.sqrt(ux * ux + uy * uy)


@inline
def _leaves(ground, polygon, x, y, dx, dy, slack):
    """Share of a leg at which it leaves a polygon that is grown by `slack`."""
    high = 1.0
    for edge in range(ground.offsets[polygon], ground.offsets[polygon + 1]):
        ax, ay, ux, uy, length = _ends(ground, polygon, edge)
        speed = ux * dy - uy * dx  # inwards, times the edge's length
        if speed < 0.0:
            inside = ux * (y - ay) - uy * (x - ax) + slack * length
            high = min(high, inside / -speed)
    return high


@inline
def _touches(ground, polygon, edge, x, y, dx, dy, slack):
    """First and last share of a leg that lies within `slack` of an edge; the first above the last for none."""
    ax, ay, ux, uy, length = _ends(ground, polygon, edge)
    px, py = x - ax, y - ay
    limit = slack * length
    off, speed = ux * py - uy * px, ux * dy - uy * dx
    if min(off, off + speed) > limit or max(off, off + speed) < -limit:
        return 1.0, 0.0
    low, high = 0.0, 1.0
    if speed > 0.0:
        low, high = max(low, (-limit - off) / speed), min(high, (limit - off) / speed)
    elif speed < 0.0:
        low, high = max(low, (limit - off) / speed), min(high, (-limit - off) / speed)
    along, pace = ux * px + uy * py, ux * dx + uy * dy
    before, behind = -limit, length * length + limit
    if pace > 0.0:
        low, high = max(low, (before - along) / pace), min(high, (behind - along) / pace)
    elif pace < 0.0:
        low, high = max(low, (behind - along) / pace), min(high, (before - along) / pace)
    elif along < before or along > behind:
        return 1.0, 0.0
    return low, high


@inline
def _spread(ground, areas, rates, front, count, t, x, y, dx, dy, slack):
    """Let the front reach every polygon beyond an edge that the walker touches at share `t`; return its new size."""
    changed = True
    while changed:
        changed = False
        at = 0
        while at < count:
            here = front.polygon[at]
            for edge in range(ground.offsets[here], ground.offsets[here + 1]):
                beyond = ground.neighbours[edge]
                if beyond < 0 or not rates[areas[beyond]] < np.inf:
                    continue
                low, high = _touches(ground, here, edge, x, y, dx, dy, slack)
                if not low <= t <= high:
                    continue
                known = 0
                while known < count and front.polygon[known] != beyond:
                    known += 1
                if known == count:
                    if count == front.polygon.size:
                        continue
                    front.polygon[count] = beyond
                    front.cost[count] = front.cost[at]
                    # Twice the slack: what touches the edge is inside, whatever rounding says.
                    front.high[count] = _leaves(ground, beyond, x, y, dx, dy, 2.0 * slack)
                    count += 1
                elif front.cost[at] < front.cost[known]:
                    front.cost[known] = front.cost[at]
                    changed = changed or known < at
            at += 1
    return count


@helper
def _follow(ground, areas, rates, front, count, x, y, to_x, to_y, slack):
    """Carry the front from one point straight to another; return its new size, 0 where the leg leaves open ground."""
    dx, dy = to_x - x, to_y - y
    length = np.sqrt(dx * dx + dy * dy)
    if length == 0.0:
        return count
    for at in range(count):
        front.high[at] = _leaves(ground, front.polygon[at], x, y, dx, dy, 2.0 * slack)
    t = 0.0
    for _ in range(8 * ground.corners.size + 8):
        count = _spread(ground, areas, rates, front, count, t, x, y, dx, dy, slack)
        kept = 0
        for at in range(count):
            if front.high[at] > t or t >= 1.0:
                front.polygon[kept], front.cost[kept] = front.polygon[at], front.cost[at]
                front.high[kept] = front.high[at]
                kept += 1
        count = kept
        if t >= 1.0 or count == 0:
            return count
        # On to where a polygon is left, or an edge begins or ceases to be touched.
        stop = 1.0
        for at in range(count):
            here = front.polygon[at]
            stop = min(stop, front.high[at])
            for edge in range(ground.offsets[here], ground.offsets[here + 1]):
                if ground.neighbours[edge] < 0:
                    continue
                low, high = _touches(ground, here, edge, x, y, dx, dy, slack)
                if low <= high:
                    if t < low < stop:
                        stop = low
                    if t < high < stop:
                        stop = high
        for at in range(count):
            front.cost[at] += rates[areas[front.polygon[at]]] * (stop - t) * length
        t = stop
    return 0


@helper
def price(ground, areas, rates, points, first, last, slack, tries, front):
    """Cost of walking along `points` (k, 2), from polygon `first` to polygon `last`; infinite where one cannot.

    `rates` (256,) float64 is the cost of a metre in each kind of area (`areas`, one a polygon), infinite where it is
    closed. `slack` is how far a computed point may lie from the edge that it is meant to be on; it grows with every
    further try.
    """
    for _ in range(tries):
        front.polygon[0], front.cost[0] = first, 0.0
        count = 1
        for at in range(len(points) - 1):
            count = _follow(
                ground, areas, rates, front, count, points[at, 0], points[at, 1], points[at + 1, 0], points[at + 1, 1],
                slack,
            )  # fmt: skip
            if count == 0:
                break
        best = np.inf
        for at in range(count):
            if front.polygon[at] == last:
                return front.cost[at]
            best = min(best, front.cost[at])
        # Beyond a pinch point the walker is in the right place, but not where the way goes on.
        if best < np.inf and tries > STRICT:
            return best
        slack *= _WIDER
    return np.inf


@inline
def flat_length(points):
    """Length of a line of points seen from above."""
    total = 0.0
    for at in range(len(points) - 1):
        dx, dy = points[at + 1, 0] - points[at, 0], points[at + 1, 1] - points[at, 1]
        total += np.sqrt(dx * dx + dy * dy)
    return total
