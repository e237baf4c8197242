"""`Path.why`: what is told where there is no way."""

from __future__ import annotations

import pickle
import re
import threading

import numpy as np
import pytest
import shapely

from tests.world.levels import BIRD, SPIDER
from wayfold import Agent, Box, Mesh, NavMesh, Status, Terrain, World
from wayfold.formats import Map3D, MovingAiMap
from wayfold.path import Path
from wayfold.view.viewer.session import End, Hit, Session

pytestmark = pytest.mark.kernels

WEST, EAST = (2.0, 2.0, 0.0), (10.0, 6.0, 0.0)
PLACE = r"\((-?[\d.]+), (-?[\d.]+), (-?[\d.]+)\)"


def solid(*boxes):
    return Mesh.concatenate([Box(*box).mesh() for box in boxes])


def two_rooms(door, wall=0.3):
    """A wall at x = 6 with a door around y = 4."""
    sides = ((6, 0, -0.5), (6 + wall, 4 - door / 2, 3)), ((6, 4 + door / 2, -0.5), (6 + wall, 8, 3))
    return solid(((0, 0, -1), (12, 8, 0)), *sides)


def world_of(mesh):
    return World.from_mesh(mesh, name="small", cache=False)


def numbers(pattern, text):
    found = re.search(pattern, text)
    assert found, text
    return [float(number) for number in found.groups()]


@pytest.mark.parametrize("degrees", [0.0, 33.0])
@pytest.mark.parametrize("shift", [(0.0, 0.0, 0.0), (390000.0, 5820000.0, 30.0)])
@pytest.mark.parametrize("door", [0.75, 0.4])
def test_a_narrow_door_is_told_with_its_width(degrees, shift, door):
    turn = np.radians(degrees)
    turned = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    mesh = two_rooms(door)
    planner = world_of(Mesh(mesh.vertices @ turned.T + shift, mesh.triangles)).planner()
    path = planner.path(turned @ WEST + shift, turned @ EAST + shift)
    assert path.status is Status.UNREACHABLE
    *place, width, needs = numbers(
        rf"an opening at {PLACE} is about ([\d.]+) m wide, the agent needs ([\d.]+) m", path.why
    )
    assert width == pytest.approx(door, abs=0.02)
    assert needs == 0.8
    assert np.linalg.norm(place - (turned @ (6.15, 4.0, 0.0) + shift)) < 0.35


def test_islands_are_told_by_size():
    planner = world_of(two_rooms(0.75)).planner()
    why = planner.path(WEST, EAST).why
    one, west, two, east = numbers(r"start is on island (\d) \(([\d.]+) m2\), goal on island (\d) \(([\d.]+) m2\)", why)
    assert (one, two) == (1, 2)
    assert west > east
    assert west + east == pytest.approx(planner.map.area, abs=0.1)
    line = next(line for line in planner.explain().splitlines() if line.startswith("islands"))
    count, size, share = numbers(r"(\d+), the largest has ([\d.]+) m2, ([\d.]+) % of the ground", line)
    assert (count, size) == (2, west)
    assert share == pytest.approx(100 * west / (west + east), abs=0.1)
    assert "islands      1," in world_of(two_rooms(2.0)).planner().explain()


def test_a_high_step_is_told_with_what_is_missing():
    planner = world_of(solid(((0, 0, -1), (6, 8, 0)), ((6, 0, -1), (12, 8, 0.57)))).planner()
    for ends in ((WEST, (10, 6, 0.57)), ((10, 6, 0.57), WEST)):
        pattern = rf"a step of ([\d.]+) m at {PLACE} is ([\d.]+) m higher than the agent climbs"
        step, x, _, z, more = numbers(pattern, planner.path(*ends).why)
        assert (step, more) == (0.57, 0.07)
        assert abs(x - 6.0) < 0.02
        assert z == 0.0


def test_a_gap_in_the_ground_is_told_with_its_width():
    planner = world_of(solid(((0, 0, -1), (6, 8, 0)), ((6.6, 0, -1), (12, 8, 0)))).planner()
    width, x, _, _ = numbers(rf"the ground has a gap of ([\d.]+) m at {PLACE}", planner.path(WEST, EAST).why)
    assert width == pytest.approx(0.6, abs=0.011)
    assert x == pytest.approx(6.3, abs=0.02)


def test_where_much_is_missing_nothing_is_promised():
    walled = world_of(two_rooms(0.0)).planner().path(WEST, EAST).why
    assert re.search(rf"the islands come within [\d.]+ m of each other at {PLACE}, with walls between them", walled)
    apart = world_of(solid(((0, 0, -1), (6, 8, 0)), ((9, 0, -1), (14, 8, 0)))).planner().path(WEST, (11, 6, 0)).why
    assert apart.endswith("their rims are nowhere within 2.00 m of each other")
    for why in (walled, apart):
        assert "opening" not in why
        assert "step" not in why


def test_a_way_over_other_islands_names_them():
    walls = [((x, 0, -0.5), (x + 0.3, 3.65, 3)) for x in (6, 12)] + [
        ((x, 4.35, -0.5), (x + 0.3, 8, 3)) for x in (6, 12)
    ]
    why = world_of(solid(((0, 0, -1), (18, 8, 0)), *walls)).planner().path(WEST, (16, 6, 0)).why
    assert re.search(r"on the way over island \d 2 places stop the agent, first: an opening at \(6\.", why)


def test_blocks_and_closed_ground_are_told():
    world = world_of(two_rooms(2.0))
    planner = world.planner()
    early = planner.path(WEST, EAST)
    world.block(Box((5.5, 2.5, -1), (7, 5.5, 2)))
    blocked = planner.path(WEST, EAST)
    assert blocked.status is Status.UNREACHABLE
    assert "island" in blocked.why
    assert blocked.why.endswith("every way crosses ground that is closed to this agent")
    late = planner.path(WEST, EAST)
    world.unblock(world.blocks[0])
    assert late.why == blocked.why  # of the world as it was
    assert early.why == planner.path(WEST, EAST).why == ""


def test_polygons_tell_closed_ground_and_links():
    corners = [(0, 0), (1, 0), (1, 1), (0, 1), (2, 0), (2, 1), (3, 0), (3, 1)]
    mesh = NavMesh.from_polygons(corners, [[0, 1, 2, 3], [1, 4, 5, 2], [4, 6, 7, 5]], areas=[1, 2, 1])
    costs = {2: float("inf")}
    assert "closed to this agent" in mesh.path((0.5, 0.5), (2.5, 0.5), costs=costs).why
    assert mesh.path((0.5, 0.5), (1.5, 0.5), costs=costs).why == "the goal is on ground that is closed to this agent"
    assert mesh.path((1.5, 0.5), (1.5, 0.6), costs=costs).why.startswith("start and goal are on ground that is closed")
    apart = NavMesh.from_polygons([(0, 0), (1, 0), (1, 1), (5, 0), (6, 0), (6, 1)], [[0, 1, 2], [3, 4, 5]])
    assert "nowhere within 2.00 m" in apart.path((0.5, 0.1), (5.9, 0.1)).why
    apart.add_link((1, 0.5), (5, 0), both_ways=False)
    assert apart.path((0.5, 0.1), (5.9, 0.1)).why == ""
    assert apart.path((5.9, 0.1), (0.5, 0.1)).why.endswith("only links in the other direction join them")


def test_reasons_come_with_batches_fields_and_pickles():
    planner = world_of(two_rooms(0.75)).planner()
    ends = [WEST, EAST], [EAST, (9, 2, 0)]
    paths, single = planner.paths(*ends), planner.path(WEST, EAST)
    assert "opening" in single.why
    assert [path.why for path in paths] == [single.why, ""]
    assert planner.field(EAST).path(WEST).why == single.why
    assert planner.plain(WEST, EAST).why == planner.path(WEST, EAST, exact=True).why == single.why
    assert [path.why for path in pickle.loads(pickle.dumps(paths))] == [single.why, ""]
    assert pickle.loads(pickle.dumps(planner.path(WEST, EAST))).why == single.why
    assert planner.paths([WEST[:2]], [EAST[:2]])[0].why == planner.path(WEST[:2], EAST[:2]).why == single.why


def walled_map():
    """Cells of two rooms without a door."""
    cells = np.ones((8, 12), bool)
    cells[:, 5] = False
    return (
        World.from_map(MovingAiMap(np.where(cells, ord("."), ord("@")).astype(np.uint8)), cache=False),
        (1, 4, 0),
        (9, 4, 0),
    )


def walled_terrain():
    """The same as weighted regions."""
    regions = [(shapely.box(0, 0, 12, 8), 1.0), (shapely.box(5, 0, 6, 8), np.inf)]
    return World.from_terrain(Terrain(regions), cache=False), (1, 4, 0), (9, 4, 0)


@pytest.mark.parametrize("made", [walled_map, walled_terrain])
def test_fields_and_batches_over_cells_and_terrains_tell_the_islands(made):
    """They told only that there is no way."""
    world, start, goal = made()
    planner = world.planner(Agent(radius=0.2))
    single = planner.path(start, goal).why
    assert re.fullmatch(r"start is on island \d .*, goal on island \d .*; no way for this agent joins them", single)
    field = planner.field(goal)
    assert field.path(start).why == single
    assert [path.why for path in field.paths([start, goal])] == [single, ""]
    assert [path.why for path in planner.paths([start, goal], [goal, goal])] == [single, ""]
    late = field.path(start)
    world.block(Box((1.5, 1.5, -1), (2.5, 2.5, 2)))
    # Edits change cells in place; a terrain stays what it was when the path was planned.
    for told in (late, field.path(start)):  # the field is of the world that it was made of
        assert told.why.endswith("the world has changed since") if made is walled_map else told.why == single


def test_a_reason_is_worked_out_once_and_only_when_asked_for():
    asked = []

    def tell():
        asked.append(threading.get_ident())
        return "no bridge"

    path = Path(Status.UNREACHABLE, why=tell)
    assert not asked
    assert path.why == path.why == "no bridge"
    assert len(asked) == 1
    assert Path(Status.FOUND).why == ""
    assert all(Path(status).why for status in Status if status is not Status.FOUND)


def test_voxels_name_islands():
    blocked = np.zeros((24, 16, 12), np.bool_)
    blocked[11:13] = True
    level = Map3D(np.array(blocked.shape, np.int32), np.argwhere(blocked).astype(np.int32))
    planner = World.from_map(level, cache=False).planner(region_size=6)
    path = planner.path((2, 2, 2), (20, 3, 2))
    assert path.status is Status.UNREACHABLE
    assert re.search(r"start is on island \d \(\d+ waypoints\), goal on island \d \(\d+ waypoints\)", path.why)
    assert planner.field((20, 3, 2)).path((2, 2, 2)).why == path.why


@pytest.mark.parametrize("agent", [SPIDER, BIRD], ids=["spider", "bird"])
def test_climbers_and_flyers_name_islands(agent):
    # Two floors far apart, each in a closed box for the flyer.
    shells = [Box((x, 0, 0), (x + 3, 3, 3)).mesh() for x in (0, 6)]
    mesh = Mesh.concatenate([Mesh(shell.vertices, shell.triangles[:, ::-1]) for shell in shells])
    planner = world_of(mesh).planner(agent)
    height = 1.5 if agent is BIRD else 0.0
    path = planner.path((1.5, 1.5, height), (7.5, 1.5, height))
    assert path.status is Status.UNREACHABLE
    assert re.search(r"start is on island \d \(\d+ waypoints\), goal on island \d \(\d+ waypoints\)", path.why)
    assert "islands      " in planner.explain()
    field = planner.field((7.5, 1.5, height))
    assert field.path((1.5, 1.5, height)).why == path.why
    assert field.paths([(1.5, 1.5, height)])[0].why == path.why


def test_a_field_of_waypoints_tells_reasons_of_its_own_world_only():
    shells = [Box((x, 0, 0), (x + 3, 3, 3)).mesh() for x in (0, 6)]
    mesh = Mesh.concatenate([Mesh(shell.vertices, shell.triangles[:, ::-1]) for shell in shells])
    world = world_of(mesh)
    field = world.planner(BIRD).field((7.5, 1.5, 1.5))
    world.block(Box((6.2, 0.2, 0.2), (6.6, 0.6, 0.6)))
    assert "the world has changed since" in field.path((1.5, 1.5, 1.5)).why


def test_cells_name_islands_of_the_world_as_it_was():
    world = world_of(two_rooms(2.0))
    planner = world.planner(map="sparse-grid")
    block = world.block(Box((5.5, 2.5, -1), (7, 5.5, 2)))
    told, late = planner.path(WEST, EAST), planner.paths([WEST], [EAST])[0]
    assert re.search(r"start is on island 1 \((\d+) cells\), goal on island 2 \((\d+) cells\)", told.why)
    assert re.search(r"islands      \d, the largest has \d+ cells", planner.explain())
    world.unblock(block)
    assert "cells" in told.why
    assert late.why == "no way led from the start to the goal, but the world has changed since"


def test_terrain_names_islands():
    fields = [(shapely.box(x, 0, x + 4, 4), 1.0, "grass") for x in (0, 10)]
    planner = World.from_terrain(Terrain(fields), cache=False).planner(Agent(radius=0.0))
    path = planner.path((1, 1), (12, 1))
    assert path.status is Status.UNREACHABLE
    assert "island 1 (16.0 m2), goal on island 2 (16.0 m2)" in path.why
    assert "islands      2, the largest has 16.0 m2, 50 % of the ground" in planner.explain()


def test_the_viewer_reports_it():
    session = Session(world_of(two_rooms(0.75)))
    session.prepare()
    for place in (WEST, EAST):
        session.put(Hit(np.array(place), np.array([0.0, 0.0, 1.0])))
    assert isinstance(session.goal, End)
    assert "an opening at" in session.report()
