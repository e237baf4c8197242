"""Queries of four threads beside edits: every answer is one from before or after an edit, and nothing ends badly."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
import shapely

from tests.hardening import things
from wayfold import Graph, Hierarchy, Mesh, NavMesh, SparseGrid, SubregionGraph, WaypointGraph
from wayfold.errors import EditError, OffMapError

pytestmark = pytest.mark.kernels

SECONDS = 1.0


def beside(queries, edits, *, refused=()):
    """Run queries in four threads while edits run one after the other, again and again; the set of their answers."""
    done = threading.Event()
    answers, problems, counts = set(), [], [0, 0]

    def ask(query):
        while not done.is_set():
            try:
                answers.add(query())
            except refused:
                pass
            except BaseException as problem:
                problems.append(problem)
                done.set()
            counts[0] += 1

    threads = [threading.Thread(target=ask, args=(queries[k % len(queries)],)) for k in range(4)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + SECONDS
    try:
        while not done.is_set() and (time.monotonic() < end or counts[1] < 3):
            for edit in edits:
                edit()
            counts[1] += 1
    finally:
        done.set()
        for thread in threads:
            thread.join()
    if problems:
        raise problems[0]
    assert counts[0] > 10
    return answers


def in_both_states(make, query, edits):
    """Answers before the edits and after each of them."""
    thing = make()
    found = {query(thing)}
    for edit in edits(thing):
        edit()
        found.add(query(thing))
    return found


def check(make, query, edits, *, more=(), refused=()):
    """Answers beside edits, which lead back to where they began, are those without threads."""
    expected = in_both_states(make, query, edits)
    assert len(expected) > 1
    thing = make()
    queries = [lambda: query(thing), *(lambda other=other: other(thing) for other in more)]
    got = beside(queries, list(edits(thing)), refused=refused)
    assert {answer for answer in got if answer is not None} <= expected
    assert query(thing) in expected


def cost(path):
    return round(path.cost, 6)


WALL = [(10, y) for y in range(19)]


@pytest.mark.parametrize("way", ["8-bit", "regular"])
def test_a_sparse_grid_is_asked_while_it_is_edited(way):
    def more(grid):
        for path in grid.paths([(0, 0)] * 6, [(19, 19)] * 6, workers=2):
            assert path.found
        assert grid.path((0, 0), (19, 0), smooth=True).found
        assert len(grid.cells) in (400, 400 - len(WALL))
        assert grid.contains([(0, 0), (10, 3)])[0]
        regions = grid.regions()
        assert len(regions.cells) == len(regions.region)
        grid._to_parts()

    check(
        lambda: SparseGrid.from_cells([(x, y) for x in range(20) for y in range(20)], 8, successors=way),
        lambda grid: cost(grid.path((0, 0), (19, 0), abstract=False)),
        lambda grid: [
            lambda: grid.remove(WALL),
            lambda: grid.add_link((0, 0), (19, 0), cost=22.5),
            lambda: grid.add(WALL),
            lambda: grid.add_effect([(5, 0)]),
            grid.compact,
            lambda: grid.remove_effect([(5, 0)]),
            lambda: grid.remove_link((0, 0), (19, 0)),
        ],
        more=[more],
    )


def test_a_hierarchy_is_asked_while_its_costs_change():
    edges = things.grid_edges(20, 20)
    points = np.column_stack([np.tile(np.arange(20.0), 20), np.repeat(np.arange(20.0), 20)])
    graph = Graph.from_edges(points, edges, costs=np.ones(len(edges)))
    row = [(9 + 20 * y, 10 + 20 * y) for y in range(19)]

    def more(made):
        assert made.path(3, 388).found
        assert all(made.paths([0, 5], [399, 200], workers=1).costs < np.inf)

    check(
        lambda: Hierarchy.build(graph, merge=4, levels=3, workers=1),
        lambda made: cost(made.path(0, 19, level=2)),
        lambda made: [
            lambda: made.update(row, 7.0),
            lambda: made.update(row[:10], np.inf),
            lambda: made.customise(workers=1),
            made.refresh,
        ],
        more=[more],
    )


def test_a_navigation_mesh_is_asked_while_it_is_rebuilt():
    wall = things.box((4, -1, 0), (5, 1.2, 3))

    def more(mesh):
        mesh.locate(mesh.random_points(5, seed=1))
        mesh.raycast((-5, -5, 0), (1, 5, 0))
        mesh._to_parts()

    check(
        lambda: NavMesh.build(things.floors(), things.AGENT, cell_size=0.25, tile_size=16, workers=1),
        lambda mesh: cost(mesh.path((-5, -5, 0), (13, -5, 2))),
        lambda mesh: [
            lambda: mesh.rebuild([(4, -1, 0), (5, 1.2, 3)], Mesh.concatenate([things.floors(), wall]), workers=1),
            lambda: mesh.add_link((-5, -4, 0), (13, -4, 2), cost=3.0),
            mesh.clear_links,
            lambda: mesh.rebuild([(4, -1, 0), (5, 1.2, 3)], things.floors(), workers=1),
        ],
        more=[more],
        refused=(OffMapError,),
    )


def plain_waypoints():
    edges = things.grid_edges(12, 12)
    points = np.column_stack([np.tile(np.arange(12.0), 12), np.repeat(np.arange(12.0), 12), np.zeros(144)])
    return WaypointGraph.from_graph(Graph.from_edges(points, edges), regions=(3, 3, 1))


GATE = [(5 + 12 * y, 6 + 12 * y) for y in range(11)]


def test_waypoints_are_asked_while_they_are_edited():
    def more(made):
        made.path((0.2, 0.3, 0.0), (11.0, 11.0, 0.0))
        made.joined(0, 143, made.default_motions)
        made._to_parts()

    check(
        plain_waypoints,
        lambda made: cost(made.path(0, 11)),
        lambda made: [
            lambda: made.update(remove=GATE),
            lambda: made.update([(0, made.num_waypoints), (made.num_waypoints, 11)], add_waypoints=[(5.5, 3.0, 0.0)]),
            lambda: made.update(remove_waypoints=[made.num_waypoints - 1]),
            lambda: made.update(GATE),
        ],
        more=[more],
    )


def test_subregions_are_asked_while_they_are_repaired():
    def edits(made):
        waypoints = made.waypoints
        return [
            lambda: made.repair(waypoints.update(remove=GATE)),
            lambda: made.repair(
                waypoints.update(
                    [(0, waypoints.num_waypoints), (waypoints.num_waypoints, 11)], add_waypoints=[(5.5, 3.0, 0.0)]
                )
            ),
            lambda: made.repair(waypoints.update(remove_waypoints=[waypoints.num_waypoints - 1])),
            lambda: made.repair(waypoints.update(GATE)),
        ]

    check(
        lambda: SubregionGraph.build(plain_waypoints()),
        lambda made: cost(made.path(0, 11, exact=True)),
        edits,
        more=[lambda made: made.path(0, 140).found and None, lambda made: made.paths([0], [143], workers=2) and None],
        refused=(EditError,),
    )


def test_a_subregion_graph_that_has_missed_an_edit_says_so():
    made = SubregionGraph.build(plain_waypoints())
    edit = made.waypoints.update(add_waypoints=[(5.5, 3.0, 0.0)])
    with pytest.raises(EditError, match="repair"):
        made.path(0, 11)
    made.repair(edit)
    assert made.path(0, 11).found


def test_a_terrain_is_asked_while_it_is_painted():
    spot = shapely.box(2, 6, 4, 9)
    ground = things.terrain()
    painted = [None]

    def paint():
        painted[0] = ground.painted([(spot, 9.0)])
        painted[0].path((1, 8), (9, 8))
        ground.with_weights({"swamp": 2.0}).path((1, 1), (9, 9), radius=0.1)

    expected = {cost(ground.path((1, 8), (9, 8))), cost(ground.painted([(spot, 9.0)]).path((1, 8), (9, 8)))}
    got = beside(
        [lambda: cost(ground.path((1, 8), (9, 8))), lambda: cost((painted[0] or ground).path((1, 8), (9, 8)))], [paint]
    )
    assert got <= expected


def test_a_decomposition_is_asked_while_obstacles_come_and_go():
    def more(cut):
        cut.locate(np.random.default_rng(1).random((20, 2)) * [12, 9])
        cut.collides((1.0, 1.0), 0.3)
        assert len(cut.gateways) > 0
        assert cut.graph.num_nodes > 1
        assert len(cut.centres) > 1
        cut.paths([(1.0, 8.0)] * 3, [(11.0, 8.0)] * 3, workers=2)
        cut._to_parts()

    check(
        lambda: things.FloorPlan(shapely.box(0, 0, 12, 9), [shapely.box(3, 0, 4, 6)]).decompose(),
        lambda cut: cost(cut.path((1, 1), (11, 1), optimal=True)),
        lambda cut: [
            lambda: cut.add_obstacle(shapely.box(7, 0, 8, 7)),
            lambda: cut.remove_obstacle(1),
        ],
        more=[more],
    )
