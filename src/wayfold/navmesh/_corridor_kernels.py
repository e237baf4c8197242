# mypy: ignore-errors
"""Corridors: A* from portal to portal, and the path pulled through the corridor.

A *portal* is an edge that two polygons share; it is one node of the search, whichever way it is crossed, and stands for
its middle. From a portal one can walk to every other portal of the two polygons beside it. Two more nodes are the start
(number k, after the k portals) and the goal (k + 1), and every link has one (k + 2 + link), which stands for its end.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, implements, inline, kernel
from wayfold.geometry.funnel_kernels import pull_string
from wayfold.graph.search_kernels import cost, distance, slots, target
from wayfold.navmesh._price_kernels import LENIENT, Front, flat_length, price


class OffMeshLinks(NamedTuple):
    """Ways between polygons that leave the mesh, sorted by the polygon where they start."""

    offsets: np.ndarray  # (p + 1,) int64
    starts: np.ndarray  # (l, 3) float64
    ends: np.ndarray  # (l, 3) float64
    targets: np.ndarray  # (l,) int32, polygon of the end
    costs: np.ndarray  # (l,) float64


class Portals(NamedTuple):
    """The portals of a mesh, numbered by their edge in the polygon with the lower number."""

    firsts: np.ndarray  # (p + 1,) int64, first portal numbered by an edge of each polygon
    rows: np.ndarray  # (p + 1,) int64, first door of each polygon
    doors: np.ndarray  # (2 k,) int32, portals of each polygon, in the order of its edges
    edges: np.ndarray  # (k,) int32, edge of the lower polygon
    sides: np.ndarray  # (k, 2) int32, the lower polygon and the one beyond
    middles: np.ndarray  # (k, 3) float32


class PortalSpace(NamedTuple):
    """A query on the mesh as the shared search sees it."""

    portals: Portals
    areas: np.ndarray  # (p,) uint8
    rates: np.ndarray  # (256,) float64, cost of a metre in each kind of area; infinite where it is closed
    even: float  # the one rate of all areas that occur, 0 where they differ
    links: OffMeshLinks
    start: int  # polygon
    goal: int  # polygon
    start_x: float
    start_y: float
    start_z: float
    goal_x: float
    goal_y: float
    goal_z: float


@kernel
def number_portals(ground, twins, portals):
    """Fill in Portals; `twins` (m,) int32 is each edge's other side, -1 at walls."""
    vertices, offsets, corners = ground.vertices, ground.offsets, ground.corners
    firsts, rows, doors, edges = portals.firsts, portals.rows, portals.doors, portals.edges
    count, used = 0, 0
    for polygon in range(offsets.size - 1):
        firsts[polygon] = count
        rows[polygon] = used
        for edge in range(offsets[polygon], offsets[polygon + 1]):
            twin = twins[edge]
            if twin < 0:
                continue
            other = ground.neighbours[edge]
            number = count
            if edge < twin:
                edges[count] = edge
                portals.sides[count, 0] = polygon
                portals.sides[count, 1] = other
                a, b = corners[edge], corners[twin]
                for k in range(3):
                    portals.middles[count, k] = 0.5 * (vertices[a, k] + vertices[b, k])
                count += 1
            else:
                # The lower polygon has its row already: its portals to this one are few.
                for k in range(rows[other], rows[other + 1]):
                    if edges[doors[k]] == twin:
                        number = doors[k]
                        break
            doors[used] = number
            used += 1
    firsts[offsets.size - 1] = count
    rows[offsets.size - 1] = used


@inline
def _beside(space, node):
    """The polygons that one may walk in from a node; the second is -1 where there is only one."""
    size = len(space.portals.edges)
    if node < size:
        return space.portals.sides[node, 0], space.portals.sides[node, 1]
    if node == size:
        return np.int32(space.start), np.int32(-1)
    if node == size + 1:
        return np.int32(space.goal), np.int32(-1)
    return space.links.targets[node - size - 2], np.int32(-1)


@inline
def _row(space, polygon):
    """First and one past the last door of a polygon; none where it is closed."""
    if polygon < 0 or (space.even == 0.0 and not space.rates[space.areas[polygon]] < np.inf):
        return np.int64(0), np.int64(0)
    return space.portals.rows[polygon], space.portals.rows[polygon + 1]


@inline
def _place(space, node):
    """Where a node stands."""
    size = len(space.portals.edges)
    if node < size:
        middle = space.portals.middles[node]
        return np.float64(middle[0]), np.float64(middle[1]), np.float64(middle[2])
    if node == size:
        return space.start_x, space.start_y, space.start_z
    if node == size + 1:
        return space.goal_x, space.goal_y, space.goal_z
    end = space.links.ends[node - size - 2]
    return end[0], end[1], end[2]


@inline
def _straight(ax, ay, az, bx, by, bz):
    return np.sqrt((ax - bx) * (ax - bx) + (ay - by) * (ay - by) + (az - bz) * (az - bz))


@implements(slots, PortalSpace)
def _(space, node):
    # One slot for the goal, then the doors of the two polygons, then their links.
    if node == len(space.portals.edges) + 1:
        return 0, 0
    one, two = _beside(space, node)
    first, last = _row(space, one)
    count = 1 + last - first
    first, last = _row(space, two)
    count += last - first
    if space.links.costs.size > 0:
        count += space.links.offsets[one + 1] - space.links.offsets[one]
        if two >= 0:
            count += space.links.offsets[two + 1] - space.links.offsets[two]
    return 0, count


@implements(target, PortalSpace)
def _(space, node, slot):
    one, two = _beside(space, node)
    size = len(space.portals.edges)
    if slot == 0:
        return np.int32(size + 1) if one == space.goal or two == space.goal else np.int32(-1)
    slot -= 1
    first, last = _row(space, one)
    if slot < last - first:
        portal = space.portals.doors[first + slot]
        return np.int32(-1) if portal == node else portal
    slot -= last - first
    first, last = _row(space, two)
    if slot < last - first:
        portal = space.portals.doors[first + slot]
        return np.int32(-1) if portal == node else portal
    slot -= last - first
    if slot >= space.links.offsets[one + 1] - space.links.offsets[one]:
        slot -= space.links.offsets[one + 1] - space.links.offsets[one]
        one = two
    link = space.links.offsets[one] + slot
    if not max(space.rates[space.areas[one]], space.rates[space.areas[space.links.targets[link]]]) < np.inf:
        return np.int32(-1)
    return np.int32(size + 2 + link)


@implements(cost, PortalSpace)
def _(space, node, slot, successor):
    x, y, z = _place(space, node)
    size = len(space.portals.edges)
    rate = space.even
    if rate == 0.0:
        one, two = _beside(space, node)
        first, last = _row(space, one)
        polygon = one
        if successor > size + 1:
            polygon = one
            if successor - size - 2 < space.links.offsets[one] or successor - size - 2 >= space.links.offsets[one + 1]:
                polygon = two
        elif successor == size + 1:
            polygon = np.int32(space.goal)
        elif slot > last - first:
            polygon = two
        rate = space.rates[space.areas[polygon]]
    if successor > size + 1:
        link = successor - size - 2
        start = space.links.starts[link]
        return rate * _straight(x, y, z, start[0], start[1], start[2]) + space.links.costs[link]
    to_x, to_y, to_z = _place(space, successor)
    return rate * _straight(x, y, z, to_x, to_y, to_z)


@implements(distance, PortalSpace)
def _(space, node, goal):
    x, y, z = _place(space, node)
    return _straight(x, y, z, space.goal_x, space.goal_y, space.goal_z)


@inline
def _meets(space, node, polygon):
    """Whether one can walk from a node straight into a polygon."""
    one, two = _beside(space, node)
    return polygon == one or polygon == two


@kernel
def crossings(space, trail, vertices, corners, twins, over, ends, polygons):
    """The portals and links of a trail that are really crossed; returns their number.

    Parameters
    ----------
    trail : (t,) int32
        Nodes from the start to the goal. Between equally good ways it may visit a portal without going through it.
    over : (t,) int32
        Overwritten with the links that are used, -1 where a portal is crossed.
    ends : (t, 6) float64
        Overwritten with left x, y, z, right x, y, z of each crossed portal, as seen by one who walks through it.
    polygons : (t,) int32
        Overwritten with the polygons on the way, one more than there are crossed nodes.
    """
    size = len(space.portals.edges)
    here = np.int32(space.start)
    polygons[0] = here
    count = 0
    for at in range(1, trail.size - 1):
        node = trail[at]
        over[count] = -1
        if node > size + 1:
            over[count] = node - size - 2
            here = space.links.targets[node - size - 2]
        else:
            one, two = _beside(space, node)
            beyond = two if here == one else one
            # What follows is walked to in the polygon beyond, or else the portal is only passed by.
            following = trail[at + 1]
            if following > size + 1:
                link = following - size - 2
                through = space.links.offsets[beyond] <= link < space.links.offsets[beyond + 1]
            else:
                through = _meets(space, following, beyond)
            if not through:
                continue
            edge = space.portals.edges[node]
            left, right = corners[twins[edge]], corners[edge]
            if here != one:
                left, right = right, left
            for k in range(3):
                ends[count, k] = vertices[left, k]
                ends[count, 3 + k] = vertices[right, k]
            here = beyond
        count += 1
        polygons[count] = here
    return count


@kernel
def graph_rows(portals, centres, areas, rates, targets, costs):
    """Write the rows of the graph of polygons: a step from centre to centre leads through the middle of a portal.

    `targets` and `costs` have an entry for each door; the rows begin at `Portals.rows`.
    """
    middles = portals.middles
    for polygon in range(areas.size):
        x, y, z = centres[polygon, 0], centres[polygon, 1], centres[polygon, 2]
        for at in range(portals.rows[polygon], portals.rows[polygon + 1]):
            portal = portals.doors[at]
            one, two = portals.sides[portal, 0], portals.sides[portal, 1]
            other = two if one == polygon else one
            mx, my, mz = middles[portal, 0], middles[portal, 1], middles[portal, 2]
            here = _straight(x, y, z, mx, my, mz)
            there = _straight(centres[other, 0], centres[other, 1], centres[other, 2], mx, my, mz)
            targets[at] = other
            # The same sum from both sides, to the last bit.
            if other < polygon:
                costs[at] = rates[areas[other]] * there + rates[areas[polygon]] * here
            else:
                costs[at] = rates[areas[polygon]] * here + rates[areas[other]] * there


class PolygonSpace(NamedTuple):
    """Polygons and their neighbours, for components."""

    offsets: np.ndarray  # (p + 1,) int64
    neighbours: np.ndarray  # (m,) int32


@implements(slots, PolygonSpace)
def _(space, node):
    return space.offsets[node], space.offsets[node + 1]


@implements(target, PolygonSpace)
def _(space, node, slot):
    return space.neighbours[slot]


@implements(cost, PolygonSpace)
def _(space, node, slot, successor):
    return 1.0


class Strings(NamedTuple):
    """Scratch for corridors of up to k crossings."""

    ends: np.ndarray  # (k, 6) float64, left x, y, z, right x, y, z of each portal, as seen by one who walks through it
    over: np.ndarray  # (k,) int32, the link that is used instead of a portal, -1 where a portal is crossed
    flat: np.ndarray  # (k, 4) float64, the portals of a leg seen from above
    corners: np.ndarray  # (k + 2, 2) float64
    portal_of: np.ndarray  # (k + 2,) int64
    front: Front


class AreaPrices(NamedTuple):
    """What a walk over the mesh costs."""

    areas: np.ndarray  # (p,) uint8
    rates: np.ndarray  # (256,) float64, cost of a metre in each kind of area; infinite where it is closed
    even: float  # the one rate of all open areas that occur, 0 where they differ
    slack: float  # metres by which a computed point may be off


@helper
def weigh(ground, prices, portals, points, portal_of, polygons, front):
    """Cost of a pulled string: the integral along it, infinite where a polygon of its corridor is closed.

    `portals` (k, 4), `points` and `portal_of` are those of the funnel; `polygons` (k + 1,) lie between the portals.
    """
    areas, rates = prices.areas, prices.rates
    for polygon in polygons:
        if not rates[areas[polygon]] < np.inf:
            return np.inf
    if prices.even > 0.0:
        return prices.even * flat_length(points)
    total = price(ground, areas, rates, points, polygons[0], polygons[-1], prices.slack, LENIENT, front)
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
                total += rates[areas[polygons[portal]]] * (part - done) * length
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
        found = pull_string(flat, points[used - 1], end, prices.slack, strings.corners, portal_of)
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
        rate = prices.rates[prices.areas[here]]
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
