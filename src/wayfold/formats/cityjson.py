"""City models in CityJSON 1.0 to 2.0: triangulated surfaces whose materials are their semantic types.

cjio, the library for CityJSON, turns every surface into triangles one by one in nested Python lists and knows nothing
of a local origin; the file itself is plain JSON. So the surfaces are gathered here and cut by shapely's constrained
Delaunay triangulation, holes included.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.core.archive import File
from wayfold.core.checks import LARGEST
from wayfold.errors import FormatError, VersionError
from wayfold.formats._polygons import triangulate, triangulate_faces
from wayfold.formats.text import parse_json, read_bytes
from wayfold.geometry.mesh import Mesh

_DEPTHS = {"MultiSurface": 0, "CompositeSurface": 0, "Solid": 1, "MultiSolid": 2, "CompositeSolid": 2}
"""Lists around the surfaces of each type of geometry."""
_NO_AREA = ("MultiPoint", "MultiLineString")
_MAX_PLACED = 1 << 24  # vertices; a small file can place a large template very often
_VERSIONS = ("1.0", "1.1", "2.0")


@checks.checked
class CityMesh(Mesh):
    """A mesh in coordinates relative to a local origin, as `load_cityjson` reads it.

    Attributes
    ----------
    origin : (3,) float64 array, metres
        Offset subtracted from all coordinates: ``mesh.vertices + mesh.origin`` are the coordinates in the file.

    Examples
    --------
    >>> roof = CityMesh([(0, 0, 3), (4, 0, 3), (4, 3, 5)], [(0, 1, 2)], origin=(155000, 463000, 0))
    >>> (roof.vertices + roof.origin)[2].tolist()
    [155004.0, 463003.0, 5.0]
    """

    origin: NDArray[np.float64]

    def __init__(
        self,
        vertices: ArrayLike,
        triangles: ArrayLike,
        materials: ArrayLike | None = None,
        material_names: tuple[str, ...] | list[str] = (),
        origin: ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        super().__init__(vertices, triangles, materials, material_names)
        self.origin = checks.point3(origin, "origin")


class _Surfaces:
    """Surfaces of a whole file: rings of vertex numbers, and the material of each surface."""

    def __init__(self) -> None:
        self.rings: list[list[list[int]]] = []
        self.kinds: list[int] = []
        self.names: dict[str, int] = {}

    def add(self, rings: list[list[int]], name: str) -> None:
        self.rings.append(rings)
        self.kinds.append(self.names.setdefault(name, len(self.names)))


@checks.checked
def load_cityjson(file: File, *, lod: str | None = None) -> CityMesh:
    """Read the surfaces of a CityJSON file.

    Parameters
    ----------
    file : path
        CityJSON 1.0, 1.1 or 2.0, z up, metres.
    lod : str, optional
        Level of detail to read, such as ``"1"`` or ``"2.2"``; by default the highest of each city object.

    Returns
    -------
    CityMesh
        At a local origin (`CityMesh.origin`: whole metres in x and y, 0 in z), because national grids put cities
        hundreds of kilometres from theirs, where small numbers lose their last digits. Materials are the types of
        semantic surfaces (``RoofSurface``, ...), or of the city object (``Road``, ...) where it has none.

    Raises
    ------
    VersionError
        When the version is not supported.
    FormatError
        When the file is damaged or has no surface at that level of detail. The message names the city object.

    Examples
    --------
    >>> import json, pathlib
    >>> surface = {"type": "MultiSurface", "lod": "1", "boundaries": [[[0, 1, 2, 3]]]}
    >>> corners = [(155000, 463000, 2), (155008, 463000, 2), (155008, 463003, 2), (155000, 463003, 2)]
    >>> city = {"vertices": corners, "CityObjects": {"A1": {"type": "Road", "geometry": [surface]}}}
    >>> _ = pathlib.Path("a.city.json").write_text(json.dumps({"type": "CityJSON", "version": "1.1", **city}))
    >>> road = load_cityjson("a.city.json")
    >>> road.origin.tolist(), float(road.areas.sum()), road.material_names
    ([155000.0, 463000.0, 0.0], 24.0, ('Road',))
    """
    tree = parse_json(file, read_bytes(file))
    if not isinstance(tree, dict) or tree.get("type") != "CityJSON":
        raise FormatError("not CityJSON: the type is not 'CityJSON'", file)
    version = str(tree.get("version"))
    if version not in _VERSIONS:
        raise VersionError(f"CityJSON version {version[:20]!r} is not supported; use 1.0, 1.1 or 2.0", file)
    vertices = _coordinates(file, tree.get("vertices"), "vertices")
    vertices = _place(file, vertices, tree.get("transform"))
    if not (np.abs(vertices) <= LARGEST).all():
        raise FormatError(f"a vertex lies beyond {LARGEST:g} m", file)
    templates = _Templates(file, tree.get("geometry-templates"), len(vertices))
    surfaces = _Surfaces()
    objects = tree.get("CityObjects")
    if not isinstance(objects, dict):
        raise FormatError("CityObjects is not a JSON object", file)
    for name, thing in objects.items():
        try:
            for geometry in _geometries(thing, lod):
                instance = templates.place(geometry, vertices)
                _gather(surfaces, instance, str(thing["type"]), len(vertices) + templates.added)
        except FormatError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError) as error:
            raise FormatError(f"city object {name[:60]!r} is damaged: {error}", file) from None
    if not surfaces.rings:
        raise FormatError("the file has no surface" + (f" at level of detail {lod}" if lod else ""), file)
    return _mesh(file, np.concatenate([vertices, *templates.parts]), surfaces)


def _coordinates(file: File, value: Any, name: str) -> NDArray[np.float64]:
    try:
        points = np.array(value, np.float64).reshape(-1, 3) if value else np.empty((0, 3))
    except (TypeError, ValueError, OverflowError):
        raise FormatError(f"{name} is not a list of number triples", file) from None
    if not (np.abs(points) < np.inf).all():
        raise FormatError(f"{name} contains values that are not finite", file)
    return points


def _place(file: File, vertices: NDArray[np.float64], transform: Any) -> NDArray[np.float64]:
    """Vertices in the coordinates that the file means: its whole numbers scaled and moved."""
    if transform is None:
        return vertices
    try:
        scale, move = (np.array(transform[key], np.float64).reshape(3) for key in ("scale", "translate"))
    except (KeyError, TypeError, ValueError, OverflowError):
        raise FormatError("transform must have a scale and a translate of three numbers each", file) from None
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(vertices * scale + move)


def _geometries(thing: dict[str, Any], lod: str | None) -> list[dict[str, Any]]:
    """The geometries of a city object at one level of detail."""
    levels = [(str(geometry.get("lod", "")), geometry) for geometry in thing.get("geometry") or []]
    wanted = lod if lod is not None else max((level for level, _ in levels), default="", key=_rank)
    return [geometry for level, geometry in levels if level == wanted]


def _rank(level: str) -> float:
    try:
        return float(level)
    except ValueError:
        return -1.0


class _Templates:
    """Shapes that city objects place by a matrix; each placing adds its own vertices."""

    def __init__(self, file: File, value: Any, first: int) -> None:
        templates = value if isinstance(value, dict) else {}
        self.file = file
        self.shapes = templates.get("templates") or []
        self.corners = _coordinates(file, templates.get("vertices-templates"), "vertices-templates")
        self.first = first
        self.added = 0
        self.parts: list[NDArray[np.float64]] = []

    def place(self, geometry: dict[str, Any], vertices: NDArray[np.float64]) -> dict[str, Any]:
        """The geometry itself, or the shape that it places, with boundaries that name the added vertices."""
        if geometry["type"] != "GeometryInstance":
            return geometry
        shape = self.shapes[_number(geometry["template"], len(self.shapes))]
        matrix = np.array(geometry["transformationMatrix"], np.float64).reshape(4, 4)
        anchor = vertices[_number(geometry["boundaries"][0], len(vertices))]
        used = sorted(_named(shape["boundaries"], len(self.corners)))
        with np.errstate(over="ignore", invalid="ignore"):
            moved = self.corners[used] @ matrix[:3, :3].T + matrix[:3, 3] + anchor
        if not (np.abs(moved) <= LARGEST).all():
            raise ValueError(f"its template is placed beyond {LARGEST:g} m")
        numbers = {corner: self.first + self.added + k for k, corner in enumerate(used)}
        self.parts.append(moved)
        self.added += len(moved)
        if self.added > _MAX_PLACED:
            raise ValueError(f"its templates add up to more than {_MAX_PLACED} vertices")
        return {**shape, "boundaries": _renumber(shape["boundaries"], numbers)}


def _number(value: Any, count: int) -> int:
    if type(value) is not int or not 0 <= value < count:
        raise ValueError(f"{str(value)[:20]} is not a whole number from 0 to {count - 1}")
    return value


def _named(boundaries: Any, count: int) -> set[int]:
    """All vertex numbers in nested lists."""
    if isinstance(boundaries, list):
        return set().union(*(_named(part, count) for part in boundaries))
    return {_number(boundaries, count)}


def _renumber(boundaries: Any, numbers: dict[int, int]) -> Any:
    """Nested lists with other vertex numbers."""
    if isinstance(boundaries, list):
        return [_renumber(part, numbers) for part in boundaries]
    return numbers[boundaries]


def _gather(surfaces: _Surfaces, geometry: dict[str, Any], thing: str, count: int) -> None:
    """Add the surfaces of one geometry of a city object of type `thing`."""
    kind = geometry["type"]
    if kind in _NO_AREA:
        return
    if kind not in _DEPTHS:
        raise ValueError(f"unknown geometry type {str(kind)[:40]!r}")
    semantics = geometry.get("semantics") or {}
    types = [str(surface["type"]) for surface in semantics.get("surfaces") or []]
    for rings, number in _walk(geometry["boundaries"], semantics.get("values"), _DEPTHS[kind]):
        name = thing if number is None else types[_number(number, len(types))]
        whole = [[_number(corner, count) for corner in ring] for ring in rings]
        if not whole or min(map(len, whole)) < 3:
            raise ValueError("a ring has fewer than three vertices")
        surfaces.add(whole, name)


def _walk(boundaries: list[Any], values: Any, depth: int) -> Iterator[tuple[list[list[Any]], Any]]:
    """Each surface with its semantic number; `values` is nested like `boundaries`, or None from some level down."""
    given = values if isinstance(values, list) else [values] * len(boundaries)
    for part, value in zip(boundaries, given, strict=True):
        if depth:
            yield from _walk(part, value, depth - 1)
        else:
            yield part, value


def _mesh(file: File, vertices: NDArray[np.float64], surfaces: _Surfaces) -> CityMesh:
    """All surfaces as triangles, in the order of the file."""
    used = np.fromiter((corner for rings in surfaces.rings for ring in rings for corner in ring), np.int64)
    origin = np.append(np.floor(vertices[used, :2].min(axis=0)), 0.0)
    vertices = vertices - origin
    kinds = np.array(surfaces.kinds)
    simple = np.array([len(rings) == 1 for rings in surfaces.rings])
    triangles, owners = [np.empty((0, 3), np.int64)], [np.empty(0, np.int64)]
    if simple.any():
        flat = [rings[0] for rings in surfaces.rings if len(rings) == 1]
        counts = np.array([len(ring) for ring in flat])
        vertices, cut, faces = triangulate_faces(vertices, np.concatenate(flat), counts)
        triangles.append(cut)
        owners.append(np.flatnonzero(simple)[faces])
    for number in np.flatnonzero(~simple).tolist():
        rings = surfaces.rings[number]
        corners = np.concatenate(rings)
        cut, added = triangulate(vertices[corners], [len(ring) for ring in rings])
        numbers = np.concatenate([corners, np.arange(len(vertices), len(vertices) + len(added))])
        triangles.append(numbers[cut])
        owners.append(np.full(len(cut), number))
        vertices = np.concatenate([vertices, added]) if len(added) else vertices
    owner = np.concatenate(owners)
    if not len(owner):
        raise FormatError("every surface in the file has zero area", file)
    order = np.argsort(owner, kind="stable")
    return CityMesh(vertices, np.concatenate(triangles)[order], kinds[owner[order]], tuple(surfaces.names), origin)
