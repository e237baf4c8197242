# mypy: ignore-errors
"""What a side meets on its way outwards: the collision tests of paper 004, with the exact distance to the contact."""

import numpy as np

from wayfold.core.jit import inline
from wayfold.floorplan._bound_kernels import COS, SIN, bin_range, depth, height

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
            for at in range(walls.bins[bin_], walls.bins[bin_ + 1]):
                u, where = meet_wall(
                    walls, regions, region, side, top, bottom, u0, min(end, best), gap, walls.items[at]
                )
                if u < best:
                    best, place, found = u, where, walls.items[at]
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
