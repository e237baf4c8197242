"""`Decomposition`: convex regions of free space, the gateways between them, and paths through them (paper 004)."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray
from shapely import Polygon

from wayfold.core import checks
from wayfold.core import text as _text
from wayfold.core.locks import at_one_moment, derived
from wayfold.core.schema import Parts, Savable
from wayfold.errors import OffMapError, ParameterError
from wayfold.floorplan import _build, _files, _gateways, _locate_kernels, _mesh, _routes
from wayfold.floorplan.plan import METHODS, FloorPlan
from wayfold.geometry.frame import Frame
from wayfold.graph import Graph
from wayfold.graph.searcher import Workspaces
from wayfold.path import Path

if TYPE_CHECKING:
    from wayfold.floorplan.information import Information
    from wayfold.navmesh import NavMesh


@checks.checked
class Decomposition(Savable):
    """Free space cut into convex regions; build one with `FloorPlan.decompose` or `Building.decompose`.

    Parameters
    ----------
    levels : sequence of _build.Level
        The floors (and the transition areas between them), each cut into pieces.
    frame : Frame
        What the pieces are relative to: coordinates are kept near a local origin, and given back as they came.
    method : str
        What cut them.
    options : dict
        The options of the method, used again by updates.
    passages : sequence of _build.Passage
        Where floors and transition areas may share gateways.
    slack : float, metres
        How far the borders of a floor and a transition area may lie apart and still be one.
    updated : bool
        Whether obstacles were added or removed since it was built.

    Attributes
    ----------
    corners : (n, 2) float64 array
        Corners of all regions, those of region i from ``offsets[i]`` to ``offsets[i + 1] - 1``, counter-clockwise.
    offsets : (r + 1,) int64 array
    local_corners : (n, 2) float64 array
        The corners relative to the frame.
    region_levels : (r,) int32 array
        The level of each region.

    Notes
    -----
    Any number of threads may query a decomposition, also while another one adds or removes obstacles: a query sees it
    as it was before or as it is after.
    """

    _OWN = (("_marks", deque), ("_edit", threading.Lock))

    def __init__(
        self,
        levels: list[_build.Level],
        frame: Frame,
        method: str,
        options: dict[str, Any],
        *,
        passages: Sequence[_build.Passage] = (),
        slack: float = 0.0,
        updated: bool = False,
    ) -> None:
        self.levels = levels
        self.frame = frame
        self.method = method
        self.options = options
        self.passages = tuple(passages)
        self.slack = slack
        self.updated = updated
        rings = [ring for level in levels for ring in level.rings]
        self.local_corners = np.ascontiguousarray(np.concatenate([np.empty((0, 2)), *rings]))
        self.corners = frame.world(self.local_corners)
        self.offsets = np.concatenate([[0], np.cumsum([len(ring) for ring in rings])]).astype(np.int64)
        self.region_levels = np.repeat(np.arange(len(levels), dtype=np.int32), [len(level.rings) for level in levels])
        self.heights: NDArray[np.float64] = np.concatenate([np.empty(0), *(level.heights for level in levels)])
        self._marks: deque[_locate_kernels.Marks] = deque()
        self._edit = threading.Lock()

    @classmethod
    def build(cls, plan: FloorPlan, method: str, **options: Any) -> Decomposition:
        """Cut a plan into convex regions; see `FloorPlan.decompose`."""
        checks.choice(method, "method", METHODS)
        return cls([_build.level(plan, plan.frame, method, options)], plan.frame, method, options)

    # --- what there is ---------------------------------------------------------------------------------------------

    @property
    def plan(self) -> FloorPlan:
        """The plan of the first floor."""
        return self.levels[0].plan

    @property
    def num_regions(self) -> int:
        """Number of regions."""
        return len(self.offsets) - 1

    @derived
    def regions(self) -> list[Polygon]:
        """The regions as shapely polygons, counter-clockwise."""
        return [Polygon(self.corners[a:b]) for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True)]

    @property
    def epsilon(self) -> float:
        """Borders shorter than this are no gateways, metres: about 6e-8 of the plan's extent."""
        return max(level.plan.resolution for level in self.levels) * 2.0**12

    @property
    def rounding(self) -> float:
        """How far beyond its border a region still holds a point, metres: four times the plan's resolution."""
        return self.epsilon * 2.0**-10

    @property
    def border_rounding(self) -> float:
        """How far borders of neighbours may lie apart, metres.

        Updates round the touched regions: the ends of a border and a corner on it may each be off by 0.71 of the
        resolution of the plan, which is a quarter of `rounding`.
        """
        return self.rounding / (2.0 if self.updated else 16.0)

    @derived
    def topology(self) -> _mesh.Topology:
        """What the regions share."""
        return _mesh.topology(self)

    @property
    def gateways(self) -> _gateways.Gateways:
        """The segments of border that regions share, one for each pair that shares more than `epsilon`.

        Regions of a floor and of a transition area share one only where the one may be entered from the other.
        """
        return self.topology.gateways

    @derived
    def coverage(self) -> float:
        """Share of the free space that lies in regions, from exact polygon areas."""
        return _build.coverage(self.levels)

    @derived
    def overlap(self) -> float:
        """Area that lies in more than one region of a level, as a share of the free space."""
        return _build.overlap(self.levels)

    @property
    def areas(self) -> NDArray[np.float64]:
        """Area of each region, square metres, (r,)."""
        rings = np.split(self.local_corners, self.offsets[1:-1]) if self.num_regions else []
        return np.array([shapely.area(Polygon(ring)) for ring in rings])

    @property
    def widths(self) -> NDArray[np.float64]:
        """Width of each region at its narrowest, metres, (r,): slivers are what paper 004 holds against triangles."""
        return np.array(
            [_build.width(self.local_corners[a:b]) for a, b in zip(self.offsets, self.offsets[1:], strict=False)]
        )

    @derived
    def centres(self) -> NDArray[np.float64]:
        """Centre of mass of each region, (r, 3)."""
        rings = np.split(self.local_corners, self.offsets[1:-1]) if self.num_regions else []
        points = shapely.get_coordinates([shapely.centroid(Polygon(ring)) for ring in rings]).reshape(-1, 2)
        return np.column_stack([self.frame.world(points), self.heights])

    @derived
    def gateway_heights(self) -> NDArray[np.float64]:
        """Height of each gateway, (g,): the floor where stairs begin or end, halfway between its regions elsewhere."""
        pairs = self.gateways.pairs
        is_floor = np.array([level.is_floor for level in self.levels])[self.region_levels[pairs]]
        weights = np.where(is_floor.any(axis=1, keepdims=True), is_floor, True)
        return np.asarray((self.heights[pairs] * weights).sum(axis=1) / weights.sum(axis=1))

    @derived
    def is_mouth(self) -> NDArray[np.bool_]:
        """Whether each gateway leads from one level to another, (g,)."""
        levels = self.region_levels[self.gateways.pairs]
        return np.asarray(levels[:, 0] != levels[:, 1])

    @derived
    def vertex_heights(self) -> NDArray[np.float64]:
        """Height of the ground at each vertex of `topology`, (n,)."""
        return _mesh.heights(self)

    @derived
    def graph(self) -> Graph:
        """The navigation graph of the paper: nodes are region centres, then gateway midpoints.

        Raises
        ------
        OffMapError
            When there is no free space, so no node.
        """
        if not self.num_regions:
            raise OffMapError("the plan has no free space, so there is no navigation graph")
        pairs = self.gateways.pairs
        points = np.concatenate([self.centres, np.column_stack([self.gateways.midpoints, self.gateway_heights])])
        doors = self.num_regions + np.arange(len(pairs))
        edges = np.concatenate([np.column_stack([pairs[:, 0], doors]), np.column_stack([doors, pairs[:, 1]])])
        return Graph.from_edges(points, edges)

    @derived
    def workspaces(self) -> Workspaces:
        """Scratch memory of searches over the navigation graph."""
        return Workspaces(self.graph.num_nodes)

    @at_one_moment
    def neighbours(self, region: int) -> NDArray[np.int32]:
        """Regions that share a gateway with a region."""
        number = self._region(region)
        return self.cells.neighbours[self.cells.beside[number] : self.cells.beside[number + 1]]

    @derived
    def cells(self) -> _locate_kernels.Cells:
        """The regions as the kernels see them."""
        cells: _locate_kernels.Cells = _build.cells(
            self.local_corners, self.offsets, self.heights, self.gateways.pairs, self.rounding
        )
        return cells

    @derived
    def information(self) -> Information:
        """Objects in regions, what is visible from where, and the nearest objects."""
        from wayfold.floorplan.information import Information

        return Information(self)

    # --- where -----------------------------------------------------------------------------------------------------

    @at_one_moment
    def locate(self, points: ArrayLike, last: ArrayLike | int | None = None) -> Any:
        """The region that each point lies in, -1 for those that are in none.

        A point on a border belongs to every region it touches; the answer is one of them.

        Parameters
        ----------
        points : (q, 2) or (q, 3) array_like, or one point
            With z, the region nearest in height is taken where floors lie above each other.
        last : int or (q,) array_like of int, optional
            Last known regions: the search goes outwards from them, breadth first, as things move little between two
            frames. -1 for unknown.

        Returns
        -------
        (q,) int32 array, or an int for one point
        """
        array = checks.floats(points, "points", "numbers of shape (q, 2) or (q, 3), or one point")
        single = array.ndim == 1
        where = self.frame.local(checks.points3(array[None] if single else array))
        # Several regions hold a point only where floors lie above each other, and without z any of them will do.
        reach = np.inf if len(self.levels) == 1 or array.shape[-1] == 2 else self._storey
        hints = np.full(len(where), -1, np.int32)
        if last is not None:
            known = checks.wholes(last, "last", f"region numbers from 0 to {self.num_regions - 1}, or -1")
            if known.shape not in ((), hints.shape):
                raise ParameterError(f"last must be one region for each of the {len(hints)} points")
            if known.size and not (known.min() >= -1 and known.max() < self.num_regions):
                raise ParameterError(f"last must be region numbers from 0 to {self.num_regions - 1}, or -1")
            hints[:] = known
        found = np.full(len(where), -1, np.int32)
        if self.num_regions:
            marks = self._take_marks()
            _locate_kernels.locate(self.cells, marks, where, hints, reach, self.rounding, found)
            self._marks.append(marks)
        return int(found[0]) if single else found

    @at_one_moment
    def collides(self, points: ArrayLike, radius: float = 0.0, last: ArrayLike | int | None = None) -> Any:
        """Whether a point or disc is in collision with the world: not wholly in the free space.

        Parameters
        ----------
        points : (q, 2) or (q, 3) array_like, or one point
            Centres.
        radius : float, metres, >= 0
            Discs that touch a wall are not in collision, those that reach into it are.
        last : int or (q,) array_like of int, optional
            As for `locate`.

        Returns
        -------
        (q,) bool array, or a bool for one point
        """
        radius = checks.number(radius, "radius", low=0.0, high=checks.LARGEST)
        array = checks.floats(points, "points", "numbers of shape (q, 2) or (q, 3), or one point")
        single = array.ndim == 1
        where = self.frame.local(checks.points3(array[None] if single else array))
        found = np.atleast_1d(self.locate(array[None] if single else array, last))
        hit = found < 0
        if radius > 0.0:
            for number, level in enumerate(self.levels):
                here = np.flatnonzero((found >= 0) & (self.region_levels[found] == number))
                distances = np.empty(len(here))
                _locate_kernels.wall_distances(
                    _build.wall_bins_of(level), where[here, :2].copy(), radius * 2.0, distances
                )
                hit[here] = distances < radius - self.rounding
        return bool(hit[0]) if single else hit

    # --- paths -----------------------------------------------------------------------------------------------------

    @derived
    def nodes(self) -> NDArray[np.float64]:
        """Where the nodes of `graph` stand relative to `frame`, (n, 3)."""
        doors = 0.5 * (self.gateways.local[:, :2] + self.gateways.local[:, 2:])
        return np.concatenate([self.frame.local(self.centres), np.column_stack([doors, self.gateway_heights])])

    @at_one_moment
    def path(self, start: ArrayLike, goal: ArrayLike, *, smooth: bool = True, optimal: bool = False) -> Path:
        """A path between two points of the free space.

        A* over the navigation graph finds the regions to pass (paper 004), the start and the goal standing for the
        centres of their own regions; the funnel then pulls the path straight through the gateways on the way.

        A start or goal on a border belongs to every region it touches, and the shortest of the paths from and to each
        of them is taken. Ways lead through gateways, so regions that touch only in a point (a *pinch point*) are not
        joined by it; who stands on the point itself can leave it to all sides.

        Parameters
        ----------
        start, goal : (x, y) or (x, y, z)
        smooth : bool
            False gives the paper's path, over gateway midpoints and region centres.
        optimal : bool
            Search the shortest path of all instead, exactly, with the `NavMesh` of the regions; then the `nodes` of the
            path are regions, and it is never longer than the smooth one. Which stairs and ramps it takes is decided as
            seen from above; over those the way is the shortest.

        Raises
        ------
        OffMapError
            When the start or the goal lies in no region.
        """
        a, b = self._place(start, "start"), self._place(goal, "goal")
        return _routes.shortest(self, a, b) if optimal else _routes.between(self, a, b, smooth)

    @at_one_moment
    def paths(self, starts: ArrayLike, goals: ArrayLike, *, workers: int | None = None, **options: bool) -> list[Path]:
        """Paths of many queries in threads, each the same as `path` gives.

        Parameters
        ----------
        starts, goals : (q, 2) or (q, 3) array_like
        workers : int, >= 1, optional
            Threads, all cores by default.
        **options
            `smooth` and `optimal`, as for `path`.

        Raises
        ------
        OffMapError
            When any start or goal lies in no region; then nothing is searched.
        """
        a, b = self._places(starts, "starts"), self._places(goals, "goals")
        checks.same_length(a, b)
        smooth = checks.flag(options.pop("smooth", True), "smooth")
        optimal = checks.flag(options.pop("optimal", False), "optimal")
        if options:
            raise ParameterError(
                f"paths has no option {checks.shown(next(iter(options)))}: its options are smooth, optimal"
            )
        return _routes.many(self, a, b, smooth, optimal, workers)

    @at_one_moment
    def navmesh(self) -> NavMesh:
        """The regions as a new `NavMesh`, polygon i being region i.

        Every corner that touches a neighbour is a corner of both polygons, so edges match from end to end. It takes
        part in everything that meshes do: `Hierarchy.build`, links, kinds of area, saving.

        Raises
        ------
        OffMapError
            When there is no free space, so no polygon.
        """
        return _mesh.navmesh(self)

    @derived
    def exact_mesh(self) -> NavMesh:
        """The mesh that exact paths are searched on, relative to `frame`; `navmesh` gives one of your own to change."""
        return _mesh.navmesh(self, local=True)

    # --- changes and files -----------------------------------------------------------------------------------------

    def add_obstacle(self, obstacle: Any, level: int = 0) -> list[int]:
        """Put an obstacle into a floor and cut only the regions that it touches anew.

        Parameters
        ----------
        obstacle : shapely Polygon or MultiPolygon, or (n, 2) array_like
        level : int
            The floor.

        Returns
        -------
        list of int
            The new regions. Those that were not touched keep their polygons, but their numbers move up.
        """
        from wayfold.floorplan import _update

        with self._edit:
            return _update.add(self, obstacle, level)

    def remove_obstacle(self, number: int, level: int = 0) -> list[int]:
        """Take obstacle `number` of a floor's plan out of it and cut only the regions beside it anew."""
        from wayfold.floorplan import _update

        with self._edit:
            return _update.remove(self, number, level)

    _SCHEMA = _files.SCHEMA

    @at_one_moment
    def _to_parts(self) -> Parts:
        return _files.to_parts(self)

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        return _files.from_parts(cls, parts)

    def __repr__(self) -> str:
        return f"<Decomposition by {self.method}: {self.num_regions} regions, {len(self.gateways)} gateways>"

    # --- inside ----------------------------------------------------------------------------------------------------

    @property
    def _storey(self) -> float:
        """Half of the least height between two floors."""
        heights = np.unique([level.plan.height for level in self.levels])
        return float(np.diff(heights).min()) / 2.0 if len(heights) > 1 else np.inf

    def _take_marks(self) -> _locate_kernels.Marks:
        try:
            return self._marks.pop()
        except IndexError:
            count = self.num_regions
            return _locate_kernels.Marks(np.zeros(count, np.int64), np.empty(count, np.int32), np.zeros(1, np.int64))

    def _region(self, region: int) -> int:
        return checks.node(region, "region", self.num_regions, "region", "the plan")

    def _place(self, point: ArrayLike, name: str) -> _routes.Place:
        """Where a point stands."""
        checks.point3(point, name)
        return self._places(checks.floats(point, name)[None], name, single=True)[0]

    def _places(self, points: ArrayLike, name: str, *, single: bool = False) -> list[_routes.Place]:
        """Where points stand."""
        where = checks.points3(points, name).copy()
        given = checks.floats(points, name)
        regions: NDArray[np.int32] = self.locate(given)
        off = np.flatnonzero(regions < 0)
        if len(off):
            text = _text.place(given[off[0]], self.frame.extent)
            raise OffMapError(f"{name if single else f'{name}[{off[0]}]'} ({text}) lies in no region of the plan")
        if not len(where):
            return []
        where[:, 2] = self.heights[regions]
        local = self.frame.local(where)
        touched = self._touching(local, regions)
        return [_routes.Place(*row) for row in zip(where, local, touched, strict=True)]

    def _touching(self, local: NDArray[np.float64], regions: NDArray[np.int32]) -> list[NDArray[np.int32]]:
        """All regions that each local point (q, 3) touches, given one of them."""
        if not len(local):
            return []
        found = np.empty((len(local), int(np.diff(self.cells.bins).max())), np.int32)
        _locate_kernels.touching(self.cells, self.region_levels, local, regions, self.rounding, found)
        return [row[row >= 0] for row in found]
