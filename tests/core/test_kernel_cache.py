"""Compiled kernels on disk: a damaged or foreign file is no file, and folders of strangers are not read."""

from __future__ import annotations

import importlib.util
import os
import pickle
import shutil
import sys
import warnings

import numpy as np
import pytest
from numba.core import event

from wayfold.core.kernel_cache import KernelCache

SOURCE = """
from wayfold.core.jit import kernel

@kernel
def double(values):
    for k in range(values.size):
        values[k] *= 2.0
    return values.size

@kernel
def triple(values):
    for k in range(values.size):
        values[k] *= 3.0
    return values.size
"""


class Compilations(event.Listener):
    def __init__(self):
        self.count = 0

    def on_start(self, event):
        self.count += 1

    def on_end(self, event):
        pass


@pytest.fixture
def module(tmp_path):
    """A module with two kernels; calling it imports it anew and returns (what they made of ones, compilations)."""
    file = tmp_path / "kernels_of_a_test.py"
    file.write_text(SOURCE)

    def run():
        spec = importlib.util.spec_from_file_location("kernels_of_a_test", file)
        loaded = importlib.util.module_from_spec(spec)
        sys.modules["kernels_of_a_test"] = loaded
        spec.loader.exec_module(loaded)
        values = np.ones(3)
        with event.install_listener("numba:compile", Compilations()) as compiled:
            loaded.double(values)
            loaded.triple(values)
        return values.tolist(), compiled.count

    yield run
    sys.modules.pop("kernels_of_a_test", None)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "__pycache__" / "kernels"


def files(folder):
    return sorted(folder.glob("*.nbc"))


def test_kernels_are_compiled_once(module, folder):
    assert module() == ([6.0] * 3, 2)
    assert module() == ([6.0] * 3, 0)
    assert len(files(folder)) == 2
    assert folder.stat().st_mode & 0o077 == 0


class Boom:
    def __reduce__(self):
        return os.abort, ()


def cut(content):
    return content[: len(content) // 2]


def flip(content):
    changed = bytearray(content)
    changed[len(changed) * 2 // 3] ^= 4
    return bytes(changed)


@pytest.mark.parametrize(
    "damage",
    [
        cut,
        flip,
        lambda content: b"",
        lambda content: content[:40],
        lambda content: os.urandom(len(content)),
        lambda content: "not a pickle".encode("utf-16") * 20,
        lambda content: content[:32] + pickle.dumps(Boom()),
        lambda content: pickle.dumps(Boom()),
        lambda content: content + b"more",
    ],
)
def test_a_damaged_file_is_compiled_anew_and_mended(module, folder, damage):
    module()
    for file in files(folder):
        file.write_bytes(damage(file.read_bytes()))
    assert module() == ([6.0] * 3, 2)
    assert module() == ([6.0] * 3, 0)


def test_the_code_of_one_kernel_is_not_taken_for_another(module, folder):
    module()
    one, other = files(folder)
    shutil.copy(one, other)
    assert module() == ([6.0] * 3, 1)
    assert module() == ([6.0] * 3, 0)


def test_a_folder_in_place_of_a_file_is_no_file(module, folder):
    module()
    for file in files(folder):
        file.unlink()
        file.mkdir()
    assert module() == ([6.0] * 3, 2)


def test_code_that_changed_is_compiled_again_in_place(module, folder, tmp_path):
    module()
    (tmp_path / "kernels_of_a_test.py").write_text(SOURCE.replace("3.0", "5.0"))
    from wayfold.core import jit

    jit._stamp.cache_clear()
    assert module()[0] == [10.0] * 3
    assert len(files(folder)) == 2


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no owners here")
@pytest.mark.parametrize("spoil", ["writable by others", "of somebody else", "a link"])
def test_a_folder_that_others_could_have_written_is_not_read_and_that_is_said_once(module, folder, tmp_path, spoil):
    module()
    KernelCache._told = False
    if spoil == "writable by others":
        folder.chmod(0o777)
    elif spoil == "a link":
        folder.rename(tmp_path / "elsewhere")
        folder.symlink_to(tmp_path / "elsewhere")
    elif os.geteuid() == 0:
        os.chown(folder, 12345, 12345)
    else:
        pytest.skip("only root can give a folder away")
    with pytest.warns(RuntimeWarning, match="not kept") as told:
        assert module() == ([6.0] * 3, 2)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert module() == ([6.0] * 3, 2)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("what", ["writable", "pipe", "device"])
def test_a_file_that_others_could_have_written_or_that_is_none_is_compiled_anew(module, tmp_path, what):
    assert module()[1] > 0
    assert module()[1] == 0
    for file in tmp_path.rglob("*.nbc"):
        if what == "writable":
            file.chmod(0o666)
        else:
            file.unlink()
            if what == "pipe":
                os.mkfifo(file, 0o600)
            else:
                file.symlink_to("/dev/zero")
    made, compiled = module()
    assert compiled > 0
    assert made == module()[0]
