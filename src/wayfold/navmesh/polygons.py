"""Polygons from elsewhere: from lists and files, checked, turned to one direction and joined at their edges.

Files are `.mesh` (formats 2 and 3 of the any-angle benchmarks) and polygon OBJ, read and written.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.core.archive import File, replacing
from wayfold.core.arrays import distinct
from wayfold.errors import FormatError, GeometryError, ParameterError
from wayfold.formats.opening import KINDS, sniff
from wayfold.formats.text import read_text, shown
from wayfold.geometry.frame import Frame
from wayfold.navmesh import _interval_kernels
from wayfold.navmesh._ground_kernels import PolyMesh
from wayfold.navmesh.snapshot import MeshSnapshot

_FLAT = 1e-9  # sine of an angle by which a corner may be dented, where coordinates were rounded elsewhere


def from_lists(
    vertices: ArrayLike, polygons: Sequence[ArrayLike] | ArrayLike, areas: ArrayLike | None = None
) -> tuple[PolyMesh, NDArray[np.uint8]]:
    """A checked mesh of polygons that share edges."""
    points = checks.points3(vertices, "vertices")
    rows = [_row(polygon, at, len(points)) for at, polygon in enumerate(polygons)]  # type: ignore[arg-type]
    if not rows:
        raise GeometryError("a navigation mesh needs at least one polygon")
    # Equal vertices become one, the first of them.
    _, first, inverse, _ = distinct(points)
    same = first[inverse]
    sizes = np.array([len(row) for row in rows])
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    corners = same[np.concatenate(rows)].astype(np.int32)
    corners = turned_left(points, offsets, corners)
    neighbours = border(offsets, corners)
    ground, area = bare(points, offsets, corners, neighbours), _check_areas(areas, len(rows))
    return ground, area


def bare(
    points: NDArray[np.float64], offsets: NDArray[np.int64], corners: NDArray[np.int32], neighbours: NDArray[np.int32]
) -> PolyMesh:
    """A mesh whose surfaces are those of its polygons' corners, with only the vertices that it uses."""
    used = np.zeros(len(points), np.bool_)
    used[corners] = True
    number = (np.cumsum(used) - 1).astype(np.int32)
    return PolyMesh(
        np.ascontiguousarray(points[used]),
        offsets,
        number[corners],
        neighbours,
        np.empty((0, 3)),
        np.zeros(len(offsets), np.int64),
        np.empty((0, 3), np.int32),
    )


def _row(polygon: ArrayLike, at: int, count: int) -> NDArray[np.int64]:
    row = checks.numbers(polygon, f"polygon {at}", "at least 3 vertex numbers")
    if row.ndim != 1 or len(row) < 3 or row.dtype.kind not in "iu":
        raise GeometryError(f"polygon {at} must be at least 3 vertex numbers, not {checks.shown(polygon)}")
    if row.min() < 0 or row.max() >= count:
        raise GeometryError(f"polygon {at} names a vertex outside 0 to {count - 1}: {row.tolist()}")
    return row


def _check_areas(areas: ArrayLike | None, count: int) -> NDArray[np.uint8]:
    if areas is None:
        return np.ones(count, np.uint8)
    array = checks.numbers(areas, "areas")
    if (
        array.shape != (count,)
        or array.dtype.kind not in "iu"
        or (count and not 0 <= array.min() <= array.max() <= 255)
    ):
        raise ParameterError(f"areas must be a whole number from 0 to 255 for each of the {count} polygons")
    return array.astype(np.uint8)


def turned_left(
    points: NDArray[np.float64], offsets: NDArray[np.int64], corners: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The corners with every polygon counter-clockwise; refuses polygons that are not convex seen from above.

    A corner may be dented by a small angle, or by no more than the rounding of coordinates, which is no small angle
    where corners are close together.
    """
    result = corners.copy()
    frame = Frame.of(points)
    points, near = frame.local(points), frame.near
    for at in range(len(offsets) - 1):
        row = corners[offsets[at] : offsets[at + 1]]
        ring = points[row, :2]
        step = np.roll(ring, -1, axis=0) - ring
        length = np.hypot(*step.T)
        if len(set(row.tolist())) < len(row) or (length == 0).any():
            raise GeometryError(f"polygon {at} has the same corner twice: {row.tolist()}")
        # All corners lie on one side of every edge.
        x, y = ring[:, 0] - ring[:, :1], ring[:, 1] - ring[:, 1:]
        turn = step[:, :1] * y - step[:, 1:] * x
        far = np.hypot(x, y)
        limit = np.maximum(_FLAT * length[:, None] * far, near * (length[:, None] + far))
        area = turn[:, 0].sum()
        if (turn >= -limit).all() and area >= 0:
            continue
        if (turn <= limit).all() and area <= 0:
            result[offsets[at] : offsets[at + 1]] = row[::-1]
            continue
        raise GeometryError(f"polygon {at} is not convex seen from above: {row.tolist()}")
    return result


def border(offsets: NDArray[np.int64], corners: NDArray[np.int32]) -> NDArray[np.int32]:
    """The polygon beyond each edge: the one that has the same edge in the other direction."""
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    nexts = np.arange(1, len(corners) + 1)
    nexts[offsets[1:] - 1] = offsets[:-1]
    count = int(corners.max()) + 1
    ahead = corners.astype(np.int64) * count + corners[nexts]
    back = corners[nexts].astype(np.int64) * count + corners
    order = np.argsort(ahead, kind="stable")
    twice = np.flatnonzero(ahead[order][1:] == ahead[order][:-1])
    if twice.size:
        a, b = owners[order[twice[0]]], owners[order[twice[0] + 1]]
        raise GeometryError(f"polygons {a} and {b} lie on the same side of an edge, so they overlap")
    place = np.minimum(np.searchsorted(ahead[order], back), len(order) - 1)
    match = order[place]
    return np.where(ahead[match] == back, owners[match], -1).astype(np.int32)


def check_ground(ground: PolyMesh, areas: NDArray[Any]) -> None:
    """Refuse arrays that a kernel could read beyond."""
    count = len(ground.offsets) - 1
    wanted = (np.float64, np.int64, np.int32, np.int32, np.float64, np.int64, np.int32)
    for array, dtype, name in zip(ground, wanted, PolyMesh._fields, strict=True):
        if array.dtype != dtype or not array.flags.c_contiguous:
            raise GeometryError(f"{name} must be a C-contiguous {np.dtype(dtype)} array, not {array.dtype}")
    for array, name in ((ground.vertices, "vertices"), (ground.surface_points, "surface_points")):
        if array.ndim != 2 or array.shape[1] != 3 or not np.isfinite(array).all():
            raise GeometryError(f"{name} must be finite points of shape (n, 3), not {array.shape}")
    edges = len(ground.corners)
    for offsets, size, name in (
        (ground.offsets, edges, "offsets"),
        (ground.surface_offsets, len(ground.surface_triangles), "surface_offsets"),
    ):
        if offsets.shape != (count + 1,) or offsets[0] != 0 or offsets[-1] != size or (np.diff(offsets) < 0).any():
            raise GeometryError(f"{name} must rise from 0 to {size}")
    if count and np.diff(ground.offsets).min() < 3:
        raise GeometryError("a polygon has fewer than 3 corners")
    if areas.shape != (count,) or areas.dtype != np.uint8 or ground.neighbours.shape != (edges,):
        raise GeometryError("areas and neighbours must have one entry for each polygon and edge")
    for array, low, high, name in (
        (ground.corners, 0, len(ground.vertices), "corners"),
        (ground.neighbours, -1, count, "neighbours"),
        (ground.surface_triangles, 0, len(ground.surface_points), "surface_triangles"),
    ):
        if array.size and (array.min() < low or array.max() >= high):
            raise GeometryError(f"{name} must be from {low} to {high - 1}")
    twins = np.empty(edges, np.int32)
    if _interval_kernels.twin_edges(ground.offsets, ground.corners, ground.neighbours, 0, count, twins):
        raise GeometryError("neighbours must name each other across the same edge")


# --- files ---------------------------------------------------------------------------------------------------------


def read_polygons(file: File) -> tuple[PolyMesh, NDArray[np.uint8]]:
    """The mesh in a `.mesh` or `.obj` file."""
    kind = sniff(file)
    if kind not in ("mesh", "obj"):
        what = KINDS[kind].title if kind in KINDS else "a sample"
        raise FormatError(f"holds {what}: a mesh of polygons is read from .mesh and .obj files", file)
    data = read_text(file)
    try:
        return _read_mesh(file, data) if kind == "mesh" else _read_obj(file, data)
    except GeometryError as error:
        raise FormatError(str(error), file) from None


class _Words:
    """The numbers of a file that does not care for lines, taken one after the other."""

    def __init__(self, file: File, words: list[bytes]) -> None:
        self.file = file
        self.words = words
        self.at = 0

    def take(self, count: int, what: str, *, whole: bool = True) -> list[float]:
        part = self.words[self.at : self.at + count]
        if len(part) < count or count < 0:
            raise FormatError(f"the file ends before the {what}", self.file)
        try:
            numbers: list[float] = [int(word) if whole else float(word) for word in part]
        except ValueError:
            bad = next(word for word in part if not _is_number(word, whole))
            raise FormatError(f"the {what} should be a number, not {shown(bad)}", self.file) from None
        self.at += count
        return numbers

    def one(self, what: str) -> int:
        return int(self.take(1, what)[0])


def _is_number(word: bytes, whole: bool) -> bool:
    try:
        int(word) if whole else float(word)
    except ValueError:
        return False
    return True


def _read_mesh(file: File, data: bytes) -> tuple[PolyMesh, NDArray[np.uint8]]:
    words = data.split()
    if words[:1] != [b"mesh"]:
        raise FormatError("not a .mesh file: it does not begin with the word 'mesh'", file, 1)
    source = _Words(file, words[1:])
    version = source.one("version")
    if version not in (2, 3):
        raise FormatError(f"format {version} of .mesh is not known, only 2 and 3", file, 2)
    vertex_count, face_count = source.one("number of vertices"), source.one("number of polygons")
    if min(vertex_count, face_count) < 1 or vertex_count + face_count > len(words):
        raise FormatError(f"{vertex_count} vertices and {face_count} polygons cannot be", file, 3)
    points = np.zeros((vertex_count, 3))
    for at in range(vertex_count):
        points[at, :2] = source.take(2, f"position of vertex {at}", whole=False)
        if version == 2:
            source.take(source.one(f"neighbours of vertex {at}"), f"neighbours of vertex {at}")
    if not np.isfinite(points).all():
        raise FormatError("a vertex is not finite", file)
    base = version - 2  # format 3 counts from 1
    open_faces, rows, beyond = [], [], []
    for at in range(face_count):
        open_faces.append(version == 2 or source.one(f"kind of polygon {at}") != 0)
        size = source.one(f"size of polygon {at}")
        if size < 3:
            raise FormatError(f"polygon {at} has {size} corners, at least 3 are needed", file)
        row = np.array(source.take(size, f"corners of polygon {at}"), np.int64) - base
        if row.min() < 0 or row.max() >= vertex_count:
            raise FormatError(f"polygon {at} names a vertex that is not there", file)
        # Entry k is beyond the edge from corner k - 1 to corner k; ours is beyond the edge from k to k + 1.
        rows.append(row)
        beyond.append(np.roll(np.array(source.take(size, f"neighbours of polygon {at}"), np.int64), -1))
    if source.at < len(source.words):
        raise FormatError(f"there is more in the file than {face_count} polygons", file)
    kept = np.array(open_faces)
    if not kept.any():
        raise FormatError("no polygon of the file can be walked on", file)
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    sizes = np.array([len(row) for row, ok in zip(rows, open_faces, strict=True) if ok])
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    corners = np.concatenate([row for row, ok in zip(rows, open_faces, strict=True) if ok]).astype(np.int32)
    ahead = np.concatenate([row for row, ok in zip(beyond, open_faces, strict=True) if ok])
    if base:
        ahead = np.where(ahead > 0, ahead - 1, -1)  # negative: constrained, 0: nothing there
    if ahead.max(initial=-1) >= face_count:
        raise FormatError("a polygon names a neighbour that is not there", file)
    ahead = np.where(ahead >= 0, number[ahead], -1).astype(np.int32)
    turned = turned_left(points, offsets, corners)
    for at in np.flatnonzero(np.add.reduceat(turned != corners, offsets[:-1])).tolist():
        # Clockwise in the file (format 3 does not mind): edge k of the turned polygon is edge n - 2 - k of the old one.
        part = slice(offsets[at], offsets[at + 1])
        ahead[part] = np.roll(ahead[part][::-1], -1)
    ground = bare(points, offsets, turned, ahead)
    areas = np.ones(len(sizes), np.uint8)
    check_ground(ground, areas)
    return ground, areas


def _read_obj(file: File, data: bytes) -> tuple[PolyMesh, NDArray[np.uint8]]:
    vertices: list[list[float]] = []
    faces: list[list[int]] = []
    for number, line in enumerate(data.splitlines(), 1):
        words = line.split(b"#")[0].split()
        if not words:
            continue
        try:
            if words[0] == b"v":
                vertices.append([float(word) for word in words[1:4]])
                if len(vertices[-1]) != 3 or not np.isfinite(vertices[-1]).all():
                    raise ValueError
            elif words[0] == b"f":
                row = [int(word.split(b"/")[0]) for word in words[1:]]
                faces.append([at - 1 if at > 0 else len(vertices) + at for at in row])
        except ValueError:
            raise FormatError(f"not a vertex or face: {shown(line)}", file, number) from None
    if not faces:
        raise FormatError("there is no face in the file", file)
    return from_lists(np.array(vertices).reshape(-1, 3), faces)


def write_polygons(snapshot: MeshSnapshot, file: File, version: int) -> None:
    """Write the polygons of a mesh."""
    suffix = os.path.splitext(os.fspath(file).lower())[1]
    if suffix == ".obj":
        text = _format_obj(snapshot)
    elif suffix == ".mesh":
        text = _format_mesh(snapshot, checks.whole(version, "version", low=2, high=3))
    else:
        raise ParameterError(f"a navigation mesh is exported to .mesh and .obj files, not to {suffix or 'no ending'}")
    with replacing(file) as handle:
        handle.write(text.encode())


def _rows(array: NDArray[np.int32], offsets: NDArray[np.int64]) -> list[NDArray[np.int32]]:
    return np.split(array, offsets[1:-1])


def _format_obj(snapshot: MeshSnapshot) -> str:
    ground = snapshot.ground
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in snapshot.frame.world(ground.vertices).tolist()]
    lines += ["f " + " ".join(map(str, (row + 1).tolist())) for row in _rows(ground.corners, ground.offsets)]
    return "\n".join(lines) + "\n"


def _format_mesh(snapshot: MeshSnapshot, version: int) -> str:
    ground = snapshot.ground
    count = snapshot.num_polygons
    vertices = snapshot.frame.world(ground.vertices).tolist()
    lines = ["mesh", str(version), f"{len(ground.vertices)} {count}"]
    if version == 2:
        around = _around(snapshot)
        for (x, y, _), ring in zip(vertices, around, strict=True):
            lines.append(f"{x!r} {y!r} {len(ring)} {' '.join(map(str, ring))}")
    else:
        lines += [f"{x!r} {y!r}" for x, y, _ in vertices]
    base = version - 2
    for row, beyond in zip(
        _rows(ground.corners, ground.offsets), _rows(ground.neighbours, ground.offsets), strict=True
    ):
        ahead = np.roll(beyond, 1) + base
        head = f"{len(row)} " if version == 2 else f"1 {len(row)} "
        lines.append(head + " ".join(map(str, [*(row + base).tolist(), *ahead.tolist()])))
    return "\n".join(lines) + "\n"


def _around(snapshot: MeshSnapshot) -> list[list[int]]:
    """Polygons around each vertex, counter-clockwise; -1 for each gap between them."""
    ground = snapshot.ground
    owners, nexts = snapshot.topology.owners, snapshot.topology.nexts
    previous = np.empty_like(nexts)
    previous[nexts] = np.arange(len(nexts))
    here: list[dict[int, int]] = [{} for _ in range(len(ground.vertices))]
    for edge, (vertex, owner) in enumerate(zip(ground.corners.tolist(), owners.tolist(), strict=True)):
        here[vertex][owner] = edge
    result = []
    for edges in here:
        ring: list[int] = []
        waiting = dict(edges)
        # Begin behind a gap, if there is one: at a polygon with nothing before its own edge.
        starts = [owner for owner, edge in edges.items() if ground.neighbours[edge] not in edges]
        for start in [*starts, *edges]:
            owner = start
            while owner in waiting:
                edge = waiting.pop(owner)
                ring.append(owner)
                owner = int(ground.neighbours[previous[edge]])
                if owner not in edges:
                    ring.append(-1)
        result.append(ring)
    return result
