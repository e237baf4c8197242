from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive_navmesh as naive
from tests.navmesh.strategies import polygon_meshes, turned
from wayfold import NavMesh, Status

pytestmark = pytest.mark.kernels


def ends(navmesh, rng):
    """Two points of the mesh; often a vertex, or a point of an edge."""
    points = navmesh.random_points(2, seed=int(rng.integers(1 << 30)))[:, :2]
    for at in range(2):
        draw = rng.random()
        if draw < 0.3:
            points[at] = navmesh.vertices[rng.integers(len(navmesh.vertices)), :2]
        elif draw < 0.6:
            ring = navmesh.polygons[rng.integers(navmesh.num_polygons)]
            points[at] = navmesh.vertices[ring[:2], :2].mean(axis=0)
    return points


def check(world, queries):
    vertices, polygons, rng = world
    navmesh = NavMesh.from_polygons(vertices, polygons)
    check_pairs(navmesh, [ends(navmesh, rng) for _ in range(queries)])


def check_pairs(navmesh, pairs):
    places = [tuple(vertex[:2]) for vertex in navmesh.vertices.tolist()]
    rings = [ring.tolist() for ring in navmesh.polygons]
    shared = naive.shared_edges(rings)
    for a, b in pairs:
        start, goal = naive.holding(places, rings, a), naive.holding(places, rings, b)
        expected = naive.shortest_walk(places, rings, a.tolist(), b.tolist(), start, goal)
        best, pulled = navmesh.path(a, b), navmesh.path(a, b, exact=False)
        assert best.cost == pytest.approx(expected, abs=1e-6)
        assert best.length == pytest.approx(expected, abs=1e-6)
        assert best.found == pulled.found == math.isfinite(expected)
        assert pulled.cost >= expected - 1e-6
        for path in (best, pulled):
            np.testing.assert_allclose(path.points[[0, -1], :2] if path else [a, b], [a, b], atol=1e-9)
            for p, q in itertools.pairwise(path.points[:, :2].tolist()):
                assert naive.visible(places, rings, shared, p, q, None, None)


@settings(max_examples=60)
@given(polygon_meshes())
def test_an_optimal_path_is_as_short_as_the_visibility_graph_says_and_the_funnel_is_legal(world):
    check(world, 1)


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.1])
def test_a_vertex_is_turned_at_though_it_is_reached_sooner_from_another_side(angle):
    """From the upper right the way leads all around the upper left, and turns at the middle, where it began."""
    vertices = [
        (-1, -1), (0, -1), (1, -1), (-1, 0), (0, 0), (1, 0), (-1, 1), (0, 1), (1, 0.5), (0.5, 1), (2, 2), (0, 2),
        (-1, 2), (0.75, 0.75),
    ]  # fmt: skip
    lower_right, upper_right = [1, 2, 5, 4], [4, 8, 13]
    polygons = [
        [0, 1, 4, 3], lower_right, [3, 4, 7, 6], upper_right, [4, 13, 9], [9, 13, 8, 10, 11], [6, 7, 11, 12],
        [7, 9, 11],
    ]  # fmt: skip
    navmesh = NavMesh.from_polygons(turned(np.array(vertices), angle), polygons)
    pairs = [[navmesh.vertices[ring, :2].mean(axis=0) for ring in (upper_right, lower_right)]]
    check_pairs(navmesh, [*pairs, *(navmesh.vertices[[a, b], :2] for a in upper_right for b in lower_right)])


def test_a_vertex_on_a_straight_wall_is_turned_at_though_it_is_reached_sooner_from_behind_the_wall():
    corners = "0 8, 2 0, 2 5, 3 1, 3 5, 4 2, 5 4, 5 8, 6 9, 7 2, 7 6, 7 8, 8 5, 8 7, 8 10, 10 4"
    triangles = (
        "5 9 6, 4 5 6, 1 2 0, 2 5 4, 7 4 6, 10 7 6, 3 2 1, 2 3 5, 9 3 1, 12 13 10, 12 9 15, 12 10 6, 7 8 0, 8 14 0, "
        "11 7 10, 11 13 14, 8 11 14, 2 7 0"
    )
    vertices = np.array([[float(x) for x in corner.split()] for corner in corners.split(",")])
    polygons = [[int(k) for k in triangle.split()] for triangle in triangles.split(",")]
    navmesh = NavMesh.from_polygons(turned(vertices, 0.3), polygons)
    goal = navmesh.vertices[[11, 13], :2].mean(axis=0)
    check_pairs(navmesh, [(vertex[:2], goal) for vertex in navmesh.vertices])


@pytest.mark.long
@settings(max_examples=1500)
@given(polygon_meshes())
def test_optimal_paths_equal_the_visibility_graph_on_many_meshes(world):
    check(world, 2)


@settings(max_examples=25)
@given(polygon_meshes(), st.integers(1, 3), st.sampled_from([0.0, 0.5, 3.0]))
def test_with_links_the_path_is_as_short_as_the_visibility_graph_with_jumps(world, count, cost):
    vertices, polygons, rng = world
    navmesh = NavMesh.from_polygons(vertices, polygons)
    places = [tuple(vertex[:2]) for vertex in navmesh.vertices.tolist()]
    rings = [ring.tolist() for ring in navmesh.polygons]
    jumps = []
    for _ in range(count):
        tail, head = ends(navmesh, rng)
        one_way = bool(rng.random() < 0.5)
        navmesh.add_link(tail, head, cost=cost, both_ways=not one_way)
        first, last = naive.holding(places, rings, tail), naive.holding(places, rings, head)
        jumps.append((tail[:2].tolist(), first, head[:2].tolist(), last, cost))
        if not one_way:
            jumps.append((head[:2].tolist(), last, tail[:2].tolist(), first, cost))
    a, b = ends(navmesh, rng)
    start, goal = naive.holding(places, rings, a), naive.holding(places, rings, b)
    expected = naive.shortest_walk(places, rings, a.tolist(), b.tolist(), start, goal, jumps)
    best, pulled = navmesh.path(a, b), navmesh.path(a, b, exact=False)
    assert best.cost == pytest.approx(expected, abs=1e-6)
    assert best.found == pulled.found
    assert pulled.cost >= expected - 1e-6


def test_a_pool_that_is_too_small_grows_and_the_path_is_whole():
    # A comb: every tooth is a dead end that the search must look into.
    count = 3000
    x = np.arange(count + 1, dtype=float)
    low = np.column_stack([x, np.zeros(count + 1)])
    high = np.column_stack([x, 1 + 0.5 * (np.arange(count + 1) % 2)])
    vertices = np.concatenate([low, high])
    polygons = [[k, k + 1, count + 2 + k, count + 1 + k] for k in range(count)]
    navmesh = NavMesh.from_polygons(vertices, polygons)
    path = navmesh.path((0.5, 0.9), (count - 0.5, 0.9))
    assert path.cost == pytest.approx(count - 1)
    assert len(path.nodes) == count
    assert navmesh.path((0.5, 0.9), (count - 0.5, 0.9), exact=False).cost == pytest.approx(count - 1)


def test_paths_keep_to_their_floor():
    # Two floors above each other, joined by a strip outside.
    vertices = [
        (0, 0, 0),
        (4, 0, 0),
        (4, 4, 0),
        (0, 4, 0),
        (0, 0, 3),
        (4, 0, 3),
        (4, 4, 3),
        (0, 4, 3),
        (6, 0, 1.5),
        (6, 4, 1.5),
    ]
    polygons = [[0, 1, 2, 3], [4, 5, 6, 7], [1, 8, 9, 2], [8, 5, 6, 9]]
    with pytest.raises(ValueError, match="same side"):
        NavMesh.from_polygons(vertices, [*polygons, [0, 1, 2]])
    navmesh = NavMesh.from_polygons(vertices, polygons[:2])
    assert navmesh.locate([(1, 1, 0.2), (1, 1, 2.6)]).tolist() == [0, 1]
    assert navmesh.path((1, 1, 0), (3, 3, 3)).status is Status.UNREACHABLE
    assert navmesh.path((1, 1, 3), (3, 3, 3)).cost == pytest.approx(math.sqrt(8))


def test_a_budget_ends_the_search():
    navmesh = NavMesh.from_polygons(
        [(k, j) for k in range(9) for j in range(2)], [[2 * k, 2 * k + 2, 2 * k + 3, 2 * k + 1] for k in range(8)]
    )
    for exact in (True, False):
        assert navmesh.path((0.5, 0.5), (7.5, 0.6), budget=2, exact=exact).status is Status.BUDGET_EXHAUSTED
        assert navmesh.path((0.5, 0.5), (7.5, 0.6), budget=50, exact=exact).found
