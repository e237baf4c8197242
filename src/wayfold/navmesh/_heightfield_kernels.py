# mypy: ignore-errors
"""Voxels (Fuentes 2015, section III.A, steps 1 and 2): zones, heightfield, filters, and the open space above spans.

A heightfield is `width` x `depth` columns; column = y * width + x. Each column holds solid spans from bottom to top in
compressed rows: span k of a column reaches from height `low[k]` to height `top[k]`, in whole cell heights above the
world's lowest point. Everything is measured from the world's origin, never from a tile's, so that two tiles see the
same voxels where they overlap, to the last bit.

Sides are numbered counter-clockwise: 0 west (-x), 1 south (-y), 2 east (+x), 3 north (+y); the opposite of side d is
``d ^ 2``. Spans are stored column by column: going through them in order visits south and west before north and east.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline, kernel, kernel_with_memory
from wayfold.geometry.plane_kernels import point_in_polygon

_HAIR = 1e-3  # of a voxel: a zone that ends at the ground does not reach over it


class ZonePrisms(NamedTuple):
    """Prisms over polygons, in compressed rows of corners."""

    offsets: np.ndarray  # (z + 1,) int64
    corners: np.ndarray  # (k, 2) float64, metres
    heights: np.ndarray  # (z, 2) float64, low and high end, metres
    areas: np.ndarray  # (z, 256) uint8, what each kind becomes; all 0 for closed


@inline
def _passes(ring, low_x, low_y, size):
    """Whether an edge of a polygon passes through the inside of a square."""
    count = len(ring)
    for k in range(count):
        ax, ay = ring[k, 0] - low_x, ring[k, 1] - low_y
        bx, by = ring[k + 1 if k + 1 < count else 0, 0] - low_x, ring[k + 1 if k + 1 < count else 0, 1] - low_y
        if max(ax, bx) <= 0.0 or max(ay, by) <= 0.0 or min(ax, bx) >= size or min(ay, by) >= size:
            continue
        # The boxes overlap: the edge passes unless all four corners of the square lie on one side of its line.
        dx, dy = bx - ax, by - ay
        turn = dy * ax - dx * ay
        one, two, three, four = turn, turn - dy * size, turn + dx * size, turn + (dx - dy) * size
        if min(min(one, two), min(three, four)) < 0.0 < max(max(one, two), max(three, four)):
            return True
    return False


@inline
def closes(space, frame, height, zones, zone, k):
    """Whether a body of `height` voxels that stands on a span reaches into a zone, if the zone is in its column."""
    low, high = zones.heights[zone, 0] - frame.z, zones.heights[zone, 1] - frame.z
    # The floor's voxel may end above a flat zone whose top the ground itself is below.
    under = space.floor[k] < np.ceil(high / frame.cell_height) or space.ground[k] < high - _HAIR * frame.cell_height
    return under and space.floor[k] + height > np.floor(low / frame.cell_height)


@kernel
def mark(space, frame, height, zones, closing):
    """Give the ground in zones their areas, later zones last; with `closing`, do what zones of kind 0 ask for instead.

    A span belongs to a zone when the middle of its column does, and the height of its ground up to half a voxel. A
    zone that closes takes every column that it reaches into, and all ground from which a body of `height` voxels
    reaches into it: what is closed must never look smaller than it is.
    """
    for zone in range(len(zones.areas)):
        areas = zones.areas[zone]
        if (areas[1] == 0) != closing:
            continue
        ring = zones.corners[zones.offsets[zone] : zones.offsets[zone + 1]]
        low_x, low_y, high_x, high_y = np.inf, np.inf, -np.inf, -np.inf
        for k in range(len(ring)):
            low_x, high_x = min(low_x, ring[k, 0]), max(high_x, ring[k, 0])
            low_y, high_y = min(low_y, ring[k, 1]), max(high_y, ring[k, 1])
        low, high = zones.heights[zone, 0] - frame.z, zones.heights[zone, 1] - frame.z
        slack = 0.5 * frame.cell_height
        # Clipped before they are whole numbers: a zone may lie anywhere.
        first_x = int(max(np.floor((low_x - frame.x) / frame.cell), frame.first_x))
        first_y = int(max(np.floor((low_y - frame.y) / frame.cell), frame.first_y))
        last_x = int(min(np.floor((high_x - frame.x) / frame.cell), frame.first_x + frame.width - 1))
        last_y = int(min(np.floor((high_y - frame.y) / frame.cell), frame.first_y + frame.depth - 1))
        for y in range(first_y, last_y + 1):
            for x in range(first_x, last_x + 1):
                column = (y - frame.first_y) * frame.width + x - frame.first_x
                if space.offsets[column] == space.offsets[column + 1]:
                    continue
                inside = point_in_polygon(ring, frame.x + (x + 0.5) * frame.cell, frame.y + (y + 0.5) * frame.cell)
                if closing and not inside:
                    inside = _passes(ring, frame.x + x * frame.cell, frame.y + y * frame.cell, frame.cell)
                if not inside:
                    continue
                for k in range(space.offsets[column], space.offsets[column + 1]):
                    if closing:
                        if closes(space, frame, height, zones, zone, k):
                            space.kind[k] = 0
                    elif space.kind[k] > 0 and low - slack <= space.ground[k] <= high + slack:
                        space.kind[k] = areas[space.kind[k]]


OPEN_SKY = 1 << 30  # ceiling of a span with nothing above it
_PLACES = 8  # along each side of a column, to see what of a slope shows
HAIR = 1e-6  # of a cell: coordinates this near to a side of a column or a voxel lie on it, whatever their last digits


class VoxelFrame(NamedTuple):
    """Where the columns of a tile lie in the world."""

    x: float  # world origin, metres
    y: float
    z: float
    cell: float  # metres
    cell_height: float  # metres
    first_x: int  # world column of the tile's first column
    first_y: int
    width: int  # columns, border included
    depth: int


class Heightfield(NamedTuple):
    """Solid spans in compressed rows."""

    offsets: np.ndarray  # (columns + 1,) int32
    low: np.ndarray  # (n,) int32, cell heights
    top: np.ndarray  # (n,) int32
    kind: np.ndarray  # (n,) uint8, area kind of the top, 0 where it cannot be walked on
    ground: np.ndarray  # (n,) float32, height of the top's surface in the middle of the column, metres above the origin
    high: np.ndarray  # (n,) float64, highest point of the top, metres above the origin: not rounded to voxels
    foot: np.ndarray  # (n,) float64, lowest point of the ground that one gets to from there by steps in the column


class SpanParts(NamedTuple):
    """What the solid spans of each column are made of: the triangles in it, from the lowest up, in compressed rows."""

    offsets: np.ndarray  # (columns + 1,) int32
    order: np.ndarray  # (k,) int32, rows of the arrays below
    spans: np.ndarray  # (k, 4) int32, see `rasterise`
    areas: np.ndarray  # (k,) uint8
    heights: np.ndarray  # (k, 2) float64


@inline
def _clip(source, count, out, at, keep_above):
    """Cut a convex polygon (rows x, y, z) at the line y = `at` and keep one side; return its number of corners."""
    kept = 0
    sign = 1.0 if keep_above else -1.0
    for k in range(count):
        after = k + 1 if k + 1 < count else 0
        here = sign * (source[k, 1] - at)
        there = sign * (source[after, 1] - at)
        if here >= 0.0:
            out[kept, 0] = source[k, 0]
            out[kept, 1] = source[k, 1]
            out[kept, 2] = source[k, 2]
            kept += 1
        if (here > 0.0 and there < 0.0) or (here < 0.0 and there > 0.0):
            t = here / (here - there)
            out[kept, 0] = source[k, 0] + t * (source[after, 0] - source[k, 0])
            out[kept, 1] = at
            out[kept, 2] = source[k, 2] + t * (source[after, 2] - source[k, 2])
            kept += 1
    return kept


@inline
def _row_heights(polygon, count, frame, first, last, lowest, highest):
    """Lowest and highest point of a convex polygon over each column `first` to `last` of one row.

    Over a column both are reached where the polygon's edges enter, leave or end, so only edges are looked at.
    """
    for column in range(first, last + 1):
        lowest[column - frame.first_x] = np.inf
        highest[column - frame.first_x] = -np.inf
    for k in range(count):
        after = k + 1 if k + 1 < count else 0
        a, b = (k, after) if polygon[k, 0] <= polygon[after, 0] else (after, k)
        ax, az, bx, bz = polygon[a, 0], polygon[a, 2], polygon[b, 0], polygon[b, 2]
        start = min(last, max(first, int(np.floor((ax - frame.x) / frame.cell + HAIR))))
        stop = max(start, min(last, int(np.floor((bx - frame.x) / frame.cell + HAIR))))
        rise = (bz - az) / (bx - ax) if bx > ax else 0.0
        for column in range(start, stop + 1):
            left = frame.x + column * frame.cell
            right = frame.x + (column + 1) * frame.cell
            enter = az if left <= ax else (bz if left >= bx else az + (left - ax) * rise)
            leave = bz if right >= bx else (az if right <= ax else az + (right - ax) * rise)
            at = column - frame.first_x
            lowest[at] = min(lowest[at], min(enter, leave))
            highest[at] = max(highest[at], max(enter, leave))


@kernel_with_memory
def rasterise(vertices, triangles, areas, chosen, flattest, frame):
    """Voxels of the chosen triangles: every column that a triangle reaches into gets a span, clipped to that column.

    Parameters
    ----------
    vertices : (n, 3) float64, metres
    triangles : (m, 3) int32, counter-clockwise seen from outside
    areas : (m,) uint8, or empty
        Area kind of each triangle, 0 where it must not be walked on; empty for 1 everywhere.
    chosen : (k,) int32
        Triangles to look at.
    flattest : float
        Height of the unit normal from which a triangle can be walked on.
    frame : Frame

    Returns
    -------
    spans : (n, 4) int32, column of the frame, low, top, triangle
    kind : (n,) uint8
    ground : (n,) float32
    heights : (n, 2) float64
        Lowest and highest point of the triangle in the column, metres above the origin.
    """
    capacity = 4096
    spans = np.empty((capacity, 4), np.int32)
    span_kinds = np.empty(capacity, np.uint8)
    grounds = np.empty(capacity, np.float32)
    heights = np.empty((capacity, 2))
    triangle = np.empty((3, 3))
    above = np.empty((8, 3))
    row = np.empty((8, 3))
    lowest = np.empty(frame.width)
    highest = np.empty(frame.width)
    used = 0
    for number in chosen:
        for k in range(3):
            vertex = triangles[number, k]
            triangle[k, 0], triangle[k, 1], triangle[k, 2] = (
                vertices[vertex, 0],
                vertices[vertex, 1],
                vertices[vertex, 2],
            )
        low_y = min(triangle[0, 1], min(triangle[1, 1], triangle[2, 1]))
        high_y = max(triangle[0, 1], max(triangle[1, 1], triangle[2, 1]))
        first_row = int(np.floor((low_y - frame.y) / frame.cell + HAIR))
        last_row = max(first_row, int(np.floor((high_y - frame.y) / frame.cell + HAIR)))
        first_row, last_row = max(frame.first_y, first_row), min(frame.first_y + frame.depth - 1, last_row)
        ux, uy, uz = triangle[1, 0] - triangle[0, 0], triangle[1, 1] - triangle[0, 1], triangle[1, 2] - triangle[0, 2]
        vx, vy, vz = triangle[2, 0] - triangle[0, 0], triangle[2, 1] - triangle[0, 1], triangle[2, 2] - triangle[0, 2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        if nx == 0.0 and ny == 0.0 and nz == 0.0:
            continue
        kind = np.uint8(0)
        if nz > 0.0 and nz >= flattest * np.sqrt(nx * nx + ny * ny + nz * nz):
            kind = areas[number] if areas.size > 0 else np.uint8(1)
        for y in range(first_row, last_row + 1):
            count = _clip(triangle, 3, above, frame.y + (y - 2 * HAIR) * frame.cell, True)
            count = _clip(above, count, row, frame.y + (y + 1 + 2 * HAIR) * frame.cell, False)
            if count == 0:
                continue
            low_x, high_x = row[0, 0], row[0, 0]
            for k in range(1, count):
                low_x = min(low_x, row[k, 0])
                high_x = max(high_x, row[k, 0])
            first = int(np.floor((low_x - frame.x) / frame.cell + HAIR))
            last = max(first, int(np.floor((high_x - frame.x) / frame.cell + HAIR)))
            first, last = max(frame.first_x, first), min(frame.first_x + frame.width - 1, last)
            if first > last:
                continue
            _row_heights(row, count, frame, first, last, lowest, highest)
            if used + last - first + 1 > capacity:
                capacity = 2 * (capacity + last - first + 1)
                more_spans = np.empty((capacity, 4), np.int32)
                more_kinds = np.empty(capacity, np.uint8)
                more_grounds = np.empty(capacity, np.float32)
                more_heights = np.empty((capacity, 2))
                more_spans[:used] = spans[:used]
                more_kinds[:used] = span_kinds[:used]
                more_grounds[:used] = grounds[:used]
                more_heights[:used] = heights[:used]
                spans, span_kinds, grounds, heights = more_spans, more_kinds, more_grounds, more_heights
            for x in range(first, last + 1):
                at = x - frame.first_x
                if not lowest[at] <= highest[at]:
                    continue
                low = int(np.floor((lowest[at] - frame.z) / frame.cell_height + HAIR))
                top = int(np.ceil((highest[at] - frame.z) / frame.cell_height - HAIR))
                spans[used, 0] = (y - frame.first_y) * frame.width + at
                spans[used, 1] = low
                spans[used, 2] = max(low + 1, top)
                spans[used, 3] = number
                span_kinds[used] = kind
                ground = highest[at]
                if kind > 0:
                    # The plane in the middle of the column: neighbours in one plane agree, whichever covers the middle.
                    middle_x = frame.x + (x + 0.5) * frame.cell
                    middle_y = frame.y + (y + 0.5) * frame.cell
                    ground = triangle[0, 2] - ((middle_x - triangle[0, 0]) * nx + (middle_y - triangle[0, 1]) * ny) / nz
                    # A sliver at the rim of its column may be far below or above there.
                    ground = min(max(ground, lowest[at] - frame.cell), highest[at] + frame.cell)
                grounds[used] = ground - frame.z
                heights[used, 0], heights[used, 1] = lowest[at] - frame.z, highest[at] - frame.z
                used += 1
    return spans[:used], span_kinds[:used], grounds[:used], heights[:used]


@kernel
def choose(vertices, triangles, among, frame, chosen):
    """Write the triangles whose box reaches into the frame to `chosen`; return their number, also if it has no room.

    Of the triangles `among` (k,) int32, or of all where that is empty.
    """
    # A column more on each side, so that rounding cannot lose a triangle that touches the frame.
    low_x, low_y = frame.x + (frame.first_x - 1) * frame.cell, frame.y + (frame.first_y - 1) * frame.cell
    high_x, high_y = low_x + (frame.width + 2) * frame.cell, low_y + (frame.depth + 2) * frame.cell
    count = 0
    for at in range(among.size if among.size > 0 else len(triangles)):
        number = among[at] if among.size > 0 else at
        a, b, c = triangles[number, 0], triangles[number, 1], triangles[number, 2]
        if min(vertices[a, 0], min(vertices[b, 0], vertices[c, 0])) > high_x:
            continue
        if max(vertices[a, 0], max(vertices[b, 0], vertices[c, 0])) < low_x:
            continue
        if min(vertices[a, 1], min(vertices[b, 1], vertices[c, 1])) > high_y:
            continue
        if max(vertices[a, 1], max(vertices[b, 1], vertices[c, 1])) < low_y:
            continue
        if count < chosen.size:
            chosen[count] = number
        count += 1
    return count


@kernel
def sort_to_tiles(vertices, triangles, frame, tile, border, columns, rows, offsets, chosen):
    """Sort triangles to the tiles whose frames their boxes reach into.

    `frame` covers the world; tiles have `tile` columns and see `border` more on each side. First call, with an empty
    `chosen`: counts, added to `offsets` (tiles + 1,). Second call, with `offsets` the first slot of each tile: fills.
    """
    for number in range(len(triangles)):
        a, b, c = triangles[number, 0], triangles[number, 1], triangles[number, 2]
        low_x = min(vertices[a, 0], min(vertices[b, 0], vertices[c, 0]))
        high_x = max(vertices[a, 0], max(vertices[b, 0], vertices[c, 0]))
        low_y = min(vertices[a, 1], min(vertices[b, 1], vertices[c, 1]))
        high_y = max(vertices[a, 1], max(vertices[b, 1], vertices[c, 1]))
        # A column more on each side, so that rounding cannot lose a triangle that touches a frame.
        first_x = int(np.floor((low_x - frame.x) / frame.cell)) - border - 1
        last_x = int(np.floor((high_x - frame.x) / frame.cell)) + border + 1
        first_y = int(np.floor((low_y - frame.y) / frame.cell)) - border - 1
        last_y = int(np.floor((high_y - frame.y) / frame.cell)) + border + 1
        for y in range(max(0, first_y // tile), min(rows - 1, last_y // tile) + 1):
            for x in range(max(0, first_x // tile), min(columns - 1, last_x // tile) + 1):
                at = y * columns + x
                if chosen.size > 0:
                    chosen[offsets[at]] = number
                offsets[at] += 1


@inline
def height_over(vertices, triangles, number, x, y, slack=HAIR):
    """Height of a triangle above or below a point, NaN where it is beside it by more than `slack` of its size."""
    a, b, c = triangles[number, 0], triangles[number, 1], triangles[number, 2]
    ux, uy = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1]
    vx, vy = vertices[c, 0] - vertices[a, 0], vertices[c, 1] - vertices[a, 1]
    px, py = x - vertices[a, 0], y - vertices[a, 1]
    area = ux * vy - uy * vx
    second, third = (px * vy - py * vx) / area, (ux * py - uy * px) / area
    if second < -slack or third < -slack or second + third > 1.0 + slack:
        return np.nan
    return vertices[a, 2] + second * (vertices[b, 2] - vertices[a, 2]) + third * (vertices[c, 2] - vertices[a, 2])


@helper
def _shown(vertices, triangles, frame, spans, areas, heights, order, first, last, source):
    """The highest place of a part of a span that no ground above all of it covers; -infinity where none shows."""
    number = spans[source, 3]
    if number < 0:
        return heights[source, 1]
    left, down = _column_corner(frame, spans[source, 0])
    best = -np.inf
    for place in range(_PLACES * _PLACES):
        x = left + (place % _PLACES + 0.5) / _PLACES * frame.cell
        y = down + (place // _PLACES + 0.5) / _PLACES * frame.cell
        z = height_over(vertices, triangles, number, x, y)
        if not z > best:
            continue
        shows = True
        for part in range(first, last):
            other = order[part]
            if areas[other] > 0 and heights[other, 0] > heights[source, 1]:
                if not np.isnan(height_over(vertices, triangles, spans[other, 3], x, y)):
                    shows = False
                    break
        if shows:
            best = z
    return best - frame.z


@inline
def _column_corner(frame, column):
    """The south-western corner of a column."""
    return (
        frame.x + (frame.first_x + column % frame.width) * frame.cell,
        frame.y + (frame.first_y + column // frame.width) * frame.cell,
    )


@inline
def _cut(at, rate, low, high):
    """The part from `low` to `high` of a line where a value, `at` there is 0 and `rate` its change, is not below 0."""
    if rate > 0.0:
        low = max(low, -at / rate)
    elif rate < 0.0:
        high = min(high, -at / rate)
    elif at < 0.0:
        high = -1.0
    return low, high


@helper
def _rise(vertices, triangles, frame, spans, areas, heights, order, first, last, source, lowest):
    """The least that ground from `lowest` up rises above a part of a span where its edges meet it; infinite for none.

    An edge with more such ground on its other side is none.
    """
    number = spans[source, 3]
    if number < 0:
        return np.inf
    left, down = _column_corner(frame, spans[source, 0])
    hair = 4.0 * HAIR * frame.cell
    lowest -= hair
    best = np.inf
    for part in range(first, last):
        other = order[part]
        if areas[other] == 0 or spans[other, 3] < 0 or heights[other, 0] < lowest or other == source:
            continue
        for side in range(3):
            p, q = triangles[spans[other, 3], side], triangles[spans[other, 3], (side + 1) % 3]
            x, y = vertices[p, 0], vertices[p, 1]
            dx, dy = vertices[q, 0] - x, vertices[q, 1] - y
            length = np.sqrt(dx * dx + dy * dy)
            if length == 0.0:
                continue
            begin, end = _cut(x - left + hair, dx, 0.0, 1.0)
            begin, end = _cut(left + frame.cell + hair - x, -dx, begin, end)
            begin, end = _cut(y - down + hair, dy, begin, end)
            begin, end = _cut(down + frame.cell + hair - y, -dy, begin, end)
            for k in range(3):
                a, b = triangles[number, k], triangles[number, (k + 1) % 3]
                ux, uy = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1]
                inside = ux * (y - vertices[a, 1]) - uy * (x - vertices[a, 0])
                slack = hair * np.sqrt(ux * ux + uy * uy)
                begin, end = _cut(inside + slack, ux * dy - uy * dx, begin, end)
            if not begin < end:
                continue
            for place in range(3):
                share = begin + (0.01 + 0.49 * place) * (end - begin)
                # Just outside of the edge: triangles are counter-clockwise from above.
                out_x, out_y = x + share * dx + 4.0 * hair * dy / length, y + share * dy - 4.0 * hair * dx / length
                ground = height_over(vertices, triangles, number, out_x, out_y)
                if np.isnan(ground):
                    continue
                meets = True
                for above in range(first, last):
                    cover = order[above]
                    if areas[cover] > 0 and cover != source and heights[cover, 0] >= lowest and spans[cover, 3] >= 0:
                        if not np.isnan(height_over(vertices, triangles, spans[cover, 3], out_x, out_y, 0.0)):
                            meets = False
                            break
                if meets:
                    edge = vertices[p, 2] + share * (vertices[q, 2] - vertices[p, 2])
                    best = min(best, edge - ground)
    return best


@helper
def _stepped_down(vertices, triangles, frame, spans, areas, heights, order, first, last, lowest, climb, meeting):
    """The lowest point of the parts of a span that one gets to by one step from ground that begins at `lowest`.

    With `meeting` steps are measured where the ground meets the parts, and what does not meet it is left out; else from
    where parts show, if the ground meets none. `lowest` itself where no part is near enough.
    """
    below = lowest
    for at in range(first, last):
        part = order[at]
        bottom, top = heights[part, 0], heights[part, 1]
        if areas[part] == 0 or not bottom < below or lowest > top + climb:
            continue
        if meeting and (lowest > top or lowest > bottom + climb):
            if _rise(vertices, triangles, frame, spans, areas, heights, order, first, last, part, lowest) > climb:
                continue
        elif lowest > top and lowest > bottom + climb:
            shown = _shown(vertices, triangles, frame, spans, areas, heights, order, first, last, part)
            if lowest > shown + (top - bottom) / _PLACES + climb:
                continue
        below = bottom
    if not meeting and below < lowest:
        for at in range(first, last):
            part = order[at]
            if areas[part] > 0 and heights[part, 0] < lowest:
                if _rise(vertices, triangles, frame, spans, areas, heights, order, first, last, part, lowest) < np.inf:
                    return lowest
    return below


@kernel_with_memory
def merge_spans(vertices, triangles, frame, spans, areas, grounds, heights, climb):
    """Solid spans of each column: those that overlap or touch become one.

    The kind of a merged span is the highest kind among the parts whose top is within `climb` (metres) of its own top: a
    low edge does not spoil the floor beside it. Its foot is the lowest point of walkable parts that one gets to from
    its top by steps of at most `climb`, where the two meet, or where a slope shows if they do not. The result does not
    depend on the order of the parts. Parts of triangle -1 show everywhere. Returns what makes a Field, and the offsets
    and the order of Parts.
    """
    count = len(spans)
    columns = frame.width * frame.depth
    starts = np.zeros(columns + 1, np.int32)
    for k in range(count):
        starts[spans[k, 0] + 1] += 1
    for column in range(columns):
        starts[column + 1] += starts[column]
    order = np.empty(count, np.int32)
    cursor = starts[:-1].copy()
    for k in range(count):
        column = spans[k, 0]
        order[cursor[column]] = k
        cursor[column] += 1
    offsets = np.zeros(columns + 1, np.int32)
    low = np.empty(count, np.int32)
    top = np.empty(count, np.int32)
    kind = np.empty(count, np.uint8)
    ground = np.empty(count, np.float32)
    high = np.empty(count)
    foot = np.empty(count)
    used = 0
    hair = HAIR * frame.cell
    for column in range(columns):
        first, last = starts[column], starts[column + 1]
        for k in range(first + 1, last):
            moving = order[k]
            at = k
            while at > first and spans[order[at - 1], 1] > spans[moving, 1]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = moving
        k = first
        while k < last:
            bottom = spans[order[k], 1]
            highest = spans[order[k], 2]
            end = k + 1
            while end < last and spans[order[end], 1] <= highest:
                highest = max(highest, spans[order[end], 2])
                end += 1
            merged_kind = np.uint8(0)
            merged_ground = np.float32(-np.inf)
            real = -np.inf
            for part in range(k, end):
                real = max(real, heights[order[part], 1])
            lowest = real
            lower = end > k + 1
            if not lower and areas[order[k]] > 0:
                lowest = heights[order[k], 0]
            while lower:
                # Ground that reaches as high first: that is most of it.
                lower, steps = False, False
                for part in range(k, end):
                    source = order[part]
                    if areas[source] > 0 and heights[source, 0] < lowest <= heights[source, 1] + climb:
                        if lowest <= heights[source, 1] + hair and lowest <= heights[source, 0] + climb:
                            lowest = heights[source, 0]
                            lower = True
                        else:
                            steps = True
                for meeting in (True, False):
                    if steps and not lower:
                        below = _stepped_down(
                            vertices, triangles, frame, spans, areas, heights, order, k, end, lowest, climb, meeting
                        )
                        lower = below < lowest
                        lowest = below
            for part in range(k, end):
                source = order[part]
                if heights[source, 1] >= real - climb:
                    merged_kind = max(merged_kind, areas[source])
                if spans[source, 2] >= highest - 1:
                    merged_ground = max(merged_ground, grounds[source])
            low[used] = bottom
            top[used] = highest
            kind[used] = merged_kind
            ground[used] = merged_ground
            high[used] = real
            foot[used] = lowest
            used += 1
            k = end
        offsets[column + 1] = used
    field = Heightfield(offsets, low[:used], top[:used], kind[:used], ground[:used], high[:used], foot[:used])
    return field, starts, order


@inline
def _ground_at(vertices, triangles, frame, parts, column, x, y, low, high):
    """The highest walkable part of a column at a point from `low` to `high` metres above the origin; NaN for none."""
    found = np.nan
    for at in range(parts.offsets[column], parts.offsets[column + 1]):
        part = parts.order[at]
        if parts.areas[part] == 0 or parts.spans[part, 3] < 0:
            continue
        if parts.heights[part, 0] > high or parts.heights[part, 1] < low:
            continue
        z = height_over(vertices, triangles, parts.spans[part, 3], x, y) - frame.z
        if low <= z <= high and not z <= found:
            found = z
    return found


@helper
def stepped_over(vertices, triangles, frame, parts, field, a, column_a, b, column_b, side, climb):
    """Whether a step of at most `climb` leads from one span to the other over the border of their columns.

    `side` is 2 where the second column is east of the first, 3 where it is north. True where no ground of both reaches
    the border in one place, as at a crack, unless other ground of a column does: what lies before a step.
    """
    left, down = _column_corner(frame, column_a)
    hair = HAIR * frame.cell
    met, parted = False, False
    for place in range(_PLACES):
        share = (place + 0.5) / _PLACES * frame.cell
        x, y = (left + frame.cell, down + share) if side == 2 else (left + share, down + frame.cell)
        one = _ground_at(vertices, triangles, frame, parts, column_a, x, y, field.foot[a] - hair, field.high[a] + hair)
        two = _ground_at(vertices, triangles, frame, parts, column_b, x, y, field.foot[b] - hair, field.high[b] + hair)
        if one == one and two == two:
            if abs(one - two) <= climb:
                return True
            met = True
        elif one == one or two == two:
            level, beside = (one, column_b) if one == one else (two, column_a)
            other = _ground_at(vertices, triangles, frame, parts, beside, x, y, level - climb, level + climb)
            parted = parted or other == other
    return not (met or parted)


@inline
def step_between(field, a, b):
    """How much higher the ground of one span begins than that of the other ends, metres; 0 where they overlap.

    Level ground has one height, so this is the step between two levels, exactly. A slope reaches over all heights that
    it has in the column, so walking up a slope is no step.
    """
    return max(0.0, max(field.foot[a] - field.high[b], field.foot[b] - field.high[a]))


@kernel
def filter_low_obstacles(field, climb):
    """Let the agent walk over what it can step onto from walkable ground in the same column (kerbs, stairs).

    `climb` is in metres, here and below.
    """
    for column in range(field.offsets.size - 1):
        below = np.uint8(0)
        for k in range(field.offsets[column], field.offsets[column + 1]):
            own = field.kind[k]
            if own == 0 and below > 0 and field.high[k] - field.high[k - 1] <= climb:
                field.kind[k] = below
            below = own


@kernel
def filter_ledges(field, width, depth, height, climb, ledge):
    """Mark walkable spans beside a drop deeper than `climb` in `ledge`, uint8."""
    offsets, low, top = field.offsets, field.low, field.top
    for column in range(width * depth):
        x, y = column % width, column // width
        for k in range(offsets[column], offsets[column + 1]):
            ledge[k] = 0
            if field.kind[k] == 0:
                continue
            floor = top[k]
            ceiling = low[k + 1] if k + 1 < offsets[column + 1] else OPEN_SKY
            for side in range(4):
                to_x = x + (1 if side == 2 else 0) - (1 if side == 0 else 0)
                to_y = y + (1 if side == 3 else 0) - (1 if side == 1 else 0)
                if to_x < 0 or to_y < 0 or to_x >= width or to_y >= depth:
                    ledge[k] = 1
                    break
                beside = to_y * width + to_x
                # The gap below the first span counts as a floor without end.
                roof = OPEN_SKY
                if offsets[beside] < offsets[beside + 1]:
                    roof = low[offsets[beside]]
                if min(ceiling, roof) - floor >= height:
                    ledge[k] = 1
                    break
                for other in range(offsets[beside], offsets[beside + 1]):
                    roof = low[other + 1] if other + 1 < offsets[beside + 1] else OPEN_SKY
                    if min(ceiling, roof) - max(floor, top[other]) >= height:
                        if field.foot[k] - field.high[other] > climb:
                            ledge[k] = 1
                        break
                if ledge[k]:
                    break


@kernel
def filter_low_ceilings(field, height):
    """Close spans with less than `height` (cell heights) of free space above."""
    offsets = field.offsets
    for column in range(offsets.size - 1):
        for k in range(offsets[column], offsets[column + 1] - 1):
            if field.low[k + 1] - field.top[k] < height:
                field.kind[k] = 0


_BLUR_FROM = 2  # distances up to this (one cell) are left as they are: the rim must not move


class Open(NamedTuple):
    """Walkable ground of a tile with the free space above it, in compressed rows of columns."""

    offsets: np.ndarray  # (columns + 1,) int32
    floor: np.ndarray  # (n,) int32, cell heights
    ceiling: np.ndarray  # (n,) int32
    kind: np.ndarray  # (n,) uint8, 0 once a span is closed
    ground: np.ndarray  # (n,) float32, metres above the origin
    links: np.ndarray  # (n, 4) int32, the span that one steps to on each side, -1 for none
    high: np.ndarray  # (n,) float64, see `Field`
    foot: np.ndarray  # (n,) float64
    ledge: np.ndarray  # (n,) uint8, 1 beside a drop: nobody stands there, but it is ground


@kernel_with_memory
def open_space(vertices, triangles, frame, parts, field, ledge, height, climb):
    """The open spans above walkable ground, each linked to those that the agent can step to.

    Two spans link when the space that they share is at least `height` (cell heights) high and the step between them is
    at most `climb` (metres). Where their heights leave that open, as on a slope that falls towards a step, the ground
    on both sides of the border of their columns decides.
    """
    width, depth = frame.width, frame.depth
    offsets = np.zeros(width * depth + 1, np.int32)
    for column in range(width * depth):
        count = 0
        for k in range(field.offsets[column], field.offsets[column + 1]):
            if field.kind[k] > 0:
                count += 1
        offsets[column + 1] = offsets[column] + count
    size = offsets[-1]
    floor = np.empty(size, np.int32)
    ceiling = np.empty(size, np.int32)
    kind = np.empty(size, np.uint8)
    ground = np.empty(size, np.float32)
    links = np.full((size, 4), -1, np.int32)
    high = np.empty(size)
    foot = np.empty(size)
    drop = np.empty(size, np.uint8)
    at = 0
    for column in range(width * depth):
        for k in range(field.offsets[column], field.offsets[column + 1]):
            if field.kind[k] > 0:
                floor[at] = field.top[k]
                ceiling[at] = field.low[k + 1] if k + 1 < field.offsets[column + 1] else OPEN_SKY
                kind[at] = field.kind[k]
                ground[at] = field.ground[k]
                high[at] = field.high[k]
                foot[at] = field.foot[k]
                drop[at] = ledge[k]
                at += 1
    space = Open(offsets, floor, ceiling, kind, ground, links, high, foot, drop)
    for y in range(depth):
        for x in range(width):
            column = y * width + x
            # East and north are enough: links go both ways.
            for side in (2, 3):
                if (side == 2 and x + 1 == width) or (side == 3 and y + 1 == depth):
                    continue
                beside = column + 1 if side == 2 else column + width
                for k in range(offsets[column], offsets[column + 1]):
                    for other in range(offsets[beside], offsets[beside + 1]):
                        free = min(ceiling[k], ceiling[other]) - max(floor[k], floor[other])
                        if free < height or links[other, side ^ 2] >= 0:
                            continue
                        step = step_between(space, k, other)
                        if step > climb:
                            continue
                        reach = max(high[k], high[other]) - min(foot[k], foot[other])
                        if (step > HAIR * frame.cell or reach > climb) and not stepped_over(
                            vertices, triangles, frame, parts, space, k, column, other, beside, side, climb
                        ):
                            continue
                        links[k, side] = other
                        links[other, side ^ 2] = k
                        break
    return space


@inline
def _nearer(distance, links, k, side, turn, best):
    """The smaller of `best` and the distance over the neighbour on `side`, or over that one's neighbour on `turn`."""
    beside = links[k, side]
    if beside >= 0:
        best = min(best, distance[beside] + 2)
        diagonal = links[beside, turn]
        if diagonal >= 0:
            best = min(best, distance[diagonal] + 3)
    return best


@kernel
def rim_distance(links, kind, distance):
    """Distance of each span to the rim of its area in half cells (2 straight, 3 diagonally); return the largest.

    Spans beside a wall, a closed span or another kind of area, and closed spans themselves, have distance 0.
    """
    size = len(links)
    for k in range(size):
        inside = kind[k] > 0
        for side in range(4):
            beside = links[k, side]
            if beside < 0 or kind[beside] != kind[k]:
                inside = False
        distance[k] = OPEN_SKY if inside else 0
    for k in range(size):
        best = _nearer(distance, links, k, 0, 1, distance[k])
        distance[k] = _nearer(distance, links, k, 1, 2, best)
    largest = 0
    for k in range(size - 1, -1, -1):
        best = _nearer(distance, links, k, 2, 3, distance[k])
        distance[k] = _nearer(distance, links, k, 3, 0, best)
        largest = max(largest, distance[k])
    return largest


@kernel
def wall_distance(space, firm, distance):
    """Distance of each span to walls and drops in half cells, whatever the kinds of area.

    `firm` (n,) uint8 is set: 1 for walkable ground that is no ledge.
    """
    for k in range(firm.size):
        firm[k] = 1 if space.kind[k] > 0 and space.ledge[k] == 0 else 0
    return rim_distance(space.links, firm, distance)


@kernel
def erode(kind, firm, distance, radius):
    """Close ledges and every span nearer than `radius` cells to a wall or a drop; arrays as of `wall_distance`."""
    for k in range(kind.size):
        if firm[k] == 0 or distance[k] < 2 * radius:
            kind[k] = 0


@kernel
def blur(links, distance, blurred):
    """Smooth the distances a little, so that the watershed does not see every dent of the rim; return the largest."""
    largest = 0
    for k in range(distance.size):
        own = distance[k]
        if own <= _BLUR_FROM:
            blurred[k] = own
            largest = max(largest, own)
            continue
        total = own
        for side in range(4):
            beside = links[k, side]
            if beside < 0:
                total += 2 * own
                continue
            total += distance[beside]
            diagonal = links[beside, (side + 1) & 3]
            total += distance[diagonal] if diagonal >= 0 else own
        blurred[k] = (total + 5) // 9
        largest = max(largest, blurred[k])
    return largest
