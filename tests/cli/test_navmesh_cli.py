"""`wayfold build --map navmesh`, `info` and `path` on what it wrote."""

from __future__ import annotations

import json

from tests.cli.test_cli import wayfold
from tests.navmesh.strategies import box, floor, mesh_of
from wayfold.formats import save_mesh


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
