from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.navmesh.strategies import box, floor, mesh_of, rooms
from wayfold import Agent, Mesh, NavMesh
from wayfold.navmesh import _contour_kernels, _heightfield_kernels, pipeline
from wayfold.navmesh._heightfield_kernels import HAIR, VoxelFrame
from wayfold.navmesh.pipeline import AgentVoxels, Settings, Triangles

pytestmark = pytest.mark.kernels

AGENT = Agent(radius=0.5, height=1.8, climb=0.4, slope=45)
SETTINGS = Settings(0.25, 0.2, min_region=0.5)


def frame_of(mesh, settings=SETTINGS):
    low, high = mesh.bounds
    width, depth = (max(1, math.ceil(side / settings.cell_size)) for side in (high - low)[:2])
    return VoxelFrame(*low.tolist(), settings.cell_size, settings.cell_height, 0, 0, width, depth)


def triangles_of(mesh):
    return Triangles(mesh.vertices, mesh.triangles, np.empty(0, np.uint8), math.cos(math.radians(45)))


def steps(mesh, agent=AGENT, settings=SETTINGS):
    """Everything that the pipeline makes of a mesh, step by step."""
    voxels = AgentVoxels.of(agent, settings)
    frame = frame_of(mesh, settings)
    chosen = np.arange(len(mesh), dtype=np.int32)
    field, parts = pipeline.heightfield(triangles_of(mesh), chosen, frame, voxels)
    space, firm, distance = pipeline.open_ground(triangles_of(mesh), field, parts, frame, voxels)
    _heightfield_kernels.erode(space.kind, firm, distance, voxels.radius)
    region, columns = pipeline.regions(space, frame, 0, settings)
    rims = pipeline.contours(space, region, columns, frame, voxels.height, settings)
    return frame, field, space, region, columns, rims


@given(st.lists(st.tuples(*[st.floats(-3, 3)] * 3), min_size=3, max_size=3), st.integers(-3, 3), st.integers(1, 9))
def test_a_triangle_fills_the_columns_it_reaches_into_between_its_lowest_and_highest_point_there(points, first, size):
    corners = np.array(points)
    frame = VoxelFrame(0.1, -0.2, -3.0, 0.5, 0.25, first, first, size, size)
    spans, _, _, heights = _heightfield_kernels.rasterise(
        corners, np.array([[0, 1, 2]], np.int32), np.empty(0, np.uint8), np.zeros(1, np.int32), 0.7, frame
    )
    found = {int(column): (int(low), int(top)) for column, low, top, _ in spans}
    assert len(found) == len(spans)
    area = np.linalg.norm(np.cross(corners[1] - corners[0], corners[2] - corners[0]))
    if area < 1e-3:
        return
    # Sampled points of the triangle must lie in a span of their column.
    rng = np.random.default_rng(0)
    weights = rng.dirichlet([0.7, 0.7, 0.7], 400)
    for x, y, z in weights @ corners:
        column, row = math.floor((x - frame.x) / frame.cell), math.floor((y - frame.y) / frame.cell)
        if not (first <= column < first + size and first <= row < first + size):
            continue
        # Points within rounding of a column's side may be counted on either side.
        if min(abs((v - w) / frame.cell - round((v - w) / frame.cell)) for v, w in ((x, frame.x), (y, frame.y))) < HAIR:
            continue
        low, top = found[(row - first) * size + column - first]
        assert low - 1e-6 <= (z - frame.z) / frame.cell_height <= top + 1e-6
    # Their real heights are those of the triangle, whatever the voxels.
    assert (heights >= corners[:, 2].min() - frame.z - 1e-9).all()
    assert (heights <= corners[:, 2].max() - frame.z + 1e-9).all()
    # And no span may stick out of the triangle's box.
    for low, top in found.values():
        assert low >= math.floor((corners[:, 2].min() - frame.z) / frame.cell_height - 1e-9)
        assert top <= math.ceil((corners[:, 2].max() - frame.z) / frame.cell_height + 1e-9) + 1


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(1, 4), st.integers(0, 2)), max_size=12))
def test_merged_spans_are_the_union_of_the_parts_in_any_order(parts):
    spans = np.array([(c, low, low + size, -1) for c, low, size, _ in parts], np.int32).reshape(-1, 4)
    areas = np.array([kind for *_, kind in parts], np.uint8)
    grounds = spans[:, 2].astype(np.float32)
    heights = spans[:, 1:3].astype(float)
    world = np.empty((0, 3)), np.empty((0, 3), np.int32), VoxelFrame(0.0, 0.0, 0.0, 0.5, 0.25, 0, 0, 3, 1)
    field, _, _ = _heightfield_kernels.merge_spans(*world, spans, areas, grounds, heights, 1.0)
    turned = spans[::-1].copy(), areas[::-1].copy(), grounds[::-1].copy(), heights[::-1].copy()
    back, _, _ = _heightfield_kernels.merge_spans(*world, *turned, 1.0)
    for a, b in zip(field, back, strict=True):
        np.testing.assert_array_equal(a, b)
    for column in range(3):
        solid = {h for c, low, top, _ in spans.tolist() if c == column for h in range(low, top)}
        merged = range(field.offsets[column], field.offsets[column + 1])
        assert {h for k in merged for h in range(field.low[k], field.top[k])} == solid
        for k in list(merged)[1:]:
            assert field.low[k] > field.top[k - 1]
        np.testing.assert_array_equal(field.high[merged], field.top[merged])
        assert (field.foot[merged] <= field.high[merged]).all()


def test_the_filters_open_steps_and_close_ledges_and_low_ceilings():
    # Four columns: ground, a step of 1 that is not walkable, ground under a ceiling, then a deep drop.
    offsets = np.array([0, 1, 3, 5, 6], np.int32)
    low = np.array([0, 0, 11, 0, 14, -20], np.int32)
    top = np.array([10, 10, 12, 10, 15, -19], np.int32)
    kind = np.array([1, 1, 0, 1, 0, 1], np.uint8)
    real = top.astype(float)
    field = _heightfield_kernels.Heightfield(offsets, low, top, kind, top.astype(np.float32), real, real)
    _heightfield_kernels.filter_low_obstacles(field, 2.0)
    assert field.kind.tolist() == [1, 1, 1, 1, 0, 1]
    _heightfield_kernels.filter_low_ceilings(field, 6)
    assert field.kind.tolist() == [1, 0, 1, 0, 0, 1]
    wide = _heightfield_kernels.Heightfield(
        np.arange(10, dtype=np.int32),
        np.zeros(9, np.int32),
        np.array([5, 5, 5, 5, 5, 5, 5, 5, 1], np.int32),
        np.ones(9, np.uint8),
        np.zeros(9, np.float32),
        np.array([5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 1.0]),
        np.array([5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 1.0]),
    )
    ledge = np.empty(9, np.uint8)
    _heightfield_kernels.filter_ledges(wide, 3, 3, 6, 2.0, ledge)
    assert ledge.reshape(3, 3).tolist() == [[1, 1, 1], [1, 0, 1], [1, 1, 1]]


@settings(max_examples=20)
@given(rooms())
def test_links_are_symmetric_and_obey_height_and_climb_and_erosion_keeps_the_radius(mesh):
    voxels = AgentVoxels.of(AGENT, SETTINGS)
    frame, _, space, *_ = steps(mesh)
    for side in range(4):
        linked = np.flatnonzero(space.links[:, side] >= 0)
        other = space.links[linked, side]
        np.testing.assert_array_equal(space.links[other, side ^ 2], linked)
        rise = np.maximum(space.foot[linked] - space.high[other], space.foot[other] - space.high[linked])
        assert (rise <= voxels.climb).all()
        free = np.minimum(space.ceiling[linked], space.ceiling[other]) - np.maximum(
            space.floor[linked], space.floor[other]
        )
        assert (free >= voxels.height).all()
    # Walking fewer than `radius` steps from open ground never meets the end of the links.
    here = np.flatnonzero(space.kind > 0)
    for _ in range(voxels.radius - 1):
        assert (space.links[here] >= 0).all()
        here = np.unique(space.links[here].ravel())
    distance = np.empty(space.kind.size, np.int32)
    largest = _heightfield_kernels.rim_distance(space.links, space.kind, distance)
    inner = np.flatnonzero(distance > 0)
    assert (distance[space.links[inner]] >= distance[inner][:, None] - 2).all()
    assert largest == distance.max(initial=0)
    assert frame.width * frame.depth == space.offsets.size - 1


@settings(max_examples=20)
@given(rooms())
def test_regions_cover_all_open_ground_that_is_not_too_small_and_never_lie_above_themselves(mesh):
    _, _, space, region, columns, rims = steps(mesh)
    assert (region[space.kind == 0] == 0).all()
    used = region > 0
    pairs = np.column_stack([columns[used], region[used]])
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    # What was dropped are whole islands below the smallest size.
    smallest = SETTINGS.cells(SETTINGS.min_region)
    dropped = set(np.flatnonzero((space.kind > 0) & ~used).tolist())
    while dropped:
        island, waiting = set(), [dropped.pop()]
        while waiting:
            here = waiting.pop()
            island.add(here)
            for there in space.links[here].tolist():
                if there >= 0 and space.kind[there] > 0:
                    assert not used[there]
                    if there in dropped:
                        dropped.remove(there)
                        waiting.append(there)
        assert len(island) < smallest
    # Rims go round their regions: the enclosed cells are as many as the spans.
    x, y = rims.corners.x.astype(int), rims.corners.y.astype(int)
    after = np.arange(1, len(x) + 1)
    after[rims.loops.offsets[1:] - 1] = rims.loops.offsets[:-1]
    assert (x * y[after] - x[after] * y).sum() == 2 * used.sum()


def beside_a_ramp():
    """An upper floor, a ramp along its side that leads up to it, and a box in the way: one region with a slit in it."""
    return mesh_of(
        floor(0, 0, 14, 14),
        box((8.14, 8.7, -0.1), (9.94, 11.5, 1.0)),
        floor(2, 2, 9, 11, z=3.0),
        floor(9, 2, 11, 9, z=3.0, rise=-3.0),
    )


@settings(max_examples=25)
@given(rooms(), st.sampled_from([3, 6]), st.sampled_from([0.0, 0.5]))
@example(beside_a_ramp(), 3, 0.0)
def test_polygons_are_convex_disjoint_and_fill_the_simplified_rims(mesh, most, radius):
    settings_ = Settings(0.25, 0.2, min_region=0.5, max_corners=most)
    agent = Agent(radius=radius, height=1.8, climb=0.4)
    frame, _, space, region, _, rims = steps(mesh, agent, settings_)
    if rims.loops.span.size == 0:
        return
    tile, _ = pipeline.polygons(rims, space, region, frame, settings_)
    area = 0
    rings = []
    for at in range(len(tile.areas)):
        ring = tile.vertices[tile.offsets[at] : tile.offsets[at + 1]]
        assert 3 <= len(ring) <= most
        x, y = tile.x[ring].astype(int), tile.y[ring].astype(int)
        dx, dy = np.roll(x, -1) - x, np.roll(y, -1) - y
        assert (dx * np.roll(dy, -1) - dy * np.roll(dx, -1) >= 0).all()
        area += (x * np.roll(y, -1) - np.roll(x, -1) * y).sum()
        plane, *_ = np.linalg.lstsq(np.column_stack([x, y, np.ones(len(x))]), tile.z[ring], rcond=None)
        rings.append((shapely.Polygon(np.column_stack([x, y])), plane))
    total = 0
    for loop in range(len(rims.loops.offsets) - 1):
        part = np.arange(rims.loops.offsets[loop], rims.loops.offsets[loop + 1])
        part = part[rims.keep[rims.corners.root[part]] == 1]
        x, y = rims.corners.x[part].astype(int), rims.corners.y[part].astype(int)
        total += (x * np.roll(y, -1) - np.roll(x, -1) * y).sum()
    assert area == total
    for at, (one, plane) in enumerate(rings):
        for two, other in rings[at + 1 :]:
            common = one.intersection(two)
            if common.area > 1e-9:
                # On another floor: far above or below, where they overlap.
                place = np.array([common.centroid.x, common.centroid.y, 1.0])
                assert abs(place @ plane - place @ other) > 1.0
    # Neighbours name each other across the same edge.
    edges = {}
    for at in range(len(tile.areas)):
        ring = tile.vertices[tile.offsets[at] : tile.offsets[at + 1]].tolist()
        ahead = tile.neighbours[tile.offsets[at] : tile.offsets[at + 1]].tolist()
        for a, b, other in zip(ring, ring[1:] + ring[:1], ahead, strict=True):
            if other >= 0:
                edges[at, other, a, b] = True
    assert all((other, at, b, a) in edges for at, other, a, b in edges)


def test_a_ring_of_ground_around_a_block_becomes_polygons_without_the_block():
    mesh = mesh_of(floor(0, 0, 12, 12), box((5, 5, 0), (7, 7, 3)))
    coarse = Settings(0.25, 0.2, min_region=4.0)  # the block's top and its hollow inside are smaller
    frame, _, space, region, _, rims = steps(mesh, settings=coarse)
    tile, detail = pipeline.polygons(rims, space, region, frame, coarse)
    union = shapely.union_all(
        [
            shapely.Polygon(np.column_stack([tile.x[r], tile.y[r]]) * SETTINGS.cell_size)
            for r in np.split(tile.vertices, tile.offsets[1:-1])
        ]
    )
    assert not union.intersects(shapely.box(4.9, 4.9, 7.1, 7.1))
    assert len(union.interiors) == 1
    assert detail.z.size == 0


@pytest.mark.parametrize("bulge", [1.3, 0.5, 0.1])
def test_simplified_rims_stay_within_the_error_of_the_voxels_and_bulge_less(bulge):
    rng = np.random.default_rng(3)
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    parts = [floor(0, 0, 20, 20)] + [box((*p, 0), (*(p + 1.5), 3)) for p in rng.random((8, 2)) * 18]
    settings = replace(SETTINGS, max_bulge=bulge)
    for aslant in (False, True):
        mesh = mesh_of(*parts)
        if aslant:
            mesh = Mesh(np.column_stack([mesh.vertices[:, :2] @ turn, mesh.vertices[:, 2]]), mesh.triangles)
        _, _, _, _, _, rims = steps(mesh, settings=settings)
        loops, corners = rims.loops, rims.corners
        for loop in range(len(loops.offsets) - 1):
            part = np.arange(loops.offsets[loop], loops.offsets[loop + 1])
            kept = part[rims.keep[corners.root[part]] == 1]
            shape = shapely.Polygon(np.column_stack([corners.x[kept], corners.y[kept]]))
            walls = part[loops.label[part] == 0]
            points = shapely.points(np.column_stack([corners.x[walls], corners.y[walls]]))
            off = shapely.distance(points, shape.exterior)
            assert off.max() <= settings.max_error + 1e-9
            # The region is inside an outer rim and outside a hole: over corners that lie there the rim bulges.
            on_ground = shapely.contains(shape, points) == shape.exterior.is_ccw
            assert off[on_ground].max(initial=0.0) <= bulge + 1e-9


def test_tracing_visits_every_boundary_edge_once():
    region = np.array([1, 1, 2], np.int32)
    links = np.array([[-1, -1, 1, -1], [0, -1, 2, -1], [1, -1, -1, -1]], np.int32)
    loops, edge_at = _contour_kernels.trace(links, region)
    assert loops.span.size == 6 + 4
    assert sorted(edge_at[edge_at >= 0].tolist()) == list(range(10))
    assert loops.label[edge_at[1, 2]] == 2
    assert loops.label[edge_at[2, 0]] == 1


def test_a_tile_that_sees_ground_only_in_its_border_is_empty():
    # Floors in the first and in the third tile of a row; only the third one's reaches the border of the second.
    side = 32 * 0.2
    two = mesh_of(floor(0.0, 0.0, side - 3.0, side), floor(2 * side, 0.0, 3 * side, side))
    built = NavMesh.build(two, Agent(), cell_size=0.2, tile_size=32)
    assert len(np.unique(built.components)) == 2
    assert built.area == pytest.approx((2 * side - 4.6) * (side - 0.8), rel=0.15)
