# mypy: ignore-errors
"""Points join and leave the regions of the sparse grid (paper 001, Algorithm 1), whose centres follow."""

import numpy as np

from wayfold._jit import helper, inline
from wayfold.grid._link_kernels import AT, DONE, GROW, PLACED, SUSPECT, TWICE, WRONG, touch
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
    head_of,
    height_of,
    locate,
    node_at,
    offset_of,
    owner,
    set_external,
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
def choose(store, sx, sy, cx, cy, z, kind):
    """The first region of a sector that a point can be added to (Algorithm 1), -1 for none."""
    region = head_of(store, sx, sy)
    while region >= 0:
        if store.kind[region] == kind and beside(store, region, cx, cy, z):
            node = node_at(store, region, cx, cy)
            if node < 0 or offset_of(store.cells[node]) == BLOCKED:
                offset = z - np.int64(store.base[region])
                if 0 <= offset <= HIGHEST_OFFSET:
                    return region
                low, high = height_range(store, region)
                if max(high, z) - min(low, z) <= HIGHEST_OFFSET:
                    rebase(store, region, min(low, z))
                    return region
        region = np.int64(store.follow[region])
    return region


@inline
def joined(store, region, sx, sy, cx, cy, z):
    """A region of the sector that a new cell of `region` touches too and that fits into it, -1 for none."""
    other = head_of(store, sx, sy)
    while other >= 0:
        if other != region and store.kind[other] == store.kind[region] and beside(store, other, cx, cy, z):
            if fits(store, region, other):
                return other
        other = np.int64(store.follow[other])
    return other


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
            region = head_of(store, sx, sy)
            while region >= 0 and not alone(store, region):  # a new cell may take the links of others in its column
                touch(store, work, region, np.int64(SUSPECT))
                region = np.int64(store.follow[region])
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
