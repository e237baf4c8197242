from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import decomposition as bench
from benchmarks.real_data import RealData
from tests.cli.test_cli import wayfold
from wayfold import load
from wayfold.floorplan import METHODS, FloorPlan

MAP = "type octile\nheight 3\nwidth 5\nmap\n.....\n.TTT.\n.....\n"


def test_a_floor_plan_is_built_told_about_and_walked(tmp_path):
    method = "hertel-mehlhorn"
    source, out, picture = tmp_path / "arena.map", tmp_path / "arena.wayfold", tmp_path / "arena.png"
    source.write_text(MAP)
    built = wayfold("build", source, out, "--map", "floorplan", "--method", method, "--picture", picture, "--json")
    assert built.returncode == 0, built.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    facts = json.loads(wayfold("info", out, "--json").stdout)
    assert facts["kind"] == "floor plan"
    assert facts["method"] == method
    assert facts["free_area"] == 12
    answer = json.loads(wayfold("path", out, "0.5,0.5", "4.5,2.5", "--smooth", "--picture", picture, "--json").stdout)
    assert answer["status"] == "FOUND"
    assert answer["length"] >= 2**0.5 * 2
    assert wayfold("path", out, "0.5,0.5", "2.5,1.5").returncode == 2


def test_a_mesh_of_several_floors_is_one_plan_that_is_walked_over_its_stairs(tmp_path):
    out = tmp_path / "dungeon.wayfold"
    built = wayfold("build", "sample:dungeon", out, "--seed", "1", "--map", "floorplan", "--climb", "0.4", "--json")
    assert built.returncode == 0, built.stderr
    cut = load(out)
    assert sum(level.is_floor for level in cut.levels) == 3
    ends = [cut.centres[np.argmax(cut.region_levels == level)] for level in (0, 2)]
    texts = [",".join(f"{value:.6f}" for value in end) for end in ends]
    lengths = [
        json.loads(wayfold("path", out, *texts, *flags, "--json").stdout)["length"]
        for flags in (["--exact"], ["--smooth"], [])
    ]
    assert 8.5 < lengths[0] <= lengths[1] * (1 + 1e-6)
    assert lengths[1] <= lengths[2]


def test_floor_plan_options_are_for_floor_plans(tmp_path):
    source = tmp_path / "arena.map"
    source.write_text(MAP)
    result = wayfold("build", source, tmp_path / "out.wayfold", "--method", "deaccon")
    assert result.returncode == 2
    assert "--map floorplan" in result.stderr
    assert wayfold("bench", "papers", "--paper", "cooking", "--data", tmp_path).returncode == 2


def test_turns_are_counted_where_the_direction_changes():
    assert bench.turns(np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 0, 0), (2, 3, 0), (0, 3, 0)], float)) == 2


def test_regions_with_a_sharp_corner_are_counted():
    plan = FloorPlan([(0, 0), (10, 0), (10, 1)])
    assert bench.sharp_share(plan.decompose("hertel-mehlhorn")) == 1
    assert bench.sharp_share(FloorPlan([(0, 0), (10, 0), (10, 9), (0, 9)]).decompose()) == 0


def test_repeated_measures_find_a_difference_only_where_there_is_one():
    rng = np.random.default_rng(1)
    base = rng.normal(100, 30, 60)
    same = {method: (base + rng.normal(0, 1, 60)).tolist() for method in METHODS}
    assert bench.repeated_measures(same)["p"] > 0.01
    other = {
        method: (base + shift + rng.normal(0, 1, 60)).tolist() for method, shift in zip(METHODS, (0, 5, 9), strict=True)
    }
    result = bench.repeated_measures(other)
    assert result["p"] < 1e-10
    assert result["pairs"]["deaccon - space-filling"]["mean"] < 0


@pytest.mark.data
def test_the_paper_s_table_is_measured_on_real_levels(data):
    found = bench.run(RealData(data), full=False, progress=lambda what: None)
    assert {row["method"] for row in found["rows"]} == set(METHODS)
    assert len(found["distances"]["deaccon"]) >= 5 * 40
