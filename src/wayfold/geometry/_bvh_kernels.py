# mypy: ignore-errors
"""A tree of boxes over triangles: the queries that other rooms' kernels may call, and their batch forms.

Each query kernel takes the `Boxes`, a `Stack` (one for each thread, reused between queries) and
points as ``(x, y, z)`` tuples of float64; it allocates nothing. Ties go to the lower triangle number.
"""

import math
from typing import NamedTuple

import numpy as np

from wayfold.core.jit import inline, kernel
from wayfold.geometry._kernels import (
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
