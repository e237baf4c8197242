from __future__ import annotations

import itertools
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import edge_lists
from wayfold import Graph, Motion, Status
from wayfold.errors import OffMapError, ParameterError

pytestmark = pytest.mark.kernels


def build(world):
    return Graph.from_edges(
        world.points, world.edges, costs=world.costs, motions=world.motions, directed=world.directed
    )


def walk_cost(triples, nodes):
    """Cost of a list of nodes over the cheapest parallel edges; infinite when a step is not an edge."""
    total = 0.0
    for a, b in itertools.pairwise(nodes):
        total += min((cost for c, d, cost in triples if (c, d) == (a, b)), default=math.inf)
    return total


@given(edge_lists(), st.data(), st.sampled_from(["astar", "dijkstra", "bidirectional"]), st.none() | st.integers(1, 7))
def test_a_path_is_legal_and_as_cheap_as_the_cheapest(world, data, algorithm, motions):
    start, goal = (data.draw(st.integers(0, world.nodes - 1)) for _ in range(2))
    triples = world.one_way(7 if motions is None else motions)
    expected = naive.graph_costs(world.nodes, triples, start)[goal]
    path = build(world).path(start, goal, algorithm=algorithm, motions=motions)
    assert path.found == math.isfinite(expected)
    assert path.cost == pytest.approx(expected, rel=1e-9, abs=1e-9)
    if path:
        assert path.nodes[0] == start
        assert path.nodes[-1] == goal
        assert walk_cost(triples, path.nodes.tolist()) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        np.testing.assert_array_equal(path.points, world.points[path.nodes])
    else:
        assert path.status is Status.UNREACHABLE
        assert path.nodes.size == 0


@given(edge_lists(), st.data(), st.sampled_from(["astar", "dijkstra", "bidirectional"]))
def test_the_filtered_search_enters_only_nodes_with_an_allowed_label(world, data, algorithm):
    start, goal = (data.draw(st.integers(0, world.nodes - 1)) for _ in range(2))
    labels = np.array(data.draw(st.lists(st.integers(0, 3), min_size=world.nodes, max_size=world.nodes)), np.uint16)
    allowed = data.draw(st.sets(st.integers(0, 3)))
    expected = naive.graph_costs(world.nodes, world.one_way(labels=labels, allowed=allowed), start)[goal]
    path = build(world).path(start, goal, labels=labels, allowed=sorted(allowed), algorithm=algorithm)
    assert path.cost == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert all(labels[node] in allowed for node in path.nodes[1:])
    graph = build(world)
    costs = [graph.distances(start, [goal], labels=labels, allowed=sorted(allowed))[0]]
    costs.append(graph.paths([start], [goal], labels=labels, allowed=sorted(allowed)).costs[0])
    assert costs == pytest.approx([expected, expected], rel=1e-9, abs=1e-9)


@given(edge_lists(), st.data(), st.none() | st.floats(0, 50), st.booleans())
def test_distances_are_those_of_the_oracle_up_to_the_limit(world, data, limit, reverse):
    source = data.draw(st.integers(0, world.nodes - 1))
    triples = world.one_way()
    if reverse:
        triples = [(b, a, cost) for a, b, cost in triples]
    expected = np.array(naive.graph_costs(world.nodes, triples, source))
    graph = build(world)
    if limit is not None:
        expected[expected > limit] = np.inf
    got = graph.distances(source, limit=limit, reverse=reverse)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
    some = data.draw(st.lists(st.integers(0, world.nodes - 1), min_size=1, max_size=4))
    np.testing.assert_array_equal(graph.distances(source, some, limit=limit, reverse=reverse), got[some])


@given(edge_lists(), st.none() | st.integers(1, 7))
def test_two_nodes_share_a_component_exactly_when_edges_in_any_direction_join_them(world, motions):
    triples = [t for t in world.one_way(7 if motions is None else motions) if math.isfinite(t[2])]
    both = triples + [(b, a, cost) for a, b, cost in triples]
    labels = build(world).components(motions)
    for a in range(world.nodes):
        assert {b for b in range(world.nodes) if labels[b] == labels[a]} == naive.reachable(both, a)
    first = [int(np.flatnonzero(labels == label)[0]) for label in range(labels.max() + 1)]
    assert first == sorted(first)


@given(edge_lists(), st.data(), st.integers(1, 12))
def test_a_budget_ends_the_search_and_a_partial_path_leads_to_the_nearest_settled_node(world, data, budget):
    start, goal = (data.draw(st.integers(0, world.nodes - 1)) for _ in range(2))
    graph = build(world)
    whole = graph.path(start, goal)
    short = graph.path(start, goal, budget=budget)
    assert short.expanded <= budget
    assert short.status in (whole.status, Status.BUDGET_EXHAUSTED)
    if whole.expanded <= budget:
        assert short.status is whole.status
    part = graph.path(start, goal, budget=budget, partial=True)
    assert part.status is (Status.FOUND if short.found else Status.PARTIAL)
    assert walk_cost(world.one_way(), part.nodes.tolist()) == pytest.approx(part.cost, rel=1e-9, abs=1e-9)
    remaining = np.linalg.norm(part.points - world.points[goal], axis=1)
    assert remaining[-1] == remaining.min()


@given(edge_lists(max_nodes=8), st.data(), st.booleans())
def test_a_batch_gives_what_single_queries_give_with_any_number_of_threads(world, data, partial):
    node = st.integers(0, world.nodes - 1)
    queries = np.array(data.draw(st.lists(st.tuples(node, node), max_size=300)), np.int64).reshape(-1, 2)
    graph = build(world)
    serial = graph.paths(queries[:, 0], queries[:, 1], workers=1, partial=partial)
    parallel = graph.paths(queries[:, 0], queries[:, 1], workers=3, partial=partial)
    for name in ("statuses", "costs", "expanded", "offsets", "nodes"):
        np.testing.assert_array_equal(getattr(serial, name), getattr(parallel, name))
    for at, (start, goal) in enumerate(queries[:20]):
        single = graph.path(start, goal, partial=partial)
        assert single.status is serial[at].status
        assert single.cost == serial[at].cost
        np.testing.assert_array_equal(single.nodes, serial[at].nodes)


def test_any_number_of_threads_may_query_one_graph():
    rng = np.random.default_rng(5)
    points = rng.random((400, 3)) * 50
    edges = rng.integers(0, 400, (1600, 2))
    graph = Graph.from_edges(points, edges)
    queries = rng.integers(0, 400, (400, 2)).tolist()
    expected = [Graph.from_edges(points, edges).path(*query).nodes.tolist() for query in queries]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda query: graph.path(*query).nodes.tolist(), queries))
    assert answers == expected


def star(leaves):
    """A hub with many leaves: the heap must grow far beyond its first size."""
    angle = np.linspace(0, 2 * np.pi, leaves, endpoint=False)
    points = np.concatenate([[[0.0, 0.0]], np.column_stack([np.cos(angle), np.sin(angle)])])
    return Graph.from_edges(points, np.column_stack([np.zeros(leaves, int), np.arange(1, leaves + 1)]))


def test_a_heap_that_is_too_small_grows_and_the_answer_is_the_same():
    graph = star(5000)
    assert graph.path(1, 2501, algorithm="dijkstra").cost == pytest.approx(2.0, rel=1e-6)
    assert graph.path(1, 2501, algorithm="bidirectional").nodes.tolist() == [1, 0, 2501]
    np.testing.assert_allclose(graph.distances(0), [0] + [1] * 5000, rtol=1e-6)
    fresh = star(5000)
    assert fresh.paths([1, 2, 3], [2501, 2502, 2503], workers=1).costs == pytest.approx([2, 2, 2], rel=1e-6)


def test_a_trail_longer_than_the_first_buffer_is_whole():
    count = 5000
    points = np.column_stack([np.arange(count), np.zeros(count)])
    graph = Graph.from_edges(points, np.column_stack([np.arange(count - 1), np.arange(1, count)]))
    batch = graph.paths([0, count - 1], [count - 1, 0], workers=1)
    np.testing.assert_array_equal(batch[0].nodes, np.arange(count))
    np.testing.assert_array_equal(batch[1].nodes, np.arange(count)[::-1])
    assert batch.costs.tolist() == [count - 1, count - 1]


def test_ties_go_to_the_lower_node():
    square = Graph.from_edges([(0, 0), (1, 0), (0, 1), (1, 1)], [(0, 1), (0, 2), (1, 3), (2, 3)])
    assert square.path(0, 3).nodes.tolist() == [0, 1, 3]
    assert square.path(3, 0).nodes.tolist() == [3, 1, 0]


def test_a_workspace_forgets_earlier_queries_when_its_clock_runs_over():
    graph = star(10)
    graph.path(1, 2)
    state = graph.workspaces.take()
    state.clock[0] = 65_530
    graph.workspaces.give(state)
    assert graph.path(1, 2).nodes.tolist() == [1, 0, 2]
    assert graph.path(3, 4).nodes.tolist() == [3, 0, 4]
    assert state.clock[0] < 100


def test_an_unreachable_goal_is_answered_without_a_search():
    graph = Graph.from_edges([(0, 0), (1, 0), (5, 0), (6, 0)], [(0, 1), (2, 3)])
    path = graph.path(0, 3)
    assert path.status is Status.UNREACHABLE
    assert path.expanded == 0
    assert not path
    assert path.length == math.inf
    assert graph.path(0, 3, partial=True).nodes.tolist() == [0, 1]


def test_motions_open_and_close_edges():
    graph = Graph.from_edges(
        [(0, 0), (1, 1), (2, 0)],
        [(0, 2), (0, 1), (1, 2)],
        motions=[Motion.VOLUMETRIC, Motion.SURFACE, Motion.SURFACE | Motion.ADHESIVE],
    )
    assert graph.path(0, 2).nodes.tolist() == [0, 2]
    assert graph.path(0, 2, motions=Motion.SURFACE).nodes.tolist() == [0, 1, 2]
    assert graph.path(0, 2, motions=Motion.ADHESIVE).status is Status.UNREACHABLE


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        ((0, 9), {}, OffMapError, "goal 9"),
        ((-1, 0), {}, OffMapError, "start -1"),
        ((0.5, 0), {}, ParameterError, "start must be a node number"),
        ((0, 1), {"algorithm": "magic"}, ParameterError, "astar, dijkstra"),
        ((0, 1), {"motions": 0}, ParameterError, "motions"),
        ((0, 1), {"motions": 8}, ParameterError, "motions"),
        ((0, 1), {"budget": 0}, ParameterError, "budget"),
        ((0, 1), {"labels": np.zeros(2, np.uint16)}, ParameterError, "belong together"),
        ((0, 1), {"labels": np.zeros(5, np.uint16), "allowed": [0]}, ParameterError, "labels"),
        ((0, 1), {"algorithm": "bidirectional", "partial": True}, ParameterError, "partial"),
    ],
)
def test_wrong_arguments_get_a_sentence(arguments, options, error, words):
    graph = Graph.from_edges([(0, 0), (1, 0)], [(0, 1)])
    with pytest.raises(error, match=words):
        graph.path(*arguments, **options)


def test_wrong_batches_get_a_sentence():
    graph = Graph.from_edges([(0, 0), (1, 0)], [(0, 1)])
    with pytest.raises(OffMapError, match="goals"):
        graph.paths([0], [2])
    with pytest.raises(ParameterError, match="starts"):
        graph.paths([0.0], [1])
    with pytest.raises(ParameterError, match="workers"):
        graph.paths([0], [1], workers=0)
    with pytest.raises(ParameterError, match="limit"):
        graph.distances(0, limit=float("nan"))
    assert len(graph.paths([], [])) == 0
    assert graph.paths([0, 1], 1).costs.tolist() == [1.0, 0.0]


@given(edge_lists(), st.data(), st.none() | st.integers(1, 7))
def test_one_tree_holds_the_cheapest_paths_of_all_nodes_to_its_goal(world, data, motions):
    goal = data.draw(st.integers(0, world.nodes - 1))
    triples = world.one_way(7 if motions is None else motions)
    tree = build(world).tree(goal, motions=motions)
    for start, path in enumerate(tree.paths(np.arange(world.nodes))):
        expected = naive.graph_costs(world.nodes, triples, start)[goal]
        assert path.found == math.isfinite(expected)
        assert path.cost == pytest.approx(expected, rel=1e-6)
        if path:
            assert path.nodes[0] == start
            assert path.nodes[-1] == goal
            assert walk_cost(triples, path.nodes.tolist()) == pytest.approx(expected, rel=1e-6)


def test_a_tree_refuses_what_is_not_a_node():
    tree = Graph.from_edges([(0, 0), (1, 0)], [(0, 1)]).tree(1)
    assert tree.path(0).nodes.tolist() == [0, 1]
    assert len(tree.paths([])) == 0
    with pytest.raises(OffMapError, match="starts"):
        tree.path(2)


@pytest.mark.parametrize("former", [{"start_node": 0}, {"goal_node": 2}])
def test_former_names_of_ends_work_and_warn(former):
    graph = Graph.from_edges([(0, 0), (1, 0), (2, 0)], [(0, 1), (1, 2)])
    rest = {"start": 0, "goal": 2}
    name = next(iter(former)).removesuffix("_node")
    del rest[name]
    with pytest.warns(DeprecationWarning, match=f"path: {name}_node= is now {name}="):
        assert graph.path(**former, **rest).nodes.tolist() == [0, 1, 2]


@given(edge_lists(max_nodes=12), st.data())
def test_expanded_nodes_are_as_many_as_the_search_settles(world, data):
    graph = build(world)
    start, goal = (data.draw(st.integers(0, graph.num_nodes - 1)) for _ in range(2))
    path = graph.path(start, goal)
    if path:
        nodes = graph.expanded(start, goal).tolist()
        assert len(nodes) == path.expanded
        assert set(path.nodes.tolist()) <= set(nodes)
