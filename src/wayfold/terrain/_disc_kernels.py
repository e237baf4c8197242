# mypy: ignore-errors
"""Sliding discs (Tibboel 2012, section 6): a disc costs the highest weight of the regions that it intersects."""

import numpy as np

from wayfold.core.jit import helper, inline, kernel
from wayfold.terrain._kernels import clip, column_of, envelope, point_gap, row_of, segment_cost, span, triangle_gap
from wayfold.terrain._steiner_kernels import connection, place_of, twin_weight, unpack

TOUCH = 1e-9  # of the radius: a disc this much smaller stands for one that may touch


@inline
def widen(first, last, low, high):
    """The shares between two bounds added to an interval of shares; the union is one interval, as discs are convex."""
    low, high = max(low, 0.0), min(high, 1.0)
    if low < high:
        return min(first, low), max(last, high)
    return first, last


@inline
def near_interval(mesh, t, ax, ay, bx, by, radius):
    """Part of the segment from a to b, as two shares, within less than `radius` of a triangle."""
    first, last, _, _ = clip(mesh, t, ax, ay, bx, by, 0.0)
    if last <= first:
        first, last = 2.0, -1.0
    dx, dy = bx - ax, by - ay
    square = dx * dx + dy * dy
    for k in range(3):
        u, v = mesh.triangles[t, k], mesh.triangles[t, (k + 1) % 3]
        px, py = mesh.vertices[u, 0], mesh.vertices[u, 1]
        # The disc around a corner.
        along = ((px - ax) * dx + (py - ay) * dy) / square
        off = (dx * (py - ay) - dy * (px - ax)) ** 2 / square
        if off < radius * radius:
            half = np.sqrt((radius * radius - off) / square)
            first, last = widen(first, last, along - half, along + half)
        # The rectangle on both sides of an edge.
        ex, ey = mesh.vertices[v, 0] - px, mesh.vertices[v, 1] - py
        length = np.hypot(ex, ey)
        ex, ey = ex / length, ey / length
        low, high = 0.0, 1.0
        for axis in range(2):
            begin = (ax - px) * ex + (ay - py) * ey if axis == 0 else ex * (ay - py) - ey * (ax - px)
            step = dx * ex + dy * ey if axis == 0 else ex * dy - ey * dx
            least, most = (0.0, length) if axis == 0 else (-radius, radius)
            if step == 0.0:
                if begin <= least or begin >= most:
                    low, high = 1.0, 0.0
            else:
                s0, s1 = (least - begin) / step, (most - begin) / step
                low, high = max(low, min(s0, s1)), min(high, max(s0, s1))
        if low < high:
            first, last = widen(first, last, low, high)
    return first, last


@helper
def disc_cost(mesh, weights, ax, ay, bx, by, radius, slack, scratch):
    """Cost of a disc's straight way from a to b; -1 when the scratch is too small.

    Infinite where the disc meets an obstacle, its centre leaves the map, or passes a point in which two parts of the
    map only touch. A disc that only touches a region does not intersect it.
    """
    centre = segment_cost(mesh, weights, ax, ay, bx, by, slack, scratch)
    if radius <= 0.0 or not centre < np.inf or centre < 0.0:
        return centre
    length = np.sqrt((bx - ax) ** 2 + (by - ay) ** 2)
    if length == 0.0:
        return 0.0
    for p in range(mesh.pinches.shape[0]):
        if point_gap(mesh.pinches[p, 0], mesh.pinches[p, 1], ax, ay, bx, by) <= slack:
            return np.inf
    reach = radius * (1.0 - TOUCH)
    frame = mesh.frame
    count = 0
    c0, c1 = column_of(frame, min(ax, bx) - radius), column_of(frame, max(ax, bx) + radius)
    r0, r1 = row_of(frame, min(ay, by) - radius), row_of(frame, max(ay, by) + radius)
    for row in range(r0, r1 + 1):
        for column in range(c0, c1 + 1):
            bucket = row * int(frame[3]) + column
            for index in range(mesh.buckets[bucket], mesh.buckets[bucket + 1]):
                t = mesh.inside[index]
                # Each triangle once: in the first bucket of those looked at that it lies in.
                tc, _, tr, _ = span(mesh.vertices, mesh.triangles, frame, t)
                if max(tc, c0) != column or max(tr, r0) != row:
                    continue
                first, last = near_interval(mesh, t, ax, ay, bx, by, reach)
                if last <= first:
                    continue
                if not weights[t] < np.inf and (last - first) * length > slack:
                    return np.inf
                if count == scratch.first.size - 1:
                    return -1.0
                scratch.first[count] = first
                scratch.last[count] = last
                scratch.wide[count, 0] = first
                scratch.wide[count, 1] = last
                scratch.weight[count] = weights[t] if weights[t] < np.inf else 0.0
                count += 1
    return length * envelope(scratch, count, True, 8.0 * slack / length)


@kernel
def fits(mesh, weights, points, radius, free):
    """Whether a disc around each point (q, 2) meets no obstacle, to `free` (q,) bool."""
    frame = mesh.frame
    reach = radius * (1.0 - TOUCH)
    for q in range(points.shape[0]):
        x, y = points[q, 0], points[q, 1]
        free[q] = True
        for row in range(row_of(frame, y - radius), row_of(frame, y + radius) + 1):
            for column in range(column_of(frame, x - radius), column_of(frame, x + radius) + 1):
                bucket = row * int(frame[3]) + column
                for index in range(mesh.buckets[bucket], mesh.buckets[bucket + 1]):
                    t = mesh.inside[index]
                    if not weights[t] < np.inf and free[q]:
                        free[q] = triangle_gap(mesh, t, x, y, reach) >= reach


@kernel
def disc_polyline_cost(mesh, weights, points, radius, slack, scratch):
    """Cost of a disc's way along a polyline (k, 2); -1 when the scratch is too small."""
    total = 0.0
    for i in range(points.shape[0] - 1):
        step = disc_cost(
            mesh, weights, points[i, 0], points[i, 1], points[i + 1, 0], points[i + 1, 1], radius, slack, scratch
        )
        if step < 0.0:
            return -1.0
        total += step
    return total


@inline
def nearest_centres(mesh, weights, centres, x, y, near, gaps):
    """The centres of triangles nearest to a point, obstacles left out, nearest first; returns how many were found.

    Buckets are looked at ring by ring around the point's own; `near` (k,) int32 and `gaps` (k,) float64 are written.
    """
    frame = mesh.frame
    columns, rows = int(frame[3]), int(frame[4])
    home_column, home_row = column_of(frame, x), row_of(frame, y)
    count = 0
    for ring in range(max(columns, rows)):
        if count == near.size and gaps[count - 1] <= (ring - 1) * frame[2]:
            break
        for row in range(max(home_row - ring, 0), min(home_row + ring, rows - 1) + 1):
            edge = abs(row - home_row) == ring
            for column in range(home_column - ring, home_column + ring + 1, 1 if edge else max(2 * ring, 1)):
                if not 0 <= column < columns:
                    continue
                bucket = row * columns + column
                for index in range(mesh.buckets[bucket], mesh.buckets[bucket + 1]):
                    t = mesh.inside[index]
                    cx, cy = centres[t, 0], centres[t, 1]
                    # Each triangle once: in the bucket of its centre.
                    if column_of(frame, cx) != column or row_of(frame, cy) != row or not weights[t] < np.inf:
                        continue
                    gap = np.sqrt((cx - x) ** 2 + (cy - y) ** 2)
                    if count == near.size and gap >= gaps[count - 1]:
                        continue
                    place = count if count < near.size else count - 1
                    while place > 0 and gaps[place - 1] > gap:
                        gaps[place] = gaps[place - 1]
                        near[place] = near[place - 1]
                        place -= 1
                    gaps[place] = gap
                    near[place] = t
                    count = min(count + 1, near.size)
    return count


@kernel
def dual_links(mesh, weights, points, places, ends, radius, slack, scratch, near, gaps, nodes, costs):
    """Join each end to the nearest nodes that a straight line without obstacles reaches (Tibboel 2012, section 4.3).

    They are looked for among as many as `near` and `gaps` have room for, and the end's own triangle. `nodes` and
    `costs` (ends, links) get them and what a disc of the radius pays for the line; -1 where there are fewer. The radius
    does not choose the nodes, so that costs rise with it. Returns False when the scratch is too small.
    """
    for which in range(ends.shape[0]):
        x, y = ends[which, 0], ends[which, 1]
        nodes[which, :] = -1
        used = 0
        count = nearest_centres(mesh, weights, points, x, y, near, gaps)
        for index in range(count + 1):
            node = near[index] if index < count else places[which]
            known = False
            for other in range(used):
                known = known or nodes[which, other] == node
            if known or used == nodes.shape[1]:
                continue
            total = disc_cost(mesh, weights, x, y, points[node, 0], points[node, 1], 0.0, slack, scratch)
            if not total < np.inf:
                continue
            if radius > 0.0 and total >= 0.0:
                total = disc_cost(mesh, weights, x, y, points[node, 0], points[node, 1], radius, slack, scratch)
            if total < 0.0:
                return False
            nodes[which, used] = node
            costs[which, used] = total
            used += 1
    return True


@kernel
def disc_steps(mesh, weights, radius, slack, offsets, targets, bends, points, costs, first, last, scratch):
    """Costs of the steps of nodes `first` to `last` - 1 for a disc; a step with a bend goes over that vertex."""
    for node in range(first, last):
        for slot in range(offsets[node], offsets[node + 1]):
            other = targets[slot]
            if other < 0 or not costs[slot] < np.inf:
                continue
            ax, ay, bx, by = points[node, 0], points[node, 1], points[other, 0], points[other, 1]
            bend = bends[slot] if bends.size > 0 else -1
            if bend >= 0:
                vx, vy = mesh.vertices[bend, 0], mesh.vertices[bend, 1]
                total = disc_cost(mesh, weights, ax, ay, vx, vy, radius, slack, scratch)
                total += disc_cost(mesh, weights, vx, vy, bx, by, radius, slack, scratch)
            else:
                total = disc_cost(mesh, weights, ax, ay, bx, by, radius, slack, scratch)
            costs[slot] = total


@inline
def in_corridor(space, edge, px, py, qx, qy, radius):
    """Whether a disc on the straight way from p to q meets no other triangle than the two beside an edge.

    That is the corridor of section 6.5: the way keeps the radius from the four outer edges.
    """
    twin = space.twins[edge]
    for which in range(2):
        h = edge if which == 0 else twin
        t = h // 3
        for j in range(1, 3):
            k = (h % 3 + j) % 3
            a, b = space.triangles[t, k], space.triangles[t, (k + 1) % 3]
            ex, ey = space.vertices[b, 0] - space.vertices[a, 0], space.vertices[b, 1] - space.vertices[a, 1]
            length = np.hypot(ex, ey)
            for end in range(2):
                x, y = (px, py) if end == 0 else (qx, qy)
                away = (ex * (y - space.vertices[a, 1]) - ey * (x - space.vertices[a, 0])) / length
                if away < radius:
                    return False
    return True


@inline
def corridor_cost(space, edge, px, py, qx, qy, radius):
    """Cost of a disc's straight way between two triangles that nothing else touches."""
    t, k = edge // 3, edge % 3
    w1, w2 = space.weights[t], twin_weight(space, edge)
    a, b = space.triangles[t, k], space.triangles[t, (k + 1) % 3]
    ex, ey = space.vertices[b, 0] - space.vertices[a, 0], space.vertices[b, 1] - space.vertices[a, 1]
    length = np.hypot(ex, ey)
    begin = (ex * (py - space.vertices[a, 1]) - ey * (px - space.vertices[a, 0])) / length
    end = (ex * (qy - space.vertices[a, 1]) - ey * (qx - space.vertices[a, 0])) / length
    way = np.hypot(qx - px, qy - py)
    if not begin > end:
        return way * max(w1, w2)
    # The heavier side counts from the touch on one side of the edge to the touch on the other.
    reach = radius * (1.0 - TOUCH)
    if w1 >= w2:
        share = min(max((begin + reach) / (begin - end), 0.0), 1.0)
        return way * (share * w1 + (1.0 - share) * w2)
    share = min(max((begin - reach) / (begin - end), 0.0), 1.0)
    return way * (share * w1 + (1.0 - share) * w2)


@helper
def disc_connection(space, mesh, node, successor, edge, second, kind, radius, slack, scratch):
    """Cost of a connection for a disc and its two inner corners (NaN where it has none).

    Across an edge the way is straight: in the corridor by section 6.5, else by the sliding disc. Within a triangle it
    is straight, or along the edge of the lighter neighbour, moved into that neighbour by the radius (section 6.4).
    """
    px, py = place_of(space, node)
    qx, qy = place_of(space, successor)
    nothing = np.nan
    if kind == 0 and in_corridor(space, edge, px, py, qx, qy, radius):
        return corridor_cost(space, edge, px, py, qx, qy, radius), nothing, nothing, nothing, nothing
    best = disc_cost(mesh, space.weights, px, py, qx, qy, radius, slack, scratch)
    if kind == 0:
        return best, nothing, nothing, nothing, nothing
    _, touched, x, y = connection(space, node, successor, edge, second, kind)
    if touched < 0 or x == y:
        return best, nothing, nothing, nothing, nothing
    t, k = touched // 3, touched % 3
    a, b = space.triangles[t, k], space.triangles[t, (k + 1) % 3]
    ex, ey = space.vertices[b, 0] - space.vertices[a, 0], space.vertices[b, 1] - space.vertices[a, 1]
    length = np.hypot(ex, ey)
    ox, oy = radius * ey / length, -radius * ex / length  # to the right of the half-edge: into the neighbour
    x0, y0 = space.vertices[a, 0] + x * ex + ox, space.vertices[a, 1] + x * ey + oy
    x1, y1 = space.vertices[a, 0] + y * ex + ox, space.vertices[a, 1] + y * ey + oy
    moved = disc_cost(mesh, space.weights, px, py, x0, y0, radius, slack, scratch)
    if moved < best:
        moved += disc_cost(mesh, space.weights, x0, y0, x1, y1, radius, slack, scratch)
    if moved < best:
        moved += disc_cost(mesh, space.weights, x1, y1, qx, qy, radius, slack, scratch)
    if moved < best:
        return moved, x0, y0, x1, y1
    return best, nothing, nothing, nothing, nothing


@kernel
def tabulate_discs(space, mesh, radius, slack, offsets, targets, costs, corners, first, last, scratch):
    """Connections of nodes `first` to `last` - 1 for a disc: targets, costs and inner corners (slots, 4)."""
    for node in range(first, last):
        for slot in range(offsets[node + 1] - offsets[node]):
            row = offsets[node] + slot
            successor, edge, second, kind = unpack(space, node, slot)
            targets[row] = successor
            costs[row] = np.inf
            if successor >= 0:
                costs[row], corners[row, 0], corners[row, 1], corners[row, 2], corners[row, 3] = disc_connection(
                    space, mesh, node, successor, edge, second, kind, radius, slack, scratch
                )
