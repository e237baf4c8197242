"""Changes of a decomposition: only the regions that an obstacle touches are cut anew (paper 004, conclusion)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from wayfold.core import checks
from wayfold.errors import ParameterError
from wayfold.floorplan import _build, _polygons
from wayfold.floorplan.plan import FloorPlan
from wayfold.geometry.polygon import overlaying

if TYPE_CHECKING:
    from wayfold.floorplan.decomposition import Decomposition


@overlaying()
def add(cut: Decomposition, obstacle: Any, level: int) -> list[int]:
    """See `Decomposition.add_obstacle`."""
    old = _level(cut, level)
    shape = _polygons.check(obstacle, "obstacle")
    plan = old.plan.with_obstacle(shape)
    shape = _polygons.moved(shape, _away(cut))
    regions = _regions(old)
    near = shapely.STRtree(regions).query(shape, predicate="intersects") if len(regions) else np.empty(0, np.int64)
    touched = near[shapely.area(shapely.intersection(regions[near], shape)) > 0.0]
    rest = shapely.difference(shapely.union_all(regions[touched]), shape, grid_size=plan.resolution)
    return _replace(cut, level, plan, touched, rest)


@overlaying()
def remove(cut: Decomposition, number: int, level: int) -> list[int]:
    """See `Decomposition.remove_obstacle`."""
    old = _level(cut, level)
    plan = old.plan.without_obstacle(number)
    shapes = [_polygons.moved(shape, _away(cut)) for shape in (plan.boundary, old.plan.obstacles[number])]
    freed = shapely.intersection(*shapes)
    others = [_polygons.moved(shape, _away(cut)) for shape in plan.obstacles]
    others = [shape for shape in others if shape.intersects(freed)]
    freed = shapely.difference(freed, shapely.union_all(others), grid_size=plan.resolution)
    regions = _regions(old)
    reach = 4.0 * plan.resolution
    touched = np.empty(0, np.int64)
    if len(regions) and not freed.is_empty:
        touched = shapely.STRtree(regions).query(freed, predicate="dwithin", distance=reach)
    whole = shapely.union_all([freed, *regions[touched]], grid_size=plan.resolution)
    return _replace(cut, level, plan, touched, whole)


def _away(cut: Decomposition) -> tuple[float, float]:
    """The way from the user's coordinates to local ones."""
    return -cut.frame.origin[0], -cut.frame.origin[1]


def _level(cut: Decomposition, level: int) -> _build.Level:
    if isinstance(level, bool) or not isinstance(level, (int, np.integer)) or not 0 <= level < len(cut.levels):
        raise ParameterError(
            f"level must be the number of a floor from 0 to {len(cut.levels) - 1}, not {checks.shown(level)}"
        )
    return cut.levels[level]


def _regions(level: _build.Level) -> NDArray[Any]:
    regions = np.empty(len(level.rings), dtype=object)
    regions[:] = [Polygon(ring) for ring in level.rings]
    return regions


def _replace(cut: Decomposition, number: int, plan: FloorPlan, touched: NDArray[Any], space: Any) -> list[int]:
    """Put a plan in the place of a level's, with `space` cut anew in the place of the touched regions."""
    old = cut.levels[number]
    kept = np.setdiff1d(np.arange(len(old.rings)), touched)
    areas = [part for part in shapely.get_parts(space) if part.geom_type == "Polygon" and part.area > 0.0]
    rings: list[Any] = []
    if areas:
        local = _polygons.clean(shapely.MultiPolygon(areas), plan.resolution)
        rings = list(_build.cut(_polygons.FreeSpace(local, plan.resolution), cut.method, cut.options).rings())
    heights = np.concatenate([old.heights[kept], _build.ground_heights(old, rings)])
    level = _build.Level(plan, cut.frame, [old.rings[k] for k in kept] + rings, heights, old.is_floor, old.ground)
    levels = [*cut.levels[:number], level, *cut.levels[number + 1 :]]
    fresh = type(cut)(levels, cut.frame, cut.method, cut.options, passages=cut.passages, slack=cut.slack, updated=True)
    known = cut.__dict__.get("information")
    if known is not None:
        fresh.information.attach(known.points, known.names)
    fresh._edit = cut._edit
    cut.__dict__ = fresh.__dict__  # all at once: queries that run see the old one
    first = sum(len(level.rings) for level in levels[:number]) + len(kept)
    return list(range(first, first + len(rings)))
