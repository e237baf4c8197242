"""Points against triangles, every pair of them, with plain numpy. Shares no code with the package."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

_CRACK = 1e-6  # metres: a foot does not fall into the seam between two triangles


def nearest(points, corners):
    """(s, t) distances of points from triangles, and (s, t, 3) the nearest place of each."""
    p = points[:, None, :]
    a, b, c = (corners[None, :, k] for k in range(3))
    normal = np.cross(b - a, c - a)
    size = (normal * normal).sum(axis=2)
    over = p - normal * (((p - a) * normal).sum(axis=2) / size)[..., None]
    inside = np.ones(over.shape[:2], bool)
    best, place = np.full(over.shape[:2], np.inf), over.copy()
    for u, v in ((a, b), (b, c), (c, a)):
        edge = v - u
        inside &= (np.cross(np.broadcast_to(edge, over.shape), over - u) * normal).sum(axis=2) >= 0
        along = ((p - u) * edge).sum(axis=2) / np.maximum((edge * edge).sum(axis=2), 1e-300)
        spot = u + np.clip(along, 0, 1)[..., None] * edge
        away = np.linalg.norm(p - spot, axis=2)
        closer = away < best
        best[closer], place[closer] = away[closer], spot[closer]
    away = np.linalg.norm(p - over, axis=2)
    best[inside], place[inside] = away[inside], over[inside]
    return best, place


def surfaces(points, corners):
    """(s, t) heights of the triangles on the vertical line through each point; NaN where they do not meet it."""
    x, y = points[:, 0, None], points[:, 1, None]
    a, b, c = (corners[None, :, k] for k in range(3))
    twice = (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (c[..., 0] - a[..., 0]) * (b[..., 1] - a[..., 1])
    longest = np.sqrt(np.maximum.reduce([((q - r)[..., :2] ** 2).sum(axis=2) for q, r in ((a, b), (b, c), (c, a))]))
    # What is thinner than a crack seen from above is a wall: it has no height of its own on a vertical line.
    level = np.abs(twice) > 2 * _CRACK * longest
    safe = np.where(level, twice, 1.0)
    v = ((x - a[..., 0]) * (c[..., 1] - a[..., 1]) - (c[..., 0] - a[..., 0]) * (y - a[..., 1])) / safe
    w = ((b[..., 0] - a[..., 0]) * (y - a[..., 1]) - (x - a[..., 0]) * (b[..., 1] - a[..., 1])) / safe
    # The seam: as far over an edge as a crack is wide, measured with the triangle's own height over that edge.
    slack = _CRACK * longest / np.abs(safe)
    hit = level & (v >= -slack) & (w >= -slack) & (v + w <= 1 + slack)
    height = a[..., 2] + v * (b[..., 2] - a[..., 2]) + w * (c[..., 2] - a[..., 2])
    return np.where(hit, height, np.nan)


def beside(points, bottom, top, corners):
    """(s, t) distances, seen from above, of points from the part of each triangle between two heights (of each point).

    That part is a polygon: its rim is the triangle's edges, cut to the heights, and the cuts themselves.
    """
    low, high = bottom[:, None], top[:, None]
    best = np.full((len(points), len(corners)), np.inf)
    flat = points[:, None, :2]
    cuts = {"low": [], "high": []}
    for k in range(3):
        u, v = corners[None, :, k], corners[None, :, (k + 1) % 3]
        rise = v[..., 2] - u[..., 2]
        with np.errstate(divide="ignore", invalid="ignore"):
            first, last = (low - u[..., 2]) / rise, (high - u[..., 2]) / rise
        level = np.broadcast_to(rise == 0, first.shape)
        outside = level & ((u[..., 2] < low) | (u[..., 2] > high))
        start = np.where(level, 0.0, np.clip(np.minimum(first, last), 0, 1))
        stop = np.where(level, 1.0, np.clip(np.maximum(first, last), 0, 1))
        outside |= ~level & ((np.minimum(first, last) > 1) | (np.maximum(first, last) < 0))
        way = (v - u)[..., :2]
        ends = [u[..., :2] + t[..., None] * way for t in (start, stop)]
        best = np.minimum(best, np.where(outside, np.inf, _segment(flat, *ends)))
        for name, t in (("low", first), ("high", last)):
            crosses = ~level & (t >= 0) & (t <= 1)
            cuts[name].append(
                np.where(crosses[..., None], u[..., :2] + np.where(crosses, t, 0)[..., None] * way, np.nan)
            )
    for ends in cuts.values():
        for one, two in ((0, 1), (1, 2), (2, 0)):
            both = ~(np.isnan(ends[one]) | np.isnan(ends[two])).any(axis=2)
            away = _segment(flat, np.nan_to_num(ends[one]), np.nan_to_num(ends[two]))
            best = np.minimum(best, np.where(both, away, np.inf))
    pierced = surfaces(points, corners)
    best[(pierced >= low) & (pierced <= high)] = 0.0
    return best


def _segment(p, u, v):
    way = v - u
    along = ((p - u) * way).sum(axis=2) / np.maximum((way * way).sum(axis=2), 1e-300)
    return np.linalg.norm(p - (u + np.clip(along, 0, 1)[..., None] * way), axis=2)


def samples(points, spacing):
    """Points along a path, and which of them are its corners."""
    parts, corner = [points[:1]], [np.ones(1, bool)]
    for a, b in pairwise(points):
        count = max(1, math.ceil(np.linalg.norm(b - a) / spacing))
        parts.append(a + np.linspace(0, 1, count + 1)[1:, None] * (b - a))
        corner.append(np.arange(1, count + 1) == count)
    return np.concatenate(parts), np.concatenate(corner)
