"""Draws the pictures of the pages: ``make pictures``, or ``python docs/pictures.py [NAME ...]`` for some of them.

Pictures of real levels are drawn when ``--data DIR`` or WAYFOLD_DATA names the folder of real data. Plots of
measurements come from ``python -m benchmarks papers --out report``; what lies in ``report`` is copied.
"""

from __future__ import annotations

import argparse
import os
import re
import runpy
import shutil
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.decomposition import scattered
from wayfold import (
    Agent,
    DenseGrid,
    FloorPlan,
    Graph,
    Hierarchy,
    Motion,
    NavMesh,
    SparseGrid,
    SubregionGraph,
    Terrain,
    WaypointGraph,
    formats,
    samples,
)
from wayfold.cli.app import app
from wayfold.floorplan import METHODS
from wayfold.view import decompositions, pictures, sparse
from wayfold.view.hierarchy import draw_levels
from wayfold.view.terrain import draw_terrain
from wayfold.view.waypoints import draw_planning

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
DRAWN: dict[str, Callable[[], Figure | None]] = {}
OF_REAL_LEVELS: dict[str, Callable[[Path], Figure]] = {}
DPI = {"favicon.png": 64, "floor-plan.png": 55, "subregions.png": 60}
# Pictures on the pages, and what the reports call them.
MEASURED = {
    "floor-plan-cost.png": "decomposition-scaling.png",
    "sparse_grid_memory.png": "sparse_grid_memory.png",
    "sparse_grid_lengths.png": "sparse_grid_lengths.png",
    "terrain_growth.png": "weighted_scale.png",
}


def picture(name: str) -> Callable[[Callable[[], Figure | None]], Callable[[], Figure | None]]:
    """Say that a function draws the picture of this name."""
    return lambda draw: DRAWN.setdefault(name, draw)


def caves(height: int, width: int, grain: float) -> NDArray[np.bool_]:
    """Free cells of a cave: 65 % of them."""
    from scipy.ndimage import gaussian_filter

    noise = gaussian_filter(np.random.default_rng(3).random((height, width)), grain)
    return np.asarray(noise > np.quantile(noise, 0.35))


def ends_of_largest(graph: Graph) -> tuple[int, int]:
    """The first and the last node of the largest component."""
    labels = graph.components()
    inside = np.flatnonzero(labels == np.bincount(labels).argmax())
    return int(inside[0]), int(inside[-1])


@picture("demo.png")
def the_demo() -> None:
    """Also `demo_bridge_closed.png`."""
    with tempfile.TemporaryDirectory() as folder:
        app(["demo", "--quiet", "--out", folder], standalone_mode=False)
        shutil.copyfile(Path(folder) / "demo.png", IMAGES / "demo.png")
        shutil.copyfile(Path(folder) / "bridge_closed.png", IMAGES / "demo_bridge_closed.png")


@picture("packages.svg")
def the_packages() -> Figure:
    """The layers of the import contract, highest first."""
    contracts = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = [
        [package.strip(" ()").removeprefix("wayfold.") for package in layer.split("|")]
        for layer in contracts["contracts"][0]["layers"]
    ]
    figure = Figure(figsize=(8, 0.52 * len(layers)), layout="constrained")
    axes = figure.add_subplot()
    axes.axis("off")
    for row, layer in enumerate(layers):
        for column, package in enumerate(layer):
            width = 12.0 / len(layer)
            colour = "#eceff1" if package.startswith("_") or package in ("errors", "path", "agent") else "#b2dfdb"
            axes.add_patch(_box(column * width + 0.1, -row, width - 0.2, 0.74, colour))
            axes.text((column + 0.5) * width, 0.37 - row, package, ha="center", va="center", fontsize=11)
    axes.set_xlim(0, 12)
    axes.set_ylim(1 - len(layers), 0.8)
    return figure


def _box(x: float, y: float, width: float, height: float, colour: str) -> Any:
    from matplotlib.patches import FancyBboxPatch

    style = "round,pad=0,rounding_size=0.15"
    return FancyBboxPatch((x, y), width, height, boxstyle=style, facecolor=colour, edgecolor="#607d8b")


@picture("favicon.png")
def the_icon() -> Figure:
    figure = Figure(figsize=(0.5, 0.5))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    axes.plot([0, 1, 1, 2, 2, 3], [0, 0.3, 2, 1.2, 3, 3], color="#009688", linewidth=3.5)
    axes.plot([0], [0], "o", color="#2b9348", markersize=6)
    axes.plot([3], [3], "s", color="#d1495b", markersize=6)
    axes.set_xlim(-0.6, 3.6)
    axes.set_ylim(-0.6, 3.6)
    return figure


def first_blocks(page: str, count: int) -> dict[str, Any]:
    """The names that the first Python blocks of a page make: what it shows is what is drawn."""
    names: dict[str, Any] = {}
    for code in re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)[
        :count
    ]:
        exec(code, names)
    return names


@picture("tutorial_path.png")
def the_tutorial() -> Figure:
    page = first_blocks("tutorial.md", 3)
    figure, axes = pictures.new_figure(100, 100)
    pictures.draw_mesh(axes, page["world"].mesh)
    page["path"].plot(axes)
    return figure


@picture("walls.png")
def the_walls() -> Figure:
    page = first_blocks("how-to/walls.md", 1)
    world, ends = page["world"], (page["start"], page["goal"])
    figure, axes = pictures.new_figure(24, 16, longest=7.0)
    pictures.draw_polygons(axes, world.planner(page["body"]).map)
    for agent, colour in ((page["body"], pictures.ROUTE), (page["comfort"], "#1f6f8b")):
        world.path(*ends, agent, exact=True).plot(axes, color=colour, label=f"radius {agent.radius} m")
    axes.legend(loc="upper left")
    return figure


@picture("graph.png")
def the_graph() -> Figure:
    rng = np.random.default_rng(7)
    points = rng.random((900, 3)) * (100.0, 100.0, 20.0)
    pairs = [(a, b) for a in range(900) for b in range(a) if np.linalg.norm(points[a] - points[b]) < 9.5]
    graph = Graph.from_edges(points, pairs)
    start, goal = graph.nearest((20.0, 30.0, 10.0)), graph.nearest((85.0, 75.0, 10.0))
    path = graph.path(start, goal)
    reach = graph.distances(start, limit=path.cost)
    onward = np.linalg.norm(graph.points - graph.points[goal], axis=1)
    figure = Figure(figsize=(8, 4), layout="constrained")
    for at, (name, settled) in enumerate(
        {"A*": reach + onward <= path.cost, "Dijkstra": np.isfinite(reach)}.items(), 1
    ):
        axes = figure.add_subplot(1, 2, at)
        axes.set_aspect("equal")
        axes.axis("off")
        axes.set_title(f"{name}: {settled.sum()} of {graph.num_nodes} nodes", fontsize=10)
        pictures.draw_edges(axes, graph)
        axes.plot(*graph.points[settled, :2].T, "o", color="#f28f3b", markersize=3)
        path.plot(axes)
    return figure


@picture("dense_grid.png")
def the_dense_grid() -> Figure:
    grid = DenseGrid(caves(72, 110, 3.5))
    graph, _ = grid.graph()
    start, goal = (graph.points[node] for node in ends_of_largest(graph))
    path = grid.path(start, goal)
    figure = pictures.draw_path(grid, path)
    path.smooth().plot(figure.axes[0], color="#1f6f8b", linestyle="--")
    return figure


@picture("sparse_grid_regions.png")
def the_sparse_grid() -> Figure:
    y, x = np.nonzero(caves(110, 144, 5.0))
    grid = SparseGrid.from_cells(np.column_stack([x, y, np.zeros_like(x)]), sector_size=10)
    graph = DenseGrid(caves(110, 144, 5.0)).graph()[0]
    start, goal = (graph.points[node].astype(int) for node in ends_of_largest(graph))
    return sparse.draw_regions(grid, grid.path(start, goal, smooth=True))


@picture("hierarchy_levels.png")
def the_hierarchy() -> Figure:
    hierarchy = Hierarchy.build(DenseGrid(caves(240, 320, 7.0)))
    start, goal = ends_of_largest(hierarchy.graph)
    path = hierarchy.path(start, goal, level=hierarchy.num_levels)
    print(
        f"{hierarchy.graph.num_nodes} cells, {path.expanded} portals settled, "
        f"by A* {hierarchy.graph.path(start, goal).expanded} nodes"
    )
    return draw_levels(hierarchy, path, levels=[2, 3, 4])


@picture("hierarchy_navmesh.png")
def the_paper_s_levels() -> Figure:
    navmesh = NavMesh.build(samples.city((160.0, 160.0), 3), Agent(), tile_size=48)
    hierarchy = Hierarchy.build(navmesh, merge=4, levels=3, exact=False)
    return draw_levels(hierarchy, hierarchy.path(*ends_of_largest(navmesh.graph), level=3), navmesh=navmesh)


@picture("navmesh.png")
def the_navmesh() -> Figure:
    navmesh = NavMesh.build(samples.city((80.0, 80.0), 4), Agent(radius=0.5, height=1.8, climb=0.4), tile_size=64)
    low, high = navmesh.vertices.min(axis=0), navmesh.vertices.max(axis=0)
    ends = (low[0] + 2, low[1] + 2), (high[0] - 4, high[1] - 2)
    figure = pictures.draw_path(navmesh, navmesh.path(*ends))
    navmesh.path(*ends, exact=False).plot(figure.axes[0], color="#1f6f8b", linestyle="--", linewidth=1.2)
    return figure


@picture("subregions.png")
def the_subregions() -> Figure:
    waypoints = WaypointGraph.build(samples.city((120.0, 120.0), 2), Agent())
    flying = SubregionGraph.build(waypoints, Motion.SURFACE | Motion.VOLUMETRIC)
    corner = waypoints.points[:, :2].sum(axis=1)
    return draw_planning(flying, flying.path(int(corner.argmin()), int(corner.argmax())))


@picture("window.png")
def the_window() -> None:
    runpy.run_path(str(DOCS.parent / "examples" / "window.py"))["main"](IMAGES / "window.png")


@picture("floor-plan.png")
def the_floor_plans() -> Figure:
    plans = {"rooms": samples.rooms(3, (40.0, 26.0)), "maze": samples.maze(8, 8, seed=1)}
    worlds = {name: FloorPlan(plan.boundary, plan.obstacles) for name, plan in plans.items()}
    worlds["open place"] = scattered(20, seed=4)
    return decompositions.figure_2(worlds, {way: [plan.decompose(way) for plan in worlds.values()] for way in METHODS})


def all_methods(scene: samples.Scene) -> Figure:
    terrain = Terrain.from_scene(scene)
    ends = scene.queries[0]
    paths = {
        "grid": terrain.path(*ends, graph="grid", cell=2.0, steps="sampled"),
        "grid, coarse": terrain.path(*ends, graph="grid", cell=4.0, steps="sampled"),
        "dual": terrain.path(*ends, graph="dual"),
        "dual-extra": terrain.path(*ends, graph="dual-extra"),
        "steiner": terrain.path(*ends, graph="steiner", epsilon=64.0),
        "steiner, coarse": terrain.path(*ends, graph="steiner", epsilon=16384.0),
        "refined": terrain.path(*ends),
    }
    return draw_terrain(terrain, paths)


@picture("terrain_forest.png")
def the_forest() -> Figure:
    return all_methods(samples.forest("child"))


@picture("terrain_zigzag.png")
def the_zigzag() -> Figure:
    return all_methods(samples.zigzag())


@picture("terrain_discs.png")
def the_discs() -> Figure:
    scene = samples.forest("child")
    terrain = Terrain.from_scene(scene)
    start, goal = scene.queries[0]
    return draw_terrain(terrain, {f"radius {r}": terrain.path(start, goal, radius=float(r)) for r in (0, 3, 6)})


def of_level(file: str, cell: float) -> Callable[[Path], Figure]:
    """A sparse grid of one of Recast's sample levels, with a way between two far cells."""

    def draw(data: Path) -> Figure:
        mesh = formats.load_mesh(data / "recast" / file, up="y")
        grid = SparseGrid.from_mesh(mesh, Agent(radius=0.6, height=2.0, climb=0.9), cell=cell)
        ends = np.random.default_rng(1).choice(grid.cells, (40, 2))
        longest = max(
            (path for path in grid.paths(ends[:, 0], ends[:, 1], smooth=True) if path), key=lambda p: p.length
        )
        return sparse.draw_floors(grid, longest)

    return draw


OF_REAL_LEVELS["sparse_grid_nav_test.png"] = of_level("nav_test.obj", 0.3)
OF_REAL_LEVELS["sparse_grid_dungeon.png"] = of_level("dungeon.obj", 0.3)


def main() -> None:
    words = argparse.ArgumentParser(description="Draw the pictures of the documentation.")
    words.add_argument("names", nargs="*", help="file names; all by default")
    words.add_argument("--data", default=os.environ.get("WAYFOLD_DATA") or None, help="folder of real data")
    words.add_argument("--report", default="report", help="folder that `python -m benchmarks papers --out` wrote")
    given = words.parse_args()
    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")  # the same drawing, the same bytes
    rcParams["svg.hashsalt"] = "wayfold"
    for name in given.names or [*DRAWN, *OF_REAL_LEVELS, *MEASURED]:
        begin = time.perf_counter()
        figure = None
        if name in MEASURED:
            source = Path(given.report) / MEASURED[name]
            if not source.is_file():
                print(f"{name}: kept, for there is no {source}")
                continue
            shutil.copyfile(source, IMAGES / name)
        elif name in OF_REAL_LEVELS:
            if not given.data:
                print(f"{name}: kept, for it needs --data DIR")
                continue
            figure = OF_REAL_LEVELS[name](Path(given.data))
        else:
            figure = DRAWN[name]()
        if figure is not None:
            pictures.save(figure, IMAGES / name, dpi=DPI.get(name, 90))
        print(f"{name}: {time.perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    main()
