# mypy: ignore-errors
"""From edge lists to compressed rows, in blocks, so that nothing but the finished arrays is as large as the graph."""

import numpy as np

from wayfold.core.jit import inline, kernel


@kernel
def count_block(edges, directed, counts):
    """Add the out-degrees of a block of edges (k, 2) int32 to `counts` (n,) int64."""
    for edge in range(edges.shape[0]):
        counts[edges[edge, 0]] += 1
        if not directed:
            counts[edges[edge, 1]] += 1


@kernel
def fill_block(edges, costs, motions, directed, cursor, out_targets, out_costs, out_motions):
    """Write a block of edges into its rows; `cursor` (n,) int64 is the next free slot of each row.

    `costs` (k,) float32 and `motions` (k,) uint8 may be of size 0, and so may their outputs.
    """
    for edge in range(edges.shape[0]):
        for side in range(1 if directed else 2):
            slot = cursor[edges[edge, side]]
            cursor[edges[edge, side]] = slot + 1
            out_targets[slot] = edges[edge, 1 - side]
            if costs.size > 0:
                out_costs[slot] = costs[edge]
            if motions.size > 0:
                out_motions[slot] = motions[edge]


@inline
def in_order(targets, costs, motions, a, b):
    """Whether slot a stands before slot b or is the same: by target, then cost, then motions."""
    if targets[a] != targets[b]:
        return targets[a] < targets[b]
    if costs.size > 0 and costs[a] != costs[b]:
        return costs[a] < costs[b]
    if motions.size > 0:
        return motions[a] <= motions[b]
    return True


@inline
def swap(targets, costs, motions, a, b):
    """Exchange two slots."""
    targets[a], targets[b] = targets[b], targets[a]
    if costs.size > 0:
        costs[a], costs[b] = costs[b], costs[a]
    if motions.size > 0:
        motions[a], motions[b] = motions[b], motions[a]


@inline
def sink(targets, costs, motions, first, at, size):
    """Restore a max-heap of the slots first to first + size - 1 below position `at`."""
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and in_order(targets, costs, motions, first + child, first + child + 1):
            child += 1
        if in_order(targets, costs, motions, first + child, first + at):
            break
        swap(targets, costs, motions, first + child, first + at)
        at = child


@kernel
def sort_rows(offsets, targets, costs, motions):
    """Sort every row in place, so that the graph does not depend on the order in which its edges were given.

    Short rows (nearly all) by insertion, long ones by heapsort, which stays fast for a node with a million edges.
    """
    for node in range(offsets.size - 1):
        first, last = offsets[node], offsets[node + 1]
        size = last - first
        if size <= 48:
            for slot in range(first + 1, last):
                at = slot
                while at > first and not in_order(targets, costs, motions, at - 1, at):
                    swap(targets, costs, motions, at - 1, at)
                    at -= 1
            continue
        for at in range(size // 2 - 1, -1, -1):
            sink(targets, costs, motions, first, at, size)
        for end in range(size - 1, 0, -1):
            swap(targets, costs, motions, first, first + end)
            sink(targets, costs, motions, first, 0, end)


@kernel
def turn_round(offsets, targets, costs, motions, cursor, out_targets, out_costs, out_motions):
    """Write every edge backwards; `cursor` (n,) int64 starts at the rows of the reversed graph."""
    for node in range(offsets.size - 1):
        for slot in range(offsets[node], offsets[node + 1]):
            place = cursor[targets[slot]]
            cursor[targets[slot]] = place + 1
            out_targets[place] = node
            if costs.size > 0:
                out_costs[place] = costs[slot]
            if motions.size > 0:
                out_motions[place] = motions[slot]


@kernel
def cost_scale(offsets, targets, costs, points):
    """Lowest cost per metre of any edge: what turns straight distance into a lower bound of cost; 0 if unknown."""
    scale = np.inf
    for node in range(offsets.size - 1):
        for slot in range(offsets[node], offsets[node + 1]):
            other = targets[slot]
            x = points[node, 0] - points[other, 0]
            y = points[node, 1] - points[other, 1]
            z = points[node, 2] - points[other, 2]
            length = np.sqrt(x * x + y * y + z * z)
            if length > 0.0:
                scale = min(scale, np.float64(costs[slot]) / length)
    return scale if scale < np.inf else 0.0


FINE, UNSORTED, ONE_WAY = range(3)


@kernel
def judge_rows(offsets, targets, directed, cursor):
    """`FINE`, or what is wrong: targets that do not ascend, or an undirected edge that stands in one row only.

    `cursor` (n,) int64 holds the first slot of each row and is changed. Rows are visited in ascending order, so the
    targets of a row that ascends are met in its order: each edge finds its way back in a single step.
    """
    for node in range(offsets.size - 1):
        for slot in range(offsets[node], offsets[node + 1]):
            other = targets[slot]
            if slot > offsets[node] and targets[slot - 1] > other:
                return UNSORTED
            if directed:
                continue
            back = cursor[other]
            if back >= offsets[other + 1] or targets[back] != node:
                return ONE_WAY
            cursor[other] = back + 1
    return FINE
