# mypy: ignore-errors
"""Pools of the sparse grid: blocks of cells, lists of abstract edges and regions are taken and given back."""

import numpy as np

from wayfold.core.jit import helper, inline
from wayfold.grid._store_kernels import (
    COLUMNS,
    CROWD,
    EDGE_TAIL,
    EDGES,
    EIGHT_BIT,
    FREE_EDGES,
    FREE_GRANULES,
    FREE_KIND,
    FREE_REGION,
    GRANULE,
    GRANULE_TAIL,
    LEAVING_START,
    NO_CELL,
    ONE_BIT,
    ORIGIN_X,
    ORIGIN_Y,
    REGION_TAIL,
    REGIONS,
    STRUCTURE,
    block_size,
    box_of,
    first_node,
    get_mark,
    granules_for,
    head_of,
    node_at,
    put_on_shelves,
    set_external,
    take_off_shelves,
)

HIGHEST_ORDINAL = 65535

# --- pools -----------------------------------------------------------------------------------------------------------


@inline
def take_block(store, granules):
    """First granule of a free block, -1 when the pool must grow."""
    frame, owners = store.frame, store.owners
    for size in range(granules, store.free_blocks.size):
        block = np.int64(store.free_blocks[size])
        if block >= 0:
            store.free_blocks[size] = -2 - owners[block]
            frame[FREE_GRANULES] -= size
            if size > granules:
                give_block(store, block + granules, size - granules)
            return block
    block = frame[GRANULE_TAIL]
    if block + granules > owners.size:
        return np.int64(-1)
    frame[GRANULE_TAIL] = block + granules
    return block


@inline
def give_block(store, block, granules):
    """Put a block into the list of its size; the list runs through the owners, as -2 - next."""
    for at in range(block + 1, block + granules):
        store.owners[at] = -1
    store.owners[block] = -2 - store.free_blocks[granules]
    store.free_blocks[granules] = block
    store.frame[FREE_GRANULES] += granules


@inline
def effects_in(store, region):
    """Sum of the effect counts of a region's cells."""
    return (np.int64(store.edges[region]) & 7) << 8 | np.int64(store.grid[region]) & 255


@inline
def set_effects(store, region, total):
    """Store the sum of the effect counts of a region's cells (at most 7 * 256: 11 bits)."""
    store.edges[region] = np.int64(store.edges[region]) & ~np.int64(7) | total >> 8
    store.grid[region] = np.int64(store.grid[region]) & ~np.int64(255) | total & 255


@inline
def set_marks(store, region, block, left, top, width, height, marked):
    """Say where the marks of a region lie that has a block of cells: behind them, or in the table for whole sectors."""
    if marked:
        store.marks[region] = (block + granules_for(width, height)) * GRANULE
    else:
        sides = (1 if left == 0 else 0) + (2 if left + width == store.size else 0)
        store.marks[region] = -1 - LEAVING_START[store.size, sides, width] - top * width


@inline
def set_block(store, region, block, left, top, width, height, marked):
    """Give a region a block of cells, all impassable, with or without marks."""
    store.grid[region] = block << 8 | np.int64(store.grid[region]) & 255
    store.box[region] = left | top << 4 | (width - 1) << 8 | (height - 1) << 12
    set_marks(store, region, block, left, top, width, height, marked)
    owned = block + granules_for(width, height)
    end = block + block_size(store, width, height, marked)
    for at in range(block, end):
        store.owners[at] = region if at < owned else -1
    for node in range(block * GRANULE, end * GRANULE):
        store.cells[node] = NO_CELL if node < owned * GRANULE else 0


@inline
def move_block(store, region, left, top, width, height, marked):
    """Move a region to a block with a box that covers its own, with or without marks; False when the pool must grow."""
    block = take_block(store, block_size(store, width, height, marked))
    if block < 0:
        return False
    old_left, old_top, old_width, old_height = box_of(store, region)
    old, marks, size = first_node(store, region), np.int64(store.marks[region]), region_size(store, region)
    set_block(store, region, block, left, top, width, height, marked)
    for at in range(old_width * old_height):
        row = at // old_width
        node = node_at(store, region, old_left + at - row * old_width, old_top + row)
        store.cells[node] = store.cells[old + at]
        if marked:
            set_external(store, region, node, get_mark(store, marks, at, store.cells[node]))
    give_block(store, old // GRANULE, size)
    return True


@inline
def region_size(store, region):
    """Granules of a region's block."""
    _, _, width, height = box_of(store, region)
    return block_size(store, width, height, store.marks[region] >= 0)


# --- abstract edges --------------------------------------------------------------------------------------------------


@inline
def edge_name(store, region, other):
    """Sector code and ordinal by which a region's abstract edge names another region."""
    code = 3 * (store.sector_x[other] - store.sector_x[region] + 1)
    code += store.sector_y[other] - store.sector_y[region] + 1
    return np.int64(code) << 16 | np.int64(store.ordinal[other])


@inline
def region_named(store, region, name):
    """The region that an abstract edge of `region` leads to."""
    code = name >> 16
    ordinal = name & 0xFFFF
    other = head_of(store, store.sector_x[region] + code // 3 - 1, store.sector_y[region] + code % 3 - 1)
    while other >= 0 and store.ordinal[other] != ordinal:
        other = np.int64(store.follow[other])
    return other


@inline
def first_edge(store, region):
    """Place of a region's first abstract edge."""
    return np.int64(store.edges[region] >> np.uint32(3))


@inline
def set_first_edge(store, region, first):
    """Move the list of a region's abstract edges."""
    store.edges[region] = first << 3 | np.int64(store.edges[region]) & 7


@inline
def room_for(count):
    """log2 of the places that a list of `count` edges takes, at least 2."""
    room = 2
    while (1 << room) < count:
        room += 1
    return room


@inline
def edges_left(store):
    """Places for abstract edges that were never used."""
    return store.records.size - store.frame[EDGE_TAIL]


@inline
def give_edges(store, first, room):
    """Put a list of edges into the free lists, which run through the records."""
    store.records[first] = store.free_lists[room] + 1
    store.free_lists[room] = first
    store.frame[FREE_EDGES] += 1 << room


@inline
def take_edges(store, room):
    """First place of a list of 2**room edges; the caller has made sure that there is one."""
    first = np.int64(store.free_lists[room])
    if first >= 0:
        store.free_lists[room] = np.int64(store.records[first]) - 1
        store.frame[FREE_EDGES] -= 1 << room
        return first
    first = store.frame[EDGE_TAIL]
    store.frame[EDGE_TAIL] = first + (1 << room)
    return first


@inline
def change_support(store, region, other, change):
    """Add to the support of the abstract edge from one region to another; without support it vanishes."""
    records = store.records
    name = edge_name(store, region, other)
    first = first_edge(store, region)
    count = np.int64(store.count[region])
    for at in range(first, first + count):
        if np.int64(records[at]) >> 12 == name:
            support = (np.int64(records[at]) & 0xFFF) + change
            if support > 0:
                records[at] = name << 12 | support
            else:
                records[at] = records[first + count - 1]
                store.count[region] = count - 1
                store.frame[EDGES] -= 1
                store.frame[STRUCTURE] += 1
            return
    room = np.int64(store.room[region])
    if room == 0 or count == 1 << room:
        wider = room_for(count + 1)
        moved = take_edges(store, wider)
        for at in range(count):
            records[moved + at] = records[first + at]
        if room > 0:
            give_edges(store, first, room)
        set_first_edge(store, region, moved)
        store.room[region] = wider
        first = moved
    records[first + count] = name << 12 | change
    store.count[region] = count + 1
    store.frame[EDGES] += 1
    store.frame[STRUCTURE] += 1


@inline
def support_of(store, region, other):
    """Support of the abstract edge from one region to another, 0 where there is none."""
    name = edge_name(store, region, other)
    first = first_edge(store, region)
    for at in range(first, first + np.int64(store.count[region])):
        if np.int64(store.records[at]) >> 12 == name:
            return np.int64(store.records[at]) & 0xFFF
    return np.int64(0)


# --- regions ---------------------------------------------------------------------------------------------------------


@helper
def last_of(store, sector):
    """Last region of a sector's list (-1 for none), and how many there are at least."""
    region = np.int64(store.sectors[sector])
    if store.tails.size > 0:
        return np.int64(store.tails[sector]), np.int64(0)
    last, count = np.int64(-1), np.int64(0)
    while region >= 0:
        last = region
        count += 1
        region = np.int64(store.follow[region])
    return last, count


@helper
def insert_region(store, sector, region, last):
    """Give a new region an ordinal and a place in its sector's list, in which ordinals rise.

    It comes last and gets the next ordinal. Once the last one is used up, it takes the first gap that there is.
    """
    head = np.int64(store.sectors[sector])
    before, ordinal = last, np.int64(0)
    if last >= 0:
        ordinal = np.int64(store.ordinal[last]) + 1
    if ordinal > HIGHEST_ORDINAL:
        before, ordinal = np.int64(-1), np.int64(0)
        following = head
        while following >= 0 and store.ordinal[following] == ordinal:
            before, ordinal = following, ordinal + 1
            following = np.int64(store.follow[following])
    store.ordinal[region] = ordinal
    if before < 0:
        store.follow[region] = head
        store.sectors[sector] = region
    else:
        store.follow[region] = store.follow[before]
        store.follow[before] = region
    if store.tails.size > 0 and store.follow[region] < 0:
        store.tails[sector] = region


@inline
def new_region(store, sx, sy, kind, base, left, top, width, height):
    """A region without cells, last in its sector's list; -1 when a pool must grow, -2 when its sector is crowded."""
    frame = store.frame
    if not store.trim:
        left, top, width, height = 0, 0, store.size, store.size
    region = frame[FREE_REGION]
    if region < 0 and frame[REGION_TAIL] >= store.base.size:
        return np.int64(-1)
    sector = (sy - frame[ORIGIN_Y]) * frame[COLUMNS] + sx - frame[ORIGIN_X]
    other = np.int64(store.sectors[sector])
    last, count = last_of(store, sector)
    if count > CROWD:
        return np.int64(-2)
    marked = store.way == ONE_BIT or (store.way == EIGHT_BIT and other >= 0)
    if marked and other >= 0 and store.marks[other] < 0:  # it is not alone any more
        old_left, old_top, old_width, old_height = box_of(store, other)
        if not move_block(store, other, old_left, old_top, old_width, old_height, True):
            return np.int64(-1)
    block = take_block(store, block_size(store, width, height, marked))
    if block < 0:
        return np.int64(-1)
    if region >= 0:
        frame[FREE_REGION] = store.follow[region]
    else:
        region = frame[REGION_TAIL]
        frame[REGION_TAIL] += 1
    insert_region(store, sector, region, last)
    store.sector_x[region] = sx
    store.sector_y[region] = sy
    store.kind[region] = kind
    store.base[region] = base
    store.centre[region] = left | top << 4
    store.free[region] = 0
    store.edges[region] = 0
    store.grid[region] = 0
    store.count[region] = 0
    store.room[region] = 0
    set_block(store, region, block, left, top, width, height, marked)
    put_on_shelves(store, region)
    frame[REGIONS] += 1
    frame[STRUCTURE] += 1
    return region


@inline
def free_region(store, region):
    """Give back a region that has no cells and no abstract edges left."""
    frame = store.frame
    take_off_shelves(store, region)
    give_block(store, first_node(store, region) // GRANULE, region_size(store, region))
    if store.room[region] > 0:
        give_edges(store, first_edge(store, region), np.int64(store.room[region]))
    column = store.sector_x[region] - frame[ORIGIN_X]
    sector = (store.sector_y[region] - frame[ORIGIN_Y]) * frame[COLUMNS] + column
    other = np.int64(store.sectors[sector])
    if other == region:
        store.sectors[sector] = store.follow[region]
        other = np.int64(-1)
    else:
        while store.follow[other] != region:
            other = np.int64(store.follow[other])
        store.follow[other] = store.follow[region]
    if store.tails.size > 0 and store.follow[region] < 0:
        store.tails[sector] = other
    store.kind[region] = FREE_KIND
    store.count[region] = 0
    store.follow[region] = frame[FREE_REGION]
    frame[FREE_REGION] = region
    frame[REGIONS] -= 1
    frame[STRUCTURE] += 1
