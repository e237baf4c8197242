"""From geometry to a `State`: the tiles that were built, and how a mesh is put together from them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import cos, radians
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold import _check
from wayfold.agent import Agent
from wayfold.errors import EditError, GeometryError, OffMapError, ParameterError
from wayfold.geometry import Mesh
from wayfold.navmesh import _ground_kernels, tiles
from wayfold.navmesh._ground_kernels import Ground
from wayfold.navmesh.pipeline import Triangles
from wayfold.navmesh.settings import AgentVoxels, Settings
from wayfold.navmesh.state import State, filter_polygons

_EVERY_KIND = np.empty(0, np.uint8)
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Built:
    """What is kept of a build so that parts of it can be built again."""

    agent: Agent
    settings: Settings
    grid: tiles.TileGrid
    flat: tiles.Flat
    keep: str | NDArray[np.float64]

    @property
    def voxels(self) -> AgentVoxels:
        """The agent in voxels."""
        return AgentVoxels.of(self.agent, self.settings)

    def state(self) -> State:
        """The mesh: all tiles stitched, without islands that are too small or not to be kept."""
        grid, flat = self.grid, self.flat
        joined = tiles.stitch(flat, grid)
        origin = np.array(grid.origin)
        vertices = np.empty((len(joined.x), 3))
        vertices[:, 0] = origin[0] + joined.x * grid.cell_size
        vertices[:, 1] = origin[1] + joined.y * grid.cell_size
        vertices[:, 2] = origin[2] + joined.z
        points = np.empty((len(flat.surface), 3))
        points[:, :2] = origin[:2] + flat.surface * (0.5 * grid.cell_size)
        points[:, 2] = origin[2] + flat.surface_heights
        starts = np.cumsum(flat.polygons[:, 1]) - flat.polygons[:, 1]
        triangles = flat.triangles + np.repeat(starts, flat.polygons[:, 2])[:, None]
        surface_offsets = np.concatenate([[0], np.cumsum(flat.polygons[:, 2], dtype=np.int64)])
        ground = Ground(
            vertices,
            joined.offsets,
            joined.vertices,
            joined.neighbours,
            points,
            surface_offsets,
            np.ascontiguousarray(triangles, np.int32),
        )
        kinds = flat.kinds
        if len(kinds) == 0:
            return State(ground, kinds)
        assert self.settings.min_region is not None
        state = State(ground, kinds)
        sizes = np.bincount(state.components, weights=state.areas)
        kept = (sizes >= 0.999 * self.settings.min_region)[state.components]
        kept = _islands(state, kept, self.keep)
        return state if kept.all() else State(*filter_polygons(ground, kinds, kept))


def _islands(state: State, kept: NDArray[np.bool_], keep: str | NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which polygons stay: those of all components, of the largest, or of the ones that seeds lie in."""
    labels = state.components
    if isinstance(keep, str):
        if keep == "all":
            return kept
        sizes = np.bincount(labels, weights=state.areas * kept)
        return np.asarray(kept & (labels == np.argmax(sizes)))
    found = np.empty(len(keep), np.int32)
    _ground_kernels.locate(state.ground, state.cells, keep, 1.0, np.inf, 0, len(keep), found, np.empty((len(keep), 3)))
    if (found < 0).any():
        seed = keep[int(np.argmax(found < 0))]
        raise OffMapError(
            f"the seed ({seed[0]:g}, {seed[1]:g}, {seed[2]:g}) is more than 1 m away from walkable ground"
        )
    return kept & np.isin(labels, labels[found])


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
) -> Built:
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
    flat = tiles.concatenate(parts)
    if len(flat.kinds) == 0:
        raise GeometryError(
            f"the mesh has no ground for an agent of radius {agent.radius:g} m, height {agent.height:g} m and slope "
            f"{agent.slope:g} degrees: use a smaller agent, a smaller cell_size, or check that z is up"
        )
    return Built(agent, settings, grid, flat, keep)


def rebuild(built: Built, box: ArrayLike, mesh: Mesh, kinds: NDArray[np.uint8], workers: int | None) -> Built:
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
        _triangles(mesh, kinds, built.agent), grid, built.voxels, built.settings, touched, workers=workers, each=True
    )
    return Built(built.agent, built.settings, grid, tiles.splice(built.flat, touched, fresh), built.keep)


def to_archive(built: Built) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and facts for a `.wayfold` file."""
    arrays: dict[str, NDArray[Any]] = {f"tiles/{name}": array for name, array in built.flat._asdict().items()}
    meta: dict[str, Any] = {"settings": asdict(built.settings), "grid": asdict(built.grid), "keep": built.keep}
    meta["agent"] = {**asdict(built.agent), "motions": int(built.agent.motions)}
    if not isinstance(built.keep, str):
        arrays["tiles/seeds"] = built.keep
        meta["keep"] = "seeds"
    return arrays, meta


def from_archive(arrays: dict[str, NDArray[Any]], meta: dict[str, Any]) -> Built:
    """What `to_archive` stored; raises KeyError, TypeError or ValueError where it is damaged."""
    flat = tiles.Flat(*(arrays[f"tiles/{name}"] for name in tiles.Flat._fields))
    for array in flat:
        array.setflags(write=True)  # mapped copy-on-write; Numba compiles again for read-only arrays
    grid = dict(meta["grid"])
    grid["origin"] = tuple(grid["origin"])
    keep = arrays["tiles/seeds"] if meta["keep"] == "seeds" else meta["keep"]
    return Built(Agent(**meta["agent"]), Settings(**meta["settings"]), tiles.TileGrid(**grid), flat, keep)
