"""Pictures of floor plans and decompositions, like Figure 2 of Hale et al. 2008."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from wayfold.floorplan import Decomposition, FloorPlan
from wayfold.view.pictures import GROUND, WALL, draw_edges

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#cfe3d4", "#f3d9c0", "#d5d9ef", "#f4ecc2", "#e5cfe0", "#c8e4ea")


def draw_plan(axes: Axes, plan: FloorPlan) -> None:
    """The walls and the free space of a plan."""
    low_x, low_y, high_x, high_y = plan.boundary.bounds
    axes.set_xlim(low_x, high_x)
    axes.set_ylim(low_y, high_y)
    axes.set_facecolor(WALL)
    _fill(axes, shapely.get_parts(plan.free), [GROUND])


def draw_decomposition(axes: Axes, cut: Decomposition, level: int = 0) -> None:
    """The regions of a floor, each in a colour, over the plan; uncovered free space stays white."""
    draw_plan(axes, cut.levels[level].plan)
    numbers = np.flatnonzero(cut.region_levels == level)
    _fill(axes, [cut.regions[k] for k in numbers], [_COLOURS[k % len(_COLOURS)] for k in numbers], edge=WALL)


def draw_graph(axes: Axes, cut: Decomposition) -> None:
    """The navigation graph over the plan."""
    if cut.num_regions:
        draw_edges(axes, cut.graph)
    draw_plan(axes, cut.plan)


def figure_2(plans: Mapping[str, FloorPlan], cuts: Mapping[str, Sequence[Decomposition]]) -> Figure:
    """Worlds in columns; below each the decompositions by every method, then their navigation graphs.

    Parameters
    ----------
    plans : mapping of str to FloorPlan
        The worlds by name.
    cuts : mapping of str to sequence of Decomposition
        For each method the decompositions of the worlds, in their order.
    """
    from matplotlib.figure import Figure

    rows = 1 + 2 * len(cuts)
    figure = Figure(figsize=(3.0 * len(plans), 3.0 * rows), layout="constrained")
    grid = np.asarray(figure.subplots(rows, len(plans), squeeze=False))
    for column, (name, plan) in enumerate(plans.items()):
        draw_plan(grid[0, column], plan)
        grid[0, column].set_title(name)
        for row, (method, parts) in enumerate(cuts.items(), 1):
            draw_decomposition(grid[row, column], parts[column])
            grid[row, column].set_title(f"{method}: {parts[column].num_regions} regions", fontsize=8)
            draw_graph(grid[row + len(cuts), column], parts[column])
            grid[row + len(cuts), column].set_title(f"graph, {method}", fontsize=8)
    for axes in grid.ravel():
        axes.set_aspect("equal")
        axes.set_xticks([])
        axes.set_yticks([])
    return figure


def _fill(axes: Axes, shapes: Sequence[Any], colours: Sequence[str], edge: str = "none") -> None:
    from matplotlib.collections import PathCollection
    from matplotlib.path import Path

    paths = []
    for shape in shapes:
        rings = [shapely.get_coordinates(ring) for ring in (shape.exterior, *shape.interiors)]
        codes = np.concatenate([[Path.MOVETO] + [Path.LINETO] * (len(ring) - 2) + [Path.CLOSEPOLY] for ring in rings])
        paths.append(Path(np.concatenate(rings), codes))
    axes.add_collection(PathCollection(paths, facecolors=list(colours), edgecolors=edge, linewidths=0.3))
