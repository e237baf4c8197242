"""Worlds of voxels: queries that agree with each other, edits that equal a fresh world."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.draws import seeds
from tests.world.edits import edits, make, same_zones
from tests.world.levels import BIRD, pairs
from wayfold import Agent, Box, Motion, Status, World
from wayfold.errors import EditError, OffMapError, ParameterError
from wayfold.formats import Map3D, load_map3d, load_scen3d
from wayfold.waypoints import VoxelWaypoints

pytestmark = pytest.mark.kernels


def world_of(blocked):
    return World.from_map(Map3D(np.array(blocked.shape, np.int32), np.argwhere(blocked).astype(np.int32)), cache=False)


def halls():
    """Two halls and a wall between them with two windows."""
    blocked = np.zeros((24, 16, 12), np.bool_)
    blocked[11:13] = True
    blocked[11:13, 2:5, 2:5] = False
    blocked[11:13, 11:13, 8:10] = False
    blocked[4:7, 4:7, :9] = True
    return blocked


LOW_WINDOW = Box((10.5, 1.5, 1.5), (13.5, 5.5, 5.5))
HIGH_WINDOW = Box((10.5, 10.5, 7.5), (13.5, 13.5, 10.5))
WEST, EAST = (2.0, 2.0, 2.0), (20.0, 3.0, 2.0)


@pytest.mark.parametrize("accelerator", ["subregions", "none"])
def test_what_a_planner_answers_agrees_with_itself(accelerator):
    planner = world_of(halls()).planner(accelerator=accelerator, region_size=6)
    assert planner.map_name == "voxels"
    starts, goals = pairs(planner, 8)
    one_by_one = [planner.path(start, goal) for start, goal in zip(starts, goals, strict=True)]
    for one, other in zip(one_by_one, planner.paths(starts, goals, workers=2), strict=True):
        assert one.cost == pytest.approx(other.cost)
        np.testing.assert_allclose(one.points, other.points)
    field = planner.field(goals[0])
    for start, goal, path in zip(starts, goals, one_by_one, strict=True):
        assert path.found
        assert planner.reachable(start, goal)
        assert planner.distance(start, goal) == path.cost
        exact = planner.path(start, goal, exact=True)
        assert exact.cost <= min(planner.plain(start, goal).cost, path.cost)
        assert field.path(start).cost == pytest.approx(planner.plain(start, goals[0]).cost, rel=1e-5)
        assert path.smooth().length <= path.length + 1e-9
        assert bool(len(planner.expanded(start, goal))) == bool(path.expanded)  # none where the way is straight


def test_everybody_flies_and_is_told_so():
    world = world_of(halls())
    assert world.path(WEST, EAST).found
    assert world.path(WEST, EAST, Agent(motions=Motion.VOLUMETRIC)).found
    assert "size and motions do not count" in world.planner().explain()
    with pytest.raises(ParameterError, match="region_size"):
        world.planner(cell=2)
    for wrong in ((12, 8, 2), (-1, 0, 0)):
        with pytest.raises(OffMapError):
            world.path(wrong, EAST)


def test_a_block_moves_the_path_and_unblocking_brings_it_back():
    world = world_of(halls())
    planner = world.planner(region_size=6)
    before = planner.path(WEST, EAST)
    field = planner.field(EAST)
    world.block(LOW_WINDOW)
    after = planner.path(WEST, EAST)
    assert after.length > before.length + 2.0
    assert not LOW_WINDOW.contains(after.smooth().points).any()
    world.block(HIGH_WINDOW)
    assert planner.path(WEST, EAST).status is Status.UNREACHABLE
    assert not planner.reachable(WEST, EAST)
    assert field.path(WEST).cost == pytest.approx(before.cost, rel=0.2)
    world.unblock(HIGH_WINDOW)
    world.unblock(LOW_WINDOW)
    assert planner.path(WEST, EAST).cost == pytest.approx(before.cost)


def test_costs_lead_around_and_can_be_taken_back():
    world = world_of(halls())
    planner = world.planner(region_size=6)
    before = planner.path(WEST, EAST)
    world.set_cost(LOW_WINDOW, 50.0)
    around = planner.path(WEST, EAST)
    assert before.cost < around.cost < 4 * before.cost
    world.set_cost(LOW_WINDOW, 1.0)
    assert planner.path(WEST, EAST).cost == pytest.approx(before.cost)


def test_a_block_that_leaves_nothing_free_is_refused():
    world = world_of(np.zeros((4, 4, 4), np.bool_))
    planner = world.planner()
    with pytest.raises(EditError, match="no voxel"):
        world.block(Box((-1, -1, -1), (9, 9, 9)))
    assert world.blocks == ()
    assert planner.path((0, 0, 0), (3, 3, 3)).found


def test_a_point_between_boxes_that_nothing_joins_enters_through_each_of_them():
    blocked = np.ones((6, 6, 1), np.bool_)
    blocked[:3, :3] = blocked[3:, 3:] = blocked[0] = blocked[5] = False
    planner = world_of(blocked).planner(region_size=6)
    corner, ends = (2.5, 2.5, 0.0), ((0.0, 5.0, 0.0), (5.0, 0.0, 0.0))  # the ends are around corners
    field, back = planner.field(corner), [planner.field(end) for end in ends]
    for end, other in zip(ends, back, strict=True):
        there, again = planner.path(corner, end), planner.path(end, corner)
        assert len(there.points) > 2
        assert planner.reachable(corner, end)
        assert planner.reachable(end, corner)
        assert there.length == pytest.approx(again.length)
        assert field.path(end).found
        assert other.path(corner).found
    assert not planner.reachable(*ends)
    assert not planner.path(*ends).found


@given(st.integers(0, 2**32 - 1), st.data())
@settings(max_examples=60)
def test_edits_equal_a_fresh_world(seed, data):
    rng = np.random.default_rng(seed)
    blocked = rng.random(rng.integers(2, 11, 3)) < rng.choice([0.05, 0.3])
    blocked[0, 0, 0] = False
    size = int(rng.choice([4, 8]))  # the larger ones have boxes with more openings than are all joined
    heights = data.draw(st.sampled_from([(-2.0, 3.0), (0.5, 4.0), (2.0, 20.0)]))
    world = world_of(blocked)
    planner = world.planner(region_size=size)
    try:
        make(world, data.draw(edits(10.0, height=heights)))
    except EditError:
        assert planner.edits == world.version
    closed = blocked.copy()
    for block in world.blocks:
        places = np.argwhere(np.ones_like(blocked)).astype(float)
        closed |= block.contains(places).reshape(blocked.shape)
    equal_up_to_numbers(planner.map, VoxelWaypoints.from_voxels(closed, region_size=size))
    other = same_zones(world, world_of(blocked)).planner(region_size=size)
    free = np.argwhere(~closed)
    for start, goal in zip(free[::7], free[::-7], strict=True):
        # From box to box: which of equally short ways is taken, and what is cut off at its ends, depends on numbers.
        mine, theirs = (
            one._current._graph.path(one.map.numbers[tuple(start)], one.map.numbers[tuple(goal)])
            for one in (planner, other)
        )
        assert mine.cost == pytest.approx(theirs.cost, rel=1e-5)
        assert planner.path(start, goal, exact=True).cost <= planner.path(start, goal).cost
        assert planner.reachable(start, goal) == planner.path(start, goal).found == other.path(start, goal).found
        assert mine.found == planner.reachable(start, goal)
    planner.refresh()
    assert planner.map.num_waypoints == len(VoxelWaypoints.from_voxels(closed, region_size=size).points)


@seeds(3, found=(15006001,))
def test_blocks_in_a_cluttered_map_equal_a_fresh_one_and_take_no_step_for_each_waypoint(seed, monkeypatch):
    """A block there removes hundreds of waypoints at once: each used to be compared with all of them."""
    rng = np.random.default_rng(seed)
    blocked = rng.random((32, 24, 20)) < 0.08
    world = world_of(blocked)
    planner = world.planner(region_size=8)
    calls = []
    for name in ("unique", "isin"):
        real = getattr(np, name)
        monkeypatch.setattr(np, name, lambda *args, real=real, **options: calls.append(1) or real(*args, **options))
    closed, blocks = blocked.copy(), []
    for number in range(12):
        low = rng.integers(1, np.array(blocked.shape) - 3)
        calls.clear()
        blocks.append(world.block(Box(low - 0.4, low + 1.4)))
        assert len(calls) <= 20
        closed[tuple(slice(at, at + 2) for at in low)] = True
        if number % 4 == 3:
            equal_up_to_numbers(planner.map, VoxelWaypoints.from_voxels(closed, region_size=8))
    while world.blocks:  # one may have been drawn twice, and is opened as often
        world.unblock(world.blocks[0])
    equal_up_to_numbers(planner.map, VoxelWaypoints.from_voxels(blocked, region_size=8))


def equal_up_to_numbers(mine, fresh):
    """Whether a map that edits have changed is one that was built from the same voxels."""
    np.testing.assert_array_equal(mine.blocked, fresh.blocked)
    assert mine.num_edges == fresh.num_edges
    used = np.flatnonzero(~mine.removed)
    # A point is the middle of one box or opening only.
    order, theirs = used[np.lexsort(mine.points[used].T)], np.lexsort(fresh.points.T)
    np.testing.assert_array_equal(mine.points[order], fresh.points[theirs])
    np.testing.assert_array_equal(mine.layout.of[order], fresh.layout.of[theirs])
    np.testing.assert_array_equal(mine._boxes[order], fresh._boxes[theirs])
    number = np.full(mine.num_waypoints, -1)
    number[order] = theirs
    np.testing.assert_array_equal(np.where(mine.numbers < 0, -1, number[mine.numbers]), fresh.numbers)
    rows = []
    for graph, names in ((mine.graph, number), (fresh.graph, np.arange(fresh.num_waypoints))):
        sources = np.repeat(names, np.diff(graph.offsets))
        there = graph.motions > 0
        edges = np.column_stack([sources[there], names[graph.targets[there]], graph.motions[there]])
        rows.append(edges[np.lexsort(edges.T)])
    np.testing.assert_array_equal(*rows)
    assert (number[mine.layout.members[~mine.removed[mine.layout.members]]] >= 0).all()


@pytest.mark.data
def test_paths_on_a_real_map_are_free_and_edits_equal_a_fresh_map(data):
    folder = data / "movingai" / "warframe"
    file = min(folder.glob("*.3dmap"), key=lambda file: file.stat().st_size)
    world = World.open(file, cache=False)
    planner = world.planner()
    blocked = load_map3d(file).dense()
    scenarios = load_scen3d(file.with_suffix(".3dmap.3dscen"))
    rows = [scenarios[at] for at in range(0, len(scenarios), len(scenarios) // 20)]
    for row in rows:
        path = planner.path(row.start, row.goal)
        assert planner.reachable(row.start, row.goal) == path.found
        assert path.found
        assert planner.path(row.start, row.goal, exact=True).cost <= path.cost * (1 + 1e-6)
        line = path.smooth().points
        assert path.smooth().length >= 0.85 * row.length  # 26 moves are up to 1.13 times as long as straight lines
        places = np.concatenate([np.linspace(a, b, 500) for a, b in pairwise(line)])
        assert not blocked[tuple(np.floor(places + 0.5).astype(int).T)].any()
    middle = np.array(rows[-1].start, float)
    world.block(Box(middle - 9.4, middle - 1.6))
    closed = blocked.copy()
    first, last = np.maximum(middle - 9, 0).astype(int), np.maximum(middle - 1, 0).astype(int)
    closed[first[0] : last[0], first[1] : last[1], first[2] : last[2]] = True
    equal_up_to_numbers(planner.map, VoxelWaypoints.from_voxels(closed))


@pytest.mark.parametrize("shape", [(1, 1, 1), (6, 5, 4), (3, 9, 2)])
def test_a_world_of_one_box_has_places_and_ways(shape):
    world = World.from_map(Map3D(shape, []), cache=False)
    planner = world.planner(BIRD)
    for place in planner.random_points(4, seed=2):
        assert ((place >= 0) & (place < shape)).all()
        goal = np.array(shape) - 1.0
        assert planner.path(place, goal).cost == pytest.approx(np.linalg.norm(goal - place))
    with pytest.raises(EditError):
        world.block(Box((-1, -1, -1), (9, 9, 9)))
    assert len(planner.random_points(1)) == 1
