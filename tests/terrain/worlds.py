"""Random weighted scenes for the tests of the terrain package."""

from __future__ import annotations

import numpy as np
import shapely
from hypothesis import assume

from wayfold.terrain.steiner import SteinerGraph


def random_regions(seed, *, count=6, obstacles=0.0, size=100.0):
    """Blobs of random weight painted over each other: (polygon, weight) pairs, some of them obstacles."""
    rng = np.random.default_rng(seed)
    regions = []
    for _ in range(count):
        centre = rng.uniform(0, size, 2)
        corners = int(rng.integers(3, 8))
        angle = np.sort(rng.uniform(0, 2 * np.pi, corners))
        radius = rng.uniform(0.08, 0.4) * size * rng.uniform(0.6, 1.0, corners)
        ring = centre + np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None]
        shape = shapely.make_valid(shapely.Polygon(ring)).intersection(shapely.box(0, 0, size, size))
        if shape.geom_type not in ("Polygon", "MultiPolygon") or shape.area < 1e-3 * size * size:
            continue
        weight = np.inf if rng.random() < obstacles else float(np.round(np.exp(rng.uniform(0, np.log(20))), 2))
        regions.append((shape, weight))
    return regions


def random_ends(terrain, seed, *, size=100.0, radius=0.0):
    """A start and a goal that do not lie in obstacles, nor nearer to one than a radius."""
    rng = np.random.default_rng(seed)
    blocked = np.isinf(terrain.triangle_weights)
    closed = shapely.union_all(shapely.polygons(terrain.vertices[terrain.triangles[blocked]]))
    for _ in range(1000):
        ends = rng.uniform(0, size, (2, 2))
        places = terrain.locate(ends)
        if not np.isfinite(terrain.triangle_weights[places]).all():
            continue
        if radius == 0 or closed.is_empty or (shapely.distance(shapely.points(ends), closed) >= radius).all():
            return ends
    assume(False)
    return None


def assume_small_steiner(terrain, ends, epsilon):
    """Leave out worlds with triangles so thin that a Steiner graph would have millions of points."""
    graph = SteinerGraph(terrain._ground, terrain.triangle_weights, ends, terrain.locate(ends), epsilon)
    assume(graph.num_nodes < 6000)
