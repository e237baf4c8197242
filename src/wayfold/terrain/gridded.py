"""Queries over a grid laid over a terrain (003, sections 4.2.1 and 6.1)."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from wayfold.errors import ParameterError
from wayfold.graph import _kernels as graph_kernels
from wayfold.graph import searcher
from wayfold.graph.workspace import Workspaces
from wayfold.path import Path, Status
from wayfold.terrain import _disc_kernels, _grid_kernels, _kernels
from wayfold.terrain.ground import Array, Ground, Ints

_MOST_CELLS = 100_000_000


class GridRoutes:
    """A grid of nodes over a terrain, each joined to its eight neighbours.

    Parameters
    ----------
    ground : Ground
    weights : (m,) float64 array
    cell : float, metres, > 0
        Side of a cell.
    nodes : "centres" or "corners"
        Where the nodes lie.
    steps : "exact" or "sampled"
        What the search takes a step to cost: what the straight line costs, or the mean of the two weights sampled at
        its ends, as in the paper. With obstacles or a radius steps are exact.
    radius : float, metres, >= 0
        Of a disc; its steps cost the highest weight under it, all along.
    """

    def __init__(self, ground: Ground, weights: Array, cell: float, nodes: str, steps: str, radius: float) -> None:
        low_x, low_y, high_x, high_y = ground.bounds
        corners = nodes == "corners"
        columns = max(1, int(np.ceil((high_x - low_x) / cell - 1e-9))) + corners
        rows = max(1, int(np.ceil((high_y - low_y) / cell - 1e-9))) + corners
        if columns * rows > _MOST_CELLS:
            raise ParameterError(f"cells of {cell:g} make a grid of {columns} x {rows}: take larger ones")
        shift = 0.0 if corners else 0.5 * cell
        # Sampled costs are right about obstacles only where there are none.
        exact = float(steps == "exact" or radius > 0 or not np.isfinite(weights).all())
        self.layout = np.array([low_x + shift, low_y + shift, cell, radius, ground.slack, exact])
        self.samples = np.empty((rows, columns))
        self.ground = ground
        self.weights = weights
        self.workspaces = Workspaces(self.samples.size + 2)
        _grid_kernels.sample(ground.mesh, weights, self.layout, self.samples)

    @property
    def num_nodes(self) -> int:
        """Nodes that are not blocked."""
        return int(np.isfinite(self.samples).sum())

    @property
    def num_edges(self) -> int:
        """Steps between nodes that are not blocked, each direction counted."""
        free = np.isfinite(self.samples)
        pairs = (free[:, 1:] & free[:, :-1]).sum() + (free[1:] & free[:-1]).sum()
        return 2 * int(pairs + (free[1:, 1:] & free[:-1, :-1]).sum() + (free[1:, :-1] & free[:-1, 1:]).sum())

    def path(self, ends: Array, search: str) -> Path:
        """A path over the grid."""
        begin = perf_counter()
        scratch = self.ground.scratch()
        start_nodes, start_costs = self._links(ends[0], scratch)
        goal_nodes, goal_costs = self._links(ends[1], scratch)
        space = _grid_kernels.GridSpace(
            self.ground.mesh, self.weights, self.samples, self.layout, ends, start_nodes, start_costs, goal_nodes,
            goal_costs, scratch,
        )  # fmt: skip
        count = self.samples.size
        scale = float(self.weights.min()) if search == "astar" else 0.0
        state, status, end, settled = searcher.run(
            self.workspaces,
            lambda state: graph_kernels.search(
                space, state, count, count + 1, scale, graph_kernels.UNLIMITED, searcher.NO_NODES, searcher.NO_BUDGET,
                False,
            ),
        )  # fmt: skip
        nodes = searcher.trail(state, end)[1:-1] if status == graph_kernels.FOUND else searcher.NO_NODES
        self.workspaces.give(state)
        if status != graph_kernels.FOUND:
            return Path(Status.UNREACHABLE, expanded=settled)
        line = np.concatenate([ends[:1], self._points(nodes), ends[1:]])
        cost = _disc_kernels.disc_polyline_cost(
            self.ground.mesh, self.weights, line, self.layout[3], self.ground.slack, scratch
        )
        timings = {"search": perf_counter() - begin}
        points = np.column_stack([line, np.zeros(len(line))])
        return Path(Status.FOUND, points, nodes=nodes, cost=float(cost), expanded=settled, timings=timings)

    def _points(self, nodes: Ints) -> Array:
        rows, columns = np.divmod(nodes, self.samples.shape[1])
        return np.asarray(self.layout[:2] + np.column_stack([columns, rows]) * self.layout[2])

    def _links(self, end: Array, scratch: _kernels.Scratch) -> tuple[Ints, Array]:
        """The node of the cell that holds a point, and those around it that a straight line leads to.

        The paper's own grid, with sampled steps, has only the former.
        """
        column, row = np.round((end - self.layout[:2]) / self.layout[2]).astype(int)
        reach = range(-1, 2) if self.layout[5] else range(1)
        around = [(i, j) for i in reach for j in reach]
        nodes, costs = [], []
        for i, j in around:
            r, c = row + i, column + j
            if not (0 <= r < self.samples.shape[0] and 0 <= c < self.samples.shape[1]):
                continue
            node = np.array([r * self.samples.shape[1] + c], np.int32)
            line = np.concatenate([end[None], self._points(node)])
            cost = _disc_kernels.disc_polyline_cost(
                self.ground.mesh, self.weights, line, self.layout[3], self.ground.slack, scratch
            )
            if np.isfinite(self.samples[r, c]) and np.isfinite(cost):
                nodes.append(int(node[0]))
                costs.append(float(cost))
        return np.array(nodes, np.int32), np.array(costs, np.float64)
