"""What a `NavMesh` is at one moment: arrays that never change, what is derived from them, links, and scratch memory.

An edit makes a new `State` and swaps one reference, so a query that runs meanwhile sees the old mesh or the new one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.core.arrays import offsets_of
from wayfold.core.batches import run_chunks
from wayfold.core.bounded_cache import BoundedCache
from wayfold.core.locks import Portable
from wayfold.errors import ParameterError
from wayfold.geometry.frame import Frame
from wayfold.graph import Graph
from wayfold.graph.csr_kernels import sort_rows
from wayfold.graph.search_kernels import SearchState
from wayfold.graph.searcher import Workspaces
from wayfold.navmesh import _corridor_kernels, _ground_kernels
from wayfold.navmesh._corridor_kernels import OffMeshLinks
from wayfold.navmesh._ground_kernels import PolyMesh
from wayfold.navmesh._interval_kernels import Heap, NodePool, Plane, Roots
from wayfold.navmesh._weighted_kernels import Region
from wayfold.navmesh.topology import ALL_OPEN, MOST_CLOSED, Topology, join

if TYPE_CHECKING:
    from wayfold.navmesh.building import Built

Points = NDArray[np.float64]
_FIRST_POOL = 4096  # search nodes
_MOST_IMPROVEMENTS = 1 << 30  # then they are counted from 0 again
Borrowed = tuple[NodePool, Heap, Roots]


class SearchScratch(Portable):
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


def _pool(capacity: int) -> tuple[NodePool, Heap]:
    pool = NodePool(
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
        Whether all open areas that occur cost the same.
    lowest : float
        The lowest rate of a kind that occurs.
    uniform : float
        The rate of every kind that occurs; 0 where they differ or one is closed.
    """

    def __init__(self, rates: NDArray[np.float64], areas: NDArray[np.uint8]) -> None:
        self.rates = rates
        self.closed = np.isinf(rates).astype(np.uint8)
        present = rates[np.bincount(areas, minlength=256) > 0]
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

    def __init__(self, layout: Topology, links: OffMeshLinks | None = None, before: State | None = None) -> None:
        self.layout = layout
        self.ground: PolyMesh = layout.ground
        self.areas = layout.areas
        self.links = no_links(self.num_polygons) if links is None else links
        self._rates = BoundedCache(most=_MOST_COSTS)
        self._planes = BoundedCache(most=MOST_CLOSED)
        self._islands = BoundedCache(most=MOST_CLOSED)
        self._moved = any(layout.frame.origin)
        self._before: SearchScratch | None = None if before is None else before.__dict__.get("scratch", before._before)

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

    def with_links(self, links: OffMeshLinks) -> State:
        """The same mesh with other links."""
        return State(self.layout, links, self)

    def rates(self, costs: Mapping[int, float] | None) -> Rates:
        """What a metre costs in each kind of area: `costs` by kind, 1 for the others."""
        if not costs:
            return self._rates_of(())
        found = {}
        for kind, rate in costs.items():
            number = checks.whole(kind, "an area in costs", low=0, high=255)
            found[number] = checks.rate(rate, f"the cost of area {number}")
        return self._rates_of(tuple(sorted(found.items())))

    def _rates_of(self, key: tuple[tuple[int, float], ...]) -> Rates:
        rates: Rates = self._rates.get(key, lambda: self._new_rates(key))
        return rates

    def _new_rates(self, key: tuple[tuple[int, float], ...]) -> Rates:
        table = np.ones(256)
        for kind, rate in key:
            table[kind] = rate
        return Rates(table, self.areas)

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
        _corridor_kernels.graph_rows(portals, centres, self.areas, rates.rates, targets, costs)
        points = np.ascontiguousarray(self.frame.world(centres))
        if not len(self.links.costs):
            sort_rows(portals.rows, targets, costs, np.empty(0, np.uint8))
            return Graph(points, portals.rows, targets, costs)
        links = self.links
        starts = np.repeat(np.arange(self.num_polygons), np.diff(links.offsets))
        before, after = _lengths(centres[starts] - links.starts), _lengths(links.ends - centres[links.targets])
        over = rates.rates[self.areas[starts]] * before + links.costs + rates.rates[self.areas[links.targets]] * after
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
    def scratch(self) -> SearchScratch:
        """Memory of searches: that of the mesh before, if it is large enough."""
        nodes = len(self.layout.portals.edges) + 2 + len(self.links.costs)
        roots = len(self.ground.vertices) + len(self.piece_links.costs)
        sizes = nodes, roots, len(self.layout.pieces.corners)
        before = self._before
        return before if before is not None and before.fits(*sizes) else SearchScratch(*sizes)

    @cached_property
    def rooms(self) -> Rooms:
        """Memory of searches where costs differ."""
        return Rooms(self.num_polygons, len(self.layout.portals.edges))

    def plane(self, closed: NDArray[np.uint8]) -> Plane:
        """The mesh for the interval search, where polygons of `closed` areas ((256,) uint8) are walls."""
        if not len(self.links.costs):
            return self.layout.plane(closed)
        plane: Plane = self._planes.get(closed.tobytes(), lambda: self._linked_plane(closed))
        return plane

    def _linked_plane(self, closed: NDArray[np.uint8]) -> Plane:
        # A polygon with a link is no dead end.
        plane = self.layout.plane(closed)
        return plane._replace(exits=plane.exits + 2 * np.diff(self.piece_links.offsets).astype(np.int32))

    def shut(self, closed: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """(p,) 1 for polygons of `closed` areas; empty where there are none."""
        return closed[self.areas] if closed.any() else NO_POLYGONS

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
                self.ground, plane, self.layout.cells, closed, self.areas, polygons, places, near, pieces, counts,
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
    def piece_links(self) -> OffMeshLinks:
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
        return OffMeshLinks(
            np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
            links.starts[which],
            links.ends[which],
            head.astype(np.int32),
            links.costs[which],
        )

    def islands(self, closed: NDArray[np.uint8]) -> Islands:
        """Which polygons can reach which, where those of `closed` areas cannot be walked on; links count one way."""
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


def no_links(polygons: int) -> OffMeshLinks:
    """A mesh without links."""
    return OffMeshLinks(
        np.zeros(polygons + 1, np.int64), np.empty((0, 3)), np.empty((0, 3)), np.empty(0, np.int32), np.empty(0)
    )


Place = tuple[float, float, float]


class Link(NamedTuple):
    """A way across a gap of a navigation mesh."""

    id: int
    """Given by `add_link`, for `remove_link`; used once within a mesh."""
    start: Place
    """On the surface, metres."""
    end: Place
    """On the surface, metres."""
    cost: float
    """What it costs to use it."""
    kind: str
    """Free text, such as "jump"."""
    both_ways: bool
    """Whether it also leads from end to start."""


def linked(version: Version) -> Version:
    """The version with its links found on its mesh; those without ground at both ends are left out."""
    state, links = version.state, version.links
    if not links or not state.num_polygons:
        return version._replace(links=() if not state.num_polygons else links)
    ends = np.array([[link.start, link.end] for link in links]).reshape(-1, 3)
    found, places, _ = find(version, ends, None, None)
    # A point on a border is in every polygon that touches it, so a link may lead from several to several.
    holding = state.holding(found, places, ALL_OPEN)
    pairs, spots = found.reshape(-1, 2), places.reshape(-1, 2, 3)
    there = (pairs >= 0).all(axis=1)
    rows = []
    for at in np.flatnonzero(there).tolist():
        link = links[at]
        for tail, head in product(holding[2 * at].tolist(), holding[2 * at + 1].tolist()):
            rows.append((tail, head, spots[at, 0], spots[at, 1], link.cost))
            if link.both_ways:
                rows.append((head, tail, spots[at, 1], spots[at, 0], link.cost))
    rows.sort(key=lambda row: row[0])
    counts = np.bincount([row[0] for row in rows], minlength=state.num_polygons) if rows else 0
    found_links = OffMeshLinks(
        offsets_of(np.broadcast_to(counts, state.num_polygons)),
        np.array([row[2] for row in rows]).reshape(-1, 3),
        np.array([row[3] for row in rows]).reshape(-1, 3),
        np.array([row[1] for row in rows], np.int32),
        np.array([row[4] for row in rows], np.float64),
    )
    kept = tuple(links[at] for at in np.flatnonzero(there).tolist())
    return version._replace(state=state.with_links(found_links), links=kept)


class Version(NamedTuple):
    """What is swapped as one when the mesh changes."""

    state: State
    built: Built | None = None
    links: tuple[Link, ...] = ()
    """Links as they were given."""
    next_link: int = 0
    """The id of the next link; those of removed links are not used again."""


def find(
    now: Version,
    points: ArrayLike,
    tolerance: float | None,
    max_distance: float | None,
    in_space: bool = False,
    shut: NDArray[np.uint8] = NO_POLYGONS,
) -> tuple[NDArray[np.int32], Points, bool]:
    """The polygon and the place of each point, as `NavMesh.locate` says, and whether it was one point alone.

    Places are relative to the frame of the mesh. With `in_space` the nearest place of all counts, not first what lies
    below or above; polygons of `shut` (p,) are left out.
    """
    array, single = one_or_many(points)
    aside, above = tolerances(now)
    if tolerance is not None:
        aside = checks.number(tolerance, "tolerance", low=0.0)
    if max_distance is not None:
        far = checks.real(max_distance, "max_distance") == np.inf
        above = np.inf if far else checks.number(max_distance, "max_distance", low=0.0)
    found = np.full(len(array), -1, np.int32)
    places = np.full((len(array), 3), np.nan)
    state = now.state
    where = state.frame.local(array)
    if state.num_polygons:
        cells = state.layout.cells

        def work(first: int, last: int) -> None:
            _ground_kernels.locate(
                state.ground, cells, shut, where, state.layout.near, aside, above, in_space, first, last, found, places
            )

        run_chunks(work, len(where), chunk=4096)
    return found, places, single


def one_or_many(points: ArrayLike, name: str = "points") -> tuple[Points, bool]:
    """Points as (q, 3), and whether it was one point alone; a height that is missing or NaN stands for any."""
    array = checks.floats(points, name, "numbers of shape (q, 2) or (q, 3), or one point")
    single = array.ndim == 1
    array = np.atleast_2d(array)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise ParameterError(f"{name} must have shape (q, 2) or (q, 3), not {array.shape}")
    checks.finite(array[:, :2], name)
    checks.finite(np.nan_to_num(array[:, 2:], posinf=np.inf, neginf=-np.inf), name)
    if array.shape[1] == 2:
        array = np.column_stack([array, np.full(len(array), np.nan)])
    return checks.clean(array), single


def tolerances(now: Version) -> tuple[float, float]:
    """How far beside and above the ground a point may lie, metres: an agent's size, anything for plain polygons."""
    if now.built is None:
        return 0.0, np.inf
    agent, settings = now.built.agent, now.built.settings
    return agent.radius + settings.cell_size, max(agent.height, agent.climb)


def points_of(*points: ArrayLike) -> Points:
    """Points (x, y) or (x, y, z) as (k, 3); a missing height is NaN, which stands for any."""
    result = np.full((len(points), 3), np.nan)
    for at, point in enumerate(points):
        array = checks.floats(point, "a point", "(x, y) or (x, y, z)")
        if array.shape not in ((2,), (3,)):
            raise ParameterError(f"a point must be (x, y) or (x, y, z), not {checks.shown(point)}")
        if not np.isfinite(array[:2]).all():
            raise ParameterError(f"a point must be finite (x, y) or (x, y, z), not {checks.shown(point)}")
        checks.finite(array[~np.isnan(array)], "a point")  # a height that is NaN stands for any
        result[at, : array.size] = array
    return result
