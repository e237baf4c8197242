"""Scratch memory of searches: borrowed for one query, returned after it, handed on when the mesh changes."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.core.locks import Portable
from wayfold.graph._kernels import SearchState
from wayfold.graph.searcher import Workspaces
from wayfold.navmesh._interval_kernels import Heap, Pool, Roots
from wayfold.navmesh._weighted_kernels import Region

_FIRST_POOL = 4096  # search nodes
_MOST_IMPROVEMENTS = 1 << 30  # then they are counted from 0 again
Borrowed = tuple[Pool, Heap, Roots]


class Scratch(Portable):
    """Scratch for meshes up to some size, with a little to spare so that a mesh may grow.

    Parameters
    ----------
    nodes : int, >= 0
        Nodes of a corridor search: portals, links and two more.
    roots : int, >= 0
        Places where a shortest path may turn: vertices and links.
    edges : int, >= 0
        Edges of convex pieces.
    """

    _OWN = (("_pools", deque),)

    def __init__(self, nodes: int, roots: int, edges: int) -> None:
        self.workspaces = Workspaces(nodes + nodes // 16)
        self.roots = roots + roots // 16
        self.edges = edges + edges // 16
        # append and pop of a deque are atomic, so threads need no lock of ours
        self._pools: deque[Borrowed] = deque()

    def fits(self, nodes: int, roots: int, edges: int) -> bool:
        """Whether it is large enough for a mesh."""
        return nodes <= self.workspaces.nodes and roots <= self.roots and edges <= self.edges

    def take(self) -> Borrowed:
        """Scratch of an interval search; hand it back with `give`."""
        try:
            borrowed = self._pools.pop()
            roots = borrowed[2]
        except IndexError:
            roots = Roots(
                np.empty(self.roots), np.zeros(self.roots, np.int64), np.zeros(self.roots, np.int32),
                np.zeros(3 * self.edges, np.int32), np.zeros(2, np.int64),
            )  # fmt: skip
            borrowed = (*_pool(_FIRST_POOL), roots)
        if roots.clock[1] > _MOST_IMPROVEMENTS:
            roots.clock[1] = 0
            roots.taken[:] = 0
        return borrowed

    def give(self, borrowed: Borrowed) -> None:
        """Return scratch for reuse."""
        self._pools.append(borrowed)

    @staticmethod
    def larger(borrowed: Borrowed) -> Borrowed:
        """The same scratch with room for four times as many search nodes."""
        return (*_pool(4 * len(borrowed[0].parent)), borrowed[2])


def _pool(capacity: int) -> tuple[Pool, Heap]:
    pool = Pool(
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty((capacity, 2), np.int32),
        np.empty((capacity, 11)),
        np.empty(capacity, np.uint8),
    )
    return pool, Heap(np.empty(capacity), *(np.empty(capacity, np.int32) for _ in range(2)))


class Room(NamedTuple):
    """Scratch of one query where costs differ."""

    region: Region
    state: SearchState
    share: NDArray[np.float64]
    places: NDArray[np.float64]
    via: NDArray[np.int32]


class Rooms(Portable):
    """A pool of scratch for one mesh."""

    _OWN = (("_free", deque),)

    def __init__(self, polygons: int, portals: int) -> None:
        self._polygons, self._portals = polygons, portals
        self._free: deque[Room] = deque()  # append and pop are atomic

    def take(self) -> Room:
        """Scratch that nobody else uses; hand it back with `give`."""
        try:
            return self._free.pop()
        except IndexError:
            region = Region(
                np.zeros(self._polygons, np.uint8),
                np.empty(self._polygons, np.int32),
                np.full(self._portals, -1, np.int32),
                np.empty(self._portals, np.int32),
            )
            return Room(region, *search_room(1024))

    def give(self, room: Room) -> None:
        """Return scratch for reuse."""
        self._free.append(room)


def search_room(nodes: int) -> tuple[SearchState, NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]:
    """Scratch for a search over so many nodes: 58 bytes each."""
    state = SearchState(
        np.empty(nodes), np.empty(nodes, np.int32), np.zeros(nodes, np.uint16), np.empty(nodes, np.int32),
        np.empty(nodes), np.empty(nodes, np.int32), np.zeros(1, np.int64),
    )  # fmt: skip
    return state, np.empty(nodes), np.empty((nodes, 2)), np.empty(nodes, np.int32)
