# mypy: ignore-errors
"""Questions to a finished mesh: heights, where a point is, how far one can walk straight.

Polygons are convex and counter-clockwise from above. Edge k of the mesh leads from ``corners[k]`` to the next corner of
its polygon; ``neighbours[k]`` is the polygon beyond it, -1 for none.
"""

from typing import NamedTuple

import numpy as np

from wayfold._jit import inline, kernel

FULL = -2  # a scratch array is too small: the caller enlarges it and asks again


class Ground(NamedTuple):
    """A navigation mesh as kernels see it (all C-contiguous)."""

    vertices: np.ndarray  # (n, 3) float64
    offsets: np.ndarray  # (p + 1,) int64
    corners: np.ndarray  # (m,) int32
    neighbours: np.ndarray  # (m,) int32
    surface_points: np.ndarray  # (k, 3) float64
    surface_offsets: np.ndarray  # (p + 1,) int64; an empty row: the corners are surface enough
    surface_triangles: np.ndarray  # (t, 3) int32


class Cells(NamedTuple):
    """A grid over the plane, with the polygons whose boxes reach into each cell in ascending order."""

    x: float
    y: float
    size: float
    columns: int
    rows: int
    offsets: np.ndarray  # (cells + 1,) int64
    polygons: np.ndarray  # (k,) int32


@inline
def next_edge(ground, polygon, edge):
    """The edge after `edge` around its polygon."""
    return edge + 1 if edge + 1 < ground.offsets[polygon + 1] else ground.offsets[polygon]


@inline
def _weigh(points, a, b, c, x, y):
    """How deep a point lies in a triangle (smallest barycentric weight), and the height of its plane there."""
    ux, uy = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1]
    vx, vy = points[c, 0] - points[a, 0], points[c, 1] - points[a, 1]
    area = ux * vy - uy * vx
    if not area > 0.0:
        return -np.inf, 0.0
    px, py = x - points[a, 0], y - points[a, 1]
    second = (px * vy - py * vx) / area
    third = (ux * py - uy * px) / area
    deep = min(second, min(third, 1.0 - second - third))
    height = points[a, 2] + second * (points[b, 2] - points[a, 2]) + third * (points[c, 2] - points[a, 2])
    return deep, height


@inline
def height_at(ground, polygon, x, y):
    """Height of a polygon's surface at a point inside it (beside it: of the surface's nearest triangle's plane)."""
    best, height = -np.inf, 0.0
    first, last = ground.surface_offsets[polygon], ground.surface_offsets[polygon + 1]
    if first < last:
        for t in range(first, last):
            a, b, c = ground.surface_triangles[t, 0], ground.surface_triangles[t, 1], ground.surface_triangles[t, 2]
            deep, z = _weigh(ground.surface_points, a, b, c, x, y)
            if deep > best:
                best, height = deep, z
            if deep >= 0.0:
                break
    else:
        first, last = ground.offsets[polygon], ground.offsets[polygon + 1]
        hub = ground.corners[first]
        height = ground.vertices[hub, 2]
        for k in range(first + 1, last - 1):
            deep, z = _weigh(ground.vertices, hub, ground.corners[k], ground.corners[k + 1], x, y)
            if deep > best:
                best, height = deep, z
            if deep >= 0.0:
                break
    return height


@inline
def side(ground, polygon, edge, x, y):
    """Signed distance of a point from an edge's line, times the edge's length; positive inside."""
    a = ground.corners[edge]
    b = ground.corners[next_edge(ground, polygon, edge)]
    ax, ay = ground.vertices[a, 0], ground.vertices[a, 1]
    return (ground.vertices[b, 0] - ax) * (y - ay) - (ground.vertices[b, 1] - ay) * (x - ax)


@inline
def contains(ground, polygon, x, y):
    """Whether a point lies in a polygon or on its rim, up to rounding."""
    for edge in range(ground.offsets[polygon], ground.offsets[polygon + 1]):
        a = ground.corners[edge]
        b = ground.corners[next_edge(ground, polygon, edge)]
        length = abs(ground.vertices[b, 0] - ground.vertices[a, 0]) + abs(ground.vertices[b, 1] - ground.vertices[a, 1])
        if side(ground, polygon, edge, x, y) < -1e-12 * length * (1.0 + abs(x) + abs(y)):
            return False
    return True


@inline
def nearest_on_edge(ground, polygon, edge, x, y):
    """The point of an edge nearest to a point, and its squared distance."""
    a = ground.corners[edge]
    b = ground.corners[next_edge(ground, polygon, edge)]
    ax, ay = ground.vertices[a, 0], ground.vertices[a, 1]
    ux, uy = ground.vertices[b, 0] - ax, ground.vertices[b, 1] - ay
    t = ((x - ax) * ux + (y - ay) * uy) / (ux * ux + uy * uy)
    t = min(1.0, max(0.0, t))
    nx, ny = ax + t * ux, ay + t * uy
    return nx, ny, (x - nx) * (x - nx) + (y - ny) * (y - ny)


@kernel
def fill_cells(ground, cells, chosen, counts, polygons):
    """Sort chosen polygons to cells: with an empty `polygons` only count them, else fill from the slots `counts` on."""
    for polygon in chosen:
        low_x, low_y, high_x, high_y = np.inf, np.inf, -np.inf, -np.inf
        for k in range(ground.offsets[polygon], ground.offsets[polygon + 1]):
            vertex = ground.corners[k]
            low_x, high_x = min(low_x, ground.vertices[vertex, 0]), max(high_x, ground.vertices[vertex, 0])
            low_y, high_y = min(low_y, ground.vertices[vertex, 1]), max(high_y, ground.vertices[vertex, 1])
        for row in range(
            _cell(cells.y, cells.size, cells.rows, low_y), _cell(cells.y, cells.size, cells.rows, high_y) + 1
        ):
            first = _cell(cells.x, cells.size, cells.columns, low_x)
            last = _cell(cells.x, cells.size, cells.columns, high_x)
            for column in range(first, last + 1):
                at = row * cells.columns + column
                if polygons.size > 0:
                    polygons[counts[at]] = polygon
                counts[at] += 1


@inline
def _cell(low, size, count, value):
    """The row or column of cells that a coordinate falls into, the outermost ones reaching on for ever."""
    return min(count - 1, max(0, int(min(2e9, max(-2e9, np.floor((value - low) / size))))))


@kernel
def locate(ground, cells, points, tolerance, reach, in_space, first, last, polygons, places):
    """The polygon of each point `first` to `last` - 1, -1 for none, and the place on it.

    Of the polygons that hold a point seen from above the one nearest in height wins, if it is within `reach`; else the
    nearest polygon within `tolerance`. With `in_space` a polygon beside the point wins where it is nearer than one
    below or above it. A height of NaN matches any. Ties go to the lower number.
    """
    for q in range(first, last):
        x, y, z = points[q, 0], points[q, 1], points[q, 2]
        best, nearest = -1, np.inf
        at = _cell(cells.y, cells.size, cells.rows, y) * cells.columns + _cell(cells.x, cells.size, cells.columns, x)
        for k in range(cells.offsets[at], cells.offsets[at + 1]):
            polygon = cells.polygons[k]
            if not contains(ground, polygon, x, y):
                continue
            height = height_at(ground, polygon, x, y)
            off = 0.0 if np.isnan(z) else abs(height - z)
            if off <= reach and off < nearest:
                best, nearest = polygon, off
                places[q, 0], places[q, 1], places[q, 2] = x, y, height
        if (best < 0 or in_space) and tolerance > 0.0:
            nearest = np.inf if best < 0 else nearest * nearest
            low_row = _cell(cells.y, cells.size, cells.rows, y - tolerance)
            high_row = _cell(cells.y, cells.size, cells.rows, y + tolerance)
            low_column = _cell(cells.x, cells.size, cells.columns, x - tolerance)
            high_column = _cell(cells.x, cells.size, cells.columns, x + tolerance)
            for row in range(low_row, high_row + 1):
                for column in range(low_column, high_column + 1):
                    at = row * cells.columns + column
                    for k in range(cells.offsets[at], cells.offsets[at + 1]):
                        polygon = cells.polygons[k]
                        for edge in range(ground.offsets[polygon], ground.offsets[polygon + 1]):
                            nx, ny, off = nearest_on_edge(ground, polygon, edge, x, y)
                            if off > tolerance * tolerance or off > nearest:
                                continue
                            height = height_at(ground, polygon, nx, ny)
                            rise = 0.0 if np.isnan(z) else height - z
                            if abs(rise) > reach:
                                continue
                            off += rise * rise
                            if off < nearest or (off == nearest and polygon < best):
                                best, nearest = polygon, off
                                places[q, 0], places[q, 1], places[q, 2] = nx, ny, height
        polygons[q] = best


@kernel
def heights(ground, polygons, points):
    """Put each point (its third column) onto the surface of its polygon."""
    for q in range(len(points)):
        points[q, 2] = height_at(ground, polygons[q], points[q, 0], points[q, 1])


@kernel
def scatter(ground, polygons, draws, points):
    """A point in each listed polygon, evenly spread over it, from three draws in [0, 1) each."""
    for q in range(polygons.size):
        polygon = polygons[q]
        first, last = ground.offsets[polygon], ground.offsets[polygon + 1]
        hub = ground.corners[first]
        total = 0.0
        for k in range(first + 1, last - 1):
            total += _area2(ground.vertices, hub, ground.corners[k], ground.corners[k + 1])
        left = draws[q, 0] * total
        picked = first + 1
        for k in range(first + 1, last - 1):
            area = _area2(ground.vertices, hub, ground.corners[k], ground.corners[k + 1])
            if area > 0.0:
                picked = k
                if left < area:
                    break
            left -= area
        b, c = ground.corners[picked], ground.corners[picked + 1]
        root = np.sqrt(draws[q, 1])
        one, two = root * (1.0 - draws[q, 2]), root * draws[q, 2]
        for k in range(2):
            points[q, k] = (
                (1.0 - one - two) * ground.vertices[hub, k] + one * ground.vertices[b, k] + two * ground.vertices[c, k]
            )
        points[q, 2] = height_at(ground, polygon, points[q, 0], points[q, 1])


@inline
def _area2(vertices, a, b, c):
    return (vertices[b, 0] - vertices[a, 0]) * (vertices[c, 1] - vertices[a, 1]) - (vertices[b, 1] - vertices[a, 1]) * (
        vertices[c, 0] - vertices[a, 0]
    )


@kernel
def areas(ground, first_polygon, last_polygon, out):
    """Area of the polygons `first_polygon` to `last_polygon` - 1 seen from above."""
    for polygon in range(first_polygon, last_polygon):
        first, last = ground.offsets[polygon], ground.offsets[polygon + 1]
        total = 0.0
        for k in range(first + 1, last - 1):
            total += _area2(ground.vertices, ground.corners[first], ground.corners[k], ground.corners[k + 1])
        out[polygon] = 0.5 * total


@kernel
def centres(ground, out):
    """Mean of each polygon's corners, put onto its surface."""
    for polygon in range(len(out)):
        first, last = ground.offsets[polygon], ground.offsets[polygon + 1]
        x, y = 0.0, 0.0
        for k in range(first, last):
            x += ground.vertices[ground.corners[k], 0]
            y += ground.vertices[ground.corners[k], 1]
        x, y = x / (last - first), y / (last - first)
        out[polygon, 0], out[polygon, 1], out[polygon, 2] = x, y, height_at(ground, polygon, x, y)


@kernel
def walk(ground, closed, kinds, polygon, x, y, to_x, to_y):
    """Walk straight from a point of a polygon until a wall; returns (fraction walked, last polygon, wall edge or -1).

    `closed` (256,) uint8 says which kinds of area (`kinds`, one a polygon) may not be entered.
    """
    dx, dy = to_x - x, to_y - y
    done = 0.0
    for _ in range(ground.corners.size + 1):
        leave, through, aside = np.inf, -1, np.inf
        for edge in range(ground.offsets[polygon], ground.offsets[polygon + 1]):
            a = ground.corners[edge]
            b = ground.corners[next_edge(ground, polygon, edge)]
            ux, uy = ground.vertices[b, 0] - ground.vertices[a, 0], ground.vertices[b, 1] - ground.vertices[a, 1]
            speed = dx * uy - dy * ux  # outwards
            if not speed > 1e-14 * (abs(ux) + abs(uy)) * (abs(dx) + abs(dy)):
                continue
            t = max(done, side(ground, polygon, edge, x, y) / speed)
            ahead = ground.neighbours[edge]
            is_open = ahead >= 0 and closed[kinds[ahead]] == 0
            # Of edges on one line the one that is really crossed; through a corner the open one of its two.
            along = ((x + t * dx - ground.vertices[a, 0]) * ux + (y + t * dy - ground.vertices[a, 1]) * uy) / np.hypot(
                ux, uy
            )
            miss = max(0.0, max(-along, along - np.hypot(ux, uy)))
            near = abs(t - leave) <= 1e-12
            better = miss < aside - 1e-9 or (miss <= aside + 1e-9 and is_open)
            if (t < leave and not near) or (near and better) or through < 0:
                leave, through, aside = min(t, leave) if near else t, edge, miss
        if leave >= 1.0 or through < 0:
            return 1.0, polygon, -1
        done = leave
        ahead = ground.neighbours[through]
        if ahead < 0 or closed[kinds[ahead]]:
            return done, polygon, through
        polygon = ahead
    return done, polygon, -1


@kernel
def shortcuts(ground, closed, kinds, polygons, points, ahead, near, kept):
    """Leave out corners of a path that a straight walk from an earlier one passes by; returns how many are kept.

    From each corner (`points`, each in its polygon of `polygons`) the farthest of the next `ahead` is taken that a walk
    ends at, and not more than `near` above or below. `kept` (k,) int64 gets their numbers.
    """
    kept[0] = 0
    count, here, last = 1, 0, len(points) - 1
    while here < last:
        at = min(here + ahead, last)
        while at > here + 1:  # the farthest first: a corner may be hidden while one behind it is seen
            x, y = points[at, 0], points[at, 1]
            part, end, _ = walk(ground, closed, kinds, polygons[here], points[here, 0], points[here, 1], x, y)
            if part >= 1.0 and abs(height_at(ground, end, x, y) - points[at, 2]) <= near:
                break
            at -= 1
        here = at
        kept[count] = here
        count += 1
    return count


@kernel
def slide(ground, closed, kinds, polygon, x, y, to_x, to_y, queue):
    """The reachable point nearest to a target not far away: (polygon, x, y), polygon FULL when scratch is too small.

    Polygons within half the way of its middle are searched from the start outwards; `queue` (k,) int32 is scratch.
    """
    middle_x, middle_y = 0.5 * (x + to_x), 0.5 * (y + to_y)
    limit = 0.5 * np.sqrt((to_x - x) * (to_x - x) + (to_y - y) * (to_y - y)) + 1e-9
    queue[0] = polygon
    head, tail = 0, 1
    best, best_x, best_y, nearest = polygon, x, y, (x - to_x) * (x - to_x) + (y - to_y) * (y - to_y)
    while head < tail:
        here = queue[head]
        head += 1
        if contains(ground, here, to_x, to_y):
            return here, to_x, to_y
        for edge in range(ground.offsets[here], ground.offsets[here + 1]):
            ahead = ground.neighbours[edge]
            if ahead < 0 or closed[kinds[ahead]]:
                nx, ny, off = nearest_on_edge(ground, here, edge, to_x, to_y)
                if off < nearest:
                    best, best_x, best_y, nearest = here, nx, ny, off
                continue
            _, _, off = nearest_on_edge(ground, here, edge, middle_x, middle_y)
            if off > limit * limit:
                continue
            known = False
            for k in range(tail - 1, -1, -1):
                if queue[k] == ahead:
                    known = True
                    break
            if known:
                continue
            if tail == queue.size:
                return FULL, x, y
            queue[tail] = ahead
            tail += 1
    return best, best_x, best_y
