"""Decompositions in `.wayfold` files: their rings, the shapes of their plans, and what joins their levels."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold.core.schema import Array, Parts, Schema, Value
from wayfold.floorplan._build import Level, Passage, frame_of
from wayfold.floorplan.growth import Settings
from wayfold.floorplan.plan import METHODS, FloorPlan
from wayfold.geometry.frame import LARGEST, Frame

if TYPE_CHECKING:
    from wayfold.floorplan.decomposition import Decomposition

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
    Settings(**meta["options"])
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
        levels.append(Level(plan, frame, rings[first:last], arrays["heights"][first:last], floor, ground))
    passages = []
    for number, (floor, transition) in enumerate(arrays["passages"].tolist()):
        mouth = arrays["mouths"][slice(*arrays["passage_mouths"][number : number + 2])]
        passages.append(Passage(floor, transition, mouth if arrays["passage_limited"][number] else None))
    slack, updated = float(meta["slack"]), meta["updated"]
    return kind(levels, frame, meta["method"], meta["options"], passages=passages, slack=slack, updated=updated)


def _ends(sizes: list[int]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
