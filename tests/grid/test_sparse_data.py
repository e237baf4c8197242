"""Real maps and levels: memory, listed optima, abstract planning, floors that a player can walk."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks import _levels
from wayfold import Agent, NavMesh, SparseGrid
from wayfold.formats import load_mesh, load_scen

pytestmark = pytest.mark.data


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
    assert max(grid.nbytes / total for grid, total in zip(grids, totals, strict=True)) <= 1.3


def test_exact_paths_have_the_listed_length_and_abstract_ones_agree_on_reachability(data):
    ratios = []
    for file in maps(data):
        grid = SparseGrid.from_movingai(file)
        scenarios = load_scen(file.with_name(file.name + ".scen"))
        picked = np.unique(np.linspace(0, len(scenarios) - 1, 12).astype(int))
        picked = np.union1d(picked, np.flatnonzero(scenarios.lengths == 0)[:5])
        starts, goals, lengths = scenarios.starts[picked], scenarios.goals[picked], scenarios.lengths[picked]
        exact = grid.paths(starts, goals, exact=True)
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


@pytest.mark.parametrize("name", ["nav_test", "dungeon"])
def test_a_grid_and_a_navigation_mesh_agree_on_what_is_connected(data, name):
    """Two independent ways from triangles to floors; small islands, which differ at their rims, do not count."""
    mesh = load_mesh(data / "recast" / f"{name}.obj", up="y")
    grid = SparseGrid.from_mesh(mesh, _levels.RECAST, 0.3)
    navmesh = NavMesh.build(mesh, _levels.RECAST, cell_size=0.3, cell_height=0.2)
    labels, points = navmesh.graph.components(), navmesh.graph.points
    large = np.isin(labels, np.flatnonzero(np.bincount(labels) >= 10))
    cells = grid.to_cells(points[large] + np.array([0.0, 0.0, 0.3]), max_distance=3.0)
    component = grid.component_of(cells)
    pairs = {(int(a), int(b)) for a, b in zip(labels[large], component, strict=True)}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}) >= 1


def test_players_of_all_levels_can_walk_to_each_other_or_something_else_joins_them(data):
    """Files of hulls do not say where teleporters are, only where they lead."""
    walking = []
    for file in _levels.level_files(data):
        facts = _levels.level_facts(file)
        assert facts["floors"] >= 2, file.name
        assert sum(facts["groups"]["walk"]) == facts["spawns"], file.name
        walking.append(len(facts["groups"]["walk"]) == 1)
        carried = any(point.kind == "misc_teleporter_dest" for point in _levels.read_level(file).points)
        assert len(facts["groups"]["carried"]) == 1 or (file.suffix == ".obj" and carried), file.name
    assert sum(walking) >= 5


def test_a_level_gives_the_same_grid_from_its_own_file_and_from_its_hulls(data):
    groups = []
    for name in ("oa_shouse.bsp", "oa_shouse.obj"):
        level = _levels.read_level(data / "quake" / name)
        grid = _levels.level_grid(level)
        cells = grid.to_cells(level.spawns, max_distance=4.0)
        groups.append([grid.path(cells[0], cell).found for cell in cells])
        assert grid.num_cells == pytest.approx(112_500, rel=0.02)
    assert groups[0] == groups[1] == [True] * 20


def test_teleporters_as_one_way_links_lead_players_out_of_their_base(data):
    level = _levels.read_level(data / "quake/dm6ish.bsp")
    grid = _levels.level_grid(level)
    moves = _levels.moves(level, grid)
    cells = grid.to_cells(level.spawns, max_distance=4.0)
    before = sum(grid.path(a, b).found for a in cells for b in cells)
    for source, end in zip(moves.sources, moves.ends, strict=True):
        far = np.abs(source - end)
        grid.add_link(source, end, cost=float(far.sum()), both_ways=False)
    after = [[grid.path(a, b).found for b in cells] for a in cells]
    assert sum(map(sum, after)) > before
    for a in cells:
        for b in cells:
            assert grid.path(a, b).found == grid.path(a, b, exact=True).found
