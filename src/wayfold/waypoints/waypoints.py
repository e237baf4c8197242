"""`WaypointGraph`: a graph in space whose waypoints belong to regions and whose edges have motion types."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial as bind
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import AGENT_VALUES, ALL_MOTIONS, Agent, Motion, agent_from_meta, agent_to_meta, check_motions
from wayfold.core import batches, checks, text
from wayfold.core.interrupts import interruptible
from wayfold.core.locks import ReadersWriter, reads, writes
from wayfold.core.progress import stage
from wayfold.core.schema import Array, Parts, Savable, Schema, Value
from wayfold.errors import OffMapError, ParameterError
from wayfold.geometry import Mesh
from wayfold.graph import Graph, files, searcher
from wayfold.path import Path, Paths, Status
from wayfold.waypoints import edit_kernels, editing
from wayfold.waypoints.editing import Edit
from wayfold.waypoints.regions import Regions, adaptive, check_shape, uniform, usual_shape
from wayfold.waypoints.surroundings import Surroundings

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

_WaypointGraph = TypeVar("_WaypointGraph", bound="WaypointGraph")

_FAR = checks.LARGEST
_MOST = 2**20  # regions along an axis


def regions_fit(parts: Parts) -> None:
    """Regions are boxes, as many as a uniform cut has; those of a waypoint differ; no edge leads to a removed one."""
    boxes, of, removed = parts.arrays["boxes"], parts.arrays["regions"], parts.arrays["removed"]
    if (boxes[:, 3:] < boxes[:, :3]).any():
        raise ValueError("a region has a low corner above its high one")
    shape = parts.meta["shape"]
    if shape is not None and shape[0] * shape[1] * shape[2] != len(boxes):
        raise ValueError("the number of regions does not match the shape")
    if (of[:, 0] < 0).any() or (of[:, 0] == of[:, 1]).any():
        raise ValueError("a waypoint has no region, or the same one twice")
    if removed[parts.arrays["targets"]].any() or np.diff(parts.arrays["offsets"])[removed].any():
        raise ValueError("an edge leads to a removed waypoint")
    if parts.meta["built"] > len(of):
        raise ValueError("there are fewer waypoints than the graph was built with")


def mesh_there(parts: Parts) -> None:
    """The triangles are there exactly where there is an agent; both arrays of a mesh or none."""
    arrays = parts.arrays
    for one, two in (("vertices", "triangles"), ("closed_vertices", "closed_triangles")):
        if (one in arrays) != (two in arrays):
            raise ValueError("a mesh has vertices or triangles only")
    if ("vertices" in arrays) != (parts.meta["agent"] is not None):
        raise ValueError("a mesh needs an agent, and an agent a mesh")
    if "closed_vertices" in arrays and "vertices" not in arrays:
        raise ValueError("there is a closed mesh without a mesh")


SCHEMA = Schema(
    "waypoint-graph",
    {
        **files.ARRAYS,
        "boxes": Array("float64", ("regions", 6), "low and high corner of each region, metres", -4 * _FAR, 4 * _FAR),
        "regions": Array("int32", ("nodes", 2), "regions of each waypoint, -1 for no second", -1, refers="regions"),
        "removed": Array("bool", ("nodes",), "waypoints that edits have taken away"),
        "vertices": Array("float64", ("vertices", 3), "of the mesh, metres", -_FAR, _FAR, optional=True),
        "triangles": Array("int32", ("triangles", 3), "of the mesh", refers="vertices", optional=True),
        "closed_vertices": Array("float64", ("closed", 3), "of the closed mesh, metres", -_FAR, _FAR, optional=True),
        "closed_triangles": Array("int32", (".closed", 3), "of the closed mesh", refers="closed", optional=True),
    },
    {
        "shape": Value((list, type(None)), "regions along x, y and z", each=Value(int, "", 1, _MOST), length=3),
        "built": Value(int, "waypoints that it was made with", 0, 2**31 - 1),
        "agent": Value((dict, type(None)), "the agent that it was built for", fields=AGENT_VALUES),
    },
    {"nodes": 1, "regions": 1},
    (files.rows_fit, regions_fit, mesh_there),
)


def to_parts(waypoints: WaypointGraph) -> Parts:
    """A graph, its regions and the mesh it was built from."""
    graph, layout = waypoints.graph, waypoints.layout
    arrays = {**files.graph_arrays(graph), "boxes": layout.boxes, "regions": layout.of, "removed": waypoints.removed}
    shape = None if layout.shape is None else list(layout.shape)
    meta: dict[str, Any] = {"shape": shape, "agent": None, "built": waypoints.built}
    if waypoints.surroundings is not None:
        mesh, agent = waypoints.surroundings.mesh, waypoints.surroundings.agent
        arrays |= {"vertices": mesh.vertices, "triangles": mesh.triangles}
        closed = waypoints.surroundings.closed_mesh
        if closed is not None:
            arrays |= {"closed_vertices": closed.vertices, "closed_triangles": closed.triangles}
        meta["agent"] = agent_to_meta(agent)
    return Parts(arrays, meta)


def from_parts(cls: type[_WaypointGraph], parts: Parts) -> _WaypointGraph:
    """The graph."""
    arrays, facts, shape = parts.arrays, parts.meta["agent"], parts.meta["shape"]
    regions = Regions.from_pairs(arrays["boxes"], arrays["regions"], None if shape is None else tuple(shape))
    surroundings = None
    if facts is not None:
        agent = agent_from_meta(facts)
        closed = None
        if "closed_triangles" in arrays:
            closed = Mesh(arrays["closed_vertices"], arrays["closed_triangles"])
        surroundings = Surroundings(Mesh(arrays["vertices"], arrays["triangles"]), agent, closed)
    waypoints = cls(files.graph_of(Graph, parts), regions, surroundings)
    waypoints.removed, waypoints.built = arrays["removed"], parts.meta["built"]
    return waypoints


_WORN = 1.1  # times the memory that a graph needs: what is more is given back
_MOST_TRIES = 2000  # waypoints that are tried for a point before it counts as shut in


Price = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
"""What straight moves between rows of two (q, 3) arrays of points cost."""


class Sight(Protocol):
    """What can be reached in a straight line from a point; `Entrance` is one in a mesh."""

    def sees(self, position: NDArray[np.float64]) -> bool:
        """Whether the way to a local position is free."""

    def meets(self, other: Any) -> bool:
        """Whether the way to the point of another one is free."""

    def furthest(self, positions: NDArray[np.float64], count: int) -> int:
        """The last of the first `count` positions to which the way is free, -1 for none."""


class Place(NamedTuple):
    """A start or goal of a query."""

    name: str
    """Its name in errors."""
    point: NDArray[np.float64] | None
    """(3,), None where a waypoint was given."""
    entrance: Sight | None
    """None where nothing is known of the space around."""
    node: int | None = None
    """The waypoint where it enters the graph, where that is known."""
    others: tuple[int, ...] = ()
    """Other waypoints where it enters the graph just as well."""


@checks.checked
class WaypointGraph(Savable):
    """The enhanced waypoint graph of Wardhana et al. 2015, section 3.

    Make one with `build` (from a mesh) or `from_graph` (any graph).

    Parameters
    ----------
    graph : Graph
        Undirected.
    regions : Regions
        How space is cut, and the regions of each node.
    surroundings : Surroundings, optional
        The triangles and the agent that the graph was built for; without them there are no obstacles to test.

    Attributes
    ----------
    graph : Graph
        The waypoints and their edges.
    agent : Agent or None
        The agent that it was built for.
    timings : dict
        Seconds by stage of `build`.
    built : int
        Waypoints that it was made with; those that edits have added have higher numbers.
    removed : (n,) bool array
        Waypoints that edits have taken away; their numbers may be used again.
    edits : int
        Number of edits so far.

    Examples
    --------
    >>> from wayfold import Graph
    >>> motions = [Motion.SURFACE | Motion.VOLUMETRIC, Motion.VOLUMETRIC]
    >>> graph = Graph.from_edges([(0, 0), (4, 0), (4, 3)], [(0, 1), (1, 2)], motions=motions)
    >>> waypoints = WaypointGraph.from_graph(graph)
    >>> waypoints.path(0, 2, motions=Motion.VOLUMETRIC).points.tolist()
    [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 3.0, 0.0]]
    >>> waypoints.path(0, 2, motions=Motion.SURFACE).found
    False
    """

    def __init__(self, graph: Graph, regions: Regions, surroundings: Surroundings | None = None) -> None:
        if graph.directed:
            raise ParameterError("a waypoint graph must be undirected: this graph has one-way edges")
        self.graph = graph
        self.layout = regions
        self.surroundings = surroundings
        self.agent = None if surroundings is None else surroundings.agent
        self.timings: dict[str, float] = {}
        self._usable: dict[int, NDArray[np.bool_]] = {}
        self._tree: cKDTree | None = None
        self._placed: tuple[Any, NDArray[np.float64]] | None = None
        self._edges = graph.num_edges
        self.built = graph.num_nodes
        self.removed = np.zeros(graph.num_nodes, np.bool_)
        self._editable = False
        self._lock = ReadersWriter()
        self.edits = 0

    @classmethod
    @interruptible
    def build(
        cls,
        mesh: Mesh,
        agent: Agent,
        *,
        region_size: float = 50.0,
        motions: int | str = ALL_MOTIONS,
        closed: Mesh | None = None,
        workers: int | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> WaypointGraph:
        """Place waypoints in a mesh and join those that see each other (Wardhana et al. 2015, section 3).

        Space is cut into cubes. Each gets waypoints beside corners, in openings and spread out over its floors, walls,
        ceilings and free space; waypoints on the face between two cubes belong to both, so that no edge leaves its
        cube. An edge keeps the agent's radius free all the way (and its height, unless it clings), and has all of
        these motion types whose test it passes: surface (walkable ground below, within `slope` and `climb`), adhesive
        (near a wall or ceiling, with vectors to the nearest polygon that stay alike), volumetric. A character with one
        of them therefore finds the same in a graph for all of them as in one for its motion alone.

        Parameters
        ----------
        mesh : Mesh
            Triangles turned outwards: what only shows its back is inside of something, and nothing is placed there.
        agent : Agent
            Its size decides where waypoints fit. A walker's waypoint lies `climb` + `radius` above the ground.
        region_size : float, metres
            Side of the cubes, at least 4 radii and 2 heights.
        motions : Motion bits or names
            Motions to make edges for, those of all characters that share the graph; every motion by default.
        closed : Mesh, optional
            Surfaces that no character may touch, stand on or cling to, such as water.
        workers : int, >= 1, optional
            Threads, all cores by default; the result is the same.
        progress : callable, optional
            Called as ``progress(what, done, total)`` now and then.

        Raises
        ------
        ParameterError
            When the regions are too small for the agent, or too many.
        GeometryError
            When the agent fits nowhere.

        Examples
        --------
        >>> floor = Mesh([(0, 0, 0), (12, 0, 0), (12, 12, 0), (0, 12, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> waypoints = WaypointGraph.build(floor, Agent(), region_size=8.0, motions="surface")
        >>> waypoints.num_regions, bool(waypoints.is_boundary.any())
        (4, True)
        >>> round(waypoints.path((1, 1, 0), (11, 11, 0)).smooth().length, 2)
        14.14
        """
        from wayfold.waypoints import build

        if not isinstance(mesh, Mesh) or not isinstance(agent, Agent):
            raise ParameterError(f"expected a Mesh and an Agent, not {type(mesh).__name__} and {type(agent).__name__}")
        chosen, told = check_motions(motions), stage(progress, "waypoints")
        graph, regions, surroundings, timings = build.build(mesh, agent, region_size, chosen, closed, workers, told)
        waypoints = cls(graph, regions, surroundings)
        waypoints.timings = timings
        return waypoints

    @classmethod
    def from_graph(
        cls, graph: Graph, regions: Sequence[int] | None = None, *, most_waypoints: int | None = None
    ) -> WaypointGraph:
        """Cut any graph into regions (Wardhana et al. 2015, section 5.3): a navmesh's dual graph, a grid, a road map.

        Parameters
        ----------
        graph : Graph
            Undirected; its nodes are the waypoints.
        regions : (rx, ry, rz) of int, >= 1, optional
            The bounding box is cut into this many regions along each axis. By default into cubes that hold about 70
            waypoints each.
        most_waypoints : int, >= 1, optional
            Adaptive regions instead (Wardhana et al. 2015, section 8): an octree with at most this many waypoints a
            leaf.

        Examples
        --------
        >>> from wayfold import Graph
        >>> road = Graph.from_edges([(x, 0) for x in range(100)], [(x, x + 1) for x in range(99)])
        >>> waypoints = WaypointGraph.from_graph(road, (4, 1, 1))
        >>> waypoints.num_regions, np.bincount(waypoints.regions[:, 0]).tolist()
        (4, [25, 25, 25, 25])
        >>> adaptive = WaypointGraph.from_graph(road, most_waypoints=10)
        >>> np.bincount(adaptive.regions[:, 0]).max().item()
        7
        """
        if not isinstance(graph, Graph):
            raise ParameterError(f"graph must be a Graph, not a {type(graph).__name__}")
        if most_waypoints is not None:
            if regions is not None:
                raise ParameterError("regions and most_waypoints exclude each other: give one of them")
            return cls(graph, adaptive(graph.points, checks.whole(most_waypoints, "most_waypoints", low=1)))
        shape = usual_shape(graph.points) if regions is None else check_shape(regions)
        return cls(graph, uniform(graph.points, shape))

    # --- what it is ------------------------------------------------------------------------------------------------

    @property
    def points(self) -> NDArray[np.float64]:
        """(n, 3) float64, positions of the waypoints, metres."""
        return self.graph.points

    @property
    def regions(self) -> NDArray[np.int32]:
        """(n, 2) int32, the regions of each waypoint; the second is -1 for a local waypoint."""
        return self.layout.of

    @property
    def boxes(self) -> NDArray[np.float64]:
        """(k, 6) float64, low and high corner of each region, metres."""
        return self.layout.boxes

    @property
    def num_regions(self) -> int:
        """Number of regions."""
        return len(self.layout)

    @property
    def is_boundary(self) -> NDArray[np.bool_]:
        """(n,) bool, whether a waypoint lies on the face between two regions."""
        return np.asarray(self.layout.of[:, 1] >= 0)

    @property
    def num_waypoints(self) -> int:
        """Number of waypoints."""
        return self.graph.num_nodes

    @property
    def num_edges(self) -> int:
        """Number of edges."""
        return self._edges

    @property
    def bounds(self) -> NDArray[np.float64]:
        """(2, 3) float64, low and high corner of the space that it covers, metres.

        That of the regions where it was built in a mesh, that of the waypoints where it was made from a graph.
        """
        if self.surroundings is None:
            there = self.points if self.removed.all() else self.points[~self.removed]
            return np.array([there.min(axis=0), there.max(axis=0)])
        return np.array([self.layout.boxes[:, :3].min(axis=0), self.layout.boxes[:, 3:].max(axis=0)])

    @property
    def nbytes(self) -> int:
        """Bytes of the graph and of the regions."""
        layout = self.layout
        return self.graph.nbytes + sum(a.nbytes for a in (layout.boxes, layout.of, layout.offsets, layout.members))

    def __repr__(self) -> str:
        return (
            f"<WaypointGraph: {self.num_waypoints} waypoints, {self.num_edges} edges, {self.num_regions} regions,"
            f" {self.nbytes / 1e6:.1f} MB>"
        )

    # --- queries ---------------------------------------------------------------------------------------------------

    @reads
    def usable(self, motions: int) -> NDArray[np.bool_]:
        """Return which waypoints have an edge that a character with these motions can use, (n,) bool.

        >>> from wayfold import Graph
        >>> motions = [Motion.SURFACE | Motion.VOLUMETRIC, Motion.VOLUMETRIC]
        >>> graph = Graph.from_edges([(0, 0), (4, 0), (4, 3)], [(0, 1), (1, 2)], motions=motions)
        >>> waypoints = WaypointGraph.from_graph(graph)
        >>> waypoints.usable(Motion.SURFACE).tolist()
        [True, True, False]
        """
        bits = int(check_motions(motions))
        if bits not in self._usable:
            graph = self.graph
            open_slots = np.ones(graph.targets.size, np.bool_)
            if graph.motions is not None:
                np.not_equal(graph.motions & np.uint8(bits), 0, out=open_slots)
            if graph.costs is not None:
                open_slots &= graph.costs < np.inf
            filled = np.flatnonzero(np.diff(graph.offsets) > 0)
            mask = np.zeros(graph.num_nodes, np.bool_)
            mask[filled] = np.logical_or.reduceat(open_slots, graph.offsets[filled]) if filled.size else False
            self._usable[bits] = mask
        return self._usable[bits]

    def place(self, where: Any, motions: Motion, name: str) -> Place:
        """Check a start or goal of queries once, for `between` and `nearest_waypoint`, and return it as a place.

        Parameters
        ----------
        where : (x, y, z), metres, or int
            A point, or a waypoint number.
        motions : Motion bits
            By which the character must be able to be there.
        name : str
            Name of the place in errors.

        Raises
        ------
        OffMapError
            With the reason, when the character cannot be at the point.

        Examples
        --------
        >>> from wayfold import Graph
        >>> graph = Graph.from_edges([(0, 0), (4, 0), (4, 3)], [(0, 1), (1, 2)])
        >>> waypoints = WaypointGraph.from_graph(graph)
        >>> start = waypoints.place((0, 1, 0), Motion.SURFACE, "start")
        >>> goals = [waypoints.place(node, Motion.SURFACE, "goal") for node in (1, 2)]
        >>> [waypoints.between(start, goal, Motion.SURFACE, graph.path).length for goal in goals]
        [5.0, 8.0]
        """
        if isinstance(where, (int, np.integer)) and not isinstance(where, bool):
            return Place(name, None, None, checks.node(int(where), name, self.graph.num_nodes))
        point = checks.point3(where, name)
        if self.surroundings is None:
            return Place(name, point, None)
        self._check_inside(point, name)
        entrance = self.surroundings.entrance(self.surroundings.frame.local(point), motions, name)
        return Place(name, point, entrance)

    @property
    def _extent(self) -> float:
        """Metres that it is wide, for messages."""
        return float(np.ptp(self.layout.boxes.reshape(-1, 3)[:, :2], axis=0).max())

    def _check_inside(self, where: NDArray[np.float64], name: str) -> None:
        low, high = self.bounds
        if ((where < low) | (where > high)).any():
            extent = self._extent
            extents = " to ".join(f"({text.place(corner, extent)})" for corner in (low, high))
            raise OffMapError(
                f"{name} ({text.place(where, extent)}) lies outside the world, which reaches from {extents}"
            )

    @reads
    def nearest(
        self, points: ArrayLike, *, max_distance: float | None = None, motions: int | None = None
    ) -> NDArray[np.float64]:
        """Find the place nearest to each point that a character can be at, and enter the graph from.

        That is the point itself where it is such a place (a little above the ground for characters that only fly), else
        the nearest waypoint that has an edge for the character.

        Parameters
        ----------
        points : (x, y, z), or (q, 3) array_like, metres
        max_distance : float, metres, >= 0, optional
            How far away a waypoint may be. By default ten times the agent's size, or the side of a region where that is
            more.
        motions : Motion bits, optional
            As for `path`.

        Returns
        -------
        (3,) or (q, 3) float64 array, metres
            For many points NaN where there is no such place.

        Raises
        ------
        OffMapError
            When there is no such place for a single point.

        Examples
        --------
        >>> from wayfold.waypoints import VoxelWaypoints
        >>> free = VoxelWaypoints.from_voxels([[[False, False, True], [False, True, True]]])
        >>> free.nearest((0, 0, 0.7))
        array([0. , 0. , 0.7])
        >>> free.nearest([(0, 0, 2), (0, 0, 40)], max_distance=3)
        array([[ 0.,  0.,  1.],
               [nan, nan, nan]])
        """
        chosen = self.default_motions if motions is None else check_motions(motions)
        array = checks.floats(points, "points", "numbers of shape (q, 2) or (q, 3), or one point")
        single = array.ndim == 1 and array.size > 0
        where = checks.points3(array[None] if single else array)
        if max_distance is None:
            size = 0.0 if self.agent is None else 10.0 * max(self.agent.radius, self.agent.height)
            furthest = max(size, float(np.ptp(self.layout.boxes[0, ::3])))
        else:
            unlimited = checks.real(max_distance, "max_distance") == np.inf
            furthest = np.inf if unlimited else checks.number(max_distance, "max_distance", low=0.0)
        if single:
            found = self._nearest(where[0], furthest, chosen)
            if found is None:
                raise OffMapError(
                    f"({text.place(where[0], self._extent)}) has no waypoint of the agent within {furthest:g} m"
                )
            return found
        nothing = np.full(3, np.nan)
        rows = [self._nearest(point, furthest, chosen) for point in where]
        return np.array([nothing if row is None else row for row in rows]).reshape(-1, 3)

    def _nearest(self, point: NDArray[np.float64], max_distance: float, motions: Motion) -> NDArray[np.float64] | None:
        mask = self.usable(motions)
        try:
            self.nearest_waypoint(point, motions, usable=mask)
        except OffMapError:
            nodes = np.flatnonzero(mask)
            gaps = np.linalg.norm(self.points[nodes] - point, axis=1) if nodes.size else np.array([np.inf])
            if gaps.min() > max_distance or not nodes.size:
                return None
            return np.asarray(self.points[nodes[np.argmin(gaps)]], np.float64)
        if self.surroundings is None or motions != Motion.VOLUMETRIC:
            return point
        frame = self.surroundings.frame
        spots = self.surroundings.positions(frame.local(point), Motion.VOLUMETRIC)
        return frame.world(np.array(spots[Motion.VOLUMETRIC]))

    @reads
    def random_points(
        self,
        count: int,
        *,
        seed: int = 0,
        near: ArrayLike | None = None,
        radius: float | None = None,
        motions: int | None = None,
    ) -> NDArray[np.float64]:
        """Draw places that a character can be at, each of which can be reached from every other.

        They are waypoints of the largest connected part of the graph.

        Parameters
        ----------
        count : int, >= 0
        seed : int, >= 0
            The same seed gives the same places.
        near : (x, y, z), metres, optional
            Only waypoints around this point, in the part of the graph that has most of them. Needs a `radius`.
        radius : float, metres, >= 0, optional
            How far from `near`.
        motions : Motion bits, optional
            As for `path`.

        Returns
        -------
        (count, 3) float64 array, metres

        Raises
        ------
        OffMapError
            When there is no waypoint that the character can be at.

        Examples
        --------
        >>> from wayfold import Graph
        >>> graph = WaypointGraph.from_graph(Graph.from_edges([(0, 0), (4, 0), (9, 0), (8, 0)], [(0, 1), (2, 3)]))
        >>> graph.random_points(2, near=(9, 0, 0), radius=0.5).tolist()
        [[9.0, 0.0, 0.0], [9.0, 0.0, 0.0]]
        """
        chosen = self.default_motions if motions is None else check_motions(motions)
        number = checks.whole(count, "count", low=0, high=checks.MOST_POINTS)
        random = np.random.default_rng(checks.whole(seed, "seed", low=0))
        if (near is None) != (radius is None):
            raise ParameterError("near and radius belong together: give both or neither")
        inside = np.ones(self.num_waypoints, np.bool_)
        if near is not None:
            middle, most = checks.point3(near, "near"), checks.number(radius, "radius", low=0.0, high=checks.LARGEST)
            inside = np.linalg.norm(self.points - middle, axis=1) <= most
        nodes = np.flatnonzero(self.usable(chosen) & inside)
        if not nodes.size:  # a world so small that one waypoint sees all of it has no edges
            there = np.flatnonzero(inside & ~self.removed)
            nodes = there[[self._is_place(node, chosen) for node in there.tolist()]]
        if not nodes.size:
            if near is not None:
                where = text.place(middle, self._extent)
                raise OffMapError(f"near ({where}) has no waypoint of the agent within {most:g} m")
            raise OffMapError("the agent can be nowhere: all of its waypoints are blocked")
        labels = self.graph.components(chosen)[nodes]
        largest = nodes[labels == np.argmax(np.bincount(labels))]
        return self.points[random.choice(largest, number)].astype(np.float64)

    def _is_place(self, node: int, motions: Motion) -> bool:
        """Whether a character can be at a waypoint."""
        try:
            self.place(self.points[node], motions, "a waypoint")
        except OffMapError:
            return False
        return True

    @reads
    def nearest_waypoint(
        self,
        point: ArrayLike | Place,
        motions: int,
        name: str = "point",
        *,
        usable: NDArray[np.bool_] | None = None,
    ) -> int:
        """Return the waypoint where a character at any point enters the graph (Wardhana et al. 2015, section 6).

        Waypoints with an edge that the character can use are tried in order of distance; the first that it can move to
        in a straight line, by one of its motions, is the answer. Where there is none, a waypoint without edges will do:
        the character is in a place of its own, such as a niche. Without geometry there are no obstacles, and the
        nearest waypoint with a usable edge is the answer.

        Parameters
        ----------
        point : (x, y, z), metres
        motions : Motion bits
        name : str
            Name of the point in errors.
        usable : (n,) bool array, optional
            Which waypoints may be entered; those with a usable edge by default, or else those without edges.

        Raises
        ------
        OffMapError
            With the reason, when there is none.

        Examples
        --------
        >>> from wayfold import Graph
        >>> motions = [Motion.SURFACE | Motion.VOLUMETRIC, Motion.VOLUMETRIC]
        >>> graph = Graph.from_edges([(0, 0), (4, 0), (4, 3)], [(0, 1), (1, 2)], motions=motions)
        >>> waypoints = WaypointGraph.from_graph(graph)
        >>> [waypoints.nearest_waypoint((4, 2, 0), motion) for motion in (Motion.VOLUMETRIC, Motion.SURFACE)]
        [2, 1]
        """
        chosen = check_motions(motions)
        place = point if isinstance(point, Place) else self.place(point, chosen, name)
        if place.node is not None or place.point is None:
            assert place.node is not None
            return place.node
        mask = self.usable(chosen) if usable is None else _mask(usable, self.graph.num_nodes)
        node, tried = self._entered(place, mask)
        if node < 0 and usable is None and place.entrance is not None:
            node, _ = self._entered(place, ~(self.usable(chosen) | self.removed))
        if node >= 0:
            return node
        if not tried:
            raise OffMapError(f"{place.name}: no waypoint has an edge for the motions {_names(chosen)}")
        assert place.point is not None
        raise OffMapError(
            f"{place.name} ({text.place(place.point, self._extent)}) has no way to any of the {tried} nearest"
            f" waypoints by {_names(chosen)}: something is between"
        )

    def _entered(self, place: Place, mask: NDArray[np.bool_]) -> tuple[int, int]:
        """The nearest waypoint of some that a character can move to, -1 for none, and how many were tried before."""
        assert place.point is not None
        tried = 0
        if not mask.any():
            return -1, tried
        if self._tree is None:
            from scipy.spatial import cKDTree

            self._tree = cKDTree(self.local_points())
        where, positions = self._local(place.point), self.local_points()
        for nodes in _by_distance(self._tree, where, self.num_waypoints):
            for node in nodes[mask[nodes]]:
                if place.entrance is None or place.entrance.sees(positions[node]):
                    return int(node), tried
                tried += 1
            if tried >= _MOST_TRIES:
                break
        return -1, tried

    @reads
    def path(
        self,
        start: ArrayLike,
        goal: ArrayLike,
        *,
        motions: int | None = None,
        budget: int | None = None,
        partial: bool = False,
    ) -> Path:
        """Find the shortest path over the waypoints, by A* without a subregion graph.

        Where the straight way between two points is legal, that is the path.

        Parameters
        ----------
        start, goal : (x, y, z), metres, or int
            Points anywhere, or waypoint numbers.
        motions : Motion bits, optional
            The character's motions; by default those of the agent, or every motion.
        budget : int, >= 1, optional
            Settle at most this many waypoints; no limit by default. When it runs out the status is BUDGET_EXHAUSTED, or
            PARTIAL.
        partial : bool
            Instead of no path, return the one to the reached waypoint nearest to the goal, with status PARTIAL.

        Raises
        ------
        OffMapError
            When a point has no waypoint that the character can move to.

        Examples
        --------
        >>> from wayfold import Graph
        >>> waypoints = WaypointGraph.from_graph(Graph.from_edges([(0, 0), (4, 0), (4, 3)], [(0, 1), (1, 2)]))
        >>> waypoints.path((0, 0, 0), (4, 3, 0)).length
        7.0
        """
        chosen = self.default_motions if motions is None else check_motions(motions)
        searcher.check_budget(budget)

        def search(a: int, b: int) -> Path:
            return self.graph.path(a, b, motions=chosen, budget=budget, partial=partial)

        return self.between(start, goal, chosen, search)

    def paths(
        self, starts: ArrayLike, goals: ArrayLike, *, motions: int | None = None, workers: int | None = None
    ) -> Paths:
        """Find the paths of many queries, in parallel; each is the same as `path` gives.

        Parameters
        ----------
        starts, goals : (q, 3) points, metres, or (q,) waypoint numbers
        motions : Motion bits, optional
            As for `path`.
        workers : int, >= 1, optional
            Threads, all cores by default.

        Raises
        ------
        OffMapError
            When a point has no waypoint that the character can move to.

        Examples
        --------
        >>> from wayfold import Graph
        >>> waypoints = WaypointGraph.from_graph(Graph.from_edges([(0, 0), (4, 0), (4, 3)], [(0, 1), (1, 2)]))
        >>> waypoints.paths([0, 2], [2, 1]).costs
        array([7., 3.])
        """
        return plan_all([bind(self.path, motions=motions)], None, starts, goals, workers)

    @property
    def default_motions(self) -> Motion:
        """Motions of the agent; every motion where there is no agent."""
        return ALL_MOTIONS if self.agent is None else self.agent.motions

    @reads
    def between(
        self,
        start: Any,
        goal: Any,
        motions: Motion,
        search: Callable[[int, int], Path],
        *,
        price: Price | None = None,
        usable: NDArray[np.bool_] | None = None,
    ) -> Path:
        """Find the path between two places: straight where that is legal, else over the waypoints that a search finds.

        Parameters
        ----------
        start, goal : (x, y, z), int or Place
            Points or waypoint numbers.
        motions : Motion
        search : callable
            ``search(a, b)`` gives the path between two waypoints.
        price : callable, optional
            ``price(a, b)`` gives what straight moves between rows of (q, 3) points cost; their lengths by default.
            Then the straight way is the answer only where it is not dearer.
        usable : (n,) bool array, optional
            Which waypoints may be entered.

        Examples
        --------
        >>> from wayfold import Graph
        >>> graph = Graph.from_edges([(0, 0), (4, 0), (4, 3)], [(0, 1), (1, 2)])
        >>> waypoints = WaypointGraph.from_graph(graph)
        >>> path = waypoints.between((0, 1, 0), 2, Motion.SURFACE, graph.path)
        >>> path.points.tolist(), path.cost
        ([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 3.0, 0.0]], 8.0)
        """
        first = start if isinstance(start, Place) else self.place(start, motions, "start")
        last = goal if isinstance(goal, Place) else self.place(goal, motions, "goal")
        direct = self._direct(first, last, price)
        if direct is not None and (price is None or direct.length == 0.0):
            return direct
        try:
            a, b = (
                self.nearest_waypoint(first, motions, usable=usable),
                self.nearest_waypoint(last, motions, usable=usable),
            )
        except OffMapError:
            if direct is None:
                raise
            return direct
        paths = [
            self.finish(search(one, two), first, last, motions, price)
            for one in (a, *first.others)
            for two in (b, *last.others)
        ]
        path = min(paths, key=lambda path: _rank(path, last))
        if direct is not None and not (path and path.cost < direct.cost):
            return direct
        return path

    @reads
    def reachable(self, starts: ArrayLike, goals: ArrayLike, *, motions: int | None = None) -> Any:
        """Return whether there is a path, from connected components, without a search.

        Parameters
        ----------
        starts, goals : (x, y, z), int, or (q, 3) array_like, metres
            Points anywhere or waypoint numbers; one of the two may be a single place that serves all of the other.
        motions : Motion bits, optional
            As for `path`.

        Returns
        -------
        bool, or (q,) bool array for many points

        Raises
        ------
        OffMapError
            When a point has no waypoint that the character can move to.

        Examples
        --------
        >>> from wayfold import Graph
        >>> graph = WaypointGraph.from_graph(Graph.from_edges([(0, 0), (4, 0), (9, 0)], [(0, 1)]))
        >>> graph.reachable(0, 1), graph.reachable([(0, 0, 0), (4, 0, 0)], 2)
        (True, array([False, False]))
        """
        chosen = self.default_motions if motions is None else check_motions(motions)
        shapes = [np.shape(checks.numbers(ends, name)) for ends, name in ((starts, "starts"), (goals, "goals"))]
        for name, shape in zip(("starts", "goals"), shapes, strict=True):
            if len(shape) > 2:
                raise ParameterError(f"{name} must be a point, a waypoint or points (q, 3), not of shape {shape}")
        many = [len(shape) == 2 for shape in shapes]
        if not any(many):
            return self._joined(self.place(starts, chosen, "start"), self.place(goals, chosen, "goal"), chosen)
        if all(many):
            checks.same_length(starts, goals)
        first, last = (
            [self.place(end, chosen, f"{name}[{at}]") for at, end in enumerate(checks.floats(ends, name))]
            if several
            else [self.place(ends, chosen, name)] * max(shape[0] for shape in shapes if len(shape) == 2)
            for ends, name, several in ((starts, "starts", many[0]), (goals, "goals", many[1]))
        )
        return np.array([self._joined(a, b, chosen) for a, b in zip(first, last, strict=True)], np.bool_)

    def _joined(self, first: Place, last: Place, motions: Motion) -> bool:
        """Whether there is a path between two places."""
        if self._sees(first, last):
            return True
        labels = self.graph.components(motions)
        starts = labels[[self.nearest_waypoint(first, motions), *first.others]]
        goals = labels[[self.nearest_waypoint(last, motions), *last.others]]
        return bool(np.isin(starts, goals).any())

    @reads
    def frozen(self, motions: Motion) -> WaypointGraph:
        """Return a copy for `between` that keeps the waypoints that there are now, and which of them can be used.

        Its edges follow later edits: the search that `between` is given must have edges of its own.

        >>> from wayfold import Graph
        >>> graph = Graph.from_edges([(0, 0), (4, 0), (4, 3)], [(0, 1), (1, 2)])
        >>> waypoints = WaypointGraph.from_graph(graph)
        >>> before = waypoints.frozen(Motion.SURFACE)
        >>> edit = waypoints.update([(2, 3)], add_waypoints=[(4, 2, 0)])
        >>> before.num_waypoints, waypoints.num_waypoints
        (3, 4)
        """
        self.usable(motions)
        other = copy.copy(self)
        other._usable = {bits: mask.copy() for bits, mask in self._usable.items()}
        return other

    def _sees(self, first: Place, last: Place) -> bool:
        """Whether the straight way between two points is known to be legal."""
        if first.point is None or last.point is None:
            return False
        if (first.point == last.point).all():
            return True
        return first.entrance is not None and last.entrance is not None and first.entrance.meets(last.entrance)

    def _direct(self, first: Place, last: Place, price: Price | None) -> Path | None:
        """The straight path between two points, where that is legal."""
        if not self._sees(first, last):
            return None
        points = np.array([first.point, last.point])
        return Path(Status.FOUND, points, cost=float(_costs(points, price).sum()))

    def finish(self, path: Path, first: Place, last: Place, motions: Motion, price: Price | None = None) -> Path:
        """Add the end points to a path between waypoints (Wardhana et al. 2015, algorithm 4, line 10).

        With a mesh around, the path can be smoothed.

        Waypoints at its ends are left out where the straight way to a later one is legal and not dearer. A partial path
        ends at its last waypoint.

        >>> from wayfold import Graph
        >>> graph = Graph.from_edges([(0, 0), (4, 0), (4, 3)], [(0, 1), (1, 2)])
        >>> waypoints = WaypointGraph.from_graph(graph)
        >>> start, goal = (waypoints.place(point, Motion.SURFACE, "end") for point in [(0, 1, 0), (4, 5, 0)])
        >>> path = waypoints.finish(graph.path(0, 2), start, goal, Motion.SURFACE)
        >>> path.points.tolist(), path.cost
        ([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 3.0, 0.0], [4.0, 5.0, 0.0]], 10.0)
        """
        if path.status is Status.PARTIAL:
            last = Place(last.name, None, None)
        elif not path:
            return path
        points = self.graph.points[checks.nodes(path.nodes, "the nodes of the path", self.graph.num_nodes)]
        kept = np.arange(len(points))
        if first.point is not None:
            kept = kept[self._skipped(first, points, price) :]
        if last.point is not None:
            kept = kept[::-1][self._skipped(last, points[kept][::-1], price) :][::-1]
        ends = [np.empty((0, 3)) if place.point is None else place.point[None] for place in (first, last)]
        line = np.concatenate([ends[0], points[kept], ends[1]])
        cost = path.cost
        if self.graph.costs is None or price is not None:
            cost = float(_costs(line, price).sum())
        else:
            cost += sum(
                float(np.linalg.norm(np.diff(part, axis=0)))
                for part in (line[: len(ends[0]) + 1], line[-1 - len(ends[1]) :])
            )
        return Path(
            path.status,
            line,
            nodes=path.nodes[kept],
            cost=cost,
            expanded=path.expanded,
            timings=path.timings,
            smoother=None if price is not None else self._smoother(motions),
        )

    def _smoother(self, motions: Motion) -> Callable[[Path], Path] | None:
        return None if self.surroundings is None else self.surroundings.smoother(motions)

    def _skipped(self, place: Place, points: NDArray[np.float64], price: Price | None) -> int:
        """How many of the first points of a path a place can do without, since the straight way past them is legal."""
        if place.entrance is None or len(points) < 2:
            return 0
        assert place.point is not None
        positions = np.ascontiguousarray(self._local(points))
        count = len(points)
        while count > 1:
            far = place.entrance.furthest(positions, count)
            if far <= 0:
                return 0
            line = np.concatenate([place.point[None], points[: far + 1]])
            if price is None or float(price(line[:1], line[-1:])[0]) <= float(_costs(line, price).sum()):
                return far
            count = far
        return 0

    def _local(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return points if self.surroundings is None else self.surroundings.frame.local(points)

    @property
    def lock(self) -> ReadersWriter:
        """What queries share and edits hold alone; also by what is kept up to date with the graph."""
        return self._lock

    def local_points(self) -> NDArray[np.float64]:
        """Return the positions of the waypoints in the local coordinates of `surroundings`, (n, 3) float64, metres.

        Without surroundings those are the world's.

        >>> from wayfold import Graph
        >>> graph = Graph.from_edges([(0, 0), (4, 0), (4, 3)], [(0, 1), (1, 2)])
        >>> waypoints = WaypointGraph.from_graph(graph)
        >>> waypoints.local_points().tolist()
        [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 3.0, 0.0]]
        """
        graph = self.graph
        if self._placed is None or self._placed[0] is not graph.points:
            self._placed = graph.points, np.ascontiguousarray(self._local(graph.points.astype(np.float64)))
        return self._placed[1]

    closest = checks.moved("WaypointGraph.closest", "nearest_waypoint")

    def joined(self, start: Any, goal: Any, motions: Any) -> bool:
        """Deprecated: use `reachable`."""
        warnings.warn("WaypointGraph.joined is now reachable", DeprecationWarning, stacklevel=2)
        return bool(self.reachable(start, goal, motions=motions))

    joined.__deprecated__ = "reachable"  # type: ignore[attr-defined]

    # --- edits -----------------------------------------------------------------------------------------------------

    @writes
    def update(
        self,
        edges: ArrayLike | None = None,
        motions: ArrayLike | None = None,
        *,
        costs: ArrayLike | None = None,
        remove: ArrayLike | None = None,
        add_waypoints: ArrayLike | None = None,
        remove_waypoints: ArrayLike | None = None,
    ) -> Edit:
        """Change the graph in place, all or nothing (Wardhana et al. 2015, section 8): a wall falls, a door closes.

        Parameters
        ----------
        edges : (k, 2) array_like of int, optional
            Edges to add; each replaces what joins its two waypoints already, parallel edges too. New waypoints have the
            numbers after the last one.
        motions : (k,) array_like of Motion bits, or one for all, optional
            What the edges are for; every motion by default.
        costs : (k,) array_like, >= 0, optional
            For graphs that store costs only.
        remove : (k, 2) array_like of int, optional
            Edges to remove, before others are added.
        add_waypoints : (k, 3) array_like, metres, optional
            Inside the regions. This moves all rows of the graph, which takes time with its size.
        remove_waypoints : (k,) array_like of int, optional
            They lose their edges. Later updates do not use their numbers again; `splice` does.

        Returns
        -------
        Edit
            For `SubregionGraph.repair`, which every subregion graph over this graph needs before its next query.

        Raises
        ------
        EditError, OffMapError, ParameterError
            When an edge to remove is not there, a waypoint or region does not exist, ...; nothing is changed then.

        Notes
        -----
        The first update copies the graph once, to rows with room for more edges. Queries of other threads see the graph
        as it was before an update or as it is after it.

        Examples
        --------
        >>> from wayfold import Graph
        >>> graph = Graph.from_edges([(0, 0), (4, 0), (4, 3)], [(0, 1), (1, 2)])
        >>> waypoints = WaypointGraph.from_graph(graph)
        >>> edit = waypoints.update([(0, 2)], remove=[(0, 1)])
        >>> waypoints.path(0, 1).nodes.tolist()
        [0, 2, 1]
        >>> edit = waypoints.update([(0, 3), (3, 1)], add_waypoints=[(2, 0, 0)])
        >>> waypoints.path(0, 1).nodes.tolist()
        [0, 3, 1]
        """
        return editing.update(self, edges, motions, costs, remove, add_waypoints, remove_waypoints)

    @writes
    def splice(
        self,
        points: NDArray[np.float64],
        home: NDArray[np.int32],
        edges: NDArray[np.int32],
        motions: NDArray[np.uint8],
    ) -> tuple[Edit, NDArray[np.int32]]:
        """Add waypoints under the numbers of removed ones and under new ones; return the edit and their numbers, (k,).

        Parameters
        ----------
        points : (k, 3), metres
            New waypoints.
        home : (k, 2) int32
            Their regions; the second is -1 for a waypoint that is not on a face between two.
        edges : (e, 2) int32
            Edges to add; numbers from `num_waypoints` on are the new waypoints in order.
        motions : (e,) uint8
            Their motions.

        Examples
        --------
        >>> from wayfold import Graph
        >>> graph = Graph.from_edges([(0, 0), (4, 0), (4, 3)], [(0, 1), (1, 2)])
        >>> waypoints = WaypointGraph.from_graph(graph, (1, 1, 1))
        >>> edit = waypoints.update(remove_waypoints=[0])
        >>> edges, motions = np.array([(3, 2)], np.int32), np.array([Motion.SURFACE], np.uint8)
        >>> edit, numbers = waypoints.splice(np.array([(0, 3, 0.0)]), np.array([(0, -1)], np.int32), edges, motions)
        >>> numbers.tolist(), waypoints.path(0, 1).length
        ([0], 7.0)
        """
        return editing.splice(self, *editing.check_splice(self, points, home, edges, motions))

    @writes
    def trim(self) -> Edit | None:
        """Give back memory of waypoints and edges that edits have added and removed again, where that is much.

        Neither answers nor the numbers of waypoints change.

        Returns
        -------
        Edit or None
            For `SubregionGraph.repair`; None where nothing was changed.

        Examples
        --------
        >>> from wayfold import Graph
        >>> graph = Graph.from_edges([(0, 0), (4, 0), (4, 3)], [(0, 1), (1, 2)])
        >>> waypoints = WaypointGraph.from_graph(graph)
        >>> edit = waypoints.update([(2, 3)], add_waypoints=[(4, 2, 0)])
        >>> edit = waypoints.update(remove_waypoints=[3])
        >>> edit = waypoints.trim()
        >>> waypoints.num_waypoints, waypoints.path(0, 2).length
        (3, 7.0)
        """
        there = np.flatnonzero(~self.removed)
        count = int(there[-1]) + 1 if len(there) else 1  # a graph has one node at least
        room = 2 * self.num_edges + editing.SPARE * count
        if self.graph.targets.size <= _WORN * room and self.num_waypoints <= _WORN * count:
            return None
        return editing.trim(self, count)

    @reads
    def renumbered(self, nodes: NDArray[np.int32]) -> WaypointGraph:
        """Return a graph of some of the waypoints, in the order given; this one stays as it is.

        Parameters
        ----------
        nodes : (k,) int32 array
            Different waypoints, those that the graph was built with first. Edges to others are left out.

        Examples
        --------
        >>> from wayfold import Graph
        >>> graph = Graph.from_edges([(0, 0), (4, 0), (4, 3)], [(0, 1), (1, 2)])
        >>> waypoints = WaypointGraph.from_graph(graph)
        >>> turned = waypoints.renumbered(np.array([2, 1, 0], np.int32))
        >>> turned.points.tolist(), turned.path(0, 2).nodes.tolist()
        ([[4.0, 3.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [0, 1, 2])
        >>> waypoints.renumbered(np.array([0, 1], np.int32)).num_edges
        1
        """
        graph = self.graph
        nodes = checks.nodes(nodes, "nodes", graph.num_nodes, "waypoint")
        if nodes.ndim != 1 or len(np.unique(nodes)) != len(nodes):
            raise ParameterError("nodes must be different waypoints in an array of shape (k,)")
        number = np.full(graph.num_nodes, -1, np.int64)
        number[nodes] = np.arange(len(nodes))
        sources = number[np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))]
        targets = number[graph.targets]
        used = (sources >= 0) & (sources < targets)
        motions = None
        if graph.motions is not None:
            used &= graph.motions > 0
            motions = graph.motions[used]
        pairs = np.column_stack([sources[used], targets[used]])
        costs = None if graph.costs is None else graph.costs[used]
        fresh = Graph.from_edges(graph.points[nodes], pairs, costs=costs, motions=motions)
        layout = self.layout
        other = type(self)(fresh, Regions.from_pairs(layout.boxes, layout.of[nodes], layout.shape), self.surroundings)
        other.built, other.timings = self.built, self.timings
        return other

    def _count_edges(self, change: int) -> None:
        self._edges += change

    def _forget(self, nodes: NDArray[np.int32]) -> None:
        """Bring what was computed from the edges of some nodes up to date."""
        graph = self.graph
        assert graph.motions is not None
        graph.forget_components()
        if len(self._usable) and len(next(iter(self._usable.values()))) != graph.num_nodes:
            self._usable.clear()
            self._tree = None
        costs = np.empty(0, np.float32) if graph.costs is None else graph.costs
        for bits, mask in self._usable.items():
            edit_kernels.row_usable(graph.offsets, graph.motions, costs, bits, nodes, mask)

    # --- files -----------------------------------------------------------------------------------------------------

    _SCHEMA = SCHEMA

    @reads
    def _to_parts(self) -> Parts:
        return to_parts(self)

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        return from_parts(cls, parts)


def _by_distance(tree: cKDTree, point: NDArray[np.float64], count: int) -> Iterator[NDArray[np.int64]]:
    """All nodes in order of distance, in growing batches; equal distances by node number."""
    done, ask = 0, min(count, 32)
    while done < count:
        away, nodes = tree.query(point, ask)
        order = np.lexsort((np.atleast_1d(nodes), np.atleast_1d(away)))
        yield np.atleast_1d(nodes)[order][done:]
        done, ask = ask, min(count, 8 * ask)


def _costs(points: NDArray[np.float64], price: Price | None) -> NDArray[np.float64]:
    """Cost of each step of a path."""
    if price is not None:
        return price(points[:-1], points[1:])
    return np.asarray(np.linalg.norm(np.diff(points, axis=0), axis=1))


def _rank(path: Path, goal: Place) -> tuple[int, float]:
    """What to prefer among paths to one goal: the cheapest, else the partial one that ends nearest to the goal."""
    if path:
        return 0, path.cost
    if path.status is not Status.PARTIAL or goal.point is None:
        return 1, np.inf
    return 1, float(np.linalg.norm(path.points[-1] - goal.point))


def plan_all(
    planners: Sequence[Callable[[Any, Any], Path]],
    which: ArrayLike | None,
    starts: ArrayLike,
    goals: ArrayLike,
    workers: int | None,
) -> Paths:
    """The path of every query by the planner that `which` names; by the first without it."""
    a, b = (checks.numbers(ends, name) for ends, name in ((starts, "starts"), (goals, "goals")))
    for name, ends in (("starts", a), ("goals", b)):
        if ends.ndim not in (1, 2):
            raise ParameterError(f"{name} must have shape (q, 3), or (q,) for waypoints, not {ends.shape}")
    checks.same_length(a, b)
    chosen = np.zeros(len(a), np.int64) if which is None else checks.wholes(which, "which")
    if chosen.shape != (len(a),) or (chosen.size and not (chosen.min() >= 0 and chosen.max() < len(planners))):
        raise ParameterError(f"which must hold a whole number from 0 to {len(planners) - 1} for each start")
    found: list[Any] = [None] * len(chosen)

    def work(first: int, last: int) -> None:
        for query in range(first, last):
            found[query] = planners[chosen[query]](a[query], b[query])

    batches.run_chunks(work, len(chosen), workers=workers, chunk=4)
    return Paths.of(found)


def _names(motions: Motion) -> str:
    return "+".join(str(motion.name).lower() for motion in Motion if motion in motions)


def _mask(usable: Any, count: int) -> NDArray[np.bool_]:
    """One truth value for each waypoint."""
    if not isinstance(usable, np.ndarray) or usable.shape != (count,) or usable.dtype != np.bool_:
        raise ParameterError(f"usable must be a bool array of shape ({count},), not {checks.shown(usable)}")
    return usable
