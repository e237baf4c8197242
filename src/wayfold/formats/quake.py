"""Quake 3 levels (`.bsp`, IBSP 46): what a player collides with, and where players and items appear.

The collision model is what the game moves players in: brushes (convex solids, each the common part of half-spaces) and
curved patches. Drawn faces are not part of it. Units are Quake's (a player is 56 high), z is up.

The container is 17 arrays of fixed records, so numpy reads it as it lies in the file; the bsp-tool library makes a
Python object of every record, which takes seconds for a level.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.core import checks
from wayfold.core.archive import File
from wayfold.errors import FormatError, GeometryError, VersionError
from wayfold.formats.text import read_bytes
from wayfold.geometry.mesh import Mesh

_NEAR = 0.05  # units; planes are float32 at coordinates in the thousands, and bevels cut tips of about this size
_PARALLEL = 1e-4  # sine of the angle below which two planes have no useful common line
_FAR = 262144.0  # units; no level reaches this far, so a brush that does is open
_BLOCK = 1 << 20  # line-plane pairs that are looked at together
_MAX_PIECES = 32

_Surface = tuple[NDArray[np.float64], NDArray[np.int64]]
_NOTHING: _Surface = (np.empty((0, 3)), np.empty((0, 3), np.int64))


def brush_faces(normals: NDArray[np.float64], distances: NDArray[np.float64]) -> _Surface:
    """Vertices and outward triangles of the solid ``normals @ p <= distances``; nothing when it has no volume.

    Every pair of planes meets in a line; what the other planes leave of that line is an edge of the solid. The surface
    is the convex hull of the ends of all edges, merged within 0.05 units. It is closed whatever rounding does, which
    faces gathered plane by plane are not: compilers add bevel planes that touch a brush along an edge, nearly.
    """
    # About a place between the planes: how far a line drifts from one that it hardly meets grows with the coordinates.
    middle = np.linalg.lstsq(normals, distances, rcond=None)[0] if len(normals) else np.zeros(3)
    corners = _merge(_edge_ends(normals, distances - normals @ middle) + middle)
    if len(corners) < 4:
        return _NOTHING
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(corners)
    except QhullError:  # flat
        return _NOTHING
    triangles = hull.simplices.astype(np.int64)
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a - corners.mean(axis=0)) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return corners, triangles


def _edge_ends(normals: NDArray[np.float64], distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Both ends of every edge of the solid, (2 e, 3)."""
    count = len(normals)
    first, second = np.triu_indices(count, 1)
    ends = [np.empty((0, 3))]
    for block in range(0, len(first), max(1, _BLOCK // max(count, 1))):
        rows = slice(block, block + max(1, _BLOCK // count))
        i, j = first[rows], second[rows]
        along = np.cross(normals[i], normals[j])
        sine = np.linalg.norm(along, axis=1)
        useful = sine > _PARALLEL
        i, j, along, sine = i[useful], j[useful], along[useful], sine[useful, None]
        at = distances[i, None] * np.cross(normals[j], along) + distances[j, None] * np.cross(along, normals[i])
        at /= sine**2
        along /= sine
        room = distances - at @ normals.T
        speed = along @ normals.T
        index = np.arange(len(i))
        for own in (i, j):  # a line does not leave its own planes, but for rounding
            room[index, own], speed[index, own] = 0.0, 0.0
        level = np.abs(speed) < _PARALLEL
        time = np.divide(room, speed, out=np.zeros_like(room), where=~level)
        last = np.where(~level & (speed > 0), time, np.inf).min(axis=1)
        start = np.where(~level & (speed < 0), time, -np.inf).max(axis=1)
        kept = (
            ((room >= -_NEAR) | ~level).all(axis=1) & (last - start > _NEAR) & (np.abs([start, last]) < np.inf).all(0)
        )
        ends += [at[kept] + start[kept, None] * along[kept], at[kept] + last[kept, None] * along[kept]]
    points = np.concatenate(ends)
    return points[(np.abs(points) < _FAR).all(axis=1)]


def _merge(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """One of each group of points that are nearer than `_NEAR` to each other."""
    kept: list[NDArray[np.float64]] = []
    while len(points):
        kept.append(points[0])
        points = points[(np.abs(points - points[0]) > _NEAR).any(axis=1)]
    return np.array(kept).reshape(-1, 3)


def patch_faces(control: NDArray[np.float64], facing: NDArray[np.float64], error: float) -> _Surface:
    """Vertices and triangles of a patch.

    Parameters
    ----------
    control : (h, w, 3) float64 array, h and w odd
        Control points; every 3 x 3 of them with even corners is one biquadratic Bezier surface.
    facing : (3,) or (h, w, 3) float64 array
        Normals of the control points, or one for all: the side that is seen. A pipe has its own for every part.
    error : float, units, > 0
        Largest distance between a curve and its pieces.
    """
    rows = _subdivide(np.concatenate([control, np.broadcast_to(facing, control.shape)], axis=2), error)
    grid = _subdivide(rows.transpose(1, 0, 2), error).transpose(1, 0, 2)
    height, width = grid.shape[:2]
    number = np.arange(height * width).reshape(height, width)
    a, b, c, d = (part.ravel() for part in (number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]))
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    vertices, normals = grid.reshape(-1, 6)[:, :3].copy(), grid.reshape(-1, 6)[:, 3:]
    at = vertices[triangles]
    areas = np.cross(at[:, 1] - at[:, 0], at[:, 2] - at[:, 0])
    turned = np.einsum("ij,ij->i", areas, normals[triangles].sum(axis=1)) < 0
    triangles[turned] = triangles[turned][:, ::-1]
    return vertices, triangles[(areas != 0).any(axis=1)]


def _subdivide(control: NDArray[np.float64], error: float) -> NDArray[np.float64]:
    """Points and normals on the quadratic curves down each column of a (2 n + 1, k, 6) array of control points."""
    pieces = [control[:1]]
    for top in range(0, len(control) - 1, 2):
        a, b, c = control[top : top + 3]
        # A quadratic curve leaves a chord over 1/n of it by |a - 2 b + c| / (4 n^2) at most.
        bend = float(np.linalg.norm((a - 2 * b + c)[:, :3], axis=1).max())
        count = min(_MAX_PIECES, max(1, math.ceil(math.sqrt(bend / (4 * error)))))
        t = (np.arange(1, count + 1) / count)[:, None, None]
        pieces.append((1 - t) ** 2 * a + 2 * t * (1 - t) * b + t**2 * c)
    return np.concatenate(pieces)


VERSION = 46
_HEADER = 8 + 17 * 8
_SOLID, _PLAYER_CLIP = 0x1, 0x10000  # contents
_SKY = 0x4  # surface flag
_PATCH = 2  # face type
_MATERIALS = ("solid", "clip", "sky", "patch")
_CARRIERS = ("trigger_push", "trigger_teleport")

_ENTITIES = 0
_LUMPS: dict[str, tuple[int, Any]] = {
    "textures": (1, [("name", "S64"), ("flags", "<i4"), ("contents", "<i4")]),
    "planes": (2, [("normal", "<f4", 3), ("distance", "<f4")]),
    "models": (7, [("box", "<f4", 6), ("face", "<i4"), ("faces", "<i4"), ("brush", "<i4"), ("brushes", "<i4")]),
    "brushes": (8, [("side", "<i4"), ("sides", "<i4"), ("texture", "<i4")]),
    "sides": (9, [("plane", "<i4"), ("texture", "<i4")]),
    "vertices": (10, [("position", "<f4", 3), ("uv", "<f4", 4), ("normal", "<f4", 3), ("colour", "u1", 4)]),
    "faces": (
        13,
        [
            *((name, "<i4") for name in ("texture", "effect", "type", "vertex", "vertices")),
            ("lighting", "<i4", 19),
            ("size", "<i4", 2),
        ],
    ),
}
_Lumps = dict[str, NDArray[Any]]

_TOKEN = re.compile(r'\s*(?:"([^"]*)"|([{}])|//[^\n]*)')


class SpawnPoint(NamedTuple):
    """A place that the level names: where players start, where items lie, where teleporters lead.

    >>> start = SpawnPoint("info_player_deathmatch", np.array([64.0, 0.0, 24.0]), angle=90.0)
    >>> start.kind.startswith("info_player"), start.position.tolist()
    (True, [64.0, 0.0, 24.0])
    """

    kind: str
    """The game's class name, such as ``"info_player_deathmatch"``."""
    position: NDArray[np.float64]
    """(3,), Quake units."""
    angle: float
    """Direction that it faces, degrees counter-clockwise from +x seen from above; 0 where the level says none."""


class Carrier(NamedTuple):
    """A place that moves players without their walking: a jump pad or a teleporter.

    >>> pad = Carrier("trigger_push", np.array([(0, 0, 0), (64, 64, 8)]), target=np.array([32.0, 256.0, 200.0]))
    >>> pad.box.mean(axis=0).tolist(), pad.target.tolist()  # a link from here to there
    ([32.0, 32.0, 4.0], [32.0, 256.0, 200.0])
    """

    kind: str
    """``"trigger_push"`` or ``"trigger_teleport"``."""
    box: NDArray[np.float64]
    """(2, 3), lowest and highest corner of the place, Quake units."""
    target: NDArray[np.float64]
    """(3,), the highest point of the flight, or where the teleporter leads."""


class Level(NamedTuple):
    """A Quake 3 level, as `load_bsp` reads it, in Quake units: a player is 56 high.

    >>> start = SpawnPoint("info_player_deathmatch", np.array([32.0, 32.0, 24.0]), 0.0)
    >>> floor = Mesh([(0, 0, 0), (64, 0, 0), (64, 64, 0), (0, 64, 0)], [(0, 1, 2), (0, 2, 3)])
    >>> level = Level(floor, [start], carriers=[])
    >>> [point.position.tolist() for point in level.points if point.kind.startswith("info_player")]
    [[32.0, 32.0, 24.0]]
    """

    mesh: Mesh
    """Collision surfaces; materials are ``solid``, ``clip`` (players only), ``sky`` and ``patch``."""
    points: list[SpawnPoint]
    """Every entity that has a place, in the order of the file."""
    carriers: list[Carrier]
    """Jump pads and teleporters that lead somewhere, in the order of the file."""


@checks.checked
def load_bsp(file: File, *, submodels: bool = False, patch_error: float = 4.0) -> Level:
    """Read the collision surfaces and the named places of a Quake 3 level.

    Parameters
    ----------
    file : path
        An IBSP 46 file, also with `.gz` or `.xz` behind.
    submodels : bool
        Also take the solid parts that move (doors, lifts, ...), where they are when the level starts.
    patch_error : float, Quake units, > 0
        How far the triangles of a curved patch may lie from the curve (no curve is cut finer than 32 pieces).

    Raises
    ------
    VersionError
        When it is the level of another game.
    FormatError
        When it is damaged or holds nothing solid.

    Examples
    --------
    >>> from pathlib import Path
    >>> from struct import pack
    >>> lumps = [b""] * 17  # one stone cube of 64 units with a place to start on it, as a map compiler writes it
    >>> lumps[0] = b'{"classname" "info_player_start" "origin" "32 32 88"}'
    >>> lumps[1] = pack("<64sii", b"stone", 0, 1)
    >>> lumps[2] = np.array([(*-normal, 0) for normal in np.eye(3)] + [(*n, 64) for n in np.eye(3)], "<f4").tobytes()
    >>> lumps[7], lumps[8], lumps[9] = pack("<36xi", 1), pack("<3i", 0, 6, 0), pack("<6q", *range(6))
    >>> spans = [(144 + len(b"".join(lumps[:k])), len(lumps[k])) for k in range(17)]
    >>> _ = Path("cube.bsp").write_bytes(b"IBSP" + pack("<35i", 46, *sum(spans, ())) + b"".join(lumps))
    >>> level = load_bsp("cube.bsp")
    >>> level.mesh, level.points[0].kind, level.points[0].position.tolist()
    (<Mesh: 12 triangles, 64 x 64 x 64 m>, 'info_player_start', [32.0, 32.0, 88.0])
    """
    patch_error = checks.number(patch_error, "patch_error", low=0.0, open_low=True)
    data = read_bytes(file)
    lumps, entities = _split(file, data)
    models = [(0, np.zeros(3))]
    if submodels:
        models += [place for entity in entities if (place := _submodel(entity, len(lumps["models"]))) is not None]
    kinds = _texture_kinds(lumps["textures"])
    parts: list[tuple[NDArray[np.float64], NDArray[np.int64], int]] = []
    for number, offset in models:
        model = lumps["models"][number]
        for brush in _records(file, lumps, "brushes", model["brush"], model["brushes"]):
            kind = kinds[_index(file, "texture", brush["texture"], len(kinds))]
            if kind >= 0:
                sides = _records(file, lumps, "sides", brush["side"], brush["sides"])
                vertices, triangles = brush_faces(*_planes(file, lumps, sides["plane"]))
                parts.append((vertices + offset, triangles, kind))
        for face in _records(file, lumps, "faces", model["face"], model["faces"]):
            if face["type"] == _PATCH and kinds[_index(file, "texture", face["texture"], len(kinds))] >= 0:
                vertices, triangles = _patch(file, lumps, face, patch_error)
                parts.append((vertices + offset, triangles, _MATERIALS.index("patch")))
    return Level(_join(file, parts), _points(entities), _carriers(entities, lumps["models"]))


def _split(file: File, data: bytes) -> tuple[_Lumps, list[dict[str, str]]]:
    """The arrays of a level by name, and its entities."""
    if data[:4] != b"IBSP" or len(data) < _HEADER:
        raise FormatError("not a Quake level: it does not start with a complete IBSP header", file)
    version = int.from_bytes(data[4:8], "little")
    if version != VERSION:
        raise VersionError(f"IBSP version {version} is not supported; only {VERSION} (Quake 3) is", file)
    spans = np.frombuffer(data, "<i4", 34, 8).reshape(17, 2).astype(np.int64)
    wrong = (spans < 0).any(axis=1) | (spans.sum(axis=1) > len(data))
    if wrong.any():
        raise FormatError(f"the file is truncated: part {int(np.argmax(wrong))} of the level lies behind its end", file)
    lumps = {}
    for name, (number, dtype) in _LUMPS.items():
        start, size = spans[number].tolist()
        itemsize = np.dtype(dtype).itemsize
        if size % itemsize:
            raise FormatError(f"the {name} of the level take {size} bytes, which is not a multiple of {itemsize}", file)
        lumps[name] = np.frombuffer(data, dtype, size // itemsize, start)
    if not len(lumps["models"]):
        raise FormatError("the level has no model", file)
    for name, field in (("planes", "normal"), ("planes", "distance"), ("vertices", "position"), ("vertices", "normal")):
        if not (np.abs(lumps[name][field]) <= checks.LARGEST).all():
            raise FormatError(f"the {name} of the level are not all within {checks.LARGEST:g}", file)
    start, size = spans[_ENTITIES].tolist()
    return lumps, _parse_entities(file, data[start : start + size].rstrip(b"\0").decode("latin-1"))


def _parse_entities(file: File, text: str) -> list[dict[str, str]]:
    """Entities as dictionaries: ``{ "key" "value" ... }`` one after the other."""
    entities: list[dict[str, str]] = []
    words: list[str] | None = None
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        word, brace = match.groups() if match else (None, "?")
        if brace == "{" and words is None:
            words = []
        elif brace == "}" and words is not None and len(words) % 2 == 0:
            entities.append(dict(zip(words[::2], words[1::2], strict=True)))
            words = None
        elif word is not None and words is not None:
            words.append(word)
        elif brace is not None or word is not None:
            raise FormatError(f"the entities are damaged at character {at}", file)
        assert match is not None
        at = match.end()
    if words is not None:
        raise FormatError("the last entity is incomplete", file)
    return entities


def _numbers(text: str | None, count: int) -> NDArray[np.float64] | None:
    """`count` numbers in a text that the geometry can carry, or None."""
    try:
        numbers = np.array([float(word) for word in (text or "").split()])
    except ValueError:
        return None
    return numbers if len(numbers) == count and (np.abs(numbers) <= checks.LARGEST).all() else None


def _points(entities: list[dict[str, str]]) -> list[SpawnPoint]:
    points = []
    for entity in entities:
        position = _numbers(entity.get("origin"), 3)
        if position is not None and "model" not in entity:
            angle, angles = _numbers(entity.get("angle"), 1), _numbers(entity.get("angles"), 3)
            turn = angle[0] if angle is not None else angles[1] if angles is not None else 0.0
            points.append(SpawnPoint(entity.get("classname", ""), position, float(turn)))
    return points


def _carriers(entities: list[dict[str, str]], models: NDArray[Any]) -> list[Carrier]:
    """Jump pads and teleporters; where a target has several places, the first one counts."""
    targets: dict[str, NDArray[np.float64]] = {}
    for entity in entities:
        position = _numbers(entity.get("origin"), 3)
        if position is not None and "targetname" in entity:
            targets.setdefault(entity["targetname"], position)
    found = []
    for entity in entities:
        place, kind = _submodel(entity, len(models)), entity.get("classname", "")
        if place is not None and kind in _CARRIERS and entity.get("target") in targets:
            box = models[place[0]]["box"].astype(np.float64).reshape(2, 3) + place[1]
            found.append(Carrier(kind, box, targets[entity["target"]]))
    return found


def _submodel(entity: dict[str, str], models: int) -> tuple[int, NDArray[np.float64]] | None:
    """Number and place of the moving part that an entity is, if it is one."""
    name = entity.get("model", "")
    if not re.fullmatch(r"\*[0-9]{1,6}", name) or not 0 < int(name[1:]) < models:
        return None
    offset = _numbers(entity.get("origin"), 3)
    return int(name[1:]), np.zeros(3) if offset is None else offset


def _texture_kinds(textures: NDArray[Any]) -> NDArray[np.int64]:
    """Material number of each texture, -1 where players pass."""
    solid, clip = (textures["contents"] & bit != 0 for bit in (_SOLID, _PLAYER_CLIP))
    sky = textures["flags"] & _SKY != 0
    return np.select([~(solid | clip), sky, solid], [-1, _MATERIALS.index("sky"), _MATERIALS.index("solid")], 1)


def _index(file: File, name: str, number: Any, count: int) -> int:
    if not 0 <= number < count:
        raise FormatError(f"{name} {number} is used but there are only {count}", file)
    return int(number)


def _records(file: File, lumps: _Lumps, name: str, first: Any, count: Any) -> NDArray[Any]:
    """A run of records that another record names."""
    first, count = int(first), int(count)
    if first < 0 or count < 0 or first + count > len(lumps[name]):
        raise FormatError(f"{name} {first} to {first + count - 1} are used but there are only {len(lumps[name])}", file)
    return lumps[name][first : first + count]


def _planes(file: File, lumps: _Lumps, numbers: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Normals and distances of numbered planes."""
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < len(lumps["planes"])):
        raise FormatError(f"a brush refers to a plane outside 0 to {len(lumps['planes']) - 1}", file)
    planes = lumps["planes"][np.unique(numbers)]
    return planes["normal"].astype(np.float64), planes["distance"].astype(np.float64)


def _patch(file: File, lumps: _Lumps, face: Any, error: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    width, height = (int(size) for size in face["size"])
    if width < 3 or height < 3 or width % 2 == 0 or height % 2 == 0 or width * height != face["vertices"]:
        raise FormatError(f"a patch has {width} x {height} points: both must be odd and at least 3", file)
    control = _records(file, lumps, "vertices", face["vertex"], face["vertices"])
    positions = control["position"].astype(np.float64).reshape(height, width, 3)
    return patch_faces(positions, control["normal"].astype(np.float64).reshape(height, width, 3), error)


def _join(file: File, parts: list[tuple[NDArray[np.float64], NDArray[np.int64], int]]) -> Mesh:
    starts = np.cumsum([0] + [len(vertices) for vertices, _, _ in parts])
    if not any(len(triangles) for _, triangles, _ in parts):
        raise FormatError("the level has no solid surfaces", file)
    try:
        return Mesh(
            np.concatenate([vertices for vertices, _, _ in parts]),
            np.concatenate([triangles + start for (_, triangles, _), start in zip(parts, starts, strict=False)]),
            np.concatenate([np.full(len(triangles), kind, np.int32) for _, triangles, kind in parts]),
            _MATERIALS,
        )
    except GeometryError as error:
        raise FormatError(str(error), file) from None
