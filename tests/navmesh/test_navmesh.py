from __future__ import annotations

import math
import threading
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import wayfold
from tests import naive_navcost
from tests.navmesh.strategies import box, floor, mesh_of, polygon_meshes, rooms
from wayfold import Agent, Mesh, NavMesh, Status
from wayfold.errors import EditError, FormatError, GeometryError, OffMapError, ParameterError

pytestmark = pytest.mark.kernels

AGENT = Agent(radius=0.4, height=1.8, climb=0.4, slope=45)
OPTIONS = {"cell_size": 0.25, "cell_height": 0.2}


def build(mesh, **options):
    return NavMesh.build(mesh, AGENT, **{**OPTIONS, **options})


def same(one, two):
    """Whether two meshes are equal array by array."""
    for a, b in zip(one.snapshot.ground, two.snapshot.ground, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.areas, two.areas)


# A ramp to an upper floor, with a gap of a column and a half between it and the top of a box.
GAP = mesh_of(
    floor(0, 0, 14, 14),
    box((11.335, 4.89, -0.1), (13.703, 9.172, 1.0)),
    floor(2, 2, 9, 11, z=3.0),
    floor(9, 2, 11, 9, z=3.0, rise=-3.0),
)


def check_neighbours(navmesh):
    """Every polygon is convex and counter-clockwise, and neighbours share their edge's two vertices."""
    edges = set()
    for at, (ring, ahead) in enumerate(zip(navmesh.polygons, navmesh.neighbours, strict=True)):
        points = navmesh.vertices[ring, :2]
        step = np.roll(points, -1, axis=0) - points
        turn = step[:, 0] * np.roll(step[:, 1], -1) - step[:, 1] * np.roll(step[:, 0], -1)
        assert (turn > -1e-9).all()
        edges |= {
            (at, int(o), int(a), int(b)) for a, b, o in zip(ring, np.roll(ring, -1), ahead, strict=True) if o >= 0
        }
    assert all((other, at, b, a) in edges for at, other, a, b in edges)


@settings(max_examples=15)
@given(rooms(), st.sampled_from([12, 16, 33]))
@example(GAP, 12)
def test_tiles_give_one_mesh_without_gaps_that_joins_what_a_single_tile_joins(mesh, tile):
    whole, tiled = build(mesh, tile_size=0), build(mesh, tile_size=tile)
    check_neighbours(whole)
    check_neighbours(tiled)
    assert tiled.area == pytest.approx(whole.area, rel=0.08)
    points = whole.random_points(40, seed=1)
    points = points[(tiled.locate(points) >= 0) & (tiled.locate(points, tolerance=0.0, max_distance=0.5) >= 0)]
    # Contours are simplified by up to 1.3 cells, which may close or open a passage that is barely wide enough: what a
    # wider agent joins is joined, and what a slimmer one does not join is not. That one needs smaller columns, since
    # its own radius is rounded up to them; but then it sees gaps that larger columns step over.
    wider = NavMesh.build(mesh, Agent(0.8, 1.8, 0.4, 45), **OPTIONS)
    slim = Agent(0.05, 1.8, 0.4, 45)
    slimmer, coarser = NavMesh.build(mesh, slim, **{**OPTIONS, "cell_size": 0.1}), NavMesh.build(mesh, slim, **OPTIONS)

    def together(navmesh):
        group = np.where(navmesh.locate(points) >= 0, navmesh.components[navmesh.locate(points)], -1)
        return (group[:, None] == group[None]) & (group >= 0)

    for navmesh in (whole, tiled):
        assert (together(navmesh) | ~together(wider)).all()
        assert (~together(navmesh) | together(slimmer) | together(coarser)).all()


@settings(max_examples=8)
@given(rooms(), rooms())
def test_any_number_of_threads_builds_the_same_and_a_rebuild_equals_a_build(before, after):
    bounds = [(0, 0, -0.2), (14, 14, 5)]
    one = build(before, tile_size=16, bounds=bounds, workers=1)
    same(one, build(before, tile_size=16, bounds=bounds, workers=3))
    try:
        wanted = build(after, tile_size=16, bounds=bounds)
    except GeometryError:
        return
    one.rebuild(bounds, after)
    same(one, wanted)


def test_a_rebuild_touches_only_the_tiles_around_the_box_and_keeps_running_queries_whole():
    before = mesh_of(floor(0, 0, 40, 40))
    after = mesh_of(floor(0, 0, 40, 40), box((19, 5, 0), (21, 35, 3)))
    bounds = [(0, 0, -0.1), (40, 40, 3)]
    navmesh = build(before, tile_size=32, bounds=bounds)
    straight = navmesh.path((5, 20, 0), (35, 20, 0)).cost
    assert straight == pytest.approx(30.0)
    costs, stop = set(), threading.Event()

    def ask():
        while not stop.is_set():
            costs.add(round(navmesh.path((5, 20, 0), (35, 20, 0)).cost, 6))

    thread = threading.Thread(target=ask)
    thread.start()
    for _ in range(3):
        navmesh.rebuild([(18.9, 4.9, 0), (21.1, 35.1, 3)], after)
        navmesh.rebuild([(18.9, 4.9, 0), (21.1, 35.1, 3)], before)
    navmesh.rebuild([(18.9, 4.9, 0), (21.1, 35.1, 3)], after)
    stop.set()
    thread.join()
    around = navmesh.path((5, 20, 0), (35, 20, 0)).cost
    assert around > 33
    assert costs <= {round(straight, 6), round(around, 6)}
    same(navmesh, build(after, tile_size=32, bounds=bounds))


def test_heights_follow_the_ground():
    x, y = np.meshgrid(np.arange(0, 20.5, 0.5), np.arange(0, 20.5, 0.5))
    z = 1.5 * np.sin(x / 3) * np.cos(y / 4)
    number = np.arange(x.size).reshape(x.shape)
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    triangles = np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])
    navmesh = build(Mesh(np.column_stack([x.ravel(), y.ravel(), z.ravel()]), triangles))
    points = navmesh.random_points(2000, seed=2)
    truth = 1.5 * np.sin(points[:, 0] / 3) * np.cos(points[:, 1] / 4)
    assert np.abs(points[:, 2] - truth).max() < 0.2
    path = navmesh.path(points[0], points[1])
    assert np.abs(path.points[:, 2] - 1.5 * np.sin(path.points[:, 0] / 3) * np.cos(path.points[:, 1] / 4)).max() < 0.2


def test_islands_are_kept_as_asked():
    mesh = mesh_of(floor(0, 0, 10, 10), floor(20, 0, 40, 10), floor(50, 0, 55, 10))
    every = build(mesh)
    assert every.components.max() == 2
    assert every.path((5, 5, 0), (30, 5, 0)).status is Status.UNREACHABLE
    assert build(mesh, keep="largest").locate([(5, 5, 0), (30, 5, 0)]).tolist()[0] == -1
    seeded = build(mesh, keep=[(5, 5, 0), (52, 5, 0)])
    assert (seeded.locate([(5, 5, 0), (30, 5, 0), (52, 5, 0)]) >= 0).tolist() == [True, False, True]
    with pytest.raises(OffMapError, match="seed"):
        build(mesh, keep=[(15, 5, 0)])
    with pytest.raises(ParameterError, match="keep"):
        build(mesh, keep="some")


@settings(max_examples=20)
@given(polygon_meshes())
def test_random_points_lie_on_the_mesh_and_locate_finds_their_polygon(world):
    vertices, polygons, rng = world
    navmesh = NavMesh.from_polygons(vertices, polygons)
    check_neighbours(navmesh)
    points = navmesh.random_points(50, seed=int(rng.integers(1 << 30)))
    found = navmesh.locate(points)
    assert (found >= 0).all()
    assert found[0] == navmesh.locate(points[0])
    far = points + np.array([1000, 0, 0])
    assert (navmesh.locate(far) == -1).all()
    assert np.isnan(navmesh.project(far)).all()
    np.testing.assert_allclose(navmesh.project(points)[:, :2], points[:, :2])
    # A ray ends where the straight line leaves the mesh; moving along never leaves it.
    for a, b in zip(points[:10], points[10:20], strict=True):
        hit = navmesh.raycast(a, b)
        assert navmesh.locate(hit.point, tolerance=1e-6) >= 0
        assert (hit.wall is None) == (hit.fraction == 1.0)
        if hit.wall is None:
            assert navmesh.path(a, b).cost == pytest.approx(math.dist(a[:2], b[:2]))
        moved = navmesh.move_along(a, b)
        assert navmesh.locate(moved, tolerance=1e-6) >= 0
        assert math.dist(moved[:2], b[:2]) <= math.dist(a[:2], b[:2]) + 1e-9


def test_a_ray_meets_a_wall_and_a_step_slides_along_it():
    navmesh = NavMesh.from_polygons([(0, 0), (4, 0), (4, 4), (0, 4)], [[0, 1, 2, 3]])
    hit = navmesh.raycast((1, 1), (7, 1))
    assert hit.fraction == pytest.approx(0.5)
    np.testing.assert_allclose(hit.point, (4, 1, 0))
    np.testing.assert_allclose(sorted(hit.wall[:, 1]), [0, 4])
    np.testing.assert_allclose(navmesh.move_along((3.5, 1), (4.5, 1.4)), (4, 1.4, 0))
    np.testing.assert_allclose(navmesh.move_along((3, 1), (3.5, 1.4)), (3.5, 1.4, 0))


def strip(areas=None):
    """Three rooms side by side, and a way around the middle one."""
    vertices = [(0, 0), (4, 0), (8, 0), (12, 0), (0, 4), (4, 4), (8, 4), (12, 4), (0, 6), (12, 6)]
    polygons = [[0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [4, 5, 6, 7, 9, 8]]
    return NavMesh.from_polygons(vertices, polygons, areas=areas)


def test_kinds_of_area_cost_what_the_agent_says():
    navmesh = strip(areas=[1, 2, 1, 3])
    assert navmesh.path((2, 2), (10, 2)).cost == pytest.approx(8)
    closed = navmesh.path((2, 2), (10, 2), costs={2: math.inf})
    assert closed.cost == pytest.approx(2 * math.sqrt(8) + 4)
    assert 1 not in closed.nodes
    dear = navmesh.path((2, 2), (10, 2), costs={2: 10.0})
    assert 1 not in dear.nodes
    assert navmesh.path((2, 2), (10, 2), costs={1: 2.0, 2: 2.0, 3: 2.0}).cost == pytest.approx(16)
    assert navmesh.path((2, 2), (6, 2), costs={2: math.inf}).status is Status.UNREACHABLE
    assert navmesh.path((2, 2), (10, 2), costs={2: 1.5}, exact=False).cost == pytest.approx(2 + 4 * 1.5 + 2)
    assert navmesh.path((2, 2), (10, 2), costs={2: 1.5}).cost == pytest.approx(2 * math.sqrt(8) + 4)
    assert navmesh.path((2, 2), (10, 2), costs={2: 1.3}).cost == pytest.approx(2 + 4 * 1.3 + 2)
    for wrong in ({300: 1.0}, {1: 0.0}, {1: -1.0}):
        with pytest.raises(ParameterError, match="cost"):
            navmesh.path((2, 2), (10, 2), costs=wrong)


def test_a_path_over_weighted_ground_costs_what_each_metre_of_it_costs():
    navmesh = strip(areas=[1, 2, 1, 3])
    for start, goal in (((2, 2), (10, 3)), ((1, 5), (11, 1)), ((0.5, 0.5), (6, 3))):
        for costs in ({2: 1.5}, {2: 3.0, 3: 2.0}, {1: 4.0, 3: 1.1}):
            path = navmesh.path(start, goal, costs=costs)
            assert path.cost <= navmesh.path(start, goal, costs=costs, exact=False).cost * (1 + 1e-12)
            rings = [[tuple(navmesh.vertices[v, :2]) for v in ring] for ring in navmesh.polygons]
            rates = [costs.get(int(kind), 1.0) for kind in navmesh.areas]
            assert path.cost == pytest.approx(naive_navcost.walk_cost(rings, rates, path.points[:, :2]))
    # Over a link nothing is walked: its own cost counts.
    apart = NavMesh.from_polygons(
        [(0, 0), (4, 0), (4, 4), (0, 4), (10, 0), (14, 0), (14, 4), (10, 4)], [[0, 1, 2, 3], [4, 5, 6, 7]], areas=[1, 2]
    )
    apart.add_link((4, 2), (10, 2), cost=1.0)
    assert apart.path((1, 2), (12, 2), costs={2: 5.0}).cost == pytest.approx(3 + 1 + 5 * 2)


def test_links_lead_across_gaps_one_way_or_both():
    vertices = [(0, 0), (4, 0), (4, 4), (0, 4), (10, 0), (14, 0), (14, 4), (10, 4)]
    navmesh = NavMesh.from_polygons(vertices, [[0, 1, 2, 3], [4, 5, 6, 7]])
    assert not navmesh.path((1, 2), (12, 2))
    navmesh.add_link((4, 2), (10, 2), both_ways=False)
    for exact in (True, False):
        path = navmesh.path((1, 2), (12, 2), exact=exact)
        assert path.cost == pytest.approx(11)
        np.testing.assert_allclose(path.points[:, 0], [1, 4, 10, 12])
        assert not navmesh.path((12, 2), (1, 2), exact=exact)
    assert navmesh.graph.directed
    navmesh.add_link((10, 1), (4, 1), cost=0.0)
    assert navmesh.path((12, 1), (1, 1)).cost == pytest.approx(5)
    navmesh.clear_links()
    assert not navmesh.path((1, 2), (12, 2))
    with pytest.raises(OffMapError, match="end"):
        navmesh.add_link((1, 1), (7, 1))


def test_the_graph_steps_through_the_middles_of_portals():
    navmesh = strip()
    assert navmesh.graph.num_nodes == 4
    assert navmesh.graph.path(0, 2).cost == pytest.approx(8)
    assert navmesh.area == pytest.approx(72)


def test_a_batch_is_what_single_queries_give():
    navmesh = build(mesh_of(floor(0, 0, 14, 14), box((5, 3, 0), (7, 12, 3))))
    points = navmesh.random_points(12, seed=4, component=0)
    paths = navmesh.paths(points[:6], points[6:], workers=3)
    assert [path.cost for path in paths] == [
        navmesh.path(a, b).cost for a, b in zip(points[:6], points[6:], strict=True)
    ]
    with pytest.raises(ParameterError, match="same length"):
        navmesh.paths(points[:2], points[:3])


def test_saving_keeps_everything_and_a_loaded_mesh_can_be_rebuilt(tmp_path):
    mesh = mesh_of(floor(0, 0, 14, 14), box((5, 3, 0), (7, 12, 3)))
    navmesh = build(mesh, tile_size=16)
    navmesh.add_link((1, 1, 0), (12, 12, 0), cost=1.5)
    navmesh.save(tmp_path / "a.wayfold")
    loaded = wayfold.load(tmp_path / "a.wayfold")
    same(navmesh, loaded)
    assert loaded.agent == AGENT
    assert loaded.path((1, 2, 0), (12, 11, 0)).cost == navmesh.path((1, 2, 0), (12, 11, 0)).cost
    loaded.rebuild([(0, 0, 0), (14, 14, 3)], mesh_of(floor(0, 0, 14, 14)))
    assert loaded.area > navmesh.area
    strip().save(tmp_path / "b.wayfold")
    with pytest.raises(EditError, match="only a mesh that"):
        wayfold.load(tmp_path / "b.wayfold").rebuild([(0, 0, 0), (1, 1, 1)], mesh)
    with pytest.raises(EditError, match="outside"):
        navmesh.rebuild([(0, 0, 0), (99, 1, 1)], mesh)


@settings(max_examples=10)
@given(polygon_meshes(), st.sampled_from([2, 3]))
def test_exported_meshes_read_back_the_same(tmp_path_factory, world, version):
    vertices, polygons, _ = world
    navmesh = NavMesh.from_polygons(vertices, polygons)
    folder = tmp_path_factory.mktemp("mesh")
    navmesh.export(folder / "a.mesh", version=version)
    same(navmesh, NavMesh.read(folder / "a.mesh"))
    navmesh.export(folder / "a.obj")
    same(navmesh, NavMesh.read(folder / "a.obj"))


def test_constrained_edges_and_closed_faces_of_format_3_are_walls(tmp_path):
    faces = "0 3 4 1 5 -4 0 -2\n1 3 1 2 5 -1 0 3\n1 3 2 3 5 2 0 4\n1 3 3 4 5 3 0 -1\n"
    text = "mesh\n3\n5 4\n0 0\n0 10\n10 10\n10 0\n5 5\n" + faces
    (tmp_path / "a.mesh").write_text(text)
    navmesh = NavMesh.read(tmp_path / "a.mesh")
    assert navmesh.num_polygons == 3
    assert navmesh.path((1, 5), (9, 5)).cost == pytest.approx(8)
    assert navmesh.path((1, 2), (9, 2)).cost == pytest.approx(2 * math.dist((1, 2), (5, 5)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello", "begin with the word"),
        ("mesh\n7\n1 1\n", "format 7"),
        ("mesh\n2\n3 1\n0 0 1 0\n1 0 1 0\n", "ends before"),
        ("mesh\n2\n3 1\n0 0 1 0\n1 0 1 0\n0 x 1 0\n3 0 1 2 -1 -1 -1\n", "should be a number"),
        ("mesh\n2\n3 1\n0 0 1 0\n1 0 1 0\n0 1 1 0\n3 0 1 7 -1 -1 -1\n", "vertex that is not there"),
        ("mesh\n2\n3 1\n0 0 1 0\n1 0 1 0\n0 1 1 0\n3 0 1 2 -1 -1 5\n", "neighbour that is not there"),
        ("mesh\n2\n3 1\n0 0 1 0\n1 0 1 0\n0 1 1 0\n3 0 1 2 -1 -1 0\n", "name each other"),
        ("mesh\n2\n99999999 1\n", "cannot be"),
    ],
)
def test_damaged_mesh_files_get_a_sentence(tmp_path, text, words):
    (tmp_path / "a.mesh").write_text(text)
    with pytest.raises(FormatError, match=words):
        NavMesh.read(tmp_path / "a.mesh")


def test_wrong_polygons_get_a_sentence():
    square = [(0, 0), (1, 0), (1, 1), (0, 1), (0.9, 0.5)]
    for polygons, words in (
        ([[0, 1]], "at least 3"),
        ([[0, 1, 9]], "outside 0 to 4"),
        ([[0, 1, 4, 2, 3]], "not convex"),
        ([[0, 1, 1, 2]], "same corner twice"),
        ([], "at least one"),
    ):
        with pytest.raises(GeometryError, match=words):
            NavMesh.from_polygons(square, polygons)
    assert NavMesh.from_polygons(square, [[3, 2, 1, 0]]).area == pytest.approx(1)


def test_degenerate_geometry_is_cleaned_or_refused():
    corners, triangles = floor(0, 0, 8, 8)
    good = Mesh(corners, triangles)
    with pytest.warns(UserWarning, match="1 of 3 triangles"):
        thin = NavMesh.build(Mesh(corners, [*triangles, (0, 0, 1)]), AGENT, **OPTIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(thin, build(good))
        same(build(Mesh(corners, triangles * 3)), build(good))
    with pytest.raises(GeometryError, match="not finite"):
        build(Mesh([*corners, (0, math.nan, 0)], [*triangles, (0, 1, 4)]))
    with pytest.raises(GeometryError, match="at least one"):
        build(Mesh(np.empty((0, 3)), np.empty((0, 3), int)))
    with pytest.raises(GeometryError, match="faces up"):
        build(Mesh(corners, [t[::-1] for t in triangles]))
    with pytest.raises(GeometryError, match="no ground"):
        NavMesh.build(good, Agent(radius=30))
    with pytest.raises(ParameterError, match="cell_size of at least"):
        build(good, cell_size=1e-6)
    with pytest.raises(ParameterError, match="columns"):
        NavMesh.build(good, Agent(radius=1e6), **OPTIONS)
    with pytest.raises(ParameterError, match="give a tile_size"):
        build(mesh_of(floor(0, 0, 9000, 9000)), tile_size=0, cell_size=1.0)
    with pytest.raises(ParameterError, match="cell_height"):
        build(mesh_of(floor(0, 0, 8, 8), floor(0, 0, 1, 1, z=100)), cell_height=1e-8)
    with pytest.raises(GeometryError, match="within"):
        build(Mesh([(0, 0, 0), (1e12, 0, 0), (0, 1e12, 0)], [(0, 1, 2)]))
    huge = Mesh([*corners, (-5e3, -5e3, -5), (5e3, -5e3, -5), (0, 5e3, -5)], [*triangles, (4, 5, 6)])
    assert NavMesh.build(huge, AGENT, cell_size=8.0, cell_height=0.5).num_polygons > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cell_size": 0}, "cell_size"),
        ({"cell_height": -1}, "cell_height"),
        ({"tile_size": 3}, "tile_size"),
        ({"tile_size": 5000}, "tile_size"),
        ({"max_corners": 2}, "max_corners"),
        ({"max_error": 0.1}, "max_error"),
        ({"max_bulge": 0.0}, "max_bulge"),
        ({"areas": [1]}, "areas"),
        ({"bounds": [(0, 0, 0), (-1, 0, 0)]}, "bounds"),
    ],
)
def test_wrong_settings_get_a_sentence(options, words):
    with pytest.raises(ParameterError, match=words):
        build(mesh_of(floor(0, 0, 8, 8)), **options)


def test_points_off_the_mesh_get_a_sentence():
    navmesh = strip()
    with pytest.raises(OffMapError, match="goal"):
        navmesh.path((1, 1), (50, 1))
    for wrong in ((1,), "ab", (math.nan, 1)):
        with pytest.raises(ParameterError):
            navmesh.path(wrong, (1, 1))
    with pytest.raises(ParameterError, match="count"):
        navmesh.random_points(-1)
