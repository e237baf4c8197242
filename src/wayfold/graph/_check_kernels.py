# mypy: ignore-errors
"""What the rows of a graph from a file must hold beside numbers within their limits."""

from wayfold.core.jit import kernel

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
