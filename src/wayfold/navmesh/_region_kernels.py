# mypy: ignore-errors
"""Step 3 of Fuentes 2015, section III.A: the watershed transform cuts the walkable area into simple regions.

Regions are numbered from 1; 0 is no region. Spans in the border of a tile, which belong to neighbouring tiles, carry
``-1 - side`` of the tile's border that they lie beyond.
"""

import numpy as np

from wayfold.core.jit import inline, kernel, kernel_with_memory

_EXPAND = 8  # rounds in which regions grow at each water level
_UNSET = 1 << 30


@inline
def _in_column(offsets, column, region, wanted):
    """Whether a column has a span of the wanted region: a region must not come to lie above itself."""
    for other in range(offsets[column], offsets[column + 1]):
        if region[other] == wanted:
            return True
    return False


@inline
def _flood(space, columns, distance, region, reach, seed, level, number, stack):
    """Fill a basin from its seed, keeping off other regions (unless `level` is -1); return how many spans it got."""
    links, kind = space.links, space.kind
    floor_level = level - 2 if level >= 2 else 0
    area = kind[seed]
    region[seed] = number
    reach[seed] = 0
    stack[0] = seed
    size, count = 1, 0
    while size > 0:
        size -= 1
        k = stack[size]
        taken = False
        for side in range(4 if level >= 0 else 0):
            beside = links[k, side]
            if beside < 0 or kind[beside] != area:
                continue
            if region[beside] > 0 and region[beside] != number:
                taken = True
                break
            diagonal = links[beside, (side + 1) & 3]
            if diagonal >= 0 and kind[diagonal] == area and region[diagonal] > 0 and region[diagonal] != number:
                taken = True
                break
        if taken:
            region[k] = 0
            continue
        count += 1
        for side in range(4):
            beside = links[k, side]
            if beside < 0 or kind[beside] != area or region[beside] != 0 or distance[beside] < floor_level:
                continue
            if _in_column(space.offsets, columns[beside], region, number):
                continue
            region[beside] = number
            reach[beside] = 0
            stack[size] = beside
            size += 1
    return count


@inline
def _expand(space, columns, region, reach, waiting, count, rounds, found, found_reach):
    """Let regions grow over waiting spans, a ring a round; return how many are still waiting."""
    links, kind = space.links, space.kind
    while count > 0 and rounds != 0:
        rounds -= 1
        grown = 0
        for at in range(count):
            k = waiting[at]
            found[at] = 0
            nearest = _UNSET
            for side in range(4):
                beside = links[k, side]
                if beside < 0 or kind[beside] != kind[k] or region[beside] <= 0:
                    continue
                if reach[beside] + 2 < nearest and not _in_column(space.offsets, columns[k], region, region[beside]):
                    nearest = reach[beside] + 2
                    found[at] = region[beside]
            found_reach[at] = nearest
        kept = 0
        for at in range(count):
            k = waiting[at]
            # Of two spans of one column that want the same region the first gets it.
            if found[at] > 0 and not _in_column(space.offsets, columns[k], region, found[at]):
                region[k] = found[at]
                reach[k] = found_reach[at]
                grown += 1
            else:
                waiting[kept] = k
                kept += 1
        count = kept
        if grown == 0:
            break
    return count


@kernel
def paint_border(offsets, region, width, depth, border):
    """Give the spans within `border` columns of the frame's sides the border's numbers, all others 0."""
    for column in range(width * depth):
        x, y = column % width, column // width
        number = 0
        if x < border:
            number = -1
        elif x >= width - border:
            number = -3
        elif y < border:
            number = -2
        elif y >= depth - border:
            number = -4
        for k in range(offsets[column], offsets[column + 1]):
            region[k] = number


@kernel_with_memory
def watershed(space, columns, distance, highest, region):
    """Regions by flooding from the water level `highest` down; returns their number.

    At each level the regions grow first, and what they did not reach starts basins of its own. `region` comes from
    `paint_border`; `columns` (n,) int32 is the column of each span.
    """
    kind = space.kind
    size = kind.size
    reach = np.zeros(size, np.int32)
    stack = np.empty(size, np.int32)
    waiting = np.empty(size, np.int32)
    found = np.empty(size, np.int32)
    found_reach = np.empty(size, np.int32)
    # Spans sorted by level (two half cells each), highest first.
    levels = highest // 2 + 1
    starts = np.zeros(levels + 2, np.int32)
    for k in range(size):
        if kind[k] > 0 and region[k] == 0:
            starts[levels - distance[k] // 2 + 1] += 1
    for level in range(levels + 1):
        starts[level + 1] += starts[level]
    order = np.empty(starts[-1], np.int32)
    cursor = starts[:-1].copy()
    for k in range(size):
        if kind[k] > 0 and region[k] == 0:
            at = levels - distance[k] // 2
            order[cursor[at]] = k
            cursor[at] += 1
    number = 0
    count = 0
    for at in range(levels + 1):
        level = 2 * (levels - at)
        for place in range(starts[at], starts[at + 1]):
            if region[order[place]] == 0:
                waiting[count] = order[place]
                count += 1
        count = _expand(space, columns, region, reach, waiting, count, _EXPAND, found, found_reach)
        kept = 0
        for place in range(count):
            k = waiting[place]
            if region[k] != 0:
                continue
            if _flood(space, columns, distance, region, reach, k, level, number + 1, stack) > 0:
                number += 1
            if region[k] == 0:
                waiting[kept] = k
                kept += 1
        count = kept
    count = _expand(space, columns, region, reach, waiting, count, -1, found, found_reach)
    # What is left lies above a region that it would belong to: it becomes regions of its own.
    for place in range(count):
        k = waiting[place]
        if region[k] == 0 and _flood(space, columns, distance, region, reach, k, -1, number + 1, stack) > 0:
            number += 1
    return number


@kernel_with_memory
def drop_small_regions(space, region, count, smallest):
    """Close groups of joined regions with fewer than `smallest` spans together, unless they reach the tile's border."""
    group = np.arange(count + 1).astype(np.int32)
    outside = np.zeros(count + 1, np.uint8)
    sizes = np.zeros(count + 1, np.int64)
    for k in range(region.size):
        own = region[k]
        if own <= 0:
            continue
        sizes[own] += 1
        for side in range(4):
            beside = space.links[k, side]
            if beside < 0:
                continue
            other = region[beside]
            if other < 0:
                outside[own] = 1
            elif other > 0 and other != own:
                a, b = own, other
                while group[a] != a:
                    a = group[a]
                while group[b] != b:
                    b = group[b]
                if a != b:
                    group[max(a, b)] = min(a, b)
    for number in range(count, 0, -1):
        root = group[number]
        while group[root] != root:
            root = group[root]
        group[number] = root
        if root != number:
            sizes[root] += sizes[number]
            outside[root] |= outside[number]
    for k in range(region.size):
        if region[k] > 0:
            root = group[region[k]]
            if sizes[root] < smallest and outside[root] == 0:
                region[k] = 0


@kernel_with_memory
def merge_regions(space, region, loops, count, small):
    """One round of merging: regions of at most `small` spans, and those inside others, join their smallest neighbour.

    Regions merge only when they border on each other along one run of their rims (so no hole comes to be), are of one
    kind of area, and nowhere lie above each other. Each region takes part once a round. Returns the number of merges.
    """
    sizes = np.zeros(count + 1, np.int64)
    area = np.zeros(count + 1, np.uint8)
    for k in range(region.size):
        if region[k] > 0:
            sizes[region[k]] += 1
            area[region[k]] = space.kind[k]
    # Runs of one neighbour along each rim, as pairs own * (count + 1) + neighbour.
    base = count + 1
    runs = np.empty(loops.label.size + 1, np.int64)
    used = 0
    at_wall = np.zeros(base, np.uint8)
    for loop in range(loops.offsets.size - 1):
        first, last = loops.offsets[loop], loops.offsets[loop + 1]
        own = region[loops.span[first]]
        previous = loops.label[last - 1]
        changed = False
        for e in range(first, last):
            label = loops.label[e]
            if label <= 0:
                at_wall[own] = 1
            if label != previous:
                changed = True
                if label > 0:
                    runs[used] = own * base + label
                    used += 1
            previous = label
        if not changed and previous > 0:
            runs[used] = own * base + previous
            used += 1
    runs = np.sort(runs[:used])
    # Regions above each other.
    stacked_count = 0
    for column in range(space.offsets.size - 1):
        spans = space.offsets[column + 1] - space.offsets[column]
        if spans > 1:
            stacked_count += spans * (spans - 1)
    stacked = np.empty(stacked_count, np.int64)
    stacked_count = 0
    for column in range(space.offsets.size - 1):
        for a in range(space.offsets[column], space.offsets[column + 1]):
            for b in range(space.offsets[column], space.offsets[column + 1]):
                if a != b and region[a] > 0 and region[b] > 0:
                    stacked[stacked_count] = region[a] * base + region[b]
                    stacked_count += 1
    stacked = np.sort(stacked[:stacked_count])
    renamed = np.arange(base).astype(np.int32)
    done = np.zeros(base, np.uint8)
    merges = 0
    place = 0
    for own in range(1, base):
        first = place
        while place < used and runs[place] // base == own:
            place += 1
        if done[own] or sizes[own] == 0 or (sizes[own] > small and at_wall[own]):
            continue
        best = 0
        for at in range(first, place):
            other = runs[at] % base
            once = (at == first or runs[at - 1] != runs[at]) and (at + 1 == place or runs[at + 1] != runs[at])
            if not once or done[other] or area[other] != area[own] or (best > 0 and sizes[other] >= sizes[best]):
                continue
            back = np.searchsorted(runs, other * base + own)
            if back + 1 < used and runs[back + 1] == runs[back]:
                continue
            above = np.searchsorted(stacked, own * base + other)
            if above < stacked_count and stacked[above] == own * base + other:
                continue
            best = other
        if best > 0:
            renamed[own] = best
            done[own] = done[best] = 1
            merges += 1
    if merges > 0:
        for k in range(region.size):
            if region[k] > 0:
                region[k] = renamed[region[k]]
    return merges
