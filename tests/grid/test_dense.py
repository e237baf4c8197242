from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfold
from tests import naive
from tests.strategies import kind_grids
from wayfold import DenseGrid, Status
from wayfold.errors import OffMapError, ParameterError

pytestmark = pytest.mark.kernels


def free_cells(kinds):
    return [(int(x), int(y)) for y, x in np.argwhere(kinds)]


def two_cells(data, kinds):
    cells = free_cells(kinds)
    return data.draw(st.sampled_from(cells)), data.draw(st.sampled_from(cells))


@given(kind_grids(), st.data())
def test_a_path_takes_legal_moves_and_is_as_short_as_the_shortest(kinds, data):
    if not kinds.any():
        return
    start, goal = two_cells(data, kinds)
    path = DenseGrid(kinds).path(start, goal)
    expected = naive.grid_cost(kinds.tolist(), start, goal)
    assert path.found == math.isfinite(expected)
    assert path.cost == pytest.approx(expected, rel=1e-12)
    if path:
        assert path.length == pytest.approx(expected, rel=1e-12)
        cells = [tuple(cell) for cell in path.points[:, :2].astype(int).tolist()]
        assert cells[0] == start
        assert cells[-1] == goal
        for a, b in itertools.pairwise(cells):
            assert b in [move[:2] for move in naive.grid_neighbours(kinds.tolist(), *a)]


@given(kind_grids())
def test_the_grid_as_a_graph_has_the_legal_moves_as_edges(kinds):
    if not kinds.any():
        return
    graph, numbers = DenseGrid(kinds).graph()
    for x, y in free_cells(kinds):
        node = numbers[y, x]
        assert graph.points[node].tolist() == [x, y, 0]
        row = graph.targets[graph.offsets[node] : graph.offsets[node + 1]]
        assert sorted(row.tolist()) == sorted(
            numbers[move[1], move[0]] for move in naive.grid_neighbours(kinds.tolist(), x, y)
        )


@given(kind_grids())
def test_successors_are_the_legal_moves(kinds):
    grid = DenseGrid(kinds)
    for x, y in free_cells(kinds):
        got = {tuple(cell) for cell in grid.successors((x, y))[:, :2].tolist()}
        assert got == {move[:2] for move in naive.grid_neighbours(kinds.tolist(), x, y)}


def crossed_cells(a, b):
    """Every cell whose closed square the segment between two cell centres meets in more than a point on its border."""
    cells = set()
    (ax, ay), (bx, by) = a, b
    steps = 64 * (abs(bx - ax) + abs(by - ay)) + 1
    for at in range(steps + 1):
        x = ax + 0.5 + (bx - ax) * at / steps
        y = ay + 0.5 + (by - ay) * at / steps
        if min(abs(x - round(x)), abs(y - round(y))) > 1e-9:
            cells.add((math.floor(x), math.floor(y)))
    return cells


@given(kind_grids(most=12), st.data())
def test_a_smoothed_path_is_no_longer_and_crosses_only_its_own_kind(kinds, data):
    if not kinds.any():
        return
    start, goal = two_cells(data, kinds)
    path = DenseGrid(kinds).path(start, goal)
    if not path:
        return
    smooth = path.smooth()
    assert smooth.length <= path.length + 1e-9
    assert smooth.cost == smooth.length
    corners = [tuple(cell) for cell in smooth.points[:, :2].astype(int).tolist()]
    assert corners[0] == start
    assert corners[-1] == goal
    for a, b in itertools.pairwise(corners):
        for x, y in crossed_cells(a, b):
            assert kinds[y, x] == kinds[start[1], start[0]]


@given(kind_grids(), st.data())
def test_a_batch_gives_what_single_queries_give(kinds, data):
    if not kinds.any():
        return
    queries = [two_cells(data, kinds) for _ in range(5)]
    grid = DenseGrid(kinds)
    starts, goals = [query[0] for query in queries], [query[1] for query in queries]
    serial, parallel = grid.paths(starts, goals, workers=1), grid.paths(starts, goals, workers=2)
    np.testing.assert_array_equal(serial.nodes, parallel.nodes)
    for at, (start, goal) in enumerate(queries):
        single = grid.path(start, goal)
        assert single.status is serial[at].status
        assert single.cost == serial.costs[at] == parallel.costs[at]


def test_smoothing_pulls_a_path_over_open_ground_straight():
    path = DenseGrid(np.ones((20, 30), bool)).path((1, 2), (28, 15), smooth=True)
    assert len(path.points) == 2
    assert path.length == pytest.approx(math.hypot(27, 13))


def test_water_connects_only_to_water(tmp_path):
    file = tmp_path / "lake.map"
    file.write_text("type octile\nheight 2\nwidth 4\nmap\n.WW.\n.TW.\n")
    grid = DenseGrid.from_movingai(file)
    assert grid.num_cells == 7
    assert grid.path((1, 0), (2, 1)).cost == 2  # the tree blocks the diagonal
    assert grid.path((0, 0), (3, 0)).status is Status.UNREACHABLE
    assert grid.contains([(0, 0), (1, 1), (4, 0), (0.5, 0)]).tolist() == [True, False, False, False]


def test_a_saved_grid_loads_as_it_was(tmp_path):
    kinds = np.random.default_rng(0).integers(0, 3, (9, 7), dtype=np.uint8)
    DenseGrid(kinds).save(tmp_path / "grid.wayfold")
    again = wayfold.load(tmp_path / "grid.wayfold")
    assert isinstance(again, DenseGrid)
    np.testing.assert_array_equal(again.kinds, kinds)


@pytest.mark.parametrize(
    ("start", "goal", "error", "words"),
    [
        ((0, 0), (9, 0), OffMapError, r"goal \(9, 0, 0\) is outside 2 x 2 cells"),
        ((1, 1), (0, 0), OffMapError, r"start \(1, 1, 0\) is blocked"),
        ((0.5, 0), (0, 0), OffMapError, "not a whole cell"),
        ((float("nan"), 0), (0, 0), ValueError, "start.* is not finite"),
        ((0, 0, 1), (0, 0), OffMapError, "start"),
        ((0,), (0, 0), ParameterError, "start must be"),
        ("ab", (0, 0), ParameterError, "start must be"),
    ],
)
def test_wrong_cells_get_a_sentence(start, goal, error, words):
    with pytest.raises(error, match=words):
        DenseGrid([[1, 1], [1, 0]]).path(start, goal)


@pytest.mark.parametrize("kinds", [[], [[]], [1, 2], [[0.5]], [[-1]], [[256]], [["a"]]])
def test_wrong_kinds_get_a_sentence(kinds):
    with pytest.raises(ParameterError, match="kinds"):
        DenseGrid(kinds)
