"""Small worlds for the viewer's tests."""

from __future__ import annotations

import numpy as np

from wayfold.geometry import Mesh

SIDE = 20.0
NARROW = (-9.7, -8.3)
"""A gate that a person fits through, and a cart does not (metres along x)."""
WIDE = (9.0, 13.0)
"""A gate for everybody."""
SOUTH, NORTH = (-9.0, -12.0, 0.0), (-9.0, 12.0, 0.0)
"""Two places with the narrow gate straight between them."""


def box(low, high):
    """Twelve triangles around a box, facing outwards."""
    corners = np.array([[(low, high)[(k >> axis) & 1][axis] for axis in range(3)] for k in range(8)])
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    triangles = [(a, b, c) for a, b, c, _ in quads] + [(a, c, d) for a, _, c, d in quads]
    return Mesh(corners, np.array(triangles))


def gates():
    """A yard 40 m square, cut in two by a wall 4 m high with a narrow and a wide gate in it."""
    ground = Mesh(
        [(-SIDE, -SIDE, 0.0), (SIDE, -SIDE, 0.0), (SIDE, SIDE, 0.0), (-SIDE, SIDE, 0.0)], [(0, 1, 2), (0, 2, 3)]
    )
    ends = [-SIDE, *NARROW, *WIDE, SIDE]
    walls = [box((a, -0.3, -0.5), (b, 0.3, 4.0)) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    return Mesh.concatenate([ground, *walls])
