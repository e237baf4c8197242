"""Worlds of cells and meshes as cells: queries that agree with each other, edits that equal a fresh world."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive_grid
from tests.draws import seeds
from tests.strategies import kind_grids
from tests.world.edits import edits, make, same_zones
from tests.world.levels import BIRD, PERSON, courtyard, pairs
from wayfold import Agent, Box, Mesh, SparseGrid, Status, World
from wayfold.errors import EditError, GeometryError, OffMapError, ParameterError
from wayfold.formats import load_map, load_scen
from wayfold.formats.movingai import MovingAiMap

pytestmark = pytest.mark.kernels
CART = Agent(radius=0.7, height=1.6, climb=0.2, slope=20.0)
_LETTERS = np.frombuffer(b"@.W", np.uint8)


def world_of(kinds):
    return World.from_map(MovingAiMap(_LETTERS[np.asarray(kinds, np.uint8)]), cache=False)


@pytest.fixture(scope="module")
def maze():
    """A world that tests leave as they found it."""
    return World.sample("maze", cache=False)


@pytest.fixture(scope="module")
def yard():
    return World.from_mesh(courtyard(), cache=False)


def planners(maze, yard):
    return [
        maze.planner(),
        maze.planner(accelerator="none"),
        yard.planner(PERSON, map="sparse-grid"),
        yard.planner(CART, map="sparse-grid", cell=0.5, accelerator="none"),
    ]


def test_what_a_planner_answers_agrees_with_itself(maze, yard):
    for planner in planners(maze, yard):
        assert planner.map_name == "sparse-grid"
        starts, goals = pairs(planner, 8)
        one_by_one = [planner.path(start, goal) for start, goal in zip(starts, goals, strict=True)]
        for workers in (1, 2):
            for one, other in zip(one_by_one, planner.paths(starts, goals, workers=workers), strict=True):
                assert one.status is other.status
                assert one.cost == other.cost
                np.testing.assert_array_equal(one.points, other.points)
        for start, goal, path in zip(starts, goals, one_by_one, strict=True):
            assert path.found
            assert planner.reachable(start, goal)
            assert planner.distance(start, goal) == path.cost
            exact = planner.path(start, goal, exact=True)
            assert planner.plain(start, goal).cost == exact.cost <= path.cost + 1e-9
            np.testing.assert_allclose(path.points[[0, -1]], [start, goal], atol=1e-9)
            np.testing.assert_allclose(planner.nearest(start), start, atol=1e-9)
            smooth = path.smooth()
            assert smooth.length <= path.length + 1e-9
            np.testing.assert_allclose(smooth.points[[0, -1]], [start, goal], atol=1e-9)
        if planner.accelerator_name == "none":
            assert [path.cost for path in one_by_one] == [
                planner.plain(*ends).cost for ends in zip(starts, goals, strict=True)
            ]


def test_the_cells_that_a_search_settles_hold_its_path(maze, yard):
    for planner in planners(maze, yard):
        start, goal = (places[0] for places in pairs(planner, 1, seed=5))
        touched = {tuple(np.round(point, 6)) for point in planner.expanded(start, goal)}
        assert {tuple(np.round(point, 6)) for point in planner.path(start, goal).points} <= touched
    quick, plain = planners(maze, yard)[:2]
    assert len(quick.expanded((1, 1), (39, 39))) < len(plain.expanded((1, 1), (39, 39)))


def test_a_field_holds_the_paths_of_plain_search_from_everywhere(maze, yard):
    for planner in planners(maze, yard):
        starts, goals = pairs(planner, 8, seed=3)
        field = planner.field(goals[0])
        costs = [planner.plain(start, goals[0]).cost for start in starts]
        np.testing.assert_allclose(field.cost(starts), costs, rtol=1e-9)
        for start, cost, path in zip(starts, costs, field.paths(starts), strict=True):
            np.testing.assert_allclose(path.points[[0, -1]], [start, goals[0]], atol=1e-9)
            assert path.cost == pytest.approx(cost)
        assert field.path(goals[0]).cost == 0.0


def test_a_field_stays_with_the_world_as_it_was():
    world = world_of(np.ones((5, 9)))
    planner = world.planner()
    field = planner.field((8, 2))
    before = field.path((0, 2))
    world.block(Box((3.5, -1, -1), (4.5, 9, 1)))
    assert not planner.reachable((0, 2), (8, 2))
    np.testing.assert_array_equal(field.path((0, 2)).points, before.points)
    assert planner.field((8, 2)).path((0, 2)).status is Status.UNREACHABLE
    assert planner.field((8, 2)).cost([(0, 2), (6, 2)]).tolist() == [np.inf, 2.0]


@given(kind_grids(), st.data())
@settings(max_examples=60)
def test_costs_count_where_cells_are_entered_also_on_the_way_of_a_field(kinds, data):
    world = world_of(np.pad(kinds, 1, constant_values=1))
    make(world, data.draw(edits(10.0, most=4)))
    planner = world.planner(accelerator="none")
    cells = planner.map.cells
    if not len(cells):
        return
    start, goal = (cells[data.draw(st.integers(0, len(cells) - 1))] for _ in range(2))
    path = planner.path(start, goal)
    effects = planner.map.effects(path.points[1:]) if len(path.points) > 1 else np.zeros(0)
    steps = np.linalg.norm(np.diff(path.points, axis=0), axis=1)
    assert path.cost == (pytest.approx((steps * (1 + effects)).sum()) if path else np.inf)
    assert planner.field(goal).cost([start])[0] == pytest.approx(path.cost)


def test_ground_connects_to_ground_and_water_to_water():
    planner = world_of([[1, 1, 2, 2], [1, 1, 2, 2]]).planner()
    assert planner.reachable((0, 0), (1, 1))
    assert planner.reachable((2, 0), (3, 1))
    assert planner.path((0, 0), (3, 0)).status is Status.UNREACHABLE


def test_points_are_rounded_to_cells_and_those_without_a_cell_are_off_the_map():
    planner = world_of([[1, 1, 1], [1, 0, 1], [1, 1, 1]]).planner()
    np.testing.assert_array_equal(planner.path((0.4, -0.4), (1.6, 2.2)).points[[0, -1]], [(0, 0, 0), (2, 2, 0)])
    for wrong in ((1, 1), (-0.6, 0), (0, 0, 1), (1e9, 0)):
        with pytest.raises(OffMapError, match="start"):
            planner.path(wrong, (0, 0))
    with pytest.raises(OffMapError, match=r"starts\[1\]"):
        planner.paths([(0, 0), (1, 1)], (2, 2))
    with pytest.raises(OffMapError):
        planner.nearest((50, 50))
    np.testing.assert_array_equal(planner.nearest((1.1, 1.0)), (2, 1, 0))
    np.testing.assert_array_equal(planner.nearest((7, 2)), (2, 2, 0))


def test_a_mesh_is_walked_in_metres(yard):
    planner = yard.planner(PERSON, map="sparse-grid")
    path = planner.path((3.0, 5.0, 0.0), (21.0, 5.0))
    assert path.length == pytest.approx(18.0, rel=0.15)
    np.testing.assert_allclose(path.points[:, 2], 0.0, atol=planner.map.scale[2])
    with pytest.raises(OffMapError):
        planner.path((3.0, 5.0, 9.0), (21.0, 5.0, 0.0))
    with pytest.raises(OffMapError):
        planner.path((26.0, 5.0, 0.0), (21.0, 5.0, 0.0))
    assert 2.0 < np.linalg.norm(planner.nearest((26.0, 5.0, 0.0)) - (26.0, 5.0, 0.0)) < 3.0
    with pytest.raises(OffMapError):
        planner.nearest((60.0, 5.0, 0.0))


def test_a_planner_says_what_it_is(maze, yard):
    text = maze.planner().explain()
    for words in ("sparse-grid", "size does not count", "regions", "bytes"):
        assert words in text
    assert "cell 0.375" in yard.planner(PERSON, map="sparse-grid").explain()


@pytest.mark.parametrize(
    ("agent", "options"),
    [
        (BIRD, {"map": "sparse-grid"}),
        (Agent(radius=1.0), {"map": "sparse-grid"}),
        (PERSON, {"map": "sparse-grid", "drop": 3}),
        (PERSON, {"map": "sparse-grid", "accelerator": "hierarchy"}),
        (PERSON, {"map": "sparse-grid", "cell": -1.0}),
        (PERSON, {"map": "sparse-grid", "costs": {"grass": 2.0}}),
    ],
)
def test_choices_that_do_not_go_together_get_a_sentence(yard, agent, options):
    before = len(yard.planners)
    with pytest.raises(ParameterError):
        yard.planner(agent, **options)
    assert len(yard.planners) == before


def test_a_mesh_without_ground_gets_a_sentence():
    wall = Mesh([(0, 0, 0), (4, 0, 0), (4, 0, 3)], [(0, 1, 2)])
    with pytest.raises(GeometryError, match="no cell fits this agent"):
        World.from_mesh(wall, cache=False).planner(map="sparse-grid")


# --- edits -----------------------------------------------------------------------------------------------------------


def state_of(planner):
    """Everything that paths depend on: cells, their effects, and which of them are connected."""
    grid = planner.map
    table = grid.regions()
    order = np.lexsort(table.cells.T)
    links = {tuple(cell): sorted(map(tuple, grid.successors(cell).tolist())) for cell in grid.cells.tolist()}
    return grid.cells.tolist(), grid.effects(grid.cells).tolist(), links, table.cells[order].tolist()


@given(kind_grids(), st.data())
@settings(max_examples=80)
def test_edits_of_cells_equal_a_fresh_world(kinds, data):
    world = world_of(np.pad(kinds, 1, constant_values=1))
    planner = world.planner()
    make(world, data.draw(edits(10.0, most=12)))
    fresh = same_zones(world, world_of(np.pad(kinds, 1, constant_values=1)))
    assert state_of(planner) == state_of(fresh.planner())
    cells = planner.map.cells
    for start, goal in zip(cells[::5], cells[::-5], strict=True):
        for exact in (False, True):
            one, other = (which.planner().path(start, goal, exact=exact) for which in (world, fresh))
            assert one.status is other.status
            assert not exact or one.cost == pytest.approx(other.cost)
        assert planner.reachable(start, goal) == one.found


@given(kind_grids(), st.data())
@settings(max_examples=60)
def test_a_cell_is_there_exactly_when_no_block_covers_its_middle_and_costs_what_the_last_zone_says(kinds, data):
    world = world_of(kinds)
    planner = world.planner()
    make(world, data.draw(edits(9.0)))
    expected = {}
    for y, x in np.argwhere(kinds).tolist():
        middle = np.array([(x, y, 0.0)])
        if not any(block.contains(middle)[0] for block in world.blocks):
            inside = [cost for shape, cost in world.costs if shape.contains(middle)[0]]
            expected[x, y, 0] = inside[-1] if inside else 1.0
    grid = planner.map
    found = {
        tuple(cell): 1.0 + count for cell, count in zip(grid.cells.tolist(), grid.effects(grid.cells), strict=True)
    }
    assert found == expected


@given(st.data())
@settings(max_examples=15)
def test_edits_of_a_mesh_equal_a_fresh_world(yard_twice, data):
    mesh, cache = yard_twice
    world = World.from_mesh(mesh, cache=cache)
    planner = world.planner(PERSON, map="sparse-grid", cell=0.5)
    make(world, data.draw(edits(18.0, height=(-0.5, 1.0), step=0.5)))
    fresh = same_zones(world, World.from_mesh(mesh, cache=cache)).planner(PERSON, map="sparse-grid", cell=0.5)
    assert state_of(planner) == state_of(fresh)
    middles = planner.map.to_world(planner.map.cells)
    body = {"radius": PERSON.radius - 1e-9, "above": PERSON.height - 0.1}
    for block in world.blocks:
        assert not block.hit_by(middles, middles, **body).any()


@pytest.fixture(scope="module")
def yard_twice(tmp_path_factory):
    return courtyard(), tmp_path_factory.mktemp("cache")


def test_a_block_moves_the_path_and_unblocking_brings_it_back(yard):
    world = World.from_mesh(yard.mesh, cache=False)
    planner = world.planner(PERSON, map="sparse-grid")
    start, goal = (3.0, 5.0, 0.0), (21.0, 5.0, 0.0)
    before = planner.path(start, goal)
    gap = world.block(Box((11, 2.5, -0.5), (13, 7.5, 4.5)))
    after = planner.path(start, goal)
    assert after.length > before.length + 1.0
    assert not gap.hit_by(after.points[:-1], after.points[1:], radius=PERSON.radius - 0.25, above=1.0).any()
    world.unblock(gap)
    assert planner.path(start, goal).cost == pytest.approx(before.cost)
    world.block(Box((4, 2, 1.5), (8, 8, 4)))  # at head height
    with pytest.raises(OffMapError):
        planner.path((6, 5, 0), goal)
    world.block(Box((14, 2, 2.5), (18, 8, 4)))  # above the head
    assert planner.path((16, 5, 0), goal)


def test_a_path_that_lost_cells_is_not_smoothed_and_others_are():
    world = world_of(np.ones((9, 9)))
    planner = world.planner()
    path, other = planner.path((0, 0), (8, 4)), planner.path((0, 8), (4, 8))
    world.block(Box((3, -1, -1), (5, 6, 1)))
    np.testing.assert_array_equal(path.smooth().points, path.points)
    np.testing.assert_array_equal(other.smooth().points, [(0, 8, 0), (4, 8, 0)])


@pytest.mark.parametrize("cost", [0.5, 2.5, 9.0])
def test_costs_that_area_effects_cannot_say_are_refused_and_change_nothing(cost):
    world = world_of(np.ones((4, 4)))
    planner = world.planner()
    with pytest.raises(EditError, match="2, 3, 4, 5, 6, 7, 8"):
        world.set_cost(Box((0, 0, -1), (2, 2, 1)), cost)
    assert world.costs == ()
    assert not planner.map.effects(planner.map.cells).any()
    finer = world_of(np.ones((4, 4)))
    finer.planner(effect_cost=0.75)
    finer.set_cost(Box((0, 0, -1), (2, 2, 1)), 2.5)
    assert finer.planner(effect_cost=0.75).distance((0, 0), (2, 0)) == pytest.approx(5.0)


def test_queries_beside_edits_see_the_world_before_or_after_one_whole():
    world = world_of(np.ones((20, 20)))
    planner = world.planner()
    wall = Box((9.5, -1, -1), (10.5, 18.5, 1))
    costs = {planner.distance((0, 0), (19, 0))}
    world.block(wall)
    costs.add(planner.distance((0, 0), (19, 0)))
    world.unblock(wall)
    assert len(costs) == 2
    seen: list[float] = []
    done = threading.Event()

    def ask():
        while not done.is_set():
            path = planner.path((0, 0), (19, 0))
            seen.append(path.cost)
            path.smooth()

    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask) for _ in range(4)]
        try:
            for _ in range(50):
                world.block(wall)
                world.unblock(wall)
        finally:
            done.set()
        for each in asking:
            each.result()
    assert set(seen) <= costs


# --- the cache -------------------------------------------------------------------------------------------------------


def test_a_grid_that_was_built_once_is_read_the_next_time_and_can_be_edited(tmp_path):
    first = World.from_mesh(courtyard(), cache=tmp_path).planner(CART, map="sparse-grid", cell=0.5)
    world = World.from_mesh(courtyard(), cache=tmp_path)
    second = world.planner(CART, map="sparse-grid", cell=0.5)
    assert first.notes.cached is None
    assert str(tmp_path) in second.explain()
    assert state_of(first) == state_of(second)
    start, goal = (3.0, 5.0, 0.0), (21.0, 5.0, 0.0)
    assert second.reachable(start, goal)
    world.block(Box((11, 2.5, -0.5), (13, 7.5, 4.5)))
    assert not second.reachable(start, goal)
    assert World.from_mesh(courtyard(), cache=tmp_path).planner(CART, map="sparse-grid", cell=0.6).notes.cached is None


# --- real maps -------------------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize("name", ["arena2", "lak202d", "orz103d"])
def test_exact_paths_on_real_maps_are_as_long_as_their_scenarios_say(data, name):
    file = data / "movingai" / "dao" / f"{name}.map"
    planner = World.open(file, cache=False).planner()
    assert isinstance(planner.map, SparseGrid)
    assert planner.map.num_cells == (load_map(file).kinds > 0).sum()
    scenarios = load_scen(file.with_suffix(".map.scen"))
    for row in [scenarios[at] for at in range(0, len(scenarios), max(1, len(scenarios) // 100))]:
        exact = planner.path(row.start, row.goal, exact=True)
        if row.length == 0:
            assert row.start == row.goal or not exact
            continue
        slack = max(1e-4, 0.51 * 10 ** (np.floor(np.log10(row.length)) - 5))
        assert exact.cost == pytest.approx(row.length, abs=slack)
        quick = planner.path(row.start, row.goal)
        assert exact.cost <= quick.cost + 1e-6
        assert planner.reachable(row.start, row.goal)
    start, goal = row.start, row.goal
    assert planner.field(goal).cost([start])[0] == pytest.approx(planner.path(start, goal, exact=True).cost)


@seeds(8)
def test_a_path_costs_the_sum_of_its_steps_in_zones(seed):
    rng = np.random.default_rng(seed)
    kinds = (rng.random((int(rng.integers(5, 20)), int(rng.integers(5, 20)))) > 0.15).astype(np.uint8)
    world = world_of(kinds)
    planner = world.planner()
    for cost in (3.0, 2.0):
        low = rng.uniform(0, 8, 2)
        world.set_cost(Box((*low, -1), (*(low + rng.uniform(1, 9, 2)), 1)), cost)
    cells = [(int(x), int(y), 0) for y, x in np.argwhere(kinds)]
    plain = naive_grid.NaiveGrid(max_step=1)
    plain.add(cells)
    for cell, effects in zip(cells, planner.map.effects(cells).tolist(), strict=True):
        plain.effect([cell] * effects, 1)
    weight = planner.map.effect_cost
    for _ in range(8):
        start, goal = (cells[at] for at in rng.choice(len(cells), 2))
        best = plain.costs(start, weight).get(goal, np.inf)
        assert planner.path(start, goal, exact=True).cost == pytest.approx(best, rel=1e-9)
        path = planner.path(start, goal)
        assert path.found == np.isfinite(best)
        if path:
            assert path.cost == pytest.approx(naive_grid.path_cost(plain, {}, path.points, weight), rel=1e-9)
            pulled = path.smooth()
            assert pulled.cost == pytest.approx(
                naive_grid.path_cost(plain, {}, pulled.points, weight, straight=True), rel=1e-9
            )
            assert planner.paths([start], [goal])[0].cost == path.cost
