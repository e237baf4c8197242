"""Triangles, points and meshes of every kind that matters: lattice ones meet in edges, corners and planes."""

import numpy as np
from hypothesis import strategies as st

from wayfold.geometry import Mesh

lattice = st.integers(-6, 6).map(float)
eighths = st.integers(-40, 40).map(lambda k: k / 8)
reals = st.floats(-100.0, 100.0, allow_subnormal=False).map(lambda x: round(x, 9))
coordinates = st.one_of(lattice, eighths, reals)


def points(values=coordinates, size=3):
    return st.tuples(*[values] * size)


points2 = points(st.one_of(lattice, eighths), 2)
points3 = points(coordinates)
lattice_points3 = points(st.integers(-4, 4).map(float))


@st.composite
def triangles(draw, corners=points3):
    """Any triangle, often one without area: a point, two equal corners, three corners in a line or nearly so."""
    a, b, c = draw(corners), draw(corners), draw(corners)
    kind = draw(st.sampled_from(["any", "any", "any", "point", "edge", "line", "sliver"]))
    if kind == "point":
        return a, a, a
    if kind == "edge":
        return a, b, b
    if kind == "line":
        return a, tuple(2.0 * y - x for x, y in zip(a, b, strict=True)), b
    if kind == "sliver":
        share = draw(st.floats(-1.0, 2.0))
        return a, b, tuple(x + share * (y - x) for x, y in zip(a, b, strict=True))
    return a, b, c


@st.composite
def meshes(draw, most=24, corners=lattice_points3):
    """A few corners and triangles between any of them: shared edges, duplicates, coplanar ones, ones without area."""
    vertices = draw(st.lists(corners, min_size=3, max_size=12))
    numbers = st.integers(0, len(vertices) - 1)
    faces = draw(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=most))
    faces += draw(st.lists(st.sampled_from(faces), max_size=most // 4))
    return Mesh(np.array(vertices), np.array(faces))


@st.composite
def rays(draw, mesh):
    """Origins and directions of a few rays, most of them towards a corner, an edge or the inside of a triangle."""
    origins, ways = [], []
    for _ in range(draw(st.integers(1, 6))):
        origin = draw(points3)
        a, b, c = mesh.corners[draw(st.integers(0, len(mesh) - 1))]
        u, v = draw(st.sampled_from([(0, 0), (0.5, 0), (0.25, 0.25), (0.7, 0.2), (2, 2)]))
        way = a + u * (b - a) + v * (c - a) - origin
        origins.append(origin)
        ways.append(way if way.any() else np.array([0.0, 0.0, -1.0]))
    return np.array(origins), np.array(ways)
