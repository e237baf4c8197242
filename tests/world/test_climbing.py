"""A climber gets from the floor onto whatever stands on it and over it, wherever it stands and however it is turned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.world.judging import level_of, violations
from tests.world.levels import EVERYBODY
from wayfold import Box, Mesh, World

SPIDER = EVERYBODY["spider"]
STAND = 0.255  # a spider's middle above the ground that it stands on

lengths = st.one_of(st.integers(2, 8).map(lambda half: half / 2), st.floats(1.0, 4.0).map(lambda x: round(x, 3)))
heights = st.one_of(st.integers(1, 10).map(float), st.floats(1.0, 10.0).map(lambda x: round(x, 3)))
shares = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.floats(0.0, 1.0))
floors = st.sampled_from([(12.0, 12.0), (20.0, 20.0), (20.0, 10.0), (30.0, 12.0)])
turns = st.one_of(st.just(0.0), st.sampled_from([1.0, 30.0, 45.0, 90.0]), st.floats(0.0, 90.0))
thicknesses = st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 2.0])
several = settings(max_examples=25, suppress_health_check=list(HealthCheck))


def turned(points, angle):
    """Points turned around the vertical by so many degrees."""
    cosine, sine = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    return np.asarray(points, float) @ np.array([[cosine, sine, 0], [-sine, cosine, 0], [0, 0, 1]])


def climbed(floor, low, high, angle, start, goal):
    """A legal path of a spider between two places of a floor with a box on it."""
    mesh = Mesh.concatenate([Box((0, 0, -1), (*floor, 0)).mesh(), Box(low, high).mesh()])
    world = World.from_mesh(Mesh(turned(mesh.vertices, angle), mesh.triangles), cache=False)
    planner, level = world.planner(SPIDER), level_of(world)
    path = planner.path(*(planner.nearest(turned(place, angle)) for place in (start, goal)))
    assert path.found
    for points in (path.points, path.smooth().points):
        assert [str(violation) for violation in violations(level, planner, points)] == []
    return path


@several
@given(floors, lengths, lengths, heights, shares, shares, turns)
@example((20.0, 20.0), 2.0, 2.0, 2.0, 0.5, 0.5, 0.0)
@example((20.0, 20.0), 2.0, 2.0, 1.0, 0.5, 0.5, 1.0)
def test_a_climber_gets_from_the_floor_to_the_top_of_a_box(floor, width, depth, height, x, y, angle):
    left, front = 1.5 + x * (floor[0] - 3.0 - width), 1.5 + y * (floor[1] - 3.0 - depth)
    high = left + width, front + depth, height
    top = left + width / 2, front + depth / 2, height + STAND
    path = climbed(floor, (left, front, 0), high, angle, (0.6, 0.6, STAND), top)
    assert path.points[:, 2].max() >= height + STAND - 0.01


@several
@given(floors, thicknesses, heights, shares, turns)
@example((20.0, 10.0), 0.2, 3.0, 0.44, 0.0)
@example((20.0, 20.0), 0.2, 7.0, 0.5, 0.0)
@example((20.0, 10.0), 0.7, 2.688, 1.0, 45.0)
@example((20.0, 20.0), 2.0, 1.0, 0.599609375, 0.0)
def test_a_climber_gets_over_a_wall_from_one_side_to_the_other(floor, thickness, height, x, angle):
    left, middle = 2.0 + x * (floor[0] - 4.0 - thickness), floor[1] / 2
    high = left + thickness, floor[1], height
    start, goal = (0.6, middle, STAND), (floor[0] - 0.6, middle, STAND)
    climbed(floor, (left, 0, 0), high, angle, start, goal)


@several
@given(floors, heights, shares, turns, st.floats(0.2, 0.8))
@example((12.0, 12.0), 3.0, 0.0, 0.0, 0.5)
def test_a_climber_gets_from_the_floor_onto_a_wall(floor, height, x, angle, share):
    left, middle = x * (floor[0] - 3.0), floor[1] / 2
    goal = left + 0.46, middle, share * height + 0.3
    climbed(floor, (left, 0, 0), (left + 0.2, floor[1], height), angle, (floor[0] - 0.6, middle, STAND), goal)


@pytest.mark.parametrize("size", [2.5, 3.0, 4.0, 5.0, 8.0])
@pytest.mark.parametrize("height", [1.0, 2.0, 3.5, 10.0])
def test_a_climber_gets_onto_a_box_whatever_the_size_of_regions(size, height):
    mesh = Mesh.concatenate([Box((0, 0, -1), (20, 20, 0)).mesh(), Box((9, 9, 0), (11, 11, height)).mesh()])
    planner = World.from_mesh(mesh, cache=False).planner(SPIDER, region_size=size)
    assert planner.path((3, 3, STAND), (10, 10, height + STAND)).found


def test_a_climber_does_not_go_under_water():
    sides = [((0, 0), (8, 10)), ((14, 0), (22, 10)), ((0, -3), (22, 0)), ((0, 10), (22, 13))]
    basin = [Box((*low, -4), (*high, 0)).mesh() for low, high in sides]
    basin.append(Mesh([(8, 0, -3), (14, 0, -3), (14, 10, -3), (8, 10, -3)], [(0, 1, 2), (0, 2, 3)]))
    dry = Mesh.concatenate(basin)
    level = [(8, 0, -1), (14, 0, -1), (14, 10, -1), (8, 10, -1)]
    water = Mesh(level, [(0, 1, 2), (0, 2, 3)], [1, 1], ("ground", "water"))
    ground = Mesh(dry.vertices, dry.triangles, np.zeros(len(dry), int), ("ground", "water"))
    for mesh, dives in ((ground, True), (Mesh.concatenate([ground, water]), False)):
        planner = World.from_mesh(mesh, cache=False).planner(SPIDER)
        land, bottom = planner.nearest((4, 5, STAND)), planner.nearest((11, 5, -3 + STAND))
        assert planner.reachable(land, bottom) == dives


def hall(kind, width, height, share):
    """A world with a ceiling to hang from, where somebody stands in it and a place below the ceiling."""
    below = height - 0.355
    if kind == "room":
        shell = Box((0, 0, 0), (width, width + 1, height)).mesh()
        return Mesh(shell.vertices, shell.triangles[:, ::-1]), (1.0, 1.0, STAND), (share * width, width / 2, below)
    ground = Box((-5, -4, -1), (width + 8, 12, 0)).mesh()
    parts = [ground, Box((0, 0, 0), (1, 4, height)).mesh(), Box((0, 0, height), (width + 2, 4, height + 0.5)).mesh()]
    if kind == "arch":
        parts.append(Box((width + 1, 0, 0), (width + 2, 4, height)).mesh())
    return Mesh.concatenate(parts), (-3.0, 5.0, STAND), (1 + share * width, 2.0, below)


@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(["room", "overhang", "arch"]), st.floats(4.0, 12.0), st.floats(2.0, 8.0), turns, st.floats(0.3, 0.7)
)
@example("room", 8.0, 6.0, 0.0, 0.5)
@example("room", 5.0, 5.5, 47.0, 0.3)
@example("overhang", 6.0, 4.0, 17.3, 0.7)
@example("arch", 6.0, 3.0, 45.0, 0.5)
@example("overhang", 5.53125, 5.53125, 0.0, 0.375)
def test_a_climber_gets_to_the_ceiling_and_back(kind, width, height, angle, share):
    mesh, floor, below = hall(kind, width, height, share)
    world = World.from_mesh(Mesh(turned(mesh.vertices, angle), mesh.triangles), cache=False)
    planner, level = world.planner(SPIDER), level_of(world)
    floor, below = turned(floor, angle), turned(below, angle)
    for start, goal in ((floor, below), (below, floor)):
        path = planner.path(start, goal)
        assert path.found
        for points in (path.points, path.smooth().points):
            assert [str(violation) for violation in violations(level, planner, points)] == []
