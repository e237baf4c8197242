from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import edge_lists
from wayfold import Graph, Motion, SubregionGraph, WaypointGraph
from wayfold.errors import EditError, OffMapError, ParameterError

pytestmark = pytest.mark.kernels


def partition(subregions):
    labels = subregions.labels
    known = [label for label in np.unique(labels) if label != subregions.no_label]
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in known}


def described(subregions):
    """Connections as pairs of waypoint sets, with their lengths."""
    parts = subregions.abstraction()
    groups = [frozenset(np.flatnonzero(parts.labels == label).tolist()) for label in range(parts.count)]
    pairs = {
        frozenset([groups[a], groups[b]]): tuple(np.round(row, 3).tolist())
        for (a, b), row in zip(parts.pairs.tolist(), parts.lengths, strict=True)
    }
    middles = {group: tuple(np.round(parts.centroids[at], 2).tolist()) for at, group in enumerate(groups)}
    return pairs, middles


@given(edge_lists(directed=False), st.integers(1, 7), st.tuples(*[st.integers(1, 3)] * 3), st.integers(0, 3), st.data())
def test_repaired_subregions_equal_a_rebuild_up_to_labels(world, motions, shape, seed, data):
    graph = Graph.from_edges(world.points, world.edges, costs=world.costs, motions=world.motions)
    waypoints = WaypointGraph.from_graph(graph, shape)
    cost = data.draw(st.sampled_from(["fixed", "min", "average", "max", "centroid"]))
    subregions = SubregionGraph.build(waypoints, motions, cost, seed)
    low, high = graph.points.min(axis=0).astype(float), graph.points.max(axis=0).astype(float)
    for _ in range(data.draw(st.integers(1, 3))):
        count = waypoints.num_waypoints
        rows = np.repeat(np.arange(count), np.diff(waypoints.graph.offsets))
        motions_now = waypoints.graph.motions
        there = rows != waypoints.graph.targets
        if motions_now is not None:
            there &= motions_now > 0
        known = sorted({(int(a), int(b)) for a, b in zip(rows[there], waypoints.graph.targets[there], strict=True)})
        remove = data.draw(st.lists(st.sampled_from(known), max_size=4, unique=True)) if known else []
        more = data.draw(st.lists(st.tuples(*[st.floats(0, 1)] * 3), max_size=2))
        total = count + len(more)
        node = st.integers(0, total - 1)
        edges = data.draw(st.lists(st.tuples(node, node).filter(lambda pair: pair[0] != pair[1]), max_size=5))
        kinds = data.draw(st.lists(st.integers(1, 7), min_size=len(edges), max_size=len(edges)))
        dead = data.draw(st.lists(st.integers(0, count - 1), max_size=2))
        costs = None if world.costs is None else [float(at) for at in range(len(edges))]
        edit = waypoints.update(
            edges,
            np.array(kinds, np.uint8),
            costs=costs,
            remove=remove,
            add_waypoints=low + np.array(more).reshape(-1, 3) * (high - low),
            remove_waypoints=dead,
        )
        subregions.repair(edit)
        fresh = SubregionGraph.build(waypoints, motions, cost, seed)
        assert partition(subregions) == partition(fresh)
        assert described(subregions) == described(fresh)
        assert subregions.num_subregions == fresh.num_subregions
        start, goal = data.draw(node), data.draw(node)
        expected = waypoints.graph.path(start, goal, motions=motions)
        assert subregions.path(start, goal).found == expected.found
        assert fresh.path(start, goal, margin=20, weight=1).cost == pytest.approx(expected.cost, rel=1e-9)
        assert subregions.path(start, goal, exact=True).cost == pytest.approx(expected.cost, rel=1e-9)
        np.testing.assert_array_equal(waypoints.usable(motions), np.isin(np.arange(total), _usable(waypoints, motions)))


def _usable(waypoints, motions):
    graph = waypoints.graph
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    opened = graph.motions & motions > 0
    if graph.costs is not None:
        opened &= graph.costs < math.inf
    return rows[opened]


def corridor(length=12):
    points = np.array([(x, y, 0) for x in range(length) for y in range(2)], float)
    edges = [(2 * x, 2 * x + 2) for x in range(length - 1)] + [(2 * x + 1, 2 * x + 3) for x in range(length - 1)]
    edges += [(2 * x, 2 * x + 1) for x in range(length)]
    return WaypointGraph.from_graph(Graph.from_edges(points, edges), (3, 1, 1))


def test_a_door_closes_and_opens_again():
    waypoints = corridor()
    subregions = SubregionGraph.build(waypoints)
    door = [(10, 12), (11, 13)]
    before = partition(subregions)
    edges = waypoints.num_edges
    subregions.repair(waypoints.update(remove=door))
    assert not subregions.path(0, 23)
    assert waypoints.num_edges == edges - 2
    subregions.repair(waypoints.update(door, Motion.SURFACE | Motion.VOLUMETRIC))
    assert subregions.path(0, 23, weight=1).cost == waypoints.graph.path(0, 23).cost
    assert partition(subregions) == before
    assert waypoints.num_edges == edges


def parallel(costs):
    """Four waypoints in a row, the middle two joined by an edge of each cost."""
    points = [(x, 0.0, 0.0) for x in range(4)]
    edges = [(0, 1), (2, 3), *[(1, 2), (2, 1)][: len(costs)]]
    graph = Graph.from_edges(points, edges, costs=[1.0, 1.0, *costs])
    return WaypointGraph.from_graph(graph, (1, 1, 1))


@pytest.mark.parametrize("costs", [(2.0, 5.0), (5.0, 2.0), (math.inf, 2.0)])
def test_an_edge_that_is_set_replaces_all_parallel_ones(costs):
    waypoints = parallel(costs)
    waypoints.update([(1, 2)], Motion.SURFACE, costs=[9.0])
    assert waypoints.graph.path(0, 3).cost == waypoints.graph.path(3, 0).cost == 11.0
    assert waypoints.num_edges == 3
    assert not waypoints.graph.path(0, 3, motions=Motion.VOLUMETRIC)


def test_a_blocked_edge_does_not_stand_in_for_one_that_is_gone():
    waypoints = parallel((2.0,))
    subregions = SubregionGraph.build(waypoints, Motion.SURFACE)
    assert len(partition(subregions)) == 1
    subregions.repair(waypoints.update([(1, 2)], Motion.SURFACE, costs=[math.inf]))
    assert partition(subregions) == partition(SubregionGraph.build(waypoints, Motion.SURFACE))
    assert not subregions.path(0, 3)


def test_many_new_edges_find_room():
    waypoints = corridor(20)
    subregions = SubregionGraph.build(waypoints)
    everything = [(a, b) for a in range(40) for b in range(a) if (a + b) % 2]
    subregions.repair(waypoints.update(everything, Motion.ADHESIVE))
    assert partition(subregions) == partition(SubregionGraph.build(waypoints))
    assert waypoints.graph.path(39, 0, motions=Motion.ADHESIVE).nodes.tolist() == [39, 0]


def test_a_repaired_graph_is_saved_without_gaps(tmp_path):
    waypoints = corridor()
    subregions = SubregionGraph.build(waypoints)
    subregions.repair(waypoints.update(remove=[(10, 12), (11, 13), (4, 6), (5, 7)]))
    subregions.save(tmp_path / "s.wayfold")
    loaded = SubregionGraph.load(tmp_path / "s.wayfold").attach(waypoints)
    assert loaded.num_subregions == subregions.num_subregions == len(partition(subregions))
    assert partition(loaded) == partition(subregions)
    assert loaded.with_cost("fixed").path(0, 4).found


def test_a_wrong_edit_changes_nothing():
    waypoints = corridor()
    graph = waypoints.graph
    with pytest.raises(EditError, match="not an edge"):
        waypoints.update(remove=[(0, 2), (0, 9)])
    with pytest.raises(OffMapError, match="names a waypoint"):
        waypoints.update([(0, 99)])
    with pytest.raises(OffMapError, match="no region"):
        waypoints.update(add_waypoints=[(500, 0, 0)])
    with pytest.raises(ParameterError, match="itself"):
        waypoints.update([(3, 3)])
    with pytest.raises(ParameterError, match="motions"):
        waypoints.update([(3, 9)], [8])
    with pytest.raises(ParameterError, match="costs"):
        waypoints.update([(3, 9)], costs=[1.0])
    assert waypoints.num_edges == graph.num_edges
    assert waypoints.graph.path(0, 2).nodes.tolist() == [0, 2]


def test_an_edge_that_is_cheaper_a_metre_than_any_was_is_used():
    points = [(0, 0), (10, 0), (5, 8), (5, -1)]
    graph = Graph.from_edges(points, [(0, 3), (3, 1), (0, 2), (2, 1)], costs=[6, 6, 10, 10])
    waypoints = WaypointGraph.from_graph(graph, (1, 1, 1))
    assert waypoints.path(0, 1, motions=7).cost == 12
    waypoints.update([(0, 2), (2, 1)], costs=[1, 1])
    assert waypoints.path(0, 1, motions=7).cost == 2
