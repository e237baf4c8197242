from __future__ import annotations

import itertools

import numpy as np
import pytest
import shapely
import shapely.affinity
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests import naive_terrain as naive
from tests.terrain.worlds import assume_small_steiner, random_ends, random_regions
from wayfold import Status, Terrain, samples
from wayfold.terrain import _steiner_kernels
from wayfold.terrain.routes import DualRoutes, EdgeRoutes

pytestmark = pytest.mark.kernels

SEEDS = st.integers(0, 100_000)


def world(seed, obstacles=0.0, count=None):
    regions = random_regions(seed, count=count or 4 + seed % 6, obstacles=obstacles)
    terrain = Terrain(regions or [(shapely.box(0, 0, 9, 9), 1.0)], default=2.0, bounds=(0, 0, 100, 100))
    return terrain, random_ends(terrain, seed)


def reference(terrain, ends, **options):
    return naive.cheapest(terrain.vertices, terrain.triangles, terrain.triangle_weights, *ends, **options)


def integral(terrain, path, slack=1e-10):
    corners = terrain.vertices[terrain.triangles]
    return naive.polyline_cost(corners, terrain.triangle_weights, path.points, slack)


def snell_error(terrain, points):
    """The largest difference of weight times sine on the two sides of a crossing inside an edge."""
    corners = terrain.vertices[terrain.triangles]
    worst = 0.0
    for before, here, after in zip(points[:-2, :2], points[1:-1, :2], points[2:, :2], strict=True):
        for k in range(3):
            a, b = corners[:, k], corners[:, (k + 1) % 3]
            edge = b - a
            length = np.hypot(*edge.T)
            off = np.abs(edge[:, 0] * (here[1] - a[:, 1]) - edge[:, 1] * (here[0] - a[:, 0])) / length
            share = ((here - a) * edge).sum(axis=1) / length**2
            for t in np.flatnonzero((off < 1e-9) & (share * length > 1e-6) & ((1 - share) * length > 1e-6)):
                along = edge[t] / length[t]
                sines = []
                for p, q in ((before, here), (here, after)):
                    step = (q - p) / np.hypot(*(q - p))
                    weight = naive.weight_at(corners, terrain.triangle_weights, (p + q) / 2, 1e-9)
                    sines.append(weight * float(step @ along))
                worst = max(worst, abs(sines[0] - sines[1]) / terrain.triangle_weights[t])
    return worst


@settings(max_examples=30)
@given(SEEDS, st.sampled_from([0.0, 0.3]), st.sampled_from(["dual", "dual-extra", "grid", "steiner", "refined"]))
def test_every_path_costs_what_an_independent_integrator_says(seed, obstacles, graph):
    terrain, ends = world(seed, obstacles)
    if graph == "steiner":
        assume_small_steiner(terrain, ends, 200.0)
    path = terrain.path(*ends, graph=graph, cell=7.0, epsilon=200.0)
    if path:
        np.testing.assert_allclose(path.points[[0, -1], :2], ends)
        assert path.cost == pytest.approx(integral(terrain, path), rel=1e-9)
    else:
        assert path.status is Status.UNREACHABLE


@settings(max_examples=25)
@given(SEEDS, st.floats(-5, -1))
@example(22074, -5.0)
@example(1130, -4.0)
@example(2095, -4.25)  # a leg of 0.7 micrometres crosses a sliver that is thinner than the integrator's slack
def test_refined_routes_cost_what_an_independent_integrator_says_among_thin_triangles(seed, power):
    regions = random_regions(seed, count=4)
    moved = [(shapely.affinity.translate(shape, 10**power, 0.7 * 10**power), 3.0 + weight) for shape, weight in regions]
    terrain = Terrain([*regions, *moved], default=2.0, bounds=(-1, -1, 101, 101))
    path = terrain.path(*random_ends(terrain, seed))
    # Lighter ground counts where the line is on its edge, and may count where it is within the width of an edge of it.
    assert integral(terrain, path) * (1 - 1e-9) <= path.cost <= integral(terrain, path, 1e-12) * (1 + 1e-9)


@settings(max_examples=12)
@given(SEEDS, st.sampled_from([0.0, 0.3]))
@example(49133, 0.0)  # a start in heavy ground, much nearer to its edge than the points on that edge to each other
def test_refined_routes_are_optimal_within_a_hundredth_and_bounded_from_below(seed, obstacles):
    terrain, ends = world(seed, obstacles)
    path = terrain.path(*ends)
    best = reference(terrain, ends, per_edge=14, rounds=5)
    assert path.found == np.isfinite(best)
    if path:
        assert path.cost <= best * 1.01
        assert path.lower_bound <= min(best, path.cost) * (1 + 1e-9)
        assert path.lower_bound > 0


@settings(max_examples=20)
@given(SEEDS)
def test_snells_law_holds_at_every_crossing_of_a_refined_route(seed):
    terrain, ends = world(seed)
    assert snell_error(terrain, terrain.path(*ends).points) < 1e-6


@settings(max_examples=25)
@given(SEEDS, st.sampled_from([0.0, 0.3]), st.sampled_from([200.0, 5000.0]))
def test_all_searches_of_a_steiner_graph_give_the_same_cost(seed, obstacles, epsilon):
    terrain, ends = world(seed, obstacles, count=3)
    assume_small_steiner(terrain, ends, epsilon)
    costs = [
        terrain.path(*ends, graph="steiner", epsilon=epsilon, search=search).cost
        for search in ("dijkstra", "astar", "bushwhack", "cones")
    ]
    assert costs == pytest.approx([costs[0]] * 4, rel=1e-9)


@settings(max_examples=5)
@given(SEEDS, st.sampled_from([1.0, 0.5]))
def test_steiner_paths_stay_within_one_plus_epsilon(seed, epsilon):
    terrain, ends = world(seed, count=2)
    assume_small_steiner(terrain, ends, epsilon)
    path = terrain.path(*ends, graph="steiner", epsilon=epsilon)
    assert path.cost <= (1 + epsilon) * reference(terrain, ends, per_edge=14, rounds=5)


@settings(max_examples=20)
@given(SEEDS, st.sampled_from([0.0, 0.3]), st.sampled_from(["dual", "dual-extra", "grid"]))
def test_astar_and_dijkstra_give_the_same_cost(seed, obstacles, graph):
    terrain, ends = world(seed, obstacles)
    costs = [
        terrain.path(*ends, graph=graph, cell=9.0, nodes="corners", search=search).cost
        for search in ("astar", "dijkstra")
    ]
    # Costs are stored as float32 for the search.
    assert costs[0] == pytest.approx(costs[1], rel=1e-6)


@settings(max_examples=30)
@given(SEEDS, st.sampled_from([0.0, 0.3]), st.integers(1, 15))
@example(223, 0.0, 15)  # several points on one edge: costs do not change as they move along it
def test_refining_a_route_never_makes_it_dearer(seed, obstacles, points):
    terrain, ends = world(seed, obstacles, count=4 + seed % 9)
    ground, weights = terrain._ground, terrain.triangle_weights
    corners = np.arange(len(ground.mesh.vertices), dtype=np.int32)
    graph = ground.graph(np.full(len(ground.edge_ends), points), corners=corners, centres=False)
    places = terrain.locate(ends)
    plain = EdgeRoutes(ground, weights, graph).path(ends, places, "astar")
    refined = EdgeRoutes(ground, weights, graph, refine=True).path(ends, places, "astar")
    assert refined.found == plain.found
    if plain:
        assert refined.cost <= plain.cost * (1 + 1e-12)


def test_the_optimum_of_an_edge_sequence_is_that_of_a_general_optimiser():
    heights = np.linspace(0, 100, 6)
    weights = [1.0, 9.0, 2.0, 5.0, 1.5]
    strips = [shapely.box(-50, low, 150, high) for low, high in itertools.pairwise(heights)]
    terrain = Terrain(list(zip(strips, weights, strict=True)))
    start, goal = (0.0, 0.0), (60.0, 100.0)
    segments = [[(-50, y), (150, y)] for y in heights[1:-1]]
    expected = naive.sequence_optimum(segments, weights, start, goal)
    assert terrain.path(start, goal).cost == pytest.approx(expected, rel=1e-9)


def test_a_route_runs_along_the_edge_of_a_road_under_the_critical_angle():
    terrain = Terrain([(shapely.box(0, -1, 100, 0), 1.0), (shapely.box(0, 0, 100, 40), 2.0)])
    path = terrain.path((10, 5), (90, 5))
    critical = np.arcsin(0.5)
    down = 2 * (2 * 5 / np.cos(critical))
    assert path.cost == pytest.approx(down + 80 - 2 * 5 * np.tan(critical), rel=1e-9)


@settings(max_examples=15)
@given(SEEDS)
def test_every_dual_step_costs_what_its_line_costs_straight_or_bent_as_in_figure_7(seed):
    terrain, _ = world(seed)
    routes = DualRoutes(terrain._ground, terrain.triangle_weights)
    for half in np.flatnonzero(terrain.twins >= 0):
        here, there = routes.points[half // 3], routes.points[terrain.twins[half] // 3]
        bend = routes.bends[half]
        line = [here, there] if bend < 0 else [here, terrain.vertices[bend], there]
        assert routes.costs[half] == pytest.approx(terrain.cost(line), rel=1e-5)


def test_some_dual_steps_bend_around_a_vertex():
    bends = []
    for seed in range(12):
        terrain, _ = world(seed)
        bends.append((DualRoutes(terrain._ground, terrain.triangle_weights).bends[terrain.twins >= 0] >= 0).any())
    assert any(bends)
    assert not all(bends)


@settings(max_examples=60)
@given(*(st.floats(0.5, 9.5) for _ in range(2)), *(st.floats(0.1, 6.0) for _ in range(2)), st.floats(0.1, 1.2))
def test_an_edge_using_connection_is_the_cheapest_one_and_undefined_as_in_figure_8(px, qx, py, qy, light):
    vertices = np.array([[0.0, 0.0], [10.0, 0.0]])
    total, x, y = _steiner_kernels.along(vertices, 0, 1, px, py, qx, qy, 1.0, light)

    def way(shares):
        u, v = 10 * shares
        return float(np.hypot(u - px, py) + light * abs(v - u) + np.hypot(qx - v, qy))

    if light >= 1:
        assert total == np.inf
        return
    reach = light / np.sqrt(1 - light**2)
    enter, leave = px + np.sign(qx - px) * py * reach, qx - np.sign(qx - px) * qy * reach
    crossed = (leave - enter) * (qx - px) < 0
    outside = min(enter, leave) < 0 or max(enter, leave) > 10
    if crossed or outside:
        assert total == np.inf
    elif px != qx:
        assert total == pytest.approx(way(np.array([x, y])), rel=1e-9)
        best = min(way(np.array([u, v])) for u in np.linspace(0, 1, 41) for v in np.linspace(0, 1, 41))
        assert total <= best * (1 + 1e-9)


def test_finer_steiner_graphs_and_grids_come_nearer_to_the_refined_route():
    scene = samples.scene1()
    terrain = Terrain.from_scene(scene)
    for start, goal in scene.queries:
        best = terrain.path(start, goal).cost
        fine = terrain.path(start, goal, graph="steiner", epsilon=1.0).cost
        coarse = terrain.path(start, goal, graph="steiner", epsilon=4096.0).cost
        assert best <= fine <= coarse
        assert fine <= 1.02 * best
        corners = [terrain.path(start, goal, graph="grid", cell=cell, nodes="corners").cost for cell in (10.0, 2.5)]
        assert best <= corners[1] <= corners[0]
        assert best <= terrain.path(start, goal, graph="grid", cell=2.5, steps="sampled").cost


def test_a_start_on_a_vertex_or_an_edge_is_as_good_as_any():
    terrain, _ = world(11)
    vertex = terrain.vertices[terrain.triangles[3, 0]]
    middle = terrain.vertices[terrain.triangles[5, :2]].mean(axis=0)
    for graph in ("refined", "steiner", "dual-extra", "dual", "grid"):
        path = terrain.path(vertex, middle, graph=graph)
        assert path.found
        assert path.cost == pytest.approx(integral(terrain, path), rel=1e-9)
    assert terrain.path(vertex, vertex).cost == 0


@pytest.mark.long
def test_refined_routes_are_within_two_thousandths_on_average_over_hundreds_of_scenes(record_property):
    ratios, bounds = [], []
    for seed in range(300):
        terrain, ends = world(seed, 0.25 if seed % 3 == 0 else 0.0, count=4 + seed % 9)
        path = terrain.path(*ends)
        if path:
            best = reference(terrain, ends, per_edge=20, rounds=5)
            ratios.append(path.cost / best)
            bounds.append(path.lower_bound / best)
    for name, values in (("cost / reference", ratios), ("bound / reference", bounds)):
        record_property(name, f"mean {np.mean(values):.6f}, least {np.min(values):.6f}, most {np.max(values):.6f}")
    assert np.mean(ratios) <= 1.002
    assert np.max(ratios) <= 1.01
    assert np.max(bounds) <= 1 + 1e-9
    assert np.mean(bounds) >= 0.95


@pytest.mark.long
def test_steiner_paths_stay_within_one_plus_epsilon_of_the_reference_on_many_scenes(record_property):
    worst = dict.fromkeys((1.0, 0.5, 0.25), 0.0)
    for seed in range(20):
        terrain, ends = world(seed, 0.25 if seed % 3 == 0 else 0.0, count=2 + seed % 3)
        best = reference(terrain, ends, per_edge=20, rounds=5)
        for epsilon in worst:
            path = terrain.path(*ends, graph="steiner", epsilon=epsilon)
            assert path.found == np.isfinite(best)
            if path:
                worst[epsilon] = max(worst[epsilon], path.cost / best)
    record_property("worst cost / reference by epsilon", str(worst))
    assert all(ratio <= 1 + epsilon for epsilon, ratio in worst.items())
