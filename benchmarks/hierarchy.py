"""What Fuentes 2015 measures in its section IV, on real graphs, beside what the exact hierarchy does.

The paper's levels (`exact=False`) are measured for several merge factors at every level: nodes (figure 23), total time
(figures 24 and 25) and time by phase (figures 26 to 30), with the path's length against the shortest. What the exact
hierarchy has to show is measured by `exact_hierarchy`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import exact_hierarchy, peers
from benchmarks.exact_hierarchy import Effort, each
from benchmarks.harness import WrongAnswerError
from benchmarks.real_data import RealData
from wayfold.agent import Agent
from wayfold.formats import load_bsp
from wayfold.hierarchy import Hierarchy
from wayfold.hierarchy.query import PHASES
from wayfold.navmesh import NavMesh

QUAKE_LEVEL = "czest1dm"
_PLAYER = Agent(radius=15, height=56, climb=18, slope=45.5)  # Quake units
_SAME = 1e-6
_MOST_LEVELS = 10
_ROUNDS = 3
Progress = Callable[[str], None]

# More queries than links that are kept, or linking would look cheaper than it is.
QUICK = Effort(merges=(5, 14), paper_queries=20, exact_queries=1_000, batch=10_000, maps=2, small_rounds=3)
FULL = Effort(
    merges=tuple(range(2, 15)), paper_queries=100, exact_queries=10_000, batch=100_000, maps=10_000, small_rounds=9
)


def run(data: RealData, *, full: bool, progress: Progress) -> dict[str, Any]:
    """Measure everything.

    Parameters
    ----------
    data : RealData
    full : bool
        All merge factors from 2 to 14, 10,000 random pairs, a batch of 100,000 queries and all large Dragon Age maps;
        otherwise a tenth of that.
    progress : callable
        Called with what comes next.

    Returns
    -------
    dict
        ``paper`` (tables of the paper's levels), ``exact`` (the city graph), ``dao`` (large Dragon Age maps), ``small``
        (graphs from ten nodes on).
    """
    effort = FULL if full else QUICK
    city = level = maze = None
    if data.file("city/city_cs03_t48_graph.npz", "the city navmesh") and data.file("city/pairs100.txt", "its pairs"):
        assert data.folder is not None
        city = peers.city(data.folder)
    if file := data.file(f"quake/{QUAKE_LEVEL}.bsp", f"the navmesh of the Quake level {QUAKE_LEVEL}"):
        level = quake(file, effort.paper_queries)
    maps = data.find("movingai/dao/*.map", "exact paths on large Dragon Age maps")
    if data.file("movingai/dao/orz900d.map", "the paper's levels on the Dragon Age map orz900d"):
        maze = peers.dao(maps[0].parents[2], "orz900d", effort.paper_queries)
    tasks = ((city, "city navmesh"), (level, f"Quake navmesh {QUAKE_LEVEL}"), (maze, "Dragon Age map orz900d"))
    report: dict[str, Any] = {"paper": [], "dao": [], "exact": None}
    for task, name in tasks:
        if task is not None:
            progress(f"the paper's levels, {name}")
            report["paper"].append(paper_levels(task, name, effort))
    if city is not None:
        progress("exact, city navmesh")
        report["exact"] = exact_hierarchy.exact(city, effort)
    for file in exact_hierarchy.large_maps(maps, effort.maps):
        progress(f"exact, {file.stem}")
        report["dao"].append(exact_hierarchy.dao(file))
    progress("small graphs")
    report["small"] = exact_hierarchy.small_graphs(effort.small_rounds)
    return report


def quake(file: Path, queries: int) -> peers.Task:
    """The navigation mesh of a Quake level as a graph, with pairs in its largest component."""
    mesh = load_bsp(file).mesh
    graph = NavMesh.build(mesh, _PLAYER, cell_size=4.0, cell_height=2.0).graph
    starts, goals = exact_hierarchy.random_pairs(graph, queries, seed=0)
    return peers.Task(f"Quake level {QUAKE_LEVEL}", graph, starts, goals)


def paper_levels(task: peers.Task, name: str, effort: Effort) -> dict[str, Any]:
    """Figures 23 to 30: the paper's own search for several merge factors, at all levels."""
    graph = task.graph
    pairs = list(zip(task.starts.tolist(), task.goals.tolist(), strict=True))[: effort.paper_queries]
    shortest = np.array([graph.path(a, b).cost for a, b in pairs])
    rows, flat_rounds = [], []
    for merge in effort.merges:
        flat_rounds.append(each(graph.path, pairs)[0])
        hierarchy = Hierarchy.build(graph, merge=merge, levels=_MOST_LEVELS, exact=False)
        for level in hierarchy.levels:
            number = level.number
            hierarchy.path(*pairs[0], level=number)
            rounds = [each(partial(hierarchy.path, level=number), pairs) for _ in range(_ROUNDS)]
            # The median of a query's times leaves out what else the machine did.
            took = float(np.median([times for times, _ in rounds], axis=0).mean())
            paths = rounds[-1][1]
            ratios = np.array([path.cost for path in paths]) / np.maximum(shortest, np.finfo(float).tiny)
            if (ratios[shortest > 0] < 1 - _SAME).any() or not np.isfinite(ratios).all():
                raise WrongAnswerError(f"merge {merge}, level {number}: a path is missing or shorter than the shortest")
            rows.append(
                {
                    "merge": merge,
                    "level": number,
                    "nodes": level.nodes,
                    "portals": level.portals,
                    "intra_edges": level.intra_edges,
                    "ms": took * 1e3,
                    "times_faster": 0.0,  # once flat A* has been timed beside all of them
                    "length": float(ratios[shortest > 0].mean()),
                    "longest": float(ratios[shortest > 0].max()),
                    **{
                        phase: 1e6 * float(np.mean([path.timings.get(phase, 0.0) for path in paths]))
                        for phase in PHASES
                    },
                }
            )
    flat = float(np.median(flat_rounds, axis=0).mean())
    for row in rows:
        row["times_faster"] = 1e3 * flat / row["ms"]
    best = max(rows, key=lambda row: row["times_faster"])
    return {"name": name, "nodes": graph.num_nodes, "edges": graph.num_edges, "best": best, "rows": rows}
