"""Whether a path can be walked, climbed or flown, judged by the triangles alone. Shares no code with the package.

The judge knows triangles, an agent and a path. It cuts the path into samples, looks at all triangles near each of them
with plain numpy, and lists what is wrong, where, and by how much. There are two kinds of paths:

* `walk`: over the ground, as navigation meshes give them. The judge follows the ground on foot, sample by sample.
* `move`: of a body's middle through space, as waypoint graphs give them, by surface, adhesive or volumetric motion.

Every tolerance follows from a setting of the map; `Voxels` and `move` say from which one and why. None was fitted to
results.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import shapely

SURFACE, ADHESIVE, VOLUMETRIC = 1, 2, 4
_CHUNK = 24  # samples that look at the same triangles
_CRACK = 1e-6  # metres: a foot does not fall into the seam between two triangles


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
    """How far a simplified rim may lie from the rim of the columns, in columns (`max_error`)."""

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
        # What is closed counts as steep.
        self.up[np.r_[self.closed, np.zeros(len(length) - len(self.bare), bool)][kept]] = 0.0

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


# --- geometry: points against triangles, all pairs -------------------------------------------------------------------


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
    level = np.abs(twice) > 1e-12
    safe = np.where(level, twice, 1.0)
    v = ((x - a[..., 0]) * (c[..., 1] - a[..., 1]) - (c[..., 0] - a[..., 0]) * (y - a[..., 1])) / safe
    w = ((b[..., 0] - a[..., 0]) * (y - a[..., 1]) - (x - a[..., 0]) * (b[..., 1] - a[..., 1])) / safe
    # The seam: as far over an edge as a crack is wide, measured with the triangle's own height over that edge.
    longest = np.sqrt(np.maximum.reduce([((q - r)[..., :2] ** 2).sum(axis=2) for q, r in ((a, b), (b, c), (c, a))]))
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
      above `climb` between samples but for what a slope rises;
    * adhesive: a surface within two radii that does not face up; or, in a step of less than four radii, one that is
      steep behind another one: the wall below the rim of a roof;
    * volumetric: upright free space.

    The first and the last point are where somebody stands or clings: a body is then as far from the surface as its
    motion wants it.
    """
    points = np.asarray(points, float)
    if len(points) == 0:
        return [Violation("no points", (math.nan,) * 3, 0, 1)]
    gap = max(0.02 * agent.radius, 1e-3)
    body = _Body(agent, gap, 8 * np.finfo(np.float32).eps * max(1.0, np.abs(points).max()) + 1e-4 * agent.radius)
    found = []
    last = len(points) - 2
    for at in range(max(1, len(points) - 1)):
        a, b = points[at], points[min(at + 1, len(points) - 1)]
        starts = _spots(level, body, a, motions) if at == 0 else [a]
        goals = _spots(level, body, b, motions) if at == last else [b]
        tried = [_step(level, body, p, q, motions, spacing) for p in starts for q in goals]
        best = min(tried, key=len)
        found += best
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
    length = float(np.linalg.norm(q - p))
    where, _ = samples(np.array([p, q]), spacing)
    reach = body.lift + body.climb + body.top + body.near
    hits = []
    for first in range(0, len(where), _CHUNK):
        part = where[first : first + _CHUNK]
        near = level.near(part.min(axis=0) - reach, part.max(axis=0) + reach)
        hits.append((part, level.corners[near], level.up[near]))
    tight, upright, surface, adhesive = [], [], [], []
    for at, deep in enumerate(level.inside(where)):
        if deep > body.tolerance:
            tight.append(Violation("in a block", tuple(where[at]), deep, 0.0))
    before = None
    run = float(np.linalg.norm((q - p)[:2])) / max(1, len(where) - 1)
    for part, corners, up in hits:
        if not len(corners):
            surface += [Violation("no ground", tuple(spot), math.inf, body.lift) for spot in part]
            adhesive += [Violation("nothing to hold on to", tuple(spot), math.inf, body.near) for spot in part]
            continue
        away, places = nearest(part, corners)
        closest = away.argmin(axis=1)
        rows = np.arange(len(part))
        tight += [
            Violation("clearance", tuple(part[at]), away[at, closest[at]], body.radius)
            for at in np.flatnonzero(away[rows, closest] < body.radius - body.tolerance)
        ]
        for rise in np.linspace(0, body.top, 1 + math.ceil(body.top / max(body.radius, 0.1)))[1:]:
            over = nearest(part + np.array([0, 0, rise]), corners)[0].min(axis=1)
            upright += [
                Violation("height", tuple(part[at]), over[at], body.radius)
                for at in np.flatnonzero(over < body.radius - body.tolerance)
            ]
        if motions & SURFACE:
            heights = surfaces(part, corners)
            for at, spot in enumerate(part):
                below = np.where(heights[at] <= spot[2], heights[at], -np.inf)
                best = int(np.argmax(below))
                drop = spot[2] - below[best]
                if not abs(drop - body.lift) <= body.climb + body.tolerance:
                    surface.append(Violation("no ground", tuple(spot), drop, body.lift + body.climb))
                    continue
                same = np.abs(np.nan_to_num(heights[at], nan=np.inf) - below[best]) <= 1e-6
                if np.abs(up[same]).max() < body.cosine - 1e-6:
                    surface.append(Violation("slope", tuple(spot), np.abs(up[same]).max(), body.cosine))
                most = body.climb + run * body.tangent + body.tolerance
                if before is not None and abs(below[best] - before) > most:
                    surface.append(Violation("step", tuple(spot), abs(below[best] - before), most))
                before = below[best]
        if motions & ADHESIVE:
            steep = np.abs(up) < body.cosine + 1e-6
            for at, spot in enumerate(part):
                best = closest[at]
                if away[at, best] > body.near:
                    adhesive.append(Violation("nothing to hold on to", tuple(spot), away[at, best], body.near))
                elif (spot - places[at, best])[2] > (body.cosine + 1e-3) * away[at, best]:
                    held = away[at, steep].min() if steep.any() else math.inf
                    if held > body.near or length > 2 * body.near + body.tolerance:
                        adhesive.append(Violation("nearest surface faces up", tuple(spot), held, body.near))
    ways = []
    if motions & SURFACE:
        ways.append(tight + upright + surface)
    if motions & ADHESIVE:
        ways.append(tight + adhesive)
    if motions & VOLUMETRIC:
        ways.append(tight + upright)
    return min(ways, key=len)
