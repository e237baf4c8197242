# mypy: ignore-errors
"""Regions of the sparse grid: how points join them, how they split and unite, where their centres are (paper 001)."""

import numpy as np

from wayfold._jit import helper, inline
from wayfold.grid._link_kernels import (
    AT,
    DONE,
    GROW,
    JOIN,
    PLACED,
    PUT_BACK,
    PUT_BACK_ALL,
    SUSPECT,
    TAKE_OFF,
    TWICE,
    WRONG,
    collect_box,
    edges_around,
    find_spots,
    sweep,
    touch,
)
from wayfold.grid._store_kernels import (
    BLOCKED,
    CELLS,
    EIGHT_BIT,
    HIGHEST_OFFSET,
    NO_CELL,
    ONE_BIT,
    STEP_X,
    STEP_Y,
    alone,
    beyond,
    box_of,
    change_support,
    copy_cell,
    effects_in,
    effects_of,
    exactly,
    first_edge,
    first_node,
    free_region,
    get_external,
    give_block,
    granules_for,
    head_of,
    height_of,
    locate,
    new_region,
    node_at,
    offset_of,
    own_head,
    owner,
    place_of,
    set_block,
    set_effects,
    set_external,
    support_of,
    take_block,
)


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
    store.base[region] = base
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
    block = take_block(store, granules_for(new_width, new_height))
    if block < 0:
        return False
    first = first_node(store, region)
    set_block(store, region, block, new_left, new_top, new_width, new_height)
    for row in range(height):
        to = first_node(store, region) + (old_top + row - new_top) * new_width + old_left - new_left
        for column in range(width):
            copy_cell(store, first + row * width + column, to + column)
    give_block(store, first // 16, granules_for(width, height))
    return True


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
                region = new_region(store, sx, sy, kind, z, cx, cy, 1, 1)
                if region < 0:
                    return GROW
            elif grow_box(store, region, cx, cy, cx + 1, cy + 1):
                store.free[region] += np.uint8(1)
            else:
                return GROW
            store.cells[node_at(store, region, cx, cy)] = (z - np.int64(store.base[region])) << 8
            store.frame[CELLS] += 1
            touch(store, work, region, 0)
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
                touch(store, work, keep, 0)
                state[PLACED] = keep
            region = head_of(store, sx, sy)
            while region >= 0 and not alone(store, region):  # a new cell may take the links of others in its column
                touch(store, work, region, SUSPECT)
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
        set_external(store, node, 0)
        store.frame[CELLS] -= 1
        if store.free[region] == 0:
            free_region(store, region)
        else:
            store.free[region] -= np.uint8(1)
            touch(store, work, region, SUSPECT)


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
                bits &= ~np.int64(store.external[first + at])
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
        to = node_at(store, region, left + at - row * width, top + row)
        copy_cell(store, node, to)
        store.cells[to] = np.int64(store.cells[to]) + (shift << 8)
        store.cells[node] = NO_CELL
        set_external(store, node, 0)
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
            store.base[region],
            low_x,
            low_y,
            high_x - low_x + 1,
            high_y - low_y + 1,
        )
        if other < 0:
            return False
        first, last = collect_box(store, work, region, low_x, low_y, high_x - low_x + 1, high_y - low_y + 1)
        sweep(store, work, first, last, TAKE_OFF, -1)
        moved = move_cells(store, region, part, work.labels, other)
        store.free[other] = moved - 1
        store.free[region] = np.int64(store.free[region]) - moved
        sweep(store, work, first, last, PUT_BACK if plain else PUT_BACK_ALL, -1)
        touch(store, work, other, JOIN)


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
                bits &= np.int64(store.external[node])
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
    moved = move_cells(store, gone, -1, work.labels, keep)
    store.free[keep] = np.int64(store.free[keep]) + moved
    free_region(store, gone)
    if store.way >= ONE_BIT:
        refresh_external(store, work.spots, keep)
    return True


@inline
def rename_edges(store, keep, gone):
    """Let the abstract edges from and to a region start and end at another region of its sector instead."""
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
            external = get_external(store, node)
            if external:
                bits = np.int64(store.cells[node]) & 255
                if store.way == EIGHT_BIT:
                    bits = external
                find_spots(store, spots, region, node, cx, cy, bits)
                for direction in range(8):
                    if bits >> direction & 1 and owner(store, spots[direction]) == region:
                        bits &= ~(1 << direction)
                set_external(store, node, bits)
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
        touch(store, work, region, JOIN)


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
