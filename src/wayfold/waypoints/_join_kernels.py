# mypy: ignore-errors
"""Waypoints that join others (000, section 3): where walkers would be cut off, at the feet of walls, over rims."""

import math

import numpy as np

from wayfold.core.jit import helper, inline
from wayfold.geometry._kernels import dot, subtract
from wayfold.graph._kernels import find_root
from wayfold.waypoints._kernels import ADHESIVE, SURFACE, enclosed, ground_below, kind_of, motion_between


@inline
def rounded(p):
    """A point as float32 stores it."""
    return np.float64(np.float32(p[0])), np.float64(np.float32(p[1])), np.float64(np.float32(p[2]))


@inline
def inside(p, low, high):
    """Whether a point lies strictly inside a box (or inside a face, across whose axis the box has no extent)."""
    for axis in range(3):
        if low[axis] < high[axis] and not low[axis] < p[axis] < high[axis]:
            return False
    return True


@helper
def keep(world, body, p, low, high, need, gap, points, kinds, count):
    """Add a position that has a motion of `need` and is `gap` metres from every other; return the new count."""
    p = rounded(p)
    if count == kinds.size or not inside(p, low, high):
        return count
    for other in range(count):
        x, y, z = p[0] - points[other, 0], p[1] - points[other, 1], p[2] - points[other, 2]
        if x * x + y * y + z * z < gap * gap:
            return count
    kind = kind_of(world, body, p)
    if kind & need == 0 or enclosed(world, p):
        return count
    points[count, 0], points[count, 1], points[count, 2] = p
    kinds[count] = kind
    return count + 1


@inline
def row(points, at):
    """A stored position as a tuple of float64."""
    return np.float64(points[at, 0]), np.float64(points[at, 1]), np.float64(points[at, 2])


@inline
def apart2(points, a, p):
    """Squared distance of a stored position and a point."""
    x, y, z = points[a, 0] - p[0], points[a, 1] - p[1], points[a, 2] - p[2]
    return x * x + y * y + z * z


@inline
def mixed(group, kinds, need, points, count, p, near2):
    """Whether waypoints of different groups are near a point."""
    first = -1
    for other in range(count):
        if kinds[other] & need and apart2(points, other, p) < near2:
            root = find_root(group, other)
            if first >= 0 and root != first:
                return True
            first = root
    return False


@helper
def group_waypoints(world, body, reach, need, group, points, kinds, count):
    """Set `group` to what motions of `need` lead between, looking `reach` metres far; returns the number of groups."""
    groups = 0
    for a in range(count):
        group[a] = a
        groups += 1 if kinds[a] & need else 0
    for a in range(count):
        for b in range(a):
            both = kinds[a] & kinds[b] & need
            if both and find_root(group, a) != find_root(group, b):
                if apart2(points, a, row(points, b)) < reach * reach and motion_between(
                    world, body, row(points, a), row(points, b), both
                ):
                    group[find_root(group, a)] = find_root(group, b)
                    groups -= 1
    return groups


@inline
def alone(group, root, count):
    """Whether a group is a single waypoint."""
    members = 0
    for other in range(count):
        if find_root(group, other) == root:
            members += 1
            if members > 1:
                return False
    return True


@helper
def joined_to(world, body, p, kind, reach, avoid, lone, group, points, kinds, count):
    """A group other than `avoid` that a motion of `kind` leads to from `p`, -1 for none.

    Without `lone`, waypoints that stand alone on the ground are left out: they are on something too small to walk on.
    """
    for other in range(count):
        both = kinds[other] & kind
        if both and apart2(points, other, p) < reach * reach:
            root = find_root(group, other)
            if root != avoid:
                motion = motion_between(world, body, p, row(points, other), both)
                if motion and (lone or motion != SURFACE or not alone(group, root, count)):
                    return root
    return -1


@helper
def keep_connectors(world, body, low, high, reach, need, scratch, found, points, kinds, count, groups):
    """Add some of the `found` fine positions: those that join groups of waypoints; returns how many there are now."""
    group = scratch.group
    for at in range(found):
        if groups <= 1 or count == kinds.size:
            break
        p = row(scratch.fine, at)
        if not mixed(group, kinds, need, points, count, p, reach * reach):
            continue
        kind = kind_of(world, body, p) & need
        lone = need == SURFACE
        first = joined_to(world, body, p, kind, reach, -1, lone, group, points, kinds, count)
        other = -1 if first < 0 else joined_to(world, body, p, kind, reach, first, lone, group, points, kinds, count)
        if other < 0:
            continue
        before = count
        count = keep(world, body, p, low, high, need, 0.0, points, kinds, count)
        if count == before:
            continue
        group[before] = first
        while other >= 0:
            group[other] = first
            groups -= 1
            other = joined_to(world, body, p, kind, reach, first, lone, group, points, kinds, count)
    return count


@helper
def side_of(world, body, low, high, rim, p, reach, avoid, group, points, kinds, count):
    """Where one gets from a place above a rim by climbing down over `p` beside it: (group or -1, height of the foot).

    Without a foot (NaN) the group is reached from `p` itself; where `p` is in another region, from the place above.
    """
    if not inside(p, low, high):
        return joined_to(world, body, rim, ADHESIVE, reach, avoid, False, group, points, kinds, count), math.nan
    if kind_of(world, body, p) & ADHESIVE == 0 or motion_between(world, body, rim, p, ADHESIVE) == 0:
        return -1, math.nan
    root = joined_to(world, body, p, ADHESIVE, reach, avoid, False, group, points, kinds, count)
    if root >= 0:
        return root, math.nan
    down = ground_below(world, body, p, high[2] - low[2])
    foot = p[0], p[1], p[2] - down + body.lift
    if down == math.inf or motion_between(world, body, p, foot, ADHESIVE) == 0:
        return -1, math.nan
    kind = kind_of(world, body, foot) & (SURFACE | ADHESIVE)
    return joined_to(world, body, foot, kind, reach, avoid, False, group, points, kinds, count), foot[2]


@helper
def keep_side(world, body, low, high, p, foot, points, kinds, count):
    """Add the place beside a rim, unless it is in another region, and its foot, unless that is NaN.

    Returns the new count, or -1 when the foot is in another region.
    """
    if inside(p, low, high):
        count = keep(world, body, p, low, high, ADHESIVE, 0.0, points, kinds, count)
    if foot == foot:
        before = count
        count = keep(world, body, (p[0], p[1], foot), low, high, ADHESIVE, 0.0, points, kinds, count)
        if count == before:
            return -1
    return count


@inline
def near_alike(p, lift, gap, points, kinds, count):
    """Whether a waypoint at about the height of `p`, where one both stands and clings, is less than `gap` away."""
    for other in range(count):
        if kinds[other] & SURFACE and kinds[other] & ADHESIVE and abs(points[other, 2] - p[2]) < lift:
            if apart2(points, other, p) < gap * gap:
                return True
    return False


@inline
def rim_place(rims, at, first):
    """The place above (`first` 0) or beside (3) a rim, as it would be stored."""
    return rounded((rims[at, first], rims[at, first + 1], rims[at, first + 2]))


@helper
def opposite(world, body, low, high, rims, at, reach, avoid, group, points, kinds, count):
    """A way down the other side of what carries the rim `at`: (rim, whether over the place above it, group, foot).

    The rim is -1 for none. One climbs across directly, or walks over to the other rim.
    """
    above = rim_place(rims, at, 0)
    for over in range(rims.shape[0]):
        across, far_above = rim_place(rims, over, 3), rim_place(rims, over, 0)
        away, walk = subtract(across, above), subtract(far_above, above)
        if over == at or min(dot(away, away), dot(walk, walk)) >= 4.0 * body.near * body.near:
            continue
        other, foot = -1, math.nan
        if inside(across, low, high):
            other, foot = side_of(world, body, low, high, above, across, reach, avoid, group, points, kinds, count)
        if other >= 0:
            return over, False, other, foot
        if inside(far_above, low, high) and motion_between(world, body, above, far_above, SURFACE):
            other, foot = side_of(world, body, low, high, far_above, across, reach, avoid, group, points, kinds, count)
            if other >= 0:
                return over, True, other, foot
    return -1, False, -1, math.nan


@helper
def keep_rims(world, body, low, high, reach, gap, rims, group, points, kinds, count):
    """Add ways over rims: from a roof down its wall, or over a parapet.

    Those are kept that join groups of waypoints, and others at least `gap` metres apart. `rims` (r, 6) are a place
    above a rim, where one both stands and clings, and one beside it.
    """
    for at in range(rims.shape[0]):
        if count + 6 > kinds.size:
            break
        above, beside = rim_place(rims, at, 0), rim_place(rims, at, 3)
        far = not near_alike(above, body.lift, gap, points, kinds, count)
        if not far and not mixed(group, kinds, SURFACE | ADHESIVE, points, count, above, reach * reach):
            continue
        if kind_of(world, body, above) & (SURFACE | ADHESIVE) != SURFACE | ADHESIVE:
            continue
        root, foot = side_of(world, body, low, high, above, beside, reach, -1, group, points, kinds, count)
        if root < 0:
            continue
        over, walked, other_foot = -1, False, math.nan
        avoid = -1 if far else root
        other = joined_to(world, body, above, SURFACE, reach, avoid, False, group, points, kinds, count)
        if other < 0:
            over, walked, other, other_foot = opposite(
                world, body, low, high, rims, at, reach, avoid, group, points, kinds, count
            )
        if other < 0:
            continue
        before = count
        count = keep(world, body, above, low, high, SURFACE, 0.0, points, kinds, count)
        if count > before:
            count = keep_side(world, body, low, high, beside, foot, points, kinds, count)
        else:
            count = -1
        if over >= 0 and count >= 0:
            if walked:
                count = keep(world, body, rim_place(rims, over, 0), low, high, SURFACE, 0.0, points, kinds, count)
            count = keep_side(world, body, low, high, rim_place(rims, over, 3), other_foot, points, kinds, count)
        if count < 0:
            count = before  # one of them lies outside of the region
            continue
        for new in range(before, count):
            group[new] = root
        group[other] = root
    return count


@helper
def climbs_of(world, body, low, high, walls, fine):
    """Places beside walls and at their feet, as fine positions; returns how many.

    At the foot of a wall one both stands and clings: that is where walking and climbing join.
    """
    found = 0
    for at in range(min(walls.shape[0], fine.shape[0] // 2)):
        p = walls[at, 0], walls[at, 1], walls[at, 2]
        down = ground_below(world, body, p, high[2] - low[2])
        for turn in range(2):
            height = p[2] if turn else p[2] - down + body.lift
            if low[2] < height < high[2]:
                fine[found, 0], fine[found, 1], fine[found, 2] = p[0], p[1], height
                found += 1
    return found
