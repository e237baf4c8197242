"""Updates leave nothing behind: after thousands of them a hierarchy takes about what a new one takes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.draws import seeds
from wayfold import Graph, Hierarchy

pytestmark = pytest.mark.kernels

SIDE = 24


def lattice(rng):
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    across = np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    edges = np.concatenate([across, np.column_stack([number[:-1].ravel(), number[1:].ravel()])])
    points = np.column_stack([np.tile(np.arange(SIDE), SIDE), np.repeat(np.arange(SIDE), SIDE)])
    return Graph.from_edges(points, edges, costs=rng.uniform(1, 2, len(edges))), edges


def wear(seed, updates):
    rng = np.random.default_rng(seed)
    graph, edges = lattice(rng)
    worn = Hierarchy.build(graph, merge=6, levels=3)
    largest = 0
    for at in range(updates):
        worn.update(edges[rng.integers(len(edges), size=6)], rng.choice([0.2, 1.0, 2.0, 5.0, 50.0, np.inf], size=6))
        largest = max(largest, worn.nbytes)
        if at % 100 == 99:
            worn.refresh()
    worn.refresh()
    fresh = Hierarchy.build(worn.graph, merge=6, levels=3)
    assert worn.nbytes <= 1.25 * fresh.nbytes
    assert largest <= 2.0 * max(fresh.nbytes, Hierarchy.build(graph, merge=6, levels=3).nbytes)
    for _ in range(100):
        a, b = rng.integers(SIDE * SIDE, size=2)
        path, plain = worn.path(a, b), worn.graph.path(a, b)
        assert path.status is plain.status
        assert path.cost == pytest.approx(plain.cost, rel=1e-5)


@seeds(1, found=(9703000, 4))
def test_hundreds_of_updates_leave_nothing_behind(seed):
    wear(seed, 400)


@pytest.mark.long
@seeds(2)
def test_thousands_of_updates_leave_nothing_behind(seed):
    wear(seed, 6000)
