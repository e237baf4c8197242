"""Lines along surfaces that lead past a block: where they are, how far from it, and where they cross planes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.draws import seeds
from tests.waypoints.worlds import box, ground
from wayfold import Mesh
from wayfold.geometry import TriangleIndex
from wayfold.waypoints.narrow import SkirtLines, lines_on, shell

AWAY = 0.5
CORNER = 2 * np.sin(np.pi / 8)  # a quarter of a circle around an edge is two straight pieces as long as this


def test_the_line_around_a_block_on_the_ground_goes_all_around_it():
    block = box((4, 5, -1), (7, 9, 2))
    lines = lines_on(ground(20, 20, z=0.3).corners, shell(block, 20.0, AWAY))
    assert lines.length == pytest.approx(2 * (3 + 4) + 8 * CORNER * AWAY)
    # It is one line: every end is the start of another piece.
    ends = np.concatenate([lines.starts, lines.ends]).round(9)
    assert (np.unique(ends, axis=0, return_counts=True)[1] % 2 == 0).all()
    places = lines.places(0.1, 0.01)
    away, _, _ = TriangleIndex(block).nearest(places)
    assert away.min() >= AWAY * np.cos(np.pi / 8) - 1e-12
    assert away.max() <= AWAY + 1e-12
    np.testing.assert_allclose(places[:, 2], 0.3, atol=1e-12)


@pytest.mark.parametrize("height", [2.1, -1.45])
def test_lines_around_a_low_or_hanging_block_are_as_far_from_its_edges(height):
    block = box((4, 5, -1), (7, 9, 2))
    lines = lines_on(ground(20, 20, z=height).corners, shell(block, 20.0, AWAY))
    away, _, _ = TriangleIndex(block).nearest(lines.places(0.1, 0.01))
    assert len(away)
    assert away.min() >= AWAY * np.cos(np.pi / 8) - 1e-12
    assert away.max() <= AWAY + 1e-12


@seeds(20)
def test_lines_are_where_both_sets_of_triangles_are(seed):
    rng = np.random.default_rng(seed)
    one, other = (rng.uniform(-1, 1, (count, 3, 3)) for count in (9, 7))
    lines = lines_on(one, other)
    places = lines.places(0.05, 0.01)
    for corners in (one, other):
        index = TriangleIndex(Mesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3)))
        assert index.nearest(places)[0].max(initial=0.0) <= 1e-9
    # The sides of each triangle that go through another one are where a line ends.
    through = 0
    for these, those in ((one, other), (other, one)):
        for a, b, c in those:
            normal = np.cross(b - a, c - a)
            for triangle in these:
                for start, end in zip(triangle, np.roll(triangle, -1, axis=0), strict=True):
                    high, low = (start - a) @ normal, (end - a) @ normal
                    at = start + high / (high - low) * (end - start)
                    # In the plane of the other triangle the three corners see it on the same side.
                    seen = [np.cross(q - p, at - p) @ normal for p, q in ((a, b), (b, c), (c, a))]
                    if high * low < 0 and min(seen) > 0:
                        gap = np.linalg.norm(np.concatenate([lines.starts, lines.ends]) - at, axis=1)
                        assert gap.min() <= 1e-9
                        through += 1
    assert through == 2 * len(lines.starts)


def test_lines_cross_planes_but_not_where_two_of_them_meet():
    lines = SkirtLines(np.array([(0.0, 0, 0), (1, 1, 5)]), np.array([(4.0, 4, 1), (4, 1.9, 5)]))
    planes = [np.array([2.0, 3.0]), np.array([2.0]), np.empty(0)]
    found = lines.crossings(planes, 0.4)
    on = np.stack([np.isin(found[:, axis], planes[axis]) for axis in range(3)], axis=1)
    assert (on.sum(axis=1) == 1).all()
    # The first line goes through where two planes meet: past it on both sides of each.
    near = found[np.abs(found - (2, 2, 0.5)).max(axis=1) < 0.1]
    np.testing.assert_allclose(sorted(near.tolist()), [(1.98, 2, 0.5), (2, 1.98, 0.5), (2, 2.02, 0.5), (2.02, 2, 0.5)])
    others = [tuple(row) for row in np.round(found, 6) if np.abs(row - (2, 2, 0.5)).max() >= 0.1]
    assert sorted(others) == [(2.0, 1.3, 5.0), (3.0, 1.6, 5.0), (3.0, 3.0, 0.75)]


def test_triangles_that_only_touch_or_are_apart_have_no_lines():
    flat = np.array([[(0.0, 0, 0), (1, 0, 0), (0, 1, 0)]])
    for away in ((0, 0, 1), (3, 0, 0), (0, 0, 0)):
        assert not len(lines_on(flat, flat + np.array(away)).starts)
    assert not len(lines_on(np.empty((0, 3, 3)), flat).starts)
