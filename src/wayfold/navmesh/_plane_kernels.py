# mypy: ignore-errors
"""The mesh as the interval search sees it: twin edges, and the vertices where shortest paths may turn."""

from typing import NamedTuple

import numpy as np

from wayfold._jit import kernel


class Plane(NamedTuple):
    """The mesh as the interval search sees it."""

    vertices: np.ndarray  # (n, 3) float64
    offsets: np.ndarray  # (p + 1,) int64
    corners: np.ndarray  # (m,) int32
    ahead: np.ndarray  # (m,) int32, polygon beyond each edge, -1 where there is none or it is closed
    twins: np.ndarray  # (m,) int32, the same edge in that polygon
    turns: np.ndarray  # (n,) uint8, 1 where a shortest path may turn: the mesh fills more than half of the angle
    exits: np.ndarray  # (p,) int32, edges with something beyond, plus links


@kernel
def twin_edges(offsets, corners, neighbours, first, last, twins):
    """For each edge the same edge in the polygon beyond, -1 for none; returns how many edges have none but should.

    Only edges of the polygons `first` to `last` - 1 are looked at.
    """
    missing = 0
    for polygon in range(first, last):
        for edge in range(offsets[polygon], offsets[polygon + 1]):
            twins[edge] = -1
            other = neighbours[edge]
            if other < 0:
                continue
            start = corners[edge]
            end = corners[edge + 1 if edge + 1 < offsets[polygon + 1] else offsets[polygon]]
            for candidate in range(offsets[other], offsets[other + 1]):
                after = candidate + 1 if candidate + 1 < offsets[other + 1] else offsets[other]
                if neighbours[candidate] == polygon and corners[candidate] == end and corners[after] == start:
                    twins[edge] = candidate
            if twins[edge] < 0:
                missing += 1
    return missing


@kernel
def turning_points(vertices, offsets, corners, ahead, first_polygon, last_polygon, angle, rim, turns):
    """Mark the vertices where shortest paths may turn.

    `angle` (n,) float64 and `rim` (n,) uint8 are scratch, zero at first.
    """
    for polygon in range(first_polygon, last_polygon):
        first, last = offsets[polygon], offsets[polygon + 1]
        for edge in range(first, last):
            here = corners[edge]
            before, after = (
                corners[edge - 1 if edge > first else last - 1],
                corners[edge + 1 if edge + 1 < last else first],
            )
            ux, uy = vertices[after, 0] - vertices[here, 0], vertices[after, 1] - vertices[here, 1]
            vx, vy = vertices[before, 0] - vertices[here, 0], vertices[before, 1] - vertices[here, 1]
            # Convex: from 0 to half a turn, whatever sign rounding gives a straight corner.
            angle[here] += abs(np.arctan2(ux * vy - uy * vx, ux * vx + uy * vy))
            if ahead[edge] < 0:
                rim[here] = 1
                rim[after] = 1
    for vertex in range(turns.size):
        turns[vertex] = 1 if rim[vertex] and angle[vertex] > np.pi + 1e-9 else 0
