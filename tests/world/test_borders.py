"""Walkers beside ground that is closed to them: on its border one is on open ground, inside it nowhere."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from wayfold import Box, Mesh, World, samples

pytestmark = pytest.mark.kernels


@pytest.fixture(scope="module")
def planner():
    """A small city that may not be walked on its grass."""
    world = World.from_mesh(samples.city(seed=4, size=(60, 60)), cache=False)
    return world.planner(costs={"grass": np.inf})


def shut(planner, points):
    now = planner._latest()
    found = now.navmesh.locate(points)
    return now.area_costs.closed[now.mesh.areas[found]] != 0


def test_whoever_stands_on_a_corner_of_a_path_beside_closed_ground_goes_on(planner):
    points = planner.random_points(40, seed=3)
    goal = points[0]
    field = planner.field(goal)
    stood = []
    for start in points[1:]:
        path = planner.path(start, goal, exact=True)
        for at in range(1, len(path.points) - 1):
            corner = path.points[at]
            stood.append(corner)
            rest = planner.path(corner, goal, exact=True)
            assert rest.cost == pytest.approx(np.hypot(*np.diff(path.points[at:, :2], axis=0).T).sum(), rel=1e-9)
            assert planner.path(corner, goal).found
            assert planner.path(goal, corner).found
            assert planner.reachable(corner, goal)
        for a, b in pairwise(path.points):
            assert planner.map.raycast(a, b, costs=planner._latest().costs).fraction == 1.0
    corners = np.array(stood)
    assert len(corners) > 20
    assert np.isfinite(field.cost(corners)).all()
    assert all(field.paths(corners))
    assert all(planner.paths(corners, np.broadcast_to(goal, corners.shape)))


def test_the_nearest_place_is_never_on_closed_ground(planner):
    navmesh = planner.map
    points = navmesh.random_points(300, seed=7)
    closed = points[shut(planner, points)]
    assert len(closed) > 5
    for point in closed:
        place = planner.nearest(point)
        held = planner._latest().mesh.holding(
            np.array([navmesh.locate(place)], np.int32),
            planner._latest().mesh.frame.local(place)[None],
            planner._latest().area_costs.closed,
        )
        assert len(held[0])
        assert not planner.path(point, place)
        assert planner.path(place, place).cost == 0


@pytest.mark.parametrize("accelerator", ["hierarchy", "subregions", "none"])
def test_a_link_that_is_added_to_the_map_is_taken_by_the_next_query(accelerator):
    floors = [(0, 0, 0), (8, 0, 0), (8, 8, 0), (0, 8, 0), (20, 0, 0), (28, 0, 0), (28, 8, 0), (20, 8, 0)]
    mesh = Mesh(floors, [(0, 1, 2), (0, 2, 3), (4, 5, 6), (4, 6, 7)])
    world = World.from_mesh(mesh, cache=False)
    planner = world.planner(accelerator=accelerator)
    a, b = (4.0, 4.0, 0.0), (24.0, 4.0, 0.0)
    assert not planner.reachable(a, b)
    planner.map.add_link(a, b, cost=3.0, both_ways=False)
    for _ in range(2):
        assert planner.reachable(a, b)
        assert not planner.reachable(b, a)
        assert planner.path((2.0, 4.0, 0.0), b).cost == pytest.approx(5.0)
        assert planner.path(a, b, exact=True).cost == pytest.approx(3.0)
        assert [path.found for path in planner.paths([a, b], [b, a])] == [True, False]
        assert planner.field(b).path(a).found
        assert not planner.path(b, a)
        world.block(Box((26.0, 6.0, -0.5), (27.0, 7.0, 1.0)))  # the link stays
    planner.map.clear_links()
    assert not planner.reachable(a, b)
    assert not planner.path(a, b)
