# mypy: ignore-errors
"""What can be seen from a point: cones of view through gateways."""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import inline, kernel


class Doors(NamedTuple):
    """The gateways of each region in compressed rows, as one sees them who leaves the region."""

    offsets: np.ndarray  # (r + 1,) int64
    regions: np.ndarray  # (2 g,) int32, where a gateway leads
    sides: np.ndarray  # (2 g, 4) float64, its left and its right end


@inline
def _left_of(ax, ay, bx, by):
    """Positive where direction b points to the left of direction a."""
    return ax * by - ay * bx


@kernel
def see(doors, x, y, region, targets, target_regions, seen, visible, stack, cones):
    """Mark the regions seen from a point, and the targets (points) seen from it; returns False if the stack is full.

    Parameters
    ----------
    region : int
        The region of the point; all of it is seen, as it is convex.
    targets : (t, 2) float64, target_regions : (t,) int32
        Sorted by region.
    seen : (r,) bool, visible : (t,) bool
        Set where seen; the caller clears them.
    stack : (s, 2) int32, cones : (s, 4) float64
        Scratch: region and the region before it; left and right direction of the cone.
    """
    stack[0, 0], stack[0, 1] = region, -1
    cones[0, :] = 0.0
    size = 1
    while size > 0:
        size -= 1
        here, before = stack[size, 0], stack[size, 1]
        lx, ly, rx, ry = cones[size, 0], cones[size, 1], cones[size, 2], cones[size, 3]
        whole = before < 0
        seen[here] = True
        for t in range(np.searchsorted(target_regions, here), np.searchsorted(target_regions, here + 1)):
            dx, dy = targets[t, 0] - x, targets[t, 1] - y
            if whole or (_left_of(lx, ly, dx, dy) <= 0.0 and _left_of(rx, ry, dx, dy) >= 0.0):
                visible[t] = True
        for door in range(doors.offsets[here], doors.offsets[here + 1]):
            other = doors.regions[door]
            if other == before:
                continue
            ax, ay = doors.sides[door, 0] - x, doors.sides[door, 1] - y
            bx, by = doors.sides[door, 2] - x, doors.sides[door, 3] - y
            if _left_of(bx, by, ax, ay) < 0.0:
                continue  # seen from behind
            if not whole:
                if _left_of(lx, ly, bx, by) > 0.0 or _left_of(rx, ry, ax, ay) < 0.0:
                    continue  # beside the cone
                if _left_of(lx, ly, ax, ay) > 0.0:
                    ax, ay = lx, ly
                if _left_of(rx, ry, bx, by) < 0.0:
                    bx, by = rx, ry
            if size == stack.shape[0]:
                return False
            stack[size, 0], stack[size, 1] = other, here
            cones[size, 0], cones[size, 1], cones[size, 2], cones[size, 3] = ax, ay, bx, by
            size += 1
    return True
