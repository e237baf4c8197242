"""`wayfold.open`: one front door for every kind of file.

The content of a file decides what it is, and the ending of its name only where the content is ambiguous: a level saved
under a wrong name opens, and a damaged file is reported by the reader for its ending.
"""

from __future__ import annotations

import importlib
import os
import re
from functools import reduce
from typing import Any, Literal, NamedTuple

from wayfold.core import checks
from wayfold.core.archive import File
from wayfold.errors import FormatError, ParameterError
from wayfold.formats.text import parse_json, read_bytes, read_head, without_mark

__all__ = ["KINDS", "Kind", "open", "sniff"]

_SAMPLE = "sample:"
_WHOLE_STL = (84, 50)  # bytes before the triangles of a binary STL file, and of each
_STATEMENTS = 50  # of an OBJ file that are looked at


class Kind(NamedTuple):
    """A kind of file that Wayfold reads; `KINDS` holds them all.

    >>> KINDS["map"].title, KINDS["map"].endings
    ('a MovingAI map', ('.map',))
    >>> [name for name, kind in KINDS.items() if kind.is_mesh]
    ['obj', 'ply', 'stl', 'glb', 'gltf', 'bsp', 'cityjson']
    """

    title: str
    """Its name in messages, with an article."""
    endings: tuple[str, ...]
    """Usual file endings."""
    module: str
    reader: str
    """Module and name of the reader."""
    is_mesh: bool = False
    """Whether it holds triangles: `load_mesh` reads it, and it has an up axis."""


def _mesh(title: str, *endings: str) -> Kind:
    return Kind(title, endings, "wayfold.formats.mesh", "load_mesh", True)


KINDS: dict[str, Kind] = {
    "obj": _mesh("an OBJ mesh", ".obj"),
    "ply": _mesh("a PLY mesh", ".ply"),
    "stl": _mesh("an STL mesh", ".stl"),
    "glb": _mesh("a binary glTF scene", ".glb"),
    "gltf": _mesh("a glTF scene", ".gltf"),
    "bsp": _mesh("a Quake 3 level", ".bsp"),
    "cityjson": _mesh("a CityJSON model", ".city.json", ".cityjson"),
    "geojson": Kind("GeoJSON polygons", (".geojson",), "wayfold.formats.geojson", "load_geojson"),
    "map": Kind("a MovingAI map", (".map",), "wayfold.formats.movingai", "load_map"),
    "3dmap": Kind("a MovingAI voxel map", (".3dmap",), "wayfold.formats.movingai", "load_map3d"),
    "scen": Kind("MovingAI scenarios", (".scen",), "wayfold.formats.movingai", "load_scen"),
    "3dscen": Kind("MovingAI voxel scenarios", (".3dscen",), "wayfold.formats.movingai", "load_scen"),
    "mesh": Kind("a mesh of polygons", (".mesh",), "wayfold.navmesh", "NavMesh.read"),
    "wayfold": Kind("a saved map", (".wayfold",), "wayfold.formats.load", "load"),
}
"""Supported kinds of files, by the name that `sniff` returns."""


@checks.checked
def sniff(file: File) -> str:
    """Return what kind of file this is: one of `KINDS`, or ``"sample"`` for ``"sample:NAME"``.

    The content decides, and the file ending only where the content is ambiguous. Compressed files (gzip, xz) count as
    what they contain.

    Raises
    ------
    FormatError
        When the file is missing, unreadable, empty, or of an unknown kind.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from wayfold import formats
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "level.txt")
    ...     formats.save_map([[True, False]], file)
    ...     sniff(file)
    'map'
    """
    if os.fspath(file).startswith(_SAMPLE):
        return "sample"
    head = without_mark(read_head(file))
    named = _kind_by_name(file)
    found = (
        _kind_of_binary(file, head, named) or _kind_of_json(file, head, named) or _kind_of_text(head, named) or named
    )
    if found is None:
        raise FormatError(_unknown(file, head), file)
    return found


@checks.checked
def open(file: File, *, up: Literal["y", "z"] | None = None, **options: Any) -> Any:
    """Read any file that Wayfold supports, whatever it is called: the content decides what it is.

    Parameters
    ----------
    file : path
        One of `formats.KINDS`, also compressed (gzip, xz), or ``"sample:NAME"`` for a procedural world.
    up : "z" or "y", optional
        For meshes, the axis that points up in the file: see `formats.load_mesh`.
    **options
        Options of a sample: `seed`, `size`, ...

    Returns
    -------
    object
        What the file holds: a `Mesh` (OBJ, PLY, STL, glTF, Quake 3 levels, CityJSON), a `MovingAiMap` or `Map3D`, their
        scenarios, a list of `Feature` (GeoJSON), a `NavMesh` (`.mesh`), the saved object (`.wayfold`), or what
        `samples.make` returns. `World.open` makes a world from every geometry among them.

    Raises
    ------
    FormatError
        When the file is missing, damaged, or of an unknown kind.
    ParameterError
        When an option does not apply to this kind of file.

    Examples
    --------
    >>> import wayfold
    >>> wayfold.open("sample:maze", width=4, height=3).cells.shape
    (7, 9)
    """
    kind = sniff(file)
    if kind == "sample":
        if up is not None:
            raise ParameterError(f"up is for mesh files: {os.fspath(file)} is z-up")
        samples = importlib.import_module("wayfold.samples")
        return samples.make(os.fspath(file)[len(_SAMPLE) :], **options)
    title, _, module, reader, is_mesh = KINDS[kind]
    if up is not None and not is_mesh:
        raise ParameterError(f"up is for meshes: {os.fspath(file)} holds {title}")
    if options:
        raise ParameterError(
            f"unknown option {checks.shown(next(iter(options)))} for {os.fspath(file)}, which holds {title}"
        )
    read = reduce(getattr, reader.split("."), importlib.import_module(module))
    return read(file, up) if is_mesh else read(file)  # type: ignore[operator]


# --- what the content says -----------------------------------------------------------------------------------------


def _kind_by_name(file: File) -> str | None:
    name = os.fspath(file).lower()
    for packed in (".gz", ".xz"):
        name = name.removesuffix(packed)
    for kind, known in KINDS.items():
        if name.endswith(known.endings):
            return kind
    return None


_MAGIC = {b"IBSP": "bsp", b"VBSP": "bsp", b"glTF": "glb", b"PK\3\4": "wayfold", b"ply\n": "ply", b"ply\r": "ply"}


def _kind_of_binary(file: File, head: bytes, named: str | None) -> str | None:
    for magic, kind in _MAGIC.items():
        if head.startswith(magic):
            return kind
    before, each = _WHOLE_STL
    count = int.from_bytes(head[before - 4 : before], "little")
    if len(head) > before and count:
        size = os.path.getsize(file)
        whole = before + each * count
        if size == whole or (named in (None, "stl") and size < whole and len(read_bytes(file)) == whole):
            return "stl"  # the second where it is compressed
    return None


_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*)"|([{}\[\]:,])|[^\s"{}\[\]:,]+', re.DOTALL)
_OF_GLTF = {"asset", "accessors", "bufferViews", "meshes"}
_OF_GEOJSON = {
    "FeatureCollection", "Feature", "GeometryCollection", "Point", "MultiPoint", "LineString", "MultiLineString",
    "Polygon", "MultiPolygon",
}  # fmt: skip


def _kind_of_json(file: File, head: bytes, named: str | None) -> str | None:
    if head.lstrip()[:1] not in (b"{", b"["):
        return None
    kind = _json_kind(*_top_level(head))
    if kind is None and named is None:
        # The word that decides stands behind what was read so far; damaged JSON is reported with its line.
        tree = parse_json(file, read_bytes(file))
        top = tree if isinstance(tree, dict) else {}
        kind = _json_kind(top.get("type"), set(top))
        if kind is None:
            raise FormatError("holds JSON that is neither CityJSON, nor GeoJSON, nor glTF", file)
    return kind


def _json_kind(type_: Any, keys: set[str]) -> str | None:
    if type_ == "CityJSON":
        return "cityjson"
    if isinstance(type_, str) and type_ in _OF_GEOJSON:
        return "geojson"
    return "gltf" if keys & _OF_GLTF else None


def _top_level(text: bytes) -> tuple[str | None, set[str]]:
    """The value of "type" and the top-level keys of a JSON object whose end may be missing."""
    depth, key, last = 0, None, b""
    keys: set[str] = set()
    type_ = None
    for token in _TOKEN.finditer(text):
        word, mark = token.group(1), token.group(2)
        if mark in (b"{", b"["):
            depth += 1
        elif mark in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and mark == b":":
            key = last.decode("utf-8", "replace")
            keys.add(key)
        elif depth == 1 and mark == b",":
            key = None
        elif depth == 1 and word is not None:
            last = word
            if key == "type":
                type_ = word.decode("utf-8", "replace")
    return type_, keys


_OF_OBJ = {
    b"v", b"vt", b"vn", b"vp", b"f", b"l", b"p", b"o", b"g", b"s", b"mg", b"mtllib", b"usemtl", b"maplib", b"usemap",
}  # fmt: skip


def _kind_of_text(head: bytes, named: str | None) -> str | None:
    if b"\0" in head:
        return None
    lines = [words for line in head.split(b"\n") if (words := line.split())]
    if not lines:
        return None
    first, count = lines[0][0].lower(), len(lines[0])
    if first in (b"type", b"height", b"width") and count == 2:
        octile = first == b"type" and lines[0][1] in (b"octile", b"tile")
        return "map" if octile or [b"map"] in lines[1:4] else None
    if first == b"voxel" and count == 4:
        return "3dmap"
    if first == b"version" and count == 2 and lines[0][1].replace(b".", b"").isdigit():
        if named in ("scen", "3dscen") and len(lines) == 1:
            return named
        return "3dscen" if len(lines) > 1 and len(lines[1]) == 1 else "scen"
    if first == b"mesh" and b" ".join(b" ".join(words) for words in lines[:2]).split()[1:2] in ([b"2"], [b"3"]):
        return "mesh"
    if first == b"solid" and any(words[0].lower() in (b"facet", b"endsolid") for words in lines[1:]):
        return "stl"
    said = [words for words in lines if not words[0].startswith(b"#")][:_STATEMENTS]
    if any(map(_is_vertex, said)) and all(words[0] in _OF_OBJ for words in said[:-1]):  # the last one may be cut
        return "obj"
    return None


def _is_vertex(words: list[bytes]) -> bool:
    try:
        return words[0] == b"v" and len(words) > 3 and all(abs(float(word)) < float("inf") for word in words[1:4])
    except ValueError:
        return False


def _unknown(file: File, head: bytes) -> str:
    """Describe a file of an unknown kind."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        found = "UTF-16 text (save it as UTF-8)"
    elif all(32 <= byte < 127 or byte in b"\t\r\n" for byte in head[:24]):
        found = f"text that starts with {checks.shown(head[:24].decode())}"
    else:
        found = f"binary data that starts with {head[:8].hex(' ')}"
    ending = os.path.splitext(os.fspath(file))[1]
    name = f" and the ending {checks.shown(ending)} is unknown" if ending else " and its name has no ending"
    known = ", ".join(kind.endings[0] for kind in KINDS.values())
    return f"holds {found},{name}: Wayfold opens {known} files and sample:NAME"
