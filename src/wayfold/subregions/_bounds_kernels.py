# mypy: ignore-errors
"""A waypoint graph whose heuristic is the better of straight distance and landmark bounds."""

from typing import NamedTuple

import numpy as np

from wayfold._jit import implements
from wayfold.graph._kernels import cost, distance, slots, straight, target


class BoundedSpace(NamedTuple):
    """A graph in compressed rows with the distances of every node from a few landmarks."""

    offsets: np.ndarray  # (n + 1,) int64
    targets: np.ndarray  # (m,) int32
    costs: np.ndarray  # (m,) float32, or empty: Euclidean
    motions: np.ndarray  # (m,) uint8, or empty
    points: np.ndarray  # (n, 3) float32
    usable: int
    scale: float  # lowest cost of a metre
    table: np.ndarray  # (n, k) float64, cost from each landmark; infinite where it does not reach
    active: np.ndarray  # (a,) int64, landmarks that say most about this query


@implements(slots, BoundedSpace)
def _(space, node):
    return space.offsets[node], space.offsets[node + 1]


@implements(target, BoundedSpace)
def _(space, node, slot):
    if space.motions.size > 0 and space.motions[slot] & space.usable == 0:
        return np.int32(-1)
    return space.targets[slot]


@implements(cost, BoundedSpace)
def _(space, node, slot, successor):
    if space.costs.size > 0:
        return np.float64(space.costs[slot])
    return straight(space.points, node, successor)


@implements(distance, BoundedSpace)
def _(space, node, goal):
    best = space.scale * straight(space.points, node, goal)
    for landmark in space.active:
        # Where the landmark reaches neither, the difference is NaN, which is never larger.
        bound = abs(space.table[node, landmark] - space.table[goal, landmark])
        if bound > best:
            best = bound
    return best
