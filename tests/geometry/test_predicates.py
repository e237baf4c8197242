"""Orientation is exact in sign, whatever the points and wherever they lie."""

from __future__ import annotations

import math
import random

import pytest

from tests import naive_geometry as naive
from tests.draws import seeds
from wayfold.geometry.predicate_kernels import orientation

pytestmark = pytest.mark.kernels


def nudged(rng, value, most):
    """A number a few last digits away."""
    for _ in range(rng.randint(0, most)):
        value = math.nextafter(value, rng.choice((-math.inf, math.inf)))
    return value


def nearly_straight(rng):
    """Three points within some last digits of a line: near or far, on a grid or not, some along an axis."""
    away, size = 10 ** rng.uniform(-3, 8), 10 ** rng.uniform(-6, 4)
    kind = rng.choice(("anywhere", "grid", "axis"))
    middle = [rng.uniform(-away, away) for _ in range(2)]
    a, b = ([at + rng.uniform(-size, size) for at in middle] for _ in range(2))
    if kind == "grid":
        a, b = ([float(rng.randint(-9, 9)) for _ in range(2)] for _ in range(2))
    if kind == "axis":
        b[rng.randint(0, 1)] = a[0] if rng.random() < 0.5 else a[1]
    share = rng.choice((rng.uniform(-2, 3), 0.5, 2.0, 0.0, 1e-9))
    c = [nudged(rng, x + share * (y - x), 2) for x, y in zip(a, b, strict=True)]
    return rng.sample((a, b, c), 3)


@seeds(5)
def test_the_sign_is_that_of_exact_arithmetic(seed):
    rng = random.Random(seed)
    straight = 0
    for _ in range(3000):
        a, b, c = nearly_straight(rng)
        expected = naive.orientation(a, b, c)
        assert orientation(*a, *b, *c) == expected
        straight += expected == 0
    assert straight > 100  # exactly on a line, so that the last stage is asked too


TINY = 5e-324


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [
        ((9.0, -6.0), (-9.0, -5.0), (TINY, -5.5)),
        ((0.0, 7.0), (0.0, 6.0), (-TINY, 6.5)),
        ((-3.0, -3.0), (3.0, -2.0), (-TINY, -2.5)),
        ((0.0, 0.0), (10.0, TINY), (20.0, 0.0)),
        ((0.0, 0.0), (1e-3, 1e-200), (2e-3, 3e-200)),
        ((1e29, 1e29), (-1e29, -1e29), (0.0, TINY)),
    ],
)
def test_the_smallest_numbers_count(a, b, c):
    expected = naive.orientation(a, b, c)
    assert expected != 0
    assert orientation(*a, *b, *c) == expected
    assert orientation(*b, *a, *c) == -expected
