# mypy: ignore-errors
"""The exact optimum of a route's edge sequence, and of the sequences next to it.

A *chain* is a route as a list of points, each on an edge (two vertices and a share between them), at a vertex (twice
the same vertex) or free (the ends, -1), and the triangle of each leg between them. For a fixed sequence the cost is a
convex function of the shares: at its minimum Snell's law holds at every crossing inside an edge (003, Lemma 3.2). A
leg along an edge is a leg of the lighter triangle beside it, so edge-using paths (section 4.2.3) are chains too.
"""

from typing import NamedTuple

import numpy as np

from wayfold._jit import helper, inline, kernel

STEPS = 40  # Newton steps for each smoothing
FAN = 64  # triangles that a way round a vertex may cross
WINDOW = 24  # points on either side that may move when another way round a vertex is tried
ROUNDS = 12
GAIN = 1e-10  # relative gain that counts
POLISH = 1e-12  # promised relative gain below which steps are taken without a check


class Chain(NamedTuple):
    """A route that is being improved; `capacity` points."""

    a: np.ndarray  # (capacity,) int32, vertex at share 0, -1 for a free point
    b: np.ndarray  # (capacity,) int32, vertex at share 1
    share: np.ndarray  # (capacity,) float64
    tri: np.ndarray  # (capacity,) int32, triangle of the leg to the next point
    x: np.ndarray  # (capacity,) float64
    y: np.ndarray  # (capacity,) float64
    fresh: np.ndarray  # (capacity,) bool, whether ways around here have not been tried since something moved


class Newton(NamedTuple):
    """Scratch of the optimiser, each (capacity,) float64."""

    slope: np.ndarray
    diagonal: np.ndarray
    beside: np.ndarray
    step: np.ndarray
    old: np.ndarray


@inline
def place(vertices, chain, i):
    """Put a point where its share says."""
    a, b = chain.a[i], chain.b[i]
    if a >= 0:
        s = chain.share[i]
        # From the nearer end, so that a share of 1 is the vertex itself.
        if s <= 0.5:
            chain.x[i] = vertices[a, 0] + s * (vertices[b, 0] - vertices[a, 0])
            chain.y[i] = vertices[a, 1] + s * (vertices[b, 1] - vertices[a, 1])
        else:
            chain.x[i] = vertices[b, 0] + (1.0 - s) * (vertices[a, 0] - vertices[b, 0])
            chain.y[i] = vertices[b, 1] + (1.0 - s) * (vertices[a, 1] - vertices[b, 1])


@inline
def chain_cost(weights, chain, lo, hi, blur):
    """Cost from point `lo` to point `hi`; `blur` rounds off the corner of the distance at 0."""
    total = 0.0
    for i in range(lo, hi):
        dx, dy = chain.x[i + 1] - chain.x[i], chain.y[i + 1] - chain.y[i]
        total += weights[chain.tri[i]] * np.sqrt(dx * dx + dy * dy + blur * blur)
    return total


@inline
def derivatives(vertices, weights, chain, newton, lo, hi, blur):
    """Slope and tridiagonal second derivatives of the cost by the shares of the points between `lo` and `hi`."""
    for i in range(lo, hi + 1):
        newton.slope[i] = 0.0
        newton.diagonal[i] = 0.0
        newton.beside[i] = 0.0
    ux, uy = 0.0, 0.0  # no derivative at the fixed ends
    for i in range(lo, hi):
        vx, vy = 0.0, 0.0
        j = i + 1
        if j < hi and chain.a[j] != chain.b[j]:
            vx = vertices[chain.b[j], 0] - vertices[chain.a[j], 0]
            vy = vertices[chain.b[j], 1] - vertices[chain.a[j], 1]
        dx, dy = chain.x[j] - chain.x[i], chain.y[j] - chain.y[i]
        r = np.sqrt(dx * dx + dy * dy + blur * blur)
        w = weights[chain.tri[i]] / max(r, 1e-300)
        du, dv = dx * ux + dy * uy, dx * vx + dy * vy
        rr = max(r * r, 1e-300)
        newton.slope[i] -= w * du
        newton.slope[j] += w * dv
        newton.diagonal[i] += w * (ux * ux + uy * uy - du * du / rr)
        newton.diagonal[j] += w * (vx * vx + vy * vy - dv * dv / rr)
        newton.beside[i] = w * (du * dv / rr - (ux * vx + uy * vy))
        ux, uy = vx, vy


@inline
def newton_step(chain, newton, lo, hi, coupled):
    """Solve for the step of the free shares (Thomas' algorithm); uncoupled, each share by itself."""
    before = -1.0  # pivot of the previous free point, none yet
    for i in range(lo + 1, hi):
        slope = newton.slope[i]
        held = chain.a[i] == chain.b[i] or (chain.share[i] <= 0.0 and slope > 0.0)
        held = held or (chain.share[i] >= 1.0 and slope < 0.0)
        newton.step[i] = 0.0
        newton.old[i] = chain.share[i]
        if held:
            newton.diagonal[i] = -1.0
            before = -1.0
            continue
        pivot = newton.diagonal[i] * (1.0 + 1e-13) + 1e-300
        right = -slope
        if before > 0.0 and coupled:
            factor = newton.beside[i - 1] / before
            reduced = pivot - factor * newton.beside[i - 1]
            pivot = max(reduced, 1e-12 * pivot)
            right -= factor * newton.step[i - 1]
        newton.diagonal[i] = pivot
        newton.step[i] = right
        before = pivot
    for i in range(hi - 1, lo, -1):
        if newton.diagonal[i] <= 0.0:
            continue
        value = newton.step[i]
        if coupled and i + 1 < hi and newton.diagonal[i + 1] > 0.0:
            value -= newton.beside[i] * newton.step[i + 1]
        newton.step[i] = value / newton.diagonal[i]


@inline
def move(vertices, chain, newton, lo, hi, length):
    """Take a step from the old shares, kept between 0 and 1; return the largest change of a share."""
    moved = 0.0
    for i in range(lo + 1, hi):
        if chain.a[i] != chain.b[i]:
            s = min(max(newton.old[i] + length * newton.step[i], 0.0), 1.0)
            moved = max(moved, abs(s - newton.old[i]))
            chain.share[i] = s
            place(vertices, chain, i)
    return moved


@helper
def settle(vertices, weights, chain, newton, lo, hi, size, coarse):
    """Move the points between two fixed ones to the cheapest place of the sequence; return the cost.

    Projected Newton steps on a cost that is smooth at first and becomes the true one as the blur goes to nothing.
    With `coarse` it begins with a blur of a hundredth of the window's `size`, else near the truth.
    """
    blur = size * (1e-2 if coarse else 1e-5)
    while True:
        cost = chain_cost(weights, chain, lo, hi, blur)
        coupled = True
        polished = 0
        for _ in range(STEPS):
            derivatives(vertices, weights, chain, newton, lo, hi, blur)
            newton_step(chain, newton, lo, hi, coupled)
            promise = 0.0
            for i in range(lo + 1, hi):
                promise -= newton.slope[i] * newton.step[i]
            if coupled and promise <= POLISH * cost:
                # So near the minimum that costs no longer tell better from worse: Newton's steps do.
                move(vertices, chain, newton, lo, hi, 1.0)
                cost = chain_cost(weights, chain, lo, hi, blur)
                polished += 1
                if polished == 2:
                    break
                continue
            length = 1.0
            better = False
            moved = 0.0
            while length > 1e-6:
                moved = move(vertices, chain, newton, lo, hi, length)
                fresh = chain_cost(weights, chain, lo, hi, blur)
                if fresh < cost:
                    better = True
                    break
                length *= 0.25
            if not better:
                for i in range(lo + 1, hi):
                    chain.share[i] = newton.old[i]
                    place(vertices, chain, i)
                if coupled:
                    coupled = False  # near a bound the coupled step may not descend; each share by itself does
                    continue
                break
            gain = cost - fresh
            cost = fresh
            if moved < 1e-13 or (gain <= 1e-9 * cost and blur > 1e-6 * size):
                break
            coupled = True
        if blur <= 1e-14 * size:
            return chain_cost(weights, chain, lo, hi, 0.0)
        blur *= 1e-3 if blur > 1e-9 * size else 1e-6


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


@helper
def tidy(vertices, chain, count, near):
    """Put points within `near` of a vertex on it, and drop legs without length; return the number of points left."""
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
        gap = np.hypot(chain.x[i] - chain.x[kept - 1], chain.y[i] - chain.y[kept - 1])
        if gap <= near and i < count - 1:
            # The later point takes the place of the earlier one's leg.
            if kept > 1 and chain.a[kept - 1] != chain.b[kept - 1]:
                keep_tri = chain.tri[i]
                copy_point(chain, i, chain, kept - 1)
                chain.tri[kept - 1] = keep_tri
            else:
                chain.tri[kept - 1] = chain.tri[i]
            continue
        copy_point(chain, i, chain, kept)
        kept += 1
    # The last point is the goal: an intermediate point on top of it goes.
    while kept > 2 and np.hypot(chain.x[kept - 1] - chain.x[kept - 2], chain.y[kept - 1] - chain.y[kept - 2]) <= near:
        copy_point(chain, kept - 1, chain, kept - 2)
        kept -= 1
    return kept


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
    size = tidy(mesh.vertices, best, size, near)
    return splice(chain, count, lo, hi, best, size)


@inline
def reach(chain, lo, hi):
    """The size of a chain's details: ten legs of average length, or all of it if it is shorter."""
    length = 0.0
    for i in range(lo, hi):
        length += np.hypot(chain.x[i + 1] - chain.x[i], chain.y[i + 1] - chain.y[i])
    return max(length * min(1.0, 10.0 / (hi - lo)), 1e-12)


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
    settle(vertices, weights, chain, newton, 0, count - 1, reach(chain, 0, count - 1), True)
    count = tidy(vertices, chain, count, near)
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
    count = tidy(vertices, chain, count, near)
    cost = settle(vertices, weights, chain, newton, 0, count - 1, reach(chain, 0, count - 1), False)
    return count, cost
