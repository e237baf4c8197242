"""What a `NavMesh` is at one moment: arrays that never change, and what is derived from them on first use.

An edit makes a new `State` and swaps one reference, so a query that runs meanwhile sees the old mesh or the new one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wayfold.errors import ParameterError
from wayfold.graph import Graph
from wayfold.graph.workspace import Workspaces
from wayfold.navmesh import _ground_kernels, _interval_kernels
from wayfold.navmesh._corridor_kernels import Links
from wayfold.navmesh._ground_kernels import Cells, Ground
from wayfold.navmesh._interval_kernels import Heap, Plane, Pool, Roots

_MOST_CELLS = 1 << 22
_FIRST_POOL = 4096  # search nodes


class Rates:
    """What a metre costs an agent in each kind of area.

    Attributes
    ----------
    rates : (256,) float64 array
        Infinite where the agent may not go.
    closed : (256,) uint8 array
        1 where the rate is infinite.
    even : bool
        Whether all open kinds that occur cost the same.
    lowest : float
        The lowest rate of a kind that occurs.
    """

    def __init__(self, rates: NDArray[np.float64], kinds: NDArray[np.uint8]) -> None:
        self.rates = rates
        self.closed = np.isinf(rates).astype(np.uint8)
        present = rates[np.bincount(kinds, minlength=256) > 0]
        present = present[np.isfinite(present)]
        self.even = bool(present.size == 0 or present.min() == present.max())
        self.lowest = float(present.min()) if present.size else 1.0


class State:
    """One version of a navigation mesh.

    Parameters
    ----------
    ground : Ground
        Vertices, polygons, neighbours and surfaces.
    kinds : (p,) uint8 array
        Kind of area of each polygon.
    links : Links, optional
        Ways across gaps.
    """

    def __init__(self, ground: Ground, kinds: NDArray[np.uint8], links: Links | None = None) -> None:
        self.ground = ground
        self.kinds = kinds
        self.links = no_links(self.num_polygons) if links is None else links
        self._rates: dict[tuple[tuple[int, float], ...], Rates] = {}
        self._planes: dict[bytes, Plane] = {}
        self._pools: deque[tuple[Pool, Heap, Roots]] = deque()

    @property
    def num_polygons(self) -> int:
        """Number of polygons."""
        return len(self.ground.offsets) - 1

    def with_links(self, links: Links) -> State:
        """The same mesh with other links."""
        return State(self.ground, self.kinds, links)

    def rates(self, costs: Mapping[int, float] | None) -> Rates:
        """What a metre costs in each kind of area: `costs` by kind, 1 for the others."""
        key = tuple(sorted(costs.items())) if costs else ()
        rates = self._rates.get(key)
        if rates is None:
            table = np.ones(256)
            for kind, rate in key:
                if isinstance(kind, bool) or not isinstance(kind, (int, np.integer)) or not 0 <= kind <= 255:
                    raise ParameterError(f"costs must be given for kinds from 0 to 255, not {kind!r}")
                if not isinstance(rate, (int, float)) or not rate > 0:
                    raise ParameterError(f"the cost of kind {kind} must be above 0 (infinite: closed), not {rate!r}")
                table[kind] = rate
            rates = self._rates[key] = Rates(table, self.kinds)
        return rates

    @cached_property
    def owners(self) -> NDArray[np.int32]:
        """Polygon of each edge."""
        return np.repeat(np.arange(self.num_polygons, dtype=np.int32), np.diff(self.ground.offsets))

    @cached_property
    def nexts(self) -> NDArray[np.int32]:
        """The edge after each edge, around its polygon."""
        nexts = np.arange(1, len(self.ground.corners) + 1, dtype=np.int32)
        nexts[self.ground.offsets[1:] - 1] = self.ground.offsets[:-1]
        return nexts

    @cached_property
    def middles(self) -> NDArray[np.float32]:
        """Middle of each edge."""
        vertices, corners = self.ground.vertices, self.ground.corners
        return np.asarray((vertices[corners] + vertices[corners[self.nexts]]) * 0.5, np.float32)

    @cached_property
    def areas(self) -> NDArray[np.float64]:
        """Area of each polygon seen from above, square metres."""
        areas = np.empty(self.num_polygons)
        _ground_kernels.areas(self.ground, areas)
        return areas

    @cached_property
    def centres(self) -> NDArray[np.float64]:
        """Mean of each polygon's corners, put on its surface."""
        ground = self.ground
        sums = np.add.reduceat(ground.vertices[ground.corners], ground.offsets[:-1], axis=0)
        centres = np.ascontiguousarray(sums / np.diff(ground.offsets)[:, None])
        _ground_kernels.heights(ground, np.arange(self.num_polygons, dtype=np.int32), centres)
        return centres

    @cached_property
    def cells(self) -> Cells:
        """The spatial index."""
        ground = self.ground
        low, high = ground.vertices[:, :2].min(axis=0), ground.vertices[:, :2].max(axis=0)
        width, depth = (float(side) for side in high - low)
        # About as many cells as polygons: most cells then hold a few.
        count = min(_MOST_CELLS, 2 * self.num_polygons)
        size = max(np.sqrt(width * depth / count), max(width, depth) / _MOST_CELLS, 1e-9)
        columns, rows = int(width // size) + 1, int(depth // size) + 1
        counts = np.zeros(columns * rows, np.int64)
        empty = Cells(float(low[0]), float(low[1]), float(size), columns, rows, counts, np.empty(0, np.int32))
        _ground_kernels.fill_cells(ground, empty, counts, empty.polygons)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        polygons = np.empty(offsets[-1], np.int32)
        _ground_kernels.fill_cells(ground, empty, offsets[:-1].copy(), polygons)
        return empty._replace(offsets=offsets, polygons=polygons)

    @cached_property
    def graph(self) -> Graph:
        """Polygons as nodes at their centres; a step costs the way through the middle of the portal, in metres."""
        ground, centres = self.ground, self.centres
        edges = np.flatnonzero(ground.neighbours >= 0)
        one_way = len(self.links.costs) > 0
        if not one_way:
            edges = edges[self.owners[edges] < ground.neighbours[edges]]
        a, b, middle = self.owners[edges], ground.neighbours[edges], self.middles[edges]
        costs = _lengths(centres[a] - middle) + _lengths(middle - centres[b])
        pairs = np.column_stack([a, b])
        if one_way:
            links = self.links
            starts = np.repeat(np.arange(self.num_polygons), np.diff(links.offsets))
            over = (
                _lengths(centres[starts] - links.starts) + links.costs + _lengths(links.ends - centres[links.targets])
            )
            pairs = np.concatenate([pairs, np.column_stack([starts, links.targets])])
            costs = np.concatenate([costs, over])
        return Graph.from_edges(centres, pairs, costs=costs, directed=one_way)

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """Component of each polygon; links join too, whichever way they lead."""
        return self.graph.components()

    @cached_property
    def workspaces(self) -> Workspaces:
        """Scratch of corridor searches."""
        return Workspaces(len(self.ground.corners) + 2 + len(self.links.costs))

    def plane(self, closed: NDArray[np.uint8]) -> Plane:
        """The mesh for the interval search, where polygons of `closed` kinds ((256,) uint8) are walls."""
        key = closed.tobytes()
        plane = self._planes.get(key)
        if plane is None:
            ground = self.ground
            ahead = ground.neighbours
            if closed.any():
                shut = closed[self.kinds] != 0
                ahead = np.where((ahead >= 0) & ~shut[ahead], ahead, -1).astype(np.int32)
            twins = np.empty(len(ahead), np.int32)
            _interval_kernels.twin_edges(ground.offsets, ground.corners, ground.neighbours, twins)
            count = len(ground.vertices)
            turns = np.empty(count, np.uint8)
            _interval_kernels.turning_points(
                ground.vertices,
                ground.offsets,
                ground.corners,
                ahead,
                np.empty(count),
                np.empty(count, np.uint8),
                turns,
            )
            exits = np.add.reduceat(ahead >= 0, ground.offsets[:-1], dtype=np.int32)
            exits += 2 * np.diff(self.links.offsets).astype(np.int32)
            plane = Plane(ground.vertices, ground.offsets, ground.corners, ahead, twins, turns, exits)
            self._planes[key] = plane
        return plane

    def take_pool(self) -> tuple[Pool, Heap, Roots]:
        """Scratch of an interval search; hand it back with `give_pool`."""
        try:
            return self._pools.pop()
        except IndexError:
            count = len(self.ground.vertices) + len(self.links.costs)
            roots = Roots(np.empty(count), np.zeros(count, np.int64), np.zeros(1, np.int64))
            return (*_pool(_FIRST_POOL), roots)

    def give_pool(self, pool: tuple[Pool, Heap, Roots]) -> None:
        """Return scratch for reuse."""
        self._pools.append(pool)

    @staticmethod
    def larger_pool(pool: tuple[Pool, Heap, Roots]) -> tuple[Pool, Heap, Roots]:
        """The same scratch with room for four times as many search nodes."""
        return (*_pool(4 * len(pool[0].parent)), pool[2])


def _pool(capacity: int) -> tuple[Pool, Heap]:
    pool = Pool(
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty((capacity, 2), np.int32),
        np.empty((capacity, 7)),
        np.empty(capacity, np.uint8),
    )
    return pool, Heap(np.empty(capacity), *(np.empty(capacity, np.int32) for _ in range(3)))


def _lengths(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.sqrt((steps * steps).sum(axis=1)))


def no_links(polygons: int) -> Links:
    """A mesh without links."""
    return Links(
        np.zeros(polygons + 1, np.int64), np.empty((0, 3)), np.empty((0, 3)), np.empty(0, np.int32), np.empty(0)
    )


def filter_polygons(
    ground: Ground, kinds: NDArray[np.uint8], kept: NDArray[np.bool_]
) -> tuple[Ground, NDArray[np.uint8]]:
    """The mesh of some of its polygons, with the vertices that they use, in the same order."""
    if kept.all():
        return ground, kinds
    sizes = np.diff(ground.offsets)
    edges = np.repeat(kept, sizes)
    numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    neighbours = ground.neighbours[edges]
    neighbours = np.where(neighbours >= 0, numbers[neighbours], -1).astype(np.int32)
    used = np.zeros(len(ground.vertices), np.bool_)
    used[ground.corners[edges]] = True
    vertex = (np.cumsum(used) - 1).astype(np.int32)
    points, offsets, triangles = ground.surface_points, ground.surface_offsets, ground.surface_triangles
    mine = np.repeat(kept, np.diff(offsets))
    triangles = triangles[mine]
    held = np.zeros(len(points), np.bool_)
    held[triangles.ravel()] = True
    place = (np.cumsum(held) - 1).astype(np.int32)
    return Ground(
        ground.vertices[used],
        _offsets(sizes[kept]),
        vertex[ground.corners[edges]],
        neighbours,
        points[held],
        _offsets(np.diff(offsets)[kept]),
        place[triangles],
    ), kinds[kept]


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
