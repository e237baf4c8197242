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


def touches_free(blocked, point):
    """Whether a point lies in the map, in a voxel that is free or on the border of one."""
    free = np.argwhere(~blocked)
    return bool((np.abs(free - point).max(axis=1) <= 0.5).any())


@given(st.tuples(*[st.floats(-4.0, 12.0)] * 3), st.none() | st.floats(0.0, 5.0))
def test_the_nearest_place_among_voxels_is_the_point_itself_or_the_nearest_waypoint(point, max_distance):
    graph = voxel_graph()
    usable = np.array([slot > first for first, slot in zip(graph.graph.offsets, graph.graph.offsets[1:], strict=False)])
    away = np.linalg.norm(graph.points - point, axis=1)
    away[~usable] = np.inf
    if touches_free(graph.blocked, np.array(point)):
        expected = np.array(point)
    elif away.min() <= (3.0 if max_distance is None else max_distance):
        expected = graph.points[int(np.argmin(away))]
    else:
        expected = np.full(3, np.nan)
    np.testing.assert_array_equal(graph.nearest([point], max_distance=max_distance), [expected])
    if np.isnan(expected).any():
        with pytest.raises(OffMapError, match="no waypoint of the agent within"):
            graph.nearest(point, max_distance=max_distance)
    else:
        np.testing.assert_array_equal(graph.nearest(point, max_distance=max_distance), expected)


@pytest.mark.parametrize("motions", [Motion.SURFACE, Motion.ADHESIVE, Motion.VOLUMETRIC])
def test_a_path_may_start_at_the_nearest_place_to_anywhere(motions):
    graph = yard_graph()
    low, high = graph.bounds
    points = np.random.default_rng(1).uniform(low - 3, high + 3, (60, 3))
    nodes = np.flatnonzero(graph.usable(motions))
    moved = 0
    for point, place in zip(points, graph.nearest(points, max_distance=np.inf, motions=motions), strict=True):
        graph.path(place, nodes[0], motions=motions)
        away = np.linalg.norm(graph.points[nodes] - point, axis=1)
        if np.linalg.norm(place - point) > 4.0:  # more than it takes to get off the ground
            moved += 1
            np.testing.assert_array_equal(place, graph.points[nodes[np.argmin(away)]])
    assert moved > 5


@given(edge_lists(directed=False), st.integers(1, 7), st.data())
def test_places_are_reachable_exactly_when_edges_lead_from_one_to_the_other(world, motions, data):
    graph = graph_of(world)
    start = data.draw(st.integers(0, world.nodes - 1))
    edges = [edge for edge in world.one_way(motions) if np.isfinite(edge[2])]
    reached = naive.reachable(edges, start)
    assert [graph.reachable(start, node, motions=motions) for node in range(world.nodes)] == [
        node in reached for node in range(world.nodes)
    ]


def test_many_points_are_reachable_as_each_of_them_is():
    graph = voxel_graph()
    points = graph.points[np.random.default_rng(4).integers(0, graph.num_waypoints, 30)]
    single = [graph.reachable(a, b) for a, b in zip(points[:15], points[15:], strict=True)]
    assert {True, False} == set(single)
    assert all(isinstance(answer, bool) for answer in single)
    many = graph.reachable(points[:15], points[15:])
    assert many.dtype == np.bool_
    assert many.tolist() == single
    assert graph.reachable(points[0], points[15:]).tolist() == [graph.reachable(points[0], b) for b in points[15:]]
    assert graph.reachable(points[:15], 3).tolist() == [graph.reachable(a, 3) for a in points[:15]]
    assert graph.reachable(np.empty((0, 3)), points[0]).shape == (0,)
    with pytest.raises(ParameterError, match="same length"):
        graph.reachable(points[:3], points[:4])
    with pytest.raises(OffMapError, match=r"goals\[1\]"):
        graph.reachable(0, [points[0], (50, 50, 50)])


@given(edge_lists(directed=False), st.integers(1, 7), st.integers(0, 5))
def test_random_places_are_drawn_from_the_largest_part_of_the_graph(world, motions, seed):
    graph = graph_of(world)
    edges = [edge for edge in world.one_way(motions) if np.isfinite(edge[2])]
    usable = sorted({node for a, b, _ in edges for node in (a, b)})
    parts = {tuple(sorted(naive.reachable(edges, node))) for node in usable or range(world.nodes)}
    largest = max(sorted(parts), key=len)
    expected = graph.points[np.random.default_rng(seed).choice(largest, 7)]
    np.testing.assert_array_equal(graph.random_points(7, seed=seed, motions=motions), expected)


def test_random_places_near_a_point_lie_around_it_and_reach_each_other():
    graph = yard_graph()
    near = graph.points[np.flatnonzero(graph.usable(Motion.SURFACE))[5]]
    places = graph.random_points(20, near=near, radius=6.0)
    assert (np.linalg.norm(places - near, axis=1) <= 6.0).all()
    assert len(np.unique(places, axis=0)) > 1
    assert graph.reachable(places[0], places).all()
    with pytest.raises(OffMapError, match=r"within 0\.1 m"):
        graph.random_points(1, near=(-1, -1, -1), radius=0.1)
    with pytest.raises(ParameterError, match="belong together"):
        graph.random_points(1, near=(0, 0, 0))


def test_bounds_hold_all_waypoints():
    for graph in (yard_graph(), voxel_graph(), WaypointGraph.from_graph(yard_graph().graph)):
        low, high = graph.bounds
        assert (low <= graph.points).all()
        assert (graph.points <= high).all()
    np.testing.assert_array_equal(voxel_graph().bounds, [(-0.5, -0.5, -0.5), (8.5, 7.5, 6.5)])
    graph = WaypointGraph.from_graph(yard_graph().graph)
    np.testing.assert_array_equal(graph.bounds, [graph.points.min(axis=0), graph.points.max(axis=0)])


FORMER = {
    "closest": lambda graph: graph.closest((1.0, 1.0, 1.0), Motion.VOLUMETRIC),
    "joined": lambda graph: graph.joined(0, 1, Motion.VOLUMETRIC),
}


@pytest.mark.parametrize("name", FORMER)
def test_former_names_work_and_warn(name):
    graph = WaypointGraph.from_graph(Graph.from_edges([(0, 0, 0), (4, 0, 0)], [(0, 1)]))
    with pytest.warns(DeprecationWarning, match=f"{name}.* is now") as warned:
        FORMER[name](graph)
    assert warned[0].filename == __file__
