# mypy: ignore-errors
"""Primitives in space, to be pasted into other kernels.

Points and directions are ``(x, y, z)`` tuples of float64, so that the compiler keeps them in registers; distances come
squared where the name ends in 2. All of them accept degenerate input: triangles without area, segments without
length. NaN is for the caller to keep out.
"""

import math

from wayfold.core.jit import inline

# Relative rounding of the separating-axis sums below is under 8 ulp; this is twice that.
_SLACK = 4e-15
# Below this squared sine between two edges the barycentric numbers of a triangle are noise.
_SLIVER = 1e-12
_EDGE_ON = 2.0**-46  # of two lengths: more than the rounding of the six products of a determinant
_TINY = 1e-280  # m^4: squares of smaller areas have lost digits, or all of them


@inline
def subtract(a, b):
    """The vector from `b` to `a`."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inline
def dot(a, b):
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def cross(a, b):
    """Vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inline
def along(a, direction, t):
    """The point ``a + t * direction``."""
    return a[0] + t * direction[0], a[1] + t * direction[1], a[2] + t * direction[2]


@inline
def distance2(a, b):
    """Squared distance of two points."""
    d = subtract(a, b)
    return dot(d, d)


@inline
def _rotate(p, axis):
    """`p` with its coordinates turned round so that coordinate `axis` comes last."""
    if axis == 0:
        return p[1], p[2], p[0]
    if axis == 1:
        return p[2], p[0], p[1]
    return p


@inline
def ray_frame(direction, length):
    """What `ray_triangle` needs of a ray's direction: (axis, shear x, shear y, scale).

    `axis` is the coordinate in which the direction is longest; the shears turn the ray into that axis. Parameters on
    the ray are counted so that the direction is `length` long: its true length gives metres, 1 gives multiples of it.
    """
    axis = 0
    if abs(direction[1]) > abs(direction[0]):
        axis = 1
    if abs(direction[2]) > max(abs(direction[0]), abs(direction[1])):
        axis = 2
    x, y, z = _rotate(direction, axis)
    return axis, x / z, y / z, length / z


@inline
def ray_triangle(origin, frame, a, b, c):
    """Parameter t >= 0 at which a ray from `origin` meets the closed triangle; infinity for none.

    `frame` is the `ray_frame` of its direction; one without length meets nothing, nor does a ray that lies in the plane
    of the triangle. This is the watertight test of Woop, Benthin and Wald (2013) in float64: each corner is sheared on
    its own, so two triangles see the same corner in the same place, and the sign of an edge function is either right or
    0 (rounding is monotonic), which counts as a hit. A ray through a shared edge or corner therefore hits at least one
    of the triangles around it.
    """
    axis, shear_x, shear_y, scale = frame
    a = _rotate(subtract(a, origin), axis)
    b = _rotate(subtract(b, origin), axis)
    c = _rotate(subtract(c, origin), axis)
    ax, ay = a[0] - shear_x * a[2], a[1] - shear_y * a[2]
    bx, by = b[0] - shear_x * b[2], b[1] - shear_y * b[2]
    cx, cy = c[0] - shear_x * c[2], c[1] - shear_y * c[2]
    u = cx * by - cy * bx
    v = ax * cy - ay * cx
    w = bx * ay - by * ax
    if (u < 0.0 or v < 0.0 or w < 0.0) and (u > 0.0 or v > 0.0 or w > 0.0):
        return math.inf
    determinant = u + v + w
    # A triangle that is seen edge-on has no sides but those that rounding gives it.
    most = max(abs(ax), abs(ay), abs(bx), abs(by), abs(cx), abs(cy))
    size = max(abs(a[0]), abs(a[1]), abs(a[2]), abs(b[0]), abs(b[1]), abs(b[2]), abs(c[0]), abs(c[1]), abs(c[2]))
    if abs(determinant) <= _EDGE_ON * most * size:
        return math.inf
    t = (u * a[2] + v * b[2] + w * c[2]) * scale / determinant
    return t if t >= 0.0 else math.inf


@inline
def segment_triangle(p, q, a, b, c):
    """Parameter t in [0, 1] at which the closed segment from `p` to `q` meets the closed triangle; infinity for none.

    As `ray_triangle`: a segment in the plane of the triangle does not meet it.
    """
    t = ray_triangle(p, ray_frame(subtract(q, p), 1.0), a, b, c)
    return t if t <= 1.0 else math.inf


@inline
def closest_on_segment(p, a, b):
    """The point of the segment from `a` to `b` that is nearest to `p`."""
    edge = subtract(b, a)
    length2 = dot(edge, edge)
    t = dot(subtract(p, a), edge)
    if t <= 0.0 or length2 == 0.0:
        return a
    if t >= length2:
        return b
    return along(a, edge, t / length2)


@inline
def point_over_triangle(p, a, b, c):
    """Foot of the perpendicular from `p` on the triangle: (whether it lies in it, whether it can be trusted, foot).

    The foot is a mean of the corners with weights >= 0, so that it is a point of the triangle whatever the rounding;
    for slivers it need not be the nearest one.
    """
    ab, ac, ap = subtract(b, a), subtract(c, a), subtract(p, a)
    normal = cross(ab, ac)
    size = dot(normal, normal)
    w = dot(cross(ab, ap), normal)
    v = dot(cross(ap, ac), normal)
    if not (size > 0.0 and v >= 0.0 and w >= 0.0 and v + w <= size):
        return False, False, a
    v /= size
    w /= size
    foot = along(along(a, ab, v), ac, w)
    return True, size > _SLIVER * dot(ab, ab) * dot(ac, ac) + _TINY, foot


@inline
def closest_on_triangle(p, a, b, c):
    """The point of the triangle that is nearest to `p`."""
    inside, trusted, best = point_over_triangle(p, a, b, c)
    if inside and trusted:
        return best
    least = distance2(p, best)
    near = closest_on_segment(p, a, b)
    away = distance2(p, near)
    if away < least:
        least, best = away, near
    near = closest_on_segment(p, b, c)
    away = distance2(p, near)
    if away < least:
        least, best = away, near
    near = closest_on_segment(p, c, a)
    if distance2(p, near) < least:
        best = near
    return best


@inline
def segment_segment2(p, q, r, s):
    """Squared distance of the segments from `p` to `q` and from `r` to `s`."""
    least = min(distance2(p, closest_on_segment(p, r, s)), distance2(q, closest_on_segment(q, r, s)))
    least = min(least, distance2(r, closest_on_segment(r, p, q)), distance2(s, closest_on_segment(s, p, q)))
    # Otherwise both nearest points are inside their segments, where both derivatives vanish. Close to parallel this
    # solution is inaccurate, but then an end point is as near.
    d, e, gap = subtract(q, p), subtract(s, r), subtract(p, r)
    dd, ee, de = dot(d, d), dot(e, e), dot(d, e)
    dg, eg = dot(d, gap), dot(e, gap)
    determinant = dd * ee - de * de
    if determinant > 0.0:
        t = (de * eg - ee * dg) / determinant
        u = (dd * eg - de * dg) / determinant
        if 0.0 < t < 1.0 and 0.0 < u < 1.0:
            least = min(least, distance2(along(p, d, t), along(r, e, u)))
    return least


@inline
def segment_triangle2(p, q, a, b, c):
    """Squared distance of the segment from `p` to `q` and the triangle; 0 where they cross."""
    if segment_triangle(p, q, a, b, c) <= 1.0:
        return 0.0
    least = min(segment_segment2(p, q, a, b), segment_segment2(p, q, b, c), segment_segment2(p, q, c, a))
    over, _, foot = point_over_triangle(p, a, b, c)
    if over:
        least = min(least, distance2(p, foot))
    over, _, foot = point_over_triangle(q, a, b, c)
    if over:
        least = min(least, distance2(q, foot))
    return least


@inline
def _apart(p, q, reach, slack):
    """Whether the interval of `p` and `q` lies outside ``[-reach, reach]`` by more than `slack`."""
    return min(p, q) > reach + slack or max(p, q) < -reach - slack


@inline
def _edge_parts(a, b, c, half, edge, slack):
    """Whether one of the three axes ``unit vector x edge`` parts a triangle from a box of half size `half` at 0.

    `a` and `b` are the ends of the edge, which project to one point: only one of them and `c` are looked at.
    """
    x, y, z = edge
    if _apart(a[2] * y - a[1] * z, c[2] * y - c[1] * z, half[1] * abs(z) + half[2] * abs(y), slack * (abs(y) + abs(z))):
        return True
    if _apart(a[0] * z - a[2] * x, c[0] * z - c[2] * x, half[0] * abs(z) + half[2] * abs(x), slack * (abs(x) + abs(z))):
        return True
    return _apart(
        b[1] * x - b[0] * y, c[1] * x - c[0] * y, half[0] * abs(y) + half[1] * abs(x), slack * (abs(x) + abs(y))
    )


@inline
def triangle_box(a, b, c, low, high):
    """Whether a triangle and the closed box from `low` to `high` share a point; touching counts.

    Separating axes (Akenine-Möller 2001). Where rounding could go either way the answer is yes, so that every triangle
    that touches is found; one that is further away than 1e-13 of the largest coordinate is never taken for one.
    """
    for k in range(3):
        if min(a[k], b[k], c[k]) > high[k] or max(a[k], b[k], c[k]) < low[k]:
            return False
    middle = 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2])
    half = 0.5 * (high[0] - low[0]), 0.5 * (high[1] - low[1]), 0.5 * (high[2] - low[2])
    size = 0.0
    for k in range(3):
        size = max(size, abs(low[k]), abs(high[k]), abs(a[k]), abs(b[k]), abs(c[k]))
    slack = _SLACK * size
    ab, bc, ca = subtract(b, a), subtract(c, b), subtract(a, c)
    a, b, c = subtract(a, middle), subtract(b, middle), subtract(c, middle)
    if _edge_parts(a, b, c, half, ab, slack):
        return False
    if _edge_parts(b, c, a, half, bc, slack):
        return False
    if _edge_parts(c, a, b, half, ca, slack):
        return False
    normal = cross(ab, bc)
    reach = half[0] * abs(normal[0]) + half[1] * abs(normal[1]) + half[2] * abs(normal[2])
    lengths = (abs(ab[0]) + abs(ab[1]) + abs(ab[2])) * (abs(bc[0]) + abs(bc[1]) + abs(bc[2]))
    return abs(dot(normal, a)) <= reach + slack * lengths
