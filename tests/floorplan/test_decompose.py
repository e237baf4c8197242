from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests import naive_floorplan as naive
from wayfold.errors import GeometryError, OffMapError, ParameterError
from wayfold.floorplan import METHODS, FloorPlan
from wayfold.floorplan.growth import Growth, GrowthSettings
from wayfold.floorplan.polygons import ConvexPieces, combine

pytestmark = pytest.mark.kernels

worlds = st.tuples(st.integers(0, 2**32 - 1), st.sampled_from(naive.KINDS))


def make(world):
    seed, kind = world
    return naive.random_plan(np.random.default_rng(seed), kind)


def check_regions(regions, free, *, full):
    """The promises of every decomposition, measured by shapely."""
    size = max(free.area, 1e-9)
    assert all(region.is_valid and region.area > 0 for region in regions)
    covered, outside = naive.covered(regions, free)
    assert outside < 1e-9
    if full:
        assert covered > 1 - 1e-9
    assert naive.overlap(regions) < 1e-9 * size
    assert all(naive.is_convex(region, 1e-8) for region in regions)


@settings(max_examples=120)
@given(worlds)
def test_deaccon_covers_all_free_space_with_convex_regions_that_do_not_overlap(world):
    boundary, obstacles = make(world)
    cut = FloorPlan(boundary, obstacles).decompose("deaccon")
    free = naive.free_space(boundary, obstacles)
    check_regions(cut.regions, free, full=True)
    assert cut.coverage > 1 - 1e-9
    assert cut.overlap < 1e-9


@settings(max_examples=40)
@given(worlds, st.sampled_from([3.0, 12.0, 40.0]), st.booleans(), st.booleans(), st.floats(0.05, 20))
def test_no_setting_of_deaccon_breaks_its_promises(world, spacing, in_turn, join, step):
    boundary, obstacles = make(world)
    plan = FloorPlan(boundary, obstacles)
    cut = plan.decompose("deaccon", spacing=spacing, in_turn=in_turn, combine=join, step=step)
    check_regions(cut.regions, naive.free_space(boundary, obstacles), full=True)


@settings(max_examples=40)
@given(worlds, st.booleans())
def test_hertel_mehlhorn_covers_everything_and_joining_never_adds_regions(world, join):
    boundary, obstacles = make(world)
    plan = FloorPlan(boundary, obstacles)
    cut = plan.decompose("hertel-mehlhorn", combine=join)
    check_regions(cut.regions, naive.free_space(boundary, obstacles), full=True)
    assert plan.decompose("hertel-mehlhorn").num_regions <= cut.num_regions


@settings(max_examples=40)
@given(worlds)
def test_space_filling_volumes_are_boxes_in_free_space_that_do_not_overlap(world):
    boundary, obstacles = make(world)
    cut = FloorPlan(boundary, obstacles).decompose("space-filling", combine=False)
    check_regions(cut.regions, naive.free_space(boundary, obstacles), full=False)
    for region in cut.regions:
        assert region.area == pytest.approx(region.envelope.area, rel=1e-9)


@settings(max_examples=60)
@given(worlds, st.sampled_from(METHODS))
@example((10631, "slivers"), "hertel-mehlhorn")  # a wedge of 8e-6 rad between two regions is no border
def test_regions_have_a_gateway_exactly_where_they_share_a_border(world, method):
    boundary, obstacles = make(world)
    cut = FloorPlan(boundary, obstacles).decompose(method)
    pairs = {
        tuple(sorted(pair)): width for pair, width in zip(cut.gateways.pairs.tolist(), cut.gateways.widths, strict=True)
    }
    assert len(pairs) == len(cut.gateways)
    # A border about as long as epsilon may go either way, and so may one that is off by the plan's resolution.
    resolution = cut.plan.resolution
    loose = naive.touching_pairs(cut.regions, cut.epsilon / 2, resolution * 4)
    strict = naive.touching_pairs(cut.regions, cut.epsilon * 2, resolution / 8)
    assert strict.keys() <= pairs.keys() <= loose.keys()
    for pair, length in strict.items():
        assert pairs[pair] == pytest.approx(length, abs=2 * cut.epsilon)  # either end may be off by epsilon


@settings(max_examples=40)
@given(worlds, st.sampled_from(("deaccon", "hertel-mehlhorn")))
@example((1755, "lattice"), "deaccon")
def test_two_points_are_connected_exactly_when_a_flood_fill_joins_them(world, method):
    seed, kind = world
    if kind == "slivers":
        kind = "lattice"  # a raster does not see a wall of a few millimetres
    boundary, obstacles = make((seed, kind))
    cut = FloorPlan(boundary, obstacles).decompose(method)
    free = naive.free_space(boundary, obstacles)
    labels, centres = naive.flood_fill(free, boundary.bounds, 60)
    inside = labels >= 0
    if not inside.any():
        return
    found = cut.locate(centres[inside])
    assert (found >= 0).all()
    component = cut.graph.components()[found]
    fill = labels[inside]
    # The raster may miss a narrow passage, never invent one: cells it joins are connected ...
    for label in np.unique(fill):
        assert len(np.unique(component[fill == label])) == 1

    def parts_of(space):
        point, part = shapely.STRtree(shapely.get_parts(space)).query(
            shapely.points(centres[inside]), predicate="intersects"
        )
        which = np.full(len(found), -1)
        which[point] = part
        return which

    # ... what the decomposition joins lies in one part of the free space, and it joins what is one part even if walls
    # are a hair thicker: places that only touch may be one by rounding.
    which = parts_of(free.buffer(0))
    for number in np.unique(component):
        assert len(np.unique(which[component == number])) == 1
    which = parts_of(free.buffer(-1e-7, join_style="mitre"))
    for number in np.unique(which):
        assert len(np.unique(component[which == number])) == 1


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_exact_growth_is_the_unit_step_growth_of_the_paper_on_whole_numbers(seed, count):
    rng = np.random.default_rng(seed)
    free = rng.random((14, 17)) > 0.15
    rows, columns = np.nonzero(free)
    if not len(rows):
        return
    chosen = rng.choice(len(rows), min(count, len(rows)), replace=False)
    cells = list(zip(columns[chosen].tolist(), rows[chosen].tolist(), strict=True))
    growth = Growth(FloorPlan.from_cells(free), GrowthSettings(step=1.0))
    growth._grow_all(np.array([(x + 0.5, y + 0.5, 0.5, -1.0) for x, y in cells]))
    assert [tuple(box) for box in growth.regions.boxes[: growth.count].tolist()] == naive.unit_growth(free, cells)


def slanted_world(number):
    """A box with turned obstacles apart from each other, and a place between them."""
    rng = np.random.default_rng(number)
    boundary, obstacles = shapely.box(0, 0, 20, 20), []
    while len(obstacles) < 6:
        (x, y), (w, h) = rng.uniform(0, 20, 2), rng.uniform(0.8, 2.5, 2)
        shape = shapely.affinity.rotate(shapely.box(x - w, y - h, x + w, y + h), rng.uniform(10, 80))
        if shape.within(shapely.box(0.3, 0.3, 19.7, 19.7)) and all(shape.distance(o) > 0.3 for o in obstacles):
            obstacles.append(shape)
    while True:
        place = rng.uniform(1, 19, 2)
        if all(obstacle.distance(shapely.Point(place)) > 0.6 for obstacle in obstacles):
            return boundary, obstacles, place


def test_the_unit_step_growth_of_the_paper_tends_to_exact_growth_along_slanted_walls():
    medians = []
    for unit in (0.1, 0.05, 0.025):
        apart, within = [], 0
        for number in range(25):
            boundary, obstacles, (x, y) = slanted_world(number)
            growth = Growth(FloorPlan(boundary, obstacles), GrowthSettings(step=unit))
            growth._grow_all(np.array([(x, y, unit / 2, -1.0)]))
            exact = shapely.Polygon(growth.regions.corners[0, : growth.regions.counts[0]])
            stepped = naive.unit_growth_following(boundary, obstacles, (x, y), unit)
            apart.append(exact.symmetric_difference(stepped).area / exact.area)
            # Unit steps stay up to a unit short of what they meet.
            within += apart[-1] <= unit * exact.length / exact.area
        # Where a corner is met and where a wall is followed can change places within a unit: seldom, but then for good.
        assert within >= 23
        medians.append(np.median(apart))
    assert medians[2] < 0.6 * medians[1] < 0.36 * medians[0]


@settings(max_examples=25)
@given(worlds)
def test_regions_are_convex_and_keep_what_they_have_after_every_phase_of_growth(world):
    boundary, obstacles = make(world)
    plan = FloorPlan(boundary, obstacles)
    if plan.free.is_empty:
        return
    growth = Growth(plan, GrowthSettings(spacing=25.0))
    growth.plant_grid()
    before = []
    for _ in range(30):
        regions = growth.regions
        now = [regions.corners[k, : regions.counts[k]].copy() for k in range(growth.count)]
        for old, new in zip(before, now, strict=False):
            np.testing.assert_array_equal(old, new)
        shapes = [shapely.Polygon(ring) for ring in now if len(ring) >= 3]
        assert naive.overlap(shapes) < 1e-7
        assert all(naive.is_convex(shape, 1e-8) for shape in shapes)
        before = now
        seeds = growth._open_space()
        if not len(seeds):
            return
        growth._grow_in_turn(seeds)


def test_a_region_follows_a_slanted_wall_and_its_order_rises():
    plan = FloorPlan(shapely.box(0, 0, 10, 10), [[(10, 4), (10, 10), (4, 10)]])
    growth = Growth(plan, GrowthSettings(step=0.5))
    growth._grow_all(np.array([(2.0, 2.0, 0.25, -1.0)]))
    assert growth.regions.counts[0] == 5  # figure 1 (c): a quad becomes a pentagon
    assert shapely.Polygon(growth.regions.corners[0, :5]).area == pytest.approx(82.0)
    assert plan.decompose("deaccon").num_regions == 1
    assert plan.decompose("deaccon", follow=False).coverage < 1.0


def test_a_vertex_of_an_obstacle_stops_a_side_and_seeding_fills_what_is_left():
    diamond = [(5, 5), (8, 2), (11, 5), (8, 8)]
    plan = FloorPlan(shapely.box(0, 0, 16, 10), [diamond])
    growth = Growth(plan, GrowthSettings(step=0.5))
    growth._grow_all(np.array([(2.0, 5.0, 0.25, -1.0)]))
    assert growth.regions.boxes[0].tolist() == [0, 0, 5, 10]  # figure 1 (b)
    growth.fill()
    assert growth._covered() == pytest.approx(160 - 18)


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_plan_is_one_region_and_a_full_one_has_none(method):
    empty = FloorPlan(shapely.box(0, 0, 7, 3)).decompose(method)
    assert empty.num_regions == 1
    assert empty.coverage == 1.0
    full = FloorPlan(shapely.box(0, 0, 7, 3), [shapely.box(-1, -1, 9, 9)]).decompose(method)
    assert full.num_regions == 0
    assert full.coverage == 1.0
    assert full.overlap == 0.0
    assert len(full.gateways) == 0
    assert full.locate([(1.0, 1.0)]).tolist() == [-1]
    with pytest.raises(OffMapError, match="no free space"):
        _ = full.graph


def test_pieces_are_joined_over_whole_edges_and_straight_corners_go():
    points = np.array([(0, 0), (1, 0), (2, 0), (2, 1), (1, 1), (0, 1), (2, 2), (0, 2)], float)
    pieces = ConvexPieces(points, [[0, 1, 4, 5], [1, 2, 3, 4], [5, 3, 6, 7]])
    joined = combine(pieces, 1e-9)
    assert [sorted(polygon) for polygon in joined.polygons] == [[0, 2, 6, 7]]
    bent = ConvexPieces(
        np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2), (0, 1)], float), [[0, 1, 2, 3, 6], [6, 3, 4, 5]]
    )
    assert len(combine(bent, 1e-9).polygons) == 2


def test_the_number_of_regions_stays_near_that_of_hertel_mehlhorn():
    ratios = []
    for kind in naive.KINDS:
        for seed in range(8):
            plan = FloorPlan(*naive.random_plan(np.random.default_rng(seed), kind))
            if not plan.free.is_empty:
                ratios.append(plan.decompose().num_regions / plan.decompose("hertel-mehlhorn").num_regions)
    assert np.mean(ratios) < 1.74


@pytest.mark.parametrize(
    ("method", "options", "words"),
    [
        ("voronoi", {}, "method must be one of"),
        ("deaccon", {"spacing": 0}, "spacing"),
        ("deaccon", {"step": float("nan")}, "step"),
        ("deaccon", {"step": 5e-324}, "step must be at least"),
        ("deaccon", {"step": 1e-9}, "step must be at least"),
        ("deaccon", {"spacing": 5e-324}, "spacing must be at least"),
        ("space-filling", {"spacing": 1e-9}, "spacing must be at least"),
        ("deaccon", {"follow": 1}, "follow"),
        ("deaccon", {"cheese": 1}, "has no option 'cheese'"),
        ("space-filling", {"follow": True}, "has no option 'follow'"),
        ("hertel-mehlhorn", {"spacing": 1.0}, "has no option 'spacing'"),
    ],
)
def test_wrong_settings_get_a_sentence(method, options, words):
    with pytest.raises(ParameterError, match=words):
        FloorPlan(shapely.box(0, 0, 1, 1)).decompose(method, **options)


@pytest.mark.parametrize("step", [1.0, 1e12, 1e308])
def test_steps_beyond_the_plan_are_steps_of_its_size(step):
    cut = FloorPlan(shapely.box(0, 0, 1, 1), [shapely.box(0.4, 0.4, 0.6, 0.6)]).decompose(step=step)
    assert cut.coverage == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("boundary", "obstacles", "error", "words"),
    [
        ([(0, 0), (1, 1)], [], ParameterError, "boundary"),
        ([(0, 0), (1, 0), (float("nan"), 1)], [], GeometryError, "not finite"),
        ([(0, 0), (1, 1), (1, 0), (0, 1)], [], GeometryError, "not a valid polygon"),
        ([(0, 0), (1, 0), (2, 0)], [], GeometryError, "boundary"),
        (shapely.box(0, 0, 1, 1), [[(0, 0), (1, 1), (1, 0), (0, 1)]], GeometryError, r"obstacles\[0\]"),
    ],
)
def test_wrong_plans_get_a_sentence(boundary, obstacles, error, words):
    with pytest.raises(error, match=words):
        FloorPlan(boundary, obstacles)


@pytest.mark.long
@pytest.mark.parametrize("kind", naive.KINDS)
def test_hundreds_of_plans_keep_every_promise(kind):
    for seed in range(10_000, 10_150):
        boundary, obstacles = naive.random_plan(np.random.default_rng(seed), kind)
        cut = FloorPlan(boundary, obstacles).decompose("deaccon")
        check_regions(cut.regions, naive.free_space(boundary, obstacles), full=True)
