"""The judge of paths is judged: it accepts what is plainly legal, and rejects what is plainly not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests import legality, naive_triangles
from tests.legality import ADHESIVE, SURFACE, VOLUMETRIC, Level, Voxels
from tests.waypoints.worlds import box, ground
from wayfold import Agent, Motion

WALKER = Agent(radius=0.4, height=1.8, climb=0.5, slope=45.0)
FINE = Voxels(cell=0.05, height=0.05)
SPIDER = Agent(radius=0.25, height=0.5, climb=0.25, slope=45.0, motions=Motion.SURFACE | Motion.ADHESIVE)
BIRD = Agent(radius=0.3, height=1.0, motions=Motion.VOLUMETRIC)


def level(*meshes, solids=()):
    return Level(np.concatenate([ground().corners, *(mesh.corners for mesh in meshes)]), solids)


def ramp(steepness, low=10.0, high=14.0):
    """A quad that rises along x, over the ground."""
    top = (high - low) * math.tan(math.radians(steepness))
    a, b, c, d = (low, 0, 0), (high, 0, top), (high, 40, top), (low, 40, 0)
    return Level(np.array([*_square(0, low), (a, b, c), (a, c, d), *_square(high, 40, top)], float)), top


def _square(first, last, z=0.0):
    a, b, c, d = (first, 0, z), (last, 0, z), (last, 40, z), (first, 40, z)
    return [(a, b, c), (a, c, d)]


def kinds(found):
    return {violation.what for violation in found}


def walk(world, *points, agent=WALKER, voxels=FINE, **options):
    return kinds(legality.walk(world, agent, np.array(points, float), voxels, **options))


def move(world, agent, motions, *points):
    return kinds(legality.move(world, agent, np.array(points, float), int(motions)))


# --- walking ---------------------------------------------------------------------------------------------------------


def test_a_straight_walk_over_open_ground_is_legal():
    assert walk(level(), (5, 5, 0), (35, 35, 0)) == set()


def test_a_walk_through_a_wall_is_not():
    wall = box((20, 0, -1), (20.5, 40, 3))
    found = legality.walk(level(wall), WALKER, [(5, 5, 0), (35, 5, 0)], FINE)
    assert {"clearance", "step"} & kinds(found)
    assert min(abs(violation.where[0] - 20) for violation in found) < 1


def test_a_walk_around_the_wall_is_legal_as_far_from_it_as_the_radius_and_not_much_nearer():
    world = level(box((20, 0, -1), (20.5, 20, 3)))
    around = lambda gap: ((5, 5, 0), (20 - gap, 20 + gap, 0), (20.5 + gap, 20 + gap, 0), (35, 5, 0))  # noqa: E731
    assert walk(world, *around(0.41)) == set()
    near = FINE.clearance(WALKER.radius)
    assert 0.25 < near < 0.4
    assert walk(world, (18, 10, 0), (20 - near + 0.02, 10, 0)) == {"clearance"}
    assert walk(world, (18, 10, 0), (20 - near - 0.02, 10, 0)) == set()


def test_a_fence_without_thickness_is_a_wall():
    fence = [((20, 0, 0), (20, 40, 0), (20, 40, 2)), ((20, 0, 0), (20, 40, 2), (20, 0, 2))]
    world = Level(np.concatenate([ground().corners, np.array(fence, float)]))
    assert walk(world, (5, 5, 0), (35, 5, 0)) == {"clearance"}
    assert walk(world, (5, 5, 0), (19.5, 5, 0)) == set()


def test_a_wall_that_nobody_steps_over_is_one_even_if_it_is_lower_than_the_walker():
    world = level(box((20, 0, -1), (20.5, 40, 0.9)))
    assert "clearance" in walk(world, (5, 5, 0), (19.9, 5, 0))
    assert walk(world, (5, 5, 0), (19.5, 5, 0)) == set()


@pytest.mark.parametrize(("height", "legal"), [(0.45, True), (0.8, False)])
def test_kerbs_are_stepped_over_up_to_the_climb(height, legal):
    world = level(box((20, 0, -1), (20.5, 40, height)))
    assert (walk(world, (5, 5, 0), (35, 5, 0)) == set()) == legal


def test_stairs_are_legal_though_their_risers_are_steep():
    stairs = [box((10 + 0.3 * k, 0, -1), (40, 40, 0.2 * (k + 1))) for k in range(20)]
    assert walk(level(*stairs), (5, 5, 0), (9.5, 5, 0), (16.5, 5, 4), (30, 5, 4)) == set()


def test_a_drop_deeper_than_the_climb_is_not():
    world = Level(np.array([*_square(0, 20, 2.0), *_square(20, 40, 0.0)], float))
    assert walk(world, (5, 5, 2), (35, 5, 0)) == {"step"}


def test_where_the_world_ends_there_is_no_ground():
    assert "no ground" in walk(level(), (5, 5, 0), (45, 5, 0))


def test_a_hole_wider_than_a_column_is_no_ground():
    world = Level(np.array([*_square(0, 20), *_square(21, 40)], float))
    assert walk(world, (5, 5, 0), (35, 5, 0)) == {"no ground"}
    crack = Level(np.array([*_square(0, 20), *_square(20.04, 40)], float))
    assert walk(crack, (5, 5, 0), (35, 5, 0)) == set()


@pytest.mark.parametrize(("steepness", "legal"), [(30, True), (44.5, True), (50, False), (70, False)])
def test_ramps_are_walked_up_to_the_steepest_slope(steepness, legal):
    world, top = ramp(steepness)
    assert (walk(world, (5, 5, 0), (10, 5, 0), (14, 5, top), (30, 5, top)) == set()) == legal


def test_a_short_steep_edge_is_a_step():
    world, top = ramp(60, 10.0, 10.2)
    assert top < WALKER.climb
    assert walk(world, (5, 5, 0), (10, 5, 0), (10.2, 5, top), (30, 5, top), voxels=Voxels(0.2, 0.1)) == set()


@pytest.mark.parametrize(("ceiling", "legal"), [(1.9, True), (1.7, False), (1.0, False)])
def test_ceilings_are_higher_than_the_walker(ceiling, legal):
    world = level(box((10, 0, ceiling), (20, 40, ceiling + 1)))
    assert (walk(world, (5, 5, 0), (30, 5, 0)) == set()) == legal


@pytest.mark.parametrize(("gap", "legal"), [(0.9, True), (0.5, False), (0.1, False)])
def test_gaps_are_as_wide_as_the_walker(gap, legal):
    one, two = box((20, 0, -1), (20.5, 10 - gap / 2, 3)), box((20, 10 + gap / 2, -1), (20.5, 40, 3))
    assert (walk(level(one, two), (5, 10, 0), (35, 10, 0)) == set()) == legal


def test_a_corner_above_or_below_the_ground_is_off_it():
    assert walk(level(), (5, 5, 0), (20, 5, 1.0), (35, 5, 0)) == {"off the ground"}
    assert walk(level(), (5, 5, 0), (20, 5, -1.0), (35, 5, 0)) == {"off the ground"}


def test_draped_paths_follow_the_ground_between_their_corners_too():
    world, top = ramp(30)
    line = (5, 5, 0), (30, 5, top)
    assert walk(world, *line) == set()
    assert walk(world, *line, draped=True) == {"off the ground"}
    assert walk(world, (5, 5, 0), (10, 5, 0), (14, 5, top), (30, 5, top), draped=True) == set()


def test_a_path_on_another_floor_than_it_says_is_off_the_ground():
    upper = Level(np.concatenate([ground().corners, ground(z=3.0).corners]))
    assert walk(upper, (5, 5, 0), (20, 5, 0), (30, 5, 0)) == set()
    assert walk(upper, (5, 5, 0), (20, 5, 3), (30, 5, 3)) == {"off the ground"}


def test_closed_ground_is_none():
    squares = np.array([*_square(0, 20), *_square(20, 40)], float)
    assert walk(Level(squares), (5, 5, 0), (35, 5, 0)) == set()
    assert walk(Level(squares, closed=[False, False, True, True]), (5, 5, 0), (35, 5, 0)) == {"slope"}
    assert walk(Level(squares, closed=[False, False, True, True]), (5, 5, 0), (18, 5, 0)) == set()


@given(
    low=st.tuples(*[st.floats(2, 30)] * 2),
    size=st.tuples(*[st.floats(0.2, 8)] * 2),
    line=st.tuples(*[st.floats(1, 39)] * 4),
)
def test_a_walk_past_a_block_is_legal_exactly_when_the_line_keeps_its_distance(low, size, line):
    import shapely

    block = np.array([*low, -1.0]), np.array([low[0] + size[0], low[1] + size[1], 3.0])
    a, b = np.array([*line[:2], 0.0]), np.array([*line[2:], 0.0])
    away = shapely.LineString([a[:2], b[:2]]).distance(shapely.box(*block[0][:2], *block[1][:2]))
    # Chords between samples may pass nearer than the samples.
    near = FINE.clearance(WALKER.radius)
    found = walk(level(solids=[block]), a, b)
    if away > near:
        assert found == set()
    elif away < math.sqrt(near**2 - 0.05**2) - 1e-3:
        assert found


def test_clearance_follows_from_the_columns():
    # A radius of two columns: squares two apart, or diagonally one and one, less the rim's error.
    assert Voxels(0.3, 0.2).clearance(0.6) == pytest.approx(0.3 * (math.sqrt(2) - 1.3))
    assert Voxels(0.3, 0.2, error=0.5).clearance(0.3) == 0.0
    assert Voxels(0.001, 0.1).clearance(0.4) == pytest.approx(0.36, abs=0.01)
    assert Voxels(0.3, 0.2).clearance(0.0) == 0.0


# --- blocks ----------------------------------------------------------------------------------------------------------


def test_nobody_walks_through_a_block_but_on_a_low_one():
    block = (15, 2, -1), (25, 8, 2)
    assert "in a block" in walk(level(solids=[block]), (5, 5, 0), (35, 5, 0))
    assert walk(level(solids=[block]), (5, 9, 0), (35, 9, 0)) == set()
    assert walk(level(solids=[((15, 2, -1), (25, 8, 0.3))]), (5, 5, 0), (35, 5, 0)) == set()


def test_a_prism_blocks_what_is_over_its_polygon_and_not_what_is_over_its_box():
    corner = [(10, 0), (30, 0), (30, 20)], -1.0, 3.0
    assert "in a block" in walk(level(solids=[corner]), (5, 5, 0), (35, 5, 0))
    assert walk(level(solids=[corner]), (5, 5, 0), (12, 15, 0), (28, 25, 0)) == set()


def test_a_block_that_hovers_at_head_height_is_in_the_way():
    assert walk(level(solids=[((15, 2, 1.2), (25, 8, 2))]), (5, 5, 0), (35, 5, 0)) & {"height", "in a block"}
    assert walk(level(solids=[((15, 2, 2.2), (25, 8, 3))]), (5, 5, 0), (35, 5, 0)) == set()


def test_nobody_flies_through_the_hollow_of_a_block():
    world = level(solids=[((0, 0, 10), (40, 40, 20))])
    assert move(world, BIRD, VOLUMETRIC, (10, 10, 15), (30, 30, 15)) == {"in a block"}


# --- moving through space --------------------------------------------------------------------------------------------


def test_a_flight_keeps_its_radius_and_height_free():
    world = level(box((20, 0, -1), (21, 40, 3)), box((0, 20, 8), (40, 40, 9)))
    over = (5, 5, 2), (19, 5, 4), (22, 5, 4), (35, 5, 2)
    assert move(world, BIRD, VOLUMETRIC, *over) == set()
    assert move(world, BIRD, VOLUMETRIC, over[0], over[-1]) == {"clearance"}
    assert move(world, BIRD, VOLUMETRIC, (5, 5, 3.2), (35, 5, 3.2)) == {"clearance"}
    tall = Agent(radius=0.3, height=2.0, climb=0.0, motions=Motion.VOLUMETRIC)
    assert move(world, tall, VOLUMETRIC, (5, 30, 6.0), (35, 30, 6.0)) == set()
    assert move(world, tall, VOLUMETRIC, (5, 30, 6.8), (35, 30, 6.8)) == {"height"}


def test_a_climb_up_a_wall_holds_on_to_it():
    world = level(box((20, 0, -1), (22, 40, 6)))
    beside, off = 20 - 0.35, 0.255
    up = (15, 5, off), (beside, 5, off), (beside, 5, 0.9), (beside, 5, 5.5)
    assert move(world, SPIDER, SURFACE | ADHESIVE, *up) == set()
    assert move(world, SPIDER, SURFACE, *up) == {"no ground"}
    away = (15, 5, off), (18, 5, off), (18, 5, 5.5)
    assert move(world, SPIDER, SURFACE | ADHESIVE, *away) & {"nothing to hold on to", "no ground"}
    through = (19.65, 5, 3), (22.35, 5, 3)
    assert "clearance" in move(world, SPIDER, SURFACE | ADHESIVE, *through)


def test_a_block_gives_no_hold_and_takes_none():
    wall = box((20, 0, -1), (22, 40, 6))
    up = (19.65, 5, 2), (19.65, 5, 5)
    assert move(level(wall), SPIDER, ADHESIVE, *up) == set()
    # A block whose top passes below, nearer than the wall.
    assert move(level(wall, solids=[((18, 0, -1), (19.9, 40, 1.7))]), SPIDER, ADHESIVE, *up) == set()
    assert move(level(solids=[((20, 0, -1), (22, 40, 6))]), SPIDER, ADHESIVE, *up) == {"nothing to hold on to"}


def test_a_long_way_over_a_roof_is_no_climb():
    world = level(box((10, 10, -1), (30, 30, 6)))
    steep = Agent(radius=0.25, height=0.5, climb=0.25, slope=45.0, motions=Motion.ADHESIVE)
    assert move(world, steep, ADHESIVE, (10.3, 20, 6.4), (29.7, 20, 6.4)) == {"nearest surface faces up"}
    # Under a ceiling one clings.
    assert move(level(box((10, 10, 4), (30, 30, 6))), steep, ADHESIVE, (12, 20, 3.65), (28, 20, 3.65)) == set()


def test_a_walk_of_a_body_needs_ground_that_is_gentle_and_near():
    walker = SPIDER
    lift = 0.255
    assert move(level(), walker, SURFACE, (5, 5, lift), (35, 5, lift)) == set()
    assert move(level(), walker, SURFACE, (5, 5, lift + 1), (35, 5, lift + 1)) == {"no ground"}
    assert "no ground" in move(level(), walker, SURFACE, (5, 5, lift), (45, 5, lift))
    # Holes are stepped over when they are narrower than a radius.
    for hole, legal in ((0.15, True), (0.9, False)):
        world = Level(np.array([*_square(0, 20), *_square(20 + hole, 40)], float))
        assert (move(world, walker, SURFACE, (5, 5, lift), (35, 5, lift)) == set()) == legal
    world, _ = ramp(60)
    # As high above a slope as the radius asks for, which is within a step of a walker's height.
    line = [(x, 5, (x - 10) * math.tan(math.radians(60)) + 0.503) for x in (10.6, 13.7)]
    assert move(world, walker, SURFACE, *line) == {"slope"}


@given(
    points=st.lists(st.tuples(*[st.floats(-3, 3)] * 3), min_size=1, max_size=4),
    corners=st.lists(st.tuples(*[st.floats(-2, 2)] * 9), min_size=1, max_size=3),
)
def test_distances_from_triangles_are_those_of_trimesh(points, corners):
    import trimesh

    places, triangles = np.array(points), np.array(corners).reshape(-1, 3, 3)
    sides = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    triangles = triangles[np.linalg.norm(sides, axis=1) > 1e-3]
    if len(triangles):
        away, where = naive_triangles.nearest(places, triangles)
        for at, place in enumerate(places):
            wanted = trimesh.triangles.closest_point(triangles, np.repeat(place[None], len(triangles), axis=0))
            np.testing.assert_allclose(away[at], np.linalg.norm(wanted - place, axis=1), atol=1e-6)
            np.testing.assert_allclose(np.linalg.norm(where[at] - place, axis=1), away[at], atol=1e-9)


@given(
    points=st.lists(st.tuples(*[st.floats(-3, 3)] * 3), min_size=1, max_size=4),
    corners=st.tuples(*[st.floats(-2, 2)] * 9),
    low=st.floats(-2, 1),
)
@example([(0.0, 0.0, 0.0)], (0.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0), 2.2250738585e-313)
@example([(0.0, 0.0, 0.0)], (1.0, 0.0, 0.0, 0.0, 1.0, 2.327692815111419e-12, 0.0, 0.0, 0.0), 0.0)
def test_distances_beside_triangles_are_those_of_many_points_on_them(points, corners, low):
    triangle, places = np.array(corners).reshape(1, 3, 3), np.array(points)
    if np.linalg.norm(np.cross(triangle[0, 1] - triangle[0, 0], triangle[0, 2] - triangle[0, 0])) < 1e-3:
        return
    grid = np.linspace(0, 1, 120)
    u, v = (part.ravel() for part in np.meshgrid(grid, grid))
    u, v = u[u + v <= 1], v[u + v <= 1]
    a, b, c = triangle[0]
    on = a + u[:, None] * (b - a) + v[:, None] * (c - a)
    # Not by rounding alone: points that are surely at the height bound the distance from above, those that may be from
    # below.
    on, near = (on[(on[:, 2] >= low + hair) & (on[:, 2] <= low + 1 - hair)] for hair in (1e-12, -1e-12))
    away = naive_triangles.beside(places, np.full(len(places), low), np.full(len(places), low + 1), triangle)[:, 0]
    for at, place in enumerate(places):
        if len(on):
            assert away[at] <= np.linalg.norm(on[:, :2] - place[:2], axis=1).min() + 1e-6
            fine = np.abs(triangle[0] - np.roll(triangle[0], 1, axis=0)).max() / 119
            least = np.linalg.norm(near[:, :2] - place[:2], axis=1).min()
            assert away[at] >= least - 8 * fine or not len(near) > 200
