"""Where cells are and which of them can be reached, against plain Python over lists of cells."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive, naive_grid
from tests.draws import seeds
from tests.strategies import kind_grids
from wayfold import DenseGrid, SparseGrid
from wayfold.errors import OffMapError, ParameterError

pytestmark = pytest.mark.kernels

EIGHTHS = st.integers(-60, 200).map(lambda eighths: eighths / 8)
FAR = st.one_of(EIGHTHS, st.floats(-1e6, 1e6))


def random_cells(rng):
    """Some cells on a few floors, perhaps far from the origin, in the order of `SparseGrid.cells`."""
    shift = rng.integers(-(10**6), 10**6, 3) // (1 if rng.random() < 0.3 else 10**6) * [1, 1, 0]
    cells = rng.integers(0, [rng.integers(1, 20), rng.integers(1, 20), 6], (int(rng.integers(1, 60)), 3)) + shift
    return sorted({tuple(cell) for cell in cells.tolist()}, key=lambda cell: (cell[1], cell[0], cell[2]))


def nearest_of(cells, point, scale, most):
    """The nearest cell, the first of several; None where all are farther than `most`."""

    def squared(cell):
        x, y, z = (((cell[axis] - point[axis]) * scale[axis]) ** 2 for axis in range(3))
        return x + y + z

    least = min(cells, key=squared)
    return least if squared(least) <= most * most else None


def check_nearest(grid, cells, points, scale, most):
    limit = None if math.isinf(most) else most
    found = grid.nearest(points, max_distance=limit)
    assert found.shape == (len(points), 3)
    for point, cell in zip(points, found.tolist(), strict=True):
        expected = nearest_of(cells, point, scale, most)
        if expected is None:
            assert np.isnan(cell).all()
            with pytest.raises(OffMapError, match="has no cell within"):
                grid.nearest(point, max_distance=limit)
        else:
            assert tuple(cell) == expected
            assert tuple(grid.nearest(point, max_distance=limit).tolist()) == expected


@seeds(60)
def test_the_nearest_cell_of_a_sparse_grid_is_the_nearest_of_all(seed):
    rng = np.random.default_rng(seed)
    cells = random_cells(rng)
    grid = SparseGrid.from_cells(cells, int(rng.integers(2, 17)), trim=bool(rng.integers(2)))
    gone = {cells[at] for at in rng.choice(len(cells), len(cells) // 4, replace=False)}
    grid.remove(sorted(gone))
    cells = [cell for cell in cells if cell not in gone]
    scale = rng.choice([[1.0, 1.0, 1.0], [0.5, 0.5, 0.125], [0.3, 0.3, 0.7]])
    grid.scale = np.array(scale)
    points = np.array([cells[at] for at in rng.choice(len(cells), 8)]) + rng.integers(-40, 40, (8, 3)) / 8
    points[0] += rng.normal(0, 1000, 3)
    check_nearest(grid, cells, points.tolist(), scale, float(rng.choice([0.0, 1.0, 3.5, np.inf])))


@settings(max_examples=100, deadline=None)
@given(
    kind_grids(), st.lists(st.tuples(FAR, FAR, EIGHTHS), min_size=1, max_size=6), st.sampled_from([0.0, 1.5, np.inf])
)
def test_the_nearest_cell_of_a_dense_grid_is_the_nearest_of_all(kinds, points, most):
    cells = [(int(x), int(y), 0) for y, x in np.argwhere(kinds)]
    if cells:
        check_nearest(DenseGrid(kinds), cells, points, (1.0, 1.0, 1.0), most)


@pytest.mark.parametrize("grid", [SparseGrid(), DenseGrid([[0, 0]])], ids=repr)
def test_a_map_without_cells_has_nothing_near(grid):
    assert np.isnan(grid.nearest([(0, 0), (1, 1)])).all()
    assert grid.nearest([]).shape == (0, 3)
    assert grid.random_points(0).shape == (0, 3)
    assert grid.reachable([], []).shape == (0,)
    for call in (lambda: grid.nearest((0, 0)), lambda: grid.random_points(1), lambda: grid.reachable((0, 0), (1, 0))):
        with pytest.raises(OffMapError):
            call()


@seeds(40)
def test_what_a_sparse_grid_says_to_be_reachable_is_what_steps_and_links_lead_to(seed):
    rng = np.random.default_rng(seed)
    drop = int(rng.choice([0, 3, 5]))
    cells, kinds = random_cells(rng), int(rng.integers(1, 3))
    kind = rng.integers(0, kinds, len(cells))
    plain = naive_grid.NaiveGrid(max_step=1, drop=drop)
    for number in range(kinds):
        plain.add([cell for cell, own in zip(cells, kind.tolist(), strict=True) if own == number], number)
    grid = SparseGrid.from_cells(
        cells, int(rng.integers(2, 9)), kinds=kind, drop=drop, merge=bool(rng.integers(2)), max_step=1
    )
    links = {}
    for _ in range(int(rng.integers(0, 6))):
        a, b = (cells[at] for at in rng.choice(len(cells), 2))
        if a == b or (a, b) in links or (b, a) in links:
            continue
        both = bool(rng.integers(2))
        grid.add_link(a, b, both_ways=both)
        links |= {(a, b): 1.0} | ({(b, a): 1.0} if both else {})
    for change in range(3):
        there = list(plain.cells)
        reached = {start: naive_grid.linked_costs(plain, links, start).keys() for start in there}
        pairs = [(a, b) for a in there for b in there]
        starts, goals = (np.array(side) for side in zip(*pairs, strict=True))
        assert grid.reachable(starts, goals).tolist() == [b in reached[a] for a, b in pairs]
        assert grid.reachable(there[0], there).tolist() == [b in reached[there[0]] for b in there]
        assert grid.reachable(there, there[0]).tolist() == [there[0] in reached[a] for a in there]
        assert grid.reachable(there[0], there[-1]) is (there[-1] in reached[there[0]])
        if change == 2 or len(there) == 1:
            break
        gone = there[int(rng.integers(len(there)))]
        plain.remove([gone])
        grid.remove([gone])


@settings(max_examples=50, deadline=None)
@given(kind_grids(5))
def test_what_a_dense_grid_says_to_be_reachable_is_what_steps_lead_to(kinds):
    cells = [(int(x), int(y)) for y, x in np.argwhere(kinds)]
    if not cells:
        return
    grid = DenseGrid(kinds)
    for start in cells:
        expected = [math.isfinite(naive.grid_cost(kinds.tolist(), start, goal)) for goal in cells]
        assert grid.reachable(start, cells).tolist() == expected
        assert grid.reachable(start, cells[-1]) is expected[-1]


@seeds(20)
def test_bounds_are_the_lowest_and_the_highest_cell(seed):
    rng = np.random.default_rng(seed)
    cells = random_cells(rng)
    grid = SparseGrid.from_cells(cells)
    while cells:
        expected = [[low(cell[axis] for cell in cells) for axis in range(3)] for low in (min, max)]
        assert grid.bounds.tolist() == expected
        gone = cells.pop(int(rng.integers(len(cells))))
        grid.remove([gone])
    assert np.isnan(grid.bounds).all()


@pytest.mark.parametrize("kind", [SparseGrid, DenseGrid])
def test_random_cells_are_there_and_each_comes_about_as_often(kind):
    kinds = np.ones((6, 5), np.uint8)
    kinds[2] = 0
    cells = {(x, y, 0.0) for y in range(6) for x in range(5) if y != 2}
    grid = DenseGrid(kinds) if kind is DenseGrid else SparseGrid.from_cells(sorted(cells))
    drawn = grid.random_points(5000, seed=3)
    found, counts = np.unique(drawn, axis=0, return_counts=True)
    assert {tuple(cell) for cell in found.tolist()} == cells
    assert 120 < counts.min() <= counts.max() < 280
    np.testing.assert_array_equal(drawn, grid.random_points(5000, seed=3))
    assert (drawn != grid.random_points(5000, seed=4)).any()
    near = grid.random_points(300, near=(1.5, 1.0), radius=1.2)
    assert {tuple(cell) for cell in near.tolist()} == {c for c in cells if math.dist(c, (1.5, 1.0, 0.0)) <= 1.2}
    with pytest.raises(OffMapError, match="no cell to draw"):
        grid.random_points(1, near=(50, 50), radius=2.0)
    for wrong in ({"near": (0, 0)}, {"radius": 1.0}, {"near": (0, 0), "radius": -1.0}):
        with pytest.raises(ParameterError, match="radius"):
            grid.random_points(1, **wrong)


@seeds(20)
def test_costs_to_a_cell_are_those_of_the_cheapest_ways_and_lead_there_step_by_step(seed):
    rng = np.random.default_rng(seed)
    cells = random_cells(rng)
    plain = naive_grid.NaiveGrid(max_step=1)
    plain.add(cells)
    grid = SparseGrid.from_cells(cells, int(rng.integers(2, 9)))
    dear = [cells[at] for at in rng.choice(len(cells), len(cells) // 3, replace=False)]
    plain.effect(dear, 1)
    grid.add_effect(dear)
    goal = cells[int(rng.integers(len(cells)))]
    costs, following = grid.costs_to(goal, cells)
    for cell, cost, after in zip(cells, costs.tolist(), following.tolist(), strict=True):
        assert cost == pytest.approx(plain.costs(cell).get(goal, math.inf), rel=1e-12)
        if math.isinf(cost) or cell == goal:
            assert after == -1
        else:
            length = math.dist(cell[:2], cells[after][:2])
            assert cells[after] in plain.successors(cell)
            assert cost == pytest.approx(costs[after] + length * (1 + plain.cells[cells[after]][1]), rel=1e-12)
    label = grid.component_of(cells).tolist()
    assert [one == label[cells.index(goal)] for one in label] == np.isfinite(costs).tolist()
    some = cells[:: int(rng.integers(1, 4))]
    assert grid.costs_to(goal, some)[0].tolist() == [costs[cells.index(cell)] for cell in some]


def test_expanded_cells_are_as_many_as_the_path_says_and_smooth_is_that_of_the_path():
    grid = SparseGrid.from_cells([(x, y, 0) for x in range(40) for y in range(30) if x != 20 or y == 4], 8)
    for exact in (True, False):
        path = grid.path((0, 20), (39, 20), exact=exact)
        cells = {tuple(cell) for cell in grid.expanded((0, 20), (39, 20), exact=exact).tolist()}
        assert len(cells) == path.expanded if exact else 0 < len(cells) <= path.expanded
        np.testing.assert_array_equal(grid.smooth(path).points, path.smooth().points)
        assert grid.smooth(path).cost == path.smooth().cost < path.cost
    grid.remove([(20, 4, 0)])
    assert grid.smooth(path) is path
    with pytest.raises(ParameterError, match="drops of up to 3"):
        SparseGrid.from_cells([(0, 0, 0)], drop=3).costs_to((0, 0), [(0, 0)])
