"""`WaypointGraph`: a graph in space whose waypoints belong to regions and whose edges have motion types."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold import _check
from wayfold.agent import ALL_MOTIONS, Agent, Motion, check_motions
from wayfold.errors import OffMapError, ParameterError
from wayfold.geometry import Mesh
from wayfold.graph import Graph
from wayfold.path import Path
from wayfold.waypoints import _edit_kernels, _files, editing
from wayfold.waypoints.editing import Edit
from wayfold.waypoints.regions import Regions, adaptive, check_shape, uniform, usual_shape
from wayfold.waypoints.surroundings import Barrier, Surroundings

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

_MOST_TRIES = 2000  # waypoints that a point is tried against before it counts as shut in


class WaypointGraph:
    """The enhanced waypoint graph of the subregion paper (000, section 3).

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
        Whom it was built for.
    timings : dict
        Seconds by stage of `build`.
    """

    def __init__(self, graph: Graph, regions: Regions, surroundings: Surroundings | None = None) -> None:
        if graph.directed:
            raise ParameterError("a waypoint graph is undirected: this graph has one-way edges")
        self.graph = graph
        self.layout = regions
        self.surroundings = surroundings
        self.agent = None if surroundings is None else surroundings.agent
        self.timings: dict[str, float] = {}
        self._usable: dict[int, NDArray[np.bool_]] = {}
        self._tree: cKDTree | None = None
        self._edges = graph.num_edges
        self._editable = False

    @classmethod
    def build(
        cls,
        mesh: Mesh,
        agent: Agent,
        *,
        region_size: float = 50.0,
        motions: int | str = ALL_MOTIONS,
        workers: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> WaypointGraph:
        """Place waypoints in a mesh and join those that see each other (000, section 3).

        Space is cut into cubes. Each gets waypoints beside corners, in openings and spread out over its floors, walls,
        ceilings and free space; waypoints on the face between two cubes belong to both, so that no edge leaves its
        cube. An edge keeps the agent's radius free all the way (and its height, unless it clings), and has the first
        of these motion types whose test it passes: surface (walkable ground below, within `slope` and `climb`),
        adhesive (near a wall or ceiling, with vectors to the nearest polygon that stay alike), volumetric.

        Parameters
        ----------
        mesh : Mesh
            Triangles turned outwards: what only shows its back is inside of something, and nothing is placed there.
        agent : Agent
            Its size decides where waypoints fit. A walker's waypoint lies `climb` + `radius` above the ground.
        region_size : float, metres
            Side of the cubes, at least 4 radii and 2 heights.
        motions : Motion bits or names
            Which kinds of edges to make, for all characters that share the graph; every kind by default.
        workers : int, >= 1, optional
            Threads, all cores by default; the result is the same.
        progress : callable, optional
            Called as ``progress(done, total)`` now and then.

        Raises
        ------
        ParameterError
            When the regions are too small for the agent, or too many.
        GeometryError
            When the agent fits nowhere.
        """
        from wayfold.waypoints import _build

        if not isinstance(mesh, Mesh) or not isinstance(agent, Agent):
            raise ParameterError(f"expected a Mesh and an Agent, not {type(mesh).__name__} and {type(agent).__name__}")
        kinds = check_motions(motions)
        graph, regions, surroundings, timings = _build.build(mesh, agent, region_size, kinds, workers, progress)
        waypoints = cls(graph, regions, surroundings)
        waypoints.timings = timings
        return waypoints

    @classmethod
    def from_graph(
        cls, graph: Graph, regions: Sequence[int] | None = None, *, most_waypoints: int | None = None
    ) -> WaypointGraph:
        """Regions for any graph (000, section 5.3): a navmesh's dual graph, a grid, a road map.

        Parameters
        ----------
        graph : Graph
            Undirected; its nodes are the waypoints.
        regions : (rx, ry, rz) of int, >= 1, optional
            The bounding box is cut into this many regions along each axis. By default into cubes that hold about 70
            waypoints each.
        most_waypoints : int, >= 1, optional
            Adaptive regions instead (000, section 8): an octree whose leaves hold at most this many waypoints.
        """
        if not isinstance(graph, Graph):
            raise ParameterError(f"graph must be a Graph, not a {type(graph).__name__}")
        if most_waypoints is not None:
            if regions is not None:
                raise ParameterError("regions and most_waypoints exclude each other: give one of them")
            return cls(graph, adaptive(graph.points, _check.whole(most_waypoints, "most_waypoints", low=1)))
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

    def usable(self, motions: int) -> NDArray[np.bool_]:
        """(n,) bool, which waypoints have an edge that a character with these motions can use."""
        kinds = int(check_motions(motions))
        if kinds not in self._usable:
            graph = self.graph
            open_slots = np.ones(graph.targets.size, np.bool_)
            if graph.motions is not None:
                np.not_equal(graph.motions & np.uint8(kinds), 0, out=open_slots)
            if graph.costs is not None:
                open_slots &= graph.costs < np.inf
            filled = np.flatnonzero(np.diff(graph.offsets) > 0)
            mask = np.zeros(graph.num_nodes, np.bool_)
            mask[filled] = np.logical_or.reduceat(open_slots, graph.offsets[filled]) if filled.size else False
            self._usable[kinds] = mask
        return self._usable[kinds]

    def closest(
        self,
        point: ArrayLike,
        motions: int,
        name: str = "point",
        *,
        barrier: Barrier | None = None,
        usable: NDArray[np.bool_] | None = None,
    ) -> int:
        """The waypoint where a character at an arbitrary point enters the graph (000, section 6).

        Waypoints with an edge that the character can use are tried in order of distance; the first that it can move to
        in a straight line, by one of its motions, is the answer. A graph without geometry has no obstacles: the
        nearest such waypoint is the answer.

        Parameters
        ----------
        point : (x, y, z), metres
        motions : Motion bits
        name : str
            What errors call the point.
        barrier : callable, optional
            ``barrier(a, b, motion)`` tells whether something else than the mesh is in the way from one position to
            another.
        usable : (n,) bool array, optional
            Which waypoints may be entered; those with a usable edge by default.

        Raises
        ------
        OffMapError
            With the reason, when there is none.
        """
        where = _check.point3(point, name)
        kinds = check_motions(motions)
        at = ", ".join(f"{value:.6g}" for value in where)
        low, high = self.layout.boxes[:, :3].min(axis=0), self.layout.boxes[:, 3:].max(axis=0)
        if self.surroundings is not None and ((where < low) | (where > high)).any():
            reach = " to ".join("(" + ", ".join(f"{value:.6g}" for value in corner) + ")" for corner in (low, high))
            raise OffMapError(f"{name} ({at}) lies outside the world, which reaches from {reach}")
        mask = self.usable(kinds) if usable is None else usable
        if not mask.any():
            raise OffMapError(f"{name}: no waypoint has an edge for the motions {_names(kinds)}")
        if self._tree is None:
            from scipy.spatial import cKDTree

            self._tree = cKDTree(self.graph.points)
        test = None if self.surroundings is None else self.surroundings.entrance(where, kinds, name, barrier)
        tried = 0
        for nodes in _by_distance(self._tree, where, self.num_waypoints):
            for node in nodes[mask[nodes]]:
                if test is None or test(self.graph.points[node]):
                    return int(node)
                tried += 1
            if tried >= _MOST_TRIES:
                break
        raise OffMapError(
            f"{name} ({at}) has no way to any of the {tried} nearest waypoints by {_names(kinds)}: something is between"
        )

    def path(self, start: ArrayLike, goal: ArrayLike, *, motions: int | None = None) -> Path:
        """The shortest path over the waypoints by plain A*, without a subregion graph.

        Parameters
        ----------
        start, goal : (x, y, z), or int
            Arbitrary points, or waypoint numbers.
        motions : Motion bits, optional
            What the character is capable of; the agent's motions, or every motion, by default.

        Raises
        ------
        OffMapError
            When a point has no waypoint that the character can move to.
        """
        kinds = self.default_motions if motions is None else check_motions(motions)
        (a, first), (b, last) = self.ends(start, goal, kinds)
        return self.finish(self.graph.path(a, b, motions=kinds), first, last, kinds)

    @property
    def default_motions(self) -> Motion:
        """What the agent is capable of; every motion where there is no agent."""
        return ALL_MOTIONS if self.agent is None else self.agent.motions

    def ends(self, start: Any, goal: Any, motions: Motion) -> tuple[tuple[int, Any], tuple[int, Any]]:
        """Node and point (None where a node was given) of both ends of a query."""
        return self._end(start, motions, "start"), self._end(goal, motions, "goal")

    def _end(self, place: Any, motions: Motion, name: str) -> tuple[int, NDArray[np.float64] | None]:
        if hasattr(place, "__index__") and not (isinstance(place, np.ndarray) and place.ndim):
            return self.graph._node(place, name), None
        point = _check.point3(place, name)
        return self.closest(point, motions, name), point

    def finish(self, path: Path, first: Any, last: Any, motions: Motion) -> Path:
        """The path with the end points appended (Algorithm 4, line 10), which can be smoothed where there is a mesh."""
        if not path:
            return path
        points = self.graph.points[path.nodes]
        cost = path.cost
        for point, at in ((first, 0), (last, -1)):
            if point is not None:
                cost += float(np.linalg.norm(points[at] - point))
        parts = [points if part is points else part[None] for part in (first, points, last) if part is not None]
        smoother = None if self.surroundings is None else self.surroundings.smoother(motions)
        return Path(
            path.status,
            np.concatenate(parts),
            nodes=path.nodes,
            cost=cost,
            expanded=path.expanded,
            timings=path.timings,
            lower_bound=path.lower_bound,
            smoother=smoother,
        )

    # --- edits -----------------------------------------------------------------------------------------------------

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
        """Change the graph in place, all or nothing (000, section 8): a wall falls, a door closes.

        Parameters
        ----------
        edges : (k, 2) array_like of int, optional
            Edges to add; those that are there already get the new motions. New waypoints have the numbers after the
            last one.
        motions : (k,) array_like of Motion bits, or one for all, optional
            What the edges are for; every motion by default.
        costs : (k,) array_like, >= 0, optional
            For graphs that store costs only.
        remove : (k, 2) array_like of int, optional
            Edges to remove, before others are added.
        add_waypoints : (k, 3) array_like, metres, optional
            Inside the regions. This moves all rows of the graph, which takes time with its size.
        remove_waypoints : (k,) array_like of int, optional
            They lose their edges; their numbers are not used again.

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
        The first update copies the graph once, to rows with room for more edges. Queries must not run meanwhile.
        """
        return editing.update(self, edges, motions, costs, remove, add_waypoints, remove_waypoints)

    def _count_edges(self, change: int) -> None:
        self._edges += change

    def _forget(self, nodes: NDArray[np.int32]) -> None:
        """Bring what was computed from the edges of some nodes up to date."""
        graph = self.graph
        assert graph.motions is not None
        graph._components.clear()
        if len(self._usable) and len(next(iter(self._usable.values()))) != graph.num_nodes:
            self._usable.clear()
            self._tree = None
        costs = np.empty(0, np.float32) if graph.costs is None else graph.costs
        for kinds, mask in self._usable.items():
            _edit_kernels.row_usable(graph.offsets, graph.motions, costs, kinds, nodes, mask)

    # --- files -----------------------------------------------------------------------------------------------------

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the graph, its regions and the mesh it was built from to a `.wayfold` file."""
        _files.save(self, file)

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> WaypointGraph:
        """Read what `save` wrote; its arrays stay on disk until they are touched."""
        return cls(*_files.load(file))


def _by_distance(tree: cKDTree, point: NDArray[np.float64], count: int) -> Iterator[NDArray[np.int64]]:
    """All nodes in order of distance, in growing batches; equal distances by node number."""
    done, ask = 0, min(count, 32)
    while done < count:
        away, nodes = tree.query(point, ask)
        order = np.lexsort((np.atleast_1d(nodes), np.atleast_1d(away)))
        yield np.atleast_1d(nodes)[order][done:]
        done, ask = ask, min(count, 8 * ask)


def _names(motions: Motion) -> str:
    return "+".join(str(motion.name).lower() for motion in Motion if motion in motions)
