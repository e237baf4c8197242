"""The city's navigation graph: the same lengths as scipy's Dijkstra, and the mean that was published with it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from benchmarks import peers
from wayfold import Status

pytestmark = pytest.mark.data


@pytest.mark.parametrize("algorithm", ["astar", "dijkstra", "bidirectional"])
def test_the_hundred_city_pairs_have_the_lengths_of_scipy(data, algorithm):
    task = peers.city(data)
    matrix = task.graph.to_scipy()
    paths = [task.graph.path(a, b, algorithm=algorithm) for a, b in zip(task.starts, task.goals, strict=True)]
    expected = [dijkstra(matrix, indices=a)[b] for a, b in zip(task.starts, task.goals, strict=True)]
    np.testing.assert_allclose([path.cost for path in paths], expected, rtol=1e-6)
    assert np.mean(expected) == pytest.approx(1616.07, abs=0.005)


def test_an_island_of_the_city_is_unreachable_without_a_search(data):
    task = peers.city(data)
    labels = task.graph.components()
    start = int(task.starts[0])
    island = int(np.flatnonzero(labels != labels[start])[0])
    path = task.graph.path(start, island)
    assert path.status is Status.UNREACHABLE
    assert path.expanded == 0
    assert not np.isfinite(task.graph.distances(start, [island])[0])
