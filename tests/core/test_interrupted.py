"""Ctrl-C at random moments of every build and every edit: nothing crashes, each object is as before or as after."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.draws import seeds
from tests.interrupting import BUILDS, EDITS

pytestmark = pytest.mark.kernels


def run(kind, times, seed=1):
    """Interrupt so many times in a process of its own; returns how many came before the work was done."""
    command = [sys.executable, "-m", "tests.interrupting", kind, str(times), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, f"{kind}: exit {done.returncode}: {done.stderr[-2000:]}"
    assert done.stderr == "", f"{kind}: {done.stderr[-2000:]}"
    stopped, _ = map(int, done.stdout.split())
    return stopped


@pytest.mark.parametrize("kind", ["navmesh", "planners", "batch", "grid-cells", "update", "blocks"])
def test_interrupts_at_random_moments_break_nothing(kind):
    assert run(kind, 15) > 2


@pytest.mark.long
@pytest.mark.parametrize("kind", [*BUILDS, *EDITS])
@seeds(1)
def test_two_hundred_interrupts_of_every_build_and_edit_break_nothing(kind, seed):
    assert run(kind, 200, seed) > 20
