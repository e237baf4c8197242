"""Climbers and flyers: a waypoint graph with typed edges and an accelerator over it (Wardhana et al. 2015)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.core.arrays import distinct
from wayfold.errors import OffMapError
from wayfold.field import Field
from wayfold.geometry import Mesh
from wayfold.geometry.shapes import Shape
from wayfold.graph import Graph, Tree
from wayfold.hierarchy import Hierarchy
from wayfold.map import AgentMap, Edits, why_apart
from wayfold.path import Path, Status
from wayfold.subregions import SubregionGraph
from wayfold.waypoints import WaypointGraph
from wayfold.waypoints.editing import Edit
from wayfold.waypoints.pricing import EdgePrices, body_extent, edges_near, price_in, rates
from wayfold.waypoints.resampling import Around, WaypointSplice, resample
from wayfold.waypoints.surroundings import Surroundings
from wayfold.waypoints.waypoints import Place
from wayfold.world.walking import accelerate, settled

Points = NDArray[np.float64]

_NO_EDGES = np.empty((0, 2), np.int32)
_NO_MOTIONS = np.empty(0, np.uint8)
_FEW = 20_000
"""Waypoints up to which A* over all of them took about as long as two levels on generated cities."""


class WaypointChange(NamedTuple):
    """What an edit does to the graph."""

    zones: Edits
    surroundings: Surroundings
    """With the blocks after the edit."""
    gone: NDArray[np.int32]
    """(k, 2) edges that the world loses."""
    back: NDArray[np.int32]
    """(k, 2) edges that it gets back."""
    back_motions: NDArray[np.uint8]
    """Motions of those."""
    lost: tuple[NDArray[np.int32], NDArray[np.uint8]]
    """All edges that blocks have taken after the edit, with their motions."""
    added: WaypointSplice | None
    """What changes of the waypoints around blocks."""
    prices: Any = None
    """What zones change: all `Prices` with the first of them, then the edges that cost something else, and what."""


class RoamingMap(AgentMap):
    """A waypoint graph with the costs of a climber or flyer, and an accelerator over it.

    A block removes the edges along which the agent would touch it until it is unblocked; agents do not stand on blocks
    or cling to them. Waypoints are added around it, and where it makes free space narrow. Edits change the graph in
    place while no query runs.

    Parameters
    ----------
    waypoints : WaypointGraph
    accelerator : SubregionGraph, Hierarchy or None
    """

    in_place = True

    def __init__(self, agent: Agent, waypoints: WaypointGraph, accelerator: Any) -> None:
        super().__init__(agent)
        self._waypoints = waypoints
        self._accelerator = accelerator
        self._change: Any = None  # what `succeed` is to do
        self._lost = (_NO_EDGES, _NO_MOTIONS)
        self._priced: Graph | None = None
        self._prices: EdgePrices | None = None
        self._added: dict[tuple[int, int], NDArray[np.int32]] = {}
        self._spliced = 0  # times that waypoints were added or taken away
        self._covered = 0  # as many when a hierarchy was built
        self._meshes: dict[Shape, Mesh] = {}
        self._known: dict[int, Around] = {}

    @property
    def map(self) -> WaypointGraph:
        """The waypoint graph."""
        return self._waypoints

    @property
    def accelerator(self) -> Any:
        """The subregions (or hierarchy) over its waypoints."""
        return self._accelerator

    # --- queries -----------------------------------------------------------------------------------------------------

    def path(self, start: Any, goal: Any, *, exact: bool = False) -> Path:
        """A path over waypoints, straight where it can be; `exact` is the shortest over them."""
        found = self._search(start, goal, accelerated=not exact)
        if not exact or not found or self._accelerator is None:
            return found
        # Straight ways to the first and from the last waypoints may favour what the search at two levels found.
        quick = self._search(start, goal, accelerated=True)
        return quick if quick and quick.cost < found.cost else found

    def plain(self, start: Any, goal: Any) -> Path:
        """The path that A* finds over all waypoints."""
        return self._search(start, goal, accelerated=False)

    def _search(self, start: Any, goal: Any, *, accelerated: bool) -> Path:
        graph, motions = self._graph, self.agent.motions
        accelerator = self._accelerated if accelerated else None

        def search(a: int, b: int) -> Path:
            labels = self._waypoints.graph.components(motions)
            if labels[a] != labels[b]:
                return Path(Status.UNREACHABLE)
            found: Path = graph.path(a, b, motions=motions) if accelerator is None else accelerator.path(a, b)
            return found

        first, last = checks.point3(start, "start"), checks.point3(goal, "goal")
        return self._waypoints.between(first, last, motions, search, price=price_in(self.edits.costs))

    @property
    def _accelerated(self) -> Any:
        """The accelerator, None where it does not know the latest changes."""
        if isinstance(self._accelerator, SubregionGraph):
            return None if self._priced is not None else self._accelerator
        return self._accelerator if self._covered == self._spliced or not (self._covered or self._added) else None

    @property
    def _graph(self) -> Graph:
        return self._waypoints.graph if self._priced is None else self._priced

    def reachable(self, start: Any, goal: Any) -> bool:
        """Whether edges join the waypoints that two points see."""
        first, last = checks.point3(start, "start"), checks.point3(goal, "goal")
        return bool(self._waypoints.reachable(first, last, motions=self.agent.motions))

    def islands(self) -> tuple[NDArray[np.float64], str]:
        """Waypoints of the connected parts."""
        motions = self.agent.motions
        labels = self._waypoints.graph.components(motions)[self._waypoints.usable(motions)]
        return np.unique(labels, return_counts=True)[1].astype(np.float64), "waypoints"

    def why(self, start: Points, goal: Points) -> str:
        """On which islands start and goal are."""
        waypoints, motions = self._waypoints, self.agent.motions
        labels = waypoints.graph.components(motions)
        known = np.unique(labels[waypoints.usable(motions)])
        ends = [
            labels[waypoints.nearest_waypoint(waypoints.place(end, motions, name), motions)]
            for end, name in ((start, "start"), (goal, "goal"))
        ]
        # A waypoint without edges is no island.
        first, last = (int(np.searchsorted(known, end)) if end in known else -1 for end in ends)
        return why_apart(first, last, *self.islands())

    def nearest(self, point: Points) -> Points:
        """The nearest place of a waypoint, within ten times the agent's size or one region."""
        size = 10.0 * max(self.agent.radius, self.agent.height)
        furthest = max(size, float(np.ptp(self._waypoints.boxes[0, ::3])))
        return self._waypoints.nearest(point, max_distance=furthest, motions=self.agent.motions)

    def expanded(self, start: Any, goal: Any) -> Points:
        """The waypoints that a quick query settles."""
        if not self._search(start, goal, accelerated=True).expanded:  # straight, without a search
            return np.empty((0, 3))
        motions = self.agent.motions
        first, last = (
            self._waypoints.place(checks.point3(end, name), motions, name)
            for end, name in ((start, "start"), (goal, "goal"))
        )
        a, b = self._waypoints.nearest_waypoint(first, motions), self._waypoints.nearest_waypoint(last, motions)
        nodes = settled(self._graph, self._accelerated, a, b, int(self.agent.motions))
        return self._waypoints.points[nodes].astype(np.float64)

    def field(self, goal: Any) -> Field:
        """The ways over waypoints to one goal."""
        return RoamingField(self, self._waypoints.place(checks.point3(goal, "goal"), self.agent.motions, "goal"))

    def random_points(self, count: int, *, seed: int = 0) -> Points:
        """Places of waypoints in the largest connected part."""
        return self._waypoints.random_points(count, seed=seed, motions=self.agent.motions)

    def remark(self) -> str:
        """Why the accelerator is left out, or hardly of use."""
        if self._priced is not None and isinstance(self._accelerator, SubregionGraph):
            return "left out while the world has zones with costs, of which subregions know nothing"
        if self._accelerator is not None and self._accelerated is None:
            return "left out since edits have added or removed waypoints around blocks; refresh() builds it again"
        small = isinstance(self._accelerator, SubregionGraph) and self._waypoints.num_waypoints < _FEW
        return "a graph this small is searched about as fast without them" if small else ""

    # --- changes -----------------------------------------------------------------------------------------------------

    def changed(self, edits: Edits) -> RoamingMap:
        """The map that `succeed` makes of this one: what an edit changes is worked out here, while queries go on."""
        after = copy.copy(self)
        after._change = self._prepared(edits, self.edits.step_to(edits))
        after.edits = edits
        return after

    def _prepared(self, after: Edits, shape: Shape) -> Any:
        """What an edit in a shape changes."""
        before = self.edits
        gone, back, back_motions = _NO_EDGES, _NO_EDGES, _NO_MOTIONS
        lost_edges, lost_motions = self._lost
        waypoints = self._waypoints
        surroundings = waypoints.surroundings
        assert surroundings is not None
        now = surroundings
        if len(after.blocks) != len(before.blocks):
            # In an order of their own, so that the order of edits does not matter.
            blocks = sorted(after.blocks, key=lambda block: (block.low, block.high, block.corners))
            meshes = [self._mesh(block) for block in blocks]
            now = surroundings.with_blocks(meshes)
            positions = waypoints.local_points()
        if len(after.blocks) > len(before.blocks):
            near, motions = edges_near(waypoints, shape, now.body)
            built = (near < waypoints.built).all(axis=1)  # those of the others are tested again
            near, motions = near[built], motions[built]
            # One block may take one motion of an edge and another one the other.
            hit = now.stopped(positions, near, motions)
            gone = near[hit]
            lost_edges, lost_motions = np.concatenate([lost_edges, gone]), np.concatenate([lost_motions, motions[hit]])
        elif len(after.blocks) < len(before.blocks):
            still = np.ones(len(lost_edges), np.bool_)
            beside = np.flatnonzero(self._beside(lost_edges, shape, body_extent(now.body)))
            still[beside] = now.stopped(positions, lost_edges[beside], lost_motions[beside])
            back, back_motions = lost_edges[~still], lost_motions[~still]
            lost_edges, lost_motions = lost_edges[still], lost_motions[still]
        added = None
        if now is not surroundings:
            added = resample(waypoints, now, meshes, shape.bounds, self._added, self._known, int(self.agent.motions))
        prices = self._changed_prices(before, after)
        return WaypointChange(after, now, gone, back, back_motions, (lost_edges, lost_motions), added, prices)

    def _changed_prices(self, before: Edits, after: Edits) -> Any:
        """What zones change: all prices with the first of them, then those of some edges."""
        if after.costs and self._prices is None:
            return EdgePrices(self._waypoints, after.costs)
        if after.costs != before.costs and self._prices is not None:
            return self._prices.changes(self._waypoints, after.costs)
        return None

    def _set_prices(self, zones: Edits, prices: Any) -> None:
        """Take over new prices, and follow other changes of the graph."""
        if not zones.costs:
            self._prices = None
        elif self._prices is None:
            self._prices = prices
        elif prices is not None:
            self._prices.set_zones(zones.costs, *prices)
        self._priced = None
        if self._prices is not None:
            self._prices.follow(self._waypoints)
            self._priced = self._prices.graph

    def _mesh(self, block: Shape) -> Mesh:
        """The triangles of a block in local coordinates, made once."""
        if block not in self._meshes:
            assert self._waypoints.surroundings is not None
            self._meshes[block] = self._waypoints.surroundings.moved(block.mesh())
        return self._meshes[block]

    def _beside(self, pairs: NDArray[np.int32], shape: Shape, margin: Points) -> NDArray[np.bool_]:
        """Which edges, pairs (k, 2) of waypoints, a body that reaches so far along the axes may touch a shape on."""
        ends = self._waypoints.points[pairs]
        low, high = shape.bounds
        return np.asarray(((ends.min(axis=1) <= high + margin) & (ends.max(axis=1) >= low - margin)).all(axis=1))

    def succeed(self, before: AgentMap) -> None:
        """Change the graph, while no query runs."""
        prepared, self._change = self._change, None
        self._lost = prepared.lost
        self._waypoints.surroundings = prepared.surroundings
        changed = np.concatenate([prepared.gone, prepared.back])
        if len(changed):
            self._repair(self._waypoints.update(prepared.back, prepared.back_motions, remove=prepared.gone))
        if prepared.added is not None:
            self._splice(prepared.added)
            self._known = prepared.added.known
            here = set(prepared.zones.blocks)
            self._meshes = {block: mesh for block, mesh in self._meshes.items() if block in here}
        self._set_prices(prepared.zones, prepared.prices)
        if isinstance(self._accelerator, Hierarchy):
            self._price_hierarchy(before.edits, prepared)

    def _splice(self, added: WaypointSplice) -> None:
        """Exchange the waypoints that blocks have added."""
        self._spliced += bool(len(added.dead) or len(added.gone) or len(added.points) or len(added.edges))
        if len(added.dead) or len(added.gone):
            self._repair(self._waypoints.update(remove=added.gone, remove_waypoints=added.dead))
            # Those of a face or region go all at once.
            dead = set(added.dead.tolist())
            self._added = {key: nodes for key, nodes in self._added.items() if int(nodes[0]) not in dead}
        if len(added.points) or len(added.edges):
            edit, numbers = self._waypoints.splice(added.points, added.home, added.edges, added.motions)
            self._repair(edit)
            at = 0
            for key, count in added.keys:
                self._added[key] = numbers[at : at + count]
                at += count
        if not self._added:
            self._trim()

    def _trim(self) -> None:
        """Give back memory that edits no longer need."""
        # A hierarchy and prices know the rows of the graph.
        if self._prices is None and not isinstance(self._accelerator, Hierarchy):
            trimmed = self._waypoints.trim()
            if trimmed is not None:
                self._repair(trimmed)

    def refreshed(self) -> RoamingMap:
        """The map with waypoints numbered anew, without those that edits have removed, and the added ones by place."""
        waypoints = self._waypoints
        if waypoints.num_waypoints == waypoints.built:
            return self
        fresh = copy.copy(self)
        keys = sorted(self._added)
        kept = [np.arange(waypoints.built, dtype=np.int32), *(self._added[key] for key in keys)]
        fresh._waypoints = waypoints.renumbered(np.concatenate(kept))
        ends = np.cumsum([len(part) for part in kept]).tolist()
        fresh._added = {
            key: np.arange(first, last, dtype=np.int32)
            for key, first, last in zip(keys, ends[:-1], ends[1:], strict=True)
        }
        fresh._rebuild()
        return fresh

    def _rebuild(self) -> None:
        """Make the accelerator and the prices anew."""
        if isinstance(self._accelerator, SubregionGraph):
            self._accelerator = SubregionGraph.build(self._waypoints, self.agent.motions)
        elif self._accelerator is not None:
            self._accelerator, self._covered = self._new_hierarchy(), self._spliced
        if self.edits.costs:
            self._prices = EdgePrices(self._waypoints, self.edits.costs)
            self._priced = self._prices.graph

    def _new_hierarchy(self) -> Hierarchy:
        """A hierarchy over all waypoints, and over edges that blocks have taken, which come back when they go."""
        graph, (lost, lost_motions) = self._waypoints.graph, self._lost
        sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
        assert graph.motions is not None
        used = (sources < graph.targets) & (graph.motions > 0)
        pairs = np.concatenate([np.column_stack([sources[used], graph.targets[used]]), lost]).astype(np.int32)
        motions = np.concatenate([graph.motions[used], lost_motions])
        hierarchy: Hierarchy = accelerate(
            Graph.from_edges(graph.points, pairs, motions=motions), "hierarchy", int(self.agent.motions)
        )
        dear = pairs[: len(pairs) - len(lost)] if self.edits.costs else pairs[:0]
        a, b = graph.points[dear[:, 0]], graph.points[dear[:, 1]]
        costs = np.linalg.norm(b - a, axis=1) * rates(self.edits.costs, a, b)
        if len(dear) or len(lost):
            hierarchy.update(np.concatenate([dear, lost]), np.concatenate([costs, np.full(len(lost), np.inf)]))
        return hierarchy

    def _repair(self, edit: Edit) -> None:
        if isinstance(self._accelerator, SubregionGraph):
            self._accelerator.repair(edit)

    def _price_hierarchy(self, before: Edits, prepared: WaypointChange) -> None:
        """Give the hierarchy the costs of its edges now, infinite where they are blocked."""
        shapes = [shape for shape, _ in (*before.costs, *prepared.zones.costs)]
        touched = [prepared.gone, prepared.back]
        if before.costs != prepared.zones.costs:
            touched += [edges_near(self._waypoints, shape, prepared.surroundings.body)[0] for shape in shapes]
        pairs = distinct(np.concatenate(touched)).rows
        if self._covered != self._spliced:
            pairs = pairs[(pairs < self._waypoints.built).all(axis=1)]  # it knows no others
        points = self._waypoints.points.astype(np.float64)
        a, b = points[pairs[:, 0]], points[pairs[:, 1]]
        costs = np.linalg.norm(b - a, axis=1) * rates(prepared.zones.costs, a, b)
        lost = {tuple(pair) for pair in prepared.lost[0].tolist()}
        costs[[tuple(pair) in lost for pair in pairs.tolist()]] = np.inf
        if len(pairs):
            self._accelerator.update(pairs, costs)


class RoamingField(Field):
    """Ways over waypoints to one goal."""

    def __init__(self, now: RoamingMap, goal: Place) -> None:
        assert goal.point is not None
        super().__init__(goal.point)
        motions = now.agent.motions
        # Edits replace what this holds or change it in place; only rows of edges change, which it does not look at.
        self._waypoints = now._waypoints.frozen(motions)
        self._motions = motions
        self._goal = goal
        self._price = price_in(now.edits.costs)
        self._trees: dict[int, Tree] = {}
        try:
            node = self._waypoints.nearest_waypoint(goal, motions)
        except OffMapError:
            return  # no waypoint leads there, but straight ways may
        self._goal = goal._replace(node=node)
        self._trees = {at: now._graph.tree(at, motions=motions) for at in (node, *goal.others)}

    def _paths(self, starts: Points) -> Sequence[Path]:
        waypoints, motions = self._waypoints, self._motions

        def search(a: int, b: int) -> Path:
            return self._trees[b].path(a)

        places = [waypoints.place(start, motions, f"starts[{at}]") for at, start in enumerate(starts)]
        return [waypoints.between(place, self._goal, motions, search, price=self._price) for place in places]
