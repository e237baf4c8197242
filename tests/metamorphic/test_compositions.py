"""Everything at once: drawn worlds with costs, links, closed ground and edits, changed in several ways in a row.

Hypothesis draws the world, what is done to it and where it is put; the drawing itself says what is reachable.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.metamorphic import changes, scenes, worlds
from tests.metamorphic.changes import HERE, least_gap, mirrored, place, scaled, shifted, turned
from tests.metamorphic.judge import (
    ask,
    attempt,
    dearer_than,
    exact_tolerance,
    grown_tolerance,
    verdict,
    within_bounds,
    wrong_answers,
)
from wayfold import Agent, NavMesh, Prism, World

UNCHECKED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]  # it only counts


@st.composite
def placements(draw):
    """Mirrored or not, turned by any angle or a whole number of quarters, scaled, shifted; or some of these."""
    placement = HERE
    if draw(st.booleans()):
        placement = placement.then(mirrored(draw(st.sampled_from("xy"))))
    angle = draw(st.sampled_from([0.0, 90.0, 180.0, 270.0, 45.0, 30.0]) | st.floats(-180.0, 180.0))
    placement = placement.then(turned(angle))
    placement = placement.then(scaled(draw(st.sampled_from([1.0, 1e-3, 1e3, 0.3048]) | st.floats(1e-3, 1e3))))
    far = st.sampled_from([0.0, 1e7, -1e7, 390_000.0, 5_820_000.3]) | st.floats(-1e7, 1e7)
    return placement.then(shifted(draw(far), draw(far)))


def drawn_plan(seed, low=0.4, high=4.0):
    """A drawing of 7 by 6 cells, about a third of them solid, some of other kinds."""
    draw = np.random.default_rng([seed, 31])
    cells = draw.choice(list("....##gsc"), (6, 7), p=[0.15] * 4 + [0.13, 0.12, 0.07, 0.05, 0.03])
    widths, heights = draw.uniform(low, high, 7), draw.uniform(low, high, 6)
    rows = tuple("".join(row) for row in cells)
    return worlds.Plan(f"drawn ({seed})", rows, worlds.spread(widths), worlds.spread(heights))


# --- polygons ---------------------------------------------------------------------------------------------------------


def drawn_polygons(seed):
    """A plan as polygons with links between places of it, some of them one-way, some dear."""
    plan = drawn_plan(seed)
    draw = np.random.default_rng([seed, 32])
    links = []
    flat = draw.random() < 0.5
    cells = plan.cells(".gs")
    for _ in range(draw.integers(0, 4)):
        a, b = (plan.inside(cells[draw.integers(len(cells))], *draw.uniform(0.1, 0.9, 2)) for _ in range(2))
        # Without a cost a link costs its length in space; how high a bent polygon is depends on how it is cut.
        cost = None if flat and draw.random() < 0.5 else float(draw.uniform(0.0, 10.0))
        links.append((a, b, cost, draw.random() < 0.5))
    world = plan.polygon_world(10, seed, links=links)
    if not flat:  # some heights, which say nothing about lengths seen from above
        world = replace(
            world, vertices=world.vertices + np.array([0, 0, 1]) * draw.uniform(0, 0.5, (len(world.vertices), 1))
        )
    return worlds.with_corners(world, seed)


def mesh_answers(world):
    mesh = NavMesh.from_polygons(world.vertices, world.polygons, areas=world.kinds)
    for start, end, cost, one_way in world.links:
        mesh.add_link(start, end, cost=cost, both_ways=not one_way)
    closed = {kind: cost for kind, cost in world.costs if np.isinf(cost)}
    pairs = np.concatenate([world.pairs, world.corners.reshape(-1, 2, 3)])[..., :2]
    return {
        "exact": [ask(lambda a, b: mesh.path(a, b, costs=closed), *pair) for pair in pairs],
        "quick": [ask(lambda a, b: mesh.path(a, b, costs=closed, exact=False), *pair) for pair in pairs],
        "weighted": [ask(lambda a, b: mesh.path(a, b, costs=dict(world.costs)), *pair, bound=True) for pair in pairs],
    }


def judge_polygons(seed, cuts, placement, counted):
    world = drawn_polygons(seed)
    changed = world
    for number, cut in enumerate(cuts):
        changed = changes.CUTS[cut](changed, seed + number, least_gap(world, placement))
    changed = place(changed, placement)
    before = mesh_answers(world)
    what = repr(changed)
    wrong = []
    after = attempt(wrong, what, mesh_answers, changed)
    if after is not None:

        def tolerance(a, b):
            return exact_tolerance(a, b, changed.extent, changed.vertices, changed.moved)

        wrong += wrong_answers(before["exact"], after["exact"], placement.scale, tolerance, what=f"{what}, exact")
        wrong += dearer_than(after["exact"], after["quick"], tolerance, what=what)
        wrong += within_bounds(
            before["weighted"],
            after["weighted"],
            placement.scale,
            lambda a, b: 2.5 * tolerance(a, b),  # the dearest ground costs 2.5 a metre
            what=f"{what}, weighted",
        )
        counted("compositions, NavMesh.from_polygons", 1, sum(map(len, after.values())))
    verdict(wrong)


CUTS = st.lists(st.integers(0, len(changes.CUTS) - 1), max_size=3)


@settings(max_examples=10, suppress_health_check=UNCHECKED)
@given(seed=st.integers(0, 10**6), cuts=CUTS, placement=placements())
def test_polygons_with_costs_and_links_answer_alike(counted, seed, cuts, placement):
    judge_polygons(seed, cuts, placement, counted)


@pytest.mark.long
@settings(max_examples=100, suppress_health_check=UNCHECKED)
@given(seed=st.integers(0, 10**6), cuts=CUTS, placement=placements())
def test_many_polygons_with_costs_and_links_answer_alike(counted, seed, cuts, placement):
    judge_polygons(seed, cuts, placement, counted)


# --- a world with edits -----------------------------------------------------------------------------------------------

WALKER = Agent(radius=0.3, height=1.7, climb=0.3)
RIM = (1.42 + 1.3) * WALKER.radius / 2  # see test_walkers
MATERIALS = {".": 0, "g": 1, "s": 2, "c": 3}
NAMES = ("ground", "grass", "sand", "water")


def level_of(plan):
    """The plan as triangles: ground of several materials, of which water is closed, and walls."""
    make = scenes._Maker()
    for cell in plan.cells(".gsc"):
        make.floor(*plan.box(cell), material=MATERIALS[plan.kind(*cell)])
    for cell in plan.cells("#"):
        x0, y0, x1, y1 = plan.box(cell)
        make.box((x0, y0, -0.5), (x1, y1, 2.5))
    return make.scene(plan.name, [((0, 0, 0), (0, 0, 0), True)], NAMES)


def edited_answers(plan, edits, pairs, placement):
    """Answers after each edit of a world; None for a query whose end is blocked."""
    scene = scenes.placed_scene(level_of(plan), placement)
    world = World.from_mesh(scene.mesh(), cache=False)
    planner = world.planner(scenes.scaled_agent(WALKER, placement.scale))
    low, high = (float(placement(np.array([0.0, 0.0, z]))[2]) for z in (-1.0, 3.0))
    shapes = {}
    result = []
    for kind, cell, cost in [("look", None, 1.0), *edits]:
        if cell is not None:
            x0, y0, x1, y1 = plan.box(cell)
            corners = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
            shape = shapes.setdefault(cell, Prism(placement(corners), low, high))
            if kind == "block":
                world.block(shape)
            elif kind == "unblock":
                world.unblock(shape)
            else:
                world.set_cost(shape, cost)
        moved = placement(pairs)
        result.append([ask(lambda a, b: planner.path(a, b, exact=True), *pair) for pair in moved])
    return result


def drawn_edits(plan, draw):
    """Cells that are blocked, opened again, made dear or cheap."""
    edits, blocked = [], []
    cells = plan.cells(".gs")
    for _ in range(draw.integers(1, 5)):
        cell = cells[draw.integers(len(cells))]
        if blocked and draw.random() < 0.35:
            edits.append(("unblock", blocked.pop(int(draw.integers(len(blocked)))), 1.0))
        elif draw.random() < 0.6 and cell not in blocked:
            blocked.append(cell)
            edits.append(("block", cell, 1.0))
        else:
            edits.append(("cost", cell, float(draw.choice([0.4, 3.0]))))
    return edits


def judge_edits(seed, placement, counted):
    plan = drawn_plan(seed, low=2.4)
    draw = np.random.default_rng([seed, 33])
    cells = plan.cells(".gs")
    chosen = [(cells[draw.integers(len(cells))], cells[draw.integers(len(cells))]) for _ in range(6)]
    pairs = np.array([[plan.inside(cell, *draw.uniform(0.4, 0.6, 2)) for cell in pair] for pair in chosen])
    edits = drawn_edits(plan, draw)
    before = edited_answers(plan, edits, pairs, HERE)
    after = edited_answers(plan, edits, pairs, placement)
    wrong, blocked, even = [], set(), True
    for number, (kind, cell, _) in enumerate([("look", None, 1.0), *edits]):
        blocked ^= {cell} if kind in ("block", "unblock") else set()
        even &= kind != "cost"
        rows = [list(row) for row in plan.rows]
        for column, row in blocked:
            rows[len(rows) - 1 - row][column] = "#"
        left = replace(plan, rows=tuple("".join(row) for row in rows))
        islands = left.islands(".gs")
        what = f"{plan.name}, {placement}, after {edits[:number]}"
        for at, (a, b) in enumerate(chosen):
            truth = None if a in blocked or b in blocked else islands[a] == islands[b]
            for where, answers in (("as it is", before), ("placed", after)):
                answer = answers[number][at]
                found = None if answer is None else answer.found
                if found is not truth and not (truth is None and not found):
                    wrong.append(f"{what}, {where}, query {at}: {answer}, but the drawing says {truth}")
        if even and not wrong:

            def tolerance(a, b):
                return grown_tolerance(a, b, RIM * placement.scale)

            ends = zip(before[number], after[number], strict=True)
            both = [(a, b) for a, b in ends if a is not None and b is not None]
            first, second = [a for a, _ in both], [b for _, b in both]
            wrong += wrong_answers(first, second, placement.scale, tolerance, what=what)
    counted("compositions, World with edits", 1, len(after) * len(pairs))
    verdict(wrong)


@settings(max_examples=4, suppress_health_check=UNCHECKED)
@given(seed=st.integers(0, 10**6), placement=placements())
def test_a_world_with_edits_answers_alike(counted, seed, placement):
    judge_edits(seed, placement, counted)


@pytest.mark.long
@settings(max_examples=30, suppress_health_check=UNCHECKED)
@given(seed=st.integers(0, 10**6), placement=placements())
def test_many_worlds_with_edits_answer_alike(counted, seed, placement):
    judge_edits(seed, placement, counted)
