"""Questions about places on a mesh: which polygon, random points, straight walks, steps that slide along walls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks, text
from wayfold.core.batches import run_chunks
from wayfold.errors import OffMapError, ParameterError
from wayfold.navmesh import _ground_kernels
from wayfold.navmesh.building import Built
from wayfold.navmesh.state import NO_POLYGONS, State

Points = NDArray[np.float64]


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


class Version(NamedTuple):
    """What is swapped as one when the mesh changes."""

    state: State
    built: Built | None
    asked: tuple[tuple[Points, Points, float, bool], ...]
    """Links as they were given: start, end, cost, one-way."""


@checks.checked
class Places:
    """The part of `NavMesh` that is about places."""

    _now: Version

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
                *_tolerances(now), False, 0, len(points), found, places,
            )  # fmt: skip
        if found.min() < 0:
            at = int(np.argmax(found < 0))
            where = text.place(points[at], state.frame.extent)
            raise OffMapError(f"{names[at]} ({where}) is not on the navigation mesh")
        return found, places


def find(
    now: Version,
    points: ArrayLike,
    tolerance: float | None,
    reach: float | None,
    in_space: bool = False,
    shut: NDArray[np.uint8] = NO_POLYGONS,
) -> tuple[NDArray[np.int32], Points, bool]:
    """The polygon and the place of each point, as `Places.locate` says, and whether it was one point alone.

    Places are relative to the frame of the mesh. With `in_space` the nearest place of all counts, not first what lies
    below or above; polygons of `shut` (p,) are left out.
    """
    array = checks.floats(points, "points", "numbers of shape (q, 2) or (q, 3), or one point")
    single = array.ndim == 1
    array = np.atleast_2d(array)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise ParameterError(f"points must have shape (q, 2) or (q, 3), not {array.shape}")
    checks.finite(array[:, :2], "points")
    checks.finite(np.nan_to_num(array[:, 2:], posinf=np.inf, neginf=-np.inf), "points")  # NaN stands for any height
    if array.shape[1] == 2:
        array = np.column_stack([array, np.full(len(array), np.nan)])
    array = checks.clean(array)
    aside, above = _tolerances(now)
    if tolerance is not None:
        aside = checks.number(tolerance, "tolerance", low=0.0)
    if reach is not None:
        above = np.inf if checks.real(reach, "reach") == np.inf else checks.number(reach, "reach", low=0.0)
    found = np.full(len(array), -1, np.int32)
    places = np.full((len(array), 3), np.nan)
    state = now.state
    where = state.frame.local(array)
    if state.num_polygons:
        cells = state.layout.cells

        def work(first: int, last: int) -> None:
            _ground_kernels.locate(
                state.ground, cells, shut, where, state.layout.near, aside, above, in_space, first, last, found, places
            )

        run_chunks(work, len(where), chunk=4096)
    return found, places, single


def _tolerances(now: Version) -> tuple[float, float]:
    if now.built is None:
        return 0.0, np.inf
    agent, settings = now.built.agent, now.built.settings
    return agent.radius + settings.cell_size, max(agent.height, agent.climb)


def points_of(*points: ArrayLike) -> Points:
    """Points (x, y) or (x, y, z) as (k, 3); a missing height is NaN, which stands for any."""
    result = np.full((len(points), 3), np.nan)
    for at, point in enumerate(points):
        array = checks.floats(point, "a point", "(x, y) or (x, y, z)")
        if array.shape not in ((2,), (3,)):
            raise ParameterError(f"a point must be (x, y) or (x, y, z), not {checks.shown(point)}")
        if not np.isfinite(array[:2]).all():
            raise ParameterError(f"a point must be finite (x, y) or (x, y, z), not {checks.shown(point)}")
        checks.finite(array[~np.isnan(array)], "a point")  # a height that is NaN stands for any
        result[at, : array.size] = array
    return result
