"""`NavMesh`: walkable ground as convex polygons, with shortest paths over it.

Built from any triangles by the voxel pipeline of Fuentes 2015, section III.A, or given as polygons from elsewhere.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, count
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import Agent
from wayfold.core import checks, text
from wayfold.core.batches import run_chunks
from wayfold.core.interrupts import interruptible
from wayfold.core.progress import stage
from wayfold.core.schema import Parts, Savable
from wayfold.errors import EditError, OffMapError, ParameterError
from wayfold.geometry import Mesh
from wayfold.geometry.frame import Frame
from wayfold.graph import Graph, searcher
from wayfold.links import Link
from wayfold.navmesh import _ground_kernels, archive, building, queries
from wayfold.navmesh._ground_kernels import PolyMesh
from wayfold.navmesh.pipeline import Settings, usual_cell_size
from wayfold.navmesh.polygons import from_lists, read_polygons, write_polygons
from wayfold.navmesh.queries import PathQuery, cheapest, shortcut
from wayfold.navmesh.snapshot import AreaCosts, MeshSnapshot, Place, Points, one_or_many, points_of
from wayfold.navmesh.tiles import Zone, check_bounds, check_zones
from wayfold.navmesh.topology import Topology
from wayfold.navmesh.why import Reasons
from wayfold.path import Path, Paths, Status


class RayHit(NamedTuple):
    """Where a straight walk ends, as `NavMesh.raycast` returns it.

    >>> corners = [(0, 0), (8, 0), (8, 4), (0, 4), (0, 8), (4, 8), (4, 4)]
    >>> angle = NavMesh.from_polygons(corners, [[0, 1, 2, 6, 3], [3, 6, 5, 4]])
    >>> hit = angle.raycast((1, 7), (5, 7))
    >>> hit.point.tolist(), hit.fraction, hit.wall[:, :2].tolist()
    ([4.0, 7.0, 0.0], 0.75, [[4.0, 4.0], [4.0, 8.0]])
    """

    point: Points
    """(3,) the last point, on the surface."""
    fraction: float
    """Share of the way that was walked, 0 to 1."""
    polygon: int
    """The polygon of that point."""
    wall: Points | None
    """(2, 3) ends of the wall in the way; None if the target was reached."""


File = str | os.PathLike[str]
_ANYWHERE = 10.0 * checks.LARGEST  # metres: no two points are farther apart
_DISC = 64  # sides of a quarter of a disc, which is inside a circle by no more than a ten-thousandth of its radius


def _growing(snapshot: MeshSnapshot, limit: float) -> Iterator[float]:
    """Distances to look around for ground in, from that of a step to a limit: most points are near the mesh."""
    if snapshot.num_polygons:
        agent = None if snapshot.built is None else snapshot.built.agent
        size = snapshot.topology.cells.size if agent is None else max(agent.radius, agent.height)
        for factor in chain((0.5, 2.5), (10.0 * 4.0**k for k in count())):
            if factor * size >= min(limit, snapshot.frame.extent):
                break
            yield factor * size
    yield limit


def _around(
    snapshot: MeshSnapshot, usable: NDArray[np.bool_], middle: Points, radius: float
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Triangles (t, 3, 2) of the usable polygons within a radius, and the polygon (t,) that each is of."""
    ground = snapshot.ground
    corners = ground.vertices[ground.corners, :2]
    starts = ground.offsets[:-1]
    low, high = np.minimum.reduceat(corners, starts), np.maximum.reduceat(corners, starts)
    near = np.flatnonzero(usable & (low <= middle + radius).all(axis=1) & (high >= middle - radius).all(axis=1))
    if not len(near):
        return np.empty(0, np.int32), np.empty((0, 3, 2))
    sizes = np.diff(ground.offsets)[near]
    edges = np.repeat(ground.offsets[near] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
    rings = shapely.linearrings(corners[edges], indices=np.repeat(np.arange(len(near)), sizes))
    disc = shapely.Point(middle).buffer(radius, quad_segs=_DISC)
    parts, owner = shapely.get_parts(shapely.intersection(shapely.polygons(rings), disc), return_index=True)
    solid = shapely.get_type_id(parts) == shapely.GeometryType.POLYGON
    points, part = shapely.get_coordinates(parts[solid], return_index=True)
    # Parts are convex, so each is a fan of triangles around its first corner.
    hub = np.searchsorted(part, part)
    ahead = np.flatnonzero(part[1:] == part[:-1])
    triangles = np.stack([points[hub[ahead]], points[ahead], points[ahead + 1]], axis=1)
    return near[owner[solid][part[ahead]]].astype(np.int32), triangles


def _doubled_areas(triangles: NDArray[np.float64]) -> NDArray[np.float64]:
    ahead, back = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    return np.asarray(np.abs(ahead[:, 0] * back[:, 1] - ahead[:, 1] * back[:, 0]))


def _place(point: Points) -> Place:
    x, y, z = point.tolist()
    return x, y, z


@checks.checked
class NavMesh(Savable):
    """Convex polygons that a character walks on, with paths over them.

    Create one with `build`, `from_polygons` or `read`. Any number of threads may query it while another one edits it:
    each query sees the mesh either before or after an edit. Do not modify arrays that properties return.

    Notes
    -----
    Lengths are measured in the plane, so `Path.cost` is the length seen from above; `Path.length` is that of
    `Path.points` in space. A vertex takes 24 bytes, a polygon 17, an edge 8. Queries add 4 bytes an edge, 32 a portal
    and about 60 a polygon on first use, and a corridor search borrows 24 a portal. Where costs differ an optimal path
    borrows 5 a polygon, 8 a portal and up to 6 MB for the points of portals that it searches.

    Examples
    --------
    >>> corners = [(0, 0), (8, 0), (8, 4), (0, 4), (0, 8), (4, 8), (4, 4)]
    >>> angle = NavMesh.from_polygons(corners, [[0, 1, 2, 6, 3], [3, 6, 5, 4]])
    >>> path = angle.path((7, 2), (2, 7))
    >>> path.points.tolist(), path.nodes.tolist()
    ([[7.0, 2.0, 0.0], [4.0, 4.0, 0.0], [2.0, 7.0, 0.0]], [0, 1])
    >>> round(path.length, 3)
    7.211
    """

    _OWN = (("_edit", threading.Lock),)

    @checks.renamed(kinds="areas")
    def __init__(self, ground: PolyMesh, areas: NDArray[np.uint8], *, agent: Agent | None = None) -> None:
        frame = Frame.of(ground.vertices)
        local = ground._replace(
            vertices=frame.local(ground.vertices), surface_points=frame.local(ground.surface_points)
        )
        self._snapshot = MeshSnapshot(Topology(local, areas, frame))
        self._agent = agent
        self._edit = threading.Lock()

    # --- making one ------------------------------------------------------------------------------------------

    @classmethod
    @interruptible
    @checks.renamed(kinds="areas")
    def build(
        cls,
        mesh: Mesh,
        agent: Agent | None = None,
        *,
        cell_size: float | None = None,
        cell_height: float = 0.2,
        tile_size: int | None = None,
        keep: Literal["all", "largest"] | ArrayLike = "all",
        areas: ArrayLike | None = None,
        zones: Sequence[Zone] = (),
        bounds: ArrayLike | None = None,
        workers: int | None = None,
        progress: Callable[[str, int, int], None] | None = None,
        min_region: float | None = None,
        merge_region: float | None = None,
        max_edge: float = 12.0,
        max_error: float = 1.3,
        max_bulge: float | None = None,
        max_corners: int = 6,
        detail_error: float | None = None,
    ) -> NavMesh:
        """Build a navigation mesh from triangles.

        Parameters
        ----------
        mesh : Mesh
            Triangles, z up; they may cross, overlap and have holes. Only triangles that face up are walked on.
        agent : Agent, optional
            The agent's radius, height, climb and slope shape the mesh. `Agent()` by default.
        cell_size : float, metres, > 0, optional
            Side of a voxel column. 0.7 of the agent's radius by default, at most 0.3: up to there the agent gets
            through every opening between walls that is 2.25 radii wide (see Notes). Larger cells build faster and
            close narrow openings: those below 3 radii with cells as wide as the radius.
        cell_height : float, metres, > 0
            Height of a voxel.
        tile_size : int, columns, 8 to 4096, or 0, optional
            Side of a tile; 0 for one tile whatever the size. By default one tile up to 2048 columns, else 256.
        keep : "all", "largest" or (k, 3) points
            Connected islands to keep: all, the one with the largest area, or those within 1 m of seed points.
        areas : (m,) array_like of int, 0 to 255, optional
            Kind of area of each triangle, for costs; 0 is never walked on. 1 everywhere by default.
        zones : sequence of (polygon, low, high, area), optional
            Prisms over simple polygons, (k, 2) corners, from height low to high, in which the ground is another kind
            of area, from 1 to 255; later ones win. One of area 0 is closed: it keeps the agent off as if it were
            solid. An array of 256 areas says what each becomes there.
        bounds : (2, 3) array_like, metres, optional
            Box that the tiles cover; that of the mesh by default. A larger one leaves room for later changes.
        workers : int, >= 1, optional
            Threads, all cores by default. The result does not depend on it.
        progress : callable, optional
            Called as ``progress(what, done, total)`` with tiles.
        min_region : float, square metres, >= 0, optional
            Smaller islands of ground are dropped. 64 cells by default.
        merge_region : float, square metres, >= 0, optional
            Regions up to this size are merged with a neighbour where possible. 400 cells by default.
        max_edge : float, metres, >= 0
            Longest polygon edge along a wall; 0 for no limit.
        max_error : float, cells, 0.5 to 10
            How much ground a simplified rim may cut off; smaller values follow walls more closely with more polygons.
        max_bulge : float, cells, 0.1 to 10, optional
            How far a rim may reach towards a wall, nearer than the agent's radius. `max_error` by default.
        max_corners : int, 3 to 64
            Most corners of a polygon; borders between tiles may add some.
        detail_error : float, metres, > 0, optional
            How far surfaces may be from the ground in height. Half a `cell_height` by default.

        Raises
        ------
        GeometryError
            When no triangle faces up, or there is no ground that the agent can stand on.
        ParameterError
            When a setting is outside its limits or asks for more than 2**34 columns.

        Notes
        -----
        Radius and height are rounded up to whole voxels, steps are measured on the triangles: a step up to `climb` is
        taken, a higher one (by more than a thousandth) is not. Beside a slope a step may be misjudged by what the
        slope rises in one cell.

        Where rounding up the radius closes an opening, the walls themselves are looked at: an opening between walls is
        passed when it is 2.25 radii wide, at any angle and however thick the walls are; one of less than 2 radii never;
        in between it depends on how it lies. Beside closed zones and on stairs it is the same; steep ground counts by
        cells, and head room by whole voxels. With cells of more than three quarters of the radius, up to the radius,
        openings must be 3 radii wide; with still larger ones about two cells wider than the agent. Dead ends that are
        narrow and short stay closed.

        Examples
        --------
        >>> square = Mesh([(0, 0, 0), (8, 0, 0), (8, 8, 0), (0, 8, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> ground = NavMesh.build(square, Agent(radius=0.5), cell_size=0.25)
        >>> ground.path((1, 1), (7, 7)).points[:, :2].round(2).tolist()
        [[1.0, 1.0], [7.0, 7.0]]
        >>> ground.locate([(4, 4), (7.9, 0.1)], tolerance=0.0).tolist()
        [0, -1]
        """
        who = Agent() if agent is None else agent
        if not isinstance(mesh, Mesh) or not isinstance(who, Agent):
            raise ParameterError(f"build needs a Mesh and an Agent, not {type(mesh).__name__}, {type(who).__name__}")
        settings = Settings(
            usual_cell_size(who) if cell_size is None else cell_size,
            cell_height,
            tile_size=0 if tile_size is None else tile_size,
            min_region=min_region,
            merge_region=merge_region,
            max_edge=max_edge,
            max_error=max_error,
            max_bulge=max_bulge,
            max_corners=max_corners,
            detail_error=detail_error,
        )
        built, topology = building.build(
            mesh,
            who,
            settings,
            tile_size,
            areas=building.check_areas(mesh, areas),
            zones=check_zones(zones),
            bounds=None if bounds is None else check_bounds(bounds),
            keep=building.check_keep(keep),
            workers=workers,
            progress=stage(progress, "navigation mesh"),
        )
        return mesh_of(MeshSnapshot(topology, built), who)

    @classmethod
    @checks.renamed(polygons_="polygons", kinds="areas")
    def from_polygons(
        cls, vertices: ArrayLike, polygons: Sequence[ArrayLike] | ArrayLike, *, areas: ArrayLike | None = None
    ) -> NavMesh:
        """Make a navigation mesh from polygons of another source.

        Parameters
        ----------
        vertices : (n, 2) or (n, 3) array_like, metres
            Equal vertices are merged.
        polygons : sequence of arrays of int
            Corners of each polygon, at least three, in either direction; convex seen from above. Polygons that share
            an edge (two vertices) are neighbours.
        areas : (p,) array_like of int, 0 to 255, optional
            Kind of area of each polygon, 1 by default.

        Raises
        ------
        GeometryError
            When a polygon is not convex, names a vertex that does not exist, or lies on the same side of an edge as
            another one.

        Examples
        --------
        >>> corners = [(0, 0), (8, 0), (8, 4), (0, 4), (0, 8), (4, 8), (4, 4)]
        >>> angle = NavMesh.from_polygons(corners, [[0, 1, 2, 6, 3], [3, 6, 5, 4]])
        >>> [row.tolist() for row in angle.neighbours]
        [[-1, -1, -1, 1, -1], [0, -1, -1, -1]]
        """
        checks.several(polygons.tolist() if isinstance(polygons, np.ndarray) else polygons, "polygons")
        return cls(*from_lists(vertices, polygons, areas))

    @classmethod
    def read(cls, file: File) -> NavMesh:
        """Read a mesh of polygons: `.mesh` (formats 2 and 3 of the any-angle benchmarks) or `.obj` with polygon faces.

        Faces that a `.mesh` file calls non-traversable are left out; edges that it calls constrained are walls. An OBJ
        file is taken z up.

        >>> hall = NavMesh.from_polygons([(0, 0), (4, 0), (9, 0), (9, 2), (4, 2), (0, 2)], [[0, 1, 4, 5], [1, 2, 3, 4]])
        >>> hall.export("hall.mesh")
        >>> NavMesh.read("hall.mesh")
        <NavMesh: 2 polygons, 6 vertices, 18 m2>
        """
        return cls(*read_polygons(file))

    # --- what it is ------------------------------------------------------------------------------------------

    @property
    def agent(self) -> Agent | None:
        """The agent that it was built for; None for polygons from another source."""
        return self._agent

    @property
    def snapshot(self) -> MeshSnapshot:
        """The mesh at this moment, for planners and accelerators: it never changes, edits make a new one."""
        return self._snapshot

    @property
    def vertices(self) -> Points:
        """(n, 3) corners of the polygons, metres."""
        snapshot = self._snapshot
        frame, local = snapshot.frame, snapshot.ground.vertices
        return frame.world(local) if any(frame.origin) else local

    @property
    def polygons(self) -> list[NDArray[np.int32]]:
        """Vertex numbers of each polygon, counter-clockwise seen from above."""
        ground = self._snapshot.ground
        return np.split(ground.corners, ground.offsets[1:-1]) if self.num_polygons else []

    @property
    def neighbours(self) -> list[NDArray[np.int32]]:
        """For each polygon the polygon beyond each edge (from corner k to the next), -1 where there is none."""
        ground = self._snapshot.ground
        return np.split(ground.neighbours, ground.offsets[1:-1]) if self.num_polygons else []

    @property
    def num_polygons(self) -> int:
        """Number of polygons."""
        return self._snapshot.num_polygons

    @property
    def areas(self) -> NDArray[np.uint8]:
        """(p,) kind of area of each polygon, 0 to 255."""
        return self._snapshot.areas

    kinds = checks.moved_property("kinds", "areas")

    @property
    def polygon_areas(self) -> Points:
        """(p,) area of each polygon seen from above, square metres."""
        return self._snapshot.topology.polygon_areas

    @property
    def area(self) -> float:
        """Area of all polygons seen from above, square metres."""
        return float(self._snapshot.topology.polygon_areas.sum())

    @property
    def graph(self) -> Graph:
        """Polygons as nodes at their centres; a step costs the way through the portal's middle, in metres."""
        return self._snapshot.graph

    @property
    def components(self) -> NDArray[np.int32]:
        """(p,) connected component of each polygon, from 0; there is no path between different ones."""
        return self._snapshot.components

    @property
    def num_links(self) -> int:
        """Number of links."""
        return len(self._snapshot.links)

    @property
    def links(self) -> tuple[Link, ...]:
        """All links, oldest first."""
        return self._snapshot.links

    @property
    def bounds(self) -> Points:
        """(2, 3) low and high corner of the box around all ground, metres; NaN where there is none."""
        snapshot = self._snapshot
        ground = snapshot.ground
        if not snapshot.num_polygons:
            return np.full((2, 3), np.nan)
        parts = [points for points in (ground.vertices, ground.surface_points) if len(points)]
        low, high = np.min([part.min(axis=0) for part in parts], axis=0), np.max([p.max(axis=0) for p in parts], axis=0)
        return snapshot.frame.world(np.array([low, high]))

    @property
    def nbytes(self) -> int:
        """Bytes of the mesh, without indices and search workspaces."""
        snapshot = self._snapshot
        return sum(array.nbytes for array in snapshot.ground) + snapshot.areas.nbytes

    def __repr__(self) -> str:
        return f"<NavMesh: {self.num_polygons} polygons, {len(self.vertices)} vertices, {self.area:.5g} m2>"

    # --- paths -----------------------------------------------------------------------------------------------

    @checks.renamed(optimal="exact")
    def path(
        self,
        start: ArrayLike,
        goal: ArrayLike,
        *,
        exact: bool = True,
        costs: Mapping[int, float] | None = None,
        budget: int | None = None,
    ) -> Path:
        """Find a path between two points.

        Parameters
        ----------
        start, goal : (x, y) or (x, y, z)
            Points on the mesh, within the tolerances of `locate`.
        exact : bool
            Search the shortest path on the mesh itself; where open areas that occur cost differently, a path that
            bends at their borders and runs along them, seldom dearer than the cheapest by a thousandth, with the bound
            in `Path.lower_bound`. Otherwise search a corridor of polygons through portal middles and pull a string
            through it (funnel): faster in large worlds, seldom the shortest, and straight over borders.
        costs : mapping of kind of area to cost of a metre, optional
            Above 0; infinity closes an area; 1 for areas that are not named. Along a border the cheaper side counts.
        budget : int, >= 1, optional
            Maximum number of search nodes to expand; no limit by default.

        Returns
        -------
        Path
            `points` are start, corners and goal, on the surface; `nodes` are the polygons on the way; `cost` is the
            integral of the cost of a metre along the points, seen from above, and what links cost. Goals that cannot be
            reached are answered without search. `lower_bound` is known with `exact`, None without.

        Notes
        -----
        A point on a border belongs to every polygon that touches it, so beside closed ground one is on open ground.
        There is no way through a corner where two polygons only touch.

        Examples
        --------
        >>> polygons = [[0, 1, 4, 5], [1, 2, 3, 4]]
        >>> road = NavMesh.from_polygons([(0, 0), (4, 0), (9, 0), (9, 2), (4, 2), (0, 2)], polygons, areas=[1, 2])
        >>> road.path((1, 1), (8, 1)).cost, round(road.path((1, 1), (8, 1), costs={2: 3.0}).cost, 3)
        (7.0, 15.0)
        >>> closed = road.path((1, 1), (8, 1), costs={2: float("inf")})
        >>> closed.found, closed.status.name
        (False, 'UNREACHABLE')
        """
        snapshot = self._snapshot
        limit = searcher.check_budget(budget)
        area_costs = snapshot.area_costs(costs)
        found, places = snapshot.on_mesh(points_of(start, goal), "start", "goal")
        starts, goals = snapshot.surround(found, places, area_costs.closed)
        ends = queries.open_ends(snapshot, starts, goals, area_costs)
        if ends is None:
            return Path(Status.UNREACHABLE, why=partial(self._why, snapshot, area_costs, found, places))
        first, last = ends
        if first == last and area_costs.even and not len(snapshot.link_arrays.costs):
            path = queries.same_polygon(first, places[0], places[1], area_costs.lowest)
        elif exact and area_costs.even:
            path = queries.shortest(snapshot, starts, goals, places[0], places[1], area_costs, limit)
        else:
            path = queries.corridor(snapshot, first, last, places[0], places[1], area_costs, limit)
            if exact:
                some, others = snapshot.holding(found, places, area_costs.closed)
                path = cheapest(PathQuery(snapshot, area_costs, some, others, places[0], places[1]), path, limit)
        if area_costs.even:
            path._smoother = partial(shortcut, snapshot, area_costs)
            if exact and path.found:
                path._lower_bound = path.cost
        return queries.placed(snapshot, path)

    def _why(self, snapshot: MeshSnapshot, area_costs: AreaCosts, found: NDArray[np.int32], places: Points) -> str:
        starts, goals = snapshot.holding(found, places, area_costs.closed)
        return Reasons(snapshot, area_costs, self._agent).explain(starts.tolist(), goals.tolist())

    @checks.renamed(start="starts", goal="goals")
    def reachable(self, starts: ArrayLike, goals: ArrayLike, *, costs: Mapping[int, float] | None = None) -> Any:
        """Return whether there is a path, without a search; links count in their direction only.

        Parameters
        ----------
        starts, goals : (x, y[, z]), or (q, 2) or (q, 3) array_like
            Points on the mesh, one pair or many.
        costs : mapping of kind of area to cost, optional
            Areas with infinite cost are closed.

        Returns
        -------
        bool, or (q,) bool array for many pairs

        Examples
        --------
        >>> mesh = NavMesh.from_polygons([(0, 0), (1, 0), (1, 1), (5, 0), (6, 0), (6, 1)], [[0, 1, 2], [3, 4, 5]])
        >>> jump = mesh.add_link((1, 0.5), (5, 0), both_ways=False)
        >>> mesh.reachable((0.5, 0.1), (6, 0.5)), mesh.reachable((6, 0.5), (0.5, 0.1))
        (True, False)
        >>> mesh.reachable([(0.5, 0.1), (6, 0.5)], [(6, 0.5), (0.5, 0.1)]).tolist()
        [True, False]
        """
        snapshot = self._snapshot
        area_costs = snapshot.area_costs(costs)
        first, one = one_or_many(starts, "starts")
        last, other = one_or_many(goals, "goals")
        if one != other:
            raise ParameterError("starts and goals must be two points, or two arrays of points of the same length")
        checks.same_length(first, last)
        names = ("start", "goal") if one else ("starts", "goals")
        found, places = snapshot.on_mesh(np.concatenate([first, last]), *names)
        pieces = snapshot.surround(found, places, area_costs.closed)
        pairs = zip(pieces[: len(first)], pieces[len(first) :], strict=True)
        joined = np.array([queries.open_ends(snapshot, a, b, area_costs) is not None for a, b in pairs], np.bool_)
        return bool(joined[0]) if one else joined

    @checks.renamed(optimal="exact")
    def paths(
        self,
        starts: ArrayLike,
        goals: ArrayLike,
        *,
        exact: bool = True,
        costs: Mapping[int, float] | None = None,
        budget: int | None = None,
        workers: int | None = None,
    ) -> Paths:
        """Find paths for many queries, in threads.

        Parameters
        ----------
        starts, goals : (q, 2) or (q, 3) array_like
            Points on the mesh, one goal for each start.
        exact, costs, budget
            As for `path`, the same for all queries.
        workers : int, >= 1, optional
            Threads, all cores by default. The result does not depend on it.

        Examples
        --------
        >>> mesh = NavMesh.from_polygons([(0, 0), (4, 0), (4, 4), (0, 4)], [[0, 1, 2, 3]])
        >>> mesh.paths([(1, 1), (1, 1)], [(1, 3), (4, 1)]).costs.tolist()
        [2.0, 3.0]
        """
        first, last = checks.floats(starts, "starts"), checks.floats(goals, "goals")
        for name, array in (("starts", first), ("goals", last)):
            if array.ndim != 2 or array.shape[1] not in (2, 3):
                raise ParameterError(f"{name} must have shape (q, 2) or (q, 3), not {array.shape}")
        checks.same_length(first, last)
        result: list[Any] = [None] * len(first)

        def work(begin: int, end: int) -> None:
            for query in range(begin, end):
                result[query] = self.path(first[query], last[query], exact=exact, costs=costs, budget=budget)

        run_chunks(work, len(first), workers=workers, chunk=8)
        return Paths.of(result)

    # --- changes ---------------------------------------------------------------------------------------------

    @checks.renamed(one_way=("both_ways", checks.opposite("one_way")))
    def add_link(
        self, start: ArrayLike, end: ArrayLike, *, cost: float | None = None, kind: str = "", both_ways: bool = True
    ) -> int:
        """Join two places of the mesh across a gap: a jump, a ladder, a teleporter.

        Parameters
        ----------
        start, end : (x, y) or (x, y, z)
            Points on the mesh, within the tolerances of `locate`.
        cost : float, 0 to 1e28, optional
            What it costs to use it; the straight distance by default.
        kind : str
            Free text that `links` gives back, such as "jump".
        both_ways : bool
            Whether it also leads from end to start.

        Returns
        -------
        int
            The link's id, for `remove_link`. It is used only once within a mesh, and survives `rebuild` and saving.

        Examples
        --------
        >>> mesh = NavMesh.from_polygons([(0, 0), (1, 0), (1, 1), (5, 0), (6, 0), (6, 1)], [[0, 1, 2], [3, 4, 5]])
        >>> jump = mesh.add_link((1, 0.5), (5, 0), cost=2.0, kind="jump")
        >>> mesh.path((1, 0), (6, 0)).cost
        3.5
        >>> mesh.remove_link(jump)
        >>> mesh.path((1, 0), (6, 0)).found, mesh.links
        (False, ())
        """
        with self._edit:
            snapshot = self._snapshot
            _, places = snapshot.on_mesh(points_of(start, end), "start", "end")
            gap = float(np.linalg.norm(places[1] - places[0]))
            places = snapshot.frame.world(places)
            price = gap if cost is None else checks.number(cost, "cost", low=0.0, high=checks.LARGEST_COST)
            link = Link(snapshot.next_link, _place(places[0]), _place(places[1]), price, str(kind), bool(both_ways))
            self._snapshot = snapshot.with_links((*snapshot.links, link), link.id + 1)
        return link.id

    def remove_link(self, id: int) -> None:
        """Remove a link by its id.

        Parameters
        ----------
        id : int
            What `add_link` returned.

        Raises
        ------
        EditError
            When there is no such link: it was removed, or lost the ground at one of its ends in a `rebuild`.

        Examples
        --------
        >>> islands = NavMesh.from_polygons([(0, 0), (1, 0), (1, 1), (5, 0), (6, 0), (6, 1)], [[0, 1, 2], [3, 4, 5]])
        >>> ferry = islands.add_link((1, 0.5), (5, 0), kind="ferry")
        >>> islands.remove_link(ferry)
        >>> islands.reachable((1, 0), (6, 0))
        False
        """
        number = checks.whole(id, "id", low=0)
        with self._edit:
            snapshot = self._snapshot
            kept = tuple(link for link in snapshot.links if link.id != number)
            if len(kept) == len(snapshot.links):
                raise EditError(f"there is no link {number}; `links` lists those there are")
            self._snapshot = snapshot.with_links(kept, snapshot.next_link)

    def clear_links(self) -> None:
        """Remove all links. Their ids are not used again.

        >>> islands = NavMesh.from_polygons([(0, 0), (1, 0), (1, 1), (5, 0), (6, 0), (6, 1)], [[0, 1, 2], [3, 4, 5]])
        >>> jumps = [islands.add_link((1, 0), (5, 0)), islands.add_link((1, 1), (6, 1), both_ways=False)]
        >>> islands.clear_links()
        >>> islands.num_links
        0
        """
        with self._edit:
            snapshot = self._snapshot
            self._snapshot = snapshot.with_links((), snapshot.next_link)

    @checks.renamed(kinds="areas")
    def rebuild(
        self,
        box: ArrayLike,
        mesh: Mesh,
        *,
        areas: ArrayLike | None = None,
        zones: Sequence[Zone] = (),
        workers: int | None = None,
    ) -> None:
        """Build again the tiles that a change inside a box touches.

        Parameters
        ----------
        box : (2, 3) array_like, metres
            Box around everything that changed, before and after: its low and high corner.
        mesh : Mesh
            The whole geometry after the change.
        areas, zones
            As for `build`, for the whole changed world. A zone that comes or goes is a change inside its box.
        workers : int, >= 1, optional
            Threads.

        Raises
        ------
        EditError
            When the mesh does not come from `build`, or the box reaches outside its bounds. Nothing is changed then.

        Notes
        -----
        The result is the same as that of `build` with the changed mesh and the same `bounds`, array by array. Links
        stay where both of their ends still have ground. Only the touched tiles are built; what follows from the rest
        of the mesh is carried over, so a tile of a world of 150,000 polygons takes milliseconds. With seeds as `keep`
        islands are judged anew over the whole mesh, which takes longer.

        Examples
        --------
        >>> square = Mesh([(0, 0, 0), (8, 0, 0), (8, 8, 0), (0, 8, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> halved = Mesh([(0, 0, 0), (4, 0, 0), (4, 8, 0), (0, 8, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> ground = NavMesh.build(square, Agent(radius=0.5), cell_size=0.25)
        >>> ground.path((1, 4), (7, 4)).found
        True
        >>> ground.rebuild([(4, 0, -1), (8, 8, 1)], halved)
        >>> ground.locate([(1, 4), (7, 4)]).tolist()
        [0, -1]
        """
        with self._edit:
            self._snapshot = self._changed(box, mesh, areas, zones, workers)

    @checks.renamed(kinds="areas")
    def changed(
        self,
        box: ArrayLike,
        mesh: Mesh,
        *,
        areas: ArrayLike | None = None,
        zones: Sequence[Zone] = (),
        workers: int | None = None,
    ) -> NavMesh:
        """Return the mesh after a change, which shares what did not change; this one stays as it is.

        Parameters are those of `rebuild`.

        >>> square = Mesh([(0, 0, 0), (8, 0, 0), (8, 8, 0), (0, 8, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> halved = Mesh([(0, 0, 0), (4, 0, 0), (4, 8, 0), (0, 8, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> before = NavMesh.build(square, Agent(radius=0.5), cell_size=0.25)
        >>> after = before.changed([(4, 0, -1), (8, 8, 1)], halved)
        >>> before.reachable((1, 4), (7, 4)), before.locate((7, 4)), after.locate((7, 4))
        (True, 0, -1)
        """
        return mesh_of(self._changed(box, mesh, areas, zones, workers), self._agent)

    rebuilt = checks.moved("rebuilt", "changed")

    def _changed(
        self, box: ArrayLike, mesh: Mesh, areas: ArrayLike | None, zones: Sequence[Zone], workers: int | None
    ) -> MeshSnapshot:
        snapshot = self._snapshot
        if snapshot.built is None:
            raise EditError("only a mesh that NavMesh.build made can be rebuilt")
        built, topology = building.rebuild(
            snapshot.built,
            snapshot.topology,
            box,
            mesh,
            areas=building.check_areas(mesh, areas),
            zones=check_zones(zones),
            workers=workers,
        )
        after = MeshSnapshot(topology, built, before=snapshot)
        return after.with_links(snapshot.links, snapshot.next_link)

    # --- places ------------------------------------------------------------------------------------------------------

    @checks.renamed(reach="max_distance")
    def locate(self, points: ArrayLike, *, tolerance: float | None = None, max_distance: float | None = None) -> Any:
        """Return the polygon of each point.

        Parameters
        ----------
        points : (q, 3) or (q, 2) array_like, or one point
            Without heights the lowest-numbered polygon at any height is taken. A point on a border belongs to every
            polygon that touches it; paths, rays and links know that, and this is the one with the lowest number.
        tolerance : float, metres, >= 0, optional
            A point beside the mesh belongs to the nearest polygon within this distance. By default the agent's radius
            plus a cell for a built mesh, 0 for polygons from elsewhere.
        max_distance : float, metres, >= 0, optional
            How far above or below a surface a point may be: by default the agent's height for a built mesh, any
            distance for polygons from elsewhere. Of several floors the nearest is taken.

        Returns
        -------
        (q,) int32 array, or an int for one point
            -1 where there is no polygon.

        Examples
        --------
        >>> hall = NavMesh.from_polygons([(0, 0), (4, 0), (9, 0), (9, 2), (4, 2), (0, 2)], [[0, 1, 4, 5], [1, 2, 3, 4]])
        >>> hall.locate([(1, 1), (5, 1), (9.5, 1)]).tolist()
        [0, 1, -1]
        >>> hall.locate((9.5, 1), tolerance=1.0)
        1
        """
        found, _, single = self._snapshot.find(points, tolerance, max_distance)
        return int(found[0]) if single else found

    @checks.renamed(reach="max_distance")
    def project(
        self, points: ArrayLike, *, tolerance: float | None = None, max_distance: float | None = None
    ) -> Points:
        """Put each point onto the surface of its polygon (see `locate`); NaN where there is none.

        >>> ramp = NavMesh.from_polygons([(0, 0, 0), (4, 0, 2), (4, 4, 2), (0, 4, 0)], [[0, 1, 2, 3]])
        >>> ramp.project([(2, 1), (5, 1)], tolerance=0.5).tolist()
        [[2.0, 1.0, 1.0], [nan, nan, nan]]
        >>> ramp.project((5, 1), tolerance=2.0).tolist()
        [4.0, 1.0, 2.0]
        """
        snapshot = self._snapshot
        found, places, single = snapshot.find(points, tolerance, max_distance)
        places = snapshot.frame.world(places)
        places[found < 0] = np.nan
        return np.asarray(places[0]) if single else places

    def nearest(
        self, points: ArrayLike, *, max_distance: float | None = None, costs: Mapping[int, float] | None = None
    ) -> Points:
        """Find the place on open ground that is nearest to each point in space.

        Parameters
        ----------
        points : (x, y[, z]), or (q, 2) or (q, 3) array_like
            One point or many, anywhere. Without a height any height counts as the point's own.
        max_distance : float, metres, >= 0, optional
            How far away a place may be, seen from above and in height; any distance by default.
        costs : mapping of kind of area to cost, optional
            Areas with infinite cost are closed.

        Returns
        -------
        (3,) array for one point, (q, 3) for many
            Of many points, those without ground near them have a row of NaN.

        Raises
        ------
        OffMapError
            When there is no ground near one point that is asked for alone.

        Notes
        -----
        Of each polygon two places are looked at: the one below or above the point, and the one on its rim that is
        nearest seen from above. On slopes another place may be nearer by a little.

        Examples
        --------
        >>> mesh = NavMesh.from_polygons([(0, 0, 1), (4, 0, 1), (4, 4, 1), (0, 4, 1)], [[0, 1, 2, 3]])
        >>> mesh.nearest((5, 2, 0)).tolist()
        [4.0, 2.0, 1.0]
        >>> mesh.nearest([(2, 2), (9, 2)], max_distance=1.0).tolist()
        [[2.0, 2.0, 1.0], [nan, nan, nan]]
        """
        snapshot = self._snapshot
        anywhere = max_distance is None or checks.real(max_distance, "max_distance") == np.inf
        limit = _ANYWHERE if anywhere else checks.number(max_distance, "max_distance", low=0.0)
        shut = snapshot.shut(snapshot.area_costs(costs).closed)
        array, single = one_or_many(points)
        places, left = np.full(array.shape, np.nan), np.arange(len(array))
        for away in _growing(snapshot, limit):
            found, spots, _ = snapshot.find(array[left], away, away, in_space=True, shut=shut)
            spots = snapshot.frame.world(spots)
            # What is farther away than was looked around for may not be the nearest.
            sure = (found >= 0) & ((np.nansum((spots - array[left]) ** 2, axis=1) <= away * away) | (away >= limit))
            places[left[sure]] = spots[sure]
            left = left[~sure]
            if not len(left):
                break
        if not single:
            return places
        if len(left):
            where = text.place(array[0], snapshot.frame.extent)
            raise OffMapError(f"there is no open ground {'near' if anywhere else f'within {limit:g} m of'} ({where})")
        return np.asarray(places[0])

    def random_points(
        self,
        count: int,
        *,
        seed: int = 0,
        near: ArrayLike | None = None,
        radius: float | None = None,
        component: int | None = None,
    ) -> Points:
        """Draw points evenly spread over the mesh (seen from above), on its surface.

        Parameters
        ----------
        count : int, >= 0
        seed : int, >= 0
        near : (x, y[, z]), optional
            Only on ground around this place, on all floors; it need not be on the mesh itself. Goes with `radius`.
        radius : float, metres, > 0, optional
            How far from `near` points may be, seen from above.
        component : int, optional
            Only on this connected component.

        Examples
        --------
        >>> mesh = NavMesh.from_polygons([(0, 0), (9, 0), (9, 9), (0, 9)], [[0, 1, 2, 3]])
        >>> points = mesh.random_points(50, seed=1, near=(0, 0), radius=2.0)
        >>> bool((points >= 0).all() and (np.hypot(points[:, 0], points[:, 1]) <= 2.0).all())
        True
        """
        count = checks.whole(count, "count", low=0, high=checks.MOST_POINTS)
        snapshot = self._snapshot
        weights = snapshot.topology.polygon_areas
        if component is not None:
            component = checks.whole(component, "component", low=0)
            weights = np.where(snapshot.components == component, weights, 0.0)
        where = "" if component is None else " in it"
        if (near is None) != (radius is None):
            raise ParameterError("near and radius go together: give both or neither")
        if near is None or radius is None:
            return snapshot.scattered(weights, count, seed, where)
        middle = checks.point3(near, "near")
        radius = checks.number(radius, "radius", low=0.0, high=checks.LARGEST, open_low=True)
        return self._scattered_around(snapshot, weights > 0.0, count, seed, middle, radius, where)

    @staticmethod
    def _scattered_around(
        snapshot: MeshSnapshot,
        usable: NDArray[np.bool_],
        count: int,
        seed: int,
        middle: Points,
        radius: float,
        where: str,
    ) -> Points:
        """Points drawn from the usable polygons within a radius of a place."""
        random = np.random.default_rng(checks.whole(seed, "seed", low=0))
        polygons, corners = _around(snapshot, usable, snapshot.frame.local(middle)[:2], radius)
        doubled = _doubled_areas(corners)
        if not doubled.sum() > 0.0:
            place = text.place(middle, snapshot.frame.extent)
            raise ParameterError(f"there is no ground to draw points from{where} within {radius:g} m of ({place})")
        ends = np.cumsum(doubled)
        chosen = np.searchsorted(ends, random.random(count) * ends[-1], side="right")
        chosen = np.minimum(chosen, len(ends) - 1)
        root, share = np.sqrt(random.random(count))[:, None], random.random(count)[:, None]
        a, b, c = (corners[chosen, corner] for corner in range(3))
        result = np.zeros((count, 3))
        result[:, :2] = (1.0 - root) * a + root * (1.0 - share) * b + root * share * c
        _ground_kernels.heights(snapshot.ground, polygons[chosen], result)
        return snapshot.frame.world(result)

    def raycast(self, start: ArrayLike, target: ArrayLike, *, costs: Mapping[int, float] | None = None) -> RayHit:
        """Walk straight (seen from above) from one point towards another, over the surface, until a wall.

        Along a border and through a vertex the walk goes on where any side is open.

        Parameters
        ----------
        start, target : (x, y) or (x, y, z)
            The start must be on the mesh; the target may be anywhere.
        costs : mapping of kind of area to cost, optional
            Areas with infinite cost are walls.

        Examples
        --------
        >>> corners = [(0, 0), (8, 0), (8, 4), (0, 4), (0, 8), (4, 8), (4, 4)]
        >>> angle = NavMesh.from_polygons(corners, [[0, 1, 2, 6, 3], [3, 6, 5, 4]])
        >>> angle.raycast((1, 7), (3, 1)).wall is None
        True
        >>> hit = angle.raycast((2, 2), (6, 6))
        >>> hit.point[:2].tolist(), round(hit.fraction, 2)
        ([4.0, 4.0], 0.5)
        """
        snapshot = self._snapshot
        found, places = snapshot.on_mesh(points_of(start), "start")
        to = snapshot.frame.local(checks.point3(target, "target"))
        place, closed = places[0], snapshot.area_costs(costs).closed
        plane, near = snapshot.plane(closed), snapshot.topology.near
        starts = snapshot.surround(found, places, closed)[0]
        if not len(starts):  # on closed ground, which one may leave
            starts = plane.firsts[found]
        part, last, edge = -1.0, 0, -1
        for piece in starts.tolist():
            walked = _ground_kernels.FULL, _ground_kernels.FULL, -1
            room = 64
            while walked[1] == _ground_kernels.FULL:
                walked = _ground_kernels.walk(plane, piece, *place[:2], *to[:2], near, np.empty(room, np.int32))
                room *= 8
            if walked[0] > part:
                part, last, edge = walked
        last = int(plane.owners[last])
        point = np.array([*(place[:2] + part * (to[:2] - place[:2])), 0.0])
        if part >= 1.0:
            point[:2] = to[:2]
        _ground_kernels.heights(snapshot.ground, np.array([last], np.int32), point[None])
        wall = None
        if edge >= 0:
            ends = plane.corners[[edge, plane.twins[edge]]] if plane.sources[edge] < 0 else None
            if ends is None:
                source = int(plane.sources[edge])
                ends = snapshot.ground.corners[[source, snapshot.topology.nexts[source]]]
            wall = snapshot.frame.world(snapshot.ground.vertices[ends])
        return RayHit(snapshot.frame.world(point), float(part), last, wall)

    def move_along(self, start: ArrayLike, target: ArrayLike, *, costs: Mapping[int, float] | None = None) -> Points:
        """Move towards a target nearby, sliding along walls; return the reachable point nearest to it, (3,), metres.

        Parameters
        ----------
        start, target : (x, y) or (x, y, z)
            The start must be on the mesh. Only polygons around the straight line are searched: meant for the steps of
            a moving character, not for paths.
        costs : mapping of kind of area to cost, optional
            Areas with infinite cost are walls.

        Examples
        --------
        >>> corners = [(0, 0), (8, 0), (8, 4), (0, 4), (0, 8), (4, 8), (4, 4)]
        >>> angle = NavMesh.from_polygons(corners, [[0, 1, 2, 6, 3], [3, 6, 5, 4]])
        >>> angle.move_along((3, 6), (4.5, 5.5)).tolist()
        [4.0, 5.5, 0.0]
        """
        snapshot = self._snapshot
        found, places = snapshot.on_mesh(points_of(start), "start")
        to = snapshot.frame.local(checks.point3(target, "target"))
        closed = snapshot.area_costs(costs).closed
        starts = snapshot.holding(found, places, closed)[0]
        room = 64
        while True:
            polygon, x, y = _ground_kernels.slide(
                snapshot.ground, closed, snapshot.areas, starts if len(starts) else found, *places[0, :2], *to[:2],
                snapshot.topology.near, np.empty(room, np.int32),
            )  # fmt: skip
            if polygon != _ground_kernels.FULL:
                break
            room *= 4
        point = np.array([[x, y, 0.0]])
        _ground_kernels.heights(snapshot.ground, np.array([polygon], np.int32), point)
        return snapshot.frame.world(point[0])

    # --- files -----------------------------------------------------------------------------------------------

    _SCHEMA = archive.SCHEMA

    def _to_parts(self) -> Parts:
        return archive.to_parts(self._snapshot)

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        snapshot = archive.from_parts(parts)
        made: Any = mesh_of(snapshot, None if snapshot.built is None else snapshot.built.agent)
        return made  # type: ignore[no-any-return]

    def export(self, file: File, *, version: int = 2) -> None:
        """Write the polygons to a file that other tools read.

        Parameters
        ----------
        file : path
            `.mesh` (heights are lost) or `.obj` (z up). Links and areas are not written.
        version : int, 2 or 3
            Format of a `.mesh` file.

        Examples
        --------
        >>> hall = NavMesh.from_polygons([(0, 0), (4, 0), (9, 0), (9, 2), (4, 2), (0, 2)], [[0, 1, 4, 5], [1, 2, 3, 4]])
        >>> hall.export("hall.obj")
        >>> NavMesh.read("hall.obj").num_polygons
        2
        """
        write_polygons(self._snapshot, file, version)


def mesh_of(snapshot: MeshSnapshot, agent: Agent | None) -> NavMesh:
    """The navigation mesh that is what a snapshot says, for queries of that moment and for its next edits."""
    result = NavMesh.__new__(NavMesh)
    result._snapshot = snapshot
    result._agent = agent
    result._edit = threading.Lock()
    return result
