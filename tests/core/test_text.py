"""Messages name places so that they can be told apart, however far off or small a world is."""

from __future__ import annotations

import re

import numpy as np
import pytest
import shapely

from wayfold import Agent, DenseGrid, FloorPlan, Mesh, Motion, NavMesh, SparseGrid, Terrain, WaypointGraph, World
from wayfold.core.text import place
from wayfold.errors import WayfoldError

pytestmark = pytest.mark.kernels

WORLDS = [(0.0, 1.0), (4e5, 1.0), (-1e7, 1.0), (7.0, 1e-3), (1e7, 1e3)]


@pytest.mark.parametrize(("away", "size"), WORLDS)
def test_places_a_ten_thousandth_of_the_extent_apart_are_named_differently(away, size):
    steps = away + 20.0 * size * np.arange(0.0, 1.0, 1e-4)[:500]
    texts = [place([x], 20.0 * size) for x in steps]
    assert len(set(texts)) == len(texts)
    assert np.abs(np.array(texts, float) - steps).max() <= 2.1e-4 * size
    assert place((0.5, float("nan"), 3)) == "0.5, 3"
    assert place((float("inf"), -1.0)) == "inf, -1"
    assert place((1234567, 7)) == "1234567, 7"


def numbers(text):
    return [float(word) for word in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", text)]


def box(away, size):
    corners = np.array([(0, 0, 0), (20, 0, 0), (20, 20, 0), (0, 20, 0)]) * size + (away, away, 0)
    return Mesh(corners, [(0, 1, 2), (0, 2, 3)])


def refusals(away, size):
    """What maps say of a point beside them, which lies at `point`."""
    walker = Agent(radius=0.4 * size, height=1.8 * size, climb=0.4 * size)
    flyer = Agent(radius=0.4 * size, height=0.8 * size, motions=Motion.VOLUMETRIC)
    square = [(away, away), (away + 20 * size, away), (away + 20 * size, away + 20 * size), (away, away + 20 * size)]
    point = np.array([away + 31.2345 * size, away + 5 * size, 0.0])
    inside = np.array([away + 5 * size, away + 5 * size, 0.0])
    mesh = box(away, size)
    world = World.from_mesh(mesh, cache=False)
    settings = {"cell_size": 0.2 * size, "cell_height": 0.1 * size}
    return point, {
        "NavMesh": lambda: NavMesh.build(mesh, walker, **settings).path(point, inside),
        "Terrain": lambda: Terrain([(shapely.Polygon(square), 1.0)]).path(point[:2], inside[:2]),
        "Decomposition": lambda: FloorPlan(square).decompose().path(point[:2], inside[:2]),
        "WaypointGraph": lambda: WaypointGraph.build(mesh, flyer, region_size=10 * size).path(point, inside),
        "Planner": lambda: world.planner(walker, **settings).path(point, inside),
        "Planner.paths": lambda: world.planner(walker, **settings).paths([point], [inside]),
        "Planner.nearest": lambda: world.planner(walker, **settings).nearest(np.add(point, (100 * size, 0, 0))),
        "Planner[cells]": lambda: world.planner(walker, map="sparse-grid", cell=0.5 * size).path(point, inside),
    }


@pytest.mark.parametrize(("away", "size"), WORLDS[2:4])
def test_errors_name_the_point_that_was_given(away, size):
    point, tries = refusals(away, size)
    for name, attempt in tries.items():
        with pytest.raises(WayfoldError) as caught:
            attempt()
        wanted = point[0] + (100 * size if name == "Planner.nearest" else 0)
        assert np.abs(np.array(numbers(str(caught.value))) - wanted).min() <= 1e-3 * size, (name, str(caught.value))


def test_cells_are_named_whole():
    grid = SparseGrid.from_cells([(1_000_000, 1_000_000), (1_000_001, 1_000_000)])
    with pytest.raises(WayfoldError, match="1000003, 1000001"):
        grid.path((1_000_003, 1_000_001), (1_000_000, 1_000_000))
    with pytest.raises(WayfoldError, match="1234567"):
        DenseGrid(np.ones((4, 4), np.uint8)).path((1, 1), (1_234_567, 1))
