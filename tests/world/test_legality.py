"""Every path of every agent is legal, judged by the triangles alone: clearance, ground, slope, contact with walls."""

from __future__ import annotations

import contextlib
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from tests.draws import seeds
from tests.world.judging import level_of, scaled, violations
from tests.world.levels import CART, EVERYBODY, PERSON, courtyard, flat, pairs
from wayfold import Box, Mesh, World
from wayfold.errors import GeometryError, OffMapError
from wayfold.formats import load_bsp

UNITS = 32.0  # Quake units in a metre: a player of 56 units is 1.75 m tall


def judged(world, agent, count, seed=0, **options):
    """All violations of `count` paths between random places, asked for in every way that there is."""
    planner = world.planner(agent, **options)
    level = level_of(world)
    starts, goals = pairs(planner, count, seed)
    found, reached = [], 0
    ways = planner.paths(starts, goals), planner.field(goals[0]).paths(starts)
    for way, paths in enumerate(ways):
        for at, path in enumerate(paths):
            assert path.found, "all places of `random_points` are connected"
            reached += 1
            found += [(way, at, str(violation)) for violation in violations(level, planner, path.points)]
    for start, goal in zip(starts[:2], goals[:2], strict=True):
        quick = planner.path(start, goal)
        for path in (quick, quick.smooth(), planner.path(start, goal, exact=True), planner.plain(start, goal)):
            found += [
                ("alone", start.tolist(), str(violation)) for violation in violations(level, planner, path.points)
            ]
    assert reached == 2 * count
    return found


@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
def test_paths_around_a_courtyard_are_legal(agent):
    assert judged(World.from_mesh(courtyard(), cache=False), agent, 12) == []


@pytest.fixture(scope="module")
def district():
    return World.sample("city", size=(70.0, 70.0), seed=3, cache=False)


@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
def test_paths_in_a_district_are_legal(district, agent):
    assert judged(district, agent, 8) == []


@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
def test_the_nearest_place_of_any_point_is_a_legal_place(district, agent):
    planner, level = district.planner(agent), level_of(district)
    low, high = district.bounds
    rng = np.random.default_rng(4)
    for near in planner.random_points(6, seed=4) + rng.uniform(-1.5, 1.5, (6, 3)):
        place = planner.nearest(np.clip(near, low, high))
        assert violations(level, planner, place[None]) == []


@pytest.mark.parametrize("agent", [PERSON, CART], ids=["person", "cart"])
def test_draped_paths_follow_the_ground_all_the_way(district, agent):
    planner, level = district.planner(agent), level_of(district)
    for path in planner.paths(*pairs(planner, 6, seed=8)):
        line = planner.drape(path, spacing=planner.notes.settings["cell_size"])
        assert violations(level, planner, line, draped=True) == []


def blocks_of(rng, bounds, count):
    """Boxes that stand on the ground of a flat world, anywhere."""
    low = np.column_stack([rng.uniform(bounds[0, :2], bounds[1, :2], (count, 2)), np.full(count, -1.0)])
    size = np.column_stack([rng.uniform(0.3, 5, (count, 2)), rng.uniform(1.2, 5, count)])
    return [Box(corner, corner + extent) for corner, extent in zip(low, size, strict=True)]


@settings(max_examples=6, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10_000), name=st.sampled_from(sorted(EVERYBODY)))
@example(seed=17, name="person")
@example(seed=131, name="spider")
@example(seed=527, name="spider")
def test_paths_among_random_blocks_and_ramps_are_legal(seed, name):
    rng = np.random.default_rng(seed)
    side = 14.0
    floor = Mesh([(0, 0, 0), (side, 0, 0), (side, side, 0), (0, side, 0)], [(0, 1, 2), (0, 2, 3)])
    parts = [floor, *(block.mesh() for block in blocks_of(rng, floor.bounds, int(rng.integers(1, 6))))]
    x, y, rise = rng.uniform(2, 8), rng.uniform(2, 8), rng.uniform(0.2, 4)
    ramp = [(x, y, 0), (x + 4, y, rise), (x + 4, y + 3, rise), (x, y + 3, 0)]
    parts.append(Mesh(ramp, [(0, 1, 2), (0, 2, 3)]))
    world = World.from_mesh(Mesh.concatenate(parts), cache=False)
    try:
        world.planner(EVERYBODY[name])
    except GeometryError:
        assume(False)
    assert judged(world, EVERYBODY[name], 3, seed) == []


# --- real levels -----------------------------------------------------------------------------------------------------


LEVELS = {
    "nav_test": ("recast/nav_test.obj", {"up": "y"}, 1.0),
    "hulls": ("quake/oa_shouse.obj", {"up": "z"}, UNITS),
    "level": ("quake/oa_dm1.bsp", {}, UNITS),
    "delft": ("city/delft.city.json", {}, 1.0),
}


@pytest.mark.data
@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
@pytest.mark.parametrize("name", LEVELS)
def test_paths_in_real_levels_are_legal(data, name, agent):
    file, options, units = LEVELS[name]
    world = World.open(data / file, cache=False, **options)
    found = judged(world, scaled(agent, units), 20)
    assert found == []


@pytest.mark.data
@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
@pytest.mark.parametrize("name", ["oa_dm1", "oa_shouse"])
def test_paths_between_the_spawns_and_items_of_a_level_are_legal(data, name, agent):
    """The largest connected ground of a level may be the outside of its hull: these are where players are."""
    level = load_bsp(data / f"quake/{name}.bsp")
    world = World.from_mesh(level.mesh, cache=False)
    planner, triangles = world.planner(scaled(agent, UNITS)), level_of(world)
    places = []
    for point in level.points:
        with contextlib.suppress(OffMapError):
            places.append(planner.nearest(point.position))
    ways = [(a, b) for a, b in combinations(places, 2) if planner.reachable(a, b)]
    chosen = np.random.default_rng(0).permutation(len(ways))[:20]
    assert len(chosen) >= 5
    found = []
    for at in chosen:
        path = planner.path(*ways[at])
        assert path.found
        found += [str(violation) for violation in violations(triangles, planner, path.points)]
    print(
        f"{name}: {len(places)} places, {len(ways)} pairs joined, {len(chosen)} paths judged, {len(found)} violations"
    )
    assert found == []


@pytest.mark.data
@pytest.mark.parametrize("agent", EVERYBODY.values(), ids=EVERYBODY)
def test_paths_in_a_large_city_are_legal(data, agent):
    world = World.sample("city", size=(240.0, 240.0), seed=1, cache=False)
    assert judged(world, agent, 20) == []


@seeds(6)
def test_nobody_is_inside_a_block_that_others_run_through(seed):
    rng = np.random.default_rng(seed)
    agent = EVERYBODY[rng.choice(["bird", "spider"])]
    world = World.from_mesh(flat(), cache=False)
    planner = world.planner(agent)
    low = np.column_stack([rng.uniform(4, 9, 6), rng.uniform(4, 7, 6), rng.uniform(-0.5, 2, 6)])
    boxes = np.stack([low, low + rng.uniform(1.2, 5, (6, 3))])
    for low, high in boxes.transpose(1, 0, 2):
        world.block(Box(low, high))
    centre = planner.map.points[planner.map.usable(agent.motions)]
    assert len(centre)
    assert not ((centre[:, None] > boxes[0]) & (centre[:, None] < boxes[1])).all(axis=2).any()
    for low, high in boxes.transpose(1, 0, 2):
        for inside in rng.uniform(low, high, (25, 3)):
            with pytest.raises(OffMapError):
                planner.path(inside, (1.0, 1.0, 0.0))
