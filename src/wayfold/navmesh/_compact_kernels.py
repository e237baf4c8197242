# mypy: ignore-errors
"""The open space above walkable spans: links to the four neighbours, erosion by the radius, distance to the rim.

Sides are numbered counter-clockwise: 0 west (-x), 1 south (-y), 2 east (+x), 3 north (+y); the opposite of side d is
``d ^ 2``. Spans are stored column by column: going through them in order visits south and west before north and east.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import inline, kernel, kernel_with_memory
from wayfold.navmesh._field_kernels import HAIR, OPEN_SKY, step_between, stepped_over

_BLUR_FROM = 2  # distances up to this (one cell) are left as they are: the rim must not move


class Open(NamedTuple):
    """Walkable ground of a tile with the free space above it, in compressed rows of columns."""

    offsets: np.ndarray  # (columns + 1,) int32
    floor: np.ndarray  # (n,) int32, cell heights
    ceiling: np.ndarray  # (n,) int32
    kind: np.ndarray  # (n,) uint8, 0 once a span is closed
    ground: np.ndarray  # (n,) float32, metres above the origin
    links: np.ndarray  # (n, 4) int32, the span that one steps to on each side, -1 for none
    high: np.ndarray  # (n,) float64, see `Field`
    foot: np.ndarray  # (n,) float64
    ledge: np.ndarray  # (n,) uint8, 1 beside a drop: nobody stands there, but it is ground


@kernel_with_memory
def open_space(vertices, triangles, frame, parts, field, ledge, height, climb):
    """The open spans above walkable ground, each linked to those that the agent can step to.

    Two spans link when the space that they share is at least `height` (cell heights) high and the step between them is
    at most `climb` (metres). Where their heights leave that open, as on a slope that falls towards a step, the ground
    on both sides of the border of their columns decides.
    """
    width, depth = frame.width, frame.depth
    offsets = np.zeros(width * depth + 1, np.int32)
    for column in range(width * depth):
        count = 0
        for k in range(field.offsets[column], field.offsets[column + 1]):
            if field.kind[k] > 0:
                count += 1
        offsets[column + 1] = offsets[column] + count
    size = offsets[-1]
    floor = np.empty(size, np.int32)
    ceiling = np.empty(size, np.int32)
    kind = np.empty(size, np.uint8)
    ground = np.empty(size, np.float32)
    links = np.full((size, 4), -1, np.int32)
    high = np.empty(size)
    foot = np.empty(size)
    drop = np.empty(size, np.uint8)
    at = 0
    for column in range(width * depth):
        for k in range(field.offsets[column], field.offsets[column + 1]):
            if field.kind[k] > 0:
                floor[at] = field.top[k]
                ceiling[at] = field.low[k + 1] if k + 1 < field.offsets[column + 1] else OPEN_SKY
                kind[at] = field.kind[k]
                ground[at] = field.ground[k]
                high[at] = field.high[k]
                foot[at] = field.foot[k]
                drop[at] = ledge[k]
                at += 1
    space = Open(offsets, floor, ceiling, kind, ground, links, high, foot, drop)
    for y in range(depth):
        for x in range(width):
            column = y * width + x
            # East and north are enough: links go both ways.
            for side in (2, 3):
                if (side == 2 and x + 1 == width) or (side == 3 and y + 1 == depth):
                    continue
                beside = column + 1 if side == 2 else column + width
                for k in range(offsets[column], offsets[column + 1]):
                    for other in range(offsets[beside], offsets[beside + 1]):
                        free = min(ceiling[k], ceiling[other]) - max(floor[k], floor[other])
                        if free < height or links[other, side ^ 2] >= 0:
                            continue
                        step = step_between(space, k, other)
                        if step > climb:
                            continue
                        reach = max(high[k], high[other]) - min(foot[k], foot[other])
                        if (step > HAIR * frame.cell or reach > climb) and not stepped_over(
                            vertices, triangles, frame, parts, space, k, column, other, beside, side, climb
                        ):
                            continue
                        links[k, side] = other
                        links[other, side ^ 2] = k
                        break
    return space


@inline
def _nearer(distance, links, k, side, turn, best):
    """The smaller of `best` and the distance over the neighbour on `side`, or over that one's neighbour on `turn`."""
    beside = links[k, side]
    if beside >= 0:
        best = min(best, distance[beside] + 2)
        diagonal = links[beside, turn]
        if diagonal >= 0:
            best = min(best, distance[diagonal] + 3)
    return best


@kernel
def rim_distance(links, kind, distance):
    """Distance of each span to the rim of its area in half cells (2 straight, 3 diagonally); return the largest.

    Spans beside a wall, a closed span or another kind of area, and closed spans themselves, have distance 0.
    """
    size = len(links)
    for k in range(size):
        inside = kind[k] > 0
        for side in range(4):
            beside = links[k, side]
            if beside < 0 or kind[beside] != kind[k]:
                inside = False
        distance[k] = OPEN_SKY if inside else 0
    for k in range(size):
        best = _nearer(distance, links, k, 0, 1, distance[k])
        distance[k] = _nearer(distance, links, k, 1, 2, best)
    largest = 0
    for k in range(size - 1, -1, -1):
        best = _nearer(distance, links, k, 2, 3, distance[k])
        distance[k] = _nearer(distance, links, k, 3, 0, best)
        largest = max(largest, distance[k])
    return largest


@kernel
def wall_distance(space, firm, distance):
    """Distance of each span to walls and drops in half cells, whatever the kinds of area.

    `firm` (n,) uint8 is set: 1 for walkable ground that is no ledge.
    """
    for k in range(firm.size):
        firm[k] = 1 if space.kind[k] > 0 and space.ledge[k] == 0 else 0
    return rim_distance(space.links, firm, distance)


@kernel
def erode(kind, firm, distance, radius):
    """Close ledges and every span nearer than `radius` cells to a wall or a drop; arrays as of `wall_distance`."""
    for k in range(kind.size):
        if firm[k] == 0 or distance[k] < 2 * radius:
            kind[k] = 0


@kernel
def blur(links, distance, blurred):
    """Smooth the distances a little, so that the watershed does not see every dent of the rim; return the largest."""
    largest = 0
    for k in range(distance.size):
        own = distance[k]
        if own <= _BLUR_FROM:
            blurred[k] = own
            largest = max(largest, own)
            continue
        total = own
        for side in range(4):
            beside = links[k, side]
            if beside < 0:
                total += 2 * own
                continue
            total += distance[beside]
            diagonal = links[beside, (side + 1) & 3]
            total += distance[diagonal] if diagonal >= 0 else own
        blurred[k] = (total + 5) // 9
        largest = max(largest, blurred[k])
    return largest
