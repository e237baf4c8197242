"""What a person does in the viewer and what is to be shown for it, apart from any browser."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import CHARACTERS, Agent, Motion
from wayfold.core.arrays import offsets_of
from wayfold.errors import OffMapError, ParameterError, WayfoldError
from wayfold.geometry import TriangleIndex
from wayfold.graph import Graph
from wayfold.path import Path
from wayfold.view.viewer.drawing import Layer, colourings, map_mesh, show_level, show_map
from wayfold.world import Box, Planner, World
from wayfold.world.choice import ACCELERATORS

CUSTOM = "custom"
"""The agent whose sizes the user sets, beside the ready-made `CHARACTERS`."""


class Crowd:
    """Agents that walk their paths at one speed and stay where they arrive.

    Parameters
    ----------
    paths : iterable of Path
        One for each agent; those without points take no part.
    speed : float, metres a second, > 0

    Attributes
    ----------
    size : int
        Agents that take part.
    lengths : (size,) float64, metres
        How far each has to go.
    """

    def __init__(self, paths: Iterable[Path], speed: float) -> None:
        lines = [path.points for path in paths if len(path.points)]
        self.size = len(lines)
        self.speed = speed
        counts = np.array([len(line) for line in lines], np.int64)
        self._first = offsets_of(counts)[:-1].astype(np.int64)
        self._points = np.concatenate(lines) if lines else np.empty((0, 3))
        steps = np.linalg.norm(np.diff(self._points, axis=0, prepend=self._points[:1]), axis=1)
        steps[self._first] = 0.0
        # One ruler for all: the way along each path, each path a stretch of it.
        self._along = np.cumsum(steps)
        self._begin = self._along[self._first]
        last = self._first + counts - 1
        self._end = self._along[last]
        self.lengths: NDArray[np.float64] = self._end - self._begin

    @property
    def seconds(self) -> float:
        """Until the last one arrives."""
        return float(self.lengths.max(initial=0.0)) / self.speed

    def at(self, seconds: float) -> NDArray[np.float64]:
        """Where everyone is, (size, 3), some seconds after the start."""
        return self._where(np.minimum(self._begin + self.speed * seconds, self._end))

    def arrived(self, seconds: float) -> int:
        """How many have arrived by then."""
        return int((self.lengths / self.speed <= seconds).sum())

    def _where(self, along: ArrayLike) -> NDArray[np.float64]:
        way = np.asarray(along, np.float64)
        if not self.size:
            return np.empty((0, 3))
        # Where one path ends and the next begins the ruler stands still: the later of both points begins a stretch.
        after = np.searchsorted(self._along, way, side="left")
        after = np.clip(after, self._first, len(self._along) - 1)
        before = np.maximum(after - 1, self._first)
        gap = self._along[after] - self._along[before]
        share = np.divide(way - self._along[before], gap, out=np.zeros_like(way), where=gap > 0)
        return np.asarray(self._points[before] + share[:, None] * (self._points[after] - self._points[before]))


Points = NDArray[np.float64]

MODES = ("start & goal", "block", "unblock")
SEARCHES = ("accelerated", "plain A*")
AUTO = "auto"
_MAPS = {"mesh": ("navmesh", "waypoints", "sparse-grid"), "cells": ("sparse-grid",)}
_TIMES = 5  # that a query is timed
_SECONDS = 20.0  # that the middle one of a crowd walks for


@dataclass(frozen=True)
class Hit:
    """Where a click met the level."""

    point: Points
    normal: Points
    """Unit normal of the triangle, towards who clicked."""


@dataclass(frozen=True)
class Answer:
    """A path with what is told about it."""

    path: Path
    milliseconds: float
    plain_milliseconds: float
    """The same query by A* without an accelerator."""
    plain_expanded: int
    touched: Points
    """(k, 3) nodes that the search settled."""


@dataclass(frozen=True)
class End:
    """Start or goal: where it was clicked, and where the agent stands for it."""

    hit: Hit
    place: Points


class Session:
    """One viewer: a world, who walks in it, how it is planned, start and goal.

    Every action leaves the session as it was when it raises a `WayfoldError`, whose sentence is for the user. A session
    is used by one thread at a time.

    Parameters
    ----------
    world : World
    most : int, >= 1000
        Triangles, and again dots, to show at most.

    Attributes
    ----------
    agent_name : str
        One of `CHARACTERS`, or "custom".
    agent : Agent
    map_name, accelerator_name, search : str
        What was asked for; `planner` knows what "auto" became.
    planner : Planner or None
        None until `prepare`, after every change of agent or method.
    start, goal : End or None
    answer : Answer or None
        The present path; None while start or goal is missing.
    problem : str
        Why there is no path, for the user; empty where there is one or nothing was asked.
    lift : float, metres, >= 0
        How far from the clicked surface a flyer starts and ends.
    """

    def __init__(self, world: World, *, most: int = 150_000) -> None:
        self.world = world
        self.most = most
        self.agent_name = next(iter(CHARACTERS))
        self.agent = CHARACTERS[self.agent_name]
        self.map_name, self.accelerator_name, self.search = AUTO, AUTO, SEARCHES[0]
        self.planner: Planner | None = None
        self.start: End | None = None
        self.goal: End | None = None
        self.answer: Answer | None = None
        self.problem = ""
        self.lift = 3.0
        self.colouring = ""
        self.below: float | None = None
        self._mesh = world.mesh
        self._index: TriangleIndex | None = None
        self._next_is_goal = False

    # --- who and how -------------------------------------------------------------------------------------------------

    def choose_agent(self, name: str, agent: Agent | None = None) -> None:
        """Another agent: a name of `CHARACTERS`, or "custom" with the agent; `prepare` comes next."""
        if name != CUSTOM and name not in CHARACTERS:
            raise ParameterError(f"unknown agent {name!r}: choose from {', '.join(CHARACTERS)} or {CUSTOM}")
        if name == CUSTOM and agent is None:
            raise ParameterError("a custom agent needs its sizes")
        self.agent_name = name
        self.agent = CHARACTERS[name] if agent is None else agent
        self.planner = None

    def choose_method(self, map_name: str, accelerator_name: str) -> None:
        """Another of `maps` and `accelerators`; `prepare` comes next, and says if they do not go together."""
        self.map_name, self.accelerator_name = map_name, accelerator_name
        self.planner = None

    def maps(self) -> tuple[str, ...]:
        """Maps that this world can have."""
        return (AUTO, *_MAPS.get(self.world.kind, (self.world.kind,)))

    def accelerators(self) -> tuple[str, ...]:
        """Accelerators that the present map can have."""
        return (AUTO, *ACCELERATORS[self.ready().map_name])

    def choose_search(self, search: str) -> None:
        """By the accelerator, or by plain A*; the path is planned again."""
        if search not in SEARCHES:
            raise ParameterError(f"unknown search {search!r}: choose from {', '.join(SEARCHES)}")
        self.search = search
        self.plan()

    def prepare(self, progress: Callable[[str, int, int], None] | None = None) -> Planner:
        """Build (or find) the planner, move both ends to where its agent can be, and plan; may take long."""
        self.planner = self.world.planner(
            self.agent, map=self.map_name, accelerator=self.accelerator_name, progress=progress
        )
        if self._mesh is None:
            self._mesh = map_mesh(self.planner.map)
        if self._index is None:
            self._index = TriangleIndex(self._mesh)
        if self.colouring not in self.colourings():
            self.colouring = self.colourings()[0]
        self._replace()
        return self.planner

    def ready(self) -> Planner:
        """The planner, or a sentence that there is none."""
        if self.planner is None:
            raise ParameterError(f"the map for the {self.agent_name} is not built yet")
        return self.planner

    # --- clicking ----------------------------------------------------------------------------------------------------

    def pick(self, origin: ArrayLike, direction: ArrayLike) -> Hit | None:
        """Where a ray first meets the level, of what is shown of it; None where it meets nothing."""
        self.ready()
        assert self._index is not None
        mesh = self._index.mesh
        ray = np.asarray(direction, np.float64)
        ray = ray / np.linalg.norm(ray)
        at = np.asarray(origin, np.float64)
        _, distances, triangles = self._index.all_hits(at[None], ray[None], workers=1)
        for distance, triangle in zip(distances.tolist(), triangles.tolist(), strict=True):
            if self.below is None or mesh.vertices[mesh.triangles[triangle], 2].min() <= self.below:
                normal = mesh.normals[triangle]
                return Hit(at + distance * ray, -normal if normal @ ray > 0 else normal)
        return None

    def put(self, hit: Hit) -> None:
        """Put the next end of the path where a click met the level: the start, then the goal, in turns."""
        end = End(hit, self._stand(hit))
        if self._next_is_goal:
            self.goal = end
        else:
            self.start = end
        self._next_is_goal = not self._next_is_goal
        self.plan()

    def fly_at(self, height: float) -> None:
        """How far from the clicked surface a flyer starts and ends; plans again."""
        self.lift = float(height)
        self._replace()

    def clear(self) -> None:
        """Forget start and goal."""
        self.start = self.goal = self.answer = None
        self.problem = ""
        self._next_is_goal = False

    @property
    def next_end(self) -> str:
        """Which end the next click puts."""
        return "goal" if self._next_is_goal else "start"

    def _stand(self, hit: Hit) -> Points:
        """Where the agent is when it is put at a hit."""
        point = hit.point
        if self.agent.motions == Motion.VOLUMETRIC:
            point = point + (self.lift + self.agent.radius) * hit.normal
        return self.ready().nearest(point)

    def _replace(self) -> None:
        """Move both ends to where the present agent can be; ends that it cannot be at are forgotten."""
        lost = []
        for name in ("start", "goal"):
            end = getattr(self, name)
            if end is not None:
                try:
                    setattr(self, name, End(end.hit, self._stand(end.hit)))
                except OffMapError:
                    setattr(self, name, None)
                    lost.append(name)
        self._next_is_goal = self.goal is None and self.start is not None
        self.plan()
        if lost:
            self.problem = f"the {self.agent_name} cannot be at the {' or the '.join(lost)}: click again"

    # --- planning ----------------------------------------------------------------------------------------------------

    def plan(self) -> Answer | None:
        """Plan between start and goal by the chosen search, where there are both; `answer` and `problem` tell."""
        self.answer, self.problem = None, ""
        if self.planner is None or self.start is None or self.goal is None:
            return None
        planner, ends = self.planner, (self.start.place, self.goal.place)
        try:
            path, took = _timed(planner.path, ends)
            plain, plain_took = _timed(planner.plain, ends)
        except WayfoldError as error:
            self.problem = str(error)
            return None
        if self.search == SEARCHES[0]:
            touched = planner.expanded(*ends)
        else:
            path, took, touched = plain, plain_took, _touched_by_a_star(planner, plain)
        if not path:
            status = path.status.name.lower().replace("_", " ")
            self.problem = f"no path: {status} for the {self.agent_name}: {path.why}"
        self.answer = Answer(path, took, plain_took, plain.expanded, touched)
        return self.answer

    def report(self) -> str:
        """What is to be said about the present path, as Markdown."""
        if self.answer is None or not self.answer.path:
            return self.problem or f"Click on the level to put the **{self.next_end}**."
        answer, path = self.answer, self.answer.path
        lines = [
            "| | |",
            "|---|---|",
            f"| length | {path.length:,.1f} m |",
            f"| cost | {path.cost:,.1f} |",
            f"| time | {answer.milliseconds:,.3f} ms |",
            f"| plain A* | {answer.plain_milliseconds:,.3f} ms |",
            f"| settled nodes | {path.expanded:,} of A*'s {answer.plain_expanded:,} |",
            f"| corners | {len(path.points):,} |",
        ]
        return "\n".join(lines)

    # --- changing the world ------------------------------------------------------------------------------------------

    def box_at(self, point: ArrayLike, size: ArrayLike) -> Box:
        """A box of a size (x, y, z), standing a little deep around a point."""
        where, sides = np.asarray(point, np.float64), np.asarray(size, np.float64)
        if sides.shape != (3,) or not (sides > 0).all():
            raise ParameterError("a box needs three sides above 0 metres")
        low = where - (sides[0] / 2, sides[1] / 2, min(1.0, sides[2] / 4))
        return Box(low, low + sides)

    def block(self, shape: Any) -> float:
        """Close a part of the world, plan again and return the milliseconds of the edit."""
        return self._edit(self.world.block, shape)

    def unblock(self, shape: Any) -> float:
        """Open it again, plan again and return the milliseconds of the edit."""
        return self._edit(self.world.unblock, shape)

    def unblock_all(self) -> float:
        """Open everything that is blocked."""
        return sum(self.unblock(shape) for shape in self.world.blocks)

    def put_off(self) -> bool:
        """Whether an edit has set the accelerator aside, so that queries search the map itself for a while."""
        planner = self.planner
        return planner is not None and planner.accelerator is None and planner.accelerator_name != "none"

    def refresh(self) -> None:
        """Make such an accelerator again, which may take long, and plan again."""
        self.ready().refresh()
        self.plan()

    def block_on(self, origin: ArrayLike, direction: ArrayLike) -> Any:
        """The nearest of the blocked shapes that a ray meets, by the box around it; None where it meets none."""
        at, ray = np.asarray(origin, np.float64), np.asarray(direction, np.float64)
        best, nearest = None, np.inf
        for shape in self.world.blocks:
            low, high = shape.bounds
            with np.errstate(divide="ignore", invalid="ignore"):
                sides = np.sort(np.stack([(low - at) / ray, (high - at) / ray]), axis=0)
            enter, leave = np.nanmax(sides[0]), np.nanmin(sides[1])
            if max(enter, 0.0) <= leave and enter < nearest:
                best, nearest = shape, enter
        return best

    def _edit(self, edit: Callable[[Any], Any], shape: Any) -> float:
        begin = time.perf_counter()
        edit(shape)
        took = 1e3 * (time.perf_counter() - begin)
        self._replace()
        return took

    # --- a crowd -----------------------------------------------------------------------------------------------------

    def send_crowd(self, count: int = 500, seed: int = 0) -> tuple[Crowd, float]:
        """A crowd from places all over the map to the goal, by one search, and the milliseconds that planning took.

        Without a goal one is chosen at random.
        """
        planner = self.ready()
        starts = planner.random_points(count, seed=seed)
        goal = planner.random_points(1, seed=seed + 1)[0] if self.goal is None else self.goal.place
        begin = time.perf_counter()
        paths = planner.field(goal).paths(starts)
        took = 1e3 * (time.perf_counter() - begin)
        found = [path for path in paths if path]
        if not found:
            raise OffMapError(f"nobody of the {count} can get to the goal")
        middle = float(np.median([path.length for path in found]))
        return Crowd(found, max(middle, 1e-3) / _SECONDS), took

    # --- what is shown -----------------------------------------------------------------------------------------------

    def colourings(self) -> list[str]:
        """What the present map can be coloured by."""
        planner = self.ready()
        return colourings(planner.map, planner.accelerator)

    def level(self) -> Layer:
        """The level; nothing yet before `prepare` where the world has no triangles of its own."""
        return Layer() if self._mesh is None else show_level(self._mesh, self.most, self.below)

    def map(self) -> Layer:
        """The present map."""
        planner = self.ready()
        return show_map(planner.map, planner.accelerator, self.colouring, self.most)


def _touched_by_a_star(planner: Planner, path: Path) -> Points:
    """Where the nodes lie that plain A* settles for a path over the graph of a map; none for maps without one."""
    graph = getattr(planner.map, "graph", None)
    if not isinstance(graph, Graph) or not len(path.nodes) or not path.expanded:
        return np.empty((0, 3))
    first, last = int(path.nodes[0]), int(path.nodes[-1])
    nodes = graph.expanded(first, last, motions=None if graph.motions is None else planner.agent.motions)
    return graph.points[nodes].astype(np.float64)


def _timed(query: Callable[..., Path], ends: tuple[Points, Points]) -> tuple[Path, float]:
    """A query's answer and the least milliseconds of a few; the first one may compile and find components."""
    path, least = query(*ends), np.inf
    for _ in range(_TIMES):
        begin = time.perf_counter()
        path = query(*ends)
        least = min(least, time.perf_counter() - begin)
    return path, 1e3 * least
