"""Paths of a body's middle through space, as waypoint graphs give them, by surface, adhesive or volumetric motion."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from tests.legality.level import CHUNK, Violation
from tests.naive_triangles import nearest, samples, surfaces

SURFACE, ADHESIVE, VOLUMETRIC = 1, 2, 4


def move(level, agent, points, motions, *, spacing=0.1):
    """What is wrong with a path of a body's middle through space; an empty list when nothing is.

    The tests of waypoint edges are made against the triangles themselves, so nothing is allowed for but rounding:
    waypoints are stored with 24 bits, and a body keeps a fiftieth of its radius (a millimetre at least) in reserve.
    At every sample the ball around it must be free. Each step between two corners must then be one of the allowed
    motions all the way (Wardhana et al. 2015, section 3):

    * surface: upright free space, and ground that is no steeper than `slope` below, within `climb` of where a walker's
      middle is meant to be: `climb` + `radius` above it, or lower where the height does not allow for it; with no step
      above `climb` between samples but for what a slope rises. Narrower than a radius, steep or missing ground is
      stepped over: that is how often the paper looks;
    * adhesive: a surface within two radii that does not face up; or, in a step of less than four radii, one that is
      steep behind another one: the wall below the rim of a roof. Blocks are nothing to hold on to, nor does one that
      comes near take away the hold of the wall;
    * volumetric: upright free space.

    The first and the last point are where somebody stands or clings: a body is then as far from the surface as its
    motion wants it.
    """
    points = np.asarray(points, float)
    if len(points) == 0:
        return [Violation("no points", (math.nan,) * 3, 0, 1)]
    gap = max(0.02 * agent.radius, 1e-3)
    body = _Body(agent, gap, 8 * np.finfo(np.float32).eps * max(1.0, np.abs(points).max()) + 1e-4 * agent.radius)
    spots = [[point] for point in points]
    for end in {0, len(points) - 1}:
        spots[end] = _spots(level, body, points[end], motions)
    if len(points) == 1:
        return min((_step(level, body, spot, spot, motions, spacing) for spot in spots[0]), key=len)
    found = []
    for starts, goals in pairwise(spots):
        found += min((_step(level, body, p, q, motions, spacing) for p in starts for q in goals), key=len)
    return found


class _Body:
    def __init__(self, agent, gap, tolerance):
        self.radius, self.climb, self.tolerance = agent.radius, agent.climb, tolerance
        self.lift = max(min(agent.climb + agent.radius, agent.height - agent.radius), agent.radius) + gap
        self.top = max(0.0, agent.height - agent.radius - self.lift)
        self.near = 2 * agent.radius + 2 * gap + tolerance
        self.offset = 1.4 * agent.radius + gap
        self.cosine, self.tangent = math.cos(math.radians(agent.slope)), math.tan(math.radians(min(agent.slope, 89)))


def _spots(level, body, point, motions):
    """Where a body's middle may be when somebody is at `point`: there, above the ground, or off the nearest surface."""
    spots = [point]
    reach = max(body.lift + body.climb, body.near) + body.offset
    near = level.near(point - reach, point + reach)
    if len(near):
        corners = level.corners[near]
        heights = surfaces(point[None], corners)[0]
        heights = heights[heights <= point[2] + body.offset]
        if motions & SURFACE and len(heights):
            spots.append(np.array([point[0], point[1], heights.max() + body.lift]))
        away, places = nearest(point[None], corners)
        best = int(np.argmin(away[0]))
        if motions & ADHESIVE and away[0, best] <= body.near:
            a, b, c = corners[best]
            out = point - places[0, best] if away[0, best] > 1e-6 else np.cross(b - a, c - a)
            spots.append(places[0, best] + out / np.linalg.norm(out) * max(away[0, best], body.offset))
    return spots


def _step(level, body, p, q, motions, spacing):
    """What is wrong with a straight step by the best of the allowed motions."""
    where, _ = samples(np.array([p, q]), spacing)
    reach = body.lift + body.climb + body.top + body.near
    rises = np.linspace(0, body.top, 1 + math.ceil(body.top / max(body.radius, 0.1)))[1:]
    tight = [
        Violation("in a block", tuple(spot), deep, 0.0)
        for spot, deep in zip(where, level.inside(where), strict=True)
        if deep > body.tolerance
    ]
    upright, adhesive, grounds, facing = [], [], [], []
    rim = float(np.linalg.norm(q - p)) <= 2 * body.near + body.tolerance
    for first in range(0, len(where), CHUNK):
        part = where[first : first + CHUNK]
        near = level.near(part.min(axis=0) - reach, part.max(axis=0) + reach)
        corners, up = level.corners[near], level.up[near]
        away, places = nearest(part, corners)
        tight += _nearer("clearance", part, away, body)
        for rise in rises:
            upright += _nearer("height", part, nearest(part + np.array([0, 0, rise]), corners)[0], body)
        if motions & SURFACE:
            ground, slope = _ground_below(part, corners, up)
            grounds.append(ground)
            facing.append(slope)
        if motions & ADHESIVE:
            own = level.own[near]
            adhesive += _held(part, away[:, own], places[:, own], up[own], body, rim)
    ways = []
    if motions & SURFACE:
        ways.append(tight + upright + _walked(where, np.concatenate(grounds), np.concatenate(facing), body, spacing))
    if motions & ADHESIVE:
        ways.append(tight + adhesive)
    if motions & VOLUMETRIC:
        ways.append(tight + upright)
    return min(ways, key=len)


def _nearer(what, part, away, body):
    """Violations of samples that are nearer to a triangle than the radius."""
    least = away.min(axis=1, initial=np.inf)
    return [
        Violation(what, tuple(part[at]), least[at], body.radius)
        for at in np.flatnonzero(least < body.radius - body.tolerance)
    ]


def _ground_below(part, corners, up):
    """Height of the highest surface below each sample (-inf for none), and the z of its normal."""
    heights = surfaces(part, corners)
    heights[~(heights <= part[:, 2, None])] = -np.inf
    ground = heights.max(axis=1, initial=-np.inf)
    with np.errstate(invalid="ignore"):
        same = np.abs(heights - ground[:, None]) <= 1e-6
    return ground, np.where(same, np.abs(up), 0.0).max(axis=1, initial=0.0)


def _walked(where, ground, facing, body, spacing):
    """Violations of a walk over ground of these heights and slopes.

    Ground is looked for once in a radius (Wardhana et al. 2015, section 3): what is narrower than that is stepped over.
    """
    drop = where[:, 2] - ground
    there = np.abs(drop - body.lift) <= body.climb + body.tolerance
    good = np.flatnonzero(there & (facing >= body.cosine - 1e-6))
    found = []
    for at in np.setdiff1d(np.arange(len(where)), good):
        before, after = good[good < at], good[good > at]
        gap = math.inf
        if len(before) and len(after):
            gap = float(np.linalg.norm(where[after[0]] - where[before[-1]]))
        if gap > body.radius + 2 * spacing:
            what, value, limit = ("slope", facing[at], body.cosine) if there[at] else ("no ground", drop[at], body.lift)
            found.append(Violation(what, tuple(where[at]), value, limit))
    for one, two in pairwise(good):
        run = float(np.linalg.norm((where[two] - where[one])[:2]))
        most = body.climb + run * body.tangent + body.tolerance
        if abs(ground[two] - ground[one]) > most:
            found.append(Violation("step", tuple(where[two]), abs(ground[two] - ground[one]), most))
    return found


def _held(part, away, places, up, body, rim):
    """Violations of a climb: samples with nothing to hold on to.

    Edges are tested twice a radius: a ledge that is narrower may lie between, while a wall stays within reach.
    """
    found, ledge = [], []
    steep = np.abs(up) < body.cosine + 1e-6
    for at, spot in enumerate(part):
        best = int(np.argmin(away[at])) if len(up) else -1
        if best < 0 or away[at, best] > body.near:
            least = away[at].min(initial=np.inf)
            found.append(Violation("nothing to hold on to", tuple(spot), least, body.near))
        elif (spot - places[at, best])[2] > (body.cosine + 1e-3) * away[at, best]:
            held = away[at, steep].min(initial=np.inf)
            if held > body.near:
                found.append(Violation("nearest surface faces up", tuple(spot), held, body.near))
            elif not rim:
                ledge.append((at, Violation("nearest surface faces up", tuple(spot), held, body.near)))
    return found + _wide(part, ledge, 0.5 * max(body.radius, 0.1))


def _wide(part, ledge, most):
    """The violations of those samples that stand in a row longer than `most`."""
    found = []
    rows = np.split(np.arange(len(ledge)), np.flatnonzero(np.diff([at for at, _ in ledge]) > 1) + 1) if ledge else []
    for row in rows:
        first, last = ledge[row[0]][0], ledge[row[-1]][0]
        if np.linalg.norm(part[last] - part[first]) > most:
            found += [ledge[at][1] for at in row]
    return found
