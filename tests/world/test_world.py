"""One world for every agent: choices, queries that agree with each other, the cache, and edits that reach everybody."""

import pickle

import numpy as np
import pytest
import shapely

from tests.world.levels import BIRD, CART, EAST, EVERYBODY, PERSON, SPIDER, WEST, courtyard, high, pairs
from wayfold import Agent, Box, Mesh, Motion, NavMesh, Prism, Status, Terrain, WaypointGraph, World
from wayfold.errors import EditError, OffMapError, ParameterError
from wayfold.formats import Map3D, MovingAiMap
from wayfold.path import Paths

WIDE_GAP = Box((11, 2.5, -0.5), (13, 7.5, 4.5))
NARROW_GAP = Box((11, 13.5, -0.5), (13, 16, 4.5))


@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
def test_every_agent_has_a_path_from_start_to_goal(opened, agent):
    start, goal = high(WEST, agent), high(EAST, agent)
    path = opened.path(start, goal, agent)
    assert path.status is Status.FOUND
    assert path.length == pytest.approx(18.0, rel=0.15)
    np.testing.assert_allclose(path.points[[0, -1], :2], [start[:2], goal[:2]])
    assert opened.planner(agent) is opened.planner(agent)


def test_walkers_get_a_navmesh_and_climbers_and_flyers_waypoints(opened):
    for agent, kind, name in ((PERSON, NavMesh, "hierarchy"), (CART, NavMesh, "hierarchy")):
        planner = opened.planner(agent)
        assert isinstance(planner.map, kind)
        assert planner.accelerator_name == name
    for agent in (SPIDER, BIRD):
        planner = opened.planner(agent)
        assert isinstance(planner.map, WaypointGraph)
        assert planner.accelerator_name == "subregions"


def check_batches(planner, starts, goals):
    """Batches hold the paths of single queries, quick or exact, whatever the number of threads."""
    for exact in (False, True):
        one_by_one = [planner.path(start, goal, exact=exact) for start, goal in zip(starts, goals, strict=True)]
        for workers in (1, 2):
            paths = planner.paths(starts, goals, exact=exact, workers=workers)
            assert isinstance(paths, Paths)
            np.testing.assert_array_equal(paths.found, [path.found for path in one_by_one])
            for one, other in zip(one_by_one, paths, strict=True):
                assert one.status is other.status
                assert one.cost == pytest.approx(other.cost)
                np.testing.assert_allclose(one.points, other.points)


@pytest.mark.parametrize("kind", ["cells", "voxels", "terrain"])
def test_batches_over_other_maps_hold_the_paths_of_single_queries(kind):
    rng = np.random.default_rng(4)
    if kind == "cells":
        letters = np.where(rng.random((30, 30)) < 0.3, ord("@"), ord("."))
        world = World.from_map(MovingAiMap(letters.astype(np.uint8)), cache=False)
    elif kind == "voxels":
        world = World.from_map(Map3D((12, 12, 12), np.argwhere(rng.random((12, 12, 12)) < 0.4)), cache=False)
    else:
        regions = [(shapely.box(0, 0, 9, 9), 1.0), (shapely.box(3, 0, 6, 8), 5.0)]
        world = World.from_terrain(Terrain(regions), cache=False)
    planner = world.planner(Agent(radius=0.2))
    starts, goals = pairs(planner, 12)
    check_batches(planner, starts, goals)
    assert len(planner.paths([], [])) == 0


@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
def test_what_a_planner_answers_agrees_with_itself(opened, agent):
    planner = opened.planner(agent)
    starts, goals = pairs(planner, 12)
    check_batches(planner, starts, goals)
    one_by_one = [planner.path(start, goal) for start, goal in zip(starts, goals, strict=True)]
    for start, goal, path in zip(starts, goals, one_by_one, strict=True):
        assert planner.reachable(start, goal) == path.found
        assert planner.distance(start, goal) == path.cost
        assert planner.plain(start, goal).cost <= path.cost * (1 + 1e-6)
        assert planner.path(start, goal, exact=True).cost <= path.cost * (1 + 1e-6)
        np.testing.assert_allclose(planner.nearest(start), start, atol=0.2)


@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
def test_a_field_holds_the_paths_of_plain_search_from_everywhere(opened, agent):
    planner = opened.planner(agent)
    starts, goals = pairs(planner, 12, seed=3)
    field = planner.field(goals[0])
    costs = [planner.plain(start, goals[0]).cost for start in starts]
    np.testing.assert_allclose(field.cost(starts), costs, rtol=1e-4)
    for start, path, way in zip(starts, field.paths(starts), field.direction(starts), strict=True):
        np.testing.assert_allclose(path.points[[0, -1]], [start, goals[0]], atol=0.2)
        assert np.linalg.norm(way) == pytest.approx(1.0)
    assert field.path(goals[0]).cost == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
def test_paths_can_be_smoothed_and_sent_to_another_process(opened, agent):
    planner = opened.planner(agent)
    starts, goals = pairs(planner, 12)
    paths = planner.paths(starts, goals)
    for path, other in zip(paths, pickle.loads(pickle.dumps(paths)), strict=True):
        assert path.smooth().length <= path.length + 1e-9
        np.testing.assert_array_equal(path.smooth().points[[0, -1]], path.points[[0, -1]])
        for sent in (other, pickle.loads(pickle.dumps(path))):
            np.testing.assert_array_equal(sent.points, path.points)
            assert (sent.cost, sent.status, sent.expanded) == (path.cost, path.status, path.expanded)
            if len(path.points) > 2:
                with pytest.raises(ParameterError, match="another process"):
                    sent.smooth()


@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
def test_what_a_search_touched_lies_in_the_world_and_holds_the_way(opened, agent):
    planner = opened.planner(agent)
    (start,), (goal,) = pairs(planner, 1, seed=5)
    touched = planner.expanded(start, goal)
    low, top = opened.bounds
    assert (touched >= low - 1).all()
    assert (touched <= top + 3).all()
    assert len(touched) >= planner.path(start, goal).expanded * 0.5
    with pytest.warns(DeprecationWarning, match=r"Planner\.touched is now expanded"):
        np.testing.assert_array_equal(planner.touched(start, goal), touched)


def test_ground_of_other_materials_costs_what_the_agent_says():
    x0, x1 = np.meshgrid(np.arange(20.0), np.arange(12.0), indexing="ij")
    low = np.column_stack([x0.ravel(), x1.ravel(), np.zeros(240)])
    quads = low[:, None] + np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
    corners = 4 * np.arange(240)[:, None]
    triangles = np.concatenate([corners + np.array(part) for part in ((0, 1, 2), (0, 2, 3))])
    middle = (np.abs(low[:, 0] - 9.5) < 3) & (low[:, 1] < 8)
    kinds = np.tile(np.where(middle, 1, 0), 2)
    world = World.from_mesh(Mesh(quads.reshape(-1, 3), triangles, kinds, ("road", "mud")), cache=False)
    ends = (2, 3, 0), (18, 3, 0)
    straight = world.planner(PERSON).path(*ends)
    assert straight.length == pytest.approx(16.0, rel=0.02)
    around = world.planner(PERSON, costs={"mud": 10.0}).path(*ends)
    assert around.points[:, 1].max() > 7.5
    assert straight.length < around.cost < 40
    shut = world.planner(PERSON, costs={"mud": float("inf")}).path(*ends)
    assert shut.found
    assert shut.points[:, 1].max() > 7.5
    assert not world.planner(PERSON, costs={"road": float("inf")}).reachable(*ends)


def test_who_builds_is_told_how_far_it_is():
    steps = []
    world = World.from_mesh(courtyard(), cache=False)
    for agent in (PERSON, SPIDER):
        world.planner(agent, progress=lambda *step: steps.append(step))
    assert {what for what, _, _ in steps} >= {"navigation mesh", "waypoints"}
    assert all(0 <= done <= total for _, done, total in steps)


def test_a_planner_says_what_it_is_and_why(opened):
    text = opened.planner(PERSON).explain()
    for words in ("radius 0.4 m", "navmesh", "walks", "hierarchy", "cell_size 0.2", "bytes", "built in"):
        assert words in text
    assert "flies" in opened.planner(BIRD).explain()


@pytest.mark.parametrize(
    ("agent", "options"),
    [
        (PERSON, {"accelerator": "none"}),
        (PERSON, {"accelerator": "subregions"}),
        (PERSON, {"map": "waypoints"}),
        (PERSON, {"cell_size": 0.3}),
        (SPIDER, {"accelerator": "hierarchy"}),
        (BIRD, {"accelerator": "none", "region_size": 5.0}),
    ],
)
def test_every_choice_can_be_overridden(opened, agent, options):
    planner = opened.planner(agent, **options)
    assert planner is not opened.planner(agent)
    assert planner.path(high(WEST, agent), high(EAST, agent)).length == pytest.approx(18.0, rel=0.15)
    if "map" in options:
        assert planner.map_name == options["map"]
    if "accelerator" in options:
        assert planner.accelerator_name == options["accelerator"]


@pytest.mark.parametrize(
    ("agent", "options"),
    [
        (BIRD, {"map": "navmesh"}),
        (PERSON, {"map": "terrain"}),
        (PERSON, {"map": "magic"}),
        (PERSON, {"accelerator": "regions"}),
        (PERSON, {"costs": {"lava": 2.0}}),
        (BIRD, {"costs": {"lava": 2.0}}),
        (PERSON, {"cell_size": -1.0}),
        (PERSON, {"colour": "red"}),
        ("person", {}),
    ],
)
def test_choices_that_do_not_go_together_get_a_sentence(opened, agent, options):
    before = len(opened.planners)
    with pytest.raises((ParameterError, TypeError)):
        opened.planner(agent, **options)
    assert len(opened.planners) == before


def test_a_point_off_the_map_is_an_error_and_an_unreachable_one_is_not(world):
    with pytest.raises(OffMapError):
        world.path((100.0, 0.0, 0.0), EAST, PERSON)
    world.block(Box((0, 8, -1), (24, 9, 3)))
    assert world.path((3.0, 16.0, 0.0), (3.0, 3.0, 0.0), PERSON).status is Status.UNREACHABLE


def test_a_draped_path_follows_the_ground_between_its_corners():
    x = np.linspace(0, 30, 61)
    hill = 1.5 * np.exp(-(((x - 15) / 5) ** 2))
    near, far = (np.column_stack([x, np.full(61, y), hill]) for y in (0.0, 6.0))
    at = np.arange(60)
    strip = np.concatenate([np.column_stack([at, at + 1, at + 62]), np.column_stack([at, at + 62, at + 61])])
    planner = World.from_mesh(Mesh(np.concatenate([near, far]), strip), cache=False).planner(PERSON)
    path = planner.path((2, 3, 0), (28, 3, 0))
    assert path.points[:, 2].max() < 0.5
    draped = planner.drape(path, 0.5)
    np.testing.assert_allclose(draped[:, 2], np.interp(draped[:, 0], x, hill), atol=0.3)
    np.testing.assert_allclose(draped[[0, -1]], path.points[[0, -1]])
    assert np.hypot(*np.diff(draped[:, :2], axis=0).T).max() <= 0.5 + 1e-9


@pytest.mark.parametrize(
    ("scale", "move"), [(1.0, (0, 0, 0)), (1e-3, (9.2e6, -2e6, -999.0)), (30.0, (-4e5, 1e6, 50.0))]
)
def test_a_draped_path_over_a_bridge_stays_up_on_it(scale, move):
    def deck(low, high, bottom, top):
        corners = [(low, 5, bottom), (high, 5, top), (high, 7.2, top), (low, 7.2, bottom)]
        corners += [(x, y, z - 0.3) for x, y, z in corners]
        sides = [(0, 1, 2), (0, 2, 3), (4, 6, 5), (4, 7, 6), (0, 4, 5), (0, 5, 1), (1, 5, 6), (1, 6, 2), (2, 6, 7),
                 (2, 7, 3), (3, 7, 4), (3, 4, 0)]  # fmt: skip
        return Mesh(corners, sides)

    parts = [Box((0, 0, -1), (16, 12, 0)).mesh(), deck(1, 5, 0, 3), deck(5, 11, 3, 3), deck(11, 15, 3, 0)]
    whole = Mesh.concatenate(parts)
    world = World.from_mesh(Mesh(whole.vertices * scale + move, whole.triangles), cache=False)
    planner = world.planner(Agent(radius=0.4 * scale, height=1.8 * scale, climb=0.5 * scale))
    a, b = (np.array(point) * scale + move for point in ((4.0, 6.1, 2.25), (14.0, 6.1, 0.75)))
    path = planner.path(a, b, exact=True)
    for way in (path, planner.path(b, a, exact=True)):
        for spacing in (0.05, 0.5, 3.0):
            x, _, z = ((planner.drape(way, spacing * scale) - move) / scale).T
            np.testing.assert_allclose(z, np.interp(x, [1, 5, 11, 15], [0, 3, 3, 0]), atol=0.3)


def test_a_point_beside_the_map_is_told_the_nearest_place(opened):
    for agent in (PERSON, SPIDER):
        with pytest.raises(OffMapError, match=r"start .*nearest place that this agent can be at is \("):
            opened.path((12.0, 10.0, 1.0), EAST, agent)
        with pytest.raises(OffMapError, match=r"goal .*nearest place"):
            opened.path(WEST, (12.0, 10.0, 1.0), agent)


# --- edits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
def test_a_block_moves_the_path_and_unblocking_brings_it_back(world, agent):
    start, goal = high(WEST, agent), high(EAST, agent)
    planner = world.planner(agent)
    before = planner.path(start, goal)
    world.block(WIDE_GAP)
    after = planner.path(start, goal)
    if agent is CART:
        assert after.status is Status.UNREACHABLE
    else:
        assert after.length > before.length + 1.0
        body = {"radius": agent.radius - 0.05, "below": 0.0, "above": 0.3}
        assert not WIDE_GAP.hit_by(after.points[:-1], after.points[1:], **body).any()
    world.unblock(WIDE_GAP)
    assert planner.path(start, goal).cost == pytest.approx(before.cost)


def test_a_planner_that_is_made_after_an_edit_knows_of_it(world):
    world.block(WIDE_GAP)
    world.block(NARROW_GAP)
    world.set_cost(Box((0, 0, -1), (5, 5, 1)), 3.0)
    for agent in (PERSON, SPIDER, CART):
        assert not world.reachable(WEST, EAST, agent) or agent is SPIDER
    assert world.distance((1, 1, 0), (4, 4, 0), PERSON) > 1.5 * np.hypot(3, 3)


def test_what_is_blocked_twice_has_to_be_unblocked_twice(world):
    planner = world.planner(CART)
    world.block(WIDE_GAP)
    world.block(WIDE_GAP)
    world.unblock(WIDE_GAP)
    assert not planner.reachable(WEST, EAST)
    assert world.blocks == (WIDE_GAP,)
    world.unblock(WIDE_GAP)
    assert planner.reachable(WEST, EAST)
    with pytest.raises(EditError):
        world.unblock(WIDE_GAP)
    assert world.version == 4


def test_where_blocks_overlap_each_keeps_what_it_closes(world):
    planners = [world.planner(agent) for agent in EVERYBODY.values()]
    half = Box((11, 2.5, -0.5), (13, 6, 9))
    whole = Prism([(11, 2.5), (13, 2.5), (13, 7.5), (11, 7.5)], -0.5, 9)
    world.block(half)
    world.block(whole)
    closed = [planner.distance(high(WEST, planner.agent), high(EAST, planner.agent)) for planner in planners]
    world.unblock(half)
    still = [planner.distance(high(WEST, planner.agent), high(EAST, planner.agent)) for planner in planners]
    np.testing.assert_allclose(still, closed)


def test_a_block_may_reach_out_of_the_world_or_lie_outside(world):
    planner = world.planner(PERSON)
    before = planner.path(WEST, EAST).cost
    world.block(Box((-50, -50, -50), (-40, -40, 50)))
    world.block(Box((-10, 15, -50), (3, 80, 50)))
    assert planner.path(WEST, EAST).cost == pytest.approx(before)
    with pytest.raises(OffMapError):
        planner.path((1, 17, 0), EAST)


def test_costs_lead_around_and_can_be_taken_back(world):
    swamp = Box((10, 2, -1), (14, 8, 3))
    for agent in (PERSON, BIRD, SPIDER):
        planner = world.planner(agent)
        start, goal = high(WEST, agent), high(EAST, agent)
        before = planner.path(start, goal)
        world.set_cost(swamp, 50.0)
        around = planner.path(start, goal)
        assert before.cost < around.cost < 4 * before.cost
        assert around.length == pytest.approx(around.cost)  # nobody wades through the swamp
        world.set_cost(swamp, 1.0)
        assert planner.path(start, goal).cost == pytest.approx(before.cost)
        assert world.costs == ()


@pytest.mark.parametrize("agent", [PERSON, SPIDER, BIRD], ids=["person", "spider", "bird"])
def test_a_cost_stays_what_it_is_when_others_come_and_go(world, agent):
    west, east = Box((0, 0, -1), (6, 9, 6)), Box((17, 0, -1), (24, 9, 6))
    planner = world.planner(agent)
    ends = [high(place, agent) for place in ((2.0, 2.0, 0.0), (2.0, 7.0, 0.0))]
    world.set_cost(west, 5.0)
    dear = planner.distance(*ends)
    for cost in (2.0, 9.0, 0.5):
        world.set_cost(east, cost)
        assert planner.distance(*ends) == pytest.approx(dear)
    world.set_cost(west, 1.0)
    cheap = planner.distance(*ends)
    assert cheap < dear / 2
    world.set_cost(west, 5.0)
    assert planner.distance(*ends) == pytest.approx(dear)


@pytest.mark.parametrize("cost", [0.0, -1.0, float("nan"), float("inf"), "much"])
def test_a_cost_must_be_a_number_above_nothing(world, cost):
    with pytest.raises(ParameterError):
        world.set_cost(WIDE_GAP, cost)
    assert world.costs == ()
    assert world.version == 0


def test_an_edit_that_one_planner_cannot_make_changes_none(world, monkeypatch):
    planners = [world.planner(agent) for agent in (PERSON, SPIDER)]
    costs = [planner.distance(WEST, EAST) for planner in planners]

    def refuse(*_):
        raise EditError("no")

    monkeypatch.setattr(planners[1], "_prepare", refuse)
    with pytest.raises(EditError):
        world.block(WIDE_GAP)
    assert world.blocks == ()
    assert world.version == 0
    assert [planner.distance(WEST, EAST) for planner in planners] == costs


def test_the_accelerator_follows_edits_and_can_be_made_anew(world):
    planner = world.planner(PERSON)
    world.block(NARROW_GAP)
    carried = planner.accelerator
    assert carried is not None
    cost = planner.path(WEST, EAST).cost
    assert planner.plain(WEST, EAST).cost == pytest.approx(cost)
    planner.refresh()
    assert planner.accelerator is not carried
    assert planner.path(WEST, EAST).cost == pytest.approx(cost)


def test_a_world_that_is_blocked_everywhere_comes_back(world):
    planners = [world.planner(agent) for agent in (PERSON, SPIDER, BIRD)]
    places = [(high(WEST, planner.agent), high(EAST, planner.agent)) for planner in planners]
    before = [planner.distance(*ends) for planner, ends in zip(planners, places, strict=True)]
    everything = world.block(Box((-100, -100, -100), (100, 100, 100)))
    for planner, ends in zip(planners, places, strict=True):
        with pytest.raises(OffMapError):
            planner.path(*ends)
    world.unblock(everything)
    after = [planner.distance(*ends) for planner, ends in zip(planners, places, strict=True)]
    np.testing.assert_allclose(after, before)


# --- the cache -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
def test_what_was_built_once_is_read_the_next_time(tmp_path, agent):
    start, goal = high(WEST, agent), high(EAST, agent)
    first = World.from_mesh(courtyard(), cache=tmp_path).planner(agent)
    assert first.notes.cached is None
    second = World.from_mesh(courtyard(), cache=tmp_path).planner(agent)
    assert second.notes.cached is not None
    assert str(tmp_path) in second.explain()
    np.testing.assert_array_equal(second.path(start, goal).points, first.path(start, goal).points)
    other = World.from_mesh(courtyard(), cache=tmp_path).planner(
        Agent(agent.radius + 0.1, agent.height, agent.climb, agent.slope, agent.motions)
    )
    assert other.notes.cached is None


def test_a_planner_from_the_cache_can_be_edited(tmp_path):
    World.from_mesh(courtyard(), cache=tmp_path).planner(CART)
    world = World.from_mesh(courtyard(), cache=tmp_path)
    assert world.reachable(WEST, EAST, CART)
    world.block(WIDE_GAP)
    assert not world.reachable(WEST, EAST, CART)


def test_a_damaged_cache_file_is_made_again(tmp_path):
    World.from_mesh(courtyard(), cache=tmp_path).planner(PERSON)
    for file in tmp_path.iterdir():
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 255
        file.write_bytes(bytes(data[: 3 * len(data) // 4]))
    planner = World.from_mesh(courtyard(), cache=tmp_path).planner(PERSON)
    assert planner.notes.cached is None
    assert planner.path(WEST, EAST)


def test_a_cache_that_cannot_be_written_is_not_used(tmp_path):
    file = tmp_path / "file"
    file.write_text("no folder")
    assert World.from_mesh(courtyard(), cache=file).planner(PERSON).path(WEST, EAST)
    with pytest.raises(ParameterError):
        World.from_mesh(courtyard(), cache=3)


def test_motions_that_are_added_change_the_map(opened):
    walker = Agent(radius=0.25, height=0.5, climb=0.25)
    climber = Agent(radius=0.25, height=0.5, climb=0.25, motions=Motion.SURFACE | Motion.ADHESIVE)
    assert opened.planner(walker).map_name == "navmesh"
    assert opened.planner(climber).map_name == "waypoints"
