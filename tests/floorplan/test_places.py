"""Nearest places, reachability and random places of a decomposition, against the free space as shapely has it."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shapely import box

from tests import naive_floorplan as naive
from tests.floorplan.test_decompose import make, worlds
from wayfold import samples
from wayfold.errors import OffMapError, ParameterError
from wayfold.floorplan import METHODS, Building, FloorPlan

pytestmark = pytest.mark.kernels


def around(cut, rng, count):
    """Points in and around a plan."""
    low_x, low_y, high_x, high_y = cut.plan.boundary.bounds
    aside = 0.2 * max(high_x - low_x, high_y - low_y)
    return rng.uniform((low_x - aside, low_y - aside), (high_x + aside, high_y + aside), (count, 2))


@settings(max_examples=20)
@example((1968, "lattice"), "deaccon", None)  # obstacles that share borders
@given(worlds, st.sampled_from(["deaccon", "hertel-mehlhorn"]), st.sampled_from([None, 2.0]))
def test_the_nearest_place_is_as_near_as_the_free_space(world, method, max_distance):
    boundary, obstacles = make(world)
    cut = FloorPlan(boundary, obstacles, height=3.0).decompose(method)
    if not cut.num_regions:
        return
    free = naive.free_space(boundary, obstacles)
    points = around(cut, np.random.default_rng(world[0]), 30)
    found = cut.nearest(points, max_distance=max_distance)
    near = 1e-8 * cut.frame.extent
    for point, place in zip(points, found, strict=True):
        least = free.distance(shapely.Point(point))
        if np.isnan(place).any():
            assert np.isnan(place).all()
            assert max_distance is not None
            assert least > max_distance - near
            with pytest.raises(OffMapError, match="no region within 2 m"):
                cut.nearest(point, max_distance=max_distance)
            continue
        assert np.hypot(*(place[:2] - point)) == pytest.approx(least, abs=near)
        assert place[2] == 3.0
        assert cut.locate(place) >= 0
        np.testing.assert_array_equal(cut.nearest(point), place)


@settings(max_examples=20)
@given(worlds, st.sampled_from(METHODS))
def test_reachable_says_what_paths_find(world, method):
    boundary, obstacles = make(world)
    cut = FloorPlan(boundary, obstacles).decompose(method)
    points = around(cut, np.random.default_rng(world[0]), 40)
    points = points[np.asarray(cut.locate(points)) >= 0][:12]
    if not len(points):
        return
    joined = np.array([cut.reachable(point, points) for point in points])
    np.testing.assert_array_equal(joined, joined.T)
    np.testing.assert_array_equal(cut.reachable(points[:-1], points[1:]), np.diagonal(joined, 1))
    for a, b in zip(*np.triu_indices(len(points)), strict=True):
        assert joined[a, b] == cut.path(points[a], points[b]).found
        assert cut.reachable(points[a], points[b]) is bool(joined[a, b])
    if method != "space-filling":  # which does not cover everything
        parts = shapely.get_parts(naive.free_space(boundary, obstacles).buffer(-1e-6))
        own = [{k for k, part in enumerate(parts) if part.distance(shapely.Point(point)) < 1e-5} for point in points]
        for a, b in zip(*np.triu_indices(len(points)), strict=True):
            if len(own[a]) == len(own[b]) == 1:
                assert joined[a, b] == (own[a] == own[b])


def test_nobody_passes_a_pinch_point_but_who_stands_on_it_leaves_to_all_sides():
    obstacles = [box(0, 5, 5, 10), box(5, 0, 10, 5)]
    cut = FloorPlan(box(0, 0, 10, 10), obstacles).decompose()
    assert not cut.reachable((2, 2), (8, 8))
    assert cut.reachable((5, 5), [(2, 2), (8, 8), (5, 5)]).tolist() == [True, True, True]


@settings(max_examples=15)
@given(worlds, st.sampled_from(["deaccon", "hertel-mehlhorn"]), st.booleans())
def test_random_points_are_spread_by_area(world, method, near):
    boundary, obstacles = make(world)
    cut = FloorPlan(boundary, obstacles).decompose(method)
    free = naive.free_space(boundary, obstacles)
    if free.area < 1e-3 or not cut.num_regions:
        return
    options, disc, count = {}, boundary, 3000
    if near:
        centre = shapely.get_coordinates(free.representative_point())[0]
        options = {"near": centre, "radius": 0.2 * cut.frame.extent}
        disc = shapely.Point(centre).buffer(options["radius"], quad_segs=256)
    points = cut.random_points(count, seed=world[0], **options)
    np.testing.assert_array_equal(points, cut.random_points(count, seed=world[0], **options))
    assert points.shape == (count, 3)
    assert (np.asarray(cut.locate(points)) >= 0).all()
    if near:
        assert np.hypot(*(points[:, :2] - centre).T).max() <= options["radius"] * (1.0 + 1e-6)
    there = free.intersection(disc)
    for side in (0, 1):  # halves and quarters of the box have the share that their area says
        low, high = disc.bounds[side], disc.bounds[side + 2]
        for share in (0.25, 0.5, 0.75):
            limit = low + share * (high - low)
            half = box(*([-1e9, -1e9, limit, 1e9] if side == 0 else [-1e9, -1e9, 1e9, limit]))
            expected = count * there.intersection(half).area / there.area
            assert abs(int((points[:, side] < limit).sum()) - expected) <= 6.0 * np.sqrt(0.25 * count) + 0.01 * count


def test_floors_of_a_building_are_told_apart_by_height():
    cut = Building.from_mesh(samples.dungeon(1)).decompose()
    low, high = cut.bounds
    np.testing.assert_array_equal(low, [*cut.corners.min(axis=0), cut.heights.min()])
    np.testing.assert_array_equal(high, [*cut.corners.max(axis=0), cut.heights.max()])
    assert high[2] > low[2]
    points = cut.random_points(300, seed=1)
    assert len(np.unique(points[:, 2])) > 1
    assert (np.asarray(cut.locate(points)) >= 0).all()
    np.testing.assert_array_equal(cut.nearest(points), points)
    region = int(np.argmax(cut.heights))
    near = cut.random_points(300, seed=1, near=cut.centres[region], radius=2.0)
    assert np.linalg.norm(near - cut.centres[region], axis=1).max() <= 2.0 + 1e-6
    outside = np.array([high[0] + 5.0, low[1], high[2]])
    place = cut.nearest(outside)
    shapes = [shapely.Polygon(shape) for shape in cut.regions]
    gaps = [np.hypot(shape.distance(shapely.Point(outside[:2])), z - outside[2])
            for shape, z in zip(shapes, cut.heights, strict=True)]  # fmt: skip
    assert np.linalg.norm(place - outside) == pytest.approx(min(gaps))
    starts, goals = cut.centres[:20], cut.centres[-20:]
    assert cut.reachable(starts, goals).tolist() == [path.found for path in cut.paths(starts, goals)]


def test_bytes_bounds_and_refusals():
    cut = FloorPlan(box(0, 0, 10, 10), [box(4, 0, 6, 10)]).decompose()
    assert cut.nbytes >= cut.corners.nbytes + cut.local_corners.nbytes
    before = cut.nbytes
    cut.add_obstacle(box(1, 1, 2, 2))
    assert cut.nbytes > before
    with pytest.raises(OffMapError, match=r"goal \(5, 1\) lies in no region"):
        cut.reachable((0.5, 0.5), (5, 1))
    with pytest.raises(OffMapError, match=r"goals\[1\]"):
        cut.reachable((0.5, 0.5), [(3, 3), (5, 1)])
    with pytest.raises(ParameterError, match="same length"):
        cut.reachable([(0.5, 0.5)] * 2, [(3, 3)] * 3)
    with pytest.raises(ParameterError, match="near and radius"):
        cut.random_points(1, radius=2.0)
    with pytest.raises(OffMapError, match="no region to draw points from within 1 m"):
        cut.random_points(1, near=(5, 5), radius=0.5 + 0.5)
    assert cut.reachable(np.empty((0, 2)), np.empty((0, 2))).shape == (0,)
    assert cut.random_points(0).shape == (0, 3)
    empty = FloorPlan(box(0, 0, 10, 10), [box(-1, -1, 11, 11)]).decompose()
    assert np.isnan(empty.bounds).all()
    assert np.isnan(empty.nearest([(1, 1)])).all()
    with pytest.raises(OffMapError, match="no region"):
        empty.random_points(1)
