"""From tiles to one mesh: islands that stay, tiles joined, and a mesh that differs from another in a few tiles.

An *islet* is a connected part of one tile. Islets and the joints between them at tile borders are far fewer than
polygons, and those of a tile change only with the tile: so components are found again in no time after a rebuild.

Everything is numbered tile by tile, so a change moves the numbers of all later tiles by the same amount. Copying is
what a rebuild costs then; nothing is stitched, sorted or searched again outside the rectangle.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import cos, radians
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import Agent
from wayfold.core import checks, text
from wayfold.errors import EditError, GeometryError, OffMapError, ParameterError
from wayfold.geometry import Mesh
from wayfold.navmesh import _ground_kernels, _tile_kernels, tiles
from wayfold.navmesh._corridor_kernels import Portals
from wayfold.navmesh._ground_kernels import PolygonGrid, PolyMesh
from wayfold.navmesh._heightfield_kernels import ZonePrisms
from wayfold.navmesh.pipeline import AgentVoxels, Settings, Triangles
from wayfold.navmesh.tiles import Flat, Rectangle, Rows, TileGrid, bases, concatenate, in_rows, inside, replaced
from wayfold.navmesh.topology import Topology, join

Keep = str | NDArray[np.float64]
ISLETS, JOINTS = 1, 2


class Islets(NamedTuple):
    """The islets of a world, kept or not, numbered by their lowest polygons."""

    islet: NDArray[np.int32]
    """(p,) of each polygon that the tiles have."""
    sizes: NDArray[np.float64]
    """(i,) square metres."""
    joints: NDArray[np.int32]
    """(j, 2) islets on both sides of a border between tiles, the lower first, in ascending order of these."""
    bounds: NDArray[np.int64]
    """(tiles + 1, 3): first polygon, islet and joint of each tile."""

    @property
    def components(self) -> NDArray[np.int32]:
        """The component of each islet, numbered by their lowest islets."""
        ends = np.cumsum(np.bincount(self.joints[:, 0], minlength=len(self.sizes)))
        return join(np.append(np.zeros(1, np.int64), ends), np.ascontiguousarray(self.joints[:, 1]))

    def spliced(self, splice: TileSplice, fresh: Islets) -> Islets:
        """The islets after some tiles were changed."""
        return Islets(
            splice.numbers(POLYGONS, ISLETS, self.islet, fresh.islet),
            splice.plain(ISLETS, self.sizes, fresh.sizes),
            splice.numbers(JOINTS, ISLETS, self.joints, fresh.joints),
            splice.new,
        )


def find_islets(joined: Joined, polygon_areas: NDArray[np.float64]) -> Islets:
    """The islets of a mesh of tiles; `polygon_areas` (p,) are those of its polygons."""
    ground, first = joined.ground, joined.bounds[:, POLYGONS]
    tile = np.repeat(np.arange(len(first) - 1), np.diff(first))
    owners = np.repeat(np.arange(len(tile)), np.diff(ground.offsets))
    ahead = ground.neighbours
    across = (ahead >= 0) & (tile[ahead] != tile[owners]) if len(tile) else np.zeros(0, np.bool_)
    islet = join(ground.offsets, np.where(across, -1, ahead).astype(np.int32))
    edges = np.flatnonzero(across & (tile[ahead] > tile[owners])) if len(tile) else np.zeros(0, np.int64)
    joints = np.column_stack([islet[owners[edges]], islet[ahead[edges]]])
    joints = np.ascontiguousarray(joints[np.argsort(joints[:, 0], kind="stable")])
    count = int(islet.max(initial=-1)) + 1
    # Islets are numbered by their lowest polygons, so tile by tile too.
    islets = np.append(0, np.maximum.accumulate(islet) + 1)[first]
    bounds = np.column_stack([first, islets, np.searchsorted(joints[:, 0], islets)])
    sizes = np.asarray(np.bincount(islet, weights=polygon_areas, minlength=count), np.float64)
    return Islets(islet, sizes, joints, bounds)


def stay(
    components: NDArray[np.int32], islets: Islets, settings: Settings, keep: Keep, mesh: Topology
) -> NDArray[np.bool_]:
    """Which components stay: those that are large enough; of these all, the largest, or the ones with seeds.

    `mesh` has the polygons of all tiles; only seeds are looked up on it.
    """
    assert settings.min_region is not None
    sizes = np.bincount(components, weights=islets.sizes)
    large = sizes >= 0.999 * settings.min_region
    if isinstance(keep, str):
        if keep == "largest" and len(sizes):
            large &= np.arange(len(sizes)) == np.argmax(sizes)
        return np.asarray(large)
    found = np.empty(len(keep), np.int32)
    _ground_kernels.locate(
        mesh.ground, mesh.cells, np.empty(0, np.uint8), mesh.frame.local(keep), mesh.near, 1.0, np.inf, False, 0,
        len(keep), found, np.empty((len(keep), 3)),
    )  # fmt: skip
    if (found < 0).any():
        seed = keep[int(np.argmax(found < 0))]
        raise OffMapError(
            f"the seed ({seed[0]:g}, {seed[1]:g}, {seed[2]:g}) is more than 1 m away from walkable ground"
        )
    seeded = np.zeros(len(sizes), np.bool_)
    seeded[components[islets.islet[found]]] = True
    return np.asarray(large & seeded)


POLYGONS, EDGES, VERTICES, POINTS, TRIANGLES = range(5)


class Joined(NamedTuple):
    """A mesh of tiles; everything is numbered tile by tile."""

    ground: PolyMesh
    areas: NDArray[np.uint8]
    """(p,)."""
    bounds: NDArray[np.int64]
    """(tiles + 1, 5): first polygon, edge, vertex, surface point and surface triangle of each tile."""

    def without(self, kept: NDArray[np.bool_]) -> Joined:
        """The mesh of the kept polygons, with the vertices that they use, in the same order."""
        if kept.all():
            return self
        ground, bounds = self.ground, self.bounds
        sizes = np.diff(ground.offsets)
        edges = np.repeat(kept, sizes)
        neighbours = ground.neighbours[edges]
        numbers = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)
        used = np.zeros(len(ground.vertices), np.bool_)
        used[ground.corners[edges]] = True
        vertex = (np.cumsum(used) - 1).astype(np.int32)
        mine = np.repeat(kept, np.diff(ground.surface_offsets))
        triangles = ground.surface_triangles[mine]
        held = np.zeros(len(ground.surface_points), np.bool_)
        held[triangles.ravel()] = True
        point = (np.cumsum(held) - 1).astype(np.int32)
        smaller = PolyMesh(
            ground.vertices[used],
            _offsets(sizes[kept]),
            vertex[ground.corners[edges]],
            numbers[neighbours],
            ground.surface_points[held],
            _offsets(np.diff(ground.surface_offsets)[kept]),
            point[triangles],
        )
        counts = [_offsets(mask)[bounds[:, at]] for at, mask in enumerate((kept, edges, used, held, mine))]
        return Joined(smaller, self.areas[kept], np.column_stack(counts))


def join_tiles(flat: Flat, columns: int, rows: int, grid: TileGrid) -> Joined:
    """The tiles of a rectangle of the world as one mesh; at the rectangle's sides they are left as they are."""
    counts = flat.counts
    firsts = bases(counts)
    offsets = _offsets(flat.polygons[:, 0])
    edges = flat.edges
    vertex_base = np.repeat(firsts[:-1, 0], counts[:, 2])
    polygon_base = np.repeat(firsts[:-1, 1], counts[:, 2])
    doors = flat.doors.copy()
    doors[:, 6] += np.repeat(firsts[:-1, 2], counts[:, 3]).astype(np.int32)
    lower, upper = lane_doors(doors)
    parts = _tile_kernels.TileParts(
        np.ascontiguousarray(flat.lattice[:, 0]),
        np.ascontiguousarray(flat.lattice[:, 1]),
        flat.heights,
        offsets,
        (edges[:, 0] + vertex_base).astype(np.int32),
        np.where(edges[:, 1] >= 0, edges[:, 1] + polygon_base, -1).astype(np.int32),
        flat.areas,
        doors,
        np.ascontiguousarray(firsts[:, :4]),
    )
    joined = _tile_kernels.Stitched(*_tile_kernels.stitch(parts, lower, upper, columns, rows))
    origin = grid.origin
    vertices = np.empty((len(joined.x), 3))
    vertices[:, 0] = origin[0] + joined.x * grid.cell_size / grid.parts
    vertices[:, 1] = origin[1] + joined.y * grid.cell_size / grid.parts
    vertices[:, 2] = origin[2] + joined.z
    points = np.empty((len(flat.surface), 3))
    points[:, :2] = np.array(origin[:2]) + flat.surface * (0.5 * grid.cell_size) / grid.parts
    points[:, 2] = origin[2] + flat.surface_heights
    frame = grid.local_frame
    vertices, points = frame.local(vertices), frame.local(points)
    starts = np.cumsum(flat.polygons[:, 1]) - flat.polygons[:, 1]
    triangles = flat.triangles + np.repeat(starts, flat.polygons[:, 2])[:, None]
    ground = PolyMesh(
        vertices,
        joined.offsets,
        joined.vertices,
        joined.neighbours,
        points,
        _offsets(flat.polygons[:, 2]),
        np.ascontiguousarray(triangles, np.int32),
    )
    polygons = firsts[:, 1]
    bounds = (polygons, joined.offsets[polygons], joined.vertex_bases, firsts[:, 4], firsts[:, 5])
    return Joined(ground, flat.areas, np.column_stack(bounds))


def _offsets(sizes: NDArray[np.generic]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def lane_doors(doors: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Doors of lanes on the lower and on the upper side of their lines, as `stitch` takes them."""
    lanes = doors[doors[:, 0] >= 4]
    high = (lanes[:, 0] & 2) == 0
    # West and east, south and north face each other.
    lanes[:, 0] = (lanes[:, 0] & ~3) | (lanes[:, 0] & 1)
    order = np.lexsort((lanes[:, 3], lanes[:, 2], lanes[:, 1], lanes[:, 0]))
    lanes, high = lanes[order], high[order]
    return np.ascontiguousarray(lanes[~high]), np.ascontiguousarray(lanes[high])


_EVERY_KIND = np.empty(0, np.uint8)
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Built:
    """Tiles and settings of a build, kept so that parts of it can be built again."""

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


def assemble(agent: Agent, settings: Settings, grid: tiles.TileGrid, rows: Rows, keep: Keep) -> tuple[Built, Topology]:
    """The mesh of all tiles, without islands that are too small or not to be kept."""
    joined = join_tiles(concatenate(rows), grid.columns, grid.rows, grid)
    whole = Topology(joined.ground, joined.areas, grid.local_frame)
    islets = find_islets(joined, whole.polygon_areas)
    components = islets.components
    kept = stay(components, islets, settings, keep, whole)[components]
    chosen = joined.without(kept[islets.islet])
    topology = whole if chosen is joined else Topology(chosen.ground, chosen.areas, grid.local_frame)
    return Built(agent, settings, grid, rows, keep, islets, kept, chosen.bounds), topology


def check_keep(keep: str | ArrayLike) -> str | NDArray[np.float64]:
    """The word "all" or "largest", or seed points."""
    if isinstance(keep, str):
        if keep not in ("all", "largest"):
            raise ParameterError(f'keep must be "all", "largest" or seed points, not {checks.shown(keep)}')
        return keep
    seeds = checks.floats(keep, "keep", '"all", "largest" or seed points')
    return checks.points3(seeds[None] if seeds.ndim == 1 else seeds, "keep")


def check_areas(mesh: Mesh, areas: ArrayLike | None) -> NDArray[np.uint8]:
    """Areas of triangles, one each."""
    if areas is None:
        return _EVERY_KIND
    array = checks.numbers(areas, "areas", bools=True)
    if array.shape != (len(mesh),) or array.dtype.kind not in "iub":
        raise ParameterError(f"areas must be one whole number for each of the {len(mesh)} triangles, not {array.shape}")
    if array.size and (array.min() < 0 or array.max() > 255):
        raise ParameterError(f"areas must be from 0 to 255, not {array.min()} to {array.max()}")
    return array.astype(np.uint8)


def _triangles(mesh: Mesh, areas: NDArray[np.uint8], zones: ZonePrisms, agent: Agent) -> Triangles:
    # A hair flatter, so that a slope of exactly the limit is walkable.
    return Triangles(mesh.vertices, mesh.triangles, areas, cos(radians(agent.slope)) - 1e-9, zones)


def build(
    mesh: Mesh,
    agent: Agent,
    settings: Settings,
    tile_size: int | None,
    *,
    areas: NDArray[np.uint8],
    zones: ZonePrisms,
    bounds: NDArray[np.float64] | None,
    keep: Keep,
    workers: int | None,
    progress: Progress | None,
) -> tuple[Built, Topology]:
    """Build every tile of a world."""
    triangles = _triangles(mesh, areas, zones, agent)
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
    if any(len(row.areas) for row in rows):
        built, topology = assemble(agent, settings, grid, rows, keep)
        if topology.num_polygons:
            return built, topology
    raise GeometryError(
        f"the mesh has no ground for an agent of radius {agent.radius:g} m, height {agent.height:g} m and slope "
        f"{agent.slope:g} degrees: use a smaller agent, a smaller cell_size or min_region, or check that z is up"
    )


def rebuild(
    built: Built,
    topology: Topology,
    box: ArrayLike,
    mesh: Mesh,
    *,
    areas: NDArray[np.uint8],
    zones: ZonePrisms,
    workers: int | None,
) -> tuple[Built, Topology]:
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
        _triangles(mesh, areas, zones, built.agent),
        grid,
        built.voxels,
        built.settings,
        touched.numbers(grid.columns).tolist(),
        workers=workers,
        each=True,
    )
    rows = replaced(built.rows, touched, fresh)
    spliced = _spliced(built, topology, rows, touched)
    return spliced or assemble(built.agent, built.settings, grid, rows, built.keep)


# A changed tile changes how its neighbours are cut at the common border, and so the numbers that tiles beyond refer to:
# two tiles around it are put together anew. What these refer to must be whole too, which takes another two.
_RENEWED = 2
_LOOKED_AT = 4


def _spliced(built: Built, topology: Topology, rows: Rows, touched: Rectangle) -> tuple[Built, Topology] | None:
    """The new mesh from the old one and the tiles around those that were touched; None where that does not pay."""
    grid = built.grid
    size = grid.columns, grid.rows
    if not isinstance(built.keep, str) or not len(topology.areas):
        return None
    changed, around = touched.grown(_RENEWED, *size), touched.grown(_LOOKED_AT, *size)
    if around.columns * around.rows == grid.count:
        return None
    joined = join_tiles(inside(rows, around), around.columns, around.rows, grid)
    part = Topology(joined.ground, joined.areas, grid.local_frame)
    fresh = find_islets(joined, part.polygon_areas)
    islets = built.islets.spliced(TileSplice(built.islets.bounds, fresh.bounds, changed, around, grid.columns), fresh)
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
    bounds, new = splice_topology(built.bounds, topology, chosen, changed, around, grid.columns, labels)
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


Counts = NDArray[np.int64]
PORTALS, DOORS = 5, 6


class TileSplice:
    """How numbers of an old mesh move to the new one.

    Parameters
    ----------
    old : (tiles + 1, k) int64 array
        First polygon, edge, ... of each tile in the old mesh.
    fresh : (some tiles + 1, k) int64 array
        The same in a mesh of the tiles of `around` alone.
    changed : Rectangle
        Tiles that are taken from the fresh mesh.
    around : Rectangle
        Tiles of the fresh mesh: at least one more than `changed` on each side, as far as the world goes.
    columns : int
        Tiles in a row of the world.
    """

    def __init__(self, old: Counts, fresh: Counts, changed: Rectangle, around: Rectangle, columns: int) -> None:
        self.old, self.fresh = old, fresh
        tiles = around.numbers(columns)
        mine = changed.numbers(columns)
        counts = np.diff(old, axis=0)
        counts[mine] = np.diff(fresh, axis=0)[np.searchsorted(tiles, mine)]
        self.new = np.zeros_like(old)
        np.cumsum(counts, axis=0, out=self.new[1:])
        self.tiles = tiles
        # Stretches of tiles: (first, one past the last, first in the fresh mesh or -1 where they are carried over).
        self.stretches: list[tuple[int, int, int]] = []
        at = 0
        for row in range(changed.rows):
            first = (changed.y + row) * columns + changed.x
            last = first + changed.columns
            self.stretches += [(at, first, -1), (first, last, int(np.searchsorted(tiles, first)))]
            at = last
        self.stretches.append((at, len(old) - 1, -1))
        # Runs of numbers that move by the same amount: carried stretches, and each changed tile on its own.
        cuts = [0]
        gone: list[int] = []
        self._run_of: dict[int, int] = {}
        for first, last, source in self.stretches:
            if source < 0:
                self._run_of[first] = len(gone)
                cuts.append(last)
                gone.append(0)
            else:
                cuts += range(first + 1, last + 1)
                gone += [1] * (last - first)
        self.cuts = np.array(cuts)
        self.gone = np.array(gone, np.uint8)

    def starts(self, what: int) -> tuple[Counts, Counts]:
        """Where the runs of a kind of number begin, and by how much each moves."""
        return self.old[self.cuts, what], self.new[self.cuts[:-1], what] - self.old[self.cuts[:-1], what]

    def plain(self, what: int, old: NDArray[Any], fresh: NDArray[Any]) -> NDArray[Any]:
        """An array with one row for each item of a kind, without numbers in it."""
        result = np.empty((int(self.new[-1, what]), *old.shape[1:]), old.dtype)
        for first, last, source in self.stretches:
            part = result[self.new[first, what] : self.new[last, what]]
            if source < 0:
                part[...] = old[self.old[first, what] : self.old[last, what]]
            else:
                part[...] = self._fresh(what, fresh, first, last, source)
        return result

    def offsets(self, what: int, into: int, old: Counts, fresh: Counts) -> Counts:
        """First item of kind `into` of each item of kind `what`, and one more."""
        result = np.empty(int(self.new[-1, what]) + 1, np.int64)
        for first, last, source in self.stretches:
            part = result[self.new[first, what] : self.new[last, what]]
            if source < 0:
                rows = old[self.old[first, what] : self.old[last, what]]
                np.add(rows, self.new[first, into] - self.old[first, into], out=part)
            else:
                rows = self._fresh(what, fresh, first, last, source)
                np.add(rows, self.new[first, into] - self.fresh[source, into], out=part)
        result[-1] = self.new[-1, into]
        return result

    def numbers(self, what: int, into: int, old: NDArray[np.int32], fresh: NDArray[np.int32]) -> NDArray[np.int32]:
        """Numbers of kind `into` (-1 for none) in an array with one row for each item of kind `what`."""
        result = np.empty((int(self.new[-1, what]), *old.shape[1:]), np.int32)
        starts, shifts = self.starts(into)
        world = self.world(into)
        for first, last, source in self.stretches:
            part = result[self.new[first, what] : self.new[last, what]]
            if source < 0:
                rows = old[self.old[first, what] : self.old[last, what]]
                _tile_kernels.carry(rows.ravel(), starts, shifts, self._run_of[first], part.ravel())
            else:
                part[...] = world[self._fresh(what, fresh, first, last, source)]
        return result

    def world(self, into: int) -> NDArray[np.int32]:
        """The new number of each number of the fresh mesh; the last entry stands for -1."""
        counts = np.diff(self.fresh[:, into])
        shifts = self.new[self.tiles, into] - self.fresh[:-1, into]
        numbers = np.arange(self.fresh[-1, into]) + np.repeat(shifts, counts)
        return np.append(numbers, -1).astype(np.int32)

    def _fresh(self, what: int, fresh: NDArray[Any], first: int, last: int, source: int) -> NDArray[Any]:
        return fresh[self.fresh[source, what] : self.fresh[source + last - first, what]]


def splice_topology(
    bounds: Counts,
    old: Topology,
    fresh: Joined,
    changed: Rectangle,
    around: Rectangle,
    columns: int,
    components: NDArray[np.int32],
) -> tuple[Counts, Topology]:
    """The new mesh, with everything that the old one had already derived, and where its tiles begin."""
    part = Topology(fresh.ground, fresh.areas, old.frame)
    had = old.__dict__
    firsts, freshest = [bounds], [fresh.bounds]
    if "portals" in had:
        for topology, of_tiles in ((old, firsts), (part, freshest)):
            polygons = of_tiles[0][:, POLYGONS]
            of_tiles += [topology.portals.firsts[polygons, None], topology.portals.rows[polygons, None]]
    splice = TileSplice(np.hstack(firsts), np.hstack(freshest), changed, around, columns)
    before, after = old.ground, fresh.ground
    jobs: dict[str, Callable[[], Any]] = {
        "vertices": lambda: splice.plain(VERTICES, before.vertices, after.vertices),
        "offsets": lambda: splice.offsets(POLYGONS, EDGES, before.offsets, after.offsets),
        "corners": lambda: splice.numbers(EDGES, VERTICES, before.corners, after.corners),
        "neighbours": lambda: splice.numbers(EDGES, POLYGONS, before.neighbours, after.neighbours),
        "surface_points": lambda: splice.plain(POINTS, before.surface_points, after.surface_points),
        "surface_offsets": lambda: splice.offsets(POLYGONS, TRIANGLES, before.surface_offsets, after.surface_offsets),
        "surface_triangles": lambda: splice.numbers(
            TRIANGLES, POINTS, before.surface_triangles, after.surface_triangles
        ),
        "areas": lambda: splice.plain(POLYGONS, old.areas, fresh.areas),
    }
    if "centres" in had:
        jobs["centres"] = lambda: splice.plain(POLYGONS, old.centres, part.centres)
    if "polygon_areas" in had:
        jobs["polygon_areas"] = lambda: splice.plain(POLYGONS, old.polygon_areas, part.polygon_areas)
    if "twins" in had:
        jobs["twins"] = lambda: splice.numbers(EDGES, EDGES, old.twins, part.twins)
    if "dented" in had:
        jobs["dented"] = lambda: splice.plain(POLYGONS, old.dented, part.dented)
    if "turns" in had:
        jobs["turns"] = lambda: splice.plain(VERTICES, old.turns, part.turns)
    if "portals" in had:
        one, two = old.portals, part.portals
        jobs["firsts"] = lambda: splice.offsets(POLYGONS, PORTALS, one.firsts, two.firsts)
        jobs["rows"] = lambda: splice.offsets(POLYGONS, DOORS, one.rows, two.rows)
        jobs["doors"] = lambda: splice.numbers(DOORS, PORTALS, one.doors, two.doors)
        jobs["edges"] = lambda: splice.numbers(PORTALS, EDGES, one.edges, two.edges)
        jobs["sides"] = lambda: splice.numbers(PORTALS, POLYGONS, one.sides, two.sides)
        jobs["middles"] = lambda: splice.plain(PORTALS, one.middles, two.middles)
    if "cells" in had:
        jobs["cells"] = lambda: _carry_cells(splice, old, fresh.ground)
    # One after the other: threads would only wait for each other's fresh memory.
    done: dict[str, Any] = {name: job() for name, job in jobs.items()}
    new = Topology(PolyMesh(*(done[name] for name in PolyMesh._fields)), done["areas"], old.frame)
    derived: dict[str, Any] = {
        name: done[name] for name in ("polygon_areas", "centres", "twins", "dented", "turns", "cells") if name in done
    }
    if "portals" in had:
        derived["portals"] = Portals(*(done[name] for name in Portals._fields))
    new.__dict__.update(derived, components=components)
    new.kept = _kept(splice, before, after)
    return np.ascontiguousarray(splice.new[:, : bounds.shape[1]]), new


def _kept(splice: TileSplice, old: PolyMesh, fresh: PolyMesh) -> NDArray[np.int32]:
    """The old polygon of each new one, -1 where there is none."""
    kept = np.empty(int(splice.new[-1, POLYGONS]), np.int32)
    for first, last, source in splice.stretches:
        if source < 0:
            kept[splice.new[first, POLYGONS] : splice.new[last, POLYGONS]] = np.arange(
                *splice.old[[first, last], POLYGONS], dtype=np.int32
            )
            continue
        for tile in range(first, last):
            at = source + tile - first
            ranges = (*splice.old[[tile, tile + 1], POLYGONS].tolist(), *splice.fresh[[at, at + 1], POLYGONS].tolist())
            _tile_kernels.match(old, fresh, *ranges, kept[splice.new[tile, POLYGONS] :])
    return kept


def _carry_cells(splice: TileSplice, old: Topology, fresh: PolyMesh) -> PolygonGrid:
    """The spatial index over the same grid of cells."""
    cells = old.cells
    starts, shifts = splice.starts(POLYGONS)
    window = np.array([cells.columns, -1, cells.rows, -1])
    chosen = [np.empty(0, np.int32)]
    for first, last, source in splice.stretches:
        if source >= 0:
            low, high = splice.fresh[[source, source + last - first], POLYGONS].tolist()
            chosen.append(np.arange(low, high, dtype=np.int32))
            _tile_kernels.cell_window(fresh, low, high, cells, window)
            _tile_kernels.cell_window(old.ground, *splice.old[[first, last], POLYGONS].tolist(), cells, window)
    mine = np.concatenate(chosen)
    if not len(mine) and window[1] < 0:
        return cells
    first_row, last_row = int(window[2]), int(window[3]) + 1
    top, bottom = first_row * cells.columns, last_row * cells.columns
    # Zeroed pages that nobody looks at cost nothing: only the window is touched.
    counts, slots, cursors = (np.zeros(len(cells.offsets), np.int64) for _ in range(3))
    _ground_kernels.fill_cells(fresh, cells, mine, counts, np.empty(0, np.int32))
    used = 0
    for row in range(first_row, last_row):
        low, high = row * cells.columns + int(window[0]), row * cells.columns + int(window[1]) + 1
        slots[low] = used
        slots[low + 1 : high + 1] = used + np.cumsum(counts[low:high])
        used = int(slots[high])
        cursors[low:high] = slots[low:high]
    entries = np.empty(used, np.int32)
    _ground_kernels.fill_cells(fresh, cells, mine, cursors, entries)
    polygons = np.empty(len(cells.polygons) + used, np.int32)
    offsets = np.empty_like(cells.offsets)
    # Rows of cells before and after those with changes are carried over as they are.
    head, tail = cells.polygons[: cells.offsets[top]], cells.polygons[cells.offsets[bottom] :]
    offsets[:top] = cells.offsets[:top]
    _tile_kernels.carry(head, starts, shifts, 0, polygons[: len(head)])
    end = _tile_kernels.carry_cells(
        cells.offsets[top : bottom + 1], cells.polygons, starts, shifts, splice.gone, window, cells.columns,
        slots[top : bottom + 1], splice.world(POLYGONS)[entries], offsets[top:bottom], polygons,
    )  # fmt: skip
    np.add(cells.offsets[bottom:], end - cells.offsets[bottom], out=offsets[bottom:])
    _tile_kernels.carry(tail, starts, shifts, len(shifts) - 1, polygons[end : end + len(tail)])
    return cells._replace(offsets=offsets, polygons=polygons[: end + len(tail)])
