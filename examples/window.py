"""A person, a spider and a bird go to the same window: one waypoint graph, three sets of motions.

Run it with ``python examples/window.py [picture.png]``.
"""

from __future__ import annotations

import sys

import numpy as np

from wayfold import Agent, Mesh, Motion, SubregionGraph, WaypointGraph
from wayfold.view import oblique, pictures

SIDES = [(0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7), (0, 1, 5), (0, 5, 4), (1, 2, 6), (1, 6, 5)]
SIDES += [(2, 3, 7), (2, 7, 6), (3, 0, 4), (3, 4, 7)]

CHARACTERS = {
    "person": Motion.SURFACE,
    "spider": Motion.SURFACE | Motion.ADHESIVE,
    "bird": Motion.SURFACE | Motion.VOLUMETRIC,
}


def box(low, high):
    (a, b, c), (d, e, f) = low, high
    corners = [(a, b, c), (d, b, c), (d, e, c), (a, e, c), (a, b, f), (d, b, f), (d, e, f), (a, e, f)]
    return Mesh(np.array(corners, float), SIDES)


def house():
    """A house with a balcony in front of its window, a long ramp up to the balcony, and a garden wall."""
    ground = Mesh([(0, 0, 0), (60, 0, 0), (60, 40, 0), (0, 40, 0)], [(0, 1, 2), (0, 2, 3)])
    walls = [box((20, 20, -1), (40, 34, 9)), box((4, 8, -1), (48, 8.5, 3))]
    balcony = box((26, 16, -1), (34, 20, 4))
    ramp = Mesh([(50, 16, 0), (50, 20, 0), (34, 20, 4), (34, 16, 4)], [(0, 1, 2), (0, 2, 3)])
    return Mesh.concatenate([ground, *walls, balcony, ramp])


def main(picture=None):
    mesh = house()
    waypoints = WaypointGraph.build(mesh, Agent(), region_size=20.0)
    print(waypoints)
    start, window = (10.0, 3.0, 0.0), (30.0, 19.0, 4.0)
    paths = {}
    for name, motions in CHARACTERS.items():
        subregions = SubregionGraph.build(waypoints, motions)
        path = paths[name] = subregions.path(start, window).smooth()
        print(f"{name:>6}: {path.length:5.1f} m, {len(path.points)} points, {subregions.num_subregions} subregions")
    if picture is not None:
        pictures.save(oblique.draw_characters(mesh, paths), picture)
        print("drawn:", picture)
    return paths


if __name__ == "__main__":
    print(__doc__) if "-" in {word[:1] for word in sys.argv[1:]} else main(*sys.argv[1:2])
