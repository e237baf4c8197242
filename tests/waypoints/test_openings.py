"""Flyers find every opening of two and a half radii, wherever it is, and none that they do not fit through."""

from __future__ import annotations

import numpy as np
import pytest

from tests.draws import seeds
from tests.waypoints.openings import blocked_tunnel, porthole, tunnel
from tests.world.judging import level_of, solids, violations
from tests.world.levels import BIRD
from wayfold import World
from wayfold.errors import OffMapError

pytestmark = pytest.mark.kernels

FITS, TIGHT = 2.5 * BIRD.radius, 1.95 * BIRD.radius


def found(world, planner, start, goal, blocks=()):
    """Whether there is a way, which is then legal, also when it is smoothed."""
    path = planner.path(start, goal)
    assert planner.reachable(start, goal) == path.found
    level = level_of(world).with_solids(solids(blocks))
    for points in (path.points, path.smooth().points) if path else ():
        assert [str(violation) for violation in violations(level, planner, points)] == []
    return path.found


def check_opening(seed):
    rng = np.random.default_rng(seed)
    opening = rng.choice([FITS, FITS, 3.5 * BIRD.radius, 7 * BIRD.radius])
    world, start, goal = tunnel(rng, opening)
    world = World.from_mesh(world, cache=False)
    assert found(world, world.planner(BIRD), start, goal)


def check_block(seed):
    rng = np.random.default_rng(seed)
    (mesh, start, goal), block = blocked_tunnel(rng, FITS)
    world = World.from_mesh(mesh, cache=False)
    planner = world.planner(BIRD)
    before = planner.path(start, goal)
    assert len(before.points) == 2
    world.block(block)
    assert found(world, planner, start, goal, [block])
    world.unblock(block)
    assert planner.path(start, goal).cost == before.cost


@seeds(8, found=(22004004,))
def test_every_opening_of_two_and_a_half_radii_is_found(seed):
    check_opening(seed)


@seeds(6)
def test_every_gap_that_a_block_leaves_is_found(seed):
    check_block(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(500))
def test_five_hundred_openings_are_found(seed):
    check_opening(10_000 + seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(500))
def test_five_hundred_gaps_beside_blocks_are_found(seed):
    check_block(20_000 + seed)


@pytest.mark.parametrize("thickness", [0.0, 0.1, 1.0, 4.0])
@pytest.mark.parametrize("corners", [5, 8, 12, 24])
def test_windows_with_many_corners_are_found(corners, thickness):
    for seed in range(3):
        mesh, start, goal = porthole(np.random.default_rng([seed, corners]), BIRD.radius, corners, 1.25, thickness)
        world = World.from_mesh(mesh, cache=False)
        assert found(world, world.planner(BIRD), start, goal)


def test_windows_with_many_corners_that_are_too_narrow_stay_shut():
    for seed in range(3):
        mesh, start, goal = porthole(np.random.default_rng(seed), BIRD.radius, 12, 0.97, 0.1)
        world = World.from_mesh(mesh, cache=False)
        assert not found(world, world.planner(BIRD), start, goal)


@seeds(4)
def test_openings_below_two_radii_stay_shut(seed):
    rng = np.random.default_rng(seed)
    mesh, start, goal = tunnel(rng, TIGHT)
    world = World.from_mesh(mesh, cache=False)
    assert not found(world, world.planner(BIRD), start, goal)
    (mesh, start, goal), block = blocked_tunnel(rng, TIGHT)
    world = World.from_mesh(mesh, cache=False)
    planner = world.planner(BIRD)
    world.block(block)
    assert not found(world, planner, start, goal, [block])


@seeds(3, found=(9603000, 12000))
def test_planners_with_a_hierarchy_get_waypoints_around_blocks_too(seed):
    rng = np.random.default_rng(seed)
    (mesh, start, goal), block = blocked_tunnel(rng, FITS)
    world = World.from_mesh(mesh, cache=False)
    planner, plain = world.planner(BIRD, accelerator="hierarchy"), world.planner(BIRD, accelerator="none")
    before = planner.path(start, goal).cost
    zone = type(block)(block.outline + 0.5, block.low - 9, block.high + 9)

    def agree():
        if not world.costs:
            assert found(world, planner, start, goal, world.blocks)
        # Between waypoints: of routes that are equally long there, one may be shorter from the start and the goal.
        graph, fast = plain._current._graph, planner._current._accelerated
        assert (fast is None) == ("refresh()" in planner.explain())
        for a, b in rng.integers(0, graph.num_nodes, (30, 2)):
            way = graph.path(a, b, motions=BIRD.motions)
            quick = planner._current._graph.path(a, b, motions=BIRD.motions) if fast is None else fast.path(a, b)
            assert quick.cost == pytest.approx(way.cost, rel=1e-5)

    world.block(block)
    assert "refresh()" in planner.explain()
    agree()
    for one in (planner, plain):
        one.refresh()
    assert "refresh()" not in planner.explain()
    agree()
    world.set_cost(zone, 3.0)
    agree()
    world.unblock(block)
    agree()
    for one in (planner, plain):
        one.refresh()
    agree()
    world.set_cost(zone, 1.0)
    agree()
    assert planner.path(start, goal).cost == pytest.approx(before)


@pytest.mark.parametrize("seed", [9_001_002])
def test_waypoints_around_blocks_over_the_goal_do_not_depend_on_the_order_of_edits(seed):
    check_order(seed)


@seeds(3, found=(9_624_002, 5022, 6128, 5105, 16_020_001))
def test_waypoints_around_blocks_do_not_depend_on_the_order_of_edits(seed):
    check_order(seed)


def check_order(seed):
    rng = np.random.default_rng(seed)
    (mesh, start, goal), first = blocked_tunnel(rng, FITS)
    bounds = mesh.bounds
    low = rng.uniform(bounds[0], bounds[1] - 1.5, (3, 3))
    others = [type(first)([(x, y), (x + 1.2, y), (x + 1, y + 1.4)], z, z + 1.3) for x, y, z in low]
    world = World.from_mesh(mesh, cache=False)
    planner = world.planner(BIRD)
    for block in (others[0], first, others[1], others[2]):
        world.block(block)
    world.unblock(others[1])
    world.block(others[1])
    world.unblock(others[0])
    fresh = World.from_mesh(mesh, cache=False)
    for block in (first, others[2], others[1]):
        fresh.block(block)
    again = fresh.planner(BIRD)

    def placed(planner):
        used = planner.map.usable(BIRD.motions)
        points = planner.map.points[used]
        return points[np.lexsort(points.T)], planner.map.num_edges

    np.testing.assert_array_equal(placed(planner)[0], placed(again)[0])
    assert placed(planner)[1] == placed(again)[1]

    def answer(planner):
        try:
            return planner.reachable(start, goal), planner.path(start, goal, exact=True).cost
        except OffMapError as error:  # a block may cover an end
            return False, str(error)

    (joined, cost), (again_joined, again_cost) = answer(planner), answer(again)
    assert joined == again_joined
    assert cost == (again_cost if isinstance(again_cost, str) else pytest.approx(again_cost))
