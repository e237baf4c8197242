from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfold
from tests import naive, naive_subregions
from tests.draws import seeds as draws
from tests.strategies import EdgeList, edge_lists
from wayfold import Graph, Motion, Status, SubregionGraph, WaypointGraph
from wayfold.errors import FormatError, OffMapError, ParameterError
from wayfold.subregions import crowd_paths
from wayfold.subregions.abstraction import layout_of, region_order

pytestmark = pytest.mark.kernels

COSTS = ("fixed", "min", "average", "max", "centroid")
motion_sets = st.integers(1, 7)
shapes = st.tuples(*[st.integers(1, 3)] * 3)
seeds = st.integers(0, 5)


def build(world):
    return Graph.from_edges(world.points, world.edges, costs=world.costs, motions=world.motions)


def usable_edges(world, motions):
    """Node pairs that a character with these motions can use."""
    return sorted({(min(a, b), max(a, b)) for a, b, cost in world.one_way(motions) if math.isfinite(cost)})


def groups_of(subregions):
    labels = subregions.labels
    return [set(np.flatnonzero(labels == label).tolist()) for label in range(subregions.num_subregions)]


@given(edge_lists(directed=False), motion_sets, shapes, seeds, st.booleans())
def test_subregions_and_connections_are_those_of_the_paper(world, motions, shape, seed, octree):
    graph = build(world)
    waypoints = WaypointGraph.from_graph(graph, most_waypoints=3) if octree else WaypointGraph.from_graph(graph, shape)
    subregions = SubregionGraph.build(waypoints, motions, "min", seed)
    regions = [[r for r in row if r >= 0] for row in waypoints.regions.tolist()]
    active = layout_of(waypoints, seed).active
    edges = usable_edges(world, motions)
    chosen = [regions[v][active[v]] for v in range(world.nodes)]
    order = region_order(waypoints.num_regions, seed).tolist()
    expected = naive_subregions.subregions(world.nodes, edges, regions, order, chosen)
    assert groups_of(subregions) == expected
    points = graph.points.astype(float)
    lengths = naive_subregions.connections(edges, expected, points)
    # Parallel edges count once above, but more than once in an average.
    assert [tuple(pair) for pair in subregions.connections.tolist()] == sorted(lengths)
    for pair, shortest, longest in zip(sorted(lengths), *subregions.parts.lengths[:, [0, 2]].T, strict=True):
        assert shortest == pytest.approx(min(lengths[pair]), rel=1e-5)
        assert longest == pytest.approx(max(lengths[pair]), rel=1e-5)
    for at, group in enumerate(expected):
        np.testing.assert_allclose(subregions.centroids[at], points[sorted(group)].mean(axis=0), rtol=1e-4, atol=1e-4)


@given(edge_lists(directed=False), motion_sets, shapes, seeds)
def test_any_two_waypoints_of_a_subregion_are_locally_visitable_from_each_other(world, motions, shape, seed):
    waypoints = WaypointGraph.from_graph(build(world), shape)
    subregions = SubregionGraph.build(waypoints, motions, seed=seed)
    regions = [set(row) for row in waypoints.regions.tolist()]
    edges = usable_edges(world, motions)
    for group, home in zip(groups_of(subregions), subregions.parts.homes.tolist(), strict=True):
        inside = [(a, b) for a, b in edges if a in group and b in group]
        assert naive_subregions.visitable(inside, regions, home, min(group)) == group


@given(edge_lists(directed=False), motion_sets, shapes, seeds, st.sampled_from(COSTS), st.data())
def test_theorem_1_and_2_a_path_exists_exactly_when_a_subregion_path_does(world, motions, shape, seed, cost, data):
    graph = build(world)
    subregions = SubregionGraph.build(graph, motions, cost, seed, regions=shape)
    start, goal = (data.draw(st.integers(0, world.nodes - 1)) for _ in range(2))
    triples = world.one_way(motions)
    best = naive.graph_costs(world.nodes, triples, start)[goal]
    weight = data.draw(st.sampled_from([1.0, 1.1, 3.0]))
    path = subregions.path(start, goal, margin=data.draw(st.integers(0, 2)), weight=weight)
    if start != goal:
        assert bool(len(subregions.subregion_path(start, goal))) == math.isfinite(best)
    assert path.found == math.isfinite(best)
    if not path:
        assert path.status is Status.UNREACHABLE
        assert path.expanded == 0
        return
    assert path.cost >= best * (1 - 1e-9)
    steps = {(a, b) for a, b, step in triples if math.isfinite(step)}
    nodes = path.nodes.tolist()
    assert (nodes[0], nodes[-1]) == (start, goal)
    assert all(step in steps for step in itertools.pairwise(nodes))


@given(edge_lists(directed=False), motion_sets, shapes, st.data())
def test_the_filtered_path_stays_in_the_subregion_path_and_a_wide_margin_makes_it_optimal(world, motions, shape, data):
    graph = build(world)
    subregions = SubregionGraph.build(graph, motions, regions=shape)
    start, goal = (data.draw(st.integers(0, world.nodes - 1)) for _ in range(2))
    path = subregions.path(start, goal, margin=0, weight=1)
    if path and start != goal:
        assert set(subregions.labels[path.nodes].tolist()) <= set(subregions.subregion_path(start, goal).tolist())
        assert (
            subregions.path(start, goal, margin=2**62, weight=1).cost == graph.path(start, goal, motions=motions).cost
        )


@given(edge_lists(directed=False), motion_sets, shapes, st.data())
def test_an_exact_path_costs_what_a_star_over_all_waypoints_costs(world, motions, shape, data):
    graph = build(world)
    subregions = SubregionGraph.build(graph, motions, regions=shape)
    subregions.prepare_exact(data.draw(st.integers(1, 3)))
    start, goal = (data.draw(st.integers(0, world.nodes - 1)) for _ in range(2))
    expected = graph.path(start, goal, motions=motions).cost
    assert subregions.path(start, goal, exact=True).cost == pytest.approx(expected, rel=1e-12)


def open_place(seed, place=(0.0, 0.0, 0.0), scale=1.0):
    """Waypoints of which most see each other, with faces through some, and costs that have little to do with length."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(6, 26))
    points = rng.integers(0, [13, 7, 3], (count, 3)) * scale + np.array(place)
    away = np.linalg.norm(points[:, None] - points[None], axis=2)
    edges = np.argwhere(np.triu(away <= rng.uniform(2, 9) * scale, 1))
    lengths = away[edges[:, 0], edges[:, 1]]
    kinds = {
        "length": lambda: None,
        "rates": lambda: lengths * rng.choice([1.0, 1.0, 3.0, 10.0], len(edges)),
        "any": lambda: rng.choice([0.0, 1.0, 2.0, 5.0, 40.0], len(edges)) * scale,
        "closed": lambda: np.where(rng.random(len(edges)) < 0.4, np.inf, lengths * rng.uniform(1, 5, len(edges))),
    }
    costs = kinds[str(rng.choice(list(kinds)))]()
    motions = rng.integers(1, 8, len(edges)).astype(np.uint8)
    return EdgeList(points, edges, costs, motions, False), int(rng.choice([1, 3, 7])), rng


@draws(60)
def test_exact_paths_cost_what_the_cheapest_cost_on_open_places_with_any_costs(seed):
    """Portals that see each other were taken to go straight, whatever the edge between them costs."""
    world, motions, rng = open_place(seed, *([(0, 0, 0), 1.0] if seed % 3 else [(1e7, -5820000.3, 77.7), 0.01]))
    graph = build(world)
    cut = {"most_waypoints": 4} if seed % 4 == 0 else {"regions": tuple(int(n) for n in rng.integers(1, 4, 3))}
    waypoints = WaypointGraph.from_graph(graph, **cut)
    subregions = SubregionGraph.build(waypoints, motions, str(rng.choice(COSTS)), seed % 5)
    subregions.prepare_exact(int(rng.integers(1, 4)))
    for start in rng.integers(0, world.nodes, 3).tolist():
        expected = naive.graph_costs(world.nodes, world.one_way(motions), start)
        for goal in range(world.nodes):
            path = subregions.path(start, goal, exact=True)
            assert path.cost == pytest.approx(expected[goal], rel=1e-9)
            assert path.found == math.isfinite(expected[goal])


@pytest.mark.parametrize("direct", [40.0, math.inf])
def test_what_sees_each_other_does_not_always_go_straight(direct):
    points = np.array([(0, 0), (11, 0), (15, 1), (19, 0), (30, 0)])
    edges = [(0, 1), (1, 3), (1, 2), (2, 3), (3, 4)]
    for turned in (points, points[:, ::-1], -points, points + 1e7):
        graph = Graph.from_edges(turned, edges, costs=[11, direct, 5, 5, 11])
        wide = (1, 3, 1) if turned[0, 0] == turned[4, 0] else (3, 1, 1)
        subregions = SubregionGraph.build(graph, regions=wide)
        assert subregions.path(0, 4, exact=True).cost == graph.path(0, 4).cost == 32
        assert subregions.path(0, 4, exact=True).nodes.tolist() == [0, 1, 2, 3, 4]


@given(edge_lists(directed=False), st.tuples(*[st.integers(1, 4)] * 3))
def test_a_waypoint_is_in_the_regions_that_contain_it(world, shape):
    waypoints = WaypointGraph.from_graph(build(world), shape)
    assert waypoints.num_regions == math.prod(shape)
    slack = 1e-4 * max(1.0, np.abs(world.points).max())
    for point, row in zip(waypoints.points.astype(float), waypoints.regions, strict=True):
        for region in row[row >= 0]:
            low, high = waypoints.boxes[region, :3], waypoints.boxes[region, 3:]
            assert (point >= low - slack).all()
            assert (point <= high + slack).all()
    np.testing.assert_array_equal(waypoints.is_boundary, waypoints.regions[:, 1] >= 0)


@given(edge_lists(directed=False, max_nodes=20), st.integers(1, 6))
def test_leaves_of_an_octree_hold_no_more_waypoints_than_asked_for(world, most):
    waypoints = WaypointGraph.from_graph(build(world), most_waypoints=most)
    distinct = len(np.unique(np.round(waypoints.points, 2), axis=0))
    sizes = np.bincount(waypoints.regions[:, 0], minlength=waypoints.num_regions)
    if distinct == world.nodes:
        assert sizes.max() <= most
    for point, row in zip(waypoints.points.astype(float), waypoints.regions, strict=True):
        for region in row[row >= 0]:
            slack = 1e-4 * max(1.0, np.abs(world.points).max())
            assert (point >= waypoints.boxes[region, :3] - slack).all()
            assert (point <= waypoints.boxes[region, 3:] + slack).all()


def lattice(side=9):
    """A square lattice with diagonals whose lines x = 4 and y = 4 are region faces of a 2 x 2 cut."""
    points = np.array([(x, y, 0) for x in range(side) for y in range(side)], float)
    ids = np.arange(side * side).reshape(side, side)
    edges = [ids[1:, :], ids[:, 1:], ids[1:, 1:]], [ids[:-1, :], ids[:, :-1], ids[:-1, :-1]]
    pairs = np.concatenate([np.column_stack([a.ravel(), b.ravel()]) for a, b in zip(*edges, strict=True)])
    return Graph.from_edges(points, pairs)


def test_waypoints_on_a_face_are_boundary_waypoints_of_both_regions():
    waypoints = WaypointGraph.from_graph(lattice(), (2, 2, 1))
    on_face = (waypoints.points[:, 0] == 4) | (waypoints.points[:, 1] == 4)
    np.testing.assert_array_equal(waypoints.is_boundary, on_face)
    assert waypoints.regions[4 * 9 + 1].tolist() == [2, 0]
    assert SubregionGraph.build(waypoints).num_subregions == 4


def test_the_average_cost_counts_every_edge_between_two_subregions():
    graph = Graph.from_edges([(0, 0), (1, 0), (9, 0), (10, 0)], [(0, 1), (2, 3), (0, 2), (1, 2), (1, 3)])
    subregions = SubregionGraph.build(graph, cost="average", regions=(2, 1, 1))
    assert subregions.parts.lengths.tolist() == [[8.0, pytest.approx(26 / 3), 9.0]]
    costs = {cost: subregions.with_cost(cost).path(0, 3, weight=1) for cost in COSTS}
    assert {cost: subregions.with_cost(cost).graph.path(0, 1).cost for cost in COSTS} == {
        "fixed": 1.0,
        "min": 8.0,
        "average": pytest.approx(26 / 3),
        "max": 9.0,
        "centroid": 9.0,
    }
    assert all(path.cost == 10.0 for path in costs.values())


def figure_2():
    """An example like Figure 2: 14 waypoints, 15 edges, 4 regions, surface and adhesive motion (v1 is node 0)."""
    points = np.array(
        [
            (1, 9), (3, 9), (3, 7), (5, 8), (6, 9), (8, 9), (9, 7), (8, 5), (2, 5), (2, 4), (1, 6.5), (1, 6), (5, 2),
            (8, 2),
        ],
        float,
    )  # fmt: skip
    surface = [(1, 2), (2, 3), (3, 4), (1, 4), (4, 9), (11, 12), (4, 5), (5, 6), (6, 7), (7, 8), (9, 10), (10, 13)]
    surface += [(13, 14), (8, 14)]
    edges = np.array([*surface, (3, 11)]) - 1
    motions = [Motion.SURFACE] * len(surface) + [Motion.ADHESIVE]
    # The two corner waypoints stretch the box to 10 x 10, so that the faces lie at 5; they have no edges.
    graph = Graph.from_edges(np.concatenate([points, [(0, 0), (10, 10)]]), edges, motions=motions)
    return WaypointGraph.from_graph(graph, (2, 2, 1))


def test_figure_2():
    waypoints = figure_2()
    assert waypoints.num_edges == 15
    assert waypoints.num_regions == 4
    assert [v + 1 for v in np.flatnonzero(waypoints.is_boundary)] == [4, 8, 9, 13]
    r1 = int(waypoints.regions[0, 0])
    # v4 and v9 lie on faces of r1; the order in which r1 comes first gives them to it, as in the figure.
    seed = next(s for s in range(100) if region_order(4, s)[0] == r1)
    surface = SubregionGraph.build(waypoints, Motion.SURFACE, seed=seed)
    both = SubregionGraph.build(waypoints, "surface+adhesive", seed=seed)
    with_v3 = {v + 1 for v in np.flatnonzero(surface.labels == surface.labels[2])}
    assert with_v3 == {1, 2, 3, 4, 9}
    with_v11 = {v + 1 for v in np.flatnonzero(surface.labels == surface.labels[10])}
    assert with_v11 == {11, 12}
    assert {v + 1 for v in np.flatnonzero(both.labels == both.labels[2])} == with_v3 | with_v11
    assert both.num_subregions == surface.num_subregions - 1
    # From v3 to v10 with both motions: two subregions, and only their waypoints.
    chain = both.subregion_path(2, 9)
    assert chain.tolist() == [both.labels[2], both.labels[9]]
    path = both.path(2, 9, margin=0)
    assert [v + 1 for v in path.nodes] == [3, 4, 9, 10]
    assert surface.path(10, 9).status is Status.UNREACHABLE
    assert both.path(10, 9).found


@given(edge_lists(directed=False), motion_sets, shapes)
def test_a_saved_subregion_graph_plans_as_before_once_it_has_its_waypoints(tmp_path_factory, world, motions, shape):
    folder = tmp_path_factory.mktemp("files")
    waypoints = WaypointGraph.from_graph(build(world), shape)
    subregions = SubregionGraph.build(waypoints, motions, "max", 3)
    subregions.save(folder / "s.wayfold")
    waypoints.save(folder / "w.wayfold")
    loaded, ground = wayfold.load(folder / "s.wayfold"), wayfold.load(folder / "w.wayfold")
    np.testing.assert_array_equal(loaded.labels, subregions.labels)
    with pytest.raises(ParameterError, match="attach"):
        loaded.path(0, 0)
    loaded.attach(ground)
    assert (loaded.motions, loaded.cost, loaded.seed) == (subregions.motions, "max", 3)
    for goal in range(world.nodes):
        assert loaded.path(0, goal).cost == subregions.path(0, goal).cost
    other = WaypointGraph.from_graph(Graph.from_edges([(0, 0), (1, 5)], [(0, 1)]))
    with pytest.raises(ParameterError, match="another waypoint graph"):
        loaded.attach(other)


def test_a_waypoint_graph_that_has_changed_since_is_not_attached(tmp_path):
    """The fingerprint left out where edges lead, what they are for and what they cost."""
    points = [(0, 0), (4, 0), (8, 0), (8, 4), (0, 4)]
    edges, costs, motions = [(0, 1), (1, 2), (2, 3), (3, 4)], [4.0, 4.0, 4.0, 8.0], [1, 1, 3, 1]

    def waypoints(edges=edges, costs=costs, motions=motions, points=points):
        return WaypointGraph.from_graph(Graph.from_edges(points, edges, costs=costs, motions=motions), (2, 2, 1))

    ground = waypoints()
    SubregionGraph.build(ground, 1).save(tmp_path / "s.wayfold")
    loaded = SubregionGraph.load(tmp_path / "s.wayfold")
    others = [
        waypoints(edges=[(0, 1), (1, 2), (2, 4), (3, 4)]),  # another target, with the same number of edges in each row
        waypoints(edges=[(0, 4), (1, 2), (2, 3), (3, 1)]),
        waypoints(costs=[4.0, 4.0, 5.0, 8.0]),
        waypoints(costs=None),
        waypoints(motions=[1, 1, 1, 1]),
        waypoints(motions=None),
        waypoints(points=[*points[:4], (0, 4.000000001)]),
    ]
    for other in others:
        with pytest.raises(ParameterError, match="another waypoint graph, or this one has changed"):
            loaded.attach(other)
    edited = waypoints()
    edited.update(remove=[(1, 2)])
    with pytest.raises(ParameterError, match="has changed"):
        loaded.attach(edited)
    edited.update([(1, 2)], [1], costs=[4.0])  # as it was, in rows with spare slots
    edited.save(tmp_path / "w.wayfold")
    for same in (edited, wayfold.load(tmp_path / "w.wayfold"), ground):
        assert loaded.attach(same).path(0, 4, exact=True).cost == 20


def test_a_file_with_another_fingerprint_is_not_attached(tmp_path):
    from wayfold.core import archive as _archive

    subregions = SubregionGraph.build(lattice(), regions=(2, 2, 1))
    subregions.save(tmp_path / "s.wayfold")
    archive = _archive.read_archive(tmp_path / "s.wayfold")
    old = {**archive.meta, "waypoints": "0123abcd"}
    _archive.write_archive(tmp_path / "old.wayfold", archive.kind, dict(archive.arrays), old)
    with pytest.raises(ParameterError, match="another waypoint graph"):
        wayfold.load(tmp_path / "old.wayfold").attach(subregions.waypoints)


def test_a_damaged_file_is_refused(tmp_path):
    from wayfold.core import archive as _archive

    subregions = SubregionGraph.build(lattice(), regions=(2, 2, 1))
    subregions.save(tmp_path / "s.wayfold")
    archive = _archive.read_archive(tmp_path / "s.wayfold")
    labels = {**archive.arrays, "labels": np.full(81, 9, np.uint16)}
    _archive.write_archive(tmp_path / "bad.wayfold", archive.kind, labels, archive.meta)
    with pytest.raises(FormatError, match="label"):
        wayfold.load(tmp_path / "bad.wayfold")
    pairs = {**archive.arrays, "pairs": np.array([[0, 9]], np.uint16), "lengths": np.ones((1, 3), np.float32)}
    pairs["counts"] = np.ones(1, np.uint32)
    _archive.write_archive(tmp_path / "bad.wayfold", archive.kind, pairs, archive.meta)
    with pytest.raises(FormatError, match="'pairs' refers to 9 of 4 subregions"):
        wayfold.load(tmp_path / "bad.wayfold")
    lengths = {**archive.arrays, "lengths": -archive.arrays["lengths"]}
    _archive.write_archive(tmp_path / "bad.wayfold", archive.kind, lengths, archive.meta)
    with pytest.raises(FormatError, match="lengths"):
        wayfold.load(tmp_path / "bad.wayfold")


def test_a_batch_gives_what_single_queries_give():
    subregions = SubregionGraph.build(lattice(15), regions=(3, 3, 1))
    rng = np.random.default_rng(1)
    starts, goals = rng.integers(0, 225, (2, 40))
    for exact in (False, True):
        batch = subregions.paths(starts, goals, exact=exact, workers=3)
        for path, a, b in zip(batch, starts, goals, strict=True):
            np.testing.assert_array_equal(path.nodes, subregions.path(int(a), int(b), exact=exact).nodes)


def test_points_enter_at_the_nearest_waypoint_that_the_character_can_use():
    graph = Graph.from_edges([(0, 0), (1, 0), (5, 0), (6, 0)], [(0, 1), (2, 3), (1, 2)], motions=[1, 1, 4])
    subregions = SubregionGraph.build(graph, Motion.SURFACE)
    path = subregions.path((4.9, 0, 0), (7.0, 0, 0))
    np.testing.assert_allclose(path.points, [(4.9, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0)])
    assert path.cost == pytest.approx(2.1)
    assert subregions.path((0.1, 0, 0), (6.0, 0, 0)).status is Status.UNREACHABLE
    with pytest.raises(OffMapError, match="no waypoint has an edge"):
        SubregionGraph.build(graph, Motion.ADHESIVE).path((0, 0, 0), (1, 0, 0))


def test_bad_input_is_refused_with_a_clear_sentence():
    graph = lattice()
    with pytest.raises(ParameterError, match="unknown motion"):
        SubregionGraph.build(graph, "swim")
    with pytest.raises(ParameterError, match="cost must be one of"):
        SubregionGraph.build(graph, cost="cheap")
    with pytest.raises(ParameterError, match="one-way"):
        SubregionGraph.build(Graph.from_edges([(0, 0), (1, 0)], [(0, 1)], directed=True))
    with pytest.raises(ParameterError, match="three whole numbers"):
        WaypointGraph.from_graph(graph, 5)
    with pytest.raises(ParameterError, match="exclude each other"):
        WaypointGraph.from_graph(graph, (1, 1, 1), most_waypoints=4)
    with pytest.raises(ParameterError, match="seed"):
        SubregionGraph.build(graph, seed=-1)
    subregions = SubregionGraph.build(graph)
    with pytest.raises(OffMapError, match="not a node"):
        subregions.path(0, 1000)
    with pytest.raises(ParameterError, match="margin"):
        subregions.path(0, 1, margin=-1)
    with pytest.raises(ParameterError, match="same length"):
        subregions.paths([0], [1, 2])


def test_a_crowd_with_different_motions_gets_the_path_of_each_character():
    rng = np.random.default_rng(3)
    points = rng.uniform(0, 30, (120, 3))
    edges = np.unique(np.sort(rng.integers(0, 120, (500, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    kinds = rng.choice([1, 2, 4], len(edges)).astype(np.uint8)
    waypoints = WaypointGraph.from_graph(Graph.from_edges(points, edges, motions=kinds), (3, 3, 3))
    graphs = [SubregionGraph.build(waypoints, motions) for motions in (1, 3, 5)]
    which, starts, goals = rng.integers(0, 3, 60), rng.integers(0, 120, 60), rng.integers(0, 120, 60)
    steps = []
    graphs[0].prepare_exact(progress=lambda what, done, total: steps.append((done, total)))
    assert steps[-1][0] == steps[-1][1]
    for exact in (False, True):
        paths = crowd_paths(graphs, which, starts, goals, exact=exact)
        for at, path in enumerate(paths):
            alone = graphs[which[at]].path(starts[at], goals[at], exact=exact)
            assert (path.status, path.cost) == (alone.status, alone.cost)
            assert path.nodes.tolist() == alone.nodes.tolist()
    with pytest.raises(ParameterError, match="which"):
        crowd_paths(graphs, [3], [0], [1])
    with pytest.raises(ParameterError, match="one and the same"):
        crowd_paths([graphs[0], SubregionGraph.build(waypoints.graph)], [0], [0], [1])
    with pytest.raises(ParameterError, match="same length"):
        graphs[0].paths([0, 1], [1])
