# mypy: ignore-errors
"""String pulling: the shortest way through a corridor of portals (the funnel of Lee and Preparata, 1984)."""

from wayfold.core.jit import inline, kernel
from wayfold.geometry.plane_kernels import point_segment2
from wayfold.geometry.predicate_kernels import orientation


@inline
def _passed(portals, at, last, x, y, near):
    """The first portal from `at` on that a point is not on: through the others it gets without a step."""
    while at < last:
        if point_segment2(x, y, portals[at, 0], portals[at, 1], portals[at, 2], portals[at, 3]) > near * near:
            break
        at += 1
    return at


@inline
def _edge_on(ax, ay, lx, ly, rx, ry, near):
    """Whether a portal is seen edge-on, or from behind as it may be by rounding: a is at most `near` from its line."""
    if orientation(ax, ay, rx, ry, lx, ly) <= 0:
        return True
    ux, uy = lx - rx, ly - ry
    turn = ux * (ay - ry) - uy * (ax - rx)
    return turn * turn <= near * near * (ux * ux + uy * uy)


@kernel
def pull_string(portals, start, goal, near, points, portal_of):
    """Write the corners of the shortest way from `start` to `goal` through the portals; return how many there are.

    Parameters
    ----------
    portals : (k, 4) float64
        Left x, left y, right x, right y of each portal, as seen by one who walks through it.
    start, goal : (2,) float64
    near : float
        Metres by which a point that is meant to be on a portal may lie beside it.
    points : (k + 2, 2) float64
        Overwritten with the corners.
    portal_of : (k + 2,) int64
        Overwritten with the portal that each corner is an end of; -1 for the start, k for the goal.

    Notes
    -----
    Seen from a point on a portal its ends are half a turn apart, and at one of its ends any way, so that rounding would
    say on which side of the funnel the rest of the world is. Portals that the apex is on are passed without a look at
    them. From beyond all of them the next one is seen at less than half a turn, or edge-on: then every way through it
    leads by the end that is nearer.
    """
    count = portals.shape[0]
    points[0, 0], points[0, 1] = start[0], start[1]
    portal_of[0] = -1
    used = 1
    ax, ay = start[0], start[1]  # apex of the funnel
    lx, ly, rx, ry = ax, ay, ax, ay  # its two sides
    left, right = -1, -1  # the portals that the sides end at
    at = _passed(portals, 0, count, ax, ay, near)
    last = count
    while last > at:
        row = portals[last - 1]
        if point_segment2(goal[0], goal[1], row[0], row[1], row[2], row[3]) > near * near:
            break
        last -= 1
    while at <= last:
        if at < last:
            new_lx, new_ly, new_rx, new_ry = portals[at, 0], portals[at, 1], portals[at, 2], portals[at, 3]
            if _edge_on(ax, ay, new_lx, new_ly, new_rx, new_ry, near):
                to_left = (new_lx - ax) * (new_lx - ax) + (new_ly - ay) * (new_ly - ay)
                if to_left < (new_rx - ax) * (new_rx - ax) + (new_ry - ay) * (new_ry - ay):
                    new_rx, new_ry = new_lx, new_ly
                else:
                    new_lx, new_ly = new_rx, new_ry
        else:
            new_lx, new_ly, new_rx, new_ry = goal[0], goal[1], goal[0], goal[1]
        corner = -1
        if orientation(ax, ay, rx, ry, new_rx, new_ry) >= 0:
            if right < 0 or orientation(ax, ay, lx, ly, new_rx, new_ry) < 0:
                rx, ry, right = new_rx, new_ry, at
            else:  # the right side crosses the left one: the left end is a corner
                ax, ay, corner = lx, ly, left
        if corner < 0 and orientation(ax, ay, lx, ly, new_lx, new_ly) <= 0:
            if left < 0 or orientation(ax, ay, rx, ry, new_lx, new_ly) > 0:
                lx, ly, left = new_lx, new_ly, at
            else:
                ax, ay, corner = rx, ry, right
        at += 1
        if 0 <= corner < last:  # at `last` it is the goal
            points[used, 0], points[used, 1], portal_of[used] = ax, ay, corner
            used += 1
            lx, ly, rx, ry, left, right = ax, ay, ax, ay, -1, -1
            at = _passed(portals, corner + 1, last, ax, ay, near)
    if points[used - 1, 0] != goal[0] or points[used - 1, 1] != goal[1]:
        points[used, 0], points[used, 1], portal_of[used] = goal[0], goal[1], count
        used += 1
    return used
