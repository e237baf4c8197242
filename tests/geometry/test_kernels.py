import math

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests import naive_geometry as naive
from tests.geometry.strategies import lattice_points3, points, points3, triangles
from wayfold.geometry import space_kernels

pytestmark = pytest.mark.kernels


def close(squared, exact_squared, *points):
    size = max(abs(x) for point in points for x in point)
    return abs(math.sqrt(squared) - math.sqrt(exact_squared)) <= 1e-7 * (1.0 + size)


def hit(origin, direction, triangle):
    return space_kernels.ray_triangle(origin, space_kernels.ray_frame(direction, 1.0), *triangle)


@given(points3, points3.filter(any), triangles())
def test_a_ray_hits_what_is_clearly_in_its_way_and_nothing_that_clearly_is_not(origin, direction, triangle):
    found = hit(origin, direction, triangle)
    true = naive.ray_triangle(origin, direction, triangle)
    assume(true is not None and max(map(abs, true)) < 10**6)  # not nearly along the plane, no sliver
    t, least_weight = (float(x) for x in true)
    if t > 1e-6 and least_weight > 1e-6:
        assert found == pytest.approx(t, rel=1e-5)
    if t < -1e-6 or least_weight < -1e-6:
        assert found == math.inf


@given(points3, st.lists(points3, min_size=4, max_size=4), st.floats(0.01, 0.99))
def test_a_ray_through_a_shared_edge_hits_one_of_its_triangles(origin, corners, share):
    a, b, c, d = corners
    # Seen from the origin of the ray, c and d must lie on either side of the edge from a to b.
    normal = naive.cross(naive.sub(a, origin), naive.sub(b, origin))
    assume(naive.dot(normal, naive.sub(c, origin)) * naive.dot(normal, naive.sub(d, origin)) < -1e-3)
    direction = naive.sub(naive.at(a, b, share), origin)
    assert min(hit(origin, direction, (a, b, c)), hit(origin, direction, (b, a, d))) < math.inf


@settings(max_examples=300)
@given(
    *[st.tuples(*[st.integers(-9, 9)] * 3)] * 3,
    st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=3, max_size=3),
)
def test_a_triangle_that_is_seen_edge_on_is_not_met(origin, direction, other, places):
    assume(any(direction))
    corners = [tuple(o + i * d + j * e for o, d, e in zip(origin, direction, other, strict=True)) for i, j in places]
    assert (
        hit(tuple(map(float, origin)), tuple(map(float, direction)), [tuple(map(float, c)) for c in corners])
        == math.inf
    )


@given(points3, triangles())
def test_the_closest_point_of_a_triangle_is_as_near_as_it_gets(p, triangle):
    found = space_kernels.closest_on_triangle(p, *triangle)
    assert close(space_kernels.distance2(p, found), naive.point_triangle2(p, triangle), p, *triangle)
    assert close(naive.point_triangle2(found, triangle), 0, p, *triangle)


@settings(max_examples=400)
@given(points3, points3, st.floats(-1.0, 2.0), st.floats(-1.0, 2.0))
@example((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), 3.642381925834312e-162, 0.5)
def test_rounding_in_slivers_does_not_move_the_closest_point(a, b, share, place):
    triangle = (a, b, naive.at(a, b, share))
    p = naive.at(a, b, place)
    found = space_kernels.closest_on_triangle(p, *triangle)
    assert close(space_kernels.distance2(p, found), naive.point_triangle2(p, triangle), p, *triangle)


@given(points3, points3, points3, points3)
def test_segments_are_as_far_apart_as_their_nearest_points(p, q, r, s):
    assert close(space_kernels.segment_segment2(p, q, r, s), naive.segment_segment2(p, q, r, s), p, q, r, s)


@given(points3, points3, triangles())
def test_a_segment_is_as_far_from_a_triangle_as_their_nearest_points(p, q, triangle):
    found = space_kernels.segment_triangle2(p, q, *triangle)
    assert close(found, naive.segment_triangle2(p, q, triangle), p, q, *triangle)


@given(triangles(), points3, points3)
def test_every_triangle_that_touches_a_box_is_found_and_none_that_is_further_than_rounding(triangle, p, q):
    low, high = tuple(map(min, p, q)), tuple(map(max, p, q))
    found = space_kernels.triangle_box(*triangle, low, high)
    if naive.triangle_touches_box(triangle, low, high):
        assert found
    else:
        margin = 1e-12 * (1.0 + max(abs(x) for corner in (*triangle, low, high) for x in corner))
        near = naive.triangle_touches_box(triangle, [x - margin for x in low], [x + margin for x in high])
        assert near or not found


@settings(max_examples=400)
@given(triangles(lattice_points3), lattice_points3, points(st.sampled_from([0.0, 0.5, 1.0, 3.0])))
def test_on_a_lattice_touching_a_box_is_decided_exactly(triangle, low, size):
    high = tuple(x + y for x, y in zip(low, size, strict=True))
    assert space_kernels.triangle_box(*triangle, low, high) == naive.triangle_touches_box(triangle, low, high)
