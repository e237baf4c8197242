"""Edits of a waypoint graph while it is in use (Wardhana et al. 2015, section 8): a wall falls, a door closes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import ALL_MOTIONS
from wayfold.core import checks
from wayfold.core.arrays import offsets_of
from wayfold.errors import EditError, OffMapError, ParameterError
from wayfold.graph import Graph
from wayfold.waypoints import edit_kernels
from wayfold.waypoints.regions import Regions

if TYPE_CHECKING:
    from wayfold.waypoints.waypoints import WaypointGraph

SPARE = 8  # slots for new edges that a row gets when it gets new room
_NO_COSTS = np.empty(0, np.float32)


class Edit(NamedTuple):
    """What an update changed; `SubregionGraph.repair` takes it."""

    edges: NDArray[np.int32]
    """(e, 2), edges that were added, removed or got other motions."""
    added: bool
    """Whether an edge is new, or can be used by more motions than before."""


def update(
    waypoints: WaypointGraph,
    edges: ArrayLike | None,
    motions: ArrayLike | None,
    costs: ArrayLike | None,
    remove: ArrayLike | None,
    add_waypoints: ArrayLike | None,
    remove_waypoints: ArrayLike | None,
) -> Edit:
    """See `WaypointGraph.update`."""
    more = np.empty((0, 3)) if add_waypoints is None else checks.points3(add_waypoints, "add_waypoints")
    count = waypoints.num_waypoints + len(more)
    pairs = _pairs(edges, "edges", count)
    gone = _pairs(remove, "remove", waypoints.num_waypoints)
    dead = _nodes(remove_waypoints, waypoints.num_waypoints)
    edge_motions = _column(motions, len(pairs), "motions", 1, int(ALL_MOTIONS))
    prices = _prices(waypoints.graph, costs, len(pairs))
    home = _region_of(waypoints.layout, more)
    make_room(waypoints)
    graph = waypoints.graph
    assert graph.motions is not None
    lost = edit_kernels.missing_edge(graph.offsets, graph.targets, graph.motions, gone)
    if lost >= 0:
        raise EditError(f"remove[{lost}] {gone[lost].tolist()} is not an edge; nothing was changed")
    if len(more):
        _append(waypoints, more, home)
        graph = waypoints.graph
        assert graph.motions is not None
    gone = np.concatenate([gone, _edges_of(graph, dead)])
    waypoints.removed[dead] = True
    waypoints._count_edges(-edit_kernels.drop_edges(graph.offsets, graph.targets, graph.motions, gone))
    done = 0
    while done < len(pairs):
        prices_kept = _NO_COSTS if graph.costs is None else graph.costs
        done, fresh = edit_kernels.set_edges(
            graph.offsets, graph.targets, graph.motions, prices_kept, pairs, edge_motions, prices, done
        )
        waypoints._count_edges(int(fresh))
        if done < len(pairs):
            make_room(waypoints, again=True)
            graph = waypoints.graph
            assert graph.motions is not None
    _lower_scale(graph, pairs, prices)
    touched = np.concatenate([gone, pairs])
    waypoints._forget(np.unique(touched))
    waypoints.edits += 1
    return Edit(np.ascontiguousarray(touched), bool(len(pairs)))


def splice(
    waypoints: WaypointGraph,
    points: NDArray[np.float64],
    home: NDArray[np.int32],
    edges: NDArray[np.int32],
    motions: NDArray[np.uint8],
) -> tuple[Edit, NDArray[np.int32]]:
    """See `WaypointGraph.splice`."""
    make_room(waypoints)
    total = waypoints.num_waypoints
    free = np.flatnonzero(waypoints.removed)[: len(points)].astype(np.int32)
    numbers = np.concatenate([free, total + np.arange(len(points) - len(free), dtype=np.int32)]).astype(np.int32)
    where = edges.copy()
    where[edges >= total] = numbers[edges[edges >= total] - total]
    _renew(waypoints, points, home, numbers, where)
    graph = waypoints.graph
    assert graph.motions is not None
    _, fresh = edit_kernels.set_edges(
        graph.offsets, graph.targets, graph.motions, _NO_COSTS, where, motions, _NO_COSTS, 0
    )
    waypoints._count_edges(int(fresh))
    waypoints._forget(np.unique(where))
    waypoints.edits += 1
    return Edit(np.ascontiguousarray(where), True), numbers


def _renew(
    waypoints: WaypointGraph,
    points: NDArray[np.float64],
    home: NDArray[np.int32],
    numbers: NDArray[np.int32],
    edges: NDArray[np.int32],
) -> None:
    """Put waypoints at numbers, some of them new, with room for their edges."""
    graph, layout = waypoints.graph, waypoints.layout
    assert graph.motions is not None
    total = max(graph.num_nodes, int(numbers.max(initial=-1)) + 1)
    where = np.zeros((total, 3), graph.points.dtype)
    where[: graph.num_nodes] = graph.points
    where[numbers] = points
    of = np.full((total, 2), -1, np.int32)
    of[: graph.num_nodes] = layout.of
    of[numbers] = home
    offsets = np.concatenate([graph.offsets, np.full(total - graph.num_nodes, graph.offsets[-1])])
    sizes = np.diff(offsets)
    need = np.bincount(edges.ravel(), minlength=total)
    kept = np.flatnonzero(need[: graph.num_nodes])
    need[kept] += np.bincount(edges_from(graph, kept)[0], minlength=len(kept))
    if total == graph.num_nodes and (need <= sizes).all():
        waypoints.graph = Graph(where, graph.offsets, graph.targets, graph.costs, graph.motions)
    else:
        graph.offsets = offsets
        _replace(waypoints, where, np.where(need > sizes, need + SPARE, sizes))
    waypoints.layout = Regions.from_pairs(layout.boxes, of, layout.shape)
    removed = np.zeros(total, np.bool_)
    removed[: len(waypoints.removed)] = waypoints.removed
    removed[numbers] = False
    waypoints.removed = removed
    waypoints._usable.clear()
    waypoints._tree = None


def trim(waypoints: WaypointGraph, count: int) -> Edit:
    """See `WaypointGraph.trim`; the first `count` waypoints stay."""
    graph, layout = waypoints.graph, waypoints.layout
    assert graph.motions is not None
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    used = np.flatnonzero(graph.motions > 0)
    degrees = np.bincount(rows[used], minlength=count)[:count]
    offsets = offsets_of(degrees + SPARE)
    targets, motions = np.empty(int(offsets[-1]), np.int32), np.zeros(int(offsets[-1]), np.uint8)
    edit_kernels.spare_targets(offsets, targets)
    slots = np.arange(len(used)) + np.repeat(offsets[:-1] - (np.cumsum(degrees) - degrees), degrees)
    targets[slots], motions[slots] = graph.targets[used], graph.motions[used]
    costs = None
    if graph.costs is not None:
        costs = np.full(int(offsets[-1]), np.inf, np.float32)
        costs[slots] = graph.costs[used]
    waypoints.graph = Graph(graph.points[:count].copy(), offsets, targets, costs, motions)
    waypoints.layout = Regions.from_pairs(layout.boxes, layout.of[:count].copy(), layout.shape)
    waypoints.removed = waypoints.removed[:count].copy()
    waypoints.built = min(waypoints.built, count)
    waypoints._usable.clear()
    waypoints._tree = None
    waypoints.edits += 1
    return Edit(np.empty((0, 2), np.int32), False)


def _lower_scale(graph: Graph, pairs: NDArray[np.int32], prices: NDArray[np.float32]) -> None:
    """Keep the straight distance a lower bound where edges are cheaper a metre than any was."""
    if not prices.size:
        return
    ends = graph.points[pairs]
    lengths = np.sqrt(((ends[:, 0] - ends[:, 1]) ** 2).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        graph.scale = float(np.fmin.reduce(prices / lengths, initial=graph.scale))


def make_room(waypoints: WaypointGraph, *, again: bool = False) -> None:
    """Give every row spare slots, unless it has had some already."""
    if waypoints._editable and not again:
        return
    graph = waypoints.graph
    sizes = np.diff(graph.offsets) + SPARE
    waypoints._count_edges(0)  # count while the rows hold nothing but edges
    _replace(waypoints, graph.points, sizes)
    waypoints._editable = True


def _replace(waypoints: WaypointGraph, points: NDArray[np.float64], sizes: NDArray[np.int64]) -> None:
    """Move the rows of the graph to rows of the given sizes."""
    graph = waypoints.graph
    offsets = offsets_of(sizes)
    targets = np.empty(int(offsets[-1]), np.int32)
    motions = np.zeros(int(offsets[-1]), np.uint8)
    edit_kernels.spare_targets(offsets, targets)
    every = np.full(graph.targets.size, int(ALL_MOTIONS), np.uint8) if graph.motions is None else graph.motions
    edit_kernels.copy_rows(graph.offsets, graph.targets, offsets, targets)
    edit_kernels.copy_rows(graph.offsets, every, offsets, motions)
    costs = None
    if graph.costs is not None:
        costs = np.full(int(offsets[-1]), np.inf, np.float32)
        edit_kernels.copy_rows(graph.offsets, graph.costs, offsets, costs)
    waypoints.graph = Graph(points, offsets, targets, costs, motions)


def _append(waypoints: WaypointGraph, more: NDArray[np.float64], home: NDArray[np.int32]) -> None:
    graph, layout = waypoints.graph, waypoints.layout
    sizes = np.concatenate([np.diff(graph.offsets), np.full(len(more), SPARE)])
    old = graph.offsets
    graph.offsets = np.concatenate([old, np.full(len(more), old[-1])])
    _replace(waypoints, np.concatenate([graph.points, more]), sizes)
    waypoints.layout = Regions.from_pairs(layout.boxes, np.concatenate([layout.of, home]), layout.shape)
    waypoints.removed = np.concatenate([waypoints.removed, np.zeros(len(more), np.bool_)])


def edges_from(graph: Graph, nodes: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The edges of some waypoints: which of them, counted from 0, and where they lead."""
    sizes = graph.offsets[nodes + 1] - graph.offsets[nodes]
    slots = np.repeat(graph.offsets[nodes] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
    rows = np.repeat(np.arange(len(nodes)), sizes)
    assert graph.motions is not None
    used = graph.motions[slots] > 0
    return rows[used], graph.targets[slots[used]]


def _edges_of(graph: Graph, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
    """The edges of some nodes, ascending, from the lower of each pair of removed nodes only."""
    rows, ends = edges_from(graph, nodes)
    # Parallel edges go together.
    keys = np.unique(nodes[rows].astype(np.int64) * graph.num_nodes + ends)
    pairs = np.column_stack([keys // graph.num_nodes, keys % graph.num_nodes]).astype(np.int32)
    return np.ascontiguousarray(pairs[(pairs[:, 0] <= pairs[:, 1]) | ~_among(pairs[:, 1], nodes)])


def _among(values: NDArray[np.int32], nodes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which values are among some ascending nodes."""
    index = np.searchsorted(nodes, values)
    found = index < len(nodes)
    found[found] = nodes[index[found]] == values[found]
    return found


def _region_of(layout: Regions, points: NDArray[np.float64]) -> NDArray[np.int32]:
    """Regions of new waypoints."""
    home = np.full((len(points), 2), -1, np.int32)
    for index, point in enumerate(points):
        inside = np.flatnonzero(((point >= layout.boxes[:, :3]) & (point <= layout.boxes[:, 3:])).all(axis=1))
        if not len(inside):
            raise OffMapError(f"add_waypoints[{index}] {point.tolist()} lies in no region")
        home[index, : min(2, len(inside))] = inside[:2]
    return home


def _pairs(edges: ArrayLike | None, name: str, nodes: int) -> NDArray[np.int32]:
    if edges is None:
        return np.empty((0, 2), np.int32)
    array = checks.nodes(edges, name, nodes, "waypoint")
    if array.size == 0:
        return np.empty((0, 2), np.int32)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ParameterError(f"{name} must be whole numbers of shape (k, 2), not of shape {array.shape}")
    if (array[:, 0] == array[:, 1]).any():
        raise ParameterError(f"{name} joins a waypoint with itself: {array[array[:, 0] == array[:, 1]][0].tolist()}")
    return array


def _nodes(nodes: ArrayLike | None, count: int) -> NDArray[np.int32]:
    if nodes is None:
        return np.empty(0, np.int32)
    return np.unique(checks.nodes(nodes, "remove_waypoints", count, "waypoint"))


def check_splice(
    waypoints: WaypointGraph, points: Any, home: Any, edges: Any, motions: Any
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]:
    """What `WaypointGraph.splice` is given, as kernels take it."""
    where = checks.points3(points, "points")
    homes = checks.wholes(home, "home")
    if homes.shape != (len(where), 2) or (
        homes.size and not (homes.min() >= -1 and homes.max() < len(waypoints.layout.boxes) and homes[:, 0].min() >= 0)
    ):
        raise ParameterError(f"home must hold one or two regions for each of the {len(where)} points, -1 for none")
    pairs = _pairs(edges, "edges", waypoints.num_waypoints + len(where))
    return where, homes.astype(np.int32), pairs, _column(motions, len(pairs), "motions", 1, int(ALL_MOTIONS))


def _column(values: ArrayLike | None, count: int, name: str, low: int, high: int) -> NDArray[Any]:
    if values is None:
        return np.full(count, high, np.uint8)
    array = checks.wholes(values, name)
    if array.shape not in ((), (1,), (count,)) or (array.size and not (array.min() >= low and array.max() <= high)):
        raise ParameterError(f"{name} must be whole numbers from {low} to {high}, one for each edge")
    return np.array(np.broadcast_to(array, (count,)), np.uint8)


def _prices(graph: Graph, costs: ArrayLike | None, count: int) -> NDArray[np.float32]:
    if graph.costs is None:
        if costs is not None:
            raise ParameterError("costs are for a graph that stores costs: this one uses Euclidean lengths")
        return _NO_COSTS
    if costs is None and count:
        raise ParameterError("this graph stores costs: give the cost of every edge that is set")
    array = np.empty(0) if costs is None else checks.floats(costs, "costs")
    if array.shape != (count,):
        raise ParameterError(f"costs must be {count} numbers, one for each edge, not of shape {array.shape}")
    checks.costs(array)
    return np.ascontiguousarray(array, np.float32)
