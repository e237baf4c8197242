"""Edits that are undone leave nothing behind: a map takes as many bytes as before, and answers as before."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from tests.draws import seeds
from tests.hardening import things
from tests.hardening.measure import growth
from wayfold import Agent, Box, Mesh, NavMesh, SparseGrid, Terrain, World

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("way", ["8-bit", "regular"])
@seeds(1)
def test_a_sparse_grid_takes_what_it_took(way, seed):
    rng = np.random.default_rng(seed)
    cells = np.array([(x, y) for x in range(40) for y in range(40)])
    grid = SparseGrid.from_cells(cells, 8, successors=way)
    first = grid.path((0, 0), (39, 39), exact=True).cost, grid.num_regions, len(grid.cells)

    def work(_):
        some = cells[1:-1][rng.choice(len(cells) - 2, 120, replace=False)]
        there = some[grid.contains(some)]
        grid.add_effect(some[:40])
        grid.remove_effect(some[:40])
        grid.add_link(tuple(some[0]), (0, 0), cost=90.0)
        grid.remove_link(tuple(some[0]), (0, 0))
        grid.remove(there)
        grid.path((0, 0), (39, 39))
        grid.add(there)

    sizes = []
    for number in range(60):
        work(number)
        sizes.append(grid.nbytes)
    fresh = SparseGrid.from_cells(cells, 8, successors=way)
    assert max(sizes) <= 3 * fresh.nbytes  # room for what there was at the most, which is used again
    fresh.compact()
    grid.compact()
    assert grid.nbytes == fresh.nbytes
    assert (grid.path((0, 0), (39, 39), exact=True).cost, grid.num_regions, len(grid.cells)) == first
    assert growth(work, 5, 40) < 100_000


def test_links_and_costs_of_a_mesh_take_what_they_took():
    mesh = NavMesh.build(things.floors(), things.AGENT, cell_size=0.25, tile_size=16, workers=1)
    ends = (-5, -5, 0), (13, -5, 2)
    first = mesh.nbytes, mesh.path(*ends).cost

    def work(number):
        for at in range(6):
            mesh.add_link((-5, -4 + at / 2, 0), (13, -4 + at / 2, 2), cost=3.0 + at)
        mesh.path(*ends, costs={1: 1.0 + number % 5})
        mesh.path(*ends, costs={1: 1.0, 2: np.inf if number % 2 else 3.0}, exact=False)
        mesh.clear_links()
        mesh.path(*ends)

    assert growth(work, 60, 140) < 60_000
    assert (mesh.nbytes, mesh.path(*ends).cost) == first
    assert mesh.num_links == 0


def test_a_mesh_that_is_rebuilt_back_takes_what_it_took():
    whole = things.floors()
    walled = Mesh.concatenate([whole, things.box((4, -1, 0), (5, 1.2, 3))])
    area = [(4, -1, 0), (5, 1.2, 3)]
    mesh = NavMesh.build(whole, things.AGENT, cell_size=0.25, tile_size=16, workers=1)
    first = mesh.nbytes, mesh.num_polygons, len(mesh.vertices)

    def work(_):
        mesh.rebuild(area, walled, workers=1)
        mesh.path((-5, -5, 0), (1, 5, 0))
        mesh.rebuild(area, whole, workers=1)

    assert growth(work, 5, 25) < 100_000
    assert (mesh.nbytes, mesh.num_polygons, len(mesh.vertices)) == first


def test_a_terrain_takes_what_it_took_whatever_was_painted_over_it():
    ground = things.terrain()
    ends = (1, 8), (9, 8)
    first = ground.nbytes, ground.path(*ends).cost

    def work(number):
        spot = shapely.box(2, 5 + number % 3, 4, 9)
        painted = ground.changed([(spot, 9.0), (shapely.box(6, 6, 7, 8.5), np.inf)])
        assert painted.path(*ends).found
        ground.with_weights({"swamp": 2.0 + number % 4}).path(*ends, radius=0.1)

    assert growth(work, 5, 60) < 500_000
    assert (ground.nbytes, ground.path(*ends).cost) == first


WORLDS = {
    "navmesh": (lambda: World.from_mesh(things.floors(), cache=False), things.AGENT, {"cell_size": 0.25}),
    "sparse-grid": (lambda: World.from_mesh(things.floors(), cache=False), things.AGENT, {"map": "sparse-grid"}),
    "terrain": (lambda: World.from_terrain(Terrain([(shapely.box(0, 0, 9, 9), 1.0)]), cache=False), Agent(0.1), {}),
}


@pytest.mark.parametrize("kind", WORLDS)
def test_planners_take_what_they_took(kind):
    make, agent, settings = WORLDS[kind]
    world = make()
    planner = world.planner(agent, **settings)
    ends = planner.random_points(2, seed=2)
    low, high = world.bounds
    middle = (low + high) / 2

    def work(number):
        shape = Box(middle - 0.3 - number / 100, middle + 0.4)
        zone = Box(low - 1, middle)
        world.block(shape)
        world.set_cost(zone, 2.0)
        world.unblock(shape)
        planner.path(*ends)
        world.set_cost(zone, 1.0)

    work(0)
    first = planner.nbytes, planner.path(*ends).cost
    assert growth(work, 5, 25) < 500_000
    planner.refresh()
    assert planner.nbytes <= 1.1 * first[0]
    assert planner.path(*ends).cost == pytest.approx(first[1])
