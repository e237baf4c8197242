"""Pictures of maps, meshes and paths, drawn with matplotlib."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfold.errors import ParameterError
from wayfold.floorplan import Decomposition
from wayfold.geometry import Mesh, TriangleIndex
from wayfold.graph import Graph
from wayfold.grid import DenseGrid, SparseGrid
from wayfold.hierarchy import Hierarchy
from wayfold.navmesh import NavMesh
from wayfold.path import Path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GROUND = "#f4f1ea"
WALL = "#3d4451"
WATER = "#a9cfe8"
ROUTE = "#d1495b"
POLYGON = "#bcd8c1"
ISLAND = "#d5d5d8"
# Beyond this many edges lines are drawn faintly or not at all: a picture has fewer pixels than that.
_MOST_EDGES = 200_000


def new_figure(width: float, height: float, *, longest: float = 9.0) -> tuple[Figure, Axes]:
    """A figure without frame for a world of this width and height, `longest` inches along its longer side."""
    from matplotlib.figure import Figure

    scale = longest / max(width, height, 1e-9)
    figure = Figure(figsize=(max(2.0, width * scale), max(2.0, height * scale)), layout="constrained")
    axes = figure.add_subplot()
    axes.set_aspect("equal")
    axes.axis("off")
    return figure, axes


def save(figure: Figure, file: str | os.PathLike[str], *, dpi: int = 130) -> None:
    """Write a figure to a PNG, SVG or PDF file."""
    figure.savefig(file, dpi=dpi)


def draw_path(world: Any, path: Path | None = None) -> Figure:
    """A map seen from above with a path on it.

    Parameters
    ----------
    world : DenseGrid, SparseGrid, Graph, Hierarchy, NavMesh or Decomposition
    path : Path, optional
        One of the world's paths; without points only the world is drawn.
    """
    # Each kind of map has its own way of drawing; those with a module of their own are imported when needed.
    if isinstance(world, SparseGrid):
        from wayfold.view.sparse import draw_regions

        return draw_regions(world, path)
    if isinstance(world, Hierarchy):
        from wayfold.view.hierarchy import draw_levels

        return draw_levels(world, path)
    if isinstance(world, DenseGrid):
        figure, axes = new_figure(world.width, world.height)
        draw_cells(axes, world.kinds)
    elif isinstance(world, Graph):
        figure, axes = _figure_around(world.points)
        draw_edges(axes, world)
    elif isinstance(world, NavMesh):
        figure, axes = _figure_around(world.vertices)
        draw_polygons(axes, world)
    elif isinstance(world, Decomposition):
        from wayfold.view.decompositions import draw_decomposition

        low_x, low_y, high_x, high_y = world.plan.boundary.bounds
        figure, axes = new_figure(high_x - low_x, high_y - low_y)
        draw_decomposition(axes, world)
    else:
        raise ParameterError(f"there is no picture of a {type(world).__name__}")
    if path is not None and len(path.points):
        path.plot(axes, color=ROUTE)
    return figure


def _figure_around(points: NDArray[Any]) -> tuple[Figure, Axes]:
    sides = points[:, :2].max(axis=0) - points[:, :2].min(axis=0)
    return new_figure(float(sides[0]), float(sides[1]))


def draw_cells(axes: Axes, kinds: NDArray[np.uint8]) -> None:
    """The cells of a grid: ground, water (2) and walls (0); row 0 on top, as in the file."""
    from matplotlib.colors import ListedColormap

    picture = np.minimum(kinds, 2)
    axes.imshow(picture, cmap=ListedColormap([WALL, GROUND, WATER]), vmin=0, vmax=2, interpolation="nearest")


def draw_polygons(axes: Axes, navmesh: NavMesh) -> None:
    """The polygons of a navigation mesh, lower ones first; islands off the largest component are grey."""
    from matplotlib.collections import PolyCollection

    sizes = np.bincount(navmesh.components, weights=navmesh.polygon_areas)
    largest = navmesh.components == np.argmax(sizes)
    rings = [navmesh.vertices[ring] for ring in navmesh.polygons]
    order = np.argsort([ring[:, 2].mean() for ring in rings], kind="stable")
    colours = [POLYGON if largest[at] else ISLAND for at in order]
    # Outlines of very many polygons would cover the ground.
    width = 0.4 if len(rings) <= _MOST_EDGES // 10 else 0.0
    shapes = [rings[at][:, :2] for at in order]
    axes.add_collection(PolyCollection(shapes, facecolors=colours, edgecolors=WALL, linewidths=width))
    axes.autoscale()


def draw_edges(axes: Axes, graph: Graph) -> None:
    """The edges of a graph, seen from above; only the nodes where there are too many edges."""
    from matplotlib.collections import LineCollection

    if graph.num_edges > _MOST_EDGES:
        axes.plot(graph.points[:, 0], graph.points[:, 1], ",", color=WALL, alpha=0.5)
    else:
        sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
        once = sources <= graph.targets
        lines = np.stack([graph.points[sources[once], :2], graph.points[graph.targets[once], :2]], axis=1)
        axes.add_collection(LineCollection(list(lines), colors=WALL, linewidths=0.4, alpha=0.6))
    axes.autoscale()


def top_heights(mesh: Mesh, cell: float) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Height of the highest surface below the sky and its triangle, sampled at cell centres.

    Returns
    -------
    heights : (rows, columns) float64 array, NaN where there is nothing
    triangles : (rows, columns) int32 array, -1 where there is nothing
    """
    (low_x, low_y, _), (high_x, high_y, high_z) = mesh.bounds
    x = np.arange(low_x + cell / 2, high_x, cell)
    y = np.arange(low_y + cell / 2, high_y, cell)
    origins = np.stack(np.broadcast_arrays(x[None, :], y[:, None], high_z + 1.0), axis=-1).reshape(-1, 3)
    down = np.broadcast_to([0.0, 0.0, -1.0], origins.shape)
    distances, triangles = TriangleIndex(mesh).rays(origins, down)
    heights = np.where(triangles >= 0, origins[:, 2] - distances, np.nan)
    return heights.reshape(len(y), len(x)), triangles.reshape(len(y), len(x))


def draw_mesh(axes: Axes, mesh: Mesh, *, pixels: int = 900) -> None:
    """A mesh seen from above, in the colours of its materials, lit from the north-west.

    Parameters
    ----------
    mesh : Mesh
    pixels : int, >= 16
        Samples along its longer side.
    """
    low, high = mesh.bounds
    cell = float(max(high[:2] - low[:2])) / pixels
    heights, triangles = top_heights(mesh, cell)
    normals = np.where((triangles >= 0)[..., None], mesh.normals[triangles], (0.0, 0.0, 1.0))
    light = np.array([-0.4, 0.5, 0.77])
    shade = 0.55 + 0.45 * np.clip(normals @ (light / np.linalg.norm(light)), 0.0, 1.0)
    # What rises above its surroundings casts a soft shadow: compare with the height a few metres towards the light.
    step = max(1, round(3.0 / cell))
    higher = np.roll(heights, (-step, step), axis=(0, 1)) - heights
    shade *= 1.0 - 0.25 * np.clip(np.nan_to_num(higher) / 6.0, 0.0, 1.0)
    colours = material_colours(mesh)[np.where(triangles >= 0, _materials(mesh)[triangles], -1)]
    picture = np.clip(colours * shade[..., None], 0.0, 1.0)
    extent = (float(low[0]), float(high[0]), float(low[1]), float(high[1]))
    axes.imshow(picture, origin="lower", extent=extent, interpolation="nearest")


_COLOURS = {
    "ground": "#e8e2d0",
    "grass": "#b9d3a0",
    "park": "#b9d3a0",
    "sand": "#ecdcae",
    "beach": "#ecdcae",
    "rock": "#b8aea2",
    "cliff": "#b8aea2",
    "road": "#c9c6c0",
    "kerb": "#d8d4cc",
    "pavement": "#e6e1d6",
    "water": "#8fbfe0",
    "wall": "#a89f91",
    "roof": "#c98f6f",
    "terrace": "#cdb9a2",
    "stairs": "#d8b98a",
    "bridge": "#cbb08b",
    "tunnel": "#a9a59c",
    "ceiling": "#a9a59c",
    "tree": "#6f9a5b",
    "trunk": "#7a6248",
    "rail": "#8d8579",
    "lamp": "#6b6b6b",
}
_OTHER = "#d9d3c7"


def _materials(mesh: Mesh) -> NDArray[np.int32]:
    return np.zeros(len(mesh), np.int32) if mesh.materials is None else mesh.materials


def material_colours(mesh: Mesh) -> NDArray[np.float64]:
    """A colour for each material number, and white as the last, for where there is nothing."""
    from matplotlib.colors import to_rgb

    count = int(_materials(mesh).max()) + 1
    names = (*mesh.material_names, *[""] * count)[:count]
    return np.array([to_rgb(_COLOURS.get(name, _OTHER)) for name in names] + [(1.0, 1.0, 1.0)])
