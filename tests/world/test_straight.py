"""A straight move that is legal is the path, for whoever asks and however it is asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests import legality
from tests.draws import seeds
from tests.naive_triangles import nearest, samples
from tests.world.judging import level_of, violations
from tests.world.levels import BIRD, EVERYBODY, PERSON, SPIDER, courtyard, flat
from wayfold import Box, Mesh, Status, World
from wayfold.errors import OffMapError

pytestmark = pytest.mark.kernels


@pytest.fixture(scope="module")
def yards():
    return {}


def planner_of(yards, name):
    if name not in yards:
        world = World.from_mesh(courtyard(), cache=False)
        yards[name] = world, world.planner(EVERYBODY[name], map="waypoints")
    return yards[name]


def near(planner, rng, reach):
    """A place of the planner and one at most `reach` metres away."""
    place = planner.random_points(1, seed=int(rng.integers(1000)))[0]
    way = rng.normal(size=3)
    if planner.agent is not BIRD:
        way[2] = 0.0
    return place, place + way / np.linalg.norm(way) * rng.uniform(0.02, reach)


def clearly_legal(level, planner, start, goal):
    """Whether a straight move is legal, and for a slightly larger body too: the judge looks at samples a quarter of a
    radius apart, between which a corner may reach 0.8 % of the radius further in. Nor does it know that who is below
    the floor, one sheet of triangles, is in the ground."""
    agent, way = planner.agent, np.array([start, goal])
    (left, front, _), (right, back, _) = flat().bounds
    x, y, z = way.T
    if ((z < 0) & (left < x) & (x < right) & (front < y) & (y < back)).any():
        return False
    # The judge puts who is too near to a wall off it. Who is not is where they are: their way needs the room as it is.
    room = nearest(samples(way, 0.05 * agent.radius)[0], level.corners)[0].min(axis=1)
    if min(room[0], room[-1]) >= agent.radius > room.min():
        return False
    larger = replace(agent, radius=1.01 * agent.radius)
    return not violations(level, planner, way) and not legality.move(
        level, larger, way, int(agent.motions), spacing=0.25 * agent.radius
    )


@pytest.mark.parametrize("name", ["bird", "spider", "person"])
@seeds(12, found=(9601009, 11106002, 20004004, 500945, 501031))
def test_the_path_is_straight_exactly_when_the_judge_allows_it(yards, name, seed):
    world, planner = planner_of(yards, name)
    rng = np.random.default_rng(seed)
    start, goal = near(planner, rng, [0.1, 1.0, 5.0][seed % 3])
    level, gap = level_of(world), np.linalg.norm(goal - start)
    try:
        path = planner.path(start, goal)
    except OffMapError:
        return
    if not clearly_legal(level, planner, start, goal):
        return
    ways = [
        path,
        planner.path(start, goal, exact=True),
        planner.plain(start, goal),
        planner.paths(start[None], goal[None])[0],
        planner.field(goal).path(start),
        planner.map.path(start, goal),
        planner.accelerator.path(start, goal),
    ]
    for way in ways:
        assert way.length == pytest.approx(gap, rel=1e-9)
    assert planner.reachable(start, goal)


@seeds(3)
def test_a_climber_moves_straight_also_where_its_wall_is_hardly_within_reach(yards, seed):
    world, planner = planner_of(yards, "spider")
    level, rng = level_of(world), np.random.default_rng(seed)
    near = planner.map.surroundings.body.near
    starts, goals = [(3.67867708, 13.33126068, 0.75)], [(3.66011827, 13.37353123, 0.75)]
    for _ in range(40):
        # Around the upright edge of the hut at (4, 13).
        angles = rng.uniform(0, 1.9) + np.pi / 2 + np.array([0.0, rng.uniform(-0.1, 0.1)])
        away = near * rng.choice([0.9, 0.99, 0.999, 1.0 - 1e-9], 2)
        place = np.column_stack([4.0 + away * np.cos(angles), 13.0 + away * np.sin(angles), rng.uniform(0.7, 1.5, 2)])
        starts.append(place[0])
        goals.append((*place[1, :2], place[0, 2] + rng.uniform(-0.03, 0.03)))
    moved = 0
    for start, goal in zip(np.array(starts), np.array(goals), strict=True):
        if violations(level, planner, np.array([start, goal])):
            continue
        for path in (planner.path(start, goal), planner.path(goal, start), planner.paths(start, goal)[0]):
            assert path.length == pytest.approx(np.linalg.norm(goal - start), rel=1e-9)
        moved += 1
    assert moved > 10


@pytest.mark.parametrize("name", ["bird", "spider", "person"])
@seeds(6)
def test_no_path_detours_to_a_waypoint_that_its_ends_can_do_without(yards, name, seed):
    world, planner = planner_of(yards, name)
    level = level_of(world)
    start, goal = planner.random_points(2, seed=seed)
    for path in (planner.path(start, goal), planner.field(goal).path(start)):
        assert violations(level, planner, path.points) == []
        assert path.cost == pytest.approx(path.length)
        surroundings = planner.map.surroundings
        for points in (path.points, path.points[::-1]):
            entrance = surroundings.entrance(points[0], planner.agent.motions, "end")
            assert not any(entrance.sees(point) for point in points[2:-1])


def test_a_flyer_in_a_sealed_niche_moves_in_it_and_gets_nowhere_else():
    shell = Box((0, 0, 0), (30, 30, 30)).mesh()
    room = Mesh(shell.vertices, shell.triangles[:, ::-1])
    niche = Box((3, 3, 3), (3.9, 3.9, 3.9)).mesh()
    niche = Mesh(niche.vertices, niche.triangles[:, ::-1])
    planner = World.from_mesh(Mesh.concatenate([room, niche]), cache=False).planner(BIRD)
    a, b = (3.4, 3.4, 3.4), (3.5, 3.5, 3.5)
    assert planner.path(a, b).length == pytest.approx(np.sqrt(0.03))
    assert planner.reachable(a, b)
    assert planner.field(b).path(a).found
    outside = (20.0, 20.0, 20.0)
    for path in (planner.path(a, outside), planner.path(outside, a), planner.field(outside).path(a)):
        assert path.status is Status.UNREACHABLE
        assert path.why
    assert not planner.reachable(a, outside)
    assert not planner.reachable(outside, a)
    # Who looks for a place is shown one that leads somewhere.
    assert planner.path(planner.nearest(a), outside).found


@pytest.mark.parametrize("agent", [BIRD, SPIDER], ids=["bird", "spider"])
def test_a_dear_zone_is_crossed_straight_only_where_that_is_not_dearer(agent):
    world = World.from_mesh(flat(), cache=False)
    planner = world.planner(agent)
    height = 1.0 if agent is BIRD else 0.255
    start, goal = (4.0, 9.0, height), (20.0, 9.0, height)
    assert planner.path(start, goal).length == pytest.approx(16.0)
    world.set_cost(Box((11, 5, -1), (13, 13, 30)), 1.1)
    cheap = planner.path(start, goal)
    assert cheap.length == pytest.approx(16.0)
    assert cheap.cost == pytest.approx(16.2)
    world.set_cost(Box((11, 5, -1), (13, 13, 30)), 50.0)
    dear = planner.path(start, goal)
    assert dear.cost < 16.0 + 98.0
    assert planner.field(goal).path(start).cost < 16.0 + 98.0


def test_what_a_move_costs_is_the_integral_however_thin_a_zone_is():
    world = World.from_mesh(flat(), cache=False)
    planner = world.planner(BIRD)
    world.set_cost(Box((11.9, -5, -1), (12.0, 30, 40)), 3.0)
    path = planner.path((2, 9, 1), (22, 9, 1))
    assert path.cost == pytest.approx(20.0 + 0.2)


def test_walkers_on_waypoints_go_straight_but_not_through_blocks():
    world = World.from_mesh(flat(), cache=False)
    planner = world.planner(PERSON, map="waypoints")
    start, goal = (4.0, 9.0, 0.0), (20.0, 9.0, 0.0)
    assert planner.path(start, goal).length == pytest.approx(16.0)
    world.block(Box((10, 4, -1), (12, 14, 0.3)))
    path = planner.path(start, goal)
    level = level_of(world).with_solids([((10, 4, -1), (12, 14, 0.3))])
    assert violations(level, planner, path.points) == []
    assert 18.0 < path.length < 23.0
