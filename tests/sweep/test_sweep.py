"""Every public callable with arguments that nobody means, in a process with limits on time and memory."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.sweep.subjects import LEFT_OUT, public, subjects

pytestmark = pytest.mark.kernels


def sweep(tmp_path, *options):
    """Run calls in a process of their own and return what it found."""
    log = tmp_path / "log"
    command = [sys.executable, "-m", "tests.sweep.run", "--log", str(log), *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000, check=False)
    where = log.read_text().strip() if log.exists() else "before the first call"
    assert done.returncode == 0, f"the process ended with {done.returncode} in {where}:\n{done.stderr[-3000:]}"
    return json.loads(done.stdout.splitlines()[-1])


def shown(found):
    return "\n".join(f"{one['case']}: {one['problem']}" for one in found["problems"][:40])


def test_no_public_callable_is_missing():
    found, unknown = subjects()
    assert not unknown
    asked = {label.partition(".")[0].partition("[")[0] for label in (*found, *LEFT_OUT)}
    from tests.sweep.subjects import _is_record

    records = {name for name, thing in public().items() if isinstance(thing, type) and _is_record(thing)}
    assert set(public()) == asked | records


def test_odd_arguments_are_refused_in_a_sentence_or_answered_sanely(tmp_path):
    found = sweep(tmp_path, "--singles", 2500, "--pairs", 500)
    assert found["calls"] >= 2500
    assert not found["problems"], shown(found)


@pytest.mark.long
def test_every_argument_with_every_odd_value_and_many_pairs(tmp_path):
    found = sweep(tmp_path, "--pairs", 10000, "--seed", 1)
    assert found["calls"] > 50000
    assert not found["problems"], shown(found)
