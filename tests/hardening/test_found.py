"""Calls that the long sweep found once: each is refused in a sentence now, or answered at once."""

from __future__ import annotations

import numpy as np
import pytest

from tests.hardening import things
from wayfold import FloorPlan, Graph, Hierarchy, SparseGrid, Terrain, World
from wayfold.core.archive import write_archive
from wayfold.errors import ParameterError

pytestmark = pytest.mark.kernels


def test_a_planner_takes_points_and_no_numbers_of_waypoints():
    planner = World.from_mesh(things.floors(), cache=False).planner(things.AGENT, map="waypoints")
    point = planner.random_points(1)[0]
    calls = (
        lambda: planner.field(0),
        lambda: planner.path(0, point),
        lambda: planner.plain(point, 0),
        lambda: planner.reachable(point, 0),
        lambda: planner.expanded(0, point),
    )
    for call in calls:
        with pytest.raises(ParameterError, match=r"must be \(x, y\) or \(x, y, z\)"):
            call()


def test_room_for_more_regions_than_there_can_be_is_refused():
    grid = SparseGrid.from_cells([(0, 0), (1, 0)], 8)
    with pytest.raises(ParameterError, match="room for 16777216 regions"):
        grid.reserve(regions=2**31)
    assert grid.path((0, 0), (1, 0)).found


def test_cells_are_not_smaller_than_a_billionth_of_a_metre():
    for make, cells in ((Terrain.from_raster, np.ones((4, 4))), (FloorPlan.from_cells, np.ones((4, 4), bool))):
        with pytest.raises(ParameterError, match="cell must be at least 1e-09"):
            make(cells, cell=5e-324)
    with pytest.raises(ParameterError, match="cell must be at least 1e-09"):
        things.terrain().path((1, 8), (9, 8), graph="grid", cell=5e-324)


def test_arrays_of_an_archive_have_names(tmp_path):
    with pytest.raises(ParameterError, match="1 cannot name an array"):
        write_archive(tmp_path / "a.wf", "graph", {1: np.zeros(1)})


def test_a_partition_of_another_graph_is_refused():
    graph = Graph.from_edges(np.column_stack([np.arange(99), np.zeros(99)]), [(k, k + 1) for k in range(98)])
    hierarchy = Hierarchy.build(graph, merge=3, levels=2)
    parts = hierarchy._queries[True].levels.partition
    small = Graph.from_edges([(0, 0), (1, 0)], [(0, 1)])
    with pytest.raises(ParameterError, match="parts divides 99 nodes, and the graph has 2"):
        Hierarchy(small, 3, 2, 0, True, parts)
