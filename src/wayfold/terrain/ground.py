"""The geometry of a terrain without its weights: triangles, edges, and graphs of points on them.

Every `Terrain` with other weights over the same subdivision shares one `Ground`. Its coordinates are relative to the
origin of its `Frame`; `Terrain` takes and gives them as the user knows them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import cached_property
from threading import Lock
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from wayfold.core.arrays import offsets_of
from wayfold.core.locks import Portable
from wayfold.errors import GeometryError
from wayfold.geometry.frame import LARGEST, ROUNDING, Frame
from wayfold.graph.searcher import Workspaces
from wayfold.terrain import _kernels, _route_kernels
from wayfold.terrain.subdivision import connect, fans, thinnest

Array = NDArray[np.float64]
Ints = NDArray[np.int32]

_SLACK = 16 * ROUNDING  # of the extent: what counts as on an edge
_THIN = 1e7  # of the slack: higher triangles lose less than 1e-7 of their ground to their edges
_NODES = 2000  # a coarse graph has at least about this many points on edges
_AN_EDGE = 4  # and this many an edge where triangles are few, one where they are many
_BUDGET = 150_000  # points up to which it is more than one
_SCRATCH = 65_536  # triangles that one step may meet
_MOST = 15  # points on one edge


def new_scratch(capacity: int) -> _kernels.WalkScratch:
    """Room for the intervals of `capacity` triangles along a line."""
    first, last, weight = np.empty(capacity), np.empty(capacity), np.empty(capacity)
    return _kernels.WalkScratch(first, last, np.empty((capacity, 2)), weight, np.empty(4 * capacity + 2))


def resolution(frame: Frame) -> float:
    """Metres by which points that were given may miss the line that they were meant to lie on.

    A share of the extent; or, where the map lies so far from the origin that it is more, the distance of two
    neighbouring numbers there, to which every coordinate was rounded before it came here.
    """
    return max(_SLACK * frame.extent, 2.0 * float(np.spacing(max(map(abs, frame.origin)) + frame.extent)))


def points_on(lengths: Array, spacing: float) -> NDArray[np.int64]:
    """How many points of a coarse graph lie on edges of these lengths."""
    return np.clip(np.round(lengths / spacing), 1, _MOST).astype(np.int64)


class EdgeGraph(NamedTuple):
    """Points on a triangulation, each joined to all others on the same triangle; costs are still without weights."""

    firsts: NDArray[np.int64]  # (n,), the first step of each node
    lasts: NDArray[np.int64]  # (n,), behind its last one
    targets: Ints
    lengths: NDArray[np.float32]
    tris: Ints
    points: Array  # (n, 2)
    tri_firsts: NDArray[np.int64]  # (m,), the first of the nodes of each triangle
    tri_lasts: NDArray[np.int64]  # (m,), behind its last one
    tri_nodes: Ints
    hosts: Ints  # (n, 2): the ends of the edge that a point lies on, twice the same for a vertex, -1 for a centre
    shares: Array  # (n,): where on that edge


def query_space(
    offsets: NDArray[np.int64], targets: Ints, costs: NDArray[np.float32], points: Array, *query: Any
) -> _route_kernels.QuerySpace:
    """A graph in compressed rows, and what a query adds to it."""
    none = np.empty(0, np.int32), np.empty(0, np.float32)
    return _route_kernels.QuerySpace(offsets[:-1], offsets[1:], targets, costs, *none, points, *query)


class Pool(Portable):
    """Scratch memory of searches in graphs of one size, which all weights of a ground share."""

    _OWN = (("_goals", deque),)

    def __init__(self, nodes: int) -> None:
        self.workspaces = Workspaces(nodes + 2)
        self.nodes = nodes
        self._goals: deque[Array] = deque()

    def take_goals(self) -> Array:
        """An array of infinite costs, (n,); `give_goals` takes it back."""
        try:
            return self._goals.pop()
        except IndexError:
            return np.full(self.nodes, np.inf)

    def give_goals(self, goals: Array, used: Ints) -> None:
        """Return the array after clearing what the query wrote."""
        goals[used] = np.inf
        self._goals.append(goals)


class Ground(Portable):
    """A triangulation and what can be said of it without weights.

    Parameters
    ----------
    vertices : (n, 2) float64 array
        Relative to the frame's origin.
    triangles : (m, 3) int32 array
        Counter-clockwise.
    frame : Frame
    mesh : Triangulation, optional
        Of these triangles, where it is known already.
    """

    _OWN = (("_lock", Lock), ("_pools", WeakValueDictionary))

    def __init__(
        self, vertices: Array, triangles: Ints, frame: Frame, mesh: _kernels.Triangulation | None = None
    ) -> None:
        self.frame = frame
        self.mesh: _kernels.Triangulation = connect(vertices, triangles) if mesh is None else mesh
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        self.bounds = (float(low[0]), float(low[1]), float(high[0]), float(high[1]))
        self.extent = float((high - low).max())
        self.slack = resolution(frame)
        self._pools: WeakValueDictionary[int, Pool] = WeakValueDictionary()  # those that some routes use
        self._edited: Pool | None = None
        self._lock = Lock()

    @classmethod
    def of(cls, vertices: Array, triangles: Ints) -> Ground:
        """The ground of triangles whose corners are where the user knows them."""
        if not (np.abs(vertices) <= LARGEST).all():
            raise GeometryError(f"a coordinate is larger than {LARGEST:g} or not finite: use a nearer origin")
        frame = Frame.of(vertices)
        return cls(np.ascontiguousarray(frame.local(vertices)), triangles, frame)

    @cached_property
    def vertices(self) -> Array:
        """Corners of the triangles where the user knows them, (n, 2)."""
        return self.frame.world(self.mesh.vertices)

    @property
    def nbytes(self) -> int:
        """Bytes of the triangulation and of everything that has been made of it."""
        made = list(self.__dict__.values())
        parts = [part if isinstance(part, tuple) else (part,) for part in made]
        return sum(array.nbytes for part in parts for array in part if isinstance(array, np.ndarray))

    @cached_property
    def _boxes(self) -> tuple[Array, Array, Array, Array]:
        """Least x and y, greatest x and y of each triangle."""
        x, y = (np.ascontiguousarray(self.mesh.vertices[:, axis])[self.mesh.triangles.T] for axis in range(2))
        return x.min(axis=0), y.min(axis=0), x.max(axis=0), y.max(axis=0)

    def near(self, bounds: tuple[float, float, float, float], max_distance: float = 0.0) -> NDArray[np.int64]:
        """Triangles whose boxes come within a distance of a box."""
        low_x, low_y, high_x, high_y = self._boxes
        x0, y0, x1, y1 = bounds
        across = (low_x <= x1 + max_distance) & (high_x >= x0 - max_distance)
        along = (low_y <= y1 + max_distance) & (high_y >= y0 - max_distance)
        return np.flatnonzero(across & along)

    def scratch(self) -> _kernels.WalkScratch:
        """Room for as many triangles as any short line meets."""
        return new_scratch(min(len(self.mesh.triangles), _SCRATCH) + 2)

    def pool(self, nodes: int) -> Pool:
        """Scratch memory for searches in a graph of so many nodes."""
        with self._lock:
            return self._pools.setdefault(nodes, Pool(nodes))

    def edited_pool(self, nodes: int) -> Pool:
        """The same for graphs of this ground after edits, of which only the last size is kept."""
        with self._lock:
            if self._edited is None or self._edited.nodes != nodes:
                self._edited = Pool(nodes)
            return self._edited

    def pinches(self, weights: Array) -> Ints:
        """Vertices in which open parts of the map touch each other and nothing else joins them there."""
        return np.flatnonzero(fans(self.mesh, np.isfinite(weights)) > 1).astype(np.int32)

    @cached_property
    def edge_of(self) -> Ints:
        """The edge of each half-edge, (3 m,) int32; twins share theirs."""
        twins = self.mesh.twins
        own = np.arange(twins.size)
        first = (twins < 0) | (own < twins)
        number = np.cumsum(first) - 1
        return np.where(first, number, number[np.maximum(twins, 0)]).astype(np.int32)

    @cached_property
    def _first_halves(self) -> NDArray[np.int64]:
        """The first half-edge of each edge."""
        twins = self.mesh.twins
        return np.flatnonzero((twins < 0) | (np.arange(twins.size) < twins))

    @cached_property
    def edge_ends(self) -> Ints:
        """The two vertices of each edge, (e, 2) int32."""
        triangles, half = self.mesh.triangles, self._first_halves
        return np.column_stack([triangles.ravel()[half], triangles[:, [1, 2, 0]].ravel()[half]])

    @cached_property
    def edge_halves(self) -> Ints:
        """The half-edges of each edge, (e, 2) int32; the second is -1 at the border."""
        half = self._first_halves
        return np.ascontiguousarray(np.column_stack([half, self.mesh.twins[half]]).astype(np.int32))

    @cached_property
    def centres(self) -> Array:
        """Average of the corners of each triangle, (m, 2)."""
        return np.ascontiguousarray(self.mesh.vertices[self.mesh.triangles].mean(axis=1))

    @cached_property
    def has_wide_edges(self) -> bool:
        """Whether triangles are so thin, or so far away, that their edges, which are `slack` wide, count for costs."""
        far = self.slack > 2.0 * _SLACK * self.frame.extent
        return far or thinnest(self.mesh.vertices, self.mesh.triangles) <= _THIN * self.slack

    @cached_property
    def extra(self) -> EdgeGraph:
        """The paper's Dual Graph Extra: a node in each triangle and one halfway on each edge."""
        return self.extra_with(np.empty(0, np.int32))

    def extra_with(self, pinches: Ints) -> EdgeGraph:
        """The Dual Graph Extra with nodes on pinch points."""
        return self.graph(np.ones(len(self.edge_ends), np.int64), corners=pinches, centres=True)

    @cached_property
    def coarse(self) -> EdgeGraph:
        """Vertices and points on edges, more on long edges (the paper's future work, section 8.1)."""
        counts, places = self._coarse_points
        corners = np.arange(len(self.mesh.vertices), dtype=np.int32)
        return self.graph(counts, corners=corners, centres=False, places=places)

    @cached_property
    def spacing(self) -> float:
        """Metres between the points on edges of the coarse graph, about."""
        length = self._edge_lengths
        return float(length.sum() / max(_NODES, len(length) * float(np.clip(_BUDGET / len(length), 1, _AN_EDGE))))

    @cached_property
    def coarse_first(self) -> NDArray[np.int64]:
        """The first node on each edge of the coarse graph, (e + 1,)."""
        return len(self.mesh.vertices) + offsets_of(self._coarse_points[0])

    @cached_property
    def _coarse_points(self) -> tuple[NDArray[np.int64], dict[int, Array]]:
        """How many points the coarse graph has on each edge, and where on it those of some lie.

        They are spread evenly, but for the long sides of triangles with all corners on one line: those have theirs
        where the two short sides have them, and at the corner between. A way over such a triangle would else go along
        it, to the next point of the other side, and a few of them could make the better way around something dearer.
        """
        counts = points_on(self._edge_lengths, self.spacing)
        places: dict[int, Array] = {}
        vertices, edge_of = self.mesh.vertices, self.edge_of.reshape(-1, 3)
        sides = self._edge_lengths[edge_of]
        a, b, c = (vertices[self.mesh.triangles[:, k]] for k in range(3))
        doubled = np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
        longest = sides.max(axis=1)
        flat = np.flatnonzero((doubled <= self.slack * longest) & (longest > 0.0))
        # The shortest first: the long side of one may be a short one of another.
        for t in flat[np.argsort(longest[flat])].tolist():
            k = int(np.argmax(sides[t]))
            edge = int(edge_of[t, k])
            first, last = vertices[self.edge_ends[edge]]
            points = [vertices[self.mesh.triangles[t, (k + 2) % 3]][None]]
            for other in (int(edge_of[t, (k + 1) % 3]), int(edge_of[t, (k + 2) % 3])):
                share = places[other] if other in places else np.arange(1, counts[other] + 1) / (counts[other] + 1)
                begin, end = vertices[self.edge_ends[other]]
                points.append(begin + share[:, None] * (end - begin))
            along = last - first
            share = np.sort((np.concatenate(points) - first) @ along / (along @ along))
            places[edge] = share
            counts[edge] = len(share)
        return counts, places

    @property
    def _edge_lengths(self) -> Array:
        ends = self.mesh.vertices[self.edge_ends]
        return np.asarray(np.hypot(*(ends[:, 1] - ends[:, 0]).T))

    def graph(
        self,
        counts: NDArray[np.int64],
        *,
        corners: Ints,
        centres: bool,
        places: Mapping[int, Array] = MappingProxyType({}),
    ) -> EdgeGraph:
        """The graph of some vertices, so many points on each edge, and the centres of the triangles if wanted.

        Points are spread evenly along the edges, but where `places` has the shares of an edge.
        """
        mesh = self.mesh
        edge_first = offsets_of(counts)
        edge = np.repeat(np.arange(len(counts)), counts)
        share = (np.arange(edge_first[-1]) - edge_first[edge] + 1) / (counts[edge] + 1)
        for number, some in places.items():
            share[edge_first[number] : edge_first[number + 1]] = some
        ends = self.edge_ends[edge]
        on_edges = mesh.vertices[ends[:, 0]] * (1 - share)[:, None] + mesh.vertices[ends[:, 1]] * share[:, None]
        first = len(corners)
        count = len(mesh.triangles) if centres else 0
        points = np.concatenate([mesh.vertices[corners], on_edges, self.centres[:count]])
        hosts = np.concatenate([np.column_stack([corners, corners]), ends, np.full((count, 2), -1)]).astype(np.int32)
        shares = np.concatenate([np.zeros(first), share, np.zeros(count)])
        corner_nodes = np.full(len(mesh.vertices), -1, np.int32)
        corner_nodes[corners] = np.arange(first)
        tri_offsets = np.empty(len(mesh.triangles) + 1, np.int64)
        first_centre = first + len(edge) if centres else -1
        nodes = np.empty(0, np.int32)
        for _ in range(2):  # sizes first
            _route_kernels.list_nodes(
                mesh, self.edge_of, edge_first, first, corner_nodes, first_centre, tri_offsets, nodes
            )
            nodes = nodes if nodes.size else np.empty(int(tri_offsets[-1]), np.int32)
        offsets = np.zeros(len(points) + 1, np.int64)
        _route_kernels.count_steps(tri_offsets, nodes, offsets)
        np.cumsum(offsets, out=offsets)
        steps = int(offsets[-1])
        targets, lengths, tris = np.empty(steps, np.int32), np.empty(steps, np.float32), np.empty(steps, np.int32)
        _route_kernels.fill_steps(tri_offsets, nodes, points, offsets[:-1].copy(), targets, lengths, tris)
        return EdgeGraph(
            offsets[:-1], offsets[1:], targets, lengths, tris, points, tri_offsets[:-1], tri_offsets[1:], nodes, hosts,
            shares,
        )  # fmt: skip
