from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

import wayfold
from tests import naive as graphs
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
    # What is seen from any point of a region is seen from the region.
    for region in rng.integers(0, cut.num_regions, 3).tolist():
        corners = cut.corners[cut.offsets[region] : cut.offsets[region + 1]]
        inside = rng.dirichlet(np.ones(len(corners)), 12) @ corners
        from_region = set(cut.information.visible_from(region))
        assert set().union(*(cut.information.visible_at(point) for point in inside)) <= from_region


@settings(max_examples=20)
@given(worlds, st.integers(1, 4))
def test_the_nearest_objects_are_those_with_the_shortest_walks(world, count):
    cut = FloorPlan(*make(world)).decompose()
    points = random_points(cut, np.random.default_rng(world[0]), 14)
    points = points[cut.locate(points) >= 0]
    if len(points) < 2:
        return
    cut.information.attach(points[1:])
    walks = sorted(path.length for path in cut.paths(np.tile(points[0], (len(points) - 1, 1)), points[1:]) if path)
    found = cut.information.nearest(points[0], count)
    assert [length for _, length in found] == pytest.approx(walks[:count])
    assert all(cut.path(points[0], points[1:][name]).length == pytest.approx(length) for name, length in found)


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


def check_like_a_rebuild(cut, boundary, obstacles):
    """A decomposition after updates is a valid one of the new plan, and joins what one made anew joins."""
    check_regions(cut.regions, naive.free_space(boundary, obstacles), full=True)
    assert cut.overlap < 1e-9
    rebuilt = FloorPlan(boundary, obstacles).decompose(cut.method)
    assert cut.coverage == pytest.approx(rebuilt.coverage, abs=1e-9)
    pairs = {tuple(sorted(pair)) for pair in cut.gateways.pairs.tolist()}
    assert naive.touching_pairs(cut.regions, cut.epsilon * 2).keys() <= pairs
    # What is cut anew is rounded, so borders with what was kept may be off by the plan's resolution.
    assert pairs <= naive.touching_pairs(cut.regions, cut.epsilon / 2, 4 * cut.plan.resolution).keys()
    points = random_points(cut, np.random.default_rng(1), 200)
    points = points[(cut.locate(points) >= 0) & (rebuilt.locate(points) >= 0)]
    if len(points):
        labels = [one.graph.components()[one.locate(points)] for one in (cut, rebuilt)]
        assert len(set(zip(*labels, strict=True))) == len(set(labels[0])) == len(set(labels[1]))


@settings(max_examples=30)
@given(worlds, st.sampled_from(("deaccon", "hertel-mehlhorn")))
@example((0, "boxes"), "deaccon")  # the obstacle stands along the border of a region
def test_an_update_changes_only_the_regions_it_touches_and_ends_like_a_rebuild(world, method):
    boundary, obstacles = make(world)
    cut = FloorPlan(boundary, obstacles).decompose(method)
    more = shapely.affinity.rotate(shapely.box(40, 45, 62, 52), world[0] % 180)
    touched = [region for region in cut.regions if region.intersection(more).area > 0]
    kept = [region.wkb for region in cut.regions if region.intersection(more).area == 0]
    new = cut.add_obstacle(more)
    assert [region.wkb for k, region in enumerate(cut.regions) if k not in set(new)] == kept
    rest = shapely.union_all(touched).difference(more)
    fresh = shapely.union_all([cut.regions[k] for k in new])
    assert fresh.symmetric_difference(rest).area < 1e-6
    check_like_a_rebuild(cut, boundary, [*obstacles, more])
    # Taking it out again touches only what borders on the space that it frees.
    near = more.difference(shapely.union_all(obstacles)).buffer(1e-6)
    kept = [region.wkb for region in cut.regions if not region.intersects(near)]
    new = cut.remove_obstacle(len(obstacles))
    assert set(kept) <= {region.wkb for k, region in enumerate(cut.regions) if k not in set(new)}
    check_like_a_rebuild(cut, boundary, obstacles)


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


@settings(max_examples=40)
@given(worlds, st.sampled_from(METHODS))
def test_a_navmesh_has_the_regions_as_polygons_and_their_gateways_as_borders(world, method):
    cut = FloorPlan(*make(world), height=1.5).decompose(method)
    if not cut.num_regions:
        with pytest.raises(OffMapError, match="no free space"):
            cut.navmesh()
        return
    mesh = cut.navmesh()
    assert mesh.num_polygons == cut.num_regions
    np.testing.assert_allclose(mesh.polygon_areas, cut.region_areas, rtol=1e-6, atol=1e-6)
    assert (mesh.vertices[:, 2] == 1.5).all()
    wide = cut.gateways.widths > 1e-3
    borders = {(k, int(other)) for k, row in enumerate(mesh.neighbours) for other in row if other >= 0}
    assert {tuple(pair) for pair in cut.gateways.pairs[wide].tolist()} <= borders


@settings(max_examples=30)
@given(worlds, st.sampled_from(METHODS))
@example((173, "slivers"), "hertel-mehlhorn")  # gateways that end at one corner differed there in the last digit
def test_exact_paths_exist_where_others_do_and_are_as_long_as_the_visibility_graph_says(world, method):
    boundary, obstacles = make(world)
    cut = FloorPlan(boundary, obstacles).decompose(method)
    points = random_points(cut, np.random.default_rng(world[0]), 12)
    points = points[cut.locate(points) >= 0]
    starts, goals = points[: len(points) // 2], points[len(points) // 2 : len(points) // 2 * 2]
    smooth, exact = cut.paths(starts, goals), cut.paths(starts, goals, exact=True)
    for one, best, start, goal in zip(smooth, exact, starts, goals, strict=True):
        assert one.found == best.found
        if one:
            assert best.length <= one.length * (1 + 1e-9)
            np.testing.assert_array_equal(best.points[[0, -1], :2], [start, goal])
            assert cut.path(start, goal, exact=True).length == best.length
    if method != "space-filling" and exact and exact[0]:
        shortest = naive.visibility_length(naive.free_space(boundary, obstacles), starts[0], goals[0])
        assert exact[0].length == pytest.approx(shortest, rel=1e-6)


def test_batches_are_the_single_paths_and_wrong_ones_get_a_sentence():
    cut = FloorPlan(*naive.random_plan(np.random.default_rng(8), "rotated")).decompose()
    points = random_points(cut, np.random.default_rng(3), 60)
    points = points[cut.locate(points) >= 0][:40]
    for options in ({}, {"smooth": False}, {"exact": True}):
        for workers in (1, 3):
            found = cut.paths(points[:20], points[20:], workers=workers, **options)
            for path, start, goal in zip(found, points[:20], points[20:], strict=True):
                np.testing.assert_array_equal(path.points, cut.path(start, goal, **options).points)
    assert len(cut.paths(np.empty((0, 2)), np.empty((0, 2)))) == 0
    with pytest.raises(OffMapError, match=r"goals\[1\]"):
        cut.paths(points[:2], [points[0], (-50, -50)])
    with pytest.raises(ParameterError, match="same length"):
        cut.paths(points[:2], points[:1])
    with pytest.raises(TypeError, match="fast"):
        cut.paths(points[:2], points[:2], fast=True)


@settings(max_examples=20)
@given(worlds)
def test_the_paper_s_path_is_the_shortest_over_centres_and_gateways_from_the_places_themselves(world):
    cut = FloorPlan(*make(world)).decompose()
    points = random_points(cut, np.random.default_rng(world[0]), 12)
    points = points[cut.locate(points) >= 0]
    for start, goal in zip(points[::2], points[1::2], strict=False):
        first, last = cut.locate([start, goal]).tolist()
        path = cut.path(start, goal, smooth=False)
        if first != last and path:
            where = dict(enumerate(cut.graph.points.astype(float)[:, :2]))
            where[first], where[last] = start, goal
            doors = [(a, cut.num_regions + k) for k, pair in enumerate(cut.gateways.pairs.tolist()) for a in pair]
            edges = [(a, b, float(np.hypot(*(where[a] - where[b])))) for a, b in doors]
            edges += [(b, a, cost) for a, b, cost in edges]
            assert path.length == pytest.approx(graphs.graph_costs(len(where), edges, first)[last], rel=1e-6)


@settings(max_examples=25)
@given(worlds, st.sampled_from(METHODS))
def test_shared_corners_make_every_gateway_an_edge_of_both_polygons(world, method):
    from wayfold.floorplan import gateways

    cut = FloorPlan(*make(world)).decompose(method)
    if not cut.num_regions:
        return
    vertices, polygons = gateways.shared_corners(cut)
    edges = {}
    for number, polygon in enumerate(polygons):
        for a, b in zip(polygon.tolist(), np.roll(polygon, -1).tolist(), strict=True):
            edges[a, b] = number
        assert shapely.Polygon(vertices[polygon, :2]).area == pytest.approx(
            cut.regions[number].area, rel=1e-6, abs=1e-9
        )
    shared = {tuple(sorted((n, edges[b, a]))) for (a, b), n in edges.items() if (b, a) in edges}
    assert {tuple(sorted(pair)) for pair in cut.gateways.pairs.tolist()} <= shared


@pytest.mark.parametrize("method", METHODS)
def test_where_obstacles_cover_everything_every_disc_collides(method):
    cut = FloorPlan([(0, 0), (10, 0), (10, 10), (0, 10)]).decompose(method)
    cut.add_obstacle(shapely.box(-1, -1, 11, 11))
    assert cut.num_regions == 0
    assert cut.collides([(5, 5), (50, 5)], 0.3).tolist() == [True, True]
    assert cut.collides((5, 5), 0.3)
    assert len(cut.cells.offsets) == 1
    cut.remove_obstacle(0)
    assert not cut.collides((5, 5), 0.3)
