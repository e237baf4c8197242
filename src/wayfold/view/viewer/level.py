"""The level as it is shown: triangles by material, simplified where there are too many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from wayfold.core.arrays import distinct
from wayfold.errors import ParameterError
from wayfold.geometry import Mesh, TriangleIndex
from wayfold.view.viewer.layers import show_map
from wayfold.view.viewer.things import Colour, Layer, Points, Surface, label_colours
from wayfold.waypoints.voxels import VoxelWaypoints

# Materials of the samples and names that levels often use; others get a colour of their own.
_COLOURS: dict[str, Colour] = {
    "road": (122, 126, 134),
    "pavement": (186, 182, 172),
    "kerb": (160, 156, 148),
    "wall": (221, 204, 178),
    "roof": (168, 98, 82),
    "water": (110, 170, 210),
    "grass": (138, 178, 110),
    "tree": (86, 138, 82),
    "trunk": (120, 92, 68),
    "stairs": (200, 190, 170),
    "ramp": (200, 190, 170),
    "bridge": (176, 160, 140),
    "terrace": (205, 185, 160),
    "balcony": (198, 170, 140),
    "lamp": (70, 74, 82),
    "rail": (92, 98, 108),
    "column": (190, 184, 172),
    "ceiling": (210, 204, 194),
    "tunnel": (140, 136, 130),
    "floor": (214, 208, 194),
    "rock": (150, 144, 136),
    "sand": (226, 210, 164),
    "wood": (160, 124, 88),
}
_GROUND: Colour = (214, 208, 194)
_WALL: Colour = (172, 164, 156)
_CEILING: Colour = (140, 140, 146)
_EVERYTHING = 1 << 40
_GROUND_NORMAL = 0.7  # steeper than this is drawn as a wall where a level names no materials


def show_level(mesh: Mesh, most: int, below: float | None = None) -> Layer:
    """The triangles of a level, a surface for each material.

    Parameters
    ----------
    mesh : Mesh
    most : int, >= 1
        Triangles to send at most; a level of more is simplified, flat ground first (see `simplified`).
    below : float, metres, optional
        Triangles that lie wholly above this height are left out, to look into a building.
    """
    shown = np.arange(len(mesh))
    if below is not None:
        shown = shown[mesh.corners[:, :, 2].min(axis=1) <= below]
    if len(shown) <= most:
        return Layer(tuple(_by_material(mesh, shown)))
    kinds = None if mesh.materials is None else mesh.materials[shown]
    drawn = simplified(Mesh(mesh.vertices, mesh.triangles[shown], kinds, mesh.material_names), most)
    note = f"level: simplified from {len(shown):,} to {len(drawn):,} triangles; planning and clicking use all of them"
    return Layer(tuple(_by_material(drawn, np.arange(len(drawn)))), (note,))


def simplified(mesh: Mesh, most: int) -> Mesh:
    """A mesh of at most so many triangles that looks alike.

    Edges are collapsed where that moves the surface least (quadric error metrics, by fast-simplification, which the
    extra ``view`` brings); a triangle gets the material of what is nearest to its middle. What is still too much, or
    everything without that library, is left out by `largest`.
    """
    result = mesh
    try:
        from fast_simplification import simplify
    except ImportError:
        pass
    else:
        vertices, triangles = _welded(mesh.vertices, mesh.triangles)
        middle = vertices.mean(axis=0)
        moved, corners = simplify(vertices - middle, triangles, target_count=most)
        if len(corners):
            result = Mesh(moved + middle, np.asarray(corners, np.int32))
            if mesh.materials is not None:
                nearest = TriangleIndex(mesh).nearest(result.corners.mean(axis=1))[1]
                result = Mesh(result.vertices, result.triangles, mesh.materials[nearest], mesh.material_names)
    kept = largest(result, np.arange(len(result)), most)
    kinds = None if result.materials is None else result.materials[kept]
    return Mesh(result.vertices, result.triangles[kept], kinds, result.material_names)


def _welded(vertices: Points, triangles: NDArray[np.int32]) -> tuple[Points, NDArray[np.int32]]:
    """Vertices within a millimetre as one, since many files repeat them, and the triangles that are still triangles."""
    points, _, places, _ = distinct(np.round(vertices, 3))
    corners = places[triangles].astype(np.int32)
    a, b, c = corners.T
    return points, corners[(a != b) & (b != c) & (a != c)]


def largest(mesh: Mesh, triangles: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The `most` triangles that matter most to the eye, ascending: those of large connected parts, then large ones."""
    if len(triangles) <= most:
        return triangles
    areas = mesh.areas[triangles]
    places = distinct(np.round(mesh.vertices, 3)).inverse
    corners = places[mesh.triangles[triangles]]
    links = np.concatenate([corners[:, :2], corners[:, 1:]])
    size = int(corners.max()) + 1
    joined = coo_array((np.ones(len(links), np.int8), (links[:, 0], links[:, 1])), shape=(size, size))
    parts = connected_components(joined, directed=False)[1][corners[:, 0]]
    order = np.lexsort((areas, parts, np.bincount(parts, weights=areas)[parts]))
    return np.asarray(np.sort(triangles[order[-most:]]))


def _by_material(mesh: Mesh, triangles: NDArray[np.int64]) -> list[Surface]:
    if mesh.materials is None:
        rise = mesh.normals[triangles, 2]
        groups = [
            ("ground", _GROUND, triangles[rise >= _GROUND_NORMAL]),
            ("walls", _WALL, triangles[np.abs(rise) < _GROUND_NORMAL]),
            ("undersides", _CEILING, triangles[rise <= -_GROUND_NORMAL]),
        ]
    else:
        kinds = mesh.materials[triangles]
        groups = []
        for kind in np.unique(kinds).tolist():
            name = mesh.material_names[kind] if 0 <= kind < len(mesh.material_names) else f"material {kind}"
            groups.append((name, material_colour(name, kind), triangles[kinds == kind]))
    return [_surface(mesh, *group) for group in groups if len(group[2])]


def material_colour(name: str, number: int) -> Colour:
    """The colour of a material: by a word in its name, else by its number."""
    low = name.lower()
    for word, colour in _COLOURS.items():
        if word in low:
            return colour
    r, g, b = ((label_colours(np.array([number]))[0].astype(np.int64) + 2 * 190) // 3).tolist()
    return r, g, b


def _surface(mesh: Mesh, name: str, colour: Colour, triangles: NDArray[np.int64]) -> Surface:
    used, corners = np.unique(mesh.triangles[triangles], return_inverse=True)
    return Surface(name, mesh.vertices[used], corners.reshape(-1, 3).astype(np.int32), colour)


def map_mesh(map_: Any) -> Mesh:
    """The triangles that a world without any is shown and clicked by, made of its map of cells, voxels or regions."""
    if isinstance(map_, VoxelWaypoints):
        return _voxel_faces(map_.blocked)
    surfaces = [thing for thing in show_map(map_, None, "", _EVERYTHING).things if isinstance(thing, Surface)]
    if not surfaces:
        raise ParameterError(f"there is nothing to show of a {type(map_).__name__}")
    return Mesh(surfaces[0].vertices, surfaces[0].triangles)


def _voxel_faces(blocked: NDArray[np.bool_]) -> Mesh:
    """The faces between blocked and free voxels; voxel (x, y, z) has its middle at that point."""
    quads = []
    padded = np.pad(blocked, 1)
    for axis in range(3):
        step = np.diff(padded.astype(np.int8), axis=axis)
        for sign in (1, -1):
            # Before a blocked voxel the face looks down the axis, after it up.
            at = np.argwhere(step == sign).astype(np.float64) - 1.0
            at[:, axis] += 0.5
            u, v = np.eye(3)[(axis + 1) % 3] / 2, np.eye(3)[(axis + 2) % 3] / 2
            ring = np.array([-u - v, u - v, u + v, v - u])
            quads.append(at[:, None] + (ring if sign < 0 else ring[::-1]))
    corners = np.concatenate(quads).reshape(-1, 3)
    if not len(corners):
        raise ParameterError("nothing is blocked in this voxel map: there is nothing to show")
    first = 4 * np.arange(len(corners) // 4)[:, None, None]
    return Mesh(corners, (first + np.array([(0, 1, 2), (0, 2, 3)])).reshape(-1, 3))
