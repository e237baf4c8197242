"""The tables of Tibboel 2012 on our scenes, the quality of refined routes, and real terrain.

Our scenes have the paper's sizes, weights and queries but not its outlines, so what can be compared are its findings:
the dual graph is the fastest, the Steiner graph the cheapest, and costs fall with epsilon.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks import _weighted_paper as paper
from benchmarks import _weighted_quality, real_terrain
from benchmarks.harness import Contender, WrongAnswerError, compare
from benchmarks.real_data import RealData
from benchmarks.real_terrain import checked
from wayfold import samples
from wayfold.terrain import Terrain
from wayfold.terrain.gridded import GridRoutes
from wayfold.terrain.ground import Ground
from wayfold.terrain.routes import DualRoutes, EdgeRoutes
from wayfold.terrain.steiner import SteinerGraph

Step = Callable[[str], None]
Row = dict[str, Any]

_ENOUGH = 2.0  # seconds that are spent on repeating a call


def run(data: RealData, *, full: bool, progress: Step) -> dict[str, Any]:
    """All tables and measurements; without `full` fewer repetitions, random scenes and queries."""
    repeats = 15 if full else 3
    scenes = {
        "scene1": samples.scene1(),
        "forest child": samples.forest("child"),
        "forest adult": samples.forest("adult"),
        "zigzag": samples.zigzag(),
    }
    tile = data.file(str(real_terrain.TILE), "real terrain")
    rows: list[Row] = []
    for name, scene in scenes.items():
        terrain = Terrain.from_scene(scene)
        for number, query in enumerate(scene.queries):
            rows += Table(name, number, terrain, query, repeats, progress).fill()
    return {
        "rows": rows,
        "findings": findings(rows),
        "speed": [speed(name, scenes[name], progress) for name in ("forest child", "forest adult")],
        "quality": _weighted_quality.quality(scenes, 200 if full else 10, progress),
        "discs": _weighted_quality.discs(scenes, progress),
        "alone": None if tile is None else real_terrain.alone(tile),
        "scale": [] if tile is None else real_terrain.scale(tile, 100 if full else 10, progress),
    }


def timed(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Median milliseconds of a call and its last result; the first call is not timed, slow ones are repeated less."""
    result = work()
    times: list[float] = []
    while len(times) < repeats and sum(times) < _ENOUGH:
        begin = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3, result


@dataclass
class Table:
    """The rows of one query of one scene."""

    scene: str
    number: int
    terrain: Terrain
    query: tuple[Any, Any]
    repeats: int
    progress: Step
    rows: list[Row] = field(default_factory=list)

    def fill(self) -> list[Row]:
        """Every method: nodes, edges, construction, cost and search time, beside the paper's."""
        small = self.scene == "scene1"
        methods = ("astar", "dijkstra") if small else ("astar",)
        ground, weights = self.terrain._ground, self.terrain._weights
        ends, places = self.terrain._ends(*self.query)
        for cell in (1, 2, 4) if small else (1, 2) if self.scene == "zigzag" else (2, 4):
            for name, nodes, steps in (("grid", "centres", "sampled"), ("grid, corners", "corners", "exact")):
                built = self._build(partial(GridRoutes, ground, weights, float(cell), nodes, steps, 0.0))
                for method in methods if name == "grid" else ("astar",):
                    self._row(name, cell, method, built, partial(built[1].path, ends, places, method))
        for graph in ("dual", "dual-extra"):
            built = self._build(partial(_routes, self.terrain, graph))
            for method in methods:
                self._row(graph, None, method, built, partial(built[1].path, ends, places, method))
        for epsilon in paper.EPSILONS if small else paper.EPSILONS[3:]:
            repeats = 1 if epsilon < 64 else self.repeats
            built = self._build(partial(_steiner, ground, weights, ends, places, float(epsilon)), repeats)
            for method in ("astar", "dijkstra", "bushwhack", "cones") if small else ("dijkstra", "cones"):
                self._row("steiner", epsilon, method, built, partial(built[1].path, method))
        built = self._build(partial(_routes, self.terrain, "refined"))
        self._row("refined", None, "astar", built, partial(built[1].path, ends, places, "astar"))
        return self.rows

    def _build(self, work: Callable[[], Any], repeats: int | None = None) -> tuple[float, Any]:
        return timed(work, repeats or self.repeats)

    def _row(self, graph: str, setting: Any, method: str, built: tuple[float, Any], work: Callable[[], Any]) -> None:
        self.progress(f"{self.scene}, {graph} {setting or ''} {method}")
        took, path = timed(work, self.repeats)
        self.rows.append(
            {
                "scene": self.scene,
                "query": self.number,
                "graph": graph,
                "setting": setting,
                "method": method,
                "nodes": built[1].num_nodes,
                "edges": built[1].num_edges,
                "construction_ms": built[0],
                "cost": checked(self.terrain, path),
                "search_ms": took,
                "expanded": path.expanded,
                "paper": _paper_rows(self.scene, self.number).get((graph, setting, method)),
            }
        )


def _steiner(ground: Ground, weights: Any, ends: Any, places: Any, epsilon: float) -> SteinerGraph:
    """A Steiner graph with every connection computed, as the paper builds it."""
    return SteinerGraph(ground, weights, ends, places, epsilon).build()


def _routes(terrain: Terrain, graph: str) -> Any:
    """A graph built from nothing but the triangles."""
    ground = Ground.of(terrain.vertices, terrain.triangles)
    if graph == "dual":
        return DualRoutes(ground, terrain._weights)
    extra = EdgeRoutes(ground, terrain._weights, ground.extra)
    if graph == "dual-extra":
        return extra
    return EdgeRoutes(ground, terrain._weights, ground.coarse, refine=True, other=extra)


def _paper_rows(scene: str, query: int) -> dict[tuple[str, Any, str], dict[str, float]]:
    """The paper's rows for a scene and a query, by graph, setting and method."""
    found: dict[tuple[str, Any, str], dict[str, float]] = {}

    def add(graph: str, setting: Any, method: str, construction: float, cost: float, search: float) -> None:
        found[graph, setting, method] = {"construction_ms": construction, "cost": cost, "search_ms": search}

    if scene != "scene1":
        for (graph, setting), (construction, cost, search) in paper.SCENES[scene].items():
            add(graph, setting, "dijkstra" if graph == "steiner" else "astar", construction, cost, search)
        return found
    for cell, (cost, astar, dijkstra) in paper.GRID[query].items():
        add("grid", cell, "astar", paper.GRID_CONSTRUCTION[cell], cost, astar)
        add("grid", cell, "dijkstra", paper.GRID_CONSTRUCTION[cell], cost, dijkstra)
    for graph, (cost, astar, dijkstra) in paper.DUAL[query].items():
        add(graph, None, "astar", paper.DUAL_CONSTRUCTION[graph], cost, astar)
        add(graph, None, "dijkstra", paper.DUAL_CONSTRUCTION[graph], cost, dijkstra)
    for epsilon, (cost, astar, dijkstra, bushwhack) in paper.STEINER[query].items():
        for method, search in (("astar", astar), ("dijkstra", dijkstra), ("bushwhack", bushwhack)):
            add("steiner", epsilon, method, paper.STEINER_CONSTRUCTION[epsilon], cost, search)
    return found


def findings(rows: list[Row]) -> list[Row]:
    """Whether the paper's findings hold, for each scene and query: the dual graph fastest, Steiner cheapest and so on.

    Times within a quarter of each other are equal. The noise of costs over epsilon is the paper's own: the most by
    which one of its costs lies above one with a larger epsilon in any of its tables.
    """
    found = []
    tables: list[list[float]] = [[row[0] for row in table.values()] for table in paper.STEINER]
    tables += [[row[1] for key, row in table.items() if key[0] == "steiner"] for table in paper.SCENES.values()]
    noise = max(map(_rise, tables))
    for scene, query in dict.fromkeys((row["scene"], row["query"]) for row in rows):
        mine = [row for row in rows if (row["scene"], row["query"]) == (scene, query)]
        own = [row for row in mine if row["graph"] in ("grid", "dual", "dual-extra", "steiner")]
        fastest = min(own, key=lambda row: row["search_ms"])
        cheapest = min(own, key=lambda row: row["cost"])
        least = {name: min(row["search_ms"] for row in own if row["graph"] == name) for name in ("dual", "dual-extra")}
        steiner = [row for row in own if row["graph"] == "steiner" and row["method"] == "dijkstra"]
        rise = _rise([row["cost"] for row in steiner])
        construction = [row["paper"]["construction_ms"] / row["construction_ms"] for row in steiner if row["paper"]]
        cones = {row["setting"]: row["search_ms"] for row in mine if row["method"] == "cones"}
        refined = next(row for row in mine if row["graph"] == "refined")
        found.append(
            {
                "scene": scene,
                "query": query + 1,
                "fastest": fastest["graph"],
                "dual_fastest": least["dual"] <= 1.25 * fastest["search_ms"],
                "cheapest": cheapest["graph"],
                "steiner_cheapest": cheapest["graph"] == "steiner",
                "most_that_a_finer_steiner_graph_costs_more": rise,
                "in_the_papers_table": _rise([row["paper"]["cost"] for row in steiner if row["paper"]]),
                "in_any_of_its_tables": noise,
                "costs_fall_with_epsilon": rise <= noise and steiner[0]["cost"] <= steiner[-1]["cost"],
                "refined_cheapest_of_all": refined["cost"] <= cheapest["cost"] * (1 + 1e-9),
                "construction_times_faster_than_the_paper": min(construction),
                "cones_times_faster_than_dijkstra_up_to_64": min(
                    row["search_ms"] / cones[row["setting"]] for row in steiner if row["setting"] <= 64
                ),
            }
        )
    return found


def _rise(costs: list[float]) -> float:
    """The most by which a cost lies above a later one, relative."""
    return max((a / b - 1 for i, a in enumerate(costs) for b in costs[i + 1 :]), default=0.0)


def speed(name: str, scene: samples.Scene, progress: Step) -> Row:
    """Refined routes against the dual graph and a Steiner graph, in turn."""
    terrain = Terrain.from_scene(scene)
    start, goal = scene.queries[0]
    # "cones" is the fastest search of a Steiner graph here, Dijkstra's the fastest in the paper (section 7.2).
    methods: dict[str, dict[str, Any]] = {
        "dual": {"graph": "dual"},
        "refined": {"graph": "refined"},
        "steiner 64, cones": {"graph": "steiner", "search": "cones"},
        "steiner 64, dijkstra": {"graph": "steiner", "search": "dijkstra"},
    }
    many = 20
    costs = {name: terrain.path(start, goal, epsilon=64.0, **options).cost for name, options in methods.items()}

    def ask(name: str) -> list[Any]:
        return [terrain.path(start, goal, epsilon=64.0, **methods[name]) for _ in range(many)]

    def same(name: str, answers: Any) -> None:
        if any(answer.cost != costs[name] for answer in answers):
            raise WrongAnswerError(f"{name} gave another cost than before")

    contenders = [Contender(name, partial(ask, name), many) for name in methods]
    result = compare(f"speed on {name}", contenders, same, rounds=7, progress=progress)
    medians = {timing.name: timing.median for timing in result.timings}
    ratios = {
        "refined / dual": medians["refined"] / medians["dual"],
        "steiner, cones / refined": medians["steiner 64, cones"] / medians["refined"],
        "steiner, dijkstra / refined": medians["steiner 64, dijkstra"] / medians["refined"],
    }
    return {"scene": name, "costs": costs, "ratios": ratios, **result.as_dict()}
