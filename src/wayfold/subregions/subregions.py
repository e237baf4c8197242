"""`SubregionGraph`: clusters of locally connected waypoints, and planning through them (Wardhana et al. 2015)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import ALL_MOTIONS, Motion, check_motions
from wayfold.core import checks
from wayfold.core.interrupts import interruptible
from wayfold.core.locks import ReadersWriter, reads, writes
from wayfold.core.progress import stage
from wayfold.core.schema import Array, Parts, Savable, Schema, Value
from wayfold.errors import EditError, ParameterError
from wayfold.graph import Graph, search_kernels, searcher
from wayfold.path import Path, Paths, Status
from wayfold.subregions import _kernels
from wayfold.subregions.abstraction import COSTS, Abstraction, abstract
from wayfold.subregions.bounds import Bounds, Masks
from wayfold.subregions.repair import Live
from wayfold.waypoints import WaypointGraph
from wayfold.waypoints.editing import Edit
from wayfold.waypoints.waypoints import plan_all

_SubregionGraph = TypeVar("_SubregionGraph", bound="SubregionGraph")


def fingerprint(waypoints: WaypointGraph) -> str:
    """Return a digest that two waypoint graphs share only if their waypoints, regions and edges are the same.

    Edges are the same if they lead to the same waypoints for the same motions at the same costs. Spare slots that edits
    leave in the rows do not count, nor does the order of edges within a row.
    """
    graph = waypoints.graph
    sources = np.repeat(np.arange(graph.num_nodes, dtype=np.int32), np.diff(graph.offsets))
    every = np.uint8(ALL_MOTIONS)
    motions = np.full(graph.targets.size, every) if graph.motions is None else graph.motions
    costs = np.zeros(0, np.float32) if graph.costs is None else graph.costs
    columns: list[NDArray[Any]] = (
        [sources, graph.targets, motions, costs] if costs.size else [sources, graph.targets, motions]
    )
    if (motions == 0).any():
        columns = [column[motions > 0] for column in columns]
    if not _ascending(columns):
        order = np.lexsort(columns[::-1])
        columns = [column[order] for column in columns]
    digest = hashlib.sha256(b"lengths" if graph.costs is None else b"costs")
    for array in (graph.points, waypoints.layout.of, *columns):
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _ascending(columns: list[NDArray[Any]]) -> bool:
    """Whether the rows of several columns are sorted, by the first column first."""
    undecided = np.ones(max(len(columns[0]) - 1, 0), np.bool_)
    for column in columns:
        if (undecided & (column[1:] < column[:-1])).any():
            return False
        undecided &= column[1:] == column[:-1]
    return True


def labels_fit(parts: Parts) -> None:
    """Labels are subregions, or the highest number of the dtype for none; every subregion has a waypoint."""
    labels, count = parts.arrays["labels"], len(parts.arrays["homes"])
    known = labels[labels != np.iinfo(labels.dtype).max]
    if known.size and not 0 <= known.min() <= known.max() < count:
        raise ValueError("a label names a subregion that does not exist")
    if not np.bincount(known, minlength=count).all():
        raise ValueError("a subregion has no waypoint")


def pairs_ascend(parts: Parts) -> None:
    """Connections stand in ascending order, each once and the lower subregion first; of the lengths too."""
    pairs, lengths = parts.arrays["pairs"].astype(np.int64), parts.arrays["lengths"]
    numbers = pairs[:, 0] << 32 | pairs[:, 1]
    if (pairs[:, 0] >= pairs[:, 1]).any() or (numbers[1:] <= numbers[:-1]).any():
        raise ValueError("connections are repeated or not in order")
    if (lengths[:, 0] > lengths[:, 2]).any():
        raise ValueError("the shortest edge of a connection is longer than its longest")


SCHEMA = Schema(
    "subregion-graph",
    {
        "labels": Array("uint16|int32", ("waypoints",), "subregion of each waypoint"),
        "homes": Array("int32", ("subregions",), "region of each subregion", 0),
        "centroids": Array("float64", ("subregions", 3), "middles, metres", -checks.LARGEST, checks.LARGEST),
        "pairs": Array("uint16|int32", ("connections", 2), "subregions that are connected", refers="subregions"),
        "lengths": Array(
            "float32", ("connections", 3), "shortest, average and longest edge", 0.0, checks.LARGEST_COST, finite=False
        ),
        "counts": Array("uint32", ("connections",), "edges between the two", 1),
    },
    {
        "motions": Value(int, "Motion bits of the character", 1, int(ALL_MOTIONS)),
        "cost": Value(str, "cost scheme of the connections", among=COSTS),
        "seed": Value(int, "processing order", 0, 2**63 - 1),
        "waypoints": Value(str, "fingerprint of the waypoint graph"),
    },
    {"waypoints": 1},
    (labels_fit, pairs_ascend),
)


def to_parts(subregions: SubregionGraph) -> Parts:
    """Subregions and labels, without the waypoint graph."""
    parts = subregions.abstraction()
    if parts.fingerprint is None and subregions.waypoints is not None:
        parts.fingerprint = fingerprint(subregions.waypoints)
    number = np.uint16 if parts.labels.dtype == np.uint16 else np.int32
    arrays: dict[str, Any] = {
        "labels": parts.labels,
        "centroids": parts.centroids,
        "homes": parts.homes,
        "pairs": parts.pairs.astype(number),
        "lengths": parts.lengths,
        "counts": parts.counts.astype(np.uint32),
    }
    meta = {
        "motions": int(subregions.motions),
        "cost": subregions.cost,
        "seed": subregions.seed,
        "waypoints": parts.fingerprint,
    }
    return Parts(arrays, meta)


def from_parts(cls: type[_SubregionGraph], parts: Parts) -> _SubregionGraph:
    """The subregion graph, without the waypoint graph."""
    arrays, meta = parts.arrays, parts.meta
    found = Abstraction(
        arrays["labels"],
        arrays["homes"],
        arrays["centroids"],
        arrays["pairs"].astype(np.int32),
        arrays["lengths"],
        arrays["counts"].astype(np.int64),
        meta["waypoints"],
    )
    return cls(None, Motion(meta["motions"]), meta["cost"], meta["seed"], found)


def belong(parts: Abstraction, waypoints: WaypointGraph) -> bool:
    """Whether every label is of a subregion in a region of its waypoint; a fingerprint can be copied from elsewhere."""
    if len(parts.labels) != waypoints.num_waypoints or parts.homes.max(initial=-1) >= waypoints.num_regions:
        return False
    known = np.flatnonzero(parts.labels != np.iinfo(parts.labels.dtype).max)
    home = parts.homes[parts.labels[known]]
    return bool((waypoints.layout.of[known] == home[:, None]).any(axis=1).all())


MARGIN = 1
WEIGHT = 1.1
"""Defaults for planning. Over a city of 55 million edges the wider corridor makes up for the length that the paper's
filter costs (104.5% to 100.7% of the optimum), and the weight for the time."""
_HEAVIEST = 1e6  # weight of the heuristic; larger ones change nothing
_NO_LOCK = ReadersWriter()  # of subregion graphs without a waypoint graph, which cannot be edited
LANDMARKS = 32
"""For exact planning: the costs of a waypoint from 32 landmarks fill two cache lines."""


@checks.checked
class SubregionGraph(Savable):
    """Subregions of a waypoint graph for one set of motions, and their connections.

    Make one with `build`. A subregion is a set of waypoints of one region that can be visited from each other inside
    it. Labels take 2 bytes a waypoint while there are at most 65,535 subregions, 4 bytes beyond.

    Attributes
    ----------
    waypoints : WaypointGraph or None
        What it was built over; None after loading, until `attach`.
    motions : Motion
        The character's motions.
    cost : str
        Cost scheme of the connections.
    labels : (n,) uint16 or int32 array
        Subregion of each waypoint; the highest number of the dtype where it has none.
    graph : Graph
        A node for each subregion, at its centroid, and an edge for each connection.

    Examples
    --------
    >>> road = Graph.from_edges([(x, 0) for x in range(60)], [(x, x + 1) for x in range(59)])
    >>> subregions = SubregionGraph.build(road, regions=(6, 1, 1))
    >>> subregions.num_subregions, subregions.connections.tolist()
    (6, [[0, 4], [1, 3], [1, 5], [2, 5], [3, 4]])
    >>> subregions.path(0, 59).cost
    59.0
    """

    def __init__(
        self, waypoints: WaypointGraph | None, motions: Motion, cost: str, seed: int, parts: Abstraction
    ) -> None:
        _check_cost(cost)
        self.waypoints = waypoints
        self.motions = motions
        self.cost = cost
        self.seed = seed
        self.parts = parts
        self.graph = parts.graph(cost)
        self._masks = Masks(self.graph.num_nodes)
        self._space: search_kernels.GraphSpace | None = None
        self._bounds: Bounds | None = None
        self._live: Live | None = None
        self._edits = 0 if waypoints is None else waypoints.edits  # of the waypoint graph that it has followed

    @classmethod
    @interruptible
    def build(
        cls,
        waypoints: WaypointGraph | Graph,
        motions: int | str | None = None,
        cost: str = "centroid",
        seed: int = 0,
        *,
        regions: tuple[int, int, int] | None = None,
    ) -> SubregionGraph:
        """Detect the subregions and connect them (Wardhana et al. 2015, algorithms 1 to 3).

        Parameters
        ----------
        waypoints : WaypointGraph or Graph
            A plain graph, which must be undirected, is cut into `regions` first (Wardhana et al. 2015, section 5.3).
        motions : Motion bits or names, optional
            The character's motions; by default those of the agent, or every motion.
        cost : "fixed", "min", "average", "max" or "centroid"
            Cost of a connection (Wardhana et al. 2015, section 5.2): 1; the length of the shortest edge between the two
            subregions, the average, the longest; the distance of their centroids.
        seed : int, >= 0
            Processing order: it orders the regions, and chooses the active region of boundary waypoints.
        regions : (rx, ry, rz), optional
            As for `WaypointGraph.from_graph`, for a plain graph.

        Examples
        --------
        >>> road = Graph.from_edges([(x, 0) for x in range(60)], [(x, x + 1) for x in range(59)])
        >>> walkers = SubregionGraph.build(road, Motion.SURFACE, cost="min", regions=(6, 1, 1))
        >>> walkers.graph.num_nodes, np.bincount(walkers.labels).tolist()
        (6, [10, 10, 10, 10, 10, 10])
        """
        if isinstance(waypoints, Graph):
            waypoints = WaypointGraph.from_graph(waypoints, regions)
        elif not isinstance(waypoints, WaypointGraph):
            raise ParameterError(f"expected a WaypointGraph or a Graph, not a {type(waypoints).__name__}")
        elif regions is not None:
            raise ParameterError("regions are for a plain graph: this waypoint graph has regions already")
        chosen = waypoints.default_motions if motions is None else check_motions(motions)
        _check_cost(cost)
        seed = checks.whole(seed, "seed", low=0, high=2**63 - 1)
        return cls(waypoints, chosen, cost, seed, abstract(waypoints, chosen, seed))

    # --- what it is ------------------------------------------------------------------------------------------------

    @property
    def labels(self) -> NDArray[Any]:
        """(n,) array, subregion of each waypoint."""
        return self.parts.labels if self._live is None else self._live.labels

    @property
    def no_label(self) -> int:
        """What `labels` holds for a waypoint without a usable edge."""
        return int(np.iinfo(self.parts.labels.dtype).max)

    @property
    def num_subregions(self) -> int:
        """Number of subregions."""
        return self.abstraction().count

    @property
    def num_connections(self) -> int:
        """Number of connections between subregions."""
        return len(self.abstraction().pairs)

    @property
    def centroids(self) -> NDArray[np.float64]:
        """(s, 3) float64, mean position of the waypoints of each subregion, metres; by label."""
        return self.parts.centroids if self._live is None else self._live.centroids

    @property
    def connections(self) -> NDArray[np.int32]:
        """(c, 2) int32, pairs of connected subregions, the lower number first, sorted."""
        return self.abstraction().pairs

    def abstraction(self) -> Abstraction:
        """Return the subregions and connections in plain arrays; after a repair numbered anew, without gaps.

        >>> road = Graph.from_edges([(x, 0) for x in range(60)], [(x, x + 1) for x in range(59)])
        >>> subregions = SubregionGraph.build(road, regions=(6, 1, 1))
        >>> plain = subregions.abstraction()
        >>> plain.count, plain.counts.tolist(), plain.lengths[0].tolist()
        (6, [1, 1, 1, 1, 1], [1.0, 1.0, 1.0])
        """
        return self.parts if self._live is None else self._live.abstraction()

    @property
    def nbytes(self) -> int:
        """Bytes of the subregion graph and of the labels."""
        return self.graph.nbytes + self.abstraction().nbytes

    def __repr__(self) -> str:
        return (
            f"<SubregionGraph: {self.num_subregions} subregions, {self.num_connections} connections,"
            f" cost {self.cost}, {self.nbytes / 1e6:.1f} MB>"
        )

    @reads
    def with_cost(self, cost: str) -> SubregionGraph:
        """Return the same subregions with another cost scheme; nothing is detected again.

        Only one of the two can be repaired after an edit.

        >>> road = Graph.from_edges([(x, 0) for x in range(60)], [(x, x + 1) for x in range(59)])
        >>> subregions = SubregionGraph.build(road, regions=(6, 1, 1))
        >>> fewest = subregions.with_cost("fixed")
        >>> first, last = subregions.labels[[0, 59]].tolist()
        >>> subregions.graph.path(first, last).cost, fewest.graph.path(first, last).cost
        (50.0, 5.0)
        """
        _check_cost(cost)
        other = SubregionGraph(self.waypoints, self.motions, cost, self.seed, self.abstraction())
        other._edits = self._edits
        return other

    def attach(self, waypoints: WaypointGraph) -> SubregionGraph:
        """Give a loaded subregion graph the waypoint graph that it was built over; return the subregion graph itself.

        Raises
        ------
        ParameterError
            When it was built over another one, or over this one before waypoints, edges, motions or costs changed.

        Examples
        --------
        >>> road = Graph.from_edges([(x, 0) for x in range(60)], [(x, x + 1) for x in range(59)])
        >>> waypoints = WaypointGraph.from_graph(road, (6, 1, 1))
        >>> SubregionGraph.build(waypoints).save("road.wayfold")
        >>> loaded = SubregionGraph.load("road.wayfold")
        >>> loaded.attach(waypoints).path(0, 59).cost
        59.0
        """
        if waypoints is self.waypoints:
            return self
        same = fingerprint(waypoints) == self.parts.fingerprint
        if not same or not belong(self.parts, waypoints):
            raise ParameterError("this subregion graph was built over another waypoint graph, or this one has changed")
        self.waypoints, self._edits = waypoints, waypoints.edits
        return self

    # --- changes ---------------------------------------------------------------------------------------------------

    @writes
    def repair(self, edit: Edit) -> None:
        """Follow a change of the waypoint graph: detect only the subregions again that it concerns.

        The result is that of `build`, up to the numbers of the subregions. Queries of other threads see the subregions
        before or after the repair; between an update and its repair they are refused.

        Parameters
        ----------
        edit : Edit
            What `WaypointGraph.update` returned; every edit has to be passed on, in order.

        Examples
        --------
        >>> road = Graph.from_edges([(x, 0) for x in range(60)], [(x, x + 1) for x in range(59)])
        >>> waypoints = WaypointGraph.from_graph(road, (6, 1, 1))
        >>> subregions = SubregionGraph.build(waypoints)
        >>> subregions.repair(waypoints.update(remove=[(24, 25)]))
        >>> subregions.num_subregions, subregions.path(0, 59).found
        (7, False)
        >>> subregions.repair(waypoints.update([(24, 25)]))
        >>> subregions.num_subregions, subregions.path(0, 59).found
        (6, True)
        """
        waypoints = self._attached()
        self._space = None
        if edit.added or (self._bounds is not None and len(self._bounds.table) != waypoints.num_waypoints):
            self._bounds = None  # a shorter way may have appeared, which no old bound allows for
        elif self._bounds is not None and len(edit.edges):
            touched = np.unique(waypoints.regions[edit.edges.ravel()])
            self._bounds.look(waypoints, self._waypoint_space(), touched[touched >= 0].astype(np.int64))
        if self._live is None:
            self._live = Live(waypoints, self.parts, self.seed, self.cost)
        if not self._live.repair(waypoints, self._waypoint_space(), edit.edges):
            self.parts = abstract(waypoints, self.motions, self.seed)
            self._live = Live(waypoints, self.parts, self.seed, self.cost)
        self.parts.fingerprint = None
        self.graph = self._live.graph
        if self._masks.count != self.graph.num_nodes:
            self._masks = Masks(self.graph.num_nodes)
        self._edits += 1

    # --- planning --------------------------------------------------------------------------------------------------

    @reads
    def path(
        self,
        start: ArrayLike,
        goal: ArrayLike,
        *,
        margin: int = MARGIN,
        weight: float = WEIGHT,
        exact: bool = False,
        budget: int | None = None,
    ) -> Path:
        """Plan a path over the subregions first, then over the waypoints in those (Wardhana et al. 2015, algorithm 4).

        Parameters
        ----------
        start, goal : (x, y, z), or int
            Arbitrary points, or waypoint numbers.
        margin : int, >= 0
            Also use the subregions up to this many connections beside the subregion path: slower, shorter paths. 0 in
            Wardhana et al. 2015.
        weight : float, >= 1
            Factor on the heuristic of the filtered A*: above 1 it settles far fewer waypoints, and the path costs at
            most `weight` times the cheapest one within the subregions that it may use. 1 in Wardhana et al. 2015.
        exact : bool
            The same cost as A* over all waypoints, with bounds from landmarks of the abstraction instead of its
            filter. The first exact query computes them (`prepare_exact`).
        budget : int, >= 1, optional
            Settle at most this many waypoints; no limit by default.

        Returns
        -------
        Path
            UNREACHABLE exactly when A* over all waypoints finds no path either (theorems 1 and 2). ``path.smooth()``
            takes shortcuts where there is a mesh. ``path.timings`` has the seconds at each level.

        Raises
        ------
        OffMapError
            When a point has no waypoint that the character can move to.

        Examples
        --------
        >>> road = Graph.from_edges([(x, 0) for x in range(60)], [(x, x + 1) for x in range(59)])
        >>> subregions = SubregionGraph.build(road, regions=(6, 1, 1))
        >>> path = subregions.path((0.2, 1.0, 0.0), (58.0, 2.0, 0.0))
        >>> round(path.cost, 3), sorted(path.timings)
        (61.02, ['subregions', 'waypoints'])
        >>> subregions.path(0, 59, exact=True).cost
        59.0
        """
        waypoints = self._current()
        rings = checks.whole(margin, "margin", low=0)
        factor = checks.number(weight, "weight", low=1.0, high=_HEAVIEST)
        limit = searcher.check_budget(budget)

        def search(a: int, b: int) -> Path:
            return self._exact(a, b, limit) if exact else self._filtered(a, b, rings, factor, limit)

        return waypoints.between(start, goal, self.motions, search)

    def paths(
        self,
        starts: ArrayLike,
        goals: ArrayLike,
        *,
        margin: int = MARGIN,
        weight: float = WEIGHT,
        exact: bool = False,
        workers: int | None = None,
    ) -> Paths:
        """Find the paths of many queries, in parallel; each is the same as `path` gives.

        Parameters
        ----------
        starts, goals : (q, 3) points or (q,) waypoint numbers
        margin, weight, exact
            As for `path`.
        workers : int, >= 1, optional
            Threads, all cores by default.

        Examples
        --------
        >>> road = Graph.from_edges([(x, 0) for x in range(60)], [(x, x + 1) for x in range(59)])
        >>> subregions = SubregionGraph.build(road, regions=(6, 1, 1))
        >>> subregions.paths([0, 10], [59, 12]).costs.tolist()
        [59.0, 2.0]
        """
        if exact:
            self.prepare_exact()
        planner = partial(self.path, margin=margin, weight=weight, exact=exact)
        return plan_all([planner], None, starts, goals, workers)

    @reads
    def subregion_path(self, start: int, goal: int) -> NDArray[np.int32]:
        """Return the subregions on the cheapest way between those of two waypoints, (k,); empty where there is none.

        >>> road = Graph.from_edges([(x, 0) for x in range(60)], [(x, x + 1) for x in range(59)])
        >>> subregions = SubregionGraph.build(road, regions=(6, 1, 1))
        >>> route = subregions.subregion_path(5, 35)
        >>> subregions.centroids[route, 0].tolist()
        [4.5, 14.5, 24.5, 34.5]
        """
        label_a, label_b = (
            int(self.labels[checks.node(node, name, len(self.labels), "waypoint")])
            for node, name in ((start, "start"), (goal, "goal"))
        )
        if self.no_label in (label_a, label_b):
            return np.empty(0, np.int32)
        return self.graph.path(label_a, label_b).nodes

    @reads
    def prepare_exact(
        self, landmarks: int = LANDMARKS, *, progress: Callable[[str, int, int], None] | None = None
    ) -> None:
        """Compute the bounds that exact queries need; otherwise the first of them does.

        Parameters
        ----------
        landmarks : int, 1 to 64
            4 bytes a waypoint each, and the time of a search over the whole graph.
        progress : callable, optional
            Called as ``progress(what, done, total)`` now and then.

        Examples
        --------
        >>> road = Graph.from_edges([(x, 0) for x in range(60)], [(x, x + 1) for x in range(59)])
        >>> subregions = SubregionGraph.build(road, regions=(6, 1, 1))
        >>> subregions.prepare_exact(landmarks=2)
        >>> subregions.path(0, 59, exact=True).cost
        59.0
        """
        count = checks.whole(landmarks, "landmarks", low=1, high=64)
        if self._bounds is None or self._bounds.table.shape[1] != count:
            told = stage(progress, "landmarks")
            self._bounds = Bounds(self._current(), self.motions, self.graph, self.labels, count, told)

    def _filtered(self, start: int, goal: int, margin: int, weight: float, budget: int) -> Path:
        """Dijkstra's algorithm (A* where costs say something about distance) over subregions, then filtered A*."""
        done = self._at_once(start, goal)
        if done is not None:
            return done
        begin = time.perf_counter()
        waypoints = self._attached().graph
        with self._corridor(start, goal, margin) as space:
            middle = time.perf_counter()
            path = searcher.one(
                space,
                waypoints.workspaces,
                start,
                goal,
                scale=weight * waypoints.scale,
                points=self._points_of,
                budget=budget,
            )
        path.timings = {"subregions": middle - begin, "waypoints": time.perf_counter() - middle}
        return path

    @contextmanager
    def _corridor(self, start: int, goal: int, margin: int) -> Iterator[search_kernels.GraphSpace]:
        """The waypoints of the subregions on the way, as a space to search in while it is needed."""
        graph, labels = self.graph, self.labels
        mask = self._masks.take()
        sub = graph.search_space()
        sub_state, _, end, _ = searcher.run(
            graph.workspaces,
            lambda state: search_kernels.search(
                sub,
                state,
                np.int64(labels[start]),
                np.int64(labels[goal]),
                graph.scale,
                search_kernels.UNLIMITED,
                searcher.NO_NODES,
                searcher.NO_BUDGET,
                False,
            ),
        )
        count = _kernels.mark_corridor(sub, sub_state.parent, end, margin, mask.allowed, mask.marked)
        graph.workspaces.give(sub_state)
        try:
            yield self._waypoint_space()._replace(labels=labels, allowed=mask.allowed)
        finally:
            _kernels.clear_corridor(mask.allowed, mask.marked, count)
            self._masks.give(mask)

    @reads
    def expanded(self, start: int, goal: int) -> NDArray[np.int64]:
        """Return the waypoints that `path` settles between two waypoints, (k,) ascending, for pictures.

        >>> road = Graph.from_edges([(x, 0) for x in range(60)], [(x, x + 1) for x in range(59)])
        >>> subregions = SubregionGraph.build(road, regions=(6, 1, 1))
        >>> subregions.expanded(20, 25).tolist()
        [20, 21, 22, 23, 24, 25]
        """
        graph = self._current().graph
        start, goal = (checks.node(node, name, graph.num_nodes) for node, name in ((start, "start"), (goal, "goal")))
        if self._at_once(start, goal) is not None:
            return np.empty(0, np.int64)
        with self._corridor(start, goal, MARGIN) as space:
            return searcher.settled_nodes(space, graph.workspaces, start, goal, WEIGHT * graph.scale)

    settled = checks.moved("SubregionGraph.settled", "expanded")

    def _exact(self, start: int, goal: int, budget: int) -> Path:
        done = self._at_once(start, goal)
        if done is not None:
            return done
        if self._bounds is None:
            self.prepare_exact()
        assert self._bounds is not None
        bounds, graph = self._bounds, self._attached().graph
        space, mask = bounds.space(self._waypoint_space(), graph.scale, start, goal)
        path = searcher.one(space, graph.workspaces, start, goal, scale=1.0, points=self._points_of, budget=budget)
        bounds.free(mask, start, goal)
        return path

    def _at_once(self, start: int, goal: int) -> Path | None:
        """The answer where no search is needed: the same waypoint, or subregions in different components."""
        if start == goal:
            nodes = np.array([start], np.int32)
            return Path(Status.FOUND, self._points_of, nodes=nodes, cost=0.0)
        a, b = int(self.labels[start]), int(self.labels[goal])
        if self.no_label in (a, b):
            return Path(Status.UNREACHABLE)
        component = self.graph.components()
        return None if component[a] == component[b] else Path(Status.UNREACHABLE)

    def _points_of(self, nodes: NDArray[np.int32]) -> NDArray[np.float64]:
        return self._attached().points[nodes]

    def _waypoint_space(self) -> search_kernels.GraphSpace:
        if self._space is None:
            self._space = self._attached().graph.search_space(self.motions)
        return self._space

    def _attached(self) -> WaypointGraph:
        if self.waypoints is None:
            raise ParameterError("this subregion graph has no waypoint graph: attach() the one that it was built over")
        return self.waypoints

    def _current(self) -> WaypointGraph:
        waypoints = self._attached()
        if waypoints.edits != self._edits:
            raise EditError("the waypoint graph has changed: pass its edits to repair() first")
        return waypoints

    @property
    def _lock(self) -> ReadersWriter:
        """The lock of the waypoint graph, with which it is queried and changed."""
        return _NO_LOCK if self.waypoints is None else self.waypoints.lock

    # --- files -----------------------------------------------------------------------------------------------------

    _SCHEMA = SCHEMA

    @reads
    def _to_parts(self) -> Parts:
        return to_parts(self)

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        return from_parts(cls, parts)


def _check_cost(cost: str) -> None:
    checks.choice(cost, "cost", COSTS)


@checks.checked
def crowd_paths(
    subregions: Sequence[SubregionGraph],
    which: ArrayLike,
    starts: ArrayLike,
    goals: ArrayLike,
    *,
    margin: int = MARGIN,
    weight: float = WEIGHT,
    exact: bool = False,
    workers: int | None = None,
) -> Paths:
    """Find the paths of many characters with different motions, in parallel; each is what `SubregionGraph.path` gives.

    Parameters
    ----------
    subregions : sequence of SubregionGraph
        One for each set of motions, all over the same waypoint graph, which is held once.
    which : (q,) array_like of int
        Which of them each character uses.
    starts, goals : (q, 3) points or (q,) waypoint numbers
    margin, weight, exact
        As for `SubregionGraph.path`.
    workers : int, >= 1, optional
        Threads, all cores by default.

    Raises
    ------
    ParameterError
        When the graphs do not share their waypoints, or the arrays are not as long as each other.
    OffMapError
        When a point has no waypoint that its character can move to.

    Examples
    --------
    >>> street, air = Motion.SURFACE | Motion.VOLUMETRIC, Motion.VOLUMETRIC
    >>> corners, sides = [(0, 0), (9, 0), (9, 9), (0, 9)], [(0, 1), (1, 2), (2, 3), (0, 3)]
    >>> square = Graph.from_edges(corners, sides, motions=[street, street, street, air])
    >>> waypoints = WaypointGraph.from_graph(square, (1, 1, 1))
    >>> both = [SubregionGraph.build(waypoints, motion) for motion in ("surface", "volumetric")]
    >>> crowd_paths(both, [0, 1], [0, 0], [3, 3]).costs.tolist()
    [27.0, 9.0]
    """
    graphs = list(subregions)
    for graph in graphs:
        checks.instance(graph, "each of subregions", SubregionGraph)
    if not graphs or any(graph.waypoints is None or graph.waypoints is not graphs[0].waypoints for graph in graphs):
        raise ParameterError("all subregion graphs of a crowd must be built over one and the same waypoint graph")
    if exact:
        for graph in graphs:
            graph.prepare_exact()
    planners = [partial(graph.path, margin=margin, weight=weight, exact=exact) for graph in graphs]
    return plan_all(planners, which, starts, goals, workers)
