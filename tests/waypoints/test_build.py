from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

import wayfold
from tests import naive_waypoints
from tests.waypoints.worlds import box, ground, yard
from wayfold import Agent, Mesh, Motion, Status, SubregionGraph, WaypointGraph, samples
from wayfold.errors import GeometryError, OffMapError, ParameterError

pytestmark = pytest.mark.kernels

AGENT = Agent(motions=Motion.SURFACE)


@functools.cache
def built(workers=None):
    return WaypointGraph.build(yard(), AGENT, region_size=20.0, workers=workers)


def edges_of(waypoints):
    graph = waypoints.graph
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    once = rows < graph.targets
    return np.column_stack([rows[once], graph.targets[once]]), graph.motions[once]


def test_every_sampled_edge_passes_an_independent_check_against_the_triangles():
    for waypoints in (built(), WaypointGraph.build(samples.city((120.0, 120.0), 2, river=False), AGENT)):
        corners = waypoints.surroundings.mesh.corners
        pairs, motions = edges_of(waypoints)
        points = waypoints.points.astype(float)
        rng = np.random.default_rng(7)
        for motion in Motion:
            kind = np.flatnonzero(motions & motion)
            assert len(kind) > 20
            for at in rng.choice(kind, 25, replace=False):
                p, q = points[pairs[at]]
                lift = waypoints.surroundings.body.lift
                assert not naive_waypoints.violations(corners, p, q, int(motion), AGENT, lift), (motion, p, q)


def test_no_edge_stands_twice():
    pairs, _ = edges_of(built())
    assert len(np.unique(pairs, axis=0)) == len(pairs)


def test_edges_stay_in_a_region_and_boundary_waypoints_lie_on_the_face_between_their_two():
    waypoints = built()
    regions = waypoints.regions
    pairs, _ = edges_of(waypoints)
    a, b = regions[pairs[:, 0]], regions[pairs[:, 1]]
    shared = (a[:, :1] == b) | ((a[:, 1:] == b) & (a[:, 1:] >= 0))
    assert shared.any(axis=1).all()
    low, high = waypoints.boxes[:, :3].astype(np.float32), waypoints.boxes[:, 3:].astype(np.float32)
    boundary = np.flatnonzero(waypoints.is_boundary)
    assert len(boundary)
    for node in boundary:
        one, two = regions[node]
        axis = int(np.argmax(waypoints.boxes[one, :3] != waypoints.boxes[two, :3]))
        assert waypoints.points[node, axis] == high[one, axis] == low[two, axis]
    for region in range(waypoints.num_regions):
        inside = waypoints.points[(regions == region).any(axis=1)]
        assert (inside >= low[region]).all()
        assert (inside <= high[region]).all()


def test_the_result_does_not_depend_on_the_number_of_threads():
    one, many = built(1), built(4)
    for name in ("points", "offsets", "targets", "motions"):
        np.testing.assert_array_equal(getattr(one.graph, name), getattr(many.graph, name))
    np.testing.assert_array_equal(one.regions, many.regions)


def test_walkers_pass_the_door_and_the_ramp_climbers_the_tower_and_flyers_everything():
    waypoints = built()
    behind = waypoints.path((30, 12, 0), (30, 30, 0), motions=Motion.SURFACE)
    assert behind.found
    crossing = behind.points[(behind.points[:, 1] > 19) & (behind.points[:, 1] < 21.5)]
    assert ((crossing[:, 0] > 29) & (crossing[:, 0] < 30.5)).all()
    assert waypoints.path((2, 28, 0), (14, 28, 3), motions=Motion.SURFACE).found
    top = (12.0, 12.0, 12.0)
    assert waypoints.path((4, 4, 0), top, motions=Motion.SURFACE).status is Status.UNREACHABLE
    assert waypoints.path((4, 4, 0), top, motions=Motion.SURFACE | Motion.VOLUMETRIC).found
    wall = (12.0, 7.4, 9.0)
    spider = waypoints.path((4, 4, 0), wall, motions=Motion.SURFACE | Motion.ADHESIVE)
    assert spider.found
    with pytest.raises(OffMapError, match="walkable ground"):
        waypoints.path((4, 4, 0), wall, motions=Motion.SURFACE)


def test_there_are_no_waypoints_inside_solids_or_below_the_ground():
    points = built().points
    inside = (points > (8, 8, -1)).all(axis=1) & (points < (16, 16, 12)).all(axis=1)
    assert not inside.any()
    assert points[:, 2].min() > 0


def test_smoothing_shortens_a_path_and_keeps_it_legal():
    waypoints = built()
    corners = waypoints.surroundings.mesh.corners
    for motions in (Motion.SURFACE, Motion.SURFACE | Motion.VOLUMETRIC):
        path = waypoints.path((2, 2, 1.0), (38, 14, 1.0), motions=motions)
        smooth = path.smooth()
        assert smooth.length <= path.length + 1e-9
        assert len(smooth.points) <= len(path.points)
        lift = waypoints.surroundings.body.lift
        kinds = [int(motion) for motion in Motion if motion & motions]
        inner = smooth.points[1:-1]
        for p, q in itertools.pairwise(inner):
            assert any(not naive_waypoints.violations(corners, p, q, kind, AGENT, lift) for kind in kinds)


def test_planning_with_subregions_finds_a_path_exactly_when_plain_search_does():
    waypoints = built()
    rng = np.random.default_rng(3)
    for motions in (1, 3, 5, 7):
        subregions = SubregionGraph.build(waypoints, motions)
        for a, b in rng.integers(0, waypoints.num_waypoints, (40, 2)):
            flat = waypoints.graph.path(a, b, motions=motions)
            path = subregions.path(int(a), int(b), weight=1.2)
            assert path.found == flat.found
            assert path.cost >= flat.cost - 1e-9
            if flat:
                assert subregions.path(int(a), int(b), exact=True).cost == pytest.approx(flat.cost, rel=1e-12)


def test_points_that_a_character_cannot_be_at_say_why():
    waypoints = built()
    with pytest.raises(OffMapError, match=r"start .* inside of something solid"):
        waypoints.path((8.1, 12, 3), (4, 4, 0), motions=Motion.VOLUMETRIC)
    with pytest.raises(OffMapError, match="does not fit"):
        waypoints.path((4, 4, 0), (30, 19.8, 2.9), motions=Motion.SURFACE)
    with pytest.raises(OffMapError, match="outside the world"):
        waypoints.path((4, 4, 0), (900, 0, 0), motions=Motion.VOLUMETRIC)
    with pytest.raises(OffMapError, match="not beside a surface"):
        waypoints.path((4, 4, 9), (4, 4, 0), motions=Motion.ADHESIVE)
    with pytest.raises(OffMapError, match="inside of something solid"):
        waypoints.path((12, 12, 6), (4, 4, 0), motions=Motion.VOLUMETRIC)


def test_saved_waypoints_answer_as_before(tmp_path):
    waypoints = built()
    waypoints.save(tmp_path / "yard.wayfold")
    loaded = wayfold.load(tmp_path / "yard.wayfold")
    assert loaded.agent == AGENT
    assert loaded.layout.shape == waypoints.layout.shape
    ends = (30, 12, 0), (30, 30, 0)
    np.testing.assert_array_equal(loaded.path(*ends).points, waypoints.path(*ends).points)


def test_only_the_wanted_motions_are_built():
    waypoints = WaypointGraph.build(yard(), AGENT, region_size=40.0, motions="surface")
    assert set(np.unique(waypoints.graph.motions)) == {Motion.SURFACE}


def test_bad_input_is_refused_with_a_clear_sentence():
    with pytest.raises(ParameterError, match="region_size must be at least"):
        WaypointGraph.build(ground(), AGENT, region_size=0.3)
    with pytest.raises(ParameterError, match="unknown motion"):
        WaypointGraph.build(ground(), AGENT, motions="swim")
    with pytest.raises(ParameterError, match="must be a Mesh"):
        WaypointGraph.build("city", AGENT)
    with pytest.raises(ParameterError, match="larger regions"):
        WaypointGraph.build(ground(1e6, 1e6), AGENT, region_size=10.0)
    wall = Mesh([(0, 0, 0), (9, 0, 0), (9, 0, 9)], [(0, 1, 2)])
    with pytest.raises(GeometryError, match="no waypoint fits"):
        WaypointGraph.build(wall, AGENT, motions="surface")


def test_holes_in_the_ground_are_walked_round():
    ring = [box((0, 0, -1), (40, 15, 0)), box((0, 25, -1), (40, 40, 0)), box((0, 15, -1), (15, 25, 0))]
    waypoints = WaypointGraph.build(Mesh.concatenate(ring), AGENT, region_size=40.0, motions="surface")
    path = waypoints.path((35, 10, 0), (35, 30, 0), motions="surface")
    assert path.found
    assert path.points[:, 0].min() < 15


def test_a_climber_gets_onto_a_roof_over_its_rim_and_over_a_thin_wall_where_a_walker_cannot():
    mesh = Mesh.concatenate([ground(), box((10, 10, -1), (20, 20, 6)), box((-1, 27, -1), (41, 27.4, 3))])
    waypoints = WaypointGraph.build(mesh, AGENT, region_size=40.0)
    start = (30.0, 5.0, 0.0)
    for goal in ((15.0, 15.0, 6.0), (30.0, 35.0, 0.0)):
        assert waypoints.path(start, goal, motions=Motion.SURFACE).status is Status.UNREACHABLE
        path = waypoints.path(start, goal, motions=Motion.SURFACE | Motion.ADHESIVE)
        assert path.found
        assert path.smooth().length <= path.length
        corners = mesh.corners
        lift = waypoints.surroundings.body.lift
        for a, b in zip(path.nodes[:-1], path.nodes[1:], strict=True):
            p, q = waypoints.points[[a, b]].astype(float)
            legal = [not naive_waypoints.violations(corners, p, q, motion, AGENT, lift) for motion in (1, 2)]
            assert any(legal)


def test_a_world_without_walls_is_walked_and_flown_over():
    waypoints = WaypointGraph.build(ground(20.0, 20.0), Agent(radius=0.25, height=0.5, climb=0.25))
    for motions, height in ((Motion.SURFACE | Motion.ADHESIVE, 0.0), (Motion.VOLUMETRIC, 0.5)):
        path = waypoints.path((2, 2, height), (18, 17, height), motions=motions)
        assert np.hypot(16, 15) <= path.length < 2 * np.hypot(16, 15)
    assert not (waypoints.graph.motions & Motion.ADHESIVE).any()


@pytest.mark.parametrize("height", [0.0, 0.3, -77.7, 1234.567])
@pytest.mark.parametrize(
    "agent", [Agent(climb=0.0), Agent(0.25, 0.5, 0.0), Agent(0.0, 1.0, 0.0), Agent(0.4, 1.8, 0.02)]
)
def test_an_agent_that_takes_no_steps_walks_on_a_flat_floor(agent, height):
    waypoints = WaypointGraph.build(ground(20.0, 10.0, height), agent, region_size=8.0, motions="surface")
    path = waypoints.path((1, 1, height), (18, 8, height))
    assert path.found
    lift = waypoints.surroundings.body.lift
    for p, q in itertools.pairwise(path.points[1:-1]):
        assert not naive_waypoints.violations(ground(20.0, 10.0, height).corners, p, q, 1, agent, lift)
