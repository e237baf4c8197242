"""What a path of the sparse grid costs is the sum along its cells and links, however it was asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests import naive_grid
from tests.draws import seeds
from wayfold import SparseGrid
from wayfold.core.archive import read_archive, write_archive
from wayfold.errors import FormatError, ParameterError

pytestmark = pytest.mark.kernels


def turned(cells, turn, mirror, shift):
    """Cells turned by quarters about z, mirrored and moved."""
    result = []
    for x, y, z in cells:
        if mirror:
            x = -x
        for _ in range(turn):
            x, y = -y, x
        result.append((x + shift[0], y + shift[1], z + shift[2]))
    return result


def random_world(seed):
    """A grid of some floors with holes, effects and links, and the same as plain dicts."""
    rng = np.random.default_rng(seed)
    width, depth, floors = int(rng.integers(4, 14)), int(rng.integers(3, 9)), int(rng.integers(1, 4))
    cells = [
        (x, y, 5 * floor) for floor in range(floors) for y in range(depth) for x in range(width) if rng.random() > 0.15
    ]
    shift = rng.integers(-(10**7), 10**7, 3) if seed % 2 else rng.integers(-3, 3, 3)
    shift[2] %= 100
    cells = turned(cells, int(rng.integers(4)), bool(rng.integers(2)), shift.tolist())
    weight = float(rng.choice([0.5, 1.0, 2.0]))
    plain = naive_grid.NaiveGrid(max_step=1)
    plain.add(cells)
    grid = SparseGrid.from_cells(cells, int(rng.integers(2, 9)), effect_cost=weight)
    dear = [cells[at] for at in rng.choice(len(cells), len(cells) // 3, replace=False)]
    plain.effect(dear, 1)
    grid.add_effect(dear)
    links = {}
    for _ in range(int(rng.integers(1, 8))):
        a, b = (cells[at] for at in rng.choice(len(cells), 2, replace=False))
        if (a, b) in links or (b, a) in links:
            continue
        across = sorted(abs(a[axis] - b[axis]) for axis in range(2))
        cost = (across[1] + (math.sqrt(2) - 1) * across[0]) * float(rng.uniform(1, 2)) + float(rng.uniform(0, 4))
        both = bool(rng.integers(2))
        grid.add_link(a, b, cost=cost, both_ways=both)
        links[a, b] = cost
        if both:
            links[b, a] = cost
    return grid, plain, cells, links, weight, rng


@seeds(30)
def test_every_path_costs_the_sum_of_its_steps_and_links(seed):
    """Legs were priced as straight walks wherever one could walk, over effects and beside the link that was taken."""
    grid, plain, cells, links, weight, rng = random_world(seed)
    ends = [tuple(cells[at] for at in rng.choice(len(cells), 2)) for _ in range(12)]
    for start, goal in ends:
        best = naive_grid.linked_costs(plain, links, start, weight).get(goal, math.inf)
        exact = grid.path(start, goal, exact=True)
        assert exact.cost == pytest.approx(best, rel=1e-9)
        for smooth in (False, True):
            path = grid.path(start, goal, smooth=smooth)
            assert path.found == exact.found
            if not path:
                continue
            walked = smooth and len(grid.path(start, goal).points) > 2
            expected = naive_grid.path_cost(plain, links, path.points, weight, straight=walked)
            assert path.cost == pytest.approx(expected, rel=1e-9)
            assert grid.replan(path).cost == pytest.approx(path.cost, rel=1e-9)
            if not smooth:
                pulled = path.smooth()
                expected = naive_grid.path_cost(plain, links, pulled.points, weight, straight=pulled is not path)
                assert pulled.cost == pytest.approx(expected, rel=1e-9)
                assert grid.replan(pulled).cost == pytest.approx(pulled.cost, rel=1e-9)
    starts, goals = zip(*ends, strict=True)
    for exact in (True, False):
        found = grid.paths(starts, goals, exact=exact, workers=2)
        for path, start, goal in zip(found, starts, goals, strict=True):
            assert path.cost == grid.path(start, goal, exact=exact).cost


@seeds(20)
def test_a_replanned_path_costs_what_its_cells_cost_after_the_edits(seed):
    grid, plain, cells, links, weight, rng = random_world(seed)
    for _ in range(6):
        start, goal = (cells[at] for at in rng.choice(len(cells), 2))
        path = grid.path(start, goal, smooth=bool(rng.integers(2)))
        if not path:
            continue
        inner = [cell for cell in cells if cell not in (start, goal) and cell in plain.cells]
        dear = [inner[at] for at in rng.choice(len(inner), 3, replace=False)]
        dear = [cell for cell in dear if plain.cells[cell][1] < 6]
        grid.add_effect(dear)
        plain.effect(dear, 1)
        if rng.random() < 0.5:
            gone = [inner[at] for at in rng.choice(len(inner), 1)]
            grid.remove(gone)
            plain.remove(gone)
            cells = [cell for cell in cells if cell not in gone]
        usable = {ends: cost for ends, cost in links.items() if ends[0] in plain.cells and ends[1] in plain.cells}
        smooth = bool(rng.integers(2))
        again = grid.replan(path, smooth=smooth)
        best = naive_grid.linked_costs(plain, usable, start, weight).get(goal, math.inf)
        assert again.found == math.isfinite(best)
        if again:
            priced = [
                naive_grid.path_cost(plain, usable, again.points, weight, straight=straight)
                for straight in (True, False)
            ]
            assert any(again.cost == pytest.approx(price, rel=1e-9) for price in priced)


def test_a_link_beside_dear_cells_costs_what_a_link_costs():
    grid = SparseGrid.from_cells([(x, 0, 0) for x in range(10)])
    grid.add_effect([(x, 0, 0) for x in range(1, 9)])
    grid.add_link((0, 0), (9, 0), cost=12)
    start, goal = (0, 0), (9, 0)
    for exact in (True, False):
        for smooth in (False, True):
            path = grid.path(start, goal, exact=exact, smooth=smooth)
            assert path.cost == 12
            assert grid.replan(path).cost == 12
            assert grid.paths([start], [goal], exact=exact, smooth=smooth)[0].cost == 12


def test_who_walks_beside_a_link_pays_for_the_walk():
    grid = SparseGrid.from_cells([(x, 0, 0) for x in range(5)])
    grid.add_link((0, 0), (4, 0), cost=12)
    walked = grid.path((0, 0), (4, 0), exact=True).smooth()
    assert len(walked.points) == 2
    assert walked.cost == grid.replan(walked).cost == 4
    assert grid.path((0, 0), (4, 0), smooth=True).cost == 4


def test_a_straight_leg_over_new_effects_is_planned_anew():
    grid = SparseGrid.from_cells([(x, y, 0) for y in range(7) for x in range(12)])
    path = grid.path((0, 3), (11, 3), smooth=True)
    assert path.cost == 11
    grid.add_effect([(x, 3, 0) for x in range(1, 11)] * 3)
    again = grid.replan(path)
    assert again.cost == pytest.approx(10 + math.sqrt(2) + (math.sqrt(2) - 1), rel=0.2)
    assert len(again.points) > 2


def test_a_path_that_an_edit_broke_is_smoothed_to_itself():
    grid = SparseGrid.from_cells([(x, y, 0) for y in range(7) for x in range(12)])
    path = grid.path((0, 0), (11, 6))
    middle = path.points[len(path.points) // 2].astype(int)
    grid.remove([middle])
    assert path.smooth() is path


def test_costs_of_links_are_checked_where_they_enter(tmp_path):
    grid = SparseGrid.from_cells([(x, 0, 0) for x in range(10)])
    for cost in (-1, math.nan, math.inf, 3e38):
        with pytest.raises(ParameterError, match="cost must be"):
            grid.add_link((0, 0), (9, 0), cost=cost)
    grid.add_link((0, 0), (9, 0), cost=12)
    grid.save(tmp_path / "grid.wayfold")
    saved = read_archive(tmp_path / "grid.wayfold")
    for cost in (-12.0, math.nan, 1e39, 8.9):
        saved.arrays["link_costs"][:] = cost
        write_archive(tmp_path / "forged.wayfold", saved.kind, saved.arrays, saved.meta)
        with pytest.raises(FormatError, match="link"):
            SparseGrid.load(tmp_path / "forged.wayfold")
