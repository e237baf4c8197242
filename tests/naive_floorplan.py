"""Oracles of the floorplan room: shapely and flood fill, sharing no code with the package."""

from __future__ import annotations

from collections import deque

import numpy as np
import shapely
from shapely import affinity


def free_space(boundary, obstacles):
    """Boundary minus obstacles, one obstacle after the other."""
    free = boundary
    for obstacle in obstacles:
        free = free.difference(obstacle)
    return free


def covered(regions, free):
    """Share of the free space that regions cover, and share that lies outside of it."""
    union = shapely.union_all([region.buffer(0) for region in regions])
    if free.area == 0:
        return 1.0, union.area
    return union.intersection(free).area / free.area, union.difference(free).area / free.area


def overlap(regions):
    """Area that regions have in common, pair by pair."""
    tree = shapely.STRtree(regions)
    first, second = tree.query(regions)
    mine = first < second
    shapes = np.array(regions, dtype=object)
    return float(shapely.area(shapely.intersection(shapes[first[mine]], shapes[second[mine]])).sum())


def is_convex(region, tolerance):
    """Whether no corner lies further than `tolerance` inside the convex hull."""
    hull = region.convex_hull.exterior
    return all(hull.distance(shapely.Point(corner)) <= tolerance for corner in region.exterior.coords)


def touching_pairs(regions, least):
    """Pairs of regions and the length of border they share, where it is longer than `least`.

    A border is shared where both run within 1e-6 of `least` of each other; wider, and the edges of a sharp wedge would
    count as shared.
    """
    pairs = {}
    tree = shapely.STRtree(regions)
    for a, b in zip(*tree.query(regions, predicate="dwithin", distance=least * 1e-6), strict=True):
        if a < b:
            shared = regions[a].exterior.intersection(regions[b].exterior.buffer(least * 1e-6, cap_style="flat"))
            length = max((part.length for part in shapely.get_parts(shared)), default=0.0)
            if length > least:
                pairs[int(a), int(b)] = length
    return pairs


def flood_fill(free, bounds, cells):
    """Label the free cells of a fine raster: cells whose square lies in the free space, joined over their sides.

    Returns (labels, centres): labels (cells, cells) with -1 where a cell is not wholly free.
    """
    low_x, low_y, high_x, high_y = bounds
    x = np.linspace(low_x, high_x, cells + 1)
    y = np.linspace(low_y, high_y, cells + 1)
    squares = shapely.box(x[:-1][None], y[:-1][:, None], x[1:][None], y[1:][:, None])
    shapely.prepare(free)
    inside = shapely.covers(free, squares)
    labels = np.full((cells, cells), -1)
    count = 0
    for start in zip(*np.nonzero(inside), strict=True):
        if labels[start] >= 0:
            continue
        labels[start] = count
        queue = deque([start])
        while queue:
            row, column = queue.popleft()
            for r, c in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
                if 0 <= r < cells and 0 <= c < cells and inside[r, c] and labels[r, c] < 0:
                    labels[r, c] = count
                    queue.append((r, c))
        count += 1
    centres = np.stack(np.meshgrid((x[:-1] + x[1:]) / 2, (y[:-1] + y[1:]) / 2), axis=-1)
    return labels, centres


def unit_growth(free, seeds):
    """The paper's base case, word for word, on cells: squares grow a whole unit a frame, or not at all.

    `free` is (height, width) bool; `seeds` are cells (x, y). Returns the boxes (left, low, right, high).
    """
    height, width = free.shape
    owner = np.where(free, -1, -2)
    boxes = [[x, y, x + 1, y + 1] for x, y in seeds]
    for k, (x, y) in enumerate(seeds):
        owner[y, x] = k
    growing = [[True] * 4 for _ in seeds]
    still = True
    while still:
        still = False
        for k, box in enumerate(boxes):
            for side in range(4):
                if not growing[k][side]:
                    continue
                left, low, right, high = box
                strip = (
                    (slice(low, high), slice(right, right + 1)),
                    (slice(high, high + 1), slice(left, right)),
                    (slice(low, high), slice(left - 1, left)),
                    (slice(low - 1, low), slice(left, right)),
                )[side]
                off = (right == width, high == height, left == 0, low == 0)[side]
                if off or (owner[strip] != -1).any():
                    growing[k][side] = False
                    continue
                owner[strip] = k
                box[(2, 3, 0, 1)[side]] += (1, 1, -1, -1)[side]
                still = True
    return [tuple(box) for box in boxes]


def random_plan(rng, kind):
    """A boundary and obstacles of one of several awkward kinds, in a world of about 100 x 100."""
    boundary = shapely.box(0, 0, 100, 100)
    count = int(rng.integers(0, 14))
    shapes = []
    for _ in range(count):
        x, y = rng.uniform(-5, 105, 2)
        w, h = rng.uniform(1, 15, 2)
        box = shapely.box(x - w, y - h, x + w, y + h)
        if kind == "rotated":
            shapes.append(affinity.rotate(box, rng.uniform(0, 180)))
        elif kind == "lattice":  # corners on whole numbers: many touch, share corners and edges
            corners = rng.integers(0, 11, (3 + int(rng.integers(0, 3)), 2)) * 10.0
            shapes.append(shapely.MultiPoint(corners).convex_hull)
        elif kind == "boxes":
            a, b = rng.integers(0, 18, 2) * 5.0
            c, d = rng.integers(1, 6, 2) * 5.0
            shapes.append(shapely.box(a, b, a + c, b + d))
        elif kind == "slivers":
            shapes.append(affinity.rotate(shapely.box(x - 40, y - 1e-3, x + 40, y + 1e-3), rng.uniform(0, 180)))
        elif kind == "rings":  # obstacles with islands of free space inside, and round ones
            disc = shapely.Point(x, y).buffer(w, quad_segs=int(rng.integers(1, 6)))
            shapes.append(disc.difference(shapely.Point(x, y).buffer(w * 0.6, quad_segs=2)))
        else:  # stars: not convex
            angle = np.sort(rng.uniform(0, 2 * np.pi, 7))
            radius = rng.uniform(0.2, 1.0, 7) * w * 1.5
            star = shapely.Polygon(np.column_stack([x + radius * np.cos(angle), y + radius * np.sin(angle)]))
            shapes.append(star)
    shapes = [shape for shape in shapes if shape.geom_type == "Polygon" and shape.area > 0 and shape.is_valid]
    if kind == "rotated" and rng.random() < 0.3:
        boundary = affinity.rotate(boundary, rng.uniform(0, 90))
    if kind == "stars":
        boundary = boundary.difference(shapely.Point(0, 0).buffer(30)).difference(shapely.Point(100, 60).buffer(25))
    return boundary, shapes


KINDS = ("rotated", "lattice", "boxes", "slivers", "rings", "stars")
