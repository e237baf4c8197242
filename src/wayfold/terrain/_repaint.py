"""Polygons painted over triangles: only the triangles that an outline meets are cut, all others stay as they are.

Polygons whose outlines meet the same triangles are cut together; what became of such a *cluster* is kept, so that one
more polygon costs what it meets, however many there are already.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import shapely
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from wayfold.geometry.polygon import overlaying
from wayfold.terrain._subdivision import UNPAINTED, Array, Ints, triangulate
from wayfold.terrain.ground import Ground
from wayfold.terrain.prepared import Prepared


class Outline(NamedTuple):
    """Where one polygon lies."""

    touched: Ints  # triangles that its outline meets
    inside: Ints  # other triangles that it covers

    @property
    def nbytes(self) -> int:
        return self.touched.nbytes + self.inside.nbytes


class Cluster(NamedTuple):
    """What polygons make of the triangles that their outlines meet."""

    touched: Ints
    fresh: Array  # (k, 2), new vertices
    parts: NDArray[np.int64]  # (m, 3), vertices of the pieces; new ones are numbered -1, -2, ...
    of: Ints  # (m,), the triangle that each piece is a part of
    over: Ints  # (m,), the last polygon of the cluster over each piece, UNPAINTED for none

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self)


class Painted(NamedTuple):
    """Triangles after cutting: whole ones first, then the pieces. Vertices keep their numbers, new ones come after."""

    vertices: Array
    triangles: Ints
    of: Ints  # the triangle that each was a part of
    over: Ints  # the last polygon over each, UNPAINTED for none


@overlaying()
def repaint(ground: Ground, polygons: Sequence[Any], prepared: Prepared) -> Painted:
    """Cut the triangles of a ground along the outlines of polygons.

    Parameters
    ----------
    ground : Ground
    polygons : list of shapely polygons or multipolygons
        Valid, with area, in the ground's coordinates; they may reach out of the map.
    prepared : Prepared
        Of this ground.
    """
    mesh = ground.mesh
    keys = [polygon.wkb for polygon in polygons]
    outlines = [
        prepared.get(("outline", key), partial(_outline, ground, polygon))
        for key, polygon in zip(keys, polygons, strict=True)
    ]
    over = np.full(len(mesh.triangles), UNPAINTED, np.int32)
    for number, outline in enumerate(outlines):
        over[outline.inside] = number
    cut = np.zeros(len(mesh.triangles), np.bool_)
    vertices, triangles, parts_of, parts_over = [mesh.vertices], [], [], []
    count = len(mesh.vertices)
    for members in _clusters(outlines, len(mesh.triangles)):
        cluster = prepared.get(
            ("cluster", *(keys[number] for number in members)),
            partial(_cut, ground, [polygons[n] for n in members], [outlines[n] for n in members]),
        )
        cut[cluster.touched] = True
        vertices.append(cluster.fresh)
        triangles.append(np.where(cluster.parts < 0, count - 1 - cluster.parts, cluster.parts))
        count += len(cluster.fresh)
        parts_of.append(cluster.of)
        last = np.array(members, np.int32)[np.maximum(cluster.over, 0)]
        # Polygons that cover the whole triangle count too, where they come later.
        parts_over.append(np.maximum(np.where(cluster.over < 0, UNPAINTED, last), over[cluster.of]))
    kept = np.flatnonzero(~cut).astype(np.int32)
    if not triangles:
        return Painted(mesh.vertices, mesh.triangles, kept, over)
    return Painted(
        np.concatenate(vertices),
        np.ascontiguousarray(np.concatenate([mesh.triangles[kept], *triangles]).astype(np.int32)),
        np.concatenate([kept, *parts_of]),
        np.concatenate([over[kept], *parts_over]).astype(np.int32),
    )


def _outline(ground: Ground, polygon: Any) -> Outline:
    vertices, triangles = ground.mesh.vertices, ground.mesh.triangles
    where = ground.near(polygon.bounds)
    corners = vertices[triangles[where]]
    outline = polygon.boundary
    shapely.prepare([polygon, outline])
    meets = shapely.intersects(outline, _polygons(corners))
    centres = corners.mean(axis=1)
    covered = ~meets & shapely.intersects_xy(polygon, centres[:, 0], centres[:, 1])
    return Outline(where[meets].astype(np.int32), where[covered].astype(np.int32))


def _clusters(outlines: Sequence[Outline], count: int) -> list[list[int]]:
    """Polygons that meet the same triangles, directly or by way of others, in their order."""
    rows = np.repeat(np.arange(len(outlines)), [len(outline.touched) for outline in outlines])
    columns = np.concatenate([outline.touched for outline in outlines]) if outlines else np.empty(0, np.int32)
    meets = scipy.sparse.csr_array((np.ones(len(rows), np.bool_), (rows, columns)), shape=(len(outlines), count))
    both = scipy.sparse.block_array([[None, meets], [meets.T, None]], format="csr")
    labels = connected_components(both, directed=False)[1][: len(outlines)]
    members: dict[int, list[int]] = {}
    for number, label in enumerate(labels.tolist()):
        if len(outlines[number].touched):
            members.setdefault(label, []).append(number)
    return list(members.values())


def _cut(ground: Ground, polygons: list[Any], outlines: list[Outline]) -> Cluster:
    vertices, triangles = ground.mesh.vertices, ground.mesh.triangles
    touched = np.unique(np.concatenate([outline.touched for outline in outlines]))
    pieces = _polygons(vertices[triangles[touched]])
    lines = np.concatenate([shapely.boundary(pieces), shapely.boundary(np.array(polygons, object))])
    found = triangulate(shapely.union_all(lines))
    inside, of = shapely.STRtree(pieces).query(shapely.points(found.places), predicate="intersects")
    # What lies in no touched triangle is outside of the map, or is made of triangles that stay.
    owner = np.full(len(found.places), -1, np.int64)
    owner[inside] = of
    over = np.full(len(found.places), UNPAINTED, np.int32)
    for number, polygon in enumerate(polygons):
        shapely.prepare(polygon)
        over[shapely.intersects_xy(polygon, found.places[:, 0], found.places[:, 1])] = number
    mine = owner[found.face] >= 0
    parts, face = found.triangles[mine], found.face[mine]
    numbers, fresh = _numbered(found.vertices, np.unique(parts), vertices, np.unique(triangles[touched]))
    return Cluster(touched, fresh, numbers[parts], touched[owner[face]].astype(np.int32), over[face])


def _polygons(corners: Array) -> NDArray[Any]:
    return np.asarray(shapely.polygons(corners[:, [0, 1, 2, 0]]))


def _numbered(points: Array, used: Ints, vertices: Array, among: Ints) -> tuple[NDArray[np.int64], Array]:
    """The number of each used point: that of the vertex in the same place, or -1, -2, ... for new ones; and those."""
    known = {(x, y): number for number, (x, y) in zip(among.tolist(), vertices[among].tolist(), strict=True)}
    numbers = np.zeros(len(points), np.int64)
    fresh: list[tuple[float, float]] = []
    for at in used.tolist():
        x, y = points[at].tolist()
        number = known.get((x, y))
        if number is None:
            fresh.append((x, y))
            number = -len(fresh)
        numbers[at] = number
    return numbers, np.array(fresh, np.float64).reshape(-1, 2)
