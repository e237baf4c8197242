"""Real maps: every sampled scenario has the listed optimal length, on the grid and on the grid as a graph."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayfold import DenseGrid, Status
from wayfold.formats import load_map, load_scen

pytestmark = pytest.mark.data


def tolerance(length):
    return max(1e-4, 0.51 * 10 ** (math.floor(math.log10(length)) - 5))


def check(data, folder, name, most):
    cells = load_map(data / folder / f"{name}.map")
    scenarios = load_scen(data / folder / f"{name}.map.scen")
    picked = np.unique(np.linspace(0, len(scenarios) - 1, most).astype(int))
    zero = np.flatnonzero(scenarios.lengths == 0)
    picked = np.union1d(picked, zero)
    starts, goals, lengths = scenarios.starts[picked], scenarios.goals[picked], scenarios.lengths[picked]
    grid = DenseGrid(cells.kinds)
    graph, numbers = grid.graph()
    answers = grid.paths(starts, goals)
    again = graph.paths(numbers[starts[:, 1], starts[:, 0]], numbers[goals[:, 1], goals[:, 0]])
    np.testing.assert_allclose(again.costs, answers.costs, rtol=1e-6)
    for at in range(len(picked)):
        if lengths[at] == 0 and not (starts[at] == goals[at]).all():
            assert answers[at].status is Status.UNREACHABLE
            assert again[at].status is Status.UNREACHABLE
        elif lengths[at] == 0:
            assert answers.costs[at] == 0
        else:
            assert abs(answers.costs[at] - lengths[at]) <= tolerance(lengths[at])
            assert abs(again.costs[at] - lengths[at]) <= tolerance(lengths[at])
    return len(picked)


def test_every_sampled_dao_scenario_has_the_listed_length(data):
    maps = sorted(file.stem for file in (data / "movingai/dao").glob("*.map"))
    assert len(maps) == 156
    checked = sum(check(data, "movingai/dao", name, 60) for name in maps)
    assert checked >= 156 * 50


def test_every_sampled_street_scenario_has_the_listed_length(data):
    for file in sorted((data / "movingai/cities").glob("*.map")):
        check(data, "movingai/cities", file.stem, 60)
