"""Zones: ground of another kind, and ground that is closed."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.navmesh.strategies import box, floor, mesh_of
from tests.navmesh.test_rebuild import AGENT, BOUNDS, SIZE, build, check_same, derive, edits
from wayfold import NavMesh, Status
from wayfold.errors import GeometryError, ParameterError, WayfoldError

pytestmark = pytest.mark.kernels

CELL = 0.3
BEND = 1.3 * CELL  # how far rims are simplified


def star(rng, reach):
    """A simple polygon around a place of the world, seldom convex."""
    count = int(rng.integers(3, 9))
    angles = np.sort(rng.random(count)) * 0.3 + np.arange(count) * 2 * np.pi / count
    ring = np.column_stack([np.cos(angles), np.sin(angles)]) * (reach * (0.4 + 0.6 * rng.random((count, 1))))
    return ring + rng.uniform(reach, SIZE - reach, 2)


def zoned(parts, zones, tile=8, **more):
    return NavMesh.build(mesh_of(*parts), AGENT, cell_size=CELL, tile_size=tile, bounds=BOUNDS, zones=zones, **more)


@settings(max_examples=10)
@given(edits(), st.integers(0, 2**32 - 1))
def test_a_rebuild_with_zones_equals_a_build_with_them(world, seed):
    rng = np.random.default_rng(seed)
    parts, _ = world
    try:
        navmesh = build(parts)
    except GeometryError:
        return
    derive(navmesh)
    zones = []
    for kind in rng.integers(0, 4, 4).tolist():
        zones.append((star(rng, rng.uniform(1, 5)), -1.0, rng.uniform(0, 4), kind))
        ring = zones[-1][0]
        around = [(*ring.min(axis=0), -1), (*ring.max(axis=0), 6)]
        navmesh.rebuild(around, mesh_of(*parts), zones=zones, workers=1)
    check_same(navmesh, zoned(parts, zones, min_region=3.0, workers=1))
    for zone in zones[:]:
        zones.remove(zone)
        around = [(*zone[0].min(axis=0), -1), (*zone[0].max(axis=0), 6)]
        navmesh.rebuild(around, mesh_of(*parts), zones=zones, workers=1)
    check_same(navmesh, build(parts))


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 16]))
def test_ground_inside_a_zone_has_its_kind_and_ground_outside_has_not(seed, tile):
    rng = np.random.default_rng(seed)
    zones = [(star(rng, 8.0), -0.5, 0.5, 2), (star(rng, 6.0), -0.5, 0.5, 3), (star(rng, 9.0), 1.0, 2.0, 4)]
    navmesh = zoned([floor(0, 0, SIZE, SIZE)], zones, tile)
    two, three = shapely.Polygon(zones[0][0]), shapely.Polygon(zones[1][0])
    shapes = {2: two - three, 3: three, 4: shapely.Polygon()}
    points = navmesh.random_points(2000, seed=1)
    areas = navmesh.areas[navmesh.locate(points)]
    for kind, shape in shapes.items():
        deep = shape.buffer(-BEND - CELL)
        near = shape.buffer(BEND + CELL)
        inside = shapely.contains_xy(deep, points[:, 0], points[:, 1])
        outside = ~shapely.contains_xy(near, points[:, 0], points[:, 1])
        assert (areas[inside] == kind).all()
        assert (areas[outside] != kind).all()
        # Rims wander to both sides of the zone's, so the area is nearer than a cell all around.
        size = navmesh.polygon_areas[navmesh.areas == kind].sum()
        assert size == pytest.approx(shape.area, abs=0.5 * CELL * shape.length)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 16]))
def test_nobody_comes_nearer_to_a_closed_zone_than_to_a_wall(seed, tile):
    rng = np.random.default_rng(seed)
    rings = [star(rng, 6.0), star(rng, 0.4)]
    # The bridge passes so high that one can walk below and above.
    parts = [floor(0, 0, SIZE, SIZE), box((10, -0.1, 3.0), (14, SIZE, 3.2))]
    navmesh = zoned(parts, [(rings[0], 0.0, 1.0, 0), (rings[1], -3.0, 2.0, 0)], tile)
    open_ = zoned(parts, [], tile)
    shape = shapely.union_all([shapely.Polygon(ring) for ring in rings])
    points = navmesh.random_points(3000, seed=2)
    low = points[:, 2] < 1.0
    assert shapely.distance(shape, shapely.points(points[low, :2])).min() > AGENT.radius - BEND
    assert navmesh.area > open_.area - shape.buffer(AGENT.radius + 2 * BEND).area
    on_bridge = open_.random_points(3000, seed=3)
    on_bridge = on_bridge[on_bridge[:, 2] > 3.0]
    np.testing.assert_array_equal(navmesh.locate(on_bridge) >= 0, True)


def test_paths_go_round_a_zone_that_costs_more_and_one_that_is_closed():
    ground = [floor(0, 0, SIZE, SIZE)]
    ring = [(14, 4), (22, 4), (22, 32), (14, 32)]
    start, goal = (4, 18, 0), (32, 18, 0)
    swamp = zoned(ground, [(ring, -1, 1, 5)])
    assert swamp.path(start, goal).cost == pytest.approx(28)
    around = swamp.path(start, goal, costs={5: 20.0})
    assert set(swamp.areas[around.nodes]) == {1}
    assert around.cost > 35
    closed = zoned(ground, [(ring, -1, 1, 0)])
    assert closed.path(start, goal).cost == pytest.approx(around.cost, abs=2.0)
    wall = [(14, -1), (22, -1), (22, SIZE + 1), (14, SIZE + 1)]
    assert zoned(ground, [(wall, -1, 1, 0)]).path(start, goal).status is Status.UNREACHABLE


def test_a_zone_may_say_what_each_kind_becomes():
    halves = [floor(0, 0, SIZE / 2, SIZE), floor(SIZE / 2, 0, SIZE, SIZE)]
    table = np.arange(256)
    table[1], table[2] = 7, 9
    lower = [(0, 0), (SIZE, 0), (SIZE, SIZE / 2), (0, SIZE / 2)]
    navmesh = NavMesh.build(
        mesh_of(*halves), AGENT, cell_size=CELL, tile_size=8, areas=[1, 1, 2, 2], zones=[(lower, -1.0, 1.0, table)]
    )
    for x, left in ((0.25, True), (0.75, False)):
        for y, inside in ((0.25, True), (0.75, False)):
            kind = navmesh.areas[navmesh.locate((x * SIZE, y * SIZE, 0.0))]
            assert kind == {(True, True): 7, (True, False): 1, (False, True): 9, (False, False): 2}[left, inside]


@pytest.mark.parametrize(
    ("zone", "error"),
    [
        ((([(0, 0), (1, 0)]), 0, 1, 2), GeometryError),
        (([(0, 0), (1, 1), (1, 0), (0, 1)], 0, 1, 2), GeometryError),
        (([(0, 0), (1, 0), (0, np.nan)], 0, 1, 2), GeometryError),
        (([(0, 0), (1, 0), (0, 1)], 1, 0, 2), ParameterError),
        (([(0, 0), (1, 0), (0, 1)], 0, 1, 256), ParameterError),
        (([(0, 0), (1, 0), (0, 1)], 0, 1, np.arange(255)), ParameterError),
        (([(0, 0), (1, 0), (0, 1)], 0, 1, np.zeros(256, np.uint8)), ParameterError),
        (([(0, 0), (1, 0), (0, 1)], 0, 1, np.full(256, 1.5)), ParameterError),
        (([(0, 0), (1, 0), (0, 1)], 0, 1), ParameterError),
    ],
)
def test_a_zone_that_is_none_is_told_by_its_number_and_changes_nothing(zone, error):
    ground = [floor(0, 0, SIZE, SIZE)]
    navmesh = build(ground)
    before = navmesh.snapshot
    with pytest.raises(error, match=r"zones\[1\]") as caught:
        navmesh.rebuild([(0, 0, 0), (1, 1, 1)], mesh_of(*ground), zones=[([(0, 0), (1, 0), (0, 1)], 0, 1, 2), zone])
    assert isinstance(caught.value, WayfoldError)
    assert navmesh.snapshot is before
