"""Ground and rooms full of obstacles: what is joined where there is room for the agent, and nothing else.

The oracle knows the free space of a disc or a ball from the obstacles alone: outlines grown by shapely, distances to
boxes on a fine lattice. It leaves out what lies between an agent that just fits and one a little larger.
"""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from scipy import ndimage
from shapely import affinity

from tests.draws import seeds
from tests.waypoints.openings import turn
from wayfold import Agent, Box, Mesh, Motion, Prism, World

pytestmark = pytest.mark.kernels

PERSON = Agent()
BIRD = Agent(radius=0.3, height=0.6, motions=Motion.VOLUMETRIC)
TIGHT, LOOSE = 0.97, 1.13  # radii: who does not pass for certain, who must pass (2.25 and a hair for two)
FEWEST = 30.0  # radii squared: smaller islands are not kept


def outlines(rng, side):
    """Discs, boxes and triangles that overlap, touch and leave gaps of every width."""
    found = []
    for _ in range(rng.integers(5, 30)):
        x, y = rng.uniform(0, side, 2)
        kind = rng.integers(3)
        if kind == 0:
            shape = shapely.Point(x, y).buffer(rng.uniform(0.2, 2.0), quad_segs=int(rng.integers(2, 6)))
        elif kind == 1:
            width, depth = rng.uniform((0.2, 0.1), (6.0, 2.0))
            shape = affinity.rotate(shapely.box(x, y, x + width, y + depth), rng.uniform(0, 180))
        else:
            shape = shapely.Polygon(np.array([x, y]) + rng.normal(0, 1.2, (3, 2)))
        if shape.area > 0.02:
            found.append(shapely.orient_polygons(shape))
    return found


def within(part, rng):
    """A random point of a polygon."""
    low, high = np.array(part.bounds).reshape(2, 2)
    while True:
        point = shapely.Point(rng.uniform(low, high))
        if part.contains(point):
            return point


@seeds(12)
def test_a_walker_gets_through_gaps_that_it_fits_through_and_no_others(seed):
    rng = np.random.default_rng(seed)
    scale = float(rng.choice([0.5, 1.0, 2.0]))
    agent = Agent(radius=0.4 * scale, height=1.8 * scale, climb=0.5 * scale)
    side = rng.uniform(10, 22)
    shapes = outlines(rng, side)
    rotation, shift = turn(rng, upright=True), rng.uniform(-1, 1, 3) * rng.choice([1.0, 1e3, 1e6])

    def put(points):
        points = np.asarray(points, float)
        return np.column_stack([points, np.zeros(len(points))]) * scale @ rotation.T + shift

    floor = Mesh(put([(0, 0), (side, 0), (side, side), (0, side)]), [(0, 1, 2), (0, 2, 3)])
    prisms = [
        Prism(put(np.array(shape.exterior.coords)[:-1])[:, :2], shift[2] - scale, shift[2] + 2.5 * scale)
        for shape in shapes
    ]
    # Some of them come later, as blocks.
    later = int(rng.integers(len(prisms) + 1)) if rng.random() < 0.5 else len(prisms)
    world = World.from_mesh(Mesh.concatenate([floor, *(prism.mesh() for prism in prisms[:later])]), cache=False)
    planner = world.planner(agent)
    for prism in prisms[later:]:
        world.block(prism)

    solid, ground = shapely.union_all(shapes), shapely.box(0, 0, side, side)
    wide, narrow, nearest = (
        ground.buffer(-0.4 * share, join_style="mitre").difference(solid.buffer(0.4 * share, quad_segs=32))
        for share in (LOOSE, TIGHT, 0.93)
    )
    rooms, corridors = ([*getattr(space, "geoms", [space])] for space in (wide, narrow))
    rooms = [room for room in rooms if room.area > FEWEST * 0.4**2][:6]
    spots = [(room, within(room, rng)) for room in rooms for _ in range(2)]
    places = put(np.array([(point.x, point.y) for _, point in spots]).reshape(-1, 2))
    owner = [next(at for at, part in enumerate(corridors) if part.contains(point)) for _, point in spots]
    for a in range(len(spots)):
        for b in range(a):
            path = planner.path(places[a], places[b])
            if spots[a][0] is spots[b][0]:
                assert path.found, (places[a], places[b])
            if owner[a] != owner[b]:
                assert not path.found, (places[a], places[b])
            if path:
                way = (path.points - shift) @ rotation / scale
                assert nearest.buffer(1e-6).covers(shapely.LineString(way[:, :2])), (places[a], places[b])


def clearance(points, boxes):
    """How far points are from the nearest of some turned boxes (middle, half sides, rotation); -1 inside of one."""
    least = np.full(points.shape[:-1], np.inf)
    for middle, half, rotation in boxes:
        beyond = np.abs((points - middle) @ rotation) - half
        away = np.linalg.norm(np.maximum(beyond, 0.0), axis=-1)
        least = np.minimum(least, np.where((beyond < 0).all(axis=-1), -1.0, away))
    return least


@seeds(4, found=(20014002,))
def test_a_flyer_gets_through_gaps_that_it_fits_through_and_no_others(seed):
    rng = np.random.default_rng(seed)
    size, step, radius = rng.uniform((4, 4, 3), (7, 7, 4.5)), 0.06, BIRD.radius
    boxes = []
    for axis in range(3):
        for level in (-0.15, size[axis] + 0.15):
            middle, half = size / 2, size / 2 + 0.3
            middle[axis], half[axis] = level, 0.15
            boxes.append((middle, half, np.eye(3)))
    for _ in range(rng.integers(3, 14)):
        rotation = turn(rng) if rng.random() < 0.5 else np.eye(3)
        boxes.append((rng.uniform(0, 1, 3) * size, rng.uniform(0.1, 1.5, 3), rotation))
    axes = [np.arange(step / 2, side, step) for side in size]
    lattice = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    away = clearance(lattice, boxes)
    hair = 0.5 * np.sqrt(3.0) * step
    rooms, count = ndimage.label(away >= 1.25 * radius + hair, np.ones((3, 3, 3)))
    corridors, _ = ndimage.label(away >= radius - hair, np.ones((3, 3, 3)))
    turned, shift = turn(rng), rng.uniform(-1, 1, 3) * rng.choice([1.0, 1e3, 1e6])
    solids = [Box(middle - half, middle + half).mesh() for middle, half, _ in boxes]
    parts = [
        Mesh(((solid.vertices - middle) @ rotation.T + middle) @ turned.T + shift, solid.triangles)
        for solid, (middle, _, rotation) in zip(solids, boxes, strict=True)
    ]
    planner = World.from_mesh(Mesh.concatenate(parts), cache=False).planner(BIRD)
    spots = []
    for room in range(1, count + 1):
        cells = np.argwhere(rooms == room)
        if len(cells) > 20 and len(spots) < 8:
            spots += [tuple(cells[at]) for at in rng.integers(len(cells), size=2)]
    places = np.array([lattice[spot] for spot in spots]).reshape(-1, 3) @ turned.T + shift
    for a in range(len(spots)):
        for b in range(a):
            path = planner.path(places[a], places[b])
            if rooms[spots[a]] == rooms[spots[b]]:
                assert path.found, (places[a], places[b])
            if corridors[spots[a]] != corridors[spots[b]]:
                assert not path.found, (places[a], places[b])
            if path:
                points = (path.points - shift) @ turned
                legs = np.linspace(points[:-1], points[1:], 60)
                assert clearance(legs, boxes).min() >= radius - 1e-6
