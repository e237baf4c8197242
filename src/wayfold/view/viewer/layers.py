"""A planner's map as it is shown: polygons, cells, triangles or waypoints, in the colours of what they belong to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import Motion
from wayfold.core.arrays import distinct
from wayfold.grid import SparseGrid
from wayfold.hierarchy import Hierarchy
from wayfold.navmesh import NavMesh
from wayfold.subregions import SubregionGraph
from wayfold.terrain import Terrain
from wayfold.view.viewer.things import (
    ISLAND,
    PLAIN,
    Colour,
    Colours,
    Dots,
    Layer,
    Lines,
    Points,
    Surface,
    Thing,
    evenly,
    label_colours,
    one_colour,
    up,
)
from wayfold.waypoints import WaypointGraph

_LIFT = 0.08  # metres that a map is drawn above its ground, so that both are seen
_MOTION_COLOURS: dict[str, Colour] = {
    "surface": (34, 160, 90),
    "adhesive": (150, 80, 200),
    "volumetric": (60, 130, 235),
}
_FAINT, _CLEAR = 0.3, 0.75  # opacity of a map over its level: in one colour, and in the colours of its parts
_SHADES = 24  # of weights
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
    area = np.bincount(islands, weights=navmesh.areas)
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
        order = np.argsort(-navmesh.areas, kind="stable")
        kept = np.sort(order[np.cumsum(sizes[order] - 2) <= most])
        notes.append(f"map: {len(kept):,} of {len(sizes):,} polygons are drawn, the largest")
    corners = np.concatenate([rings[at] for at in kept.tolist()])
    first = np.concatenate([[0], np.cumsum(sizes[kept])])[:-1]
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
        shade[free] = np.round(_SHADES * (np.log(weights[free]) - low) / (high - low)) / _SHADES
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
