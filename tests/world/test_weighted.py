"""Worlds of weighted regions: queries that agree with each other, painting that equals a terrain from scratch."""

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.world.edits import edits, make, same_zones, shapes
from tests.world.levels import pairs
from wayfold import Agent, Box, Prism, Status, Terrain, World
from wayfold.errors import GeometryError, OffMapError, ParameterError
from wayfold.terrain import discs

pytestmark = pytest.mark.kernels
POINT, DISC = Agent(radius=0.0), Agent(radius=0.5)
GROUND = [
    (shapely.box(0, 0, 12, 10), 1.0, "grass"),
    (shapely.box(3, 2, 6, 8), 3.0, "swamp"),
    (shapely.Polygon([(7, 1), (11, 3), (8, 6)]), 2.0, "wood"),
    (shapely.box(8, 7, 9, 9), float("inf"), "rock"),
]


def ground():
    return Terrain(GROUND)


def world():
    return World.from_terrain(ground(), cache=False)


def scratch(layers):
    """The ground with each region cut by the layers by hand, and painted from scratch."""
    regions = []
    for number, (area, weight, name) in enumerate(GROUND):
        own = shapely.difference(area, shapely.union_all([other for other, _, _ in GROUND[number + 1 :]]))
        for at, (polygon, factor) in reversed(list(enumerate(layers))):
            regions.append((shapely.intersection(own, polygon), weight * factor, f"{name} {at}"))
            own = shapely.difference(own, polygon)
        regions.append((own, weight, name))
    whole = []
    for area, weight, name in regions:
        parts = [part for part in shapely.get_parts(area) if part.geom_type == "Polygon" and part.area > 1e-9]
        whole += [(part, weight, name) for part in parts]
    return whole


def weight_of(regions, place):
    """The least weight of the regions that a place lies in, by hand."""
    return min(weight for area, weight, _ in regions if shapely.intersects_xy(area, *place))


@given(st.lists(st.tuples(shapes(10.0), st.sampled_from([0.5, 2.0, float("inf")])), max_size=4), st.integers(0, 2**32))
@settings(max_examples=60)
@example(
    [(Prism([(0, 0), (0.25, 0), (0, 0.25)], -2, 3), 0.5), (Prism([(-0.75, 0), (11, 0), (-0.75, 0.25)], -2, 3), 0.5)], 0
)
def test_painted_ground_weighs_and_costs_what_ground_from_scratch_does(chosen, seed):
    layers = [(shape.polygon, factor) for shape, factor in chosen]
    before = ground()
    terrain = before.changed(layers)
    regions = scratch(layers)
    rng = np.random.default_rng(seed)
    for place in rng.random((40, 2)) * (12, 10):
        assert terrain.triangle_weights[terrain.locate(place[None])[0]] == weight_of(regions, place)
    fresh = Terrain(regions)
    for line in rng.random((10, 2, 2)) * (12, 10):
        assert terrain.cost(line) == pytest.approx(fresh.cost(line), rel=1e-9)
    a, b, c = np.swapaxes(terrain.vertices[terrain.triangles], 0, 1)
    turn = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    assert turn.min() > 0
    assert turn.sum() / 2 == pytest.approx(120.0)
    border = terrain.twins < 0
    ends = terrain.vertices[terrain.triangles].reshape(-1, 2)[border]
    inside = np.minimum(ends, (12, 10) - ends).min(axis=1)
    assert np.abs(inside).max() < 1e-12  # no gap inside, and nothing beyond
    assert (terrain.locate([(0.0, y) for y in np.linspace(0, 10, 101)]) >= 0).all()
    assert before.triangle_weights.tolist() == ground().triangle_weights.tolist()


def test_triangles_that_no_outline_meets_are_kept():
    before = Terrain.from_raster(1.0 + np.indices((30, 30)).sum(axis=0) % 2, cell=1.0)
    after = before.changed([(shapely.box(3.2, 3.2, 8.7, 5.1), 4.0)])
    old = {tuple(corner) for corner in np.sort(before.triangles, axis=1).tolist()}
    assert len(old) - len(old & {tuple(c) for c in np.sort(after.triangles, axis=1).tolist()}) < 60
    np.testing.assert_array_equal(after.vertices[: len(before.vertices)], before.vertices)


def test_bad_layers_are_refused():
    for layer, error in [
        ((shapely.Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]), 2.0), GeometryError),
        ((shapely.box(0, 0, 1, 1), 0.0), ParameterError),
        (("here", 2.0), ParameterError),
    ]:
        with pytest.raises(error):
            ground().changed([layer])


@pytest.mark.parametrize("agent", [POINT, DISC], ids=["point", "disc"])
def test_what_a_planner_answers_agrees_with_itself(agent):
    planner = world().planner(agent)
    assert planner.map_name == "terrain"
    starts, goals = pairs(planner, 5)
    field = planner.field(goals[0])
    batch = planner.paths(starts, goals, workers=2)
    for start, goal, other in zip(starts, goals, batch, strict=True):
        path = planner.path(start, goal)
        assert path.found
        assert planner.reachable(start, goal)
        np.testing.assert_array_equal(path.points, other.points)
        assert planner.distance(start, goal) == path.cost == planner.plain(start, goal).cost
        assert path.cost == pytest.approx(planner.map.cost(path.points, radius=agent.radius))
        assert field.cost([start])[0] == planner.distance(start, goals[0])
        np.testing.assert_allclose(planner.nearest(start), start)
        assert len(planner.expanded(start, goal))
    assert "disc" in planner.explain()


def test_points_in_obstacles_and_beside_the_map_are_errors_and_have_a_nearest_place():
    planner = world().planner(POINT)
    for wrong in ((8.5, 8.0), (13.0, 5.0)):
        with pytest.raises(OffMapError):
            planner.path(wrong, (1, 1))
        assert 0.4 < np.linalg.norm(planner.nearest(wrong)[:2] - wrong) < 1.1
    with pytest.raises(OffMapError):
        planner.nearest((500, 500))
    with pytest.raises(ParameterError, match="graph"):
        world().planner(POINT, colour="red")


@pytest.mark.parametrize("agent", [POINT, DISC], ids=["point", "disc"])
def test_blocks_and_costs_move_the_path_and_can_be_taken_back(agent):
    opened = world()
    planner = opened.planner(agent)
    start, goal = (1.0, 1.0), (11.0, 9.0)
    before = planner.path(start, goal)
    field = planner.field(goal)
    wall = opened.block(Prism([(1, 4), (9, -2), (9.5, -2), (1.5, 4.5)], 0, 1))
    after = planner.path(start, goal)
    assert after.cost > before.cost
    line = shapely.LineString(after.points[:, :2])
    assert line.distance(wall.polygon) > agent.radius - 1e-6
    everywhere = opened.block(Box((-1, 4.4, 0), (13, 5, 1)))
    assert planner.path(start, goal).status is Status.UNREACHABLE
    assert not planner.reachable(start, goal)
    assert field.path(start).cost == before.cost
    opened.unblock(everywhere)
    opened.unblock(wall)
    assert planner.path(start, goal).cost == before.cost
    opened.set_cost(Box((0, 4, 0), (12, 5, 1)), 10.0)
    assert planner.path(start, goal).cost > before.cost + 8.0


def test_costs_by_name_are_those_of_with_weights():
    opened = world()
    duck = opened.planner(POINT, costs={"swamp": 1.0})
    assert duck.distance((1, 5), (7, 5)) == pytest.approx(6.0)
    assert opened.planner(POINT).distance((1, 5), (7, 5)) > 9.0
    with pytest.raises(ParameterError, match="lava"):
        opened.planner(POINT, costs={"lava": 2.0})


def test_a_disc_that_does_not_fit_is_refused_by_every_query():
    planner = world().planner(DISC)
    beside = (7.8, 8.0)  # of the rock
    assert world().planner(POINT).path(beside, (1, 1)).found
    for ask in (
        lambda: planner.path(beside, (1, 1)),
        lambda: planner.path((1, 1), beside),
        lambda: planner.paths([(1, 1), beside], [(2, 2), (2, 2)]),
        lambda: planner.reachable(beside, (1, 1)),
        lambda: planner.field(beside),
        lambda: planner.field((1, 1)).path(beside),
        lambda: planner.field((1, 1)).cost([(2, 2), beside]),
    ):
        with pytest.raises(OffMapError, match=r"radius 0\.5"):
            ask()
    with pytest.raises(OffMapError, match="nearest place that this agent can be at"):
        planner.path(beside, (1, 1))
    assert planner.path(planner.nearest(beside), (1, 1)).found


@given(edits(10.0, costs=(1.0, 2.0, 0.5)))
@example([("cost", Prism([(0.0, 0.5), (8.0, 0.5), (0.0, 4.75)], -2.0, 3.0), 2.0)])
@example([("block", Prism([(0.0, 3.75), (6.75, 3.75), (0.0, 4.0)], -2.0, 3.0))])  # three corners on one line
@example(  # an outline that ended beside the side of a triangle
    [
        ("cost", Prism([(0.0, 0.0), (0.25, 0.0), (0.0, 0.25)], -2.0, 3.0), 0.5),
        ("block", Prism([(-0.25, 0.75), (9.25, 0.75), (-0.25, 7.5)], -2.0, 3.0)),
    ]
)
@settings(max_examples=10)
def test_edits_for_a_disc_equal_ground_from_scratch(sequence):
    opened = world()
    planner = opened.planner(DISC)
    make(opened, sequence)
    layers = [(shape.polygon, cost) for shape, cost in opened.costs]
    layers += [(shape.polygon, float("inf")) for shape in opened.blocks]
    fresh = Terrain(scratch(layers))
    for start, goal in np.random.default_rng(1).random((6, 2, 2)) * (12, 10):
        costs = []
        for ask in (planner.distance, lambda start, goal: fresh.path(start, goal, radius=0.5).cost):
            try:
                costs.append(ask(start, goal))
            except OffMapError:
                costs.append(-1.0)
        assert costs[0] == pytest.approx(costs[1], rel=2e-2)


def test_the_hundredth_block_cuts_only_what_it_meets():
    """Also for discs: what the others have cut is kept, and stays right when some of them go."""
    weights = 1.0 + np.indices((40, 40)).sum(axis=0) // 2 % 2
    terrain = Terrain.from_raster(weights)
    opened = World.from_terrain(terrain, cache=False)
    point, disc = opened.planner(POINT), opened.planner(Agent(radius=0.2))
    ends = (0.5, 0.5), (39.5, 39.5)
    made, zones = [], []
    for number in range(100):
        x, y = 4.0 * (number // 10) + 1.9, 4.0 * (number % 10) + 1.9
        before = set(terrain._cuts._values)
        opened.block(Box((x, y, 0), (x + 0.3, y + 0.2, 1)))
        made.append(sorted(key[0] for key in set(terrain._cuts._values) - before))
        if number in (49, 98, 99):
            before = set(terrain._cuts._values)
            assert disc.path(*ends).found
            zones.append(sorted(key[0] for key in set(terrain._cuts._values) - before))
    assert made == [["cluster", "outline"]] * 100
    assert zones == [["zone"] * 50, ["zone"] * 49, ["zone"]]
    for shape in opened.blocks[::3]:
        opened.unblock(shape)
    fresh = same_zones(opened, World.from_terrain(Terrain.from_raster(weights), cache=False))
    for planner, agent in ((point, POINT), (disc, Agent(radius=0.2))):
        assert planner.distance(*ends) == fresh.planner(agent).distance(*ends)


def test_the_ground_for_a_disc_is_grown_when_its_planner_is_built(monkeypatch):
    grown = []
    grow = discs.grow
    monkeypatch.setattr(discs, "grow", lambda *args: grown.append(args) or grow(*args))
    planner = world().planner(DISC)
    assert len(grown) == 1
    assert planner.path((1, 1), (11, 9)).found
    assert len(grown) == 1


@given(edits(10.0, costs=(1.0, 2.0, 0.5)))
@settings(max_examples=20)
def test_edits_equal_a_fresh_world(sequence):
    opened = world()
    planner = opened.planner(POINT)
    make(opened, sequence)
    fresh = same_zones(opened, world()).planner(POINT)
    np.testing.assert_array_equal(planner.map.vertices, fresh.map.vertices)
    np.testing.assert_array_equal(planner.map.triangles, fresh.map.triangles)
    np.testing.assert_array_equal(planner.map.triangle_weights, fresh.map.triangle_weights)


@pytest.mark.parametrize("graph", ["grid", "dual", "dual-extra", "refined", "steiner"])
def test_who_is_there_already_goes_nowhere(graph):
    planner = world().planner(POINT, graph=graph)
    here = (1.3, 4.1)
    for path in (planner.path(here, here), planner.paths([here], [here])[0], planner.field(here).path(here)):
        assert path.found
        assert path.cost == path.length == path.lower_bound == 0.0
