"""Slow, obvious answers to geometric questions, in exact fractions; shares no code with the package."""

from fractions import Fraction
from itertools import pairwise


def exact(point):
    return tuple(Fraction(x) for x in point)


def sub(a, b):
    return tuple(x - y for x, y in zip(a, b, strict=True))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def at(a, b, t):
    return tuple(x + t * (y - x) for x, y in zip(a, b, strict=True))


def sign(x):
    return (x > 0) - (x < 0)


def closed(ring):
    return [*ring, ring[0]]


def orientation(a, b, c):
    a, b, c = exact(a), exact(b), exact(c)
    return sign((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def on_segment_2d(p, a, b):
    return orientation(a, b, p) == 0 and all(min(s, t) <= x <= max(s, t) for x, s, t in zip(p, a, b, strict=True))


def in_polygon(ring, p):
    """On an edge, or an odd number of edges to the right."""
    if any(on_segment_2d(p, a, b) for a, b in pairwise(closed(ring))):
        return True
    (x, y), odd = exact(p), False
    for a, b in pairwise(closed([exact(corner) for corner in ring])):
        if (a[1] > y) != (b[1] > y) and a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]) > x:
            odd = not odd
    return odd


def polygon_area_twice(ring):
    return sum(a[0] * b[1] - a[1] * b[0] for a, b in pairwise(closed([exact(corner) for corner in ring])))


def is_convex(ring):
    """All corners on one side of each edge, some area, and no way walked twice."""
    edges = list(pairwise(closed(ring)))
    sides = {orientation(a, b, c) for a, b in edges for c in ring} - {0}
    if len(sides) != 1:
        return False
    for axis in (0, 1):
        coordinates = [Fraction(corner[axis]) for corner in ring]
        if sum(abs(b - a) for a, b in pairwise(closed(coordinates))) != 2 * (max(coordinates) - min(coordinates)):
            return False
    return True


def segments_meet(a, b, c, d):
    """0 apart, 1 touching or overlapping, 2 crossing inside both."""
    if orientation(a, b, c) * orientation(a, b, d) < 0 and orientation(c, d, a) * orientation(c, d, b) < 0:
        return 2
    ends = [(a, c, d), (b, c, d), (c, a, b), (d, a, b)]
    return 1 if any(on_segment_2d(*end) for end in ends) else 0


def least(linear, square):
    """The t in [0, 1] that makes ``square t^2 + 2 linear t`` least, for square >= 0."""
    if square == 0:
        return Fraction(0) if linear >= 0 else Fraction(1)
    return min(max(-linear / square, Fraction(0)), Fraction(1))


def point_segment2(p, a, b):
    p, a, b = exact(p), exact(a), exact(b)
    edge, gap = sub(b, a), sub(a, p)
    foot = at(a, b, least(dot(edge, gap), dot(edge, edge)))
    return dot(sub(p, foot), sub(p, foot))


def segment_segment2(p, q, r, s):
    """Squared distance: least on the border of the square of both parameters, or where the gradient is 0."""
    p, q, r, s = exact(p), exact(q), exact(r), exact(s)
    best = min(point_segment2(p, r, s), point_segment2(q, r, s), point_segment2(r, p, q), point_segment2(s, p, q))
    d, e, gap = sub(q, p), sub(s, r), sub(p, r)
    determinant = dot(d, d) * dot(e, e) - dot(d, e) ** 2
    if determinant:
        t = (dot(d, e) * dot(e, gap) - dot(e, e) * dot(d, gap)) / determinant
        u = (dot(d, d) * dot(e, gap) - dot(d, e) * dot(d, gap)) / determinant
        if 0 <= t <= 1 and 0 <= u <= 1:
            away = sub(at(p, q, t), at(r, s, u))
            best = min(best, dot(away, away))
    return best


def weights(p, a, b, c):
    """Barycentric numbers of the foot of `p` on the plane of a triangle; None without area."""
    a, b, c, p = exact(a), exact(b), exact(c), exact(p)
    normal = cross(sub(b, a), sub(c, a))
    size = dot(normal, normal)
    if size == 0:
        return None
    v = dot(cross(sub(p, a), sub(c, a)), normal) / size
    w = dot(cross(sub(b, a), sub(p, a)), normal) / size
    return (1 - v - w, v, w)


def point_triangle2(p, triangle):
    a, b, c = (exact(corner) for corner in triangle)
    best = min(point_segment2(p, a, b), point_segment2(p, b, c), point_segment2(p, c, a))
    share = weights(p, a, b, c)
    if share is not None and min(share) >= 0:
        normal = cross(sub(b, a), sub(c, a))
        best = min(best, dot(sub(exact(p), a), normal) ** 2 / dot(normal, normal))
    return best


def ray_triangle(origin, direction, triangle):
    """(t, least weight of a corner where the ray meets the plane); None for a ray in or along the plane."""
    origin, direction = exact(origin), exact(direction)
    a, b, c = (exact(corner) for corner in triangle)
    normal = cross(sub(b, a), sub(c, a))
    slope = dot(direction, normal)
    if slope == 0:
        return None
    t = dot(sub(a, origin), normal) / slope
    point = tuple(x + t * y for x, y in zip(origin, direction, strict=True))
    return t, min(weights(point, a, b, c))


def segment_triangle2(p, q, triangle):
    hit = ray_triangle(p, sub(exact(q), exact(p)), triangle)
    if hit is not None and 0 <= hit[0] <= 1 and hit[1] >= 0:
        return Fraction(0)
    a, b, c = triangle
    edges = [segment_segment2(p, q, a, b), segment_segment2(p, q, b, c), segment_segment2(p, q, c, a)]
    return min(*edges, point_triangle2(p, triangle), point_triangle2(q, triangle))


def triangle_touches_box(triangle, low, high):
    """Cut the triangle by the six sides of the box; something is left when they touch."""
    polygon = [exact(corner) for corner in triangle]
    for axis in range(3):
        for bound, side in ((Fraction(low[axis]), 1), (Fraction(high[axis]), -1)):
            kept = []
            for a, b in pairwise(closed(polygon)):
                here, there = side * (a[axis] - bound), side * (b[axis] - bound)
                if here >= 0:
                    kept.append(a)
                if here * there < 0:
                    kept.append(at(a, b, here / (here - there)))
            polygon = kept
            if not polygon:
                return False
    return True
