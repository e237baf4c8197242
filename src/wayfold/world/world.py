"""`World`: one geometry, any number of agents, and edits that reach all of them at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.core.bounded_cache import BoundedCache
from wayfold.core.locks import Portable, ReadersWriter
from wayfold.core.progress import Progress
from wayfold.errors import EditError, ParameterError
from wayfold.field import Field
from wayfold.geometry import Mesh
from wayfold.geometry.shapes import Shape, as_shape
from wayfold.map import Edits
from wayfold.path import Path, Paths
from wayfold.world import building, choice, sources
from wayfold.world.cache import cache_of
from wayfold.world.planner import Planner
from wayfold.world.progress import told
from wayfold.world.sources import File, Source

_MOST_PLANNERS = 32


@checks.checked
class World(Portable):
    """One geometry, a planner for every agent that moves in it, and edits that reach all of them at once.

    Make one with `open`, `from_mesh`, `from_map`, `from_terrain` or `sample`, ask it for a `planner` of an agent, or
    ask it for paths right away. Any number of threads may ask while another one edits: a query sees the world before
    an edit or after it, whole, and so do all planners.

    Attributes
    ----------
    name : str
        What the world is called.
    closed : tuple of str
        Names of materials that nobody walks on, such as water.

    Examples
    --------
    >>> from wayfold import Box
    >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
    >>> world = World.from_mesh(square, cache=False)
    >>> door = world.block(Box((4, -1, 0), (6, 11, 2)))
    >>> world.path((2, 5, 0), (8, 5, 0)).found
    False
    >>> world.unblock(door)
    >>> round(world.path((2, 5, 0), (8, 5, 0)).length, 2)
    6.0
    """

    _OWN = (("_editing", threading.RLock), ("_building", threading.RLock))

    def __init__(
        self, source: Source, name: str, cache: bool | str | Any = True, closed: Sequence[str] = ("water",)
    ) -> None:
        """Not for users: see `open` and the other makers."""
        self.name = name
        self.closed = _names(closed)
        self._source = source
        self._cache = cache_of(cache)
        self._planners = BoundedCache(most=_MOST_PLANNERS)
        self._zones = Edits()
        self._counts: dict[Shape, int] = {}
        self._version = 0
        self._lock = ReadersWriter()
        self._editing = threading.RLock()
        self._building = threading.RLock()

    # --- making one --------------------------------------------------------------------------------------------------

    @classmethod
    def open(
        cls,
        file: File,
        *,
        up: Literal["y", "z"] | None = None,
        cache: Any = True,
        closed: Sequence[str] = ("water",),
        **options: Any,
    ) -> World:
        """Open a level from a file, or a sample.

        Parameters
        ----------
        file : path
            Whatever `wayfold.open` reads that is a geometry: triangles (`.obj`, `.glb`, `.gltf`, `.stl`, `.ply`,
            `.bsp`, `.city.json`), cells (MovingAI `.map`), voxels (`.3dmap`), weighted regions (`.geojson`, or a saved
            terrain), or ``"sample:NAME"``. The content decides what a file is, not its name.
        up : "z" or "y", optional
            The axis of a mesh that points up: see `wayfold.formats.load_mesh`.
        cache : bool or folder
            Where built maps are kept for the next time: True is the user's cache folder, or what the environment
            variable WAYFOLD_CACHE names; False keeps nothing.
        closed : sequence of str
            Names of materials that nobody walks on.
        **options
            Of a sample (`seed`, `size`, ...) or of `Terrain.from_geojson` (`weights`, `default`, ...).

        Raises
        ------
        FormatError
            When there is no such file, it is damaged, or it holds no geometry.

        Examples
        --------
        >>> from wayfold import formats
        >>> formats.save_map([[True, True, False], [True, True, True]], "yard.map")
        >>> yard = World.open("yard.map", cache=False)
        >>> yard.kind, yard.path((0, 0), (2, 1)).found
        ('cells', True)
        >>> World.open("sample:maze", width=4, height=3, cache=False)
        <World 'sample:maze': cells, 9 x 7 x 1 m, 0 planners>
        """
        return cls(sources.read(file, up, options), str(file).replace("\\", "/").rsplit("/", 1)[-1], cache, closed)

    @classmethod
    def from_mesh(
        cls, mesh: Mesh, *, name: str = "mesh", cache: Any = True, closed: Sequence[str] = ("water",)
    ) -> World:
        """Create a world of triangles, z up; see `open` for the other parameters.

        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> World.from_mesh(square, name="yard", cache=False)
        <World 'yard': mesh, 10 x 10 x 0 m, 0 planners>
        """
        if not isinstance(mesh, Mesh):
            raise ParameterError(f"from_mesh takes a Mesh, not a {type(mesh).__name__}")
        return cls(sources.of(mesh), name, cache, closed)

    @classmethod
    def from_map(cls, cells: Any, *, name: str = "map", cache: Any = True) -> World:
        """Create a world of cells or voxels: what `formats.load_map` or `formats.load_map3d` read.

        >>> from wayfold import formats
        >>> formats.save_map([[True, True, False], [True, True, True]], "yard.map")
        >>> yard = World.from_map(formats.load_map("yard.map"), name="yard", cache=False)
        >>> yard.path((0, 0), (2, 1), exact=True).points[:, :2].tolist()
        [[0.0, 0.0], [1.0, 1.0], [2.0, 1.0]]
        """
        return cls(sources.of(cells), name, cache)

    @classmethod
    def from_terrain(cls, terrain: Any, *, name: str = "terrain", cache: Any = True) -> World:
        """Create a world of weighted regions; see `open` for the other parameters.

        >>> from shapely import box
        >>> from wayfold import Terrain
        >>> terrain = Terrain([(box(0, 0, 10, 10), 1.0, "grass"), (box(4, 0, 6, 10), 3.0, "mud")])
        >>> heath, hiker = World.from_terrain(terrain, cache=False), Agent(radius=0.0)
        >>> heath.distance((2, 5), (8, 5), hiker)
        10.0
        >>> heath.planner(hiker, costs={"mud": 1.0}).distance((2, 5), (8, 5))
        6.0
        """
        return cls(sources.of(terrain), name, cache)

    @classmethod
    def sample(cls, name: str, *, cache: Any = True, **options: Any) -> World:
        """Create a procedural world.

        Parameters
        ----------
        name : str
            What `wayfold.samples` calls it.
        cache
            As for `open`.
        **options
            Of the sample, such as `seed` and its size.

        Examples
        --------
        >>> World.sample("maze", width=4, height=3, seed=2, cache=False).bounds.tolist()
        [[-0.5, -0.5, -0.5], [8.5, 6.5, 0.5]]
        """
        from wayfold import samples

        return cls(sources.of(samples.make(name, **options)), name, cache)

    # --- what it is --------------------------------------------------------------------------------------------------

    @property
    def mesh(self) -> Mesh | None:
        """Its triangles, None where it is made of something else."""
        return self._source.mesh

    @property
    def kind(self) -> str:
        """What it is made of: "mesh", "cells", "voxels" or "terrain"."""
        return self._source.kind

    @property
    def bounds(self) -> NDArray[np.float64]:
        """(2, 3) low and high corner of the box around it."""
        return self._source.bounds

    @property
    def blocks(self) -> tuple[Shape, ...]:
        """Shapes that are blocked now, each once."""
        return self._zones.blocks

    @property
    def costs(self) -> tuple[tuple[Shape, float], ...]:
        """Shapes with a cost of their own, in the order in which they were given it."""
        return self._zones.costs

    @property
    def version(self) -> int:
        """Number of edits so far."""
        return self._version

    @property
    def planners(self) -> tuple[Planner, ...]:
        """The planners that have been made and are kept, by the world or by somebody else."""
        return tuple(planner for _, planner in self._planners.items())

    def __repr__(self) -> str:
        low, high = self.bounds
        size = " x ".join(f"{side:.4g}" for side in high - low)
        return f"<World {self.name!r}: {self.kind}, {size} m, {len(self.planners)} planners>"

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "_planners": self._planners.items()}

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        planners: Any = self._planners
        self._planners = BoundedCache(most=_MOST_PLANNERS)
        for key, planner in planners:
            self._planners.get(key, partial(_same, planner))

    # --- planning ----------------------------------------------------------------------------------------------------

    def planner(
        self,
        agent: Agent | None = None,
        *,
        map: str = "auto",
        accelerator: str = "auto",
        costs: Mapping[str, float] | None = None,
        progress: Progress | None = None,
        **settings: Any,
    ) -> Planner:
        """Return the agent's planner, building it on first use or reading it from the cache.

        A world keeps the 32 planners that were asked for last; edits reach them and all others that somebody still has.

        Parameters
        ----------
        agent : Agent, optional
            The default agent if none is given. Walkers get a navigation mesh with a hierarchy, climbers and flyers
            waypoints with subregions; worlds of cells, voxels or weighted regions their own maps.
        map : "auto", "navmesh", "waypoints", "sparse-grid", "voxels" or "terrain"
            Map to use instead of the default.
        accelerator : "auto", "hierarchy", "subregions", "regions" or "none"
            Accelerator to use instead of the default.
        costs : mapping of material (or region) name to cost of a metre, optional
            What the ground costs this agent; infinity closes it. Names that are left out cost 1 on a mesh, and keep
            their weight on a terrain. Navigation meshes and terrains only.
        progress : callable, optional
            Called as ``progress(what, done, total)`` while something is built. By default a bar is shown on a
            terminal when that takes longer than a second.
        **settings
            Of the map: `cell_size`, `cell_height`, `tile_size`, ... of `NavMesh.build`; `region_size` of
            `WaypointGraph.build`; `cell` of `SparseGrid.from_mesh`; `graph`, `epsilon`, ... of `Terrain.path`.

        Raises
        ------
        ParameterError
            When the choices do not go together.
        GeometryError
            When the agent fits nowhere.

        Examples
        --------
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> world = World.from_mesh(square, cache=False)
        >>> walker = world.planner()
        >>> walker.map_name, walker.accelerator_name
        ('navmesh', 'hierarchy')
        >>> giant = world.planner(Agent(radius=2.0, height=5.0), accelerator="none")
        >>> walker.nearest((11, 5, 0)).round(1).tolist(), giant.nearest((11, 5, 0)).round(1).tolist()
        ([9.6, 5.0, 0.0], [8.0, 5.0, 0.0])
        """
        who = Agent() if agent is None else agent
        if not isinstance(who, Agent):
            raise ParameterError(f"planner takes an Agent, not a {type(who).__name__}")
        chosen = choice.choose(self.kind, who, map, accelerator)
        prices = _prices(costs)
        for name, value in settings.items():
            _check_plain(value, name)
        key = (who, chosen.map, chosen.accelerator, prices, tuple(sorted(settings.items())))
        try:
            found = self._planners.find(key)
        except TypeError:
            raise ParameterError(f"a setting has no plain value: {checks.shown(settings)}") from None
        if isinstance(found, Planner):
            return found
        with self._building:
            made: Planner | None = self._planners.find(key)
            if made is None:
                begin = time.perf_counter()
                with told(progress) as tell:
                    made = building.build(
                        building.PlannerRequest(
                            self._source,
                            who,
                            chosen,
                            dict(prices),
                            settings,
                            self.closed,
                            self._cache,
                            self._lock,
                            tell,
                        )
                    )
                made.notes.build_seconds = time.perf_counter() - begin
                made.world = self
                with self._editing:
                    self._catch_up(made)
                    self._planners.get(key, partial(_same, made))
        return made

    def _catch_up(self, planner: Planner) -> None:
        """Tell a new planner, which was built for the world as it is without edits, about them one by one."""
        blocks, costs = self._zones.blocks, self._zones.costs
        for count in range(1, len(blocks) + 1):
            planner._commit(planner._prepare(Edits(blocks[:count])))
        for count in range(1, len(costs) + 1):
            planner._commit(planner._prepare(Edits(blocks, costs[:count])))

    def path(self, start: ArrayLike, goal: ArrayLike, agent: Agent | None = None, *, exact: bool = False) -> Path:
        """Find a path of an agent; see `Planner.path`.

        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> world = World.from_mesh(square, cache=False)
        >>> path = world.path((2, 5, 0), (8, 5, 0), exact=True)
        >>> path.points[:, :2].round(3).tolist(), round(path.cost, 3)
        ([[2.0, 5.0], [8.0, 5.0]], 6.0)
        """
        return self.planner(agent).path(start, goal, exact=exact)

    def paths(
        self,
        starts: ArrayLike,
        goals: ArrayLike,
        agent: Agent | None = None,
        *,
        exact: bool = False,
        workers: int | None = None,
    ) -> Paths:
        """Find many paths of an agent, in parallel; see `Planner.paths`.

        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> world = World.from_mesh(square, cache=False)
        >>> [round(path.length, 2) for path in world.paths([(2, 5, 0), (5, 5, 0)], (8, 5, 0))]
        [6.0, 3.0]
        """
        return self.planner(agent).paths(starts, goals, exact=exact, workers=workers)

    def distance(self, start: ArrayLike, goal: ArrayLike, agent: Agent | None = None) -> float:
        """Return what the path of an agent costs, infinite where there is none; see `Planner.distance`.

        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> world = World.from_mesh(square, cache=False)
        >>> round(world.distance((2, 5, 0), (8, 5, 0)), 3)
        6.0
        """
        return self.planner(agent).distance(start, goal)

    def reachable(self, start: ArrayLike, goal: ArrayLike, agent: Agent | None = None) -> bool:
        """Return whether an agent has a path, without a search; see `Planner.reachable`.

        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> world = World.from_mesh(square, cache=False)
        >>> wall = world.block([(4, -1, 0), (6, 11, 2)])
        >>> world.reachable((2, 5, 0), (8, 5, 0)), world.reachable((2, 5, 0), (2, 8, 0))
        (False, True)
        """
        return self.planner(agent).reachable(start, goal)

    def nearest(self, point: ArrayLike, agent: Agent | None = None) -> NDArray[np.float64]:
        """Return the place nearest to a point that an agent can be at, (3,), metres; see `Planner.nearest`.

        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> world = World.from_mesh(square, cache=False)
        >>> world.nearest((12, 5, 0)).round(1).tolist()
        [9.6, 5.0, 0.0]
        """
        return self.planner(agent).nearest(point)

    def field(self, goal: ArrayLike, agent: Agent | None = None) -> Field:
        """Search once from a goal, for a crowd of agents; see `Planner.field`.

        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> world = World.from_mesh(square, cache=False)
        >>> field = world.field((8, 5, 0))
        >>> field.cost([(2, 5, 0), (5, 5, 0), (8, 5, 0)]).round(2).tolist()
        [6.0, 3.0, 0.0]
        """
        return self.planner(agent).field(goal)

    # --- edits -------------------------------------------------------------------------------------------------------

    def block(self, shape: Shape | ArrayLike) -> Shape:
        """Close a part of the world to every agent; if one of their planners cannot follow, nothing changes.

        Parameters
        ----------
        shape : Box, Prism or (2, 3) array_like
            What nobody may enter or touch any more. It may reach out of the world. What is blocked twice has to be
            unblocked twice.

        Returns
        -------
        Shape
            What to give to `unblock`.

        Examples
        --------
        >>> from wayfold import Prism
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> world = World.from_mesh(square, cache=False)
        >>> pillar = world.block(Prism([(4, 3), (6, 3), (6, 7), (4, 7)], 0.0, 3.0))
        >>> slim, wide = Agent(radius=0.2), Agent(radius=0.8)
        >>> [round(world.path((2, 5, 0), (8, 5, 0), agent, exact=True).length, 1) for agent in (slim, wide)]
        [8.0, 9.1]
        """
        what = as_shape(shape)
        with self._editing:
            counts = {**self._counts, what: self._counts.get(what, 0) + 1}
            blocks = self._zones.blocks if counts[what] > 1 else (*self._zones.blocks, what)
            self._edit(Edits(blocks, self._zones.costs), counts)
        return what

    def unblock(self, shape: Shape | ArrayLike) -> None:
        """Open a part of the world again that was blocked.

        Raises
        ------
        EditError
            When this very shape is not blocked; nothing is changed then.

        Examples
        --------
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> world = World.from_mesh(square, cache=False)
        >>> gate = world.block([(4, -1, 0), (6, 11, 2)])
        >>> world.reachable((2, 5, 0), (8, 5, 0)), len(world.blocks)
        (False, 1)
        >>> world.unblock(gate)
        >>> world.reachable((2, 5, 0), (8, 5, 0)), len(world.blocks)
        (True, 0)
        """
        what = as_shape(shape)
        with self._editing:
            if what not in self._counts:
                raise EditError(f"{checks.shown(what)} is not blocked: give the shape that `block` returned")
            counts = {**self._counts, what: self._counts[what] - 1}
            blocks = self._zones.blocks
            if not counts[what]:
                del counts[what]
                blocks = tuple(block for block in blocks if block != what)
            self._edit(Edits(blocks, self._zones.costs), counts)

    def set_cost(self, shape: Shape | ArrayLike, cost: float) -> Shape:
        """Make a part of the world dearer or cheaper for every agent.

        Parameters
        ----------
        shape : Box, Prism or (2, 3) array_like
            Where; walkers whose ground lies in it, others whose position does. Where shapes overlap the one that was
            set last counts.
        cost : float, 1e-6 to 1e6
            Factor on what a metre costs an agent there; 1 takes back what was set for this very shape. Use `block` to
            close it. What is closed stays closed.

        Examples
        --------
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> world = World.from_mesh(square, cache=False)
        >>> mud = world.set_cost([(4, -1, -1), (6, 11, 1)], 3.0)
        >>> round(world.distance((2, 5, 0), (8, 5, 0)), 1)
        10.0
        >>> mud = world.set_cost(mud, 1.0)
        >>> round(world.distance((2, 5, 0), (8, 5, 0)), 1), world.costs
        (6.0, ())
        """
        what = as_shape(shape)
        price = checks.number(cost, "cost", low=1e-6, high=1e6)
        with self._editing:
            rest = tuple((zone, rate) for zone, rate in self._zones.costs if zone != what)
            costs = rest if price == 1.0 else (*rest, (what, price))
            if costs != self._zones.costs:
                self._edit(Edits(self._zones.blocks, costs), self._counts)
        return what

    def _edit(self, after: Edits, counts: dict[Shape, int]) -> None:
        """Change every planner, all or none: first what each has to do is worked out, then all of them do it."""
        planners = self.planners if after != self._zones else ()
        prepared = [planner._prepare(after) for planner in planners]
        with self._lock.writing():
            for planner, change in zip(planners, prepared, strict=True):
                planner._commit(change)
                planner.edits += 1
            self._zones = after
            self._counts = counts
            self._version += 1


def _same(planner: Planner) -> Planner:
    return planner


def _names(names: Any) -> tuple[str, ...]:
    """Names of materials; a single one would be taken for its letters."""
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ParameterError(
            f"closed must be a list of names of materials, such as ['water'], not {checks.shown(names)}"
        )
    return tuple(names)


def _check_plain(value: Any, name: str) -> None:
    """Refuse settings by which a planner cannot be known again."""
    if isinstance(value, tuple):
        for item in value:
            _check_plain(item, name)
    elif isinstance(value, int) and abs(value) >= 2**63:
        raise ParameterError(f"{name} must be a whole number of at most 64 bits, not {checks.shown(value)}")
    elif not (value is None or isinstance(value, (bool, int, float, str, np.bool_, np.integer, np.floating))):
        raise ParameterError(f"{name} has no plain value: {checks.shown(value)}")


def _prices(costs: Any) -> tuple[tuple[str, float], ...]:
    """What an agent thinks of materials, by name."""
    if costs is None:
        return ()
    if not isinstance(costs, Mapping):
        raise ParameterError(
            f"costs must say what a metre costs by name, such as {{'grass': 2.0}}, not {checks.shown(costs)}"
        )
    for name, cost in costs.items():
        if not isinstance(name, str):
            raise ParameterError(f"costs are by name of material, not by {checks.shown(name)}")
        checks.rate(cost, f"the cost of {checks.shown(name)}")
    return tuple(sorted((name, float(cost)) for name, cost in costs.items()))
