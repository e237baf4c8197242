"""What a `NavMesh` is at one moment: arrays that never change, and what is derived from them on first use.

An edit makes a new `State` and swaps one reference, so a query that runs meanwhile sees the old mesh or the new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.core import checks
from wayfold.core.bounded_cache import BoundedCache
from wayfold.core.locks import Portable
from wayfold.geometry.frame import Frame
from wayfold.graph import Graph
from wayfold.graph._csr_kernels import sort_rows
from wayfold.navmesh import _corridor_kernels, _ground_kernels
from wayfold.navmesh._corridor_kernels import Links
from wayfold.navmesh._ground_kernels import Ground
from wayfold.navmesh._plane_kernels import Plane
from wayfold.navmesh.layout import ALL_OPEN, MOST_CLOSED, Layout, join
from wayfold.navmesh.scratch import Rooms, Scratch

_MOST_COSTS = 64  # sets of costs that are kept, 2.5 kB each
_FEW = 16  # pieces that meet in one point, for most points
NO_POLYGONS = np.empty(0, np.uint8)


class Islands(NamedTuple):
    """Which open polygons can reach which."""

    labels: NDArray[np.int32]
    """(p,) number of the connected open ground of each polygon, links aside; -1 where it is closed."""
    onward: dict[int, set[int]]
    """For islands where links start: all islands that links lead to, one after the other, itself included."""

    def joined(self, first: int, last: int) -> bool:
        """Whether one gets from a polygon to another one."""
        a, b = int(self.labels[first]), int(self.labels[last])
        return min(a, b) >= 0 and (a == b or b in self.onward.get(a, ()))


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
    uniform : float
        The rate of every kind that occurs; 0 where they differ or one is closed.
    """

    def __init__(self, rates: NDArray[np.float64], kinds: NDArray[np.uint8]) -> None:
        self.rates = rates
        self.closed = np.isinf(rates).astype(np.uint8)
        present = rates[np.bincount(kinds, minlength=256) > 0]
        finite = present[np.isfinite(present)]
        self.even = bool(finite.size == 0 or finite.min() == finite.max())
        self.lowest = float(finite.min()) if finite.size else 1.0
        self.uniform = self.lowest if self.even and finite.size == present.size else 0.0


class State(Portable):
    """One version of a navigation mesh.

    Parameters
    ----------
    layout : Layout
        The polygons and what follows from them.
    links : Links, optional
        Ways across gaps.
    before : State, optional
        The version that this one follows, whose search memory it takes over.
    """

    def __init__(self, layout: Layout, links: Links | None = None, before: State | None = None) -> None:
        self.layout = layout
        self.ground: Ground = layout.ground
        self.kinds = layout.kinds
        self.links = no_links(self.num_polygons) if links is None else links
        self._rates = BoundedCache(most=_MOST_COSTS)
        self._planes = BoundedCache(most=MOST_CLOSED)
        self._islands = BoundedCache(most=MOST_CLOSED)
        self._moved = any(layout.frame.origin)
        self._before: Scratch | None = None if before is None else before.__dict__.get("scratch", before._before)

    @property
    def num_polygons(self) -> int:
        """Number of polygons."""
        return self.layout.num_polygons

    @property
    def frame(self) -> Frame:
        """Where the mesh lies; everything in here is relative to it."""
        return self.layout.frame

    def local(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points relative to the frame; the same array where the mesh lies around 0."""
        return self.frame.local(points) if self._moved else points

    def with_links(self, links: Links) -> State:
        """The same mesh with other links."""
        return State(self.layout, links, self)

    def rates(self, costs: Mapping[int, float] | None) -> Rates:
        """What a metre costs in each kind of area: `costs` by kind, 1 for the others."""
        if not costs:
            return self._rates_of(())
        found = {}
        for kind, rate in costs.items():
            number = checks.whole(kind, "a kind in costs", low=0, high=255)
            found[number] = checks.rate(rate, f"the cost of kind {number}")
        return self._rates_of(tuple(sorted(found.items())))

    def _rates_of(self, key: tuple[tuple[int, float], ...]) -> Rates:
        rates: Rates = self._rates.get(key, lambda: self._new_rates(key))
        return rates

    def _new_rates(self, key: tuple[tuple[int, float], ...]) -> Rates:
        table = np.ones(256)
        for kind, rate in key:
            table[kind] = rate
        return Rates(table, self.kinds)

    @property
    def centres(self) -> NDArray[np.float64]:
        """Mean of each polygon's corners, put on its surface."""
        return self.layout.centres

    @property
    def kept(self) -> NDArray[np.int32] | None:
        """(p,) which polygon of the mesh before the last rebuild each one is, -1 where it is new; None if unknown."""
        return self.layout.kept

    @cached_property
    def graph(self) -> Graph:
        """Polygons as nodes at their centres; a step costs the way through the middle of the portal, in metres."""
        return self.weighted(self.rates(None))

    def weighted(self, rates: Rates) -> Graph:
        """The graph with steps that cost what an agent pays for a metre on both sides of the portal; a new one."""
        centres, portals = self.centres, self.layout.portals
        targets, costs = np.empty(len(portals.doors), np.int32), np.empty(len(portals.doors), np.float32)
        _corridor_kernels.graph_rows(portals, centres, self.kinds, rates.rates, targets, costs)
        points = np.ascontiguousarray(self.frame.world(centres))
        if not len(self.links.costs):
            sort_rows(portals.rows, targets, costs, np.empty(0, np.uint8))
            return Graph(points, portals.rows, targets, costs)
        links = self.links
        starts = np.repeat(np.arange(self.num_polygons), np.diff(links.offsets))
        before, after = _lengths(centres[starts] - links.starts), _lengths(links.ends - centres[links.targets])
        over = rates.rates[self.kinds[starts]] * before + links.costs + rates.rates[self.kinds[links.targets]] * after
        owners = np.repeat(np.arange(self.num_polygons), np.diff(portals.rows))
        pairs = np.concatenate([np.column_stack([owners, targets]), np.column_stack([starts, links.targets])])
        return Graph.from_edges(points, pairs, costs=np.concatenate([costs, over]), directed=True)

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """Component of each polygon; links join too, whichever way they lead."""
        labels = self.layout.components
        if not len(self.links.costs):
            return labels
        root = np.arange(int(labels.max(initial=-1)) + 1)
        starts = np.repeat(np.arange(self.num_polygons), np.diff(self.links.offsets))
        for a, b in zip(labels[starts].tolist(), labels[self.links.targets].tolist(), strict=True):
            one, two = min(root[a], root[b]), max(root[a], root[b])
            root[root == two] = one
        # Roots are lowest numbers, so their ranks keep the order of the lowest polygons.
        return np.asarray(np.unique(root, return_inverse=True)[1].astype(np.int32)[labels])

    @cached_property
    def scratch(self) -> Scratch:
        """Memory of searches: that of the mesh before, if it is large enough."""
        nodes = len(self.layout.portals.edges) + 2 + len(self.links.costs)
        roots = len(self.ground.vertices) + len(self.piece_links.costs)
        sizes = nodes, roots, len(self.layout.pieces.corners)
        before = self._before
        return before if before is not None and before.fits(*sizes) else Scratch(*sizes)

    @cached_property
    def rooms(self) -> Rooms:
        """Memory of searches where costs differ."""
        return Rooms(self.num_polygons, len(self.layout.portals.edges))

    def plane(self, closed: NDArray[np.uint8]) -> Plane:
        """The mesh for the interval search, where polygons of `closed` kinds ((256,) uint8) are walls."""
        if not len(self.links.costs):
            return self.layout.plane(closed)
        plane: Plane = self._planes.get(closed.tobytes(), lambda: self._linked_plane(closed))
        return plane

    def _linked_plane(self, closed: NDArray[np.uint8]) -> Plane:
        # A polygon with a link is no dead end.
        plane = self.layout.plane(closed)
        return plane._replace(exits=plane.exits + 2 * np.diff(self.piece_links.offsets).astype(np.int32))

    def shut(self, closed: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """(p,) 1 for polygons of `closed` kinds; empty where there are none."""
        return closed[self.kinds] if closed.any() else NO_POLYGONS

    def surround(
        self, polygons: NDArray[np.int32], places: NDArray[np.float64], closed: NDArray[np.uint8]
    ) -> list[NDArray[np.int32]]:
        """For each place the open convex pieces that it is in: several on a border, none on closed ground.

        `polygons` (q,) and `places` (q, 3) are what `_ground_kernels.locate` found.
        """
        pieces, counts = self._surround(polygons, places, closed)
        return [pieces[at, :count] for at, count in enumerate(counts.tolist())]

    def _surround(
        self, polygons: NDArray[np.int32], places: NDArray[np.float64], closed: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        plane, near, room = self.layout.whole, self.layout.near, _FEW
        counts = np.empty(len(places), np.int64)
        while True:
            pieces = np.empty((len(places), room), np.int32)
            _ground_kernels.surround(
                self.ground, plane, self.layout.cells, closed, self.kinds, polygons, places, near, pieces, counts,
            )  # fmt: skip
            most = max(counts.tolist(), default=0)
            if most <= room:
                return pieces, counts
            room = most

    def holding(
        self, polygons: NDArray[np.int32], places: NDArray[np.float64], closed: NDArray[np.uint8]
    ) -> list[NDArray[np.int32]]:
        """For each place the open polygons that it is in; see `surround`."""
        owners = self.layout.pieces.owners
        rows = self.surround(polygons, places, closed)
        if len(owners) == self.num_polygons:
            return rows
        return [np.array(list(dict.fromkeys(owners[row].tolist())), np.int32) for row in rows]

    def table(
        self, polygons: NDArray[np.int32], places: NDArray[np.float64], closed: NDArray[np.uint8]
    ) -> NDArray[np.int32]:
        """(q, k) the open polygons that each place is in, -1 after the last and sometimes one of them twice."""
        pieces, counts = self._surround(polygons, places, closed)
        used = int(counts.max(initial=1))
        known = np.arange(used) < counts[:, None]
        return np.where(known, self.layout.pieces.owners[np.where(known, pieces[:, :used], 0)], -1).astype(np.int32)

    @cached_property
    def piece_links(self) -> Links:
        """The links as the interval search takes them: from convex piece to convex piece."""
        links = self.links
        pieces = self.layout.pieces
        if not len(links.costs) or len(pieces.owners) == self.num_polygons:
            return links
        starts = np.repeat(np.arange(self.num_polygons, dtype=np.int32), np.diff(links.offsets))
        tails = self.surround(starts, links.starts, ALL_OPEN)
        heads = self.surround(links.targets, links.ends, ALL_OPEN)
        rows = [
            (tail, head, at)
            for at, (begins, ends) in enumerate(zip(tails, heads, strict=True))
            for tail in begins[pieces.owners[begins] == starts[at]].tolist()
            for head in ends[pieces.owners[ends] == links.targets[at]].tolist()
        ]
        rows.sort()
        tail, head, which = np.array(rows, np.int64).T
        counts = np.bincount(tail, minlength=len(pieces.owners))
        return Links(
            np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
            links.starts[which],
            links.ends[which],
            head.astype(np.int32),
            links.costs[which],
        )

    def islands(self, closed: NDArray[np.uint8]) -> Islands:
        """Which polygons can reach which, where those of `closed` kinds cannot be walked on; links count one way."""
        found: Islands = self._islands.get(closed.tobytes(), lambda: self._new_islands(closed))
        return found

    def _new_islands(self, closed: NDArray[np.uint8]) -> Islands:
        labels = self.layout.components
        shut = self.shut(closed)
        if len(shut):
            ahead = self.ground.neighbours
            open_ = (ahead >= 0) & (shut[ahead] == 0) & (shut[self.layout.owners] == 0)
            labels = join(self.ground.offsets, np.where(open_, ahead, -1).astype(np.int32))
            labels[shut != 0] = -1
        return Islands(labels, self._onward(labels))

    def _onward(self, labels: NDArray[np.int32]) -> dict[int, set[int]]:
        starts = np.repeat(np.arange(self.num_polygons), np.diff(self.links.offsets))
        steps: dict[int, set[int]] = {}
        for a, b in zip(labels[starts].tolist(), labels[self.links.targets].tolist(), strict=True):
            if min(a, b) >= 0 and a != b:
                steps.setdefault(a, set()).add(b)
        # Islands with links are few, so each is followed to the end.
        onward: dict[int, set[int]] = {}
        for first in steps:
            seen, waiting = {first}, [first]
            while waiting:
                fresh = steps.get(waiting.pop(), set()) - seen
                seen |= fresh
                waiting += fresh
            onward[first] = seen
        return onward


def _lengths(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.sqrt((steps * steps).sum(axis=1)))


def no_links(polygons: int) -> Links:
    """A mesh without links."""
    return Links(
        np.zeros(polygons + 1, np.int64), np.empty((0, 3)), np.empty((0, 3)), np.empty(0, np.int32), np.empty(0)
    )
