"""`FloorPlan` with each method of decomposition, and `Building`.

Exact ways (`exact=True`) are the shortest in the free space whatever it is cut into, where regions cover all of it.
DEACCON's and Hertel-Mehlhorn's do, so their lengths differ by rounding alone, that of the plan's own `resolution`
included. Space-filling volumes are boxes along the axes and leave gaps beside slanted walls: no way of theirs leads
where there is none, or is shorter than the shortest.
"""

from __future__ import annotations

import pytest
import shapely

from tests.draws import SEED
from tests.metamorphic import changes, scenes, worlds
from tests.metamorphic.changes import drawn_placement, placed_shape, shifted, turned
from tests.metamorphic.judge import EXACT, ask, attempt, dearer_than, rounding, verdict, wrong_answers
from wayfold import FloorPlan
from wayfold.floorplan import Building

pytestmark = pytest.mark.kernels

METHODS = ("deaccon", "hertel-mehlhorn", "space-filling")
COVERING = METHODS[:2]
PLANS = {plan.name: plan for plan in (worlds.ROOMS, worlds.COURTYARD, worlds.SPIRAL, worlds.MEADOW, worlds.CORRIDORS)}


def outlines(plan):
    """Boundary and obstacles; solid cells that touch are one obstacle."""
    boundary = shapely.box(plan.xs[0], plan.ys[0], plan.xs[-1], plan.ys[-1])
    solid = shapely.union_all([shapely.box(*plan.box(cell)) for cell in plan.cells("#c")])
    return [boundary, *shapely.get_parts(solid)]


def answers(shapes, pairs, method):
    plan = FloorPlan(shapes[0], shapes[1:])
    cut = plan.decompose(method)
    ends = pairs[..., :2]
    exact = [ask(lambda a, b: cut.path(a, b, exact=True), *pair) for pair in ends]
    quick = [ask(cut.path, *pair) for pair in ends]
    return exact, quick, plan.resolution


def variants_of(plan, shapes, placements, cuts):
    """(name, placement, outlines, metres that a border moved)."""
    extent = plan.xs[-1] - plan.xs[0]
    result = [(repr(placement), placement, shapes, 0.0) for placement in placements]
    for number, seed in enumerate(cuts):
        cut = changes.OUTLINE_CUTS[number % len(changes.OUTLINE_CUTS)]
        # The boundary stays the first of them.
        (boundary,), moved = cut(shapes[:1], seed, extent)
        obstacles, _ = cut(shapes[1:], seed, extent)
        placement = changes.HERE if number % 2 else drawn_placement(seed)
        what = f"{cut.__name__} ({seed}), {placement}"
        result.append((what, placement, [boundary, *obstacles], moved))
    return result


def judge(plan, method, variants, counted):
    shapes = outlines(plan)
    pairs, reachable = plan.pairs(10, 5)
    before, quick, resolution = answers(shapes, pairs, method)
    extent = max(plan.xs[-1] - plan.xs[0], plan.ys[-1] - plan.ys[0])
    wrong = []
    covered = [True] * len(pairs)
    if method in COVERING:
        wrong += [
            f"{plan.name}, query {number}: {answer}, but the drawing says {truth}"
            for number, (answer, truth) in enumerate(zip(before, reachable, strict=True))
            if answer is None or answer.found != truth
        ]
    else:
        best = answers(shapes, pairs, "hertel-mehlhorn")[0]
        covered = [answer is not None for answer in before]
    for what, placement, cut, moved in variants:
        what = f"{plan.name}, {method}, {what}"
        placed = [placed_shape(shape, placement) for shape in cut]
        found = attempt(wrong, what, answers, placed, placement(pairs), method)
        if found is None:
            continue
        exact, quick, resolution = found
        off = rounding(placement(pairs)) + moved * placement.scale + resolution

        def tolerance(a, b, off=off, scale=placement.scale):
            return EXACT * extent * scale + 4 * (a.corners + b.corners) * off

        if method in COVERING:
            wrong += wrong_answers(before, exact, placement.scale, tolerance, what=f"{what}, exact")
            wrong += dearer_than(exact, quick, tolerance, what=what)
        else:
            for number, (a, b) in enumerate(zip(best, exact, strict=True)):
                if b is not None and b.found and b.cost < a.cost * placement.scale - tolerance(a, b):
                    wrong.append(f"{what}, query {number}: {b} is shorter than the shortest way {a}")
                if b is not None and b.found and not a.found:
                    wrong.append(f"{what}, query {number}: {b}, but there is no way")
    counted(f"FloorPlan, {method}", len(variants), 2 * len(variants) * len(covered))
    verdict(wrong)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PLANS)
def test_a_floor_plan_answers_alike_wherever_it_lies_and_however_its_outlines_are_written(name, method, counted):
    plan = PLANS[name]
    placements = changes.some_placements()[::2] if method in COVERING else changes.some_placements()[4:]
    variants = variants_of(plan, outlines(plan), placements, range(4 if method in COVERING else 0))
    judge(plan, method, variants, counted)


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PLANS)
def test_many_moved_floor_plans_answer_alike(name, method, counted):
    plan = PLANS[name]
    first = 1000 * SEED
    placements = [*changes.all_placements(), *(drawn_placement(seed) for seed in range(first, first + 20))]
    judge(plan, method, variants_of(plan, outlines(plan), placements, range(first, first + 40)), counted)


# --- buildings -------------------------------------------------------------------------------------------------------

BUILDINGS = {
    "a house with steps": scenes.house_for(scenes.PERSON),
    "a ramp": scenes.ramp_for(scenes.PERSON, 30.0),
    "a steep ramp": scenes.ramp_for(scenes.PERSON, 60.0),
}


def building_answers(scene, agent, method):
    cut = Building.from_mesh(scene.mesh(), agent=agent).decompose(method)
    return [ask(cut.path, *pair) for pair in scene.pairs]


def judge_building(scene, method, placements, cuts, counted):
    """Reachability as the scene says it; a platform that is no floor of its own may not be in the plans at all."""
    wrong = []
    variants = [(scenes.placed_scene(scene, placement), placement.scale) for placement in placements]
    variants += [(scenes.SCENE_CUTS[seed % 3](scene, seed), 1.0) for seed in cuts]
    for changed, scale in variants:
        body = scenes.scaled_agent(scenes.PERSON, scale)
        found = attempt(wrong, f"{changed.name}, {method}", building_answers, changed, body, method) or []
        for number, (answer, truth) in enumerate(zip(found, changed.reachable, strict=False)):
            if (answer is not None and answer.found) != truth:
                wrong.append(f"{changed.name}, {method}, query {number}: {answer}, but the scene says {truth}")
    counted("Building", len(variants), len(variants) * len(scene.pairs))
    verdict(wrong)


@pytest.mark.parametrize("name", BUILDINGS)
def test_a_building_joins_the_same_floors_wherever_it_lies(name, counted):
    placements = [changes.HERE, turned(45.0), turned(20.0).then(shifted(390_000.0, 5_820_000.0))]
    judge_building(BUILDINGS[name], "hertel-mehlhorn", placements, range(1), counted)


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS[:2])
@pytest.mark.parametrize("name", BUILDINGS)
def test_many_moved_buildings_join_the_same_floors(name, method, counted):
    first = 1000 * SEED
    placements = [*changes.all_placements(), *(turned(5.0 * step) for step in range(1, 18))]
    placements += [drawn_placement(seed) for seed in range(first, first + 20)]
    judge_building(BUILDINGS[name], method, placements, range(first, first + 6), counted)
