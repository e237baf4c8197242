"""Nearest places, reachability and random places of a terrain, against squares that can be told by hand.

Squares share corners (points pass) and sides (discs pass too), so that a flood over their rows and columns says what
can reach what.
"""

from __future__ import annotations

import numpy as np
import pytest
import shapely
import shapely.affinity
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import box

from wayfold import Terrain
from wayfold.errors import OffMapError, ParameterError

pytestmark = pytest.mark.kernels

SIDE, CELL = 5, 10.0


class Squares:
    """Open squares, obstacles and holes, turned and moved."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.kind = rng.choice(["open", "obstacle", "hole"], (SIDE, SIDE), p=[0.5, 0.25, 0.25])
        self.kind[0, 0] = "open"
        self.angle, self.offset = rng.uniform(0, 360), rng.uniform(-1, 1, 2) * 10.0 ** rng.integers(0, 7)
        self.rng = rng
        self.shapes = {}
        regions = []
        for (row, column), kind in np.ndenumerate(self.kind):
            shape = box(column * CELL, row * CELL, (column + 1) * CELL, (row + 1) * CELL)
            self.shapes[row, column] = self.turned(shape)
            if kind != "hole":
                regions.append((self.shapes[row, column], np.inf if kind == "obstacle" else rng.uniform(1, 3)))
        self.terrain = Terrain(regions)
        self.open = [place for place, kind in np.ndenumerate(self.kind) if kind == "open"]

    def turned(self, shape):
        return shapely.affinity.translate(
            shapely.affinity.rotate(shape, self.angle, origin=(0, 0)), self.offset[0], self.offset[1]
        )

    def centre(self, place):
        return shapely.get_coordinates(self.shapes[place].centroid)[0]

    def reached(self, place, corners):
        """All open squares that are reached from one, over sides, and over corners too if asked for."""
        found, waiting = {place}, [place]
        while waiting:
            row, column = waiting.pop()
            for other in self.open:
                apart = abs(other[0] - row), abs(other[1] - column)
                if other not in found and max(apart) <= 1 and (corners or sum(apart) == 1):
                    found.add(other)
                    waiting.append(other)
        return found


@given(st.integers(0, 2**32))
@settings(max_examples=25)
def test_points_reach_over_corners_and_discs_over_sides(seed):
    world = Squares(seed)
    centres = np.array([world.centre(place) for place in world.open])
    for radius in (0.0, 0.5):
        for at, start in enumerate(world.open):
            expected = world.reached(start, corners=radius == 0.0)
            got = world.terrain.reachable(centres[at], centres, radius=radius)
            assert got.tolist() == [place in expected for place in world.open]
            assert world.terrain.reachable(centres, centres[at], radius=radius).tolist() == got.tolist()
            assert world.terrain.reachable(centres[0], centres[at], radius=radius) is bool(world.open[0] in expected)
            assert world.terrain.path(centres[0], centres[at], radius=radius).found == (world.open[0] in expected)


@given(st.integers(0, 2**32))
@settings(max_examples=25)
def test_components_have_the_areas_of_their_squares(seed):
    world = Squares(seed)
    of = world.terrain.component_of([world.centre(place) for place in world.open])
    for at, place in enumerate(world.open):
        area = CELL * CELL * len(world.reached(place, corners=True))
        assert world.terrain.component_areas[of[at]] == pytest.approx(area, rel=1e-6)
    assert sorted(set(of.tolist())) == list(range(len(world.terrain.component_areas)))
    assert ((world.terrain.components < 0) == np.isinf(world.terrain.triangle_weights)).all()


@given(st.integers(0, 2**32), st.sampled_from([0.0, 1.0]), st.sampled_from([None, 3.0, 12.0]))
@settings(max_examples=25)
def test_the_nearest_place_is_as_near_as_open_ground_is(seed, radius, max_distance):
    world = Squares(seed)
    ground = shapely.union_all([world.shapes[place] for place in world.open])
    walls = shapely.union_all([world.shapes[place] for place, kind in np.ndenumerate(world.kind) if kind == "obstacle"])
    near = 1e-9 * (1.0 + np.abs(world.offset).max())
    middle = world.terrain.vertices.mean(axis=0)
    points = middle + world.rng.uniform(-1.0, 1.0, (20, 2)) * SIDE * CELL
    found = world.terrain.nearest(points, max_distance=max_distance, radius=radius)
    for point, place in zip(points, found, strict=True):
        spot = shapely.Point(point)
        if radius == 0.0:
            least, most = ground.distance(spot), ground.distance(spot)
        else:  # sides of grown obstacles lie a thousandth of the radius too far out, corners at most 2.5 %
            rooms = (shapely.difference(ground, shapely.buffer(walls, by, quad_segs=64)) for by in (0.999, 1.03))
            least, most = (room.distance(spot) if not room.is_empty else np.inf for room in rooms)
        if np.isnan(place).any():
            assert np.isnan(place).all()
            assert max_distance is not None
            assert most > max_distance - near
            with pytest.raises(OffMapError, match="open ground"):
                world.terrain.nearest(point, max_distance=max_distance, radius=radius)
            continue
        away = float(np.hypot(*(place[:2] - point)))
        assert least - near <= away <= most + near
        assert max_distance is None or away <= max_distance + near
        assert place[2] == 0.0
        assert ground.distance(shapely.Point(place[:2])) <= near
        assert walls.is_empty or walls.distance(shapely.Point(place[:2])) >= radius - near
        np.testing.assert_array_equal(world.terrain.nearest(point, max_distance=max_distance, radius=radius), place)


@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=15)
def test_random_points_are_spread_by_area(seed, near):
    world = Squares(seed)
    place = world.open[int(world.rng.integers(len(world.open)))]
    centre = world.centre(place) + world.rng.uniform(-0.5, 0.5, 2) * CELL
    options = {"near": centre, "radius": float(world.rng.uniform(3.0, 30.0))} if near else {}
    count = 4000
    points = world.terrain.random_points(count, seed=seed, **options)
    np.testing.assert_array_equal(points, world.terrain.random_points(count, seed=seed, **options))
    assert points.shape == (count, 3)
    assert (points[:, 2] == 0.0).all()
    within = shapely.box(*shapely.total_bounds(list(world.shapes.values())))
    if near:
        within = shapely.Point(centre).buffer(options["radius"], quad_segs=256)
        assert np.hypot(*(points[:, :2] - centre).T).max() <= options["radius"] * (1.0 + 1e-6)
    assert (world.terrain.components[world.terrain.locate(points)] >= 0).all()
    shapes = [shapely.intersection(world.shapes[other], within) for other in world.open]
    areas = np.array([shape.area for shape in shapes])
    shares = areas / areas.sum()
    counts = [int(shapely.intersects_xy(world.shapes[other], *points[:, :2].T).sum()) for other in world.open]
    assert np.abs(counts - count * shares).max() <= 6.0 * np.sqrt(count * 0.25) + 0.01 * count


def test_random_points_of_one_component_lie_in_it():
    terrain = Terrain([(box(0, 0, 10, 10), 1.0), (box(20, 0, 25, 10), 2.0), (box(30, 0, 31, 1), np.inf)])
    assert terrain.component_areas.tolist() == [100.0, 50.0]
    for component, bounds in enumerate([(0, 10), (20, 25)]):
        points = terrain.random_points(200, seed=3, component=component)
        assert ((points[:, 0] >= bounds[0]) & (points[:, 0] <= bounds[1])).all()
    with pytest.raises(ParameterError, match="component"):
        terrain.random_points(1, component=2)
    with pytest.raises(ParameterError, match="near and radius"):
        terrain.random_points(1, near=(1, 1))
    with pytest.raises(OffMapError, match="no open ground within 2 m of"):
        terrain.random_points(1, near=(15, 5), radius=2.0)
    with pytest.raises(OffMapError, match="no open ground"):
        Terrain([(box(0, 0, 1, 1), np.inf)]).random_points(1)
    assert terrain.random_points(0).shape == (0, 3)


def test_places_off_open_ground_are_refused():
    terrain = Terrain([(box(0, 0, 10, 10), 1.0), (box(4, 0, 6, 10), np.inf)])
    with pytest.raises(OffMapError, match=r"goal \(20, 1\) is outside the map"):
        terrain.reachable((1, 1), (20, 1))
    with pytest.raises(OffMapError, match=r"goals\[1\] \(5, 1\) lies in an obstacle"):
        terrain.reachable([(1, 1), (1, 1)], [(2, 2), (5, 1)])
    with pytest.raises(OffMapError, match=r"start \(3.8, 1\) is nearer to an obstacle than the radius 0.5"):
        terrain.reachable((3.8, 1), (1, 1), radius=0.5)
    with pytest.raises(ParameterError, match="same length"):
        terrain.reachable([(1, 1)] * 2, [(1, 1)] * 3)
    assert terrain.reachable(np.empty((0, 2)), np.empty((0, 2))).shape == (0,)
    assert terrain.nearest(np.empty((0, 2))).shape == (0, 3)
    assert terrain.component_of((1, 1)) != terrain.component_of((9, 1))


def test_expanded_points_are_where_the_search_went():
    terrain = Terrain([(box(0, 0, 10, 10), 1.0), (box(4, 0, 6, 8), np.inf)])
    for graph in ("refined", "dual-extra", "dual"):
        points = terrain.expanded_points((1, 1), (9, 1), graph=graph, search="dijkstra")
        assert 0 < len(points) <= terrain.path((1, 1), (9, 1), graph=graph, search="dijkstra").expanded
        assert (terrain.locate(points) >= 0).all()
    with pytest.raises(ParameterError, match="graph"):
        terrain.expanded_points((1, 1), (9, 1), graph="grid")
