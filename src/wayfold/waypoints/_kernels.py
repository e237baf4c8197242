"""Where a body fits and how it moves between two points, tested on triangles (Wardhana et al. 2015, section 3).

Positions are middles of the body's lowest free ball. A walker's position is `lift` above the ground, high enough that
what it can step over is below the ball. All points are tuples of float64.
"""

import math
from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline, kernel
from wayfold.geometry.bvh_kernels import below_any, capsule_clear, nearest_triangle, ray_nearest
from wayfold.geometry.space_kernels import along, distance2, dot, subtract
from wayfold.graph.search_kernels import find_root

SURFACE = 1
ADHESIVE = 2
VOLUMETRIC = 4

_FINE = 0.125  # of a step: how finely a line is looked at where a wall is hardly within reach
_FINEST = 0.002  # of a step: and where that does not tell either
# Vectors to the nearest polygon are "not too different" (Wardhana et al. 2015, section 3) within 49 degrees of those at
# both ends: with one stop on the way, one gets around the edge between two walls, or between a wall and a roof.
ALIKE = 0.65


class TriangleWorld(NamedTuple):
    """The triangles as the tests see them."""

    tree: tuple  # geometry Boxes
    steep: tuple  # geometry Boxes of the triangles that are neither floors nor ceilings
    normals: np.ndarray  # (m, 3) float64, unit normals
    blocks: tuple  # geometry Boxes of solids that nobody stands on or clings to, turned outwards
    block_depths: np.ndarray  # (b,) float64, metres from a triangle on the top of its block to the bottom; 0 for others
    closed: tuple  # geometry Boxes of surfaces that nobody may touch, such as water
    stack: tuple  # geometry Stack, one for each thread


class Body(NamedTuple):
    """An agent as the tests see it, metres."""

    radius: float
    lift: float  # from the ground to the position
    top: float  # from the position to the middle of the body's highest ball
    climb: float  # the highest step, and what storing a position may be off
    tangent: float  # of the steepest slope
    cosine: float  # of the steepest slope
    near: float  # a surface this close can be clung to
    offset: float  # how far a clinging body keeps from its surface
    step: float  # between samples along an edge


@helper
def free(world, p, q, radius):
    """Whether a ball can be moved straight from `p` to `q` without touching anything."""
    return (
        capsule_clear(world.tree, world.stack, p, q, radius)
        and capsule_clear(world.blocks, world.stack, p, q, radius)
        and capsule_clear(world.closed, world.stack, p, q, radius)
    )


@inline
def in_block(world, p):
    """Whether `p` is inside a block: its top is straight above, no further away than its bottom is from that.

    Every block is asked for itself. What is nearest above a place inside one may be the bottom of another.
    """
    return below_any(world.blocks, world.stack, p, world.block_depths)


@inline
def feet_clear(world, body, p, q):
    """Whether no block is between a walker, whose lowest ball is free from `p` to `q`, and its ground."""
    parts = math.ceil((body.lift - body.radius) / max(body.radius, body.step))
    for part in range(parts):
        down = 0.0, 0.0, -(part + 1) * (body.lift - body.radius) / parts
        if not capsule_clear(world.blocks, world.stack, along(p, down, 1.0), along(q, down, 1.0), body.radius):
            return False
    return True


@inline
def upright_clear(world, body, p, q):
    """Whether an upright body whose lowest ball can be moved straight from `p` to `q` can be moved as a whole.

    The body is its lowest and its highest ball and what is between them, which is covered by larger balls: each fills a
    slice of it and reaches no lower than the lowest ball, so that a body may be as close to the ground as that is.
    """
    if body.top <= 0.0:
        return True
    rise = 0.0, 0.0, 1.0
    if not free(world, along(p, rise, body.top), along(q, rise, body.top), body.radius):
        return False
    parts = math.ceil(body.top / max(1.5 * body.radius, 0.1 * body.top))
    gap = body.top / parts
    radius = math.sqrt(body.radius * body.radius + 0.25 * gap * gap)
    for part in range(parts):
        middle = (part + 0.5) * gap
        if not free(world, along(p, rise, middle), along(q, rise, middle), radius):
            return False
    return True


@inline
def ground_below(world, body, p, max_distance):
    """How far the walkable ground is below `p`, up to `max_distance` metres; infinity for none."""
    away, triangle = ray_nearest(world.tree, world.stack, p, (0.0, 0.0, -1.0), max_distance)
    # Whatever one stands on is a floor, whichever way its triangle is turned.
    if triangle < 0 or abs(world.normals[triangle, 2]) < body.cosine:
        return math.inf
    return away


@inline
def on_ground(world, body, p):
    """Whether `p` is the position of a walker."""
    return abs(ground_below(world, body, p, body.lift + body.climb) - body.lift) <= body.climb


@inline
def surface_below(world, body, p, q):
    """Whether walkable ground lies below the whole way from `p` to `q`, without a step higher than `climb`."""
    way = subtract(q, p)
    length = math.sqrt(dot(way, way))
    count = math.ceil(length / body.step)
    run = math.sqrt(way[0] * way[0] + way[1] * way[1]) / max(count, 1)
    before = math.inf
    for at in range(count + 1):
        sample = along(p, way, at / max(count, 1))
        away = ground_below(world, body, sample, body.lift + body.climb)
        if not abs(away - body.lift) <= body.climb:
            return False
        height = sample[2] - away
        if at > 0 and abs(height - before) > body.climb + run * body.tangent:
            return False
        before = height
    return True


@inline
def clinging(world, body, p, rim):
    """Unit vector from `p` to the nearest polygon, if it is near and not nearly up-facing: (yes or no, vector).

    With `rim` a wall behind an up-facing polygon will do, as long as nothing lies between: the one below the rim of a
    roof.
    """
    away2, triangle, where = nearest_triangle(world.tree, world.stack, p, body.near * body.near)
    vector = subtract(where, p)
    if triangle < 0 or away2 <= 0.0:
        return False, vector
    away = math.sqrt(away2)
    vector = vector[0] / away, vector[1] / away, vector[2] / away
    if -vector[2] < body.cosine or not rim:
        return -vector[2] < body.cosine, vector
    away2, triangle, where = nearest_triangle(world.steep, world.stack, p, body.near * body.near)
    if triangle < 0 or away2 <= 0.0:
        return False, vector
    away = math.sqrt(away2)
    vector = subtract(where, p)
    vector = vector[0] / away, vector[1] / away, vector[2] / away
    _, between = ray_nearest(world.tree, world.stack, p, vector, 0.999 * away)
    return between < 0, vector


@inline
def surface_beside(world, body, p, q):
    """The adhesive test (Wardhana et al. 2015, section 3): near a wall all the way, with vectors to it that stay alike.

    Only short lines lead over a rim, or around the inner edge between two walls or a wall and a ceiling: there the
    vector turns all at once from one surface to the other, and both are within reach.
    """
    way = subtract(q, p)
    rim = dot(way, way) < 4.0 * body.near * body.near
    near, first = clinging(world, body, p, rim)
    if not near:
        return False
    near, last = clinging(world, body, q, rim)
    if not near or (not rim and dot(first, last) < ALIKE):
        return False
    # Twice as often as the paper asks for: every radius lets lines cross narrow ledges unseen.
    count = math.ceil(2.0 * math.sqrt(dot(way, way)) / body.step)
    # From the middle outwards: that is where most lines leave their wall.
    for turn in range(1, count):
        at = count // 2 + (turn // 2 if turn % 2 == 0 else -(turn // 2))
        near, vector = clinging(world, body, along(p, way, at / count), rim)
        if not near or (not rim and (dot(vector, first) < ALIKE or dot(vector, last) < ALIKE)):
            return False
    return within_reach(world, body, p, q)


@inline
def hanging(world, body, p, away):
    """How far from `p`, whose nearest surface does not face up, one does not come nearer to one that does, metres.

    0 where that is not known. What faces up is below, in a cone, and no further than the nearest surface: a ball holds
    all of the cone.
    """
    room = body.near - away
    depth = math.sqrt(0.5) * body.near
    across = math.sqrt(body.near * body.near + depth * depth - 2.0 * body.near * depth * body.cosine)
    middle = p[0], p[1], p[2] - depth
    return room if capsule_clear(world.tree, world.stack, middle, middle, max(depth, across) + room) else 0.0


@helper
def hold(world, body, p):
    """What one clings to at `p`: (triangle, -1 for none; how far away it is; its nearest point; whether it is steep).

    Something steep holds whatever else is nearer; where there is none within reach, the nearest surface must not face
    up.
    """
    away2, triangle, where = nearest_triangle(world.steep, world.stack, p, body.near * body.near)
    steep = triangle >= 0
    if not steep:
        away2, triangle, where = nearest_triangle(world.tree, world.stack, p, body.near * body.near)
        if triangle >= 0 and p[2] - where[2] >= body.cosine * math.sqrt(away2):
            triangle = -1
    return triangle, math.sqrt(away2), where, steep


@inline
def within_reach(world, body, p, q):
    """Whether something to cling to is near all the way from `p` to `q`, also between samples.

    The distance to the nearest triangle changes by no more than one moves, so the next place to look at is as far on as
    there is room left. Where that is hardly any, what is near on both sides of a short step must be near all along it:
    one triangle, which is convex, one of its points, or as much of two as there is room left to each. Steps that do not
    tell are halved.
    """
    way = subtract(q, p)
    length = math.sqrt(dot(way, way))
    done, least, near2 = 0.0, _FINE * body.step, body.near * body.near
    spot = p
    triangle, away, where, steep = hold(world, body, p)
    while triangle >= 0 and done < length:
        room = body.near - away if steep else hanging(world, body, spot, away)
        step = max(least, room)
        ahead = q
        if done + step < length:
            ahead = along(p, way, (done + step) / length)
        step = min(step, length - done)
        after, after_away, after_where, after_steep = hold(world, body, ahead)
        if step > room and not (after == triangle and after_steep == steep):
            if distance2(ahead, where) > near2 and distance2(spot, after_where) > near2:
                if away + after_away + step > 2.0 * body.near:
                    if after < 0 or least < _FINEST * body.step:
                        return False
                    least *= 0.5
                    continue
        done, least = done + step, _FINE * body.step
        spot, triangle, away, where, steep = ahead, after, after_away, after_where, after_steep
    return triangle >= 0


@helper
def motions_between(world, body, p, q, wanted, every):
    """The motions of `wanted` by which a straight line is legal: all where `every`, else the first that passes.

    0 for none. They are tried in the order surface, adhesive, volumetric. A line is as legal from its end as from its
    start: it is always looked at from the lower of the two.
    """
    if q < p:
        p, q = q, p
    if not free(world, p, q, body.radius):
        return 0
    upright = False
    if wanted & (SURFACE | VOLUMETRIC):
        upright = upright_clear(world, body, p, q)
    legal = 0
    if wanted & SURFACE and upright and surface_below(world, body, p, q) and feet_clear(world, body, p, q):
        legal = SURFACE
    if wanted & ADHESIVE and (every or legal == 0) and surface_beside(world, body, p, q):
        legal |= ADHESIVE
    if wanted & VOLUMETRIC and (every or legal == 0) and upright:
        legal |= VOLUMETRIC
    return legal


@kernel
def motion_between(world, body, p, q, wanted):
    """The motion type of a straight line: the first of surface, adhesive and volumetric that passes; 0 for none.

    Only motions in `wanted` are tried.
    """
    return motions_between(world, body, p, q, wanted, False)


@kernel
def motions_at(world, body, p):
    """What a position is good for: motion bits, 0 where the body does not fit."""
    if not free(world, p, p, body.radius) or in_block(world, p):
        return 0
    motions = 0
    if upright_clear(world, body, p, p):
        motions = VOLUMETRIC
        if on_ground(world, body, p) and feet_clear(world, body, p, p):
            motions |= SURFACE
    near, _ = clinging(world, body, p, True)
    if near:
        motions |= ADHESIVE
    return motions


@kernel
def enclosed(world, p):
    """Whether `p` is inside something solid: more of the six rays along the axes see backs than fronts of triangles.

    So is a point below the ground with nothing further down.
    """
    backs = 0
    below, above = 0, 0
    for axis in range(3):
        for side in (-1.0, 1.0):
            way = side * (axis == 0), side * (axis == 1), side * (axis == 2)
            _, triangle = ray_nearest(world.tree, world.stack, p, way, math.inf)
            sees = 0
            if triangle >= 0:
                facing = side * world.normals[triangle, axis]
                sees = 1 if facing > 0.0 else -1 if facing < 0.0 else 0
            backs += sees
            if axis == 2 and side < 0.0:
                below = sees
            if axis == 2 and side > 0.0:
                above = sees
    return backs > 0 or (above > 0 and below == 0)


@kernel
def region_edges(world, body, points, nodes, of, region, waypoint_motions, wanted, empty, starts, ends, motions):
    """All edges between the waypoints of a region, but for those between two of the face to a lower region.

    Returns how many.

    `points` (n, 3) float32, `nodes` (m,) int32 of the region, `of` (n, 2) int32 the regions of each waypoint, the lower
    one first, `waypoint_motions` (n,) uint8. The outputs (m * (m - 1) / 2,) get
    places in `nodes` (uint16) and all motions that are legal. In an empty region every two waypoints see each other.
    """
    count = 0
    for i in range(nodes.size):
        a = nodes[i]
        p = np.float64(points[a, 0]), np.float64(points[a, 1]), np.float64(points[a, 2])
        for j in range(i + 1, nodes.size):
            b = nodes[j]
            both = waypoint_motions[a] & waypoint_motions[b] & wanted
            if both == 0 or (of[a, 1] == region and of[b, 1] == region and of[a, 0] == of[b, 0]):
                continue
            motion = VOLUMETRIC
            if not empty:
                q = np.float64(points[b, 0]), np.float64(points[b, 1]), np.float64(points[b, 2])
                motion = motions_between(world, body, p, q, both, True)
            if motion:
                starts[count] = i
                ends[count] = j
                motions[count] = motion
                count += 1
    return count


@kernel
def drop_islands(nodes, of, waypoint_motions, motion, least, starts, ends, motions, count, group, met):
    """Take a motion type from edges by which it leads nowhere; returns how many edges of the region are left.

    They join fewer than `least` waypoints, none of which is on a face of the region; none stands on the ground, where
    climbers would get on, or none is away from walls, where walkers have room (the top of a parapet is for climbers).
    Those without another motion go, but stay where edges of other motions lead to them: one climbs onto a small roof.
    `group` (m,) int32 is the scratch of a union-find over the region's waypoints, `met` (m,) bool is scratch, `of`
    (n, 2) int32.
    """
    size = nodes.size
    for i in range(size):
        group[i] = i
        met[i] = False
    for edge in range(count):
        if motions[edge] & motion:
            a, b = find_root(group, starts[edge]), find_root(group, ends[edge])
            group[max(a, b)] = min(a, b)
        else:
            met[starts[edge]] = met[ends[edge]] = True
    for i in range(size):
        group[i] = find_root(group, i)
    left = 0
    for edge in range(count):
        if motions[edge] & motion:
            root = group[starts[edge]]
            members = 0
            reachable = False
            for i in range(size):
                if group[i] == root:
                    members += 1
                    reachable |= met[i]
                    possible = waypoint_motions[nodes[i]]
                    leads = possible & SURFACE != 0 if motion == ADHESIVE else possible & ADHESIVE == 0
                    if leads or of[nodes[i], 1] >= 0:
                        members = least
                if members >= least:
                    break
            if members < least:
                if motions[edge] != motion:
                    motions[edge] &= ~motion
                elif not reachable:
                    continue
        starts[left] = starts[edge]
        ends[left] = ends[edge]
        motions[left] = motions[edge]
        left += 1
    return left


@kernel
def furthest(world, body, p, points, wanted, count):
    """The last of the first `count` rows of `points` (k, 3) float64 that a legal line leads to, -1 for none."""
    for row in range(count - 1, -1, -1):
        if motion_between(world, body, p, (points[row, 0], points[row, 1], points[row, 2]), wanted):
            return row
    return -1


@kernel
def stopped(world, body, points, pairs, motions, hit):
    """Set `hit` (k,) bool: which edges, rows of `pairs` (k, 2) int32 into `points` (n, 3) float64, blocks stop.

    `motions` (k,) uint8 are their motions: an edge stays while one of them is left. The rest of the world is not looked
    at.
    """
    for edge in range(pairs.shape[0]):
        a, b = pairs[edge, 0], pairs[edge, 1]
        p, q = (points[a, 0], points[a, 1], points[a, 2]), (points[b, 0], points[b, 1], points[b, 2])
        hit[edge] = True
        if not capsule_clear(world.blocks, world.stack, p, q, body.radius) or in_block(world, p):
            continue
        clear = motions[edge] & ADHESIVE != 0
        if not clear and upright_clear(world, body, p, q):
            clear = motions[edge] & VOLUMETRIC != 0 or feet_clear(world, body, p, q)
        hit[edge] = not clear


@kernel
def shortcuts(world, body, points, wanted, kept):
    """Places in `points` (k, 3) float64 that remain after straight, legal shortcuts; returns how many.

    From each kept point the path goes to the furthest of the following points that a legal line leads to, looking on
    while it is legal (Wardhana et al. 2015, section 6, after Pinter).
    """
    kept[0] = 0
    count, place = 1, 0
    while place < points.shape[0] - 1:
        far = place + 1
        p = points[place, 0], points[place, 1], points[place, 2]
        while far + 1 < points.shape[0]:
            q = points[far + 1, 0], points[far + 1, 1], points[far + 1, 2]
            if motion_between(world, body, p, q, wanted) == 0:
                break
            far += 1
        kept[count] = far
        count += 1
        place = far
    return count
