"""A decomposition after edits has the paths of one made anew, also where obstacles touch walls and each other."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from shapely import affinity

import wayfold
from tests import naive_floorplan as naive
from tests.draws import seeds
from tests.floorplan.test_moved import FULL, free_points, mapped, thin_row, turned
from tests.floorplan.test_turned_buildings import HOUSES
from wayfold import Agent
from wayfold.floorplan import METHODS, Building, FloorPlan
from wayfold.floorplan.building import heights_at

pytestmark = pytest.mark.kernels

FOUND = {  # boundary, obstacles to add, start, goal
    "ends_inside_a_wall": (
        [
            (6016081.178152897, -3467079.9856300275),
            (6016090.017214125, -3467080.8373322124),
            (6016090.3011148535, -3467077.8909784695),
            (6016087.354761111, -3467077.6070777415),
            (6016087.461223884, -3467076.5021950877),
            (6016090.407577626, -3467076.786095816),
            (6016090.585015581, -3467074.944624727),
            (6016081.745954353, -3467074.0929225422),
            (6016081.5330288075, -3467076.3026878494),
            (6016084.847676768, -3467076.6220761687),
            (6016084.741213995, -3467077.726958822),
            (6016081.426566035, -3467077.4075705027),
        ],
        [
            [
                (6016085.796598238, -3467076.713511047),
                (6016085.801196451, -3467076.6657902645),
                (6016084.483980764, -3467076.5388677954),
                (6016084.47938255, -3467076.5865885774),
            ],
        ],
        (6016083.614686321, -3467076.451103395),
        (6016081.943997058, -3467077.850043067),
    ),
    "touches_another": (
        [
            (-1293335.505969259, 2956582.9416045286),
            (-1296228.5835500322, 2972319.2087003686),
            (-1319832.9841937926, 2967979.5923292087),
            (-1316939.9066130193, 2952243.3252333687),
        ],
        [
            [
                (-1315345.4866485368, 2960162.1524809385),
                (-1315887.9386949318, 2963112.7025614087),
                (-1317854.9720819118, 2962751.067863812),
                (-1317312.520035517, 2959800.517783342),
            ],
            [
                (-1314672.9109529934, 2959269.0444618477),
                (-1314853.7283017917, 2960252.561155338),
                (-1315837.2449952818, 2960071.7438065396),
                (-1315656.4276464835, 2959088.2271130495),
            ],
        ],
        (-1309280.0039090172, 2967003.4675338566),
        (-1316735.9255168682, 2959549.6003138227),
    ),
    "in_a_line": (
        [
            (-2.9717118611436297, 5.046778359103396),
            (-2.4135740745020686, -0.846852288563869),
            (6.426871896998827, -0.0096456086015264),
            (5.868734110357266, 5.883985039065738),
        ],
        [
            [
                (1.8105937938692962, 1.6419861726946625),
                (2.234070013088014, 1.511787828867894),
                (2.0579023467674986, 1.1911200180619756),
                (1.8471555068228125, 1.2559144227587633),
                (1.453727594904899, 1.0475181737194204),
                (1.322890451349238, 0.6219642284246398),
                (1.5312867003885813, 0.2285363165067262),
                (1.9568406456833616, 0.0976991729510654),
                (2.3502685576012756, 0.3060954219904088),
                (2.481105701156936, 0.7316493672851889),
                (2.27379240017859, 1.1230327990537836),
                (2.4507644710207366, 1.4451648208715266),
                (2.519850369360597, 1.4239242667685617),
                (2.8671774510928354, 0.7682110802387052),
                (2.6491155451667345, 0.0589545047474047),
                (1.993402358636878, -0.2883725769848335),
                (1.2841457831455774, -0.0703106710587327),
                (0.936818701413339, 0.5854025154711235),
                (1.15488060733944, 1.294659090962424),
            ],
            [
                (-2.5879921328275564, 0.9949072888321513),
                (-2.5182249094973614, 0.2582034578737429),
                (-1.7815210785389533, 0.3279706812039382),
                (-1.8512883018691486, 1.0646745121623464),
            ],
            [
                (-1.5973451207993512, 0.3454124870364872),
                (-1.5624615091342537, -0.0229394284427169),
                (-0.0890538472174374, 0.1165950182176738),
                (-0.1239374588825348, 0.4849469336968775),
            ],
        ],
        (-2.9717118611436306, 5.046778359103396),
        (-1.5973451207993512, 0.3454124870364872),
    ),
}


def beside(rng, boundary, obstacles):
    """A box, a triangle on its side or one on its tip that touches a wall or an obstacle, inside or outside."""
    shapes = [boundary, *obstacles]
    ring = shapely.get_coordinates(shapes[rng.integers(len(shapes))].exterior)
    at = int(rng.integers(len(ring) - 1))
    begin, along = ring[at], ring[at + 1] - ring[at]
    length = float(np.hypot(*along))
    along /= length
    across = np.array([-along[1], along[0]]) * rng.choice([-1.0, 1.0]) * rng.uniform(1, 20)
    low, high = np.sort(rng.choice([0.0, length, *rng.uniform(0, length, 2), -5.0, length + 5.0], 2, replace=False))
    first, last, middle = (begin + t * along for t in (low, high, 0.5 * (low + high)))
    corners = (
        [first, last, last + across, first + across],
        [first, last + across, first + across],
        [middle, middle + across + 3 * along, middle + across - 3 * along],
    )[rng.integers(3)]
    return shapely.Polygon(corners)


def check_like_anew(cut, boundary, obstacles, points, scale=1.0):
    """The edited decomposition reaches what one made anew reaches, over exact paths of the same length."""
    anew = FloorPlan(boundary, obstacles).decompose(cut.method)
    assert cut.coverage == pytest.approx(anew.coverage, abs=1e-9)
    assert cut.overlap < 1e-9
    points = points[(cut.locate(points) >= 0) & (anew.locate(points) >= 0)]
    if len(points) < 2:
        return
    known = np.array([path.length for path in anew.paths(points[:-1], points[1:], exact=True)])
    exact = np.array([path.length for path in cut.paths(points[:-1], points[1:], exact=True)])
    ordinary = np.array([path.length for path in cut.paths(points[:-1], points[1:])])
    np.testing.assert_array_equal(np.isfinite(exact), np.isfinite(known))
    np.testing.assert_array_equal(np.isfinite(ordinary), np.isfinite(known))
    np.testing.assert_allclose(exact / scale, known / scale, atol=1e-6)
    assert (exact <= ordinary * (1 + 1e-9)).all()


@seeds(60, found=(109, 205, 256, 703, 986, 1211, 21003047, 22004013, 700593))
def test_any_sequence_of_edits_ends_with_the_paths_of_a_plan_made_anew_wherever_it_lies(seed):
    rng = np.random.default_rng([7, seed])
    boundary, pool = naive.random_plan(rng, str(rng.choice(naive.KINDS)))
    pool = [shape for shape in pool if shape.geom_type == "Polygon"]
    size, offset = ((1.0, (0, 0)), (1.0, (390000.0, 5.8e6)), (1e3, (1e7, -1e7)), (0.01, (0, 0)))[rng.integers(4)]
    matrix = turned(rng.choice([0.0, rng.uniform(0, 7)]), size, offset, bool(rng.integers(2)))
    method = str(rng.choice(FULL))
    late = int(rng.integers(0, len(pool) + 1))
    there, pool = pool[:late], pool[late:]

    def image(shape):
        return affinity.affine_transform(shape, matrix)

    cut = FloorPlan(image(boundary), [image(shape) for shape in there]).decompose(method)
    for _ in range(int(rng.integers(2, 12))):
        if there and rng.random() < 0.3:
            number = int(rng.integers(len(there)))
            cut.remove_obstacle(number)
            pool.append(there.pop(number))
        else:
            known = pool and rng.random() < 0.4
            there.append(pool.pop() if known else beside(rng, boundary, there))
            cut.add_obstacle(image(there[-1]))
    points = free_points(boundary, there, seed, 1e-3)
    world = mapped(matrix, boundary, there, points)
    check_like_anew(cut, *world, size)


@seeds(12)
def test_needles_and_boards_that_come_and_go_are_the_walls_of_a_plan_made_anew(seed):
    rng = np.random.default_rng([11, seed])
    size, (room, *walls), points = thin_row(rng)
    for method in FULL:
        cut = FloorPlan(room).decompose(method)
        for wall in walls:
            cut.add_obstacle(wall)
        assert not any(cut.path(*points[:2], exact=exact) for exact in (False, True))
        check_like_anew(cut, room, walls, points, size)
        gone = int(rng.integers(len(walls)))
        cut.remove_obstacle(gone)
        rest = walls[:gone] + walls[gone + 1 :]
        assert cut.path(*points[:2], exact=True).found
        check_like_anew(cut, room, rest, points, size)
        cut.add_obstacle(walls[gone])
        assert not cut.path(*points[:2], exact=True)
        check_like_anew(cut, room, [*rest, walls[gone]], points, size)


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize("method", FULL)
def test_an_obstacle_that_touches_walls_or_others_leaves_no_slit_and_no_island(name, method, tmp_path):
    boundary, obstacles, start, goal = FOUND[name]
    cut = FloorPlan(boundary).decompose(method)
    for obstacle in obstacles:
        cut.add_obstacle(obstacle)
    known = FloorPlan(boundary, obstacles).decompose(method).path(start, goal, exact=True)
    assert cut.path(start, goal, exact=True).length == pytest.approx(known.length, rel=1e-9)
    assert cut.path(start, goal).length >= known.length * (1 - 1e-9)
    assert not cut.apart.any()
    assert cut.widths.min() > cut.plan.resolution
    cut.save(tmp_path / "plan.wayfold")
    again = wayfold.load(tmp_path / "plan.wayfold")
    assert again.path(start, goal, exact=True).length == pytest.approx(known.length, rel=1e-9)
    for number in reversed(range(len(obstacles))):
        again.remove_obstacle(number)
    empty = FloorPlan(boundary).decompose(method).path(start, goal, exact=True)
    assert again.path(start, goal, exact=True).length == pytest.approx(empty.length, rel=1e-9)


NOTCHED = [(0, 0), (24, 0), (24, 8), (16, 8), (16, 11), (24, 11), (24, 16), (0, 16), (0, 10), (9, 10), (9, 7), (0, 7)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("box", [(15, 9, 19, 11), (22, 8, 24, 12), (15, 8, 16, 11), (24, 11, 26, 16), (0, 7, 9, 10)])
def test_an_obstacle_that_lies_along_the_boundary_can_be_removed_again(box, method):
    # What it and the plan have in common is areas and lines, or lines only.
    cut = FloorPlan(NOTCHED).decompose(method)
    before = cut.path((1, 1), (23, 15), exact=True).length
    cut.add_obstacle(shapely.box(*box))
    cut.remove_obstacle(0)
    after = cut.path((1, 1), (23, 15), exact=True)
    # Space-filling leaves places uncovered, others each time.
    assert after.found if method == "space-filling" else after.length == pytest.approx(before)
    assert cut.plan.obstacles == ()


@seeds(20, found=(1112,))
def test_nothing_stays_between_two_obstacles_that_touched_once_both_are_gone(seed):
    rng = np.random.default_rng(seed)
    size, offset = ((1.0, (0, 0)), (1.0, (390000.0, 5.8e6)), (1e3, (1e7, -1e7)))[rng.integers(3)]
    matrix = turned(rng.uniform(0, 7), size, offset)
    gap = rng.choice([0.0, 1e-9, 2e-8, 5e-8])
    west, east = shapely.box(20, 20, 50, 80), shapely.box(50 + gap, 20, 80, 80)
    room, shapes, points = mapped(matrix, shapely.box(0, 0, 100, 100), [west, east], np.array([[10, 50.0], [90, 50.0]]))
    for method in FULL:
        cut = FloorPlan(room).decompose(method)
        for shape in shapes:
            cut.add_obstacle(shape)
        check_like_anew(cut, room, shapes, points, size)
        cut.remove_obstacle(int(rng.integers(2)))
        cut.remove_obstacle(0)
        assert cut.path(*points, exact=True).length == pytest.approx(80 * size, rel=1e-9)
        check_like_anew(cut, room, [], points, size)


@pytest.mark.parametrize("method", METHODS)
def test_who_stands_where_two_corners_touch_leaves_to_every_side(method):
    cut = FloorPlan(shapely.box(0, 0, 10, 10), [shapely.box(2, 2, 5, 5), shapely.box(5, 5, 8, 8)]).decompose(method)
    for end in ((4, 6), (6, 4)):
        for way in (((5, 5), end), (end, (5, 5))):
            assert cut.path(*way, exact=True).length == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize("method", FULL)
def test_a_building_whose_floors_were_changed_and_changed_back_has_its_paths_again(method):
    mesh, start, goal = HOUSES["stairs"]
    cut = Building.from_mesh(mesh, agent=Agent(0.4, 1.7, 0.4)).decompose(method)
    before = cut.path(start, goal, exact=True).length
    # Beside the stairs, at the wall, and along the first of the two.
    for box in ((4, 4.2, 6, 5), (0, 3, 1, 8), (6, 4.2, 8, 5)):
        cut.add_obstacle(shapely.box(*box))
    changed = cut.path(start, goal, exact=True)
    assert changed.length >= before - 1e-9
    for _ in range(3):
        cut.remove_obstacle(len(cut.plan.obstacles) - 1)
    assert cut.path(start, goal, exact=True).length == pytest.approx(before, abs=1e-6)


def test_of_two_grounds_above_each_other_the_height_is_that_of_the_one_asked_for():
    low = np.array([[(0, 0, 3), (4, 0, 3), (0, 4, 3)], [(0, 0, 8), (4, 0, 8), (0, 4, 8)]], dtype=float)
    points = np.array([[1.0, 1.0], [0.5, 2.0]])
    assert heights_at(low, points, 7.0).tolist() == [8.0, 8.0]
    assert heights_at(low, points, np.array([2.0, 9.0])).tolist() == [3.0, 8.0]
