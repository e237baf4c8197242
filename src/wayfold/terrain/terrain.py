"""`Terrain`: weighted regions of the plane, and cheapest routes over them (Tibboel 2012).

Routes weigh road against swamp: a path costs its length times the weight of the ground. The default method,
"refined", moves the crossings of a good route to the exact optimum of its edge sequence.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse
import shapely
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from wayfold.core import batches, checks, text
from wayfold.core.bounded_cache import BoundedCache
from wayfold.core.schema import Array, Parts, Savable, Schema, Value
from wayfold.errors import OffMapError, ParameterError
from wayfold.geometry import Mesh
from wayfold.geometry.frame import LARGEST, Frame
from wayfold.geometry.scatter import scatter, twice_areas, within
from wayfold.path import Path, Paths, Status
from wayfold.terrain import _kernels, discs, sources
from wayfold.terrain.bound import lower_bound
from wayfold.terrain.gridded import GridRoutes
from wayfold.terrain.ground import Ground
from wayfold.terrain.repaint import CutPieces, Painted, repaint
from wayfold.terrain.routes import DualRoutes, EdgeRoutes, EditedRoutes, GoalTree, is_small
from wayfold.terrain.steiner import SteinerGraph
from wayfold.terrain.subdivision import turns

if TYPE_CHECKING:
    from wayfold.samples import Scene


def triangles_turn_left(parts: Parts) -> None:
    """Every triangle has an area and runs counter-clockwise."""
    if not (turns(parts.arrays["vertices"], parts.arrays["triangles"]) == 1).all():
        raise ValueError("a triangle has no area or runs clockwise")


def weights_named(parts: Parts) -> None:
    """Every kind of ground has a name and a weight above 0."""
    names, weights = parts.meta["names"], parts.arrays["weights"]
    if len(names) != len(weights) or not (weights > 0).all():
        raise ValueError("every kind of ground needs a name and a weight above 0")


SCHEMA = Schema(
    "terrain",
    {
        "vertices": Array("float64", ("vertices", 2), "metres from the origin", -2 * LARGEST, 2 * LARGEST),
        "origin": Array("float64", (3,), "metres", -LARGEST, LARGEST),
        "triangles": Array("int32", ("triangles", 3), "counter-clockwise", refers="vertices"),
        "kinds": Array("int32", ("triangles",), "kind of ground of each triangle", refers="kinds"),
        "weights": Array(
            "float64", ("kinds",), "what a metre costs on each kind of ground", 0.0, checks.LARGEST_COST, finite=False
        ),
    },
    {"names": Value(list, "names of the kinds of ground", each=Value(str, ""))},
    {"triangles": 1},
    (triangles_turn_left, weights_named),
)


def ground_of(parts: Parts) -> Ground:
    """The ground of a saved terrain."""
    vertices = parts.arrays["vertices"]
    x, y, z = parts.arrays["origin"].tolist()
    extent = float((vertices.max(axis=0) - vertices.min(axis=0)).max())
    if not (np.abs(vertices) + np.abs(parts.arrays["origin"][:2]) <= 2 * LARGEST).all():
        raise ValueError(f"a coordinate is larger than {LARGEST:g}")
    return Ground(vertices, parts.arrays["triangles"], Frame((x, y, z), extent))


GRAPHS = ("refined", "steiner", "dual-extra", "dual", "grid")
SEARCHES = ("astar", "dijkstra", "bushwhack", "cones")
DEFAULT = "default"
LIMIT = 64 * 2**20
"""Bytes of graphs and grown grounds that a terrain keeps for all its weights and radii, besides the one used last."""
CUTS = 16 * 2**20
"""Bytes that it keeps of what painted polygons have cut."""
_MOST_DEPTH = 8  # terrains painted one over the other, of which the last keeps the first
_CANDIDATES = 20_000  # triangles up to which a route over the dual extra graph is refined too

Floats = NDArray[np.float64]
Bounds = tuple[float, float, float, float]


@checks.checked
class Terrain(Savable):
    """Regions of the plane with weights, cut into triangles, and cheapest routes over them.

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
    Points on the edge between two regions belong to both and cost the lower of the two weights, so the edge of an
    obstacle is open ground. A point may pass a *pinch point*, where open ground touches in one corner
    only; a disc with a radius may not. That holds for every graph and every search.

    Coordinates are at most 1e12. They are kept relative to a local origin, so that a map far from (0, 0) answers as one
    near it. What lies less than 1e-12 of the map's extent apart is one place; far from the origin, less than a few
    times the distance of neighbouring float64 numbers there.

    Graphs and grown maps for other weights and radii are cached, up to 64 MB besides the one used last, and so are cuts
    of `changed`, up to 16 MB; older ones are rebuilt on demand. Queries are thread-safe.

    Examples
    --------
    >>> from shapely import box
    >>> marsh = Terrain([(box(0, 0, 10, 10), 1.0, "grass"), (box(4, 0, 6, 8), 5.0, "swamp")])
    >>> marsh.weights
    {'grass': 1.0, 'swamp': 5.0}
    >>> path = marsh.path((2, 5), (8, 5))
    >>> path.points[:, :2].round(2).tolist()
    [[2.0, 5.0], [4.0, 8.0], [6.0, 8.0], [8.0, 5.0]]
    >>> round(path.cost, 2), round(marsh.cost([(2, 5), (8, 5)]), 2)
    (9.21, 14.0)
    """

    _OWN = (("_latest", lambda: None),)
    _passes = True  # pinch points

    def __init__(
        self,
        regions: Iterable[Sequence[Any]],
        *,
        default: float | None = None,
        bounds: Sequence[float] | None = None,
    ) -> None:
        shapes, areas, names, weights = sources.check_regions(regions)
        box: Bounds | None = None
        if default is not None:
            box = sources.check_bounds(bounds, shapes)
            names = (*names, DEFAULT)
            weights = np.append(weights, sources.check_weight(default, "default"))
        elif bounds is not None:
            raise ParameterError("bounds need a default weight for what is left inside them")
        ground, owners = sources.painted_ground(shapes, box)
        painted = np.append(areas, len(names) - 1)[owners].astype(np.int32)
        self._set(ground, painted, names, weights)

    def _set(self, ground: Ground, areas: NDArray[np.int32], names: tuple[str, ...], weights: Floats) -> None:
        self._ground = ground
        self._areas = areas
        self._names = names
        self._by_name = weights
        self._weights: Floats = np.ascontiguousarray(weights[areas])
        self._prepared = BoundedCache(LIMIT)  # graphs and grown grounds
        self._cuts = BoundedCache(CUTS)  # what polygons have cut
        self._source: tuple[Terrain, list[Any], list[float]] | None = None  # what it was painted from, with what
        self._edit: tuple[Terrain, Painted] | None = None  # the ground that it was cut from, and how
        self._depth = 0  # how many times it was painted, one after the other
        self._latest: tuple[CutPieces, EdgeRoutes] | None = None  # routes over what was cut from it last

    @classmethod
    def _from_ground(cls, ground: Ground, areas: NDArray[np.int32], names: tuple[str, ...], weights: Floats) -> Self:
        terrain = cls.__new__(cls)
        terrain._set(ground, areas, names, weights)
        return terrain

    # --- what it is ------------------------------------------------------------------------------------------

    @property
    def vertices(self) -> Floats:
        """Corners of the triangles, (n, 2)."""
        return self._ground.vertices

    @property
    def triangles(self) -> NDArray[np.int32]:
        """Vertex numbers of each triangle, (m, 3), counter-clockwise."""
        return self._ground.mesh.triangles

    @property
    def twins(self) -> NDArray[np.int32]:
        """The half-edge on the other side of each half-edge ``3 * triangle + corner``, (3 m,); -1 at the border."""
        return self._ground.mesh.twins

    @property
    def triangle_weights(self) -> Floats:
        """Weight of each triangle, (m,)."""
        return self._weights

    @property
    def triangle_names(self) -> list[str]:
        """Name of the region that each triangle belongs to."""
        return [self._names[area] for area in self._areas]

    @property
    def num_triangles(self) -> int:
        """Number of triangles."""
        return len(self._areas)

    @property
    def bounds(self) -> Bounds:
        """Least x and y, greatest x and y."""
        x0, y0, x1, y1 = self._ground.bounds
        x, y, _ = self._ground.frame.origin
        return x0 + x, y0 + y, x1 + x, y1 + y

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
        """Bytes of the triangulation and the weights, without what queries left behind."""
        return sum(array.nbytes for array in self._ground.mesh) + self._areas.nbytes + self._weights.nbytes

    def __repr__(self) -> str:
        return f"<Terrain: {self.num_triangles} triangles, {len(self._names)} kinds of ground>"

    def with_weights(self, weights: Mapping[str, float]) -> Terrain:
        """Return the terrain with other weights, as another character sees it; the geometry is shared, not rebuilt.

        Parameters
        ----------
        weights : mapping of name to weight, > 0
            Names that are left out keep their weight.

        Examples
        --------
        >>> from shapely import box
        >>> terrain = Terrain([(box(0, 0, 10, 10), 1.0, "grass"), (box(4, 0, 6, 10), 4.0, "water")])
        >>> boat = terrain.with_weights({"water": 1.0, "grass": float("inf")})
        >>> swimmer = terrain.with_weights({"water": 2.0})
        >>> [round(each.path((4.5, 1), (5.5, 9)).cost, 2) for each in (boat, swimmer)]
        [8.06, 11.46]
        """
        known = {name: index for index, name in enumerate(self._names)}
        fresh = self._by_name.copy()
        for name, weight in weights.items():
            if not isinstance(name, str) or name not in known:
                raise ParameterError(
                    f"no region is called {checks.shown(name)}: choose from {', '.join(sorted(known)[:20])}"
                )
            fresh[known[name]] = sources.check_weight(weight, f"weight of {name!r}")
        other = Terrain._from_ground(self._ground, self._areas, self._names, fresh)
        other._prepared, other._cuts = self._prepared, self._cuts
        return other

    def changed(self, layers: Iterable[tuple[Any, float]]) -> Terrain:
        """Return the terrain with areas that are dearer, cheaper or closed; this one stays as it is.

        Only triangles that an outline crosses are cut, and cuts are cached for later calls with the same polygons.
        Lines cost the same as on a terrain built from scratch.

        Parameters
        ----------
        layers : list of (polygon, factor)
            Shapely polygons or multipolygons, which may extend beyond the map, and the factor for the ground's own
            weight: above 0; infinity closes it. Where polygons overlap, the last one counts.

        Raises
        ------
        ParameterError, GeometryError
            When a polygon is not valid or a factor is not above 0.

        Examples
        --------
        >>> from shapely import box
        >>> meadow = Terrain([(box(0, 0, 10, 10), 1.0)])
        >>> flooded = meadow.changed([(box(4, -1, 6, 11), 3.0)])
        >>> meadow.path((2, 5), (8, 5)).cost, flooded.path((2, 5), (8, 5)).cost
        (6.0, 10.0)
        >>> meadow.changed([(box(4, -1, 6, 11), float("inf"))]).path((2, 5), (8, 5)).found
        False
        """
        given = list(layers)
        for index, layer in enumerate(given):
            if not isinstance(layer, (tuple, list)) or len(layer) != 2:
                raise ParameterError(f"layer {index} must be (polygon, factor), not {checks.shown(layer)}")
        factors = [
            sources.check_weight(factor, f"the factor of layer {index}") for index, (_, factor) in enumerate(given)
        ]
        shapes = sources.check_layers([polygon for polygon, _ in given])
        if not len(shapes):
            return self
        ground = self._ground
        local = list(sources.moved(shapes, ground.frame))
        found = repaint(ground, local, self._cuts)
        count = len(shapes) + 1
        pairs = self._areas[found.of].astype(np.int64) * count + found.over + 1
        used = np.zeros(len(self._names) * count, np.bool_)
        used[pairs] = True
        areas = (np.cumsum(used) - 1)[pairs].astype(np.int32)
        own, over = np.divmod(np.flatnonzero(used), count)  # 0 is for what is not painted
        names = tuple(
            self._names[kind] + (f" (layer {index - 1})" if index else "")
            for kind, index in zip(own.tolist(), over.tolist(), strict=True)
        )
        weights = self._by_name[own] * np.array([1.0, *factors])[over]
        if found.triangles is not ground.mesh.triangles:
            ground = Ground(found.vertices, found.triangles, ground.frame, found.mesh)
        painted = Terrain._from_ground(ground, areas, names, weights)
        painted._depth = self._depth + 1
        if painted._depth % _MOST_DEPTH:  # otherwise each would keep all of those before it
            painted._source = self, local, factors
            painted._edit = self, found
        return painted

    painted = checks.moved("painted", "changed")

    def locate(self, points: ArrayLike) -> NDArray[np.int32]:
        """Return the triangle that each point (q, 2) lies in: the lightest where several touch it, -1 off the map.

        >>> from shapely import box
        >>> terrain = Terrain([(box(0, 0, 10, 10), 1.0, "grass"), (box(4, 0, 6, 10), 4.0, "water")])
        >>> found = terrain.locate([(1, 1), (5, 5), (20, 5)])
        >>> [terrain.triangle_names[triangle] if triangle >= 0 else None for triangle in found]
        ['grass', 'water', None]
        """
        return self._locate(self._local(checks.points3(points, largest=np.inf)))

    def _locate(self, points: Floats) -> NDArray[np.int32]:
        """The triangle of each local point."""
        found = np.empty(len(points), np.int32)
        _kernels.locate(self._ground.mesh, self._weights, points, self._ground.slack, found)
        return found

    def _local(self, points: Floats) -> Floats:
        """Points in the ground's coordinates, (q, 2)."""
        return np.ascontiguousarray(self._ground.frame.local(points[:, :2]))

    def cost(self, points: ArrayLike, *, radius: float = 0.0) -> float:
        """Return what it costs to move along a line: the length on each ground times its weight.

        Parameters
        ----------
        points : (k, 2) or (k, 3) array_like, metres
            Corners of the line; heights do not matter.
        radius : float, metres, >= 0
            Of a disc, whose centre moves along the line: it costs the highest weight under it.

        Returns
        -------
        float
            Infinite where an obstacle is in the way (of the disc), or the line leaves the map.

        Examples
        --------
        >>> from shapely import box
        >>> terrain = Terrain([(box(0, 0, 10, 10), 1.0), (box(4, 0, 6, 10), 4.0), (box(7, 0, 8, 4), float("inf"))])
        >>> terrain.cost([(2, 9), (8, 9)]), terrain.cost([(2, 2), (9, 2)])
        (12.0, inf)
        >>> round(terrain.cost([(2, 9), (8, 9)], radius=0.5), 3)
        15.0
        """
        line = self._local(checks.points3(points))
        return discs.exact_cost(self._ground, self._weights, line, checks.number(radius, "radius", low=0.0))

    # --- open ground -----------------------------------------------------------------------------------------

    def grown(self, radius: float) -> Terrain:
        """Return the terrain on which a disc may be planned for as a point at its centre, made on first use and kept.

        Every region is grown by the radius, heavier ones over lighter ones; obstacles and what is too close to them are
        left out. Without a radius it is this terrain.

        Parameters
        ----------
        radius : float, metres, >= 0
            Sides lie a thousandth of it too far out, corners at most 9 % (2.5 % on maps of up to 4,000 triangles).

        Examples
        --------
        >>> from shapely import box
        >>> terrain = Terrain([(box(0, 0, 10, 10), 1.0), (box(4, 0, 5, 9), float("inf"))])
        >>> len(terrain.component_areas), len(terrain.grown(1.0).component_areas)
        (1, 2)
        """
        size = checks.number(radius, "radius", low=0.0)
        if size == 0:
            return self
        found: Terrain = self._prepared.get(("grown", size, self._by_name.tobytes()), lambda: self._grow(size))
        return found

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """Connected part of the open ground that each triangle belongs to, (m,), from 0; -1 in obstacles.

        Points pass pinch points, so triangles that share a corner are connected; on `grown` ground they share a side.
        """
        free = np.isfinite(self._weights)
        if self._passes:
            rows, corners = np.repeat(np.flatnonzero(free), 3), self.triangles[free].ravel()
            shape = len(free), len(self._ground.mesh.vertices)
            meets = scipy.sparse.csr_array((np.ones(len(rows), np.bool_), (rows, corners)), shape=shape)
            joined = scipy.sparse.block_array([[None, meets], [meets.T, None]], format="csr")
        else:
            half = np.flatnonzero(self.twins > np.arange(self.twins.size))
            here, there = half // 3, self.twins[half] // 3
            both = free[here] & free[there]
            shape = len(free), len(free)
            joined = scipy.sparse.csr_array((np.ones(int(both.sum())), (here[both], there[both])), shape=shape)
        labels = connected_components(joined, directed=False)[1][: len(free)]
        result = np.full(len(free), -1, np.int32)
        result[free] = np.unique(labels[free], return_inverse=True)[1].reshape(-1)
        return result

    @cached_property
    def component_areas(self) -> Floats:
        """Area of each connected part of the open ground, square metres, (c,)."""
        free = self.components >= 0
        sizes = 0.5 * twice_areas(self.vertices[self.triangles[free]])
        return np.asarray(np.bincount(self.components[free], weights=sizes), np.float64)

    def component_of(self, points: ArrayLike, *, radius: float = 0.0) -> Any:
        """Return the number of the connected part of the open ground that points lie in; of `grown` ground for a disc.

        Parameters
        ----------
        points : (q, 2) or (q, 3) array_like, or one point
            On open ground.
        radius : float, metres, >= 0
            Of a disc around each point.

        Returns
        -------
        (q,) int32 array, or an int for one point
            An index of `component_areas` of the (grown) terrain; -1 where a disc only just fits and cannot move.

        Raises
        ------
        OffMapError
            When a point is off the map, in an obstacle, or nearer to one than the radius.

        Examples
        --------
        >>> from shapely import box
        >>> banks = Terrain([(box(0, 0, 10, 10), 1.0), (box(4, 0, 6, 10), float("inf"))])
        >>> west, nearby, east = banks.component_of([(1, 1), (3, 9), (9, 9)]).tolist()
        >>> west == nearby, west == east
        (True, False)
        >>> banks.component_areas.tolist()
        [40.0, 40.0]
        """
        where, single = checks.places(points)
        size = checks.number(radius, "radius", low=0.0)
        found = self._component_of(where[:, :2], size, "point" if single else "points")
        return int(found[0]) if single else found

    def _component_of(self, given: Floats, radius: float, name: str) -> NDArray[np.int32]:
        ends, places = self._placed(given, radius, (name,))
        open_ = self.grown(radius)
        if radius > 0 and len(ends):
            places = open_._locate(np.stack([self._on_grown(open_, end, radius) for end in ends]))
        return np.where(places < 0, -1, open_.components[places]).astype(np.int32)

    def reachable(self, starts: ArrayLike, goals: ArrayLike, *, radius: float = 0.0) -> Any:
        """Return whether a path leads from start to goal, without a search.

        Points pass pinch points, discs do not. Refined routes exist wherever this is True; other graphs may miss a
        narrow way.

        Parameters
        ----------
        starts, goals : (q, 2) or (q, 3) array_like, or one point
            A single start serves many goals, and a single goal many starts.
        radius : float, metres, >= 0
            Of a disc.

        Returns
        -------
        (q,) bool array, or a bool for one pair

        Raises
        ------
        OffMapError
            When a start or goal is off the map, in an obstacle, or nearer to one than the radius.

        Examples
        --------
        >>> from shapely import box
        >>> terrain = Terrain([(box(0, 0, 10, 10), 1.0), (box(4, 0, 5, 10), float("inf"))])
        >>> terrain.reachable((1, 1), (9, 1)), terrain.reachable((1, 1), [(2, 9), (9, 1)]).tolist()
        (False, [True, False])
        """
        size = checks.number(radius, "radius", low=0.0)
        first, last, single = checks.ends(starts, goals)
        names = ("start", "goal") if single else ("starts", "goals")
        a, b = (self._component_of(part[:, :2], size, name) for part, name in zip((first, last), names, strict=True))
        joined = (a == b) & (a >= 0)
        return bool(joined[0]) if single else joined

    def nearest(self, points: ArrayLike, *, max_distance: float | None = None, radius: float = 0.0) -> Floats:
        """Return the place on open ground nearest to each point: the point itself where it lies on open ground.

        Parameters
        ----------
        points : (q, 2) or (q, 3) array_like, or one point
            Anywhere.
        max_distance : float, metres, >= 0, optional
            Farthest that a place may lie from its point; any distance by default.
        radius : float, metres, >= 0
            Of a disc, which fits at the place found.

        Returns
        -------
        (q, 3) float64 array with rows of NaN for points without a place, or (3,) for one point; heights are 0

        Raises
        ------
        OffMapError
            When one point is asked for and has no place.

        Examples
        --------
        >>> from shapely import box
        >>> Terrain([(box(0, 0, 10, 10), 1.0)]).nearest((12, 5)).tolist()
        [10.0, 5.0, 0.0]
        """
        where, single = checks.places(points)
        most = np.inf if max_distance is None else checks.number(max_distance, "max_distance", low=0.0)
        open_ = self.grown(radius)
        found = np.column_stack([where[:, :2], np.zeros(len(where))])
        local = open_._local(where)
        places = open_._locate(local)
        for index in np.flatnonzero((places < 0) | ~np.isfinite(open_._weights[places])).tolist():
            place = discs.nearest(open_._ground, open_._weights, local[index], most)
            found[index] = np.nan
            if (place != local[index]).any():
                found[index, :2], found[index, 2] = open_._ground.frame.world(place), 0.0
        if single and np.isnan(found[0, 0]):
            within = "" if np.isinf(most) else f" within {most:g} m"
            shown = text.place(where[0, :2], self._ground.extent)
            raise OffMapError(f"({shown}) has no open ground{within}: use a larger max_distance, or another point")
        return found[0] if single else found

    def random_points(
        self,
        count: int,
        *,
        seed: int = 0,
        near: ArrayLike | None = None,
        radius: float | None = None,
        component: int | None = None,
    ) -> Floats:
        """Draw (count, 3) points spread evenly over the open ground, by area; heights are 0.

        For places where a disc fits, ask its `grown` ground.

        Parameters
        ----------
        count : int, 0 to 10,000,000
        seed : int, >= 0
        near : (x, y), optional
            Only points within `radius` of this one.
        radius : float, metres, > 0
            With `near` only.
        component : int, optional
            Only points in this one of the `components`.

        Raises
        ------
        OffMapError
            When there is no such ground.

        Examples
        --------
        >>> from shapely import box
        >>> Terrain([(box(0, 0, 10, 10), 1.0)]).random_points(3, seed=1).shape
        (3, 3)
        """
        number = checks.whole(count, "count", low=0, high=checks.MOST_POINTS)
        random = np.random.default_rng(checks.whole(seed, "seed", low=0))
        if (near is None) != (radius is None):
            raise ParameterError("near and radius go together: give both or neither")
        free = np.flatnonzero(self.components >= 0)
        corners = self.vertices[self.triangles[free]]
        sizes = twice_areas(corners)
        where = ""
        if component is not None:
            index = checks.whole(component, "component", low=0, high=max(0, len(self.component_areas) - 1))
            sizes[self.components[free] != index] = 0.0
        if near is not None:
            centre = checks.point3(near, "near")[None]
            size = checks.number(radius, "radius", low=0.0, high=LARGEST, open_low=True)
            local = shapely.polygons(self._ground.mesh.vertices[self.triangles[free[sizes > 0.0]]])
            pieces = within(local, self._local(centre)[0], size).triangles
            corners, sizes = self._ground.frame.world(pieces), twice_areas(pieces)
            where = f" within {size:g} m of ({text.place(centre[0, :2], self._ground.extent)})"
        if not number:
            return np.empty((0, 3))
        if not sizes.sum() > 0.0:
            raise OffMapError(f"there is no open ground{where}")
        points, _ = scatter(corners, sizes, number, random)
        return np.column_stack([points, np.zeros(number)])

    def expanded_points(
        self,
        start: ArrayLike,
        goal: ArrayLike,
        *,
        graph: str = "refined",
        search: str | None = None,
        radius: float = 0.0,
    ) -> Floats:
        """Return the nodes that the search for a path settles, (k, 3), for pictures; heights are 0.

        Parameters
        ----------
        start, goal, search, radius
            As for `path`.
        graph : "refined", "dual-extra" or "dual"
            The graphs that have nodes of their own in advance.

        Examples
        --------
        >>> from shapely import box
        >>> terrain = Terrain([(box(0, 0, 10, 10), 1.0), (box(4, 0, 6, 8), 5.0)])
        >>> few = terrain.expanded_points((2, 5), (3, 5), graph="dual-extra")
        >>> many = terrain.expanded_points((2, 5), (8, 5), graph="dual-extra")
        >>> few.shape[1], len(few) < len(many)
        (3, True)
        """
        checks.choice(graph, "graph", ("refined", "dual-extra", "dual"))
        self._check_query(graph, search or "astar", "centres", "exact")
        size = checks.number(radius, "radius", low=0.0)
        ends, places = self._ends(start, goal, size)
        of, routes = self, self._routes(graph, size) if graph != "refined" or size == 0 else None
        if routes is None:
            of = self.grown(size)
            ends = np.stack([self._on_grown(of, end, size) for end in ends])
            routes, places = of._routes(graph, 0.0), of._locate(ends)
        seen: list[NDArray[np.int32]] = []
        if (places >= 0).all() and np.isfinite(of._weights[places]).all():
            routes.trail(ends, places, search or "astar", seen)
        nodes = np.concatenate([np.empty(0, np.int32), *seen])
        return np.column_stack([self._ground.frame.world(routes.points[nodes]), np.zeros(len(nodes))])

    # --- queries ---------------------------------------------------------------------------------------------

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
        """Find a cheap path between two points.

        Parameters
        ----------
        start, goal : (x, y)
            On the map and not in an obstacle.
        graph : "refined", "steiner", "dual-extra", "dual" or "grid"
            "refined" is nearly optimal; "steiner" is as good as its `epsilon`; "dual" is the fastest and the worst.
        search : "astar", "dijkstra", "bushwhack" or "cones", optional
            All give the same cost on the same graph. The last two are for Steiner graphs: "bushwhack" is Alternative
            BUSHWHACK (Tibboel 2012), "cones" prunes by cones that bend at edges and is the default there; the ways of
            discs do not bend so, and have no cones. A* elsewhere.
        epsilon : float, > 0
            Of a Steiner graph: at most 1 + epsilon times the optimum where it is at most 1. Smaller values put more
            points on the edges and take longer.
        cell : float, metres, > 0, optional
            Side of a grid's cells; a hundredth of the map's longer side by default.
        nodes : "centres" or "corners"
            Where a grid's nodes lie in its cells.
        steps : "exact" or "sampled"
            Whether the search over a grid takes a step to cost what the line costs, or the mean of the weights at its
            two ends, as in Tibboel 2012 (where there are no obstacles and no radius). `cost` is exact in any case.
        radius : float, metres, >= 0
            Of a disc: it costs the highest weight under it and keeps clear of obstacles. The border of the map is no
            obstacle.
        weights : mapping of name to weight, optional
            As for `with_weights`, for this query.

        Returns
        -------
        Path
            `cost` is the weighted length of `points` (for a disc along them); `lower_bound` is computed on first use.
            UNREACHABLE when obstacles or gaps separate the two.

        Examples
        --------
        >>> from shapely import box
        >>> terrain = Terrain([(box(0, 0, 10, 10), 1.0, "grass"), (box(4, 0, 6, 8), 5.0, "swamp")])
        >>> path = terrain.path((2, 7), (8, 7))
        >>> path.points[:, :2].round(2).tolist()
        [[2.0, 7.0], [4.0, 8.0], [6.0, 8.0], [8.0, 7.0]]
        >>> round(path.cost, 2), path.lower_bound <= path.cost
        (6.47, True)
        >>> [round(terrain.path((2, 7), (8, 7), graph=graph).cost, 1) for graph in ("dual", "grid", "steiner")]
        [10.2, 6.9, 6.5]
        >>> terrain.path((2, 7), (8, 7), weights={"swamp": 1.0}).cost
        6.0
        """
        size = checks.number(radius, "radius", low=0.0)
        kind = search or ("cones" if graph == "steiner" and size == 0 else "astar")
        self._check_query(graph, kind, nodes, steps)
        if kind == "cones" and size > 0:
            raise ParameterError("search 'cones' is for points: use 'astar', 'dijkstra' or 'bushwhack' for a disc")
        fine = checks.number(epsilon, "epsilon", low=0.0, open_low=True)
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
        ends, places = self._ends(start, goal, size)
        if graph == "steiner":
            found = SteinerGraph(self._ground, self._weights, ends, places, fine, size).path(kind)
        elif graph == "refined" and size > 0:
            found = self._refined_disc(ends, kind, size)
        else:
            found = self._routes(graph, *self._options(graph, cell, nodes, steps, size)).path(ends, places, kind)
        return self._finished(found, ends, places, size)

    def _options(self, graph: str, cell: float | None, nodes: str, steps: str, radius: float) -> tuple[Any, ...]:
        """What a prepared graph is made for."""
        if graph != "grid":
            return (radius,)
        side = self._ground.extent / 100 if cell is None else checks.number(cell, "cell", low=checks.SMALLEST)
        return side, nodes, steps, radius

    def _finished(self, found: Path, ends: Floats, places: NDArray[np.int32], radius: float) -> Path:
        """A path with its points as the user knows them, and its lower bound."""
        if not found:
            return found
        points = found.points
        line = np.ascontiguousarray(points[:, :2])
        points[:, :2] = self._ground.frame.world(line)
        if radius == 0 and self._ground.has_wide_edges:
            # One walks partly on what counts as edges, and so on the lighter ground beside them. Far from the origin
            # corners are rounded, by which a leg that nears an edge at a small angle meets it sooner or later: there
            # the cost is that of the points that are given.
            rounded = self._local(points)
            cost = discs.exact_cost(self._ground, self._weights, rounded, 0.0)
            found.cost = cost if (rounded != line).any() and np.isfinite(cost) else min(found.cost, cost)
        if (ends[0] == ends[1]).all():  # a coarse graph would lead to a node and back
            return Path(Status.FOUND, points[[0, -1]], cost=0.0, lower_bound=0.0)
        found._lower_bound = lambda: lower_bound(self._ground, self._weights, ends, places, found.cost)
        return found

    def field(
        self,
        goal: ArrayLike,
        *,
        graph: str = "refined",
        search: str | None = None,
        epsilon: float = 64.0,
        cell: float | None = None,
        nodes: str = "centres",
        steps: str = "exact",
        radius: float = 0.0,
    ) -> TerrainField:
        """Search once from a goal, for paths from any number of starts.

        Parameters
        ----------
        goal : (x, y)
        graph, epsilon, cell, nodes, steps, radius
            As for `path`. A Steiner graph has the start among its points, so that there each path is a search of its
            own.
        search
            Used with Steiner graphs only: no heuristic fits all starts.

        Examples
        --------
        >>> from shapely import box
        >>> terrain = Terrain([(box(0, 0, 10, 10), 1.0), (box(4, 0, 6, 10), 4.0)])
        >>> to_camp = terrain.field((8, 5))
        >>> to_camp.paths([(2, 5), (5, 5), (9, 5)]).costs.round(3).tolist()
        [12.0, 6.0, 1.0]
        """
        size = checks.number(radius, "radius", low=0.0)
        self._check_query(graph, search or "dijkstra", nodes, steps)
        ends, places = self._ends(goal, goal, size, ("goal", "goal"))
        given = {"graph": graph, "search": search, "epsilon": epsilon, "cell": cell, "nodes": nodes, "steps": steps}
        again = np.array(goal, np.float64), {**given, "radius": size}
        if graph == "steiner":
            fine = checks.number(epsilon, "epsilon", low=0.0, open_low=True)
            kind = search or ("cones" if size == 0 else "astar")

            def alone(start: Floats, place: int) -> Path:
                both = np.array([place, places[1]], np.int32)
                pair = np.stack([start, ends[1]])
                return SteinerGraph(self._ground, self._weights, pair, both, fine, size).path(kind)

            return TerrainField(self, ends[1], size, alone, again)
        if graph == "refined" and size > 0:
            return TerrainField(self, ends[1], size, self._disc_field(ends[1], size), again)
        routes = self._routes(graph, *self._options(graph, cell, nodes, steps, size))
        return TerrainField(self, ends[1], size, _field_of(routes, ends[1], int(places[1])), again)

    def paths(
        self,
        starts: ArrayLike,
        goals: ArrayLike,
        *,
        graph: str = "refined",
        search: str | None = None,
        epsilon: float = 64.0,
        cell: float | None = None,
        nodes: str = "centres",
        steps: str = "exact",
        radius: float = 0.0,
        weights: Mapping[str, float] | None = None,
        workers: int | None = None,
    ) -> Paths:
        """Find the paths of many queries in parallel, each the same as `path` gives.

        Parameters
        ----------
        starts, goals : (q, 2) or (q, 3) array_like
            One goal for each start.
        graph, search, epsilon, cell, nodes, steps, radius, weights
            As for `path`.
        workers : int, >= 1, optional
            Threads, all cores by default. The result does not depend on it.

        Raises
        ------
        OffMapError
            When any start or goal is off the map, in an obstacle or too close to one.

        Examples
        --------
        >>> from shapely import box
        >>> terrain = Terrain([(box(0, 0, 10, 10), 1.0), (box(4, 0, 6, 10), 4.0)])
        >>> terrain.paths([(2, 5), (1, 1)], [(8, 5), (1, 9)]).costs.round(3).tolist()
        [12.0, 8.0]
        """
        first, last = checks.points3(starts, "starts"), checks.points3(goals, "goals")
        checks.same_length(first, last)
        found: list[Any] = [None] * len(first)

        def work(begin: int, end: int) -> None:
            for index in range(begin, end):
                found[index] = self.path(
                    first[index],
                    last[index],
                    graph=graph,
                    search=search,
                    epsilon=epsilon,
                    cell=cell,
                    nodes=nodes,
                    steps=steps,
                    radius=radius,
                    weights=weights,
                )

        if len(first):
            work(0, 1)  # what all queries share is built once
        batches.run_chunks(lambda a, b: work(a + 1, b + 1), max(0, len(first) - 1), workers=workers, chunk=8)
        return Paths.of(found)

    def _check_query(self, graph: str, search: str, nodes: str, steps: str) -> None:
        checks.choice(graph, "graph", GRAPHS)
        checks.choice(search, "search", SEARCHES)
        if search in ("bushwhack", "cones") and graph != "steiner":
            raise ParameterError(f"search {checks.shown(search)} is for Steiner graphs: use graph='steiner'")
        checks.choice(nodes, "nodes", ("centres", "corners"))
        checks.choice(steps, "steps", ("exact", "sampled"))

    def _refined_disc(self, ends: Floats, search: str, radius: float) -> Path:
        """The refined route of a disc: that of a point on the terrain grown by the radius."""
        grown = self.grown(radius)
        inner = np.stack([self._on_grown(grown, end, radius) for end in ends])
        places = grown._locate(inner)
        if (places < 0).any() or not np.isfinite(grown._weights[places]).all():
            return Path(Status.UNREACHABLE)
        found: Path = grown._routes("refined", 0.0).path(inner, places, search)
        return self._of_disc(found, ends, inner, radius)

    def _disc_field(self, goal: Floats, radius: float) -> Callable[[Floats, int], Path]:
        """Refined routes of a disc to one goal."""
        grown = self.grown(radius)
        last = self._on_grown(grown, goal, radius)
        place = int(grown._locate(last[None])[0])
        if place < 0 or not np.isfinite(grown._weights[place]):
            return lambda start, _: Path(Status.UNREACHABLE)
        inner_path = _field_of(grown._routes("refined", 0.0), last, place)

        def path(start: Floats, _: int) -> Path:
            first = self._on_grown(grown, start, radius)
            index = int(grown._locate(first[None])[0])
            if index < 0 or not np.isfinite(grown._weights[index]):
                return Path(Status.UNREACHABLE)
            return self._of_disc(inner_path(first, index), np.stack([start, goal]), np.stack([first, last]), radius)

        return path

    def _of_disc(self, found: Path, ends: Floats, inner: Floats, radius: float) -> Path:
        """A route on the grown terrain as one of the disc on this terrain."""
        if not found:
            return found
        line = found.points[:, :2]
        line = np.concatenate([ends[:1], line, ends[1:]])
        keep = np.array([(ends[0] != inner[0]).any(), *([True] * (len(line) - 2)), (ends[1] != inner[1]).any()])
        line = np.ascontiguousarray(line[keep])
        cost = discs.exact_cost(self._ground, self._weights, line, radius)
        if not np.isfinite(cost):  # to its ends and back they only fit
            return Path(Status.UNREACHABLE, expanded=found.expanded)
        points = np.column_stack([line, np.zeros(len(line))])
        return Path(Status.FOUND, points, nodes=found.nodes, cost=cost, expanded=found.expanded, timings=found.timings)

    def _on_grown(self, grown: Terrain, end: Floats, radius: float) -> Floats:
        """The place of a disc's centre on the grown terrain, whose corners reach a little too far: the nearest one."""
        place = int(grown._locate(end[None])[0])
        if place >= 0 and np.isfinite(grown._weights[place]):
            return end
        return discs.nearest(grown._ground, grown._weights, end, 0.2 * radius)

    def _grow(self, radius: float) -> Terrain:
        if self._source is None:
            ground, weights = discs.grow(self._ground, self._weights, radius)
        else:
            # Only around what was painted is it another one than that of the terrain underneath.
            base, polygons, factors = self._source
            before = base.grown(radius)
            fine = discs.is_fine(base._weights)
            layers: list[Any] = []
            names = shapely.to_wkb(np.array(polygons, object)).tolist()
            for zone in discs.zones(base._ground, radius, polygons):
                members = tuple((names[n], factors[n]) for n in zone.members)
                key = "zone", radius, base._by_name.tobytes(), zone.cell, members
                make = partial(discs.grown_layers, base._ground, base._weights, radius, zone, fine, polygons, factors)
                layers += base._cuts.get(key, make).layers
            found = repaint(before._ground, [polygon for polygon, _ in layers], before._cuts)
            weights = np.append([weight for _, weight in layers], np.nan)[found.over]
            weights = np.ascontiguousarray(np.where(found.over < 0, before._weights[found.of], weights))
            ground = Ground(found.vertices, found.triangles, before._ground.frame, found.mesh)
        values, areas = np.unique(weights, return_inverse=True)
        grown = _Grown._from_ground(ground, areas.reshape(-1).astype(np.int32), tuple(map(str, values)), values)
        if self._source is not None:
            grown._edit = before, found
        return grown

    def _routes(self, graph: str, *options: Any) -> Any:
        """The prepared graph of a kind, built when it is first asked for."""
        key = (graph, *options, self._by_name.tobytes())
        return self._prepared.get(key, lambda: self._new_routes(graph, *options))

    def _new_routes(self, graph: str, *options: Any) -> Any:
        ground, weights = self._ground, self._weights
        if graph == "dual":
            return DualRoutes(ground, weights, *options)
        if graph == "grid":
            return GridRoutes(ground, weights, *options)
        pinches = ground.pinches(weights)
        passes = self._passes and options[0] == 0
        if graph == "dual-extra":
            extra = ground.extra_with(pinches) if passes and len(pinches) else ground.extra
            return EdgeRoutes(ground, weights, extra, *options)
        # A candidate of another graph pays where triangles are large; where they are small there is not much to choose.
        other = self._routes("dual-extra", *options) if len(weights) <= _CANDIDATES else None
        closed = np.empty(0, np.int32) if passes else pinches
        if self._edit is not None:
            edited = self._edited_routes(closed, other)
            if edited is not None:
                return edited
        return EdgeRoutes(ground, weights, ground.coarse, *options, refine=True, other=other, closed=closed)

    def _edited_routes(self, closed: NDArray[np.int32], other: EdgeRoutes | None) -> EdgeRoutes | None:
        """Refined routes made of those before the edit; None where too much has changed."""
        assert self._edit is not None
        base, painted = self._edit
        if not is_small(painted):
            return None
        latest = base._latest
        if latest is not None and latest[0] is painted.before:
            under, pieces = latest[1], painted.pieces.after(len(latest[0].of), len(latest[0].vertex_cluster))
        else:
            under, pieces = base._routes("refined", 0.0), painted.pieces
        routes = EditedRoutes(under, base._ground, self._ground, self._weights, pieces, closed, other)
        base._latest = painted.pieces, routes
        return routes

    def _ends(
        self, start: ArrayLike, goal: ArrayLike, radius: float = 0.0, names: tuple[str, str] = ("start", "goal")
    ) -> tuple[Floats, NDArray[np.int32]]:
        """Start and goal in the ground's coordinates, and their triangles; raises where a disc cannot be."""
        given = np.stack([checks.point3(start, names[0]), checks.point3(goal, names[1])])[:, :2]
        return self._placed(given, radius, names)

    def _placed(self, given: Floats, radius: float, names: Sequence[str]) -> tuple[Floats, NDArray[np.int32]]:
        """Points (q, 2) in the ground's coordinates, and their triangles; raises where a disc cannot be.

        A single name is that of all points, or of the only one.
        """
        points = self._local(given)
        places = self._locate(points)
        free = discs.fits(self._ground, self._weights, points, radius)
        wrong = np.flatnonzero((places < 0) | ~np.isfinite(self._weights[places]) | ~free)
        if len(wrong):
            index = int(wrong[0])
            name = names[index] if len(names) == len(given) else f"{names[0]}[{index}]"
            self._check_place(name, given[index], int(places[index]), bool(free[index]), radius)
        return points, places

    def _check_place(self, name: str, point: Floats, place: int, fits: bool, radius: float) -> None:
        where = f"{name} ({text.place(point, self._ground.extent)})"
        if place < 0:
            raise OffMapError(f"{where} is outside the map")
        if not np.isfinite(self._weights[place]):
            raise OffMapError(f"{where} lies in an obstacle")
        if not fits:
            raise OffMapError(f"{where} is nearer to an obstacle than the radius {radius:g}")

    # --- files -----------------------------------------------------------------------------------------------

    _SCHEMA = SCHEMA

    def _to_parts(self) -> Parts:
        arrays: dict[str, NDArray[Any]] = {
            "vertices": self._ground.mesh.vertices,
            "origin": np.array(self._ground.frame.origin),
            "triangles": self.triangles,
            "kinds": self._areas,
            "weights": self._by_name,
        }
        return Parts(arrays, {"names": list(self._names)})

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        arrays, names = parts.arrays, tuple(parts.meta["names"])
        return cls._from_ground(ground_of(parts), arrays["kinds"], names, arrays["weights"])

    # --- other sources -----------------------------------------------------------------------------------------------

    @classmethod
    def from_scene(cls, scene: Scene) -> Self:
        """Create the terrain of a `samples.Scene`: scene1, forest or zigzag.

        >>> from wayfold import samples
        >>> scene = samples.zigzag()
        >>> terrain = Terrain.from_scene(scene)
        >>> start, goal = scene.queries[0]
        >>> round(terrain.path(start, goal).cost), round(terrain.cost([start, goal]))
        (800, 2543)
        """
        return cls(scene.regions, default=scene.default, bounds=scene.bounds)

    @classmethod
    def from_geojson(
        cls,
        file: str | os.PathLike[str],
        *,
        weight: str = "weight",
        name: str = "name",
        weights: Mapping[str, float] | None = None,
        default: float | None = None,
        bounds: Sequence[float] | None = None,
    ) -> Self:
        """Read polygons from a GeoJSON file, in the order of the file.

        Parameters
        ----------
        file : path
        weight, name : str
            Properties with the weight (a number, or null for an obstacle) and the name of a region.
        weights : mapping of name to weight, optional
            Weights by name, for features without a weight of their own.
        default, bounds
            As for `Terrain`.

        Examples
        --------
        >>> from shapely import box
        >>> from wayfold import formats
        >>> lawn, pond = (box(0, 0, 9, 9), {"name": "lawn"}), (box(3, 0, 6, 9), {"name": "pond"})
        >>> formats.save_geojson([lawn, pond], "park.json")
        >>> park = Terrain.from_geojson("park.json", weights={"lawn": 1.0, "pond": 3.0})
        >>> park.path((1, 1), (8, 1)).cost
        13.0
        """
        return cls(sources.geojson_regions(file, weight, name, weights or {}), default=default, bounds=bounds)

    @classmethod
    def from_raster(
        cls,
        weights: ArrayLike,
        *,
        cell: float = 1.0,
        origin: tuple[float, float] = (0.0, 0.0),
        names: Mapping[float, str] | None = None,
    ) -> Self:
        """Create a terrain from an array of weights, one for each square cell.

        Parameters
        ----------
        weights : (rows, columns) array_like, > 0
            Infinity is an obstacle. Cell (row, column) covers x from ``column * cell`` and y from ``row * cell`` on.
        cell : float, metres, 1e-9 to 1e12
            Side of a cell.
        origin : (x, y), metres
            Corner of cell (0, 0).
        names : mapping of weight to name, optional
            Names for `with_weights`; by default the weight itself.

        Examples
        --------
        >>> wall = float("inf")
        >>> terrain = Terrain.from_raster([[1, 1, 1], [1, wall, 3]], cell=2.0, names={1: "road", 3: "mud"})
        >>> terrain.weights, terrain.bounds
        ({'road': 1.0, 'mud': 3.0, 'inf': inf}, (0.0, 0.0, 6.0, 4.0))
        >>> round(terrain.path((1, 3), (5, 3)).cost, 3)
        7.243
        """
        array = sources.check_raster(weights)
        values, areas = np.unique(array, return_inverse=True)
        labels = tuple(
            checks.text((names or {}).get(float(value), sources.name_of(value)), "a name in names") for value in values
        )
        return cls._from_cells(areas.reshape(array.shape), labels, values, cell, origin)

    @classmethod
    def from_movingai(cls, file: str | os.PathLike[str], weights: Mapping[str, float] | None = None) -> Self:
        """Create a terrain from a MovingAI map; x is the column and y the row, each cell one unit.

        Parameters
        ----------
        file : path
            A `.map` file, plain or with letters for kinds of terrain.
        weights : mapping of one-letter names to weights, optional
            In a map with kinds of terrain A weighs 1, B 2, and so on by default; ``T`` and ``@`` are obstacles. In a
            plain map ``. G S`` weigh 1, ``W`` (water) 4, and the rest are obstacles.

        Examples
        --------
        >>> from wayfold import formats
        >>> formats.save_map(np.array([[*b".W."], [*b".@."]], np.uint8), "ford.map")
        >>> ford = Terrain.from_movingai("ford.map")
        >>> ford.weights
        {'.': 1.0, '@': inf, 'W': 4.0}
        >>> ford.path((0.5, 0.5), (2.5, 0.5)).cost
        5.0
        >>> Terrain.from_movingai("ford.map", {"W": 2.0}).path((0.5, 0.5), (2.5, 0.5)).cost
        3.0
        """
        cells, labels, values = sources.movingai_cells(file, weights or {})
        return cls._from_cells(cells, labels, values, 1.0, (0.0, 0.0))

    @classmethod
    def from_heights(
        cls,
        heights: ArrayLike,
        cover: ArrayLike,
        weights: Mapping[int, float] | Sequence[float],
        *,
        cell: float = 1.0,
        origin: tuple[float, float] = (0.0, 0.0),
        names: Sequence[str] | None = None,
        steepest: float = 60.0,
        water: float | None = None,
        slope_classes: int = 6,
    ) -> Self:
        """Create a terrain from a height map and the land cover of its cells.

        Parameters
        ----------
        heights : (rows + 1, columns + 1) array_like, metres
            Heights of the cells' corners.
        cover : (rows, columns) array_like of int, >= 0
            Land cover of each cell.
        weights : mapping or sequence
            Weight of each land cover on level ground.
        cell, origin
            As for `from_raster`.
        names : sequence of str, optional
            Names of the land covers.
        steepest : float, degrees, 0 to 90
            Cells that are steeper are obstacles.
        water : float, metres, optional
            Cells that lie below this height in the middle are obstacles.
        slope_classes : int, 1 to 32
            Slopes are told apart in this many steps. A cell's weight is that of its cover times the length of the
            steepest line on it by the length of that line on the map.

        Examples
        --------
        >>> heights = [[0, 0, 1, 9], [0, 0, 1, 9]]
        >>> hills = Terrain.from_heights(heights, [[0, 1, 0]], weights={0: 1.0, 1: 2.0}, names=["grass", "scrub"])
        >>> {name: round(weight, 2) for name, weight in hills.weights.items()}
        {'blocked': inf, 'grass': 1.0, 'scrub, slope 2': 2.67}
        """
        cells, labels, values = sources.height_cells(
            heights, cover, weights, cell, names, steepest, water, slope_classes
        )
        return cls._from_cells(cells, labels, values, cell, origin)

    @classmethod
    def from_mesh(cls, mesh: Mesh, weights: Mapping[str, float] | Sequence[float], *, default: float = 1.0) -> Self:
        """Create a terrain from a triangle mesh seen from above, with a weight for each material.

        Parameters
        ----------
        mesh : Mesh
            With materials. Triangles without area seen from above are left out; where triangles overlap the last wins.
        weights : mapping of material name to weight, or sequence by material number
        default : float, > 0
            Weight of materials that `weights` does not name.

        Examples
        --------
        >>> corners = [(0, 0, 0), (4, 0, 0), (8, 0, 0), (8, 4, 0), (4, 4, 0), (0, 4, 0)]
        >>> floor = Mesh(corners, [(0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4)], [0, 0, 1, 1], ["tiles", "rug"])
        >>> Terrain.from_mesh(floor, {"rug": 2.0}).path((1, 2), (7, 2)).cost
        9.0
        """
        shapes, areas, names, values = sources.mesh_regions(mesh, weights, default)
        ground, owners = sources.painted_ground(shapes, None)
        return cls._from_ground(ground, areas[owners].astype(np.int32), names, values)

    @classmethod
    def _from_cells(
        cls, cells: NDArray[Any], names: tuple[str, ...], weights: Floats, cell: float, origin: tuple[float, float]
    ) -> Self:
        side = checks.number(cell, "cell", low=checks.SMALLEST, high=checks.LARGEST)
        corner = checks.floats(origin, "origin", "(x, y)")
        if corner.shape != (2,):
            raise ParameterError(f"origin must be (x, y), not {checks.shown(origin)}")
        checks.finite(corner, "origin", np.inf)
        ground, areas = sources.triangulate_cells(cells, side, (float(corner[0]), float(corner[1])))
        return cls._from_ground(ground, areas, names, weights)


class _Grown(Terrain):
    """The ground for the centre of a disc, which passes no pinch point."""

    _passes = False

    @property
    def nbytes(self) -> int:
        """Bytes of everything that was made for the radius."""
        own = (
            self._ground.nbytes + self._weights.nbytes + self._areas.nbytes + self._prepared.nbytes + self._cuts.nbytes
        )
        latest = 0 if self._latest is None else int(self._latest[1].nbytes)
        return own + latest + (0 if self._cuts.last is None else int(self._cuts.last.nbytes))


def _field_of(routes: Any, goal: Floats, place: int) -> Callable[[Floats, int], Path]:
    """Paths to a goal over prepared routes, from one search."""
    tree: GoalTree = routes.tree(goal, place)
    if not isinstance(routes, EdgeRoutes):
        return lambda start, index: routes.field_path(tree, start, index)
    other = routes.other.tree(goal, place) if routes.other is not None else None
    return lambda start, index: routes.field_path(tree, start, index, other)


@checks.checked
class TerrainField:
    """Paths from everywhere to one goal, as `Terrain.field` finds them. Any number of threads may query it.

    Each path is the one that `Terrain.path` gives with the same graph.

    >>> from shapely import box
    >>> terrain = Terrain([(box(0, 0, 10, 10), 1.0), (box(4, 0, 6, 8), 5.0)])
    >>> wells = [terrain.field(place) for place in ((1, 1), (9, 1))]
    >>> costs = np.array([field.paths([(3, 4), (7, 4), (6, 9)]).costs for field in wells])
    >>> costs.argmin(axis=0).tolist()
    [0, 1, 1]
    """

    def __init__(
        self,
        terrain: Terrain,
        goal: Floats,
        radius: float,
        path: Callable[[Floats, int], Path],
        again: tuple[Floats, dict[str, Any]],
    ) -> None:
        self._terrain = terrain
        self._goal = goal
        self._radius = radius
        self._path = path
        self._again = again

    def __reduce__(self) -> tuple[Any, ...]:
        return _field_again, (self._terrain, *self._again)  # what it has found is found again

    def paths(self, starts: ArrayLike, *, workers: int | None = None) -> Paths:
        """Find the paths from many starts to the goal, in parallel.

        Parameters
        ----------
        starts : (q, 2) or (q, 3) array_like
            Points on open ground; heights do not matter.
        workers : int, >= 1, optional
            Threads, all cores by default. The result does not depend on it.

        Raises
        ------
        OffMapError
            When a start is off the map, in an obstacle, or nearer to one than the field's radius.

        Examples
        --------
        >>> from shapely import box
        >>> field = Terrain([(box(0, 0, 10, 10), 1.0), (box(4, 0, 6, 10), 4.0)]).field((8, 5))
        >>> field.paths([(2, 5), (5, 5), (9, 5)]).costs.round(3).tolist()
        [12.0, 6.0, 1.0]
        """
        terrain = self._terrain
        given = checks.points3(starts, "starts")[:, :2]
        points = terrain._local(given)
        places = terrain._locate(points)
        free = discs.fits(terrain._ground, terrain._weights, points, self._radius)
        for number, (point, place, fits) in enumerate(zip(given, places, free, strict=True)):
            terrain._check_place(
                f"start {number}" if len(given) > 1 else "start", point, int(place), bool(fits), self._radius
            )
        goal_place = terrain._locate(self._goal[None])[0]
        found: list[Any] = [None] * len(points)

        def work(begin: int, end: int) -> None:
            for index in range(begin, end):
                both = np.array([places[index], goal_place], np.int32)
                path = self._path(points[index], int(places[index]))
                found[index] = terrain._finished(path, np.stack([points[index], self._goal]), both, self._radius)

        batches.run_chunks(work, len(points), workers=workers, chunk=8)
        return Paths.of(found)


def _field_again(terrain: Terrain, goal: Floats, options: dict[str, Any]) -> TerrainField:
    """A field out of a pickle."""
    return terrain.field(goal, **options)
