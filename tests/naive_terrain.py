"""Slow, obvious versions of what the terrain package does: weights, costs of polylines, cheapest routes, discs.

They share no code with the terrain package. The reference route stands with the benchmark that reports it.
"""

from __future__ import annotations

import itertools

import numpy as np
import scipy.optimize
import shapely

from benchmarks._weighted_reference import cheapest, weight_at

__all__ = ["cheapest", "disc_cost", "polyline_cost", "sequence_optimum", "weight_at"]


def polyline_cost(corners, weights, points, slack):
    """Cost of a polyline over triangles (m, 3, 2): cut at every edge, each piece at the lightest triangle around it."""
    corners, points = np.asarray(corners, float), np.asarray(points, float)[:, :2]
    total = 0.0
    for a, b in itertools.pairwise(points):
        length = np.hypot(*(b - a))
        if length == 0:
            continue
        cuts = [0.0, 1.0]
        for k in range(3):
            p, q = corners[:, k], corners[:, (k + 1) % 3]
            e, d = q - p, b - a
            cross = d[0] * e[:, 1] - d[1] * e[:, 0]
            with np.errstate(divide="ignore", invalid="ignore"):
                share = ((p - a)[:, 0] * e[:, 1] - (p - a)[:, 1] * e[:, 0]) / cross
                along = ((p - a)[:, 0] * d[1] - (p - a)[:, 1] * d[0]) / cross
            hit = np.isfinite(share) & (share > 0) & (share < 1) & (along > -1e-9) & (along < 1 + 1e-9)
            cuts += share[hit].tolist()
        cuts = np.unique(cuts)
        for first, last in itertools.pairwise(cuts):
            if (last - first) * length < 10 * slack:
                continue
            middle = a + (b - a) * 0.5 * (first + last)
            total += (last - first) * length * weight_at(corners, weights, middle, slack)
    return total


def sequence_optimum(segments, weights, start, goal):
    """Least cost of a route that crosses the segments (k, 2, 2) in order, weights (k + 1,), by a general optimiser."""
    segments = np.asarray(segments, float)

    def total(shares):
        inner = segments[:, 0] * (1 - shares)[:, None] + segments[:, 1] * shares[:, None]
        points = np.vstack([start, inner, goal])
        return float((np.hypot(*np.diff(points, axis=0).T) * weights).sum())

    best = np.inf
    for begin in (0.5, 0.1, 0.9):
        got = scipy.optimize.minimize(
            total,
            np.full(len(segments), begin),
            bounds=[(0, 1)] * len(segments),
            method="Powell",
            options={"xtol": 1e-10, "ftol": 1e-14, "maxiter": 20_000},
        )
        best = min(best, got.fun)
    return best


def disc_cost(polygons, weights, points, radius, samples=4000):
    """Cost of a polyline for a disc by sampling: the highest weight of the polygons that the open disc meets."""
    line = shapely.LineString(np.asarray(points)[:, :2])
    places = (np.arange(samples) + 0.5) / samples * line.length
    tree = shapely.STRtree(polygons)
    centres = shapely.line_interpolate_point(line, places)
    place, polygon = tree.query(centres, predicate="dwithin", distance=radius * (1 - 1e-9))
    highest = np.zeros(samples)
    np.maximum.at(highest, place, np.asarray(weights)[polygon])
    return float(highest.mean() * line.length)
