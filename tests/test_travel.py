"""Everything that is a value travels: pickles, deep copies and workers that are spawned answer as the original does."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.sweep import subjects
from tests.sweep.judge import same
from wayfold import Box, Prism, errors, load

pytestmark = pytest.mark.kernels

EXAMPLES = subjects._examples()
WAYS = {"pickle": lambda thing: pickle.loads(pickle.dumps(thing)), "deep copy": copy.deepcopy}
SHAPE = Box((5, 5, -1), (7, 7, 3))


def probe(label, thing):
    return EXAMPLES[label].probe(thing)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("label", EXAMPLES)
def test_a_copy_answers_as_the_original(label, way):
    thing = EXAMPLES[label].make()
    before = probe(label, thing)
    copied = WAYS[way](thing)
    assert type(copied) is type(thing)
    assert same(before, probe(label, copied))
    assert same(before, probe(label, thing))


# What is done to an object of each class that can be edited.
EDITS = {
    "SparseGrid": lambda grid: grid.remove([(x, 6) for x in range(11)]),
    "NavMesh[built]": lambda navmesh: navmesh.add_link((1, 1), (18, 18), cost=0.5),
    "NavMesh": lambda navmesh: navmesh.add_link((1, 1), (18, 18), cost=0.5),
    "WaypointGraph": lambda places: places.update(remove_waypoints=np.arange(0, places.num_waypoints, 2)),
    "VoxelWaypoints": lambda places: places.update(remove_waypoints=[0]),
    "Hierarchy": lambda levels: levels.update([(0, 1), (4, 5), (8, 9), (12, 13)], np.inf),
    "Decomposition": lambda parts: parts.add_obstacle([(4, 5), (7, 5), (7, 19), (4, 18)]),
    "World": lambda world: world.block(SHAPE),
    "Planner[navmesh]": lambda planner: planner.world.block(Box((2, 9, -1), (20, 9.5, 3))),
    "Planner[waypoints]": lambda planner: planner.world.block(Box((5, 0, -1), (6, 20, 2))),
    "Planner[sparse-grid]": lambda planner: planner.world.block(Box((5, -0.4, -1), (5.2, 8, 1))),
    "Planner[voxels]": lambda planner: planner.world.block(Box((0.6, 0.6, -1), (3.4, 3.4, 5))),
    "Planner[terrain]": lambda planner: planner.world.set_cost(Box((6, 0, -1), (9, 19, 1)), 50.0),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("label", EDITS)
def test_edits_travel_and_edits_of_a_copy_stay_with_it(label, way):
    thing = EXAMPLES[label].make()
    untouched = probe(label, thing)
    copied = WAYS[way](thing)
    EDITS[label](copied)
    changed = probe(label, copied)
    assert not same(untouched, changed)
    assert same(untouched, probe(label, thing))
    EDITS[label](thing)
    assert same(changed, probe(label, thing))
    assert same(changed, probe(label, WAYS[way](thing)))


def test_a_planner_travels_with_its_world():
    planner = subjects.planner("navmesh")
    world = planner.world
    again, other = pickle.loads(pickle.dumps((world, planner)))
    assert other.world is again
    assert again.planner() is other
    assert again._lock is other._lock
    again.block(SHAPE)
    assert (other.edits, again.version) == (planner.edits + 1, world.version + 1)
    alone = copy.deepcopy(planner)
    assert alone.world.planners == (alone,)


def test_a_subregion_graph_travels_with_its_waypoints():
    parts = EXAMPLES["SubregionGraph"].make()
    waypoints, copied = pickle.loads(pickle.dumps((parts.waypoints, parts)))
    assert copied.waypoints is waypoints


def test_copies_have_locks_and_scratch_of_their_own():
    planner = subjects.planner("navmesh")
    planner.paths(np.repeat([subjects.HERE], 8, 0), np.repeat([subjects.THERE], 8, 0))
    copied = copy.deepcopy(planner)
    assert copied._lock is not planner._lock
    assert copied.map._edit is not planner.map._edit
    with planner._lock.reading(), planner.map._edit, ThreadPoolExecutor(1) as pool:  # nobody else has to wait for it
        assert same(
            pool.submit(copied.path, subjects.HERE, subjects.THERE).result(30),
            planner.path(subjects.HERE, subjects.THERE),
        )
    graph = subjects.graph()
    graph.path(0, 15)
    assert graph.workspaces.nbytes
    assert not copy.deepcopy(graph).workspaces.nbytes


def test_what_is_mapped_from_a_file_travels_with_its_content(tmp_path):
    navmesh = subjects.built_navmesh()
    navmesh.save(tmp_path / "n.wayfold")
    loaded = load(tmp_path / "n.wayfold")
    packed = pickle.dumps(loaded)
    del loaded
    (tmp_path / "n.wayfold").unlink()
    assert same(navmesh.path(subjects.HERE, subjects.THERE), pickle.loads(packed).path(subjects.HERE, subjects.THERE))


def test_shapes_and_errors_are_equal_to_their_pickles():
    for shape in (SHAPE, Prism(subjects.HOLE, 0.0, 2.0)):
        again = pickle.loads(pickle.dumps(shape))
        assert again == shape
        assert hash(again) == hash(shape)
    for kind in (errors.ParameterError, errors.GeometryError, errors.OffMapError, errors.EditError):
        again = pickle.loads(pickle.dumps(kind("what is wrong")))
        assert type(again) is kind
        assert str(again) == "what is wrong"
    for kind in (errors.FormatError, errors.VersionError):
        again = pickle.loads(pickle.dumps(kind("what is wrong", "file", 3)))
        assert (str(again), again.line) == ("file:3: what is wrong", 3)


def answers(labels, things):
    """What a worker says."""
    return [probe(label, thing) for label, thing in zip(labels, things, strict=True)]


def test_spawned_workers_answer_as_their_parent_also_after_edits():
    labels = [
        *EDITS,
        "Graph",
        "DenseGrid",
        "Terrain",
        "SubregionGraph",
        "FloorPlan",
        "Field[navmesh]",
        "Field[terrain]",
    ]
    things = [EXAMPLES[label].make() for label in labels]
    for label, thing in zip(labels, things, strict=True):
        EDITS.get(label, lambda thing: None)(thing)
    expected = answers(labels, things)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply_async(answers, (labels, things)).get(300)
    for label, one, other in zip(labels, expected, found, strict=True):
        assert same(one, other), label
    assert threading.active_count() < 50
