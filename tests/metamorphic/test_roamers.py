"""Climbers and flyers: `WaypointGraph` and the planners of a `World`, turned about any axis too; and voxels.

Waypoints are sampled, so ways over them differ from place to place; doors and tunnels are well above or well below the
agent's size, and what is reachable must not differ. A way is never shorter than the straight line, and a way where the
straight line is free is the straight line.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import ndimage

from tests.draws import SEED, seeds
from tests.metamorphic import changes, scenes
from tests.metamorphic.changes import drawn_placement, scaled, shifted, turned, turned_in_space
from tests.metamorphic.judge import attempt, rounding, verdict
from wayfold import Prism, WaypointGraph, World
from wayfold.waypoints import VoxelWaypoints

BIRDS = {
    "bird in an office": (scenes.BIRD, scenes.office(1.8, ceiling=True, high=1.5)),
    "bird and a tunnel": (scenes.BIRD, scenes.tunnel(2.0)),
    "bird and a narrow tunnel": (scenes.BIRD, scenes.tunnel(1.2)),
}
SPIDERS = {
    "spider in an office": (scenes.SPIDER, scenes.office(1.2, ceiling=True)),
    "spider in a house": (scenes.SPIDER, scenes.house_for(scenes.SPIDER)),
    "spider under an overhang": (scenes.SPIDER, scenes.overhang()),
}
FREE = {"bird in an office": (6,), "bird and a tunnel": (0,), "bird and a narrow tunnel": (0,)}
"""Queries whose straight line is free."""


def judge(name, case, agent, scene, variants, counted, ways):
    """Reachability as the scene says it, and lengths between the straight line and what is known of it."""
    wrong = []
    for changed, scale in variants:
        path_of = attempt(wrong, changed.name, ways, changed, scenes.scaled_agent(agent, scale))
        if path_of is None:
            continue
        for number, (start, goal) in enumerate(changed.pairs):
            path = attempt(wrong, f"{changed.name}, query {number}", path_of, start, goal)
            if path is None:
                continue
            straight = float(np.linalg.norm(goal - start))
            # Positions are float32 relative to an origin.
            slack = 1e-6 * changed.extent + 8 * rounding(changed.vertices)
            what = f"{changed.name}, query {number}"
            if bool(path) != changed.reachable[number]:
                wrong.append(f"{what}: {path}, but the scene says {changed.reachable[number]}")
            elif path and path.length < straight - slack:
                wrong.append(f"{what}: {path.length} is shorter than the straight line, {straight}")
            elif path and number in FREE.get(case, ()) and path.length > straight + slack:
                wrong.append(f"{what}: {path.length} although the straight line is free, {straight}")
    counted(name, len(variants), len(variants) * len(scene.pairs))
    verdict(wrong)


def by_world(scene, agent):
    planner = World.from_mesh(scene.mesh(), cache=False).planner(agent)
    return planner.path


def by_waypoints(scene, agent):
    size = max(12 * agent.radius, 6 * agent.height)
    graph = WaypointGraph.build(scene.mesh(), agent, region_size=size, motions=agent.motions)
    return lambda start, goal: graph.path(start, goal, motions=agent.motions)


def by_waypoints_for_all(scene, agent):
    graph = WaypointGraph.build(scene.mesh(), agent, region_size=max(12 * agent.radius, 6 * agent.height))
    return lambda start, goal: graph.path(start, goal, motions=agent.motions)


def changed_scenes(scene, placements, cuts):
    result = [(scene, 1.0)]
    result += [(scenes.placed_scene(scene, placement), placement.scale) for placement in placements]
    for number, seed in enumerate(cuts):
        result.append((scenes.SCENE_CUTS[number % len(scenes.SCENE_CUTS)](scene, seed), 1.0))
    return result


FAR = shifted(390_000.0, 5_820_000.0, 250.0)


@pytest.mark.parametrize("case", BIRDS)
def test_birds_reach_the_same_wherever_the_world_lies_and_whichever_way_is_up(case, counted):
    agent, scene = BIRDS[case]
    placements = [turned(17.3).then(shifted(1e7, -1e7)), turned_in_space(3), turned_in_space(3).then(FAR), scaled(1e-3)]
    judge("World, flyers", case, agent, scene, changed_scenes(scene, placements, range(1)), counted, by_world)


@pytest.mark.long
@pytest.mark.parametrize("case", BIRDS)
def test_birds_of_many_worlds_reach_the_same(case, counted):
    agent, scene = BIRDS[case]
    first = 1000 * SEED
    placements = [*changes.all_placements(), *(turned_in_space(seed) for seed in range(first, first + 30))]
    placements += [turned_in_space(seed).then(drawn_placement(seed)) for seed in range(first + 50, first + 70)]
    judge("World, flyers", case, agent, scene, changed_scenes(scene, placements, range(9)), counted, by_world)
    few = placements[::6]
    judge("WaypointGraph.build", case, agent, scene, changed_scenes(scene, few, range(3)), counted, by_waypoints)


@pytest.mark.long
@pytest.mark.parametrize("case", ["bird and a tunnel", "bird and a narrow tunnel"])
def test_birds_reach_the_same_in_graphs_for_every_motion(case, counted):
    agent, scene = BIRDS[case]
    placements = [turned_in_space(seed + 1000 * SEED) for seed in range(11, 17)]
    variants = changed_scenes(scene, placements, ())
    judge("WaypointGraph.build, every motion", case, agent, scene, variants, counted, by_waypoints_for_all)


@pytest.mark.parametrize("case", SPIDERS)
def test_spiders_reach_the_same_wherever_the_world_lies(case, counted):
    agent, scene = SPIDERS[case]
    placements = [turned(37.0).then(FAR)]
    judge("World, climbers", case, agent, scene, changed_scenes(scene, placements, ()), counted, by_world)


@pytest.mark.long
@pytest.mark.parametrize("case", SPIDERS)
def test_spiders_of_many_worlds_reach_the_same(case, counted):
    agent, scene = SPIDERS[case]
    placements = [*changes.all_placements(), *(drawn_placement(seed + 1000 * SEED) for seed in range(20))]
    judge("World, climbers", case, agent, scene, changed_scenes(scene, placements, range(6)), counted, by_world)


# --- edits -----------------------------------------------------------------------------------------------------------

DOOR = np.array([(4.6, 0.9), (5.9, 0.9), (5.9, 3.3), (4.6, 3.3)])
"""Around the first door of the office, seen from above."""


def judge_blocks(placements, counted):
    """A door of a closed office is shut with a block and opened again."""
    wrong = []
    for placement in placements:
        scene = scenes.placed_scene(scenes.office(1.8, ceiling=True, high=1.5), placement)
        world = World.from_mesh(scene.mesh(), cache=False)
        planner = world.planner(scenes.scaled_agent(scenes.BIRD, placement.scale))
        low, high = (float(placement(np.array([0.0, 0.0, z]))[2]) for z in (-0.5, 3.5))
        door = Prism(placement(DOOR), low, high)
        for blocked in (False, True, False):
            if blocked:
                world.block(door)
            elif world.blocks:
                world.unblock(door)
            for number, (start, goal) in enumerate(scene.pairs):
                truth = scene.reachable[number] and not (blocked and number in (1, 2))
                what = f"{scene.name}, query {number}, blocked {blocked}"
                path = attempt(wrong, what, planner.path, start, goal)
                if path is not None and (bool(path) != truth or planner.reachable(start, goal) != truth):
                    wrong.append(f"{what}: {path}, but the scene says {truth}")
    counted("World, flyers, edits", len(placements), 21 * len(placements))
    verdict(wrong)


def test_blocks_shut_a_birds_door_wherever_the_world_lies(counted):
    judge_blocks([changes.HERE, turned(37.0).then(FAR)], counted)


@pytest.mark.long
def test_blocks_shut_a_birds_door_in_many_worlds(counted):
    judge_blocks([*changes.all_placements(), *(drawn_placement(seed + 1000 * SEED) for seed in range(20))], counted)


# --- voxels ----------------------------------------------------------------------------------------------------------


def judge_voxels(seed, numbers, counted):
    """A map of voxels under the 48 symmetries of the cube, padded with walls: what shares faces belongs together."""
    draw = np.random.default_rng([seed, 21])
    blocked = draw.random((14, 11, 9)) < 0.25
    blocked[7] = True
    blocked[7, draw.integers(11), draw.integers(9)] = draw.random() < 0.3
    free = np.argwhere(~blocked)
    pairs = free[draw.integers(0, len(free), (12, 2))]
    islands, _ = ndimage.label(~blocked)
    truths = [islands[tuple(a)] == islands[tuple(b)] for a, b in pairs]
    symmetries = list(itertools.product(itertools.permutations(range(3)), itertools.product((1, -1), repeat=3)))
    wrong = []
    for number in numbers:
        axes, signs = symmetries[number % 48]
        pad = np.array([(0, 0, 0), (3, 0, 1), (16, 5, 2)][number % 3])
        array = np.pad(blocked, [(int(p), int(q)) for p, q in zip(pad, pad[::-1], strict=True)], constant_values=True)
        ends = pairs + pad
        for axis, sign in enumerate(signs):
            if sign < 0:
                array = np.flip(array, axis)
                ends = ends.copy()
                ends[..., axis] = array.shape[axis] - 1 - ends[..., axis]
        array, ends = np.transpose(array, axes), ends[..., list(axes)]
        graph = VoxelWaypoints.from_voxels(np.ascontiguousarray(array), region_size=(4, 7, 16)[number % 3])
        for truth, (start, goal) in zip(truths, ends, strict=True):
            path = graph.path(start.astype(float), goal.astype(float))
            straight = float(np.linalg.norm(goal - start))
            what = f"seed {seed}, symmetry {number}, from {start.tolist()} to {goal.tolist()}"
            if bool(path) != truth:
                wrong.append(f"{what}: {path}, but flooding says {truth}")
            elif path:
                short = path.smooth()
                if not straight - 1e-6 <= short.length <= path.length + 1e-6:
                    wrong.append(f"{what}: straight {straight}, smoothed {short.length}, raw {path.length}")
    assert len(numbers), "a test that compares nothing cannot fail"
    counted("VoxelWaypoints", len(numbers), len(numbers) * len(pairs))
    verdict(wrong)


@seeds(3)
def test_voxels_answer_alike_under_the_symmetries_of_the_cube(seed, counted):
    judge_voxels(seed, range(seed % 7, 48, 7), counted)


@pytest.mark.long
def test_many_turned_voxels_answer_alike(counted):
    for seed in range(100 * SEED + 40, 100 * SEED + 60):
        judge_voxels(seed, range(48), counted)
