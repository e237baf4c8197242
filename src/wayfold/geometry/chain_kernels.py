# mypy: ignore-errors
"""The exact optimum of a route's edge sequence.

A *chain* is a route as a list of points, each on an edge (two vertices and a share between them), at a vertex (twice
the same vertex) or free (the ends, -1), and the face of each leg between them. For a fixed sequence the cost is a
convex function of the shares: at its minimum Snell's law holds at every crossing inside an edge (Tibboel 2012, Lemma
3.2). A leg along an edge is a leg of the lighter face beside it, so edge-using paths (section 4.2.3) are chains too.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline

STEPS = 40  # Newton steps for each smoothing
POLISH = 1e-12  # promised relative gain below which steps are taken without a check


class Chain(NamedTuple):
    """A route that is being improved; `capacity` points."""

    a: np.ndarray  # (capacity,) int32, vertex at share 0, -1 for a free point
    b: np.ndarray  # (capacity,) int32, vertex at share 1
    share: np.ndarray  # (capacity,) float64
    tri: np.ndarray  # (capacity,) int32, face of the leg to the next point: an index of the weights
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
