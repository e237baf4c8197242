# mypy: ignore-errors
"""The sparse grid in flat arrays (Sturtevant 2011): sectors, regions, abstract edges, 16-bit cells, and their pools.

A *node* is an index into the cell pool. The pool is dealt out in granules of 16 cells, so that one owner for every
granule says which region a node belongs to. A region's cells are the rows of a box inside its sector.

Which edges leave the region (the paper's 1-bit and 8-bit ways to successors) is marked behind the region's cells, in
granules without an owner. With 8 bits, a region that is alone in its sector needs no marks: the edges that leave it are
those that leave the sector, which the place of the cell says.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline

GRANULE = 16
LARGEST_BLOCK = 24  # granules of 256 cells with 8 bits of marks for each
BLOCKED = 31  # height offset of an impassable cell
NO_CELL = BLOCKED << 8
HIGHEST_OFFSET = 30
MOST_EFFECTS = 7

REGULAR, NAIVE, SMART, ONE_BIT, EIGHT_BIT = range(5)  # ways to generate successors

# Positions in Store.frame.
ORIGIN_X, ORIGIN_Y, COLUMNS, ROWS = 0, 1, 2, 3  # the rectangle of sectors
CELLS, REGIONS, EDGES = 4, 5, 6  # how many there are
REGION_TAIL, GRANULE_TAIL, EDGE_TAIL = 7, 8, 9  # first never used
FREE_REGION, FREE_GRANULES, FREE_EDGES = 10, 11, 12  # head of the list of free regions; how much lies in free lists
STRUCTURE = 13  # counts changes of regions and abstract edges
FRAME_SIZE = 14

STEP_X = np.array([1, 1, 0, -1, -1, -1, 0, 1], np.int64)
STEP_Y = np.array([0, 1, 1, 1, 0, -1, -1, -1], np.int64)
# at * RECIPROCAL[w] >> 16 == at // w for at < 256, w <= 16
RECIPROCAL = np.array([0] + [-(-65536 // w) for w in range(1, 17)], np.int64)


def _leaving() -> tuple[np.ndarray, np.ndarray]:
    """Directions that lead out of a sector, as bits, for every place of a box, and where the bits of a box begin.

    By size of the sector, whether the box touches its left and its right side, and width of the box; each is as high as
    the sector, so that a box begins with its top row.
    """
    parts, starts, total = [], np.zeros((17, 4, 17), np.int64), 0
    for size, sides, width in np.ndindex(starts.shape):
        if width <= size:
            bits = np.zeros((size, width), np.uint8)
            if bits.size:
                bits[:, 0] |= np.uint8(0x38 if sides & 1 else 0)
                bits[:, -1] |= np.uint8(0x83 if sides & 2 else 0)
                bits[0] |= np.uint8(0xE0)
                bits[-1] |= np.uint8(0x0E)
            starts[size, sides, width] = total
            total += bits.size
            parts.append(bits.ravel())
    return np.concatenate(parts), starts


LEAVING, LEAVING_START = _leaving()


class Store(NamedTuple):
    """Everything that a sparse grid consists of.

    The record of a region is base, centre, free, edges and grid: 12 bytes. The rest of its arrays serve edits.
    """

    sectors: np.ndarray  # (columns * rows,) int32, first region of each sector, -1 for none
    base: np.ndarray  # (regions,) int16, height of offset 0
    centre: np.ndarray  # (regions,) uint8, x | y << 4 of the centre cell in the sector
    free: np.ndarray  # (regions,) uint8, number of cells - 1
    edges: np.ndarray  # (regions,) uint32, first abstract edge << 3 | effects >> 8
    grid: np.ndarray  # (regions,) uint32, first granule << 8 | effects & 255 (the sum of the cells' effect counts)
    follow: np.ndarray  # (regions,) int32, next region of the sector or next free region
    sector_x: np.ndarray  # (regions,) int32
    sector_y: np.ndarray  # (regions,) int32
    ordinal: np.ndarray  # (regions,) uint16, names the region within its sector
    box: np.ndarray  # (regions,) uint16, x | y << 4 | width - 1 << 8 | height - 1 << 12 of the stored cells
    kind: np.ndarray  # (regions,) uint8, only cells of the same kind connect; FREE_KIND for no region
    count: np.ndarray  # (regions,) uint16, number of abstract edges
    room: np.ndarray  # (regions,) uint8, log2 of the places for abstract edges, 0 for none
    marks: np.ndarray  # (regions,) int32, where the marks of edges that leave the region begin; -1 - place in LEAVING
    touch: np.ndarray  # (regions,) uint8, scratch of edits
    records: np.ndarray  # (edges,) uint32, sector code << 28 | ordinal << 12 | support
    cells: np.ndarray  # (granules * 16,) uint16, effects << 13 | height offset << 8 | movement bits; and marks
    owners: np.ndarray  # (granules,) int32, region of each granule, negative for none
    free_blocks: np.ndarray  # (LARGEST_BLOCK + 1,) int32, first free block of each size in granules, -1 for none
    free_lists: np.ndarray  # (16,) int32, first free edge list of each log2 size, -1 for none
    shelves: np.ndarray  # (2**k,) int32, first region at a height of a sector, see `shelf_of`; empty without crowds
    on_shelf: np.ndarray  # (2 * regions,) int32, what follows on the lower and on the upper shelf of each region
    tails: np.ndarray  # (columns * rows,) int32, last region of each sector; empty without crowds
    frame: np.ndarray  # (FRAME_SIZE,) int64
    size: int  # side of a sector
    step: int  # highest step up or down
    drop: int  # how deep a one-way drop may be, 0 for none
    way: int  # how successors are generated
    trim: bool  # whether a region stores only the bounding box of its cells


FREE_KIND = 255

# A sector with more regions than this is crowded: its list is too long to be walked for every cell. Then regions also
# stand on *shelves* of 32 levels, two each at most, which are found by hashing.
CROWD = 64
SHELF = 5  # log2 of the levels of a shelf
_FAR = 1 << 10  # levels that are looked through shelf by shelf; the whole list is shorter than more of them


@inline
def shelf_of(store, sx, sy, shelf):
    """Place in `shelves` of a shelf of a sector."""
    mixed = sx * 0x1B873593 ^ sy * 0x2545F491 ^ shelf * 0x4CF5AD43
    return (mixed ^ mixed >> 15) & (store.shelves.size - 1)


@helper
def put_on_shelves(store, region):
    """Put a region on the shelves of its heights, where there are any."""
    if store.shelves.size == 0:
        return
    base = np.int64(store.base[region])
    for side in range(2):
        shelf = (base + side * HIGHEST_OFFSET) >> SHELF
        if side == 0 or shelf != base >> SHELF:
            place = shelf_of(store, np.int64(store.sector_x[region]), np.int64(store.sector_y[region]), shelf)
            store.on_shelf[2 * region + side] = store.shelves[place]
            store.shelves[place] = 2 * region + side


@helper
def take_off_shelves(store, region):
    """Undo `put_on_shelves`, before the base of the region changes."""
    if store.shelves.size == 0:
        return
    base = np.int64(store.base[region])
    for side in range(2):
        shelf = (base + side * HIGHEST_OFFSET) >> SHELF
        if side == 0 or shelf != base >> SHELF:
            place = shelf_of(store, np.int64(store.sector_x[region]), np.int64(store.sector_y[region]), shelf)
            entry = np.int64(store.shelves[place])
            if entry == 2 * region + side:
                store.shelves[place] = store.on_shelf[entry]
                continue
            while store.on_shelf[entry] != 2 * region + side:
                entry = np.int64(store.on_shelf[entry])
            store.on_shelf[entry] = store.on_shelf[2 * region + side]


@inline
def shelved(store, head, low, high):
    """Whether to look for regions at some heights on the shelves instead of along the list of their sector."""
    return store.shelves.size > 0 and head >= 0 and high - low < _FAR


@helper
def first_shelved(store, head, low):
    """Where to begin with the shelves of a sector from a height on: (shelf, entry), for `next_shelved`."""
    shelf = low >> SHELF
    place = shelf_of(store, np.int64(store.sector_x[head]), np.int64(store.sector_y[head]), shelf)
    return shelf, np.int64(store.shelves[place])


@helper
def next_shelved(store, head, shelf, entry, high):
    """The next region of the sector on shelves up to a height: (region or -1, shelf, entry); some come twice."""
    sx, sy = np.int64(store.sector_x[head]), np.int64(store.sector_y[head])
    while True:
        while entry >= 0:
            region = entry >> 1
            entry = np.int64(store.on_shelf[entry])
            if store.sector_x[region] == sx and store.sector_y[region] == sy:
                return region, shelf, entry
        shelf += 1
        if shelf > high >> SHELF:
            return np.int64(-1), shelf, entry
        entry = np.int64(store.shelves[shelf_of(store, sx, sy, shelf)])


@inline
def head_of(store, sx, sy):
    """First region of a sector, -1 for none."""
    frame = store.frame
    column, row = sx - frame[ORIGIN_X], sy - frame[ORIGIN_Y]
    if column < 0 or row < 0 or column >= frame[COLUMNS] or row >= frame[ROWS]:
        return np.int64(-1)
    return np.int64(store.sectors[row * frame[COLUMNS] + column])


@inline
def alone(store, region):
    """Whether a region is the only one of its sector."""
    return store.follow[region] < 0 and own_head(store, region) == region


@inline
def first_node(store, region):
    """Node of the first cell of a region's box."""
    return np.int64(store.grid[region] >> np.uint32(8)) * GRANULE


@inline
def box_of(store, region):
    """Left column, top row, width and height of a region's stored cells within the sector."""
    box = np.int64(store.box[region])
    return box & 15, (box >> 4) & 15, ((box >> 8) & 15) + 1, (box >> 12) + 1


@inline
def owner(store, node):
    """Region of a node."""
    return np.int64(store.owners[node >> 4])


@inline
def place_of(store, region, node):
    """Column and row of a node within its sector."""
    left, top, width, _ = box_of(store, region)
    at = node - first_node(store, region)
    row = (at * RECIPROCAL[width]) >> 16
    return left + at - row * width, top + row


@inline
def node_at(store, region, cx, cy):
    """Node of a region at a place of the sector, -1 outside its box; it may be impassable."""
    left, top, width, height = box_of(store, region)
    x, y = cx - left, cy - top
    if x < 0 or y < 0 or x >= width or y >= height:
        return np.int64(-1)
    return first_node(store, region) + y * width + x


@inline
def offset_of(cell):
    """Height offset of a cell above its region's base, BLOCKED where it is impassable."""
    return (np.int64(cell) >> 8) & 31


@inline
def effects_of(cell):
    """Number of area effects on a cell."""
    return np.int64(cell) >> 13


@inline
def height_of(store, region, node):
    """Height of a cell."""
    return np.int64(store.base[region]) + offset_of(store.cells[node])


@inline
def wrap(store, sx, sy, cx, cy):
    """Sector and place of a cell whose place may lie one beyond the border of the sector it is counted from."""
    size = store.size
    if cx < 0:
        sx, cx = sx - 1, cx + size
    elif cx >= size:
        sx, cx = sx + 1, cx - size
    if cy < 0:
        sy, cy = sy - 1, cy + size
    elif cy >= size:
        sy, cy = sy + 1, cy - size
    return sx, sy, cx, cy


@inline
def probe(store, head, cx, cy, z, kind):
    """The cell of a column that is nearest to height z, within a step, the lower of two; -1 for none.

    `head` is the first region of the sector. Also says whether the column has several cells of this kind (perhaps).
    """
    if shelved(store, head, z - store.step, z + store.step):
        return probe_shelves(store, head, cx, cy, z, kind), True
    best = np.int64(-1)
    least = 2 * store.step + 1
    found = 0
    region = head
    while region >= 0:
        if store.kind[region] == kind:
            node = node_at(store, region, cx, cy)
            if node >= 0:
                offset = offset_of(store.cells[node])
                if offset != BLOCKED:
                    found += 1
                    rise = np.int64(store.base[region]) + offset - z
                    rank = 2 * rise if rise > 0 else -2 * rise - 1
                    if rank < least:
                        best, least = node, rank
        region = np.int64(store.follow[region])
    return best, found > 1


@helper
def probe_shelves(store, head, cx, cy, z, kind):
    """The same cell as `probe`, by the shelves of a crowded grid."""
    best = np.int64(-1)
    least = 2 * store.step + 1
    shelf, entry = first_shelved(store, head, z - store.step)
    while True:
        region, shelf, entry = next_shelved(store, head, shelf, entry, z + store.step)
        if region < 0:
            return best
        if store.kind[region] == kind:
            node = node_at(store, region, cx, cy)
            if node >= 0 and offset_of(store.cells[node]) != BLOCKED:
                rise = height_of(store, region, node) - z
                rank = 2 * rise if rise > 0 else -2 * rise - 1
                if rank < least:
                    best, least = node, rank


@helper
def below_shelves(store, head, cx, cy, z, kind):
    """The same cell as `below`, by the shelves of a crowded grid."""
    best = np.int64(-1)
    deepest = z - store.drop
    shelf, entry = first_shelved(store, head, z - store.drop)
    while True:
        region, shelf, entry = next_shelved(store, head, shelf, entry, z - store.step)
        if region < 0:
            return best
        if store.kind[region] == kind:
            node = node_at(store, region, cx, cy)
            if node >= 0 and offset_of(store.cells[node]) != BLOCKED:
                height = height_of(store, region, node)
                if deepest <= height < z - store.step:
                    best, deepest = node, height + 1


@inline
def below(store, head, cx, cy, z, kind):
    """The highest cell of a column that lies more than a step below z but within a drop; -1 for none."""
    if shelved(store, head, z - store.drop, z - store.step):
        return below_shelves(store, head, cx, cy, z, kind)
    best = np.int64(-1)
    deepest = z - store.drop
    region = head
    while region >= 0:
        if store.kind[region] == kind:
            node = node_at(store, region, cx, cy)
            if node >= 0:
                offset = offset_of(store.cells[node])
                height = np.int64(store.base[region]) + offset
                if offset != BLOCKED and deepest <= height < z - store.step:
                    best, deepest = node, height + 1
        region = np.int64(store.follow[region])
    return best


@helper
def exactly_shelves(store, head, cx, cy, z):
    """The same cell as `exactly`, by the shelves of a crowded grid."""
    shelf, entry = first_shelved(store, head, z)
    while True:
        region, shelf, entry = next_shelved(store, head, shelf, entry, z)
        if region < 0:
            return np.int64(-1)
        node = node_at(store, region, cx, cy)
        if node >= 0 and offset_of(store.cells[node]) != BLOCKED and height_of(store, region, node) == z:
            return node


@inline
def exactly(store, sx, sy, cx, cy, z):
    """The cell at a place and height, of any kind; -1 for none."""
    region = head_of(store, sx, sy)
    if shelved(store, region, z, z):
        return exactly_shelves(store, region, cx, cy, z)
    while region >= 0:
        node = node_at(store, region, cx, cy)
        if node >= 0:
            offset = offset_of(store.cells[node])
            if offset != BLOCKED and np.int64(store.base[region]) + offset == z:
                return node
        region = np.int64(store.follow[region])
    return np.int64(-1)


@inline
def locate(store, x, y, z):
    """The cell at integer coordinates; -1 for none."""
    sx, sy = x // store.size, y // store.size
    return exactly(store, sx, sy, x - sx * store.size, y - sy * store.size, z)


@inline
def column_beside(store, region, head, cx, cy, direction):
    """First region and place of the column in a direction; `head` is the first region of the sector itself."""
    tx, ty = cx + STEP_X[direction], cy + STEP_Y[direction]
    size = store.size
    if tx < 0 or ty < 0 or tx >= size or ty >= size:
        sx, sy, tx, ty = wrap(store, np.int64(store.sector_x[region]), np.int64(store.sector_y[region]), tx, ty)
        head = head_of(store, sx, sy)
    return head, tx, ty


@inline
def own_head(store, region):
    """First region of a region's sector."""
    return head_of(store, np.int64(store.sector_x[region]), np.int64(store.sector_y[region]))


@inline
def beyond(store, region, head, cx, cy, z, direction):
    """Where a step in a direction leads, found from coordinates alone; the step must be possible."""
    head, tx, ty = column_beside(store, region, head, cx, cy, direction)
    if store.follow[head] < 0:  # the only region of its sector: the step leads to no other
        return node_at(store, head, tx, ty)
    kind = store.kind[region]
    node, _ = probe(store, head, tx, ty, z, kind)
    if node < 0 and store.drop > 0:
        node = below(store, head, tx, ty, z, kind)
    return node


# --- edges that leave the region -------------------------------------------------------------------------------------


@inline
def granules_for(width, height):
    """Granules that the cells of a box take."""
    return (width * height + GRANULE - 1) // GRANULE


@inline
def block_size(store, width, height, marked):
    """Granules that a box takes with its marks."""
    granules = granules_for(width, height)
    if marked:
        granules += (width * height + 31) // 32 if store.way == EIGHT_BIT else 1
    return granules


@inline
def get_mark(store, marks, at, cell):
    """Which edges of the cell `at` of a region leave it: 8 bits, or whether there is any; `cell` is what it holds."""
    if marks < 0:
        return np.int64(LEAVING[at - 1 - marks]) & np.int64(cell)
    if store.way == EIGHT_BIT:
        return np.int64(store.cells[marks + (at >> 1)]) >> ((at & 1) << 3) & 255
    return np.int64(store.cells[marks + (at >> 4)]) >> (at & 15) & 1


@inline
def get_external(store, region, node):
    """Edges of a cell that leave its region: 8 bits, or whether there is any; only in the two ways that know them."""
    return get_mark(store, np.int64(store.marks[region]), node - first_node(store, region), store.cells[node])


@inline
def set_external(store, region, node, bits):
    """Mark which edges of a cell leave its region, where that is stored."""
    marks = np.int64(store.marks[region])
    if marks < 0:
        return
    at = node - first_node(store, region)
    if store.way == EIGHT_BIT:
        place, shift, mask = marks + (at >> 1), (at & 1) << 3, np.int64(255)
    else:
        place, shift, mask = marks + (at >> 4), at & 15, np.int64(1)
        bits = np.int64(1) if bits else np.int64(0)
    store.cells[place] = np.int64(store.cells[place]) & ~(mask << shift) | bits << shift


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
