from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request

import pytest
from typer.testing import CliRunner

from wayfold.cli.app import app
from wayfold.errors import ParameterError


def run(*arguments):
    return CliRunner().invoke(app, ["view", *(str(argument) for argument in arguments)], catch_exceptions=False)


@pytest.mark.parametrize("arguments", [(), ("level.obj", "--sample", "city")])
def test_a_file_or_a_sample_is_needed_and_not_both(arguments):
    with pytest.raises(ParameterError, match="either a file or --sample"):
        run(*arguments)


def test_without_viser_one_sentence_says_how_to_install_it():
    code = "import sys; sys.modules['viser'] = None; sys.argv[1:] = ['view', '--sample', 'rooms']; "
    done = subprocess.run(
        [sys.executable, "-c", code + "from wayfold.cli import main; main()"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr == "wayfold: the viewer needs viser: pip install '.[view]'\n"


def test_options_of_samples_and_of_files_are_not_mixed_up(tmp_path):
    pytest.importorskip("viser")
    with pytest.raises(ParameterError, match="--seed and --size are for samples"):
        run(tmp_path / "level.obj", "--size", 100)
    with pytest.raises(ParameterError, match="--up is for a file"):
        run("--sample", "city", "--up", "y")
    with pytest.raises(ParameterError, match="unknown sample"):
        run("--sample", "atlantis")


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_page_is_served_on_this_machine_until_a_signal_ends_it(number, tmp_path, monkeypatch):
    pytest.importorskip("viser")
    monkeypatch.setenv("WAYFOLD_CACHE", str(tmp_path))
    command = [sys.executable, "-c", "from wayfold.cli import main; main()", "view", "--sample", "rooms"]
    with subprocess.Popen([*command, "--no-open", "--port", "0"], stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            page = urllib.request.urlopen(line.split()[1], timeout=30).read()
            process.send_signal(number)
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert line.startswith("rooms: http://127.0.0.1:")
    assert b"<html" in page
