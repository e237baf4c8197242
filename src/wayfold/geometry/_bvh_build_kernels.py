# mypy: ignore-errors
"""Building the tree of boxes over triangles that `_bvh_kernels` searches."""

import math

import numpy as np

from wayfold.core.jit import inline, kernel_with_memory
from wayfold.geometry._bvh_kernels import STACK_SIZE

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
