from itertools import pairwise

import numpy as np
import pytest
import shapely

from wayfold import samples
from wayfold.errors import ParameterError

SCENES = {
    "scene1": (samples.scene1, (100, 50), 16),
    "forest": (samples.forest, (290, 410), 208),
    "zigzag": (samples.zigzag, (150, 50), 55),
}


def weight_at(scene, points):
    found = np.full(len(points), scene.default)
    for polygon, weight, _ in scene.regions:
        found[shapely.intersects(polygon, shapely.points(points))] = weight
    return found


def cost_along(scene, points):
    """Weighted length of a polyline, sampled every centimetre."""
    total = 0.0
    for a, b in pairwise(points):
        a, b = np.array(a, float), np.array(b, float)
        count = max(1, int(np.hypot(*(b - a)) / 0.01))
        share = ((np.arange(count) + 0.5) / count)[:, None]
        total += weight_at(scene, a + (b - a) * share).mean() * np.hypot(*(b - a))
    return total


@pytest.mark.parametrize("name", SCENES)
def test_scenes_have_the_papers_size_and_number_of_triangles(name):
    make, size, triangles = SCENES[name]
    scene = make()
    assert scene.size == size
    lines = shapely.union_all([polygon.boundary for polygon, _, _ in scene.regions])
    faces = shapely.get_parts(shapely.polygonize(shapely.get_parts(lines)))
    assert len(shapely.get_parts(shapely.constrained_delaunay_triangles(shapely.multipolygons(faces)))) == triangles


@pytest.mark.parametrize("name", SCENES)
def test_regions_cover_the_scene_once(name):
    scene = SCENES[name][0]()
    shapes = [polygon for polygon, _, _ in scene.regions]
    assert all(shape.is_valid for shape in shapes)
    assert sum(shape.area for shape in shapes) == pytest.approx(np.prod(scene.size))
    assert shapely.union_all(shapes, grid_size=1e-6).area == pytest.approx(np.prod(scene.size))


def test_scene1_has_four_regions_with_weights_from_one_to_eight():
    scene = samples.scene1()
    assert len(scene.regions) == 4
    assert min(scene.weights.values()) == 1
    assert max(scene.weights.values()) == 8
    assert scene.queries == [((20, 40), (80, 35)), ((5, 5), (95, 45))]


def test_child_and_adult_see_the_same_forest_with_other_weights():
    child, adult = samples.forest("child"), samples.forest("adult")
    assert [polygon.wkb for polygon, _, _ in child.regions] == [polygon.wkb for polygon, _, _ in adult.regions]
    assert child.weights == {"bushes": 30, "path": 2, "puddle": 1, "tree": 1, "view": 10}
    assert adult.weights == {"bushes": 30, "path": 2, "puddle": 10, "tree": 10, "view": 1}
    assert child.queries == [((60, 2), (200, 2))]
    assert sum(name == "puddle" for _, _, name in child.regions) >= 3


def test_the_zigzag_road_is_longer_than_the_straight_way_and_cheaper():
    scene = samples.zigzag()
    start, goal = scene.queries[0]
    road = [start, *((18.75 * k, 40.0 if k % 2 else 10.0) for k in range(1, 8)), goal]
    straight = cost_along(scene, [start, goal])
    assert cost_along(scene, road) < 0.5 * straight
    # the paper's dual graph goes nearly straight and pays 2498
    assert straight == pytest.approx(2498, rel=0.15)


def test_weights_can_be_changed_by_name_only():
    scene = samples.forest().with_weights({"bushes": 99})
    assert scene.weights["bushes"] == 99
    assert samples.forest().weights["bushes"] == 30
    with pytest.raises(ParameterError, match="no region is called 'lava'"):
        scene.with_weights({"lava": 3})
    for wrong in (0, -1, np.nan, "heavy"):
        with pytest.raises(ParameterError, match="must be"):
            scene.with_weights({"bushes": wrong})
