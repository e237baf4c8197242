"""Small levels of solid boxes and slabs, with doors well above or well below the size of who asks.

A `Scene` is triangles, queries, and what is known of them: each agent is asked only what its size decides clearly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from wayfold import Agent, Mesh, Motion

PERSON = Agent()
CART = Agent(radius=0.9, height=1.6, climb=0.2, slope=20.0)
SPIDER = Agent(radius=0.25, height=0.5, climb=0.25, motions=Motion.SURFACE | Motion.ADHESIVE)
BIRD = Agent(radius=0.3, height=0.6, climb=0.3, motions=Motion.VOLUMETRIC)

_SIDES = [(0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7), (0, 1, 5), (0, 5, 4), (1, 2, 6), (1, 6, 5)]
_SIDES += [(2, 3, 7), (2, 7, 6), (3, 0, 4), (3, 4, 7)]


@dataclass(frozen=True)
class Scene:
    """Triangles that face outwards, and what is asked."""

    name: str
    vertices: np.ndarray  # (n, 3)
    triangles: np.ndarray  # (m, 3)
    materials: np.ndarray  # (m,)
    names: tuple[str, ...]
    pairs: np.ndarray  # (q, 2, 3)
    reachable: tuple  # whether the agent gets from each start to its goal

    @property
    def extent(self):
        return float(np.ptp(self.vertices, axis=0).max())

    def mesh(self):
        return Mesh(self.vertices, self.triangles, self.materials, self.names)


class _Maker:
    def __init__(self):
        self.vertices, self.triangles, self.materials = [], [], []

    def add(self, corners, triangles, material=0):
        base = len(self.vertices)
        self.vertices += [tuple(map(float, corner)) for corner in corners]
        self.triangles += [tuple(base + corner for corner in triangle) for triangle in triangles]
        self.materials += [material] * len(triangles)

    def box(self, low, high):
        (a, b, c), (d, e, f) = low, high
        self.add([(a, b, c), (d, b, c), (d, e, c), (a, e, c), (a, b, f), (d, b, f), (d, e, f), (a, e, f)], _SIDES)

    def floor(self, x0, y0, x1, y1, z=0.0, material=0):
        self.add([(x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z)], [(0, 1, 2), (0, 2, 3)], material)

    def scene(self, name, asked, names=("ground",)):
        pairs = np.array([ends[:2] for ends in asked], float)
        return Scene(
            name,
            np.array(self.vertices),
            np.array(self.triangles),
            np.array(self.materials),
            tuple(names),
            pairs,
            tuple(bool(ends[2]) for ends in asked),
        )


def _wall_with_doors(make, x, y0, y1, doors, height, thick=0.3):
    """A wall along y with openings from the ground to the top."""
    edges = [y0, *(value for door in sorted(doors) for value in door), y1]
    for low, high in zip(edges[::2], edges[1::2], strict=True):
        make.box((x, low, -0.5), (x + thick, high, height))


def office(door=1.8, slit=0.3, *, ceiling=False, high=0.0):
    """Four rooms in a row: open doors, then a slit that nobody who is asked passes.

    `high` lifts what is asked, for those who fly.
    """
    make = _Maker()
    make.floor(0, 0, 20, 9)
    height = 3.0
    for low, size in (((-0.4, -0.4), (20.4, 0)), ((-0.4, 9), (20.4, 9.4))):
        make.box((*low, -0.5), (*size, height))
    for x in (-0.4, 20.0):
        make.box((x, 0, -0.5), (x + 0.4, 9, height))
    _wall_with_doors(make, 5.1, 0, 9, [(1.2, 1.2 + door)], height)
    second = min(6.1, 8.6 - door)
    _wall_with_doors(make, 10.2, 0, 9, [(second, second + door), (2.4, 2.4 + slit)], height)
    _wall_with_doors(make, 15.0, 0, 9, [(4.3, 4.3 + slit)], height)
    make.box((7.0, 4.0, -0.5), (8.3, 5.5, 1.1 if not ceiling else height))
    if ceiling:
        make.box((-0.4, -0.4, height), (20.4, 9.4, height + 0.4))
        make.box((-0.4, -0.4, -0.9), (20.4, 9.4, -0.0))
    z = high
    asked = [
        ((1.5, 7.5, z), (3.9, 1.4, z), True),
        ((1.5, 7.5, z), (8.9, 7.6, z), True),
        ((2.0, 2.0, z), (13.3, 1.6, z), True),
        ((9.0, 2.2, z), (11.9, 3.1, z), True),
        ((3.0, 3.0, z), (18.0, 4.4, z), False),
        ((18.2, 7.0, z), (12.7, 6.1, z), False),
        ((16.4, 1.5, z), (18.6, 7.6, z), True),
    ]
    return make.scene(f"an office with doors of {door:g} m", asked)


def house():
    """Two floors: steps lead up on one side, a ramp on the other; what a person climbs a cart does not."""
    make = _Maker()
    make.floor(-10, -4, 16, 20)
    make.box((0, 0, 2.6), (10, 10, 3.0))  # the upper floor stands on four legs
    for x, y in ((0.2, 0.2), (9.2, 0.2), (0.2, 9.2), (9.2, 9.2)):
        make.box((x, y, -0.2), (x + 0.6, y + 0.6, 2.7))
    for step in range(10):  # ten steps of 0.3 m
        make.box((-4.0 + 0.4 * step, 3.0, -0.2), (-3.6 + 0.4 * step, 5.4, 0.3 * (step + 1)))
    make.box((1.0, 13.0, -0.2), (7.0, 18.0, 1.5))  # a block that is too high for everybody
    return make


def house_for(agent):
    make = house()
    climbs = agent.climb >= 0.3 or bool(agent.motions & Motion.ADHESIVE)
    clings = bool(agent.motions & Motion.ADHESIVE)
    asked = [
        ((-7.0, 4.2, 0), (5.0, 5.0, 3.0), climbs),
        ((8.0, 8.0, 3.0), (12.0, 1.0, 0), climbs),
        ((5.0, 5.0, 0), (5.0, -1.0, 0), True),
        ((12.0, 11.5, 0), (-6.9, 1.7, 0), True),
        ((1.5, 8.0, 3.0), (8.5, 1.5, 3.0), True),
        ((9.0, 13.0, 0), (4.5, 15.2, 1.5), clings),
    ]
    return make.scene("a house with steps", asked)


def ramp(rise=20.0):
    """A platform that a ramp of so many degrees leads to, entered from its foot."""
    make = _Maker()
    make.floor(-5, -3, 24, 15)
    length = 3.0 / np.tan(np.radians(rise))
    foot, head = 13.0 - length, 13.0
    make.box((13.0, 2.0, -0.3), (20.0, 10.0, 3.0))
    corners = [(foot, 4, 0), (head, 4, 0), (head, 8, 0), (foot, 8, 0), (head, 4, 3), (head, 8, 3)]
    sides = [(0, 4, 5), (0, 5, 3), (0, 1, 4), (3, 5, 2), (1, 2, 5), (1, 5, 4), (0, 3, 2), (0, 2, 1)]
    make.add(corners, sides)
    return make


def ramp_for(agent, rise):
    climbs = agent.slope > rise
    asked = [
        ((-1.5, 6.0, 0), (16.5, 6.0, 3.0), climbs),
        ((-1.5, 0.5, 0), (18.0, 8.5, 3.0), climbs),
        ((-1.5, 0.5, 0), (9.5, 12.0, 0), True),
        ((11.0, 12.0, 0), (17.0, 5.0, 3.0), climbs),
        ((14.5, 3.5, 3.0), (18.0, 8.5, 3.0), True),
    ]
    return ramp(rise).scene(f"a ramp of {rise:g} degrees", asked)


def tunnel(width=2.0, length=8.0):
    """Two closed chambers with a tunnel between them, and a third chamber that nothing leads to."""
    make = _Maker()
    half, wall = width / 2, 0.5
    chambers = ((0.0, 6.0), (6.0 + length, 12.0 + length))
    for x0, x1 in (*chambers, (14.0 + length, 19.0 + length)):
        make.box((x0 - wall, -wall, -wall), (x1 + wall, 6 + wall, 0))
        make.box((x0 - wall, -wall, 6), (x1 + wall, 6 + wall, 6 + wall))
        make.box((x0 - wall, -wall, 0), (x1 + wall, 0, 6))
        make.box((x0 - wall, 6, 0), (x1 + wall, 6 + wall, 6))
        for x, other in ((x0 - wall, x0), (x1, x1 + wall)):
            if (x, other) in ((6.0, 6.5), (5.5 + length, 6.0 + length)):  # the tunnel goes through this wall
                make.box((x, 0, 0), (other, 6, 3 - half))
                make.box((x, 0, 3 + half), (other, 6, 6))
                make.box((x, 0, 3 - half), (other, 3 - half, 3 + half))
                make.box((x, 3 + half, 3 - half), (other, 6, 3 + half))
            else:
                make.box((x, 0, 0), (other, 6, 6))
    a, b = 6.5, 5.5 + length
    make.box((a, 3 - half - wall, 3 - half - wall), (b, 3 + half + wall, 3 - half))
    make.box((a, 3 - half - wall, 3 + half), (b, 3 + half + wall, 3 + half + wall))
    make.box((a, 3 - half - wall, 3 - half), (b, 3 - half, 3 + half))
    make.box((a, 3 + half, 3 - half), (b, 3 + half + wall, 3 + half))
    far = 6.0 + length
    asked = [
        ((1.5, 1.5, 1.5), (4.5, 4.2, 4.6), True),
        ((1.5, 4.5, 1.2), (far + 4.0, 1.6, 4.4), True),
        ((far + 1.2, 4.8, 4.8), (3.0, 3.0, 3.0), True),
        ((3.0, 2.0, 4.0), (16.5 + length, 3.0, 3.0), False),
    ]
    return make.scene(f"a tunnel of {width:g} m", asked)


def overhang():
    """A slab on a pillar that stands out over the ground, and a closed room: a climber hangs from both of them."""
    make = _Maker()
    make.box((-5, -4, -1), (14, 12, 0))
    make.box((0, 0, 0), (1, 4, 3.5))
    make.box((0, 0, 3.5), (7, 4, 4.0))
    make.box((18, -1, -1), (27, 8, 0))
    make.box((18, -1, 3), (27, 8, 4))
    for low, high in (((18, -1), (19, 8)), ((26, -1), (27, 8)), ((19, -1), (26, 0)), ((19, 7), (26, 8))):
        make.box((*low, 0), (*high, 3))
    asked = [
        ((-3.0, 6.0, 0), (4.0, 2.0, 3.15), True),
        ((5.0, 1.0, 3.15), (9.0, 9.0, 0), True),
        ((-3.0, -2.0, 0), (4.0, 2.0, 4.0), True),
        ((4.0, 3.0, 3.15), (5.0, 2.0, 4.0), True),
        ((20.0, 1.0, 0), (22.5, 3.5, 2.65), True),
        ((24.0, 6.0, 2.65), (20.5, 2.0, 2.65), True),
        ((-3.0, 6.0, 0), (22.5, 3.5, 2.65), False),
    ]
    return make.scene("an overhang and a closed room", asked)


# --- changes ---------------------------------------------------------------------------------------------------------


def placed_scene(scene, placement):
    """The scene, placed; mirrored triangles are turned round so that they still face outwards."""
    triangles = scene.triangles[:, ::-1] if placement.mirrored else scene.triangles
    return replace(
        scene,
        name=f"{scene.name}, {placement}",
        vertices=placement(scene.vertices),
        triangles=triangles,
        pairs=placement(scene.pairs),
    )


def scene_reordered(scene, seed):
    """Vertices and triangles in another order, triangles from another corner."""
    draw = np.random.default_rng(seed)
    order = draw.permutation(len(scene.vertices))
    where = np.argsort(order)
    chosen = draw.permutation(len(scene.triangles))
    triangles = np.array([np.roll(where[scene.triangles[number]], draw.integers(3)) for number in chosen])
    return replace(
        scene,
        name=f"{scene.name}, reordered ({seed})",
        vertices=scene.vertices[order],
        triangles=triangles,
        materials=scene.materials[chosen],
    )


def scene_subdivided(scene, seed, near=False):
    """Some triangles cut in three around a point of theirs, or in two; `near` puts the point right beside a corner."""
    draw = np.random.default_rng(seed)
    vertices, triangles, materials = list(scene.vertices), [], []
    for (a, b, c), material in zip(scene.triangles.tolist(), scene.materials.tolist(), strict=True):
        if draw.random() < 0.5:
            parts = [(a, b, c)]
        elif draw.random() < 0.5:
            weights = draw.dirichlet((1, 1, 1))
            if near:
                weights = np.array([1 - 2e-9, 1e-9, 1e-9])
            vertices.append(weights @ scene.vertices[[a, b, c]])
            new = len(vertices) - 1
            parts = [(a, b, new), (b, c, new), (c, a, new)]
        else:
            part = 1e-9 if near else draw.uniform(0.1, 0.9)
            vertices.append((1 - part) * scene.vertices[a] + part * scene.vertices[b])
            new = len(vertices) - 1
            parts = [(a, new, c), (new, b, c)]
        triangles += parts
        materials += [material] * len(parts)
    what = "near-duplicate vertices" if near else "subdivided"
    return replace(
        scene,
        name=f"{scene.name}, {what} ({seed})",
        vertices=np.array(vertices),
        triangles=np.array(triangles),
        materials=np.array(materials),
    )


def scene_near_duplicates(scene, seed):
    """Triangles cut by points 1e-9 of their sides from a corner."""
    return scene_subdivided(scene, seed, near=True)


SCENE_CUTS = (scene_reordered, scene_subdivided, scene_near_duplicates)


def scaled_agent(agent, factor):
    """The same body in a world of another scale."""
    return replace(agent, radius=agent.radius * factor, height=agent.height * factor, climb=agent.climb * factor)
