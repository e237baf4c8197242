"""A step is at most the climb, to a thousandth of it, wherever steps and lattice lie."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.navmesh.strategies import box, floor, mesh_of
from tests.navmesh.worlds import house, placed, stairs
from wayfold import Agent, NavMesh
from wayfold.errors import GeometryError
from wayfold.world.choice import navmesh_settings

pytestmark = pytest.mark.kernels

angles = st.one_of(st.sampled_from([0.0, math.pi / 4, math.pi / 2, 3.0]), st.floats(0.0, 6.3))
shifts = st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(-5, 5))


def options(mesh, agent, usual):
    return navmesh_settings(mesh, agent, {}) if usual else {}


@settings(max_examples=60, deadline=None)
@given(
    angles,
    shifts,
    st.lists(st.sampled_from([0.05, 0.3, 0.7, 0.95, 1.0]), min_size=1, max_size=5),
    st.sampled_from([None, 1.01, 1.1, 1.25, 1.4]),
    st.integers(0, 4),
    st.sampled_from([0.5, 0.3, 0.23]),
    st.sampled_from([0.25, 0.6, 1.3]),
    st.booleans(),
    st.sampled_from([None, 17]),
)
@example(0.0, (0.0, 0.0, 0.0), [1.0, 1.0, 1.0], None, 0, 0.5, 0.25, False, None)
@example(0.0, (0.0, 0.0, 0.1), [1.0], 1.01, 0, 0.5, 1.3, True, None)
def test_stairs_are_climbed_exactly_when_no_step_is_higher_than_the_climb(
    angle, shift, rises, high, at, climb, tread, usual, tile
):
    agent = Agent(radius=0.3, climb=climb)
    levels = [climb * rise for rise in rises]
    if high is not None:
        levels[at % len(levels)] = climb * high
    mesh, top = stairs(levels, tread, 3.0)
    mesh, place = placed(mesh, angle, shift)
    more = options(mesh, agent, usual)
    if tile:
        more["tile_size"] = tile
    navmesh = NavMesh.build(mesh, agent, workers=1, min_region=0.1, **more)
    end = len(levels) * tread + 2.0
    start, goal = place([(-2.0, 0, 0), (end, 0, top)])
    assert navmesh.path(start, goal).found == (high is None)


@settings(max_examples=25, deadline=None)
@given(angles, shifts, st.floats(5, 44), st.sampled_from([0.5, 0.1, 0.02]), st.sampled_from([0.4, 0.2]))
def test_a_slope_that_the_agent_may_walk_is_no_step(angle, shift, steepness, climb, radius):
    agent = Agent(radius=radius, climb=climb)
    rise = 4 * math.tan(math.radians(steepness))
    flat = floor(-3, -4, 3, 0), floor(-3, 0, 3, 4, rise=rise), floor(-3, 4, 3, 8, z=rise)
    mesh, place = placed(mesh_of(*flat), angle, shift)
    navmesh = NavMesh.build(mesh, agent, workers=1, **options(mesh, agent, True))
    start, goal = place([(0, -2, 0), (0, 6, rise)])
    assert navmesh.path(start, goal)


@settings(max_examples=40, deadline=None)
@given(angles, shifts, st.floats(5, 40), st.sampled_from([0.3, 0.8, 0.9, 1.1, 1.25, 1.4]), st.floats(0.02, 0.38))
@example(0.0, (0.0, 0.0, 0.0), 25.6, 1.16, 0.1985)
def test_what_of_a_slope_is_buried_under_a_platform_is_nothing_to_step_up_from(angle, shift, steepness, high, inside):
    """A slope goes on inside of a platform that stands across it: one steps up where the platform begins."""
    agent = Agent(radius=0.4, climb=0.5)
    tangent = math.tan(math.radians(steepness))
    slope = floor(-3, -4, 3, 4, z=-8 * tangent, rise=8 * tangent)
    top = agent.climb * high - inside * tangent
    platform = box((-3.5, 4 - inside, -8 * tangent - 1), (3.5, 9, top))
    mesh, place = placed(mesh_of(slope, platform), angle, shift)
    navmesh = NavMesh.build(mesh, agent, workers=1, **options(mesh, agent, True))
    start, goal = place([(0, -2, -6 * tangent), (0, 7, top)])
    assert navmesh.path(start, goal).found == (high <= 1.0)


def plane(x0, x1, half, z, gradient):
    """A sloping rectangle from x0 to x1, `half` to both sides of y = 0, at height z above the origin."""
    corners = [(x0, -half), (x1, -half), (x1, half), (x0, half)]
    points = [(x, y, z + gradient[0] * x + gradient[1] * y) for x, y in corners]
    return np.array(points), np.array([(0, 1, 2), (0, 2, 3)])


gradients = st.one_of(st.just((0.0, 0.0)), st.tuples(st.floats(-0.65, 0.65), st.sampled_from([0.0, 0.1, -0.3])))


@settings(max_examples=60, deadline=None)
@given(
    angles,
    shifts,
    gradients,
    gradients,
    st.sampled_from([0.5, 0.9, 0.97, 1.03, 1.1, 1.3, 2.0]),
    st.sampled_from([0.5, 0.25, 0.1]),
    st.sampled_from([1.5, 3.0]),
    st.booleans(),
)
@example(1.24, (0.1, 0.2, 0.3), (-0.68, 0.0), (0.0, 0.0), 1.27, 0.5, 3.0, True)
def test_a_step_between_slopes_is_as_high_as_it_is_where_they_meet(angle, shift, near, far, high, climb, half, upwards):
    far = (far[0], near[1])  # so that the step is as high everywhere
    agent = Agent(radius=0.4, climb=climb)
    rise = climb * high if upwards else -climb * high
    low, up = plane(-4, 0, half, 0.0, near), plane(0, 4, half, rise, far)
    side = np.array([low[0][1], low[0][2], up[0][3], up[0][0]])
    wall = side, np.array([(0, 1, 2), (0, 2, 3), (0, 2, 1), (0, 3, 2)])
    mesh, place = placed(mesh_of(low, up, wall), angle, shift)
    navmesh = NavMesh.build(mesh, agent, workers=1, **options(mesh, agent, True))
    start, goal = place([(-2, 0, -2 * near[0]), (2, 0, rise + 2 * far[0])])
    assert navmesh.path(start, goal).found == (high <= 1.0)


def test_ground_that_is_too_small_to_be_kept_is_no_ground():
    mesh = mesh_of(plane(-0.6, 0.6, 0.6, 0.0, (0.0, 0.0)))
    with pytest.raises(GeometryError, match="no ground"):
        NavMesh.build(mesh, Agent(radius=0.4))


@pytest.mark.parametrize("radius", [0.1, 0.25, 0.4])
@settings(max_examples=12, deadline=None)
@given(angles, shifts, st.booleans(), st.booleans())
@example(0.0, (0.0, 0.0, 0.0), False, False)
@example(math.pi / 4, (0.0, 0.0, 0.0), True, True)
def test_both_floors_of_a_house_are_joined_by_its_stairs(radius, angle, shift, mirrored, usual):
    mesh, places = house()
    mesh, place = placed(mesh, angle, shift, mirrored)
    agent = Agent(radius=radius)
    navmesh = NavMesh.build(mesh, agent, workers=1, **options(mesh, agent, usual))
    low, high, far = place(places)
    assert navmesh.path(low, high)
    assert navmesh.path(far, low)
    assert np.unique(navmesh.components[navmesh.locate([low, high, far])]).size == 1


@settings(max_examples=40, deadline=None)
@given(
    angles,
    shifts,
    st.booleans(),
    st.sampled_from([0.2, 0.3, 0.4, 0.5]),
    st.floats(2.4, 3.5),
    st.integers(14, 18),
    st.floats(0.26, 0.3),
    st.floats(3.2, 3.6),
)
@example(math.radians(20), (0.0, 0.0, 0.0), False, 0.4, 2.5, 15, 0.28, 3.0)  # a step that is too high from afar
@example(math.radians(60), (0.0, 0.0, 0.0), False, 0.4, 3.0, 15, 0.28, 3.0)  # a rim beside a step
@example(math.radians(45), (0.0, 0.0, 0.0), False, 0.4, 2.5, 15, 0.28, 3.0)  # a drop that is a step of the stairs
@example(math.radians(75), (0.0, 0.0, 0.0), False, 0.4, 2.5, 15, 0.28, 3.0)  # a low ceiling beside a ledge
@example(math.radians(35), (0.0, 0.0, 0.0), True, 0.4, 3.0, 15, 0.28, 3.0)  # a lane above itself
@example(2.5, (0.0, 0.0, 0.0), False, 0.4, 2.4375, 14, 0.28125, 3.5625)  # steps beside a ledge under the upper floor
def test_a_flight_of_box_steps_is_climbed_through_an_opening_of_its_size(
    angle, shift, mirrored, radius, breadths, steps, tread, storey
):
    mesh, places = house(breadths * radius, steps, tread, storey)
    mesh, place = placed(mesh, angle, shift, mirrored)
    agent = Agent(radius=radius)
    low, high, far = place(places)
    navmesh = NavMesh.build(mesh, agent, workers=1, **options(mesh, agent, True))
    assert navmesh.path(low, high)
    assert navmesh.path(far, low)
