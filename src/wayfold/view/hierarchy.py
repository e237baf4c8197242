"""Pictures of a hierarchy's levels as in figures 18 to 22 of Fuentes 2015, and plots of its figures 23 to 30."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfold.hierarchy import Hierarchy
from wayfold.hierarchy.query import PHASES
from wayfold.navmesh import NavMesh
from wayfold.path import Path
from wayfold.view.pictures import WALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_levels(
    hierarchy: Hierarchy,
    path: Path | None = None,
    *,
    levels: Sequence[int] | None = None,
    navmesh: NavMesh | None = None,
) -> Figure:
    """The parts of each level in colours, seen from above, with their portals, and a path through them.

    Parameters
    ----------
    hierarchy : Hierarchy
    path : Path, optional
        One of its paths.
    levels : sequence of int, optional
        Levels to draw, each in a panel of its own; all by default.
    navmesh : NavMesh, optional
        The mesh that the hierarchy was built from: its polygons are drawn instead of points.
    """
    from matplotlib.figure import Figure

    points = hierarchy.graph.points
    chosen = list(range(hierarchy.num_levels + 1) if levels is None else levels)
    width, height = (float(side) for side in np.maximum(np.ptp(points[:, :2], axis=0), 1e-9))
    panel = 5.0 * min(1.0, max(0.4, height / width))
    figure = Figure(figsize=(5.0 * len(chosen), panel + 0.5), layout="constrained")
    facts = {level.number: level for level in hierarchy.levels}
    for at, level in enumerate(chosen, start=1):
        axes = figure.add_subplot(1, len(chosen), at)
        axes.set_aspect("equal")
        axes.axis("off")
        axes.set_title(f"level {level}: {facts[level].nodes:,} nodes", fontsize=9)
        _draw_parts(axes, hierarchy, level, navmesh)
        if path is not None and len(path.points):
            path.plot(axes, color="#111111", linewidth=1.8)
    return figure


def _draw_parts(axes: Axes, hierarchy: Hierarchy, level: int, navmesh: NavMesh | None) -> None:
    points = hierarchy.graph.points
    # At level 0 every node is a part of its own.
    labels = hierarchy.partition.labels(level) if level else np.arange(len(points))
    colours = part_colours(labels)
    if navmesh is None:
        size = float(np.clip(4e5 / len(points), 0.2, 40))
        axes.scatter(points[:, 0], points[:, 1], s=size, marker="s", c=colours if level else WALL, linewidths=0)
    else:
        from matplotlib.collections import PolyCollection

        outlines = [navmesh.vertices[polygon][:, :2] for polygon in navmesh.polygons]
        axes.add_collection(PolyCollection(outlines, facecolors=colours, edgecolors="white", linewidths=0.15))
        axes.autoscale_view()
    if level:
        portals = points[hierarchy.portals(level)]
        dot = float(np.clip(60.0 / np.sqrt(len(portals) + 1), 0.3, 3.0))
        axes.plot(portals[:, 0], portals[:, 1], ".", color="#b3001b", markersize=dot)


def part_colours(labels: NDArray[Any]) -> NDArray[np.float64]:
    """A colour for each node by its part; neighbouring numbers get colours far apart."""
    from matplotlib.colors import hsv_to_rgb

    turn = (labels * 0.6180339887) % 1.0
    light = 0.65 + 0.3 * ((labels * 0.7548776662) % 1.0)
    return np.asarray(hsv_to_rgb(np.column_stack([turn, np.full(len(labels), 0.55), light])))


def plot_report(report: dict[str, Any]) -> list[tuple[str, Figure]]:
    """Figures 23, 24, 26, 27, 28 and 30 of the paper for each graph of a report of `bench.hierarchy`."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    # Nothing is inserted by a query, so there is nothing to see of the fifth phase.
    quantities = [
        ("nodes", "nodes (fig. 23)"),
        ("ms", "ms a query (fig. 24)"),
        ("times_faster", "times faster than A*"),
    ]
    quantities += [(phase, f"{phase}, µs (fig. {at})") for phase, at in zip(PHASES, (26, 27, 28, 30), strict=False)]
    quantities.append(("length", "length / shortest"))
    result = []
    for table in report["paper"]:
        figure = Figure(figsize=(14, 8), layout="constrained")
        figure.suptitle(f"{table['name']}, {table['nodes']:,} nodes")
        merges = sorted({row["merge"] for row in table["rows"]})
        for at, (key, title) in enumerate(quantities, start=1):
            axes = figure.add_subplot(2, 4, at)
            for place, merge in enumerate(merges):
                rows = [row for row in table["rows"] if row["merge"] == merge]
                colour = colormaps["turbo"]((place + 0.5) / len(merges))
                levels, values = [row["level"] for row in rows], [row[key] for row in rows]
                axes.plot(levels, values, marker=".", label=str(merge), color=colour)
            axes.set_xlabel("level")
            axes.set_title(title, fontsize=10)
            if key in ("nodes", "ms"):
                axes.set_yscale("log")
        figure.legend(*axes.get_legend_handles_labels(), title="merge", loc="outside right center")
        result.append((table["name"].replace(" ", "_"), figure))
    return result
