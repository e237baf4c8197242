# mypy: ignore-errors
"""Levels of a graph that differs from an earlier one in places: parts that stayed as they were are copied."""

import numpy as np

from wayfold.core.jit import kernel
from wayfold.graph._kernels import begin, drop_top, sift_up


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
        while size > 0:
            portal = state.nodes[0]
            size = drop_top(state, size)
            so_far = landmarks[portal, mark]
            row = overlay.rows[portal]
            for arc in range(overlay.row_first[row], overlay.row_last[row]):
                successor = overlay.targets[arc]
                away = so_far + overlay.costs[arc]
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
