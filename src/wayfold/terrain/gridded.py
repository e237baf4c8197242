"""Queries over a grid laid over a terrain (Tibboel 2012, sections 4.2.1 and 6.1)."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from wayfold.errors import ParameterError
from wayfold.graph import search_kernels as graph_kernels
from wayfold.graph import searcher
from wayfold.path import Path, Status
from wayfold.terrain import _disc_kernels, _grid_kernels, _kernels
from wayfold.terrain.discs import exact_cost
from wayfold.terrain.ground import Array, Ground, Ints, Pool
from wayfold.terrain.routes import GoalTree, descend, flat_points

_MOST_CELLS = 100_000_000
_AROUND = 2  # nodes in each direction that a pinch point may be joined to


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

    Notes
    -----
    A point may pass a vertex in which open ground only touches, so there is a node in each such pinch point too. It is
    joined to the nodes of the grid around it that a straight line leads to, and to pinch points on the same triangle.
    """

    def __init__(self, ground: Ground, weights: Array, cell: float, nodes: str, steps: str, radius: float) -> None:
        low_x, low_y, high_x, high_y = ground.bounds
        corners = nodes == "corners"
        columns = max(1, int(np.ceil((high_x - low_x) / cell - 1e-9))) + corners
        rows = max(1, int(np.ceil((high_y - low_y) / cell - 1e-9))) + corners
        if columns * rows > _MOST_CELLS:
            raise ParameterError(f"cells of {cell:g} make a grid of {columns} x {rows}: take larger ones")
        shift = 0.0 if corners else 0.5 * cell
        # Sampled costs are right about obstacles and holes only where there are none.
        exact = float(steps == "exact" or radius > 0 or not np.isfinite(weights).all() or _has_holes(ground))
        self.layout = np.array([low_x + shift, low_y + shift, cell, radius, ground.slack, exact])
        self.samples = np.empty((rows, columns))
        self.ground = ground
        self.weights = weights
        _grid_kernels.sample(ground.mesh, weights, self.layout, self.samples)
        pinches = ground.pinches(weights) if exact and radius == 0 else np.empty(0, np.int32)
        self._number = np.full(len(ground.mesh.vertices) if len(pinches) else 0, -1, np.int64)
        self._number[pinches] = self.samples.size + np.arange(len(pinches))
        self.pinches = np.ascontiguousarray(ground.mesh.vertices[pinches])
        self._steps = self._join(pinches)
        self._pool = Pool(self.samples.size + len(pinches))

    @property
    def nbytes(self) -> int:
        """Bytes of the grid."""
        own = sum(array.nbytes for array in (self.samples, self._number, self.pinches, *self._steps))
        return own + self._pool.workspaces.nbytes

    def _join(self, pinches: Ints) -> tuple[NDArray[np.int64], Ints, Array]:
        """Steps between pinch points and the nodes around them, in compressed rows."""
        if not len(pinches):
            return np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0)
        mesh, scratch = self.ground.mesh, self.ground.scratch()
        rows, columns, costs = [], [], []
        for number, where in enumerate(self.pinches):
            nodes, lines = self._around(where, _AROUND, scratch)
            rows += [self.samples.size + number] * len(nodes)
            columns += nodes
            costs += lines
        # Pinch points that are corners of one open triangle.
        corners = self._number[mesh.triangles]
        for k in range(3):
            a, b = corners[:, k], corners[:, (k + 1) % 3]
            both = np.flatnonzero((a >= 0) & (b >= 0) & np.isfinite(self.weights))
            gap = self.pinches[a[both] - self.samples.size] - self.pinches[b[both] - self.samples.size]
            rows += a[both].tolist()
            columns += b[both].tolist()
            costs += (self.weights[both] * np.hypot(*gap.T)).tolist()
        count = self.samples.size + len(pinches)
        # Beside an edge the cheaper triangle counts, in both directions.
        pairs: dict[tuple[int, int], float] = {}
        for a, b, cost in zip(rows, columns, costs, strict=True):
            for pair in ((a, b), (b, a)):
                pairs[pair] = min(cost, pairs.get(pair, np.inf))
        index = np.array(list(pairs)).reshape(-1, 2)
        table = scipy.sparse.csr_array((list(pairs.values()), (index[:, 0], index[:, 1])), shape=(count, count))
        return table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data.astype(np.float64)

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

    def path(self, ends: Array, places: Ints, search: str) -> Path:
        """A path over the grid."""
        begin = perf_counter()
        count = self._pool.workspaces.nodes - 2
        scratch = self.ground.scratch()
        arcs = self._end_arcs(ends[0], int(places[0]), scratch)
        space = self._space(ends, self._end_arcs(ends[1], int(places[1]), scratch), arcs, scratch)
        scale = float(self.weights.min()) * (1 - 1e-9) if search == "astar" else 0.0
        state, status, _, settled = searcher.run(
            self._pool.workspaces,
            lambda state: graph_kernels.search(
                space, state, count, count + 1, scale, graph_kernels.UNLIMITED, searcher.NO_NODES, searcher.NO_BUDGET,
                False,
            ),
        )  # fmt: skip
        trail = descend(space, state, *arcs, np.inf) if status == graph_kernels.FOUND else None
        self._pool.workspaces.give(state)
        return self._path(ends, trail, settled, begin)

    def tree(self, goal: Array, place: int) -> GoalTree:
        """One search from a goal to everywhere."""
        count = self._pool.workspaces.nodes - 2
        scratch = self.ground.scratch()
        none = np.empty(0, np.int32), np.empty(0)
        space = self._space(np.stack([goal, goal]), self._end_arcs(goal, place, scratch), none, scratch)
        state = searcher.run(
            self._pool.workspaces,
            lambda state: graph_kernels.search(
                space, state, count, -1, 0.0, graph_kernels.UNLIMITED, searcher.NO_NODES, searcher.NO_BUDGET, False
            ),
        )[0]
        return GoalTree(space, state, goal, place)

    def field_path(self, tree: GoalTree, start: Array, place: int) -> Path:
        """The same path as `path` gives, from what a search from its goal has reached."""
        begin = perf_counter()
        scratch = self.ground.scratch()
        space = tree.space._replace(scratch=scratch)
        trail = descend(space, tree.state, *self._end_arcs(start, place, scratch), np.inf)
        return self._path(np.stack([start, tree.goal]), trail, 0, begin)

    def _space(
        self, ends: Array, source: tuple[Ints, Array], arcs: tuple[Ints, Array], scratch: _kernels.WalkScratch
    ) -> _grid_kernels.GridSpace:
        """The grid as it is searched, from the goal on."""
        return _grid_kernels.GridSpace(
            self.ground.mesh, self.weights, self.samples, self.pinches, *self._steps, self.layout,
            np.ascontiguousarray(ends[::-1]), *source, *arcs, scratch,
        )  # fmt: skip

    def _path(self, ends: Array, trail: Ints | None, settled: int, begin: float) -> Path:
        if trail is None:
            return Path(Status.UNREACHABLE, expanded=settled)
        line = np.concatenate([ends[:1], self._points(trail), ends[1:]])
        cost = exact_cost(self.ground, self.weights, line, float(self.layout[3]))
        timings = {"search": perf_counter() - begin}
        return Path(Status.FOUND, flat_points(line), nodes=trail, cost=cost, expanded=settled, timings=timings)

    def _points(self, nodes: Ints) -> Array:
        on_grid = nodes < self.samples.size
        rows, columns = np.divmod(np.where(on_grid, nodes, 0), self.samples.shape[1])
        points = self.layout[:2] + np.column_stack([columns, rows]) * self.layout[2]
        points[~on_grid] = self.pinches[nodes[~on_grid] - self.samples.size]
        return np.asarray(points)

    def _around(self, where: Array, cells: int, scratch: _kernels.WalkScratch) -> tuple[list[int], list[float]]:
        """The nodes of the grid around a point that a straight line leads to, and what the lines cost."""
        column, row = np.round((where - self.layout[:2]) / self.layout[2]).astype(int)
        nodes, costs = [], []
        for r in range(max(row - cells, 0), min(row + cells, self.samples.shape[0] - 1) + 1):
            for c in range(max(column - cells, 0), min(column + cells, self.samples.shape[1] - 1) + 1):
                if not np.isfinite(self.samples[r, c]):
                    continue
                node = np.array([r * self.samples.shape[1] + c], np.int32)
                line = np.concatenate([where[None], self._points(node)])
                cost = _disc_kernels.disc_polyline_cost(
                    self.ground.mesh, self.weights, line, self.layout[3], self.ground.slack, scratch
                )
                if np.isfinite(cost):
                    nodes.append(int(node[0]))
                    costs.append(float(cost))
        return nodes, costs

    def _end_arcs(self, end: Array, place: int, scratch: _kernels.WalkScratch) -> tuple[Ints, Array]:
        """The node of the cell that holds a point, those around it that a straight line leads to, and pinch points.

        The paper's own grid, with sampled steps, has only the first.
        """
        nodes, costs = self._around(end, 1 if self.layout[5] else 0, scratch)
        if len(self.pinches):
            for vertex in self.ground.mesh.triangles[place]:
                if self._number[vertex] >= 0:
                    nodes.append(int(self._number[vertex]))
                    costs.append(float(self.weights[place] * np.hypot(*(self.ground.mesh.vertices[vertex] - end))))
        return np.array(nodes, np.int32), np.array(costs, np.float64)


def _has_holes(ground: Ground) -> bool:
    """Whether the map does not fill its rectangle."""
    low_x, low_y, high_x, high_y = ground.bounds
    a, b, c = (ground.mesh.vertices[ground.mesh.triangles[:, k]] for k in range(3))
    area = 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]).sum()
    return bool(area < (high_x - low_x) * (high_y - low_y) * (1 - 1e-9))
