"""`Terrain` with each of its graphs, for points and discs.

No graph but the exact bound is free of sampling, so costs are held to what is certified: `lower_bound` of a world holds
for every way of every other placement of it. On top, ways over the refined graph are nearly optimal in each placement,
so they agree to `NEARLY`; those over a Steiner graph to its epsilon. Reachability must not differ at all.
"""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from tests.draws import SEED
from tests.metamorphic import changes, worlds
from tests.metamorphic.changes import drawn_placement, placed_shape
from tests.metamorphic.judge import attempt, verdict
from wayfold import Terrain
from wayfold.errors import OffMapError

WEIGHTS = {".": 1.0, "g": 2.5, "s": 0.4, "c": np.inf, "#": np.inf}
PLANS = {plan.name: plan for plan in (worlds.ROOMS, worlds.COURTYARD, worlds.PINCH, worlds.MEADOW)}
SAME = 1e-6  # relative: what rounding may do to a certified bound
NEARLY = 0.02  # refined ways are within 2 % of the optimum
EPSILON = 0.5
POINTS = ("refined", "steiner", "dual-extra", "dual", "grid")
DISCS = ("refined", "dual-extra", "dual", "grid")
RADIUS = 0.15


def regions(plan):
    """One region for each kind of ground."""
    found = []
    for character, weight in WEIGHTS.items():
        boxes = [shapely.box(*plan.box(cell)) for cell in plan.cells(character)]
        if boxes:
            found.append((shapely.union_all(boxes), weight, character))
    return found


def answers(painted, pairs, graph, radius, bounds):
    """(found, cost, lower bound) of each query, None off the map; and what costs differ from the line's own.

    Bounds take their time and are computed for the first `bounds` queries only; 0 is one too.
    """
    terrain = Terrain(painted)
    options = {"epsilon": EPSILON} if graph == "steiner" else {}
    result, wrong = [], []
    for number, (start, goal) in enumerate(pairs[..., :2]):
        try:
            path = terrain.path(start, goal, graph=graph, radius=radius, **options)
        except OffMapError:
            result.append(None)
            continue
        if not path:
            result.append((False, np.inf, np.inf))
            continue
        again = terrain.cost(path.points[:, :2], radius=radius)
        if abs(again - path.cost) > SAME * path.cost:
            wrong.append(f"the path costs {path.cost}, its line {again}")
        result.append((True, path.cost, path.lower_bound if number < bounds else 0.0))
    return result, wrong


def judge(plan, graph, radius, variants, counted, bounds):
    pairs, reachable = plan.pairs(8, 5, corners=True)  # a point passes where regions touch in a corner, in all graphs
    painted = regions(plan)
    before, wrong = answers(painted, pairs, graph, radius, bounds)
    wrong += [
        f"{plan.name}, {graph}, query {number}: {answer}, but the drawing says {truth}"
        for number, (answer, truth) in enumerate(zip(before, reachable, strict=True))
        if radius == 0 and (answer is None or answer[0] != truth)
    ]
    near = {"refined": NEARLY, "steiner": EPSILON}.get(graph, np.inf) if radius == 0 else np.inf
    for what, placement, shapes in variants:
        what = f"{plan.name}, {graph}, radius {radius}, {what}"
        scale = placement.scale
        found = attempt(wrong, what, answers, shapes, placement(pairs), graph, radius * scale, bounds)
        if found is None:
            continue
        after, unlike = found
        wrong += [f"{what}: {line}" for line in unlike]
        for number, (a, b) in enumerate(zip(before, after, strict=True)):
            where = f"{what}, query {number}"
            if (a is None) != (b is None) or (a is not None and a[0] != b[0]):
                wrong.append(f"{where}: {a} became {b}")
            elif a is not None and a[0]:
                if b[2] > a[1] * scale * (1 + SAME) or a[2] * scale > b[1] * (1 + SAME):
                    wrong.append(f"{where}: a certified bound does not hold, {a} and {b}")
                if abs(b[1] - a[1] * scale) > near * min(b[1], a[1] * scale):
                    wrong.append(f"{where}: {a[1] * scale} became {b[1]}")
    name = f"Terrain, {graph}" + (", disc" if radius else "")
    counted(name, len(variants), len(variants) * len(pairs))
    verdict(wrong)


def variants_of(plan, placements, cuts):
    painted = regions(plan)
    extent = plan.xs[-1] - plan.xs[0]
    result = []
    for placement in placements:
        shapes = [(placed_shape(shape, placement), weight, name) for shape, weight, name in painted]
        result.append((repr(placement), placement, shapes))
    for number, seed in enumerate(cuts):
        # Outlines of neighbouring regions stay the same line, so they are only reordered and subdivided alike.
        draw = np.random.default_rng(seed)
        order = draw.permutation(len(painted))
        shapes = [(painted[k][0].segmentize(0.37 * extent / (1 + number % 5)), *painted[k][1:]) for k in order]
        placement = drawn_placement(seed)
        shapes = [(placed_shape(shape.reverse(), placement), weight, name) for shape, weight, name in shapes]
        result.append((f"reordered and subdivided ({seed}), {placement}", placement, shapes))
    return result


def cut_lines(painted, seed, extent):
    """The same regions with more vertices on the lines between them: in the middle, beside a corner, beside the line.

    Both sides of a line get the same vertices, so that nothing opens between them; lines move by 1e-9 of the extent.
    """
    draw = np.random.default_rng([seed, 17])
    lines = shapely.get_parts(shapely.node(shapely.union_all([shape.boundary for shape, *_ in painted])))
    corners = shapely.get_coordinates(lines, return_index=True)
    segments = [
        (a, b) for a, b, i, j in zip(corners[0], corners[0][1:], corners[1], corners[1][1:], strict=False) if i == j
    ]
    changed = []
    for a, b in segments:
        along = b - a
        normal = np.array([-along[1], along[0]]) / np.hypot(*along)
        way = draw.integers(4)
        points = [a, b]
        if way == 1:
            points = [a, a + draw.uniform(0.2, 0.8) * along, b]
        elif way == 2:
            points = [a, a + extent * 10.0 ** draw.uniform(-9, -6) * along / np.hypot(*along), b]
        elif way == 3:
            aside = extent * draw.choice([-1, 1]) * 10.0 ** draw.uniform(-13, -9)
            points = [a, a + draw.uniform(0.2, 0.8) * along + aside * normal, b]
        changed.append(shapely.LineString(points))
    faces = shapely.get_parts(shapely.polygonize(changed))
    middles = shapely.point_on_surface(faces)
    return [
        (shapely.MultiPolygon(faces[shapely.intersects(shape, middles)].tolist()), weight, name)
        for shape, weight, name in painted
    ]


def disjoint(painted):
    """Regions that lie beside each other, the later ones over the earlier."""
    found = []
    for number, (shape, weight, name) in enumerate(painted):
        later = shapely.union_all([other for other, *_ in painted[number + 1 :]])
        rest = shapely.difference(shape, later)
        found.append((rest, weight, name))
    return [part for part in found if part[0].area > 0]


@pytest.mark.parametrize("graph", ["refined", "dual-extra", "dual", "steiner"])
def test_a_terrain_answers_alike_however_its_outlines_are_written(graph, counted):
    for plan in (worlds.MEADOW, worlds.COURTYARD):
        judge(plan, graph, 0.0, rewritten(plan, range(2) if graph == "steiner" else (*range(4), 6, 10)), counted, 0)


@pytest.mark.parametrize("graph", DISCS[:1])
def test_a_terrain_of_discs_answers_alike_however_its_outlines_are_written(graph, counted):
    judge(worlds.COURTYARD, graph, RADIUS, rewritten(worlds.COURTYARD, range(3)), counted, 0)


@pytest.mark.long
@pytest.mark.parametrize("radius", [0.0, RADIUS])
@pytest.mark.parametrize("name", PLANS)
def test_many_rewritten_terrains_answer_alike(name, radius, counted):
    plan = PLANS[name]
    for graph in POINTS[:1] + POINTS[2:4] if radius == 0 else DISCS[:2]:
        judge(plan, graph, radius, rewritten(plan, range(1000 * SEED, 1000 * SEED + 40)), counted, 1)


def rewritten(plan, numbers):
    """Regions with more vertices on their outlines, here and elsewhere."""
    painted = disjoint(regions(plan))
    result = []
    for number in numbers:
        placement = changes.HERE if number % 2 else drawn_placement(number)
        cut = cut_lines(painted, number, plan.xs[-1] - plan.xs[0])
        shapes = [(placed_shape(shape, placement), weight, name) for shape, weight, name in cut]
        result.append((f"rewritten ({number}), {placement}", placement, shapes))
    return result


CASES = [(graph, 0.0) for graph in POINTS] + [(graph, RADIUS) for graph in DISCS]


@pytest.mark.parametrize(("graph", "radius"), CASES)
def test_a_terrain_answers_alike_wherever_it_lies(graph, radius, counted):
    for plan in (worlds.MEADOW, worlds.PINCH) if radius == 0 else (worlds.COURTYARD,):
        placements = changes.some_placements()[4:]
        judge(plan, graph, radius, variants_of(plan, placements, range(1)), counted, 2 if graph == "refined" else 0)


@pytest.mark.long
@pytest.mark.parametrize(("graph", "radius"), CASES)
@pytest.mark.parametrize("name", PLANS)
def test_many_moved_terrains_answer_alike(name, graph, radius, counted):
    plan = PLANS[name]
    first = 1000 * SEED
    few = radius > 0 or graph == "steiner"
    placements = changes.all_placements()[:: 5 if few else 2]
    placements += map(drawn_placement, range(first, first + (2 if few else 8)))
    cuts = range(first, first + (2 if few else 6))
    judge(plan, graph, radius, variants_of(plan, placements, cuts), counted, 3 if graph == "refined" else 1)
