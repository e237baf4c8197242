# mypy: ignore-errors
"""Steiner points on the bisectors of triangles and the connections between them (003, section 4.2.3).

Bisector ``3 * t + k`` splits the angle at corner k of triangle t. Its neighbours are itself, the two others of its
triangle, and across each edge of its angle the two bisectors at the ends of that edge. Vertices are nodes too: points
of every bisector that begins at them. Nothing but the points is stored; connections are computed when a search asks.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, implements, inline, kernel
from wayfold.graph._kernels import cost, distance, slots, target

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
def list_fans(triangles, fan_first, at, fan):
    """Half-edges by the vertex that they begin at; `fan_first` must hold the bounds, `at` a copy of them."""
    for h in range(3 * triangles.shape[0]):
        v = triangles[h // 3, h % 3]
        fan[at[v]] = h
        at[v] += 1


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
    for at in range(fan_first[v], fan_first[v + 1]):
        t, k = fan[at] // 3, fan[at] % 3
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
    for at in range(space.fan_first[v], space.fan_first[v + 1]):
        h = space.fan[at]
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
    for at in range(space.fan_first[v], space.fan_first[v + 1]):
        t = space.fan[at] // 3
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
            at = offsets[node] + slot
            successor, edge, second, kind = unpack(space, node, slot)
            targets[at] = successor
            costs[at] = np.inf
            if successor >= 0:
                costs[at], _, _, _ = connection(space, node, successor, edge, second, kind)


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
