# mypy: ignore-errors
"""A certified lower bound on what a path costs where kinds of area cost differently.

Portals are cut into intervals, and a search goes from interval to interval. Between two of them no walk through a
polygon is shorter than their distance, so the cheapest way over intervals is a lower bound on all paths. What is lost
is the way from where an interval is entered to where it is left, at every portal. That is made good by *slopes*: each
interval gets a toll, linear along it, paid where a path leaves and got back where it enters. At one and the same point
the two are equal, so any slopes give a lower bound; with those of the cost from the start (which Snell's law makes the
same on both sides of a portal) nothing is gained by entering here and leaving there, and little is lost. Slopes are
kept so small that no step costs less than nothing.

Before it leaves a portal, a path may walk along it, on the cheaper side. That is part of the step: a walk along a line
and then away from it costs at least ``s . d`` over the way d, for every slowness s no longer than the cost of a metre
beyond the line, whose part along the line is no more than the cost of a metre along it.

Nodes: interval j of portal k is k * m + j, then come the start, the goal, and the links.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline, kernel
from wayfold.geometry._plane_kernels import point_segment2
from wayfold.graph._kernels import begin, drop_top, offer


class Intervals(NamedTuple):
    """Portals in pieces, m of each."""

    ends: np.ndarray  # (k, m + 1, 2) float64, where they end
    slope: np.ndarray  # (k m,) float64, toll at the end of an interval, that in its middle being 0


@inline
def _gap(ax, ay, bx, by, cx, cy, dx, dy):
    """Distance of two segments that do not cross."""
    near = min(point_segment2(ax, ay, cx, cy, dx, dy), point_segment2(bx, by, cx, cy, dx, dy))
    return np.sqrt(min(near, min(point_segment2(cx, cy, ax, ay, bx, by), point_segment2(dx, dy, ax, ay, bx, by))))


@inline
def _slowness(rate, low, ax, ay, bx, by, x, y):
    """The slowness of the cheapest walk along (x, y) from a line through a and b, along which a metre costs `low`."""
    length = np.sqrt(x * x + y * y)
    if length == 0.0:
        return 0.0, 0.0
    x, y = rate * x / length, rate * y / length
    if low < rate:
        ex, ey = bx - ax, by - ay
        size = np.sqrt(ex * ex + ey * ey)
        ex, ey = ex / size, ey / size
        along, across = x * ex + y * ey, ex * y - ey * x
        if abs(along) > low:
            along = low if along > 0.0 else -low
            across = np.sqrt(rate * rate - low * low) * np.sign(across)
            x, y = along * ex - across * ey, along * ey + across * ex
    return x, y


@inline
def _step(rate, low, ax, ay, bx, by, leaving, cx, cy, dx, dy, entering, most):
    """Least cost of a walk from one interval to another, tolls included; what is above `most` need not be exact."""
    ux, uy, vx, vy = 0.5 * (bx - ax), 0.5 * (by - ay), 0.5 * (dx - cx), 0.5 * (dy - cy)
    x, y = cx + vx - ax - ux, cy + vy - ay - uy
    sx, sy = _slowness(rate, low, ax, ay, bx, by, x, y)
    cost = sx * x + sy * y - abs(sx * ux + sy * uy + leaving) - abs(sx * vx + sy * vy + entering)
    if cost >= most:
        return cost
    return max(cost, low * _gap(ax, ay, bx, by, cx, cy, dx, dy) - abs(leaving) - abs(entering))


@inline
def _lower(portals, prices, portal):
    """Cost of a metre along a portal: the cheaper side."""
    one, two = prices.kinds[portals.sides[portal, 0]], prices.kinds[portals.sides[portal, 1]]
    return min(prices.rates[one], prices.rates[two])


@helper
def _cross(
    portals, prices, links, intervals, state, clock, size, node, own, polygon, ax, ay, bx, by, slope, goals, to_x, to_y
):
    """Offer all ways through a polygon from an interval (or a point) of its `own` portal; returns the heap's size."""
    rate = prices.rates[prices.kinds[polygon]]
    if not rate < np.inf:
        return size
    low = rate if own < 0 else _lower(portals, prices, own)
    ends = intervals.ends
    cells = ends.shape[1] - 1
    source = len(ends) * cells
    total = state.cost[node]
    for goal in goals:
        if polygon == goal:
            step = _step(rate, low, ax, ay, bx, by, slope, to_x, to_y, to_x, to_y, 0.0, np.inf)
            size, _ = offer(state, clock, size, source + 1, node, total + step, 0.0)
    for k in range(portals.rows[polygon], portals.rows[polygon + 1]):
        portal = portals.doors[k]
        if portal == own:
            continue
        for j in range(cells):
            other = portal * cells + j
            most = state.cost[other] - total if state.stamp[other] > clock else np.inf
            if most <= 0.0:
                continue
            cx, cy, dx, dy = ends[portal, j, 0], ends[portal, j, 1], ends[portal, j + 1, 0], ends[portal, j + 1, 1]
            step = _step(rate, low, ax, ay, bx, by, slope, cx, cy, dx, dy, intervals.slope[other], most)
            if step < most:
                size, _ = offer(state, clock, size, other, node, total + max(0.0, step), 0.0)
    for link in range(links.offsets[polygon], links.offsets[polygon + 1]):
        if prices.rates[prices.kinds[links.targets[link]]] < np.inf:
            x, y = links.starts[link, 0], links.starts[link, 1]
            step = _step(rate, low, ax, ay, bx, by, slope, x, y, x, y, 0.0, np.inf)
            size, _ = offer(
                state, clock, size, source + 2 + link, node, total + max(0.0, step) + links.costs[link], 0.0
            )
    return size


@kernel
def cut(ground, twins, portals, shares, intervals):
    """Cut portals at `shares` (m + 1,), from 0 to 1, into intervals without slopes."""
    for portal in range(len(intervals.ends)):
        edge = portals.edges[portal]
        a, b = ground.corners[edge], ground.corners[twins[edge]]
        for j in range(shares.size):
            for axis in range(2):
                low, high = ground.vertices[a, axis], ground.vertices[b, axis]
                intervals.ends[portal, j, axis] = (1.0 - shares[j]) * low + shares[j] * high
    intervals.slope[:] = 0.0


@inline
def _room(portals, prices, ends, portal, ax, ay, bx, by):
    """What every step from or to an interval costs at least without tolls."""
    last = ends.shape[1] - 1
    low = _lower(portals, prices, portal)
    least = np.inf
    for side in range(2):
        polygon = portals.sides[portal, side]
        for k in range(portals.rows[polygon], portals.rows[polygon + 1]):
            other = portals.doors[k]
            if other != portal:
                far = ends[other]
                rate = min(low, _lower(portals, prices, other))
                least = min(least, rate * _gap(ax, ay, bx, by, far[0, 0], far[0, 1], far[last, 0], far[last, 1]))
    return least if least < np.inf else 0.0


@kernel
def tilt(portals, prices, links, intervals, state, starts, x, y, goals, to_x, to_y):
    """Give intervals the slopes of the cost from the start, by a search over their middles that ends at the goal."""
    ends = intervals.ends
    cells = ends.shape[1] - 1
    source = len(ends) * cells
    clock = begin(state, source)
    size = 1
    while size > 0:
        node = state.nodes[0]
        size = drop_top(state, size)
        if node == source + 1:
            return
        portal = -1
        fx, fy = x, y
        one, two = np.int32(-1), np.int32(-1)
        px, py, qx, qy, lower = x, y, x, y, np.inf
        if node < source:
            portal, j = node // cells, node % cells
            one, two = portals.sides[portal, 0], portals.sides[portal, 1]
            px, py, qx, qy = ends[portal, 0, 0], ends[portal, 0, 1], ends[portal, cells, 0], ends[portal, cells, 1]
            fx = 0.5 * (ends[portal, j, 0] + ends[portal, j + 1, 0])
            fy = 0.5 * (ends[portal, j, 1] + ends[portal, j + 1, 1])
            lower = _lower(portals, prices, portal)
        elif node > source:
            one = links.targets[node - source - 2]
            fx, fy = links.ends[node - source - 2, 0], links.ends[node - source - 2, 1]
        for side in range(starts.size if node == source else 2):
            polygon = one if side == 0 else two
            if node == source:
                polygon = starts[side]
            if polygon < 0 or not prices.rates[prices.kinds[polygon]] < np.inf:
                continue
            rate = prices.rates[prices.kinds[polygon]]
            for goal in goals:
                if polygon == goal:
                    sx, sy = _slowness(rate, lower, px, py, qx, qy, to_x - fx, to_y - fy)
                    total = state.cost[node] + sx * (to_x - fx) + sy * (to_y - fy)
                    size, _ = offer(state, clock, size, source + 1, node, total, 0.0)
            for k in range(portals.rows[polygon], portals.rows[polygon + 1]):
                other = portals.doors[k]
                if other == portal:
                    continue
                for j in range(cells):
                    ax, ay, bx, by = ends[other, j, 0], ends[other, j, 1], ends[other, j + 1, 0], ends[other, j + 1, 1]
                    dx, dy = 0.5 * (ax + bx) - fx, 0.5 * (ay + by) - fy
                    sx, sy = _slowness(rate, lower, px, py, qx, qy, dx, dy)
                    total = state.cost[node] + sx * dx + sy * dy
                    number = other * cells + j
                    if state.stamp[number] > clock and (total >= state.cost[number] or state.place[number] < 0):
                        continue
                    size, _ = offer(state, clock, size, number, node, total, 0.0)
                    intervals.slope[number] = -0.5 * (sx * (bx - ax) + sy * (by - ay))
            for link in range(links.offsets[polygon], links.offsets[polygon + 1]):
                if prices.rates[prices.kinds[links.targets[link]]] < np.inf:
                    dx, dy = links.starts[link, 0] - fx, links.starts[link, 1] - fy
                    sx, sy = _slowness(rate, lower, px, py, qx, qy, dx, dy)
                    total = state.cost[node] + sx * dx + sy * dy + links.costs[link]
                    size, _ = offer(state, clock, size, source + 2 + link, node, total, 0.0)


@kernel
def level(portals, prices, intervals):
    """Make slopes so small that no step costs less than nothing."""
    ends = intervals.ends
    cells = ends.shape[1] - 1
    for portal in range(len(ends)):
        for j in range(cells):
            number = portal * cells + j
            slope = intervals.slope[number]
            if slope == 0.0:
                continue
            ax, ay, bx, by = ends[portal, j, 0], ends[portal, j, 1], ends[portal, j + 1, 0], ends[portal, j + 1, 1]
            room = 0.5 * _room(portals, prices, ends, portal, ax, ay, bx, by)
            # No dearer than a walk along the portal: so much the cost from the start can change along it.
            length = np.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay))
            room = min(room, 0.5 * _lower(portals, prices, portal) * length)
            intervals.slope[number] = min(room, max(-room, slope))


@kernel
def bound(portals, prices, links, intervals, state, starts, x, y, goals, to_x, to_y, limit):
    """Cost that no path from the start to the goal can be below, `limit` where that is all there is to say.

    `starts` and `goals` are the polygons that hold the start and the goal.
    """
    ends = intervals.ends
    cells = ends.shape[1] - 1
    source = len(ends) * cells
    clock = begin(state, source)
    size = 1
    while size > 0:
        node = state.nodes[0]
        total = state.cost[node]
        size = drop_top(state, size)
        if total >= limit:
            return limit
        if node == source + 1:
            return total
        if node == source:
            for polygon in starts:
                size = _cross(
                    portals, prices, links, intervals, state, clock, size, node, -1, polygon, x, y, x, y, 0.0, goals,
                    to_x, to_y,
                )  # fmt: skip
        elif node > source:
            link = node - source - 2
            ex, ey = links.ends[link, 0], links.ends[link, 1]
            size = _cross(
                portals, prices, links, intervals, state, clock, size, node, -1, links.targets[link], ex, ey, ex, ey,
                0.0, goals, to_x, to_y,
            )  # fmt: skip
        else:
            portal, j = node // cells, node % cells
            ax, ay, bx, by = ends[portal, j, 0], ends[portal, j, 1], ends[portal, j + 1, 0], ends[portal, j + 1, 1]
            for side in range(2):
                size = _cross(
                    portals, prices, links, intervals, state, clock, size, node, portal, portals.sides[portal, side],
                    ax, ay, bx, by, intervals.slope[node], goals, to_x, to_y,
                )  # fmt: skip
    return limit
