# mypy: ignore-errors
"""The levels as searches see them, and the phases of a query (Fuentes 2015, section III.C).

Nodes are numbered part by part, so that every part is a range of *places*; `Partition.order` leads back to the graph's
numbers. The nodes at the ends of edges between parts are *portals*; they have numbers of their own, those of the
highest level first, so that a search over the levels touches little memory.

Nothing is inserted into or deleted from the levels: the start and the goal are linked to the portals of their parts in
scratch memory of the query.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import implements, inline, kernel
from wayfold.graph.search_kernels import (
    FOUND,
    HEAP_FULL,
    UNLIMITED,
    UNREACHABLE,
    SearchState,
    begin,
    cost,
    distance,
    drop_top,
    relax,
    search,
    sift_up,
    slots,
    target,
)

LAST_DIGIT = 2.0**-52  # of a float64


@inline
def sum_down(a, b):
    """The largest float64 that is no more than a + b, for a, b >= 0."""
    total = a + b
    rest = total - a
    # What rounding has left out of the total, exactly (Knuth's two-sum).
    if (a - (total - rest)) + (b - rest) < 0.0:
        return np.nextafter(total, -np.inf)
    return total


class Overlay(NamedTuple):
    """All levels in one pool of arcs.

    Arcs 0 to m - 1 are the edges of the graph, from place to place. The others lead from portal to portal. A portal of
    height h has rows 1 to h, one for each level: the inter-edges that leave its part and the intra-edges within it.
    """

    offsets: np.ndarray  # (n + 1,) int32, the edges of a place
    targets: np.ndarray  # (arcs,) int32
    costs: np.ndarray  # (arcs,) float32
    subs: np.ndarray  # (arcs - m,) int32, where the sub-path of an intra-edge is in `steps`; -1 for an inter-edge
    steps: np.ndarray  # (s,) uint16, sub-paths: how many members of the part they pass, then these
    places: np.ndarray  # (p,) int32, the place of a portal
    heights: np.ndarray  # (p,) uint8, highest level at which it is a portal, from 1
    rows: np.ndarray  # (p + 1,) int32, first row of a portal
    row_first: np.ndarray  # (r,) int32, first arc of a row; -1 while an update has set its part aside
    row_last: np.ndarray  # (r,) int32, one past its last arc
    row_base: np.ndarray  # (r,) int32, where the members of its part begin: a place (level 1), or an index of `members`
    members: np.ndarray  # (r,) int32, the portals of level 1, of level 2, ..., by place within a level
    starts: np.ndarray  # (parts of all levels + levels,) int32, first place of each part, and n at the end of a level
    level_starts: np.ndarray  # (levels + 2,) int32, where each level from 1 begins in `starts`
    landmarks: np.ndarray  # (p, k) float64, distance from each landmark of the portal's component, sums rounded down


class Multilevel(NamedTuple):
    """One query's view of the levels: each portal uses the highest of its levels whose part does not hold the goal.

    The start needs no such care: a portal in its part leads out of the part by the part's own arcs.
    """

    overlay: Overlay
    near: np.ndarray  # (levels + 1, 2) int32, range of places of the goal's part at each level from 1
    marks: np.ndarray  # (2, k) float64, what distances from each landmark are compared with, see `mark_goal`
    top: int  # highest level to use
    one_way: bool  # whether edges are one-way, so that distances from landmarks bound costs on one side only


@implements(slots, Multilevel)
def _(space, node):
    overlay = space.overlay
    row = overlay.rows[node] + level_of(overlay, space.near, space.top, node) - 1
    return overlay.row_first[row], overlay.row_last[row]


@implements(target, Multilevel)
def _(space, node, slot):
    return space.overlay.targets[slot]


@implements(cost, Multilevel)
def _(space, node, slot, successor):
    return np.float64(space.overlay.costs[slot])


@implements(distance, Multilevel)
def _(space, node, goal):
    # No arc of level 1 joins portals whose distances from a landmark differ by more than it costs, not even by a
    # rounding error: of all that comes after a portal this is a lower bound, however long the way from the landmark.
    landmarks, marks = space.overlay.landmarks, space.marks
    best = 0.0
    for mark in range(landmarks.shape[1]):
        away = landmarks[node, mark]
        ahead, behind = marks[0, mark] - away, away - marks[1, mark]
        # Where the landmark does not lead to the portal the larger is not a number, and no bound.
        bound = ahead if ahead > behind else behind
        if bound > best:
            best = bound
    return best


@inline
def level_of(overlay, near, top, node):
    """The level at which a portal is used: the highest, up to `top`, whose part does not hold the goal, at least 1.

    A part that an update has set aside is not used either: the level below leads through it.
    """
    level = min(np.int64(overlay.heights[node]), top)
    place = overlay.places[node]
    row = overlay.rows[node] - 1
    while level > 1 and (near[level, 0] <= place < near[level, 1] or overlay.row_first[row + level] < 0):
        level -= 1
    return level


@inline
def first_portal(overlay, place):
    """Index of `members` of the first portal at a place or behind it; the portals of level 1 come first there."""
    low, high = 0, overlay.places.size
    while low < high:
        middle = (low + high) >> 1
        if overlay.places[overlay.members[middle]] < place:
            low = middle + 1
        else:
            high = middle
    return low


class OnGround(NamedTuple):
    """The graph's edges inside one part; its nodes are the part's places, numbered from 0."""

    offsets: np.ndarray  # (n + 1,) int32
    targets: np.ndarray  # (arcs,) int32
    costs: np.ndarray  # (arcs,) float32
    first: int  # the part's range of places
    last: int


@implements(slots, OnGround)
def _(space, node):
    return space.offsets[space.first + node], space.offsets[space.first + node + 1]


@implements(target, OnGround)
def _(space, node, slot):
    place = np.int64(space.targets[slot])
    return place - space.first if space.first <= place < space.last else np.int64(-1)


@implements(cost, OnGround)
def _(space, node, slot, successor):
    return np.float64(space.costs[slot])


@implements(distance, OnGround)
def _(space, node, goal):
    return 0.0


NO_ROOM = 5  # a path does not fit: the caller gives more room and asks again
AHEAD, BEHIND = 0, 1  # the start's side and the goal's side of a query
FOREVER = np.int64(1) << 62  # no limit to the nodes that a search settles


class QueryScratch(NamedTuple):
    """Scratch memory of one query."""

    state: SearchState  # over portals
    ahead: SearchState  # over the places of the start's part
    behind: SearchState  # over the places of the goal's part
    near: np.ndarray  # (levels + 1, 2) int32, see Multilevel
    marks: np.ndarray  # (2, k) float64, see Multilevel
    linked: np.ndarray  # (2, 3) int64, for each side the linked place (-1 for none) and the range of its part
    trail: np.ndarray  # (p + 1,) int32
    frames: np.ndarray  # (levels + 2, 5) int64
    out: np.ndarray  # (room,) int32


@inline
def opened(overlay, query, top, one_way):
    """The space and the scratch memory of a query from plain tuples.

    Kernels that Python calls for every query take plain tuples: Numba looks at NamedTuples four times longer, which for
    the arrays here would take longer than the phases themselves.
    """
    scratch = QueryScratch(
        SearchState(*query[0]),
        SearchState(*query[1]),
        SearchState(*query[2]),
        query[3],
        query[4],
        query[5],
        query[6],
        query[7],
        query[8],
    )
    return Multilevel(Overlay(*overlay), scratch.near, scratch.marks, top, one_way), scratch


@inline
def part_range(starts, level_starts, level, place):
    """First place and one past the last of the part that holds a place."""
    low, high = level_starts[level], level_starts[level + 1] - 1
    while high - low > 1:
        middle = (low + high) >> 1
        if starts[middle] <= place:
            low = middle
        else:
            high = middle
    return starts[low], starts[low + 1]


@kernel
def find(starts, level_starts, level, single, start, goal, near, linked):
    """Phase 1, find S and G: their parts of `level`, and the goal's at every level unless only this one is used."""
    for above in range(1, near.shape[0]):
        near[above, 0], near[above, 1] = 0, 0
        if not single:
            near[above, 0], near[above, 1] = part_range(starts, level_starts, above, goal)
    for side in range(2):
        first, last = part_range(starts, level_starts, level, goal if side else start)
        if linked[side, 1] != first or linked[side, 2] != last:
            linked[side, 0] = -1
            linked[side, 1] = first
            linked[side, 2] = last


@kernel
def connect(edges, back, ahead, behind, start, goal, linked, none):
    """Phase 2, connect S and G to the portals: one search within the part instead of one for each portal.

    `edges` and `back` are (offsets, targets, costs) of the graph, and of its edges turned round. A side that `linked`
    (see `Query`) says to be linked to its place stays as it is. Returns whether a heap was too small.
    """
    for side in range(2):
        place = goal if side else start
        if linked[side, 0] == place:
            continue
        offsets, targets, costs = back if side else edges
        inside = OnGround(offsets, targets, costs, linked[side, 1], linked[side, 2])
        state = SearchState(*(behind if side else ahead))
        status, _, _ = search(inside, state, place - linked[side, 1], -1, 0.0, UNLIMITED, none, FOREVER, False)
        linked[side, 0] = -1 if status == HEAP_FULL else place
        if status == HEAP_FULL:
            return True
    return False


@inline
def linked_cost(state, member):
    """Cost between the linked node and a member of its part."""
    if state.stamp[member] > state.clock[0]:
        return state.cost[member]
    return np.inf


@inline
def offer(space, state, size, clock, node, new, scale):
    """Put a portal of the start's part into the heap."""
    state.cost[node] = new
    state.parent[node] = -1
    state.stamp[node] = clock + 1
    sift_up(state, size, new + scale * distance(space, node, -1), node)
    return size + 1


@inline
def mark_goal(overlay, behind, first, last, one_way, marks):
    """Fill `marks` (2, k) for a goal in the part of places `first` to `last`.

    A way to the goal ends with what is left from some portal of its part. For a portal whose distance from a landmark
    is d, that makes at least marks[0] - d in all, where marks[0] is the least of those portals' distances *plus* what
    is left. In a two-way graph it makes at least d - marks[1] too, where marks[1] is the most of their distances *less*
    what is left. The goal's own distance will not do for both: arcs are rounded to float32 and what is left is not, so
    that it is off by a part of the largest arc beside the goal, which may be far more than the whole way.
    """
    for mark in range(marks.shape[1]):
        marks[0, mark], marks[1, mark] = np.inf, -np.inf
    count = overlay.places.size
    index = first_portal(overlay, first)
    while index < count and overlay.places[overlay.members[index]] < last:
        portal = overlay.members[index]
        index += 1
        left = linked_cost(behind, overlay.places[portal] - first)
        if not left < np.inf:
            continue
        for mark in range(marks.shape[1]):
            away = overlay.landmarks[portal, mark]
            if away + left < marks[0, mark]:
                marks[0, mark] = away + left
            if away - left > marks[1, mark]:
                marks[1, mark] = away - left
    for mark in range(marks.shape[1]):
        # One sum each was rounded to the nearest: the last digit goes to the side where the bound is lower.
        least, most = marks[0, mark], marks[1, mark]
        marks[0, mark] = least - LAST_DIGIT * least if least < np.inf else -np.inf
        marks[1, mark] = most + LAST_DIGIT * abs(most) if abs(most) < np.inf and not one_way else np.inf


@kernel
def search_levels(overlay_arrays, query_arrays, top, one_way, level, scale):
    """Phase 3, search between S and G: A* over the portals, from those of the start's part to those of the goal's.

    `level` is that of the parts that S and G are linked in. Returns (status, last portal or -1, settled, cost).
    """
    space, query = opened(overlay_arrays, query_arrays, top, one_way)
    overlay, state, ahead, behind = space.overlay, query.state, query.ahead, query.behind
    start_first, start_last = query.linked[AHEAD, 1], query.linked[AHEAD, 2]
    goal_first, goal_last = query.linked[BEHIND, 1], query.linked[BEHIND, 2]
    best = np.inf
    end = -1
    if start_first == goal_first:
        best = linked_cost(ahead, query.linked[BEHIND, 0] - goal_first)
    count = overlay.places.size
    mark_goal(overlay, behind, goal_first, goal_last, one_way, query.marks)
    size = 0
    clock = np.int64(0)
    index = first_portal(overlay, start_first)
    while index < count and overlay.places[overlay.members[index]] < start_last:
        portal = overlay.members[index]
        index += 1
        new = linked_cost(ahead, overlay.places[portal] - start_first)
        if overlay.heights[portal] < level or not new < np.inf:
            continue
        if clock == 0:
            clock = begin(state, portal)
        if size == state.keys.size:
            return HEAP_FULL, -1, 0, np.inf
        size = offer(space, state, size, clock, portal, new, scale)
    settled = 0
    while size > 0:
        if state.keys[0] >= best:
            break
        node = state.nodes[0]
        size = drop_top(state, size)
        settled += 1
        place = overlay.places[node]
        if goal_first <= place < goal_last:
            both = state.cost[node] + linked_cost(behind, place - goal_first)
            if both < best:
                best = both
                end = node
        size = relax(space, state, size, clock, node, -1, scale, UNLIMITED)
        if size < 0:
            return HEAP_FULL, -1, settled, np.inf
    if best == np.inf:
        return UNREACHABLE, -1, settled, np.inf
    return FOUND, end, settled, best


@inline
def cheapest_arc(overlay, first, last, goal):
    """The cheapest arc to a node among the arcs of a row, -1 if there is none."""
    found = -1
    least = np.inf
    for arc in range(first, last):
        if overlay.targets[arc] == goal and overlay.costs[arc] < least:
            found = arc
            least = overlay.costs[arc]
    return found


@kernel
def obtain(overlay_arrays, query_arrays, top, end):
    """Phase 4, obtain sub-paths: write the places from S to G to `query.out`.

    Returns (number of places, cost); -1 places when there is no room for them. The cost is summed over arcs of level 1,
    whose costs are rounded once, and not over edges: looking each of them up takes longer than all the rest.
    """
    space, query = opened(overlay_arrays, query_arrays, top, False)
    overlay, out = space.overlay, query.out
    goal = query.linked[BEHIND, 0]
    start_first, goal_first = query.linked[AHEAD, 1], query.linked[BEHIND, 1]
    portals = 0
    portal = end
    while portal >= 0:
        query.trail[query.trail.size - 1 - portals] = portal
        portals += 1
        portal = query.state.parent[portal]
    trail = query.trail[query.trail.size - portals :]
    # From S to the first portal; with no portal on the way, to G in the same part.
    member = overlay.places[trail[0]] - start_first if portals > 0 else goal - start_first
    count = 0
    while member >= 0:
        if count == out.size:
            return -1, 0.0
        out[count] = start_first + member
        count += 1
        member = query.ahead.parent[member]
    for at in range(count // 2):
        out[at], out[count - 1 - at] = out[count - 1 - at], out[at]
    if portals == 0:
        return count, linked_cost(query.ahead, goal - start_first)
    count, total = unpack(overlay, query.near, space.top, trail, query.frames, out, count)
    if count < 0:
        return -1, 0.0
    # From the last portal to G: the goal's side was searched backwards, so parents lead to G.
    last = overlay.places[trail[portals - 1]] - goal_first
    member = np.int64(query.behind.parent[last])
    while member >= 0:
        if count == out.size:
            return -1, 0.0
        out[count] = goal_first + member
        count += 1
        member = np.int64(query.behind.parent[member])
    total += linked_cost(query.ahead, overlay.places[trail[0]] - start_first)
    return count, total + linked_cost(query.behind, last)


@inline
def unpack(overlay, near, top, trail, frames, out, count):
    """Replace the arcs between the portals of `trail` by the edges that they stand for.

    Returns the new count, -1 where there is no room, and the cost. A frame is a sub-path that is being walked: its
    level, the next step and one past the last, its end, its members.
    """
    edges = overlay.offsets[overlay.offsets.size - 1]
    total = 0.0
    for at in range(1, trail.size):
        portal = np.int64(trail[at - 1])
        goal = np.int64(trail[at])
        level = level_of(overlay, near, top, portal)
        depth = 0
        while True:
            row = overlay.rows[portal] + level - 1
            arc = cheapest_arc(overlay, overlay.row_first[row], overlay.row_last[row], goal)
            sub = overlay.subs[arc - edges]
            if sub >= 0 and level == 1:
                passed = overlay.steps[sub]
                if count + passed >= out.size:
                    return -1, 0.0
                for step in range(sub + 1, sub + 1 + passed):
                    out[count] = overlay.row_base[row] + overlay.steps[step]
                    count += 1
            if sub >= 0 and level > 1:
                depth += 1
                frames[depth, 0] = level
                frames[depth, 1] = sub + 1
                frames[depth, 2] = sub + 1 + overlay.steps[sub]
                frames[depth, 3] = goal
                frames[depth, 4] = overlay.row_base[row]
            else:
                if count == out.size:
                    return -1, 0.0
                out[count] = overlay.places[goal]
                count += 1
                total += np.float64(overlay.costs[arc])
                portal = goal
            while depth > 0 and frames[depth, 1] > frames[depth, 2]:
                depth -= 1
            if depth == 0:
                break
            level = frames[depth, 0] - 1
            goal = frames[depth, 3]
            if frames[depth, 1] < frames[depth, 2]:
                goal = np.int64(overlay.members[frames[depth, 4] + overlay.steps[frames[depth, 1]]])
            frames[depth, 1] += 1
    return count, total


@kernel
def answer_many(overlay, back, query, top, one_way, queries, starts, goals, scale, none, answers, nodes, used):
    """Answer the listed queries one after the other; `back` holds (offsets, targets, costs) of the edges turned round.

    Appends the places of each path to `nodes` from position `used` on. Returns (queries done, position after the last
    path, status); with HEAP_FULL or NO_ROOM the caller makes room and goes on from there.
    """
    space, scratch = opened(overlay, query, top, one_way)
    ground = space.overlay
    edges = (ground.offsets, ground.targets, ground.costs)
    for at in range(queries.size):
        number = queries[at]
        start, goal = starts[number], goals[number]
        find(ground.starts, ground.level_starts, 1, False, start, goal, scratch.near, scratch.linked)
        if connect(edges, back, query[1], query[2], start, goal, scratch.linked, none):
            return at, used, HEAP_FULL
        status, end, settled, _ = search_levels(overlay, query, top, one_way, 1, scale)
        if status == HEAP_FULL:
            return at, used, HEAP_FULL
        answers.statuses[number] = status
        answers.expanded[number] = settled
        if status != FOUND:
            continue
        count, total = obtain(overlay, query, top, end)
        if count < 0 or used + count > nodes.size:
            return at, used, NO_ROOM
        for step in range(count):
            nodes[used + step] = scratch.out[step]
        used += count
        answers.costs[number] = total
        answers.lengths[number] = count
    return queries.size, used, FOUND
