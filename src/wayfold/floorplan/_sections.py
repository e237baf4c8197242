"""Horizontal cuts through a mesh: its ground between two heights, what lies and what stands there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold.agent import Agent
from wayfold.core.arrays import distinct
from wayfold.geometry import Mesh
from wayfold.geometry.frame import same_points

Floats = NDArray[np.float64]
CUTS = (0.02, 0.5, 0.98)
"""Where between step and head solids are cut."""
_FINE = 2.0**-12  # of a grid: what shapes are rounded to, so that nearly equal edges become the same


def grid(who: Agent) -> float:
    """What slices are exact to, metres: a thousandth of an agent's radius or less. Narrower slits are closed."""
    return float(2.0 ** np.floor(np.log2(max(who.radius, 1e-3 * who.height) / 1000.0)))


def hair(who: Agent) -> float:
    """Heights closer than this, metres, are the same, whatever rounding says."""
    return 1e-6 * who.height


def floor(mesh: Mesh, who: Agent, height: float) -> list[Floats]:
    """The ground within a step of the height of a floor, as rings of corners (k, 3)."""
    reach = who.climb + hair(who)
    return ground(mesh, who, height - reach, height + reach)


def ground(mesh: Mesh, who: Agent, bottom: float, top: float) -> list[Floats]:
    """The walkable ground between two heights, as rings of corners (k, 3)."""
    low, high = mesh.corners[:, :, 2].min(axis=1), mesh.corners[:, :, 2].max(axis=1)
    walkable = (mesh.normals[:, 2] >= np.cos(np.radians(who.slope))) & (high >= bottom) & (low <= top)
    whole = walkable & (low >= bottom) & (high <= top)
    return list(mesh.corners[whole]) + between(mesh.corners[walkable & ~whole], bottom, top)


def lying(mesh: Mesh, bottom: float, top: float, grid: float) -> Any:
    """What is not upright and lies between two heights, seen from above: ramps, tables, low ceilings."""
    low, high = mesh.corners[:, :, 2].min(axis=1), mesh.corners[:, :, 2].max(axis=1)
    chosen = (np.abs(mesh.normals[:, 2]) > 1e-3) & (high > bottom) & (low < top)
    return shadow(between(mesh.corners[chosen], bottom, top), grid)


def bodies(mesh: Mesh) -> NDArray[np.int32]:
    """A number for each triangle: the same for those that hang together over common corners."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    corner = distinct(mesh.vertices).inverse
    a, b, c = corner[mesh.triangles].T
    count = int(corner.max()) + 1
    links = coo_array((np.ones(2 * len(a)), (np.concatenate([a, b]), np.concatenate([b, c]))), shape=(count, count))
    _, labels = connected_components(links, directed=False)
    return np.asarray(labels[a], np.int32)


def near_box(mesh: Mesh, body: NDArray[np.int32], bounds: tuple[float, float, float, float]) -> Mesh:
    """The bodies of a mesh that come near a box seen from above, whole, so that their cross-sections are closed."""
    low, high = mesh.corners[:, :, :2].min(axis=1), mesh.corners[:, :, :2].max(axis=1)
    meets = ((high >= bounds[:2]) & (low <= bounds[2:])).all(axis=1)
    return Mesh(mesh.vertices, mesh.triangles[np.isin(body, body[meets])])


def united(shapes: Sequence[Any], grid: float) -> Any:
    """The union of areas, rounded to far less than a grid: nearly equal edges become the same."""
    fine = grid * _FINE
    try:
        return areas(shapely.union_all(shapes, grid_size=fine))
    except shapely.errors.GEOSException:
        # Rounding while uniting fails on some thousands of nearly equal edges; one after the other goes well.
        return areas(shapely.set_precision(shapely.union_all(shapely.set_precision(shapes, fine)), fine))


def areas(shape: Any) -> Any:
    """The polygons of a geometry."""
    parts = shapely.get_parts(shapely.get_parts(shape))
    return shapely.MultiPolygon([part for part in parts if part.geom_type == "Polygon" and part.area > 0.0])


def without(shape: Any, other: Any, grid: float) -> Any:
    """An area without another, rounded as unions are."""
    return areas(shapely.difference(shape, other, grid_size=grid * _FINE))


def _grown(shape: Any, by: float, fine: float) -> Any:
    """An area with its border moved outwards, or inwards, and its corners as they are."""
    # Unrounded, edges that differ in their last digits have made whole areas of slits.
    grown = shapely.set_precision(shape, fine).buffer(by, join_style="mitre", mitre_limit=8.0)
    # Its corners are rounded too, after it was found: beside a gap of a few of these steps borders then cross.
    return grown if grown.is_valid else areas(shapely.make_valid(grown))


def closed(shape: Any, grid: float) -> Any:
    """An area without the slits that are narrower than a grid: those that rounding leaves between solids that touch."""
    fine = grid * _FINE
    return areas(shapely.set_precision(_grown(_grown(shape, 0.5 * grid, fine), -0.5 * grid, fine), fine))


def opened(shape: Any, grid: float) -> Any:
    """An area without what is narrower than a grid, and without corners in the middle of straight edges."""
    fine = grid * _FINE
    wide = shapely.set_precision(_grown(_grown(shape, -0.5 * grid, fine), 0.5 * grid, fine), fine)
    return areas(shapely.simplify(wide, 0.125 * grid, preserve_topology=True))


def shadow(corners: Iterable[Floats], grid: float) -> Any:
    """The union of triangles (or of rings of corners) seen from above."""
    flat = [ring[:, :2] for ring in corners]
    parts = [part for part in map(shapely.Polygon, flat) if part.area > 0.0]
    return united([part if part.is_valid else part.buffer(0.0) for part in parts], grid)


def between(corners: Floats, bottom: float, top: float) -> list[Floats]:
    """The parts of triangles between two heights, as rings."""
    rings = []
    for triangle in corners:
        ring = triangle
        for sign, limit in ((1.0, bottom), (-1.0, top)):
            away = sign * (ring[:, 2] - limit)
            parts = []
            for k in range(len(ring)):
                other = (k + 1) % len(ring)
                if away[k] >= 0.0:
                    parts.append(ring[k])
                if (away[k] < 0.0) != (away[other] < 0.0):
                    parts.append(ring[k] + away[k] / (away[k] - away[other]) * (ring[other] - ring[k]))
            ring = np.array(parts).reshape(-1, 3)
        if len(ring) >= 3:
            rings.append(ring)
    return rings


def solids(mesh: Mesh, heights: Sequence[float], where: Any, grid: float, thickness: float = 0.0) -> list[Any]:
    """Cross-sections of the solids of a mesh that meet an area; walls that are single sheets get `thickness`.

    The lines of a cross-section cut the plane into faces, and a face is solid where the lines, each with the inside of
    its triangle to the left, wind around it. So solids may overlap, and a room of inward-facing walls is not solid.
    """
    shapes: list[Any] = []
    shapely.prepare(where)
    for height in heights:
        lines = section(mesh, height, grid)
        if not len(lines):
            continue
        noded = shapely.union_all(shapely.linestrings(lines), grid_size=grid * _FINE)
        faces = shapely.get_parts(shapely.polygonize([noded]))
        if len(faces):
            near = faces[shapely.intersects(where, faces)]
            inside = shapely.get_coordinates(shapely.point_on_surface(near))
            shapes += list(near[winding(lines, inside) > 0.5])
        if thickness > 0.0:
            loose = shapely.difference(noded, shapely.union_all(shapely.boundary(faces)).buffer(16.0 * grid * _FINE))
            if not loose.is_empty:
                shapes.append(loose.buffer(thickness / 2.0, cap_style="square", join_style="mitre"))
    return shapes


def section(mesh: Mesh, height: float, grid: float) -> Floats:
    """Where triangles cross a height: segments (k, 2, 2) with the inside of the triangle's solid to their left."""
    away = mesh.corners[:, :, 2] - height
    crossing = np.flatnonzero((away.min(axis=1) < 0.0) & (away.max(axis=1) >= 0.0))
    corners, z = mesh.corners[crossing], away[crossing]
    ends = np.full((len(crossing), 3, 2), np.nan)
    for k in range(3):
        m = (k + 1) % 3
        cut = (z[:, k] < 0.0) != (z[:, m] < 0.0)
        t = z[cut, k] / (z[cut, k] - z[cut, m])
        ends[cut, k] = corners[cut, k, :2] + t[:, None] * (corners[cut, m, :2] - corners[cut, k, :2])
    lines = ends[~np.isnan(ends[:, :, 0])].reshape(-1, 2, 2)
    normals = mesh.normals[crossing]
    along = lines[:, 1] - lines[:, 0]
    backwards = normals[:, 0] * along[:, 1] - normals[:, 1] * along[:, 0] < 0.0
    lines[backwards] = lines[backwards][:, ::-1]
    lines = same_points(lines.reshape(-1, 2), 16.0 * grid * _FINE).reshape(-1, 2, 2)
    return np.asarray(lines[(lines[:, 0] != lines[:, 1]).any(axis=1)])


def winding(lines: Floats, points: Floats) -> Floats:
    """How often directed segments wind around each point, counter-clockwise.

    Segments that close no ring (sheets without thickness) count with the part of a turn that they span, so a solid is
    where the sum is above a half.
    """
    result = np.empty(len(points))
    for k, point in enumerate(points):
        (ax, ay), (bx, by) = (lines[:, 0] - point).T, (lines[:, 1] - point).T
        result[k] = np.arctan2(ax * by - ay * bx, ax * bx + ay * by).sum()
    return result / (2.0 * np.pi)
