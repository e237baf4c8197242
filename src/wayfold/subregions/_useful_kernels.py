# mypy: ignore-errors
"""Which waypoints shortest paths through a region need, so that exact searches leave out all others.

A path enters and leaves a region by *portals*: boundary waypoints, and ends of edges that leave the region. Between two
portals it follows a shortest way inside the region, and the waypoints on one such way are all that is needed. Where
edges cost their length, portals that see each other need none; where costs are stored, a way round may be cheaper.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import implements, inline, kernel
from wayfold.graph._kernels import (
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
    target,
)

_NO_BUDGET = np.iinfo(np.int64).max
PORTAL = 1
USEFUL = 2


class RegionSpace(NamedTuple):
    """What lies in one region of a graph."""

    graph: GraphSpace
    of: np.ndarray  # (n, 2) int32
    region: int


as_its_graph(RegionSpace, slots, cost, distance)


@implements(target, RegionSpace)
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
    space = RegionSpace(graph, of, region)
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
