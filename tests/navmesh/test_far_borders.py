"""Points on borders, far from the origin: rounding puts them beside the border, and paths and rays do not mind."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import shapely

from tests.draws import seeds
from tests.navmesh.strategies import grid_polygons, turned
from wayfold import NavMesh

pytestmark = pytest.mark.kernels

FAR = [(0.0, 0.0), (1.23e3, -7.7e2), (-2.12e5, 4.99e5), (-1.27e6, -7.31e6), (9e6, 4e6)]
SCALES = [1.0, 1.0, 0.03, 40.0]


def far_grid(rng):
    """Polygons of a grid, scaled, turned and moved: (vertices, polygons, what a last digit is there)."""
    vertices, polygons = grid_polygons(rng)
    while not polygons:
        vertices, polygons = grid_polygons(rng)
    vertices = turned(vertices * rng.choice(SCALES), rng.uniform(0.0, 6.3)) + FAR[rng.integers(len(FAR))]
    return vertices, polygons, 2.0**-52 * np.abs(vertices).max()


def on_borders(vertices, polygons, rng, count):
    """Points of edges up to rounding, corners, and sometimes corners that are a last digit off."""
    result = []
    for _ in range(count):
        ring = polygons[rng.integers(len(polygons))]
        at = rng.integers(len(ring))
        a, b = vertices[ring[at]], vertices[ring[(at + 1) % len(ring)]]
        share = rng.choice([0.0, 0.5, rng.random(), rng.random()])
        point = a + share * (b - a)
        if rng.random() < 0.3:
            point = np.nextafter(point, point + rng.choice([-1.0, 1.0], 2))
        result.append(point)
    return np.array(result)


def ground_of(vertices, polygons, more):
    """What can be walked on, grown by `more`, relative to the first vertex."""
    rings = [shapely.Polygon(vertices[ring] - vertices[0]).buffer(more, join_style="mitre") for ring in polygons]
    return shapely.union_all(rings)


def check_quick(vertices, polygons, pairs, more):
    navmesh = NavMesh.from_polygons(vertices, polygons)
    ground = ground_of(vertices, polygons, more)
    for a, b in pairs:
        best, quick = navmesh.path(a, b), navmesh.path(a, b, exact=False)
        assert quick.found == best.found
        if quick:
            line = quick.points[:, :2] - vertices[0]
            assert ground.covers(shapely.LineString(line))
            assert quick.cost == pytest.approx(np.hypot(*np.diff(line, axis=0).T).sum(), rel=1e-9, abs=more)
            assert quick.cost >= best.cost - more


def check_quick_paths(seed):
    rng = np.random.default_rng(seed)
    vertices, polygons, digit = far_grid(rng)
    points = on_borders(vertices, polygons, rng, 16)
    check_quick(vertices, polygons, points.reshape(-1, 2, 2), 100.0 * digit + 1e-9)


@seeds(40, found=(1346,))
def test_a_quick_path_from_a_point_on_a_border_stays_on_the_mesh(seed):
    check_quick_paths(seed)


@pytest.mark.long
@seeds(1000)
def test_many_quick_paths_from_points_on_borders_stay_on_the_mesh(seed):
    check_quick_paths(1000 + seed)


def test_a_quick_path_from_a_border_in_line_with_the_next_portal_turns_at_that_portal():
    vertices = np.array([
        (-212211.97557787478, 499543.15287630237), (-212210.0143530135, 499543.5447908894),
        (-212210.9669949821, 499545.2763257729), (-212212.9561903054, 499542.95691900887),
        (-212212.8722789193, 499548.73939554003), (-212209.98638255146, 499545.4722830665),
        (-212211.86369602662, 499550.8628450106), (-212209.9584120894, 499547.39977524354),
        (-212212.84430845725, 499550.6668877171), (-212212.92821984336, 499544.8844111859),
        (-212211.89166648866, 499548.93535283353), (-212211.94760741273, 499545.0803684794),
    ])  # fmt: skip
    polygons = [[6, 8, 4, 9, 11, 10], [5, 7, 2], [2, 11, 9, 3, 0, 1, 5]]
    a, b = np.array([(-212210.2583204088, 499545.41794130526), (-212212.41338685807, 499550.7529994445)])
    check_quick(vertices, polygons, [(a, b), (b, a)], 1e-8)
    navmesh = NavMesh.from_polygons(vertices, polygons)
    for start, goal in ((a, b), (b, a)):
        assert navmesh.path(start, goal, exact=False).cost == pytest.approx(7.41440709777, abs=1e-8)


@pytest.mark.parametrize("angle", [0.0, 0.3, 2.5, 4.0])
@pytest.mark.parametrize("move", FAR)
@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_a_quick_path_turns_at_the_near_end_of_a_portal_that_it_sees_edge_on(angle, move, mirror):
    # From the room below along its upper wall, then up through a portal in that wall, and back over the wall.
    vertices = np.array([(0, 0), (9, 0), (9, 2), (6, 2), (4, 2), (0, 2), (6, 5), (4, 5), (0, 3), (4, 3), (0, 5)], float)
    polygons = [[0, 1, 2, 3, 4, 5], [4, 3, 6, 7, 9], [8, 9, 7, 10]]
    far = turned(vertices * (mirror, 1.0), angle) + move
    for x in (0.0, 1.0, 3.0):
        a, b = turned(np.array([(x, 2.0), (1.0, 4.0)]) * (mirror, 1.0), angle) + move
        # Up at (4, 2), around (4, 3).
        truth = (4.0 - x) + 1.0 + np.hypot(3.0, 1.0)
        navmesh = NavMesh.from_polygons(far, polygons)
        for start, goal in ((a, b), (b, a)):
            for exact in (True, False):
                assert navmesh.path(start, goal, exact=exact).cost == pytest.approx(truth, abs=1e-8)


def joined_by_edges(polygons):
    """Number of the ground that each polygon belongs to: polygons that share an edge belong to the same."""
    beside = {}
    for at, ring in enumerate(polygons):
        for a, b in zip(ring, [*ring[1:], ring[0]], strict=True):
            beside.setdefault(frozenset((a, b)), []).append(at)
    label = list(range(len(polygons)))
    for _ in polygons:
        for pair in beside.values():
            least = min(label[at] for at in pair)
            for at in pair:
                label[at] = least
    return label


def check_both_ways(vertices, polygons, pairs, more):
    """The path there is as long as the path back, and every stretch of it can be walked straight on."""
    navmesh = NavMesh.from_polygons(vertices, polygons)
    ground = ground_of(vertices, polygons, more)
    for a, b, joined in pairs:
        there, back = navmesh.path(a, b), navmesh.path(b, a)
        assert there.found == back.found == navmesh.reachable(a, b)
        assert there.found or not joined
        if there:
            assert there.cost == pytest.approx(back.cost, rel=1e-9, abs=more)
            assert there.cost <= navmesh.path(a, b, exact=False).cost + more
            assert ground.covers(shapely.LineString(there.points[:, :2] - vertices[0]))
            for p, q in pairwise(there.points):
                assert navmesh.raycast(p, q).fraction == navmesh.raycast(q, p).fraction == 1.0


def check_exact_paths(seed):
    rng = np.random.default_rng(seed)
    vertices, polygons, digit = far_grid(rng)
    label = joined_by_edges(polygons)
    pairs = []
    for one, two in rng.integers(len(polygons), size=(8, 2)):
        a, b = (on_borders(vertices, [polygons[at]], rng, 1)[0] for at in (one, two))
        pairs.append((a, b, label[one] == label[two]))
    check_both_ways(vertices, polygons, pairs, 100.0 * digit + 1e-9)


@seeds(40, found=(364, 7431))
def test_a_path_between_points_on_borders_is_as_long_as_the_path_back(seed):
    check_exact_paths(seed)


@pytest.mark.long
@seeds(1000)
def test_many_paths_between_points_on_borders_are_as_long_as_the_paths_back(seed):
    check_exact_paths(1000 + seed)


def test_a_vertex_that_a_point_on_a_border_sees_from_two_pieces_is_turned_at_in_both():
    vertices = np.array([
        (-1265710.5270754336, -7312432.339499173), (-1265710.265943086, -7312430.552309468),
        (-1265710.8297980982, -7312431.393449932), (-1265709.7569735816, -7312430.841276167),
        (-1265711.0909304456, -7312433.180639637), (-1265711.1874062703, -7312431.577507854),
        (-1265710.4721899258, -7312431.20939201), (-1265709.3993654095, -7312430.657218245),
        (-1265711.2422917779, -7312432.707615016), (-1265711.3936531101, -7312432.234590396),
        (-1265709.0417572372, -7312430.473160323), (-1265710.1145817537, -7312431.025334088),
        (-1265709.9632204215, -7312431.498358709), (-1265709.5507267418, -7312430.184193624),
        (-1265710.678436766, -7312431.866474552), (-1265710.3208285938, -7312431.682416631),
        (-1265710.1694672615, -7312432.155441251), (-1265709.2480040772, -7312431.1302428655),
        (-1265711.036044938, -7312432.050532474),
    ])  # fmt: skip
    polygons = [
        [16, 12, 15, 0], [11, 15, 10, 7, 3], [10, 15, 12, 17], [15, 0, 4, 14], [13, 1, 6, 11, 3], [18, 9, 5, 2],
        [2, 18, 8, 4, 14, 6],
    ]  # fmt: skip
    a, b = np.array([(-1265709.3849497272, -7312430.7976204725), (-1265711.1874062703, -7312431.577507854)])
    check_both_ways(vertices, polygons, [(a, b, True)], 1e-7)
    # Around 15 and 14.
    stops = np.array([a, vertices[15], vertices[14], b])
    truth = np.hypot(*np.diff(stops, axis=0).T).sum()
    assert NavMesh.from_polygons(vertices, polygons).path(a, b).cost == pytest.approx(truth, abs=1e-8)


def test_a_way_on_from_a_link_that_ends_on_a_border_is_found_as_the_way_from_there():
    rng = np.random.default_rng(5)
    for _ in range(60):
        vertices, polygons, digit = far_grid(rng)
        island = vertices.max(axis=0) + np.ptp(vertices, axis=0) * [(0.1, 0.1), (0.3, 0.1), (0.2, 0.3)]
        linked = np.concatenate([vertices, island])
        count = len(vertices)
        navmesh = NavMesh.from_polygons(linked, [*polygons, [count, count + 1, count + 2]])
        landing, goal = on_borders(vertices, polygons, rng, 2)
        navmesh.add_link(island[0], landing, cost=1.0, both_ways=False)
        way, alone = navmesh.path(island[0], goal), NavMesh.from_polygons(linked, polygons).path(landing, goal)
        assert way.found == alone.found
        if way:
            assert way.cost - 1.0 == pytest.approx(alone.cost, rel=1e-9, abs=100.0 * digit + 1e-9)


@pytest.mark.parametrize(
    ("ring", "goal"),
    [
        (
            [
                (-439.6111992255325, 901.0997377308196), (-440.5982543477636, 900.939356355101),
                (-440.7586357234822, 901.9264114773321), (-439.93196197696966, 903.0738479752818),
            ],
            (-439.6129602134895, 901.0994515971835),
        ),
        (
            [
                (328452.3553821749, 581103.4783858792), (328453.3019099704, 581104.1457978337),
                (328454.14400360966, 581104.3625285816), (328454.0932232577, 581103.9365604138),
            ],
            (328452.4677938849, 581103.5080227564),
        ),
    ],
)  # fmt: skip
def test_a_ray_reaches_a_target_near_by_on_a_long_edge_that_is_a_last_digit_off_it(ring, goal):
    navmesh = NavMesh.from_polygons(ring, [range(len(ring))])
    for start, target in ((ring[0], goal), (goal, ring[0])):
        hit = navmesh.raycast(start, target)
        assert hit.fraction == 1.0
        assert hit.wall is None


@seeds(20)
def test_a_ray_meets_a_target_on_a_wall_at_any_angle_and_no_target_beyond_it(seed):
    rng = np.random.default_rng(seed)
    angle, move, scale = rng.uniform(0.0, 6.3), FAR[rng.integers(len(FAR))], rng.choice(SCALES)
    corners = turned(np.array([(0, 0), (8, 0), (8, 3), (0, 3)]) * scale, angle) + move
    navmesh = NavMesh.from_polygons(corners, [[0, 1, 2, 3]])
    for share in [*rng.random(20), 0.0, 1e-4, 1.0]:
        start = turned([(rng.uniform(0.1, 7.9) * scale, rng.choice([1e-3, 0.1, 1.0]) * scale)], angle)[0] + move
        wall = corners[0] + share * (corners[1] - corners[0])
        assert navmesh.raycast(start, wall).fraction == 1.0
        beyond = turned([(8.0 * share * scale, -1e-5 * scale)], angle)[0] + move
        assert navmesh.raycast(start, beyond).fraction < 1.0
