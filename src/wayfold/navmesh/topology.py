"""Everything derived from the polygons of a mesh alone: twin edges, portals, areas, components, the spatial index.

Each part is made on first use. A rebuild hands on the parts that the old mesh had, changed where the mesh changed.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.core.arrays import offsets_of
from wayfold.core.bounded_cache import BoundedCache
from wayfold.core.locks import Portable
from wayfold.geometry.frame import Frame
from wayfold.graph import search_kernels as graph_kernels
from wayfold.navmesh import _corridor_kernels, _ground_kernels, _interval_kernels
from wayfold.navmesh._corridor_kernels import Portals
from wayfold.navmesh._ground_kernels import PolygonGrid, PolyMesh
from wayfold.navmesh._interval_kernels import Plane

_MOST_CELLS = 1 << 22
MOST_CLOSED = 16
"""Sets of closed areas of which is kept what follows from them: about 13 bytes an edge each."""
ALL_OPEN = np.zeros(256, np.uint8)


class PlanePieces(NamedTuple):
    """The polygons of a mesh, and behind them the convex pieces of those that are dented; see `_plane_kernels`."""

    offsets: NDArray[np.int64]
    corners: NDArray[np.int32]
    ahead: NDArray[np.int32]
    twins: NDArray[np.int32]
    rough: NDArray[np.uint8]
    owners: NDArray[np.int32]
    firsts: NDArray[np.int32]
    lasts: NDArray[np.int32]
    sources: NDArray[np.int32]


class Topology(Portable):
    """The polygons of a mesh and what is derived from them, which does not depend on links.

    Parameters
    ----------
    ground : PolyMesh
        Vertices, polygons, neighbours and surfaces.
    areas : (p,) uint8 array
        Kind of area of each polygon.
    frame : Frame, optional
        Where the mesh lies, whose vertices are relative to it; around 0 by default.
    """

    def __init__(self, ground: PolyMesh, areas: NDArray[np.uint8], frame: Frame | None = None) -> None:
        self.ground = ground
        self.frame = Frame((0.0, 0.0, 0.0), Frame.of(ground.vertices).extent) if frame is None else frame
        self.areas = areas
        self._planes = BoundedCache(most=MOST_CLOSED)
        self.kept: NDArray[np.int32] | None = None
        """(p,) which polygon of the mesh before the last rebuild each one is, -1 where it is new; None if unknown."""

    @property
    def num_polygons(self) -> int:
        """Number of polygons."""
        return len(self.ground.offsets) - 1

    @cached_property
    def whole(self) -> Plane:
        """The mesh for the interval search, with all of its polygons open."""
        return self.plane(ALL_OPEN)

    @cached_property
    def near(self) -> float:
        """Metres by which a point that is meant to be on a border may lie beside it."""
        return self.frame.near

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
    def twins(self) -> NDArray[np.int32]:
        """The same edge in the polygon beyond each edge, -1 at walls."""
        ground = self.ground
        twins = np.empty(len(ground.corners), np.int32)
        _interval_kernels.twin_edges(ground.offsets, ground.corners, ground.neighbours, 0, self.num_polygons, twins)
        return twins

    @cached_property
    def portals(self) -> Portals:
        """Edges that polygons share."""
        ground, twins = self.ground, self.twins
        count = int(np.count_nonzero(twins >= 0)) // 2
        portals = Portals(
            np.empty(len(ground.offsets), np.int64),
            np.empty(len(ground.offsets), np.int64),
            np.empty(2 * count, np.int32),
            np.empty(count, np.int32),
            np.empty((count, 2), np.int32),
            np.empty((count, 3), np.float32),
        )
        _corridor_kernels.number_portals(ground, twins, portals)
        return portals

    @cached_property
    def polygon_areas(self) -> NDArray[np.float64]:
        """Area of each polygon seen from above, square metres."""
        polygon_areas = np.empty(self.num_polygons)
        _ground_kernels.polygon_areas(self.ground, 0, self.num_polygons, polygon_areas)
        return polygon_areas

    @cached_property
    def centres(self) -> NDArray[np.float64]:
        """Mean of each polygon's corners, put on its surface."""
        centres = np.empty((self.num_polygons, 3))
        _ground_kernels.centres(self.ground, centres)
        return centres

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """Component of each polygon, from 0 in the order of their lowest polygons."""
        return join(self.ground.offsets, self.ground.neighbours)

    @cached_property
    def cells(self) -> PolygonGrid:
        """The spatial index."""
        ground = self.ground
        low, high = ground.vertices[:, :2].min(axis=0), ground.vertices[:, :2].max(axis=0)
        width, depth = (float(side) for side in high - low)
        # About as many cells as polygons: most cells then hold a few.
        count = min(_MOST_CELLS, 2 * self.num_polygons)
        size = max(np.sqrt(width * depth / count), max(width, depth) / _MOST_CELLS, 1e-9)
        columns, rows = int(width // size) + 1, int(depth // size) + 1
        counts = np.zeros(columns * rows, np.int64)
        empty = PolygonGrid(float(low[0]), float(low[1]), float(size), columns, rows, counts, np.empty(0, np.int32))
        everything = np.arange(self.num_polygons, dtype=np.int32)
        _ground_kernels.fill_cells(ground, empty, everything, counts, empty.polygons)
        offsets = offsets_of(counts)
        polygons = np.empty(offsets[-1], np.int32)
        _ground_kernels.fill_cells(ground, empty, everything, offsets[:-1].copy(), polygons)
        return empty._replace(offsets=offsets, polygons=polygons)

    @cached_property
    def turns(self) -> NDArray[np.uint8]:
        """1 for each vertex where a shortest path may turn."""
        return self._turns(self.ground.neighbours, np.zeros(self.num_polygons, np.uint8))

    def _turns(self, ahead: NDArray[np.int32], shut: NDArray[np.uint8]) -> NDArray[np.uint8]:
        ground = self.ground
        count = len(ground.vertices)
        turns = np.empty(count, np.uint8)
        _interval_kernels.turning_points(
            ground.vertices, ground.offsets, ground.corners, ahead, shut, 0, self.num_polygons,
            np.zeros(count), np.zeros((count, 3), np.int32), turns,
        )  # fmt: skip
        return turns

    @cached_property
    def dented(self) -> NDArray[np.uint8]:
        """1 for each polygon that is not convex to the last bit."""
        ground, dented = self.ground, np.empty(self.num_polygons, np.uint8)
        _interval_kernels.find_dents(ground.vertices, ground.offsets, ground.corners, 0, self.num_polygons, dented)
        return dented

    @cached_property
    def pieces(self) -> PlanePieces:
        """The mesh with its dented polygons cut into convex pieces."""
        ground, count, edges = self.ground, self.num_polygons, len(self.ground.corners)
        numbers, every = np.arange(count, dtype=np.int32), np.arange(edges, dtype=np.int32)
        dented = np.flatnonzero(self.dented).astype(np.int32)
        if not len(dented):
            return PlanePieces(
                ground.offsets, ground.corners, ground.neighbours, self.twins, np.zeros(count, np.uint8), numbers,
                numbers, numbers + np.int32(1), every,
            )  # fmt: skip
        corners = int(np.diff(ground.offsets)[dented].sum())
        sizes, rough, owners = np.empty(corners, np.int64), np.empty(corners, np.uint8), np.empty(corners, np.int32)
        places, sources, twins = (np.empty(4 * corners, np.int32) for _ in range(3))
        more, used = _interval_kernels.cut_polygons(
            ground.vertices, ground.offsets, ground.corners, dented, np.empty(4 * corners, np.int32),
            np.empty(corners, np.int64), places, sizes, rough, owners, sources, twins,
        )  # fmt: skip
        sizes, owners, sources, twins = sizes[:more], owners[:more], sources[:used], twins[:used]
        piece = np.repeat(np.arange(count, count + more, dtype=np.int32), sizes)
        # Where each edge of the mesh is now, and in which piece.
        outer = sources >= 0
        moved, within = every.copy(), self.owners.copy()
        moved[sources[outer]] = edges + np.flatnonzero(outer)
        within[sources[outer]] = piece[outer]
        source = np.concatenate([every, sources])
        twin = self.twins[source]
        twin = np.where((source >= 0) & (twin >= 0), moved[twin], -1)
        ahead = np.where((source >= 0) & (self.twins[source] >= 0), within[self.twins[source]], -1)
        inner = edges + np.flatnonzero(~outer)
        twin[inner] = edges + twins[~outer]
        ahead[inner] = np.append(piece, -1)[twins[~outer]]
        start = ground.corners[ground.offsets[np.repeat(owners, sizes)] + places[:used]]
        firsts, lasts = numbers.copy(), numbers + np.int32(1)
        firsts[dented] = count + np.searchsorted(owners, dented)
        lasts[dented] = count + np.searchsorted(owners, dented, side="right")
        return PlanePieces(
            np.concatenate([ground.offsets, ground.offsets[-1] + np.cumsum(sizes)]),
            np.concatenate([ground.corners, start]).astype(np.int32),
            ahead.astype(np.int32),
            twin.astype(np.int32),
            np.concatenate([np.zeros(count, np.uint8), rough[:more]]),
            np.concatenate([numbers, owners]),
            firsts,
            lasts,
            source.astype(np.int32),
        )

    def plane(self, closed: NDArray[np.uint8]) -> Plane:
        """The mesh for the interval search, where polygons of `closed` areas ((256,) uint8) are walls."""
        plane: Plane = self._planes.get(closed.tobytes(), lambda: self._new_plane(closed))
        return plane

    def _new_plane(self, closed: NDArray[np.uint8]) -> Plane:
        pieces, turns, ahead = self.pieces, self.turns, self.pieces.ahead
        if closed.any():
            shut = (closed[self.areas] != 0).astype(np.uint8)
            ground = self.ground
            beyond = np.where((ground.neighbours >= 0) & (shut[ground.neighbours] == 0), ground.neighbours, -1)
            turns = self._turns(beyond.astype(np.int32), shut)
            ahead = np.where((ahead >= 0) & (shut[pieces.owners[ahead]] == 0), ahead, -1).astype(np.int32)
        exits = np.add.reduceat(ahead >= 0, pieces.offsets[:-1], dtype=np.int32)
        return Plane(
            self.ground.vertices, pieces.offsets, pieces.corners, ahead, pieces.twins, turns, exits, pieces.rough,
            pieces.owners, pieces.firsts, pieces.lasts, pieces.sources,
        )  # fmt: skip


def join(offsets: NDArray[np.int64], neighbours: NDArray[np.int32]) -> NDArray[np.int32]:
    """The component of each polygon."""
    labels = np.empty(len(offsets) - 1, np.int32)
    graph_kernels.label_components(_corridor_kernels.PolygonSpace(offsets, neighbours), labels)
    return labels
