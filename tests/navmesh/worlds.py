"""Worlds with doors, corridors and stairs, which may be turned, mirrored and moved."""

from __future__ import annotations

import math

import numpy as np

from tests.navmesh.strategies import box, floor, mesh_of
from wayfold import Mesh


def placed(mesh, angle=0.0, shift=(0.0, 0.0, 0.0), mirrored=False):
    """The mesh mirrored in x, turned about z and moved, and the function that does the same with points."""

    def place(points):
        x, y, z = np.asarray(points, float).T
        x = -x if mirrored else x
        c, s = math.cos(angle), math.sin(angle)
        return np.column_stack([c * x - s * y, s * x + c * y, z]) + np.asarray(shift)

    triangles = mesh.triangles[:, ::-1] if mirrored else mesh.triangles
    return Mesh(place(mesh.vertices), triangles), place


def door(width, thick, size):
    """A square floor with a wall across it, and a door in the middle of the wall."""
    half = width / 2
    return mesh_of(
        floor(-size, -size, size, size),
        box((-thick / 2, -size, -0.1), (thick / 2, -half, 3)),
        box((-thick / 2, half, -0.1), (thick / 2, size, 3)),
    )


def stairs(rises, tread, width, size=3.0):
    """Level ground at both ends of box steps that rise by each of `rises`; returns the mesh and the highest level."""
    parts = [floor(-size, -size, 0, size)]
    at = 0.0
    for k, rise in enumerate(rises):
        at += rise
        end = (k + 1) * tread if k + 1 < len(rises) else (k + 1) * tread + size
        parts.append(box((k * tread, -width / 2, -1.0), (end, width / 2, at)))
    return mesh_of(*parts), at


def house(width=1.4, steps=15, tread=0.28, storey=3.0):
    """Two floors joined by a straight flight of box steps, through an opening of its size in the upper floor."""
    rise, end = storey / steps, 2 + steps * tread
    parts = [floor(0, 0, 10, 8)]
    parts += [box((2 + k * tread, 3, 0), (2 + (k + 1) * tread, 3 + width, (k + 1) * rise)) for k in range(steps)]
    low, high = storey - 0.2, storey
    for (ax, ay), (bx, by) in (((0, 0), (2, 8)), ((end, 0), (10, 8)), ((2, 0), (end, 3)), ((2, 3 + width), (end, 8))):
        parts.append(box((ax, ay, low), (bx, by, high)))
    return mesh_of(*parts), np.array([(1, 3 + width / 2, 0), (8.5, 3 + width / 2, storey), (1, 7, storey)])
