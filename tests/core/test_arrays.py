"""Different rows of an array are those of numpy, without the records through which numpy loses a Ctrl-C."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import wayfold
from tests.draws import seeds
from wayfold.core.arrays import distinct, offsets_of


@seeds(20)
def test_distinct_rows_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(0, 40)), int(rng.integers(1, 5))
    rows = rng.integers(-2, 3, shape).astype(rng.choice(["i4", "i8", "f8", "u1"]))
    if rows.dtype == "f8":
        rows[rng.random(shape) < 0.2] = -0.0
    one = distinct(rows)
    two = np.unique(rows, axis=0, return_index=True, return_inverse=True, return_counts=True)
    for mine, theirs in zip(one, two, strict=True):
        np.testing.assert_array_equal(mine, theirs.reshape(mine.shape))
    assert one.rows.dtype == rows.dtype


def test_no_rows_are_compared_as_records():
    found = []
    for file in Path(wayfold.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "unique":
                found += [f"{file.name}:{node.lineno}" for word in node.keywords if word.arg == "axis"]
    assert found == []


def test_an_array_without_rows():
    assert [len(part) for part in distinct(np.empty((0, 3)))] == [0, 0, 0, 0]
    with pytest.raises(IndexError):
        distinct(np.empty(3))  # rows only


@seeds(10)
def test_offsets_are_where_lists_begin_and_end_when_they_lie_one_behind_the_other(seed):
    rng = np.random.default_rng(seed)
    lists = [list(range(int(rng.integers(4)))) for _ in range(int(rng.integers(6)))]
    offsets = offsets_of([len(one) for one in lists])
    assert offsets.dtype == np.int64
    flat = [item for one in lists for item in one]
    assert [flat[a:b] for a, b in pairwise(offsets)] == lists
    assert offsets[-1] == len(flat)
