"""Queries of the sparse grid: exact, or over regions first and then refined to cells (Sturtevant 2011)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks, text
from wayfold.core.arrays import offsets_of
from wayfold.core.batches import run_chunks
from wayfold.errors import OffMapError, ParameterError
from wayfold.graph import search_kernels as graph_kernels
from wayfold.graph import searcher
from wayfold.graph.searcher import Workspaces
from wayfold.grid import _dense_kernels, _search_kernels
from wayfold.grid import _store_kernels as layout
from wayfold.grid._store import LinkTable, RegionTable
from wayfold.path import Path, Paths, Status

if TYPE_CHECKING:
    from wayfold.grid.sparse import SparseGrid

# Each refining search looks this many regions ahead, with this weight on its estimate. On the DAO maps (buckets over
# 100) this settles 20 times fewer cells than exact search; weight 1 settles 9 times fewer for paths 1 % shorter before
# and 0.3 % shorter after smoothing.
_AHEAD = 2
_SCALE = 1.5


def check_limits(exact: bool, budget: int | None, partial: bool) -> int:
    """The node budget of a query for the kernels; only exact searches have one, and partial paths."""
    if not exact and (budget is not None or partial):
        raise ParameterError("budget and partial need exact=True: planning over regions has no such limits")
    return searcher.check_budget(budget)


def _matrix(rows: NDArray[np.int32], columns: NDArray[np.int32], size: int) -> Any:
    """A sparse matrix with ones at some places."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(size, size))


class GridQueries:
    """Plans on one grid and owns the workspaces and components that go with its present state."""

    def __init__(self, grid: SparseGrid) -> None:
        self.grid = grid
        self._cell_states = Workspaces(0)
        self._region_states = Workspaces(0)
        self.links = LinkTable(grid)
        self._components: tuple[Any, NDArray[np.int32]] = (None, np.empty(0, np.int32))
        self._strong: tuple[Any, Any] = (None, None)

    # --- nodes and cells -------------------------------------------------------------------------------------------

    def all_nodes(self) -> NDArray[np.int32]:
        """The nodes of all cells."""
        store = self.grid._store
        used = np.repeat(store.owners >= 0, layout.GRANULE)
        return np.flatnonzero(used & (store.cells >> 8 & 31 != layout.BLOCKED)).astype(np.int32)

    def cells_of(self, nodes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Coordinates of nodes."""
        cells = np.empty((len(nodes), 3), np.int64)
        _search_kernels.positions(self.grid._store, nodes, cells)
        return cells

    def nodes_of(self, cells: ArrayLike, name: str) -> NDArray[np.int32]:
        """Nodes of cells, each of which must be there."""
        array = checks.floats(cells, name, "cells of shape (q, 2) or (q, 3)")
        if array.size == 0:
            return np.empty(0, np.int32)
        points = checks.points3(array, name, largest=np.inf)
        whole = (points == np.floor(points)).all(axis=1) & (np.abs(points) < 2**31).all(axis=1)
        nodes = self.grid._nodes(np.where(whole[:, None], points, 0.0).astype(np.int64))
        there = whole & (nodes >= 0)
        if not there.all():
            cell = points[np.argmin(there)]
            what = "is not a cell of the grid" if whole[np.argmin(there)] else "is not a whole cell"
            raise OffMapError(f"{name} ({text.place(cell)}) {what}")
        return nodes

    def ends(self, start: ArrayLike, goal: ArrayLike) -> tuple[int, int]:
        """Nodes of a start and a goal, which must be there."""
        if _are_cells(start) and _are_cells(goal):
            first, last = self.grid._nodes(np.array([start, goal])).tolist()
            if first >= 0 and last >= 0:
                return first, last
        points = np.array([checks.point3(start, "start", largest=np.inf), checks.point3(goal, "goal", largest=np.inf)])
        if np.abs(points).max() < 2**31:
            cells = points.astype(np.int64)
            first, last = self.grid._nodes(cells).tolist()
            if first >= 0 and last >= 0 and (cells == points).all():
                return first, last
        for point, name in zip(points, ("start", "goal"), strict=True):
            self.nodes_of(point[None], name)  # says what is wrong
        raise AssertionError("one of the two is not a cell")

    # --- spaces ----------------------------------------------------------------------------------------------------

    @property
    def space(self) -> _search_kernels.SparseSpace:
        """The cells as a search space."""
        return _search_kernels.SparseSpace(self.grid._store, self.grid.effect_cost, self.links.arrays())

    @property
    def region_space(self) -> _search_kernels.RegionSpace:
        """The regions as a search space."""
        return _search_kernels.RegionSpace(self.grid._store, self.grid.effect_cost, self.links.arrays())

    @property
    def cell_states(self) -> Workspaces:
        """Workspaces for searches over cells."""
        if self._cell_states.nodes != self.grid._store.cells.size:
            self._cell_states = Workspaces(self.grid._store.cells.size)
        return self._cell_states

    @property
    def region_states(self) -> Workspaces:
        """Workspaces for searches over regions."""
        if self._region_states.nodes != self.grid._store.base.size:
            self._region_states = Workspaces(self.grid._store.base.size)
        return self._region_states

    def components(self) -> NDArray[np.int32]:
        """Component of each region; found again only after regions, abstract edges or links have come or gone."""
        store = self.grid._store
        known, labels = self._components
        version = (int(store.frame[layout.STRUCTURE]), store.base.size, self.links.version)
        if known != version:
            labels = np.empty(store.base.size, np.int32)
            graph_kernels.label_components(self.region_space, labels)
            self._components = version, labels
        return labels

    def joined(self, first: int, last: int) -> bool:
        """Whether a way leads from one node to another: `reachable` for one pair."""
        labels, owners = self.components(), self.grid._store.owners
        if labels[owners[first >> 4]] != labels[owners[last >> 4]]:
            return False
        if not (self.grid.drop or self.links.one_way):
            return True
        return bool(self.reachable(np.array([first]), np.array([last]))[0])

    def reachable(self, first: NDArray[np.int32], last: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether a way leads from each node to another; one-way edges and links count in their direction only."""
        labels, owners = self.components(), self.grid._store.owners
        start, goal = owners[first >> 4], owners[last >> 4]
        found = np.asarray(labels[start] == labels[goal])
        if not found.any() or not (self.grid.drop or self.links.one_way):
            return found
        from scipy.sparse.csgraph import breadth_first_order

        labels, onward = self._strong_components()
        start, goal = labels[start], labels[goal]
        for component in np.unique(start[found & (start != goal)]):
            ahead = breadth_first_order(onward, component, return_predecessors=False)
            here = start == component
            found[here] = np.isin(goal[here], ahead)
        return found

    def _strong_components(self) -> Any:
        """The strongly connected component of each region, and which of them lead straight to which, as a matrix."""
        from scipy.sparse.csgraph import connected_components

        store = self.grid._store
        known, answer = self._strong
        version = (int(store.frame[layout.STRUCTURE]), store.base.size, self.links.version)
        if known != version:
            _, edges, _ = self._region_edges()
            links = self.links.arrays()
            start, goal = np.concatenate([edges, np.column_stack([links.region_sources, links.region_ends])]).T
            count, labels = connected_components(_matrix(start, goal, store.base.size), connection="strong")
            answer = labels, _matrix(labels[start], labels[goal], count)
            self._strong = version, answer
        return answer

    def _region_edges(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """Centre node of each region; the regions that each abstract edge leads from and to; its support."""
        grid = self.grid
        centres = np.empty(grid.num_regions, np.int32)
        edges = np.empty((grid.num_abstract_edges, 2), np.int32)
        supports = np.empty(len(edges), np.int64)
        _search_kernels.list_regions(grid._store, centres, edges, supports)
        return centres, edges, supports

    # --- queries ---------------------------------------------------------------------------------------------------

    def path(
        self,
        first: int,
        last: int,
        *,
        exact: bool,
        smooth: bool,
        trim: float = 0.0,
        budget: int | None = None,
        partial: bool = False,
    ) -> Path:
        """The path between two nodes."""
        limit = check_limits(exact, budget, partial)
        store = self.grid._store
        regions = store.owners[first >> 4], store.owners[last >> 4]
        labels = self.components()
        if labels[regions[0]] != labels[regions[1]] and not partial:
            return Path(Status.UNREACHABLE)
        if not exact:
            path = self._abstract(first, last, int(regions[0]), int(regions[1]), trim)
        else:
            path = searcher.one(
                self.space,
                self.cell_states,
                first,
                last,
                scale=1.0,
                points=self.cells_of,
                budget=limit,
                partial=partial,
                smoother=self.pull,
            )
        if len(path.nodes):
            path.points  # noqa: B018 - nodes lose their meaning with the next edit, so points are found now
        return self._pull(path) if smooth and len(path.points) > 2 else path

    def paths(
        self,
        first: NDArray[np.int32],
        last: NDArray[np.int32],
        *,
        exact: bool,
        smooth: bool,
        budget: int | None = None,
        partial: bool = False,
        workers: int | None,
    ) -> Paths:
        """The paths of many queries, in parallel."""
        check_limits(exact, budget, partial)
        answers: list[Path] = [Path(Status.UNREACHABLE)] * len(first)
        self.components()

        def work(begin: int, end: int) -> None:
            for query in range(begin, end):
                answers[query] = self.path(
                    int(first[query]), int(last[query]), exact=exact, smooth=smooth, budget=budget, partial=partial
                )

        run_chunks(work, len(first), workers=workers, chunk=16)
        lengths = [len(path.nodes) for path in answers]
        points = np.concatenate([np.empty((0, 3)), *(path.points for path in answers)])
        return Paths(
            np.array([path.status.value for path in answers], np.uint8),
            np.array([path.cost for path in answers]),
            np.array([path.expanded for path in answers], np.int64),
            offsets_of(lengths),
            np.concatenate([np.empty(0, np.int32), *(path.nodes for path in answers)]),
            points,
            self.pull,
        )

    def _abstract(self, first: int, last: int, region: int, goal_region: int, trim: float) -> Path:
        begin = time.perf_counter()
        route, abstract_settled = self.route(region, goal_region)
        if route is None:
            return Path(Status.UNREACHABLE, expanded=abstract_settled)
        routed = time.perf_counter()
        states = self.cell_states
        state, nodes, settled = self._refined(states, route, first, last, trim)
        states.give(state)
        points = self.cells_of(nodes)
        cost = _search_kernels.leg_costs(self.space, nodes, points, False)
        timings = {"abstract": routed - begin, "refine": time.perf_counter() - routed}
        return Path(Status.FOUND, points, nodes=nodes, cost=cost, expanded=settled, timings=timings, smoother=self.pull)

    def _refined(
        self, states: Workspaces, route: NDArray[np.int32], first: int, last: int, trim: float
    ) -> tuple[graph_kernels.SearchState, NDArray[np.int32], int]:
        """The state after a route has been refined (to be given back), the cells of the path, and settled cells."""
        room = 64 * len(route) + 512
        state = states.take()
        while True:
            trail = np.empty(room, np.int32)
            status, count, settled = _search_kernels.refine(
                self.space, state, route, first, last, _AHEAD, _SCALE, trim, trail
            )
            if status == _search_kernels.DONE:
                return state, trail[:count].copy(), settled
            if status == _search_kernels.TRAIL_FULL:
                room *= 4
            else:
                state = states.larger(state)

    def settled(self, first: int, last: int, *, exact: bool) -> NDArray[np.int64]:
        """The nodes that the search for a path between two nodes settles, for pictures."""
        if exact:
            return searcher.settled_nodes(self.space, self.cell_states, first, last, 1.0)
        owners = self.grid._store.owners
        route, _ = self.route(int(owners[first >> 4]), int(owners[last >> 4]))
        if route is None:
            return np.empty(0, np.int64)
        # A state of its own: the stamps of all its small searches are above its clock of 0.
        state, *_ = self._refined(Workspaces(self.grid._store.cells.size), route, first, last, 0.0)
        return np.flatnonzero((state.stamp > 0) & (state.place < 0))

    def costs_to(self, goal: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Cost of the cheapest way from every node to one, and the next node on it; no one-way edges and links."""
        return searcher.tree_from(_search_kernels.BackSpace(self.space), self.cell_states, goal)

    def route(self, region: int, goal_region: int) -> tuple[NDArray[np.int32] | None, int]:
        """Regions from one to another by A* over the abstract graph, None where there is no way; regions settled."""
        states = self.region_states
        space = self.region_space
        state, _, end, settled = searcher.run(
            states,
            lambda state: graph_kernels.search(
                space,
                state,
                region,
                goal_region,
                1.0,
                graph_kernels.UNLIMITED,
                searcher.NO_NODES,
                searcher.NO_BUDGET,
                False,
            ),
        )
        route = searcher.trail(state, end) if end >= 0 else None
        states.give(state)
        return route, settled

    def pull(self, path: Path) -> Path:
        """A path pulled straight where that leads over no cell under an area effect; as it is if edits broke it.

        For users, who call it at any time; what runs inside a query calls `_pull`.
        """
        with self.grid._lock.reading():
            return self._pull(path)

    def _pull(self, path: Path) -> Path:
        begin = time.perf_counter()
        cells = path.points.astype(np.int64)
        nodes = self.grid._nodes(cells)  # those of the path lose their meaning with an edit
        if nodes.min(initial=0) < 0:
            return path
        corners = np.empty(len(cells), np.int32)
        space = _search_kernels.ClearSpace(self.space)
        flat = np.ascontiguousarray(cells[:, :2], dtype=np.int32)
        kept = corners[: _dense_kernels.pull_straight(space, nodes, flat, corners)]
        nodes, points = nodes[kept], cells[kept]
        cost = _search_kernels.leg_costs(self.space, nodes, points, True)
        if not np.isfinite(cost):
            return path
        timings = {**path.timings, "smooth": time.perf_counter() - begin}
        return Path(path.status, points, nodes=nodes, cost=cost, expanded=path.expanded, timings=timings)

    def replan(self, path: Path, *, exact: bool, smooth: bool) -> Path:
        """The path with whatever no longer holds planned anew."""
        cells = path.points.astype(np.int64)
        nodes = self.grid._nodes(cells)
        for node, cell, name in ((nodes[0], cells[0], "start"), (nodes[-1], cells[-1], "goal")):
            if node < 0:
                raise OffMapError(f"the {name} of the path, {tuple(cell.tolist())}, is not a cell of the grid any more")
        space = self.space
        pulled = not path.has_smoother  # a leg of it may be a walk, even where there is a link as well
        ahead, behind = _search_kernels.holding(space, nodes, cells)
        if ahead == len(nodes) - 1:
            cost = _search_kernels.leg_costs(space, nodes, cells, pulled)
            return Path(Status.FOUND, cells, nodes=nodes, cost=cost, smoother=self.pull)
        left, right = ahead, len(nodes) - 1 - behind
        middle = self.path(int(nodes[left]), int(nodes[right]), exact=exact, smooth=smooth)
        if not middle:  # where edges are one-way another way may lead round
            return self.path(int(nodes[0]), int(nodes[-1]), exact=exact, smooth=smooth)
        nodes = np.concatenate([nodes[:left], middle.nodes, nodes[right + 1 :]])
        points = np.concatenate([cells[:left], middle.points.astype(np.int64), cells[right + 1 :]])
        cost = _search_kernels.leg_costs(space, nodes, points, smooth or pulled)
        return Path(
            Status.FOUND,
            points,
            nodes=nodes,
            cost=cost,
            expanded=middle.expanded,
            timings=middle.timings,
            smoother=self.pull,
        )

    def region_table(self) -> RegionTable:
        """All regions, numbered without gaps."""
        store = self.grid._store
        alive = np.flatnonzero(store.kind != layout.FREE_KIND)
        number = np.full(store.base.size, -1, np.int32)
        number[alive] = np.arange(alive.size, dtype=np.int32)
        nodes = self.all_nodes()
        centres, edges, supports = self._region_edges()
        return RegionTable(
            cells=self.cells_of(nodes),
            region=number[store.owners[nodes >> 4]],
            bits=(store.cells[nodes] & 255).astype(np.uint8),
            centres=self.cells_of(centres),
            bases=store.base[alive].astype(np.int64),
            free=store.free[alive].astype(np.int64) + 1,
            effects=((store.edges[alive] & 7).astype(np.int64) << 8) | (store.grid[alive] & 255),
            edges=number[edges],
            supports=supports,
        )


def _are_cells(cell: Any) -> bool:
    """Whether this is a cell as planners have them, of which nothing has to be checked."""
    return (
        type(cell) is np.ndarray
        and cell.dtype == np.int64
        and cell.shape == (3,)
        and max(map(abs, cell.tolist())) < 2**31
    )
