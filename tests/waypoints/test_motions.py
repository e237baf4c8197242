"""An edge has every motion that is legal on it: a graph for all motions answers as a graph for one of them does."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from tests.draws import seeds
from tests.metamorphic import scenes
from tests.waypoints.openings import hollow, turn, wall
from tests.waypoints.worlds import yard
from tests.world.judging import level_of, solids, violations
from tests.world.levels import BIRD
from wayfold import Agent, Box, Mesh, Motion, WaypointGraph, World
from wayfold.agent import check_motions
from wayfold.errors import OffMapError
from wayfold.waypoints._kernels import motion_between

pytestmark = pytest.mark.kernels

SPIDER = scenes.SPIDER


def pipe(rng, width):
    """Two chambers with a tunnel of so many metres between them, turned in space: mesh, start and goal."""
    y, z = rng.uniform(0.2, 2.8 - width, 2)
    parts = [hollow((0, 0, 0), (8, 3, 3)), *wall(2.5, 3.0, 3.0, 3.0, (y, z, y + width, z + width))]
    mesh, rotation = Mesh.concatenate(parts), turn(rng)
    start, goal = np.array([(1.2, 1.5, 1.5), (6.8, 1.5, 1.5)]) @ rotation.T
    return Mesh(mesh.vertices @ rotation.T, mesh.triangles), start, goal


@seeds(4)
def test_a_flyer_finds_tunnels_in_a_graph_for_every_motion(seed):
    rng = np.random.default_rng(seed)
    mesh, start, goal = pipe(rng, rng.choice([2.5, 3.0, 4.0]) * BIRD.radius)
    every = WaypointGraph.build(mesh, BIRD, region_size=3.6)
    assert every.path(start, goal, motions=Motion.VOLUMETRIC).found
    assert every.path(start, goal).found
    assert every.reachable(start, goal, motions=Motion.VOLUMETRIC)


@functools.cache
def scene(name):
    """A mesh, an agent and the side of its regions."""
    if name == "yard":
        return yard(), Agent(), 20.0
    made = {"office": scenes.office(1.2, ceiling=True), "house": scenes.house_for(SPIDER)}
    return made.get(name, scenes.overhang()).mesh(), SPIDER, max(12 * SPIDER.radius, 6 * SPIDER.height)


@functools.cache
def graph_for_all(name):
    mesh, agent, size = scene(name)
    return WaypointGraph.build(mesh, agent, region_size=size)


@seeds(2)
@pytest.mark.parametrize("name", ["office", "overhang"])
def test_a_line_is_as_legal_from_its_end_as_from_its_start(name, seed):
    graph, rng = graph_for_all(name), np.random.default_rng(seed)
    around = graph.surroundings
    world, body = around.world(), around.body
    points = around.frame.local(graph.graph.points)
    starts = points[rng.integers(len(points), size=3000)] + rng.normal(0, 0.02, (3000, 3))
    ends = starts + rng.normal(0, body.near, (3000, 3)) * rng.choice([0.0, 1.0], (3000, 3), p=[0.3, 0.7])
    legal = 0
    for start, end in zip(starts, ends, strict=True):
        for motion in Motion:
            here, there = tuple(map(float, start)), tuple(map(float, end))
            answer = motion_between(world, body, here, there, int(motion))
            assert answer == motion_between(world, body, there, here, int(motion)), (start, end, motion)
            legal += answer != 0
    assert legal > 100


@seeds(3)
@pytest.mark.parametrize("agent", [SPIDER, Agent()], ids=["spider", "person"])
def test_who_is_where_a_waypoint_is_gets_as_far_as_from_the_waypoint(agent, seed):
    # Under slabs and a ramp that are hardly higher than the agent: it is not moved on top of them.
    rng = np.random.default_rng(seed)
    floor = Mesh([(0, 0, 0), (14, 0, 0), (14, 14, 0), (0, 14, 0)], [(0, 1, 2), (0, 2, 3)])
    parts = [floor]
    for x in (1.0, 5.0, 9.0):
        low, high = agent.height * rng.uniform(1.02, 1.4, 2)
        corners = [(x, 1, low), (x + 3, 1, low), (x + 3, 6, high), (x, 6, high)]
        parts.append(Mesh(corners, [(0, 1, 2), (0, 2, 3)]))
    rise = rng.uniform(1.0, 3.0)
    parts.append(Mesh([(4, 8, 0), (9, 8, rise), (9, 12, rise), (4, 12, 0)], [(0, 1, 2), (0, 2, 3)]))
    size = max(12 * agent.radius, 2 * agent.height)
    graph = WaypointGraph.build(Mesh.concatenate(parts), agent, region_size=size, motions=agent.motions)
    usable = np.flatnonzero(graph.usable(agent.motions))
    points = graph.graph.points
    below = 0
    for a, b in rng.choice(usable, (60, 2)):
        nodes, places = graph.path(int(a), int(b)), graph.path(points[a], points[b])
        assert places.found or not nodes.found
        assert places.cost <= nodes.cost * (1 + 1e-6)
        below += points[a][1] < 6 and points[a][2] < agent.height
    assert below


def answer(graph, a, b, motions):
    try:
        return graph.reachable(a, b, motions=motions)
    except OffMapError:
        return False


@pytest.mark.parametrize("motions", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("name", ["yard", "office", "house", "overhang"])
def test_what_a_graph_for_some_motions_joins_a_graph_for_all_joins_too(name, motions):
    mesh, agent, size = scene(name)
    kinds = check_motions(motions)
    own, every = WaypointGraph.build(mesh, agent, region_size=size, motions=kinds), graph_for_all(name)
    points = own.points[own.usable(kinds)]
    rng = np.random.default_rng(motions)
    found = 0
    for a, b in points[rng.integers(0, len(points), (60, 2))]:
        if answer(own, a, b, kinds):
            found += 1
            assert answer(every, a, b, kinds)
            assert every.path(a, b, motions=kinds).found
    assert found > 5


@pytest.mark.parametrize("name", ["yard", "office", "house", "overhang"])
def test_what_is_walked_can_be_flown(name):
    motions = graph_for_all(name).graph.motions
    assert (motions[motions & Motion.SURFACE > 0] & Motion.VOLUMETRIC > 0).all()
    assert np.count_nonzero(motions == int(Motion.SURFACE | Motion.ADHESIVE | Motion.VOLUMETRIC)) > 20


@pytest.mark.parametrize("motions", [3, 5, 7])
@seeds(1)
def test_blocks_take_an_edge_when_no_motion_is_left_on_it(seed, motions):
    """Low blocks stop walkers but nobody who flies, others hang above the ground; together they stop both."""
    agent = Agent(radius=0.3, height=0.9, climb=0.3, motions=check_motions(motions))
    rng = np.random.default_rng(seed)
    mesh = Mesh.concatenate([hollow((0, 0, 0), (12, 6, 3)), *wall(5.5, 0.5, 6.0, 3.0, (1.5, 0.0, 4.0, 2.4))])
    world = World.from_mesh(mesh, cache=False)
    planner = world.planner(agent)
    blocks = []
    for at in range(6):
        x, y = rng.uniform((0, 0), (11, 5))
        base, top = (0.0, rng.uniform(0.1, 0.4)) if at % 2 else (rng.uniform(0.5, 1.0), rng.uniform(1.5, 2.5))
        blocks.append(Box((x, y, base), (x + rng.uniform(0.5, 2), y + rng.uniform(0.5, 2), top)))
        world.block(blocks[-1])
    world.unblock(blocks.pop(int(rng.integers(len(blocks)))))
    level = level_of(world).with_solids(solids(blocks))
    points = planner.random_points(16, seed=seed)
    for a, b in zip(points[::2], points[1::2], strict=True):
        path = planner.path(a, b)
        assert not path or [str(problem) for problem in violations(level, planner, path.points)] == []
    # The order of edits does not matter.
    fresh = World.from_mesh(mesh, cache=False)
    for block in blocks[::-1]:
        fresh.block(block)
    again = fresh.planner(agent)
    assert again.map.num_edges == planner.map.num_edges
    for a, b in zip(points[::2], points[1::2], strict=True):
        assert again.reachable(a, b) == planner.reachable(a, b)
