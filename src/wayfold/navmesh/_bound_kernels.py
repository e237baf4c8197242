# mypy: ignore-errors
"""A certified lower bound on what a path costs where kinds of area cost differently.

Portals are cut into intervals, and the search goes from interval to interval. Between two of them no walk through a
polygon is shorter than their distance, so the cheapest way over intervals is a lower bound on all paths. What is lost
is the way inside intervals. A walk along a portal is one step, from the interval where it arrives to the one where it
leaves: step by step from neighbour to neighbour it would cost nothing.

Nodes: interval j of portal k is k * m + j as a walk through a polygon arrives there, and as many more as a walk along
the portal does; then come the start, the goal, and the links.
"""

import numpy as np

from wayfold._jit import helper, inline, kernel
from wayfold.graph._kernels import begin, drop_top, sift_up


@inline
def _point_gap(x, y, ax, ay, bx, by):
    """Squared distance of a point from a segment."""
    ux, uy = bx - ax, by - ay
    px, py = x - ax, y - ay
    square = ux * ux + uy * uy
    t = min(1.0, max(0.0, (px * ux + py * uy) / square)) if square > 0.0 else 0.0
    px, py = px - t * ux, py - t * uy
    return px * px + py * py


@inline
def _gap(ax, ay, bx, by, cx, cy, dx, dy):
    """Distance of two segments that do not cross."""
    near = min(_point_gap(ax, ay, cx, cy, dx, dy), _point_gap(bx, by, cx, cy, dx, dy))
    return np.sqrt(min(near, min(_point_gap(cx, cy, ax, ay, bx, by), _point_gap(dx, dy, ax, ay, bx, by))))


@inline
def _offer(state, clock, size, node, total):
    """Offer a way to a node; returns the heap's new size."""
    if state.stamp[node] > clock:
        at = state.place[node]
        if at < 0 or total >= state.cost[node]:
            return size
    else:
        at = size
        size += 1
        state.stamp[node] = clock + 1
    state.cost[node] = total
    sift_up(state, at, total, np.int32(node))
    return size


@helper
def _cross(portals, prices, links, ends, state, clock, size, total, own, polygon, ax, ay, bx, by, goals, to_x, to_y):
    """Offer all ways through a polygon from an interval (or a point) of its `own` portal; returns the heap's size."""
    rate = prices.rates[prices.kinds[polygon]]
    if not rate < np.inf:
        return size
    cells = ends.shape[1] - 1
    source = 2 * len(ends) * cells
    for goal in goals:
        if polygon == goal:
            away = np.sqrt(_point_gap(to_x, to_y, ax, ay, bx, by))
            size = _offer(state, clock, size, source + 1, total + rate * away)
    for k in range(portals.rows[polygon], portals.rows[polygon + 1]):
        portal = portals.doors[k]
        if portal == own:
            continue
        for j in range(cells):
            node = portal * cells + j
            if state.stamp[node] > clock and total >= state.cost[node]:
                continue
            cx, cy, dx, dy = ends[portal, j, 0], ends[portal, j, 1], ends[portal, j + 1, 0], ends[portal, j + 1, 1]
            size = _offer(state, clock, size, node, total + rate * _gap(ax, ay, bx, by, cx, cy, dx, dy))
    for link in range(links.offsets[polygon], links.offsets[polygon + 1]):
        if prices.rates[prices.kinds[links.targets[link]]] < np.inf:
            away = np.sqrt(_point_gap(links.starts[link, 0], links.starts[link, 1], ax, ay, bx, by))
            size = _offer(state, clock, size, source + 2 + link, total + rate * away + links.costs[link])
    return size


@kernel
def cut(ground, twins, portals, shares, ends):
    """Where the intervals of each portal end: `shares` (m + 1,) from 0 to 1, `ends` (k, m + 1, 2) is overwritten."""
    for portal in range(len(ends)):
        edge = portals.edges[portal]
        a, b = ground.corners[edge], ground.corners[twins[edge]]
        for j in range(shares.size):
            for axis in range(2):
                ends[portal, j, axis] = (1.0 - shares[j]) * ground.vertices[a, axis] + shares[j] * ground.vertices[
                    b, axis
                ]


@kernel
def bound(portals, prices, links, ends, state, starts, x, y, goals, to_x, to_y, limit):
    """Cost that no path from the start to the goal can be below, `limit` where that is all there is to say.

    `starts` and `goals` are the polygons that hold the start and the goal.
    """
    cells = ends.shape[1] - 1
    half = len(ends) * cells
    source = 2 * half
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
                    portals, prices, links, ends, state, clock, size, total, -1, polygon, x, y, x, y, goals, to_x, to_y
                )
            continue
        if node > source:
            link = node - source - 2
            ex, ey = links.ends[link, 0], links.ends[link, 1]
            size = _cross(
                portals, prices, links, ends, state, clock, size, total, -1, links.targets[link], ex, ey, ex, ey, goals,
                to_x, to_y,
            )  # fmt: skip
            continue
        arrived = node < half
        if not arrived:
            node -= half
        portal, j = node // cells, node % cells
        ax, ay, bx, by = ends[portal, j, 0], ends[portal, j, 1], ends[portal, j + 1, 0], ends[portal, j + 1, 1]
        one, two = portals.sides[portal, 0], portals.sides[portal, 1]
        along = min(prices.rates[prices.kinds[one]], prices.rates[prices.kinds[two]])
        if arrived:
            for other in range(cells):
                if other != j:
                    near, far = (bx, by), ends[portal, other]
                    if other < j:
                        near, far = (ax, ay), ends[portal, other + 1]
                    away = np.sqrt((near[0] - far[0]) * (near[0] - far[0]) + (near[1] - far[1]) * (near[1] - far[1]))
                    size = _offer(state, clock, size, half + portal * cells + other, total + along * away)
        elif state.stamp[node] > clock and state.cost[node] <= total:
            continue  # a walk through a polygon got there at least as cheaply
        for polygon in (one, two):
            size = _cross(
                portals, prices, links, ends, state, clock, size, total, portal, polygon, ax, ay, bx, by, goals, to_x,
                to_y,
            )  # fmt: skip
    return limit
