"""Exact planning with bounds from the abstraction (Wardhana et al. 2015, section 8).

They say where not to look, and how far it is at least.

Where not to look: a shortest path crosses a region between two of its portals, and needs only few of its waypoints
(`_useful_kernels`). All others are left out, but for the regions of start and goal.

How far: landmarks are subregions around the rim of the world. The triangle inequality turns costs from a landmark into
a lower bound that respects walls, and that never falls by more than an edge costs, so that A* stays exact (Goldberg and
Harrelson's ALT, the paper's reference 24).
Costs are counted in whole steps, those of every edge rounded down: 4 bytes are enough for a bound that is still exact.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import Motion
from wayfold.core import batches
from wayfold.core.locks import Portable
from wayfold.graph import Graph, searcher
from wayfold.graph.search_kernels import HEAP_FULL, GraphSpace
from wayfold.subregions import _kernels
from wayfold.subregions._kernels import BoundedSpace, SteppedSpace
from wayfold.waypoints import WaypointGraph


class Bounds:
    """What exact queries know beforehand: costs from a few landmarks, and which waypoints are of use.

    Parameters
    ----------
    waypoints : WaypointGraph
    motions : Motion
        Edges that the character can use.
    subregions : Graph
        The abstraction.
    labels : (n,) array
        Subregion of each waypoint.
    count : int, >= 1
        Number of landmarks.
    progress : callable, optional
        Called as ``progress(done, total)`` now and then.

    Attributes
    ----------
    table : (n, count) int32
        Cost of every waypoint from each landmark, in steps; -1 where it does not reach.
    of_use : (n,) uint16 or int32
        0 for waypoints that any query may need, 1 + region for those that only queries from or to their region need.
    """

    def __init__(
        self,
        waypoints: WaypointGraph,
        motions: Motion,
        subregions: Graph,
        labels: NDArray[Any],
        count: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        graph = waypoints.graph
        chosen = _around(subregions, count)
        nodes = [int(np.argmax(labels == label)) for label in chosen]
        # Nothing is further from any landmark than twice what is furthest from one of them.
        away = graph.distances(nodes[0], motions=int(motions))
        self.step = max(2.0 * float(away[np.isfinite(away)].max()) / (1 << 30), 1e-300)
        self.table = np.full((graph.num_nodes, count), -1, np.int32)
        space = graph.search_space(motions)

        def measure(first: int, last: int) -> None:
            for at in range(first, last):
                steps = searcher.costs_from(SteppedSpace(space, self.step), graph.workspaces, nodes[at])
                self.table[:, at] = np.where(steps < np.inf, steps, -1.0)

        done = [0]

        def step(items: int) -> None:
            done[0] += items
            if progress is not None:
                progress(done[0], len(nodes))

        batches.run_chunks(measure, len(nodes), chunk=1, progress=step)
        regions = waypoints.num_regions
        dtype = np.uint16 if regions < np.iinfo(np.uint16).max else np.int32
        self._flags = np.zeros(graph.num_nodes, np.uint8)
        self.of_use = np.zeros(graph.num_nodes, dtype)
        self._masks = Masks(regions + 1)
        self._home = waypoints.layout.of[:, 0]

        def portals(first: int, last: int) -> None:
            _kernels.find_portals(space, waypoints.layout.of, first, last, self._flags)

        batches.run_chunks(portals, graph.num_nodes, chunk=1 << 16)
        self.look(waypoints, space, np.arange(regions))

    def look(self, waypoints: WaypointGraph, space: GraphSpace, regions: NDArray[np.int64]) -> None:
        """Find out which waypoints of some regions are of use; those that were once stay so."""
        layout = waypoints.layout
        pool = waypoints.graph.workspaces
        flags = self._flags

        def ways(first: int, last: int) -> None:
            state = pool.take()
            for region in regions[first:last]:
                lists = (layout.offsets, layout.members, region)
                while _kernels.mark_useful(space, layout.of, *lists, state, flags, searcher.NO_NODES) == HEAP_FULL:
                    state = pool.larger(state)
                nodes = layout.members[layout.offsets[region] : layout.offsets[region + 1]]
                self.of_use[nodes] = np.where(flags[nodes] > 0, 0, region + 1)
            pool.give(state)

        batches.run_chunks(ways, len(regions), chunk=16)

    def space(self, graph: GraphSpace, scale: float, start: int, goal: int) -> Any:
        """The search space of an exact query, and the mask to give back to `free` after it."""
        mask = self._masks.take()
        for label in self._labels(start, goal):
            mask.allowed[label] = 1
        filtered = graph._replace(labels=self.of_use, allowed=mask.allowed)
        return BoundedSpace(filtered, scale, self.step, self.table), mask

    def free(self, mask: Any, start: int, goal: int) -> None:
        """Take back the mask of a query."""
        for label in self._labels(start, goal):
            mask.allowed[label] = 0
        self._masks.give(mask)

    def _labels(self, start: int, goal: int) -> tuple[int, int, int]:
        """What a query may use: what is of use to all, and all of its own regions."""
        return 0, int(self._home[start]) + 1, int(self._home[goal]) + 1


def _around(subregions: Graph, count: int) -> list[int]:
    """Subregions of the largest component, each the furthest from the middle in its direction.

    Directions lie in the plane of the world's two longest extents. Landmarks in the middle would bound little.
    """
    component = subregions.components()
    main = np.flatnonzero(component == np.argmax(np.bincount(component)))
    points = subregions.points[main].astype(np.float64)
    wide = np.argsort(-np.ptp(points, axis=0), kind="stable")[:2]
    away = (points - (points.min(axis=0) + points.max(axis=0)) / 2)[:, np.sort(wide)]
    sector = np.floor((np.arctan2(away[:, 1], away[:, 0]) / (2 * np.pi) + 0.5) * count).astype(np.int64) % count
    distance = np.hypot(away[:, 0], away[:, 1])
    order = np.lexsort((main, -distance, sector))
    first = np.unique(sector[order], return_index=True)[1]
    return [int(label) for label in main[order[first]]]


class Mask(NamedTuple):
    """Which subregions a filtered search may enter."""

    allowed: NDArray[np.uint8]
    marked: NDArray[np.int32]


class Masks(Portable):
    """A pool of masks for `count` subregions; threads need no lock, as append and pop of a deque are atomic."""

    _OWN = (("_free", deque),)

    def __init__(self, count: int) -> None:
        self.count = count
        self._free: deque[Mask] = deque()

    def take(self) -> Mask:
        """A mask that allows nothing."""
        try:
            return self._free.pop()
        except IndexError:
            return Mask(np.zeros(self.count, np.uint8), np.empty(self.count, np.int32))

    def give(self, mask: Mask) -> None:
        """Return a mask that allows nothing again."""
        self._free.append(mask)
