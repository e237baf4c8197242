"""A navigation mesh at one moment: its topology, what is derived from it, its links, and scratch memory for searches.

An edit makes a new `MeshSnapshot` and swaps one reference, so a query that runs meanwhile sees either mesh whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks, text
from wayfold.core.arrays import offsets_of
from wayfold.core.batches import run_chunks
from wayfold.core.bounded_cache import BoundedCache
from wayfold.core.locks import Portable
from wayfold.errors import OffMapError, ParameterError
from wayfold.geometry.frame import Frame
from wayfold.graph import Graph
from wayfold.graph.csr_kernels import sort_rows
from wayfold.graph.search_kernels import SearchState
from wayfold.graph.searcher import Workspaces
from wayfold.links import Link
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
        """Borrow scratch of an interval search; return it with `give`."""
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
        """Borrow scratch; return it with `give`."""
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


class AreaCosts:
    """The cost of a metre in each kind of area.

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


Place = tuple[float, float, float]


class MeshSnapshot(Portable):
    """A navigation mesh at one moment, which never changes.

    Parameters
    ----------
    topology : Topology
        The polygons and what follows from them.
    built : Built, optional
        Tiles and settings of the build, for a rebuild.
    links : tuple of Link
        Ways across gaps that have ground at both ends, as they were given.
    next_link : int
        The id of the next link; those of removed links are not used again.
    link_arrays : OffMeshLinks, optional
        The links as kernels see them; `with_links` finds them.
    before : MeshSnapshot, optional
        The snapshot that this one follows, whose search memory it takes over.
    """

    def __init__(
        self,
        topology: Topology,
        built: Built | None = None,
        links: tuple[Link, ...] = (),
        next_link: int = 0,
        link_arrays: OffMeshLinks | None = None,
        before: MeshSnapshot | None = None,
    ) -> None:
        self.topology = topology
        self.built = built
        self.links = links
        self.next_link = next_link
        self.ground: PolyMesh = topology.ground
        self.areas = topology.areas
        self.link_arrays = _no_links(self.num_polygons) if link_arrays is None else link_arrays
        self._area_costs = BoundedCache(most=_MOST_COSTS)
        self._planes = BoundedCache(most=MOST_CLOSED)
        self._islands = BoundedCache(most=MOST_CLOSED)
        self._moved = any(topology.frame.origin)
        self._before: SearchScratch | None = None if before is None else before.__dict__.get("scratch", before._before)

    @property
    def num_polygons(self) -> int:
        """Number of polygons."""
        return self.topology.num_polygons

    @property
    def frame(self) -> Frame:
        """Where the mesh lies; everything in here is relative to it."""
        return self.topology.frame

    def local(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points relative to the frame; the same array where the mesh lies around 0."""
        return self.frame.local(points) if self._moved else points

    def with_links(self, links: tuple[Link, ...], next_link: int) -> MeshSnapshot:
        """Return the mesh with these links alone; those without ground at both ends are left out."""
        if not links or not self.num_polygons:
            return MeshSnapshot(self.topology, self.built, (), next_link, before=self)
        ends = np.array([[link.start, link.end] for link in links]).reshape(-1, 3)
        found, places, _ = self.find(ends, None, None)
        # A point on a border is in every polygon that touches it, so a link may lead from several to several.
        holding = self.holding(found, places, ALL_OPEN)
        pairs, spots = found.reshape(-1, 2), places.reshape(-1, 2, 3)
        there = np.flatnonzero((pairs >= 0).all(axis=1)).tolist()
        rows = []
        for at in there:
            link = links[at]
            for tail, head in product(holding[2 * at].tolist(), holding[2 * at + 1].tolist()):
                rows.append((tail, head, spots[at, 0], spots[at, 1], link.cost))
                if link.both_ways:
                    rows.append((head, tail, spots[at, 1], spots[at, 0], link.cost))
        rows.sort(key=lambda row: row[0])
        counts = np.bincount([row[0] for row in rows], minlength=self.num_polygons) if rows else 0
        arrays = OffMeshLinks(
            offsets_of(np.broadcast_to(counts, self.num_polygons)),
            np.array([row[2] for row in rows]).reshape(-1, 3),
            np.array([row[3] for row in rows]).reshape(-1, 3),
            np.array([row[1] for row in rows], np.int32),
            np.array([row[4] for row in rows], np.float64),
        )
        kept = tuple(links[at] for at in there)
        return MeshSnapshot(self.topology, self.built, kept, next_link, arrays, self)

    def area_costs(self, costs: Mapping[int, float] | None) -> AreaCosts:
        """The cost of a metre in each kind of area: `costs` by area, 1 for the others."""
        if not costs:
            return self._area_costs_of(())
        found = {}
        for kind, rate in costs.items():
            number = checks.whole(kind, "an area in costs", low=0, high=255)
            found[number] = checks.rate(rate, f"the cost of area {number}")
        return self._area_costs_of(tuple(sorted(found.items())))

    def _area_costs_of(self, key: tuple[tuple[int, float], ...]) -> AreaCosts:
        found: AreaCosts = self._area_costs.get(key, lambda: self._new_area_costs(key))
        return found

    def _new_area_costs(self, key: tuple[tuple[int, float], ...]) -> AreaCosts:
        table = np.ones(256)
        for kind, rate in key:
            table[kind] = rate
        return AreaCosts(table, self.areas)

    @property
    def centres(self) -> NDArray[np.float64]:
        """Mean of each polygon's corners, put on its surface."""
        return self.topology.centres

    @property
    def kept(self) -> NDArray[np.int32] | None:
        """(p,) which polygon of the mesh before the last rebuild each one is, -1 where it is new; None if unknown."""
        return self.topology.kept

    @cached_property
    def graph(self) -> Graph:
        """Polygons as nodes at their centres; a step costs the way through the middle of the portal, in metres."""
        return self.weighted(self.area_costs(None))

    def weighted(self, area_costs: AreaCosts) -> Graph:
        """The graph with steps that cost what an agent pays for a metre on both sides of the portal; a new one."""
        centres, portals, rates = self.centres, self.topology.portals, area_costs.rates
        targets, costs = np.empty(len(portals.doors), np.int32), np.empty(len(portals.doors), np.float32)
        _corridor_kernels.graph_rows(portals, centres, self.areas, rates, targets, costs)
        points = np.ascontiguousarray(self.frame.world(centres))
        if not len(self.link_arrays.costs):
            sort_rows(portals.rows, targets, costs, np.empty(0, np.uint8))
            return Graph(points, portals.rows, targets, costs)
        links = self.link_arrays
        starts = np.repeat(np.arange(self.num_polygons), np.diff(links.offsets))
        before, after = _lengths(centres[starts] - links.starts), _lengths(links.ends - centres[links.targets])
        over = rates[self.areas[starts]] * before + links.costs + rates[self.areas[links.targets]] * after
        owners = np.repeat(np.arange(self.num_polygons), np.diff(portals.rows))
        pairs = np.concatenate([np.column_stack([owners, targets]), np.column_stack([starts, links.targets])])
        return Graph.from_edges(points, pairs, costs=np.concatenate([costs, over]), directed=True)

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """Component of each polygon; links join too, whichever way they lead."""
        labels = self.topology.components
        if not len(self.link_arrays.costs):
            return labels
        root = np.arange(int(labels.max(initial=-1)) + 1)
        starts = np.repeat(np.arange(self.num_polygons), np.diff(self.link_arrays.offsets))
        for a, b in zip(labels[starts].tolist(), labels[self.link_arrays.targets].tolist(), strict=True):
            one, two = min(root[a], root[b]), max(root[a], root[b])
            root[root == two] = one
        # Roots are lowest numbers, so their ranks keep the order of the lowest polygons.
        return np.asarray(np.unique(root, return_inverse=True)[1].astype(np.int32)[labels])

    @cached_property
    def scratch(self) -> SearchScratch:
        """Memory of searches: that of the mesh before, if it is large enough."""
        nodes = len(self.topology.portals.edges) + 2 + len(self.link_arrays.costs)
        roots = len(self.ground.vertices) + len(self.piece_links.costs)
        sizes = nodes, roots, len(self.topology.pieces.corners)
        before = self._before
        return before if before is not None and before.fits(*sizes) else SearchScratch(*sizes)

    @cached_property
    def rooms(self) -> Rooms:
        """Memory of searches where costs differ."""
        return Rooms(self.num_polygons, len(self.topology.portals.edges))

    def plane(self, closed: NDArray[np.uint8]) -> Plane:
        """The mesh for the interval search, where polygons of `closed` areas ((256,) uint8) are walls."""
        if not len(self.link_arrays.costs):
            return self.topology.plane(closed)
        plane: Plane = self._planes.get(closed.tobytes(), lambda: self._linked_plane(closed))
        return plane

    def _linked_plane(self, closed: NDArray[np.uint8]) -> Plane:
        # A polygon with a link is no dead end.
        plane = self.topology.plane(closed)
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
        plane, near, room = self.topology.whole, self.topology.near, _FEW
        counts = np.empty(len(places), np.int64)
        while True:
            pieces = np.empty((len(places), room), np.int32)
            _ground_kernels.surround(
                self.ground, plane, self.topology.cells, closed, self.areas, polygons, places, near, pieces, counts,
            )  # fmt: skip
            most = max(counts.tolist(), default=0)
            if most <= room:
                return pieces, counts
            room = most

    def holding(
        self, polygons: NDArray[np.int32], places: NDArray[np.float64], closed: NDArray[np.uint8]
    ) -> list[NDArray[np.int32]]:
        """For each place the open polygons that it is in; see `surround`."""
        owners = self.topology.pieces.owners
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
        return np.where(known, self.topology.pieces.owners[np.where(known, pieces[:, :used], 0)], -1).astype(np.int32)

    @cached_property
    def piece_links(self) -> OffMeshLinks:
        """The links as the interval search takes them: from convex piece to convex piece."""
        links = self.link_arrays
        pieces = self.topology.pieces
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
        labels = self.topology.components
        shut = self.shut(closed)
        if len(shut):
            ahead = self.ground.neighbours
            open_ = (ahead >= 0) & (shut[ahead] == 0) & (shut[self.topology.owners] == 0)
            labels = join(self.ground.offsets, np.where(open_, ahead, -1).astype(np.int32))
            labels[shut != 0] = -1
        return Islands(labels, self._onward(labels))

    def _onward(self, labels: NDArray[np.int32]) -> dict[int, set[int]]:
        starts = np.repeat(np.arange(self.num_polygons), np.diff(self.link_arrays.offsets))
        steps: dict[int, set[int]] = {}
        for a, b in zip(labels[starts].tolist(), labels[self.link_arrays.targets].tolist(), strict=True):
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

    @property
    def tolerances(self) -> tuple[float, float]:
        """How far beside and above the ground a point may lie, metres: an agent's size, anything for plain polygons."""
        if self.built is None:
            return 0.0, np.inf
        agent, settings = self.built.agent, self.built.settings
        return agent.radius + settings.cell_size, max(agent.height, agent.climb)

    def find(
        self,
        points: ArrayLike,
        tolerance: float | None,
        max_distance: float | None,
        in_space: bool = False,
        shut: NDArray[np.uint8] = NO_POLYGONS,
    ) -> tuple[NDArray[np.int32], Points, bool]:
        """The polygon and the place of each point, as `NavMesh.locate` says, and whether it was one point alone.

        Places are relative to the frame of the mesh. With `in_space` the nearest place of all counts, not first what
        lies below or above; polygons of `shut` (p,) are left out.
        """
        array, single = one_or_many(points)
        aside, above = self.tolerances
        if tolerance is not None:
            aside = checks.number(tolerance, "tolerance", low=0.0)
        if max_distance is not None:
            far = checks.real(max_distance, "max_distance") == np.inf
            above = np.inf if far else checks.number(max_distance, "max_distance", low=0.0)
        found = np.full(len(array), -1, np.int32)
        places = np.full((len(array), 3), np.nan)
        where = self.frame.local(array)
        if self.num_polygons:
            ground, cells, near = self.ground, self.topology.cells, self.topology.near

            def work(first: int, last: int) -> None:
                _ground_kernels.locate(
                    ground, cells, shut, where, near, aside, above, in_space, first, last, found, places
                )

            run_chunks(work, len(where), chunk=4096)
        return found, places, single

    def on_mesh(self, points: Points, *names: str) -> tuple[NDArray[np.int32], Points]:
        """Polygons and places, relative to the frame, of points that must be on the mesh.

        An error names the point: there is one name for each, or one for the first half of them and one for the second.
        """
        found, places = np.full(len(points), -1, np.int32), np.empty((len(points), 3))
        if self.num_polygons:
            _ground_kernels.locate(
                self.ground, self.topology.cells, NO_POLYGONS, self.local(points), self.topology.near,
                *self.tolerances, False, 0, len(points), found, places,
            )  # fmt: skip
        if len(found) and found.min() < 0:
            at = int(np.argmax(found < 0))
            where = text.place(points[at], self.frame.extent)
            name, row = divmod(at, max(1, len(points) // len(names)))
            which = names[name] if len(names) == len(points) else f"{names[name]}[{row}]"
            raise OffMapError(f"{which} ({where}) is not on the navigation mesh")
        return found, places

    def scattered(self, weights: Points, count: int, seed: int, where: str = "") -> Points:
        """Points drawn from polygons by weight."""
        total = float(weights.sum()) if self.num_polygons else 0.0
        if total <= 0:
            raise ParameterError(f"there is no ground to draw points from{where}")
        random = np.random.default_rng(checks.whole(seed, "seed", low=0))
        ends = np.cumsum(weights)
        chosen = np.searchsorted(ends, random.random(count) * ends[-1], side="right").astype(np.int32)
        result = np.empty((count, 3))
        _ground_kernels.scatter(
            self.ground, np.minimum(chosen, self.num_polygons - 1), random.random((count, 3)), result
        )
        return self.frame.world(result)


def _lengths(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.sqrt((steps * steps).sum(axis=1)))


def _no_links(polygons: int) -> OffMeshLinks:
    return OffMeshLinks(
        np.zeros(polygons + 1, np.int64), np.empty((0, 3)), np.empty((0, 3)), np.empty(0, np.int32), np.empty(0)
    )


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
