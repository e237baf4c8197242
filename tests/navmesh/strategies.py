"""Random worlds for the navigation mesh: small polygon meshes, and rooms made of boxes."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from wayfold import Mesh


def grid_polygons(rng, rows=4, columns=5, closed=0.3):
    """Rectangles of a grid, some left out, merged or cut, so that corners touch and sides run straight on."""
    free = rng.random((rows, columns)) > closed
    x = np.cumsum(rng.integers(1, 4, columns + 1))
    y = np.cumsum(rng.integers(1, 4, rows + 1))
    vertices = np.array([(x[j], y[i]) for i in range(rows + 1) for j in range(columns + 1)], float)
    polygons = []

    def corner(i, j):
        return i * (columns + 1) + j

    for i in range(rows):
        j = 0
        while j < columns:
            end = j + 1
            while free[i, j] and end < columns and free[i, end] and rng.random() < 0.5:
                end += 1
            if free[i, j]:
                ring = [corner(i, k) for k in range(j, end + 1)] + [corner(i + 1, k) for k in range(end, j - 1, -1)]
                if len(ring) == 4 and rng.random() < 0.3:
                    polygons += [ring[:3], [ring[0], *ring[2:]]]
                else:
                    polygons.append(ring)
            j = end
    return vertices, polygons


def triangle_polygons(rng, points=16, closed=0.3):
    """Triangles of a Delaunay triangulation with some left out."""
    vertices = rng.random((points, 2)) * 10
    if rng.random() < 0.5:
        vertices = np.unique(np.round(vertices), axis=0)
    polygons = []
    for a, b, c in Delaunay(vertices).simplices.tolist():
        u, v = vertices[b] - vertices[a], vertices[c] - vertices[a]
        if abs(u[0] * v[1] - u[1] * v[0]) > 1e-6 and rng.random() > closed:
            polygons.append([a, b, c])
    return vertices, polygons


def turned(vertices, angle):
    """Points of the plane, turned about the origin."""
    return vertices @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


@st.composite
def polygon_meshes(draw):
    """(vertices, polygons, generator) of a small mesh, turned by some angle."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    make = draw(st.sampled_from([grid_polygons, triangle_polygons]))
    vertices, polygons = make(rng)
    while not polygons:
        vertices, polygons = make(rng)
    return turned(vertices, draw(st.sampled_from([0.0, 0.3, 1.1]))), polygons, rng


def box(low, high):
    """A closed box, faces outwards: (8, 3) corners and (12, 3) triangles."""
    (x, y, z), (u, v, w) = low, high
    corners = [(x, y, z), (u, y, z), (u, v, z), (x, v, z), (x, y, w), (u, y, w), (u, v, w), (x, v, w)]
    quads = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
    return corners, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]


def mesh_of(*parts):
    """One mesh of (corners, triangles) parts."""
    corners, triangles = [], []
    for points, faces in parts:
        triangles += [tuple(len(corners) + k for k in face) for face in faces]
        corners += list(points)
    return Mesh(corners, triangles)


def floor(low_x, low_y, high_x, high_y, z=0.0, rise=0.0):
    """A rectangle that faces up; its far side in y is `rise` higher."""
    corners = [(low_x, low_y, z), (high_x, low_y, z), (high_x, high_y, z + rise), (low_x, high_y, z + rise)]
    return corners, [(0, 1, 2), (0, 2, 3)]


@st.composite
def rooms(draw, boxes=6, size=14.0):
    """A floor with boxes on it, two of which may carry a storey above, and a ramp."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    parts = [floor(0, 0, size, size)]
    for _ in range(draw(st.integers(0, boxes))):
        low = rng.random(2) * size * 0.9
        parts.append(box((*low, -0.1), (*(low + 0.3 + rng.random(2) * 4), rng.choice([0.2, 1.0, 4.0]))))
    if draw(st.booleans()):
        parts.append(floor(2, 2, 9, 11, z=3.0))
        parts.append(floor(9, 2, 11, 9, z=3.0, rise=-3.0))
    return mesh_of(*parts)
