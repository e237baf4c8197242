"""`NavMesh`: walkable ground as convex polygons, with shortest paths over it.

Built from any triangles by the voxel pipeline of Fuentes 2015, section III.A, or given as polygons from elsewhere.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
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
from wayfold.navmesh import _ground_kernels, archive, building, polygons, queries
from wayfold.navmesh._ground_kernels import PolyMesh
from wayfold.navmesh.pipeline import Settings, usual_cell_size
from wayfold.navmesh.queries import PathQuery, cheapest, straightened
from wayfold.navmesh.snapshot import (
    NO_POLYGONS,
    Points,
    Rates,
    State,
    Version,
    find,
    linked,
    no_links,
    points_of,
    tolerances,
)
from wayfold.navmesh.tiles import Zone, check_bounds, check_zones
from wayfold.navmesh.topology import Topology
from wayfold.navmesh.why import Reasons
from wayfold.path import Path, Status


class RayHit(NamedTuple):
    """Where a straight walk ended."""

    point: Points
    """(3,) the last point, on the surface."""
    fraction: float
    """How much of the way was walked, 0 to 1."""
    polygon: int
    """The polygon of that point."""
    wall: Points | None
    """(2, 3) ends of the wall that was met, None where the target was reached."""


File = str | os.PathLike[str]


@checks.checked
class NavMesh(Savable):
    """Convex polygons that a character walks on, with paths over them.

    Make one with `build`, `from_polygons` or `read`. Any number of threads may query it, also while another one edits
    it: a query sees the mesh as it was or as it is, whole. Nothing returned by a property may be changed.

    Notes
    -----
    Lengths are measured in the plane, so `Path.cost` is the length seen from above; `Path.length` is that of
    `Path.points` in space. A vertex takes 24 bytes, a polygon 17, an edge 8. Queries add 4 bytes an edge, 32 a portal
    and about 60 a polygon on first use, and a corridor search borrows 24 a portal. Where costs differ an optimal path
    borrows 5 a polygon, 8 a portal and up to 6 MB for the points of portals that it searches.
    """

    _OWN = (("_edit", threading.Lock),)

    def __init__(self, ground: PolyMesh, kinds: NDArray[np.uint8], *, agent: Agent | None = None) -> None:
        frame = Frame.of(ground.vertices)
        local = ground._replace(
            vertices=frame.local(ground.vertices), surface_points=frame.local(ground.surface_points)
        )
        self._now = Version(State(Topology(local, kinds, frame)), None, ())
        self._agent = agent
        self._edit = threading.Lock()

    # --- making one ------------------------------------------------------------------------------------------

    @classmethod
    @interruptible
    def build(
        cls,
        mesh: Mesh,
        agent: Agent | None = None,
        *,
        cell_size: float | None = None,
        cell_height: float = 0.2,
        tile_size: int | None = None,
        keep: Literal["all", "largest"] | ArrayLike = "all",
        kinds: ArrayLike | None = None,
        zones: Sequence[Zone] = (),
        bounds: ArrayLike | None = None,
        workers: int | None = None,
        progress: Callable[[str, int, int], None] | None = None,
        **more: Any,
    ) -> NavMesh:
        """Build a navigation mesh from triangles.

        Parameters
        ----------
        mesh : Mesh
            Any triangles, z up; they may cross, overlap and have holes. Only what faces up is walked on.
        agent : Agent, optional
            Who walks: radius, height, climb and slope count. The default agent if none is given.
        cell_size : float, metres, > 0, optional
            Side of a voxel column. 0.7 of the agent's radius by default, at most 0.3: up to there the agent gets
            through every opening between walls that is 2.25 radii wide (see Notes). Larger cells build faster and
            close narrow openings: those below 3 radii with cells as wide as the radius.
        cell_height : float, metres, > 0
            Height of a voxel.
        tile_size : int, columns, 8 to 4096, or 0, optional
            Side of a tile; 0 for one tile whatever the size. By default one tile up to 2048 columns, else 256.
        keep : "all", "largest" or (k, 3) points
            Which connected islands stay: all, the one with the largest area, or those within 1 m of seed points.
        kinds : (m,) array_like of int, 0 to 255, optional
            Kind of area of each triangle, for costs; 0 is never walked on. 1 everywhere by default.
        zones : sequence of (polygon, low, high, kind), optional
            Prisms over simple polygons, (k, 2) corners, from height low to high, in which the ground is of another
            kind from 1 to 255; later ones win. One of kind 0 is closed: it keeps the agent off as if it were solid. An
            array of 256 kinds says what each kind becomes there.
        bounds : (2, 3) array_like, metres, optional
            The box that tiles cover; that of the mesh by default. Give it to leave room for later changes.
        workers : int, >= 1, optional
            Threads, all cores by default. The result does not depend on it.
        progress : callable, optional
            Called as ``progress(what, done, total)`` with tiles.
        **more
            `min_region`, `merge_region`, `max_edge`, `max_error`, `max_bulge`, `max_corners`, `detail_error`: see
            `wayfold.navmesh.Settings`.

        Raises
        ------
        GeometryError
            When nothing faces up or the agent can stand nowhere.
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
        """
        who = Agent() if agent is None else agent
        if not isinstance(mesh, Mesh) or not isinstance(who, Agent):
            raise ParameterError(f"build needs a Mesh and an Agent, not {type(mesh).__name__}, {type(who).__name__}")
        try:
            cell = usual_cell_size(who) if cell_size is None else cell_size
            settings = Settings(cell, cell_height, tile_size=0 if tile_size is None else tile_size, **more)
        except TypeError as error:
            raise ParameterError(f"unknown setting: {error}") from None
        built, layout = building.build(
            mesh,
            who,
            settings,
            tile_size,
            kinds=building.check_kinds(mesh, kinds),
            zones=check_zones(zones),
            bounds=None if bounds is None else check_bounds(bounds),
            keep=building.check_keep(keep),
            workers=workers,
            progress=stage(progress, "navigation mesh"),
        )
        return cls._of(Version(State(layout), built, ()), who)

    @classmethod
    def _of(cls, now: Version, agent: Agent | None) -> Self:
        """A mesh that is what a version says."""
        result = cls.__new__(cls)
        result._now = now
        result._agent = agent
        result._edit = threading.Lock()
        return result

    @classmethod
    def from_polygons(
        cls, vertices: ArrayLike, polygons_: Sequence[ArrayLike] | ArrayLike, *, kinds: ArrayLike | None = None
    ) -> NavMesh:
        """A navigation mesh from polygons that come from elsewhere.

        Parameters
        ----------
        vertices : (n, 2) or (n, 3) array_like, metres
            Equal vertices are taken as one.
        polygons_ : sequence of arrays of int
            Corners of each polygon, at least three, in either direction; convex seen from above. Polygons that share
            an edge (two vertices) are neighbours.
        kinds : (p,) array_like of int, 0 to 255, optional
            Kind of area of each polygon, 1 by default.

        Raises
        ------
        GeometryError
            When a polygon is not convex, names a vertex that is not there, or lies on the same side of an edge as
            another one.
        """
        checks.several(polygons_.tolist() if isinstance(polygons_, np.ndarray) else polygons_, "polygons_")
        return cls(*polygons.from_lists(vertices, polygons_, kinds))

    @classmethod
    def read(cls, file: File) -> NavMesh:
        """Read a mesh of polygons: `.mesh` (formats 2 and 3 of the any-angle benchmarks) or `.obj` with polygon faces.

        Faces that a `.mesh` file calls non-traversable are left out; edges that it calls constrained are walls. An OBJ
        file is taken z up.
        """
        from wayfold.navmesh import files

        return cls(*files.read(file))

    # --- what it is ------------------------------------------------------------------------------------------

    @property
    def agent(self) -> Agent | None:
        """Who it was built for; None for polygons from elsewhere."""
        return self._agent

    @property
    def vertices(self) -> Points:
        """(n, 3) corners of the polygons, metres."""
        state = self._now.state
        return state.frame.world(state.ground.vertices) if any(state.frame.origin) else state.ground.vertices

    @property
    def polygons(self) -> list[NDArray[np.int32]]:
        """Vertex numbers of each polygon, counter-clockwise seen from above."""
        ground = self._now.state.ground
        return np.split(ground.corners, ground.offsets[1:-1]) if self.num_polygons else []

    @property
    def neighbours(self) -> list[NDArray[np.int32]]:
        """For each polygon the polygon beyond each edge (from corner k to the next), -1 where there is none."""
        ground = self._now.state.ground
        return np.split(ground.neighbours, ground.offsets[1:-1]) if self.num_polygons else []

    @property
    def num_polygons(self) -> int:
        """Number of polygons."""
        return self._now.state.num_polygons

    @property
    def kinds(self) -> NDArray[np.uint8]:
        """(p,) kind of area of each polygon."""
        return self._now.state.kinds

    @property
    def areas(self) -> Points:
        """(p,) area of each polygon seen from above, square metres."""
        return self._now.state.layout.areas

    @property
    def area(self) -> float:
        """Area of all polygons seen from above, square metres."""
        return float(self._now.state.layout.areas.sum())

    @property
    def graph(self) -> Graph:
        """Polygons as nodes at their centres; a step costs the way through the portal's middle, in metres."""
        return self._now.state.graph

    @property
    def components(self) -> NDArray[np.int32]:
        """(p,) connected component of each polygon, from 0; different numbers mean that there is no path."""
        return self._now.state.components

    @property
    def num_links(self) -> int:
        """Number of links as they were given."""
        return len(self._now.asked)

    @property
    def nbytes(self) -> int:
        """Bytes of the mesh, without indices and search workspaces."""
        state = self._now.state
        return sum(array.nbytes for array in state.ground) + state.kinds.nbytes

    def __repr__(self) -> str:
        return f"<NavMesh: {self.num_polygons} polygons, {len(self.vertices)} vertices, {self.area:.5g} m2>"

    # --- paths -----------------------------------------------------------------------------------------------

    def path(
        self,
        start: ArrayLike,
        goal: ArrayLike,
        *,
        optimal: bool = True,
        costs: Mapping[int, float] | None = None,
        budget: int | None = None,
    ) -> Path:
        """A path between two points.

        Parameters
        ----------
        start, goal : (x, y) or (x, y, z)
            Points on the mesh, within the tolerances of `locate`.
        optimal : bool
            Search the shortest path on the mesh itself, which is exact; where open kinds that occur cost differently,
            a path that bends at their borders and runs along them, seldom dearer than the cheapest by a thousandth,
            with the bound in `Path.lower_bound`. Otherwise search a corridor of polygons through portal middles and
            pull a string through it (funnel): faster in large worlds, seldom the shortest, and straight over borders.
        costs : mapping of kind to cost of a metre, optional
            Above 0; infinite closes a kind of area; 1 for kinds that are not named. Along a border the cheaper side
            counts.
        budget : int, >= 1, optional
            Expand at most this many search nodes.

        Returns
        -------
        Path
            `points` are start, corners and goal, on the surface; `nodes` are the polygons on the way; `cost` is the
            integral of the cost of a metre along the points, seen from above, and what links cost. Goals that cannot be
            reached are answered without search. `lower_bound` is told with `optimal`, None without.

        Notes
        -----
        A point on a border belongs to every polygon that touches it, so beside closed ground one is on open ground.
        Where polygons only touch in a corner nobody gets through.
        """
        now = self._now
        state = now.state
        limit = searcher.check_budget(budget)
        rates = state.rates(costs)
        found, places = self._ends(now, points_of(start, goal), "start", "goal")
        starts, goals = state.surround(found, places, rates.closed)
        ends = queries.open_ends(state, starts, goals, rates)
        if ends is None:
            return Path(Status.UNREACHABLE, why=partial(self._why, state, rates, found, places))
        first, last = ends
        if first == last and rates.even and not len(state.links.costs):
            path = queries.same_polygon(first, places[0], places[1], rates.lowest)
        elif optimal and rates.even:
            path = queries.shortest(state, starts, goals, places[0], places[1], rates, limit)
        else:
            path = queries.corridor(state, first, last, places[0], places[1], rates, limit)
            if optimal:
                some, others = state.holding(found, places, rates.closed)
                path = cheapest(PathQuery(state, rates, some, others, places[0], places[1]), path, limit)
        if rates.even:
            path._smoother = partial(straightened, now, rates)
            if optimal and path.found:
                path._lower_bound = path.cost
        return queries.placed(state, path)

    def _why(self, state: State, rates: Rates, found: NDArray[np.int32], places: Points) -> str:
        starts, goals = state.holding(found, places, rates.closed)
        return Reasons(state, rates, self._agent).tell(starts.tolist(), goals.tolist())

    def reachable(self, start: ArrayLike, goal: ArrayLike, *, costs: Mapping[int, float] | None = None) -> bool:
        """Whether there is a path from a start to a goal, without search; links count in their direction only.

        Parameters are those of `path`.

        >>> mesh = NavMesh.from_polygons([(0, 0), (1, 0), (1, 1), (5, 0), (6, 0), (6, 1)], [[0, 1, 2], [3, 4, 5]])
        >>> mesh.add_link((1, 0.5), (5, 0), one_way=True)
        >>> mesh.reachable((0.5, 0.1), (6, 0.5)), mesh.reachable((6, 0.5), (0.5, 0.1))
        (True, False)
        """
        now = self._now
        rates = now.state.rates(costs)
        found, places = self._ends(now, points_of(start, goal), "start", "goal")
        starts, goals = now.state.surround(found, places, rates.closed)
        return queries.open_ends(now.state, starts, goals, rates) is not None

    def paths(self, starts: ArrayLike, goals: ArrayLike, *, workers: int | None = None, **options: Any) -> list[Path]:
        """Paths of many queries, (q, 2) or (q, 3) points each, in threads; options as for `path`."""
        first, last = checks.floats(starts, "starts"), checks.floats(goals, "goals")
        for name, array in (("starts", first), ("goals", last)):
            if array.ndim != 2 or array.shape[1] not in (2, 3):
                raise ParameterError(f"{name} must have shape (q, 2) or (q, 3), not {array.shape}")
        checks.same_length(first, last)
        result: list[Any] = [None] * len(first)

        def work(begin: int, end: int) -> None:
            for at in range(begin, end):
                result[at] = self.path(first[at], last[at], **options)

        run_chunks(work, len(first), workers=workers, chunk=8)
        return result

    # --- changes ---------------------------------------------------------------------------------------------

    def add_link(self, start: ArrayLike, end: ArrayLike, *, cost: float | None = None, one_way: bool = False) -> None:
        """Join two places of the mesh across a gap: a jump, a ladder, a teleporter.

        Parameters
        ----------
        start, end : (x, y) or (x, y, z)
            Points on the mesh, within the tolerances of `locate`.
        cost : float, 0 to 1e28, optional
            What it costs to use it; the straight distance by default.
        one_way : bool
            Whether it leads only from start to end.
        """
        with self._edit:
            now = self._now
            _, places = self._ends(now, points_of(start, end), "start", "end")
            gap = float(np.linalg.norm(places[1] - places[0]))
            places = now.state.frame.world(places)
            price = gap if cost is None else checks.number(cost, "cost", low=0.0, high=checks.LARGEST_COST)
            asked = (*now.asked, (places[0].copy(), places[1].copy(), price, bool(one_way)))
            self._now = linked(Version(now.state, now.built, asked))

    def clear_links(self) -> None:
        """Remove all links."""
        with self._edit:
            now = self._now
            self._now = Version(now.state.with_links(no_links(now.state.num_polygons)), now.built, ())

    def rebuild(
        self,
        box: ArrayLike,
        mesh: Mesh,
        *,
        kinds: ArrayLike | None = None,
        zones: Sequence[Zone] = (),
        workers: int | None = None,
    ) -> None:
        """Build again the tiles that a change inside a box touches.

        Parameters
        ----------
        box : (2, 3) array_like, metres
            Low and high corner of a box around everything that changed, before and after.
        mesh : Mesh
            The whole changed geometry.
        kinds, zones
            As for `build`, for the whole changed world. A zone that comes or goes is a change inside its box.
        workers : int, >= 1, optional
            Threads.

        Raises
        ------
        EditError
            When the mesh was not built here, or the box reaches outside its bounds. The mesh is as it was before.

        Notes
        -----
        The result is the same as that of `build` with the changed mesh and the same `bounds`, array by array. Links
        stay where both of their ends still have ground. Only the touched tiles are built; what follows from the rest
        of the mesh is carried over, so a tile of a world of 150,000 polygons takes milliseconds. With seeds as `keep`
        islands are judged anew over the whole mesh, which takes longer.
        """
        with self._edit:
            self._now = self._rebuilt(box, mesh, kinds, zones, workers)

    def rebuilt(
        self,
        box: ArrayLike,
        mesh: Mesh,
        *,
        kinds: ArrayLike | None = None,
        zones: Sequence[Zone] = (),
        workers: int | None = None,
    ) -> NavMesh:
        """A mesh like this one in which the tiles that a change touches are built again; this one stays as it is.

        Parameters are those of `rebuild`.
        """
        return self._of(self._rebuilt(box, mesh, kinds, zones, workers), self._agent)

    def _rebuilt(
        self, box: ArrayLike, mesh: Mesh, kinds: ArrayLike | None, zones: Sequence[Zone], workers: int | None
    ) -> Version:
        now = self._now
        if now.built is None:
            raise EditError("only a mesh that NavMesh.build made can be rebuilt")
        built, layout = building.rebuild(
            now.built,
            now.state.layout,
            box,
            mesh,
            kinds=building.check_kinds(mesh, kinds),
            zones=check_zones(zones),
            workers=workers,
        )
        return linked(Version(State(layout, before=now.state), built, now.asked))

    # --- places ------------------------------------------------------------------------------------------------------

    def locate(self, points: ArrayLike, *, tolerance: float | None = None, reach: float | None = None) -> Any:
        """The polygon of each point.

        Parameters
        ----------
        points : (q, 3) or (q, 2) array_like, or one point
            Without heights the lowest-numbered polygon at any height is taken. A point on a border belongs to every
            polygon that touches it; paths, rays and links know that, and this is the one with the lowest number.
        tolerance : float, metres, >= 0, optional
            A point beside the mesh belongs to the nearest polygon within this distance. By default the agent's radius
            plus a cell for a built mesh, 0 for polygons from elsewhere.
        reach : float, metres, >= 0, optional
            How far above or below a surface a point may be: by default the agent's height for a built mesh, any
            distance for polygons from elsewhere. Of several floors the nearest is taken.

        Returns
        -------
        (q,) int32 array, or an int for one point
            -1 where there is no polygon.
        """
        found, _, single = find(self._now, points, tolerance, reach)
        return int(found[0]) if single else found

    def project(self, points: ArrayLike, *, tolerance: float | None = None, reach: float | None = None) -> Points:
        """Each point put onto the surface of its polygon (see `locate`), NaN where it has none."""
        found, places, single = find(self._now, points, tolerance, reach)
        places = self._now.state.frame.world(places)
        places[found < 0] = np.nan
        return np.asarray(places[0]) if single else places

    def random_points(self, count: int, *, seed: int = 0, component: int | None = None) -> Points:
        """Points evenly spread over the mesh (seen from above), on its surface.

        Parameters
        ----------
        count : int, >= 0
        seed : int, >= 0
        component : int, optional
            Only on this connected component.
        """
        count = checks.whole(count, "count", low=0, high=checks.MOST_POINTS)
        state = self._now.state
        weights = state.layout.areas
        if component is not None:
            component = checks.whole(component, "component", low=0)
            weights = np.where(state.components == component, weights, 0.0)
        return self._scattered(state, weights, count, seed, "" if component is None else " in it")

    @staticmethod
    def _scattered(state: State, weights: Points, count: int, seed: int, where: str = "") -> Points:
        """Points drawn from polygons by weight."""
        total = float(weights.sum()) if state.num_polygons else 0.0
        if total <= 0:
            raise ParameterError(f"there is no ground to draw points from{where}")
        random = np.random.default_rng(checks.whole(seed, "seed", low=0))
        ends = np.cumsum(weights)
        chosen = np.searchsorted(ends, random.random(count) * ends[-1], side="right").astype(np.int32)
        result = np.empty((count, 3))
        _ground_kernels.scatter(
            state.ground, np.minimum(chosen, state.num_polygons - 1), random.random((count, 3)), result
        )
        return state.frame.world(result)

    def raycast(self, start: ArrayLike, target: ArrayLike, *, costs: Mapping[int, float] | None = None) -> RayHit:
        """Walk straight (seen from above) from one point towards another, over the surface, until a wall.

        Along a border and through a vertex the walk goes on where any side is open.

        Parameters
        ----------
        start, target : (x, y) or (x, y, z)
            The start must be on the mesh; the target may be anywhere.
        costs : mapping of kind to cost, optional
            Kinds with infinite cost are walls.
        """
        state = self._now.state
        found, places = self._ends(self._now, points_of(start), "start")
        to = state.frame.local(checks.point3(target, "target"))
        place, closed = places[0], state.rates(costs).closed
        plane, near = state.plane(closed), state.layout.near
        starts = state.surround(found, places, closed)[0]
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
        _ground_kernels.heights(state.ground, np.array([last], np.int32), point[None])
        wall = None
        if edge >= 0:
            ends = plane.corners[[edge, plane.twins[edge]]] if plane.sources[edge] < 0 else None
            if ends is None:
                source = int(plane.sources[edge])
                ends = state.ground.corners[[source, state.layout.nexts[source]]]
            wall = state.frame.world(state.ground.vertices[ends])
        return RayHit(state.frame.world(point), float(part), last, wall)

    def move_along(self, start: ArrayLike, target: ArrayLike, *, costs: Mapping[int, float] | None = None) -> Points:
        """Move towards a target nearby, sliding along walls: the reachable point nearest to it, (3,), on the surface.

        Parameters
        ----------
        start, target : (x, y) or (x, y, z)
            The start must be on the mesh. Only polygons around the straight way are looked at, so this is for steps of
            a moving character, not for paths.
        costs : mapping of kind to cost, optional
            Kinds with infinite cost are walls.
        """
        state = self._now.state
        found, places = self._ends(self._now, points_of(start), "start")
        to = state.frame.local(checks.point3(target, "target"))
        closed = state.rates(costs).closed
        starts = state.holding(found, places, closed)[0]
        room = 64
        while True:
            polygon, x, y = _ground_kernels.slide(
                state.ground, closed, state.kinds, starts if len(starts) else found, *places[0, :2], *to[:2],
                state.layout.near, np.empty(room, np.int32),
            )  # fmt: skip
            if polygon != _ground_kernels.FULL:
                break
            room *= 4
        point = np.array([[x, y, 0.0]])
        _ground_kernels.heights(state.ground, np.array([polygon], np.int32), point)
        return state.frame.world(point[0])

    def _ends(self, now: Version, points: Points, *names: str) -> tuple[NDArray[np.int32], Points]:
        """Polygons and places, relative to the frame, of points that must be on the mesh."""
        state = now.state
        found, places = np.full(len(points), -1, np.int32), np.empty((len(points), 3))
        if state.num_polygons:
            _ground_kernels.locate(
                state.ground, state.layout.cells, NO_POLYGONS, state.local(points), state.layout.near,
                *tolerances(now), False, 0, len(points), found, places,
            )  # fmt: skip
        if found.min() < 0:
            at = int(np.argmax(found < 0))
            where = text.place(points[at], state.frame.extent)
            raise OffMapError(f"{names[at]} ({where}) is not on the navigation mesh")
        return found, places

    # --- files -----------------------------------------------------------------------------------------------

    _SCHEMA = archive.SCHEMA

    def _to_parts(self) -> Parts:
        return archive.to_parts(self._now)

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        now = archive.from_parts(parts)
        return cls._of(now, None if now.built is None else now.built.agent)

    def export(self, file: File, *, version: int = 2) -> None:
        """Write the polygons to `.mesh` (format 2 or 3; heights are lost) or `.obj` (z up)."""
        from wayfold.navmesh import files

        files.write(self._now.state, file, version)
