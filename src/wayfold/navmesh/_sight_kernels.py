# mypy: ignore-errors
"""How a root sees an interval of an edge and what lies behind it (see `_interval_kernels`)."""

import numpy as np

from wayfold._jit import inline

_PARALLEL2 = 1e-24  # squared sine of an angle that counts as none


@inline
def cross(ax, ay, bx, by):
    return ax * by - ay * bx


@inline
def length(x, y):
    return np.sqrt(x * x + y * y)


@inline
def touches(lx, ly, rx, ry, x, y):
    """0 where a point is off the line through two ends, else 1 between them, 2 or 3 beyond the left or right one."""
    ux, uy = lx - rx, ly - ry
    ax, ay, bx, by = rx - x, ry - y, lx - x, ly - y
    facing = cross(ax, ay, bx, by)
    reach2 = max(ax * ax + ay * ay, bx * bx + by * by)
    if facing > 0.0 and facing * facing > _PARALLEL2 * (ux * ux + uy * uy) * reach2:
        return 0
    if bx * ux + by * uy < 0.0:
        return 2
    if ax * ux + ay * uy > 0.0:
        return 3
    return 1


@inline
def bend(where, goal_x, goal_y):
    """How a root sees a goal through its interval: 0 straight, 1 around the left end, 2 around the right; and how far.

    A goal on the root's own side of the interval is mirrored first, which gives a lower bound.
    """
    lx, ly, rx, ry, x, y = where[0], where[1], where[2], where[3], where[4], where[5]
    ux, uy = lx - rx, ly - ry
    touch = touches(lx, ly, rx, ry, x, y)
    if touch > 0:
        if touch == 1:
            return 0, length(goal_x - x, goal_y - y)
        if touch == 2:
            return 1, length(lx - x, ly - y) + length(goal_x - lx, goal_y - ly)
        return 2, length(rx - x, ry - y) + length(goal_x - rx, goal_y - ry)
    beyond = cross(ux, uy, goal_x - rx, goal_y - ry)
    if beyond > 0.0:
        # The root is on the left of the line from the right to the left end; so is the goal.
        beyond /= ux * ux + uy * uy
        goal_x += 2.0 * beyond * uy
        goal_y -= 2.0 * beyond * ux
    if cross(lx - x, ly - y, goal_x - x, goal_y - y) > 0.0:
        return 1, length(lx - x, ly - y) + length(goal_x - lx, goal_y - ly)
    if cross(rx - x, ry - y, goal_x - x, goal_y - y) < 0.0:
        return 2, length(rx - x, ry - y) + length(goal_x - rx, goal_y - ry)
    return 0, length(goal_x - x, goal_y - y)


@inline
def seen_from(x, y, to_x, to_y, vertex_x, vertex_y):
    """Side of the ray from (x, y) through (to_x, to_y) that a vertex lies on, 0 where it is on the ray's line."""
    dx, dy, vx, vy = to_x - x, to_y - y, vertex_x - x, vertex_y - y
    turn = cross(dx, dy, vx, vy)
    if turn * turn <= _PARALLEL2 * (dx * dx + dy * dy) * (vx * vx + vy * vy):
        return 0.0
    return turn
