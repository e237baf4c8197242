# mypy: ignore-errors
"""The reference for weighted regions: a dense discretisation of all edges, ever denser around the best route so far.

It shares no code with the terrain package, and is slow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra


def weight_at(corners, weights, point, slack):
    """The lowest weight of the triangles that a point is in, or within `slack` of; infinity where there is none."""
    inside, away = np.ones(len(corners), bool), np.full(len(corners), np.inf)
    for k in range(3):
        p, q = corners[:, k], corners[:, (k + 1) % 3]
        e, to = q - p, np.asarray(point)[:2] - p
        inside &= e[:, 0] * to[:, 1] - e[:, 1] * to[:, 0] >= 0.0
        share = np.clip((e * to).sum(axis=1) / (e * e).sum(axis=1), 0.0, 1.0)
        away = np.minimum(away, np.hypot(*(to - share[:, None] * e).T))
    inside |= away <= slack
    return float(np.min(np.asarray(weights)[inside])) if inside.any() else float("inf")


def cheapest(
    vertices: Any, triangles: Any, weights: Any, start: Any, goal: Any, *, per_edge: int = 24, rounds: int = 6
) -> float:
    """Cost of the cheapest route between two points, from above, to about 1e-6 relative; infinity without one.

    Points are spread over all edges; then, around the points that the best route uses, ever more densely.
    """
    shares = {}
    for a, b in _edges(triangles):
        shares[a, b] = np.linspace(0, 1, per_edge + 1)[1:-1]
    best = np.inf
    width = 1.0 / per_edge
    for turn in range(rounds):
        cost, used = _discrete(vertices, triangles, weights, start, goal, shares)
        if not np.isfinite(cost):
            return np.inf
        best = min(best, cost)
        if turn == rounds - 1:
            break
        # Around the route: the edges that it touches, and those at the vertices that it comes near.
        fresh = {edge: np.empty(0) for edge in shares}
        near = {where for kind, where in used if kind == "vertex"}
        for before, (kind, where), after in zip(used[:-2], used[1:-1], used[2:], strict=True):
            if kind != "edge":
                continue
            (a, b), share = where
            if before[0] == after[0] == "edge" and before[1][0] == after[1][0] == (a, b):
                continue  # in the middle of a way along an edge
            fresh[a, b] = np.append(fresh[a, b], share + width * np.linspace(-1.5, 1.5, 13))
            near |= {v for v, gap in ((a, share), (b, 1 - share)) if gap < 1.5 * width}
        for a, b in fresh:
            close = width * np.linspace(0, 2.0, 9)[1:]
            if a in near:
                fresh[a, b] = np.append(fresh[a, b], close)
            if b in near:
                fresh[a, b] = np.append(fresh[a, b], 1 - close)
        # Points that lie closer together than a quarter of the new spacing are one.
        grain = width / 16
        shares = {
            edge: np.unique(np.clip(np.round(values / grain) * grain, 1e-12, 1 - 1e-12))
            for edge, values in fresh.items()
        }
        width /= 4
    return best


def _edges(triangles):
    return {tuple(sorted((int(t[k]), int(t[(k + 1) % 3])))) for t in triangles for k in range(3)}


def _discrete(vertices, triangles, weights, start, goal, shares):
    """Cheapest route over vertices and the given points on edges, and what it uses."""
    vertices = np.asarray(vertices, float)
    points = [tuple(v) for v in vertices]
    label = [("vertex", v) for v in range(len(vertices))]
    on_edge = {}
    for (a, b), values in shares.items():
        on_edge[a, b] = list(range(len(points), len(points) + len(values)))
        for share in values:
            points.append(tuple(vertices[a] * (1 - share) + vertices[b] * share))
            label.append(("edge", ((a, b), float(share))))
    first = len(points)
    points += [tuple(start), tuple(goal)]
    label += [("end", 0), ("end", 1)]
    points = np.array(points)
    rows, columns, costs = [], [], []
    scale = np.ptp(vertices, axis=0).max()
    for t, weight in zip(triangles, weights, strict=True):
        if not np.isfinite(weight):
            continue
        nodes = [int(v) for v in t]
        for k in range(3):
            nodes += on_edge[tuple(sorted((int(t[k]), int(t[(k + 1) % 3]))))]
        for at, end in ((first, start), (first + 1, goal)):
            if np.isfinite(weight_at(vertices[t][None], [1.0], np.asarray(end, float), 1e-12 * scale)):
                nodes.append(at)
        nodes = np.array(nodes)
        i, j = np.triu_indices(len(nodes), 1)
        rows.append(nodes[i])
        columns.append(nodes[j])
        costs.append(weight * np.hypot(*(points[nodes[i]] - points[nodes[j]]).T))
    if not rows:
        return np.inf, []
    i, j, c = (np.concatenate(part) for part in (rows, columns, costs))
    # Parallel entries would be added up: the lighter side of an edge is the one that counts.
    key = np.minimum(i, j).astype(np.int64) * len(points) + np.maximum(i, j)
    order = np.lexsort((c, key))
    keep = order[np.unique(key[order], return_index=True)[1]]
    graph = coo_matrix((np.maximum(c[keep], 1e-300), (i[keep], j[keep])), shape=(len(points),) * 2).tocsr()
    distances, previous = dijkstra(graph, directed=False, indices=first, return_predecessors=True)
    used, node = [], first + 1
    while node >= 0 and np.isfinite(distances[first + 1]):
        used.append(label[node])
        node = previous[node]
    return float(distances[first + 1]), used[::-1]
