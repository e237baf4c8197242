"""Whether a path can be walked, climbed or flown, judged by the triangles alone. Shares no code with the package.

The judge knows triangles, an agent and a path. It cuts the path into samples, looks at all triangles near each of them
with plain numpy, and lists what is wrong, where, and by how much. There are two kinds of paths:

* `walk`: over the ground, as navigation meshes give them. The judge follows the ground on foot, sample by sample.
* `move`: of a body's middle through space, as waypoint graphs give them, by surface, adhesive or volumetric motion.

Every tolerance follows from a setting of the map; `Voxels` and `move` say from which one and why. Two rules were
widened after first runs: ground that is missing over less than a radius is stepped over (the paper samples an edge once
a radius; ours test a climb twice as often), and blocks are obstacles but nothing to hold on to.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import shapely

from tests.naive_triangles import beside, nearest, samples, surfaces

SURFACE, ADHESIVE, VOLUMETRIC = 1, 2, 4
_CHUNK = 24  # samples that look at the same triangles


class Violation(NamedTuple):
    """One thing that is wrong with a path."""

    what: str
    where: tuple[float, float, float]
    value: float
    limit: float

    def __str__(self):
        at = ", ".join(f"{value:.3f}" for value in self.where)
        return f"{self.what} at ({at}): {self.value:.3f}, limit {self.limit:.3f}"


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


class Level:
    """Triangles, and solid blocks that were put among them.

    Parameters
    ----------
    corners : (m, 3, 3) array_like
    solids : sequence of (low, high) or (polygon, low, high)
        Boxes with their corners (3,), prisms over a polygon (k, 2) between two heights. Their surfaces are triangles
        like all others, and nobody may be inside.
    closed : (m,) array_like of bool, optional
        Triangles that are no ground whatever their slope, such as water.
    """

    def __init__(self, corners, solids=(), closed=None):
        self.bare = np.asarray(corners, float).reshape(-1, 3, 3)
        self.closed = np.zeros(len(self.bare), bool) if closed is None else np.asarray(closed, bool)
        self.solids = [_solid(shape) for shape in solids]
        parts = [self.bare] + [_skin(*solid) for solid in self.solids]
        self.corners = np.concatenate(parts)
        self.low, self.high = self.corners.min(axis=1), self.corners.max(axis=1)
        normal = np.cross(self.corners[:, 1] - self.corners[:, 0], self.corners[:, 2] - self.corners[:, 0])
        length = np.linalg.norm(normal, axis=1)
        kept = length > 0  # triangles without area lie on the edges of others
        self.corners, self.low, self.high = self.corners[kept], self.low[kept], self.high[kept]
        self.up = normal[kept, 2] / length[kept]
        added = np.zeros(len(length) - len(self.bare), bool)
        # What is closed counts as steep.
        self.up[np.r_[self.closed, added][kept]] = 0.0
        self.own = np.r_[~np.zeros(len(self.bare), bool), added][kept]

    def with_solids(self, solids):
        """The same triangles with other blocks."""
        return Level(self.bare, solids, self.closed)

    def near(self, low, high):
        """Numbers of the triangles whose boxes reach into a box: each is looked at."""
        return np.flatnonzero((self.low <= high).all(axis=1) & (self.high >= low).all(axis=1))

    def inside(self, points):
        """How deep each point is inside a block, 0 where it is outside of all of them."""
        deep = np.zeros(len(points))
        for ring, low, high in self.solids:
            height = np.minimum(points[:, 2] - low, high - points[:, 2])
            within = np.flatnonzero(height > 0)
            if len(within):
                flat = shapely.points(points[within, :2])
                side = np.where(shapely.contains(ring, flat), shapely.distance(ring.exterior, flat), 0.0)
                deep[within] = np.maximum(deep[within], np.minimum(side, height[within]))
        return deep


def _solid(shape):
    if len(shape) == 2:
        low, high = np.asarray(shape[0], float), np.asarray(shape[1], float)
        return shapely.box(low[0], low[1], high[0], high[1]), low[2], high[2]
    ring, low, high = shape
    return shapely.geometry.polygon.orient(shapely.Polygon(np.asarray(ring, float))), float(low), float(high)


def _skin(ring, low, high):
    """The surface of a prism, turned outwards."""
    around = np.asarray(ring.exterior.coords)
    if not ring.exterior.is_ccw:
        around = around[::-1]
    faces = []
    for (ax, ay), (bx, by) in pairwise(around):
        a, b, c, d = (ax, ay, low), (bx, by, low), (bx, by, high), (ax, ay, high)
        faces += [(a, b, c), (a, c, d)]
    for part in shapely.constrained_delaunay_triangles(ring).geoms:
        (ax, ay), (bx, by), (cx, cy) = list(shapely.geometry.polygon.orient(part).exterior.coords)[:3]
        faces += [((ax, ay, high), (bx, by, high), (cx, cy, high)), ((ax, ay, low), (cx, cy, low), (bx, by, low))]
    return np.array(faces, float)


# --- walking ---------------------------------------------------------------------------------------------------------


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
    for first in range(0, len(where), _CHUNK):
        part = where[first : first + _CHUNK]
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


def move(level, agent, points, motions, *, spacing=0.1):
    """What is wrong with a path of a body's middle through space; an empty list when nothing is.

    The tests of waypoint edges are made against the triangles themselves, so nothing is allowed for but rounding:
    waypoints are stored with 24 bits, and a body keeps a fiftieth of its radius (a millimetre at least) in reserve.
    At every sample the ball around it must be free. Each step between two corners must then be one of the allowed
    motions all the way (paper 000, section 3):

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
    for first in range(0, len(where), _CHUNK):
        part = where[first : first + _CHUNK]
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

    Ground is looked for once in a radius (000, section 3): what is narrower than that is stepped over.
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
