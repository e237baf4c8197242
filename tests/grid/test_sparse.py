from __future__ import annotations

import math
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wayfold
from tests.naive_grid import NaiveGrid
from tests.strategies import kind_grids
from wayfold import DenseGrid, SparseGrid, Status
from wayfold.errors import EditError, OffMapError, ParameterError

pytestmark = pytest.mark.kernels

WAYS = ["regular", "naive", "smart", "1-bit", "8-bit"]


def room(width, height, z=0):
    return [(x, y, z) for y in range(height) for x in range(width)]


def as_map(tmp_path, kinds):
    file = tmp_path / "some.map"
    rows = "\n".join("".join("@.W"[kind] for kind in row) for row in kinds.tolist())
    file.write_text(f"type octile\nheight {kinds.shape[0]}\nwidth {kinds.shape[1]}\nmap\n{rows}\n")
    return file


@settings(max_examples=40)
@given(kinds=kind_grids(most=14), data=st.data(), size=st.sampled_from([2, 4, 16]))
def test_a_movingai_map_gives_what_the_regular_grid_gives(tmp_path_factory, kinds, data, size):
    file = as_map(tmp_path_factory.mktemp("maps"), kinds)
    sparse, dense = SparseGrid.from_movingai(file, sector_size=size), DenseGrid(kinds)
    assert sparse.num_cells == dense.num_cells
    free = [(int(x), int(y)) for y, x in np.argwhere(kinds)]
    assert [tuple(cell) for cell in sparse.cells[:, :2].tolist()] == free
    for cell in free[:10]:
        np.testing.assert_array_equal(sparse.successors(cell), dense.successors(cell))
    if free:
        start, goal = data.draw(st.sampled_from(free)), data.draw(st.sampled_from(free))
        exact, abstract = sparse.path(start, goal, exact=True), sparse.path(start, goal)
        assert exact.status is abstract.status is dense.path(start, goal).status
        assert exact.cost == pytest.approx(dense.path(start, goal).cost, rel=1e-12)
        smooth = abstract.smooth() if abstract else abstract
        assert smooth.length <= abstract.length + 1e-9 or not abstract


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_all_ways_give_the_same_successors(seed, step):
    rng = np.random.default_rng(seed)
    cells = np.unique(rng.integers(0, [12, 12, 9], (150, 3)), axis=0)
    naive = NaiveGrid(step)
    naive.add([tuple(cell) for cell in cells.tolist()])
    for way in WAYS:
        grid = SparseGrid.from_cells(cells, 5, successors=way, max_step=step)
        for cell in cells[:20].tolist():
            assert [tuple(other) for other in grid.successors(cell).tolist()] == naive.successors(tuple(cell))


def test_a_region_has_the_record_of_the_paper():
    grid = SparseGrid.from_cells([(x, y, 3) for x in range(8) for y in range(8)], sector_size=4)
    memory = grid.memory()
    assert memory == (4 * 4, 4 * 12, 12 * 4, 4 * 16 * 2)
    assert memory.total == 16 + 48 + 48 + 128
    table = grid.regions()
    assert sorted(table.supports.tolist()) == sorted([10] * 8 + [1] * 4)  # 4 straight and 6 diagonal ones, 1 at corners
    assert table.free.tolist() == [16] * 4
    assert table.bases.tolist() == [3] * 4


def test_a_trimmed_region_takes_only_its_bounding_box():
    cells = [(0, 0, 0), (1, 0, 0), (1, 1, 0)]
    grid = SparseGrid.from_cells(cells)
    assert grid.memory().cells == 2 * 256
    assert grid.memory(trimmed=True).cells == 2 * 4
    assert grid.nbytes < SparseGrid.from_cells(cells, trim=False).nbytes


@pytest.mark.parametrize("size", [12, 16])
def test_live_arrays_stay_near_the_accounting_of_the_paper(size):
    """Also where boxes are full, so that trimming gains nothing, and after edits."""
    for side in (47, 97):
        grid = SparseGrid.from_cells(room(side, side), size)
        assert grid.nbytes <= 1.3 * grid.memory().total
    strip = [(x, 48, 0) for x in range(97)]
    for _ in range(3):
        grid.remove(strip)
        grid.add(strip)
    grid.compact()
    assert grid.nbytes <= 1.3 * grid.memory().total


def test_a_region_that_is_not_alone_any_more_still_knows_its_edges():
    grid = SparseGrid.from_cells(room(24, 24), sector_size=8)
    flat = {tuple(cell): grid.successors(cell).tolist() for cell in grid.cells.tolist()}
    grid.add([(x, y, 9) for x in range(9, 15) for y in range(9, 15)])
    assert grid.num_regions == 10
    assert {tuple(cell): grid.successors(cell).tolist() for cell in room(24, 24)} == flat
    grid.remove([(x, y, 9) for x in range(9, 15) for y in range(9, 15)])
    grid.compact()
    assert {tuple(cell): grid.successors(cell).tolist() for cell in room(24, 24)} == flat


def test_a_staircase_turns_over_itself_in_one_sector():
    """Figure 4: every step is in the same sector, so that the regions must be joined within it."""
    ring = [(x, 0) for x in range(5)] + [(5, y) for y in range(5)] + [(5 - x, 5) for x in range(5)]
    ring += [(0, 5 - y) for y in range(5)]
    stairs = [(*ring[at % len(ring)], at) for at in range(70)]
    grid = SparseGrid.from_cells(stairs)
    assert grid.num_regions > 1
    assert grid.num_abstract_edges == 2 * (grid.num_regions - 1)
    path = grid.path(stairs[0], stairs[-1])
    assert path.cost == 69
    grid.remove([stairs[30]])
    assert grid.path(stairs[0], stairs[-1]).status is Status.UNREACHABLE
    assert grid.path(stairs[31], stairs[-1]).cost == 38


def test_an_underpass_and_the_bridge_over_it_do_not_touch():
    ground = room(20, 20)
    bridge = [(x, 10, 5) for x in range(20)]
    grid = SparseGrid.from_cells(ground + bridge, sector_size=8)
    assert grid.path((10, 0, 0), (10, 19, 0), exact=True).cost == 19
    assert grid.path((0, 10, 0), (0, 10, 5)).status is Status.UNREACHABLE
    grid.add([(-1 - step, 10, 4 - step) for step in range(5)])
    grid.add([(-6, y, 0) for y in range(10, -1, -1)] + [(x, 0, 0) for x in range(-5, 0)])
    assert grid.path((0, 10, 0), (0, 10, 5)).found


def test_area_effects_turn_routes_away_when_it_pays():
    grid = SparseGrid.from_cells(room(41, 21), sector_size=8)
    straight = grid.path((0, 10), (40, 10), exact=True)
    assert straight.cost == 40
    trap = [(20, y) for y in range(4, 21)]
    for _ in range(7):
        grid.add_effect(trap)
    around = grid.path((0, 10), (40, 10), exact=True)
    assert around.points[:, 1].min() == 3
    assert 40 < around.cost < 47
    assert grid.path((0, 10), (40, 10)).cost < 1.2 * around.cost
    assert grid.effects([(20, 4), (20, 3)]).tolist() == [7, 0]
    for _ in range(7):
        grid.remove_effect(trap)
    assert grid.path((0, 10), (40, 10), exact=True).cost == 40


def test_effects_on_a_whole_region_turn_the_abstract_route():
    grid = SparseGrid.from_cells(room(24, 24), sector_size=8)
    middle = [(x, y) for x in range(8, 16) for y in range(8)]
    before = grid.path((4, 4), (20, 4))
    assert (before.points[:, 1] < 8).all()
    for _ in range(7):
        grid.add_effect(middle)
    after = grid.path((4, 4), (20, 4))
    assert not any(tuple(point[:2]) in set(middle) for point in after.points.astype(int).tolist())


def test_smoothing_enters_no_area_effect():
    grid = SparseGrid.from_cells(room(30, 30))
    grid.add_effect([(x, y) for x in range(10, 20) for y in range(5, 25)])
    path = grid.path((0, 15), (29, 15), exact=True)
    smooth = path.smooth()
    assert smooth.cost <= path.cost + 1e-9


def test_regions_that_a_cell_joins_unite_unless_they_are_to_stay_apart():
    halves = [(x, y, 0) for x in range(8) for y in range(8) if y != 4]
    bridge = [(3, 4, 0)]
    for merge, regions in ((True, 1), (False, 2)):
        grid = SparseGrid.from_cells(halves, 8, merge=merge)
        assert grid.num_regions == 2
        grid.add(bridge)
        assert grid.num_regions == regions
        assert grid.path((0, 0), (0, 7)).found
        grid.remove(bridge)
        assert grid.num_regions == 2
        assert not grid.path((0, 0), (0, 7)).found


def test_a_drop_leads_down_but_not_up():
    low, high = room(6, 4), [(x, y, 5) for x in range(6, 12) for y in range(4)]
    grid = SparseGrid.from_cells(low + high, drop=8)
    assert grid.path((11, 0, 5), (0, 0, 0)).found
    assert grid.path((0, 0, 0), (11, 0, 5)).status is Status.UNREACHABLE
    assert not SparseGrid.from_cells(low + high).path((11, 0, 5), (0, 0, 0))


def test_trimmed_legs_make_paths_shorter_on_average():
    rng = np.random.default_rng(8)
    cells = np.argwhere(rng.random((120, 120)) < 0.75)
    grid = SparseGrid.from_cells(cells, 8)
    ends = cells[rng.integers(0, len(cells), (60, 2))]
    plain, trimmed = ([grid.path(a, b, trim=share) for a, b in ends] for share in (0.0, 0.5))
    assert [path.found for path in plain] == [path.found for path in trimmed]
    assert sum(path.cost for path in trimmed if path) < sum(path.cost for path in plain if path)
    assert sum(path.expanded for path in trimmed) > sum(path.expanded for path in plain)


def test_replanning_keeps_what_still_holds():
    grid = SparseGrid.from_cells(room(60, 20), sector_size=8)
    path = grid.path((0, 10), (59, 10))
    wall = [(30, y, 0) for y in range(3, 20)]
    grid.remove(wall)
    again = grid.replan(path)
    assert again.found
    assert again.expanded < grid.path((0, 10), (59, 10), exact=True).expanded
    np.testing.assert_array_equal(again.points[:25], path.points[:25])
    np.testing.assert_array_equal(again.points[-25:], path.points[-25:])
    grid.add(wall)
    assert grid.replan(path).expanded == 0
    np.testing.assert_array_equal(grid.replan(path).points, path.points)
    grid.remove([(30, y, 0) for y in range(20)])
    assert grid.replan(path).status is Status.UNREACHABLE
    grid.remove([(0, 10, 0)])
    with pytest.raises(OffMapError, match="start of the path"):
        grid.replan(path)


def test_a_batch_gives_what_single_queries_give():
    rng = np.random.default_rng(3)
    cells = np.argwhere(rng.random((40, 40)) < 0.7)
    grid = SparseGrid.from_cells(cells)
    starts, goals = cells[rng.integers(0, len(cells), 50)], cells[rng.integers(0, len(cells), 50)]
    for exact in (False, True):
        serial = grid.paths(starts, goals, exact=exact, workers=1)
        parallel = grid.paths(starts, goals, exact=exact, workers=3)
        np.testing.assert_array_equal(serial.nodes, parallel.nodes)
        for at in range(0, 50, 7):
            single = grid.path(starts[at], goals[at], exact=exact)
            assert single.status is serial[at].status
            assert single.cost == serial[at].cost
            np.testing.assert_array_equal(single.points, serial[at].points)


def test_many_threads_may_ask_at_once():
    grid = SparseGrid.from_cells(room(50, 50), sector_size=8)
    expected = grid.path((0, 0), (49, 31)).cost
    wrong = []

    def ask():
        costs = [grid.path((0, 0), (49, 31)).cost for _ in range(20)]
        wrong.extend(cost for cost in costs if cost != expected)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_points_of_a_path_survive_later_edits():
    grid = SparseGrid.from_cells(room(30, 3), sector_size=4)
    path, batch = grid.path((0, 0), (29, 2)), grid.paths([(0, 0)], [(29, 2)])
    grid.remove([(x, 1, 0) for x in range(30)])
    grid.add([(x, -1, 0) for x in range(-30, 30)])
    grid.compact()
    assert path.points[-1].tolist() == [29, 2, 0]
    assert batch[0].points[-1].tolist() == [29, 2, 0]


def test_room_that_was_reserved_is_used_before_more_is_taken():
    grid = SparseGrid.from_cells(room(20, 20), sector_size=8)
    grid.reserve(2000, regions=50, edges=2000)
    before = grid.nbytes
    arrays = [id(array) for array in grid._store if isinstance(array, np.ndarray)]
    grid.remove([(x, 10, 0) for x in range(20)])
    grid.add([(x, 10, 0) for x in range(20)])
    assert grid.nbytes == before
    assert [id(array) for array in grid._store if isinstance(array, np.ndarray)] == arrays


def test_a_saved_grid_loads_as_it_was_and_can_be_edited(tmp_path):
    cells = np.unique(np.random.default_rng(0).integers(-9, 9, (200, 3)), axis=0)
    grid = SparseGrid.from_cells(cells, 6, max_step=2, successors="1-bit", drop=5)
    grid.add_effect(cells[:5])
    grid.save(tmp_path / "grid.wayfold")
    again = wayfold.load(tmp_path / "grid.wayfold")
    assert isinstance(again, SparseGrid)
    assert (again.sector_size, again.max_step, again.drop, again.successor_way) == (6, 2, 5, "1-bit")
    np.testing.assert_array_equal(again.cells, cells[np.lexsort((cells[:, 2], cells[:, 0], cells[:, 1]))])
    np.testing.assert_array_equal(again.effects(cells), grid.effects(cells))
    assert again.num_abstract_edges == grid.num_abstract_edges
    again.remove(cells[:50])
    again.add(cells[:50])
    np.testing.assert_array_equal(again.cells, grid.cells)


def test_a_height_map_has_steps_and_cliffs():
    heights = np.array([[0.0, 0.5, 1.0, 5.0], [0.0, np.nan, 1.0, 5.0]])
    grid = SparseGrid.from_heightmap(heights, level=0.5)
    assert grid.cells.tolist() == [[0, 0, 0], [1, 0, 1], [2, 0, 2], [3, 0, 10], [0, 1, 0], [2, 1, 2], [3, 1, 10]]
    assert grid.path((0, 1, 0), (2, 1, 2)).found
    assert not grid.path((0, 0, 0), (3, 0, 10))
    assert SparseGrid.from_heightmap(heights, heights < 1, level=0.5).num_cells == 3


def test_an_unreachable_goal_is_answered_without_a_search():
    grid = SparseGrid.from_cells([(0, 0), (1, 0), (9, 9)])
    path = grid.path((0, 0), (9, 9), exact=True)
    assert path.status is Status.UNREACHABLE
    assert path.expanded == 0
    near = grid.path((0, 0), (9, 9), exact=True, partial=True)
    assert near.status is Status.PARTIAL
    assert near.points[-1].tolist() == [1, 0, 0]


@settings(max_examples=20, deadline=None)
@given(kind_grids(), st.integers(1, 30), st.booleans(), st.integers(0, 2**32 - 1))
def test_batches_of_exact_paths_have_the_budget_and_the_partial_paths_of_single_ones(kinds, budget, partial, seed):
    y, x = np.nonzero(kinds)
    if not x.size:
        return
    cells = np.column_stack([x, y, np.zeros_like(x)])
    grid = SparseGrid.from_cells(cells, kinds=kinds[y, x] - 1)
    starts, goals = np.random.default_rng(seed).choice(cells, (2, 6))
    found = grid.paths(starts, goals, exact=True, budget=budget, partial=partial, workers=2)
    for start, goal, path in zip(starts, goals, found, strict=True):
        alone = grid.path(start, goal, exact=True, budget=budget, partial=partial)
        assert (path.status, path.cost, path.expanded) == (alone.status, alone.cost, alone.expanded)
        np.testing.assert_array_equal(path.points, alone.points)


@pytest.mark.parametrize(
    ("call", "former", "new"),
    [
        (lambda grid, **how: grid.path((0, 0), (9, 9), **how), {"abstract": False}, {"exact": True}),
        (lambda grid, **how: grid.paths([(0, 0)], [(9, 9)], **how)[0], {"abstract": False}, {"exact": True}),
        (lambda grid, **how: grid.replan(grid.path((0, 0), (9, 9)), **how), {"abstract": True}, {"exact": False}),
        (lambda grid, **how: grid.to_cells([(11, 0, 0)], **how), {"reach": 3.0}, {"max_distance": 3.0}),
    ],
)
def test_former_names_work_and_warn(call, former, new):
    grid = SparseGrid.from_cells(room(10, 10))
    with pytest.warns(DeprecationWarning, match=f"{next(iter(former))}= is now {next(iter(new))}="):
        old = call(grid, **former)
    now = call(grid, **new)
    np.testing.assert_array_equal(getattr(old, "points", old), getattr(now, "points", now))
    assert getattr(old, "expanded", None) == getattr(now, "expanded", None)


def test_a_world_far_from_the_origin_and_a_far_cell_are_no_trouble():
    grid = SparseGrid.from_cells([(10**8, -(10**8), 7), (10**8 + 1, -(10**8), 8)])
    assert grid.path((10**8, -(10**8), 7), (10**8 + 1, -(10**8), 8)).cost == 1
    assert grid.nbytes < 2000
    with pytest.raises(ParameterError, match="several grids"):
        grid.add([(0, 0, 0)])
    assert grid.num_cells == 2
    assert grid.path((10**8, -(10**8), 7), (10**8 + 1, -(10**8), 8)).cost == 1


def test_an_empty_grid_is_a_grid():
    grid = SparseGrid()
    assert (grid.num_cells, grid.num_regions, grid.memory().total) == (0, 0, 0)
    assert grid.contains([(0, 0, 0)]).tolist() == [False]
    grid.add(np.empty((0, 3), int))
    grid.add([(5, 5, 5)])
    grid.remove([(5, 5, 5)])
    assert (grid.num_cells, grid.num_regions, grid.num_abstract_edges) == (0, 0, 0)


@pytest.mark.parametrize(
    ("start", "error", "words"),
    [
        ((float("nan"), 0), ValueError, "start.*is not finite"),
        ((0.5, 0), OffMapError, "not a whole cell"),
        ((9, 9), OffMapError, r"start \(9, 9, 0\) is not a cell"),
        ((0, 0, 1), OffMapError, "is not a cell"),
        ((1e300, 0), OffMapError, "whole cell"),
        ("ab", ParameterError, "start must be"),
    ],
)
def test_wrong_starts_get_a_sentence(start, error, words):
    with pytest.raises(error, match=words):
        SparseGrid.from_cells([(0, 0, 0)]).path(start, (0, 0))


@pytest.mark.parametrize(
    "make",
    [
        lambda: SparseGrid(1),
        lambda: SparseGrid(17),
        lambda: SparseGrid(successors="9-bit"),
        lambda: SparseGrid(max_step=-1),
        lambda: SparseGrid(max_step=2, drop=1),
        lambda: SparseGrid(effect_cost=math.nan),
        lambda: SparseGrid.from_cells([(0.5, 0, 0)]),
        lambda: SparseGrid.from_cells([1, 2, 3]),
        lambda: SparseGrid.from_cells([(0, 0, 0)], kinds=[300]),
        lambda: SparseGrid.from_heightmap([1.0, 2.0]),
        lambda: SparseGrid.from_heightmap([[1e9]]),
        lambda: SparseGrid.from_heightmap([[1.0]], [[True, False]]),
        lambda: SparseGrid.from_cells([(0, 0, 0)]).path((0, 0), (0, 0), budget=3),
        lambda: SparseGrid.from_cells([(0, 0, 0)]).paths([(0, 0)], [(0, 0)], partial=True),
        lambda: SparseGrid.from_cells([(0, 0, 0)]).path((0, 0), (0, 0), trim=1.0),
    ],
)
def test_wrong_parameters_get_a_sentence(make):
    with pytest.raises(ParameterError, match=r"must|whole|beyond|budget"):
        make()


def test_a_list_with_a_cell_twice_builds_nothing():
    with pytest.raises(EditError, match="listed twice"):
        SparseGrid.from_cells([(0, 0, 0), (5, 5, 0), (0, 0, 0)])
