"""The command line as its user runs it: a process, its output, its exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from wayfold import Graph

MAP = "type octile\nheight 3\nwidth 5\nmap\n.....\n.TTT.\n.....\n"


def wayfold(*arguments, cwd=None):
    command = [sys.executable, "-c", "from wayfold.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


@pytest.fixture
def arena(tmp_path):
    file = tmp_path / "arena.map"
    file.write_text(MAP)
    return file


def test_help_names_every_command_and_shows_examples():
    text = wayfold("--help").stdout
    for command in ("demo", "build", "info", "path", "view", "warmup"):
        assert command in text
        assert wayfold(command, "--help").returncode == 0
    assert "wayfold path arena.map" in wayfold("path", "--help").stdout


def test_the_version_is_the_package_version():
    import wayfold as package

    assert wayfold("--version").stdout.strip() == f"wayfold {package.__version__}"


def test_path_prints_a_table_and_json_and_draws(arena, tmp_path):
    picture = tmp_path / "path.png"
    result = wayfold("path", arena, "1,0", "1,2", "--picture", picture)
    assert result.returncode == 0, result.stderr
    assert "FOUND" in result.stdout
    assert f"Picture: {picture}" in result.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    answer = json.loads(wayfold("path", arena, "1,0", "1,2", "--json").stdout)
    assert answer["cost"] == 4
    assert answer["points"][0] == [1, 0, 0]
    assert answer["points"][-1] == [1, 2, 0]
    assert len(answer["nodes"]) == answer["corners"] == 5


def test_a_goal_without_a_way_is_told_and_exits_with_1(tmp_path):
    file = tmp_path / "two.map"
    file.write_text("type octile\nheight 1\nwidth 3\nmap\n.@.\n")
    assert "Start and goal are not connected on this map." in wayfold("path", file, "0,0", "2,0").stdout
    result = wayfold("path", file, "0,0", "2,0", "--json")
    assert result.returncode == 1
    assert json.loads(result.stdout)["status"] == "UNREACHABLE"
    assert json.loads(result.stdout)["length"] is None


def test_build_info_and_path_go_through_a_file(arena, tmp_path):
    for kind in ("dense-grid", "graph"):
        out = tmp_path / f"{kind}.wayfold"
        built = wayfold("build", arena, out, "--map", kind, "--json")
        assert built.returncode == 0, built.stderr
        facts = json.loads(wayfold("info", out, "--json").stdout)
        assert facts["components"] == 1
    assert facts["nodes"] == 12
    assert facts["bytes_per_directed_edge"] <= 9
    assert facts["search_bytes_per_node"] > 0
    answer = json.loads(wayfold("path", out, "0", "1,2", "--algorithm", "bidirectional", "--json").stdout)
    assert answer["cost"] == 3


def test_a_sample_is_built_into_a_mesh_and_a_grid(tmp_path):
    mesh = tmp_path / "rooms.obj"
    assert wayfold("build", "sample:rooms", mesh, "--seed", 3).returncode == 0
    assert json.loads(wayfold("info", mesh, "--json").stdout)["triangles"] > 10
    maze = tmp_path / "maze.wayfold"
    assert wayfold("build", "sample:maze", maze).returncode == 0
    assert json.loads(wayfold("info", maze, "--json").stdout)["kind"] == "dense grid"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("path", "arena.map", "1,0", "9,9"), "goal (9, 9, 0) is outside 5 x 3 cells"),
        (("path", "arena.map", "1,1", "0,0"), "start (1, 1, 0) is blocked"),
        (("path", "arena.map", "a", "0,0"), "START must be x,y"),
        (("path", "arena.map", "nan,0", "0,0"), "START must be x,y"),
        (("path", "missing.map", "0,0", "1,0"), "missing.map"),
        (("path", "arena.map", "0,0", "1,0", "--motions", "surface"), "--motions"),
        (("path", "arena.map", "0,0", "1,0", "--picture", "out.txt"), "out.txt must end in"),
        (("path", "arena.map", "0,0", "1,0", "--picture", "nowhere/out.png"), "does not exist"),
        (("path", "graph.wayfold", "0", "99"), "goal 99"),
        (("path", "graph.wayfold", "0", "1", "--motions", "swim"), "unknown motion 'swim'"),
        (("info", "missing.xyz"), "missing.xyz: no such file"),
        (("info", "odd.xyz"), "text that starts with 'odd', and the ending '.xyz' is unknown"),
        (("info", "broken.map"), "broken.map:"),
        (("info", "broken.wayfold"), "broken.wayfold:"),
        (("build", "arena.map", "out.wayfold", "--map", "cheese"), "unknown map 'cheese'"),
        (("build", "arena.map", "out.txt"), "out.txt must end in"),
        (("build", "sample:rooms", "out.wayfold"), "sample:rooms is a mesh: choose --map navmesh, waypoints, "),
        (("build", "sample:rooms", "out.wayfold", "--accelerate", "hierarchy"), "choose --map navmesh\n"),
        (("build", "sample:rooms", "out.obj", "--map", "navmesh"), "leave --map out"),
        (("build", "sample:rooms", "out.obj", "--accelerate", "hierarchy"), "leave --accelerate out"),
        (("info", "arena.map", "--up", "x"), "--up must be y or z, not 'x'"),
        (("build", "arena.map", "out.obj"), "holds a MovingAI map, not a mesh"),
        (("build", "sample:atlantis", "out.obj"), "atlantis"),
        (("build", "arena.map", "out.wayfold", "--seed", "1"), "--seed"),
    ],
)
def test_wrong_input_is_one_sentence_with_status_2_and_writes_nothing(arguments, words, arena, tmp_path):
    Graph.from_edges([(0, 0), (1, 0)], [(0, 1)]).save(tmp_path / "graph.wayfold")
    (tmp_path / "odd.xyz").write_text("odd")
    (tmp_path / "broken.map").write_text("type octile\nheight 9\nwidth 5\nmap\n....\n")
    (tmp_path / "broken.wayfold").write_bytes(b"PK\x03\x04 nothing more")
    before = sorted(tmp_path.iterdir())
    result = wayfold(*arguments, cwd=tmp_path)
    assert result.returncode == 2, result.stdout + result.stderr
    assert words in result.stderr
    assert result.stderr.startswith("wayfold: ")
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_wrong_options_exit_with_2():
    assert wayfold("path").returncode == 2
    assert wayfold("fly").returncode == 2


def test_a_sparse_grid_is_built_told_about_and_walked(arena, tmp_path):
    out, picture = tmp_path / "sparse.wayfold", tmp_path / "sparse.png"
    built = wayfold("build", arena, out, "--map", "sparse-grid", "--sector", "4", "--json")
    assert built.returncode == 0, built.stderr
    told = wayfold("info", out, "--json", "--picture", tmp_path / "regions.png")
    assert "sparse" in json.loads(told.stdout)["kind"]
    assert (tmp_path / "regions.png").read_bytes().startswith(b"\x89PNG")
    for options in ((), ("--exact",)):
        answer = json.loads(wayfold("path", out, "1,0", "1,2", *options, "--picture", picture, "--json").stdout)
        assert answer["status"] == "FOUND"
        assert answer["cost"] >= 4
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_terrain_is_built_described_and_planned_over(tmp_path):
    file, picture = tmp_path / "forest.wayfold", tmp_path / "routes.png"
    built = wayfold("build", "sample:forest", file, "--map", "terrain", "--weights", "bushes=40")
    assert built.returncode == 0, built.stderr
    assert json.loads(wayfold("info", file, "--json").stdout)["triangles"] == 208
    plain = json.loads(wayfold("path", file, "60,2", "200,2", "--json").stdout)
    assert plain["status"] == "FOUND"
    assert 0 < plain["lower_bound"] <= plain["cost"]
    drawn = wayfold("path", file, "60,2", "200,2", "--radius", "1", "--weights", "puddle=50", "--picture", picture)
    assert drawn.returncode == 0, drawn.stderr
    assert "over the optimum" in drawn.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_options_for_terrains_are_refused_elsewhere_and_bad_weights_are_named(arena, tmp_path):
    assert "--radius does not apply to a DenseGrid" in wayfold("path", arena, "1,0", "1,2", "--radius", "1").stderr
    assert "need --map terrain" in wayfold("build", arena, tmp_path / "a.wayfold", "--weights", "a=1").stderr
    result = wayfold("build", "sample:zigzag", tmp_path / "a.wayfold", "--map", "terrain", "--weights", "road")
    assert result.returncode == 2
    assert "road=1,swamp=8" in result.stderr
    assert "not weighted regions" in wayfold("build", "sample:maze", tmp_path / "a.wayfold", "--map", "terrain").stderr


def test_the_demo_sends_everybody_before_and_after_a_bridge_is_closed(tmp_path):
    result = wayfold("demo", "--json", "--size", "250", "--seed", "6", "--out", tmp_path)
    assert result.returncode == 0, result.stderr
    assert "demo: closing the bridge\n" in result.stderr
    facts = json.loads(result.stdout)
    rows = {row["who"]: row for row in facts["characters"]}
    assert set(rows) == {"person", "cart", "spider", "bird"}
    for row in rows.values():
        assert row["length"] > 0
        assert row["bytes"] > 0
        assert row["ms"] > 0
    # Who walks has to go round, who flies hardly notices.
    assert rows["person"]["after"] > 1.1 * rows["person"]["length"]
    assert rows["bird"]["after"] < 1.1 * rows["bird"]["length"]
    assert all(Path(picture).stat().st_size > 10_000 for picture in facts["pictures"])
