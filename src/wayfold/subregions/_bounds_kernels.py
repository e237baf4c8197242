# mypy: ignore-errors
"""A waypoint graph whose heuristic is the better of straight distance and landmark bounds."""

from typing import NamedTuple

import numpy as np

from wayfold._jit import implements
from wayfold.graph._kernels import GraphSpace, cost, distance, slots, straight, target


class BoundedSpace(NamedTuple):
    """A graph with the distances of every node from a few landmarks."""

    graph: GraphSpace
    scale: float  # lowest cost of a metre
    table: np.ndarray  # (n, k) float64, cost from each landmark; infinite where it does not reach
    active: np.ndarray  # (a,) int64, landmarks that say most about this query


@implements(slots, BoundedSpace)
def _(space, node):
    return slots(space.graph, node)


@implements(target, BoundedSpace)
def _(space, node, slot):
    return target(space.graph, node, slot)


@implements(cost, BoundedSpace)
def _(space, node, slot, successor):
    return cost(space.graph, node, slot, successor)


@implements(distance, BoundedSpace)
def _(space, node, goal):
    best = space.scale * straight(space.graph.points, node, goal)
    for landmark in space.active:
        # Where the landmark reaches neither, the difference is NaN, which is never larger.
        bound = abs(space.table[node, landmark] - space.table[goal, landmark])
        if bound > best:
            best = bound
    return best
