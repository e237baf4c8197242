from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

import wayfold
from tests import naive_floorplan as naive
from tests.floorplan.test_decompose import check_regions, make, worlds
from wayfold.errors import OffMapError, ParameterError
from wayfold.floorplan import METHODS, FloorPlan
from wayfold.path import Status

pytestmark = pytest.mark.kernels


def random_points(cut, rng, count):
    low_x, low_y, high_x, high_y = cut.plan.boundary.bounds
    return rng.uniform((low_x, low_y), (high_x, high_y), (count, 2))


@settings(max_examples=30)
@given(worlds, st.sampled_from(METHODS))
def test_locate_finds_the_region_that_shapely_finds_from_any_last_known_region(world, method):
    cut = FloorPlan(*make(world)).decompose(method)
    rng = np.random.default_rng(world[0])
    points = random_points(cut, rng, 60)
    found = cut.locate(points)
    for point, region in zip(shapely.points(points), found.tolist(), strict=True):
        holding = [k for k, shape in enumerate(cut.regions) if shape.covers(point)]
        if region < 0 and not holding:
            continue
        # On a border within rounding either answer is right.
        assert region in holding or any(
            cut.regions[k].exterior.distance(point) < 1e-8 for k in {region, *holding} - {-1}
        )
    if cut.num_regions:
        hints = rng.integers(-1, cut.num_regions, len(points))
        np.testing.assert_array_equal(cut.locate(points, last=hints) >= 0, found >= 0)
        assert cut.locate(points[0], last=0) == cut.locate(points[0])


@settings(max_examples=25)
@given(worlds, st.floats(0.0, 4.0))
def test_a_disc_collides_exactly_when_it_is_not_within_the_free_space(world, radius):
    boundary, obstacles = make(world)
    cut = FloorPlan(boundary, obstacles).decompose()
    points = random_points(cut, np.random.default_rng(world[0]), 40)
    free = naive.free_space(boundary, obstacles)
    for point, hit in zip(points, cut.collides(points, radius).tolist(), strict=True):
        inside = free.intersects(shapely.Point(point))
        distance = free.boundary.distance(shapely.Point(point))
        if abs(distance - radius) > 1e-7:
            assert hit == (not inside or distance < radius)


@settings(max_examples=25)
@given(worlds, st.sampled_from(METHODS))
def test_paths_stay_in_the_free_space_and_smooth_ones_are_never_longer(world, method):
    boundary, obstacles = make(world)
    cut = FloorPlan(boundary, obstacles).decompose(method)
    points = random_points(cut, np.random.default_rng(world[0]), 30)
    points = points[cut.locate(points) >= 0]
    free = naive.free_space(boundary, obstacles).buffer(1e-6)
    for start, goal in zip(points[::2], points[1::2], strict=False):
        a, b = cut.locate([start, goal])
        path, raw = cut.path(start, goal), cut.path(start, goal, smooth=False)
        joined = cut.graph.components()[a] == cut.graph.components()[b]
        assert path.found == raw.found == joined
        if not path:
            assert path.status is Status.UNREACHABLE
            continue
        for way in (path, raw):
            np.testing.assert_allclose(way.points[[0, -1], :2], [start, goal])
            assert free.covers(shapely.LineString(way.points[:, :2]))
            assert way.cost == pytest.approx(way.length)
        assert np.hypot(*(goal - start)) <= path.length * (1 + 1e-12)
        assert path.length <= raw.length * (1 + 1e-6)
        assert raw.smooth().length == pytest.approx(path.length)


def test_the_navigation_graph_joins_centres_with_gateway_midpoints():
    cut = FloorPlan(shapely.box(0, 0, 6, 2), [shapely.box(2, 1, 4, 2)]).decompose()
    regions, doors = cut.num_regions, len(cut.gateways)
    assert cut.graph.num_nodes == regions + doors
    assert cut.graph.num_edges == 2 * doors
    for door, (a, b) in enumerate(cut.gateways.pairs.tolist()):
        first, last = cut.graph.offsets[regions + door : regions + door + 2]
        assert cut.graph.targets[first:last].tolist() == [a, b]
        midpoint = shapely.Point(cut.graph.points[regions + door, :2])
        assert cut.regions[a].exterior.distance(midpoint) < 1e-6
        assert cut.regions[b].exterior.distance(midpoint) < 1e-6
        assert b in cut.neighbours(a)


def test_threads_may_query_at_once():
    cut = FloorPlan(*naive.random_plan(np.random.default_rng(3), "rotated")).decompose()
    points = cut.centres[:, :2]
    serial = [cut.path(points[0], point).length for point in points]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda point: cut.path(points[0], point).length, points)) == serial


@settings(max_examples=20)
@given(worlds)
def test_objects_are_visible_exactly_along_free_lines(world):
    boundary, obstacles = make(world)
    cut = FloorPlan(boundary, obstacles).decompose()
    rng = np.random.default_rng(world[0])
    points = random_points(cut, rng, 24)
    points = points[cut.locate(points) >= 0]
    if len(points) < 2:
        return
    cut.information.attach(points[1:])
    free = naive.free_space(boundary, obstacles)
    seen = set(cut.information.visible_at(points[0]))
    home = cut.locate(points[0])
    for k, point in enumerate(points[1:]):
        line = shapely.LineString([points[0], point])
        if free.buffer(-1e-6).covers(line):
            assert k in seen
            assert k in cut.information.visible_from(home)
        elif not free.buffer(1e-6).covers(line):
            assert k not in seen
        if cut.information.regions[k] == home:
            assert k in seen
    assert set(cut.information.in_region(home)) <= set(cut.information.visible_from(home))


def test_what_is_behind_a_corner_is_not_seen_from_a_region_and_the_nearest_is_the_nearest_to_walk():
    wall = shapely.box(4.9, 0, 5.1, 9)
    cut = FloorPlan(shapely.box(0, 0, 10, 10), [wall]).decompose()
    info = cut.information
    assert info.attach([(1, 1), (5.5, 1), (9, 9.9)], ["near", "behind", "over"]).min() >= 0
    assert info.nearest((4.5, 1), 3)[0][0] == "near"  # one step behind the wall is a long walk
    lengths = [length for _, length in info.nearest((4.5, 1), 3)]
    assert lengths == sorted(lengths)
    assert lengths[0] == pytest.approx(3.5)
    assert "behind" not in info.visible_at((4.5, 1))
    assert "near" in info.visible_at((4.5, 1))
    assert len(info.regions_seen((4.5, 9.5))) == cut.num_regions
    with pytest.raises(OffMapError, match="no region"):
        info.visible_at((5, 1))
    with pytest.raises(ParameterError, match="names"):
        info.attach([(1, 1)], ["a", "b"])


@settings(max_examples=25)
@given(worlds, st.sampled_from(("deaccon", "hertel-mehlhorn")))
def test_an_update_keeps_every_promise_and_every_region_that_it_does_not_touch(world, method):
    boundary, obstacles = make(world)
    cut = FloorPlan(boundary, obstacles).decompose(method)
    more = shapely.affinity.rotate(shapely.box(40, 45, 62, 52), world[0] % 180)
    before = {region.wkb for region in cut.regions if not region.intersects(more)}
    new = cut.add_obstacle(more)
    check_regions(cut.regions, naive.free_space(boundary, [*obstacles, more]), full=True)
    assert before <= {region.wkb for region in cut.regions}
    assert all(cut.regions[k].intersects(more.buffer(1e-6)) for k in new) or len(new) >= 1
    cut.remove_obstacle(len(obstacles))
    check_regions(cut.regions, naive.free_space(boundary, obstacles), full=True)
    assert cut.coverage > 1 - 1e-9


def test_objects_outlive_an_update_and_wrong_updates_change_nothing():
    cut = FloorPlan(shapely.box(0, 0, 10, 10)).decompose()
    cut.information.attach([(1, 1), (5, 5)], ["a", "b"])
    cut.add_obstacle(shapely.box(4, 4, 6, 6))
    assert cut.information.regions[0] >= 0
    assert cut.information.regions[1] == -1
    count = cut.num_regions
    for wrong in (
        lambda: cut.remove_obstacle(3),
        lambda: cut.add_obstacle([(0, 0)]),
        lambda: cut.remove_obstacle(0, 9),
    ):
        with pytest.raises(ParameterError):
            wrong()
    assert cut.num_regions == count
    cut.remove_obstacle(0)
    assert cut.num_regions == 1


def test_a_decomposition_is_the_same_after_saving_and_loading(tmp_path):
    cut = FloorPlan(*naive.random_plan(np.random.default_rng(5), "stars"), height=2.0).decompose()
    cut.save(tmp_path / "plan.wayfold")
    again = wayfold.load(tmp_path / "plan.wayfold")
    np.testing.assert_array_equal(again.corners, cut.corners)
    np.testing.assert_array_equal(again.gateways.pairs, cut.gateways.pairs)
    assert again.method == cut.method
    assert again.heights.tolist() == cut.heights.tolist()
    again.add_obstacle(shapely.box(50, 50, 55, 55))
    assert again.coverage > 1 - 1e-9


def test_points_outside_get_a_sentence():
    cut = FloorPlan(shapely.box(0, 0, 10, 10), [shapely.box(4, 4, 6, 6)]).decompose()
    with pytest.raises(OffMapError, match=r"goal \(5, 5\) lies in no region"):
        cut.path((1, 1), (5, 5))
    with pytest.raises(ParameterError, match="last"):
        cut.locate([(1, 1)], last=99)
    with pytest.raises(ParameterError, match="radius"):
        cut.collides((1, 1), -1)
    with pytest.raises(OffMapError, match="region 77"):
        cut.neighbours(77)


@pytest.mark.parametrize("method", METHODS)
def test_a_navmesh_has_the_regions_as_polygons(method):
    pytest.importorskip("wayfold.navmesh")
    cut = FloorPlan(*naive.random_plan(np.random.default_rng(2), "rotated")).decompose(method)
    mesh = cut.navmesh()
    assert mesh.num_polygons == cut.num_regions
    assert mesh.area == pytest.approx(cut.areas.sum())
    a, b = cut.centres[0], cut.centres[-1]
    path = cut.path(a, b)
    if path:
        assert cut.path(a, b, optimal=True).length <= path.length * (1 + 1e-6)


@settings(max_examples=25)
@given(worlds, st.sampled_from(METHODS))
def test_shared_corners_make_every_gateway_an_edge_of_both_polygons(world, method):
    from wayfold.floorplan import _mesh

    cut = FloorPlan(*make(world)).decompose(method)
    if not cut.num_regions:
        return
    vertices, polygons = _mesh.shared_corners(cut)
    edges = {}
    for number, polygon in enumerate(polygons):
        for a, b in zip(polygon.tolist(), np.roll(polygon, -1).tolist(), strict=True):
            edges[a, b] = number
        assert shapely.Polygon(vertices[polygon, :2]).area == pytest.approx(
            cut.regions[number].area, rel=1e-6, abs=1e-9
        )
    shared = {tuple(sorted((n, edges[b, a]))) for (a, b), n in edges.items() if (b, a) in edges}
    assert {tuple(sorted(pair)) for pair in cut.gateways.pairs.tolist()} <= shared
