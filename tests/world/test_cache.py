"""What a world keeps on disk is used only where it is what its name says, made by this code."""

import shutil

import numpy as np
import pytest

from tests.world.levels import courtyard
from wayfold import Agent, Mesh, World
from wayfold.world.cache import code_stamp

pytestmark = pytest.mark.kernels


def square(side):
    corners = np.array([(0, 0, 0), (side, 0, 0), (side, side, 0), (0, side, 0)], float)
    return Mesh(corners, np.array([(0, 1, 2), (0, 2, 3)]))


def kept(folder, mesh):
    """The planner of a world, and the files that it keeps."""
    planner = World.from_mesh(mesh, cache=folder).planner(Agent(), accelerator="none")
    return planner, sorted(folder.iterdir())


def test_a_valid_file_that_was_copied_over_another_is_not_used(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    small, (small_file,) = kept(tmp_path / "one", square(8.0))
    _, (large_file,) = kept(tmp_path / "other", square(20.0))
    assert small.notes.cached is None
    shutil.copy(large_file, small_file)
    again, _ = kept(tmp_path / "one", square(8.0))
    assert again.notes.cached is None
    assert again.map.vertices.max() < 9.0
    third, _ = kept(tmp_path / "one", square(8.0))  # the right one took its place
    assert third.notes.cached is not None


def test_a_damaged_file_is_built_again(tmp_path):
    _, files = kept(tmp_path, courtyard())
    for file in files:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert kept(tmp_path, courtyard())[0].notes.cached is None
    assert kept(tmp_path, courtyard())[0].notes.cached is not None


def test_maps_that_other_code_built_are_told_apart(tmp_path):
    (tmp_path / "navmesh").mkdir()
    (tmp_path / "view").mkdir()
    code = tmp_path / "navmesh" / "pipeline.py"
    code.write_text("cell = 1\n")
    before = code_stamp.__wrapped__(tmp_path)
    (tmp_path / "view" / "pictures.py").write_text("colour = 1\n")
    assert code_stamp.__wrapped__(tmp_path) == before
    code.write_text("cell = 2\n")
    assert code_stamp.__wrapped__(tmp_path) != before


def test_a_user_without_a_home_has_no_cache_and_everything_works(monkeypatch):
    for name in ("HOME", "XDG_CACHE_HOME", "WAYFOLD_CACHE", "LOCALAPPDATA", "USERPROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # what a system without an entry for the user does
    assert World.from_mesh(square(8.0), cache=True).planner(accelerator="none").path((1, 1), (7, 7))
