"""Queries over graphs of points on a triangulation (Tibboel 2012, section 4), and their repair after an edit.

Nodes keep their numbers and new ones come after all, as triangles do (see `repaint`), so that the arrays of the graph
before are shared, and the result does not depend on how many edits led to it.
"""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.core import batches
from wayfold.core.arrays import offsets_of
from wayfold.core.locks import Portable
from wayfold.geometry import chain_kernels
from wayfold.graph import search_kernels as graph_kernels
from wayfold.graph import searcher
from wayfold.path import Path, Status
from wayfold.terrain import _disc_kernels, _route_kernels
from wayfold.terrain.discs import exact_cost
from wayfold.terrain.ground import Array, EdgeGraph, Ground, Ints, new_scratch, points_on
from wayfold.terrain.repaint import CutPieces, Painted

_NEAR = 1e-10  # of the extent: crossings this close to a vertex pass through it
_LINKS = 2  # dual nodes that a start or goal is joined to (section 4.3)
_CHUNK = 2048  # nodes whose steps are computed at a time
_SHARE = 0.05  # of the cost of a way: what refining it may save more than refining another one
_AROUND = 0.03  # of the cost of the cheapest way: how much dearer other ways may be in the graph
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
        batches.run_chunks(
            lambda first, last: _disc_kernels.disc_steps(
                ground.mesh, weights, radius, ground.slack, offsets, targets, bends, points, costs, first, last,
                ground.scratch(),
            ),
            len(points),
            chunk=_CHUNK,
        )  # fmt: skip


class Steps(NamedTuple):
    """Steps that an edit has changed; there is room for more of them behind those that are used."""

    targets: Ints
    costs: NDArray[np.float32]
    tris: Ints


NO_STEPS = Steps(np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.int32))


class EdgePoint(NamedTuple):
    """A point on an edge."""

    half: int  # half-edge
    share: float


class EndArcs(NamedTuple):
    """Lines from a start or goal to nodes; the same node may stand there more than once."""

    nodes: Ints
    costs: Array
    halves: Ints = searcher.NO_NODES  # the half-edge of its own triangle that each crosses, -1 for none; empty for none
    shares: Array = np.empty(0)  # and where

    def cost(self, node: int) -> float:
        """Cost of the cheapest line to a node."""
        return float(self.costs[_route_kernels.cheapest_line(self.nodes, self.costs, node)])

    def crossing(self, node: int) -> EdgePoint | None:
        """Where the cheapest line to a node crosses an edge."""
        line = _route_kernels.cheapest_line(self.nodes, self.costs, node) if len(self.halves) else -1
        return EdgePoint(int(self.halves[line]), float(self.shares[line])) if line >= 0 <= self.halves[line] else None


class Way(NamedTuple):
    """A way over a graph from start to goal; it may cross edges of their triangles before and after its nodes."""

    nodes: Ints
    tris: Ints = searcher.NO_NODES  # triangles of its legs, where they are known
    first: EdgePoint | None = None
    last: EdgePoint | None = None


class GoalTree(NamedTuple):
    """What a search from one goal has reached: the graph with the goal's links, and the search's state."""

    space: Any
    state: graph_kernels.SearchState
    goal: Array  # (2,)
    place: int  # its triangle
    arcs: EndArcs = EndArcs(searcher.NO_NODES, np.empty(0))  # of the goal; none where the graph is a grid


class _GraphRoutes:
    """Searches of one stored graph with a start and a goal of their own, from the goal on.

    Steps cost the same in both directions, so that one search from a goal serves every start.
    """

    ground: Ground
    weights: Array
    radius: float
    _scale: float

    def __init__(
        self,
        firsts: NDArray[np.int64],
        lasts: NDArray[np.int64],
        targets: Ints,
        costs: NDArray[np.float32],
        points: Array,
    ) -> None:
        self.firsts = firsts
        self.lasts = lasts
        self.targets = targets
        self.costs = costs
        self.more = NO_STEPS
        self.points = points
        self._pool = self.ground.pool(len(points))

    @property
    def num_nodes(self) -> int:
        return len(self.points)

    @property
    def num_edges(self) -> int:
        """Steps, each direction counted."""
        return int(np.isfinite(self.costs).sum())

    def _end_arcs(self, end: Array, place: int) -> EndArcs:
        """Nodes that a start or goal is joined to, and what the lines cost."""
        raise NotImplementedError

    def _direct(self, ends: Array, places: Ints) -> float:
        """Cost of the straight way between start and goal where the graph has it, else infinite."""
        return np.inf

    def _space(self, nodes: Ints, costs: Array, goals: Array, ends: Array) -> _route_kernels.QuerySpace:
        return _route_kernels.QuerySpace(
            self.firsts, self.lasts, self.targets, self.costs, self.more.targets, self.more.costs, self.points,
            nodes, costs, goals, np.ascontiguousarray(ends[::-1]),
        )  # fmt: skip

    def trail(
        self, ends: Array, places: Ints, search: str, watch: list[Ints] | None = None
    ) -> tuple[list[Way], int, float]:
        """The cheapest way between start and goal, settled nodes, and the cost of the links.

        After the cheapest way comes another that may be cheaper when both are refined; there is none at all where there
        is no way. The numbers of the settled nodes of the graph are appended to `watch`.
        """
        count = len(self.points)
        arcs, last = self._end_arcs(ends[0], int(places[0])), self._end_arcs(ends[1], int(places[1]))
        direct = self._direct(ends, places)
        sources, source_costs = last.nodes, last.costs
        if direct < np.inf:
            sources, source_costs = np.append(sources, np.int32(count + 1)), np.append(source_costs, direct)
        goals = self._pool.take_goals()
        _route_kernels.lower(goals, arcs.nodes, arcs.costs)
        space = self._space(sources, source_costs, goals, ends)
        scale = self._scale if search == "astar" else 0.0
        state, status, _, settled = searcher.run(
            self._pool.workspaces,
            lambda state: self._search(space, state, count, scale),
        )
        found: list[Way] = []
        if status == graph_kernels.FOUND:
            found = self._ways(space, state, ends[0], places, arcs, last, direct)
        if watch is not None:
            watch.append(np.flatnonzero(searcher.was_settled(state, slice(0, count))).astype(np.int32))
        self._pool.workspaces.give(state)
        self._pool.give_goals(goals, arcs.nodes)
        return found, settled, _ends_cost(found, arcs, last)

    def _search(self, space: Any, state: Any, count: int, scale: float) -> Any:
        """Search the way from the goal, which is the node after all others, to the start after it."""
        return graph_kernels.search(
            space, state, count, count + 1, scale, graph_kernels.UNLIMITED, searcher.NO_NODES, searcher.NO_BUDGET, False
        )

    def tree(self, goal: Array, place: int) -> GoalTree:
        """One search from a goal to everywhere."""
        count = len(self.points)
        arcs = self._end_arcs(goal, place)
        goals = self._pool.take_goals()
        space = self._space(arcs.nodes, arcs.costs, goals, np.stack([goal, goal]))
        state = searcher.run(
            self._pool.workspaces,
            lambda state: graph_kernels.search(
                space, state, count, -1, 0.0, graph_kernels.UNLIMITED, searcher.NO_NODES, searcher.NO_BUDGET, False
            ),
        )[0]
        self._pool.give_goals(goals, arcs.nodes)
        # No node is joined to a goal; the array of the search is scratch, which the next one overwrites.
        nowhere = np.full(space.goal_costs.size, np.inf)
        return GoalTree(space._replace(goal_costs=nowhere), state, goal, place, arcs)

    def trail_from(self, tree: GoalTree, start: Array, place: int) -> tuple[list[Way], float]:
        """The same as `trail` from what a search from the goal has reached."""
        arcs = self._end_arcs(start, place)
        places = np.array([place, tree.place], np.int32)
        direct = self._direct(np.stack([start, tree.goal]), places)
        found = self._ways(tree.space, tree.state, start, places, arcs, tree.arcs, direct)
        return found, _ends_cost(found, arcs, tree.arcs)

    def _ways(
        self, space: Any, state: Any, start: Array, places: Ints, arcs: EndArcs, last: EndArcs, direct: float
    ) -> list[Way]:
        """The cheapest way that a search has found, or nothing; routes that are refined have another after it."""
        nodes = descend(space, state, arcs.nodes, arcs.costs, direct)
        return [] if nodes is None else [Way(nodes)]


def descend(space: Any, state: Any, nodes: Ints, costs: Array, direct: float) -> Ints | None:
    """The cheapest way from the linked nodes to where the search began; the lowest nodes among equal ones.

    No nodes where the straight way costs no more (`direct`, infinite for none); None where there is no way.
    """
    total = np.where(searcher.was_settled(state, nodes), state.cost[nodes], np.inf) + costs
    best = total.min() if len(total) else np.inf
    if direct <= best:
        return searcher.NO_NODES if np.isfinite(direct) else None
    return _way_down(space, state, int(nodes[total == best].min()))


def _way_down(space: Any, state: Any, node: int) -> Ints:
    """Nodes of the cheapest way from a node to where the search began."""
    capacity = 256
    while True:
        out = np.empty(capacity, np.int32)
        used = _route_kernels.descend(space, state, node, out)
        if used >= 0:
            return out[:used].copy()
        capacity *= 4


def _ends_cost(found: list[Way], arcs: EndArcs, last: EndArcs) -> float:
    """What the first and the last line of the cheapest way cost."""
    if not found:
        return np.inf
    nodes = found[0].nodes
    if not len(nodes):
        return 0.0
    return arcs.cost(nodes[0]) + last.cost(nodes[-1])


class DualRoutes(_GraphRoutes):
    """The dual graph: a node in each triangle, joined to those of the neighbours (section 4.2.4).

    A point may pass a vertex in which open ground only touches, so there is a node in each such pinch point too, joined
    to those of the triangles around it.
    """

    def __init__(self, ground: Ground, weights: Array, radius: float = 0.0) -> None:
        mesh = ground.mesh
        count = len(mesh.triangles)
        self.ground = ground
        self.weights = weights
        self.radius = radius
        costs = np.empty(mesh.twins.size, np.float32)
        self.bends = np.empty(mesh.twins.size, np.int32)
        points = ground.centres
        _route_kernels.dual_steps(mesh, weights, points, costs, self.bends)
        targets = np.where(mesh.twins < 0, -1, mesh.twins // 3).astype(np.int32)
        offsets = np.arange(0, 3 * count + 1, 3)
        pinches = ground.pinches(weights) if radius == 0 else np.empty(0, np.int32)
        if len(pinches):
            number = np.full(len(mesh.vertices), -1, np.int64)
            number[pinches] = count + np.arange(len(pinches))
            corner = np.flatnonzero((number[mesh.triangles.ravel()] >= 0) & np.isfinite(np.repeat(weights, 3)))
            pinch, triangle = number[mesh.triangles.ravel()[corner]], corner // 3
            points = np.concatenate([points, mesh.vertices[pinches]])
            more = (weights[triangle] * np.hypot(*(points[pinch] - points[triangle]).T)).astype(np.float32)
            rows = np.concatenate([np.repeat(np.arange(count), 3), triangle, pinch])
            order = np.argsort(rows, kind="stable")
            offsets = np.searchsorted(rows[order], np.arange(len(points) + 1))
            targets = np.concatenate([targets, pinch, triangle])[order].astype(np.int32)
            costs = np.concatenate([costs, more, more])[order]
            self.bends = np.concatenate([self.bends, np.full(2 * len(more), -1, np.int32)])[order]
        slide(ground, weights, radius, offsets, targets, self.bends, points, costs)
        self.offsets = offsets
        super().__init__(offsets[:-1], offsets[1:], targets, costs, points)
        self._scale = float(weights.min()) * (1 - 1e-6)  # costs are rounded to float32

    @property
    def nbytes(self) -> int:
        """Bytes of the graph."""
        return sum(array.nbytes for array in (self.offsets, self.targets, self.costs, self.points, self.bends))

    def path(self, ends: Array, places: Ints, search: str) -> Path:
        """A path over the centres of triangles."""
        begin = perf_counter()
        trails, settled, outer = self.trail(ends, places, search)
        return self._path(ends, trails, outer, settled, begin)

    def field_path(self, tree: GoalTree, start: Array, place: int) -> Path:
        """The same path from what a search from its goal has reached."""
        begin = perf_counter()
        trails, outer = self.trail_from(tree, start, place)
        return self._path(np.stack([start, tree.goal]), trails, outer, 0, begin)

    def _path(self, ends: Array, trails: list[Way], outer: float, settled: int, begin: float) -> Path:
        if not trails:
            return Path(Status.UNREACHABLE, expanded=settled)
        trail = trails[0].nodes
        line = np.empty((2 * len(trail) + 1, 2))
        line[0], line[-1] = ends
        cost = outer + _route_kernels.dual_line(
            self.ground.mesh, self.weights, self.points, self.offsets, self.targets, self.bends, trail, line[1:-1]
        )
        if self.radius > 0:
            cost = exact_cost(self.ground, self.weights, line, self.radius)
        if (trail >= len(self.weights)).any():  # a pinch point stands there for its step and for itself
            line = line[np.append(True, (np.diff(line, axis=0) != 0).any(axis=1))]
        return Path(
            Status.FOUND,
            flat_points(line),
            nodes=trail,
            cost=cost,
            expanded=settled,
            timings={"search": perf_counter() - begin},
        )

    def _end_arcs(self, end: Array, place: int) -> EndArcs:
        """The nearest nodes that a straight line without obstacles joins to an end, and what the lines cost."""
        nodes, costs = np.empty((1, _LINKS), np.int32), np.empty((1, _LINKS))
        near, gaps = np.empty(_LOOK, np.int32), np.empty(_LOOK)
        capacity = 64
        while not _disc_kernels.dual_links(
            self.ground.mesh, self.weights, self.points, np.array([place], np.int32), end[None], self.radius,
            self.ground.slack, new_scratch(capacity), near, gaps, nodes, costs,
        ):  # fmt: skip
            capacity *= 4
        used = (nodes[0] >= 0) & np.isfinite(costs[0])
        return EndArcs(nodes[0, used], costs[0, used])


def step_costs(weights: Array, tris: Ints, lengths: NDArray[np.float32]) -> NDArray[np.float32]:
    """What steps of these lengths through triangles cost."""
    open_ = np.isfinite(weights)
    costs = (np.where(open_, weights, 0.0)[tris] * lengths).astype(np.float32)
    costs[~open_[tris]] = np.inf  # also for steps of no length
    return np.asarray(costs)


class EdgeRoutes(_GraphRoutes):
    """Points on the edges of triangles, each joined to all others on the same triangle (section 4.2.5).

    Parameters
    ----------
    closed : (k,) int32 array, optional
        Nodes that are not to be used: pinch points that a disc does not pass.
    """

    def __init__(
        self,
        ground: Ground,
        weights: Array,
        graph: EdgeGraph,
        radius: float = 0.0,
        *,
        refine: bool = False,
        other: EdgeRoutes | None = None,
        closed: Ints = searcher.NO_NODES,
    ) -> None:
        costs = step_costs(weights, graph.tris, graph.lengths)
        if radius > 0:
            offsets = np.append(graph.firsts, graph.lasts[-1:])
            slide(ground, weights, radius, offsets, graph.targets, searcher.NO_NODES, graph.points, costs)
        if len(closed):
            costs[np.isin(graph.targets, closed)] = np.inf
        self.radius = radius
        self.refine = refine
        self.other = other
        self.ground = ground
        self.weights = weights
        self.graph = graph
        self.closed = closed
        super().__init__(graph.firsts, graph.lasts, graph.targets, costs, graph.points)
        self._scale = float(weights.min()) * (1 - 1e-6)  # costs are rounded to float32

    @property
    def nbytes(self) -> int:
        """Bytes of costs and weights, and of the graph where it is not one that all weights of the ground share.

        With those of the other routes that it keeps.
        """
        shared = any(self.ground.__dict__.get(name) is self.graph for name in ("extra", "coarse"))
        own = self.costs.nbytes + self.weights.nbytes + (0 if shared else sum(array.nbytes for array in self.graph))
        return own + (self.other.nbytes if self.other is not None else 0)

    def _end_arcs(self, end: Array, place: int) -> EndArcs:
        if self.refine:
            return self._links_across(end, place)
        graph = self.graph
        nodes = graph.tri_nodes[graph.tri_firsts[place] : graph.tri_lasts[place]]
        if len(self.closed):
            nodes = nodes[~np.isin(nodes, self.closed)]
        if self.radius > 0:
            lines = (np.stack([end, self.points[node]]) for node in nodes)
            costs = np.array([exact_cost(self.ground, self.weights, line, self.radius) for line in lines])
            return EndArcs(nodes, costs.reshape(-1))
        return EndArcs(nodes, self.weights[place] * np.hypot(*(self.points[nodes] - end).T))

    def _links_across(self, end: Array, place: int) -> EndArcs:
        """Lines to the nodes of the triangle of a start or goal, and across its edges to those of the triangles beside.

        An end may be much nearer to an edge than the points on that edge are to each other: where its ground is heavy,
        what they make a way dearer would decide on which side it leaves.
        """
        graph = self.graph
        count = 4 * self._most
        arcs = EndArcs(np.empty(count, np.int32), np.empty(count), np.empty(count, np.int32), np.empty(count))
        used = _route_kernels.link_across(
            self.ground.mesh, self.weights, graph.tri_firsts, graph.tri_lasts, graph.tri_nodes, self.points, end, place,
            *arcs,
        )  # fmt: skip
        kept: Any = slice(used)
        if len(self.closed):
            kept = np.flatnonzero(~np.isin(arcs.nodes[:used], self.closed))
        return EndArcs(arcs.nodes[kept], arcs.costs[kept], arcs.halves[kept], arcs.shares[kept])

    @cached_property
    def _most(self) -> int:
        """The largest number of nodes of one triangle."""
        return int((self.graph.tri_lasts - self.graph.tri_firsts).max())

    def _direct(self, ends: Array, places: Ints) -> float:
        if places[0] != places[1]:
            return np.inf
        if self.radius > 0:
            return exact_cost(self.ground, self.weights, ends, self.radius)
        return float(self.weights[places[0]] * np.hypot(*(ends[1] - ends[0])))

    def _search(self, space: Any, state: Any, count: int, scale: float) -> Any:
        if not self.refine:
            return super()._search(space, state, count, scale)
        return _route_kernels.search_around(space, state, count, count + 1, scale, _AROUND)

    def _ways(
        self, space: Any, state: Any, start: Array, places: Ints, arcs: EndArcs, last: EndArcs, direct: float
    ) -> list[Way]:
        trail = descend(space, state, arcs.nodes, arcs.costs, direct)
        if trail is None:
            return []
        found = [self._way(trail, places, arcs, last)]
        if not self.refine:
            return found
        best = float(state.cost[trail[0]]) + arcs.cost(trail[0]) if len(trail) else direct
        count = len(self.points)
        passed = np.zeros(len(self.weights), np.bool_)
        passed[found[0].tris] = True
        left, entered = _route_kernels.sidetrack(
            space, state, self.graph.tris, self.more.tris, start, arcs.nodes, arcs.costs, trail, best, self._scale,
            _SHARE, _AROUND, _route_kernels.Descents(
                passed, np.zeros(count, np.bool_), np.empty(count), np.empty(count), np.empty(count, np.int32)
            ),
        )  # fmt: skip
        if entered >= 0:
            nodes = np.concatenate([trail[:left], _way_down(space, state, entered)])
            found.append(self._way(nodes, places, arcs, last))
        return found

    def _way(self, nodes: Ints, places: Ints, arcs: EndArcs, last: EndArcs) -> Way:
        """The way over some nodes, with the triangles of its legs."""
        if not len(nodes):
            return Way(nodes, places[:1])
        ends = arcs.crossing(nodes[0]), last.crossing(nodes[-1])
        first, behind = (0 if end is None else 1 for end in ends)
        tris = np.empty(len(nodes) + 1 + first + behind, np.int32)
        tris[0], tris[-1] = places
        for crossing, index in zip(ends, (1, -2), strict=True):
            if crossing is not None:
                tris[index] = self.ground.mesh.twins[crossing.half] // 3
        if len(nodes) > 1:
            none = searcher.NO_NODES, np.empty(0), np.empty(0), np.zeros((2, 2))
            legs = tris[1 + first : len(tris) - 1 - behind]
            _route_kernels.step_triangles(self._space(*none), self.graph.tris, self.more.tris, nodes, legs)
        return Way(nodes, tris, *ends)

    def path(self, ends: Array, places: Ints, search: str) -> Path:
        """A path over the graph, moved to the optimum of its edge sequence if routes are to be refined."""
        begin = perf_counter()
        trails, settled, _ = self.trail(ends, places, search)
        second: list[Way] = []
        if trails and self.refine and self.other is not None:
            second, more, _ = self.other.trail(ends, places, search)
            settled += more
        return self._path(ends, places, trails, second, settled, begin)

    def field_path(self, tree: GoalTree, start: Array, place: int, other: GoalTree | None) -> Path:
        """The same path from what a search from its goal has reached; `other` is that of the other routes."""
        begin = perf_counter()
        trails, _ = self.trail_from(tree, start, place)
        second: list[Way] = []
        if trails and self.refine and self.other is not None and other is not None:
            second, _ = self.other.trail_from(other, start, place)
        places = np.array([place, tree.place], np.int32)
        return self._path(np.stack([start, tree.goal]), places, trails, second, 0, begin)

    def _path(
        self, ends: Array, places: Ints, trails: list[Way], second: list[Way], settled: int, begin: float
    ) -> Path:
        if not trails:
            return Path(Status.UNREACHABLE, expanded=settled)
        searched = perf_counter()
        trail = trails[0].nodes
        if self.refine:
            line, cost = ends, np.inf
            passed, room = np.zeros(len(self.weights), np.bool_), _RefineRoom()
            for way in trails:
                passed[way.tris] = True
                candidate = self._refine(ends, way, room)
                if candidate[1] < cost:
                    (line, cost), trail = candidate, way.nodes
            for way in second:
                if self.other is None or passed[way.tris].all():
                    continue  # it would be moved to where a route is already
                # Centres of triangles are no crossings: the two legs beside one lie in its triangle.
                crossing = self.other.graph.hosts[way.nodes, 0] >= 0
                legs = way.tris[np.append(crossing, True)]
                candidate = self.other._refine(ends, Way(way.nodes[crossing], legs), room)
                if candidate[1] < cost:
                    line, cost = candidate
        else:
            tris = trails[0].tris
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

    def _refine(self, ends: Array, way: Way, room: _RefineRoom) -> tuple[Array, float]:
        """The corners and the cost of the route after its crossings have been moved."""
        near = _NEAR * self.ground.extent
        before, after = way.first is not None, way.last is not None
        count = len(way.nodes) + before + after + 2
        capacity = 2 * count + 256
        while True:
            chain = _new_chain(capacity)
            inner = slice(1 + before, count - 1 - after)
            chain.a[inner], chain.b[inner] = self.graph.hosts[way.nodes].T
            chain.share[inner] = self.graph.shares[way.nodes]
            for index, crossing in ((1, way.first), (count - 2, way.last)):
                if crossing is not None:
                    t, k = divmod(crossing.half, 3)
                    corners = self.ground.mesh.triangles[t]
                    chain.a[index], chain.b[index] = corners[k], corners[(k + 1) % 3]
                    chain.share[index] = crossing.share
            for index, end in ((0, ends[0]), (count - 1, ends[1])):
                chain.a[index] = chain.b[index] = -1
                chain.x[index], chain.y[index] = end
            chain.tri[: count - 1] = way.tris
            points, cost = _route_kernels.refine(
                self.ground.mesh, self.weights, chain, count, *room.windows, room.newton(capacity), near
            )
            if points >= 0:
                return np.column_stack([chain.x[:points], chain.y[:points]]), float(cost)
            capacity *= 2


class _RefineRoom:
    """Scratch memory for refining one route after the other."""

    def __init__(self) -> None:
        size = 4 * _route_kernels.WINDOW + _route_kernels.FAN
        self.windows = _new_chain(size), _new_chain(size)
        self._newton = np.empty((5, 0))

    def newton(self, capacity: int) -> chain_kernels.Newton:
        """Scratch of the optimiser for so many points."""
        if self._newton.shape[1] < capacity:
            self._newton = np.empty((5, capacity))
        return chain_kernels.Newton(*self._newton)


def _new_chain(capacity: int) -> chain_kernels.Chain:
    a, b, tri = np.zeros((3, capacity), np.int32)
    share, x, y = np.zeros((3, capacity))
    return chain_kernels.Chain(a, b, share, tri, x, y, np.ones(capacity, np.bool_))


_MOST = 0.5  # of all triangles: where more have changed, the graph is made from the beginning
_ROOM = 4096  # nodes for which there is room at a time, so that edits share the scratch memory of searches
_STEPS = 65_536  # steps for which there is room at first


def is_small(painted: Painted) -> bool:
    """Whether so few triangles have changed that a graph is changed for them."""
    changed = painted.over >= 0
    changed[painted.pieces.numbers] = True
    return painted.mesh is not None and int(changed.sum()) <= _MOST * len(changed)


class _QueryScratch(Portable):
    """Steps that several graphs share: each has written its own behind those of the ones before it."""

    _OWN = (("lock", Lock),)

    def __init__(self, capacity: int) -> None:
        self.steps = Steps(np.empty(capacity, np.int32), np.empty(capacity, np.float32), np.empty(capacity, np.int32))
        self.used = 0
        self.lock = Lock()

    def append(self, kept: int, steps: Steps) -> _QueryScratch:
        """Room with `steps` behind the first `kept` ones: this one, or another where others stand there or end it."""
        count = len(steps.targets)
        with self.lock:
            if self.used == kept and kept + count <= len(self.steps.targets):
                self._write(kept, steps)
                return self
        other = _QueryScratch(max(_STEPS, 2 * (kept + count)))
        before = self.steps
        other._write(0, Steps(before.targets[:kept], before.costs[:kept], before.tris[:kept]))
        other._write(kept, steps)
        return other

    def _write(self, index: int, steps: Steps) -> None:
        for mine, new in zip(self.steps, steps, strict=True):
            mine[index : index + len(new)] = new
        self.used = index + len(steps.targets)


class EditedRoutes(EdgeRoutes):
    """Refined routes over a ground of which some triangles have changed.

    Parameters
    ----------
    under : EdgeRoutes
        The refined routes before the change.
    base : Ground
        The ground that has never been cut.
    ground : Ground
        The ground now; what is not in `pieces` is as it was.
    weights : (m,) float64 array
    pieces : Pieces
        Triangles that are new since `under`.
    closed : (k,) int32 array
        Vertices that are not to be used.
    other : EdgeRoutes, optional
    """

    nodes: int
    """Nodes that are there; the arrays have room for more."""
    _corners: Ints  # the node of each vertex
    _hosts: Ints
    _shares: Array
    _room: _QueryScratch
    _kept: int  # steps of it that are used

    def __init__(
        self,
        under: EdgeRoutes,
        base: Ground,
        ground: Ground,
        weights: Array,
        pieces: CutPieces,
        closed: Ints,
        other: EdgeRoutes | None,
    ) -> None:
        self.ground = ground
        self.weights = weights
        self.radius = 0.0
        self.refine = True
        self.other = other
        graph = under.graph
        vertices = len(under.ground.mesh.vertices)
        if isinstance(under, EditedRoutes):
            self.nodes, self._corners, room, kept = under.nodes, under._corners, under._room, under._kept
        else:
            self.nodes, self._corners, room, kept = (
                len(graph.points),
                np.arange(vertices, dtype=np.int32),
                _QueryScratch(0),
                0,
            )
        lists, sizes = self._place(base, graph, pieces, vertices)
        self.closed = self._corners[closed]
        # Everything on triangles that are new or weigh something else, and whatever leads to what is closed now.
        count = len(under.weights)
        changed = np.zeros(len(weights), np.bool_)
        changed[pieces.numbers] = True
        changed[:count] |= weights[:count] != under.weights
        toggled = np.setxor1d(self.closed, under.closed)
        if len(toggled):
            corner = np.zeros(len(self._corners), np.bool_)
            corner[np.isin(self._corners, toggled)] = True
            changed |= corner[ground.mesh.triangles].any(axis=1)
        firsts, lasts = _spread(graph.tri_firsts, len(weights)), _spread(graph.tri_lasts, len(weights))
        lasts[pieces.numbers] = len(graph.tri_nodes) + np.cumsum(sizes)
        firsts[pieces.numbers] = lasts[pieces.numbers] - sizes
        self.graph = graph._replace(
            points=self.points, hosts=self._hosts, shares=self._shares, tri_firsts=firsts, tri_lasts=lasts,
            tri_nodes=np.concatenate([graph.tri_nodes, lists]),
        )  # fmt: skip
        nodes, offsets, steps = self._steps(np.flatnonzero(changed))
        self._room, self._kept = room.append(kept, steps), kept + len(steps.targets)
        self.firsts, self.lasts = _spread(under.firsts, len(self.points)), _spread(under.lasts, len(self.points))
        begin = len(graph.targets) + kept
        self.firsts[nodes], self.lasts[nodes] = begin + offsets[:-1], begin + offsets[1:]
        self.targets, self.costs, self.more = under.targets, under.costs, self._room.steps
        self._pool = base.edited_pool(len(self.points))
        self._scale = float(weights.min()) * (1 - 1e-6)  # costs are rounded to float32

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.nodes

    @property
    def nbytes(self) -> int:
        """Bytes of what it does not share with the routes before all edits."""
        own = self.points, self._hosts, self._shares, self.firsts, self.lasts, self._corners
        lists = self.graph.tri_firsts, self.graph.tri_lasts, self.graph.tri_nodes
        mine = sum(array.nbytes for array in (*own, *lists, *self._room.steps, self.weights))
        return mine + (self.other.nbytes if self.other is not None else 0)

    def _place(
        self, base: Ground, graph: EdgeGraph, pieces: CutPieces, vertices: int
    ) -> tuple[Ints, NDArray[np.int64]]:
        """Put nodes on new vertices and new edges; returns the nodes of all pieces and how many each has."""
        mesh = self.ground.mesh
        begin = mesh.triangles[pieces.numbers]
        end = begin[:, [1, 2, 0]]
        own = base.mesh.triangles[pieces.of]
        # An edge that has not been cut keeps its nodes, also where both of its triangles are in pieces.
        kept = (begin[:, :, None] == own[:, None]) & (end[:, :, None] == own[:, None, [1, 2, 0]])
        old = kept.any(axis=2)
        edge = base.edge_of[3 * pieces.of[:, None] + kept.argmax(axis=2)]
        first = base.coarse_first
        starts, counts = first[edge], first[edge + 1] - first[edge]
        # The others: once for both sides, in the order of the pieces.
        half = 3 * pieces.numbers[:, None].astype(np.int64) + np.arange(3)
        twin = mesh.twins[half]
        fresh = np.where(twin < 0, half, np.minimum(half, twin))[~old]
        unique, where, inverse = np.unique(fresh, return_index=True, return_inverse=True)
        tips = np.column_stack([mesh.triangles.ravel()[unique], mesh.triangles[unique // 3, (unique + 1) % 3]])
        along = mesh.vertices[tips[:, 1]] - mesh.vertices[tips[:, 0]]
        points = points_on(np.hypot(*along.T), base.spacing)
        cluster = np.broadcast_to(pieces.cluster[:, None], old.shape)[~old][where]
        corners = np.arange(vertices, len(mesh.vertices))
        # New nodes are numbered cluster by cluster: corners first, then the points on edges.
        both = np.concatenate([pieces.vertex_cluster, cluster])
        kind = np.repeat([0, 1], [len(corners), len(unique)])
        each = np.concatenate([np.ones(len(corners), np.int64), points])
        order = np.lexsort((np.concatenate([corners, where]), kind, both))
        number = np.empty(len(order), np.int64)
        number[order] = self.nodes + np.cumsum(each[order]) - each[order]
        self._corners = np.concatenate([self._corners, number[: len(corners)].astype(np.int32)])
        on_edges = number[len(corners) :]
        starts[~old], counts[~old] = on_edges[inverse.reshape(-1)], points[inverse.reshape(-1)]
        self._extend(graph, corners, tips, on_edges, points, int(each.sum()))
        places = np.stack([self._corners[begin].astype(np.int64), starts], axis=2).reshape(-1, 6)
        sizes = np.stack([np.ones_like(counts), counts], axis=2).reshape(-1, 6)
        return _ranges(places.ravel(), sizes.ravel()).astype(np.int32), sizes.sum(axis=1)

    def _extend(
        self, graph: EdgeGraph, corners: NDArray[np.int64], tips: Ints, on_edges: NDArray[np.int64],
        points: NDArray[np.int64], more: int,
    ) -> None:  # fmt: skip
        """Say where the new nodes lie."""
        used, self.nodes = self.nodes, self.nodes + more
        capacity = len(graph.points)
        if self.nodes > capacity or capacity % _ROOM:
            capacity = (self.nodes // _ROOM + 2) * _ROOM
        self.points = _spread(graph.points, capacity, used)
        self._hosts = _spread(graph.hosts, capacity, used)
        self._shares = _spread(graph.shares, capacity, used)
        where = self.ground.mesh.vertices
        self.points[self._corners[corners]] = where[corners]
        self._hosts[self._corners[corners]] = corners[:, None]
        edge = np.repeat(np.arange(len(tips)), points)
        node = _ranges(on_edges, points)
        share = (node - on_edges[edge] + 1) / (points[edge] + 1)
        self.points[node] = where[tips[edge, 0]] * (1 - share)[:, None] + where[tips[edge, 1]] * share[:, None]
        self._hosts[node] = tips[edge]
        self._shares[node] = share

    def _steps(self, changed: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], Steps]:
        """The nodes on changed triangles, the bounds of their steps, and these."""
        graph, mesh = self.graph, self.ground.mesh
        corner = np.zeros(len(mesh.vertices), np.bool_)
        corner[mesh.triangles[changed]] = True
        around = np.flatnonzero(corner[mesh.triangles].any(axis=1))
        sizes = graph.tri_lasts[around] - graph.tri_firsts[around]
        listed = graph.tri_nodes[_ranges(graph.tri_firsts[around], sizes)]
        own = _ranges(graph.tri_firsts[changed], graph.tri_lasts[changed] - graph.tri_firsts[changed])
        number = np.full(len(self.points), -1, np.int32)
        number[listed] = 1
        number[graph.tri_nodes[own]] = 0
        nodes, others = np.flatnonzero(number == 0), np.flatnonzero(number == 1)
        every = np.concatenate([nodes, others])
        number[every] = np.arange(len(every))
        bounds = offsets_of(sizes)
        local = np.ascontiguousarray(number[listed])
        offsets = np.zeros(len(every) + 1, np.int64)
        _route_kernels.count_steps(bounds, local, offsets)
        np.cumsum(offsets, out=offsets)
        count = int(offsets[-1])
        targets, lengths, tris = np.empty(count, np.int32), np.empty(count, np.float32), np.empty(count, np.int32)
        points = np.ascontiguousarray(self.points[every])
        _route_kernels.fill_steps(bounds, local, points, offsets[:-1].copy(), targets, lengths, tris)
        offsets = offsets[: len(nodes) + 1]  # the others have steps elsewhere too, and keep theirs
        used = int(offsets[-1])
        ahead, through = every[targets[:used]].astype(np.int32), around[tris[:used]].astype(np.int32)
        costs = step_costs(self.weights, through, lengths[:used])
        if len(self.closed):
            costs[np.isin(ahead, self.closed)] = np.inf
        return nodes, offsets, Steps(ahead, costs, through)


def _spread(array: NDArray[Any], size: int, used: int | None = None) -> NDArray[Any]:
    """A copy with room for `size` rows; what is new is 0."""
    result = np.zeros((size, *array.shape[1:]), array.dtype)
    kept = min(len(array) if used is None else used, size)
    result[:kept] = array[:kept]
    return result


def _ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers from each start on, so many of each, one after the other."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - ends + counts, counts)
