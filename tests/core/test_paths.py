"""`Paths.of`: paths that were planned one by one lie in flat arrays and are what they were."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from wayfold import Path, Paths, Status


def several():
    rng = np.random.default_rng(3)
    return [
        Path(Status.FOUND, rng.random((3, 3)), nodes=np.array([4, 2], np.int32), cost=2.5, expanded=7, lower_bound=2.0),
        Path(Status.UNREACHABLE, why="a river lies between them"),
        Path(Status.FOUND, rng.random((2, 3)), cost=1.0, smoother=lambda path: path),
        Path(Status.PARTIAL, lambda nodes: np.column_stack([nodes, nodes, nodes]), nodes=np.array([1], np.int32)),
    ]


def same(a, b):
    assert (a.status, a.cost, a.expanded, a.why, a.lower_bound) == (b.status, b.cost, b.expanded, b.why, b.lower_bound)
    assert np.array_equal(a.points, b.points)
    assert np.array_equal(a.nodes, b.nodes)


@pytest.mark.parametrize("carry", [lambda paths: paths, copy.deepcopy, lambda paths: pickle.loads(pickle.dumps(paths))])
def test_paths_of_several_are_those_in_flat_arrays(carry):
    given = several()
    expected = [(path.points.copy(), path.nodes.copy()) for path in several()]
    made = carry(Paths.of(given))
    assert len(made) == 4
    assert made.found.tolist() == [True, False, True, False]
    assert made.costs.tolist() == [2.5, np.inf, 1.0, np.inf]
    assert made.nodes.tolist() == [4, 2, 1]
    assert made.offsets.tolist() == [0, 2, 2, 2, 3]
    for path, one, (points, nodes) in zip(made, several(), expected, strict=True):
        same(path, one)
        assert np.array_equal(path.points, points)
        assert np.array_equal(path.nodes, nodes)
    with pytest.raises(IndexError):
        made[4]
    same(made[-1], several()[-1])


def test_paths_of_none_are_empty():
    made = Paths.of([])
    assert len(made) == 0
    assert made.found.shape == made.nodes.shape == (0,)


def test_points_are_not_kept_twice():
    paths = Paths.of(several())
    assert paths[0].points.base is not None
    assert paths[0].points.base is paths[2].points.base
