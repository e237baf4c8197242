# mypy: ignore-errors
"""Where waypoints go (Wardhana et al. 2015, section 3): ground, walls, ceilings, free space, joints, narrow places.

Positions are written as float32, as they are stored, and every test sees the stored position.

A ball that touches a surface at a point is made smaller until nothing is inside it any more (Ma et al. 2012, *3D medial
axis point approximation using nearest neighbors and the normal field*). Its middle is then as far from one side of an
opening as from the other.
"""

import math
from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline, kernel
from wayfold.geometry.bvh_kernels import collect_hits, nearest_triangle, ray_nearest
from wayfold.geometry.space_kernels import along, dot, subtract
from wayfold.graph.search_kernels import find_root
from wayfold.waypoints._kernels import (
    ADHESIVE,
    SURFACE,
    VOLUMETRIC,
    enclosed,
    free,
    ground_below,
    in_block,
    motion_between,
    motions_at,
    motions_between,
)


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
def keep(world, body, p, low, high, need, gap, points, motions, count):
    """Add a position that has a motion of `need` and is `gap` metres from every other; return the new count."""
    p = rounded(p)
    if count == motions.size or not inside(p, low, high):
        return count
    for other in range(count):
        x, y, z = p[0] - points[other, 0], p[1] - points[other, 1], p[2] - points[other, 2]
        if x * x + y * y + z * z < gap * gap:
            return count
    possible = motions_at(world, body, p)
    if possible & need == 0 or enclosed(world, p):
        return count
    points[count, 0], points[count, 1], points[count, 2] = p
    motions[count] = possible
    return count + 1


@inline
def row(points, node):
    """A stored position as a tuple of float64."""
    return np.float64(points[node, 0]), np.float64(points[node, 1]), np.float64(points[node, 2])


@inline
def apart2(points, a, p):
    """Squared distance of a stored position and a point."""
    x, y, z = points[a, 0] - p[0], points[a, 1] - p[1], points[a, 2] - p[2]
    return x * x + y * y + z * z


@inline
def mixed(group, motions, need, points, count, p, near2):
    """Whether waypoints of different groups are near a point."""
    first = -1
    for other in range(count):
        if motions[other] & need and apart2(points, other, p) < near2:
            root = find_root(group, other)
            if first >= 0 and root != first:
                return True
            first = root
    return False


@helper
def group_waypoints(world, body, max_distance, need, group, points, motions, count):
    """Set `group` to what motions of `need` lead between over at most `max_distance` metres.

    Returns the number of groups.
    """
    groups = 0
    for a in range(count):
        group[a] = a
        groups += 1 if motions[a] & need else 0
    for a in range(count):
        for b in range(a):
            both = motions[a] & motions[b] & need
            if both and find_root(group, a) != find_root(group, b):
                if apart2(points, a, row(points, b)) < max_distance * max_distance and motion_between(
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
def joined_to(world, body, p, usable, max_distance, avoid, lone, group, points, motions, count):
    """A group other than `avoid` that a motion of `usable` leads to from `p`, -1 for none.

    Without `lone`, waypoints that stand alone on the ground are left out: they are on something too small to walk on.
    """
    for other in range(count):
        both = motions[other] & usable
        if both and apart2(points, other, p) < max_distance * max_distance:
            root = find_root(group, other)
            if root != avoid:
                motion = motion_between(world, body, p, row(points, other), both)
                if motion and (lone or motion != SURFACE or not alone(group, root, count)):
                    return root
    return -1


@helper
def keep_connectors(world, body, low, high, max_distance, need, scratch, found, points, motions, count, groups):
    """Add some of the `found` fine positions: those that join groups of waypoints; returns how many there are now."""
    group = scratch.group
    for spot in range(found):
        if groups <= 1 or count == motions.size:
            break
        p = row(scratch.fine, spot)
        if not mixed(group, motions, need, points, count, p, max_distance * max_distance):
            continue
        possible = motions_at(world, body, p) & need
        lone = need == SURFACE
        first = joined_to(world, body, p, possible, max_distance, -1, lone, group, points, motions, count)
        other = (
            -1
            if first < 0
            else joined_to(world, body, p, possible, max_distance, first, lone, group, points, motions, count)
        )
        if other < 0:
            continue
        before = count
        count = keep(world, body, p, low, high, need, 0.0, points, motions, count)
        if count == before:
            continue
        group[before] = first
        while other >= 0:
            group[other] = first
            groups -= 1
            other = joined_to(world, body, p, possible, max_distance, first, lone, group, points, motions, count)
    return count


@helper
def side_of(world, body, low, high, rim, p, max_distance, avoid, group, points, motions, count):
    """Where one gets from a place above a rim by climbing down over `p` beside it: (group or -1, height of the foot).

    Without a foot (NaN) the group is reached from `p` itself; where `p` is in another region, from the place above.
    """
    if not inside(p, low, high):
        return joined_to(
            world, body, rim, ADHESIVE, max_distance, avoid, False, group, points, motions, count
        ), math.nan
    if motions_at(world, body, p) & ADHESIVE == 0 or motion_between(world, body, rim, p, ADHESIVE) == 0:
        return -1, math.nan
    root = joined_to(world, body, p, ADHESIVE, max_distance, avoid, False, group, points, motions, count)
    if root >= 0:
        return root, math.nan
    down = ground_below(world, body, p, high[2] - low[2])
    foot = p[0], p[1], p[2] - down + body.lift
    if down == math.inf or motion_between(world, body, p, foot, ADHESIVE) == 0:
        return -1, math.nan
    possible = motions_at(world, body, foot) & (SURFACE | ADHESIVE)
    return joined_to(world, body, foot, possible, max_distance, avoid, False, group, points, motions, count), foot[2]


@helper
def keep_side(world, body, low, high, p, foot, points, motions, count):
    """Add the place beside a rim, unless it is in another region, and its foot, unless that is NaN.

    Returns the new count, or -1 when the foot is in another region.
    """
    if inside(p, low, high):
        count = keep(world, body, p, low, high, ADHESIVE, 0.0, points, motions, count)
    if foot == foot:
        before = count
        count = keep(world, body, (p[0], p[1], foot), low, high, ADHESIVE, 0.0, points, motions, count)
        if count == before:
            return -1
    return count


@inline
def near_alike(p, lift, gap, points, motions, count):
    """Whether a waypoint at about the height of `p`, where one both stands and clings, is less than `gap` away."""
    for other in range(count):
        if motions[other] & SURFACE and motions[other] & ADHESIVE and abs(points[other, 2] - p[2]) < lift:
            if apart2(points, other, p) < gap * gap:
                return True
    return False


@inline
def rim_place(rims, rim, first):
    """The place above (`first` 0) or beside (3) a rim, as it would be stored."""
    return rounded((rims[rim, first], rims[rim, first + 1], rims[rim, first + 2]))


@helper
def opposite(world, body, low, high, rims, rim, max_distance, avoid, group, points, motions, count):
    """A way down the other side of what carries a rim: (rim, whether over the place above it, group, foot).

    The rim is -1 for none. One climbs across directly, or walks over to the other rim.
    """
    above = rim_place(rims, rim, 0)
    for over in range(rims.shape[0]):
        across, far_above = rim_place(rims, over, 3), rim_place(rims, over, 0)
        away, walk = subtract(across, above), subtract(far_above, above)
        if over == rim or min(dot(away, away), dot(walk, walk)) >= 4.0 * body.near * body.near:
            continue
        other, foot = -1, math.nan
        if inside(across, low, high):
            other, foot = side_of(
                world, body, low, high, above, across, max_distance, avoid, group, points, motions, count
            )
        if other >= 0:
            return over, False, other, foot
        if inside(far_above, low, high) and motion_between(world, body, above, far_above, SURFACE):
            other, foot = side_of(
                world, body, low, high, far_above, across, max_distance, avoid, group, points, motions, count
            )
            if other >= 0:
                return over, True, other, foot
    return -1, False, -1, math.nan


@helper
def keep_rims(world, body, low, high, max_distance, gap, rims, group, points, motions, count):
    """Add ways over rims: from a roof down its wall, or over a parapet.

    Those are kept that join groups of waypoints, and others at least `gap` metres apart. `rims` (r, 6) are a place
    above a rim, where one both stands and clings, and one beside it.
    """
    for rim in range(rims.shape[0]):
        if count + 6 > motions.size:
            break
        above, beside = rim_place(rims, rim, 0), rim_place(rims, rim, 3)
        far = not near_alike(above, body.lift, gap, points, motions, count)
        if not far and not mixed(group, motions, SURFACE | ADHESIVE, points, count, above, max_distance * max_distance):
            continue
        if motions_at(world, body, above) & (SURFACE | ADHESIVE) != SURFACE | ADHESIVE:
            continue
        root, foot = side_of(world, body, low, high, above, beside, max_distance, -1, group, points, motions, count)
        if root < 0:
            continue
        over, walked, other_foot = -1, False, math.nan
        avoid = -1 if far else root
        other = joined_to(world, body, above, SURFACE, max_distance, avoid, False, group, points, motions, count)
        if other < 0:
            over, walked, other, other_foot = opposite(
                world, body, low, high, rims, rim, max_distance, avoid, group, points, motions, count
            )
        if other < 0:
            continue
        before = count
        count = keep(world, body, above, low, high, SURFACE, 0.0, points, motions, count)
        if count > before:
            count = keep_side(world, body, low, high, beside, foot, points, motions, count)
        else:
            count = -1
        if over >= 0 and count >= 0:
            if walked:
                count = keep(world, body, rim_place(rims, over, 0), low, high, SURFACE, 0.0, points, motions, count)
            count = keep_side(world, body, low, high, rim_place(rims, over, 3), other_foot, points, motions, count)
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
    for wall in range(min(walls.shape[0], fine.shape[0] // 2)):
        p = walls[wall, 0], walls[wall, 1], walls[wall, 2]
        down = ground_below(world, body, p, high[2] - low[2])
        for turn in range(2):
            height = p[2] if turn else p[2] - down + body.lift
            if low[2] < height < high[2]:
                fine[found, 0], fine[found, 1], fine[found, 2] = p[0], p[1], height
                found += 1
    return found


class PlaceScratch(NamedTuple):
    """Scratch of one thread."""

    hits: np.ndarray  # (h,) float64, floors on one vertical
    triangles: np.ndarray  # (h,) int32
    fine: np.ndarray  # (f, 3) float32, positions of a walker on a fine lattice
    motions: np.ndarray  # (f,) uint8
    seen: np.ndarray  # (f,) int32, a waypoint that each of those sees
    group: np.ndarray  # (most + 1,) int32, union-find over waypoints


# A ray that meets a wall at a flatter angle than this is no use for finding a place beside it.
_SQUARE = 0.3
_CHAIN = 8.0  # radii between two places that join waypoints together
_RIM = 2.0  # radii of the body: a place with so much room is seen from inside of its opening, and so is what is near it
_SAME = 0.1  # of the room of a place in a narrower one: a waypoint as close as this is as good


@helper
def keep_floors(world, body, x, y, low, high, gap, scratch, points, motions, count):
    """Add a walker's position on every floor below (x, y) in the box."""
    top = high[2] - body.lift
    hits, triangles = scratch.hits, scratch.triangles
    found = collect_hits(world.tree, world.stack, (x, y, top), (0.0, 0.0, -1.0), high[2] - low[2], hits, triangles)
    for hit in range(min(found, hits.size)):
        if abs(world.normals[triangles[hit], 2]) >= body.cosine:
            stand = x, y, top - hits[hit] + body.lift
            count = keep(world, body, stand, low, high, SURFACE, gap, points, motions, count)
    return count


@helper
def keep_beside(world, body, p, way, max_distance, low, high, gap, points, motions, count):
    """Add a clinging position off the normal of the first surface along a ray."""
    away, triangle = ray_nearest(world.tree, world.stack, p, way, max_distance)
    if triangle < 0:
        return count
    normal = world.normals[triangle, 0], world.normals[triangle, 1], world.normals[triangle, 2]
    facing = -dot(normal, way)
    if abs(facing) < _SQUARE:
        return count
    side = body.offset if facing > 0.0 else -body.offset
    spot = along(along(p, way, away), normal, side)
    # At the foot of a wall a position that also stands on the ground joins walking and climbing.
    down = ground_below(world, body, spot, body.lift + body.climb)
    if abs(down - body.lift) <= body.climb:
        spot = spot[0], spot[1], spot[2] - down + body.lift
    return keep(world, body, spot, low, high, ADHESIVE, gap, points, motions, count)


@helper
def reached(world, body, p, max_distance, motion, first, points, motions, count):
    """A waypoint from `first` on, within `max_distance` metres, that leads straight to `p` by a motion; -1 for none."""
    # The last one first: those that follow one another are often close together.
    for other in range(count - 1, first - 1, -1):
        if motions[other] & motion and apart2(points, other, p) < max_distance * max_distance:
            if motion_between(world, body, p, row(points, other), motion) == motion:
                return other
    return -1


@helper
def keep_guards(world, body, low, high, max_distance, fine, first, last, points, motions, count):
    """Add the rows `first` to `last` of `fine` from which a walker reaches no waypoint within `max_distance` metres."""
    for at in range(first, last):
        p = row(fine, at)
        if reached(world, body, p, max_distance, SURFACE, 0, points, motions, count) < 0:
            count = keep(world, body, p, low, high, SURFACE, 0.0, points, motions, count)
    return count


@helper
def keep_chains(world, body, low, high, scratch, found, points, motions, count):
    """Add two of the `found` fine positions at once, where they see each other and waypoints of different groups."""
    group, seen = scratch.group, scratch.seen
    near2 = _CHAIN * _CHAIN * body.radius * body.radius
    for i in range(found):
        for j in range(i):
            one, two = find_root(group, seen[i]), find_root(group, seen[j])
            if one == two or apart2(scratch.fine, i, row(scratch.fine, j)) >= near2:
                continue
            if motion_between(world, body, row(scratch.fine, i), row(scratch.fine, j), VOLUMETRIC) == 0:
                continue
            group[two] = one
            for place in (i, j):
                p = row(scratch.fine, place)
                before = count
                if apart2(points, seen[place], p) > 0.0:
                    count = keep(world, body, p, low, high, VOLUMETRIC, 0.0, points, motions, count)
                if count > before:
                    group[before] = one
    return count


@helper
def keep_narrow(world, body, low, high, max_distance, narrow, scratch, points, motions, count):
    """Add those of `narrow` (t, 3) that join waypoints, or from which a flyer sees none within `max_distance`."""
    found = 0
    for at in range(narrow.shape[0]):
        p = rounded((narrow[at, 0], narrow[at, 1], narrow[at, 2]))
        if not inside(p, low, high) or motions_at(world, body, p) & VOLUMETRIC == 0:
            continue
        # What a waypoint leads to is as little in solids as the waypoint; `keep` looks at the others.
        seen = reached(world, body, p, max_distance, VOLUMETRIC, 0, points, motions, count)
        if seen < 0:
            seen = count
            count = keep(world, body, p, low, high, VOLUMETRIC, 0.0, points, motions, count)
            if count == seen:
                continue
        if found < scratch.fine.shape[0]:
            scratch.fine[found, 0], scratch.fine[found, 1], scratch.fine[found, 2] = p
            scratch.seen[found] = seen
            found += 1
    if found > 0:
        groups = group_waypoints(world, body, max_distance, VOLUMETRIC, scratch.group, points, motions, count)
        count = keep_connectors(
            world, body, low, high, max_distance, VOLUMETRIC, scratch, found, points, motions, count, groups
        )
        count = keep_chains(world, body, low, high, scratch, found, points, motions, count)
    return count


@kernel
def place_region(
    world, body, low, high, wanted, columns, levels, corners, walls, rims, narrow, scratch, points, motions, count
):
    """Local waypoints of a region, after the `count` boundary waypoints that are given; returns the new count.

    `low`, `high` are corners (tuples). `columns` x `columns` verticals look for floors, a lattice of `levels` cubed
    looks for free space, `corners` (c, 3) float64 are places beside corners and in openings, `walls` (w, 3) float64
    places beside walls and ceilings, `rims` (r, 6) float64 places above and beside rims of roofs, `narrow` (t, 3)
    float64 places in openings. `points` (most, 3) float32 and `motions` (most,) uint8 are set.
    """
    size = high[0] - low[0], high[1] - low[1], high[2] - low[2]
    width = max(size[0], size[1]) / columns
    if wanted & SURFACE:
        for i in range(columns * columns):
            x = low[0] + (i // columns + 0.5) * size[0] / columns
            y = low[1] + (i % columns + 0.5) * size[1] / columns
            count = keep_floors(world, body, x, y, low, high, 0.45 * width, scratch, points, motions, count)
    for at in range(corners.shape[0]):
        p = corners[at, 0], corners[at, 1], corners[at, 2]
        if wanted & SURFACE:
            down = ground_below(world, body, p, 4.0 * body.lift)
            if down < math.inf:
                stand = p[0], p[1], p[2] - down + body.lift
                count = keep(world, body, stand, low, high, SURFACE, 0.15 * width, points, motions, count)
        count = keep(world, body, p, low, high, wanted & (ADHESIVE | VOLUMETRIC), 0.35 * width, points, motions, count)
    if wanted & SURFACE:
        step = max(2.0 * body.radius, width / 6.0)
        side = math.ceil(size[0] / step), math.ceil(size[1] / step)
        found = 0
        for i in range(side[0] * side[1]):
            x = low[0] + (i // side[1] + 0.5) * size[0] / side[0]
            y = low[1] + (i % side[1] + 0.5) * size[1] / side[1]
            found = keep_floors(world, body, x, y, low, high, 0.0, scratch, scratch.fine, scratch.motions, found)
        count = keep_guards(world, body, low, high, 1.25 * width, scratch.fine, 0, found, points, motions, count)
        max_distance = 1.5 * width
        groups = group_waypoints(world, body, 2.0 * max_distance, SURFACE, scratch.group, points, motions, count)
        count = keep_connectors(
            world, body, low, high, max_distance, SURFACE, scratch, found, points, motions, count, groups
        )
    if wanted & (VOLUMETRIC | ADHESIVE):
        for i in range(levels * levels * levels):
            p = (
                low[0] + (i // (levels * levels) + 0.5) * size[0] / levels,
                low[1] + (i // levels % levels + 0.5) * size[1] / levels,
                low[2] + (i % levels + 0.5) * size[2] / levels,
            )
            count = keep(world, body, p, low, high, VOLUMETRIC, 0.5 * width, points, motions, count)
    if wanted & VOLUMETRIC:
        max_distance = 2.0 * max(size[0], size[1], size[2]) / levels
        count = keep_narrow(world, body, low, high, max_distance, narrow, scratch, points, motions, count)
    if wanted & ADHESIVE:
        seen = count
        for at in range(seen):
            if motions[at] & SURFACE == 0:
                continue
            for turn in range(5):
                side = 1.0 - (turn & 2)
                way = (side, 0.0, 0.0) if turn & 1 else (0.0, side, 0.0)
                if turn == 4:
                    way = 0.0, 0.0, 1.0
                max_distance = size[2] if turn == 4 else width
                count = keep_beside(
                    world, body, row(points, at), way, max_distance, low, high, 0.45 * width, points, motions, count
                )
        for at in range(walls.shape[0]):
            p = walls[at, 0], walls[at, 1], walls[at, 2]
            count = keep(world, body, p, low, high, ADHESIVE, 0.45 * width, points, motions, count)
        found = climbs_of(world, body, low, high, walls, scratch.fine)
        for need in (ADHESIVE, wanted & (SURFACE | ADHESIVE)):
            groups = group_waypoints(world, body, 2.0 * width, need, scratch.group, points, motions, count)
            count = keep_connectors(world, body, low, high, width, need, scratch, found, points, motions, count, groups)
        if wanted & SURFACE:
            max_distance = max(width, 2.0 * body.near)
            count = keep_rims(
                world, body, low, high, max_distance, 1.5 * width, rims, scratch.group, points, motions, count
            )
    return count


@inline
def near_any(points, count, p, gap):
    """Whether one of the first `count` positions is less than `gap` metres from a point."""
    for other in range(count):
        if apart2(points, other, p) < gap * gap:
            return True
    return False


@kernel
def add_narrow(world, body, low, high, wanted, places, points, motions, count):
    """Add `places` (t, 4) float64 on a face in narrow places; the last column is how far they keep from others.

    Whoever is in a narrow opening sees little of a face: a waypoint beside the way out may be hidden by the rim, so
    that only others of these keep one away, or what is nearly the same. In wider ones nothing fits behind the rim that
    is as close to the middle. `points` (most, 3) float32 and `motions` (most,) uint8 hold `count` waypoints; returns
    how many there are then.
    """
    given = count
    for place in range(places.shape[0]):
        p = places[place, 0], places[place, 1], places[place, 2]
        gap = places[place, 3]
        if not near_any(points, given, p, gap if gap >= _RIM * body.radius else _SAME * gap):
            count = given + keep(world, body, p, low, high, wanted, gap, points[given:], motions[given:], count - given)
    return count


@kernel
def place_face(world, body, axis, low, high, wanted, columns, levels, walls, rims, narrow, scratch, points, motions):
    """Boundary waypoints on the face across `axis` whose corners are `low` and `high`; returns how many.

    `walls` (w, 3) float64 are places beside the walls and ceilings that the face cuts, `rims` (r, 3) float64 places
    on the way over rims, `narrow` (t, 4) float64 places in openings and how far they
    are apart.
    """
    count = 0
    u, v = (axis + 1) % 3, (axis + 2) % 3
    if u == 2:
        u, v = v, u
    width = max(high[u] - low[u], high[v] - low[v]) / columns
    if wanted & SURFACE and axis < 2:
        # Spread out first, then wherever a walker who crosses the face reaches none of those.
        step = max(2.0 * body.radius, width / 6.0)
        for turn in range(2):
            parts = columns if turn == 0 else math.ceil((high[u] - low[u]) / step)
            found = 0
            for i in range(parts):
                along_u = low[u] + (i + 0.5) * (high[u] - low[u]) / parts
                x, y = (low[0], along_u) if axis == 0 else (along_u, low[1])
                found = keep_floors(world, body, x, y, low, high, 0.0, scratch, scratch.fine, scratch.motions, found)
            count = keep_guards(
                world, body, low, high, 1.25 * width * turn, scratch.fine, 0, found, points, motions, count
            )
    if wanted & SURFACE and axis == 2:
        # Ground that rises through a horizontal face: along lines in the plane that its foot is in.
        for i in range(columns * columns):
            x = low[0] + (i // columns + 0.5) * (high[0] - low[0]) / columns
            y = low[1] + (i % columns + 0.5) * (high[1] - low[1]) / columns
            for turn in range(4):
                side = 1.0 - (turn & 2)
                way = (side, 0.0, 0.0) if turn & 1 else (0.0, side, 0.0)
                away, _ = ray_nearest(world.tree, world.stack, (x, y, low[2] - body.lift), way, width)
                if away < math.inf:
                    spot = along((x, y, low[2]), way, away)
                    count = keep(world, body, spot, low, high, SURFACE, 0.3 * width, points, motions, count)
    if wanted & (VOLUMETRIC | ADHESIVE):
        for i in range(levels * levels):
            shift_u = (i // levels + 0.5) * (high[u] - low[u]) / levels
            shift_v = (i % levels + 0.5) * (high[v] - low[v]) / levels
            p = (
                low[0] + shift_u * (u == 0),
                low[1] + shift_u * (u == 1) + shift_v * (v == 1),
                low[2] + shift_v * (v == 2),
            )
            count = keep(world, body, p, low, high, VOLUMETRIC, 0.5 * width, points, motions, count)
    if wanted & VOLUMETRIC:
        count = add_narrow(world, body, low, high, VOLUMETRIC, narrow, points, motions, count)
    if wanted & ADHESIVE:
        first = 0
        for at in range(walls.shape[0] + rims.shape[0]):
            # Those over rims are apart from the others: from beside a wall one does not see what is above it.
            if at == walls.shape[0]:
                first = count
            spot = walls[at] if at < walls.shape[0] else rims[at - walls.shape[0]]
            p = rounded((spot[0], spot[1], spot[2]))
            if reached(world, body, p, 0.35 * width, ADHESIVE, first, points, motions, count) < 0:
                count = keep(world, body, p, low, high, ADHESIVE, 0.0, points, motions, count)
    return count


@kernel
def find_motions(world, body, points, motions):
    """Set `motions` (n,) uint8: what positions `points` (n, 3) float32 are good for."""
    for place in range(points.shape[0]):
        motions[place] = motions_at(world, body, row(points, place))


@kernel
def add_places(world, body, low, high, wanted, places, points, motions, count):
    """Add `places` (t, 4) float64 that a body fits at; the last column is how far they keep from others.

    `points` (most, 3) float32 and `motions` (most,) uint8 hold `count` waypoints; returns how many there are then.
    """
    for place in range(places.shape[0]):
        p = places[place, 0], places[place, 1], places[place, 2]
        count = keep(world, body, p, low, high, wanted, places[place, 3], points, motions, count)
    return count


@kernel
def add_joining(world, body, low, high, max_distance, wanted, places, scratch, points, motions, count):
    """Add those of `places` (t, 4) float64 that join waypoints, or that a flyer sees no waypoint from."""
    if wanted & VOLUMETRIC:
        count = keep_narrow(world, body, low, high, max_distance, places, scratch, points, motions, count)
    need = wanted & (SURFACE | ADHESIVE)
    if need:
        found = min(places.shape[0], scratch.fine.shape[0])
        for at in range(found):
            scratch.fine[at, 0], scratch.fine[at, 1], scratch.fine[at, 2] = places[at, 0], places[at, 1], places[at, 2]
        groups = group_waypoints(world, body, max_distance, need, scratch.group, points, motions, count)
        count = keep_connectors(
            world, body, low, high, max_distance, need, scratch, found, points, motions, count, groups
        )
    return count


@kernel
def edges_with_new(world, body, points, waypoint_motions, faces, first, count, wanted, starts, ends, motions):
    """Edges of a region that one of the waypoints from `first` on is at; returns how many.

    `faces` (count,) int32 names the lower region of those on a face to one, -1 for others: edges between two of one
    face belong to that region. The outputs get places in `points` and the legal motions; room is the caller's matter.
    """
    found = 0
    for j in range(first, count):
        q = row(points, j)
        for i in range(j):
            both = waypoint_motions[i] & waypoint_motions[j] & wanted
            if both == 0 or (faces[i] >= 0 and faces[i] == faces[j]):
                continue
            motion = motions_between(world, body, row(points, i), q, both, True)
            if motion:
                starts[found] = i
                ends[found] = j
                motions[found] = motion
                found += 1
    return found


@kernel
def count_rows(nodes, starts, ends, counts):
    """Add the degrees of a region's edges (places in `nodes`) to `counts` (n,) int64."""
    for edge in range(starts.size):
        counts[nodes[starts[edge]]] += 1
        counts[nodes[ends[edge]]] += 1


@kernel
def fill_rows(nodes, starts, ends, motions, cursor, out_targets, out_motions):
    """Write a region's edges into their rows; `cursor` (n,) int64 is the next free slot of each row."""
    for edge in range(starts.size):
        a, b = nodes[starts[edge]], nodes[ends[edge]]
        slot = cursor[a]
        cursor[a] = slot + 1
        out_targets[slot] = b
        out_motions[slot] = motions[edge]
        slot = cursor[b]
        cursor[b] = slot + 1
        out_targets[slot] = a
        out_motions[slot] = motions[edge]


_TOUCH = 1e-3  # of a radius: what is nearer to the surface of a ball touches it
_LEAST = 0.97  # of the wanted radius: smaller balls are in corners
_TURNS = 10  # times that a ball is made smaller
_OPPOSITE = 0.25  # cosine: balls that are held on both sides, and cannot grow by moving away from what they touch
_SMALL = 0.05  # of the wanted radius: balls that may still get to where there is more room
_MOVES = 14  # times that a ball moves
_HELD = 0.1  # of a radius: how well a ball is in the middle
_ENOUGH = 0.95  # of the radius of a ball: room on a face beside it
_EASY = 1.2  # of the radius of a body: room for it on a face
_FAR = 0.5  # metres of room that a place on a face must have more for each metre that it is further away
_OPEN = 1.5  # of the wanted radius: how far the next ball along an edge is from one that nothing holds
_GROWTH = 0.6  # of the growth away from both sides that says that there is room


@helper
def contact(world, body, p, max_distance):
    """Nearest point to a body at `p`, within `max_distance` of its axis: (distance or inf, point as the ball sees it).

    An upright body is a row of balls; what the upper ones are near to is as far below them.
    """
    best, where = max_distance * max_distance, p
    found = False
    parts = math.ceil(body.top / max(body.radius, body.step))
    for part in range(parts + 1):
        rise = 0.0 if parts == 0 else part * body.top / parts
        q = p[0], p[1], p[2] + rise
        away2, triangle, point = nearest_triangle(world.tree, world.stack, q, best)
        if triangle >= 0:
            best, where, found = away2, (point[0], point[1], point[2] - rise), True
        away2, triangle, point = nearest_triangle(world.blocks, world.stack, q, best)
        if triangle >= 0:
            best, where, found = away2, (point[0], point[1], point[2] - rise), True
        away2, triangle, point = nearest_triangle(world.closed, world.stack, q, best)
        if triangle >= 0:
            best, where, found = away2, (point[0], point[1], point[2] - rise), True
    return (math.sqrt(best) if found else math.inf), where


@inline
def shrunk(world, body, spot, way, least, most):
    """Radius of the largest empty ball up to `most` that touches `spot` with its middle along `way`, and what it meets.

    Infinity where nothing stops it, 0 where it is smaller than `least`.
    """
    radius = most
    other = spot
    for _ in range(_TURNS):
        away, point = contact(world, body, along(spot, way, radius), radius * (1.0 - _TOUCH))
        if away == math.inf:
            return (math.inf if radius == most else radius), other
        other = point
        side = subtract(point, spot)
        facing = 2.0 * dot(side, way)
        if facing <= 0.0:
            return 0.0, other
        smaller = dot(side, side) / facing
        if smaller >= radius * (1.0 - _TOUCH):
            return radius, other
        radius = smaller
        if radius < least:
            return 0.0, other
    return 0.0, other


@inline
def opposed(world, body, spot, way, radius, other, least):
    """Whether a ball that touches `spot` and `other` is held between them.

    In the corner between two walls a ball can grow by moving away from both: that is not narrow.
    """
    middle = along(spot, way, radius)
    a, b = subtract(middle, spot), subtract(middle, other)
    sum_ = a[0] + b[0], a[1] + b[1], a[2] + b[2]
    length = math.sqrt(dot(sum_, sum_))
    if length <= 2.0 * _OPPOSITE * radius:
        return True
    # Half the length is the radius times the cosine between the way out and what it leads away from.
    cosine = 0.5 * length / radius
    out = along(middle, sum_, least / length)
    away, _ = contact(world, body, out, radius + _GROWTH * cosine * least)
    return away < math.inf


@kernel
def narrow_along(world, body, starts, ends, ways, offsets, close, wide, least, most, first, last, shares, radii):
    """Balls in narrow places along the edges `first` to `last`, from `starts` to `ends` (e, 3) float64.

    They touch the edge with their middles along the unit vectors `ways` (e, 3) float64 and have radii from `least` to
    `most`. Edge `e` has the rows from `offsets[e]` to `offsets[e + 1]` (int64) of `shares`, where on the edge, and
    `radii`, both (k,) float64; rows that are not needed get the radius 0. Where a ball is held the next one is `close`
    metres on, or `wide` where it is large.
    """
    small = _LEAST * least
    for edge in range(first, last):
        start = starts[edge, 0], starts[edge, 1], starts[edge, 2]
        side = subtract((ends[edge, 0], ends[edge, 1], ends[edge, 2]), start)
        way = ways[edge, 0], ways[edge, 1], ways[edge, 2]
        length = math.sqrt(dot(side, side))
        row = offsets[edge]
        at = 0.5 * min(close, length)
        while at < length and row < offsets[edge + 1]:
            spot = along(start, side, at / length)
            middle = along(spot, way, small)
            away, point = contact(world, body, middle, small * (1.0 - _TOUCH))
            if away < math.inf:
                # What is in the smallest ball here is in those that follow, too, until they have passed it.
                beside = subtract(point, middle)
                ahead = dot(beside, side) / length
                across2 = dot(beside, beside) - ahead * ahead
                at += max(0.5 * close, ahead + math.sqrt(max(0.0, small * small - across2)) + 0.25 * close)
                continue
            radius, other = shrunk(world, body, spot, way, small, most)
            if radius == math.inf:
                at += _OPEN * least
                continue
            if radius > 0.0 and opposed(world, body, spot, way, radius, other, least):
                shares[row] = at / length
                radii[row] = radius
                row += 1
            at += wide if radius >= 2.0 * least else close
        for rest in range(row, offsets[edge + 1]):
            radii[rest] = 0.0


@inline
def unit(a, b):
    """The way from `b` to `a`, and how far it is."""
    side = subtract(a, b)
    length = max(math.sqrt(dot(side, side)), 1e-300)
    return (side[0] / length, side[1] / length, side[2] / length), length


@inline
def climbed(world, body, p, clear, one, two, least, most):
    """Where a ball at `p` that touches `one` and `two` gets by moving away from what it touches, and its radius there.

    It stops where it is held from both sides; infinity where it grows to `most`.
    """
    step = clear
    for _ in range(_MOVES):
        u, _ = unit(p, one)
        v, far = unit(p, two)
        way, length = unit((u[0] + v[0], u[1] + v[1], u[2] + v[2]), (0.0, 0.0, 0.0))
        move = step
        if length <= 2.0 * _OPPOSITE:
            if far - clear <= _HELD * clear:
                break
            way, move = u, 0.5 * (far - clear)
        q = along(p, way, move)
        away, point = contact(world, body, q, most)
        if away == math.inf:
            return p, math.inf
        if away > clear * (1.0 + _TOUCH):
            to_one, to_two = subtract(point, one), subtract(point, two)
            if dot(to_one, to_one) > dot(to_two, to_two):
                two = one
            one = point
            p, clear, step = q, away, away
        else:
            two = point
            step *= 0.5
            if step < _HELD * least:
                break
    return p, clear


@kernel
def settled_balls(world, body, spots, ways, least, most, first, last, centres, radii):
    """Set `centres` (k, 3) and `radii` (k,) float64 of rows `first` to `last`: where balls are held in narrow places.

    They start from `spots` (k, 3) float64 along the unit vectors `ways` (k, 3) float64, and move to where there is
    more room. Infinity where they grow to `most`, 0 where they stay smaller than `least`.
    """
    for row in range(first, last):
        spot = spots[row, 0], spots[row, 1], spots[row, 2]
        way = ways[row, 0], ways[row, 1], ways[row, 2]
        radius, other = shrunk(world, body, spot, way, _SMALL * least, most)
        if 0.0 < radius < math.inf:
            p, radius = climbed(world, body, along(spot, way, radius), radius, spot, other, least, most)
            centres[row, 0], centres[row, 1], centres[row, 2] = p
            if radius < _LEAST * least:
                radius = 0.0
        radii[row] = radius


@kernel
def roomiest_on_planes(world, body, axis, levels, centres, radii, first, last, fits):
    """Move the balls `first` to `last` to where a body has room near them on planes across `axis`.

    `levels` (k,) float64 is the plane of each; `centres` (k, 3) float64 and `fits` (k,) bool are set. Small `radii`
    (k,) float64 become the room there is: balls in front of an opening have the radius of the one in it.

    Places as far from the middle as the radius that the middle of the ball sees are looked at, then closer ones around
    the best. More room than in the ball itself, or than enough for the body, counts for nothing, and what is further
    away counts for less: there is most room outside of the opening.
    """
    u, v = (axis + 1) % 3, (axis + 2) % 3
    for row in range(first, last):
        radius = radii[row]
        enough = _ENOUGH * radius if body.radius == 0.0 else min(_ENOUGH * radius, _EASY * body.radius)
        middle = centres[row, 0], centres[row, 1], centres[row, 2]
        centres[row, axis] = levels[row]
        start_u, start_v = centres[row, u], centres[row, v]
        p = centres[row, 0], centres[row, 1], centres[row, 2]
        room, _ = contact(world, body, p, radius)
        room = min(room, radius)
        # What is behind a surface is of no use, however much room there is there.
        if in_block(world, p) or not free(world, middle, p, 0.0):
            room = 0.0
        best = room if room > body.radius else room - 2.0 * radius
        half, spacing = 2, 0.5 * radius if room < enough else 0.0
        while spacing > 0.1 * radius:
            middle_u, middle_v = centres[row, u], centres[row, v]
            for place in range((2 * half + 1) ** 2):
                along_u = middle_u + spacing * (place // (2 * half + 1) - half)
                along_v = middle_v + spacing * (place % (2 * half + 1) - half)
                less = _FAR * math.sqrt((along_u - start_u) ** 2 + (along_v - start_v) ** 2)
                if enough - less <= best:
                    continue
                p = (
                    levels[row] if axis == 0 else along_u if u == 0 else along_v,
                    levels[row] if axis == 1 else along_u if u == 1 else along_v,
                    levels[row] if axis == 2 else along_u if u == 2 else along_v,
                )
                away, _ = contact(world, body, p, enough)
                away = min(away, enough)
                worth = away - less if away > body.radius else away - less - 2.0 * radius
                if worth > best and not in_block(world, p) and free(world, middle, p, 0.0):
                    best, room = worth, away
                    centres[row, u], centres[row, v] = along_u, along_v
            half, spacing = 1, 0.5 * spacing
        p = centres[row, 0], centres[row, 1], centres[row, 2]
        fits[row] = room > body.radius and motions_at(world, body, p) != 0
        if radius < _RIM * body.radius:
            radii[row] = room


@kernel
def outside(world, places, first, last, result):
    """Set `result` (k,) bool of rows `first` to `last`: whether `places` (k, 3) float64 are not in solids."""
    for row in range(first, last):
        result[row] = not enclosed(world, (places[row, 0], places[row, 1], places[row, 2]))
