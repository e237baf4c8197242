"""Routes after edits: a graph that is changed where the edit is equals that of the whole ground."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from shapely import affinity

from tests.draws import seeds
from wayfold import Terrain
from wayfold.errors import OffMapError
from wayfold.terrain import repaint
from wayfold.terrain.routes import EditedRoutes

pytestmark = pytest.mark.kernels

SIZE = 8


def drawn_terrain(seed):
    """A raster of several kinds of ground, some of it closed, moved and scaled."""
    draw = np.random.default_rng([seed, 51])
    weights = draw.choice([1.0, 1.0, 2.0, 5.0, np.inf], (SIZE, SIZE))
    return Terrain.from_raster(weights, cell=1.0)


def drawn_layers(seed, count):
    """Blocks and cost zones: small ones, some across others, some over whole regions, some off the map."""
    draw = np.random.default_rng([seed, 52])
    layers = []
    for _ in range(count):
        x, y = draw.uniform(-1, SIZE, 2)
        wide, high = draw.uniform(0.1, 1.0, 2)
        box = affinity.rotate(shapely.box(x, y, x + wide, y + high), float(draw.choice([0.0, draw.uniform(0, 90)])))
        layers.append((box, float(draw.choice([np.inf, np.inf, 0.5, 3.0]))))
    return layers


def lists_of(routes, triangle):
    return routes.graph.tri_nodes[routes.graph.tri_firsts[triangle] : routes.graph.tri_lasts[triangle]]


def steps_of(routes, nodes):
    """The steps of some nodes, (k, 3): node, target, cost, by the rows that a search reads."""
    counts = routes.lasts[nodes] - routes.firsts[nodes]
    slots = np.concatenate([np.arange(routes.firsts[node], routes.lasts[node]) for node in nodes])
    targets = np.concatenate([routes.targets, routes.more.targets])[slots]
    costs = np.concatenate([routes.costs, routes.more.costs])[slots]
    return np.column_stack([np.repeat(nodes, counts), targets, costs])


def expected_steps(terrain, routes):
    """The same from the lists of nodes: each with all others on its triangles."""
    found = []
    for triangle in range(terrain.num_triangles):
        nodes = lists_of(routes, triangle)
        a, b = (grid.ravel() for grid in np.meshgrid(nodes, nodes))
        lengths = np.sqrt(((routes.points[a] - routes.points[b]) ** 2).sum(axis=1)).astype(np.float32)
        weight = terrain.triangle_weights[triangle]
        costs = (weight * lengths).astype(np.float32) if np.isfinite(weight) else np.full(len(a), np.inf)
        found.append(np.column_stack([a, b, np.where(np.isin(b, routes.closed), np.inf, costs)])[a != b])
    return np.concatenate(found)


def ordered(steps):
    return steps[np.lexsort(steps.T[::-1])]


def check_graph(terrain, routes):
    """Every step is there, between nodes that lie where they should, the same on both sides of an edge."""
    nodes = np.unique(np.concatenate([lists_of(routes, triangle) for triangle in range(terrain.num_triangles)]))
    np.testing.assert_array_equal(ordered(steps_of(routes, nodes)), ordered(expected_steps(terrain, routes)))
    vertices = terrain._ground.mesh.vertices
    tips, shares = vertices[routes.graph.hosts[nodes]], routes.graph.shares[nodes, None]
    np.testing.assert_allclose(routes.points[nodes], tips[:, 0] * (1 - shares) + tips[:, 1] * shares, atol=1e-12)
    on_edge = {}
    for triangle in range(terrain.num_triangles):
        mine = lists_of(routes, triangle)
        corners = terrain.triangles[triangle].tolist()
        hosts = np.sort(routes.graph.hosts[mine], axis=1)
        for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
            ends = sorted((a, b))
            here = set(mine[(hosts == ends).all(axis=1)].tolist())
            assert here
            assert on_edge.setdefault(tuple(ends), here) == here
        assert all((hosts == corner).all(axis=1).sum() == 1 for corner in corners)


def check_edits(seed, count, radius):
    base = drawn_terrain(seed)
    layers = drawn_layers(seed, count)
    draw = np.random.default_rng([seed, 53])
    edited = 0
    for number in range(1, count + 1):
        terrain = base.changed(layers[:number])
        grown = terrain.grown(radius)
        routes = grown._routes("refined", 0.0)
        if isinstance(routes, EditedRoutes):
            check_graph(grown, routes)
            edited += 1
        fresh = drawn_terrain(seed).changed(layers[:number])
        np.testing.assert_array_equal(terrain.triangles, fresh.triangles)
        np.testing.assert_array_equal(terrain.twins, fresh.twins)
        for _ in range(3):
            ends = draw.uniform(0, SIZE, (2, 2))
            try:
                path, again = (one.path(*ends, radius=radius) for one in (terrain, fresh))
            except OffMapError:
                continue
            np.testing.assert_array_equal(path.points, again.points)  # to the last digit
            assert path.cost == again.cost
    assert edited or radius


def full(terrain):
    """The same ground as if it had never been edited."""
    return Terrain._from_ground(terrain._ground, terrain._areas, terrain._names, terrain._by_name)


@seeds(3)
def test_routes_over_an_edited_graph_are_as_good_as_those_over_a_new_one(seed):
    base, layers = drawn_terrain(seed), drawn_layers(seed, 4)
    terrain = base.changed(layers)
    draw = np.random.default_rng([seed, 54])
    for ends in draw.uniform(0, SIZE, (8, 2, 2)):
        try:
            path, other = terrain.path(*ends), full(terrain).path(*ends)
        except OffMapError:
            continue
        assert path.found == other.found
        if path:
            assert path.cost == pytest.approx(other.cost, rel=0.02)
            assert path.cost == pytest.approx(terrain.cost(path.points), rel=1e-9)
            assert path.lower_bound <= min(path.cost, other.cost) * (1 + 1e-9)


def test_what_is_over_much_of_the_map_makes_a_new_graph():
    terrain = drawn_terrain(1).changed([(shapely.box(1, 1, SIZE - 1, SIZE - 1), 3.0)])
    assert not isinstance(terrain._routes("refined", 0.0), EditedRoutes)


@seeds(3)
@pytest.mark.parametrize("radius", [0.0, 0.15])
def test_an_edited_graph_is_that_of_the_whole_ground_however_it_came_to_be(seed, radius):
    check_edits(seed, 4, radius)


@pytest.mark.long
@seeds(30)
@pytest.mark.parametrize("radius", [0.0, 0.15])
def test_many_edited_graphs_are_those_of_the_whole_ground(seed, radius):
    check_edits(seed + 100, 12, radius)


def clustered_layers(seed, count, size=20.0):
    """Blocks and cost zones that overlap each other, some of them along the sides of others."""
    draw = np.random.default_rng([seed, 55])
    layers = []
    for _ in range(count):
        x, y = np.round(draw.uniform(4, size - 6, 2) * draw.choice([4, 1000])) / 4 % (size - 6) + 2
        wide, high = draw.choice([0.5, 1.0, 2.5, 3.3], 2)
        box = affinity.rotate(shapely.box(x, y, x + wide, y + high), float(draw.choice([0.0, draw.uniform(0, 90)])))
        layers.append((box, float(draw.choice([np.inf, np.inf, 0.5, 3.0]))))
    return layers


def clustered_terrain(seed):
    draw = np.random.default_rng([seed, 56])
    return Terrain.from_raster(draw.choice([1.0, 2.0, 5.0], (20, 20)))


@seeds(3)
@pytest.mark.parametrize("radius", [0.0, 0.3])
def test_ground_after_many_clustered_edits_is_that_from_scratch_in_whatever_order_they_came_and_went(seed, radius):
    draw = np.random.default_rng([seed, 57])
    layers = clustered_layers(seed, 30)
    base = clustered_terrain(seed)
    for _ in range(2):
        kept = []
        for layer in draw.permutation(len(layers)).tolist():
            kept.append(layers[layer])
            if draw.random() < 0.3:
                kept.pop(int(draw.integers(len(kept))))
            base.changed(kept).grown(radius)
        edited, fresh = (one.changed(kept).grown(radius) for one in (base, clustered_terrain(seed)))
        np.testing.assert_array_equal(edited.vertices, fresh.vertices)  # to the last digit
        np.testing.assert_array_equal(edited.triangles, fresh.triangles)
        np.testing.assert_array_equal(edited.twins, fresh.twins)
        np.testing.assert_array_equal(edited.triangle_weights, fresh.triangle_weights)
        border = edited.twins < 0
        ends = edited.vertices[edited.triangles].reshape(-1, 2)[border]
        if not radius:
            assert (np.isclose(ends % 20, 0).any(axis=1)).all()  # tiles fit together


@pytest.mark.parametrize("radius", [0.0, 0.3])
def test_the_hundredth_block_of_a_cluster_cuts_no_more_triangles_than_those_around_it(radius, monkeypatch):
    cut = []
    make = repaint._cut

    def counting(ground, polygons, jobs):
        cut.append(sum(len(job.touched) for job in jobs))
        return make(ground, polygons, jobs)

    monkeypatch.setattr(repaint, "_cut", counting)
    draw = np.random.default_rng(3)
    base = Terrain.from_raster(draw.integers(1, 5, (30, 30)).astype(float))
    layers = []
    for number in range(100):
        x, y = draw.uniform(6, 22, 2)
        layers.append((shapely.box(x, y, x + 1.3, y + 0.9), np.inf))
        base.changed(layers).grown(radius)
        assert sum(cut) <= 512, number
        cut.clear()
