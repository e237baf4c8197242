"""Edits and zones price what they touch, and the graph costs what it would if all of it were priced anew."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.draws import seeds
from tests.world.levels import EVERYBODY
from wayfold import Graph, Mesh, Motion, WaypointGraph, World
from wayfold.geometry.shapes import Box
from wayfold.waypoints.pricing import EdgePrices, prices_of

pytestmark = pytest.mark.kernels


def lattice(wide, deep, place=(0.0, 0.0, 0.0)):
    """Waypoints a metre apart with edges to their eight neighbours, in regions of about nine."""
    ids = np.arange(wide * deep).reshape(wide, deep)
    pairs = [ids[1:, :], ids[:, 1:], ids[1:, 1:], ids[1:, :-1]], [ids[:-1, :], ids[:, :-1], ids[:-1, :-1], ids[:-1, 1:]]
    joined = np.concatenate([np.column_stack([a.ravel(), b.ravel()]) for a, b in zip(*pairs, strict=True)])
    points = np.array(list(itertools.product(range(wide), range(deep), [0])), float) + place
    graph = Graph.from_edges(points, joined, motions=np.full(len(joined), 3, np.uint8))
    return WaypointGraph.from_graph(graph, (max(1, wide // 3), max(1, deep // 3), 1))


def check(prices, waypoints):
    expected = waypoints.graph.with_costs(prices_of(waypoints.graph, prices.costs))
    used = waypoints.graph.motions > 0 if waypoints.graph.motions is not None else slice(None)
    np.testing.assert_array_equal(prices.graph.costs[used], expected.costs[used])
    assert prices.graph.scale <= expected.scale
    for name in ("points", "offsets", "targets", "motions"):
        assert getattr(prices.graph, name) is getattr(waypoints.graph, name)
    last = waypoints.num_waypoints - 1
    for motions in (Motion.SURFACE, 7):
        path = expected.path(0, last, motions=motions)
        assert prices.graph.path(0, last, motions=motions).cost == pytest.approx(path.cost, rel=1e-9)


@seeds(20)
def test_prices_are_those_of_a_graph_that_is_priced_anew(seed):
    rng = np.random.default_rng(seed)
    place = np.array([1e7, -5.8e6, 0.0]) if seed % 2 else np.zeros(3)
    waypoints = lattice(int(rng.integers(4, 11)), int(rng.integers(4, 11)), place)

    def zone():
        low = rng.uniform(-1, 8, 2)
        return Box((*(low + place[:2]), -1), (*(low + rng.uniform(0.3, 5, 2) + place[:2]), 1)), float(
            rng.choice([0.3, 2, 9])
        )

    prices = EdgePrices(waypoints, (zone(),))
    check(prices, waypoints)
    for _ in range(8):
        task = rng.random()
        graph = waypoints.graph
        if task < 0.3:
            costs = (*prices.costs, zone())
            if rng.random() < 0.3:
                costs = costs[1:]
            prices.set_zones(costs, *prices.changes(waypoints, costs))
        elif task < 0.9:
            rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
            there = (rows < graph.targets) & (graph.motions > 0)
            known = np.column_stack([rows[there], graph.targets[there]])
            gone = known[rng.choice(len(known), min(len(known), 5), replace=False)]
            new = rng.integers(0, graph.num_nodes, (int(rng.integers(1, 30)), 2))
            new = new[new[:, 0] != new[:, 1]]
            waypoints.update(new, rng.integers(1, 8, len(new)).astype(np.uint8), remove=gone)
            prices.follow(waypoints)
        else:
            more = np.column_stack([rng.uniform(0.1, 2.9, (2, 2)), np.zeros(2)]) + place
            count = waypoints.num_waypoints
            waypoints.update([(0, count), (count, count + 1)], [3, 3], add_waypoints=more)
            prices.follow(waypoints)
        check(prices, waypoints)


def test_a_planner_prices_what_blocks_and_zones_touch():
    """One zone anywhere made every later edit price every edge, while queries waited."""
    mesh = Mesh.concatenate([Box((0, 0, -1), (24, 12, 0)).mesh(), Box((10, 4, 0), (13, 7, 2)).mesh()])
    world = World.from_mesh(mesh, cache=False)
    planner = world.planner(EVERYBODY["spider"])

    def agree():
        graph = planner.map.graph
        expected = graph.with_costs(prices_of(graph, planner.world.costs))
        np.testing.assert_array_equal(
            planner._current._priced.costs[graph.motions > 0], expected.costs[graph.motions > 0]
        )

    mud = world.set_cost(Box((2, 2, -1), (8, 9, 1)), 5.0)
    agree()
    wall = world.block(Box((15, 0, -1), (16, 9, 3)))
    agree()
    world.set_cost(Box((6, 6, -1), (18, 11, 1)), 0.5)
    agree()
    world.unblock(wall)
    agree()
    world.set_cost(mud, 2.0)
    agree()
