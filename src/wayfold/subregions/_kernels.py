# mypy: ignore-errors
"""Subregions: detection, connection (Wardhana et al. 2015, Algorithms 1 to 3), and what exact searches use.

A path enters and leaves a region by *portals*: boundary waypoints, and ends of edges that leave the region. Between two
portals it follows a shortest way inside the region, and the waypoints on one such way are all that is needed. Where
edges cost their length, portals that see each other need none; where costs are stored, a way round may be cheaper.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import implements, inline, kernel
from wayfold.graph.search_kernels import (
    FOUND,
    HEAP_FULL,
    UNLIMITED,
    GraphSpace,
    as_its_graph,
    cost,
    distance,
    reached,
    search,
    slots,
    straight,
    target,
)

FULL = -1  # the table of connections has to be larger


class RegionLayout(NamedTuple):
    """Regions as the kernels see them."""

    of: np.ndarray  # (n, 2) int32, regions of each waypoint; the second is -1 for a local one
    offsets: np.ndarray  # (k + 1,) int64
    members: np.ndarray  # (t,) int32, waypoints by region
    active: np.ndarray  # (n,) uint8, which of its two regions a boundary waypoint starts a search in


class Connections(NamedTuple):
    """A hash table of subregion pairs, open addressing; its size is a power of two."""

    keys: np.ndarray  # (c,) int64, low * 2^32 + high, -1 where free
    count: np.ndarray  # (c,) int64, waypoint edges between the two
    shortest: np.ndarray  # (c,) float64
    longest: np.ndarray  # (c,) float64
    total: np.ndarray  # (c,) float64, sum of the lengths


@inline
def usable(space, node):
    """Whether a waypoint has an edge that the character can use."""
    first, last = slots(space, node)
    for slot in range(first, last):
        successor = target(space, node, slot)
        if successor >= 0 and cost(space, node, slot, successor) < np.inf:
            return True
    return False


@inline
def subregional_search(space, of, root, region, label, labels, null, queue):
    """Algorithm 3: label what can be visited from `root` inside the active region; return how many waypoints."""
    queue[0] = root
    labels[root] = label
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        first, last = slots(space, node)
        for slot in range(first, last):
            successor = target(space, node, slot)
            if successor < 0 or labels[successor] != null:
                continue
            if of[successor, 0] != region and of[successor, 1] != region:
                continue
            if not cost(space, node, slot, successor) < np.inf:
                continue
            labels[successor] = label
            queue[tail] = successor
            tail += 1
    return tail


@inline
def detect_in_region(space, layout, region, boundary, labels, null, queue, label):
    """Algorithm 2 for the waypoints of one region, which get labels from `label` on; return the next free label."""
    of = layout.of
    for at in range(layout.offsets[region], layout.offsets[region + 1]):
        root = layout.members[at]
        if labels[root] != null or (of[root, 1] >= 0) != boundary:
            continue
        if boundary and of[root, layout.active[root]] != region:
            continue
        if usable(space, root):
            subregional_search(space, of, root, region, label, labels, null, queue)
            label += 1
    return label


@kernel
def detect(space, layout, order, labels, home, queue):
    """Algorithm 1, lines 4 and 5: local waypoints first, then boundary ones; return the number of subregions.

    Regions are processed in `order` (k,) int32. `labels` (n,) int32 is overwritten (-1 for waypoints without a usable
    edge); `home` (n,) int32 gets the active region of each subregion; `queue` (n,) int32 is scratch.
    """
    labels[:] = -1
    null = np.int32(-1)
    label = np.int32(0)
    for boundary in (False, True):
        for region in order:
            after = detect_in_region(space, layout, region, boundary, labels, null, queue, label)
            home[label:after] = region
            label = after
    return label


@inline
def slot_of(keys, key):
    """Where a key stands in the table, or the free slot where it belongs."""
    mask = keys.size - 1
    # Fibonacci hashing: the multiplier is 2^64 over the golden ratio.
    at = ((np.uint64(key) * np.uint64(11400714819323198485)) >> np.uint64(20)) & np.uint64(mask)
    at = np.int64(at)
    while keys[at] != -1 and keys[at] != key:
        at = (at + 1) & mask
    return at


@inline
def add_edge(table, low, high, length, used):
    """Count one waypoint edge between two subregions; return the number of used slots."""
    key = np.int64(low) << 32 | np.int64(high)
    at = slot_of(table.keys, key)
    if table.keys[at] == -1:
        table.keys[at] = key
        table.count[at] = 0
        table.shortest[at] = np.inf
        table.longest[at] = 0.0
        table.total[at] = 0.0
        used += 1
    table.count[at] += 1
    table.shortest[at] = min(table.shortest[at], length)
    table.longest[at] = max(table.longest[at], length)
    table.total[at] += length
    return used


@kernel
def connect(space, labels, table):
    """Algorithm 1, lines 6 to 11, with what every cost scheme needs; the number of connections, or FULL.

    `table.keys` is all -1. Both directions of an edge are stored, so only the one from the lower waypoint counts.
    """
    used = 0
    for node in range(labels.size):
        mine = labels[node]
        if mine < 0:
            continue
        first, last = slots(space, node)
        for slot in range(first, last):
            successor = target(space, node, slot)
            if successor <= node or labels[successor] == mine:
                continue
            if not cost(space, node, slot, successor) < np.inf:
                continue
            if 2 * used >= table.keys.size:
                return FULL
            other = labels[successor]
            length = straight(space.points, node, successor)
            used = add_edge(table, min(mine, other), max(mine, other), length, used)
    return used


@kernel
def centroids(points, labels, sums, counts):
    """Add up the positions of the waypoints of each subregion: `sums` (s, 3) float64, `counts` (s,) int64, both 0."""
    for node in range(labels.size):
        label = labels[node]
        if label >= 0:
            counts[label] += 1
            for axis in range(3):
                sums[label, axis] += points[node, axis]


@kernel
def mark_corridor(sub, parent, end, margin, allowed, marked):
    """Allow the subregions on the way to `end` and those up to `margin` connections beside it; return how many.

    `allowed` (s,) uint8 is 0 before; `marked` (s,) int32 lists what was set, for `clear_corridor`.
    """
    count = 0
    while end >= 0:
        allowed[end] = 1
        marked[count] = end
        count += 1
        end = parent[end]
    begin = 0
    for _ in range(margin):
        ring = count
        for at in range(begin, ring):
            first, last = slots(sub, marked[at])
            for slot in range(first, last):
                beside = target(sub, marked[at], slot)
                if beside >= 0 and allowed[beside] == 0 and cost(sub, marked[at], slot, beside) < np.inf:
                    allowed[beside] = 1
                    marked[count] = beside
                    count += 1
        if count == ring:
            break
        begin = ring
    return count


@kernel
def clear_corridor(allowed, marked, count):
    """Undo `mark_corridor`."""
    for at in range(count):
        allowed[marked[at]] = 0


_NO_BUDGET = np.iinfo(np.int64).max
PORTAL = 1
USEFUL = 2


class SubregionSpace(NamedTuple):
    """What lies in one region of a graph."""

    graph: GraphSpace
    of: np.ndarray  # (n, 2) int32
    region: int


as_its_graph(SubregionSpace, slots, cost, distance)


@implements(target, SubregionSpace)
def _(space, node, slot):
    successor = target(space.graph, node, slot)
    if successor >= 0 and space.of[successor, 0] != space.region and space.of[successor, 1] != space.region:
        return np.int32(-1)
    return successor


@inline
def _apart(of, a, b):
    """Whether two nodes have no region in common."""
    if of[a, 0] == of[b, 0] or (of[b, 1] >= 0 and of[a, 0] == of[b, 1]):
        return False
    return of[a, 1] < 0 or (of[a, 1] != of[b, 0] and of[a, 1] != of[b, 1])


@kernel
def find_portals(graph, of, first, last, flags):
    """Set PORTAL in `flags` (n,) uint8 for the portals among the nodes `first` to `last`."""
    for node in range(first, last):
        flags[node] = PORTAL if of[node, 1] >= 0 else 0
        begin, end = slots(graph, node)
        for slot in range(begin, end):
            if flags[node]:
                break
            successor = target(graph, node, slot)
            if successor >= 0 and _apart(of, node, successor):
                flags[node] = PORTAL


@inline
def _sees_all(space, place, flags, members, at, last):
    """Whether a portal has a shortest edge to every portal further down the list of its region.

    `place` (n,) int32 is scratch: edges may stand twice in a row, and count once.
    """
    if space.graph.costs.size > 0:
        return False
    node = members[at]
    seen = -2 - node
    wanted = 0
    for other in range(at + 1, last):
        wanted += flags[members[other]] & PORTAL
        place[members[other]] = 0
    begin, end = slots(space, node)
    for slot in range(begin, end):
        successor = target(space, node, slot)
        if successor > node and flags[successor] & PORTAL and place[successor] != seen:
            place[successor] = seen
            wanted -= 1
    return wanted <= 0


@kernel
def mark_useful(graph, of, offsets, members, region, state, flags, nobody):
    """Set USEFUL in `flags` for the waypoints on ways between portals of a region; HEAP_FULL where there was no room.

    `offsets` and `members` list the waypoints of each region, in ascending order; `nobody` is an empty int32 array.
    """
    space = SubregionSpace(graph, of, region)
    last = offsets[region + 1]
    for at in range(offsets[region], last):
        start = members[at]
        if flags[start] & PORTAL == 0 or _sees_all(space, state.place, flags, members, at, last):
            continue
        status, _, _ = search(space, state, start, -1, 0.0, UNLIMITED, nobody, _NO_BUDGET, False)
        if status == HEAP_FULL:
            return HEAP_FULL
        clock = state.clock[0]
        for other in range(at + 1, last):
            node = members[other]
            if flags[node] & PORTAL and reached(state, clock, node):
                node = state.parent[node]
                while node >= 0:
                    flags[node] |= USEFUL
                    node = state.parent[node]
    return FOUND


class BoundedSpace(NamedTuple):
    """A graph with the costs of every node from a few landmarks, in whole steps."""

    graph: GraphSpace
    scale: float  # lowest cost of a metre
    step: float
    table: np.ndarray  # (n, k) int32, cost from each landmark in steps; -1 where it does not reach


class SteppedSpace(NamedTuple):
    """A graph whose costs are counted in whole steps, rounded down."""

    graph: GraphSpace
    step: float


as_its_graph(BoundedSpace, slots, target, cost)
as_its_graph(SteppedSpace, slots, target, distance)


@implements(distance, BoundedSpace)
def _(space, node, goal):
    most = 0
    for landmark in range(space.table.shape[1]):
        most = max(most, abs(np.int64(space.table[node, landmark]) - np.int64(space.table[goal, landmark])))
    return max(space.step * most, space.scale * straight(space.graph.points, node, goal))


@implements(cost, SteppedSpace)
def _(space, node, slot, successor):
    return np.floor(cost(space.graph, node, slot, successor) / space.step)
