"""What a property test draws depends on its seed alone."""

from __future__ import annotations

import importlib.util
import shlex
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.run_seeds import repeats


def drawn():
    """What a property test draws."""
    values = []

    @settings(max_examples=300, derandomize=True, database=None)
    @given(st.integers(), st.text())
    def collect(number, text):
        values.append((number, text))

    collect()
    return values


def test_draws_do_not_depend_on_which_modules_are_loaded(tmp_path, monkeypatch):
    first = drawn()
    path = tmp_path / "many_numbers.py"
    path.write_text("".join(f"A{k} = {7_000_000_019 + k * 1_000_003}\nB{k} = 'word number {k}'\n" for k in range(99)))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    assert drawn() == first


def test_the_commands_that_repeat_failures_name_every_test_whole():
    output = (
        "FAILED tests/a.py::test_one - assert 1 == 2\nFAILED tests/b.py::test_two[3-steps of half a climb] - x [y]\n"
        "ERROR tests/c.py::test_three[a'b]\n2 failed, 1 error in 3 s\n"
    )
    named = [shlex.split(command)[3:] for command in repeats(output, 7)]
    tests = ["tests/a.py::test_one", "tests/b.py::test_two[3-steps of half a climb]", "tests/c.py::test_three[a'b]"]
    assert named == [[test, "--seed=7"] for test in tests]
