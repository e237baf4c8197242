"""Pinch points, where open ground touches in one corner only: points pass them in every graph, discs in none.

The lower bound holds there, against a dense discretisation that shares no code with the package.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import shapely
import shapely.affinity
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests import naive_terrain as naive
from tests.draws import seeds
from wayfold import Agent, Status, Terrain, World

pytestmark = pytest.mark.kernels

GRAPHS = [("refined", None), ("dual", None), ("dual-extra", None), ("grid", None), ("steiner", "cones"),
          ("steiner", "bushwhack"), ("steiner", "dijkstra"), ("steiner", "astar")]  # fmt: skip
SQUARES = [(shapely.box(0, 0, 10, 10), 1.0), (shapely.box(10, 10, 20, 20), 1.0)]
DETOUR = [(shapely.box(0, -10, 40, 0), 5.0), (shapely.box(30, 0, 40, 20), 5.0), (shapely.box(20, 10, 30, 20), 5.0)]
CLOSED = [(shapely.box(0, 0, 20, 20), np.inf)]


def checkerboard(seed, side=5, cell=10.0):
    """Cells of random weights, many of them obstacles or holes, so that many touch in corners only."""
    rng = np.random.default_rng(seed)
    regions = [(shapely.box(-cell, -cell, 0, 0), 1.0)]
    for row, column in itertools.product(range(side), repeat=2):
        kind = rng.random()
        if kind < 0.25:
            continue
        weight = np.inf if kind < 0.5 else float(np.exp(rng.uniform(np.log(0.1), np.log(10.0))))
        regions.append((shapely.box(column * cell, row * cell, (column + 1) * cell, (row + 1) * cell), weight))
    angle, offset = rng.uniform(0, 360), rng.uniform(-1, 1, 2) * 10.0 ** rng.integers(0, 7)
    turned = [
        (shapely.affinity.translate(shapely.affinity.rotate(shape, angle, origin=(0, 0)), *offset), weight)
        for shape, weight in regions
    ]
    return turned, rng


def reference(terrain, ends, **options):
    middle = terrain.vertices.mean(axis=0)
    near = terrain.vertices - middle, terrain.triangles, terrain.triangle_weights, *(np.asarray(ends) - middle)
    return naive.cheapest(*near, **options)


@pytest.mark.parametrize(("graph", "search"), GRAPHS)
@pytest.mark.parametrize("regions", [SQUARES, [*CLOSED, *SQUARES]], ids=["holes", "obstacles"])
@pytest.mark.parametrize("offset", [(0.0, 0.0), (1e7, -3e6)])
def test_points_pass_a_corner_and_discs_do_not(graph, search, regions, offset):
    terrain = Terrain([(shapely.affinity.translate(shape, *offset), weight) for shape, weight in regions])
    start, goal = np.array([(5.0, 5.0), (15.0, 15.0)]) + offset
    path = terrain.path(start, goal, graph=graph, search=search)
    assert path.found
    assert path.cost == pytest.approx(terrain.cost(path.points), rel=1e-9)
    if graph != "dual":
        assert path.cost == pytest.approx(np.hypot(10, 10), rel=1e-9)
    if search != "cones":
        wide = terrain.path(start, goal, graph=graph, search=search, radius=0.1)
        assert wide.status is Status.UNREACHABLE
    assert np.isinf(terrain.cost([start, goal], radius=0.1))


@pytest.mark.parametrize(("graph", "search"), GRAPHS)
def test_a_detour_is_for_discs_and_the_bound_knows_the_corner(graph, search):
    terrain = Terrain([*SQUARES, *DETOUR])
    path = terrain.path((5, 5), (15, 15), graph=graph, search=search)
    assert path.cost < 20
    assert path.lower_bound <= np.hypot(10, 10) * (1 + 1e-9)
    if search != "cones":
        wide = terrain.path((5, 5), (15, 15), graph=graph, search=search, radius=0.3)
        assert wide.cost > 200
        assert wide.lower_bound <= wide.cost


@pytest.mark.parametrize("ends", [((1, 1), (2, 1)), ((0, 0), (10, 0)), ((1, 1), (1 + 1e-9, 1)), ((5, 5), (5, 5))])
def test_start_and_goal_in_one_triangle_have_a_bound(ends):
    for graph, search in GRAPHS:
        path = Terrain(SQUARES).path(*ends, graph=graph, search=search)
        assert path.lower_bound <= path.cost
        straight = np.hypot(*np.subtract(*ends))
        assert path.lower_bound == pytest.approx(straight, rel=1e-9)


@settings(max_examples=12)
@given(st.integers(0, 100_000))
@example(3)
def test_all_graphs_agree_on_what_corners_join_and_bounds_hold(seed):
    regions, rng = checkerboard(seed)
    terrain = Terrain(regions)
    open_ = np.flatnonzero(np.isfinite(terrain.triangle_weights))
    first, last = terrain.vertices[terrain.triangles[rng.choice(open_, 2, replace=False)]].mean(axis=1)
    best = reference(terrain, (first, last), per_edge=10, rounds=4)
    paths = {key: terrain.path(first, last, graph=key[0], search=key[1], epsilon=500.0, cell=2.5) for key in GRAPHS}
    for key, path in paths.items():
        assert path.found == np.isfinite(best), key
        if path:
            assert path.cost >= best * (1 - 0.02)
            assert path.cost == pytest.approx(terrain.cost(path.points), rel=1e-6)
    if np.isfinite(best):
        bound = paths["refined", None].lower_bound
        assert 0 <= bound <= min(best, paths["refined", None].cost) * (1 + 1e-6)
        assert paths["refined", None].cost <= best * 1.01
    planner = World.from_terrain(terrain, cache=False).planner(Agent(radius=0.0))
    assert planner.reachable(first, last) == np.isfinite(best)


@seeds(6)
def test_discs_agree_on_what_sides_join(seed):
    regions, rng = checkerboard(seed)
    terrain = Terrain(regions)
    grown = World.from_terrain(terrain, cache=False).planner(Agent(radius=0.5))
    open_ = np.flatnonzero(np.isfinite(terrain.triangle_weights))
    centres = [polygon.centroid.coords[0] for polygon, weight in regions if np.isfinite(weight)]
    assert len(open_)
    for start, goal in rng.choice(centres, (4, 2)):
        ways = [terrain.path(start, goal, graph=graph, radius=0.5, cell=1.0).found for graph in ("refined", "grid")]
        assert ways[0] == ways[1] == grown.reachable(start, goal)
