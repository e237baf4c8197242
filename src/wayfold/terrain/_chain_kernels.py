# mypy: ignore-errors
"""The exact optimum of a route's edge sequence.

A *chain* is a route as a list of points, each on an edge (two vertices and a share between them), at a vertex (twice
the same vertex) or free (the ends, -1), and the triangle of each leg between them. For a fixed sequence the cost is a
convex function of the shares: at its minimum Snell's law holds at every crossing inside an edge (003, Lemma 3.2). A
leg along an edge is a leg of the lighter triangle beside it, so edge-using paths (section 4.2.3) are chains too.
"""

from typing import NamedTuple

import numpy as np

from wayfold._jit import helper, inline

STEPS = 40  # Newton steps for each smoothing
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


@inline
def restore(vertices, chain, newton, lo, hi):
    """Take a step back."""
    for i in range(lo + 1, hi):
        chain.share[i] = newton.old[i]
        place(vertices, chain, i)


@inline
def reach(chain, lo, hi):
    """The size of a chain's details: ten legs of average length, or all of it if it is shorter."""
    length = 0.0
    for i in range(lo, hi):
        length += np.hypot(chain.x[i + 1] - chain.x[i], chain.y[i + 1] - chain.y[i])
    return max(length * min(1.0, 10.0 / (hi - lo)), 1e-12)


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
                # So near the minimum that costs no longer tell better from worse: Newton's steps do. Where the cost
                # is the same in some direction they may be long, and lead too far.
                move(vertices, chain, newton, lo, hi, 1.0)
                fresh = chain_cost(weights, chain, lo, hi, blur)
                if fresh > cost * (1.0 + POLISH):
                    restore(vertices, chain, newton, lo, hi)
                    break
                cost = fresh
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
                restore(vertices, chain, newton, lo, hi)
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
