# mypy: ignore-errors
"""Exact shortest paths: an interval search over convex pieces of the mesh, in the manner of Polyanya.

Corners that lie on one straight side are seldom on one line to the last bit, so many polygons are dented by a rounding
error. What is exact only for convex polygons would then never end, or miss what hides behind the dent. So dented
polygons are cut into pieces that are convex to the last bit, by diagonals; all others are pieces as they are.

A search node is an interval of an edge, seen from a *root*: the last corner that the path turned at. Expanding it looks
through the interval into the piece behind: what the root sees is passed on with the same root, what it does not see
only where an end of the interval is a corner of the mesh, which becomes the new root. Lengths are measured in the
plane; floors are told apart by the polygons, so the search is exact over any number of them.

What is seen is decided by given points alone. Each rim of the view is a ray from the root through its *bound*, the
vertex that cuts the view off (right after a turn: away from the root before), and the side of it that a corner lies on
is exact. Where a rim cuts an edge is computed too, but nothing branches on it: it serves lower bounds.

The search ends: a ray crosses a convex piece once, and a vertex is turned at again only for a shorter way to it or into
another piece, so that nothing goes round in circles, however little a circle costs.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline, kernel
from wayfold.geometry.predicate_kernels import orientation
from wayfold.graph.search_kernels import BUDGET_EXHAUSTED, FOUND, UNREACHABLE, drop_top, sift_up

_CLEAR = 0.1  # radians from half a turn from which a sum of angles tells on which side of it it is


class Plane(NamedTuple):
    """The mesh as the interval search sees it. Rows of dented polygons are still there, but nothing leads to them."""

    vertices: np.ndarray  # (n, 3) float64
    offsets: np.ndarray  # (p + 1,) int64, p pieces
    corners: np.ndarray  # (m,) int32
    ahead: np.ndarray  # (m,) int32, piece beyond each edge, -1 where there is none or it is closed
    twins: np.ndarray  # (m,) int32, the same edge in that piece
    turns: np.ndarray  # (n,) uint8, 1 where a shortest path may turn: the mesh fills more than half of the angle;
    #                    2 where it comes to the vertex from several sides, which `may_turn` looks at one by one
    exits: np.ndarray  # (p,) int32, edges with something beyond, plus links
    rough: np.ndarray  # (p,) uint8, 1 where a piece could not be made convex
    owners: np.ndarray  # (p,) int32, the polygon of each piece
    firsts: np.ndarray  # (polygons,) int32, first piece of each polygon
    lasts: np.ndarray  # (polygons,) int32, one past its last piece
    sources: np.ndarray  # (m,) int32, edge of the mesh, -1 for a diagonal


@kernel
def twin_edges(offsets, corners, neighbours, first, last, twins):
    """For each edge the same edge in the polygon beyond, -1 for none; returns how many edges have none but should.

    Only edges of the polygons `first` to `last` - 1 are looked at.
    """
    missing = 0
    for polygon in range(first, last):
        for edge in range(offsets[polygon], offsets[polygon + 1]):
            twins[edge] = -1
            other = neighbours[edge]
            if other < 0:
                continue
            start = corners[edge]
            end = corners[edge + 1 if edge + 1 < offsets[polygon + 1] else offsets[polygon]]
            for candidate in range(offsets[other], offsets[other + 1]):
                after = candidate + 1 if candidate + 1 < offsets[other + 1] else offsets[other]
                if neighbours[candidate] == polygon and corners[candidate] == end and corners[after] == start:
                    twins[edge] = candidate
            if twins[edge] < 0:
                missing += 1
    return missing


@inline
def _width(vertices, here, after, before):
    """Angle of a convex corner, in radians."""
    ux, uy = vertices[after, 0] - vertices[here, 0], vertices[after, 1] - vertices[here, 1]
    vx, vy = vertices[before, 0] - vertices[here, 0], vertices[before, 1] - vertices[here, 1]
    # From 0 to half a turn, whatever sign rounding gives a straight corner.
    return abs(np.arctan2(ux * vy - uy * vx, ux * vx + uy * vy))


@kernel
def turning_points(vertices, offsets, corners, ahead, shut, first_polygon, last_polygon, angle, rims, turns):
    """Mark the vertices where shortest paths may turn: where the mesh fills more than half a turn around a rim vertex.

    `shut` (p,) uint8 marks polygons that are no part of the mesh. Around half a turn the two rim edges decide, exactly.
    Where the mesh comes to a vertex from several sides and one of them may fill as much, the mark is 2. `angle` (n,)
    float64 and `rims` (n, 3) int32 are scratch, zero at first.
    """
    for polygon in range(first_polygon, last_polygon):
        if shut[polygon]:
            continue
        first, last = offsets[polygon], offsets[polygon + 1]
        for edge in range(first, last):
            here = corners[edge]
            before = corners[edge - 1 if edge > first else last - 1]
            after = corners[edge + 1 if edge + 1 < last else first]
            angle[here] += _width(vertices, here, after, before)
            if ahead[edge] < 0:
                rims[here, 0] += 1
                rims[here, 1] = after
                rims[after, 2] = here
    for vertex in range(turns.size):
        turns[vertex] = 0
        if rims[vertex, 0] == 0 or angle[vertex] < np.pi - _CLEAR:
            continue
        if rims[vertex, 0] > 1:
            turns[vertex] = 2
        elif angle[vertex] > np.pi + _CLEAR:
            turns[vertex] = 1
        elif _turn(vertices, vertex, rims[vertex, 1], rims[vertex, 2]) < 0:
            turns[vertex] = 1


@inline
def _turn(vertices, a, b, c):
    return orientation(vertices[a, 0], vertices[a, 1], vertices[b, 0], vertices[b, 1], vertices[c, 0], vertices[c, 1])


@inline
def following(plane, piece, edge):
    """The edge of a piece after an edge."""
    return edge + 1 if edge + 1 < plane.offsets[piece + 1] else plane.offsets[piece]


@inline
def preceding(plane, piece, edge):
    """The edge of a piece before an edge."""
    return edge - 1 if edge > plane.offsets[piece] else plane.offsets[piece + 1] - 1


@helper
def may_turn(plane, piece, corner):
    """Whether a shortest path may turn at the vertex that edge `corner` of a piece starts from, on this side of it.

    Where the mesh comes to a vertex from several sides nobody gets from one to another. A way to the vertex on a side
    that fills less than half a turn leads nowhere else, and says nothing about ways on the others.
    """
    vertex = np.int64(plane.corners[corner])
    if plane.turns[vertex] < 2:
        return plane.turns[vertex] == 1
    before, after = preceding(plane, piece, corner), following(plane, piece, corner)
    low, high = np.int64(plane.corners[after]), np.int64(plane.corners[before])
    angle = _width(plane.vertices, vertex, low, high)
    here, at = piece, corner
    while plane.ahead[at] >= 0:  # clockwise, until the rim
        here, twin = np.int64(plane.ahead[at]), np.int64(plane.twins[at])
        at = following(plane, here, twin)
        if here == piece:
            return False  # all around
        low = np.int64(plane.corners[following(plane, here, at)])
        angle += _width(plane.vertices, vertex, low, np.int64(plane.corners[twin]))
    here, at = piece, before
    while plane.ahead[at] >= 0:  # counter-clockwise
        here, at = np.int64(plane.ahead[at]), np.int64(plane.twins[at])
        start = np.int64(plane.corners[following(plane, here, at)])
        at = preceding(plane, here, at)
        high = np.int64(plane.corners[at])
        angle += _width(plane.vertices, vertex, start, high)
    if abs(angle - np.pi) > _CLEAR:
        return angle > np.pi
    return _turn(plane.vertices, vertex, low, high) < 0


@kernel
def find_dents(vertices, offsets, corners, first_polygon, last_polygon, dented):
    """Set `dented` (p,) uint8 to 1 for polygons of a range that are not convex to the last bit; returns how many."""
    count = 0
    for polygon in range(first_polygon, last_polygon):
        first, last = offsets[polygon], offsets[polygon + 1]
        dented[polygon] = 0
        a, b = corners[last - 2], corners[last - 1]
        for edge in range(first, last):
            c = corners[edge]
            if _turn(vertices, a, b, c) < 0:
                dented[polygon] = 1
                count += 1
                break
            a, b = b, c
    return count


@inline
def _sine(vertices, a, b, c):
    """Sine of the turn at b, for comparing only."""
    ux, uy = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1]
    vx, vy = vertices[c, 0] - vertices[b, 0], vertices[c, 1] - vertices[b, 1]
    size = np.sqrt((ux * ux + uy * uy) * (vx * vx + vy * vy))
    return (ux * vy - uy * vx) / size if size > 0.0 else 0.0


@helper
def _cut_polygon(vertices, ring, work, stack, pieces, sizes, rough):
    """Cut a dented polygon into convex pieces by diagonals; returns how many pieces there are.

    Parameters
    ----------
    ring : (k,) int32
        Vertices, counter-clockwise.
    work, stack : (4 k,) int32, (k,) int64
        Scratch.
    pieces : (4 k,) int32
        Overwritten with the corners of the pieces, as places in the ring, one piece after the other.
    sizes : (k,) int64
        Overwritten with their numbers of corners.
    rough : (k,) uint8
        Overwritten with 1 for pieces that are not convex and cannot be cut: slivers that rounding has turned over.
    """
    for k in range(ring.size):
        work[k] = k
    stack[0] = ring.size
    height, top, count, used = 1, ring.size, 0, 0
    while height > 0:
        size = stack[height - 1]
        first = top - size
        best, best_i, best_j, dented = -np.inf, -1, -1, False
        for i in range(size):
            p = ring[work[first + (i + size - 1) % size]]
            q = ring[work[first + i]]
            r = ring[work[first + (i + 1) % size]]
            if _turn(vertices, p, q, r) >= 0:
                continue
            dented = True
            for step in range(2, size - 1):
                j = (i + step) % size
                to = ring[work[first + j]]
                # Both parts must turn left here; of the other end the better one is taken.
                if _turn(vertices, p, q, to) < 0 or _turn(vertices, to, q, r) < 0:
                    continue
                before, after = ring[work[first + (j + size - 1) % size]], ring[work[first + (j + 1) % size]]
                worth = min(_sine(vertices, before, to, q), _sine(vertices, q, to, after))
                worth = min(worth, min(_sine(vertices, p, q, to), _sine(vertices, to, q, r)))
                if worth > best:
                    best, best_i, best_j = worth, i, j
            if best_i >= 0:
                break
        if best_i < 0:
            for k in range(size):
                pieces[used + k] = work[first + k]
            sizes[count] = size
            rough[count] = 1 if dented else 0
            used += size
            count += 1
            height -= 1
            top = first
            continue
        # The part from i to j and the part from j to i take the place of the whole; `pieces` beyond `used` is free.
        along = (best_j - best_i) % size
        for k in range(size):
            pieces[used + k] = work[first + (best_i + k) % size]
        for k in range(along + 1):
            work[first + k] = pieces[used + k]
        for k in range(size - along + 1):
            work[first + along + 1 + k] = pieces[used + (along + k) % size]
        stack[height - 1] = along + 1
        stack[height] = size - along + 1
        height += 1
        top = first + size + 2
    return count


@kernel
def cut_polygons(vertices, offsets, corners, dented, work, stack, places, sizes, rough, pieces, sources, twins):
    """Cut polygons into convex pieces; returns how many pieces and edges of pieces there are.

    Parameters
    ----------
    dented : (d,) int32
        The polygons, which have k corners in all.
    work, stack, places
        Scratch: (4 k,) int32, (k,) int64, (4 k,) int32.
    sizes, rough : (k,) int64, (k,) uint8
        Overwritten with the number of edges of each piece, and whether it could not be made convex.
    pieces : (k,) int32
        Overwritten with the polygon of each piece.
    sources, twins : (4 k,) int32
        Overwritten with the edge of the mesh that an edge of a piece is, or else with -1 and the same diagonal in the
        piece beyond it, as a place in these arrays.
    """
    count, used = 0, 0
    for polygon in dented:
        first, last = offsets[polygon], offsets[polygon + 1]
        found = _cut_polygon(vertices, corners[first:last], work, stack, places[used:], sizes[count:], rough[count:])
        begin, base = used, used
        for piece in range(count, count + found):
            pieces[piece] = polygon
            for k in range(sizes[piece]):
                here, after = places[used], places[base + (k + 1) % sizes[piece]]
                twins[used] = -1
                sources[used] = first + here
                if after != (here + 1) % (last - first):
                    sources[used] = -1
                    # The other side has the same two ends; it was cut before this one, or is filled in from there.
                    other = begin
                    for earlier in range(count, piece):
                        for at in range(sizes[earlier]):
                            end = places[other + (at + 1) % sizes[earlier]]
                            if places[other + at] == after and end == here:
                                twins[used] = other + at
                                twins[other + at] = used
                        other += sizes[earlier]
                used += 1
            base = used
        count += found
    return count, used


# Bits of a search node. Typed, as a plain number would make another signature of everything that it is passed to.
FINAL, OPEN, LEFT_BEHIND, RIGHT_BEHIND, PASSED = (np.int64(1 << bit) for bit in range(5))
_PARALLEL2 = 1e-24  # squared sine of an angle that a lower bound need not care for


@inline
def cross(ax, ay, bx, by):
    return ax * by - ay * bx


@inline
def length(x, y):
    return np.sqrt(x * x + y * y)


@inline
def side(x, y, bound_x, bound_y, behind, to_x, to_y):
    """Side of a rim of the view on which a point lies, exactly: 1 left, -1 right, 0 on it.

    The rim is the ray from the root (x, y) through its bound, or, with `behind`, away from it.
    """
    turn = orientation(x, y, bound_x, bound_y, to_x, to_y)
    return -turn if behind else turn


@inline
def reach(where, flags, goal_x, goal_y):
    """How a root gets to a point of the polygon behind its interval, and how far that is.

    0 straight, 1 around the left end, 2 around the right end. Exact in which of them it is.
    """
    lx, ly, rx, ry, x, y = where[0], where[1], where[2], where[3], where[4], where[5]
    if flags & OPEN == 0:
        if side(x, y, where[7], where[8], flags & LEFT_BEHIND, goal_x, goal_y) > 0:
            return 1, length(lx - x, ly - y) + length(goal_x - lx, goal_y - ly)
        if side(x, y, where[9], where[10], flags & RIGHT_BEHIND, goal_x, goal_y) < 0:
            return 2, length(rx - x, ry - y) + length(goal_x - rx, goal_y - ry)
    return 0, length(goal_x - x, goal_y - y)


@inline
def at_least(where, vertices, left, right, goal_x, goal_y):
    """A lower bound of the way from a root through its interval to any point of the plane.

    `left` and `right` are the ends of the edge that the interval lies on. A goal on the root's own side of it is
    mirrored first.
    """
    lx, ly, rx, ry, x, y = where[0], where[1], where[2], where[3], where[4], where[5]
    if left >= 0:
        vx, vy = vertices[right, 0], vertices[right, 1]
        ux, uy = vertices[left, 0] - vx, vertices[left, 1] - vy
        beyond = cross(ux, uy, goal_x - vx, goal_y - vy)
        if beyond > 0.0:
            # The root is on the left of the line from the right to the left end; so is the goal.
            beyond /= ux * ux + uy * uy
            goal_x += 2.0 * beyond * uy
            goal_y -= 2.0 * beyond * ux
        gx, gy = goal_x - x, goal_y - y
        far2 = gx * gx + gy * gy
        ax, ay = lx - x, ly - y
        turn = cross(ax, ay, gx, gy)
        if turn > 0.0 and turn * turn > _PARALLEL2 * far2 * (ax * ax + ay * ay):
            return length(ax, ay) + length(goal_x - lx, goal_y - ly)
        ax, ay = rx - x, ry - y
        turn = cross(ax, ay, gx, gy)
        if turn < 0.0 and turn * turn > _PARALLEL2 * far2 * (ax * ax + ay * ay):
            return length(ax, ay) + length(goal_x - rx, goal_y - ry)
        return np.sqrt(far2)
    return length(goal_x - x, goal_y - y)


@inline
def cut(ax, ay, bx, by, px, py, qx, qy):
    """Where the line through p and q cuts the edge from a to b, up to rounding."""
    dx, dy = qx - px, qy - py
    one, two = cross(dx, dy, ax - px, ay - py), cross(dx, dy, bx - px, by - py)
    part = one / (one - two) if one != two else 0.5
    part = min(1.0, max(0.0, part))
    return ax + part * (bx - ax), ay + part * (by - ay)


POOL_FULL = 5  # the caller gives the search a larger pool and asks again

_BENT = 2.0**-48  # of a length: more than its rounding
_SAME = 1e-11  # `SAME_LENGTH` of the package
_HAIR = 2.0**-50  # of the way to the middle of a piece, at first
_MOST_MOVED = 64.0  # times the rounding of points
_NONE, _PLAIN = np.int64(-1), np.int64(0)
# How a vertex is turned at: to the left, to the right, or all of the piece is seen.
_LEFT, _RIGHT, _AROUND = np.int64(0), np.int64(1), np.int64(2)


class NodePool(NamedTuple):
    """Search nodes. The two ends of an interval are left and right seen from the root."""

    parent: np.ndarray  # (c,) int32
    polygon: np.ndarray  # (c,) int32, the piece behind the interval
    edge: np.ndarray  # (c,) int32, the edge of that piece which the interval lies on; -1 for a point inside
    root: np.ndarray  # (c,) int32, vertex; n + link after a link; -1 for the start
    ends: np.ndarray  # (c, 2) int32, vertex at the left and right end, -1 where it is none
    where: np.ndarray  # (c, 11) float64: left x, y, right x, y, root x, y, cost up to it, left bound x, y, right bound
    flags: np.ndarray  # (c,) uint8: FINAL straight to the goal; OPEN the root sees all; a bound is behind the root;
    #                    PASSED no search node, only a root on the way to another one


class Heap(NamedTuple):
    """Open search nodes, for the shared heap functions."""

    keys: np.ndarray  # (c,) float64
    nodes: np.ndarray  # (c,) int32
    place: np.ndarray  # (c,) int32


class Roots(NamedTuple):
    """Cheapest way to each vertex (and link) that was a root in the running query."""

    cost: np.ndarray  # (n + links,) float64
    stamp: np.ndarray  # (n + links,) int64
    shorter: np.ndarray  # (n + links,) int32, number of the improvement that the cost came with
    taken: np.ndarray  # (3 m,) int32, the improvement that each corner of each piece was last turned at with
    clock: np.ndarray  # (2,) int64: queries, improvements


@inline
def _arrives(roots, clock, root, total, corner, how):
    """Whether to turn at a vertex: on a shorter way than any so far, or on one as short into a piece not yet seen."""
    if roots.stamp[root] != clock or total < roots.cost[root]:
        roots.stamp[root] = clock
        roots.cost[root] = total
        roots.clock[1] += 1
        roots.shorter[root] = roots.clock[1]
    elif total > roots.cost[root] * (1.0 + _SAME) or roots.taken[3 * corner + how] == roots.shorter[root]:
        return False
    roots.taken[3 * corner + how] = roots.shorter[root]
    return True


@inline
def _is_goal(goals, polygon):
    for goal in goals:
        if goal == polygon:
            return True
    return False


@inline
def _put(
    pool, used, parent, polygon, edge, root, x, y, total, left, lx, ly, right, rx, ry, left_x, left_y, right_x, right_y,
    flags,
):  # fmt: skip
    pool.parent[used] = parent
    pool.polygon[used] = polygon
    pool.edge[used] = edge
    pool.root[used] = root
    pool.ends[used, 0] = left
    pool.ends[used, 1] = right
    row = pool.where[used]
    row[0], row[1], row[2], row[3], row[4], row[5], row[6] = lx, ly, rx, ry, x, y, total
    row[7], row[8], row[9], row[10] = left_x, left_y, right_x, right_y
    pool.flags[used] = flags
    return used + 1


@helper
def _add(
    plane, pool, used, goals, parent, edge, root, x, y, total, left, lx, ly, right, rx, ry, left_x, left_y, right_x,
    right_y, flags,
):  # fmt: skip
    """Put a search node behind `edge` (seen from the piece that is left) into the pool; returns the pool's new use.

    Nothing is added where nothing lies behind, or only a dead end. -1: the pool is full.
    """
    polygon = np.int64(plane.ahead[edge])
    if polygon < 0 or (plane.exits[polygon] < 2 and not _is_goal(goals, polygon)):
        return used
    if used == pool.parent.size:
        return -1
    if plane.rough[polygon]:
        # It is not convex: a ray could come back to it again and again.
        before = parent
        while before >= 0 and pool.root[before] == root:
            if pool.polygon[before] == polygon:
                return used
            before = np.int64(pool.parent[before])
    return _put(
        pool, used, parent, polygon, np.int64(plane.twins[edge]), root, x, y, total, left, lx, ly, right, rx, ry,
        left_x, left_y, right_x, right_y, flags,
    )  # fmt: skip


@inline
def _around(plane, pool, used, goals, roots, parent, edge, root, x, y, total, corner):
    """Go on around a root that is a corner of the piece behind `edge`: it sees all of that piece."""
    if plane.ahead[edge] < 0 or roots.taken[3 * corner + _AROUND] == roots.shorter[root]:
        return used
    roots.taken[3 * corner + _AROUND] = roots.shorter[root]
    return _add(plane, pool, used, goals, parent, edge, root, x, y, total, _NONE, x, y, _NONE, x, y, x, y, x, y, OPEN)


@helper
def _along(plane, pool, used, goals, roots, clock, parent, edge, root, near, x, y, true_x, true_y, total, corner):
    """Turn at the near end of an edge that is seen edge-on, into what lies behind it.

    The root is seen from (x, y), a hair off where it truly is when it is a point on a border; see `_into`.
    """
    if plane.ahead[edge] < 0 or plane.turns[near] == 0 or not may_turn(plane, np.int64(plane.ahead[edge]), corner):
        return used
    nx, ny = plane.vertices[near, 0], plane.vertices[near, 1]
    further = total + length(nx - true_x, ny - true_y)
    if not _arrives(roots, clock, near, further, corner, _AROUND):
        return used
    if parent >= 0 and pool.root[parent] != root:
        # The path has only just turned at the root: nobody knows yet.
        if used == pool.parent.size:
            return -1
        polygon = np.int64(pool.polygon[parent])
        used = _put(pool, used, parent, polygon, _NONE, root, x, y, total, _NONE, x, y, _NONE, x, y, x, y, x, y, PASSED)
        parent = used - 1
    return _add(
        plane, pool, used, goals, parent, edge, near, nx, ny, further, _NONE, nx, ny, _NONE, nx, ny, nx, ny, nx, ny,
        OPEN,
    )  # fmt: skip


@helper
def _see(plane, pool, used, goals, roots, clock, parent, polygon, edge, root, x, y, true_x, true_y, total):
    """Search node for an edge of a piece that a root in it sees from end to end."""
    beyond = np.int64(plane.ahead[edge])
    if beyond < 0:
        return used
    a, b = np.int64(plane.corners[edge]), np.int64(plane.corners[following(plane, polygon, edge)])
    twin = np.int64(plane.twins[edge])
    if a == root:
        return _around(plane, pool, used, goals, roots, parent, edge, root, x, y, total, following(plane, beyond, twin))
    if b == root:
        return _around(plane, pool, used, goals, roots, parent, edge, root, x, y, total, twin)
    ax, ay, bx, by = plane.vertices[a, 0], plane.vertices[a, 1], plane.vertices[b, 0], plane.vertices[b, 1]
    if orientation(ax, ay, bx, by, x, y) > 0:
        return _add(
            plane, pool, used, goals, parent, edge, root, x, y, total, b, bx, by, a, ax, ay, bx, by, ax, ay, _PLAIN
        )
    # On its line: between the ends of the edge the piece beyond holds the root too, and is looked at on its own.
    ux, uy = bx - ax, by - ay
    if (x - ax) * ux + (y - ay) * uy < 0.0:
        corner = following(plane, beyond, twin)
        return _along(
            plane, pool, used, goals, roots, clock, parent, edge, root, a, x, y, true_x, true_y, total, corner
        )
    if (x - bx) * ux + (y - by) * uy > 0.0:
        return _along(plane, pool, used, goals, roots, clock, parent, edge, root, b, x, y, true_x, true_y, total, twin)
    return used


@helper
def _into(plane, polygon, x, y, near):
    """A point that is in a piece but for rounding, moved a hair so that it is, exactly.

    From behind a straight wall the next vertex on that wall hides the one after it, where a path may have to turn. In
    a sliver it would have to move too far and stays where it is.
    """
    first, last = plane.offsets[polygon], plane.offsets[polygon + 1]
    middle_x, middle_y = 0.0, 0.0
    for edge in range(first, last):
        corner = plane.corners[edge]
        middle_x += plane.vertices[corner, 0] / (last - first)
        middle_y += plane.vertices[corner, 1] / (last - first)
    far = length(middle_x - x, middle_y - y)
    part, to_x, to_y = _HAIR, x, y
    while part < 1.0 and part * far <= 4.0 * _MOST_MOVED * near:
        inside = True
        a = plane.corners[last - 1]
        for edge in range(first, last):
            b = plane.corners[edge]
            if orientation(
                plane.vertices[a, 0], plane.vertices[a, 1], plane.vertices[b, 0], plane.vertices[b, 1], to_x, to_y
            ) < 0:  # fmt: skip
                inside = False
                break
            a = b
        if inside:
            return to_x, to_y
        to_x, to_y = x + part * (middle_x - x), y + part * (middle_y - y)
        part *= 4.0
    return x, y


@inline
def _begin(plane, pool, used, goals, roots, clock, parent, places, polygon, root, x, y, total, near):
    """Search nodes for what a point of a piece sees that is no corner to turn at: the start, a link's end.

    A point on a border is in several pieces, `places`: they are all begun with, so none leads to another one.
    """
    true_x, true_y = x, y
    x, y = _into(plane, polygon, x, y, near)
    if _is_goal(goals, polygon):
        if used == pool.parent.size:
            return -1
        flags = FINAL | OPEN
        used = _put(pool, used, parent, polygon, _NONE, root, x, y, total, _NONE, x, y, _NONE, x, y, x, y, x, y, flags)
    for edge in range(plane.offsets[polygon], plane.offsets[polygon + 1]):
        if plane.ahead[edge] < 0 or _is_goal(places, plane.ahead[edge]):
            continue
        used = _see(plane, pool, used, goals, roots, clock, parent, polygon, edge, root, x, y, true_x, true_y, total)
        if used < 0:
            return used
    return used


@inline
def _expand(plane, links, pool, used, goals, roots, clock, node, start_x, start_y, near):
    """Add the successors of a search node to the pool; returns the pool's new use, -1 when it is full.

    A start or a link's end on a border was moved into each of the pieces that it is in (`_into`). Lengths are those
    from where it truly is: else a vertex that it sees from two pieces would be nearer from one, and not turned at from
    the other, which may be the only one that leads on.
    """
    where, flags = pool.where[node], np.int64(pool.flags[node])
    lx, ly, rx, ry, x, y, total = where[0], where[1], where[2], where[3], where[4], where[5], where[6]
    left_x, left_y, right_x, right_y = where[7], where[8], where[9], where[10]
    left, right, root = np.int64(pool.ends[node, 0]), np.int64(pool.ends[node, 1]), np.int64(pool.root[node])
    polygon, entry = np.int64(pool.polygon[node]), np.int64(pool.edge[node])
    if entry < 0:  # after a link: the root is a point of the piece
        return _begin(plane, pool, used, goals, roots, clock, node, goals[:0], polygon, root, x, y, total, near)
    first, last = plane.offsets[polygon], plane.offsets[polygon + 1]
    edge = entry + 1 if entry + 1 < last else first
    if flags & OPEN:
        while edge != entry:
            used = _see(plane, pool, used, goals, roots, clock, node, polygon, edge, root, x, y, x, y, total)
            if used < 0:
                return used
            edge = edge + 1 if edge + 1 < last else first
        return used
    true_x, true_y = x, y
    if root < 0:
        true_x, true_y = start_x, start_y
    elif root >= len(plane.vertices):
        true_x, true_y = links.ends[root - len(plane.vertices), 0], links.ends[root - len(plane.vertices), 1]
    left_behind, right_behind = flags & LEFT_BEHIND, flags & RIGHT_BEHIND
    turn_left, by_left = False, 0.0
    if left >= 0 and plane.turns[left] != 0 and may_turn(plane, polygon, entry):
        by_left = total + length(lx - true_x, ly - true_y)
        turn_left = _arrives(roots, clock, left, by_left, entry, _LEFT)
    turn_right, by_right = False, 0.0
    if right >= 0 and plane.turns[right] != 0 and may_turn(plane, polygon, edge):
        by_right = total + length(rx - true_x, ry - true_y)
        turn_right = _arrives(roots, clock, right, by_right, edge, _RIGHT)
    # Around the piece, from the right end of the entry to its left end.
    a = np.int64(plane.corners[edge])
    ax, ay = plane.vertices[a, 0], plane.vertices[a, 1]
    # Convex: first come corners to the right of the view, then those in it, then those to the left of it, so a side
    # that follows is not asked for. The ends of the entry are on the rims, or outside where a rim cuts the entry.
    right_a, left_a = 0 if right >= 0 else -1, -1
    while edge != entry:
        after = edge + 1 if edge + 1 < last else first
        b = np.int64(plane.corners[after])
        bx, by = plane.vertices[b, 0], plane.vertices[b, 1]
        right_b, left_b = 1, -1
        if after == entry:
            left_b = 0 if left >= 0 else 1
        else:
            if right_a <= 0:
                right_b = side(x, y, right_x, right_y, right_behind, bx, by)
            if left_a > 0:
                left_b = 1
            elif right_b > 0:
                left_b = side(x, y, left_x, left_y, left_behind, bx, by)
        beyond = np.int64(plane.ahead[edge])
        if beyond >= 0:
            # An edge along the rim of the view is seen too, edge-on: the path may turn at its near end.
            if right_a == 0 and right_b == 0:
                corner = following(plane, beyond, np.int64(plane.twins[edge]))
                used = _along(
                    plane, pool, used, goals, roots, clock, node, edge, root, a, x, y, true_x, true_y, total, corner
                )
            elif left_a == 0 and left_b == 0:
                corner = np.int64(plane.twins[edge])
                used = _along(
                    plane, pool, used, goals, roots, clock, node, edge, root, b, x, y, true_x, true_y, total, corner
                )
            else:
                if turn_right and right_a <= 0:
                    if right_b <= 0:
                        used = _see(
                            plane, pool, used, goals, roots, clock, node, polygon, edge, right, rx, ry, rx, ry, by_right
                        )
                    elif right_a < 0:
                        sx, sy = cut(ax, ay, bx, by, x, y, rx, ry)
                        used = _add(
                            plane, pool, used, goals, node, edge, right, rx, ry, by_right, _NONE, sx, sy, a, ax, ay,
                            x, y, ax, ay, LEFT_BEHIND,
                        )  # fmt: skip
                    if used < 0:
                        return used
                if right_b > 0 and left_a < 0:
                    start, sx, sy, start_x, start_y = a, ax, ay, ax, ay
                    end, ex, ey, end_x, end_y = b, bx, by, bx, by
                    seen = _PLAIN
                    if right_a < 0:
                        start, start_x, start_y = _NONE, right_x, right_y
                        sx, sy = cut(ax, ay, bx, by, x, y, right_x, right_y)
                        seen |= right_behind
                    if left_b > 0:
                        end, end_x, end_y = _NONE, left_x, left_y
                        ex, ey = cut(ax, ay, bx, by, x, y, left_x, left_y)
                        seen |= left_behind
                    used = _add(
                        plane, pool, used, goals, node, edge, root, x, y, total, end, ex, ey, start, sx, sy,
                        end_x, end_y, start_x, start_y, seen,
                    )  # fmt: skip
                    if used < 0:
                        return used
                if turn_left and left_b >= 0:
                    if left_a >= 0:
                        used = _see(
                            plane, pool, used, goals, roots, clock, node, polygon, edge, left, lx, ly, lx, ly, by_left
                        )
                    elif left_b > 0:
                        sx, sy = cut(ax, ay, bx, by, x, y, lx, ly)
                        used = _add(
                            plane, pool, used, goals, node, edge, left, lx, ly, by_left, b, bx, by, _NONE, sx, sy,
                            bx, by, x, y, RIGHT_BEHIND,
                        )  # fmt: skip
            if used < 0:
                return used
        edge, a, ax, ay, right_a, left_a = after, b, bx, by, right_b, left_b
    return used


@inline
def _further(pool, node, flags, total, to_x, to_y, more):
    """How far it is from a search node's root to a point of the piece behind its interval.

    Where the way bends at an end of the interval that is no vertex, the shortest one bends at the vertex that ends the
    view there. The two may be equally long but for rounding: with a share `more` of the whole that one comes first.
    """
    around, ahead = reach(pool.where[node], flags, to_x, to_y)
    if around > 0 and pool.ends[node, around - 1] < 0:
        ahead += more * (total + ahead)
    return ahead


@inline
def _take_links(links, vertices, pool, used, roots, clock, node, polygon, x, y, total):
    """Add a search node for each link that starts in a piece; `node` -1 stands for the start at (x, y)."""
    for link in range(links.offsets[polygon], links.offsets[polygon + 1]):
        start_x, start_y = links.starts[link, 0], links.starts[link, 1]
        if node < 0:
            further = length(start_x - x, start_y - y)
        else:
            further = total + _further(pool, node, np.int64(pool.flags[node]), total, start_x, start_y, 2.0 * _SAME)
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
        used = _put(
            pool, used, node, np.int64(links.targets[link]), _NONE, vertices + link, ex, ey, further, _NONE, ex, ey,
            _NONE, ex, ey, ex, ey, ex, ey, OPEN,
        )  # fmt: skip
    return used


@kernel
def search_intervals(plane, links, pool, heap, roots, starts, x, y, goals, goal_x, goal_y, near, scale, budget):
    """Shortest path between two points; `scale` makes the straight distance a lower bound (links: below 1).

    `starts` and `goals`, int32, are the open pieces that the points are in: several where a point is on a border.
    `links` are those of pieces. `near` is the rounding of points.

    Returns (status, last search node or -1, expanded search nodes). With POOL_FULL nothing is lost but time: the
    caller asks again with a larger pool.
    """
    clock = roots.clock[0] + 1
    roots.clock[0] = clock
    vertices = len(plane.vertices)
    linked = links.costs.size > 0
    used = np.int64(0)
    for place in starts:
        start = np.int64(place)
        used = _begin(plane, pool, used, goals, roots, clock, _NONE, starts, start, _NONE, x, y, 0.0, near)
        if used >= 0 and linked:
            used = _take_links(links, vertices, pool, used, roots, clock, _NONE, start, x, y, 0.0)
        if used < 0:
            return POOL_FULL, -1, 0
    size = 0
    fresh = 0
    expanded = 0
    while True:
        for node in range(fresh, used):
            flags = np.int64(pool.flags[node])
            if flags & PASSED:
                continue
            if not linked and _is_goal(goals, pool.polygon[node]):
                flags |= FINAL
                pool.flags[node] = flags
            if flags & FINAL:
                ahead = _further(pool, node, flags, pool.where[node, 6], goal_x, goal_y, _BENT)
            else:
                left, right = _NONE, _NONE
                edge = pool.edge[node]
                if edge >= 0 and flags & OPEN == 0:
                    left, right = np.int64(plane.corners[edge]), np.int64(plane.corners[plane.twins[edge]])
                ahead = scale * at_least(pool.where[node], plane.vertices, left, right, goal_x, goal_y)
            sift_up(heap, size, pool.where[node, 6] + ahead, np.int32(node))
            size += 1
        if size == 0:
            return UNREACHABLE, -1, expanded
        node = np.int64(heap.nodes[0])
        size = drop_top(heap, size)
        fresh = used
        while True:
            total = pool.where[node, 6]
            flags = np.int64(pool.flags[node])
            if flags & FINAL:
                return FOUND, node, expanded
            if expanded >= budget:
                return BUDGET_EXHAUSTED, -1, expanded
            root = np.int64(pool.root[node])
            if root >= 0 and total > roots.cost[root] * (1.0 + _SAME):
                fresh = used
                break
            expanded += 1
            fresh = used
            used = _expand(plane, links, pool, used, goals, roots, clock, node, x, y, near)
            if used >= 0 and linked:
                polygon = np.int64(pool.polygon[node])
                used = _take_links(links, vertices, pool, used, roots, clock, node, polygon, 0.0, 0.0, total)
                if used == pool.parent.size:
                    return POOL_FULL, -1, expanded
                if used >= 0 and pool.edge[node] >= 0 and _is_goal(goals, polygon):
                    # There may be a shorter way than straight on, so both are tried.
                    row, both = pool.where[node], pool.ends[node]
                    used = _put(
                        pool, used, np.int64(pool.parent[node]), polygon, np.int64(pool.edge[node]), root, row[4],
                        row[5], total, np.int64(both[0]), row[0], row[1], np.int64(both[1]), row[2], row[3], row[7],
                        row[8], row[9], row[10], flags | FINAL,
                    )  # fmt: skip
            if used < 0:
                return POOL_FULL, -1, expanded
            # A single successor needs no heap, unless its exact length has to be compared.
            if used != fresh + 1 or _is_goal(goals, pool.polygon[fresh]) or pool.flags[fresh] & PASSED:
                break
            node = fresh


@kernel
def unwind(plane, links, pool, end, goal_x, goal_y, corners, polygons):
    """The corners and polygons of a found path; returns how many of each (counted on where the arrays are too small).

    Corners are written back to front, without start and goal: a vertex; -1 - 2 * node for the left end of a search
    node's interval, -2 - 2 * node for the right one, where the path bends at a point that is no vertex; n + link for a
    link (from its start to its end). Polygons are written back to front too, each once where several pieces are its.
    """
    vertices = len(plane.vertices)
    count, passed = 0, 0
    to_x, to_y = goal_x, goal_y
    node, latest = end, np.int32(-1)
    entering = True  # whether the way from this node's root to (to_x, to_y) is still to be looked at
    while node >= 0:
        owner = plane.owners[pool.polygon[node]]
        if owner != latest:
            if passed < polygons.size:
                polygons[passed] = owner
            passed += 1
            latest = owner
        if entering:
            around, _ = reach(pool.where[node], np.int64(pool.flags[node]), to_x, to_y)
            if around > 0:
                vertex = pool.ends[node, around - 1]
                if count < corners.size:
                    corners[count] = vertex if vertex >= 0 else -around - 2 * node
                count += 1
            entering = False
        root, parent = np.int64(pool.root[node]), np.int64(pool.parent[node])
        before = np.int64(pool.root[parent]) if parent >= 0 else _NONE
        if root >= 0 and root != before:
            if count < corners.size:
                corners[count] = root
            count += 1
            if root >= vertices:
                # The way to the link's start was seen from the parent's root.
                to_x, to_y = links.starts[root - vertices, 0], links.starts[root - vertices, 1]
                entering = True
        if parent < 0:
            # The piece that the start is in: where the first edge was seen from, or where the first link starts.
            behind = _NONE
            if pool.edge[node] >= 0:
                behind = np.int64(plane.ahead[pool.edge[node]])
            elif root >= vertices:
                low, high = 0, links.offsets.size - 1
                while high - low > 1:
                    middle = (low + high) // 2
                    if links.offsets[middle] <= root - vertices:
                        low = middle
                    else:
                        high = middle
                behind = np.int64(low)
            if behind >= 0 and plane.owners[behind] != latest:
                if passed < polygons.size:
                    polygons[passed] = plane.owners[behind]
                passed += 1
        node = parent
    return count, passed
