from __future__ import annotations

import math
import subprocess
import sys

import networkx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import wayfold
from tests import naive
from tests.strategies import edge_lists
from wayfold import Graph
from wayfold.core import archive
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


@given(edge_lists(), st.sampled_from(["csr", "csc", "coo"]))
def test_scipy_and_back_is_the_same_graph(world, form):
    """Values were compared instead of stored entries: a stored zero vanished, or was made two-way."""
    world.motions = None
    graph = build(world)
    again = Graph.from_scipy(graph.to_scipy().asformat(form), graph.points, directed=world.directed)
    assert again.num_edges == graph.num_edges
    if graph.costs is not None:
        assert slots(again) == slots(graph)
    guessed = Graph.from_scipy(graph.to_scipy(), graph.points)
    for node in range(world.nodes):
        np.testing.assert_allclose(again.distances(node), graph.distances(node), rtol=1e-6)
        np.testing.assert_allclose(guessed.distances(node), graph.distances(node), rtol=1e-6)


def test_a_stored_zero_is_an_edge_one_way():
    matrix = scipy.sparse.coo_array(([0.0, 2.0, 2.0], ([0, 1, 2], [1, 2, 1])), shape=(3, 3))
    graph = Graph.from_scipy(matrix)
    assert graph.directed
    assert graph.distances(0).tolist() == [0, 0, 2]
    assert graph.distances(1).tolist() == [np.inf, 0, 2]
    both = Graph.from_scipy(scipy.sparse.coo_array(([0.0, 0.0], ([0, 1], [1, 0])), shape=(2, 2)))
    assert not both.directed
    assert both.num_edges == 1


def test_loops_and_parallel_edges_are_counted_once_on_both_sides():
    graph = Graph.from_edges(np.zeros((2, 3)), [(0, 0), (0, 0), (0, 1), (0, 1), (0, 1)], costs=[1, 2, 3, 3, 4])
    for again in (Graph.from_scipy(graph.to_scipy()), Graph.from_networkx(graph.to_networkx())):
        assert slots(again) == slots(graph)
        assert not again.directed


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
        ([(0, 1e300)], [], {}, GeometryError, r"points\[0\] lies beyond 1e\+12 m"),
        ([(0, 0), (0, -2e12)], [], {}, GeometryError, r"points\[1\] lies beyond 1e\+12 m"),
        ([("a", "b")], [], {}, ParameterError, "points must be numbers"),
        ([(0, 0)], [(0, 1)], {}, ParameterError, r"edges\[0\] names a node outside 0 to 0"),
        ([(0, 0)], [(-1, 0)], {}, ParameterError, r"edges\[0\]"),
        ([(0, 0)], [(0.0, 0.0)], {}, ParameterError, "whole node numbers"),
        ([(0, 0)], [0, 0], {}, ParameterError, "shape"),
        ([(0, 0)], [(0, 0)], {"costs": [-1]}, ParameterError, r"costs\[0\] must be at least 0"),
        ([(0, 0)], [(0, 0)], {"costs": [float("nan")]}, ParameterError, r"costs\[0\]"),
        ([(0, 0)], [(0, 0)] * 2, {"costs": [1, 3e38]}, ParameterError, r"costs\[1\] must be at most 1e\+28"),
        ([(0, 0)], [(0, 0)] * 2, {"costs": [1, 1e39]}, ParameterError, r"costs\[1\] must be at most 1e\+28"),
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
    with pytest.raises(ParameterError, match="int32"):
        Graph(points, offsets, targets.astype(np.int64))
    with pytest.raises(GeometryError, match="not finite"):
        Graph(points + np.float32(np.nan), offsets, targets)


@pytest.mark.parametrize(("cost", "words"), [(-5, "at least 0"), (math.nan, "at least 0"), (3e38, "at most 1e\\+28")])
def test_every_maker_of_a_graph_refuses_costs_that_are_none(cost, words):
    """A negative cost was taken and answered: the rows of a graph were checked for their shape only."""
    points, edges = [(0, 0, 0), (1, 0, 0)], [(0, 1)]
    rows = np.array([0, 1, 2]), np.array([1, 0], np.int32), np.full(2, cost, np.float32)
    network = networkx.Graph()
    network.add_edge(0, 1, weight=cost)
    makers = [
        lambda: Graph(np.array(points, float), *rows),
        lambda: Graph.from_edges(points, edges, costs=[cost]),
        lambda: Graph.from_networkx(network),
        lambda: Graph.from_scipy(scipy.sparse.coo_array(([cost], ([0], [1])), shape=(2, 2))),
    ]
    for make in makers:
        with pytest.raises(ParameterError, match=words):
            make()
    assert Graph.from_edges(points, edges, costs=[1e28]).path(0, 1).cost == np.float32(1e28)


@given(edge_lists(), st.tuples(*[st.sampled_from([0.0, 5820000.3, -1e7 + 0.1, 123456789.123])] * 3))
def test_what_is_read_back_is_what_was_given(world, place):
    """float32 made 5820000.5 of 5820000.3; now costs are those of the given points, to the last digit of float64."""
    world.points = world.points + np.array(place)
    graph = build(world)
    np.testing.assert_array_equal(graph.points, world.points)
    np.testing.assert_array_equal(graph.path(0, 0).points[0], world.points[0])
    expected = naive.graph_costs(world.nodes, world.one_way(), 0)
    np.testing.assert_allclose(graph.distances(0), expected, rtol=1e-12)
    for goal in range(world.nodes):
        assert graph.path(0, goal).cost == pytest.approx(expected[goal], rel=1e-12)
        assert (world.points[graph.nearest(world.points[goal])] == world.points[goal]).all()


def test_a_file_of_an_earlier_version_with_points_of_float32_is_read(tmp_path):
    file = tmp_path / "graph.wayfold"
    points = np.array([(0.1, 0, 0), (3, 4, 0)], np.float32)
    arrays = {"points": points, "offsets": np.array([0, 1, 2]), "targets": np.array([1, 0], np.int32)}
    archive.write_archive(file, "graph", arrays, {"directed": False})
    graph = Graph.load(file)
    assert graph.points.dtype == np.float64
    np.testing.assert_array_equal(graph.points, points)
    assert graph.path(0, 1).cost == math.dist(*points.astype(float))


def test_a_bound_survives_a_neighbour_that_was_reached_at_great_cost_first():
    """The key of a node that is reached again was what its old key had above its old cost: digits that were lost."""
    points = [(0, 0), (1, 0), (2, 0), (3, 0), (1.5, 0.3)]
    edges = [(0, 1), (0, 2), (1, 2), (2, 3), (0, 4), (4, 3)]
    costs = np.array([1.0, 1e16, 1.0, 1.0, 1.6, 1.6]) * 1e11
    graph = Graph.from_edges(points, edges, costs=costs)
    assert graph.path(0, 3).nodes.tolist() == [0, 1, 2, 3]
