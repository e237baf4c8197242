import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from shapely.geometry import Polygon

from tests import naive_geometry as naive
from tests.geometry.strategies import points2
from wayfold.errors import GeometryError, ParameterError
from wayfold.geometry import plane_kernels, polygon

pytestmark = pytest.mark.kernels

rings = st.lists(points2, min_size=3, max_size=9)
odd_numbers = st.floats(-1e6, 1e6, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-6)
square = [(0, 0), (2, 0), (2, 2), (0, 2)]


@given(st.tuples(odd_numbers, odd_numbers), st.tuples(odd_numbers, odd_numbers), st.floats(-2, 2), st.integers(-3, 3))
def test_orientation_is_the_sign_of_the_exact_area_even_for_points_one_ulp_off_a_line(a, b, share, ulps):
    c = [x + share * (y - x) for x, y in zip(a, b, strict=True)]
    for _ in range(abs(ulps)):
        c[0] = math.nextafter(c[0], math.inf if ulps > 0 else -math.inf)
    assume(c[0] == 0 or abs(c[0]) > 1e-100)  # no underflow
    assert plane_kernels.orientation(*a, *b, *c) == naive.orientation(a, b, c)


@given(points2, points2, points2)
def test_point_to_segment_distance_is_exact_up_to_rounding(p, a, b):
    found = math.sqrt(plane_kernels.point_segment2(*p, *a, *b))
    assert found == pytest.approx(math.sqrt(naive.point_segment2(p, a, b)), abs=1e-9)


@given(rings, st.lists(points2, max_size=8))
def test_a_polygon_contains_its_boundary_and_what_an_odd_number_of_edges_surrounds(ring, points):
    middles = [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in pairwise(ring)]
    points = [*points, *ring, *middles]
    assert polygon.contains(ring, points).tolist() == [naive.in_polygon(ring, p) for p in points]


@given(rings)
def test_a_polygon_is_convex_exactly_when_no_edge_has_corners_on_both_sides_and_it_goes_round_once(ring):
    assert polygon.is_convex(ring) == naive.is_convex(ring)


@given(rings)
def test_hulls_are_convex_in_both_directions_from_any_corner(ring):
    hull = Polygon(ring).convex_hull
    if isinstance(hull, Polygon):
        corners = list(hull.exterior.coords)[:-1]
        for k in range(len(corners)):
            turned = corners[k:] + corners[:k]
            assert polygon.is_convex(turned)
            assert polygon.is_convex([*turned[::-1], turned[0]])


@given(rings)
def test_area_and_orientation_are_those_of_the_exact_sum(ring):
    twice = float(naive.polygon_area_twice(ring))
    assert polygon.area(ring) == pytest.approx(abs(twice) / 2, abs=1e-9)
    assert polygon.orientation(ring) == naive.sign(twice)


@given(points2, points2, points2)
def test_the_centroid_of_a_triangle_is_the_mean_of_its_corners_wherever_it_is(a, b, c):
    ring = np.array([a, b, c]) + 1e6
    if naive.orientation(a, b, c) != 0:
        assert polygon.centroid(ring) == pytest.approx(ring.mean(axis=0), abs=1e-6)


def test_the_centroid_without_area_is_that_of_the_boundary():
    assert polygon.centroid([(0, 0), (4, 0), (2, 0)]).tolist() == [2, 0]
    assert polygon.centroid([(3, 1)] * 3).tolist() == [3, 1]


@given(points2, points2, points2, points2)
def test_segments_meet_as_exact_arithmetic_says(a, b, c, d):
    assert polygon.segments_intersect([a], [b], [c], [d]).tolist() == [naive.segments_meet(a, b, c, d)]


def test_empty_batches_have_empty_answers():
    nothing = np.empty((0, 2))
    assert polygon.contains(square, nothing).shape == (0,)
    assert polygon.segments_intersect(nothing, nothing, nothing, nothing).shape == (0,)


def test_bad_polygons_are_refused():
    with pytest.raises(GeometryError, match="at least 3 corners"):
        polygon.area([(0, 0), (1, 1)])
    with pytest.raises(GeometryError, match=r"polygon\[1\] is not finite"):
        polygon.area([(0, 0), (np.nan, 1), (1, 1)])
    with pytest.raises(ParameterError, match=r"points must have shape \(n, 2\), not \(1, 3\)"):
        polygon.contains(square, [(0, 0, 0)])
    with pytest.raises(ParameterError, match="array of numbers"):
        polygon.contains("square", square)
    with pytest.raises(ParameterError, match="as many points"):
        polygon.segments_intersect(square, square, square, square[:2])
