"""Openings that several blocks leave between them: found as where walls leave them, whatever the order of the edits."""

from __future__ import annotations

import numpy as np
import pytest

from tests.draws import seeds
from tests.waypoints.openings import LAYOUTS, hollow, slabs, to_box, walled
from tests.waypoints.worlds import box
from tests.world.judging import scaled
from tests.world.levels import BIRD, SPIDER
from wayfold import Agent, Box, Mesh, Motion, World
from wayfold.agent import ALL_MOTIONS
from wayfold.errors import OffMapError

pytestmark = pytest.mark.kernels


def draw(seed, low, high, layout=None, far=None):
    """A room with blocks that leave an opening of so many radii, for a bird of one size or another."""
    rng = np.random.default_rng(seed)
    units = rng.choice([0.01, 0.7, 1.0, 2.5])
    opening = low if rng.random() < 0.4 else rng.uniform(low, high)
    return walled(rng, BIRD.radius * units, opening, layout, far), scaled(BIRD, units), rng


def blocked(room, bird):
    world = World.from_mesh(room.mesh, cache=False)
    planner = world.planner(bird)
    for block in room.blocks:
        world.block(block)
    return world, planner


def check_found(room, planner):
    """There is a way, and no place of it is nearer to a block or a side of the room than the radius."""
    path = planner.path(room.start, room.goal, exact=True)
    assert path.found, planner.path(room.start, room.goal).why
    assert planner.reachable(room.start, room.goal)
    for points in (path.points, path.smooth().points, planner.path(room.start, room.goal).points):
        assert room.clearance(points) >= planner.agent.radius * (1 - 1e-6)


def placed(planner):
    """All waypoints that somebody can be at, in an order of their own, and the number of edges."""
    points = planner.map.points[planner.map.usable(planner.agent.motions)]
    return points[np.lexsort(points.T)], planner.map.num_edges


def check_same(planner, other):
    np.testing.assert_array_equal(placed(planner)[0], placed(other)[0])
    assert placed(planner)[1] == placed(other)[1]


@seeds(12)
def test_openings_between_blocks_are_found(seed):
    room, bird, _ = draw(seed, 2.5, 6.0)
    check_found(room, blocked(room, bird)[1])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(500))
def test_five_hundred_openings_between_blocks_are_found(seed):
    room, bird, _ = draw(30_000 + seed, 2.5, 6.0)
    check_found(room, blocked(room, bird)[1])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_openings_of_every_kind_are_found(layout):
    for seed in range(2):
        room, bird, _ = draw(seed, 2.5, 2.5, layout)
        check_found(room, blocked(room, bird)[1])


def test_openings_far_from_the_origin_are_found():
    room, bird, _ = draw(1, 2.5, 3.0, "hole", 3e6)
    check_found(room, blocked(room, bird)[1])


@pytest.mark.parametrize("motions", [Motion.SURFACE | Motion.VOLUMETRIC, ALL_MOTIONS])
@pytest.mark.parametrize("seed", range(4))
def test_flyers_that_also_walk_or_climb_find_openings_between_blocks(seed, motions):
    room, bird, _ = draw(seed, 2.5, 4.0)
    agent = Agent(bird.radius, bird.height, bird.climb, bird.slope, motions)
    assert blocked(room, agent)[1].path(room.start, room.goal, exact=True).found


def check_climbed(room):
    """A climber gets from where it can be nearest to the start to where it can be nearest to the goal."""
    planner = World.from_mesh(room.mesh, cache=False).planner(SPIDER)
    ends = [planner.nearest(place) for place in (room.start, room.goal)]
    path = blocked(room, SPIDER)[1].path(*ends, exact=True)
    assert path.found
    assert room.clearance(path.points) >= SPIDER.radius * (1 - 1e-6)


@seeds(4, found=(15003000, 15004000, 15014003, 20005002, 20007000, 31000344))
def test_climbers_get_along_the_sides_of_a_room_through_openings_between_blocks(seed):
    rng = np.random.default_rng(seed)
    check_climbed(walled(rng, SPIDER.radius, rng.uniform(2.5, 4.0), ("door", "slit", "side")[seed % 3], 0.0))


@seeds(4, found=(41000031, 41000055, 41000082, 41000157))
def test_climbers_get_through_the_narrowest_openings_between_blocks(seed):
    rng = np.random.default_rng(seed)
    check_climbed(walled(rng, SPIDER.radius, 2.5, ("door", "slit", "side")[seed % 3], 0.0))


@pytest.mark.parametrize("motions", [Motion.SURFACE, SPIDER.motions, ALL_MOTIONS])
@pytest.mark.parametrize("below", [0.3, 0.36, 0.45])
def test_nobody_under_a_roof_gets_onto_it(motions, below):
    """Ground was looked for above characters that hold on to a ceiling, and they went along the roof of the house."""
    agent = Agent(SPIDER.radius, SPIDER.height, SPIDER.climb, SPIDER.slope, motions)
    world = World.from_mesh(hollow((0, 0, 0), (9, 3, 2)), cache=False)
    planner = world.planner(agent)
    under = (1.5, 1.5, 2.0 - below), (7.5, 1.5, 2.0 - below)
    world.block(Box((4, 0, 0), (5, 3, 1.9)))  # not over the roof
    try:
        assert not planner.path(*under, exact=True).found
        assert not planner.reachable(*under)
    except OffMapError:  # a walker is not at a ceiling at all
        assert motions == Motion.SURFACE


# Radius, length and side of a tunnel, where its wall begins and how thick it is, y and z of the opening and its width.
# In each of them a waypoint from before the blocks is on a face between regions, in the opening but too close to a
# block, or in a block beside it.
CLOSE_TO_A_BLOCK = [
    (0.7, 36.294, 5.849, 17.756, 4.0, 3.397, 1.466, 2.386),
    (0.4, 17.657, 4.245, 7.73, 2.0, 3.087, 2.662, 1.12),
    (0.7, 17.07, 7.568, 6.754, 4.0, 2.306, 5.024, 2.445),
    (0.7, 30.414, 7.545, 15.078, 2.0, 4.461, 3.049, 2.376),
    (0.4, 21.943, 3.383, 11.294, 4.0, 0.739, 1.364, 1.004),
    (0.4, 16.099, 4.152, 7.659, 4.0, 0.703, 2.004, 1.011),
    (0.7, 17.902, 7.019, 7.5, 2.0, 0.871, 3.735, 2.791),
    (0.4, 22.134, 3.618, 10.541, 2.0, 0.378, 1.73, 1.434),
]


@pytest.mark.parametrize("numbers", CLOSE_TO_A_BLOCK)
def test_waypoints_that_blocks_cover_keep_no_others_away(numbers):
    radius, long, side, start, thick, y, z, wide = numbers
    room = (long, side, side)
    solids = slabs(start, start + thick, (y, z, y + wide, z + wide), room)
    # A tunnel of six slabs, as a modeller would make it.
    mesh = Mesh.concatenate([hollow((0, 0, 0), room), box((-0.3, -0.3, -0.3), (long + 0.3, side + 0.3, side + 0.3))])
    agent = Agent(radius=radius, height=2 * radius, motions=Motion.VOLUMETRIC)
    ends = (start / 2, side / 2, side / 2), ((start + thick + long) / 2, side / 2, side / 2)
    world = World.from_mesh(mesh, cache=False)
    planner = world.planner(agent)
    for low, high in solids:
        world.block(Box(low, high))
    walls = World.from_mesh(Mesh.concatenate([mesh, *(box(*solid) for solid in solids)]), cache=False)
    assert walls.planner(agent).path(*ends).found
    path = planner.path(*ends, exact=True)
    assert path.found
    for a, b in zip(path.points[:-1], path.points[1:], strict=True):
        assert min(to_box(a, b, *solid) for solid in solids) >= radius * (1 - 1e-6)


@seeds(4)
def test_openings_between_blocks_are_as_good_as_those_between_walls(seed):
    room, bird, _ = draw(seed, 2.5, 4.0)
    _, planner = blocked(room, bird)
    walls = World.from_mesh(room.built(), cache=False).planner(bird)
    by_blocks, by_walls = (one.path(room.start, room.goal, exact=True).smooth() for one in (planner, walls))
    assert by_blocks.found
    assert by_walls.found
    assert by_blocks.length <= 1.15 * by_walls.length


@seeds(5)
def test_openings_between_blocks_that_are_too_narrow_stay_shut(seed):
    room, bird, _ = draw(seed, 1.2, 1.98)
    _, planner = blocked(room, bird)
    assert not planner.path(room.start, room.goal, exact=True).found
    assert not planner.reachable(room.start, room.goal)


@seeds(4)
def test_the_order_of_blocks_around_an_opening_does_not_matter(seed):
    room, bird, rng = draw(seed, 2.5, 4.0)
    _, planner = blocked(room, bird)
    world = World.from_mesh(room.mesh, cache=False)
    other = world.planner(bird)
    for at in rng.permutation(len(room.blocks)):
        world.block(room.blocks[at])
    for at in rng.permutation(len(room.blocks))[:2]:
        world.unblock(room.blocks[at])
        world.block(room.blocks[at])
    check_same(planner, other)
    check_found(room, other)


@seeds(4)
def test_unblock_gives_back_what_was_there(seed):
    room, bird, rng = draw(seed, 2.5, 4.0)
    fresh = World.from_mesh(room.mesh, cache=False).planner(bird)
    world, planner = blocked(room, bird)
    first, *rest = rng.permutation(len(room.blocks))
    for at in rest:
        world.unblock(room.blocks[at])
    alone = World.from_mesh(room.mesh, cache=False)
    alone.block(room.blocks[first])
    check_same(planner, alone.planner(bird))
    world.unblock(room.blocks[first])
    check_same(planner, fresh)
    assert planner.path(room.start, room.goal).cost == fresh.path(room.start, room.goal).cost


def test_the_judge_measures_segments_from_boxes():
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b = rng.uniform(-3, 4, (2, 3))
        a[0] = b[0] if rng.random() < 0.3 else a[0]
        low, high = np.zeros(3), rng.uniform(0.5, 2, 3)
        along = a + np.linspace(0, 1, 2001)[:, None] * (b - a)
        away = np.linalg.norm(np.maximum(0, np.maximum(low - along, along - high)), axis=1).min()
        assert away - 0.005 <= to_box(a, b, low, high) <= away + 1e-12
