# mypy: ignore-errors
"""Lanes: ways through openings that are wide enough for the agent, but not for erosion by whole columns.

Erosion takes away columns, and with them openings up to two columns wider than the agent. Where it does so, walls are
looked at as they are: the columns that it took are cut into small cells, and a cell is clear when all of it is at least
the agent's radius away from the walls, which are the triangles' own parts in blocked columns. Where a zone closes a
column its outline is the wall; where something else does (steep ground, a low ceiling) all of it counts as one. Beside
drops the small cells without ground do.
"""

import numpy as np

from wayfold.core.jit import helper, inline, kernel, kernel_with_memory
from wayfold.geometry.voxel_kernels import clip
from wayfold.navmesh._heightfield_kernels import Open, closes, height_over, step_between
from wayfold.navmesh._tile_kernels import BEYOND, LANE

_FAR = 1 << 20  # columns: a wall that is nowhere
_OPPOSITE = 0.25  # squared cosine: walls on two sides, at an angle of more than 120 degrees
_BUCKET = 8  # columns
_HAIR = 1e-5  # of a column: walls along its side, but for the last digits, are in it
_MOST_CORNERS = 16
_ASIDE = 0.02  # of a column: where the ground beside something steep is looked at
_SEEN = np.int32(1 << 30)  # instead of the number of a way: looked at
_BLOCK = 16  # columns: regions of lanes end at such a lattice, so that none becomes too large


@kernel
def find_narrow(space, firm, distance, columns, frame, margin, radius, least, wall, narrow):
    """Mark eroded spans that lie between two walls, or between parts that erosion left; return their number.

    Those within `margin` columns of the frame's sides are left out: the frame itself looks like a wall there.

    `firm` and `distance` are those of `wall_distance`; spans with less than `least` half cells cannot be in the middle
    of an opening that is wide enough. `wall` (n, 2) int32 is scratch: column and row of the nearest blocked column.
    `narrow` (n,) uint8 is set.
    """
    links, kind = space.links, firm
    width, depth = frame.width, frame.depth
    limit = 2 * radius
    size = kind.size
    for k in range(size):
        wall[k, 0], wall[k, 1] = -_FAR, -_FAR
        narrow[k] = 0
        if kind[k] == 0 or distance[k] >= limit:
            continue
        x, y = columns[k] % width, columns[k] // width
        missing = 0
        for side in range(4):
            beside = links[k, side]
            if beside < 0 or kind[beside] == 0:
                missing |= 1 << side
                wall[k, 0] = x + (1 if side == 2 else 0) - (1 if side == 0 else 0)
                wall[k, 1] = y + (1 if side == 3 else 0) - (1 if side == 1 else 0)
        if distance[k] >= least and ((missing & 5) == 5 or (missing & 10) == 10):
            narrow[k] = margin <= x < width - margin and margin <= y < depth - margin
    for turn in range(2):
        for place in range(size):
            k = place if turn == 0 else size - 1 - place
            if kind[k] == 0 or distance[k] >= limit:
                continue
            x, y = columns[k] % width, columns[k] // width
            best = (wall[k, 0] - x) ** 2 + (wall[k, 1] - y) ** 2
            for part in range(2):
                side = part + 2 * turn
                beside = links[k, side]
                if beside < 0:
                    continue
                for diagonally in range(2):
                    other = links[beside, (side + 1) & 3] if diagonally else beside
                    if other < 0:
                        continue
                    away = (wall[other, 0] - x) ** 2 + (wall[other, 1] - y) ** 2
                    if away < best:
                        best = away
                        wall[k, 0], wall[k, 1] = wall[other, 0], wall[other, 1]
    count = 0
    for k in range(size):
        if kind[k] > 0 and least <= distance[k] < limit and narrow[k] == 0:
            x, y = columns[k] % width, columns[k] // width
            if margin <= x < width - margin and margin <= y < depth - margin:
                narrow[k] = _between(links, kind, distance, columns, width, limit, wall, k)
        count += narrow[k]
    return count


@inline
def _between(links, kind, distance, columns, width, limit, wall, k):
    """Whether a span lies between walls, or has around it parts that erosion left and that do not touch each other."""
    x, y = columns[k] % width, columns[k] // width
    ux, uy = float(wall[k, 0] - x), float(wall[k, 1] - y)
    runs = 0
    first, last = False, False
    for step in range(8):
        other = _around(links, k, step)
        left = other >= 0 and distance[other] >= limit
        if step == 0:
            first = left
        elif left and not last:
            runs += 1
        last = left
        if other >= 0 and kind[other] > 0 and not left:
            vx, vy = float(wall[other, 0] - x), float(wall[other, 1] - y)
            dot = ux * vx + uy * vy
            if dot < 0.0 and dot * dot > _OPPOSITE * (ux * ux + uy * uy) * (vx * vx + vy * vy):
                return True
    if first and not last:
        runs += 1
    return runs > 1


@kernel
def spread(narrow, columns, width, depth, reach, near):
    """Mark the columns (in `near`, uint8) within `reach` columns of spans that are marked in `narrow`."""
    for k in range(narrow.size):
        if narrow[k]:
            x, y = columns[k] % width, columns[k] // width
            for to_y in range(max(0, y - reach), min(depth, y + reach + 1)):
                for to_x in range(max(0, x - reach), min(width, x + reach + 1)):
                    near[to_y * width + to_x] = 1


@kernel
def choose_sides(vertices, triangles, chosen, flattest, steep, level):
    """Write the chosen triangles that are walls to `steep`, those that are floors to `level`; return their numbers."""
    walls, floors = 0, 0
    for number in chosen:
        a, b, c = triangles[number, 0], triangles[number, 1], triangles[number, 2]
        ux, uy, uz = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1], vertices[b, 2] - vertices[a, 2]
        vx, vy, vz = vertices[c, 0] - vertices[a, 0], vertices[c, 1] - vertices[a, 1], vertices[c, 2] - vertices[a, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        length = np.sqrt(nx * nx + ny * ny + nz * nz)
        if abs(nz) < flattest * length:
            steep[walls] = number
            walls += 1
        elif nz > 0.0:
            level[floors] = number
            floors += 1
    return walls, floors


@helper
def _part(vertices, triangles, number, low, high, one, two):
    """The part of a triangle in a box, as `one`; return its number of corners. `two` is scratch."""
    for k in range(3):
        for d in range(3):
            one[k, d] = vertices[triangles[number, k], d]
    count = 3
    for d in range(3):
        count = clip(one, count, d, low[d], 1.0, two)
        count = clip(two, count, d, high[d], -1.0, one)
    return count


@inline
def _extremes(polygon, count, away):
    """First and last corner of a polygon along x or y, whichever is longer, and whether it is a line seen from above.

    Within `away`, a length.
    """
    first, last, axis = 0, 0, 0
    for d in range(2):
        least, most = 0, 0
        for k in range(1, count):
            if polygon[k, d] < polygon[least, d]:
                least = k
            if polygon[k, d] > polygon[most, d]:
                most = k
        if d == 0 or polygon[most, d] - polygon[least, d] > polygon[last, axis] - polygon[first, axis]:
            first, last, axis = least, most, d
    dx, dy = polygon[last, 0] - polygon[first, 0], polygon[last, 1] - polygon[first, 1]
    length = np.sqrt(dx * dx + dy * dy)
    for k in range(count):
        off = dx * (polygon[k, 1] - polygon[first, 1]) - dy * (polygon[k, 0] - polygon[first, 0])
        if abs(off) > away * length:
            return first, last, False
    return first, last, True


@inline
def _known(segments, first, used):
    """Whether the last segment is also an earlier one from `first` on, in either direction."""
    for at in range(first, used):
        same, back = True, True
        for d in range(4):
            same &= abs(segments[at, d] - segments[used, d]) < _HAIR
            back &= abs(segments[at, d] - segments[used, (d + 2) & 3]) < _HAIR
        if same or back:
            return True
    return False


# Columns around a column, counter-clockwise from the west: beside it and diagonally in turn.
_AROUND_X = np.array([-1, -1, 0, 1, 1, 1, 0, -1], np.int32)
_AROUND_Y = np.array([0, -1, -1, -1, 0, 1, 1, 1], np.int32)


@inline
def _around(links, k, step):
    """The span that one gets to in one of the eight columns around, by one or two links, -1 for none."""
    side = step >> 1
    other = links[k, side]
    if step & 1:
        turn = (side + 1) & 3
        if other >= 0:
            other = links[other, turn]
        if other < 0 and links[k, turn] >= 0:
            other = links[links[k, turn], side]
    return other


@kernel_with_memory
def sort_to_buckets(vertices, triangles, chosen, frame):
    """Boxes of the chosen triangles, and their places in `chosen` sorted to buckets of columns, in compressed rows."""
    left, down = frame.x + frame.first_x * frame.cell, frame.y + frame.first_y * frame.cell
    across, along = (frame.width + _BUCKET - 1) // _BUCKET, (frame.depth + _BUCKET - 1) // _BUCKET
    starts = np.zeros(across * along + 1, np.int64)
    lists = np.empty(0, np.int32)
    boxes = np.empty((chosen.size, 6))
    for place in range(chosen.size):
        a, b, c = triangles[chosen[place], 0], triangles[chosen[place], 1], triangles[chosen[place], 2]
        for d in range(3):
            boxes[place, d] = min(vertices[a, d], min(vertices[b, d], vertices[c, d]))
            boxes[place, d + 3] = max(vertices[a, d], max(vertices[b, d], vertices[c, d]))
    scale = frame.cell * _BUCKET
    for turn in range(2):
        for place in range(chosen.size):
            # A little more on each side, so that rounding loses nothing.
            first_x = max(0.0, np.floor((boxes[place, 0] - left) / scale - 0.01))
            first_y = max(0.0, np.floor((boxes[place, 1] - down) / scale - 0.01))
            last_x = min(across - 1.0, np.floor((boxes[place, 3] - left) / scale + 0.01))
            last_y = min(along - 1.0, np.floor((boxes[place, 4] - down) / scale + 0.01))
            for y in range(int(first_y), int(last_y) + 1):
                for x in range(int(first_x), int(last_x) + 1):
                    bucket = y * across + x
                    if turn == 0:
                        starts[bucket + 1] += 1
                    else:
                        lists[starts[bucket]] = place
                        starts[bucket] += 1
        if turn == 0:
            for bucket in range(across * along):
                starts[bucket + 1] += starts[bucket]
            lists = np.empty(starts[-1], np.int32)
    # Filling has moved each start to where the next bucket begins.
    for bucket in range(across * along, 0, -1):
        starts[bucket] = starts[bucket - 1]
    starts[0] = 0
    return starts, lists, boxes


@kernel_with_memory
def find_walls(
    space, distance, columns, frame, near, vertices, triangles, steep, level, buckets, zones, height, climb, body,
    parts,
):  # fmt: skip
    """Walls in the blocked columns beside ground in `near` (columns,) uint8, as segments seen from above.

    `buckets` are two tuples, of the triangles in `steep` and in `level`; see `sort_to_buckets`.

    `climb` and `body`, the agent's height, are in metres; `height` is in voxels. Walls are those of a column and a
    floor: what rises more than `climb` and less than `body` above the ground beside the column. Those of a ledge's own
    column are points, the middles of small cells without ground, and the sides beyond which there is none; with `parts`
    0 only the sides.
    Where `zones` close a column their outlines are the walls in it.

    Returns
    -------
    head : (columns,) int32, first wall of each column, -1 for none
    after : (w,) int32, next wall of the same column
    floor : (w,) int32, floor beside it
    offsets : (w + 1,) int32
    segments : (k, 4) float64, x, y, x, y in columns from the corner of the frame
    """
    width, depth = frame.width, frame.depth
    left, down = frame.x + frame.first_x * frame.cell, frame.y + frame.first_y * frame.cell
    across = (width + _BUCKET - 1) // _BUCKET
    starts, lists, boxes = buckets[0]
    level_starts, level_lists, level_boxes = buckets[1]
    bare, beyond_bare = np.empty(parts * parts, np.uint8), np.empty(parts * parts, np.uint8)
    few, heights, beyond_heights = np.empty(256, np.int32), np.empty(parts * parts), np.empty(parts * parts)
    head = np.full(width * depth, -1, np.int32)
    after = np.empty(64, np.int32)
    floors = np.empty(64, np.int32)
    offsets = np.zeros(65, np.int32)
    segments = np.empty((256, 4))
    one = np.empty((_MOST_CORNERS, 3))
    two = np.empty((_MOST_CORNERS, 3))
    low = np.empty(3)
    high = np.empty(3)
    walls, used = 0, 0
    for q in range(space.kind.size):
        # Blocked columns beside it or diagonally: it, or what is beside it, is at a rim.
        if near[columns[q]] == 0 or space.kind[q] == 0 or distance[q] > 2:
            continue
        own_x, own_y = columns[q] % width, columns[q] // width
        for step in range(9):
            if step == 8:
                if space.ledge[q] == 0:
                    continue
                x, y, other = own_x, own_y, np.int32(-1)
            else:
                other = _around(space.links, q, step)
                x, y = own_x + _AROUND_X[step], own_y + _AROUND_Y[step]
            if (other >= 0 and space.kind[other] > 0) or x < 0 or y < 0 or x >= width or y >= depth:
                continue
            column = y * width + x
            if _find(head, after, floors, column, space.floor[q]) >= 0:
                continue
            if step < 8 and _under_own_roof(space, q, column, climb):
                continue
            if walls == after.size:
                more_after, more_floors = np.empty(2 * walls, np.int32), np.empty(2 * walls, np.int32)
                more_offsets = np.zeros(2 * walls + 1, np.int32)
                more_after[:walls], more_floors[:walls], more_offsets[: walls + 1] = after, floors, offsets
                after, floors, offsets = more_after, more_floors, more_offsets
            low[0], low[1] = left + (x - _HAIR) * frame.cell, down + (y - _HAIR) * frame.cell
            high[0], high[1] = left + (x + 1 + _HAIR) * frame.cell, down + (y + 1 + _HAIR) * frame.cell
            low[2], high[2] = frame.z + space.foot[q] + climb, frame.z + space.high[q] + body
            before, steps = used, 0
            bucket = (y // _BUCKET) * across + x // _BUCKET
            if step == 8 and parts > 0:
                begin, end = level_starts[bucket], level_starts[bucket + 1]
                within = level_lists[begin:end]
                _uncover(
                    vertices, triangles, level, within, level_boxes, low, high, body, climb, frame, parts, bare, few,
                    heights,
                )  # fmt: skip
                if used + parts * parts > len(segments):
                    more = np.empty((2 * (used + parts * parts), 4))
                    more[:used] = segments[:used]
                    segments = more
                for cell in range(parts * parts):
                    if bare[cell] == 1:
                        segments[used, 0] = segments[used, 2] = x + (cell % parts + 0.5) / parts
                        segments[used, 1] = segments[used, 3] = y + (cell // parts + 0.5) / parts
                        used += 1
            for attempt in range(2 if step < 8 else 0):
                if attempt == 1:
                    # Maybe what hangs over the ground there, which may be a step higher, closes it.
                    if used > before or steps > 0:
                        break
                    high[2] += climb
                for place in range(starts[bucket], starts[bucket + 1]):
                    box = boxes[lists[place]]
                    if box[0] > high[0] or box[1] > high[1] or box[2] > high[2]:
                        continue
                    if box[3] < low[0] or box[4] < low[1] or box[5] < low[2]:
                        continue
                    count = _part(vertices, triangles, steep[lists[place]], low, high, one, two)
                    if count == 0:
                        continue
                    if used + count + 4 > len(segments):
                        more = np.empty((2 * (used + count + 4), 4))
                        more[:used] = segments[:used]
                        segments = more
                    first, last, upright = _extremes(one, count, _HAIR * frame.cell)
                    if box[5] <= high[2] and _is_step(
                        vertices, triangles, level, level_lists[level_starts[bucket] : level_starts[bucket + 1]],
                        one, count, first, last, low[2] - climb, climb, frame.cell,
                    ):  # fmt: skip
                        steps += 1
                        continue
                    for k in range(1 if upright else count):
                        if not upright:
                            first, last = k, k + 1 if k + 1 < count else 0
                        segments[used, 0], segments[used, 1] = (
                            (one[first, 0] - left) / frame.cell,
                            (one[first, 1] - down) / frame.cell,
                        )
                        segments[used, 2], segments[used, 3] = (
                            (one[last, 0] - left) / frame.cell,
                            (one[last, 1] - down) / frame.cell,
                        )
                        if not _known(segments, before, used):
                            used += 1
            if other >= 0 and len(zones.areas) > 0:
                if used + len(zones.corners) > len(segments):
                    more = np.empty((2 * (used + len(zones.corners)), 4))
                    more[:used] = segments[:used]
                    segments = more
                used = _outlines(space, frame, zones, height, other, x, y, segments, used)
            if step == 8 or (used == before and steps == 0):
                # A drop begins where the ledge's column ends, at the latest. What is only diagonally blocked is so
                # beside another span too.
                if step & 1 or (step < 8 and space.ledge[q]):
                    continue
                for side in range(4):
                    linked = step == 8 and space.links[q, side] >= 0
                    if linked and (parts == 0 or not _ends_before(bare, side, parts)):
                        continue
                    if used + parts >= len(segments):
                        more = np.empty((2 * (used + parts), 4))
                        more[:used] = segments[:used]
                        segments = more
                    if step == 8 and parts > 0:
                        to_x, to_y = x + _AROUND_X[2 * side], y + _AROUND_Y[2 * side]
                        beyond = to_y * width + to_x if 0 <= to_x < width and 0 <= to_y < depth else -1
                        if beyond >= 0 and not linked and _under_own_roof(space, q, beyond, climb):
                            continue
                        wall = _find(head, after, floors, beyond, space.floor[q]) if beyond >= 0 else np.int32(-1)
                        # Where walls close that column, and maybe only a part of it, ground goes on up to them; where
                        # nothing but steps was found in it, it goes on, too.
                        goes_on = wall >= 0
                        walled = goes_on and offsets[wall + 1] > offsets[wall]
                        low[0], low[1] = left + (to_x - _HAIR) * frame.cell, down + (to_y - _HAIR) * frame.cell
                        high[0] = left + (to_x + 1 + _HAIR) * frame.cell
                        high[1] = down + (to_y + 1 + _HAIR) * frame.cell
                        bucket = (to_y // _BUCKET) * across + to_x // _BUCKET if beyond >= 0 else 0
                        within = level_lists[level_starts[bucket] : level_starts[bucket + (beyond >= 0)]]
                        _uncover(
                            vertices, triangles, level, within, level_boxes, low, high, body, climb, frame, parts,
                            beyond_bare, few, beyond_heights,
                        )  # fmt: skip
                        foot = frame.z + space.foot[q] - _HAIR * frame.cell
                        used = _drops_at_side(
                            x, y, side, parts, linked, walled, goes_on, foot, climb, bare, heights, beyond_bare,
                            beyond_heights, segments, used,
                        )  # fmt: skip
                        continue
                    segments[used, 0], segments[used, 1] = x + (side >= 2), y + (side == 0 or side == 3)
                    segments[used, 2], segments[used, 3] = x + (side == 1 or side == 2), y + (side >= 2)
                    used += 1
            after[walls] = head[column]
            head[column] = walls
            floors[walls] = space.floor[q]
            walls += 1
            offsets[walls] = used
    return head, after, floors, offsets, segments


@inline
def _own_cell(side, parts, at):
    """The small cell of a column along one of its sides."""
    if side & 1:
        return at + (parts * (parts - 1) if side == 3 else 0)
    return at * parts + (parts - 1 if side == 2 else 0)


@inline
def _ends_before(bare, side, parts):
    """Whether a column has no ground at some place along one of its sides."""
    for at in range(parts):
        if bare[_own_cell(side, parts, at)]:
            return True
    return False


@helper
def _drops_at_side(
    x, y, side, parts, linked, walled, goes_on, foot, climb, bare, heights, beyond_bare, beyond_heights, segments,
    used,
):  # fmt: skip
    """Add the drops at one side of a ledge's column, x and y, to the segments; return their number.

    Ground that ends before the side has its drop there; ground of a column beyond that is `linked` and of which nothing
    goes on here has it at the side. Ground below `foot` is that of another level, which goes on beyond where it is no
    more than a step. `walled`: walls close the column beyond. Up to them, or to steps, ground `goes_on`.
    """
    for at in range(parts):
        own, facing = _own_cell(side, parts, at), _own_cell(side ^ 2, parts, at)
        if linked:
            drop = bare[own] > 0 and beyond_bare[facing] == 0 and beyond_heights[facing] > heights[own] + climb
        elif bare[own]:
            drop = False
        elif heights[own] < foot:
            drop = heights[own] > beyond_heights[facing] + climb
        else:
            drop = beyond_bare[facing] > 0 or not goes_on
        if drop:
            begin, end = at / parts, (at + 1) / parts
            if walled:
                begin = end = (at + 0.5) / parts
            segments[used, 0], segments[used, 1] = x + (side == 2), y + begin
            segments[used, 2], segments[used, 3] = x + (side == 2), y + end
            if side & 1:
                segments[used, 0], segments[used, 1] = x + begin, y + (side == 3)
                segments[used, 2], segments[used, 3] = x + end, y + (side == 3)
            used += 1
    return used


@inline
def _top_at(polygon, count, first, along_x, along_y, share):
    """How high a polygon reaches at a share of the way along it, from its corner `first` on."""
    top = -np.inf
    for k in range(count):
        m = k + 1 if k + 1 < count else 0
        one = (polygon[k, 0] - polygon[first, 0]) * along_x + (polygon[k, 1] - polygon[first, 1]) * along_y - share
        two = (polygon[m, 0] - polygon[first, 0]) * along_x + (polygon[m, 1] - polygon[first, 1]) * along_y - share
        if (one <= 0.0) != (two <= 0.0):
            top = max(top, polygon[k, 2] + one / (one - two) * (polygon[m, 2] - polygon[k, 2]))
    return top


@helper
def _is_step(vertices, triangles, level, within, polygon, count, first, last, lowest, climb, cell):
    """Whether something steep rises no more than a step above the ground at its foot.

    Stairs have ground at several heights in and beside a column, and what is too high for the lowest of them need not
    be so for the ground where it stands: on either side the highest from `lowest` up to a step above its top, since
    sides of boxes may be buried under the next step. Without ground on both sides it is no step.

    Parameters
    ----------
    within : (k,) int32
        Places in `level` of the triangles near it.
    polygon : (n, 3) float64
        The part of it that is looked at, of which `count` corners count; from above it reaches from corner `first` to
        corner `last`.
    """
    dx, dy = polygon[last, 0] - polygon[first, 0], polygon[last, 1] - polygon[first, 1]
    length = np.sqrt(dx * dx + dy * dy)
    if length == 0.0:
        return False
    aside = _ASIDE * cell / length
    for part in range(3):
        share = 0.05 + 0.45 * part
        # On a slope the foot rises with the top, so they are compared at the same place.
        top = _top_at(polygon, count, first, dx / (length * length), dy / (length * length), share)
        for side in (-aside, aside):
            x = polygon[first, 0] + share * dx - side * dy
            y = polygon[first, 1] + share * dy + side * dx
            ground = -np.inf
            for place in within:
                z = height_over(vertices, triangles, level[place], x, y)
                if lowest - _HAIR * cell <= z <= top + climb:
                    ground = max(ground, z)
            if top > ground + climb:
                return False
    return True


@helper
def _outlines(space, frame, zones, height, k, x, y, segments, used):
    """Add what a column, x and y, has of the outlines of zones that close its span `k`; return the segments' number."""
    left, down = frame.x + frame.first_x * frame.cell, frame.y + frame.first_y * frame.cell
    for zone in range(len(zones.areas)):
        if zones.areas[zone, 1] != 0 or not closes(space, frame, height, zones, zone, k):
            continue
        first, last = zones.offsets[zone], zones.offsets[zone + 1]
        for corner in range(first, last):
            after = corner + 1 if corner + 1 < last else first
            ax, ay = (
                (zones.corners[corner, 0] - left) / frame.cell - x,
                (zones.corners[corner, 1] - down) / frame.cell - y,
            )
            bx, by = (
                (zones.corners[after, 0] - left) / frame.cell - x,
                (zones.corners[after, 1] - down) / frame.cell - y,
            )
            begin, end = _within(ax, bx - ax, 0.0, 1.0)
            begin, end = _within(ay, by - ay, begin, end)
            if begin <= end:
                segments[used, 0], segments[used, 1] = x + ax + begin * (bx - ax), y + ay + begin * (by - ay)
                segments[used, 2], segments[used, 3] = x + ax + end * (bx - ax), y + ay + end * (by - ay)
                used += 1
    return used


@inline
def _within(start, span, begin, end):
    """The part of a way along an axis, from `start` on by `span`, that is in a column, but for a hair."""
    low, high = -_HAIR - start, 1.0 + _HAIR - start
    if span > 0.0:
        return max(begin, low / span), min(end, high / span)
    if span < 0.0:
        return max(begin, high / span), min(end, low / span)
    return begin, end if low <= 0.0 <= high else begin - 1.0


@inline
def _under_own_roof(space, q, column, climb):
    """Whether one gets from a span to a column only not because the roof above the span itself is low."""
    for other in range(space.offsets[column], space.offsets[column + 1]):
        if space.kind[other] > 0 and space.ceiling[q] <= space.ceiling[other]:
            if step_between(space, q, other) <= climb:
                return True
    return False


@helper
def _uncover(vertices, triangles, level, within, boxes, low, high, body, climb, frame, parts, bare, few, heights):
    """Mark small cells of a column without ground: with 1 those beside ground that is more than a step higher, else 2.

    Ground is what is at most a step above or below that of a span, in the middle of the cell. `few` int32 and `heights`
    (parts * parts,) float64 are scratch.
    """
    # `low` and `high` are a step above the lowest and a body above the highest ground of the span.
    bottom, top = low[2] - 2.0 * climb, high[2] - body + climb
    count = 0
    for lower in range(2):  # what may be ground first, so that what lies below never takes its room
        for place in within:
            if boxes[place, 0] > high[0] or boxes[place, 1] > high[1] or boxes[place, 2] > top:
                continue
            if boxes[place, 3] < low[0] or boxes[place, 4] < low[1] or (boxes[place, 5] < bottom) != (lower == 1):
                continue
            if count < few.size:
                few[count] = place
                count += 1
    for cell in range(parts * parts):
        heights[cell] = -np.inf
        x = low[0] + (_HAIR + (cell % parts + 0.5) / parts) * frame.cell
        y = low[1] + (_HAIR + (cell // parts + 0.5) / parts) * frame.cell
        for at in range(count):
            z = height_over(vertices, triangles, level[few[at]], x, y)
            if heights[cell] < z <= top:
                heights[cell] = z
        bare[cell] = 0 if heights[cell] >= bottom else 2
    for cell in range(parts * parts):
        if bare[cell]:
            x, y = cell % parts, cell // parts
            deep = heights[cell] + climb
            if (
                (x > 0 and bare[cell - 1] == 0 and heights[cell - 1] > deep)
                or (y > 0 and bare[cell - parts] == 0 and heights[cell - parts] > deep)
                or (x < parts - 1 and bare[cell + 1] == 0 and heights[cell + 1] > deep)
                or (y < parts - 1 and bare[cell + parts] == 0 and heights[cell + parts] > deep)
            ):
                bare[cell] = 1


@inline
def _towards(segments, at, x, y):
    """The way from a point to the nearest point of a segment."""
    ax, ay = segments[at, 0], segments[at, 1]
    dx, dy = segments[at, 2] - ax, segments[at, 3] - ay
    px, py = ax - x, ay - y
    length = dx * dx + dy * dy
    if length > 0.0:
        t = min(1.0, max(0.0, -(px * dx + py * dy) / length))
        px += t * dx
        py += t * dy
    return px, py


@inline
def _find(head, after, floors, column, floor):
    """The wall of a column beside a floor, -1 for none."""
    wall = head[column]
    while wall >= 0 and floors[wall] != floor:
        wall = after[wall]
    return wall


@helper
def _clear(space, distance, k, columns, frame, walls, radius, climb, parts, cells, scratch):
    """Mark the small cells of a span's column that are all at least `radius` columns away from walls; return how many.

    Walls beside ground that one gets to from the span, step by step, within that distance; but drops that begin more
    than half of `climb` above it are none. `cells` (parts * parts,) uint8, row by row; `scratch` is a pair of (n,)
    int32 arrays, of which the second does not hold `k` at first.
    """
    head, after, floors, offsets, segments = walls
    queue, seen = scratch
    width, depth = frame.width, frame.depth
    x, y = columns[k] % width, columns[k] // width
    small = 1.0 / parts
    reach = radius + np.sqrt(0.5)
    window = (reach + 1.0) * (reach + 1.0)
    all_of_it = max(0.0, radius - np.sqrt(0.5)) ** 2
    for at in range(parts * parts):
        cells[at] = 1
    left = parts * parts
    queue[0] = k
    seen[k] = k
    place, tail = 0, 1
    while place < tail:
        q = queue[place]
        place += 1
        own_x, own_y = columns[q] % width, columns[q] // width
        for side in range(4):
            other = space.links[q, side]
            if other < 0 or space.kind[other] == 0 or seen[other] == k:
                continue
            to_x, to_y = own_x + _AROUND_X[2 * side], own_y + _AROUND_Y[2 * side]
            if (to_x - x) * (to_x - x) + (to_y - y) * (to_y - y) <= window:
                seen[other] = k
                queue[tail] = other
                tail += 1
        if distance[q] > 2:
            continue
        for step in range(9):
            if step == 8:
                if space.ledge[q] == 0 or space.high[q] > space.high[k] + 0.5 * climb:
                    continue
                other, to_x, to_y = np.int32(-1), own_x, own_y
            else:
                other = _around(space.links, q, step)
                to_x, to_y = own_x + _AROUND_X[step], own_y + _AROUND_Y[step]
            if (other >= 0 and space.kind[other] > 0) or to_x < 0 or to_y < 0 or to_x >= width or to_y >= depth:
                continue
            wall = _find(head, after, floors, to_y * width + to_x, space.floor[q])
            if wall < 0:
                continue
            for at in range(offsets[wall], offsets[wall + 1]):
                px, py = _towards(segments, at, x + 0.5, y + 0.5)
                if px * px + py * py >= reach * reach:
                    continue
                if px * px + py * py < all_of_it:
                    return 0
                left -= _close(segments, at, x, y, small, radius, parts, cells)
                if left == 0:
                    return 0
    return left


@inline
def _close(segments, at, x, y, small, radius, parts, cells):
    """Take away the cells of a column that are nearer to a segment than `radius`; return how many."""
    closed = 0
    most = (radius + np.sqrt(0.5) * small) ** 2
    for cell in range(parts * parts):
        if cells[cell] == 0:
            continue
        px, py = _towards(segments, at, x + (cell % parts + 0.5) * small, y + (cell // parts + 0.5) * small)
        away = px * px + py * py
        # The wall lies beyond a line across the way to it, and no corner of the cell is farther along that way.
        if away < most and away - 0.5 * small * (abs(px) + abs(py)) < radius * np.sqrt(away):
            cells[cell] = 0
            closed += 1
    return closed


@kernel_with_memory
def keep_passable(space, distance, narrow, columns, frame, walls, radius, climb, limit, parts):
    """Unmark narrow spans that have no clear cell, in their own column and those around; return how many are left.

    Parameters as those of `find_lanes`.
    """
    size = space.kind.size
    known = np.zeros(size, np.uint8)
    cells = np.empty(parts * parts, np.uint8)
    scratch = np.empty(size, np.int32), np.full(size, -1, np.int32)
    count = 0
    for k in range(size):
        if narrow[k] == 0:
            continue
        found = False
        for step in range(9):
            other = _around(space.links, k, step - 1) if step > 0 else np.int32(k)
            if other < 0 or space.kind[other] == 0 or distance[other] >= limit:
                continue
            if known[other] == 0:
                left = _clear(space, distance, other, columns, frame, walls, radius, climb, parts, cells, scratch)
                known[other] = 2 if left > 0 else 1
            if known[other] == 2:
                found = True
                break
        narrow[k] = found
        count += found
    return count


@kernel
def around_narrow(space, distance, narrow, limit, around, member, queue):
    """Mark (in `member`, uint8) eroded spans up to `around` steps from narrow ones, themselves included.

    `queue` (n,) int32 is scratch. `member` becomes the number of steps plus 1, 0 for others.
    """
    tail = 0
    for k in range(narrow.size):
        member[k] = narrow[k]
        if narrow[k]:
            queue[tail] = k
            tail += 1
    place = 0
    while place < tail:
        k = queue[place]
        place += 1
        if member[k] > around:
            continue
        for step in range(8):
            other = _around(space.links, k, step)
            if other >= 0 and member[other] == 0 and space.kind[other] > 0 and distance[other] < limit:
                member[other] = member[k] + 1
                queue[tail] = other
                tail += 1


@inline
def _in_rim(columns, frame, rim, k):
    """Whether a span is in one of the outermost columns of the frame."""
    x, y = columns[k] % frame.width, columns[k] // frame.width
    return x < rim or y < rim or x >= frame.width - rim or y >= frame.depth - rim


@kernel
def keep_joining(space, distance, columns, frame, limit, rim, around, deep, many, member, queue, ring, part):
    """Unmark spans of ways that lead nowhere: those that do not join parts of the ground that erosion left.

    Where walls meet at an angle, ground is narrow too, but whoever goes there comes back the same way. Ways that are
    at least `deep` columns long are kept all the same, also those of `many` columns beside no ground that is left. So
    are those that are more than `around` columns long where they reach into the outermost `rim` columns of the frame,
    since nobody knows what they lead to.

    Parameters
    ----------
    limit : int, half cells
        Distances from which erosion leaves a span.
    member : (n,) uint8
        Above 0 for spans of ways; set to 0 for those that lead nowhere.
    queue, ring, part : (n,), (n,) and (n,) int32
        Scratch.

    Returns
    -------
    int, spans of ways that are left
    """
    links = space.links
    size = member.size
    total = 0
    for k in range(size):
        part[k] = 0
    # Numbers of ways, and below 0 what lies around each.
    number = 0
    for seed in range(size):
        if member[seed] == 0 or part[seed] != 0:
            continue
        number += 1
        part[seed] = number
        queue[0] = seed
        head, tail = 0, 1
        beside, outside = 0, False
        while head < tail:
            k = queue[head]
            head += 1
            outside |= _in_rim(columns, frame, rim, k)
            for side in range(4):
                other = links[k, side]
                if other < 0:
                    continue
                if member[other] > 0:
                    if part[other] == 0:
                        part[other] = number
                        queue[tail] = other
                        tail += 1
                elif distance[other] >= limit and part[other] != -number:
                    part[other] = -number
                    ring[beside] = other
                    beside += 1
        if beside == 0:
            kept = outside or tail >= many
        else:
            kept = _parts_around(links, distance, limit, ring, beside, part, number) > 1
            kept = kept or _reaches_far(
                links, distance, columns, frame, limit, rim, around, deep, queue, tail, part, number, ring
            )
        if kept:
            total += tail
        else:
            for place in range(tail):
                member[queue[place]] = 0
    return total


@helper
def _parts_around(links, distance, limit, ring, count, part, number):
    """How many parts the ground beside a way has, joined also by what is one column farther away.

    `ring` holds the spans beside it, which have -number as their `part`; it needs room for those farther away.
    """
    used = count
    for place in range(count):
        for step in range(8):
            other = _around(links, ring[place], step)
            if other >= 0 and distance[other] >= limit and part[other] != -number:
                part[other] = -number
                ring[used] = other
                used += 1
    # Flood them, those beside the way first; what was seen gets a number that nothing else has.
    found = 0
    for place in range(count):
        if part[ring[place]] != -number:
            continue
        found += 1
        part[ring[place]] = _SEEN
        ring[used] = ring[place]
        head, tail = used, used + 1
        while head < tail:
            k = ring[head]
            head += 1
            for side in range(4):
                other = links[k, side]
                if other >= 0 and part[other] == -number:
                    part[other] = _SEEN
                    ring[tail] = other
                    tail += 1
    return found


@helper
def _reaches_far(links, distance, columns, frame, limit, rim, around, deep, queue, count, part, number, ring):
    """Whether a way leads far from the ground that erosion left: `deep` columns, or `around` beside the frame's rim."""
    tail = 0
    for place in range(count):
        k = queue[place]
        for side in range(4):
            other = links[k, side]
            if other >= 0 and distance[other] >= limit and part[k] == number:
                part[k] = _SEEN
                ring[tail] = k
                tail += 1
    head, steps = 0, 0
    while head < tail:
        steps += 1
        if steps >= deep:
            return True
        end = tail
        while head < end:
            k = ring[head]
            head += 1
            if steps > around and _in_rim(columns, frame, rim, k):
                return True
            for side in range(4):
                other = links[k, side]
                if other >= 0 and part[other] == number:
                    part[other] = _SEEN
                    ring[tail] = other
                    tail += 1
    return False


@inline
def _reaches(space, distance, k, limit, parts, cells, queue, seen):
    """Whether the clear cells of a span are one piece that lies beside ground that erosion left."""
    total, first = 0, -1
    for cell in range(parts * parts):
        seen[cell] = 0
        if cells[cell]:
            total += 1
            first = cell
    seen[first] = 1
    queue[0] = first
    place, tail = 0, 1
    beside = False
    while place < tail:
        cell = queue[place]
        place += 1
        for side in range(4):
            x = cell % parts + _AROUND_X[2 * side]
            y = cell // parts + _AROUND_Y[2 * side]
            if x < 0 or y < 0 or x >= parts or y >= parts:
                other = space.links[k, side]
                beside |= other >= 0 and distance[other] >= limit
            elif cells[y * parts + x] and not seen[y * parts + x]:
                seen[y * parts + x] = 1
                queue[tail] = y * parts + x
                tail += 1
    return beside and tail == total


@kernel_with_memory
def find_lanes(space, distance, narrow, columns, frame, walls, radius, climb, limit, around, parts):
    """The small cells of lanes: clear ones of eroded spans from narrow spans on, up to ground that erosion left.

    Parameters
    ----------
    walls : tuple, see `find_walls`
    radius : float, columns
        Of the agent.
    climb : float, metres
    limit : int, half cells
        Distances from which erosion leaves a span.
    around : int
        Most steps from a narrow span.
    parts : int
        Cells along the side of a column.

    Returns
    -------
    slot : (n,) int32, row of `cells` of each span of a lane, -1 for others
    cells : (k, parts * parts) uint8, 1 where a cell is clear
    """
    links, kind = space.links, space.kind
    size = kind.size
    slot = np.full(size, -1, np.int32)
    cells = np.empty((64, parts * parts), np.uint8)
    used = 0
    steps = np.full(size, -1, np.int32)
    queue = np.empty(size, np.int32)
    scratch = np.empty(size, np.int32), np.full(size, -1, np.int32)
    inner = np.empty(parts * parts, np.int32)
    seen = np.empty(parts * parts, np.uint8)
    tail = 0
    for k in range(size):
        if narrow[k]:
            steps[k] = 0
            queue[tail] = k
            tail += 1
    place = 0
    while place < tail:
        k = queue[place]
        place += 1
        if distance[k] >= limit:
            continue
        if used == len(cells):
            more = np.empty((2 * used, parts * parts), np.uint8)
            more[:used] = cells
            cells = more
        count = _clear(space, distance, k, columns, frame, walls, radius, climb, parts, cells[used], scratch)
        if count > 0:
            slot[k] = used
            used += 1
            if steps[k] > 0 and _reaches(space, distance, k, limit, parts, cells[used - 1], inner, seen):
                continue
        elif steps[k] > 0:
            continue
        if steps[k] == around:
            continue
        for step in range(8):
            other = _around(links, k, step)
            if other >= 0 and kind[other] > 0 and steps[other] < 0:
                steps[other] = steps[k] + 1
                queue[tail] = other
                tail += 1
    return slot, cells[:used]


@kernel_with_memory
def lane_space(space, kind, distance, slot, cells, columns, frame, border, limit, parts):
    """The small cells of lanes as a space of their own, on the fine lattice, with regions.

    `kind` (n,) uint8 are the kinds of eroded ground too. Cells in the tile's border are left out. Ground beside lanes
    that erosion left is one span each, of region `LANE`, and lanes' ground in the tile's border is of region `BEYOND`.

    Returns
    -------
    space : Open
    region : (m,) int32
    columns : (m,) int32, of the fine lattice
    """
    width, depth = frame.width, frame.depth
    size = slot.size
    first = np.full(size, -1, np.int32)
    owners = np.empty(64, np.int32)
    count = 0
    # One place for each clear cell: those of a span in the order of its cells.
    number = np.full((len(cells), parts * parts), -1, np.int32)
    for k in range(size):
        if slot[k] < 0:
            continue
        x, y = columns[k] % width, columns[k] // width
        if x < border or y < border or x >= width - border or y >= depth - border:
            continue
        for at in range(parts * parts):
            if cells[slot[k], at]:
                number[slot[k], at] = count
                count += 1
    room = count
    total = count
    # Ground around lanes.
    for k in range(size):
        if slot[k] < 0:
            continue
        x, y = columns[k] % width, columns[k] // width
        if x < border or y < border or x >= width - border or y >= depth - border:
            continue
        for side in range(4):
            beside = space.links[k, side]
            if beside < 0 or first[beside] >= 0:
                continue
            to_x, to_y = columns[beside] % width, columns[beside] // width
            outside = to_x < border or to_y < border or to_x >= width - border or to_y >= depth - border
            if distance[beside] >= limit or (outside and slot[beside] >= 0):
                first[beside] = total
                total += 1
    owners = np.empty(total, np.int32)
    region = np.zeros(total, np.int32)
    places = np.zeros(total, np.int32)
    links = np.full((total, 4), -1, np.int32)
    floor = np.empty(total, np.int32)
    areas = np.empty(total, np.uint8)
    ground = np.empty(total, np.float32)
    for k in range(size):
        if first[k] >= 0:
            at = first[k]
            owners[at] = k
            floor[at] = space.floor[k]
            ground[at] = space.ground[k]
            # Kind 0 would be read as ground beside which a lane may lie.
            areas[at] = 1
            region[at] = LANE if distance[k] >= limit else BEYOND
    wide = width * parts
    for k in range(size):
        if slot[k] < 0:
            continue
        x, y = columns[k] % width, columns[k] // width
        rise_x, rise_y = _rise(space, k, 0), _rise(space, k, 1)
        for at in range(parts * parts):
            own = number[slot[k], at]
            if own < 0:
                continue
            owners[own] = k
            cell_x, cell_y = at % parts, at // parts
            places[own] = (y * parts + cell_y) * wide + x * parts + cell_x
            floor[own] = space.floor[k]
            areas[own] = kind[k]
            off_x, off_y = (cell_x + 0.5) / parts - 0.5, (cell_y + 0.5) / parts - 0.5
            ground[own] = space.ground[k] + off_x * rise_x + off_y * rise_y
            for side in range(4):
                to_x = cell_x + (1 if side == 2 else 0) - (1 if side == 0 else 0)
                to_y = cell_y + (1 if side == 3 else 0) - (1 if side == 1 else 0)
                whose = np.int32(k)
                if to_x < 0 or to_y < 0 or to_x >= parts or to_y >= parts:
                    whose = space.links[k, side]
                    to_x, to_y = (to_x + parts) % parts, (to_y + parts) % parts
                if whose < 0:
                    continue
                if slot[whose] >= 0 and number[slot[whose], to_y * parts + to_x] >= 0:
                    links[own, side] = number[slot[whose], to_y * parts + to_x]
                elif first[whose] >= 0:
                    if distance[whose] >= limit or cells[slot[whose], to_y * parts + to_x]:
                        links[own, side] = first[whose]
    # Regions: connected cells of one kind in one block, of one span in each column.
    queue = np.empty(room, np.int32)
    claim, claimant = np.zeros(width * depth, np.int32), np.empty(width * depth, np.int32)
    regions = 0
    for seed in range(room):
        if region[seed] != 0:
            continue
        regions += 1
        block = _block(columns[owners[seed]], width, frame)
        region[seed] = regions
        claim[columns[owners[seed]]], claimant[columns[owners[seed]]] = regions, owners[seed]
        queue[0] = seed
        head, tail = 0, 1
        while head < tail:
            own = queue[head]
            head += 1
            for side in range(4):
                other = links[own, side]
                if other < 0 or other >= room or region[other] != 0 or areas[other] != areas[seed]:
                    continue
                column = columns[owners[other]]
                if _block(column, width, frame) == block and (
                    claim[column] != regions or claimant[column] == owners[other]
                ):
                    claim[column], claimant[column] = regions, owners[other]
                    region[other] = regions
                    queue[tail] = other
                    tail += 1
    nothing = np.zeros(1, np.int32)
    space = Open(nothing, floor, floor, areas, ground, links, np.zeros(1), np.zeros(1), np.zeros(1, np.uint8))
    return space, region, places


@inline
def _block(column, width, frame):
    """Number of the block of columns that a column lies in."""
    x, y = column % width + frame.first_x, column // width + frame.first_y
    return (y // _BLOCK) * 4096 + x // _BLOCK


@inline
def _rise(space, k, side):
    """How much the ground rises from one column to the next, towards the side opposite to `side`."""
    before, after = space.links[k, side], space.links[k, side ^ 2]
    if before >= 0 and after >= 0:
        return 0.5 * (space.ground[after] - space.ground[before])
    if after >= 0:
        return float(space.ground[after] - space.ground[k])
    if before >= 0:
        return float(space.ground[k] - space.ground[before])
    return 0.0
