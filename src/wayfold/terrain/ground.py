"""The geometry of a terrain without its weights: triangles, edges, and graphs of points on them.

Every `Terrain` with other weights over the same subdivision shares one `Ground`.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.terrain import _kernels, _route_kernels
from wayfold.terrain._subdivision import connect

Array = NDArray[np.float64]
Ints = NDArray[np.int32]

_SLACK = 1e-12  # of the extent: what counts as on an edge
_NODES = 2000  # a coarse graph has at least about this many points on edges
_AN_EDGE = 4  # and this many an edge where triangles are few, one where they are many
_BUDGET = 150_000  # points up to which it is more than one
_SCRATCH = 65_536  # triangles that one step may meet
_MOST = 15  # points on one edge


def new_scratch(capacity: int) -> _kernels.Scratch:
    """Room for the intervals of `capacity` triangles along a line."""
    return _kernels.Scratch(np.empty(capacity), np.empty(capacity), np.empty(capacity), np.empty(2 * capacity + 2))


class EdgeGraph(NamedTuple):
    """Points on a triangulation, each joined to all others on the same triangle; costs are still without weights."""

    offsets: NDArray[np.int64]  # (n + 1,)
    targets: Ints
    lengths: NDArray[np.float32]
    tris: Ints
    points: Array  # (n, 2)
    tri_offsets: NDArray[np.int64]  # (m + 1,)
    tri_nodes: Ints
    hosts: Ints  # (n, 2): the ends of the edge that a point lies on, twice the same for a vertex, -1 for a centre
    shares: Array  # (n,): where on that edge


class Ground:
    """A triangulation and what can be said of it without weights."""

    def __init__(self, vertices: Array, triangles: Ints) -> None:
        self.mesh: _kernels.Triangulation = connect(vertices, triangles)
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        self.bounds = (float(low[0]), float(low[1]), float(high[0]), float(high[1]))
        # Coordinates far from the origin round more coarsely than small ones.
        self.slack = _SLACK * float(max((high - low).max(), np.abs(low).max(), np.abs(high).max()))

    def scratch(self) -> _kernels.Scratch:
        """Room for as many triangles as any short line meets."""
        return new_scratch(min(len(self.mesh.triangles), _SCRATCH) + 2)

    @cached_property
    def edge_of(self) -> Ints:
        """The edge of each half-edge, (3 m,) int32; twins share theirs."""
        twins = self.mesh.twins
        own = np.arange(twins.size)
        first = np.where(twins < 0, own, np.minimum(own, twins))
        return np.unique(first, return_inverse=True)[1].astype(np.int32)

    @cached_property
    def edge_ends(self) -> Ints:
        """The two vertices of each edge, (e, 2) int32."""
        triangles = self.mesh.triangles
        half = np.unique(self.edge_of, return_index=True)[1]
        return np.column_stack([triangles.ravel()[half], triangles[:, [1, 2, 0]].ravel()[half]])

    @cached_property
    def edge_halves(self) -> Ints:
        """The half-edges of each edge, (e, 2) int32; the second is -1 at the border."""
        half = np.unique(self.edge_of, return_index=True)[1]
        return np.ascontiguousarray(np.column_stack([half, self.mesh.twins[half]]).astype(np.int32))

    @cached_property
    def centres(self) -> Array:
        """Average of the corners of each triangle, (m, 2)."""
        return np.ascontiguousarray(self.mesh.vertices[self.mesh.triangles].mean(axis=1))

    @cached_property
    def extra(self) -> EdgeGraph:
        """The paper's Dual Graph Extra: a node in each triangle and one halfway on each edge."""
        return self._graph(np.ones(len(self.edge_ends), np.int64), vertices=False, centres=True)

    @cached_property
    def coarse(self) -> EdgeGraph:
        """Vertices and points on edges, more on long edges (the paper's future work, section 8.1)."""
        ends = self.mesh.vertices[self.edge_ends]
        length = np.hypot(*(ends[:, 1] - ends[:, 0]).T)
        nodes = max(_NODES, len(ends) * float(np.clip(_BUDGET / len(ends), 1, _AN_EDGE)))
        counts = np.clip(np.round(length / (length.sum() / nodes)), 1, _MOST).astype(np.int64)
        return self._graph(counts, vertices=True, centres=False)

    def _graph(self, counts: NDArray[np.int64], *, vertices: bool, centres: bool) -> EdgeGraph:
        mesh = self.mesh
        edge_first = np.concatenate([[0], np.cumsum(counts)])
        edge = np.repeat(np.arange(len(counts)), counts)
        share = (np.arange(edge_first[-1]) - edge_first[edge] + 1) / (counts[edge] + 1)
        ends = self.edge_ends[edge]
        on_edges = mesh.vertices[ends[:, 0]] * (1 - share)[:, None] + mesh.vertices[ends[:, 1]] * share[:, None]
        first = len(mesh.vertices) if vertices else 0
        corner = np.arange(first, dtype=np.int32)
        count = len(mesh.triangles) if centres else 0
        points = np.concatenate([mesh.vertices[:first], on_edges, self.centres[:count]])
        hosts = np.concatenate([np.column_stack([corner, corner]), ends, np.full((count, 2), -1)]).astype(np.int32)
        shares = np.concatenate([np.zeros(first), share, np.zeros(count)])
        tri_offsets = np.empty(len(mesh.triangles) + 1, np.int64)
        first_centre = first + len(edge) if centres else -1
        nodes = np.empty(0, np.int32)
        for _ in range(2):  # sizes first
            _route_kernels.list_nodes(mesh, self.edge_of, edge_first, first, vertices, first_centre, tri_offsets, nodes)
            nodes = nodes if nodes.size else np.empty(int(tri_offsets[-1]), np.int32)
        offsets = np.zeros(len(points) + 1, np.int64)
        _route_kernels.count_steps(tri_offsets, nodes, offsets)
        np.cumsum(offsets, out=offsets)
        steps = int(offsets[-1])
        targets, lengths, tris = np.empty(steps, np.int32), np.empty(steps, np.float32), np.empty(steps, np.int32)
        _route_kernels.fill_steps(tri_offsets, nodes, points, offsets[:-1].copy(), targets, lengths, tris)
        return EdgeGraph(offsets, targets, lengths, tris, points, tri_offsets, nodes, hosts, shares)
