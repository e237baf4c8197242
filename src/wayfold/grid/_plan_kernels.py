# mypy: ignore-errors
"""Planning on the sparse grid: a route of regions refined to cells, and paths checked after edits (paper 001)."""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import implements, inline, kernel
from wayfold.graph._kernels import HEAP_FULL, UNLIMITED, begin, cost, distance, drop_top, relax, slots, target
from wayfold.grid._kernels import octile, walk_straight
from wayfold.grid._pool_kernels import first_edge, region_named
from wayfold.grid._sparse_kernels import ClearSpace, SparseSpace, cell_cost, cell_slots, cell_target, position
from wayfold.grid._store_kernels import FREE_KIND, node_at, owner

DONE = 0
TRAIL_FULL = 1


class CorridorSpace(NamedTuple):
    """The cells of a few regions."""

    whole: SparseSpace
    window: np.ndarray  # (w,) int32, the regions that may be entered


@implements(slots, CorridorSpace)
def _(space, node):
    return cell_slots(space.whole, node)


@implements(target, CorridorSpace)
def _(space, node, slot):
    successor = cell_target(space.whole, node, slot)
    if successor >= 0:
        region = owner(space.whole.store, successor)
        for allowed in space.window:
            if allowed == region:
                return np.int32(successor)
    return np.int32(-1)


@implements(cost, CorridorSpace)
def _(space, node, slot, successor):
    return cell_cost(space.whole, node, slot, successor)


@implements(distance, CorridorSpace)
def _(space, node, goal):
    x, y = position(space.whole.store, node)
    goal_x, goal_y = position(space.whole.store, goal)
    return octile(goal_x - x, goal_y - y)


@inline
def centre_node(store, region):
    """The cell at a region's centre."""
    centre = np.int64(store.centre[region])
    return node_at(store, region, centre & 15, centre >> 4)


@kernel
def refine(space, state, route, start, goal, ahead, scale, trim, trail):
    """Refine a route of regions to cells, a few regions at a time; any cell of the next region will do.

    Parameters
    ----------
    space : SparseSpace
    route : (k,) int32
        Regions from that of `start` to that of `goal`, each linked to the next.
    ahead : int, >= 1
        How many regions each small search looks ahead.
    scale : float64
        Weight of the estimate of those searches.
    trim : float64, 0 to 1
        Share of each leg that is dropped before the next one is planned, as far as it enters the next region at least.
    trail : (n,) int32
        Where the cells of the path go.

    Returns
    -------
    (status, cells, settled) : DONE, HEAP_FULL or TRAIL_FULL, length of the path, settled cells
    """
    store = space.store
    current = start
    trail[0] = start
    count = 1
    settled = 0
    at = 0
    while current != goal:
        last = min(at + ahead, route.size - 1)
        final = last == route.size - 1
        aim = goal if final else centre_node(store, np.int64(route[last]))
        corridor = CorridorSpace(space, route[at : last + 1])
        clock = begin(state, current)
        size = 1
        node = current
        while size > 0:
            node = np.int64(state.nodes[0])
            size = drop_top(state, size)
            settled += 1
            if node == goal or (not final and owner(store, node) == route[last]):
                break
            size = relax(corridor, state, size, clock, node, aim, scale, UNLIMITED)
            if size < 0:
                return HEAP_FULL, 0, settled
        length = 0
        back = node
        while back != current:
            length += 1
            back = np.int64(state.parent[back])
        if count + length > trail.size:
            return TRAIL_FULL, 0, settled
        back = node
        for place in range(count + length - 1, count - 1, -1):
            trail[place] = back
            back = np.int64(state.parent[back])
        if trim > 0.0 and not final:
            length = max(1, length - np.int64(trim * length))
            while owner(store, np.int64(trail[count + length - 1])) == route[at]:  # every leg gets on
                length += 1
            node = np.int64(trail[count + length - 1])
            while route[last] != owner(store, node):
                last -= 1
        count += length
        current = node
        at = last
    return DONE, count, settled


@kernel
def holding(space, nodes, cells):
    """How many legs of a path can still be walked, counted from its start and from its end.

    `nodes` (k,) int32 with -1 where a cell is gone, `cells` (k, 3) int64. A leg is a step, a link or a straight walk.
    """
    legs = nodes.size - 1
    from_start = 0
    while from_start < legs and leg_holds(space, nodes, cells, from_start):
        from_start += 1
    from_end = 0
    while from_end < legs - from_start and leg_holds(space, nodes, cells, legs - 1 - from_end):
        from_end += 1
    return from_start, from_end


@inline
def leg_holds(space, nodes, cells, leg):
    """Whether one leg of a path can still be walked."""
    if nodes[leg] < 0 or nodes[leg + 1] < 0:
        return False
    return move_cost(space, nodes[leg], nodes[leg + 1]) < np.inf or walk_cost(space, nodes, cells, leg) < np.inf


@inline
def move_cost(space, node, end):
    """Cost of the cheapest step or link from one cell to another as the search has it, infinite where there is none."""
    cheapest = np.inf
    first, last = cell_slots(space, node)
    for slot in range(first, last):
        if cell_target(space, node, slot) == end:
            cheapest = min(cheapest, cell_cost(space, node, slot, end))
    return cheapest


@inline
def walk_cost(space, nodes, cells, leg):
    """Length of a straight walk that enters no cell under an area effect, infinite where there is none."""
    x, y = cells[leg + 1, 0] - cells[leg, 0], cells[leg + 1, 1] - cells[leg, 1]
    if walk_straight(ClearSpace(space), nodes[leg], x, y) != nodes[leg + 1]:
        return np.inf
    return np.sqrt(np.float64(x * x + y * y))


@kernel
def leg_costs(space, nodes, cells, straight):
    """Cost of a path: the sum of its legs, which are steps, links, or straight walks over cells without effects.

    Where `straight` is not set, no leg is a straight walk as long as all can be steps and links: a link from which one
    could as well walk costs what it costs. Infinite where a leg is none of the three.
    """
    total = 0.0
    for leg in range(nodes.size - 1):
        move = move_cost(space, nodes[leg], nodes[leg + 1])
        total += move
        straight = straight or not move < np.inf
    if not straight:
        return total
    total = 0.0
    for leg in range(nodes.size - 1):
        total += min(move_cost(space, nodes[leg], nodes[leg + 1]), walk_cost(space, nodes, cells, leg))
    return total


@kernel
def list_regions(store, centres, edges, supports):
    """Write the centre node of every region, and the ends and support of every abstract edge."""
    region_count, edge_count = 0, 0
    for region in range(store.base.size):
        if store.kind[region] == FREE_KIND:
            continue
        centres[region_count] = centre_node(store, region)
        region_count += 1
        first = first_edge(store, region)
        for at in range(first, first + np.int64(store.count[region])):
            edges[edge_count, 0] = region
            edges[edge_count, 1] = region_named(store, region, np.int64(store.records[at]) >> 12)
            supports[edge_count] = np.int64(store.records[at]) & 0xFFF
            edge_count += 1
