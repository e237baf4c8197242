"""Edits and questions for as long as one likes: ``make soak MINUTES=60``.

Every map is asked by four threads while a fifth edits it. The memory of the process is sampled: it must be flat after
the first minutes. At the end every map must answer as one that is built anew with the same content, and must not take
much more memory than that. Ends with status 1 and a sentence for everything that is not so.
"""

from __future__ import annotations

import argparse
import resource
import sys
import threading
import time
import traceback

import numpy as np
import shapely

import wayfold
from wayfold import Agent, Box, FloorPlan, Graph, Hierarchy, Motion, SparseGrid, Terrain, World
from wayfold.errors import WayfoldError
from wayfold.formats import Map3D, MovingAiMap

ASKERS = 4
WARM = 0.25  # of the run, at least a minute where there is one: caches fill, allocators settle
GROWTH = 1.10  # of memory after that
ROOM = 2.0  # bytes of a map by those of a new one, at most
BIRD = Agent(radius=0.3, height=0.6, climb=0.3, motions=Motion.VOLUMETRIC)


class Soaked:
    """One map: `edit` changes it, `ask` asks it, `check` compares it with a new one and returns what is wrong."""

    name = ""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.edits = self.asked = 0
        self.problems = []

    def edit(self):
        raise NotImplementedError

    def ask(self, rng):
        raise NotImplementedError

    def check(self):
        raise NotImplementedError


class SoakedWorld(Soaked):
    """A planner of a world that is blocked, unblocked and priced."""

    def __init__(self, name, make, agent, seed, *, priced=True):
        super().__init__(seed)
        self.name, self.make, self.agent, self.priced = name, make, agent, priced
        self.world = make()
        self.planner = self.world.planner(agent)
        self.places = self.planner.random_points(40, seed=1)
        self.there = []

    def edit(self):
        rng = self.rng
        if self.there and rng.random() < len(self.there) / 12:
            shape, cost = self.there.pop(int(rng.integers(len(self.there))))
            if cost is None:
                self.world.unblock(shape)
            else:
                self.world.set_cost(shape, 1.0)
            return
        (x0, y0, z0), (x1, y1, z1) = self.world.bounds
        size = rng.uniform(0.03, 0.15, 2) * (x1 - x0, y1 - y0)
        corner = rng.uniform((x0, y0), (x1 - size[0], y1 - size[1]))
        shape = Box((*corner, z0 - 1), (*(corner + size), rng.uniform(z0 + 0.5, z1 + 1)))
        if self.priced and rng.random() < 0.4:
            cost = float(rng.choice([0.5, 2.0, 7.0]))
            self.world.set_cost(shape, cost)
            self.there.append((shape, cost))
        else:
            self.world.block(shape)
            self.there.append((shape, None))

    def ask(self, rng):
        a, b = self.places[rng.integers(len(self.places), size=2)]
        if rng.random() < 0.03:
            self.planner.field(b).path(a)
        elif rng.random() < 0.1:
            self.planner.reachable(a, b)
        else:
            path = self.planner.path(a, b, exact=bool(rng.random() < 0.2))
            assert path.cost >= 0, path
            str(path.why)

    def check(self):
        self.planner.refresh()
        fresh = self.make()
        for shape, cost in self.there:
            if cost is None:
                fresh.block(shape)
        for shape, cost in self.world.costs:
            fresh.set_cost(shape, cost)
        other = fresh.planner(self.agent)
        wrong = []
        for a, b in zip(self.places[:20], self.places[20:], strict=True):
            answers = []
            for planner in (self.planner, other):
                try:
                    answers.append(planner.path(a, b, exact=True))
                except WayfoldError as error:
                    answers.append(type(error))
            one, two = answers
            if isinstance(one, type) or isinstance(two, type):
                same = one is two
            else:
                same = one.status is two.status and (
                    not one or abs(one.cost - two.cost) <= self.slack * two.cost + 1e-6
                )
            if not same:
                wrong.append(f"{a.tolist()} to {b.tolist()}: {one}, anew {two}")
        if self.planner.nbytes > ROOM * other.nbytes + 65536:
            wrong.append(f"{self.planner.nbytes} bytes, anew {other.nbytes}")
        return wrong

    # Waypoints are placed anew around blocks, by edits otherwise than by a build: ways differ a little.
    @property
    def slack(self):
        return 0.25 if self.planner.map_name == "waypoints" else 1e-3


class SoakedHierarchy(Soaked):
    """Levels whose edges get other costs. Nobody asks while an update runs."""

    name = "hierarchy"

    def __init__(self, seed, side=24):
        super().__init__(seed)
        number = np.arange(side * side).reshape(side, side)
        across = np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
        self.edges = np.concatenate([across, np.column_stack([number[:-1].ravel(), number[1:].ravel()])])
        points = np.column_stack([np.tile(np.arange(side), side), np.repeat(np.arange(side), side)])
        self.graph = Graph.from_edges(points, self.edges, costs=self.rng.uniform(1, 2, len(self.edges)))
        self.levels = Hierarchy.build(self.graph, merge=6, levels=3)
        self.lock = threading.Lock()

    def edit(self):
        chosen = self.edges[self.rng.integers(len(self.edges), size=4)]
        with self.lock:
            self.levels.update(chosen, self.rng.choice([0.2, 1.0, 2.0, 5.0, 50.0, np.inf], size=4))
            if self.edits % 200 == 199:
                self.levels.refresh()

    def ask(self, rng):
        a, b = rng.integers(self.graph.num_nodes, size=2)
        with self.lock:
            assert self.levels.path(int(a), int(b)).cost >= 0

    def check(self):
        self.levels.refresh()
        fresh = Hierarchy.build(self.levels.graph, merge=6, levels=3)
        rng = np.random.default_rng(1)
        wrong = []
        for a, b in rng.integers(self.graph.num_nodes, size=(60, 2)).tolist():
            one, two = self.levels.path(a, b), fresh.path(a, b)
            if one.status is not two.status or (one and abs(one.cost - two.cost) > 1e-4 * two.cost + 1e-6):
                wrong.append(f"{a} to {b}: {one}, anew {two}")
        if self.levels.nbytes > ROOM * fresh.nbytes:
            wrong.append(f"{self.levels.nbytes} bytes, anew {fresh.nbytes}")
        return wrong


class SoakedGrid(Soaked):
    """A sparse grid whose cells come and go."""

    name = "sparse grid"

    def __init__(self, seed, side=48):
        super().__init__(seed)
        self.side = side
        self.there = np.ones((side, side), bool)
        self.there[0] = self.there[-1] = True
        self.grid = SparseGrid.from_cells(np.argwhere(self.there))

    def edit(self):
        x, y = self.rng.integers(1, self.side - 6, size=2)
        w, h = self.rng.integers(1, 6, size=2)
        block = np.argwhere(self.there[x : x + w, y : y + h]) + np.array([x, y])
        gone = np.argwhere(~self.there[x : x + w, y : y + h]) + np.array([x, y])
        if len(block) and (not len(gone) or self.rng.random() < 0.5):
            self.grid.remove(block)
            self.there[tuple(block.T)] = False
        elif len(gone):
            self.grid.add(gone)
            self.there[tuple(gone.T)] = True

    def ask(self, rng):
        ends = [(0, int(rng.integers(self.side))), (self.side - 1, int(rng.integers(self.side)))]
        assert self.grid.path(*ends, exact=bool(rng.random() >= 0.7)).cost >= 0

    def check(self):
        fresh = SparseGrid.from_cells(np.argwhere(self.there))
        wrong = []
        for k in range(0, self.side, 3):
            ends = (0, k), (self.side - 1, self.side - 1 - k)
            one, two = (grid.path(*ends, exact=True) for grid in (self.grid, fresh))
            if one.status is not two.status or abs(one.cost - two.cost) > 1e-9 * two.cost:
                wrong.append(f"{ends}: {one}, anew {two}")
        if self.grid.nbytes > ROOM * fresh.nbytes:
            wrong.append(f"{self.grid.nbytes} bytes, anew {fresh.nbytes}")
        return wrong


class SoakedPlan(Soaked):
    """A floor plan whose obstacles come and go."""

    name = "floor plan"

    def __init__(self, seed):
        super().__init__(seed)
        self.parts = FloorPlan(shapely.box(0, 0, 30, 20)).decompose()
        self.obstacles = []

    def edit(self):
        if self.obstacles and self.rng.random() < len(self.obstacles) / 10:
            number = int(self.rng.integers(len(self.obstacles)))
            self.parts.remove_obstacle(number)
            del self.obstacles[number]
            return
        x, y = self.rng.uniform((2, 2), (26, 16))
        shape = shapely.box(x, y, x + self.rng.uniform(0.5, 3), y + self.rng.uniform(0.5, 3))
        self.parts.add_obstacle(shape)
        self.obstacles.append(shape)

    def ask(self, rng):
        assert self.parts.path((0.5, rng.uniform(0.5, 19.5)), (29.5, rng.uniform(0.5, 19.5))).cost >= 0

    def check(self):
        fresh = FloorPlan(shapely.box(0, 0, 30, 20), self.obstacles).decompose()
        wrong = []
        for k in range(1, 20, 2):
            one, two = (parts.path((0.5, k), (29.5, 20 - k), exact=True) for parts in (self.parts, fresh))
            if one.status is not two.status or (one and abs(one.cost - two.cost) > 1e-6 * two.cost):
                wrong.append(f"row {k}: {one}, anew {two}")
        return wrong


def voxels():
    blocked = np.zeros((24, 24, 12), bool)
    blocked[6:9, :, :8] = blocked[14:17, 4:, 3:] = True
    return Map3D(np.array(blocked.shape, np.int32), np.argwhere(blocked).astype(np.int32))


def terrain():
    mud, grass = shapely.box(20, 5, 30, 30), shapely.box(0, 0, 50, 40)
    return Terrain([(grass, 1.0, "grass"), (mud, 4.0, "mud")])


def maps():
    """One of each."""
    mesh = wayfold.samples.rooms(1, size=(30.0, 20.0)).mesh()
    cells = MovingAiMap(np.where(np.random.default_rng(3).random((40, 40)) < 0.8, ord("."), ord("@")).astype(np.uint8))
    return [
        SoakedWorld("walkers", lambda: World.from_mesh(mesh, cache=False), Agent(), 1),
        SoakedWorld("birds", lambda: World.from_mesh(mesh, cache=False), BIRD, 2),
        SoakedWorld("cells", lambda: World.from_map(cells, cache=False), Agent(), 3, priced=False),
        SoakedWorld("voxels", lambda: World.from_map(voxels(), cache=False), BIRD, 4),
        SoakedWorld("terrain", lambda: World.from_terrain(terrain(), cache=False), Agent(), 5),
        SoakedHierarchy(6),
        SoakedGrid(7),
        SoakedPlan(8),
    ]


def memory():
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as handle:
        return int(handle.read().split()[1]) * resource.getpagesize()


def soak(minutes, told=print):
    """Run for so many minutes; what is wrong, as sentences."""
    begin = time.monotonic()
    everything = maps()
    told(f"{time.monotonic() - begin:6.0f} s  built {', '.join(one.name for one in everything)}")
    ending = begin + 60.0 * minutes
    over = threading.Event()
    problems = []

    def asking(seed):
        rng = np.random.default_rng(seed)
        while not over.is_set():
            one = everything[int(rng.integers(len(everything)))]
            try:
                one.ask(rng)
                one.asked += 1
            except WayfoldError:
                one.asked += 1  # what is blocked cannot be a start
            except Exception:
                problems.append(f"{one.name}: a query raised {traceback.format_exc(limit=4)}")
                over.set()

    askers = [threading.Thread(target=asking, args=(seed,), daemon=True) for seed in range(ASKERS)]
    for thread in askers:
        thread.start()
    samples, next_line = [], begin
    while time.monotonic() < ending and not over.is_set():
        for one in everything:
            try:
                one.edit()
                one.edits += 1
            except WayfoldError:
                one.edits += 1  # an edit may be refused; nothing has changed then
            except Exception:
                problems.append(f"{one.name}: an edit raised {traceback.format_exc(limit=4)}")
                over.set()
        now = time.monotonic()
        if now >= next_line:
            samples.append((now - begin, memory()))
            counts = ", ".join(f"{one.name} {one.edits}/{one.asked}" for one in everything)
            told(f"{now - begin:6.0f} s  {samples[-1][1] / 2**20:.0f} MiB; edits/questions: {counts}")
            next_line = now + max(5.0, 0.6 * minutes)
        time.sleep(0.005)
    over.set()
    for thread in askers:
        thread.join(60.0)
        if thread.is_alive():
            problems.append("a query hangs")
    problems += _growth(samples, minutes)
    for one in everything:
        wrong = one.check()
        told(
            f"{time.monotonic() - begin:6.0f} s  {one.name}: {'as built anew' if not wrong else f'{len(wrong)} wrong'}"
        )
        problems += [f"{one.name}: {what}" for what in wrong[:5]]
    return problems


def _growth(samples, minutes):
    """Memory after the first part of the run against its end."""
    settled = [size for at, size in samples if at >= max(WARM * 60 * minutes, min(60.0, 30 * minutes))]
    if len(settled) < 6:
        return []
    early, late = np.median(settled[: len(settled) // 3]), np.median(settled[-(len(settled) // 3) :])
    if late > GROWTH * early + (8 << 20):
        return [f"memory grew from {early / 2**20:.0f} to {late / 2**20:.0f} MiB"]
    return []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("minutes", type=float)
    problems = soak(parser.parse_args().minutes, lambda line: print(line, flush=True))
    for problem in problems:
        print(f"not so: {problem}", flush=True)
    print("flat, and everything is as it was built anew" if not problems else f"{len(problems)} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
