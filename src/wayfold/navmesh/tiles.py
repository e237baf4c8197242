"""Tiles: the world in squares that are built on their own, in any order and by any number of threads.

Rows are what a rebuild replaces: only those with changed tiles are put together anew.

A tile sees a border of its neighbours wide enough to come to the same voxels as they do along the common side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.core.arrays import offsets_of
from wayfold.core.batches import run_chunks
from wayfold.errors import GeometryError, ParameterError
from wayfold.geometry.frame import Frame as LocalFrame
from wayfold.navmesh import _heightfield_kernels
from wayfold.navmesh._heightfield_kernels import VoxelFrame, ZonePrisms
from wayfold.navmesh.pipeline import NO_ZONES, AgentVoxels, Settings, Triangles, build_tile


class Rectangle(NamedTuple):
    """Tiles from a first to a last column and row, both included."""

    x: int
    y: int
    last_x: int
    last_y: int

    @property
    def columns(self) -> int:
        """Tiles along x."""
        return self.last_x - self.x + 1

    @property
    def rows(self) -> int:
        """Tiles along y."""
        return self.last_y - self.y + 1

    def numbers(self, columns: int) -> NDArray[np.int64]:
        """The tiles in ascending order, in a world with `columns` tiles in a row."""
        x, y = np.arange(self.x, self.last_x + 1), np.arange(self.y, self.last_y + 1)
        return np.asarray((y[:, None] * columns + x).ravel())

    def grown(self, by: int, columns: int, rows: int) -> Rectangle:
        """With `by` more tiles on each side, as far as a world of `columns` x `rows` tiles goes."""
        return Rectangle(
            max(0, self.x - by),
            max(0, self.y - by),
            min(columns - 1, self.last_x + by),
            min(rows - 1, self.last_y + by),
        )

    def around(self, tiles: NDArray[np.int64], columns: int) -> Rectangle:
        """The smallest rectangle that also holds these tiles, in a world with `columns` tiles in a row."""
        if not len(tiles):
            return self
        x, y = tiles % columns, tiles // columns
        return Rectangle(
            min(self.x, int(x.min())),
            min(self.y, int(y.min())),
            max(self.last_x, int(x.max())),
            max(self.last_y, int(y.max())),
        )


class Flat(NamedTuple):
    """Meshes of tiles one after the other; vertex, polygon, edge and point numbers count within each tile."""

    counts: NDArray[np.int64]
    """(tiles, 6): vertices, polygons, edges, doors, surface points, surface triangles."""
    lattice: NDArray[np.int32]
    """(v, 2) lattice positions in the world, of the lattice of lanes."""
    heights: NDArray[np.float32]
    """(v,) metres above the origin."""
    polygons: NDArray[np.int32]
    """(p, 3): edges, surface points and surface triangles of each polygon."""
    areas: NDArray[np.uint8]
    """(p,)."""
    edges: NDArray[np.int32]
    """(m, 2): start vertex, neighbour."""
    doors: NDArray[np.int32]
    """(d, 7)."""
    surface: NDArray[np.int32]
    """(k, 2) doubled lattice."""
    surface_heights: NDArray[np.float32]
    """(k,)."""
    triangles: NDArray[np.int32]
    """(t, 3) points of the polygon's surface."""


Rows = tuple[Flat, ...]

# Which count of a tile each array goes by.
_COUNT = (0, 0, 1, 1, 2, 3, 4, 4, 5)


def _empty() -> Flat:
    return Flat(
        np.zeros((1, 6), np.int64),
        np.empty((0, 2), np.int32),
        np.empty(0, np.float32),
        np.empty((0, 3), np.int32),
        np.empty(0, np.uint8),
        np.empty((0, 2), np.int32),
        np.empty((0, 7), np.int32),
        np.empty((0, 2), np.int32),
        np.empty(0, np.float32),
        np.empty((0, 3), np.int32),
    )


def flatten(parts: list[tuple[Any, Any]]) -> Flat:
    """The meshes of one tile as a `Flat` of one tile."""
    if not parts:
        return _empty()
    columns: list[list[Any]] = [[] for _ in Flat._fields[1:]]
    vertices = polygons = edges = 0
    for mesh, detail in parts:
        doors = mesh.doors + np.array([0, 0, 0, 0, 0, polygons, edges], np.int32)
        ahead = np.where(mesh.neighbours >= 0, mesh.neighbours + polygons, -1)
        arrays = (
            np.column_stack([mesh.x, mesh.y]),
            mesh.z,
            np.column_stack([np.diff(mesh.offsets), np.diff(detail.point_offsets), np.diff(detail.triangle_offsets)]),
            mesh.areas,
            np.column_stack([mesh.vertices + vertices, ahead]),
            doors,
            detail.xy,
            detail.z,
            detail.triangles,
        )
        for column, array in zip(columns, arrays, strict=True):
            column.append(array)
        vertices, polygons, edges = vertices + len(mesh.x), polygons + len(mesh.areas), edges + len(mesh.vertices)
    empty: list[Any] = list(_empty()[1:])
    whole = [np.concatenate(column).astype(like.dtype, copy=False) for column, like in zip(columns, empty, strict=True)]
    doors = whole[5]
    whole[5] = doors[np.lexsort((doors[:, 3], doors[:, 2], doors[:, 1], doors[:, 0]))]
    counts = np.array([[vertices, polygons, edges, len(doors), len(whole[6]), len(whole[8])]])
    return Flat(counts, *whole)


def concatenate(parts: Iterable[Flat]) -> Flat:
    """Tiles one after the other."""
    return Flat(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def bases(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each tile's part begins, and after the last one the whole: one row more than `counts`."""
    return np.concatenate([np.zeros((1, counts.shape[1]), np.int64), np.cumsum(counts, axis=0)])


def _parts(flat: Flat, cuts: list[int]) -> list[Flat]:
    """The tiles between each two cuts."""
    ends = bases(flat.counts)
    result = []
    for first, last in pairwise(cuts):
        low, high = ends[first], ends[last]
        arrays: list[Any] = [flat[at][low[k] : high[k]] for at, k in enumerate(_COUNT, 1)]
        result.append(Flat(flat.counts[first:last], *arrays))
    return result


def in_rows(flat: Flat, columns: int) -> Rows:
    """All tiles of a world, cut into rows of `columns` tiles."""
    return tuple(_parts(flat, list(range(0, len(flat.counts) + 1, columns))))


def inside(rows: Rows, part: Rectangle) -> Flat:
    """The tiles of a rectangle, row by row."""
    cuts = [part.x, part.last_x + 1]
    return concatenate([_parts(row, cuts)[0] for row in rows[part.y : part.last_y + 1]])


def replaced(rows: Rows, part: Rectangle, fresh: list[Flat]) -> Rows:
    """The same world with the tiles of a rectangle replaced by `fresh` ones, each a `Flat` of one tile."""
    result = list(rows)
    for k in range(part.rows):
        row = rows[part.y + k]
        before, _, after = _parts(row, [0, part.x, part.last_x + 1, len(row.counts)])
        result[part.y + k] = concatenate([before, *fresh[k * part.columns : (k + 1) * part.columns], after])
    return tuple(result)


Zone = tuple[ArrayLike, float, float, int | ArrayLike]
"""Corners (k, 2) of a simple polygon, low and high end, kind of area (or what each of the 256 becomes)."""


def check_zones(zones: Sequence[Zone]) -> ZonePrisms:
    """Zones as kernels take them, or an error that says which one is wrong."""
    rings: list[Any] = []
    heights, areas = [], []
    for at, zone in enumerate(zones):
        if not isinstance(zone, (tuple, list)) or len(zone) != 4:
            raise ParameterError(f"zones[{at}] must be (polygon, low, high, area), not {checks.shown(zone)}")
        ring = checks.points3(zone[0], f"the polygon of zones[{at}]")[:, :2]
        if len(ring) < 3 or not shapely.Polygon(ring).is_valid:
            raise GeometryError(f"the polygon of zones[{at}] must have at least 3 corners and not cross itself")
        low = checks.number(zone[1], f"the low end of zones[{at}]")
        rings.append(ring)
        heights.append((low, checks.number(zone[2], f"the high end of zones[{at}]", low=low)))
        areas.append(_table(zone[3], f"the area of zones[{at}]"))
    if not rings:
        return NO_ZONES
    offsets = offsets_of([len(ring) for ring in rings])
    return ZonePrisms(offsets, np.concatenate(rings), np.array(heights), np.array(areas))


def _table(area: Any, name: str) -> NDArray[np.uint8]:
    """What each area becomes in a zone; what is not walkable (area 0) stays so."""
    given = checks.numbers(area, name, "an area from 0 to 255, or 256 of them")
    if given.ndim == 0:
        table = np.full(256, checks.whole(area, name, low=0, high=255), np.uint8)
    else:
        if given.shape != (256,) or given.dtype.kind not in "iu" or given[1:].min() < 1 or given.max() > 255:
            raise ParameterError(
                f"{name} must be an area from 0 to 255, or 256 of them from 1 on for what each becomes"
            )
        table = given.astype(np.uint8)
    table[0] = 0
    return table


_SINGLE = 2048  # columns along each side up to which a world is one tile unless a tile size is asked for
_USUAL = 256  # columns of a tile where none is asked for
_FARTHEST = 1e9  # metres
_HIGH = 1e5  # metres: no world is taller, so from here on its heights are relative to its lowest point
_MOST_COLUMNS = 1 << 34
_MOST_LAYERS = 1 << 29
_CHUNK = 8  # tiles that a thread builds at a time


@dataclass(frozen=True)
class TileGrid:
    """How the world is cut into tiles.

    Attributes
    ----------
    origin : (x, y, z), metres
        Lowest corner of the world.
    width, depth : int, columns
        Size of the world.
    tile : int, columns
        Side of a tile; a world that is one tile has `tile` 0.
    border : int, columns
        What a tile sees of its neighbours.
    parts : int
        Steps of the lattice to a column: lanes are drawn more finely than columns.
    """

    origin: tuple[float, float, float]
    cell_size: float
    cell_height: float
    width: int
    depth: int
    tile: int
    border: int
    parts: int = 1

    @property
    def columns(self) -> int:
        """Tiles along x."""
        return 1 if self.tile == 0 else -(-self.width // self.tile)

    @property
    def rows(self) -> int:
        """Tiles along y."""
        return 1 if self.tile == 0 else -(-self.depth // self.tile)

    @property
    def count(self) -> int:
        """Number of tiles."""
        return self.columns * self.rows

    @property
    def local_frame(self) -> LocalFrame:
        """Where the mesh lies. It depends on nothing else than the tiles, so a rebuild does not move it."""
        sizes = self.width * self.cell_size, self.depth * self.cell_size
        # Far from 0 taking the middle away loses no digit of a coordinate; near 0 nothing is gained.
        far = [max(low, -low - size) > size for low, size in zip(self.origin[:2], sizes, strict=True)]
        origin = [
            float(np.rint(low + 0.5 * size)) if away else 0.0
            for low, size, away in zip(self.origin[:2], sizes, far, strict=True)
        ]
        height = float(np.rint(self.origin[2])) if abs(self.origin[2]) > _HIGH else 0.0
        return LocalFrame((origin[0], origin[1], height), max(sizes))

    def frame(self, tile: int) -> VoxelFrame:
        """The columns that tile number `tile` looks at, its border included."""
        x, y = tile % self.columns, tile // self.columns
        if self.tile == 0:
            return self.world()
        side = self.tile + 2 * self.border
        return VoxelFrame(
            *self.origin,
            self.cell_size,
            self.cell_height,
            x * self.tile - self.border,
            y * self.tile - self.border,
            side,
            side,
        )

    def world(self) -> VoxelFrame:
        """All columns of the world."""
        return VoxelFrame(*self.origin, self.cell_size, self.cell_height, 0, 0, self.width, self.depth)

    def touched(self, box: NDArray[np.float64]) -> Rectangle:
        """Tiles whose result may depend on geometry in a box ((2, 3), metres)."""
        if self.tile == 0:
            return Rectangle(0, 0, 0, 0)
        low = np.floor((box[0, :2] - self.origin[:2]) / self.cell_size) - self.border - 1
        high = np.floor((box[1, :2] - self.origin[:2]) / self.cell_size) + self.border + 1
        first = np.maximum(low // self.tile, 0).astype(int)
        last = np.minimum(high // self.tile, (self.columns - 1, self.rows - 1)).astype(int)
        return Rectangle(int(first[0]), int(first[1]), int(last[0]), int(last[1]))


def make_grid(bounds: NDArray[np.float64], agent: AgentVoxels, settings: Settings, tile_size: int | None) -> TileGrid:
    """The tiles of a world, or an error that says which setting asks for too much."""
    if not np.abs(bounds).max() <= _FARTHEST:
        raise GeometryError(f"coordinates must be within {_FARTHEST:g} m, not {np.abs(bounds).max():g}")
    size = bounds[1] - bounds[0]
    width, depth = (max(1, math.ceil(side / settings.cell_size - 1e-9)) for side in size[:2].tolist())
    if width * depth > _MOST_COLUMNS:
        fitting = math.sqrt(size[0] * size[1] / _MOST_COLUMNS)
        raise ParameterError(
            f"cell_size {settings.cell_size:g} m cuts {size[0]:.4g} x {size[1]:.4g} m into {width} x {depth} columns, "
            f"more than {_MOST_COLUMNS}: use a cell_size of at least {fitting:.2g} m"
        )
    if size[2] / settings.cell_height > _MOST_LAYERS:
        raise ParameterError(
            f"cell_height {settings.cell_height:g} m cuts {size[2]:.4g} m into more than {_MOST_LAYERS} layers: "
            f"use a cell_height of at least {size[2] / _MOST_LAYERS:.2g} m"
        )
    if agent.radius > 4096:
        raise ParameterError(
            f"the agent's radius is {agent.radius} columns, more than 4096: use a larger cell_size or a smaller radius"
        )
    if agent.height > _MOST_LAYERS or agent.climb / settings.cell_height > _MOST_LAYERS:
        raise ParameterError(
            f"the agent's height or climb is more than {_MOST_LAYERS} layers: use a larger cell_height"
        )
    tile = tile_size
    if tile is None:
        tile = 0 if max(width, depth) <= _SINGLE else _USUAL
    if tile == 0 and width * depth > (1 << 26):
        raise ParameterError(
            f"{width} x {depth} columns are too many for one tile: give a tile_size, for instance {_USUAL}"
        )
    border = 0 if tile == 0 else agent.border
    x, y, z = bounds[0].tolist()
    parts = max(1, agent.parts)
    return TileGrid((x, y, z), settings.cell_size, settings.cell_height, width, depth, tile, border, parts)


def check_grid(grid: TileGrid, agent: Agent, settings: Settings) -> None:
    """Refuse a grid from a file that `make_grid` would not make for this agent and these settings."""
    high = np.array([grid.width * grid.cell_size, grid.depth * grid.cell_size, 0.0]) + np.array(grid.origin)
    made = make_grid(np.array([grid.origin, high]), AgentVoxels.of(agent, settings), settings, grid.tile)
    same = (grid.cell_size, grid.cell_height, grid.tile, grid.border, grid.parts)
    if same != (made.cell_size, made.cell_height, made.tile, made.border, made.parts) or 0 < grid.tile < 8:
        raise ParameterError("the tiles are not those of the agent and the settings")


def build_tiles(
    triangles: Triangles,
    grid: TileGrid,
    agent: AgentVoxels,
    settings: Settings,
    tiles: list[int] | None = None,
    *,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    clock: Callable[[str], None] | None = None,
    each: bool = False,
) -> list[Flat]:
    """Build tiles (all by default), in threads; the result is in their order, whatever the number of threads.

    Each item of it holds a few tiles, or with `each` one. `clock` is called with the name of each step of the pipeline
    when it ends.
    """
    wanted = list(range(grid.count)) if tiles is None else tiles
    offsets, chosen = _sort_triangles(triangles, grid, wanted, everything=tiles is None)
    chunk = 1 if each else _CHUNK
    chunks = -(-len(wanted) // chunk)
    done: list[Flat | None] = [None] * chunks
    finished = 0

    def work(first: int, last: int) -> None:
        parts = []
        for at in range(first, last):
            mine = chosen[offsets[at] : offsets[at + 1]]
            built: list[Any] = []
            if mine.size:
                built = build_tile(triangles, mine, grid.frame(wanted[at]), grid.border, agent, settings, clock)
            parts.append(flatten(built))
        done[first // chunk] = concatenate(parts)

    def finish(count: int) -> None:
        nonlocal finished
        finished += count
        if progress is not None:
            progress(finished, len(wanted))

    run_chunks(work, len(wanted), workers=workers, chunk=chunk, progress=finish)
    return [part for part in done if part is not None]


def _sort_triangles(
    triangles: Triangles, grid: TileGrid, wanted: list[int], *, everything: bool
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Triangles of each wanted tile in compressed rows."""
    if everything and grid.tile > 0:
        offsets = np.zeros(grid.count + 1, np.int64)
        where = (grid.world(), grid.tile, grid.border, grid.columns, grid.rows)
        _heightfield_kernels.sort_to_tiles(*triangles[:2], *where, offsets, np.empty(0, np.int32))
        starts = offsets_of(offsets[:-1])
        chosen = np.empty(starts[-1], np.int32)
        _heightfield_kernels.sort_to_tiles(*triangles[:2], *where, starts.copy(), chosen)
        return starts, chosen
    # Once through all triangles for all wanted tiles together, then through what is left for each.
    frames = [grid.frame(tile) for tile in wanted]
    x, y = min(frame.first_x for frame in frames), min(frame.first_y for frame in frames)
    around = frames[0]._replace(
        first_x=x,
        first_y=y,
        width=max(frame.first_x + frame.width for frame in frames) - x,
        depth=max(frame.first_y + frame.depth for frame in frames) - y,
    )
    near = _choose(triangles, np.empty(0, np.int32), around)
    lists = [_choose(triangles, near, frame) if near.size else near for frame in frames]
    return offsets_of([part.size for part in lists]), np.concatenate([np.empty(0, np.int32), *lists])


def _choose(triangles: Triangles, among: NDArray[np.int32], frame: VoxelFrame) -> NDArray[np.int32]:
    """The triangles (of all, where `among` is empty) whose boxes reach into a frame."""
    found = np.empty(1024, np.int32)
    count = _heightfield_kernels.choose(*triangles[:2], among, frame, found)
    if count > found.size:
        found = np.empty(count, np.int32)
        _heightfield_kernels.choose(*triangles[:2], among, frame, found)
    return found[:count]


def check_bounds(bounds: ArrayLike) -> NDArray[np.float64]:
    """A box as (2, 3) finite numbers, low <= high."""
    box = checks.points3(bounds, "bounds")
    if box.shape != (2, 3) or (box[0] > box[1]).any():
        raise ParameterError("bounds must be two corners (x, y, z), the lower one first")
    return box
