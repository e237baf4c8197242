"""Edges checked against every triangle, sample by sample, with plain numpy. Shares no code with the package."""

from __future__ import annotations

import numpy as np


def closest(p, corners):
    """Distance from a point to each of (m, 3, 3) triangles, and the nearest point of each."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normal = np.cross(b - a, c - a)
    size = (normal * normal).sum(axis=1)
    flat = size > 1e-20
    over = p - normal * (((p - a) * normal).sum(axis=1) / np.where(flat, size, 1.0))[:, None]
    inside = flat.copy()
    for u, v in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(v - u, over - u) * normal).sum(axis=1) >= 0
    best, where = np.where(inside, np.linalg.norm(p - over, axis=1), np.inf), over.copy()
    for u, v in ((a, b), (b, c), (c, a)):
        edge = v - u
        length2 = (edge * edge).sum(axis=1)
        t = np.clip(((p - u) * edge).sum(axis=1) / np.where(length2 > 0, length2, 1.0), 0, 1)
        near = u + t[:, None] * edge
        away = np.linalg.norm(p - near, axis=1)
        closer = away < best
        best[closer], where[closer] = away[closer], near[closer]
    return best, where


def below(p, corners):
    """Heights of all surfaces on the vertical below `p`, with the cosine of their slope, highest first."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    d = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1])
    level = np.abs(d) > 1e-12
    safe = np.where(level, d, 1.0)
    v = ((p[0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (p[1] - a[:, 1])) / safe
    w = ((b[:, 0] - a[:, 0]) * (p[1] - a[:, 1]) - (p[0] - a[:, 0]) * (b[:, 1] - a[:, 1])) / safe
    z = a[:, 2] + v * (b[:, 2] - a[:, 2]) + w * (c[:, 2] - a[:, 2])
    hit = level & (v >= -1e-9) & (w >= -1e-9) & (v + w <= 1 + 1e-9) & (z <= p[2])
    normal = np.cross(b - a, c - a)
    steep = np.abs(normal[:, 2]) / np.maximum(np.linalg.norm(normal, axis=1), 1e-30)
    order = np.argsort(-z[hit])
    return z[hit][order], steep[hit][order]


def violations(corners, p, q, motion, agent, lift):
    """What is wrong with a straight edge of a motion type (1 surface, 2 adhesive, 4 volumetric); empty when nothing."""
    found = []
    length = float(np.linalg.norm(q - p))
    count = max(2, int(length / max(agent.radius, 0.05)) + 1)
    middle, reach = (p + q) / 2, length / 2 + agent.height + agent.climb + lift
    low, high = corners.min(axis=1), corners.max(axis=1)
    near = corners[((low <= middle + reach) & (high >= middle - reach)).all(axis=1)]
    slack = 1e-3
    before = None
    for t in np.linspace(0.0, 1.0, count):
        s = p + t * (q - p)
        if not len(near):
            continue
        away, where = closest(s, near)
        if away.min() <= agent.radius - slack:
            found.append(f"only {away.min():.3f} m free")
        if motion != 2:
            for rise in np.linspace(0, max(0.0, agent.height - agent.radius - lift), 3)[1:]:
                if closest(s + np.array([0.0, 0.0, rise]), near)[0].min() <= agent.radius - slack:
                    found.append("no room for the height")  # noqa: PERF401
        if motion == 1:
            heights, cosines = below(s, near)
            if not len(heights):
                found.append("no ground below")
                continue
            if abs(s[2] - heights[0] - lift) > agent.climb + slack:
                found.append(f"ground {s[2] - heights[0]:.2f} m below")
            if cosines[0] < np.cos(np.radians(agent.slope)) - slack:
                found.append("ground too steep")
            run = np.linalg.norm((q - p)[:2]) / (count - 1)
            most = agent.climb + run * np.tan(np.radians(agent.slope)) + slack
            if before is not None and abs(heights[0] - before) > most:
                found.append("step too high")
            before = heights[0]
        if motion == 2:
            best = int(np.argmin(away))
            if away[best] > 2.1 * agent.radius + 0.01:
                found.append(f"{away[best]:.2f} m from any surface")
            elif (s - where[best])[2] / away[best] > np.cos(np.radians(agent.slope)) + 0.05:
                # Getting over the rim of a roof: a short edge, with the wall still in reach.
                walls = np.cross(near[:, 1] - near[:, 0], near[:, 2] - near[:, 0])
                steep = np.abs(walls[:, 2]) < np.cos(np.radians(agent.slope)) * np.linalg.norm(walls, axis=1)
                if length > 4.2 * agent.radius + 0.02 or not (away[steep] < 2.1 * agent.radius + 0.01).any():
                    found.append("nearest surface faces up")
    return found
