import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import naive_geometry as naive
from tests.geometry.strategies import lattice_points3, meshes, points3, rays
from wayfold.errors import GeometryError, ParameterError
from wayfold.geometry import Mesh, TriangleIndex, bvh_kernels, space_kernels
from wayfold.geometry.bvh import new_stack

pytestmark = pytest.mark.kernels


def soup(count, seed=0, size=0.3):
    """Small triangles everywhere in a cube of ten metres."""
    rng = np.random.default_rng(seed)
    corners = rng.uniform(0, 10, (count, 1, 3)) + rng.uniform(-size, size, (count, 3, 3))
    return Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def one_by_one(mesh):
    """An index for each triangle alone."""
    return [TriangleIndex(Mesh(mesh.vertices, [triangle])) for triangle in mesh.triangles]


def ball(rings=12, sectors=17):
    """A closed surface round the origin, corners shared."""
    tops = [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]
    around = [
        (math.sin(p) * math.cos(q), math.sin(p) * math.sin(q), math.cos(p))
        for p in np.linspace(0, math.pi, rings + 1)[1:-1]
        for q in np.linspace(0, 2 * math.pi, sectors, endpoint=False)
    ]
    faces = []
    for s in range(sectors):
        t = (s + 1) % sectors
        faces.append((0, 2 + s, 2 + t))
        faces.append((1, 2 + (rings - 2) * sectors + t, 2 + (rings - 2) * sectors + s))
        for r in range(rings - 2):
            a, b, c, d = 2 + r * sectors + s, 2 + r * sectors + t, 2 + (r + 1) * sectors + s, 2 + (r + 1) * sectors + t
            faces += [(a, c, b), (b, c, d)]
    return Mesh(np.array(tops + around), np.array(faces))


@given(st.data(), meshes(), st.sampled_from([np.inf, 5.0]))
def test_the_first_hit_is_the_nearest_over_all_triangles_and_ties_go_to_the_lower_number(data, mesh, limit):
    origins, ways = data.draw(rays(mesh))
    distances, triangles = TriangleIndex(mesh).rays(origins, ways, limit)
    alone = np.array([index.rays(origins, ways, limit)[0] for index in one_by_one(mesh)])
    assert distances.tolist() == alone.min(axis=0).tolist()
    assert triangles.tolist() == [int(np.argmin(row)) if np.isfinite(row.min()) else -1 for row in alone.T]


@given(st.data(), meshes())
def test_a_ray_finds_what_exact_arithmetic_finds(data, mesh):
    origins, ways = data.draw(rays(mesh))
    origin, way = origins[0], ways[0]
    (distance,), (found,) = TriangleIndex(mesh).rays([origin], [way])
    length = math.sqrt(naive.dot(way, way))
    hits = [naive.ray_triangle(origin, way, corners.tolist()) for corners in mesh.corners]
    certain = [float(h[0]) * length for h in hits if h is not None and h[0] > 1e-6 and h[1] > 1e-6]
    if certain:
        assert distance <= min(certain) + 1e-6
    if found >= 0:
        assert hits[found] is not None
        assert float(hits[found][1]) > -1e-6
        assert distance == pytest.approx(float(hits[found][0]) * length, abs=1e-6)


@given(st.data(), meshes(), st.sampled_from([np.inf, 5.0]))
def test_all_hits_are_those_of_every_triangle_in_order(data, mesh, limit):
    origins, ways = data.draw(rays(mesh))
    offsets, distances, triangles = TriangleIndex(mesh).all_hits(origins, ways, limit)
    alone = np.array([index.rays(origins, ways, limit)[0] for index in one_by_one(mesh)])
    for k in range(len(origins)):
        expected = sorted((t, number) for number, t in enumerate(alone[:, k].tolist()) if t < math.inf)
        part = slice(offsets[k], offsets[k + 1])
        assert list(zip(distances[part].tolist(), triangles[part].tolist(), strict=True)) == expected


@given(st.integers(0, 200), st.floats(0, 1), points3.filter(any), st.floats(0, 0.9))
def test_no_ray_leaves_a_closed_surface(edge, share, way, out):
    mesh = ball()
    a, b, _ = mesh.corners[edge % len(mesh)]
    origin = out * 0.9 * np.array(way) / np.linalg.norm(way)
    index = TriangleIndex(mesh)
    targets = np.array([a, b, a + share * (b - a), (a + b) / 2])
    distances, _ = index.rays(np.tile(origin, (5, 1)), np.vstack([targets - origin, way]))
    assert np.isfinite(distances).all()
    assert not index.visible(np.tile(origin, (4, 1)), origin + 1.5 * (targets - origin)).any()


@given(meshes(), st.lists(st.tuples(points3, points3), min_size=1, max_size=6))
def test_points_see_each_other_exactly_when_no_triangle_alone_hides_them(mesh, pairs):
    a, b = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    alone = np.all([index.visible(a, b) for index in one_by_one(mesh)], axis=0)
    assert TriangleIndex(mesh).visible(a, b).tolist() == alone.tolist()


@given(meshes(), points3, points3, st.floats(0, 3))
def test_a_capsule_is_clear_exactly_when_every_triangle_is_further_than_its_radius(mesh, a, b, radius):
    (clear,) = TriangleIndex(mesh).clear([a], [b], radius)
    away = math.sqrt(min(naive.segment_triangle2(a, b, corners.tolist()) for corners in mesh.corners))
    if abs(away - radius) > 1e-6:
        assert clear == (away > radius)


@given(meshes(), points3, st.sampled_from([np.inf, 2.0]))
def test_the_nearest_triangle_is_the_nearest(mesh, point, limit):
    (distance,), (found,), (closest,) = TriangleIndex(mesh).nearest([point], limit)
    alone = [index.nearest([point], limit)[0][0] for index in one_by_one(mesh)]
    away = math.sqrt(min(naive.point_triangle2(point, corners.tolist()) for corners in mesh.corners))
    assert distance == min(alone)
    if found >= 0:
        assert alone[found] == distance  # squares are compared, which may differ where their roots do not
        assert distance == pytest.approx(away, abs=1e-9)
        assert np.linalg.norm(closest - point) == pytest.approx(away, abs=1e-9)
    else:
        assert distance == math.inf
        assert np.isnan(closest).all()
        assert away > limit - 1e-9


@given(meshes(), points3)
def test_of_two_triangles_in_one_place_the_lower_number_is_the_nearest(mesh, point):
    twice = Mesh(mesh.vertices, np.concatenate([mesh.triangles, mesh.triangles]))
    (_,), (found,), (_,) = TriangleIndex(twice).nearest([point])
    assert 0 <= found < len(mesh)


@given(meshes(), lattice_points3, lattice_points3)
def test_the_triangles_in_a_box_are_those_that_touch_it(mesh, p, q):
    low, high = np.minimum(p, q), np.maximum(p, q)
    expected = [k for k, corners in enumerate(mesh.corners) if naive.triangle_touches_box(corners.tolist(), low, high)]
    assert TriangleIndex(mesh).overlapping(low, high).tolist() == expected


def test_the_tree_finds_what_looking_at_every_triangle_finds():
    mesh = soup(300)
    index = TriangleIndex(mesh)
    triangles = [tuple(map(tuple, corners.tolist())) for corners in mesh.corners]
    rng = np.random.default_rng(5)
    starts, ends = rng.uniform(0, 10, (2, 60, 3))
    for a, b in zip(map(tuple, starts.tolist()), map(tuple, ends.tolist()), strict=True):
        hits = [space_kernels.segment_triangle(a, b, *triangle) for triangle in triangles]
        first = int(np.argmin(hits)) if min(hits) <= 1 else -1
        assert index.rays([a], [np.subtract(b, a)], math.dist(a, b))[1].tolist() == [first]
        assert index.visible([a], [b]).tolist() == [first < 0]
        away = math.sqrt(min(space_kernels.segment_triangle2(a, b, *triangle) for triangle in triangles))
        assert index.clear([a], [b], away * 1.001).tolist() == [False]
        assert index.clear([a], [b], away * 0.999).tolist() == [away > 0]
        near = [space_kernels.distance2(a, space_kernels.closest_on_triangle(a, *triangle)) for triangle in triangles]
        assert index.nearest([a])[1].tolist() == [int(np.argmin(near))]


def test_the_scalar_kernels_answer_as_the_batches_do():
    index = TriangleIndex(soup(200))
    stack = new_stack()
    a, b = (0.0, 1.0, 2.0), (9.0, 8.0, 7.0)
    way = tuple(y - x for x, y in zip(a, b, strict=True))
    distance, triangle = bvh_kernels.ray_nearest(index.tree, stack, a, way, np.inf)
    distances, triangles = index.rays([a], [way])
    assert (distance, triangle) == (distances[0], triangles[0])
    assert bvh_kernels.any_hit(index.tree, stack, a, b) != index.visible([a], [b])[0]
    assert bvh_kernels.capsule_clear(index.tree, stack, a, b, 0.1) == index.clear([a], [b], 0.1)[0]
    squared, triangle, point = bvh_kernels.nearest_triangle(index.tree, stack, a, np.inf)
    distances, triangles, closest = index.nearest([a])
    assert (math.sqrt(squared), triangle, list(point)) == (distances[0], triangles[0], closest[0].tolist())


@pytest.mark.parametrize("count", [1, 2, 3, 9, 20_000])
def test_threads_change_no_answer(count):
    mesh = soup(count)
    index = TriangleIndex(mesh)
    rng = np.random.default_rng(1)
    a, b = rng.uniform(-1, 11, (2, 9000, 3))
    for query in (
        lambda workers: index.rays(a, b - a, workers=workers),
        lambda workers: index.all_hits(a, b - a, workers=workers),
        lambda workers: (index.visible(a, b, workers=workers),),
        lambda workers: (index.clear(a, b, 0.05, workers=workers),),
        lambda workers: index.nearest(a, workers=workers),
    ):
        for one, two in zip(query(1), query(2), strict=True):
            np.testing.assert_array_equal(one, two)


@settings(max_examples=20)
@given(st.integers(1, 400), st.integers(0, 9), st.sampled_from(["soup", "same"]))
def test_every_triangle_is_in_one_leaf_inside_the_boxes_above_it(count, seed, kind):
    mesh = soup(count, seed)
    if kind == "same":
        mesh = Mesh(mesh.vertices, np.tile(mesh.triangles[:1], (count, 1)))
    tree = TriangleIndex(mesh).tree
    waiting, seen = [(0, 0, [])], []
    while waiting:
        node, depth, above = waiting.pop()
        assert depth < bvh_kernels.STACK_SIZE - 1
        above = [*above, tree.bounds[node].astype(np.float64)]
        first, size = tree.links[node].tolist()
        if size == 0:
            waiting += [(first, depth + 1, above), (first + 1, depth + 1, above)]
        assert size <= bvh_kernels.LEAF_SIZE
        for place in range(first, first + size):
            corners = mesh.corners[tree.triangles[place]]
            assert tree.corners[place].tolist() == corners.ravel().tolist()
            for box in above:
                assert (corners >= box[:3]).all()
                assert (corners <= box[3:]).all()
            seen.append(int(tree.triangles[place]))
    assert sorted(seen) == list(range(count))


def test_however_lopsided_the_triangles_the_tree_is_shallower_than_the_stack():
    # Towards each axis, each point a sixteenth as far out as the one before: bins part off one at a time.
    points = np.array([np.eye(3)[axis] * 2.0**40 * 16.0**-k for axis in range(3) for k in range(46) for _ in range(3)])
    count = len(points)
    boxes = np.hstack([points, points]).astype(np.float32)
    links = np.empty((2 * count - 1, 2), np.int32)
    bounds = np.empty((2 * count - 1, 6), np.float32)
    nodes = bvh_kernels.build_boxes(boxes, np.arange(count, dtype=np.int32), bounds, links)
    depth = np.zeros(nodes, int)
    for node, (first, size) in enumerate(links[:nodes].tolist()):  # children come after their parents
        if size == 0:
            depth[first : first + 2] = depth[node] + 1
    assert bvh_kernels.BALANCE_DEPTH < depth.max() < bvh_kernels.STACK_SIZE


def test_directions_of_any_length_and_one_for_all_are_the_same_rays():
    index = TriangleIndex(soup(500))
    origins = np.random.default_rng(3).uniform(0, 10, (50, 3))
    distances, triangles = index.rays(origins, (0, 0, -1))
    for length in (1e-300, 3.0, 1e300):
        again = index.rays(origins, np.tile([0, 0, -length], (50, 1)))
        assert again[0] == pytest.approx(distances, rel=1e-14)
        assert again[1].tolist() == triangles.tolist()


def test_empty_batches_have_empty_answers():
    index = TriangleIndex(soup(5))
    nothing = np.empty((0, 3))
    assert [x.shape for x in index.rays(nothing, nothing)] == [(0,), (0,)]
    assert [x.shape for x in index.rays(nothing, (0, 0, 1))] == [(0,), (0,)]
    assert [x.shape for x in index.all_hits(nothing, nothing)] == [(1,), (0,), (0,)]
    assert index.visible(nothing, nothing).shape == (0,)
    assert index.clear(nothing, nothing, 1.0).shape == (0,)
    assert [x.shape for x in index.nearest(nothing)] == [(0,), (0,), (0, 3)]
    assert index.overlapping((50, 50, 50), (51, 51, 51)).shape == (0,)


@pytest.mark.parametrize(
    ("ask", "error", "sentence"),
    [
        (lambda i: i.rays([(0, 0, np.nan)], (0, 0, 1)), GeometryError, r"origins\[0\] is not finite"),
        (lambda i: i.rays([(0, 0, 0)] * 2, [(0, 0, 1), (0, 0, 0)]), ParameterError, r"directions\[1\] has no length"),
        (lambda i: i.rays([(0, 0, 0)] * 3, [(0, 0, 1)] * 2), ParameterError, "directions must be one or as many"),
        (lambda i: i.rays([(0, 0, 0)], (0, 0, 1), np.nan), ParameterError, "max_distance must be finite"),
        (lambda i: i.rays([(0, 0, 0)], (0, 0, 1), -1), ParameterError, "max_distance must be at least 0"),
        (lambda i: i.rays((0, 0, 0), (0, 0, 1)), ParameterError, "origins must have shape"),
        (lambda i: i.rays([(0, 0, 0)], (0, 0, 1), workers=0), ParameterError, "workers"),
        (lambda i: i.visible([(0, 0, 0)], [(0, 0, 0)] * 2), ParameterError, "a and b must be as many"),
        (lambda i: i.clear([(0, 0, 0)], [(0, 0, 0)], -0.1), ParameterError, "radius must be at least 0"),
        (lambda i: i.nearest([(0, 0, 1e200)]), GeometryError, "points must be within"),
        (lambda i: i.overlapping((0, 0, 1), (1, 1, 0)), ParameterError, "box_low must not be above box_high"),
        (lambda i: TriangleIndex(Mesh([(0, 0, 0), (1e20, 0, 0), (0, 1, 0)], [(0, 1, 2)])), GeometryError, "within"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(ask, error, sentence):
    with pytest.raises(error, match=sentence):
        ask(TriangleIndex(soup(3)))


def test_the_index_says_how_large_it_is():
    index = TriangleIndex(soup(100))
    assert index.nbytes == sum(array.nbytes for array in index.tree)
    assert "100 triangles" in repr(index)


@pytest.mark.data
def test_the_nearest_points_of_a_real_mesh_are_those_that_trimesh_finds():
    trimesh = pytest.importorskip("trimesh")
    folder = os.environ.get("WAYFOLD_DATA")
    if not folder:
        pytest.skip("WAYFOLD_DATA does not name the folder of real meshes")
    shape = trimesh.load(Path(folder) / "recast" / "nav_test.obj", process=False, force="mesh")
    mesh = Mesh(shape.vertices, shape.faces)
    rng = np.random.default_rng(0)
    origins = rng.uniform(*mesh.bounds, (50, 3))
    closest, away, _ = trimesh.proximity.closest_point_naive(shape, origins)
    distances, triangles, points = TriangleIndex(mesh).nearest(origins)
    assert distances == pytest.approx(away, abs=1e-9)
    assert (triangles >= 0).all()
    assert np.linalg.norm(points - origins, axis=1) == pytest.approx(np.linalg.norm(closest - origins, axis=1))
