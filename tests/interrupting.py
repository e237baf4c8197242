"""Interrupt one kind of build or edit at random moments: ``python -m tests.interrupting KIND TIMES SEED``.

A process of its own, since an interrupt in the wrong place would end it. It prints how many interrupts came before the
work was done, and the longest time in milliseconds from one of them to its effect.
"""

from __future__ import annotations

import math
import os
import random
import signal
import sys
import time

import numpy as np
import shapely

from tests.world.levels import BIRD, EVERYBODY, PERSON, SPIDER, courtyard
from wayfold import Box, FloorPlan, Graph, Hierarchy, NavMesh, SparseGrid, SubregionGraph, WaypointGraph, World
from wayfold.floorplan import Building
from wayfold.formats import Map3D
from wayfold.terrain import Terrain
from wayfold.waypoints import VoxelWaypoints

MESH = courtyard()
BOX = Box((11.0, 3.0, -1.0), (13.0, 7.0, 2.0))


def scattered(side=60):
    """A graph of near points with costs."""
    rng = np.random.default_rng(4)
    points = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2) + rng.uniform(
        -0.2, 0.2, (side**2, 2)
    )
    number = np.arange(side**2).reshape(side, side)
    edges = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:]), (number[:-1, :-1], number[1:, 1:])]
    joined = np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in edges])
    gaps = np.linalg.norm(points[joined[:, 0]] - points[joined[:, 1]], axis=1)
    return Graph.from_edges(points, joined, costs=gaps * rng.uniform(1, 3, len(gaps)))


GRAPH = scattered()


def voxels():
    """A quarter of all voxels is blocked."""
    return np.random.default_rng(1).random((24, 24, 12)) < 0.25


def length(path):
    return round(path.cost, 6) if path.found else -1.0


def lengths(map_, places, **options):
    """Costs of paths between places, in a cycle."""
    return tuple(length(map_.path(a, b, **options)) for a, b in zip(places, [*places[1:], places[0]], strict=True))


# --- builds: what to make, and what is the same in two of them ----------------------------------------------------


def planners():
    """Everybody in a new world."""
    world = World.from_mesh(MESH, cache=False)
    return [world.planner(agent) for agent in EVERYBODY.values()]


def meadow():
    """Grass with woods and a lake in it."""
    lake = shapely.Point(30, 30).buffer(10, 4)
    woods = [shapely.box(x, y, x + 8, y + 6) for x in range(3, 60, 14) for y in range(4, 60, 11)]
    dry = [wood for wood in woods if not wood.intersects(lake)]
    return Terrain([*((wood, 3.0) for wood in dry), (lake, math.inf)], default=1.0, bounds=(0, 0, 70, 70))


def routed():
    """A new terrain and its first path."""
    return meadow().path((1, 1), (62, 60))


def batch():
    """Many paths at once, over several threads."""
    nodes = np.random.default_rng(2).integers(0, GRAPH.num_nodes, (2, 200))
    return GRAPH.paths(*nodes, workers=3)


BUILDS = {
    "navmesh": (lambda: NavMesh.build(MESH, PERSON), lambda made: made.vertices.tobytes()),
    "climber": (lambda: WaypointGraph.build(MESH, SPIDER), lambda made: made.points.tobytes()),
    "flyer": (lambda: WaypointGraph.build(MESH, BIRD), lambda made: made.points.tobytes()),
    "voxels": (lambda: VoxelWaypoints.from_voxels(voxels()), lambda made: made.points.tobytes()),
    "subregions": (lambda: SubregionGraph.build(scattered()), lambda made: made.labels.tobytes()),
    "hierarchy": (lambda: Hierarchy.build(scattered()), lambda made: made.partition.order.tobytes()),
    "cells": (lambda: SparseGrid.from_mesh(MESH, agent=PERSON), lambda made: made.cells.tobytes()),
    "terrain": (routed, length),
    "batch": (batch, lambda made: made.costs.tobytes()),
    "floorplan": (lambda: FloorPlan.slice(MESH, 0.0, agent=PERSON).decompose(), lambda made: len(made.regions)),
    "building": (lambda: Building.from_mesh(MESH, agent=PERSON), lambda made: len(made.floors)),
    "planners": (planners, lambda made: [lengths(planner, planner.random_points(4, seed=1)) for planner in made]),
}


# --- edits: a change, the change that undoes it, and what tells the two states apart ------------------------------


def cells(change, back):
    """A sparse grid; `change` and `back` name its methods, which get 200 cells."""
    every = [(x, y, 0) for x in range(30) for y in range(30)]
    some = random.Random(2).sample(every[1:-1], 200)
    grid = SparseGrid.from_cells(every)

    def state():
        ways = [length(grid.path((0, 0), (29, 29), exact=exact)) for exact in (True, False)]
        there = grid.contains(every)
        marks = grid.effects([cell for cell, yes in zip(every, there, strict=True) if yes])
        return there.tobytes(), marks.tobytes(), grid.num_regions, grid.num_abstract_edges, *ways

    return lambda: getattr(grid, change)(some), lambda: getattr(grid, back)(some), state


def grid_links():
    """A sparse grid with and without a link."""
    grid = SparseGrid.from_cells([(x, y, 0) for x in range(30) for y in range(30) if x != 15 or y == 29])
    ends = (14, 0, 0), (16, 0, 0)
    ways = lambda: tuple(length(grid.path(*ends, exact=exact)) for exact in (True, False))  # noqa: E731
    return lambda: grid.add_link(*ends, cost=5.0), lambda: grid.remove_link(*ends), ways


def waypoints():
    """A waypoint graph loses some edges and gets them back; subregions follow what it says."""
    graph = WaypointGraph.build(MESH, SPIDER)
    subregions = SubregionGraph.build(graph)
    row = slice(*graph.graph.offsets[[7, 8]])
    edges = np.array([(7, int(to)) for to in graph.graph.targets[row]])
    motions = graph.graph.motions[row].copy()
    nodes = [*np.random.default_rng(3).integers(0, graph.num_waypoints, (6, 2)).tolist(), [7, 9]]

    def there():
        subregions.repair(graph.update(remove=edges))

    def back():
        subregions.repair(graph.update(edges, motions))

    def state():
        # An interrupt between the two steps is the caller's: what is to be repaired is what was touched.
        plain = tuple(length(graph.graph.path(a, b, motions=int(SPIDER.motions))) for a, b in nodes)
        return graph.num_edges, plain

    return there, back, state


def hierarchy(how):
    """A hierarchy with other costs in one corner, or (customised) everywhere."""
    graph = scattered()
    levels = Hierarchy.build(graph)
    joined = np.array([(a, int(b)) for a in range(90) for b in graph.targets[slice(*graph.offsets[[a, a + 1]])]])
    prices = np.concatenate([graph.costs[slice(*graph.offsets[[a, a + 1]])] for a in range(90)])
    nodes = np.random.default_rng(3).integers(0, graph.num_nodes, (8, 2)).tolist()

    def change(factor):
        if how == "customise":
            levels.customise(costs=factor * graph.costs)
            return
        levels.update(joined, factor * prices)
        if how == "refresh":
            levels.refresh()

    def state():
        ways = [levels.path(a, b).cost for a, b in nodes]
        np.testing.assert_allclose(ways, [levels.graph.path(a, b).cost for a, b in nodes], rtol=1e-5)
        return tuple(f"{way:.4g}" for way in ways)

    return lambda: change(5.0), lambda: change(1.0), state


def navmesh(how):
    """A navmesh gets a link, or is built again with a wall across its gap."""
    mesh = NavMesh.build(MESH, PERSON)
    places = mesh.random_points(6, seed=2)
    walled = type(MESH).concatenate([MESH, BOX.mesh()])
    state = lambda: (mesh.num_links, mesh.vertices.tobytes(), lengths(mesh, places))  # noqa: E731
    if how == "links":
        return lambda: mesh.add_link(places[0], places[1], cost=0.5), mesh.clear_links, state
    return lambda: mesh.rebuild(BOX.bounds, walled), lambda: mesh.rebuild(BOX.bounds, MESH), state


def world(kind):
    """A world with planners of every kind; a block comes and goes, or costs do."""
    if kind == "terrain":
        place = World.from_terrain(meadow(), cache=False)
        those = [place.planner()]
        box = Box((30.0, 30.0, -1.0), (40.0, 40.0, 1.0))
    elif kind == "voxels":
        place = World.from_map(
            Map3D(np.array(voxels().shape, np.int32), np.argwhere(voxels()).astype(np.int32)), cache=False
        )
        those = [place.planner(BIRD)]
        box = Box((10.0, 10.0, 2.0), (14.0, 14.0, 8.0))
    else:
        place = World.from_mesh(MESH, cache=False)
        those = [*(place.planner(agent) for agent in EVERYBODY.values()), place.planner(PERSON, map="sparse-grid")]
        box = BOX
    starts = [planner.random_points(3, seed=5) for planner in those]

    def state():
        ways = (lengths(planner, points) for planner, points in zip(those, starts, strict=True))
        return place.blocks, tuple(place._counts), place.costs, tuple(ways)

    if kind == "costs":
        return lambda: place.set_cost(box, 4.0), lambda: place.set_cost(box, 1.0), state
    return lambda: place.block(box), lambda: place.unblock(box), state


EDITS = {
    "grid-cells": lambda: cells("remove", "add"),
    "grid-effects": lambda: cells("add_effect", "remove_effect"),
    "grid-links": grid_links,
    "waypoints": waypoints,
    "update": lambda: hierarchy("update"),
    "refresh": lambda: hierarchy("refresh"),
    "customise": lambda: hierarchy("customise"),
    "navmesh-links": lambda: navmesh("links"),
    "rebuild": lambda: navmesh("rebuild"),
    "blocks": lambda: world("mesh"),
    "costs": lambda: world("costs"),
    "blocks-terrain": lambda: world("terrain"),
    "blocks-voxels": lambda: world("voxels"),
}


# --- the interrupts -----------------------------------------------------------------------------------------------


class Alarm:
    """Ctrl-C at a random moment of some work."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.stopped = 0
        self.slowest = 0.0
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))

    def during(self, work, longest):
        """Run `work` and interrupt it within so many seconds."""
        delay = self.rng.uniform(1e-5, longest)
        due = time.perf_counter() + delay
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            work()
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            self.stopped += 1
            self.slowest = max(self.slowest, time.perf_counter() - due)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def timed(*steps):
    """Seconds that steps take one after the other, each, in the best of three rounds: the first is slower."""
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        for step in steps:
            step()
        seconds.append((time.perf_counter() - begin) / len(steps))
    return min(seconds)


def interrupt(kind, times, seed):
    """So many interrupts; raises where something is half changed."""
    alarm = Alarm(seed)
    if kind in BUILDS:
        build, mark = BUILDS[kind]
        expected = mark(build())
        longest = timed(build)
        for _ in range(times):
            alarm.during(build, longest)
        assert mark(build()) == expected
        return alarm
    there, back, state = EDITS[kind]()
    before = state()
    there()
    after = state()
    assert before != after
    back()
    assert state() == before
    longest = timed(there, back)
    for _ in range(times):
        now = state()
        assert now in (before, after), f"{kind} is half changed"
        alarm.during(there if now == before else back, longest)
    assert state() in (before, after), f"{kind} is half changed"
    return alarm


if __name__ == "__main__":
    alarm = interrupt(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    print(alarm.stopped, round(1000 * alarm.slowest))
