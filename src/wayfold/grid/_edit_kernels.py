# mypy: ignore-errors
"""One edit of the sparse grid from beginning to end: links, regions, splits (Sturtevant 2011).

Constants are passed to helpers as np.int64(...): Numba compiles a function anew for every literal it is called with.

Edges are a pure function of the cells, so that no order of edits leaves a trace in them: two cells of neighbouring
columns are linked when each is the nearest cell of its column to the other, within a step.

An edit runs in phases. When a pool is too small it stops between two steps and says so; the caller makes the pool
larger and calls again. What is wrong with the cells is found before anything changes.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline, kernel
from wayfold.grid._store_kernels import (
    BLOCKED,
    CELLS,
    COLUMNS,
    EDGE_TAIL,
    EDGES,
    EIGHT_BIT,
    FREE_KIND,
    GRANULE,
    GRANULE_TAIL,
    HIGHEST_OFFSET,
    MOST_EFFECTS,
    NO_CELL,
    ONE_BIT,
    ORIGIN_X,
    ORIGIN_Y,
    REGION_TAIL,
    ROWS,
    STEP_X,
    STEP_Y,
    alone,
    below,
    beyond,
    block_size,
    box_of,
    change_support,
    column_beside,
    edges_left,
    effects_in,
    effects_of,
    exactly,
    first_edge,
    first_node,
    first_shelved,
    free_region,
    get_external,
    granules_for,
    head_of,
    height_of,
    locate,
    move_block,
    new_region,
    next_shelved,
    node_at,
    offset_of,
    own_head,
    owner,
    place_of,
    probe,
    put_on_shelves,
    region_size,
    room_for,
    set_effects,
    set_external,
    set_marks,
    shelved,
    support_of,
    take_off_shelves,
    wrap,
)

# Answers of an edit.
DONE, GROW, GROW_SECTORS, ALREADY_THERE, NOT_THERE, TWICE, TOO_HIGH, TOO_FAR, TOO_MANY, TOO_FEW = range(10)

# Positions in Work.state.
PHASE, AT, COLUMN_COUNT, TOUCHED_COUNT, WRONG, LOW_X, LOW_Y, HIGH_X, HIGH_Y, PLACED, CROWDED = range(11)
STATE_SIZE = 11

SUSPECT, JOIN, LISTED = 1, 2, 4  # marks of regions during an edit

# What a sweep does to the cells of columns. PUT_BACK trusts the stored external edges, PUT_BACK_ALL finds them again.
CLEAR, RELINK, TAKE_OFF, PUT_BACK, PUT_BACK_ALL = range(5)


class Work(NamedTuple):
    """Scratch of one edit."""

    state: np.ndarray  # (STATE_SIZE,) int64
    table: np.ndarray  # (2**k,) int64, hash table
    columns: np.ndarray  # (9 n + 324, 4) int32, sector and place of the columns around edited cells
    touched: np.ndarray  # (regions,) int32
    labels: np.ndarray  # (256,) int16, part of each cell of a region
    queue: np.ndarray  # (256,) int16
    spots: np.ndarray  # (8,) int64


@inline
def touch(store, work, region, mark):
    """Remember that a region has to be looked at before the edit ends."""
    if store.touch[region] & LISTED == 0:
        work.touched[work.state[TOUCHED_COUNT]] = region
        work.state[TOUCHED_COUNT] += 1
    store.touch[region] |= np.uint8(mark | LISTED)


# --- edges -----------------------------------------------------------------------------------------------------------


@inline
def nearest_back(store, node, z):
    """Whether a cell is the nearest of its column to height z."""
    region = owner(store, node)
    cx, cy = place_of(store, region, node)
    best, _ = probe(store, own_head(store, region), cx, cy, z, store.kind[region])
    return best == node


@inline
def link_bits(store, spots, region, node, cx, cy):
    """Movement bits of a cell from the cells around it (the edges of Figure 3), as pure function of the cells.

    A diagonal is there when both cells that it passes are linked to both of its ends. Only in columns of several cells
    does anything have to be looked up a second time. `spots` (8,) int64 gets the cells that the edges lead to.
    """
    z = height_of(store, region, node)
    kind = store.kind[region]
    head = own_head(store, region)
    lone = head == region and store.follow[region] < 0
    crowd = False
    if not lone:
        _, crowd = probe(store, head, cx, cy, z, kind)
    left, top, width, height = box_of(store, region)
    bits, crowded = 0, 0
    for direction in range(8):
        tx, ty = cx + STEP_X[direction], cy + STEP_Y[direction]
        if lone and 0 <= tx < store.size and 0 <= ty < store.size:
            other, several = np.int64(-1), False
            if left <= tx < left + width and top <= ty < top + height:
                other = node + STEP_Y[direction] * width + STEP_X[direction]
                offset = offset_of(store.cells[other])
                if offset == BLOCKED or abs(np.int64(store.base[region]) + offset - z) > store.step:
                    other = np.int64(-1)
        else:
            there, tx, ty = column_beside(store, region, head, cx, cy, direction)
            other, several = probe(store, there, tx, ty, z, kind)
        if several:
            crowded |= 1 << direction
        if other >= 0:
            if crowd and not nearest_back(store, node, height_of(store, owner(store, other), other)):
                other = np.int64(-1)
        spots[direction] = other
    for direction in range(8):
        other = spots[direction]
        if other < 0:
            continue
        if direction & 1:
            other_height = height_of(store, owner(store, other), other)
            passable = True
            for side in range(2):
                beside = (direction + 2 * side - 1) & 7
                corner = spots[beside]
                if corner < 0:
                    passable = False
                    break
                corner_height = height_of(store, owner(store, corner), corner)
                if (
                    abs(corner_height - other_height) > store.step
                    or (crowded >> direction & 1 and not nearest_back(store, other, corner_height))
                    or (crowded >> beside & 1 and not nearest_back(store, corner, other_height))
                ):
                    passable = False
                    break
            if not passable:
                continue
        bits |= 1 << direction
    if store.drop > 0:
        for direction in range(0, 8, 2):
            if bits >> direction & 1 == 0:
                there, tx, ty = column_beside(store, region, head, cx, cy, direction)
                spots[direction], _ = probe(store, there, tx, ty, z, kind)
                if spots[direction] < 0:
                    spots[direction] = below(store, there, tx, ty, z, kind)
                    if spots[direction] >= 0:
                        bits |= 1 << direction
    return bits


@inline
def find_spots(store, spots, region, node, cx, cy, bits):
    """Write the cells that a cell's edges lead to, one for each of the bits, to `spots` (8,) int64."""
    z = height_of(store, region, node)
    head = own_head(store, region)
    for direction in range(8):
        if bits >> direction & 1:
            spots[direction] = beyond(store, region, head, cx, cy, z, direction)


@inline
def count_edges(store, spots, region, bits, change):
    """Add to the supports of the abstract edges that edges of a cell belong to; return which edges are external."""
    external = 0
    for direction in range(8):
        if bits >> direction & 1:
            other = owner(store, spots[direction])
            if other != region:
                external |= 1 << direction
                change_support(store, region, other, change)
    return external


@inline
def edges_wanted(store, sx, sy, more):
    """Places that the edge lists of a sector may take from the pool when each grows by `more` records."""
    wanted = 0
    region = head_of(store, sx, sy)
    while region >= 0:
        wanted += 2 << room_for(np.int64(store.count[region]) + more)
        region = np.int64(store.follow[region])
    return wanted


@helper
def sweep(store, work, first, last, task, only):
    """Do a task for all cells (of the region `only`, where it is not -1) of a range of columns.

    Returns the column where it stopped, `last` when it is through; it stops before a column for lack of edges.
    """
    for at in range(first, last):
        column = work.columns[at]
        sx, sy, cx, cy = np.int64(column[0]), np.int64(column[1]), np.int64(column[2]), np.int64(column[3])
        region = head_of(store, sx, sy) if only < 0 else np.int64(only)
        if region >= 0 and task == RELINK:
            wanted = 2 << room_for(np.int64(store.count[region]) + 8)  # a cell's edges are those of its own region
            if only < 0:
                wanted = edges_wanted(store, sx, sy, np.int64(8))
            if edges_left(store) < wanted:
                return at
        while region >= 0:
            node = node_at(store, region, cx, cy)
            if node >= 0 and offset_of(store.cells[node]) != BLOCKED:
                bits = np.int64(store.cells[node]) & 255
                change = 1
                if task == RELINK:
                    bits = link_bits(store, work.spots, region, node, cx, cy)
                    store.cells[node] = np.int64(store.cells[node]) & 0xFF00 | bits
                else:
                    if task == CLEAR or task == TAKE_OFF:
                        change = -1
                    if store.way == EIGHT_BIT and task != PUT_BACK_ALL:
                        bits &= get_external(store, region, node)
                    find_spots(store, work.spots, region, node, cx, cy, bits)
                if bits:
                    external = count_edges(store, work.spots, region, bits, change)
                    if task != TAKE_OFF:
                        set_external(store, region, node, external)
                elif task == RELINK:
                    set_external(store, region, node, np.int64(0))
                if task == CLEAR:
                    store.cells[node] = np.int64(store.cells[node]) & 0xFF00
                    set_external(store, region, node, np.int64(0))
            region = np.int64(store.follow[region]) if only < 0 else np.int64(-1)
    return last


@inline
def collect_box(store, work, region, left, top, width, height):
    """List the columns of a box of a sector and those around it behind the edit's own; return their range."""
    first = work.state[COLUMN_COUNT]
    count = first
    for row in range(top - 1, top + height + 1):
        for column in range(left - 1, left + width + 1):
            sx, sy = np.int64(store.sector_x[region]), np.int64(store.sector_y[region])
            sx, sy, cx, cy = wrap(store, sx, sy, column, row)
            work.columns[count, 0] = sx
            work.columns[count, 1] = sy
            work.columns[count, 2] = cx
            work.columns[count, 3] = cy
            count += 1
    return first, count


@inline
def edges_around(store, region, more):
    """Whether the edge pool has room for moving cells from or to a region that gets up to `more` edges by that."""
    if store.frame[EDGES] == 0:  # a grid that is being filled has no edges yet
        return True
    sx, sy = np.int64(store.sector_x[region]), np.int64(store.sector_y[region])
    wanted = 2 << room_for(np.int64(store.count[region]) + more + 8)
    for row in range(-1, 2):
        for column in range(-1, 2):
            wanted += edges_wanted(store, sx + column, sy + row, np.int64(2))
    return edges_left(store) >= wanted


@inline
def beside(store, region, cx, cy, z):
    """Whether a region has a cell next to a place, within a step of height z."""
    for direction in range(0, 8, 2):
        node = node_at(store, region, cx + STEP_X[direction], cy + STEP_Y[direction])
        if node >= 0 and offset_of(store.cells[node]) != BLOCKED:
            if abs(height_of(store, region, node) - z) <= store.step:
                return True
    return False


@inline
def takes(store, region, cx, cy, z, kind):
    """Whether a point can be added to a region."""
    if store.kind[region] != kind or not beside(store, region, cx, cy, z):
        return False
    node = node_at(store, region, cx, cy)
    if node >= 0 and offset_of(store.cells[node]) != BLOCKED:
        return False
    offset = z - np.int64(store.base[region])
    if 0 <= offset <= HIGHEST_OFFSET:
        return True
    low, high = height_range(store, region)
    return max(high, z) - min(low, z) <= HIGHEST_OFFSET


@helper
def choose(store, sx, sy, cx, cy, z, kind):
    """The first region of a sector that a point can be added to (Algorithm 1), -1 for none."""
    head = head_of(store, sx, sy)
    near = min(store.step, HIGHEST_OFFSET)
    best = np.int64(-1)
    if shelved(store, head, z - near, z + near):
        shelf, entry = first_shelved(store, head, z - near)
        while True:
            region, shelf, entry = next_shelved(store, head, shelf, entry, z + near)
            if region < 0:
                break
            if (best < 0 or store.ordinal[region] < store.ordinal[best]) and takes(store, region, cx, cy, z, kind):
                best = region
    else:
        best = head
        while best >= 0 and not takes(store, best, cx, cy, z, kind):
            best = np.int64(store.follow[best])
    if best >= 0:
        offset = z - np.int64(store.base[best])
        if offset < 0 or offset > HIGHEST_OFFSET:
            low, _ = height_range(store, best)
            rebase(store, best, min(low, z))
    return best


@inline
def joins(store, region, other, cx, cy, z):
    """Whether a new cell of a region touches another region that fits into it."""
    if other == region or store.kind[other] != store.kind[region] or not beside(store, other, cx, cy, z):
        return False
    return fits(store, region, other)


@helper
def joined(store, region, sx, sy, cx, cy, z):
    """The first region of the sector that a new cell of `region` touches too and that fits into it, -1 for none."""
    head = head_of(store, sx, sy)
    near = min(store.step, HIGHEST_OFFSET)
    best = np.int64(-1)
    if shelved(store, head, z - near, z + near):
        shelf, entry = first_shelved(store, head, z - near)
        while True:
            other, shelf, entry = next_shelved(store, head, shelf, entry, z + near)
            if other < 0:
                return best
            if (best < 0 or store.ordinal[other] < store.ordinal[best]) and joins(store, region, other, cx, cy, z):
                best = other
    best = head
    while best >= 0 and not joins(store, region, best, cx, cy, z):
        best = np.int64(store.follow[best])
    return best


@helper
def suspect(store, work, sx, sy, cx, cy, z):
    """Look again at the regions of a sector some of whose links a new cell may take: those near it in its column."""
    head = head_of(store, sx, sy)
    near = 2 * store.step
    if shelved(store, head, z - near, z + near):
        shelf, entry = first_shelved(store, head, z - near)
        while True:
            region, shelf, entry = next_shelved(store, head, shelf, entry, z + near)
            if region < 0:
                return
            node = node_at(store, region, cx, cy)
            if node >= 0 and offset_of(store.cells[node]) != BLOCKED:
                touch(store, work, region, np.int64(SUSPECT))
    region = head
    while region >= 0:
        touch(store, work, region, np.int64(SUSPECT))
        region = np.int64(store.follow[region])


@helper
def place(store, work, cells, kinds, merge, bulk):
    """Greedy Point Addition (Algorithm 1) from cell state[AT] on; returns DONE or why it stopped there."""
    state = work.state
    while state[AT] < len(cells):
        x, y, z = cells[state[AT], 0], cells[state[AT], 1], cells[state[AT], 2]
        sx, sy = x // store.size, y // store.size
        cx, cy = x - sx * store.size, y - sy * store.size
        kind = kinds[state[AT]] if kinds.size > 1 else kinds[0]
        if state[PLACED] < 0:
            if bulk and exactly(store, sx, sy, cx, cy, z) >= 0:  # otherwise found out before
                state[WRONG] = state[AT]
                return TWICE
            region = choose(store, sx, sy, cx, cy, z, kind)
            if region < 0:
                region = new_region(store, sx, sy, kind, z, cx, cy, np.int64(1), np.int64(1))
                if region < 0:
                    state[CROWDED] |= region == -2
                    return GROW
            elif grow_box(store, region, cx, cy, cx + 1, cy + 1):
                store.free[region] += np.uint8(1)
            else:
                return GROW
            store.cells[node_at(store, region, cx, cy)] = (z - np.int64(store.base[region])) << 8
            store.frame[CELLS] += 1
            touch(store, work, region, np.int64(0))
            state[PLACED] = region
        if not alone(store, state[PLACED]):
            while merge:
                keep, gone = state[PLACED], joined(store, state[PLACED], sx, sy, cx, cy, z)
                if gone < 0:
                    break
                if store.free[keep] < store.free[gone]:
                    keep, gone = gone, keep
                if not unite(store, work, keep, gone):
                    return GROW
                touch(store, work, keep, np.int64(0))
                state[PLACED] = keep
            if not alone(store, state[PLACED]):
                suspect(store, work, sx, sy, cx, cy, z)
        state[PLACED] = -1
        state[AT] += 1
    return DONE


@helper
def cut(store, work, cells):
    """Make cells impassable; regions without cells are given back."""
    for at in range(len(cells)):
        node = locate(store, cells[at, 0], cells[at, 1], cells[at, 2])
        region = owner(store, node)
        set_effects(store, region, effects_in(store, region) - effects_of(store.cells[node]))
        store.cells[node] = NO_CELL
        set_external(store, region, node, np.int64(0))
        store.frame[CELLS] -= 1
        if store.free[region] == 0:
            free_region(store, region)
        else:
            store.free[region] -= np.uint8(1)
            touch(store, work, region, np.int64(SUSPECT))


@inline
def recentre(store, region):
    """Make the cell nearest to the mean of a region's cells its centre."""
    left, top, width, height = box_of(store, region)
    first = first_node(store, region)
    count = np.int64(store.free[region]) + 1
    sum_x, sum_y = 0, 0
    node = first
    for y in range(height):
        for x in range(width):
            if offset_of(store.cells[node]) != BLOCKED:
                sum_x += x
                sum_y += y
            node += 1
    nearest = np.int64(1) << 60
    node = first
    for y in range(height):
        for x in range(width):
            if offset_of(store.cells[node]) != BLOCKED:
                distance = (x * count - sum_x) ** 2 + (y * count - sum_y) ** 2
                if distance < nearest:
                    nearest = distance
                    store.centre[region] = (left + x) | (top + y) << 4
            node += 1


@inline
def height_range(store, region):
    """Lowest and highest cell of a region."""
    low, high = 1 << 20, -(1 << 20)
    _, _, width, height = box_of(store, region)
    first = first_node(store, region)
    for node in range(first, first + width * height):
        offset = offset_of(store.cells[node])
        if offset != BLOCKED:
            low, high = min(low, offset), max(high, offset)
    base = np.int64(store.base[region])
    return base + low, base + high


@inline
def rebase(store, region, base):
    """Count a region's heights from another base."""
    shift = np.int64(store.base[region]) - base
    if shift == 0:
        return
    take_off_shelves(store, region)
    store.base[region] = base
    put_on_shelves(store, region)
    _, _, width, height = box_of(store, region)
    first = first_node(store, region)
    for node in range(first, first + width * height):
        if offset_of(store.cells[node]) != BLOCKED:
            store.cells[node] = np.int64(store.cells[node]) + (shift << 8)


@inline
def grow_box(store, region, left, top, right, bottom):
    """Make a region's box cover another box; False when the pool must grow."""
    old_left, old_top, width, height = box_of(store, region)
    new_left, new_top = min(left, old_left), min(top, old_top)
    new_width = max(right, old_left + width) - new_left
    new_height = max(bottom, old_top + height) - new_top
    if new_width == width and new_height == height:
        return True
    return move_block(store, region, new_left, new_top, new_width, new_height, store.marks[region] >= 0)


@inline
def flood(store, work, region):
    """Label the connected parts of a region; return their number, the largest, and one of the others.

    Straight edges within the region are enough: every diagonal has two of them beside it.
    """
    labels, queue = work.labels, work.queue
    _, _, width, height = box_of(store, region)
    first = first_node(store, region)
    for at in range(width * height):
        labels[at] = -1
    parts, largest, most, other = 0, 0, 0, 0
    for root in range(width * height):
        if labels[root] >= 0 or offset_of(store.cells[first + root]) == BLOCKED:
            continue
        labels[root] = parts
        queue[0] = root
        head, tail = 0, 1
        while head < tail:
            at = np.int64(queue[head])
            head += 1
            bits = np.int64(store.cells[first + at]) & 0x55
            if store.way == EIGHT_BIT:
                bits &= ~get_external(store, region, first + at)
            for direction in range(0, 8, 2):
                if bits >> direction & 1 == 0:
                    continue
                if store.way == EIGHT_BIT:
                    node = first + at + STEP_Y[direction] * width + STEP_X[direction]
                else:
                    cx, cy = place_of(store, region, first + at)
                    node = beyond(
                        store, region, own_head(store, region), cx, cy, height_of(store, region, first + at), direction
                    )
                    if owner(store, node) != region:
                        continue
                to = node - first
                # A drop within the region leads only one way and joins nothing.
                if labels[to] < 0 and abs(offset_of(store.cells[node]) - offset_of(store.cells[first + at])) <= (
                    store.step
                ):
                    labels[to] = parts
                    queue[tail] = to
                    tail += 1
        if tail > most:
            if parts > 0:
                other = largest
            largest, most = parts, tail
        else:
            other = parts
        parts += 1
    return parts, largest, other


@inline
def move_cells(store, source, part, labels, region):
    """Move the cells of a part (or all, where it is -1) of a region to another region whose box covers them."""
    left, top, width, height = box_of(store, source)
    first = first_node(store, source)
    shift = np.int64(store.base[source]) - np.int64(store.base[region])
    moved, effects = 0, 0
    for at in range(width * height):
        node = first + at
        if offset_of(store.cells[node]) == BLOCKED or (part >= 0 and labels[at] != part):
            continue
        row = at // width
        cx, cy = left + at - row * width, top + row
        to = node_at(store, region, cx, cy)
        store.cells[to] = np.int64(store.cells[node]) + (shift << 8)
        if store.way >= ONE_BIT:
            set_external(store, region, to, get_external(store, source, node))
        store.cells[node] = NO_CELL
        set_external(store, source, node, np.int64(0))
        moved += 1
        effects += effects_of(store.cells[to])
    set_effects(store, source, effects_in(store, source) - effects)
    set_effects(store, region, effects_in(store, region) + effects)
    return moved


@helper
def split(store, work, region):
    """Make all but the largest connected part of a region regions of their own; False when a pool must grow."""
    # Where other regions lie between, a diagonal may join parts that no straight edges join, and so may drops: moving
    # one of the parts then makes external edges of internal ones.
    plain = alone(store, region) and store.drop == 0
    while True:
        parts, _, part = flood(store, work, region)
        if parts == 1:
            return True
        if not edges_around(store, region, np.int64(store.count[region])):
            return False
        left, top, width, height = box_of(store, region)
        low_x, low_y, high_x, high_y = 16, 16, -1, -1
        for at in range(width * height):
            if work.labels[at] == part:
                row = at // width
                column = at - row * width
                low_x, high_x = min(low_x, column), max(high_x, column)
                low_y, high_y = min(low_y, row), max(high_y, row)
        low_x, high_x, low_y, high_y = low_x + left, high_x + left, low_y + top, high_y + top
        other = new_region(
            store,
            np.int64(store.sector_x[region]),
            np.int64(store.sector_y[region]),
            store.kind[region],
            np.int64(store.base[region]),
            low_x,
            low_y,
            high_x - low_x + 1,
            high_y - low_y + 1,
        )
        if other < 0:
            work.state[CROWDED] |= other == -2
            return False
        first, last = collect_box(store, work, region, low_x, low_y, high_x - low_x + 1, high_y - low_y + 1)
        sweep(store, work, first, last, np.int64(TAKE_OFF), np.int64(-1))
        moved = move_cells(store, region, part, work.labels, other)
        store.free[other] = moved - 1
        store.free[region] = np.int64(store.free[region]) - moved
        sweep(store, work, first, last, np.int64(PUT_BACK if plain else PUT_BACK_ALL), np.int64(-1))
        touch(store, work, other, np.int64(JOIN))


@inline
def fits(store, keep, gone):
    """Whether all cells of one region can be added to another."""
    low, high = height_range(store, keep)
    other_low, other_high = height_range(store, gone)
    if max(high, other_high) - min(low, other_low) > HIGHEST_OFFSET:
        return False
    left, top, width, height = box_of(store, gone)
    first = first_node(store, gone)
    for at in range(width * height):
        if offset_of(store.cells[first + at]) != BLOCKED:
            row = at // width
            node = node_at(store, keep, left + at - row * width, top + row)
            if node >= 0 and offset_of(store.cells[node]) != BLOCKED:
                return False
    return True


@inline
def mergeable(store, region):
    """A region of the same sector that a region is linked to and can be united with, -1 for none."""
    first = first_edge(store, region)
    same_sector = False
    for at in range(first, first + np.int64(store.count[region])):
        same_sector |= store.records[at] >> np.uint32(28) == 4
    if not same_sector:
        return np.int64(-1)
    left, top, width, height = box_of(store, region)
    node = first_node(store, region)
    for cy in range(top, top + height):
        for cx in range(left, left + width):
            bits = np.int64(store.cells[node]) & 0x55
            if store.way == EIGHT_BIT:
                bits &= get_external(store, region, node)
            if bits and offset_of(store.cells[node]) != BLOCKED:
                z = height_of(store, region, node)
                for direction in range(0, 8, 2):
                    tx, ty = cx + STEP_X[direction], cy + STEP_Y[direction]
                    if bits >> direction & 1 and 0 <= tx < store.size and 0 <= ty < store.size:
                        target = beyond(store, region, own_head(store, region), cx, cy, z, direction)
                        other = owner(store, target)
                        if other != region and abs(height_of(store, other, target) - z) <= store.step:
                            if fits(store, region, other):
                                return other
            node += 1
    return np.int64(-1)


@helper
def unite(store, work, keep, gone):
    """Move all cells of a region to another of its sector that they fit into; False when a pool must grow."""
    if not edges_around(store, keep, np.int64(store.count[gone])):
        return False
    left, top, width, height = box_of(store, gone)
    if not grow_box(store, keep, left, top, left + width, top + height):
        return False
    if store.base[keep] != store.base[gone]:
        low, _ = height_range(store, keep)
        other_low, _ = height_range(store, gone)
        rebase(store, keep, min(low, other_low))
        rebase(store, gone, min(low, other_low))
    rename_edges(store, keep, gone)
    moved = move_cells(store, gone, np.int64(-1), work.labels, keep)
    store.free[keep] = np.int64(store.free[keep]) + moved
    free_region(store, gone)
    if store.way >= ONE_BIT:
        refresh_external(store, work.spots, keep)
    return True


@inline
def rename_edges(store, keep, gone):
    """Let the abstract edges from and to a region start and end at another region of its sector instead."""
    if store.frame[EDGES] == 0:
        return
    sx, sy = np.int64(store.sector_x[gone]), np.int64(store.sector_y[gone])
    for row in range(-1, 2):
        for column in range(-1, 2):
            other = head_of(store, sx + column, sy + row)
            while other >= 0:
                for turn in range(2):
                    source, end = (other, gone) if turn == 0 else (gone, other)
                    support = support_of(store, source, end)
                    if support > 0:
                        change_support(store, source, end, -support)
                        if other != keep:
                            source, end = (other, keep) if turn == 0 else (keep, other)
                            change_support(store, source, end, support)
                other = np.int64(store.follow[other])


@inline
def refresh_external(store, spots, region):
    """Find out again which of the edges that left a region still do."""
    left, top, width, height = box_of(store, region)
    node = first_node(store, region)
    for cy in range(top, top + height):
        for cx in range(left, left + width):
            external = get_external(store, region, node)
            if external:
                bits = np.int64(store.cells[node]) & 255
                if store.way == EIGHT_BIT:
                    bits = external
                find_spots(store, spots, region, node, cx, cy, bits)
                for direction in range(8):
                    if bits >> direction & 1 and owner(store, spots[direction]) == region:
                        bits &= ~(1 << direction)
                set_external(store, region, node, bits)
            node += 1


@helper
def join(store, work, region):
    """Unite a region with linked regions of its sector as long as one fits; False when a pool must grow."""
    while True:
        other = mergeable(store, region)
        if other < 0:
            return True
        if store.free[region] < store.free[other]:
            region, other = other, region
        if not unite(store, work, region, other):
            return False
        touch(store, work, region, np.int64(JOIN))


CHECK, TAKE, PLACE, LINK, SPLIT, UNITE, FINISH = range(7)  # phases

FARTHEST = 1 << 30  # of x and y, in cells


@inline
def scramble(x, y, z):
    """A hash of three integers."""
    mixed = x * 0x1B873593 ^ y * 0x2545F491 ^ z * 0x4CF5AD43
    return (mixed ^ mixed >> 15) & 0x7FFFFFFF


@kernel
def check(store, work, cells, adding):
    """Whether an edit is possible: DONE, or what is wrong, with the cell in state[WRONG]."""
    state, table, frame = work.state, work.table, store.frame
    size = store.size
    low_x, low_y, high_x, high_y = FARTHEST, FARTHEST, -FARTHEST, -FARTHEST
    for at in range(len(cells)):
        x, y, z = cells[at, 0], cells[at, 1], cells[at, 2]
        state[WRONG] = at
        if z < -32768 or z > 32767:
            return TOO_HIGH
        if abs(x) >= FARTHEST or abs(y) >= FARTHEST:
            return TOO_FAR
        sx, sy = x // size, y // size
        low_x, low_y, high_x, high_y = min(low_x, sx), min(low_y, sy), max(high_x, sx), max(high_y, sy)
        there = exactly(store, sx, sy, x - sx * size, y - sy * size, z) >= 0
        if there and adding:
            return ALREADY_THERE
        if not there and not adding:
            return NOT_THERE
    if table.size:
        table[:] = -1
        for at in range(len(cells)):
            x, y, z = cells[at, 0], cells[at, 1], cells[at, 2]
            slot = scramble(x, y, z) & (table.size - 1)
            while table[slot] >= 0:
                other = table[slot]
                if cells[other, 0] == x and cells[other, 1] == y and cells[other, 2] == z:
                    state[WRONG] = at
                    return TWICE
                slot = (slot + 1) & (table.size - 1)
            table[slot] = at
    if adding and (
        low_x < frame[ORIGIN_X]
        or low_y < frame[ORIGIN_Y]
        or high_x >= frame[ORIGIN_X] + frame[COLUMNS]
        or high_y >= frame[ORIGIN_Y] + frame[ROWS]
    ):
        state[LOW_X], state[LOW_Y], state[HIGH_X], state[HIGH_Y] = low_x, low_y, high_x, high_y
        return GROW_SECTORS
    return DONE


@inline
def collect_columns(store, work, cells):
    """List the columns of the edited cells and all around them, each once."""
    table, columns = work.table, work.columns
    table[:] = -1
    count = 0
    for at in range(len(cells)):
        sx, sy = cells[at, 0] // store.size, cells[at, 1] // store.size
        cx, cy = cells[at, 0] - sx * store.size, cells[at, 1] - sy * store.size
        for row in range(-1, 2):
            for column in range(-1, 2):
                slot = scramble(cells[at, 0] + column, cells[at, 1] + row, 0) & (table.size - 1)
                tsx, tsy, tx, ty = wrap(store, sx, sy, cx + column, cy + row)
                new = True
                while table[slot] >= 0:
                    other = columns[table[slot]]
                    if other[0] == tsx and other[1] == tsy and other[2] == tx and other[3] == ty:
                        new = False
                        break
                    slot = (slot + 1) & (table.size - 1)
                if new:
                    table[slot] = count
                    columns[count, 0] = tsx
                    columns[count, 1] = tsy
                    columns[count, 2] = tx
                    columns[count, 3] = ty
                    count += 1
    work.state[COLUMN_COUNT] = count


@inline
def link_regions(store, work):
    """Set the edges of all cells of a grid that has been filled at once; False when the edge pool must grow."""
    state = work.state
    while state[AT] < store.frame[REGION_TAIL]:
        region = state[AT]
        if store.kind[region] != FREE_KIND:
            left, top, width, height = box_of(store, region)
            for at in range(width * height):
                work.columns[at, 0] = store.sector_x[region]
                work.columns[at, 1] = store.sector_y[region]
                work.columns[at, 2] = left + at % width
                work.columns[at, 3] = top + at // width
            state[WRONG] = sweep(store, work, state[WRONG], width * height, np.int64(RELINK), region)
            if state[WRONG] < width * height:
                return False
        state[WRONG] = 0
        state[AT] += 1
    return True


@kernel
def edit(store, work, cells, kinds, adding, merge, bulk):
    """Add or remove cells; go on where the last call stopped for lack of room.

    `cells` (n, 3) int64; `kinds` (n,) or (1,) uint8; `merge`: regions that an added cell joins unite; `bulk`: the grid
    was empty, so that all edges are set at once. Returns DONE, what is to grow, or what is wrong with a cell.
    """
    state = work.state
    if state[PHASE] == CHECK:
        status = check(store, work, cells, adding)
        if status != DONE:
            return status
        state[PHASE] = TAKE
    if state[PHASE] == TAKE:
        state[COLUMN_COUNT], state[TOUCHED_COUNT], state[AT], state[WRONG], state[PLACED] = 0, 0, 0, 0, -1
        if not bulk:
            collect_columns(store, work, cells)
            sweep(store, work, np.int64(0), state[COLUMN_COUNT], np.int64(CLEAR), np.int64(-1))
        if not adding:
            cut(store, work, cells)
        state[PHASE] = PLACE
    if state[PHASE] == PLACE:
        if adding:
            status = place(store, work, cells, kinds, merge, bulk)
            if status != DONE:
                return status
        state[PHASE] = LINK
        state[AT] = 0
    if state[PHASE] == LINK:
        if bulk:
            if not link_regions(store, work):
                return GROW
        else:
            state[AT] = sweep(store, work, state[AT], state[COLUMN_COUNT], np.int64(RELINK), np.int64(-1))
            if state[AT] < state[COLUMN_COUNT]:
                return GROW
        state[PHASE] = SPLIT
        state[AT] = 0
    while state[PHASE] < FINISH:
        wanted = SUSPECT if state[PHASE] == SPLIT else JOIN
        while state[AT] < state[TOUCHED_COUNT]:
            region = np.int64(work.touched[state[AT]])
            if store.kind[region] != FREE_KIND and store.touch[region] & wanted:
                fine = split(store, work, region) if wanted == SUSPECT else join(store, work, region)
                if not fine:
                    return GROW
            state[AT] += 1
        state[PHASE] += 1
        state[AT] = 0
    for at in range(state[TOUCHED_COUNT]):
        region = np.int64(work.touched[at])
        if store.kind[region] != FREE_KIND:
            recentre(store, region)
        store.touch[region] = 0
    state[PHASE] = CHECK
    return DONE


@kernel
def change_effects(store, state, cells, change):
    """Add to the effect counts of cells, all or nothing; what is wrong is said as by `check`."""
    status = DONE
    done = len(cells)
    for at in range(len(cells)):
        node = np.int64(-1)
        if abs(cells[at, 0]) < FARTHEST and abs(cells[at, 1]) < FARTHEST:
            node = locate(store, cells[at, 0], cells[at, 1], cells[at, 2])
        if node < 0:
            status = NOT_THERE
        else:
            effects = effects_of(store.cells[node]) + change
            if effects > MOST_EFFECTS:
                status = TOO_MANY
            elif effects < 0:
                status = TOO_FEW
        if status != DONE:
            state[WRONG] = at
            done = at
            change = -change
            break
        add_effects(store, node, change)
    if status != DONE:
        for at in range(done):
            add_effects(store, locate(store, cells[at, 0], cells[at, 1], cells[at, 2]), change)
    return status


@inline
def add_effects(store, node, change):
    """Change the effect count of a cell and the sum of its region."""
    region = owner(store, node)
    store.cells[node] = np.int64(store.cells[node]) + (change << 13)
    set_effects(store, region, effects_in(store, region) + change)


@inline
def tight_box(store, region):
    """The bounding box of a region's cells within its sector."""
    left, top, width, height = box_of(store, region)
    first = first_node(store, region)
    low_x, low_y, high_x, high_y = 16, 16, -1, -1
    for at in range(width * height):
        if offset_of(store.cells[first + at]) != BLOCKED:
            row = at // width
            low_x, high_x = min(low_x, at - row * width), max(high_x, at - row * width)
            low_y, high_y = min(low_y, row), max(high_y, row)
    return left + low_x, top + low_y, high_x - low_x + 1, high_y - low_y + 1


@inline
def wants_marks(store, region):
    """Whether the edges that leave a region have to be marked."""
    return store.way == ONE_BIT or (store.way == EIGHT_BIT and not alone(store, region))


@kernel
def measure(store):
    """Cells in the bounding boxes of all regions, granules for them and places for the abstract edges."""
    boxes, granules, places = 0, 0, 0
    for region in range(store.frame[REGION_TAIL]):
        if store.kind[region] != FREE_KIND:
            _, _, width, height = tight_box(store, region)
            boxes += width * height
            if not store.trim:
                width, height = store.size, store.size
            granules += block_size(store, width, height, wants_marks(store, region))
            if store.count[region] > 0:
                places += 1 << room_for(np.int64(store.count[region]))
    return boxes, granules, places


@kernel
def compact(store, fresh):
    """Copy a grid into empty arrays sector by sector, without gaps; `fresh` has the frame and sectors of `store`."""
    frame = fresh.frame
    region, block, place = 0, 0, 0
    for sector in range(store.sectors.size):
        old = np.int64(store.sectors[sector])
        first = True
        while old >= 0:
            left, top, width, height = tight_box(store, old) if store.trim else (0, 0, store.size, store.size)
            if first:
                fresh.sectors[sector] = region
            else:
                fresh.follow[region - 1] = region
            first = False
            copy_region(store, old, fresh, region)
            fresh.box[region] = left | top << 4 | (width - 1) << 8 | (height - 1) << 12
            fresh.grid[region] = block << 8 | np.int64(store.grid[old]) & 255
            set_marks(fresh, region, block, left, top, width, height, wants_marks(store, old))
            copy_cells(store, old, fresh, region)
            block += region_size(fresh, region)
            count = np.int64(store.count[old])
            fresh.room[region] = room_for(count) if count > 0 else 0
            fresh.edges[region] = place << 3 | np.int64(store.edges[old]) & 7
            for at in range(count):
                fresh.records[place + at] = store.records[first_edge(store, old) + at]
            place += 1 << room_for(count) if count > 0 else 0
            old = np.int64(store.follow[old])
            region += 1
    frame[REGION_TAIL], frame[GRANULE_TAIL], frame[EDGE_TAIL] = region, block, place


@inline
def copy_region(store, old, fresh, region):
    """Copy what a region keeps wherever its cells and edges lie."""
    fresh.follow[region] = -1
    fresh.base[region] = store.base[old]
    fresh.centre[region] = store.centre[old]
    fresh.free[region] = store.free[old]
    fresh.sector_x[region] = store.sector_x[old]
    fresh.sector_y[region] = store.sector_y[old]
    fresh.ordinal[region] = store.ordinal[old]
    fresh.kind[region] = store.kind[old]
    fresh.count[region] = store.count[old]


@inline
def copy_cells(store, old, fresh, region):
    """Copy the cells of a region to a box of another shape; both stores generate successors in the same way."""
    left, top, width, height = box_of(fresh, region)
    old_left, old_top, old_width, old_height = box_of(store, old)
    node = first_node(fresh, region)
    for block in range(node // GRANULE, node // GRANULE + granules_for(width, height)):
        fresh.owners[block] = region
    owned, end = node + GRANULE * granules_for(width, height), node + GRANULE * region_size(fresh, region)
    for at in range(owned, end):
        fresh.cells[at] = 0
    for cy in range(top, top + height):
        for cx in range(left, left + width):
            if old_left <= cx < old_left + old_width and old_top <= cy < old_top + old_height:
                source = first_node(store, old) + (cy - old_top) * old_width + cx - old_left
                fresh.cells[node] = store.cells[source]
                if store.way >= ONE_BIT:
                    set_external(fresh, region, node, get_external(store, old, source))
            node += 1


@kernel
def shelve(store):
    """Put all regions on the shelves, which are empty, and note the last one of every sector."""
    for sector in range(store.sectors.size):
        last = np.int64(-1)
        region = np.int64(store.sectors[sector])
        while region >= 0:
            put_on_shelves(store, region)
            last = region
            region = np.int64(store.follow[region])
        store.tails[sector] = last


@kernel
def locate_all(store, cells, nodes):
    """Write the node of each cell, -1 where it is not there."""
    for at in range(len(cells)):
        nodes[at] = -1
        if abs(cells[at, 0]) < FARTHEST and abs(cells[at, 1]) < FARTHEST:
            nodes[at] = locate(store, cells[at, 0], cells[at, 1], cells[at, 2])
