"""Tiles put together to one mesh, and meshes without some of their polygons."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.navmesh import _stitch_kernels
from wayfold.navmesh._ground_kernels import Ground
from wayfold.navmesh.flat import Flat, bases
from wayfold.navmesh.tiles import TileGrid

POLYGONS, EDGES, VERTICES, POINTS, TRIANGLES = range(5)


class Joined(NamedTuple):
    """A mesh of tiles; everything is numbered tile by tile."""

    ground: Ground
    kinds: NDArray[np.uint8]
    """(p,)."""
    bounds: NDArray[np.int64]
    """(tiles + 1, 5): first polygon, edge, vertex, surface point and surface triangle of each tile."""

    def without(self, kept: NDArray[np.bool_]) -> Joined:
        """The mesh of the kept polygons, with the vertices that they use, in the same order."""
        if kept.all():
            return self
        ground, bounds = self.ground, self.bounds
        sizes = np.diff(ground.offsets)
        edges = np.repeat(kept, sizes)
        neighbours = ground.neighbours[edges]
        numbers = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)
        used = np.zeros(len(ground.vertices), np.bool_)
        used[ground.corners[edges]] = True
        vertex = (np.cumsum(used) - 1).astype(np.int32)
        mine = np.repeat(kept, np.diff(ground.surface_offsets))
        triangles = ground.surface_triangles[mine]
        held = np.zeros(len(ground.surface_points), np.bool_)
        held[triangles.ravel()] = True
        point = (np.cumsum(held) - 1).astype(np.int32)
        smaller = Ground(
            ground.vertices[used],
            _offsets(sizes[kept]),
            vertex[ground.corners[edges]],
            numbers[neighbours],
            ground.surface_points[held],
            _offsets(np.diff(ground.surface_offsets)[kept]),
            point[triangles],
        )
        counts = [_offsets(mask)[bounds[:, at]] for at, mask in enumerate((kept, edges, used, held, mine))]
        return Joined(smaller, self.kinds[kept], np.column_stack(counts))


def join_tiles(flat: Flat, columns: int, rows: int, grid: TileGrid) -> Joined:
    """The tiles of a rectangle of the world as one mesh; at the rectangle's sides they are left as they are."""
    counts = flat.counts
    firsts = bases(counts)
    offsets = _offsets(flat.polygons[:, 0])
    edges = flat.edges
    vertex_base = np.repeat(firsts[:-1, 0], counts[:, 2])
    polygon_base = np.repeat(firsts[:-1, 1], counts[:, 2])
    doors = flat.doors.copy()
    doors[:, 6] += np.repeat(firsts[:-1, 2], counts[:, 3]).astype(np.int32)
    lower, upper = lane_doors(doors)
    parts = _stitch_kernels.Parts(
        np.ascontiguousarray(flat.lattice[:, 0]),
        np.ascontiguousarray(flat.lattice[:, 1]),
        flat.heights,
        offsets,
        (edges[:, 0] + vertex_base).astype(np.int32),
        np.where(edges[:, 1] >= 0, edges[:, 1] + polygon_base, -1).astype(np.int32),
        flat.kinds,
        doors,
        np.ascontiguousarray(firsts[:, :4]),
    )
    joined = _stitch_kernels.Stitched(*_stitch_kernels.stitch(parts, lower, upper, columns, rows))
    origin = grid.origin
    vertices = np.empty((len(joined.x), 3))
    vertices[:, 0] = origin[0] + joined.x * grid.cell_size / grid.parts
    vertices[:, 1] = origin[1] + joined.y * grid.cell_size / grid.parts
    vertices[:, 2] = origin[2] + joined.z
    points = np.empty((len(flat.surface), 3))
    points[:, :2] = np.array(origin[:2]) + flat.surface * (0.5 * grid.cell_size) / grid.parts
    points[:, 2] = origin[2] + flat.surface_heights
    frame = grid.local_frame
    vertices, points = frame.local(vertices), frame.local(points)
    starts = np.cumsum(flat.polygons[:, 1]) - flat.polygons[:, 1]
    triangles = flat.triangles + np.repeat(starts, flat.polygons[:, 2])[:, None]
    ground = Ground(
        vertices,
        joined.offsets,
        joined.vertices,
        joined.neighbours,
        points,
        _offsets(flat.polygons[:, 2]),
        np.ascontiguousarray(triangles, np.int32),
    )
    polygons = firsts[:, 1]
    bounds = (polygons, joined.offsets[polygons], joined.vertex_bases, firsts[:, 4], firsts[:, 5])
    return Joined(ground, flat.kinds, np.column_stack(bounds))


def _offsets(sizes: NDArray[np.generic]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def lane_doors(doors: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Doors of lanes on the lower and on the upper side of their lines, as `stitch` takes them."""
    lanes = doors[doors[:, 0] >= 4]
    high = (lanes[:, 0] & 2) == 0
    # West and east, south and north face each other.
    lanes[:, 0] = (lanes[:, 0] & ~3) | (lanes[:, 0] & 1)
    order = np.lexsort((lanes[:, 3], lanes[:, 2], lanes[:, 1], lanes[:, 0]))
    lanes, high = lanes[order], high[order]
    return np.ascontiguousarray(lanes[~high]), np.ascontiguousarray(lanes[high])
