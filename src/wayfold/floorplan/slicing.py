"""Floor plans of 3D geometry, cut as architects cut blueprints (paper 004, introduction).

The ground planes are the heights at which a mesh has much level ground. At each of them the ground within a step of
the plane is the floor, and what stands on it, from a step above it up to the height of who walks there, is an obstacle.
Walkable slopes and stairs between two planes are the transition areas that join the floors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold import _check
from wayfold.agent import Agent
from wayfold.errors import GeometryError, ParameterError
from wayfold.floorplan import _build
from wayfold.floorplan.decomposition import Decomposition
from wayfold.floorplan.plan import METHODS, FloorPlan
from wayfold.geometry import Mesh

_LEVEL = np.cos(np.radians(1.0))  # steeper ground makes no ground plane
_CUTS = (0.02, 0.5, 0.98)  # where between step and head the solids are cut


def ground_planes(mesh: Mesh, *, agent: Agent | None = None, share: float = 0.02) -> list[float]:
    """Heights of the ground planes of a mesh, lowest first.

    Parameters
    ----------
    mesh : Mesh
    agent : Agent, optional
        Planes less than its height apart are one floor.
    share : float, 0 to 1
        A plane needs at least this part of all level ground.
    """
    who = agent or Agent()
    share = _check.number(share, "share", low=0.0, high=1.0)
    level = mesh.normals[:, 2] >= _LEVEL
    if not level.any():
        raise GeometryError("the mesh has no level ground, so there is no ground plane: give the height of one")
    z, area = mesh.corners[level, :, 2].mean(axis=1), mesh.areas[level]
    total = area.sum()
    planes: list[float] = []
    while area.sum() > 0.0:
        order = np.argsort(z)
        sums = np.concatenate([[0.0], np.cumsum(area[order])])
        # The step that holds most level ground; its height is that of its largest part.
        last = np.searchsorted(z[order], z[order] + who.climb, side="right")
        weight = sums[last] - sums[:-1]
        first = int(np.argmax(weight))
        if weight[first] < share * total:
            break
        inside = order[first : last[first]]
        height = float(z[inside[np.argmax(area[inside])]])
        planes.append(height)
        area = np.where(np.abs(z - height) < who.height, 0.0, area)
    return sorted(planes)


def slice_mesh(mesh: Mesh, height: float, agent: Agent | None, thickness: float) -> FloorPlan:
    """See `FloorPlan.slice`."""
    who = agent or Agent()
    height = _check.number(height, "height")
    thickness = _check.number(thickness, "thickness", low=0.0)
    low, high = mesh.corners[:, :, 2].min(axis=1), mesh.corners[:, :, 2].max(axis=1)
    slope = np.cos(np.radians(who.slope))
    ground = (mesh.normals[:, 2] >= slope) & (low >= height - who.climb) & (high <= height + who.climb)
    grid = _grid(who)
    floor = _shadow(mesh.corners[ground], grid)
    if floor.area == 0.0:
        raise GeometryError(f"the mesh has no ground within {who.climb:g} of the height {height:g}")
    bottom, top = height + who.climb, height + who.height
    obstacles = _solids(mesh, [bottom + part * (top - bottom) for part in _CUTS], thickness)
    # What is not upright and lies between step and head is in the way as well: ramps, tables, low ceilings.
    lying = (np.abs(mesh.normals[:, 2]) > 1e-3) & (high > bottom) & (low < top)
    shadow = _shadow(_between(mesh.corners[lying], bottom, top), grid)
    solid = shapely.union_all([*obstacles, shadow], grid_size=grid)
    blocks = [part for part in shapely.get_parts(solid) if part.geom_type == "Polygon" and part.area > 0.0]
    return FloorPlan(floor, blocks, height=height)


def _grid(who: Agent) -> float:
    """What slices are rounded to: a thousandth of an agent's radius or less. It closes slits between solids."""
    return float(2.0 ** np.floor(np.log2(max(who.radius, 1e-3 * who.height) / 1000.0)))


def _shadow(corners: Iterable[NDArray[np.float64]], grid: float) -> Any:
    """The union of triangles (or of rings of corners) seen from above, rounded to a grid."""
    flat = [ring[:, :2] for ring in corners]
    parts = [part for part in map(shapely.Polygon, flat) if part.area > 0.0]
    whole = shapely.union_all([part if part.is_valid else part.buffer(0.0) for part in parts], grid_size=grid)
    areas = [part for part in shapely.get_parts(whole) if part.geom_type == "Polygon" and part.area > 0.0]
    return shapely.MultiPolygon(areas)


def _between(corners: NDArray[np.float64], bottom: float, top: float) -> list[NDArray[np.float64]]:
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


def _solids(mesh: Mesh, heights: Sequence[float], thickness: float) -> list[Any]:
    """Cross-sections of the solids of a mesh; walls that are single sheets get `thickness`.

    The lines of a cross-section cut the plane into faces, and a face is solid where the lines, each with the inside of
    its triangle to the left, wind around it. So solids may overlap, and a room of inward-facing walls is not solid.
    """
    shapes: list[Any] = []
    for height in heights:
        lines = _section(mesh, height)
        if not len(lines):
            continue
        noded = shapely.union_all(shapely.linestrings(lines))
        faces = shapely.get_parts(shapely.polygonize([noded]))
        if len(faces):
            inside = shapely.get_coordinates(shapely.point_on_surface(faces))
            shapes += list(faces[_winding(lines, inside) > 0])
        if thickness > 0.0:
            loose = shapely.difference(noded, shapely.union_all(shapely.boundary(faces)).buffer(1e-6))
            if not loose.is_empty:
                shapes.append(loose.buffer(thickness / 2.0, cap_style="square", join_style="mitre"))
    return shapes


def _section(mesh: Mesh, height: float) -> NDArray[np.float64]:
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
    lines = np.round(lines, 6)  # ends that triangles share must be the same point
    return np.asarray(lines[(lines[:, 0] != lines[:, 1]).any(axis=1)])


def _winding(lines: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.int64]:
    """How often directed segments wind around each point, counter-clockwise."""
    (ax, ay), (bx, by) = lines[:, 0].T, lines[:, 1].T
    result = np.empty(len(points), np.int64)
    for k, (x, y) in enumerate(points):
        up, down = (ay <= y) & (by > y), (by <= y) & (ay > y)
        side = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        result[k] = np.count_nonzero(up & (side > 0.0)) - np.count_nonzero(down & (side < 0.0))
    return result


@dataclass(frozen=True)
class Transition:
    """An area of stairs or slope that joins floors."""

    plan: FloorPlan
    floors: tuple[int, ...]
    """Numbers of the floors that it touches."""


class Building:
    """The floors of a mesh and the transition areas between them.

    Parameters
    ----------
    floors : sequence of FloorPlan
        Lowest first.
    transitions : sequence of Transition
        The paper's "special markups to show transition areas between different levels"; `from_mesh` finds them.
    """

    def __init__(self, floors: Sequence[FloorPlan], transitions: Sequence[Transition] = ()) -> None:
        if not floors:
            raise ParameterError("a building has at least one floor")
        for transition in transitions:
            if any(not 0 <= floor < len(floors) for floor in transition.floors):
                raise ParameterError(f"a transition joins floors {transition.floors}, but there are {len(floors)}")
        self.floors = tuple(floors)
        self.transitions = tuple(transitions)

    @classmethod
    def from_mesh(
        cls, mesh: Mesh, *, agent: Agent | None = None, heights: Sequence[float] | None = None, thickness: float = 0.0
    ) -> Building:
        """Find the ground planes of a mesh (or take `heights`), its floors and what joins them."""
        who = agent or Agent()
        planes = sorted(ground_planes(mesh, agent=who) if heights is None else [float(z) for z in heights])
        floors = [slice_mesh(mesh, z, who, thickness) for z in planes]
        return cls(floors, _transitions(mesh, who, planes, floors))

    def decompose(self, method: str = "deaccon", **options: Any) -> Decomposition:
        """Cut all floors and transition areas into convex regions with one navigation graph."""
        if method not in METHODS:
            raise ParameterError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
        plans = [*self.floors, *(transition.plan for transition in self.transitions)]
        meets = np.eye(len(plans), dtype=np.bool_)
        for number, transition in enumerate(self.transitions, len(self.floors)):
            for floor in transition.floors:
                meets[number, floor] = meets[floor, number] = True
        return Decomposition([_build.level(plan, method, options) for plan in plans], meets, method, options)

    def __repr__(self) -> str:
        return f"<Building: {len(self.floors)} floors, {len(self.transitions)} transitions>"


def _transitions(mesh: Mesh, who: Agent, planes: list[float], floors: list[FloorPlan]) -> list[Transition]:
    """Connected walkable ground that belongs to no floor but touches at least two of them."""
    low, high = mesh.corners[:, :, 2].min(axis=1), mesh.corners[:, :, 2].max(axis=1)
    walkable = mesh.normals[:, 2] >= np.cos(np.radians(who.slope))
    for plane in planes:
        walkable &= ~((low >= plane - who.climb) & (high <= plane + who.climb))
    faces = np.flatnonzero(walkable)
    shapes = np.array([shapely.Polygon(corners[:, :2]) for corners in mesh.corners[faces]], dtype=object)
    found = []
    for group in _joined(shapes, low[faces], high[faces], who.climb):
        area = _shadow(mesh.corners[faces[group]], _grid(who))
        # A floor reaches a step above and below its plane, and from there it is one more step to the stairs.
        bottom, top = low[faces[group]].min() - 2.0 * who.climb, high[faces[group]].max() + 2.0 * who.climb
        near = [k for k, plane in enumerate(planes) if bottom <= plane <= top]
        reached = tuple(k for k in near if floors[k].free.dwithin(area, _grid(who)))
        if len(reached) < 2:
            continue
        # Floors own what they cover: the transition is what is left between them.
        rest = shapely.difference(area, shapely.union_all([floors[k].boundary for k in reached]))
        parts = [part for part in shapely.get_parts(rest) if part.geom_type == "Polygon" and part.area > 0.0]
        if parts:
            height = float(np.mean([planes[k] for k in reached]))
            found.append(Transition(FloorPlan(shapely.MultiPolygon(parts), height=height), reached))
    return found


def _joined(
    shapes: NDArray[Any], low: NDArray[np.float64], high: NDArray[np.float64], climb: float
) -> list[NDArray[np.int64]]:
    """Groups of faces that one can walk between: they touch seen from above and are within a step in height."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not len(shapes):
        return []
    a, b = shapely.STRtree(shapes).query(shapes, predicate="dwithin", distance=1e-6)
    step = (low[a] <= high[b] + climb) & (low[b] <= high[a] + climb)
    count = len(shapes)
    links = coo_array((np.ones(int(step.sum())), (a[step], b[step])), shape=(count, count))
    groups, labels = connected_components(links, directed=False)
    return [np.flatnonzero(labels == group) for group in range(groups)]
