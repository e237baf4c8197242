"""Edits that are undone leave nothing behind: graphs, subregions and planners take what they took at first."""

from __future__ import annotations

import numpy as np
import pytest

from tests.draws import seeds
from tests.waypoints.openings import hollow, wall
from tests.world.levels import BIRD
from tests.world.test_voxels import equal_up_to_numbers, halls, world_of
from wayfold import Box, Mesh, SubregionGraph, WaypointGraph, World
from wayfold.agent import CHARACTERS
from wayfold.waypoints import VoxelWaypoints

pytestmark = pytest.mark.kernels


def rooms():
    return Mesh.concatenate([hollow((0, 0, 0), (16, 6, 4)), *wall(8.0, 0.5, 6.0, 4.0, (2.0, 0.0, 4.0, 2.5))])


def sizes(planner):
    """Everything that could grow with the number of edits."""
    now = planner._current
    return {
        "graph": planner.map.nbytes,
        "waypoints": planner.map.num_waypoints,
        "subregions": planner.accelerator.nbytes,
        "rows": planner.accelerator._live.links.targets.size,
        "numbers": len(planner.accelerator._live.groups.turn),
        "labels": len(planner.accelerator._live.labels),
        "lists": len(now._added) + len(now._meshes) + len(now._known) + len(now._lost[0]),
    }


def wear(world, planner, rng, rounds, shape_of):
    """Sizes after one edit that is undone and after many, and how many waypoints there were at once."""
    low, high = shape_of
    most = planner.map.num_waypoints
    first = world.block(Box((1.0, 1.0, 1.0), (4.0, 4.0, 3.0)))
    most = max(most, int(np.count_nonzero(~planner.map.removed)))
    world.unblock(first)
    before = sizes(planner)
    for _ in range(rounds):
        blocks = []
        for _ in range(int(rng.integers(1, 5))):
            corner = rng.uniform(low, high)
            blocks.append(world.block(Box(corner, corner + rng.uniform(0.3, 2.5, 3))))
            most = max(most, int(np.count_nonzero(~planner.map.removed)))
        for block in rng.permutation(len(blocks)):
            world.unblock(blocks[block])
    return before, sizes(planner), most


def check_mesh(seed, rounds, agent):
    rng = np.random.default_rng(seed)
    world = World.from_mesh(rooms(), cache=False)
    planner = world.planner(agent, accelerator="subregions")
    start, edges = planner.map.num_waypoints, planner.map.num_edges
    first, last, _ = wear(world, planner, rng, rounds, ((0.0, 0.0, 0.0), (15.0, 5.0, 3.0)))
    assert planner.map.num_edges == edges
    assert last["lists"] == first["lists"] == 0
    assert last["waypoints"] <= 1.1 * start
    assert last["labels"] == last["waypoints"]
    for name in ("graph", "subregions", "rows", "numbers"):
        assert last[name] <= 1.25 * first[name]
    # The graph is the one that it was.
    fresh = World.from_mesh(rooms(), cache=False).planner(agent, accelerator="subregions")
    used = np.flatnonzero(~planner.map.removed)
    np.testing.assert_array_equal(planner.map.points[used], fresh.map.points)
    again = SubregionGraph.build(planner.map, agent.motions)
    assert planner.accelerator.num_subregions == again.num_subregions
    assert planner.accelerator.num_connections == again.num_connections
    starts, goals = fresh.random_points(12, seed=seed).reshape(2, 6, 3)
    for a, b in zip(starts, goals, strict=True):
        assert planner.path(a, b, exact=True).cost == pytest.approx(fresh.path(a, b, exact=True).cost)


def check_voxels(seed, rounds):
    rng = np.random.default_rng(seed)
    world = world_of(halls())
    planner = world.planner(region_size=6)
    start = planner.map.num_waypoints
    first, last, most = wear(world, planner, rng, rounds, ((0.0, 0.0, 0.0), (22.0, 14.0, 10.0)))
    assert last["labels"] == last["waypoints"] <= most
    assert last["numbers"] == first["numbers"]
    fresh = VoxelWaypoints.from_voxels(halls(), region_size=6)
    room = fresh.nbytes + 5 * 8 * last["waypoints"]  # eight spare slots in every row
    assert last["graph"] <= 1.1 * (room + 40 * (last["waypoints"] - start))
    assert last["rows"] <= 1.5 * first["rows"]
    equal_up_to_numbers(planner.map, fresh)
    planner.refresh()
    assert planner.map.num_waypoints == start


@pytest.mark.parametrize("name", ["bird", "spider"])
@seeds(1)
def test_blocks_that_go_leave_nothing_behind(seed, name):
    check_mesh(seed, 6, BIRD if name == "bird" else CHARACTERS[name])


@seeds(1)
def test_blocks_among_voxels_that_go_leave_nothing_behind(seed):
    check_voxels(seed, 60)


@pytest.mark.long
@pytest.mark.parametrize("name", ["bird", "spider"])
@seeds(1)
def test_thousands_of_blocks_that_go_leave_nothing_behind(seed, name):
    check_mesh(seed, 250, BIRD if name == "bird" else CHARACTERS[name])


@pytest.mark.long
@seeds(2)
def test_thousands_of_blocks_among_voxels_that_go_leave_nothing_behind(seed):
    check_voxels(seed, 1500)


@seeds(2)
def test_waypoints_that_come_and_go_leave_nothing_behind(seed):
    rng = np.random.default_rng(seed)
    graph = WaypointGraph.build(rooms(), CHARACTERS["spider"], region_size=4.0, motions=3)
    subregions = SubregionGraph.build(graph, 3)
    home = graph.layout.of[graph.layout.of[:, 1] < 0][:1]
    inside = np.flatnonzero((graph.layout.of[:, 0] == home[0, 0]) & (graph.layout.of[:, 1] < 0))[:6]
    sizes = []
    for _ in range(300):
        points = graph.points[inside[:3]] + rng.uniform(-0.1, 0.1, (3, 3))
        total = graph.num_waypoints
        pairs = np.column_stack([total + rng.integers(0, 3, 8), rng.choice(inside, 8)]).astype(np.int32)
        edit, numbers = graph.splice(points, np.repeat(home, 3, axis=0), np.unique(pairs, axis=0), np.uint8(1))
        subregions.repair(edit)
        subregions.repair(graph.update(remove_waypoints=numbers))
        sizes.append((graph.nbytes, subregions.nbytes, subregions._live.links.targets.size, graph.num_waypoints))
    assert np.array(sizes[-1]) == pytest.approx(np.array(sizes[5]), rel=0.02)
