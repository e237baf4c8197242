# mypy: ignore-errors
"""Zones: prisms in which ground has another kind of area, or is closed."""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import inline, kernel
from wayfold.geometry._plane_kernels import point_in_polygon

_HAIR = 1e-3  # of a voxel: a zone that ends at the ground does not reach over it


class Zones(NamedTuple):
    """Prisms over polygons, in compressed rows of corners."""

    offsets: np.ndarray  # (z + 1,) int64
    corners: np.ndarray  # (k, 2) float64, metres
    heights: np.ndarray  # (z, 2) float64, low and high end, metres
    kinds: np.ndarray  # (z, 256) uint8, what each kind becomes; all 0 for closed


@inline
def _passes(ring, low_x, low_y, size):
    """Whether an edge of a polygon passes through the inside of a square."""
    count = len(ring)
    for k in range(count):
        ax, ay = ring[k, 0] - low_x, ring[k, 1] - low_y
        bx, by = ring[k + 1 if k + 1 < count else 0, 0] - low_x, ring[k + 1 if k + 1 < count else 0, 1] - low_y
        if max(ax, bx) <= 0.0 or max(ay, by) <= 0.0 or min(ax, bx) >= size or min(ay, by) >= size:
            continue
        # The boxes overlap: the edge passes unless all four corners of the square lie on one side of its line.
        dx, dy = bx - ax, by - ay
        turn = dy * ax - dx * ay
        one, two, three, four = turn, turn - dy * size, turn + dx * size, turn + (dx - dy) * size
        if min(min(one, two), min(three, four)) < 0.0 < max(max(one, two), max(three, four)):
            return True
    return False


@inline
def closes(space, frame, height, zones, zone, k):
    """Whether a body of `height` voxels that stands on a span reaches into a zone, if the zone is in its column."""
    low, high = zones.heights[zone, 0] - frame.z, zones.heights[zone, 1] - frame.z
    # The floor's voxel may end above a flat zone whose top the ground itself is below.
    under = space.floor[k] < np.ceil(high / frame.cell_height) or space.ground[k] < high - _HAIR * frame.cell_height
    return under and space.floor[k] + height > np.floor(low / frame.cell_height)


@kernel
def mark(space, frame, height, zones, closing):
    """Give the ground in zones their kinds, later zones last; with `closing`, do what zones of kind 0 ask for instead.

    A span belongs to a zone when the middle of its column does, and the height of its ground up to half a voxel. A
    zone that closes takes every column that it reaches into, and all ground from which a body of `height` voxels
    reaches into it: what is closed must never look smaller than it is.
    """
    for zone in range(len(zones.kinds)):
        kinds = zones.kinds[zone]
        if (kinds[1] == 0) != closing:
            continue
        ring = zones.corners[zones.offsets[zone] : zones.offsets[zone + 1]]
        low_x, low_y, high_x, high_y = np.inf, np.inf, -np.inf, -np.inf
        for k in range(len(ring)):
            low_x, high_x = min(low_x, ring[k, 0]), max(high_x, ring[k, 0])
            low_y, high_y = min(low_y, ring[k, 1]), max(high_y, ring[k, 1])
        low, high = zones.heights[zone, 0] - frame.z, zones.heights[zone, 1] - frame.z
        slack = 0.5 * frame.cell_height
        # Clipped before they are whole numbers: a zone may lie anywhere.
        first_x = int(max(np.floor((low_x - frame.x) / frame.cell), frame.first_x))
        first_y = int(max(np.floor((low_y - frame.y) / frame.cell), frame.first_y))
        last_x = int(min(np.floor((high_x - frame.x) / frame.cell), frame.first_x + frame.width - 1))
        last_y = int(min(np.floor((high_y - frame.y) / frame.cell), frame.first_y + frame.depth - 1))
        for y in range(first_y, last_y + 1):
            for x in range(first_x, last_x + 1):
                column = (y - frame.first_y) * frame.width + x - frame.first_x
                if space.offsets[column] == space.offsets[column + 1]:
                    continue
                inside = point_in_polygon(ring, frame.x + (x + 0.5) * frame.cell, frame.y + (y + 0.5) * frame.cell)
                if closing and not inside:
                    inside = _passes(ring, frame.x + x * frame.cell, frame.y + y * frame.cell, frame.cell)
                if not inside:
                    continue
                for k in range(space.offsets[column], space.offsets[column + 1]):
                    if closing:
                        if closes(space, frame, height, zones, zone, k):
                            space.kind[k] = 0
                    elif space.kind[k] > 0 and low - slack <= space.ground[k] <= high + slack:
                        space.kind[k] = kinds[space.kind[k]]
