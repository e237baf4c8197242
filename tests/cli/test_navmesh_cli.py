"""`wayfold build --map navmesh`, `info` and `path` on what it wrote."""

from __future__ import annotations

import json

import pytest

from tests.cli.test_cli import wayfold
from tests.formats.samples import bsp
from tests.navmesh.strategies import box, floor, mesh_of
from wayfold import Agent, NavMesh
from wayfold.formats import load_bsp, load_mesh, save_mesh


def test_a_mesh_file_becomes_a_navmesh_with_paths_and_a_picture(tmp_path):
    save_mesh(mesh_of(floor(0, 0, 12, 12), box((5, 0, 0), (6, 9, 3))), tmp_path / "room.obj")
    file = tmp_path / "room.wayfold"
    built = wayfold("build", tmp_path / "room.obj", file, "--map", "navmesh", "--radius", "0.5", "--json")
    assert built.returncode == 0, built.stderr
    facts = json.loads(built.stdout)
    assert facts["kind"] == "navigation mesh"
    assert facts["polygons"] == json.loads(wayfold("info", file, "--json").stdout)["polygons"]
    picture = tmp_path / "path.png"
    path = wayfold("path", file, "2,2,0", "10,2,0", "--picture", picture, "--json")
    assert path.returncode == 0, path.stderr
    pulled = wayfold("path", file, "2,2,0", "10,2,0", "--algorithm", "funnel", "--json")
    assert 14 < json.loads(path.stdout)["length"] <= json.loads(pulled.stdout)["length"] + 1e-9
    assert picture.stat().st_size > 1000


def test_what_cannot_be_built_is_one_sentence_and_exit_status_2(tmp_path):
    save_mesh(mesh_of(floor(0, 0, 12, 12)), tmp_path / "room.obj")
    for options, words in (
        (["--radius", "40"], "no ground"),
        (["--cell", "0.0000001"], "cell_size"),
        (["--keep", "some"], "keep"),
        (["--up", "x"], "--up"),
    ):
        result = wayfold("build", tmp_path / "room.obj", tmp_path / "a.wayfold", "--map", "navmesh", *options)
        assert result.returncode == 2
        assert words in result.stderr
        assert "Traceback" not in result.stderr


def test_gltf_quake_levels_and_the_sample_city_become_navmeshes(tmp_path):
    save_mesh(mesh_of(floor(0, 0, 12, 12), box((5, 0, 0), (6, 9, 3))), tmp_path / "room.glb")
    (tmp_path / "level.bsp").write_bytes(bsp())
    quake = ["--radius", "4", "--height", "20", "--climb", "4", "--cell", "2", "--cell-height", "1"]
    sources = {
        tmp_path / "room.glb": (["--radius", "0.5"], "2,2,0", "10,2,0"),
        tmp_path / "level.bsp": (quake, "12,12,0", "50,50,0"),
        "sample:city": (["--size", "60", "--tile", "64", "--keep", "largest"], None, None),
    }
    for source, (options, start, goal) in sources.items():
        file = tmp_path / "built.wayfold"
        built = wayfold("build", source, file, "--map", "navmesh", *options, "--json")
        assert built.returncode == 0, built.stderr
        facts = json.loads(built.stdout)
        assert facts["polygons"] > 0
        assert facts["area"] > 0
        if start is None:
            assert facts["components"] == 1
        else:
            path = wayfold("path", file, start, goal, "--json")
            assert path.returncode == 0, path.stderr
            assert json.loads(path.stdout)["length"] > 8


def test_levels_and_gltf_files_build_through_the_api(tmp_path):
    mesh = mesh_of(floor(0, 0, 12, 12), box((5, 0, 0), (6, 9, 3)))
    save_mesh(mesh, tmp_path / "room.glb")
    agent = Agent(radius=0.5)
    again = NavMesh.build(load_mesh(tmp_path / "room.glb"), agent)
    assert again.area == pytest.approx(NavMesh.build(mesh, agent).area, rel=0.02)
    (tmp_path / "level.bsp").write_bytes(bsp())
    level = load_bsp(tmp_path / "level.bsp")
    navmesh = NavMesh.build(level.mesh, Agent(radius=4, height=20, climb=4), cell_size=2, cell_height=1)
    assert navmesh.path((12, 12, 0), (50, 50, 0)).length == pytest.approx(38 * 2**0.5, rel=0.01)
