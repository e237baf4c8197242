# mypy: ignore-errors
"""The polygons of a tile as a mesh of its own: vertices with heights, neighbours, and doors to the tiles around it."""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import inline, kernel_with_memory
from wayfold.navmesh._contour_kernels import _kept_after

LANE = -5  # region of ground that erosion took and a lane may lead over; and, for lanes, of ground that is left
BEYOND = -6  # for lanes: region of such ground in another tile


class Mesh(NamedTuple):
    """The polygons of one tile."""

    x: np.ndarray  # (v,) int32, lattice of the world
    y: np.ndarray  # (v,) int32
    z: np.ndarray  # (v,) float32, metres above the origin
    offsets: np.ndarray  # (p + 1,) int32
    vertices: np.ndarray  # (m,) int32
    neighbours: np.ndarray  # (m,) int32, polygon beyond the edge to the next vertex, -1 for none in this tile
    kinds: np.ndarray  # (p,) uint8
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
    kinds = np.empty(count, np.uint8)
    used = 0
    for polygon in range(count):
        for at in range(pieces.offsets[polygon], pieces.offsets[polygon + 1]):
            owner[at] = polygon
            e = pieces.corner[at]
            kinds[polygon] = space.kind[loops.span[e]]
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
    return Mesh(
        x[:used].copy(),
        y[:used].copy(),
        z[:used].copy(),
        pieces.offsets,
        vertices,
        neighbours,
        kinds,
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
