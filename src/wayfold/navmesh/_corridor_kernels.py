# mypy: ignore-errors
"""Corridors: A* from portal to portal, and the corridor that it gives, ready for the funnel.

A *portal* is an edge that two polygons share; it is one node of the search, whichever way it is crossed, and stands for
its middle. From a portal one can walk to every other portal of the two polygons beside it. Two more nodes are the start
(number k, after the k portals) and the goal (k + 1), and every link has one (k + 2 + link), which stands for its end.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import implements, inline, kernel
from wayfold.graph._kernels import cost, distance, slots, target


class Links(NamedTuple):
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
    kinds: np.ndarray  # (p,) uint8
    rates: np.ndarray  # (256,) float64, cost of a metre in each kind of area; infinite where it is closed
    even: float  # the one rate of all kinds of area that occur, 0 where they differ
    links: Links
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
    if polygon < 0 or (space.even == 0.0 and not space.rates[space.kinds[polygon]] < np.inf):
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
    if not max(space.rates[space.kinds[one]], space.rates[space.kinds[space.links.targets[link]]]) < np.inf:
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
        rate = space.rates[space.kinds[polygon]]
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
def graph_rows(portals, centres, kinds, rates, targets, costs):
    """Write the rows of the graph of polygons: a step from centre to centre leads through the middle of a portal.

    `targets` and `costs` have an entry for each door; the rows begin at `Portals.rows`.
    """
    middles = portals.middles
    for polygon in range(kinds.size):
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
                costs[at] = rates[kinds[other]] * there + rates[kinds[polygon]] * here
            else:
                costs[at] = rates[kinds[polygon]] * here + rates[kinds[other]] * there


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
