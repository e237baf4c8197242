# mypy: ignore-errors
"""String pulling: the shortest way through a corridor of portals (the funnel of Lee and Preparata, 1984)."""

from wayfold.core.jit import inline, kernel

_ROUNDING = 1e-14


@inline
def _turn(ax, ay, bx, by, cx, cy):
    """Twice the signed area of a, b, c: positive when they turn left."""
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


@inline
def _opposite(ax, ay, px, py, qx, qy):
    """Whether p and q lie in opposite directions from a, but for rounding."""
    ux, uy, vx, vy = px - ax, py - ay, qx - ax, qy - ay
    if not ux * vx + uy * vy < 0.0:
        return False
    size = abs(ux) + abs(uy) + abs(vx) + abs(vy)
    return abs(ux * vy - uy * vx) <= _ROUNDING * size * (size + abs(ax) + abs(ay))


@kernel
def pull_string(portals, start, goal, points, portal_of):
    """Write the corners of the shortest way from `start` to `goal` through the portals; return how many there are.

    Parameters
    ----------
    portals : (k, 4) float64
        Left x, left y, right x, right y of each portal, as seen by one who walks through it.
    start, goal : (2,) float64
    points : (k + 2, 2) float64
        Overwritten with the corners.
    portal_of : (k + 2,) int64
        Overwritten with the portal that each corner is an end of; -1 for the start, k for the goal.

    Notes
    -----
    The sides are half a turn apart, and an end may move by half a turn, only where the apex lies on a side of the
    polygon that both ends are corners of. That polygon is convex, so the way is inside: the end moved inwards, whatever
    rounding says of the turn.
    """
    count = portals.shape[0]
    points[0, 0], points[0, 1] = start[0], start[1]
    portal_of[0] = -1
    used = 1
    ax, ay = start[0], start[1]  # apex of the funnel
    lx, ly, rx, ry = ax, ay, ax, ay  # its two sides
    left, right = -1, -1  # the portals that the sides end at
    at = 0
    while at <= count:
        if at < count:
            new_lx, new_ly, new_rx, new_ry = portals[at, 0], portals[at, 1], portals[at, 2], portals[at, 3]
        else:
            new_lx, new_ly, new_rx, new_ry = goal[0], goal[1], goal[0], goal[1]
        if _turn(ax, ay, rx, ry, new_rx, new_ry) >= 0.0 or _opposite(ax, ay, rx, ry, new_rx, new_ry):
            open_ = _turn(ax, ay, lx, ly, new_rx, new_ry) < 0.0 or _opposite(ax, ay, lx, ly, new_rx, new_ry)
            if (ax == rx and ay == ry) or open_:
                rx, ry, right = new_rx, new_ry, at
            else:  # the right side crosses the left one: the left end is a corner
                ax, ay = lx, ly
                at = left
                points[used, 0], points[used, 1], portal_of[used] = ax, ay, at
                used += 1
                rx, ry, right = ax, ay, at
                at += 1
                continue
        if _turn(ax, ay, lx, ly, new_lx, new_ly) <= 0.0 or _opposite(ax, ay, lx, ly, new_lx, new_ly):
            open_ = _turn(ax, ay, rx, ry, new_lx, new_ly) > 0.0 or _opposite(ax, ay, rx, ry, new_lx, new_ly)
            if (ax == lx and ay == ly) or open_:
                lx, ly, left = new_lx, new_ly, at
            else:
                ax, ay = rx, ry
                at = right
                points[used, 0], points[used, 1], portal_of[used] = ax, ay, at
                used += 1
                lx, ly, left = ax, ay, at
                at += 1
                continue
        at += 1
    if points[used - 1, 0] != goal[0] or points[used - 1, 1] != goal[1]:
        points[used, 0], points[used, 1], portal_of[used] = goal[0], goal[1], count
        used += 1
    return used
