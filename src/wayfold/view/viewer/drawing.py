"""What a scene is made of, as plain arrays that any front end can draw: the level, the planner's map, markers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from wayfold.agent import Motion
from wayfold.core.arrays import distinct, offsets_of
from wayfold.errors import ParameterError
from wayfold.geometry import Mesh, TriangleIndex
from wayfold.grid import SparseGrid
from wayfold.hierarchy import Hierarchy
from wayfold.navmesh import NavMesh
from wayfold.subregions import SubregionGraph
from wayfold.terrain import Terrain
from wayfold.waypoints import WaypointGraph
from wayfold.waypoints.voxels import VoxelWaypoints

Colour = tuple[int, int, int]
Colours = NDArray[np.uint8]
Points = NDArray[np.float64]

PLAIN: Colour = (46, 160, 140)
ISLAND: Colour = (170, 172, 178)
ROUTE: Colour = (209, 73, 91)
EXPANDED_COLOUR: Colour = (245, 158, 11)
START: Colour = (43, 147, 72)
GOAL: Colour = (209, 73, 91)
BLOCK: Colour = (194, 65, 12)
_SHADES = 28  # so few that a surface of many parts becomes few meshes of one colour each


@dataclass(frozen=True)
class Surface:
    """Triangles; `colours` is one colour, or one for each triangle."""

    name: str
    vertices: Points
    triangles: NDArray[np.int32]
    colours: Colour | Colours


@dataclass(frozen=True)
class Dots:
    """Points with a colour each, `size` metres across."""

    name: str
    points: Points
    colours: Colours
    size: float


@dataclass(frozen=True)
class Lines:
    """Straight pieces, (k, 2, 3), with a colour each, `width` metres wide."""

    name: str
    pieces: Points
    colours: Colours
    width: float


Thing = Surface | Dots | Lines


@dataclass(frozen=True)
class Layer:
    """Things to draw, and what was left out so that the browser stays quick."""

    things: tuple[Thing, ...] = ()
    notes: tuple[str, ...] = ()
    legend: tuple[tuple[str, Colour], ...] = ()
    opacity: float | None = None
    """Of its surfaces; None hides what is behind them."""


def label_colours(labels: NDArray[Any]) -> Colours:
    """A colour for each label from 0, the colours of a palette in turn; grey below 0."""
    numbers = np.asarray(labels, np.int64)
    colours = _palette()[numbers % _SHADES]
    colours[numbers < 0] = ISLAND
    return colours


@cache
def _palette() -> Colours:
    """Colours of which neighbouring numbers are far apart on the wheel."""
    from matplotlib.colors import hsv_to_rgb

    numbers = np.arange(_SHADES)
    turn = (numbers * 0.6180339887) % 1.0
    light = 0.68 + 0.27 * ((numbers * 0.7548776662) % 1.0)
    return np.asarray(255 * hsv_to_rgb(np.column_stack([turn, np.full(_SHADES, 0.62), light])), np.uint8)


def one_colour(colour: Colour, count: int) -> Colours:
    """The same colour `count` times."""
    return np.tile(np.array(colour, np.uint8), (count, 1))


def evenly(count: int, most: int) -> NDArray[np.int64]:
    """At most `most` of `count` places, evenly spread."""
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).astype(np.int64)


def up(metres: float) -> Points:
    """A step upwards."""
    return np.array([0.0, 0.0, metres])


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


_LIFT = 0.08  # metres that a map is drawn above its ground, so that both are seen
_MOTION_COLOURS: dict[str, Colour] = {
    "surface": (34, 160, 90),
    "adhesive": (150, 80, 200),
    "volumetric": (60, 130, 235),
}
_FAINT, _CLEAR = 0.3, 0.75  # opacity of a map over its level: in one colour, and in the colours of its parts
_WEIGHT_SHADES = 24  # of weights
_PORTAL: Colour = (179, 0, 27)

PLAINLY = "plain"
ISLANDS = "islands"
REGIONS = "regions"
SUBREGIONS = "subregions"
MOTIONS = "motion types"
WEIGHTS = "weights"


def colourings(map_: Any, accelerator: Any) -> list[str]:
    """What a map can be coloured by, the usual one first."""
    if isinstance(map_, WaypointGraph):
        names = [MOTIONS, REGIONS]
    elif isinstance(map_, SparseGrid):
        names = [REGIONS, PLAINLY]
    elif isinstance(map_, Terrain):
        names = [WEIGHTS]
    else:
        names = [PLAINLY, ISLANDS]
    if isinstance(accelerator, SubregionGraph):
        names.insert(1, SUBREGIONS)
    if isinstance(accelerator, Hierarchy):
        names += [f"level {number}" for number in range(1, accelerator.num_levels + 1)]
    return names


def show_map(map_: Any, accelerator: Any, colouring: str, most: int) -> Layer:
    """A map in one of its `colourings`.

    Parameters
    ----------
    map_, accelerator
        Of a planner.
    colouring : str
    most : int, >= 1
        Triangles or dots to send at most; what is left out stands in the notes.
    """
    if isinstance(map_, NavMesh):
        return _polygons(map_, accelerator, colouring, most)
    if isinstance(map_, WaypointGraph):
        return _waypoints(map_, accelerator, colouring, most)
    if isinstance(map_, SparseGrid):
        return _cells(map_, colouring, most)
    if isinstance(map_, Terrain):
        return _triangles(map_, most)
    return Layer(notes=(f"map: there is no picture of a {type(map_).__name__}",))


def _level(colouring: str) -> int:
    return int(colouring.removeprefix("level ")) if colouring.startswith("level ") else 0


def _subregions(accelerator: SubregionGraph) -> NDArray[np.int64]:
    """The subregion of each node, -1 for none."""
    labels = accelerator.labels.astype(np.int64)
    labels[labels == accelerator.no_label] = -1
    return labels


def _polygons(navmesh: NavMesh, accelerator: Any, colouring: str, most: int) -> Layer:
    rings = navmesh.polygons  # once: it is cut up anew each time
    sizes = np.array([len(ring) for ring in rings])
    islands = navmesh.components
    area = np.bincount(islands, weights=navmesh.polygon_areas)
    main = islands == np.argmax(area)
    things: list[Thing] = []
    level = _level(colouring)
    if level and isinstance(accelerator, Hierarchy) and len(accelerator.partition.order) == len(sizes):
        colours = label_colours(accelerator.partition.labels(level))
        portals = navmesh.graph.points[accelerator.portals(level)].astype(np.float64)
        portals = portals[evenly(len(portals), most // 2)] + up(3 * _LIFT)
        things.append(Dots("portals", portals, one_colour(_PORTAL, len(portals)), 0.5))
    elif colouring == SUBREGIONS and isinstance(accelerator, SubregionGraph):
        colours = label_colours(_subregions(accelerator))
    elif colouring == ISLANDS:
        colours = label_colours(np.where(main, 0, islands + 1))
    else:
        colours = one_colour(PLAIN, len(sizes))
        colours[~main] = ISLAND
    # Polygons are convex: each is a fan of triangles around its first corner.
    kept = np.arange(len(sizes))
    notes = []
    if (sizes - 2).sum() > most:
        order = np.argsort(-navmesh.polygon_areas, kind="stable")
        kept = np.sort(order[np.cumsum(sizes[order] - 2) <= most])
        notes.append(f"map: {len(kept):,} of {len(sizes):,} polygons are drawn, the largest")
    corners = np.concatenate([rings[at] for at in kept.tolist()])
    first = offsets_of(sizes[kept])[:-1]
    fans = sizes[kept] - 2
    begin = np.repeat(first, fans)
    step = np.arange(fans.sum()) - np.repeat(np.cumsum(fans) - fans, fans)
    triangles = np.column_stack([corners[begin], corners[begin + step + 1], corners[begin + step + 2]])
    vertices = navmesh.vertices + up(_LIFT)
    things.insert(0, Surface("polygons", vertices, triangles.astype(np.int32), np.repeat(colours[kept], fans, axis=0)))
    outline = _outlines(vertices, corners, first, sizes[kept], most)
    return Layer((*things, *outline), tuple(notes), opacity=_FAINT if colouring == PLAINLY else _CLEAR)


def _outlines(
    vertices: Points, corners: NDArray[np.int32], first: NDArray[np.int64], sizes: NDArray[np.int64], most: int
) -> tuple[Lines, ...]:
    """The sides of polygons, each once; none where there would be too many."""
    if len(corners) > most:
        return ()
    following = np.arange(len(corners)) + 1
    following[first + sizes - 1] = first
    pairs = distinct(np.sort(np.column_stack([corners, corners[following]]), axis=1)).rows
    pieces = vertices[pairs] + up(_LIFT / 2)
    return (Lines("outlines", pieces, one_colour((92, 116, 100), len(pieces)), 0.06),)


def _waypoints(waypoints: WaypointGraph, accelerator: Any, colouring: str, most: int) -> Layer:
    count = waypoints.num_waypoints
    kinds = np.full(count, -1)
    # A waypoint is of the first kind that it has an edge of, from the ground up.
    for number, motion in reversed(list(enumerate(Motion))):
        kinds[waypoints.usable(motion)] = number
    used = waypoints.usable(waypoints.default_motions)
    shown = np.flatnonzero(used)
    notes: list[str] = []
    legend: tuple[tuple[str, Colour], ...] = ()
    if len(shown) > most:
        notes.append(f"map: {most:,} of {len(shown):,} waypoints are drawn, evenly spread")
        shown = shown[evenly(len(shown), most)]
    things: list[Thing] = []
    if colouring == SUBREGIONS and isinstance(accelerator, SubregionGraph):
        colours = label_colours(_subregions(accelerator)[shown])
    elif colouring == REGIONS:
        colours = label_colours(waypoints.regions[shown, 0])
        things.append(_boxes(waypoints.boxes[np.unique(waypoints.regions[shown, 0])], most // 12))
    elif _level(colouring) and isinstance(accelerator, Hierarchy) and len(accelerator.partition.order) == count:
        colours = label_colours(accelerator.partition.labels(_level(colouring))[shown])
    else:
        palette = np.array([*_MOTION_COLOURS.values(), ISLAND], np.uint8)
        colours = palette[kinds[shown]]
        there = np.unique(kinds[shown]).tolist()
        legend = tuple(item for number, item in enumerate(_MOTION_COLOURS.items()) if number in there)
    points = waypoints.points[shown].astype(np.float64)
    return Layer((Dots("waypoints", points, colours, 0.35), *things), tuple(notes), legend)


def _boxes(boxes: Points, most: int) -> Lines:
    """The twelve edges of boxes."""
    some = boxes[evenly(len(boxes), most)]
    corner = np.array([[(k >> 2) & 1, (k >> 1) & 1, k & 1] for k in range(8)])
    corners = np.where(corner[None], some[:, None, 3:], some[:, None, :3])
    edges = [(a, b) for a in range(8) for b in range(a + 1, 8) if (a ^ b) in (1, 2, 4)]
    pieces = corners[:, edges].reshape(-1, 2, 3)
    return Lines("region boxes", pieces, one_colour((150, 160, 180), len(pieces)), 0.15)


def _cells(grid: SparseGrid, colouring: str, most: int) -> Layer:
    table = grid.regions()
    labels = table.region if colouring == REGIONS else None
    colours = one_colour(PLAIN, len(table.cells)) if labels is None else label_colours(labels)
    middles = grid.to_world(table.cells)
    lift = up(_LIFT * min(1.0, float(grid.scale[0])))
    if 2 * len(middles) > most:
        some = evenly(len(middles), most)
        note = f"map: {len(some):,} of {len(middles):,} cells are drawn, as dots"
        return Layer((Dots("cells", middles[some] + lift, colours[some], 0.8 * float(grid.scale[0])),), (note,))
    squares = _squares("cells", middles + lift, 0.46 * grid.scale[:2], colours)
    return Layer((squares,), opacity=_FAINT if labels is None else _CLEAR)


def _squares(name: str, middles: Points, half: NDArray[np.float64], colours: Colours) -> Surface:
    """Upright squares around points."""
    x, y = half.tolist()
    corners = middles[:, None] + np.array([(-x, -y, 0.0), (x, -y, 0.0), (x, y, 0.0), (-x, y, 0.0)])
    first = 4 * np.arange(len(middles))[:, None, None]
    triangles = (first + np.array([(0, 1, 2), (0, 2, 3)])).reshape(-1, 3)
    return Surface(name, corners.reshape(-1, 3), triangles.astype(np.int32), np.repeat(colours, 2, axis=0))


def _triangles(terrain: Terrain, most: int) -> Layer:
    weights = terrain.triangle_weights
    free = np.isfinite(weights)
    shade = np.zeros(len(weights))
    if free.any() and np.ptp(weights[free]) > 0:
        # Weights are ratios: from road to swamp is as far as from swamp to thicket.
        low, high = np.log(weights[free].min()), np.log(weights[free].max())
        shade[free] = np.round(_WEIGHT_SHADES * (np.log(weights[free]) - low) / (high - low)) / _WEIGHT_SHADES
    light, dark = np.array((246, 244, 236)), np.array((40, 92, 200))
    colours = (light + shade[:, None] * (dark - light)).astype(np.uint8)
    colours[~free] = (61, 68, 81)
    vertices = np.column_stack([terrain.vertices, np.zeros(len(terrain.vertices))])
    kept = np.arange(len(weights))
    notes = []
    if len(kept) > most:
        corners = vertices[terrain.triangles]
        areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        kept = np.sort(np.argsort(-areas, kind="stable")[:most])
        notes.append(f"map: {most:,} of {len(weights):,} triangles are drawn, the largest")
    lifted = vertices + up(_LIFT)
    return Layer((Surface("triangles", lifted, terrain.triangles[kept], colours[kept]),), tuple(notes))
