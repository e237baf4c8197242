"""Compile the package: every kernel once on one triangle."""

from __future__ import annotations

import numpy as np

from wayfold.geometry import bvh_kernels, polygon
from wayfold.geometry.bvh import TriangleIndex, new_stack
from wayfold.geometry.mesh import Mesh
from wayfold.geometry.voxels import voxelise


def warm() -> None:
    """Run every kernel of the package once on tiny input."""
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    mesh = Mesh(corners, [[0, 1, 2]])
    index = TriangleIndex(mesh)
    index.rays(corners, (0.0, 0.0, -1.0), workers=1)
    index.all_hits(corners, (0.0, 0.0, -1.0), workers=1)
    index.visible(corners, corners, workers=1)
    index.clear(corners, corners, 0.1, workers=1)
    index.nearest(corners, workers=1)
    index.overlapping(corners[0], corners[0])
    # The kernels that others call are compiled into their callers; called from here they are also kept on their own.
    stack = new_stack()
    above, middle, down = (0.2, 0.2, 1.0), (0.2, 0.2, 0.0), (0.0, 0.0, -1.0)
    bvh_kernels.ray_nearest(index.tree, stack, above, down, np.inf)
    bvh_kernels.any_hit(index.tree, stack, above, middle)
    bvh_kernels.below_any(index.tree, stack, above, np.zeros(len(index.mesh)))
    bvh_kernels.capsule_clear(index.tree, stack, above, middle, 0.1)
    bvh_kernels.nearest_triangle(index.tree, stack, above, np.inf)
    bvh_kernels.collect_hits(index.tree, stack, above, down, np.inf, np.empty(0), np.empty(0, np.int32))
    voxelise(mesh, 1.0, workers=1)
    ring = corners[:, :2]
    polygon.contains(ring, ring)
    polygon.area(ring)
    polygon.is_convex(ring)
    polygon.segments_intersect(ring, ring, ring, ring)
