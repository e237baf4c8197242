from __future__ import annotations

import itertools

import numpy as np
import pytest

from benchmarks.real_terrain import LAND_COVER, TILE, mesh_areas, random_ends, real_mesh
from wayfold import Status, Terrain

pytestmark = pytest.mark.data

WEIGHTED = ("Map1.map", "Map10.map", "Map11.map")


def pairs(terrain, count, seed=3):
    return random_ends(terrain, count, seed)


def check_routes(terrain, ends):
    """Costs are integrals, refined routes are the cheapest, and all graphs agree on what can be reached."""
    found = 0
    for start, goal in ends:
        refined, extra, dual = (terrain.path(start, goal, graph=graph) for graph in ("refined", "dual-extra", "dual"))
        assert refined.status is extra.status
        assert refined.status in (Status.FOUND, Status.UNREACHABLE)
        for path in (refined, extra, dual):
            if path:
                assert path.cost == pytest.approx(terrain.cost(path.points), rel=1e-9)
        if dual:
            assert refined
        if refined:
            found += 1
            assert refined.cost <= extra.cost * (1 + 1e-9)
            assert refined.cost <= dual.cost * (1 + 1e-9)
            assert refined.cost >= terrain.min_weight * np.hypot(*np.subtract(goal, start)) * (1 - 1e-9)
    return found


@pytest.fixture(scope="module")
def honolulu(data):
    mesh = real_mesh(data / TILE)
    return mesh, Terrain.from_mesh(mesh, LAND_COVER)


def test_the_real_terrain_is_whole(honolulu):
    mesh, terrain = honolulu
    areas = mesh_areas(mesh)
    assert len(mesh) == 182_363
    a, b, c = (terrain.vertices[terrain.triangles[:, k]] for k in range(3))
    mine = np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]).sum() / 2
    # Triangles overlap by a few square metres.
    assert mine == pytest.approx(areas.sum(), rel=1e-6)
    # The rest name a vertex twice: what is left of the strips that the scenery was made of.
    assert terrain.num_triangles >= (areas > 0).sum()
    repeated = np.array([len(set(corners)) < 3 for corners in mesh.triangles.tolist()])
    assert (areas[repeated] == 0).all()
    assert ((areas == 0) & ~repeated).sum() <= 10


def test_routes_over_the_real_terrain_cost_what_their_lines_cost(honolulu):
    _, terrain = honolulu
    assert check_routes(terrain, pairs(terrain, 10)) >= 8


def test_refined_routes_keep_to_their_triangles_where_those_are_thin(honolulu):
    _, terrain = honolulu
    for start, goal in random_ends(terrain, 60):
        path = terrain.path(start, goal)
        if path:
            assert path.cost == pytest.approx(terrain.cost(path.points), rel=1e-9)


def test_the_bound_of_a_route_over_the_real_terrain_lies_below_it(honolulu):
    _, terrain = honolulu
    path = next(path for path in itertools.starmap(terrain.path, pairs(terrain, 10)) if path)
    assert 0 < path.lower_bound <= path.cost


def test_every_strategy_map_has_routes(data):
    files = sorted((data / "terrain" / "0ad").glob("*.npz"))
    assert files
    for file in files:
        with np.load(file) as world:
            heights, cover, water = world["height"], world["tex"], float(world["water"])
        kinds = 1.0 + np.arange(int(cover.max()) + 1) % 5
        terrain = Terrain.from_heights(
            heights, cover, kinds.tolist(), cell=4.0, steepest=50.0, water=water, slope_classes=2
        )
        check_routes(terrain, pairs(terrain, 3))


@pytest.mark.parametrize("name", WEIGHTED)
def test_weighted_maps_have_routes_that_weigh_their_letters(data, name):
    terrain = Terrain.from_movingai(data / "movingai" / "weighted" / name)
    assert check_routes(terrain, pairs(terrain, 3)) >= 1
