from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive_geometry as naive
from tests.geometry.strategies import eighths, meshes, points, points3
from wayfold.errors import GeometryError, ParameterError
from wayfold.geometry import Mesh, Voxels, space_kernels, voxelise

pytestmark = pytest.mark.kernels


def near_cells(corners, origin, cell):
    """All cells of the box round a triangle, and one more on each side."""
    low = np.floor((corners.min(axis=0) - origin) / cell).astype(int) - 1
    high = np.floor((corners.max(axis=0) - origin) / cell).astype(int) + 1
    return product(*(range(a, b + 1) for a, b in zip(low.tolist(), high.tolist(), strict=True)))


@settings(max_examples=60)
@given(meshes(most=3, corners=points(st.integers(-16, 16).map(lambda k: k / 8))), st.sampled_from([0.5, 1.0, 2.0]))
def test_exactly_the_cells_whose_closed_boxes_touch_a_triangle_are_marked(mesh, cell):
    expected = set()
    for corners in mesh.corners:
        for place in near_cells(corners, 0.0, cell):
            low = [cell * x for x in place]
            if naive.triangle_touches_box(corners.tolist(), low, [x + cell for x in low]):
                expected.add(place)
    assert voxelise(mesh, cell, origin=(0, 0, 0)).cells.tolist() == [list(place) for place in sorted(expected)]


@settings(max_examples=30)
@given(meshes(most=4, corners=points3), points3, st.floats(5.0, 50.0))
def test_no_touched_cell_is_missing_wherever_the_lattice_lies(mesh, origin, cell):
    voxels = voxelise(mesh, cell, origin=origin)
    marked = {tuple(place) for place in voxels.cells.tolist()}
    for corners in mesh.corners:
        for place in near_cells(corners, np.array(origin), cell):
            inner = [o + cell * (x + 1e-9) for o, x in zip(origin, place, strict=True)]
            outer = [o + cell * (x + 1 - 1e-9) for o, x in zip(origin, place, strict=True)]
            if naive.triangle_touches_box(corners.tolist(), inner, outer):
                assert place in marked
    grown = 1e-9 * cell
    for place in marked:
        low = tuple(o + cell * x - grown for o, x in zip(origin, place, strict=True))
        high = tuple(x + cell + 2 * grown for x in low)
        triangles = [tuple(map(tuple, corners.tolist())) for corners in mesh.corners]
        assert any(space_kernels.triangle_box(*triangle, low, high) for triangle in triangles)


@given(meshes(corners=points(eighths)), st.floats(0.3, 3.0))
def test_cells_are_sorted_and_unique_and_contain_the_mesh(mesh, cell):
    voxels = voxelise(mesh, cell)
    rows = list(map(tuple, voxels.cells.tolist()))
    assert rows == sorted(set(rows))
    assert voxels.cells.dtype == np.int32
    assert voxels.contains(mesh.corners.reshape(-1, 3)).all()
    assert voxels.contains(mesh.corners.mean(axis=1)).all()
    assert (voxels.low >= 0).all()


@given(meshes(), st.sampled_from([0.7, 1.0]))
def test_the_dense_array_marks_the_same_cells(mesh, cell):
    voxels = voxelise(mesh, cell)
    assert np.argwhere(voxels.dense()).tolist() == (voxels.cells - voxels.low).tolist()
    assert voxels.dense().shape == voxels.shape
    centres = voxels.origin + voxels.cell * (voxels.low + np.argwhere(~voxels.dense()) + 0.5)
    assert not voxels.contains(centres).any()


def test_threads_change_no_answer():
    rng = np.random.default_rng(0)
    mesh = Mesh(
        rng.uniform(0, 30, (9000, 1, 3)).repeat(3, axis=1).reshape(-1, 3) + rng.uniform(-1, 1, (27000, 3)),
        np.arange(27000).reshape(-1, 3),
    )
    assert voxelise(mesh, 0.5, workers=1).cells.tolist() == voxelise(mesh, 0.5, workers=2).cells.tolist()


def test_a_flat_floor_fills_one_layer_and_on_a_face_between_cells_two():
    floor = Mesh([(0, 0, 0), (3, 0, 0), (3, 3, 0), (0, 3, 0)], [(0, 1, 2), (0, 2, 3)])
    assert set(voxelise(floor, 1.0).cells[:, 2].tolist()) == {0}
    assert set(voxelise(floor, 1.0, origin=(0, 0, 0)).cells[:, 2].tolist()) == {-1, 0}


def test_a_long_diagonal_sliver_takes_cells_along_it_only():
    mesh = Mesh([(0, 0, 0), (1e5, 1e5, 1e5), (1e5, 1e5, 1e5 + 1)], [(0, 1, 2)])
    assert 1e5 <= len(voxelise(mesh, 1.0)) < 2e6


def test_points_outside_are_in_no_cell():
    voxels = voxelise(Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), 0.5)
    assert voxels.contains([(-5, 0, 0), (0, 0, 1e30), (0.2, 0.2, 0.0)]).tolist() == [False, False, True]
    assert voxels.contains(np.empty((0, 3))).shape == (0,)


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        (0.0, "cell must be above 0"),
        (-1.0, "cell must be above 0"),
        (np.nan, "cell must be finite"),
        ("wide", "cell must be a number"),
        (1e-3, "use a cell of about"),
        (1e-5, "too large to number; use a cell above"),
        (1e-9, "use a cell of at least"),
        (1e-320, "use a cell of at least"),
    ],
)
def test_cells_too_small_to_hold_are_refused_before_any_memory_is_taken(cell, sentence):
    mesh = Mesh([(0, 0, 0), (1000, 0, 0), (0, 1000, 500)], [(0, 1, 2)])
    with pytest.raises(ParameterError, match=sentence):
        voxelise(mesh, cell)


def test_needles_too_long_to_hold_are_refused():
    mesh = Mesh([(0, 0, 0), (2e9, 0, 0), (2e9, 0, 0)], [(0, 1, 2)])
    with pytest.raises(ParameterError, match="use a cell of about"):
        voxelise(mesh, 1.0)


def test_a_dense_array_beyond_the_limit_is_refused():
    voxels = voxelise(Mesh([(0, 0, 0), (9, 9, 9), (0, 1, 0)], [(0, 1, 2)]), 1.0)
    with pytest.raises(ParameterError, match="more than the limit of 10; use larger cells"):
        voxels.dense(limit=10)
    with pytest.raises(ParameterError, match="limit must be at least 1"):
        voxels.dense(limit=0)


def test_a_bad_origin_is_refused():
    mesh = Mesh([(0, 0, 0), (9, 9, 9), (0, 1, 0)], [(0, 1, 2)])
    with pytest.raises(GeometryError, match="origin"):
        voxelise(mesh, 1.0, origin=(0, np.inf, 0))


def test_voxels_say_how_large_they_are():
    voxels = Voxels(np.array([[0, 0, 0], [1, 2, 3]], np.int32), np.zeros(3), 0.5)
    assert (len(voxels), voxels.shape, voxels.nbytes) == (2, (2, 3, 4), 24)
    assert repr(voxels) == "<Voxels: 2 cells of 0.5 m in 2 x 3 x 4>"
