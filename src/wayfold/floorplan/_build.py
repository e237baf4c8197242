"""What `Decomposition` is made of: levels cut into rings, measures of them, bins, common corners."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from wayfold.core import checks
from wayfold.core.locks import Portable
from wayfold.errors import ParameterError
from wayfold.floorplan import _locate_kernels, _transitions, hertel_mehlhorn
from wayfold.floorplan._combine import Pieces
from wayfold.floorplan._polygons import FreeSpace
from wayfold.floorplan.growth import Settings, grow_regions, wall_bins
from wayfold.floorplan.plan import FloorPlan
from wayfold.geometry.frame import Frame
from wayfold.geometry.polygon import overlaying

Floats = NDArray[np.float64]
_OPTIONS = {
    "deaccon": ("spacing", "step", "follow", "in_turn", "combine"),
    "space-filling": ("spacing", "step", "combine"),
    "hertel-mehlhorn": ("combine",),
}


@dataclass
class Level(Portable):
    """A floor or a transition area, cut into convex rings; all but its plan is relative to the common frame."""

    plan: FloorPlan
    frame: Frame
    """The common frame of all levels."""
    rings: list[Floats]
    heights: Floats
    """z of each ring."""
    is_floor: bool = True
    """False for a transition area."""
    ground: Floats = field(default_factory=lambda: np.empty((0, 3, 3)))
    """Triangles of stairs or a slope, where they are known."""
    walls: Any = None

    @cached_property
    def space(self) -> FreeSpace:
        """The free space of the plan, relative to the frame."""
        return self.plan.space if self.frame.origin == self.plan.frame.origin else self.plan.space_in(self.frame)


class Passage(NamedTuple):
    """Where a floor and a transition area may share gateways."""

    floor: int
    """Its level."""
    transition: int
    """Its level."""
    mouth: Floats | None
    """Segments (k, 4) that gateways must lie on; None for all of their common border."""


def cut(space: FreeSpace, method: str, options: dict[str, Any]) -> Pieces:
    """A free space cut by one of the methods."""
    for name in options:
        if name not in _OPTIONS[method]:
            raise ParameterError(
                f"{method} has no option {checks.shown(name)}: its options are {', '.join(_OPTIONS[method])}"
            )
    if method == "hertel-mehlhorn":
        join = options.get("combine", True)
        return hertel_mehlhorn.cut(space.free, space.resolution, join=join)
    if method == "space-filling":
        return grow_regions(space, Settings(follow=False, seed=False, **options))
    return grow_regions(space, Settings(**options))


def frame_of(plans: Sequence[FloorPlan]) -> Frame:
    """The common frame of several plans."""
    if len(plans) == 1:
        return plans[0].frame
    return Frame.of(np.concatenate([shapely.get_coordinates(plan.boundary) for plan in plans]))


@overlaying()
def level(
    plan: FloorPlan,
    frame: Frame,
    method: str,
    options: dict[str, Any],
    *,
    is_floor: bool = True,
    ground: Floats | None = None,
) -> Level:
    """A plan cut by one of the methods, as a level of its own; `ground` is in the user's coordinates."""
    result = Level(plan, frame, [], np.empty(0), is_floor)
    result.rings = list(cut(result.space, method, options).rings())
    if ground is not None:
        result.ground = frame.local(ground)
    result.heights = ground_heights(result, result.rings)
    return result


def ground_heights(level: Level, rings: list[Floats]) -> Floats:
    """Height of each ring: that of the floor, or of the stairs or slope at its centre."""
    heights = np.full(len(rings), level.plan.height)
    if len(level.ground) and rings:
        centres = shapely.get_coordinates(shapely.centroid([Polygon(ring) for ring in rings]))
        found = _transitions.heights_at(level.ground, centres, level.plan.height)
        heights = np.where(np.isnan(found), heights, found)
    return heights


def coverage(levels: list[Level]) -> float:
    """Share of the free space of all levels that lies in their regions; 1 where there is none to cover."""
    free = sum(level.space.area for level in levels)
    covered = 0.0
    for level in levels:
        whole = shapely.union_all([Polygon(ring) for ring in level.rings])
        covered += float(shapely.area(shapely.intersection(whole, level.space.free)))
    return covered / free if free > 0.0 else 1.0


def overlap(levels: list[Level]) -> float:
    """Area that two regions of a level have in common, as a share of the free space."""
    free = sum(level.space.area for level in levels)
    twice = 0.0
    for level in levels:
        shapes = np.array([Polygon(ring) for ring in level.rings], dtype=object)
        if len(shapes):
            a, b = shapely.STRtree(shapes).query(shapes)
            once = a < b
            twice += float(shapely.area(shapely.intersection(shapes[a[once]], shapes[b[once]])).sum())
    return twice / free if free > 0.0 else 0.0


def wall_bins_of(level: Level) -> Any:
    """The walls of a level in bins, made once."""
    if level.walls is None:
        level.walls = wall_bins(level.space.free)
    return level.walls


def width(ring: Floats) -> float:
    """Width of a convex ring at its narrowest: the least, over its edges, of the greatest distance from the edge."""
    along = np.roll(ring, -1, axis=0) - ring
    along /= np.hypot(*along.T)[:, None]
    away = ring[None] - ring[:, None]
    return float((along[:, :1] * away[..., 1] - along[:, 1:] * away[..., 0]).max(axis=1).min())


def cells(corners: Floats, offsets: NDArray[np.int64], heights: Floats, pairs: NDArray[np.int32], slack: float) -> Any:
    """Regions, neighbours and bins for the kernels; a region stands in the bins within `slack` of it."""
    count = len(offsets) - 1
    both = np.concatenate([pairs, pairs[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    beside = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=count))]).astype(np.int64)
    low, high = np.minimum.reduceat(corners, offsets[:-1]), np.maximum.reduceat(corners, offsets[:-1])
    origin = low.min(axis=0)
    size = high.max(axis=0) - origin
    side = max(math.sqrt(float(size[0] * size[1]) / max(count, 4)), float(size.max()) / 4096.0)
    shape = np.ceil(size / side).astype(np.int64).clip(1)
    frame = np.array([origin[0], origin[1], 1.0 / side])
    boxes = np.hstack([low - slack, high + slack])
    counts = np.zeros(int(shape.prod()) + 1, np.int64)
    _locate_kernels.bin_boxes(boxes, frame, shape, counts, np.empty(0, np.int32), False)
    bins = np.cumsum(counts)
    items = np.empty(bins[-1], np.int32)
    _locate_kernels.bin_boxes(boxes, frame, shape, bins.copy(), items, True)
    neighbours = np.ascontiguousarray(both[:, 1])
    return _locate_kernels.Cells(corners, offsets, heights, beside, neighbours, bins, items, frame, shape)
