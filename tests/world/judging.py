"""Paths of a world's planners before the judge of `tests.legality`."""

from __future__ import annotations

import numpy as np

from tests import legality


def level_of(world):
    """A world's triangles as the judge sees them, without blocks."""
    mesh = world.mesh
    closed = None
    if mesh.materials is not None:
        closed = np.isin(mesh.materials, [at for at, name in enumerate(mesh.material_names) if name in world.closed])
    return legality.Level(mesh.corners, closed=closed)


def solids(blocks):
    """Blocks as the judge takes them: a polygon and two heights."""
    return [(block.outline, block.low, block.high) for block in blocks]


def violations(level, planner, points, draped=False):
    """What is wrong with the points of a path of a planner, which says how fine its map is; nothing else is asked."""
    agent = planner.agent
    # About the tenth of a metre for agents of a person's size, and as fine for those in other units.
    spacing = min(0.25 * agent.radius, 0.1 * agent.height)
    if planner.map_name == "navmesh":
        settings = planner.notes.settings
        voxels = legality.Voxels(settings["cell_size"], settings["cell_height"], settings["max_bulge"])
        return legality.walk(level, agent, points, voxels, spacing=spacing, draped=draped)
    assert planner.map_name == "waypoints"
    return legality.move(level, agent, points, int(agent.motions), spacing=spacing)


def scaled(agent, units):
    """The same agent in a world whose unit is 1 / `units` metres."""
    return type(agent)(agent.radius * units, agent.height * units, agent.climb * units, agent.slope, agent.motions)
