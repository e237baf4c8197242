# mypy: ignore-errors
"""Graphs of points on a triangulation as search spaces, and routes refined to the optimum of their edge sequence.

All of them are stored the same way, in compressed rows with a cost for each step, and a query adds two nodes of its
own, the start and the goal, without touching the stored arrays.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, implements, inline, kernel
from wayfold.geometry.chain_kernels import chain_cost, place, reach, settle
from wayfold.graph.search_kernels import (
    FOUND,
    HEAP_FULL,
    UNREACHABLE,
    begin,
    cost,
    distance,
    drop_top,
    relax,
    slots,
    target,
)
from wayfold.terrain._kernels import copy_point, tidy
from wayfold.terrain._steiner_kernels import across


class QuerySpace(NamedTuple):
    """n stored nodes; node n is the start and node n + 1 the goal of one query.

    The steps of a node stand one after the other in `targets` and `costs`, or, where an edit has changed them, behind
    all of those in `more_targets` and `more_costs`, so that most arrays are shared with the graph before the edit.
    """

    firsts: np.ndarray  # (n,) int64, the first step of each node
    lasts: np.ndarray  # (n,) int64, behind its last one
    targets: np.ndarray  # (s,) int32
    costs: np.ndarray  # (s,) float32, infinite where blocked
    more_targets: np.ndarray  # (r,) int32
    more_costs: np.ndarray  # (r,) float32
    points: np.ndarray  # (n, 2) float64
    start_nodes: np.ndarray  # (k,) int32, nodes that the start is joined to; n + 1 where it sees the goal itself
    start_costs: np.ndarray  # (k,) float64
    goal_costs: np.ndarray  # (n,) float64, scratch: infinite but for nodes that are joined to the goal
    ends: np.ndarray  # (2, 2) float64, start and goal


@implements(slots, QuerySpace)
def _(space, node):
    if node >= space.points.shape[0]:
        return np.int64(0), np.int64(space.start_nodes.size)
    return space.firsts[node], space.lasts[node] + 1


@implements(target, QuerySpace)
def _(space, node, slot):
    nodes = space.points.shape[0]
    if node >= nodes:
        return space.start_nodes[slot]
    if slot == space.lasts[node]:
        return np.int32(nodes + 1) if space.goal_costs[node] < np.inf else np.int32(-1)
    if slot < space.targets.size:
        return space.targets[slot]
    return space.more_targets[slot - space.targets.size]


@implements(cost, QuerySpace)
def _(space, node, slot, successor):
    if node >= space.points.shape[0]:
        return space.start_costs[slot]
    if slot == space.lasts[node]:
        return space.goal_costs[node]
    if slot < space.targets.size:
        return np.float64(space.costs[slot])
    return np.float64(space.more_costs[slot - space.targets.size])


@implements(distance, QuerySpace)
def _(space, node, goal):
    nodes = space.points.shape[0]
    if node >= nodes:
        x, y = space.ends[node - nodes, 0], space.ends[node - nodes, 1]
    else:
        x, y = space.points[node, 0], space.points[node, 1]
    return np.sqrt((x - space.ends[1, 0]) ** 2 + (y - space.ends[1, 1]) ** 2)


@kernel
def list_nodes(mesh, edge_of, edge_first, first_edge_node, corner_nodes, first_centre, offsets, nodes):
    """Write the nodes on each triangle one after the other; `offsets` (m + 1,) int64 gets the bounds.

    Nodes are numbered: vertices (`corner_nodes` (n,) int32 has the node of each, -1 for none), points on edges in the
    order of the edges, centres (if `first_centre` is not negative). With an empty `nodes` only the bounds are written.
    """
    used = 0
    for t in range(mesh.triangles.shape[0]):
        offsets[t] = used
        for k in range(3):
            corner = corner_nodes[mesh.triangles[t, k]]
            if corner >= 0:
                if nodes.size > 0:
                    nodes[used] = corner
                used += 1
            edge = edge_of[3 * t + k]
            for index in range(edge_first[edge], edge_first[edge + 1]):
                if nodes.size > 0:
                    nodes[used] = first_edge_node + index
                used += 1
        if first_centre >= 0:
            if nodes.size > 0:
                nodes[used] = first_centre + t
            used += 1
    offsets[mesh.triangles.shape[0]] = used


@kernel
def count_steps(tri_offsets, tri_nodes, counts):
    """Count, at position node + 1, the steps from each node to the other nodes of its triangles."""
    for t in range(tri_offsets.size - 1):
        size = tri_offsets[t + 1] - tri_offsets[t]
        for index in range(tri_offsets[t], tri_offsets[t + 1]):
            counts[tri_nodes[index] + 1] += size - 1


@kernel
def fill_steps(tri_offsets, tri_nodes, points, index, targets, lengths, tris):
    """Write every step: its target, its length and the triangle that it runs through.

    A step along an edge stands there once for each side, so that the lighter side counts. `index` (n,) int64 begins as
    the row bounds and is moved on.
    """
    for t in range(tri_offsets.size - 1):
        for i in range(tri_offsets[t], tri_offsets[t + 1]):
            node = tri_nodes[i]
            for j in range(tri_offsets[t], tri_offsets[t + 1]):
                if i == j:
                    continue
                other = tri_nodes[j]
                slot = index[node]
                index[node] += 1
                targets[slot] = other
                tris[slot] = t
                lengths[slot] = np.sqrt(
                    (points[node, 0] - points[other, 0]) ** 2 + (points[node, 1] - points[other, 1]) ** 2
                )


@kernel
def lower(costs, nodes, offers):
    """Lower the costs of nodes to what is offered for them."""
    for i in range(nodes.size):
        costs[nodes[i]] = min(costs[nodes[i]], offers[i])


@kernel
def cheapest_line(nodes, costs, node):
    """Which of the lines to `nodes` leads to a node at the least cost; -1 for none."""
    best = -1
    for i in range(nodes.size):
        if nodes[i] == node and (best < 0 or costs[i] < costs[best]):
            best = i
    return best


@kernel
def link_across(mesh, weights, tri_firsts, tri_lasts, tri_nodes, points, end, place, nodes, costs, halves, shares):
    """Join a start or goal to the nodes of its triangle and of those beside it; return the number of lines.

    The lines cross the edge between, half-edge `halves`, where that is cheapest, at `shares`; those within the triangle
    cross none, -1.
    """
    used = 0
    for k in range(-1, 3):
        t = place if k < 0 else mesh.twins[3 * place + k] // 3
        if t < 0 or not weights[t] < np.inf:
            continue
        a, b = mesh.triangles[place, max(k, 0)], mesh.triangles[place, (k + 1) % 3]
        for index in range(tri_firsts[t], tri_lasts[t]):
            node = tri_nodes[index]
            x, y = points[node, 0], points[node, 1]
            nodes[used] = node
            if k < 0:
                halves[used], shares[used] = -1, 0.0
                costs[used] = weights[place] * np.sqrt((x - end[0]) ** 2 + (y - end[1]) ** 2)
            else:
                halves[used] = 3 * place + k
                costs[used], shares[used] = across(
                    mesh.vertices, a, b, end[0], end[1], x, y, weights[place], weights[t]
                )
            used += 1
    return used


@helper
def downhill(space, state, node):
    """The next node on the cheapest way from a settled node to where a search began, and the step's slot.

    Among ways of the same cost it takes the one over the lowest nodes, so that the way does not depend on the order of
    the search: a search that stops at one goal and one that goes everywhere give the same. Steps cost the same in both
    directions. The node is -1 where the way ends, the slot -1 where the search alone knows the step.
    """
    clock = state.clock[0]
    source = state.cost.size - 2
    here = state.cost[node]
    for index in range(space.start_nodes.size):
        if space.start_nodes[index] == node and space.start_costs[index] == here:
            return np.int32(-1), np.int64(-1)
    best = state.parent[node]
    found = np.int64(-1)
    first, last = slots(space, node)
    for slot in range(first, last):
        other = target(space, node, slot)
        if other < 0 or other >= source or (found >= 0 and other >= best):
            continue
        # On a cheapest way, and settled; steps of no length are left to the search, whose ways have no circles.
        beyond = state.cost[other]
        if not beyond < here or beyond + cost(space, node, slot, other) != here:
            continue
        if state.stamp[other] > clock and state.place[other] < 0:
            best = other
            found = slot
    return (best if best < source else np.int32(-1)), found


@kernel
def descend(space, state, node, out):
    """Nodes of the cheapest way from `node` to where a search began, written to `out`; returns their number.

    The space has a source after its last stored node; -1 says that `out` is too small.
    """
    used = 0
    while node >= 0:
        if used == out.size:
            return -1
        out[used] = node
        used += 1
        node, _ = downhill(space, state, node)
    return used


class Descents(NamedTuple):
    """How far the ways down from the nodes of a graph run beside a known route."""

    passed: np.ndarray  # (m,) bool, triangles that the known route passes
    known: np.ndarray  # (n,) bool, nodes of which `strange` is known; all False at first
    strange: np.ndarray  # (n,) float64, cost of the way in other triangles
    step: np.ndarray  # (n,) float64, scratch: that of its first step
    stack: np.ndarray  # (n,) int32, scratch


@inline
def step_triangle(tris, more_tris, slot):
    """The triangle that a step runs through."""
    return tris[slot] if slot < tris.size else more_tris[slot - tris.size]


@helper
def strangeness(space, state, tris, more_tris, ways, node):
    """Cost of the way down from a node in triangles that the known route does not pass."""
    used = 0
    while node >= 0 and not ways.known[node]:
        ways.stack[used] = node
        used += 1
        following, slot = downhill(space, state, node)
        inside = following < 0 or slot < 0 or ways.passed[step_triangle(tris, more_tris, slot)]
        ways.step[node] = 0.0 if inside else state.cost[node] - state.cost[following]
        node = following
    total = ways.strange[node] if node >= 0 else 0.0
    while used > 0:
        used -= 1
        node = ways.stack[used]
        total += ways.step[node]
        ways.strange[node] = total
        ways.known[node] = True
    return total


@kernel
def search_around(space, state, start, goal, scale, share):
    """A* from `start` to `goal`, and on until every node is settled by way of which one gets there for a `share` more.

    Returns (status, -1, settled nodes), as other searches do; the goal's cost stands in the state.
    """
    clock = begin(state, start)
    size = 1
    settled = 0
    most = np.inf
    while size > 0 and state.keys[0] <= most:
        node = state.nodes[0]
        size = drop_top(state, size)
        settled += 1
        if node == goal:
            most = (1.0 + share) * state.cost[goal]
            continue
        size = relax(space, state, size, clock, node, goal, scale, np.inf)
        if size < 0:
            return HEAP_FULL, -1, settled
    return FOUND if most < np.inf else UNREACHABLE, -1, settled


@kernel
def sidetrack(space, state, tris, more_tris, start, nodes, costs, trail, best, scale, share, around, ways):
    """The most promising way beside the cheapest one: after how many nodes it leaves that, and for which node.

    Ways that leave the `trail` (k,) int32 once are looked at; from the `start` (2,) lines lead to `nodes` and cost
    `costs`, and the trail costs `best`. A graph of points on edges makes every way dearer than it need be, by an amount
    that grows with the cost: one that costs more than `best` may be the cheaper one once both are refined, if the
    difference is at most a `share` of its cost in triangles that the trail does not pass. The node is -1 for none.
    """
    clock = state.clock[0]
    source = state.cost.size - 2
    most = 0.0
    left, entered = 0, np.int32(-1)
    # A leg along an edge passes the triangles on both sides of it.
    for i in range(trail.size - 1):
        first, last = slots(space, trail[i])
        for slot in range(first, last):
            if target(space, trail[i], slot) == trail[i + 1]:
                ways.passed[step_triangle(tris, more_tris, slot)] = True
    for node in trail:
        ways.strange[node] = 0.0
        ways.known[node] = True
    for i in range(trail.size + 1):
        first, last = np.int64(0), np.int64(nodes.size)
        behind = 0.0
        if i > 0:
            first, last = slots(space, trail[i - 1])
            behind = best - state.cost[trail[i - 1]]
        for slot in range(first, last):
            node = nodes[slot] if i == 0 else target(space, trail[i - 1], slot)
            if node < 0 or node >= source or state.stamp[node] <= clock or state.place[node] >= 0:
                continue
            if i < trail.size and node == trail[i]:
                continue  # the trail itself, through the triangle on the other side of an edge
            step = costs[slot] if i == 0 else cost(space, trail[i - 1], slot, node)
            beyond = state.cost[node]
            more = behind + step + beyond - best
            if not more < share * (step + beyond) - most:
                continue
            # What A* has settled whatever its order; a search that goes everywhere has settled more.
            ahead = np.sqrt((space.points[node, 0] - start[0]) ** 2 + (space.points[node, 1] - start[1]) ** 2)
            if not beyond + scale * ahead < best * (1.0 + around) * (1.0 - 1e-9):
                continue
            strange = strangeness(space, state, tris, more_tris, ways, node)
            if i > 0 and not ways.passed[step_triangle(tris, more_tris, slot)]:
                strange += step
            if share * strange - more > most:
                most = share * strange - more
                left, entered = i, node
    return left, entered


@kernel
def dual_steps(mesh, weights, points, costs, bends):
    """Cost of the step across each half-edge, (3 m,) float32, and the vertex at which it bends, -1 for none.

    The step joins the centres of two triangles in a straight line; where that leaves the two triangles it bends at
    the end of the shared edge that makes it cheaper (Figure 7).
    """
    vertices = mesh.vertices
    for h in range(mesh.twins.size):
        costs[h] = np.inf
        bends[h] = -1
        if mesh.twins[h] < 0:
            continue
        t, other = h // 3, mesh.twins[h] // 3
        k = h - 3 * t
        a, b = mesh.triangles[t, k], mesh.triangles[t, (k + 1) % 3]
        px, py = points[t, 0], points[t, 1]
        qx, qy = points[other, 0], points[other, 1]
        ex, ey = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1]
        # Where the line from centre to centre meets the line of the edge, as a share of the edge.
        cross = ex * (qy - py) - ey * (qx - px)
        share = ((px - vertices[a, 0]) * (qy - py) - (py - vertices[a, 1]) * (qx - px)) / cross
        if 0.0 <= share <= 1.0:
            x, y = vertices[a, 0] + share * ex, vertices[a, 1] + share * ey
            costs[h] = weights[t] * np.hypot(x - px, y - py) + weights[other] * np.hypot(qx - x, qy - y)
            continue
        for v in (a, b):
            x, y = vertices[v, 0], vertices[v, 1]
            total = weights[t] * np.hypot(x - px, y - py) + weights[other] * np.hypot(qx - x, qy - y)
            if total < costs[h]:
                costs[h] = total
                bends[h] = v


@kernel
def dual_line(mesh, weights, points, offsets, targets, bends, nodes, line):
    """Corners of a route over dual `nodes`: centres, and where the steps between them cross edges; returns the cost.

    `line` (2 k - 1, 2) float64 is written. A step crosses at its bend, or on the straight line between two centres.
    Nodes after those of the triangles are pinch points: the step to one ends there.
    """
    total = 0.0
    count = mesh.triangles.shape[0]
    for i in range(nodes.size):
        here = nodes[i]
        line[2 * i, 0], line[2 * i, 1] = points[here, 0], points[here, 1]
        if i == 0:
            continue
        before = nodes[i - 1]
        if here >= count or before >= count:
            pinch, centre = max(here, before), min(here, before)
            line[2 * i - 1, 0], line[2 * i - 1, 1] = points[pinch, 0], points[pinch, 1]
            total += weights[centre] * np.hypot(
                points[pinch, 0] - points[centre, 0], points[pinch, 1] - points[centre, 1]
            )
            continue
        k = 0
        while targets[offsets[before] + k] != here:
            k += 1
        bend = bends[offsets[before] + k]
        if bend >= 0:
            x, y = mesh.vertices[bend, 0], mesh.vertices[bend, 1]
        else:
            a, b = mesh.triangles[before, k], mesh.triangles[before, (k + 1) % 3]
            ex, ey = mesh.vertices[b, 0] - mesh.vertices[a, 0], mesh.vertices[b, 1] - mesh.vertices[a, 1]
            dx, dy = points[here, 0] - points[before, 0], points[here, 1] - points[before, 1]
            gx, gy = points[before, 0] - mesh.vertices[a, 0], points[before, 1] - mesh.vertices[a, 1]
            share = (gx * dy - gy * dx) / (ex * dy - ey * dx)
            x, y = mesh.vertices[a, 0] + share * ex, mesh.vertices[a, 1] + share * ey
        line[2 * i - 1, 0], line[2 * i - 1, 1] = x, y
        total += weights[before] * np.hypot(x - points[before, 0], y - points[before, 1])
        total += weights[here] * np.hypot(x - points[here, 0], y - points[here, 1])
    return total


@kernel
def step_triangles(space, tris, more_tris, nodes, out):
    """The triangle through which the cheapest step leads between each two consecutive nodes.

    `tris` (s,) and `more_tris` (r,) int32 have that of each step.
    """
    for i in range(nodes.size - 1):
        best = np.inf
        out[i] = -1
        for slot in range(space.firsts[nodes[i]], space.lasts[nodes[i]]):
            if target(space, nodes[i], slot) == nodes[i + 1] and cost(space, nodes[i], slot, nodes[i + 1]) < best:
                best = cost(space, nodes[i], slot, nodes[i + 1])
                out[i] = step_triangle(tris, more_tris, slot)


FAN = 64  # triangles that a way round a vertex may cross
WINDOW = 24  # points on either side that may move when another way round a vertex is tried
ROUNDS = 12
GAIN = 1e-10  # relative gain that counts
STRAIGHT = 1e-9  # sine of an angle that counts as straight


@inline
def corner_of(mesh, t, v):
    """Which corner of a triangle a vertex is, -1 for none."""
    for k in range(3):
        if mesh.triangles[t, k] == v:
            return k
    return -1


@inline
def detour(mesh, weights, chain, index, hi, out, begin, clockwise):
    """Append to `out` the chain from vertex point `index` to `hi`, going round the vertex instead of through it.

    Returns the number of points in `out`, or -1 when there is no such way.
    """
    v = chain.a[index]
    t, last = chain.tri[index - 1], chain.tri[index]
    count = begin
    steps = 0
    while t != last:
        k = corner_of(mesh, t, v)
        if k < 0 or steps == FAN or count + 2 >= out.a.size:
            return -1
        h = 3 * t + (k if clockwise else (k + 2) % 3)
        twin = mesh.twins[h]
        if twin < 0 or not weights[twin // 3] < np.inf:
            return -1
        t = twin // 3
        out.a[count] = v
        out.b[count] = mesh.triangles[h // 3, (k + 1) % 3] if clockwise else mesh.triangles[h // 3, (k + 2) % 3]
        out.share[count] = 0.02
        out.tri[count] = t
        place(mesh.vertices, out, count)
        count += 1
        steps += 1
    for i in range(index + 1, hi + 1):
        if count >= out.a.size:
            return -1
        copy_point(chain, i, out, count)
        count += 1
    return count


@inline
def pays(mesh, weights, chain, index, clockwise):
    """Whether going round the vertex at point `index` on one side is cheaper than going through it.

    Exact for a chain that is settled on either side: points that leave the vertex along the edges of the fan gain
    nothing if and only if a ray can be traced through the fan, from the leg before to the leg after, that breaks no
    more than Snell's law allows at any edge. `most` is the largest component along the next edge that it can have.
    """
    v = chain.a[index]
    x, y = chain.x[index], chain.y[index]
    t, last = chain.tri[index - 1], chain.tri[index]
    inx, iny = x - chain.x[index - 1], y - chain.y[index - 1]
    outx, outy = chain.x[index + 1] - x, chain.y[index + 1] - y
    weight = weights[t] / np.sqrt(inx * inx + iny * iny)
    after = weights[last] / np.sqrt(outx * outx + outy * outy)
    if t == last:
        return abs(inx * outy - iny * outx) > STRAIGHT * abs(inx * outx + iny * outy) or inx * outx + iny * outy < 0.0
    most = 0.0
    oldx, oldy = 0.0, 0.0
    for step in range(FAN):
        k = corner_of(mesh, t, v)
        if k < 0:
            return False
        h = 3 * t + (k if clockwise else (k + 2) % 3)
        twin = mesh.twins[h]
        if twin < 0 or not weights[twin // 3] < np.inf:
            return False
        end = mesh.triangles[t, (k + 1) % 3] if clockwise else mesh.triangles[t, (k + 2) % 3]
        ex, ey = mesh.vertices[end, 0] - x, mesh.vertices[end, 1] - y
        length = np.sqrt(ex * ex + ey * ey)
        ex, ey = ex / length, ey / length
        if step == 0:
            most = weight * (inx * ex + iny * ey)
        else:
            w = weights[t]
            if most < -w * (1.0 - STRAIGHT):
                return True
            cosine = oldx * ex + oldy * ey
            if w * cosine <= most:
                most = w
            else:
                sine = np.sqrt(max(0.0, 1.0 - cosine * cosine))
                most = most * cosine + np.sqrt(max(0.0, w * w - most * most)) * sine
        oldx, oldy = ex, ey
        t = twin // 3
        if t == last:
            return after * (outx * ex + outy * ey) > most + STRAIGHT * weights[last]
    return False


@helper
def splice(chain, count, lo, hi, trial, size):
    """Replace points `lo` to `hi` of a chain by the `size` points of another one; return the new count, -1 if full."""
    shift = size - (hi - lo + 1)
    if count + shift > chain.a.size:
        return -1
    if shift > 0:
        for i in range(count - 1, hi, -1):
            copy_point(chain, i, chain, i + shift)
    elif shift < 0:
        for i in range(hi + 1, count):
            copy_point(chain, i, chain, i + shift)
    for i in range(size):
        copy_point(trial, i, chain, lo + i)
        chain.fresh[lo + i] = True
    return count + shift


@helper
def try_around(mesh, weights, chain, count, index, trial, best, newton, near):
    """Try both ways round the vertex at point `index` of a chain; return the new count, 0 if none is better."""
    lo, hi = index - 1, index + 1
    while lo > 0 and index - lo < WINDOW and chain.a[lo] != chain.b[lo]:
        lo -= 1
    while hi < count - 1 and hi - index < WINDOW and chain.a[hi] != chain.b[hi]:
        hi += 1
    now = chain_cost(weights, chain, lo, hi, 0.0)
    least = now * (1.0 - GAIN)
    size = 0
    for clockwise in (False, True):
        if not pays(mesh, weights, chain, index, clockwise):
            continue
        for i in range(lo, index):
            copy_point(chain, i, trial, i - lo)
        points = detour(mesh, weights, chain, index, hi, trial, index - lo, clockwise)
        if points < 0:
            continue
        extent = reach(trial, 0, points - 1)
        cost = settle(mesh.vertices, weights, trial, newton, 0, points - 1, extent, True)
        if cost < least:
            least = cost
            size = points
            for i in range(points):
                copy_point(trial, i, best, i)
        if chain.tri[index - 1] == chain.tri[index]:
            break  # straight through one triangle: both ways are the same
    if size == 0:
        return 0
    size = tidy(mesh, weights, best, size, near)
    return splice(chain, count, lo, hi, best, size)


@helper
def try_dip(mesh, weights, chain, count, i, trial):
    """Let a leg run along a lighter neighbour's edge where the critical angle makes that cheaper (section 4.2.3)."""
    t = chain.tri[i]
    w1 = weights[t]
    vertices = mesh.vertices
    px, py, qx, qy = chain.x[i], chain.y[i], chain.x[i + 1], chain.y[i + 1]
    for k in range(3):
        twin = mesh.twins[3 * t + k]
        if twin < 0:
            continue
        other = twin // 3
        w2 = weights[other]
        if not w2 < w1 or (i > 0 and chain.tri[i - 1] == other) or (i + 2 < count and chain.tri[i + 1] == other):
            continue
        a, b = mesh.triangles[t, k], mesh.triangles[t, (k + 1) % 3]
        ex, ey = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1]
        length = np.hypot(ex, ey)
        ex, ey = ex / length, ey / length
        up, uq = (
            (px - vertices[a, 0]) * ex + (py - vertices[a, 1]) * ey,
            (qx - vertices[a, 0]) * ex + (qy - vertices[a, 1]) * ey,
        )
        dp = abs(ex * (py - vertices[a, 1]) - ey * (px - vertices[a, 0]))
        dq = abs(ex * (qy - vertices[a, 1]) - ey * (qx - vertices[a, 0]))
        sine = w2 / w1
        cosine = np.sqrt(1.0 - sine * sine)
        sign = 1.0 if uq > up else -1.0
        ux, uy = up + sign * dp * sine / cosine, uq - sign * dq * sine / cosine
        ux, uy = min(max(ux, 0.0), length), min(max(uy, 0.0), length)
        if (uy - ux) * sign <= 0.0:
            continue
        via = w1 * (np.hypot(ux - up, dp) + np.hypot(uq - uy, dq)) + w2 * abs(uy - ux)
        if via >= w1 * np.hypot(qx - px, qy - py) * (1.0 - GAIN):
            continue
        copy_point(chain, i, trial, 0)
        for j in (1, 2):
            trial.a[j] = a
            trial.b[j] = b
            trial.share[j] = (ux if j == 1 else uy) / length
            trial.tri[j] = other if j == 1 else t
            place(vertices, trial, j)
        copy_point(chain, i + 1, trial, 3)
        return splice(chain, count, i, i + 1, trial, 4)
    return 0


@kernel
def refine(mesh, weights, chain, count, trial, best, newton, near):
    """Improve a chain of `count` points until no step helps; return the number of points and the cost.

    `trial` and `best` are chains for windows, `newton` has room for all points; a negative number says that the chain
    is too small. `near` is the distance at which two points count as one.
    """
    vertices = mesh.vertices
    for i in range(count):
        place(vertices, chain, i)
    count = tidy(mesh, weights, chain, count, near)
    settle(vertices, weights, chain, newton, 0, count - 1, reach(chain, 0, count - 1), True)
    count = tidy(mesh, weights, chain, count, near)
    for _ in range(ROUNDS):
        changed = False
        i = 1
        while i < count - 1:
            if chain.fresh[i] and chain.a[i] >= 0 and chain.a[i] == chain.b[i]:
                chain.fresh[i] = False
                after = try_around(mesh, weights, chain, count, i, trial, best, newton, near)
                if after < 0:
                    return -1, np.inf
                if after > 0:
                    count = after
                    changed = True
            i += 1
        i = 0
        while i < count - 1:
            after = try_dip(mesh, weights, chain, count, i, trial)
            if after < 0:
                return -1, np.inf
            if after > 0:
                count = after
                changed = True
                i += 2
            i += 1
        if not changed:
            break
    settle(vertices, weights, chain, newton, 0, count - 1, reach(chain, 0, count - 1), False)
    count = tidy(mesh, weights, chain, count, near)
    cost = settle(vertices, weights, chain, newton, 0, count - 1, reach(chain, 0, count - 1), False)
    return count, cost
