# mypy: ignore-errors
"""Free voxels as boxes, their openings into each other, and lines of sight between voxels."""

import math

from wayfold._jit import helper, inline, kernel


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

    The place is the middle of the shared rectangle; voxel (x, y, z) has its middle at those numbers. With arrays of
    size 0 the openings are only counted.
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
                    if pairs.shape[0] > 0:
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


@helper
def line_free(blocked, p, q):
    """Whether a straight line touches free voxels only; where it passes an edge or corner, all voxels around it."""
    steps = 2 + math.ceil(4.0 * max(abs(q[0] - p[0]), abs(q[1] - p[1]), abs(q[2] - p[2])))
    reach = 0.5 + 1.0 / 1024.0
    for at in range(steps + 1):
        t = at / steps
        x, y, z = p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2])
        for i in range(math.ceil(x - reach), math.floor(x + reach) + 1):
            for j in range(math.ceil(y - reach), math.floor(y + reach) + 1):
                for k in range(math.ceil(z - reach), math.floor(z + reach) + 1):
                    if blocked[i, j, k]:
                        return False
    return True


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
