# mypy: ignore-errors
"""A waypoint graph whose heuristic is the better of straight distance and landmark bounds."""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import implements
from wayfold.graph._kernels import GraphSpace, as_its_graph, cost, distance, slots, straight, target


class BoundedSpace(NamedTuple):
    """A graph with the costs of every node from a few landmarks, in whole steps."""

    graph: GraphSpace
    scale: float  # lowest cost of a metre
    step: float
    table: np.ndarray  # (n, k) int32, cost from each landmark in steps; -1 where it does not reach


class SteppedSpace(NamedTuple):
    """A graph whose costs are counted in whole steps, rounded down."""

    graph: GraphSpace
    step: float


as_its_graph(BoundedSpace, slots, target, cost)
as_its_graph(SteppedSpace, slots, target, distance)


@implements(distance, BoundedSpace)
def _(space, node, goal):
    most = 0
    for landmark in range(space.table.shape[1]):
        most = max(most, abs(np.int64(space.table[node, landmark]) - np.int64(space.table[goal, landmark])))
    return max(space.step * most, space.scale * straight(space.graph.points, node, goal))


@implements(cost, SteppedSpace)
def _(space, node, slot, successor):
    return np.floor(cost(space.graph, node, slot, successor) / space.step)
