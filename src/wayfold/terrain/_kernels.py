# mypy: ignore-errors
"""The triangulated plane as kernels see it: where a point lies, and what a straight line costs.

Half-edge ``3 * t + k`` runs from corner k of triangle t to the next corner, with the triangle on its left; its twin
is the same edge seen from the other side. The weight of a point is the lowest of the triangles around it, as the paper
has it for edges (Tibboel 2012, section 4.1); infinity is an obstacle.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline, kernel
from wayfold.geometry.chain_kernels import place
from wayfold.geometry.predicate_kernels import orientation


class Triangulation(NamedTuple):
    """Triangles, counter-clockwise, that cover the map without overlap, and a grid of buckets to find them by."""

    vertices: np.ndarray  # (n, 2) float64
    triangles: np.ndarray  # (m, 3) int32
    twins: np.ndarray  # (3 m,) int32, -1 at the border
    buckets: np.ndarray  # (columns * rows + 1,) int64, row bounds of `inside`
    inside: np.ndarray  # (k,) int32, triangles whose box meets a bucket
    frame: np.ndarray  # (5,) float64: least x, least y, bucket side, columns, rows
    pinches: np.ndarray  # (p, 2) float64, where parts of the map touch each other in one point only


class WalkScratch(NamedTuple):
    """Intervals of a line inside triangles; grown by the caller when a kernel says that they are too small."""

    first: np.ndarray  # (capacity,) float64
    last: np.ndarray  # (capacity,) float64
    wide: np.ndarray  # (capacity, 2) float64, the same with slack
    weight: np.ndarray  # (capacity,) float64
    cuts: np.ndarray  # (4 capacity + 2,) float64


@inline
def column_of(frame, x):
    """Column of buckets of a coordinate, clamped to the grid."""
    return int(min(max((x - frame[0]) / frame[2], 0.0), frame[3] - 1.0))


@inline
def row_of(frame, y):
    """Row of buckets of a coordinate, clamped to the grid."""
    return int(min(max((y - frame[1]) / frame[2], 0.0), frame[4] - 1.0))


@kernel
def count_in_buckets(vertices, triangles, frame, counts):
    """Count for each bucket, at position bucket + 1, the triangles whose box meets it."""
    for t in range(triangles.shape[0]):
        c0, c1, r0, r1 = span(vertices, triangles, frame, t)
        for row in range(r0, r1 + 1):
            for column in range(c0, c1 + 1):
                counts[row * int(frame[3]) + column + 1] += 1


@kernel
def fill_buckets(vertices, triangles, frame, index, inside):
    """Write the triangles of each bucket; `index` (buckets,) int64 begins as the bounds and is moved on."""
    for t in range(triangles.shape[0]):
        c0, c1, r0, r1 = span(vertices, triangles, frame, t)
        for row in range(r0, r1 + 1):
            for column in range(c0, c1 + 1):
                bucket = row * int(frame[3]) + column
                inside[index[bucket]] = t
                index[bucket] += 1


@inline
def span(vertices, triangles, frame, t):
    """Columns and rows of buckets that the box of a triangle meets."""
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    low_x = min(vertices[a, 0], vertices[b, 0], vertices[c, 0])
    high_x = max(vertices[a, 0], vertices[b, 0], vertices[c, 0])
    low_y = min(vertices[a, 1], vertices[b, 1], vertices[c, 1])
    high_y = max(vertices[a, 1], vertices[b, 1], vertices[c, 1])
    return column_of(frame, low_x), column_of(frame, high_x), row_of(frame, low_y), row_of(frame, high_y)


@kernel
def turns(vertices, triangles, found):
    """Orientation of each triangle, to `found` (m,) int8: 1 counter-clockwise, -1 clockwise, 0 without area; exact."""
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        found[t] = orientation(
            vertices[a, 0], vertices[a, 1], vertices[b, 0], vertices[b, 1], vertices[c, 0], vertices[c, 1]
        )


@inline
def side(vertices, a, b, x, y):
    """Distance of a point from the line through two vertices, positive on its left."""
    ux, uy = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1]
    length = np.sqrt(ux * ux + uy * uy)
    if length == 0.0:
        return 0.0
    # From the nearer end, where the rounding is least.
    if (x - vertices[a, 0]) * ux + (y - vertices[a, 1]) * uy <= 0.5 * length * length:
        return (ux * (y - vertices[a, 1]) - uy * (x - vertices[a, 0])) / length
    return (ux * (y - vertices[b, 1]) - uy * (x - vertices[b, 0])) / length


@inline
def point_gap(px, py, ax, ay, bx, by):
    """Distance of a point from a segment."""
    dx, dy = bx - ax, by - ay
    square = dx * dx + dy * dy
    share = 0.0
    if square > 0.0:
        share = min(max(((px - ax) * dx + (py - ay) * dy) / square, 0.0), 1.0)
    return np.sqrt((ax + share * dx - px) ** 2 + (ay + share * dy - py) ** 2)


@inline
def triangle_gap(mesh, t, x, y, most):
    """Distance of a point from a triangle, exactly 0 inside and on the border; infinite if certainly above `most`."""
    a, b, c = mesh.triangles[t, 0], mesh.triangles[t, 1], mesh.triangles[t, 2]
    ax, ay = mesh.vertices[a, 0], mesh.vertices[a, 1]
    bx, by = mesh.vertices[b, 0], mesh.vertices[b, 1]
    cx, cy = mesh.vertices[c, 0], mesh.vertices[c, 1]
    beside = max(min(ax, bx, cx) - x, x - max(ax, bx, cx), min(ay, by, cy) - y, y - max(ay, by, cy))
    if beside > most:
        return np.inf
    outside = False
    px, py = ax, ay
    for k in range(3):
        qx, qy = (bx, by) if k == 0 else ((cx, cy) if k == 1 else (ax, ay))
        outside = outside or orientation(px, py, qx, qy, x, y) < 0
        px, py = qx, qy
    if not outside:
        return 0.0
    return min(point_gap(x, y, ax, ay, bx, by), point_gap(x, y, bx, by, cx, cy), point_gap(x, y, cx, cy, ax, ay))


@inline
def find(mesh, weights, x, y, slack):
    """The triangle at a point, the lightest of those at most `slack` away; -1 outside the map."""
    best = -1
    frame = mesh.frame
    bucket = row_of(frame, y) * int(frame[3]) + column_of(frame, x)
    for index in range(mesh.buckets[bucket], mesh.buckets[bucket + 1]):
        t = mesh.inside[index]
        if (best < 0 or weights[t] < weights[best]) and triangle_gap(mesh, t, x, y, slack) <= slack:
            best = t
    return best


@kernel
def locate(mesh, weights, points, slack, found):
    """Write the triangle of each point (q, 2) to `found` (q,) int32; see `find`."""
    for q in range(points.shape[0]):
        found[q] = find(mesh, weights, points[q, 0], points[q, 1], slack)


@inline
def clip(mesh, t, ax, ay, bx, by, slack):
    """Part of the segment from a to b that lies in a triangle: two shares of it, then two with `slack` on all sides.

    The first of two is larger if there is no such part. With slack the triangle is wider by as much, and no more at its
    tips, however thin it is. Without, it ends at the very edge that it ends at with slack: a segment that leaves an
    edge at a small angle leaves it at once, one that runs along an edge as far as that goes is on it all the way.
    """
    first, last = 0.0, 1.0
    wide_first, wide_last = 0.0, 1.0
    low_x, low_y, high_x, high_y = np.inf, np.inf, -np.inf, -np.inf
    for k in range(7):
        if k < 3:
            u, v = mesh.triangles[t, k], mesh.triangles[t, (k + 1) % 3]
            low_x, high_x = min(low_x, mesh.vertices[u, 0]), max(high_x, mesh.vertices[u, 0])
            low_y, high_y = min(low_y, mesh.vertices[u, 1]), max(high_y, mesh.vertices[u, 1])
            begin = side(mesh.vertices, u, v, ax, ay)
            end = side(mesh.vertices, u, v, bx, by)
        elif k == 3:
            begin, end = ax - low_x, bx - low_x
        elif k == 4:
            begin, end = high_x - ax, high_x - bx
        elif k == 5:
            begin, end = ay - low_y, by - low_y
        else:
            begin, end = high_y - ay, high_y - by
        if begin < -slack and end < -slack:
            return 1.0, 0.0, 1.0, 0.0
        if begin < -slack:
            share = (begin + slack) / (begin - end)
            if share > wide_first:
                wide_first = share
                first = begin / (begin - end) if end > 0.0 else 1.0
        elif end < -slack:
            share = (begin + slack) / (begin - end)
            if share < wide_last:
                wide_last = share
                last = begin / (begin - end) if begin > 0.0 else 0.0
    return first, last, wide_first, wide_last


@inline
def sort(values, count):
    """Sort the first values in place (insertion: they are few and nearly in order)."""
    for i in range(1, count):
        value = values[i]
        j = i - 1
        while j >= 0 and values[j] > value:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = value


@inline
def extreme(first, last, weight, count, middle, highest):
    """The lowest (or highest) weight of the intervals that cover a share; -1 where none does."""
    best = -1.0
    for j in range(count):
        if first[j] <= middle <= last[j] and (best < 0.0 or (weight[j] > best if highest else weight[j] < best)):
            best = weight[j]
    return best


@helper
def _mean(scratch, count, highest, narrow, with_wide):
    """The mean of `envelope`; -1 where it takes the wide intervals and they are not asked for."""
    cuts = scratch.cuts
    cuts[0], cuts[1] = 0.0, 1.0
    many = 2
    for i in range(count):
        cuts[many], cuts[many + 1] = scratch.first[i], scratch.last[i]
        many += 2
        if with_wide:
            cuts[many], cuts[many + 1] = scratch.wide[i, 0], scratch.wide[i, 1]
            many += 2
    sort(cuts, many)
    total = 0.0
    for i in range(many - 1):
        share = cuts[i + 1] - cuts[i]
        if share <= 0.0:
            continue
        middle = 0.5 * (cuts[i] + cuts[i + 1])
        best = extreme(scratch.first, scratch.last, scratch.weight, count, middle, highest)
        if not 0.0 <= best < np.inf:
            if not with_wide:
                return -1.0
            best = extreme(scratch.wide[:, 0], scratch.wide[:, 1], scratch.weight, count, middle, highest)
        if best < 0.0:
            if share < narrow:
                continue
            best = np.inf
        total += share * best
    return total


@helper
def envelope(scratch, count, highest, narrow):
    """Mean over the segment of the lowest (or highest) weight of the intervals that cover a place.

    Where none does, or an obstacle, the wide ones count. Infinite where none of those does either, unless that is a gap
    of less than `narrow`: the rounding of a shared edge.
    """
    total = _mean(scratch, count, highest, narrow, False)
    return total if total >= 0.0 else _mean(scratch, count, highest, narrow, True)


@helper
def segment_cost(mesh, weights, ax, ay, bx, by, slack, scratch):
    """Cost of a straight segment, infinite through obstacles and off the map; -1 when the scratch is too small."""
    length = np.sqrt((bx - ax) ** 2 + (by - ay) ** 2)
    if length == 0.0:
        return 0.0
    frame = mesh.frame
    count = 0
    c0, c1 = column_of(frame, min(ax, bx) - slack), column_of(frame, max(ax, bx) + slack)
    for column in range(c0, c1 + 1):
        # The rows that the segment passes within this column of buckets.
        low = frame[0] + column * frame[2] - slack
        high = low + frame[2] + 2.0 * slack
        if abs(bx - ax) > 1e-12 * length:
            s0 = min(max((low - ax) / (bx - ax), 0.0), 1.0)
            s1 = min(max((high - ax) / (bx - ax), 0.0), 1.0)
        else:
            s0, s1 = 0.0, 1.0
        y0, y1 = ay + s0 * (by - ay), ay + s1 * (by - ay)
        r0, r1 = row_of(frame, min(y0, y1) - slack), row_of(frame, max(y0, y1) + slack)
        for row in range(r0, r1 + 1):
            bucket = row * int(frame[3]) + column
            for index in range(mesh.buckets[bucket], mesh.buckets[bucket + 1]):
                t = mesh.inside[index]
                # A triangle that spans several buckets is counted in the first of them that it shares with the line.
                first, last, wide_first, wide_last = clip(mesh, t, ax, ay, bx, by, slack)
                if wide_last <= wide_first:
                    continue
                known = False
                for j in range(count):
                    if (
                        scratch.wide[j, 0] == wide_first
                        and scratch.wide[j, 1] == wide_last
                        and scratch.first[j] == first
                        and scratch.last[j] == last
                        and scratch.weight[j] == weights[t]
                    ):
                        known = True
                        break
                if known:
                    continue
                if count == scratch.first.size - 1:
                    return -1.0
                scratch.first[count] = first
                scratch.last[count] = last
                scratch.wide[count, 0] = wide_first
                scratch.wide[count, 1] = wide_last
                scratch.weight[count] = weights[t]
                count += 1
    return length * envelope(scratch, count, False, 8.0 * slack / length)


@inline
def copy_point(source, i, out, j):
    """Copy one point and the triangle of its leg."""
    out.a[j] = source.a[i]
    out.b[j] = source.b[i]
    out.share[j] = source.share[i]
    out.tri[j] = source.tri[i]
    out.x[j] = source.x[i]
    out.y[j] = source.y[i]
    out.fresh[j] = source.fresh[i]


@inline
def same_place(chain, i, j, near):
    """Whether two points are one: within `near` of each other, and on the same edge or at the same vertex.

    Points of different edges may be as near to each other in a thin triangle, and are two crossings all the same.
    """
    gap = np.hypot(chain.x[i] - chain.x[j], chain.y[i] - chain.y[j])
    if chain.a[i] < 0 or chain.a[j] < 0:
        return gap <= 0.01 * near
    straight = chain.a[i] == chain.a[j] and chain.b[i] == chain.b[j]
    return gap <= near and (straight or (chain.a[i] == chain.b[j] and chain.b[i] == chain.a[j]))


@inline
def lighten(mesh, weights, chain, i, j):
    """Give the leg from point i to point j, if it runs along an edge, to the lighter triangle beside that edge."""
    p, q = chain.a[i], chain.b[i]
    if p < 0 or chain.a[j] < 0:
        return
    if p == q:
        q = chain.a[j] if chain.a[j] != p else chain.b[j]
    for v in (chain.a[j], chain.b[j]):
        if v != p and v != q:
            return
    t = chain.tri[i]
    for k in range(3):
        a, b = mesh.triangles[t, k], mesh.triangles[t, (k + 1) % 3]
        if (a == p and b == q) or (a == q and b == p):
            twin = mesh.twins[3 * t + k]
            if twin >= 0 and weights[twin // 3] < weights[t]:
                chain.tri[i] = twin // 3
            return


@helper
def tidy(mesh, weights, chain, count, near):
    """Put points within `near` of a vertex on it; drop legs without length and points between two legs of one triangle.

    Returns the number of points left.
    """
    vertices = mesh.vertices
    kept = 1
    for i in range(1, count):
        a, b = chain.a[i], chain.b[i]
        if a != b:
            length = np.hypot(vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1])
            if chain.share[i] * length <= near:
                chain.b[i] = a
                chain.share[i] = 0.0
            elif (1.0 - chain.share[i]) * length <= near:
                chain.a[i] = b
                chain.share[i] = 0.0
            place(vertices, chain, i)
        if i < count - 1 and same_place(chain, i, kept - 1, near):
            chain.tri[kept - 1] = chain.tri[i]
            continue
        lighten(mesh, weights, chain, kept - 1, i)
        while kept > 1 and chain.tri[kept - 2] == chain.tri[kept - 1]:
            kept -= 1  # a straight line through the triangle is at least as cheap
            lighten(mesh, weights, chain, kept - 1, i)
        copy_point(chain, i, chain, kept)
        kept += 1
    # The last point is the goal: an intermediate point on top of it goes.
    while kept > 2 and same_place(chain, kept - 1, kept - 2, near):
        copy_point(chain, kept - 1, chain, kept - 2)
        kept -= 1
    return kept
