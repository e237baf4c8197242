"""Pictures of a hierarchy's levels as in figures 18 to 22 of paper 002, and plots of its figures 23 to 30."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfold.hierarchy import Hierarchy
from wayfold.hierarchy.query import PHASES
from wayfold.path import Path
from wayfold.view.pictures import ROUTE, WALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_levels(hierarchy: Hierarchy, path: Path | None = None, *, levels: Sequence[int] | None = None) -> Figure:
    """The parts of each level in colours, seen from above, with their portals, and a path through them.

    Parameters
    ----------
    hierarchy : Hierarchy
    path : Path, optional
        One of its paths.
    levels : sequence of int, optional
        Levels to draw, each in a panel of its own; all by default.
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
        _draw_parts(axes, hierarchy, level)
        if path is not None and len(path.points):
            path.plot(axes, color=ROUTE, linewidth=1.5)
    return figure


def _draw_parts(axes: Axes, hierarchy: Hierarchy, level: int) -> None:
    points = hierarchy.graph.points
    size = float(np.clip(4e5 / len(points), 0.2, 40))
    if level == 0:
        axes.scatter(points[:, 0], points[:, 1], s=size, color=WALL, linewidths=0)
        return
    labels = hierarchy.partition.labels(level)
    axes.scatter(points[:, 0], points[:, 1], s=size, c=part_colours(labels), linewidths=0)
    portals = points[hierarchy.portals(level)]
    axes.plot(portals[:, 0], portals[:, 1], ".", color="#b3001b", markersize=2.0)


def part_colours(labels: NDArray[Any]) -> NDArray[np.float64]:
    """A colour for each node by its part; neighbouring numbers get colours far apart."""
    from matplotlib.colors import hsv_to_rgb

    turn = (labels * 0.6180339887) % 1.0
    light = 0.65 + 0.3 * ((labels * 0.7548776662) % 1.0)
    return np.asarray(hsv_to_rgb(np.column_stack([turn, np.full(len(labels), 0.55), light])))


def plot_report(report: dict[str, Any]) -> list[tuple[str, Figure]]:
    """Figures 23, 24, 26, 27, 28 and 30 of the paper for each graph of a report of `bench.hierarchy`."""
    from matplotlib.figure import Figure

    result = []
    for table in report["paper"]:
        figure = Figure(figsize=(14, 8), layout="constrained")
        figure.suptitle(f"{table['name']}, {table['nodes']:,} nodes")
        quantities = [("nodes", "nodes (fig. 23)"), ("ms", "ms a query (fig. 24)"), ("length", "length / shortest")]
        numbers = dict(zip(PHASES, (" (fig. 26)", " (fig. 27)", " (fig. 28)", " (fig. 30)", ""), strict=True))
        quantities += [(phase, f"{phase}, µs{numbers[phase]}") for phase in PHASES]
        for at, (key, title) in enumerate(quantities, start=1):
            axes = figure.add_subplot(2, 4, at)
            for merge in sorted({row["merge"] for row in table["rows"]}):
                rows = [row for row in table["rows"] if row["merge"] == merge]
                axes.plot([row["level"] for row in rows], [row[key] for row in rows], marker=".", label=str(merge))
            axes.set_xlabel("level")
            axes.set_title(title, fontsize=10)
            if key in ("nodes", "ms"):
                axes.set_yscale("log")
        figure.legend(*axes.get_legend_handles_labels(), title="merge", loc="outside right center")
        result.append((table["name"].replace(" ", "_"), figure))
    return result
