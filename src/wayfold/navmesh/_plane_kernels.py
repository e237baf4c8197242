# mypy: ignore-errors
"""The mesh as the interval search sees it: exactly convex pieces, twin edges, vertices where shortest paths may turn.

Corners that lie on one straight side are seldom on one line to the last bit, so many polygons are dented by a rounding
error. What is exact only for convex polygons would then never end, or miss what hides behind the dent. So dented
polygons are cut into pieces that are convex to the last bit, by diagonals; all others are pieces as they are.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline, kernel
from wayfold.geometry._predicates_kernels import orientation

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
