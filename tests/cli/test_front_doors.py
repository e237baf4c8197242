"""What one command opens every command opens, or says in one sentence why it cannot serve."""

from __future__ import annotations

import json

import pytest

from tests.formats import samples
from tests.formats.test_opening import CONTENTS
from wayfold import Graph, World, cli, formats
from wayfold.errors import WayfoldError
from wayfold.view.viewer import page, session

KINDS = {
    "obj": "triangle mesh", "ply": "triangle mesh", "stl": "triangle mesh", "glb": "triangle mesh",
    "gltf": "triangle mesh", "bsp": "Quake 3 level", "cityjson": "CityJSON", "geojson": "GeoJSON polygons",
    "map": "dense grid", "3dmap": "voxel map", "scen": "scenarios", "3dscen": "scenarios",
    "mesh": "navigation mesh", "wayfold": "graph",
}  # fmt: skip
"""What `info` says of every kind of file."""
WORLDS = {"geojson": "terrain", "map": "cells", "3dmap": "voxels"}
NO_WORLD = ("scen", "3dscen", "mesh", "wayfold")
NO_MAP = ("scen", "3dscen")


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command here; its exit status, what it prints and the sentence on stderr."""

    def call(*words):
        monkeypatch.setattr("sys.argv", ["wayfold", *map(str, words)])
        try:
            cli.main()
        except SystemExit as end:
            status = end.code or 0
        said = capsys.readouterr()
        if status == 2:
            assert said.err.startswith("wayfold: ")
            assert said.err.count("\n") == 1
        return status, said.out, said.err

    return call


@pytest.fixture(params=[(kind, right) for kind in CONTENTS for right in (True, False)], ids=str)
def level(request, tmp_path):
    kind, right = request.param
    file = tmp_path / (f"level{formats.KINDS[kind].endings[0]}" if right else "level.txt")
    if CONTENTS[kind] is None:
        Graph.from_edges([(0, 0), (1, 0)], [(0, 1)]).save(file)
    else:
        file.write_bytes(CONTENTS[kind].replace(b'"weight": 0', b'"weight": 4'))
    return kind, file


def test_info_describes_every_kind_whatever_it_is_called(run, level):
    kind, file = level
    status, said, _ = run("info", file, "--json")
    assert status == 0
    assert json.loads(said)["kind"] == KINDS[kind]


def test_a_world_opens_of_every_geometry_and_of_nothing_else(level):
    kind, file = level
    if kind in NO_WORLD:
        with pytest.raises(WayfoldError, match="no geometry to make a world of"):
            World.open(file, cache=False)
    else:
        world = World.open(file, cache=False)
        assert world.kind == WORLDS.get(kind, "mesh")
        assert world.name == file.name


def test_the_viewer_opens_what_a_world_opens(run, level, monkeypatch):
    kind, file = level
    opened = []
    monkeypatch.setattr(session, "Session", lambda world, **_: opened.append(world))
    monkeypatch.setattr(page, "Page", lambda *_, **__: 1 / 0)
    if kind in NO_WORLD:
        assert "no geometry" in run("view", file)[2]
    else:
        with pytest.raises(ZeroDivisionError):
            run("view", file, "--no-open")
        assert opened[0].name == file.name


def test_build_writes_a_mesh_of_every_mesh_and_says_which_maps_the_others_give(run, level, tmp_path):
    kind, file = level
    status, _, wrong = run("build", file, tmp_path / "out.obj")
    if formats.KINDS[kind].is_mesh:
        assert status == 0
        assert formats.sniff(tmp_path / "out.obj") == "obj"
    else:
        assert status == 2
        assert f"holds {formats.KINDS[kind].title}, not a mesh: " in wrong


def test_path_says_what_it_cannot_plan_on(run, level):
    kind, file = level
    if kind in NO_MAP:
        status, _, wrong = run("path", file, "0,0", "1,1")
        assert status == 2
        assert "needs a level or a map to plan on" in wrong
    elif kind in ("map", "mesh", "wayfold"):
        status, _, wrong = run("path", file, "0,0", "1,1", "--agent", "bird")
        assert status == 2
        assert f"which holds {formats.KINDS[kind].title}" in wrong


def test_a_path_on_a_map_of_cells_is_the_shortest_whatever_the_map_is_called(run, tmp_path):
    cells = b"\n".join([b".....", b".TTT.", b"....."])
    (tmp_path / "arena").write_bytes(b"type octile\nheight 3\nwidth 5\nmap\n" + cells + b"\n")
    status, said, _ = run("path", tmp_path / "arena", "1,0", "1,2", "--json")
    assert status == 0
    assert json.loads(said)["cost"] == 4


def test_samples_are_described(run):
    assert json.loads(run("info", "sample:maze", "--json")[1])["kind"] == "dense grid"
    assert json.loads(run("info", "sample:zigzag", "--json")[1])["kind"] == "terrain"
    assert json.loads(run("info", "sample:rooms", "--json")[1])["kind"] == "triangle mesh"


def test_an_axis_is_refused_where_there_is_none(run, tmp_path):
    (tmp_path / "a.map").write_bytes(samples.MAP)
    for words in (("info",), ("build", tmp_path / "out.wayfold"), ("view",)):
        command, *rest = words
        status, _, wrong = run(command, tmp_path / "a.map", *rest, "--up", "y")
        assert status == 2
        assert "up is for meshes" in wrong
