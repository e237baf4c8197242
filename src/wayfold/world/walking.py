"""Walkers: a navigation mesh with an accelerator over its polygons (Fuentes 2015)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.core.arrays import offsets_of
from wayfold.core.locks import Portable
from wayfold.errors import EditError, OffMapError
from wayfold.field import Field
from wayfold.geometry import Mesh, TriangleIndex
from wayfold.geometry.shapes import Shape
from wayfold.graph import Graph, Tree, searcher
from wayfold.hierarchy import Hierarchy
from wayfold.map import AgentMap, Edits, off_map
from wayfold.navmesh import NavMesh, queries
from wayfold.navmesh.navmesh import mesh_of
from wayfold.navmesh.queries import shortcut
from wayfold.navmesh.snapshot import points_of
from wayfold.navmesh.why import Reasons, isles
from wayfold.path import Path, Paths, Status
from wayfold.subregions import SubregionGraph

Points = NDArray[np.float64]

_LAST_KIND = 255
"""Edits with costs take kinds of area from here downwards; the ground's own kinds begin at 1."""
_GROUND = 1
ZoneAreas = dict[tuple[int, float], int]
"""The kind of area that ground of its own kind is of in a zone with a cost."""


class WalkingSource(Portable):
    """What a walker's map is made from, which edits do not change.

    Parameters
    ----------
    mesh : Mesh
        The triangles of the world.
    areas : (n,) uint8 array or None
        Kind of area of each triangle; None for one kind everywhere.
    costs : mapping of kind of area to cost of a metre
        As long as no zone has a cost of its own.
    accelerator : str
        Name of the accelerator.
    """

    def __init__(
        self, mesh: Mesh, areas: NDArray[np.uint8] | None, costs: dict[int, float], accelerator: str = "none"
    ) -> None:
        self.mesh = mesh
        self.areas = areas
        self.costs = costs
        self.accelerator = accelerator

    @cached_property
    def index(self) -> TriangleIndex:
        """The triangles, sorted when first asked for; on them is measured why there is no way."""
        return TriangleIndex(self.mesh)

    def triangles(self) -> TriangleIndex:
        """Return `index`."""
        return self.index

    def changed(self, navmesh: NavMesh, shape: Shape, zones: Sequence[Any] = ()) -> NavMesh | None:
        """Return a mesh whose tiles around a shape are built again with zones; None for a shape beside the world."""
        (low, high), bounds = shape.bounds, self.mesh.bounds
        box = np.array([np.maximum(low, bounds[0]), np.minimum(high, bounds[1])])
        if (box[0, :2] >= box[1, :2]).any():
            return None
        box[:, 2] = low[2], high[2]
        return navmesh.changed(box, self.mesh, areas=self.areas, zones=zones)

    def unblocked(self, navmesh: NavMesh, blocks: Sequence[Shape]) -> NavMesh:
        """Return the mesh where nothing is blocked and no zone has a cost: the tiles with blocks, built again."""
        for block in blocks:
            navmesh = self.changed(navmesh, block) or navmesh
        return navmesh


class WalkingMap(AgentMap):
    """A navigation mesh with the costs of a walker and an accelerator over its polygons.

    An edit builds the touched tiles again and carries the hierarchy over, beside the old ones: queries need no lock.

    Parameters
    ----------
    source : WalkingSource
    navmesh : NavMesh
        Never rebuilt in place.
    accelerator : Hierarchy, SubregionGraph or None
    zone_areas : mapping, optional
        Kinds of area that zones with costs have taken.
    """

    any_height = float("nan")

    def __init__(
        self,
        agent: Agent,
        source: WalkingSource,
        navmesh: NavMesh,
        accelerator: Any = None,
        edits: Edits | None = None,
        zone_areas: ZoneAreas | None = None,
    ) -> None:
        super().__init__(agent, edits)
        self.source = source
        self.navmesh = navmesh
        self.mesh = navmesh.snapshot
        self.zone_areas = zone_areas or {}
        own = source.costs
        zones = {new: own.get(kind, 1.0) * cost for (kind, cost), new in self.zone_areas.items()}
        self.costs = {**own, **zones}
        self.area_costs = self.mesh.area_costs(self.costs)
        self._accelerator = accelerator
        self._links = self.mesh.links
        """Links of the mesh that an edit made this one of."""

    @property
    def map(self) -> NavMesh:
        """The navigation mesh; links that are added to it are part of the next query."""
        return self.navmesh

    @property
    def accelerator(self) -> Any:
        """The hierarchy (or subregions) over its polygons."""
        return self._accelerator

    # --- the ground now ----------------------------------------------------------------------------------------------

    @cached_property
    def reasons(self) -> Reasons:
        """Explains why there is no way."""
        return Reasons(self.mesh, self.area_costs, self.navmesh.agent, self.source.triangles)

    @cached_property
    def freed(self) -> WalkingMap | None:
        """The ground without blocks and with nothing closed; None where nothing is blocked."""
        if not self.edits.blocks:
            return None
        mesh, areas = self.source.mesh, self.source.areas
        free = self.source.unblocked(self.navmesh, self.edits.blocks)
        return WalkingMap(self.agent, WalkingSource(mesh, areas, {}), free)

    def why(self, start: Points, goal: Points) -> str:
        """Why there is no way between two points that are on the mesh."""
        found, places = self.mesh.on_mesh(points_of(start, goal), "start", "goal")
        starts, goals = self.mesh.holding(found, places, self.area_costs.closed)
        closed = False
        if self.freed is not None and len(starts) and len(goals):
            try:
                closed = self.freed.ends(start, goal)[0] is not None
            except OffMapError:
                closed = False
        return self.reasons.explain(starts.tolist(), goals.tolist(), closed)

    @cached_property
    def graph(self) -> Graph:
        """Polygons as nodes at their centres; a step costs the way through the middle of the portal."""
        return self.mesh.graph if self.area_costs.uniform == 1.0 else self.mesh.weighted(self.area_costs)

    def ends(self, start: ArrayLike, goal: ArrayLike) -> tuple[tuple[int, int] | None, Points]:
        """A polygon of a start and one of a goal with open ground between them, if any, and their places.

        A point on a border is in all polygons that touch it, so these are not always the ones that `locate` names.
        """
        found, places = self.mesh.on_mesh(points_of(start, goal), "start", "goal")
        starts, goals = self.mesh.surround(found, places, self.area_costs.closed)
        return queries.open_ends(self.mesh, starts, goals, self.area_costs), places

    def places(self, points: Points, name: str) -> tuple[NDArray[np.int32], Points]:
        """(q, k) the open polygons that each of many points is in, -1 for no more, and the places.

        All points must be on the mesh.
        """
        found, places, _ = self.mesh.find(points, None, None)
        if len(found) and found.min() < 0:
            at = int(np.argmax(found < 0))
            raise off_map(points[at], f"({name}[{at}]) is not on the navigation mesh", self.mesh.frame.extent)
        return self.mesh.table(found, places, self.area_costs.closed), places

    def pairs(self, begin: NDArray[np.int32], end: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For each start and goal one of its polygons (see `places`), with a way between them if there is one."""
        first, last = begin[:, 0].copy(), end[:, 0].copy()
        several = np.flatnonzero((begin[:, 1:] >= 0).any(axis=1) | (end[:, 1:] >= 0).any(axis=1))
        islands = self.mesh.islands(self.area_costs.closed)
        for at in several.tolist():
            some, others = begin[at][begin[at] >= 0].tolist(), end[at][end[at] >= 0].tolist()
            common = [(polygon, polygon) for polygon in some if polygon in others]
            ways = ((a, b) for a in some for b in others if islands.joined(a, b))
            first[at], last[at] = common[0] if common else next(ways, (some[0], others[0]))
        return first, last

    @property
    def smoother(self) -> Callable[[Path], Path] | None:
        """Function that shortens paths; None where costs differ, since a straight line may cost more."""
        return partial(shortcut, self.mesh, self.area_costs) if self.area_costs.even else None

    def funnel(
        self, trails: NDArray[np.int32], offsets: NDArray[np.int64], starts: Points, goals: Points, workers: int | None
    ) -> tuple[Points, NDArray[np.int64], NDArray[np.float64]]:
        """Points, offsets and costs of the shortest ways through corridors; starts and goals are places."""
        found = queries.funnel_many(self.mesh, trails, offsets, starts, goals, self.area_costs, workers)
        return self.mesh.frame.world(found[0]), found[1], found[2]

    # --- queries -----------------------------------------------------------------------------------------------------

    def path(self, start: Any, goal: Any, *, exact: bool = False) -> Path:
        """A path through a corridor of polygons; `exact` is the shortest on the mesh."""
        return self._search(start, goal, exact=exact)

    def plain(self, start: Any, goal: Any) -> Path:
        """A path through the corridor that A* finds."""
        return self._search(start, goal, plain=True)

    def _search(self, start: Any, goal: Any, *, exact: bool = False, plain: bool = False) -> Path:
        ends, places = self.ends(start, goal)
        if ends is None:
            return Path(Status.UNREACHABLE, why=partial(self.why, np.array(start, float), np.array(goal, float)))
        first, last = ends
        # Links may come and go meanwhile, so not over the mesh as it is by now.
        best = mesh_of(self.mesh, self.agent).path(start, goal, costs=self.costs) if exact else None
        if best is not None and self.area_costs.even:
            return best
        if first == last and self.area_costs.even:
            return queries.placed(self.mesh, queries.same_polygon(first, places[0], places[1], self.area_costs.lowest))
        nodes = (self.graph if plain or self.accelerator is None else self.accelerator).path(first, last)
        if not nodes:
            return nodes
        path = queries.funnel(self.mesh, nodes.nodes, places[0], places[1], self.area_costs)
        path.expanded = nodes.expanded
        path.timings = nodes.timings
        path._smoother = self.smoother
        queries.placed(self.mesh, path)
        if best is None:
            return path
        # Where costs differ the exact search may miss a corridor by a hair: the better one of the two.
        path._lower_bound = best._lower_bound
        return path if path.cost < best.cost else best

    def paths(self, starts: Points, goals: Points, *, exact: bool = False, workers: int | None = None) -> Paths:
        """The paths of many queries; quick ones cross into the kernels once for all."""
        if exact:
            return super().paths(starts, goals, exact=True, workers=workers)
        begin, begins = self.places(starts, "starts")
        end, ends = self.places(goals, "goals")
        fast = self.graph if self.accelerator is None else self.accelerator
        if isinstance(fast, SubregionGraph) or min(begin[:, 0].min(initial=0), end[:, 0].min(initial=0)) < 0:
            return super().paths(starts, goals, workers=workers)
        nodes = fast.paths(*self.pairs(begin, end), workers=workers)
        points, offsets, costs = self.funnel(nodes.nodes, nodes.offsets, begins, ends, workers)
        return Paths(
            nodes.statuses, costs, nodes.expanded, offsets, searcher.NO_NODES, points, self.smoother,
            lambda at: self.why(starts[at], goals[at]),
        )  # fmt: skip

    def reachable(self, start: Any, goal: Any) -> bool:
        """Whether open ground joins two points."""
        return self.ends(start, goal)[0] is not None

    def nearest(self, point: Points) -> Points:
        """The nearest open place, within ten times the agent's size."""
        most = 10.0 * max(self.agent.radius, self.agent.height)
        place = self.navmesh.nearest(point[None], max_distance=most, costs=self.costs)[0]
        if np.isnan(place[0]):
            what = f"has no ground that the agent can stand on within {most:g} m"
            raise off_map(point, what, float(np.ptp(self.source.mesh.bounds, axis=0).max()))
        return np.asarray(place)

    def expanded(self, start: Any, goal: Any) -> Points:
        """Centres of the polygons that a quick query settles."""
        ends, _ = self.ends(start, goal)
        if ends is None:
            return np.empty((0, 3))
        nodes = settled(self.graph, self.accelerator, *ends, 255)
        return self.graph.points[nodes].astype(np.float64)

    def drape(self, points: Points, spacing: float) -> Points:
        """Points with more between them, on the ground."""
        parts = np.maximum(1, np.ceil(np.hypot(*np.diff(points[:, :2], axis=0).T) / spacing)).astype(np.int64)
        ends = offsets_of(parts)
        at = np.arange(ends[-1] + 1)
        line = np.column_stack([np.interp(at, ends, points[:, axis]) for axis in range(3)])
        # Far enough up and down for any hill between two corners; of several floors the nearest counts at first.
        size = self.agent.height
        found, places, _ = self.mesh.find(line, None, 10.0 * size)
        line[found >= 0, 2] = self.mesh.frame.world(places)[found >= 0, 2]
        line[ends] = points
        # Between two corners a way may lead over a bridge, high above both: where floors lie over each other it is the
        # one that the walk from the point before comes to. A link's leg is no walk.
        lowest, highest = self._outermost(line, top=False), self._outermost(line, top=True)
        several = (highest - lowest > 0.5 * size) & (found >= 0)
        several[ends] = False
        for k in np.flatnonzero(several).tolist():
            if found[k - 1] >= 0:
                hit = self.navmesh.raycast(line[k - 1], line[k])
                if hit.fraction >= 1.0:
                    line[k, 2] = hit.point[2]
        return line

    def _outermost(self, line: Points, *, top: bool) -> NDArray[np.float64]:
        """Height of the highest or the lowest floor at each point, NaN where there is none."""
        low, high = self.source.mesh.bounds[:, 2]
        # From as far away as the world is high, so that the nearest floor is the outermost.
        away = high + (high - low) + 1.0 if top else low - (high - low) - 1.0
        _, places, _ = self.mesh.find(np.column_stack([line[:, :2], np.full(len(line), away)]), None, np.inf)
        return np.asarray(places[:, 2])

    def field(self, goal: Any) -> Field:
        """The ways over polygons to one goal."""
        found, places = self.mesh.on_mesh(points_of(goal), "goal")
        return WalkingField(self, places[0], self.mesh.holding(found, places, self.area_costs.closed)[0].tolist())

    def random_points(self, count: int, *, seed: int = 0) -> Points:
        """Places in the largest part of the open ground."""
        sizes = np.where(self.area_costs.closed[self.mesh.areas] == 0, self.mesh.topology.polygon_areas, 0.0)
        if not sizes.any():
            raise OffMapError("the agent can be nowhere: all of its ground is blocked")
        labels = self.graph.components()
        largest = int(np.argmax(np.bincount(labels, weights=sizes)))
        return self.mesh.scattered(np.where(labels == largest, sizes, 0.0), count, seed)

    def islands(self) -> tuple[NDArray[np.float64], str]:
        """Square metres of the connected parts of the open ground."""
        return isles(self.mesh, self.area_costs).sizes, "m2"

    def remark(self) -> str:
        """Whether levels are of use."""
        small = isinstance(self.accelerator, Hierarchy) and self.accelerator.top_level == 0
        return "a map this small is searched as fast without its levels, so queries leave them out" if small else ""

    # --- changes -----------------------------------------------------------------------------------------------------

    def changed(self, edits: Edits) -> WalkingMap:
        """The map after one edit more: touched tiles are built again, and so is what belongs to them above."""
        source = self.source
        zones: list[Any] = [(block.outline, block.low, block.high, 0) for block in edits.blocks]
        zone_areas = areas_of(edits, self.zone_areas, source.costs)
        zones += [(zone.outline, zone.low, zone.high, table_of(zone_areas, cost)) for zone, cost in edits.costs]
        links = self.mesh.links
        navmesh = source.changed(self.navmesh, self.edits.step_to(edits), zones)
        if navmesh is None:  # nothing of the mesh is touched
            after = copy.copy(self)
            after.edits = edits
            return after
        after = WalkingMap(self.agent, source, navmesh, None, edits, zone_areas)
        after._links = links
        kept = after.mesh.kept
        if isinstance(self.accelerator, Hierarchy) and kept is not None and len(kept):
            after._accelerator = self.accelerator.changed(after.graph, kept)
        elif len(after.mesh.areas):
            after._accelerator = accelerate(after.graph, source.accelerator)
        return after

    def succeed(self, before: AgentMap) -> None:
        """Take over the links that came or went while this map was made."""
        older, newer = before.map, self.navmesh
        with older._edit:
            links, following = older.snapshot.links, older.snapshot.next_link
            came = following != newer.snapshot.next_link or links is not self._links
            if newer is not older and came:
                newer._snapshot = newer.snapshot.with_links(links, following)

    def latest(self) -> WalkingMap:
        """The map with the links that its mesh has by now."""
        return self if self.navmesh.snapshot is self.mesh else self._renewed()

    def refreshed(self) -> WalkingMap:
        """The map with another accelerator: one that was carried over many edits may have grown slow."""
        return self._renewed() if len(self.mesh.areas) else self

    def _renewed(self) -> WalkingMap:
        """The same ground as its mesh is now, with another accelerator."""
        fresh = WalkingMap(self.agent, self.source, self.navmesh, None, self.edits, self.zone_areas)
        if len(fresh.mesh.areas):
            fresh._accelerator = accelerate(fresh.graph, self.source.accelerator)
        return fresh


class WalkingField(Field):
    """Ways over polygons to one goal."""

    _any_height = WalkingMap.any_height

    def __init__(self, now: WalkingMap, goal: Points, polygons: list[int]) -> None:
        super().__init__(now.mesh.frame.world(goal))
        self._now = now
        self._place = goal
        # The polygons around a goal are mostly joined; where closed ground parts them, each part has its own tree.
        labels = now.mesh.islands(now.area_costs.closed).labels
        parts = {int(labels[polygon]): polygon for polygon in reversed(polygons)}
        self._trees: list[Tree] = [now.graph.tree(polygon) for polygon in parts.values()]

    def _paths(self, starts: Points) -> Sequence[Path]:
        found, points, offsets, costs = self._ways(starts)
        statuses = np.where(np.isfinite(costs), Status.FOUND.value, Status.UNREACHABLE.value).astype(np.uint8)
        expanded = np.zeros(len(found), np.int64)
        return Paths(
            statuses, costs, expanded, offsets, searcher.NO_NODES, points, self._now.smoother,
            lambda at: self._now.why(starts[at], self.goal),
        )  # fmt: skip

    def cost(self, points: ArrayLike) -> NDArray[np.float64]:
        """(q,) what the path from each point costs, infinite where there is none."""
        return self._ways(checks.points3(points, "points", self._any_height))[3]

    def _ways(self, starts: Points) -> tuple[NDArray[np.int32], Points, NDArray[np.int64], NDArray[np.float64]]:
        table, places = self._now.places(starts, "starts")
        rows = np.arange(len(table))
        goals = np.ascontiguousarray(np.broadcast_to(self._place, places.shape))
        best, found = np.full(len(table), np.inf), np.full(len(table), -1, np.int32)
        parts = []
        for tree in self._trees:
            # Of the polygons that a start is in the one with the shortest way.
            costs = np.where(table >= 0, tree.costs[table], np.inf)
            choice = costs.argmin(axis=1)
            better = costs[rows, choice] < best
            best = np.where(better, costs[rows, choice], best)
            found = np.where(better, table[rows, choice], found).astype(np.int32)
            parts.append(np.where(better, table[rows, choice], -1).astype(np.int32))
        for at in range(len(parts) - 1):
            for later in parts[at + 1 :]:
                parts[at][later >= 0] = -1
        ways = [
            self._now.funnel(*tree.trails(part), places, goals, None)
            for tree, part in zip(self._trees, parts, strict=True)
        ]
        if not ways:
            return found, np.empty((0, 3)), np.zeros(len(table) + 1, np.int64), best
        if len(ways) == 1:
            return found, *ways[0]
        lines = [np.concatenate([points[offsets[q] : offsets[q + 1]] for points, offsets, _ in ways]) for q in rows]
        offsets = offsets_of([len(line) for line in lines])
        return found, np.concatenate(lines), offsets, np.min([costs for _, _, costs in ways], axis=0)


def areas_of(zones: Edits, before: ZoneAreas, ground: dict[int, float]) -> ZoneAreas:
    """A kind of area for the ground's own kinds in zones with costs, by kind and cost.

    Those that there were before stay, since their tiles do. WalkingSource that is closed to the agent gets none.
    """
    own = sorted({_GROUND, *ground} - {kind for kind, rate in ground.items() if np.isinf(rate)})
    wanted = [(kind, cost) for cost in sorted({cost for _, cost in zones.costs}) for kind in own]
    found = {pair: before[pair] for pair in wanted if pair in before}
    free = (kind for kind in range(_LAST_KIND, 1, -1) if kind not in before.values() and kind not in ground)
    for pair in wanted:
        if pair not in found:
            kind = next(free, None)
            if kind is None:
                raise EditError("a navigation mesh has no room for more than about 250 kinds of ground with costs")
            found[pair] = kind
    return found


def table_of(zone_areas: ZoneAreas, cost: float) -> NDArray[np.uint8]:
    """New area of each kind of area in a zone with a cost, including areas of zones below it."""
    table = np.arange(256, dtype=np.uint8)
    for own, here in zone_areas:
        table[own] = zone_areas[own, cost]
        table[zone_areas[own, here]] = zone_areas[own, cost]
    return table


def accelerate(graph: Graph, name: str, motions: int | None = None, progress: Any = None) -> Any:
    """An accelerator over a graph; None for subregions where a link leads one way only, which they do not know."""
    if name == "hierarchy":
        hierarchy = Hierarchy.build(graph, progress=progress)
        if motions is not None and graph.motions is not None:
            hierarchy.customise(motions=motions)
        return hierarchy
    return SubregionGraph.build(graph, motions) if name == "subregions" and not graph.directed else None


def settled(graph: Graph, accelerator: Any, first: int, last: int, motions: int) -> NDArray[np.int64]:
    """Nodes that a search settles: over the whole graph, or where the accelerator lets it."""
    if accelerator is not None:
        nodes: NDArray[np.int64] = accelerator.expanded(first, last)
        return nodes
    return graph.expanded(first, last, motions=None if motions == 255 else motions)
