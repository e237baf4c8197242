# mypy: ignore-errors
"""A tile as a mesh of its own, tiles stitched to one mesh, and arrays carried over when a few tiles change.

Both tiles of a border see the same voxels along it, so the doors of one have exact partners in the other: same place,
same pair of floors. Doors come sorted by (side, floor, floor, place), so matching is one walk along two lists.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import helper_with_memory, inline, kernel, kernel_with_memory
from wayfold.graph.search_kernels import find_root
from wayfold.navmesh._contour_kernels import _kept_after

LANE = -5  # region of ground that erosion took and a lane may lead over; and, for lanes, of ground that is left
BEYOND = -6  # for lanes: region of such ground in another tile


class TileMesh(NamedTuple):
    """The polygons of one tile."""

    x: np.ndarray  # (v,) int32, lattice of the world
    y: np.ndarray  # (v,) int32
    z: np.ndarray  # (v,) float32, metres above the origin
    offsets: np.ndarray  # (p + 1,) int32
    vertices: np.ndarray  # (m,) int32
    neighbours: np.ndarray  # (m,) int32, polygon beyond the edge to the next vertex, -1 for none in this tile
    areas: np.ndarray  # (p,) uint8
    doors: np.ndarray  # (d, 7) int32, see `tile_mesh`


@kernel_with_memory
def tile_mesh(pieces, loops, corners, keep, edge_at, space, region, frame):
    """Vertices with heights, neighbours across rims, and doors: where polygons border on the tile's sides.

    A door is a run of unit edges that lead out of the tile: side, floor in the tile of the two that lies west or south,
    floor in the other, first and last + 1 lattice position along the side, polygon, edge (number within the tile).
    Between lanes and other ground, anywhere in the tile, it is: 4 + side, lattice position of the line, floor of that
    ground, and the rest as above; between lanes of two tiles: 8 + side, position, floor of the one that lies west or
    south.
    """
    links = space.links
    number = np.full(loops.span.size, -1, np.int32)
    size = pieces.corner.size
    x = np.empty(size, np.int32)
    y = np.empty(size, np.int32)
    z = np.empty(size, np.float32)
    vertices = np.empty(size, np.int32)
    neighbours = np.full(size, -1, np.int32)
    owner = np.full(size, -1, np.int32)
    count = len(pieces.region)
    areas = np.empty(count, np.uint8)
    used = 0
    for polygon in range(count):
        for at in range(pieces.offsets[polygon], pieces.offsets[polygon + 1]):
            owner[at] = polygon
            e = pieces.corner[at]
            areas[polygon] = space.kind[loops.span[e]]
            root = corners.root[e]
            if number[root] < 0:
                number[root] = used
                x[used] = frame.first_x + corners.x[root]
                y[used] = frame.first_y + corners.y[root]
                z[used] = _corner_ground(links, space.ground, loops.span[root], loops.side[root])
                used += 1
            vertices[at] = number[root]
    for at in range(size):
        if pieces.twin[at] >= 0:
            neighbours[at] = owner[pieces.twin[at]]
    met = np.full(loops.span.size, -1, np.int32)
    doors = np.empty((loops.span.size, 7), np.int32)
    door_count = 0
    for at in range(size):
        e = pieces.tag[at]
        if e < 0 or loops.label[e] == 0:
            continue
        loop_first, loop_last = loops.offsets[corners.loop[e]], loops.offsets[corners.loop[e] + 1]
        end = _kept_after(loops, corners, keep, e)
        if loops.label[e] > 0:
            # Both regions name the edge by the first unit edge of the one with the lower number.
            name = e
            if region[loops.span[e]] > loops.label[e]:
                last = end - 1 if end > loop_first else loop_last - 1
                name = edge_at[links[loops.span[last], loops.side[last]], loops.side[last] ^ 2]
            if met[name] < 0:
                met[name] = at
            else:
                neighbours[at] = owner[met[name]]
                neighbours[met[name]] = owner[at]
            continue
        fresh = True
        while e != end:
            k, side = loops.span[e], loops.side[e]
            along_x = side == 1 or side == 3
            # Unit edges run counter-clockwise: down the west and north sides, up the south and east ones.
            place = frame.first_x + corners.x[e] if along_x else frame.first_y + corners.y[e]
            line = frame.first_y + corners.y[e] if along_x else frame.first_x + corners.x[e]
            if side == 0 or side == 3:
                place -= 1
            beside = links[k, side]
            code = np.int32(side)
            one, two = space.floor[k], space.floor[beside]
            if side < 2:
                one, two = two, one
            if loops.label[e] == BEYOND:
                code, one, two = code + 8, line, one
            elif loops.label[e] == LANE and space.kind[beside] > 0:
                code, one, two = code + 4, line, space.floor[beside]
            elif space.kind[beside] == 0:
                code, one, two = code + 4, line, space.floor[k]
            row = doors[door_count - 1]
            if not fresh and row[0] == code and row[1] == one and row[2] == two:
                row[3] = min(row[3], place)
                row[4] = max(row[4], place + 1)
            else:
                row = doors[door_count]
                row[0], row[1], row[2] = code, one, two
                row[3], row[4] = place, place + 1
                row[5], row[6] = owner[at], at
                door_count += 1
            fresh = False
            e = e + 1 if e + 1 < loop_last else loop_first
    return TileMesh(
        x[:used].copy(),
        y[:used].copy(),
        z[:used].copy(),
        pieces.offsets,
        vertices,
        neighbours,
        areas,
        doors[:door_count].copy(),
    )


@inline
def _corner_ground(links, ground, k, side):
    """Height of the ground at the start corner of a unit edge: the mean of the spans around it that link up."""
    before = (side + 3) & 3
    total, count = ground[k], 1
    for turn in range(2):
        first, second = (side, before) if turn == 0 else (before, side)
        beside = links[k, first]
        if beside >= 0:
            total += ground[beside]
            count += 1
            diagonal = links[beside, second]
            if diagonal >= 0 and (turn == 0 or links[k, side] < 0 or links[links[k, side], before] < 0):
                total += ground[diagonal]
                count += 1
    return total / count


class TileParts(NamedTuple):
    """The meshes of all tiles, one after the other; numbers of vertices, polygons and edges count through."""

    x: np.ndarray  # (v,) int32, lattice of the world
    y: np.ndarray  # (v,) int32
    z: np.ndarray  # (v,) float32, metres above the origin
    offsets: np.ndarray  # (p + 1,) int64
    vertices: np.ndarray  # (m,) int32
    neighbours: np.ndarray  # (m,) int32
    areas: np.ndarray  # (p,) uint8
    doors: np.ndarray  # (d, 7) int32
    bases: np.ndarray  # (tiles + 1, 4) int64: first vertex, polygon, edge and door of each tile


class Stitched(NamedTuple):
    """One mesh without gaps: edges on both sides of a border have the same ends."""

    x: np.ndarray  # (v,) int32
    y: np.ndarray  # (v,) int32
    z: np.ndarray  # (v,) float32
    offsets: np.ndarray  # (p + 1,) int64
    vertices: np.ndarray  # (m,) int32
    neighbours: np.ndarray  # (m,) int32
    vertex_bases: np.ndarray  # (tiles + 1,) int64, first vertex of each tile


@inline
def _side_range(doors, first, last, side):
    """The rows of one side among the sorted doors of a tile."""
    while first < last and doors[first, 0] < side:
        first += 1
    end = first
    while end < last and doors[end, 0] == side:
        end += 1
    return first, end


@inline
def _before(doors, a, b):
    """Whether the floors of door a come before those of door b."""
    return doors[a, 1] < doors[b, 1] or (doors[a, 1] == doors[b, 1] and doors[a, 2] < doors[b, 2])


@inline
def _order(one, a, two, b):
    """1 where row a of one list of doors lies on an earlier line or floor than row b of the other, -1 where later."""
    for k in range(3):
        if one[a, k] != two[b, k]:
            return 1 if one[a, k] < two[b, k] else -1
    return 0


@helper_with_memory
def _match(parts, lower, upper, columns, rows):
    """Pairs of edges that share a stretch of border: (k, 4) int32, edge in the lower tile, in the other, low, high.

    Stretches of one edge come in the order of the doors, not yet joined.
    """
    doors, offsets = parts.doors, parts.bases[:, 3]
    capacity = max(16, len(doors) + len(lower) + len(upper))
    pairs = np.empty((capacity, 4), np.int32)
    used = 0
    a, b = 0, 0
    while a < len(lower) and b < len(upper):
        order = _order(lower, a, upper, b)
        if order != 0:
            a += order > 0
            b += order < 0
            continue
        low, high = max(lower[a, 3], upper[b, 3]), min(lower[a, 4], upper[b, 4])
        if low < high:
            # Stretches of two lists without overlaps: never more than rows.
            pairs[used, 0], pairs[used, 1] = lower[a, 6], upper[b, 6]
            pairs[used, 2], pairs[used, 3] = low, high
            used += 1
        if lower[a, 4] <= upper[b, 4]:
            a += 1
        else:
            b += 1
    for tile in range(columns * rows):
        for turn in range(2):
            side = 2 + turn
            if (turn == 0 and tile % columns == columns - 1) or (turn == 1 and tile // columns == rows - 1):
                continue
            other = tile + 1 if turn == 0 else tile + columns
            a, a_end = _side_range(doors, offsets[tile], offsets[tile + 1], side)
            b, b_end = _side_range(doors, offsets[other], offsets[other + 1], side ^ 2)
            while a < a_end and b < b_end:
                if _before(doors, a, b):
                    a += 1
                    continue
                if _before(doors, b, a):
                    b += 1
                    continue
                low, high = max(doors[a, 3], doors[b, 3]), min(doors[a, 4], doors[b, 4])
                if low < high:
                    if used == capacity:
                        capacity *= 2
                        more = np.empty((capacity, 4), np.int32)
                        more[:used] = pairs[:used]
                        pairs = more
                    pairs[used, 0], pairs[used, 1] = doors[a, 6], doors[b, 6]
                    pairs[used, 2], pairs[used, 3] = low, high
                    used += 1
                if doors[a, 4] <= doors[b, 4]:
                    a += 1
                else:
                    b += 1
    return pairs[:used]


@inline
def _chain(head, after, starts, edge, item):
    """Hang an item on an edge's chain, which is kept in the order of `starts`."""
    at, before = head[edge], -1
    while at >= 0 and starts[at] < starts[item]:
        before, at = at, after[at]
    after[item] = at
    if before < 0:
        head[edge] = item
    else:
        after[before] = item


@inline
def _end_at(parts, edge, last, place):
    """The vertex of an edge at a lattice position along its border, -1 for none; `last` is the edge's other vertex."""
    first = parts.vertices[edge]
    along_y = parts.x[first] == parts.x[last]
    if (parts.y[first] if along_y else parts.x[first]) == place:
        return first
    if (parts.y[last] if along_y else parts.x[last]) == place:
        return last
    return np.int32(-1)


@kernel_with_memory
def stitch(parts, lower, upper, columns, rows):
    """Join the tiles of a grid of `columns` x `rows` to one mesh.

    `lower` and `upper` (k, 7) int32 are the doors of lanes, on the lower and on the upper side of their lines, with the
    number of their turn instead of their side, sorted by (turn, line, floor, place).
    """
    pairs = _match(parts, lower, upper, columns, rows)
    edges = parts.vertices.size
    owner = np.empty(edges, np.int32)
    following = np.empty(edges, np.int32)
    for polygon in range(parts.areas.size):
        for edge in range(parts.offsets[polygon], parts.offsets[polygon + 1]):
            owner[edge] = polygon
            following[edge] = edge + 1
        following[parts.offsets[polygon + 1] - 1] = parts.offsets[polygon]
    # Stretches in the order of the border, joined to runs of one pair of edges.
    head = np.full(edges, -1, np.int32)
    after = np.empty(len(pairs), np.int32)
    starts = pairs[:, 2].copy()
    for k in range(len(pairs)):
        _chain(head, after, starts, pairs[k, 0], k)
    runs = np.empty((len(pairs), 4), np.int32)
    count = 0
    for edge in range(edges):
        at = head[edge]
        fresh = True
        while at >= 0:
            if not fresh and runs[count - 1, 1] == pairs[at, 1] and runs[count - 1, 3] == pairs[at, 2]:
                runs[count - 1, 3] = pairs[at, 3]
            else:
                runs[count] = pairs[at]
                count += 1
            fresh = False
            at = after[at]
    low = runs[:count, 2].copy()
    chain_head = np.full(edges, -1, np.int32)
    chains = np.full((2, count), -1, np.int32)
    for run in range(count - 1, -1, -1):
        _chain(chain_head, chains[0], low, runs[run, 0], run)
        _chain(chain_head, chains[1], low, runs[run, 1], run)
    # Vertices at the ends of the runs, on each side: those of the edge, or new ones.
    old = parts.x.size
    x = np.empty(old + 4 * count, np.int32)
    y = np.empty(old + 4 * count, np.int32)
    z = np.empty(old + 4 * count, np.float32)
    x[:old], y[:old], z[:old] = parts.x, parts.y, parts.z
    ends = np.empty((2, count, 2), np.int32)
    used = old
    tiles = len(parts.bases) - 1
    splits = np.empty(tiles + 1, np.int64)  # new vertices of each tile: edges come tile by tile
    for tile in range(tiles):
        splits[tile] = used
        for edge in range(parts.bases[tile, 2], parts.bases[tile + 1, 2]):
            run = chain_head[edge]
            if run < 0:
                continue
            which = 0 if runs[run, 0] == edge else 1
            first, last = parts.vertices[edge], parts.vertices[following[edge]]
            previous = -1
            while run >= 0:
                for end in range(2):
                    place = runs[run, 2 + end]
                    vertex = _end_at(parts, edge, last, place)
                    if vertex < 0 and end == 0 and previous >= 0 and runs[previous, 3] == place:
                        vertex = ends[which, previous, 1]
                    if vertex < 0:
                        vertex = used
                        along_y = x[first] == x[last]
                        x[used] = x[first] if along_y else place
                        y[used] = place if along_y else y[first]
                        t = (
                            (place - y[first]) / (y[last] - y[first])
                            if along_y
                            else (place - x[first]) / (x[last] - x[first])
                        )
                        z[used] = z[first] + t * (z[last] - z[first])
                        used += 1
                    ends[which, run, end] = vertex
                previous = run
                run = chains[which, run]
    splits[tiles] = used
    root = np.arange(used).astype(np.int32)
    for run in range(count):
        for end in range(2):
            a, b = find_root(root, ends[0, run, end]), find_root(root, ends[1, run, end])
            if a != b:
                root[max(a, b)] = min(a, b)
    return _emit(parts, runs, count, chain_head, chains, ends, owner, following, root, splits, x, y, z)


@helper_with_memory
def _emit(parts, runs, count, chain_head, chains, ends, owner, following, root, splits, x, y, z):
    """The polygons with their split edges, and only the vertices that they use, numbered tile by tile."""
    polygons = parts.areas.size
    room = parts.vertices.size + 2 * count
    room += 2 * count
    vertices = np.empty(room, np.int32)
    neighbours = np.empty(room, np.int32)
    offsets = np.zeros(polygons + 1, np.int64)
    picked = np.empty(2 * count + 2, np.int32)
    number = np.full(root.size, -1, np.int32)
    used = 0
    for polygon in range(polygons):
        for edge in range(parts.offsets[polygon], parts.offsets[polygon + 1]):
            start, end = find_root(root, parts.vertices[edge]), find_root(root, parts.vertices[following[edge]])
            run = chain_head[edge]
            if run < 0:
                vertices[used], neighbours[used] = start, parts.neighbours[edge]
                used += 1
                continue
            which = 0 if runs[run, 0] == edge else 1
            size = 0
            while run >= 0:
                picked[size] = run
                size += 1
                run = chains[which, run]
            first, last = parts.vertices[edge], parts.vertices[following[edge]]
            rising = x[last] + y[last] > x[first] + y[first]
            at = start
            for k in range(size):
                run = picked[k] if rising else picked[size - 1 - k]
                near = find_root(root, ends[which, run, 0 if rising else 1])
                if near != at:
                    vertices[used], neighbours[used] = at, -1
                    used += 1
                vertices[used], neighbours[used] = near, owner[runs[run, 1 - which]]
                used += 1
                at = find_root(root, ends[which, run, 1 if rising else 0])
            if at != end:
                vertices[used], neighbours[used] = at, -1
                used += 1
        offsets[polygon + 1] = used
    for at in range(used):
        number[vertices[at]] = 0
    order = np.empty(root.size, np.int32)
    tiles = len(parts.bases) - 1
    vertex_bases = np.zeros(tiles + 1, np.int64)
    kept = 0
    for tile in range(tiles):
        for group in range(2):
            first = parts.bases[tile, 0] if group == 0 else splits[tile]
            last = parts.bases[tile + 1, 0] if group == 0 else splits[tile + 1]
            for vertex in range(first, last):
                if number[vertex] == 0:
                    number[vertex] = kept
                    order[kept] = vertex
                    kept += 1
        vertex_bases[tile + 1] = kept
    for at in range(used):
        vertices[at] = number[vertices[at]]
    order = order[:kept]
    return Stitched(
        x[order], y[order], z[order], offsets, vertices[:used].copy(), neighbours[:used].copy(), vertex_bases
    )


_BLOCK = 1024


@inline
def _run(starts, number):
    """The run that a number belongs to."""
    low, high = 0, starts.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if starts[middle] <= number:
            low = middle
        else:
            high = middle
    return low


@inline
def _shift_block(values, low, high, shift, out):
    """Move the numbers from `low` to `high`; returns how many others there are that are not -1."""
    others = 0
    for at in range(values.size):
        value = values[at]
        mine = low <= value <= high
        out[at] = value + (shift if mine else 0)
        others += 0 if mine or value < 0 else 1
    return others


@kernel
def carry(values, starts, shifts, run, out):
    """Old numbers as new ones; -1 stays.

    Numbers from ``starts[r]`` to ``starts[r + 1] - 1`` move by ``shifts[r]``; most of `values` are of run `run`.
    """
    low, high, shift = np.int32(starts[run]), np.int32(starts[run + 1] - 1), np.int32(shifts[run])
    for first in range(0, values.size, _BLOCK):
        last = min(first + _BLOCK, values.size)
        # Written so that it is compiled for several numbers at a time; then again where that was wrong.
        if _shift_block(values[first:last], low, high, shift, out[first:last]) > 0:
            for at in range(first, last):
                value = values[at]
                out[at] = value if value < 0 else value + shifts[_run(starts, value)]


@kernel
def match(old, fresh, first, last, fresh_first, fresh_last, kept):
    """Write which of the old polygons `first` to `last` - 1 each of some fresh ones is, corner by corner; -1 for none.

    `kept` (k,) int32 is for the fresh polygons from `fresh_first` on.
    """
    for polygon in range(fresh_first, fresh_last):
        begin = fresh.offsets[polygon]
        corners = fresh.offsets[polygon + 1] - begin
        kept[polygon - fresh_first] = -1
        for other in range(first, last):
            other_begin = old.offsets[other]
            if old.offsets[other + 1] - other_begin != corners:
                continue
            same = 0
            while same < corners:
                a, b = old.corners[other_begin + same], fresh.corners[begin + same]
                if (
                    old.vertices[a, 0] != fresh.vertices[b, 0]
                    or old.vertices[a, 1] != fresh.vertices[b, 1]
                    or old.vertices[a, 2] != fresh.vertices[b, 2]
                ):
                    break
                same += 1
            if same == corners:
                kept[polygon - fresh_first] = other
                break


@kernel
def carry_cells(offsets, polygons, starts, shifts, gone, window, columns, slots, fresh, out_offsets, out_polygons):
    """Rows of a spatial index with the polygons of some runs taken out and fresh ones put in.

    Polygons stay in ascending order within each cell.

    Parameters
    ----------
    offsets, polygons :
        The old index; `offsets` only of the rows of cells of the window.
    starts, shifts :
        As for `carry`, of polygons.
    gone : (runs,) uint8
        1 where the old polygons of a run are taken out.
    window : (4,) int64
        First and last column and row of cells where polygons go or come.
    slots : (cells + 1,) int64
        Where the fresh polygons of each cell of these rows begin in `fresh`; looked at only inside the window.
    out_offsets, out_polygons :
        The new index, of which these rows are filled in. Returns where they end in `out_polygons`.
    """
    used = offsets[0]
    run = 0
    for row in range((offsets.size - 1) // columns):
        for column in range(columns):
            cell = row * columns + column
            out_offsets[cell] = used
            first, last = offsets[cell], offsets[cell + 1]
            if not window[0] <= column <= window[1]:
                for k in range(first, last):
                    polygon = polygons[k]
                    if polygon < starts[run] or polygon >= starts[run + 1]:
                        run = _run(starts, polygon)
                    out_polygons[used] = polygon + shifts[run]
                    used += 1
                continue
            at, end = slots[cell], slots[cell + 1]
            for k in range(first, last):
                polygon = polygons[k]
                run = _run(starts, polygon)
                if gone[run]:
                    continue
                moved = polygon + shifts[run]
                while at < end and fresh[at] < moved:
                    out_polygons[used] = fresh[at]
                    used += 1
                    at += 1
                out_polygons[used] = moved
                used += 1
            while at < end:
                out_polygons[used] = fresh[at]
                used += 1
                at += 1
    return used


@kernel
def cell_window(ground, first, last, cells, window):
    """Widen a window of cells so that it holds the boxes of the polygons `first` to `last` - 1."""
    for polygon in range(first, last):
        for k in range(ground.offsets[polygon], ground.offsets[polygon + 1]):
            vertex = ground.corners[k]
            column = int(min(2e9, max(-2e9, np.floor((ground.vertices[vertex, 0] - cells.x) / cells.size))))
            row = int(min(2e9, max(-2e9, np.floor((ground.vertices[vertex, 1] - cells.y) / cells.size))))
            column, row = min(cells.columns - 1, max(0, column)), min(cells.rows - 1, max(0, row))
            window[0], window[1] = min(window[0], column), max(window[1], column)
            window[2], window[3] = min(window[2], row), max(window[3], row)
