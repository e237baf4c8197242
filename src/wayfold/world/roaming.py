"""Climbers and flyers: a waypoint graph with typed edges and an accelerator over it (paper 000)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold import _check
from wayfold.agent import Agent, Motion
from wayfold.errors import OffMapError
from wayfold.graph import Graph, Tree
from wayfold.hierarchy import Hierarchy
from wayfold.path import Path, Status
from wayfold.subregions import SubregionGraph
from wayfold.waypoints import WaypointGraph
from wayfold.waypoints.surroundings import body_of
from wayfold.world import edges
from wayfold.world.field import Field
from wayfold.world.locks import ReadersWriter
from wayfold.world.planner import Notes, Planner, Points, Zones, off_map
from wayfold.world.pricing import Prices
from wayfold.world.shapes import Shape
from wayfold.world.walking import settled

_NO_EDGES = np.empty((0, 2), np.int32)
_NO_KINDS = np.empty(0, np.uint8)
_FEW = 20_000
"""Waypoints up to which plain A* took about as long as two levels on generated cities."""
End = tuple[int, Points]


class Change(NamedTuple):
    """What an edit does to the graph."""

    zones: Zones
    gone: NDArray[np.int32]
    """(k, 2) edges that the world loses."""
    back: NDArray[np.int32]
    """(k, 2) edges that it gets back."""
    kinds: NDArray[np.uint8]
    """Motions of those."""
    lost: tuple[NDArray[np.int32], NDArray[np.uint8]]
    """All edges that blocks have taken after the edit, with their motions."""
    prices: Any = None
    """What zones change: all `Prices` with the first of them, then the edges that cost something else, and what."""


class RoamingPlanner(Planner):
    """Plans on a waypoint graph.

    A block takes away the edges along which the agent would touch it, and gives them back when it goes: waypoints stay
    where they are, so a character goes around a block, not over it. Edits change the graph in place while no query
    runs.
    """

    map_name = "waypoints"

    def __init__(
        self,
        agent: Agent,
        accelerator: str,
        notes: Notes,
        lock: ReadersWriter,
        *,
        waypoints: WaypointGraph,
        fast: Any,
    ) -> None:
        super().__init__(agent, accelerator, notes, lock)
        self._waypoints = waypoints
        self._fast = fast
        self._zones = Zones()
        self._lost = (_NO_EDGES, _NO_KINDS)
        self._priced: Graph | None = None
        self._prices: Prices | None = None
        self._reach = edges.Reach.of(None if waypoints.surroundings is None else body_of(agent))

    @property
    def map(self) -> WaypointGraph:
        """The waypoint graph."""
        return self._waypoints

    @property
    def accelerator(self) -> Any:
        """The subregions (or hierarchy) over its waypoints."""
        return self._fast

    # --- queries -----------------------------------------------------------------------------------------------------

    def _path(self, start: Any, goal: Any, exact: bool) -> Path:
        return self._search(start, goal, plain=exact)

    def _plain(self, start: Any, goal: Any) -> Path:
        return self._search(start, goal, plain=True)

    def _search(self, start: Any, goal: Any, *, plain: bool) -> Path:
        (a, first), (b, last) = self._end(start, "start"), self._end(goal, "goal")
        graph, motions = self._graph, self.agent.motions
        if self._direct(first, last):
            gap = float(np.linalg.norm(last - first))
            return Path(Status.FOUND, np.array([first, last]), cost=gap * self._rate(first, last))
        if not self._joined(a, b):
            return Path(Status.UNREACHABLE)
        if plain or self._fast is None or (self._priced is not None and isinstance(self._fast, SubregionGraph)):
            found = graph.path(a, b, motions=motions)
        else:
            found = self._fast.path(a, b)
        return finish(self._waypoints, found, first, last, motions, self._zones, self._reach)

    def _end(self, point: Any, name: str) -> End:
        where = _check.point3(point, name)
        return self._enter(where, name, None), where

    def _enter(self, where: Points, name: str, usable: NDArray[np.bool_] | None) -> int:
        barrier = barrier_of(self._zones, self._reach)
        return self._waypoints.closest(where, self.agent.motions, name, barrier=barrier, usable=usable)

    def _direct(self, first: Points, last: Points) -> bool:
        """Whether two points are so near to each other that the way over waypoints would be a detour."""
        return bool((first == last).all())

    def _rate(self, a: Points, b: Points) -> float:
        return float(edges.rates(self._zones.costs, a[None], b[None])[0])

    @property
    def _graph(self) -> Graph:
        return self._waypoints.graph if self._priced is None else self._priced

    def _joined(self, a: int, b: int) -> bool:
        labels = self._waypoints.graph.components(self.agent.motions)
        return bool(labels[a] == labels[b])

    def _reachable(self, start: Any, goal: Any) -> bool:
        (a, _), (b, _) = self._end(start, "start"), self._end(goal, "goal")
        return self._joined(a, b)

    def _nearest(self, point: Points) -> Points:
        try:
            self._enter(point, "point", None)
        except OffMapError:
            mask = self._waypoints.usable(self.agent.motions)
            nodes = np.flatnonzero(mask)
            reach = max(10.0 * max(self.agent.radius, self.agent.height), float(np.ptp(self._waypoints.boxes[0, ::3])))
            gaps = np.linalg.norm(self._waypoints.points[nodes] - point, axis=1) if nodes.size else np.array([np.inf])
            if gaps.min() > reach:
                raise off_map(point, f"has no waypoint of the agent within {reach:g} m") from None
            return np.asarray(self._waypoints.points[nodes[np.argmin(gaps)]], np.float64)
        return self._place(point)

    def _place(self, point: Points) -> Points:
        """Where the agent is when it is asked to be at a point: a flyer does not lie on the ground."""
        surroundings = self._waypoints.surroundings
        if surroundings is None or self.agent.motions != Motion.VOLUMETRIC:
            return point
        return np.array(surroundings.positions(point)[Motion.VOLUMETRIC])

    def _touched(self, start: Any, goal: Any) -> Points:
        (a, _), (b, _) = self._end(start, "start"), self._end(goal, "goal")
        nodes = settled(self._graph, self._fast, a, b, int(self.agent.motions))
        return self._waypoints.points[nodes].astype(np.float64)

    def _field(self, goal: Any) -> Field:
        node, where = self._end(goal, "goal")
        return RoamingField(self, where, node)

    def _random_points(self, count: int, seed: int) -> Points:
        graph, motions = self._waypoints.graph, self.agent.motions
        nodes = np.flatnonzero(self._waypoints.usable(motions))
        if not nodes.size:
            raise OffMapError("the agent can be nowhere: all of its waypoints are blocked")
        labels = graph.components(motions)[nodes]
        largest = nodes[labels == np.argmax(np.bincount(labels))]
        return graph.points[np.random.default_rng(seed).choice(largest, count)].astype(np.float64)

    def _remark(self) -> str:
        if self._priced is not None and isinstance(self._fast, SubregionGraph):
            return "left out while the world has zones with costs, of which subregions know nothing"
        small = isinstance(self._fast, SubregionGraph) and self._waypoints.num_waypoints < _FEW
        return "a graph this small is searched about as fast without them" if small else ""

    # --- changes -----------------------------------------------------------------------------------------------------

    def _prepare(self, before: Zones, after: Zones, shape: Shape) -> Change:
        gone, back, kinds = _NO_EDGES, _NO_EDGES, _NO_KINDS
        lost_edges, lost_kinds = self._lost
        points = self._waypoints.points
        if len(after.blocks) > len(before.blocks):
            near, motions = edges.near(self._waypoints, shape, self._reach)
            hit = edges.hits((shape,), points, near, motions, self._reach)
            gone = near[hit]
            lost_edges, lost_kinds = np.concatenate([lost_edges, gone]), np.concatenate([lost_kinds, motions[hit]])
        elif len(after.blocks) < len(before.blocks):
            free = edges.hits((shape,), points, lost_edges, lost_kinds, self._reach)
            at = np.flatnonzero(free)
            others = after.blocks_near(points[lost_edges[at].ravel()], self._reach.farthest) if at.size else ()
            still = edges.hits(others, points, lost_edges[at], lost_kinds[at], self._reach)
            at = at[~still]
            back, kinds = lost_edges[at], lost_kinds[at]
            kept = np.ones(len(lost_edges), np.bool_)
            kept[at] = False
            lost_edges, lost_kinds = lost_edges[kept], lost_kinds[kept]
        prices: Any = None
        if after.costs and self._prices is None:
            prices = Prices(self._waypoints, after.costs)
        elif after.costs != before.costs and self._prices is not None:
            prices = self._prices.changes(self._waypoints, after.costs)
        return Change(after, gone, back, kinds, (lost_edges, lost_kinds), prices)

    def _commit(self, prepared: Change) -> None:
        before = self._zones
        self._zones = prepared.zones
        self._lost = prepared.lost
        changed = np.concatenate([prepared.gone, prepared.back])
        if len(changed):
            edit = self._waypoints.update(prepared.back, prepared.kinds, remove=prepared.gone)
            if isinstance(self._fast, SubregionGraph):
                self._fast.repair(edit)
        if not prepared.zones.costs:
            self._prices = None
        elif self._prices is None:
            self._prices = prepared.prices
        elif prepared.prices is not None:
            self._prices.set_zones(prepared.zones.costs, *prepared.prices)
        self._priced = None
        if self._prices is not None:
            self._prices.follow(self._waypoints)
            self._priced = self._prices.graph
        if isinstance(self._fast, Hierarchy):
            self._price_hierarchy(before, prepared)

    def _price_hierarchy(self, before: Zones, prepared: Change) -> None:
        """Tell the hierarchy what its edges cost now: infinitely much where they are blocked."""
        shapes = [shape for shape, _ in (*before.costs, *prepared.zones.costs)]
        touched = [prepared.gone, prepared.back]
        if before.costs != prepared.zones.costs:
            touched += [edges.near(self._waypoints, shape, self._reach)[0] for shape in shapes]
        pairs = np.unique(np.concatenate(touched), axis=0)
        points = self._waypoints.points.astype(np.float64)
        a, b = points[pairs[:, 0]], points[pairs[:, 1]]
        costs = np.linalg.norm(b - a, axis=1) * edges.rates(prepared.zones.costs, a, b)
        lost = {tuple(pair) for pair in prepared.lost[0].tolist()}
        costs[[tuple(pair) in lost for pair in pairs.tolist()]] = np.inf
        if len(pairs):
            self._fast.update(pairs, costs)


class RoamingField(Field):
    """Ways over waypoints to one goal."""

    def __init__(self, planner: RoamingPlanner, goal: Points, node: int) -> None:
        super().__init__(goal)
        waypoints, motions = planner._waypoints, planner.agent.motions
        self._waypoints = waypoints
        self._motions = motions
        self._tree: Tree = planner._graph.tree(node, motions=motions)
        self._zones = planner._zones
        self._reach = planner._reach
        self._usable = waypoints.usable(motions).copy()

    def _paths(self, starts: Points) -> Sequence[Path]:
        barrier = barrier_of(self._zones, self._reach)
        nodes = [
            self._waypoints.closest(start, self._motions, f"starts[{at}]", barrier=barrier, usable=self._usable)
            for at, start in enumerate(starts)
        ]
        found = self._tree.paths(nodes)
        return [
            Path(Status.FOUND, np.array([start, self.goal]), cost=0.0)
            if (start == self.goal).all()
            else finish(self._waypoints, path, start, self.goal, self._motions, self._zones, self._reach)
            for path, start in zip(found, starts, strict=True)
        ]


def finish(
    waypoints: WaypointGraph,
    path: Path,
    first: Points,
    last: Points,
    motions: Motion,
    zones: Zones,
    reach: edges.Reach,
) -> Path:
    """A path over waypoints from point to point, which can be smoothed as far as blocks and costs allow."""
    done = waypoints.finish(path, first, last, motions)
    if done and zones.costs:
        points = done.points
        ends = np.array([points[0], points[-2]]), np.array([points[1], points[-1]])
        gaps = np.linalg.norm(ends[1] - ends[0], axis=1)
        done.cost += float((gaps * (edges.rates(zones.costs, *ends) - 1.0)).sum())
        done._smoother = None
    elif done and zones.blocks and done._smoother is not None:
        done._smoother = _guarded(done._smoother, zones, motions, reach)
    return done


def _guarded(
    smoother: Callable[[Path], Path], zones: Zones, motions: Motion, reach: edges.Reach
) -> Callable[[Path], Path]:
    """Shortcuts that keep clear of blocks: where one does not, each half of the path is smoothed on its own."""

    def smooth(path: Path) -> Path:
        points = path.points
        if len(points) <= 2:
            return path
        shorter = smoother(path).points
        kinds = np.full(len(shorter) - 1, int(motions), np.uint8)
        at = np.arange(len(shorter) - 1, dtype=np.int32)
        pairs = np.column_stack([at, at + 1])
        if edges.hits(zones.blocks_near(shorter, reach.farthest), shorter, pairs, kinds, reach).any():
            middle = len(points) // 2
            halves = [smooth(Path(path.status, part)).points for part in (points[: middle + 1], points[middle:])]
            shorter = np.concatenate([halves[0], halves[1][1:]])
        length = float(np.linalg.norm(np.diff(shorter, axis=0), axis=1).sum())
        return Path(path.status, shorter, cost=length, expanded=path.expanded, timings=path.timings)

    return smooth


def barrier_of(zones: Zones, reach: edges.Reach) -> Any:
    """A test of single moves against blocks; None where there are none."""
    if not zones.blocks:
        return None

    def barrier(a: tuple[float, float, float], b: tuple[float, float, float], motion: Motion) -> bool:
        ends = np.array([a, b])
        near = zones.blocks_near(ends, reach.farthest)
        pair, kinds = np.array([[0, 1]], np.int32), np.array([int(motion)], np.uint8)
        return bool(near) and bool(edges.hits(near, ends, pair, kinds, reach)[0])

    return barrier
