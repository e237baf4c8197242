"""Queries of four threads beside edits: every answer is one from before or after an edit, and nothing ends badly."""

from __future__ import annotations

import copy
import pickle
import tempfile
import threading
import time
from contextlib import suppress

import numpy as np
import pytest
import shapely

from tests.hardening import things
from wayfold import (
    Agent,
    Box,
    Graph,
    Hierarchy,
    Mesh,
    Motion,
    NavMesh,
    SparseGrid,
    SubregionGraph,
    WaypointGraph,
    World,
)
from wayfold.errors import EditError, OffMapError, WayfoldError
from wayfold.formats import Map3D, MovingAiMap
from wayfold.waypoints import VoxelWaypoints

pytestmark = pytest.mark.kernels

SECONDS = 1.0


def beside(queries, edits, *, refused=(), seconds=SECONDS):
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
    end = time.monotonic() + seconds
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


def in_all_states(make, query, edits):
    """Answers before the edits and after each of them."""
    thing = make()
    found = {query(thing)}
    for edit in edits(thing):
        edit()
        found.add(query(thing))
    return found


def check(make, query, edits, *, more=(), refused=()):
    """Answers beside edits, which lead back to where they began, are those without threads."""
    expected = in_all_states(make, query, edits)
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
        lambda grid: cost(grid.path((0, 0), (19, 0), exact=True)),
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
        made.reachable(0, 143, motions=made.default_motions)
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
        painted[0] = ground.changed([(spot, 9.0)])
        painted[0].path((1, 8), (9, 8))
        ground.with_weights({"swamp": 2.0}).path((1, 1), (9, 9), radius=0.1)

    expected = {cost(ground.path((1, 8), (9, 8))), cost(ground.changed([(spot, 9.0)]).path((1, 8), (9, 8)))}
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
        lambda cut: cost(cut.path((1, 1), (11, 1), exact=True)),
        lambda cut: [
            lambda: cut.add_obstacle(shapely.box(7, 0, 8, 7)),
            lambda: cut.remove_obstacle(1),
        ],
        more=[more],
    )


# --- copies beside edits ---------------------------------------------------------------------------------------------


def by_pickle(thing):
    return pickle.loads(pickle.dumps(thing))


def by_file(thing):
    with tempfile.TemporaryDirectory() as folder:
        thing.save(f"{folder}/it.wayfold")
        return type(thing).load(f"{folder}/it.wayfold")


def check_copies(make, told, edits, *, refused=()):
    """Pickles, deep copies and files beside edits are the object between two edits, and can be edited in turn.

    `told` says everything about an object that an edit changes.
    """
    expected = in_all_states(make, told, edits)
    assert len(expected) > 1
    thing = make()

    def edited(way):
        copied = way(thing)
        answer = told(copied)
        for edit in edits(copied):
            edit()
            assert told(copied) in expected
        return answer

    def ask():
        with suppress(WayfoldError):  # an edit may come between two questions
            told(thing)

    ways = [by_pickle, copy.deepcopy]
    # Subregions are saved without their waypoints; voxels whose waypoints were edited by hand are not saved at all.
    if hasattr(thing, "save") and not isinstance(thing, SubregionGraph | VoxelWaypoints):
        ways.append(by_file)
    queries = [*(lambda way=way: told(way(thing)) for way in ways), ask]
    got = beside(queries, list(edits(thing)), refused=refused, seconds=SECONDS / 2) - {None}
    assert got
    assert got <= expected
    for way in ways:
        assert edited(way) in expected
    with pytest.raises(ZeroDivisionError):  # a copy that fails holds nobody off
        pickle.dumps((thing, _Fails()))
    with pytest.raises(ZeroDivisionError):
        _inside(thing, _Fails(), pickle.dumps)
    with pytest.raises(ZeroDivisionError):
        _inside(thing, _Fails(), copy.deepcopy)
    editor = threading.Thread(target=lambda: [edit() for edit in edits(thing)])
    editor.start()
    editor.join(30)
    assert not editor.is_alive()


class _Fails:
    """What cannot be copied."""

    def __reduce__(self):
        raise ZeroDivisionError


def _inside(thing, part, way):
    """Copy an object of which a part cannot be copied."""
    thing.broken = part
    try:
        way(thing)
    finally:
        del thing.broken


def costs(thing, pairs, **options):
    return tuple(cost(thing.path(*pair, **options)) for pair in pairs)


def test_copies_of_a_sparse_grid_beside_edits():
    def told(grid):
        cells = grid.cells
        rows = [[(0, y), (19, y)] for y in (0, 5, 11, 18)]
        seen = tuple(map(tuple, cells[np.lexsort(cells.T)].tolist()))
        return seen, costs(grid, rows, exact=True), int(grid.effects(cells).sum()), grid.num_regions

    check_copies(
        lambda: SparseGrid.from_cells([(x, y) for x in range(20) for y in range(20)], 8),
        told,
        lambda grid: [
            lambda: grid.remove(WALL),
            lambda: grid.add_link((0, 0), (19, 0), cost=22.5),
            lambda: grid.add(WALL),
            lambda: grid.add_effect([(5, y) for y in range(20)]),
            grid.compact,
            lambda: grid.remove_effect([(5, y) for y in range(20)]),
            lambda: grid.remove_link((0, 0), (19, 0)),
        ],
    )


def test_copies_of_a_hierarchy_beside_edits():
    edges = things.grid_edges(20, 20)
    points = np.column_stack([np.tile(np.arange(20.0), 20), np.repeat(np.arange(20.0), 20)])
    graph = Graph.from_edges(points, edges, costs=np.ones(len(edges)))
    row = [(9 + 20 * y, 10 + 20 * y) for y in range(19)]
    pairs = [(20 * y, 20 * y + 19) for y in range(0, 20, 3)]

    def told(made):
        return costs(made, pairs, level=2), costs(made, pairs), costs(made.graph, pairs)

    check_copies(
        lambda: Hierarchy.build(graph, merge=4, levels=3, workers=1),
        told,
        lambda made: [
            lambda: made.update(row, 7.0),
            lambda: made.update(row[:10], np.inf),
            made.refresh,
            lambda: made.customise(workers=1),
        ],
    )


def test_copies_of_a_navigation_mesh_beside_edits():
    wall = Mesh.concatenate([things.floors(), things.box((4, -1, 0), (5, 1.2, 3))])
    area = [(4, -1, 0), (5, 1.2, 3)]

    def told(mesh):
        path = mesh.path((-5, -5, 0), (13, -5, 2), costs={1: 2.0})
        return mesh.num_polygons, mesh.num_links, cost(path), cost(mesh.path((-5, -5, 0), (13, -5, 2), exact=False))

    check_copies(
        lambda: NavMesh.build(things.floors(), things.AGENT, cell_size=0.25, tile_size=16, workers=1),
        told,
        lambda mesh: [
            lambda: mesh.rebuild(area, wall, workers=1),
            lambda: mesh.add_link((-5, -4, 0), (13, -4, 2), cost=3.0),
            mesh.clear_links,
            lambda: mesh.rebuild(area, things.floors(), workers=1),
        ],
    )


def edits_of_waypoints(made, follow):
    return [
        lambda: follow(made.update(remove=GATE)),
        lambda: follow(
            made.update([(0, made.num_waypoints), (made.num_waypoints, 11)], add_waypoints=[(5.5, 3.0, 0.0)])
        ),
        lambda: follow(made.update(remove_waypoints=[made.num_waypoints - 1])),
        lambda: follow(made.update(GATE)),
    ]


ROWS = [(12 * y, 12 * y + 11) for y in range(12)]


def test_copies_of_waypoints_beside_edits():
    def told(made):
        return costs(made, ROWS), int(made.usable(made.default_motions).sum()), made.num_edges

    check_copies(plain_waypoints, told, lambda made: edits_of_waypoints(made, lambda edit: edit))


def test_copies_of_subregions_beside_repairs():
    def told(made):
        return costs(made, ROWS, exact=True), costs(made.waypoints, ROWS)

    check_copies(
        lambda: SubregionGraph.build(plain_waypoints()),
        told,
        lambda made: edits_of_waypoints(made.waypoints, made.repair),
        refused=(EditError,),  # between an update and its repair
    )


def test_copies_of_voxel_waypoints_beside_edits():
    def told(made):
        free = made.usable(made.default_motions)
        return int(free.sum()), made.num_edges, tuple(made.graph.components().tolist())

    def edits(made):
        pairs = np.array([(a, b) for a, b in _edges(made.graph) if a < b])
        cut = pairs[: len(pairs) // 2]
        return [lambda: made.update(remove=cut), lambda: made.update(cut)]

    check_copies(things.voxels, told, edits)


def _edges(graph):
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    used = np.ones(len(sources), bool) if graph.motions is None else graph.motions > 0
    return np.column_stack([sources[used], graph.targets[used]]).tolist()


def test_copies_of_a_decomposition_beside_edits():
    def told(cut):
        ends = [((1, 1), (11, 1)), ((1, 8), (11, 1))]
        return cut.num_regions, len(cut.gateways), len(cut.plan.obstacles), costs(cut, ends, exact=True)

    check_copies(
        lambda: things.FloorPlan(shapely.box(0, 0, 12, 9), [shapely.box(3, 0, 4, 6)]).decompose(),
        told,
        lambda cut: [lambda: cut.add_obstacle(shapely.box(7, 0, 8, 7)), lambda: cut.remove_obstacle(1)],
    )


def test_copies_of_a_terrain_beside_queries():
    spot = shapely.box(2, 6, 4, 9)
    ground = [things.terrain()]

    def paint():
        ground[0] = things.terrain()
        ground[0].changed([(spot, 9.0)]).path((1, 8), (9, 8), radius=0.1)

    def told(terrain):
        return cost(terrain.path((1, 8), (9, 8))), cost(terrain.path((1, 8), (9, 8), radius=0.1)), terrain.min_weight

    expected = {told(ground[0])}
    queries = [lambda: told(by_pickle(ground[0])), lambda: told(copy.deepcopy(ground[0])), lambda: told(ground[0])]
    assert beside(queries, [paint], seconds=SECONDS / 2) == expected


FLYER = Agent(radius=0.3, height=0.6, motions=Motion.VOLUMETRIC)
VOXELS = Map3D(np.array([7, 7, 3], np.int32), np.array([(3, y, z) for y in range(3) for z in range(3)], np.int32))
WORLDS = {
    "navmesh": (lambda: World.from_mesh(things.floors(), cache=False), things.AGENT, {"cell_size": 0.25}),
    "waypoints": (lambda: World.from_mesh(things.floors(), cache=False), FLYER, {"region_size": 8.0}),
    "sparse-grid": (lambda: World.from_mesh(things.floors(), cache=False), things.AGENT, {"map": "sparse-grid"}),
    "voxels": (lambda: World.from_map(VOXELS, cache=False), FLYER, {}),
    "terrain": (lambda: World.from_terrain(things.terrain(), cache=False), Agent(radius=0.1), {}),
}


@pytest.mark.parametrize("kind", WORLDS)
def test_copies_of_a_world_and_its_planners_beside_edits(kind):
    make, agent, settings = WORLDS[kind]

    def world():
        made = make()
        made.planner(agent, **settings)
        return made

    first = world()
    ends = first.planner(agent, **settings).random_points(6, seed=3)
    low, high = first.bounds
    middle = (low + high) / 2
    wall = Box((middle[0] - 0.6, low[1] - 1, low[2] - 1), (middle[0] + 0.4, middle[1] + 1.2, high[2] + 1))

    def told(world):
        planner = world.planner(agent, **settings)
        found = []
        for start, goal in zip(ends[:3], ends[3:], strict=True):
            try:
                found.append(cost(planner.path(start, goal)))
            except OffMapError:
                found.append("blocked")
        return len(world.blocks), planner.edits % 2, tuple(found)

    edits = lambda world: [lambda: world.block(wall), lambda: world.unblock(wall)]  # noqa: E731
    check_copies(world, told, edits)
    # A planner travels with its world.
    shared = world()
    planner = shared.planner(agent, **settings)
    expected = in_all_states(world, told, edits)
    got = beside(
        [lambda: told(by_pickle(planner).world), lambda: told(copy.deepcopy(planner).world)],
        edits(shared),
        seconds=SECONDS / 2,
    )
    assert got <= expected


# --- maps of planners ------------------------------------------------------------------------------------------------


def test_a_planner_is_asked_while_links_of_its_mesh_come_and_go():
    def more(planner):
        assert all(path.found for path in planner.paths([(-5, -5, 0)] * 3, [(13, -5, 2)] * 3, workers=2))
        assert planner.field((13, -5, 2)).path((-5, -5, 0)).found
        assert planner.reachable((-5, -5, 0), (13, -5, 2))
        exact = planner.path((-5, -5, 0), (13, -5, 2), exact=True)
        assert exact.lower_bound <= exact.cost

    check(
        lambda: World.from_mesh(things.floors(), cache=False).planner(things.AGENT, cell_size=0.25),
        lambda planner: cost(planner.path((-5, -5, 0), (13, -5, 2), exact=True)),
        lambda planner: [
            lambda: planner.map.add_link((-5, -4, 0), (13, -4, 2), cost=3.0),
            lambda: planner.map.add_link((-5, -5, 0), (13, -5, 2), cost=0.5, both_ways=False),
            lambda: planner.map.clear_links(),
        ],
        more=[more],
    )


def test_links_that_come_or_go_while_the_world_is_edited_are_not_lost():
    world = World.from_mesh(things.floors(), cache=False)
    planner = world.planner(things.AGENT, cell_size=0.25)
    wall = Box((-4, -4, -1), (-3, -3, 3))
    prepare = planner._prepare
    between = []
    planner._prepare = lambda *args: (prepare(*args), [step() for step in between])[0]
    between.append(lambda: planner.map.add_link((-5, -4, 0), (13, -4, 2), cost=3.0))
    world.block(wall)
    assert planner.map.num_links == 1
    assert planner.path((-5, -4, 0), (13, -4, 2)).cost == pytest.approx(3.0)
    between[:] = [lambda: planner.map.clear_links()]
    world.unblock(wall)
    assert planner.map.num_links == 0
    assert planner.path((-5, -4, 0), (13, -4, 2)).cost > 18.0


def test_a_planner_is_asked_while_its_grid_is_edited():
    def make():
        return World.from_map(MovingAiMap(np.full((20, 20), ord("."), np.uint8)), cache=False).planner()

    def more(planner):
        assert len(planner.paths([(0, 0)] * 5, [(19, 0)] * 5, workers=2)) == 5
        planner.field((19, 0)).path((0, 0))
        planner.expanded((0, 0), (19, 0))
        planner.reachable((0, 0), (19, 0))
        planner.random_points(5)
        planner.explain()

    check(
        make,
        lambda planner: cost(planner.path((0, 0), (19, 0), exact=True)),
        lambda planner: [
            lambda: planner.map.add_link((0, 0), (19, 0), cost=19.5),
            lambda: planner.map.add_effect([(10, y) for y in range(20)]),
            lambda: planner.map.remove_effect([(10, y) for y in range(20)]),
            lambda: planner.map.remove_link((0, 0), (19, 0)),
        ],
        more=[more],
    )


def test_cells_that_are_taken_from_a_planner_s_grid_are_errors_and_no_more():
    world = World.from_map(MovingAiMap(np.full((20, 20), ord("."), np.uint8)), cache=False)
    planner = world.planner()
    planner.map.remove([(3, 3), (4, 4)])
    with pytest.raises(EditError, match=r"World\.block"):
        planner.path((3, 3), (9, 9))
    assert planner.path((1, 1), (9, 9)).found
    shape = world.block(Box((2.6, 2.6, -1), (5.4, 3.4, 1)))
    world.unblock(shape)
    assert planner.path((3, 3), (9, 9)).found  # the world gives it back
    world.set_cost(Box((3.6, 3.6, -1), (4.4, 4.4, 1)), 2.0)


def test_voxels_are_asked_while_they_are_edited():
    def edits(made):
        pairs = np.array([(a, b) for a, b in _edges(made.graph) if a < b])
        cut = pairs[: len(pairs) // 2]
        return [lambda: made.update(remove=cut), lambda: made.update(cut)]

    def more(made):
        made.path((1.0, 1.0, 1.0), (7.0, 6.0, 3.0))
        made.reachable((1.0, 1.0, 1.0), (7.0, 6.0, 3.0), motions=made.default_motions)

    last = things.voxels().num_waypoints - 1
    check(
        things.voxels,
        lambda made: cost(made.path(0, last)),
        edits,
        more=[more],
        refused=(OffMapError,),
    )


def test_a_world_of_voxels_is_asked_while_it_is_edited():
    wall = Box((2.6, -1, -1), (3.4, 4.4, 5))

    def more(planner):
        planner.paths([(0, 0, 0)] * 4, [(6, 0, 2)] * 4, workers=2)
        planner.field((6, 0, 2)).path((0, 0, 0))
        planner.expanded((0, 0, 0), (6, 0, 2))
        planner.reachable((0, 0, 0), (6, 0, 2))
        planner.nearest((3, 3, 1))
        planner.explain()
        planner.map._to_parts()

    check(
        lambda: World.from_map(VOXELS, cache=False).planner(FLYER),
        lambda planner: cost(planner.path((0, 0, 0), (6, 0, 2), exact=True)),
        lambda planner: [
            lambda: planner.world.block(wall),
            lambda: planner.world.set_cost(Box((-1, -1, -1), (2, 8, 4)), 3.0),
            lambda: planner.world.unblock(wall),
            lambda: planner.world.set_cost(Box((-1, -1, -1), (2, 8, 4)), 1.0),
        ],
        more=[more],
    )
