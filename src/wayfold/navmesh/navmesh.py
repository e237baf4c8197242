"""`NavMesh`: walkable ground as convex polygons, with shortest paths over it.

Built from any triangles by the voxel pipeline of paper 002, section III.A, or given as polygons from elsewhere.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold import _archive, _check
from wayfold._threads import run_chunks
from wayfold.agent import Agent
from wayfold.errors import EditError, FormatError, OffMapError, ParameterError, WayfoldError
from wayfold.geometry import Mesh
from wayfold.graph import Graph, searcher
from wayfold.navmesh import _ground_kernels, building, polygons, queries
from wayfold.navmesh._corridor_kernels import Links
from wayfold.navmesh._ground_kernels import Ground
from wayfold.navmesh.building import Built
from wayfold.navmesh.settings import Settings
from wayfold.navmesh.state import State, no_links
from wayfold.navmesh.tiles import check_bounds
from wayfold.path import Path, Status

Points = NDArray[np.float64]
File = str | os.PathLike[str]


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


class _Version(NamedTuple):
    """What is swapped as one when the mesh changes."""

    state: State
    built: Built | None
    asked: tuple[tuple[Points, Points, float, bool], ...]
    """Links as they were given: start, end, cost, one-way."""


class NavMesh:
    """Convex polygons that a character walks on, with paths over them.

    Make one with `build`, `from_polygons` or `read`. Any number of threads may query it, also while another one edits
    it: a query sees the mesh as it was or as it is, whole. Nothing returned by a property may be changed.

    Notes
    -----
    Lengths are measured in the plane, so `Path.cost` is the length seen from above; `Path.length` is that of
    `Path.points` in space. A vertex takes 24 bytes, a polygon 17, an edge 8; searches add 37 bytes an edge.
    """

    def __init__(self, ground: Ground, kinds: NDArray[np.uint8], *, agent: Agent | None = None) -> None:
        self._now = _Version(State(ground, kinds), None, ())
        self._agent = agent
        self._edit = threading.Lock()

    # --- making one ------------------------------------------------------------------------------------------------

    @classmethod
    def build(
        cls,
        mesh: Mesh,
        agent: Agent | None = None,
        *,
        cell_size: float = 0.3,
        cell_height: float = 0.2,
        tile_size: int | None = None,
        keep: Literal["all", "largest"] | ArrayLike = "all",
        kinds: ArrayLike | None = None,
        bounds: ArrayLike | None = None,
        workers: int | None = None,
        progress: Callable[[int, int], None] | None = None,
        **more: Any,
    ) -> NavMesh:
        """Build a navigation mesh from triangles.

        Parameters
        ----------
        mesh : Mesh
            Any triangles, z up; they may cross, overlap and have holes. Only what faces up is walked on.
        agent : Agent, optional
            Who walks: radius, height, climb and slope count. The default agent if none is given.
        cell_size : float, metres, > 0
            Side of a voxel column.
        cell_height : float, metres, > 0
            Height of a voxel.
        tile_size : int, columns, 8 to 4096, or 0, optional
            Side of a tile; 0 for one tile whatever the size. By default one tile up to 2048 columns, else 256.
        keep : "all", "largest" or (k, 3) points
            Which connected islands stay: all, the one with the largest area, or those within 1 m of seed points.
        kinds : (m,) array_like of int, 0 to 255, optional
            Kind of area of each triangle, for costs; 0 is never walked on. 1 everywhere by default.
        bounds : (2, 3) array_like, metres, optional
            The box that tiles cover; that of the mesh by default. Give it to leave room for later changes.
        workers : int, >= 1, optional
            Threads, all cores by default. The result does not depend on it.
        progress : callable, optional
            Called as ``progress(done, total)`` with tiles.
        **more
            `min_region`, `merge_region`, `max_edge`, `max_error`, `max_corners`, `detail_error`: see
            `wayfold.navmesh.Settings`.

        Raises
        ------
        GeometryError
            When nothing faces up or the agent can stand nowhere.
        ParameterError
            When a setting is outside its limits or asks for more than 2**34 columns.

        Notes
        -----
        Radius and height are rounded up to whole voxels, climb is rounded down.
        """
        who = Agent() if agent is None else agent
        if not isinstance(mesh, Mesh) or not isinstance(who, Agent):
            raise ParameterError(f"build needs a Mesh and an Agent, not {type(mesh).__name__}, {type(who).__name__}")
        try:
            settings = Settings(cell_size, cell_height, tile_size=tile_size or 0, **more)
        except TypeError as error:
            raise ParameterError(f"unknown setting: {error}") from None
        built = building.build(
            mesh,
            who,
            settings,
            tile_size,
            kinds=building.check_kinds(mesh, kinds),
            bounds=None if bounds is None else check_bounds(bounds),
            keep=building.check_keep(keep),
            workers=workers,
            progress=progress,
        )
        return cls._from_built(built)

    @classmethod
    def _from_built(cls, built: Built) -> NavMesh:
        state = built.state()
        result = cls(state.ground, state.kinds, agent=built.agent)
        result._now = _Version(state, built, ())
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
        return cls(*polygons.from_lists(vertices, polygons_, kinds))

    @classmethod
    def read(cls, file: File) -> NavMesh:
        """Read a mesh of polygons: `.mesh` (formats 2 and 3 of the any-angle benchmarks) or `.obj` with polygon faces.

        Faces that a `.mesh` file calls non-traversable are left out; edges that it calls constrained are walls. An OBJ
        file is taken z up.
        """
        from wayfold.navmesh import files

        return cls(*files.read(file))

    # --- what it is ------------------------------------------------------------------------------------------------

    @property
    def agent(self) -> Agent | None:
        """Who it was built for; None for polygons from elsewhere."""
        return self._agent

    @property
    def vertices(self) -> Points:
        """(n, 3) corners of the polygons, metres."""
        return self._now.state.ground.vertices

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
        return self._now.state.areas

    @property
    def area(self) -> float:
        """Area of all polygons seen from above, square metres."""
        return float(self._now.state.areas.sum())

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

    # --- places ----------------------------------------------------------------------------------------------------

    def locate(self, points: ArrayLike, *, tolerance: float | None = None, reach: float | None = None) -> Any:
        """The polygon of each point.

        Parameters
        ----------
        points : (q, 3) or (q, 2) array_like, or one point
            Without heights the lowest-numbered polygon at any height is taken.
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
        found, _, single = self._locate(self._now, points, tolerance, reach)
        return int(found[0]) if single else found

    def project(self, points: ArrayLike, *, tolerance: float | None = None, reach: float | None = None) -> Points:
        """Each point put onto the surface of its polygon (see `locate`), NaN where it has none."""
        found, places, single = self._locate(self._now, points, tolerance, reach)
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
        count = _check.whole(count, "count", low=0)
        state = self._now.state
        weights = state.areas
        if component is not None:
            weights = np.where(state.components == component, weights, 0.0)
        total = float(weights.sum()) if state.num_polygons else 0.0
        if total <= 0:
            raise ParameterError("there is no ground to draw points from" + ("" if component is None else " in it"))
        random = np.random.default_rng(_check.whole(seed, "seed", low=0))
        ends = np.cumsum(weights)
        chosen = np.searchsorted(ends, random.random(count) * ends[-1], side="right").astype(np.int32)
        result = np.empty((count, 3))
        _ground_kernels.scatter(
            state.ground, np.minimum(chosen, state.num_polygons - 1), random.random((count, 3)), result
        )
        return result

    def raycast(self, start: ArrayLike, target: ArrayLike, *, costs: Mapping[int, float] | None = None) -> RayHit:
        """Walk straight (seen from above) from one point towards another, over the surface, until a wall.

        Parameters
        ----------
        start, target : (x, y) or (x, y, z)
            The start must be on the mesh; the target may be anywhere.
        costs : mapping of kind to cost, optional
            Kinds with infinite cost are walls.
        """
        state = self._now.state
        found, places = self._ends(self._now, _points(start), "start")
        to = _check.point3(target, "target")
        polygon, place = int(found[0]), places[0]
        closed = state.rates(costs).closed
        part, last, edge = _ground_kernels.walk(
            state.ground, closed, state.kinds, polygon, place[0], place[1], to[0], to[1]
        )
        point = np.array([*(place[:2] + part * (to[:2] - place[:2])), 0.0])
        _ground_kernels.heights(state.ground, np.array([last], np.int32), point[None])
        wall = None
        if edge >= 0:
            wall = state.ground.vertices[state.ground.corners[[edge, state.nexts[edge]]]]
        return RayHit(point, float(part), int(last), wall)

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
        found, places = self._ends(self._now, _points(start), "start")
        to = _check.point3(target, "target")
        closed = state.rates(costs).closed
        room = 64
        while True:
            polygon, x, y = _ground_kernels.slide(
                state.ground, closed, state.kinds, int(found[0]), *places[0, :2], *to[:2], np.empty(room, np.int32)
            )
            if polygon != _ground_kernels.FULL:
                break
            room *= 4
        point = np.array([[x, y, 0.0]])
        _ground_kernels.heights(state.ground, np.array([polygon], np.int32), point)
        return np.asarray(point[0])

    # --- paths -----------------------------------------------------------------------------------------------------

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
            Search the shortest path on the mesh itself, which is exact. Otherwise search a corridor of polygons through
            portal middles and pull a string through it (funnel): faster in large worlds, seldom the shortest.
        costs : mapping of kind to cost of a metre, optional
            Above 0; infinite closes a kind of area; 1 for kinds that are not named. Where open kinds cost differently
            the corridor search is used, whatever `optimal` says: exact paths over weighted ground are `Terrain`'s.
        budget : int, >= 1, optional
            Expand at most this many search nodes.

        Returns
        -------
        Path
            `points` are start, corners and goal, on the surface; `nodes` are the polygons on the way; `cost` is the
            length seen from above, times the cost of a metre. Goals in another component are answered without search.
        """
        now = self._now
        state = now.state
        limit = searcher.check_budget(budget)
        rates = state.rates(costs)
        found, places = self._ends(now, _points(start, goal), "start", "goal")
        first, last = int(found[0]), int(found[1])
        if state.components[first] != state.components[last] or rates.closed[state.kinds[found]].any():
            return Path(Status.UNREACHABLE)
        if first == last and not len(state.links.costs):
            return queries.same_polygon(first, places[0], places[1], float(rates.rates[state.kinds[first]]))
        if optimal and rates.even:
            return queries.shortest(state, first, last, places[0], places[1], rates, limit)
        return queries.corridor(state, first, last, places[0], places[1], rates, limit)

    def paths(self, starts: ArrayLike, goals: ArrayLike, *, workers: int | None = None, **options: Any) -> list[Path]:
        """Paths of many queries, (q, 2) or (q, 3) points each, in threads; options as for `path`."""
        first, last = np.asarray(starts, np.float64), np.asarray(goals, np.float64)
        if first.ndim != 2 or first.shape != last.shape:
            raise ParameterError(f"starts and goals must be equally many points, not {first.shape} and {last.shape}")
        result: list[Any] = [None] * len(first)

        def work(begin: int, end: int) -> None:
            for at in range(begin, end):
                result[at] = self.path(first[at], last[at], **options)

        run_chunks(work, len(first), workers=workers, chunk=8)
        return result

    # --- changes ---------------------------------------------------------------------------------------------------

    def add_link(self, start: ArrayLike, end: ArrayLike, *, cost: float | None = None, one_way: bool = False) -> None:
        """Join two places of the mesh across a gap: a jump, a ladder, a teleporter.

        Parameters
        ----------
        start, end : (x, y) or (x, y, z)
            Points on the mesh, within the tolerances of `locate`.
        cost : float, >= 0, optional
            What it costs to use it; the straight distance by default.
        one_way : bool
            Whether it leads only from start to end.
        """
        with self._edit:
            now = self._now
            _, places = self._ends(now, _points(start, end), "start", "end")
            gap = float(np.linalg.norm(places[1] - places[0]))
            price = gap if cost is None else _check.number(cost, "cost", low=0.0)
            asked = (*now.asked, (places[0].copy(), places[1].copy(), price, bool(one_way)))
            self._now = self._linked(_Version(now.state, now.built, asked))

    def clear_links(self) -> None:
        """Remove all links."""
        with self._edit:
            now = self._now
            self._now = _Version(now.state.with_links(no_links(now.state.num_polygons)), now.built, ())

    def rebuild(
        self, box: ArrayLike, mesh: Mesh, *, kinds: ArrayLike | None = None, workers: int | None = None
    ) -> None:
        """Build again the tiles that a change inside a box touches.

        Parameters
        ----------
        box : (2, 3) array_like, metres
            Low and high corner of a box around everything that changed, before and after.
        mesh : Mesh
            The whole changed geometry.
        kinds : (m,) array_like of int, optional
            As for `build`.
        workers : int, >= 1, optional
            Threads.

        Raises
        ------
        EditError
            When the mesh was not built here, or the box reaches outside its bounds. The mesh is as it was before.

        Notes
        -----
        The result is the same as that of `build` with the changed mesh and the same `bounds`. Links stay where both of
        their ends still have ground.
        """
        with self._edit:
            now = self._now
            if now.built is None:
                raise EditError("only a mesh that NavMesh.build made can be rebuilt")
            built = building.rebuild(now.built, box, mesh, building.check_kinds(mesh, kinds), workers)
            self._now = self._linked(_Version(built.state(), built, now.asked))

    # --- files -----------------------------------------------------------------------------------------------------

    def save(self, file: File) -> None:
        """Write the mesh to a `.wayfold` file; `wayfold.load` reads it. A built mesh can be rebuilt after loading."""
        now = self._now
        arrays: dict[str, NDArray[Any]] = {f"ground/{key}": value for key, value in now.state.ground._asdict().items()}
        arrays["kinds"] = now.state.kinds
        arrays["links"] = np.array([[*a, *b, cost, one_way] for a, b, cost, one_way in now.asked]).reshape(-1, 8)
        meta: dict[str, Any] = {}
        if now.built is not None:
            more, meta = building.to_archive(now.built)
            arrays |= more
        _archive.write_archive(file, "navmesh", arrays, meta)

    @classmethod
    def load(cls, file: File) -> NavMesh:
        """Read a mesh that `save` wrote."""
        archive = _archive.read_archive(file, "navmesh")
        arrays = archive.arrays
        try:
            ground = Ground(*(arrays[f"ground/{name}"] for name in Ground._fields))
            for array in (*ground, arrays["kinds"]):
                array.setflags(write=True)  # mapped copy-on-write; Numba compiles again for read-only arrays
            polygons.check_ground(ground, arrays["kinds"])
            built = building.from_archive(arrays, archive.meta) if "grid" in archive.meta else None
            result = cls(ground, arrays["kinds"], agent=None if built is None else built.agent)
            asked = tuple((row[:3].copy(), row[3:6].copy(), float(row[6]), bool(row[7])) for row in arrays["links"])
            result._now = result._linked(_Version(result._now.state, built, asked))
        except (KeyError, TypeError, ValueError) as error:
            text = str(error) if isinstance(error, WayfoldError) else f"{type(error).__name__}: {error}"
            raise FormatError(f"not a whole navigation mesh: {text}", file) from None
        return result

    def export(self, file: File, *, version: int = 2) -> None:
        """Write the polygons to `.mesh` (format 2 or 3; heights are lost) or `.obj` (z up)."""
        from wayfold.navmesh import files

        files.write(self._now.state, file, version)

    # --- inside ----------------------------------------------------------------------------------------------------

    def _locate(
        self, now: _Version, points: ArrayLike, tolerance: float | None, reach: float | None
    ) -> tuple[NDArray[np.int32], Points, bool]:
        try:
            array = np.asarray(points, np.float64)
        except (TypeError, ValueError):
            raise ParameterError("points must be numbers of shape (q, 2) or (q, 3)") from None
        single = array.ndim == 1
        array = np.atleast_2d(array)
        if array.ndim != 2 or array.shape[1] not in (2, 3):
            raise ParameterError(f"points must have shape (q, 2) or (q, 3), not {array.shape}")
        if not np.isfinite(array[:, :2]).all():
            raise ParameterError("points must be finite")
        if array.shape[1] == 2:
            array = np.column_stack([array, np.full(len(array), np.nan)])
        aside, above = self._tolerances(now)
        if tolerance is not None:
            aside = _check.number(tolerance, "tolerance", low=0.0)
        if reach is not None:
            above = np.inf if reach == np.inf else _check.number(reach, "reach", low=0.0)
        found = np.full(len(array), -1, np.int32)
        places = np.full((len(array), 3), np.nan)
        state = now.state
        where = np.ascontiguousarray(array)
        if state.num_polygons:
            cells = state.cells

            def work(first: int, last: int) -> None:
                _ground_kernels.locate(state.ground, cells, where, aside, above, first, last, found, places)

            run_chunks(work, len(where), chunk=4096)
        return found, places, single

    @staticmethod
    def _tolerances(now: _Version) -> tuple[float, float]:
        if now.built is None:
            return 0.0, np.inf
        agent, settings = now.built.agent, now.built.settings
        return agent.radius + settings.cell_size, max(agent.height, agent.climb)

    def _ends(self, now: _Version, points: Points, *names: str) -> tuple[NDArray[np.int32], Points]:
        """Polygons and places of points that must be on the mesh."""
        state = now.state
        found, places = np.full(len(points), -1, np.int32), np.empty((len(points), 3))
        if points.shape[1] != 3 or not np.isfinite(points[:, :2]).all():
            raise ParameterError(f"{' and '.join(names)} must be finite (x, y) or (x, y, z)")
        if state.num_polygons:
            _ground_kernels.locate(
                state.ground, state.cells, points, *self._tolerances(now), 0, len(points), found, places
            )
        if found.min() < 0:
            at = int(np.argmax(found < 0))
            where = ", ".join(f"{value:g}" for value in np.asarray(points)[at] if np.isfinite(value))
            raise OffMapError(f"{names[at]} ({where}) is not on the navigation mesh")
        return found, places

    def _linked(self, version: _Version) -> _Version:
        """The version with its links found on its mesh; those without ground at both ends are left out."""
        state, asked = version.state, version.asked
        if not asked or not state.num_polygons:
            return version._replace(asked=() if not state.num_polygons else asked)
        ends = np.array([[a, b] for a, b, _, _ in asked]).reshape(-1, 3)
        found, places, _ = self._locate(version, ends, None, None)
        pairs, spots = found.reshape(-1, 2), places.reshape(-1, 2, 3)
        there = (pairs >= 0).all(axis=1)
        rows = []
        for at in np.flatnonzero(there).tolist():
            _, _, cost, one_way = asked[at]
            rows.append((pairs[at, 0], pairs[at, 1], spots[at, 0], spots[at, 1], cost))
            if not one_way:
                rows.append((pairs[at, 1], pairs[at, 0], spots[at, 1], spots[at, 0], cost))
        rows.sort(key=lambda row: int(row[0]))
        counts = np.bincount([row[0] for row in rows], minlength=state.num_polygons) if rows else 0
        links = Links(
            np.concatenate([[0], np.cumsum(np.broadcast_to(counts, state.num_polygons))]).astype(np.int64),
            np.array([row[2] for row in rows]).reshape(-1, 3),
            np.array([row[3] for row in rows]).reshape(-1, 3),
            np.array([row[1] for row in rows], np.int32),
            np.array([row[4] for row in rows], np.float64),
        )
        kept = tuple(asked[at] for at in np.flatnonzero(there).tolist())
        return _Version(state.with_links(links), version.built, kept)


def _points(*points: ArrayLike) -> Points:
    """Points (x, y) or (x, y, z) as (k, 3); a missing height is NaN, which stands for any."""
    result = np.full((len(points), 3), np.nan)
    for at, point in enumerate(points):
        try:
            array = np.asarray(point, np.float64)
        except (TypeError, ValueError):
            array = np.empty(0)
        if array.shape not in ((2,), (3,)):
            raise ParameterError(f"a point must be (x, y) or (x, y, z), not {point!r}")
        result[at, : array.size] = array
    return result
