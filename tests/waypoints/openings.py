"""Tunnels, shafts and rooms with walls or blocks across them that have one opening each, in any direction."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import shapely

from tests.waypoints.worlds import box
from wayfold import Mesh, Prism


class Tunnel(NamedTuple):
    mesh: Mesh
    start: np.ndarray
    goal: np.ndarray


def turn(rng, upright=False):
    """A random rotation, about the vertical only where `upright`."""
    if upright:
        cosine, sine = np.cos(angle := rng.uniform(0, 2 * np.pi)), np.sin(angle)
        return np.array([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]])
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q


def hollow(low, high):
    """A box seen from inside."""
    solid = box(low, high)
    return Mesh(solid.vertices, solid.triangles[:, ::-1])


def wall(x, thickness, width, height, hole):
    """A wall across a tunnel, a sheet where it has no thickness, with a hole (y0, z0, y1, z1)."""
    y0, z0, y1, z1 = hole
    parts = [((0, 0), (width, z0)), ((0, z1), (width, height)), ((0, z0), (y0, z1)), ((y1, z0), (width, z1))]
    parts = [(low, high) for low, high in parts if low[0] < high[0] and low[1] < high[1]]
    if thickness > 0:
        return [box((x, *low), (x + thickness, *high)) for low, high in parts]
    sheets = [[(x, a, b), (x, c, b), (x, c, d), (x, a, d)] for (a, b), (c, d) in parts]
    return [Mesh(corners, [(0, 1, 2), (0, 2, 3)]) for corners in sheets]


def size_of(rng):
    return (40.0, 4.0, 4.0) if rng.random() < 0.4 else tuple(rng.uniform((10, 3, 3), (50, 8, 8)))


def tunnel(rng, opening):
    """A tunnel, anywhere and in any direction, with a wall or two in it whose holes are `opening` metres wide."""
    length, width, height = size_of(rng)
    parts = [hollow((0, 0, 0), (length, width, height))]
    for x in rng.uniform((2.0, length / 2 + 0.5), (length / 2 - 2.5, length - 4.5))[: rng.integers(1, 3)]:
        wide, tall = opening, opening if rng.random() < 0.6 else rng.uniform(opening, 0.9 * height)
        y, z = rng.uniform(0, width - wide), rng.uniform(0, height - tall)
        y = 0.0 if rng.random() < 0.2 else y
        thickness = rng.choice([0.0, 0.02, 0.2, 1.0, 2.0])
        parts += wall(x, thickness, width, height, (y, z, y + wide, z + tall))
    mesh = Mesh.concatenate(parts)
    rotation = np.eye(3) if rng.random() < 0.2 else turn(rng)
    shift = rng.uniform(-50, 50, 3)
    ends = np.array([[1, width / 2, height / 2], [length - 1, width / 2, height / 2]]) @ rotation.T + shift
    return Tunnel(Mesh(mesh.vertices @ rotation.T + shift, mesh.triangles), *ends)


def blocked_tunnel(rng, gap):
    """An empty tunnel or shaft, and a block that leaves a gap of so many metres along one of its sides."""
    length, width, height = size_of(rng)
    shaft = rng.random() < 0.3
    mesh = hollow((0, 0, 0), (width, height, length) if shaft else (length, width, height))
    rotation, shift = turn(rng, upright=True), rng.uniform(-40, 40, 3)
    x, thick, side = rng.uniform(4, length - 6), rng.uniform(0.1, 2), rng.integers(4)
    across = [[-1.0, -1.0], [width + 1, height + 1]]
    if side < 2:
        across[0][side] = gap
    else:
        across[1][side - 2] = (width, height)[side - 2] - gap
    (y0, z0), (y1, z1) = across
    (left, front), (right, back), low, high = (
        ((y0, z0), (y1, z1), x, x + thick) if shaft else ((x, y0), (x + thick, y1), z0, z1)
    )
    outline = np.array([(left, front, 0), (right, front, 0), (right, back, 0), (left, back, 0)]) @ rotation.T + shift
    ends = np.array([[1, width / 2, height / 2], [length - 1, width / 2, height / 2]])
    ends = (ends[:, [1, 2, 0]] if shaft else ends) @ rotation.T + shift
    block = Prism(outline[:, :2], low + shift[2], high + shift[2])
    return Tunnel(Mesh(mesh.vertices @ rotation.T + shift, mesh.triangles), *ends), block


class Walled(NamedTuple):
    """A room, and blocks that shut it but for one opening; the judge sees both as boxes, in the room's own frame."""

    mesh: Mesh
    start: np.ndarray
    goal: np.ndarray
    blocks: list
    room: np.ndarray  # (3,), how long, wide and high it is; one corner is the origin
    solids: list  # (low, high) of every block
    frame: tuple  # rotation, shift, order of the axes

    def clearance(self, points):
        """The exact least distance of a path from the blocks and from the sides of the room."""
        rotation, shift, axes = self.frame
        local = np.empty((len(points), 3))
        local[:, axes] = (np.asarray(points) - shift) @ rotation
        sides = min(local.min(), (self.room - local).min())
        return min(sides, *(to_box(*pair, *solid) for pair in pairwise(local) for solid in self.solids))

    def built(self):
        """The same world with the blocks as walls of the mesh."""
        rotation, shift, axes = self.frame
        walls = [box(np.asarray(low)[axes], np.asarray(high)[axes]) for low, high in self.solids]
        walls = [Mesh(wall.vertices @ rotation.T + shift, wall.triangles) for wall in walls]
        return Mesh.concatenate([self.mesh, *walls])


def to_box(a, b, low, high):
    """The exact distance of a segment from a box.

    Between the planes of the box the square of the distance is a parabola along the segment.
    """
    way, low, high = b - a, np.asarray(low), np.asarray(high)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = np.concatenate([(low - a) / way, (high - a) / way])
    crossings = np.sort(np.clip(np.concatenate([[0.0, 1.0], crossings[np.isfinite(crossings)]]), 0.0, 1.0))
    best = np.inf
    for first, last in pairwise(crossings):
        middle = a + 0.5 * (first + last) * way
        side = np.where(middle < low, low, np.where(middle > high, high, np.nan))
        out = np.isfinite(side)
        steep = float((way[out] ** 2).sum())
        at = first if steep == 0.0 else np.clip(((side - a)[out] * way[out]).sum() / steep, first, last)
        best = min(best, float(np.linalg.norm((a + at * way - side)[out])))
    return best


def slabs(start, end, hole, room):
    """Boxes that shut a room between two places along it, but for a hole (y0, z0, y1, z1)."""
    y0, z0, y1, z1 = hole
    _, width, height = room
    return [
        ((start, 0, 0), (end, y0, height)),
        ((start, y1, 0), (end, width, height)),
        ((start, y0, 0), (end, y1, z0)),
        ((start, y0, z1), (end, y1, height)),
    ]


def bend(start, end, hole, room, rng):
    """Boxes that shut a room but for a way with two corners, as wide and high as a hole (y0, z0, y1, z1)."""
    y0, z0, y1, z1 = hole
    _, width, height = room
    wide = y1 - y0
    turn_at, out = rng.uniform(start, end - wide), rng.uniform(0, width - wide)
    return [
        ((start, 0, z0), (turn_at, y0, z1)),
        ((start, y1, z0), (turn_at, width, z1)),
        ((turn_at + wide, 0, z0), (end, out, z1)),
        ((turn_at + wide, out + wide, z0), (end, width, z1)),
        ((turn_at, 0, z0), (turn_at + wide, min(y0, out), z1)),
        ((turn_at, max(y0, out) + wide, z0), (turn_at + wide, width, z1)),
        ((start, 0, 0), (end, width, z0)),
        ((start, 0, z1), (end, width, height)),
    ]


LAYOUTS = ("hole", "bend", "window", "door", "slit", "side")


def walled(rng, radius, opening, layout=None, far=None):
    """A tunnel, room or shaft, and blocks across it that leave one opening of so many radii."""
    layout = rng.choice(LAYOUTS) if layout is None else layout
    wide = opening * radius
    long, width, height = rng.uniform((30, 7, 7), (75, 13, 13)) * radius * ((1, 2, 2) if layout == "window" else 1)
    room = np.array([long, max(width, 1.05 * wide), max(height, 1.05 * wide)])
    long, width, height = room
    thick = min(0.4 * long, rng.choice([0.2, 0.5, 1.0, 2.0, 4.0, 6.0]) * radius / 0.3)
    thick = min(thick, radius) if layout == "window" else max(thick, 3.0 * wide) if layout == "bend" else thick
    start = rng.uniform(0.2, 0.35) * long
    end = min(start + thick, 0.8 * long)
    y, z = rng.uniform(0, (width - wide, height - wide)) * (rng.random(2) < 0.85)
    hole = (y, z, y + wide, z + wide)
    if layout == "door":
        hole = (y, 0, y + wide, wide)
    elif layout == "slit":
        hole = (y, 0, y + wide, height) if rng.random() < 0.5 else (0, z, width, z + wide)
    elif layout == "side":
        shut = rng.integers(4)
        hole = [(0, 0, wide, height), (width - wide, 0, width, height), (0, 0, width, wide), None][shut]
        hole = (0, height - wide, width, height) if hole is None else hole
    solids = bend(start, end, hole, room, rng) if layout == "bend" else slabs(start, end, hole, room)
    solids = [solid for solid in solids if (np.subtract(*solid[::-1]) > 1e-9 * radius).all()]
    # Along the room, along its height, or upright.
    axes = [1, 2, 0] if rng.random() < 0.3 else [0, 1, 2]
    rotation = np.eye(3) if rng.random() < 0.4 else turn(rng, upright=True)
    shift = rng.uniform(-1, 1, 3) * (rng.choice([0.0, 100.0, 1e6]) if far is None else far) * radius
    mesh = hollow((0, 0, 0), room[axes])
    ends = np.array([(0.5 * start, 0.5 * width, 0.5 * height), (0.5 * (end + long), 0.5 * width, 0.5 * height)])
    over = radius if rng.random() < 0.3 else 0.0  # into the sides of the room
    blocks = [_prism(solid, room, over, axes, rotation, shift) for solid in solids]
    blocks = [blocks[at] for at in rng.permutation(len(blocks))]
    placed = Mesh(mesh.vertices @ rotation.T + shift, mesh.triangles)
    return Walled(placed, *(ends[:, axes] @ rotation.T + shift), blocks, room, solids, (rotation, shift, axes))


def _prism(solid, room, over, axes, rotation, shift):
    low, high = (np.array(corner, float) for corner in solid)
    low[1:] -= over * (low[1:] == 0.0)
    high[1:] += over * (high[1:] == room[1:])
    (left, front, bottom), (right, back, top) = low[axes], high[axes]
    outline = np.array([(left, front, 0), (right, front, 0), (right, back, 0), (left, back, 0)]) @ rotation.T + shift
    return Prism(outline[:, :2], bottom + shift[2], top + shift[2])


def porthole(rng, radius, corners, radii, thickness):
    """A room with a wall across it that has a window with so many corners, in which a circle of `radii` fits.

    `thickness` is that of the wall, in radii of who flies; 0 for a sheet.
    """
    room = rng.uniform((36, 10, 10), (48, 14, 14)) * radius
    angles = np.arange(corners) * 2 * np.pi / corners + rng.uniform(0, 2 * np.pi)
    window = np.column_stack([np.cos(angles), np.sin(angles)]) * radii * radius / np.cos(np.pi / corners)
    window += rng.uniform(2 * radii * radius, room[1:] - 2 * radii * radius)
    around = shapely.box(0, 0, *room[1:]).difference(shapely.Polygon(window))
    x, thick = rng.uniform(0.3, 0.6) * room[0], thickness * radius
    parts = [hollow((0, 0, 0), room)]
    for part in shapely.constrained_delaunay_triangles(around).geoms:
        corner = shapely.get_coordinates(shapely.orient_polygons(part))[:3]
        parts.append(Mesh(np.column_stack([np.full(3, x + thick), corner]), [(0, 1, 2)]))
        parts.append(Mesh(np.column_stack([np.full(3, x), corner]), [(0, 2, 1)]))
    for one, two in zip(window, np.roll(window, -1, axis=0), strict=True):
        if thick > 0:
            parts.append(Mesh([(x, *one), (x + thick, *one), (x + thick, *two), (x, *two)], [(0, 1, 2), (0, 2, 3)]))
    mesh, rotation, shift = Mesh.concatenate(parts), turn(rng), rng.uniform(-50, 50, 3)
    ends = np.array([(x / 2, *room[1:] / 2), ((x + thick + room[0]) / 2, *room[1:] / 2)]) @ rotation.T + shift
    return Tunnel(Mesh(mesh.vertices @ rotation.T + shift, mesh.triangles), *ends)
