"""One small object of every kind that can be saved, what is asked of it and how it is edited.

`SAVED` names them. Each comes with links, costs, several levels, area effects and earlier edits, so that every array of
its files holds something. `use` asks and edits and judges the answers: they are answers or `WayfoldError`s, and costs
are finite and not negative.
"""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely

from wayfold import (
    Agent,
    DenseGrid,
    Graph,
    Hierarchy,
    Mesh,
    NavMesh,
    SparseGrid,
    SubregionGraph,
    Terrain,
    WaypointGraph,
)
from wayfold.errors import WayfoldError
from wayfold.floorplan import Building, FloorPlan, Transition
from wayfold.waypoints import VoxelWaypoints


def grid_edges(columns, rows):
    number = np.arange(columns * rows).reshape(rows, columns)
    across = np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    return np.concatenate([across, np.column_stack([number[:-1].ravel(), number[1:].ravel()])])


def graph(directed=False, seed=1):
    rng = np.random.default_rng(seed)
    edges = grid_edges(6, 5)
    points = np.column_stack([np.tile(np.arange(6.0), 5), np.repeat(np.arange(5.0), 6), rng.random(30)])
    costs = 1.0 + rng.random(len(edges))
    costs[3] = np.inf
    return Graph.from_edges(points, edges, costs=costs, motions=rng.integers(1, 8, len(edges)), directed=directed)


def dense():
    kinds = np.ones((7, 9), np.uint8)
    kinds[3, 1:7] = 0
    kinds[6, :] = 2
    return DenseGrid(kinds)


def sparse():
    cells = [(x, y, (x // 6) * (y // 4)) for x in range(-5, 12) for y in range(9) if (x, y) != (2, 2)]
    grid = SparseGrid.from_cells(cells, 4, kinds=[int(y == 8) for _, y, _ in cells], drop=6, effect_cost=2.0)
    grid.add_effect([(0, 0), (0, 0), (1, 0)])
    grid.add_link((-5, 0), (11, 0, 0), cost=40.0)
    grid.add_link((-5, 3), (3, 3), both_ways=False)
    grid.remove([(5, 5, 0)])
    grid.add([(5, 5, 3)])
    return grid


def hierarchy(exact=True):
    edges = grid_edges(20, 20)
    points = np.column_stack([np.tile(np.arange(20.0), 20), np.repeat(np.arange(20.0), 20)])
    whole = Graph.from_edges(points, edges, costs=np.random.default_rng(2).random(len(edges)) + 1.0)
    made = Hierarchy.build(whole, merge=4, levels=3, exact=exact, workers=1)
    made.update([(0, 1)], 9.0)
    return made


def box(low, high):
    x0, y0, z0 = low
    x1, y1, z1 = high
    corners = np.array([(x, y, z) for z in (z0, z1) for y in (y0, y1) for x in (x0, x1)], float)
    sides = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return Mesh(corners, [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))])


def floors():
    """Two floors with a ramp, and a pillar."""
    ramp = Mesh(
        [(2, 0, 0), (8, 0, 2), (8, 2, 2), (2, 2, 0)],
        [(0, 1, 2), (0, 2, 3)],
    )
    return Mesh.concatenate(
        [box((-6, -6, -1), (2, 6, 0)), ramp, box((8, -6, 1), (14, 6, 2)), box((-3, 2, 0), (-2, 3, 3))]
    )


AGENT = Agent(radius=0.4, height=1.8, climb=0.5)


def built(**options):
    mesh = NavMesh.build(floors(), AGENT, cell_size=0.25, tile_size=16, workers=1, **options)
    mesh.add_link((-5, -5, 0), (13, 5, 2), cost=30.0, both_ways=False)
    mesh.rebuild([(-4, -4, 0), (-3, -3, 2)], Mesh.concatenate([floors(), box((-4, -4, 0), (-3, -3, 2))]), workers=1)
    return mesh


def polygons():
    mesh = NavMesh.from_polygons(
        [(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0), (8, 0, 0), (8, 4, 0), (12, 1, 1), (12, 3, 1)],
        [(0, 1, 2, 3), (1, 4, 5, 2), (4, 6, 7, 5)],
        areas=[1, 2, 1],
    )
    mesh.add_link((0.5, 0.5), (11.0, 2.0, 0.75))
    return mesh


def waypoints():
    mesh = Mesh.concatenate([box((0, 0, -1), (8, 6, 0)), box((3, 0, 0), (3.5, 4, 2))])
    closed = box((6, 0, 0), (7, 1, 0.1))
    return WaypointGraph.build(mesh, Agent(0.4, 1.0, climb=0.3), region_size=4.0, closed=closed, workers=1)


def edited_waypoints():
    made = WaypointGraph.from_graph(graph(), regions=(3, 2, 1))
    made.update([(0, 7)], costs=[2.5], remove=[(0, 1)])
    made.update([(30, 3)], costs=[1.5], add_waypoints=[(2.0, 2.0, 0.5)], remove_waypoints=[29])
    return made


def voxels():
    blocked = np.zeros((9, 7, 5), bool)
    blocked[4, :6] = True
    return VoxelWaypoints.from_voxels(blocked, region_size=4)


def subregions():
    return SubregionGraph.build(edited_waypoints(), cost="average")


def terrain():
    regions = [
        (shapely.box(0, 0, 10, 10), 1.0, "grass"),
        (shapely.box(3, 3, 7, 7), 5.0, "swamp"),
        (shapely.box(4, 0, 5, 2), np.inf, "wall"),
    ]
    return Terrain(regions)


def painted_terrain():
    return terrain().changed([(shapely.Polygon([(1, 6), (4, 7), (2, 9)]), 3.0), (shapely.box(6, 1, 8, 2.5), np.inf)])


def decomposition():
    plan = FloorPlan(shapely.box(0, 0, 12, 9), [shapely.box(3, 0, 4, 6), shapely.Polygon([(7, 4), (10, 5), (8, 8)])])
    cut = plan.decompose()
    cut.add_obstacle(shapely.box(10, 0, 11, 1))
    return cut


def building():
    low, high = FloorPlan(shapely.box(0, 0, 6, 6)), FloorPlan(shapely.box(8, 0, 14, 6), height=3.0)
    slope = np.array([[(6, 2, 0), (8, 2, 3), (8, 4, 3)], [(6, 2, 0), (8, 4, 3), (6, 4, 0)]], float)
    stairs = Transition(FloorPlan(shapely.box(6, 2, 8, 4)), (0, 1), {0: np.array([(6.0, 2.0, 6.0, 4.0)])}, slope)
    return Building([low, high], [stairs]).decompose()


@dataclass(frozen=True)
class Kind:
    """How an object of a kind is made, asked and edited."""

    make: Any
    ask: Any
    edit: Any = None
    attach: Any = None


def _pairs(nodes):
    return [(0, nodes - 1), (nodes // 2, 0), (min(1, nodes - 1), min(2, nodes - 1))]


def ask_graph(graph):
    for a, b in _pairs(graph.num_nodes):
        yield lambda a=a, b=b: graph.path(a, b)
        yield lambda a=a, b=b: graph.path(a, b, algorithm="bidirectional")
        yield lambda a=a, b=b: graph.path(a, b, motions=1)
    yield lambda: graph.tree(0).paths([0, graph.num_nodes - 1])
    yield lambda: graph.distances(0)
    yield lambda: graph.components().max()
    yield lambda: graph.nearest([(0.0, 0.0, 0.0)])


def ask_cells(grid):
    cells = np.argwhere(grid.kinds)[:, ::-1] if isinstance(grid, DenseGrid) else grid.cells
    if not len(cells):
        return
    for a, b in _pairs(len(cells)):
        yield lambda a=a, b=b: grid.path(cells[a], cells[b])
        if isinstance(grid, SparseGrid):
            yield lambda a=a, b=b: grid.path(cells[a], cells[b], exact=True, smooth=True)
    if isinstance(grid, SparseGrid):
        yield lambda: grid.paths(cells[:5], cells[-5:], workers=2)
        yield lambda: np.unique(grid.regions().cells, axis=0)
        yield lambda: grid.successors(cells[0])


def edit_sparse(grid):
    cells = grid.cells
    yield lambda: grid.remove(cells[: len(cells) // 2])
    yield lambda: grid.add(cells[: len(cells) // 2])
    yield lambda: grid.add_effect(cells[:3])
    yield lambda: grid.add_link(cells[0], cells[-1])
    yield lambda: grid.compact()


def ask_hierarchy(made):
    nodes = made.graph.num_nodes
    for a, b in _pairs(nodes):
        yield lambda a=a, b=b: made.path(a, b, level=2)
        yield lambda a=a, b=b: made.path(a, b)
    yield lambda: made.paths([0, 1], [nodes - 1, nodes // 2])


def edit_hierarchy(made):
    graph = made.graph
    node = int(np.argmax(np.diff(graph.offsets) > 0))
    other = int(graph.targets[graph.offsets[node]]) if graph.targets.size else 0
    yield lambda: made.update([(node, other)], 0.5)
    yield lambda: made.update([(node, other)], np.inf)
    yield lambda: made.refresh()
    yield lambda: made.customise(workers=1)


def ask_mesh(mesh):
    if not mesh.num_polygons:
        return
    ends = mesh.graph.points
    for a, b in _pairs(mesh.num_polygons):
        yield lambda a=a, b=b: mesh.path(ends[a], ends[b])
        yield lambda a=a, b=b: mesh.path(ends[a], ends[b], exact=False)
        yield lambda a=a, b=b: mesh.path(ends[a], ends[b], costs={1: 2.0})
    yield lambda: mesh.locate(ends)
    yield lambda: mesh.raycast(ends[0], ends[-1])
    yield lambda: mesh.random_points(3, seed=1)
    yield lambda: mesh.graph.path(0, mesh.num_polygons - 1)
    yield lambda: mesh.components.max()


def edit_mesh(mesh):
    if mesh.num_polygons:
        ends = mesh.graph.points
        yield lambda: mesh.add_link(ends[0], ends[-1])
    yield lambda: mesh.clear_links()
    yield lambda: mesh.rebuild(
        [(4, -1, 0), (5, 3, 3)], Mesh.concatenate([floors(), box((4, -1, 0), (5, 3, 3))]), workers=1
    )
    yield lambda: mesh.rebuild([(-4, -4, 0), (5, 3, 3)], floors(), workers=1)


def ask_waypoints(made):
    points = made.points
    for a, b in _pairs(len(points)):
        yield lambda a=a, b=b: made.path(a, b)
        yield lambda a=a, b=b: made.path(points[a] + 0.01, points[b])
    yield lambda: made.path(0, len(points) - 1, motions=4)


def edit_waypoints(made):
    graph, count = made.graph, made.num_waypoints
    node = int(np.argmax(np.diff(graph.offsets) > 0))
    other = int(graph.targets[graph.offsets[node]]) if graph.targets.size else 0
    price = {} if graph.costs is None else {"costs": [1.0]}
    yield lambda: made.update(remove=[(node, other)])
    yield lambda: made.update([(0, count - 1)], **price)
    yield lambda: made.update([(0, count)], add_waypoints=[made.points[0]], **price)
    yield lambda: made.update(remove_waypoints=[1])


def ask_subregions(made):
    for a, b in _pairs(len(made.labels)):
        yield lambda a=a, b=b: made.path(a, b)
        yield lambda a=a, b=b: made.path(a, b, exact=True)
    yield lambda: made.paths([0, 1], [len(made.labels) - 1, 2])
    yield lambda: made.with_cost("max").path(0, 2)


def edit_subregions(made):
    for edit in edit_waypoints(made.waypoints):
        yield lambda edit=edit: made.repair(edit())


def ask_terrain(made):
    low, high = made.bounds[:2], made.bounds[2:]
    points = np.linspace(low, high, 5)[1:-1] * [1.0, 0.99]
    yield lambda: made.path(points[0], points[-1])
    yield lambda: made.path(points[0], points[1], graph="dual-extra")
    yield lambda: made.path(points[0], points[-1], radius=0.1)
    yield lambda: made.locate(points)
    yield lambda: made.cost(points)
    yield lambda: made.field(points[-1]).paths(points[:2])


def edit_terrain(made):
    x0, y0, x1, y1 = made.bounds
    spot = shapely.box(0.4 * x0 + 0.6 * x1, 0.4 * y0 + 0.6 * y1, 0.3 * x0 + 0.7 * x1, 0.3 * y0 + 0.7 * y1)
    yield lambda: made.changed([(spot, 3.0)]).path((x0, y0), (x1, y1))
    yield lambda: made.with_weights({made.triangle_names[0]: 2.0}).path((x0 + x1) / 2 * np.ones(2), (x0, y0))


def ask_decomposition(cut):
    centres = cut.centres
    if not len(centres):
        return
    for a, b in _pairs(len(centres)):
        yield lambda a=a, b=b: cut.path(centres[a], centres[b])
        yield lambda a=a, b=b: cut.path(centres[a], centres[b], exact=True)
    yield lambda: cut.paths(centres[:2], centres[-2:], workers=1)
    yield lambda: cut.collides(centres, 0.2)
    yield lambda: cut.locate(centres)
    yield lambda: cut.navmesh().num_polygons


def edit_decomposition(cut):
    x0, y0, x1, y1 = cut.plan.boundary.bounds
    spot = shapely.box(0.6 * x0 + 0.4 * x1, 0.6 * y0 + 0.4 * y1, 0.5 * x0 + 0.5 * x1, 0.5 * y0 + 0.5 * y1)
    yield lambda: cut.add_obstacle(spot)
    yield lambda: cut.remove_obstacle(len(cut.plan.obstacles) - 1)


SAVED = {
    "graph": Kind(graph, ask_graph),
    "directed graph": Kind(functools.partial(graph, directed=True), ask_graph),
    "dense grid": Kind(dense, ask_cells),
    "sparse grid": Kind(sparse, ask_cells, edit_sparse),
    "hierarchy": Kind(hierarchy, ask_hierarchy, edit_hierarchy),
    "paper's hierarchy": Kind(functools.partial(hierarchy, exact=False), ask_hierarchy, edit_hierarchy),
    "navmesh": Kind(built, ask_mesh, edit_mesh),
    "seeded navmesh": Kind(functools.partial(built, keep=[(0, 0, 0)]), ask_mesh, edit_mesh),
    "polygons": Kind(polygons, ask_mesh, edit_mesh),
    "waypoints": Kind(waypoints, ask_waypoints, edit_waypoints),
    "edited waypoints": Kind(edited_waypoints, ask_waypoints, edit_waypoints),
    "voxels": Kind(voxels, ask_waypoints, edit_waypoints),
    "subregions": Kind(subregions, ask_subregions, edit_subregions, attach=edited_waypoints),
    "terrain": Kind(terrain, ask_terrain, edit_terrain),
    "painted terrain": Kind(painted_terrain, ask_terrain, edit_terrain),
    "decomposition": Kind(decomposition, ask_decomposition, edit_decomposition),
    "building": Kind(building, ask_decomposition, edit_decomposition),
}


def judge(answer):
    """Costs and lengths of whatever a query gave are not negative and no NaN; those of found paths are finite."""
    if isinstance(answer, (list, tuple)):
        for one in answer:
            judge(one)
    elif hasattr(answer, "status") and hasattr(answer, "points") and np.ndim(answer.cost) == 0:
        assert answer.cost >= 0, answer  # and no NaN
        assert not answer.found or np.isfinite(answer.cost), answer
        assert np.isfinite(answer.points).all()
    elif isinstance(answer, np.ndarray) and answer.dtype.kind == "f":
        assert not np.isnan(answer).any(), answer


def use(thing, kind):
    """Ask, edit and ask again; raises what is not a `WayfoldError`."""
    if kind.attach is not None:
        try:
            thing.attach(kind.attach())
        except WayfoldError:
            return
    for jobs in (kind.ask, kind.edit, kind.ask):
        if jobs is None:
            continue
        try:
            for job in jobs(thing):
                with contextlib.suppress(WayfoldError):
                    judge(job())
        except WayfoldError:  # of what is looked at before asking
            continue
