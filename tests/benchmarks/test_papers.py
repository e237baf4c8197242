"""A small run of every paper's measurement, its tables and the report folder."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from benchmarks import (
    _weighted_quality,
    decomposition,
    exact_hierarchy,
    hierarchy,
    papers,
    report,
    subregion,
    weighted,
)
from benchmarks.peers import Task
from benchmarks.plots import write_plots
from benchmarks.real_data import RealData
from benchmarks.report import Report, Stopwatch
from benchmarks.run import headlines_of, sections, tables_of
from benchmarks.verdicts import Tally
from wayfold import samples
from wayfold.core.text import plain
from wayfold.errors import FormatError, ParameterError
from wayfold.grid import DenseGrid
from wayfold.terrain import Terrain


def quietly(what):
    """A progress that nobody looks at."""


@pytest.fixture(scope="module")
def maps(tmp_path_factory):
    """A folder of data with one generated map and scenarios whose lengths are right."""
    folder = tmp_path_factory.mktemp("data") / "movingai" / "dao"
    folder.mkdir(parents=True)
    free = np.random.default_rng(5).random((150, 150)) < 0.85
    text = "\n".join("".join("@."[int(cell)] for cell in row) for row in free)
    (folder / "made.map").write_text(f"type octile\nheight 150\nwidth 150\nmap\n{text}\n")
    grid = DenseGrid(free)
    inside = np.argwhere(grid.components == np.bincount(grid.components[free]).argmax())[:, ::-1]
    ends = np.random.default_rng(6).choice(inside, (40, 2))
    lines = ["version 1"]
    for start, goal in ends.tolist():
        cost = grid.path(start, goal).cost
        lines.append(f"{int(cost // 4)}\tmade.map\t150\t150\t{start[0]}\t{start[1]}\t{goal[0]}\t{goal[1]}\t{cost:.6g}")
    (folder / "made.map.scen").write_text("\n".join(lines) + "\n")
    return folder.parents[1]


def small_hierarchy():
    graph = DenseGrid(np.random.default_rng(2).random((40, 40)) < 0.85).graph()[0]
    starts, goals = exact_hierarchy.random_pairs(graph, 30, 0)
    task = Task("maze", graph, starts, goals)
    effort = dataclasses.replace(hierarchy.QUICK, merges=(4,), paper_queries=5, exact_queries=40, batch=60)
    return {
        "paper": [hierarchy.paper_levels(task, "maze", effort)],
        "exact": exact_hierarchy.exact(task, effort),
        "dao": [],
        "small": exact_hierarchy.small_graphs(1, sizes=(10, 100)),
    }


def small_weighted():
    scene = samples.zigzag()
    rows = weighted.Table("zigzag", 0, Terrain.from_scene(scene), scene.queries[0], 1, quietly).fill()
    return {
        "rows": rows,
        "findings": weighted.findings(rows),
        "speed": [weighted.speed("zigzag", scene, quietly)],
        "quality": _weighted_quality.quality({"zigzag": scene}, 1, quietly),
        "discs": _weighted_quality.discs({"zigzag": scene}, quietly),
        "alone": None,
        "scale": [],
    }


def measured(name, maps):
    if name == "hierarchy":
        return plain(small_hierarchy())
    if name == "weighted":
        return plain(small_weighted())
    if name == "subregion":
        city = subregion.city(samples.city((90.0, 90.0), 0), 2, 6, quietly)
        return plain({"cities": {"small": city}, "places": [], "voxels": []})
    if name == "decomposition":
        return plain(decomposition.run(RealData(None), full=False, progress=quietly, count=4))
    return papers.named(name).measure(RealData(maps), full=False, progress=quietly)


@pytest.mark.parametrize("name", papers.PAPERS)
def test_a_paper_is_measured_judged_drawn_and_reported(name, maps, tmp_path):
    watch, paper = Stopwatch(), papers.named(name)
    found = measured(name, maps)
    tables = paper.tables(found)
    tally = Tally.of(tables)
    assert tally.met + tally.missed >= 5
    made = watch.report(name, paper.title, "small", found, missing=["one thing"])
    if name != "weighted":  # its pictures are of the paper's own scenes and take as long as measuring them
        made.pictures = write_plots(paper.module, found, tmp_path)
    report.write(made, tables, tmp_path)
    first = report.write_pages(report.read(tmp_path, sections()), tables_of, headlines_of, tmp_path).read_text()
    assert f"[{paper.title}]({name}.md) | small | {tally.met} | {tally.missed} |" in first
    assert any(f"| {headline.text} |" in first for headline in paper.headlines)
    page = (tmp_path / f"{name}.md").read_text()
    assert page.startswith(f"# {paper.title}\n")
    assert all(row in page for row in tally.missed_rows)
    assert made.machine["processor"] in page
    assert "- one thing" in page
    for table in tables:
        assert f"## {table.title}\n" in page
    for file, caption in made.pictures.items():
        assert (tmp_path / file).read_bytes().startswith(b"\x89PNG")
        assert f"![{caption}]({file})" in page
    stored = json.loads((tmp_path / made.file).read_text())
    verdicts = [row["verdict"] for table in stored["tables"] for row in table["rows"] if isinstance(row, dict)]
    assert verdicts.count("met") == tally.met
    # The tables of the page come from the file, and are those of the measurement.
    (again,) = report.read(tmp_path, sections())
    assert [table.cells() for table in tables_of(again)] == [table.cells() for table in tables]


def example(name):
    return Report(
        name,
        f"Paper {name}",
        "quick",
        {"comparisons": [], "absent": {}},
        "2020-01-02",
        3.0,
        {**vars(report.machine()), "cores": 2},
        (0.5, 1.5),
    )


def test_the_first_page_names_every_report_of_its_folder(tmp_path):
    report.write(example("peers"), [], tmp_path)
    found = report.read(tmp_path, sections())
    assert [made.name for made in found] == ["peers"]
    first = report.write_pages(found, tables_of, headlines_of, tmp_path).read_text()
    assert "[Paper peers](peers.md) | quick | 0 | 0 | 0 | 3 s | 2020-01-02" in first
    page = (tmp_path / "peers.md").read_text()
    assert "0.5 when it began, 1.5 when it ended" in page
    assert "more to do than it has cores" not in page
    busy = dataclasses.replace(example("peers"), load=(0.5, 1e6))
    assert "more to do than it has cores" in report.pages([(busy, [], [])])["peers.md"]


def test_a_report_of_something_else_is_refused(tmp_path):
    (tmp_path / "peers.json").write_text("{}")
    for look in (report.read, report.check_folder):
        with pytest.raises(FormatError, match="not a report of this version"):
            look(tmp_path, sections())
    with pytest.raises(ParameterError, match="is not a folder"):
        report.check_folder(tmp_path / "peers.json", sections())
    report.check_folder(tmp_path / "new", sections())


def test_what_fails_while_it_is_written_leaves_the_old_file_and_nothing_else(tmp_path):
    report.write(example("peers"), [], tmp_path)
    before = (tmp_path / "peers.json").read_bytes()
    broken = dataclasses.replace(example("peers"), found={"not for JSON": object()})
    with pytest.raises(TypeError):
        report.write(broken, [], tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["peers.json"]
    assert (tmp_path / "peers.json").read_bytes() == before


def test_data_that_is_not_there_is_noted_and_a_folder_that_is_not_there_is_refused(tmp_path):
    nothing = RealData(None)
    assert nothing.find("a/*.map", "Table 1") == []
    assert "Table 1: not measured" in nothing.missing[0]
    assert "--data" in nothing.missing[0]
    (tmp_path / "b.map").write_text("")
    some = RealData(tmp_path)
    assert some.file("b.map", "Table 2") == tmp_path / "b.map"
    assert some.missing == []
    assert some.file("c.map", "Table 3") is None
    assert "there is no c.map" in some.missing[0]
    with pytest.raises(ParameterError, match="does not exist"):
        RealData(tmp_path / "nowhere")
