"""What saving promises: all or nothing, permissions kept, nothing left behind, nothing but regular files replaced."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from wayfold.core import archive
from wayfold.errors import FormatError, ParameterError

ARRAYS = {"x": np.arange(4)}


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o400])
def test_a_replaced_file_keeps_its_permissions(tmp_path, mode):
    file = tmp_path / "a.wayfold"
    archive.write_archive(file, "graph", ARRAYS)
    file.chmod(mode)
    archive.write_archive(file, "graph", {"x": np.arange(5)})
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert archive.read_archive(file).arrays["x"].size == 5


def test_a_new_file_has_the_permissions_that_the_user_gives_new_files(tmp_path):
    before = os.umask(0o027)
    try:
        archive.write_archive(tmp_path / "a.wayfold", "graph", ARRAYS)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.wayfold").stat().st_mode) == 0o640


def test_a_link_stays_a_link_and_what_it_points_to_is_replaced(tmp_path):
    archive.write_archive(tmp_path / "a.wayfold", "graph", ARRAYS)
    (tmp_path / "link").symlink_to("a.wayfold")
    archive.write_archive(tmp_path / "link", "graph", {"x": np.arange(5)})
    assert (tmp_path / "link").is_symlink()
    assert archive.read_archive(tmp_path / "a.wayfold").arrays["x"].size == 5


def test_what_is_no_regular_file_is_neither_replaced_nor_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FormatError, match="regular file"):
        archive.write_archive(pipe, "graph", ARRAYS)
    with pytest.raises(FormatError, match="regular file"):
        archive.read_archive(pipe)
    with pytest.raises(FormatError, match="regular file"):
        archive.read_archive(tmp_path)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [entry.name for entry in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize("name", ["a\0b", 3, None, ["a"]])
def test_what_cannot_name_a_file_gets_a_sentence(name):
    with pytest.raises(ParameterError, match="file"):
        archive.write_archive(name, "graph", ARRAYS)
    with pytest.raises(ParameterError, match="file"):
        archive.read_archive(name)


def killed_while_writing(folder):
    """A process that is killed with a temporary file open; returns the names that it leaves."""
    script = """
        import os, signal, sys
        from wayfold.core import archive
        with archive.replacing(sys.argv[1]) as handle:
            handle.write(b"half")
            handle.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(folder / "a.wayfold")]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    return sorted(entry.name for entry in folder.iterdir())


def test_what_a_killed_process_left_is_removed_at_the_next_save(tmp_path):
    left = killed_while_writing(tmp_path)
    assert len(left) == 1
    assert left[0].endswith(".part")
    (tmp_path / ".b.wayfold.0123456789ab.part").write_bytes(b"of another file")
    archive.write_archive(tmp_path / "a.wayfold", "graph", ARRAYS)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [".b.wayfold.0123456789ab.part", "a.wayfold"]


def test_what_another_process_is_writing_stays(tmp_path):
    with archive.replacing(tmp_path / "a.wayfold") as handle:
        handle.write(b"slow")
        archive.write_archive(tmp_path / "a.wayfold", "graph", ARRAYS)
        assert len(list(tmp_path.glob(".*.part"))) == 1
    assert (tmp_path / "a.wayfold").read_bytes() == b"slow"
    assert not list(tmp_path.glob(".*.part"))
