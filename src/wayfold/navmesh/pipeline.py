"""The voxel pipeline of Fuentes 2015, section III.A, for one tile: its settings, and five steps, each a function.

1. `heightfield`: triangles become solid spans;
2. `open_ground`: filters leave the ground that the agent can stand on, which is then eroded by its radius, but for the
   lanes that `find_lanes` finds;
3. `regions`: the watershed transform;
4. `contours`: rims, simplified;
5. `polygons`: convex polygons with their neighbours, and the surfaces that give heights between their corners.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.errors import ParameterError
from wayfold.navmesh import (
    _contour_kernels,
    _detail_kernels,
    _heightfield_kernels,
    _lane_kernels,
    _polygon_kernels,
    _region_kernels,
    _tile_kernels,
)
from wayfold.navmesh._heightfield_kernels import VoxelFrame, ZonePrisms

NO_ZONES = ZonePrisms(np.zeros(1, np.int64), np.empty((0, 2)), np.empty((0, 2)), np.empty((0, 256), np.uint8))


SMALLEST_CELL = checks.SMALLEST
"""Metres: no column or voxel is smaller."""
_MOST_CELLS = 1 << 40  # of a region; no world has as many
_SLACK = 1e-6  # of a cell: 0.6 / 0.3 is two cells, whatever the last bit says
STEP_SLACK = 1e-3
"""Of the climb: how much higher a step may be, since coordinates in files are rounded."""
OPENING = 2.25
"""Radii: the agent gets through every opening between walls that is at least this wide."""
_LANE_CELLS = 14.0  # to a radius: a chain of whole cells fits into what is free in such an opening, whatever its angle
_LEAST_BREADTH = 0.99  # columns to a radius, from which on there are lanes


def usual_cell_size(agent: Agent) -> float:
    """Side of a column for an agent, metres: what is a radius away from a wall is in a column without wall."""
    return min(0.3, 0.7 * agent.radius) if agent.radius > 0 else 0.3


@checks.checked
@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the voxel pipeline, as `NavMesh.build` takes them.

    Parameters
    ----------
    cell_size : float, metres, 1e-9 to 1e12
        Side of a column of voxels. Half to a third of the agent's radius is usual; walls are known to about a cell.
    cell_height : float, metres, 1e-9 to 1e12
        Height of a voxel; climb and height of the agent are rounded to it.
    tile_size : int, columns, 8 to 4096, or 0
        Side of a tile; 0 makes the whole world one tile.
    min_region : float, square metres, >= 0
        Walkable islands smaller than this, away from a tile's border, are dropped. Default 64 cells.
    merge_region : float, square metres, >= 0
        Regions up to this size are merged with a neighbour where they can be. Default 400 cells.
    max_edge : float, metres, >= 0
        Longest polygon edge along a wall; 0 for no limit.
    max_error : float, cells, 0.5 to 10
        How far a simplified rim may be from the voxels' rim: how much ground it may cut off.
    max_bulge : float, cells, 0.1 to 10
        How far it may reach over the voxels' rim, and so nearer to a wall than the agent's radius. Default `max_error`.
    max_corners : int, 3 to 64
        Most corners of a polygon as built; the corners that neighbouring tiles add to a border come on top.
    detail_error : float, metres, > 0
        How far the surface may be from the sampled ground before it gets a point more. Default half a `cell_height`.

    Examples
    --------
    >>> fine = Settings(cell_size=0.1, cell_height=0.1)
    >>> round(fine.min_region, 2), round(fine.merge_region, 2), fine.detail_error
    (0.64, 4.0, 0.05)
    """

    cell_size: float = 0.3
    cell_height: float = 0.2
    tile_size: int = 0
    min_region: float | None = None
    merge_region: float | None = None
    max_edge: float = 12.0
    max_error: float = 1.3
    max_bulge: float | None = None
    max_corners: int = 6
    detail_error: float | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "cell_size", checks.number(self.cell_size, "cell_size", low=SMALLEST_CELL, high=checks.LARGEST))
        put(self, "cell_height", checks.number(self.cell_height, "cell_height", low=SMALLEST_CELL, high=checks.LARGEST))
        put(self, "tile_size", checks.whole(self.tile_size, "tile_size", low=0, high=4096))
        if 0 < self.tile_size < 8:
            raise ParameterError(f"tile_size must be 0 or from 8 to 4096 columns, not {self.tile_size}")
        for name, cells in (("min_region", 64), ("merge_region", 400)):
            value = getattr(self, name)
            area = cells * self.cell_size**2 if value is None else value
            put(self, name, checks.number(area, name, low=0.0))
        put(self, "max_edge", checks.number(self.max_edge, "max_edge", low=0.0))
        put(self, "max_error", checks.number(self.max_error, "max_error", low=0.5, high=10.0))
        bulge = self.max_error if self.max_bulge is None else self.max_bulge
        put(self, "max_bulge", checks.number(bulge, "max_bulge", low=0.1, high=10.0))
        put(self, "max_corners", checks.whole(self.max_corners, "max_corners", low=3, high=64))
        error = 0.5 * self.cell_height if self.detail_error is None else self.detail_error
        put(self, "detail_error", checks.number(error, "detail_error", low=0.0, open_low=True))

    def cells(self, square_metres: float) -> int:
        """Return how many columns cover an area in square metres, rounded.

        >>> Settings(cell_size=0.5).cells(10.0)
        40
        """
        area = checks.number(square_metres, "square_metres", low=0.0, high=checks.LARGEST**2)
        return min(round(area / self.cell_size**2), _MOST_CELLS)


@dataclass(frozen=True, slots=True)
class AgentVoxels:
    """An agent measured in voxels: rounded so that the voxels never promise more room than there is.

    Attributes
    ----------
    radius : int, columns
        Rounded up.
    height : int, cell heights
        Rounded up.
    climb : float, metres
        Highest step, with `STEP_SLACK`.
    body : float, metres
        Height above which nothing blocks a column: the height and what rounding adds.
    breadth : float, columns
        The radius, not rounded.
    parts : int
        Cells that the side of a column is cut into where lanes are looked for; 0 for no lanes.
    least : int, half cells
        Distance from walls of a column in the middle of an opening that is wide enough.
    around : int, columns
        How far a lane reaches until erosion leaves something of the ground.
    deep : int, columns
        Length from which a lane is kept that leads nowhere.
    border : int, columns
        What a tile must see of its neighbours.
    """

    radius: int
    height: int
    climb: float
    body: float
    breadth: float
    parts: int
    least: int
    around: int
    deep: int
    border: int

    @classmethod
    def of(cls, agent: Agent, settings: Settings) -> AgentVoxels:
        """The agent in the voxels of a build."""
        breadth = agent.radius / settings.cell_size
        radius = math.ceil(breadth - _SLACK)
        # In larger columns openings are lost before anyone can look at them; those oblique to the columns are so from
        # three quarters of the radius on, unless they are 3 radii wide.
        lanes = breadth >= _LEAST_BREADTH
        parts = math.ceil(_LANE_CELLS / breadth - _SLACK) if lanes else 0
        # A wall is nearer to the middle of a column than to a point in it by half a diagonal at most, and a blocked
        # column's middle to the wall by as much; the column beside it, where distances begin, by one column more.
        half = 0.5 * OPENING * breadth
        least = max(2 if half > math.sqrt(5.0) else 0, math.ceil(2 * (half - 2.29)))
        around = math.ceil(math.sqrt(max(1.0, (radius + 2.29) ** 2 - half**2))) if lanes else 0
        # Erosion looks `radius` columns far, the ledge filter one more, the blurred distances another two. What is
        # narrow up to `around` columns away may lead here, and what it joins is seen as far beyond.
        height = math.ceil(agent.height / settings.cell_height - _SLACK)
        return cls(
            radius,
            height,
            agent.climb * (1 + STEP_SLACK),
            (height + 1) * settings.cell_height,
            breadth,
            parts,
            least,
            around,
            2 * around + radius,
            radius + max(3, 2 * around + 2),
        )


_MOST_MERGES = 64  # rounds; a dozen is a lot
_MANY = 64  # columns of a lane beside no other ground from which it is kept
_LANE_EDGE = 8.0  # columns: longest edge of a lane along a wall, so that its corners follow the ground


class Triangles(NamedTuple):
    """What is rasterised."""

    vertices: NDArray[np.float64]
    """(n, 3), metres."""
    triangles: NDArray[np.int32]
    """(m, 3)."""
    areas: NDArray[np.uint8]
    """(m,) kind of area of each triangle, 0 for never walkable; empty for 1 everywhere."""
    flattest: float
    """Height of the unit normal from which a triangle can be walked on."""
    zones: ZonePrisms = NO_ZONES
    """Where the ground is of another kind, or closed."""


class Contours(NamedTuple):
    """Simplified rims as `polygons` takes them."""

    loops: _contour_kernels.Loops
    edge_at: NDArray[np.int32]
    corners: _contour_kernels.Corners
    keep: NDArray[np.uint8]
    outline: NDArray[np.int32]


def heightfield(
    triangles: Triangles, chosen: NDArray[np.int32], frame: VoxelFrame, agent: AgentVoxels
) -> tuple[_heightfield_kernels.Heightfield, _heightfield_kernels.SpanParts]:
    """Step 1: the solid spans of the chosen triangles, and what they are made of."""
    spans, areas, grounds, heights = _heightfield_kernels.rasterise(*triangles[:3], chosen, triangles.flattest, frame)
    field, offsets, order = _heightfield_kernels.merge_spans(
        *triangles[:2], frame, spans, areas, grounds, heights, agent.climb
    )
    return _heightfield_kernels.Heightfield(*field), _heightfield_kernels.SpanParts(
        offsets, order, spans, areas, heights
    )


def open_ground(
    triangles: Triangles,
    field: _heightfield_kernels.Heightfield,
    parts: _heightfield_kernels.SpanParts,
    frame: VoxelFrame,
    agent: AgentVoxels,
) -> tuple[_heightfield_kernels.Open, NDArray[np.uint8], NDArray[np.int32]]:
    """Step 2, first half: filters for low obstacles, ledges and low ceilings, and links between neighbours.

    Zones that close ground do so here, as a wall would; the others mark what is left. Also returns which spans are
    neither closed nor ledges, and how far each is from walls and drops, in half cells.
    """
    zones = triangles.zones
    _heightfield_kernels.filter_low_obstacles(field, agent.climb)
    ledge = np.empty(field.kind.size, np.uint8)
    _heightfield_kernels.filter_ledges(field, frame.width, frame.depth, agent.height, agent.climb, ledge)
    _heightfield_kernels.filter_low_ceilings(field, agent.height)
    links = _heightfield_kernels.open_space(*triangles[:2], frame, parts, field, ledge, agent.height, agent.climb)
    space = _heightfield_kernels.Open(*links)
    firm = np.empty(space.kind.size, np.uint8)
    if len(zones.areas):
        _heightfield_kernels.mark(space, frame, agent.height, zones, True)
    distance = np.empty(firm.size, np.int32)
    _heightfield_kernels.wall_distance(space, firm, distance)
    if len(zones.areas):
        _heightfield_kernels.mark(space, frame, agent.height, zones, False)
    return space, firm, distance


class Lanes(NamedTuple):
    """Ways over eroded ground where it is narrow; see `_lane_kernels`."""

    kind: NDArray[np.uint8]
    """(n,) kind of area of the ground before erosion."""
    distance: NDArray[np.int32]
    """(n,) to walls."""
    slot: NDArray[np.int32]
    """(n,) row of `cells` of each span."""
    cells: NDArray[np.uint8]
    """(k, parts * parts) which small cells are clear."""


def find_lanes(
    triangles: Triangles,
    chosen: NDArray[np.int32],
    space: _heightfield_kernels.Open,
    firm: NDArray[np.uint8],
    distance: NDArray[np.int32],
    columns: NDArray[np.int32],
    frame: VoxelFrame,
    border: int,
    agent: AgentVoxels,
) -> Lanes | None:
    """Lanes on ground that is about to be eroded; None where there is nothing narrow."""
    if not agent.parts:
        return None
    size = space.kind.size
    narrow = np.empty(size, np.uint8)
    if not _lane_kernels.find_narrow(
        space,
        firm,
        distance,
        columns,
        frame,
        max(0, border - agent.around),
        agent.radius,
        agent.least,
        np.empty((size, 2), np.int32),
        narrow,
    ):
        return None
    limit = 2 * agent.radius
    member, scratch = np.empty(size, np.uint8), np.empty((4, size), np.int32)

    def joining() -> bool:
        rest = _lane_kernels.keep_joining(
            space, distance, columns, frame, limit, border - 2 * agent.around + 1, agent.around,
            agent.deep, _MANY, member, scratch[0], scratch[1:3].reshape(-1), scratch[3],
        )  # fmt: skip
        return bool(rest > 0)

    def useful() -> bool:
        _lane_kernels.around_narrow(space, distance, narrow, limit, agent.around, member, scratch[0])
        some = joining()
        narrow[member == 0] = 0
        return some

    if not useful():
        return None
    steep, level = np.empty(chosen.size, np.int32), np.empty(chosen.size, np.int32)
    count, floors = _lane_kernels.choose_sides(*triangles[:2], chosen, triangles.flattest, steep, level)
    sides = steep[:count], level[:floors]
    buckets = tuple(_lane_kernels.sort_to_buckets(*triangles[:2], side, frame) for side in sides)

    def walls(reach: int, parts: int) -> tuple[NDArray[Any], ...]:
        near = np.zeros(frame.width * frame.depth, np.uint8)
        _lane_kernels.spread(narrow, columns, frame.width, frame.depth, reach, near)
        found: tuple[NDArray[Any], ...] = _lane_kernels.find_walls(
            space, distance, columns, frame, near, *triangles[:2], *sides, buckets, triangles.zones, agent.height,
            agent.climb, agent.body, parts,
        )  # fmt: skip
        return found

    # Most narrow spans are too narrow: what is around them need not be looked at then.
    reach = math.ceil(agent.breadth + 2.0)
    where = space, distance, narrow, columns, frame
    limits = agent.breadth, agent.climb, limit
    if not _lane_kernels.keep_passable(*where, walls(reach + 1, agent.parts), *limits, agent.parts) or not useful():
        return None
    ways = walls(reach + agent.around, agent.parts)
    slot, cells = _lane_kernels.find_lanes(*where, ways, *limits, agent.around, agent.parts)
    member[:] = slot >= 0
    if not joining():
        return None
    slot[member == 0] = -1
    return Lanes(space.kind.copy(), distance, slot, cells)


def regions(
    space: _heightfield_kernels.Open, frame: VoxelFrame, border: int, settings: Settings, lanes: Lanes | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Step 3: the region of each span (0 none, negative in the border and on lanes), and the column of each span."""
    size = space.kind.size
    columns = columns_of(space, frame)
    region = np.empty(size, np.int32)
    _region_kernels.paint_border(space.offsets, region, frame.width, frame.depth, border)
    if lanes is not None:
        region[(lanes.slot >= 0) & (region == 0)] = _tile_kernels.LANE
    distance, blurred = np.empty(size, np.int32), np.empty(size, np.int32)
    _heightfield_kernels.rim_distance(space.links, space.kind, distance)
    highest = _heightfield_kernels.blur(space.links, distance, blurred)
    count = _region_kernels.watershed(space, columns, blurred, highest, region)
    assert settings.min_region is not None
    assert settings.merge_region is not None
    _region_kernels.drop_small_regions(space, region, count, settings.cells(settings.min_region))
    small = settings.cells(settings.merge_region)
    for _ in range(_MOST_MERGES):
        loops, _ = _contour_kernels.trace(space.links, region)
        if _region_kernels.merge_regions(space, region, loops, count, small) == 0:
            break
    return region, columns


def columns_of(space: _heightfield_kernels.Open, frame: VoxelFrame) -> NDArray[np.int32]:
    """The column of each span."""
    return np.repeat(np.arange(frame.width * frame.depth, dtype=np.int32), np.diff(space.offsets))


def contours(
    space: _heightfield_kernels.Open,
    region: NDArray[np.int32],
    columns: NDArray[np.int32],
    frame: VoxelFrame,
    height: int,
    settings: Settings,
) -> Contours:
    """Step 4: the rims of all regions, simplified so that neighbours fit together."""
    loops, edge_at = _contour_kernels.trace(space.links, region)
    corners, keep = _contour_kernels.join_corners(loops, edge_at, space.links, space.floor, columns, frame.width)
    outline = _contour_kernels.outlines(loops, corners, region)
    longest = settings.max_edge / settings.cell_size
    _contour_kernels.simplify(loops, corners, keep, space, settings.max_error, settings.max_bulge, longest)
    _contour_kernels.untangle(loops, corners, keep, outline, height)
    return Contours(loops, edge_at, corners, keep, outline)


def polygons(
    rims: Contours, space: _heightfield_kernels.Open, region: NDArray[np.int32], frame: VoxelFrame, settings: Settings
) -> tuple[_tile_kernels.TileMesh, _detail_kernels.Detail]:
    """Step 5: the tile's convex polygons, and the surfaces that follow the ground between their corners."""
    loops, edge_at, corners, keep, outline = rims
    pieces, _ = _polygon_kernels.polygonise(loops, corners, keep, outline, region, settings.max_corners)
    mesh = _tile_kernels.tile_mesh(pieces, loops, corners, keep, edge_at, space, region, frame)
    detail = _detail_kernels.detail_surfaces(mesh, pieces.region, space, region, frame, settings.detail_error)
    return mesh, detail


Part = tuple[_tile_kernels.TileMesh, _detail_kernels.Detail]


@lru_cache(maxsize=16)
def _fine(settings: Settings, parts: int) -> Settings:
    """How lanes are drawn: hardly nearer to walls than their cells, in polygons as short as a few columns."""
    cell = settings.cell_size
    return replace(settings, cell_size=cell / parts, max_error=1.5, max_bulge=0.1, max_edge=_LANE_EDGE * cell)


def lane_polygons(
    lanes: Lanes,
    space: _heightfield_kernels.Open,
    columns: NDArray[np.int32],
    frame: VoxelFrame,
    border: int,
    agent: AgentVoxels,
    settings: Settings,
) -> Part | None:
    """The polygons of lanes, on the fine lattice; their corners say all about their heights."""
    fine, region, places = _lane_kernels.lane_space(
        space, *lanes, columns, frame, border, 2 * agent.radius, agent.parts
    )
    fine = _heightfield_kernels.Open(*fine)
    if not (region > 0).any():
        return None
    parts = agent.parts
    small = frame._replace(
        cell=frame.cell / parts,
        first_x=frame.first_x * parts,
        first_y=frame.first_y * parts,
        width=frame.width * parts,
        depth=frame.depth * parts,
    )
    loops, edge_at, corners, keep, outline = contours(fine, region, places, small, agent.height, _fine(settings, parts))
    pieces, _ = _polygon_kernels.polygonise(loops, corners, keep, outline, region, settings.max_corners)
    mesh = _tile_kernels.tile_mesh(pieces, loops, corners, keep, edge_at, fine, region, small)
    rows = np.zeros(len(mesh.areas) + 1, np.int32)
    nothing = np.empty((0, 2), np.int32), np.empty(0, np.float32), np.empty((0, 3), np.int32)
    return mesh, _detail_kernels.Detail(rows, nothing[0], nothing[1], rows, nothing[2])


def on_fine_lattice(part: Part, parts: int) -> Part:
    """The mesh of whole columns in the lattice of lanes."""
    mesh, detail = part
    doors = mesh.doors.copy()
    doors[:, 3:5] *= parts
    doors[doors[:, 0] >= 4, 1] *= parts
    mesh = mesh._replace(x=mesh.x * np.int32(parts), y=mesh.y * np.int32(parts), doors=doors)
    return mesh, detail._replace(xy=detail.xy * np.int32(parts))


def build_tile(
    triangles: Triangles,
    chosen: NDArray[np.int32],
    frame: VoxelFrame,
    border: int,
    agent: AgentVoxels,
    settings: Settings,
    clock: Callable[[str], None] | None = None,
) -> list[Part]:
    """All five steps for one tile, lanes last; nothing where there is nothing to stand on.

    Everything is in the lattice of lanes. `clock` is called with the name of each step when it ends.
    """
    ended = clock or _nothing
    field, parts = heightfield(triangles, chosen, frame, agent)
    ended("heightfield")
    space, firm, distance = open_ground(triangles, field, parts, frame, agent)
    del field, parts
    if not space.kind.any():
        return []
    columns = columns_of(space, frame)
    lanes = find_lanes(triangles, chosen, space, firm, distance, columns, frame, border, agent)
    _heightfield_kernels.erode(space.kind, firm, distance, agent.radius)
    ended("walkable space")
    result = []
    if space.kind.any():
        region, _ = regions(space, frame, border, settings, lanes)
        ended("regions")
        rims = contours(space, region, columns, frame, agent.height, settings)
        ended("contours")
        if rims.loops.span.size:
            part = polygons(rims, space, region, frame, settings)
            result.append(on_fine_lattice(part, agent.parts) if agent.parts > 1 else part)
    if lanes is not None:
        narrow = lane_polygons(lanes, space, columns, frame, border, agent, settings)
        if narrow is not None:
            result.append(narrow)
    ended("polygons and detail")
    return [part for part in result if len(part[0].areas)]


def _nothing(step: str) -> None:
    pass
