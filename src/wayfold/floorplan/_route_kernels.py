# mypy: ignore-errors
"""The navigation graph of paper 004 between two places: the centres of their regions move to the places themselves."""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import implements, inline
from wayfold.graph._kernels import cost, distance, slots, target


class RouteSpace(NamedTuple):
    """A query as the shared search sees it: the graph, and where its first and its last node stand."""

    offsets: np.ndarray  # (n + 1,) int64
    targets: np.ndarray  # (m,) int32
    points: np.ndarray  # (n, 3) float64, local
    first: int  # node (a region) that stands at the start
    last: int  # node (a region) that stands at the goal
    start_x: float
    start_y: float
    start_z: float
    goal_x: float
    goal_y: float
    goal_z: float


@inline
def place(space, node):
    """Where a node stands."""
    if node == space.first:
        return space.start_x, space.start_y, space.start_z
    if node == space.last:
        return space.goal_x, space.goal_y, space.goal_z
    return space.points[node, 0], space.points[node, 1], space.points[node, 2]


@inline
def straight(space, a, b):
    """Straight distance between two nodes."""
    ax, ay, az = place(space, a)
    bx, by, bz = place(space, b)
    return np.sqrt((ax - bx) * (ax - bx) + (ay - by) * (ay - by) + (az - bz) * (az - bz))


@implements(slots, RouteSpace)
def _(space, node):
    return space.offsets[node], space.offsets[node + 1]


@implements(target, RouteSpace)
def _(space, node, slot):
    return space.targets[slot]


@implements(cost, RouteSpace)
def _(space, node, slot, successor):
    return straight(space, node, successor)


@implements(distance, RouteSpace)
def _(space, node, goal):
    return straight(space, node, goal)
