# mypy: ignore-errors
"""Step 5 of Fuentes 2015, section III.A: rims are triangulated and the triangles merged to convex polygons.

Triangles are kept as half-edges: three for each triangle, each with the next one around its face and its twin in the
face on the other side. An edge of a rim carries the unit edge that it starts with as its tag.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper_with_memory, inline, kernel_with_memory


class PolygonPieces(NamedTuple):
    """Convex polygons, counter-clockwise; edge k of a polygon leads from its corner k to the next."""

    offsets: np.ndarray  # (p + 1,) int32
    corner: np.ndarray  # (m,) int32, unit edge whose start corner it is
    tag: np.ndarray  # (m,) int32, first unit edge of an edge that lies on a rim, else -1
    twin: np.ndarray  # (m,) int32, the same edge in the polygon of the same region on the other side, else -1
    region: np.ndarray  # (p,) int32


@inline
def _turn(x, y, a, b, c):
    """Twice the signed area of a triangle; positive when c lies left of the line from a to b."""
    ax, ay = np.int64(x[a]), np.int64(y[a])
    return (x[b] - ax) * (y[c] - ay) - (y[b] - ay) * (x[c] - ax)


@inline
def _same(x, y, a, b):
    return x[a] == x[b] and y[a] == y[b]


@inline
def _touch(x, y, a, b, c, d):
    """Whether the closed segments a-b and c-d have a point in common."""
    abc, abd, cda, cdb = _turn(x, y, a, b, c), _turn(x, y, a, b, d), _turn(x, y, c, d, a), _turn(x, y, c, d, b)
    if ((abc > 0) != (abd > 0)) and ((cda > 0) != (cdb > 0)) and abc != 0 and abd != 0 and cda != 0 and cdb != 0:
        return True
    return (
        (abc == 0 and _on(x, y, a, b, c))
        or (abd == 0 and _on(x, y, a, b, d))
        or (cda == 0 and _on(x, y, c, d, a))
        or (cdb == 0 and _on(x, y, c, d, b))
    )


@inline
def _on(x, y, a, b, c):
    return min(x[a], x[b]) <= x[c] <= max(x[a], x[b]) and min(y[a], y[b]) <= y[c] <= max(y[a], y[b])


@inline
def _in_cone(x, y, before, a, after, b):
    """Whether the way from corner `a` towards `b` starts inside the polygon."""
    if _turn(x, y, before, a, after) >= 0:
        return _turn(x, y, a, b, before) > 0 and _turn(x, y, b, a, after) > 0
    return not (_turn(x, y, a, b, after) >= 0 and _turn(x, y, b, a, before) >= 0)


@inline
def _clear(x, y, ring, size, a, b):
    """Whether the segment a-b meets no edge of a ring, apart from edges that end in the same place as it."""
    for k in range(size):
        c = ring[k]
        d = ring[k + 1 if k + 1 < size else 0]
        if _same(x, y, c, a) or _same(x, y, c, b) or _same(x, y, d, a) or _same(x, y, d, b):
            continue
        if _touch(x, y, a, b, c, d):
            return False
    return True


@inline
def _is_ear(x, y, ring, size, at):
    """Whether corner `at` of the ring can be cut off as a triangle."""
    before, after = (at - 1) % size, (at + 1) % size
    p, i, n = ring[before], ring[at], ring[after]
    if _turn(x, y, p, i, n) <= 0:
        return False
    if not _in_cone(x, y, ring[(before - 1) % size], p, i, n):
        return False
    for k in range(size):
        q = ring[k]
        if _turn(x, y, p, i, q) > 0 and _turn(x, y, i, n, q) > 0 and _turn(x, y, n, p, q) > 0:
            return False
    return _clear(x, y, ring, size, p, n)


@inline
def _diagonal2(x, y, ring, size, at):
    """Squared length of the cut that would take off a corner."""
    p, n = ring[(at - 1) % size], ring[(at + 1) % size]
    dx, dy = np.int64(x[n]) - x[p], np.int64(y[n]) - y[p]
    return dx * dx + dy * dy


@inline
def _bridge(x, y, ring, payload, size, holes, hole_offsets, first, last, code):
    """Cut open the ring and the hole `first` and join them by the shortest clear bridge; return the ring's new size.

    Returns -1 when no bridge is clear. Holes `first` to `last` must not be crossed.
    """
    low, high = hole_offsets[first], hole_offsets[first + 1]
    count = high - low
    best, best_ring, best_hole = np.int64(-1), -1, -1
    for k in range(size):
        for h in range(count):
            a, b = ring[k], holes[low + h]
            dx, dy = np.int64(x[a]) - x[b], np.int64(y[a]) - y[b]
            far = dx * dx + dy * dy
            if far == 0 or (best >= 0 and far >= best):
                continue
            if not _in_cone(x, y, ring[(k - 1) % size], a, ring[(k + 1) % size], b):
                continue
            if not _in_cone(x, y, holes[low + (h - 1) % count], b, holes[low + (h + 1) % count], a):
                continue
            if not _clear(x, y, ring, size, a, b):
                continue
            clear = True
            for other in range(first, last):
                part = holes[hole_offsets[other] : hole_offsets[other + 1]]
                if not _clear(x, y, part, part.size, a, b):
                    clear = False
                    break
            if clear:
                best, best_ring, best_hole = far, k, h
    if best < 0:
        return -1
    # Ring up to the bridge, over it, around the hole, back over it, and on.
    for k in range(size - 1, best_ring, -1):
        ring[k + count + 2] = ring[k]
        payload[k + count + 2] = payload[k]
    back = payload[best_ring]
    payload[best_ring] = code
    for h in range(count + 1):
        source = low + (best_hole + h) % count
        ring[best_ring + 1 + h] = holes[source]
        payload[best_ring + 1 + h] = holes[source]
    payload[best_ring + 1 + count] = code
    ring[best_ring + count + 2] = ring[best_ring]
    payload[best_ring + count + 2] = back
    return size + count + 2


@kernel_with_memory
def polygonise(loops, corners, keep, outline, region, most_corners):
    """Convex polygons of all regions, with at most `most_corners` corners each.

    Returns Pieces and the number of rings that could not be triangulated to the end (0 for simple rims).
    """
    x, y = corners.x, corners.y
    loop_count = loops.offsets.size - 1
    kept = 0
    for e in range(loops.span.size):
        kept += keep[corners.root[e]]
    room = kept + 2 * loop_count + 4
    ring = np.empty(room, np.int32)
    payload = np.empty(room, np.int32)
    ear = np.empty(room, np.uint8)
    holes = np.empty(room, np.int32)
    hole_offsets = np.zeros(loop_count + 1, np.int32)
    edges = 3 * room
    corner = np.empty(edges, np.int32)
    following = np.empty(edges, np.int32)
    leading = np.empty(edges, np.int32)
    twin = np.full(edges, -1, np.int32)
    tag = np.full(edges, -1, np.int32)
    face_region = np.empty(room, np.int32)
    bridge_edge = np.full(loop_count + 1, -1, np.int32)
    holes_of = np.argsort(outline, kind="mergesort")
    cuts = loops.span.size  # payloads from here on are cuts, owed a twin
    hole_at = 0
    triangles, failures, bridges = 0, 0, 0
    for loop in range(loop_count):
        if outline[loop] >= 0:
            continue
        size = 0
        for e in range(loops.offsets[loop], loops.offsets[loop + 1]):
            if keep[corners.root[e]]:
                ring[size] = e
                payload[size] = e
                size += 1
        if size < 3:
            continue
        while hole_at < loop_count and outline[holes_of[hole_at]] < loop:
            hole_at += 1
        hole_count, used = 0, 0
        while hole_at < loop_count and outline[holes_of[hole_at]] == loop:
            hole = holes_of[hole_at]
            for e in range(loops.offsets[hole], loops.offsets[hole + 1]):
                if keep[corners.root[e]]:
                    holes[used] = e
                    used += 1
            hole_count += 1
            hole_offsets[hole_count] = used
            hole_at += 1
        for hole in range(hole_count):
            # Payloads below -1 are codes of bridges; each bridge is an edge of the ring twice.
            joined = _bridge(x, y, ring, payload, size, holes, hole_offsets, hole, hole_count, -2 - bridges)
            if joined < 0:
                failures += 1
            else:
                size = joined
                bridges += 1
        for k in range(size):
            ear[k] = _is_ear(x, y, ring, size, k)
        while size > 3:
            best, shortest = -1, np.int64(-1)
            for k in range(size):
                if ear[k]:
                    length = _diagonal2(x, y, ring, size, k)
                    if best < 0 or length < shortest:
                        best, shortest = k, length
            if best < 0:
                for k in range(size):
                    ear[k] = _is_ear(x, y, ring, size, k)
                    if ear[k] and best < 0:
                        best = k
            if best < 0:
                break
            before, after = (best - 1) % size, (best + 1) % size
            first = 3 * triangles
            corner[first], corner[first + 1], corner[first + 2] = ring[before], ring[best], ring[after]
            _take(payload[before], first, twin, tag, bridge_edge, cuts)
            _take(payload[best], first + 1, twin, tag, bridge_edge, cuts)
            payload[before] = cuts + first + 2
            face_region[triangles] = region[loops.span[loops.offsets[loop]]]
            triangles += 1
            for k in range(best, size - 1):
                ring[k] = ring[k + 1]
                payload[k] = payload[k + 1]
                ear[k] = ear[k + 1]
            size -= 1
            before = (best - 1) % size
            ear[before] = _is_ear(x, y, ring, size, before)
            ear[best % size] = _is_ear(x, y, ring, size, best % size)
        if size == 3 and _turn(x, y, ring[0], ring[1], ring[2]) > 0:
            first = 3 * triangles
            for k in range(3):
                corner[first + k] = ring[k]
                _take(payload[k], first + k, twin, tag, bridge_edge, cuts)
            face_region[triangles] = region[loops.span[loops.offsets[loop]]]
            triangles += 1
        else:
            failures += 1
    for edge in range(3 * triangles):
        following[edge] = edge - 2 if edge % 3 == 2 else edge + 1
        leading[edge] = edge + 2 if edge % 3 == 0 else edge - 1
    face = _merge(x, y, corner, following, leading, twin, triangles, most_corners)
    return _collect(corner, following, twin, tag, face, face_region, triangles), failures


@inline
def _take(code, edge, twin, tag, bridge_edge, cuts):
    """Give a triangle's edge what the ring knew of it: its unit edge, its twin, or that it is a bridge."""
    if code >= cuts:
        other = code - cuts
        twin[edge] = other
        twin[other] = edge
    elif code >= 0:
        tag[edge] = code
    else:
        bridge = -2 - code
        other = bridge_edge[bridge]
        if other < 0:
            bridge_edge[bridge] = edge
        else:
            twin[edge] = other
            twin[other] = edge


@helper_with_memory
def _merge(x, y, corner, following, leading, twin, triangles, most_corners):
    """Take out inner edges, longest first, wherever the polygon stays convex; return the face of each edge.

    An edge that cannot go now cannot go later (angles and sizes only grow), so one pass is enough.
    """
    count = 3 * triangles
    face = np.empty(count, np.int32)
    sizes = np.full(triangles, 3, np.int32)
    above = np.arange(triangles).astype(np.int32)
    inner = np.empty(count, np.int32)
    lengths = np.empty(count, np.int64)
    used = 0
    for edge in range(count):
        if twin[edge] > edge:
            a, b = corner[edge], corner[following[edge]]
            dx, dy = np.int64(x[a]) - x[b], np.int64(y[a]) - y[b]
            inner[used] = edge
            lengths[used] = -(dx * dx + dy * dy)
            used += 1
    for at in np.argsort(lengths[:used], kind="mergesort"):
        edge = inner[at]
        other = twin[edge]
        one, two = edge // 3, other // 3
        while above[one] != one:
            one = above[one]
        while above[two] != two:
            two = above[two]
        if one == two or sizes[one] + sizes[two] - 2 > most_corners:
            continue
        # Angles at both ends of the edge, once it is gone.
        start, end = corner[edge], corner[other]
        if _turn(x, y, corner[leading[edge]], start, corner[following[following[other]]]) < 0:
            continue
        if _turn(x, y, corner[leading[other]], end, corner[following[following[edge]]]) < 0:
            continue
        following[leading[edge]] = following[other]
        leading[following[other]] = leading[edge]
        following[leading[other]] = following[edge]
        leading[following[edge]] = leading[other]
        twin[edge] = -2
        twin[other] = -2
        above[max(one, two)] = min(one, two)
        sizes[min(one, two)] = sizes[one] + sizes[two] - 2
    for edge in range(count):
        root = edge // 3
        while above[root] != root:
            root = above[root]
        face[edge] = root
    return face


@helper_with_memory
def _collect(corner, following, twin, tag, face, face_region, triangles):
    """Polygons from half-edges, numbered by their first triangle."""
    count = 3 * triangles
    first = np.full(triangles, -1, np.int32)
    polygons, size = 0, 0
    for edge in range(count):
        if twin[edge] != -2:
            size += 1
            if first[face[edge]] < 0:
                first[face[edge]] = edge
                polygons += 1
    offsets = np.zeros(polygons + 1, np.int32)
    corners = np.empty(size, np.int32)
    tags = np.empty(size, np.int32)
    twins = np.empty(size, np.int32)
    regions = np.empty(polygons, np.int32)
    place = np.full(count, -1, np.int32)
    used, polygon = 0, 0
    for root in range(triangles):
        edge = first[root]
        if edge < 0:
            continue
        start = edge
        while True:
            corners[used] = corner[edge]
            tags[used] = tag[edge]
            twins[used] = twin[edge]
            place[edge] = used
            used += 1
            edge = following[edge]
            if edge == start:
                break
        regions[polygon] = face_region[root]
        polygon += 1
        offsets[polygon] = used
    for at in range(used):
        if twins[at] >= 0:
            twins[at] = place[twins[at]]
    return PolygonPieces(offsets, corners, tags, twins, regions)
