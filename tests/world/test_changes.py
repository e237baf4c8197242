"""A world that changes while it is asked: no crash, no path through what is closed, nothing left over at the end."""

from __future__ import annotations

import queue
import threading
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.world.judging import level_of, solids, violations
from tests.world.levels import BIRD, CART, EVERYBODY, PERSON, SPIDER, courtyard, flat, pairs
from wayfold import Agent, Box, NavMesh, Prism, Terrain, World
from wayfold.errors import EditError, GeometryError, OffMapError, ParameterError
from wayfold.formats import Map3D

THREADS = 4


def random_shape(rng, bounds):
    """A box or a prism of any size, anywhere: on the ground, over it, across walls and across the world's border."""
    (x0, y0, _), (x1, y1, top) = bounds
    middle = rng.uniform((x0 - 1, y0 - 1), (x1 + 1, y1 + 1))
    low = rng.choice([-1.5, -0.2, 0.4, 1.0, 2.5])
    high = low + rng.choice([0.3, 1.0, 3.0, top + 3])
    size = rng.uniform(0.2, 4.0, 2)
    if rng.random() < 0.6:
        return Box((*(middle - size / 2), low), (*(middle + size / 2), high))
    if rng.random() < 0.5:
        angles = np.sort(rng.uniform(0, 2 * np.pi / 3, 3) + np.arange(3) * 2 * np.pi / 3)
        return Prism(middle + size[0] * np.column_stack([np.cos(angles), np.sin(angles)]), low, high)
    # An angle, which is not convex.
    ring = np.array([(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)]) * size / 3
    return Prism(middle + ring, low, high)


class Editor:
    """Blocks and unblocks at random, and remembers which blocks there were at each version of the world."""

    def __init__(self, world, seed):
        self.world = world
        self.rng = np.random.default_rng(seed)
        self.counted = []
        self.blocks = {world.version: world.blocks}

    def edit(self):
        choice = self.rng.random()
        # About ten blocks at a time.
        if self.counted and choice < len(self.counted) / 20:
            self.world.unblock(self.counted.pop(int(self.rng.integers(len(self.counted)))))
        elif self.counted and choice > 0.95:
            self.counted.append(self.world.block(self.counted[int(self.rng.integers(len(self.counted)))]))
        else:
            self.counted.append(self.world.block(random_shape(self.rng, self.world.bounds)))
        self.blocks[self.world.version] = self.world.blocks


class Asker(threading.Thread):
    """Asks planners for paths, as often as it is told to, and notes between which versions each answer came."""

    def __init__(self, world, places, seed):
        super().__init__()
        self.world = world
        self.places = places
        self.rng = np.random.default_rng(seed)
        self.turns = queue.Queue(maxsize=2)  # short, so that questions and edits keep step
        self.answers = []
        self.refused = 0
        self.error = None

    def run(self):
        while self.turns.get():
            try:
                self.query()
            except Exception as error:
                self.error = error

    def query(self):
        planner, spots = self.places[int(self.rng.integers(len(self.places)))]
        start, goal = spots[self.rng.choice(len(spots), 2, replace=False)]
        before = self.world.version
        try:
            path = self.ask(planner, start, goal)
        except OffMapError:
            self.refused += 1  # a block stands on the start or the goal
        else:
            self.answers.append((planner, before, self.world.version, path))

    def ask(self, planner, start, goal):
        kind = self.rng.random()
        if kind < 0.1:
            return planner.paths(start[None], goal[None], workers=1)[0]
        if kind < 0.2:
            return planner.field(goal).path(start)
        if kind < 0.3:
            return planner.path(start, goal, exact=True)
        return planner.path(start, goal)


def run(world, calls, each, seed=0):
    """Edit `calls` times with `each` queries an edit in every thread; return the editor and all threads."""
    places = [(world.planner(agent), world.planner(agent).random_points(60, seed=2)) for agent in EVERYBODY.values()]
    editor = Editor(world, seed)
    askers = [Asker(world, places, seed + 1 + at) for at in range(THREADS)]
    for asker in askers:
        asker.start()
    try:
        for _ in range(calls):
            for asker in askers * each:
                asker.turns.put(True)
            editor.edit()
    finally:
        for asker in askers:
            asker.turns.put(False)
            asker.join()
    for asker in askers:
        if asker.error is not None:
            raise asker.error
    return editor, askers


def judge(world, editor, askers):
    """Paths that were legal in none of the worlds between question and answer, and how many were found at all."""
    bare = level_of(world)
    levels = {}
    wrong, found = [], 0
    last = max(editor.blocks)
    for asker in askers:
        for planner, before, after, path in asker.answers:
            if not path.found:
                continue
            found += 1
            # Planners take an edit on before the version counts it.
            best = None
            for version in range(before, min(after + 1, last) + 1):
                blocks = editor.blocks[version]
                if blocks not in levels:
                    levels[blocks] = bare.with_solids(solids(blocks))
                here = violations(levels[blocks], planner, path.points)
                best = here if best is None or len(here) < len(best) else best
                if not best:
                    break
            if best:
                wrong.append((planner.map_name, planner.agent.radius, before, after, [str(one) for one in best[:3]]))
    return wrong, found


def check_equals_a_fresh_build(world, queries=100):
    """Every planner is what a new world with the same blocks gives, array by array, and answers the same."""
    fresh, bare = (World.from_mesh(world.mesh, cache=False) for _ in range(2))
    for block in world.blocks:
        fresh.block(block)
    for agent in EVERYBODY.values():
        one, two = world.planner(agent), fresh.planner(agent)
        one.refresh()
        two.refresh()
        check_same_map(world, one, two)
        # Some of these places are in blocks, or shut in by them, now.
        spots = np.concatenate([bare.planner(agent).random_points(queries, seed=5), two.random_points(queries, seed=6)])
        answers = []
        for start, goal in zip(spots, np.random.default_rng(7).permutation(spots), strict=True):
            answers.append(answer(one, start, goal))
            assert answers[-1] == pytest.approx(answer(two, start, goal), rel=1e-9)
        assert np.isfinite(answers).any()


def answer(planner, start, goal):
    """Cost of a path, infinite where there is none, -1 where one of the two is off the map."""
    try:
        path = planner.path(start, goal)
    except OffMapError:
        with pytest.raises(OffMapError):
            planner.reachable(start, goal)
        return -1.0
    assert planner.reachable(start, goal) == path.found == np.isfinite(path.cost)
    return path.cost


def check_same_map(world, one, two):
    if one.map_name == "navmesh":
        zones = [(block.outline, block.low, block.high, 0) for block in world.blocks]
        built = NavMesh.build(world.mesh, one.agent, zones=zones, **one.notes.settings)
        for navmesh in (two.map, built):
            a, b = one.map.snapshot, navmesh.snapshot
            for name, left, right in zip(a.ground._fields, a.ground, b.ground, strict=True):
                np.testing.assert_array_equal(left, right, name)
            np.testing.assert_array_equal(a.areas, b.areas)
            np.testing.assert_array_equal(a.components, b.components)
        return
    np.testing.assert_array_equal(one.map.points, two.map.points)
    np.testing.assert_array_equal(one.map.regions, two.map.regions)
    np.testing.assert_array_equal(edges(one.map.graph), edges(two.map.graph))
    np.testing.assert_array_equal(*(numbered(planner.accelerator.labels) for planner in (one, two)))
    assert one.accelerator.num_subregions == two.accelerator.num_subregions
    assert one.accelerator.num_connections == two.accelerator.num_connections


def edges(graph):
    """Sorted rows of source, target and motion, without the room that an edited graph keeps free."""
    used = np.flatnonzero(graph.motions)
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))[used]
    rows = np.column_stack([sources, graph.targets[used], graph.motions[used]])
    return rows[np.lexsort(rows.T[::-1])]


def numbered(labels):
    """Labels numbered anew in the order of their first waypoints: a repair may number them in another order."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def check(world, calls, each):
    editor, askers = run(world, calls, each)
    wrong, found = judge(world, editor, askers)
    asked = sum(len(asker.answers) + asker.refused for asker in askers)
    print(f"{calls} edits, {asked} queries, {found} paths judged, {len(wrong)} illegal")
    assert wrong == []
    assert found > asked / 4
    assert world.version == calls
    check_equals_a_fresh_build(world)
    for block in list(editor.counted):
        world.unblock(block)
    assert world.blocks == ()
    check_equals_a_fresh_build(world, queries=10)


@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
def test_the_judge_sees_paths_through_blocks(agent):
    """What `check` relies on: paths that ignore a block on their way are found out."""
    world = World.from_mesh(courtyard(), cache=False)
    planner, level = world.planner(agent), level_of(world)
    seen = 0
    for path in planner.paths(*pairs(planner, 12)):
        if path.length > 6:
            middle = 0.5 * (path.points[0] + path.points[1])
            block = Box(np.subtract(middle, (0.3, 0.3, 1.0)), np.add(middle, (0.3, 0.3, 2.0)))
            assert violations(level.with_solids(solids([block])), planner, path.points)
            seen += 1
    assert seen > 3


def test_a_world_that_changes_under_four_threads_answers_legally_and_ends_as_a_fresh_one():
    check(World.from_mesh(courtyard(), cache=False), calls=50, each=1)


@pytest.mark.long
def test_a_thousand_changes_under_four_threads():
    check(World.from_mesh(courtyard(), cache=False), calls=1000, each=2)


@pytest.mark.long
def test_three_hundred_changes_of_a_district_under_four_threads():
    check(World.sample("city", size=(60.0, 60.0), seed=3, cache=False), calls=300, each=1)


# --- edits one by one ------------------------------------------------------------------------------------------------


SHAPES = [
    Box((5, 3, -1), (7, 9, 3)),
    Box((6, 5, -1), (12, 6, 3)),
    Box((6, 5, 1), (12, 6, 3)),
    Prism([(2, 2), (4, 1), (5, 4)], -0.5, 2.0),
    Box((-3, 8, -1), (3, 30, 3)),
]
steps = st.tuples(st.sampled_from(["block", "unblock", "cost", "uncost"]), st.integers(0, len(SHAPES) - 1))


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(st.lists(steps, max_size=8), st.sampled_from([PERSON, CART, SPIDER, BIRD]))
def test_edits_are_counted_and_equal_a_world_that_was_given_what_is_left(edits, agent):
    mesh = flat(14.0, 10.0)
    world = World.from_mesh(mesh, cache=False)
    planner = world.planner(agent)
    counts, costs, version = Counter(), {}, 0
    for what, at in edits:
        shape = SHAPES[at]
        if what == "block":
            world.block(shape)
            counts[at] += 1
        elif what == "unblock" and not counts[at]:
            with pytest.raises(EditError):
                world.unblock(shape)
            assert world.version == version
        elif what == "unblock":
            world.unblock(shape)
            counts[at] -= 1
        else:
            world.set_cost(shape, 4.0 if what == "cost" else 1.0)
            costs.pop(at, None)
            if what == "cost":
                costs[at] = 4.0
        version = world.version
        assert {SHAPES.index(block) for block in world.blocks} == {at for at, count in counts.items() if count}
        assert {SHAPES.index(shape) for shape, _ in world.costs} == set(costs)
    other = World.from_mesh(mesh, cache=False)
    for block in world.blocks:
        other.block(block)
    for shape, cost in world.costs:
        other.set_cost(shape, cost)
    again = other.planner(agent)
    rng = np.random.default_rng(1)
    for start, goal in rng.uniform((1, 1, 0.5), (13, 9, 1.0), (8, 2, 3)):
        assert answer(planner, start, goal) == pytest.approx(answer(again, start, goal), rel=1e-6)


@pytest.mark.parametrize(
    "shape",
    [
        [(0, 0, 0), (1, 1, float("nan"))],
        [(0, 0, 0), (float("inf"), 1, 1)],
        [(1, 1, 1), (0, 0, 0)],
        [(0, 0, 0), (1, 1, 0)],
        [(0, 0), (1, 1)],
        "a box",
        None,
        7,
    ],
    ids=str,
)
def test_a_bad_shape_is_an_error_and_changes_nothing(shape):
    world = World.from_mesh(flat(), cache=False)
    planner = world.planner(PERSON)
    before = planner.map
    for edit in (world.block, world.unblock, lambda what: world.set_cost(what, 2.0)):
        with pytest.raises((ParameterError, GeometryError)):
            edit(shape)
    assert world.blocks == ()
    assert world.costs == ()
    assert world.version == 0
    assert planner.map is before


@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
def test_a_field_stays_with_the_world_as_it_was(agent):
    world = World.from_mesh(courtyard(), cache=False)
    planner = world.planner(agent)
    starts, goals = pairs(planner, 10)
    field = planner.field(goals[0])
    before = [path.points for path in field.paths(starts)]
    world.block(Box((11, 2.5, -0.5), (13, 7.5, 9)))
    for one, two in zip(before, field.paths(starts), strict=True):
        np.testing.assert_array_equal(one, two.points)


@settings(max_examples=6, suppress_health_check=list(HealthCheck))
@given(place=st.floats(0, 1), kept=st.floats(0.2, 1), agent=st.sampled_from([PERSON, SPIDER]))
def test_a_cache_file_that_is_damaged_anywhere_is_made_again(tmp_path_factory, place, kept, agent):
    folder = tmp_path_factory.mktemp("cache")
    first = World.from_mesh(flat(8.0, 8.0), cache=folder).planner(agent)
    for file in sorted(folder.iterdir()):
        content = bytearray(file.read_bytes())
        content[min(int(place * len(content)), len(content) - 1)] ^= 0x55
        file.write_bytes(content[: max(1, int(kept * len(content)))])
    for _ in range(2):  # the second one reads what the first one wrote
        again = World.from_mesh(flat(8.0, 8.0), cache=folder).planner(agent)
        for start, goal in zip(*pairs(first, 5), strict=True):
            np.testing.assert_array_equal(again.path(start, goal).points, first.path(start, goal).points)


EVERYWHERE = {
    "walker": (lambda: World.from_mesh(flat(), cache=False), PERSON, {}),
    "spider": (lambda: World.from_mesh(flat(), cache=False), SPIDER, {}),
    "bird": (lambda: World.from_mesh(courtyard(), cache=False), BIRD, {}),
    "bird with a hierarchy": (lambda: World.from_mesh(courtyard(), cache=False), BIRD, {"accelerator": "hierarchy"}),
    "cells": (lambda: World.from_mesh(flat(), cache=False), PERSON, {"map": "sparse-grid"}),
    "voxels": (lambda: World.from_map(Map3D((6, 5, 4), np.empty((0, 3), np.int32)), cache=False), BIRD, {}),
    "terrain": (lambda: World.from_terrain(Terrain.from_raster(np.ones((6, 6))), cache=False), Agent(radius=0.2), {}),
}


@pytest.mark.parametrize("kind", EVERYWHERE)
def test_what_is_blocked_or_priced_off_the_map_changes_nothing(kind):
    make, agent, options = EVERYWHERE[kind]
    world = make()
    planner = world.planner(agent, **options)
    start, goal = planner.random_points(2, seed=4)
    before = planner.path(start, goal)
    low, high = world.bounds
    size = (high - low).max()
    for way in np.indices((3, 3, 3)).reshape(3, -1).T - 1:
        if not way[: 2 if world.kind == "terrain" else 3].any():
            continue  # in the middle; a terrain has no height, so that what is above it lies on it
        for far in (1.0, 1e3, 1e9):
            middle = 0.5 * (low + high) + way * (0.5 * (high - low) + far * (size + 20.0))
            shape = Box(middle - 1.0, middle + 1.0)
            world.block(shape)
            world.set_cost(shape, 3.0)
            path = planner.path(start, goal)
            np.testing.assert_array_equal(path.points, before.points)
            assert path.cost == before.cost
            world.set_cost(shape, 1.0)
            world.unblock(shape)
