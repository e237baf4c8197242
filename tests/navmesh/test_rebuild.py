"""Rebuilding a few tiles of many gives the full build, array by array, and carries over what was derived."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.navmesh.strategies import box, floor, mesh_of
from wayfold import Agent, NavMesh
from wayfold.errors import GeometryError
from wayfold.navmesh.topology import Topology

pytestmark = pytest.mark.kernels

AGENT = Agent(radius=0.4, height=1.8, climb=0.4, slope=45)
SIZE = 36.0
BOUNDS = [(0, 0, -1), (SIZE, SIZE, 6)]


def build(parts, keep="all", tile=8, smallest=3.0):
    return NavMesh.build(
        mesh_of(*parts), AGENT, cell_size=0.3, tile_size=tile, bounds=BOUNDS, keep=keep, min_region=smallest, workers=1
    )


def derive(navmesh):
    """Make everything that a mesh derives on first use."""
    layout = navmesh.snapshot.topology
    for name in ("twins", "portals", "areas", "centres", "components", "cells", "turns"):
        getattr(layout, name)


def check_same(navmesh, wanted):
    """Two meshes are equal, and what one has carried over is what the other derives."""
    one, two = navmesh.snapshot.topology, wanted.snapshot.topology
    for name, a, b in zip(one.ground._fields, one.ground, two.ground, strict=True):
        np.testing.assert_array_equal(a, b, name)
    np.testing.assert_array_equal(one.areas, two.areas)
    fresh = Topology(two.ground, two.areas)
    for name in ("twins", "areas", "centres", "components", "turns"):
        np.testing.assert_array_equal(getattr(one, name), getattr(fresh, name), name)
    for name, a, b in zip(one.portals._fields, one.portals, fresh.portals, strict=True):
        np.testing.assert_array_equal(a, b, name)
    points = wanted.random_points(200, seed=3)
    points[:, :2] += np.random.default_rng(1).normal(0, 0.3, (200, 2))
    np.testing.assert_array_equal(navmesh.locate(points), wanted.locate(points))


def check_kept(before, after):
    """What is said to be an old polygon has its corners, and a polygon that has them all is said to be it."""
    if after.kept is None:  # everything was put together anew
        return
    old, new = ([tuple(map(tuple, ring)) for ring in rings(state.ground)] for state in (before, after))
    numbers = {ring: at for at, ring in enumerate(old)}
    assert len(numbers) == len(old)
    assert after.kept.tolist() == [numbers.get(ring, -1) for ring in new]


def rings(ground):
    return np.split(ground.vertices[ground.corners], ground.offsets[1:-1])


@st.composite
def edits(draw):
    """A world of boxes and platforms, and boxes that come and go one after the other."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parts = [floor(0, 0, SIZE, SIZE)]
    for _ in range(draw(st.integers(5, 40))):
        low = rng.random(2) * SIZE * 0.95
        high = np.minimum(low + 0.3 + rng.random(2) * 5, SIZE)
        parts.append(box((*low, rng.choice([-0.1, 2.2])), (*high, rng.choice([0.2, 1.0, 3.0]) + 2.3)))
    changes = []
    for _ in range(draw(st.integers(1, 3))):
        low = rng.random(2) * SIZE * 0.9
        changes.append((low, np.minimum(low + 0.3 + rng.random(2) * 4, SIZE), rng.choice([0.2, 3.0])))
    return parts, changes


@settings(max_examples=12)
@given(edits(), st.sampled_from(["all", "largest"]), st.sampled_from([8, 11]))
def test_a_rebuild_of_a_few_tiles_equals_a_full_build(world, keep, tile):
    parts, changes = world
    try:
        navmesh = build(parts, keep, tile)
    except GeometryError:
        return
    derive(navmesh)
    for low, high, top in changes:
        parts = [*parts, box((*low, -0.1), (*high, top))]
        before = navmesh.snapshot
        navmesh.rebuild([(*low, -1), (*high, 6)], mesh_of(*parts), workers=1)
        check_same(navmesh, build(parts, keep, tile))
        check_kept(before, navmesh.snapshot)
    # And back again, the last one first.
    for low, high, _ in reversed(changes):
        parts = parts[:-1]
        navmesh.rebuild([(*low, -1), (*high, 6)], mesh_of(*parts), workers=1)
    check_same(navmesh, build(parts, keep, tile))


def test_an_island_that_a_wall_makes_too_small_goes_in_all_tiles_that_it_reaches_into():
    # A strip of ground over several tiles that hangs on the rest by one bridge.
    ground = [floor(0, 0, 16, 16), floor(18, 0, 22, 13)]
    bridge = floor(15, 3, 19, 7)
    navmesh, cut = build([*ground, bridge], smallest=60.0), build(ground, smallest=60.0)
    derive(navmesh)
    derive(cut)
    assert navmesh.locate((20, 11, 0)) >= 0
    assert cut.locate((20, 11, 0)) == -1
    navmesh.rebuild([(15, 3, -1), (19, 7, 1)], mesh_of(*ground), workers=1)
    check_same(navmesh, cut)
    navmesh.rebuild([(15, 3, -1), (19, 7, 1)], mesh_of(*ground, bridge), workers=1)
    check_same(navmesh, build([*ground, bridge], smallest=60.0))


def test_seeds_decide_again_after_a_rebuild():
    ground = [floor(0, 0, 20, 20), floor(24, 0, 34, 30)]
    bridge = floor(19, 4, 25, 6)
    navmesh = build(ground, keep=[(5, 5, 0)])
    assert navmesh.locate((30, 5, 0)) == -1
    navmesh.rebuild([(19, 4, -1), (25, 6, 1)], mesh_of(*ground, bridge), workers=1)
    check_same(navmesh, build([*ground, bridge], keep=[(5, 5, 0)]))
    assert navmesh.locate((30, 5, 0)) >= 0


def test_links_and_old_paths_outlive_a_rebuild():
    ground = [floor(0, 0, 16, 20), floor(20, 0, 36, 20)]
    navmesh = build(ground)
    navmesh.add_link((15, 10, 0), (21, 10, 0))
    before = navmesh.path((2, 2, 0), (30, 2, 0))
    points = before.points.copy()
    wall = box((6, -0.1, -0.1), (7, 14, 3))
    navmesh.rebuild([(6, 0, -1), (7, 14, 3)], mesh_of(*ground, wall), workers=1)
    after = navmesh.path((2, 2, 0), (30, 2, 0))
    assert before.cost < after.cost
    np.testing.assert_array_equal(before.points, points)
    assert navmesh.num_links == 1
