# mypy: ignore-errors
"""Steiner points on bisectors (Tibboel 2012, section 4.2.3), and BUSHWHACK (sections 4.3.3 and 8.1).

Bisector ``3 * t + k`` splits the angle at corner k of triangle t. Its neighbours are itself, the two others of its
triangle, and across each edge of its angle the two bisectors at the ends of that edge. Vertices are nodes too: points
of every bisector that begins at them. Nothing but the points is stored; connections are computed when a search asks.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, implements, inline, kernel
from wayfold.graph.search_kernels import (
    FOUND,
    HEAP_FULL,
    UNREACHABLE,
    begin,
    cost,
    distance,
    drop_top,
    sift_up,
    slots,
    target,
)

GROUPS = 7  # neighbour bisectors
MOST = 1000.0  # points on one bisector


class SteinerSpace(NamedTuple):
    """s Steiner points, then n vertices."""

    vertices: np.ndarray  # (n, 2) float64
    triangles: np.ndarray  # (m, 3) int32
    twins: np.ndarray  # (3 m,) int32
    weights: np.ndarray  # (m,) float64
    first: np.ndarray  # (3 m + 1,) int64, points of each bisector, from its vertex on
    points: np.ndarray  # (s, 2) float64
    bisector: np.ndarray  # (s,) int32
    fan_first: np.ndarray  # (n + 1,) int64
    fan: np.ndarray  # (3 m,) int32, half-edges that begin at each vertex


@kernel
def list_fans(triangles, fan_first, index, fan):
    """Half-edges by the vertex that they begin at; `fan_first` must hold the bounds, `index` a copy of them."""
    for h in range(3 * triangles.shape[0]):
        v = triangles[h // 3, h % 3]
        fan[index[v]] = h
        index[v] += 1


@kernel
def place_points(vertices, triangles, weights, fan_first, fan, epsilon, first, points, bisector):
    """Put Steiner points on every bisector; with empty `points` only count them into `first` (3 m + 1,).

    The vicinity of a vertex is empty: its radius is r(v) = w_min / (7 w_max) d(v), times epsilon where that is below
    1 (for larger ones the paper's own figures keep r(v)). From there the intervals grow with the distance from the
    vertex, so that there are at most MOST points. Bisectors in obstacles have no points.
    """
    used = 0
    for h in range(3 * triangles.shape[0]):
        first[h] = used
        t, k = h // 3, h % 3
        if not weights[t] < np.inf:
            continue
        v, a, b = triangles[t, k], triangles[t, (k + 1) % 3], triangles[t, (k + 2) % 3]
        ax, ay = vertices[a, 0] - vertices[v, 0], vertices[a, 1] - vertices[v, 1]
        bx, by = vertices[b, 0] - vertices[v, 0], vertices[b, 1] - vertices[v, 1]
        la, lb = np.hypot(ax, ay), np.hypot(bx, by)
        dx, dy = ax / la + bx / lb, ay / la + by / lb
        norm = np.hypot(dx, dy)
        cosine = 0.5 * norm  # of half the angle
        sine = np.sqrt(max(0.0, 1.0 - cosine * cosine))
        if not (sine > 0.0 and norm > 0.0):
            continue
        length = 2.0 * la * lb * cosine / (la + lb)
        reach = min(1.0, epsilon) * vicinity(vertices, triangles, weights, fan_first, fan, v)
        growth = 1.0 + sine * np.sqrt(0.5 * epsilon)
        # In a triangle as thin as a needle the points would be millions.
        if 0.0 < reach < length and (length / reach) > growth**MOST:
            growth = (length / reach) ** (1.0 / MOST)
        while reach < length and reach > 0.0:
            if points.size > 0:
                points[used, 0] = vertices[v, 0] + reach * dx / norm
                points[used, 1] = vertices[v, 1] + reach * dy / norm
                bisector[used] = h
            used += 1
            reach *= growth
    first[3 * triangles.shape[0]] = used


@inline
def vicinity(vertices, triangles, weights, fan_first, fan, v):
    """Radius r(v) of a vertex's vicinity."""
    nearest, low, high = np.inf, np.inf, 0.0
    for index in range(fan_first[v], fan_first[v + 1]):
        t, k = fan[index] // 3, fan[index] % 3
        if not weights[t] < np.inf:
            continue
        low, high = min(low, weights[t]), max(high, weights[t])
        a, b = triangles[t, (k + 1) % 3], triangles[t, (k + 2) % 3]
        ex, ey = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1]
        length = np.hypot(ex, ey)
        px, py = vertices[v, 0] - vertices[a, 0], vertices[v, 1] - vertices[a, 1]
        along = min(max((px * ex + py * ey) / length, 0.0), length)
        nearest = min(nearest, np.hypot(px - along * ex / length, py - along * ey / length))
    return low / (7.0 * high) * nearest


@inline
def beside_edge(vertices, a, b, px, py, qx, qy):
    """Length of the edge from a to b; how far along it p lies and how far from its line; the same for q."""
    ex, ey = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1]
    length = np.sqrt(ex * ex + ey * ey)
    ex, ey = ex / length, ey / length
    ox, oy = px - vertices[a, 0], py - vertices[a, 1]
    up, dp = ox * ex + oy * ey, abs(ex * oy - ey * ox)
    ox, oy = qx - vertices[a, 0], qy - vertices[a, 1]
    uq, dq = ox * ex + oy * ey, abs(ex * oy - ey * ox)
    return length, up, dp, uq, dq


@helper
def across(vertices, a, b, px, py, qx, qy, w1, w2):
    """Cheapest way from p to q over the edge from a to b, weight w1 on p's side, w2 on q's; and where it crosses.

    The crossing obeys Snell's law, or lies at an end of the edge. It is found by Newton steps on the convex cost,
    kept inside an interval that shrinks around the minimum.
    """
    length, up, dp, uq, dq = beside_edge(vertices, a, b, px, py, qx, qy)
    low, high = min(max(min(up, uq), 0.0), length), max(min(max(up, uq), length), 0.0)
    u = low
    if dp + dq > 0.0:
        u = min(max((up * dq + uq * dp) / (dp + dq), low), high)
    if w1 != w2 and high > low:
        for _ in range(40):
            rp = np.sqrt((u - up) ** 2 + dp * dp)
            rq = np.sqrt((u - uq) ** 2 + dq * dq)
            if rp == 0.0 or rq == 0.0:
                break
            slope = w1 * (u - up) / rp + w2 * (u - uq) / rq
            bend = w1 * dp * dp / (rp * rp * rp) + w2 * dq * dq / (rq * rq * rq)
            if slope > 0.0:
                high = u
            else:
                low = u
            step = u - slope / bend if bend > 0.0 else 0.5 * (low + high)
            if not low <= step <= high:
                step = 0.5 * (low + high)
            if abs(step - u) <= 1e-13 * length:
                u = step
                break
            u = step
    total = w1 * np.sqrt((u - up) ** 2 + dp * dp) + w2 * np.sqrt((u - uq) ** 2 + dq * dq)
    return total, u / length


@helper
def along(vertices, a, b, px, py, qx, qy, w1, w2):
    """Cost of the edge-using path p, x, y, q under the critical angle; infinite in the degenerate cases of Figure 8.

    Returns the cost and the shares of x and y on the edge from a to b.
    """
    if not w2 < w1:
        return np.inf, 0.0, 0.0
    length, up, dp, uq, dq = beside_edge(vertices, a, b, px, py, qx, qy)
    sine = w2 / w1
    cosine = np.sqrt(1.0 - sine * sine)
    sign = 1.0 if uq >= up else -1.0
    x, y = up + sign * dp * sine / cosine, uq - sign * dq * sine / cosine
    if (y - x) * sign < 0.0 or min(x, y) < -1e-12 * length or max(x, y) > length * (1.0 + 1e-12):
        return np.inf, 0.0, 0.0
    return w1 * (dp + dq) / cosine + w2 * abs(y - x), x / length, y / length


@inline
def group_at(space, h, group):
    """Neighbour bisector number `group` of bisector `h`, -1 for none; the half-edge that both share."""
    t, k = h // 3, h % 3
    before = 3 * t + (k + 2) % 3
    if group == 0:
        return h, h
    if group == 1:
        return 3 * t + (k + 1) % 3, h
    if group == 2:
        return before, before
    edge = h if group < 5 else before
    twin = space.twins[edge]
    if twin < 0:
        return -1, edge
    if group == 3 or group == 5:
        return twin, edge
    return 3 * (twin // 3) + (twin + 1) % 3, edge


@inline
def twin_weight(space, h):
    """Weight on the other side of a half-edge."""
    twin = space.twins[h]
    return space.weights[twin // 3] if twin >= 0 else np.inf


@inline
def within(space, h, px, py, qx, qy):
    """Cheapest connection of two points of one triangle, straight or using the edge `h`: cost and shares (x, y)."""
    t, k = h // 3, h % 3
    w1 = space.weights[t]
    a, b = space.triangles[t, k], space.triangles[t, (k + 1) % 3]
    straight = w1 * np.sqrt((qx - px) ** 2 + (qy - py) ** 2)
    using, x, y = along(space.vertices, a, b, px, py, qx, qy, w1, twin_weight(space, h))
    if using < straight:
        return using, x, y
    return straight, -1.0, -1.0


@inline
def place_of(space, node):
    """Position of a node."""
    count = space.points.shape[0]
    if node < count:
        return space.points[node, 0], space.points[node, 1]
    return space.vertices[node - count, 0], space.vertices[node - count, 1]


@inline
def unpack(space, node, slot):
    """What a slot leads to: node (-1 for none), the half-edge of the connection, a second one or -1, and its kind.

    Kind 0 is across the half-edge, kind 1 within its triangle (the second half-edge is another edge to use).
    """
    count = space.points.shape[0]
    if node < count:
        h = space.bisector[node]
        t, k = h // 3, h % 3
        for group in range(GROUPS):
            other, edge = group_at(space, h, group)
            if other < 0:
                continue
            size = space.first[other + 1] - space.first[other]
            if slot < size:
                found = space.first[other] + slot
                if found == node:
                    return -1, edge, -1, 1
                if group >= 3:
                    return found, edge, -1, 0
                return found, edge, (3 * t + (k + 2) % 3 if group == 0 else -1), 1
            slot -= size
        corner = slot
        return count + space.triangles[t, corner], 3 * t + corner, 3 * t + (corner + 2) % 3, 1
    v = node - count
    for index in range(space.fan_first[v], space.fan_first[v + 1]):
        h = space.fan[index]
        t, k = h // 3, h % 3
        size = space.first[3 * t + 3] - space.first[3 * t]
        if slot < size:
            return space.first[3 * t] + slot, h, 3 * t + (k + 2) % 3, 1
        slot -= size
        if slot < 2:
            return count + space.triangles[t, (k + 1 + slot) % 3], h, 3 * t + (k + 2) % 3, 1
        slot -= 2
    return -1, -1, -1, 1


@helper
def connection(space, node, successor, edge, second, kind):
    """Cost of a connection, the half-edge that it touches (-1: straight), and the shares of its corners on it."""
    px, py = place_of(space, node)
    qx, qy = place_of(space, successor)
    t, k = edge // 3, edge % 3
    if kind == 0:
        a, b = space.triangles[t, k], space.triangles[t, (k + 1) % 3]
        total, share = across(space.vertices, a, b, px, py, qx, qy, space.weights[t], twin_weight(space, edge))
        return total, edge, share, share
    total, x, y = within(space, edge, px, py, qx, qy)
    used = edge if x >= 0.0 else -1
    if second >= 0:
        other, ox, oy = within(space, second, px, py, qx, qy)
        if other < total:
            return other, (second if ox >= 0.0 else -1), ox, oy
    return total, used, x, y


@inline
def slot_count(space, node):
    """Number of slots of a node."""
    count = space.points.shape[0]
    total = np.int64(0)
    if node < count:
        h = space.bisector[node]
        for group in range(GROUPS):
            other, _ = group_at(space, h, group)
            if other >= 0:
                total += space.first[other + 1] - space.first[other]
        return total + 3
    v = node - count
    for index in range(space.fan_first[v], space.fan_first[v + 1]):
        t = space.fan[index] // 3
        total += space.first[3 * t + 3] - space.first[3 * t] + 2
    return total


@implements(slots, SteinerSpace)
def _(space, node):
    return np.int64(0), slot_count(space, node)


@implements(target, SteinerSpace)
def _(space, node, slot):
    found, _, _, _ = unpack(space, node, slot)
    return np.int32(found)


@implements(cost, SteinerSpace)
def _(space, node, slot, successor):
    _, edge, second, kind = unpack(space, node, slot)
    total, _, _, _ = connection(space, node, successor, edge, second, kind)
    return total


@implements(distance, SteinerSpace)
def _(space, node, goal):
    x, y = place_of(space, node)
    gx, gy = place_of(space, goal)
    return np.sqrt((x - gx) ** 2 + (y - gy) ** 2)


@kernel
def count_connections(space, counts):
    """Slots of every node, at position node + 1."""
    for node in range(counts.size - 1):
        counts[node + 1] = slot_count(space, node)


@kernel
def tabulate(space, first, last, offsets, targets, costs):
    """Compute the connections of nodes `first` to `last` - 1 into compressed rows; empty slots lead to -1."""
    for node in range(first, last):
        for slot in range(offsets[node + 1] - offsets[node]):
            index = offsets[node] + slot
            successor, edge, second, kind = unpack(space, node, slot)
            targets[index] = successor
            costs[index] = np.inf
            if successor >= 0:
                costs[index], _, _, _ = connection(space, node, successor, edge, second, kind)


@kernel
def trace(space, nodes, line, legs):
    """Corners of the route over `nodes` and the weight of each leg; returns the number of corners.

    `line` (3 k, 2) and `legs` (3 k,) float64 are written; legs[i] belongs to the leg that ends at corner i.
    """
    line[0, 0], line[0, 1] = place_of(space, nodes[0])
    used = 1
    for i in range(nodes.size - 1):
        best, best_edge, best_x, best_y, best_kind = np.inf, -1, 0.0, 0.0, 1
        w_first = np.inf
        for slot in range(slot_count(space, nodes[i])):
            successor, edge, second, kind = unpack(space, nodes[i], slot)
            if successor != nodes[i + 1]:
                continue
            total, touched, x, y = connection(space, nodes[i], successor, edge, second, kind)
            if total < best:
                best, best_edge, best_x, best_y, best_kind = total, touched, x, y, kind
                w_first = space.weights[edge // 3]
        if best_edge >= 0:
            t, k = best_edge // 3, best_edge % 3
            a, b = space.triangles[t, k], space.triangles[t, (k + 1) % 3]
            for j in range(1 if best_kind == 0 else 2):
                share = best_x if j == 0 else best_y
                line[used, 0] = space.vertices[a, 0] + share * (space.vertices[b, 0] - space.vertices[a, 0])
                line[used, 1] = space.vertices[a, 1] + share * (space.vertices[b, 1] - space.vertices[a, 1])
                legs[used] = w_first if j == 0 else twin_weight(space, best_edge)
                used += 1
        line[used, 0], line[used, 1] = place_of(space, nodes[i + 1])
        legs[used] = twin_weight(space, best_edge) if best_edge >= 0 and best_kind == 0 else w_first
        used += 1
    return used


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
            index = offsets[node]
            v = node - space.points.shape[0]
            for f in range(space.fan_first[v], space.fan_first[v + 1]):
                t = space.fan[f] // 3
                if first.size > 0:
                    first[used] = index
                    owner[used] = node
                index += space.first[3 * t + 3] - space.first[3 * t] + 2
                used += 1
            continue
        index = offsets[node]
        h = space.bisector[node]
        for group in range(GROUPS):
            other, _ = group_at(space, h, group)
            if other < 0:
                continue
            if first.size > 0:
                first[used] = index
                owner[used] = node
            index += space.first[other + 1] - space.first[other]
            used += 1
        if first.size > 0:
            first[used] = index
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
    for index in range(groups.first[entry], groups.first[entry + 1]):
        node = targets[index]
        if node >= 0 and stamp[node] <= clock and costs[index] < best:
            best = costs[index]
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
        index = state.place[successor]
    else:
        if size == state.keys.size:
            return -1, 0
        index = size
        size += 1
        state.stamp[successor] = clock + 1
    state.cost[successor] = fresh
    state.parent[successor] = node
    sift_up(state, index, fresh, successor)
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
        index = middle if upward else middle - 1
        while first <= index < last:
            size, won = offer(space, state, size, clock, node, index, edge, -1, 0)
            if size < 0:
                return size
            if won == 0:
                rival = state.parent[index] if state.stamp[index] > clock else -1
                if 0 <= rival < space.points.shape[0] and rival != node and space.bisector[rival] == own:
                    beyond = (rival > node) == same_end
                    if beyond == upward:
                        break
            index += 1 if upward else -1
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
