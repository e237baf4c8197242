"""Every opening of 2.25 radii is passed and none of less than 2, however walls and lattice lie."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.navmesh.checking import check_polygons
from tests.navmesh.strategies import box, floor, mesh_of
from tests.navmesh.worlds import door, placed
from wayfold import Agent, NavMesh, World
from wayfold.geometry.shapes import Prism
from wayfold.world.choice import navmesh_settings

pytestmark = pytest.mark.kernels

angles = st.one_of(st.sampled_from([0.0, math.pi / 4, math.pi / 2, math.radians(22.5)]), st.floats(0.0, 6.3))
shifts = st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1))
wide_enough = st.sampled_from([2.25, 2.3, 2.5, 2.8, 3.2])
too_narrow = st.sampled_from([1.0, 1.7, 1.95, 1.999])


def built(mesh, agent, usual, tile):
    """A navigation mesh at the defaults of `NavMesh.build`, or at those of a world."""
    options = navmesh_settings(mesh, agent, {}) if usual else {}
    if tile:
        options["tile_size"] = tile
    return NavMesh.build(mesh, agent, workers=1, **options)


@settings(max_examples=60, deadline=None)
@given(
    angles,
    shifts,
    st.one_of(wide_enough, too_narrow),
    st.sampled_from([0.02, 0.1, 0.3, 1.0, 3.0]),
    st.sampled_from([0.15, 0.4, 0.7]),
    st.booleans(),
    st.sampled_from([None, 8, 11, 16, 33]),
)
@example(0.0, (0.0, 0.0, 0.0), 2.25, 0.2, 0.4, True, None)
@example(0.0, (0.3, -0.2, 0.0), 2.5, 3.0, 0.4, True, 11)  # tiles shorter than the corridor
@example(math.pi / 4, (0.3, -0.2, 0.0), 3.0, 3.0, 0.15, True, 8)
@example(math.pi / 4, (0.0, 0.0, 0.0), 2.25, 0.02, 0.4, False, 16)
def test_a_door_is_passed_exactly_when_the_agent_fits(angle, shift, radii, thick, radius, usual, tile):
    agent = Agent(radius=radius)
    size = thick / 2 + 8 * radius
    mesh, place = placed(door(radii * radius, thick, size), angle, shift)
    navmesh = built(mesh, agent, usual, tile)
    check_polygons(navmesh, 1.0)
    start, goal = place([(-size + 3 * radius, 1.5 * radius, 0), (size - 3 * radius, -1.5 * radius, 0)])
    path = navmesh.path(start, goal)
    assert path.found == (radii >= 2.25)
    if path:
        jambs = [(-thick / 2, -size, thick / 2, -radii * radius / 2), (-thick / 2, radii * radius / 2, thick / 2, size)]
        turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        line = shapely.LineString((path.points[:, :2] - np.array(shift[:2])) @ turn)
        near = min(line.distance(shapely.box(*jamb)) for jamb in jambs)
        # In the lane itself; farther off columns are whole, and known to half a column.
        inside = line.intersection(shapely.box(-thick / 2, -size, thick / 2, size))
        assert near > 0.6 * radius
        assert min(inside.distance(shapely.box(*jamb)) for jamb in jambs) > 0.98 * radius


@settings(max_examples=12, deadline=None)
@given(angles, shifts, st.sampled_from([3.0, 3.2]), st.sampled_from([0.02, 0.3, 3.0]), st.sampled_from([0, 16, 33]))
def test_with_columns_as_wide_as_the_radius_doors_of_three_radii_are_passed(angle, shift, radii, thick, tile):
    agent = Agent(radius=0.4)
    size = thick / 2 + 8 * agent.radius
    mesh, place = placed(door(radii * agent.radius, thick, size), angle, shift)
    options = {**navmesh_settings(mesh, agent, {}), "cell_size": agent.radius, "tile_size": tile}
    navmesh = NavMesh.build(mesh, agent, workers=1, **options)
    start, goal = place([(-size + 1.2, 0.6, 0), (size - 1.2, -0.6, 0)])
    assert navmesh.path(start, goal).found


@settings(max_examples=25, deadline=None)
@given(angles, shifts, st.sampled_from([2.25, 2.6]), st.booleans(), st.sampled_from([None, 24]))
def test_corridors_with_a_bend_are_passed(angle, shift, radii, usual, tile):
    agent = Agent(radius=0.4)
    width = radii * agent.radius
    # Two rooms joined by a corridor with two corners.
    parts = [floor(-6, -4, 6 + width, 6)]
    parts.append(box((-2, -4, -0.1), (2, 0, 3)))
    parts.append(box((-2, width, -0.1), (2 - width, 6, 3)))
    parts.append(box((2, -4, -0.1), (2 + 0.5, 3, 3)))
    parts.append(box((2 - width, 3 + width, -0.1), (2.5, 6, 3)))
    parts[1] = box((-2, -4, -0.1), (2, 0, 3))
    mesh, place = placed(mesh_of(*parts), angle, shift)
    navmesh = built(mesh, agent, usual, tile)
    start, goal = place([(-4.5, 1, 0), (4.5, 1, 0)])
    assert navmesh.path(start, goal).found


@settings(max_examples=15, deadline=None)
@given(
    angles,
    shifts,
    st.floats(0.0, 6.3),
    st.sampled_from([0.15, 0.25]),
    st.sampled_from([0.5, 0.9, 0.97, 1.05]),
    wide_enough,
    st.sampled_from([0.05, 0.4, 1.2]),
)
@example(0.3, (0.0, 0.0, 0.0), 0.0, 0.25, 0.97, 2.25, 0.05)
@example(1.1, (0.3, -0.2, 0.0), 1.6, 0.25, 0.97, 2.25, 1.2)
def test_a_step_in_a_door_on_a_slope_is_taken(angle, shift, towards, steepness, step, radii, thick):
    agent = Agent(radius=0.4, climb=0.5)
    half, rise = radii * agent.radius / 2, step * agent.climb
    parts = [box((-4, -4, -1), (0, 4, 0)), box((0, -4, -1), (4, 4, rise))]
    parts += [box((-thick / 2, -4, -0.5), (thick / 2, -half, 4)), box((-thick / 2, half, -0.5), (thick / 2, 4, 4))]
    level = mesh_of(*parts)
    gradient = steepness * np.array([math.cos(towards), math.sin(towards)])

    def sloped(points):
        points = np.array(points, float)
        points[:, 2] += points[:, :2] @ gradient
        return points

    mesh, place = placed(type(level)(sloped(level.vertices), level.triangles), angle, shift)
    navmesh = NavMesh.build(mesh, agent, workers=1, **navmesh_settings(mesh, agent, {}))
    assert navmesh.path(*place(sloped([(-2, 0, 0), (2, 0, rise)]))).found == (step <= 1.0)


def test_the_rooms_are_one_island():
    planner = World.sample("rooms").planner(Agent())
    assert len(np.unique(planner.map.components)) == 1


@pytest.mark.parametrize("angle", [0.0, 0.4])
def test_a_block_closes_a_door_and_unblock_opens_it(angle):
    mesh, place = placed(door(0.95, 0.2, 6.0), angle)
    world = World.from_mesh(mesh)
    planner = world.planner(Agent())
    ends = place([(-4, 1, 0), (4, -1, 0)])
    before = planner.path(*ends)
    assert before
    corners = place([(-0.3, -0.2, 0), (0.3, -0.2, 0), (0.3, 0.2, 0), (-0.3, 0.2, 0)])
    block = Prism(corners[:, :2], -0.5, 2.0)
    world.block(block)
    assert not planner.path(*ends)
    world.unblock(block)
    after = planner.path(*ends)
    assert after.cost == pytest.approx(before.cost)


def gaps(radius, gap, thick, kind):
    """Walls of a square world, the blocks that leave a gap in it, and the size of the world."""
    size, half = 10 * radius, thick / 2
    if kind == "two blocks":
        return [], [(-size - 1, -gap / 2), (gap / 2, size + 1)], size
    if kind == "beside a jamb":
        wide, block = 3 * radius, (-3.1 * radius, 3 * radius - gap)
    else:  # a pillar in a door, with a gap on its other side that is too narrow
        wide = (3.5 * radius + gap) / 2
        block = (1.5 * radius - wide, wide - gap)
    return [box((-half, -size, -0.1), (half, -wide, 3)), box((-half, wide, -0.1), (half, size, 3))], [block], size


def check_gap(angle, shift, radii, thick, radius, kind):
    """A gap beside a block is passed exactly when the agent fits."""
    walls, blocks, size = gaps(radius, radii * radius, thick * radius, kind)
    mesh, place = placed(mesh_of(floor(-size, -size, size, size), *walls), angle, shift)
    world = World.from_mesh(mesh, cache=False)
    planner = world.planner(Agent(radius=radius))
    ends = place([(-7 * radius, 1.5 * radius, 0), (7 * radius, -1.5 * radius, 0)])
    assert planner.path(*ends)
    half = thick * radius / 2
    for low, high in blocks:
        corners = place([(-half, low, 0), (half, low, 0), (half, high, 0), (-half, high, 0)])
        world.block(Prism(corners[:, :2], shift[2] - 0.5, shift[2] + 2.0))
    assert planner.path(*ends).found == (radii >= 2.25)


ways_to_block = st.sampled_from(["two blocks", "beside a jamb", "pillar"])
thicknesses = st.sampled_from([0.1, 0.6, 2.0, 6.0])


@settings(max_examples=12, deadline=None)
@given(
    angles, shifts, st.one_of(wide_enough, too_narrow), thicknesses, st.sampled_from([0.15, 0.4, 0.7]), ways_to_block
)
def test_a_gap_beside_a_block_is_passed_exactly_when_the_agent_fits(angle, shift, radii, thick, radius, kind):
    check_gap(angle, shift, radii, thick, radius, kind)


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(
    angles, shifts, st.one_of(wide_enough, too_narrow), thicknesses, st.sampled_from([0.15, 0.4, 0.7]), ways_to_block
)
def test_many_gaps_beside_blocks_are_passed_exactly_when_the_agent_fits(angle, shift, radii, thick, radius, kind):
    check_gap(angle, shift, radii, thick, radius, kind)


@settings(max_examples=8, deadline=None)
@given(angles, st.integers(0, 2**32 - 1))
def test_a_rebuild_beside_doors_equals_a_build(angle, seed):
    rng = np.random.default_rng(seed)
    agent = Agent(radius=0.4)
    mesh, _ = placed(door(0.92, 0.3, 8.0), angle)
    low = rng.uniform(-5, 4, 2)
    pillar, _ = placed(mesh_of(box((*low, -0.1), (*(low + rng.uniform(0.2, 1.5, 2)), 2.5))), angle)
    both = type(mesh)(
        np.concatenate([mesh.vertices, pillar.vertices]),
        np.concatenate([mesh.triangles, pillar.triangles + len(mesh.vertices)]),
    )
    options = {**navmesh_settings(mesh, agent, {}), "tile_size": 24, "bounds": mesh.bounds}
    navmesh = NavMesh.build(mesh, agent, workers=1, **options)
    changed = navmesh.changed(pillar.bounds, both, workers=1)
    whole = NavMesh.build(both, agent, workers=1, **options)
    for one, two in zip(changed.snapshot.ground, whole.snapshot.ground, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("angle", [0.0, math.pi / 2, math.pi, 0.3])
@pytest.mark.parametrize("mirrored", [False, True])
def test_nobody_walks_nearer_to_a_drop_than_the_radius_where_the_drop_is_the_side_of_columns(angle, mirrored):
    # A ramp of 2 m beside an upper floor; the columns beyond its edge only touch it.
    parts = floor(0, 0, 14, 14), floor(2, 2, 9, 11, z=3.0), floor(9, 2, 11, 9, z=3.0, rise=-3.0)
    mesh, place = placed(mesh_of(*parts), angle, mirrored=mirrored)
    navmesh = NavMesh.build(mesh, Agent(0.4, 1.8, 0.4, 45), cell_size=0.25, workers=1)
    assert navmesh.path(*place([(12, 12, 0), (5, 5, 3)]))
    points = navmesh.random_points(4000, seed=1)
    x = points[:, 0] * math.cos(angle) + points[:, 1] * math.sin(angle)
    on_it = points[:, 2] > 0.6
    assert on_it.sum() > 100
    assert (x * (-1 if mirrored else 1))[on_it].max() <= 11 - 0.4 + 0.02
