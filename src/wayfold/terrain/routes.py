"""Queries over graphs of points on a triangulation: dual, dual extra, and the refined route (003, section 4)."""

from __future__ import annotations

from collections import deque
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold import _threads
from wayfold.geometry import _chain_kernels
from wayfold.graph import _kernels as graph_kernels
from wayfold.graph import searcher
from wayfold.graph.workspace import Workspaces
from wayfold.path import Path, Status
from wayfold.terrain import _disc_kernels, _refine_kernels, _route_kernels
from wayfold.terrain.discs import exact_cost
from wayfold.terrain.ground import Array, EdgeGraph, Ground, Ints, new_scratch

_NEAR = 1e-10  # of the extent: crossings this close to a vertex pass through it
_LINKS = 2  # dual nodes that a start or goal is joined to (section 4.3)
_CHUNK = 2048  # nodes whose steps are computed at a time
_LOOK = 12  # nearest dual nodes among which those are looked for


def flat_points(points: Array) -> Array:
    """The corners of a path in space, at height 0."""
    return np.column_stack([points, np.zeros(len(points))])


def slide(
    ground: Ground,
    weights: Array,
    radius: float,
    offsets: NDArray[np.int64],
    targets: Ints,
    bends: Ints,
    points: Array,
    costs: NDArray[np.float32],
) -> None:
    """Replace the costs of all steps by those of a disc that slides along them (section 6.2)."""
    if radius > 0:
        _threads.run_chunks(
            lambda first, last: _disc_kernels.disc_steps(
                ground.mesh, weights, radius, ground.slack, offsets, targets, bends, points, costs, first, last,
                ground.scratch(),
            ),
            len(points),
            chunk=_CHUNK,
        )  # fmt: skip


class _Linked:
    """Searches of one stored graph with a start and a goal of their own."""

    def __init__(self, offsets: NDArray[np.int64], targets: Ints, costs: NDArray[np.float32], points: Array) -> None:
        self.offsets = offsets
        self.targets = targets
        self.costs = costs
        self.points = points
        self.workspaces = Workspaces(len(points) + 2)
        self._goals: deque[Array] = deque()

    @property
    def num_nodes(self) -> int:
        return len(self.points)

    @property
    def num_edges(self) -> int:
        """Steps, each direction counted."""
        return int(np.isfinite(self.costs).sum())

    def take_goals(self) -> Array:
        """An array of infinite costs, (n,); `give_goals` takes it back."""
        try:
            return self._goals.pop()
        except IndexError:
            return np.full(len(self.points), np.inf)

    def give_goals(self, goals: Array, used: NDArray[Any]) -> None:
        """Return the array after clearing what the query wrote."""
        goals[used] = np.inf
        self._goals.append(goals)

    def search(
        self,
        start_nodes: Ints,
        start_costs: Array,
        goal_costs: Array,
        ends: Array,
        scale: float,
        watch: list[Ints] | None = None,
    ) -> tuple[Ints | None, int]:
        """Nodes between start and goal (both left out) of the cheapest way, None without one, and settled nodes.

        The numbers of the settled nodes of the graph are appended to `watch`.
        """
        nodes = len(self.points)
        space = _route_kernels.LinkedSpace(
            self.offsets, self.targets, self.costs, self.points, start_nodes, start_costs, goal_costs, ends
        )
        state, status, end, settled = searcher.run(
            self.workspaces,
            lambda state: graph_kernels.search(
                space,
                state,
                nodes,
                nodes + 1,
                scale,
                graph_kernels.UNLIMITED,
                searcher.NO_NODES,
                searcher.NO_BUDGET,
                False,
            ),
        )
        trail = searcher.trail(state, end)[1:-1] if status == graph_kernels.FOUND else None
        if watch is not None:
            watch.append(np.flatnonzero(searcher.was_settled(state, slice(0, nodes))).astype(np.int32))
        self.workspaces.give(state)
        return trail, settled


class DualRoutes(_Linked):
    """The dual graph: a node in each triangle, joined to those of the neighbours (section 4.2.4)."""

    def __init__(self, ground: Ground, weights: Array, radius: float = 0.0) -> None:
        mesh = ground.mesh
        self.ground = ground
        self.weights = weights
        self.radius = radius
        costs = np.empty(mesh.twins.size, np.float32)
        self.bends = np.empty(mesh.twins.size, np.int32)
        _route_kernels.dual_steps(mesh, weights, ground.centres, costs, self.bends)
        targets = np.where(mesh.twins < 0, -1, mesh.twins // 3).astype(np.int32)
        offsets = np.arange(0, 3 * len(ground.centres) + 1, 3)
        slide(ground, weights, radius, offsets, targets, self.bends, ground.centres, costs)
        super().__init__(offsets, targets, costs, ground.centres)
        self._scale = float(weights.min()) * (1 - 1e-6)  # costs are rounded to float32

    def path(self, ends: Array, places: Ints, search: str) -> Path:
        """A path over the centres of triangles."""
        begin = perf_counter()
        nodes, costs = self._links(ends, places)
        goals = self.take_goals()
        goals[nodes[1]] = costs[1]
        scale = self._scale if search == "astar" else 0.0
        trail, settled = self.search(nodes[0], costs[0], goals, ends, scale)
        self.give_goals(goals, nodes[1])
        if trail is None:
            return Path(Status.UNREACHABLE, expanded=settled)
        line = np.empty((2 * len(trail) + 1, 2))
        line[0], line[-1] = ends
        mesh = self.ground.mesh
        cost = _route_kernels.dual_line(mesh, self.weights, self.points, self.targets, self.bends, trail, line[1:-1])
        if self.radius > 0:
            cost = exact_cost(self.ground, self.weights, line, self.radius)
        else:
            cost += float(costs[0][nodes[0] == trail[0]][0] + costs[1][nodes[1] == trail[-1]][0])
        return Path(
            Status.FOUND,
            flat_points(line),
            nodes=trail,
            cost=cost,
            expanded=settled,
            timings={"search": perf_counter() - begin},
        )

    def _links(self, ends: Array, places: Ints) -> tuple[list[Ints], list[Array]]:
        """The nearest nodes that a straight line without obstacles joins to each end, and what the lines cost."""
        nodes, costs = np.empty((2, _LINKS), np.int32), np.empty((2, _LINKS))
        near, gaps = np.empty(_LOOK, np.int32), np.empty(_LOOK)
        capacity = 64
        while not _disc_kernels.dual_links(
            self.ground.mesh, self.weights, self.points, places, ends, self.radius, self.ground.slack,
            new_scratch(capacity), near, gaps, nodes, costs,
        ):  # fmt: skip
            capacity *= 4
        used = nodes >= 0
        return [nodes[k, used[k]] for k in range(2)], [costs[k, used[k]] for k in range(2)]


class EdgeRoutes(_Linked):
    """Points on the edges of triangles, each joined to all others on the same triangle (section 4.2.5)."""

    def __init__(
        self,
        ground: Ground,
        weights: Array,
        graph: EdgeGraph,
        radius: float = 0.0,
        *,
        refine: bool = False,
        other: EdgeRoutes | None = None,
    ) -> None:
        costs = (weights[graph.tris] * graph.lengths).astype(np.float32)
        # A step of no length through an obstacle stays one through an obstacle.
        costs[~np.isfinite(weights[graph.tris])] = np.inf
        slide(ground, weights, radius, graph.offsets, graph.targets, searcher.NO_NODES, graph.points, costs)
        self.radius = radius
        self.refine = refine
        self.other = other
        super().__init__(graph.offsets, graph.targets, costs, graph.points)
        self.ground = ground
        self.weights = weights
        self.graph = graph
        self._scale = float(weights.min()) * (1 - 1e-6)  # costs are rounded to float32

    def route(
        self, ends: Array, places: Ints, search: str, watch: list[Ints] | None = None
    ) -> tuple[Ints | None, Ints, int]:
        """Nodes of the cheapest way (None without one), the triangles of its legs, and settled nodes."""
        graph = self.graph
        room = int(graph.tri_offsets[places[0] + 1] - graph.tri_offsets[places[0]]) + 1
        start_nodes, start_costs = np.empty(room, np.int32), np.empty(room)
        goals = self.take_goals()
        count = _route_kernels.link(
            graph.tri_offsets,
            graph.tri_nodes,
            graph.points,
            self.weights,
            ends,
            places,
            start_nodes,
            start_costs,
            goals,
        )
        reached = graph.tri_nodes[graph.tri_offsets[places[1]] : graph.tri_offsets[places[1] + 1]]
        if self.radius > 0:
            for which, nodes, costs in ((0, start_nodes[:count], start_costs), (1, reached, goals)):
                for at, node in enumerate(nodes):
                    to = self.points[node] if node < len(self.points) else ends[1]
                    link = exact_cost(self.ground, self.weights, np.stack([ends[which], to]), self.radius)
                    costs[at if which == 0 else node] = link
        scale = self._scale if search == "astar" else 0.0
        trail, settled = self.search(start_nodes[:count], start_costs[:count], goals, ends, scale, watch)
        self.give_goals(goals, reached)
        if trail is None:
            return None, searcher.NO_NODES, settled
        tris = np.empty(len(trail) + 1, np.int32)
        tris[0], tris[-1] = places
        if len(trail) > 1:
            _route_kernels.step_triangles(graph.offsets, graph.targets, self.costs, graph.tris, trail, tris[1:-1])
        return trail, tris, settled

    def path(self, ends: Array, places: Ints, search: str) -> Path:
        """A path over the graph, moved to the optimum of its edge sequence if routes are to be refined."""
        begin = perf_counter()
        trail, tris, settled = self.route(ends, places, search)
        if trail is None:
            return Path(Status.UNREACHABLE, expanded=settled)
        searched = perf_counter()
        if self.refine:
            line, cost = self._refine(ends, trail, tris)
            if self.other is not None:
                second, legs, more = self.other.route(ends, places, search)
                settled += more
                if second is not None:
                    # Centres of triangles are no crossings: the two legs beside one lie in its triangle.
                    crossing = self.other.graph.hosts[second, 0] >= 0
                    candidate = self.other._refine(ends, second[crossing], legs[np.append(crossing, True)])
                    if candidate[1] < cost:
                        line, cost = candidate
        else:
            line = np.concatenate([ends[:1], self.points[trail], ends[1:]])
            cost = float((np.hypot(*np.diff(line, axis=0).T) * self.weights[tris]).sum())
            if self.radius > 0:
                cost = exact_cost(self.ground, self.weights, line, self.radius)
        return Path(
            Status.FOUND,
            flat_points(line),
            nodes=trail,
            cost=cost,
            expanded=settled,
            timings={"search": searched - begin, "refine": perf_counter() - searched},
        )

    def _refine(self, ends: Array, trail: Ints, tris: Ints) -> tuple[Array, float]:
        """The corners and the cost of the route after its crossings have been moved."""
        low_x, low_y, high_x, high_y = self.ground.bounds
        near = _NEAR * max(high_x - low_x, high_y - low_y)
        count = len(trail) + 2
        capacity = 2 * count + 256
        while True:
            chain = _new_chain(capacity)
            chain.a[:count] = np.concatenate([[-1], self.graph.hosts[trail, 0], [-1]])
            chain.b[:count] = np.concatenate([[-1], self.graph.hosts[trail, 1], [-1]])
            chain.share[:count] = np.concatenate([[0.0], self.graph.shares[trail], [0.0]])
            chain.tri[: count - 1] = tris
            chain.x[0], chain.y[0] = ends[0]
            chain.x[count - 1], chain.y[count - 1] = ends[1]
            newton = _chain_kernels.Newton(*(np.empty(capacity) for _ in range(5)))
            window = 4 * _refine_kernels.WINDOW + _refine_kernels.FAN
            points, cost = _refine_kernels.refine(
                self.ground.mesh, self.weights, chain, count, _new_chain(window), _new_chain(window), newton, near
            )
            if points >= 0:
                return np.column_stack([chain.x[:points], chain.y[:points]]), float(cost)
            capacity *= 2


def _new_chain(capacity: int) -> _chain_kernels.Chain:
    ints = [np.zeros(capacity, np.int32) for _ in range(3)]
    floats = [np.zeros(capacity) for _ in range(3)]
    fresh = np.ones(capacity, np.bool_)
    return _chain_kernels.Chain(ints[0], ints[1], floats[0], ints[2], floats[1], floats[2], fresh)
