"""Run every kernel of the package once on tiny input."""

from __future__ import annotations

import numpy as np

from wayfold.agent import Agent
from wayfold.geometry import Mesh
from wayfold.navmesh import queries
from wayfold.navmesh.navmesh import NavMesh
from wayfold.navmesh.queries import shortcut
from wayfold.path import Path, Status


def warm() -> None:
    """Compile the pipeline, the stitching, the searches and the questions to a mesh."""
    corners: list[tuple[float, float, float]] = [(0, 0, 0), (40, 0, 0), (40, 12, 1), (0, 12, 0)]
    corners += [(5, 5, 0), (7, 5, 0), (7, 7, 4), (5, 7, 4)]
    # A wall with a door.
    corners += [(20, y, z) for y in (0, 5.65, 6.35, 12) for z in (-1, 4)]
    mesh = Mesh(
        corners, [(0, 1, 2), (0, 2, 3), (4, 5, 6), (4, 6, 7), (8, 10, 11), (8, 11, 9), (12, 14, 15), (12, 15, 13)]
    )
    agent = Agent(radius=0.3, climb=0.3)
    navmesh = NavMesh.build(mesh, agent, tile_size=12, workers=1, areas=np.ones(8, np.uint8))
    NavMesh.build(mesh, agent, tile_size=12, workers=1)
    start, goal = (1.5, 1.5, 0.0), (10.5, 10.5, 0.2)
    navmesh.path(start, goal)
    zone = ([(1, 1), (2, 1), (2, 2)], 0.0, 1.0, 2)
    navmesh.rebuild([(1, 1, 0), (2, 2, 1)], mesh, zones=[zone], workers=1)
    navmesh.path(start, goal, exact=False)
    # A polygon that is dented by a rounding error.
    dented = NavMesh.from_polygons([(0, 0), (1, 1e-18), (2, 0), (1, 2)], [[0, 1, 2, 3]])
    dented.raycast((1, 0.5), (1, 1))
    whole = navmesh.snapshot
    bent = np.array([start, (1.6, 1.5, 0.0), goal])
    shortcut(whole, whole.area_costs(None), Path(Status.FOUND, bent, cost=1.0))
    _ = navmesh.path(start, goal, costs={1: 2.0}).lower_bound
    navmesh.random_points(2)
    navmesh.graph.components()
    navmesh.locate([start, goal])
    navmesh.raycast(start, goal)
    navmesh.move_along(start, (1.6, 1.6))
    navmesh.add_link(start, goal)
    navmesh.path(start, goal)
    whole = navmesh.snapshot
    found = navmesh.locate([start, goal])
    middle = whole.centres[found[0]]
    queries.funnel(whole, found[:1], middle, middle, whole.area_costs(None))
