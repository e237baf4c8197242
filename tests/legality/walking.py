"""Paths over the ground, as navigation meshes give them: the judge follows them on foot, sample by sample."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tests.legality.level import CHUNK, Violation
from tests.naive_triangles import beside, nearest, samples, surfaces


class Voxels(NamedTuple):
    """What a map made of voxels can know about walls and ground: the settings that its tolerances follow from."""

    cell: float
    """Side of a column, metres."""
    height: float
    """Height of a voxel, metres."""
    error: float = 1.3
    """How far a simplified rim may reach over the rim of the columns, in columns (`max_bulge`)."""

    def clearance(self, radius):
        """The room that the path of an agent of this radius keeps to walls for certain.

        Columns are taken away until a whole number of columns, at least the radius, lies between what is left and the
        nearest blocked column, counted by steps (2 a straight one, 3 a diagonal one). Steps overestimate distances
        that are neither straight nor diagonal, so the least distance between the squares is found by trying all
        squares. Rims are then drawn with straight lines, which may be `error` columns off.
        """
        if radius == 0:
            return 0.0
        far = math.ceil(radius / self.cell - 1e-9)
        least = math.inf
        for x in range(far + 3):
            for y in range(far + 3):
                beside = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
                steps = [2 * max(abs(a), abs(b)) + min(abs(a), abs(b)) for a, b in beside]
                if (x or y) and min(steps) >= 2 * far:
                    least = min(least, math.hypot(max(x - 1, 0), max(y - 1, 0)))
        return min(radius, max(0.0, (least - self.error) * self.cell))

    @property
    def foot(self):
        """How far the ground of a place may be from it, seen from above: anywhere in the same column, so a diagonal."""
        return math.sqrt(2) * self.cell

    def step(self, climb):
        """The highest step that may look no higher than `climb`.

        Both levels are rounded to whole voxels, so one may be taken for less than a voxel lower than it is.
        """
        return climb + self.height

    @property
    def level(self):
        """How far a place may be above or below the ground.

        The surface is within half a voxel of the ground of each column, which is known at the column's middle; half a
        voxel more for surfaces that meet in one voxel.
        """
        return self.height


def walk(level, agent, points, voxels, *, spacing=0.1, draped=False):
    """What is wrong with a path over the ground; an empty list when nothing is.

    The judge starts on the ground at the first point and follows it on foot: at each sample it stands on the highest
    surface that it can step to and that has room above. It demands

    * ground: a surface within a step of the last sample's, below or above (`Voxels.step`, and what the slopes of the
      ground at both samples rise in a column: the step may lie anywhere in it), within `Voxels.foot` seen from above;
    * slope: ground that faces up and is no steeper than `slope`, or such ground within `Voxels.foot` and one step up or
      down: then it is the side of a step;
    * height: nothing above the ground up to `height`. Voxels round free heights down, so nothing is allowed for;
    * clearance: nothing steep between a step's height and the agent's, and nothing at all inside the capsule between
      them, within `Voxels.clearance`;
    * solids: no part of the body above a step's height in a block;
    * the path's corners on the ground: within `Voxels.level` of a surface no further than `Voxels.foot`, or between two
      surfaces there that are a step apart (where a step crosses a column its surface runs from one to the other).
      With `draped` this is asked of every sample, not of the corners alone.

    Parameters
    ----------
    level : Level
    agent : Agent
        Its radius, height, climb and slope are used.
    points : (k, 3) array_like
    voxels : Voxels
    spacing : float, metres, between samples
    """
    points = np.asarray(points, float)
    found = []
    if len(points) == 0:
        return [Violation("no points", (math.nan,) * 3, 0, 1)]
    where, corner = samples(points, spacing)
    gentle = math.cos(math.radians(agent.slope)) - 1e-6
    room = voxels.clearance(agent.radius)
    step = voxels.step(agent.climb)
    tangent = math.tan(math.radians(min(agent.slope, 80.0)))
    ground, slant = points[0, 2], 0.0
    for first in range(0, len(where), CHUNK):
        part = where[first : first + CHUNK]
        reach = np.array([max(voxels.foot, agent.radius) + 0.01] * 2 + [np.inf])
        near = level.near(part.min(axis=0) - reach, part.max(axis=0) + reach)
        corners, up = level.corners[near], level.up[near]
        heights = surfaces(part, corners)
        feet = np.empty(len(part))
        for at, spot in enumerate(part):
            hit = np.flatnonzero(~np.isnan(heights[at]))
            most = step + slant + spacing * tangent
            stand, free = _stand(np.sort(heights[at, hit]), ground, most, agent.height)
            slopes = up[hit[np.abs(heights[at, hit] - stand) <= 1e-6]]
            gentle_here = bool((slopes >= gentle).any())
            exact = draped or corner[first + at]
            if gentle_here and not exact:
                around = around_up = None
            else:
                around, around_up = _around(spot, voxels.foot, corners, up)
            if math.isnan(stand):
                # A seam or a hole smaller than a column: the nearest level in the column.
                if not len(around):
                    found.append(Violation("no ground", tuple(spot), math.inf, most))
                    ground, feet[at] = spot[2], spot[2]
                    continue
                stand = float(around[np.argmin(np.abs(around - ground))])
                if abs(stand - ground) > most:
                    found.append(Violation("step", tuple(spot), abs(stand - ground), most))
                    stand = float(around[np.argmin(np.abs(around - spot[2]))])
            elif free < agent.height - 1e-6:
                found.append(Violation("height", (*spot[:2], stand), free, agent.height))
            ground = feet[at] = stand
            if not gentle_here and not (around_up[np.abs(around - ground) <= step] >= gentle).any():
                angle = math.degrees(math.acos(min(1.0, np.abs(slopes).max(initial=0.0))))
                found.append(Violation("slope", (*spot[:2], ground), angle, agent.slope))
            if exact:
                off = max(_on_ground(spot[2], around, voxels.level, step), abs(spot[2] - ground) - step)
                if off > voxels.level + 1e-9:
                    found.append(Violation("off the ground", tuple(spot), off, voxels.level))
            steepest = np.abs(slopes).max(initial=0.0) or 1.0
            slant = voxels.cell * min(math.tan(math.acos(min(1.0, steepest))), tangent)
        found += _room(level, agent, part, feet, near, room, step, gentle)
    return found


def _stand(stack, ground, most, height):
    """The highest of a stack of surfaces that can be stepped to and has room above, and its free height.

    Where none has room, the one with the most; NaN where none can be stepped to.
    """
    best = math.nan, -math.inf
    for at in range(len(stack) - 1, -1, -1):
        if abs(stack[at] - ground) > most:
            continue
        above = stack[stack > stack[at] + 1e-6]
        free = above[0] - stack[at] if len(above) else math.inf
        if free >= height - 1e-6:
            return float(stack[at]), free
        if free > best[1]:
            best = float(stack[at]), free
    return best


def _around(spot, foot, corners, up):
    """Heights of all surfaces at places around `spot`, no further than `foot` seen from above, and their normals' z."""
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    ring = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(12)])
    places = np.concatenate([spot[None], spot + 0.5 * foot * ring, spot + foot * ring])
    heights = surfaces(places, corners)
    hit = ~np.isnan(heights)
    return heights[hit], np.broadcast_to(up, heights.shape)[hit]


def _on_ground(z, around, level, step):
    """How far a height is from the ground around it: 0 between two levels that are a step apart."""
    if not len(around):
        return math.inf
    below, above = around[around <= z], around[around >= z]
    if len(below) and len(above) and above.min() - below.max() <= step + level:
        return 0.0
    return float(np.abs(around - z).min())


def _room(level, agent, part, feet, near, room, step, gentle):
    """Violations of clearance of an upright body with these feet."""
    found = []
    low, high = feet + step, feet + agent.height
    steep = near[np.abs(level.up[near]) < gentle]
    places = np.column_stack([part[:, :2], feet])
    if agent.height > step and room > 0 and len(near):
        away = beside(places, low, high - 1e-6, level.corners[steep]) if len(steep) else np.full((len(part), 1), np.inf)
        found += [
            Violation("clearance", tuple(places[at]), value, room)
            for at, value in enumerate(away.min(axis=1))
            if value < room - 1e-6
        ]
        thick = min(room, 0.5 * (agent.height - step))
        for rise in np.linspace(step + thick, agent.height - thick, 4):
            away, _ = nearest(places + np.array([0, 0, rise]), level.corners[near])
            found += [
                Violation("clearance", tuple(places[at]), value, thick)
                for at, value in enumerate(away.min(axis=1))
                if value < thick - 1e-6
            ]
    for rise in np.linspace(step, agent.height, 5) if agent.height > step else (agent.height,):
        deep = level.inside(places + np.array([0, 0, rise]))
        found += [
            Violation("in a block", tuple(places[at]), value, 0.0) for at, value in enumerate(deep) if value > 1e-6
        ]
    return found


# --- moving through space --------------------------------------------------------------------------------------------
