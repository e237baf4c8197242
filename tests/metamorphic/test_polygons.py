"""`NavMesh.from_polygons`: an exact map, so lengths differ by no more than coordinates were rounded."""

from __future__ import annotations

import numpy as np
import pytest

from tests.draws import SEED, seeds
from tests.metamorphic import changes, worlds
from tests.metamorphic.changes import drawn_placement, least_gap, place
from tests.metamorphic.judge import (
    Answer,
    ask,
    attempt,
    dearer_than,
    exact_tolerance,
    verdict,
    within_bounds,
    wrong_answers,
)
from wayfold import NavMesh

pytestmark = pytest.mark.kernels

WORLDS = {plan.name: plan.polygon_world() for plan in worlds.PLANS}
WORLDS |= {world.name: world for world in map(worlds.staircase_hall, (0.0, 1e-9, -1e-10, 1e-11))}
WORLDS |= {world.name: world for world in (worlds.two_floors(), worlds.linked_islands())}
WORLDS |= {world.name: world for world in map(worlds.triangulated, range(4))}
WORLDS = {name: worlds.with_corners(world) for name, world in WORLDS.items()}


def build(world):
    mesh = NavMesh.from_polygons(world.vertices, world.polygons, areas=world.kinds)
    for start, end, cost, one_way in world.links:
        mesh.add_link(start, end, cost=cost, both_ways=not one_way)
    return mesh


def queries(world):
    """Pairs inside polygons, then pairs of vertices, which lie on borders of several polygons."""
    return np.concatenate([world.pairs, world.corners.reshape(-1, 2, 3)])


def answers(world):
    """What the mesh says: shortest ways, quick ones, ways over ground of several costs, and straight walks."""
    mesh = build(world)
    closed = {kind: cost for kind, cost in world.costs if np.isinf(cost)}
    pairs = queries(world)

    def straight(start, goal):
        hit = mesh.raycast(start, goal, costs=closed)
        way = float(np.linalg.norm((goal - start)[:2]))
        return Answer(True, hit.fraction * way, way, 2)

    return {
        "exact": [ask(lambda a, b: mesh.path(a, b, costs=closed), *pair) for pair in pairs],
        "quick": [ask(lambda a, b: mesh.path(a, b, costs=closed, exact=False), *pair) for pair in pairs],
        "weighted": [ask(lambda a, b: mesh.path(a, b, costs=dict(world.costs)), *pair, bound=True) for pair in pairs],
        "straight": [straight(*pair) for pair in world.pairs],
    }


def compare(world, before, changed, scale):
    """Wrong answers of a changed world."""
    what = repr(changed)
    wrong = []
    after = attempt(wrong, what, answers, changed)
    if after is None:
        return wrong, 0

    def tolerance(a, b):
        return exact_tolerance(a, b, changed.extent, changed.vertices, changed.moved)

    wrong += wrong_answers(before["exact"], after["exact"], scale, tolerance, what=f"{what}, exact")
    wrong += dearer_than(after["exact"], after["quick"], tolerance, what=what)
    # Ground of several costs: the search places points on portals, and another cut has other portals. But what one
    # cut certifies as a lower bound holds for the ways of all of them.
    dearest = max((cost for _, cost in world.costs if np.isfinite(cost)), default=1.0)
    free = within_bounds(
        before["weighted"],
        after["weighted"],
        scale,
        lambda a, b: max(dearest, 1.0) * tolerance(a, b),
        what=f"{what}, weighted",
    )
    # A straight walk that meets a wall at a flat angle ends elsewhere by a multiple of what the wall moved; walks that
    # are drawn at random meet none below a thousandth.
    rays = wrong_answers(
        before["straight"], after["straight"], scale, lambda a, b: 1e3 * tolerance(a, b), what=f"{what}, straight"
    )
    return wrong + free + rays, sum(map(len, after.values()))


def judge(world, variants, counted):
    before = answers(world)
    wrong, total = [], 0
    if world.reachable is not None:
        truth = before["exact"][: len(world.reachable)]
        wrong += [
            f"{world}, query {number}: {answer}, but the drawing says {known}"
            for number, (answer, known) in enumerate(zip(truth, world.reachable, strict=True))
            if answer is None or answer.found != known
        ]
    for changed, scale in variants:
        more, count = compare(world, before, changed, scale)
        wrong += more
        total += count
    counted("NavMesh.from_polygons", len(variants), total)
    verdict(wrong)


@pytest.mark.parametrize("name", WORLDS)
def test_a_mesh_of_polygons_answers_alike_wherever_it_lies_and_however_it_is_cut(name, counted):
    world = WORLDS[name]
    variants = [(place(world, placement), placement.scale) for placement in changes.some_placements()]
    for number, cut in enumerate(changes.CUTS):
        placement = drawn_placement(number)
        variants.append((cut(world, number), 1.0))
        variants.append((place(cut(world, number + 10, least_gap(world, placement)), placement), placement.scale))
    judge(world, variants, counted)


@pytest.mark.parametrize(("name", "seed"), [("a spiral", 18), ("two floors and a ramp", 6)])
def test_a_start_in_a_sliver_is_not_moved_out_of_its_place(name, seed, counted):
    world, placement = WORLDS[name], drawn_placement(seed)
    near = changes.near_duplicates(world, seed, least_gap(world, placement))
    variants = [(changes.near_duplicates(world, seed), 1.0), (place(near, placement), placement.scale)]
    judge(world, variants, counted)


@pytest.mark.long
@pytest.mark.parametrize("name", WORLDS)
def test_many_changed_meshes_of_polygons_answer_alike(name, counted):
    world = WORLDS[name]
    variants = [(place(world, placement), placement.scale) for placement in changes.all_placements()]
    for seed in range(60 * SEED, 60 * SEED + 60):
        placement = drawn_placement(seed)
        gap = least_gap(world, placement)
        cut = changes.CUTS[seed % len(changes.CUTS)]
        variants.append((cut(world, seed), 1.0))
        variants.append((place(cut(world, seed, gap), placement), placement.scale))
        twice = changes.CUTS[seed // 4 % len(changes.CUTS)](cut(world, seed, gap), seed + 1, gap)
        variants.append((changes.reordered(place(twice, placement), seed), placement.scale))
    judge(world, variants, counted)


@seeds(6, found=(16004004,))
def test_triangles_drawn_at_random_answer_alike_wherever_they_lie(seed, counted):
    world = worlds.triangulated(seed + 100)
    placements = [drawn_placement(10 * seed + number) for number in range(4)]
    variants = [(place(world, placement), placement.scale) for placement in placements]
    variants += [(cut(world, seed), 1.0) for cut in changes.CUTS]
    judge(world, variants, counted)
