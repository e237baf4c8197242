# mypy: ignore-errors
"""Questions about a decomposition: the region of a point, routes through regions, what is visible."""

import math
from typing import NamedTuple

import numpy as np

from wayfold.core.jit import implements, inline, kernel
from wayfold.geometry.plane_kernels import point_segment2
from wayfold.geometry.predicate_kernels import orientation
from wayfold.graph.search_kernels import cost, distance, slots, target


class RegionGrid(NamedTuple):
    """Regions as searches see them: corners in compressed rows, neighbours over gateways, and bins."""

    corners: np.ndarray  # (n, 2) float64, counter-clockwise within a region
    offsets: np.ndarray  # (r + 1,) int64, rows of `corners`
    heights: np.ndarray  # (r,) float64, z of each region
    beside: np.ndarray  # (r + 1,) int64, rows of `neighbours`
    neighbours: np.ndarray  # (2 g,) int32
    bins: np.ndarray  # (columns * rows + 1,) int64
    items: np.ndarray  # (k,) int32, regions by bin
    frame: np.ndarray  # (3,) float64: lowest x, lowest y, bins per metre
    shape: np.ndarray  # (2,) int64: columns, rows


class Marks(NamedTuple):
    """Scratch of a breadth-first walk, stamped instead of cleared."""

    stamp: np.ndarray  # (r,) int64
    queue: np.ndarray  # (r,) int32
    clock: np.ndarray  # (1,) int64


@inline
def holds(cells, region, x, y):
    """Whether a point lies in a region or on its border; exact for the corners and the point as they are given."""
    first, last = cells.offsets[region], cells.offsets[region + 1]
    ax, ay = cells.corners[last - 1, 0], cells.corners[last - 1, 1]
    for k in range(first, last):
        bx, by = cells.corners[k, 0], cells.corners[k, 1]
        if orientation(ax, ay, bx, by, x, y) < 0:
            return False
        ax, ay = bx, by
    return True


@inline
def is_near(cells, region, x, y, slack):
    """Whether a point lies in a region or at most `slack` metres beyond its edges."""
    first, last = cells.offsets[region], cells.offsets[region + 1]
    ax, ay = cells.corners[last - 1, 0], cells.corners[last - 1, 1]
    for k in range(first, last):
        bx, by = cells.corners[k, 0], cells.corners[k, 1]
        dx, dy = bx - ax, by - ay
        if dx * (y - ay) - dy * (x - ax) < -slack * math.hypot(dx, dy):
            return False
        ax, ay = bx, by
    return True


@inline
def is_on_rim(cells, region, x, y, slack):
    """Whether a point is at most `slack` metres from an edge of a region; beyond a sharp corner as beside an edge."""
    first, last = cells.offsets[region], cells.offsets[region + 1]
    ax, ay = cells.corners[last - 1, 0], cells.corners[last - 1, 1]
    for k in range(first, last):
        bx, by = cells.corners[k, 0], cells.corners[k, 1]
        dx, dy = bx - ax, by - ay
        size = dx * dx + dy * dy
        part = min(max(((x - ax) * dx + (y - ay) * dy) / size, 0.0), 1.0) if size > 0.0 else 0.0
        if math.hypot(x - ax - part * dx, y - ay - part * dy) <= slack:
            return True
        ax, ay = bx, by
    return False


@inline
def walk_outwards(cells, marks, x, y, z, max_rise, region):
    """The region that holds a point, found breadth-first from `region` (Hale et al. 2008, introduction), or -1."""
    marks.clock[0] += 1
    clock = marks.clock[0]
    marks.queue[0] = region
    marks.stamp[region] = clock
    head, tail = 0, 1
    while head < tail:
        region = marks.queue[head]
        head += 1
        if abs(cells.heights[region] - z) <= max_rise and holds(cells, region, x, y):
            return region
        for index in range(cells.beside[region], cells.beside[region + 1]):
            other = cells.neighbours[index]
            if marks.stamp[other] != clock:
                marks.stamp[other] = clock
                marks.queue[tail] = other
                tail += 1
    return -1


@inline
def bin_of(cells, x, y):
    """The bin that a point falls into; points beyond the border of the bins belong to the last ones."""
    column = int((x - cells.frame[0]) * cells.frame[2])
    row = int((y - cells.frame[1]) * cells.frame[2])
    column, row = min(max(column, 0), cells.shape[0] - 1), min(max(row, 0), cells.shape[1] - 1)
    return row * cells.shape[0] + column


@inline
def look_up(cells, x, y, z, slack):
    """The region that holds a point, the nearest in height if there are several (then the first); -1 if none does.

    Corners of regions are computed, so between two of them there may be a gap of rounding: a point that no region
    holds belongs to those within `slack` of it.
    """
    bin_ = bin_of(cells, x, y)
    best, found = np.inf, -1
    almost, fallback = np.inf, -1
    for index in range(cells.bins[bin_], cells.bins[bin_ + 1]):
        region = cells.items[index]
        away = abs(cells.heights[region] - z)
        if away < best and holds(cells, region, x, y):
            best, found = away, region
        elif away < almost and found < 0 and is_near(cells, region, x, y, slack):
            almost, fallback = away, region
    return found if found >= 0 else fallback


@kernel
def touching(cells, levels, points, regions, slack, found):
    """Set each row of `found` (q, most) int32 to all regions that a point (q, 3) touches, then -1.

    They are those of the level of ``regions[row]``, the region that `locate` has found: a point on a border belongs to
    every region it touches. Corners of regions are rounded, so a corner as it was given may lie inside one region and
    beside another that has it too: half of `slack` allows for that. `most` is as large as the fullest bin.
    """
    for row in range(points.shape[0]):
        x, y, chosen = points[row, 0], points[row, 1], regions[row]
        found[row, :] = -1
        if chosen < 0:
            continue
        inside = holds(cells, chosen, x, y)
        bin_ = bin_of(cells, x, y)
        used = 0
        for index in range(cells.bins[bin_], cells.bins[bin_ + 1]):
            region = cells.items[index]
            if levels[region] != levels[chosen]:
                continue
            if inside:
                touched = holds(cells, region, x, y) or is_on_rim(cells, region, x, y, 0.5 * slack)
            else:
                touched = is_near(cells, region, x, y, slack)
            if touched:
                found[row, used] = region
                used += 1


@kernel
def locate(cells, marks, points, hints, max_rise, slack, regions):
    """Set `regions` (q,) int32 to the region of each point (q, 3), -1 for none.

    `hints` (q,) int32 are the last known regions, -1 for unknown. From a hint the walk goes outwards over gateways;
    what it cannot reach (another part of the free space) is looked up in the bins, as are points without a hint.
    """
    for row in range(points.shape[0]):
        x, y, z = points[row, 0], points[row, 1], points[row, 2]
        found = -1
        if hints[row] >= 0:
            found = walk_outwards(cells, marks, x, y, z, max_rise, hints[row])
        if found < 0:
            found = look_up(cells, x, y, z, slack)
        regions[row] = found


@kernel
def bin_boxes(boxes, frame, shape, counts, items, fill):
    """Count the boxes (r, 4) of each bin into `counts` (bins + 1,), or write their numbers where `fill` is set."""
    inverse = frame[2]
    for box in range(boxes.shape[0]):
        left = min(max(int((boxes[box, 0] - frame[0]) * inverse), 0), shape[0] - 1)
        right = min(max(int((boxes[box, 2] - frame[0]) * inverse), 0), shape[0] - 1)
        low = min(max(int((boxes[box, 1] - frame[1]) * inverse), 0), shape[1] - 1)
        high = min(max(int((boxes[box, 3] - frame[1]) * inverse), 0), shape[1] - 1)
        for row in range(low, high + 1):
            for column in range(left, right + 1):
                bin_ = row * shape[0] + column
                if fill:
                    items[counts[bin_]] = box
                    counts[bin_] += 1
                else:
                    counts[bin_ + 1] += 1


@kernel
def wall_distances(walls, points, most, distances):
    """Set `distances` (q,) to the distance of each point (q, 2) to the nearest wall, at most `most` metres.

    `walls` are those of the growth kernels.
    """
    for row in range(points.shape[0]):
        x, y = points[row, 0], points[row, 1]
        best = most * most
        inverse = walls.frame[2]
        left = min(max(int((x - most - walls.frame[0]) * inverse), 0), walls.shape[0] - 1)
        right = min(max(int((x + most - walls.frame[0]) * inverse), 0), walls.shape[0] - 1)
        low = min(max(int((y - most - walls.frame[1]) * inverse), 0), walls.shape[1] - 1)
        high = min(max(int((y + most - walls.frame[1]) * inverse), 0), walls.shape[1] - 1)
        for line in range(low, high + 1):
            for column in range(left, right + 1):
                bin_ = line * walls.shape[0] + column
                for index in range(walls.bins[bin_], walls.bins[bin_ + 1]):
                    wall = walls.items[index]
                    ends = walls.ends
                    best = min(best, point_segment2(x, y, ends[wall, 0], ends[wall, 1], ends[wall, 2], ends[wall, 3]))
        distances[row] = math.sqrt(best)


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
