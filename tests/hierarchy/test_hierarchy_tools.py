"""The command line, the pictures and the benchmark of the hierarchy, on what the tests make themselves."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks import exact_hierarchy
from benchmarks import hierarchy as bench
from benchmarks.harness import WrongAnswerError
from benchmarks.peers import Task
from wayfold import Hierarchy
from wayfold.cli.app import app
from wayfold.errors import ParameterError
from wayfold.grid import DenseGrid
from wayfold.view.hierarchy import draw_levels, plot_report


@pytest.fixture(scope="module")
def cells():
    free = np.random.default_rng(4).random((40, 40)) > 0.2
    free[0], free[-1], free[:, 0] = True, True, True
    return free


@pytest.fixture
def map_file(tmp_path, cells):
    rows = "\n".join("".join("." if free else "@" for free in row) for row in cells)
    file = tmp_path / "maze.map"
    file.write_text(f"type octile\nheight 40\nwidth 40\nmap\n{rows}\n")
    return file


def test_a_hierarchy_is_built_described_drawn_and_asked_from_the_command_line(tmp_path, map_file, cells):
    runner, out = CliRunner(), tmp_path / "fast.wayfold"
    built = runner.invoke(app, ["build", str(map_file), str(out), "--accelerate", "hierarchy", "--json"])
    assert built.exit_code == 0, built.output
    facts = json.loads(built.output)
    assert facts["kind"] == "hierarchy"
    assert facts["levels"][0]["nodes"] == cells.sum()
    picture = tmp_path / "levels.png"
    described = runner.invoke(app, ["info", str(out), "--picture", str(picture)])
    assert described.exit_code == 0, described.output
    assert "intra edges" in described.output
    assert picture.stat().st_size > 1000
    last = int(cells.sum()) - 1
    found = runner.invoke(app, ["path", str(out), "0", str(last), "--json", "--picture", str(tmp_path / "path.png")])
    assert found.exit_code == 0, found.output
    expected = DenseGrid(cells).graph()[0].path(0, last).cost
    assert json.loads(found.output)["cost"] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--accelerate", "magic"], "choose from hierarchy"),
        (["--accelerate", "hierarchy", "--merge", "many"], "--merge must be"),
        (["--accelerate", "hierarchy", "--merge", "1"], "merge must be"),
    ],
)
def test_wrong_options_are_refused(tmp_path, map_file, arguments, words):
    result = CliRunner().invoke(app, ["build", str(map_file), str(tmp_path / "out.wayfold"), *arguments])
    assert isinstance(result.exception, ParameterError)
    assert words in str(result.exception)


def test_the_levels_are_drawn_each_in_a_panel(cells):
    hierarchy = Hierarchy.build(DenseGrid(cells), merge=6)
    figure = draw_levels(hierarchy, hierarchy.path(0, 200))
    assert len(figure.axes) == hierarchy.num_levels + 1
    assert len(draw_levels(hierarchy, levels=[1]).axes) == 1


def test_the_benchmark_reports_every_level_and_refuses_wrong_answers(cells):
    graph = DenseGrid(cells).graph()[0]
    draw = np.random.default_rng(0)
    inside = np.flatnonzero(graph.components() == 0)
    task = Task("maze", graph, draw.choice(inside, 5), draw.choice(inside, 5))
    effort = dataclasses.replace(bench.QUICK, merges=(4, 8), paper_queries=5, exact_queries=40, batch=60)
    table = bench.paper_levels(task, "maze", effort)
    assert {row["merge"] for row in table["rows"]} == {4, 8}
    assert all(row["length"] > 1 - 1e-6 for row in table["rows"])
    assert len(plot_report({"paper": [table]})) == 1
    report = exact_hierarchy.exact(task, effort)
    assert report["random"]["queries"] == 40
    assert report["batch"]["queries"] == 60
    assert set(report["changes"]) == {"customise_s", "query_us", "near", "dearer", "cheaper", "closed"}
    hierarchy = Hierarchy.build(graph)
    pairs = list(zip(task.starts.tolist(), task.goals.tolist(), strict=True))
    hierarchy._graph = None
    hierarchy._queries[True].levels.overlay.costs[: graph.targets.size] *= 3  # costs that the levels know nothing of
    hierarchy._default_top[True] = hierarchy.num_levels
    hierarchy._near = 0.0
    with pytest.raises(WrongAnswerError):
        exact_hierarchy.against_flat(hierarchy, pairs, buckets=2)
