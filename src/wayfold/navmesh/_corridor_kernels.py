# mypy: ignore-errors
"""Corridors: A* from portal to portal, and the funnel that pulls a string through them.

A node is an edge of the mesh that one steps over (its number), and stands for its middle. Two more nodes are the start
(number m) and the goal (m + 1), and every link has one (m + 2 + link), which stands for its end.
"""

from typing import NamedTuple

import numpy as np

from wayfold._jit import implements, inline, kernel
from wayfold.graph._kernels import cost, distance, slots, target


class Links(NamedTuple):
    """Ways between polygons that leave the mesh, sorted by the polygon where they start."""

    offsets: np.ndarray  # (p + 1,) int64
    starts: np.ndarray  # (l, 3) float64
    ends: np.ndarray  # (l, 3) float64
    targets: np.ndarray  # (l,) int32, polygon of the end
    costs: np.ndarray  # (l,) float64


class PortalSpace(NamedTuple):
    """A query on the mesh as the shared search sees it."""

    offsets: np.ndarray  # (p + 1,) int64
    neighbours: np.ndarray  # (m,) int32
    owners: np.ndarray  # (m,) int32, polygon of each edge
    middles: np.ndarray  # (m, 3) float32
    kinds: np.ndarray  # (p,) uint8
    rates: np.ndarray  # (256,) float64, cost of a metre in each kind of area; infinite where it is closed
    links: Links
    start: int  # polygon
    goal: int  # polygon
    start_x: float
    start_y: float
    start_z: float
    goal_x: float
    goal_y: float
    goal_z: float


@inline
def entered(space, node):
    """The polygon that one is in after a node."""
    size = space.neighbours.size
    if node < size:
        return space.neighbours[node]
    if node == size:
        return np.int32(space.start)
    if node == size + 1:
        return np.int32(space.goal)
    return space.links.targets[node - size - 2]


@inline
def place(space, node):
    """Where a node stands."""
    size = space.neighbours.size
    if node < size:
        middle = space.middles[node]
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
    # One slot for the goal, then the edges of the polygon, then its links.
    if node == space.neighbours.size + 1:
        return 0, 0
    polygon = entered(space, node)
    edges = space.offsets[polygon + 1] - space.offsets[polygon]
    return 0, 1 + edges + space.links.offsets[polygon + 1] - space.links.offsets[polygon]


@implements(target, PortalSpace)
def _(space, node, slot):
    polygon = entered(space, node)
    size = space.neighbours.size
    if slot == 0:
        return np.int32(size + 1) if polygon == space.goal else np.int32(-1)
    edges = space.offsets[polygon + 1] - space.offsets[polygon]
    if slot > edges:
        link = space.links.offsets[polygon] + slot - 1 - edges
        if not space.rates[space.kinds[space.links.targets[link]]] < np.inf:
            return np.int32(-1)
        return np.int32(size + 2 + link)
    edge = space.offsets[polygon] + slot - 1
    ahead = space.neighbours[edge]
    if ahead < 0 or not space.rates[space.kinds[ahead]] < np.inf or (node < size and ahead == space.owners[node]):
        return np.int32(-1)
    return np.int32(edge)


@implements(cost, PortalSpace)
def _(space, node, slot, successor):
    x, y, z = place(space, node)
    rate = space.rates[space.kinds[entered(space, node)]]
    link = successor - space.neighbours.size - 2
    if link >= 0:
        start = space.links.starts[link]
        return rate * _straight(x, y, z, start[0], start[1], start[2]) + space.links.costs[link]
    to_x, to_y, to_z = place(space, successor)
    return rate * _straight(x, y, z, to_x, to_y, to_z)


@implements(distance, PortalSpace)
def _(space, node, goal):
    x, y, z = place(space, node)
    return _straight(x, y, z, space.goal_x, space.goal_y, space.goal_z)


@inline
def _cross(ax, ay, bx, by, cx, cy):
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


@kernel
def funnel(vertices, ground_corners, nexts, portals, start_x, start_y, goal_x, goal_y, corners):
    """The shortest way through a corridor; writes its corners (vertex numbers) and returns how many there are.

    `portals` (k,) int32 are the edges that are crossed, in order; `nexts` (m,) int32 is the next edge around each
    polygon. Left of an edge, going out over it, is its end, right its start.
    """
    count = 0
    apex_x, apex_y = start_x, start_y
    # Vertex numbers, -1 while the funnel has no portal yet. A side that ends at the apex does not bound anything.
    left, right = -1, -1
    left_at, right_at = 0, 0
    at = 0
    while at <= portals.size:
        if at < portals.size:
            new_right = ground_corners[portals[at]]
            new_left = ground_corners[nexts[portals[at]]]
            rx, ry = vertices[new_right, 0], vertices[new_right, 1]
            lx, ly = vertices[new_left, 0], vertices[new_left, 1]
        else:
            new_right, new_left = -2, -2  # the goal
            rx, ry, lx, ly = goal_x, goal_y, goal_x, goal_y
        if left == -1:
            left, right, left_at, right_at = new_left, new_right, at, at
            left_x, left_y, right_x, right_y = lx, ly, rx, ry
            at += 1
            continue
        if _cross(apex_x, apex_y, right_x, right_y, rx, ry) >= 0.0:
            if (apex_x == left_x and apex_y == left_y) or _cross(apex_x, apex_y, left_x, left_y, rx, ry) < 0.0:
                right, right_at, right_x, right_y = new_right, at, rx, ry
            else:
                # The right side came over the left: the left corner is on the way.
                if left == -2:
                    break
                corners[count] = left
                count += 1
                apex_x, apex_y = left_x, left_y
                at = left_at + 1
                left = -1
                continue
        if _cross(apex_x, apex_y, left_x, left_y, lx, ly) <= 0.0:
            if (apex_x == right_x and apex_y == right_y) or _cross(apex_x, apex_y, right_x, right_y, lx, ly) > 0.0:
                left, left_at, left_x, left_y = new_left, at, lx, ly
            else:
                if right == -2:
                    break
                corners[count] = right
                count += 1
                apex_x, apex_y = right_x, right_y
                at = right_at + 1
                left = -1
                continue
        at += 1
    return count
