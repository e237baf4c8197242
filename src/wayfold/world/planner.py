"""`Planner`: one agent in one world, whatever map it plans on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import Agent, Motion
from wayfold.core import checks, text
from wayfold.core.locks import Portable, ReadersWriter, still
from wayfold.errors import OffMapError, ParameterError
from wayfold.field import Field, with_reasons
from wayfold.map import AgentMap, Edits, sized
from wayfold.path import Path, Paths

if TYPE_CHECKING:
    from wayfold.world.world import World

Points = NDArray[np.float64]


@dataclass
class Notes:
    """What `Planner.explain` tells beside the sizes."""

    why_map: str = ""
    why_accelerator: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    build_seconds: float = 0.0
    cached: str | None = None
    """The file that the map came from."""
    remarks: list[str] = field(default_factory=list)
    """What else is worth knowing of the map."""


@checks.checked
class Planner(Portable):
    """The paths of one agent in one world, on the map that fits it; `World.planner` returns it.

    Any number of threads may ask it, also while another one edits the world: a query sees the world as it was or as it
    is, whole.

    Attributes
    ----------
    agent : Agent
    map_name, accelerator_name : str
        What was chosen.
    notes : Notes
        Why, and how it was made.
    world : World
        What it plans in; a planner is pickled and deep-copied together with it.

    Examples
    --------
    >>> from wayfold import Mesh, World
    >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
    >>> planner = World.from_mesh(square, cache=False).planner(Agent(radius=0.5))
    >>> planner.map_name, planner.accelerator_name
    ('navmesh', 'hierarchy')
    >>> round(planner.path((2, 5, 0), (8, 5, 0)).length, 2)
    6.0
    """

    def __init__(
        self, agent: Agent, map_name: str, accelerator: str, notes: Notes, lock: ReadersWriter, current: AgentMap
    ) -> None:
        self.agent = agent
        self.map_name = map_name
        self.accelerator_name = accelerator
        self.notes = notes
        self.edits = 0
        self.world: World | None = None
        self._lock = lock
        self._current = current

    # --- the map now -------------------------------------------------------------------------------------------------

    @property
    def map(self) -> Any:
        """The map that it plans on: a `NavMesh`, `WaypointGraph`, `SparseGrid` or `Terrain`. Do not modify it directly.

        Links may be added to a `NavMesh`: they are part of the next query, which makes the accelerator anew and so
        takes longer. An edit of the world makes another mesh, with the same links.
        """
        return self._current.map

    @property
    def accelerator(self) -> Any:
        """What makes its queries fast, None where nothing does."""
        return self._latest().accelerator

    def _latest(self) -> AgentMap:
        """The map now, with what users have changed of it by themselves."""
        current = self._current
        latest = current.latest()
        if latest is not current:
            self._exchange(current, latest)
        return latest

    def _exchange(self, before: AgentMap, after: AgentMap) -> None:
        """Put a map in the place of another one, if that is still there."""
        with self._lock.writing():
            if self._current is before:
                self._current = after

    @contextmanager
    def _asking(self) -> Iterator[AgentMap]:
        """The map to ask; where edits would change it in place they are held off."""
        if not self._current.in_place:
            yield self._latest()  # which does not change
            return
        with self._lock.reading(), still(self._current.map):
            yield self._current

    def _prepare(self, edits: Edits) -> AgentMap:
        """Work out the map after an edit, while queries go on; raises when it cannot be done."""
        return self._latest().changed(edits)

    def _commit(self, prepared: AgentMap) -> None:
        """Put it in its place, while no query runs; must not fail."""
        prepared.succeed(self._current)
        self._current = prepared

    def refresh(self) -> None:
        """Finish what edits have put off, so that queries are as fast as after building.

        Answers are the same without it. Call it after many edits, when there is time.

        >>> from wayfold import Mesh, World
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> planner = World.from_mesh(square, cache=False).planner(Agent(radius=0.5))
        >>> wall = planner.world.block([(4, -1, 0), (6, 11, 2)])
        >>> planner.refresh()
        >>> planner.reachable((2, 5, 0), (8, 5, 0))
        False
        """
        with nullcontext() if self.world is None else self.world._editing:
            if self._current.in_place:
                with self._lock.writing():
                    self._current = self._current.refreshed()
            elif self.edits:
                current = self._latest()
                self._exchange(current, current.refreshed())

    def _with_reasons(self, current: AgentMap, paths: Sequence[Path], starts: Any, goals: Any) -> Sequence[Path]:
        """The same paths, of which those without a way can tell why."""
        if not current.in_place:  # such maps say why by themselves
            return paths
        edits = self.edits
        return with_reasons(paths, lambda at: self._reason(starts[at], goals[at], edits))

    def _reason(self, start: Any, goal: Any, edits: int) -> Callable[[], str]:
        """Tells why there is no way, as long as the world stays as it was after so many edits."""
        ends = np.array(start, float), np.array(goal, float)

        def tell() -> str:
            with self._asking() as current:
                if self.edits != edits:
                    return "no way led from the start to the goal, but the world has changed since"
                return current.why(*ends)

        return tell

    # --- queries -----------------------------------------------------------------------------------------------------

    def path(self, start: ArrayLike, goal: ArrayLike, *, exact: bool = False) -> Path:
        """Find a path between two points.

        Parameters
        ----------
        start, goal : (x, y) or (x, y, z), metres
            Where the agent stands or hovers; see `nearest` for points that are not on the map.
        exact : bool
            The shortest path that the map knows, instead of the quick one of the accelerator. Between the two,
            ``path.smooth()`` leaves out corners of the quick one that a straight way can do without.

        Returns
        -------
        Path
            Its status and `Path.why` say why there is none. `cost` is metres, times what `set_cost` asks on the way.

        Raises
        ------
        OffMapError
            When the agent cannot be at the start or the goal.

        Examples
        --------
        >>> from wayfold import Mesh, World
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> planner = World.from_mesh(square, cache=False).planner(Agent(radius=0.5))
        >>> pillar = planner.world.block([(4, 3, 0), (6, 7, 2)])
        >>> exact = planner.path((2, 5, 0), (8, 5, 0), exact=True)
        >>> round(exact.length, 1), exact.status.name
        (8.6, 'FOUND')
        >>> planner.path((2, 5, 0), (8, 5, 0)).smooth().length < 1.1 * exact.length
        True
        """
        with self._asking() as current:
            begin = time.perf_counter()
            try:
                path = current.path(start, goal, exact=bool(exact))
            except OffMapError as error:
                raise self._hinted(current, error, start, goal) from None
            path.timings = {**path.timings, "total": time.perf_counter() - begin}
            self._with_reasons(current, [path], [start], [goal])
        return path

    def paths(self, starts: ArrayLike, goals: ArrayLike, *, exact: bool = False, workers: int | None = None) -> Paths:
        """Find the paths of many queries, in parallel; each is what `path` gives.

        Parameters
        ----------
        starts, goals : (q, 3) array_like, metres
            One of the two may be a single point that serves all.
        exact : bool
            The shortest paths that the map knows, instead of the quick ones of the accelerator.
        workers : int, >= 1, optional
            Threads, all cores by default. The result does not depend on it.

        Examples
        --------
        >>> from wayfold import Mesh, World
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> planner = World.from_mesh(square, cache=False).planner(Agent(radius=0.5))
        >>> [round(path.cost, 2) for path in planner.paths([(2, 5, 0), (5, 5, 0)], (8, 5, 0))]
        [6.0, 3.0]
        """
        first, last = self._points(starts, "starts"), self._points(goals, "goals")
        if 1 not in (len(first), len(last)):
            checks.same_length(first, last)
        count = max(len(first), len(last)) if len(first) and len(last) else 0
        if not count:
            return Paths.of([])
        first, last = (np.ascontiguousarray(np.broadcast_to(part, (count, 3))) for part in (first, last))
        with self._asking() as current:
            found = current.paths(first, last, exact=bool(exact), workers=workers)
            self._with_reasons(current, found, first, last)
        return found

    def plain(self, start: ArrayLike, goal: ArrayLike) -> Path:
        """Find a path by A* without the accelerator, for comparisons.

        >>> from wayfold import Mesh, World
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> planner = World.from_mesh(square, cache=False).planner(Agent(radius=0.5))
        >>> pillar = planner.world.block([(4, 3, 0), (6, 7, 2)])
        >>> plain, quick = planner.plain((2, 5, 0), (8, 5, 0)), planner.path((2, 5, 0), (8, 5, 0))
        >>> plain.found, quick.found
        (True, True)
        """
        with self._asking() as current:
            begin = time.perf_counter()
            path = current.plain(start, goal)
            path.timings = {**path.timings, "total": time.perf_counter() - begin}
            self._with_reasons(current, [path], [start], [goal])
        return path

    def distance(self, start: ArrayLike, goal: ArrayLike) -> float:
        """Return the cost of `path`, infinite where there is none.

        >>> from wayfold import Mesh, World
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> planner = World.from_mesh(square, cache=False).planner(Agent(radius=0.5))
        >>> round(planner.distance((2, 5, 0), (8, 5, 0)), 3)
        6.0
        >>> wall = planner.world.block([(4, -1, 0), (6, 11, 2)])
        >>> planner.distance((2, 5, 0), (8, 5, 0))
        inf
        """
        return float(self.path(start, goal).cost)

    def reachable(self, start: ArrayLike, goal: ArrayLike) -> bool:
        """Return whether there is a path; answered from connected components, without a search.

        >>> from wayfold import Mesh, World
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> planner = World.from_mesh(square, cache=False).planner(Agent(radius=0.5))
        >>> wall = planner.world.block([(4, -1, 0), (6, 11, 2)])
        >>> planner.reachable((2, 5, 0), (8, 5, 0)), planner.reachable((2, 5, 0), (2, 8, 0))
        (False, True)
        """
        with self._asking() as current:
            return current.reachable(start, goal)

    def nearest(self, point: ArrayLike) -> Points:
        """Return the place on the map that is nearest to a point, (3,), metres.

        Raises
        ------
        OffMapError
            When there is none within ten times the agent's size.

        Examples
        --------
        >>> from wayfold import Mesh, World
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> planner = World.from_mesh(square, cache=False).planner(Agent(radius=0.5))
        >>> place = planner.nearest((11, 5, 0))
        >>> place.round(2).tolist(), planner.path((2, 5, 0), place).found
        ([9.5, 5.0, 0.0], True)
        """
        with self._asking() as current:
            return current.nearest(checks.point3(point, "point", current.any_height))

    def field(self, goal: ArrayLike) -> Field:
        """Search once from a goal, for every start: for a crowd that goes to one place.

        The field stays with the world as it is now; make another one after an edit. A walker's field follows the
        quick paths (``exact=False``): they are legal, and where areas have costs of their own they may be several
        times as dear as the exact ones.

        >>> from wayfold import Mesh, World
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> planner = World.from_mesh(square, cache=False).planner(Agent(radius=0.5))
        >>> field = planner.field((8, 5, 0))
        >>> field.direction([(2, 5, 0), (8, 2, 0)]).round(2).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
        """
        with self._asking() as current:
            field, edits = current.field(goal), self.edits
        if current.in_place:
            field._reason = lambda start: self._reason(start, field.goal, edits)
        return field

    def expanded(self, start: ArrayLike, goal: ArrayLike) -> Points:
        """Return the places of the nodes that the search for a path settles, (k, 3), metres, for pictures.

        >>> from wayfold import Mesh, World
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> planner = World.from_mesh(square, cache=False).planner(Agent(radius=0.5))
        >>> wall = planner.world.block([(4, 3, 0), (6, 7, 2)])
        >>> places = planner.expanded((2, 5, 0), (8, 5, 0))
        >>> places.shape[1], bool((places[:, 0] < 10).all())
        (3, True)
        """
        with self._asking() as current:
            return current.expanded(start, goal)

    touched = checks.moved("Planner.touched", "expanded")

    def drape(self, path: Path, spacing: float = 1.0) -> Points:
        """Return the points of a path with more between them, so that a line through them follows the ground.

        A walker's path has points where it turns; between them the ground may rise and fall. Paths of others are
        straight in space, and stay as they are.

        Parameters
        ----------
        path : Path
            One of this planner's.
        spacing : float, metres, > 0
            Largest distance between two points, seen from above. Smaller values follow the ground more closely.

        Returns
        -------
        (k, 3) float64 array, metres

        Examples
        --------
        >>> from wayfold import Mesh, World
        >>> ridge = [(0, 0, 0), (5, 0, 2), (10, 0, 0), (10, 6, 0), (5, 6, 2), (0, 6, 0)]
        >>> hill = Mesh(ridge, [(0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4)])
        >>> planner = World.from_mesh(hill, cache=False).planner()
        >>> path = planner.path(planner.nearest((1, 3, 0.4)), planner.nearest((9, 3, 0.4)))
        >>> [float(points[:, 2].max().round(1)) for points in (path.points, planner.drape(path, 0.5))]
        [0.4, 2.0]
        """
        step = checks.number(spacing, "spacing", low=0.0, open_low=True)
        points = path.points
        if len(points) < 2:
            return points
        if path.length / step > checks.MOST_POINTS:
            raise ParameterError(f"spacing {step:g} gives more than {checks.MOST_POINTS} points: use a larger one")
        with self._asking() as current:
            return current.drape(points, step)

    def random_points(self, count: int, *, seed: int = 0) -> Points:
        """Return places that the agent can be at, (count, 3), metres, all in the largest connected part of the map.

        >>> from wayfold import Mesh, World
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> planner = World.from_mesh(square, cache=False).planner(Agent(radius=0.5))
        >>> camps = planner.random_points(50, seed=3)
        >>> camps.shape, planner.reachable(camps[0], camps[1])
        ((50, 3), True)
        """
        number = checks.whole(count, "count", low=0, high=checks.MOST_POINTS)
        first = checks.whole(seed, "seed", low=0)
        with self._asking() as current:
            return current.random_points(number, seed=first)

    # --- what it is --------------------------------------------------------------------------------------------------

    @property
    def nbytes(self) -> int:
        """Bytes of the map and the accelerator."""
        current = self._latest()
        return current.nbytes + (0 if current.accelerator is None else int(current.accelerator.nbytes))

    @property
    def build_seconds(self) -> float:
        """Seconds that it took to build, or to read from the cache."""
        return self.notes.build_seconds

    def explain(self) -> str:
        """Return a few lines that say what plans for this agent, and why.

        >>> from wayfold import Mesh, World
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> planner = World.from_mesh(square, cache=False).planner(Agent(radius=0.5))
        >>> for line in planner.explain().splitlines()[:2]:
        ...     print(line)
        agent        radius 0.5 m, height 1.8 m, climb 0.5 m, slope 45 degrees, surface
        map          navmesh: the agent only walks, so a navigation mesh of the ground is enough (Fuentes 2015)
        """
        agent, notes = self.agent, self.notes
        motions = "+".join(str(motion.name).lower() for motion in Motion if agent.motions & motion)
        settings = ", ".join(f"{name} {_shown(value)}" for name, value in notes.settings.items())
        accelerator = self.accelerator
        lines = [
            f"agent        radius {agent.radius:g} m, height {agent.height:g} m, climb {agent.climb:g} m,"
            f" slope {agent.slope:g} degrees, {motions}",
            f"map          {self.map_name}: {notes.why_map}",
            f"             {self.map!r}",
        ]
        lines += [f"             {remark}" for remark in notes.remarks]
        with self._asking() as current:
            sizes, unit = current.islands()
            remark = current.remark()
        if len(sizes):
            largest = f"{sized(sizes.max(), unit)}, {100.0 * sizes.max() / sizes.sum():.3g} % of the ground"
            lines.append(
                f"islands      {len(sizes)}, the largest has {largest}"
                if len(sizes) > 1
                else f"islands      1, {sized(sizes[0], unit)}: every place can be reached from every other"
            )
        if settings:
            lines.append(f"settings     {settings}")
        lines.append(f"accelerator  {self.accelerator_name}: {notes.why_accelerator}")
        if accelerator is not None:
            lines.append(f"             {accelerator!r}")
        if remark:
            lines.append(f"             {remark}")
        lines.append(f"memory       {self.nbytes:,} bytes, of which the map {int(self.map.nbytes):,}")
        source = "built" if notes.cached is None else f"read from {notes.cached}"
        lines.append(f"made         {source} in {notes.build_seconds:.2f} s, {self.edits} edits since")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Planner: {self.map_name} with {self.accelerator_name}, {self.nbytes / 1e6:.1f} MB>"

    def _hinted(self, current: AgentMap, error: OffMapError, start: ArrayLike, goal: ArrayLike) -> OffMapError:
        """The error with the place that was perhaps meant."""
        for name, point in (("start", start), ("goal", goal)):
            if str(error).startswith(name) or f"({name})" in str(error):
                try:
                    place = current.nearest(checks.point3(point, name, current.any_height))
                except OffMapError:
                    return error
                extent = 50.0 if self.world is None else float(np.ptp(self.world.bounds, axis=0).max())
                shown = text.place(place, extent)
                return OffMapError(f"{error}; the nearest place that this agent can be at is ({shown})")
        return error

    def _points(self, points: ArrayLike, name: str) -> Points:
        """One point or many as (q, 3); those without a height get what stands for any on this map."""
        array = checks.floats(points, name, "points (x, y) or (x, y, z), all of one kind")
        if not array.size:
            return np.empty((0, 3))
        if array.ndim == 1:
            return checks.point3(array, name, self._current.any_height)[None]
        return checks.points3(array, name, self._current.any_height)


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
