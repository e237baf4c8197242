"""Terrain for a disc (003, section 6): what weighs most under the disc becomes the weight of the disc's centre.

Grown by the radius and painted in the order of their weights, the regions give a terrain on which the disc is a point
again, so that the refined route works for discs as it does for points.
"""

from __future__ import annotations

import numpy as np
import shapely

from wayfold.terrain import _disc_kernels
from wayfold.terrain._subdivision import paint
from wayfold.terrain.ground import Array, Ground, new_scratch

_QUARTER = 24  # sides of the polygon that stands for a quarter of a circle
# The polygon lies around the circle, so that a route on its border keeps the radius. GEOS rounds the number of sides of
# an arc, so that a side may span up to one and a half times its share.
_AROUND = 1.0 / np.cos(1.5 * np.pi / (4 * _QUARTER))


def grow(ground: Ground, weights: Array, radius: float) -> tuple[Ground, Array]:
    """The terrain of the centre of a disc: its triangles and their weights.

    Corners of regions become polygons around arcs, so that weights reach up to 0.12 % of the radius too far and a gap
    must be as much wider than the disc.
    """
    corners = ground.mesh.vertices[ground.mesh.triangles]
    triangles = shapely.polygons(corners[:, [0, 1, 2, 0]])
    values = np.unique(weights)
    areas = [shapely.union_all(triangles[weights == value]) for value in values]
    domain = shapely.union_all(areas)
    shapes, kinds = [], []
    for kind, area in enumerate(areas):
        wide = area if kind == 0 else shapely.buffer(area, radius * _AROUND, quad_segs=_QUARTER)
        for part in shapely.get_parts(shapely.intersection(wide, domain)):
            if part.geom_type == "Polygon" and part.area > 0:
                shapes.append(part)
                kinds.append(kind)
    vertices, cut, owners = paint(np.array(shapes, object), None)
    return Ground(vertices, cut), np.ascontiguousarray(values[np.array(kinds)[owners]])


def exact_cost(ground: Ground, weights: Array, line: Array, radius: float) -> float:
    """Cost of a polyline for a disc: the highest weight under it along the way; for a point with radius 0."""
    capacity = 64
    while True:
        cost = _disc_kernels.disc_polyline_cost(ground.mesh, weights, line, radius, ground.slack, new_scratch(capacity))
        if cost >= 0:
            return float(cost)
        capacity *= 4
