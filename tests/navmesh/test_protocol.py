"""What every map answers, on a navigation mesh: bounds, nearest places, reachability, random points."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.navmesh.strategies import box, floor, mesh_of, polygon_meshes
from wayfold import Agent, NavMesh
from wayfold.errors import OffMapError, ParameterError


@st.composite
def terraces(draw):
    """Level squares anywhere, also above each other, as a mesh, their shapes and heights, and which are closed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, 8))
    corners, shapes, heights = [], [], []
    for _ in range(count):
        low, size, z = rng.uniform(0, 12, 2), rng.uniform(0.5, 6, 2), float(rng.uniform(0, 9))
        ring = [(low[0] + x * size[0], low[1] + y * size[1]) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
        corners += [(x, y, z) for x, y in ring]
        shapes.append(shapely.Polygon(ring))
        heights.append(z)
    areas = rng.integers(1, 3, count)
    mesh = NavMesh.from_polygons(corners, np.arange(4 * count).reshape(-1, 4), areas=areas)
    return mesh, shapes, heights, areas, rng


def distance_to_nearest(point, shapes, heights, most):
    """From a point to level ground, the slow way; NaN as a height is any height. None where there is no ground."""
    found = []
    for shape, z in zip(shapes, heights, strict=True):
        aside = shape.distance(shapely.Point(point[:2]))
        rise = 0.0 if math.isnan(point[2]) else abs(z - point[2])
        if aside <= most and rise <= most:
            found.append(math.hypot(aside, rise))
    return min(found, default=None)


@given(terraces(), st.sampled_from([None, 0.5, 3.0, 100.0]), st.booleans())
def test_the_nearest_place_is_as_near_as_any_of_all_polygons(world, most, closing):
    mesh, shapes, heights, areas, rng = world
    costs = {2: math.inf} if closing else None
    open_ = [k for k in range(len(shapes)) if not closing or areas[k] == 1]
    points = np.column_stack([rng.uniform(-8, 26, (12, 2)), rng.uniform(-6, 15, 12)])
    points[::4, 2] = np.nan
    found = mesh.nearest(points, max_distance=most, costs=costs)
    assert found.shape == (12, 3)
    for point, place in zip(points, found, strict=True):
        wanted = distance_to_nearest(
            point, [shapes[k] for k in open_], [heights[k] for k in open_], math.inf if most is None else most
        )
        if wanted is None:
            assert np.isnan(place).all()
            with pytest.raises(OffMapError, match="no open ground"):
                mesh.nearest(point, max_distance=most, costs=costs)
            continue
        gap = place - point
        assert np.sqrt(np.nansum(gap * gap)) == pytest.approx(wanted, abs=1e-9)
        assert min(
            max(shapes[k].distance(shapely.Point(place[:2])), abs(heights[k] - place[2])) for k in open_
        ) == pytest.approx(0.0, abs=1e-9)
        np.testing.assert_array_equal(mesh.nearest(point, max_distance=most, costs=costs), place)


def test_a_place_on_the_mesh_is_its_own_nearest_place():
    mesh = NavMesh.build(mesh_of(floor(0, 0, 12, 9), box((4, 3, 0), (6, 6, 2))), Agent(), cell_size=0.3)
    points = mesh.random_points(40, seed=2)
    np.testing.assert_allclose(mesh.nearest(points), points, atol=1e-9)
    np.testing.assert_allclose(mesh.nearest(points + np.array([0, 0, 300.0])), points, atol=1e-9)


@given(polygon_meshes(), st.integers(0, 2**32 - 1))
def test_bounds_are_those_of_all_corners(world, seed):
    vertices, polygons = world[0], world[1]
    mesh = NavMesh.from_polygons(vertices, polygons)
    used = [mesh.vertices[v].tolist() for ring in mesh.polygons for v in ring]
    np.testing.assert_array_equal(mesh.bounds, [np.min(used, axis=0), np.max(used, axis=0)])
    points = mesh.random_points(20, seed=seed)
    assert ((points >= mesh.bounds[0] - 1e-9) & (points <= mesh.bounds[1] + 1e-9)).all()


def test_bounds_hold_the_ground_between_corners():
    hill = mesh_of(floor(0, 0, 12, 12), box((3, 3, 0), (9, 9, 0.4)))
    mesh = NavMesh.build(hill, Agent(climb=0.5), cell_size=0.2)
    points = mesh.random_points(400, seed=1)
    assert ((points >= mesh.bounds[0]) & (points <= mesh.bounds[1])).all()
    assert mesh.bounds.shape == (2, 3)


@given(polygon_meshes(), st.integers(0, 2**32 - 1))
def test_many_pairs_are_reachable_where_a_flood_from_the_start_comes_to_the_goal(world, seed):
    rng = np.random.default_rng(seed)
    vertices, polygons = world[0], world[1]
    areas = rng.integers(1, 4, len(polygons))
    mesh = NavMesh.from_polygons(vertices, polygons, areas=areas)
    costs = {3: math.inf}
    inner = [vertices[ring][:, :2].mean(axis=0) for ring in map(np.array, polygons)]
    steps = [(a, int(b)) for a, row in enumerate(mesh.neighbours) for b in row if b >= 0]
    if len(polygons) > 1:
        mesh.add_link(inner[0], inner[-1], both_ways=False)
    some = rng.integers(0, len(polygons), (10, 2))
    open_ = set(np.flatnonzero(areas != 3).tolist())
    steps = [(a, b) for a, b in steps if a in open_ and b in open_]

    def flooded(start):
        """Polygons in reach of one, over the link in its direction."""
        if start not in open_:
            return set()
        ground = naive.reachable(steps, start)
        if 0 in ground and len(polygons) - 1 in open_ and len(polygons) > 1:
            ground |= naive.reachable(steps, len(polygons) - 1)
        return ground

    wanted = [b in flooded(a) for a, b in some.tolist()]
    starts, goals = np.array([inner[a] for a, _ in some]), np.array([inner[b] for _, b in some])
    found = mesh.reachable(starts, goals, costs=costs)
    assert found.dtype == np.bool_
    assert found.tolist() == wanted
    assert [mesh.reachable(a, b, costs=costs) for a, b in zip(starts, goals, strict=True)] == wanted


def test_reachable_names_the_point_that_is_off_the_mesh():
    mesh = NavMesh.from_polygons([(0, 0), (4, 0), (4, 4), (0, 4)], [[0, 1, 2, 3]])
    inside, outside = (1, 1), (9, 9)
    with pytest.raises(OffMapError, match=r"^goals\[1\] "):
        mesh.reachable([inside, inside, inside], [inside, outside, inside])
    with pytest.raises(OffMapError, match=r"^start "):
        mesh.reachable(outside, inside)
    with pytest.raises(ParameterError, match="same length"):
        mesh.reachable([inside, inside], [inside])
    with pytest.raises(ParameterError, match="two points"):
        mesh.reachable([inside, inside], inside)
    assert mesh.reachable(np.empty((0, 2)), np.empty((0, 2))).shape == (0,)


@given(terraces(), st.floats(0.3, 9.0))
def test_points_near_a_place_are_spread_by_the_ground_around_it(world, radius):
    mesh, shapes, heights, _, rng = world
    near = rng.uniform(0, 14, 2)
    parts = [shape.intersection(shapely.Point(near).buffer(radius, quad_segs=256)).area for shape in shapes]
    if sum(parts) < 1e-3 * radius:
        return
    points = mesh.random_points(300, seed=3, near=near, radius=radius)
    np.testing.assert_array_equal(points, mesh.random_points(300, seed=3, near=near, radius=radius))
    assert np.hypot(*(points[:, :2] - near).T).max() <= radius * (1 + 1e-9)
    for k, (shape, z) in enumerate(zip(shapes, heights, strict=True)):
        on = np.abs(points[:, 2] - z) < 1e-9
        share = parts[k] / sum(parts)
        assert abs(on.mean() - share) <= 6.0 * math.sqrt(share * (1 - share) / 300) + 0.005
        assert (shapely.distance(shape, shapely.points(points[on, :2])) < 1e-9).all()
        half = shape.intersection(shapely.Point(near).buffer(radius, quad_segs=256))
        if on.sum() > 40 and half.area > 0.0:  # and within it as much on each side of its middle
            x = half.centroid.x
            left = half.intersection(shapely.box(-99, -99, x, 99)).area / half.area
            got = (points[on, 0] < x).mean()
            assert abs(got - left) <= 6.0 * math.sqrt(left * (1 - left) / on.sum()) + 0.005


def test_random_points_near_a_place_stay_on_the_component_and_on_slopes():
    slope = NavMesh.from_polygons(
        [(0, 0, 0), (8, 0, 4), (8, 8, 4), (0, 8, 0), (9, 0, 0), (12, 0, 0), (12, 8, 0)], [[0, 1, 2, 3], [4, 5, 6]]
    )
    points = slope.random_points(200, seed=1, near=(8, 4), radius=3.0, component=0)
    np.testing.assert_allclose(points[:, 2], 0.5 * points[:, 0], atol=1e-9)
    both = slope.random_points(200, seed=1, near=(8, 4), radius=3.0)
    assert (both[:, 0] > 8.5).any()
    for wrong in ({"near": (1, 1)}, {"radius": 2.0}, {"near": (1, 1), "radius": 0.0}, {"near": "a", "radius": 1.0}):
        with pytest.raises(ParameterError):
            slope.random_points(3, **wrong)
    with pytest.raises(ParameterError, match="no ground"):
        slope.random_points(3, near=(99, 99), radius=2.0)
