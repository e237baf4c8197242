"""The tables of the indicative-routes paper (003) on our scenes, the quality of refined routes, and real terrain.

Our scenes have the paper's sizes, weights and queries but not its outlines, so what can be compared are its findings:
the dual graph is the fastest, the Steiner graph the cheapest, and costs fall with epsilon.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path as File
from typing import Any

import numpy as np

from wayfold import samples
from wayfold.bench import _weighted_paper as paper
from wayfold.bench.harness import Contender, WrongAnswerError, compare
from wayfold.geometry import Mesh
from wayfold.terrain import Terrain
from wayfold.terrain.gridded import GridRoutes
from wayfold.terrain.ground import Ground
from wayfold.terrain.routes import DualRoutes, EdgeRoutes
from wayfold.terrain.steiner import SteinerGraph

Step = Callable[[str], None]
Row = dict[str, Any]

LAND_COVER = {
    "Airport": 1.5,
    "Asphalt": 1.0,
    "Canal": 20.0,
    "Cemetery": 2.5,
    "Dirt": 3.0,
    "Freeway": 1.0,
    "GolfCourse": 2.5,
    "Grassland": 3.0,
    "Industrial": 2.0,
    "Lake": np.inf,
    "MixedForest": 8.0,
    "Ocean": np.inf,
    "Railroad": 2.0,
    "Road": 1.2,
    "Sand": 4.0,
    "Scrub": 6.0,
    "Stream": 15.0,
    "Town": 2.0,
    "Urban": 2.0,
}
"""Weights of the land cover of the real terrain: what a walker may think of it."""


def run(data: File, *, full: bool, progress: Step) -> dict[str, Any]:
    """All tables and measurements; without `full` fewer repetitions, random scenes and queries."""
    repeats = 15 if full else 3
    scenes = {
        "scene1": samples.scene1(),
        "forest child": samples.forest("child"),
        "forest adult": samples.forest("adult"),
        "zigzag": samples.zigzag(),
    }
    rows: list[Row] = []
    for name, scene in scenes.items():
        terrain = Terrain.from_scene(scene)
        for number, query in enumerate(scene.queries):
            rows += Table(name, number, terrain, query, repeats, progress).fill()
    return {
        "rows": rows,
        "findings": findings(rows),
        "speed": [speed(name, scenes[name], progress) for name in ("forest child", "forest adult")],
        "quality": quality(200 if full else 30, progress),
        "discs": discs(scenes, progress),
        "scale": scale(data, 100 if full else 10, progress),
    }


def timed(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Median milliseconds of a call and its last result; the first call is not timed."""
    result = work()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3, result


def check(terrain: Terrain, path: Any) -> float:
    """The cost of a path, once it agrees with the integral along its line."""
    exact = terrain.cost(path.points)
    if not np.isclose(path.cost, exact, rtol=1e-9):
        raise WrongAnswerError(f"a path costs {path.cost!r}, the integral along it is {exact!r}")
    return float(path.cost)


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
                    self._row(name, cell, method, built, partial(built[1].path, ends, method))
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
                "cost": check(self.terrain, path),
                "search_ms": took,
                "paper": _paper_rows(self.scene, self.number).get((graph, setting, method)),
            }
        )


def _steiner(ground: Ground, weights: Any, ends: Any, places: Any, epsilon: float) -> SteinerGraph:
    """A Steiner graph with every connection computed, as the paper builds it."""
    return SteinerGraph(ground, weights, ends, places, epsilon).build()


def _routes(terrain: Terrain, graph: str) -> Any:
    """A graph built from nothing but the triangles."""
    ground = Ground(terrain.vertices, terrain.triangles)
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
    """Whether the paper's findings hold, for each scene and query."""
    found = []
    for scene, query in dict.fromkeys((row["scene"], row["query"]) for row in rows):
        mine = [row for row in rows if (row["scene"], row["query"]) == (scene, query)]
        own = [row for row in mine if row["graph"] in ("grid", "dual", "dual-extra", "steiner")]
        fastest = min(own, key=lambda row: row["search_ms"])
        cheapest = min(own, key=lambda row: row["cost"])
        steiner = [row for row in own if row["graph"] == "steiner" and row["method"] == "dijkstra"]
        rises = sum(a["cost"] <= b["cost"] * (1 + 1e-9) for a, b in pairwise(steiner))
        construction = [row["paper"]["construction_ms"] / row["construction_ms"] for row in steiner if row["paper"]]
        cones = {row["setting"]: row["search_ms"] for row in mine if row["method"] == "cones"}
        found.append(
            {
                "scene": scene,
                "query": query,
                "fastest": fastest["graph"],
                "cheapest": cheapest["graph"],
                "steiner_costs_that_rise_with_epsilon": f"{rises} of {len(steiner) - 1}",
                "construction_times_faster_than_the_paper": min(construction),
                "cones_times_faster_than_dijkstra_up_to_64": min(
                    row["search_ms"] / cones[row["setting"]] for row in steiner if row["setting"] <= 64
                ),
            }
        )
    return found


def speed(name: str, scene: samples.Scene, progress: Step) -> Row:
    """Refined routes against the dual graph and a Steiner graph, in turn."""
    terrain = Terrain.from_scene(scene)
    start, goal = scene.queries[0]
    graphs = ("dual", "refined", "steiner")
    many = 20
    costs = {graph: terrain.path(start, goal, graph=graph, epsilon=64.0).cost for graph in graphs}

    def ask(graph: str) -> list[Any]:
        return [terrain.path(start, goal, graph=graph, epsilon=64.0) for _ in range(many)]

    def same(contender: str, answers: Any) -> None:
        if any(answer.cost != costs[contender] for answer in answers):
            raise WrongAnswerError(f"{contender} gave another cost than before")

    contenders = [Contender(graph, partial(ask, graph), many) for graph in graphs]
    result = compare(f"speed on {name}", contenders, same, rounds=7, progress=progress)
    return {"scene": name, "costs": costs, **result.as_dict()}


def quality(count: int, progress: Step) -> Row:
    """Refined routes on random scenes: against the certified bound and a Steiner graph."""
    gaps, steiner, failed = [], [], 0
    for seed in range(count):
        progress(f"random scene {seed + 1} of {count}")
        terrain, start, goal = random_scene(seed)
        path = terrain.path(start, goal)
        if not path:
            failed += 1
            continue
        cost = check(terrain, path)
        gaps.append(cost / float(path.lower_bound or 0.0) - 1)
        steiner.append(terrain.path(start, goal, graph="steiner", epsilon=64.0).cost / cost)
    return {
        "scenes": count,
        "unreachable": failed,
        "over_the_bound_mean": float(np.mean(gaps)),
        "over_the_bound_median": float(np.median(gaps)),
        "over_the_bound_most": float(np.max(gaps)),
        "steiner_64_over_refined_mean": float(np.mean(steiner)) - 1,
        "steiner_64_over_refined_least": float(np.min(steiner)) - 1,
    }


def random_scene(seed: int) -> tuple[Terrain, Any, Any]:
    """Cells of random weight, the nearest of some points deciding, as a raster; and two places in it."""
    rng = np.random.default_rng(seed)
    sites, kinds = rng.uniform(0, 24, (14, 2)), np.exp(rng.uniform(0, np.log(20), 14)).round(2)
    kinds[rng.random(14) < 0.1] = np.inf
    kinds[0] = 1.0
    rows, columns = np.indices((24, 24)) + 0.5
    away = (columns[..., None] - sites[:, 0]) ** 2 + (rows[..., None] - sites[:, 1]) ** 2
    weights = kinds[np.argmin(away, axis=-1)]
    free = np.argwhere(np.isfinite(weights))
    (r0, c0), (r1, c1) = free[rng.choice(len(free), 2, replace=False)]
    return Terrain.from_raster(weights), (c0 + 0.4, r0 + 0.6), (c1 + 0.5, r1 + 0.3)


def discs(scenes: dict[str, samples.Scene], progress: Step) -> list[Row]:
    """Costs of discs of growing radius."""
    rows = []
    for name, scene in scenes.items():
        terrain = Terrain.from_scene(scene)
        for graph in ("dual", "dual-extra", "grid", "refined"):
            progress(f"discs on {name}, {graph}")
            costs = [
                terrain.path(*scene.queries[0], graph=graph, cell=2.0, radius=r).cost for r in (0.0, 0.5, 1.0, 2.0)
            ]
            rows.append(
                {"scene": name, "graph": graph, "radius 0": costs[0], "0.5": costs[1], "1": costs[2], "2": costs[3]}
            )
    return rows


def scale(data: File, queries: int, progress: Step) -> list[Row]:
    """The real terrain, a sixteenth, a quarter and all of it: preparation and query times."""
    file = data / "terrain" / "honolulu_tile.npz"
    if not file.is_file():
        return []
    rows = []
    for part in (0.25, 0.5, 1.0):
        progress(f"real terrain, {part:g} of each side")
        mesh = real_mesh(file, part)
        begin = time.perf_counter()
        terrain = Terrain.from_mesh(mesh, {name: LAND_COVER[name] for name in mesh.material_names})
        ends = random_ends(terrain, queries)
        for graph in ("dual", "refined"):
            terrain.path(*ends[0], graph=graph)
        prepared = time.perf_counter() - begin
        row: Row = {"given_triangles": len(mesh), "triangles": terrain.num_triangles, "prepared_s": prepared}
        for graph in ("dual", "refined"):
            progress(f"real terrain, {terrain.num_triangles:,} triangles, {graph}")
            begin = time.perf_counter()
            paths = [terrain.path(*pair, graph=graph) for pair in ends]
            row[f"{graph}_ms"] = (time.perf_counter() - begin) / queries * 1e3
            row[f"{graph}_cost"] = float(np.mean([check(terrain, path) for path in paths if path]))
            row["found"] = sum(map(bool, paths))
        rows.append(row)
    return rows


def real_mesh(file: File, part: float = 1.0) -> Mesh:
    """The real terrain, or the middle of it: `part` of each side."""
    with np.load(file) as arrays:
        vertices, triangles = arrays["vertices"].astype(np.float64), arrays["triangles"]
        materials, names = arrays["material"], [str(name) for name in arrays["names"]]
    low, high = vertices[:, :2].min(axis=0), vertices[:, :2].max(axis=0)
    middle, half = (low + high) / 2, (high - low) / 2 * part
    centres = vertices[triangles].mean(axis=1)[:, :2]
    inside = (np.abs(centres - middle) <= half).all(axis=1)
    return Mesh(vertices, triangles[inside], materials[inside], names)


def random_ends(terrain: Terrain, count: int, seed: int = 1) -> list[Any]:
    """Starts and goals across a terrain that do not lie in obstacles."""
    rng = np.random.default_rng(seed)
    ends: list[Any] = []
    while len(ends) < count:
        pair = rng.uniform(terrain.bounds[:2], terrain.bounds[2:], (2, 2))
        places = terrain.locate(pair)
        if (places >= 0).all() and np.isfinite(terrain.triangle_weights[places]).all():
            ends.append(pair)
    return ends
