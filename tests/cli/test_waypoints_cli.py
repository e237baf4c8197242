from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from tests.waypoints.worlds import yard
from wayfold import SubregionGraph, load
from wayfold.cli.app import app
from wayfold.errors import ParameterError
from wayfold.formats import save_mesh


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("yard")
    save_mesh(yard(), folder / "yard.obj")
    result = run(
        "build", folder / "yard.obj", folder / "yard.wayfold", "--map", "waypoints", "--region-size", 20, "--json"
    )
    assert result.exit_code == 0, result.output
    return folder / "yard.wayfold", json.loads(result.output)


def test_build_and_info_count_as_table_1_does(built):
    file, facts = built
    assert facts["waypoints"] > 100
    counts = [facts[f"{motion}_edges"] for motion in ("surface", "adhesive", "volumetric")]
    assert 0 < max(counts) <= facts["edges"] <= sum(counts)  # an edge counts for every motion that is legal on it
    again = json.loads(run("info", file, "--json").output)
    for name in ("S", "S+A", "S+V", "S+A+V"):
        assert again[f"subregions_{name}"] == facts[f"subregions_{name}"] > 0


def test_path_reports_both_searches_and_draws_them(built, tmp_path):
    file, _ = built
    picture = tmp_path / "path.png"
    result = run("path", file, "30,12,0", "30,30,0", "--motions", "S", "--smooth", "--picture", picture, "--json")
    facts = json.loads(result.output)
    assert facts["status"] == "FOUND"
    assert facts["length"] >= facts["length_of_plain_a_star"] - 1e-6
    assert picture.stat().st_size > 10_000
    assert run("path", file, "4,4,0", "12,12,12", "--motions", "S").exit_code == 1


def test_subregion_graphs_are_described(built, tmp_path):
    subregions = SubregionGraph.build(load(built[0]), "S")
    subregions.save(tmp_path / "s.wayfold")
    facts = json.loads(run("info", tmp_path / "s.wayfold", "--json").output)
    assert facts["subregions"] == subregions.num_subregions
    assert facts["bytes_per_label"] == 2


def test_a_voxel_map_becomes_waypoints(tmp_path):
    (tmp_path / "a.3dmap").write_text("voxel 4 4 4\n1 1 1\n")
    result = run("build", tmp_path / "a.3dmap", tmp_path / "a.wayfold", "--map", "waypoints", "--json")
    assert json.loads(result.output)["volumetric_edges"] > 0
    assert json.loads(run("path", tmp_path / "a.wayfold", "0,0,0", "3,3,3", "--json").output)["status"] == "FOUND"


def test_wrong_options_are_refused(built):
    file, _ = built
    with pytest.raises(ParameterError, match="unknown motion"):
        run("path", file, "1,1,0", "2,2,0", "--motions", "swim")
    with pytest.raises(ParameterError, match="--partial does not apply to a WaypointGraph"):
        run("path", file, "1,1,0", "2,2,0", "--partial")
