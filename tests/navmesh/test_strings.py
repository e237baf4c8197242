from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive_navmesh as naive
from tests.navmesh.strategies import polygon_meshes
from wayfold import NavMesh, Status
from wayfold.errors import ParameterError
from wayfold.navmesh import queries

pytestmark = pytest.mark.kernels


def linked_mesh(world, links):
    vertices, polygons, rng = world
    navmesh = NavMesh.from_polygons(vertices, polygons, areas=rng.integers(1, 4, len(polygons)))
    for _ in range(links):
        tail, head = navmesh.random_points(2, seed=int(rng.integers(1 << 30)))
        navmesh.add_link(tail, head, cost=float(rng.integers(0, 3)), both_ways=bool(rng.random() >= 0.5))
    return navmesh


def ways(snapshot, a, b):
    """How many portals and links lead from one polygon to another."""
    ground, links = snapshot.ground, snapshot.link_arrays
    doors = ground.neighbours[ground.offsets[a] : ground.offsets[a + 1]]
    return np.count_nonzero(doors == b) + np.count_nonzero(links.targets[links.offsets[a] : links.offsets[a + 1]] == b)


@settings(max_examples=60)
@given(polygon_meshes(), st.integers(0, 3), st.sampled_from([{}, {1: 4.0}, {2: 0.5, 3: np.inf}]))
def test_the_string_through_a_path_of_polygons_is_that_path(world, links, costs):
    navmesh = linked_mesh(world, links)
    snapshot = navmesh.snapshot
    area_costs = snapshot.area_costs(costs)
    a, b = navmesh.random_points(2, seed=int(world[2].integers(1 << 30)))
    path = navmesh.path(a, b, exact=False, costs=costs)
    string = queries.funnel(snapshot, path.nodes, *snapshot.frame.local(navmesh.project([a, b])), area_costs)
    assert string.status is path.status
    if path.found and all(ways(snapshot, *pair) == 1 for pair in itertools.pairwise(path.nodes)):
        assert string.cost == pytest.approx(path.cost)
        np.testing.assert_allclose(snapshot.frame.world(string.points), path.points)
    elif path.found and not links:  # several portals to choose from: a string all the same, and a legal one
        places = [tuple(vertex[:2]) for vertex in navmesh.vertices.tolist()]
        rings = [ring.tolist() for ring in navmesh.polygons]
        for p, q in itertools.pairwise(snapshot.frame.world(string.points)[:, :2].tolist()):
            assert naive.visible(places, rings, naive.shared_edges(rings), p, q, None, None)
    assert queries.funnel(snapshot, path.nodes[:0], a, b, area_costs).status is Status.UNREACHABLE


@settings(max_examples=60)
@given(polygon_meshes(), st.sampled_from([{}, {1: 2.0, 2: 2.0, 3: 2.0}, {3: np.inf}]))
def test_a_smoothed_path_is_no_longer_than_before_nor_shorter_than_the_shortest_and_stays_on_the_mesh(world, costs):
    navmesh = linked_mesh(world, 0)
    a, b = navmesh.random_points(2, seed=int(world[2].integers(1 << 30)))
    path = navmesh.path(a, b, exact=False, costs=costs)
    best = navmesh.path(a, b, costs=costs)
    smooth = path.smooth()
    assert smooth.status is path.status
    if path.found:
        assert best.cost * (1 - 1e-9) <= smooth.cost <= path.cost * (1 + 1e-9)
        assert best.smooth().cost == pytest.approx(best.cost)
        np.testing.assert_array_equal(smooth.points[[0, -1]], path.points[[0, -1]])
        rate = costs.get(1, 1.0)
        assert smooth.cost == pytest.approx(rate * np.hypot(*np.diff(smooth.points[:, :2], axis=0).T).sum())
        places = [tuple(vertex[:2]) for vertex in navmesh.vertices.tolist()]
        open_ = np.isfinite([costs.get(kind, 1.0) for kind in navmesh.areas.tolist()])
        rings = [ring.tolist() for ring, there in zip(navmesh.polygons, open_, strict=True) if there]
        for p, q in itertools.pairwise(smooth.points[:, :2].tolist()):
            assert naive.visible(places, rings, naive.shared_edges(rings), p, q, None, None)


def test_a_path_with_different_costs_or_links_is_not_smoothed():
    square = np.array([(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)], float)
    vertices = np.concatenate([square + np.array(aside) for aside in ((0, 0, 0), (4, 0, 0), (0, 4, 0), (4, 4, 0))])
    navmesh = NavMesh.from_polygons(vertices, np.arange(16).reshape(4, 4), areas=[1, 2, 1, 1])
    around = navmesh.path((1, 3.9), (7, 4.1), exact=False, costs={2: 50.0})
    assert len(around.points) > 2
    with pytest.raises(ParameterError, match="cannot be smoothed"):
        around.smooth()
    navmesh.add_link((0.5, 0.5), (7.5, 7.5), cost=0.1)
    jump = navmesh.path((0.2, 1), (7, 7.8), exact=False)
    assert jump.smooth() is jump


@settings(max_examples=10)
@given(polygon_meshes(), st.integers(0, 2))
def test_many_strings_are_the_strings_one_by_one_with_any_number_of_threads(world, links):
    navmesh = linked_mesh(world, links)
    snapshot = navmesh.snapshot
    area_costs = snapshot.area_costs({1: 2.0})
    starts, goals = navmesh.random_points(700, seed=1), navmesh.random_points(700, seed=2)
    corridors = navmesh.graph.paths(navmesh.locate(starts), navmesh.locate(goals))
    starts, goals = snapshot.frame.local(starts), snapshot.frame.local(goals)
    given = snapshot, corridors.nodes, corridors.offsets, starts, goals, area_costs
    points, offsets, costs = queries.funnel_many(*given, 1)
    for other, expected in zip(queries.funnel_many(*given, 3), (points, offsets, costs), strict=True):
        np.testing.assert_array_equal(other, expected)
    assert len(points) == offsets[-1]
    np.testing.assert_array_equal(np.isfinite(costs), corridors.found)
    np.testing.assert_array_equal(np.diff(offsets) >= 2, corridors.found)
    for at in range(0, 700, 50):
        path = queries.funnel(snapshot, corridors[at].nodes, starts[at], goals[at], area_costs)
        np.testing.assert_array_equal(path.points, points[offsets[at] : offsets[at + 1]])
        assert path.cost == costs[at]


def test_polygons_that_do_not_touch_are_no_corridor():
    navmesh = NavMesh.from_polygons(
        [(k, j) for k in range(5) for j in range(2)], [[2 * k, 2 * k + 2, 2 * k + 3, 2 * k + 1] for k in range(4)]
    )
    snapshot = navmesh.snapshot
    start, goal = np.array([0.5, 0.5, 0.0]), np.array([2.5, 0.5, 0.0])
    assert queries.funnel(snapshot, np.array([0, 2], np.int32), start, goal, snapshot.area_costs(None)).cost == np.inf
    assert queries.funnel(snapshot, np.array([0, 1, 2], np.int32), start, goal, snapshot.area_costs(None)).cost == 2.0


@pytest.mark.parametrize("angle", [0.0, 0.7, 2.0, 4.4])
@pytest.mark.parametrize("shift", [0.0, 5e6])
def test_smoothing_cuts_no_corner_through_a_pinch_point(angle, shift):
    # The way leads round a hole to a corner that the start touches from behind.
    vertices = np.array(
        [
            (1, 1),
            (1, 0),
            (0.6, 0),
            (0.6, -1),
            (1, -1),
            (3, -1),
            (3, 0),
            (2, 0),
            (3, 1),
            (2, 1),
            (3, 2),
            (2, 2),
            (1, 2),
            (0, 2),
            (0, 0.5),
        ]
    )
    rings = [[2, 1, 0], [3, 4, 1, 2], [4, 5, 6, 7, 1], [7, 6, 8, 9], [9, 8, 10, 11], [0, 9, 11, 12], [0, 12, 13, 14]]
    turn = np.array([(np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))])
    navmesh = NavMesh.from_polygons(vertices @ turn + shift, rings)
    start, goal = np.array([(0.9, 0.3), (0.05, 0.55)]) @ turn + shift
    best = navmesh.path(start, goal)
    length = sum(
        math.dist(p, q) for p, q in itertools.pairwise([(0.9, 0.3), (1, 0), (2, 0), (2, 1), (1, 1), (0.05, 0.55)])
    )
    assert best.cost == pytest.approx(length, rel=1e-8)
    for path in (best, navmesh.path(start, goal, exact=False), navmesh.path(goal, start, exact=False)):
        assert path.smooth().cost == pytest.approx(length, rel=1e-8)
