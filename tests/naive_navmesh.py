"""Slow, obvious versions of what the navigation mesh does fast. They share no code with the package `navmesh`."""

from __future__ import annotations

import itertools
import math

import numpy as np

from wayfold.geometry import TriangleIndex

EPS = 1e-9


def _inside_part(ring, a, b):
    """The part [low, high] of the segment from a to b that lies in a convex counter-clockwise ring, or None."""
    low, high = 0.0, 1.0
    for (px, py), (qx, qy) in zip(ring, ring[1:] + ring[:1], strict=True):
        length = math.hypot(qx - px, qy - py)
        at_a = ((qx - px) * (a[1] - py) - (qy - py) * (a[0] - px)) / length
        at_b = ((qx - px) * (b[1] - py) - (qy - py) * (b[0] - px)) / length
        if at_a < -EPS and at_b < -EPS:
            return None
        if at_a < -EPS:
            low = max(low, (at_a + EPS) / (at_a - at_b))
        elif at_b < -EPS:
            high = min(high, (at_a + EPS) / (at_a - at_b))
    return (low, high) if low <= high + EPS else None


def holding(vertices, polygons, point):
    """All polygons that a point is in, or on the rim of."""
    return {
        k
        for k, polygon in enumerate(polygons)
        if _inside_part([tuple(vertices[v][:2]) for v in polygon], tuple(point[:2]), tuple(point[:2]))
    }


def shared_edges(polygons):
    """Pairs of polygons that have two corners in common next to each other, with those corners."""
    sides = {}
    for at, polygon in enumerate(polygons):
        for p, q in zip(polygon, polygon[1:] + polygon[:1], strict=True):
            sides.setdefault(frozenset((p, q)), []).append(at)
    return [(who[0], who[1], tuple(side)) for side, who in sides.items() if len(who) == 2]


def fans(polygons, edges, vertex):
    """Polygons around a vertex in groups that shared edges at it join: where corners only touch nobody gets through."""
    waiting = {k for k, polygon in enumerate(polygons) if vertex in polygon}
    groups = []
    while waiting:
        group = {waiting.pop()}
        grown = True
        while grown:
            grown = False
            for one, two, side in edges:
                if vertex in side and (one in group) != (two in group):
                    group |= {one, two}
                    grown = True
        waiting -= group
        groups.append(group)
    return groups


def visible(vertices, polygons, edges, a, b, start, goal):
    """Whether one can walk straight from a (in polygon `start`) to b (in `goal`) over shared edges.

    `start` and `goal` may be None for points that are vertices: then any polygon at that vertex will do.
    """
    rings = [[vertices[v] for v in polygon] for polygon in polygons]
    parts = [_inside_part(ring, a, b) for ring in rings]
    first = [k for k, part in enumerate(parts) if part and part[0] <= EPS and (start is None or k in start)]
    last = {k for k, part in enumerate(parts) if part and part[1] >= 1 - EPS and (goal is None or k in goal)}
    span = math.dist(a, b)
    reach = {k: parts[k][1] for k in first}
    queue = list(first)
    while queue:
        here = queue.pop()
        for one, two, (p, q) in edges:
            if here not in (one, two):
                continue
            other = two if here == one else one
            if parts[other] is None or other in reach:
                continue
            # The walk may change polygons where both hold it, at a point of the shared edge.
            low, high = max(parts[here][0], parts[other][0]), min(parts[here][1], parts[other][1])
            if low > high + 4 * EPS / max(span, EPS):
                continue
            px, py = vertices[p]
            qx, qy = vertices[q]
            for t in (low, high, 0.5 * (low + high)):
                x, y = a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])
                length = math.hypot(qx - px, qy - py)
                along = ((x - px) * (qx - px) + (y - py) * (qy - py)) / length
                off = abs((x - px) * (qy - py) - (y - py) * (qx - px)) / length
                if off < 1e-7 and -1e-7 <= along <= length + 1e-7:
                    reach[other] = parts[other][1]
                    queue.append(other)
                    break
    return any(k in last for k in reach)


def shortest_walk(vertices, polygons, a, b, start, goal, links=()):
    """Length of the shortest walk from a to b over the polygons: a visibility graph over all vertices.

    `start` and `goal` are all polygons that the points are in; `links` are (from point, its polygons, to point, its
    polygons, cost), one-way. Where polygons only touch in a vertex nobody walks through: a start and the end of a link
    are left to all sides and never walked into, a goal and the beginning of a link are entered and never walked out of.
    """
    vertices = [tuple(map(float, v[:2])) for v in vertices]
    polygons = [list(map(int, polygon)) for polygon in polygons]
    edges = shared_edges(polygons)
    used = sorted({v for polygon in polygons for v in polygon})
    places = [(tuple(a), start), (tuple(b), goal)]
    for v in used:
        places += [(vertices[v], fan) for fan in fans(polygons, edges, v)]
    jumps = []
    for tail, tail_polygons, head, head_polygons, cost in links:
        jumps.append((len(places), len(places) + 1, cost))
        places += [(tuple(tail), tail_polygons), (tuple(head), head_polygons)]
    count = len(places)
    left_only, entered_only = {0, *(head for _, head, _ in jumps)}, {1, *(tail for tail, _, _ in jumps)}
    step = [[math.inf] * count for _ in range(count)]
    for i, j in itertools.combinations(range(count), 2):
        if visible(vertices, polygons, edges, places[i][0], places[j][0], places[i][1], places[j][1]):
            for one, two in ((i, j), (j, i)):
                if one not in entered_only and two not in left_only:
                    step[one][two] = math.dist(places[i][0], places[j][0])
    for tail, head, cost in jumps:
        step[tail][head] = min(step[tail][head], cost)
    best = [math.inf] * count
    best[0] = 0.0
    waiting = set(range(count))
    while waiting:
        here = min(waiting, key=best.__getitem__)
        waiting.remove(here)
        for other in waiting:
            best[other] = min(best[other], best[here] + step[here][other])
    return best[1]


def flood_fill(mesh, agent, spacing):
    """Places on a lattice where an agent can stand, and the number of the area that each is part of.

    By rays and balls against the triangles, nothing else: ground under a place and around it, room above it, and steps
    to the four places beside it that are no higher than the agent climbs.
    """
    index = TriangleIndex(mesh)
    (low_x, low_y, _), (high_x, high_y, high_z) = mesh.bounds
    x, y = np.arange(low_x + spacing / 2, high_x, spacing), np.arange(low_y + spacing / 2, high_y, spacing)
    sky = np.array([(a, b, high_z + 1) for b in y for a in x])
    offsets, drop, triangle = index.all_hits(sky, [0, 0, -1.0])
    column = np.repeat(np.arange(len(sky)), np.diff(offsets))
    places = sky[column]
    places[:, 2] -= drop
    radius = agent.radius
    feet, head = np.array([0, 0, agent.climb + radius]), np.array([0, 0, max(agent.height, agent.climb + radius)])
    stands = mesh.normals[triangle, 2] >= math.cos(math.radians(agent.slope))
    stands[stands] &= index.clear(places[stands] + feet, places[stands] + head, radius)
    places, column = places[stands], column[stands]
    beside = np.full((len(places), 4), -1)
    first = np.searchsorted(column, np.arange(len(sky) + 1))
    for here in range(len(places)):
        row, at = divmod(int(column[here]), len(x))
        for side, (dx, dy) in enumerate(((1, 0), (0, 1))):
            if at + dx < len(x) and row + dy < len(y):
                to = (row + dy) * len(x) + at + dx
                near = [
                    k for k in range(first[to], first[to + 1]) if abs(places[k, 2] - places[here, 2]) <= agent.climb
                ]
                if near:
                    there = min(near, key=lambda k: abs(places[k, 2] - places[here, 2]))
                    beside[here, side], beside[there, side + 2] = there, here
    # Ground all around, as far as the agent is wide: what has none beside it goes, ring by ring.
    alive = np.ones(len(places) + 1, bool)
    alive[-1] = False
    for _ in range(int(radius / spacing)):
        alive[:-1] &= alive[beside].all(axis=1)
    label = np.full(len(places), -1)
    for root in range(len(places)):
        if not alive[root] or label[root] >= 0:
            continue
        label[root], waiting = root, [root]
        while waiting:
            for there in beside[waiting.pop()].tolist():
                if there >= 0 and alive[there] and label[there] < 0:
                    label[there] = root
                    waiting.append(there)
    return places[alive[:-1]], label[alive[:-1]]
