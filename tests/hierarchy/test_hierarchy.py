"""Building, levels, files, errors, and larger graphs than the property tests have."""

from __future__ import annotations

import itertools
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import wayfold
from wayfold import Graph, Hierarchy, Motion, Status
from wayfold.errors import FormatError, OffMapError, ParameterError
from wayfold.hierarchy._customise_kernels import MOST_MEMBERS
from wayfold.hierarchy.hierarchy import merge_factor, part_sizes
from wayfold.hierarchy.query import MOST_LINKS, PHASES

pytestmark = pytest.mark.kernels


def lattice(side, *, seed=0, holes=0.25, directed=False, stretch=True):
    """A square lattice with holes; costs a little above the lengths, so that hardly any two paths cost the same."""
    draw = np.random.default_rng(seed)
    numbers = np.arange(side * side).reshape(side, side)
    points = np.column_stack([numbers.ravel() % side, numbers.ravel() // side])
    edges = np.concatenate(
        [
            np.column_stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()]),
            np.column_stack([numbers[:-1].ravel(), numbers[1:].ravel()]),
        ]
    )
    free = draw.random(side * side) >= holes
    edges = edges[free[edges].all(axis=1)]
    if directed:
        edges = np.concatenate([edges, edges[draw.random(len(edges)) < 0.7][:, ::-1]])
    costs = draw.uniform(1, 3, len(edges)) if stretch else None
    return Graph.from_edges(points, edges, costs=costs, directed=directed)


@pytest.fixture(scope="module")
def graph():
    return lattice(48)


@pytest.fixture(scope="module")
def hierarchy(graph):
    hierarchy = Hierarchy.build(graph)
    hierarchy._default_top[True] = hierarchy.num_levels  # the graph is small enough for `build` to prefer plain A*
    return hierarchy


def random_pairs(graph, count, seed=1):
    draw = np.random.default_rng(seed)
    return draw.integers(0, graph.num_nodes, count), draw.integers(0, graph.num_nodes, count)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("merge", "levels"), [(8, 4), (2, 9), (6, 4), ("auto", 4)])
def test_a_built_hierarchy_gives_the_costs_of_flat_search_at_every_level(merge, levels, directed):
    graph = lattice(44, seed=7, directed=directed)
    hierarchy = Hierarchy.build(graph, merge=merge, levels=levels)
    assert hierarchy.num_levels >= 2
    hierarchy._default_top[True] = hierarchy.num_levels  # the graph is small enough for `build` to prefer plain A*
    starts, goals = random_pairs(graph, 200)
    expected = graph.paths(starts, goals)
    np.testing.assert_allclose(hierarchy.paths(starts, goals).costs, expected.costs, rtol=1e-6)
    for at, (start, goal) in enumerate(zip(starts.tolist(), goals.tolist(), strict=True)):
        path = hierarchy.path(start, goal, level=at % (hierarchy.num_levels + 1))
        assert path.status is expected[at].status
        assert path.cost == pytest.approx(expected.costs[at], rel=1e-6)
        assert hierarchy.path(start, goal).cost == pytest.approx(expected.costs[at], rel=1e-6)


@pytest.mark.parametrize("directed", [False, True])
def test_parts_too_large_to_be_eliminated_give_the_costs_of_flat_search(directed):
    graph = lattice(72, seed=3, holes=0.1, directed=directed)
    hierarchy = Hierarchy.build(graph, merge=2 * MOST_MEMBERS, levels=1)
    assert np.diff(hierarchy.partition.starts[0]).max() > MOST_MEMBERS
    starts, goals = random_pairs(graph, 60)
    expected = graph.paths(starts, goals).costs
    for at, (start, goal) in enumerate(zip(starts.tolist(), goals.tolist(), strict=True)):
        assert hierarchy.path(start, goal, level=1).cost == pytest.approx(expected[at], rel=1e-6)


def arcs_of(hierarchy):
    """For every level and node of a portal: its arcs as {(target node, cost): nodes of the sub-path}."""
    levels = hierarchy._queries[True].levels
    overlay, order = levels.overlay, levels.partition.order
    found = {}
    for portal in range(overlay.places.size):
        for level in range(1, overlay.heights[portal] + 1):
            row = overlay.rows[portal] + level - 1
            arcs = {}
            for arc in range(overlay.row_first[row], overlay.row_last[row]):
                sub, nodes = overlay.subs[arc - levels.edges], ()
                if sub >= 0:
                    members = overlay.row_base[row] + overlay.steps[sub + 1 : sub + 1 + overlay.steps[sub]].astype(int)
                    nodes = tuple(order[members if level == 1 else overlay.places[overlay.members[members]]].tolist())
                arcs[int(order[overlay.places[overlay.targets[arc]]]), float(overlay.costs[arc])] = nodes
            found[level, int(order[overlay.places[portal]])] = arcs
    return found


@pytest.mark.parametrize("directed", [False, True])
def test_updates_and_a_refresh_leave_the_arcs_of_a_rebuild(directed):
    graph = lattice(40, seed=11, directed=directed)
    hierarchy = Hierarchy.build(graph, merge=4, levels=3)
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    draw = np.random.default_rng(2)
    for turn in range(6):
        picked = draw.choice(sources.size, 30, replace=False)
        prices = hierarchy.graph.costs[picked] * draw.uniform(0.3, 3, 30)
        prices[: 4 * turn] = math.inf
        hierarchy.update(np.column_stack([sources[picked], graph.targets[picked]]), prices)
    hierarchy.refresh()
    rebuilt = Hierarchy(hierarchy.graph, 4, 3, 0, True, hierarchy.partition)
    assert arcs_of(hierarchy) == arcs_of(rebuilt)


def test_links_are_shared_by_few_goals_and_dropped_with_their_costs(graph):
    hierarchy = Hierarchy.build(graph)
    hierarchy._default_top[True] = hierarchy.num_levels
    starts, goals = random_pairs(graph, 3 * MOST_LINKS)
    edges = _edges(graph)[::7]
    for factor in (1.0, 2.5, 0.5):
        hierarchy.update(edges, hierarchy.graph.costs[_slots(graph, edges)] * factor)
        for few in (3, 3 * MOST_LINKS):
            for at in range(4 * MOST_LINKS):
                start, goal = int(starts[at % (few - 1)]), int(goals[at % few])
                expected = hierarchy.graph.path(start, goal).cost
                assert hierarchy.path(start, goal, level=2).cost == pytest.approx(expected, rel=1e-6)


def _slots(graph, edges):
    return [
        int(graph.offsets[a] + np.searchsorted(graph.targets[graph.offsets[a] : graph.offsets[a + 1]], b))
        for a, b in edges.tolist()
    ]


def test_merge_and_sizes_are_chosen_from_the_number_of_nodes():
    assert merge_factor(7, 10, 4) == 7
    factors = [merge_factor("auto", nodes, 4) for nodes in (10, 10_000, 160_000, 10**7)]
    assert factors == sorted(factors)
    assert factors[0] == 4
    assert factors[-1] == 14
    assert part_sizes(8, 161_090, 4) == [32, 256, 2048, 16384]
    assert part_sizes(100, 161_090, 4) == [100, 10_000]
    assert part_sizes(8, 63, 4) == []


def test_every_part_is_connected_and_lies_in_one_part_of_the_next_level(graph):
    for hierarchy in (Hierarchy.build(graph), Hierarchy.build(graph, merge=4, levels=3, exact=False)):
        parts = hierarchy.partition
        below = np.arange(graph.num_nodes)
        for level in range(1, parts.levels + 1):
            labels = parts.labels(level)
            sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
            inside = labels[sources] == labels[graph.targets]
            edges = np.column_stack([sources[inside], graph.targets[inside]])
            pieces = Graph.from_edges(graph.points, edges).components()
            assert pieces.max() == labels.max()
            assert len(np.unique(np.column_stack([below, labels]), axis=0)) == below.max() + 1
            below = labels


def test_the_papers_levels_have_about_a_merge_of_the_nodes_below_and_islands_are_left_alone():
    graph = lattice(40, holes=0.0)
    two = Graph.from_edges(
        np.concatenate([graph.points, [[100, 100, 0], [101, 100, 0], [200, 200, 0]]]),
        np.concatenate([_edges(graph), [[1600, 1601]]]),
    )
    hierarchy = Hierarchy.build(two, merge=5, levels=6, exact=False)
    nodes = [level.nodes for level in hierarchy.levels]
    assert nodes[0] == 1603
    assert all(above < below / 2 for below, above in itertools.pairwise(nodes))
    top = hierarchy.partition.labels(hierarchy.num_levels)
    assert top[1602] not in np.delete(top, 1602)
    assert hierarchy.path(0, 1602).status is Status.UNREACHABLE
    assert hierarchy.path(1600, 1601).cost == pytest.approx(1.0)


def _edges(graph):
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    once = sources < graph.targets
    return np.column_stack([sources[once], graph.targets[once]])


def test_the_papers_search_at_any_level_is_legal_and_not_much_longer(graph):
    hierarchy = Hierarchy.build(graph, merge=5, levels=4, exact=False)
    starts, goals = random_pairs(graph, 150)
    expected = graph.paths(starts, goals)
    for level in (None, *range(hierarchy.num_levels + 1)):
        ratios = []
        for at, (start, goal) in enumerate(zip(starts.tolist(), goals.tolist(), strict=True)):
            path = hierarchy.path(start, goal, level=level)
            assert path.status is expected[at].status
            if path and expected.costs[at] > 0:
                ratios.append(path.cost / expected.costs[at])
        assert min(ratios) > 1 - 1e-6
        assert np.mean(ratios) < 1.5
    assert hierarchy.path(0, graph.num_nodes - 1, exact=True).cost == pytest.approx(
        graph.path(0, graph.num_nodes - 1).cost, rel=1e-6
    )


def test_the_five_phases_are_timed(graph, hierarchy):
    labels = graph.components()
    inside = np.flatnonzero(labels == np.bincount(labels).argmax())
    start, goal = int(inside[0]), int(inside[-1])
    for path in (hierarchy.path(start, goal), hierarchy.path(start, goal, exact=False, level=1)):
        assert tuple(path.timings) == PHASES
        assert all(seconds >= 0 for seconds in path.timings.values())
        assert path.expanded > 0


def test_the_same_seed_gives_the_same_levels_with_any_number_of_threads(graph):
    one, two = Hierarchy.build(graph, seed=3, workers=1), Hierarchy.build(graph, seed=3, workers=3)
    np.testing.assert_array_equal(one.partition.order, two.partition.order)
    for a, b in zip(one._queries[True].levels.overlay, two._queries[True].levels.overlay, strict=True):
        np.testing.assert_array_equal(a, b)


def test_levels_say_what_they_hold(graph, hierarchy):
    levels = hierarchy.levels
    assert [level.number for level in levels] == list(range(hierarchy.num_levels + 1))
    assert levels[0].nodes == graph.num_nodes
    assert levels[0].inter_edges == graph.num_edges
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    for level in levels[1:]:
        labels = hierarchy.partition.labels(level.number)
        crossing = labels[sources] != labels[graph.targets]
        assert level.nodes == labels.max() + 1
        assert level.portals == len(np.unique(sources[crossing]))
        assert level.inter_edges == crossing.sum()
        assert level.intra_edges > 0
    memory = hierarchy.memory()
    assert memory["total"] == hierarchy.nbytes > sum(level.nbytes for level in levels)


def test_threads_may_ask_at_once(graph, hierarchy):
    starts, goals = random_pairs(graph, 120)
    expected = graph.paths(starts, goals).costs
    with ThreadPoolExecutor(4) as pool:
        costs = list(
            pool.map(lambda pair: hierarchy.path(*pair).cost, zip(starts.tolist(), goals.tolist(), strict=True))
        )
    np.testing.assert_allclose(costs, expected, rtol=1e-6)


def test_characters_that_share_a_goal_or_a_start_get_the_same_answers(graph, hierarchy):
    starts, _ = random_pairs(graph, 60)
    expected = graph.paths(starts, 17).costs
    np.testing.assert_allclose([hierarchy.path(int(s), 17).cost for s in starts], expected, rtol=1e-6)
    np.testing.assert_allclose(hierarchy.paths(starts, 17).costs, expected, rtol=1e-6)
    np.testing.assert_allclose(hierarchy.paths(17, starts).costs, expected, rtol=1e-6)


@pytest.mark.parametrize("exact", [True, False])
def test_a_saved_hierarchy_answers_as_before(tmp_path, graph, exact):
    hierarchy = Hierarchy.build(graph, merge=6, levels=4, exact=exact)
    edge = _edges(graph)[40]
    hierarchy.update([edge], [math.inf])
    hierarchy.save(tmp_path / "levels.wayfold")
    loaded = wayfold.load(tmp_path / "levels.wayfold")
    assert isinstance(loaded, Hierarchy)
    assert loaded.merge == 6
    assert loaded.exact is exact
    starts, goals = random_pairs(graph, 40)
    for start, goal in zip(starts.tolist(), goals.tolist(), strict=True):
        assert loaded.path(start, goal).cost == pytest.approx(hierarchy.path(start, goal).cost, rel=1e-9)
    assert loaded.path(int(edge[0]), int(edge[1])).cost == pytest.approx(
        hierarchy.path(int(edge[0]), int(edge[1])).cost, rel=1e-9
    )
    graph.save(tmp_path / "graph.wayfold")
    with pytest.raises(FormatError, match="hierarchy"):
        Hierarchy.load(tmp_path / "graph.wayfold")


@pytest.mark.parametrize("nodes", [1, 2, 3, 10])
@pytest.mark.parametrize("exact", [True, False])
def test_graphs_of_a_few_nodes_are_answered(nodes, exact):
    points = np.column_stack([np.arange(nodes), np.zeros(nodes)])
    chain = Graph.from_edges(points, np.column_stack([np.arange(nodes - 1), np.arange(1, nodes)]).reshape(-1, 2))
    hierarchy = Hierarchy.build(chain, exact=exact)
    assert hierarchy.path(0, nodes - 1).cost == nodes - 1
    assert hierarchy.path(nodes - 1, nodes - 1).nodes.tolist() == [nodes - 1]
    alone = Hierarchy.build(Graph.from_edges(points, np.empty((0, 2), int)), exact=exact)
    assert alone.path(0, 0).cost == 0
    if nodes > 1:
        assert alone.path(0, nodes - 1).status is Status.UNREACHABLE
        assert alone.paths([0, 1], [nodes - 1, 1], workers=1).costs[0] == math.inf


def test_a_graph_without_good_parts_is_answered_right():
    draw = np.random.default_rng(0)
    edges = draw.integers(0, 800, (6000, 2))
    graph = Graph.from_edges(draw.random((800, 3)), edges, costs=draw.random(6000))
    hierarchy = Hierarchy.build(graph)
    starts, goals = random_pairs(graph, 50)
    np.testing.assert_allclose(hierarchy.paths(starts, goals).costs, graph.paths(starts, goals).costs, rtol=1e-6)


def test_a_small_graph_is_searched_by_plain_search():
    path = Hierarchy.build(lattice(16, holes=0.0)).path(0, 255)
    assert path.timings == {}


def test_unreachable_goals_are_answered_without_a_search(hierarchy, graph):
    labels = graph.components()
    alone = int(np.flatnonzero(labels != labels[0])[0])
    for level in (None, *range(hierarchy.num_levels + 1)):
        path = hierarchy.path(0, alone, level=level)
        assert path.status is Status.UNREACHABLE
        assert path.expanded == 0


def test_closing_and_opening_edges_splits_and_joins():
    points = np.column_stack([np.arange(100), np.zeros(100)])
    chain = Graph.from_edges(points, np.column_stack([np.arange(99), np.arange(1, 100)]))
    hierarchy = Hierarchy.build(chain, merge=32, levels=1)
    assert hierarchy.num_levels == 1
    hierarchy.update([(50, 51)], math.inf)
    for _ in range(2):
        assert hierarchy.path(0, 99).status is Status.UNREACHABLE
        assert hierarchy.path(0, 99, level=1).status is Status.UNREACHABLE
    hierarchy.update([(51, 50)], 5.0)
    assert hierarchy.path(0, 99).cost == pytest.approx(103)
    assert hierarchy.path(0, 99, level=1).cost == pytest.approx(103)
    hierarchy.refresh()
    assert hierarchy.path(0, 99, level=1).cost == pytest.approx(103)
    assert hierarchy.graph.path(0, 99).cost == pytest.approx(103)


def test_a_graph_too_small_for_levels_is_updated_too():
    chain = Graph.from_edges([(0, 0), (1, 0), (2, 0)], [(0, 1), (1, 2)])
    hierarchy = Hierarchy.build(chain)
    hierarchy.update([(1, 0)], 7.0)
    assert hierarchy.path(0, 2).cost == 8
    hierarchy.update([(1, 2)], math.inf)
    assert hierarchy.path(0, 2).status is Status.UNREACHABLE
    hierarchy.customise(costs=[2, 2, 3, 3])
    assert hierarchy.path(0, 2).cost == 5
    hierarchy.refresh()
    assert hierarchy.path(2, 0).cost == 5


def test_motions_close_edges():
    graph = lattice(20, holes=0.0)
    edges = _edges(graph)
    kinds = np.where(edges[:, 1] - edges[:, 0] == 1, Motion.SURFACE, Motion.ADHESIVE)
    graph = Graph.from_edges(graph.points, edges, motions=kinds)
    hierarchy = Hierarchy.build(graph)
    hierarchy.customise(motions=Motion.SURFACE)
    assert hierarchy.path(0, 19).cost == 19
    assert hierarchy.path(0, 20).status is Status.UNREACHABLE
    hierarchy.customise()
    assert hierarchy.path(0, 20).cost == 1


def test_a_map_with_a_graph_is_taken_as_its_graph():
    grid = wayfold.DenseGrid(np.ones((20, 20), bool))
    hierarchy = Hierarchy.build(grid)
    assert hierarchy.graph.num_nodes == 400
    assert hierarchy.path(0, 399).cost == pytest.approx(19 * math.sqrt(2), rel=1e-6)


def with_cost(graph, cost):
    """The graph with a cost that `Graph.from_edges` would refuse."""
    costs = graph.costs.copy()
    costs[3] = cost
    return Graph(graph.points, graph.offsets, graph.targets, costs)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda h: h.path(0, 10**6), OffMapError, "goal 1000000"),
        (lambda h: h.path(-1, 0), OffMapError, "start -1"),
        (lambda h: h.path(0.5, 0), ParameterError, "node number"),
        (lambda h: h.path(0, 1, level=-1), ParameterError, "level"),
        (lambda h: h.paths([0.5], [1]), ParameterError, "starts must be node numbers"),
        (lambda h: h.paths([0], [10**6]), OffMapError, "goals"),
        (lambda h: h.paths([[0]], [[1]]), ParameterError, "one-dimensional"),
        (lambda h: h.update([(0, 5)], [1.0]), ParameterError, "no edge from node 0 to node 5"),
        (lambda h: h.update([0, 5], [1.0]), ParameterError, "shape"),
        (lambda h: h.update([(0, 10**6)], [1.0]), OffMapError, "edges"),
        (lambda h: h.update(_edges(h.graph)[:1], [-1.0]), ParameterError, "at least 0"),
        (lambda h: h.update(_edges(h.graph)[:1], [math.nan]), ParameterError, "at least 0"),
        (lambda h: h.update(_edges(h.graph)[:1], [3e38]), ParameterError, "at most 1e"),
        (lambda h: h.update(_edges(h.graph)[:1], [1e39]), ParameterError, "at most 1e"),
        (lambda h: h.update(_edges(h.graph)[:1], [1.0, 2.0]), ParameterError, "one for each"),
        (lambda h: h.customise(costs=[1.0]), ParameterError, "shape"),
        (lambda h: h.customise(costs=np.full(h.graph.targets.size, math.nan)), ParameterError, "at least 0"),
        (lambda h: h.customise(costs=np.full(h.graph.targets.size, 3e38)), ParameterError, "at most 1e"),
        (
            lambda h: h.customise(costs=np.arange(h.graph.targets.size)),
            ParameterError,
            "the same cost in both directions",
        ),
        (lambda h: h.customise(motions=9), ParameterError, "motions"),
        (lambda h: Hierarchy.build(h.graph, merge=1), ParameterError, "merge"),
        (lambda h: Hierarchy.build(h.graph, levels=0), ParameterError, "levels"),
        (lambda h: Hierarchy.build(h.graph, seed=-1), ParameterError, "seed"),
        (lambda h: Hierarchy.build("graph"), ParameterError, "Graph or a map"),
        (lambda h: Hierarchy.build(with_cost(h.graph, math.nan)), ParameterError, r"costs\[3\] must be at least 0"),
        (lambda h: Hierarchy.build(with_cost(h.graph, -1.0)), ParameterError, r"costs\[3\] must be at least 0"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(hierarchy, call, error, words):
    before = hierarchy.path(0, 1).cost
    with pytest.raises(error, match=words):
        call(hierarchy)
    assert hierarchy.path(0, 1).cost == before


@pytest.mark.parametrize("built", [True, False])
def test_batches_of_paths_that_need_not_be_shortest_are_those_of_single_queries(graph, built):
    hierarchy = Hierarchy.build(graph, merge=5, levels=3, exact=built)
    hierarchy.path(0, 1, exact=False)
    hierarchy._default_top[False] = 2  # the graph is small enough for `build` to prefer plain A*
    starts, goals = random_pairs(graph, 60)
    quick, shortest = hierarchy.paths(starts, goals, exact=False, workers=3), hierarchy.paths(starts, goals, workers=3)
    for start, goal, path, best in zip(starts.tolist(), goals.tolist(), quick, shortest, strict=True):
        alone = hierarchy.path(start, goal, exact=False)
        assert (path.status, path.cost, path.expanded) == (alone.status, alone.cost, alone.expanded)
        np.testing.assert_array_equal(path.nodes, alone.nodes)
        assert best.cost == pytest.approx(graph.path(start, goal).cost, rel=1e-5)
        assert path.cost >= best.cost * (1 - 1e-5) or not path
    assert (quick.costs > shortest.costs * 1.001).any()


def test_batches_of_quick_paths_end_beside_updates():
    graph = lattice(16)
    hierarchy = Hierarchy.build(graph, merge=4, levels=2, exact=False)
    hierarchy._default_top[False] = 1
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    edges = np.column_stack([sources, graph.targets])[:5]
    starts, goals = random_pairs(graph, 40)
    with ThreadPoolExecutor(1) as pool:
        updates = pool.submit(lambda: [hierarchy.update(edges, 2.0 + turn % 2) for turn in range(40)])
        for _ in range(10):
            assert len(hierarchy.paths(starts, goals, exact=False, workers=2)) == len(starts)
        updates.result()
