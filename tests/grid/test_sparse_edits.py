"""Any sequence of edits leaves the grid that would be built from the cells that remain."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.draws import seeds
from tests.naive_grid import NaiveGrid
from wayfold import SparseGrid
from wayfold.errors import EditError
from wayfold.grid import _store
from wayfold.grid import _store_kernels as layout

pytestmark = pytest.mark.kernels


def as_tuples(cells):
    return [tuple(cell) for cell in np.asarray(cells).tolist()]


def check_against(grid, naive, rng, weight=1.0):
    """Everything that is defined by the cells alone is as the oracle says; regions are a fair partition."""
    table = grid.regions()
    cells = as_tuples(table.cells)
    assert sorted(cells) == sorted(naive.cells)
    assert grid.num_cells == len(naive.cells)
    assert grid.num_regions == len(table.centres)
    assert grid.num_abstract_edges == len(table.edges)
    region_of = dict(zip(cells, table.region.tolist(), strict=True))
    for cell, bits in zip(cells, table.bits.tolist(), strict=True):
        assert bits == naive.bits(cell)
    members = {}
    for cell, region in region_of.items():
        members.setdefault(region, []).append(cell)
    size = grid.sector_size
    for region, inside in members.items():
        assert len({(x // size, y // size) for x, y, _ in inside}) == 1
        assert len({(x, y) for x, y, _ in inside}) == len(inside)
        assert len({naive.cells[cell][0] for cell in inside}) == 1
        heights = [z for _, _, z in inside]
        assert table.bases[region] <= min(heights)
        assert max(heights) <= table.bases[region] + 30
        assert table.free[region] == len(inside)
        assert table.effects[region] == sum(naive.cells[cell][1] for cell in inside)
        assert tuple(table.centres[region].tolist()) in inside
        assert naive.is_connected(set(inside))
    edges = dict(zip(map(tuple, table.edges.tolist()), table.supports.tolist(), strict=True))
    assert len(edges) == len(table.edges)
    assert edges == naive.supports(region_of)
    for cell in rng.sample(cells, min(3, len(cells))):
        assert as_tuples(grid.successors(cell)) == naive.successors(cell)
        costs = naive.costs(cell, weight)
        for goal in rng.sample(cells, min(4, len(cells))):
            exact, abstract = grid.path(cell, goal, exact=True), grid.path(cell, goal)
            trimmed = grid.path(cell, goal, trim=rng.choice([0.1, 0.5, 0.9]))
            assert exact.found == abstract.found == trimmed.found == (goal in costs)
            if exact:
                assert exact.cost == pytest.approx(costs[goal], rel=1e-9)
                assert abstract.cost >= costs[goal] - 1e-9
                for path in (exact, abstract, trimmed):
                    check_legal(naive, as_tuples(path.points.astype(int)), cell, goal, path.cost, weight)


def check_legal(naive, steps, start, goal, cost, weight):
    assert steps[0] == start
    assert steps[-1] == goal
    total = 0.0
    for a, b in itertools.pairwise(steps):
        assert b in naive.successors(a)
        total += np.hypot(a[0] - b[0], a[1] - b[1]) * (1 + weight * naive.cells[b][1])
    assert cost == pytest.approx(total, rel=1e-9)


def random_edits(seed, options, floors, side, rounds, kinds=1, crowded=False):
    """Add, remove and affect random runs and blobs of cells; returns the grid and its oracle.

    Where it is `crowded` regions are looked up by height from the beginning, not only once a sector has many.
    """
    rng = random.Random(seed)
    grid = SparseGrid(**options)
    naive = NaiveGrid(options.get("max_step", 1), options.get("drop", 0))

    def cell():
        return rng.randrange(-side, side), rng.randrange(-side, side), rng.randrange(floors)

    def blob():
        x, y, z = cell()
        wide, high = rng.choice([(1, 1), (3, 1), (1, 9), (5, 4), (2 * side, 1)])
        slope = rng.choice([0, 0, 1])
        return [(x + i, y + j, z + slope * i) for i in range(wide) for j in range(high)]

    for _ in range(rounds):
        here = set(naive.cells)
        if crowded and not grid._store.shelves.size:
            grid._editor.store = _store.indexed(grid._store)
        task = rng.random()
        if task < 0.5:
            new = [c for c in blob() if c not in here]
            rng.shuffle(new)
            kind = rng.randrange(kinds)
            grid.add(np.array(new, int).reshape(-1, 3), kind=kind)
            naive.add(new, kind)
        elif task < 0.8:
            old = [c for c in blob() if c in here]
            if rng.random() < 0.2 and here:
                old = rng.sample(sorted(here), min(len(here), rng.randrange(1, 30)))
            grid.remove(np.array(old, int).reshape(-1, 3))
            naive.remove(old)
        else:
            free = [c for c in blob() if c in here and naive.cells[c][1] < 7]
            grid.add_effect(np.array(free, int).reshape(-1, 3))
            naive.effect(free, 1)
            less = [c for c in blob() if c in here and naive.cells[c][1] > 0]
            grid.remove_effect(np.array(less, int).reshape(-1, 3))
            naive.effect(less, -1)
    return grid, naive, rng


OPTIONS = st.fixed_dictionaries(
    {
        "sector_size": st.sampled_from([2, 3, 8, 12, 16]),
        "successors": st.sampled_from(["8-bit", "8-bit", "1-bit", "smart", "naive", "regular"]),
        "max_step": st.integers(0, 3),
        "trim": st.booleans(),
        "merge": st.booleans(),
    }
)


@settings(max_examples=60)
@given(st.integers(0, 10**9), OPTIONS, st.integers(3, 12))
def test_edits_of_a_flat_world_equal_a_rebuild(seed, options, side):
    grid, naive, rng = random_edits(seed, {**options, "effect_cost": 0.5}, 1, side, 25, kinds=2)
    check_against(grid, naive, rng, 0.5)
    check_rebuild(grid, naive, options)


@settings(max_examples=60)
@given(st.integers(0, 10**9), OPTIONS, st.integers(3, 9), st.integers(2, 80), st.sampled_from([0, 0, 4, 9]))
def test_edits_of_a_world_of_many_floors_equal_a_rebuild(seed, options, side, floors, drop):
    grid, naive, rng = random_edits(seed, {**options, "drop": drop}, floors, side, 25)
    check_against(grid, naive, rng)
    check_rebuild(grid, naive, {**options, "drop": drop})


@settings(max_examples=60)
@given(st.integers(0, 10**9), OPTIONS, st.integers(2, 7), st.integers(2, 200), st.sampled_from([0, 0, 4, 40]))
def test_edits_of_a_crowded_world_equal_a_rebuild(seed, options, side, floors, drop):
    grid, naive, rng = random_edits(seed, {**options, "drop": drop}, floors, side, 25, kinds=2, crowded=True)
    check_shelves(grid)
    check_against(grid, naive, rng)
    check_rebuild(grid, naive, {**options, "drop": drop})


def check_shelves(grid):
    """Every region stands once on each shelf that its heights reach to, and lists end where `tails` says."""
    store = grid._store
    if not store.shelves.size:
        return
    found = []
    for entry in store.shelves.tolist():
        while entry >= 0:
            found.append(entry)
            entry = int(store.on_shelf[entry])
    alive = np.flatnonzero(store.kind != layout.FREE_KIND)
    low, high = store.base[alive].astype(int) >> 5, store.base[alive].astype(int) + 30 >> 5
    wanted = [*(2 * alive), *(2 * alive[high > low] + 1)]
    assert sorted(found) == sorted(int(entry) for entry in wanted)
    for head, tail in zip(store.sectors.tolist(), store.tails.tolist(), strict=True):
        ordinals = [-1]
        last = -1
        while head >= 0:
            last, head = head, int(store.follow[head])
            ordinals.append(int(store.ordinal[last]))
        assert last == tail
        assert ordinals == sorted(set(ordinals))


@pytest.mark.parametrize("way", ["8-bit", "1-bit", "smart", "naive", "regular"])
def test_a_tower_of_many_floors_is_as_the_oracle_says_built_edited_and_loaded(way, tmp_path):
    """Every new region walked the list of its sector again for every number that was taken: cubic in the floors."""
    rng = random.Random(5)
    cells = [(x, y, 3 * floor + (x == 2)) for floor in range(72) for x in range(3) for y in range(2)]
    options = {"sector_size": 4, "successors": way, "drop": 5}
    grid = SparseGrid.from_cells(cells, **options)
    naive = NaiveGrid(1, 5)
    naive.add(cells)
    assert grid._store.shelves.size
    gone = rng.sample(cells, 60)
    for first in range(0, len(gone), 7):
        grid.remove(gone[first : first + 7])
    naive.remove(gone)
    back = gone[::2] + [(-1, 0, 2 * floor) for floor in range(70)]
    grid.add(back)
    naive.add(back)
    grid.save(tmp_path / "tower.wayfold")
    for world in (grid, SparseGrid.load(tmp_path / "tower.wayfold")):
        check_shelves(world)
        check_against(world, naive, rng)


def test_ordinals_of_a_sector_may_run_out_and_begin_again():
    grid = SparseGrid.from_cells([(0, 0, 4 * floor) for floor in range(10)])
    store = grid._store
    store.ordinal[: grid.num_regions] = np.arange(65526, 65536)
    grid.add([(0, 0, 4 * floor) for floor in range(10, 100)])
    ordinals = grid._store.ordinal[grid._store.kind != layout.FREE_KIND]
    assert len(np.unique(ordinals)) == len(ordinals) == grid.num_regions == 100
    check_shelves(grid)


def check_rebuild(grid, naive, options):
    """The same cells at once give the same bits, and the same regions where merging leaves no choice."""
    cells = sorted(naive.cells)
    fresh = SparseGrid.from_cells(
        np.array(cells, int).reshape(-1, 3), kinds=[naive.cells[c][0] for c in cells], **options
    )
    old, new = grid.regions(), fresh.regions()
    assert dict(zip(as_tuples(old.cells), old.bits.tolist(), strict=True)) == dict(
        zip(as_tuples(new.cells), new.bits.tolist(), strict=True)
    )
    flat = len({cell[:2] for cell in cells}) == len(cells) and len({cell[2] for cell in cells}) <= 1
    if flat and options["merge"]:
        assert partition(old) == partition(new)


def partition(table):
    parts = {}
    for cell, region in zip(as_tuples(table.cells), table.region.tolist(), strict=True):
        parts.setdefault(region, set()).add(cell)
    return {frozenset(part) for part in parts.values()}


@pytest.mark.long
@seeds(12)
def test_thousands_of_edits_equal_a_rebuild(seed):
    rng = random.Random(seed)
    options = {
        "sector_size": rng.choice([8, 12, 16]),
        "max_step": rng.choice([1, 2]),
        "merge": seed % 3 != 0,
        "drop": 6 if seed % 4 == 3 else 0,
    }
    grid, naive, rng = random_edits(seed, options, 1 if seed % 2 else 40, 24, 3000)
    check_against(grid, naive, rng)


def snapshot(grid):
    return [np.array(array, copy=True) for array in grid.regions()]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda grid: grid.remove([(0, 0, 0), (9, 9, 0)]), r"cells\[1\] \(9, 9, 0\) is not there"),
        (lambda grid: grid.remove([(0, 0, 5)]), "is not there"),
        (lambda grid: grid.add([(7, 7, 0), (0, 0, 0)]), r"cells\[1\] \(0, 0, 0\) is already there"),
        (lambda grid: grid.add([(7, 7, 0), (7, 7, 0)]), "listed twice"),
        (lambda grid: grid.remove([(0, 0, 0), (0, 0, 0)]), "listed twice"),
        (lambda grid: grid.add([(7, 7, 40000)]), "int16"),
        (lambda grid: grid.add([(7, 7, -40000)]), "int16"),
        (lambda grid: grid.add([(2**40, 7, 0)]), "beyond"),
        (lambda grid: grid.add_effect([(0, 0, 0), (1, 1, 0), (1, 1, 0)]), "7 area effects"),
        (lambda grid: grid.remove_effect([(1, 1, 0), (0, 0, 0)]), "no area effect"),
        (lambda grid: grid.add_effect([(0, 0, 0), (50, 50, 0)]), "is not there"),
    ],
)
def test_a_wrong_edit_says_what_is_wrong_and_changes_nothing(edit, words):
    grid = SparseGrid.from_cells([(x, y, 0) for x in range(5) for y in range(5)], sector_size=4)
    for _ in range(6):
        grid.add_effect([(1, 1, 0)])
    before = snapshot(grid)
    with pytest.raises(EditError, match=words):
        edit(grid)
    for old, new in zip(before, snapshot(grid), strict=True):
        np.testing.assert_array_equal(old, new)
