"""`Hierarchy`: shortest paths over any graph through levels of parts, many times faster than A*.

Fuentes 2015 (sections III.B and III.C) merges nodes into parts, and parts into larger parts, and searches one level.
`exact` says what a path is throughout this package. Exact, it is a shortest path: all crossings between parts are
portals, a query uses high levels far from its goal and low ones near it, and distances from landmarks lead the search.
Otherwise it is the paper's: one level is searched, over the portals that the paper chooses, and the path is a little
longer than the shortest.
"""

from __future__ import annotations

import math
import threading
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import check_motions
from wayfold.core import batches, checks
from wayfold.core.interrupts import interruptible
from wayfold.core.locks import ReadersWriter, reads, writes
from wayfold.core.progress import Progress
from wayfold.core.schema import Array, Parts, Savable, Schema, Value
from wayfold.errors import ParameterError
from wayfold.graph import Graph, files
from wayfold.graph.graph import edge_costs
from wayfold.graph.searcher import Points
from wayfold.hierarchy import _customise_kernels, partition
from wayfold.hierarchy.levels import HierarchyLevel, Levels, base_slots
from wayfold.hierarchy.partition import Partition
from wayfold.hierarchy.query import Queries
from wayfold.path import Path, Paths, Status

MOST_MERGED = 1 << 15
MOST_LEVELS = 16
# Parts below this size save less than what linking the start and the goal to their portals costs; larger ones make
# updates slower.
SMALLEST_PART = 32
# `merge="auto"` leads from the smallest parts to about so many parts on the highest level.
_AUTO_PARTS = 16
_SAMPLES = 12
# Arcs that plain A* looks at in the time that the phases of a query take before they look at any.
_OVERHEAD = 2000
# A path this short is found before the start is linked: so many nodes are tried by plain A* where the goal is near.
_NEAR_NODES = 192
_ROUNDING = 8.0 * float(np.finfo(np.float32).eps)  # of a cost that was computed in both directions


def parts_nest(parts: Parts) -> None:
    """`order` is a permutation of the nodes; the parts of a level are ranges of it and hold whole parts of the last."""
    order = parts.arrays["order"]
    seen = np.zeros(order.size, np.bool_)
    seen[order] = True
    if not seen.all():
        raise ValueError("the order of the nodes is not a permutation of them")
    levels = parts.meta["parts"]
    if {name for name in parts.arrays if name.startswith("starts/")} != {f"starts/{k + 1}" for k in range(levels)}:
        raise ValueError(f"there must be starts of {levels} levels")
    below: NDArray[Any] = np.arange(order.size + 1)
    for level in range(levels):
        starts = parts.arrays[f"starts/{level + 1}"]
        rising = starts.size >= 2 and starts[0] == 0 and starts[-1] == order.size and (np.diff(starts) > 0).all()
        if not rising or not np.isin(starts, below).all():
            raise ValueError("the parts of a level are not ranges that hold whole parts of the level below")
        below = starts


SCHEMA = Schema(
    "hierarchy",
    {
        **files.ARRAYS,
        "order": Array("int32", ("nodes",), "the node at each place", refers="nodes"),
        "starts/*": Array("int32", (".parts",), "first place of each part of a level, and the number of nodes"),
    },
    {
        "directed": files.DIRECTED,
        "merge": Value((int, str), "nodes that one of the next level stands for", 2, MOST_MERGED, among=("auto",)),
        "levels": Value(int, "most levels", 1, MOST_LEVELS),
        "parts": Value(int, "levels that there are", 0, MOST_LEVELS),
        "seed": Value(int, "seed of the partition", 0, 2**31 - 1),
        "exact": Value(bool, "whether paths are shortest ones by default"),
        "top": Value(int, "highest level that queries use", 0, MOST_LEVELS),
        "near": Value(float, "metres below which plain A* is tried first", 0.0, 8 * checks.LARGEST),
    },
    {"nodes": 1},
    (files.rows_fit, parts_nest),
)


@checks.checked
class Hierarchy(Savable):
    """Levels of parts over a graph; build one with `build`.

    Any number of threads may ask for paths, also while another one changes costs: a query sees those before a change or
    those after it.

    Attributes
    ----------
    levels : list of HierarchyLevel
        What each level holds; ``levels[0]`` is the graph.
    graph : Graph
        The graph with its present costs.
    merge : int or "auto"
        Nodes that one node of the next level stands for.
    exact : bool
        What it was built for: shortest paths, or the paper's. See `build`.

    Examples
    --------
    >>> graph = Graph.from_edges([(x, 0) for x in range(100)], [(x, x + 1) for x in range(99)])
    >>> hierarchy = Hierarchy.build(graph, merge=2, levels=2)
    >>> hierarchy.path(3, 90).cost
    87.0
    """

    _OWN = (("_making", threading.Lock), ("_changing", threading.Lock))

    def __init__(
        self, graph: Graph, merge: int | Literal["auto"], levels: int, seed: int, exact: bool, parts: Partition | None
    ) -> None:
        """Not for users: see `build`. `parts` is the partition of the exact levels, or of the paper's."""
        if parts is not None and parts.order.size != graph.num_nodes:
            raise ParameterError(f"parts divides {parts.order.size} nodes, and the graph has {graph.num_nodes}")
        self.merge = merge
        self.exact = exact
        self._most_levels = levels
        self._seed = seed
        self._topology = graph
        self._graph: Graph | None = graph
        self._components = graph.components()
        self._may_have_split = False
        self._queries: dict[bool, Queries] = {}
        self._making = threading.Lock()  # of what is made on first use
        self._changing = threading.Lock()  # of changes that are prepared beside queries
        self._lock = ReadersWriter()
        self._default_top = {True: 0, False: 0}  # by whether paths are exact
        self._near = 0.0
        if parts is not None:
            self._queries[exact] = self._over(parts, exact)

    @classmethod
    @interruptible
    def build(
        cls,
        graph_or_navmesh: Any,
        *,
        merge: int | Literal["auto"] = 8,
        levels: int = 4,
        seed: int = 0,
        exact: bool = True,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> Hierarchy:
        """Build the levels of a graph.

        Parameters
        ----------
        graph_or_navmesh : Graph, or a map with a `graph`
        merge : int, 2 to 32768, or "auto"
            Nodes that one node of the next level stands for (the paper's `numMergedNodes`). Exact levels begin with
            parts of 32 nodes, or `merge` if that is more. "auto" takes what leads from there to 16 parts on the highest
            level, at least 4 and at most 14.
        levels : int, 1 to 16
            Maximum number of levels.
        seed : int, >= 0
            Seed of the partition; the same seed gives the same levels.
        exact : bool
            Build the levels that give shortest paths; otherwise the paper's own (its algorithms 1 and 2), which are
            searched one at a time and give paths that are a little longer. It is also the default of `path`.
        workers : int, >= 1, optional
            Threads, all cores by default. The result does not depend on it.
        progress : callable, optional
            Called as ``progress(what, done, total)``.

        Examples
        --------
        >>> ring = Graph.from_edges([(0, 0)] * 100, [(k, (k + 1) % 100) for k in range(100)], costs=[1.0] * 100)
        >>> hierarchy = Hierarchy.build(ring, merge=2, levels=2)
        >>> hierarchy
        <Hierarchy: levels of 100, 3 nodes, 0.0 MB>
        >>> hierarchy.path(95, 20).cost
        25.0
        """
        graph = graph_of(graph_or_navmesh)
        if not (isinstance(merge, str) and merge == "auto"):
            merge = checks.whole(merge, "merge", low=2, high=MOST_MERGED)
        levels = checks.whole(levels, "levels", low=1, high=MOST_LEVELS)
        seed = checks.whole(seed, "seed", low=0, high=2**31 - 1)
        hierarchy = cls(graph, merge, levels, seed, bool(exact), None)
        hierarchy._queries[hierarchy.exact] = hierarchy._make(hierarchy.exact, workers, progress)
        hierarchy._choose_level(hierarchy.exact)
        return hierarchy

    # --- what it holds ---------------------------------------------------------------------------------------------

    @property
    @reads
    def levels(self) -> list[HierarchyLevel]:
        """What each level holds (the paper's figures 18 and 23), the graph as level 0 first."""
        return self._queries[self.exact].levels.describe(self._topology.num_nodes, self._topology.num_edges)

    @property
    def num_levels(self) -> int:
        """Number of levels above the graph."""
        return self.partition.levels

    @property
    def top_level(self) -> int:
        """Highest level that queries use unless told otherwise; 0 where plain A* does as well."""
        return self._default_top[self.exact]

    @property
    def partition(self) -> Partition:
        """The nested parts."""
        return self._queries[self.exact].levels.partition

    @property
    @reads
    def graph(self) -> Graph:
        """The graph with its present costs."""
        return self._graph_now()

    def _graph_now(self) -> Graph:
        """The graph, without the lock: threads of a batch that the caller has locked must not wait for it."""
        graph = self._graph
        if graph is None:
            with self._making:
                graph = self._graph
                if graph is None:
                    graph = self._graph = self._present_graph()
        return graph

    @reads
    def portals(self, level: int) -> NDArray[np.int32]:
        """Return the portals of a level: the ends of edges between its parts, where paths enter and leave them.

        Parameters
        ----------
        level : int, 1 to `num_levels`
            A portal of a level is one of every level below it, too.

        Returns
        -------
        (k,) int32 array
            Nodes of the graph, part by part.

        Examples
        --------
        >>> ring = Graph.from_edges([(0, 0)] * 100, [(k, (k + 1) % 100) for k in range(100)], costs=[1.0] * 100)
        >>> hierarchy = Hierarchy.build(ring, merge=2, levels=2)
        >>> parts, portals = hierarchy.levels[1].nodes, hierarchy.portals(1)
        >>> parts, len(portals)  # a part of a ring has two ends
        (3, 6)
        """
        number = checks.whole(level, "level", low=1, high=max(1, self.num_levels))
        overlay = self._queries[self.exact].levels.overlay
        nodes: NDArray[np.int32] = self.partition.order[overlay.places[overlay.heights >= number]]
        return nodes

    @property
    def nbytes(self) -> int:
        """Bytes of the levels, stored sub-paths included, without the graph that they were built from."""
        return sum(queries.levels.nbytes for queries in tuple(self._queries.values()))

    @reads
    def memory(self) -> dict[str, int]:
        """Return the bytes of the hierarchy by what they are for.

        `total` is `nbytes`; `workspaces`, which it does not count, is scratch that earlier queries left for reuse.

        >>> ring = Graph.from_edges([(0, 0)] * 100, [(k, (k + 1) % 100) for k in range(100)], costs=[1.0] * 100)
        >>> memory = Hierarchy.build(ring, merge=2, levels=2).memory()
        >>> list(memory), sum(list(memory.values())[:-2]) == memory["total"]
        (['level_0', 'level_1', 'numbering_and_landmarks', 'total', 'workspaces'], True)
        """
        result = {f"level_{level.number}": level.nbytes for level in self.levels}
        total = self.nbytes
        return {
            **result,
            "numbering_and_landmarks": total - sum(result.values()),
            "total": total,
            "workspaces": sum(queries.nbytes for queries in tuple(self._queries.values())),
        }

    def __repr__(self) -> str:
        counts = ", ".join(str(level.nodes) for level in self.levels)
        kind = "" if self.exact else "paper's "
        return f"<Hierarchy: {kind}levels of {counts} nodes, {self.nbytes / 1e6:.1f} MB>"

    # --- queries ---------------------------------------------------------------------------------------------------

    @reads
    def path(self, start: int, goal: int, *, level: int | None = None, exact: bool | None = None) -> Path:
        """Find the path between two nodes.

        Parameters
        ----------
        start, goal : int, 0 to n - 1
        level : int, >= 0, optional
            Highest level to use, the top one at most; 0 is plain A*. By default the best for the graph.
        exact : bool, optional
            Give a shortest path; otherwise the paper's, searched at one level. By default what the hierarchy was built
            for (`exact` of `build`); the levels of the other kind are made on first use.

        Returns
        -------
        Path
            With `nodes`, and `timings` of the paper's five phases (find, connect, search, subpaths, delete).

        Examples
        --------
        >>> ring = Graph.from_edges([(0, 0)] * 100, [(k, (k + 1) % 100) for k in range(100)], costs=[1.0] * 100)
        >>> hierarchy = Hierarchy.build(ring, merge=2, levels=2)
        >>> path = hierarchy.path(95, 20, level=1)
        >>> path.cost, path.nodes[:3].tolist(), list(path.timings)
        (25.0, [95, 96, 97], ['find', 'connect', 'search', 'subpaths', 'delete'])
        >>> hierarchy.path(95, 20, exact=False).cost
        25.0
        """
        if level is None and exact is None and self._default_top[self.exact] == 0:
            return self.graph.path(start, goal)
        first = node_number(self._topology, start, "start")
        last = node_number(self._topology, goal, "goal")
        if level is not None:
            level = checks.whole(level, "level", low=0)
        return self._path(first, last, level, self.exact if exact is None else bool(exact))

    def _path(self, first: int, last: int, level: int | None, exact: bool) -> Path:
        """The path between two nodes, without the lock."""
        if self._components[first] != self._components[last]:
            return Path(Status.UNREACHABLE)
        queries = self._over_levels(exact)
        top = queries.levels.partition.levels
        if level is None:
            level = self._default_top[exact]
        level = min(level, top)
        if level == 0:
            return self._graph_now().path(first, last)
        if exact:
            # After an update the graph is made again only where it is asked for, not to save some microseconds here.
            near = (
                self._near_path(first, last) if level == self._default_top[True] and self._graph is not None else None
            )
            path = near or queries.one(first, last, top=level, single=False, points=self._points_of)
        elif queries.levels.same_part(level, first, last):
            return self._graph_now().path(first, last)  # section III.C, phase 1
        else:
            path = queries.one(first, last, top=level, single=True, points=self._points_of)
            if not path:
                path = self._graph_now().path(first, last)  # one-way and closed edges can cut the chosen portals off
        if not path and self._may_have_split:
            self._refresh_components()
        return path

    @reads
    def expanded(self, start: int, goal: int) -> NDArray[np.int64]:
        """Return the nodes that `path` settles between two nodes, ascending, for pictures.

        Over levels these are portals.

        >>> ring = Graph.from_edges([(0, 0)] * 100, [(k, (k + 1) % 100) for k in range(100)], costs=[1.0] * 100)
        >>> hierarchy = Hierarchy.build(ring, merge=2, levels=2)
        >>> len(hierarchy.expanded(95, 20)), ring.num_nodes
        (50, 100)
        """
        first = node_number(self._topology, start, "start")
        last = node_number(self._topology, goal, "goal")
        queries = self._over_levels(self.exact)
        level = min(self._default_top[self.exact], queries.levels.partition.levels)
        found: list[NDArray[np.int32]] = []
        if self._components[first] == self._components[last]:
            near = level == 0 or (self.exact and self._graph is not None and self._near_path(first, last) is not None)
            if near or (not self.exact and queries.levels.same_part(level, first, last)):
                graph = self.graph
                return graph.expanded(first, last)
            single = not self.exact
            queries.one(first, last, top=level, single=single, points=self._points_of, settled_nodes=found)
        return np.unique(np.concatenate([np.empty(0, np.int64), *found]))

    settled = checks.moved("Hierarchy.settled", "expanded")

    @reads
    def paths(self, starts: ArrayLike, goals: ArrayLike, *, exact: bool = True, workers: int | None = None) -> Paths:
        """Find the paths of many queries, in parallel.

        Parameters
        ----------
        starts, goals : (q,) array_like of int
            Nodes; one of the two may be a single node that serves all queries. Queries that share a goal, or a start,
            share its link.
        exact : bool
            As for `path`, but shortest paths by default whatever the hierarchy was built for.
        workers : int, >= 1, optional
            Threads, all cores by default.

        Examples
        --------
        >>> ring = Graph.from_edges([(0, 0)] * 100, [(k, (k + 1) % 100) for k in range(100)], costs=[1.0] * 100)
        >>> paths = Hierarchy.build(ring, merge=2, levels=2).paths([10, 60, 99], 0)
        >>> paths.costs.tolist(), paths[2].nodes.tolist()
        ([10.0, 40.0, 1.0], [99, 0])
        """
        graph = self._topology
        first, last = checks.node_pairs(node_numbers(graph, starts, "starts"), node_numbers(graph, goals, "goals"))
        if not exact:
            found: list[Any] = [None] * len(first)

            def work(begin: int, end: int) -> None:
                for query in range(begin, end):
                    found[query] = self._path(int(first[query]), int(last[query]), None, False)

            self._over_levels(False)
            batches.run_chunks(work, len(first), workers=workers, chunk=16)
            return Paths.of(found)
        if self._default_top[True] == 0 or not self.exact:
            return self.graph.paths(first, last, workers=workers)
        possible = self._components[first] == self._components[last]
        return self._queries[True].many(first, last, possible=possible, points=self._points_of, workers=workers)

    # --- costs that change -----------------------------------------------------------------------------------------

    def update(self, edges: ArrayLike, costs: ArrayLike) -> None:
        """Change the costs of some edges; only the parts that hold them are computed again, from the bottom up.

        Queries afterwards answer as those of a hierarchy that is built anew with these costs. To stay quick, large
        parts are set aside and passed at a lower level, and landmarks stay as they are: queries are exact but slower
        near the change until `refresh` is called, when there is time for it.

        Parameters
        ----------
        edges : (k, 2) array_like of int
            Node pairs that edges join; of parallel edges all are changed, in an undirected graph both directions.
            Where a pair has no edge a `ParameterError` is raised and nothing is changed.
        costs : (k,) array_like, 0 to 1e28, or one number
            New costs; infinity closes an edge. Kept as float32.

        Examples
        --------
        >>> ring = Graph.from_edges([(0, 0)] * 100, [(k, (k + 1) % 100) for k in range(100)], costs=[1.0] * 100)
        >>> hierarchy = Hierarchy.build(ring, merge=2, levels=2)
        >>> hierarchy.update([(4, 5)], np.inf)  # close an edge
        >>> hierarchy.path(0, 10).cost
        90.0
        >>> hierarchy.update([(4, 5), (0, 1)], [1.0, 7.0])
        >>> hierarchy.path(0, 10).cost
        16.0
        """
        graph = self._topology
        nodes, slots, prices = changed_slots(graph, edges, costs)
        if not slots.size:
            return
        with self._changing, self._lock.writing():
            opened = False
            for queries in self._queries.values():
                levels = queries.levels
                sources = levels.rank[nodes]
                arcs = levels.overlay.offsets[sources] + (slots - graph.offsets[nodes])
                before = levels.overlay.costs[arcs]
                opened |= bool((np.isinf(before) & np.isfinite(prices)).any())
                self._may_have_split |= bool((np.isfinite(before) & np.isinf(prices)).any())
                levels.update(sources, arcs, prices)
            self._graph = None
            if opened:
                self._refresh_components()

    def refresh(self) -> None:
        """Finish the work that updates have put off, so that queries are as fast as after building.

        Answers do not change, and queries of other threads go on meanwhile.

        >>> ring = Graph.from_edges([(0, 0)] * 100, [(k, (k + 1) % 100) for k in range(100)], costs=[1.0] * 100)
        >>> hierarchy = Hierarchy.build(ring, merge=2, levels=2)
        >>> for k in range(20, 30):
        ...     hierarchy.update([(k, k + 1)], 5.0)
        >>> hierarchy.refresh()  # when there is time
        >>> hierarchy.path(15, 35).cost
        60.0
        """
        with self._changing:
            fresh = {exact: queries.levels.copied() for exact, queries in dict(self._queries).items()}
            components = self._components
            for levels in fresh.values():
                levels.refresh()
                if levels.scale < levels.full_scale:
                    components = self.graph.components()
                    levels.place_landmarks(components)
            self._take(fresh, components, self._may_have_split and components is self._components)

    @writes
    def _take(self, levels: dict[bool, Levels], components: NDArray[np.int32], may_have_split: bool) -> None:
        """Exchange the levels for changed ones; those that a query has made meanwhile are made again when needed."""
        self._queries = {exact: self._queries[exact] for exact in levels}
        for exact, fresh in levels.items():
            self._queries[exact].levels = fresh
        self._components = components
        self._may_have_split = may_have_split

    @reads
    def changed(self, graph_or_navmesh: Any, kept: ArrayLike) -> Hierarchy:
        """Return the hierarchy of a graph that differs from this one's in places; this one stays as it is.

        The parts are carried over, and so is what was made for those that hold no change: a change costs what it
        touches, and a copy of the arrays. Paths are as short as those of a hierarchy that is built anew. After very
        many changes in one place searches there may take longer than in a new one.

        Parameters
        ----------
        graph_or_navmesh : Graph, or a map with a `graph`
            The changed graph.
        kept : (n,) array_like of int
            The old number of each node of the changed graph, -1 for a node that was not there before. All of them, in
            order, where only costs have changed.

        Examples
        --------
        >>> ring = Graph.from_edges([(0, 0)] * 100, [(k, (k + 1) % 100) for k in range(100)], costs=[1.0] * 100)
        >>> hierarchy = Hierarchy.build(ring, merge=2, levels=2)
        >>> shortcut = [(k, (k + 1) % 100) for k in range(100)] + [(0, 40)]
        >>> after = hierarchy.changed(Graph.from_edges([(0, 0)] * 100, shortcut, costs=[1.0] * 101), np.arange(100))
        >>> hierarchy.path(0, 42).cost, after.path(0, 42).cost
        (42.0, 3.0)
        """
        graph = graph_of(graph_or_navmesh)
        old = self._queries[self.exact].levels
        numbers = partition.check_kept(kept, graph.num_nodes, self._topology.num_nodes)
        result = Hierarchy(graph, self.merge, self._most_levels, self._seed, self.exact, None)
        carried = partition.carry_partition(old.partition, graph, numbers)
        parts = carried.partition
        if not self.exact or graph.directed != self._topology.directed:
            result._queries[self.exact] = result._over(parts, self.exact)
        else:
            levels = Levels(graph, parts)
            if levels.fits < parts.levels:  # too many changes for these parts
                return Hierarchy.build(graph, merge=self.merge, levels=self._most_levels, seed=self._seed)
            _, slots = base_slots(graph, parts)
            levels.carry_over(old, carried, edge_costs(graph)[slots].astype(np.float32), result._components)
            result._queries[True] = Queries(levels, max((int(np.diff(s).max()) for s in parts.starts[:1]), default=1))
        result._default_top[self.exact] = self._default_top[self.exact]
        result._near = self._near
        return result

    repaired = checks.moved("repaired", "changed")

    def customise(
        self, *, motions: int | str | None = None, costs: ArrayLike | None = None, workers: int | None = None
    ) -> None:
        """Change all costs on the same partition: for another character, other area costs, closed edges.

        Parameters
        ----------
        motions : Motion bits, optional
            Edges that share no bit with them are closed.
        costs : (m,) array_like, 0 to 1e28, optional
            One for each entry of ``graph.targets``, infinite where closed; those of the graph that the hierarchy was
            built from by default. The two directions of an undirected edge cost the same.
        workers : int, >= 1, optional
            Threads, all cores by default.

        Examples
        --------
        >>> ring = Graph.from_edges([(0, 0)] * 100, [(k, (k + 1) % 100) for k in range(100)], costs=[1.0] * 100)
        >>> hierarchy = Hierarchy.build(ring, merge=2, levels=2)
        >>> hierarchy.customise(costs=3.0 * ring.costs)  # the same roads for somebody slower
        >>> hierarchy.path(0, 10).cost
        30.0
        """
        graph = self._topology
        usable = None if motions is None else int(check_motions(motions))
        prices = edge_costs(graph).astype(np.float32) if costs is None else check_costs(costs, graph)
        if usable is not None and graph.motions is not None:
            prices = np.where(graph.motions & usable, prices, np.float32(np.inf))
        changed = Graph(graph.points, graph.offsets, graph.targets, prices, directed=graph.directed)
        components = changed.components()
        with self._changing:
            fresh = {exact: queries.levels.copied() for exact, queries in dict(self._queries).items()}
            for levels in fresh.values():
                _, slots = base_slots(graph, levels.partition)
                levels.customise(prices[slots], components, workers=workers)
            with self._lock.writing():
                self._take(fresh, components, False)
                self._graph = changed

    # --- files -----------------------------------------------------------------------------------------------------

    _SCHEMA = SCHEMA

    @reads
    def _to_parts(self) -> Parts:
        graph, partition = self.graph, self.partition
        arrays = {**files.graph_arrays(graph), "order": partition.order}
        for level, starts in enumerate(partition.starts, start=1):
            arrays[f"starts/{level}"] = starts
        meta = {
            "directed": graph.directed,
            "merge": self.merge,
            "levels": self._most_levels,
            "parts": partition.levels,
            "seed": self._seed,
            "exact": self.exact,
            "top": self._default_top[self.exact],
            "near": self._near,
        }
        return Parts(arrays, meta)

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        meta = parts.meta
        graph = files.graph_of(Graph, parts)
        partition = Partition(parts.arrays["order"], [parts.arrays[f"starts/{k + 1}"] for k in range(meta["parts"])])
        hierarchy = cls(graph, meta["merge"], meta["levels"], meta["seed"], meta["exact"], partition)
        hierarchy._default_top[hierarchy.exact] = min(meta["top"], partition.levels)
        hierarchy._near = float(meta["near"])
        return hierarchy

    # --- inside ----------------------------------------------------------------------------------------------------

    def _make(self, exact: bool, workers: int | None = None, progress: Progress | None = None) -> Queries:
        """Partition, portals and arcs of the exact levels or of the paper's."""
        graph = self._topology
        nodes = graph.num_nodes
        merge = merge_factor(self.merge, nodes, self._most_levels)
        if exact:
            parts = partition.nested(graph, part_sizes(merge, nodes, self._most_levels), self._seed, progress)
            fits = Levels(graph, parts).fits
            if fits < parts.levels:
                parts = parts.upto(fits)
        else:
            parts = partition.merged(graph, merge, self._most_levels, self._seed, progress)
        return self._over(parts, exact, workers, progress)

    def _over(
        self, parts: Partition, exact: bool, workers: int | None = None, progress: Progress | None = None
    ) -> Queries:
        graph = self._topology
        levels = Levels(graph, parts, chosen=not exact)
        if levels.fits < parts.levels and exact:  # only in a file of somebody else's making
            raise ParameterError("a part has too many portals")
        _, slots = base_slots(graph, parts)
        costs = edge_costs(self._graph_now())[slots].astype(np.float32)
        levels.customise(costs, self._components, workers=workers, progress=progress)
        linked = parts.starts[:1] if exact else parts.starts
        return Queries(levels, max((int(np.diff(starts).max()) for starts in linked), default=1))

    def _choose_level(self, exact: bool) -> None:
        """Use the levels only where they save work; plain A* on graphs that are small or have no good parts."""
        queries = self._queries[exact]
        top = best_level(
            self._topology, queries, self._components, self._seed, single=not exact, points=self._points_of
        )
        self._default_top[exact] = top
        if exact and top > 0:
            self._near = 2 * queries.levels.mean_extent(self._topology)

    def _near_path(self, start: int, goal: int) -> Path | None:
        """The path by plain A* where the goal is near, None if it is not."""
        points = self._topology.points
        if not math.dist(points[start].tolist(), points[goal].tolist()) < self._near:
            return None
        # After an update the graph is made again only where it is asked for, not to save some microseconds here.
        graph = self._graph
        return None if graph is None else graph.path(start, goal, budget=_NEAR_NODES) or None

    def _over_levels(self, exact: bool) -> Queries:
        queries = self._queries.get(exact)
        if queries is None:
            graph = self._graph_now()  # outside the lock, which it takes itself
            with self._making:
                queries = self._queries.get(exact)
                if queries is None:
                    self._graph = graph
                    queries = self._queries[exact] = self._make(exact)
                    self._choose_level(exact)
        return queries

    def _present_graph(self) -> Graph:
        graph = self._topology
        levels = self._queries[self.exact].levels
        _, slots = base_slots(graph, levels.partition)
        costs = np.empty(graph.targets.size, np.float32)
        costs[slots] = levels.overlay.costs[: levels.edges]
        return Graph(graph.points, graph.offsets, graph.targets, costs, directed=graph.directed)

    def _refresh_components(self) -> None:
        self._components = self._graph_now().components()
        self._may_have_split = False

    def _points_of(self, nodes: NDArray[np.int32]) -> NDArray[np.float64]:
        return self._topology.points[nodes]


def merge_factor(merge: int | Literal["auto"], nodes: int, levels: int) -> int:
    """The merge factor; "auto" is that with which the highest level has about 16 parts, at least 4 and at most 14."""
    if merge != "auto":
        return merge
    return int(np.clip(round((nodes / (SMALLEST_PART * _AUTO_PARTS)) ** (1 / max(1, levels - 1))), 4, 14))


def part_sizes(merge: int, nodes: int, levels: int) -> list[int]:
    """Nodes of a part of each exact level; a level with less than two parts is left out."""
    sizes = [max(SMALLEST_PART, merge) * merge**level for level in range(levels)]
    return [size for size in sizes if size <= nodes // 2]


def best_level(
    graph: Graph, queries: Queries, components: NDArray[np.int32], seed: int, *, single: bool, points: Points
) -> int:
    """The highest level to use (the only one where `single`), 0 where plain A* has less work.

    Work is counted in arcs that searches look at, over some queries, so that the choice is the same on every machine.
    """
    levels = queries.levels
    top = _single_level(levels) if single else levels.partition.levels
    if top == 0 or not levels.overlay.places.size:
        return 0
    draw = np.random.default_rng(seed)
    starts = draw.integers(0, graph.num_nodes, 8 * _SAMPLES)
    goals = draw.integers(0, graph.num_nodes, 8 * _SAMPLES)
    same = np.flatnonzero(components[starts] == components[goals])[:_SAMPLES]
    degree = graph.targets.size / graph.num_nodes
    size, arcs, portals = levels.sizes_and_arcs()[top - 1 if single else 0]
    row = arcs / max(1, portals)
    if not single:
        row = (levels.overlay.targets.size - levels.edges) / max(1, levels.overlay.row_first.size)
    plain = linked = 0.0
    for start, goal in zip(starts[same].tolist(), goals[same].tolist(), strict=True):
        plain += graph.path(start, goal).expanded * degree
        settled = queries.one(start, goal, top=top, single=single, points=points).expanded
        linked += _OVERHEAD + settled * row + 2 * size * degree
    return top if linked < plain else 0


def _single_level(levels: Levels) -> int:
    """The level at which the paper's search has the least work: few arcs to link S and G with, and few to search."""
    found = levels.sizes_and_arcs()
    work = [2 * size * levels.edges / levels.rank.size + arcs for size, arcs, _ in found]
    return int(np.argmin(work)) + 1 if work else 0


def graph_of(thing: Any) -> Graph:
    """A graph, or the graph of a map."""
    graph = thing if isinstance(thing, Graph) else getattr(thing, "graph", None)
    if callable(graph):
        graph = graph()
    if isinstance(graph, tuple):  # a grid also says which node each cell is
        graph = graph[0]
    if not isinstance(graph, Graph):
        raise ParameterError(f"a hierarchy is built over a Graph or a map that has one, not a {type(thing).__name__}")
    return graph


def check_costs(costs: ArrayLike, graph: Graph) -> NDArray[np.float32]:
    """A cost for each slot of the graph."""
    prices = checks.floats(costs, "costs")
    if prices.shape != graph.targets.shape:
        raise ParameterError(f"costs must have shape {graph.targets.shape} like graph.targets, not {prices.shape}")
    checks.costs(prices)
    kept = prices.astype(np.float32)
    if not graph.directed:
        _check_both_ways(kept, graph)
    return kept


def _check_both_ways(prices: NDArray[np.float32], graph: Graph) -> None:
    """Refuse costs that differ, by more than rounding, between the two directions of an undirected edge."""
    sources = np.repeat(np.arange(graph.num_nodes, dtype=np.int32), np.diff(graph.offsets))
    there, back = np.lexsort((prices, graph.targets, sources)), np.lexsort((prices, sources, graph.targets))
    with np.errstate(invalid="ignore"):
        alike = np.abs(prices[there] - prices[back]) <= _ROUNDING * prices[there]
    differ = ~alike & (prices[there] != prices[back])
    if differ.any():
        slot = int(there[np.argmax(differ)])
        raise ParameterError(
            f"costs[{slot}] differs from that of the way back, from node {graph.targets[slot]} to node {sources[slot]}:"
            " an undirected graph needs the same cost in both directions"
        )


def edge_slots(graph: Graph, pairs: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Slots of the graph that join the node pairs, parallel edges included, and the pair that each belongs to."""
    most = int((graph.offsets[pairs[:, 0] + 1] - graph.offsets[pairs[:, 0]]).sum())
    slots, owners = np.empty(most, np.int64), np.empty(most, np.int64)
    count = _customise_kernels.find_slots(graph.offsets, graph.targets, np.ascontiguousarray(pairs), slots, owners)
    return slots[:count], owners[:count]


def check_update(graph: Graph, edges: ArrayLike, costs: ArrayLike) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Node pairs and their new costs, as `Hierarchy.update` takes them."""
    pairs = node_numbers(graph, edges, "edges")
    if pairs.size == 0:
        pairs = np.empty((0, 2), np.int32)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ParameterError(f"edges must have shape (k, 2), not {pairs.shape}")
    prices = checks.floats(costs, "costs")
    if prices.shape not in ((), (len(pairs),)):
        raise ParameterError(f"costs must be one number, or one for each of the {len(pairs)} edges")
    prices = np.broadcast_to(prices, (len(pairs),))
    checks.costs(prices)
    return pairs, prices.astype(np.float32)


def changed_slots(
    graph: Graph, edges: ArrayLike, costs: ArrayLike
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float32]]:
    """The slots that `Hierarchy.update` changes, with the node that each belongs to and its new cost."""
    pairs, prices = check_update(graph, edges, costs)
    if not graph.directed:
        pairs, prices = np.stack([pairs, pairs[:, ::-1]], axis=1).reshape(-1, 2), np.repeat(prices, 2)
    slots, owners = edge_slots(graph, pairs)
    found = np.zeros(len(pairs), np.bool_)
    found[owners] = True
    if not found.all():
        a, b = pairs[np.argmin(found)]
        raise ParameterError(f"there is no edge from node {a} to node {b} to update")
    # Of an edge that is named twice the last cost counts.
    slots, last = np.unique(slots[::-1], return_index=True)
    owners = owners[::-1][last]
    return pairs[owners, 0], slots, prices[owners]


def node_number(graph: Graph, node: int, name: str) -> int:
    """A node of the graph, or an error that says why it is none."""
    return checks.node(node, name, graph.num_nodes)


def node_numbers(graph: Graph, nodes: ArrayLike, name: str) -> NDArray[np.int32]:
    """Nodes of the graph, or an error that says why they are none."""
    return checks.nodes(nodes, name, graph.num_nodes)
