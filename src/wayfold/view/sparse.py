"""Pictures of sparse grids: coloured regions, abstract edges as wide as their support (Sturtevant 2011, Figure 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfold.core.arrays import distinct
from wayfold.grid import SparseGrid
from wayfold.path import Path
from wayfold.view.pictures import ROUTE, WALL, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDEST = 2.5  # points


def draw_grid(grid: SparseGrid, path: Path | None = None) -> Figure:
    """A sparse grid at a slant where it has several floors, else straight from above with its abstract edges."""
    cells = grid.cells
    columns = len(distinct(cells[:, :2]).rows)
    return draw_floors(grid, path) if columns < len(cells) else draw_regions(grid, path)


def draw_regions(grid: SparseGrid, path: Path | None = None, *, edges: bool = True) -> Figure:
    """A sparse grid seen from above: cells in the colour of their region, higher floors over lower ones.

    Parameters
    ----------
    grid : SparseGrid
        Not empty.
    path : Path, optional
        One of its paths.
    edges : bool
        Draw the abstract edges between the centres of regions, white, as wide as their support.
    """
    from matplotlib.collections import LineCollection

    table = grid.regions()
    order = np.argsort(table.cells[:, 2], kind="stable")
    cells, regions = table.cells[order], table.region[order]
    low, high = cells.min(axis=0), cells.max(axis=0)
    picture = np.empty((high[1] - low[1] + 1, high[0] - low[0] + 1, 3))
    picture[:] = [int(WALL[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    shade = 0.55 + 0.45 * (cells[:, 2] - low[2]) / max(1, high[2] - low[2])
    shade[:] = shade if high[2] > low[2] else 0.85
    picture[cells[:, 1] - low[1], cells[:, 0] - low[0]] = _colours(table.centres, regions) * shade[:, None]
    figure, axes = new_figure(picture.shape[1], picture.shape[0])
    extent = (low[0] - 0.5, high[0] + 0.5, high[1] + 0.5, low[1] - 0.5)
    axes.imshow(picture, extent=extent, interpolation="nearest")
    if edges and len(table.edges):
        once = table.edges[:, 0] < table.edges[:, 1]
        lines = table.centres[table.edges[once]][:, :, :2]
        widths = 0.3 + _WIDEST * table.supports[once] / table.supports.max()
        axes.add_collection(LineCollection(list(lines), colors="white", linewidths=list(widths)))
    if path is not None and len(path.points):
        path.plot(axes, color=ROUTE)
    return figure


def draw_floors(grid: SparseGrid, path: Path | None = None, *, rise: float | None = None) -> Figure:
    """A sparse grid of several floors seen from above at a slant: cells in the colour of their region, far ones first.

    Parameters
    ----------
    grid : SparseGrid
        Not empty.
    path : Path, optional
        One of its paths; it is drawn over everything.
    rise : float, cells, optional
        How far up a level is drawn; in proportion to the cells by default, where the grid was made from a mesh.
    """
    from matplotlib.collections import LineCollection, PolyCollection

    table = grid.regions()
    per_level = float(grid.scale[2] / grid.scale[0]) if rise is None else rise

    def slanted(points: NDArray[Any]) -> NDArray[np.float64]:
        x, y, z = points[..., 0], points[..., 1], points[..., 2]
        return np.stack([x + 0.45 * y, 0.55 * y + 1.2 * per_level * z], axis=-1)

    order = np.lexsort((table.cells[:, 2], -table.cells[:, 1]))
    cells = table.cells[order].astype(np.float64)
    corners = cells[:, None] + np.array([(-0.5, -0.5, 0), (0.5, -0.5, 0), (0.5, 0.5, 0), (-0.5, 0.5, 0)])
    shade = 0.6 + 0.4 * (cells[:, 2] - cells[:, 2].min()) / max(1.0, float(np.ptp(cells[:, 2])))
    colours = np.clip(_colours(table.centres, table.region[order]) * shade[:, None], 0.0, 1.0)
    flat = slanted(corners)
    low, high = flat.reshape(-1, 2).min(axis=0), flat.reshape(-1, 2).max(axis=0)
    figure, axes = new_figure(*(high - low))
    axes.add_collection(PolyCollection(list(flat), facecolors=list(colours), edgecolors="face", linewidths=0.1))
    if path is not None and len(path.points):
        line = slanted(path.points + np.array([0.0, 0.0, 0.5]))
        axes.add_collection(LineCollection([line], colors="white", linewidths=4.0))
        axes.add_collection(LineCollection([line], colors=ROUTE, linewidths=2.0))
    axes.set_xlim(low[0] - 1, high[0] + 1)
    axes.set_ylim(low[1] - 1, high[1] + 1)
    return figure


def _colours(centres: NDArray[np.int64], regions: NDArray[np.int32]) -> NDArray[np.float64]:
    """A colour for each cell by its region; regions side by side differ."""
    from matplotlib import colormaps

    turn = (0.618034 * np.arange(len(centres))) % 1.0
    return np.asarray(colormaps["hsv"](turn)[:, :3] * 0.5 + 0.4)[regions]


def plot_memory(rows: Sequence[dict[str, Any]]) -> Figure:
    """Figure 5: memory of each map, sorted by the regular grid's, on a logarithmic scale."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    ordered = sorted(rows, key=lambda row: row["regular"])
    for name, label in (("regular", "regular grid"), ("paper", "sparse grid"), ("trimmed", "trimmed to boxes")):
        axes.plot([row[name] for row in ordered], label=label)
    axes.set_yscale("log")
    axes.set_xlabel("maps, by the memory of the regular grid")
    axes.set_ylabel("bytes")
    axes.legend()
    return figure


def plot_quality(excess: NDArray[np.float64]) -> Figure:
    """Distribution of the length of abstract paths after smoothing, as a multiple of the listed optimum."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    axes.hist(excess, bins=60, color=ROUTE)
    axes.set_xlabel("length of the abstract path after smoothing / listed optimum")
    axes.set_ylabel("queries")
    return figure
