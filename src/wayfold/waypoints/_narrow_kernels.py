# mypy: ignore-errors
"""Where free space is narrow: balls that touch a surface on one side and something else on another.

A ball that touches a surface at a point is made smaller until nothing is inside it any more (Ma et al. 2012, *3D medial
axis point approximation using nearest neighbors and the normal field*). Its middle is then as far from one side of an
opening as from the other.
"""

import math

from wayfold.core.jit import helper, inline, kernel
from wayfold.geometry._bvh_kernels import nearest_triangle
from wayfold.geometry._kernels import along, dot, subtract
from wayfold.waypoints._kernels import enclosed, in_block, kind_of

_TOUCH = 1e-3  # of a radius: what is nearer to the surface of a ball touches it
_LEAST = 0.97  # of the wanted radius: smaller balls are in corners
_TURNS = 10  # times that a ball is made smaller
_OPPOSITE = 0.25  # cosine: balls that are held on both sides, and cannot grow by moving away from what they touch
_SMALL = 0.05  # of the wanted radius: balls that may still get to where there is more room
_MOVES = 14  # times that a ball moves
_HELD = 0.1  # of a radius: how well a ball is in the middle
_ENOUGH = 0.95  # of the radius of a ball: room on a face beside it
_EASY = 1.2  # of the radius of a body: room for it on a face
_OPEN = 1.5  # of the wanted radius: how far the next ball along an edge is from one that nothing holds
_GROWTH = 0.6  # of the growth away from both sides that says that there is room


@helper
def contact(world, body, p, reach):
    """Nearest point to a body at `p`, up to `reach` metres from its axis: (distance or inf, point as the ball sees it).

    An upright body is a row of balls; what the upper ones are near to is as far below them.
    """
    best, where = reach * reach, p
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
    reach = most
    other = spot
    for _ in range(_TURNS):
        away, point = contact(world, body, along(spot, way, reach), reach * (1.0 - _TOUCH))
        if away == math.inf:
            return (math.inf if reach == most else reach), other
        other = point
        side = subtract(point, spot)
        facing = 2.0 * dot(side, way)
        if facing <= 0.0:
            return 0.0, other
        smaller = dot(side, side) / facing
        if smaller >= reach * (1.0 - _TOUCH):
            return reach, other
        reach = smaller
        if reach < least:
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
    """Move the balls `first` to `last` to where a body has most room near them on planes across `axis`.

    `levels` (k,) float64 is the plane of each; `centres` (k, 3) float64 and `fits` (k,) bool are set. Places as far
    from the middle as the radius are looked at, then closer ones around the best.
    """
    u, v = (axis + 1) % 3, (axis + 2) % 3
    for row in range(first, last):
        radius = radii[row]
        centres[row, axis] = levels[row]
        best, _ = contact(world, body, (centres[row, 0], centres[row, 1], centres[row, 2]), radius)
        # Where there is as much room as in the ball itself, or enough for the body, no other place is looked for.
        half, spacing = 2, 0.5 * radius if best < min(_ENOUGH * radius, _EASY * body.radius) else 0.0
        while spacing > 0.1 * radius:
            middle_u, middle_v = centres[row, u], centres[row, v]
            for place in range((2 * half + 1) ** 2):
                along_u = middle_u + spacing * (place // (2 * half + 1) - half)
                along_v = middle_v + spacing * (place % (2 * half + 1) - half)
                p = (
                    levels[row] if axis == 0 else along_u if u == 0 else along_v,
                    levels[row] if axis == 1 else along_u if u == 1 else along_v,
                    levels[row] if axis == 2 else along_u if u == 2 else along_v,
                )
                away, _ = contact(world, body, p, 1.3 * radius)
                away = min(away, 1.3 * radius)
                if away > best and not in_block(world, p):
                    best = away
                    centres[row, u], centres[row, v] = along_u, along_v
            half, spacing = 1, 0.5 * spacing
        p = centres[row, 0], centres[row, 1], centres[row, 2]
        fits[row] = best > body.radius and kind_of(world, body, p) != 0


@kernel
def outside(world, places, first, last, result):
    """Set `result` (k,) bool of rows `first` to `last`: whether `places` (k, 3) float64 are not in solids."""
    for row in range(first, last):
        result[row] = not enclosed(world, (places[row, 0], places[row, 1], places[row, 2]))
