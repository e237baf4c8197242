"""How a command ends when its user, its terminal or its files are not as usual."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from wayfold import Graph
from wayfold.core.batches import worker_count
from wayfold.errors import ParameterError

MAP = "type octile\nheight 3\nwidth 5\nmap\n.....\n.TTT.\n.....\n"
SQUARE = "v 0 0 0\nv 9 0 0\nv 9 9 0\nv 0 9 0\nf 1 2 3\nf 1 3 4\n"
COMMAND = [sys.executable, "-c", "from wayfold.cli import main; main()"]


@pytest.fixture
def arena(tmp_path):
    file = tmp_path / "arena.map"
    file.write_text(MAP)
    return file


@pytest.mark.parametrize("name", ["lev.obj", "./lev.obj", "link.obj"])
def test_a_command_does_not_write_over_what_it_reads(tmp_path, name):
    (tmp_path / "lev.obj").write_text(SQUARE)
    (tmp_path / "link.obj").symlink_to("lev.obj")
    run = subprocess.run(
        [*COMMAND, "build", "lev.obj", name], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert run.returncode == 2
    assert "is the input file" in run.stderr
    assert (tmp_path / "lev.obj").read_text() == SQUARE


@pytest.mark.parametrize("command", [["path", "a.png", "0", "1"], ["info", "a.png"]])
def test_a_picture_does_not_take_the_place_of_what_is_shown(tmp_path, command):
    Graph.from_edges([(0, 0), (1, 0)], [(0, 1)]).save(tmp_path / "a.png")
    before = (tmp_path / "a.png").read_bytes()
    run = subprocess.run(
        [*COMMAND, *command, "--picture", "a.png"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert run.returncode == 2
    assert "is the input file" in run.stderr
    assert (tmp_path / "a.png").read_bytes() == before


@pytest.mark.parametrize("number", ["\u00b2", "--5", "9" * 5000])
def test_what_only_looks_like_a_number_gets_a_sentence(tmp_path, monkeypatch, number):
    Graph.from_edges([(0, 0), (1, 0)], [(0, 1)]).save(tmp_path / "a.wayfold")
    merged = ["build", "a.wayfold", "b.wayfold", "--accelerate", "hierarchy", f"--merge={number}"]
    for command in (["path", "a.wayfold", "--", number, "1"], merged):
        run = subprocess.run([*COMMAND, *command], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert run.returncode == 2
        assert "Traceback" not in run.stderr
    monkeypatch.setenv("WAYFOLD_THREADS", number)
    with pytest.raises(ParameterError, match="WAYFOLD_THREADS"):
        worker_count()


@pytest.mark.parametrize("closed", [[1], [2], [1, 2], [0, 1, 2]])
def test_closed_streams_are_no_error(arena, closed):
    script = "import os, sys\n" + "".join(f"os.close({number})\n" for number in closed)
    script += f"os.execv(sys.executable, {[*COMMAND, 'info', str(arena)]!r})"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0
    assert run.stderr == ""


def test_a_reader_that_went_away_is_no_error_worth_a_traceback(arena):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        run = subprocess.run(
            [*COMMAND, "info", str(arena)], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writer)
    assert run.returncode == 1
    assert run.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_gets_a_sentence(arena):
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [*COMMAND, "info", str(arena)], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert run.returncode == 2
    assert run.stderr.startswith("wayfold: ")
    assert "Traceback" not in run.stderr


def test_ctrl_c_ends_a_command_with_a_sentence_and_leaves_files_alone(tmp_path):
    (tmp_path / "out.wayfold").write_text("as it was")
    (tmp_path / "source.map").write_text("type octile\nheight 2\nwidth 2\nmap\n..\n..\n")
    # Interrupted from inside, as soon as it opens its source.
    code = (
        "import os, signal, sys\n"
        "def watch(event, given):\n"
        "    if event == 'open' and str(given[0]).endswith('source.map'): os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.addaudithook(watch)\n"
        "from wayfold.cli import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code, "build", "source.map", "out.wayfold"]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert process.returncode == 130
    assert process.stderr == "wayfold: interrupted; no file was changed\n"
    assert (tmp_path / "out.wayfold").read_text() == "as it was"
