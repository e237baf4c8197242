# mypy: ignore-errors
"""Customisation (Fuentes 2015, algorithm 2): arcs of a part from the level below, landmarks, and repair in places.

A member that is eliminated leaves steps between its neighbours in its place. Fuentes 2015 (algorithm 2) runs one search
for each portal; on the parts of a navigation mesh, where most members have two or three neighbours, elimination takes
a fifth of the time, and that is what an update waits for.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, implements, inline, kernel
from wayfold.graph.search_kernels import (
    HEAP_FULL,
    UNLIMITED,
    begin,
    cost,
    distance,
    drop_top,
    search,
    sift_up,
    slots,
    target,
)
from wayfold.hierarchy._query_kernels import FOREVER, OnGround, Overlay, first_portal, sum_down

MOST_MEMBERS = 1024  # of a part that is eliminated: the matrices below are square
APART, STEP = -2, -1

# Sums of the same costs in another order differ by less; a detour differs by more.
_SAME = 1.0 + 1e-12

# What an arc's cost is at least before it is rounded to float32, once for the arc and once for one in its place.
BEFORE_ROUNDING = 1.0 - 1.25e-7


class Reduced(NamedTuple):
    """What is left of a part of s members; entry ``a * s + b`` is for the way from member a to member b."""

    costs: np.ndarray  # (s * s,) float64
    via: (
        np.ndarray
    )  # (s * s,) int16, the eliminated member on the way, STEP for none, APART where nothing joins the two
    joined: np.ndarray  # (s * s,) int16, the neighbours of member a from ``a * s`` on
    degrees: np.ndarray  # (s,) int32, their number
    done: np.ndarray  # (s,) bool, whether a member is eliminated, or a portal, which stays
    stack: np.ndarray  # (s + 2, 2) int32, ways that are still to be unfolded


@inline
def join(reduced, size, a, b):
    """Make two members neighbours that are not, at no finite cost yet."""
    reduced.via[a * size + b] = reduced.via[b * size + a] = STEP
    reduced.costs[a * size + b] = reduced.costs[b * size + a] = np.inf
    reduced.joined[a * size + reduced.degrees[a]] = b
    reduced.joined[b * size + reduced.degrees[b]] = a
    reduced.degrees[a] += 1
    reduced.degrees[b] += 1


@inline
def part_from(reduced, size, a, node):
    """Take a member out of the neighbours of another."""
    begin = a * size
    at = begin
    while reduced.joined[at] != node:
        at += 1
    reduced.degrees[a] -= 1
    reduced.joined[at] = reduced.joined[begin + reduced.degrees[a]]


@helper
def eliminate(space, size, portals, reduced):
    """Reduce the `size` members of a search space to its `portals` (k,) int32.

    Afterwards an entry between two portals is the least cost of a way that passes no third portal.
    """
    costs, via, joined, degrees, done = reduced.costs, reduced.via, reduced.joined, reduced.degrees, reduced.done
    for at in range(size * size):
        via[at] = APART
    for node in range(size):
        degrees[node] = 0
        done[node] = False
    for portal in portals:
        done[portal] = True
    for node in range(size):
        first, last = slots(space, node)
        for slot in range(first, last):
            other = target(space, node, slot)
            if other < 0 or other == node:
                continue
            step = cost(space, node, slot, other)
            if not step < np.inf:
                continue
            if via[node * size + other] == APART:
                join(reduced, size, node, other)
            if step < costs[node * size + other]:
                costs[node * size + other] = step
    left = size - portals.size
    few, node = 1, -1
    while left > 0:
        # Members with few neighbours leave few steps, so they go first; one with more goes when no other is left.
        node += 1
        if node == size:
            node = -1
            few += 1
            continue
        if done[node] or degrees[node] > few:
            continue
        degree = degrees[node]
        done[node] = True
        left -= 1
        row = node * size
        for at in range(degree):
            part_from(reduced, size, joined[row + at], node)
        for at in range(degree):
            a = np.int64(joined[row + at])
            from_a, to_a = costs[a * size + node], costs[row + a]
            for beyond in range(at + 1, degree):
                b = np.int64(joined[row + beyond])
                there, back = from_a + costs[row + b], costs[b * size + node] + to_a
                if via[a * size + b] == APART:
                    join(reduced, size, a, b)
                if there < costs[a * size + b]:
                    costs[a * size + b] = there
                    via[a * size + b] = node
                if back < costs[b * size + a]:
                    costs[b * size + a] = back
                    via[b * size + a] = node


@inline
def unfold(reduced, size, a, b, steps, at):
    """Write the members between two members to `steps` from position `at` on; return the position after them.

    Writes nothing beyond the end of `steps`, but counts on.
    """
    stack, via = reduced.stack, reduced.via
    stack[0, 0], stack[0, 1] = a, b
    waiting = 1
    while waiting > 0:
        first, second = np.int64(stack[waiting - 1, 0]), np.int64(stack[waiting - 1, 1])
        node = via[first * size + second]
        if node >= 0:
            stack[waiting - 1, 0] = node
            stack[waiting, 0], stack[waiting, 1] = first, node
            waiting += 1
            continue
        waiting -= 1
        if second != b:
            if at < steps.size:
                steps[at] = second
            at += 1
    return at


@inline
def close(between, count):
    """Turn costs of ways that pass no third portal into distances."""
    for via in range(count):
        for a in range(count):
            there = between[a, via]
            if not there < np.inf:
                continue
            for b in range(count):
                between[a, b] = min(between[a, b], there + between[via, b])


@inline
def mark_needed(direct, between, a, count, needed):
    """Mark in `needed` (count,) the portals to which portal `a` needs an arc: no third lies on a way that is as short.

    `direct` (portals, portals) are the costs of the ways that arcs would stand for. Both halves of a way through a
    third must be shorter than the whole, or portals at distance 0 from each other could each rely on the other; where
    `direct` is no distance at all, for a way through others is really shorter, no such care is needed.
    """
    for b in range(count):
        needed[b] = (b != a) & (direct[a, b] < np.inf) & (direct[a, b] <= between[a, b] * _SAME)
    for via in range(count):
        there = between[a, via]
        # No branches in here: the processor does several at once.
        for b in range(count):
            rest, whole = between[via, b], direct[a, b]
            needed[b] &= not ((there < whole) & (rest < whole) & (there + rest <= whole * _SAME))


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


class PartBatch(NamedTuple):
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


class PartScratch(NamedTuple):
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
def place_landmarks(overlay, state, groups, group_starts, landmarks, nearest):
    """Fill `landmarks` (p, k) with distances over level 1; the portals of each component have landmarks of their own.

    `groups` (p,) int32 are the portals, component by component, and `group_starts` where each component begins;
    `nearest` (p,) float64 is scratch. A landmark is the portal that is farthest from those before it. The heap of
    `state` has room for all portals.
    """
    for group in range(group_starts.size - 1):
        members = groups[group_starts[group] : group_starts[group + 1]]
        source = members[0]
        for turn in range(-1, landmarks.shape[1]):  # before the first one: what is far from any portal
            mark = max(turn, 0)
            for portal in members:
                landmarks[portal, mark] = np.inf
            landmarks[source, mark] = 0.0
            clock = begin(state, source)
            spread(overlay, state, clock, 1, landmarks, mark)
            farthest = -1.0
            for portal in members:
                away = landmarks[portal, mark]
                if turn <= 0 or away < nearest[portal]:
                    nearest[portal] = away
                if farthest < nearest[portal] < np.inf:
                    farthest = nearest[portal]
                    source = portal


@inline
def spread(overlay, state, clock, size, landmarks, mark):
    """Lower distances from a landmark, from the `size` portals in the heap on, to what arcs of level 1 allow.

    Sums are rounded down: afterwards no arc from those portals leads to a distance that is larger by more than the arc
    costs, exactly. Rounded to the nearest, distances of 1e28 would say nothing of costs below 1e12. Of each arc only
    `BEFORE_ROUNDING` counts: an update that closes a way through a third portal makes an arc that was not there, and
    it may cost less than the two in its place by what the three were rounded by.
    """
    while size > 0:
        portal = state.nodes[0]
        size = drop_top(state, size)
        so_far = landmarks[portal, mark]
        row = overlay.rows[portal]
        for arc in range(overlay.row_first[row], overlay.row_last[row]):
            successor = overlay.targets[arc]
            away = sum_down(so_far, BEFORE_ROUNDING * np.float64(overlay.costs[arc]))
            if not away < landmarks[successor, mark]:
                continue
            landmarks[successor, mark] = away
            at = size
            if state.stamp[successor] == clock + 1 and state.place[successor] >= 0:
                at = state.place[successor]
            else:
                state.stamp[successor] = clock + 1
                size += 1
            sift_up(state, at, away, successor)


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
    """Take the rows of some parts of a level out of use; `portals` (k, 2) int32 are those of `PartBatch`."""
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


@kernel
def adopt(offsets, targets, waiting, labels, chosen):
    """Let nodes without a label (-1) join a labelled neighbour, those next to labelled ones first.

    `waiting` (k,) int32 are the nodes without a label, `chosen` (k,) int32 is scratch. Nodes that no step leads from to
    a labelled one keep -1.
    """
    found = 1
    while found > 0:
        found = 0
        for at in range(waiting.size):
            chosen[at] = -1
            node = waiting[at]
            if labels[node] >= 0:
                continue
            for slot in range(offsets[node], offsets[node + 1]):
                if labels[targets[slot]] >= 0:
                    chosen[at] = labels[targets[slot]]
                    break
        # All of a round at once: no part runs ahead of the others.
        for at in range(waiting.size):
            if chosen[at] >= 0:
                labels[waiting[at]] = chosen[at]
                found += 1


@kernel
def fill_order(old_order, new_of, labels, waiting, cursors, order):
    """Write the nodes part by part: first those that stayed, in their old order, then the new ones.

    `new_of` (old nodes,) int32 is the new number of an old node, -1 if it is gone; `cursors` where each part begins.
    """
    for place in range(old_order.size):
        node = new_of[old_order[place]]
        if node >= 0:
            at = cursors[labels[node]]
            cursors[labels[node]] = at + 1
            order[at] = node
    for node in waiting:
        at = cursors[labels[node]]
        cursors[labels[node]] = at + 1
        order[at] = node


@kernel
def mark_touched(old, new, old_heights, new_heights, old_place, new_place, starts, touched):
    """Mark the parts (ranges of places, from `starts`) that hold a place whose edges or height are not as before.

    Parameters
    ----------
    old, new : Overlay
    old_heights, new_heights : (places,) uint8
    old_place : (new places,) int32
        -1 for a node that was not there.
    new_place : (old places,) int32
        -1 for a node that is gone.
    touched : (parts,) bool
    """
    for part in range(touched.size):
        for place in range(starts[part], starts[part + 1]):
            before = old_place[place]
            if before < 0 or old_heights[before] != new_heights[place]:
                touched[part] = True
                break
            first, shift = new.offsets[place], old.offsets[before] - new.offsets[place]
            last = new.offsets[place + 1]
            if old.offsets[before + 1] - shift != last:
                touched[part] = True
                break
            same = True
            for slot in range(first, last):
                if new.costs[slot] != old.costs[slot + shift]:
                    same = False
                    break
                if new.targets[slot] != new_place[old.targets[slot + shift]]:
                    same = False
                    break
            if not same:
                touched[part] = True
                break


@kernel
def carry_parts(old, new, level, old_portals, new_portals, old_blocks, new_blocks, portal_map, used):
    """Copy the arcs of some parts of a level; arrays of parts have a row for each, in the same order.

    `portal_map` (old portals,) int32 is the new number of each portal, `used` (2,) int64 the arcs and steps in use.
    """
    old_edges, new_edges = old.offsets[old.offsets.size - 1], new.offsets[new.offsets.size - 1]
    for part in range(len(old_portals)):
        arc, step = used[0], used[1]
        step_shift = step - old_blocks[part, 2]
        for at in range(old_portals[part, 1] - old_portals[part, 0]):
            row = old.rows[old.members[old_portals[part, 0] + at]] + level - 1
            new_row = new.rows[new.members[new_portals[part, 0] + at]] + level - 1
            new.row_first[new_row] = arc
            for before in range(old.row_first[row], old.row_last[row]):
                new.targets[arc] = portal_map[old.targets[before]]
                new.costs[arc] = old.costs[before]
                sub = old.subs[before - old_edges]
                new.subs[arc - new_edges] = sub + step_shift if sub >= 0 else -1
                arc += 1
            new.row_last[new_row] = arc
        for at in range(old_blocks[part, 3]):
            new.steps[step + at] = old.steps[old_blocks[part, 2] + at]
        new_blocks[part, 0], new_blocks[part, 1] = used[0], arc - used[0]
        new_blocks[part, 2], new_blocks[part, 3] = step, old_blocks[part, 3]
        used[0], used[1] = arc, step + old_blocks[part, 3]


@kernel
def lower_landmarks(overlay, state, seeds, landmarks):
    """Lower distances from landmarks until no arc of level 1 joins two that differ by more than it costs.

    `seeds` (k,) int32 are the portals whose arcs are new. What is left is a lower bound as before, whatever has
    changed: arcs that are gone or cost more only make it less sharp. The heap of `state` has room for all portals.
    """
    for mark in range(landmarks.shape[1]):
        clock = begin(state, seeds[0])
        state.stamp[seeds[0]] = 0
        size = 0
        for portal in seeds:
            if landmarks[portal, mark] < np.inf:
                state.stamp[portal] = clock + 1
                sift_up(state, size, landmarks[portal, mark], portal)
                size += 1
        spread(overlay, state, clock, size, landmarks, mark)
