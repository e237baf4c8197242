"""A start or goal on a border belongs to every region it touches, and nobody passes a pinch point."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests import naive_floorplan as naive
from tests.draws import seeds
from tests.floorplan.test_decompose import make, worlds
from wayfold.floorplan import METHODS, FloorPlan

pytestmark = pytest.mark.kernels

FULL = ("deaccon", "hertel-mehlhorn")


def two_boxes(angle=0.0, offset=(0.0, 0.0)):
    """A square room whose halves, left above and right below, touch only in its middle, and a map of its points."""
    shapes = [shapely.box(-5, -5, 5, 5), shapely.box(-5, -5, 0, 0), shapely.box(0, 0, 5, 5)]
    c, s = np.cos(angle), np.sin(angle)
    matrix = [c, -s, s, c, *offset]
    moved = [shapely.affinity.affine_transform(shape, matrix) for shape in shapes]
    return FloorPlan(moved[0], moved[1:]), lambda p: np.array([[c, -s], [s, c]]) @ p + offset


@pytest.mark.parametrize("method", METHODS)
def test_nobody_passes_a_pinch_point_and_who_stands_on_it_leaves_it_to_all_sides(method):
    plan, _ = two_boxes()
    cut = plan.decompose(method)
    above, below, pinch = (-2.0, 2.0), (2.0, -2.0), (0.0, 0.0)
    assert cut.locate(pinch) >= 0
    for exact in (False, True):
        assert not cut.path(above, below, exact=exact)
        for place in (above, below):
            for path in (cut.path(pinch, place, exact=exact), cut.path(place, pinch, exact=exact)):
                assert path.length == pytest.approx(np.sqrt(8.0))
        assert cut.path(pinch, pinch, exact=exact).length == 0.0
    cut.information.attach([pinch, above, below], ["pinch", "above", "below"])
    assert cut.information.visible_at(pinch) == ["pinch", "above", "below"]
    assert cut.information.visible_at(above) == ["pinch", "above"]
    assert [name for name, _ in cut.information.nearest(pinch, 3)] == ["pinch", "above", "below"]
    for region in np.unique(cut.locate([above, below])).tolist():
        assert "pinch" in cut.information.in_region(region)


@pytest.mark.parametrize("method", FULL)
@pytest.mark.parametrize("offset", [(0.0, 0.0), (1e7, -1e7)])
def test_a_turned_pinch_point_is_closed_too(method, offset):
    for angle in np.linspace(0.1, 3.0, 7):
        plan, place = two_boxes(angle, offset)
        cut = plan.decompose(method)
        for exact in (False, True):
            assert not cut.path(place((-2, 2)), place((2, -2)), exact=exact)
            assert cut.path(place((-4, 0.5)), place((-1, 4.5)), exact=exact)


@pytest.mark.parametrize("method", FULL)
@pytest.mark.parametrize(("size", "angle", "offset"), [(1e-3, 0.0, 0.0), (1 / 3, 0.0, 0.0), (1.0, 0.9, 390000.0)])
def test_who_stands_on_a_pinch_point_that_is_no_number_of_the_plan_leaves_it_to_all_sides(method, size, angle, offset):
    c, s = size * np.cos(angle), size * np.sin(angle)
    matrix = [c, -s, s, c, offset, -offset]
    for x, y in ((3, 3), (8, 3), (7, 6), (1, 7)):
        shapes = [shapely.box(0, 0, 10, 10), shapely.box(0, 0, x, y), shapely.box(x, y, 10, 10)]
        boundary, *obstacles = (shapely.affinity.affine_transform(shape, matrix) for shape in shapes)
        cut = FloorPlan(boundary, obstacles).decompose(method)
        pinch, above, below = (
            shapely.get_coordinates(shapely.affinity.affine_transform(shapely.Point(point), matrix))[0]
            for point in ((x, y), (x / 2, y / 2 + 5), (x / 2 + 5, y / 2))
        )
        assert not cut.reachable(above, below)
        for place in (above, below):
            assert cut.reachable(pinch, place)
            for a, b in ((pinch, place), (place, pinch)):
                for exact in (False, True):
                    assert cut.path(a, b, exact=exact).length == pytest.approx(np.hypot(*(place - pinch)), rel=1e-8)


@pytest.mark.parametrize("size", [2.0, 10.0])
@pytest.mark.parametrize("offset", [(390000.0, 5820000.0), (1e7, -1e7)])
def test_who_stands_on_a_slanted_wall_far_away_is_in_the_plan(size, offset):
    for angle in np.linspace(0.1, 6.0, 8):
        matrix = size * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        cut = FloorPlan(np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) @ matrix.T + offset).decompose()
        walls = np.column_stack([np.linspace(0.1, 0.9, 5), np.zeros(5)]) @ matrix.T + offset
        assert cut.reachable(walls, matrix @ (0.5, 0.5) + offset).all()
        for point in walls:
            assert cut.path(point, matrix @ (0.5, 0.5) + offset, exact=True)


@settings(max_examples=15)
@given(worlds, st.sampled_from(FULL))
@example((5351, "lattice"), "deaccon")
def test_paths_between_walls_and_rooms_are_the_same_both_ways(world, method):
    cut = FloorPlan(*make(world)).decompose(method)
    if not cut.num_regions:
        return
    rng = np.random.default_rng(world[0])
    places = cut.plan.free.boundary.interpolate(rng.uniform(0, 1, 30), normalized=True)
    walls = shapely.get_coordinates(places)
    walls = walls[cut.locate(walls) >= 0]
    goals = cut.centres[rng.integers(0, cut.num_regions, len(walls)), :2]
    ordinary = cut.paths(walls, goals)
    there, back = cut.paths(walls, goals, exact=True), cut.paths(goals, walls, exact=True)
    for one, to, fro in zip(ordinary, there, back, strict=True):
        assert one.found == to.found == fro.found
        if one:
            assert to.length == pytest.approx(fro.length, abs=1e-7)
            assert to.length <= one.length * (1 + 1e-9)


@settings(max_examples=25)
@given(worlds, st.sampled_from(FULL))
@example((5351, "lattice"), "deaccon")  # a start that rounding puts behind its wall
@example((7451472, "boxes"), "hertel-mehlhorn")  # a goal on a pinch point
@example((12002896, "slivers"), "hertel-mehlhorn")  # a start in the tip of a wedge
@example((2671, "lattice"), "hertel-mehlhorn")  # in one beside a wall
def test_paths_from_corners_gateways_and_walls_are_as_long_as_the_visibility_graph_says(world, method):
    boundary, obstacles = make(world)
    cut = FloorPlan(boundary, obstacles).decompose(method)
    if cut.num_regions < 2 or not len(cut.gateways):
        return
    rng = np.random.default_rng(world[0])
    corners = cut.corners[rng.integers(0, len(cut.corners), 4)]
    segments = cut.gateways.segments[rng.integers(0, len(cut.gateways), 4)]
    on_gateways = np.concatenate([segments[:2, :2], 0.5 * (segments[2:, :2] + segments[2:, 2:])])
    walls = shapely.get_coordinates(cut.plan.free.boundary.interpolate(rng.uniform(0, 1), normalized=True))
    points = np.concatenate([corners, on_gateways, walls])
    points = points[cut.locate(points) >= 0]
    goals = cut.centres[rng.integers(0, cut.num_regions, len(points)), :2]
    free = naive.free_space(boundary, obstacles)
    for number, (start, goal) in enumerate(zip(points, goals, strict=True)):
        for a, b in ((start, goal), (goal, start)):
            ordinary, exact = cut.path(a, b), cut.path(a, b, exact=True)
            assert ordinary.found == exact.found
            if exact:
                assert exact.length <= ordinary.length * (1 + 1e-9)
                np.testing.assert_array_equal(exact.points[[0, -1], :2], [a, b])
        if exact and number % 4 == 0:
            assert exact.length == pytest.approx(naive.visibility_length(free, goal, start), rel=1e-6, abs=1e-6)


@seeds(12)
def test_a_point_belongs_to_exactly_the_regions_that_touch_it(seed):
    boundary, obstacles = naive.random_plan(np.random.default_rng(seed), "boxes")
    for method in METHODS:
        cut = FloorPlan(boundary, obstacles).decompose(method)
        if not cut.num_regions:
            continue
        points = np.unique(cut.corners, axis=0)
        cut.information.attach(points)
        for region, shape in enumerate(cut.regions):
            touching = np.flatnonzero(shapely.intersects(shape, shapely.points(points)))
            assert cut.information.in_region(region) == touching.tolist()


def test_a_way_along_the_border_of_regions_is_straight_from_any_point_of_it():
    cut = FloorPlan(shapely.box(0, 0, 9, 9), [shapely.box(3, 3, 6, 6)]).decompose("hertel-mehlhorn")
    for x in np.linspace(0, 9, 19):
        for exact in (False, True):
            path = cut.path((x, 3.0), (0.0, 3.0), exact=exact)
            straight = x if x <= 3 else None
            if straight is not None:
                assert path.length == pytest.approx(straight)
            elif x <= 6:
                assert path.length == pytest.approx(x)  # along the wall
            assert path
