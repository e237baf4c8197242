"""What accelerators say they settled, for pictures."""

from __future__ import annotations

import numpy as np
import pytest

from wayfold import Graph, Hierarchy, SubregionGraph

pytestmark = pytest.mark.kernels
SIDE = 60


@pytest.fixture(scope="module")
def graph():
    """A square of nodes joined to their neighbours, with a wall that has one gap."""
    x, y = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
    nodes = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    free = (x != SIDE // 2) | (y == SIDE - 2)
    east, north = free[:-1] & free[1:], free[:, :-1] & free[:, 1:]
    edges = np.concatenate(
        [
            np.column_stack([nodes[:-1][east], nodes[1:][east]]),
            np.column_stack([nodes[:, :-1][north], nodes[:, 1:][north]]),
        ]
    )
    return Graph.from_edges(np.stack([x, y, 0 * x], axis=-1).reshape(-1, 3).astype(float), edges)


@pytest.mark.parametrize("accelerate", [Hierarchy.build, SubregionGraph.build], ids=["hierarchy", "subregions"])
@pytest.mark.parametrize("ends", [(0, SIDE * SIDE - 1), (0, SIDE * SIDE - SIDE), (70, 75), (5, 5)])
def test_the_settled_nodes_are_as_many_as_the_path_says(graph, accelerate, ends):
    fast = accelerate(graph)
    path = fast.path(*ends)
    nodes = fast.expanded(*ends)
    assert path
    assert (np.diff(nodes) > 0).all()
    assert len(nodes) == path.expanded


@pytest.mark.parametrize("accelerate", [Hierarchy.build, SubregionGraph.build], ids=["hierarchy", "subregions"])
def test_nothing_is_settled_where_there_is_no_way(graph, accelerate):
    lonely = SIDE // 2 * SIDE
    assert not accelerate(graph).path(0, lonely)
    assert not len(accelerate(graph).expanded(0, lonely))
