"""Refined routes after an edit, from those before it: only what lies on triangles that changed is made anew.

Nodes keep their numbers and new ones come after all, as triangles do (see `_repaint`), so that the arrays of the graph
before are shared, and the result does not depend on how many edits led to it.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.core.locks import Portable
from wayfold.terrain import _route_kernels
from wayfold.terrain._repaint import Painted, Pieces
from wayfold.terrain.ground import Array, EdgeGraph, Ground, Ints, points_on
from wayfold.terrain.routes import EdgeRoutes, Steps, step_costs

_MOST = 0.5  # of all triangles: where more have changed, the graph is made from the beginning
_ROOM = 4096  # nodes for which there is room at a time, so that edits share the scratch memory of searches
_STEPS = 65_536  # steps for which there is room at first


def is_small(painted: Painted) -> bool:
    """Whether so few triangles have changed that a graph is changed for them."""
    changed = painted.over >= 0
    changed[painted.pieces.numbers] = True
    return painted.mesh is not None and int(changed.sum()) <= _MOST * len(changed)


class _Room(Portable):
    """Steps that several graphs share: each has written its own behind those of the ones before it."""

    _OWN = (("lock", Lock),)

    def __init__(self, capacity: int) -> None:
        self.steps = Steps(np.empty(capacity, np.int32), np.empty(capacity, np.float32), np.empty(capacity, np.int32))
        self.used = 0
        self.lock = Lock()

    def append(self, kept: int, steps: Steps) -> _Room:
        """Room with `steps` behind the first `kept` ones: this one, or another where others stand there or end it."""
        count = len(steps.targets)
        with self.lock:
            if self.used == kept and kept + count <= len(self.steps.targets):
                self._write(kept, steps)
                return self
        other = _Room(max(_STEPS, 2 * (kept + count)))
        before = self.steps
        other._write(0, Steps(before.targets[:kept], before.costs[:kept], before.tris[:kept]))
        other._write(kept, steps)
        return other

    def _write(self, at: int, steps: Steps) -> None:
        for mine, new in zip(self.steps, steps, strict=True):
            mine[at : at + len(new)] = new
        self.used = at + len(steps.targets)


class EditedRoutes(EdgeRoutes):
    """Refined routes over a ground of which some triangles have changed.

    Parameters
    ----------
    under : EdgeRoutes
        The refined routes before the change.
    base : Ground
        The ground that has never been cut.
    ground : Ground
        The ground now; what is not in `pieces` is as it was.
    weights : (m,) float64 array
    pieces : Pieces
        Triangles that are new since `under`.
    closed : (k,) int32 array
        Vertices that are not to be used.
    other : EdgeRoutes, optional
    """

    nodes: int
    """Nodes that are there; the arrays have room for more."""
    _corners: Ints  # the node of each vertex
    _hosts: Ints
    _shares: Array
    _room: _Room
    _kept: int  # steps of it that are used

    def __init__(
        self,
        under: EdgeRoutes,
        base: Ground,
        ground: Ground,
        weights: Array,
        pieces: Pieces,
        closed: Ints,
        other: EdgeRoutes | None,
    ) -> None:
        self.ground = ground
        self.weights = weights
        self.radius = 0.0
        self.refine = True
        self.other = other
        graph = under.graph
        vertices = len(under.ground.mesh.vertices)
        if isinstance(under, EditedRoutes):
            self.nodes, self._corners, room, kept = under.nodes, under._corners, under._room, under._kept
        else:
            self.nodes, self._corners, room, kept = len(graph.points), np.arange(vertices, dtype=np.int32), _Room(0), 0
        lists, sizes = self._place(base, graph, pieces, vertices)
        self.closed = self._corners[closed]
        # Everything on triangles that are new or weigh something else, and whatever leads to what is closed now.
        count = len(under.weights)
        changed = np.zeros(len(weights), np.bool_)
        changed[pieces.numbers] = True
        changed[:count] |= weights[:count] != under.weights
        toggled = np.setxor1d(self.closed, under.closed)
        if len(toggled):
            corner = np.zeros(len(self._corners), np.bool_)
            corner[np.isin(self._corners, toggled)] = True
            changed |= corner[ground.mesh.triangles].any(axis=1)
        firsts, lasts = _spread(graph.tri_firsts, len(weights)), _spread(graph.tri_lasts, len(weights))
        lasts[pieces.numbers] = len(graph.tri_nodes) + np.cumsum(sizes)
        firsts[pieces.numbers] = lasts[pieces.numbers] - sizes
        self.graph = graph._replace(
            points=self.points, hosts=self._hosts, shares=self._shares, tri_firsts=firsts, tri_lasts=lasts,
            tri_nodes=np.concatenate([graph.tri_nodes, lists]),
        )  # fmt: skip
        nodes, offsets, steps = self._steps(np.flatnonzero(changed))
        self._room, self._kept = room.append(kept, steps), kept + len(steps.targets)
        self.firsts, self.lasts = _spread(under.firsts, len(self.points)), _spread(under.lasts, len(self.points))
        begin = len(graph.targets) + kept
        self.firsts[nodes], self.lasts[nodes] = begin + offsets[:-1], begin + offsets[1:]
        self.targets, self.costs, self.more = under.targets, under.costs, self._room.steps
        self._pool = base.edited_pool(len(self.points))
        self._scale = float(weights.min()) * (1 - 1e-6)  # costs are rounded to float32

    @property
    def num_nodes(self) -> int:
        return self.nodes

    @property
    def nbytes(self) -> int:
        """Bytes of what it does not share with the routes before all edits."""
        own = self.points, self._hosts, self._shares, self.firsts, self.lasts, self._corners
        lists = self.graph.tri_firsts, self.graph.tri_lasts, self.graph.tri_nodes
        return sum(array.nbytes for array in (*own, *lists, *self._room.steps))

    def _place(self, base: Ground, graph: EdgeGraph, pieces: Pieces, vertices: int) -> tuple[Ints, NDArray[np.int64]]:
        """Put nodes on new vertices and new edges; returns the nodes of all pieces and how many each has."""
        mesh = self.ground.mesh
        begin = mesh.triangles[pieces.numbers]
        end = begin[:, [1, 2, 0]]
        own = base.mesh.triangles[pieces.of]
        # An edge that has not been cut keeps its nodes, also where both of its triangles are in pieces.
        kept = (begin[:, :, None] == own[:, None]) & (end[:, :, None] == own[:, None, [1, 2, 0]])
        old = kept.any(axis=2)
        edge = base.edge_of[3 * pieces.of[:, None] + kept.argmax(axis=2)]
        first = base.coarse_first
        starts, counts = first[edge], first[edge + 1] - first[edge]
        # The others: once for both sides, in the order of the pieces.
        half = 3 * pieces.numbers[:, None].astype(np.int64) + np.arange(3)
        twin = mesh.twins[half]
        fresh = np.where(twin < 0, half, np.minimum(half, twin))[~old]
        unique, where, inverse = np.unique(fresh, return_index=True, return_inverse=True)
        tips = np.column_stack([mesh.triangles.ravel()[unique], mesh.triangles[unique // 3, (unique + 1) % 3]])
        along = mesh.vertices[tips[:, 1]] - mesh.vertices[tips[:, 0]]
        points = points_on(np.hypot(*along.T), base.spacing)
        cluster = np.broadcast_to(pieces.cluster[:, None], old.shape)[~old][where]
        corners = np.arange(vertices, len(mesh.vertices))
        # New nodes are numbered cluster by cluster: corners first, then the points on edges.
        both = np.concatenate([pieces.vertex_cluster, cluster])
        kind = np.repeat([0, 1], [len(corners), len(unique)])
        each = np.concatenate([np.ones(len(corners), np.int64), points])
        order = np.lexsort((np.concatenate([corners, where]), kind, both))
        number = np.empty(len(order), np.int64)
        number[order] = self.nodes + np.cumsum(each[order]) - each[order]
        self._corners = np.concatenate([self._corners, number[: len(corners)].astype(np.int32)])
        on_edges = number[len(corners) :]
        starts[~old], counts[~old] = on_edges[inverse.reshape(-1)], points[inverse.reshape(-1)]
        self._extend(graph, corners, tips, on_edges, points, int(each.sum()))
        places = np.stack([self._corners[begin].astype(np.int64), starts], axis=2).reshape(-1, 6)
        sizes = np.stack([np.ones_like(counts), counts], axis=2).reshape(-1, 6)
        return _ranges(places.ravel(), sizes.ravel()).astype(np.int32), sizes.sum(axis=1)

    def _extend(
        self, graph: EdgeGraph, corners: NDArray[np.int64], tips: Ints, on_edges: NDArray[np.int64],
        points: NDArray[np.int64], more: int,
    ) -> None:  # fmt: skip
        """Say where the new nodes lie."""
        used, self.nodes = self.nodes, self.nodes + more
        capacity = len(graph.points)
        if self.nodes > capacity or capacity % _ROOM:
            capacity = (self.nodes // _ROOM + 2) * _ROOM
        self.points = _spread(graph.points, capacity, used)
        self._hosts = _spread(graph.hosts, capacity, used)
        self._shares = _spread(graph.shares, capacity, used)
        where = self.ground.mesh.vertices
        self.points[self._corners[corners]] = where[corners]
        self._hosts[self._corners[corners]] = corners[:, None]
        edge = np.repeat(np.arange(len(tips)), points)
        node = _ranges(on_edges, points)
        share = (node - on_edges[edge] + 1) / (points[edge] + 1)
        self.points[node] = where[tips[edge, 0]] * (1 - share)[:, None] + where[tips[edge, 1]] * share[:, None]
        self._hosts[node] = tips[edge]
        self._shares[node] = share

    def _steps(self, changed: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], Steps]:
        """The nodes on changed triangles, the bounds of their steps, and these."""
        graph, mesh = self.graph, self.ground.mesh
        corner = np.zeros(len(mesh.vertices), np.bool_)
        corner[mesh.triangles[changed]] = True
        around = np.flatnonzero(corner[mesh.triangles].any(axis=1))
        sizes = graph.tri_lasts[around] - graph.tri_firsts[around]
        listed = graph.tri_nodes[_ranges(graph.tri_firsts[around], sizes)]
        own = _ranges(graph.tri_firsts[changed], graph.tri_lasts[changed] - graph.tri_firsts[changed])
        number = np.full(len(self.points), -1, np.int32)
        number[listed] = 1
        number[graph.tri_nodes[own]] = 0
        nodes, others = np.flatnonzero(number == 0), np.flatnonzero(number == 1)
        every = np.concatenate([nodes, others])
        number[every] = np.arange(len(every))
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        local = np.ascontiguousarray(number[listed])
        offsets = np.zeros(len(every) + 1, np.int64)
        _route_kernels.count_steps(bounds, local, offsets)
        np.cumsum(offsets, out=offsets)
        count = int(offsets[-1])
        targets, lengths, tris = np.empty(count, np.int32), np.empty(count, np.float32), np.empty(count, np.int32)
        points = np.ascontiguousarray(self.points[every])
        _route_kernels.fill_steps(bounds, local, points, offsets[:-1].copy(), targets, lengths, tris)
        offsets = offsets[: len(nodes) + 1]  # the others have steps elsewhere too, and keep theirs
        used = int(offsets[-1])
        ahead, through = every[targets[:used]].astype(np.int32), around[tris[:used]].astype(np.int32)
        costs = step_costs(self.weights, through, lengths[:used])
        if len(self.closed):
            costs[np.isin(ahead, self.closed)] = np.inf
        return nodes, offsets, Steps(ahead, costs, through)


def _spread(array: NDArray[Any], size: int, used: int | None = None) -> NDArray[Any]:
    """A copy with room for `size` rows; what is new is 0."""
    result = np.zeros((size, *array.shape[1:]), array.dtype)
    kept = min(len(array) if used is None else used, size)
    result[:kept] = array[:kept]
    return result


def _ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers from each start on, so many of each, one after the other."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - ends + counts, counts)
