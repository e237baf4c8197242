"""The same terrain moved, turned, mirrored, scaled, in another order, cut finer: the same answers.

Reachability is the same always. Costs of refined routes are those of the same ground within a hundredth (which sequence
of edges is refined depends on the triangles), within 1e-9 where the triangles stay the same, and no lower bound of any
variant is above any of the costs.
"""

from __future__ import annotations

import numpy as np
import pytest
import shapely
import shapely.affinity
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.draws import seeds
from tests.terrain.worlds import random_ends, random_regions
from wayfold import Terrain
from wayfold.errors import FormatError, GeometryError, ParameterError

pytestmark = pytest.mark.kernels

GRAPHS = ("refined", "dual", "dual-extra", "grid", "steiner")
FAR = [(0.0, 0.0), (1e7, 1e7), (390_000.0, 5_820_000.0), (-3.3e6, 77.7), (1e7 / 3, -9.99e6)]


def world(seed, obstacles=0.3):
    regions = random_regions(seed, count=5, obstacles=obstacles)
    return [(shapely.box(0, 0, 100, 100), 2.0), *regions]


def checked(regions, ends, **options):
    """Costs of all graphs; their bounds hold."""
    terrain = Terrain(regions)
    costs = {}
    for graph in GRAPHS[:4]:
        path = terrain.path(*ends, graph=graph, cell=5.0 * options.get("scale", 1.0))
        costs[graph] = path.cost
        if path:
            np.testing.assert_array_equal(path.points[[0, -1], :2], ends)
            assert path.cost == pytest.approx(terrain.cost(path.points), rel=1e-8)
    return terrain, costs


@pytest.mark.parametrize("seed", [9310002, 9312004, 16005010])
@pytest.mark.parametrize("offset", [FAR[1], FAR[2], FAR[4]])
def test_costs_far_away_are_the_integral_along_the_points(seed, offset):
    regions = world(seed)
    ends = np.round(random_ends(Terrain(regions), seed), 3)
    checked([(shapely.affinity.translate(shape, *offset), weight) for shape, weight in regions], ends + offset)


@seeds(12)
@pytest.mark.parametrize("offset", FAR[1:])
def test_where_the_map_lies_does_not_matter(seed, offset):
    regions = world(seed)
    ends = np.round(random_ends(Terrain(regions), seed), 3)
    _, near = checked(regions, ends)
    moved = [(shapely.affinity.translate(shape, *offset), weight) for shape, weight in regions]
    _, far = checked(moved, ends + offset)
    # Coordinates there are rounded to 2e-9 of metres.
    for graph in GRAPHS[:4]:
        assert np.isfinite(far[graph]) == np.isfinite(near[graph])
    for graph in ("refined", "grid"):
        if np.isfinite(near[graph]):
            assert far[graph] == pytest.approx(near[graph], rel=1e-2)


@settings(max_examples=12)
@given(
    st.integers(0, 10_000), st.floats(0, 360), st.booleans(), st.sampled_from([1e-3, 0.1, 1.0, 37.0, 1e3]),
    st.sampled_from(FAR),
)  # fmt: skip
@example(6000, 330.37985957593776, False, 37.0, FAR[4])  # an obstacle that ends on the border of the map
def test_turned_mirrored_and_scaled_maps_answer_alike(seed, angle, mirrored, scale, offset):
    regions = world(seed)
    terrain = Terrain(regions)
    ends = random_ends(terrain, seed)
    path = terrain.path(*ends)
    radians = np.radians(angle)
    matrix = scale * np.array([[np.cos(radians), -np.sin(radians)], [np.sin(radians), np.cos(radians)]])
    if mirrored:
        matrix = matrix @ np.diag([1.0, -1.0])
    offset = np.array(offset) * min(scale, 1.0)
    six = [matrix[0, 0], matrix[0, 1], matrix[1, 0], matrix[1, 1], *offset]
    other = Terrain([(shapely.affinity.affine_transform(shape, six), weight) for shape, weight in regions])
    found = other.path(*(ends @ matrix.T + offset))
    assert found.found == path.found
    if path:
        assert found.cost == pytest.approx(path.cost * scale, rel=1e-2)
        assert path.lower_bound * scale <= found.cost * (1 + 1e-6)
        assert found.lower_bound <= path.cost * scale * (1 + 1e-6)


def rough(ring, size, rng):
    """A ring with near-duplicates of its vertices, and near-collinear ones on its sides."""
    points = []
    for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        noise = size * rng.uniform(-1, 1, (2, 2))
        points += [a, a + noise[0], a + rng.uniform(0.2, 0.8) * (b - a) + noise[1]]
    whole = shapely.make_valid(shapely.Polygon(points), method="structure", keep_collapsed=False)
    return [part for part in shapely.get_parts(whole) if part.area > 0]


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.floats(-12, -4))
def test_near_duplicate_and_near_collinear_vertices_change_nothing(seed, power):
    # Regions reach over the border: moved away from it they would leave a way along it.
    rng = np.random.default_rng(seed)
    plain, noisy = [], []
    for _ in range(5):
        angles = np.arange(5) * 2 * np.pi / 5 + rng.uniform(0, 1, 5)
        ring = rng.uniform(0, 100, 2) + rng.uniform(8, 35) * np.column_stack([np.cos(angles), np.sin(angles)])
        weight = np.inf if rng.random() < 0.3 else float(np.exp(rng.uniform(0, np.log(20))))
        plain.append((shapely.Polygon(ring), weight))
        noisy += [(part, weight) for part in rough(ring, 10**power, rng)]
    terrain, other = (Terrain(regions, default=2.0, bounds=(0, 0, 100, 100)) for regions in (plain, noisy))
    ends = random_ends(terrain, seed)
    assume(np.isfinite(other.triangle_weights[other.locate(ends)]).all())
    path, found = terrain.path(*ends), other.path(*ends)
    assert found.found == path.found
    if path:
        assert found.cost == pytest.approx(path.cost, rel=1e-2)
        assert found.cost == pytest.approx(other.cost(found.points), rel=1e-6)


@settings(max_examples=8)
@given(st.integers(0, 10_000))
@example(3709)  # legs along edges: the other route that is refined was the cheapest one itself
@example(6364)
def test_triangles_in_another_order_and_cut_finer_answer_alike(seed):
    terrain = Terrain(world(seed))
    ends = random_ends(terrain, seed)
    path = terrain.path(*ends)
    rng = np.random.default_rng(seed)
    corners = terrain.vertices[terrain.triangles]
    pieces, weights = [], []
    for number in rng.permutation(len(corners)):
        corner = np.roll(corners[number], rng.integers(3), axis=0)
        middle = corner.mean(axis=0)
        parts = [corner] if rng.random() < 0.5 else [np.stack([corner[k], corner[k - 1], middle]) for k in range(3)]
        pieces += [shapely.Polygon(part) for part in parts]
        weights += [terrain.triangle_weights[number]] * len(parts)
    other = Terrain(list(zip(pieces, weights, strict=True)))
    found = other.path(*ends)
    assert found.found == path.found
    if path:
        assert found.cost == pytest.approx(path.cost, rel=1e-2)
        assert found.lower_bound <= path.cost * (1 + 1e-9)


def test_vertices_are_given_back_as_they_came():
    corners = np.array([(5_820_000.3, 390_000.7), (5_820_010.1, 390_000.9), (5_820_005.5, 390_009.2)])
    terrain = Terrain([(shapely.Polygon(corners), 1.0)])
    assert {tuple(row) for row in terrain.vertices.tolist()} == {tuple(row) for row in corners.tolist()}
    start, goal = corners.mean(axis=0), corners[0]
    path = terrain.path(start, goal)
    np.testing.assert_array_equal(path.points[[0, -1], :2], [start, goal])


def test_regions_that_share_a_border_still_do_far_away():
    # The corner of one region lies on the side of another: rounded apart, they must not leave a slit.
    slanted = shapely.Polygon([(0, 0), (7, 3), (14, 6), (10, 20), (0, 20)])
    beyond = [shapely.Polygon([(0, 0), (7, 3), (9, -5)]), shapely.Polygon([(7, 3), (14, 6), (20, 0), (9, -5)])]
    for offset in FAR:
        shift = np.array([offset[0] + 0.1, offset[1] + 0.7])
        shapes = [shapely.affinity.translate(shape, *shift) for shape in (slanted, *beyond)]
        whole = shapely.Polygon([(0, 0), (14, 6), (10, 20), (0, 20)])
        shapes[0] = shapely.affinity.translate(whole, *shift)
        terrain = Terrain([(shape, 1.0) for shape in shapes])
        path = terrain.path(*(np.array([(5.0, 10.0), (9.0, 0.0)]) + shift))
        assert path.found
        assert path.cost == pytest.approx(np.hypot(4, 10), rel=1e-8)


@pytest.mark.parametrize("value", [-1e308, 1e13, 1e200])
def test_coordinates_beyond_the_limit_are_refused(value, tmp_path):
    with pytest.raises(GeometryError, match="region 0 has a coordinate beyond"):
        Terrain([(shapely.Polygon([(0, 0), (1, 0), (value, 1)]), 1.0)])
    with pytest.raises(ParameterError, match="bounds"):
        Terrain([(shapely.box(0, 0, 1, 1), 1.0)], default=1.0, bounds=(0, 0, abs(value), 1))
    with pytest.raises(ParameterError, match="reach beyond"):
        Terrain.from_raster(np.ones((2, 2)), origin=(value, 0.0))
    text = '{"type": "Feature", "properties": {"weight": 1}, "geometry": {"type": "Polygon", "coordinates": '
    file = tmp_path / "far.geojson"
    file.write_text(text + f"[[[0, 0], [1, 0], [{value}, 1], [0, 0]]]}}}}")
    with pytest.raises(FormatError, match=r"larger than 1e\+12"):
        Terrain.from_geojson(file)
    terrain = Terrain([(shapely.box(0, 0, 1, 1), 1.0)])
    assert terrain.locate([(value, 0.5)])[0] == -1
