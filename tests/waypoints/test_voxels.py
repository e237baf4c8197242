from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import wayfold
from wayfold import SubregionGraph
from wayfold.errors import EditError, OffMapError, ParameterError
from wayfold.waypoints import VoxelWaypoints
from wayfold.waypoints._voxel_kernels import line_free

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


def stretch(p, q, voxel):
    """The part of a line from `p` to `q` in a closed voxel, as exact shares of it: (first, last), None for nothing."""
    first, last = Fraction(0), Fraction(1)
    for a, b, middle in zip(p.tolist(), q.tolist(), voxel, strict=True):
        a, b = Fraction(a), Fraction(b)
        low, high = middle - Fraction(1, 2), middle + Fraction(1, 2)
        if a == b:
            if not low <= a <= high:
                return None
            continue
        near, far = sorted(((low - a) / (b - a), (high - a) / (b - a)))
        first, last = max(first, near), min(last, far)
    return (first, last) if first <= last else None


def meets(p, q, voxel):
    """Whether a line meets a closed voxel."""
    return stretch(p, q, voxel) is not None


def pierces(p, q, voxel):
    """Whether a line goes through the inside of a voxel."""
    part = stretch(p, q, voxel)
    if part is None:
        return False
    share = (part[0] + part[1]) / 2
    middle = [Fraction(a) + share * (Fraction(b) - Fraction(a)) for a, b in zip(p.tolist(), q.tolist(), strict=True)]
    return all(abs(a - b) < Fraction(1, 2) for a, b in zip(middle, voxel, strict=True))


places = st.one_of(st.integers(-1, 12).map(lambda k: k / 2), st.floats(-0.5, 6.0))


@given(worlds, st.tuples(*[places] * 6))
@example(np.array([[[False, True], [False, False]]]), (0.0, 0.0, 0.0, 0.0, 1.0, 1.0))
@example(np.array([[[True]]]), (0.5, -0.5, 0.0, 0.5, 0.5, 0.0))
def test_a_line_is_free_exactly_when_it_meets_no_blocked_voxel(blocked, ends):
    most = np.array(blocked.shape) - 0.5
    p, q = np.minimum(ends[:3], most), np.minimum(ends[3:], most)
    free = not any(meets(p, q, voxel) for voxel in np.argwhere(blocked).tolist())
    assert line_free(blocked, tuple(p.tolist()), tuple(q.tolist())) == free


@given(worlds, st.integers(2, 4), st.data())
def test_a_point_on_a_border_belongs_to_every_voxel_that_touches_it(blocked, size, data):
    free = np.argwhere(~blocked)
    if not len(free):
        return
    waypoints = VoxelWaypoints.from_voxels(blocked, region_size=size)
    middle = free[data.draw(st.integers(0, len(free) - 1))]
    sides = np.array(data.draw(st.tuples(*[st.sampled_from([-0.5, 0.0, 0.5])] * 3)))
    path = waypoints.path(middle + sides, middle)
    assert path.length == pytest.approx(np.linalg.norm(sides))


def test_a_corner_of_three_free_voxels_and_a_blocked_one_belongs_to_all_three():
    waypoints = VoxelWaypoints.from_voxels(np.array([[[True, False], [False, False]]]), region_size=2)
    for middle in ((0, 0, 1), (0, 1, 0), (0, 1, 1)):
        for ends in (((0.5, 0.5, 0.5), middle), (middle, (0.5, 0.5, 0.5))):
            assert waypoints.path(*ends).length == pytest.approx(np.sqrt(0.75))


def touching(blocked, point):
    """The free voxels that a point touches."""
    near = np.abs(np.argwhere(~blocked) - point).max(axis=1) <= 0.5
    return [tuple(voxel) for voxel in np.argwhere(~blocked)[near].tolist()]


@given(worlds, st.integers(2, 4), st.data())
@example(np.array([[[False, True], [True, False]]]), 2, None)
def test_a_point_on_a_border_reaches_what_any_voxel_that_touches_it_reaches(blocked, size, data):
    """Also where they touch in an edge or a corner only, and nothing joins them."""
    free = np.argwhere(~blocked)
    if not len(free):
        return
    waypoints = VoxelWaypoints.from_voxels(blocked, region_size=size)
    subregions = SubregionGraph.build(waypoints)
    ends = []
    for _ in range(2):
        middle = free[0 if data is None else data.draw(st.integers(0, len(free) - 1))]
        drawn = (0.5, 0.5, 0.5) if data is None else data.draw(st.tuples(*[st.sampled_from([-0.5, 0.0, 0.5])] * 3))
        ends.append(middle + np.array(drawn))
    for start, goal in (ends, [ends[0], free[-1].astype(float)], [free[-1].astype(float), ends[0]]):
        reached = set().union(*(reachable(blocked, voxel) for voxel in touching(blocked, start)))
        expected = not reached.isdisjoint(touching(blocked, goal))
        assert waypoints.path(start, goal).found == expected
        assert subregions.path(start, goal).found == expected
        assert waypoints.reachable(start, goal, motions=waypoints.default_motions) == expected


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
                assert not any(pierces(p, q, voxel) for voxel in np.argwhere(blocked).tolist())
        if not any(
            meets(np.array(start, float), np.array(goal, float), voxel) for voxel in np.argwhere(blocked).tolist()
        ):
            assert len(path.points) == 2


def test_saved_voxels_answer_as_before(tmp_path):
    blocked = np.zeros((9, 9, 9), bool)
    blocked[4, :8] = True
    waypoints = VoxelWaypoints.from_voxels(blocked)
    waypoints.save(tmp_path / "v.wayfold")
    loaded = wayfold.load(tmp_path / "v.wayfold")
    ends = (0, 0, 0), (8, 0, 8)
    np.testing.assert_array_equal(loaded.path(*ends).points, waypoints.path(*ends).points)


def test_edits_that_a_file_of_voxels_would_lose_keep_it_from_being_written(tmp_path):
    blocked = np.zeros((9, 3, 3), np.bool_)
    blocked[4] = True
    blocked[4, 1, 1] = False
    waypoints = VoxelWaypoints.from_voxels(blocked, region_size=3)
    waypoints.update(remove_waypoints=range(1, waypoints.num_waypoints - 1))
    assert not waypoints.path((0, 0, 0), (8, 0, 0))
    with pytest.raises(EditError, match="would lose"):
        waypoints.save(tmp_path / "a.wayfold")
    assert not list(tmp_path.iterdir())


def test_voxels_that_a_world_has_blocked_are_saved(tmp_path):
    world = wayfold.World.from_map(wayfold.formats.Map3D((9, 3, 3), [(4, 0, 0)]), cache=False)
    planner = world.planner(region_size=3)
    world.block(wayfold.Box((4, 0, 0), (4.5, 3, 3)))
    planner.map.save(tmp_path / "a.wayfold")
    again = wayfold.load(tmp_path / "a.wayfold")
    assert not again.path((0, 0, 0), (8, 0, 0))
    assert planner.path((0, 0, 0), (8, 0, 0)).status is again.path((0, 0, 0), (8, 0, 0)).status


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


@pytest.mark.data
def test_smoothed_paths_on_real_maps_pierce_no_blocked_voxel(data):
    from wayfold.formats import load_map3d, load_scen3d

    legs = 0
    for file in sorted((data / "movingai" / "warframe").glob("*.3dmap"), key=lambda file: file.stat().st_size)[:4]:
        waypoints = VoxelWaypoints.from_voxels(load_map3d(file))
        blocked = waypoints.blocked
        subregions = SubregionGraph.build(waypoints)
        for row in load_scen3d(file.with_name(file.name + ".3dscen"))[::100]:
            for p, q in itertools.pairwise(subregions.path(row.start, row.goal).smooth().points):
                low = np.maximum(np.floor(np.minimum(p, q)), 0).astype(int)
                high = np.minimum(np.ceil(np.maximum(p, q)) + 1, blocked.shape).astype(int)
                part = np.argwhere(blocked[tuple(slice(a, b) for a, b in zip(low, high, strict=True))]) + low
                # Only voxels near the line are worth exact arithmetic.
                way = (q - p) / max(np.linalg.norm(q - p), 1e-9)
                near = part[np.linalg.norm(np.cross(part - p, way), axis=1) < 1.0]
                assert not any(pierces(p, q, voxel) for voxel in near.tolist())
                legs += 1
    assert legs > 50
