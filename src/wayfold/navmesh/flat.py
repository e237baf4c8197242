"""What the pipeline made of tiles, in flat arrays: a `Flat` for each row of tiles of the world.

Rows are what a rebuild replaces: only those with changed tiles are put together anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.navmesh.rectangle import Rectangle


class Flat(NamedTuple):
    """Meshes of tiles one after the other; vertex, polygon, edge and point numbers count within each tile."""

    counts: NDArray[np.int64]
    """(tiles, 6): vertices, polygons, edges, doors, surface points, surface triangles."""
    lattice: NDArray[np.int32]
    """(v, 2) lattice positions in the world, of the lattice of lanes."""
    heights: NDArray[np.float32]
    """(v,) metres above the origin."""
    polygons: NDArray[np.int32]
    """(p, 3): edges, surface points and surface triangles of each polygon."""
    kinds: NDArray[np.uint8]
    """(p,)."""
    edges: NDArray[np.int32]
    """(m, 2): start vertex, neighbour."""
    doors: NDArray[np.int32]
    """(d, 7)."""
    surface: NDArray[np.int32]
    """(k, 2) doubled lattice."""
    surface_heights: NDArray[np.float32]
    """(k,)."""
    triangles: NDArray[np.int32]
    """(t, 3) points of the polygon's surface."""


Rows = tuple[Flat, ...]

# Which count of a tile each array goes by.
_COUNT = (0, 0, 1, 1, 2, 3, 4, 4, 5)


def _empty() -> Flat:
    return Flat(
        np.zeros((1, 6), np.int64),
        np.empty((0, 2), np.int32),
        np.empty(0, np.float32),
        np.empty((0, 3), np.int32),
        np.empty(0, np.uint8),
        np.empty((0, 2), np.int32),
        np.empty((0, 7), np.int32),
        np.empty((0, 2), np.int32),
        np.empty(0, np.float32),
        np.empty((0, 3), np.int32),
    )


def flatten(parts: list[tuple[Any, Any]]) -> Flat:
    """The meshes of one tile as a `Flat` of one tile."""
    if not parts:
        return _empty()
    columns: list[list[Any]] = [[] for _ in Flat._fields[1:]]
    vertices = polygons = edges = 0
    for mesh, detail in parts:
        doors = mesh.doors + np.array([0, 0, 0, 0, 0, polygons, edges], np.int32)
        ahead = np.where(mesh.neighbours >= 0, mesh.neighbours + polygons, -1)
        arrays = (
            np.column_stack([mesh.x, mesh.y]),
            mesh.z,
            np.column_stack([np.diff(mesh.offsets), np.diff(detail.point_offsets), np.diff(detail.triangle_offsets)]),
            mesh.kinds,
            np.column_stack([mesh.vertices + vertices, ahead]),
            doors,
            detail.xy,
            detail.z,
            detail.triangles,
        )
        for column, array in zip(columns, arrays, strict=True):
            column.append(array)
        vertices, polygons, edges = vertices + len(mesh.x), polygons + len(mesh.kinds), edges + len(mesh.vertices)
    empty: list[Any] = list(_empty()[1:])
    whole = [np.concatenate(column).astype(like.dtype, copy=False) for column, like in zip(columns, empty, strict=True)]
    doors = whole[5]
    whole[5] = doors[np.lexsort((doors[:, 3], doors[:, 2], doors[:, 1], doors[:, 0]))]
    counts = np.array([[vertices, polygons, edges, len(doors), len(whole[6]), len(whole[8])]])
    return Flat(counts, *whole)


def concatenate(parts: Iterable[Flat]) -> Flat:
    """Tiles one after the other."""
    return Flat(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def bases(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each tile's part begins, and after the last one the whole: one row more than `counts`."""
    return np.concatenate([np.zeros((1, counts.shape[1]), np.int64), np.cumsum(counts, axis=0)])


def _parts(flat: Flat, cuts: list[int]) -> list[Flat]:
    """The tiles between each two cuts."""
    ends = bases(flat.counts)
    result = []
    for first, last in pairwise(cuts):
        low, high = ends[first], ends[last]
        arrays: list[Any] = [flat[at][low[k] : high[k]] for at, k in enumerate(_COUNT, 1)]
        result.append(Flat(flat.counts[first:last], *arrays))
    return result


def in_rows(flat: Flat, columns: int) -> Rows:
    """All tiles of a world, cut into rows of `columns` tiles."""
    return tuple(_parts(flat, list(range(0, len(flat.counts) + 1, columns))))


def inside(rows: Rows, part: Rectangle) -> Flat:
    """The tiles of a rectangle, row by row."""
    cuts = [part.x, part.last_x + 1]
    return concatenate([_parts(row, cuts)[0] for row in rows[part.y : part.last_y + 1]])


def replaced(rows: Rows, part: Rectangle, fresh: list[Flat]) -> Rows:
    """The same world with the tiles of a rectangle replaced by `fresh` ones, each a `Flat` of one tile."""
    result = list(rows)
    for k in range(part.rows):
        row = rows[part.y + k]
        before, _, after = _parts(row, [0, part.x, part.last_x + 1, len(row.counts)])
        result[part.y + k] = concatenate([before, *fresh[k * part.columns : (k + 1) * part.columns], after])
    return tuple(result)
