"""What paper 002 measures in its section IV, and what the exact hierarchy has to show, on real graphs.

The paper's levels (`exact=False`) are measured for several merge factors at every level: nodes (figure 23), total time
(figures 24 and 25) and time by phase (figures 26 to 30), with the path's length against the shortest. The exact
hierarchy is timed against `Graph.path`, query by query, and every cost is compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.bench import peers
from wayfold.bench.harness import WrongAnswerError
from wayfold.formats import load_scen
from wayfold.graph import Graph
from wayfold.grid import DenseGrid
from wayfold.hierarchy import Hierarchy
from wayfold.hierarchy.query import PHASES

PAPER_STATEMENT = "5 to 6 times faster than A* in big worlds (City Colony, 2,615 nodes: 0.142 ms at level 2, merge 5)"
_SAME = 1e-6
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    merges: tuple[int, ...]
    paper_queries: int
    exact_queries: int
    batch: int
    maps: int


QUICK = Effort(merges=(2, 5, 8, 14), paper_queries=20, exact_queries=1_000, batch=10_000, maps=3)
FULL = Effort(merges=tuple(range(2, 15)), paper_queries=100, exact_queries=10_000, batch=100_000, maps=10_000)


def run(data: Path, *, full: bool = False, progress: Progress | None = None) -> dict[str, Any]:
    """Measure everything.

    Parameters
    ----------
    data : folder of real maps
    full : bool
        All merge factors from 2 to 14, 10,000 random pairs, a batch of 100,000 queries and all large Dragon Age maps;
        otherwise a tenth of that.
    progress : callable, optional
        Called with what comes next.

    Returns
    -------
    dict
        ``paper`` (tables of the paper's levels), ``exact`` (the city graph), ``dao`` (large Dragon Age maps).
    """
    effort = FULL if full else QUICK
    tell = progress or (lambda _: None)
    city = peers.city(data)
    orz = peers.dao(data, "orz900d", effort.paper_queries)
    report: dict[str, Any] = {"statement": PAPER_STATEMENT, "paper": [], "dao": []}
    for task, name in ((city, "city navmesh"), (orz, "Dragon Age map orz900d")):
        tell(f"the paper's levels, {name}")
        report["paper"].append(paper_levels(task, name, effort))
    tell("exact, city navmesh")
    report["exact"] = exact(city, effort)
    for file in large_maps(data, effort.maps):
        tell(f"exact, {file.stem}")
        report["dao"].append(dao(file))
    return report


def paper_levels(task: peers.Task, name: str, effort: Effort) -> dict[str, Any]:
    """Figures 23 to 30: the paper's own search for several merge factors, at all levels."""
    graph = task.graph
    pairs = list(zip(task.starts.tolist(), task.goals.tolist(), strict=True))[: effort.paper_queries]
    shortest = np.array([graph.path(a, b).cost for a, b in pairs])
    rows = []
    for merge in effort.merges:
        hierarchy = Hierarchy.build(graph, merge=merge, levels=10, exact=False)
        for level in hierarchy.levels:
            flat = _seconds(graph.path, pairs)
            hierarchy.path(*pairs[0], level=level.number)
            began = time.perf_counter()
            paths = [hierarchy.path(a, b, level=level.number) for a, b in pairs]
            took = (time.perf_counter() - began) / len(pairs)
            costs = np.array([path.cost for path in paths])
            if (costs < shortest * (1 - _SAME)).any():
                raise WrongAnswerError(f"merge {merge}, level {level.number}: a path is shorter than the shortest")
            rows.append(
                {
                    "merge": merge,
                    "level": level.number,
                    "nodes": level.nodes,
                    "portals": level.portals,
                    "intra_edges": level.intra_edges,
                    "ms": took * 1e3,
                    "times_faster": flat / took,
                    "length": float((costs / shortest).mean()),
                    **{phase: 1e6 * _mean(path.timings.get(phase, 0.0) for path in paths) for phase in PHASES},
                }
            )
    return {"name": name, "nodes": graph.num_nodes, "edges": graph.num_edges, "rows": rows}


def exact(task: peers.Task, effort: Effort) -> dict[str, Any]:
    """The exact hierarchy of one graph: building, queries by distance, changes, batches, unreachable goals."""
    graph = task.graph
    began = time.perf_counter()
    hierarchy = Hierarchy.build(graph)
    built = time.perf_counter() - began
    draw = np.random.default_rng(0)
    labels = graph.components()
    inside = np.flatnonzero(labels == np.bincount(labels).argmax())
    random = list(zip(*(draw.choice(inside, effort.exact_queries).tolist() for _ in range(2)), strict=True))
    listed = list(zip(task.starts.tolist(), task.goals.tolist(), strict=True))
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "build_seconds": built,
        "bytes_per_node": hierarchy.nbytes / graph.num_nodes,
        "levels": [vars(level) for level in hierarchy.levels],
        "pairs": against_flat(hierarchy, listed, buckets=5),
        "random": against_flat(hierarchy, random, buckets=10),
        "changes": changes(graph, hierarchy, inside),
        "batch": batch(hierarchy, inside, effort.batch),
        "unreachable_us": unreachable(hierarchy, inside),
    }


def against_flat(hierarchy: Hierarchy, pairs: list[tuple[int, int]], *, buckets: int) -> dict[str, Any]:
    """Flat A* and the hierarchy on the same queries, in blocks in turn, with path extraction; costs compared."""
    graph = hierarchy.graph
    graph.path(*pairs[0])
    hierarchy.path(*pairs[0])
    flat, ours, costs, phases = [], [], [], []
    for first in range(0, len(pairs), 100):
        block = pairs[first : first + 100]
        times, paths = _each(graph.path, block)
        flat += times
        expected = [path.cost for path in paths]
        times, paths = _each(hierarchy.path, block)
        ours += times
        for pair, path, cost in zip(block, paths, expected, strict=True):
            if not np.isclose(path.cost, cost, rtol=_SAME, atol=0) and path.cost != cost:
                raise WrongAnswerError(f"from {pair[0]} to {pair[1]} the hierarchy answers {path.cost}, A* {cost}")
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


def changes(graph: Graph, hierarchy: Hierarchy, inside: NDArray[np.int64]) -> dict[str, float]:
    """Seconds to customise for other costs, and to update 100 edges in one place and 100 edges anywhere."""
    began = time.perf_counter()
    hierarchy.customise(costs=_costs(graph) * np.float32(1.5))
    customised = time.perf_counter() - began
    hierarchy.customise()
    draw = np.random.default_rng(1)
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    slots = np.flatnonzero(np.isin(sources, inside))
    result: dict[str, list[float]] = {"update_near_ms": [], "update_anywhere_ms": []}
    for turn in range(8):
        centre = graph.points[draw.choice(inside)]
        away = np.linalg.norm(graph.points[sources[slots]] - centre, axis=1)
        for name, picked in (
            ("update_near_ms", slots[np.argsort(away)[:100]]),
            ("update_anywhere_ms", draw.choice(slots, 100, replace=False)),
        ):
            edges = np.column_stack([sources[picked], graph.targets[picked]])
            prices = _costs(graph)[picked] * np.float32(1 + turn)
            began = time.perf_counter()
            hierarchy.update(edges, prices)
            result[name].append((time.perf_counter() - began) * 1e3)
    began = time.perf_counter()
    hierarchy.refresh()
    refreshed = time.perf_counter() - began
    hierarchy.customise()
    medians = {name: float(np.median(times)) for name, times in result.items()}
    return {"customise_s": customised, **medians, "refresh_s": refreshed}


def batch(hierarchy: Hierarchy, inside: NDArray[np.int64], count: int) -> dict[str, float]:
    """Queries a second of a batch with one thread and with two."""
    draw = np.random.default_rng(2)
    starts, goals = draw.choice(inside, count), draw.choice(inside, count)
    hierarchy.paths(starts[:256], goals[:256])
    rates: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(3):
        for workers, found in rates.items():
            began = time.perf_counter()
            hierarchy.paths(starts, goals, workers=workers)
            found.append(count / (time.perf_counter() - began))
    one, two = (float(np.median(found)) for found in rates.values())
    growth = float(np.median(np.array(rates[2]) / np.array(rates[1])))
    return {"queries": count, "one_thread": one, "two_threads": two, "growth": growth}


def unreachable(hierarchy: Hierarchy, inside: NDArray[np.int64]) -> list[float]:
    """Microseconds that an unreachable goal takes, at every level."""
    labels = hierarchy.graph.components()
    outside = np.flatnonzero(labels != labels[inside[0]])[:1000].tolist()
    start = int(inside[0])
    result = []
    for level in range(hierarchy.num_levels + 1):
        began = time.perf_counter()
        for goal in outside:
            hierarchy.path(start, goal, level=level)
        result.append((time.perf_counter() - began) / max(1, len(outside)) * 1e6)
    return result


def large_maps(data: Path, most: int) -> list[Path]:
    """Dragon Age maps of more than 50,000 free cells, the largest first."""
    found = []
    for file in sorted((data / "movingai/dao").glob("*.map")):
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


def _each(find: Callable[[int, int], Any], pairs: list[tuple[int, int]]) -> tuple[list[float], list[Any]]:
    """Seconds of each query, and the answers."""
    times, answers = [], []
    for a, b in pairs:
        began = time.perf_counter()
        answer = find(a, b)
        times.append(time.perf_counter() - began)
        answers.append(answer)
    return times, answers


def _seconds(find: Callable[[int, int], Any], pairs: list[tuple[int, int]]) -> float:
    return float(np.mean(_each(find, pairs)[0]))


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))


def _costs(graph: Graph) -> NDArray[np.float32]:
    from wayfold.graph.convert import edge_costs

    return edge_costs(graph).astype(np.float32)
