"""What every map answers, asked of waypoint graphs."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.strategies import edge_lists
from tests.waypoints.worlds import yard
from wayfold import Agent, Graph, Motion, Paths, Status, WaypointGraph
from wayfold.errors import OffMapError, ParameterError
from wayfold.waypoints import VoxelWaypoints

pytestmark = pytest.mark.kernels


@functools.cache
def yard_graph():
    return WaypointGraph.build(yard(), Agent(), region_size=20.0)


@functools.cache
def voxel_graph():
    blocked = np.random.default_rng(2).random((9, 8, 7)) < 0.3
    return VoxelWaypoints.from_voxels(blocked, region_size=3)


def graph_of(world):
    edges = Graph.from_edges(world.points, world.edges, costs=world.costs, motions=world.motions)
    return WaypointGraph.from_graph(edges, (2, 2, 2))


def same(one, other):
    alike = (one.status, one.cost, one.expanded) == (other.status, other.cost, other.expanded)
    return alike and np.array_equal(one.points, other.points) and np.array_equal(one.nodes, other.nodes)


@pytest.mark.parametrize("make", [yard_graph, voxel_graph])
@pytest.mark.parametrize("motions", [None, Motion.VOLUMETRIC])
@pytest.mark.parametrize("workers", [1, 3])
def test_a_batch_of_points_or_waypoints_gives_what_single_queries_give(make, motions, workers):
    graph = make()
    rng = np.random.default_rng(0)
    usable = graph.usable(graph.default_motions if motions is None else motions)
    nodes = rng.choice(np.flatnonzero(usable), (12, 2))
    for starts, goals in (nodes.T, (graph.points[nodes[:, 0]], graph.points[nodes[:, 1]])):
        batch = graph.paths(starts, goals, motions=motions, workers=workers)
        assert isinstance(batch, Paths)
        assert batch.found.any()
        for path, start, goal in zip(batch, starts, goals, strict=True):
            assert same(path, graph.path(start, goal, motions=motions))


def test_a_batch_without_queries_is_empty_and_one_that_does_not_pair_up_is_refused():
    assert len(voxel_graph().paths([], [])) == 0
    with pytest.raises(ParameterError, match="same length"):
        voxel_graph().paths([0, 1], [1])


@given(edge_lists(directed=False), st.integers(1, 7), st.data())
def test_a_partial_path_leads_to_the_reached_waypoint_nearest_to_the_goal(world, motions, data):
    graph = graph_of(world)
    start, goal = (data.draw(st.integers(0, world.nodes - 1)) for _ in range(2))
    whole, part = (graph.path(start, goal, motions=motions, partial=partial) for partial in (False, True))
    if whole:
        assert same(whole, part)
        return
    assert part.status is Status.PARTIAL
    costs = naive.graph_costs(world.nodes, world.one_way(motions), start)
    away = np.linalg.norm(graph.points - graph.points[goal], axis=1)
    assert away[part.nodes[-1]] == away[np.isfinite(costs)].min()
    assert part.cost == pytest.approx(costs[part.nodes[-1]], rel=1e-5)
    np.testing.assert_array_equal(part.points, graph.points[part.nodes])


def test_a_partial_path_begins_at_the_start_point_and_ends_before_the_goal():
    graph = WaypointGraph.from_graph(Graph.from_edges([(0, 0), (4, 0), (9, 0)], [(0, 1), (2, 2)]), (1, 1, 1))
    start, goal = (0, 1, 0), (9, 0, 0)
    assert graph.path(start, (3.9, 0, 0)).found
    part = graph.path(start, graph.num_waypoints - 1, partial=True)
    assert part.status is Status.PARTIAL
    np.testing.assert_array_equal(part.points, [start, (0, 0, 0), (4, 0, 0)])
    assert part.cost == part.length == 5.0
    assert graph.path(start, goal).status is Status.UNREACHABLE


def test_a_budget_ends_the_search():
    graph = yard_graph()
    a, b = np.flatnonzero(graph.usable(Motion.VOLUMETRIC))[[0, -1]]
    assert graph.path(a, b, budget=3).status is Status.BUDGET_EXHAUSTED
    part = graph.path(a, b, budget=3, partial=True)
    assert part.status is Status.PARTIAL
    assert part.expanded <= 3
    with pytest.raises(ParameterError, match="budget"):
        graph.path(a, b, budget=0)


@pytest.mark.parametrize("place", [(1e5, 0.0, 0.0), (12.0, 12.0, 1.0)])
def test_a_point_off_the_map_is_refused_in_a_batch_as_alone(place):
    graph = yard_graph()
    for ask in (lambda: graph.path(place, 0), lambda: graph.paths([place], [graph.points[0]])):
        with pytest.raises(OffMapError, match="start"):
            ask()
