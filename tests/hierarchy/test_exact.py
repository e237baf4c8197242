"""The multilevel search gives shortest paths, over any partition, and after any change of costs."""

from __future__ import annotations

import copy
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive
from tests.strategies import EdgeList, edge_lists
from wayfold import Graph, Hierarchy
from wayfold.hierarchy.partition import Partition

pytestmark = pytest.mark.kernels


def build(world):
    return Graph.from_edges(
        world.points, world.edges, costs=world.costs, motions=world.motions, directed=world.directed
    )


@st.composite
def partitions(draw, nodes, most_levels=3):
    """Nested parts of any shape, connected or not."""
    labels = []
    for _ in range(draw(st.integers(1, most_levels))):
        finer = labels[-1] if labels else np.arange(nodes)
        count = int(finer.max()) + 1
        coarser = draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))
        labels.append(np.unique(np.array(coarser)[finer], return_inverse=True)[1])
    order = np.lexsort(labels).astype(np.int32)
    starts = []
    for level in labels:
        changes = np.flatnonzero(np.diff(level[order])) + 1
        starts.append(np.concatenate([[0], changes, [nodes]]).astype(np.int32))
    return Partition(order, starts)


def over(graph, parts, exact=True):
    """A hierarchy over a given partition, which `build` would leave out on graphs this small."""
    return Hierarchy(graph, 2, parts.levels, 0, exact, parts)


def walk_cost(triples, nodes):
    total = 0.0
    for a, b in itertools.pairwise(nodes):
        total += min((cost for c, d, cost in triples if (c, d) == (a, b)), default=math.inf)
    return total


def check(hierarchy, world, triples, start, goal, level):
    expected = naive.graph_costs(world.nodes, triples, start)[goal]
    path = hierarchy.path(start, goal, level=level)
    assert path.found == math.isfinite(expected)
    assert path.cost == pytest.approx(expected, rel=1e-6, abs=1e-6)
    if path:
        assert path.nodes[0] == start
        assert path.nodes[-1] == goal
        assert walk_cost(triples, path.nodes.tolist()) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(edge_lists(max_nodes=16), st.data())
@settings(max_examples=300)
def test_a_path_is_legal_and_as_cheap_as_the_cheapest_over_any_partition_at_any_level(world, data):
    check_any_partition(world, data)


@pytest.mark.long
@given(edge_lists(max_nodes=40), st.data())
@settings(max_examples=10_000)
def test_larger_worlds_too(world, data):
    check_any_partition(world, data)


def check_any_partition(world, data):
    hierarchy = over(build(world), data.draw(partitions(world.nodes)))
    start, goal = (data.draw(st.integers(0, world.nodes - 1)) for _ in range(2))
    level = data.draw(st.integers(0, 3))
    check(hierarchy, world, world.one_way(), start, goal, level)


@given(edge_lists(max_nodes=16), st.data())
@settings(max_examples=150)
def test_costs_of_very_different_size_give_the_same_answers(world, data):
    """Sums near the largest float32 overflowed, and between large distances from landmarks only rounding was left."""
    cost = st.sampled_from([0.0, 1e-3, 0.7, 1.0, 3.0, 1e8, 1e27, 1e28, math.inf])
    count = len(world.edges)
    world.costs = np.array(data.draw(st.lists(cost, min_size=count, max_size=count)), float)
    hierarchy = over(build(world), data.draw(partitions(world.nodes)))
    start = data.draw(st.integers(0, world.nodes - 1))
    expected = naive.graph_costs(world.nodes, world.one_way(), start)
    for goal in range(world.nodes):
        path = hierarchy.path(start, goal, level=3)
        assert path.cost == pytest.approx(expected[goal], rel=1e-6)
        if path:
            assert walk_cost(world.one_way(), path.nodes.tolist()) == pytest.approx(expected[goal], rel=1e-6)


@st.composite
def changes(draw, world):
    """Some edges of the world and what they are to cost."""
    picked = draw(st.lists(st.integers(0, len(world.edges) - 1), min_size=1, max_size=6))
    cost = st.just(math.inf) | st.integers(0, 4).map(float) | st.floats(0, 1e3, width=32)
    return picked, draw(st.lists(cost, min_size=len(picked), max_size=len(picked)))


@given(edge_lists(max_nodes=14).filter(lambda world: len(world.edges)), st.data())
@settings(max_examples=300)
def test_after_updates_answers_are_those_of_the_new_costs(world, data):
    hierarchy = over(build(world), data.draw(partitions(world.nodes)))
    hierarchy._queries[True].levels.most_work = data.draw(st.integers(0, 100))  # more sets parts aside
    costs = np.array([cost for _, _, cost in EdgeList(world.points, world.edges, world.costs, None, True).one_way()])
    for _ in range(data.draw(st.integers(1, 3))):
        picked, prices = data.draw(changes(world))
        hierarchy.update(world.edges[picked], prices)
        for edge, price in zip(picked, prices, strict=True):  # parallel edges change together
            same = (world.edges == world.edges[edge]).all(axis=1)
            if not world.directed:
                same |= (world.edges[:, ::-1] == world.edges[edge]).all(axis=1)
            costs[same] = price
        changed = EdgeList(world.points, world.edges, costs, None, world.directed)
        start, goal = (data.draw(st.integers(0, world.nodes - 1)) for _ in range(2))
        check(hierarchy, world, changed.one_way(), start, goal, data.draw(st.integers(0, 3)))
        if data.draw(st.booleans()):
            hierarchy.refresh()
            check(hierarchy, world, changed.one_way(), start, goal, 3)


def test_what_an_update_has_set_aside_is_told_saved_and_copied(tmp_path):
    place = np.arange(24 * 24).reshape(24, 24)
    edges = np.concatenate([np.stack([place[:-1], place[1:]], -1), np.stack([place.T[:-1], place.T[1:]], -1)])
    edges = edges.reshape(-1, 2)
    graph = Graph.from_edges(np.column_stack([place.ravel() // 24, place.ravel() % 24]), edges)
    hierarchy = Hierarchy.build(graph, merge=4, levels=3)
    whole = [(level.nodes, level.portals) for level in hierarchy.levels]
    arcs = sum(level.inter_edges + level.intra_edges for level in hierarchy.levels)
    hierarchy._queries[True].levels.most_work = 0
    hierarchy.update(edges[::7], 3.0)
    assert [(level.nodes, level.portals) for level in hierarchy.levels] == whole
    assert sum(level.inter_edges + level.intra_edges for level in hierarchy.levels) < arcs
    assert "Hierarchy" in repr(hierarchy)
    hierarchy.save(tmp_path / "h.wf")
    expected = hierarchy.path(0, 575).cost
    for same in (Hierarchy.load(tmp_path / "h.wf"), copy.deepcopy(hierarchy), pickle.loads(pickle.dumps(hierarchy))):
        assert same.path(0, 575).cost == expected
        same.refresh()
        assert same.path(0, 575).cost == expected
        assert [(level.nodes, level.portals) for level in same.levels] == whole


@given(edge_lists(max_nodes=14), st.data(), st.integers(1, 7))
def test_customised_for_other_motions_and_costs_it_answers_as_one_built_for_them(world, data, motions):
    graph = build(world)
    hierarchy = over(graph, data.draw(partitions(world.nodes)))
    factor = data.draw(st.floats(0.125, 8, width=32))
    given_costs = world.costs if world.costs is not None else [c for _, _, c in world.one_way()][:: 2 - world.directed]
    other = EdgeList(world.points, world.edges, np.array(given_costs) * factor, world.motions, world.directed)
    slots = build(other).costs
    assert slots is not None
    hierarchy.customise(motions=motions, costs=slots)
    start, goal = (data.draw(st.integers(0, world.nodes - 1)) for _ in range(2))
    check(hierarchy, world, other.one_way(motions), start, goal, data.draw(st.integers(0, 3)))
    hierarchy.customise()
    check(hierarchy, world, world.one_way(), start, goal, None)


@given(edge_lists(max_nodes=10), st.data())
def test_a_batch_gives_what_single_queries_give_with_any_number_of_threads(world, data):
    node = st.integers(0, world.nodes - 1)
    queries = np.array(data.draw(st.lists(st.tuples(node, node), max_size=300)), np.int64).reshape(-1, 2)
    hierarchy = over(build(world), data.draw(partitions(world.nodes)))
    hierarchy._default_top[True] = hierarchy.num_levels  # what `build` decides on larger graphs
    serial = hierarchy.paths(queries[:, 0], queries[:, 1], workers=1)
    parallel = hierarchy.paths(queries[:, 0], queries[:, 1], workers=3)
    for name in ("statuses", "costs", "offsets", "nodes"):
        np.testing.assert_array_equal(getattr(serial, name), getattr(parallel, name))
    for at, (start, goal) in enumerate(queries[:20].tolist()):
        single = hierarchy.path(start, goal, level=hierarchy.num_levels)
        assert single.status is serial[at].status
        assert single.cost == pytest.approx(serial[at].cost, rel=1e-9)
        np.testing.assert_array_equal(
            single.nodes[[0, -1]] if single else [], serial[at].nodes[[0, -1]] if single else []
        )


@given(edge_lists(max_nodes=14), st.data())
@settings(max_examples=200)
def test_the_papers_search_reaches_what_is_reachable_on_a_legal_path_no_cheaper_than_the_cheapest(world, data):
    hierarchy = over(build(world), data.draw(partitions(world.nodes)), exact=False)
    start, goal = (data.draw(st.integers(0, world.nodes - 1)) for _ in range(2))
    triples = world.one_way()
    expected = naive.graph_costs(world.nodes, triples, start)[goal]
    path = hierarchy.path(start, goal, level=data.draw(st.none() | st.integers(0, 3)))
    assert path.found == math.isfinite(expected)
    if path:
        assert path.nodes[0] == start
        assert path.nodes[-1] == goal
        assert path.cost >= expected * (1 - 1e-6) - 1e-6
        assert walk_cost(triples, path.nodes.tolist()) == pytest.approx(path.cost, rel=1e-6, abs=1e-6)
