"""Exact ways where several ramps join two floors, against Dijkstra over corners and many places on mouths."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra
from shapely import affinity

from tests.draws import seeds
from tests.floorplan.test_angled_flights import extruded
from tests.floorplan.test_plan import box_mesh
from tests.floorplan.test_turned_buildings import turned, wedge
from wayfold import Agent, Mesh
from wayfold.floorplan import Building

pytestmark = pytest.mark.kernels

WIDE, DEEP, HIGH = 26.0, 22.0, 3.0
SPACING = 0.04  # metres between places on a mouth
START, GOAL = (1.0, 1.0, 0.0), (WIDE - 1.0, DEEP - 1.0, HIGH)


def drawn_house(draw):
    """Two floors with columns, and two or three ramps between them, some with walls before their feet."""
    flights, openings = [], []
    for _ in range(40):
        long, half, angle = float(draw.uniform(5, 8)), float(draw.uniform(0.5, 1.1)), float(draw.uniform(0, 360))
        middle = draw.uniform((5, 5), (WIDE - 5, DEEP - 5))
        opening = affinity.rotate(shapely.box(-long / 2, -half, long / 2, half), angle, origin=(0, 0))
        opening = affinity.translate(opening, *middle)
        if any(opening.distance(other) < 1.8 for other in openings):
            continue
        parts = [wedge(-long / 2, -half, long / 2, half, HIGH)]
        if draw.random() < 0.4:
            parts.append(box_mesh((-long / 2 - 0.4, -half - 0.5, 0), (-long / 2, half + 0.5, 1.2)))
        flights += [turned(part, angle, (*middle, 0.0))[0] for part in parts]
        openings.append(opening)
        if len(openings) == 3:
            break
    taken = shapely.union_all(openings).buffer(1.5)
    columns = []
    for _ in range(6):
        x, y, side, z = *draw.uniform(2, (WIDE - 4, DEEP - 4)), draw.uniform(0.5, 2.5), float(draw.choice([0, HIGH]))
        if not shapely.box(x, y, x + side, y + side).intersects(taken):
            columns.append(box_mesh((x, y, z), (x + side, y + side, z + 2.0)))
    ground = shapely.box(0, 0, WIDE, DEEP)
    upper = ground.difference(shapely.union_all(openings))
    floors = [extruded(ground, -0.3, 0.0), extruded(upper, HIGH - 0.2, HIGH)]
    return Mesh.concatenate([*floors, *flights, *columns])


def by_dijkstra(cut, start, goal):
    """The length of the shortest way over corners of the floors and places on the mouths, straight where one sees."""
    points, levels, pairs, lengths = [start, goal], [{0}, {1}], [], []
    mouths = np.flatnonzero(cut.is_mouth)
    for mouth in mouths.tolist():
        begin, end = cut.gateways.segments[mouth].reshape(2, 2)
        share = np.linspace(0, 1, 2 + int(np.hypot(*(end - begin)) / SPACING))[:, None]
        on = begin + share * (end - begin)
        points += np.column_stack([on, np.full(len(on), cut.gateway_heights[mouth])]).tolist()
        levels += [set(cut.region_levels[cut.gateways.pairs[mouth]].tolist())] * len(on)
    for number, level in enumerate(cut.levels[:2]):
        assert level.is_floor
        corners = shapely.get_coordinates(level.plan.free)
        points += np.column_stack([corners, np.full(len(corners), level.plan.height)]).tolist()
        levels += [{number}] * len(corners)
    points = np.array(points)
    for number, level in enumerate(cut.levels):
        own = np.flatnonzero([number in known for known in levels])
        i, j = (own[side] for side in np.triu_indices(len(own), 1))
        space = level.plan.free.buffer(1e-4)
        shapely.prepare(space)
        seen = shapely.covers(space, shapely.linestrings(np.stack([points[i, :2], points[j, :2]], axis=1)))
        pairs.append(np.column_stack([i[seen], j[seen]]))
    i, j = np.concatenate(pairs).T
    lengths = np.linalg.norm(points[i] - points[j], axis=1) + 1e-12
    # Two places that see each other on a floor and on a ramp are there twice, with one length.
    (i, j), once = np.unique(np.array([i, j]), axis=1, return_index=True)
    graph = coo_array((lengths[once], (i, j)), (len(points), len(points)))
    return float(dijkstra(graph.tocsr(), directed=False, indices=0)[1])


def check(seed):
    draw = np.random.default_rng([seed, 53])
    building = Building.from_mesh(drawn_house(draw), agent=Agent(0.3, 1.7, 0.4))
    for method in ("deaccon", "hertel-mehlhorn"):
        cut = building.decompose(method)
        best = by_dijkstra(cut, START, GOAL)
        for ends in ((START, GOAL), (GOAL, START)):
            found = cut.path(*ends, exact=True).length
            assert np.isfinite(best)
            assert found <= best + 1e-4
            assert found >= best - 1e-3  # between two of the places that it tries


@seeds(3)
def test_the_exact_way_over_one_of_several_ramps_is_the_shortest(seed):
    check(seed)


@pytest.mark.long
@seeds(60)
def test_many_exact_ways_over_one_of_several_ramps_are_the_shortest(seed):
    check(seed + 1000)
