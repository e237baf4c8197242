# mypy: ignore-errors
"""Refined routes: the exact optimum of a route's edge sequence, and of the sequences next to it."""

import numpy as np

from wayfold.core.jit import helper, inline, kernel
from wayfold.geometry._chain_kernels import chain_cost, place, reach, settle
from wayfold.terrain._chain_kernels import copy_point, tidy

FAN = 64  # triangles that a way round a vertex may cross
WINDOW = 24  # points on either side that may move when another way round a vertex is tried
ROUNDS = 12
GAIN = 1e-10  # relative gain that counts
STRAIGHT = 1e-9  # sine of an angle that counts as straight


@inline
def corner_of(mesh, t, v):
    """Which corner of a triangle a vertex is, -1 for none."""
    for k in range(3):
        if mesh.triangles[t, k] == v:
            return k
    return -1


@inline
def detour(mesh, weights, chain, at, hi, out, begin, clockwise):
    """Append to `out` the chain from vertex point `at` to `hi`, going round the vertex instead of through it.

    Returns the number of points in `out`, or -1 when there is no such way.
    """
    v = chain.a[at]
    t, last = chain.tri[at - 1], chain.tri[at]
    count = begin
    steps = 0
    while t != last:
        k = corner_of(mesh, t, v)
        if k < 0 or steps == FAN or count + 2 >= out.a.size:
            return -1
        h = 3 * t + (k if clockwise else (k + 2) % 3)
        twin = mesh.twins[h]
        if twin < 0 or not weights[twin // 3] < np.inf:
            return -1
        t = twin // 3
        out.a[count] = v
        out.b[count] = mesh.triangles[h // 3, (k + 1) % 3] if clockwise else mesh.triangles[h // 3, (k + 2) % 3]
        out.share[count] = 0.02
        out.tri[count] = t
        place(mesh.vertices, out, count)
        count += 1
        steps += 1
    for i in range(at + 1, hi + 1):
        if count >= out.a.size:
            return -1
        copy_point(chain, i, out, count)
        count += 1
    return count


@inline
def pays(mesh, weights, chain, at, clockwise):
    """Whether going round the vertex at point `at` on one side is cheaper than going through it.

    Exact for a chain that is settled on either side: points that leave the vertex along the edges of the fan gain
    nothing if and only if a ray can be traced through the fan, from the leg before to the leg after, that breaks no
    more than Snell's law allows at any edge. `most` is the largest component along the next edge that it can have.
    """
    v = chain.a[at]
    x, y = chain.x[at], chain.y[at]
    t, last = chain.tri[at - 1], chain.tri[at]
    inx, iny = x - chain.x[at - 1], y - chain.y[at - 1]
    outx, outy = chain.x[at + 1] - x, chain.y[at + 1] - y
    weight = weights[t] / np.sqrt(inx * inx + iny * iny)
    after = weights[last] / np.sqrt(outx * outx + outy * outy)
    if t == last:
        return abs(inx * outy - iny * outx) > STRAIGHT * abs(inx * outx + iny * outy) or inx * outx + iny * outy < 0.0
    most = 0.0
    oldx, oldy = 0.0, 0.0
    for step in range(FAN):
        k = corner_of(mesh, t, v)
        if k < 0:
            return False
        h = 3 * t + (k if clockwise else (k + 2) % 3)
        twin = mesh.twins[h]
        if twin < 0 or not weights[twin // 3] < np.inf:
            return False
        end = mesh.triangles[t, (k + 1) % 3] if clockwise else mesh.triangles[t, (k + 2) % 3]
        ex, ey = mesh.vertices[end, 0] - x, mesh.vertices[end, 1] - y
        length = np.sqrt(ex * ex + ey * ey)
        ex, ey = ex / length, ey / length
        if step == 0:
            most = weight * (inx * ex + iny * ey)
        else:
            w = weights[t]
            if most < -w * (1.0 - STRAIGHT):
                return True
            cosine = oldx * ex + oldy * ey
            if w * cosine <= most:
                most = w
            else:
                sine = np.sqrt(max(0.0, 1.0 - cosine * cosine))
                most = most * cosine + np.sqrt(max(0.0, w * w - most * most)) * sine
        oldx, oldy = ex, ey
        t = twin // 3
        if t == last:
            return after * (outx * ex + outy * ey) > most + STRAIGHT * weights[last]
    return False


@helper
def splice(chain, count, lo, hi, trial, size):
    """Replace points `lo` to `hi` of a chain by the `size` points of another one; return the new count, -1 if full."""
    shift = size - (hi - lo + 1)
    if count + shift > chain.a.size:
        return -1
    if shift > 0:
        for i in range(count - 1, hi, -1):
            copy_point(chain, i, chain, i + shift)
    elif shift < 0:
        for i in range(hi + 1, count):
            copy_point(chain, i, chain, i + shift)
    for i in range(size):
        copy_point(trial, i, chain, lo + i)
        chain.fresh[lo + i] = True
    return count + shift


@helper
def try_around(mesh, weights, chain, count, at, trial, best, newton, near):
    """Try both ways round the vertex that a chain passes at point `at`; return the new count, 0 if none is better."""
    lo, hi = at - 1, at + 1
    while lo > 0 and at - lo < WINDOW and chain.a[lo] != chain.b[lo]:
        lo -= 1
    while hi < count - 1 and hi - at < WINDOW and chain.a[hi] != chain.b[hi]:
        hi += 1
    now = chain_cost(weights, chain, lo, hi, 0.0)
    least = now * (1.0 - GAIN)
    size = 0
    for clockwise in (False, True):
        if not pays(mesh, weights, chain, at, clockwise):
            continue
        for i in range(lo, at):
            copy_point(chain, i, trial, i - lo)
        points = detour(mesh, weights, chain, at, hi, trial, at - lo, clockwise)
        if points < 0:
            continue
        extent = reach(trial, 0, points - 1)
        cost = settle(mesh.vertices, weights, trial, newton, 0, points - 1, extent, True)
        if cost < least:
            least = cost
            size = points
            for i in range(points):
                copy_point(trial, i, best, i)
        if chain.tri[at - 1] == chain.tri[at]:
            break  # straight through one triangle: both ways are the same
    if size == 0:
        return 0
    size = tidy(mesh, weights, best, size, near)
    return splice(chain, count, lo, hi, best, size)


@helper
def try_dip(mesh, weights, chain, count, i, trial):
    """Let a leg run along a lighter neighbour's edge where the critical angle makes that cheaper (section 4.2.3)."""
    t = chain.tri[i]
    w1 = weights[t]
    vertices = mesh.vertices
    px, py, qx, qy = chain.x[i], chain.y[i], chain.x[i + 1], chain.y[i + 1]
    for k in range(3):
        twin = mesh.twins[3 * t + k]
        if twin < 0:
            continue
        other = twin // 3
        w2 = weights[other]
        if not w2 < w1 or (i > 0 and chain.tri[i - 1] == other) or (i + 2 < count and chain.tri[i + 1] == other):
            continue
        a, b = mesh.triangles[t, k], mesh.triangles[t, (k + 1) % 3]
        ex, ey = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1]
        length = np.hypot(ex, ey)
        ex, ey = ex / length, ey / length
        up, uq = (
            (px - vertices[a, 0]) * ex + (py - vertices[a, 1]) * ey,
            (qx - vertices[a, 0]) * ex + (qy - vertices[a, 1]) * ey,
        )
        dp = abs(ex * (py - vertices[a, 1]) - ey * (px - vertices[a, 0]))
        dq = abs(ex * (qy - vertices[a, 1]) - ey * (qx - vertices[a, 0]))
        sine = w2 / w1
        cosine = np.sqrt(1.0 - sine * sine)
        sign = 1.0 if uq > up else -1.0
        ux, uy = up + sign * dp * sine / cosine, uq - sign * dq * sine / cosine
        ux, uy = min(max(ux, 0.0), length), min(max(uy, 0.0), length)
        if (uy - ux) * sign <= 0.0:
            continue
        via = w1 * (np.hypot(ux - up, dp) + np.hypot(uq - uy, dq)) + w2 * abs(uy - ux)
        if via >= w1 * np.hypot(qx - px, qy - py) * (1.0 - GAIN):
            continue
        copy_point(chain, i, trial, 0)
        for j in (1, 2):
            trial.a[j] = a
            trial.b[j] = b
            trial.share[j] = (ux if j == 1 else uy) / length
            trial.tri[j] = other if j == 1 else t
            place(vertices, trial, j)
        copy_point(chain, i + 1, trial, 3)
        return splice(chain, count, i, i + 1, trial, 4)
    return 0


@kernel
def refine(mesh, weights, chain, count, trial, best, newton, near):
    """Improve a chain of `count` points until no step helps; return the number of points and the cost.

    `trial` and `best` are chains for windows, `newton` has room for all points; a negative number says that the chain
    is too small. `near` is the distance at which two points count as one.
    """
    vertices = mesh.vertices
    for i in range(count):
        place(vertices, chain, i)
    count = tidy(mesh, weights, chain, count, near)
    settle(vertices, weights, chain, newton, 0, count - 1, reach(chain, 0, count - 1), True)
    count = tidy(mesh, weights, chain, count, near)
    for _ in range(ROUNDS):
        changed = False
        i = 1
        while i < count - 1:
            if chain.fresh[i] and chain.a[i] >= 0 and chain.a[i] == chain.b[i]:
                chain.fresh[i] = False
                after = try_around(mesh, weights, chain, count, i, trial, best, newton, near)
                if after < 0:
                    return -1, np.inf
                if after > 0:
                    count = after
                    changed = True
            i += 1
        i = 0
        while i < count - 1:
            after = try_dip(mesh, weights, chain, count, i, trial)
            if after < 0:
                return -1, np.inf
            if after > 0:
                count = after
                changed = True
                i += 2
            i += 1
        if not changed:
            break
    settle(vertices, weights, chain, newton, 0, count - 1, reach(chain, 0, count - 1), False)
    count = tidy(mesh, weights, chain, count, near)
    cost = settle(vertices, weights, chain, newton, 0, count - 1, reach(chain, 0, count - 1), False)
    return count, cost
