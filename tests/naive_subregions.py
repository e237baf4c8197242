"""Subregions as the paper's definitions say them, slowly and with sets. Shares no code with the package."""

from __future__ import annotations

import itertools
import math


def regions_of(points, shape):
    """The regions of each point: its cell of the bounding box, and the cell below across each face it lies on."""
    low = [min(p[d] for p in points) for d in range(3)]
    high = [max(p[d] for p in points) for d in range(3)]
    sides = [(high[d] - low[d] if high[d] > low[d] else 1.0) / shape[d] for d in range(3)]
    result = []
    for p in points:
        choices = []
        for d in range(3):
            at = (p[d] - low[d]) / sides[d]
            cell = min(int(at), shape[d] - 1)
            choices.append([cell, cell - 1] if at == cell and cell > 0 else [cell])
        result.append({tuple(cell) for cell in itertools.product(*choices)})
    return result


def visitable(edges, regions, region, start):
    """Waypoints locally visitable from `start` inside `region` (Definition 1); `edges` are usable (a, b) pairs."""
    reached = {start}
    while True:
        more = {b for a, b in edges if a in reached and region in regions[b]}
        more |= {a for a, b in edges if b in reached and region in regions[a]}
        if more <= reached:
            return reached
        reached |= more


def subregions(nodes, edges, regions, order, active):
    """Algorithms 1 to 3: sets of waypoints, in the order of detection.

    `regions[v]` is a list of one or two regions, `order` the order of regions, `active[v]` the active region of a
    boundary waypoint.
    """
    labelled, found = set(), []
    usable = {v for edge in edges for v in edge}
    for boundary in (False, True):
        for region in order:
            for v in range(nodes):
                if v in labelled or v not in usable or (len(regions[v]) > 1) != boundary or region not in regions[v]:
                    continue
                if boundary and active[v] != region:
                    continue
                free = [(a, b) for a, b in edges if a not in labelled and b not in labelled]
                group = visitable(free, regions, region, v)
                labelled |= group
                found.append(group)
    return found


def connections(edges, groups, points):
    """For each connected pair of groups (by place in the list): lengths of the edges between them."""
    label = {v: at for at, group in enumerate(groups) for v in group}
    lengths = {}
    for a, b in edges:
        pair = tuple(sorted((label[a], label[b])))
        if pair[0] != pair[1]:
            lengths.setdefault(pair, []).append(math.dist(points[a], points[b]))
    return lengths
