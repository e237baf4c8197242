"""Read and write polygons with properties as GeoJSON (RFC 7946)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from wayfold.core import checks
from wayfold.core.archive import File, replacing
from wayfold.core.checks import LARGEST
from wayfold.errors import FormatError, GeometryError, ParameterError
from wayfold.formats.text import parse_json, read_bytes

if TYPE_CHECKING:
    from shapely import Polygon

_NO_AREA = ("Point", "MultiPoint", "LineString", "MultiLineString")
_MAX_DEPTH = 32  # collections within collections


class Feature(NamedTuple):
    """A polygon and its properties, as `load_geojson` reads them.

    >>> from shapely import box
    >>> pond = Feature(box(0, 0, 4, 3), {"name": "pond", "weight": 10})
    >>> pond.polygon.area, pond.properties["weight"]
    (12.0, 10)
    """

    polygon: Polygon
    """A valid shapely polygon, possibly with holes; altitudes are dropped."""
    properties: dict[str, Any]


@checks.checked
def load_geojson(file: File) -> list[Feature]:
    """Read the polygons of a GeoJSON file.

    Parameters
    ----------
    file : path
        A FeatureCollection, a Feature or a bare geometry. A MultiPolygon and a GeometryCollection give one `Feature`
        for each polygon, all with the same properties. Points and lines, which have no area, are left out.
        Coordinates are taken as they are (longitude and latitude are not projected).

    Raises
    ------
    FormatError
        When the file is not GeoJSON or has no polygon, a ring is open or too short, or a coordinate is not a number or
        exceeds 1e12. The message gives the number of the feature, from 0.
    GeometryError
        When a polygon crosses itself or has no area, with file and feature.

    Examples
    --------
    >>> from shapely import box
    >>> save_geojson([(box(0, 0, 4, 3), {"name": "pond"}), (box(4, 0, 9, 3), {"name": "lawn"})], "park.geojson")
    >>> {feature.properties["name"]: feature.polygon.area for feature in load_geojson("park.geojson")}
    {'pond': 12.0, 'lawn': 15.0}
    """
    tree = parse_json(file, read_bytes(file))
    if not isinstance(tree, dict):
        raise FormatError("GeoJSON must be a JSON object, not a list or a number", file)
    features: list[Any] = [tree]
    if tree.get("type") == "FeatureCollection":
        features = _list(file, "the FeatureCollection", tree.get("features"), "features")
    loaded = []
    for number, feature in enumerate(features):
        where = f"feature {number}"
        geometry: Any = feature
        properties: Any = {}
        if isinstance(feature, dict) and feature.get("type") == "Feature":
            geometry, properties = feature.get("geometry"), feature.get("properties") or {}
        elif feature is not tree:
            raise FormatError(f"{where} is not a Feature", file)
        if not isinstance(properties, dict):
            raise FormatError(f"{where}: properties is not a JSON object", file)
        loaded += [Feature(polygon, properties) for polygon in _polygons(file, where, geometry)]
    if not loaded:
        raise FormatError("the file has no polygon", file)
    return loaded


@checks.checked
def save_geojson(features: Iterable[Feature | tuple[Polygon, dict[str, Any]]], file: File) -> None:
    """Write polygons as a FeatureCollection; coordinates keep every digit.

    Raises
    ------
    ParameterError
        When a property is not a JSON value, or a polygon is empty.
    FormatError
        When the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from shapely import box
    >>> save_geojson([(box(0, 0, 4, 3), {"name": "pond"})], "park.geojson")
    >>> json.loads(Path("park.geojson").read_text())["features"][0]["properties"]
    {'name': 'pond'}
    """
    from shapely.geometry import mapping
    from shapely.geometry.polygon import orient

    parts = []
    for number, feature in enumerate(features):
        if not isinstance(feature, (tuple, list)) or len(feature) != 2:
            raise ParameterError(f"feature {number} must be (polygon, properties), not {checks.shown(feature)}")
        polygon, properties = feature
        if getattr(polygon, "geom_type", None) != "Polygon" or polygon.is_empty:
            raise ParameterError(f"feature {number} must have a polygon that is not empty, not {checks.shown(polygon)}")
        parts.append({"type": "Feature", "properties": properties, "geometry": mapping(orient(polygon))})
    try:
        text = json.dumps({"type": "FeatureCollection", "features": parts}, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"properties must be JSON values: {str(error)[:100]}") from None
    with replacing(file) as handle:
        handle.write(text.encode())


def _polygons(file: File, where: str, geometry: Any, depth: int = 0) -> Iterator[Polygon]:
    """All polygons of a geometry."""
    if geometry is None:
        return  # a feature without a place, which the specification allows
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind == "GeometryCollection" and depth < _MAX_DEPTH:
        for part in _list(file, where, geometry.get("geometries"), "geometries"):
            yield from _polygons(file, where, part, depth + 1)
    elif kind == "MultiPolygon":
        for rings in _list(file, where, geometry.get("coordinates"), "coordinates"):
            yield _polygon(file, where, rings)
    elif kind == "Polygon":
        if geometry.get("coordinates") != []:  # an empty list is "no place" too
            yield _polygon(file, where, geometry.get("coordinates"))
    elif kind not in _NO_AREA:
        raise FormatError(f"{where} has a geometry of unknown type {str(kind)[:40]!r}", file)


def _polygon(file: File, where: str, rings: Any) -> Polygon:
    import shapely

    parts = [_ring(file, where, ring) for ring in _list(file, where, rings, "rings")]
    if not parts:
        raise FormatError(f"{where}: the polygon has no rings", file)
    try:
        polygon = shapely.Polygon(parts[0], parts[1:])
    except shapely.errors.ShapelyError as error:
        raise FormatError(f"{where}: {str(error)[:200]}", file) from None
    if not polygon.is_valid:
        raise GeometryError(f"{file}: {where}: the polygon is not valid: {shapely.is_valid_reason(polygon)}")
    if not polygon.area > 0:
        raise GeometryError(f"{file}: {where}: the polygon has no area")
    return polygon


def _ring(file: File, where: str, positions: Any) -> list[tuple[float, float]]:
    ring = []
    for position in _list(file, where, positions, "positions"):
        if not isinstance(position, list) or len(position) < 2:
            raise FormatError(f"{where}: a position must be a list of at least two numbers", file)
        if any(type(value) not in (int, float) for value in position):
            raise FormatError(f"{where}: a coordinate is not a number", file)
        try:
            x, y = float(position[0]), float(position[1])
        except OverflowError:
            x = y = math.inf
        if not (abs(x) <= LARGEST and abs(y) <= LARGEST):
            raise FormatError(f"{where}: a coordinate is larger than {LARGEST:g} or not finite", file)
        ring.append((x, y))
    if len(ring) < 4:
        raise FormatError(f"{where}: a ring must have at least four positions, not {len(ring)}", file)
    if ring[0] != ring[-1]:
        raise FormatError(f"{where}: a ring is not closed; repeat its first position at the end", file)
    return ring


def _list(file: File, where: str, value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError(f"{where}: {name} is not a list", file)
    return value
