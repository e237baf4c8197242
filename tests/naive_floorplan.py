"""Oracles of the floorplan package: shapely and flood fill, sharing no code with the package."""

from __future__ import annotations

import math
from collections import deque
from fractions import Fraction
from itertools import pairwise

import numpy as np
import shapely
import shapely.ops
from shapely import affinity


def free_space(boundary, obstacles):
    """Boundary minus obstacles, one obstacle after the other.

    Corners are computed, so obstacles that share a border may leave a part of it between them: what is narrower than a
    billionth of the plan is no place.
    """
    free = boundary
    for obstacle in obstacles:
        free = free.difference(obstacle)
    low_x, low_y, high_x, high_y = boundary.bounds
    narrow = 1e-9 * max(high_x - low_x, high_y - low_y)
    parts = shapely.get_parts(free)
    kept = parts[shapely.area(parts) > 0.5 * narrow * shapely.length(parts)]
    return free if len(kept) == len(parts) else shapely.union_all(kept)


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


def exact_area(region):
    """Area of a polygon without holes, without rounding."""
    corners = [(Fraction(x), Fraction(y)) for x, y in shapely.get_coordinates(region)]
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in pairwise(corners))) / 2


def is_convex(region, tolerance):
    """Whether no corner lies further than `tolerance` inside the convex hull."""
    hull = region.convex_hull.exterior
    return all(hull.distance(shapely.Point(corner)) <= tolerance for corner in region.exterior.coords)


def touching_pairs(regions, least, near=None):
    """Pairs of regions and the length of border they share, where it is longer than `least`.

    Two edges are a border where they run within `near` (1e-6 of `least`) of each other over the whole length that they
    lie side by side, so the edges of a wedge, which leave each other however slowly, are none.
    """
    pairs = {}
    near = least * 1e-6 if near is None else near
    tree = shapely.STRtree(regions)
    for a, b in zip(*tree.query(regions, predicate="dwithin", distance=near), strict=True):
        if a < b:
            edges = [np.array(list(pairwise(regions[k].exterior.coords))) for k in (a, b)]
            length = _side_by_side(*edges, near)
            if length > least:
                pairs[int(a), int(b)] = length
    return pairs


def _side_by_side(ours, theirs, near):
    """Length over which segments (k, 2, 2) lie side by side with others within `near` of them all along it."""
    e, f = ours[:, None], theirs[None]
    length = np.hypot(*(e[:, :, 1] - e[:, :, 0]).transpose(2, 0, 1))
    way = (e[:, :, 1] - e[:, :, 0]) / length[..., None]
    away = f - e[:, :, :1]
    t = (away * way[:, :, None]).sum(axis=-1)
    d = way[:, :, None, 0] * away[..., 1] - way[:, :, None, 1] * away[..., 0]
    low, high = np.maximum(0.0, t.min(axis=-1)), np.minimum(length, t.max(axis=-1))
    span = t[..., 1] - t[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = [np.abs(d[..., 0] + (at - t[..., 0]) / span * (d[..., 1] - d[..., 0])) for at in (low, high)]
    return float((high - low)[(high > low) & (np.maximum(*apart) <= near)].sum())


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


def unit_growth_following(boundary, obstacles, seed, unit):
    """The paper's advanced case for one region, a unit at a time: (x, y) grows among convex obstacles in a box.

    A frame moves each side out by a unit. A side that would take in a corner of an obstacle, or leave the boundary,
    stays where it was for good. A side whose end would enter an obstacle follows the edge that it met there, and stays
    for good when it would pass the extent of that edge. Returns the region as a polygon.
    """
    low_x, low_y, high_x, high_y = boundary.bounds
    x, y = seed
    half = unit / 2
    limits = [x + half, y + half, -(x - half), -(y - half)]  # how far east, north, west and south it reaches
    ways = [(1, 0), (0, 1), (-1, 0), (0, -1)]
    ends = [high_x, high_y, -low_x, -low_y]
    followed = []  # half-planes to the right of directed edges, as polygons, and the two ends of the edge
    growing = [True] * 4

    def shape(reach):
        region = shapely.box(-reach[2], -reach[3], reach[0], reach[1])
        for plane, _, _ in followed:
            region = region.intersection(plane)
        return region

    def half_plane(a, b):
        (ax, ay), (bx, by) = a, b
        length = np.hypot(bx - ax, by - ay)
        dx, dy = (bx - ax) / length * 1e4, (by - ay) / length * 1e4
        return shapely.Polygon(
            [(ax - dx, ay - dy), (ax + dx, ay + dy), (ax + dx + dy, ay + dy - dx), (ax - dx + dy, ay - dy - dx)]
        )

    while any(growing):
        for side in range(4):
            if not growing[side]:
                continue
            way = ways[side]
            reach = list(limits)
            reach[side] += unit
            capped = any(
                max(a[0] * way[0] + a[1] * way[1], b[0] * way[0] + b[1] * way[1]) < reach[side]
                and plane.exterior.distance(shape(limits)) < 1e-9
                and _touches_side(shape(limits), a, b, way, limits[side])
                for plane, a, b in followed
            )
            if reach[side] > ends[side] + 1e-12 or capped:
                growing[side] = False
                continue
            new = shape(reach)
            if new.area <= shape(limits).area + 1e-12:
                growing[side] = False
                continue
            hit = [obstacle for obstacle in obstacles if new.intersection(obstacle).area > 1e-12]
            edges = []
            for obstacle in hit:
                corners = list(shapely.orient_polygons(obstacle).exterior.coords)
                if any(new.buffer(-1e-9).contains(shapely.Point(corner)) for corner in corners):
                    edges = None
                    break
                crossed = [
                    (a, b) for a, b in pairwise(corners) if new.buffer(-1e-9).intersects(shapely.LineString([a, b]))
                ]
                slanted = [(a, b) for a, b in crossed if abs((b[0] - a[0]) * (b[1] - a[1])) > 1e-9]
                if len(crossed) != 1 or len(slanted) != 1:
                    edges = None
                    break
                edges += slanted
            if edges is None:
                growing[side] = False
                continue
            followed += [(half_plane(a, b), a, b) for a, b in edges]
            limits = reach
    return shape(limits)


def _touches_side(region, a, b, way, limit):
    """Whether the followed edge from a to b meets the side of a region at `limit` in direction `way`."""
    line = shapely.LineString([a, b])
    return any(
        abs(x * way[0] + y * way[1] - limit) < 1e-7 and line.distance(shapely.Point(x, y)) < 1e-7
        for x, y in region.exterior.coords
    )


def visibility_length(free, start, goal):
    """Length of the shortest way between two points of a free space, over all corners that see each other.

    The space is first made a hair smaller, so that places that only touch at a point are not joined; points on its
    border move to the nearest one that is left, in the tip of a wedge as far as that has gone. Who stands where places
    only touch leaves to all sides.
    """
    parts = shapely.get_parts(free.buffer(-1e-7, join_style="mitre"))
    ends = [shapely.Point(start), shapely.Point(goal)]
    if not len(parts):
        return math.inf
    away = np.array([shapely.distance(parts, end) for end in ends])
    # The tip of a wedge may have gone farther than other sides; what is behind a wall does not count.
    seen = np.array([shapely.covers(free.buffer(1e-8), shapely.shortest_line(parts, end)) for end in ends])
    beside = (away < 1e-6) | (away < 1e-5) & seen
    for at in range(2):
        if not beside[at].any():
            beside[at, np.argmin(np.where(seen[at], away[at], np.inf))] = seen[at].any()
    return min((_visibility_length(part, *ends) for part in parts[beside.all(axis=0)]), default=math.inf)


def _visibility_length(space, start, goal):
    nearest = [shapely.ops.nearest_points(space, end)[0].coords[0] for end in (start, goal)]
    corners = np.vstack([nearest, shapely.get_coordinates(space)])
    from_start, to_goal = (np.hypot(*(corners - end.coords[0]).T) < 1e-6 for end in (start, goal))
    from_start[0] = to_goal[1] = True
    a, b = np.triu_indices(len(corners), 1)
    lines = shapely.linestrings(np.stack([corners[a], corners[b]], axis=1))
    slack = space.buffer(1e-8, join_style="mitre")
    shapely.prepare(slack)
    seen = shapely.covers(slack, lines)
    away = np.where(from_start, 0.0, np.inf)
    table = np.full((len(corners), len(corners)), np.inf)
    table[a[seen], b[seen]] = table[b[seen], a[seen]] = shapely.length(lines[seen])
    for _ in range(len(corners)):
        nearer = np.minimum(away, (away[:, None] + table).min(axis=0))
        if (nearer == away).all():
            break
        away = nearer
    return float(away[to_goal].min())


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
