"""The examples run as they stand, and show what they say."""

from __future__ import annotations

import math
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from wayfold import Box, Mesh, formats

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(autouse=True)
def _nothing_kept(tmp_path, monkeypatch):
    """Worlds are built here, not taken from the user's cache."""
    monkeypatch.setenv("WAYFOLD_CACHE", str(tmp_path / "cache"))


def run(name, *arguments, **settings):
    return runpy.run_path(str(EXAMPLES / name))["main"](*arguments, **settings)


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.py")), ids=lambda file: file.name)
def test_an_example_is_short_says_how_to_run_it_and_is_tested(file):
    text = file.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    assert f"python examples/{file.name}" in text
    assert f'run("{file.name}"' in Path(__file__).read_text(encoding="utf-8")


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.py")), ids=lambda file: file.name)
def test_an_example_that_is_asked_for_help_says_how_to_run_it_and_writes_nothing(file, tmp_path):
    done = subprocess.run([sys.executable, file, "--help"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert f"python examples/{file.name}" in done.stdout
    assert not list(tmp_path.iterdir())


def test_a_person_walks_around_a_spider_climbs_over_and_a_bird_flies_to_the_window(tmp_path, capsys):
    picture = tmp_path / "window.png"
    paths = run("window.py", picture)
    assert all(path.found for path in paths.values())
    assert paths["person"].length > paths["spider"].length > paths["bird"].length
    assert picture.stat().st_size > 1000
    assert "spider" in capsys.readouterr().out


def test_the_way_through_the_town_follows_the_bridge_and_the_doors(tmp_path, capsys):
    picture = tmp_path / "town.png"
    whole, raised, one_door, no_door, door, lowered = run("changing_grid.py", picture, width=80, height=50)
    assert whole < raised < one_door < no_door == math.inf
    assert whole == lowered < door < math.inf
    assert picture.stat().st_size > 1000
    assert "no way" in capsys.readouterr().out


def test_refined_routes_over_hills_are_the_cheapest(tmp_path, capsys):
    picture = tmp_path / "hills.png"
    costs = run("off_road.py", picture, size=20)
    assert costs["refined"] < costs["dual-extra"] < math.inf
    assert costs["refined"] < costs["dual"] < math.inf
    assert picture.stat().st_size > 1000
    assert "km of road" in capsys.readouterr().out


def test_guards_walk_around_a_closed_door(tmp_path, capsys):
    picture = tmp_path / "level.png"
    leg, around = run("game_level.py", picture)
    assert 0 < leg < around < math.inf
    assert picture.stat().st_size > 1000
    assert "a door closes" in capsys.readouterr().out


def test_a_drone_flies_straighter_than_a_person_walks_and_around_closed_airspace(tmp_path, capsys):
    picture = tmp_path / "drone.png"
    lengths = run("drone.py", picture, size=80.0)
    assert lengths["drone"] < lengths["person"]
    assert lengths["drone"] < lengths["drone, airspace closed"] < math.inf
    assert picture.stat().st_size > 1000
    assert "airspace closed" in capsys.readouterr().out


def test_a_crowd_walks_farther_when_its_street_is_closed(tmp_path, capsys):
    picture = tmp_path / "crowd.png"
    before, after = run("crowd.py", picture, size=80.0, people=100)
    assert 0 < before < after
    assert picture.stat().st_size > 1000
    out = capsys.readouterr().out
    assert "that street is closed" in out
    assert f"drawn: {picture}" in out


@pytest.mark.parametrize("name", ["crowd.py", "drone.py"])
def test_a_level_that_is_y_up_may_be_of_any_size(name, tmp_path):
    yard = Mesh.concatenate([Box((0, 0, -1), (40, 30, 0)).mesh(), Box((12, 0, 0), (28, 18, 4)).mesh()])
    turned = Mesh(yard.vertices[:, [0, 2, 1]] * (1, 1, -1), yard.triangles)
    formats.save_mesh(turned, tmp_path / "yard.obj")
    found = run(name, None, str(tmp_path / "yard.obj"), "y")
    assert min(found.values() if isinstance(found, dict) else found) > 0


@pytest.mark.data
@pytest.mark.parametrize("file", ["aggressor.bsp", "oa_dm1.bsp"])
def test_guards_walk_through_a_level_of_quake(file, data):
    leg, _ = run("game_level.py", None, str(data / "quake" / file))
    assert 0 < leg < math.inf


@pytest.mark.data
@pytest.mark.parametrize("file", ["honolulu_tile.npz", "0ad/acropolis_bay_2p.npz"])
def test_refined_routes_over_real_terrain_are_the_cheapest(file, data):
    costs = run("off_road.py", None, str(data / "terrain" / file))
    assert costs["refined"] < min(costs["dual"], costs["dual-extra"]) < math.inf
