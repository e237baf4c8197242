# mypy: ignore-errors
"""Local repair of subregions after edits of the waypoint graph (Wardhana et al. 2015, section 8).

Detection goes through *turns*: turn t < k is region ``order[t]`` with its local waypoints, turn k + t the same region
with its boundary waypoints. A turn sees only which waypoints earlier turns took. So a turn has to be done again only
when an edge inside its region changed, or when a waypoint of its region is taken earlier or later than before, and
what it changes reaches later turns only. Doing those again in ascending order gives what a rebuild gives.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import inline, kernel
from wayfold.graph.search_kernels import cost, slots, straight, target
from wayfold.subregions._kernels import usable

DONE = 0
NO_ROOM = 1  # labels, or slots of a row, have run out
NEVER = 1 << 62  # the turn of a waypoint that none takes


class Groups(NamedTuple):
    """Subregions with room for more; rows 0 to capacity - 1."""

    turn: np.ndarray  # (c,) int64, when it is detected; NEVER for a free number
    size: np.ndarray  # (c,) int32, waypoints
    home: np.ndarray  # (c,) int32, active region
    changed: np.ndarray  # (c,) uint8, scratch: 1 for numbers in `listed`
    listed: np.ndarray  # (c,) int32, scratch: numbers whose waypoints changed
    free: np.ndarray  # (c,) int32, unused numbers, the next one last
    counts: np.ndarray  # (2,) int64: entries of `listed`, entries of `free`


class ConnectionRows(NamedTuple):
    """Connections in rows with spare slots, whose target is the row itself."""

    offsets: np.ndarray  # (c + 1,) int64
    targets: np.ndarray  # (m,) int32
    count: np.ndarray  # (m,) int64, waypoint edges
    shortest: np.ndarray  # (m,) float64
    longest: np.ndarray  # (m,) float64
    total: np.ndarray  # (m,) float64


class Turns(NamedTuple):
    """Turns that have to be done again."""

    rank: np.ndarray  # (k,) int32, place of each region in the processing order
    order: np.ndarray  # (k,) int32
    dirty: np.ndarray  # (2 k,) uint8, scratch, all 0
    waiting: np.ndarray  # (2 k,) int64, dirty turns in no order
    count: np.ndarray  # (1,) int64


@inline
def note(groups, label):
    """Remember that the waypoints of a subregion changed."""
    if groups.changed[label] == 0:
        groups.changed[label] = 1
        groups.listed[groups.counts[0]] = label
        groups.counts[0] += 1


@inline
def call_turn(turns, turn):
    """Have a turn done again."""
    if turns.dirty[turn] == 0:
        turns.dirty[turn] = 1
        turns.waiting[turns.count[0]] = turn
        turns.count[0] += 1


@inline
def call_between(turns, layout, node, early, late):
    """Have the turns of a waypoint's regions done again that lie after `early` and not after `late`."""
    regions = turns.rank.size
    for which in range(2):
        region = layout.of[node, which]
        if region < 0:
            continue
        for phase in range(2):
            turn = phase * regions + turns.rank[region]
            if early < turn <= late:
                call_turn(turns, turn)


@inline
def relabel(groups, labels, null, node, label):
    """Give a waypoint another subregion, or none."""
    old = labels[node]
    if old != null:
        groups.size[old] -= 1
        note(groups, old)
    labels[node] = label
    if label != null:
        groups.size[label] += 1
        note(groups, label)


@inline
def turn_of(groups, labels, null, node):
    """When a waypoint was taken."""
    return NEVER if labels[node] == null else groups.turn[labels[node]]


@inline
def bypassed(space, layout, labels, a, b, region):
    """Whether two waypoints of one subregion that no edge joins have a common neighbour in it: then none is missed."""
    mine = labels[a]
    first, last = slots(space, a)
    for slot in range(first, last):
        middle = target(space, a, slot)
        if middle < 0 or middle == a or middle == b or labels[middle] != mine:
            continue
        if layout.of[middle, 0] != region and layout.of[middle, 1] != region:
            continue
        begin, end = slots(space, middle)
        for other in range(begin, end):
            if target(space, middle, other) == b and cost(space, middle, other, b) < np.inf:
                if cost(space, a, slot, middle) < np.inf:
                    return True
    return False


@inline
def joined(space, a, b):
    """Whether a usable edge joins two waypoints."""
    first, last = slots(space, a)
    for slot in range(first, last):
        if target(space, a, slot) == b and cost(space, a, slot, b) < np.inf:
            return True
    return False


@kernel
def find_dirty(space, layout, turns, groups, labels, null, edges):
    """Turns that the changed `edges` (e, 2) int32 concern directly."""
    regions = turns.rank.size
    for at in range(edges.shape[0]):
        for side in range(2):
            node = edges[at, side]
            if usable(space, node) != (labels[node] != null):
                call_between(turns, layout, node, -1, NEVER)
        a, b = edges[at, 0], edges[at, 1]
        if labels[a] == null or labels[b] == null:
            continue
        here = joined(space, a, b)
        if labels[a] == labels[b]:
            # A new edge inside a subregion joins nothing; a lost one is not missed where there is a way round.
            if here or bypassed(space, layout, labels, a, b, groups.home[labels[a]]):
                continue
        elif not here:
            continue  # what lies in different subregions was never joined by it
        for which in range(2):
            region = layout.of[a, which]
            if region >= 0 and (region == layout.of[b, 0] or region == layout.of[b, 1]):
                call_turn(turns, turns.rank[region])
                call_turn(turns, regions + turns.rank[region])


@inline
def next_turn(turns):
    """The earliest dirty turn, taken from the list; -1 when there is none."""
    if turns.count[0] == 0:
        return np.int64(-1)
    best = 0
    for at in range(1, turns.count[0]):
        if turns.waiting[at] < turns.waiting[best]:
            best = at
    turn = turns.waiting[best]
    turns.count[0] -= 1
    turns.waiting[best] = turns.waiting[turns.count[0]]
    turns.dirty[turn] = 0
    return turn


@kernel
def redo_turns(space, layout, turns, groups, labels, null, group, queue):
    """Do dirty turns again, in ascending order; DONE, or NO_ROOM when the labels have run out.

    `group` (n,) int32 is scratch, all -1; `queue` (n,) int32 is scratch.
    """
    regions = turns.rank.size
    while True:
        turn = next_turn(turns)
        if turn < 0:
            return DONE
        boundary = turn >= regions
        region = turns.order[turn % regions]
        begin, end = layout.offsets[region], layout.offsets[region + 1]
        for at in range(begin, end):
            root = layout.members[at]
            if group[root] >= 0 or (layout.of[root, 1] >= 0) != boundary:
                continue
            if boundary and layout.of[root, layout.active[root]] != region:
                continue
            if turn_of(groups, labels, null, root) < turn or not usable(space, root):
                continue
            tail = spread(space, layout, groups, labels, null, root, region, turn, group, queue)
            old = labels[root]
            same = old != null and groups.turn[old] == turn and groups.size[old] == tail
            for place in range(tail):
                same = same and labels[queue[place]] == old
            if same:
                continue
            if groups.counts[1] == 0:
                return NO_ROOM
            groups.counts[1] -= 1
            fresh = groups.free[groups.counts[1]]
            groups.turn[fresh] = turn
            groups.home[fresh] = region
            for place in range(tail):
                node = queue[place]
                call_between(turns, layout, node, turn, turn_of(groups, labels, null, node))
                relabel(groups, labels, null, node, fresh)
        for at in range(begin, end):
            node = layout.members[at]
            if group[node] < 0 and turn_of(groups, labels, null, node) == turn:
                relabel(groups, labels, null, node, null)
                call_between(turns, layout, node, turn, NEVER)
        for at in range(begin, end):
            group[layout.members[at]] = -1


@inline
def spread(space, layout, groups, labels, null, root, region, turn, group, queue):
    """Algorithm 3 over waypoints that no earlier turn took; lists them in `queue` and returns how many."""
    group[root] = root
    queue[0] = root
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        first, last = slots(space, node)
        for slot in range(first, last):
            successor = target(space, node, slot)
            if successor < 0 or group[successor] >= 0:
                continue
            if layout.of[successor, 0] != region and layout.of[successor, 1] != region:
                continue
            if turn_of(groups, labels, null, successor) < turn or not cost(space, node, slot, successor) < np.inf:
                continue
            group[successor] = root
            queue[tail] = successor
            tail += 1
    return tail


@inline
def link_slot(links, a, b, insert):
    """The slot of row `a` that leads to `b`, or a spare one if `insert`; -1 for none."""
    spare = -1
    for slot in range(links.offsets[a], links.offsets[a + 1]):
        if links.targets[slot] == b:
            return slot
        if spare < 0 and links.targets[slot] == a:
            spare = slot
    return spare if insert else -1


@inline
def add_to_link(links, a, b, length):
    """Count a waypoint edge in row `a`; False when the row is full."""
    slot = link_slot(links, a, b, True)
    if slot < 0:
        return False
    if links.targets[slot] != b:
        links.targets[slot] = b
        links.count[slot] = 0
        links.total[slot] = 0.0
        links.shortest[slot] = np.inf
        links.longest[slot] = 0.0
    links.count[slot] += 1
    links.total[slot] += length
    links.shortest[slot] = min(links.shortest[slot], length)
    links.longest[slot] = max(links.longest[slot], length)
    return True


@inline
def drop_link(links, a, b):
    """Make the slot of row `a` that leads to `b` a spare one."""
    slot = link_slot(links, a, b, False)
    if slot >= 0:
        links.targets[slot] = a


@kernel
def relink(space, layout, groups, links, labels, null, edges, points, centroids):
    """Connections and centroids of what changed; DONE, or NO_ROOM when a row has no spare slot left.

    Doing it again after giving the rows more room is harmless.
    """
    for at in range(groups.counts[0]):
        mine = groups.listed[at]
        for slot in range(links.offsets[mine], links.offsets[mine + 1]):
            other = links.targets[slot]
            if other != mine:
                drop_link(links, other, mine)
                links.targets[slot] = mine
    for at in range(groups.counts[0]):
        mine = groups.listed[at]
        if groups.size[mine] > 0:
            if not link_members(space, layout, groups, links, labels, mine, -1):
                return NO_ROOM
            settle_centroid(layout, groups, labels, mine, points, centroids)
    for at in range(edges.shape[0]):
        a, b = labels[edges[at, 0]], labels[edges[at, 1]]
        if a == null or b == null or a == b or groups.changed[a] or groups.changed[b]:
            continue
        if groups.size[b] < groups.size[a]:
            a, b = b, a
        drop_link(links, a, b)
        drop_link(links, b, a)
        if not link_members(space, layout, groups, links, labels, a, b):
            return NO_ROOM
    return DONE


@inline
def link_members(space, layout, groups, links, labels, mine, only):
    """Count the edges of a subregion's waypoints to other subregions, or to `only` one of them."""
    region = groups.home[mine]
    for at in range(layout.offsets[region], layout.offsets[region + 1]):
        node = layout.members[at]
        if labels[node] != mine:
            continue
        first, last = slots(space, node)
        for slot in range(first, last):
            successor = target(space, node, slot)
            if successor < 0 or labels[successor] == mine:
                continue
            if not cost(space, node, slot, successor) < np.inf:
                continue  # behind a blocked edge there may be a waypoint of no subregion
            other = np.int64(labels[successor])
            if only >= 0:
                if other != only:
                    continue
            elif groups.changed[other] and other < mine:
                continue  # counted from the other side
            length = straight(space.points, node, successor)
            if not (add_to_link(links, mine, other, length) and add_to_link(links, other, mine, length)):
                return False
    return True


@inline
def settle_centroid(layout, groups, labels, mine, points, centroids):
    """The mean position of a subregion's waypoints."""
    region = groups.home[mine]
    x, y, z = 0.0, 0.0, 0.0
    for at in range(layout.offsets[region], layout.offsets[region + 1]):
        node = layout.members[at]
        if labels[node] == mine:
            x += points[node, 0]
            y += points[node, 1]
            z += points[node, 2]
    count = groups.size[mine]
    centroids[mine, 0], centroids[mine, 1], centroids[mine, 2] = x / count, y / count, z / count


@kernel
def finish(groups):
    """Free the numbers of subregions that are gone, and forget what changed."""
    for at in range(groups.counts[0]):
        label = groups.listed[at]
        groups.changed[label] = 0
        if groups.size[label] == 0 and groups.turn[label] != NEVER:
            groups.turn[label] = NEVER
            groups.free[groups.counts[1]] = label
            groups.counts[1] += 1
    groups.counts[0] = 0
