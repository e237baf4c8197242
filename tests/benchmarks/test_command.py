"""`python -m benchmarks` as its user runs it, without real data."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from functools import partial

import pytest

COMMAND = [sys.executable, "-m", "benchmarks"]


@pytest.fixture(autouse=True)
def _no_data(monkeypatch):
    monkeypatch.delenv("WAYFOLD_DATA", raising=False)


def bench(*arguments):
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False)


def test_a_paper_without_real_data_measures_what_can_be_made_and_says_what_is_missing(tmp_path):
    out = tmp_path / "new" / "report"
    result = bench("papers", "--paper", "hierarchy", "--out", out)
    assert result.returncode == 0, result.stderr
    assert "hierarchy (1 of 1)" in result.stderr
    assert "the city navmesh: not measured" in result.stdout
    assert f"The report is {out / 'index.md'}" in result.stdout
    assert sorted(file.name for file in out.iterdir()) == ["hierarchy.json", "hierarchy.md", "index.md"]
    assert "(hierarchy.md)" in (out / "index.md").read_text()
    stored = json.loads((out / "hierarchy.json").read_text())
    (table,) = stored["tables"]
    for row in table["rows"]:
        assert row["verdict"] == ("met" if row["ours"] >= row["rule"]["bound"] else "missed")


def test_a_run_that_is_stopped_leaves_no_file_behind(tmp_path):
    command = [*COMMAND, "papers", "--paper", "subregion", "--out", str(tmp_path / "report")]
    # A shell that runs the tests in the background has its children ignore Ctrl-C.
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, preexec_fn=listen) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "subregion (1 of 1)\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert process.returncode not in (0, 2)
    assert "Traceback" not in errors
    assert list((tmp_path / "report").iterdir()) == []


def test_peers_without_real_data_are_compared_on_what_can_be_made(tmp_path):
    result = bench(
        "peers", "--peer", "scipy", "--peer", "extremitypathfinder", "--rounds", "1", "--out", tmp_path, "--json"
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert [row["name"] for row in found["comparisons"][0]["rows"]] == ["wayfold", "scipy"]
    assert "made district" in found["comparisons"][0]["title"]
    page = (tmp_path / "peers.md").read_text()
    assert "scipy, its time by wayfold's" in page
    if "extremitypathfinder" in found["absent"]:
        assert "not installed: pip install extremitypathfinder" in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("peers", "--data", "nowhere"), "does not exist"),
        (("peers", "--data", ".", "--peer", "boost"), "unknown peer 'boost'"),
        (("papers", "--data", "nowhere"), "does not exist"),
        (("papers", "--paper", "none"), "unknown paper 'none'"),
        (("papers", "--out", "LICENSE"), "is not a folder"),
        (("peers", "--out", "LICENSE"), "is not a folder"),
    ],
)
def test_wrong_input_is_one_sentence_with_status_2(arguments, words):
    result = bench(*arguments)
    assert result.returncode == 2, result.stdout + result.stderr
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_bench_of_a_crowd_reports_rates_and_checks_answers():
    arguments = ("--width", "120", "--depth", "120", "--agents", "200", "--rounds", "1", "--edits", "2", "--json")
    result = bench("world", *arguments)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert [len(part["rows"]) for part in report["comparisons"]] == [4, 3]
    assert report["world"]["block_ms"] > 0
