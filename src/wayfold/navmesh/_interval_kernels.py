# mypy: ignore-errors
"""Exact shortest paths: an interval search over the polygons, in the manner of Polyanya.

A search node is an interval of an edge, seen from a *root*: the last corner that the path turned at. Expanding it looks
through the interval into the polygon behind: what the root sees is passed on with the same root, what it does not see
only where an end of the interval is a corner of the mesh, which becomes the new root. Lengths are measured in the
plane; floors are told apart by the polygons, so the search is exact over any number of them.
"""

from typing import NamedTuple

import numpy as np

from wayfold._jit import inline, kernel
from wayfold.graph._kernels import BUDGET_EXHAUSTED, FOUND, UNREACHABLE, drop_top, sift_up
from wayfold.navmesh._sight_kernels import bend, length, seen_from, touches

POOL_FULL = 5  # the caller gives the search a larger pool and asks again

_SAME = 1e-11  # relative difference of lengths that counts as none


class Pool(NamedTuple):
    """Search nodes. The two ends of an interval are left and right seen from the root."""

    parent: np.ndarray  # (c,) int32
    polygon: np.ndarray  # (c,) int32, the polygon behind the interval
    edge: np.ndarray  # (c,) int32, the edge of that polygon which the interval lies on; -1 for a point inside
    root: np.ndarray  # (c,) int32, vertex; n + link after a link; -1 for the start
    ends: np.ndarray  # (c, 2) int32, vertex at the left and right end, -1 where it is none
    where: np.ndarray  # (c, 7) float64: left x, y, right x, y, root x, y, cost up to the root
    final: np.ndarray  # (c,) uint8, 1 where the path goes straight to the goal from here


class Heap(NamedTuple):
    """Open search nodes, for the shared heap functions."""

    keys: np.ndarray  # (c,) float64
    nodes: np.ndarray  # (c,) int32
    place: np.ndarray  # (c,) int32
    around: np.ndarray  # (c,) int32, scratch for the polygons around a point


class Roots(NamedTuple):
    """Cheapest way to each vertex (and link) that was a root in the running query."""

    cost: np.ndarray  # (n + links,) float64
    stamp: np.ndarray  # (n + links,) int64
    clock: np.ndarray  # (1,) int64


@inline
def _improves(roots, clock, root, total):
    """Whether a way to a root is as cheap as any so far, which is then noted."""
    if roots.stamp[root] == clock and total > roots.cost[root] * (1.0 + _SAME):
        return False
    if roots.stamp[root] != clock or total < roots.cost[root]:
        roots.stamp[root] = clock
        roots.cost[root] = total
    return True


@inline
def _add(plane, pool, used, goal, parent, edge, root, x, y, total, lx, ly, left, rx, ry, right):
    """Put a search node behind `edge` (seen from the polygon that is left) into the pool; returns the pool's new use.

    Nothing is added where nothing lies behind, or only a dead end. -1: the pool is full.
    """
    polygon = plane.ahead[edge]
    if polygon < 0 or (plane.exits[polygon] < 2 and polygon != goal):
        return used
    if used == pool.parent.size:
        return -1
    return _put(pool, used, parent, polygon, plane.twins[edge], root, left, right, lx, ly, rx, ry, x, y, total)


@inline
def _put(pool, used, parent, polygon, edge, root, left, right, lx, ly, rx, ry, x, y, total):
    pool.parent[used] = parent
    pool.polygon[used] = polygon
    pool.edge[used] = edge
    pool.root[used] = root
    pool.ends[used, 0] = left
    pool.ends[used, 1] = right
    row = pool.where[used]
    row[0], row[1], row[2], row[3], row[4], row[5], row[6] = lx, ly, rx, ry, x, y, total
    pool.final[used] = 0
    return used + 1


@inline
def _add_all(plane, pool, used, goal, parent, polygon, skip, root, x, y, total):
    """Search nodes for all edges of a polygon whose every point the root sees, but for edge `skip`."""
    first, last = plane.offsets[polygon], plane.offsets[polygon + 1]
    for edge in range(first, last):
        if edge == skip:
            continue
        a, b = plane.corners[edge], plane.corners[edge + 1 if edge + 1 < last else first]
        ax, ay, bx, by = plane.vertices[a, 0], plane.vertices[a, 1], plane.vertices[b, 0], plane.vertices[b, 1]
        used = _add(plane, pool, used, goal, parent, edge, root, x, y, total, bx, by, b, ax, ay, a)
        if used < 0:
            return used
    return used


@inline
def _add_around(plane, pool, used, goal, parent, polygon, root, x, y, total, around):
    """Search nodes for what lies around a point of a polygon that is no corner to turn at: the start, a link's end.

    A point on an edge or a vertex is in several polygons (`around` is scratch for them). They are all taken at once,
    since going from one to the next around a vertex would never end.
    """
    around[0] = polygon
    count, at = 1, 0
    while at < count:
        here = around[at]
        at += 1
        if here == goal:
            if used == pool.parent.size:
                return -1
            used = _put(pool, used, parent, goal, -1, root, -1, -1, x, y, x, y, x, y, total)
            pool.final[used - 1] = 1
        first, last = plane.offsets[here], plane.offsets[here + 1]
        for edge in range(first, last):
            a, b = plane.corners[edge], plane.corners[edge + 1 if edge + 1 < last else first]
            ax, ay, bx, by = plane.vertices[a, 0], plane.vertices[a, 1], plane.vertices[b, 0], plane.vertices[b, 1]
            if touches(bx, by, ax, ay, x, y) != 1:
                used = _add(plane, pool, used, goal, parent, edge, root, x, y, total, bx, by, b, ax, ay, a)
                if used < 0:
                    return used
                continue
            ahead = plane.ahead[edge]
            known = ahead < 0
            for k in range(count):
                known |= around[k] == ahead
            if not known:
                if count == around.size:
                    return -1
                around[count] = ahead
                count += 1
    return used


@inline
def _expand(plane, pool, used, goal, roots, clock, node, around):
    """Add the successors of a search node to the pool; returns the pool's new use, -1 when it is full."""
    where = pool.where[node]
    lx, ly, rx, ry, x, y, total = where[0], where[1], where[2], where[3], where[4], where[5], where[6]
    left, right, root = pool.ends[node, 0], pool.ends[node, 1], pool.root[node]
    polygon, entry = pool.polygon[node], pool.edge[node]
    if entry < 0:  # after a link: the root is a point of the polygon
        return _add_around(plane, pool, used, goal, node, polygon, root, x, y, total, around)
    touch = touches(lx, ly, rx, ry, x, y)
    if touch > 0:
        if touch == 1:
            # The root is the corner that the path turned at, or the start, around which everything was added at once.
            if root < 0 or root >= len(plane.vertices):
                return used
            return _add_all(plane, pool, used, goal, node, polygon, entry, root, x, y, total)
        near, nx, ny = (left, lx, ly) if touch == 2 else (right, rx, ry)
        if near >= 0 and plane.turns[near]:
            further = total + length(nx - x, ny - y)
            if _improves(roots, clock, near, further):
                return _add_all(plane, pool, used, goal, node, polygon, entry, near, nx, ny, further)
        return used
    turn_left = left >= 0 and plane.turns[left] != 0
    by_left = total + length(lx - x, ly - y)
    if turn_left:
        turn_left = _improves(roots, clock, left, by_left)
    turn_right = right >= 0 and plane.turns[right] != 0
    by_right = total + length(rx - x, ry - y)
    if turn_right:
        turn_right = _improves(roots, clock, right, by_right)
    first, last = plane.offsets[polygon], plane.offsets[polygon + 1]
    # Around the polygon, from the right end of the entry to its left end.
    edge = entry + 1 if entry + 1 < last else first
    a = plane.corners[edge]
    ax, ay = plane.vertices[a, 0], plane.vertices[a, 1]
    right_a = 0.0 if a == right else seen_from(x, y, rx, ry, ax, ay)
    left_a = 0.0 if a == left else seen_from(x, y, lx, ly, ax, ay)
    while edge != entry:
        after = edge + 1 if edge + 1 < last else first
        b = plane.corners[after]
        bx, by = plane.vertices[b, 0], plane.vertices[b, 1]
        right_b = 0.0 if b == right else seen_from(x, y, rx, ry, bx, by)
        left_b = 0.0 if b == left else seen_from(x, y, lx, ly, bx, by)
        if plane.ahead[edge] >= 0:
            # Where the edge of the view cuts this edge, if it does so inside it.
            cut_rx, cut_ry, cut_lx, cut_ly = ax, ay, bx, by
            if right_a < 0.0 < right_b:
                t = right_a / (right_a - right_b)
                cut_rx, cut_ry = ax + t * (bx - ax), ay + t * (by - ay)
            if left_a < 0.0 < left_b:
                t = left_a / (left_a - left_b)
                cut_lx, cut_ly = ax + t * (bx - ax), ay + t * (by - ay)
            if turn_right and (right_a < 0.0 or right_b < 0.0):
                inside = right_b > 0.0
                sx, sy, s = (cut_rx, cut_ry, np.int32(-1)) if inside else (bx, by, b)
                used = _add(plane, pool, used, goal, node, edge, right, rx, ry, by_right, sx, sy, s, ax, ay, a)
                if used < 0:
                    return used
            # An edge along the rim of the view is seen too, edge on: the path may turn at its near end.
            along = (left_a == 0.0 and left_b == 0.0) or (right_a == 0.0 and right_b == 0.0)
            if along or (right_b > 0.0 and left_a < 0.0):
                start, end = a, b
                if right_a < 0.0:
                    start = np.int32(-1)
                if left_b > 0.0:
                    end = np.int32(-1)
                used = _add(
                    plane, pool, used, goal, node, edge, root, x, y, total, cut_lx, cut_ly, end, cut_rx, cut_ry, start
                )
                if used < 0:
                    return used
            if turn_left and (left_a > 0.0 or left_b > 0.0):
                inside = left_a < 0.0
                sx, sy, s = (cut_lx, cut_ly, np.int32(-1)) if inside else (ax, ay, a)
                used = _add(plane, pool, used, goal, node, edge, left, lx, ly, by_left, bx, by, b, sx, sy, s)
                if used < 0:
                    return used
        edge, a, ax, ay, right_a, left_a = after, b, bx, by, right_b, left_b
    return used


@inline
def _take_links(plane, links, pool, used, roots, clock, node, polygon, x, y, total):
    """Add a search node for each link that starts in a polygon; `node` -1 stands for the start at (x, y)."""
    vertices = len(plane.vertices)
    for link in range(links.offsets[polygon], links.offsets[polygon + 1]):
        start_x, start_y = links.starts[link, 0], links.starts[link, 1]
        if node < 0:
            further = length(start_x - x, start_y - y)
        else:
            further = total + bend(pool.where[node], start_x, start_y)[1]
        further += links.costs[link]
        known = roots.stamp[vertices + link] == clock
        # Strictly better only: over links that cost nothing equal ways would follow each other for ever.
        if not further < np.inf or (known and further >= roots.cost[vertices + link] * (1.0 - _SAME)):
            continue
        roots.stamp[vertices + link] = clock
        roots.cost[vertices + link] = further
        if used == pool.parent.size:
            return -1
        ex, ey = links.ends[link, 0], links.ends[link, 1]
        used = _put(pool, used, node, links.targets[link], -1, vertices + link, -1, -1, ex, ey, ex, ey, ex, ey, further)
    return used


@kernel
def search_intervals(plane, links, pool, heap, roots, start, x, y, goal, goal_x, goal_y, scale, budget):
    """Shortest path between points of two polygons; `scale` makes the straight distance a lower bound (links: below 1).

    Returns (status, last search node or -1, cost, expanded search nodes). With POOL_FULL nothing is lost but time: the
    caller asks again with a larger pool.
    """
    clock = roots.clock[0] + 1
    roots.clock[0] = clock
    around = heap.around
    linked = links.costs.size > 0
    used = _add_around(plane, pool, 0, goal, -1, start, -1, x, y, 0.0, around)
    if used >= 0:
        used = _take_links(plane, links, pool, used, roots, clock, -1, start, x, y, 0.0)
    if used < 0:
        return POOL_FULL, -1, np.inf, 0
    size = 0
    fresh = 0
    expanded = 0
    while True:
        for node in range(fresh, used):
            if pool.polygon[node] == goal and not linked:
                pool.final[node] = 1
            ahead = bend(pool.where[node], goal_x, goal_y)[1]
            key = pool.where[node, 6] + (ahead if pool.final[node] else scale * ahead)
            sift_up(heap, size, key, np.int32(node))
            size += 1
        if size == 0:
            return UNREACHABLE, -1, np.inf, expanded
        node = heap.nodes[0]
        size = drop_top(heap, size)
        fresh = used
        while True:
            total = pool.where[node, 6]
            if pool.final[node]:
                return FOUND, node, total + bend(pool.where[node], goal_x, goal_y)[1], expanded
            if expanded >= budget:
                return BUDGET_EXHAUSTED, -1, np.inf, expanded
            root = pool.root[node]
            if root >= 0 and total > roots.cost[root] * (1.0 + _SAME):
                fresh = used
                break
            expanded += 1
            fresh = used
            used = _expand(plane, pool, used, goal, roots, clock, node, around)
            if used >= 0:
                used = _take_links(plane, links, pool, used, roots, clock, node, pool.polygon[node], 0.0, 0.0, total)
            if used == pool.parent.size:
                return POOL_FULL, -1, np.inf, expanded
            if used >= 0 and pool.polygon[node] == goal and pool.edge[node] >= 0:
                # With links there may be a shorter way than straight on, so both are tried.
                row, both = pool.where[node], pool.ends[node]
                used = _put(
                    pool, used, pool.parent[node], goal, pool.edge[node], root, both[0], both[1],
                    row[0], row[1], row[2], row[3], row[4], row[5], total,
                )  # fmt: skip
                pool.final[used - 1] = 1
            if used < 0:
                return POOL_FULL, -1, np.inf, expanded
            # A single successor needs no heap, unless its exact length has to be compared.
            if used != fresh + 1 or pool.polygon[fresh] == goal:
                break
            node = fresh


@kernel
def unwind(plane, links, pool, end, start, goal_x, goal_y, corners, polygons):
    """The corners and polygons of a found path; returns how many of each (counted on where the arrays are too small).

    Corners are written back to front, without start and goal: a vertex; -1 - 2 * node for the left end of a search
    node's interval, -2 - 2 * node for the right one, where the path bends at a point that is no vertex; n + link for a
    link (from its start to its end). Polygons are written back to front too.
    """
    vertices = len(plane.vertices)
    count, passed = 0, 0
    to_x, to_y = goal_x, goal_y
    node = end
    entering = True  # whether the way from this node's root to (to_x, to_y) is still to be looked at
    while node >= 0:
        if passed < polygons.size:
            polygons[passed] = pool.polygon[node]
        passed += 1
        if entering:
            around, _ = bend(pool.where[node], to_x, to_y)
            if around > 0 and pool.edge[node] >= 0:
                vertex = pool.ends[node, around - 1]
                if count < corners.size:
                    corners[count] = vertex if vertex >= 0 else -around - 2 * node
                count += 1
            entering = False
        root = pool.root[node]
        parent = pool.parent[node]
        before = pool.root[parent] if parent >= 0 else -1
        if root >= 0 and root != before:
            if count < corners.size:
                corners[count] = root
            count += 1
            if root >= vertices:
                # The way to the link's start was seen from the parent's root.
                to_x, to_y = links.starts[root - vertices, 0], links.starts[root - vertices, 1]
                entering = True
        node = parent
    if passed < polygons.size:
        polygons[passed] = start
    passed += 1
    return count, passed
