"""Independent checks of a navigation mesh: by rays and balls against the triangles, and by its polygons alone."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import shapely

from wayfold.geometry import TriangleIndex
from wayfold.navmesh import _ground_kernels


class Measured(NamedTuple):
    """Shares of sampled points."""

    ground: float  # of the mesh, with ground within a cell's height
    clearance: float  # with room for the agent, but for a cell
    slope: float  # on ground that is no steeper than the agent climbs
    coverage: float  # of standing places, on the mesh
    standing: int  # number of standing places


def measure(mesh, navmesh, agent, cell, cell_height, *, solid=False, samples=10_000, seeds=30_000) -> Measured:
    """Ground, clearance, slope and coverage of a mesh, judged by its triangles alone.

    With `solid` the mesh is made of closed hulls, and nobody stands inside one.
    """
    index = TriangleIndex(mesh)
    points = navmesh.random_points(samples, seed=1)
    off, _, _ = index.nearest(points)
    ball = agent.radius - cell
    low = points + np.array([0, 0, agent.climb + cell_height + ball])
    high = points + np.array([0, 0, max(agent.height - cell_height - ball, agent.climb + cell_height + ball)])
    clear = index.clear(low, high, ball - 1e-6) if ball > 0 else np.ones(samples, bool)
    # Of all surfaces below (coincident ones too) within a step of the point, one must be gentle enough.
    flat = math.cos(math.radians(agent.slope)) - 1e-6
    offsets, _, under = index.all_hits(points + np.array([0, 0, agent.climb]), [0, 0, -1.0], 2 * agent.climb)
    whose = np.repeat(np.arange(samples), np.diff(offsets))
    walkable = np.zeros(samples, bool)
    walkable[whose[mesh.normals[under, 2] >= flat]] = True
    standing = standing_places(mesh, index, agent, cell, seeds, solid)
    found = navmesh.locate(standing, tolerance=0.0, max_distance=agent.climb) >= 0
    coverage = found.mean() if len(found) else 1.0
    return Measured((off <= cell_height).mean(), clear.mean(), walkable.mean(), coverage, len(standing))


def standing_places(mesh, index, agent, cell, seeds, solid):
    """Places where an agent with a cell to spare has gentle ground all around and nothing in the way."""
    rng = np.random.default_rng(0)
    (low_x, low_y, _), (high_x, high_y, high_z) = mesh.bounds
    sky = np.column_stack([rng.uniform(low_x, high_x, seeds), rng.uniform(low_y, high_y, seeds)])
    sky = np.column_stack([sky, np.full(len(sky), high_z + 1)])
    offsets, drop, triangle = index.all_hits(sky, [0, 0, -1.0])
    places = np.repeat(sky, np.diff(offsets), axis=0)
    places[:, 2] -= drop
    stands = mesh.normals[triangle, 2] > math.cos(math.radians(agent.slope))
    if solid:
        # Hulls entered less hulls left on the way down to the agent's middle.
        for first, last in pairwise(offsets):
            heights, up = places[first:last, 2], np.sign(mesh.normals[triangle[first:last], 2])
            above = heights[None, :] > heights[:, None] + 0.5 * agent.height
            stands[first:last] &= (above * up).sum(axis=1) == 0
    places = places[stands]
    room = agent.radius + cell
    low = places + np.array([0, 0, agent.climb + room])
    high = places + np.array([0, 0, max(agent.height, agent.climb + room)])
    places = places[index.clear(low, high, room)]
    free = np.ones(len(places), bool)
    gentle = math.cos(math.radians(agent.slope - 5))
    for angle in np.linspace(0, 2 * np.pi, 16, endpoint=False):
        for far in (room, room / 2):
            around = places + np.array([math.cos(angle) * far, math.sin(angle) * far, agent.climb])
            _, below = index.rays(around, [0, 0, -1.0], 2 * agent.climb)
            free &= (below >= 0) & (mesh.normals[np.maximum(below, 0), 2] > gentle)
    return places[free]


def check_polygons(navmesh, apart: float):
    """Polygons are convex, counter-clockwise and disjoint on their layer, and neighbours name each other."""
    snapshot = navmesh.snapshot
    ground, owners, nexts = snapshot.ground, snapshot.topology.owners, snapshot.topology.nexts
    xy = ground.vertices[ground.corners, :2]
    step = xy[nexts] - xy
    turn = step[:, 0] * step[nexts, 1] - step[:, 1] * step[nexts, 0]
    assert (turn > -1e-9).all()
    assert (navmesh.polygon_areas > 0).all()
    ends = np.column_stack([owners, ground.neighbours, ground.corners, ground.corners[nexts]])
    ends = ends[ground.neighbours >= 0]
    back = ends[:, [1, 0, 3, 2]]
    order, other = np.lexsort(ends.T), np.lexsort(back.T)
    np.testing.assert_array_equal(ends[order], back[other])
    assert len(np.unique(ends[:, [0, 2]], axis=0)) == len(ends)
    rings = [shapely.Polygon(part) for part in np.split(xy, ground.offsets[1:-1])]
    one, two = shapely.STRtree(rings).query(rings, predicate="overlaps")
    one, two = one[one < two], two[one < two]
    common = shapely.intersection(np.array(rings)[one], np.array(rings)[two])
    deep = shapely.area(common) > 1e-6
    places = shapely.point_on_surface(common[deep])
    flat = np.column_stack([shapely.get_coordinates(places), np.zeros(deep.sum())])
    heights = [flat.copy(), flat.copy()]
    for where, who in zip(heights, (one[deep], two[deep]), strict=True):
        _ground_kernels.heights(ground, who.astype(np.int32), where)
    assert (np.abs(heights[0][:, 2] - heights[1][:, 2]) > apart).all()
