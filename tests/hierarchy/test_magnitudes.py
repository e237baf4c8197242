"""Paths are shortest ones whatever the costs: zero, tiny, huge and all of them in one graph. The oracle is scipy's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from tests.draws import seeds
from wayfold import Graph, Hierarchy, SubregionGraph

pytestmark = pytest.mark.kernels


def lattice(width, height):
    """Points, and one edge for each pair of neighbours."""
    place = np.arange(width * height).reshape(height, width)
    across = np.column_stack([place[:, :-1].ravel(), place[:, 1:].ravel()])
    down = np.column_stack([place[:-1].ravel(), place[1:].ravel()])
    points = np.column_stack([place.ravel() % width, place.ravel() // width, 0 * place.ravel()])
    return points.astype(float), np.concatenate([across, down])


def rooms(rng, width, edges, size, large):
    """Costs of 1 to 3 inside square rooms, and large ones between them; the room of each node."""
    nodes = np.arange(edges.max() + 1)
    room = nodes // width // size * 1000 + nodes % width // size
    between = room[edges[:, 0]] != room[edges[:, 1]]
    costs = np.where(between, large * rng.uniform(1, 2, len(edges)), rng.integers(1, 4, len(edges)))
    return costs.astype(np.float32), room


def draw_costs(rng, edges, width):
    """Costs over many magnitudes, of a kind that is drawn too."""
    count = len(edges)
    kind = rng.integers(5)
    if kind == 0:
        costs = rooms(rng, width, edges, int(rng.integers(3, 12)), 10.0 ** rng.choice([6, 7, 8, 8, 9, 12, 27]))[0]
    elif kind == 1:
        costs = 10.0 ** rng.uniform(-30, 28, count)
    elif kind == 2:
        costs = rng.choice([0.0, 1e-30, 1e-3, 1.0, 3.0, 1e8, 1e27, 1e28, np.inf], count)
    elif kind == 3:
        costs = rng.choice([0.0, 1.0, 1e28, 9.9e27], count, p=[0.3, 0.6, 0.05, 0.05])
    else:  # about the last digits of float32 and of float64 beside the large ones
        unit = 1e28 * rng.choice([2.0**-24, 2.0**-53])
        costs = np.where(rng.random(count) < 0.1, 1e28 * rng.random(count), unit * rng.uniform(0.3, 2, count))
    return np.minimum(costs, np.where(np.isinf(costs), np.inf, 1e28)).astype(np.float32)


def distances(nodes, edges, costs, directed, starts):
    """By scipy; explicit zeros are edges that cost nothing."""
    open_ = np.isfinite(costs)
    pairs, prices = edges[open_], costs[open_].astype(float)
    if not directed:
        pairs, prices = np.concatenate([pairs, pairs[:, ::-1]]), np.concatenate([prices, prices])
    return dijkstra(csr_array((prices, pairs.T), shape=(nodes, nodes)), indices=starts)


def check(hierarchy, edges, costs, directed, starts, goals):
    """Every level, the default and a batch give the cost of the oracle, and that of the edges of the path."""
    nodes = hierarchy.graph.num_nodes
    wanted = distances(nodes, edges, costs, directed, starts)[np.arange(len(starts)), goals]
    price = dict(zip(map(tuple, edges.tolist()), costs.astype(float).tolist(), strict=True))
    np.testing.assert_allclose(hierarchy.paths(starts, goals, workers=1).costs, wanted, rtol=1e-6)
    for start, goal, cost in zip(starts.tolist(), goals.tolist(), wanted.tolist(), strict=True):
        for level in (None, *range(1, hierarchy.num_levels + 1)):
            path = hierarchy.path(start, goal, level=level)
            assert path.cost == pytest.approx(cost, rel=1e-6, abs=0.0), (start, goal, level)
            steps = zip(path.nodes.tolist(), path.nodes[1:].tolist(), strict=False)
            walked = sum(price.get(step, np.inf if directed else price.get(step[::-1], np.inf)) for step in steps)
            assert not path or walked == pytest.approx(cost, rel=1e-6, abs=0.0), (start, goal, level)


def no_distance_is_too_large(hierarchy):
    """No arc of level 1 leads to a distance from a landmark that is larger by more than the arc costs, exactly."""
    overlay = hierarchy._queries[True].levels.overlay
    for portal in range(overlay.places.size):
        row = overlay.rows[portal]
        for arc in range(overlay.row_first[row], overlay.row_last[row]):
            before, after = overlay.landmarks[[portal, overlay.targets[arc]]]
            for a, b in zip(before.tolist(), after.tolist(), strict=True):
                # Nothing to compare where the landmark leads to neither; subtraction of fractions does not round.
                assert a == np.inf or Fraction(b) - Fraction(a) <= Fraction(float(overlay.costs[arc]))


@pytest.mark.parametrize(("seed", "size"), [(353, 30), (321, 7)])
def test_a_way_inside_a_room_is_shortest_where_the_doors_of_rooms_cost_1e8(seed, size):
    """What an arc of 1e8 is rounded by, 4, made the bound from landmarks exceed the whole way to the goal."""
    rng = np.random.default_rng(seed)
    points, edges = lattice(100, 100)
    costs, room = rooms(rng, 100, edges, size, 1e8)
    hierarchy = Hierarchy.build(Graph.from_edges(points, edges, costs=costs), merge=4)
    starts = rng.integers(0, len(points), 25)
    goals = np.array([rng.choice(np.flatnonzero(room == room[start]), 12) for start in starts])
    check(hierarchy, edges, costs, False, np.repeat(starts, 12), goals.ravel())


@seeds(16, found=(15008004,))
@pytest.mark.parametrize("directed", [False, True])
def test_costs_over_many_magnitudes_give_shortest_paths_at_every_level_and_after_every_change(seed, directed):
    rng = np.random.default_rng(seed)
    points, edges = lattice(26, 22)
    if directed:
        edges = np.concatenate([edges, edges[:, ::-1]])
    costs = draw_costs(rng, edges, 26)
    hierarchy = Hierarchy.build(Graph.from_edges(points, edges, costs=costs, directed=directed), merge=3, workers=1)

    def ask():
        starts = rng.integers(0, len(points), 40)
        goals = rng.integers(0, len(points), 40)
        goals[::2] = np.clip(starts[::2] + rng.choice([-54, -27, -26, -3, 2, 3, 28, 53], 20), 0, len(points) - 1)
        check(hierarchy, edges, costs, directed, starts, goals)

    ask()
    no_distance_is_too_large(hierarchy)
    for _ in range(2):
        some = rng.choice(len(edges), 12, replace=False)
        costs = costs.copy()
        costs[some] = rng.permutation(draw_costs(rng, edges, 26))[:12]
        hierarchy._queries[True].levels.most_work = int(rng.choice([0, 60_000]))  # 0: large parts are set aside
        hierarchy.update(edges[some], costs[some])
        ask()
    # What is closed or dearer leaves the distances as they are; arcs that were not there before may not undercut them.
    dear = rng.choice(len(edges), 12, replace=False)
    costs = np.where(np.isin(np.arange(len(edges)), dear), np.float32(np.inf), costs)
    hierarchy.refresh()
    hierarchy.update(edges[dear], np.inf)
    ask()
    no_distance_is_too_large(hierarchy)
    hierarchy.refresh()
    ask()
    costs = costs.copy()
    some = rng.choice(len(edges), 12, replace=False)
    costs[some] = rng.permutation(draw_costs(rng, edges, 26))[:12]
    hierarchy = hierarchy.changed(
        Graph.from_edges(points, edges, costs=costs, directed=directed), np.arange(len(points))
    )
    ask()
    no_distance_is_too_large(hierarchy)
    costs = draw_costs(rng, edges, 26)
    hierarchy.customise(costs=Graph.from_edges(points, edges, costs=costs, directed=directed).costs)
    ask()


@seeds(12)
def test_any_graph_with_costs_over_many_magnitudes_gives_shortest_paths(seed):
    rng = np.random.default_rng(seed)
    for _ in range(12):
        nodes = int(rng.integers(66, 120))
        edges = np.unique(np.sort(rng.integers(0, nodes, (int(rng.integers(nodes, 3 * nodes)), 2)), axis=1), axis=0)
        edges = edges[edges[:, 0] != edges[:, 1]]
        directed = bool(rng.integers(2))
        costs = draw_costs(rng, edges, 11)
        graph = Graph.from_edges(rng.normal(size=(nodes, 3)), edges, costs=costs, directed=directed)
        levels, cut = int(rng.integers(1, 5)), int(rng.integers(99))
        hierarchy = Hierarchy.build(graph, merge=int(rng.integers(2, 5)), levels=levels, seed=cut, workers=1)
        starts, goals = rng.integers(0, nodes, (2, 80))
        check(hierarchy, edges, costs, directed, starts, goals)
        no_distance_is_too_large(hierarchy)


@seeds(8)
def test_plain_search_and_exact_subregions_give_shortest_paths_for_such_costs_too(seed):
    rng = np.random.default_rng(seed)
    points, edges = lattice(30, 30)
    costs = draw_costs(rng, edges, 30)
    graph = Graph.from_edges(points, edges, costs=costs)
    subregions = SubregionGraph.build(graph, regions=(*(int(count) for count in rng.integers(2, 6, 2)), 1))
    starts, goals = rng.integers(0, len(points), (2, 60))
    goals[::2] = np.clip(starts[::2] + rng.choice([-31, -2, 1, 3, 30, 62], 30), 0, len(points) - 1)
    wanted = distances(len(points), edges, costs, False, starts)[np.arange(60), goals]
    for start, goal, cost in zip(starts.tolist(), goals.tolist(), wanted.tolist(), strict=True):
        for algorithm in ("astar", "bidirectional", "dijkstra"):
            assert graph.path(start, goal, algorithm=algorithm).cost == pytest.approx(cost, rel=1e-6, abs=0.0)
        assert subregions.path(start, goal, exact=True).cost == pytest.approx(cost, rel=1e-6, abs=0.0)
