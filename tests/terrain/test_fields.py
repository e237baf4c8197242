"""A field is one search, and gives what queries of their own give."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.terrain.worlds import random_ends, random_regions
from wayfold import Terrain
from wayfold.errors import OffMapError

pytestmark = pytest.mark.kernels

GRAPHS = ("refined", "dual", "dual-extra", "grid", "steiner")


WAYS = [*((graph, 0.0) for graph in GRAPHS), *((graph, 1.0) for graph in GRAPHS[:4])]


@settings(max_examples=18)
@given(st.integers(0, 10_000), st.sampled_from(WAYS), st.sampled_from([0.0, 5.4e6]))
def test_a_field_gives_the_paths_of_single_queries(seed, way, offset):
    graph, radius = way
    regions = [(shapely.box(0, 0, 100, 100), 2.0), *random_regions(seed, count=4, obstacles=0.3)]
    regions = [(shapely.transform(shape, lambda points: points + offset), weight) for shape, weight in regions]
    terrain = Terrain(regions)
    near = Terrain([(shapely.transform(shape, lambda points: points - offset), weight) for shape, weight in regions])
    starts = np.concatenate([random_ends(near, seed + k, radius=radius + 1e-6) for k in range(3)]) + offset
    options = {"graph": graph, "radius": radius, "cell": 7.0, "epsilon": 5000.0}
    goal = starts[0]
    field = terrain.field(goal, **options)
    for start, path in zip(starts, field.paths(starts), strict=True):
        single = terrain.path(start, goal, **options)
        assert path.status is single.status
        assert path.cost == pytest.approx(single.cost, rel=1e-12)
        if graph != "grid":
            np.testing.assert_array_equal(path.points, single.points)
    if path:
        assert path.lower_bound == pytest.approx(single.lower_bound, rel=1e-9)


def test_ties_are_broken_alike_in_fields_and_queries():
    # Squares of one weight: very many ways of the same cost over the graph.
    terrain = Terrain.from_raster(1.0 + np.indices((12, 12)).sum(axis=0) % 2, cell=1.0)
    starts = np.random.default_rng(3).uniform(0, 12, (40, 2))
    starts = np.concatenate([starts, np.indices((12, 12)).reshape(2, -1).T[::7]])
    for graph in ("refined", "dual", "dual-extra"):
        field = terrain.field((11.5, 0.5), graph=graph)
        for start, path in zip(starts, field.paths(starts), strict=True):
            for search in ("astar", "dijkstra"):
                single = terrain.path(start, (11.5, 0.5), graph=graph, search=search)
                assert path.cost == single.cost


@pytest.mark.parametrize("graph", ["refined", "dual", "dual-extra", "grid"])
def test_paths_of_a_field_take_no_search_of_their_own(graph):
    terrain = Terrain(random_regions(3), default=2.0, bounds=(0, 0, 100, 100))
    starts = np.random.default_rng(0).uniform(1, 99, (20, 2))
    field = terrain.field((50, 50), graph=graph)
    for start, path in zip(starts, field.paths(starts), strict=True):
        assert path.expanded == 0
        assert terrain.path(start, (50, 50), graph=graph).expanded > 0


def test_starts_where_nobody_can_be_are_refused_by_all():
    wall = shapely.box(40, 0, 60, 50)
    terrain = Terrain([(shapely.box(0, 0, 100, 100), 1.0), (wall, np.inf)])
    for graph in GRAPHS:
        options = {"graph": graph, "epsilon": 5000.0, "cell": 5.0}
        for wrong, radius, words in [((50, 20), 0.0, "obstacle"), ((38, 20), 3.0, "radius"), ((-5, 5), 0.0, "outside")]:
            with pytest.raises(OffMapError, match=words):
                terrain.path(wrong, (90, 90), radius=radius, **options)
            with pytest.raises(OffMapError, match=words):
                terrain.path((90, 90), wrong, radius=radius, **options)
            with pytest.raises(OffMapError, match=words):
                terrain.paths([(90, 90), wrong], [(80, 90), (80, 90)], radius=radius, **options)
            with pytest.raises(OffMapError, match=f"goal .*{words}"):
                terrain.field(wrong, radius=radius, **options)
            with pytest.raises(OffMapError, match=words):
                terrain.field((90, 90), radius=radius, **options).paths([(90, 80), wrong])
        # A disc that only touches the wall fits.
        assert terrain.path((37, 20), (30, 90), radius=3.0, **options).status.name in ("FOUND", "UNREACHABLE")
