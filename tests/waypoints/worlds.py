"""Small meshes for the waypoint tests."""

from __future__ import annotations

import numpy as np

from wayfold import Mesh

_SIDES = [(0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7), (0, 1, 5), (0, 5, 4), (1, 2, 6), (1, 6, 5)]
_SIDES += [(2, 3, 7), (2, 7, 6), (3, 0, 4), (3, 4, 7)]


def box(low, high):
    """A closed box, turned outwards."""
    (a, b, c), (d, e, f) = low, high
    corners = [(a, b, c), (d, b, c), (d, e, c), (a, e, c), (a, b, f), (d, b, f), (d, e, f), (a, e, f)]
    return Mesh(np.array(corners, float), _SIDES)


def ground(width=40.0, depth=40.0, z=0.0):
    return Mesh([(0, 0, z), (width, 0, z), (width, depth, z), (0, depth, z)], [(0, 1, 2), (0, 2, 3)])


def yard():
    """Ground with a tower, a low kerb, a ramp up to a platform, and a wall with a door."""
    wall = [box((20, 20, -1), (29, 20.5, 5)), box((30.5, 20, -1), (40, 20.5, 5)), box((29, 20, 2.6), (30.5, 20.5, 5))]
    ramp = Mesh([(4, 26, 0), (10, 26, 3), (10, 30, 3), (4, 30, 0)], [(0, 1, 2), (0, 2, 3)])
    platform, roof = box((10, 26, -1), (18, 30, 3)), box((20, 20.5, 5), (40, 40, 5.4))
    tower, kerb = box((8, 8, -1), (16, 16, 12)), box((2, 20, -1), (14, 20.4, 0.3))
    return Mesh.concatenate([ground(), tower, kerb, *wall, ramp, platform, roof])
