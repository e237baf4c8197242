"""Ctrl-C at random moments of builds and edits: nothing crashes, and every object is as before or as after."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.kernels

# A process of its own: an interrupt at the wrong place would end it. The alarm interrupts it from inside.
COMMON = """
import os, random, signal, sys
import numpy as np
import wayfold
from wayfold import Agent, SparseGrid, World, samples

rng = random.Random(1)
signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))

def interrupted(work, longest, times):
    ended = 0
    for _ in range(times):
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, longest))
        try:
            work()
        except KeyboardInterrupt:
            ended += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        yield ended
"""
BUILDS = """
mesh = samples.dungeon(3, floors=1)
expected = wayfold.NavMesh.build(mesh, Agent())
ended = 0
for ended in interrupted(lambda: wayfold.NavMesh.build(mesh, Agent()), 0.2, times):
    pass
again = wayfold.NavMesh.build(mesh, Agent())
assert (again.vertices == expected.vertices).all()
print(ended)
"""
EDITS = """
cells = {(x, y, 0) for x in range(30) for y in range(30)}
grid = SparseGrid.from_cells(sorted(cells))
ended = 0
def edit():
    grid.remove(some)
    grid.add(some)
for _ in range(times):
    some = rng.sample(sorted(cells), 200)
    for more in interrupted(edit, 2e-3, 1):
        ended += more
    there = {cell for cell, yes in zip(sorted(cells), grid.contains(sorted(cells))) if yes}
    assert there in (cells, cells - set(some)), len(there)
    if there != cells:
        grid.add(some)
fresh = SparseGrid.from_cells(sorted(cells))
assert grid.num_cells == fresh.num_cells and grid.num_regions == fresh.num_regions
assert grid.path((0, 0), (29, 29), abstract=False).cost == fresh.path((0, 0), (29, 29), abstract=False).cost
print(ended)
"""
WORLDS = """
world = World.sample("dungeon", seed=3, floors=1, cache=False)
planner = world.planner()
a, b = planner.random_points(2, seed=4)
free = planner.path(a, b, exact=True).length
middle = (a + b) / 2
box = wayfold.Box(middle - 0.7, middle + 0.7)
closed = {False: free}
world.block(box)
closed[True] = planner.path(a, b, exact=True).length
world.unblock(box)
ended = 0
for _ in range(times):
    def edit():
        (world.unblock if world.blocks else world.block)(box)
    for more in interrupted(edit, 0.05, 1):
        ended += more
    assert planner.path(a, b, exact=True).length == closed[bool(world.blocks)]
print(ended)
"""


def run(script, times):
    """Run a script with so many interrupts; returns how many came before the work was done."""
    text = textwrap.dedent(COMMON) + f"times = {times}\n" + script
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    return int(done.stdout.split()[-1])


@pytest.mark.parametrize("script", [BUILDS, EDITS, WORLDS], ids=["builds", "edits", "worlds"])
def test_interrupts_at_random_moments_break_nothing(script):
    assert run(script, 25) > 2


@pytest.mark.long
@pytest.mark.parametrize("script", [BUILDS, EDITS, WORLDS], ids=["builds", "edits", "worlds"])
def test_two_hundred_interrupts_break_nothing(script):
    assert run(script, 200) > 20
