"""`Graph`, `Hierarchy` and `SubregionGraph` over graphs that are moved, numbered otherwise, and cut finer.

Positions are kept as they are given, so ways whose cost is their length differ by rounding alone. Costs that are given,
and those of a hierarchy's shortcuts, are float32: each is off by at most 2**-24 of itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.draws import SEED, seeds
from tests.metamorphic import changes, worlds
from tests.metamorphic.changes import drawn_placement, turned_in_space
from tests.metamorphic.judge import EXACT, ask, attempt, dearer_than, rounding, verdict, wrong_answers
from wayfold import Graph, Hierarchy, NavMesh, SubregionGraph


@dataclass(frozen=True)
class GraphWorld:
    points: np.ndarray
    edges: np.ndarray
    costs: np.ndarray | None
    directed: bool
    pairs: np.ndarray  # (q, 2) node numbers

    @property
    def extent(self):
        return float(np.ptp(self.points, axis=0).max())


def drawn_graph(seed, nodes=60, *, costs=False, directed=False):
    """Points in space joined to near ones, in two or three parts that nothing joins."""
    draw = np.random.default_rng([seed, 11])
    points = draw.uniform(-20, 20, (nodes, 3))
    part = draw.integers(0, 3, nodes)
    edges = []
    for node in range(nodes):
        mates = np.flatnonzero(part == part[node])
        near = mates[np.argsort(((points[mates] - points[node]) ** 2).sum(axis=1))[1:4]]
        edges += [(node, int(other)) for other in near]
    edges = np.array(edges)
    lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    prices = None
    if costs:
        prices = lengths * draw.choice([0.3, 1.0, 2.5, 7.0], len(edges))
        prices[draw.random(len(edges)) < 0.05] = np.inf
        prices[draw.random(len(edges)) < 0.05] = 0.0
    return GraphWorld(points, edges, prices, directed, draw.integers(0, nodes, (14, 2)))


def placed(world, placement):
    costs = None if world.costs is None else world.costs * placement.scale
    return replace(world, points=placement(world.points), costs=costs)


def renumbered(world, seed):
    """Nodes and edges in another order; edges that lead both ways the other way round."""
    draw = np.random.default_rng(seed)
    order = draw.permutation(len(world.points))
    where = np.argsort(order)
    edges = where[world.edges]
    if not world.directed:
        edges = np.where(draw.random(len(edges))[:, None] < 0.5, edges, edges[:, ::-1])
    chosen = draw.permutation(len(edges))
    costs = None if world.costs is None else world.costs[chosen]
    return replace(world, points=world.points[order], edges=edges[chosen], costs=costs, pairs=where[world.pairs])


def subdivided(world, seed):
    """Some edges with a node on them, where they cost what they cost before."""
    draw = np.random.default_rng(seed)
    points, edges = list(world.points), world.edges.tolist()
    costs = None if world.costs is None else world.costs.tolist()
    for number in draw.choice(len(edges), len(edges) // 4, replace=False):
        a, b = edges[number]
        part = draw.uniform(0.1, 0.9)
        points.append(points[a] + part * (points[b] - points[a]))
        edges[number] = [a, len(points) - 1]
        edges.append([len(points) - 1, b])
        if costs is not None:
            costs.append((1 - part) * costs[number])
            costs[number] *= part
    return replace(
        world, points=np.array(points), edges=np.array(edges), costs=None if costs is None else np.array(costs)
    )


def doubled(world, seed):
    """Some nodes with a second one right beside them, joined to it both ways for nothing or nearly so."""
    draw = np.random.default_rng(seed)
    points, edges = list(world.points), world.edges.tolist()
    costs = None if world.costs is None else world.costs.tolist()
    for node in draw.choice(len(world.points), 8, replace=False):
        points.append(points[node] + world.extent * draw.uniform(-1e-9, 1e-9, 3))
        twin = len(points) - 1
        for number, (a, b) in enumerate(edges):
            if a == node and draw.random() < 0.5:
                edges[number] = [twin, b]
        links = [[int(node), twin], [twin, int(node)]] if world.directed else [[int(node), twin]]
        edges += links
        if costs is not None:
            costs += [0.0] * len(links)
    return replace(
        world, points=np.array(points), edges=np.array(edges), costs=None if costs is None else np.array(costs)
    )


CUTS = (renumbered, subdivided, doubled)


def answers(world):
    graph = Graph.from_edges(world.points, world.edges, costs=world.costs, directed=world.directed)
    hierarchy = Hierarchy.build(graph, merge=4, levels=3)
    pairs = world.pairs.tolist()
    result = {
        "Graph": [ask(graph.path, *pair) for pair in pairs],
        "Graph, both ends": [ask(lambda a, b: graph.path(a, b, algorithm="bidirectional"), *pair) for pair in pairs],
        "Hierarchy": [ask(hierarchy.path, *pair) for pair in pairs],
    }
    if not world.directed:
        subregions = SubregionGraph.build(graph, regions=(3, 2, 2))
        result["SubregionGraph, exact"] = [ask(lambda a, b: subregions.path(a, b, exact=True), *p) for p in pairs]
        result["SubregionGraph"] = [ask(subregions.path, *pair) for pair in pairs]
    return result


def judge(world, variants, counted):
    before = answers(world)
    wrong = []
    totals = dict.fromkeys(before, 0)
    for changed, scale, what in variants:
        after = attempt(wrong, what, answers, changed) or {}

        def exact(a, b, changed=changed):
            # A way may lead over a doubled node at each of its steps, 1e-9 of the extent aside on every axis.
            return (a.corners + b.corners) * (4 * EXACT * changed.extent + 4 * rounding(changed.points))

        def rounded(a, b, exact=exact, scale=scale):
            return exact(a, b) + (a.corners + b.corners) * 2.0**-24 * max(a.cost * scale, b.cost)

        for kind, answer in after.items():
            totals[kind] += len(answer)
            tolerance = rounded if changed.costs is not None or kind == "Hierarchy" else exact
            if kind == "SubregionGraph":  # searches a part of the graph, which another cut into regions changes
                wrong += dearer_than(after["Graph"], answer, tolerance, what=f"{what}, {kind}")
            else:
                wrong += wrong_answers(before["Graph"], answer, scale, tolerance, what=f"{what}, {kind}")
    for kind, total in totals.items():
        counted(kind, len(variants), total)
    verdict(wrong)


def placements(seed):
    far = drawn_placement(seed)
    return [turned_in_space(seed).then(far), turned_in_space(seed + 1).then(changes.shifted(1e7, -1e7, 3e6)), far]


@pytest.mark.parametrize("directed", [False, True], ids=["both ways", "one way"])
@pytest.mark.parametrize("costs", [False, True], ids=["lengths", "costs"])
@seeds(3)
def test_graphs_answer_alike_wherever_they_lie_and_however_they_are_numbered(seed, costs, directed, counted):
    world = drawn_graph(seed, costs=costs, directed=directed)
    variants = [(placed(world, p), p.scale, repr(p)) for p in placements(seed)]
    variants += [(cut(world, seed), 1.0, cut.__name__) for cut in CUTS]
    judge(world, variants, counted)


@pytest.mark.long
@pytest.mark.parametrize("directed", [False, True], ids=["both ways", "one way"])
@pytest.mark.parametrize("costs", [False, True], ids=["lengths", "costs"])
def test_many_changed_graphs_answer_alike(costs, directed, counted):
    for seed in range(100 * SEED + 50, 100 * SEED + 90):
        world = drawn_graph(seed, costs=costs, directed=directed)
        variants = [(placed(world, p), p.scale, repr(p)) for p in placements(seed)]
        for cut in CUTS:
            variants.append((cut(world, seed), 1.0, cut.__name__))
            variants += [(placed(cut(world, seed), p), p.scale, f"{cut.__name__}, {p}") for p in placements(seed + 7)]
        judge(world, variants, counted)


# --- hierarchies over navigation meshes ------------------------------------------------------------------------------


def mesh_answers(world, pairs):
    mesh = NavMesh.from_polygons(world.vertices, world.polygons)
    hierarchy = Hierarchy.build(mesh, merge=3, levels=2)
    return {
        "Hierarchy over NavMesh": [ask(hierarchy.path, *pair) for pair in pairs],
        "Graph of NavMesh": [ask(hierarchy.graph.path, *pair) for pair in pairs],
    }


def judge_meshes(plan, placements, counted):
    world = plan.polygon_world(4, 1)
    pairs = np.random.default_rng(3).integers(0, len(world.polygons), (12, 2)).tolist()
    before = mesh_answers(world, pairs)["Graph of NavMesh"]
    wrong = []
    for placement in placements:
        changed = changes.place(world, placement)
        for kind, answer in (attempt(wrong, repr(placement), mesh_answers, changed, pairs) or {}).items():

            def tolerance(a, b, changed=changed):
                # Costs of the graph are kept as float32.
                return (a.corners + b.corners) * (
                    2.0**-23 * max(a.cost, b.cost, changed.extent) + 4 * rounding(changed.vertices)
                )

            wrong += wrong_answers(before, answer, placement.scale, tolerance, what=f"{plan.name}, {placement}, {kind}")
            counted(kind, 1, len(answer))
    verdict(wrong)


@pytest.mark.parametrize("plan", [worlds.ROOMS, worlds.SPIRAL], ids=lambda plan: plan.name)
def test_a_hierarchy_over_a_navmesh_answers_alike_wherever_it_lies(plan, counted):
    judge_meshes(plan, changes.some_placements(), counted)


@pytest.mark.long
@pytest.mark.parametrize("plan", worlds.PLANS, ids=lambda plan: plan.name)
def test_many_hierarchies_over_navmeshes_answer_alike(plan, counted):
    first = 1000 * SEED
    drawn = [drawn_placement(seed) for seed in range(first, first + 40)]
    judge_meshes(plan, [*changes.all_placements(), *drawn], counted)
