from __future__ import annotations

import json

import pytest
from shapely import Polygon

from tests.formats import samples
from wayfold.errors import FormatError, GeometryError, ParameterError
from wayfold.formats import load_geojson, save_geojson

SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]


def write(folder, tree):
    file = folder / "a.geojson"
    file.write_text(json.dumps(tree))
    return file


def test_polygons_are_split_and_keep_their_holes_and_properties(tmp_path):
    file = tmp_path / "a.geojson"
    file.write_bytes(samples.geojson())
    features = load_geojson(file)
    assert [feature.polygon.area for feature in features] == [15.0, 1.0, 4.0]
    assert [feature.properties["weight"] for feature in features] == [0, 1, 1]
    assert len(features[0].polygon.interiors) == 1


def test_a_feature_a_bare_geometry_and_a_collection_load(tmp_path):
    polygon = {"type": "Polygon", "coordinates": [[[*p, 9.5] for p in SQUARE]]}
    trees = (
        polygon,
        {"type": "Feature", "geometry": polygon, "properties": None},
        {"type": "GeometryCollection", "geometries": [{"type": "GeometryCollection", "geometries": [polygon]}]},
    )
    for tree in trees:
        (feature,) = load_geojson(write(tmp_path, tree))
        assert feature.polygon.equals(Polygon(SQUARE))
        assert not feature.polygon.has_z
        assert feature.properties == {}


def collection(coordinates):
    good = {"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [SQUARE]}}
    bad = {"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": coordinates}}
    return {"type": "FeatureCollection", "features": [good, bad]}


@pytest.mark.parametrize(
    ("coordinates", "error", "what"),
    [
        ([SQUARE[:-1]], FormatError, "not closed"),
        ([[[0, 0], [1, 1], [0, 0]]], FormatError, "four positions"),
        ([[[0, 0], [4, 4], [4, 0], [0, 4], [0, 0]]], GeometryError, "not valid"),
        ([[[0, 0], [1, 0], [2, 0], [0, 0]]], GeometryError, "not valid|no area"),
        ([[[0, 0], [4], [4, 4], [0, 0]]], FormatError, "two numbers"),
        ([[[0, 0], [4, "1"], [4, 4], [0, 0]]], FormatError, "not a number"),
        ([[[0, 0], [4, True], [4, 4], [0, 0]]], FormatError, "not a number"),
        ([[[0, 0], [4, 10**400], [4, 4], [0, 0]]], FormatError, "not finite"),
        ([SQUARE, [[9, 9], [9, 10], [10, 10], [9, 9]]], GeometryError, "Hole"),
        ({}, FormatError, "not a list"),
    ],
)
def test_a_wrong_polygon_is_refused_with_file_and_feature(tmp_path, coordinates, error, what):
    file = write(tmp_path, collection(coordinates))
    with pytest.raises(error, match=what) as caught:
        load_geojson(file)
    assert str(file) in str(caught.value)
    assert "feature 1" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        "[" * 100_000,
        '{"type": ',
        '{"type": "Pentagon"}',
        '{"type": "FeatureCollection"}',
        '{"type": "FeatureCollection", "features": []}',
        '{"type": "FeatureCollection", "features": [3]}',
        '{"type": "Feature", "geometry": null}',
        '{"type": "Feature", "geometry": null, "properties": [1]}',
        '{"type": "Polygon", "coordinates": [[[NaN, 0], [1, 0], [1, 1], [NaN, 0]]]}',
    ],
)
def test_what_holds_no_polygon_is_refused(tmp_path, text):
    file = tmp_path / "a.geojson"
    file.write_text(text)
    with pytest.raises(FormatError) as caught:
        load_geojson(file)
    assert caught.value.file == str(file)


def test_saved_polygons_load_as_they_were(tmp_path):
    file = tmp_path / "a.geojson"
    file.write_bytes(samples.geojson())
    features = load_geojson(file)
    save_geojson(features, tmp_path / "b.geojson")
    again = load_geojson(tmp_path / "b.geojson")
    assert all(a.polygon.equals(b.polygon) for a, b in zip(features, again, strict=True))
    assert [feature.properties for feature in again] == [feature.properties for feature in features]


def test_what_json_cannot_hold_is_not_written(tmp_path):
    for feature in ((Polygon(SQUARE), {"a": object()}), (Polygon(), {}), (Polygon(SQUARE), {"a": float("nan")})):
        with pytest.raises(ParameterError):
            save_geojson([feature], tmp_path / "a.geojson")
    assert list(tmp_path.iterdir()) == []
