"""Pictures of waypoint graphs: subregions, paths, edges that planning traversed (Wardhana et al. 2015, Figure 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfold.graph import search_kernels, searcher
from wayfold.path import Path
from wayfold.subregions import SubregionGraph
from wayfold.view.pictures import ROUTE, draw_mesh
from wayfold.waypoints import WaypointGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_LINES = 60_000  # more lines than a picture has room for are thinned out evenly


def draw_subregions(axes: Axes, subregions: SubregionGraph, *, size: float = 3.0) -> None:
    """Waypoints in the colours of their subregions, seen from above, and the connections between centroids."""
    from matplotlib.collections import LineCollection

    waypoints = subregions.waypoints
    assert waypoints is not None
    labels = subregions.labels
    known = labels != subregions.no_label
    colours = _colours(len(subregions.centroids))
    points = waypoints.points[known]
    axes.scatter(points[:, 0], points[:, 1], s=size, c=colours[labels[known]], linewidths=0)
    graph = subregions.graph
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    once = _thin(np.flatnonzero(rows < graph.targets))
    lines = np.stack([graph.points[rows[once], :2], graph.points[graph.targets[once], :2]], axis=1)
    axes.add_collection(LineCollection(list(lines), colors="black", linewidths=0.5, alpha=0.4))


def draw_traversed(axes: Axes, waypoints: WaypointGraph, edges: NDArray[np.int64]) -> None:
    """Edges that a search looked at, as the paper's Figure 4 draws them."""
    from matplotlib.collections import LineCollection

    some = edges[_thin(np.arange(len(edges)))]
    lines = waypoints.points[some][:, :, :2]
    axes.add_collection(LineCollection(list(lines), colors=ROUTE, linewidths=0.3, alpha=0.5))


def traversed(subregions: SubregionGraph, start: int, goal: int, *, filtered: bool) -> NDArray[np.int64]:
    """Edges that plain A*, or the paper's filtered A*, looks at between two waypoints: (k, 2) node pairs."""
    waypoints = subregions.waypoints
    assert waypoints is not None
    graph = waypoints.graph
    filters: tuple[Any, Any] = (None, None)
    if filtered:
        filters = subregions.labels, subregions.subregion_path(start, goal)
        known = subregions.labels != subregions.no_label
        filters = np.where(known, subregions.labels, 0).astype(np.int32), filters[1]
    space = graph.search_space(subregions.motions, *filters)
    state, *_ = searcher.run(
        graph.workspaces,
        lambda state: search_kernels.search(
            space,
            state,
            start,
            goal,
            graph.scale,
            search_kernels.UNLIMITED,
            searcher.NO_NODES,
            searcher.NO_BUDGET,
            False,
        ),
    )
    settled = np.flatnonzero((state.stamp > state.clock[0]) & (state.place < 0))
    reached = state.stamp > state.clock[0]
    graph.workspaces.give(state)
    sizes = np.diff(graph.offsets)[settled]
    slots = np.repeat(graph.offsets[settled] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    rows = np.repeat(settled, sizes)
    open_slots = reached[graph.targets[slots]]
    if graph.motions is not None:
        open_slots &= (graph.motions[slots] & int(subregions.motions)) > 0
    return np.column_stack([rows[open_slots], graph.targets[slots][open_slots]])


def draw_planning(subregions: SubregionGraph, path: Path) -> Figure:
    """Three views from above: the subregions with the path, and the edges traversed without and with subregions.

    Parameters
    ----------
    subregions : SubregionGraph
        Over a waypoint graph.
    path : Path
        One of its paths.
    """
    from matplotlib.figure import Figure

    waypoints = subregions.waypoints
    assert waypoints is not None
    low, high = waypoints.points[:, :2].min(axis=0), waypoints.points[:, :2].max(axis=0)
    shape = float(high[1] - low[1] + 1e-6) / float(high[0] - low[0] + 1e-6)
    figure = Figure(figsize=(18, min(12.0, max(3.0, 6 * shape))), layout="constrained")
    panes = figure.subplots(1, 3)
    for axes in panes:
        axes.set_aspect("equal")
        axes.axis("off")
        if waypoints.surroundings is not None:
            draw_mesh(axes, waypoints.surroundings.mesh, pixels=500)
    draw_subregions(panes[0], subregions)
    panes[0].set_title(f"{subregions.num_subregions:,} subregions, {subregions.num_connections:,} connections")
    if len(path.nodes) > 1:
        ends = int(path.nodes[0]), int(path.nodes[-1])
        for axes, filtered in ((panes[1], False), (panes[2], True)):
            edges = traversed(subregions, *ends, filtered=filtered)
            draw_traversed(axes, waypoints, edges)
            axes.set_title(f"{'with' if filtered else 'without'} subregions: {len(edges):,} edges traversed")
    for axes in panes:
        if len(path.points):
            path.plot(axes, color="black")
        axes.autoscale()
    return figure


def _thin(places: NDArray[np.int64]) -> NDArray[np.int64]:
    return places[:: max(1, -(-len(places) // _MOST_LINES))]


def _colours(count: int) -> NDArray[np.float64]:
    """A colour for each subregion; neighbours in number are far apart on the wheel."""
    from matplotlib.colors import hsv_to_rgb

    hue = (np.arange(count) * 0.6180339887498949) % 1.0
    return np.asarray(hsv_to_rgb(np.column_stack([hue, np.full(count, 0.75), np.full(count, 0.85)])))
