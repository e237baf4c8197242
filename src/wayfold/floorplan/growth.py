"""DEACCON and space-filling volumes: regions that grow from seeds until they fill the free space (Hale et al. 2008).

Space-filling volumes are the first half of DEACCON: squares on a grid that grow until they touch something. DEACCON
adds the following of walls that are not parallel to a side, and seeds in what is still uncovered beside a region.

The paper moves sides by a unit at a time; here they move by the exact distance to what they meet. That is the same
decomposition, corner by corner, where all walls and seeds lie along x and y on whole multiples of the unit (plans made
of cells). Elsewhere unit steps stop up to a unit short of a contact, and what they give tends to the exact regions as
the unit goes to 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import MultiPolygon

from wayfold.core import checks
from wayfold.errors import ParameterError
from wayfold.floorplan import _growth_kernels, polygons
from wayfold.floorplan.plan import FloorPlan
from wayfold.floorplan.polygons import ConvexPieces, FreeSpace, combine, joined

_GAP = 2.0**-8  # of the plan's resolution: what is closer than this touches
_ENOUGH = 1e-12  # share of the free space that may stay uncovered
_MOST_SEEDS = 1024  # seeds along the longer side of a plan
_MOST_UNITS = 1 << 20  # units along it
_UNITS = 256  # units along the longer side of a plan by default
_VOLUMES = 24  # seeds of space-filling volumes along the longer side of a plan by default
_CORNERS = 8  # corners that stick into the free space for each seed of DEACCON by default


@dataclass(frozen=True)
class GrowthSettings:
    """How regions grow.

    Parameters
    ----------
    spacing : float, metres, at least 1/1024 of the plan's longer side, optional
        Distance of the seeds of the first round. By default DEACCON begins with one seed for every 8 corners that
        stick into the free space, as these are what regions end at, and space-filling volumes with 24 along the
        plan's longer side. Larger spacings give fewer and larger regions, so fewer turns; smaller ones give shorter
        ways over region centres. Parts of the free space that no seed of the grid falls into get one of their own.
    step : float, metres, at least 1e-6 of the plan's longer side, optional
        The unit: side of a seed, and how far a side moves in a frame; 1/256 of the plan's longer side by default, but
        at most half of `spacing`. Sides move exactly to what they touch, so the unit decides only who of two regions
        gets the space between them.
    follow : bool
        Follow walls that an end of a side meets (contour following). Without it a side stops there, and only gaps
        wider than a unit are seeded: beside a slanted wall boxes would get smaller without end.
    seed : bool
        Seed what is uncovered beside regions until nothing is left.
    in_turn : bool
        Seeds beside regions grow one after the other; otherwise all at once, as those of the grid do.
    combine : bool
        Join regions whose union is convex at the end.
    """

    spacing: float | None = None
    step: float | None = None
    follow: bool = True
    seed: bool = True
    in_turn: bool = True
    combine: bool = True

    def __post_init__(self) -> None:
        for name in ("spacing", "step"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, checks.number(getattr(self, name), name, low=0.0, open_low=True))
        for field in fields(self)[2:]:
            if not isinstance(getattr(self, field.name), bool):
                raise ParameterError(
                    f"{field.name} must be True or False, not {checks.shown(getattr(self, field.name))}"
                )


def grow_regions(space: FreeSpace, settings: GrowthSettings) -> ConvexPieces:
    """A free space cut by growth; see `GrowthSettings`."""
    if space.free.is_empty:
        return ConvexPieces(np.empty((0, 2)), [])
    growth = Growth(space, settings)
    growth.plant_grid()
    if settings.seed:
        growth.fill()
    pieces = growth.pieces()
    return combine(pieces, space.resolution) if settings.combine else pieces


class Growth:
    """Regions that grow in a plan; after each of its methods every region is convex and keeps what it has."""

    def __init__(self, plan: FloorPlan | FreeSpace, settings: GrowthSettings) -> None:
        self.space = space = plan if isinstance(plan, FreeSpace) else plan.space
        self.settings = settings
        low_x, low_y, high_x, high_y = space.free.bounds
        width, depth = high_x - low_x, high_y - low_y
        longer = max(width, depth)
        spacing = longer / _VOLUMES
        if settings.seed:
            spacing = math.sqrt(width * depth * _CORNERS / max(polygons.protruding(space.free), 1))
        if settings.spacing is not None and settings.spacing < longer / _MOST_SEEDS:
            raise ParameterError(
                f"spacing must be at least {longer / _MOST_SEEDS:g} in a plan of {longer:g} m, not {settings.spacing:g}"
            )
        if settings.step is not None and settings.step < longer / _MOST_UNITS:
            raise ParameterError(
                f"step must be at least {longer / _MOST_UNITS:g} in a plan of {longer:g} m, not {settings.step:g}"
            )
        self.spacing = min(settings.spacing or spacing, longer)
        self.step = min(settings.step or min(longer / _UNITS, self.spacing / 2.0), longer)
        self.gap = space.resolution * _GAP
        self.walls = wall_bins(space.free)
        self.regions = _new_regions(self.walls, 256, 4096)
        self._open, self._searched = np.empty(0, np.int64), 0

    @property
    def count(self) -> int:
        """Number of region slots in use."""
        return int(self.regions.used[0])

    def plant_grid(self) -> None:
        """The initial seeding state: unit squares on a grid, and one in each part of the free space without any."""
        seeds = grid_seeds(self.space.free, self.spacing, self.step)
        self._grow_all(seeds)

    def fill(self) -> None:
        """Seed the open space beside regions until there is none (Algorithm 2), then check that nothing is left."""
        while True:
            seeds = self._open_space()
            if not len(seeds):
                seeds = self._left_over()
            before = self._alive
            if self.settings.in_turn:
                self._grow_in_turn(seeds)
            else:
                self._grow_all(seeds)
            if self._alive == before:
                return

    @property
    def _alive(self) -> int:
        return int(np.count_nonzero(self.regions.counts[: self.count]))

    def pieces(self) -> ConvexPieces:
        """The regions as polygons with common corners."""
        regions = self.regions
        rings = [regions.corners[k, : regions.counts[k]].copy() for k in range(self.count) if regions.counts[k] >= 3]
        return joined(self.walls.ends[:, :2], rings, self.gap * 16.0, self.space.resolution)

    def _grow_all(self, seeds: NDArray[np.float64]) -> None:
        first = self.count
        if first + len(seeds) > len(self.regions.counts):
            self._make_room(first + len(seeds))
        _growth_kernels.plant_all(self.regions, seeds)
        while (
            _growth_kernels.grow(self.walls, self.regions, first, self.count, self.step, self.gap, self.settings.follow)
            == _growth_kernels.FULL
        ):
            self._make_room()
        _growth_kernels.settle_all(self.regions, first, self.gap)

    def _grow_in_turn(self, seeds: NDArray[np.float64]) -> None:
        done = 0
        while done < len(seeds):
            done, status = _growth_kernels.grow_in_turn(
                self.walls, self.regions, seeds, done, self.step, self.gap, self.settings.follow
            )
            if status == _growth_kernels.FULL:
                self._make_room()

    def _open_space(self) -> NDArray[np.float64]:
        """Seeds in the open space beside regions that are new, or had some at the last call: none opens up later."""
        numbers = np.concatenate([self._open, np.arange(self._searched, self.count)])
        least = self.space.resolution if self.settings.follow else self.step
        room = 256
        while True:
            covers, seeds = np.empty((room, 2)), np.empty((4 * room, 5))
            found = _growth_kernels.find_open_space(
                self.walls, self.regions, numbers, self.step, self.gap, least, covers, seeds
            )
            if found >= 0:
                break
            room *= 4
        self._open, self._searched = np.unique(seeds[:found, 4]).astype(np.int64), self.count
        return seeds[:found]

    def _covered(self) -> float:
        regions = self.regions
        return sum(_area(regions.corners[k, : regions.counts[k]]) for k in range(self.count) if regions.counts[k])

    def _left_over(self) -> NDArray[np.float64]:
        """Seeds in what is uncovered although no side is open: places behind gaps that are narrower than a seed."""
        total = self.space.area
        if not self.settings.follow or self._covered() >= total * (1.0 - _ENOUGH):
            return np.empty((0, 4))
        resolution = self.space.resolution
        taken = polygons.united([shapely.Polygon(ring) for ring in self.pieces().rings()], resolution)
        rest = [
            part
            for part in shapely.get_parts(polygons.without(self.space.free, taken, resolution))
            if part.geom_type == "Polygon" and part.area > _ENOUGH * total
        ]
        return inner_squares(rest, self.step)

    def _make_room(self, least: int = 0) -> None:
        """Room for `least` regions, or twice the room for what is running short."""
        old = self.regions
        room, links = max(len(old.counts), least), len(old.links)
        if not least and old.used[0] > room // 2:
            room *= 2
        if not least and (old.used[1] > links // 2 or room == len(old.counts)):
            links *= 2
        regions = _new_regions(self.walls, room, links)
        for new, value in zip(regions, old, strict=True):
            new[: len(value)] = value
        self.regions = regions


def _area(ring: NDArray[np.float64]) -> float:
    x, y = (ring - ring[0]).T
    return 0.5 * float(np.dot(x[:-1], y[1:]) - np.dot(x[1:], y[:-1]))


def wall_bins(free: Any, least: int = 16) -> _growth_kernels.Walls:
    """The walls of a free space, sorted into square bins of which there are about as many as walls."""
    ends, following, previous = polygons.walls(free)
    low_x, low_y, high_x, high_y = free.bounds
    width, depth = high_x - low_x, high_y - low_y
    size = max(math.sqrt(width * depth / max(len(ends), least)), max(width, depth) / 4096.0)
    shape = np.array([math.ceil(width / size), math.ceil(depth / size)], np.int64)
    frame = np.array([low_x, low_y, 1.0 / size])
    counts = np.zeros(int(shape[0] * shape[1]) + 1, np.int64)
    _growth_kernels.bin_walls(ends, frame, shape, counts, np.empty(0, np.int32), False)
    bins = np.cumsum(counts)
    items = np.empty(bins[-1], np.int32)
    _growth_kernels.bin_walls(ends, frame, shape, bins.copy(), items, True)
    normals = np.empty((len(ends), 2))
    _growth_kernels.unit_normals(ends, normals)
    return _growth_kernels.Walls(ends, normals, following, previous, bins, items, frame, shape)


def _new_regions(walls: _growth_kernels.Walls, room: int, links: int) -> _growth_kernels.GrowingRegions:
    most = _growth_kernels.MOST_BOUNDS
    return _growth_kernels.GrowingRegions(
        limits=np.zeros((room, 4)),
        states=np.zeros((room, 4), np.uint8),
        bounds=np.zeros((room, most), np.int32),
        counts=np.zeros(room, np.int32),
        corners=np.zeros((room, most, 2)),
        boxes=np.zeros((room, 4)),
        spans=np.zeros((room, 4), np.int64),
        heads=np.full(len(walls.bins) - 1, -1, np.int32),
        links=np.zeros((links, 2), np.int32),
        used=np.zeros(2, np.int64),
    )


def grid_seeds(free: MultiPolygon, spacing: float, step: float) -> NDArray[np.float64]:
    """Unit squares on a grid that lie in the free space, and the largest that fits in each part without one."""
    low_x, low_y, high_x, high_y = free.bounds
    columns, rows = max(1, math.ceil((high_x - low_x) / spacing)), max(1, math.ceil((high_y - low_y) / spacing))
    x, y = np.meshgrid(
        low_x + (np.arange(columns) + 0.5) * (high_x - low_x) / columns,
        low_y + (np.arange(rows) + 0.5) * (high_y - low_y) / rows,
    )
    x, y = x.ravel(), y.ravel()
    half = 0.5 * min(step, 0.5 * (high_x - low_x) / columns, 0.5 * (high_y - low_y) / rows)
    squares = shapely.box(x - half, y - half, x + half, y + half)
    parts = shapely.get_parts(free)
    tree = shapely.STRtree(parts)
    # "If the proposed location of a region is contained within a positive space area it is discarded."
    square, part = tree.query(squares, predicate="within")
    seeds = np.column_stack([x[square], y[square], np.full(len(square), half), np.full(len(square), -1.0)])
    bare = np.setdiff1d(np.arange(len(parts)), part)
    return np.concatenate([seeds, inner_squares(list(parts[bare]), step)])


def inner_squares(parts: list[Any], step: float) -> NDArray[np.float64]:
    """One seed inside each polygon: a unit square, or a smaller one where that does not fit."""
    seeds = []
    for part in parts:
        point = shapely.point_on_surface(part)
        room = point.distance(part.boundary)
        seeds.append((point.x, point.y, min(0.5 * step, 0.5 * room), -1.0))
    return np.array(seeds, np.float64).reshape(-1, 4)
