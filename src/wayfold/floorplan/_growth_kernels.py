# mypy: ignore-errors
"""Growth of convex regions (Hale et al. 2008, Algorithms 1 and 2): bounds, contacts, seeds and growth.

A region is kept as its *bounds* in counter-clockwise order. A bound is one of the four sides of the seed (0 east,
1 north, 2 west, 3 south), which grow, or a wall that the region follows. The corners of a region are where consecutive
bounds meet, so a side that moves outwards drags its ends along its two neighbours.

Everything about a side is done in its own frame: u points outwards, v to the left of it.

"Splitting a vertex" (the paper's third collision case) is the insertion of a wall between a side and its neighbour. A
region stays convex because it is never anything but a common part of half-planes; see `_bound_kernels`.
"""

import math
from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline, kernel
from wayfold.geometry.plane_kernels import orientation

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


class GrowingRegions(NamedTuple):
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
def insert_bound(regions, region, index, bound):
    """Put a bound before position `index` of a region's bounds."""
    count = regions.counts[region]
    for k in range(count, index, -1):
        regions.bounds[region, k] = regions.bounds[region, k - 1]
    regions.bounds[region, index] = bound
    regions.counts[region] = count + 1


@inline
def position(regions, region, side):
    """Where a side stands among the bounds of its region."""
    index = 0
    while regions.bounds[region, index] != -1 - side:
        index += 1
    return index


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


FREE, INSIDE, TOP, BOTTOM = 0, 1, 2, 3  # what a moving side meets, and where


@inline
def enter_time(begin, end, t0, t1):
    """Clip the parameter range [t0, t1] of a segment to where a linear function, given at its ends, is >= 0."""
    if begin < 0.0 and end < 0.0:
        return 1.0, 0.0
    if begin < 0.0:
        return max(t0, begin / (begin - end)), t1
    if end < 0.0:
        return t0, min(t1, begin / (begin - end))
    return t0, t1


@inline
def meet_wall(walls, regions, region, side, top, bottom, u0, end, gap, wall):
    """The least u at which the zone that a side sweeps from u0 to `end` meets a wall, and where: (u, place)."""
    c, s = COS[side], SIN[side]
    ax, ay, bx, by = walls.ends[wall, 0], walls.ends[wall, 1], walls.ends[wall, 2], walls.ends[wall, 3]
    ua, ub = c * ax + s * ay, c * bx + s * by
    if min(ua, ub) >= end or max(ua, ub) < u0 - gap or wall == top or wall == bottom:
        return np.inf, FREE
    if ua == ub and c * walls.normals[wall, 0] + s * walls.normals[wall, 1] > 0.0:
        return np.inf, FREE  # parallel, and seen from behind
    top_a = depth(walls, regions, region, top, ax, ay) - gap
    top_b = depth(walls, regions, region, top, bx, by) - gap
    low_a = depth(walls, regions, region, bottom, ax, ay) - gap
    low_b = depth(walls, regions, region, bottom, bx, by) - gap
    if (top_a <= 0.0 and top_b <= 0.0) or (low_a <= 0.0 and low_b <= 0.0):
        return np.inf, FREE
    t0, t1 = enter_time(top_a, top_b, 0.0, 1.0)
    t0, t1 = enter_time(low_a, low_b, t0, t1)
    t0, t1 = enter_time(ua - u0 + gap, ub - u0 + gap, t0, t1)
    if not t0 < t1:
        return np.inf, FREE
    # Where the zone is entered: at the lower u of the two ends of what is left of the wall.
    if ua <= ub:
        u, t = ua + t0 * (ub - ua), t0
        top_here, low_here = top_a, low_a
    else:
        u, t = ub + (1.0 - t1) * (ua - ub), t1
        top_here, low_here = top_b, low_b
    if u >= end:
        return np.inf, FREE
    u = max(u, u0)
    if ua == ub or t == 0.0 or t == 1.0:
        return u, INSIDE  # parallel contact, or a vertex of the obstacle
    if top_here < 0.0 and top_a + t * (top_b - top_a) <= gap:
        return u, TOP
    if low_here < 0.0 and low_a + t * (low_b - low_a) <= gap:
        return u, BOTTOM
    return u, INSIDE


@inline
def meet_region(walls, regions, region, side, top, bottom, u0, end, gap, other):
    """The least u at which the zone that a side sweeps from u0 to `end` meets another region, or infinity."""
    c, s = COS[side], SIN[side]
    box = regions.boxes[other]
    if max(c * box[0], c * box[2]) + max(s * box[1], s * box[3]) <= u0 + gap:
        return np.inf  # behind the side
    nearest = np.inf
    count = regions.counts[other]
    ax, ay = regions.corners[other, count - 1, 0], regions.corners[other, count - 1, 1]
    for k in range(count):
        bx, by = regions.corners[other, k, 0], regions.corners[other, k, 1]
        ua, ub = c * ax + s * ay, c * bx + s * by
        t0, t1 = enter_time(
            depth(walls, regions, region, top, ax, ay) - gap,
            depth(walls, regions, region, top, bx, by) - gap,
            0.0,
            1.0,
        )
        t0, t1 = enter_time(
            depth(walls, regions, region, bottom, ax, ay) - gap,
            depth(walls, regions, region, bottom, bx, by) - gap,
            t0,
            t1,
        )
        t0, t1 = enter_time(ua - u0 + gap, ub - u0 + gap, t0, t1)
        if t0 < t1:
            nearest = min(nearest, min(ua + t0 * (ub - ua), ub + (1.0 - t1) * (ua - ub)))
        ax, ay = bx, by
    return max(nearest, u0) if nearest < end else np.inf


@inline
def nearest_contact(walls, regions, region, side, top, bottom, u0, end, gap):
    """The first thing that a side meets on its way from u0 to `end`: (u, place, wall or -1)."""
    v = max(height(walls, regions, region, top, side, u0), height(walls, regions, region, top, side, end))
    w = min(height(walls, regions, region, bottom, side, u0), height(walls, regions, region, bottom, side, end))
    c, s = COS[side], SIN[side]
    xa, ya, xb, yb = c * u0 - s * w, s * u0 + c * w, c * end - s * v, s * end + c * v
    left, right = bin_range(walls, min(xa, xb), max(xa, xb), 0)
    low, high = bin_range(walls, min(ya, yb), max(ya, yb), 1)
    best, place, found = np.inf, FREE, -1
    for row in range(low, high + 1):
        for column in range(left, right + 1):
            bin_ = row * walls.shape[0] + column
            for index in range(walls.bins[bin_], walls.bins[bin_ + 1]):
                u, where = meet_wall(
                    walls, regions, region, side, top, bottom, u0, min(end, best), gap, walls.items[index]
                )
                if u < best:
                    best, place, found = u, where, walls.items[index]
            link = regions.heads[bin_]
            while link >= 0:
                other = regions.links[link, 0]
                link = regions.links[link, 1]
                if other == region or regions.counts[other] == 0:
                    continue
                box = regions.boxes[other]
                if box[0] > max(xa, xb) or box[2] < min(xa, xb) or box[1] > max(ya, yb) or box[3] < min(ya, yb):
                    continue
                u = meet_region(walls, regions, region, side, top, bottom, u0, min(end, best), gap, other)
                if u < best:
                    best, place, found = u, INSIDE, -1
    return best, place, found


@kernel
def find_open_space(walls, regions, numbers, unit, gap, least, covers, seeds):
    """Seeds in the free parts beside the sides of the regions `numbers` (Algorithm 2).

    For each side the walls, vertices and regions that touch it are collected in `covers` (k, 2) scratch, and each
    free part between them that is longer than `least` gets a seed at its midpoint. Returns the number of seeds, or
    -1 when `covers` or `seeds` is too small.
    """
    planted = 0
    for region in numbers:
        count = regions.counts[region]
        for index in range(count):
            side = -1 - regions.bounds[region, index]
            if side < 0:
                continue
            c, s = COS[side], SIN[side]
            u = regions.limits[region, side]
            corners = regions.corners[region]
            before = (index + count - 1) % count
            begin, end = c * corners[before, 1] - s * corners[before, 0], c * corners[index, 1] - s * corners[index, 0]
            if end - begin <= least:
                continue
            used = collect_covers(walls, regions, region, side, u, begin, end, gap, covers)
            if used < 0:
                return -1
            order_rows(covers, used)
            v = begin
            for k in range(used + 1):
                until = covers[k, 0] if k < used else end
                if until - v > least:
                    if planted == seeds.shape[0]:
                        return -1
                    middle = 0.5 * (v + until)
                    seeds[planted, 0] = c * u - s * middle
                    seeds[planted, 1] = s * u + c * middle
                    seeds[planted, 2] = min(0.5 * unit, 0.25 * (until - v))
                    seeds[planted, 3] = side
                    seeds[planted, 4] = region
                    planted += 1
                if k < used:
                    v = max(v, covers[k, 1])
    return planted


@inline
def collect_covers(walls, regions, region, side, u, begin, end, gap, covers):
    """Parts of the line at u, from v = begin to end, that something touches from outside; -1 if there are too many."""
    c, s = COS[side], SIN[side]
    xa, ya, xb, yb = c * u - s * begin, s * u + c * begin, c * u - s * end, s * u + c * end
    left, right = bin_range(walls, min(xa, xb) - gap, max(xa, xb) + gap, 0)
    low, high = bin_range(walls, min(ya, yb) - gap, max(ya, yb) + gap, 1)
    used = 0
    for row in range(low, high + 1):
        for column in range(left, right + 1):
            bin_ = row * walls.shape[0] + column
            for item in range(walls.bins[bin_], walls.bins[bin_ + 1]):
                wall = walls.items[item]
                ends = walls.ends
                used = cover(
                    c * ends[wall, 0] + s * ends[wall, 1] - u,
                    c * ends[wall, 1] - s * ends[wall, 0],
                    c * ends[wall, 2] + s * ends[wall, 3] - u,
                    c * ends[wall, 3] - s * ends[wall, 2],
                    begin,
                    end,
                    gap,
                    covers,
                    used,
                )
                if used < 0:
                    return -1
            link = regions.heads[bin_]
            while link >= 0:
                other = regions.links[link, 0]
                link = regions.links[link, 1]
                corners = regions.corners[other]
                count = regions.counts[other]
                if other == region or count == 0:
                    continue
                k = count - 1
                for following in range(count):
                    used = cover(
                        c * corners[k, 0] + s * corners[k, 1] - u,
                        c * corners[k, 1] - s * corners[k, 0],
                        c * corners[following, 0] + s * corners[following, 1] - u,
                        c * corners[following, 1] - s * corners[following, 0],
                        begin,
                        end,
                        gap,
                        covers,
                        used,
                    )
                    if used < 0:
                        return -1
                    k = following
    return used


@inline
def cover(ua, va, ub, vb, begin, end, gap, covers, used):
    """Add what an edge covers of the line u = 0 between `begin` and `end`: an interval, or only a point."""
    near_a, near_b = abs(ua) <= gap, abs(ub) <= gap
    if near_a and near_b:
        low, high = min(va, vb), max(va, vb)
    elif near_a and ub > 0.0:
        low = high = va
    elif near_b and ua > 0.0:
        low = high = vb
    else:
        return used
    if high <= begin or low >= end:
        return used
    if used == covers.shape[0]:
        return -1
    covers[used, 0], covers[used, 1] = low, high
    return used + 1


@inline
def order_rows(rows, count):
    """Sort the first rows by their first number, by insertion: a side has few neighbours."""
    for k in range(1, count):
        a, b = rows[k, 0], rows[k, 1]
        index = k
        while index > 0 and rows[index - 1, 0] > a:
            rows[index, 0], rows[index, 1] = rows[index - 1, 0], rows[index - 1, 1]
            index -= 1
        rows[index, 0], rows[index, 1] = a, b


GROWING, STOPPED, GONE = 0, 1, 2  # a side is gone where its two neighbours meet


@inline
def wall_beyond(walls, wall, side):
    """The wall that goes on where `wall` ends in the direction of a side, or -1 unless the free space is convex there.

    Only such a wall can be followed further: round the other kind of vertex the region would not be convex.
    """
    ends = walls.ends
    ahead = COS[side] * (ends[wall, 2] - ends[wall, 0]) + SIN[side] * (ends[wall, 3] - ends[wall, 1]) > 0.0
    other = walls.following[wall] if ahead else walls.previous[wall]
    first, second = (wall, other) if ahead else (other, wall)
    turn = orientation(ends[first, 0], ends[first, 1], ends[first, 2], ends[first, 3], ends[second, 2], ends[second, 3])
    return other if turn > 0 else -1


@inline
def at_cap(walls, regions, region, side, index, above):
    """What happens where a side has come to the end of the wall that it follows; True when it may go on.

    Either the wall beyond is followed from here, or a side that was gone comes back between the wall and this side
    (and stays where it is), or this side stops: the paper caps growth so that no slanted edge is exposed.
    """
    count = regions.counts[region]
    if count == MOST_BOUNDS:
        return False
    wall = regions.bounds[region, (index + 1) % count if above else (index + count - 1) % count]
    beyond = wall_beyond(walls, wall, side)
    c, s = COS[side], SIN[side]
    if beyond >= 0:
        lean = c * walls.normals[beyond, 1] - s * walls.normals[beyond, 0]
        if (lean < 0.0) == above and lean != 0.0:
            insert_bound(regions, region, index + 1 if above else index, beyond)
            return True
        return False
    lateral = (side + 1) % 4 if above else (side + 3) % 4
    if c * walls.normals[wall, 0] + s * walls.normals[wall, 1] > 0.0 and regions.states[region, lateral] == GONE:
        ends = walls.ends
        ua, ub = c * ends[wall, 0] + s * ends[wall, 1], c * ends[wall, 2] + s * ends[wall, 3]
        x, y = (ends[wall, 0], ends[wall, 1]) if ua > ub else (ends[wall, 2], ends[wall, 3])
        regions.limits[region, lateral] = COS[lateral] * x + SIN[lateral] * y
        regions.states[region, lateral] = STOPPED
        insert_bound(regions, region, index + 1 if above else index, -1 - lateral)
        return True
    return False


@inline
def advance(walls, regions, region, side, step, gap, follow):
    """Move a side outwards by `step`, or as far as it can go; returns whether it moved.

    The collision cases of the paper: a wall parallel to the side, a vertex of an obstacle or another region stops it
    where they touch; a wall that is met by an end of the side is followed from there on.
    """
    limits, states, bounds = regions.limits, regions.states, regions.bounds
    begin = limits[region, side]
    goal = begin + step
    while True:
        index = position(regions, region, side)
        count = regions.counts[region]
        top = bounds[region, (index + 1) % count]
        bottom = bounds[region, (index + count - 1) % count]
        u0 = limits[region, side]
        width = height(walls, regions, region, top, side, u0) - height(walls, regions, region, bottom, side, u0)
        if width <= 2.0 * gap:
            return u0 > begin  # a seed that has no depth yet
        end = goal
        if top >= 0:
            end = min(end, wall_reach(walls, top, side))
        if bottom >= 0:
            end = min(end, wall_reach(walls, bottom, side))
        end = max(end, u0)
        closing = False
        left = height(walls, regions, region, top, side, end) - height(walls, regions, region, bottom, side, end)
        if left <= 2.0 * gap and left < width:
            closing = True
            if left < 0.0:
                end = u0 + (end - u0) * width / (width - left)
        if end > u0:
            u, place, wall = nearest_contact(walls, regions, region, side, top, bottom, u0, end, gap)
        else:
            u, place, wall = np.inf, FREE, -1
        if place == FREE:
            limits[region, side] = end
            if closing:
                for k in range(index, count - 1):
                    bounds[region, k] = bounds[region, k + 1]
                regions.counts[region] = count - 1
                states[region, side] = GONE
                return True
            if end >= goal:
                return True
            above = top >= 0 and wall_reach(walls, top, side) <= end
            if follow and at_cap(walls, regions, region, side, index, above):
                continue
            states[region, side] = STOPPED
            return end > begin
        limits[region, side] = u
        if follow and place != INSIDE and count < MOST_BOUNDS:
            lean = COS[side] * walls.normals[wall, 1] - SIN[side] * walls.normals[wall, 0]
            if place == TOP and lean < 0.0:
                insert_bound(regions, region, index + 1, wall)
                continue
            if place == BOTTOM and lean > 0.0:
                insert_bound(regions, region, index, wall)
                continue
        states[region, side] = STOPPED
        return u > begin


@kernel
def grow(walls, regions, first, last, step, gap, follow):
    """Let regions `first` to `last - 1` grow side by side until none of them can (Algorithm 1); returns a status.

    Each frame every side of every region moves by `step` once. On FULL the regions are whole, and growth goes on
    where it was after the caller has made room.
    """
    growing = True
    for region in range(first, last):
        if regions.counts[region] > 0 and refresh(walls, regions, region) == FULL:
            return FULL
    while growing:
        growing = False
        for region in range(first, last):
            moved = False
            count = regions.counts[region]
            for side in range(4):
                if regions.counts[region] > 0 and regions.states[region, side] == GROWING:
                    moved = advance(walls, regions, region, side, step, gap, follow) or moved
            growing = growing or moved
            # A side that only came back, or a wall that is only touched, has not moved anything but is a new bound.
            if (moved or regions.counts[region] != count) and refresh(walls, regions, region) == FULL:
                return FULL
    return DONE


@kernel
def grow_in_turn(walls, regions, seeds, first, step, gap, follow):
    """Plant the seeds one after the other, each growing to its end before the next; returns (seeds done, status).

    A seed is (x, y, half its width, side that leads away from its parent, parent). One that cannot grow
    leaves no region.
    """
    for index in range(first, seeds.shape[0]):
        if regions.used[0] == regions.counts.size:
            return index, FULL
        region = plant(regions, seeds, index)
        if grow(walls, regions, region, region + 1, step, gap, follow) == FULL:
            regions.counts[region] = 0
            regions.used[0] = region
            return index, FULL
        settle(regions, region, gap)
        if regions.counts[region] == 0:
            regions.used[0] = region
    return seeds.shape[0], DONE


@inline
def plant(regions, seeds, index):
    """Make a region of a seed and return its number: a segment across the outward side, or a square for side -1."""
    region = regions.used[0]
    regions.used[0] += 1
    x, y, half, side = seeds[index, 0], seeds[index, 1], seeds[index, 2], int(seeds[index, 3])
    regions.counts[region] = 4
    regions.spans[region, 0] = regions.spans[region, 2] = 2**40
    regions.spans[region, 1] = regions.spans[region, 3] = -1
    for k in range(4):
        regions.bounds[region, k] = -1 - k
        regions.states[region, k] = GROWING
        regions.limits[region, k] = COS[k] * x + SIN[k] * y
        if side < 0 or (k - side) % 2 == 1:
            regions.limits[region, k] += half
    if side >= 0:
        regions.states[region, (side + 2) % 4] = STOPPED
    return region


@inline
def settle(regions, region, gap):
    """Forget a region that has not grown out of its parent's edge."""
    box = regions.boxes[region]
    if min(box[2] - box[0], box[3] - box[1]) <= 4.0 * gap:
        regions.counts[region] = 0


@kernel
def plant_all(regions, seeds):
    """Make regions of all seeds at once; the caller has made room for them."""
    for index in range(seeds.shape[0]):
        plant(regions, seeds, index)


@kernel
def settle_all(regions, first, gap):
    """`settle` for all regions from `first` on."""
    for region in range(first, regions.used[0]):
        settle(regions, region, gap)
