"""Small levels for the tests, and who moves in them."""

from __future__ import annotations

import numpy as np

from wayfold import Agent, Box, Mesh, Motion

PERSON = Agent()
CART = Agent(radius=0.9, height=1.6, climb=0.2, slope=20.0)
SPIDER = Agent(radius=0.25, height=0.5, climb=0.25, motions=Motion.SURFACE | Motion.ADHESIVE)
BIRD = Agent(radius=0.3, height=0.6, climb=0.3, motions=Motion.VOLUMETRIC)
EVERYBODY = {"person": PERSON, "cart": CART, "spider": SPIDER, "bird": BIRD}


def flat(width=24.0, depth=18.0):
    """A floor."""
    corners = [(0, 0, 0), (width, 0, 0), (width, depth, 0), (0, depth, 0)]
    return Mesh(corners, [(0, 1, 2), (0, 2, 3)])


def courtyard():
    """A floor with a wall across it that has two gaps, one of them narrow, and a hut."""
    solids = [
        Box((11.5, -1, -1), (12.5, 3, 4)),
        Box((11.5, 7, -1), (12.5, 14, 4)),
        Box((11.5, 15.4, -1), (12.5, 19, 4)),
        Box((4, 10, -1), (7, 13, 2.5)),
    ]
    return Mesh.concatenate([flat(), *(solid.mesh() for solid in solids)])


def pairs(planner, count, seed=0):
    """Starts and goals that the agent can be at."""
    places = planner.random_points(2 * count, seed=seed)
    return np.split(places, 2)


WEST, EAST = (3.0, 5.0, 0.0), (21.0, 5.0, 0.0)
"""Both sides of the wall of a courtyard."""


def high(place, agent):
    """The same place where an agent can be: flyers do not lie on the ground."""
    return (*place[:2], 1.5) if agent is BIRD else place
