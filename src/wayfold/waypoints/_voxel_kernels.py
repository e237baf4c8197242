# mypy: ignore-errors
"""Free voxels as boxes, their openings into each other, and lines of sight between voxels."""

import math

from wayfold.core.jit import inline, kernel
from wayfold.geometry.predicate_kernels import orientation

_AROUND = 0.5 + 1.0 / 1024.0  # voxels whose middles are this near to a line are looked at


@inline
def free_row(blocked, taken, x, x_end, y, z):
    """Whether voxels x to x_end - 1 of a row are free and not in a box yet."""
    for at in range(x, x_end):
        if blocked[at, y, z] or taken[at, y, z]:
            return False
    return True


@kernel
def free_boxes(blocked, taken, low, high, boxes):
    """Cut the free voxels of the block from `low` to `high` into boxes; returns how many.

    Runs along x, alike runs along y joined to rectangles, alike rectangles along z to boxes. `blocked` and `taken`
    (X, Y, Z) bool; `taken` is False in the block before. `boxes` (most, 6) int32 gets low corner and end.
    """
    count = 0
    for z in range(low[2], high[2]):
        for y in range(low[1], high[1]):
            x = low[0]
            while x < high[0]:
                if blocked[x, y, z] or taken[x, y, z]:
                    x += 1
                    continue
                x_end = x
                while x_end < high[0] and not blocked[x_end, y, z] and not taken[x_end, y, z]:
                    x_end += 1
                y_end = y + 1
                while y_end < high[1] and free_row(blocked, taken, x, x_end, y_end, z):
                    y_end += 1
                z_end = z + 1
                while z_end < high[2]:
                    fits = True
                    for row in range(y, y_end):
                        if not free_row(blocked, taken, x, x_end, row, z_end):
                            fits = False
                            break
                    if not fits:
                        break
                    z_end += 1
                taken[x:x_end, y:y_end, z:z_end] = True
                boxes[count, 0], boxes[count, 1], boxes[count, 2] = x, y, z
                boxes[count, 3], boxes[count, 4], boxes[count, 5] = x_end, y_end, z_end
                count += 1
                x = x_end
    return count


@kernel
def box_numbers(boxes, first, numbers):
    """Write the number of each box, counted from `first`, into its voxels."""
    for at in range(boxes.shape[0]):
        x, y, z = boxes[at, 0], boxes[at, 1], boxes[at, 2]
        numbers[x : boxes[at, 3], y : boxes[at, 4], z : boxes[at, 5]] = first + at


@kernel
def openings(boxes, numbers, pairs, places):
    """Faces that two boxes share: returns how many; `pairs` (most, 2) int32 and `places` (most, 3) float32 are set.

    The place is the middle of the shared rectangle; voxel (x, y, z) has its middle at those numbers. Those that the
    arrays have no room for are only counted.
    """
    count = 0
    for at in range(boxes.shape[0]):
        for axis in range(3):
            plane = boxes[at, 3 + axis]
            if plane >= numbers.shape[axis]:
                continue
            u, v = (axis + 1) % 3, (axis + 2) % 3
            for i in range(boxes[at, u], boxes[at, 3 + u]):
                for j in range(boxes[at, v], boxes[at, 3 + v]):
                    other = number_at(numbers, axis, plane, i, j)
                    # Each rectangle is met at its low corner: the first voxel of it in both directions.
                    if other < 0:
                        continue
                    if i != max(boxes[at, u], boxes[other, u]) or j != max(boxes[at, v], boxes[other, v]):
                        continue
                    if count < pairs.shape[0]:
                        pairs[count, 0], pairs[count, 1] = at, other
                        places[count, axis] = plane - 0.5
                        places[count, u] = 0.5 * (i + min(boxes[at, 3 + u], boxes[other, 3 + u]) - 1)
                        places[count, v] = 0.5 * (j + min(boxes[at, 3 + v], boxes[other, 3 + v]) - 1)
                    count += 1
    return count


@inline
def number_at(numbers, axis, plane, i, j):
    """The box number at `plane` along `axis` and (i, j) along the other two, in cyclic order."""
    if axis == 0:
        return numbers[plane, i, j]
    if axis == 1:
        return numbers[j, plane, i]
    return numbers[i, j, plane]


@inline
def beside_line(p, q, u, v, low_u, low_v):
    """Whether a unit square lies strictly on one side of a line, seen along the axis that is neither `u` nor `v`.

    The line goes through `p` and `q`; `low_u`, `low_v` is the low corner of the square. Exact in sign.
    """
    first = orientation(p[u], p[v], q[u], q[v], low_u, low_v)
    if first == 0:
        return False
    for corner in range(1, 4):
        if orientation(p[u], p[v], q[u], q[v], low_u + (corner & 1), low_v + (corner >> 1)) != first:
            return False
    return True


@inline
def meets_voxel(p, q, i, j, k):
    """Whether the closed segment from `p` to `q` meets the closed voxel (i, j, k): no axis tells them apart."""
    low = i - 0.5, j - 0.5, k - 0.5
    for axis in range(3):
        if max(p[axis], q[axis]) < low[axis] or min(p[axis], q[axis]) > low[axis] + 1.0:
            return False
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        if beside_line(p, q, u, v, low[u], low[v]):
            return False
    return True


@kernel
def line_free(blocked, p, q):
    """Whether a straight line meets free voxels only.

    Voxels are closed: a line through an edge or a corner meets all voxels around it, as moves of the benchmark do, and
    a line along a face those on both sides. Beyond the map there are none. `p` and `q` are tuples of float64.
    """
    axis = 0
    for other in range(1, 3):
        if abs(q[other] - p[other]) > abs(q[axis] - p[axis]):
            axis = other
    u, v = (axis + 1) % 3, (axis + 2) % 3
    span = q[axis] - p[axis]
    first = max(0, math.ceil(min(p[axis], q[axis]) - 0.5))
    last = min(blocked.shape[axis] - 1, math.floor(max(p[axis], q[axis]) + 0.5))
    for at in range(first, last + 1):
        # Where the line is in this layer, generously: which voxels of it are met is decided exactly.
        begin, end = 0.0, 1.0
        if span != 0.0:
            begin, end = (at - 0.5 - p[axis]) / span, (at + 0.5 - p[axis]) / span
            if begin > end:
                begin, end = end, begin
            begin, end = max(begin, 0.0), min(end, 1.0)
        a, b = p[u] + begin * (q[u] - p[u]), p[u] + end * (q[u] - p[u])
        c, d = p[v] + begin * (q[v] - p[v]), p[v] + end * (q[v] - p[v])
        for i in range(
            max(0, math.ceil(min(a, b) - _AROUND)), min(blocked.shape[u] - 1, math.floor(max(a, b) + _AROUND)) + 1
        ):
            for j in range(
                max(0, math.ceil(min(c, d) - _AROUND)), min(blocked.shape[v] - 1, math.floor(max(c, d) + _AROUND)) + 1
            ):
                x, y, z = at, i, j
                if axis == 1:
                    x, y, z = j, at, i
                elif axis == 2:
                    x, y, z = i, j, at
                if blocked[x, y, z] and meets_voxel(p, q, x, y, z):
                    return False
    return True


@kernel
def furthest_free(blocked, p, points, count):
    """The last of the first `count` rows of `points` (k, 3) float64 that a free line leads to from `p`, -1 for none."""
    for at in range(count - 1, -1, -1):
        if line_free(blocked, p, (points[at, 0], points[at, 1], points[at, 2])):
            return at
    return -1


@kernel
def voxel_shortcuts(blocked, points, kept):
    """Places in `points` (k, 3) float64 that remain after free shortcuts; returns how many."""
    kept[0] = 0
    count, at = 1, 0
    last = points.shape[0] - 1
    while at < last:
        far = at + 1
        p = points[at, 0], points[at, 1], points[at, 2]
        reach = 2
        # Look on while it is free, then twice as far, so that one blocked place does not end it.
        while at + reach <= last:
            q = points[at + reach, 0], points[at + reach, 1], points[at + reach, 2]
            if line_free(blocked, p, q):
                far = at + reach
            elif reach > 2 * (far - at) + 8:
                break
            reach += 1
        kept[count] = far
        count += 1
        at = far
    return count
