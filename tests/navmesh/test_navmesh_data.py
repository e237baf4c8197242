from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from scipy.spatial import cKDTree

from tests import naive_navmesh as naive
from tests.navmesh.checking import check_polygons, measure
from tests.navmesh.strategies import box, mesh_of
from wayfold import Agent, Mesh, NavMesh
from wayfold.formats import load_bsp, load_cityjson, load_mesh, load_scen

pytestmark = pytest.mark.data

WALKER = Agent(radius=0.6, height=2.0, climb=0.9, slope=45)
PLAYER = Agent(radius=15, height=56, climb=18, slope=math.degrees(math.acos(0.7)))  # Quake units
METRES = {"cell_size": 0.3, "cell_height": 0.2}
QUAKE = {"cell_size": 3.75, "cell_height": 2.0}
RECAST = {"nav_test": 155, "dungeon": 118, "undulating": 216}
HULLS = ("am_underworks2", "ctf_compromise", "czest2ctf", "islandctf", "oa_shouse")
LEVELS = ("aggressor", "czest1dm", "czest2ctf", "delta", "dm6ish", "oa_dm1", "oa_shouse")


def check(mesh, navmesh, agent, settings, **options):
    """What every mesh must hold, judged by its triangles."""
    check_polygons(navmesh, agent.height / 2)
    shares = measure(mesh, navmesh, agent, settings["cell_size"], settings["cell_height"], **options)
    # What is missing to all of them lies at the edges of steps, where one column holds both levels.
    assert shares.ground >= 0.99
    assert shares.clearance >= 0.998
    assert shares.slope >= 0.995
    assert shares.standing > 1000
    assert shares.coverage >= 0.98


@pytest.mark.parametrize("name", RECAST)
@pytest.mark.parametrize("tile", [0, 48])
def test_recasts_sample_meshes(data, name, tile):
    mesh = load_mesh(data / f"recast/{name}.obj", up="y")
    navmesh = NavMesh.build(mesh, WALKER, tile_size=tile, **METRES)
    if tile == 0:
        assert RECAST[name] / 1.25 <= navmesh.num_polygons <= RECAST[name] * 1.25
    check(mesh, navmesh, WALKER, METRES)


@pytest.mark.parametrize("name", RECAST)
def test_points_are_connected_as_a_flood_fill_over_the_triangles_says(data, name):
    mesh = load_mesh(data / f"recast/{name}.obj", up="y")
    navmesh = NavMesh.build(mesh, WALKER, tile_size=0, **METRES)
    points = navmesh.random_points(1000, seed=5)
    labels = navmesh.components[navmesh.locate(points)]
    same = labels[:, None] == labels
    # Rubble is walked over by the voxels' filter for low obstacles, but cut to pieces by rays: only areas of 27 square
    # metres and more are compared for the agent itself. Those are connected here exactly as they are there.
    for agent, smallest in ((WALKER, 300), (Agent(radius=0.9, height=2.2, climb=0.7, slope=45), 1)):
        places, areas = naive.flood_fill(mesh, agent, METRES["cell_size"])
        large = np.isin(areas, np.flatnonzero(np.bincount(areas) >= smallest))
        off, nearest = cKDTree(places[large]).query(points, distance_upper_bound=0.6)
        known = np.flatnonzero(np.isfinite(off))
        assert len(known) > 700
        area = areas[large][nearest[known]]
        joined = area[:, None] == area
        here = same[np.ix_(known, known)]
        assert here[joined].all()
        assert smallest == 1 or joined[here].all()


@pytest.mark.parametrize("name", HULLS)
def test_quake_levels_as_hulls(data, name):
    mesh = load_mesh(data / f"quake/{name}.obj", up="z")
    check(mesh, NavMesh.build(mesh, PLAYER, **QUAKE), PLAYER, QUAKE, solid=True)


@pytest.mark.parametrize("name", LEVELS)
def test_quake_levels_as_they_are_shipped(data, name):
    level = load_bsp(data / f"quake/{name}.bsp")
    navmesh = NavMesh.build(level.mesh, PLAYER, **QUAKE)
    check(level.mesh, navmesh, PLAYER, QUAKE, solid=True)
    # Most players appear above the mesh.
    spawns = np.array([point.position for point in level.points if point.kind == "info_player_deathmatch"])
    if len(spawns):
        assert (navmesh.locate(spawns, tolerance=2 * PLAYER.radius, max_distance=2 * PLAYER.height) >= 0).mean() >= 0.5


@pytest.mark.parametrize("name", ["abyss", "arena_candela_city"])
def test_race_tracks(data, name):
    mesh = load_mesh(data / f"meshes/{name}.obj", up="y")
    check(mesh, NavMesh.build(mesh, WALKER, **METRES), WALKER, METRES)


def test_a_quarter_of_a_real_town(data):
    mesh = load_cityjson(data / "city/delft.city.json")
    check(mesh, NavMesh.build(mesh, WALKER, **METRES), WALKER, METRES)


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


@pytest.fixture(scope="module")
def city(request):
    data = request.getfixturevalue("data")
    mesh = load_mesh(data / "city/city.obj.xz", up="y")
    return data, mesh, NavMesh.build(mesh, WALKER, tile_size=48, **METRES)


@pytest.mark.long
def test_the_city_holds_what_every_mesh_must_hold(city):
    _, mesh, navmesh = city
    assert 161_090 / 1.3 <= navmesh.num_polygons <= 161_090 * 1.3
    check(mesh, navmesh, WALKER, METRES)


@pytest.mark.long
def test_the_city_is_connected_as_recasts_mesh_of_it(city):
    data, _, navmesh = city
    with np.load(data / "city/city_cs03_t48_graph.npz") as graph:
        positions, component = graph["positions"], graph["component"]
    places = np.column_stack([positions[:, 0], -positions[:, 2], positions[:, 1]])
    chosen = np.random.default_rng(2).permutation(len(places))[:20_000]
    ours = navmesh.locate(places[chosen], tolerance=0.0, max_distance=1.0)
    there = ours >= 0
    assert there.mean() > 0.95
    one, two = component[chosen][there], navmesh.components[ours[there]]
    # The same pairs are connected: as many as in the finest common division, but for slivers at Recast's tile borders.
    pairs = np.unique(np.column_stack([one, two]), axis=0, return_counts=True)[1]
    apart = [int((np.unique(part, return_counts=True)[1].astype(np.int64) ** 2).sum()) for part in (one, two)]
    both = int((pairs.astype(np.int64) ** 2).sum())
    assert both >= 0.99 * max(apart)


@pytest.mark.long
def test_the_100_pairs_of_the_city(city):
    data, _, navmesh = city
    with open(data / "city/detour_pairs100.csv", encoding="utf-8") as lines:
        rows = [[float(row[name]) for name in ("sx", "sy", "sz", "ex", "ey", "ez")] for row in csv.DictReader(lines)]
    table = np.array(rows)
    starts, goals = (np.column_stack([part[:, 0], -part[:, 2], part[:, 1]]) for part in (table[:, :3], table[:, 3:]))
    pulled = navmesh.paths(starts, goals, exact=False)
    best = navmesh.paths(starts, goals)
    assert all(pulled)
    assert all(best)
    assert np.mean([path.length for path in pulled]) <= 1.01 * 1424.5
    assert all(a.length <= b.length + 1e-9 for a, b in zip(best, pulled, strict=True))


@pytest.mark.long
def test_a_tile_of_the_city_rebuilt_equals_the_city_built_again(city):
    _, mesh, navmesh = city
    low, high = np.array([1000.0, -1000.0, -10.0]), np.array([1003.0, -997.0, 12.0])
    corners, triangles = mesh_of(box(low, high)).vertices, mesh_of(box(low, high)).triangles
    changed = Mesh(
        np.concatenate([mesh.vertices, corners]), np.concatenate([mesh.triangles, triangles + len(mesh.vertices)])
    )
    before = navmesh.snapshot.topology
    before.turns, before.cells, before.portals  # noqa: B018 - derived before, so carried over
    navmesh.rebuild([low, high], changed)
    wanted = NavMesh.build(changed, WALKER, tile_size=48, bounds=mesh.bounds, **METRES)
    one, two = navmesh.snapshot.topology, wanted.snapshot.topology
    for name, a, b in zip(one.ground._fields, one.ground, two.ground, strict=True):
        np.testing.assert_array_equal(a, b, name)
    for name, a, b in zip(one.portals._fields, one.portals, two.portals, strict=True):
        np.testing.assert_array_equal(a, b, name)
    for name in ("areas", "twins", "turns", "components", "polygon_areas"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), name)
    assert len(one.areas) != len(before.areas)
    navmesh.rebuild([low, high], mesh)
    for a, b in zip(before.ground, navmesh.snapshot.ground, strict=True):
        np.testing.assert_array_equal(a, b)
