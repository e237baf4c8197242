# mypy: ignore-errors
"""Edges of the sparse grid and the supports of its abstract edges (paper 001, Figure 3).

Constants are passed to helpers as np.int64(...): Numba compiles a function anew for every literal it is called with.

Edges are a pure function of the cells, so that no order of edits leaves a trace in them: two cells of neighbouring
columns are linked when each is the nearest cell of its column to the other, within a step.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper, inline
from wayfold.grid._pool_kernels import change_support, edges_left, room_for
from wayfold.grid._store_kernels import (
    BLOCKED,
    EDGES,
    EIGHT_BIT,
    STEP_X,
    STEP_Y,
    below,
    beyond,
    box_of,
    column_beside,
    get_external,
    head_of,
    height_of,
    node_at,
    offset_of,
    own_head,
    owner,
    place_of,
    probe,
    set_external,
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
