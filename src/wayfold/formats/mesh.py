"""Read and write triangle meshes: OBJ by a reader of our own, glTF, STL and PLY by trimesh.

trimesh reads OBJ as well, but drops and reorders vertices, cuts concave polygons wrongly and cannot say which line is
wrong. This reader keeps the file's order and takes about one and a half times as long.
"""

from __future__ import annotations

import io
import json
import os
import struct
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.core import checks
from wayfold.core.archive import File, replacing
from wayfold.core.checks import LARGEST
from wayfold.errors import FormatError, GeometryError, ParameterError, WayfoldError
from wayfold.formats._polygons import triangulate_faces
from wayfold.formats.opening import KINDS, sniff
from wayfold.formats.text import check_line, coordinates, read_bytes, read_text, shown, whole_numbers
from wayfold.geometry.frame import Frame
from wayfold.geometry.mesh import Mesh


class _Statements(NamedTuple):
    """The lines of a file, by what they say."""

    points: list[bytes]
    """``v`` lines."""
    faces: list[bytes]
    """``f`` lines."""
    seen: list[int]
    """How many points came before each face: negative vertex numbers count back from there."""
    materials: list[int]
    """Number of the ``usemtl`` name in force at each face."""
    groups: list[int]
    """Number of the ``g`` name in force at each face."""
    material_names: dict[bytes, int]
    group_names: dict[bytes, int]


def parse_obj(file: File, data: bytes) -> Mesh:
    """The mesh in the text of an OBJ file, coordinates as they are.

    Materials are the names after ``usemtl``, or where there are none, after ``g``.

    Raises
    ------
    FormatError
        With the line, when a vertex or a face is wrong.
    """
    lines = _logical_lines(data)
    said = _sort(lines)
    if not said.faces:
        raise FormatError("the file has no faces", file)
    try:
        vertices = _vertices(said.points)
        corners, counts = _corners(said.faces, np.array(said.seen), len(vertices))
    except (ValueError, OverflowError):
        raise _blame(file, lines, len(said.points)) from None
    vertices, triangles, faces = triangulate_faces(vertices, corners, counts)
    numbers, names = said.materials, said.material_names
    if not names:
        numbers, names = said.groups, said.group_names
    if not names:
        return Mesh(vertices, triangles)
    number = np.array(numbers, np.int32)
    spelled = [name.decode("utf-8", "replace") for name in names]
    if number.min() < 0:  # faces before the first name
        number += 1
        spelled.insert(0, "")
    return Mesh(vertices, triangles, number[faces], spelled)


def format_obj(mesh: Mesh) -> bytes:
    """The text of an OBJ file; coordinates keep every digit."""
    for name in mesh.material_names:
        if name:  # faces before the first name have an empty one
            check_line(name, "the name of a material")
        if " #" in f" {name}" or name.endswith("\\"):
            raise ParameterError(f"an OBJ file cannot hold the name of a material {checks.shown(name)}: use .glb")
    text = [f"v {x!r} {y!r} {z!r}\n" for x, y, z in mesh.vertices.tolist()]
    names = mesh.material_names
    current = None
    kinds = [None] * len(mesh) if mesh.materials is None else mesh.materials.tolist()
    for kind, (a, b, c) in zip(kinds, (mesh.triangles + 1).tolist(), strict=True):
        if kind != current:
            text.append(f"usemtl {names[kind] if kind < len(names) else kind}\n")
            current = kind
        text.append(f"f {a} {b} {c}\n")
    return "".join(text).encode()


def _logical_lines(data: bytes) -> list[bytes]:
    """Lines without comments; a continued line is joined in its first place and leaves the others empty."""
    lines = data.split(b"\n")
    if b"\\" in data:
        for i in range(len(lines) - 2, -1, -1):
            if lines[i].rstrip().endswith(b"\\"):
                lines[i] = lines[i].rstrip()[:-1] + b" " + lines[i + 1]
                lines[i + 1] = b""
    if b" #" in data:
        lines = [line.partition(b" #")[0] for line in lines]
    return lines


def _sort(lines: list[bytes]) -> _Statements:
    said = _Statements([], [], [], [], [], {}, {})
    material = group = -1
    for line in lines:
        head = line[:2]
        if head != b"v " and head != b"f ":
            words = line.split(None, 1)
            head = words[0] + b" " if words else b"#"
        if head == b"v ":
            said.points.append(line)
        elif head == b"f ":
            said.faces.append(line)
            said.seen.append(len(said.points))
            said.materials.append(material)
            said.groups.append(group)
        elif head == b"usemtl ":
            name = words[1].strip() if len(words) > 1 else b""
            material = said.material_names.setdefault(name, len(said.material_names))
        elif head == b"g ":
            name = words[1].strip() if len(words) > 1 else b""
            group = said.group_names.setdefault(name, len(said.group_names))
    return said


def _values(lines: list[bytes]) -> tuple[list[bytes], NDArray[np.int64]]:
    """The words of lines behind their first, and how many each line has."""
    words = b" ".join(lines).split()
    keys = words[::4]
    if len(words) == 4 * len(lines) and all(key in (b"v", b"f") for key in keys):
        # Every fourth word is a key and no value is one, so each line has three values. Most files are like that.
        del words[::4]
        return words, np.full(len(lines), 3)
    rows = [line.split() for line in lines]
    return [word for row in rows for word in row[1:]], np.array([len(row) - 1 for row in rows], np.int64)


def _vertices(lines: list[bytes]) -> NDArray[np.float64]:
    """The coordinates in ``v`` lines (weights and colours after them are left out)."""
    words, counts = _values(lines)
    if (counts < 3).any():
        raise ValueError("too few coordinates")
    if (counts > 3).any():
        words = [word for line in lines for word in line.split()[1:4]]
    return coordinates(words).reshape(-1, 3)


def _corners(lines: list[bytes], seen: NDArray[np.int64], vertices: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Vertex numbers (from 0) of all corners in ``f`` lines, and how many corners each face has."""
    words, counts = _values(lines)
    if (counts < 3).any():
        raise ValueError("too few corners")
    if any(b"/" in line for line in lines):
        words = [word.partition(b"/")[0] for word in words]
    numbers = whole_numbers(words)
    corners = np.where(numbers < 0, numbers + np.repeat(seen, counts), numbers - 1)
    if (numbers == 0).any() or corners.min() < 0 or corners.max() >= vertices:
        raise ValueError("no such vertex")
    return corners, counts


def _blame(file: File, lines: list[bytes], vertices: int) -> FormatError:
    """The error of the first line that is wrong."""
    seen = 0
    for number, line in enumerate(lines, 1):
        key = line.split(None, 1)[:1]
        try:
            if key == [b"v"]:
                seen += 1
                _vertices([line])
            elif key == [b"f"]:
                _corners([line], np.array([seen]), vertices)
        except (ValueError, OverflowError):
            what = (
                f"three coordinates within {LARGEST:g}"
                if key == [b"v"]
                else f"three or more vertex numbers from 1 to {vertices}"
            )
            return FormatError(f"expected {what}, not {shown(line.strip())}", file, number)
    return FormatError("a line of the file is invalid", file)  # pragma: no cover - one line fails alone


_COMPONENT_BYTES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_READABLE = ".obj, .glb, .gltf, .stl, .ply, .bsp and .city.json"
_WRITABLE = ".obj, .ply, .stl and .glb"
_LOST = 1e-6  # of the extent: what float32 may take from coordinates in a binary STL file


@checks.checked
def load_mesh(file: File, up: Literal["y", "z"] | None = None) -> Mesh:
    """Read a triangle mesh; the content tells its format (see `sniff`).

    Parameters
    ----------
    file : path
        OBJ, glTF (`.glb`, `.gltf`), STL, PLY, a Quake 3 level (`.bsp`, see `load_bsp`) or CityJSON (`.city.json`, see
        `load_cityjson`), each also compressed by gzip or xz.
    up : "z" or "y", optional
        The axis that points up in the file. With ``"y"`` every point (x, y, z) becomes (x, -z, y), so that z is up. By
        default ``"y"`` for glTF, whose specification says so, and ``"z"`` for everything else.

    Returns
    -------
    Mesh
        Vertices in the order of the file, with its duplicates; faces with more corners cut into triangles; nodes of a
        scene moved to their places; `materials` where the file names materials (or an OBJ file only groups). Units
        are those of the file.

    Raises
    ------
    FormatError
        When the file is missing, damaged, or has no triangles.

    Examples
    --------
    >>> roof = Mesh([(0, 0, 2), (4, 0, 2), (4, 3, 4)], [(0, 1, 2)])
    >>> save_mesh(roof, "roof.obj")
    >>> load_mesh("roof.obj").bounds.tolist()
    [[0.0, 0.0, 2.0], [4.0, 3.0, 4.0]]
    >>> load_mesh("roof.obj", up="y").bounds.tolist()  # as if y were up in the file
    [[0.0, -4.0, 0.0], [4.0, -2.0, 3.0]]
    """
    kind = sniff(file)
    if kind == "sample" or not KINDS[kind].is_mesh:
        what = "is a sample" if kind == "sample" else f"holds {KINDS[kind].title}"
        raise FormatError(f"{what}, not a mesh; meshes are {_READABLE} files", file)
    if up is None:
        up = "y" if kind in ("glb", "gltf") else "z"
    try:
        mesh = _load(file, kind)
    except GeometryError as error:
        raise FormatError(str(error), file) from None
    if up == "y":
        x, y, z = mesh.vertices.T
        mesh = Mesh(np.column_stack([x, -z, y]), mesh.triangles, mesh.materials, mesh.material_names)
    return mesh


@checks.checked
def save_mesh(mesh: Mesh, file: File) -> None:
    """Write a mesh to `.obj`, `.ply`, `.stl` or `.glb`, as the ending says.

    OBJ and PLY keep coordinates exactly. GLB keeps them as float32 relative to a local origin, which it gives to its
    nodes as their place, so a vertex moves by at most 6e-8 of the mesh's extent wherever the mesh lies. STL keeps them
    as float32, or is written as text with every digit where float32 would move a vertex by more than 1e-6 of the
    extent; it forgets which triangles share vertices. Materials are kept by OBJ, and by GLB with triangles in the order
    of their materials. GLB is written y up, as glTF asks and as `load_mesh` expects; the others are written z up.

    Raises
    ------
    ParameterError
        When the file has another ending.
    FormatError
        When the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> roof = Mesh([(0, 0, 2), (4, 0, 2), (4, 3, 4)], [(0, 1, 2)], [0], ["tiles"])
    >>> save_mesh(roof, "roof.obj")
    >>> print(Path("roof.obj").read_text())
    v 0.0 0.0 2.0
    v 4.0 0.0 2.0
    v 4.0 3.0 4.0
    usemtl tiles
    f 1 2 3
    """
    suffix = _suffix(file)
    if suffix == ".obj":
        data = format_obj(mesh)
    elif suffix == ".ply":
        data = _format_ply(mesh)
    elif suffix == ".stl":
        data = _format_stl(mesh)
    elif suffix == ".glb":
        data = _format_glb(mesh)
    else:
        raise ParameterError(f"cannot write a mesh to {suffix or 'a file without an ending'}: use {_WRITABLE}")
    with replacing(file) as handle:
        handle.write(data)


def _suffix(file: File) -> str:
    """The end of a file's name that tells its format."""
    name = os.fspath(file).lower()
    for packed in (".gz", ".xz"):
        name = name.removesuffix(packed)
    return os.path.splitext(name)[1]


def _load(file: File, kind: str) -> Mesh:
    if kind == "bsp":
        from wayfold.formats.quake import load_bsp

        return load_bsp(file).mesh
    if kind == "cityjson":
        from wayfold.formats.cityjson import load_cityjson

        return load_cityjson(file)
    if kind == "obj":
        return parse_obj(file, read_text(file))
    data = read_bytes(file) if kind == "glb" else read_text(file)
    try:
        return _load_trimesh(file, kind, data)
    except WayfoldError:
        raise
    except Exception as error:  # trimesh's readers meet damage with whatever it makes them raise
        raise FormatError(f"damaged .{kind} file: {error or type(error).__name__}", file) from error


def _load_trimesh(file: File, kind: str, data: bytes) -> Mesh:
    """A mesh through trimesh, after checks of what trimesh would believe."""
    import trimesh

    resolver = None
    if kind == "stl":
        _check_stl(file, data)
    elif kind == "ply":
        data = _with_every_digit(data)
    else:
        resolver = _Buffers(file, _check_gltf(file, kind, data))
    loaded = trimesh.load(io.BytesIO(data), file_type=kind, resolver=resolver, process=False)
    if isinstance(loaded, trimesh.Scene):
        return _flatten(file, loaded)
    if not isinstance(loaded, trimesh.Trimesh) or len(loaded.faces) == 0:
        raise FormatError("the file has no triangles", file)
    if kind == "ply":
        _check_ply(file, data, len(loaded.vertices), len(loaded.faces))
    return Mesh(loaded.vertices, loaded.faces)


class _Buffers:
    """Gives trimesh the buffers that a glTF file names, and no other file: textures say nothing of the geometry."""

    def __init__(self, file: File, names: set[str]) -> None:
        self._folder = os.path.dirname(os.fspath(file))
        self._names = names

    def __getitem__(self, name: str) -> bytes:
        return read_bytes(os.path.join(self._folder, name)) if name in self._names else b""


def _with_every_digit(data: bytes) -> bytes:
    """A PLY file whose numbers, where they are written as text, are read with every digit whatever type it names."""
    head, end, body = data.partition(b"end_header")
    if b"format ascii" not in head:
        return data
    for name in (b"float32", b"float"):
        head = head.replace(b"property " + name + b" ", b"property double ")
    return head + end + body


def _flatten(file: File, scene: Any) -> Mesh:
    """One mesh of all nodes of a scene, each in its place."""
    import trimesh

    meshes = []
    for node in sorted(scene.graph.nodes_geometry):  # trimesh gives them in no fixed order
        matrix, name = scene.graph[node]
        part = scene.geometry[name]
        if not isinstance(part, trimesh.Trimesh) or len(part.faces) == 0:
            continue
        faces = part.faces[:, ::-1] if np.linalg.det(matrix[:3, :3]) < 0 else part.faces
        material = getattr(getattr(part.visual, "material", None), "name", None) or name
        vertices = part.vertices @ matrix[:3, :3].T + matrix[:3, 3]
        meshes.append(Mesh(vertices, faces, np.zeros(len(faces), np.int32), [str(material)]))
    if not meshes:
        raise FormatError("the file has no triangles", file)
    return Mesh.concatenate(meshes)


def _check_stl(file: File, data: bytes) -> None:
    """Raise when an STL file is neither a whole binary nor a whole text one."""
    if len(data) >= 84 and len(data) == 84 + 50 * struct.unpack_from("<I", data, 80)[0]:
        return
    text = data.strip()
    if not text[:5].lower() == b"solid" or b"endsolid" not in text[-300:].lower():
        raise FormatError("neither a complete binary STL file nor a complete text one (solid ... endsolid)", file)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise FormatError("the STL text is not UTF-8", file, data.count(b"\n", 0, error.start) + 1) from None


def _check_ply(file: File, data: bytes, vertices: int, triangles: int) -> None:
    """Raise when a PLY file holds less than its header says (trimesh reads on, in text above all)."""
    head, _, body = data.partition(b"end_header")
    rows = 0
    for number, line in enumerate(head.split(b"\n"), 1):
        words = line.split()
        if len(words) == 3 and words[0] == b"element":
            rows += int(words[2])
            held = {b"vertex": vertices, b"face": triangles}.get(words[1], int(words[2]))
            if int(words[2]) > held:
                raise FormatError(f"the header promises {int(words[2])} but the file ends after {held}", file, number)
    if b"format ascii" in head:
        lines = [words for line in body.split(b"\n") if (words := line.split())]
        lists = b"property list" in head.rpartition(b"element")[2]
        if len(lines) < rows or (lists and len(lines[rows - 1]) <= int(lines[rows - 1][0])):
            last = data.rstrip().count(b"\n") + 1
            raise FormatError(f"the header promises {rows} rows but the file has fewer", file, last)


def _check_gltf(file: File, kind: str, data: bytes) -> set[str]:
    """Raise when a glTF file claims more data than there is: trimesh would make arrays of the claimed size.

    Returns the names of the files that its buffers lie in.
    """
    text = data
    if kind == "glb":
        if len(data) < 20 or data[:4] != b"glTF":
            raise FormatError("not a binary glTF file", file)
        version, length, size, chunk = struct.unpack_from("<III4s", data, 4)
        if version != 2 or chunk != b"JSON" or length > len(data) or size > len(data) - 20:
            raise FormatError("not a complete binary glTF 2 file", file)
        text = data[20 : 20 + size]
    try:
        tree = json.loads(text)
        buffers = tree.get("buffers", [])
        held = sum(_buffer_bytes(file, buffer, len(data)) for buffer in buffers)
        for number, accessor in enumerate(tree.get("accessors", [])):
            size = _COMPONENT_BYTES[accessor["componentType"]] * _COMPONENTS[accessor["type"]]
            if not 0 <= accessor["count"] * size <= held:
                raise FormatError(f"accessor {number} claims {accessor['count']} items, more than the file holds", file)
        return {str(buffer["uri"]) for buffer in buffers if not str(buffer.get("uri") or "data:").startswith("data:")}
    except FormatError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise FormatError(f"damaged glTF: {error}", file) from None


def _buffer_bytes(file: File, buffer: dict[str, Any], here: int) -> int:
    """Most bytes that a glTF buffer can hold: in this file, or in the one that it names."""
    uri = buffer.get("uri")
    if uri is None or uri.startswith("data:"):
        return here
    try:
        return os.path.getsize(os.path.join(os.path.dirname(os.fspath(file)), uri))
    except OSError:
        raise FormatError(f"buffer file {uri!r} not found", file) from None


def _format_ply(mesh: Mesh) -> bytes:
    faces = np.empty(len(mesh), [("count", "u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, mesh.triangles
    header = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(mesh.vertices)}\n"
        "property double x\nproperty double y\nproperty double z\n"
        f"element face {len(mesh)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    return header.encode() + mesh.vertices.astype("<f8").tobytes() + faces.tobytes()


def _format_stl(mesh: Mesh) -> bytes:
    low, high = mesh.bounds
    if np.abs(mesh.corners.astype(np.float32) - mesh.corners).max() > _LOST * (high - low).max():
        lines = [b"solid Wayfold\n"]
        for normal, corners in zip(mesh.normals.tolist(), mesh.corners.tolist(), strict=True):
            points = "".join(f"vertex {x!r} {y!r} {z!r}\n" for x, y, z in corners)
            lines.append(
                f"facet normal {' '.join(map(repr, normal))}\nouter loop\n{points}endloop\nendfacet\n".encode()
            )
        return b"".join([*lines, b"endsolid Wayfold\n"])
    facets = np.zeros(len(mesh), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("unused", "<u2")])
    facets["normal"], facets["corners"] = mesh.normals, mesh.corners
    return b"Wayfold".ljust(80) + struct.pack("<I", len(mesh)) + facets.tobytes()


def _format_glb(mesh: Mesh) -> bytes:
    import trimesh

    frame = Frame.of(mesh.vertices)
    x, y, z = frame.local(mesh.vertices).T
    vertices = np.column_stack([x, z, -y])
    place = np.eye(4)
    place[:3, 3] = frame.origin[0], frame.origin[2], -frame.origin[1]
    scene = trimesh.Scene()
    kinds: NDArray[Any] = np.zeros(len(mesh), np.int32) if mesh.materials is None else mesh.materials
    for kind in np.unique(kinds).tolist():
        used, corners = np.unique(mesh.triangles[kinds == kind], return_inverse=True)
        part = trimesh.Trimesh(vertices[used], corners.reshape(-1, 3), process=False)
        name = mesh.material_names[kind] if kind < len(mesh.material_names) else f"material {kind}"
        part.visual = trimesh.visual.TextureVisuals(material=trimesh.visual.material.PBRMaterial(name=name))
        scene.add_geometry(part, node_name=f"{kind:06d}", geom_name=f"{kind:06d}", transform=place)
    return bytes(scene.export(file_type="glb"))
