"""`Decomposition`: convex regions of free space, gateways between them, paths through them (Hale et al. 2008)."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray
from shapely import Polygon

from wayfold.core import checks
from wayfold.core import text as _text
from wayfold.core.arrays import offsets_of
from wayfold.core.bounded_cache import BoundedCache
from wayfold.core.interrupts import interruptible
from wayfold.core.locks import Portable, at_one_moment, derived, view
from wayfold.core.schema import Array, Parts, Savable, Schema, Value
from wayfold.errors import OffMapError, ParameterError
from wayfold.floorplan import _query_kernels, building, gateways, hertel_mehlhorn, polygons, routes
from wayfold.floorplan.growth import GrowthSettings, grow_regions, wall_bins
from wayfold.floorplan.plan import METHODS, FloorPlan
from wayfold.floorplan.polygons import ConvexPieces, FreeSpace
from wayfold.geometry.frame import LARGEST, Frame
from wayfold.geometry.polygon import overlaying
from wayfold.geometry.scatter import fans, scatter, twice_areas, within
from wayfold.graph import Graph
from wayfold.graph.searcher import Workspaces
from wayfold.path import Path, Paths

if TYPE_CHECKING:
    from wayfold.floorplan.information import Information
    from wayfold.navmesh import NavMesh

Floats = NDArray[np.float64]
_OPTIONS = {
    "deaccon": ("spacing", "step", "follow", "in_turn", "combine"),
    "space-filling": ("spacing", "step", "combine"),
    "hertel-mehlhorn": ("combine",),
}


@dataclass
class FloorLevel(Portable):
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


def cut_free_space(space: FreeSpace, method: str, options: dict[str, Any]) -> ConvexPieces:
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
        return grow_regions(space, GrowthSettings(follow=False, seed=False, **options))
    return grow_regions(space, GrowthSettings(**options))


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
) -> FloorLevel:
    """A plan cut by one of the methods, as a level of its own; `ground` is in the user's coordinates."""
    result = FloorLevel(plan, frame, [], np.empty(0), is_floor)
    result.rings = list(cut_free_space(result.space, method, options).rings())
    if ground is not None:
        result.ground = frame.local(ground)
    result.heights = ground_heights(result, result.rings)
    return result


def ground_heights(level: FloorLevel, rings: list[Floats]) -> Floats:
    """Height of each ring: that of the floor, or of the stairs or slope at its centre."""
    heights = np.full(len(rings), level.plan.height)
    if len(level.ground) and rings:
        centres = shapely.get_coordinates(shapely.centroid([Polygon(ring) for ring in rings]))
        found = building.heights_at(level.ground, centres, level.plan.height)
        heights = np.where(np.isnan(found), heights, found)
    return heights


def coverage(levels: list[FloorLevel]) -> float:
    """Share of the free space of all levels that lies in their regions; 1 where there is none to cover."""
    free = sum(level.space.area for level in levels)
    covered = 0.0
    for level in levels:
        resolution = level.space.resolution
        whole = polygons.united([Polygon(ring) for ring in level.rings], resolution)
        covered += float(shapely.area(polygons.common(whole, level.space.free, resolution)))
    return covered / free if free > 0.0 else 1.0


def overlap(levels: list[FloorLevel]) -> float:
    """Area that two regions of a level have in common, as a share of the free space."""
    free = sum(level.space.area for level in levels)
    twice = 0.0
    for level in levels:
        shapes = np.array([Polygon(ring) for ring in level.rings], dtype=object)
        if len(shapes):
            a, b = shapely.STRtree(shapes).query(shapes)
            once = a < b
            both = polygons.common(shapes[a[once]], shapes[b[once]], level.space.resolution)
            twice += float(shapely.area(both).sum())
    return twice / free if free > 0.0 else 0.0


def wall_bins_of(level: FloorLevel) -> Any:
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


def without_slivers(level: FloorLevel, least: float) -> FloorLevel:
    """A level without the regions no wider than `least`, the same one if it has none.

    Three corners of obstacles in a line make such a region. Its two sides are one border, so its neighbours touch.
    """
    if not level.rings:
        return level
    shapes = shapely.polygons([shapely.linearrings(ring) for ring in level.rings])
    # The width of a convex shape is at least twice its area by its girth.
    narrow = 2.0 * shapely.area(shapes) <= least * shapely.length(shapes)
    for number in np.flatnonzero(narrow).tolist():
        narrow[number] = width(level.rings[number]) <= least
    if not narrow.any():
        return level
    rings = [level.rings[k] for k in np.flatnonzero(~narrow).tolist()]
    return replace(level, rings=rings, heights=level.heights[~narrow])


def border_rounding(levels: Sequence[FloorLevel], updated: bool) -> float:
    """See `Decomposition.border_rounding`."""
    return max(level.plan.resolution for level in levels) * (2.0 if updated else 0.25)


def region_cells(
    corners: Floats, offsets: NDArray[np.int64], heights: Floats, pairs: NDArray[np.int32], slack: float
) -> Any:
    """Regions, neighbours and bins for the kernels; a region stands in the bins within `slack` of it."""
    count = len(offsets) - 1
    both = np.concatenate([pairs, pairs[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    beside = offsets_of(np.bincount(both[:, 0], minlength=count))
    low, high = np.minimum.reduceat(corners, offsets[:-1]), np.maximum.reduceat(corners, offsets[:-1])
    origin, end = (low.min(axis=0), high.max(axis=0)) if count else (np.zeros(2), np.ones(2))
    size = end - origin
    side = max(math.sqrt(float(size[0] * size[1]) / max(count, 4)), float(size.max()) / 4096.0)
    shape = np.ceil(size / side).astype(np.int64).clip(1)
    frame = np.array([origin[0], origin[1], 1.0 / side])
    boxes = np.hstack([low - slack, high + slack])
    counts = np.zeros(int(shape.prod()) + 1, np.int64)
    _query_kernels.bin_boxes(boxes, frame, shape, counts, np.empty(0, np.int32), False)
    bins = np.cumsum(counts)
    items = np.empty(bins[-1], np.int32)
    _query_kernels.bin_boxes(boxes, frame, shape, bins.copy(), items, True)
    neighbours = np.ascontiguousarray(both[:, 1])
    return _query_kernels.RegionGrid(corners, offsets, heights, beside, neighbours, bins, items, frame, shape)


_Decomposition = TypeVar("_Decomposition", bound="Decomposition")

_FAR = 2 * LARGEST


def rings_close(parts: Parts) -> None:
    """The rings of plans end where they begin."""
    points, rings = parts.arrays["plan_points"], parts.arrays["plan_rings"]
    if not (points[rings[:-1]] == points[rings[1:] - 1]).all():
        raise ValueError("a ring of a plan is not closed")


def regions_are_convex(parts: Parts) -> None:
    """Regions run counter-clockwise and turn by no more than one circle; a corner may be dented by rounding."""
    corners, offsets = parts.arrays["corners"], parts.arrays["offsets"]
    if not len(corners):
        return
    after = np.arange(1, len(corners) + 1)
    after[offsets[1:] - 1] = offsets[:-1]
    way = corners[after] - corners
    if not way.any(axis=1).all():
        raise ValueError("a region has the same corner twice")
    heading = np.arctan2(way[:, 1], way[:, 0])
    turn = (heading[after] - heading + np.pi) % (2 * np.pi) - np.pi
    whole = np.add.reduceat(turn, offsets[:-1])
    if not (np.abs(whole - 2 * np.pi) < 1e-6).all():
        raise ValueError("a region does not turn once to the left")


SCHEMA = Schema(
    "decomposition",
    {
        "corners": Array("float64", ("corners", 2), "of all regions, metres from the origin", -_FAR, _FAR),
        "offsets": Array("int64", ("regions + 1",), "corners of each region", rises="corners", least_rise=3),
        "heights": Array("float64", ("regions",), "z of each region, metres", -_FAR, _FAR),
        "level_regions": Array("int64", ("levels + 1",), "regions of each level", rises="regions"),
        "level_heights": Array("float64", ("levels",), "z of each level, metres", -_FAR, _FAR),
        "level_is_floor": Array("bool", ("levels",), "whether it is a floor, else a transition area"),
        "level_shapes": Array(
            "int64", ("levels + 1",), "boundary and obstacles of each level", rises="shapes", least_rise=1
        ),
        "level_ground": Array("int64", ("levels + 1",), "triangles of stairs of each level", rises="triangles"),
        "plan_shapes": Array("int64", ("shapes + 1",), "polygons of each shape", rises="polygons", least_rise=1),
        "plan_polygons": Array("int64", ("polygons + 1",), "rings of each polygon", rises="rings", least_rise=1),
        "plan_rings": Array("int64", ("rings + 1",), "points of each ring", rises="points", least_rise=4),
        "plan_points": Array("float64", ("points", 2), "metres", -LARGEST, LARGEST),
        "ground": Array("float64", ("triangles", 3, 3), "corners of stairs and slopes, metres", -_FAR, _FAR),
        "passages": Array("int32", ("passages", 2), "floors and transition areas that share gateways", refers="levels"),
        "passage_mouths": Array("int64", ("passages + 1",), "mouths of each passage", rises="mouths"),
        "passage_limited": Array("bool", ("passages",), "whether gateways must lie on a mouth"),
        "mouths": Array("float64", ("mouths", 4), "segments, metres", -_FAR, _FAR),
        "origin": Array("float64", (2,), "metres", -LARGEST, LARGEST),
    },
    {
        "method": Value(str, "what cut the plans", among=METHODS),
        "options": Value(
            dict,
            "of the method",
            fields={
                "spacing": Value((float, type(None)), "metres", 0.0, LARGEST, optional=True),
                "step": Value((float, type(None)), "metres", 0.0, LARGEST, optional=True),
                "follow": Value(bool, "whether regions follow walls", optional=True),
                "in_turn": Value(bool, "whether seeds grow in turn", optional=True),
                "combine": Value(bool, "whether regions were joined", optional=True),
            },
        ),
        "slack": Value(float, "metres between borders that count as one", 0.0, LARGEST),
        "updated": Value(bool, "whether obstacles came or went since it was built"),
    },
    {"levels": 1},
    (rings_close, regions_are_convex),
)


def to_parts(cut: Decomposition) -> Parts:
    """A decomposition and its plans."""
    levels = cut.levels
    shapes = [shape for level in levels for shape in (level.plan.boundary, *level.plan.obstacles)]
    _, points, (rings, polygons, parts) = shapely.to_ragged_array(
        [shape if shape.geom_type == "MultiPolygon" else shapely.MultiPolygon([shape]) for shape in shapes]
    )
    mouths = [np.empty((0, 4)) if passage.mouth is None else passage.mouth for passage in cut.passages]
    arrays: dict[str, NDArray[Any]] = {
        "corners": cut.local_corners,
        "offsets": cut.offsets,
        "heights": cut.heights,
        "level_regions": _ends([len(level.rings) for level in levels]),
        "level_heights": np.array([level.plan.height for level in levels]),
        "level_is_floor": np.array([level.is_floor for level in levels], np.bool_),
        "level_shapes": _ends([1 + len(level.plan.obstacles) for level in levels]),
        "level_ground": _ends([len(level.ground) for level in levels]),
        "plan_shapes": np.asarray(parts, np.int64),
        "plan_polygons": np.asarray(polygons, np.int64),
        "plan_rings": np.asarray(rings, np.int64),
        "plan_points": np.ascontiguousarray(points),
        "ground": np.concatenate([level.ground for level in levels]),
        "passages": np.array([passage[:2] for passage in cut.passages], np.int32).reshape(-1, 2),
        "passage_mouths": _ends([len(mouth) for mouth in mouths]),
        "passage_limited": np.array([passage.mouth is not None for passage in cut.passages], np.bool_),
        "mouths": np.concatenate([np.empty((0, 4)), *mouths]),
        "origin": np.array(cut.frame.origin[:2]),
    }
    meta = {"method": cut.method, "options": dict(cut.options), "slack": float(cut.slack), "updated": cut.updated}
    return Parts(arrays, meta)


def from_parts(kind: type[_Decomposition], parts: Parts) -> _Decomposition:
    """The decomposition."""
    arrays, meta = parts.arrays, parts.meta
    GrowthSettings(**meta["options"])
    offsets = arrays["plan_rings"], arrays["plan_polygons"], arrays["plan_shapes"]
    shapes = shapely.from_ragged_array(shapely.GeometryType.MULTIPOLYGON, arrays["plan_points"], offsets)
    shapes = [shape.geoms[0] if len(shape.geoms) == 1 else shape for shape in shapes]
    plans = [
        FloorPlan(shapes[first], shapes[first + 1 : last], height=height)
        for (first, last), height in zip(
            pairwise(arrays["level_shapes"].tolist()), arrays["level_heights"].tolist(), strict=True
        )
    ]
    x, y = arrays["origin"].tolist()
    frame = Frame((x, y, 0.0), frame_of(plans).extent)
    rings = np.split(arrays["corners"], arrays["offsets"][1:-1]) if len(arrays["offsets"]) > 1 else []
    levels = []
    for number, plan in enumerate(plans):
        first, last = arrays["level_regions"][number : number + 2].tolist()
        ground = arrays["ground"][slice(*arrays["level_ground"][number : number + 2])]
        floor = bool(arrays["level_is_floor"][number])
        levels.append(FloorLevel(plan, frame, rings[first:last], arrays["heights"][first:last], floor, ground))
    passages = []
    for number, (floor, transition) in enumerate(arrays["passages"].tolist()):
        mouth = arrays["mouths"][slice(*arrays["passage_mouths"][number : number + 2])]
        passages.append(Passage(floor, transition, mouth if arrays["passage_limited"][number] else None))
    slack, updated = float(meta["slack"]), meta["updated"]
    return kind(levels, frame, meta["method"], meta["options"], passages=passages, slack=slack, updated=updated)


def _ends(sizes: list[int]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


@checks.checked
class Decomposition(Savable):
    """Free space cut into convex regions; build one with `FloorPlan.decompose` or `Building.decompose`.

    Parameters
    ----------
    levels : list of FloorLevel
        The floors and the transition areas between them, each cut into regions.
    frame : Frame
        Local origin that the regions are stored relative to.
    method : str
        The method that cut them.
    options : dict
        Options of the method, used again when obstacles change.
    passages : sequence of Passage
        Where floors and transition areas may share gateways.
    slack : float, metres
        Largest gap between the borders of a floor and a transition area that still count as shared.
    updated : bool
        Whether obstacles were added or removed since it was built.

    Attributes
    ----------
    corners : (n, 2) float64 array
        Corners of all regions, those of region i from ``offsets[i]`` to ``offsets[i + 1] - 1``, counter-clockwise.
    offsets : (r + 1,) int64 array
    local_corners : (n, 2) float64 array
        The corners relative to the frame.
    region_levels : (r,) int32 array
        The level of each region.

    Notes
    -----
    Queries are thread-safe, also while another thread adds or removes obstacles: each sees the decomposition before or
    after the edit.

    Examples
    --------
    >>> from shapely import box
    >>> cut = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)]).decompose()
    >>> cut
    <Decomposition by deaccon: 3 regions, 2 gateways>
    >>> cut.region_areas.tolist(), cut.coverage
    ([16.0, 6.0, 12.0], 1.0)
    """

    _OWN = (("_marks", deque), ("_edit", threading.Lock))

    def __init__(
        self,
        levels: list[FloorLevel],
        frame: Frame,
        method: str,
        options: dict[str, Any],
        *,
        passages: Sequence[Passage] = (),
        slack: float = 0.0,
        updated: bool = False,
    ) -> None:
        self.levels = levels
        self.frame = frame
        self.method = method
        self.options = options
        self.passages = tuple(passages)
        self.slack = slack
        self.updated = updated
        rings = [ring for level in levels for ring in level.rings]
        self.local_corners = np.ascontiguousarray(np.concatenate([np.empty((0, 2)), *rings]))
        self.corners = frame.world(self.local_corners)
        self.offsets = offsets_of([len(ring) for ring in rings])
        self.region_levels = np.repeat(np.arange(len(levels), dtype=np.int32), [len(level.rings) for level in levels])
        self.heights: NDArray[np.float64] = np.concatenate([np.empty(0), *(level.heights for level in levels)])
        self._marks: deque[_query_kernels.Marks] = deque()
        self._edit = threading.Lock()

    @classmethod
    @interruptible
    def build(cls, plan: FloorPlan, method: str, **options: Any) -> Decomposition:
        """Cut a plan into convex regions.

        Parameters
        ----------
        plan : FloorPlan
        method, **options
            As for `FloorPlan.decompose`.

        Examples
        --------
        >>> from shapely import box
        >>> Decomposition.build(FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)]), "deaccon")
        <Decomposition by deaccon: 3 regions, 2 gateways>
        """
        checks.choice(method, "method", METHODS)
        return cls._of_cut([level(plan, plan.frame, method, options)], plan.frame, method, options)

    @classmethod
    def _of_cut(
        cls,
        levels: list[FloorLevel],
        frame: Frame,
        method: str,
        options: dict[str, Any],
        *,
        updated: bool = False,
        **more: Any,
    ) -> Self:
        """A decomposition of levels as a method cut them; see `without_slivers`."""
        least = gateways.NEAR * border_rounding(levels, updated)
        levels = [without_slivers(level, least) for level in levels]
        return cls(levels, frame, method, options, updated=updated, **more)

    # --- what there is ---------------------------------------------------------------------------------------------

    @property
    def plan(self) -> FloorPlan:
        """The plan of the first floor."""
        return self.levels[0].plan

    @property
    def num_regions(self) -> int:
        """Number of regions."""
        return len(self.offsets) - 1

    @derived
    def bounds(self) -> NDArray[np.float64]:
        """Lowest and highest x, y and z of the regions, metres, (2, 3); NaN where there is no region.

        >>> from wayfold import FloorPlan
        >>> FloorPlan([(0, 0), (10, 0), (10, 4), (0, 4)], height=2.0).decompose().bounds.tolist()
        [[0.0, 0.0, 2.0], [10.0, 4.0, 2.0]]
        """
        if not self.num_regions:
            return np.full((2, 3), np.nan)
        corners, heights = self.corners, self.heights
        return np.array([[*corners.min(axis=0), heights.min()], [*corners.max(axis=0), heights.max()]])

    @property
    def nbytes(self) -> int:
        """Bytes of the regions and the plans, without what queries left behind."""
        now = view(self)
        arrays = (now.corners, now.local_corners, now.offsets, now.region_levels, now.heights)
        own = sum(array.nbytes for array in arrays)
        for level in now.levels:
            shapes = [level.plan.boundary, *level.plan.obstacles]
            own += 16 * int(shapely.get_num_coordinates(shapes).sum()) + level.ground.nbytes
        return own

    @derived
    def regions(self) -> list[Polygon]:
        """The regions as shapely polygons, counter-clockwise."""
        return [Polygon(self.corners[a:b]) for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True)]

    @property
    def epsilon(self) -> float:
        """Borders shorter than this are no gateways, metres: about 6e-8 of the plan's extent."""
        return max(level.plan.resolution for level in self.levels) * 2.0**12

    @property
    def rounding(self) -> float:
        """How far beyond its border a region still holds a point, metres: four times the plan's resolution."""
        return self.epsilon * 2.0**-10

    @property
    def near(self) -> float:
        """How far beyond all regions a point may lie that is meant to be on a border of them, metres.

        `rounding`, the slivers that were left out, and the last digits of points as they are given, which far away are
        coarser.
        """
        return self.rounding + gateways.NEAR * self.border_rounding + self.frame.digits

    @property
    def border_rounding(self) -> float:
        """How far borders of neighbours may lie apart, metres.

        Updates round the touched regions: the ends of a border and a corner on it may each be off by 0.71 of the
        resolution of the plan, which is a quarter of `rounding`.
        """
        return border_rounding(self.levels, self.updated)

    @derived
    def topology(self) -> gateways.RegionTopology:
        """What the regions share."""
        return gateways.topology(self)

    @property
    def gateways(self) -> gateways.Gateways:
        """The segments of border that regions share, one for each pair that shares more than `epsilon`.

        Regions of a floor and of a transition area share one only where the one may be entered from the other.
        """
        return self.topology.gateways

    @derived
    def coverage(self) -> float:
        """Share of the free space that lies in regions, from exact polygon areas."""
        return coverage(self.levels)

    @derived
    def overlap(self) -> float:
        """Area that lies in more than one region of a level, as a share of the free space."""
        return overlap(self.levels)

    @property
    def region_areas(self) -> NDArray[np.float64]:
        """Area of each region, square metres, (r,)."""
        rings = np.split(self.local_corners, self.offsets[1:-1]) if self.num_regions else []
        return np.array([shapely.area(Polygon(ring)) for ring in rings])

    areas = checks.moved_property("areas", "region_areas")

    @property
    def widths(self) -> NDArray[np.float64]:
        """Width of each region at its narrowest, metres, (r,); Hale et al. 2008 hold slivers against triangles."""
        return np.array([width(self.local_corners[a:b]) for a, b in zip(self.offsets, self.offsets[1:], strict=False)])

    @derived
    def centres(self) -> NDArray[np.float64]:
        """Centre of mass of each region, (r, 3)."""
        rings = np.split(self.local_corners, self.offsets[1:-1]) if self.num_regions else []
        points = shapely.get_coordinates([shapely.centroid(Polygon(ring)) for ring in rings]).reshape(-1, 2)
        return np.column_stack([self.frame.world(points), self.heights])

    @derived
    def gateway_heights(self) -> NDArray[np.float64]:
        """Height of each gateway, (g,): the floor where stairs begin or end, halfway between its regions elsewhere."""
        pairs = self.gateways.pairs
        is_floor = np.array([level.is_floor for level in self.levels])[self.region_levels[pairs]]
        weights = np.where(is_floor.any(axis=1, keepdims=True), is_floor, True)
        return np.asarray((self.heights[pairs] * weights).sum(axis=1) / weights.sum(axis=1))

    @derived
    def is_mouth(self) -> NDArray[np.bool_]:
        """Whether each gateway leads from one level to another, (g,)."""
        levels = self.region_levels[self.gateways.pairs]
        return np.asarray(levels[:, 0] != levels[:, 1])

    @derived
    def vertex_heights(self) -> NDArray[np.float64]:
        """Height of the ground at each vertex of `topology`, (n,)."""
        return gateways.heights(self)

    @derived
    def apart(self) -> NDArray[np.bool_]:
        """Whether each region is no wider than rounding, so that it has no place among the others in a mesh, (r,)."""
        return gateways.apart(self)

    @derived
    def graph(self) -> Graph:
        """The navigation graph of the paper: nodes are region centres, then gateway midpoints.

        Raises
        ------
        OffMapError
            When there is no free space, so no node.
        """
        if not self.num_regions:
            raise OffMapError("the plan has no free space, so there is no navigation graph")
        pairs = self.gateways.pairs
        points = np.concatenate([self.centres, np.column_stack([self.gateways.midpoints, self.gateway_heights])])
        doors = self.num_regions + np.arange(len(pairs))
        edges = np.concatenate([np.column_stack([pairs[:, 0], doors]), np.column_stack([doors, pairs[:, 1]])])
        return Graph.from_edges(points, edges)

    @derived
    def workspaces(self) -> Workspaces:
        """Scratch memory of searches over the navigation graph."""
        return Workspaces(self.graph.num_nodes)

    @at_one_moment
    def neighbours(self, region: int) -> NDArray[np.int32]:
        """Return the regions that share a gateway with a region.

        Parameters
        ----------
        region : int, 0 to `num_regions` - 1

        Returns
        -------
        (k,) int32 array
            Their numbers, ascending.

        Examples
        --------
        >>> from shapely import box
        >>> cut = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)]).decompose()
        >>> door = cut.locate((5, 3.5))
        >>> cut.neighbours(door).tolist(), cut.locate([(1, 1), (9, 1)]).tolist()
        ([0, 2], [0, 2])
        """
        number = self._region(region)
        return self.cells.neighbours[self.cells.beside[number] : self.cells.beside[number + 1]]

    @derived
    def cells(self) -> _query_kernels.RegionGrid:
        """The regions as the kernels see them."""
        cells: _query_kernels.RegionGrid = region_cells(
            self.local_corners, self.offsets, self.heights, self.gateways.pairs, self.near
        )
        return cells

    @derived
    def information(self) -> Information:
        """Objects in regions, what is visible from where, and the nearest objects."""
        from wayfold.floorplan.information import Information

        return Information(self)

    # --- where -----------------------------------------------------------------------------------------------------

    @at_one_moment
    def locate(self, points: ArrayLike, last: ArrayLike | int | None = None) -> Any:
        """Return the region that each point lies in, -1 for none.

        A point on a border belongs to every region it touches; the answer is one of them.

        Parameters
        ----------
        points : (q, 2) or (q, 3) array_like, or one point
            With z, the region nearest in height is taken where floors lie above each other.
        last : int or (q,) array_like of int, optional
            Last known regions: the search goes outwards from them, breadth first, as things move little between two
            frames. -1 for unknown.

        Returns
        -------
        (q,) int32 array, or an int for one point

        Examples
        --------
        >>> from shapely import box
        >>> cut = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)]).decompose()
        >>> cut.locate((1, 1)), cut.locate([(2, 1), (5, 1)], last=0).tolist()
        (0, [0, -1])
        """
        array = checks.floats(points, "points", "numbers of shape (q, 2) or (q, 3), or one point")
        single = array.ndim == 1
        where = self.frame.local(checks.points3(array[None] if single else array))
        # Several regions hold a point only where floors lie above each other, and without z any of them will do.
        max_rise = np.inf if len(self.levels) == 1 or array.shape[-1] == 2 else self._storey
        hints = np.full(len(where), -1, np.int32)
        if last is not None:
            known = checks.wholes(last, "last", f"region numbers from 0 to {self.num_regions - 1}, or -1")
            if known.shape not in ((), hints.shape):
                raise ParameterError(f"last must be one region for each of the {len(hints)} points")
            if known.size and not (known.min() >= -1 and known.max() < self.num_regions):
                raise ParameterError(f"last must be region numbers from 0 to {self.num_regions - 1}, or -1")
            hints[:] = known
        found = np.full(len(where), -1, np.int32)
        if self.num_regions:
            marks = self._take_marks()
            _query_kernels.locate(self.cells, marks, where, hints, max_rise, self.near, found)
            self._marks.append(marks)
        return int(found[0]) if single else found

    @at_one_moment
    def collides(self, points: ArrayLike, radius: float = 0.0, last: ArrayLike | int | None = None) -> Any:
        """Return whether a point or disc collides with the world, that is, leaves the free space.

        Parameters
        ----------
        points : (q, 2) or (q, 3) array_like, or one point
            Centres.
        radius : float, metres, >= 0
            Discs that only touch a wall do not collide.
        last : int or (q,) array_like of int, optional
            As for `locate`.

        Returns
        -------
        (q,) bool array, or a bool for one point

        Examples
        --------
        >>> from shapely import box
        >>> cut = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)]).decompose()
        >>> cut.collides((5, 1)), cut.collides([(3, 1), (3.8, 1)], radius=0.5).tolist()
        (True, [False, True])
        """
        radius = checks.number(radius, "radius", low=0.0, high=checks.LARGEST)
        array = checks.floats(points, "points", "numbers of shape (q, 2) or (q, 3), or one point")
        single = array.ndim == 1
        where = self.frame.local(checks.points3(array[None] if single else array))
        found = np.atleast_1d(self.locate(array[None] if single else array, last))
        hit = found < 0
        if radius > 0.0 and self.num_regions:
            levels = np.where(hit, -1, self.region_levels[found])
            for number, level in enumerate(self.levels):
                here = np.flatnonzero(levels == number)
                if not len(here):
                    continue
                if level.space.free.is_empty:  # obstacles cover all of it: only a file has regions there
                    hit[here] = True
                    continue
                distances = np.empty(len(here))
                _query_kernels.wall_distances(wall_bins_of(level), where[here, :2].copy(), radius * 2.0, distances)
                hit[here] = distances < radius - self.rounding
        return bool(hit[0]) if single else hit

    @at_one_moment
    def nearest(self, points: ArrayLike, *, max_distance: float | None = None) -> NDArray[np.float64]:
        """Return the place in a region nearest to each point, at the height of its region.

        A point that lies in a region (see `locate`) has its place there. For others distances count heights where the
        points have them, and are seen from above where they have none.

        Parameters
        ----------
        points : (q, 2) or (q, 3) array_like, or one point
            Anywhere.
        max_distance : float, metres, >= 0, optional
            Farthest that a place may lie from a point that lies in no region; any distance by default.

        Returns
        -------
        (q, 3) float64 array with rows of NaN for points without a place, or (3,) for one point

        Raises
        ------
        OffMapError
            When one point is asked for and has no place.

        Examples
        --------
        >>> from wayfold import FloorPlan
        >>> from shapely import box
        >>> FloorPlan(box(0, 0, 10, 4)).decompose().nearest((12, 1)).tolist()
        [10.0, 1.0, 0.0]
        """
        given = checks.floats(points, "points", "numbers of shape (q, 2) or (q, 3), or one point")
        where, single = checks.places(given)
        most = np.inf if max_distance is None else checks.number(max_distance, "max_distance", low=0.0)
        known = self.locate(given[None] if single else given) if len(where) else np.empty(0, np.int32)
        found = where.copy()
        found[known >= 0, 2] = self.heights[known[known >= 0]]
        local = self.frame.local(where)
        for index in np.flatnonzero(known < 0).tolist():
            found[index] = np.nan
            spot = shapely.Point(local[index, :2])
            gaps = shapely.distance(self._shapes, spot)
            if given.shape[-1] == 3:
                gaps = np.hypot(gaps, self.heights - where[index, 2])
            if len(gaps) and gaps.min() <= most:
                region = int(np.argmin(gaps))
                place = shapely.get_coordinates(shapely.shortest_line(self._shapes[region], spot))[0]
                found[index] = *self.frame.world(place), self.heights[region]
        if single and np.isnan(found[0, 0]):
            text = _text.place(given, self.frame.extent)
            raise OffMapError(
                f"({text}) has no region{'' if np.isinf(most) else f' within {most:g} m'}: "
                "use a larger max_distance, or another point"
            )
        return found[0] if single else found

    @at_one_moment
    def reachable(self, starts: ArrayLike, goals: ArrayLike) -> Any:
        """Whether a path leads from start to goal, from the connected parts of the navigation graph, without a search.

        Paths lead through gateways, so nobody passes a pinch point; a start on it belongs to all parts that meet there.

        Parameters
        ----------
        starts, goals : (q, 2) or (q, 3) array_like, or one point
            A single start serves many goals, and a single goal many starts.

        Returns
        -------
        (q,) bool array, or a bool for one pair

        Raises
        ------
        OffMapError
            When a start or goal lies in no region.

        Examples
        --------
        >>> from wayfold import FloorPlan
        >>> from shapely import box
        >>> cut = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 4)]).decompose()
        >>> cut.reachable((1, 1), (9, 1)), cut.reachable((1, 1), [(2, 3), (9, 1)]).tolist()
        (False, [True, False])
        """
        (first, one_start), (last, one_goal) = self._many(starts, "start"), self._many(goals, "goal")
        if one_start != one_goal:
            first, last = (first * len(last), last) if one_start else (first, last * len(first))
        checks.same_length(first, last)
        if not first:
            return np.empty(0, np.bool_)
        component = self.graph.components()
        known: dict[int, set[int]] = {}
        for place in (*first, *last):
            known.setdefault(id(place), set(component[place.regions].tolist()))
        joined = [not known[id(a)].isdisjoint(known[id(b)]) for a, b in zip(first, last, strict=True)]
        return joined[0] if one_start and one_goal else np.array(joined)

    @at_one_moment
    def random_points(
        self, count: int, *, seed: int = 0, near: ArrayLike | None = None, radius: float | None = None
    ) -> NDArray[np.float64]:
        """Return (count, 3) points spread evenly over the regions, by area, at the heights of their regions.

        Parameters
        ----------
        count : int, 0 to 10,000,000
        seed : int, >= 0
        near : (x, y) or (x, y, z), optional
            Only points within `radius` of this one; seen from above where it has no height.
        radius : float, metres, > 0
            With `near` only.

        Raises
        ------
        OffMapError
            When there is no region to draw from.

        Examples
        --------
        >>> from wayfold import FloorPlan
        >>> from shapely import box
        >>> FloorPlan(box(0, 0, 10, 4), height=2.0).decompose().random_points(2, seed=1)[:, 2].tolist()
        [2.0, 2.0]
        """
        number = checks.whole(count, "count", low=0, high=checks.MOST_POINTS)
        random = np.random.default_rng(checks.whole(seed, "seed", low=0))
        if (near is None) != (radius is None):
            raise ParameterError("near and radius go together: give both or neither")
        where = ""
        if near is None:
            triangles, regions = fans(self._shapes)
        else:
            centre = checks.point3(near, "near")
            size = checks.number(radius, "radius", low=0.0, high=LARGEST, open_low=True)
            given = checks.floats(near, "near")
            up = self.heights - centre[2] if given.size == 3 else np.zeros(self.num_regions)
            radii = np.sqrt(np.maximum(size * size - up * up, 0.0))
            triangles, regions = within(self._shapes, self.frame.local(centre), radii)
            where = f" within {size:g} m of ({_text.place(given, self.frame.extent)})"
        areas = twice_areas(triangles)
        if not number:
            return np.empty((0, 3))
        if not areas.sum() > 0.0:
            raise OffMapError(f"there is no region to draw points from{where}")
        points, chosen = scatter(triangles, areas, number, random)
        return np.column_stack([self.frame.world(points), self.heights[regions[chosen]]])

    # --- paths -----------------------------------------------------------------------------------------------------

    @derived
    def nodes(self) -> NDArray[np.float64]:
        """Where the nodes of `graph` stand relative to `frame`, (n, 3)."""
        doors = 0.5 * (self.gateways.local[:, :2] + self.gateways.local[:, 2:])
        return np.concatenate([self.frame.local(self.centres), np.column_stack([doors, self.gateway_heights])])

    @at_one_moment
    @checks.renamed(optimal="exact")
    def path(self, start: ArrayLike, goal: ArrayLike, *, smooth: bool = True, exact: bool = False) -> Path:
        """Find a path between two points of the free space.

        By default A* over the navigation graph finds the regions to pass (Hale et al. 2008), with start and goal in
        place of the centres of their own regions; the funnel then pulls the path straight through the gateways on the
        way. That takes about half as long as `exact`, and the path is the paper's; but region centres are a rough
        guide, so it may follow the wrong corridor: over nine measured levels paths were 2.5 % longer than the
        shortest on average, and single ones half as long again.

        A start or goal on a border belongs to every region it touches, and the shortest of the paths from and to each
        of them is taken. Paths lead through gateways, so regions that touch only in a point (a *pinch point*) are not
        joined by it; from a start on the point itself a path may leave to all sides.

        Parameters
        ----------
        start, goal : (x, y) or (x, y, z), metres
        smooth : bool
            False gives the paper's path, over gateway midpoints and region centres. Exact paths are always smooth.
        exact : bool
            Search for the shortest path of all instead, with the `NavMesh` of the regions; its `nodes` are regions,
            and it is never longer than the smooth one. On stairs and ramps lengths are those on the ground, between
            the mouths where they meet the floors; up to 200 ways over other mouths are compared.

        Raises
        ------
        OffMapError
            When the start or the goal lies in no region.

        Examples
        --------
        >>> from wayfold import FloorPlan
        >>> from shapely import box
        >>> cut = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)]).decompose()
        >>> round(cut.path((1, 1), (9, 1), exact=True).length, 3)
        9.211
        """
        a, b = self._place(start, "start"), self._place(goal, "goal")
        return routes.shortest(self, a, b) if exact else routes.between(self, a, b, smooth)

    @at_one_moment
    @checks.renamed(optimal="exact")
    def paths(
        self,
        starts: ArrayLike,
        goals: ArrayLike,
        *,
        smooth: bool = True,
        exact: bool = False,
        workers: int | None = None,
    ) -> Paths:
        """Find the paths of many queries in threads, each the same as `path` gives.

        Parameters
        ----------
        starts, goals : (q, 2) or (q, 3) array_like
        smooth, exact : bool
            As for `path`.
        workers : int, >= 1, optional
            Threads; all cores by default.

        Raises
        ------
        OffMapError
            When any start or goal lies in no region; then nothing is searched.

        Examples
        --------
        >>> from shapely import box
        >>> cut = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)]).decompose()
        >>> paths = cut.paths([(1, 1), (3, 3)], [(9, 1), (7, 3)])
        >>> paths.costs.round(3).tolist()
        [9.211, 4.0]
        """
        a, b = self._places(starts, "starts"), self._places(goals, "goals")
        checks.same_length(a, b)
        return routes.many(self, a, b, smooth, exact, workers)

    @at_one_moment
    def navmesh(self) -> NavMesh:
        """Return the regions as a new `NavMesh`; polygon i is region i.

        A corner that touches a neighbour is a corner of both polygons, so edges match from end to end. The mesh can do
        what every mesh can: `Hierarchy.build`, links, areas, saving.

        Raises
        ------
        OffMapError
            When there is no free space, so no polygon.

        Examples
        --------
        >>> from shapely import box
        >>> cut = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)]).decompose()
        >>> mesh = cut.navmesh()
        >>> mesh.num_polygons == cut.num_regions, round(mesh.path((1, 1), (9, 1)).length, 3)
        (True, 9.211)
        """
        return gateways.navmesh(self)

    @derived
    def exact_mesh(self) -> NavMesh:
        """The mesh that exact paths are searched on, relative to `frame`; `navmesh` gives one of your own to change."""
        return self._mesh_without(())

    def _mesh_without(self, closed: tuple[int, ...]) -> NavMesh:
        """The mesh that exact paths are searched on, relative to `frame`, with some gateways `closed`."""
        mesh: NavMesh = self._meshes.get(closed, lambda: gateways.navmesh(self, local=True, closed=closed))
        return mesh

    @derived
    def _meshes(self) -> BoundedCache:
        return BoundedCache(most=32)

    # --- changes and files -----------------------------------------------------------------------------------------

    def add_obstacle(self, obstacle: Any, level: int = 0) -> list[int]:
        """Add an obstacle to a floor and recut only the regions that it touches.

        Parameters
        ----------
        obstacle : shapely Polygon or MultiPolygon, or (n, 2) array_like
        level : int
            Number of the floor; transition areas are counted after the floors.

        Returns
        -------
        list of int
            The new regions. Untouched regions keep their polygons, but are renumbered.

        Examples
        --------
        >>> from shapely import box
        >>> cut = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)]).decompose()
        >>> _ = cut.add_obstacle(box(4, 3, 6, 4))  # close the door
        >>> cut.path((1, 1), (9, 1)).found
        False
        """
        with self._edit:
            return add(self, obstacle, level)

    def remove_obstacle(self, number: int, level: int = 0) -> list[int]:
        """Remove an obstacle from a floor and recut only the regions beside it.

        Parameters
        ----------
        number : int, from 0
            Which of the obstacles of the floor's plan; those behind it move up by one.
        level : int
            As for `add_obstacle`.

        Returns
        -------
        list of int
            The new regions. Untouched regions keep their polygons, but are renumbered.

        Examples
        --------
        >>> from shapely import box
        >>> cut = FloorPlan(box(0, 0, 10, 4), [box(4, 0, 6, 3)]).decompose()
        >>> _ = cut.remove_obstacle(0)
        >>> cut.path((1, 1), (9, 1)).length
        8.0
        """
        with self._edit:
            return remove(self, number, level)

    _SCHEMA = SCHEMA

    @at_one_moment
    def _to_parts(self) -> Parts:
        return to_parts(self)

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        return from_parts(cls, parts)

    def __repr__(self) -> str:
        return f"<Decomposition by {self.method}: {self.num_regions} regions, {len(self.gateways)} gateways>"

    # --- inside ----------------------------------------------------------------------------------------------------

    @derived
    def _shapes(self) -> NDArray[Any]:
        """The regions as shapely polygons relative to `frame`."""
        shapes = np.empty(self.num_regions, object)
        shapes[:] = [Polygon(self.local_corners[a:b]) for a, b in pairwise(self.offsets.tolist())]
        return shapes

    def _many(self, points: ArrayLike, name: str) -> tuple[list[routes.RegionPlace], bool]:
        """Where one point or many stand, and whether it is one."""
        array = checks.floats(points, f"{name}s", "numbers of shape (q, 2) or (q, 3), or one point")
        if array.ndim == 1 and array.size:
            return [self._place(array, name)], True
        return (self._places(array, f"{name}s") if array.size else []), False

    @property
    def _storey(self) -> float:
        """Half of the least height between two floors."""
        heights = np.unique([level.plan.height for level in self.levels])
        return float(np.diff(heights).min()) / 2.0 if len(heights) > 1 else np.inf

    def _take_marks(self) -> _query_kernels.Marks:
        try:
            return self._marks.pop()
        except IndexError:
            count = self.num_regions
            return _query_kernels.Marks(np.zeros(count, np.int64), np.empty(count, np.int32), np.zeros(1, np.int64))

    def _region(self, region: int) -> int:
        return checks.node(region, "region", self.num_regions, "region", "the plan")

    def _place(self, point: ArrayLike, name: str) -> routes.RegionPlace:
        """Where a point stands."""
        checks.point3(point, name)
        return self._places(checks.floats(point, name)[None], name, single=True)[0]

    def _places(self, points: ArrayLike, name: str, *, single: bool = False) -> list[routes.RegionPlace]:
        """Where points stand."""
        where = checks.points3(points, name).copy()
        given = checks.floats(points, name)
        regions: NDArray[np.int32] = self.locate(given)
        off = np.flatnonzero(regions < 0)
        if len(off):
            text = _text.place(given[off[0]], self.frame.extent)
            raise OffMapError(f"{name if single else f'{name}[{off[0]}]'} ({text}) lies in no region of the plan")
        if not len(where):
            return []
        where[:, 2] = self.heights[regions]
        local = self.frame.local(where)
        touched = self._touching(local, regions)
        return [routes.RegionPlace(*row) for row in zip(where, local, touched, strict=True)]

    def _touching(self, local: NDArray[np.float64], regions: NDArray[np.int32]) -> list[NDArray[np.int32]]:
        """All regions that each local point (q, 3) touches, given one of them."""
        if not len(local):
            return []
        found = np.empty((len(local), int(np.diff(self.cells.bins).max())), np.int32)
        _query_kernels.touching(self.cells, self.region_levels, local, regions, self.near, found)
        return [row[row >= 0] for row in found]


_REACH = 5.0  # times the width of slits: regions farther from a change than this stay as they are
_ROUNDED = 2.0  # times the resolution: uniting regions and taking an obstacle out move a corner by 0.71 of it each


@overlaying()
def add(cut: Decomposition, obstacle: Any, level: int) -> list[int]:
    """See `Decomposition.add_obstacle`."""
    old = _level(cut, level)
    shape = polygons.check(obstacle, "obstacle")
    plan = old.plan.with_obstacle(shape)
    shape = polygons.thickened(polygons.moved(shape, _away(cut)), plan.resolution)
    regions = _regions(old)
    around = _within(regions, shape, _REACH * plan.slit)
    rest = shapely.difference(_united(cut, old, around), shape, grid_size=plan.resolution)
    # Where it nearly touches a wall it closes what is left between the two: that is part of it from here on.
    solid = polygons.united([shape, *_slits(rest, plan, shape)], plan.resolution)
    touched = around[_taken_from(regions[around], solid, plan.resolution)]
    rest = shapely.difference(_united(cut, old, touched), solid, grid_size=plan.resolution)
    return _replace(cut, level, plan, touched, rest)


@overlaying()
def remove(cut: Decomposition, number: int, level: int) -> list[int]:
    """See `Decomposition.remove_obstacle`."""
    old = _level(cut, level)
    plan = old.plan.without_obstacle(number)
    boundary, shape = (polygons.moved(shape, _away(cut)) for shape in (plan.boundary, old.plan.obstacles[number]))
    shape = polygons.thickened(shape, plan.resolution)
    others = np.array([polygons.moved(shape, _away(cut)) for shape in plan.obstacles], dtype=object)
    others = others[_within(others, shape, _REACH * plan.slit)]
    near = shapely.buffer(shape, _REACH * plan.slit)
    thin = polygons.thin_walls(others, plan.resolution, where=near)
    thin += polygons.thin_walls([boundary], plan.resolution, outside=True, where=near)
    others = polygons.united([*others, *thin], plan.resolution)

    def free_of(area: Any) -> Any:
        inside = polygons.areas(polygons.common(boundary, area, plan.resolution))
        return polygons.areas(shapely.difference(inside, others, grid_size=plan.resolution))

    freed = free_of(shape)
    touched, whole = np.empty(0, np.int64), freed
    if not freed.is_empty:
        # With it go the slits that it closed; those between others are closed again.
        around = free_of(shapely.buffer(freed, 2.0 * plan.slit, join_style="mitre"))
        touched = _within(_regions(old), freed, _REACH * plan.slit)
        whole = shapely.union_all([around, _united(cut, old, touched)], grid_size=plan.resolution)
        plugs = polygons.united(_slits(whole, plan, freed), plan.resolution)
        whole = shapely.difference(whole, plugs, grid_size=plan.resolution)
    return _replace(cut, level, plan, touched, whole)


def _within(shapes: NDArray[Any], shape: Any, distance: float) -> NDArray[np.int64]:
    """The numbers of shapes within a distance of another, lowest first."""
    if not len(shapes):
        return np.empty(0, np.int64)
    return np.sort(shapely.STRtree(shapes).query(shape, predicate="dwithin", distance=distance))


def _taken_from(regions: NDArray[Any], solid: Any, resolution: float) -> NDArray[np.bool_]:
    """Which regions an obstacle takes area from, or cuts through where they are no wider than rounding.

    Rounding lays its corners on walls that they touch: through a region that is that narrow there, not into others.
    """
    touched = np.asarray(shapely.area(polygons.common(regions, solid, resolution)) > 0.0)
    beside = np.flatnonzero(~touched & shapely.dwithin(regions, solid, _ROUNDED * resolution))
    if len(beside):
        around = shapely.buffer(solid, 2.0 * _ROUNDED * resolution, quad_segs=2)
        rest = polygons.without(regions[beside], around, resolution)
        touched[beside] = (shapely.get_num_geometries(rest) != 1) | shapely.is_empty(rest)
    return touched


def _united(cut: Decomposition, level: FloorLevel, numbers: NDArray[np.int64]) -> Any:
    """The union of regions of a level, with what rounding left between them."""
    rings = [level.rings[k] for k in numbers.tolist()]
    shapes = [*(Polygon(ring) for ring in rings), *gateways.gaps(rings, cut.border_rounding)]
    return shapely.union_all(shapes, grid_size=level.plan.resolution)


def _slits(space: Any, plan: FloorPlan, shape: Any) -> list[Any]:
    """What is too narrow to pass in a local space beside a shape, so that the plan with the shape has it closed."""
    local = polygons.clean(polygons.areas(space), plan.resolution)
    if local.is_empty:
        return []
    where = shapely.buffer(shape, (_REACH - 2.0) * plan.slit, join_style="mitre")
    return polygons.slits(local, plan.slit, plan.resolution, where)


def _away(cut: Decomposition) -> tuple[float, float]:
    """The way from the user's coordinates to local ones."""
    return -cut.frame.origin[0], -cut.frame.origin[1]


def _level(cut: Decomposition, level: int) -> FloorLevel:
    if isinstance(level, bool) or not isinstance(level, (int, np.integer)) or not 0 <= level < len(cut.levels):
        raise ParameterError(
            f"level must be the number of a floor from 0 to {len(cut.levels) - 1}, not {checks.shown(level)}"
        )
    return cut.levels[level]


def _regions(level: FloorLevel) -> NDArray[Any]:
    regions = np.empty(len(level.rings), dtype=object)
    regions[:] = [Polygon(ring) for ring in level.rings]
    return regions


def _without_specks(space: Any, length: float) -> Any:
    """A space without holes whose border is no longer than `length`: where three regions meet, rounding leaves them."""
    parts = shapely.get_parts(space)
    return shapely.MultiPolygon(
        [Polygon(part.exterior, [hole for hole in part.interiors if hole.length > length]) for part in parts]
    )


def _replace(cut: Decomposition, number: int, plan: FloorPlan, touched: NDArray[Any], space: Any) -> list[int]:
    """Put a plan in the place of a level's, with `space` cut anew in the place of the touched regions."""
    old = cut.levels[number]
    kept = np.setdiff1d(np.arange(len(old.rings)), touched)
    local = polygons.clean(_without_specks(polygons.areas(space), 16.0 * plan.resolution), plan.resolution)
    rings: list[Any] = []
    if not local.is_empty:
        rings = list(cut_free_space(polygons.FreeSpace(local, plan.resolution), cut.method, cut.options).rings())
    heights = np.concatenate([old.heights[kept], ground_heights(old, rings)])
    level = FloorLevel(plan, cut.frame, [old.rings[k] for k in kept] + rings, heights, old.is_floor, old.ground)
    levels = [*cut.levels[:number], level, *cut.levels[number + 1 :]]
    fresh = type(cut)._of_cut(
        levels, cut.frame, cut.method, cut.options, passages=cut.passages, slack=cut.slack, updated=True
    )
    known = cut.__dict__.get("information")
    if known is not None:
        fresh.information.attach(known.points, known.names)
    fresh._edit = cut._edit
    cut.__dict__ = fresh.__dict__  # all at once: queries that run see the old one
    first = sum(len(level.rings) for level in fresh.levels[:number])
    new = {id(ring) for ring in rings}
    return [first + k for k, ring in enumerate(fresh.levels[number].rings) if id(ring) in new]
