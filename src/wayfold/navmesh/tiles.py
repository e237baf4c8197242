"""Tiles: the world in squares that are built on their own, in any order and by any number of threads, then stitched.

A tile sees a border of its neighbours wide enough to come to the same voxels as they do along the common side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold import _check
from wayfold._threads import run_chunks
from wayfold.errors import GeometryError, ParameterError
from wayfold.navmesh import _field_kernels, _stitch_kernels
from wayfold.navmesh._field_kernels import Frame
from wayfold.navmesh.pipeline import Triangles, build_tile
from wayfold.navmesh.settings import AgentVoxels, Settings

_SINGLE = 2048  # columns along each side up to which a world is one tile unless a tile size is asked for
_USUAL = 256  # columns of a tile where none is asked for
_FARTHEST = 1e9  # metres
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
    """

    origin: tuple[float, float, float]
    cell_size: float
    cell_height: float
    width: int
    depth: int
    tile: int
    border: int

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

    def frame(self, tile: int) -> Frame:
        """The columns that tile number `tile` looks at, its border included."""
        x, y = tile % self.columns, tile // self.columns
        if self.tile == 0:
            return self.world()
        side = self.tile + 2 * self.border
        return Frame(
            *self.origin,
            self.cell_size,
            self.cell_height,
            x * self.tile - self.border,
            y * self.tile - self.border,
            side,
            side,
        )

    def world(self) -> Frame:
        """All columns of the world."""
        return Frame(*self.origin, self.cell_size, self.cell_height, 0, 0, self.width, self.depth)

    def touched(self, box: NDArray[np.float64]) -> list[int]:
        """Tiles whose result may depend on geometry in a box ((2, 3), metres), in order."""
        if self.tile == 0:
            return [0]
        low = np.floor((box[0, :2] - self.origin[:2]) / self.cell_size) - self.border - 1
        high = np.floor((box[1, :2] - self.origin[:2]) / self.cell_size) + self.border + 1
        first = np.maximum(low // self.tile, 0).astype(int)
        last = np.minimum(high // self.tile, (self.columns - 1, self.rows - 1)).astype(int)
        return [y * self.columns + x for y in range(first[1], last[1] + 1) for x in range(first[0], last[0] + 1)]


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
    if agent.height > _MOST_LAYERS or agent.climb > _MOST_LAYERS:
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
    return TileGrid((x, y, z), settings.cell_size, settings.cell_height, width, depth, tile, border)


class Flat(NamedTuple):
    """What was built for all tiles, one after the other; vertex, polygon and edge numbers count within each tile."""

    counts: NDArray[np.int64]
    """(tiles, 6): vertices, polygons, edges, doors, surface points, surface triangles."""
    lattice: NDArray[np.int32]
    """(v, 2) lattice positions in the world."""
    heights: NDArray[np.float32]
    """(v,) metres above the origin."""
    polygons: NDArray[np.int32]
    """(p, 3): edges, surface points and surface triangles of each polygon."""
    kinds: NDArray[np.uint8]
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
    """(t, 3)."""


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


def _flatten(built: tuple[Any, Any] | None) -> Flat:
    """One tile's meshes as a `Flat` of one tile."""
    if built is None:
        return _empty()
    mesh, detail = built
    doors = mesh.doors
    order = np.lexsort((doors[:, 3], doors[:, 2], doors[:, 1], doors[:, 0]))
    parts = (
        np.column_stack([mesh.x, mesh.y]),
        mesh.z,
        np.column_stack([np.diff(mesh.offsets), np.diff(detail.point_offsets), np.diff(detail.triangle_offsets)]),
        mesh.kinds,
        np.column_stack([mesh.vertices, mesh.neighbours]),
        doors[order],
        detail.xy,
        detail.z,
        detail.triangles,
    )
    counts = np.array([[len(parts[0]), len(parts[2]), len(parts[4]), len(doors), len(parts[6]), len(parts[8])]])
    return Flat(counts, *parts)


def concatenate(parts: Iterable[Flat]) -> Flat:
    """Tiles one after the other."""
    return Flat(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def splice(flat: Flat, tiles: list[int], fresh: list[Flat]) -> Flat:
    """The same world with some tiles (in ascending order) replaced."""
    ends = np.concatenate([np.zeros((1, 6), np.int64), np.cumsum(flat.counts, axis=0)])
    pieces: list[Flat] = []
    last = 0
    for tile, part in zip([*tiles, len(flat.counts)], [*fresh, None], strict=True):
        low, high = ends[last], ends[tile]
        arrays: list[Any] = [flat[at][low[k] : high[k]] for at, k in enumerate(_COUNT, 1)]
        pieces.append(Flat(flat.counts[last:tile], *arrays))
        if part is not None:
            pieces.append(part)
        last = tile + 1
    return concatenate(pieces)


def stitch(flat: Flat, grid: TileGrid) -> _stitch_kernels.Stitched:
    """All tiles as one mesh."""
    counts = flat.counts
    bases = np.concatenate([np.zeros((1, 6), np.int64), np.cumsum(counts, axis=0)])
    offsets = np.zeros(len(flat.kinds) + 1, np.int64)
    np.cumsum(flat.polygons[:, 0], out=offsets[1:])
    edges = flat.edges
    vertex_base = np.repeat(bases[:-1, 0], counts[:, 2])
    polygon_base = np.repeat(bases[:-1, 1], counts[:, 2])
    doors = flat.doors.copy()
    doors[:, 6] += np.repeat(bases[:-1, 2], counts[:, 3]).astype(np.int32)
    parts = _stitch_kernels.Parts(
        np.ascontiguousarray(flat.lattice[:, 0]),
        np.ascontiguousarray(flat.lattice[:, 1]),
        flat.heights,
        offsets,
        (edges[:, 0] + vertex_base).astype(np.int32),
        np.where(edges[:, 1] >= 0, edges[:, 1] + polygon_base, -1).astype(np.int32),
        flat.kinds,
        doors,
        bases[:, 3].copy(),
    )
    return _stitch_kernels.Stitched(*_stitch_kernels.stitch(parts, grid.columns, grid.rows))


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

    Each item of it holds a few tiles, or with `each` one. `clock` is told the end of each step of the pipeline.
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
            built = None
            if mine.size:
                built = build_tile(triangles, mine, grid.frame(wanted[at]), grid.border, agent, settings, clock)
            parts.append(_flatten(built))
        done[first // chunk] = concatenate(parts)

    def tell(count: int) -> None:
        nonlocal finished
        finished += count
        if progress is not None:
            progress(finished, len(wanted))

    run_chunks(work, len(wanted), workers=workers, chunk=chunk, progress=tell)
    return [part for part in done if part is not None]


def _sort_triangles(
    triangles: Triangles, grid: TileGrid, wanted: list[int], *, everything: bool
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Triangles of each wanted tile in compressed rows."""
    if everything and grid.tile > 0:
        offsets = np.zeros(grid.count + 1, np.int64)
        where = (grid.world(), grid.tile, grid.border, grid.columns, grid.rows)
        _field_kernels.sort_to_tiles(*triangles[:2], *where, offsets, np.empty(0, np.int32))
        starts = np.concatenate([[0], np.cumsum(offsets[:-1])])
        chosen = np.empty(starts[-1], np.int32)
        _field_kernels.sort_to_tiles(*triangles[:2], *where, starts.copy(), chosen)
        return starts, chosen
    lists = []
    for tile in wanted:
        found = np.empty(1024, np.int32)
        count = _field_kernels.choose(*triangles[:2], grid.frame(tile), found)
        if count > found.size:
            found = np.empty(count, np.int32)
            _field_kernels.choose(*triangles[:2], grid.frame(tile), found)
        lists.append(found[:count])
    return np.concatenate([[0], np.cumsum([part.size for part in lists])]), np.concatenate(
        [np.empty(0, np.int32), *lists]
    )


def check_bounds(bounds: ArrayLike) -> NDArray[np.float64]:
    """A box as (2, 3) finite numbers, low <= high."""
    box = _check.points3(bounds, "bounds")
    if box.shape != (2, 3) or (box[0] > box[1]).any():
        raise ParameterError("bounds must be two corners (x, y, z), the lower one first")
    return box
