# mypy: ignore-errors
"""Distances between the portals of a part, by eliminating its other members one after the other.

A member that is eliminated leaves steps between its neighbours in its place. Paper 002 (algorithm 2) runs one search
for each portal; on the parts of a navigation mesh, where most members have two or three neighbours, elimination takes
a fifth of the time, and that is what an update waits for.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline
from wayfold.graph._kernels import cost, slots, target

MOST_MEMBERS = 1024  # of a part that is eliminated: the matrices below are square
APART, STEP = -2, -1

# Sums of the same costs in another order differ by less; a detour differs by more.
_SAME = 1.0 + 1e-12


class Reduced(NamedTuple):
    """What is left of a part of s members; entry ``a * s + b`` is for the way from member a to member b."""

    costs: np.ndarray  # (s * s,) float64
    via: (
        np.ndarray
    )  # (s * s,) int16, the eliminated member on the way, STEP for none, APART where nothing joins the two
    joined: np.ndarray  # (s * s,) int16, the neighbours of member a from ``a * s`` on
    degrees: np.ndarray  # (s,) int32, their number
    done: np.ndarray  # (s,) bool, whether a member is eliminated, or a portal, which stays
    stack: np.ndarray  # (s + 2, 2) int32, ways that are still to be unfolded


@inline
def join(reduced, size, a, b):
    """Make two members neighbours that are not, at no finite cost yet."""
    reduced.via[a * size + b] = reduced.via[b * size + a] = STEP
    reduced.costs[a * size + b] = reduced.costs[b * size + a] = np.inf
    reduced.joined[a * size + reduced.degrees[a]] = b
    reduced.joined[b * size + reduced.degrees[b]] = a
    reduced.degrees[a] += 1
    reduced.degrees[b] += 1


@inline
def part_from(reduced, size, a, node):
    """Take a member out of the neighbours of another."""
    begin = a * size
    at = begin
    while reduced.joined[at] != node:
        at += 1
    reduced.degrees[a] -= 1
    reduced.joined[at] = reduced.joined[begin + reduced.degrees[a]]


@helper
def eliminate(space, size, portals, reduced):
    """Reduce the `size` members of a search space to its `portals` (k,) int32.

    Afterwards an entry between two portals is the least cost of a way that passes no third portal.
    """
    costs, via, joined, degrees, done = reduced.costs, reduced.via, reduced.joined, reduced.degrees, reduced.done
    for at in range(size * size):
        via[at] = APART
    for node in range(size):
        degrees[node] = 0
        done[node] = False
    for portal in portals:
        done[portal] = True
    for node in range(size):
        first, last = slots(space, node)
        for slot in range(first, last):
            other = target(space, node, slot)
            if other < 0 or other == node:
                continue
            step = cost(space, node, slot, other)
            if not step < np.inf:
                continue
            if via[node * size + other] == APART:
                join(reduced, size, node, other)
            if step < costs[node * size + other]:
                costs[node * size + other] = step
    left = size - portals.size
    few, node = 1, -1
    while left > 0:
        # Members with few neighbours leave few steps, so they go first; one with more goes when no other is left.
        node += 1
        if node == size:
            node = -1
            few += 1
            continue
        if done[node] or degrees[node] > few:
            continue
        degree = degrees[node]
        done[node] = True
        left -= 1
        row = node * size
        for at in range(degree):
            part_from(reduced, size, joined[row + at], node)
        for at in range(degree):
            a = np.int64(joined[row + at])
            from_a, to_a = costs[a * size + node], costs[row + a]
            for beyond in range(at + 1, degree):
                b = np.int64(joined[row + beyond])
                there, back = from_a + costs[row + b], costs[b * size + node] + to_a
                if via[a * size + b] == APART:
                    join(reduced, size, a, b)
                if there < costs[a * size + b]:
                    costs[a * size + b] = there
                    via[a * size + b] = node
                if back < costs[b * size + a]:
                    costs[b * size + a] = back
                    via[b * size + a] = node


@inline
def unfold(reduced, size, a, b, steps, at):
    """Write the members between two members to `steps` from position `at` on; return the position after them.

    Writes nothing beyond the end of `steps`, but counts on.
    """
    stack, via = reduced.stack, reduced.via
    stack[0, 0], stack[0, 1] = a, b
    waiting = 1
    while waiting > 0:
        first, second = np.int64(stack[waiting - 1, 0]), np.int64(stack[waiting - 1, 1])
        node = via[first * size + second]
        if node >= 0:
            stack[waiting - 1, 0] = node
            stack[waiting, 0], stack[waiting, 1] = first, node
            waiting += 1
            continue
        waiting -= 1
        if second != b:
            if at < steps.size:
                steps[at] = second
            at += 1
    return at


@inline
def close(between, count):
    """Turn costs of ways that pass no third portal into distances."""
    for via in range(count):
        for a in range(count):
            there = between[a, via]
            if not there < np.inf:
                continue
            for b in range(count):
                between[a, b] = min(between[a, b], there + between[via, b])


@inline
def mark_needed(direct, between, a, count, needed):
    """Mark in `needed` (count,) the portals to which portal `a` needs an arc: no third lies on a way that is as short.

    `direct` (portals, portals) are the costs of the ways that arcs would stand for. Both halves of a way through a
    third must be shorter than the whole, or portals at distance 0 from each other could each rely on the other; where
    `direct` is no distance at all, for a way through others is really shorter, no such care is needed.
    """
    for b in range(count):
        needed[b] = (b != a) & (direct[a, b] < np.inf) & (direct[a, b] <= between[a, b] * _SAME)
    for via in range(count):
        there = between[a, via]
        # No branches in here: the processor does several at once.
        for b in range(count):
            rest, whole = between[via, b], direct[a, b]
            needed[b] &= not ((there < whole) & (rest < whole) & (there + rest <= whole * _SAME))
