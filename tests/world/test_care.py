"""What a careful user runs into: closed and dear ground, roofs, flat blocks, empty batches, settings that are none."""

import numpy as np
import pytest

from tests.world.levels import EVERYBODY, WEST, courtyard, high, pairs
from wayfold import Agent, Box, Mesh, Status, World
from wayfold.errors import OffMapError, ParameterError, WayfoldError


def box(low, high):
    return Box(low, high).mesh()


def strips():
    """Ground, grass and ground again, side by side."""
    vertices, triangles, materials = [], [], []
    for near, far, kind in ((0, 10, 0), (10, 14, 1), (14, 24, 0)):
        at = len(vertices)
        vertices += [(near, 0, 0), (far, 0, 0), (far, 10, 0), (near, 10, 0)]
        triangles += [(at, at + 1, at + 2), (at, at + 2, at + 3)]
        materials += [kind, kind]
    mesh = Mesh(np.array(vertices, float), np.array(triangles), np.array(materials), ("ground", "grass"))
    return World.from_mesh(mesh, cache=False)


def test_a_cost_multiplies_what_an_agent_thinks_of_the_ground_and_opens_nothing():
    world = strips()
    closed, dear, plain = (world.planner(costs=costs) for costs in ({"grass": np.inf}, {"grass": 4.0}, None))
    a, b = (3.0, 5.0, 0.0), (20.0, 5.0, 0.0)
    assert not closed.reachable(a, b)
    assert dear.distance(a, b) == pytest.approx(13 + 4 * 4, abs=0.8)
    over = world.set_cost(Box((8, -1, -1), (16, 11, 2)), 2.0)
    assert not closed.reachable(a, b)
    assert dear.distance(a, b) == pytest.approx(9 + 2 * 4 + 4 * 4 * 2, abs=1.5)
    assert plain.distance(a, b) == pytest.approx(9 + 8 * 2, abs=1.0)
    world.set_cost(Box((8, -1, -1), (16, 11, 1)), 3.0)  # the later one counts
    assert dear.distance(a, b) == pytest.approx(9 + 3 * 4 + 4 * 4 * 3, abs=2.0)
    world.set_cost(Box((8, -1, -1), (16, 11, 1)), 1.0)
    world.set_cost(over, 1.0)
    assert dear.distance(a, b) == pytest.approx(13 + 4 * 4, abs=0.8)


def test_nobody_is_put_on_ground_that_is_closed_to_them():
    world = strips()
    planner = world.planner(costs={"grass": np.inf})
    x = planner.random_points(200)[:, 0]
    assert not ((x > 10.4) & (x < 13.6)).any()
    assert x.max() - x.min() < 11  # one side only: the other is not connected
    on_grass = planner.paths([(12.0, 5.0, 0.0)], [(12.0, 6.0, 0.0)])[0]
    assert on_grass.status is planner.path((12.0, 5.0, 0.0), (12.0, 6.0, 0.0)).status is Status.UNREACHABLE


def test_the_nearest_place_is_beside_the_wall_and_not_on_the_roof():
    side, thick = 12, 0.2
    walls = [
        box((0, 0, 0), (thick, side, 3)),
        box((side - thick, 0, 0), (side, side, 3)),
        box((0, 0, 0), (side, thick, 3)),
        box((0, side - thick, 0), (side, side, 3)),
    ]
    house = Mesh.concatenate([box((0, 0, -1), (side, side, 0)), *walls, box((0, 0, 3), (side, side, 4))])
    planner = World.from_mesh(house, cache=False).planner()
    rng = np.random.default_rng(0)
    for _ in range(40):
        point = np.array([rng.uniform(0.22, 0.6), rng.uniform(1, 11), rng.uniform(0.0, 0.5)])
        place = planner.nearest(point)
        assert place[2] < 0.2
        assert np.linalg.norm(place - point) < 0.9
    np.testing.assert_allclose(planner.nearest((0.7, 6.0)), planner.nearest((0.7, 6.0, 0.0)), atol=4.1)


def test_exact_is_never_dearer_than_quick_where_costs_differ():
    world = World.from_mesh(box((0, 0, -1), (30, 30, 0)), cache=False)
    planner = world.planner()
    world.set_cost(Box((10, 0, -1), (20, 24, 1)), 6.0)
    starts, goals = pairs(planner, 60)
    quick = np.array([planner.distance(start, goal) for start, goal in zip(starts, goals, strict=True)])
    exact = np.array([planner.path(*ends, exact=True).cost for ends in zip(starts, goals, strict=True)])
    assert (exact <= quick + 1e-9).all()


def test_a_batch_by_subregions_is_what_each_query_gives():
    world = World.sample("city", size=(60.0, 60.0), seed=2, cache=False)
    planner = world.planner(accelerator="subregions")
    starts, goals = pairs(planner, 30)
    for start, goal, path in zip(starts, goals, planner.paths(starts, goals), strict=True):
        assert path.cost == planner.path(start, goal).cost


def test_points_without_a_height_are_the_same_everywhere():
    world = World.from_mesh(box((0, 0, 49), (20, 10, 50)), cache=False)
    for options in ({}, {"map": "sparse-grid"}):
        planner = world.planner(**options)
        field = planner.field((15, 5))
        cost = planner.path((5, 5), (15, 5)).cost
        assert field.path((5, 5)).cost == pytest.approx(cost)
        assert field.cost([(5, 5)]) == pytest.approx(cost)
        assert planner.paths([(5, 5)], [(15, 5)])[0].cost == pytest.approx(cost)
        np.testing.assert_allclose(field.direction([(5, 5)]), [(1, 0, 0)], atol=0.1)


@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
def test_batches_may_be_empty_and_wrong_ones_get_a_sentence(opened, agent):
    planner = opened.planner(agent)
    here = high(WEST, agent)
    assert len(planner.paths([], [])) == len(planner.paths(np.empty((0, 3)), [here])) == 0
    for wrong in ([[1, 2, 3], [1, 2]], "ab", [[1, 2, 3, 4]], [[np.nan, 0, 0]]):
        with pytest.raises(WayfoldError):
            planner.paths(wrong, [here])
    for wrong in ([here, here], np.empty((0, 3)), "x"):
        with pytest.raises(ParameterError, match="point"):
            planner.nearest(wrong)
    assert planner.field(here).cost([here]) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
def test_where_everything_is_blocked_there_are_no_random_points(world, agent):
    planner = world.planner(agent)
    world.block(Box((-100, -100, -100), (100, 100, 100)))
    with pytest.raises(OffMapError, match="blocked"):
        planner.random_points(3)


@pytest.mark.parametrize(
    "options",
    [
        {"kinds": 3},
        {"content": 1},
        {"mesh": 1},
        {"map": "waypoints", "foo": 3},
        {"map": "waypoints", "motions": 7},
        {"costs": [1]},
        {"costs": {"ground": "x"}},
        {"costs": {"ground": None}},
        {"costs": {"ground": float("nan")}},
        {"costs": {1: 2.0}},
    ],
)
def test_a_setting_that_there_is_not_gets_a_sentence(opened, options):
    with pytest.raises(ParameterError):
        opened.planner(**options)


@pytest.mark.parametrize("closed", ["water", None, [1]])
def test_closed_materials_are_a_list_of_names(closed):
    with pytest.raises(ParameterError, match="closed"):
        World.from_mesh(courtyard(), closed=closed)


@pytest.mark.parametrize("file", [None, b"x", 3])
def test_a_file_is_named_by_a_string(file):
    with pytest.raises(ParameterError, match="names a file"):
        World.open(file)


def test_steep_agents_do_not_make_cells_of_millimetres():
    world = World.from_mesh(box((0, 0, -1), (20, 10, 0)), cache=False)
    planner = world.planner(Agent(slope=90.0))
    assert planner.notes.settings["cell_size"] >= 0.05 - 1e-9
    assert planner.path((2, 5), (18, 5)).found


@pytest.mark.parametrize("top", [0.01, 0.06, 0.3])
def test_a_flat_block_stops_walkers_as_a_tall_one_does(top):
    world = World.from_mesh(box((0, 0, -1), (20, 10, 0)), cache=False)
    for options in ({}, {"map": "sparse-grid"}):
        planner = world.planner(**options)
        assert planner.reachable((3, 5, 0), (17, 5, 0))
        shape = world.block(Box((9, -1, -0.5), (11, 11, top)))
        assert not planner.reachable((3, 5, 0), (17, 5, 0))
        world.unblock(shape)
    world.block(Box((9, -1, -0.5), (11, 11, 0.0)))  # ends at the ground
    assert world.reachable((3, 5, 0), (17, 5, 0))


def test_a_point_that_is_no_cell_is_told_the_nearest():
    world = World.from_mesh(box((0, 0, -1), (20, 10, 0)), cache=False)
    with pytest.raises(OffMapError, match="nearest place"):
        world.planner(map="sparse-grid").path((-2, 5, 0), (5, 5, 0))
