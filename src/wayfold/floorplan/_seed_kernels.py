# mypy: ignore-errors
"""Seeds in open space beside regions: Algorithm 2 of paper 004."""

from wayfold.core.jit import inline, kernel
from wayfold.floorplan._bound_kernels import COS, SIN, bin_range


@kernel
def find_open_space(walls, regions, numbers, unit, gap, least, covers, seeds):
    """Seeds in the free parts beside the sides of the regions `numbers` (Algorithm 2).

    For each side the walls, vertices and regions that touch it are collected in `covers` (k, 2) scratch, and each
    free part between them that is longer than `least` gets a seed at its midpoint. Returns the number of seeds, or
    -1 when `covers` or `seeds` is too small.
    """
    planted = 0
    for region in numbers:
        count = regions.counts[region]
        for at in range(count):
            side = -1 - regions.bounds[region, at]
            if side < 0:
                continue
            c, s = COS[side], SIN[side]
            u = regions.limits[region, side]
            corners = regions.corners[region]
            before = (at + count - 1) % count
            begin, end = c * corners[before, 1] - s * corners[before, 0], c * corners[at, 1] - s * corners[at, 0]
            if end - begin <= least:
                continue
            used = collect_covers(walls, regions, region, side, u, begin, end, gap, covers)
            if used < 0:
                return -1
            order_rows(covers, used)
            v = begin
            for k in range(used + 1):
                until = covers[k, 0] if k < used else end
                if until - v > least:
                    if planted == seeds.shape[0]:
                        return -1
                    middle = 0.5 * (v + until)
                    seeds[planted, 0] = c * u - s * middle
                    seeds[planted, 1] = s * u + c * middle
                    seeds[planted, 2] = min(0.5 * unit, 0.25 * (until - v))
                    seeds[planted, 3] = side
                    seeds[planted, 4] = region
                    planted += 1
                if k < used:
                    v = max(v, covers[k, 1])
    return planted


@inline
def collect_covers(walls, regions, region, side, u, begin, end, gap, covers):
    """Parts of the line at u, from v = begin to end, that something touches from outside; -1 if there are too many."""
    c, s = COS[side], SIN[side]
    xa, ya, xb, yb = c * u - s * begin, s * u + c * begin, c * u - s * end, s * u + c * end
    left, right = bin_range(walls, min(xa, xb) - gap, max(xa, xb) + gap, 0)
    low, high = bin_range(walls, min(ya, yb) - gap, max(ya, yb) + gap, 1)
    used = 0
    for row in range(low, high + 1):
        for column in range(left, right + 1):
            bin_ = row * walls.shape[0] + column
            for item in range(walls.bins[bin_], walls.bins[bin_ + 1]):
                wall = walls.items[item]
                ends = walls.ends
                used = cover(
                    c * ends[wall, 0] + s * ends[wall, 1] - u,
                    c * ends[wall, 1] - s * ends[wall, 0],
                    c * ends[wall, 2] + s * ends[wall, 3] - u,
                    c * ends[wall, 3] - s * ends[wall, 2],
                    begin,
                    end,
                    gap,
                    covers,
                    used,
                )
                if used < 0:
                    return -1
            link = regions.heads[bin_]
            while link >= 0:
                other = regions.links[link, 0]
                link = regions.links[link, 1]
                corners = regions.corners[other]
                count = regions.counts[other]
                if other == region or count == 0:
                    continue
                k = count - 1
                for following in range(count):
                    used = cover(
                        c * corners[k, 0] + s * corners[k, 1] - u,
                        c * corners[k, 1] - s * corners[k, 0],
                        c * corners[following, 0] + s * corners[following, 1] - u,
                        c * corners[following, 1] - s * corners[following, 0],
                        begin,
                        end,
                        gap,
                        covers,
                        used,
                    )
                    if used < 0:
                        return -1
                    k = following
    return used


@inline
def cover(ua, va, ub, vb, begin, end, gap, covers, used):
    """Add what an edge covers of the line u = 0 between `begin` and `end`: an interval, or only a point."""
    near_a, near_b = abs(ua) <= gap, abs(ub) <= gap
    if near_a and near_b:
        low, high = min(va, vb), max(va, vb)
    elif near_a and ub > 0.0:
        low = high = va
    elif near_b and ua > 0.0:
        low = high = vb
    else:
        return used
    if high <= begin or low >= end:
        return used
    if used == covers.shape[0]:
        return -1
    covers[used, 0], covers[used, 1] = low, high
    return used + 1


@inline
def order_rows(rows, count):
    """Sort the first rows by their first number, by insertion: a side has few neighbours."""
    for k in range(1, count):
        a, b = rows[k, 0], rows[k, 1]
        at = k
        while at > 0 and rows[at - 1, 0] > a:
            rows[at, 0], rows[at, 1] = rows[at - 1, 0], rows[at - 1, 1]
            at -= 1
        rows[at, 0], rows[at, 1] = a, b
