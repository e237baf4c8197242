# mypy: ignore-errors
"""Customisation (paper 002, algorithm 2): the arcs of a part, from the level below; and the landmarks."""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, implements, inline, kernel
from wayfold.graph._kernels import HEAP_FULL, UNLIMITED, cost, distance, search, slots, target
from wayfold.hierarchy._eliminate_kernels import APART, MOST_MEMBERS, Reduced, close, eliminate, mark_needed, unfold
from wayfold.hierarchy._kernels import FOREVER
from wayfold.hierarchy._level_kernels import OnGround, Overlay, first_portal

DONE, MORE_ARCS, MORE_STEPS, MORE_HEAP = 0, 1, 2, 3


class InPart(NamedTuple):
    """The inside of a part of level 2 or higher, at the level below; its nodes are its members, numbered from 0."""

    overlay: Overlay
    level: int  # of the rows that are searched: the one below the part's
    first: int  # the part's range of places
    last: int
    base: int  # of the members, as in Overlay.row_base
    ordinals: np.ndarray  # (p,) uint16, a portal's number among the members


@implements(slots, InPart)
def _(space, node):
    overlay = space.overlay
    row = overlay.rows[overlay.members[space.base + node]] + space.level - 1
    return overlay.row_first[row], overlay.row_last[row]


@implements(target, InPart)
def _(space, node, slot):
    successor = space.overlay.targets[slot]
    if space.first <= space.overlay.places[successor] < space.last:
        return np.int64(space.ordinals[successor])
    return np.int64(-1)


@implements(cost, InPart)
def _(space, node, slot, successor):
    return np.float64(space.overlay.costs[slot])


@implements(distance, InPart)
def _(space, node, goal):
    return 0.0


class Parts(NamedTuple):
    """Some parts of one level."""

    ranges: np.ndarray  # (k, 2) int32, places
    members: np.ndarray  # (k, 2) int32, places at level 1, elsewhere indices of Overlay.members
    portals: np.ndarray  # (k, 2) int32, indices of Overlay.members


class Batch(NamedTuple):
    """The arcs of some parts, one part after the other, as `customise` writes them."""

    targets: np.ndarray  # (arcs,) int32
    costs: np.ndarray  # (arcs,) float32
    subs: np.ndarray  # (arcs,) int32, place in `steps`, -1 for inter-edges
    steps: np.ndarray  # (steps,) uint16
    row_sizes: np.ndarray  # (portals of the parts,) int32, arcs of each portal
    ends: np.ndarray  # (k + 1, 3) int64: portals, arcs and steps written before each part
    done: np.ndarray  # (1,) int64, parts written so far


class Scratch(NamedTuple):
    """What `customise` notes of one part at a time."""

    ordinals: np.ndarray  # (p,) uint16, a portal's number among the members of the part
    own: np.ndarray  # (portals,) int32, the number of each of the part's portals among the members
    direct: np.ndarray  # (portals, portals) float64, costs of the ways that arcs would stand for
    between: np.ndarray  # (portals, portals) float64, distances within the part
    needed: np.ndarray  # (portals,) bool, whether an arc leads to a portal
    parents: np.ndarray  # (portals, members) uint16, previous member on the way from a portal, in large parts
    reduced: Reduced  # small parts


@kernel
def customise(overlay, level, parts, state, scratch, batch):
    """Write the arcs of some parts of a level: inter-edges, and intra-edges with their sub-paths.

    Goes on after the parts that are done. Returns a status: other than DONE, the caller makes room and calls again.
    """
    for at in range(batch.done[0], parts.ranges.shape[0]):
        first, last = parts.ranges[at, 0], parts.ranges[at, 1]
        base, size = np.int64(parts.members[at, 0]), np.int64(parts.members[at, 1] - parts.members[at, 0])
        portals = overlay.members[parts.portals[at, 0] : parts.portals[at, 1]]
        if level == 1:
            for a in range(portals.size):
                scratch.own[a] = overlay.places[portals[a]] - first
            ground = OnGround(overlay.offsets, overlay.targets, overlay.costs, first, last)
            status = measure(ground, size, portals.size, state, scratch)
        else:
            for member in range(size):
                scratch.ordinals[overlay.members[base + member]] = member
            for a in range(portals.size):
                scratch.own[a] = scratch.ordinals[portals[a]]
            inside = InPart(overlay, level - 1, first, last, base, scratch.ordinals)
            status = measure(inside, size, portals.size, state, scratch)
        if status == DONE:
            status = write_part(overlay, level, at, first, last, size, portals, scratch, batch)
        if status != DONE:
            return status
    return DONE


@helper
def measure(space, size, count, state, scratch):
    """Find ways and distances between the `count` portals of a part, whose members are the nodes of the space."""
    own, direct, between = scratch.own[:count], scratch.direct, scratch.between
    if size <= MOST_MEMBERS:
        eliminate(space, size, own, scratch.reduced)
        for a in range(count):
            for b in range(count):
                at = np.int64(own[a]) * size + own[b]
                direct[a, b] = np.inf if scratch.reduced.via[at] == APART else scratch.reduced.costs[at]
                between[a, b] = 0.0 if a == b else direct[a, b]
        close(between, count)
        return DONE
    for a in range(count):
        status, _, _ = search(space, state, own[a], -1, 0.0, UNLIMITED, own, FOREVER, False)
        if status == HEAP_FULL:
            return MORE_HEAP
        clock = state.clock[0]
        for b in range(count):
            settled = state.stamp[own[b]] > clock and state.place[own[b]] < 0
            direct[a, b] = between[a, b] = state.cost[own[b]] if settled else np.inf
        for member in range(size):
            if state.stamp[member] > clock and state.parent[member] >= 0:
                scratch.parents[a, member] = state.parent[member]
    return DONE


@inline
def trace(scratch, size, a, b, steps, at):
    """Write the members on the way between two portals to `steps` from `at` on; return the position after them."""
    own = scratch.own
    if size <= MOST_MEMBERS:
        return unfold(scratch.reduced, size, np.int64(own[a]), np.int64(own[b]), steps, at)
    end = at
    member = scratch.parents[a, own[b]]
    while member != own[a]:
        end += 1
        member = scratch.parents[a, member]
    if end <= steps.size:
        member = scratch.parents[a, own[b]]
        for back in range(end - 1, at - 1, -1):
            steps[back] = member
            member = scratch.parents[a, member]
    return end


@inline
def write_part(overlay, level, at, first, last, size, portals, scratch, batch):
    """Append the arcs of one part to the batch."""
    row, arc, step = batch.ends[at, 0], batch.ends[at, 1], batch.ends[at, 2]
    for a in range(portals.size):
        begin_arc = arc
        slot_first, slot_last = lower_row(overlay, level, portals[a])
        if arc + (slot_last - slot_first) + portals.size > batch.targets.size:
            return MORE_ARCS
        for slot in range(slot_first, slot_last):
            successor = overlay.targets[slot]
            place = successor if level == 1 else overlay.places[successor]
            if first <= place < last or not overlay.costs[slot] < np.inf:
                continue
            if level == 1:  # both ends of an edge between parts are portals
                successor = overlay.members[first_portal(overlay, place)]
            # Where portals are chosen (not exact) some inter-edges end at this level.
            if overlay.heights[successor] < level:
                continue
            batch.targets[arc] = successor
            batch.costs[arc] = overlay.costs[slot]
            batch.subs[arc] = -1
            arc += 1
        mark_needed(scratch.direct, scratch.between, a, portals.size, scratch.needed)
        for b in range(portals.size):
            if not scratch.needed[b]:
                continue
            end = trace(scratch, size, a, b, batch.steps, step + 1)
            if end > batch.steps.size:
                return MORE_STEPS
            batch.targets[arc] = portals[b]
            batch.costs[arc] = scratch.between[a, b]
            batch.subs[arc] = step
            arc += 1
            batch.steps[step] = end - step - 1
            step = end
        batch.row_sizes[row] = arc - begin_arc
        row += 1
    batch.ends[at + 1, 0] = row
    batch.ends[at + 1, 1] = arc
    batch.ends[at + 1, 2] = step
    batch.done[0] = at + 1
    return DONE


@inline
def lower_row(overlay, level, portal):
    """The arcs of a portal one level below `level`."""
    if level == 1:
        place = overlay.places[portal]
        return overlay.offsets[place], overlay.offsets[place + 1]
    row = overlay.rows[portal] + level - 2
    return overlay.row_first[row], overlay.row_last[row]


@kernel
def place_landmarks(space, state, none, groups, group_starts, landmarks, nearest):
    """Fill `landmarks` (p, k) with distances over level 1; the portals of each component have landmarks of their own.

    `groups` (p,) int32 are the portals, component by component, and `group_starts` where each component begins;
    `nearest` (p,) float64 is scratch. A landmark is the portal that is farthest from those before it. Returns whether
    a heap was too small.
    """
    for group in range(group_starts.size - 1):
        members = groups[group_starts[group] : group_starts[group + 1]]
        source = members[0]
        for mark in range(-1, landmarks.shape[1]):  # before the first one: what is far from any portal
            status, _, _ = search(space, state, source, -1, 0.0, UNLIMITED, none, FOREVER, False)
            if status == HEAP_FULL:
                return True
            clock = state.clock[0]
            farthest = -1.0
            for portal in members:
                away = state.cost[portal] if state.stamp[portal] > clock else np.inf
                if mark >= 0:
                    landmarks[portal, mark] = away
                if mark <= 0 or away < nearest[portal]:
                    nearest[portal] = away
                if farthest < nearest[portal] < np.inf:
                    farthest = nearest[portal]
                    source = portal
    return False


@kernel
def replace(overlay, level, parts, batch, blocks, used, changed, done):
    """Put the arcs of some parts in the place of their old ones, or at the end of the pool where they are too many.

    `blocks` (k, 4) int64 are the parts' places in the pool, `used` (2,) int64 the arcs and steps in use, `changed` (k,)
    bool whether arcs differ from before, `done` (1,) int64 the parts that are done. Returns DONE, or what is missing.
    """
    edges = overlay.offsets[overlay.offsets.size - 1]
    for at in range(done[0], parts.ranges.shape[0]):
        arc_first, arc_last = batch.ends[at, 1], batch.ends[at + 1, 1]
        step_first, step_last = batch.ends[at, 2], batch.ends[at + 1, 2]
        arcs, steps = arc_last - arc_first, step_last - step_first
        # A part that has to move gets a quarter more than it needs now, so that it seldom moves again.
        if arcs > blocks[at, 1]:
            room = arcs + arcs // 4
            if used[0] + room > overlay.targets.size:
                return MORE_ARCS
            blocks[at, 0], blocks[at, 1] = used[0], room
            used[0] += room
        if steps > blocks[at, 3]:
            room = steps + steps // 4
            if used[1] + room > overlay.steps.size:
                return MORE_STEPS
            blocks[at, 2], blocks[at, 3] = used[1], room
            used[1] += room
        for step in range(steps):
            overlay.steps[blocks[at, 2] + step] = batch.steps[step_first + step]
        changed[at] = False
        arc, new = blocks[at, 0], arc_first
        portals = overlay.members[parts.portals[at, 0] : parts.portals[at, 1]]
        for a in range(portals.size):
            row = overlay.rows[portals[a]] + level - 1
            size = batch.row_sizes[batch.ends[at, 0] + a]
            old = overlay.row_first[row]
            same = arc == old and overlay.row_last[row] - old == size
            for _ in range(size):
                same = same and overlay.targets[arc] == batch.targets[new] and overlay.costs[arc] == batch.costs[new]
                overlay.targets[arc] = batch.targets[new]
                overlay.costs[arc] = batch.costs[new]
                sub = batch.subs[new]
                overlay.subs[arc - edges] = sub - step_first + blocks[at, 2] if sub >= 0 else -1
                arc += 1
                new += 1
            overlay.row_first[row], overlay.row_last[row] = arc - size, arc
            changed[at] |= not same
        done[0] = at + 1
    return DONE


@kernel
def set_aside(overlay, level, portals):
    """Take the rows of some parts of a level out of use; `portals` (k, 2) int32 are those of `Parts`."""
    for part in range(portals.shape[0]):
        for at in range(portals[part, 0], portals[part, 1]):
            row = overlay.rows[overlay.members[at]] + level - 1
            overlay.row_first[row] = overlay.row_last[row] = -1


@kernel
def find_slots(offsets, targets, pairs, slots, owners):
    """Write the slots of a graph that join node pairs (k, 2), and the pair of each; return how many there are."""
    count = 0
    for at in range(pairs.shape[0]):
        for slot in range(offsets[pairs[at, 0]], offsets[pairs[at, 0] + 1]):
            if targets[slot] == pairs[at, 1]:
                slots[count] = slot
                owners[count] = at
                count += 1
    return count
