"""`Paths.of`: paths that were planned one by one lie in flat arrays and are what they were."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
import shapely

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


@pytest.mark.parametrize(
    "path",
    [
        Path(
            Status.FOUND, np.array([(0, 0, 0), (3, 4, 0), (3, 4, 1.5)]), nodes=np.array([2, 5, 7], np.int32), cost=6.5
        ),
        Path(Status.PARTIAL, np.array([(1.0, 2.0, 3.0)]), cost=np.float64(0.0), expanded=np.int64(3), lower_bound=2.0),
        Path(Status.UNREACHABLE, why="a wall is between them", timings={"total": np.float64(0.5)}),
        Path(Status.BUDGET_EXHAUSTED, expanded=9),
    ],
    ids=lambda path: path.status.name,
)
def test_paths_become_plain_values_that_json_gives_back(path):
    plain = path.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["status"] == path.status.name
    assert plain["found"] is bool(path)
    assert plain["points"] == path.points.tolist()
    assert plain["nodes"] == path.nodes.tolist()
    assert plain["why"] == path.why
    assert plain["expanded"] == path.expanded
    for name in ("length", "cost", "lower_bound"):
        value = getattr(path, name)
        assert plain[name] == (None if value in (None, np.inf) else value)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_path_becomes_a_geojson_line_that_others_read(count):
    points = np.arange(3.0 * count).reshape(-1, 3)
    path = Path(Status.FOUND if count else Status.UNREACHABLE, points, cost=7.0 if count else np.inf)
    feature = path.to_geojson()
    assert json.loads(json.dumps(feature, allow_nan=False)) == feature
    assert feature["type"] == "Feature"
    assert feature["properties"]["status"] == path.status.name
    if not count:
        assert feature["geometry"] is None
        assert feature["properties"]["cost"] is feature["properties"]["length"] is None
        return
    line = shapely.from_geojson(json.dumps(feature["geometry"]))
    assert line.geom_type == "LineString"
    assert shapely.get_coordinates(line, include_z=True)[:count].tolist() == points.tolist()
    assert feature["properties"]["cost"] == 7.0
    assert feature["properties"]["length"] == path.length
