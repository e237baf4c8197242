# mypy: ignore-errors
"""Alternative BUSHWHACK (003, section 4.3.3), and BUSHWHACK with cones that bend at the edges (section 8.1)."""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import inline, kernel
from wayfold.graph._kernels import FOUND, HEAP_FULL, UNREACHABLE, begin, drop_top, sift_up
from wayfold.terrain._steiner_kernels import GROUPS, connection, group_at, place_of, slot_count, unpack


class Representatives(NamedTuple):
    """One entry for each node and group: the cheapest node of the group that has no shortest path yet.

    Entry ``entries[node] + g`` is group g of a node: a run of its row of connections.
    """

    first: np.ndarray  # (entries + 1,) int64, where the group's connections begin
    owner: np.ndarray  # (entries,) int32, the node
    entries: np.ndarray  # (n + 1,) int64
    chosen: np.ndarray  # (entries,) int32, the representative


@kernel
def list_groups(space, offsets, entries, first, owner):
    """Bounds of the groups of every node; with empty `first` only their number, into `entries` (n + 1,)."""
    used = 0
    for node in range(entries.size - 1):
        entries[node] = used
        if node >= space.points.shape[0]:
            # The rows of a vertex: one group for each triangle around it.
            at = offsets[node]
            v = node - space.points.shape[0]
            for f in range(space.fan_first[v], space.fan_first[v + 1]):
                t = space.fan[f] // 3
                if first.size > 0:
                    first[used] = at
                    owner[used] = node
                at += space.first[3 * t + 3] - space.first[3 * t] + 2
                used += 1
            continue
        at = offsets[node]
        h = space.bisector[node]
        for group in range(GROUPS):
            other, _ = group_at(space, h, group)
            if other < 0:
                continue
            if first.size > 0:
                first[used] = at
                owner[used] = node
            at += space.first[other + 1] - space.first[other]
            used += 1
        if first.size > 0:
            first[used] = at
            owner[used] = node
        used += 1
    entries[entries.size - 1] = used
    if first.size > 0:
        first[used] = offsets[entries.size - 1]


@inline
def represent(groups, targets, costs, stamp, clock, entry):
    """Choose the representative of a group; returns the cost of the connection to it, infinite when none is left."""
    best = np.inf
    groups.chosen[entry] = -1
    for at in range(groups.first[entry], groups.first[entry + 1]):
        node = targets[at]
        if node >= 0 and stamp[node] <= clock and costs[at] < best:
            best = costs[at]
            groups.chosen[entry] = node
    return best


@kernel
def bushwhack(groups, targets, costs, queue, state, start, goal):
    """Alternative BUSHWHACK on a tabulated graph: one queue of representatives.

    `queue` is a search state with an entry for each group, `state` one with an entry for each node, of which costs,
    parents and stamps are used: a node is reached when its shortest path is known. A predecessor gets its new
    representative when the old one comes up in the queue, which is when the paper's line 7 would matter.
    """
    clock = begin(state, start)
    begin(queue, 0)
    size = 0
    settled = 1
    node = start
    while True:
        if node == goal:
            return FOUND, node, settled
        for entry in range(groups.entries[node], groups.entries[node + 1]):
            step = represent(groups, targets, costs, state.stamp, clock, entry)
            if step < np.inf:
                if size == queue.keys.size:
                    return HEAP_FULL, -1, settled
                size += 1
                sift_up(queue, size - 1, state.cost[node] + step, entry)
        node = -1
        while size > 0 and node < 0:
            entry, key = queue.nodes[0], queue.keys[0]
            size = drop_top(queue, size)
            found = groups.chosen[entry]
            owner = groups.owner[entry]
            if state.stamp[found] <= clock:
                state.stamp[found] = clock + 1
                state.cost[found] = key
                state.parent[found] = owner
                settled += 1
                node = found
            step = represent(groups, targets, costs, state.stamp, clock, entry)
            if step < np.inf:
                size += 1
                sift_up(queue, size - 1, state.cost[owner] + step, entry)
        if node < 0:
            return UNREACHABLE, -1, settled


@inline
def offer(space, state, size, clock, node, successor, edge, second, kind):
    """Offer the way through a settled node to one successor; returns the heap's size (-1 if full) and whether it won.

    A connection is computed only where a straight line at the lower of the two weights could win.
    """
    so_far = state.cost[node]
    known = state.stamp[successor] > clock
    if known:
        if state.place[successor] < 0:
            return size, 0
        px, py = place_of(space, node)
        qx, qy = place_of(space, successor)
        weight = space.weights[edge // 3]
        twin = space.twins[edge]
        if twin >= 0:
            weight = min(weight, space.weights[twin // 3])
        if second >= 0 and space.twins[second] >= 0:
            weight = min(weight, space.weights[space.twins[second] // 3])
        if so_far + weight * np.sqrt((px - qx) ** 2 + (py - qy) ** 2) >= state.cost[successor]:
            return size, 0
    total, _, _, _ = connection(space, node, successor, edge, second, kind)
    fresh = so_far + total
    if not fresh < np.inf:
        return size, 0
    if known:
        if fresh >= state.cost[successor]:
            return size, 0
        at = state.place[successor]
    else:
        if size == state.keys.size:
            return -1, 0
        at = size
        size += 1
        state.stamp[successor] = clock + 1
    state.cost[successor] = fresh
    state.parent[successor] = node
    sift_up(state, at, fresh, successor)
    return size, 1


@inline
def middle_of(space, node, parent, other):
    """Where on the neighbour bisector the way that comes from `parent` through `node` would go on, as a point number.

    A straight guess: the cone around it is searched outwards, so a wrong guess costs time, never the answer.
    """
    first, last = space.first[other], space.first[other + 1]
    if parent < 0 or last - first < 4:
        return (first + last) // 2
    ox, oy = place_of(space, parent)
    px, py = place_of(space, node)
    dx, dy = px - ox, py - oy
    # The sign of the side changes once along the bisector: halve until it is found.
    low, high = first, last - 1
    side = dx * (space.points[low, 1] - py) - dy * (space.points[low, 0] - px)
    while high - low > 1:
        half = (low + high) // 2
        here = dx * (space.points[half, 1] - py) - dy * (space.points[half, 0] - px)
        if (here > 0.0) == (side > 0.0):
            low = half
        else:
            high = half
    return low


@inline
def cone(space, state, size, clock, node, other, edge, same_end):
    """Search the part of a neighbour bisector beyond an edge that ways through `node` can win.

    Ways over the edge from one bisector to another do not cross: where a point of the own bisector farther from its
    vertex beats `node` to a target, it beats it to all targets beyond, on the side that it lies on. So the targets
    that `node` wins form one run, the cone, bent at the edge as Snell's law bends the ways.
    """
    first, last = space.first[other], space.first[other + 1]
    if last == first:
        return size
    own = space.bisector[node]
    middle = middle_of(space, node, state.parent[node], other)
    for upward in (True, False):
        at = middle if upward else middle - 1
        while first <= at < last:
            size, won = offer(space, state, size, clock, node, at, edge, -1, 0)
            if size < 0:
                return size
            if won == 0:
                rival = state.parent[at] if state.stamp[at] > clock else -1
                if 0 <= rival < space.points.shape[0] and rival != node and space.bisector[rival] == own:
                    beyond = (rival > node) == same_end
                    if beyond == upward:
                        break
            at += 1 if upward else -1
    return size


@kernel
def cone_search(space, state, start, goal):
    """BUSHWHACK with refracted cones on a graph that is generated as it is searched; returns as `search` does."""
    clock = begin(state, start)
    size = 1
    settled = 0
    count = space.points.shape[0]
    while size > 0:
        node = state.nodes[0]
        size = drop_top(state, size)
        settled += 1
        if node == goal:
            return FOUND, node, settled
        if node >= count:
            for slot in range(slot_count(space, node)):
                successor, edge, second, kind = unpack(space, node, slot)
                size, _ = offer(space, state, size, clock, node, successor, edge, second, kind)
                if size < 0:
                    return HEAP_FULL, -1, settled
            continue
        h = space.bisector[node]
        t, k = h // 3, h % 3
        for group in range(GROUPS):
            other, edge = group_at(space, h, group)
            if other < 0:
                continue
            if group >= 3:
                # Group 4 ends at the vertex that the own bisector begins at, and so does group 5.
                size = cone(space, state, size, clock, node, other, edge, group == 4 or group == 5)
                if size < 0:
                    return HEAP_FULL, -1, settled
                continue
            second = 3 * t + (k + 2) % 3 if group == 0 else -1
            for successor in range(space.first[other], space.first[other + 1]):
                if successor != node:
                    size, _ = offer(space, state, size, clock, node, successor, edge, second, 1)
                    if size < 0:
                        return HEAP_FULL, -1, settled
        for corner in range(3):
            successor = count + space.triangles[t, corner]
            size, _ = offer(space, state, size, clock, node, successor, 3 * t + corner, 3 * t + (corner + 2) % 3, 1)
            if size < 0:
                return HEAP_FULL, -1, settled
    return UNREACHABLE, -1, settled
