"""`wayfold path` on level files, and the benchmark of a crowd."""

from __future__ import annotations

import json

import pytest

from tests.cli.test_cli import wayfold
from tests.world.levels import courtyard
from wayfold import Mesh, formats

WEST, EAST = "3,5,0", "21,5,0"


@pytest.fixture
def level(tmp_path):
    file = tmp_path / "courtyard.obj"
    formats.save_mesh(courtyard(), file)
    return file


def test_a_level_is_opened_for_whoever_is_named(level, tmp_path):
    lengths = {}
    for agent in ("person", "cart", "spider"):
        result = wayfold("path", level, WEST, EAST, "--agent", agent, "--json")
        assert result.returncode == 0, result.stderr
        facts = json.loads(result.stdout)
        assert facts["status"] == "FOUND"
        lengths[agent] = facts["length"]
    assert lengths["person"] <= lengths["cart"]
    picture = tmp_path / "path.png"
    result = wayfold("path", level, WEST, EAST, "--explain", "--exact", "--picture", picture)
    assert "navmesh + hierarchy" in result.stdout
    assert "the agent only walks" in result.stdout
    assert f"Picture: {picture}" in result.stdout
    assert picture.stat().st_size > 1000


def test_a_blocked_box_moves_the_path_and_two_end_it(level):
    plain = json.loads(wayfold("path", level, WEST, EAST, "--json").stdout)
    wide, narrow = "11,2.5,-1,13,7.5,5", "11,13,-1,13,16,5"
    around = json.loads(wayfold("path", level, WEST, EAST, "--block", wide, "--json").stdout)
    assert around["length"] > plain["length"] + 1
    shut = wayfold("path", level, WEST, EAST, "--block", wide, "--block", narrow)
    assert shut.returncode == 1
    assert "UNREACHABLE" in shut.stdout
    assert "Start and goal are not connected for this agent: see --explain." in shut.stdout


def test_a_point_off_the_map_is_told_with_the_bounds_and_a_wrong_axis_is_suspected(level, tmp_path):
    low, high = (", ".join(f"{value:.5g}" for value in corner) for corner in courtyard().bounds)
    off = wayfold("path", level, WEST, "300,0,0")
    assert f"the level reaches from ({low}) to ({high})" in off.stderr
    assert "--up" not in off.stderr
    mesh = courtyard()
    turned = tmp_path / "turned.obj"
    formats.save_mesh(Mesh(mesh.vertices[:, [0, 2, 1]] * (1, 1, -1), mesh.triangles), turned)
    assert "is the level y-up? give --up y" in wayfold("path", turned, WEST, EAST).stderr
    assert wayfold("path", turned, WEST, EAST, "--up", "y").returncode == 0


def test_points_may_begin_with_a_minus_and_wrong_options_are_still_refused(tmp_path):
    file = tmp_path / "west.obj"
    formats.save_mesh(Mesh(courtyard().vertices - (12, 10, 0), courtyard().triangles), file)
    answer = wayfold("path", file, "-9,-5,0", "9,-5", "--block", "-1,-7.5,-1,1,-2.5,5", "--json")
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["points"][0][:2] == [-9, -5]
    for word in ("-5", "-x,0", "--fast", "--5,0"):
        refused = wayfold("path", file, "-9,-5,0", "9,-5", word)
        assert refused.returncode == 2
        assert "No such option" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((WEST, "300,0,0"), "goal (300, 0, 0) is not on the navigation mesh"),
        ((WEST, EAST, "--agent", "dog"), "person, cart, spider, bird"),
        ((WEST, EAST, "--block", "1,2,3"), "x0,y0,z0,x1,y1,z1"),
        ((WEST, EAST, "--map", "terrain"), "choose from navmesh, waypoints, sparse-grid"),
        ((WEST, EAST, "--budget", "5"), "--budget does not apply to a level"),
        (("here", EAST), "START"),
    ],
)
def test_wrong_journeys_get_a_sentence(level, arguments, words):
    result = wayfold("path", level, *arguments)
    assert result.returncode == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_options_of_levels_are_not_for_maps(tmp_path):
    file = tmp_path / "arena.map"
    file.write_text("type octile\nheight 1\nwidth 2\nmap\n..\n")
    result = wayfold("path", file, "0,0", "1,0", "--agent", "bird")
    assert result.returncode == 2
    assert "--agent applies to level files" in result.stderr
