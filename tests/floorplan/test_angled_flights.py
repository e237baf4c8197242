"""Stairs and ramps that stand at any angle to the walls join two floors, wherever the house lies."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import shapely
from shapely import affinity

from tests.draws import seeds
from tests.floorplan.test_plan import box_mesh
from tests.floorplan.test_turned_buildings import reordered, subdivided, turned, wedge
from wayfold import Agent, Mesh
from wayfold.floorplan import Building, building

pytestmark = pytest.mark.kernels

WIDE, DEEP = 24.0, 20.0
MIDDLE = np.array([WIDE / 2, DEEP / 2, 0.0])
START, GOAL = (1.5, 1.5, 0.0), (WIDE - 2.0, DEEP - 2.0)


def extruded(polygon, low, high):
    """A solid over a polygon."""
    parts = []
    for triangle in shapely.get_parts(shapely.constrained_delaunay_triangles(polygon)):
        ring = shapely.get_coordinates(shapely.geometry.polygon.orient(triangle))[:3]
        top, bottom = np.column_stack([ring, np.full(3, high)]), np.column_stack([ring[::-1], np.full(3, low)])
        parts += [top, bottom]
    whole = shapely.geometry.polygon.orient(polygon)
    for ring in (whole.exterior, *whole.interiors):
        corners = shapely.get_coordinates(ring)
        for (ax, ay), (bx, by) in pairwise(corners):
            parts.append(np.array([(ax, ay, low), (bx, by, low), (bx, by, high)]))
            parts.append(np.array([(ax, ay, low), (bx, by, high), (ax, ay, high)]))
    return Mesh(np.concatenate(parts), np.arange(3 * len(parts)).reshape(-1, 3))


def drawn_house(draw):
    """Two floors and what joins them: box steps, a ramp, or a ramp that can only be entered from its sides."""
    agent = Agent(float(draw.choice([0.25, 0.4])), 1.8, float(draw.choice([0.3, 0.5])))
    kind = str(draw.choice(["steps", "ramp", "side"]))
    angle = float(draw.choice([0.0, 45.0, 30.0, draw.uniform(0, 360)]))
    rise, run = float(draw.uniform(0.4, 0.95)) * agent.climb, float(draw.uniform(0.28, 0.35))
    steps = int(np.ceil(2.9 / rise))
    long, high = (steps * run, steps * rise) if kind == "steps" else (float(draw.uniform(5.0, 8.0)), 3.0)
    half = float(draw.uniform(1.6, 2.25)) * agent.radius
    left = -long / 2
    if kind == "steps":
        flight = [
            box_mesh((left + k * run, -half, 0), (left + (k + 1) * run, half, (k + 1) * rise)) for k in range(steps)
        ]
    else:
        flight = [wedge(left, -half, -left, half, high)]
    if kind == "side":  # a wall before its foot
        flight.append(box_mesh((left - 0.5, -half - 0.8, 0), (left, half + 0.8, 1.2)))
    flight = [turned(part, angle, tuple(MIDDLE))[0] for part in flight]
    opening = affinity.rotate(shapely.box(left, -half, -left, half), angle, origin=(0, 0))
    opening = affinity.translate(opening, *MIDDLE[:2])
    ground = shapely.box(0, 0, WIDE, DEEP)
    floors = [extruded(ground, -0.3, 0.0), extruded(ground.difference(opening), high - 0.2, high)]
    return Mesh.concatenate([*floors, *flight]), agent, high


def answers(mesh, agent, scale, start, goal):
    """Lengths of the exact way there and back, in metres of the plain house; the ordinary one is no shorter."""
    body = Agent(agent.radius * scale, agent.height * scale, agent.climb * scale)
    building = Building.from_mesh(mesh, agent=body)
    lengths = []
    for method in ("deaccon", "hertel-mehlhorn"):
        cut = building.decompose(method)
        for a, b in ((start, goal), (goal, start)):
            exact, ordinary = cut.path(a, b, exact=True), cut.path(a, b)
            assert exact.found
            assert exact.length <= ordinary.length * (1 + 1e-9)
            lengths.append(exact.length / scale)
    return lengths


def check_house(seed):
    draw = np.random.default_rng([seed, 41])
    mesh, agent, high = drawn_house(draw)
    known = answers(mesh, agent, 1.0, START, (*GOAL, high))
    for change in (lambda mesh, draw: mesh, subdivided, reordered):
        scale = float(draw.choice([1.0, 1.0, 0.01, 100.0]))
        far = draw.uniform(-1e7, 1e7, 2) * min(scale, 1.0) * draw.integers(2)
        angle = float(draw.choice([45.0, 90.0, 30.0, draw.uniform(0, 360)]))
        house, place = turned(change(mesh, draw), angle, (*far, 0.0), scale, bool(draw.integers(2)))
        found = answers(house, agent, scale, place(START), place((*GOAL, high)))
        # Seen from above ways are the shortest; how far up they are where they bend is less exact.
        assert found == pytest.approx(known, abs=5e-3)


@seeds(4)
def test_flights_at_any_angle_join_the_floors(seed):
    check_house(seed)


@pytest.mark.parametrize("seed", [11, 76])
def test_a_sliver_beside_a_mouth_does_not_close_it(seed):
    """A region of some nanometres had its corner on the floor's side of the mouth only: no common edge, UNREACHABLE."""
    check_house(seed)


def test_a_way_that_turns_back_over_its_floor_enters_the_upper_one_after_the_stairs():
    """The upper mouth was taken where the way had passed under it, and the exact way was longer than the ordinary."""
    check_house(83)


def test_areas_stay_valid_where_rounded_borders_cross():
    """A border that was moved is rounded after it was found, and crossed itself: GEOS refused to go on."""
    shell = [(0, 0), (4, -2), (31007382, -10075959), (30059747, -13612581), (-1389529, -5185773)]
    shell += [(-4, 2), (-2, 1), (-1, 1), (-1, 0)]
    other = [(0, 0), (31449271, -8426806), (31007382, -10075959)]
    shape = shapely.MultiPolygon([shapely.Polygon(np.array(ring) * 2.0**-12) for ring in (shell, other)])
    whole = building.opened(building.closed(shape, 1.0), 1.0)
    assert whole.is_valid
    assert whole.area == pytest.approx(shape.area, rel=1e-3)


@pytest.mark.long
@seeds(150)
def test_many_flights_at_any_angle_join_the_floors(seed):
    check_house(seed + 1000)
