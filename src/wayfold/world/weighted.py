"""Worlds of weighted regions: cheapest routes that bend where the ground changes (Tibboel 2012)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.core.locks import Portable, ReadersWriter
from wayfold.field import Field
from wayfold.geometry.shapes import Shape
from wayfold.map import Edits, off_map
from wayfold.path import Path
from wayfold.terrain import Terrain
from wayfold.world.planner import Notes, Planner, Points


class TerrainSnapshot(Portable):
    """The terrain at one moment; nothing in it changes.

    Parameters
    ----------
    terrain : Terrain
    options : dict
        Of `Terrain.path`; `radius` is that of the disc.
    """

    def __init__(self, terrain: Terrain, options: dict[str, Any]) -> None:
        self.terrain = terrain
        self.options = options
        self.radius = float(options["radius"])

    @cached_property
    def open(self) -> Terrain:
        """The ground for the centre of the disc."""
        return self.terrain.grown(self.radius)

    def path(self, start: Any, goal: Any) -> Path:
        """One query."""
        self.keep()
        return self.terrain.path(start, goal, **self.options)

    def keep(self) -> None:
        """Hold what refined routes of a disc need, however much the terrain prepares for others."""
        if self.options["graph"] == "refined":
            _ = self.open


class TerrainPlanner(Planner):
    """Plans over weighted ground, which is flat: heights of points and shapes are ignored.

    A block is an obstacle; a cost multiplies the ground's own weight. An edit cuts the triangles that its shape meets,
    out of the ground as it was without edits; what other shapes have cut is kept. The new ground then takes the old
    one's place, so queries need no lock. The graph of the routes is changed by the next query, and so is the ground for
    a disc, around the edit only. There is no accelerator: `exact` and `plain` give the same path.
    """

    map_name = "terrain"

    def __init__(
        self,
        agent: Agent,
        accelerator: str,
        notes: Notes,
        lock: ReadersWriter,
        *,
        terrain: Terrain,
        options: dict[str, Any],
    ) -> None:
        super().__init__(agent, accelerator, notes, lock)
        self._own = terrain
        self._now = TerrainSnapshot(terrain, options)

    @property
    def map(self) -> Terrain:
        """The ground as it is now."""
        return self._now.terrain

    @property
    def accelerator(self) -> None:
        """There is none."""

    def prepare(self) -> None:
        """Grow the ground for a disc, so that no query waits for it."""
        self._now.keep()

    # --- queries -----------------------------------------------------------------------------------------------------

    def _path(self, start: Any, goal: Any, exact: bool) -> Path:
        return self._now.path(start, goal)

    def _plain(self, start: Any, goal: Any) -> Path:
        return self._now.path(start, goal)

    def _paths(self, starts: Points, goals: Points, workers: int | None) -> Sequence[Path]:
        now = self._now
        now.keep()
        return now.terrain.paths(starts, goals, workers=workers, **now.options)

    def _reachable(self, start: Any, goal: Any) -> bool:
        now = self._now
        if now.options["graph"] != "refined":  # other graphs may miss a way
            return bool(now.path(start, goal))
        a, b = checks.point3(start, "start"), checks.point3(goal, "goal")
        return bool(now.terrain.reachable(a, b, radius=now.radius))

    def _islands(self) -> tuple[Points, str]:
        # Growing the ground for a disc takes a while: sizes are known once a query has made it.
        now = self._now
        return now.open.component_areas if not now.radius or "open" in now.__dict__ else np.empty(0), "m2"

    def _island_of(self, start: Any, goal: Any) -> tuple[int, int]:
        now = self._now
        first, last = (now.terrain.component_of(end, radius=now.radius) for end in (start, goal))
        return first, last

    def _nearest(self, point: Points) -> Points:
        max_distance = 10.0 * max(self.agent.radius, self.agent.height)
        place = self._now.open.nearest(point[None], max_distance=max_distance)[0]
        if np.isnan(place[0]):
            what = f"has no ground that the agent can be on within {max_distance:g} m"
            raise off_map(point[:2], what, self._extent)
        return np.asarray(place)

    def _expanded(self, start: Any, goal: Any) -> Points:
        """Points of the nodes that the search settles; for grids, dual and Steiner graphs only those of the path."""
        now = self._now
        graph = now.options["graph"]
        if graph not in ("refined", "dual-extra"):
            return now.path(start, goal).points
        search = now.options.get("search")
        return now.terrain.expanded_points(start, goal, graph=graph, search=search, radius=now.radius)

    def _field(self, goal: Any) -> Field:
        where = checks.point3(goal, "goal")
        return TerrainRoutes(self._now, where * (1.0, 1.0, 0.0))

    def _random_points(self, count: int, seed: int) -> Points:
        ground = self._now.open
        if not len(ground.component_areas):
            raise off_map(np.zeros(2), "and every other place is an obstacle")
        return ground.random_points(count, seed=seed, component=int(np.argmax(ground.component_areas)))

    # --- changes -----------------------------------------------------------------------------------------------------

    def _prepare(self, before: Edits, after: Edits, shape: Shape) -> TerrainSnapshot:
        layers = [(zone.polygon, cost) for zone, cost in after.costs]
        layers += [(block.polygon, float("inf")) for block in after.blocks]
        return TerrainSnapshot(self._own.changed(layers), self._now.options)

    def _commit(self, prepared: TerrainSnapshot) -> None:
        self._now = prepared

    @contextmanager
    def _reading(self) -> Iterator[None]:
        yield  # each query takes one snapshot, which does not change


class TerrainRoutes(Field):
    """Routes to one goal, from one search; each is the one that a query of its own gives."""

    def __init__(self, now: TerrainSnapshot, goal: Points) -> None:
        super().__init__(goal)
        self._field = now.terrain.field(goal, **now.options)

    def _paths(self, starts: Points) -> Sequence[Path]:
        return self._field.paths(starts)
