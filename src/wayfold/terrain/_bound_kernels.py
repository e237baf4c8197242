# mypy: ignore-errors
"""Costs between intervals of edges: what no route between them can undercut."""

from wayfold.core.jit import inline, kernel
from wayfold.terrain._kernels import point_gap


@inline
def gap(spans, i, j):
    """Least distance of two segments (rows of ax, ay, bx, by) that do not cross, as on the edges of a triangle."""
    a, b, c, d = spans[i, 0], spans[i, 1], spans[i, 2], spans[i, 3]
    e, f, g, h = spans[j, 0], spans[j, 1], spans[j, 2], spans[j, 3]
    nearest = min(point_gap(a, b, e, f, g, h), point_gap(c, d, e, f, g, h))
    return min(nearest, point_gap(e, f, a, b, c, d), point_gap(g, h, a, b, c, d))


@inline
def shares_way(edge_halves, weights, edge):
    """Whether a route may gain by running along an edge: only where its two sides weigh differently."""
    other = edge_halves[edge, 1]
    return other >= 0 and weights[edge_halves[edge, 0] // 3] != weights[other // 3]


@kernel
def fill_gaps(edge_of, edge_halves, edge_first, edges, spans, weights, touching, meetings, offsets, targets, costs):
    """Least costs between intervals in compressed rows; with empty `targets` only the row bounds (2 n + p + 1,).

    Row i is interval i as a route arrives at it: it leads along the edge, at the lower weight, to where the route
    leaves the edge again. Row n + i is interval i as a route leaves it, through a triangle to another edge. So no route
    creeps along an edge for free from each interval to the next. Intervals that touch at a vertex cost nothing, even
    beside an obstacle: a route may pass through that vertex. Row 2 n + i is a vertex in which parts of the map touch
    without a triangle between them: it leads to every interval that ends there. `touching` (n, 2) int32 names it for
    the two ends of an interval, -1 for none; `meetings` (k, 2) int32 are its pairs (vertex, interval) in the order of
    the vertices. Costs are rounded down.
    """
    count = edges.size
    pinches = offsets.size - 1 - 2 * count
    used = 0
    for i in range(count):
        offsets[i] = used
        edge = edges[i]
        first, last = i, i + 1
        lower = 0.0
        if shares_way(edge_halves, weights, edge):
            first, last = edge_first[edge], edge_first[edge + 1]
            lower = min(weights[edge_halves[edge, 0] // 3], weights[edge_halves[edge, 1] // 3])
        for j in range(first, last):
            if targets.size > 0:
                targets[used] = count + j
                apart = 0.0 if i == j else gap(spans, i, j) * (1.0 - 1e-6)
                costs[used] = 0.0 if apart <= 1e-300 else lower * apart
            used += 1
    for i in range(count):
        offsets[count + i] = used
        for which in range(2):
            h = edge_halves[edges[i], which]
            if h < 0:
                continue
            t = h // 3
            for k in range(1, 3):
                other = edge_of[3 * t + (h % 3 + k) % 3]
                for j in range(edge_first[other], edge_first[other + 1]):
                    if targets.size > 0:
                        targets[used] = j
                        apart = gap(spans, i, j) * (1.0 - 1e-6)
                        costs[used] = 0.0 if apart <= 1e-300 else weights[t] * apart
                    used += 1
        for end in range(2):
            if touching[i, end] >= 0:
                if targets.size > 0:
                    targets[used] = 2 * count + touching[i, end]
                    costs[used] = 0.0
                used += 1
    index = 0
    for i in range(pinches):
        offsets[2 * count + i] = used
        while index < meetings.shape[0] and meetings[index, 0] == i:
            if targets.size > 0:
                targets[used] = meetings[index, 1]
                costs[used] = 0.0
            used += 1
            index += 1
    offsets[2 * count + pinches] = used


@kernel
def end_gaps(edge_of, edge_first, spans, weights, x, y, place, nodes, costs):
    """Least cost from a point to each interval on its triangle; returns how many there are."""
    count = 0
    for k in range(3):
        edge = edge_of[3 * place + k]
        for node in range(edge_first[edge], edge_first[edge + 1]):
            nodes[count] = node
            a, b, c, d = spans[node, 0], spans[node, 1], spans[node, 2], spans[node, 3]
            costs[count] = weights[place] * point_gap(x, y, a, b, c, d) * (1.0 - 1e-6)
            count += 1
    return count
