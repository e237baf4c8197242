"""Walkers on meshes of triangles: `NavMesh.build` and the planners of a `World`, before and after edits.

Voxels know walls to `RIM` cells: walls are widened to whole cells (at most a diagonal, 1.42) and rims simplified by up
to `max_error` (1.3 cells). Doors are well above or well below the agent's size, so what is reachable must not change.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.draws import SEED
from tests.metamorphic import changes, scenes
from tests.metamorphic.changes import drawn_placement, scaled, shifted, turned
from tests.metamorphic.judge import ask, attempt, grown_tolerance, verdict, wrong_answers
from wayfold import NavMesh, Prism, World

RIM = 1.42 + 1.3
CASES = {
    "person in an office": (scenes.PERSON, scenes.office()),
    "person in an office with narrow doors": (scenes.PERSON, scenes.office(1.0)),
    "person in a house": (scenes.PERSON, scenes.house_for(scenes.PERSON)),
    "person and a ramp": (scenes.PERSON, scenes.ramp_for(scenes.PERSON, 30.0)),
    "person and a steep ramp": (scenes.PERSON, scenes.ramp_for(scenes.PERSON, 60.0)),
    "cart in an office": (scenes.CART, scenes.placed_scene(scenes.office(), scaled(2.25))),
    "cart in a house": (scenes.CART, scenes.house_for(scenes.CART)),
    "cart and a ramp": (scenes.CART, scenes.ramp_for(scenes.CART, 15.0)),
    "cart and a steep ramp": (scenes.CART, scenes.ramp_for(scenes.CART, 30.0)),
}


def cell_of(agent):
    """Side of a column, at most; a world takes smaller ones where slopes are steep."""
    return agent.radius / 2


def built(scene, agent, scale):
    """Straight from the pipeline, with settings that grow with the world."""
    cell, height = agent.radius / 3, agent.climb / 5
    mesh = NavMesh.build(scene.mesh(), agent, cell_size=cell, cell_height=height, max_edge=12.0 * scale)
    return {"exact": [ask(mesh.path, *pair) for pair in scene.pairs]}


def planned(scene, agent, scale):
    """By the planners of a world, with its usual settings."""
    world = World.from_mesh(scene.mesh(), cache=False)
    planner = world.planner(agent)
    return {
        "exact": [ask(lambda a, b: planner.path(a, b, exact=True), *pair) for pair in scene.pairs],
        "reachable": [ask(planner.path, *pair) for pair in scene.pairs],
    }


def known(scene, answers, what):
    """What the scene itself says about reachability."""
    return [
        f"{what}, query {number}: {answer}, but the scene says {truth}"
        for number, (answer, truth) in enumerate(zip(answers, scene.reachable, strict=True))
        if answer is None or answer.found != truth
    ]


def judge(name, answers, agent, scene, variants, counted):
    before = answers(scene, agent, 1.0)
    wrong = [line for kind, found in before.items() for line in known(scene, found, f"{scene.name}, {kind}")]
    for changed, scale in variants:
        body = scenes.scaled_agent(agent, scale)
        after = attempt(wrong, changed.name, answers, changed, body, scale)
        if after is None:
            continue
        for kind, found in after.items():
            wrong += known(changed, found, f"{changed.name}, {kind}")

        def tolerance(a, b, body=body):
            return grown_tolerance(a, b, RIM * cell_of(body))

        wrong += wrong_answers(before["exact"], after["exact"], scale, tolerance, what=changed.name)
    counted(name, len(variants), sum(map(len, before.values())) * len(variants))
    verdict(wrong)


def changed_scenes(scene, placements, cuts):
    """Placed scenes, and cut ones."""
    result = [(scenes.placed_scene(scene, placement), placement.scale) for placement in placements]
    for number, seed in enumerate(cuts):
        result.append((scenes.SCENE_CUTS[number % len(scenes.SCENE_CUTS)](scene, seed), 1.0))
    return result


def many(first, count):
    return [drawn_placement(seed) for seed in range(first + 1000 * SEED, first + count + 1000 * SEED)]


@pytest.mark.parametrize("case", CASES)
def test_a_built_navmesh_answers_alike_wherever_its_triangles_lie(case, counted):
    agent, scene = CASES[case]
    placements = [*changes.some_placements(), turned(45.0), turned(90.0)]
    judge("NavMesh.build", built, agent, scene, changed_scenes(scene, placements, range(3)), counted)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_many_moved_triangles_build_alike(case, counted):
    agent, scene = CASES[case]
    placements = [*changes.all_placements(), *many(0, 50)]
    judge("NavMesh.build", built, agent, scene, changed_scenes(scene, placements, range(18)), counted)


@pytest.mark.parametrize("case", CASES)
def test_a_walker_of_a_world_gets_the_same_answers_wherever_it_lies(case, counted):
    agent, scene = CASES[case]
    placements = [turned(17.3).then(shifted(1e7, -1e7)), changes.mirrored("x").then(turned(120.0)).then(scaled(1e-3))]
    judge("World, walkers", planned, agent, scene, changed_scenes(scene, placements, range(1)), counted)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_walkers_of_many_worlds_get_the_same_answers(case, counted):
    agent, scene = CASES[case]
    placements = [*changes.all_placements(), *many(100, 30)]
    judge("World, walkers", planned, agent, scene, changed_scenes(scene, placements, range(9)), counted)


def on_cells(scene, agent, scale):
    """By a sparse grid over the triangles: cells as wide as the agent's radius."""
    planner = World.from_mesh(scene.mesh(), cache=False).planner(agent, map="sparse-grid")
    return {"exact": [ask(lambda a, b: planner.path(a, b, exact=True), *pair) for pair in scene.pairs]}


def judge_cells(case, placements, counted):
    """Steps to 8 neighbours cost up to 1.0824 times the straight line, by how the lattice lies to it."""
    agent, scene = CASES[case]
    before = on_cells(scene, agent, 1.0)["exact"]
    wrong = known(scene, before, scene.name)
    for placement in placements:
        changed = scenes.placed_scene(scene, placement)
        body = scenes.scaled_agent(agent, placement.scale)
        after = on_cells(changed, body, placement.scale)["exact"]
        wrong += known(changed, after, changed.name)

        def tolerance(a, b, scale=placement.scale, cell=body.radius):
            # A corner of the way is the middle of a cell: within one cell and its diagonal of where it could be. Ends
            # are moved to the middle of a cell each.
            return 0.0824 * max(a.cost * scale, b.cost) + cell * (2.42 * np.pi + 4 * 0.71)

        wrong += wrong_answers(before, after, placement.scale, tolerance, what=changed.name)
    counted("World, cells of a mesh", len(placements), len(placements) * len(scene.pairs))
    verdict(wrong)


CELLS = ("person in an office", "person and a ramp", "person and a steep ramp")


@pytest.mark.parametrize("case", CELLS[:2])
def test_cells_of_a_mesh_answer_alike_wherever_it_lies(case, counted):
    judge_cells(case, [turned(90.0), turned(17.3).then(shifted(1e7, -1e7))], counted)


@pytest.mark.long
@pytest.mark.parametrize("case", CELLS)
def test_cells_of_many_meshes_answer_alike(case, counted):
    judge_cells(case, [*changes.all_placements(), *many(300, 30)], counted)


# --- edits -----------------------------------------------------------------------------------------------------------

DOOR = np.array([(4.6, 0.9), (5.9, 0.9), (5.9, 3.3), (4.6, 3.3)])
"""Around the first door of the office, seen from above."""
ROOM = np.array([(5.5, 0.1), (10.1, 0.1), (10.1, 8.9), (5.5, 8.9)])
"""The second room, in which a metre becomes dear or cheap."""


def edited(scene, agent, scale, placement, **settings):
    """Answers before an edit, with a door blocked, unblocked again, and with a room of another cost."""
    world = World.from_mesh(scene.mesh(), cache=False)
    planner = world.planner(agent, **settings)

    def ask_all():
        return [ask(lambda a, b: planner.path(a, b, exact=True), *pair) for pair in scene.pairs]

    low, high = (placement(np.array([0.0, 0.0, z]))[2] for z in (-1.0, 4.0))
    door = Prism(placement(DOOR), low, high)
    room = Prism(placement(ROOM), low, high)
    answers = {"open": ask_all()}
    world.block(door)
    answers["blocked"] = ask_all()
    world.unblock(door)
    answers["unblocked"] = ask_all()
    world.set_cost(room, 3.0)
    answers["dear"] = ask_all()
    return answers


def judge_edits(name, agent, scene, placements, counted, **settings):
    before = edited(scene, agent, 1.0, changes.HERE, **settings)
    # With the door shut the first room is on its own.
    shut = [truth and (number not in (1, 2)) for number, truth in enumerate(scene.reachable)]
    wrong = []
    for placement in placements:
        moved = scenes.placed_scene(scene, placement)
        body = scenes.scaled_agent(agent, placement.scale)
        after = edited(moved, body, placement.scale, placement, **settings)
        for kind, found in after.items():
            truths = shut if kind == "blocked" else scene.reachable
            wrong += [
                f"{moved.name}, {kind}, query {number}: {answer}, but the scene says {truth}"
                for number, (answer, truth) in enumerate(zip(found, truths, strict=True))
                if answer is None or answer.found != truth
            ]

            def tolerance(a, b, body=body, rate=3.0 if kind == "dear" else 1.0):
                return rate * grown_tolerance(a, b, RIM * cell_of(body))

            wrong += wrong_answers(before[kind], found, placement.scale, tolerance, what=f"{moved.name}, {kind}")
        # What is unblocked is as it was, in one and the same place: to the last rounding.
        wrong += wrong_answers(
            after["open"], after["unblocked"], 1.0, lambda a, b: 1e-9 * a.cost, what=f"{moved.name}, unblocked again"
        )
    counted(name, len(placements), 4 * len(scene.pairs) * len(placements))
    verdict(wrong)


def test_edits_of_a_walkers_world_do_the_same_wherever_it_lies(counted):
    placements = [turned(17.3).then(shifted(1e7, -1e7)), changes.mirrored("y").then(scaled(100.0)), turned(90.0)]
    judge_edits("World, walkers, edits", scenes.PERSON, scenes.office(), placements, counted)


@pytest.mark.long
def test_edits_of_many_walkers_worlds_do_the_same(counted):
    placements = [*changes.all_placements(), *many(200, 60)]
    judge_edits("World, walkers, edits", scenes.PERSON, scenes.office(), placements, counted)
