# mypy: ignore-errors
"""Searches on the sparse grid: successors of cells and regions, and routes refined to cells (Sturtevant 2011)."""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import implements, inline, kernel
from wayfold.graph.search_kernels import HEAP_FULL, UNLIMITED, begin, cost, distance, drop_top, relax, slots, target
from wayfold.grid._dense_kernels import DIAGONAL, octile, walk_straight
from wayfold.grid._edit_kernels import link_bits
from wayfold.grid._store_kernels import (
    BLOCKED,
    EIGHT_BIT,
    FREE_KIND,
    HIGHEST_OFFSET,
    ONE_BIT,
    REGULAR,
    SMART,
    STEP_X,
    STEP_Y,
    Store,
    beyond,
    box_of,
    effects_in,
    effects_of,
    first_edge,
    first_node,
    get_external,
    height_of,
    node_at,
    offset_of,
    own_head,
    owner,
    place_of,
    region_named,
)


class CellLinks(NamedTuple):
    """Edges between cells that need not be neighbours (ladders, lifts), by cell and by region, each sorted by source.

    They take the slots behind the eight directions of a cell and behind the abstract edges of a region.
    """

    sources: np.ndarray  # (k,) int32, nodes
    ends: np.ndarray  # (k,) int32
    costs: np.ndarray  # (k,) float64, at least the octile distance of the two cells
    region_sources: np.ndarray  # (k,) int32
    region_ends: np.ndarray  # (k,) int32
    region_costs: np.ndarray  # (k,) float64


@inline
def first_link(sources, source):
    """Place of the first link from a source, or where it would be."""
    low, high = 0, sources.size
    while low < high:
        middle = (low + high) >> 1
        if sources[middle] < source:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def count_links(sources, source):
    """Number of links from a source."""
    first = first_link(sources, source)
    last = first
    while last < sources.size and sources[last] == source:
        last += 1
    return last - first


class SparseSpace(NamedTuple):
    """Cells of a sparse grid; a node is its index in the cell pool."""

    store: Store
    weight: float  # what each area effect adds to the cost of a step, as a multiple of its length
    links: CellLinks


@inline
def own_neighbour(store, region, node, cx, cy, direction, lone):
    """The cell beside a cell where it is surely in the same region, -1 where that has to be looked up.

    The movement bit must be set. In the only region of a sector there is nothing else to link to; otherwise a cell of
    the same height is the nearest of its column.
    """
    left, top, width, height = box_of(store, region)
    x, y = cx + STEP_X[direction] - left, cy + STEP_Y[direction] - top
    if x < 0 or y < 0 or x >= width or y >= height:
        return np.int64(-1)
    other = node + STEP_Y[direction] * width + STEP_X[direction]
    offset = offset_of(store.cells[other])
    if offset == BLOCKED or not (lone or offset == offset_of(store.cells[node])):
        return np.int64(-1)
    return other


@inline
def successor_node(space, node, direction):
    """The cell that a step in a direction leads to, -1 where there is no such edge."""
    store = space.store
    bits = np.int64(store.cells[node]) & 255
    if bits >> direction & 1 == 0:
        return np.int64(-1)
    region = owner(store, node)
    if store.way == EIGHT_BIT:
        if get_external(store, region, node) >> direction & 1 == 0:
            width = (np.int64(store.box[region]) >> 8 & 15) + 1
            return node + STEP_Y[direction] * width + STEP_X[direction]
    cx, cy = place_of(store, region, node)
    if store.way == SMART or store.way == ONE_BIT:
        other = own_neighbour(store, region, node, cx, cy, direction, False)
        if other >= 0:
            return other
    return beyond(store, region, own_head(store, region), cx, cy, height_of(store, region, node), direction)


@inline
def cell_slots(space, node):
    """Slots of a cell: eight directions and its links."""
    if space.links.sources.size == 0:
        return 0, 8
    return 0, 8 + count_links(space.links.sources, node)


@inline
def cell_target(space, node, slot):
    """The cell that a step or a link leads to, -1 for none."""
    if slot < 8:
        return successor_node(space, node, slot)
    return np.int64(space.links.ends[first_link(space.links.sources, node) + slot - 8])


@inline
def cell_cost(space, node, slot, successor):
    """Cost of a step or a link; area effects on the cell that is entered raise it."""
    if slot < 8:
        length = DIAGONAL if slot & 1 else 1.0
    else:
        length = space.links.costs[first_link(space.links.sources, node) + slot - 8]
    return length * (1.0 + space.weight * effects_of(space.store.cells[successor]))


@implements(slots, SparseSpace)
def _(space, node):
    return cell_slots(space, node)


@implements(target, SparseSpace)
def _(space, node, slot):
    return np.int32(cell_target(space, node, slot))


@implements(cost, SparseSpace)
def _(space, node, slot, successor):
    return cell_cost(space, node, slot, successor)


@inline
def position(store, node):
    """Column and row of a cell in the whole grid."""
    region = owner(store, node)
    cx, cy = place_of(store, region, node)
    x = np.int64(store.sector_x[region]) * store.size + cx
    return x, np.int64(store.sector_y[region]) * store.size + cy


@implements(distance, SparseSpace)
def _(space, node, goal):
    x, y = position(space.store, node)
    goal_x, goal_y = position(space.store, goal)
    return octile(goal_x - x, goal_y - y)


class BackSpace(NamedTuple):
    """A sparse grid whose steps are all turned round, for one without one-way edges and links.

    Area effects on the cell that is left raise the cost of a step: it is the one that is entered on the way there.
    """

    whole: SparseSpace


@implements(slots, BackSpace)
def _(space, node):
    return 0, 8


@implements(target, BackSpace)
def _(space, node, slot):
    return np.int32(successor_node(space.whole, node, slot))


@implements(cost, BackSpace)
def _(space, node, slot, successor):
    length = DIAGONAL if slot & 1 else 1.0
    return length * (1.0 + space.whole.weight * effects_of(space.whole.store.cells[node]))


@implements(distance, BackSpace)
def _(space, node, goal):
    x, y = position(space.whole.store, node)
    goal_x, goal_y = position(space.whole.store, goal)
    return octile(goal_x - x, goal_y - y)


class ClearSpace(NamedTuple):
    """A sparse grid in which cells under area effects cannot be entered: where paths may be pulled straight."""

    whole: SparseSpace


@implements(target, ClearSpace)
def _(space, node, slot):
    successor = successor_node(space.whole, node, slot)
    if successor >= 0 and effects_of(space.whole.store.cells[successor]) > 0:
        return np.int32(-1)
    return np.int32(successor)


class RegionSpace(NamedTuple):
    """Regions of a sparse grid, its abstract edges and links."""

    store: Store
    weight: float
    links: CellLinks


@implements(slots, RegionSpace)
def _(space, node):
    store = space.store
    if store.kind[node] == FREE_KIND:
        return np.int64(0), np.int64(0)
    first = first_edge(store, node)
    last = first + np.int64(store.count[node])
    if space.links.region_sources.size > 0:
        last += count_links(space.links.region_sources, node)
    return first, last


@inline
def region_link(space, node, slot):
    """Place of the link in a slot of a region, -1 where the slot holds an abstract edge."""
    behind = slot - first_edge(space.store, node) - np.int64(space.store.count[node])
    return behind if behind < 0 else first_link(space.links.region_sources, node) + behind


@implements(target, RegionSpace)
def _(space, node, slot):
    link = region_link(space, node, slot)
    if link >= 0:
        return space.links.region_ends[link]
    return np.int32(region_named(space.store, node, np.int64(space.store.records[slot]) >> 12))


@inline
def centre_of(store, region):
    """Column and row of a region's centre in the whole grid."""
    centre = np.int64(store.centre[region])
    x = np.int64(store.sector_x[region]) * store.size + (centre & 15)
    return x, np.int64(store.sector_y[region]) * store.size + (centre >> 4)


@implements(cost, RegionSpace)
def _(space, node, slot, successor):
    store = space.store
    x, y = centre_of(store, node)
    to_x, to_y = centre_of(store, successor)
    effects = effects_in(store, node) / (np.int64(store.free[node]) + 1)
    effects += effects_in(store, successor) / (np.int64(store.free[successor]) + 1)
    length = octile(to_x - x, to_y - y)
    link = region_link(space, node, slot)
    if link >= 0:
        length += space.links.region_costs[link]
    return length * (1.0 + 0.5 * space.weight * effects)


@implements(distance, RegionSpace)
def _(space, node, goal):
    x, y = centre_of(space.store, node)
    goal_x, goal_y = centre_of(space.store, goal)
    return octile(goal_x - x, goal_y - y)


# --- successors in five ways (Table 1) -------------------------------------------------------------------------------


@inline
def successors_of(store, node, out, spots):
    """Write the successors of a cell to `out` (8,) int32, one for each direction, -1 for none, in the store's way.

    Regular tests the cells around without the stored bits. Naive turns every step into coordinates and looks them up.
    Smart does so only where a step may leave the region, which 1-bit has stored for the cell and 8-bit for each edge.
    """
    region = owner(store, node)
    bits = np.int64(store.cells[node]) & 255
    way = store.way
    if way >= ONE_BIT:
        width = (np.int64(store.box[region]) >> 8 & 15) + 1
        outside = get_external(store, region, node)
        if way == ONE_BIT and outside:
            outside = 255
        inside = bits & ~outside
        for direction in range(8):
            other = node + STEP_Y[direction] * width + STEP_X[direction]
            out[direction] = other if inside >> direction & 1 else -1
        bits &= outside
        if bits == 0:
            return
    else:
        for direction in range(8):
            out[direction] = -1
    cx, cy = place_of(store, region, node)
    head = own_head(store, region)
    if way == REGULAR:
        bits = link_bits(store, spots, region, node, cx, cy)
    elif way == SMART or way == ONE_BIT:
        lone = head == region and store.follow[region] < 0
        for direction in range(8):
            if bits >> direction & 1:
                other = own_neighbour(store, region, node, cx, cy, direction, lone)
                if other >= 0:
                    out[direction] = other
                    bits &= ~(1 << direction)
    z = height_of(store, region, node)
    for direction in range(8):
        if bits >> direction & 1:
            out[direction] = beyond(store, region, head, cx, cy, z, direction)


@kernel
def sparse_successors(store, node, out, spots):
    """Write the successors of a cell to `out` (8,) int32; `spots` (8,) int64 is scratch."""
    successors_of(store, node, out, spots)


@kernel
def sum_successors(store, nodes, out, spots):
    """Generate the successors of each node; return the sum of them all and their number, for the benchmark."""
    total, count = 0, 0
    for node in nodes:
        successors_of(store, np.int64(node), out, spots)
        for direction in range(8):
            if out[direction] >= 0:
                total += out[direction]
                count += 1
    return total, count


@kernel
def positions(store, nodes, cells):
    """Write the coordinates of nodes to `cells` (k, 3) int64."""
    for at in range(nodes.size):
        x, y = position(store, np.int64(nodes[at]))
        cells[at, 0] = x
        cells[at, 1] = y
        cells[at, 2] = height_of(store, owner(store, np.int64(nodes[at])), np.int64(nodes[at]))


@kernel
def nearest_cells(store, points, scale, limit, out):
    """Write the cell nearest to each point to `out` (q, 3) float64.

    `points` (q, 3) float64 are cell coordinates, `scale` (3,) float64 the lengths of a cell's sides; NaN stands where
    the square of the distance is larger than `limit`. Of equally near cells the first by row, column and height is
    taken.
    """
    for query in range(len(points)):
        x, y, z = points[query, 0], points[query, 1], points[query, 2]
        least = limit
        found = False
        found_x, found_y, found_z = np.int64(0), np.int64(0), np.int64(0)
        for region in range(store.base.size):
            if store.kind[region] == FREE_KIND:
                continue
            left, top, width, height = box_of(store, region)
            first_x = np.int64(store.sector_x[region]) * store.size + left
            first_y = np.int64(store.sector_y[region]) * store.size + top
            base = np.int64(store.base[region])
            across = max(first_x - x, x - (first_x + width - 1), 0.0) * scale[0]
            along = max(first_y - y, y - (first_y + height - 1), 0.0) * scale[1]
            upward = max(base - z, z - (base + HIGHEST_OFFSET), 0.0) * scale[2]
            if across * across + along * along + upward * upward > least:
                continue
            node = first_node(store, region)
            for row in range(height):
                for column in range(width):
                    offset = offset_of(store.cells[node])
                    node += 1
                    if offset == BLOCKED:
                        continue
                    cell_x, cell_y, cell_z = first_x + column, first_y + row, base + offset
                    across, along, upward = (cell_x - x) * scale[0], (cell_y - y) * scale[1], (cell_z - z) * scale[2]
                    apart = across * across + along * along + upward * upward
                    if apart > least:
                        continue
                    if found and apart == least:
                        if cell_y > found_y or (cell_y == found_y and cell_x > found_x):
                            continue
                        if cell_y == found_y and cell_x == found_x and cell_z > found_z:
                            continue
                    least, found = apart, True
                    found_x, found_y, found_z = cell_x, cell_y, cell_z
        out[query] = np.nan
        if found:
            out[query, 0] = found_x
            out[query, 1] = found_y
            out[query, 2] = found_z


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
