"""The same plan moved, turned, mirrored, scaled, reordered or drawn with more corners gives the same answers."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shapely import affinity

import wayfold
from tests import naive_floorplan as naive
from tests.draws import seeds
from tests.floorplan.test_decompose import make, worlds
from wayfold import samples
from wayfold.floorplan import METHODS, FloorPlan

pytestmark = pytest.mark.kernels

FULL = ("deaccon", "hertel-mehlhorn")  # the methods that leave nothing uncovered


def turned(angle, scale=1.0, offset=(0.0, 0.0), mirrored=False):
    """A map of the plane, as shapely takes it: turned about the middle of the random plans, scaled, then moved."""
    c, s = np.cos(angle) * scale, np.sin(angle) * scale
    m = -1.0 if mirrored else 1.0
    a, b, d, e = c * m, -s, s * m, c
    return [a, b, d, e, offset[0] - a * 50 - b * 50, offset[1] - d * 50 - e * 50]


def mapped(matrix, boundary, obstacles, points):
    """A plan and points under a map of the plane."""
    a, b, d, e, x, y = matrix
    moved = points @ np.array([[a, d], [b, e]]) + (x, y)
    return affinity.affine_transform(boundary, matrix), [affinity.affine_transform(o, matrix) for o in obstacles], moved


def free_points(boundary, obstacles, seed, margin, count=8):
    """Random points that are clear of every wall, so that they are free in every image of the plan."""
    free = naive.free_space(boundary, obstacles)
    points = np.random.default_rng(seed).uniform(0, 100, (6 * count, 2))
    away = shapely.distance(free.boundary, shapely.points(points))
    return points[shapely.intersects(free, shapely.points(points)) & (away > margin)][:count]


def lengths(boundary, obstacles, points, method, **options):
    """Lengths of the paths from each point to the next, infinite where there is none; ordinary and exact ones."""
    cut = FloorPlan(boundary, obstacles).decompose(method, **options)
    ordinary, exact = (cut.paths(points[:-1], points[1:], exact=exact) for exact in (False, True))
    return np.array([path.length for path in ordinary]), np.array([path.length for path in exact])


def check_same(before, after, scale, tolerance):
    """Exact lengths are those of the plain plan, times the scale; ordinary ones exist where those do."""
    np.testing.assert_array_equal(np.isfinite(after[0]), np.isfinite(before[1]))
    np.testing.assert_allclose(after[1] / scale, before[1], atol=tolerance)
    assert (after[1] <= after[0] * (1 + 1e-9)).all()


transforms = st.builds(
    turned,
    st.floats(0.0, 2 * np.pi),
    st.sampled_from([1e-3, 0.1, 1.0, 7.3, 1e3]),
    st.sampled_from([(0.0, 0.0), (390000.0, 5820000.0), (1e7, -1e7), (-1e7, 3.3)]),
    st.booleans(),
)


def steps(matrix):
    """The scale of a map, and how far apart the numbers are where it leads to, relative to the scale."""
    scale = float(np.hypot(matrix[0], matrix[2]))
    return scale, float(np.spacing(max(abs(matrix[4]), abs(matrix[5])))) / scale


@settings(max_examples=25)
@given(worlds, transforms, st.sampled_from(FULL))
@example((1421, "lattice"), turned(1.0, 0.1), "hertel-mehlhorn")  # corners that touched come apart tip to tip
def test_a_plan_moved_turned_mirrored_and_scaled_has_the_same_paths(world, matrix, method):
    scale, ulp = steps(matrix)
    if ulp > 1e-7:  # a tenth of a metre at 1e7 m: the numbers themselves do not hold the plan
        matrix, ulp = [*matrix[:4], 0.0, 0.0], 0.0
    boundary, obstacles = make(world)
    points = free_points(boundary, obstacles, world[0], 1e-3)
    if len(points) < 2:
        return
    before = lengths(boundary, obstacles, points, method)
    after = lengths(*mapped(matrix, boundary, obstacles, points), method)
    check_same(before, after, scale, 1e-6 + 100 * ulp)


@settings(max_examples=25)
@given(worlds, st.sampled_from(FULL), st.sampled_from([0.0, 1e-13, 1e-11, 1e-9, 1e-8]))
@example((10, "boxes"), "deaccon", 1e-8)  # parts of the free space that overlapped once they were made simpler
@example((1150, "boxes"), "deaccon", 1e-9)  # walls nearly in a line
def test_more_corners_on_the_walls_and_another_order_change_no_path(world, method, noise):
    boundary, obstacles = make(world)
    points = free_points(boundary, obstacles, world[0], 1e-3)
    if len(points) < 2:
        return
    rng = np.random.default_rng(world[0])

    def redrawn(shape):
        """The polygon begun at another corner, with corners beside its corners and in the middle of its walls."""
        rings = []
        for ring in (shape.exterior, *shape.interiors):
            corners = shapely.get_coordinates(ring)[:-1]
            corners = np.roll(corners, -int(rng.integers(len(corners))), axis=0)
            after = np.roll(corners, -1, axis=0)
            part = np.array([0.0, 1e-9, 0.3, 0.5, 1.0 - 1e-9])[:, None, None]
            more = corners + part * (after - corners)
            more[1:] += rng.uniform(-noise, noise, more[1:].shape)
            ring = more.transpose(1, 0, 2).reshape(-1, 2)
            rings.append(ring[::-1] if rng.random() < 0.5 else ring)
        drawn = shapely.Polygon(rings[0], rings[1:])
        return drawn if drawn.is_valid else shape

    order = rng.permutation(len(obstacles))
    before = lengths(boundary, obstacles, points, method)
    after = lengths(boundary, [redrawn(obstacles[k]) for k in order], points, method)
    check_same(before, after, 1.0, 1e-6)


@settings(max_examples=15)
@given(worlds, transforms, st.sampled_from(FULL))
@example((0, "boxes"), turned(4.5, 1e3, (1e7, -1e7)), "hertel-mehlhorn")  # a border rounded away in the mesh
@example((117189425, "boxes"), turned(1.0, 0.1, (390000.0, 5820000.0), True), "hertel-mehlhorn")  # both sides rounded
def test_a_moved_plan_that_was_changed_has_the_paths_of_one_made_anew(world, matrix, method):
    if steps(matrix)[1] > 1e-8:
        matrix = [*matrix[:4], 0.0, 0.0]
    boundary, obstacles = make(world)
    obstacles = [*obstacles, affinity.rotate(shapely.box(40, 45, 62, 52), world[0] % 180)]
    points = free_points(boundary, obstacles, world[0], 1e-3)
    if len(points) < 2:
        return
    boundary, obstacles, points = mapped(matrix, boundary, obstacles, points)
    anew = FloorPlan(boundary, obstacles).decompose(method)
    known = np.array([path.length for path in anew.paths(points[:-1], points[1:], exact=True)])
    cut = FloorPlan(boundary, obstacles[:-1]).decompose(method)
    for _ in range(2):
        cut.add_obstacle(obstacles[-1])
        ordinary, exact = (cut.paths(points[:-1], points[1:], exact=exact) for exact in (False, True))
        np.testing.assert_allclose([path.length for path in exact], known, rtol=1e-7)
        for one, best in zip(ordinary, exact, strict=True):
            assert one.found == best.found
            assert not best or best.length <= one.length * (1 + 1e-9)
        cut.remove_obstacle(len(obstacles) - 1)


@seeds(25)
def test_a_wall_of_blocks_that_touch_lets_nobody_through_wherever_it_stands(seed):
    rng = np.random.default_rng(seed)
    size = float(rng.choice([0.01, 1.0, 10.0, 100.0, 1e4]))
    levels = np.concatenate([[0.0], np.sort(rng.uniform(0, 1, int(rng.integers(1, 6)))), [1.0]])
    blocks = []
    for low, high in pairwise(levels):
        left, right = (0.4, 0.6) if rng.random() < 0.5 else (0.45, 0.55)
        blocks.append(shapely.Polygon([(0.4, low), (0.6, low), (right, high), (left, high)]))
    offset = ((0.0, 0.0), (1e7, -1e7), (390000.0, 5.8e6))[rng.integers(3)] if size >= 10 else (0.0, 0.0)
    angle = rng.uniform(0, 2 * np.pi)
    c, s = size * np.cos(angle), size * np.sin(angle)
    room, *walls = (
        affinity.affine_transform(shape, [c, -s, s, c, *offset]) for shape in (shapely.box(0, 0, 1, 1), *blocks)
    )
    west, east, north = (np.array([[c, -s], [s, c]]) @ place + offset for place in ((0.1, 0.5), (0.9, 0.5), (0.1, 0.9)))
    for method in FULL:
        cut = FloorPlan(room, walls).decompose(method)
        for exact in (False, True):
            assert not cut.path(west, east, exact=exact)
        # A quick way may take other regions than those on the straight line.
        assert cut.path(west, north, exact=False).length >= (0.4 - 1e-7) * size
        assert cut.path(west, north, exact=True).length == pytest.approx(0.4 * size)


def placed(rng, shapes, places):
    """Convex shapes and points of the unit square, turned by any angle, scaled and moved as far as the numbers hold it.

    Corners of all shapes but the first are off by less than what counts as touching: some come apart, some overlap.
    """
    size = float(rng.choice([1e-3, 0.1, 1.0, 30.0, 1e3]))
    offset = ((0.0, 0.0), (1e7, -1e7), (390000.0, 5.8e6))[rng.integers(3)] if size >= 30 else (0.0, 0.0)
    angle = rng.uniform(0, 2 * np.pi)
    turn = size * np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    noise = float(rng.choice([0.0, 1e-12, 2e-11, 2e-10]))
    moved = []
    for shape in shapes:
        corners = shapely.get_coordinates(shape)[:-1]
        if moved:
            corners += rng.uniform(-noise, noise, corners.shape)
        moved.append(shapely.convex_hull(shapely.multipoints(corners @ turn + offset)))
    return size, moved, np.asarray(places) @ turn + offset


def tip_to_tip(rng, gap=0.0):
    """A row of diamonds, needles and blunt ends across the unit square, each ending where, or `gap` before, the next
    begins."""
    levels = np.concatenate([[0.0], np.sort(rng.uniform(0.1, 0.9, int(rng.integers(1, 5)))), [1.0]])
    aside = rng.uniform(0.45, 0.55, len(levels))
    shapes = []
    for (low, high), (left, right) in zip(pairwise(levels), pairwise(aside), strict=True):
        top = high if high == 1.0 else high - gap
        half = float(rng.choice([1e-3, 0.01, 0.1, 0.3]))
        blunt = float(rng.choice([0.0, 0.0, 1e-10, 1e-3]))  # width of the upper end
        middle, at = (left + right) / 2, (low + top) / 2
        corners = [(left, low), (middle + half, at), (right + blunt, top), (right - blunt, top), (middle - half, at)]
        shapes.append(shapely.convex_hull(shapely.multipoints(corners)))
    return shapes


@seeds(40, found=(9802021, 9901007, 25005035))
def test_a_row_of_corners_that_touch_lets_nobody_through_wherever_it_stands(seed):
    rng = np.random.default_rng(seed)
    size, shapes, points = placed(
        rng, [shapely.box(0, 0, 1, 1), *tip_to_tip(rng)], [(0.02, 0.5), (0.98, 0.5), (0.02, 0.9)]
    )
    plan = FloorPlan(shapes[0], shapes[1:])
    for method in FULL:
        cut = plan.decompose(method)
        for exact in (False, True):
            assert not cut.path(points[0], points[1], exact=exact)
        assert cut.path(points[0], points[2], exact=False).length >= (0.4 - 1e-7) * size
        assert cut.path(points[0], points[2], exact=True).length == pytest.approx(0.4 * size)


def thin_row(rng):
    """A row of diamonds, needles and boards across the unit square, tip to tip, the thinnest far thinner than rounding.

    Placed as `placed` does, with two points beside the row and two above them.
    """
    levels = np.concatenate([[0.0], np.sort(rng.uniform(0.1, 0.9, int(rng.integers(1, 5)))), [1.0]])
    tips = np.column_stack([rng.uniform(0.3, 0.7, len(levels)), levels])
    shapes = []
    for a, b in pairwise(tips):
        x, y = b - a
        across = np.array([-y, x]) / np.hypot(x, y) * 10.0 ** rng.uniform(-12, -3)
        middle = a + rng.uniform(0.1, 0.9) * (b - a)
        corners = (
            [a, middle - across, b, middle + across],
            [a, b - across, b + across],
            [a - across, b, a + across],
            [a - across, b - across, b + across, a + across],
        )[rng.integers(4)]
        shapes.append(shapely.convex_hull(shapely.multipoints(corners)))
    while True:  # until it lies where the numbers hold it
        size, moved, points = placed(
            rng, [shapely.box(0, 0, 1, 1), *shapes], [(0.02, 0.5), (0.98, 0.5), (0.98, 0.9), (0.02, 0.9)]
        )
        if (shapely.area(moved) > 0.0).all():
            return size, moved, points


@seeds(15)
def test_a_row_of_needles_and_boards_lets_nobody_through_wherever_it_stands(seed):
    rng = np.random.default_rng([3, seed])
    size, shapes, points = thin_row(rng)
    plan = FloorPlan(shapes[0], shapes[1:])
    for method in FULL:
        cut = plan.decompose(method)
        for exact in (False, True):
            assert not cut.path(points[0], points[1], exact=exact)
        assert cut.path(points[0], points[3], exact=False).length >= (0.4 - 1e-7) * size
        assert cut.path(points[0], points[3], exact=True).length == pytest.approx(0.4 * size)


@seeds(25)
def test_a_spike_is_gone_round_at_its_tip_however_thin_it_is(seed):
    rng = np.random.default_rng([5, seed])
    half, tip = 10.0 ** rng.uniform(-12, -3), rng.uniform(0.2, 0.9)
    blunt = half * float(rng.choice([0.0, 0.5, 1.0]))
    spike = np.array([(0.5 - half, 0.0), (0.5 - blunt, tip), (0.5 + blunt, tip), (0.5 + half, 0.0)])
    size = float(rng.choice([1e-3, 1.0, 1e3]))
    offset = ((0.0, 0.0), (390000.0, 5.8e6))[rng.integers(2)] if half * size > 1e-6 else (0.0, 0.0)
    angle = rng.uniform(0, 2 * np.pi)
    turn = size * np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    square = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
    notched = np.concatenate([square[:1], spike, square[1:]]) @ turn + offset
    square, spike, ends = (np.asarray(it) @ turn + offset for it in (square, spike, [(0.1, 0.1), (0.9, 0.1)]))
    known = 2.0 * np.hypot(0.4, tip - 0.1) * size
    for method in FULL:
        changed = FloorPlan(square).decompose(method)
        changed.add_obstacle(spike)
        other = FloorPlan(notched).decompose(method)
        box = shapely.Polygon(np.array([(0.45, 0.0), (0.55, 0.0), (0.55, tip), (0.45, tip)]) @ turn + offset)
        other.add_obstacle(box)
        other.remove_obstacle(0)
        plans = FloorPlan(square, [spike]).decompose(method), FloorPlan(notched).decompose(method), changed, other
        for cut in plans:
            assert cut.path(*ends, exact=True).length == pytest.approx(known, rel=2 * half + 1e-8)
            assert cut.path(*ends).length >= known * (1 - 1e-8)


@pytest.mark.parametrize("width", [1e-12, 1e-10, 1e-9, 1e-6])
@pytest.mark.parametrize("angle", [0.0, 1.0, 33.0])
@pytest.mark.parametrize("method", FULL)
def test_what_a_boundary_leaves_out_parts_it_however_thin_it_is(width, angle, method):
    room, gap = shapely.box(0, 0, 10, 10), [(5, 0), (5 + width, 0), (6 + width, 10), (6, 10)]
    west, east = (
        shapely.Polygon([(0, 0), gap[0], gap[3], (0, 10)]),
        shapely.Polygon([gap[1], (10, 0), (10, 10), gap[2]]),
    )
    hole = [(5, 1), (5 + width, 1), (6 + width, 9), (6, 9)]
    obstacle = shapely.box(4, 4, 6, 5)
    room, parts, holed, obstacle, ends = (
        affinity.rotate(shape, angle, origin=(0, 0))
        for shape in (
            room,
            shapely.MultiPolygon([(west, []), (east, [])]),
            shapely.Polygon(room.exterior, [hole]),
            obstacle,
            shapely.LineString([(1, 1), (9, 1)]),
        )
    )
    ends = shapely.get_coordinates(ends)
    for boundary, known in ((parts, np.inf), (holed, 8.0)):
        cut = FloorPlan(boundary).decompose(method)
        for changed in (False, True):
            for exact in (False, True):
                path = cut.path(*ends, exact=exact)
                assert path.length == pytest.approx(known) if exact else path.length >= known * (1 - 1e-9)
            if not changed:
                cut.add_obstacle(obstacle)
                cut.remove_obstacle(0)
    aside = affinity.rotate(shapely.LineString([(5, 5), (7, 5)]), angle, origin=(0, 0))
    path = FloorPlan(holed).decompose(method).path(*shapely.get_coordinates(aside), exact=True)
    assert path.length == pytest.approx(2.0 * np.hypot(1.0, 4.0), abs=1e-5)  # round the upper tip


@seeds(25)
def test_a_row_of_corners_a_millionth_apart_is_passed_wherever_it_stands(seed):
    rng = np.random.default_rng(seed)
    shapes = tip_to_tip(rng, 1e-6)
    size, shapes, points = placed(rng, [shapely.box(0, 0, 1, 1), *shapes], [(0.02, 0.5), (0.98, 0.5)])
    plan = FloorPlan(shapes[0], shapes[1:])
    for method in FULL:
        cut = plan.decompose(method)
        for exact in (False, True):
            path = cut.path(points[0], points[1], exact=exact)
            assert path.found
            assert path.length >= 0.96 * size * (1 - 1e-6)


@seeds(15, found=(9601001,))
def test_a_lattice_of_blocks_that_touch_in_their_corners_keeps_its_cells_apart(seed):
    rng = np.random.default_rng(seed)
    number = int(rng.integers(2, 7))
    cells = [(x, y) for x in range(number) for y in range(number)]
    blocks = [shapely.box(x, y, x + 1, y + 1) for x, y in cells if (x + y) % 2]
    shapes = [affinity.scale(shape, 1 / number, 1 / number, origin=(0, 0)) for shape in blocks]
    holes = np.array([(x + 0.5, y + 0.5) for x, y in cells if not (x + y) % 2]) / number
    _, shapes, points = placed(rng, [shapely.box(0, 0, 1, 1), *shapes], holes)
    plan = FloorPlan(shapes[0], shapes[1:])
    assert len(plan.free.geoms) == len(holes)
    cut = plan.decompose(str(rng.choice(FULL)))
    assert not any(path.found for path in cut.paths(points[:-1], points[1:], exact=True))


def test_cells_that_touch_in_a_corner_keep_their_exact_borders():
    free = np.random.default_rng(5).random((40, 40)) < 0.6
    plan = FloorPlan.from_cells(free)
    assert plan.area == free.sum()
    corners = shapely.get_coordinates(plan.free)
    np.testing.assert_array_equal(corners, np.round(corners))


def test_a_real_opening_is_passed_however_narrow_it_is_beside_what_rounding_opens():
    for width in (1e-3, 1e-5, 1e-6):
        walls = [shapely.box(4, 0, 5, 5 - width), shapely.box(4, 5, 5, 10)]
        for method in FULL:
            cut = FloorPlan(shapely.box(0, 0, 10, 10), walls).decompose(method)
            for exact in (False, True):
                assert cut.path((1, 5), (9, 5), exact=exact).length == pytest.approx(8.0, abs=1e-6)


@pytest.mark.parametrize("offset", [(390000, 5820000), (390000.3, 5820000.7), (1e7, -1e7)])
@pytest.mark.parametrize("method", METHODS)
def test_an_office_in_metres_of_a_national_grid_keeps_its_gateways_and_its_paths(offset, method):
    office = samples.rooms(2)
    plain = FloorPlan(office.boundary, office.obstacles).decompose(method)
    far = FloorPlan(
        affinity.translate(office.boundary, *offset), [affinity.translate(o, *offset) for o in office.obstacles]
    ).decompose(method)
    assert far.num_regions == plain.num_regions
    assert len(far.gateways) == len(plain.gateways)
    assert far.plan.resolution == plain.plan.resolution
    assert far.epsilon == plain.epsilon
    np.testing.assert_allclose(far.corners - offset, plain.corners, atol=1e-8)
    np.testing.assert_allclose(far.gateways.segments - (*offset, *offset), plain.gateways.segments, atol=1e-8)
    goals = plain.centres[::7, :2]
    starts = np.tile(goals[0], (len(goals), 1))
    for options in ({}, {"exact": True}, {"smooth": False}):
        here, there = plain.paths(starts, goals, **options), far.paths(starts + offset, goals + offset, **options)
        for one, other, goal in zip(here, there, goals + offset, strict=True):
            assert one.length == pytest.approx(other.length, abs=1e-7)
            if other:
                np.testing.assert_array_equal(other.points[-1, :2], goal)  # as it came
    assert far.locate(goals + offset).tolist() == plain.locate(goals).tolist()
    np.testing.assert_array_equal(far.collides(goals + offset, 0.3), plain.collides(goals, 0.3))
    np.testing.assert_array_equal(far.plan.contains(goals + offset), plain.plan.contains(goals))
    for cut, places in ((plain, goals), (far, goals + offset)):
        cut.information.attach(places)
    assert far.information.visible_at(goals[3] + offset) == plain.information.visible_at(goals[3])


@pytest.mark.parametrize("degrees", [10.0, 33.3, 71.0])
@pytest.mark.parametrize("method", FULL)
def test_a_turned_office_has_exact_paths_of_the_same_length(degrees, method):
    office = samples.rooms(2)
    shapes = (office.boundary, *office.obstacles)
    plain = FloorPlan(office.boundary, office.obstacles).decompose("hertel-mehlhorn")
    goals = plain.centres[::12, :2]
    known = [path.length for path in plain.paths(np.tile(goals[0], (len(goals), 1)), goals, exact=True)]
    boundary, *obstacles = (affinity.rotate(shape, degrees, origin=(0, 0)) for shape in shapes)
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    goals = goals @ np.array([[c, s], [-s, c]])
    cut = FloorPlan(boundary, obstacles).decompose(method)
    ordinary, exact = (cut.paths(np.tile(goals[0], (len(goals), 1)), goals, exact=flag) for flag in (False, True))
    np.testing.assert_allclose([path.length for path in exact], known, rtol=0, atol=1e-7)
    assert all(best.length <= one.length * (1 + 1e-9) for one, best in zip(ordinary, exact, strict=True))


def test_a_plan_far_away_is_changed_saved_and_loaded_like_one_at_the_origin(tmp_path):
    offset = np.array([390000.0, 5820000.0])
    crate = shapely.box(20, 10, 21, 11)
    office = samples.rooms(2)
    cuts = []
    for x, y in ((0.0, 0.0), offset):
        moved = [affinity.translate(shape, x, y) for shape in (office.boundary, *office.obstacles)]
        cut = FloorPlan(moved[0], moved[1:]).decompose()
        new = cut.add_obstacle(affinity.translate(crate, x, y))
        cut.save(tmp_path / "cut.wayfold")
        again = wayfold.load(tmp_path / "cut.wayfold")
        np.testing.assert_array_equal(again.corners, cut.corners)
        np.testing.assert_array_equal(again.gateways.segments, cut.gateways.segments)
        cuts.append((new, again))
    assert cuts[0][0] == cuts[1][0]
    np.testing.assert_allclose(cuts[0][1].corners + offset, cuts[1][1].corners, rtol=0, atol=1e-8)
    for _, cut in cuts:
        cut.remove_obstacle(len(office.obstacles))
    assert len(cuts[0][1].gateways) == len(cuts[1][1].gateways)


@pytest.mark.parametrize(("origin", "size"), [((13.3777, 52.5163), 1e-3), ((390000.0, 5820000.0), 80.0)])
def test_geojson_in_degrees_and_in_metres_of_a_grid_keeps_its_rooms(tmp_path, origin, size):
    office = samples.rooms(3)
    plain = FloorPlan(office.boundary, office.obstacles)
    width = office.boundary.bounds[2] - office.boundary.bounds[0]
    matrix = [size / width, 0.0, 0.0, size / width, *origin]
    shapes = [affinity.affine_transform(shape, matrix) for shape in (office.boundary, *office.obstacles)]
    roles = ["boundary"] + ["wall"] * len(office.obstacles)
    features = [
        {"type": "Feature", "properties": {"role": role}, "geometry": shapely.geometry.mapping(shape)}
        for role, shape in zip(roles, shapes, strict=True)
    ]
    file = tmp_path / "plan.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    plan = FloorPlan.from_geojson(file)
    assert plan.area == pytest.approx(plain.area * (size / width) ** 2)
    cut, same = plan.decompose(), plain.decompose()
    goals = same.centres[::9, :2]
    moved = goals * size / width + origin
    found = cut.paths(np.tile(moved[0], (len(moved), 1)), moved, exact=True)
    known = same.paths(np.tile(goals[0], (len(goals), 1)), goals, exact=True)
    for one, other in zip(found, known, strict=True):
        assert one.length == pytest.approx(other.length * size / width, rel=1e-6)
