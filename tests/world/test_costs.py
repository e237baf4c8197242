"""What walkers pay where the ground costs differently from place to place."""

from __future__ import annotations

import numpy as np
import pytest

from tests import naive_navcost as naive
from tests.draws import seeds
from wayfold import Box, Mesh, World

pytestmark = pytest.mark.kernels


def block_of(low, high):
    (x, y, z), (u, v, w) = low, high
    corners = [(x, y, z), (u, y, z), (u, v, z), (x, v, z), (x, y, w), (u, y, w), (u, v, w), (x, v, w)]
    quads = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
    return Mesh(corners, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


@seeds(4)
def test_every_way_to_ask_for_a_path_gives_the_integral_of_costs_along_its_points(seed):
    rng = np.random.default_rng(seed)
    parts = [block_of((0, 0, -1), (30, 30, 0))]
    for _ in range(4):
        low = rng.uniform(2, 24, 2)
        parts.append(block_of((*low, 0), (*(low + rng.uniform(0.5, 4, 2)), 3)))
    planner = (world := World.from_mesh(Mesh.concatenate(parts), cache=False)).planner()
    for cost in (6.0, 0.2, 3.0):
        low = np.round(rng.uniform(0, 20, 2))
        world.set_cost(Box((*low, -1), (*(low + np.round(rng.uniform(3, 12, 2))), 1)), cost)
    now = planner._latest()
    navmesh = now.navmesh
    floor = [k for k, ring in enumerate(navmesh.polygons) if navmesh.vertices[ring, 2].max() < 1.0]
    rings = [[tuple(navmesh.vertices[v, :2].tolist()) for v in navmesh.polygons[k]] for k in floor]
    rates = [now.costs.get(int(navmesh.areas[k]), 1.0) for k in floor]
    # Along the rims of the zones too: corners of polygons where costs change.
    corners = navmesh.vertices[np.unique(np.concatenate([navmesh.polygons[k] for k in floor]))]
    starts = np.concatenate([planner.random_points(12, seed=seed), rng.choice(corners, 12)])
    goals = np.concatenate([planner.random_points(12, seed=seed + 1), rng.choice(corners, 12)])
    field = planner.field(goals[0])
    asked = [*planner.paths(starts, goals), *field.paths(starts)]
    for start, goal in zip(starts, goals, strict=True):
        quick, exact = planner.path(start, goal), planner.path(start, goal, exact=True)
        assert exact.cost <= quick.cost * (1 + 1e-9)
        asked += [quick, exact, planner.plain(start, goal)]
    flat = [path for path in asked if path and path.points[:, 2].max() < 1.0]
    assert len(flat) > 60
    for path in flat:
        assert path.cost == pytest.approx(naive.walk_cost(rings, rates, path.points[:, :2].tolist()), rel=1e-7)
    np.testing.assert_allclose(field.cost(starts), [path.cost for path in field.paths(starts)])
