# mypy: ignore-errors
"""How a root sees what lies behind an interval of an edge (see `_interval_kernels`)."""

import numpy as np

from wayfold.core.jit import inline
from wayfold.geometry._predicates_kernels import orientation

# Bits of a search node. Typed, as a plain number would make another signature of everything that it is passed to.
FINAL, OPEN, LEFT_BEHIND, RIGHT_BEHIND, PASSED = (np.int64(1 << bit) for bit in range(5))
_PARALLEL2 = 1e-24  # squared sine of an angle that a lower bound need not care for


@inline
def cross(ax, ay, bx, by):
    return ax * by - ay * bx


@inline
def length(x, y):
    return np.sqrt(x * x + y * y)


@inline
def side(x, y, bound_x, bound_y, behind, to_x, to_y):
    """Side of a rim of the view on which a point lies, exactly: 1 left, -1 right, 0 on it.

    The rim is the ray from the root (x, y) through its bound, or, with `behind`, away from it.
    """
    turn = orientation(x, y, bound_x, bound_y, to_x, to_y)
    return -turn if behind else turn


@inline
def reach(where, flags, goal_x, goal_y):
    """How a root gets to a point of the polygon behind its interval, and how far that is.

    0 straight, 1 around the left end, 2 around the right end. Exact in which of them it is.
    """
    lx, ly, rx, ry, x, y = where[0], where[1], where[2], where[3], where[4], where[5]
    if flags & OPEN == 0:
        if side(x, y, where[7], where[8], flags & LEFT_BEHIND, goal_x, goal_y) > 0:
            return 1, length(lx - x, ly - y) + length(goal_x - lx, goal_y - ly)
        if side(x, y, where[9], where[10], flags & RIGHT_BEHIND, goal_x, goal_y) < 0:
            return 2, length(rx - x, ry - y) + length(goal_x - rx, goal_y - ry)
    return 0, length(goal_x - x, goal_y - y)


@inline
def at_least(where, vertices, left, right, goal_x, goal_y):
    """A lower bound of the way from a root through its interval to any point of the plane.

    `left` and `right` are the ends of the edge that the interval lies on. A goal on the root's own side of it is
    mirrored first.
    """
    lx, ly, rx, ry, x, y = where[0], where[1], where[2], where[3], where[4], where[5]
    if left >= 0:
        vx, vy = vertices[right, 0], vertices[right, 1]
        ux, uy = vertices[left, 0] - vx, vertices[left, 1] - vy
        beyond = cross(ux, uy, goal_x - vx, goal_y - vy)
        if beyond > 0.0:
            # The root is on the left of the line from the right to the left end; so is the goal.
            beyond /= ux * ux + uy * uy
            goal_x += 2.0 * beyond * uy
            goal_y -= 2.0 * beyond * ux
        gx, gy = goal_x - x, goal_y - y
        far2 = gx * gx + gy * gy
        ax, ay = lx - x, ly - y
        turn = cross(ax, ay, gx, gy)
        if turn > 0.0 and turn * turn > _PARALLEL2 * far2 * (ax * ax + ay * ay):
            return length(ax, ay) + length(goal_x - lx, goal_y - ly)
        ax, ay = rx - x, ry - y
        turn = cross(ax, ay, gx, gy)
        if turn < 0.0 and turn * turn > _PARALLEL2 * far2 * (ax * ax + ay * ay):
            return length(ax, ay) + length(goal_x - rx, goal_y - ry)
        return np.sqrt(far2)
    return length(goal_x - x, goal_y - y)


@inline
def cut(ax, ay, bx, by, px, py, qx, qy):
    """Where the line through p and q cuts the edge from a to b, up to rounding."""
    dx, dy = qx - px, qy - py
    one, two = cross(dx, dy, ax - px, ay - py), cross(dx, dy, bx - px, by - py)
    part = one / (one - two) if one != two else 0.5
    part = min(1.0, max(0.0, part))
    return ax + part * (bx - ax), ay + part * (by - ay)
