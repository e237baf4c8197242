"""What terrains are made from: checked regions, GeoJSON features, cells of rasters and maps, meshes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.core.interrupts import interruptible
from wayfold.errors import FormatError, GeometryError, ParameterError
from wayfold.formats import load_geojson, load_map
from wayfold.geometry.frame import LARGEST, Frame
from wayfold.geometry.polygon import overlaying
from wayfold.terrain.ground import Ground, resolution
from wayfold.terrain.subdivision import paint, triangulate, turns

Array = NDArray[np.float64]
AreaCells = tuple[NDArray[Any], tuple[str, ...], Array]


def check_weight(weight: Any, name: str) -> float:
    """A weight above 0; infinity is an obstacle."""
    return checks.rate(weight, name)


def name_of(weight: float) -> str:
    """The name of ground that was given none: its weight, in as many digits as no other weight has.

    >>> name_of(2.0), name_of(3.9502811), name_of(float("inf"))
    ('2', '3.9502811', 'inf')
    """
    short = f"{weight:g}"
    return short if float(short) == weight else repr(float(weight))


def check_regions(regions: Iterable[Sequence[Any]]) -> tuple[NDArray[Any], NDArray[np.int64], tuple[str, ...], Array]:
    """Polygons, the area that each belongs to, and the name and weight of each area."""
    shapes: list[Any] = []
    areas: list[int] = []
    names: dict[str, int] = {}
    weights: list[float] = []
    for number, region in enumerate(regions):
        if not isinstance(region, (tuple, list)) or len(region) not in (2, 3):
            raise ParameterError(f"region {number} must be (polygon, weight) or (polygon, weight, name)")
        shape = region[0]
        if getattr(shape, "geom_type", None) not in ("Polygon", "MultiPolygon"):
            raise ParameterError(
                f"region {number} must have a shapely Polygon or MultiPolygon, not {type(shape).__name__}"
            )
        weight = check_weight(region[1], f"the weight of region {number}")
        named = len(region) == 3 and region[2] is not None
        name = checks.text(region[2], f"the name of region {number}") if named else name_of(weight)
        if not np.isfinite(shapely.get_coordinates(shape)).all():
            raise GeometryError(f"region {number} has a coordinate that is not finite")
        if not (np.abs(shapely.get_coordinates(shape)) <= LARGEST).all():
            raise GeometryError(f"region {number} has a coordinate beyond {LARGEST:g}: use a nearer origin")
        if not shape.is_valid:
            raise GeometryError(f"region {number} is not a valid polygon: {shapely.is_valid_reason(shape)}")
        if not shape.area > 0:
            raise GeometryError(f"region {number} has no area")
        area = names.setdefault(name, len(names))
        if area == len(weights):
            weights.append(weight)
        elif weights[area] != weight:
            raise ParameterError(
                f"region {number} gives {checks.shown(name)} the weight {weight:g}, an earlier one {weights[area]:g}: "
                "use another name"
            )
        for part in shapely.get_parts(shape):
            shapes.append(shapely.force_2d(part))
            areas.append(area)
    if not shapes:
        raise ParameterError("a terrain needs at least one region")
    return np.array(shapes, object), np.array(areas), tuple(names), np.array(weights)


def check_layers(polygons: Sequence[Any]) -> NDArray[Any]:
    """Polygons to paint with, each whole; refused as regions are."""
    shapes = np.empty(len(polygons), object)
    shapes[:] = polygons
    known = [getattr(shape, "geom_type", None) in ("Polygon", "MultiPolygon") for shape in polygons]
    # All at once, and one by one only to say which is wrong.
    fine = all(known) and bool((np.abs(shapely.get_coordinates(shapes)) <= LARGEST).all())
    if not (fine and shapely.is_valid(shapes).all() and (shapely.area(shapes) > 0).all()):
        check_regions([(shape, 1.0) for shape in polygons])
    return np.asarray(shapely.force_2d(shapes))


def check_bounds(bounds: Sequence[float] | None, shapes: NDArray[Any]) -> tuple[float, float, float, float]:
    """The map's rectangle: the one given, or the box around all shapes."""
    if bounds is None:
        low_x, low_y, high_x, high_y = (float(value) for value in shapely.total_bounds(shapes))
    else:
        corners = checks.floats(bounds, "bounds", "(x0, y0, x1, y1)")
        if corners.shape != (4,):
            raise ParameterError(f"bounds must be (x0, y0, x1, y1), not {checks.shown(bounds)}")
        low_x, low_y, high_x, high_y = (
            checks.number(value, "bounds", low=-LARGEST, high=LARGEST) for value in corners.tolist()
        )
    if not (low_x < high_x and low_y < high_y):
        raise ParameterError(f"bounds must enclose an area, not {(low_x, low_y, high_x, high_y)}")
    return low_x, low_y, high_x, high_y


def moved(shapes: Sequence[Any] | NDArray[Any], frame: Frame) -> NDArray[Any]:
    """Shapes in the coordinates of a frame."""
    return np.asarray(shapely.transform(np.array(shapes, object), frame.local))


@interruptible
@overlaying()
def painted_ground(
    shapes: NDArray[Any], bounds: tuple[float, float, float, float] | None
) -> tuple[Ground, NDArray[np.int32]]:
    """The ground of painted shapes, and the number of the topmost shape (-1 for none) of each triangle."""
    corners = [] if bounds is None else [bounds[:2], bounds[2:]]
    frame = Frame.of(np.concatenate([shapely.get_coordinates(shapes), np.reshape(corners, (-1, 2))]))
    box = None
    if bounds is not None:
        (x0, y0), (x1, y1) = frame.local(np.array(corners)).tolist()
        box = x0, y0, x1, y1
    vertices, triangles, owners = paint(moved(shapes, frame), box, resolution(frame))
    return Ground(vertices, triangles, frame), owners


def geojson_regions(
    file: str | os.PathLike[str], weight: str, name: str, weights: Mapping[str, float]
) -> list[tuple[Any, float, str | None]]:
    """Regions from the features of a GeoJSON file."""
    regions = []
    for number, feature in enumerate(load_geojson(file)):
        label = feature.properties.get(name)
        if weight in feature.properties:
            value = feature.properties[weight]
            value = np.inf if value is None else value
        elif isinstance(label, str) and label in weights:
            value = weights[label]
        else:
            raise FormatError(
                f"polygon {number} has no property {weight!r}, and no weight is given for {label!r}", file
            )
        if isinstance(value, (bool, str)):
            raise FormatError(f"polygon {number}: the property {weight!r} must be a number, not {value!r}", file)
        regions.append((feature.polygon, check_weight(value, f"{file}: the weight of polygon {number}"), label))
    return regions


def check_raster(weights: ArrayLike) -> Array:
    """A (rows, columns) array of weights above 0."""
    array = checks.floats(weights, "weights", "numbers of shape (rows, columns)")
    if array.ndim != 2 or not array.size:
        raise ParameterError(f"weights must have shape (rows, columns) with at least one cell, not {array.shape}")
    bad = ~((array > 0) & ((array <= checks.MOST_RATE) | (array == np.inf)))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ParameterError(
            f"the weight of cell ({row}, {column}) must be above 0 and at most {checks.MOST_RATE:g} "
            f"(infinity for an obstacle), not {array[row, column]}"
        )
    return array


def movingai_cells(file: str | os.PathLike[str], weights: Mapping[str, float]) -> AreaCells:
    """Kinds of the cells of a MovingAI map, with the letters as names."""
    world = load_map(file)
    letters, cells = np.unique(world.cells, return_inverse=True)
    names = tuple(chr(letter) for letter in letters)
    if world.weighted:
        usual = {chr(ord("A") + k): 1.0 + k for k in range(26)} | {".": 1.0, "T": np.inf, "@": np.inf}
    else:
        usual = {".": 1.0, "G": 1.0, "S": 1.0, "W": 4.0}
    for name in weights:
        if not isinstance(name, str) or name not in names:
            raise ParameterError(f"the map has no cells {checks.shown(name)}: it has {' '.join(names)}")
    values = [check_weight(weights.get(name, usual.get(name, np.inf)), f"weight of {name!r}") for name in names]
    return cells.reshape(world.cells.shape), names, np.array(values)


def height_cells(
    heights: ArrayLike,
    cover: ArrayLike,
    weights: Mapping[int, float] | Sequence[float],
    cell: float,
    names: Sequence[str] | None,
    steepest: float,
    water: float | None,
    slope_classes: int,
) -> AreaCells:
    """Kinds of cells by land cover and slope."""
    areas = checks.numbers(cover, "cover", "whole numbers from 0 on, of shape (rows, columns)")
    if areas.ndim != 2 or not areas.size or areas.dtype.kind not in "iu" or not 0 <= areas.min() <= areas.max() < 2**31:
        raise ParameterError("cover must be whole numbers from 0 on, of shape (rows, columns)")
    if not isinstance(weights, Mapping):
        given = checks.floats(weights, "weights", "a mapping or a list of weights by land cover")
        if given.ndim != 1:
            raise ParameterError("weights must be a mapping or a list of weights by land cover")
        weights = dict(enumerate(given.tolist()))
    z = checks.floats(heights, "heights")
    if z.shape != (areas.shape[0] + 1, areas.shape[1] + 1) or not (np.abs(z) <= LARGEST).all():
        raise ParameterError(
            f"heights must be finite, of shape {(areas.shape[0] + 1, areas.shape[1] + 1)}, not {z.shape}"
        )
    side = checks.number(cell, "cell", low=checks.SMALLEST, high=checks.LARGEST)
    limit = checks.number(steepest, "steepest", low=0.0, high=90.0)
    classes = checks.whole(slope_classes, "slope_classes", low=1, high=32)
    east = (z[:-1, 1:] + z[1:, 1:] - z[:-1, :-1] - z[1:, :-1]) / (2 * side)
    north = (z[1:, :-1] + z[1:, 1:] - z[:-1, :-1] - z[:-1, 1:]) / (2 * side)
    stretch = np.sqrt(1 + east * east + north * north)
    most = 1 / np.cos(np.radians(min(limit, 89.9)))
    step = np.clip(np.round((stretch - 1) / (most - 1 + 1e-12) * classes).astype(int), 0, classes)
    factor = 1 + np.arange(classes + 1) / classes * (most - 1)
    blocked = stretch > most
    if water is not None:
        middle = (z[:-1, :-1] + z[1:, :-1] + z[:-1, 1:] + z[1:, 1:]) / 4
        blocked |= middle < checks.number(water, "water")
    used, number = np.unique(np.where(blocked, -1, areas.astype(np.int64) * (classes + 1) + step), return_inverse=True)
    labels, values = [], []
    for code in used:
        if code < 0:
            labels.append("blocked")
            values.append(np.inf)
            continue
        area, slope = divmod(int(code), classes + 1)
        try:
            weight = weights[area]
        except (KeyError, IndexError):
            raise ParameterError(f"there is no weight for land cover {area}") from None
        if names is not None and area >= len(names):
            raise ParameterError(f"there is no name for land cover {area}")
        label = f"cover {area}" if names is None else checks.text(names[area], f"the name of land cover {area}")
        labels.append(f"{label}, slope {slope}" if slope else label)
        values.append(check_weight(weight, f"weight of {label!r}") * factor[slope])
    return number.reshape(areas.shape), tuple(labels), np.array(values)


@interruptible
@overlaying()
def triangulate_cells(
    cells: NDArray[Any], side: float, origin: tuple[float, float]
) -> tuple[Ground, NDArray[np.int32]]:
    """The ground of the areas of like cells, with corners only where their outlines turn or meet; and their kinds."""
    rows, columns = cells.shape
    corner_x, corner_y = (checks.number(value, "origin") for value in origin)
    if max(abs(corner_x), abs(corner_y)) + max(rows, columns) * side > LARGEST:
        raise ParameterError(f"the cells reach beyond {LARGEST:g}: use smaller cells or a nearer origin")
    framed = np.full((rows + 2, columns + 2), -1, np.int64)
    framed[1:-1, 1:-1] = cells
    across = framed[1:, 1:-1] != framed[:-1, 1:-1]  # (rows + 1, columns): a border below cell row r
    along = framed[1:-1, 1:] != framed[1:-1, :-1]  # (rows, columns + 1): a border left of column c
    level = np.zeros((rows + 1, columns + 2), np.bool_)
    level[:, 1:-1] = across
    upright = np.zeros((rows + 2, columns + 1), np.bool_)
    upright[1:-1] = along
    # A lattice point is a corner unless its outline goes straight through it.
    west, east = level[:, :-1], level[:, 1:]
    south, north = upright[:-1], upright[1:]
    corner = (west | east | south | north) & ~((west & east & ~south & ~north) | (south & north & ~west & ~east))
    segments = [*_runs(across, corner, False), *_runs(along.T, corner.T, True)]
    lines = shapely.linestrings(np.concatenate(segments))

    found = triangulate(shapely.multilinestrings(lines))
    column, row = found.places.astype(int).T
    areas = cells[np.clip(row, 0, rows - 1), np.clip(column, 0, columns - 1)].astype(np.int32)
    frame = Frame((corner_x, corner_y, 0.0), max(rows, columns) * side)
    return Ground(np.ascontiguousarray(found.vertices * side), found.triangles, frame), areas[found.face]


def _runs(border: NDArray[np.bool_], corner: NDArray[np.bool_], turned: bool) -> list[Array]:
    """Straight runs of border between corners, each as two lattice points (x, y), (y, x) when `turned`."""
    found = []
    for line in np.flatnonzero(border.any(axis=1)):
        edge, stop = border[line], corner[line]
        begins = np.flatnonzero(edge & (stop[:-1] | ~np.append(False, edge[:-1])))
        ends = np.flatnonzero(edge & (stop[1:] | ~np.append(edge[1:], False))) + 1
        ends_of = np.stack([begins, ends], axis=1).astype(float)
        level = np.full_like(ends_of, float(line))
        found.append(np.stack([level, ends_of] if turned else [ends_of, level], axis=-1))
    return found


@interruptible
@overlaying()
def mesh_regions(
    mesh: Any, weights: Mapping[str, float] | Sequence[float], default: float
) -> tuple[NDArray[Any], NDArray[Any], tuple[str, ...], Array]:
    """Triangles of a mesh seen from above as polygons, and their materials with weights."""
    usual = check_weight(default, "default")
    materials = np.zeros(len(mesh), np.int32) if mesh.materials is None else mesh.materials
    count = int(materials.max()) + 1
    names = [*mesh.material_names[:count], *(f"material {k}" for k in range(len(mesh.material_names), count))]
    if isinstance(weights, Mapping):
        unknown = [name for name in weights if name not in names]
        if unknown:
            raise ParameterError(
                f"the mesh has no material {checks.shown(unknown[0])}: choose from {', '.join(names[:20])}"
            )
        given = [weights.get(name, usual) for name in names]
    else:
        checks.several(weights, "weights")
        given = [*weights, *([usual] * count)][:count]
    values = np.array([check_weight(weight, f"weight of {name!r}") for name, weight in zip(names, given, strict=True)])
    flat = np.ascontiguousarray(mesh.vertices[:, :2], np.float64)
    if not (np.abs(flat) <= LARGEST).all():
        raise GeometryError(f"the mesh has a coordinate beyond {LARGEST:g}: use a nearer origin")
    real = turns(flat, mesh.triangles.astype(np.int32)) != 0
    corners = flat[mesh.triangles]
    if not real.any():
        raise GeometryError("no triangle of the mesh has an area seen from above")
    rings = corners[real][:, [0, 1, 2, 0]]
    return shapely.polygons(rings), materials[real], tuple(names), values
