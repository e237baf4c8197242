from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import wayfold
from wayfold import SubregionGraph
from wayfold.errors import OffMapError, ParameterError
from wayfold.waypoints import VoxelWaypoints

pytestmark = pytest.mark.kernels

worlds = arrays.arrays(np.bool_, st.tuples(*[st.integers(1, 6)] * 3), elements=st.sampled_from([False, False, True]))


def reachable(blocked, start):
    """Voxels that can be reached from face to face."""
    reached, waiting = {start}, [start]
    while waiting:
        voxel = waiting.pop()
        for axis in range(3):
            for side in (-1, 1):
                other = tuple(v + side * (d == axis) for d, v in enumerate(voxel))
                inside = all(0 <= v < size for v, size in zip(other, blocked.shape, strict=True))
                if inside and not blocked[other] and other not in reached:
                    reached.add(other)
                    waiting.append(other)
    return reached


def touched(p, q):
    """Voxels that contain one of many points on a line, with all of those around where it runs along a face."""
    for t in np.linspace(0, 1, 400):
        point = p + t * (q - p)
        yield tuple(np.floor(point + 0.5 - 1e-7).astype(int)), tuple(np.floor(point + 0.5 + 1e-7).astype(int))


@given(worlds, st.integers(2, 4), st.data())
def test_a_path_through_voxels_exists_exactly_when_they_hang_together(blocked, size, data):
    free = np.argwhere(~blocked)
    if not len(free):
        with pytest.raises(OffMapError, match="every voxel is blocked"):
            VoxelWaypoints.from_voxels(blocked, region_size=size)
        return
    waypoints = VoxelWaypoints.from_voxels(blocked, region_size=size)
    subregions = SubregionGraph.build(waypoints)
    start, goal = (tuple(free[data.draw(st.integers(0, len(free) - 1))].tolist()) for _ in range(2))
    path = subregions.path(start, goal)
    assert path.found == (goal in reachable(blocked, start))
    if path:
        smooth = path.smooth()
        assert smooth.length <= path.length + 1e-9
        for points in (path.points, smooth.points):
            np.testing.assert_array_equal(points[[0, -1]], [start, goal])
            for p, q in itertools.pairwise(points):
                assert all(not (blocked[a] and blocked[b]) for a, b in touched(p, q))


def test_saved_voxels_answer_as_before(tmp_path):
    blocked = np.zeros((9, 9, 9), bool)
    blocked[4, :8] = True
    waypoints = VoxelWaypoints.from_voxels(blocked)
    waypoints.save(tmp_path / "v.wayfold")
    loaded = wayfold.load(tmp_path / "v.wayfold")
    ends = (0, 0, 0), (8, 0, 8)
    np.testing.assert_array_equal(loaded.path(*ends).points, waypoints.path(*ends).points)


def test_bad_input_is_refused_with_a_clear_sentence():
    blocked = np.zeros((3, 3, 3), bool)
    blocked[1, 1, 1] = True
    waypoints = VoxelWaypoints.from_voxels(blocked)
    with pytest.raises(OffMapError, match="blocked voxel"):
        waypoints.path((1, 1, 1), (0, 0, 0))
    with pytest.raises(OffMapError, match="outside the map"):
        waypoints.path((0, 0, 0), (5, 0, 0))
    with pytest.raises(ParameterError, match="three dimensions"):
        VoxelWaypoints.from_voxels(np.zeros((3, 3), bool))


@pytest.mark.data
def test_listed_voxel_queries_are_found(data):
    from wayfold.formats import load_map3d, load_scen3d

    file = data / "movingai" / "warframe" / "Complex.3dmap"
    subregions = SubregionGraph.build(VoxelWaypoints.from_voxels(load_map3d(file)))
    for row in load_scen3d(file.with_name(file.name + ".3dscen"))[::50]:
        path = subregions.path(row.start, row.goal)
        assert path.found
        assert path.smooth().length < 1.6 * row.length + 3.0
