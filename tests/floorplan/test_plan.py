from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

import wayfold
from tests import naive_floorplan as naive
from wayfold import Agent, Mesh, NavMesh, formats, samples
from wayfold.errors import GeometryError, ParameterError
from wayfold.floorplan import METHODS, Building, FloorPlan, Transition, ground_planes

pytestmark = pytest.mark.kernels


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 12), st.sampled_from([1.0, 0.25]))
@example(1047, 5, 10, 1.0)
def test_cells_become_polygons_with_exact_borders(seed, width, height, cell):
    free = np.random.default_rng(seed).random((height, width)) < 0.6
    plan = FloorPlan.from_cells(free, cell=cell)
    y, x = np.nonzero(free)
    expected = shapely.union_all(shapely.box(x * cell, y * cell, (x + 1) * cell, (y + 1) * cell))
    assert plan.free.symmetric_difference(expected).area == 0
    assert plan.is_axis_aligned
    cut = plan.decompose()
    # 100 %, to the last bit: in exact arithmetic, since the area of one region may be rounded.
    assert sum(naive.exact_area(region) for region in cut.regions) == free.sum() * Fraction(cell) ** 2
    assert cut.num_regions <= max(1, free.sum())


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from(("rings", "stars", "rotated")))
def test_obstacles_that_are_not_convex_are_split_into_convex_ones(seed, kind):
    boundary, obstacles = naive.random_plan(np.random.default_rng(seed), kind)
    plan = FloorPlan(boundary, obstacles)
    assert all(naive.is_convex(part, 1e-8) and not part.interiors for part in plan.convex_obstacles)
    whole = shapely.union_all(obstacles)
    assert shapely.union_all(plan.convex_obstacles).symmetric_difference(whole).area <= 1e-9 * max(whole.area, 1)
    # Growth meets the same free space either way.
    again = FloorPlan(boundary, plan.convex_obstacles)
    assert again.free.symmetric_difference(plan.free).area <= 1e-8 * max(plan.area, 1)


def test_a_movingai_map_keeps_its_cells_and_may_be_simplified(tmp_path):
    rows = ["." * 12] * 3 + ["...." + "@" * 3 + "....W", "....@@......", "....@......."]
    file = tmp_path / "steps.map"
    file.write_text(f"type octile\nheight {len(rows)}\nwidth 12\nmap\n" + "\n".join(rows) + "\n")
    plan = FloorPlan.from_movingai(file)
    assert plan.area == 72 - 7
    simple = FloorPlan.from_movingai(file, simplify=1.0)
    assert len(shapely.get_coordinates(simple.free)) < len(shapely.get_coordinates(plan.free))
    assert plan.contains([(0.5, 0.5), (4.5, 3.5)]).tolist() == [True, False]


def test_geojson_says_what_the_boundary_is(tmp_path):
    def feature(shape, **properties):
        return {"type": "Feature", "properties": properties, "geometry": shapely.geometry.mapping(shape)}

    hole = shapely.box(0, 0, 20, 10).difference(shapely.box(1, 1, 2, 2))
    parts = [feature(hole, role="boundary"), feature(shapely.box(5, 5, 6, 6))]
    file = tmp_path / "plan.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": parts}))
    assert FloorPlan.from_geojson(file).area == 200 - 2
    file.write_text(
        json.dumps({"type": "FeatureCollection", "features": [feature(shapely.box(0, 0, 1, 1)), *parts[1:]]})
    )
    assert FloorPlan.from_geojson(file).area == 36 - 2


def test_plans_with_and_without_an_obstacle_are_new_plans():
    plan = FloorPlan(shapely.box(0, 0, 4, 4))
    more = plan.with_obstacle([(1, 1), (2, 1), (2, 2), (1, 2)])
    assert (plan.area, more.area, more.without_obstacle(0).area) == (16, 15, 16)
    with pytest.raises(ParameterError, match="no obstacle 4"):
        more.without_obstacle(4)
    with pytest.raises(ParameterError, match="free must be"):
        FloorPlan.from_cells(np.zeros(3))


def box_mesh(low, high):
    x0, y0, z0, x1, y1, z1 = *low, *high
    v = [(x, y, z) for z in (z0, z1) for y in (y0, y1) for x in (x0, x1)]
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return Mesh(v, triangles)


def house(steps=10):
    """Two floors of 10 x 10 m, 3 m apart and side by side, joined by stairs of 6 m; a pillar stands on the lower."""
    parts = [box_mesh((0, 0, -1), (10, 10, 0)), box_mesh((16, 0, -1), (26, 10, 3)), box_mesh((4, 4, 0), (5, 6, 4))]
    for k in range(steps):
        run = 6 / steps
        parts.append(box_mesh((10 + k * run, 4, -1), (10 + (k + 1) * run, 6, 3 * (k + 1) / (steps + 1))))
    return Mesh.concatenate(parts)


def test_the_ground_planes_of_a_house_are_its_floors():
    assert ground_planes(house()) == pytest.approx([0.0, 3.0])
    with pytest.raises(GeometryError, match="no level ground"):
        ground_planes(Mesh([(0, 0, 0), (1, 0, 1), (0, 1, 0)], [(0, 2, 1)]))


def test_a_slice_has_the_pillar_as_an_obstacle():
    plan = FloorPlan.slice(house(), 0.0)
    floor = shapely.box(0, 0, 10, 10).difference(shapely.box(4, 4, 5, 6))
    assert plan.free.intersection(shapely.box(0, 0, 10, 10)).symmetric_difference(floor).area < 1e-6
    with pytest.raises(GeometryError, match="no ground"):
        FloorPlan.slice(house(), 50.0)


def test_stairs_join_two_floors_into_one_navigation_graph():
    building = Building.from_mesh(house())
    assert len(building.floors) == 2
    assert [transition.floors for transition in building.transitions] == [(0, 1)]
    cut = building.decompose()
    assert cut.coverage > 1 - 1e-9
    assert cut.graph.components().max() == 0
    path = cut.path((1, 1, 0), (25, 9, 3))
    assert path
    assert path.points[0, 2] == 0
    assert path.points[-1, 2] == 3
    assert len(cut.path((1, 1, 0), (25, 9, 3), smooth=False).points) > 3


def ramp_house(width=2.0, *extra):
    """A floor of 20 x 10 m, a gallery 3 m above a part of it, and a ramp along y = 4 to 6 that leads up to it."""
    ramp = Mesh(
        [(2, 4, 0), (10, 4, 3), (10, 4 + width, 3), (2, 4 + width, 0)],
        [(0, 1, 2), (0, 2, 3)],
    )
    return Mesh.concatenate([box_mesh((0, 0, -1), (20, 10, 0)), box_mesh((10, 0, 2.7), (20, 10, 3)), ramp, *extra])


@pytest.mark.parametrize("method", METHODS)
def test_a_ramp_is_entered_at_its_ends_and_not_from_its_sides(method):
    building = Building.from_mesh(ramp_house())
    assert [transition.floors for transition in building.transitions] == [(0, 1)]
    cut = building.decompose(method)
    # Beside the ramp, where it is a metre high, and at the same place on top of it.
    path = cut.path((4.6, 3.9, 0), (12, 5, 3))
    assert path
    # Ground up to a step above a plane belongs to its floor, so the ramp is left and entered where it is half a
    # metre (the step) high: who stands beside it has to go back to there.
    mouth = 2 + 8 * 0.5 / 3
    low = path.points[(path.points[:, 2] < 0.5) & (path.points[:, 1] >= 4)]
    assert low[:, 0].min() <= mouth + 0.2
    heights = path.points[:, 2]
    assert (heights[0], heights[-1]) == (0, 3)
    assert cut.locate((6.5, 5, 1.6)) in np.flatnonzero(cut.region_levels == 2)
    assert cut.heights[cut.locate((6.5, 5, 1.6))] == pytest.approx(3 / 8 * 4, abs=1.3)


@pytest.mark.parametrize(
    "extra",
    [
        box_mesh((5, 3, -1), (6, 7, 5)),  # a wall across the ramp, taller than anyone
        box_mesh((5, 3, 2.4), (6, 7, 2.6)),  # a beam above it, too low to walk under
    ],
    ids=["wall", "beam"],
)
def test_what_stands_on_a_ramp_or_hangs_over_it_is_in_the_way(extra):
    free, blocked = Building.from_mesh(ramp_house()).decompose(), Building.from_mesh(ramp_house(2.0, extra)).decompose()
    assert free.path((1, 5, 0), (12, 5, 3))
    assert not blocked.path((1, 5, 0), (12, 5, 3))


def test_a_building_is_the_same_after_saving_and_loading(tmp_path):
    cut = Building.from_mesh(ramp_house()).decompose()
    cut.save(tmp_path / "house.wayfold")
    again = wayfold.load(tmp_path / "house.wayfold")
    np.testing.assert_array_equal(again.gateways.segments, cut.gateways.segments)
    np.testing.assert_array_equal(again.heights, cut.heights)
    np.testing.assert_array_equal(again.path((1, 5, 0), (12, 5, 3)).points, cut.path((1, 5, 0), (12, 5, 3)).points)


def agreement(mesh, agent, cut, cell):
    """Pairs of points on a voxel navigation mesh: (connected in both, only in `cut`, only in the mesh, in neither)."""
    thin = Agent(radius=cell / 4, height=agent.height, climb=agent.climb, slope=agent.slope)
    voxels = NavMesh.build(mesh, thin, cell_size=cell, cell_height=cell / 2)
    points = voxels.random_points(1500, seed=1)
    region = cut.locate(points)
    away = np.abs(cut.heights[region] - points[:, 2])
    on_floor = np.array([level.is_floor for level in cut.levels])[cut.region_levels[region]]
    # Ground that belongs to no floor and no transition is no part of the building.
    known = np.flatnonzero((region >= 0) & np.where(on_floor, away <= 1.2 * agent.climb, away <= 2 * agent.height))
    a, b = np.random.default_rng(0).choice(known, (2, 20_000))
    mine, theirs = cut.graph.components()[region], voxels.components[voxels.locate(points)]
    ours, other = mine[a] == mine[b], theirs[a] == theirs[b]
    return [float(np.mean(part)) for part in (ours & other, ours & ~other, ~ours & other, ~ours & ~other)]


def test_the_floors_of_a_dungeon_are_joined_as_on_a_voxel_navigation_mesh():
    mesh = samples.dungeon(1, floors=2, size=(24.0, 24.0))
    building = Building.from_mesh(mesh)
    assert len(building.floors) == 2
    cut = building.decompose()
    both, ours, theirs, _ = agreement(mesh, Agent(), cut, 0.25)
    assert both == 1.0
    assert ours == theirs == 0.0
    a, b = (cut.centres[np.argmax(cut.region_levels == level)] for level in (0, 1))
    exact, smooth = cut.path(a, b, exact=True), cut.path(a, b)
    assert smooth.found
    assert exact.length <= smooth.length * (1 + 1e-6)


@pytest.mark.data
@pytest.mark.parametrize("level", ["nav_test", "aggressor", "oa_dm1"])
def test_the_floors_of_real_levels_are_joined_as_on_a_voxel_navigation_mesh(data, level):
    if level == "nav_test":
        mesh, agent, cell = formats.load_mesh(data / "recast/nav_test.obj", up="y"), Agent(0.6, 2.0, 0.9), 0.2
    else:
        mesh, agent, cell = formats.load_bsp(data / f"quake/{level}.bsp").mesh, Agent(15, 56, 18, 45.5), 6.0
        mesh = Mesh(mesh.vertices, mesh.triangles[mesh.materials != mesh.material_names.index("sky")])
    building = Building.from_mesh(mesh, agent=agent)
    assert len(building.floors) >= 4
    assert len(building.transitions) >= 4
    cut = building.decompose()
    assert cut.coverage > 1 - 1e-9
    _, ours, theirs, _ = agreement(mesh, agent, cut, cell)
    assert ours + theirs < 0.03


def test_floors_above_each_other_are_told_apart_by_height():
    lower, upper = FloorPlan(shapely.box(0, 0, 10, 10)), FloorPlan(shapely.box(0, 0, 10, 6), height=4.0)
    ramp = FloorPlan(shapely.box(10, 2, 14, 4), height=2.0)
    cut = Building([lower, upper], [Transition(ramp, (0, 1))]).decompose("hertel-mehlhorn")
    assert cut.locate([(5, 3, 0.1), (5, 3, 3.8), (12, 3, 2)]).tolist() == [0, 1, 2]
    assert cut.path((5, 3, 0), (5, 3, 4)).length > 10
    with pytest.raises(ParameterError, match="transition"):
        Building([lower], [Transition(ramp, (0, 1))])


def test_the_walls_of_a_drawn_up_plan_come_back_in_its_slice():
    office = samples.rooms(4)
    plan = FloorPlan.slice(office.mesh(), 0.0, agent=Agent())
    assert plan.free.symmetric_difference(office.free).area < 1e-3 * office.free.area
