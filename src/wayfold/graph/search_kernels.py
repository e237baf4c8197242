# mypy: ignore-errors
"""The one heap and the one search of the package, over anything that can list its successors.

A *search space* is a NamedTuple of arrays for which the four generic functions below are implemented. `search` is A*,
and Dijkstra's algorithm when `scale` is 0; it is compiled once for each kind of space. The heap is indexed (a node
stands in it once and moves up when its cost falls), four-way, and orders equal keys by node id, so every search is
deterministic.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import generic, implements, inline, kernel

FOUND = 0
UNREACHABLE = 1
PARTIAL = 2
BUDGET_EXHAUSTED = 3
HEAP_FULL = 4  # the caller gives the state a larger heap and asks again

UNLIMITED = np.finfo(np.float64).max  # the largest cost that is not infinite: infinity means blocked


class SearchState(NamedTuple):
    """Scratch arrays of one search at a time; stamped instead of cleared, so that a query costs what it touches.

    `stamp[node]` is compared with the clock c of the running query: below c untouched, c wanted but not reached,
    c + 1 reached, c + 2 reached and wanted. `place[node]` is the node's position in the heap, -1 once settled.
    """

    cost: np.ndarray  # (n,) float64, cost from the start to a reached node
    parent: np.ndarray  # (n,) int32, previous node on the way, -1 at the start
    stamp: np.ndarray  # (n,) uint16, cleared once in 16,382 queries, when the clock runs over
    place: np.ndarray  # (n,) int32
    keys: np.ndarray  # (capacity,) float64, heap
    nodes: np.ndarray  # (capacity,) int32, heap
    clock: np.ndarray  # (1,) int64


@generic
def slots(space, node):
    """First and one past the last slot number of a node; each slot may hold one successor."""


@generic
def target(space, node, slot):
    """The successor in a slot, or -1 where the slot holds none that may be used."""


@generic
def cost(space, node, slot, successor):
    """Cost of the step, float64, >= 0; infinite means blocked."""


@generic
def distance(space, node, goal):
    """Estimate of the distance to the goal that `scale` turns into a lower bound of the cost."""


@inline
def before(key, node, other_key, other_node):
    """Order of the heap: lower key first, then lower node id."""
    return key < other_key or (key == other_key and node < other_node)


@inline
def sift_up(state, at, key, node):
    """Put an entry at position `at` or above, whichever the heap order asks for."""
    keys, nodes, place = state.keys, state.nodes, state.place
    while at > 0:
        above = (at - 1) >> 2
        if not before(key, node, keys[above], nodes[above]):
            break
        keys[at] = keys[above]
        nodes[at] = nodes[above]
        place[nodes[at]] = at
        at = above
    keys[at] = key
    nodes[at] = node
    place[node] = at


@inline
def drop_top(state, size):
    """Remove the top entry of a heap of `size` entries, whose node becomes settled; return the new size."""
    keys, nodes, place = state.keys, state.nodes, state.place
    place[nodes[0]] = -1
    size -= 1
    if size == 0:
        return 0
    key, node = keys[size], nodes[size]
    at = 0
    while True:
        child = 4 * at + 1
        if child >= size:
            break
        best = child
        for other in range(child + 1, min(child + 4, size)):
            if before(keys[other], nodes[other], keys[best], nodes[best]):
                best = other
        if not before(keys[best], nodes[best], key, node):
            break
        keys[at] = keys[best]
        nodes[at] = nodes[best]
        place[nodes[at]] = at
        at = best
    keys[at] = key
    nodes[at] = node
    place[node] = at
    return size


@inline
def begin(state, start):
    """Start a query: a fresh clock and a heap with the start in it; return the clock."""
    clock = state.clock[0] + 4
    if clock > 65_530:
        state.stamp[:] = 0
        clock = 4
    state.clock[0] = clock
    _seed(state, clock, start)
    return clock


@inline
def _seed(state, clock, start):
    state.cost[start] = 0.0
    state.parent[start] = -1
    state.stamp[start] = clock + 2 if state.stamp[start] == clock else clock + 1
    state.place[start] = 0
    state.keys[0] = 0.0
    state.nodes[0] = start


@inline
def reached(state, clock, node):
    """Whether the running query has found a way to the node."""
    return state.stamp[node] > clock


@inline
def offer(state, clock, size, node, parent, total, ahead):
    """Offer one way to a node, for searches whose steps no space describes: (the heap's new size, whether it is taken).

    `ahead` is a lower bound on what comes after the node. The heap must have room for every node.
    """
    if state.stamp[node] > clock:
        at = state.place[node]
        if at < 0 or total >= state.cost[node]:
            return size, False
    else:
        at = size
        size += 1
        state.stamp[node] = clock + 1
    state.cost[node] = total
    state.parent[node] = parent
    sift_up(state, at, total + ahead, np.int32(node))
    return size, True


@inline
def relax(space, state, size, clock, node, goal, scale, limit):
    """Offer the way through a settled node to all its successors; return the heap's new size, -1 if it is full."""
    costs, parent, stamp, place, keys = state.cost, state.parent, state.stamp, state.place, state.keys
    so_far = costs[node]
    first, last = slots(space, node)
    for slot in range(first, last):
        successor = target(space, node, slot)
        if successor < 0:
            continue
        new = so_far + cost(space, node, slot, successor)
        if stamp[successor] > clock:
            at = place[successor]
            if at < 0 or new >= costs[successor]:
                continue
        else:
            if not new <= limit:
                continue
            if size == keys.size:
                return -1
            at = size
            size += 1
            stamp[successor] = clock + 2 if stamp[successor] == clock else clock + 1
        # Not what the old key is above the old cost: next to a large cost little is left of the digits of a bound.
        key = new
        if scale > 0.0:
            key += scale * distance(space, successor, goal)
        costs[successor] = new
        parent[successor] = node
        sift_up(state, at, key, successor)
    return size


@kernel
def search(space, state, start, goal, scale, limit, wanted, budget, partial):
    """A* from `start` to `goal`, or Dijkstra's algorithm where `scale` is 0.

    Parameters
    ----------
    goal : int, -1 for none
    scale : float64, >= 0
        Turns `distance` into a lower bound of the cost; 0 searches without a heuristic.
    limit : float64
        Nodes that cost more are not reached.
    wanted : (k,) int32
        Stop once all of these are settled; empty for no such stop.
    budget : int
        Stop after settling this many nodes.
    partial : bool
        Whether an end without the goal gives the settled node nearest to it (by `distance`).

    Returns
    -------
    (status, end, settled) : status code, last node of the path or -1, settled nodes
    """
    clock = begin(state, start)
    waiting = 0
    if wanted.size > 0:
        state.stamp[start] = 0
        for node in wanted:
            if state.stamp[node] != clock:
                state.stamp[node] = clock
                waiting += 1
        _seed(state, clock, start)
    size = 1
    settled = 0
    nearest = start
    nearest_distance = np.inf
    while size > 0:
        if settled >= budget:
            if partial:
                return PARTIAL, nearest, settled
            return BUDGET_EXHAUSTED, -1, settled
        node = state.nodes[0]
        size = drop_top(state, size)
        settled += 1
        if node == goal:
            return FOUND, node, settled
        if partial:
            remaining = distance(space, node, goal)
            if remaining < nearest_distance:
                nearest, nearest_distance = node, remaining
        if waiting > 0 and state.stamp[node] == clock + 2:
            waiting -= 1
            if waiting == 0:
                return FOUND, node, settled
        size = relax(space, state, size, clock, node, goal, scale, limit)
        if size < 0:
            return HEAP_FULL, -1, settled
    if partial:
        return PARTIAL, nearest, settled
    return UNREACHABLE, -1, settled


@kernel
def search_both_ways(forward, backward, ahead, behind, start, goal, budget):
    """Dijkstra's algorithm from both ends, the side with the nearer front first.

    `ahead` and `behind` are the states of the two sides; `backward` is the space with every edge turned round.
    Returns (status, meeting node or -1, settled nodes of both sides, cost).
    """
    clock_ahead = begin(ahead, start)
    clock_behind = begin(behind, goal)
    size_ahead, size_behind = 1, 1
    settled = 0
    meeting = -1
    best = UNLIMITED
    if start == goal:
        return FOUND, start, 0, 0.0
    while size_ahead > 0 and size_behind > 0 and ahead.keys[0] + behind.keys[0] < best:
        if settled >= budget:
            return BUDGET_EXHAUSTED, -1, settled, np.inf
        settled += 1
        if ahead.keys[0] <= behind.keys[0]:
            node = ahead.nodes[0]
            size_ahead = drop_top(ahead, size_ahead)
            size_ahead = relax(forward, ahead, size_ahead, clock_ahead, node, goal, 0.0, UNLIMITED)
            if size_ahead < 0:
                return HEAP_FULL, -1, settled, np.inf
            meeting, best = meet(forward, ahead, clock_ahead, behind, clock_behind, node, meeting, best)
        else:
            node = behind.nodes[0]
            size_behind = drop_top(behind, size_behind)
            size_behind = relax(backward, behind, size_behind, clock_behind, node, start, 0.0, UNLIMITED)
            if size_behind < 0:
                return HEAP_FULL, -1, settled, np.inf
            meeting, best = meet(backward, behind, clock_behind, ahead, clock_ahead, node, meeting, best)
    if meeting < 0:
        return UNREACHABLE, -1, settled, np.inf
    return FOUND, meeting, settled, best


@inline
def meet(space, mine, my_clock, other, other_clock, node, meeting, best):
    """The cheapest meeting of the two sides so far, after `mine` has settled `node`."""
    first, last = slots(space, node)
    for slot in range(first, last):
        successor = target(space, node, slot)
        if successor >= 0 and reached(mine, my_clock, successor) and reached(other, other_clock, successor):
            both = mine.cost[successor] + other.cost[successor]
            if both < best:
                meeting, best = successor, both
    return meeting, best


@kernel
def trail_length(parent, end):
    """Number of nodes on the way from the start to `end`."""
    count = 0
    while end >= 0:
        count += 1
        end = parent[end]
    return count


@kernel
def trail(parent, end, out):
    """Write the nodes from the start to `end` into `out`, whose size is their number."""
    for at in range(out.size - 1, -1, -1):
        out[at] = end
        end = parent[end]


@kernel
def search_many(space, state, queries, starts, goals, scale, wanted, budget, partial, answers, nodes, used):
    """Run `search` for the listed queries and append their trails to `nodes` from position `used` on.

    Returns (queries done, position after the last trail, status); fewer queries are done when `nodes` has no room for
    a trail (status FOUND) or the heap is too small (HEAP_FULL), and the caller goes on from there with more room.
    """
    for at in range(queries.size):
        query = queries[at]
        status, end, settled = search(
            space, state, starts[query], goals[query], scale, UNLIMITED, wanted, budget, partial
        )
        if status == HEAP_FULL:
            return at, used, HEAP_FULL
        length = trail_length(state.parent, end)
        if used + length > nodes.size:
            return at, used, FOUND
        trail(state.parent, end, nodes[used : used + length])
        used += length
        answers.statuses[query] = status
        answers.costs[query] = state.cost[end] if end >= 0 else np.inf
        answers.expanded[query] = settled
        answers.lengths[query] = length
    return queries.size, used, FOUND


class Answers(NamedTuple):
    """What a batch writes for each query."""

    statuses: np.ndarray  # (q,) uint8
    costs: np.ndarray  # (q,) float64
    expanded: np.ndarray  # (q,) int64
    lengths: np.ndarray  # (q,) int64, nodes of the trail


@kernel
def label_components(space, labels):
    """Label nodes that steps join, in either direction, with the same number; return how many there are.

    `labels` (n,) int32 is overwritten. Numbers follow the lowest node of each component. One-way steps join too, so
    in a directed space different labels mean "no path" and equal ones mean "perhaps".
    """
    for node in range(labels.size):
        labels[node] = node
    for node in range(labels.size):
        root = find_root(labels, node)
        first, last = slots(space, node)
        for slot in range(first, last):
            successor = target(space, node, slot)
            if successor < 0 or not cost(space, node, slot, successor) < np.inf:
                continue
            other = find_root(labels, successor)
            if other < root:
                labels[root] = other
                root = other
            elif root < other:
                labels[other] = root
    count = 0
    # The root is the lowest node of its component, so it has its final label before any member asks for it.
    # Labels are kept as -1 - label meanwhile: roots and labels cannot be confused.
    for node in range(labels.size):
        above = labels[node]
        if above == node:
            labels[node] = -1 - count
            count += 1
        else:
            while above >= 0:
                above = labels[above]
            labels[node] = above
    for node in range(labels.size):
        labels[node] = -1 - labels[node]
    return count


@inline
def find_root(labels, node):
    """Root of a node in the union-find forest, halving the way to it."""
    while labels[node] != node:
        labels[node] = labels[labels[node]]
        node = labels[node]
    return node


class GraphSpace(NamedTuple):
    """A graph in compressed rows as the searches see it; arrays of size 0 stand for "not given"."""

    offsets: np.ndarray  # (n + 1,) int64
    targets: np.ndarray  # (m,) int32
    costs: np.ndarray  # (m,) float32, or empty: Euclidean
    motions: np.ndarray  # (m,) uint8, or empty: every edge is for every motion
    points: np.ndarray  # (n, 3) float64
    usable: int  # uint8, motion bits of the character
    labels: np.ndarray  # (n,) uint16, or empty: no filter
    allowed: np.ndarray  # (labels,) uint8, 1 where nodes of the label may be used; labels beyond it may not


@implements(slots, GraphSpace)
def _(space, node):
    return space.offsets[node], space.offsets[node + 1]


@implements(target, GraphSpace)
def _(space, node, slot):
    if space.motions.size > 0 and space.motions[slot] & space.usable == 0:
        return np.int32(-1)
    successor = space.targets[slot]
    if space.labels.size > 0:
        label = space.labels[successor]
        if label >= space.allowed.size or space.allowed[label] == 0:
            return np.int32(-1)
    return successor


@implements(cost, GraphSpace)
def _(space, node, slot, successor):
    if space.costs.size > 0:
        return np.float64(space.costs[slot])
    return straight(space.points, node, successor)


@implements(distance, GraphSpace)
def _(space, node, goal):
    return straight(space.points, node, goal)


def as_its_graph(space, *functions):
    """Let a search space that holds a `graph` do some of the generic functions as that graph does."""
    meanings = {
        slots: lambda space, node: slots(space.graph, node),
        target: lambda space, node, slot: target(space.graph, node, slot),
        cost: lambda space, node, slot, successor: cost(space.graph, node, slot, successor),
        distance: lambda space, node, goal: distance(space.graph, node, goal),
    }
    for function in functions:
        implements(function, space)(meanings[function])


@inline
def straight(points, a, b):
    """Euclidean distance between two rows of a (n, 3) float64 array."""
    x = points[a, 0] - points[b, 0]
    y = points[a, 1] - points[b, 1]
    z = points[a, 2] - points[b, 2]
    return np.sqrt(x * x + y * y + z * z)


@kernel
def trail_lengths(parents, nodes, lengths):
    """Number of nodes on the way from each node to the root; 0 for nodes below 0."""
    for at in range(nodes.size):
        lengths[at] = trail_length(parents, nodes[at])


@kernel
def trails(parents, nodes, offsets, out):
    """Write the way from each node to the root into its part of `out`, which begins at its offset."""
    for at in range(nodes.size):
        node = nodes[at]
        for place in range(offsets[at], offsets[at + 1]):
            out[place] = node
            node = parents[node]
