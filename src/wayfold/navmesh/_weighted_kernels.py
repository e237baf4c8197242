# mypy: ignore-errors
"""Cheapest paths where areas cost differently, and a certified lower bound on their cost.

A path is a sequence of crossings, points of portals. The search takes them from a few points of each chosen portal, its
ends among them, and also walks along portals, on the cheaper side. Then the crossings that it found move to where the
path is cheapest (`geometry.chain_kernels`), and those that a straight walk can do without are left out.

Nodes of the search: point j of the n-th chosen portal is n * m + j, then come the start, the goal, and the links.

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
from wayfold.geometry.chain_kernels import reach, settle
from wayfold.geometry.plane_kernels import point_segment2
from wayfold.graph.search_kernels import BUDGET_EXHAUSTED, FOUND, UNREACHABLE, begin, drop_top, offer
from wayfold.navmesh._ground_kernels import height_at
from wayfold.navmesh._price_kernels import LENIENT, STRICT, price

ALONG = -1  # instead of a polygon: the step leads along a portal

_GAIN = 1e-9  # relative: a straight walk may be dearer by this much than one with more corners
_SAME_SHARE = 1e-3  # points of a portal nearer to each other than this are one: the optimum around them is the same


class Region(NamedTuple):
    """The part of a mesh that is searched."""

    inside: np.ndarray  # (p,) uint8, 1 for polygons of the region; all 0 between queries
    polygons: np.ndarray  # (p,) int32, the polygons of the region, in the order in which they were found
    local: np.ndarray  # (k,) int32, number of each portal among the chosen ones; all -1 between queries
    chosen: np.ndarray  # (k,) int32, portals with both sides in the region


class PortalCrossings(NamedTuple):
    """Points of the chosen portals."""

    shares: np.ndarray  # (m,) float64, where they lie on a portal, from 0 to 1; m is odd, 3 or more
    share: np.ndarray  # (n m,) float64, where each of them lies
    places: np.ndarray  # (n m, 2) float64
    via: np.ndarray  # (nodes,) int32, polygon through which the search reached a node, or ALONG


@kernel
def widen(portals, prices, links, seeds, doors, region):
    """Grow a region from polygons (open ones) until it has about so many `doors`; returns polygons and portals in it.

    Ring by ring, over links too, so a mesh that is small enough is in it as a whole.
    """
    count, used = 0, 0
    for polygon in seeds:
        if region.inside[polygon] == 0:
            region.inside[polygon] = 1
            region.polygons[count] = polygon
            count += 1
            used += portals.rows[polygon + 1] - portals.rows[polygon]
    at = 0
    while at < count and used < doors:
        here = region.polygons[at]
        at += 1
        for k in range(portals.rows[here], portals.rows[here + 1]):
            portal = portals.doors[k]
            one, two = portals.sides[portal, 0], portals.sides[portal, 1]
            other = two if one == here else one
            if region.inside[other] == 0 and prices.rates[prices.areas[other]] < np.inf:
                region.inside[other] = 1
                region.polygons[count] = other
                count += 1
                used += portals.rows[other + 1] - portals.rows[other]
        for link in range(links.offsets[here], links.offsets[here + 1]):
            other = links.targets[link]
            if region.inside[other] == 0 and prices.rates[prices.areas[other]] < np.inf:
                region.inside[other] = 1
                region.polygons[count] = other
                count += 1
                used += portals.rows[other + 1] - portals.rows[other]
    chosen = 0
    for at in range(count):
        here = region.polygons[at]
        for k in range(portals.rows[here], portals.rows[here + 1]):
            portal = portals.doors[k]
            if (
                region.local[portal] < 0
                and region.inside[portals.sides[portal, 0]]
                and region.inside[portals.sides[portal, 1]]
            ):
                region.local[portal] = chosen
                region.chosen[chosen] = portal
                chosen += 1
    return count, chosen


@kernel
def leave(region, count, chosen):
    """Clear a region for the next query."""
    for at in range(count):
        region.inside[region.polygons[at]] = 0
    for at in range(chosen):
        region.local[region.chosen[at]] = -1


@inline
def _ends(ground, twins, portals, portal):
    """Vertices at share 0 and 1 of a portal."""
    edge = portals.edges[portal]
    return ground.corners[edge], ground.corners[twins[edge]]


@inline
def _along(portals, prices, portal):
    """Cost of a metre along a portal: the cheaper side."""
    one, two = prices.areas[portals.sides[portal, 0]], prices.areas[portals.sides[portal, 1]]
    return min(prices.rates[one], prices.rates[two])


@inline
def _apart(ax, ay, bx, by):
    return np.sqrt((ax - bx) * (ax - bx) + (ay - by) * (ay - by))


@inline
def _among(polygon, polygons):
    """Whether a polygon is one of a few."""
    for other in polygons:
        if other == polygon:
            return True
    return False


@inline
def _offer(state, clock, size, node, parent, total, ahead, via, polygon):
    """Offer a way to a node through a polygon, which `via` remembers; returns the heap's new size."""
    size, taken = offer(state, clock, size, node, parent, total, ahead)
    if taken:
        via[node] = polygon
    return size


@helper
def _cross(
    portals, prices, links, region, crossings, count, state, clock, size, node, own, polygon, x, y, goals, to_x, to_y,
    scale,
):  # fmt: skip
    """Offer all ways from a node at (x, y) through a polygon, but to its `own` portal; returns the heap's new size."""
    points = crossings.shares.size
    rate = prices.rates[prices.areas[polygon]]
    total = state.cost[node]
    if _among(polygon, goals):
        further = total + rate * _apart(x, y, to_x, to_y)
        size = _offer(state, clock, size, count * points + 1, node, further, 0.0, crossings.via, polygon)
    for k in range(portals.rows[polygon], portals.rows[polygon + 1]):
        portal = portals.doors[k]
        first = region.local[portal]
        if first < 0 or portal == own:
            continue
        for other in range(first * points, first * points + points):
            px, py = crossings.places[other, 0], crossings.places[other, 1]
            further = total + rate * _apart(x, y, px, py)
            if state.stamp[other] > clock and further >= state.cost[other]:
                continue
            ahead = scale * _apart(px, py, to_x, to_y)
            size = _offer(state, clock, size, other, node, further, ahead, crossings.via, polygon)
    for link in range(links.offsets[polygon], links.offsets[polygon + 1]):
        if not prices.rates[prices.areas[links.targets[link]]] < np.inf:
            continue
        further = total + rate * _apart(x, y, links.starts[link, 0], links.starts[link, 1]) + links.costs[link]
        ahead = scale * _apart(links.ends[link, 0], links.ends[link, 1], to_x, to_y)
        size = _offer(state, clock, size, count * points + 2 + link, node, further, ahead, crossings.via, polygon)
    return size


@helper
def _pin(ground, twins, portals, region, crossings, polygon, x, y, aside):
    """Put a point of each portal of a polygon where (x, y) is nearest to it, or as far beside that as (x, y) is away.

    On a long portal none may be there otherwise. A point that was put somewhere has 2 added to its share.
    """
    points = crossings.shares.size
    for k in range(portals.rows[polygon], portals.rows[polygon + 1]):
        portal = portals.doors[k]
        first = region.local[portal] * points
        if first < 0:
            continue
        a, b = _ends(ground, twins, portals, portal)
        ux, uy = ground.vertices[b, 0] - ground.vertices[a, 0], ground.vertices[b, 1] - ground.vertices[a, 1]
        px, py = x - ground.vertices[a, 0], y - ground.vertices[a, 1]
        length2 = ux * ux + uy * uy
        share = (px * ux + py * uy + aside * abs(ux * py - uy * px)) / length2
        if not 0.0 < share < 1.0:
            continue
        best, nearest = -1, np.inf
        for node in range(first + 1, first + points - 1):
            known = crossings.share[node]
            if known >= 2.0 and abs(known - 2.0 - share) < _SAME_SHARE:
                best = -1  # there is one: others stay where they are
                break
            if abs(known - share) < nearest and known < 2.0:
                best, nearest = node, abs(known - share)
        if best >= 0:
            crossings.share[best] = 2.0 + share


@helper
def _place_points(ground, twins, portals, links, region, crossings, polygons, count, starts, x, y, goals, to_x, to_y):
    """Place the points of all chosen portals."""
    points = crossings.shares.size
    share = crossings.share
    for node in range(count * points):
        share[node] = crossings.shares[node % points]
    for aside in (0.0, -1.0, 1.0):
        for polygon in starts:
            _pin(ground, twins, portals, region, crossings, polygon, x, y, aside)
        for polygon in goals:
            _pin(ground, twins, portals, region, crossings, polygon, to_x, to_y, aside)
    for at in range(polygons if links.costs.size > 0 else 0):
        here = region.polygons[at]
        for link in range(links.offsets[here], links.offsets[here + 1]):
            sx, sy, ex, ey = links.starts[link, 0], links.starts[link, 1], links.ends[link, 0], links.ends[link, 1]
            _pin(ground, twins, portals, region, crossings, here, sx, sy, 0.0)
            _pin(ground, twins, portals, region, crossings, links.targets[link], ex, ey, 0.0)
    for first in range(count):
        a, b = _ends(ground, twins, portals, region.chosen[first])
        ax, ay = ground.vertices[a, 0], ground.vertices[a, 1]
        bx, by = ground.vertices[b, 0], ground.vertices[b, 1]
        for node in range(first * points, first * points + points):
            s = share[node]
            if s >= 2.0:
                s -= 2.0
            at = node  # in order: walks along the portal lead from one to the next
            while at > first * points and share[at - 1] > s:
                share[at] = share[at - 1]
                at -= 1
            share[at] = s
        for node in range(first * points, first * points + points):
            s = share[node]
            crossings.places[node, 0] = (1.0 - s) * ax + s * bx
            crossings.places[node, 1] = (1.0 - s) * ay + s * by


@kernel
def search_crossings(
    ground, twins, portals, prices, links, region, crossings, polygons, count, state, starts, x, y, goals, to_x, to_y,
    scale, budget,
):  # fmt: skip
    """Cheapest way over points of `count` chosen portals of a region of `polygons`; returns (status, settled nodes).

    `starts` and `goals` are the polygons that hold the start and the goal. `scale` makes the straight distance to the
    goal a lower bound. `state` needs room for all nodes in its heap.
    """
    points = crossings.shares.size
    _place_points(ground, twins, portals, links, region, crossings, polygons, count, starts, x, y, goals, to_x, to_y)
    source = count * points
    clock = begin(state, source)
    size, settled = 1, 0
    while size > 0:
        node = state.nodes[0]
        size = drop_top(state, size)
        if node == source + 1:
            return FOUND, settled
        if settled >= budget:
            return BUDGET_EXHAUSTED, settled
        settled += 1
        if node == source:
            for polygon in starts:
                size = _cross(
                    portals, prices, links, region, crossings, count, state, clock, size, node, -1, polygon, x, y,
                    goals, to_x, to_y, scale,
                )  # fmt: skip
        elif node > source:
            link = node - source - 2
            size = _cross(
                portals, prices, links, region, crossings, count, state, clock, size, node, -1, links.targets[link],
                links.ends[link, 0], links.ends[link, 1], goals, to_x, to_y, scale,
            )  # fmt: skip
        else:
            portal = region.chosen[node // points]
            px, py = crossings.places[node, 0], crossings.places[node, 1]
            came = crossings.via[node]
            for side in range(2):
                polygon = portals.sides[portal, side]
                if polygon != came:  # back into the polygon that it came through: a straight walk is shorter
                    size = _cross(
                        portals, prices, links, region, crossings, count, state, clock, size, node, portal, polygon,
                        px, py, goals, to_x, to_y, scale,
                    )  # fmt: skip
            rate = _along(portals, prices, portal)
            for other in (node - 1, node + 1):
                if other >= 0 and other // points == node // points:
                    qx, qy = crossings.places[other, 0], crossings.places[other, 1]
                    further = state.cost[node] + rate * _apart(px, py, qx, qy)
                    ahead = scale * _apart(qx, qy, to_x, to_y)
                    size = _offer(state, clock, size, other, node, further, ahead, crossings.via, ALONG)
    return UNREACHABLE, settled


class Line(NamedTuple):
    """A path that is being made; `capacity` points."""

    points: np.ndarray  # (capacity, 3) float64
    first: np.ndarray  # (capacity,) int32, polygon in which the leg to the next point begins; -1 - link over a link
    last: np.ndarray  # (capacity,) int32, polygon in which it ends
    weights: np.ndarray  # (capacity,) float64, cost of a metre of it
    pair: np.ndarray  # (2, 2) float64, scratch


@kernel
def lay(ground, twins, portals, prices, links, region, crossings, count, trail, start, goal, chain, line, polygons):
    """Turn a trail of search nodes into a chain, with its legs in `line`; returns the numbers of points and polygons.

    `trail` (t,) int32 leads from the start to the goal; `chain` and `line` have room for two points a node. `polygons`
    (t + 1,) int32 gets those on the way.
    """
    points = crossings.shares.size
    source = count * points
    used, passed = 0, 0
    for at in range(trail.size):
        node = trail[at]
        via = crossings.via[node]
        portal = region.chosen[node // points] if node < source else -1
        if at > 0:
            if via == ALONG:
                rate = _along(portals, prices, portal)
                beside = portals.sides[portal, 0]
                if prices.rates[prices.areas[beside]] > rate:
                    beside = portals.sides[portal, 1]
                if crossings.via[trail[at - 1]] == ALONG:
                    used -= 1  # on along the same portal
            else:
                rate, beside = prices.rates[prices.areas[via]], via
                if passed == 0 or polygons[passed - 1] != via:
                    polygons[passed] = via
                    passed += 1
            line.first[used - 1], line.last[used - 1], line.weights[used - 1] = beside, beside, rate
        chain.a[used], chain.b[used], chain.share[used] = -1, -1, 0.0
        if node < source:
            chain.a[used], chain.b[used] = _ends(ground, twins, portals, portal)
            chain.share[used] = crossings.share[node]
            chain.x[used], chain.y[used] = crossings.places[node, 0], crossings.places[node, 1]
        elif node == source:
            chain.x[used], chain.y[used] = start[0], start[1]
        elif node == source + 1:
            chain.x[used], chain.y[used] = goal[0], goal[1]
        else:
            link = node - source - 2
            chain.x[used], chain.y[used] = links.starts[link, 0], links.starts[link, 1]
            line.first[used], line.last[used], line.weights[used] = -1 - link, -1 - link, 0.0
            used += 1
            chain.a[used], chain.b[used], chain.share[used] = -1, -1, 0.0
            chain.x[used], chain.y[used] = links.ends[link, 0], links.ends[link, 1]
        used += 1
    for at in range(used):
        chain.tri[at] = at
    return used, passed


@inline
def _straight(ground, prices, line, a, b, first, last, front):
    """Cost of the straight walk from one point of a line to another."""
    pair = line.pair
    pair[0, 0], pair[0, 1] = line.points[a, 0], line.points[a, 1]
    pair[1, 0], pair[1, 1] = line.points[b, 0], line.points[b, 1]
    return price(ground, prices.areas, prices.rates, pair, first, last, prices.slack, STRICT, front)


@inline
def _span(line, a, b):
    """Distance of two points of a line."""
    return _apart(line.points[a, 0], line.points[a, 1], line.points[b, 0], line.points[b, 1])


@inline
def _copy_leg(line, source, target):
    line.first[target], line.last[target] = line.first[source], line.last[source]
    line.weights[target] = line.weights[source]


@kernel
def refine(ground, prices, links, chain, count, newton, line, start, goal, front):
    """Move the crossings of a chain to where it is cheapest, and leave out those that a straight walk can do without.

    Returns the number of points in `line` and the cost of walking along them, infinite where one cannot.
    """
    settle(ground.vertices, line.weights, chain, newton, 0, count - 1, reach(chain, 0, count - 1), True)
    points, first, last, weights = line.points, line.first, line.last, line.weights
    kept = 0
    for at in range(count):
        # Points that have become one; the ends of links stay.
        same = kept > 0 and chain.x[at] == points[kept - 1, 0] and chain.y[at] == points[kept - 1, 1]
        if same and at < count - 1 and first[kept - 1] >= 0 and first[at] >= 0:
            _copy_leg(line, at, kept - 1)
            continue
        points[kept, 0], points[kept, 1] = chain.x[at], chain.y[at]
        if at < count - 1:
            _copy_leg(line, at, kept)
        kept += 1
    count = kept
    kept = 1
    for at in range(1, count):
        # A corner goes where the straight walk past it costs no more.
        points[kept, 0], points[kept, 1] = points[at, 0], points[at, 1]
        while kept > 1 and first[kept - 1] >= 0 and first[kept - 2] >= 0:
            legs = weights[kept - 2] * _span(line, kept - 2, kept - 1) + weights[kept - 1] * _span(line, kept - 1, kept)
            legs *= 1.0 + _GAIN
            direct = _span(line, kept - 2, kept)
            if not min(weights[kept - 2], weights[kept - 1]) * direct <= legs:
                break
            cost = _straight(ground, prices, line, kept - 2, kept, first[kept - 2], last[kept - 1], front)
            if not cost <= legs:
                break
            last[kept - 2] = last[kept - 1]
            weights[kept - 2] = cost / direct if direct > 0.0 else 0.0
            points[kept - 1, 0], points[kept - 1, 1] = points[kept, 0], points[kept, 1]
            kept -= 1
        if at < count - 1:
            _copy_leg(line, at, kept)
        kept += 1
    count = kept
    total = 0.0
    begin_ = 0
    for at in range(count):
        if at == count - 1 or first[at] < 0:
            if at > begin_:
                total += price(
                    ground, prices.areas, prices.rates, points[begin_ : at + 1], first[begin_], last[at - 1],
                    prices.slack, LENIENT, front,
                )  # fmt: skip
            if at < count - 1:
                total += links.costs[-1 - first[at]]
            begin_ = at + 1
    for at in range(count):
        if at == 0 or at == count - 1:
            points[at, 2] = start[2] if at == 0 else goal[2]
        elif first[at] < 0:
            points[at, 2] = links.starts[-1 - first[at], 2]
        elif first[at - 1] < 0:
            points[at, 2] = links.ends[-1 - first[at - 1], 2]
        else:
            points[at, 2] = height_at(ground, first[at], points[at, 0], points[at, 1])
    return count, total


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
    one, two = prices.areas[portals.sides[portal, 0]], prices.areas[portals.sides[portal, 1]]
    return min(prices.rates[one], prices.rates[two])


@helper
def _cross_bound(
    portals, prices, links, intervals, state, clock, size, node, own, polygon, ax, ay, bx, by, slope, goals, to_x, to_y
):
    """Offer all ways through a polygon from an interval (or a point) of its `own` portal; returns the heap's size."""
    rate = prices.rates[prices.areas[polygon]]
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
        if prices.rates[prices.areas[links.targets[link]]] < np.inf:
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
            if polygon < 0 or not prices.rates[prices.areas[polygon]] < np.inf:
                continue
            rate = prices.rates[prices.areas[polygon]]
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
                if prices.rates[prices.areas[links.targets[link]]] < np.inf:
                    dx, dy = links.starts[link, 0] - fx, links.starts[link, 1] - fy
                    sx, sy = _slowness(rate, lower, px, py, qx, qy, dx, dy)
                    total = state.cost[node] + sx * dx + sy * dy + links.costs[link]
                    size, _ = offer(state, clock, size, source + 2 + link, node, total, 0.0)


@helper
def _level_beside(portals, prices, intervals, polygon, x, y):
    """Make slopes so small that no step between a point of a polygon and its portals costs less than nothing."""
    ends = intervals.ends
    cells = ends.shape[1] - 1
    for k in range(portals.rows[polygon], portals.rows[polygon + 1]):
        portal = portals.doors[k]
        low = _lower(portals, prices, portal)
        for j in range(cells):
            number = portal * cells + j
            slope = intervals.slope[number]
            if slope == 0.0:
                continue
            ax, ay, bx, by = ends[portal, j, 0], ends[portal, j, 1], ends[portal, j + 1, 0], ends[portal, j + 1, 1]
            room = low * _gap(x, y, x, y, ax, ay, bx, by)
            intervals.slope[number] = min(room, max(-room, slope))


@kernel
def level(portals, prices, links, intervals, starts, x, y, goals, to_x, to_y):
    """Make slopes so small that no step costs less than nothing, also those from and to start, goal and links."""
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
    for polygon in starts:
        _level_beside(portals, prices, intervals, polygon, x, y)
    for polygon in goals:
        _level_beside(portals, prices, intervals, polygon, to_x, to_y)
    for polygon in range(links.offsets.size - 1):
        for link in range(links.offsets[polygon], links.offsets[polygon + 1]):
            _level_beside(portals, prices, intervals, polygon, links.starts[link, 0], links.starts[link, 1])
            target = links.targets[link]
            _level_beside(portals, prices, intervals, target, links.ends[link, 0], links.ends[link, 1])


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
                size = _cross_bound(
                    portals, prices, links, intervals, state, clock, size, node, -1, polygon, x, y, x, y, 0.0, goals,
                    to_x, to_y,
                )  # fmt: skip
        elif node > source:
            link = node - source - 2
            ex, ey = links.ends[link, 0], links.ends[link, 1]
            size = _cross_bound(
                portals, prices, links, intervals, state, clock, size, node, -1, links.targets[link], ex, ey, ex, ey,
                0.0, goals, to_x, to_y,
            )  # fmt: skip
        else:
            portal, j = node // cells, node % cells
            ax, ay, bx, by = ends[portal, j, 0], ends[portal, j, 1], ends[portal, j + 1, 0], ends[portal, j + 1, 1]
            for side in range(2):
                size = _cross_bound(
                    portals, prices, links, intervals, state, clock, size, node, portal, portals.sides[portal, side],
                    ax, ay, bx, by, intervals.slope[node], goals, to_x, to_y,
                )  # fmt: skip
    return limit
