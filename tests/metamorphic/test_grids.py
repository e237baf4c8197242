"""`DenseGrid` and `SparseGrid` under the symmetries of the lattice: quarter turns, mirrors, shifts by whole cells.

Steps cost 1 or the square root of 2 whichever way they lead, so exact costs differ by the order of a sum alone: by
`SAME` of the cost. Abstract ways follow regions, which shifts cut elsewhere: they are found where exact ones are, and
never cheaper.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.draws import SEED, seeds
from tests.metamorphic import changes, scenes
from tests.metamorphic.changes import drawn_placement
from tests.metamorphic.judge import Answer, ask, attempt, dearer_than, verdict, wrong_answers
from wayfold import DenseGrid, SparseGrid

pytestmark = pytest.mark.kernels

SAME = 1e-6  # of the cost: sums of float32 steps in another order
TURNS = [np.array([[a, b], [c, d]]) for a, b, c, d in ((1, 0, 0, 1), (0, -1, 1, 0), (-1, 0, 0, -1), (0, 1, -1, 0))]
SYMMETRIES = [*TURNS, *(turn @ np.array([[-1, 0], [0, 1]]) for turn in TURNS)]
SHIFTS = ((0, 0), (5, -3), (16, 16), (-1000, 77), (2**29, -(2**29)), (10_000_000, 3), (-7, 2**20 + 1))


@dataclass(frozen=True)
class CellWorld:
    cells: np.ndarray  # (n, 3)
    kinds: np.ndarray  # (n,)
    effects: np.ndarray  # (e, 3) cells
    links: tuple  # of (a, b, cost, both_ways)
    removed: np.ndarray  # (r, 3) cells that are taken away after building
    pairs: np.ndarray  # (q, 2, 3)


def drawn_cells(seed, size=22):
    """Two floors of drawn rooms, a stair of single levels between them, water, effects and links."""
    draw = np.random.default_rng([seed, 5])
    low = draw.random((size, size)) < 0.78
    low[:, size // 2] = False
    if draw.random() < 0.7:
        low[draw.integers(size), size // 2] = True
    cells = [(x, y, 0) for x, y in np.argwhere(low)]
    row = int(draw.integers(2, size - 2))
    stair = [(size + step, row, step + 1) for step in range(6)]
    cells = [cell for cell in cells if cell not in stair] + stair
    cells += [(x, y, 7) for x, y in np.argwhere(draw.random((size, size)) < 0.7) + np.array([size + 6, 0])]
    if (size + 6, row, 7) not in cells:
        cells.append((size + 6, row, 7))
    if (size - 1, row, 0) not in cells:
        cells.append((size - 1, row, 0))
    cells += [(int(x), int(y), 12) for x, y in np.argwhere(draw.random((6, 6)) < 0.8)]  # an island above the rest
    cells = np.unique(np.array(cells), axis=0)
    kinds = (draw.random(len(cells)) < 0.04).astype(int)
    chosen = draw.permutation(len(cells))
    removed = cells[chosen[:20]]
    left = cells[chosen[20:]]
    links = []
    for number in range(0, 8, 2):
        a, b = left[number], left[number + 1]
        octile = np.abs(a - b)[:2]
        cost = float(octile.max() + (np.sqrt(2) - 1) * octile.min() + draw.uniform(0, 20))
        links.append((a, b, cost, bool(draw.random() < 0.5)))
    ends = left[draw.integers(0, len(left), (16, 2))]
    return CellWorld(cells, kinds, left[20:60], tuple(links), removed, ends)


def moved(world, symmetry, shift, lift, seed):
    """The world under a symmetry, shifted and lifted by whole cells, its cells in another order."""
    draw = np.random.default_rng(seed)

    def move(cells):
        flat = cells[..., :2] @ symmetry.T + np.array(shift)
        return np.concatenate([flat, cells[..., 2:] + lift], axis=-1)

    order = draw.permutation(len(world.cells))
    return replace(
        world,
        cells=move(world.cells)[order],
        kinds=world.kinds[order],
        effects=move(world.effects),
        removed=draw.permutation(move(world.removed)),
        links=tuple((move(a), move(b), cost, both) for a, b, cost, both in world.links),
        pairs=move(world.pairs),
    )


def sparse_answers(world, **options):
    grid = SparseGrid.from_cells(world.cells, kinds=world.kinds, **options)
    grid.add_effect(world.effects)
    for a, b, cost, both_ways in world.links:
        grid.add_link(a, b, cost=cost, both_ways=both_ways)
    grid.remove(world.removed)
    return {
        "exact": [ask(lambda a, b: grid.path(a, b, exact=True), *pair) for pair in world.pairs],
        "abstract": [ask(grid.path, *pair) for pair in world.pairs],
    }


def tolerance(a, b):
    return SAME * max(a.cost, b.cost)


def judge_sparse(world, variants, counted, **options):
    before = sparse_answers(world, **options)
    wrong = dearer_than(before["exact"], before["abstract"], tolerance, what="as it is")
    for what, changed, other in variants:
        after = sparse_answers(changed, **(options | other))
        wrong += wrong_answers(before["exact"], after["exact"], 1.0, tolerance, what=f"{what}, exact")
        wrong += dearer_than(after["exact"], after["abstract"], tolerance, what=f"{what}, abstract")
    counted("SparseGrid", len(variants), 2 * len(variants) * len(world.pairs))
    verdict(wrong)


def variants_of(world, numbers):
    """Every symmetry with a shift, and other sectors and other ways to find successors."""
    result = []
    for number in numbers:
        symmetry = SYMMETRIES[number % 8]
        shift = SHIFTS[number % len(SHIFTS)]
        lift = (0, -3000, 12_000, 1)[number % 4]
        options = ({}, {"sector_size": 7}, {"successors": "1-bit"}, {"trim": False}, {"merge": False})[number % 5]
        what = f"symmetry {number % 8}, shifted by {shift}, lifted by {lift}, {options}"
        result.append((what, moved(world, symmetry, shift, lift, number), options))
    return result


@seeds(3)
def test_a_sparse_grid_answers_alike_under_the_symmetries_of_its_lattice(seed, counted):
    world = drawn_cells(seed)
    judge_sparse(world, variants_of(world, range(8)), counted, drop=3 if seed % 2 else 0)


@pytest.mark.long
@pytest.mark.parametrize("portion", range(4))
def test_many_moved_sparse_grids_answer_alike(portion, counted):
    for seed in range(100 * SEED + 10 * portion + 40, 100 * SEED + 10 * portion + 50):
        world = drawn_cells(seed)
        judge_sparse(world, variants_of(world, range(seed, seed + 30)), counted, drop=3 if seed % 2 else 0)


def judge_dense(seed, numbers, counted):
    draw = np.random.default_rng([seed, 9])
    kinds = draw.choice([0, 1, 1, 1, 2], (17, 23)).astype(np.uint8)
    free = np.argwhere(kinds > 0)[:, ::-1]  # (x, y)
    ends = free[draw.integers(0, len(free), (20, 2))]

    def answers(kinds, ends):
        grid = DenseGrid(kinds)
        return [ask(grid.path, *pair) for pair in ends]

    def smoothed(kinds, ends):
        """Lengths of the ways that are pulled straight, which shorten the exact ones and pass no wall."""
        grid = DenseGrid(kinds)
        paths = [grid.path(*pair, smooth=True) for pair in ends]
        return [Answer(bool(path), path.length, path.length, len(path.points)) for path in paths]

    before = answers(kinds, ends)
    wrong = []
    for number in numbers:
        # Padded with walls, then turned and mirrored as an array; the padding shifts it.
        pad = [(0, 0), (3, 8), (1, 0), (16, 16)][number % 4]
        array, points = np.pad(kinds, (pad, pad[::-1])), ends + np.array([pad[1], pad[0]])
        if number // 4 % 2:
            array, points = array[:, ::-1], np.stack([array.shape[1] - 1 - points[..., 0], points[..., 1]], axis=-1)
        for _ in range(number % 4):
            array, points = np.rot90(array), np.stack([points[..., 1], array.shape[1] - 1 - points[..., 0]], axis=-1)
        what = f"seed {seed}, change {number}"
        after = answers(array, points)
        wrong += wrong_answers(before, after, 1.0, tolerance, what=what)
        wrong += [
            f"{what}: pulled straight {short} is longer than {long}"
            for short, long in zip(smoothed(array, points), after, strict=True)
            if short.found != long.found or (long.found and short.cost > long.cost + tolerance(short, long))
        ]
    counted("DenseGrid", len(list(numbers)), 2 * len(before) * len(list(numbers)))
    verdict(wrong)


@seeds(3)
def test_a_dense_grid_answers_alike_under_the_symmetries_of_its_lattice(seed, counted):
    judge_dense(seed, range(8), counted)


@pytest.mark.long
def test_many_turned_dense_grids_answer_alike(counted):
    for seed in range(100 * SEED + 40, 100 * SEED + 100):
        judge_dense(seed, range(16), counted)


# --- cells of a mesh -------------------------------------------------------------------------------------------------

SCENES = {
    "a house with steps": scenes.house_for(scenes.PERSON),
    "a ramp": scenes.ramp_for(scenes.PERSON, 30.0),
    "a steep ramp": scenes.ramp_for(scenes.PERSON, 60.0),
    "an office": scenes.office(2.4),
}
CELL = 0.25


def scene_answers(scene, scale):
    """Lengths in metres, each along the axes and diagonals of the cells."""
    agent = scenes.scaled_agent(scenes.PERSON, scale)
    grid = SparseGrid.from_mesh(scene.mesh(), agent, CELL * scale)
    result = []
    for start, goal in scene.pairs:
        path = grid.path(*grid.to_cells([start, goal], max_distance=4.0), exact=True)
        points = grid.to_world(path.points) if path else np.zeros((1, 3))
        length = float(np.hypot(*np.diff(points[:, :2], axis=0).T).sum())
        result.append(Answer(bool(path), length, length, len(points)))
    return result


def judge_scene(scene, placements, cuts, counted):
    """Reachability as the scene says it, and lengths: along other axes up to 8.3 % more or less, or a cell a turn."""
    before = scene_answers(scene, 1.0)
    wrong = [
        f"{scene.name}, query {number}: {answer}, but the scene says {truth}"
        for number, (answer, truth) in enumerate(zip(before, scene.reachable, strict=True))
        if answer.found != truth
    ]
    variants = [(scenes.placed_scene(scene, placement), placement.scale) for placement in placements]
    variants += [(scenes.SCENE_CUTS[seed % 3](scene, seed), 1.0) for seed in cuts]

    def tolerance(a, b):
        return 0.09 * max(a.cost, b.cost) + 8 * CELL * scale

    for changed, scale in variants:
        found = attempt(wrong, changed.name, scene_answers, changed, scale)
        if found is not None:
            wrong += wrong_answers(before, found, scale, tolerance, what=changed.name)
    counted("SparseGrid.from_mesh", len(variants), len(variants) * len(scene.pairs))
    verdict(wrong)


@pytest.mark.parametrize("name", SCENES)
def test_the_cells_of_a_mesh_join_the_same_places_wherever_it_lies(name, counted):
    judge_scene(SCENES[name], [*changes.some_placements()[::2], changes.turned(45.0)], range(2), counted)


@pytest.mark.long
@pytest.mark.parametrize("name", SCENES)
def test_the_cells_of_many_moved_meshes_join_the_same_places(name, counted):
    first = 1000 * SEED
    drawn = [drawn_placement(seed) for seed in range(first, first + 25)]
    judge_scene(SCENES[name], [*changes.all_placements(), *drawn], range(first, first + 9), counted)
