"""Real maps and levels: memory, listed optima, abstract planning, floors that a player can walk."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayfold import Agent, SparseGrid
from wayfold.formats import load_bsp, load_mesh, load_scen

pytestmark = pytest.mark.data

PLAYER = Agent(radius=15.0, height=56.0, climb=18.0, slope=math.degrees(math.acos(0.7)))


def maps(data):
    files = sorted((data / "movingai/dao").glob("*.map"))
    assert len(files) == 156
    return files


@pytest.mark.parametrize(
    ("size", "average", "most", "trimmed", "trimmed_most"),
    [(12, 91_362, 528_360, 62_903, 392_993), (16, None, None, 59_342, 368_804)],
)
def test_memory_is_what_the_paper_counts(data, size, average, most, trimmed, trimmed_most):
    grids = [SparseGrid.from_movingai(file, size) for file in maps(data)]
    totals = [grid.memory().total for grid in grids]
    boxes = [grid.memory(trimmed=True).total for grid in grids]
    if average is not None:
        assert np.mean(totals) == pytest.approx(average, rel=0.01)
        assert max(totals) == pytest.approx(most, rel=0.01)
    assert np.mean(boxes) <= trimmed
    assert max(boxes) <= trimmed_most
    assert sum(grid.nbytes for grid in grids) <= 1.3 * sum(totals)


def test_exact_paths_have_the_listed_length_and_abstract_ones_agree_on_reachability(data):
    ratios = []
    for file in maps(data):
        grid = SparseGrid.from_movingai(file)
        scenarios = load_scen(file.with_name(file.name + ".scen"))
        picked = np.unique(np.linspace(0, len(scenarios) - 1, 12).astype(int))
        picked = np.union1d(picked, np.flatnonzero(scenarios.lengths == 0)[:5])
        starts, goals, lengths = scenarios.starts[picked], scenarios.goals[picked], scenarios.lengths[picked]
        exact = grid.paths(starts, goals, abstract=False)
        abstract = grid.paths(starts, goals, smooth=True)
        np.testing.assert_array_equal(exact.found, abstract.found)
        for start, goal, length, cost, other in zip(starts, goals, lengths, exact.costs, abstract.costs, strict=True):
            if length > 0:
                assert abs(cost - length) <= max(1e-4, 0.51 * 10 ** (math.floor(math.log10(length)) - 5))
                ratios.append(other / length)
            else:
                assert (cost == 0) == (start == goal).all()
    assert np.mean(ratios) <= 1.04


def test_recast_samples_become_grids_of_several_floors(data):
    for name in ("nav_test", "dungeon"):
        mesh = load_mesh(data / "recast" / f"{name}.obj", up="y")
        grid = SparseGrid.from_mesh(mesh, Agent(0.6, 2.0, 0.9, 45.0), 0.3)
        columns = np.unique(grid.cells[:, :2], axis=0)
        assert grid.num_cells > 1.02 * len(columns)
        low, high = mesh.bounds
        world = grid.to_world(grid.cells)
        assert (world >= low - 0.5).all()
        assert (world <= high + 0.5).all()


def test_all_players_of_a_house_can_walk_to_each_other(data):
    level = load_bsp(data / "quake/oa_shouse.bsp")
    grid = SparseGrid.from_mesh(level.mesh, PLAYER, 8.0)
    spawns = np.array([point.position for point in level.points if point.kind == "info_player_deathmatch"])
    cells = grid.to_cells(spawns, reach=4.0)
    assert len(cells) >= 10
    assert all(grid.path(cells[0], cell).found for cell in cells[1:])
