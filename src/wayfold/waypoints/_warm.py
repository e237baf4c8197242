"""Run every kernel of the package once on tiny input."""

from __future__ import annotations

import numpy as np

from wayfold.agent import Agent
from wayfold.geometry import Mesh
from wayfold.waypoints.resampling import resample
from wayfold.waypoints.voxels import VoxelWaypoints
from wayfold.waypoints.waypoints import WaypointGraph


def warm() -> None:
    """Build, query and edit a graph over a floor with a wall on it."""
    floor = [(0, 0, 0), (9, 0, 0), (9, 9, 0), (0, 9, 0)]
    wall = [(4, 3, 0), (4, 3, 4), (4, 6, 4), (4, 6, 0)]
    mesh = Mesh(floor + wall, [(0, 1, 2), (0, 2, 3), (4, 5, 6), (4, 6, 7)])
    waypoints = WaypointGraph.build(mesh, Agent(), region_size=5.0, workers=1)
    waypoints.path((1, 1, 0), (8, 8, 0), motions=7).smooth()
    waypoints.update([(0, 1)], 1)
    waypoints.update(remove=[(0, 1)])
    shut = Mesh([(5, 3, 0), (6, 3, 0), (5, 4, 1), (5, 3, 2)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
    assert waypoints.surroundings is not None
    shut = waypoints.surroundings.moved(shut)
    blocked = waypoints.surroundings.with_blocks([shut])
    pair = np.array([[0, 1]], np.int32)
    blocked.stopped(waypoints.local_points(), pair, np.ones(1, np.uint8))
    resample(waypoints, blocked, [shut], shut.bounds, {}, {}, 7)
    voxels = VoxelWaypoints.from_voxels([[[False, True, False]], [[False, False, False]]], region_size=2)
    voxels.path((0, 0, 0), (0, 0, 2)).smooth()
