# mypy: ignore-errors
"""Points join and leave the regions of the sparse grid (paper 001, Algorithm 1), whose centres follow."""

import numpy as np

from wayfold.core.jit import helper, inline
from wayfold.grid._link_kernels import AT, CROWDED, DONE, GROW, PLACED, SUSPECT, TWICE, WRONG, touch
from wayfold.grid._pool_kernels import effects_in, free_region, new_region, set_effects
from wayfold.grid._split_kernels import fits, grow_box, height_range, rebase, unite
from wayfold.grid._store_kernels import (
    BLOCKED,
    CELLS,
    HIGHEST_OFFSET,
    NO_CELL,
    STEP_X,
    STEP_Y,
    alone,
    box_of,
    effects_of,
    exactly,
    first_node,
    first_shelved,
    head_of,
    height_of,
    locate,
    next_shelved,
    node_at,
    offset_of,
    owner,
    set_external,
    shelved,
)


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
