"""What an edit of a waypoint graph finds in its rows is what going through them one by one finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfold
from tests.hardening import things
from wayfold import Graph
from wayfold.errors import EditError
from wayfold.waypoints import editing

pytestmark = pytest.mark.kernels


@st.composite
def rows_with_gaps(draw):
    """A graph with parallel edges, rows of any length, and slots that are for no motion; and some of its nodes."""
    nodes = draw(st.integers(1, 12))
    pair = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)).filter(lambda pair: pair[0] != pair[1])
    edges = draw(st.lists(pair, max_size=40)) if nodes > 1 else []
    kinds = draw(st.lists(st.integers(0, 7), min_size=len(edges), max_size=len(edges)))
    slots = sorted([(a, b, k) for (a, b), k in zip(edges, kinds, strict=True)], key=lambda slot: slot[0])
    slots += [(b, a, k) for a, b, k in slots]
    slots.sort(key=lambda slot: slot[0])
    offsets = np.searchsorted([a for a, _, _ in slots], np.arange(nodes + 1)).astype(np.int64)
    targets = np.array([b for _, b, _ in slots], np.int32)
    motions = np.array([k for _, _, k in slots], np.uint8)
    picked = np.array(sorted(draw(st.sets(st.integers(0, nodes - 1)))), np.int32)
    return Graph(np.zeros((nodes, 3)), offsets, targets, None, motions), picked


def one_by_one(graph, nodes):
    """Each edge of some nodes once, from the lower of two that are both among them."""
    found = []
    for node in nodes.tolist():
        row = range(graph.offsets[node], graph.offsets[node + 1])
        ends = sorted({int(graph.targets[slot]) for slot in row if graph.motions[slot]})
        found += [(node, end) for end in ends if not (end in nodes and end < node)]
    return np.array(found, np.int32).reshape(-1, 2)


@given(rows_with_gaps())
def test_the_edges_of_removed_waypoints_are_those_that_going_through_their_rows_finds(drawn):
    graph, nodes = drawn
    found = editing._edges_of(graph, nodes)
    np.testing.assert_array_equal(found, one_by_one(graph, nodes))
    assert found.dtype == np.int32
    assert found.flags.c_contiguous


@pytest.mark.parametrize("left", [0, 5])
@pytest.mark.parametrize("kind", ["edited waypoints", "voxels"])
def test_a_graph_that_has_lost_its_last_waypoints_is_trimmed_and_saved(tmp_path, kind, left):
    waypoints = things.SAVED[kind].make()
    waypoints.update(remove_waypoints=np.arange(left, waypoints.num_waypoints)[~waypoints.removed[left:]])
    assert waypoints.trim() is not None
    assert waypoints.num_waypoints == max(left, 1)
    if kind == "voxels":  # their files hold voxels, and no edits of waypoints
        with pytest.raises(EditError, match="would lose"):
            waypoints.save(tmp_path / "a.wayfold")
    else:
        waypoints.save(tmp_path / "a.wayfold")
        again = wayfold.load(tmp_path / "a.wayfold")
        assert again.num_waypoints == waypoints.num_waypoints
        assert again.built == waypoints.built <= waypoints.num_waypoints
    assert waypoints.trim() is None
