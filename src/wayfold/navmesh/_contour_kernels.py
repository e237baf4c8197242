# mypy: ignore-errors
"""Contours (Fuentes 2015, section III.A, step 4): rims of regions, traced and simplified.

A rim is a loop of unit edges, region on the left. Two regions that meet share their unit edges, so what one region's
rim keeps is kept by the other's: the simplified rims fit together without gaps. Corners of unit edges are lattice
points; corners of different rims that are the same place on the same floor have the same *root*.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import inline, kernel_with_memory
from wayfold.graph.search_kernels import find_root


class Loops(NamedTuple):
    """Unit edges of all rims; those of loop k are `offsets[k]` to ``offsets[k + 1] - 1``."""

    offsets: np.ndarray  # (loops + 1,) int32
    span: np.ndarray  # (edges,) int32, the span inside
    side: np.ndarray  # (edges,) uint8, the side of it
    label: np.ndarray  # (edges,) int32, region on the other side: 0 a wall, negative the tile's border


@kernel_with_memory
def trace(links, region):
    """All rims of all regions, by walking along them with the wall on the right; returns Loops and the edge of a side.

    The second result, (n, 4) int32, is the number of the unit edge on each side of each span, -1 where there is none.
    """
    size = region.size
    edge_at = np.full((size, 4), -1, np.int32)
    edges = 0
    for k in range(size):
        if region[k] <= 0:
            continue
        for side in range(4):
            beside = links[k, side]
            if beside < 0 or region[beside] != region[k]:
                edge_at[k, side] = -2
                edges += 1
    span = np.empty(edges, np.int32)
    sides = np.empty(edges, np.uint8)
    label = np.empty(edges, np.int32)
    offsets = np.zeros(edges + 1, np.int32)
    used, loops = 0, 0
    for seed in range(size):
        for start in range(4):
            if edge_at[seed, start] != -2:
                continue
            k, side = seed, start
            while True:
                if edge_at[k, side] == -1:
                    k = links[k, side]
                    side = (side + 3) & 3
                    continue
                if edge_at[k, side] >= 0:
                    break
                beside = links[k, side]
                edge_at[k, side] = used
                span[used] = k
                sides[used] = side
                label[used] = region[beside] if beside >= 0 else 0
                used += 1
                side = (side + 1) & 3
            loops += 1
            offsets[loops] = used
    return Loops(offsets[: loops + 1].copy(), span, sides, label), edge_at


# Start corner of the unit edge on each side of a cell, sides counter-clockwise from the west.
_CORNER_X = np.array([0, 0, 1, 1], np.int32)
_CORNER_Y = np.array([1, 0, 0, 1], np.int32)


class Corners(NamedTuple):
    """Start corner of each unit edge."""

    x: np.ndarray  # (edges,) int32, lattice of the frame
    y: np.ndarray  # (edges,) int32
    floor: np.ndarray  # (edges,) int32, cell heights
    root: np.ndarray  # (edges,) int32, the first corner that is the same place
    loop: np.ndarray  # (edges,) int32


@inline
def _next(loops, corners, e):
    loop = corners.loop[e]
    return e + 1 if e + 1 < loops.offsets[loop + 1] else loops.offsets[loop]


@inline
def _partner(loops, links, edge_at, e):
    """The same unit edge seen from the region on its other side."""
    side = loops.side[e]
    return edge_at[links[loops.span[e], side], side ^ 2]


@kernel_with_memory
def join_corners(loops, edge_at, links, floor, columns, width):
    """Corners of all unit edges, and which of them must stay: where the other side of a rim changes.

    Returns Corners and `keep`, (edges,) uint8, set at the roots of locked corners.
    """
    edges = loops.span.size
    x = np.empty(edges, np.int32)
    y = np.empty(edges, np.int32)
    height = np.empty(edges, np.int32)
    root = np.arange(edges).astype(np.int32)
    loop_of = np.empty(edges, np.int32)
    keep = np.zeros(edges, np.uint8)
    for loop in range(loops.offsets.size - 1):
        for e in range(loops.offsets[loop], loops.offsets[loop + 1]):
            k, side = loops.span[e], loops.side[e]
            x[e] = columns[k] % width + _CORNER_X[side]
            y[e] = columns[k] // width + _CORNER_Y[side]
            height[e] = floor[k]
            loop_of[e] = loop
    corners = Corners(x, y, height, root, loop_of)
    for e in range(edges):
        if loops.label[e] > 0:
            other = _partner(loops, links, edge_at, e)
            # The two run in opposite directions: the start of one is the end of the other.
            a, b = find_root(root, e), find_root(root, _next(loops, corners, other))
            if a != b:
                root[max(a, b)] = min(a, b)
    for e in range(edges):
        root[e] = find_root(root, e)
    for before in range(edges):
        e = _next(loops, corners, before)
        locked = loops.label[before] != loops.label[e]
        # What others join later, along the tile's sides and lanes, stays where it is.
        locked |= loops.label[e] < 0 and loops.side[before] != loops.side[e]
        if not locked and loops.label[e] > 0:
            # Straight on along two regions only when the other region's rim goes straight on too.
            beyond = _next(loops, corners, _partner(loops, links, edge_at, e))
            locked = beyond != _partner(loops, links, edge_at, before)
        if locked:
            keep[root[e]] = 1
    return corners, keep


@inline
def _deviation(corners, a, b, e):
    """Squared distance in cells of corner `e` from the straight line between corners `a` and `b`."""
    ax, ay = float(corners.x[a]), float(corners.y[a])
    dx, dy = corners.x[b] - ax, corners.y[b] - ay
    px, py = corners.x[e] - ax, corners.y[e] - ay
    length = dx * dx + dy * dy
    t = 0.0
    if length > 0.0:
        t = min(1.0, max(0.0, (px * dx + py * dy) / length))
    px -= t * dx
    py -= t * dy
    return px * px + py * py


@inline
def _turn(corners, a, b, c):
    """Twice the signed area of a triangle of corners; positive to the left."""
    ax, ay = np.int64(corners.x[a]), np.int64(corners.y[a])
    return (corners.x[b] - ax) * (corners.y[c] - ay) - (corners.y[b] - ay) * (corners.x[c] - ax)


@inline
def _farthest(loops, corners, a, b, left):
    """The corner strictly between `a` and `b` along their loop that is farthest from the line, and its deviation.

    Squared distances of corners to the left, where the region is, count `left` times.
    """
    best, farthest = -1, -1.0
    e = _next(loops, corners, a)
    while e != b:
        off = _deviation(corners, a, b, e)
        if left != 1.0 and _turn(corners, a, b, e) > 0:
            off *= left
        if off > farthest:
            best, farthest = e, off
        e = _next(loops, corners, e)
    return best, farthest


@inline
def _kept_after(loops, corners, keep, e):
    """The next kept corner along the loop, `e` itself if it is the only one."""
    after = _next(loops, corners, e)
    while after != e and keep[corners.root[after]] == 0:
        after = _next(loops, corners, after)
    return after


@inline
def _first_kept(loops, corners, keep, loop):
    """A kept corner of the loop; a loop with fewer than two first gets the two that are farthest apart."""
    first, last = loops.offsets[loop], loops.offsets[loop + 1]
    kept, count = -1, 0
    for e in range(first, last):
        if keep[corners.root[e]]:
            count += 1
            if kept < 0:
                kept = e
    if count == 0:
        kept = first
        for e in range(first, last):
            if corners.x[e] + corners.y[e] < corners.x[kept] + corners.y[kept]:
                kept = e
        keep[corners.root[kept]] = 1
    if count < 2:
        best, _ = _farthest(loops, corners, kept, kept, 1.0)
        keep[corners.root[best]] = 1
    return kept


@inline
def _changes_kind(loops, space, e):
    """Whether another kind of area lies beyond a unit edge between two regions."""
    k = loops.span[e]
    return loops.label[e] > 0 and space.kind[space.links[k, loops.side[e]]] != space.kind[k]


@kernel_with_memory
def simplify(loops, corners, keep, space, max_error, max_bulge, max_edge):
    """Ramer-Douglas-Peucker on the stretches of rim along walls and other kinds of area, between locked corners.

    A straight line may cut off `max_error` cells of ground, but take in only `max_bulge` cells of what is none; along
    another kind of area, where what one side loses the other gains, `max_bulge` holds for both. Stretches between two
    regions of one kind become straight, as the other region's do. Wall edges longer than `max_edge` cells (0: any
    length) are split in the middle. `keep` is updated.
    """
    stack = np.empty((loops.span.size + 1, 2), np.int32)
    for loop in range(loops.offsets.size - 1):
        start = _first_kept(loops, corners, keep, loop)
        a = start
        while True:
            b = _kept_after(loops, corners, keep, a)
            wall = loops.label[a] == 0
            if wall or _changes_kind(loops, space, a):
                most = max_error * max_error if wall else max_bulge * max_bulge
                inner = most / (max_bulge * max_bulge)
                stack[0, 0], stack[0, 1] = a, b
                size = 1
                while size > 0:
                    size -= 1
                    left, right = stack[size, 0], stack[size, 1]
                    middle, off = _farthest(loops, corners, left, right, inner)
                    if middle < 0:
                        continue
                    if off <= most:
                        dx = float(corners.x[right] - corners.x[left])
                        dy = float(corners.y[right] - corners.y[left])
                        steps = right - left
                        if steps <= 0:
                            steps += loops.offsets[loop + 1] - loops.offsets[loop]
                        if not wall or max_edge <= 0.0 or dx * dx + dy * dy <= max_edge * max_edge or steps < 2:
                            continue
                        middle = left + steps // 2
                        if middle >= loops.offsets[loop + 1]:
                            middle -= loops.offsets[loop + 1] - loops.offsets[loop]
                    keep[corners.root[middle]] = 1
                    stack[size, 0], stack[size, 1] = left, middle
                    stack[size + 1, 0], stack[size + 1, 1] = middle, right
                    size += 2
            a = b
            if a == start:
                break


@inline
def _between(corners, a, b, e):
    """Whether corner `e`, known to be on the line, lies strictly between `a` and `b`."""
    if corners.x[a] != corners.x[b]:
        return min(corners.x[a], corners.x[b]) < corners.x[e] < max(corners.x[a], corners.x[b])
    return min(corners.y[a], corners.y[b]) < corners.y[e] < max(corners.y[a], corners.y[b])


@inline
def _tangled(corners, a, b, c, d):
    """Whether the segments a-b and c-d cross, overlap, or one has an end inside the other."""
    abc, abd = _turn(corners, a, b, c), _turn(corners, a, b, d)
    cda, cdb = _turn(corners, c, d, a), _turn(corners, c, d, b)
    if ((abc > 0 and abd < 0) or (abc < 0 and abd > 0)) and ((cda > 0 and cdb < 0) or (cda < 0 and cdb > 0)):
        return True
    return (
        (abc == 0 and _between(corners, a, b, c))
        or (abd == 0 and _between(corners, a, b, d))
        or (cda == 0 and _between(corners, c, d, a))
        or (cdb == 0 and _between(corners, c, d, b))
    )


@inline
def _refine(loops, corners, keep, a, b):
    """Keep the farthest corner between two kept ones; return whether there is one off the line."""
    middle, off = _farthest(loops, corners, a, b, 1.0)
    if middle < 0 or off <= 0.0 or keep[corners.root[middle]]:
        return False
    keep[corners.root[middle]] = 1
    return True


@inline
def _loop_area(loops, corners, keep, loop, kept_only):
    """Twice the signed area of a loop, simplified or in full, and its number of corners."""
    area = np.int64(0)
    count = 0
    first = loops.offsets[loop]
    if kept_only:
        while keep[corners.root[first]] == 0:
            first += 1
    a = first
    while True:
        b = _kept_after(loops, corners, keep, a) if kept_only else _next(loops, corners, a)
        area += np.int64(corners.x[a]) * corners.y[b] - np.int64(corners.x[b]) * corners.y[a]
        count += 1
        a = b
        if a == first:
            return area, count


@inline
def _outside(loops, corners, keep, outline, hole):
    """Whether a simplified hole lies outside its simplified outer rim, judged by a corner that is not on the rim."""
    for e in range(loops.offsets[hole], loops.offsets[hole + 1]):
        if keep[corners.root[e]] == 0:
            continue
        inside, touching = False, False
        for a in range(loops.offsets[outline], loops.offsets[outline + 1]):
            if keep[corners.root[a]] == 0:
                continue
            b = _kept_after(loops, corners, keep, a)
            if corners.x[a] == corners.x[e] and corners.y[a] == corners.y[e]:
                touching = True
            if (corners.y[a] > corners.y[e]) != (corners.y[b] > corners.y[e]):
                turn = _turn(corners, a, b, e)
                touching |= turn == 0
                if (turn > 0) == (corners.y[b] > corners.y[a]):
                    inside = not inside
        if not touching:
            return not inside
    return False


@kernel_with_memory
def outlines(loops, corners, region):
    """For each loop the outer rim of its region where the loop is a hole, else -1."""
    keep = np.ones(loops.span.size, np.uint8)
    count = loops.offsets.size - 1
    # In a tile of nothing but border every number is below 0.
    outer = np.full(max(np.max(region), 0) + 1 if region.size > 0 else 1, -1, np.int32)
    result = np.full(count, -1, np.int32)
    for loop in range(count):
        if _loop_area(loops, corners, keep, loop, False)[0] > 0:
            outer[region[loops.span[loops.offsets[loop]]]] = loop
        else:
            result[loop] = 0
    for loop in range(count):
        if result[loop] == 0:
            result[loop] = outer[region[loops.span[loops.offsets[loop]]]]
    return result


@kernel_with_memory
def untangle(loops, corners, keep, outline, height):
    """Give simplified rims back as many corners as they need to be simple and free of each other; return how many.

    Segments of different regions whose floors are at least `height` apart are on different layers and may cross; one
    region is triangulated as a plane, however far it rises. `outline` (loops,) int32 is the outer rim of the region
    that each hole belongs to, -1 for outer rims themselves (see `outlines`).
    """
    edges = loops.span.size
    starts = np.empty(edges, np.int32)
    ends = np.empty(edges, np.int32)
    left = np.empty(edges, np.int32)
    added = 0
    while True:
        before = added
        count = 0
        for loop in range(loops.offsets.size - 1):
            for e in range(loops.offsets[loop], loops.offsets[loop + 1]):
                if keep[corners.root[e]]:
                    starts[count] = e
                    ends[count] = _kept_after(loops, corners, keep, e)
                    left[count] = min(corners.x[starts[count]], corners.x[ends[count]])
                    count += 1
        order = np.argsort(left[:count], kind="mergesort")
        for at in range(count):
            a, b = starts[order[at]], ends[order[at]]
            right = max(corners.x[a], corners.x[b])
            low, high = min(corners.y[a], corners.y[b]), max(corners.y[a], corners.y[b])
            for other in range(at + 1, count):
                if left[order[other]] > right:
                    break
                c, d = starts[order[other]], ends[order[other]]
                if max(corners.y[c], corners.y[d]) < low or min(corners.y[c], corners.y[d]) > high:
                    continue
                same = corners.root[a] == corners.root[c] and corners.root[b] == corners.root[d]
                if same or (corners.root[a] == corners.root[d] and corners.root[b] == corners.root[c]):
                    continue
                apart = max(
                    min(corners.floor[a], corners.floor[b]) - max(corners.floor[c], corners.floor[d]),
                    min(corners.floor[c], corners.floor[d]) - max(corners.floor[a], corners.floor[b]),
                )
                one, two = corners.loop[a], corners.loop[c]
                one, two = outline[one] if outline[one] >= 0 else one, outline[two] if outline[two] >= 0 else two
                if (apart >= height and one != two) or not _tangled(corners, a, b, c, d):
                    continue
                added += _refine(loops, corners, keep, a, b)
                added += _refine(loops, corners, keep, c, d)
        for loop in range(loops.offsets.size - 1):
            area, _ = _loop_area(loops, corners, keep, loop, False)
            simple, size = _loop_area(loops, corners, keep, loop, True)
            if size >= 3 and ((area > 0 and simple > 0) or (area < 0 and simple < 0)):
                continue
            best, farthest = -1, 0.0
            a = loops.offsets[loop]
            while keep[corners.root[a]] == 0:
                a += 1
            for _ in range(size):
                b = _kept_after(loops, corners, keep, a)
                middle, off = _farthest(loops, corners, a, b, 1.0)
                if middle >= 0 and off > farthest:
                    best, farthest = middle, off
                a = b
            if best >= 0:
                keep[corners.root[best]] = 1
                added += 1
        for loop in range(loops.offsets.size - 1):
            if outline[loop] >= 0 and _outside(loops, corners, keep, outline[loop], loop):
                for e in range(loops.offsets[outline[loop]], loops.offsets[outline[loop] + 1]):
                    if keep[corners.root[e]]:
                        added += _refine(loops, corners, keep, e, _kept_after(loops, corners, keep, e))
        if added == before:
            return added
