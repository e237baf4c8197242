"""Worlds of weighted regions: cheapest routes that bend where the ground changes (Tibboel 2012)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.core.locks import Portable, ReadersWriter
from wayfold.geometry.shapes import Shape
from wayfold.path import Path
from wayfold.terrain import Terrain
from wayfold.world.field import Field
from wayfold.world.planner import Notes, Planner, Points, Zones, off_map


class Lying(Portable):
    """The ground at one moment; nothing in it changes.

    Parameters
    ----------
    terrain : Terrain
    options : dict
        Of `Terrain.path`; `radius` is that of the disc.
    """

    def __init__(self, terrain: Terrain, options: dict[str, Any]) -> None:
        self.terrain = terrain
        self.options = options

    @cached_property
    def open(self) -> Terrain:
        """The ground for the middle of the disc."""
        return self.terrain._grown(float(self.options["radius"]))

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """Component of each triangle that can be entered, -1 for others.

        Routes of points lead over sides and corners, those of discs over sides only.
        """
        triangles, free = self.open.triangles, np.isfinite(self.open.triangle_weights)
        if self.options["radius"] > 0:
            half = np.flatnonzero(self.open.twins > np.arange(self.open.twins.size))
            here, there = half // 3, self.open.twins[half] // 3
            both = free[here] & free[there]
            shape = len(triangles), len(triangles)
            joined = scipy.sparse.csr_array((np.ones(int(both.sum())), (here[both], there[both])), shape=shape)
            labels = connected_components(joined, directed=False)[1]
            return np.where(free, labels, -1).astype(np.int32)
        rows = np.repeat(np.flatnonzero(free), 3)
        corners = triangles[free].ravel()
        shape = len(triangles), len(self.open.vertices)
        meets = scipy.sparse.csr_array((np.ones(len(rows), np.bool_), (rows, corners)), shape=shape)
        both = scipy.sparse.block_array([[None, meets], [meets.T, None]], format="csr")
        labels = connected_components(both, directed=False)[1][: len(triangles)]
        return np.where(free, labels, -1).astype(np.int32)

    @cached_property
    def sizes(self) -> Points:
        """Square metres of each component, by their numbers."""
        a, b, c = np.swapaxes(self.open.vertices[self.open.triangles], 0, 1)
        areas = 0.5 * np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
        free = self.labels >= 0
        _, number = np.unique(self.labels[free], return_inverse=True)
        return np.asarray(np.bincount(number, weights=areas[free]), np.float64)

    def path(self, start: Any, goal: Any) -> Path:
        """One query."""
        self.keep()
        return self.terrain.path(start, goal, **self.options)

    def keep(self) -> None:
        """Hold what refined routes of a disc need, however much the terrain prepares for others."""
        if self.options["graph"] == "refined":
            _ = self.open


class TerrainPlanner(Planner):
    """Plans over weighted ground, which is flat: heights of points and shapes do not count.

    A block is an obstacle; a cost multiplies the ground's own weight. An edit cuts the triangles that its shape meets,
    out of the ground as it was without edits; what other shapes have cut is kept. The new ground then takes the old
    one's place, so queries need no lock. The graph of the routes is changed by the next query, and so is the ground for
    a disc, around the edit only. There is no accelerator: `exact` and `plain` give what `path` gives.
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
        self._now = Lying(terrain, options)

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
        places = now.terrain._open_places(start, goal, float(now.options["radius"]))
        labels = np.where(places < 0, -1, now.labels[places])
        return bool(labels[0] == labels[1] >= 0)

    def _islands(self) -> tuple[Points, str]:
        # The ground of a disc takes a while to make: told once a query has made it.
        now = self._now
        return now.sizes if not now.options["radius"] or "open" in now.__dict__ else np.empty(0), "m2"

    def _island_of(self, start: Any, goal: Any) -> tuple[int, int]:
        now = self._now
        places = now.terrain._open_places(start, goal, float(now.options["radius"]))
        known = np.unique(now.labels[now.labels >= 0])
        first, last = (int(np.searchsorted(known, now.labels[at])) if at >= 0 else -1 for at in places.tolist())
        return first, last

    def _nearest(self, point: Points) -> Points:
        reach = 10.0 * max(self.agent.radius, self.agent.height)
        place = self._now.open._nearest(point[:2], reach)
        if place is None:
            raise off_map(point[:2], f"has no ground that the agent can be on within {reach:g} m", self._extent)
        return np.array([*place, 0.0])

    def _expanded(self, start: Any, goal: Any) -> Points:
        """Points on the triangles that the search settles; for grids and Steiner graphs only those of the path."""
        now = self._now
        graph = now.options["graph"]
        if graph not in ("refined", "dual-extra"):
            return now.path(start, goal).points
        points = now.terrain._searched(start, goal, graph, float(now.options["radius"]), now.options.get("search"))
        return np.column_stack([points, np.zeros(len(points))])

    def _field(self, goal: Any) -> Field:
        where = checks.point3(goal, "goal")
        return TerrainRoutes(self._now, where * (1.0, 1.0, 0.0))

    def _random_points(self, count: int, seed: int) -> Points:
        now = self._now
        free = np.flatnonzero(now.labels >= 0)
        if not free.size:
            raise off_map(np.zeros(2), "and every other place is an obstacle")
        a, b, c = np.swapaxes(now.open.vertices[now.open.triangles[free]], 0, 1)
        areas = np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
        labels = now.labels[free]
        areas[labels != np.argmax(np.bincount(labels, weights=areas))] = 0.0
        rng = np.random.default_rng(seed)
        at = rng.choice(len(free), count, p=areas / areas.sum())
        u, v = np.sort(rng.random((2, count)), axis=0)[:, :, None]
        return np.column_stack([a[at] * u + b[at] * (v - u) + c[at] * (1 - v), np.zeros(count)])

    # --- changes -----------------------------------------------------------------------------------------------------

    def _prepare(self, before: Zones, after: Zones, shape: Shape) -> Lying:
        layers = [(zone.polygon, cost) for zone, cost in after.costs]
        layers += [(block.polygon, float("inf")) for block in after.blocks]
        return Lying(self._own.painted(layers), self._now.options)

    def _commit(self, prepared: Lying) -> None:
        self._now = prepared

    @contextmanager
    def _reading(self) -> Iterator[None]:
        yield  # each query takes one `Lying`, which does not change


class TerrainRoutes(Field):
    """Routes to one goal, from one search; each is the one that a query of its own gives."""

    def __init__(self, now: Lying, goal: Points) -> None:
        super().__init__(goal)
        self._field = now.terrain.field(goal, **now.options)

    def _paths(self, starts: Points) -> Sequence[Path]:
        return self._field.paths(starts)
