# mypy: ignore-errors
"""Heights between the corners: points are added to a polygon until its surface follows the sampled ground.

Each polygon gets a Delaunay triangulation of its own, grown point by point where the ground is farthest from it. The
lattice is doubled here, so that corners (even) and middles of columns (odd) are whole numbers and every geometric
decision is exact.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import inline, kernel_with_memory

_FRAME = 4  # corners of the rectangle in which a surface is triangulated
_MOST_SAMPLES = 16_384  # of a polygon; a larger one is sampled at every second, third, ... column


class Detail(NamedTuple):
    """Triangulated surfaces of the polygons that need more than their corners; the others have empty rows."""

    point_offsets: np.ndarray  # (p + 1,) int32
    xy: np.ndarray  # (k, 2) int32, doubled lattice of the world
    z: np.ndarray  # (k,) float32, metres above the origin
    triangle_offsets: np.ndarray  # (p + 1,) int32
    triangles: np.ndarray  # (t, 3) int32, points counted from the polygon's first


@inline
def _turn(xy, a, b, c):
    """Twice the signed area of a triangle."""
    return (xy[b, 0] - xy[a, 0]) * (xy[c, 1] - xy[a, 1]) - (xy[b, 1] - xy[a, 1]) * (xy[c, 0] - xy[a, 0])


@inline
def _in_circle(xy, a, b, c, p):
    """Whether point p lies inside the circle through a, b and c (counter-clockwise), exactly."""
    ax, ay = xy[a, 0] - xy[p, 0], xy[a, 1] - xy[p, 1]
    bx, by = xy[b, 0] - xy[p, 0], xy[b, 1] - xy[p, 1]
    cx, cy = xy[c, 0] - xy[p, 0], xy[c, 1] - xy[p, 1]
    return (
        (ax * ax + ay * ay) * (bx * cy - cx * by)
        - (bx * bx + by * by) * (ax * cy - cx * ay)
        + (cx * cx + cy * cy) * (ax * by - bx * ay)
    ) > 0


@inline
def _holds(xy, triangle, x, y):
    """Whether a triangle contains a point of the doubled lattice."""
    for k in range(3):
        a, b = triangle[k], triangle[(k + 1) % 3]
        if (xy[b, 0] - xy[a, 0]) * (y - xy[a, 1]) - (xy[b, 1] - xy[a, 1]) * (x - xy[a, 0]) < 0:
            return False
    return True


@inline
def _height(xy, z, triangle, x, y):
    """Height of a triangle's plane."""
    a, b, c = triangle[0], triangle[1], triangle[2]
    ux, uy, uz = float(xy[b, 0] - xy[a, 0]), float(xy[b, 1] - xy[a, 1]), z[b] - z[a]
    vx, vy, vz = float(xy[c, 0] - xy[a, 0]), float(xy[c, 1] - xy[a, 1]), z[c] - z[a]
    px, py = float(x - xy[a, 0]), float(y - xy[a, 1])
    area = ux * vy - uy * vx
    return z[a] + ((px * vy - py * vx) * uz + (ux * py - uy * px) * vz) / area


@inline
def _insert(xy, triangles, used, point, rim, dead):
    """Add a point to a Delaunay triangulation: triangles whose circle holds it make way for a star around it.

    `rim` (k, 2) and `dead` (k,) are scratch; the first `gone` entries of `dead` are the triangles that made way, and
    new ones take their places, then go to the end. Returns (gone, number of new ones, new size).
    """
    edges, gone = 0, 0
    for t in range(used):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if not _in_circle(xy, a, b, c, point):
            continue
        dead[gone] = t
        gone += 1
        for k in range(3):
            start, end = (a, b) if k == 0 else ((b, c) if k == 1 else (c, a))
            shared = -1
            for e in range(edges):
                if rim[e, 0] == end and rim[e, 1] == start:
                    shared = e
            if shared >= 0:
                edges -= 1
                rim[shared, 0], rim[shared, 1] = rim[edges, 0], rim[edges, 1]
            else:
                rim[edges, 0], rim[edges, 1] = start, end
                edges += 1
    fresh = 0
    for e in range(edges):
        if _turn(xy, rim[e, 0], rim[e, 1], point) > 0:
            if fresh >= gone:
                dead[fresh] = used
                used += 1
            t = dead[fresh]
            triangles[t, 0], triangles[t, 1], triangles[t, 2] = rim[e, 0], rim[e, 1], point
            fresh += 1
    return gone, fresh, used


@inline
def _stretch(xy, count, low, high):
    """Smallest and largest x of the part of a convex polygon between two heights y (none: larger than smallest)."""
    left, right = 1e300, -1e300
    for k in range(count):
        after = k + 1 if k + 1 < count else 0
        ax, ay, bx, by = xy[k, 0], xy[k, 1], xy[after, 0], xy[after, 1]
        if low <= ay <= high:
            left, right = min(left, float(ax)), max(right, float(ax))
        for at in (low, high):
            if (ay < at) != (by < at):
                x = ax + (at - ay) * (bx - ax) / (by - ay)
                left, right = min(left, x), max(right, x)
    return left, right


@inline
def _samples(space, region, frame, xy, count, wanted, where, ground, here, below, bottom):
    """Middles of the columns in and beside a polygon, with the ground there; returns their number.

    A column in which the polygon's region has no span gets the one that a step from a column beside it leads to.
    `here`, `below` and `bottom` (width,) int32 are scratch: the spans of this row, of the last and of the lowest.
    """
    low_x, high_x, low_y, high_y = xy[0, 0], xy[0, 0], xy[0, 1], xy[0, 1]
    for k in range(1, count):
        low_x, high_x = min(low_x, xy[k, 0]), max(high_x, xy[k, 0])
        low_y, high_y = min(low_y, xy[k, 1]), max(high_y, xy[k, 1])
    columns = ((high_x - low_x) // 2 + 2) * ((high_y - low_y) // 2 + 2)
    step = 1 + int(np.sqrt(columns / _MOST_SAMPLES))
    used = 0
    below[:] = -1
    lowest = frame.first_y + frame.depth
    for row in range(max(low_y // 2 - 1, frame.first_y), min(high_y // 2 + 1, frame.first_y + frame.depth)):
        left, right = _stretch(xy, count, 2 * row - 1, 2 * row + 3)
        first = max(int(np.floor(left / 2)) - 1, frame.first_x) - frame.first_x
        last = min(int(np.floor(right / 2)) + 1, frame.first_x + frame.width - 1) - frame.first_x
        if left > right or first > last:
            below[:] = -1
            continue
        here[:] = -1
        start = (row - frame.first_y) * frame.width
        for place in range(first, last + 1):
            for k in range(space.offsets[start + place], space.offsets[start + place + 1]):
                if region[k] == wanted:
                    here[place] = k
                    break
            if here[place] < 0 and place > first and here[place - 1] >= 0:
                here[place] = space.links[here[place - 1], 2]
        for place in range(last, first - 1, -1):
            if here[place] < 0 and place < last and here[place + 1] >= 0:
                here[place] = space.links[here[place + 1], 0]
            if here[place] < 0 and below[place] >= 0:
                here[place] = space.links[below[place], 3]
            if here[place] >= 0 and row % step == 0 and place % step == 0 and used < where.shape[0]:
                where[used, 0], where[used, 1] = 2 * (place + frame.first_x) + 1, 2 * row + 1
                ground[used] = space.ground[here[place]]
                used += 1
            if here[place] >= 0:
                lowest = min(lowest, row)
        if row == lowest:
            for place in range(frame.width):
                bottom[place] = here[place]
        here, below = below, here
    # Rows below the lowest with a span are reached from there.
    for row in range(lowest - 1, max(low_y // 2 - 1, frame.first_y) - 1, -1):
        for place in range(frame.width):
            if bottom[place] >= 0:
                bottom[place] = space.links[bottom[place], 1]
            if bottom[place] >= 0 and row % step == 0 and place % step == 0 and used < where.shape[0]:
                where[used, 0], where[used, 1] = 2 * (place + frame.first_x) + 1, 2 * row + 1
                ground[used] = space.ground[bottom[place]]
                used += 1
    return used


@inline
def _fits(xy, z, count, where, ground, samples, tolerance):
    """Whether a fan over a polygon's corners is within `tolerance` of every sample."""
    for s in range(samples):
        x, y = where[s, 0], where[s, 1]
        best, off = -np.inf, 0.0
        for k in range(1, count - 1):
            area = float(_turn(xy, 0, k, k + 1))
            if area <= 0.0:
                continue
            px, py = x - xy[0, 0], y - xy[0, 1]
            second = (px * (xy[k + 1, 1] - xy[0, 1]) - py * (xy[k + 1, 0] - xy[0, 0])) / area
            third = ((xy[k, 0] - xy[0, 0]) * py - (xy[k, 1] - xy[0, 1]) * px) / area
            deep = min(second, min(third, 1.0 - second - third))
            if deep > best:
                best = deep
                off = abs(z[0] + second * (z[k] - z[0]) + third * (z[k + 1] - z[0]) - ground[s])
        if off > tolerance:
            return False
    return True


@inline
def _outside(xy, corners, count, triangle):
    """Whether a triangle lies beyond one of the polygon's edges."""
    for k in range(count):
        a, b = corners + k, corners + (k + 1 if k + 1 < count else 0)
        beyond = True
        for j in range(3):
            if _turn(xy, a, b, triangle[j]) > 0:
                beyond = False
        if beyond:
            return True
    return False


@inline
def _hang(s, error, t, head, chain, worst, off):
    """Put sample `s` on the chain of triangle `t`, and remember it if it is the farthest from the triangle so far."""
    chain[s] = head[t]
    head[t] = s
    if error > off[t]:
        worst[t], off[t] = s, error


@inline
def _wedge(xy, z, triangle, wedge):
    """Of a triangle whose last corner is a new point, seen from there: both sides, then how its plane rises along x, y.

    Whole numbers below 2^53 are exact as floats.
    """
    a, b, point = triangle[0], triangle[1], triangle[2]
    ux, uy, uz = float(xy[a, 0] - xy[point, 0]), float(xy[a, 1] - xy[point, 1]), z[a] - z[point]
    vx, vy, vz = float(xy[b, 0] - xy[point, 0]), float(xy[b, 1] - xy[point, 1]), z[b] - z[point]
    area = ux * vy - uy * vx
    wedge[0], wedge[1], wedge[2], wedge[3] = ux, uy, vx, vy
    wedge[4], wedge[5] = (uz * vy - vz * uy) / area, (ux * vz - vx * uz) / area


@inline
def _share(xy, z, point, wedges, count, places, loose, where, ground, head, chain, worst, off):
    """Give the samples of a chain to the triangles around a new point, `places` (count,), whose wedges they lie in."""
    x, y, height = xy[point, 0], xy[point, 1], z[point]
    while loose >= 0:
        s = loose
        loose = chain[s]
        dx, dy = float(where[s, 0] - x), float(where[s, 1] - y)
        for k in range(count):
            if wedges[k, 0] * dy >= wedges[k, 1] * dx and wedges[k, 2] * dy <= wedges[k, 3] * dx:
                error = abs(height + wedges[k, 4] * dx + wedges[k, 5] * dy - ground[s])
                _hang(s, error, places[k], head, chain, worst, off)
                break


@kernel_with_memory
def detail_surfaces(mesh, regions, space, region, frame, tolerance):
    """Points and triangles of every polygon whose corners alone are more than `tolerance` metres off the ground.

    `mesh` is the tile's Mesh, `regions` the region of each polygon.
    """
    count = regions.size
    where = np.empty((4 * _MOST_SAMPLES, 2), np.int64)
    ground = np.empty(4 * _MOST_SAMPLES, np.float32)
    chain = np.empty(4 * _MOST_SAMPLES, np.int32)
    room = 256
    xy = np.empty((room, 2), np.int64)
    z = np.empty(room)
    triangles = np.empty((2 * room, 3), np.int32)
    rim = np.empty((2 * room, 2), np.int32)
    dead = np.empty(2 * room, np.int32)
    head = np.empty(2 * room, np.int32)
    worst = np.empty(2 * room, np.int32)
    off = np.empty(2 * room)
    wedges = np.empty((2 * room, 6))
    point_offsets = np.zeros(count + 1, np.int32)
    triangle_offsets = np.zeros(count + 1, np.int32)
    all_xy = np.empty((64, 2), np.int32)
    all_z = np.empty(64, np.float32)
    all_triangles = np.empty((64, 3), np.int32)
    here = np.empty(frame.width, np.int32)
    below = np.empty(frame.width, np.int32)
    bottom = np.empty(frame.width, np.int32)
    for polygon in range(count):
        first, last = mesh.offsets[polygon], mesh.offsets[polygon + 1]
        corners = last - first
        if corners + _FRAME + 1 > room:
            room = 2 * (corners + _FRAME + 1)
            xy, z = np.empty((room, 2), np.int64), np.empty(room)
            triangles, rim, dead = (
                np.empty((2 * room, 3), np.int32),
                np.empty((2 * room, 2), np.int32),
                np.empty(2 * room, np.int32),
            )
            head, worst, off = np.empty(2 * room, np.int32), np.empty(2 * room, np.int32), np.empty(2 * room)
            wedges = np.empty((2 * room, 6))
        for k in range(corners):
            vertex = mesh.vertices[first + k]
            xy[k, 0], xy[k, 1] = 2 * mesh.x[vertex], 2 * mesh.y[vertex]
            z[k] = mesh.z[vertex]
        samples = _samples(space, region, frame, xy, corners, regions[polygon], where, ground, here, below, bottom)
        point_offsets[polygon + 1] = point_offsets[polygon]
        triangle_offsets[polygon + 1] = triangle_offsets[polygon]
        if _fits(xy, z, corners, where, ground, samples, tolerance):
            continue
        # A frame around polygon and samples, cut in two, takes the corners; so the rim is between samples everywhere.
        low_x, high_x, low_y, high_y = xy[0, 0], xy[0, 0], xy[0, 1], xy[0, 1]
        mean = 0.0
        for k in range(corners - 1, -1, -1):
            low_x, high_x = min(low_x, xy[k, 0]), max(high_x, xy[k, 0])
            low_y, high_y = min(low_y, xy[k, 1]), max(high_y, xy[k, 1])
            mean += z[k] / corners
            xy[k + _FRAME, 0], xy[k + _FRAME, 1], z[k + _FRAME] = xy[k, 0], xy[k, 1], z[k]
        low_x, high_x, low_y, high_y = low_x - 8, high_x + 8, low_y - 8, high_y + 8
        xy[0, 0], xy[0, 1], xy[1, 0], xy[1, 1] = low_x, low_y, high_x, low_y
        xy[2, 0], xy[2, 1], xy[3, 0], xy[3, 1] = high_x, high_y, low_x, high_y
        z[:_FRAME] = mean
        triangles[0, 0], triangles[0, 1], triangles[0, 2] = 0, 1, 2
        triangles[1, 0], triangles[1, 1], triangles[1, 2] = 0, 2, 3
        used, points = 2, _FRAME
        for _ in range(corners):
            _, _, used = _insert(xy, triangles, used, points, rim, dead)
            points += 1
        # Each triangle holds a chain of its samples and knows the one that is worst.
        for t in range(used):
            head[t], worst[t], off[t] = -1, -1, tolerance
        t = 0
        for s in range(samples):
            x, y = where[s, 0], where[s, 1]
            for _ in range(used):
                if _holds(xy, triangles[t], x, y):
                    _hang(s, abs(_height(xy, z, triangles[t], x, y) - ground[s]), t, head, chain, worst, off)
                    break
                t = t + 1 if t + 1 < used else 0  # the next sample is mostly in the same triangle
        while True:
            largest = -1
            for t in range(used):
                if worst[t] >= 0 and (largest < 0 or off[t] > off[largest]):
                    largest = t
            if largest < 0:
                break
            if points == room:
                room *= 2
                more_xy = np.empty((room, 2), np.int64)
                more_z = np.empty(room)
                more_triangles = np.empty((2 * room, 3), np.int32)
                more_head = np.empty(2 * room, np.int32)
                more_worst = np.empty(2 * room, np.int32)
                more_off = np.empty(2 * room)
                more_xy[:points] = xy
                more_z[:points] = z
                more_triangles[:used] = triangles[:used]
                more_head[:used] = head[:used]
                more_worst[:used] = worst[:used]
                more_off[:used] = off[:used]
                xy, z, triangles, head, worst, off = more_xy, more_z, more_triangles, more_head, more_worst, more_off
                rim = np.empty((2 * room, 2), np.int32)
                dead = np.empty(2 * room, np.int32)
                wedges = np.empty((2 * room, 6))
            s = worst[largest]
            xy[points, 0], xy[points, 1] = where[s, 0], where[s, 1]
            z[points] = ground[s]
            gone, fresh, used = _insert(xy, triangles, used, points, rim, dead)
            points += 1
            loose = -1
            for k in range(gone):
                s = head[dead[k]]
                while s >= 0:
                    after = chain[s]
                    chain[s] = loose
                    loose = s
                    s = after
            for k in range(fresh):
                head[dead[k]], worst[dead[k]], off[dead[k]] = -1, -1, tolerance
                _wedge(xy, z, triangles[dead[k]], wedges[k])
            _share(xy, z, points - 1, wedges, fresh, dead, loose, where, ground, head, chain, worst, off)
        kept = 0
        for t in range(used):
            if not _outside(xy, _FRAME, corners, triangles[t]):
                triangles[kept, 0], triangles[kept, 1], triangles[kept, 2] = (
                    triangles[t, 0],
                    triangles[t, 1],
                    triangles[t, 2],
                )
                kept += 1
        used = kept
        # Only the points that are left in a triangle.
        number = np.full(points, -1, np.int32)
        held = 0
        for t in range(used):
            for k in range(3):
                point = triangles[t, k]
                if number[point] < 0:
                    number[point] = held
                    held += 1
                triangles[t, k] = number[point]
        start, begin = point_offsets[polygon], triangle_offsets[polygon]
        if start + held > len(all_xy):
            grown_xy = np.empty((2 * (start + held), 2), np.int32)
            grown_z = np.empty(2 * (start + held), np.float32)
            grown_xy[:start] = all_xy[:start]
            grown_z[:start] = all_z[:start]
            all_xy, all_z = grown_xy, grown_z
        if begin + used > len(all_triangles):
            grown = np.empty((2 * (begin + used), 3), np.int32)
            grown[:begin] = all_triangles[:begin]
            all_triangles = grown
        for k in range(points):
            if number[k] >= 0:
                at = start + number[k]
                all_xy[at, 0], all_xy[at, 1], all_z[at] = xy[k, 0], xy[k, 1], z[k]
        all_triangles[begin : begin + used] = triangles[:used]
        point_offsets[polygon + 1] = start + held
        triangle_offsets[polygon + 1] = begin + used
    return Detail(
        point_offsets,
        all_xy[: point_offsets[count]].copy(),
        all_z[: point_offsets[count]].copy(),
        triangle_offsets,
        all_triangles[: triangle_offsets[count]].copy(),
    )
