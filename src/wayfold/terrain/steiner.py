"""Steiner graphs (Tibboel 2012, section 4.2.3): start and goal become vertices, then bisectors get their points."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.core import batches
from wayfold.core.arrays import offsets_of
from wayfold.errors import ParameterError
from wayfold.graph import search_kernels as graph_kernels
from wayfold.graph import searcher
from wayfold.graph.searcher import Workspaces
from wayfold.path import Path, Status
from wayfold.terrain import _disc_kernels, _kernels, _steiner_kernels
from wayfold.terrain.discs import exact_cost
from wayfold.terrain.ground import Array, Ground, Ints, query_space

_MOST = 100_000_000  # connections that are stored at most, 12 bytes each
_CHUNK = 512  # nodes whose connections are computed at a time


class SteinerGraph:
    """The Steiner graph of a terrain for one start and one goal.

    Points are stored, connections are computed as a search asks for them; `build` computes all of them at once, as
    the paper does.

    Parameters
    ----------
    ground : Ground
    weights : (m,) float64 array
    ends : (2, 2) float64 array
        Start and goal; the triangles that hold them are split (section 4.3).
    places : (2,) int32 array
        Those triangles.
    epsilon : float, > 0
        Density of the points; paths cost at most 1 + epsilon times the optimum where it is at most 1.
    radius : float, metres, >= 0
        Of a disc; connections then are what section 6 makes of them.
    """

    def __init__(
        self, ground: Ground, weights: Array, ends: Array, places: Ints, epsilon: float, radius: float = 0.0
    ) -> None:
        mesh = ground.mesh
        self.ground = ground
        self.radius = radius
        self._own_weights = weights
        self._given = ends
        vertices, triangles, twins, heavy = mesh.vertices, mesh.triangles, mesh.twins, weights
        self.ends = np.empty(2, np.int64)
        for which in range(2):
            place = int(places[which]) if which == 0 else _again(vertices, triangles, heavy, ends[1], places, ground)
            vertices, triangles, twins, heavy, self.ends[which] = split(
                vertices, triangles, twins, heavy, ends[which], place, ground.slack
            )
        fan_first = offsets_of(np.bincount(triangles.ravel(), minlength=len(vertices)))
        fan = np.empty(triangles.size, np.int32)
        _steiner_kernels.list_fans(triangles, fan_first, fan_first[:-1].copy(), fan)
        first = np.empty(triangles.size + 1, np.int64)
        points, bisector = np.empty((0, 2)), np.empty(0, np.int32)
        for _ in range(2):  # count first
            _steiner_kernels.place_points(vertices, triangles, heavy, fan_first, fan, epsilon, first, points, bisector)
            if not len(points):
                points, bisector = np.empty((int(first[-1]), 2)), np.empty(int(first[-1]), np.int32)
        self.space = _steiner_kernels.SteinerSpace(
            vertices, triangles, twins, heavy, first, points, bisector, fan_first, fan
        )
        self.start, self.goal = (int(len(points) + vertex) for vertex in self.ends)
        self._scale = float(heavy.min())

    @property
    def num_nodes(self) -> int:
        """Steiner points and vertices."""
        return len(self.space.points) + len(self.space.vertices)

    @cached_property
    def _offsets(self) -> NDArray[np.int64]:
        counts = np.zeros(self.num_nodes + 1, np.int64)
        _steiner_kernels.count_connections(self.space, counts)
        return np.cumsum(counts)

    @property
    def num_edges(self) -> int:
        """Connections, each direction counted."""
        return int(self._offsets[-1]) - len(self.space.points)

    @cached_property
    def table(self) -> tuple[NDArray[np.int64], Ints, Array]:
        """Row bounds, targets (-1: none) and costs of all connections."""
        offsets = self._offsets
        if offsets[-1] > _MOST:
            raise ParameterError(
                f"this Steiner graph has {offsets[-1]:,} connections, too many to store: "
                "take a larger epsilon or search='cones', which stores none"
            )
        targets, costs = np.empty(int(offsets[-1]), np.int32), np.empty(int(offsets[-1]))

        def work(first: int, last: int) -> None:
            if self.radius > 0:
                _disc_kernels.tabulate_discs(
                    self.space, self.ground.mesh, self.radius, self.ground.slack, offsets, targets, costs,
                    self._corners, first, last, self.ground.scratch(),
                )  # fmt: skip
            else:
                _steiner_kernels.tabulate(self.space, first, last, offsets, targets, costs)

        batches.run_chunks(work, self.num_nodes, chunk=_CHUNK)
        return offsets, targets, costs

    @cached_property
    def _corners(self) -> Array:
        """Two inner corners of each connection of a disc, NaN where it has none."""
        return np.full((int(self._offsets[-1]), 4), np.nan)

    def build(self) -> SteinerGraph:
        """Compute every connection now."""
        _ = self.table
        return self

    def path(self, search: str) -> Path:
        """The cheapest path of the graph; the same cost with every search.

        Parameters
        ----------
        search : "astar", "dijkstra", "bushwhack" or "cones"
            "bushwhack" is the paper's, with representatives; "cones" prunes with cones that bend at edges as the ways
            of points do, so not for discs.
        """
        begin = perf_counter()
        if self.start == self.goal:  # so near to each other that they are one vertex
            cost = exact_cost(self.ground, self._own_weights, self._given, self.radius)
            points = np.column_stack([self._given, np.zeros(2)])
            return Path(Status.FOUND if np.isfinite(cost) else Status.UNREACHABLE, points, cost=cost)
        workspaces = Workspaces(self.num_nodes + 2)
        state, status, end, settled = searcher.run(workspaces, lambda state: self._run(search, state))
        if status != graph_kernels.FOUND:
            return Path(Status.UNREACHABLE, expanded=settled)
        nodes = searcher.trail(state, end)
        if self.radius > 0:
            nodes = nodes[nodes < self.num_nodes]  # without the two nodes of the query itself
            line = self._disc_line(nodes)
            line[[0, -1]] = self._given
            cost = exact_cost(self.ground, self._own_weights, line, self.radius)
            timings = {"search": perf_counter() - begin}
            points = np.column_stack([line, np.zeros(len(line))])
            return Path(Status.FOUND, points, nodes=nodes, cost=cost, expanded=settled, timings=timings)
        line, legs = np.empty((3 * len(nodes), 2)), np.empty(3 * len(nodes))
        used = _steiner_kernels.trace(self.space, nodes, line, legs)
        line[0], line[used - 1] = self._given
        cost = float((np.hypot(*np.diff(line[:used], axis=0).T) * legs[1:used]).sum())
        moved = np.append(True, (np.diff(line[:used], axis=0) != 0).any(axis=1))
        return Path(
            Status.FOUND,
            np.column_stack([line[:used][moved], np.zeros(int(moved.sum()))]),
            nodes=nodes,
            cost=cost,
            expanded=settled,
            timings={"search": perf_counter() - begin},
        )

    def _disc_line(self, nodes: Ints) -> Array:
        """Corners of a disc's route."""
        offsets, targets, costs = self.table
        where = np.concatenate([self.space.points, self.space.vertices])
        line = [where[nodes[:1]]]
        for node, following in pairwise(nodes.tolist()):
            row = np.arange(offsets[node], offsets[node + 1])
            slot = row[np.argmin(np.where(targets[row] == following, costs[row], np.inf))]
            inner = self._corners[slot].reshape(2, 2)
            line += [inner] if np.isfinite(inner).all() else []
            line.append(where[[following]])
        return np.concatenate(line)

    def _run_disc(self, search: str, state: Any) -> Any:
        offsets, targets, costs = self.table
        where = np.concatenate([self.space.points, self.space.vertices])
        ends = np.ascontiguousarray(self.space.vertices[self.ends])
        goals = np.full(len(where), np.inf)
        goals[self.goal] = 0.0
        space = query_space(
            offsets,
            targets,
            costs.astype(np.float32),
            where,
            np.array([self.start], np.int32),
            np.zeros(1),
            goals,
            ends,
        )
        scale = self._scale * (1 - 1e-6) if search == "astar" else 0.0
        return graph_kernels.search(
            space, state, len(where), len(where) + 1, scale, graph_kernels.UNLIMITED, searcher.NO_NODES,
            searcher.NO_BUDGET, False,
        )  # fmt: skip

    def _run(self, search: str, state: Any) -> Any:
        if search == "bushwhack":
            groups, queue = self._groups
            _, targets, costs = self.table
            return _steiner_kernels.bushwhack(groups, targets, costs, queue.take(), state, self.start, self.goal)
        if self.radius > 0:
            return self._run_disc(search, state)
        if search == "cones":
            return _steiner_kernels.cone_search(self.space, state, self.start, self.goal)
        scale = self._scale if search == "astar" else 0.0
        return graph_kernels.search(
            self.space, state, self.start, self.goal, scale, graph_kernels.UNLIMITED, searcher.NO_NODES,
            searcher.NO_BUDGET, False,
        )  # fmt: skip

    @property
    def _groups(self) -> tuple[Any, Workspaces]:
        offsets = self._offsets
        entries = np.empty(self.num_nodes + 1, np.int64)
        none = np.empty(0, np.int64), np.empty(0, np.int32)
        _steiner_kernels.list_groups(self.space, offsets, entries, *none)
        count = int(entries[-1])
        first, owner = np.empty(count + 1, np.int64), np.empty(count, np.int32)
        _steiner_kernels.list_groups(self.space, offsets, entries, first, owner)
        chosen = np.empty(count, np.int32)
        queue = Workspaces(count)
        queue.give(queue.new(count))
        return _steiner_kernels.Representatives(first, owner, entries, chosen), queue


def _again(vertices: Array, triangles: Ints, weights: Array, end: Array, places: Ints, ground: Ground) -> int:
    """The triangle of the goal after the start has split its own: that one, or one of the new ones."""
    near = [int(places[1]), int(places[0]), *range(ground.mesh.triangles.shape[0], len(triangles))]
    found = np.empty(1, np.int32)
    mesh = ground.mesh._replace(
        vertices=vertices,
        triangles=triangles,
        buckets=np.array([0, len(near)], np.int64),
        inside=np.array(near, np.int32),
        frame=np.array([ground.mesh.frame[0], ground.mesh.frame[1], np.finfo(np.float64).max, 1.0, 1.0]),
    )
    _kernels.locate(mesh, weights, end[None], ground.slack, found)
    return int(found[0])


def split(
    vertices: Array, triangles: Ints, twins: Ints, weights: Array, point: Array, place: int, near: float
) -> tuple[Array, Ints, Ints, Array, int]:
    """Make a point a vertex: three triangles instead of one, or two instead of each one beside an edge.

    Points within `near` of a vertex are that vertex. The arrays are copied; the last result is the vertex.
    """
    corners = triangles[place]
    gaps = np.hypot(*(vertices[corners] - point).T)
    if gaps.min() <= near:
        return vertices, triangles, twins, weights, int(corners[np.argmin(gaps)])
    new = len(vertices)
    fresh: list[tuple[int, int, int]] = []
    old = [place]
    for k in range(3):
        a, b, c = (int(corners[(k + j) % 3]) for j in range(3))
        edge = vertices[b] - vertices[a]
        offset = point - vertices[a]
        if abs(edge[0] * offset[1] - edge[1] * offset[0]) / np.hypot(*edge) <= near:
            fresh = [(a, new, c), (new, b, c)]
            twin = int(twins[3 * place + k])
            if twin >= 0:
                other = twin // 3
                d = int(triangles[other, (twin % 3 + 2) % 3])
                old.append(other)
                fresh += [(b, new, d), (new, a, d)]
            break
    else:
        a, b, c = (int(corner) for corner in corners)
        fresh = [(a, b, new), (b, c, new), (c, a, new)]
    half = len(fresh) // len(old)
    outside = {}
    for t in old:
        for k in range(3):
            outside[int(triangles[t, k]), int(triangles[t, (k + 1) % 3])] = int(twins[3 * t + k])
    count = len(triangles)
    # Each old triangle keeps its number for the first of the pieces that replace it.
    numbers: list[int] = []
    heavy: list[float] = []
    for index in range(len(fresh)):
        source = old[index // half]
        numbers.append(source if index % half == 0 else count + len(heavy))
        if index % half:
            heavy.append(float(weights[source]))
    triangles = np.concatenate([triangles, np.empty((len(heavy), 3), np.int32)])
    twins = np.concatenate([twins, np.full(3 * len(heavy), -1, np.int32)])
    halves = {}
    for number, corner in zip(numbers, fresh, strict=True):
        triangles[number] = corner
        for k in range(3):
            halves[corner[k], corner[(k + 1) % 3]] = 3 * number + k
    for (a, b), half_edge in halves.items():
        twin = halves.get((b, a), outside.get((a, b), -1))
        twins[half_edge] = twin
        if twin >= 0:
            twins[twin] = half_edge
    return np.vstack([vertices, point]), triangles, twins, np.append(weights, heavy), new
