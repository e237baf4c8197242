"""`Terrain`: weighted regions of the plane, and cheapest routes over them (003).

Routes weigh road against swamp: a path costs its length times the weight of the ground. The default method,
"refined", moves the crossings of a good route to the exact optimum of its edge sequence.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold import _archive, _check, _threads
from wayfold.errors import FormatError, OffMapError, ParameterError
from wayfold.path import Path, Status
from wayfold.terrain import _kernels, _sources, discs
from wayfold.terrain._constructors import FromSources
from wayfold.terrain._repaint import repaint
from wayfold.terrain._subdivision import paint
from wayfold.terrain.bound import lower_bound
from wayfold.terrain.gridded import GridRoutes
from wayfold.terrain.ground import Ground
from wayfold.terrain.routes import DualRoutes, EdgeRoutes
from wayfold.terrain.steiner import SteinerGraph

GRAPHS = ("refined", "steiner", "dual-extra", "dual", "grid")
SEARCHES = ("astar", "dijkstra", "bushwhack", "cones")
DEFAULT = "default"
_CANDIDATES = 20_000  # triangles up to which a second route is refined too

Array = NDArray[np.float64]
Bounds = tuple[float, float, float, float]


class Terrain(FromSources):
    """A planar subdivision of weighted regions.

    Parameters
    ----------
    regions : list of (polygon, weight) or (polygon, weight, name)
        Shapely polygons or multipolygons, later ones painted over earlier ones. Weights are costs per unit of length,
        above 0; infinity is an obstacle. Regions of one name have one weight; without a name the weight is the name.
    default : float, > 0, optional
        Weight of what is left inside `bounds`; by default the map ends where the regions end.
    bounds : (x0, y0, x1, y1), optional
        The map's rectangle when there is a `default`; the box around the regions otherwise.

    Notes
    -----
    Points on the edge between two regions cost the lower of the two weights. Any number of threads may ask at once.
    """

    def __init__(
        self,
        regions: Iterable[Sequence[Any]],
        *,
        default: float | None = None,
        bounds: Sequence[float] | None = None,
    ) -> None:
        shapes, kinds, names, weights = _sources.check_regions(regions)
        box: Bounds | None = None
        if default is not None:
            box = _sources.check_bounds(bounds, shapes)
            names = (*names, DEFAULT)
            weights = np.append(weights, _sources.check_weight(default, "default"))
        elif bounds is not None:
            raise ParameterError("bounds need a default weight for what is left inside them")
        vertices, triangles, owners = paint(shapes, box)
        painted = np.append(kinds, len(names) - 1)[owners].astype(np.int32)
        self._set(Ground(vertices, triangles), painted, names, weights)

    def _set(self, ground: Ground, kinds: NDArray[np.int32], names: tuple[str, ...], weights: Array) -> None:
        self._ground = ground
        self._kinds = kinds
        self._names = names
        self._by_name = weights
        self._weights: Array = np.ascontiguousarray(weights[kinds])
        self._others: dict[Any, Any] = {}

    @classmethod
    def _from_ground(cls, ground: Ground, kinds: NDArray[np.int32], names: tuple[str, ...], weights: Array) -> Terrain:
        terrain = cls.__new__(cls)
        terrain._set(ground, kinds, names, weights)
        return terrain

    # --- what it is ------------------------------------------------------------------------------------------------

    @property
    def vertices(self) -> Array:
        """Corners of the triangles, (n, 2)."""
        return self._ground.mesh.vertices

    @property
    def triangles(self) -> NDArray[np.int32]:
        """Vertex numbers of each triangle, (m, 3), counter-clockwise."""
        return self._ground.mesh.triangles

    @property
    def twins(self) -> NDArray[np.int32]:
        """The half-edge on the other side of each half-edge ``3 * triangle + corner``, (3 m,); -1 at the border."""
        return self._ground.mesh.twins

    @property
    def triangle_weights(self) -> Array:
        """Weight of each triangle, (m,)."""
        return self._weights

    @property
    def triangle_names(self) -> list[str]:
        """Name of the region that each triangle belongs to."""
        return [self._names[kind] for kind in self._kinds]

    @property
    def num_triangles(self) -> int:
        """Number of triangles."""
        return len(self._kinds)

    @property
    def bounds(self) -> Bounds:
        """Least x and y, greatest x and y."""
        return self._ground.bounds

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each name."""
        return {name: float(weight) for name, weight in zip(self._names, self._by_name, strict=True)}

    @cached_property
    def min_weight(self) -> float:
        """The least weight on the map."""
        return float(self._weights.min())

    @property
    def nbytes(self) -> int:
        """Bytes of the triangulation and the weights, without graphs that queries built."""
        return sum(array.nbytes for array in self._ground.mesh) + self._kinds.nbytes + self._weights.nbytes

    def __repr__(self) -> str:
        return f"<Terrain: {self.num_triangles} triangles, {len(self._names)} kinds of ground>"

    def with_weights(self, weights: Mapping[str, float]) -> Terrain:
        """The same ground as another character weighs it; the geometry is shared, not rebuilt.

        Parameters
        ----------
        weights : mapping of name to weight, > 0
            Names that are left out keep their weight.
        """
        known = {name: at for at, name in enumerate(self._names)}
        fresh = self._by_name.copy()
        for name, weight in weights.items():
            if name not in known:
                raise ParameterError(f"no region is called {name!r}: choose from {', '.join(sorted(known)[:20])}")
            fresh[known[name]] = _sources.check_weight(weight, f"weight of {name!r}")
        key = ("weights", fresh.tobytes())
        if key not in self._others:
            self._others[key] = Terrain._from_ground(self._ground, self._kinds, self._names, fresh)
        other: Terrain = self._others[key]
        return other

    def painted(self, layers: Iterable[tuple[Any, float]]) -> Terrain:
        """The same ground with areas that are dearer, cheaper or closed; this terrain stays as it is.

        Only the triangles that an outline meets are cut; all others are kept, so that most of the time goes into
        joining the triangles again. Lines cost what they cost on a terrain that was painted from scratch.

        Parameters
        ----------
        layers : list of (polygon, factor)
            Shapely polygons or multipolygons, which may reach out of the map, and what the ground's own weight is
            multiplied by in each: above 0, infinity closes it. Where polygons overlap the last one counts.

        Raises
        ------
        ParameterError, GeometryError
            When a polygon is not valid or a factor is not above 0.
        """
        shapes: list[Any] = []
        factors: list[float] = []
        for number, (polygon, factor) in enumerate(layers):
            factors.append(_sources.check_weight(factor, f"the factor of layer {number}"))
            shapes.append(_sources.check_regions([(polygon, 1.0)])[0][0])
        if not shapes:
            return self
        mesh = self._ground.mesh
        vertices, triangles, of, layer = repaint(mesh.vertices, mesh.triangles, shapes)
        count = len(shapes) + 1
        unique, kinds = np.unique(self._kinds[of].astype(np.int64) * count + layer + 1, return_inverse=True)
        own, over = np.divmod(unique, count)  # 0 is for what is not painted
        names = tuple(
            self._names[kind] + (f" (layer {at - 1})" if at else "")
            for kind, at in zip(own.tolist(), over.tolist(), strict=True)
        )
        weights = self._by_name[own] * np.array([1.0, *factors])[over]
        ground = self._ground if triangles is mesh.triangles else Ground(vertices, triangles)
        return Terrain._from_ground(ground, kinds.reshape(-1).astype(np.int32), names, weights)

    def locate(self, points: ArrayLike) -> NDArray[np.int32]:
        """The triangle of each point (q, 2), the lightest where there are several, -1 outside the map."""
        where = np.ascontiguousarray(_check.points3(points)[:, :2])
        found = np.empty(len(where), np.int32)
        _kernels.locate(self._ground.mesh, self._weights, where, self._ground.slack, found)
        return found

    def cost(self, points: ArrayLike, *, radius: float = 0.0) -> float:
        """Cost of a polyline (k, 2) or (k, 3), of a disc if it has a radius; infinite if blocked or off the map."""
        line = np.ascontiguousarray(_check.points3(points)[:, :2])
        return discs.exact_cost(self._ground, self._weights, line, _check.number(radius, "radius", low=0.0))

    # --- queries ---------------------------------------------------------------------------------------------------

    def path(
        self,
        start: ArrayLike,
        goal: ArrayLike,
        *,
        graph: str = "refined",
        search: str | None = None,
        epsilon: float = 64.0,
        cell: float | None = None,
        nodes: str = "centres",
        steps: str = "exact",
        radius: float = 0.0,
        weights: Mapping[str, float] | None = None,
    ) -> Path:
        """A cheap path between two points.

        Parameters
        ----------
        start, goal : (x, y)
            On the map and not in an obstacle.
        graph : "refined", "steiner", "dual-extra", "dual" or "grid"
            "refined" is nearly optimal; "steiner" is as good as its `epsilon`; "dual" is the fastest and the worst.
        search : "astar", "dijkstra", "bushwhack" or "cones", optional
            All give the same cost on the same graph. The last two are for Steiner graphs: "bushwhack" is the paper's
            Alternative BUSHWHACK, "cones" prunes by cones that bend at edges and is the default there; the ways of
            discs do not bend so, and have no cones. A* elsewhere.
        epsilon : float, > 0
            Of a Steiner graph: at most 1 + epsilon times the optimum where it is at most 1.
        cell : float, metres, > 0, optional
            Side of a grid's cells; a hundredth of the map's longer side by default.
        nodes : "centres" or "corners"
            Where a grid's nodes lie in its cells.
        steps : "exact" or "sampled"
            Whether the search over a grid takes a step to cost what the line costs, or the mean of the weights at its
            two ends, as in the paper (where there are no obstacles and no radius). `cost` is exact in any case.
        radius : float, metres, >= 0
            Of a disc: it costs the highest weight under it and keeps clear of obstacles. The border of the map is no
            obstacle.
        weights : mapping of name to weight, optional
            As for `with_weights`, for this query.

        Returns
        -------
        Path
            `cost` is the weighted length of `points` (of a disc along them); `lower_bound` is computed when it is
            asked for. UNREACHABLE when obstacles or gaps keep the two apart.
        """
        size = _check.number(radius, "radius", low=0.0)
        kind = search or ("cones" if graph == "steiner" and size == 0 else "astar")
        self._check_query(graph, kind, nodes, steps)
        if kind == "cones" and size > 0:
            raise ParameterError("search 'cones' is for points: use 'astar', 'dijkstra' or 'bushwhack' for a disc")
        fine = _check.number(epsilon, "epsilon", low=0.0, open_low=True)
        if weights:
            return self.with_weights(weights).path(
                start,
                goal,
                graph=graph,
                search=search,
                epsilon=fine,
                cell=cell,
                nodes=nodes,
                steps=steps,
                radius=size,
            )
        ends, places = self._ends(start, goal)
        if graph == "steiner":
            found = SteinerGraph(self._ground, self._weights, ends, places, fine, size).path(kind)
        elif graph == "grid":
            x0, y0, x1, y1 = self.bounds
            side = max(x1 - x0, y1 - y0) / 100 if cell is None else _check.number(cell, "cell", low=0, open_low=True)
            found = self._routes("grid", side, nodes, steps, size).path(ends, kind)
        elif graph == "refined" and size > 0:
            found = self._refined_disc(ends, kind, size)
        else:
            found = self._routes(graph, size).path(ends, places, kind)
        if found and (ends[0] == ends[1]).all():  # a coarse graph would lead to a node and back
            return Path(Status.FOUND, found.points[[0, -1]], cost=0.0, lower_bound=0.0)
        if found:
            found._lower_bound = lambda: lower_bound(self._ground, self._weights, ends, places, found.cost)
        return found

    def paths(self, starts: ArrayLike, goals: ArrayLike, *, workers: int | None = None, **options: Any) -> list[Path]:
        """Paths of many queries, in parallel; each is the same as `path` gives.

        Parameters
        ----------
        starts, goals : (q, 2) or (q, 3) array_like
        workers : int, >= 1, optional
            Threads, all cores by default.
        **options
            As for `path`.
        """
        first, last = _check.points3(starts, "starts"), _check.points3(goals, "goals")
        if len(first) != len(last):
            raise ParameterError(f"starts and goals must be equally many, not {len(first)} and {len(last)}")
        found: list[Any] = [None] * len(first)

        def work(begin: int, end: int) -> None:
            for at in range(begin, end):
                found[at] = self.path(first[at], last[at], **options)

        if len(first):
            work(0, 1)  # what all queries share is built once
        _threads.run_chunks(lambda a, b: work(a + 1, b + 1), max(0, len(first) - 1), workers=workers, chunk=8)
        return found

    def _check_query(self, graph: str, search: str, nodes: str, steps: str) -> None:
        if graph not in GRAPHS:
            raise ParameterError(f"graph must be one of {', '.join(GRAPHS)}, not {graph!r}")
        if search not in SEARCHES:
            raise ParameterError(f"search must be one of {', '.join(SEARCHES)}, not {search!r}")
        if search in ("bushwhack", "cones") and graph != "steiner":
            raise ParameterError(f"search {search!r} is for Steiner graphs: use graph='steiner'")
        if nodes not in ("centres", "corners"):
            raise ParameterError(f"nodes must be 'centres' or 'corners', not {nodes!r}")
        if steps not in ("exact", "sampled"):
            raise ParameterError(f"steps must be 'exact' or 'sampled', not {steps!r}")

    def _refined_disc(self, ends: Array, search: str, radius: float) -> Path:
        """The refined route of a disc: that of a point on the terrain grown by the radius."""
        grown = self._grown(radius)
        places = grown.locate(ends)
        if (places < 0).any() or not np.isfinite(grown._weights[places]).all():
            return Path(Status.UNREACHABLE)
        found: Path = grown._routes("refined", 0.0).path(ends, places, search)
        if found:
            line = np.ascontiguousarray(found.points[:, :2])
            found.cost = discs.exact_cost(self._ground, self._weights, line, radius)
        return found

    def _grown(self, radius: float) -> Terrain:
        """The terrain on which the centre of a disc is a point; this one without a radius."""
        if radius == 0:
            return self
        key = ("grown", radius)
        if key not in self._others:
            ground, weights = discs.grow(self._ground, self._weights, radius)
            kinds = np.arange(len(weights), dtype=np.int32)
            self._others[key] = Terrain._from_ground(ground, kinds, tuple(map(str, kinds)), weights)
        grown: Terrain = self._others[key]
        return grown

    def _routes(self, graph: str, *options: Any) -> Any:
        """The prepared graph of a kind, built when it is first asked for."""
        key = (graph, *options)
        routes = self._others.get(key)
        if routes is None:
            ground, weights = self._ground, self._weights
            if graph == "dual":
                routes = DualRoutes(ground, weights, *options)
            elif graph == "grid":
                routes = GridRoutes(ground, weights, *options)
            elif graph == "dual-extra":
                routes = EdgeRoutes(ground, weights, ground.extra, *options)
            else:
                # A second candidate pays where triangles are large; where they are small there is not much to choose.
                small = len(weights) <= _CANDIDATES
                other = self._routes("dual-extra", *options) if small else None
                routes = EdgeRoutes(ground, weights, ground.coarse, *options, refine=True, other=other)
            self._others[key] = routes
        return routes

    def _ends(self, start: ArrayLike, goal: ArrayLike) -> tuple[Array, NDArray[np.int32]]:
        ends = np.stack([_check.point3(start, "start"), _check.point3(goal, "goal")])[:, :2].copy()
        places = np.empty(2, np.int32)
        _kernels.locate(self._ground.mesh, self._weights, ends, self._ground.slack, places)
        for name, end, place in zip(("start", "goal"), ends, places, strict=True):
            if place < 0:
                raise OffMapError(f"{name} ({end[0]:g}, {end[1]:g}) is outside the map")
            if not np.isfinite(self._weights[place]):
                raise OffMapError(f"{name} ({end[0]:g}, {end[1]:g}) lies in an obstacle")
        return ends, places

    # --- files -----------------------------------------------------------------------------------------------------

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the terrain to a `.wayfold` file; `wayfold.load` reads it."""
        arrays: dict[str, NDArray[Any]] = {
            "vertices": self.vertices,
            "triangles": self.triangles,
            "kinds": self._kinds,
            "weights": self._by_name,
        }
        _archive.write_archive(file, "terrain", arrays, {"names": list(self._names)})

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> Terrain:
        """Read a terrain that `save` wrote."""
        archive = _archive.read_archive(file, "terrain")
        missing = [name for name in ("vertices", "triangles", "kinds", "weights") if name not in archive.arrays]
        names = archive.meta.get("names")
        if missing or not isinstance(names, list):
            raise FormatError(f"the archive has no {missing[0] if missing else 'names'!r}", file)
        arrays = archive.arrays
        if len(names) != len(arrays["weights"]) or len(arrays["kinds"]) != len(arrays["triangles"]):
            raise FormatError("the arrays of the terrain do not fit together", file)
        ground = Ground(arrays["vertices"], arrays["triangles"])
        return cls._from_ground(ground, arrays["kinds"], tuple(map(str, names)), arrays["weights"])
