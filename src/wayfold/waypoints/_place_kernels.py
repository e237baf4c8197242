# mypy: ignore-errors
"""Where waypoints go (000, section 3): ground, walls, ceilings and free space of a region, and the faces between two.

Positions are written as float32, as they are stored, and every test sees the stored position.
"""

import math
from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, kernel
from wayfold.geometry._bvh_kernels import collect_hits, ray_nearest
from wayfold.geometry._kernels import along, dot
from wayfold.graph._kernels import find_root
from wayfold.waypoints._join_kernels import (
    apart2,
    climbs_of,
    group_waypoints,
    inside,
    keep,
    keep_connectors,
    keep_rims,
    rounded,
    row,
)
from wayfold.waypoints._kernels import (
    ADHESIVE,
    SURFACE,
    VOLUMETRIC,
    ground_below,
    kind_of,
    motion_between,
    motions_between,
)


class Scratch(NamedTuple):
    """Scratch of one thread."""

    hits: np.ndarray  # (h,) float64, floors on one vertical
    triangles: np.ndarray  # (h,) int32
    fine: np.ndarray  # (f, 3) float32, positions of a walker on a fine lattice
    kinds: np.ndarray  # (f,) uint8
    seen: np.ndarray  # (f,) int32, a waypoint that each of those sees
    group: np.ndarray  # (most + 1,) int32, union-find over waypoints


# A ray that meets a wall at a flatter angle than this is no use for finding a place beside it.
_SQUARE = 0.3
_CHAIN = 8.0  # radii between two places that join waypoints together


@helper
def keep_floors(world, body, x, y, low, high, gap, scratch, points, kinds, count):
    """Add a walker's position on every floor below (x, y) in the box."""
    top = high[2] - body.lift
    hits, triangles = scratch.hits, scratch.triangles
    found = collect_hits(world.tree, world.stack, (x, y, top), (0.0, 0.0, -1.0), high[2] - low[2], hits, triangles)
    for at in range(min(found, hits.size)):
        if abs(world.normals[triangles[at], 2]) >= body.cosine:
            stand = x, y, top - hits[at] + body.lift
            count = keep(world, body, stand, low, high, SURFACE, gap, points, kinds, count)
    return count


@helper
def keep_beside(world, body, p, way, reach, low, high, gap, points, kinds, count):
    """Add a clinging position off the normal of the first surface along a ray."""
    away, triangle = ray_nearest(world.tree, world.stack, p, way, reach)
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
    return keep(world, body, spot, low, high, ADHESIVE, gap, points, kinds, count)


@helper
def reached(world, body, p, reach, motion, first, points, kinds, count):
    """A waypoint from `first` on, within `reach` metres, that leads straight to `p` by a motion; -1 for none."""
    # The last one first: those that follow one another are often close together.
    for other in range(count - 1, first - 1, -1):
        if kinds[other] & motion and apart2(points, other, p) < reach * reach:
            if motion_between(world, body, p, row(points, other), motion) == motion:
                return other
    return -1


@helper
def keep_guards(world, body, low, high, reach, fine, first, last, points, kinds, count):
    """Add the rows `first` to `last` of `fine` from which a walker reaches no waypoint within `reach` metres."""
    for at in range(first, last):
        p = row(fine, at)
        if reached(world, body, p, reach, SURFACE, 0, points, kinds, count) < 0:
            count = keep(world, body, p, low, high, SURFACE, 0.0, points, kinds, count)
    return count


@helper
def keep_chains(world, body, low, high, scratch, found, points, kinds, count):
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
                    count = keep(world, body, p, low, high, VOLUMETRIC, 0.0, points, kinds, count)
                if count > before:
                    group[before] = one
    return count


@helper
def keep_narrow(world, body, low, high, reach, narrow, scratch, points, kinds, count):
    """Add places of `narrow` (t, 3) from which a flyer sees no waypoint within `reach`, and those that join others."""
    found = 0
    for at in range(narrow.shape[0]):
        p = rounded((narrow[at, 0], narrow[at, 1], narrow[at, 2]))
        if not inside(p, low, high) or kind_of(world, body, p) & VOLUMETRIC == 0:
            continue
        # What a waypoint leads to is as little in solids as the waypoint; `keep` looks at the others.
        seen = reached(world, body, p, reach, VOLUMETRIC, 0, points, kinds, count)
        if seen < 0:
            seen = count
            count = keep(world, body, p, low, high, VOLUMETRIC, 0.0, points, kinds, count)
            if count == seen:
                continue
        if found < scratch.fine.shape[0]:
            scratch.fine[found, 0], scratch.fine[found, 1], scratch.fine[found, 2] = p
            scratch.seen[found] = seen
            found += 1
    if found > 0:
        groups = group_waypoints(world, body, reach, VOLUMETRIC, scratch.group, points, kinds, count)
        count = keep_connectors(world, body, low, high, reach, VOLUMETRIC, scratch, found, points, kinds, count, groups)
        count = keep_chains(world, body, low, high, scratch, found, points, kinds, count)
    return count


@kernel
def place_region(
    world, body, low, high, wanted, columns, levels, corners, walls, rims, narrow, scratch, points, kinds, count
):
    """Local waypoints of a region, after the `count` boundary waypoints that are given; returns the new count.

    `low`, `high` are corners (tuples). `columns` x `columns` verticals look for floors, a lattice of `levels` cubed
    looks for free space, `corners` (c, 3) float64 are places beside corners and in openings, `walls` (w, 3) float64
    places beside walls and ceilings, `rims` (r, 6) float64 places above and beside rims of roofs, `narrow` (t, 3)
    float64 places in openings. `points` (most, 3) float32 and `kinds` (most,) uint8 are set.
    """
    size = high[0] - low[0], high[1] - low[1], high[2] - low[2]
    width = max(size[0], size[1]) / columns
    if wanted & SURFACE:
        for i in range(columns * columns):
            x = low[0] + (i // columns + 0.5) * size[0] / columns
            y = low[1] + (i % columns + 0.5) * size[1] / columns
            count = keep_floors(world, body, x, y, low, high, 0.45 * width, scratch, points, kinds, count)
    for at in range(corners.shape[0]):
        p = corners[at, 0], corners[at, 1], corners[at, 2]
        if wanted & SURFACE:
            down = ground_below(world, body, p, 4.0 * body.lift)
            if down < math.inf:
                stand = p[0], p[1], p[2] - down + body.lift
                count = keep(world, body, stand, low, high, SURFACE, 0.15 * width, points, kinds, count)
        count = keep(world, body, p, low, high, wanted & (ADHESIVE | VOLUMETRIC), 0.35 * width, points, kinds, count)
    if wanted & SURFACE:
        step = max(2.0 * body.radius, width / 6.0)
        side = math.ceil(size[0] / step), math.ceil(size[1] / step)
        found = 0
        for i in range(side[0] * side[1]):
            x = low[0] + (i // side[1] + 0.5) * size[0] / side[0]
            y = low[1] + (i % side[1] + 0.5) * size[1] / side[1]
            found = keep_floors(world, body, x, y, low, high, 0.0, scratch, scratch.fine, scratch.kinds, found)
        count = keep_guards(world, body, low, high, 1.25 * width, scratch.fine, 0, found, points, kinds, count)
        reach = 1.5 * width
        groups = group_waypoints(world, body, 2.0 * reach, SURFACE, scratch.group, points, kinds, count)
        count = keep_connectors(world, body, low, high, reach, SURFACE, scratch, found, points, kinds, count, groups)
    if wanted & (VOLUMETRIC | ADHESIVE):
        for i in range(levels * levels * levels):
            p = (
                low[0] + (i // (levels * levels) + 0.5) * size[0] / levels,
                low[1] + (i // levels % levels + 0.5) * size[1] / levels,
                low[2] + (i % levels + 0.5) * size[2] / levels,
            )
            count = keep(world, body, p, low, high, VOLUMETRIC, 0.5 * width, points, kinds, count)
    if wanted & VOLUMETRIC:
        reach = 2.0 * max(size[0], size[1], size[2]) / levels
        count = keep_narrow(world, body, low, high, reach, narrow, scratch, points, kinds, count)
    if wanted & ADHESIVE:
        seen = count
        for at in range(seen):
            if kinds[at] & SURFACE == 0:
                continue
            for turn in range(5):
                side = 1.0 - (turn & 2)
                way = (side, 0.0, 0.0) if turn & 1 else (0.0, side, 0.0)
                if turn == 4:
                    way = 0.0, 0.0, 1.0
                reach = size[2] if turn == 4 else width
                count = keep_beside(
                    world, body, row(points, at), way, reach, low, high, 0.45 * width, points, kinds, count
                )
        for at in range(walls.shape[0]):
            p = walls[at, 0], walls[at, 1], walls[at, 2]
            count = keep(world, body, p, low, high, ADHESIVE, 0.45 * width, points, kinds, count)
        found = climbs_of(world, body, low, high, walls, scratch.fine)
        for need in (ADHESIVE, wanted & (SURFACE | ADHESIVE)):
            groups = group_waypoints(world, body, 2.0 * width, need, scratch.group, points, kinds, count)
            count = keep_connectors(world, body, low, high, width, need, scratch, found, points, kinds, count, groups)
        if wanted & SURFACE:
            reach = max(width, 2.0 * body.near)
            count = keep_rims(world, body, low, high, reach, 1.5 * width, rims, scratch.group, points, kinds, count)
    return count


@kernel
def place_face(world, body, axis, low, high, wanted, columns, levels, walls, rims, narrow, scratch, points, kinds):
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
                found = keep_floors(world, body, x, y, low, high, 0.0, scratch, scratch.fine, scratch.kinds, found)
            count = keep_guards(
                world, body, low, high, 1.25 * width * turn, scratch.fine, 0, found, points, kinds, count
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
                    count = keep(world, body, spot, low, high, SURFACE, 0.3 * width, points, kinds, count)
    if wanted & (VOLUMETRIC | ADHESIVE):
        for i in range(levels * levels):
            shift_u = (i // levels + 0.5) * (high[u] - low[u]) / levels
            shift_v = (i % levels + 0.5) * (high[v] - low[v]) / levels
            p = (
                low[0] + shift_u * (u == 0),
                low[1] + shift_u * (u == 1) + shift_v * (v == 1),
                low[2] + shift_v * (v == 2),
            )
            count = keep(world, body, p, low, high, VOLUMETRIC, 0.5 * width, points, kinds, count)
    if wanted & VOLUMETRIC:
        for at in range(narrow.shape[0]):
            # Whoever is inside an opening sees little of the face: one place for each.
            p = narrow[at, 0], narrow[at, 1], narrow[at, 2]
            count = keep(world, body, p, low, high, VOLUMETRIC, narrow[at, 3], points, kinds, count)
    if wanted & ADHESIVE:
        first = 0
        for at in range(walls.shape[0] + rims.shape[0]):
            # Those over rims are apart from the others: from beside a wall one does not see what is above it.
            if at == walls.shape[0]:
                first = count
            spot = walls[at] if at < walls.shape[0] else rims[at - walls.shape[0]]
            p = rounded((spot[0], spot[1], spot[2]))
            if reached(world, body, p, 0.35 * width, ADHESIVE, first, points, kinds, count) < 0:
                count = keep(world, body, p, low, high, ADHESIVE, 0.0, points, kinds, count)
    return count


@kernel
def kinds_of(world, body, points, kinds):
    """Set `kinds` (n,) uint8: what positions `points` (n, 3) float32 are good for."""
    for at in range(points.shape[0]):
        kinds[at] = kind_of(world, body, row(points, at))


@kernel
def add_places(world, body, low, high, wanted, places, points, kinds, count):
    """Add `places` (t, 4) float64 that a body fits at; the last column is how far they keep from others.

    `points` (most, 3) float32 and `kinds` (most,) uint8 hold `count` waypoints; returns how many there are then.
    """
    for at in range(places.shape[0]):
        p = places[at, 0], places[at, 1], places[at, 2]
        count = keep(world, body, p, low, high, wanted, places[at, 3], points, kinds, count)
    return count


@kernel
def add_joining(world, body, low, high, reach, wanted, places, scratch, points, kinds, count):
    """Add those of `places` (t, 4) float64 that join waypoints, or that a flyer sees no waypoint from."""
    if wanted & VOLUMETRIC:
        count = keep_narrow(world, body, low, high, reach, places, scratch, points, kinds, count)
    need = wanted & (SURFACE | ADHESIVE)
    if need:
        found = min(places.shape[0], scratch.fine.shape[0])
        for at in range(found):
            scratch.fine[at, 0], scratch.fine[at, 1], scratch.fine[at, 2] = places[at, 0], places[at, 1], places[at, 2]
        groups = group_waypoints(world, body, reach, need, scratch.group, points, kinds, count)
        count = keep_connectors(world, body, low, high, reach, need, scratch, found, points, kinds, count, groups)
    return count


@kernel
def edges_with_new(world, body, points, kinds, faces, first, count, wanted, starts, ends, motions):
    """Edges of a region that one of the waypoints from `first` on is at; returns how many.

    `faces` (count,) int32 names the lower region of those on a face to one, -1 for others: edges between two of one
    face belong to that region. The outputs get places in `points` and the legal motions; room is the caller's matter.
    """
    found = 0
    for j in range(first, count):
        q = row(points, j)
        for i in range(j):
            both = kinds[i] & kinds[j] & wanted
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
    for at in range(starts.size):
        counts[nodes[starts[at]]] += 1
        counts[nodes[ends[at]]] += 1


@kernel
def fill_rows(nodes, starts, ends, motions, cursor, out_targets, out_motions):
    """Write a region's edges into their rows; `cursor` (n,) int64 is the next free slot of each row."""
    for at in range(starts.size):
        a, b = nodes[starts[at]], nodes[ends[at]]
        slot = cursor[a]
        cursor[a] = slot + 1
        out_targets[slot] = b
        out_motions[slot] = motions[at]
        slot = cursor[b]
        cursor[b] = slot + 1
        out_targets[slot] = a
        out_motions[slot] = motions[at]
