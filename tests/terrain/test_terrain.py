from __future__ import annotations

import json

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import MultiPolygon, Polygon, box

import wayfold
from tests import naive_terrain as naive
from tests.terrain.worlds import random_ends, random_regions
from wayfold import Mesh, Status, Terrain, formats, samples
from wayfold.errors import FormatError, GeometryError, OffMapError, ParameterError

pytestmark = pytest.mark.kernels

SQUARE = box(0, 0, 10, 10)


def corners(terrain):
    return terrain.vertices[terrain.triangles]


def polygons(terrain):
    return shapely.polygons(corners(terrain)[:, [0, 1, 2, 0]])


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3]))
def test_triangles_tile_the_map_and_carry_the_topmost_weight(seed, obstacles):
    regions = random_regions(seed, obstacles=obstacles)
    terrain = Terrain(regions, default=2.0, bounds=(0, 0, 100, 100)) if regions else Terrain([(SQUARE, 1.0)])
    areas = shapely.area(polygons(terrain))
    if not regions:
        return
    assert areas.sum() == pytest.approx(100 * 100, rel=1e-9)
    points = np.random.default_rng(seed).uniform(0, 100, (200, 2))
    places = terrain.locate(points)
    assert (places >= 0).all()
    for point, place in zip(points, places, strict=True):
        covering = [weight for shape, weight in regions if shape.contains(shapely.Point(point))]
        assert terrain.triangle_weights[place] == (covering[-1] if covering else 2.0)


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_half_edges_and_their_twins_run_opposite_ways(seed):
    terrain = Terrain(random_regions(seed) or [(SQUARE, 1.0)], default=2.0, bounds=(0, 0, 100, 100))
    begins, ends = terrain.triangles.ravel(), terrain.triangles[:, [1, 2, 0]].ravel()
    inner = terrain.twins >= 0
    np.testing.assert_array_equal(terrain.twins[terrain.twins[inner]], np.flatnonzero(inner))
    np.testing.assert_array_equal(begins[inner], ends[terrain.twins[inner]])
    outline = np.hypot(*(terrain.vertices[begins[~inner]] - terrain.vertices[ends[~inner]]).T).sum()
    assert outline == pytest.approx(400, rel=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.lists(st.tuples(st.floats(1, 99), st.floats(1, 99)), min_size=2, max_size=5))
def test_a_polyline_costs_what_the_pieces_between_edges_cost(seed, line):
    terrain = Terrain(random_regions(seed, obstacles=0.2) or [(SQUARE, 1.0)], default=2.0, bounds=(0, 0, 100, 100))
    expected = naive.polyline_cost(corners(terrain), terrain.triangle_weights, line, 1e-9)
    assert terrain.cost(line) == pytest.approx(expected, rel=1e-8, abs=1e-7)


def test_the_samples_have_as_many_triangles_as_the_papers_scenes():
    sizes = [
        Terrain.from_scene(scene).num_triangles for scene in (samples.scene1(), samples.forest(), samples.zigzag())
    ]
    assert sizes == [16, 208, 55]


def test_a_child_and_an_adult_share_the_ground_and_weigh_it_differently():
    scene = samples.forest("child")
    child = Terrain.from_scene(scene)
    adult = child.with_weights(samples.forest("adult").weights)
    assert adult.vertices is child.vertices
    fresh = Terrain.from_scene(samples.forest("adult"))
    start, goal = scene.queries[0]
    assert adult.path(start, goal).cost == pytest.approx(fresh.path(start, goal).cost, rel=1e-12)
    assert child.path(start, goal, weights=samples.forest("adult").weights).cost == adult.path(start, goal).cost
    assert child.path(start, goal).cost != adult.path(start, goal).cost


def test_an_edge_costs_the_lower_weight_of_its_sides():
    terrain = Terrain([(box(0, 0, 10, 5), 1.0), (box(0, 5, 10, 10), 7.0)])
    assert terrain.cost([(0, 5), (10, 5)]) == pytest.approx(10)
    assert terrain.path((0, 5), (10, 5)).cost == pytest.approx(10)


def test_obstacles_block_and_their_edges_do_not():
    terrain = Terrain([(SQUARE, 1.0), (box(4, 0, 6, 8), np.inf)])
    assert terrain.cost([(0, 4), (10, 4)]) == np.inf
    path = terrain.path((2, 2), (8, 2))
    assert path.cost == pytest.approx(2 + 2 * np.hypot(2, 6), rel=1e-9)


def test_disconnected_ground_is_unreachable():
    apart = Terrain([(box(0, 0, 1, 1), 1.0), (box(3, 0, 4, 1), 1.0)])
    walled = Terrain([(SQUARE, 1.0), (box(4, -1, 6, 11), np.inf)], default=1.0, bounds=(0, 0, 10, 10))
    for terrain, start, goal in ((apart, (0.5, 0.5), (3.5, 0.5)), (walled, (1, 1), (9, 9))):
        for graph in ("refined", "steiner", "dual-extra", "dual", "grid"):
            path = terrain.path(start, goal, graph=graph)
            assert path.status is Status.UNREACHABLE
            assert path.cost == np.inf


def test_a_raster_gives_each_cell_its_weight():
    rng = np.random.default_rng(3)
    weights = rng.choice([1.0, 2.0, 5.0, np.inf], (13, 17))
    terrain = Terrain.from_raster(weights, cell=2.0, origin=(10.0, -4.0))
    rows, columns = np.indices(weights.shape)
    centres = np.column_stack([10 + 2 * columns.ravel() + 1, -4 + 2 * rows.ravel() + 1])
    np.testing.assert_array_equal(terrain.triangle_weights[terrain.locate(centres)], weights.ravel())
    assert shapely.area(polygons(terrain)).sum() == pytest.approx(13 * 17 * 4)


def test_a_movingai_map_gives_its_letters_weights(tmp_path):
    file = tmp_path / "small.map"
    file.write_text("type octile\nheight 2\nwidth 3\nmap\nABT\nAAC\n")
    terrain = Terrain.from_movingai(file, weights={"C": 9.0})
    got = terrain.triangle_weights[terrain.locate([(0.5, 0.5), (1.5, 0.5), (2.5, 0.5), (2.5, 1.5)])]
    assert got.tolist() == [1, 2, np.inf, 9]


def test_heights_make_slopes_dear_and_cliffs_and_water_obstacles():
    heights = np.array([[0, 0, 0, 0, -5], [0, 0, 1, 30, -5]], float)
    terrain = Terrain.from_heights(heights, np.zeros((1, 4), int), [2.0], slope_classes=4, water=-2.0)
    flat, slope, cliff, sea = terrain.triangle_weights[terrain.locate([(x + 0.5, 0.5) for x in range(4)])]
    assert 2 <= flat < slope < np.inf
    assert np.isinf([cliff, sea]).all()


def test_a_mesh_gives_each_material_its_weight():
    vertices = [(0, 0, 0), (1, 0, 0), (1, 1, 3), (0, 1, 0), (2, 0, 0), (2, 1, 0)]
    triangles = [(0, 1, 2), (0, 2, 3), (1, 4, 5), (1, 5, 2), (0, 0, 1)]
    mesh = Mesh(vertices, triangles, [0, 0, 1, 1, 1], ("road", "swamp"))
    terrain = Terrain.from_mesh(mesh, {"swamp": 4.0})
    assert terrain.weights == {"road": 1.0, "swamp": 4.0}
    assert terrain.path((0.1, 0.5), (1.9, 0.5)).cost == pytest.approx(0.9 + 0.9 * 4)


def test_an_obj_file_gives_each_of_its_materials_a_weight(tmp_path):
    corners = "".join(f"v {x} {y} 0\n" for x, y in ((0, 0), (1, 0), (1, 1), (0, 1), (2, 0), (2, 1)))
    file = tmp_path / "ground.obj"
    file.write_text(f"{corners}usemtl road\nf 1 2 3\nf 1 3 4\nusemtl swamp\nf 2 5 6\nf 2 6 3\n")
    terrain = Terrain.from_mesh(formats.load_mesh(file, up="z"), {"road": 1.0, "swamp": 4.0})
    assert terrain.path((0.1, 0.5), (1.9, 0.5)).cost == pytest.approx(0.9 + 0.9 * 4)


def test_a_mesh_with_an_edge_that_ends_on_another_is_still_whole():
    vertices = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (1, 0, 0), (1, -2, 0), (0, -2, 0), (2, -2, 0)]
    triangles = [(0, 1, 2), (0, 2, 3), (0, 6, 4), (6, 5, 4), (4, 5, 1), (5, 7, 1)]
    terrain = Terrain.from_mesh(Mesh(vertices, triangles), [1.0])
    assert terrain.path((1.5, 1.0), (0.3, -1.0)).cost == pytest.approx(np.hypot(1.2, 2.0))


def test_geojson_features_are_painted_in_their_order(tmp_path):
    file = tmp_path / "map.geojson"
    features = [
        {"type": "Feature", "properties": {"weight": 1}, "geometry": shapely.geometry.mapping(SQUARE)},
        {"type": "Feature", "properties": {"name": "mud"}, "geometry": shapely.geometry.mapping(box(2, 2, 4, 4))},
        {"type": "Feature", "properties": {"weight": None}, "geometry": shapely.geometry.mapping(box(6, 6, 8, 8))},
    ]
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    terrain = Terrain.from_geojson(file, weights={"mud": 6.0})
    assert terrain.triangle_weights[terrain.locate([(1, 1), (3, 3), (7, 7)])].tolist() == [1, 6, np.inf]
    with pytest.raises(FormatError, match="polygon 1 has no property 'weight'"):
        Terrain.from_geojson(file)


def test_a_saved_terrain_answers_as_before(tmp_path):
    scene = samples.scene1()
    terrain = Terrain.from_scene(scene)
    terrain.save(tmp_path / "scene.wayfold")
    again = wayfold.load(tmp_path / "scene.wayfold")
    assert again.weights == terrain.weights
    assert again.path(*scene.queries[0]).cost == terrain.path(*scene.queries[0]).cost


def test_slivers_from_rounding_do_not_tear_the_map():
    third = 1 / 3
    regions = [(Polygon([(0, 0), (third, 0), (third * 2.0000000000000004, 1), (0, 1)]), 1.0)]
    regions.append((Polygon([(third, 0), (1, 0), (1, 1), (third * 2, 1), (third * 1.5, 0.5)]), 2.0))
    terrain = Terrain(regions, default=3.0)
    assert shapely.area(polygons(terrain)).sum() == pytest.approx(1, rel=1e-9)
    path = terrain.path((0.1, 0.5), (0.9, 0.5))
    assert path.cost < 0.4 + 0.4 * 2
    assert path.cost == pytest.approx(
        naive.polyline_cost(corners(terrain), terrain.triangle_weights, path.points, 1e-12)
    )


@pytest.mark.parametrize(
    ("regions", "options", "error", "words"),
    [
        ([], {}, ParameterError, "at least one region"),
        ([(SQUARE, 0.0)], {}, ParameterError, "region 0 must be above 0"),
        ([(SQUARE, -1.0)], {}, ParameterError, "must be above 0"),
        ([(SQUARE, float("nan"))], {}, ParameterError, "must be above 0"),
        ([(SQUARE, "much")], {}, ParameterError, "must be a number above 0"),
        ([(SQUARE, 1.0, "a"), (SQUARE, 2.0, "a")], {}, ParameterError, "use another name"),
        ([(Polygon([(0, 0), (2, 2), (2, 0), (0, 2)]), 1.0)], {}, GeometryError, "region 0 is not a valid polygon"),
        ([(Polygon([(0, 0), (2, 2), (1, 1)]), 1.0)], {}, GeometryError, "region 0"),
        ([(SQUARE, 1.0), (MultiPolygon(), 1.0)], {}, GeometryError, "region 1 has no area"),
        ([("square", 1.0)], {}, ParameterError, "shapely Polygon"),
        ([(SQUARE,)], {}, ParameterError, r"\(polygon, weight\)"),
        ([(SQUARE, 1.0)], {"default": 0.0}, ParameterError, "default must be above 0"),
        ([(SQUARE, 1.0)], {"bounds": (0, 0, 1, 1)}, ParameterError, "bounds need a default"),
        ([(SQUARE, 1.0)], {"default": 1.0, "bounds": (0, 0, 0, 1)}, ParameterError, "enclose an area"),
    ],
)
def test_bad_regions_are_named(regions, options, error, words):
    with pytest.raises(error, match=words):
        Terrain(regions, **options)


@pytest.mark.parametrize(
    ("start", "options", "error", "words"),
    [
        ((20, 1), {}, OffMapError, "start .* outside the map"),
        ((5, 5), {}, OffMapError, "start .* in an obstacle"),
        ((np.nan, 1), {}, GeometryError, "not finite"),
        ((1, 1), {"graph": "tea"}, ParameterError, "graph must be one of"),
        ((1, 1), {"search": "tea"}, ParameterError, "search must be one of"),
        ((1, 1), {"search": "bushwhack"}, ParameterError, "for Steiner graphs"),
        ((1, 1), {"radius": -1}, ParameterError, "radius must be at least 0"),
        ((1, 1), {"graph": "steiner", "epsilon": 0}, ParameterError, "epsilon must be above 0"),
        ((1, 1), {"graph": "grid", "cell": 0}, ParameterError, "cell must be at least 1e-09"),
        ((1, 1), {"graph": "grid", "cell": 1e-9}, ParameterError, "take larger ones"),
        ((1, 1), {"weights": {"moss": 1}}, ParameterError, "no region is called 'moss'"),
        ((1, 1), {"weights": {"grass": np.nan}}, ParameterError, "must be above 0"),
    ],
)
def test_bad_queries_are_named(start, options, error, words):
    terrain = Terrain([(SQUARE, 1.0, "grass"), (box(4, 4, 6, 6), np.inf, "rock")])
    with pytest.raises(error, match=words):
        terrain.path(start, (9, 9), **options)


def test_regions_without_names_keep_their_own_weights_however_close_those_are():
    weights = (3.9502812, 3.9502811, 2.0, 3.9502811)
    terrain = Terrain([(shapely.box(k, 0, k + 1, 1), weight) for k, weight in enumerate(weights)])
    places = [(k + 0.5, 0.5) for k in range(4)]
    np.testing.assert_array_equal(terrain.triangle_weights[terrain.locate(places)], weights)
    assert set(terrain.weights) == {"3.9502812", "3.9502811", "2"}
    cells = Terrain.from_raster([weights])
    np.testing.assert_array_equal(cells.triangle_weights[cells.locate(places)], weights)
    assert cells.weights == terrain.weights


def test_bad_rasters_are_named():
    with pytest.raises(ParameterError, match=r"cell \(0, 1\)"):
        Terrain.from_raster([[1.0, 0.0]])
    with pytest.raises(ParameterError, match="shape"):
        Terrain.from_raster([1.0])


def test_many_queries_give_what_single_ones_give_with_any_number_of_threads():
    terrain = Terrain(random_regions(5), default=2.0, bounds=(0, 0, 100, 100))
    ends = np.array([random_ends(terrain, seed) for seed in range(30)])
    for graph in ("refined", "dual", "steiner"):
        serial = terrain.paths(ends[:, 0], ends[:, 1], workers=1, graph=graph)
        parallel = terrain.paths(ends[:, 0], ends[:, 1], workers=3, graph=graph)
        assert [path.cost for path in serial] == [path.cost for path in parallel]
        assert serial[7].cost == terrain.path(*ends[7], graph=graph).cost
