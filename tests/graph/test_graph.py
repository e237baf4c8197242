from __future__ import annotations

import subprocess
import sys

import networkx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import wayfold
from tests.strategies import edge_lists
from wayfold import Graph
from wayfold.errors import FormatError, GeometryError, ParameterError

pytestmark = pytest.mark.kernels


def build(world):
    return Graph.from_edges(
        world.points, world.edges, costs=world.costs, motions=world.motions, directed=world.directed
    )


def slots(graph):
    """Every stored edge as (from, to, cost, motions)."""
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets)).tolist()
    costs = [None] * len(sources) if graph.costs is None else graph.costs.tolist()
    motions = [None] * len(sources) if graph.motions is None else graph.motions.tolist()
    return list(zip(sources, graph.targets.tolist(), costs, motions, strict=True))


@given(edge_lists())
def test_rows_hold_exactly_the_given_edges_in_order(world):
    expected = []
    for at, (a, b) in enumerate(world.edges.tolist()):
        cost = None if world.costs is None else float(np.float32(world.costs[at]))
        motion = None if world.motions is None else int(world.motions[at])
        expected.append((a, b, cost, motion))
        if not world.directed:
            expected.append((b, a, cost, motion))
    graph = build(world)

    def order(slot):
        return tuple(-1 if value is None else value for value in slot)

    assert slots(graph) == sorted(expected, key=order)
    assert graph.num_edges == len(world.edges)
    assert graph.num_nodes == world.nodes


@given(edge_lists(), st.randoms(use_true_random=False))
def test_the_graph_does_not_depend_on_the_order_of_its_edges(world, random):
    order = list(range(len(world.edges)))
    random.shuffle(order)
    other = Graph.from_edges(
        world.points,
        world.edges[order],
        costs=None if world.costs is None else world.costs[order],
        motions=None if world.motions is None else world.motions[order],
        directed=world.directed,
    )
    assert slots(other) == slots(build(world))


def test_a_node_with_very_many_edges_is_sorted_too():
    rng = np.random.default_rng(0)
    ends = rng.permutation(np.arange(1, 3001))
    graph = Graph.from_edges(
        np.zeros((3001, 3)), np.column_stack([np.zeros(3000, int), ends]), costs=ends * 0.5, directed=True
    )
    np.testing.assert_array_equal(graph.targets, np.arange(1, 3001))
    np.testing.assert_array_equal(graph.costs, np.arange(1, 3001) * 0.5)


@given(edge_lists(directed=True))
def test_the_reverse_of_the_reverse_has_the_same_edges(world):
    graph = build(world)
    back = [(b, a, cost, motions) for a, b, cost, motions in slots(graph)]
    assert sorted(map(str, slots(graph.reversed()))) == sorted(map(str, back))


@given(edge_lists())
def test_networkx_and_back_is_the_same_graph(world):
    world.motions = None
    graph = build(world)
    again = Graph.from_networkx(graph.to_networkx(), weight=None if graph.costs is None else "weight")
    assert slots(again) == slots(graph)
    np.testing.assert_array_equal(again.points, graph.points)


def test_networkx_names_and_missing_attributes():
    source = networkx.DiGraph()
    source.add_node("a", pos=(0, 0))
    source.add_node("b", pos=(3, 4))
    source.add_edge("a", "b")
    assert Graph.from_networkx(source).path(0, 1).cost == 5
    source.add_node("c")
    with pytest.raises(ParameterError, match="'c' has no attribute 'pos'"):
        Graph.from_networkx(source)


@given(edge_lists())
def test_scipy_and_back_has_the_same_distances(world):
    if world.costs is not None:  # explicit zeros and infinities are not edges to every scipy routine
        world.costs = np.where(np.isfinite(world.costs), world.costs, 1000.0) + 1.0
    world.motions = None
    graph = build(world)
    matrix = graph.to_scipy()
    again = Graph.from_scipy(matrix, graph.points, directed=world.directed or None)
    for node in range(world.nodes):
        np.testing.assert_allclose(again.distances(node), graph.distances(node), rtol=1e-6)


def test_scipy_matrices_that_are_no_graphs_get_a_sentence():
    with pytest.raises(ParameterError, match="square"):
        Graph.from_scipy(scipy.sparse.csr_array((2, 3)))
    with pytest.raises(ParameterError, match="symmetric"):
        Graph.from_scipy(scipy.sparse.csr_array([[0, 1], [0, 0]]), directed=False)
    one_way = Graph.from_scipy(scipy.sparse.csr_array([[0, 1], [0, 0]]))
    assert one_way.directed
    assert not one_way.path(1, 0)


@given(edge_lists())
def test_a_saved_graph_loads_as_it_was(tmp_path_factory, world):
    file = tmp_path_factory.mktemp("graph") / "graph.wayfold"
    graph = build(world)
    graph.save(file)
    again = wayfold.load(file)
    assert isinstance(again, Graph)
    assert slots(again) == slots(graph)
    assert again.directed == graph.directed
    np.testing.assert_array_equal(again.points, graph.points)
    assert again.path(0, world.nodes - 1).cost == graph.path(0, world.nodes - 1).cost


def test_two_processes_write_the_same_bytes(tmp_path):
    script = (
        "import sys, numpy as np, wayfold\n"
        "rng = np.random.default_rng(1)\n"
        "edges = rng.integers(0, 200, (900, 2))\n"
        "graph = wayfold.Graph.from_edges(rng.random((200, 3)), edges, costs=rng.random(900))\n"
        "graph.save(sys.argv[1])\n"
        "paths = graph.paths(rng.integers(0, 200, 300), rng.integers(0, 200, 300), workers=2)\n"
        "sys.stdout.buffer.write(paths.nodes.tobytes() + paths.costs.tobytes())\n"
    )
    outputs = []
    for name in ("a", "b"):
        command = [sys.executable, "-c", script, str(tmp_path / name)]
        outputs.append(subprocess.run(command, check=True, capture_output=True).stdout)
    assert len(outputs[0]) > 1000
    assert outputs[0] == outputs[1]
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_damaged_graph_file_is_refused(tmp_path):
    file = tmp_path / "graph.wayfold"
    Graph.from_edges([(0, 0), (1, 0)], [(0, 1)]).save(file)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match=r"graph\.wayfold"):
        Graph.load(file)


@given(
    st.lists(st.tuples(*[st.floats(-50, 50, width=32)] * 3), min_size=1, max_size=20),
    st.tuples(*[st.floats(-60, 60)] * 3),
)
def test_nearest_is_the_nearest(points, query):
    graph = Graph.from_edges(points, np.empty((0, 2), int))
    found = graph.nearest(query)
    gaps = np.linalg.norm(graph.points.astype(float) - query, axis=1)
    assert gaps[found] == pytest.approx(gaps.min(), abs=1e-9)
    assert graph.nearest([query, query]).tolist() == [found, found]


def test_memory_is_what_the_design_allows():
    side = 100
    cells = np.arange(side * side).reshape(side, side)
    edges = np.concatenate(
        [
            np.column_stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()]),
            np.column_stack([cells[:-1].ravel(), cells[1:].ravel()]),
        ]
    )
    points = np.column_stack([cells.ravel() % side, cells.ravel() // side])
    graph = Graph.from_edges(points, edges, costs=np.ones(len(edges)), motions=np.ones(len(edges), int))
    graph.distances(0)
    graph.path(0, side * side - 1)
    memory = graph.memory()
    per_edge = (memory["targets"] + memory["costs"] + memory["motions"]) / (2 * len(edges))
    assert per_edge == 9
    assert memory["workspaces"] <= 24 * graph.num_nodes
    assert memory["total"] == graph.nbytes
    crowded = star(5000)
    crowded.distances(0)
    assert crowded.memory()["workspaces"] <= 30 * 5001 + 8


def star(leaves):
    return Graph.from_edges(np.zeros((leaves + 1, 3)), [(0, leaf) for leaf in range(1, leaves + 1)])


@pytest.mark.parametrize(
    ("points", "edges", "options", "error", "words"),
    [
        ([], [], {}, ParameterError, "points must have shape"),
        (np.empty((0, 3)), [], {}, ParameterError, "from 1 to"),
        ([(0, 0, 0, 0)], [], {}, ParameterError, "points must have shape"),
        ([(0, float("nan"))], [], {}, GeometryError, r"points\[0\] is not finite"),
        ([(0, 1e300)], [], {}, GeometryError, r"points\[0\] is not finite in float32"),
        ([("a", "b")], [], {}, ParameterError, "points must be numbers"),
        ([(0, 0)], [(0, 1)], {}, ParameterError, r"edges\[0\] names a node outside 0 to 0"),
        ([(0, 0)], [(-1, 0)], {}, ParameterError, r"edges\[0\]"),
        ([(0, 0)], [(0.0, 0.0)], {}, ParameterError, "whole node numbers"),
        ([(0, 0)], [0, 0], {}, ParameterError, "shape"),
        ([(0, 0)], [(0, 0)], {"costs": [-1]}, ParameterError, r"costs\[0\] must be at least 0"),
        ([(0, 0)], [(0, 0)], {"costs": [float("nan")]}, ParameterError, r"costs\[0\]"),
        ([(0, 0)], [(0, 0)], {"costs": [1, 2]}, ParameterError, "costs must hold one value"),
        ([(0, 0)], [(0, 0)], {"motions": [0]}, ParameterError, r"motions\[0\]"),
        ([(0, 0)], [(0, 0)], {"motions": [8]}, ParameterError, r"motions\[0\]"),
        ([(0, 0)], [(0, 0)], {"motions": [1.0]}, ParameterError, "motions must be whole"),
    ],
)
def test_bad_input_gets_a_sentence(points, edges, options, error, words):
    with pytest.raises(error, match=words):
        Graph.from_edges(points, edges, **options)


def test_rows_that_do_not_fit_together_are_refused():
    points, offsets, targets = np.zeros((2, 3), np.float32), np.array([0, 1, 2]), np.array([1, 0], np.int32)
    assert Graph(points, offsets, targets).path(0, 1).cost == 0
    with pytest.raises(ParameterError, match="targets"):
        Graph(points, offsets, targets + np.int32(1))
    with pytest.raises(ParameterError, match="offsets"):
        Graph(points, offsets[::-1].copy(), targets)
    with pytest.raises(ParameterError, match="float32"):
        Graph(points.astype(float), offsets, targets)
