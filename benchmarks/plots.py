"""The plots of the report: what a paper draws as a figure, drawn of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wayfold import samples
from wayfold.core import archive
from wayfold.floorplan import FloorPlan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Plots = Iterator[tuple[str, str, "Figure"]]

_PIXELS = 1200  # across a picture at most
SCENES = {"scene1": "scene1", "forest_child": "forest child", "forest_adult": "forest adult", "zigzag": "zigzag"}


def write_plots(
    paper: str, found: dict[str, Any], folder: Path, plans: Mapping[str, FloorPlan] | None = None
) -> dict[str, str]:
    """Write the plots of a paper's measurement and return their captions by file name.

    Floor plans, where some are given, are drawn with their decompositions as in Figure 2 of Hale et al. 2008. A file
    that is being written is not seen under its name until it is whole.
    """
    captions = {}
    for name, caption, figure in (*_PLOTS[paper](found), *_figure_2(plans or {})):
        file = f"{paper}_{name}.png"
        with archive.replacing(folder / file) as out:
            figure.savefig(out, dpi=min(110.0, _PIXELS / figure.get_figwidth()), format="png")
        captions[file] = caption
    return captions


def _sparse_grid(found: dict[str, Any]) -> Plots:
    from wayfold.view.sparse import plot_memory, plot_quality

    if found["memory"]:
        yield "memory", "Memory of every map (Figure 5)", plot_memory(found["memory"][0]["rows"])
    if found["planning"]:
        lengths = np.array(found["planning"]["lengths"])
        yield "lengths", "Smoothed lengths by the listed optimum", plot_quality(lengths)


def _subregion(found: dict[str, Any]) -> Plots:
    for city, facts in found["cities"].items():
        yield f"{city}_city", f"{city} city: speed-up against A* and length, by way of planning", _ways(facts["sets"])


def _ways(sets: dict[str, Any]) -> Figure:
    """Length against speed-up for every way of planning, a panel for each set of motions."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.4), layout="constrained")
    for at, (motions, row) in enumerate(sets.items(), start=1):
        axes = figure.add_subplot(1, len(sets), at)
        for way, got in row["planning"].items():
            if isinstance(got, dict) and got["speedup"] is not None:
                axes.plot(got["length_percent"], got["speedup"], "o")
                axes.annotate(
                    way, (got["length_percent"], got["speedup"]), (4, 3), textcoords="offset points", fontsize=8
                )
        axes.set_title(motions)
        axes.margins(0.2)
        axes.set_xlabel("length, % of A*")
    figure.axes[0].set_ylabel("times faster than A*")
    return figure


def _hierarchy(found: dict[str, Any]) -> Plots:
    from wayfold.view.hierarchy import plot_report

    for name, figure in plot_report(found):
        yield name.lower(), f"Figures 23 to 30 on the {name.replace('_', ' ')}", figure


def _decomposition(found: dict[str, Any]) -> Plots:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    sizes = [row["obstacles"] for row in found["scaling"]]
    for method in found["distances"]:
        axes.loglog(sizes, [row[method] for row in found["scaling"]], "o-", label=method)
    axes.set_xlabel("obstacles")
    axes.set_ylabel("seconds")
    axes.legend()
    yield "scaling", "Seconds against the number of obstacles", figure


def _figure_2(plans: Mapping[str, FloorPlan]) -> Plots:
    from wayfold.floorplan import METHODS
    from wayfold.view.decompositions import figure_2

    if plans:
        cuts = {method: [plan.decompose(method) for plan in plans.values()] for method in METHODS}
        yield "regions", "Levels, regions and graphs by every method (Figure 2)", figure_2(plans, cuts)


def _weighted(found: dict[str, Any]) -> Plots:
    from wayfold.terrain import Terrain
    from wayfold.view.terrain import draw_terrain, plot_bars, plot_scale

    for name, title in SCENES.items():
        sample, _, kind = title.partition(" ")
        scene = samples.make(sample, **({"kind": kind} if kind else {}))
        assert isinstance(scene, samples.Scene)
        terrain = Terrain.from_scene(scene)
        for number, (start, goal) in enumerate(scene.queries, start=1):
            paths = {
                "grid": terrain.path(start, goal, graph="grid", cell=2.0, steps="sampled"),
                "grid, coarse": terrain.path(start, goal, graph="grid", cell=4.0, steps="sampled"),
                "dual": terrain.path(start, goal, graph="dual"),
                "dual-extra": terrain.path(start, goal, graph="dual-extra"),
                "steiner": terrain.path(start, goal, graph="steiner", epsilon=64.0),
                "steiner, coarse": terrain.path(start, goal, graph="steiner", epsilon=16384.0),
                "refined": terrain.path(start, goal),
            }
            yield f"{name}_{number}", f"Routes of all methods on {title}, query {number}", draw_terrain(terrain, paths)
    for scene_name, first in (("forest child", 21), ("forest adult", 23)):
        rows = [r for r in found["rows"] if r["scene"] == scene_name and (r["paper"] or r["graph"] == "refined")]
        for number, value, label in ((first, "search_ms", "search, ms"), (first + 1, "cost", "cost")):
            yield f"figure_{number}", f"Figure {number}: {label}, {scene_name}", plot_bars(rows, value, label)
    if found["scale"]:
        yield "scale", "Real terrain: times against triangles", plot_scale(found["scale"])


_PLOTS = {
    "sparse_grid": _sparse_grid,
    "subregion": _subregion,
    "hierarchy": _hierarchy,
    "decomposition": _decomposition,
    "weighted": _weighted,
}
