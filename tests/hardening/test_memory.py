"""Different arguments, threads and edits leave nothing behind: memory does not grow with their number."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
import shapely

from tests.hardening import things
from tests.hardening.measure import growth
from wayfold import Agent, Box, Motion, NavMesh, Terrain, World
from wayfold.core.locks import ReadersWriter
from wayfold.formats import MovingAiMap

pytestmark = pytest.mark.kernels


def checkers(count=8):
    """Squares of many kinds in a row, twice."""
    vertices = [(x, y, 0.0) for x in range(count + 1) for y in range(3)]
    squares = [[3 * x + y, 3 * (x + 1) + y, 3 * (x + 1) + y + 1, 3 * x + y + 1] for x in range(count) for y in range(2)]
    return vertices, squares, [1 + at % 12 for at in range(2 * count)]


def costs_of(number):
    """One of thousands of mappings; every third closes some kinds as well, in one of hundreds of ways."""
    rng = np.random.default_rng(number)
    costs = {kind: float(rate) for kind, rate in enumerate(rng.uniform(1, 9, 12).tolist(), start=1)}
    if number % 3 == 0:
        costs.update({int(kind): np.inf for kind in rng.choice(np.arange(3, 13), 3, replace=False)})
    return costs


@pytest.mark.parametrize("links", [False, True])
def test_hundreds_of_costs_take_bounded_memory_and_answer_as_a_fresh_mesh(links):
    vertices, squares, kinds = checkers()

    def make():
        mesh = NavMesh.from_polygons(vertices, squares, areas=kinds)
        if links:
            mesh.add_link((0.5, 0.5), (7.5, 1.5), cost=9.0)
        return mesh

    mesh = make()
    answers = {}

    def ask(number):
        costs = costs_of(number)
        path = mesh.path((0.2, 0.3), (7.7, 1.6), costs=costs)
        answers[number] = path.status, path.cost, mesh.reachable((0.2, 0.3), (7.7, 1.6), costs=costs)

    more = growth(ask, 200, 500)
    assert more < 200_000, f"{more} bytes for 300 sets of costs"
    assert len({answer[1] for answer in answers.values()}) > 100
    for number in range(0, 500, 7):  # also those that were dropped long ago
        before = answers[number]
        ask(number)
        assert answers[number] == before
        fresh = make().path((0.2, 0.3), (7.7, 1.6), costs=costs_of(number))
        assert (fresh.status, fresh.cost) == before[:2]


def test_costs_that_threads_ask_with_at_once_are_not_mixed_up():
    vertices, squares, kinds = checkers()
    mesh = NavMesh.from_polygons(vertices, squares, areas=kinds)
    expected = [mesh.path((0.2, 0.3), (7.7, 1.6), costs=costs_of(number)).cost for number in range(150)]
    wrong = []

    def ask(first):
        numbers = range(first, 150, 2)
        costs = [mesh.path((0.2, 0.3), (7.7, 1.6), costs=costs_of(number)).cost for number in numbers]
        wrong.extend(number for number, cost in zip(numbers, costs, strict=True) if cost != expected[number])

    threads = [threading.Thread(target=ask, args=(at % 2,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_reasons_of_many_islands_take_bounded_memory():
    side = 12
    corners = [(3 * x + dx, 3 * y + dy, 0.0) for x in range(side) for y in range(side) for dx, dy in _SQUARE]
    mesh = NavMesh.from_polygons(corners, np.arange(len(corners)).reshape(-1, 4))
    world_like = mesh.path((0.5, 0.5), (33.5, 33.5))
    first = world_like.why
    from wayfold.navmesh.why import Reasons  # the planner keeps one of them for all queries

    snapshot = mesh.snapshot
    reasons = Reasons(snapshot, snapshot.area_costs(None))
    assert reasons.explain([0], [side * side - 1]) == first
    texts = {}
    more = growth(
        lambda number: texts.update(last=reasons.explain([number % 144], [(number // 7 + 70) % 144])), 200, 700
    )
    assert more < 50_000, f"{more} bytes for 500 pairs of islands"
    assert reasons.explain([0], [side * side - 1]) == first


_SQUARE = ((0, 0), (2, 0), (2, 2), (0, 2))


def test_grids_of_many_cell_sizes_leave_no_scratch_behind(monkeypatch):
    monkeypatch.setattr("wayfold.terrain.terrain.LIMIT", 2**17)
    terrain = Terrain([(shapely.box(0, 0, 10, 10), 1.0), (shapely.box(3, 0, 5, 8), 4.0)])
    more = growth(lambda number: terrain.path((1, 1), (9, 1), graph="grid", cell=10 / (100 - number // 2)), 40, 120)
    assert more < 400_000, f"{more} bytes for 40 sizes of cells"


def test_a_terrain_painted_again_and_again_does_not_keep_all_before_it():
    terrain = [Terrain([(shapely.box(0, 0, 40, 40), 1.0)])]
    spot = shapely.box(3, 3, 4, 4)

    def paint(number):
        terrain[0] = terrain[0].changed([(spot, 2.0 if number % 2 else 0.5)])
        assert terrain[0].path((1, 3.5), (9, 3.5), radius=0.2 * (number % 3 == 0)).found

    # Names of layers grow by a word each time; what is cut, and routes over it, are those of the last ones.
    more = growth(paint, 24, 104)
    assert more < 200_000, f"{more} bytes for 80 terrains"


def test_locks_of_threads_go_with_the_threads():
    lock = ReadersWriter()
    together = threading.Barrier(40)

    def read():
        with lock.reading():
            together.wait(30)

    for _ in range(3):
        threads = [threading.Thread(target=read) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    gc.collect()
    assert len(lock._all) <= 1
    with lock.writing(), lock.reading():
        pass
    entered = threading.Event()
    with lock.reading():
        writer = threading.Thread(target=lambda: [lock.writing().__enter__(), entered.set()])
        writer.start()
        assert not entered.wait(0.05)
    assert entered.wait(30)
    writer.join()


def room():
    return World.from_map(MovingAiMap(np.full((12, 12), ord("."), np.uint8)), cache=False)


def test_a_world_keeps_the_planners_asked_for_last_and_edits_reach_those_that_somebody_has():
    world = room()
    mine = world.planner(Agent(radius=0.11))
    weighed = [0]
    for number in range(60):
        planner = world.planner(Agent(radius=0.2 + number / 100))
        if number > 40:
            weighed.append(len(world.planners))
    assert max(weighed) <= 33
    assert world.planner(Agent(radius=0.2 + 59 / 100)) is planner
    assert world.planner(Agent(radius=0.11)) is mine
    assert mine in world.planners
    wall = world.block(Box((5, -1, -1), (6, 20, 1)))
    again = world.planner(Agent(radius=0.2))  # made again, with the wall
    for one in (mine, again, planner):
        assert not one.reachable((1, 1), (10, 10))
    world.unblock(wall)
    for one in (mine, again, planner):
        assert one.reachable((1, 1), (10, 10))


def test_blocks_that_are_gone_leave_nothing_in_a_flyer_s_planner():
    flyer = Agent(radius=0.3, height=0.6, motions=Motion.VOLUMETRIC)
    world = World.from_mesh(things.floors(), cache=False)
    planner = world.planner(flyer, region_size=8.0)
    for number in range(12):
        world.unblock(world.block(Box((-5 + number / 3, -4, 0.2), (-4.5 + number / 3, -3, 1.5))))
    assert not planner._current._meshes
    kept = world.block(Box((-5, -4, 0.2), (-4.5, -3, 1.5)))
    assert list(planner._current._meshes) == [kept]
