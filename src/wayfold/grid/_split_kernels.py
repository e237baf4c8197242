# mypy: ignore-errors
"""Regions of the sparse grid that split and unite (paper 001, "Removing Points", and beyond it: regions that merge)."""

import numpy as np

from wayfold.core.jit import helper, inline
from wayfold.grid._link_kernels import (
    CROWDED,
    JOIN,
    PUT_BACK,
    PUT_BACK_ALL,
    TAKE_OFF,
    collect_box,
    edges_around,
    find_spots,
    sweep,
    touch,
)
from wayfold.grid._pool_kernels import (
    change_support,
    effects_in,
    first_edge,
    free_region,
    move_block,
    new_region,
    set_effects,
    support_of,
)
from wayfold.grid._store_kernels import (
    BLOCKED,
    EDGES,
    EIGHT_BIT,
    HIGHEST_OFFSET,
    NO_CELL,
    ONE_BIT,
    STEP_X,
    STEP_Y,
    alone,
    beyond,
    box_of,
    effects_of,
    first_node,
    get_external,
    head_of,
    height_of,
    node_at,
    offset_of,
    own_head,
    owner,
    place_of,
    put_on_shelves,
    set_external,
    take_off_shelves,
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
