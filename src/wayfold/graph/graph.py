"""`Graph`: nodes in space and edges between them, in flat arrays, with every search of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import check_motions
from wayfold.core import checks
from wayfold.core.arrays import distinct, offsets_of
from wayfold.core.bounded_cache import BoundedCache
from wayfold.core.schema import Parts, Savable
from wayfold.errors import MissingDependencyError, ParameterError
from wayfold.graph import build, files, search_kernels, searcher
from wayfold.graph.searcher import Workspaces
from wayfold.graph.tree import Tree
from wayfold.path import Path, Paths, Status

if TYPE_CHECKING:
    from scipy.spatial import cKDTree


_ALGORITHMS = ("astar", "dijkstra", "bidirectional")
_EVERY_MOTION = 255
_NO_COSTS = np.empty(0, np.float32)
_NO_BYTES = np.empty(0, np.uint8)
_NO_LABELS = np.empty(0, np.uint16)


@checks.checked
class Graph(Savable):
    """Nodes in space joined by edges, in compressed rows.

    Build one with `from_edges`, `from_networkx` or `from_scipy`. It takes 24 bytes a node for the points, 8 for the
    row, and for each direction of an edge 4 bytes, 4 more with costs and 1 more with motions. The arrays must not be
    changed afterwards. Any number of threads may query a graph at once.

    Attributes
    ----------
    points : (n, 3) float64 array
        Node positions as they were given, within 1e12 m of 0, wherever on Earth they lie; the heuristic of A* is the
        straight distance between them.
    offsets : (n + 1,) int64 array
        Row bounds: the edges of node i are ``offsets[i]`` to ``offsets[i + 1] - 1``.
    targets : (m,) int32 array
        Node that each edge leads to, ascending within a row. Undirected edges stand in both rows.
    costs : (m,) float32 array or None
        Cost of each edge, from 0 to 1e28, infinite where it is blocked; None for the Euclidean length.
    motions : (m,) uint8 array or None
        `Motion` bits of each edge; None where every character may use every edge.
    directed : bool
        Whether edges are one-way.
    scale : float
        What a metre of straight distance costs at the least: the factor on the heuristic of A*.
    workspaces : Workspaces
        Scratch memory that searches borrow.

    Examples
    --------
    >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4)], [(0, 1), (1, 2)])
    >>> roads
    <Graph: 3 nodes, 2 edges, 0.0 MB>
    >>> roads.path(0, 2).cost, roads.nearest((3, 3))
    (7.0, 2)
    >>> roads.targets[roads.offsets[1] : roads.offsets[2]].tolist()  # the neighbours of node 1
    [0, 2]
    """

    def __init__(
        self,
        points: NDArray[np.float64] | NDArray[np.float32],
        offsets: NDArray[np.int64],
        targets: NDArray[np.int32],
        costs: NDArray[np.float32] | None = None,
        motions: NDArray[np.uint8] | None = None,
        *,
        directed: bool = False,
    ) -> None:
        where = checks.floats(points, "points", "an (n, 3) array of numbers")
        build.check_rows(where, offsets, targets, costs, motions)
        self.points = where
        self.offsets = offsets
        self.targets = targets
        self.costs = costs
        self.motions = motions
        self.directed = directed
        self.scale = 1.0 if costs is None else build.cost_scale(offsets, targets, costs, where)
        self.workspaces = Workspaces(len(where))
        self._spaces: dict[int, search_kernels.GraphSpace] = {}
        self._components = BoundedCache(most=8)  # for each set of motions
        self._reverse: Graph | None = None
        self._tree: cKDTree | None = None

    @classmethod
    def from_edges(
        cls,
        points: ArrayLike,
        edges: ArrayLike,
        *,
        costs: ArrayLike | None = None,
        motions: ArrayLike | None = None,
        directed: bool = False,
    ) -> Graph:
        """Build a graph from a list of edges.

        Parameters
        ----------
        points : (n, 2) or (n, 3) array_like, metres
            Node positions, within 1e12 of 0; at least one.
        edges : (m, 2) array_like of int
            Node pairs, 0 to n - 1. Parallel edges and self-loops are kept.
        costs : (m,) array_like, 0 to 1e28, optional
            Infinity for blocked edges; the Euclidean length by default. Kept as float32.
        motions : (m,) array_like of Motion bits, 1 to 7, optional
            Which motions an edge is for; every motion by default.
        directed : bool
            Whether an edge leads only from its first node to its second.

        Notes
        -----
        Edges are read in blocks, so that beside the input and the finished arrays only 8 bytes a node are needed.
        The result does not depend on the order of the edges.

        Examples
        --------
        >>> from wayfold import Motion
        >>> Graph.from_edges([(0, 0), (3, 4)], [(0, 1)]).path(0, 1).cost  # metres
        5.0
        >>> wall = Graph.from_edges([(0, 0), (0, 4)], [(0, 1)], costs=[12.0], motions=[Motion.ADHESIVE], directed=True)
        >>> wall.path(0, 1, motions=Motion.ADHESIVE).cost, wall.path(0, 1, motions=Motion.SURFACE).found
        (12.0, False)
        """
        where = build.check_points(points)
        rows = build.rows_from_edges(len(where), edges, costs, motions, directed)
        return cls(where, *rows, directed=directed)

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.points)

    @property
    def num_edges(self) -> int:
        """Number of edges as they were given: an undirected edge counts once."""
        return self.targets.size if self.directed else self.targets.size // 2

    @property
    def nbytes(self) -> int:
        """Bytes of the stored graph, without search workspaces and caches."""
        given = (self.points, self.offsets, self.targets, self.costs, self.motions)
        return sum(array.nbytes for array in given if array is not None)

    def memory(self) -> dict[str, int]:
        """Return the bytes of the graph by what they are for.

        `total` is `nbytes`; `workspaces`, which it does not count, is scratch that earlier queries left for reuse.

        >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4), (9, 9)], [(0, 1), (1, 2)])
        >>> memory = roads.memory()
        >>> memory["points"], memory["targets"], memory["total"] == roads.nbytes
        (96, 16, True)
        """
        return {
            "points": self.points.nbytes,
            "offsets": self.offsets.nbytes,
            "targets": self.targets.nbytes,
            "costs": 0 if self.costs is None else self.costs.nbytes,
            "motions": 0 if self.motions is None else self.motions.nbytes,
            "total": self.nbytes,
            "workspaces": self.workspaces.nbytes,
        }

    @property
    def search_bytes(self) -> int:
        """Bytes of scratch memory that one search at a time takes."""
        return self.workspaces.search_bytes

    def __repr__(self) -> str:
        kind = "directed " if self.directed else ""
        return f"<Graph: {self.num_nodes} nodes, {self.num_edges} {kind}edges, {self.nbytes / 1e6:.1f} MB>"

    # --- queries ---------------------------------------------------------------------------------------------

    @checks.renamed(start_node="start", goal_node="goal")
    def path(
        self,
        start: int,
        goal: int,
        *,
        motions: int | None = None,
        algorithm: str = "astar",
        labels: NDArray[Any] | None = None,
        allowed: ArrayLike | None = None,
        budget: int | None = None,
        partial: bool = False,
    ) -> Path:
        """Find the cheapest path between two nodes.

        Parameters
        ----------
        start, goal : int, 0 to n - 1
        motions : Motion bits, optional
            Edges that share no bit with them are not used; every edge by default.
        algorithm : "astar", "dijkstra" or "bidirectional"
            All three give the same cost. A* is fastest where straight distance says something about the cost.
        labels : (n,) uint16 or int32 array, optional
            A label for each node; with `allowed` it is the filter of the subregion paper's filtered A*.
        allowed : array_like of labels, or of bool by label, optional
            Only nodes with an allowed label are entered; the start always is.
        budget : int, >= 1, optional
            Settle at most this many nodes. When it runs out the status is BUDGET_EXHAUSTED, or PARTIAL.
        partial : bool
            If the goal is out of reach, return the path to the settled node nearest to it, with status PARTIAL. Not
            with "bidirectional".

        Returns
        -------
        Path
            With `nodes`; status UNREACHABLE when there is none. Between different components that takes no search,
            unless a partial path is wanted.

        Examples
        --------
        >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4), (9, 9)], [(0, 1), (1, 2)])
        >>> roads.path(0, 2).nodes.tolist()
        [0, 1, 2]
        >>> roads.path(0, 3).status.name, roads.path(0, 3, partial=True).nodes.tolist()
        ('UNREACHABLE', [0, 1, 2])
        """
        first, last = self._node(start, "start"), self._node(goal, "goal")
        checks.choice(algorithm, "algorithm", _ALGORITHMS)
        usable = _EVERY_MOTION if motions is None else int(check_motions(motions))
        limit = searcher.check_budget(budget)
        if not partial:
            component = self.components(motions)
            if component[first] != component[last]:
                return Path(Status.UNREACHABLE)
        space = self._space(usable, labels, allowed)
        if space.labels.size and first != last and not space.allowed[space.labels[last]] and not partial:
            return Path(Status.UNREACHABLE)
        if algorithm == "bidirectional":
            if partial:
                raise ParameterError("a bidirectional search has no partial path: use astar or dijkstra")
            back = self.reversed()._space(usable)._replace(labels=space.labels, allowed=space.allowed)
            return searcher.both_ways(space, back, self.workspaces, first, last, points=self._points_of, budget=limit)
        scale = self.scale if algorithm == "astar" else 0.0
        return searcher.one(
            space, self.workspaces, first, last, scale=scale, points=self._points_of, budget=limit, partial=partial
        )

    def paths(
        self,
        starts: ArrayLike,
        goals: ArrayLike,
        *,
        motions: int | None = None,
        labels: NDArray[Any] | None = None,
        allowed: ArrayLike | None = None,
        budget: int | None = None,
        partial: bool = False,
        workers: int | None = None,
    ) -> Paths:
        """Find the cheapest paths of many queries by A*, in parallel; each is the one that `path` gives.

        Parameters
        ----------
        starts, goals : (q,) array_like of int
            Nodes; one of the two may be a single node that serves all queries.
        motions, labels, allowed, budget, partial
            As for `path`, for every query.
        workers : int, >= 1, optional
            Threads, all cores by default.

        Examples
        --------
        >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4), (9, 9)], [(0, 1), (1, 2)])
        >>> paths = roads.paths([0, 1, 3], 2)
        >>> paths.costs.tolist(), paths[0].nodes.tolist()
        ([7.0, 4.0, inf], [0, 1, 2])
        """
        first, last = checks.node_pairs(self._nodes(starts, "starts"), self._nodes(goals, "goals"))
        usable = _EVERY_MOTION if motions is None else int(check_motions(motions))
        limit = searcher.check_budget(budget)
        space = self._space(usable, labels, allowed)
        component = self.components(motions)
        possible = np.ones(first.size, np.bool_) if partial else component[first] == component[last]
        return searcher.many(
            space,
            self.workspaces,
            first,
            last,
            scale=self.scale,
            points=self._points_of,
            possible=possible,
            budget=limit,
            partial=partial,
            workers=workers,
        )

    def distances(
        self,
        source: int,
        targets: ArrayLike | None = None,
        *,
        motions: int | None = None,
        labels: NDArray[Any] | None = None,
        allowed: ArrayLike | None = None,
        limit: float | None = None,
        reverse: bool = False,
    ) -> NDArray[np.float64]:
        """Return the costs of the cheapest paths from one node to all nodes, or to some.

        Parameters
        ----------
        source : int, 0 to n - 1
        targets : (k,) array_like of int, optional
            The search stops when the last of these is settled. All nodes by default.
        motions, labels, allowed
            As for `path`.
        limit : float, >= 0, optional
            Nodes that cost more count as not reached, and the search does not go there.
        reverse : bool
            Costs towards `source` instead of away from it (they differ where edges are one-way).

        Returns
        -------
        (n,) or (k,) float64 array
            Infinity where there is no path.

        Examples
        --------
        >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4), (9, 9)], [(0, 1), (1, 2)])
        >>> roads.distances(0).tolist()
        [0.0, 3.0, 7.0, inf]
        >>> roads.distances(0, [2, 1]).tolist(), roads.distances(0, limit=5.0).tolist()
        ([7.0, 3.0], [0.0, 3.0, inf, inf])
        """
        node = self._node(source, "source")
        wanted = None if targets is None else np.atleast_1d(self._nodes(targets, "targets")).ravel()
        usable = _EVERY_MOTION if motions is None else int(check_motions(motions))
        unlimited = limit is None or checks.real(limit, "limit") == np.inf
        most = search_kernels.UNLIMITED if unlimited else checks.number(limit, "limit", low=0.0)
        space = (self.reversed() if reverse else self)._space(usable, labels, allowed)
        return searcher.costs_from(space, self.workspaces, node, wanted, most)

    def expanded(self, start: int, goal: int, *, motions: int | None = None) -> NDArray[np.int64]:
        """Return the nodes that A* settles on its way from one node to another, ascending, for pictures.

        Parameters are those of `path`.

        >>> Graph.from_edges([(0, 0), (1, 0), (2, 0)], [(0, 1), (1, 2)]).expanded(0, 1).tolist()
        [0, 1]
        """
        first, last = self._node(start, "start"), self._node(goal, "goal")
        return searcher.settled_nodes(self.search_space(motions), self.workspaces, first, last, self.scale)

    def tree(self, goal: int, *, motions: int | None = None) -> Tree:
        """Search once from a goal for the cheapest paths of all nodes to it, for a crowd that goes to one place.

        Parameters
        ----------
        goal : int, 0 to n - 1
        motions
            As for `path`.

        Examples
        --------
        >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4), (9, 9)], [(0, 1), (1, 2)])
        >>> home = roads.tree(0)
        >>> home.costs.tolist(), home.path(2).nodes.tolist()
        ([0.0, 3.0, 7.0, inf], [2, 1, 0])
        """
        usable = _EVERY_MOTION if motions is None else int(check_motions(motions))
        return Tree(self, self._node(goal, "goal"), usable)

    def components(self, motions: int | None = None) -> NDArray[np.int32]:
        """Return the connected component of each node for a set of motions, numbered from 0; computed once.

        In a directed graph one-way edges join components too: nodes of different components cannot reach each other,
        nodes of the same one may.

        >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4), (9, 9)], [(0, 1), (1, 2)])
        >>> roads.components().tolist()
        [0, 0, 0, 1]
        >>> int(np.bincount(roads.components()).argmax())  # the largest part
        0
        """
        # Without motions on the edges every set of motions sees the same graph.
        usable = _EVERY_MOTION if motions is None or self.motions is None else int(check_motions(motions))
        labels: NDArray[np.int32] = self._components.get(usable, lambda: self._label(usable))
        return labels

    def _label(self, usable: int) -> NDArray[np.int32]:
        labels = np.empty(self.num_nodes, np.int32)
        search_kernels.label_components(self._space(usable), labels)
        labels.setflags(write=False)
        return labels

    def forget_components(self) -> None:
        """Compute components anew when they are next asked for.

        For maps that edit the edges of their graph in place, by its `motions`. Queries that name no motions do not look
        at them.

        >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4)], [(0, 1), (1, 2)], motions=[1, 1])
        >>> roads.components(motions=1).tolist()
        [0, 0, 0]
        >>> roads.motions[2:] = 0  # close the edge between 1 and 2, in the rows of both
        >>> roads.forget_components()
        >>> roads.components(motions=1).tolist()
        [0, 0, 1]
        """
        self._components.clear()

    def with_costs(self, costs: NDArray[np.float32]) -> Graph:
        """The same nodes and edges with other costs; what joins nodes must stay the same.

        Everything but the costs is shared, also the components and whatever changes them in place.

        Parameters
        ----------
        costs : (m,) float32 array
            One for each of `targets`; infinite exactly where those of this graph are.

        Examples
        --------
        >>> road = Graph.from_edges([(0, 0), (1, 0)], [(0, 1)])
        >>> road.with_costs(np.array([3, 3], np.float32)).path(0, 1).cost
        3.0
        """
        other = Graph(self.points, self.offsets, self.targets, costs, self.motions, directed=self.directed)
        other._components = self._components
        return other

    def nearest(self, points: ArrayLike) -> Any:
        """Return the node nearest to each point.

        Parameters
        ----------
        points : (q, 3) or (q, 2) array_like, or one point

        Returns
        -------
        (q,) int64 array, or an int for one point

        Examples
        --------
        >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4), (9, 9)], [(0, 1), (1, 2)])
        >>> roads.nearest((2.5, 0.5)), roads.nearest([(0, 1), (8, 8)]).tolist()
        (1, [0, 3])
        """
        array = checks.floats(points, "points", "numbers of shape (q, 2) or (q, 3), or one point")
        single = array.ndim == 1 and array.size > 0
        where = checks.points3(array[None] if single else array)
        if self._tree is None:
            from scipy.spatial import cKDTree

            self._tree = cKDTree(self.points)
        _, nodes = self._tree.query(where, workers=1 if len(where) < 1000 else -1)
        return int(nodes[0]) if single else nodes

    def reversed(self) -> Graph:
        """Return the graph with every edge reversed; an undirected graph is its own reverse.

        >>> lane = Graph.from_edges([(0, 0), (3, 0)], [(0, 1)], directed=True)
        >>> lane.path(1, 0).found, lane.reversed().path(1, 0).found
        (False, True)
        """
        if not self.directed:
            return self
        if self._reverse is None:
            rows = build.turn_round(self.offsets, self.targets, self.costs, self.motions)
            self._reverse = Graph(self.points, *rows, directed=True)
        return self._reverse

    def search_space(
        self, motions: int | None = None, labels: NDArray[Any] | None = None, allowed: ArrayLike | None = None
    ) -> search_kernels.GraphSpace:
        """Return the graph as search kernels see it, for kernels of your own.

        Its arrays are those of the graph, not copies; `motions`, `labels` and `allowed` are those of `path`.

        >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4), (9, 9)], [(0, 1), (1, 2)])
        >>> space = roads.search_space(motions=1)
        >>> space.usable, space.offsets is roads.offsets
        (1, True)
        """
        return self._space(_EVERY_MOTION if motions is None else int(check_motions(motions)), labels, allowed)

    # --- other forms -----------------------------------------------------------------------------------------

    _SCHEMA = files.SCHEMA

    def _to_parts(self) -> Parts:
        return Parts(files.graph_arrays(self), {"directed": self.directed})

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        return files.graph_of(cls, parts)

    # --- inside ----------------------------------------------------------------------------------------------

    def _points_of(self, nodes: NDArray[np.int32]) -> NDArray[np.float64]:
        return self.points[nodes]

    def _node(self, node: int, name: str) -> int:
        return checks.node(node, name, len(self.points))

    def _nodes(self, nodes: ArrayLike, name: str) -> NDArray[np.int32]:
        return checks.nodes(nodes, name, self.num_nodes)

    def _space(
        self, usable: int, labels: NDArray[Any] | None = None, allowed: ArrayLike | None = None
    ) -> search_kernels.GraphSpace:
        if (labels is None) != (allowed is None):
            raise ParameterError("labels and allowed belong together: give both or neither")
        space = self._spaces.get(usable)
        if space is None:
            space = self._spaces[usable] = search_kernels.GraphSpace(
                offsets=self.offsets,
                targets=self.targets,
                costs=_NO_COSTS if self.costs is None else self.costs,
                # A character with every motion need not look at them.
                motions=_NO_BYTES if self.motions is None or usable == _EVERY_MOTION else self.motions,
                points=self.points,
                usable=usable,
                labels=_NO_LABELS,
                allowed=_NO_BYTES,
            )
        if labels is None or allowed is None:
            return space
        by_node, mask = build.label_filter(self.num_nodes, labels, allowed)
        return space._replace(labels=by_node, allowed=mask)

    # --- other libraries ---------------------------------------------------------------------------------------------

    @classmethod
    def from_networkx(cls, graph: Any, *, points: str = "pos", weight: str | None = "weight") -> Graph:
        """Build a graph from a networkx graph; nodes are numbered in networkx's order.

        Parameters
        ----------
        graph : networkx Graph, DiGraph, MultiGraph or MultiDiGraph
        points : str
            Node attribute with the position, (x, y) or (x, y, z). Nodes may all lack it: they then lie at the origin.
        weight : str or None
            Edge attribute with the cost; None, or no edge that has it, for the Euclidean length.

        Examples
        --------
        >>> import networkx as nx
        >>> streets = nx.Graph()
        >>> streets.add_node("station", pos=(0, 0))
        >>> streets.add_node("market", pos=(300, 400))
        >>> streets.add_edge("station", "market")
        >>> Graph.from_networkx(streets).path(0, 1).cost
        500.0
        """
        networkx = _networkx()
        if not isinstance(graph, networkx.Graph):
            raise ParameterError(f"graph must be a graph of networkx, not {checks.shown(graph)}")
        number = {node: index for index, node in enumerate(graph.nodes)}
        positions = [data.get(points) for _, data in graph.nodes(data=True)]
        missing = sum(position is None for position in positions)
        if missing and missing != len(positions):
            name = list(graph.nodes)[[position is None for position in positions].index(True)]
            raise ParameterError(f"node {checks.shown(name)} has no attribute {checks.shown(points)}, but others have")
        where: ArrayLike = np.zeros((len(number), 3)) if missing else positions  # type: ignore[assignment]
        edges = np.array([(number[a], number[b]) for a, b in graph.edges()], np.int64).reshape(-1, 2)
        costs = None
        if weight is not None:
            found = [data.get(weight) for _, _, data in graph.edges(data=True)]
            lacking = sum(cost is None for cost in found)
            if lacking and lacking != len(found):
                raise ParameterError(f"{lacking} of {len(found)} edges have no attribute {checks.shown(weight)}")
            costs = None if lacking == len(found) else checks.floats(found, f"the {checks.shown(weight)} of the edges")
        return cls.from_edges(where, edges, costs=costs, directed=graph.is_directed())

    def to_networkx(self) -> Any:
        """Return a networkx Graph or DiGraph (MultiGraph where edges are parallel) with `pos` and `weight` attributes.

        >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4)], [(0, 1), (1, 2)])
        >>> streets = roads.to_networkx()
        >>> list(streets.edges(data="weight")), streets.nodes[2]["pos"]
        ([(0, 1, 3.0), (1, 2, 4.0)], (3.0, 4.0, 0.0))
        """
        networkx = _networkx()
        pairs, slots = edge_list(self)
        parallel = len(distinct(pairs).rows) != len(pairs)
        kinds = {
            (False, False): networkx.Graph,
            (True, False): networkx.DiGraph,
            (False, True): networkx.MultiGraph,
            (True, True): networkx.MultiDiGraph,
        }
        result = kinds[self.directed, parallel]()
        result.add_nodes_from((node, {"pos": tuple(point)}) for node, point in enumerate(self.points.tolist()))
        costs = edge_costs(self)[slots]
        ends = pairs.tolist()
        result.add_weighted_edges_from((a, b, cost) for (a, b), cost in zip(ends, costs.tolist(), strict=True))
        return result

    @classmethod
    def from_scipy(cls, matrix: Any, points: ArrayLike | None = None, *, directed: bool | None = None) -> Graph:
        """Build a graph from a sparse matrix of costs.

        Parameters
        ----------
        matrix : (n, n) scipy.sparse array
            Every stored entry is the cost of an edge from row to column: a stored zero is an edge that costs nothing,
            an infinite one is blocked, and entries that are stored twice are parallel edges.
        points : (n, 2) or (n, 3) array_like, optional
            Positions; without them all nodes lie at the origin and A* has no heuristic.
        directed : bool, optional
            By default a symmetric matrix (every stored entry has its like on the other side of the diagonal) gives an
            undirected graph, any other a directed one.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> costs = csr_array([[0, 5, 0], [5, 0, 2], [0, 2, 0]])
        >>> Graph.from_scipy(costs).path(0, 2).cost
        7.0
        >>> Graph.from_scipy(csr_array([[0, 5], [0, 0]])).directed
        True
        """
        import scipy.sparse

        try:
            rows = scipy.sparse.coo_array(matrix)
        except Exception:  # of whatever kind scipy finds wrong with it
            raise ParameterError(f"matrix must be a sparse matrix of numbers, not {checks.shown(matrix)}") from None
        if rows.ndim != 2 or rows.shape[0] != rows.shape[1] or rows.shape[0] == 0:
            raise ParameterError(f"a graph needs a square matrix of at least one node, not {rows.shape}")
        first, second = (np.asarray(line, np.int64) for line in rows.coords)
        values = checks.floats(rows.data, "the entries of the matrix")
        # Stored entries are compared, not values: what is not stored and a stored zero are both 0 to scipy.
        there, back = np.lexsort((values, second, first)), np.lexsort((values, first, second))
        alike = ((first, second), (second, first), (values, values))
        symmetric = all(np.array_equal(one[there], other[back]) for one, other in alike)
        if directed is None:
            directed = not symmetric
        if not directed and not symmetric:
            raise ParameterError("an undirected graph needs a symmetric matrix: costs differ by direction")
        edges = np.column_stack([first, second])
        if not directed:
            once = first <= second
            edges, values = edges[once], values[once]
        where = np.zeros((rows.shape[0], 3)) if points is None else points
        return cls.from_edges(where, edges, costs=values, directed=directed)

    def to_scipy(self) -> Any:
        """Return the costs as an (n, n) float64 csr_array; parallel edges stay separate entries until scipy sums them.

        An undirected edge is stored in both directions, a loop once.

        >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4)], [(0, 1), (1, 2)])
        >>> roads.to_scipy().toarray().tolist()
        [[0.0, 3.0, 0.0], [3.0, 0.0, 4.0], [0.0, 4.0, 0.0]]
        """
        import scipy.sparse

        shape = (self.num_nodes, self.num_nodes)
        pairs, slots = edge_list(self, both=True)
        offsets = offsets_of(np.bincount(pairs[:, 0], minlength=self.num_nodes))
        return scipy.sparse.csr_array((edge_costs(self)[slots], pairs[:, 1], offsets), shape=shape)


def edge_list(graph: Graph, *, both: bool = False) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(m, 2) node pairs of the edges and the slot that each came from; undirected ones in `both` directions or once.

    A loop counts once, though it stands twice in its row, and a spare slot of an editable graph does not count.
    """
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    used = np.ones(graph.targets.size, np.bool_) if graph.motions is None else graph.motions > 0
    if graph.directed:
        kept = used
    else:
        kept = used & ((sources != graph.targets) if both else (sources < graph.targets))
        kept[np.flatnonzero(used & (sources == graph.targets))[::2]] = True
    slots = np.flatnonzero(kept)
    return np.column_stack([sources[slots], graph.targets[slots]]), slots


def edge_costs(graph: Graph) -> NDArray[np.float64]:
    """Cost of every slot, Euclidean where the graph stores none."""
    if graph.costs is not None:
        return graph.costs.astype(np.float64)
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    steps = graph.points[sources] - graph.points[graph.targets]
    return np.asarray(np.sqrt((steps * steps).sum(axis=1)))


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise MissingDependencyError("networkx is not installed: pip install networkx") from None
    return networkx
