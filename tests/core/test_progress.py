"""Progress callbacks take ``(what, done, total)``; those of two arguments work for one version, with a warning."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sweep import subjects
from wayfold import Agent, DenseGrid, Hierarchy, NavMesh, SparseGrid, WaypointGraph
from wayfold.core.progress import stage, with_what

FLOOR = DenseGrid(np.ones((30, 30), bool))
BUILDERS = {
    "navigation mesh": lambda progress: NavMesh.build(subjects.mesh(), progress=progress),
    "cells": lambda progress: SparseGrid.from_mesh(subjects.mesh(), progress=progress),
    "waypoints": lambda progress: WaypointGraph.build(
        subjects.mesh(), subjects.FLYER, region_size=10.0, progress=progress
    ),
    "landmarks": lambda progress: subjects._subregions().prepare_exact(3, progress=progress),
    "partitioning": lambda progress: Hierarchy.build(FLOOR, merge=8, levels=2, progress=progress),
}


class Listener:
    """An object that is called."""

    def __init__(self):
        self.steps = []

    def __call__(self, what, done, total):
        self.steps.append((what, done, total))


@pytest.mark.kernels
@pytest.mark.parametrize("what", BUILDERS)
def test_every_builder_tells_what_it_does_and_how_far_it_is(what, recwarn):
    subjects._subregions.cache_clear()
    listener = Listener()
    BUILDERS[what](listener)
    assert what in {step[0] for step in listener.steps}
    assert all(0 <= done <= total for _, done, total in listener.steps)
    assert not [one for one in recwarn if one.category is DeprecationWarning]


@pytest.mark.kernels
@pytest.mark.parametrize("what", [name for name in BUILDERS if name != "partitioning"])
def test_callables_of_two_arguments_work_and_warn_where_they_are_given(what):
    subjects._subregions.cache_clear()
    steps = []
    with pytest.warns(DeprecationWarning, match="progress is now called as") as warned:
        BUILDERS[what](lambda done, total: steps.append((done, total)))
    assert steps
    assert all(0 <= done <= total for done, total in steps)
    assert warned[0].filename == __file__


@pytest.mark.parametrize("given", [print, max, lambda *all: None, Listener(), Agent, lambda what, done, total=0: None])
def test_what_takes_three_arguments_is_left_as_it_is(given, recwarn):
    assert with_what(given, "build") is given
    assert not recwarn.list


def test_a_stage_without_a_listener_is_none():
    assert stage(None, "cells") is None
