"""From geometry to a `State`: the tiles that were built, and how a mesh is put together from them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import cos, radians
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import Agent
from wayfold.core import checks, text
from wayfold.errors import EditError, GeometryError, ParameterError
from wayfold.geometry import Mesh
from wayfold.navmesh import tiles
from wayfold.navmesh._zone_kernels import Zones
from wayfold.navmesh.flat import Rows, concatenate, in_rows, inside, replaced
from wayfold.navmesh.islands import ISLETS, Islets, Keep, find_islets, stay
from wayfold.navmesh.joining import POLYGONS, join_tiles
from wayfold.navmesh.layout import Layout
from wayfold.navmesh.pipeline import Triangles
from wayfold.navmesh.rectangle import Rectangle
from wayfold.navmesh.settings import AgentVoxels, Settings
from wayfold.navmesh.splicing import Splice, splice_layout

_EVERY_KIND = np.empty(0, np.uint8)
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Built:
    """What is kept of a build so that parts of it can be built again."""

    agent: Agent
    settings: Settings
    grid: tiles.TileGrid
    rows: Rows
    keep: Keep
    islets: Islets
    kept: NDArray[np.bool_]
    """(i,) which islets are kept."""
    bounds: NDArray[np.int64]
    """(tiles + 1, 5), see `Joined`."""

    @property
    def voxels(self) -> AgentVoxels:
        """The agent in voxels."""
        return AgentVoxels.of(self.agent, self.settings)


def assemble(agent: Agent, settings: Settings, grid: tiles.TileGrid, rows: Rows, keep: Keep) -> tuple[Built, Layout]:
    """The mesh of all tiles, without islands that are too small or not to be kept."""
    joined = join_tiles(concatenate(rows), grid.columns, grid.rows, grid)
    whole = Layout(joined.ground, joined.kinds, grid.local_frame)
    islets = find_islets(joined, whole.areas)
    components = islets.components
    kept = stay(components, islets, settings, keep, whole)[components]
    chosen = joined.without(kept[islets.islet])
    layout = whole if chosen is joined else Layout(chosen.ground, chosen.kinds, grid.local_frame)
    return Built(agent, settings, grid, rows, keep, islets, kept, chosen.bounds), layout


def check_keep(keep: str | ArrayLike) -> str | NDArray[np.float64]:
    """The word "all" or "largest", or seed points."""
    if isinstance(keep, str):
        if keep not in ("all", "largest"):
            raise ParameterError(f'keep must be "all", "largest" or seed points, not {checks.shown(keep)}')
        return keep
    seeds = checks.floats(keep, "keep", '"all", "largest" or seed points')
    return checks.points3(seeds[None] if seeds.ndim == 1 else seeds, "keep")


def check_kinds(mesh: Mesh, kinds: ArrayLike | None) -> NDArray[np.uint8]:
    """Area kinds of triangles, one each."""
    if kinds is None:
        return _EVERY_KIND
    array = checks.numbers(kinds, "kinds", bools=True)
    if array.shape != (len(mesh),) or array.dtype.kind not in "iub":
        raise ParameterError(f"kinds must be one whole number for each of the {len(mesh)} triangles, not {array.shape}")
    if array.size and (array.min() < 0 or array.max() > 255):
        raise ParameterError(f"kinds must be from 0 to 255, not {array.min()} to {array.max()}")
    return array.astype(np.uint8)


def _triangles(mesh: Mesh, kinds: NDArray[np.uint8], zones: Zones, agent: Agent) -> Triangles:
    # A hair flatter, so that a slope of exactly the limit is walkable.
    return Triangles(mesh.vertices, mesh.triangles, kinds, cos(radians(agent.slope)) - 1e-9, zones)


def build(
    mesh: Mesh,
    agent: Agent,
    settings: Settings,
    tile_size: int | None,
    *,
    kinds: NDArray[np.uint8],
    zones: Zones,
    bounds: NDArray[np.float64] | None,
    keep: Keep,
    workers: int | None,
    progress: Progress | None,
) -> tuple[Built, Layout]:
    """Build every tile of a world."""
    triangles = _triangles(mesh, kinds, zones, agent)
    voxels = AgentVoxels.of(agent, settings)
    grid = tiles.make_grid(mesh.bounds if bounds is None else bounds, voxels, settings, tile_size)
    heights = mesh.normals[:, 2]
    empty = int(np.count_nonzero(~mesh.normals.any(axis=1)))
    if empty:
        warnings.warn(f"{empty} of {len(mesh)} triangles have no area and were left out", stacklevel=3)
    if not (heights > 0).any():
        raise GeometryError(
            "no triangle of the mesh faces up: turn its triangles round, or say which axis is up when loading it"
        )
    parts = tiles.build_tiles(triangles, grid, voxels, settings, workers=workers, progress=progress)
    rows = in_rows(concatenate(parts), grid.columns)
    del parts
    if any(len(row.kinds) for row in rows):
        built, layout = assemble(agent, settings, grid, rows, keep)
        if layout.num_polygons:
            return built, layout
    raise GeometryError(
        f"the mesh has no ground for an agent of radius {agent.radius:g} m, height {agent.height:g} m and slope "
        f"{agent.slope:g} degrees: use a smaller agent, a smaller cell_size or min_region, or check that z is up"
    )


def rebuild(
    built: Built,
    layout: Layout,
    box: ArrayLike,
    mesh: Mesh,
    *,
    kinds: NDArray[np.uint8],
    zones: Zones,
    workers: int | None,
) -> tuple[Built, Layout]:
    """The same world with the tiles around a box built again from changed geometry."""
    corners = tiles.check_bounds(box)
    grid = built.grid
    low = np.array(grid.origin[:2])
    high = low + np.array([grid.width, grid.depth]) * grid.cell_size
    if (corners[0, :2] < low - grid.cell_size).any() or (corners[1, :2] > high + grid.cell_size).any():
        raise EditError(
            f"the box reaches outside the world that was built, {text.place(low, (high - low).max())} to"
            f" {text.place(high, (high - low).max())}: build with `bounds` that leave room"
        )
    touched = grid.touched(corners)
    fresh = tiles.build_tiles(
        _triangles(mesh, kinds, zones, built.agent),
        grid,
        built.voxels,
        built.settings,
        touched.numbers(grid.columns).tolist(),
        workers=workers,
        each=True,
    )
    rows = replaced(built.rows, touched, fresh)
    spliced = _spliced(built, layout, rows, touched)
    return spliced or assemble(built.agent, built.settings, grid, rows, built.keep)


# A changed tile changes how its neighbours are cut at the common border, and so the numbers that tiles beyond refer to:
# two tiles around it are put together anew. What these refer to must be whole too, which takes another two.
_RENEWED = 2
_LOOKED_AT = 4


def _spliced(built: Built, layout: Layout, rows: Rows, touched: Rectangle) -> tuple[Built, Layout] | None:
    """The new mesh from the old one and the tiles around those that were touched; None where that does not pay."""
    grid = built.grid
    size = grid.columns, grid.rows
    if not isinstance(built.keep, str) or not len(layout.kinds):
        return None
    changed, around = touched.grown(_RENEWED, *size), touched.grown(_LOOKED_AT, *size)
    if around.columns * around.rows == grid.count:
        return None
    joined = join_tiles(inside(rows, around), around.columns, around.rows, grid)
    part = Layout(joined.ground, joined.kinds, grid.local_frame)
    fresh = find_islets(joined, part.areas)
    islets = built.islets.spliced(Splice(built.islets.bounds, fresh.bounds, changed, around, grid.columns), fresh)
    components = islets.components
    staying = stay(components, islets, built.settings, built.keep, part)
    kept = staying[components]
    # Islands may have come or gone elsewhere, because of what was changed here.
    other = _differing(built, islets, kept, touched)
    if len(other):
        touched = touched.around(other, grid.columns)
        changed, around = touched.grown(_RENEWED, *size), touched.grown(_LOOKED_AT, *size)
        if around.columns * around.rows == grid.count:
            return None
        joined = join_tiles(inside(rows, around), around.columns, around.rows, grid)
    of_polygons = kept[islets.islet]
    chosen = joined.without(_of_tiles(of_polygons, islets.bounds[:, POLYGONS], around.numbers(grid.columns)))
    numbers = (np.cumsum(staying) - 1).astype(np.int32)[components]
    labels = numbers[islets.islet if of_polygons.all() else islets.islet[of_polygons]]
    bounds, new = splice_layout(built.bounds, layout, chosen, changed, around, grid.columns, labels)
    return Built(built.agent, built.settings, grid, rows, built.keep, islets, kept, bounds), new


def _of_tiles(values: NDArray[Any], bounds: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[Any]:
    """The values of the polygons of some tiles."""
    return np.concatenate([values[bounds[tile] : bounds[tile + 1]] for tile in numbers.tolist()])


def _differing(built: Built, islets: Islets, kept: NDArray[np.bool_], touched: Rectangle) -> NDArray[np.int64]:
    """Tiles outside a rectangle in which an islet is kept that was not kept before, or the other way round."""
    old, new = built.islets.bounds[:, ISLETS], islets.bounds[:, ISLETS]
    found = [np.empty(0, np.int64)]
    at = 0
    for row in range(touched.rows + 1):
        first = (touched.y + row) * built.grid.columns + touched.x if row < touched.rows else built.grid.count
        differ = built.kept[old[at] : old[first]] != kept[new[at] : new[first]]
        found.append(np.searchsorted(new, new[at] + np.flatnonzero(differ), side="right") - 1)
        at = first + touched.columns
    return np.concatenate(found)
