from __future__ import annotations

import numpy as np
import pytest

import wayfold
from wayfold import SparseGrid, Status
from wayfold.errors import EditError, OffMapError, ParameterError

pytestmark = pytest.mark.kernels

LOW, HIGH = (30, 5, 0), (30, 5, 12)


def two_floors():
    cells = [(x, y, z) for z in (0, 12) for y in range(10) for x in range(40)]
    return SparseGrid.from_cells(cells, 8)


def test_a_ladder_joins_floors_for_exact_and_abstract_planning():
    grid = two_floors()
    start, goal = (0, 5, 0), (0, 5, 12)
    assert grid.path(start, goal).status is Status.UNREACHABLE
    grid.add_link(LOW, HIGH)
    for path in (grid.path(start, goal, exact=True), grid.path(start, goal), grid.path(start, goal, smooth=True)):
        assert path.found
        assert path.cost == pytest.approx(30 + 12 + 30, rel=0.1)
        points = [tuple(point) for point in path.points.astype(int).tolist()]
        assert points[points.index(LOW) + 1] == HIGH
    assert grid.path(start, goal, exact=True).cost == 72
    assert HIGH in [tuple(cell) for cell in grid.successors(LOW).tolist()]
    grid.remove_link(HIGH, LOW)
    assert grid.path(start, goal).status is Status.UNREACHABLE


def test_a_link_rests_while_one_of_its_cells_is_gone():
    grid = two_floors()
    grid.add_link(LOW, HIGH, cost=3)
    path = grid.path((0, 5, 0), (0, 5, 12))
    grid.remove([HIGH])
    assert not grid.path((0, 5, 0), (0, 5, 12), exact=True)
    assert not grid.replan(path)
    grid.add([HIGH])
    again = grid.replan(path)
    assert again.cost == path.cost
    assert again.expanded == 0
    grid.compact()
    assert grid.path((0, 5, 0), (0, 5, 12), exact=True).cost == 63


def test_a_link_may_lead_one_way_only(tmp_path):
    grid = two_floors()
    grid.add_link(HIGH, LOW, both_ways=False)
    grid.save(tmp_path / "slide.wayfold")
    for world in (grid, wayfold.load(tmp_path / "slide.wayfold")):
        assert world.path(HIGH, LOW).cost == 12
        assert world.path(LOW, HIGH).status is Status.UNREACHABLE
        assert world.path(LOW, HIGH, exact=True).status is Status.UNREACHABLE


def test_a_short_cut_is_taken_when_it_pays():
    grid = SparseGrid.from_cells([(x, y, 0) for y in range(30) for x in range(30) if x == 0 or x == 29 or y == 29], 8)
    plain = grid.path((0, 0), (29, 0), exact=True).cost
    grid.add_link((0, 0), (29, 0), cost=40)
    assert grid.path((0, 0), (29, 0), exact=True).cost == 40 < plain
    grid.add_effect([(29, 0)])
    assert grid.path((0, 0), (29, 0), exact=True).cost == 80


def test_wrong_links_get_a_sentence():
    grid = two_floors()
    with pytest.raises(OffMapError, match="link"):
        grid.add_link(LOW, (30, 5, 3))
    with pytest.raises(ParameterError, match="cost must be at least"):
        grid.add_link((0, 0, 0), (9, 0, 0), cost=2)
    with pytest.raises(EditError, match="no link"):
        grid.remove_link(LOW, HIGH)
    grid.add_link(LOW, HIGH)
    with pytest.raises(EditError, match="already a link"):
        grid.add_link(HIGH, LOW, both_ways=False)
    assert np.isfinite(grid.path(LOW, HIGH).cost)


def test_area_effects_multiply_the_cost_of_a_link_that_leads_onto_them_as_they_do_a_steps():
    grid = SparseGrid.from_cells([(0, 0, 0), (1, 0, 0), (9, 0, 0)], effect_cost=0.5)
    grid.add_link((0, 0), (9, 0), cost=10.0)
    grid.add_effect([(9, 0), (9, 0), (1, 0)])
    for exact in (True, False):
        assert grid.path((0, 0), (9, 0), exact=exact).cost == pytest.approx(10.0 * (1 + 2 * 0.5))
        assert grid.path((9, 0), (0, 0), exact=exact).cost == pytest.approx(10.0)
        assert grid.path((0, 0), (1, 0), exact=exact).cost == pytest.approx(1 + 0.5)


def test_a_cell_of_another_kind_between_two_cells_does_not_keep_them_apart():
    grid = SparseGrid.from_cells([(0, 0, 0), (1, 0, 1), (1, 0, 2)], kinds=[0, 1, 0], max_step=2)
    assert grid.successors((0, 0, 0)).tolist() == [[1, 0, 2]]
    assert grid.successors((1, 0, 2)).tolist() == [[0, 0, 0]]
    assert grid.successors((1, 0, 1)).tolist() == []
    # Of the same kind it is the nearer one, and the other one has no neighbour.
    grid = SparseGrid.from_cells([(0, 0, 0), (1, 0, 1), (1, 0, 2)], max_step=2)
    assert grid.successors((0, 0, 0)).tolist() == [[1, 0, 1]]
    assert grid.successors((1, 0, 2)).tolist() == []


def test_a_link_joins_cells_of_different_kinds():
    grid = SparseGrid.from_cells([(0, 0, 0), (5, 0, 0)], kinds=[0, 1])
    assert not grid.path((0, 0), (5, 0)).found
    grid.add_link((0, 0), (5, 0), cost=6.0)
    assert grid.path((0, 0), (5, 0)).cost == pytest.approx(6.0)
