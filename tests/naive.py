"""Slow, obvious versions of what the package does fast. They share no code with it."""

from __future__ import annotations

import math
from collections import deque


def graph_costs(nodes, edges, start):
    """Cheapest cost from `start` to every node, by relaxing all edges until nothing changes.

    `edges` are (from, to, cost), one-way.
    """
    best = [math.inf] * nodes
    best[start] = 0.0
    changed = True
    while changed:
        changed = False
        for a, b, cost in edges:
            if best[a] + cost < best[b]:
                best[b] = best[a] + cost
                changed = True
    return best


def reachable(edges, start):
    """All nodes that can be reached from `start` over one-way (from, to, ...) edges."""
    reached = {start}
    while True:
        more = {edge[1] for edge in edges if edge[0] in reached}
        if more <= reached:
            return reached
        reached |= more


def grid_neighbours(kinds, x, y):
    """Moves on a grid of kinds (0 blocked, otherwise only the same kind connects): (x, y, cost) triples.

    A diagonal needs both of the orthogonal cells that it passes.
    """
    height, width = len(kinds), len(kinds[0])

    def same(cx, cy):
        return 0 <= cx < width and 0 <= cy < height and kinds[cy][cx] == kinds[y][x] != 0

    moves = []
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            if (dx, dy) == (0, 0) or not same(x + dx, y + dy):
                continue
            if dx and dy and not (same(x + dx, y) and same(x, y + dy)):
                continue
            moves.append((x + dx, y + dy, math.hypot(dx, dy)))
    return moves


def grid_cost(kinds, start, goal):
    """Cheapest cost between two cells of a grid, infinity if there is no way."""
    if kinds[start[1]][start[0]] == 0 or kinds[goal[1]][goal[0]] == 0:
        return math.inf
    best = {start: 0.0}
    queue = deque([start])
    while queue:  # plain label correcting: a cell goes in again whenever its cost falls
        cell = queue.popleft()
        for x, y, cost in grid_neighbours(kinds, *cell):
            if best[cell] + cost < best.get((x, y), math.inf) - 1e-12:
                best[x, y] = best[cell] + cost
                queue.append((x, y))
    return best.get(goal, math.inf)
