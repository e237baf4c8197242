"""Grids from triangle meshes: floors, stairs, bridges, cracks, and what is connected to a place."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import _levels
from wayfold import Agent, SparseGrid, Status
from wayfold.errors import OffMapError, ParameterError
from wayfold.geometry import Mesh

pytestmark = pytest.mark.kernels

AGENT = Agent(radius=0.4, height=1.8, climb=0.5, slope=45.0)
FACES = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))


def boxes(*pairs):
    """A mesh of closed boxes, each given by two opposite corners."""
    vertices, triangles = [], []
    for low, high in pairs:
        first = len(vertices)
        corners = np.array([low, high], float)
        vertices += [[corners[x, 0], corners[y, 1], corners[z, 2]] for z in (0, 1) for y in (0, 1) for x in (0, 1)]
        for a, b, c, d in FACES:
            triangles += [(first + a, first + b, first + c), (first + a, first + c, first + d)]
    return Mesh(vertices, triangles)


def test_boxes_look_outward():
    mesh = boxes(((0, 0, 0), (1, 2, 3)))
    assert (np.einsum("ij,ij->i", mesh.normals, mesh.corners.mean(axis=1) - [0.5, 1, 1.5]) > 0).all()


def test_a_bridge_its_underpass_and_the_stairs_to_it_are_cells_of_one_world():
    ground = ((0, 0, -1), (20, 10, 0))
    stairs = [((5 + 0.5 * k, 4, 0), (5.5 + 0.5 * k, 6, 0.4 * (k + 1))) for k in range(8)]
    deck = ((9, 4, 3.0), (20, 6, 3.2))
    grid = SparseGrid.from_mesh(boxes(ground, *stairs, deck), AGENT, 0.25)
    low, under, high = grid.to_cells([(2, 5, 0), (14, 5, 0), (14, 5, 3.2)])
    assert under[2] < high[2]
    assert (under[:2] == high[:2]).all()
    for goal in (under, high):
        path = grid.path(low, goal)
        assert path.found
        assert grid.to_world(path.points)[:, 2].max() < (0.5 if goal is under else 3.5)
    climb = grid.to_world(grid.path(low, high).points)
    assert ((climb[:, 0] > 5) & (climb[:, 0] < 9)).any()


def test_stairs_with_treads_narrower_than_the_agent_can_be_climbed():
    stairs = [((4 + 0.25 * k, 0, 0), (4.25 + 0.25 * k, 4, 0.25 * (k + 1))) for k in range(8)]
    mesh = boxes(((0, 0, -1), (4, 4, 0)), *stairs, ((6, 0, 1.0), (10, 4, 2.0)))
    grid = SparseGrid.from_mesh(mesh, AGENT, 0.25)
    assert grid.path(*grid.to_cells([(1, 2, 0), (9, 2, 2)])).found
    steep = SparseGrid.from_mesh(mesh, Agent(radius=0.4, height=1.8, climb=0.2, slope=45.0), 0.25)
    assert not steep.path(*steep.to_cells([(1, 2, 0), (9, 2, 2)])).found


@pytest.mark.parametrize("along", [0, 1])
def test_a_hairline_crack_through_the_middle_of_cells_is_no_gap(along):
    first, second = ((0, 0, -1), (4.125, 8, 0)), ((4.12501, 0, -1), (8, 8, 0))
    turn = slice(None, None, -1) if along else slice(None)
    first, second = ([(*corner[:2][turn], corner[2]) for corner in box] for box in (first, second))
    grid = SparseGrid.from_mesh(boxes(first, second), AGENT, 0.25)
    whole = SparseGrid.from_mesh(boxes(((0, 0, -1), (8, 8, 0))), AGENT, 0.25)
    np.testing.assert_array_equal(grid.cells[:, :2], whole.cells[:, :2])
    assert grid.path(*grid.to_cells([(1, 1, 0), (7, 7, 0)])).found


def test_walls_keep_the_agent_at_a_distance():
    grid = SparseGrid.from_mesh(boxes(((0, 0, -1), (8, 8, 0)), ((4, 0, 0), (4.2, 8, 3))), AGENT, 0.25)
    x = grid.to_world(grid.cells)
    floor = x[np.abs(x[:, 2]) < 0.5][:, 0]
    assert ((floor < 3.6 + 1e-6) | (floor > 4.6 - 1e-6)).all()
    assert grid.path(*grid.to_cells([(1, 1, 0), (7, 1, 0)])).status is Status.UNREACHABLE


def test_only_what_is_connected_to_a_seed_is_kept():
    house = [((0, 0, 3), (6, 6, 3.2)), ((10, 0, -1), (12, 6, 0))]
    mesh = boxes(((0, 0, -1), (6, 6, 0)), *house)
    everything = SparseGrid.from_mesh(mesh, AGENT, 0.25)
    inside = SparseGrid.from_mesh(mesh, AGENT, 0.25, seeds=[(3, 3, 0.1)])
    assert 0 < inside.num_cells < everything.num_cells
    assert np.ptp(inside.cells[:, 2]) == 0
    assert inside.contains(inside.cells).all()
    assert everything.contains(inside.cells).all()
    np.testing.assert_array_equal(inside.to_world(inside.cells), everything.to_world(inside.cells))
    both = SparseGrid.from_mesh(mesh, AGENT, 0.25, seeds=[(3, 3, 0.1), (3, 3, 3.3), (11, 3, 0)])
    np.testing.assert_array_equal(both.cells, everything.cells)
    with pytest.raises(OffMapError, match="not near any cell"):
        SparseGrid.from_mesh(mesh, AGENT, 0.25, seeds=[(30, 3, 0)])


@settings(max_examples=40)
@given(st.integers(0, 10**9), st.floats(0, 4))
def test_the_nearest_cell_is_the_nearest_of_those_below(seed, reach):
    rng = np.random.default_rng(seed)
    cells = np.unique(rng.integers(-6, 6, (40, 3)), axis=0)
    grid = SparseGrid.from_cells(cells)
    for point in rng.uniform(-7, 7, (6, 3)):
        sideways = np.hypot(*(cells - point)[:, :2].T) <= reach + 0.5
        below = sideways & (cells[:, 2] <= point[2] + 1)
        wanted = cells[below if below.any() else sideways]
        if not len(wanted):
            with pytest.raises(OffMapError):
                grid.to_cells(point[None], max_distance=reach)
            continue
        found = grid.to_cells(point[None], max_distance=reach)[0]
        assert any((found == cell).all() for cell in wanted)
        distance = np.linalg.norm(wanted - point, axis=1)
        assert np.linalg.norm(found - point) == pytest.approx(distance.min())


def test_progress_is_told_and_ends_with_all_rows():
    told = []
    SparseGrid.from_mesh(boxes(((0, 0, -1), (8, 8, 0))), AGENT, 0.25, progress=lambda *step: told.append(step))
    assert told[-1] == ("cells", 32, 32)


def test_wrong_settings_get_a_sentence():
    mesh = boxes(((0, 0, -1), (2, 2, 0)))
    for options in (
        {"cell": 0},
        {"cell": 1e-7},
        {"level": -1},
        {"max_step": 2},
        {"seeds": [(0, 0)] * 2 + [(math.nan, 0)]},
    ):
        with pytest.raises((ParameterError, ValueError), match=r"cell|level|max_step|finite"):
            SparseGrid.from_mesh(mesh, AGENT, **{"cell": 0.5, **options})


def test_falls_and_jumps_lead_from_floor_to_floor_of_a_level_where_there_is_room():
    floor, crate, tower = (
        ((0, 0, -16), (600, 400, 0)),
        ((100, 100, 0), (180, 180, 40)),
        ((400, 100, 0), (500, 300, 200)),
    )
    low_roof = ((380, 80, 240), (520, 320, 250))
    for roof, fall in (((), True), ((low_roof,), False)):
        level = _levels.QuakeLevel("made", boxes(floor, crate, tower, *roof), [], [])
        grid = SparseGrid.from_mesh(level.mesh, _levels.PLAYER, 8.0)
        moves = _levels.moves(level, grid)
        ends = [
            (round(a), round(b))
            for a, b in zip(grid.to_world(moves.sources)[:, 2], grid.to_world(moves.ends)[:, 2], strict=True)
        ]
        ways = [_levels.WAYS[way] for way in moves.ways]
        found = {(way, a > b) for way, (a, b) in zip(ways, ends, strict=True)}
        assert ("jump", False) in found
        assert ("fall", True) in found
        tall = [b for way, (a, b) in zip(ways, ends, strict=True) if 150 < a < 230]
        assert bool(tall) == fall
        assert not any(b > 150 for a, b in ends if a < 100)
