"""What the exact hierarchy has to show: speed against flat A*, changes of costs, batches, small graphs.

Everything is timed against `Graph.path` in the same run, and every cost is compared with its answer.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import peers
from benchmarks._spin_kernels import spin
from benchmarks.harness import WrongAnswerError
from wayfold.core.arrays import distinct
from wayfold.formats import load_scen
from wayfold.graph import Graph
from wayfold.graph.graph import edge_costs
from wayfold.grid import DenseGrid
from wayfold.hierarchy import Hierarchy
from wayfold.hierarchy.query import PHASES

SMALL = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000)
"""Nodes of the small graphs."""
_SAME = 1e-6
_EDGES = 100  # of an update
_SPIN = 40_000_000  # steps of the control for the growth of a batch


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    merges: tuple[int, ...]
    paper_queries: int
    exact_queries: int
    batch: int
    maps: int
    small_rounds: int


def largest_component(graph: Graph) -> NDArray[np.int64]:
    """Nodes of the largest component."""
    labels = graph.components()
    return np.flatnonzero(labels == np.bincount(labels).argmax())


def random_pairs(graph: Graph, count: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of nodes of the largest component."""
    draw = np.random.default_rng(seed)
    inside = largest_component(graph)
    return draw.choice(inside, count), draw.choice(inside, count)


def exact(task: peers.Task, effort: Effort) -> dict[str, Any]:
    """The exact hierarchy of one graph: building, queries by distance, changes, batches, unreachable goals."""
    graph = task.graph
    began = time.perf_counter()
    hierarchy = Hierarchy.build(graph)
    built = time.perf_counter() - began
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "build_seconds": built,
        "bytes_per_node": hierarchy.nbytes / graph.num_nodes,
        "levels": [vars(level) for level in hierarchy.levels],
        **saved(hierarchy),
        "pairs": against_flat(hierarchy, _listed(task.starts, task.goals), buckets=5),
        "random": against_flat(hierarchy, _listed(*random_pairs(graph, effort.exact_queries, 0)), buckets=10),
        "sharing": sharing(hierarchy),
        "changes": changes(hierarchy),
        "batch": batch(hierarchy, effort.batch),
        "unreachable_us": unreachable(hierarchy),
    }


def saved(hierarchy: Hierarchy) -> dict[str, float]:
    """Seconds to save and to load, and bytes of the file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "levels.wayfold"
        began = time.perf_counter()
        hierarchy.save(file)
        written = time.perf_counter()
        Hierarchy.load(file)
        read = time.perf_counter()
        size = file.stat().st_size
    return {"save_seconds": written - began, "load_seconds": read - written, "file_bytes": size}


def against_flat(hierarchy: Hierarchy, pairs: list[tuple[int, int]], *, buckets: int) -> dict[str, Any]:
    """Flat A* and the hierarchy on the same queries, in blocks in turn, with path extraction; costs compared."""
    graph = hierarchy.graph
    graph.path(*pairs[0])
    hierarchy.path(*pairs[0])
    flat, ours, costs, phases = [], [], [], []
    for first in range(0, len(pairs), 100):
        block = pairs[first : first + 100]
        times, paths = each(graph.path, block)
        flat += times
        expected = [path.cost for path in paths]
        times, paths = each(hierarchy.path, block)
        ours += times
        for pair, path, cost in zip(block, paths, expected, strict=True):
            _compare(pair, path.cost, cost)
            if path.timings:
                phases.append([path.timings[phase] for phase in PHASES])
        costs += expected
    plain, fast, length = np.array(flat), np.array(ours), np.array(costs)
    edges = np.quantile(length, np.linspace(0, 1, buckets + 1))
    which = np.clip(np.searchsorted(edges, length, side="right") - 1, 0, buckets - 1)
    mean = np.mean(phases, axis=0) if phases else np.zeros(len(PHASES))
    return {
        "queries": len(pairs),
        "flat_ms": float(plain.mean() * 1e3),
        "ms": float(fast.mean() * 1e3),
        "mean": float(plain.sum() / fast.sum()),
        "median": float(np.median(plain) / np.median(fast)),
        "median_of_ratios": float(np.median(plain / fast)),
        "linking_share": float(mean[1] / mean.sum()) if mean.sum() else 0.0,
        "phases_us": dict(zip(PHASES, (mean * 1e6).tolist(), strict=True)),
        "buckets": [
            {
                "from": float(edges[at]),
                "to": float(edges[at + 1]),
                "times_faster": float(plain[which == at].sum() / fast[which == at].sum()),
            }
            for at in range(buckets)
            if (which == at).any()
        ],
    }


def sharing(hierarchy: Hierarchy, queries: int = 400, places: int = 8) -> dict[str, float]:
    """Microseconds of linking where every character has a goal of its own, and where all go to one of a few places."""
    starts, goals = random_pairs(hierarchy.graph, queries, 3)
    result = {}
    for name, ends in (("own_goals_us", goals), ("shared_goals_us", goals[np.arange(queries) % places])):
        paths = each(hierarchy.path, _listed(starts, ends))[1]
        result[name] = 1e6 * float(np.mean([path.timings.get("connect", 0.0) for path in paths]))
    return result


def changes(hierarchy: Hierarchy, rounds: int = 12) -> dict[str, Any]:
    """Customising for other costs, and updates of 100 edges: in one place and anywhere, dearer, cheaper and closed.

    After every round some costs are compared with those of flat A* on the changed graph.
    """
    graph = hierarchy.graph
    before = edge_costs(graph).astype(np.float32)
    began = time.perf_counter()
    hierarchy.customise(costs=before * np.float32(1.5))
    result: dict[str, Any] = {"customise_s": time.perf_counter() - began}
    hierarchy.customise()
    draw = np.random.default_rng(1)
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    inside = largest_component(graph)
    slots = np.flatnonzero(np.isin(sources, inside))
    fresh = _probe(hierarchy)
    result["query_us"] = fresh
    for name, factor in (("near", 3.0), ("dearer", 3.0), ("cheaper", 0.5), ("closed", np.inf)):
        hierarchy.customise()
        times = []
        for _ in range(rounds):
            picked = draw.choice(slots, _EDGES, replace=False)
            if name == "near":
                away = np.linalg.norm(graph.points[sources[slots]] - graph.points[draw.choice(inside)], axis=1)
                picked = slots[np.argsort(away)[:_EDGES]]
            edges = np.column_stack([sources[picked], graph.targets[picked]])
            prices = before[picked] * np.float32(factor)
            began = time.perf_counter()
            hierarchy.update(edges, prices)
            times.append((time.perf_counter() - began) * 1e3)
        # The first one touches memory that later ones find ready.
        result[name] = {"ms": float(np.median(times)), "first_ms": times[0], "worst_ms": max(times[1:])}
        result[name]["query_us_before_refresh"] = _probe(hierarchy)
        began = time.perf_counter()
        hierarchy.refresh()
        result[name]["refresh_ms"] = (time.perf_counter() - began) * 1e3
        result[name]["query_us_after_refresh"] = _probe(hierarchy)
    hierarchy.customise()
    return result


def _probe(hierarchy: Hierarchy, queries: int = 200) -> float:
    """Microseconds of a query, with costs compared with those of flat A*."""
    pairs = _listed(*random_pairs(hierarchy.graph, queries, 4))
    each(hierarchy.path, pairs[:20])
    times, paths = each(hierarchy.path, pairs)
    for pair, path in zip(pairs[:40], paths[:40], strict=True):
        _compare(pair, path.cost, hierarchy.graph.path(*pair).cost)
    return 1e6 * float(np.mean(times))


def _compare(pair: tuple[int, int], cost: float, expected: float) -> None:
    if not np.isclose(cost, expected, rtol=_SAME, atol=0) and cost != expected:
        raise WrongAnswerError(f"from {pair[0]} to {pair[1]} the hierarchy answers {cost}, A* {expected}")


def batch(hierarchy: Hierarchy, count: int, rounds: int = 3) -> dict[str, float]:
    """Queries a second of a batch with one thread and with two, and what two threads give at best on this machine.

    The controls are a loop that touches no memory, and a batch of flat A*, which touches more.
    """
    graph = hierarchy.graph
    starts, goals = random_pairs(graph, count, 2)
    some = slice(0, max(64, count // 50))
    answers = hierarchy.paths(starts[some], goals[some])
    expected = graph.paths(starts[some], goals[some])
    for at in range(len(answers)):
        _compare((int(starts[at]), int(goals[at])), float(answers.costs[at]), float(expected.costs[at]))
    spin(10)
    work: dict[str, tuple[int, Callable[[int], Any]]] = {
        "batch": (count, lambda workers: hierarchy.paths(starts, goals, workers=workers)),
        "flat": (len(answers), lambda workers: graph.paths(starts[some], goals[some], workers=workers)),
        "no_memory": (8, _spin_with),
    }
    result: dict[str, float] = {"queries": count}
    for name, (units, run) in work.items():
        rates: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(rounds):
            for workers, found in rates.items():
                began = time.perf_counter()
                run(workers)
                found.append(units / (time.perf_counter() - began))
        result[f"{name}_one_thread"], result[f"{name}_two_threads"] = (float(np.median(r)) for r in rates.values())
        result[f"{name}_growth"] = float(np.median(np.array(rates[2]) / np.array(rates[1])))
    return result


def _spin_with(workers: int) -> None:
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(spin, [_SPIN] * 8))


def unreachable(hierarchy: Hierarchy) -> list[float]:
    """Microseconds that an unreachable goal takes, at every level."""
    labels = hierarchy.graph.components()
    start = int(largest_component(hierarchy.graph)[0])
    outside = np.flatnonzero(labels != labels[start])[:1000].tolist()
    result = []
    for level in range(hierarchy.num_levels + 1):
        began = time.perf_counter()
        for goal in outside:
            if hierarchy.path(start, goal, level=level):
                raise WrongAnswerError(f"node {goal} was reached from another component")
        result.append((time.perf_counter() - began) / max(1, len(outside)) * 1e6)
    return result


def small_graphs(rounds: int, sizes: Sequence[int] = SMALL) -> list[dict[str, Any]]:
    """Graphs from ten nodes on, as `merge="auto"` builds them: how many times faster than flat A*."""
    result = []
    for kind, make in (("maze", _maze), ("random points", _random_points), ("tree", _tree)):
        for nodes in sizes:
            graph = make(nodes)
            hierarchy = Hierarchy.build(graph, merge="auto")
            pairs = _listed(*random_pairs(graph, 200, 5))
            ratios = []
            for _ in range(rounds + 1):
                flat, paths = each(graph.path, pairs)
                ours, answers = each(hierarchy.path, pairs)
                for pair, path, answer in zip(pairs, paths, answers, strict=True):
                    _compare(pair, answer.cost, path.cost)
                ratios.append(sum(flat) / sum(ours))
            result.append(
                {
                    "kind": kind,
                    "nodes": graph.num_nodes,
                    "levels": hierarchy.num_levels,
                    "flat_us": 1e6 * float(np.mean(flat)),
                    "times_faster": float(np.median(ratios[1:])),
                }
            )
    return result


def _maze(nodes: int) -> Graph:
    side = int(np.ceil(np.sqrt(1.25 * nodes)))
    free = np.random.default_rng(nodes).random((side, side)) > 0.2
    return DenseGrid(free).graph()[0]


def _random_points(nodes: int) -> Graph:
    from scipy.spatial import Delaunay

    points = np.random.default_rng(nodes).random((nodes, 2))
    corners = Delaunay(points).simplices
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    return Graph.from_edges(points, distinct(np.sort(edges, axis=1)).rows)


def _tree(nodes: int) -> Graph:
    draw = np.random.default_rng(nodes)
    children = np.arange(1, nodes)
    edges = np.column_stack([(draw.random(nodes - 1) * children).astype(int), children])
    return Graph.from_edges(draw.random((nodes, 2)), edges)


def large_maps(files: list[Path], most: int) -> list[Path]:
    """Maps of more than 50,000 free cells, the largest first."""
    found = []
    for file in files:
        if file.stat().st_size > 50_000:  # a byte a cell
            cells = DenseGrid.from_movingai(file).num_cells
            if cells > 50_000:
                found.append((cells, file))
    return [file for _, file in sorted(found, reverse=True)[:most]]


def dao(file: Path, queries: int = 200) -> dict[str, Any]:
    """The exact hierarchy of one Dragon Age map, on scenarios longer than 200."""
    graph, numbers = DenseGrid.from_movingai(file).graph()
    hierarchy = Hierarchy.build(graph)
    scenarios = load_scen(file.with_name(f"{file.name}.scen"))
    long = np.flatnonzero(scenarios.lengths > 200)
    picked = long[np.unique(np.linspace(0, len(long) - 1, queries).astype(int))]
    starts, goals = scenarios.starts[picked], scenarios.goals[picked]
    pairs = list(
        zip(numbers[starts[:, 1], starts[:, 0]].tolist(), numbers[goals[:, 1], goals[:, 0]].tolist(), strict=True)
    )
    return {
        "name": file.stem,
        "nodes": graph.num_nodes,
        "bytes_per_node": hierarchy.nbytes / graph.num_nodes,
        **against_flat(hierarchy, pairs, buckets=4),
    }


def each(find: Callable[[int, int], Any], pairs: list[tuple[int, int]]) -> tuple[list[float], list[Any]]:
    """Seconds of each query, and the answers."""
    times, answers = [], []
    for a, b in pairs:
        began = time.perf_counter()
        answer = find(a, b)
        times.append(time.perf_counter() - began)
        answers.append(answer)
    return times, answers


def _listed(starts: NDArray[Any], goals: NDArray[Any]) -> list[tuple[int, int]]:
    return list(zip(starts.tolist(), goals.tolist(), strict=True))
