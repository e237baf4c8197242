"""Small worlds whose topology is known without any planner, as plain data.

A `Plan` is a drawing of rectangular cells; each map of the package is made from it in its own way (polygons, a floor
plan, weighted regions, a mesh with walls, cells of a grid), and a flood fill over the drawing says what is reachable.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import shapely

from tests.metamorphic.changes import PolygonWorld

KINDS = {".": 1, "g": 2, "s": 3, "c": 4}  # ground, grass, sand, closed; "#" is solid
COSTS = ((2, 2.5), (3, 0.4), (4, float("inf")))  # what a metre costs; closed ground is there but not walked on


@dataclass(frozen=True)
class Plan:
    """Cells drawn by characters, the first row at the top; columns and rows have widths of their own, in metres."""

    name: str
    rows: tuple[str, ...]
    xs: tuple[float, ...]  # one more than columns, ascending
    ys: tuple[float, ...]  # one more than rows, ascending: the last row of the drawing begins at ys[0]

    def kind(self, column, row):
        """The character of a cell; rows from below."""
        return self.rows[len(self.rows) - 1 - row][column]

    def cells(self, characters=".gsc"):
        """(column, row) of the cells that have one of these characters."""
        return [
            (column, row)
            for row in range(len(self.rows))
            for column in range(len(self.rows[0]))
            if self.kind(column, row) in characters
        ]

    def box(self, cell):
        column, row = cell
        return self.xs[column], self.ys[row], self.xs[column + 1], self.ys[row + 1]

    def inside(self, cell, u, v):
        """A point of a cell; `u` and `v` from 0 to 1."""
        x0, y0, x1, y1 = self.box(cell)
        return np.array([x0 + u * (x1 - x0), y0 + v * (y1 - y0), 0.0])

    def islands(self, characters, corners=False):
        """Number of the island of each cell: those that share an edge belong together; those that share a corner too,
        if `corners` says so.
        """
        open_cells = set(self.cells(characters))
        found = {}
        for first in sorted(open_cells):
            if first in found:
                continue
            waiting, number = [first], len(set(found.values()))
            while waiting:
                cell = waiting.pop()
                if cell in found or cell not in open_cells:
                    continue
                found[cell] = number
                column, row = cell
                waiting += [(column + 1, row), (column - 1, row), (column, row + 1), (column, row - 1)]
                if corners:
                    waiting += [(column + x, row + y) for x in (-1, 1) for y in (-1, 1)]
        return found

    def pairs(self, count, seed, characters=".gs", corners=False):
        """Starts and goals inside cells, and whether the drawing joins them."""
        draw = np.random.default_rng([seed, len(self.rows)])
        cells = self.cells(characters)
        island = self.islands(characters, corners)
        chosen = [(cells[draw.integers(len(cells))], cells[draw.integers(len(cells))]) for _ in range(count)]
        pairs = np.array([[self.inside(cell, *draw.uniform(0.15, 0.85, 2)) for cell in pair] for pair in chosen])
        return pairs, tuple(island[a] == island[b] for a, b in chosen)

    def polygon_world(self, count=12, seed=0, *, links=(), closed=True):
        """A polygon for each cell. Costs follow the drawing unless all of it is ground."""
        cells = self.cells()
        numbers = {}
        for column, row in cells:
            for corner in ((column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1)):
                numbers.setdefault(corner, len(numbers))
        vertices = np.array([[self.xs[column], self.ys[row], 0.0] for column, row in numbers])
        polygons = [[numbers[c, r], numbers[c + 1, r], numbers[c + 1, r + 1], numbers[c, r + 1]] for c, r in cells]
        kinds = [KINDS[self.kind(*cell)] for cell in cells]
        pairs, reachable = self.pairs(count, seed)
        costs = tuple((kind, cost) for kind, cost in COSTS if kind in kinds)
        return PolygonWorld(
            self.name, vertices, polygons, kinds, pairs, tuple(links), costs, None if links else reachable
        )


def spread(sizes, low=0.0):
    """Borders of cells of these sizes."""
    return tuple(float(value) for value in low + np.concatenate([[0.0], np.cumsum(sizes)]))


def _plan(name, drawing, widths, heights):
    rows = tuple(line.strip() for line in drawing.strip().splitlines())
    xs, ys = spread(widths), spread(heights)
    assert len(rows) == len(ys) - 1
    assert all(len(row) == len(xs) - 1 for row in rows)
    return Plan(name, rows, xs, ys)


ROOMS = _plan(
    "rooms with doors",
    """
    ...#...#...
    ..........#
    ...#...#...
    #.###.###.#
    ...#...#...
    ...#.......
    ...#...#...
    """,
    (1.7, 1.2, 2.1, 0.3, 1.4, 1.3, 2.3, 0.25, 1.9, 1.25, 1.6),
    (1.6, 1.3, 2.2, 0.35, 1.8, 1.4, 1.5),
)
COURTYARD = _plan(
    "a courtyard with an island",
    """
    .....
    .###.
    .#.#.
    .###.
    .....
    """,
    (2.0, 1.3, 4.1, 1.7, 2.2),
    (1.9, 1.1, 3.3, 1.4, 2.6),
)
SPIRAL = _plan(
    "a spiral",
    """
    .........
    .#######.
    .#.....#.
    .#.###.#.
    .#.#...#.
    .#.#####.
    .#.......
    .########
    .........
    """,
    (1.1, 0.4, 0.9, 0.35, 1.3, 0.6, 1.2, 0.3, 1.0),
    (0.8, 0.4, 1.2, 0.3, 1.0, 0.45, 0.9, 0.3, 1.1),
)
PINCH = _plan(
    "two halls that touch in a corner",
    """
    ..#
    ..#
    ##.
    ..#
    """,
    (2.3, 1.9, 2.8),
    (1.4, 2.6, 1.8, 2.1),
)
MEADOW = _plan(
    "ground of several kinds",
    """
    ..gggg..s..
    ..gccg..s..
    ....cg..sss
    #...gg....s
    s...g..##.s
    ss....ggg.s
    .s....ggg..
    """,
    (1.4, 1.0, 1.2, 0.9, 1.5, 1.1, 1.3, 0.8, 1.0, 1.6, 1.2),
    (1.3, 1.1, 0.9, 1.2, 1.0, 1.4, 1.1),
)
CORRIDORS = _plan(
    "long thin corridors",
    """
    ......................
    .####################.
    .#..................#.
    .#.################.#.
    ...#..............#...
    """,
    (0.6, 0.2, *([3.1] * 18), 0.2, 0.6),
    (0.5, 0.15, 0.4, 0.2, 0.7),
)
PLANS = (ROOMS, COURTYARD, SPIRAL, PINCH, MEADOW, CORRIDORS)


def staircase_hall(bend=1e-10):
    """Six polygons with a wall whose middle vertex is nearly on it: what two tolerances once fell out over."""
    vertices = [(-2, -2), (0, -2), (0, 0), (-2, 0), (0, 3), (-2, 3), (5, bend), (5, 3), (10, 0), (10, 3)]
    vertices += [(12, 0), (12, 3), (10, -2), (12, -2)]
    polygons = [[0, 1, 2, 3], [3, 2, 4, 5], [2, 6, 7, 4], [6, 8, 9, 7], [8, 10, 11, 9], [12, 13, 10, 8]]
    pairs = np.array([[[-1, -1, 0], [11, -1, 0]], [[-1.5, -0.3, 0], [11.7, 2.1, 0]], [[-0.2, 2.8, 0], [10.5, -1.9, 0]]])
    return PolygonWorld(
        f"a wall bent by {bend:g}",
        np.column_stack([np.array(vertices, float), np.zeros(len(vertices))]),
        polygons,
        [1] * len(polygons),
        pairs.astype(float),
        reachable=(True,) * 3,
        moved=abs(bend),
    )


def two_floors():
    """Two floors over each other, joined by a ramp at one end; a ledge between them that nothing leads to."""
    vertices, polygons = [], []

    def polygon(*corners):
        vertices.extend(corner for corner in corners if corner not in vertices)
        polygons.append([vertices.index(corner) for corner in corners])

    for z, foot in ((0.0, (9, 2, 0.0)), (3.0, (9, 3, 3.0))):  # a ramp meets each floor at a vertex of its side
        polygon((0, 0, z), (4, 0, z), (4, 5, z), (0, 5, z))
        polygon((4, 0, z), (9, 0, z), foot, (9, 5, z), (4, 5, z))
    polygon((9, 0, 0.0), (14, 0, 1.5), (14, 2, 1.5), (9, 2, 0.0))  # up along one side ...
    polygon((14, 0, 1.5), (16, 0, 1.5), (16, 2, 1.5), (14, 2, 1.5))  # ... over a landing ...
    polygon((14, 2, 1.5), (16, 2, 1.5), (16, 5, 1.5), (14, 5, 1.5), (14, 3, 1.5))
    polygon((9, 3, 3.0), (14, 3, 1.5), (14, 5, 1.5), (9, 5, 3.0))  # ... and back on the other
    polygon((5, 6, 1.5), (8, 6, 1.5), (8, 7, 1.5), (5, 7, 1.5))
    ends = [
        ((1, 1, 0), (1, 1, 3)),
        ((6.5, 4.2, 0), (2.2, 0.7, 3)),
        ((15, 1, 1.5), (15.5, 4.5, 1.5)),
        ((0.3, 4.4, 3), (11, 1.2, 0.6)),
        ((6, 6.5, 1.5), (6, 4, 0)),
        ((3.3, 2.2, 0), (8.1, 4.8, 0)),
        ((3.3, 2.2, 3), (8.1, 4.8, 3)),
    ]
    return PolygonWorld(
        "two floors and a ramp",
        np.array(vertices, float),
        polygons,
        [1] * len(polygons),
        np.array(ends, float),
        reachable=(True, True, True, True, False, True, True),
    )


def linked_islands():
    """Three islands: a bridge to and fro, a jump down that leads one way, and a dear teleporter across the first."""
    plan = _plan(
        "islands joined by links",
        """
        ..#..
        ..#..
        #####
        ..#..
        """,
        (2.0, 1.5, 1.0, 1.8, 2.2),
        (1.6, 1.2, 1.7, 2.4),
    )
    here, beside, below = (0.7, 5.1, 0.0), (5.2, 4.6, 0.0), (1.1, 0.6, 0.0)
    links = ((here, beside, None, False), (here, below, 2.75, True), ((3.2, 3.1, 0.0), (0.3, 6.6, 0.0), 0.25, False))
    links = tuple((np.array(a), np.array(b), cost, one_way) for a, b, cost, one_way in links)
    return plan.polygon_world(14, 3, links=links)


def triangulated(seed, count=12):
    """A polygon with holes drawn at random, cut into triangles; any two places inside are joined."""
    draw = np.random.default_rng([seed, 7])
    angles = np.sort(draw.uniform(0, 2 * np.pi, draw.integers(8, 16)))
    rim = draw.uniform(8, 14, len(angles))
    # Where two angles are more than half a turn apart the sides beside the gap may cross.
    outline = shapely.make_valid(shapely.Polygon(np.column_stack([rim * np.cos(angles), rim * np.sin(angles)])))
    holes = [
        shapely.affinity.translate(
            shapely.affinity.rotate(shapely.box(0, 0, *draw.uniform(0.5, 3.5, 2)), draw.uniform(0, 90)),
            *draw.uniform(-7, 7, 2),
        )
        for _ in range(draw.integers(2, 7))
    ]
    free = shapely.difference(outline, shapely.union_all(holes))
    free = max(shapely.get_parts(free), key=lambda part: part.area)
    pieces = shapely.get_parts(shapely.constrained_delaunay_triangles(free))
    corners = np.array([np.array(piece.exterior.coords)[:3] for piece in pieces])
    vertices, numbers = np.unique(corners.reshape(-1, 2), axis=0, return_inverse=True)
    triangles = numbers.reshape(-1, 3).tolist()
    areas = np.array([piece.area for piece in pieces])
    chosen = draw.choice(len(pieces), (count, 2), p=areas / areas.sum())
    parts = draw.dirichlet((2, 2, 2), (count, 2))
    pairs = np.einsum("qek,qekd->qed", parts, corners[chosen])
    return PolygonWorld(
        f"triangles ({seed})",
        np.column_stack([vertices, np.zeros(len(vertices))]),
        triangles,
        [1] * len(triangles),
        np.concatenate([pairs, np.zeros((count, 2, 1))], axis=2),
        reachable=(True,) * count,
    )


def with_corners(world, seed=0, count=8):
    """The world with some of its vertices as further starts and goals: they lie on borders of several polygons."""
    chosen = np.random.default_rng([seed, 3]).choice(
        len(world.vertices), min(count, len(world.vertices) // 2 * 2), False
    )
    return replace(world, corners=world.vertices[np.sort(chosen)])
