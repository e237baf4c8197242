"""Costs where kinds of area differ: what a path costs, how near to the cheapest it is, and the bound that it tells."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive_navcost as naive
from tests.draws import seeds
from tests.naive_navmesh import holding
from tests.navmesh.strategies import grid_polygons, polygon_meshes, triangle_polygons
from wayfold import NavMesh
from wayfold.errors import OffMapError
from wayfold.navmesh.queries import PathQuery, lower_bound

pytestmark = pytest.mark.kernels


def rings_of(navmesh):
    return [[tuple(navmesh.vertices[v, :2].tolist()) for v in ring] for ring in navmesh.polygons]


def rates_of(navmesh, costs):
    return [costs.get(kind, 1.0) for kind in navmesh.areas.tolist()]


def walked(navmesh, costs, path, links=()):
    """Cost of a path's points by the oracle.

    A leg from a link's start to its end is that link or a walk, whichever makes the sum come nearer to what the path
    says: a quick path may take a link where a straight walk is cheaper.
    """
    totals = [0.0]
    for a, b in itertools.pairwise(path.points[:, :2].tolist()):
        ways = [naive.walk_cost(rings_of(navmesh), rates_of(navmesh, costs), [a, b])]
        ways += [price for tail, head, price in links if max(math.dist(a, tail), math.dist(b, head)) < 1e-9]
        totals = [total + way for total in totals for way in ways if way < math.inf]
    return min(totals, key=lambda total: abs(total - path.cost))


def random_costs(rng):
    """Costs of kinds 1 to 4, from a tenth to ten, one of them now and then closed."""
    costs = {kind: float(10 ** rng.uniform(-1, 1)) for kind in (1, 2, 3, 4)}
    if rng.random() < 0.4:
        costs[4] = math.inf
    return costs


def any_place(navmesh, rng):
    """A point of a mesh: inside, on a border or at a corner."""
    ring = navmesh.polygons[rng.integers(navmesh.num_polygons)]
    at = rng.integers(len(ring))
    a, b = navmesh.vertices[ring[at]], navmesh.vertices[ring[(at + 1) % len(ring)]]
    inside = navmesh.random_points(1, seed=int(rng.integers(1 << 30)))[0]
    return (inside, inside, a, a + rng.integers(1, 8) / 8 * (b - a))[rng.integers(4)]


def query(navmesh, rng, costs, **options):
    """A path between two places, None where one of them is just beside the mesh by rounding."""
    try:
        return navmesh.path(any_place(navmesh, rng), any_place(navmesh, rng), costs=costs, **options)
    except OffMapError:
        return None


@settings(max_examples=80)
@given(polygon_meshes(), st.integers(0, 2), st.booleans())
def test_a_path_costs_the_integral_along_its_points_and_the_cheaper_side_along_borders(world, count, exact):
    vertices, polygons, rng = world
    navmesh = NavMesh.from_polygons(vertices, polygons, areas=rng.integers(1, 5, len(polygons)))
    links = []
    for _ in range(count):
        tail, head = navmesh.random_points(2, seed=int(rng.integers(1 << 30)))
        price = float(rng.uniform(0, 4))
        navmesh.add_link(tail, head, cost=price)
        links += [(tail[:2].tolist(), head[:2].tolist(), price), (head[:2].tolist(), tail[:2].tolist(), price)]
    for _ in range(3):
        costs = random_costs(rng)
        path = query(navmesh, rng, costs, exact=exact)
        if path:
            assert path.cost == pytest.approx(walked(navmesh, costs, path, links), rel=1e-7, abs=1e-7)


SQUARES = [(0, 0), (4, 0), (8, 0), (0, 4), (4, 4), (8, 4), (0, 8), (4, 8), (8, 8)]
FOUR = [[0, 1, 4, 3], [1, 2, 5, 4], [3, 4, 7, 6], [4, 5, 8, 7]]


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.234, 2.5])
@pytest.mark.parametrize("shift", [0.0, -7.0, 1234.5])
@pytest.mark.parametrize("exact", [False, True])
def test_a_walk_along_a_border_costs_the_cheaper_side_and_beside_closed_ground_the_open_one(angle, shift, exact):
    turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])

    def place(*point):
        return np.array(point, float) @ turn + shift

    navmesh = NavMesh.from_polygons(np.array(SQUARES, float) @ turn + shift, FOUR, areas=[1, 2, 3, 4])
    # From corner to corner along the border of kinds 1 and 2, then of 3 and 4: straight up the middle.
    up = navmesh.vertices[1], navmesh.vertices[7]
    for costs, cost in (
        ({1: 5, 2: 2, 3: 3, 4: 7}, 4 * 2 + 4 * 3),
        ({1: 2, 2: 5, 3: 7, 4: 3}, 4 * 2 + 4 * 3),
        ({1: 2, 2: math.inf, 3: 7, 4: 3}, 4 * 2 + 4 * 3),
    ):
        path = navmesh.path(*up, costs=costs, exact=exact)
        assert path.cost <= cost * (1 + 1e-9)
        assert path.cost == pytest.approx(walked(navmesh, costs, path), rel=1e-9)
    # Within one polygon along its border, beside cheaper ground.
    side = navmesh.path(place(0.5, 4), place(3.5, 4), costs={1: 5, 2: 5, 3: 0.5, 4: 5}, exact=exact)
    assert side.cost == pytest.approx(1.5)
    assert navmesh.path(place(4, 1), place(4, 3), costs={1: 2, 2: 0.5}, exact=exact).cost == pytest.approx(1.0)


def test_floors_above_each_other_are_priced_apart():
    ramp = [(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0), (8, 0, 2), (8, 4, 2), (12, 0, 2), (12, 4, 2)]
    below = [(6, 0, -5), (14, 0, -5), (14, 4, -5), (6, 4, -5)]
    navmesh = NavMesh.from_polygons(
        ramp + below, [[0, 1, 2, 3], [1, 4, 5, 2], [4, 6, 7, 5], [8, 9, 10, 11]], areas=[1, 2, 1, 3]
    )
    for exact in (False, True):
        path = navmesh.path((1, 2, 0), (11, 2, 2), costs={2: 2.0, 3: 0.1}, exact=exact)
        assert path.cost == pytest.approx(3 + 8 + 3)


def test_a_walk_up_a_winding_stair_counts_the_steps_that_it_is_on():
    """Steps around one vertex, one and a half turns: the same direction twice, on steps of other kinds."""
    angles = np.arange(13) * math.pi / 4
    rim = [(4 * math.cos(angle), 4 * math.sin(angle), 0.5 * k) for k, angle in enumerate(angles)]
    steps = [[0, k + 1, k + 2] for k in range(12)]
    navmesh = NavMesh.from_polygons([(0, 0, 0), *rim], steps, areas=[1] * 8 + [2] * 4)
    angle = math.pi / 8
    outside = (3 * math.cos(angle), 3 * math.sin(angle))
    low, high = (*outside, 0.2), (*outside, 4.2)
    for exact in (False, True):
        path = navmesh.path(low, high, costs={2: 5.0}, exact=exact)
        assert path.cost <= 3 + 15 + 1e-9
        if not exact:
            assert path.cost == pytest.approx(18)


def weighted_mesh(world, areas=8):
    """A mesh of up to 8 kinds, costs of a tenth to ten, and the oracle's rings and rates."""
    vertices, polygons, rng = world
    navmesh = NavMesh.from_polygons(vertices, polygons, areas=rng.integers(1, areas + 1, len(polygons)))
    costs = {kind: float(10 ** rng.uniform(-1, 1)) for kind in range(1, areas + 1)}
    if rng.random() < 0.3:
        costs[areas] = math.inf
    return navmesh, costs, rings_of(navmesh), rates_of(navmesh, costs)


def check_against_points(world, count, one_way, most=1.05):
    """An optimal path against the cheapest walk over dense points of borders, its bound, and the quick path."""
    navmesh, costs, rings, rates = weighted_mesh(world)
    rng = world[2]
    links = []
    for _ in range(count):
        tail, head = navmesh.random_points(2, seed=int(rng.integers(1 << 30)))
        price = float(rng.uniform(0, 3))
        navmesh.add_link(tail, head, cost=price, both_ways=not one_way)
        ends = [(tail[:2], int(navmesh.locate(tail))), (head[:2], int(navmesh.locate(head)))]
        for (a, first), (b, last) in (ends, ends[::-1])[: 1 if one_way else 2]:
            if math.isfinite(rates[first]) and math.isfinite(rates[last]):
                links.append((a, first, b, last, price))
    for _ in range(3):
        a, b = any_place(navmesh, rng), any_place(navmesh, rng)
        try:
            path, quick = (navmesh.path(a, b, costs=costs, exact=exact) for exact in (True, False))
        except OffMapError:
            continue
        polygons = [ring.tolist() for ring in navmesh.polygons]
        firsts, lasts = (
            [k for k in holding(navmesh.vertices, polygons, point) if math.isfinite(rates[k])] for point in (a, b)
        )
        walks = (naive.cheapest_walk(rings, rates, a[:2], k, b[:2], j, links) for k in firsts for j in lasts)
        best = min(walks, default=math.inf)
        assert path.found == quick.found == math.isfinite(best)
        if not path.found:
            continue
        assert path.cost <= min(most * best, quick.cost) * (1 + 1e-9) + 1e-9
        jumps = [(tail.tolist(), head.tolist(), price) for tail, _, head, _, price in links]
        assert path.cost == pytest.approx(walked(navmesh, costs, path, jumps), rel=1e-7, abs=1e-7)
        assert path.lower_bound <= path.cost
        # The bound itself knows nothing of any path.
        snapshot = navmesh.snapshot
        places = snapshot.frame.local(navmesh.project([a, b]))
        ends = (np.array(firsts, np.int32), np.array(lasts, np.int32), *places)
        assert lower_bound(PathQuery(snapshot, snapshot.area_costs(costs), *ends), math.inf) <= path.cost * (1 + 1e-9)
        np.testing.assert_allclose(path.points[[0, -1], :2], [a[:2], b[:2]], atol=1e-9)


@settings(max_examples=30)
@given(polygon_meshes(), st.integers(0, 2), st.booleans())
def test_an_optimal_path_is_as_cheap_as_the_cheapest_walk_over_dense_points(world, count, one_way):
    check_against_points(world, count, one_way)


@pytest.mark.long
@settings(max_examples=400)
@given(polygon_meshes(), st.integers(0, 2), st.booleans())
def test_optimal_paths_are_as_cheap_as_the_cheapest_walks_over_dense_points_on_many_meshes(world, count, one_way):
    check_against_points(world, count, one_way)


def beside_a_portal(navmesh, rng):
    """A point of a mesh that is anything from a tenth to a millionth of the way from a portal into its polygon."""
    portals = [(p, k) for p, row in enumerate(navmesh.neighbours) for k in np.flatnonzero(row >= 0).tolist()]
    polygon, edge = portals[rng.integers(len(portals))]
    corners = navmesh.vertices[navmesh.polygons[polygon]]
    on = corners[edge] + rng.uniform(0, 1) * (np.roll(corners, -1, axis=0)[edge] - corners[edge])
    return on + 10 ** rng.uniform(-6, -1) * (corners.mean(axis=0) - on)


@seeds(150)
def test_no_bound_is_above_a_path_where_links_and_ends_lie_beside_portals(seed):
    """Steps between intervals of portals and points next to them cost next to nothing, whatever the slopes there."""
    rng = np.random.default_rng(seed)
    world = (grid_polygons, triangle_polygons)[seed % 2](rng, closed=0.1)
    navmesh, costs, _, _ = weighted_mesh((*world, rng))
    for _ in range(3):
        tail, head = beside_a_portal(navmesh, rng), beside_a_portal(navmesh, rng)
        navmesh.add_link(tail, head, cost=float(rng.uniform(0, 0.3)), both_ways=bool(rng.random() < 0.5))
    for _ in range(4):
        a, b = (beside_a_portal(navmesh, rng) for _ in range(2))
        path = navmesh.path(a, b, costs=costs)
        if not path:
            continue
        snapshot = navmesh.snapshot
        ends = (np.array([navmesh.locate(end)], np.int32) for end in (a, b))
        asked = PathQuery(snapshot, snapshot.area_costs(costs), *ends, *snapshot.frame.local(navmesh.project([a, b])))
        assert lower_bound(asked, math.inf) <= path.cost * (1 + 1e-9)
        assert path.lower_bound <= path.cost


SIEVE = np.array([
    (2.01552097, 3.32324282), (8.36049762, 5.66772935), (8.80603028, 2.85024825), (7.46174044, 5.86280825),
    (7.98105368, 2.53081049), (9.02223269, 6.41394073), (0.5937561, 6.94036961), (8.59767969, 5.61896199),
    (4.8102131, 7.51987762), (0.91760217, 8.34761005), (7.83093993, 0.53466696), (8.09398149, 2.86842872),
    (3.9667345, 7.3199455), (2.24959986, 4.86101569), (7.90986128, 9.06074284), (0.81510682, 3.74497214),
])  # fmt: skip
HOLES = [
    [13, 12, 6], [12, 9, 6], [15, 13, 6], [4, 11, 13], [2, 4, 10], [4, 2, 11], [3, 12, 13], [1, 3, 11], [14, 3, 5],
    [3, 1, 5], [15, 0, 13], [4, 0, 10], [0, 4, 13], [2, 7, 11], [7, 1, 11], [1, 7, 5], [8, 3, 14], [9, 8, 14],
    [12, 8, 9],
]  # fmt: skip


@pytest.mark.parametrize("seed", [94, 29])
def test_no_corner_is_cut_through_a_pinch_point_and_no_portal_loses_its_points_to_a_start_on_it(seed):
    """94: the straight walk ends on ground that touches the way only in a point. 29: the start lies on a portal."""
    check_against_points((SIEVE, HOLES, np.random.default_rng(seed)), 0, False, most=1.01)


def excesses(seed, count):
    """Cost of optimal paths over that of the cheapest walks over dense points, and of their bounds over it."""
    over, under = [], []
    rng = np.random.default_rng(seed)
    while len(over) < count:
        make = (grid_polygons, triangle_polygons)[rng.integers(2)]
        navmesh, costs, rings, rates = weighted_mesh((*make(rng, closed=0.1), rng))
        for _ in range(3):
            a, b = navmesh.random_points(2, seed=int(rng.integers(1 << 30)))
            path = navmesh.path(a, b, costs=costs)
            if path and len(path.nodes) > 1:
                ends = a[:2], int(navmesh.locate(a)), b[:2], int(navmesh.locate(b))
                best = naive.cheapest_walk(rings, rates, *ends, count=48)
                over.append(path.cost / best)
                under.append(path.lower_bound / best)
    return np.array(over), np.array(under)


@seeds(1)
def test_optimal_paths_are_near_the_cheapest_and_so_are_their_bounds(seed):
    over, under = excesses(seed, 30)
    assert np.median(over) <= 1.001
    assert over.max() <= 1.05
    assert np.median(under) >= 0.95


@pytest.mark.long
@seeds(1)
def test_99_of_100_optimal_paths_are_within_a_hundredth_of_the_cheapest(seed):
    over, _ = excesses(seed + 1, 1000)
    assert np.median(over) <= 1.0001
    assert np.quantile(over, 0.99) <= 1.01
    assert over.max() <= 1.1


def turned(angle):
    return np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])


def check_elsewhere(seed, moves):
    """Costs and bounds of quick and optimal paths are the same wherever the world lies, up to its size."""
    rng = np.random.default_rng(seed)
    make = (grid_polygons, triangle_polygons)[rng.integers(2)]
    vertices, polygons = make(rng, closed=0.1)
    areas = rng.integers(1, 9, len(polygons))
    costs = {kind: float(10 ** rng.uniform(-1, 1)) for kind in range(1, 9)}
    here = NavMesh.from_polygons(vertices, polygons, areas=areas)
    pairs = list(zip(here.random_points(4, seed=seed), here.random_points(4, seed=seed + 1), strict=True))
    order = rng.permutation(len(polygons))
    for size, turn, shift in moves(rng):

        def place(points, size=size, turn=turn, shift=shift):
            return size * np.asarray(points)[..., :2] @ turn + shift

        there = NavMesh.from_polygons(place(vertices), [polygons[k] for k in order], areas=areas[order])
        for a, b in pairs:
            for exact in (True, False):
                one = here.path(a, b, costs=costs, exact=exact)
                other = there.path(place(a), place(b), costs=costs, exact=exact)
                assert other.status is one.status
                if not one:
                    continue
                # Of two quick corridors that cost the same either may be taken.
                assert not exact or other.cost == pytest.approx(size * one.cost, rel=1e-3)
                if exact:
                    assert other.lower_bound == pytest.approx(size * one.lower_bound, rel=1e-3)


@seeds(6)
def test_costs_do_not_depend_on_how_a_world_is_turned_mirrored_scaled_shifted_or_numbered(seed):
    def moves(rng):
        yield 1.0, turned(rng.uniform(0, 7)), 0.0
        yield 1.0, np.array([[-1.0, 0.0], [0.0, 1.0]]), 0.0
        yield float(10 ** rng.uniform(-3, 3)), turned(rng.uniform(0, 7)), 0.0
        yield 1.0, turned(0.0), rng.uniform(-1e6, 1e6, 2)
        yield 1.0, turned(0.0), np.array([3.9e5, 5.82e6])

    check_elsewhere(seed, moves)
