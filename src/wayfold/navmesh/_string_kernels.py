# mypy: ignore-errors
"""Strings pulled through corridors of polygons: where each portal is crossed, what the way costs, links in between."""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline, kernel
from wayfold.geometry._funnel_kernels import pull_string
from wayfold.navmesh._price_kernels import LENIENT, Front, flat_length, price


class Strings(NamedTuple):
    """Scratch for corridors of up to k crossings."""

    ends: np.ndarray  # (k, 6) float64, left x, y, z, right x, y, z of each portal, as seen by one who walks through it
    over: np.ndarray  # (k,) int32, the link that is used instead of a portal, -1 where a portal is crossed
    flat: np.ndarray  # (k, 4) float64, the portals of a leg seen from above
    corners: np.ndarray  # (k + 2, 2) float64
    portal_of: np.ndarray  # (k + 2,) int64
    front: Front


class Prices(NamedTuple):
    """What a walk over the mesh costs."""

    kinds: np.ndarray  # (p,) uint8
    rates: np.ndarray  # (256,) float64, cost of a metre in each kind of area; infinite where it is closed
    even: float  # the one rate of all open kinds that occur, 0 where they differ
    slack: float  # metres by which a computed point may be off


@helper
def weigh(ground, prices, portals, points, portal_of, polygons, front):
    """Cost of a pulled string: the integral along it, infinite where a polygon of its corridor is closed.

    `portals` (k, 4), `points` and `portal_of` are those of the funnel; `polygons` (k + 1,) lie between the portals.
    """
    kinds, rates = prices.kinds, prices.rates
    for polygon in polygons:
        if not rates[kinds[polygon]] < np.inf:
            return np.inf
    if prices.even > 0.0:
        return prices.even * flat_length(points)
    total = price(ground, kinds, rates, points, polygons[0], polygons[-1], prices.slack, LENIENT, front)
    if total < np.inf:
        return total
    # Never seen: a string that is lost between polygons. Its corridor says where it should be.
    total = 0.0
    for at in range(len(points) - 1):
        ax, ay = points[at, 0], points[at, 1]
        dx, dy = points[at + 1, 0] - ax, points[at + 1, 1] - ay
        length = np.sqrt(dx * dx + dy * dy)
        done = 0.0
        for portal in range(portal_of[at] + 1, portal_of[at + 1] + 1):
            part = 1.0
            if portal < portal_of[at + 1]:
                ux, uy = portals[portal, 0] - portals[portal, 2], portals[portal, 1] - portals[portal, 3]
                speed = dx * uy - dy * ux
                if speed != 0.0:
                    part = ((portals[portal, 2] - ax) * uy - (portals[portal, 3] - ay) * ux) / speed
                part = min(1.0, max(done, part))
            if part > done:
                total += rates[kinds[polygons[portal]]] * (part - done) * length
                done = part
    return total


@helper
def lift(ends, points, portal_of, lifted):
    """Corners of a pulled string as points in space: each is the left or the right end of the portal that it is at."""
    for at in range(len(points)):
        row = ends[portal_of[at]]
        side = 0 if points[at, 0] == row[0] and points[at, 1] == row[1] else 3
        lifted[at, 0], lifted[at, 1], lifted[at, 2] = row[side], row[side + 1], row[side + 2]


@kernel
def distinct(points):
    """Take immediate repetitions out of (k, 3) points, in place; return how many stay. First and last always do."""
    last = len(points) - 1
    kept = 1
    for at in range(1, last):
        x, y, z = points[at, 0], points[at, 1], points[at, 2]
        if x == points[kept - 1, 0] and y == points[kept - 1, 1] and z == points[kept - 1, 2]:
            continue
        if at == last - 1 and x == points[last, 0] and y == points[last, 1]:
            continue
        points[kept, 0], points[kept, 1], points[kept, 2] = x, y, z
        kept += 1
    for k in range(3):
        points[kept, k] = points[last, k]
    return kept + 1


@kernel
def pull(ground, prices, strings, count, polygons, links, start, goal, points):
    """Pull a string through `count` portals and links, which lie in `strings`.

    Parameters
    ----------
    polygons : (count + 1,) int32
        Between the portals and links.
    start, goal : (3,) float64
    points : (2 count + 2, 3) float64
        Overwritten with the start, the corners and the goal.

    Returns
    -------
    (number of points, cost)
    """
    points[0, 0], points[0, 1], points[0, 2] = start[0], start[1], start[2]
    used, cost, begin = 1, 0.0, 0
    for at in range(count + 1):
        if at < count and strings.over[at] < 0:
            continue
        leg = at - begin
        end = goal if at == count else links.starts[strings.over[at]]
        flat, portal_of = strings.flat[:leg], strings.portal_of
        for k in range(leg):
            row = strings.ends[begin + k]
            flat[k, 0], flat[k, 1], flat[k, 2], flat[k, 3] = row[0], row[1], row[3], row[4]
        found = pull_string(flat, points[used - 1], end, strings.corners, portal_of)
        cost += weigh(
            ground, prices, flat, strings.corners[:found], portal_of[:found], polygons[begin : at + 1], strings.front
        )
        last = found - 1 if portal_of[found - 1] == leg else found
        if last > 1:
            corners = strings.corners[1:last]
            lift(strings.ends[begin:at], corners, portal_of[1:last], points[used : used + last - 1])
            used += last - 1
        points[used, 0], points[used, 1], points[used, 2] = end[0], end[1], end[2]
        used += 1
        if at < count:
            link = strings.over[at]
            points[used, 0], points[used, 1], points[used, 2] = (
                links.ends[link, 0],
                links.ends[link, 1],
                links.ends[link, 2],
            )
            used += 1
            cost += links.costs[link]
        begin = at + 1
    return distinct(points[:used]), cost


@inline
def _apart(ax, ay, bx, by):
    return np.sqrt((ax - bx) * (ax - bx) + (ay - by) * (ay - by))


@helper
def _lay(ground, prices, twins, links, polygons, start, goal, strings):
    """Find the portal or link from each polygon to the next; returns whether there is always one.

    Two polygons may have several portals and links in common: of these the one that lies best between the place where
    the polygon was entered and the goal is taken.
    """
    vertices, corners = ground.vertices, ground.corners
    x, y = start[0], start[1]
    for at in range(polygons.size - 1):
        here, beyond = polygons[at], polygons[at + 1]
        rate = prices.rates[prices.kinds[here]]
        best, best_edge, best_link = np.inf, -1, -1
        for edge in range(ground.offsets[here], ground.offsets[here + 1]):
            if ground.neighbours[edge] != beyond:
                continue
            a, b = corners[edge], corners[twins[edge]]
            mx, my = 0.5 * (vertices[a, 0] + vertices[b, 0]), 0.5 * (vertices[a, 1] + vertices[b, 1])
            through = rate * (_apart(x, y, mx, my) + _apart(mx, my, goal[0], goal[1]))
            if through < best:
                best, best_edge = through, edge
        for link in range(links.offsets[here], links.offsets[here + 1]):
            if links.targets[link] != beyond:
                continue
            way = _apart(x, y, links.starts[link, 0], links.starts[link, 1])
            way += _apart(links.ends[link, 0], links.ends[link, 1], goal[0], goal[1])
            if rate * way + links.costs[link] < best:
                best, best_link = rate * way + links.costs[link], link
        strings.over[at] = best_link
        if best_link >= 0:
            x, y = links.ends[best_link, 0], links.ends[best_link, 1]
        elif best_edge >= 0:
            left, right = corners[twins[best_edge]], corners[best_edge]
            for k in range(3):
                strings.ends[at, k] = vertices[left, k]
                strings.ends[at, 3 + k] = vertices[right, k]
            x, y = 0.5 * (vertices[left, 0] + vertices[right, 0]), 0.5 * (vertices[left, 1] + vertices[right, 1])
        else:
            return False
    return True


@kernel
def pull_many(ground, prices, twins, links, nodes, offsets, starts, goals, first, last, strings, points, counts, costs):
    """Pull strings through the corridors `first` to `last - 1`; returns the number of points of all of them.

    Parameters
    ----------
    nodes, offsets
        Corridor i goes through the polygons ``nodes[offsets[i]:offsets[i + 1]]``.
    starts, goals : (q, 3) float64
        Places in the first and in the last polygon of each corridor.
    points : (k, 3) float64
        Overwritten with the points of all, one path after the other; k is twice the number of their polygons.
    counts : (q,) int64
        Overwritten with the number of points of each; none where polygons that follow each other are not joined.
    costs : (q,) float64
        Overwritten with the cost of each, infinite where it has no points.
    """
    used = 0
    for query in range(first, last):
        polygons = nodes[offsets[query] : offsets[query + 1]]
        start, goal = starts[query], goals[query]
        counts[query], costs[query] = 0, np.inf
        if polygons.size > 0 and _lay(ground, prices, twins, links, polygons, start, goal, strings):
            room = points[used : used + 2 * polygons.size]
            count, cost = pull(ground, prices, strings, polygons.size - 1, polygons, links, start, goal, room)
            if cost < np.inf:
                counts[query], costs[query] = count, cost
                used += count
    return used
