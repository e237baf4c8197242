from __future__ import annotations

import csv
import math

import numpy as np
import pytest

from tests import naive_navmesh as naive
from wayfold import Agent, NavMesh
from wayfold.formats import load_mesh, load_scen
from wayfold.geometry import TriangleIndex

pytestmark = pytest.mark.data

AGENT = Agent(radius=0.6, height=2.0, climb=0.9, slope=45)
CELL, CELL_HEIGHT = 0.3, 0.2
RECAST = {"nav_test": 155, "dungeon": 118, "undulating": 216}


@pytest.mark.parametrize("name", RECAST)
@pytest.mark.parametrize("tile", [0, 48])
def test_recasts_sample_meshes(data, name, tile):
    mesh = load_mesh(data / f"recast/{name}.obj", up="y")
    navmesh = NavMesh.build(mesh, AGENT, tile_size=tile)
    if tile == 0:
        assert RECAST[name] / 1.25 <= navmesh.num_polygons <= RECAST[name] * 1.25
    check_against_triangles(mesh, navmesh)


def check_against_triangles(mesh, navmesh):
    """Ground, clearance, slope and coverage, judged by rays and balls against the triangles alone."""
    index = TriangleIndex(mesh)
    points = navmesh.random_points(10_000, seed=1)
    ground, _, _ = index.nearest(points)
    assert (ground > CELL_HEIGHT).mean() < 0.002
    ball = AGENT.radius - CELL
    low = points + np.array([0, 0, AGENT.climb + CELL_HEIGHT + ball])
    high = points + np.array([0, 0, AGENT.height - CELL_HEIGHT - ball])
    assert (~index.clear(low, high, ball - 1e-6)).mean() < 0.002
    drop, below = index.rays(points + np.array([0, 0, 0.5]), [0, 0, -1.0])
    there = drop < 0.5 + CELL_HEIGHT
    assert (mesh.normals[below[there], 2] < math.cos(math.radians(AGENT.slope)) - 1e-6).mean() < 0.005
    standing = standing_places(mesh, index)
    assert len(standing) > 1000
    assert (navmesh.locate(standing, tolerance=0.0, reach=0.5) >= 0).mean() >= 0.98


def standing_places(mesh, index):
    """Places where an agent with a cell to spare has flat ground all around and nothing in the way."""
    rng = np.random.default_rng(0)
    (low_x, low_y, _), (high_x, high_y, high_z) = mesh.bounds
    sky = np.column_stack([rng.uniform(low_x, high_x, 30_000), rng.uniform(low_y, high_y, 30_000)])
    sky = np.column_stack([sky, np.full(len(sky), high_z + 1)])
    offsets, drop, triangle = index.all_hits(sky, [0, 0, -1.0])
    places = np.repeat(sky, np.diff(offsets), axis=0)
    places[:, 2] -= drop
    places = places[mesh.normals[triangle, 2] > math.cos(math.radians(AGENT.slope))]
    room = AGENT.radius + CELL
    free = index.clear(places + np.array([0, 0, AGENT.climb + room]), places + np.array([0, 0, AGENT.height]), room)
    for angle in np.linspace(0, 2 * np.pi, 16, endpoint=False):
        for far in (room, room / 2):
            around = places + np.array([math.cos(angle) * far, math.sin(angle) * far, AGENT.climb])
            _, below = index.rays(around, [0, 0, -1.0], 2 * AGENT.climb)
            free &= (below >= 0) & (mesh.normals[np.maximum(below, 0), 2] > math.cos(math.radians(40)))
    return places[free]


@pytest.mark.parametrize(("name", "scenarios"), [("v2-arena", "arena"), ("v2-aurora-merged", "aurora")])
def test_paths_of_the_any_angle_benchmark_are_between_the_straight_line_and_the_grid_path(data, name, scenarios):
    navmesh = NavMesh.read(data / f"polyanya/{name}.mesh")
    rows = load_scen(data / f"polyanya/{scenarios}.scen")
    starts, goals = rows.starts[:, :2] + 0.5, rows.goals[:, :2] + 0.5
    paths = navmesh.paths(starts, goals)
    lengths = np.array([path.length for path in paths])
    # Listed lengths have six digits.
    assert (lengths <= rows.lengths * (1 + 1e-5) + 1e-5).all()
    assert (lengths >= np.hypot(*(starts - goals).T) - 1e-9).all()


def test_paths_on_the_arena_equal_the_visibility_graph(data):
    navmesh = NavMesh.read(data / "polyanya/v2-arena-merged.mesh")
    rows = load_scen(data / "polyanya/arena.scen")
    rings = [ring.tolist() for ring in navmesh.polygons]
    places = [tuple(vertex[:2]) for vertex in navmesh.vertices.tolist()]
    for at in range(0, len(rows), 53):
        a, b = rows.starts[at, :2] + 0.5, rows.goals[at, :2] + 0.5
        start, goal = navmesh.locate([a, b]).tolist()
        expected = naive.shortest_walk(places, rings, a.tolist(), b.tolist(), start, goal)
        assert navmesh.path(a, b).cost == pytest.approx(expected, abs=1e-6)


@pytest.mark.long
def test_the_city_and_its_100_pairs(data):
    mesh = load_mesh(data / "city/city.obj.xz", up="y")
    navmesh = NavMesh.build(mesh, AGENT, tile_size=48)
    assert 161_090 / 1.3 <= navmesh.num_polygons <= 161_090 * 1.3
    with open(data / "city/detour_pairs100.csv", encoding="utf-8") as lines:
        rows = [[float(row[name]) for name in ("sx", "sy", "sz", "ex", "ey", "ez")] for row in csv.DictReader(lines)]
    table = np.array(rows)
    starts, goals = (np.column_stack([part[:, 0], -part[:, 2], part[:, 1]]) for part in (table[:, :3], table[:, 3:]))
    pulled = navmesh.paths(starts, goals, optimal=False)
    best = navmesh.paths(starts, goals)
    assert all(pulled)
    assert all(best)
    assert np.mean([path.length for path in pulled]) <= 1.01 * 1424.5
    assert all(a.length <= b.length + 1e-9 for a, b in zip(best, pulled, strict=True))
    # Rebuilding one place from the same triangles changes nothing.
    before = [array.copy() for array in navmesh._now.state.ground]
    navmesh.rebuild([(1000, -1000, -10), (1002, -998, 40)], mesh)
    for a, b in zip(before, navmesh._now.state.ground, strict=True):
        np.testing.assert_array_equal(a, b)
