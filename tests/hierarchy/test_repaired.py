"""A hierarchy that is carried over to a changed graph answers as one that is built for it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfold import Hierarchy
from wayfold.errors import ParameterError
from wayfold.graph import Graph

pytestmark = pytest.mark.kernels


def world(rng, side, directed, share=0.85):
    """Cells of a square with steps between most neighbours; some places are left out."""
    free = rng.random((side, side)) < 0.93
    numbers = np.where(free, np.cumsum(free.ravel()).reshape(side, side) - 1, -1)
    pairs = np.concatenate(
        [
            np.column_stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()]),
            np.column_stack([numbers[:-1].ravel(), numbers[1:].ravel()]),
        ]
    )
    pairs = pairs[(pairs >= 0).all(axis=1) & (rng.random(len(pairs)) < share)]
    turned = rng.random(len(pairs)) < 0.5
    pairs[turned] = pairs[turned, ::-1]
    points = np.argwhere(free).astype(float)
    return points, pairs, rng.integers(1, 6, len(pairs)).astype(float), directed


def changed(rng, points, pairs, costs, directed):
    """The same world with nodes that are gone, come or moved to other numbers, and edges that came, went or changed."""
    middle, reach = points[rng.integers(len(points))], rng.uniform(1, 5)
    near = np.abs(points - middle).max(axis=1) < reach
    gone = near & (rng.random(len(points)) < rng.choice([0.0, 0.3, 1.0]))
    kept = np.flatnonzero(~gone)
    if rng.random() < 0.5:  # numbers may change altogether
        kept = rng.permutation(kept)
    fresh = int(rng.integers(0, 4))
    kept = np.insert(kept, rng.integers(0, len(kept) + 1, fresh), -1)
    new_of = np.full(len(points), -1)
    new_of[kept[kept >= 0]] = np.flatnonzero(kept >= 0)
    new_points = np.where(kept[:, None] >= 0, points[kept], middle + 0.3)
    stay = (new_of[pairs] >= 0).all(axis=1)
    moved, prices = new_of[pairs[stay]], costs[stay]
    at = near[pairs[stay]].all(axis=1)
    prices = np.where(at & (rng.random(len(prices)) < 0.5), rng.choice([0.1, 1, 9, np.inf], len(prices)), prices)
    ends = np.concatenate([new_of[near & ~gone], np.flatnonzero(kept < 0)])
    more = rng.choice(ends, (int(rng.integers(0, 6)), 2)) if len(ends) else np.empty((0, 2), int)
    more = more[more[:, 0] != more[:, 1]]
    moved = np.concatenate([moved, more])
    return kept, (new_points, moved, np.concatenate([prices, rng.uniform(0, 3, len(more))]), directed)


def graph_of(points, pairs, costs, directed):
    return Graph.from_edges(points, pairs, costs=costs, directed=directed)


def check(hierarchy, graph, rng, queries=60):
    starts, goals = rng.integers(0, graph.num_nodes, (2, queries))
    wanted = np.array([graph.distances(a, [b])[0] for a, b in zip(starts.tolist(), goals.tolist(), strict=True)])
    found = np.array([hierarchy.path(a, b).cost for a, b in zip(starts.tolist(), goals.tolist(), strict=True)])
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    levels = hierarchy.num_levels
    some = [hierarchy.path(a, b, level=levels) for a, b in zip(starts.tolist(), goals.tolist(), strict=True)]
    np.testing.assert_allclose([path.cost for path in some], wanted, rtol=1e-5)
    for path in some:
        for a, b in zip(path.nodes, path.nodes[1:], strict=False):
            assert b in graph.targets[graph.offsets[a] : graph.offsets[a + 1]]
    np.testing.assert_allclose(hierarchy.paths(starts, goals).costs, wanted, rtol=1e-5)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([2, 3]))
def test_a_repaired_hierarchy_answers_as_the_changed_graph_does(seed, directed, levels):
    rng = np.random.default_rng(seed)
    given = world(rng, 22, directed)
    graph = graph_of(*given)
    hierarchy = Hierarchy.build(graph, merge=3, levels=levels, workers=1)
    for _ in range(3):
        kept, given = changed(rng, *given)
        before, old = hierarchy, graph
        graph = graph_of(*given)
        hierarchy = before.changed(graph, kept)
        check(hierarchy, graph, rng)
        check(before, old, rng, 10)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_updates_may_come_before_and_after_a_repair(seed, directed):
    rng = np.random.default_rng(seed)
    given = world(rng, 20, directed)
    hierarchy = Hierarchy.build(graph_of(*given), merge=3, levels=3, workers=1)
    hierarchy._queries[True].levels.most_work = int(rng.choice([0, 60_000]))  # 0: large parts are set aside
    for _ in range(2):
        points, pairs, costs, _ = given
        some = rng.choice(len(pairs), 8, replace=False)
        costs = costs.copy()
        costs[some] = rng.choice([0.2, 4.0, np.inf], 8)
        given = points, pairs, costs, directed
        hierarchy.update(pairs[some], costs[some])
        same = [
            np.flatnonzero((pairs == pair).all(axis=1) | ((pairs == pair[::-1]).all(axis=1) & (not directed)))
            for pair in pairs[some]
        ]
        for at, equal in zip(some, same, strict=True):
            costs[equal] = costs[at]
        kept, given = changed(rng, points, pairs, costs, directed)
        hierarchy = hierarchy.changed(graph_of(*given), kept)
        check(hierarchy, graph_of(*given), rng, 30)


def test_only_costs_may_change_and_what_is_kept_is_equal_array_by_array():
    rng = np.random.default_rng(1)
    points, pairs, costs, _ = world(rng, 30, False)
    hierarchy = Hierarchy.build(graph_of(points, pairs, costs, False), merge=3, levels=3, workers=1)
    kept = np.arange(len(points))
    costs = costs.copy()
    costs[:5] = 40.0
    graph = graph_of(points, pairs, costs, False)
    repaired = hierarchy.changed(graph, kept)
    check(repaired, graph, rng)
    fresh = Hierarchy(graph, 3, 3, 0, True, hierarchy.partition)
    one, two = (each._queries[True].levels.overlay for each in (repaired, fresh))
    for name in ("offsets", "places", "heights", "rows", "members", "starts", "row_base"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), name)
    for row in range(one.row_first.size):
        a, b = slice(one.row_first[row], one.row_last[row]), slice(two.row_first[row], two.row_last[row])
        np.testing.assert_array_equal(one.targets[a], two.targets[b])
        np.testing.assert_array_equal(one.costs[a], two.costs[b])


def test_everything_may_go_and_come():
    rng = np.random.default_rng(2)
    given = world(rng, 20, False)
    graph = graph_of(*given)
    small = Graph.from_edges([(0, 0)], np.empty((0, 2), int), costs=[])
    hierarchy = Hierarchy.build(graph, merge=3, levels=2, workers=1)
    alone = hierarchy.changed(small, [-1])
    assert alone.path(0, 0).cost == 0
    back = alone.changed(graph, np.full(graph.num_nodes, -1))
    check(back, graph, rng)
    paper = Hierarchy.build(graph, merge=3, levels=2, exact=False, workers=1)
    kept, given = changed(rng, *given)
    other = graph_of(*given)
    found = paper.changed(other, kept)
    for a, b in rng.integers(0, other.num_nodes, (30, 2)).tolist():
        assert found.path(a, b).found == other.path(a, b).found
        assert found.path(a, b).cost >= other.path(a, b).cost * (1 - 1e-6)


@pytest.mark.parametrize("kept", [[0], [0, 0, 1], [0, 1, 3], [-2, 0, 1], [0.0, 1.0, 2.0]])
def test_kept_must_name_old_nodes_once(kept):
    graph = Graph.from_edges([(0, 0), (1, 0), (2, 0)], [(0, 1), (1, 2)], costs=[1, 1])
    with pytest.raises(ParameterError, match="kept"):
        Hierarchy.build(graph).changed(graph, kept)


def test_the_former_name_works_and_warns():
    graph = Graph.from_edges([(0, 0), (1, 0), (2, 0)], [(0, 1), (1, 2)])
    with pytest.warns(DeprecationWarning, match="repaired is now changed"):
        assert Hierarchy.build(graph).repaired(graph, [0, 1, 2]).path(0, 2).cost == 2
