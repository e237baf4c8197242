from __future__ import annotations

import json

import numpy as np
import pytest

from tests.formats import samples
from wayfold.errors import FormatError, VersionError
from wayfold.formats import load_cityjson, load_mesh


def write(folder, change=None):
    tree = json.loads(samples.cityjson())
    if change is not None:
        change(tree)
    file = folder / "a.city.json"
    file.write_text(json.dumps(tree))
    return file


def area(mesh, name):
    return mesh.areas[mesh.materials == mesh.material_names.index(name)].sum()


def test_surfaces_are_cut_with_holes_and_named_by_semantics_or_object(tmp_path):
    mesh = load_cityjson(write(tmp_path))
    assert set(mesh.material_names) == {"Road", "Building", "WallSurface", "RoofSurface"}
    assert area(mesh, "Road") == pytest.approx(96)
    assert area(mesh, "RoofSurface") == pytest.approx(6)
    assert area(mesh, "WallSurface") == pytest.approx(50)
    assert area(mesh, "Building") == pytest.approx(6)
    assert (mesh.normals[mesh.materials == mesh.material_names.index("Road"), 2] > 0).all()


def test_vertices_plus_origin_are_the_coordinates_of_the_file(tmp_path):
    mesh = load_cityjson(write(tmp_path))
    assert mesh.origin.tolist() == [84000, 447000, 0]
    np.testing.assert_allclose(
        mesh.bounds + mesh.origin, [[84000.25, 447000.5, -1], [84022.25, 447010.5, 4]], atol=1e-6
    )


def test_one_level_of_detail_can_be_chosen(tmp_path):
    mesh = load_cityjson(write(tmp_path), lod="0")
    assert len(mesh) == 1
    with pytest.raises(FormatError, match="level of detail 9"):
        load_cityjson(write(tmp_path), lod="9")


def test_load_mesh_reads_cityjson(tmp_path):
    file = write(tmp_path)
    assert load_mesh(file).triangles.tolist() == load_cityjson(file).triangles.tolist()


def test_templates_are_placed_by_their_matrix(tmp_path):
    def change(tree):
        quads = [[list(quad)] for quad in samples.CUBE_QUADS]
        shape = {"type": "MultiSurface", "lod": "2", "boundaries": quads}
        tree["geometry-templates"] = {
            "templates": [shape],
            "vertices-templates": [list(p) for p in samples.CUBE_POINTS],
        }
        matrix = [2, 0, 0, 1, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1]
        instance = {"type": "GeometryInstance", "template": 0, "boundaries": [0], "transformationMatrix": matrix}
        tree["CityObjects"] = {"tree": {"type": "SolitaryVegetationObject", "geometry": [instance]}}

    mesh = load_cityjson(write(tmp_path, change))
    assert mesh.material_names == ("SolitaryVegetationObject",)
    np.testing.assert_allclose(
        mesh.bounds + mesh.origin, [[84001.25, 447000.5, -1], [84005.25, 447006.5, 9]], atol=1e-6
    )


def test_a_file_without_transform_has_plain_coordinates(tmp_path):
    def change(tree):
        tree["version"] = "1.0"
        del tree["transform"]
        tree["vertices"] = [[x / 1000, y / 1000, z / 1000] for x, y, z in tree["vertices"]]

    assert load_cityjson(write(tmp_path, change)).bounds.tolist() == [[0, 0, 0], [22, 10, 5]]


def replace(*path):
    def change(tree):
        node = tree
        for key in path[:-2]:
            node = node[key]
        node[path[-2]] = path[-1]

    return change


FLOOR = ("CityObjects", "floor", "geometry", 0)


@pytest.mark.parametrize(
    "change",
    [
        replace("type", "FeatureCollection"),
        replace("vertices", [[1, 2], [3, 4]]),
        replace("vertices", "all"),
        replace("vertices", [[1e308 * 10, 0, 0]] * 99),
        replace("transform", {"scale": [1, 2, 3]}),
        replace("transform", {"scale": [1e308] * 3, "translate": [0] * 3}),
        replace("CityObjects", []),
        replace("CityObjects", {}),
        replace("CityObjects", "floor", None),
        replace(*FLOOR, "type", "Klein bottle"),
        replace(*FLOOR, "boundaries", [[[0, 1, 99]]]),
        replace(*FLOOR, "boundaries", [[[0, 1, -1]]]),
        replace(*FLOOR, "boundaries", [[[0, 1, 2.5]]]),
        replace(*FLOOR, "boundaries", [[[0, 1]]]),
        replace(*FLOOR, "boundaries", [[]]),
        replace(*FLOOR, "boundaries", 7),
        replace(*FLOOR, "semantics", {"surfaces": [], "values": [4]}),
        replace(*FLOOR, "type", "GeometryInstance"),
    ],
)
def test_a_damaged_city_is_refused(tmp_path, change):
    file = write(tmp_path, change)
    with pytest.raises(FormatError) as caught:
        load_cityjson(file)
    assert caught.value.file == str(file)


def test_another_version_is_refused_as_such(tmp_path):
    with pytest.raises(VersionError, match=r"3\.0"):
        load_cityjson(write(tmp_path, replace("version", "3.0")))


@pytest.mark.data
def test_the_real_quarter_of_delft_loads_at_a_local_origin(data):
    mesh = load_cityjson(data / "city" / "delft.city.json")
    assert len(mesh) == 36_271
    assert mesh.origin.tolist() == [84616, 447422, 0]
    assert (mesh.bounds[0] >= [0, 0, -1]).all()
    assert (mesh.bounds[1] <= [530, 330, 20]).all()
    assert {"Building", "Road", "WaterBody"} < set(mesh.material_names)
