"""Pictures of terrains in the style of Tibboel 2012: white to blue by weight, routes over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from wayfold.path import Path
from wayfold.view.pictures import ROUTE, WALL, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from wayfold.terrain import Terrain

# The paper's colours of methods (Figures 19, 20 and 25); refined routes are ours.
COLOURS = {
    "grid": "#7bd389",
    "grid, coarse": "#1b7837",
    "dual": "#ff69b4",
    "dual-extra": "#8e44ad",
    "steiner": "#f4a29b",
    "steiner, coarse": "#a50f15",
    "refined": "#111111",
}

OTHERS = (ROUTE, "#111111", "#e08214", "#1b7837", "#8e44ad")
"""Colours of routes whose labels name no method, in turn."""


def draw_terrain(terrain: Terrain, paths: Mapping[str, Path] | None = None) -> Figure:
    """A terrain with routes on it.

    Parameters
    ----------
    terrain : Terrain
    paths : mapping of label to Path, optional
        Drawn in the order given; a label that is a method's name gets the paper's colour of that method.
    """
    x0, y0, x1, y1 = terrain.bounds
    figure, axes = new_figure(x1 - x0, y1 - y0)
    draw_weights(axes, terrain)
    for number, (label, path) in enumerate((paths or {}).items()):
        if len(path.points):
            style: dict[str, Any] = {"color": COLOURS.get(label, OTHERS[number % len(OTHERS)]), "linewidth": 1.6}
            name = label if np.isinf(path.cost) else f"{label}: {path.cost:.5g}"
            axes.plot(path.points[:, 0], path.points[:, 1], label=name, **style)
    if paths:
        axes.legend(loc="upper right", fontsize=7, framealpha=0.85)
    return figure


def draw_weights(axes: Axes, terrain: Terrain) -> None:
    """The triangles of a terrain: white for weight 1 (or the least), blue for the greatest, dark for obstacles."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import LinearSegmentedColormap

    weights = terrain.triangle_weights
    free = np.isfinite(weights)
    most = float(weights[free].max()) if free.any() else 1.0
    least = min(1.0, float(weights[free].min())) if free.any() else 1.0
    shade = np.zeros(len(weights))
    if most > least:
        # Weights are ratios: from road to swamp is as far as from swamp to thicket.
        shade[free] = np.log(weights[free] / least) / np.log(most / least)
    colours = LinearSegmentedColormap.from_list("weights", ["#ffffff", "#2255cc"])(shade)
    colours[~free] = (0.24, 0.27, 0.32, 1.0)
    few = terrain.num_triangles <= 2000
    axes.add_collection(
        PolyCollection(
            list(terrain.vertices[terrain.triangles]),
            facecolors=colours,
            edgecolors=WALL if few else "face",
            linewidths=0.15,
        )
    )
    axes.autoscale()


def plot_scale(rows: list[dict[str, Any]]) -> Figure:
    """Growth of query times with the number of triangles."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    for graph in ("dual", "refined"):
        axes.plot(
            [row["triangles"] for row in rows],
            [row[f"{graph}_ms"] for row in rows],
            "o-",
            color=COLOURS[graph],
            label=graph,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("triangles")
    axes.set_ylabel("ms a query")
    axes.legend()
    return figure


def plot_bars(rows: list[dict[str, Any]], value: str, label: str) -> Figure:
    """Bar chart of one value of a table's rows, the paper's bar beside each of ours, as in Figures 21 to 24.

    Parameters
    ----------
    rows : list of dict
        With graph, setting, method, the value, and the paper's values or None under "paper".
    value : "search_ms" or "cost"
    label : str
        Of the axis.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.add_subplot()
    places = np.arange(len(rows))
    ours = [row[value] for row in rows]
    theirs = [row["paper"][value] if row["paper"] else 0.0 for row in rows]
    axes.bar(places - 0.2, theirs, 0.4, color="#9db4d0", label="paper")
    axes.bar(places + 0.2, ours, 0.4, color="#2255cc", label="ours")
    names = [row["graph"] if row["setting"] is None else f"{row['graph']} {row['setting']}" for row in rows]
    axes.set_xticks(places, names, rotation=45, ha="right", fontsize=7)
    if value == "search_ms":
        axes.set_yscale("log")
    axes.set_ylabel(label)
    axes.legend()
    return figure
