"""Tiles: the world in squares that are built on their own, in any order and by any number of threads, then stitched.

A tile sees a border of its neighbours wide enough to come to the same voxels as they do along the common side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.core.batches import run_chunks
from wayfold.errors import GeometryError, ParameterError
from wayfold.geometry.frame import Frame as LocalFrame
from wayfold.navmesh import _field_kernels
from wayfold.navmesh._field_kernels import Frame
from wayfold.navmesh.flat import Flat, concatenate, flatten
from wayfold.navmesh.pipeline import Triangles, build_tile
from wayfold.navmesh.rectangle import Rectangle
from wayfold.navmesh.settings import AgentVoxels, Settings

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
            built: list[Any] = []
            if mine.size:
                built = build_tile(triangles, mine, grid.frame(wanted[at]), grid.border, agent, settings, clock)
            parts.append(flatten(built))
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
    return np.concatenate([[0], np.cumsum([part.size for part in lists])]), np.concatenate(
        [np.empty(0, np.int32), *lists]
    )


def _choose(triangles: Triangles, among: NDArray[np.int32], frame: Frame) -> NDArray[np.int32]:
    """The triangles (of all, where `among` is empty) whose boxes reach into a frame."""
    found = np.empty(1024, np.int32)
    count = _field_kernels.choose(*triangles[:2], among, frame, found)
    if count > found.size:
        found = np.empty(count, np.int32)
        _field_kernels.choose(*triangles[:2], among, frame, found)
    return found[:count]


def check_bounds(bounds: ArrayLike) -> NDArray[np.float64]:
    """A box as (2, 3) finite numbers, low <= high."""
    box = checks.points3(bounds, "bounds")
    if box.shape != (2, 3) or (box[0] > box[1]).any():
        raise ParameterError("bounds must be two corners (x, y, z), the lower one first")
    return box
