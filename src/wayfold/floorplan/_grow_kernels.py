# mypy: ignore-errors
"""Growth of convex regions in the plane: Algorithm 1 of paper 004, with exact distances to contacts.

"Splitting a vertex" (the paper's third collision case) is the insertion of a wall between a side and its neighbour. A
region stays convex because it is never anything but a common part of half-planes; see `_bound_kernels`.
"""

import numpy as np

from wayfold.core.jit import inline, kernel
from wayfold.floorplan._bound_kernels import (
    COS,
    DONE,
    FULL,
    MOST_BOUNDS,
    SIN,
    height,
    insert_bound,
    position,
    refresh,
    wall_reach,
)
from wayfold.floorplan._contact_kernels import BOTTOM, FREE, INSIDE, TOP, nearest_contact
from wayfold.geometry._plane_kernels import orientation

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
def at_cap(walls, regions, region, side, at, above):
    """What happens where a side has come to the end of the wall that it follows; True when it may go on.

    Either the wall beyond is followed from here, or a side that was gone comes back between the wall and this side
    (and stays where it is), or this side stops: the paper caps growth so that no slanted edge is exposed.
    """
    count = regions.counts[region]
    if count == MOST_BOUNDS:
        return False
    wall = regions.bounds[region, (at + 1) % count if above else (at + count - 1) % count]
    beyond = wall_beyond(walls, wall, side)
    c, s = COS[side], SIN[side]
    if beyond >= 0:
        lean = c * walls.normals[beyond, 1] - s * walls.normals[beyond, 0]
        if (lean < 0.0) == above and lean != 0.0:
            insert_bound(regions, region, at + 1 if above else at, beyond)
            return True
        return False
    lateral = (side + 1) % 4 if above else (side + 3) % 4
    if c * walls.normals[wall, 0] + s * walls.normals[wall, 1] > 0.0 and regions.states[region, lateral] == GONE:
        ends = walls.ends
        ua, ub = c * ends[wall, 0] + s * ends[wall, 1], c * ends[wall, 2] + s * ends[wall, 3]
        x, y = (ends[wall, 0], ends[wall, 1]) if ua > ub else (ends[wall, 2], ends[wall, 3])
        regions.limits[region, lateral] = COS[lateral] * x + SIN[lateral] * y
        regions.states[region, lateral] = STOPPED
        insert_bound(regions, region, at + 1 if above else at, -1 - lateral)
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
        at = position(regions, region, side)
        count = regions.counts[region]
        top = bounds[region, (at + 1) % count]
        bottom = bounds[region, (at + count - 1) % count]
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
                for k in range(at, count - 1):
                    bounds[region, k] = bounds[region, k + 1]
                regions.counts[region] = count - 1
                states[region, side] = GONE
                return True
            if end >= goal:
                return True
            above = top >= 0 and wall_reach(walls, top, side) <= end
            if follow and at_cap(walls, regions, region, side, at, above):
                continue
            states[region, side] = STOPPED
            return end > begin
        limits[region, side] = u
        if follow and place != INSIDE and count < MOST_BOUNDS:
            lean = COS[side] * walls.normals[wall, 1] - SIN[side] * walls.normals[wall, 0]
            if place == TOP and lean < 0.0:
                insert_bound(regions, region, at + 1, wall)
                continue
            if place == BOTTOM and lean > 0.0:
                insert_bound(regions, region, at, wall)
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
    for at in range(first, seeds.shape[0]):
        if regions.used[0] == regions.counts.size:
            return at, FULL
        region = plant(regions, seeds, at)
        if grow(walls, regions, region, region + 1, step, gap, follow) == FULL:
            regions.counts[region] = 0
            regions.used[0] = region
            return at, FULL
        settle(regions, region, gap)
        if regions.counts[region] == 0:
            regions.used[0] = region
    return seeds.shape[0], DONE


@inline
def plant(regions, seeds, at):
    """Make a region of a seed and return its number: a segment across the outward side, or a square for side -1."""
    region = regions.used[0]
    regions.used[0] += 1
    x, y, half, side = seeds[at, 0], seeds[at, 1], seeds[at, 2], int(seeds[at, 3])
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
    for at in range(seeds.shape[0]):
        plant(regions, seeds, at)


@kernel
def settle_all(regions, first, gap):
    """`settle` for all regions from `first` on."""
    for region in range(first, regions.used[0]):
        settle(regions, region, gap)
