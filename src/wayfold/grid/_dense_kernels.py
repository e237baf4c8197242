# mypy: ignore-errors
"""Grids as search spaces: eight slots a cell, one for each direction.

Directions run clockwise on a map whose rows go down: 0 east, 1 south-east, 2 south, ... 7 north-east. Even ones are
straight, odd ones diagonal.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import implements, inline, kernel
from wayfold.graph.search_kernels import cost, distance, slots, target

STEP_X = np.array([1, 1, 0, -1, -1, -1, 0, 1], np.int64)
STEP_Y = np.array([0, 1, 1, 1, 0, -1, -1, -1], np.int64)
DIAGONAL = np.sqrt(2.0)


@inline
def octile(x, y):
    """Cost of the cheapest way over `x` columns and `y` rows of free cells."""
    x, y = abs(x), abs(y)
    return max(x, y) + (DIAGONAL - 1.0) * min(x, y)


class DenseSpace(NamedTuple):
    """A regular grid; node = y * width + x."""

    kinds: np.ndarray  # (height, width) uint8, 0 is blocked, otherwise only cells of the same kind connect


@inline
def same_kind(kinds, x, y, kind):
    """Whether a cell lies in the grid and is of this kind."""
    return 0 <= x < kinds.shape[1] and 0 <= y < kinds.shape[0] and kinds[y, x] == kind


@implements(slots, DenseSpace)
def _(space, node):
    return 0, 8


@implements(target, DenseSpace)
def _(space, node, slot):
    kinds = space.kinds
    width = kinds.shape[1]
    y = node // width
    x = node - y * width
    kind = kinds[y, x]
    to_x, to_y = x + STEP_X[slot], y + STEP_Y[slot]
    if kind == 0 or not same_kind(kinds, to_x, to_y, kind):
        return np.int32(-1)
    if slot & 1 and not (same_kind(kinds, to_x, y, kind) and same_kind(kinds, x, to_y, kind)):
        return np.int32(-1)
    return np.int32(to_y * width + to_x)


@implements(cost, DenseSpace)
def _(space, node, slot, successor):
    return DIAGONAL if slot & 1 else 1.0


@implements(distance, DenseSpace)
def _(space, node, goal):
    width = space.kinds.shape[1]
    y, goal_y = node // width, goal // width
    return octile(node - y * width - (goal - goal_y * width), y - goal_y)


@inline
def walk_straight(space, node, x, y):
    """The cell that lies `x` columns and `y` rows away, if the straight line to its centre can be walked; else -1.

    Every cell that the line crosses must be entered by a legal move; through a corner it moves diagonally, which is
    legal only where both neighbours are free, so no corner is cut. Works in any space with eight direction slots.
    """
    east = 0 if x > 0 else 4
    south = 2 if y > 0 else 6
    diagonal = (1 if x > 0 else 3) if y > 0 else (7 if x > 0 else 5)
    columns, rows = abs(x), abs(y)
    done_columns, done_rows = 0, 0
    while done_columns < columns or done_rows < rows:
        # Which border comes first: the next column's at (2i + 1) / columns, or the next row's at (2j + 1) / rows.
        ahead = (2 * done_columns + 1) * rows - (2 * done_rows + 1) * columns
        if ahead == 0:
            slot = diagonal
            done_columns += 1
            done_rows += 1
        elif ahead < 0:
            slot = east
            done_columns += 1
        else:
            slot = south
            done_rows += 1
        node = target(space, node, slot)
        if node < 0:
            return node
    return node


@kernel
def pull_straight(space, nodes, cells, corners):
    """String pulling: keep only the corners that straight walks between them need; return their number.

    `nodes` (k,) int32 is a path, `cells` (k, 2) int32 its columns and rows; the kept positions go to `corners` (k,).
    From each kept corner the walk goes to the farthest cell of the path before the first one it cannot walk to.
    """
    corners[0] = 0
    count = 1
    anchor = 0
    for at in range(2, nodes.size):
        x = cells[at, 0] - cells[anchor, 0]
        y = cells[at, 1] - cells[anchor, 1]
        if walk_straight(space, nodes[anchor], x, y) != nodes[at]:
            anchor = at - 1
            corners[count] = anchor
            count += 1
    if nodes.size > 1:
        corners[count] = nodes.size - 1
        count += 1
    return count


@kernel
def nearest_free(kinds, points, limit, out):
    """Write the free cell nearest to each point to `out` (q, 3) float64.

    `points` (q, 3) float64 are cell coordinates; NaN stands where the square of the distance is larger than `limit`. Of
    equally near cells the one in the first row and column is taken.
    """
    height, width = kinds.shape
    for query in range(len(points)):
        x, y, z = points[query, 0], points[query, 1], points[query, 2]
        middle_x = np.int64(min(max(x, 0.0), width - 1.0))
        middle_y = np.int64(min(max(y, 0.0), height - 1.0))
        least = limit
        found_x, found_y = np.int64(-1), np.int64(-1)
        for away in range(height):
            beyond = True
            for side in range(2 if away > 0 else 1):
                row = middle_y + (away if side else -away)
                up = (row - y) * (row - y)
                if row < 0 or row >= height or up + z * z > least:
                    continue
                beyond = False
                for aside in range(width):
                    outside = True
                    for turn in range(2 if aside > 0 else 1):
                        column = middle_x + (aside if turn else -aside)
                        apart = (column - x) * (column - x) + up + z * z
                        if column < 0 or column >= width or apart > least:
                            continue
                        outside = False
                        if kinds[row, column] == 0:
                            continue
                        if apart < least or found_y < 0 or row < found_y or (row == found_y and column < found_x):
                            least, found_x, found_y = apart, column, row
                    if outside and aside > 0:
                        break
            if beyond and away > 0:
                break
        out[query] = np.nan
        if found_y >= 0:
            out[query, 0] = found_x
            out[query, 1] = found_y
            out[query, 2] = 0.0


@kernel
def successors(space, node, out):
    """Write the successors of a node to `out` (8,) int32, slot by slot, -1 where there is none."""
    for slot in range(8):
        out[slot] = target(space, node, slot)


@kernel
def sum_successors(space, nodes, out):
    """Generate the successors of each node; return the sum of them all and their number, for benchmarks."""
    total, count = 0, 0
    for node in nodes:
        for slot in range(8):
            out[slot] = target(space, node, slot)
        for slot in range(8):
            if out[slot] >= 0:
                total += out[slot]
                count += 1
    return total, count
