"""A sparse grid as a plain dict of cells: slow, obvious, and sharing no code with the package."""

from __future__ import annotations

import heapq
import itertools
import math
from fractions import Fraction

STEPS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))


class NaiveGrid:
    """Cells (x, y, z) with a kind and a number of effects; edges are found from them whenever they are asked for."""

    def __init__(self, max_step=1, drop=0):
        self.max_step = max_step
        self.drop = drop
        self.cells = {}  # (x, y, z) -> [kind, effects]
        self.columns = {}  # (x, y) -> set of z

    def add(self, cells, kind=0):
        for x, y, z in cells:
            assert (x, y, z) not in self.cells
            self.cells[x, y, z] = [kind, 0]
            self.columns.setdefault((x, y), set()).add(z)

    def remove(self, cells):
        for x, y, z in cells:
            del self.cells[x, y, z]
            self.columns[x, y].remove(z)

    def effect(self, cells, change):
        for cell in cells:
            self.cells[cell][1] += change

    def nearest(self, cell, dx, dy):
        """The cell of a neighbouring column that is nearest in height, within a step; the lower of two."""
        x, y, z = cell
        found = [
            (abs(other - z), other)
            for other in self.columns.get((x + dx, y + dy), ())
            if abs(other - z) <= self.max_step and self.cells[x + dx, y + dy, other][0] == self.cells[cell][0]
        ]
        return (x + dx, y + dy, min(found)[1]) if found else None

    def linked(self, a, b):
        dx, dy = b[0] - a[0], b[1] - a[1]
        return self.nearest(a, dx, dy) == b and self.nearest(b, -dx, -dy) == a

    def neighbour(self, cell, direction):
        """The cell that a step leads to, or None."""
        dx, dy = STEPS[direction]
        other = self.nearest(cell, dx, dy)
        if other is None:
            if direction % 2 or not self.drop:
                return None
            x, y, z = cell
            kind = self.cells[cell][0]
            lower = [
                w
                for w in self.columns.get((x + dx, y + dy), ())
                if z - self.drop <= w < z - self.max_step and self.cells[x + dx, y + dy, w][0] == kind
            ]
            return (x + dx, y + dy, max(lower)) if lower else None
        if not self.linked(cell, other):
            return None
        if direction % 2:
            for side in ((dx, 0), (0, dy)):
                corner = self.nearest(cell, *side)
                if corner is None or not self.linked(cell, corner) or not self.linked(corner, other):
                    return None
        return other

    def bits(self, cell):
        return sum(1 << d for d in range(8) if self.neighbour(cell, d) is not None)

    def successors(self, cell):
        return [other for d in range(8) if (other := self.neighbour(cell, d)) is not None]

    def supports(self, region_of):
        """Number of edges from each region to each other one, for any partition of the cells."""
        counts = {}
        for cell in self.cells:
            for other in self.successors(cell):
                pair = region_of[cell], region_of[other]
                if pair[0] != pair[1]:
                    counts[pair] = counts.get(pair, 0) + 1
        return counts

    def costs(self, start, weight=1.0):
        """Cheapest cost from a cell to every cell that can be reached."""
        best = {start: 0.0}
        heap = [(0.0, start)]
        while heap:
            so_far, cell = heapq.heappop(heap)
            if so_far > best[cell]:
                continue
            for d in range(8):
                other = self.neighbour(cell, d)
                if other is None:
                    continue
                new = so_far + (math.sqrt(2) if d % 2 else 1.0) * (1 + weight * self.cells[other][1])
                if new < best.get(other, math.inf):
                    best[other] = new
                    heapq.heappush(heap, (new, other))
        return best

    def is_connected(self, cells):
        """Whether steps that stay among these cells and can be taken both ways join them all."""
        todo = {next(iter(cells))}
        seen = set()
        while todo:
            cell = todo.pop()
            seen.add(cell)
            for other in self.successors(cell):
                if other in cells and other not in seen and cell in self.successors(other):
                    todo.add(other)
        return seen == set(cells)


def walk(grid, a, b):
    """Whether the straight line between two cells can be walked without entering a cell under an effect."""
    across, down = b[0] - a[0], b[1] - a[1]
    borders = {}
    for steps, axis in ((across, 0), (down, 1)):
        for at in range(abs(steps)):
            borders.setdefault(Fraction(2 * at + 1, 2 * abs(steps)), [0, 0])[axis] = 1 if steps > 0 else -1
    cell = a
    for _, step in sorted(borders.items()):
        cell = grid.neighbour(cell, STEPS.index(tuple(step)))
        if cell is None or grid.cells[cell][1]:
            return False
    return cell == b


def path_cost(grid, links, points, weight=1.0, straight=False):
    """What a path costs: the sum of its legs, each a step or a link (from, to) -> cost, or else a straight walk."""

    def leg(a, b, straight):
        dear = 1 + weight * grid.cells[b][1]
        prices = [cost * dear for ends, cost in links.items() if ends == (a, b)]
        prices += [(math.sqrt(2) if d % 2 else 1.0) * dear for d in range(8) if (grid.neighbour(a, d) or None) == b]
        if straight and walk(grid, a, b):
            prices.append(math.dist(a[:2], b[:2]))
        return min(prices, default=math.inf)

    cells = [tuple(int(value) for value in point) for point in points]
    legs = list(itertools.pairwise(cells))
    total = sum(leg(a, b, straight) for a, b in legs)
    return sum(leg(a, b, True) for a, b in legs) if math.isinf(total) else total


def linked_costs(grid, links, start, weight=1.0):
    """Cheapest cost from a cell to every cell, over steps and links (from, to) -> cost."""
    best = {start: 0.0}
    heap = [(0.0, start)]
    while heap:
        so_far, cell = heapq.heappop(heap)
        if so_far > best[cell]:
            continue
        moves = [(other, math.sqrt(2) if d % 2 else 1.0) for d in range(8) if (other := grid.neighbour(cell, d))]
        moves += [(b, cost) for (a, b), cost in links.items() if a == cell and b in grid.cells]
        for other, length in moves:
            new = so_far + length * (1 + weight * grid.cells[other][1])
            if new < best.get(other, math.inf):
                best[other] = new
                heapq.heappush(heap, (new, other))
    return best
