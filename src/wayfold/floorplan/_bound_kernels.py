# mypy: ignore-errors
"""Regions as common parts of half-planes, and the bins that walls and regions lie in.

A region is kept as its *bounds* in counter-clockwise order. A bound is one of the four sides of the seed (0 east,
1 north, 2 west, 3 south), which grow, or a wall that the region follows. The corners of a region are where consecutive
bounds meet, so a side that moves outwards drags its ends along its two neighbours.

Everything about a side is done in its own frame: u points outwards, v to the left of it.
"""

import math
from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline, kernel

MOST_BOUNDS = 48  # a region that has as many follows no further wall
COS = np.array([1.0, 0.0, -1.0, 0.0])
SIN = np.array([0.0, 1.0, 0.0, -1.0])

DONE, FULL = 0, 1


class Walls(NamedTuple):
    """The border of the free space: directed edges with the free side on their left, and the bins they lie in."""

    ends: np.ndarray  # (e, 4) float64, ax, ay, bx, by
    normals: np.ndarray  # (e, 2) float64, unit, towards the free side
    following: np.ndarray  # (e,) int32, edge that starts where this one ends
    previous: np.ndarray  # (e,) int32
    bins: np.ndarray  # (columns * rows + 1,) int64, offsets into `items`
    items: np.ndarray  # (k,) int32, edges by bin
    frame: np.ndarray  # (3,) float64: x and y of the lowest corner of the bins, bins per metre
    shape: np.ndarray  # (2,) int64: columns, rows


class Regions(NamedTuple):
    """Regions that grow, with room for more, and the bins they lie in (a linked list for each bin)."""

    limits: np.ndarray  # (r, 4) float64, u of each side in its own frame
    states: np.ndarray  # (r, 4) uint8
    bounds: np.ndarray  # (r, MOST_BOUNDS) int32, wall, or -1 - side
    counts: np.ndarray  # (r,) int32, bounds in use; 0 is no region
    corners: np.ndarray  # (r, MOST_BOUNDS, 2) float64, corner k is where bounds k and k + 1 meet
    boxes: np.ndarray  # (r, 4) float64, low x, low y, high x, high y
    spans: np.ndarray  # (r, 4) int64, first and last column, first and last row of its bins
    heads: np.ndarray  # (columns * rows,) int32, first link of each bin, -1 for none
    links: np.ndarray  # (capacity, 2) int32, region and next link
    used: np.ndarray  # (2,) int64, regions and links in use


@inline
def wall_height(walls, wall, side, u):
    """Height v of a wall's line at u in the frame of a side, kept within the wall where u is."""
    ends = walls.ends
    c, s = COS[side], SIN[side]
    ua, va = c * ends[wall, 0] + s * ends[wall, 1], c * ends[wall, 1] - s * ends[wall, 0]
    ub, vb = c * ends[wall, 2] + s * ends[wall, 3], c * ends[wall, 3] - s * ends[wall, 2]
    if ua == ub:
        return 0.5 * (va + vb)
    v = va + (u - ua) / (ub - ua) * (vb - va)
    if min(ua, ub) <= u <= max(ua, ub):
        v = min(max(v, min(va, vb)), max(va, vb))
    return v


@inline
def height(walls, regions, region, bound, side, u):
    """Height v at u of a bound that is a neighbour of `side`, in the frame of `side`."""
    if bound >= 0:
        return wall_height(walls, bound, side, u)
    if -1 - bound == (side + 1) % 4:
        return regions.limits[region, -1 - bound]
    return -regions.limits[region, -1 - bound]


@inline
def depth(walls, regions, region, bound, x, y):
    """How far a point lies on the inner side of a bound."""
    if bound >= 0:
        return walls.normals[bound, 0] * (x - walls.ends[bound, 0]) + walls.normals[bound, 1] * (
            y - walls.ends[bound, 1]
        )
    return regions.limits[region, -1 - bound] - (COS[-1 - bound] * x + SIN[-1 - bound] * y)


@inline
def wall_reach(walls, wall, side):
    """The largest u of a wall in the frame of a side: growth along it is capped there."""
    ends = walls.ends
    return max(
        COS[side] * ends[wall, 0] + SIN[side] * ends[wall, 1], COS[side] * ends[wall, 2] + SIN[side] * ends[wall, 3]
    )


@inline
def corner(walls, regions, region, first, second):
    """Where two consecutive bounds meet."""
    ends = walls.ends
    if first < 0 and second < 0:
        side = -1 - first
        u = regions.limits[region, side]
        v = height(walls, regions, region, second, side, u)
    elif first < 0 or second < 0:
        side = -1 - min(first, second)
        u = regions.limits[region, side]
        v = wall_height(walls, max(first, second), side, u)
    else:
        if walls.following[first] == second:
            return ends[first, 2], ends[first, 3]
        ax, ay = ends[first, 2] - ends[first, 0], ends[first, 3] - ends[first, 1]
        bx, by = ends[second, 2] - ends[second, 0], ends[second, 3] - ends[second, 1]
        across = ax * by - ay * bx
        if across == 0.0:
            return ends[first, 2], ends[first, 3]
        t = ((ends[second, 0] - ends[first, 0]) * by - (ends[second, 1] - ends[first, 1]) * bx) / across
        return ends[first, 0] + t * ax, ends[first, 1] + t * ay
    return COS[side] * u - SIN[side] * v, SIN[side] * u + COS[side] * v


@inline
def insert_bound(regions, region, at, bound):
    """Put a bound before position `at` of a region's bounds."""
    count = regions.counts[region]
    for k in range(count, at, -1):
        regions.bounds[region, k] = regions.bounds[region, k - 1]
    regions.bounds[region, at] = bound
    regions.counts[region] = count + 1


@inline
def position(regions, region, side):
    """Where a side stands among the bounds of its region."""
    at = 0
    while regions.bounds[region, at] != -1 - side:
        at += 1
    return at


@inline
def bin_range(walls, low, high, axis):
    """First and last bin along an axis that an interval touches."""
    last = walls.shape[axis] - 1
    first = int((low - walls.frame[axis]) * walls.frame[2])
    final = int((high - walls.frame[axis]) * walls.frame[2])
    return min(max(first, 0), last), min(max(final, 0), last)


@helper
def refresh(walls, regions, region):
    """Corners, box and bins of a region after it changed; returns FULL when there is no room for its links."""
    count = regions.counts[region]
    box = regions.boxes[region]
    box[0] = box[1] = np.inf
    box[2] = box[3] = -np.inf
    for k in range(count):
        following = k + 1 if k + 1 < count else 0
        x, y = corner(walls, regions, region, regions.bounds[region, k], regions.bounds[region, following])
        regions.corners[region, k, 0] = x
        regions.corners[region, k, 1] = y
        box[0], box[1] = min(box[0], x), min(box[1], y)
        box[2], box[3] = max(box[2], x), max(box[3], y)
    left, right = bin_range(walls, box[0], box[2], 0)
    low, high = bin_range(walls, box[1], box[3], 1)
    span = regions.spans[region]
    if left >= span[0] and right <= span[1] and low >= span[2] and high <= span[3]:
        return DONE
    need = (right - left + 1) * (high - low + 1)
    if regions.used[1] + need > regions.links.shape[0]:
        return FULL
    for row in range(low, high + 1):
        for column in range(left, right + 1):
            if span[0] <= column <= span[1] and span[2] <= row <= span[3]:
                continue
            bin_ = row * walls.shape[0] + column
            link = regions.used[1]
            regions.used[1] += 1
            regions.links[link, 0] = region
            regions.links[link, 1] = regions.heads[bin_]
            regions.heads[bin_] = link
    span[0], span[1] = min(span[0], left), max(span[1], right)
    span[2], span[3] = min(span[2], low), max(span[3], high)
    return DONE


@kernel
def bin_walls(ends, frame, shape, counts, items, fill):
    """Count the walls of each bin into `counts` (bins + 1,), or write them to `items` where `fill` is set.

    A wall stands in the bins of each row that its part within the row touches.
    """
    inverse = frame[2]
    for wall in range(ends.shape[0]):
        ax, ay, bx, by = ends[wall, 0], ends[wall, 1], ends[wall, 2], ends[wall, 3]
        low = min(max(int((min(ay, by) - frame[1]) * inverse), 0), shape[1] - 1)
        high = min(max(int((max(ay, by) - frame[1]) * inverse), 0), shape[1] - 1)
        for row in range(low, high + 1):
            xa, xb = min(ax, bx), max(ax, bx)
            if low < high:
                below, above = frame[1] + row / inverse, frame[1] + (row + 1) / inverse
                ta = min(max((below - ay) / (by - ay), 0.0), 1.0)
                tb = min(max((above - ay) / (by - ay), 0.0), 1.0)
                margin = 1e-9 * (xb - xa)
                xa, xb = ax + min(ta, tb) * (bx - ax), ax + max(ta, tb) * (bx - ax)
                xa, xb = min(xa, xb) - margin, max(xa, xb) + margin
            left = min(max(int((xa - frame[0]) * inverse), 0), shape[0] - 1)
            right = min(max(int((xb - frame[0]) * inverse), 0), shape[0] - 1)
            for column in range(left, right + 1):
                bin_ = row * shape[0] + column
                if fill:
                    items[counts[bin_]] = wall
                    counts[bin_] += 1
                else:
                    counts[bin_ + 1] += 1


@kernel
def unit_normals(ends, normals):
    """Unit normals to the left of directed edges."""
    for wall in range(ends.shape[0]):
        x, y = ends[wall, 2] - ends[wall, 0], ends[wall, 3] - ends[wall, 1]
        length = math.hypot(x, y)
        normals[wall, 0], normals[wall, 1] = -y / length, x / length
