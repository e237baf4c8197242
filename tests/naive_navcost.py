"""Slow, obvious versions of what walks cost where kinds of area differ. They share no code with the package."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra

NEAR = 1e-11  # metres: what lies this near to a border lies on it, which a leg along it may do for NEAR over its sine
GAP = 1e-7  # metres that a leg may be off all rings, where it passes a corner by rounding
NOTHING = 1e-13  # stands for a step of length 0, which a sparse matrix cannot hold


def part_inside(ring, a, b):
    """The part [low, high] of the way from a to b inside a convex counter-clockwise ring that is grown by `NEAR`."""
    low, high = 0.0, 1.0
    for (px, py), (qx, qy) in zip(ring, [*ring[1:], ring[0]], strict=True):
        length = math.hypot(qx - px, qy - py)
        at_a = ((qx - px) * (a[1] - py) - (qy - py) * (a[0] - px)) / length + NEAR
        at_b = ((qx - px) * (b[1] - py) - (qy - py) * (b[0] - px)) / length + NEAR
        if at_a < 0.0 and at_b < 0.0:
            return None
        if at_a < 0.0:
            low = max(low, at_a / (at_a - at_b))
        elif at_b < 0.0:
            high = min(high, at_a / (at_a - at_b))
    return (low, high) if low < high else None


def walk_cost(rings, rates, points):
    """Cost of walking along points over disjoint convex rings: between any two changes, the cheapest ring there.

    `rates` has the cost of a metre of each ring, infinite where it is closed. Infinite off the rings.
    """
    total = 0.0
    for a, b in itertools.pairwise(points):
        length = math.dist(a, b)
        if length <= NEAR:
            continue
        parts = [(part_inside(ring, a, b), rate) for ring, rate in zip(rings, rates, strict=True)]
        parts = [(*part, rate) for part, rate in parts if part is not None and rate < math.inf]
        stops = sorted({0.0, 1.0, *(low for low, _, _ in parts), *(high for _, high, _ in parts)})
        for low, high in itertools.pairwise(stops):
            middle = 0.5 * (low + high)
            here = [rate for first, last, rate in parts if first <= middle <= last]
            if here:
                total += min(here) * (high - low) * length
            elif (high - low) * length > GAP:
                return math.inf
    return total


def cheapest_walk(rings, rates, a, start, b, goal, links=(), count=24):
    """Cost of a walk from a (in ring `start`) to b (in ring `goal`) that changes rings at chosen points of borders.

    `rings` are lists of vertex coordinates; two that have two corners next to each other in common are neighbours.
    Each shared side gets `count` points, and some more near its ends. Such a walk is legal, so the cheapest costs
    no more, and little less. `links` are (tail, its ring, head, its ring, cost), one-way.
    """
    sides = {}
    for at, ring in enumerate(rings):
        if rates[at] < math.inf:
            for p, q in zip(ring, [*ring[1:], ring[0]], strict=True):
                sides.setdefault(frozenset((tuple(p), tuple(q))), []).append(at)
    even = np.arange(count + 1) / count
    near = 0.5 / count * 0.5 ** np.arange(1, 8)
    shares = np.unique(np.concatenate([even, near, 1.0 - near]))
    places, members, rows, columns, costs = [np.array([a, b], float)], {}, [], [], []
    members.setdefault(start, [[]])[0].append(0)
    members.setdefault(goal, [[]])[0].append(1)
    used = 2

    def join(one, two, price):
        rows.append(np.asarray(one).ravel())
        columns.append(np.asarray(two).ravel())
        costs.append(np.maximum(np.asarray(price, float).ravel(), NOTHING))

    for tail, tail_ring, head, head_ring, price in links:
        places.append(np.array([tail, head], float))
        members.setdefault(tail_ring, [[]])[0].append(used)
        members.setdefault(head_ring, [[]])[0].append(used + 1)
        join([used], [used + 1], [price])
        used += 2
    for side, who in sides.items():
        if len(who) != 2:
            continue
        p, q = (np.array(end) for end in sorted(side))
        places.append(p + shares[:, None] * (q - p))
        ids = np.arange(used, used + len(shares))
        used += len(shares)
        along = min(rates[who[0]], rates[who[1]]) * np.diff(shares) * np.linalg.norm(q - p)
        join(ids[:-1], ids[1:], along)
        join(ids[1:], ids[:-1], along)
        for ring in who:
            members.setdefault(ring, [[]]).append(ids)
    where = np.concatenate(places)
    for ring, groups in members.items():
        ids = np.concatenate([np.asarray(group, int) for group in groups])
        apart = np.linalg.norm(where[ids, None] - where[None, ids], axis=2)
        one, two = np.meshgrid(ids, ids, indexing="ij")
        other = one != two
        join(one[other], two[other], rates[ring] * apart[other])
    steps = (np.concatenate(rows), np.concatenate(columns))
    # Of several steps between the same two the cheapest counts.
    order = np.lexsort((np.concatenate(costs), *steps))
    keys = np.stack(steps, axis=1)[order]
    first = np.concatenate([[True], (np.diff(keys, axis=0) != 0).any(axis=1)])
    matrix = coo_matrix((np.concatenate(costs)[order][first], tuple(keys[first].T)), shape=(used, used)).tocsr()
    return float(dijkstra(matrix, indices=0)[1])
