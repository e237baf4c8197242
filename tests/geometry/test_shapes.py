"""Shapes: what they hold, what touches them, and what is wrong with bad ones."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wayfold import Box, Prism
from wayfold.errors import GeometryError, ParameterError
from wayfold.geometry.shapes import as_shape

coordinate = st.floats(-5, 5)
points = st.tuples(coordinate, coordinate, coordinate)


@given(points, points, st.floats(0, 2), st.floats(0, 2), st.floats(0, 2))
@example((0.0, 0.0, -1.0), (0.0, 0.0, -1.1754943508222875e-38), 0.0, 0.0, 3.5016878482037087e-66)
def test_a_move_hits_a_box_exactly_when_some_place_on_it_comes_too_near(a, b, radius, below, above):
    box = Box((-1, -2, 0), (2, 1, 1.5))
    start, end = np.array(a), np.array(b)
    hit = box.hit_by(start[None], end[None], radius=radius, below=below, above=above)[0]
    places = start + np.linspace(0, 1, 801)[:, None] * (end - start)
    places[-1] = end  # which rounding may put higher
    low, high = box.bounds
    gap = np.maximum(0, np.maximum(low[:2] - places[:, :2], places[:, :2] - high[:2]))
    aside = np.hypot(*gap.T)
    # Samples lie close together: those that are clearly in or clearly out must agree with the answer.
    deep = (aside <= radius) & (places[:, 2] > low[2] - above) & (places[:, 2] < high[2] + below)
    slack = 0.02
    around = (
        (aside <= radius + slack) & (places[:, 2] > low[2] - above - slack) & (places[:, 2] < high[2] + below + slack)
    )
    if deep.any():
        assert hit
    if not around.any():
        assert not hit


@given(st.lists(points, min_size=1, max_size=20))
def test_a_box_holds_what_lies_between_its_corners(where):
    box = Box((-1, -2, 0), (2, 1, 1.5))
    low, high = box.bounds
    expected = [all(low[:2] <= p[:2]) and all(np.array(p[:2]) <= high[:2]) and low[2] <= p[2] < high[2] for p in where]
    assert box.contains(where).tolist() == expected


def test_a_prism_is_the_same_whichever_corner_comes_first_and_whichever_way_round():
    corners = np.array([(0, 0), (4, 0), (4, 3), (1, 1)], float)
    other = np.roll(corners[::-1], 2, axis=0)
    assert Prism(corners, 0, 1) == Prism(other, 0, 1)
    assert hash(Prism(corners, 0, 1)) == hash(Prism(other, 0, 1))


@pytest.mark.parametrize(
    "shape", [Box((0, 0, 0), (2, 3, 4)), Prism([(0, 0), (4, 0), (4, 3), (2, 1), (0, 3)], -1, 2)], ids=["box", "prism"]
)
def test_the_triangles_of_a_shape_enclose_its_volume(shape):
    a, b, c = np.swapaxes(shape.mesh().corners, 0, 1)
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
    assert volume == pytest.approx(shape.polygon.area * (shape.high - shape.low))


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: Box((0, 0, 0), (1, 1, 0)), ParameterError),
        (lambda: Box((0, 0), (1, 1)), ParameterError),
        (lambda: Box((0, 0, np.nan), (1, 1, 1)), GeometryError),
        (lambda: Prism([(0, 0), (1, 0)], 0, 1), ParameterError),
        (lambda: Prism([(0, 0), (1, 1), (1, 0), (0, 1)], 0, 1), GeometryError),
        (lambda: Prism([(0, 0), (1, 0), (1, np.inf)], 0, 1), GeometryError),
        (lambda: Prism([(0, 0), (1, 0), (1, 1)], 1, 1), ParameterError),
        (lambda: as_shape("here"), ParameterError),
        (lambda: as_shape([(0, 0, 0)]), ParameterError),
    ],
)
def test_bad_shapes_are_refused(wrong, error):
    with pytest.raises(error):
        wrong()
