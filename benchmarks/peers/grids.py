"""Grids in two and three dimensions against python-pathfinding, scikit-image, tcod, pyastar2d and pathfinding3d.

Each library has moves of its own. Wayfold's grids know the rule of the MovingAI benchmarks, which python-pathfinding
can follow; for the others `Graph` gets the moves of the library. What is right comes from scipy's Dijkstra on a matrix
that is made here, from the rule and nothing else.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Comparison, Contender, WrongAnswerError, compare, same_costs
from benchmarks.peers.libraries import LIBRARIES
from wayfold.formats import load_map
from wayfold.graph import Graph
from wayfold.grid import DenseGrid, SparseGrid
from wayfold.samples import maze

Cells = NDArray[np.int64]
Ask = Callable[[], list[float]]

MAP = "arena2"
"""The Dragon Age map: one that a library in pure Python gets through."""
_SAME = 1e-6


@dataclass(frozen=True)
class Rule:
    """Which steps there are and what they cost.

    Parameters
    ----------
    text : str
    costs : tuple of float
        Of a step along one axis, along two at once, and in three dimensions along all three.
    corners : bool
        Whether a diagonal step may pass a blocked cell beside it. Otherwise all cells of the box that it spans are
        free.
    """

    text: str
    costs: tuple[float, ...]
    corners: bool = False

    def steps(self, free: NDArray[np.bool_]) -> tuple[Cells, Cells, NDArray[np.float64]]:
        """All steps of a grid, each in one direction: flat numbers of the cells at both ends, and costs."""
        numbers = np.arange(free.size).reshape(free.shape)
        sources, targets, costs = [], [], []
        for way in itertools.product((-1, 0, 1), repeat=free.ndim):
            if way <= (0,) * free.ndim:
                continue  # its opposite is there
            box = [(0, step) if step else (0,) for step in way]
            corners = list(itertools.product(*box))
            passed = corners if not self.corners else [corners[0], corners[-1]]
            usable = np.logical_and.reduce([_shifted(free, corner, way) for corner in passed])
            sources.append(_shifted(numbers, corners[0], way)[usable])
            targets.append(_shifted(numbers, corners[-1], way)[usable])
            costs.append(np.full(len(sources[-1]), self.costs[sum(map(abs, way)) - 1]))
        return np.concatenate(sources), np.concatenate(targets), np.concatenate(costs)


def _shifted(array: NDArray[Any], by: Sequence[int], way: Sequence[int]) -> NDArray[Any]:
    """The values `by` away from every cell that a step `way` does not lead out of the grid."""
    window = []
    for size, shift, step in zip(array.shape, by, way, strict=True):
        low, high = max(0, -step), size - max(0, step)
        window.append(slice(low + shift, high + shift))
    return array[tuple(window)]


@dataclass(frozen=True)
class Grid:
    """A grid with queries on it: `ends` are (q, 2, dimensions) cells, row before column."""

    name: str
    free: NDArray[np.bool_]
    ends: Cells

    @property
    def pairs(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The queries as Python's own numbers."""
        return [(tuple(start), tuple(goal)) for start, goal in self.ends.tolist()]

    def flat(self) -> Cells:
        """The queries as flat numbers of cells, (q, 2)."""
        return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(self.ends, -1, 0)), self.free.shape))


def plane(data: Path | None, queries: int) -> Grid:
    """A Dragon Age map where there is one, otherwise a made maze."""
    file = None if data is None else data / f"movingai/dao/{MAP}.map"
    if file is not None and file.is_file():
        free, name = load_map(file).kinds == 1, f"the Dragon Age map {MAP}"
    else:
        cells = maze(40, 40, seed=1, loops=0.3).cells
        assert cells is not None
        free, name = cells, "a made maze"
    return Grid(name, free, _ends(free, MOVINGAI, queries))


def space(queries: int, side: int = 20) -> Grid:
    """A cube with random blocks that fill about a third of it."""
    rng = np.random.default_rng(1)
    free = np.ones((side, side, side), np.bool_)
    while free.mean() > 0.68:
        low = rng.integers(0, side, 3)
        high = low + rng.integers(2, 7, 3)
        free[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] = False
    return Grid("a cube with blocks", free, _ends(free, WARFRAME, queries))


def _ends(free: NDArray[np.bool_], rule: Rule, queries: int) -> Cells:
    """Random pairs of cells of the largest component by the strictest rule, so that all others connect them too."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    sources, targets, costs = rule.steps(free)
    _, labels = connected_components(coo_array((costs, (sources, targets)), shape=(free.size, free.size)))
    inside = np.flatnonzero(labels == np.bincount(labels[free.ravel()]).argmax())
    picked = np.random.default_rng(0).choice(inside, (queries, 2))
    return np.stack(np.unravel_index(picked, free.shape), axis=-1)


def compare_with(
    name: str, grid: Grid, *, rounds: int, progress: Callable[[str], None] | None = None
) -> Comparison | None:
    """Time Wayfold and one library on a grid by the library's rule; None when it is not installed."""
    if not LIBRARIES[name].installed:
        return None
    rule, make = _PEERS[name]
    sources, targets, costs = rule.steps(grid.free)
    expected = _oracle(grid, sources, targets, costs)
    contenders = _ours(grid, rule, sources, targets, costs)
    if progress is not None:
        progress(f"making the grid for {name}")
    contenders.append(Contender(name, make(grid), len(grid.ends)))
    facts = {
        "rule": rule.text,
        "cells": int(grid.free.sum()),
        "queries": len(grid.ends),
        "mean_cost": float(expected.mean()),
    }
    title = f"{name} on {grid.name}, {len(grid.ends)} queries"
    check = same_costs(expected, relative=_SAME)
    return compare(title, contenders, check, rounds=rounds, facts=facts, progress=progress)


def _oracle(grid: Grid, sources: Cells, targets: Cells, costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The costs of all queries by scipy's Dijkstra."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    matrix = coo_array((costs, (sources, targets)), shape=(grid.free.size, grid.free.size)).tocsr()
    found = [float(dijkstra(matrix, directed=False, indices=a)[b]) for a, b in grid.flat().tolist()]
    if not np.isfinite(found).all():
        raise WrongAnswerError(f"a goal on {grid.name} cannot be reached")
    return np.array(found)


def _ours(grid: Grid, rule: Rule, sources: Cells, targets: Cells, costs: NDArray[np.float64]) -> list[Contender]:
    """Wayfold by the same rule: the grids where they know it, otherwise a graph of the free cells."""
    count = len(grid.ends)
    if rule is MOVINGAI:
        dense = DenseGrid(grid.free)
        rows, columns = np.nonzero(grid.free)
        sparse = SparseGrid.from_cells(np.column_stack([columns, rows, np.zeros_like(rows)]))
        pairs = [(start[::-1], goal[::-1]) for start, goal in grid.pairs]
        deep = [((*start, 0), (*goal, 0)) for start, goal in pairs]
        return [
            Contender("wayfold DenseGrid", lambda: [dense.path(a, b).cost for a, b in pairs], count),
            Contender(
                "wayfold SparseGrid, exact", lambda: [sparse.path(a, b, exact=True).cost for a, b in deep], count
            ),
        ]
    cells = np.flatnonzero(grid.free)
    points = np.zeros((len(cells), 3))
    points[:, : grid.free.ndim] = np.stack(np.unravel_index(cells, grid.free.shape), axis=-1)
    edges = np.column_stack([np.searchsorted(cells, sources), np.searchsorted(cells, targets)])
    # Where a diagonal step costs less than its length, cells are drawn closer, so that A* is not misled.
    points *= min(cost / math.sqrt(axes) for axes, cost in enumerate(rule.costs, start=1))
    graph = Graph.from_edges(points, edges, costs=costs)
    queries = np.searchsorted(cells, grid.flat()).tolist()
    return [Contender("wayfold Graph", lambda: [graph.path(a, b).cost for a, b in queries], count)]


def _cost(rule: Rule, cells: Any) -> float:
    """What a path over cells costs by a rule."""
    steps = np.abs(np.diff(np.asarray(cells, np.int64), axis=0))
    if len(steps) and (steps.max() > 1 or (steps.sum(axis=1) == 0).any()):
        raise WrongAnswerError("a path jumps over a cell or stands still")
    return float(np.take(rule.costs, steps.sum(axis=1) - 1).sum())


def _pathfinding(grid: Grid) -> Ask:
    from pathfinding.core.diagonal_movement import DiagonalMovement
    from pathfinding.core.grid import Grid as Nodes
    from pathfinding.finder.a_star import AStarFinder

    nodes = Nodes(matrix=grid.free.astype(int).tolist())
    finder = AStarFinder(
        diagonal_movement=DiagonalMovement.only_when_no_obstacle, time_limit=math.inf, max_runs=math.inf
    )

    def one(start: tuple[int, ...], goal: tuple[int, ...]) -> float:
        nodes.cleanup()
        path, _ = finder.find_path(nodes.node(*start[::-1]), nodes.node(*goal[::-1]), nodes)
        return _cost(MOVINGAI, [(node.y, node.x) for node in path])

    return lambda: [one(start, goal) for start, goal in grid.pairs]


def _pathfinding3d(grid: Grid) -> Ask:
    from pathfinding3d.core.diagonal_movement import DiagonalMovement
    from pathfinding3d.core.grid import Grid as Nodes
    from pathfinding3d.finder.a_star import AStarFinder

    nodes = Nodes(matrix=grid.free.astype(int))
    finder = AStarFinder(
        diagonal_movement=DiagonalMovement.only_when_no_obstacle, time_limit=math.inf, max_runs=math.inf
    )

    def one(start: tuple[int, ...], goal: tuple[int, ...]) -> float:
        nodes.cleanup()
        path, _ = finder.find_path(nodes.node(*start), nodes.node(*goal), nodes)
        return _cost(WARFRAME, [(node.x, node.y, node.z) for node in path])

    return lambda: [one(start, goal) for start, goal in grid.pairs]


def _skimage(grid: Grid) -> Ask:
    from skimage.graph import MCP_Geometric

    costs = np.where(grid.free, 1.0, -1.0)  # below zero is blocked

    def one(start: tuple[int, ...], goal: tuple[int, ...]) -> float:
        search = MCP_Geometric(costs)
        search.find_costs([start], [goal])
        return _cost(ANY_CORNER, search.traceback(goal))

    return lambda: [one(start, goal) for start, goal in grid.pairs]


def _tcod(grid: Grid) -> Ask:
    import tcod.path

    graph = tcod.path.SimpleGraph(cost=grid.free.astype(np.int8), cardinal=70, diagonal=99, greed=1)

    def one(start: tuple[int, ...], goal: tuple[int, ...]) -> float:
        search = tcod.path.Pathfinder(graph)
        search.add_root(start)
        return _cost(SEVENTY, search.path_to(goal))

    return lambda: [one(start, goal) for start, goal in grid.pairs]


def _pyastar2d(grid: Grid) -> Ask:
    import pyastar2d

    weights = np.where(grid.free, 1.0, np.inf).astype(np.float32)

    def one(start: tuple[int, ...], goal: tuple[int, ...]) -> float:
        return _cost(KING, pyastar2d.astar_path(weights, start, goal, allow_diagonal=True))

    return lambda: [one(start, goal) for start, goal in grid.pairs]


MOVINGAI = Rule(
    "Rule: eight neighbours, a step costs 1, a diagonal one the root of 2 and only where both cells beside are free.",
    (1.0, math.sqrt(2.0)),
)
ANY_CORNER = Rule(
    "Rule: eight neighbours, a step costs 1, a diagonal one the root of 2, past blocked corners too.",
    (1.0, math.sqrt(2.0)),
    corners=True,
)
SEVENTY = Rule(
    "Rule: eight neighbours past blocked corners too, costs in whole numbers: 70 a step, 99 a diagonal one.",
    (1.0, 99.0 / 70.0),
    corners=True,
)
KING = Rule("Rule: eight neighbours past blocked corners too, every step costs 1, diagonal or not.", (1.0, 1.0), True)
WARFRAME = Rule(
    "Rule: 26 neighbours at their distance, where all cells of the box that a step spans are free.",
    (1.0, math.sqrt(2.0), math.sqrt(3.0)),
)

_PEERS: dict[str, tuple[Rule, Callable[[Grid], Ask]]] = {
    "pathfinding": (MOVINGAI, _pathfinding),
    "scikit-image": (ANY_CORNER, _skimage),
    "tcod": (SEVENTY, _tcod),
    "pyastar2d": (KING, _pyastar2d),
    "pathfinding3d": (WARFRAME, _pathfinding3d),
}
PLANE = ("pathfinding", "scikit-image", "tcod", "pyastar2d")
SPACE = ("pathfinding3d",)
