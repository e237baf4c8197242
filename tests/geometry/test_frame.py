import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wayfold.geometry.frame import Frame

places = st.lists(st.tuples(*[st.floats(-1e4, 1e4)] * 3), min_size=1, max_size=8)
moves = st.tuples(*[st.integers(-10_000_000, 10_000_000) | st.floats(-1e7, 1e7)] * 3)


@given(places, moves)
def test_what_is_taken_away_comes_back_as_it_was(points, move):
    given_points = np.array(points) + np.array(move)
    frame = Frame.of(given_points)
    assert (frame.world(frame.local(given_points)) == given_points).all()


@given(places, st.tuples(*[st.sampled_from([-1, 1])] * 3))
def test_a_world_far_away_is_kept_around_0(points, signs):
    far = np.array(points) + 1e7 * np.array(signs)
    local = Frame.of(far).local(far)
    assert np.abs(local).max() <= np.ptp(far, axis=0).max() + 1.0


def test_a_world_around_0_is_kept_as_it_is():
    assert Frame.of([(-1.0, -2.0, -0.5), (3.0, 5.0, 0.1)]) == Frame((0.0, 0.0, 0.0), 7.0)
    assert Frame.of(np.empty((0, 3))).extent == 0.0


def test_plans_without_heights_have_a_frame_too():
    frame = Frame.of([(390000.25, 5820000.5), (390010.25, 5820001.5)])
    assert frame.origin == (390005.0, 5820001.0, 0.0)
    assert (frame.local(np.array([[390000.25, 5820000.5]])) == [[-4.75, -0.5]]).all()
