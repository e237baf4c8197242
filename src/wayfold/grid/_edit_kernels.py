# mypy: ignore-errors
"""One edit of the sparse grid from beginning to end (paper 001, "Adding Points" and "Removing Points").

An edit runs in phases. When a pool is too small it stops between two steps and says so; the caller makes the pool
larger and calls again. What is wrong with the cells is found before anything changes.
"""

import numpy as np

from wayfold.core.jit import inline, kernel
from wayfold.grid._link_kernels import (
    ALREADY_THERE,
    AT,
    CLEAR,
    COLUMN_COUNT,
    DONE,
    GROW,
    GROW_SECTORS,
    HIGH_X,
    HIGH_Y,
    JOIN,
    LOW_X,
    LOW_Y,
    NOT_THERE,
    PHASE,
    PLACED,
    RELINK,
    SUSPECT,
    TOO_FAR,
    TOO_FEW,
    TOO_HIGH,
    TOO_MANY,
    TOUCHED_COUNT,
    TWICE,
    WRONG,
    sweep,
)
from wayfold.grid._pool_kernels import effects_in, first_edge, region_size, room_for, set_effects, set_marks
from wayfold.grid._region_kernels import cut, place, recentre
from wayfold.grid._split_kernels import join, split
from wayfold.grid._store_kernels import (
    BLOCKED,
    COLUMNS,
    EDGE_TAIL,
    EIGHT_BIT,
    FREE_KIND,
    GRANULE,
    GRANULE_TAIL,
    MOST_EFFECTS,
    ONE_BIT,
    ORIGIN_X,
    ORIGIN_Y,
    REGION_TAIL,
    ROWS,
    alone,
    block_size,
    box_of,
    effects_of,
    exactly,
    first_node,
    get_external,
    granules_for,
    locate,
    offset_of,
    owner,
    put_on_shelves,
    set_external,
    wrap,
)

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
