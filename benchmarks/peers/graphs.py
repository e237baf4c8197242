"""`Graph` against networkx, igraph, rustworkx, scipy and networkit, on real graphs with known answers.

Every peer gets the same graph and the same queries, each through the fastest point-to-point search that it offers, and
its answers are compared with scipy's Dijkstra before its time counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Comparison, Contender, WrongAnswerError, compare, same_costs
from benchmarks.peers.libraries import GRAPHS, LIBRARIES
from wayfold.agent import Agent
from wayfold.errors import FormatError
from wayfold.formats import load_scen
from wayfold.graph import Graph
from wayfold.graph.graph import edge_costs, edge_list
from wayfold.grid import DenseGrid
from wayfold.navmesh import NavMesh

# float32 edge costs and sums in another order differ by less; a wrong path differs by more.
_SAME = 1e-6


@dataclass(frozen=True)
class Task:
    """A graph, the queries on it, and where they come from."""

    title: str
    graph: Graph
    starts: NDArray[np.int64]
    goals: NDArray[np.int64]
    listed: NDArray[np.float64] | None = None
    asked: dict[str, float] = field(default_factory=dict)
    """How many times slower than Wayfold each peer has to be; 1 for those that are not named."""


def city(data: Path) -> Task:
    """The polygon graph of the city's navigation mesh with its 100 pairs."""
    file, pairs_file = data / "city/city_cs03_t48_graph.npz", data / "city/pairs100.txt"
    for needed in (file, pairs_file):
        if not needed.is_file():
            raise FormatError("no such file; --data must name the folder of real data", needed)
    with np.load(file) as arrays:
        graph = Graph(arrays["positions"], arrays["indptr"], arrays["indices"], arrays["weights"])
    pairs = np.loadtxt(pairs_file, dtype=np.int64, ndmin=2)
    asked = {"networkx": 15.0, "igraph": 5.0, "rustworkx": 5.0, "scipy": 3.0, "networkit": 3.0}
    return Task("city navigation graph, 100 pairs", graph, pairs[:, 0], pairs[:, 1], asked=asked)


def sample(size: float = 160.0, queries: int = 40) -> Task:
    """The navigation mesh of a made city district as a graph, with random pairs of its largest component."""
    from wayfold.samples import city as made_city

    graph = NavMesh.build(made_city((size, size), 1), Agent(), keep="largest").graph
    labels = graph.components()
    ends = np.random.default_rng(0).choice(np.flatnonzero(labels == np.bincount(labels).argmax()), (2, queries))
    return Task(f"navigation graph of a made district, {queries} pairs", graph, ends[0], ends[1])


def dao(data: Path, name: str = "orz900d", queries: int = 40) -> Task:
    """A Dragon Age map as a graph, with scenarios spread evenly over the lengths."""
    grid = DenseGrid.from_movingai(data / f"movingai/dao/{name}.map")
    graph, numbers = grid.graph()
    scenarios = load_scen(data / f"movingai/dao/{name}.map.scen")
    possible = np.flatnonzero(scenarios.lengths > 0)
    picked = possible[np.linspace(0, len(possible) - 1, queries).astype(int)]
    starts, goals = scenarios.starts[picked], scenarios.goals[picked]
    return Task(
        f"Dragon Age map {name} as a graph, {queries} scenarios",
        graph,
        numbers[starts[:, 1], starts[:, 0]].astype(np.int64),
        numbers[goals[:, 1], goals[:, 0]].astype(np.int64),
        scenarios.lengths[picked],
    )


def run(
    task: Task,
    *,
    peers: tuple[str, ...] = GRAPHS,
    rounds: int = 3,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Time `Graph.path` and the peers on one task."""
    queries = list(zip(task.starts.tolist(), task.goals.tolist(), strict=True))
    expected = _dijkstra(task, queries)
    if task.listed is not None:
        # Scenario files list lengths with six digits.
        same_costs(task.listed, relative=1e-5)("scipy's Dijkstra", expected)
    contenders = [Contender("wayfold", lambda: [task.graph.path(a, b).cost for a, b in queries], len(queries))]
    for name in peers:
        if not LIBRARIES[name].installed:
            continue
        if progress is not None:
            progress(f"building the graph for {name}")
        contenders.append(Contender(name, _PEERS[name](task, queries), len(queries)))
    facts = {
        "nodes": task.graph.num_nodes,
        "edges": task.graph.num_edges,
        "queries": len(queries),
        "mean_cost": float(np.mean(expected)),
        "asked": task.asked,
        **overheads(task),
    }
    check = same_costs(expected, relative=_SAME)
    return compare(task.title, contenders, check, rounds=rounds, facts=facts, progress=progress)


def overheads(task: Task, *, calls: int = 2000) -> dict[str, float]:
    """What a call costs when there is nothing to search, in microseconds: a trivial query and an unreachable goal."""
    graph = task.graph
    start = int(task.starts[0])
    labels = graph.components()
    others = np.flatnonzero(labels != labels[start])
    queries = {"trivial_query_us": start}
    if len(others):
        queries["unreachable_goal_us"] = int(others[0])
    result = {}
    for name, goal in queries.items():
        path = graph.path(start, goal)
        if path.found != (goal == start):
            raise WrongAnswerError(f"{name} ended with {path.status.name}")
        begin = time.perf_counter()
        for _ in range(calls):
            graph.path(start, goal)
        result[name] = (time.perf_counter() - begin) / calls * 1e6
    return result


def _dijkstra(task: Task, queries: list[tuple[int, int]]) -> NDArray[np.float64]:
    return np.array(_scipy(task, queries)())


def _scipy(task: Task, queries: list[tuple[int, int]]) -> Callable[[], list[float]]:
    from scipy.sparse.csgraph import dijkstra

    matrix = task.graph.to_scipy()
    return lambda: [float(dijkstra(matrix, indices=a)[b]) for a, b in queries]


def _networkx(task: Task, queries: list[tuple[int, int]]) -> Callable[[], list[float]]:
    import networkx

    graph = task.graph.to_networkx()
    points = [tuple(point) for point in task.graph.points.tolist()]
    from math import dist

    def straight(a: int, b: int) -> float:
        return dist(points[a], points[b])

    return lambda: [networkx.astar_path_length(graph, a, b, heuristic=straight, weight="weight") for a, b in queries]


def _igraph(task: Task, queries: list[tuple[int, int]]) -> Callable[[], list[float]]:
    import igraph

    pairs, slots = edge_list(task.graph)
    costs = edge_costs(task.graph)[slots]
    graph = igraph.Graph(n=task.graph.num_nodes, edges=pairs)
    points = task.graph.points.astype(np.float64).tolist()
    weights = costs.tolist()
    from math import dist

    # igraph 1.0.0 crashes when rounding makes a heuristic inconsistent, so it is kept a millionth below the distance.
    def straight(_: Any, a: int, b: int) -> float:
        return dist(points[a], points[b]) * 0.999999

    def one(a: int, b: int) -> float:
        path = graph.get_shortest_path_astar(a, b, heuristics=straight, weights=weights, output="epath")
        return float(costs[path].sum())

    return lambda: [one(a, b) for a, b in queries]


def _rustworkx(task: Task, queries: list[tuple[int, int]]) -> Callable[[], list[float]]:
    import rustworkx

    pairs, slots = edge_list(task.graph)
    costs = edge_costs(task.graph)[slots].tolist()
    graph = rustworkx.PyGraph()
    points = [tuple(point) for point in task.graph.points.tolist()]
    graph.add_nodes_from(list(range(len(points))))
    graph.add_edges_from([(a, b, cost) for (a, b), cost in zip(pairs.tolist(), costs, strict=True)])
    from math import dist

    def one(a: int, b: int) -> float:
        goal = points[b]
        path = rustworkx.graph_astar_shortest_path(
            graph, a, lambda node: node == b, float, lambda node: dist(points[node], goal)
        )
        return float(sum(graph.get_edge_data(path[at], path[at + 1]) for at in range(len(path) - 1)))

    return lambda: [one(a, b) for a, b in queries]


def _networkit(task: Task, queries: list[tuple[int, int]]) -> Callable[[], list[float]]:
    import networkit

    pairs, slots = edge_list(task.graph)
    costs = edge_costs(task.graph)[slots]
    sources, targets = np.ascontiguousarray(pairs.T)
    graph = networkit.GraphFromCoo((costs, (sources, targets)), task.graph.num_nodes, weighted=True)

    def one(a: int, b: int) -> float:
        return float(networkit.distance.BidirectionalDijkstra(graph, a, b).run().getDistance())

    return lambda: [one(a, b) for a, b in queries]


_PEERS: dict[str, Callable[[Task, list[tuple[int, int]]], Callable[[], list[float]]]] = {
    "networkx": _networkx,
    "igraph": _igraph,
    "rustworkx": _rustworkx,
    "scipy": _scipy,
    "networkit": _networkit,
}
