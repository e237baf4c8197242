# mypy: ignore-errors
"""A grid laid over the terrain (Tibboel 2012, section 4.2.1), at the cells' centres or at their corners."""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import implements, inline, kernel
from wayfold.graph.search_kernels import cost, distance, slots, target
from wayfold.terrain._disc_kernels import disc_cost
from wayfold.terrain._kernels import Triangulation, WalkScratch, find

HERE = 4  # slots 0 to 8 are the 3 x 3 nodes around, row by row; the middle one leads to the goal


class GridSpace(NamedTuple):
    """columns * rows nodes, row by row, then pinch points; then the start and the goal of one query.

    A node of the grid has nine slots, and more for the pinch points that it is joined to; a pinch point has those, and
    one for the goal.
    """

    mesh: Triangulation
    weights: np.ndarray  # (m,) float64, of the triangles
    samples: np.ndarray  # (rows, columns) float64, weight at each node; infinite in obstacles and off the map
    pinches: np.ndarray  # (p, 2) float64
    offsets: np.ndarray  # (rows * columns + p + 1,) int64, steps to and from pinch points; (1,) without any
    targets: np.ndarray  # (s,) int32
    costs: np.ndarray  # (s,) float64
    layout: np.ndarray  # (6,) float64: x and y of node 0, cell side, radius, slack, 1 where steps are exact
    ends: np.ndarray  # (2, 2) float64
    start_nodes: np.ndarray  # (k,) int32
    start_costs: np.ndarray  # (k,) float64
    goal_nodes: np.ndarray  # (k,) int32
    goal_costs: np.ndarray  # (k,) float64
    scratch: WalkScratch


@kernel
def sample(mesh, weights, layout, samples):
    """The weight at every node of a grid."""
    for row in range(samples.shape[0]):
        for column in range(samples.shape[1]):
            t = find(mesh, weights, layout[0] + column * layout[2], layout[1] + row * layout[2], layout[4])
            samples[row, column] = weights[t] if t >= 0 else np.inf


@inline
def nine(space, node):
    """Slots of a node beside those of pinch points: the nodes around and the goal, or only the goal."""
    return 9 if node < space.samples.size else 1


@inline
def to_goal(space, node, slot):
    """Whether a slot is the one that leads to the goal."""
    return slot == (HERE if node < space.samples.size else 0)


@implements(slots, GridSpace)
def _(space, node):
    nodes = space.samples.size + space.pinches.shape[0]
    if node >= nodes:
        return np.int64(0), np.int64(space.start_nodes.size)
    more = np.int64(0)
    if space.offsets.size > 1:
        more = space.offsets[node + 1] - space.offsets[node]
    return np.int64(0), nine(space, node) + more


@implements(target, GridSpace)
def _(space, node, slot):
    nodes = space.samples.size + space.pinches.shape[0]
    if node >= nodes:
        return space.start_nodes[slot]
    if slot >= nine(space, node):
        return space.targets[space.offsets[node] + slot - nine(space, node)]
    if to_goal(space, node, slot):
        for index in range(space.goal_nodes.size):
            if space.goal_nodes[index] == node:
                return np.int32(nodes + 1)
        return np.int32(-1)
    columns = space.samples.shape[1]
    row = node // columns
    column = node - row * columns + slot % 3 - 1
    row += slot // 3 - 1
    if not (0 <= row < space.samples.shape[0] and 0 <= column < columns) or not space.samples[row, column] < np.inf:
        return np.int32(-1)
    return np.int32(row * columns + column)


@implements(cost, GridSpace)
def _(space, node, slot, successor):
    if node >= space.samples.size + space.pinches.shape[0]:
        return space.start_costs[slot]
    if slot >= nine(space, node):
        return space.costs[space.offsets[node] + slot - nine(space, node)]
    if to_goal(space, node, slot):
        for index in range(space.goal_nodes.size):
            if space.goal_nodes[index] == node:
                return space.goal_costs[index]
        return np.inf
    columns = space.samples.shape[1]
    row, to_row = node // columns, successor // columns
    column, to_column = node - row * columns, successor - to_row * columns
    side = space.layout[2]
    if space.layout[5] == 0.0:
        both = 0.5 * (space.samples[row, column] + space.samples[to_row, to_column])
        return side * (1.0 if slot & 1 else np.sqrt(2.0)) * both
    # From the lower node to the higher one, so that both directions cost the same.
    if successor < node:
        row, to_row, column, to_column = to_row, row, to_column, column
    return disc_cost(
        space.mesh,
        space.weights,
        space.layout[0] + column * side,
        space.layout[1] + row * side,
        space.layout[0] + to_column * side,
        space.layout[1] + to_row * side,
        space.layout[3],
        space.layout[4],
        space.scratch,
    )


@implements(distance, GridSpace)
def _(space, node, goal):
    grid = space.samples.size
    nodes = grid + space.pinches.shape[0]
    if node >= nodes:
        x, y = space.ends[node - nodes, 0], space.ends[node - nodes, 1]
    elif node >= grid:
        x, y = space.pinches[node - grid, 0], space.pinches[node - grid, 1]
    else:
        columns = space.samples.shape[1]
        row = node // columns
        x = space.layout[0] + (node - row * columns) * space.layout[2]
        y = space.layout[1] + row * space.layout[2]
    return np.sqrt((x - space.ends[1, 0]) ** 2 + (y - space.ends[1, 1]) ** 2)
