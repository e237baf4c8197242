"""From geometry to a `State`: the tiles that were built, and how a mesh is put together from them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import cos, radians
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold import _check
from wayfold.agent import Agent
from wayfold.errors import EditError, GeometryError, OffMapError, ParameterError
from wayfold.geometry import Mesh
from wayfold.navmesh import _ground_kernels, tiles
from wayfold.navmesh.flat import Flat, Rows, concatenate, in_rows, inside, replaced
from wayfold.navmesh.joining import EDGES, POLYGONS, join_tiles
from wayfold.navmesh.layout import Layout, join
from wayfold.navmesh.pipeline import Triangles
from wayfold.navmesh.rectangle import Rectangle
from wayfold.navmesh.settings import AgentVoxels, Settings
from wayfold.navmesh.splicing import Splice, splice_layout

_EVERY_KIND = np.empty(0, np.uint8)
Progress = Callable[[int, int], None]


class World(NamedTuple):
    """All polygons that the tiles have, whether they are kept or not: what decides which islands stay."""

    offsets: NDArray[np.int64]
    """(p + 1,) first edge of each polygon."""
    neighbours: NDArray[np.int32]
    """(m,)."""
    areas: NDArray[np.float64]
    """(p,) square metres."""
    kept: NDArray[np.bool_]
    """(p,)."""
    bounds: NDArray[np.int64]
    """(tiles + 1, 2): first polygon and edge of each tile."""


@dataclass(frozen=True)
class Built:
    """What is kept of a build so that parts of it can be built again."""

    agent: Agent
    settings: Settings
    grid: tiles.TileGrid
    rows: Rows
    keep: str | NDArray[np.float64]
    world: World
    bounds: NDArray[np.int64]
    """(tiles + 1, 5), see `Joined`."""

    @property
    def voxels(self) -> AgentVoxels:
        """The agent in voxels."""
        return AgentVoxels.of(self.agent, self.settings)


def assemble(
    agent: Agent, settings: Settings, grid: tiles.TileGrid, rows: Rows, keep: str | NDArray[np.float64]
) -> tuple[Built, Layout]:
    """The mesh of all tiles, without islands that are too small or not to be kept."""
    joined = join_tiles(concatenate(rows), grid.columns, grid.rows, grid)
    whole = Layout(joined.ground, joined.kinds)
    labels = whole.components
    kept = _islands(labels, whole.areas, settings, keep, whole)[labels]
    ground = joined.ground
    world = World(ground.offsets, ground.neighbours, whole.areas, kept, np.ascontiguousarray(joined.bounds[:, :2]))
    chosen = joined.without(kept)
    layout = whole if chosen is joined else Layout(chosen.ground, chosen.kinds)
    return Built(agent, settings, grid, rows, keep, world, chosen.bounds), layout


def _islands(
    labels: NDArray[np.int32],
    areas: NDArray[np.float64],
    settings: Settings,
    keep: str | NDArray[np.float64],
    mesh: Layout,
) -> NDArray[np.bool_]:
    """Which components stay: those that are large enough; of these all, the largest, or the ones with seeds."""
    assert settings.min_region is not None
    sizes = np.bincount(labels, weights=areas)
    large = sizes >= 0.999 * settings.min_region
    if isinstance(keep, str):
        if keep == "largest":
            large &= np.arange(len(sizes)) == (np.argmax(sizes) if len(sizes) else -1)
        return np.asarray(large)
    found = np.empty(len(keep), np.int32)
    _ground_kernels.locate(mesh.ground, mesh.cells, keep, 1.0, np.inf, 0, len(keep), found, np.empty((len(keep), 3)))
    if (found < 0).any():
        seed = keep[int(np.argmax(found < 0))]
        raise OffMapError(
            f"the seed ({seed[0]:g}, {seed[1]:g}, {seed[2]:g}) is more than 1 m away from walkable ground"
        )
    seeded = np.zeros(len(sizes), np.bool_)
    seeded[labels[found]] = True
    return np.asarray(large & seeded)


def check_keep(keep: str | ArrayLike) -> str | NDArray[np.float64]:
    """The word "all" or "largest", or seed points."""
    if isinstance(keep, str):
        if keep not in ("all", "largest"):
            raise ParameterError(f'keep must be "all", "largest" or seed points, not {keep!r}')
        return keep
    seeds = np.asarray(keep, dtype=object if keep is None else None)
    return _check.points3(seeds[None] if seeds.ndim == 1 else seeds, "keep")


def check_kinds(mesh: Mesh, kinds: ArrayLike | None) -> NDArray[np.uint8]:
    """Area kinds of triangles, one each."""
    if kinds is None:
        return _EVERY_KIND
    array = np.asarray(kinds)
    if array.shape != (len(mesh),) or array.dtype.kind not in "iub":
        raise ParameterError(f"kinds must be one whole number for each of the {len(mesh)} triangles, not {array.shape}")
    if array.size and (array.min() < 0 or array.max() > 255):
        raise ParameterError(f"kinds must be from 0 to 255, not {array.min()} to {array.max()}")
    return array.astype(np.uint8)


def _triangles(mesh: Mesh, kinds: NDArray[np.uint8], agent: Agent) -> Triangles:
    # A hair flatter, so that a slope of exactly the limit is walkable.
    return Triangles(mesh.vertices, mesh.triangles, kinds, cos(radians(agent.slope)) - 1e-9)


def build(
    mesh: Mesh,
    agent: Agent,
    settings: Settings,
    tile_size: int | None,
    *,
    kinds: NDArray[np.uint8],
    bounds: NDArray[np.float64] | None,
    keep: str | NDArray[np.float64],
    workers: int | None,
    progress: Progress | None,
) -> tuple[Built, Layout]:
    """Build every tile of a world."""
    triangles = _triangles(mesh, kinds, agent)
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
    if not any(len(row.kinds) for row in rows):
        raise GeometryError(
            f"the mesh has no ground for an agent of radius {agent.radius:g} m, height {agent.height:g} m and slope "
            f"{agent.slope:g} degrees: use a smaller agent, a smaller cell_size, or check that z is up"
        )
    return assemble(agent, settings, grid, rows, keep)


def rebuild(
    built: Built, layout: Layout, box: ArrayLike, mesh: Mesh, kinds: NDArray[np.uint8], workers: int | None
) -> tuple[Built, Layout]:
    """The same world with the tiles around a box built again from changed geometry."""
    corners = tiles.check_bounds(box)
    grid = built.grid
    low = np.array(grid.origin[:2])
    high = low + np.array([grid.width, grid.depth]) * grid.cell_size
    if (corners[0, :2] < low - grid.cell_size).any() or (corners[1, :2] > high + grid.cell_size).any():
        raise EditError(
            f"the box reaches outside the world that was built, {low[0]:g}, {low[1]:g} to {high[0]:g}, {high[1]:g}: "
            "build with `bounds` that leave room"
        )
    touched = grid.touched(corners)
    fresh = tiles.build_tiles(
        _triangles(mesh, kinds, built.agent),
        grid,
        built.voxels,
        built.settings,
        touched.numbers(grid.columns).tolist(),
        workers=workers,
        each=True,
    )
    rows = replaced(built.rows, touched, fresh)
    return _spliced(built, layout, rows, touched) or assemble(built.agent, built.settings, grid, rows, built.keep)


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
    part = Layout(joined.ground, joined.kinds)
    old = built.world
    splice = Splice(old.bounds, joined.bounds[:, :2], changed, around, grid.columns)
    offsets = splice.offsets(POLYGONS, EDGES, old.offsets, joined.ground.offsets)
    neighbours = splice.numbers(EDGES, POLYGONS, old.neighbours, joined.ground.neighbours)
    areas = splice.plain(POLYGONS, old.areas, part.areas)
    labels = join(offsets, neighbours)
    stay = _islands(labels, areas, built.settings, built.keep, part)
    kept = stay[labels]
    world = World(offsets, neighbours, areas, kept, splice.new)
    # Islands may have come or gone elsewhere, because of what was changed here.
    other = _differing(built, world, touched)
    if len(other):
        touched = touched.around(other, grid.columns)
        changed, around = touched.grown(_RENEWED, *size), touched.grown(_LOOKED_AT, *size)
        if around.columns * around.rows == grid.count:
            return None
        joined = join_tiles(inside(rows, around), around.columns, around.rows, grid)
    chosen = joined.without(_of_tiles(kept, world.bounds[:, POLYGONS], around.numbers(grid.columns)))
    numbers = (np.cumsum(stay) - 1).astype(np.int32)
    splice = Splice(built.bounds, chosen.bounds, changed, around, grid.columns)
    new = splice_layout(splice, layout, chosen, numbers[labels[kept]])
    return Built(built.agent, built.settings, grid, rows, built.keep, world, splice.new), new


def _of_tiles(values: NDArray[Any], bounds: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[Any]:
    """The values of the polygons of some tiles."""
    return np.concatenate([values[bounds[tile] : bounds[tile + 1]] for tile in numbers.tolist()])


def _differing(built: Built, world: World, touched: Rectangle) -> NDArray[np.int64]:
    """Tiles outside a rectangle in which a polygon is kept that was not kept before, or the other way round."""
    old, new = built.world.bounds[:, POLYGONS], world.bounds[:, POLYGONS]
    found = [np.empty(0, np.int64)]
    at = 0
    for row in range(touched.rows + 1):
        first = (touched.y + row) * built.grid.columns + touched.x if row < touched.rows else built.grid.count
        differ = built.world.kept[old[at] : old[first]] != world.kept[new[at] : new[first]]
        found.append(np.searchsorted(new, new[at] + np.flatnonzero(differ), side="right") - 1)
        at = first + touched.columns
    return np.concatenate(found)


def to_archive(built: Built) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and facts for a `.wayfold` file."""
    flat = concatenate(built.rows)
    arrays: dict[str, NDArray[Any]] = {f"tiles/{name}": array for name, array in flat._asdict().items()}
    arrays |= {f"world/{name}": array for name, array in built.world._asdict().items()}
    arrays["bounds"] = built.bounds
    meta: dict[str, Any] = {"settings": asdict(built.settings), "grid": asdict(built.grid), "keep": built.keep}
    meta["agent"] = {**asdict(built.agent), "motions": int(built.agent.motions)}
    if not isinstance(built.keep, str):
        arrays["tiles/seeds"] = built.keep
        meta["keep"] = "seeds"
    return arrays, meta


def from_archive(arrays: dict[str, NDArray[Any]], meta: dict[str, Any]) -> Built:
    """What `to_archive` stored; raises KeyError, TypeError or ValueError where it is damaged."""
    flat = Flat(*(arrays[f"tiles/{name}"] for name in Flat._fields))
    world = World(*(arrays[f"world/{name}"] for name in World._fields))
    for array in (*flat, *world, arrays["bounds"]):
        array.setflags(write=True)  # mapped copy-on-write; Numba compiles again for read-only arrays
    settings = dict(meta["grid"])
    settings["origin"] = tuple(settings["origin"])
    grid = tiles.TileGrid(**settings)
    if len(flat.counts) != grid.count or len(world.bounds) != grid.count + 1 or len(arrays["bounds"]) != grid.count + 1:
        raise ValueError(f"there should be {grid.count} tiles")
    keep = arrays["tiles/seeds"] if meta["keep"] == "seeds" else meta["keep"]
    agent = Agent(**meta["agent"])
    rows = in_rows(flat, grid.columns)
    return Built(agent, Settings(**meta["settings"]), grid, rows, keep, world, arrays["bounds"])
