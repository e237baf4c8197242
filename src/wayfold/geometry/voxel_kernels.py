# mypy: ignore-errors
"""Which cells of a lattice triangles touch, by cutting each triangle into slabs and the slabs into columns.

The part of a triangle inside a column of closed cells is a convex polygon; the cells of the column that touch the
triangle are those that touch its range of heights. So no cell is tested in vain, whichever way the triangle lies.
Lengths are in cells from the origin of the lattice.
"""

import math

import numpy as np

from wayfold.core.jit import inline, kernel, kernel_with_memory

_DIGIT_BITS = 11  # of the radix sort: its counters stay in the fastest cache
_MOST_CORNERS = 8  # a triangle cut by four planes has at most seven


@inline
def clip(source, count, axis, bound, side, target):
    """Cut a convex polygon, keeping where ``side * (coordinate - bound) >= 0``; return its number of corners.

    `source` and `target` are (_MOST_CORNERS, 3) float64; only rows below the number of corners count.
    """
    kept = 0
    for k in range(count):
        other = k + 1 if k + 1 < count else 0
        here = side * (source[k, axis] - bound)
        there = side * (source[other, axis] - bound)
        if here >= 0.0:
            for d in range(3):
                target[kept, d] = source[k, d]
            kept += 1
        if (here > 0.0 and there < 0.0) or (here < 0.0 and there > 0.0):
            t = here / (here - there)
            for d in range(3):
                target[kept, d] = source[k, d] + t * (source[other, d] - source[k, d])
            target[kept, axis] = bound
            kept += 1
    return kept


@inline
def _cell_range(polygon, count, axis, slack):
    """First and last cell along `axis` whose closed interval, grown by `slack`, meets the polygon."""
    low, high = polygon[0, axis], polygon[0, axis]
    for k in range(1, count):
        low = min(low, polygon[k, axis])
        high = max(high, polygon[k, axis])
    return math.floor(low - slack), math.floor(high + slack)


@kernel_with_memory
def touched_cells(corners, slack, low, shape, offsets, first, last, counts, codes):
    """Cells that triangles `first` to `last` of `corners` (m, 3, 3) float64 come within `slack` cells of.

    `counts` (m,) int64 is set to the number for each triangle. Where triangle k has room in `codes` int64, from
    ``offsets[k]`` to ``offsets[k + 1]``, its cells are written there as row-major numbers in the box of `shape` cells
    from cell `low`, both (3,) int64. `offsets` (m + 1,) int64 is all 0 in the pass that only counts.
    """
    triangle = np.empty((_MOST_CORNERS, 3), np.float64)
    half = np.empty((_MOST_CORNERS, 3), np.float64)
    slab = np.empty((_MOST_CORNERS, 3), np.float64)
    column = np.empty((_MOST_CORNERS, 3), np.float64)
    for number in range(first, last):
        for k in range(3):
            for d in range(3):
                triangle[k, d] = corners[number, k, d]
        found = 0
        place = offsets[number]
        write = offsets[number + 1] > place
        x_first, x_last = _cell_range(triangle, 3, 0, slack)
        for x in range(x_first, x_last + 1):
            in_half = clip(triangle, 3, 0, x - slack, 1.0, half)
            in_slab = clip(half, in_half, 0, x + 1 + slack, -1.0, slab)
            if in_slab == 0:
                continue
            y_first, y_last = _cell_range(slab, in_slab, 1, slack)
            for y in range(y_first, y_last + 1):
                in_half = clip(slab, in_slab, 1, y - slack, 1.0, half)
                in_column = clip(half, in_half, 1, y + 1 + slack, -1.0, column)
                if in_column == 0:
                    continue
                z_first, z_last = _cell_range(column, in_column, 2, slack)
                if write:
                    row = ((x - low[0]) * shape[1] + y - low[1]) * shape[2] - low[2]
                    for z in range(z_first, z_last + 1):
                        codes[place + found + z - z_first] = row + z
                found += z_last - z_first + 1
        counts[number] = found


@kernel_with_memory
def sort_codes(codes, spare, limit):
    """Sort `codes` (k,) int64, all from 0 to below `limit`; return the sorted one of the two arrays, both overwritten.

    A radix sort: three times as fast here as comparing.
    """
    starts = np.empty(2**_DIGIT_BITS + 1, np.int64)
    mask = 2**_DIGIT_BITS - 1
    shift = 0
    while (limit - 1) >> shift > 0:
        starts[:] = 0
        for k in range(codes.size):
            starts[((codes[k] >> shift) & mask) + 1] += 1
        for digit in range(mask):
            starts[digit + 1] += starts[digit]
        for k in range(codes.size):
            digit = (codes[k] >> shift) & mask
            spare[starts[digit]] = codes[k]
            starts[digit] += 1
        codes, spare = spare, codes
        shift += _DIGIT_BITS
    return codes


@kernel
def decode_cells(codes, low, shape, cells):
    """Write the cell of each different number in the sorted `codes` (k,) int64 to the next row of `cells` int32."""
    rows = 0
    for k in range(codes.size):
        if k > 0 and codes[k] == codes[k - 1]:
            continue
        column = codes[k] // shape[2]
        slab = column // shape[1]
        cells[rows, 0] = slab + low[0]
        cells[rows, 1] = column - slab * shape[1] + low[1]
        cells[rows, 2] = codes[k] - column * shape[2] + low[2]
        rows += 1
