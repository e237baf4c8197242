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
from wayfold import Status, Terrain
from wayfold.errors import ParameterError

pytestmark = pytest.mark.kernels

GRAPHS = ("refined", "dual", "dual-extra", "grid", "steiner")
OPTIONS = {"cell": 6.0, "epsilon": 2000.0}


def world(seed, radius, obstacles=0.3):
    regions = random_regions(seed, count=5, obstacles=obstacles)
    terrain = Terrain(regions or [(shapely.box(0, 0, 9, 9), 1.0)], default=2.0, bounds=(0, 0, 100, 100))
    return terrain, random_ends(terrain, seed, radius=radius)


def parts(terrain):
    polygons = shapely.polygons(terrain.vertices[terrain.triangles][:, [0, 1, 2, 0]])
    blocked = np.isinf(terrain.triangle_weights)
    return polygons, shapely.union_all(polygons[blocked])


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(GRAPHS), st.floats(0.2, 4.0))
def test_a_disc_keeps_its_radius_from_obstacles_and_costs_the_highest_weight_under_it(seed, graph, radius):
    terrain, ends = world(seed, radius)
    if graph == "steiner":
        assume_small_steiner(terrain, ends, OPTIONS["epsilon"])
    path = terrain.path(*ends, graph=graph, radius=radius, **OPTIONS)
    if not path:
        assert path.status is Status.UNREACHABLE
        return
    polygons, blocked = parts(terrain)
    line = shapely.LineString(path.points[:, :2])
    if not blocked.is_empty:
        assert shapely.distance(line, blocked) >= radius * (1 - 1e-6)
    sampled = naive.disc_cost(polygons, terrain.triangle_weights, path.points, radius)
    assert path.cost == pytest.approx(sampled, rel=0.03)
    assert path.cost == pytest.approx(terrain.cost(path.points, radius=radius), rel=1e-9)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.sampled_from(GRAPHS))
def test_costs_rise_with_the_radius_and_radius_0_is_a_point(seed, graph):
    terrain, ends = world(seed, 4.0)
    if graph == "steiner":
        assume_small_steiner(terrain, ends, OPTIONS["epsilon"])
    costs = [terrain.path(*ends, graph=graph, radius=radius, **OPTIONS).cost for radius in (0.0, 0.5, 1.5, 4.0)]
    assert costs[0] == terrain.path(*ends, graph=graph, **OPTIONS).cost
    # On one graph every step costs more for a larger disc. Refined routes have a graph for each radius, and are
    # within a hundredth of the optimum, which rises.
    slack = 1e-2 if graph == "refined" else 1e-6  # costs are stored as float32 for the search
    for narrow, wide in itertools.pairwise(costs):
        assert wide >= narrow * (1 - slack)


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.floats(0.2, 4.0))
def test_all_searches_of_a_discs_steiner_graph_give_the_same_cost(seed, radius):
    terrain, ends = world(seed, radius)
    assume_small_steiner(terrain, ends, 2000.0)
    costs = [
        terrain.path(*ends, graph="steiner", epsilon=2000.0, radius=radius, search=search).cost
        for search in ("astar", "dijkstra", "bushwhack")
    ]
    assert costs == pytest.approx([costs[0]] * 3, rel=1e-6)
    with pytest.raises(ParameterError, match="cones"):
        terrain.path(*ends, graph="steiner", radius=radius, search="cones")


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_gap_narrower_than_the_disc_is_not_used(graph):
    wall = shapely.box(9, 0, 11, 20).difference(shapely.box(9, 9, 11, 11))
    terrain = Terrain([(shapely.box(0, 0, 20, 20), 1.0), (wall, np.inf)])
    ends = (5, 10), (15, 10)
    if graph in ("refined", "grid"):  # the others may have no line through the middle of the gap
        assert terrain.path(*ends, graph=graph, radius=0.9, cell=0.5, nodes="corners").found
    assert terrain.path(*ends, graph=graph, radius=1.1, cell=0.5, epsilon=50.0).status is Status.UNREACHABLE


def test_a_disc_pays_for_what_it_touches_before_its_centre_does():
    terrain = Terrain([(shapely.box(0, 0, 10, 4), 1.0), (shapely.box(10, 0, 20, 4), 3.0)])
    line = [(5, 2), (15, 2)]
    assert terrain.cost(line) == pytest.approx(5 + 15)
    assert terrain.cost(line, radius=1.0) == pytest.approx(4 + 18, rel=1e-8)


def heaviest(terrain, places, radius):
    """The highest weight within a radius of each place, by distances to all triangles."""
    found = np.zeros(len(places))
    place, triangle = shapely.STRtree(parts(terrain)[0]).query(
        shapely.points(places), predicate="dwithin", distance=radius
    )
    np.maximum.at(found, place, terrain.triangle_weights[triangle])
    return found


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.floats(0.2, 6.0), st.integers(0, 4), st.sampled_from([0.0, 5.82e6]))
@example(4347, 1.5, 0, 0.0)  # outlines that ended beside the outline they end on
def test_a_grown_terrain_weighs_what_the_disc_touches(seed, radius, count, offset):
    """Nowhere less, and nowhere more than a disc that is 9 % larger; also where only an edit was grown again."""
    rng = np.random.default_rng(seed)
    regions = random_regions(seed, count=5, obstacles=0.3) or [(shapely.box(0, 0, 9, 9), 1.0)]
    regions = [(shapely.affinity.translate(shape, offset, -offset), weight) for shape, weight in regions]
    shift = np.array([offset, -offset])
    base = Terrain(regions, default=2.0, bounds=(*shift, *(shift + 100)))
    layers = []
    for number in range(count + 1):
        terrain = base.changed(layers)
        grown = terrain.grown(radius)
        places = rng.uniform(0, 100, (300, 2)) + shift
        at = grown.locate(places)
        weights = np.where(at < 0, np.inf, grown.triangle_weights[at])
        # In every triangle, however small: one that is wrong may be a road along a border.
        places = np.concatenate([places, grown.vertices[grown.triangles].mean(axis=1)])
        weights = np.concatenate([weights, grown.triangle_weights])
        assert (weights >= heaviest(terrain, places, radius) * (1 - 1e-9)).all()
        assert (weights <= heaviest(terrain, places, 1.0901 * radius) * (1 + 1e-9)).all()
        middle, size = rng.uniform(-5, 105, 2) + shift, rng.uniform(1, 15, 2)
        polygon = shapely.affinity.rotate(shapely.box(*(middle - size), *(middle + size)), 30 * number)
        layers.append((polygon, float(rng.choice([0.5, 3.0, np.inf]))))


@pytest.mark.parametrize("angle", [0, 17, 45])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_every_gap_of_2_25_radii_is_passed(angle, offset):
    rng = np.random.default_rng(angle)
    for _ in range(6):
        radius = float(rng.uniform(0.2, 2.0))
        gap = 2.25 * radius
        corners = [shapely.Polygon([(-30, -gap / 2), (0, -gap / 2), (rng.uniform(-9, 0), -30), (-30, -30)]),
                   shapely.Polygon([(30, gap / 2), (0, gap / 2), (rng.uniform(0, 9), 30), (30, 30)]),
                   shapely.Polygon([(-30, gap / 2 + 9), (-1, 30), (-30, 30)])]  # fmt: skip
        regions = [(shapely.box(-30, -30, 30, 30), 1.0), *((corner, np.inf) for corner in corners)]
        turned = [
            (shapely.affinity.translate(shapely.affinity.rotate(shape, angle, origin=(0, 0)), offset, offset), weight)
            for shape, weight in regions
        ]
        terrain = Terrain(turned)
        ends = [shapely.affinity.rotate(shapely.Point(x, 0), angle, origin=(0, 0)).coords[0] for x in (-20, 20)]
        path = terrain.path(*(np.array(ends) + offset), radius=radius)
        assert path.found
        assert path.cost == pytest.approx(terrain.cost(path.points, radius=radius), rel=1e-9)


def test_a_disc_may_start_where_it_only_just_fits():
    # At a corner the grown obstacle reaches farther than the disc: who stands there still gets away.
    terrain = Terrain([(shapely.box(0, 0, 40, 40), 1.0), (shapely.box(0, 0, 20, 20), np.inf)])
    for angle in np.linspace(0, np.pi / 2, 13):
        start = (20 + 2.001 * np.cos(angle), 20 + 2.001 * np.sin(angle))
        path = terrain.path(start, (35, 35), radius=2.0)
        assert path.found
        np.testing.assert_allclose(path.points[0, :2], start)
        straight = np.hypot(35 - start[0], 35 - start[1])
        assert path.cost <= 1.1 * straight
