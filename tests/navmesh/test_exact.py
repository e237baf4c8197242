"""Exact paths, rays and places: the same answers wherever the world lies, and on borders as beside them."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wayfold
from tests.draws import seeds
from tests.naive_sight import Sight, exact
from tests.navmesh.strategies import grid_polygons, polygon_meshes, turned
from wayfold import NavMesh, Status
from wayfold.errors import GeometryError

pytestmark = pytest.mark.kernels

HALL = [[0, 1, 2, 3], [3, 2, 4, 5], [2, 6, 7, 4], [6, 8, 9, 7], [8, 10, 11, 9], [12, 13, 10, 8]]
BENT = [0.0, *(sign * 10.0**power for power in (-3, -9, -10, -11, -12, -14, -16, -20, -300) for sign in (1, -1))]


def hall(bend):
    """Two rooms at the ends of a corridor, whose wall is bent in the middle."""
    return [
        (-2, -2), (0, -2), (0, 0), (-2, 0), (0, 3), (-2, 3), (5, bend), (5, 3), (10, 0), (10, 3), (12, 0), (12, 3),
        (10, -2), (12, -2),
    ]  # fmt: skip


@pytest.mark.parametrize("bend", BENT)
def test_a_wall_that_is_bent_by_any_amount_is_passed(bend):
    vertices = hall(bend)
    navmesh = NavMesh.from_polygons(vertices, HALL)
    truth = 2 * math.hypot(1, 1) + 2 * math.hypot(5, max(bend, 0.0))
    for a, b in (((-1, -1), (11, -1)), ((11, -1), (-1, -1))):
        for best in (True, False):
            path = navmesh.path(a, b, exact=best)
            assert path.cost == pytest.approx(truth, rel=1e-12)
        assert Sight(vertices, HALL).walkable(navmesh.path(a, b).points)


@pytest.mark.parametrize("bend", BENT[::3])
@pytest.mark.parametrize("angle", [0.3, 2.5])
@pytest.mark.parametrize("move", [(0, 0), (1.23e6, 7.8e5), (-5.4e6, 1e7)])
def test_a_bent_wall_is_passed_wherever_the_hall_lies(bend, angle, move):
    navmesh = NavMesh.from_polygons(turned(hall(bend), angle) + move, HALL)
    a, b = turned([(-1, -1), (11, -1)], angle) + move
    truth = 2 * math.hypot(1, 1) + 2 * math.hypot(5, max(bend, 0.0))
    path = navmesh.path(a, b)
    assert path.cost == pytest.approx(truth, abs=1e-8)
    assert path.expanded < 100
    np.testing.assert_array_equal(path.points[[0, -1], :2], [a, b])


def crumpled(seed):
    """Triangles of a grid, turned, whose vertices are moved by 1e-17 to 1e-9: walls are bent a little everywhere."""
    rng = np.random.default_rng(seed)
    rows, columns = 3, 4
    x, y = np.cumsum(rng.integers(1, 4, columns + 1)), np.cumsum(rng.integers(1, 4, rows + 1))
    vertices = turned([(a, b) for b in y for a in x], rng.choice([0.0, 0.5, 2.2]))
    vertices += rng.choice([-1, 0, 1], vertices.shape) * 10.0 ** rng.uniform(-17, -9, vertices.shape)
    triangles = []
    for row in range(rows):
        for column in range(columns):
            a = row * (columns + 1) + column
            b, c, d = a + 1, a + columns + 2, a + columns + 1
            halves = [[a, b, c], [a, c, d]] if rng.random() < 0.5 else [[a, b, d], [b, c, d]]
            triangles += [half for half in halves if rng.random() > 0.25]
    return vertices, triangles, rng


def places_on(vertices, triangles, rng, count):
    """Vertices, and points inside."""
    result = []
    for _ in range(count):
        corners = vertices[triangles[rng.integers(len(triangles))]]
        weights = rng.dirichlet(np.ones(3))
        result.append(corners[0] if rng.random() < 0.5 else weights @ corners)
    return result


def check_crumpled(seed, queries):
    vertices, triangles, rng = crumpled(seed)
    move = rng.choice([(0.0, 0.0), (2.0**22, -(2.0**21)), (-(2.0**23), 2.0**24)])
    points = places_on(vertices, triangles, rng, 2 * queries)
    # Coordinates as the mesh gets them: what is lost far away is lost for the judge too.
    vertices, points = (np.asarray(array) + move for array in (vertices, points))
    closed = [k for k in range(len(triangles)) if rng.random() < 0.2]
    areas = [2 if k in closed else 1 for k in range(len(triangles))]
    navmesh = NavMesh.from_polygons(vertices, triangles, areas=areas)
    judge = Sight(vertices, triangles, closed)
    for a, b in zip(points[::2], points[1::2], strict=True):
        expected = judge.shortest(a, b)
        path = navmesh.path(a, b, costs={2: math.inf})
        if not (judge.holding(exact(a)) and judge.holding(exact(b))):
            continue  # on closed ground, or beside the mesh by a last digit
        assert path.found == math.isfinite(expected) == navmesh.reachable(a, b, costs={2: math.inf})
        assert path.expanded < 40 * len(triangles)
        if path:
            assert path.cost == pytest.approx(expected, rel=1e-9)
            assert judge.walkable(path.points[:, :2])
            for p, q in pairwise(path.points):
                hit = navmesh.raycast(p, q, costs={2: math.inf})
                assert hit.fraction == 1.0
                assert hit.wall is None


@seeds(12, found=(9703009,))
def test_paths_over_crumpled_ground_are_the_shortest_walks_of_exact_arithmetic(seed):
    check_crumpled(seed, 3)


@pytest.mark.long
@seeds(300)
def test_paths_over_much_crumpled_ground_are_the_shortest_walks_of_exact_arithmetic(seed):
    check_crumpled(1000 + seed, 5)


@settings(max_examples=15)
@given(polygon_meshes(), st.sampled_from([(1.23e6, 7.8e5), (-5.4e6, 5.4e6), (390000.25, 1e7)]))
def test_a_mesh_far_away_gives_the_paths_of_the_mesh_at_home(world, move):
    vertices, polygons, rng = world
    # Rounded so that moving them loses nothing.
    vertices = np.round(vertices * 2**16) / 2**16
    try:
        home, away = NavMesh.from_polygons(vertices, polygons), NavMesh.from_polygons(vertices + move, polygons)
    except GeometryError:
        return  # rounding has dented a polygon
    np.testing.assert_array_equal(away.vertices[:, :2], vertices[sorted(set(np.concatenate(polygons)))] + move)
    points = np.round(home.random_points(16, seed=int(rng.integers(1 << 30)))[:, :2] * 2**16) / 2**16
    points = points[home.locate(points) >= 0]
    for a, b in pairwise(np.concatenate([points, home.vertices[:4, :2]])):
        one, two = home.path(a, b), away.path(a + move, b + move)
        assert one.status is two.status
        assert two.expanded == one.expanded
        assert two.cost == pytest.approx(one.cost, rel=1e-12, abs=1e-12)
        if one:
            np.testing.assert_array_equal(two.points[:, :2], one.points[:, :2] + move)
        ray, far = home.raycast(a, b), away.raycast(a + move, b + move)
        assert far.fraction == pytest.approx(ray.fraction, abs=1e-9)


def test_files_keep_where_a_mesh_lies(tmp_path):
    vertices = np.array(hall(0.125)) + np.array((390000.25, 5820000.3))
    navmesh = NavMesh.from_polygons(vertices, HALL)
    np.testing.assert_array_equal(navmesh.vertices[:, :2], vertices)
    navmesh.add_link(vertices[0], vertices[13], cost=1.0)
    navmesh.save(tmp_path / "a.wayfold")
    loaded = wayfold.load(tmp_path / "a.wayfold")
    np.testing.assert_array_equal(loaded.vertices, navmesh.vertices)
    assert loaded.path(vertices[0], vertices[13]).cost == 1.0
    for name in ("a.mesh", "a.obj"):
        navmesh.export(tmp_path / name)
        np.testing.assert_array_equal(NavMesh.read(tmp_path / name).vertices, navmesh.vertices)


def test_dented_polygons_are_searched_and_none_of_them_for_ever():
    # Corners on a slanted line are dented by rounding; all of a fan's polygons share them.
    across = np.linspace(0, 1, 40)[:, None]
    low, high = np.array((0.1, 0.3)) + across * (7.0, 2.1), np.array((0.1, 3.3)) + across * (7.0, 2.1)
    vertices = np.concatenate([low, high, low - (0.3, 2.0), high + np.array((0.3, 2.0))])
    count = len(across)
    polygons = [[*range(count), 2 * count - 1, *range(2 * count - 2, count - 1, -1)]]
    polygons += [[2 * count + k, 2 * count + k + 1, k + 1, k] for k in range(count - 1)]
    polygons += [[count + k, count + k + 1, 3 * count + k + 1, 3 * count + k] for k in range(count - 1)]
    navmesh = NavMesh.from_polygons(vertices, polygons)
    assert navmesh.snapshot.topology.dented.any()
    for seed in range(20):
        a, b = navmesh.random_points(2, seed=seed)
        path = navmesh.path(a, b)
        assert path.cost == pytest.approx(math.dist(a[:2], b[:2]))
        assert path.expanded < 1000
        assert navmesh.raycast(a, b).fraction == 1.0
    for corner in vertices[:: count // 5]:
        assert navmesh.path(corner, vertices[3 * count + 7]).found
        assert navmesh.path(vertices[2 * count + 7], corner, costs={1: 3.0}).found


# --- borders ---------------------------------------------------------------------------------------------------------


def two_squares(areas=(1, 2)):
    return NavMesh.from_polygons(
        [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)], [[0, 1, 4, 3], [1, 2, 5, 4]], areas=areas
    )


@pytest.mark.parametrize("closed", [1, 2])
def test_on_a_border_beside_closed_ground_one_is_on_open_ground(closed):
    navmesh = two_squares()
    inside = (0.5, 0.5) if closed == 2 else (1.5, 0.5)
    costs = {closed: math.inf}
    for border in ((1, 0.5), (1, 0), (1, 1)):
        for best in (True, False):
            assert navmesh.path(border, inside, costs=costs, exact=best).cost == pytest.approx(
                math.dist(border, inside)
            )
            assert navmesh.path(inside, border, costs=costs, exact=best).found
        assert navmesh.reachable(border, inside, costs=costs)
        assert navmesh.path(border, border, costs=costs).cost == 0
        assert navmesh.raycast(border, inside, costs=costs).fraction == 1.0
        np.testing.assert_allclose(navmesh.move_along(border, inside, costs=costs)[:2], inside)
    # Along the border, to and fro.
    assert navmesh.path((1, 0.1), (1, 0.9), costs=costs).cost == pytest.approx(0.8)
    assert navmesh.raycast((1, 0.1), (1, 0.9), costs=costs).fraction == 1.0
    # Inside closed ground nobody is.
    other = (1.5, 0.5) if closed == 2 else (0.5, 0.5)
    for a, b in ((other, inside), (inside, other), (other, other), ((1, 0.5), other)):
        assert navmesh.path(a, b, costs=costs).status is Status.UNREACHABLE
        assert not navmesh.reachable(a, b, costs=costs)


def test_whoever_stands_on_a_corner_of_a_path_can_go_on():
    rng = np.random.default_rng(5)
    stood = 0
    for _ in range(12):
        vertices, polygons = grid_polygons(rng, 5, 6, closed=0.1)
        areas = rng.choice([1, 1, 2], len(polygons))
        navmesh = NavMesh.from_polygons(turned(vertices, 0.4), polygons, areas=areas)
        costs = {2: math.inf}
        points = navmesh.random_points(20, seed=int(rng.integers(1 << 30)))
        for a, b in pairwise(points):
            path = navmesh.path(a, b, costs=costs)
            for at in range(1, len(path.points) - 1):
                rest = navmesh.path(path.points[at], b, costs=costs)
                stood += 1
                left = np.hypot(*np.diff(path.points[at:, :2], axis=0).T).sum()
                assert rest.cost == pytest.approx(left)
            for p, q in pairwise(path.points):
                assert navmesh.raycast(p, q, costs=costs).fraction == 1.0
                assert navmesh.raycast(q, p, costs=costs).fraction == 1.0
    assert stood > 20


def test_a_ray_passes_a_vertex_on_the_open_side_and_never_between_two_walls():
    # Four squares around a vertex; the diagonal from the first to the last touches the other two in one point.
    vertices = [(x, y) for y in range(3) for x in range(3)]
    squares = [[0, 1, 4, 3], [1, 2, 5, 4], [3, 4, 7, 6], [4, 5, 8, 7]]
    for turn in (0.0, 0.7):
        for areas, passes in (((1, 1, 1, 1), True), ((1, 2, 1, 1), True), ((1, 1, 2, 1), True), ((1, 2, 2, 1), False)):
            navmesh = NavMesh.from_polygons(turned(vertices, turn), squares, areas=areas)
            a, b, middle = turned([(0.25, 0.25), (1.75, 1.75), (1, 1)], turn)
            for start, end in ((a, b), (b, a)):
                hit = navmesh.raycast(start, end, costs={2: math.inf})
                assert (hit.fraction == 1.0) == passes
                assert (hit.wall is None) == passes
                assert navmesh.path(start, end, costs={2: math.inf}).found == passes
            if not passes:
                assert hit.fraction == pytest.approx(0.5)
                np.testing.assert_allclose(hit.point[:2], middle, atol=1e-12)
                # The vertex itself belongs to both squares.
                for end in (a, b):
                    assert navmesh.path(middle, end, costs={2: math.inf}).found
                    assert navmesh.raycast(middle, end, costs={2: math.inf}).fraction == 1.0


def test_links_on_borders_are_used_from_every_side():
    apart = np.array([(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)])
    vertices = np.concatenate([apart, apart + np.array((10, 0))])
    polygons = [[0, 1, 4, 3], [1, 2, 5, 4], [6, 7, 10, 9], [7, 8, 11, 10]]
    for areas in ((1, 1, 1, 1), (2, 1, 2, 1), (1, 2, 1, 2), (2, 1, 1, 2)):
        navmesh = NavMesh.from_polygons(vertices, polygons, areas=areas)
        navmesh.add_link((1, 0.5), (11, 0.5), cost=0.25, both_ways=False)
        costs = {2: math.inf}
        for a, b in (((0.5, 0.5), (10.5, 0.5)), ((1.5, 0.5), (11.5, 0.5)), ((0.5, 0.5), (11.5, 0.5))):
            wanted = [areas[0] if a[0] < 1 else areas[1], areas[2] if b[0] < 11 else areas[3]] == [1, 1]
            for best in (True, False):
                path = navmesh.path(a, b, costs=costs, exact=best)
                assert path.found == wanted
                assert not wanted or path.cost == pytest.approx(1.25)
            assert navmesh.reachable(a, b, costs=costs) == wanted
            assert not navmesh.reachable(b, a, costs=costs)
            assert navmesh.path(b, a, costs=costs).status is Status.UNREACHABLE


@pytest.mark.parametrize("best", [True, False])
def test_who_lands_on_a_pinch_point_leaves_to_all_sides_and_nobody_walks_through_it(best):
    # Two squares that touch in (1, 1), and a third from which a link leads onto that corner.
    vertices = [(0, 0), (1, 0), (1, 1), (0, 1), (2, 1), (2, 2), (1, 2), (5, 0), (6, 0), (6, 1), (5, 1)]
    navmesh = NavMesh.from_polygons(np.array(vertices, float), [[0, 1, 2, 3], [2, 4, 5, 6], [7, 8, 9, 10]])
    navmesh.add_link((5, 0.5), (1, 1), cost=2.0, both_ways=False)
    low, high, away = (0.0, 0.0), (2.0, 2.0), (6.0, 0.5)
    for a, b in ((low, high), (high, low)):
        assert navmesh.path(a, b, exact=best).status is Status.UNREACHABLE
        assert not navmesh.reachable(a, b)
        assert navmesh.path((1, 1), b, exact=best).cost == pytest.approx(math.sqrt(2))
        assert navmesh.path(away, b, exact=best).cost == pytest.approx(3 + math.sqrt(2))
        assert navmesh.path(b, (1, 1), exact=best).cost == pytest.approx(math.sqrt(2))
    # A link that begins there is taken from both sides.
    navmesh.add_link((1, 1), (5, 0.5), cost=3.0, both_ways=False)
    for a in (low, high):
        assert navmesh.path(a, away, exact=best).cost == pytest.approx(4 + math.sqrt(2))


def test_reachable_follows_links_in_their_direction():
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    vertices = np.concatenate([square + np.array((3 * k, 0)) for k in range(5)])
    navmesh = NavMesh.from_polygons(vertices, np.arange(20).reshape(5, 4))
    middles = np.array([(3 * k + 0.5, 0.5) for k in range(5)])
    for a, b, one_way in ((0, 1, True), (1, 2, True), (2, 1, True), (3, 2, True), (3, 4, False)):
        navmesh.add_link(middles[a], middles[b], cost=1.0, both_ways=not one_way)
    ways = {0: {0, 1, 2}, 1: {1, 2}, 2: {1, 2}, 3: {1, 2, 3, 4}, 4: {1, 2, 3, 4}}
    for a in range(5):
        for b in range(5):
            assert (
                navmesh.reachable(middles[a], middles[b])
                == (b in ways[a])
                == navmesh.path(middles[a], middles[b]).found
            )


def test_corners_that_are_close_together_make_no_polygon_refused():
    vertices = [(0, 0), (1, 0), (1 + 1e-16, 1e-10), (1, 1), (0, 1)]
    for angle in np.linspace(0, 6, 40):
        navmesh = NavMesh.from_polygons(turned(vertices, angle), [[0, 1, 2, 3, 4]])
        assert navmesh.path(*navmesh.random_points(2)[:, :2]).found
    with pytest.raises(GeometryError, match="not convex"):
        NavMesh.from_polygons([(0, 0), (1, 0), (0.999, 0.5), (1, 1), (0, 1)], [[0, 1, 2, 3, 4]])


@pytest.mark.parametrize("move", [(0.0, 0.0), (-14458.0, 9179.0)])
def test_an_edge_no_longer_than_some_last_digits_hides_nothing_of_its_polygon(move):
    gap = 30 * np.spacing(max(1.0, abs(move[0])))
    vertices = [(0, 0), (1, 0), (1, gap), (1, 1), (1 - gap, 1), (0, 1)]
    inside = np.array([(0.5, 0.001), (0.999, 0.5), (0.5, 0.999), (0.001, 0.5), (0.5, 0.5)])
    for angle in np.linspace(0, 6, 60):
        navmesh = NavMesh.from_polygons(turned(vertices, angle) + move, [[0, 1, 2, 3, 4, 5]])
        assert (navmesh.locate(turned(inside, angle) + move) == 0).all()
        assert (navmesh.locate(turned([(1.001, 0.5), (0.5, 1.001), (1.001, 1.001)], angle) + move) == -1).all()


def check_along_a_wall(seed):
    """A corridor along a straight wall with vertices on it, up to a corner, and round it: from the wall and to it.

    Points of the wall are computed, so they lie on either side of it by a last digit; so does the end of a link.
    """
    rng = np.random.default_rng(seed)
    cuts = [0.0, *np.sort(rng.uniform(0.5, 9.5, rng.integers(1, 6))), 10.0, 11.0]
    corners = [(x, y) for x in cuts for y in (0.0, 1.0)]
    last = len(corners)
    polygons = [[k, k + 2, k + 3, k + 1] for k in range(0, last - 2, 2)] + [[last, last + 1, last - 2, last - 4]]
    island = [last + 2, last + 3, last + 4]
    corners += [(10.0, -4.0), (11.0, -4.0), (-3.0, 0.0), (-2.0, 0.0), (-2.0, 1.0)]
    size, angle = 10 ** rng.uniform(-3, 3), rng.choice([0.0, rng.uniform(0, 7)])
    shift = rng.choice([0.0, 1.0, 1e4, 3e6]) * rng.uniform(-1, 1, 2)

    def place(points):
        return size * turned(points, angle) + shift

    vertices = place(corners)
    navmesh = NavMesh.from_polygons(vertices, polygons)
    linked = NavMesh.from_polygons(vertices, [*polygons, island])
    reach = np.spacing(abs(vertices).max()) * 8
    for _ in range(4):
        k, part = rng.integers(len(cuts) - 2), rng.choice([1 / 3, 1.0, rng.random()])
        on_wall = vertices[2 * k] + part * (vertices[2 * k + 2] - vertices[2 * k])
        x = cuts[k] + part * (cuts[k + 1] - cuts[k])
        below = 10 + rng.choice([0.0, rng.random()]), -4 * rng.random()
        truth = size * (10 - x + math.hypot(below[0] - 10, below[1]))
        for a, b in ((on_wall, place(below)), (place(below), on_wall)):
            assert navmesh.path(a, b).cost == pytest.approx(truth, rel=1e-11, abs=reach)
        linked.add_link(vertices[island[1]], on_wall, cost=0.0)
        assert linked.path(vertices[island[0]], place(below)).cost <= size + truth + 1e-10 * size + 2 * reach


@seeds(25, found=(9501006,))
def test_a_wall_is_followed_from_points_that_rounding_puts_behind_it(seed):
    check_along_a_wall(seed)


@pytest.mark.long
@seeds(400)
def test_many_walls_are_followed_from_points_that_rounding_puts_behind_them(seed):
    check_along_a_wall(seed)
