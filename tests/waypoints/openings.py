"""Tunnels, shafts and rooms with walls across them that have one opening each, in any direction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
