"""Real graphs: the exact hierarchy costs what flat A* costs, for thousands of pairs, before and after changes."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import peers
from wayfold import Agent, DenseGrid, Hierarchy, NavMesh
from wayfold.formats import load_bsp, load_mesh, load_scen

pytestmark = pytest.mark.data


def check(hierarchy, starts, goals):
    graph = hierarchy.graph
    expected = graph.paths(starts, goals)
    answers = hierarchy.paths(starts, goals)
    np.testing.assert_array_equal(answers.statuses, expected.statuses)
    np.testing.assert_allclose(answers.costs, expected.costs, rtol=1e-6)
    for at in range(0, len(starts), 50):
        path = hierarchy.path(int(starts[at]), int(goals[at]))
        assert path.cost == pytest.approx(expected.costs[at], rel=1e-6)
        if path:
            steps = graph.distances(int(path.nodes[0]), path.nodes)
            assert path.nodes[-1] == goals[at]
            np.testing.assert_allclose(steps[-1], expected.costs[at], rtol=1e-6)


def test_the_city_for_thousands_of_pairs_before_and_after_changes(data):
    task = peers.city(data)
    graph = task.graph
    hierarchy = Hierarchy.build(graph)
    assert hierarchy.nbytes < 100 * graph.num_nodes
    check(hierarchy, task.starts, task.goals)
    draw = np.random.default_rng(5)
    labels = graph.components()
    inside = np.flatnonzero(labels == np.bincount(labels).argmax())
    check(hierarchy, draw.choice(inside, 3000), draw.choice(inside, 3000))
    check(hierarchy, draw.integers(0, graph.num_nodes, 500), draw.integers(0, graph.num_nodes, 500))
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    for turn in range(3):
        picked = draw.choice(sources.size, 300, replace=False)
        prices = graph.costs[picked] * draw.uniform(0.5, 4, 300)
        prices[: 40 * turn] = np.inf
        hierarchy.update(np.column_stack([sources[picked], graph.targets[picked]]), prices)
        check(hierarchy, draw.choice(inside, 400), draw.choice(inside, 400))
    hierarchy.refresh()
    check(hierarchy, draw.choice(inside, 400), draw.choice(inside, 400))
    hierarchy.customise()
    check(hierarchy, task.starts, task.goals)


@pytest.mark.parametrize("name", ["arena", "brc202d", "den520d", "orz900d", "ost003d"])
def test_dragon_age_maps(data, name):
    grid = DenseGrid.from_movingai(data / f"movingai/dao/{name}.map")
    _, numbers = grid.graph()
    hierarchy = Hierarchy.build(grid)
    scenarios = load_scen(data / f"movingai/dao/{name}.map.scen")
    picked = np.unique(np.linspace(0, len(scenarios) - 1, 300).astype(int))
    starts, goals = scenarios.starts[picked], scenarios.goals[picked]
    check(hierarchy, numbers[starts[:, 1], starts[:, 0]], numbers[goals[:, 1], goals[:, 0]])


@pytest.mark.parametrize("name", ["czest2ctf", "oa_shouse"])
def test_quake_navigation_meshes(data, name):
    player = Agent(radius=15, height=56, climb=18, slope=45.5)
    mesh = NavMesh.build(load_bsp(data / f"quake/{name}.bsp").mesh, player, cell_size=4.0, cell_height=2.0)
    check_inside(Hierarchy.build(mesh, merge="auto"), 1500)


@pytest.mark.parametrize("name", ["nav_test", "dungeon", "undulating"])
def test_navigation_meshes_of_a_few_hundred_polygons(data, name):
    mesh = NavMesh.build(load_mesh(data / f"recast/{name}.obj", up="y"), Agent(radius=0.6, height=2.0, climb=0.9))
    check_inside(Hierarchy.build(mesh), 400)


def check_inside(hierarchy, count):
    """Random pairs in the largest component, over all levels even where plain A* would be chosen."""
    draw = np.random.default_rng(9)
    labels = hierarchy.graph.components()
    inside = np.flatnonzero(labels == np.bincount(labels).argmax())
    hierarchy._default_top[True] = hierarchy.num_levels
    check(hierarchy, draw.choice(inside, count), draw.choice(inside, count))
