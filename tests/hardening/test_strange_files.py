"""Files that are no files, names that are no names, and files that many threads read at once."""

from __future__ import annotations

import ast
import base64
import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest

import wayfold
from wayfold import FloorPlan, Graph, NavMesh, SparseGrid, Terrain, World, formats
from wayfold.errors import FormatError, ParameterError

READERS = {
    "load_mesh": (formats.load_mesh, "a.obj"),
    "load_map": (formats.load_map, "a.map"),
    "load_map3d": (formats.load_map3d, "a.3dmap"),
    "load_scen": (formats.load_scen, "a.map.scen"),
    "load_scen3d": (formats.load_scen3d, "a.3dscen"),
    "load_bsp": (formats.load_bsp, "a.bsp"),
    "load_cityjson": (formats.load_cityjson, "a.city.json"),
    "load_geojson": (formats.load_geojson, "a.geojson"),
    "NavMesh.read": (NavMesh.read, "a.mesh"),
    "Terrain.from_geojson": (Terrain.from_geojson, "a.geojson"),
    "FloorPlan.from_movingai": (FloorPlan.from_movingai, "a.map"),
    "SparseGrid.from_movingai": (SparseGrid.from_movingai, "a.map"),
    "World.open": (World.open, "a.obj"),
    "wayfold.load": (wayfold.load, "a.wayfold"),
}


def at_once(call, seconds=30.0):
    """What a call gives or raises; fails when it waits for something that never comes."""
    got = []

    def run():
        try:
            got.append(call())
        except BaseException as error:
            got.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert got, "it waits"
    return got[0]


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_or_a_device_is_no_level(reader, tmp_path):
    read, name = READERS[reader]
    os.mkfifo(tmp_path / name)
    error = at_once(lambda: read(tmp_path / name))
    assert isinstance(error, FormatError)
    assert "regular file" in str(error)
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    assert isinstance(at_once(lambda: read(tmp_path / name)), FormatError)


@pytest.mark.parametrize("reader", READERS)
def test_a_name_that_the_system_cannot_write_is_refused(reader):
    read, _ = READERS[reader]
    with pytest.raises(ParameterError, match="cannot name a file"):
        read("level\ud800.obj")


def gltf(folder, buffer_name=None):
    """A triangle with a texture; its buffer lies in the file, or in one of its own."""
    content = np.array([[0, 0, 0], [20, 0, 0], [0, 0, -20]], "f4").tobytes()
    content += np.array([0, 1, 2], "u2").tobytes() + b"\0\0"
    uri = buffer_name or "data:application/octet-stream;base64," + base64.b64encode(content).decode()
    if buffer_name:
        (folder / buffer_name).write_bytes(content)
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
        "images": [{"uri": "texture.png"}],
        "textures": [{"source": 0}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        "buffers": [{"byteLength": len(content), "uri": uri}],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 36},
            {"buffer": 0, "byteOffset": 36, "byteLength": 6},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"},
        ],
    }
    (folder / "a.gltf").write_text(json.dumps(tree))
    return folder / "a.gltf"


def test_textures_of_a_gltf_file_are_not_opened(tmp_path):
    os.mkfifo(tmp_path / "texture.png")
    assert len(at_once(lambda: formats.load_mesh(gltf(tmp_path)))) == 1


def test_buffers_of_a_gltf_file_are_opened_where_they_are_files(tmp_path):
    file = gltf(tmp_path, "shape.bin")
    assert len(formats.load_mesh(file)) == 1
    (tmp_path / "shape.bin").unlink()
    os.mkfifo(tmp_path / "shape.bin")
    assert isinstance(at_once(lambda: formats.load_mesh(file)), FormatError)


def test_reading_an_archive_needs_no_parser_that_threads_share(tmp_path, monkeypatch):
    graph = Graph.from_edges([(0, 0), (1, 0), (2, 0)], [(0, 1), (1, 2)])
    graph.save(tmp_path / "a.wayfold")

    def fails(*_, **__):
        raise SystemError("AST constructor recursion depth mismatch")

    monkeypatch.setattr(ast, "parse", fails)
    monkeypatch.setattr(ast, "literal_eval", fails)
    assert wayfold.load(tmp_path / "a.wayfold").num_nodes == 3


@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (2, 1, 4)])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "float64", "U7"])
def test_arrays_of_every_shape_and_dtype_come_back(shape, dtype, tmp_path):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    formats.write_archive(tmp_path / "a.wayfold", "test", {"array": array}, {})
    back = formats.read_archive(tmp_path / "a.wayfold").arrays["array"]
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert (back == array).all()


def test_time_is_no_number_and_a_path_of_a_file_no_way(tmp_path):
    odd = np.timedelta64(1, "s")
    for call in (
        lambda: wayfold.Agent(radius=odd),
        lambda: Graph.from_edges([(0, 0), (1, 0)], [(0, 1)]).path(0, odd),
        lambda: SparseGrid(sector_size=odd),
        lambda: wayfold.Agent(height=np.ma.masked),
        lambda: FloorPlan(memoryview(np.zeros((4, 2))), memoryview(np.zeros((2, 2)))),
    ):
        with pytest.raises(ParameterError):
            call()
    world = World.sample("rooms", cache=False)
    with pytest.raises(ParameterError, match="tile_size must be a whole number of at most 64 bits"):
        world.planner(tile_size=10**5000)
    with pytest.raises(ParameterError, match="path must be a Path"):
        world.planner().drape(Path("level.obj"))
