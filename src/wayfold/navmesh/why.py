"""Why there is no way over a mesh: on which islands start and goal are, and what would join them if little is missing.

All of it is worked out when somebody asks, in plain numpy: it has to be right and readable, not fast.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from wayfold.agent import Agent
from wayfold.core.arrays import distinct
from wayfold.core.bounded_cache import BoundedCache
from wayfold.geometry import TriangleIndex
from wayfold.geometry.frame import ROUNDING
from wayfold.navmesh.snapshot import AreaCosts, MeshSnapshot
from wayfold.navmesh.topology import ALL_OPEN

Floats = NDArray[np.float64]
Gaps = dict[tuple[int, int], Floats]
"""By two islands, the lower first: (k, 2, 2, 3) ends of edges of their rims that are near each other, nearest first."""

CLOSED = "every way crosses ground that is closed to this agent"
_NEAR_BY = 5.0
"""Radii of the agent within which two rims count as near."""
_SURE = 2.25
"""Radii of an opening that every map of the usual settings lets the agent through."""
_RIMS, _POINTS, _TRIED = 5000, 20_000, 6
"""Pairs of edges between two islands, places along one and places that are looked at, at most."""
_PROFILE, _STATIONS, _ACROSS = 513, 17, 257
"""Points at which heights are measured, openings along a line, and each of them across."""
_MOST_EXPLAINED = 64
"""Pairs of islands of which is kept what parts them."""
_MEASURED = 0.01
"""Of the radius: how well a width is known."""


class Isles(NamedTuple):
    """The islands of a mesh: places that can reach each other, over links too, the largest first."""

    number: NDArray[np.int64]
    """By label of connected ground (`Islands.labels`): its island, from 0."""
    sizes: Floats
    """Square metres."""

    def name(self, label: int) -> str:
        """Describe an island in a sentence."""
        at = int(self.number[label])
        return f"island {at + 1} ({self.sizes[at]:.1f} m2)"


def isles(snapshot: MeshSnapshot, area_costs: AreaCosts) -> Isles:
    """The islands of the open ground."""
    labels, onward = snapshot.islands(area_costs.closed)
    open_ = labels >= 0
    label_areas = np.bincount(labels[open_], weights=snapshot.topology.polygon_areas[open_])
    root = np.arange(len(label_areas))
    for a, reached in onward.items():
        for b in reached:
            if a in onward.get(b, ()):
                root[root == max(root[a], root[b])] = min(root[a], root[b])
    sizes = np.bincount(root, weights=label_areas, minlength=len(label_areas))
    there = np.unique(root)
    order = there[np.argsort(-sizes[there], kind="stable")]
    number = np.empty(len(label_areas), np.int64)
    number[order] = np.arange(len(order))
    return Isles(number[root], np.asarray(sizes[order], np.float64))


class Reasons:
    """Explains why there is no way over a mesh.

    Parameters
    ----------
    snapshot, area_costs
        The mesh and what is closed on it.
    agent : Agent, optional
        The agent that walks; without one, only distances are given.
    triangles : callable, optional
        Gives an index of the triangles, on which steps and openings are measured.
    """

    def __init__(
        self,
        snapshot: MeshSnapshot,
        area_costs: AreaCosts,
        agent: Agent | None = None,
        triangles: Callable[[], TriangleIndex] | None = None,
    ) -> None:
        self._snapshot, self._area_costs, self._agent, self._triangles = snapshot, area_costs, agent, triangles
        self._gaps: Gaps | None = None
        self._explained = BoundedCache(most=_MOST_EXPLAINED)
        self._near_by = 2.0 if agent is None or agent.radius <= 0 else _NEAR_BY * agent.radius

    def explain(self, starts: list[int], goals: list[int], closed: bool = False) -> str:
        """Why no way leads from a place to another one.

        Parameters
        ----------
        starts, goals : list of int
            Open polygons that the two are in.
        closed : bool
            Whether it is known that closed ground is what parts them.
        """
        if not starts or not goals:
            both = not starts and not goals
            which = "start and goal are" if both else "the goal is" if starts else "the start is"
            return f"{which} on ground that is closed to this agent"
        labels = self._snapshot.islands(self._area_costs.closed).labels
        a, b = int(labels[starts[0]]), int(labels[goals[0]])
        found = isles(self._snapshot, self._area_costs)
        text = f"start is on {found.name(a)}, goal on {found.name(b)}; "
        if closed or self._snapshot.islands(ALL_OPEN).joined(starts[0], goals[0]):
            return text + CLOSED
        return text + str(self._explained.get((a, b), lambda: self._missing(a, b, found)))

    def _missing(self, a: int, b: int, found: Isles) -> str:
        """What would join two islands."""
        if a in self._snapshot.islands(self._area_costs.closed).onward.get(b, ()):
            return "only links in the other direction join them"
        if self._gaps is None:
            self._gaps = self._near()
        chain = self._chain(a, b)
        if not chain:
            return f"nothing joins them, and their rims are nowhere within {self._near_by:.2f} m of each other"
        onward = self._snapshot.islands(self._area_costs.closed).onward
        stops = [(one, two) for one, two in pairwise(chain) if two not in onward.get(one, ())]
        gaps = [self._gaps[min(stop), max(stop)] for stop in stops]
        text = self._reason(gaps[0])
        if len(chain) == 2:
            return text
        over = ", ".join(str(number + 1) for number in found.number[chain[1:-1]].tolist())
        count = "one place stops" if len(gaps) == 1 else f"{len(gaps)} places stop"
        return f"on the way over island{'s' if len(chain) > 3 else ''} {over} {count} the agent, first: {text}"

    def _near(self) -> Gaps:
        """Where islands come near each other, and no higher than an agent."""
        snapshot, labels = self._snapshot, self._snapshot.islands(self._area_costs.closed).labels
        ground, topology = snapshot.ground, snapshot.topology
        ahead = ground.neighbours
        rim = (labels[topology.owners] >= 0) & ((ahead < 0) | (labels[ahead] < 0))
        edges = np.flatnonzero(rim)
        own = labels[topology.owners[edges]]
        ends = ground.vertices[np.column_stack([ground.corners[edges], ground.corners[topology.nexts[edges]]])]
        lines = shapely.linestrings(ends[:, :, :2])
        # One of two islands is not the largest: only the rims of the others look around.
        label_areas = np.bincount(labels[labels >= 0], weights=topology.polygon_areas[labels >= 0])
        asking = np.flatnonzero(own != np.argmax(label_areas))
        asked, other = shapely.STRtree(lines).query(lines[asking], predicate="dwithin", distance=self._near_by)
        pairs = np.column_stack([asking[asked], other])
        swap = own[pairs[:, 0]] > own[pairs[:, 1]]
        pairs[swap] = pairs[swap][:, ::-1]
        pairs = distinct(pairs[own[pairs[:, 0]] != own[pairs[:, 1]]]).rows
        near = np.swapaxes(ends[pairs], 0, 1)
        away, rise = _apart(_places(near, shapely.shortest_line(lines[pairs[:, 0]], lines[pairs[:, 1]])))
        climb, most = self._step_and_height
        order = np.argsort(away + np.maximum(rise - climb, 0.0), kind="stable")
        order = order[(rise <= climb + most)[order]]
        gaps: dict[tuple[int, int], list[Floats]] = {}
        for one, two, place in zip(*own[pairs[order]].T.tolist(), np.swapaxes(near, 0, 1)[order], strict=True):
            if len(gaps.setdefault((one, two), [])) < _RIMS:
                gaps[one, two].append(place)
        return {pair: np.array(found) for pair, found in gaps.items()}

    @property
    def _step_and_height(self) -> tuple[float, float]:
        return (0.0, self._near_by) if self._agent is None else (self._agent.climb, self._agent.height)

    def _along(self, rims: Floats) -> Floats:
        """(k, 2, 3) places where two rims face each other, the nearest first; `rims` (r, 2, 2, 3) are their ends."""
        one, two = (shapely.linestrings(rims[:, side, :, :2]) for side in (0, 1))
        sides = np.hypot(*(rims[:, 0, 1] - rims[:, 0, 0])[:, :2].T)
        spacing = max(0.025 * self._near_by, float(sides.sum()) / _POINTS)
        parts = (sides // spacing).astype(np.int64) + 2
        rows = np.repeat(np.arange(len(rims)), parts)
        share = (np.arange(len(rows)) - np.repeat(np.cumsum(parts) - parts, parts)) / (parts[rows] - 1)
        across = shapely.shortest_line(shapely.line_interpolate_point(one[rows], share, normalized=True), two[rows])
        shortest = shapely.shortest_line(one, two)
        every = np.concatenate([np.arange(len(rims)), rows])
        places = _places(np.swapaxes(rims[every], 0, 1), np.concatenate([shortest, across]))
        away, rise = _apart(places)
        climb, most = self._step_and_height
        near = np.flatnonzero((away <= self._near_by) & (rise <= climb + most))
        return np.asarray(places[near[np.argsort((away + np.maximum(rise - climb, 0.0))[near], kind="stable")]])

    def _chain(self, a: int, b: int) -> list[int]:
        """Labels from one to another over the fewest gaps and links; empty without."""
        assert self._gaps is not None
        islands = self._snapshot.islands(self._area_costs.closed)
        steps = [*self._gaps, *((two, one) for one, two in self._gaps)]
        steps += [(one, two) for one, reached in islands.onward.items() for two in reached if one != two]
        count = int(islands.labels.max()) + 1
        rows, columns = np.array(steps, np.int64).reshape(-1, 2).T
        graph = csr_array((np.ones(len(rows)), (rows, columns)), shape=(count, count))
        _, before = breadth_first_order(graph, a, return_predecessors=True)
        chain = [b]
        while chain[-1] != a:
            if before[chain[-1]] < 0:
                return []
            chain.append(int(before[chain[-1]]))
        return chain[::-1]

    def _reason(self, gaps: Floats) -> str:
        """What stops the agent between two islands, where the least is missing."""
        places, wall = self._along(gaps), ""
        if self._agent is not None and self._triangles is not None:
            agent, index = self._agent, self._triangles()
            # Only where one sees through at half the height there may be an opening.
            eyes = places + np.array([0.0, 0.0, 0.5 * (agent.climb + agent.height)])
            eyes = self._snapshot.frame.world(eyes.reshape(-1, 3))
            seen = places[index.visible(eyes[::2], eyes[1::2], workers=1)]
            tried = seen[np.unique(np.linspace(0, len(seen) - 1, _TRIED).astype(np.int64))] if len(seen) else seen
            found = [reason for gap in tried if (reason := self._measure(gap, agent, index)) is not None]
            if found:
                return min(found)[1]
            wall = "" if len(seen) else ", with walls between them"
        gap = places[0]
        away, rise = float(np.hypot(*(gap[1] - gap[0])[:2])), float(gap[1, 2] - gap[0, 2])
        height = f" and {abs(rise):.2f} m {'up' if rise > 0 else 'down'}" if abs(rise) >= 0.005 else ""
        return f"the islands come within {away:.2f} m{height} of each other at {self._place(gap.mean(axis=0))}{wall}"

    def _place(self, point: Floats) -> str:
        x, y, z = (0.0 + round(value, 2) for value in self._snapshot.frame.world(point[None])[0].tolist())
        return f"({x:.2f}, {y:.2f}, {z:.2f})"

    def _measure(self, gap: Floats, agent: Agent, index: TriangleIndex) -> tuple[float, str] | None:
        """How many metres are missing between two rims, and in words; None where nothing of it can be measured."""
        wide, tall = 2.0 * _SURE * agent.radius, agent.climb + agent.height
        around = np.array([wide, wide, tall])
        box = self._snapshot.frame.world(np.array([gap.min(axis=0) - around, gap.max(axis=0) + around]))
        corners = index.mesh.vertices[index.mesh.triangles[index.overlapping(*box)]]
        triangles = self._snapshot.frame.local(corners.reshape(-1, 3)).reshape(-1, 3, 3)
        line = gap[0] + np.linspace(0.0, 1.0, _PROFILE)[:, None] * (gap[1] - gap[0])
        if not (gap[0] != gap[1])[:2].any():
            return None
        floor = _floor(triangles, line, gap[:, 2].max() + 0.5 * agent.height)
        ends = floor[[0, -1]]
        if np.isfinite(ends).all() and abs(ends - gap[:, 2]).max() <= max(agent.climb, 0.5 * agent.radius):
            stop = self._step(line, floor, agent)
            if stop is not None:
                return stop
        return self._opening(triangles, gap, agent)

    def _step(self, line: Floats, floor: Floats, agent: Agent) -> tuple[float, str] | None:
        """A step or a gap in the ground on a line."""
        least = floor[[0, -1]].min() - agent.climb
        hole = ~(floor >= least)
        if hole.any():
            step = float(np.hypot(*(line[1] - line[0])[:2]))
            wide = step * int(hole.sum())
            return wide, f"the ground has a gap of {wide:.2f} m at {self._place(line[hole].mean(axis=0))}"
        rises = np.abs(np.diff(floor))
        at = int(np.argmax(rises))
        more = float(rises[at]) - agent.climb
        if more <= 1e-3 * agent.climb:
            return None
        where = self._place(np.array([*line[at, :2], min(floor[at], floor[at + 1])]))
        return more, f"a step of {rises[at]:.2f} m at {where} is {more:.2f} m higher than the agent climbs"

    def _opening(self, triangles: Floats, gap: Floats, agent: Agent) -> tuple[float, str] | None:
        """An opening between walls on a line: its narrowest place."""
        low = float(gap[:, 2].mean())
        walls = _slab(triangles, low + agent.climb, low + agent.height)
        sure, needs = _SURE * agent.radius, 2.0 * agent.radius
        if walls is None or needs <= 0:
            return None
        stations = gap[0] + np.linspace(0.0, 1.0, _STATIONS)[:, None] * (gap[1] - gap[0])
        found = [disc for point in stations if (disc := _width(walls, point[:2], sure)) is not None]
        if not found:
            return None
        width, x, y = min(found)
        text = f"an opening at {self._place(np.array([x, y, low]))} is about {width:.2f} m wide, "
        text += f"the agent needs {needs:.2f} m"
        if width >= needs - _MEASURED * agent.radius:
            text += f" and gets through all of {sure:.2f} m, but not through every narrower one"
        return sure - width, text


def _width(walls: shapely.Geometry, middle: Floats, most: float) -> tuple[float, float, float] | None:
    """The widest disc between walls whose middle lies across an opening, as its width and place.

    None where a place is in a wall or the opening is `most` wide or more.
    """
    nearest = shapely.get_coordinates(shapely.shortest_line(walls, shapely.Point(middle)))[0]
    away = float(np.hypot(*(middle - nearest)))
    if not 0.0 < away < most:
        return None
    across = nearest + np.linspace(0.0, most, _ACROSS)[:, None] * (middle - nearest) / away
    free = shapely.distance(shapely.points(across), walls)
    best = int(np.argmax(free))
    width = 2.0 * float(free[best])
    return (width, *across[best].tolist()) if best < _ACROSS - 1 and width < most else None


def _places(rims: Floats, across: NDArray[Any]) -> Floats:
    """(k, 2, 3) ends of lines between two rims, with heights; `rims` (2, k, 2, 3) are the ends of both."""
    flat = shapely.get_coordinates(across).reshape(-1, 2, 2)
    places = np.empty((len(flat), 2, 3))
    for side in (0, 1):
        start, way = rims[side][:, 0], rims[side][:, 1] - rims[side][:, 0]
        part = ((flat[:, side] - start[:, :2]) * way[:, :2]).sum(axis=1)
        part /= np.maximum((way[:, :2] ** 2).sum(axis=1), np.finfo(np.float64).tiny)
        places[:, side] = start + np.clip(part, 0.0, 1.0)[:, None] * way
    return places


def _apart(places: Floats) -> tuple[Floats, Floats]:
    """How far two ends are apart, seen from above and in height."""
    return np.hypot(*(places[:, 1, :2] - places[:, 0, :2]).T), np.abs(places[:, 1, 2] - places[:, 0, 2])


def _floor(triangles: Floats, line: Floats, top: float) -> Floats:
    """(k,) the highest ground below a height at each point of a line, seen from above; -inf where there is none."""
    a, b, c = (triangles[:, at] for at in range(3))
    det = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    flat = det != 0
    a, b, c, det = a[flat], b[flat], c[flat], det[flat]
    to = line[:, None, :2] - a[None, :, :2]
    u = (to[:, :, 0] * (c - a)[:, 1] - to[:, :, 1] * (c - a)[:, 0]) / det
    v = (to[:, :, 1] * (b - a)[:, 0] - to[:, :, 0] * (b - a)[:, 1]) / det
    height = a[:, 2] + u * (b - a)[:, 2] + v * (c - a)[:, 2]
    on = (np.minimum(u, v) >= -ROUNDING) & (u + v <= 1.0 + ROUNDING) & (height <= top)
    return np.asarray(np.where(on, height, -np.inf).max(axis=1, initial=-np.inf))


def _slab(triangles: Floats, low: float, high: float) -> shapely.Geometry | None:
    """What triangles cover between two heights, seen from above; None for nothing."""
    ends = np.roll(triangles, -1, axis=1)
    parts = [np.where(((triangles[..., 2] >= low) & (triangles[..., 2] <= high))[..., None], triangles, np.nan)]
    for height in (low, high):
        with np.errstate(divide="ignore", invalid="ignore"):
            part = (height - triangles[..., 2]) / (ends[..., 2] - triangles[..., 2])
            crossed = triangles + part[..., None] * (ends - triangles)
        parts.append(np.where(((part >= 0) & (part <= 1))[..., None], crossed, np.nan))
    points = np.concatenate(parts, axis=1)[..., :2]
    there = np.isfinite(points).all(axis=2)
    if not there.any():
        return None
    _, owner = np.unique(np.nonzero(there)[0], return_inverse=True)
    hulls = shapely.convex_hull(shapely.multipoints(points[there], indices=owner))
    return shapely.geometrycollections(hulls)
