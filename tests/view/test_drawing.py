from __future__ import annotations

import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import Polygon

from tests.view.worlds import box
from wayfold import SparseGrid, Terrain
from wayfold.errors import ParameterError
from wayfold.geometry import Mesh
from wayfold.path import Path, Status
from wayfold.view.viewer.drawing import evenly, label_colours, largest, map_mesh, show_level
from wayfold.view.viewer.page import Worker
from wayfold.view.viewer.session import Crowd
from wayfold.waypoints.voxels import VoxelWaypoints

COORDINATES = st.integers(-50, 50).map(float)
LINES = st.lists(st.tuples(COORDINATES, COORDINATES, COORDINATES), min_size=1, max_size=6)


def walked(line, distance):
    """The point after some distance along a line, step by step."""
    points = [np.array(point) for point in line]
    for a, b in pairwise(points):
        step = np.linalg.norm(b - a)
        if step > 0 and distance <= step:
            return a + (b - a) * distance / step
        distance -= step
    return points[-1]


@given(st.lists(LINES, min_size=1, max_size=5), st.floats(0, 200), st.floats(0.1, 10))
def test_everyone_is_as_far_along_their_path_as_they_have_walked(lines, seconds, speed):
    crowd = Crowd([Path(Status.FOUND, np.array(line)) for line in lines], speed)
    expected = [walked(line, speed * seconds) for line in lines]
    np.testing.assert_allclose(crowd.at(seconds), expected, atol=1e-6)
    assert crowd.arrived(crowd.seconds) == crowd.size == len(lines)


def test_whoever_has_no_path_takes_no_part():
    crowd = Crowd([Path(Status.UNREACHABLE), Path(Status.FOUND, np.zeros((1, 3)))], 1.0)
    assert crowd.size == 1
    assert Crowd([], 1.0).at(2.0).shape == (0, 3)


def many_boxes():
    """A large box of 12 triangles, and boxes that get smaller and smaller."""
    return Mesh.concatenate([box((9.0 * k, 0, 0), (9.0 * k + 8 / (k + 1), 8 / (k + 1), 8 / (k + 1))) for k in range(6)])


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_small_things_are_left_out_whole_before_larger_ones(parts):
    kept = largest(many_boxes(), np.arange(72), 12 * parts)
    np.testing.assert_array_equal(kept, np.arange(12 * parts))


def test_no_more_triangles_than_asked_for_are_shown_and_the_panel_is_told():
    mesh = many_boxes()
    for most in (7, 12, 30, 72, 500):
        layer = show_level(mesh, most)
        assert 0 < sum(len(thing.triangles) for thing in layer.things) <= min(most, 72)
        assert bool(layer.notes) == (most < 72)


def test_a_level_of_many_triangles_still_covers_its_ground():
    pytest.importorskip("fast_simplification", reason="needs fast-simplification: pip install '.[view]'")
    x, y = (axis.ravel().astype(float) for axis in np.meshgrid(np.arange(60), np.arange(60), indexing="ij"))
    first = (np.arange(59)[:, None] * 60 + np.arange(59)).ravel()
    triangles = np.concatenate(
        [np.column_stack([first, first + 60, first + 61]), np.column_stack([first, first + 61, first + 1])]
    )
    ground = Mesh(np.column_stack([x, y, 0 * x]), triangles)
    tower = box((20.0, 20.0, 0.0), (30.0, 30.0, 40.0))
    (*things,) = show_level(Mesh.concatenate([ground, tower]), 700).things
    drawn = [Mesh(thing.vertices, thing.triangles) for thing in things]
    area = sum(float(mesh.areas[mesh.normals[:, 2] > 0.7].sum()) for mesh in drawn)
    assert sum(map(len, drawn)) <= 700
    assert area == pytest.approx(59 * 59 + 100, rel=0.03)
    assert max(mesh.bounds[1, 2] for mesh in drawn) == pytest.approx(40.0, abs=0.5)


def test_a_surface_holds_the_triangles_of_its_material():
    mesh = Mesh(many_boxes().vertices, many_boxes().triangles, np.arange(72) // 12, [f"m{k}" for k in range(5)])
    things = show_level(mesh, 1000).things
    assert [thing.name for thing in things] == ["m0", "m1", "m2", "m3", "m4", "material 5"]
    for number, thing in enumerate(things):
        np.testing.assert_allclose(thing.vertices[thing.triangles], mesh.corners[12 * number : 12 * number + 12])


def test_cells_voxels_and_regions_become_triangles_that_can_be_clicked():
    grid = SparseGrid.from_cells([(0, 0, 0), (1, 0, 0), (3, 2, 5)])
    squares = map_mesh(grid)
    assert len(squares) == 6
    np.testing.assert_allclose(squares.areas.sum(), 3 * 0.92**2)
    assert (squares.normals[:, 2] == 1).all()
    blocked = np.zeros((4, 4, 4), bool)
    blocked[1, 2, 1:3] = True
    faces = map_mesh(VoxelWaypoints.from_voxels(blocked))
    np.testing.assert_allclose(faces.bounds, [(0.5, 1.5, 0.5), (1.5, 2.5, 2.5)])
    np.testing.assert_allclose(faces.areas.sum(), 10.0)
    # Every face looks away from the middle of the two blocked voxels.
    assert ((faces.normals * (faces.corners.mean(axis=1) - (1.0, 2.0, 1.5))).sum(axis=1) > 0).all()
    terrain = map_mesh(Terrain([(Polygon([(0, 0), (4, 0), (4, 2), (0, 2)]), 3.0)]))
    assert terrain.areas.sum() == pytest.approx(8.0)


def test_neighbouring_labels_have_colours_of_their_own_and_none_is_grey():
    colours = label_colours(np.array([0, 1, 2, -1]))
    assert len(np.unique(colours, axis=0)) == 4
    assert np.ptp(colours[3].astype(int)) < 10


@given(st.integers(0, 1000), st.integers(1, 50))
def test_evenly_chosen_places_are_ascending_and_no_more_than_asked_for(count, most):
    some = evenly(count, most)
    assert len(some) == min(count, most)
    assert (np.diff(some) > 0).all()


class Log:
    def __init__(self):
        self.busy, self.failed, self.done = [], [], []
        self.worker = Worker(self.busy.append, self.failed.append)


@pytest.fixture
def log():
    log = Log()
    yield log
    log.worker.stop()


def test_jobs_are_done_in_order_and_the_last_of_one_name_wins(log):
    gate = threading.Event()
    log.worker.submit("first", gate.wait)
    for number in range(3):
        log.worker.submit("build", lambda number=number: log.done.append(number))
    log.worker.submit("other", lambda: log.done.append("other"))
    gate.set()
    assert log.worker.wait(30)
    assert log.done == [2, "other"]
    assert log.busy == ["first", "build", "other", ""]


def test_what_is_offered_while_something_is_done_is_not_taken(log):
    gate, begun = threading.Event(), threading.Event()
    log.worker.submit("building", lambda: (begun.set(), gate.wait()))
    assert begun.wait(30)
    assert log.worker.busy == "building"
    assert not log.worker.offer("click", lambda: log.done.append("click"))
    gate.set()
    assert log.worker.wait(30)
    assert log.worker.offer("click", lambda: log.done.append("click"))
    assert log.worker.wait(30)
    assert log.done == ["click"]


def test_a_job_that_fails_is_told_and_the_next_one_is_done(log):
    def fail():
        raise ParameterError("radius must be at least 0 metres, not -1")

    log.worker.submit("building", fail)
    log.worker.submit("planning", lambda: log.done.append(1))
    assert log.worker.wait(30)
    assert log.failed == ["radius must be at least 0 metres, not -1"]
    assert log.done == [1]
