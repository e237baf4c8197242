# mypy: ignore-errors
"""A tree of boxes over triangles: how it is built, and the queries that other packages' kernels may call.

Each query kernel takes the `Boxes`, a `Stack` (one for each thread, reused between queries) and
points as ``(x, y, z)`` tuples of float64; it allocates nothing. Ties go to the lower triangle number.
"""

import math
from typing import NamedTuple

import numpy as np

from wayfold.core.jit import inline, kernel, kernel_with_memory
from wayfold.geometry.space_kernels import (
    closest_on_triangle,
    distance2,
    dot,
    ray_frame,
    ray_triangle,
    segment_triangle2,
    subtract,
    triangle_box,
)

STACK_SIZE = 64  # the builder keeps every tree shallower than this

# Room for the rounding of t = (plane - origin) / direction in a box test (Ize 2013), so that no box is missed.
_FAR = 1.0 + 8.0 * 2.220446049250313e-16
_NO_DEPTHS = np.empty(0)


class Boxes(NamedTuple):
    """The tree as kernels see it (all C-contiguous). Node 0 is the root; the children of a node lie side by side."""

    bounds: np.ndarray  # (n, 6) float32, low corner then high corner, rounded outwards
    links: np.ndarray  # (n, 2) int32: (first triangle, count) of a leaf, (left child, 0) of an inner node
    corners: np.ndarray  # (m, 9) float64, the corners of each triangle, in the order of the leaves
    triangles: np.ndarray  # (m,) int32, numbers of the triangles in the order of the leaves


class Stack(NamedTuple):
    """Scratch of a query: nodes still to visit and how far away they are."""

    nodes: np.ndarray  # (STACK_SIZE,) int32
    keys: np.ndarray  # (STACK_SIZE,) float64


@inline
def _corner(tree, place, k):
    """Corner `k` of the triangle at `place` in the order of the leaves."""
    row = tree.corners[place]
    return row[3 * k], row[3 * k + 1], row[3 * k + 2]


@inline
def _enter(tree, node, origin, inverse, grown, limit):
    """Parameter at which a ray enters the box of a node, grown by `grown` on all sides; infinity beyond `limit`.

    A NaN from 0 times infinity means that the ray runs along a face; both comparisons skip it, which keeps the box.
    """
    enter, leave = 0.0, limit
    box = tree.bounds[node]
    for d in range(3):
        low = (box[d] - grown - origin[d]) * inverse[d]
        high = (box[d + 3] + grown - origin[d]) * inverse[d]
        if inverse[d] < 0.0:
            low, high = high, low
        high *= _FAR
        if low > enter:
            enter = low
        if high < leave:
            leave = high
    return enter if enter <= leave else math.inf


@inline
def _inverse(direction, length):
    """`length` over each component; infinity over 0."""
    return length / direction[0], length / direction[1], length / direction[2]


@kernel
def ray_nearest(tree, stack, origin, direction, limit):
    """First triangle that a ray meets up to `limit` metres away: (metres, triangle), or (inf, -1).

    `direction` is not 0 and need not be a unit.
    """
    length = math.sqrt(dot(direction, direction))
    frame = ray_frame(direction, length)
    inverse = _inverse(direction, length)
    best, found = limit, -1
    stack.nodes[0] = 0
    stack.keys[0] = _enter(tree, 0, origin, inverse, 0.0, best)
    depth = 1
    while depth > 0:
        depth -= 1
        if not stack.keys[depth] <= best or stack.keys[depth] == math.inf:
            continue
        node = stack.nodes[depth]
        first, count = tree.links[node, 0], tree.links[node, 1]
        while count == 0:
            near, far = first, first + 1
            near_key = _enter(tree, near, origin, inverse, 0.0, best)
            far_key = _enter(tree, far, origin, inverse, 0.0, best)
            if far_key < near_key:
                near, far = far, near
                near_key, far_key = far_key, near_key
            if near_key == math.inf:
                break
            if far_key < math.inf:
                stack.nodes[depth] = far
                stack.keys[depth] = far_key
                depth += 1
            first, count = tree.links[near, 0], tree.links[near, 1]
        for place in range(first, first + count):
            t = ray_triangle(origin, frame, _corner(tree, place, 0), _corner(tree, place, 1), _corner(tree, place, 2))
            if t < best or (t == best and t < math.inf and (found < 0 or tree.triangles[place] < found)):
                best = t
                found = tree.triangles[place]
    return (best, found) if found >= 0 else (math.inf, -1)


@inline
def _meets(tree, stack, origin, direction, reach, depths):
    """Whether a ray meets a triangle up to `reach` times its direction, and no farther than its own of `depths` (t,).

    A triangle without depth is not met; with empty `depths` the reach alone counts.
    """
    frame = ray_frame(direction, 1.0)
    inverse = _inverse(direction, 1.0)
    stack.nodes[0] = 0
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack.nodes[depth]
        if _enter(tree, node, origin, inverse, 0.0, reach) == math.inf:
            continue
        first, count = tree.links[node, 0], tree.links[node, 1]
        if count == 0:
            stack.nodes[depth] = first
            stack.nodes[depth + 1] = first + 1
            depth += 2
        for place in range(first, first + count):
            limit = depths[tree.triangles[place]] if depths.size > 0 else reach
            a, b, c = _corner(tree, place, 0), _corner(tree, place, 1), _corner(tree, place, 2)
            if limit > 0.0 and ray_triangle(origin, frame, a, b, c) <= limit:
                return True
    return False


@kernel
def any_hit(tree, stack, p, q):
    """Whether the closed segment from `p` to `q` meets a triangle."""
    return _meets(tree, stack, p, subtract(q, p), 1.0, _NO_DEPTHS)


@kernel
def below_any(tree, stack, p, depths):
    """Whether a triangle straight above `p` is at most its depth away; `depths` (t,) float64, metres."""
    return _meets(tree, stack, p, (0.0, 0.0, 1.0), math.inf, depths)


@kernel
def capsule_clear(tree, stack, p, q, radius):
    """Whether every triangle is further than `radius` from the segment from `p` to `q`."""
    direction = subtract(q, p)
    inverse = _inverse(direction, 1.0)
    stack.nodes[0] = 0
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack.nodes[depth]
        if _enter(tree, node, p, inverse, radius, 1.0) == math.inf:
            continue
        first, count = tree.links[node, 0], tree.links[node, 1]
        if count == 0:
            stack.nodes[depth] = first
            stack.nodes[depth + 1] = first + 1
            depth += 2
        for place in range(first, first + count):
            a, b, c = _corner(tree, place, 0), _corner(tree, place, 1), _corner(tree, place, 2)
            if segment_triangle2(p, q, a, b, c) <= radius * radius:
                return False
    return True


@inline
def _box_distance2(tree, node, p):
    """Squared distance of a point and the box of a node."""
    total = 0.0
    box = tree.bounds[node]
    for d in range(3):
        gap = max(box[d] - p[d], p[d] - box[d + 3], 0.0)
        total += gap * gap
    return total


@kernel
def nearest_triangle(tree, stack, p, limit2):
    """Triangle nearest to `p`, no further than `limit2` squared: (squared distance, triangle, point), or (inf, -1, p).

    Boxes are visited from near to far, so that most of the tree is never looked at.
    """
    best, found, where = limit2, -1, p
    stack.nodes[0] = 0
    stack.keys[0] = _box_distance2(tree, 0, p)
    depth = 1
    while depth > 0:
        depth -= 1
        if stack.keys[depth] > best:
            continue
        node = stack.nodes[depth]
        first, count = tree.links[node, 0], tree.links[node, 1]
        while count == 0:
            near, far = first, first + 1
            near_key, far_key = _box_distance2(tree, near, p), _box_distance2(tree, far, p)
            if far_key < near_key:
                near, far = far, near
                near_key, far_key = far_key, near_key
            if near_key > best:
                break
            if far_key <= best:
                stack.nodes[depth] = far
                stack.keys[depth] = far_key
                depth += 1
            first, count = tree.links[near, 0], tree.links[near, 1]
        for place in range(first, first + count):
            a, b, c = _corner(tree, place, 0), _corner(tree, place, 1), _corner(tree, place, 2)
            point = closest_on_triangle(p, a, b, c)
            away = distance2(p, point)
            if away < best or (away == best and (found < 0 or tree.triangles[place] < found)):
                best, found, where = away, tree.triangles[place], point
    return (best, found, where) if found >= 0 else (math.inf, -1, p)


@kernel
def collect_hits(tree, stack, origin, direction, limit, distances, triangles):
    """Number of triangles that a ray meets up to `limit` metres away; the arrays get them sorted by (metres, number).

    `distances` float64 and `triangles` int32 have as many rows as there is room for, 0 to count only.
    """
    length = math.sqrt(dot(direction, direction))
    frame = ray_frame(direction, length)
    inverse = _inverse(direction, length)
    hits = 0
    stack.nodes[0] = 0
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack.nodes[depth]
        if _enter(tree, node, origin, inverse, 0.0, limit) == math.inf:
            continue
        first, count = tree.links[node, 0], tree.links[node, 1]
        if count == 0:
            stack.nodes[depth] = first
            stack.nodes[depth + 1] = first + 1
            depth += 2
        for place in range(first, first + count):
            t = ray_triangle(origin, frame, _corner(tree, place, 0), _corner(tree, place, 1), _corner(tree, place, 2))
            if t <= limit and t < math.inf:
                if hits < distances.size:
                    slot = hits
                    number = tree.triangles[place]
                    while slot > 0 and (
                        t < distances[slot - 1] or (t == distances[slot - 1] and number < triangles[slot - 1])
                    ):
                        distances[slot] = distances[slot - 1]
                        triangles[slot] = triangles[slot - 1]
                        slot -= 1
                    distances[slot] = t
                    triangles[slot] = number
                hits += 1
    return hits


@kernel
def collect_overlapping(tree, stack, low, high, triangles):
    """Number of triangles that touch the closed box from `low` to `high` (tuples); `triangles` gets them unsorted.

    `triangles` int32 has as many rows as there is room for, 0 to count only.
    """
    found = 0
    stack.nodes[0] = 0
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack.nodes[depth]
        apart = False
        for d in range(3):
            apart = apart or tree.bounds[node, d] > high[d] or tree.bounds[node, d + 3] < low[d]
        if apart:
            continue
        first, count = tree.links[node, 0], tree.links[node, 1]
        if count == 0:
            stack.nodes[depth] = first
            stack.nodes[depth + 1] = first + 1
            depth += 2
        for place in range(first, first + count):
            a, b, c = _corner(tree, place, 0), _corner(tree, place, 1), _corner(tree, place, 2)
            if triangle_box(a, b, c, low, high):
                if found < triangles.size:
                    triangles[found] = tree.triangles[place]
                found += 1
    return found


@inline
def _row(points, row):
    """A row of an (n, 3) array as a tuple."""
    return points[row, 0], points[row, 1], points[row, 2]


@kernel
def batch_rays(tree, stack, origins, directions, limit, first, last, distances, triangles):
    """`ray_nearest` for rows `first` to `last` of (q, 3) float64 rays.

    `distances` (q,) float64 and `triangles` (q,) int32 are set.
    """
    for row in range(first, last):
        t, triangle = ray_nearest(tree, stack, _row(origins, row), _row(directions, row), limit)
        distances[row] = t
        triangles[row] = triangle


@kernel
def batch_hits(tree, stack, origins, directions, limit, offsets, first, last, counts, distances, triangles):
    """`collect_hits` for rows `first` to `last`; row k has the room from ``offsets[k]`` to ``offsets[k + 1]``.

    `counts` (q,) int64 is set; `offsets` (q + 1,) int64 is all 0 in the pass that only counts.
    """
    for row in range(first, last):
        begin, end = offsets[row], offsets[row + 1]
        counts[row] = collect_hits(
            tree,
            stack,
            _row(origins, row),
            _row(directions, row),
            limit,
            distances[begin:end],
            triangles[begin:end],
        )


@kernel
def batch_visible(tree, stack, starts, ends, first, last, visible):
    """Set `visible` (q,) bool for the segments `first` to `last` between rows of (q, 3) float64 points."""
    for row in range(first, last):
        visible[row] = not any_hit(tree, stack, _row(starts, row), _row(ends, row))


@kernel
def batch_clear(tree, stack, starts, ends, radius, first, last, clear):
    """Set `clear` (q,) bool for the capsules `first` to `last` between rows of (q, 3) float64 points."""
    for row in range(first, last):
        clear[row] = capsule_clear(tree, stack, _row(starts, row), _row(ends, row), radius)


@kernel
def batch_nearest(tree, stack, points, limit2, first, last, distances, triangles, closest):
    """`nearest_triangle` for rows `first` to `last` of `points` (q, 3) float64.

    `distances` (q,) float64, `triangles` (q,) int32 and `closest` (q, 3) float64 are set.
    """
    for row in range(first, last):
        away, triangle, point = nearest_triangle(tree, stack, _row(points, row), limit2)
        distances[row] = math.sqrt(away)
        triangles[row] = triangle
        closest[row, 0], closest[row, 1], closest[row, 2] = point


# Below this depth the builder halves ranges without looking, so that no tree of up to 2**31 triangles is deeper than
# BALANCE_DEPTH + 30 and one stack size serves all.
BALANCE_DEPTH = 32

BINS = 16  # for the surface area heuristic, each axis
LEAF_SIZE = 8  # most triangles in a leaf
TRIANGLE_COST = 1.5  # of one triangle test, in box tests


@inline
def _half_area(low, high):
    """Half the surface of a box given by two (3,) rows."""
    x, y, z = high[0] - low[0], high[1] - low[1], high[2] - low[2]
    return x * y + y * z + z * x


@inline
def _bin(boxes, box, axis, low, scale):
    """Bin of a triangle by the doubled centre of its box; `low` is that of bin 0, `scale` the bins a metre."""
    return min(int((np.float64(boxes[box, axis]) + boxes[box, axis + 3] - low) * scale), BINS - 1)


@inline
def _choose_split(boxes, order, first, last, low, high, bin_low, bin_high, bin_count, right_area):
    """Cheapest cut of triangles `first` to `last` of `order`: (axis, first bin of the right side, cost).

    `low` and `high` (3,) are the bounds of their doubled centres. The cost is the sum of half area times count. The
    axis is -1 when all the centres are one point. The bin arrays are scratch.
    """
    best_axis, best_bin, best_cost = -1, 0, math.inf
    for axis in range(3):
        if not high[axis] > low[axis]:
            continue
        scale = BINS / (high[axis] - low[axis])
        bin_low[:] = np.inf
        bin_high[:] = -np.inf
        bin_count[:] = 0
        for place in range(first, last):
            box = order[place]
            k = _bin(boxes, box, axis, low[axis], scale)
            bin_count[k] += 1
            for d in range(3):
                bin_low[k, d] = min(bin_low[k, d], boxes[box, d])
                bin_high[k, d] = max(bin_high[k, d], boxes[box, d + 3])
        count = 0
        for k in range(BINS - 1, 0, -1):
            count += bin_count[k]
            for d in range(3):
                bin_low[BINS, d] = min(bin_low[BINS, d], bin_low[k, d])
                bin_high[BINS, d] = max(bin_high[BINS, d], bin_high[k, d])
            right_area[k] = _half_area(bin_low[BINS], bin_high[BINS]) * count if count else math.inf
        count = 0
        for k in range(1, BINS):
            count += bin_count[k - 1]
            if k > 1:
                for d in range(3):
                    bin_low[0, d] = min(bin_low[0, d], bin_low[k - 1, d])
                    bin_high[0, d] = max(bin_high[0, d], bin_high[k - 1, d])
            if count:
                cost = _half_area(bin_low[0], bin_high[0]) * count + right_area[k]
                if cost < best_cost:
                    best_axis, best_bin, best_cost = axis, k, cost
    return best_axis, best_bin, best_cost


@inline
def _partition(boxes, order, first, last, axis, low, high, cut):
    """Move the triangles whose bin is below `cut` to the front of the range; return where the others begin."""
    scale = BINS / (high[axis] - low[axis])
    left, right = first, last - 1
    while left <= right:
        box = order[left]
        if _bin(boxes, box, axis, low[axis], scale) < cut:
            left += 1
        else:
            order[left] = order[right]
            order[right] = box
            right -= 1
    return left


@inline
def _push(waiting, row, node, first, last, depth):
    """Note down a range of triangles that is to become `node`."""
    waiting[row, 0] = node
    waiting[row, 1] = first
    waiting[row, 2] = last
    waiting[row, 3] = depth


@kernel_with_memory
def build_boxes(boxes, order, bounds, links):
    """Build the tree top-down by the surface area heuristic (binned, Wald 2007); return its number of nodes.

    `boxes` (m, 6) float32 is the box of each triangle; `order` (m,) int32 holds 0 to m - 1 and becomes the order of the
    leaves; `bounds` (2 m - 1, 6) float32 and `links` (2 m - 1, 2) int32 are filled.
    """
    waiting = np.empty((STACK_SIZE, 4), np.int64)
    bin_low = np.empty((BINS + 1, 3), np.float64)
    bin_high = np.empty((BINS + 1, 3), np.float64)
    bin_count = np.empty(BINS, np.int64)
    right_area = np.empty(BINS, np.float64)
    low, high = np.empty(3, np.float64), np.empty(3, np.float64)
    nodes = 1
    _push(waiting, 0, 0, 0, order.size, 0)
    ranges = 1
    while ranges > 0:
        ranges -= 1
        node, first = waiting[ranges, 0], waiting[ranges, 1]
        last, depth = waiting[ranges, 2], waiting[ranges, 3]
        bounds[node, :3] = np.inf
        bounds[node, 3:] = -np.inf
        low[:] = np.inf
        high[:] = -np.inf
        for place in range(first, last):
            box = order[place]
            for d in range(3):
                bounds[node, d] = min(bounds[node, d], boxes[box, d])
                bounds[node, d + 3] = max(bounds[node, d + 3], boxes[box, d + 3])
                centre = np.float64(boxes[box, d]) + boxes[box, d + 3]
                low[d] = min(low[d], centre)
                high[d] = max(high[d], centre)
        count = last - first
        axis, cut, cost = -1, 0, math.inf
        if count > 2 and depth < BALANCE_DEPTH:
            axis, cut, cost = _choose_split(
                boxes, order, first, last, low, high, bin_low, bin_high, bin_count, right_area
            )
        area = _half_area(bounds[node, :3], bounds[node, 3:])
        if count <= 2 or (count <= LEAF_SIZE and TRIANGLE_COST * (cost - area * count) + area >= 0.0):
            links[node, 0] = first
            links[node, 1] = count
            continue
        middle = first + count // 2
        if axis >= 0:
            middle = _partition(boxes, order, first, last, axis, low, high, cut)
        links[node, 0] = nodes
        links[node, 1] = 0
        # The larger part waits below the smaller one, which is finished first: few ranges wait at any time.
        if middle - first < last - middle:
            _push(waiting, ranges, nodes + 1, middle, last, depth + 1)
            _push(waiting, ranges + 1, nodes, first, middle, depth + 1)
        else:
            _push(waiting, ranges, nodes, first, middle, depth + 1)
            _push(waiting, ranges + 1, nodes + 1, middle, last, depth + 1)
        ranges += 2
        nodes += 2
    return nodes
