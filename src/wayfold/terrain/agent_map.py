"""The terrain as an agent of a world uses it (Tibboel 2012)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.field import Field, with_reasons
from wayfold.map import AgentMap, Edits, off_map, why_apart
from wayfold.path import Path, Paths
from wayfold.terrain.terrain import Terrain

Points = NDArray[np.float64]


class TerrainMap(AgentMap):
    """Weighted ground for one agent, which is flat: heights of points and shapes are ignored.

    A block is an obstacle; a cost multiplies the ground's own weight. An edit cuts the triangles that its shape meets,
    out of the ground as it was without edits; what other shapes have cut is kept. The graph of the routes is changed by
    the next query, and so is the ground for a disc, around the edit only. There is no accelerator: quick paths are
    exact.

    Parameters
    ----------
    own : Terrain
        The ground without edits.
    options : dict
        Of `Terrain.path`; `radius` is that of the disc.
    terrain : Terrain, optional
        The ground with edits.
    """

    def __init__(
        self,
        agent: Agent,
        own: Terrain,
        options: dict[str, Any],
        edits: Edits | None = None,
        terrain: Terrain | None = None,
    ) -> None:
        super().__init__(agent, edits)
        self._own = own
        self.options = options
        self.terrain = own if terrain is None else terrain
        self.radius = float(options["radius"])

    @property
    def map(self) -> Terrain:
        """The ground as it is now."""
        return self.terrain

    @cached_property
    def open(self) -> Terrain:
        """The ground for the centre of the disc."""
        return self.terrain.grown(self.radius)

    def keep(self) -> None:
        """Hold what refined routes of a disc need, however much the terrain prepares for others."""
        if self.options["graph"] == "refined":
            _ = self.open

    # --- queries -----------------------------------------------------------------------------------------------------

    def path(self, start: Any, goal: Any, *, exact: bool = False) -> Path:
        """The cheapest route; quick paths are exact."""
        self.keep()
        return self._explained([self.terrain.path(start, goal, **self.options)], [start], [goal])[0]

    def paths(self, starts: Points, goals: Points, *, exact: bool = False, workers: int | None = None) -> Paths:
        """The cheapest routes of many queries; quick ones are exact."""
        self.keep()
        found = self.terrain.paths(starts, goals, workers=workers, **self.options)
        self._explained(found, starts, goals)
        return found

    def _explained(self, paths: Sequence[Path], starts: Any, goals: Any) -> Sequence[Path]:
        """The same paths, of which those without a way can tell why."""
        return with_reasons(paths, lambda at: partial(self.why, np.array(starts[at]), np.array(goals[at])))

    def reachable(self, start: Any, goal: Any) -> bool:
        """Whether open ground joins two points."""
        if self.options["graph"] != "refined":  # other graphs may miss a way
            return bool(self.path(start, goal))
        a, b = checks.point3(start, "start"), checks.point3(goal, "goal")
        return bool(self.terrain.reachable(a, b, radius=self.radius))

    def islands(self) -> tuple[Points, str]:
        """Square metres of the connected parts, once the ground for the disc is known."""
        return self.open.component_areas if not self.radius or "open" in self.__dict__ else np.empty(0), "m2"

    def why(self, start: Points, goal: Points) -> str:
        """On which islands start and goal are."""
        first, last = (self.terrain.component_of(end, radius=self.radius) for end in (start, goal))
        return why_apart(first, last, *self.islands())

    def nearest(self, point: Points) -> Points:
        """The nearest open place, within ten times the agent's size."""
        max_distance = 10.0 * max(self.agent.radius, self.agent.height)
        place = self.open.nearest(point[None], max_distance=max_distance)[0]
        if np.isnan(place[0]):
            x0, y0, x1, y1 = self._own.bounds
            what = f"has no ground that the agent can be on within {max_distance:g} m"
            raise off_map(point[:2], what, max(x1 - x0, y1 - y0))
        return np.asarray(place)

    def expanded(self, start: Any, goal: Any) -> Points:
        """Points of the nodes that the search settles; for grids, dual and Steiner graphs only those of the path."""
        graph = self.options["graph"]
        if graph not in ("refined", "dual-extra"):
            return self.path(start, goal).points
        search = self.options.get("search")
        return self.terrain.expanded_points(start, goal, graph=graph, search=search, radius=self.radius)

    def field(self, goal: Any) -> Field:
        """The routes to one goal."""
        return TerrainRoutes(self, checks.point3(goal, "goal") * (1.0, 1.0, 0.0))

    def random_points(self, count: int, *, seed: int = 0) -> Points:
        """Places in the largest part of the ground."""
        ground = self.open
        if not len(ground.component_areas):
            raise off_map(np.zeros(2), "and every other place is an obstacle")
        return ground.random_points(count, seed=seed, component=int(np.argmax(ground.component_areas)))

    # --- changes -----------------------------------------------------------------------------------------------------

    def changed(self, edits: Edits) -> TerrainMap:
        """The ground with other shapes painted over it."""
        layers = [(zone.polygon, cost) for zone, cost in edits.costs]
        layers += [(block.polygon, float("inf")) for block in edits.blocks]
        return TerrainMap(self.agent, self._own, self.options, edits, self._own.changed(layers))


class TerrainRoutes(Field):
    """Routes to one goal, from one search; each is the one that a query of its own gives."""

    def __init__(self, now: TerrainMap, goal: Points) -> None:
        super().__init__(goal)
        self._now = now
        self._field = now.terrain.field(goal, **now.options)

    def _paths(self, starts: Points) -> Sequence[Path]:
        return self._now._explained(self._field.paths(starts), starts, [self.goal] * len(starts))
