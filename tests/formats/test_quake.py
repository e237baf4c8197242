from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.draws import seeds
from tests.formats import samples
from wayfold.errors import FormatError, ParameterError, VersionError
from wayfold.formats import load_bsp, load_mesh
from wayfold.formats.quake import brush_faces, patch_faces


def write(folder, content):
    file = folder / "a.bsp"
    file.write_bytes(content)
    return file


def volume(vertices, triangles):
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def is_closed(triangles):
    edges = Counter((int(t[k]), int(t[(k + 1) % 3])) for t in triangles for k in range(3))
    return all(count == 1 and edges[b, a] == 1 for (a, b), count in edges.items())


def test_a_level_is_its_solids_clips_patches_and_points(tmp_path):
    level = load_bsp(write(tmp_path, samples.bsp()))
    mesh = level.mesh
    solid, clip, sky, patch = (mesh.materials == k for k in range(4))
    assert mesh.material_names == ("solid", "clip", "sky", "patch")
    assert mesh.corners[solid].reshape(-1, 3).max(axis=0).tolist() == [64, 64, 0]
    assert mesh.areas[solid].sum() == pytest.approx(2 * 64 * 64 + 4 * 64 * 16)
    assert mesh.corners[clip].reshape(-1, 3).min(axis=0).tolist() == [0, 0, 100]
    assert not sky.any()
    assert mesh.areas[patch].sum() == pytest.approx(32 * 32)
    assert (mesh.normals[patch] == [0, 0, 1]).all()
    assert volume(mesh.vertices, mesh.triangles[solid]) == pytest.approx(64 * 64 * 16)
    (point,) = level.points
    assert (point.kind, point.position.tolist(), point.angle) == ("info_player_start", [32, 16, 24], 90)


def test_moving_parts_are_taken_when_asked_for_at_their_place(tmp_path):
    file = write(tmp_path, samples.bsp())
    still, all_of_it = load_bsp(file).mesh, load_bsp(file, submodels=True).mesh
    assert still.bounds[1].tolist() == [64, 64, 108]
    assert all_of_it.bounds[1].tolist() == [208, 64, 108]


def test_jump_pads_and_teleporters_say_where_they_are_and_lead(tmp_path):
    text = '{ "classname" "trigger_push" "model" "*1" "target" "top" "origin" "5 0 0" }'
    text += '{ "classname" "target_position" "targetname" "top" "origin" "1 2 300" }'
    text += (
        '{ "classname" "trigger_teleport" "model" "*1" "target" "nowhere" } { "classname" "trigger_hurt" "model" "*1" }'
    )
    (pad,) = load_bsp(write(tmp_path, samples.bsp(text))).carriers
    assert (pad.kind, pad.box.tolist(), pad.target.tolist()) == ("trigger_push", [[5, 0, 0]] * 2, [1, 2, 300])


def test_load_mesh_reads_levels(tmp_path):
    file = write(tmp_path, samples.bsp())
    assert load_mesh(file).triangles.tolist() == load_bsp(file).mesh.triangles.tolist()


def test_another_game_is_refused_as_such(tmp_path):
    with pytest.raises(VersionError, match="version 47"):
        load_bsp(write(tmp_path, b"IBSP\x2f" + samples.bsp()[5:]))


@pytest.mark.parametrize("text", ["{", "}", '{ "a" }', '"a" "b"', '{ "a" "b" } {', "{ a b }", '{ "a" "b'])
def test_damaged_entities_are_refused(tmp_path, text):
    with pytest.raises(FormatError, match="entities"):
        load_bsp(write(tmp_path, samples.bsp(text)))


def test_an_entity_without_a_readable_place_is_no_point(tmp_path):
    text = '// first\n{ "classname" "a" "origin" "1 2" } { "origin" "1 2 nan" } { "origin" "1 2 3" "angles" "5 6 7" }'
    (point,) = load_bsp(write(tmp_path, samples.bsp(text))).points
    assert (point.kind, point.angle) == ("", 6.0)


def test_the_patch_error_must_be_above_zero(tmp_path):
    with pytest.raises(ParameterError):
        load_bsp(write(tmp_path, samples.bsp()), patch_error=0)


@given(st.lists(st.tuples(*[st.floats(-1, 1)] * 3), max_size=12), st.tuples(*[st.integers(-4000, 4000)] * 3))
@example([(0.0, -0.0078125, 0.75), (1.0, 0.0, 0.0078125)], (0, 2446, 0))
def test_a_brush_is_closed_looks_outward_and_lies_inside_its_planes(cuts, centre):
    normals = [n for axis in np.eye(3) for n in (axis, -axis)]
    normals += [np.array(cut) / np.linalg.norm(cut) for cut in cuts if np.linalg.norm(cut) > 0.1]
    normals = np.unique(np.array(normals, np.float32), axis=0).astype(float)
    distances = (normals @ np.array(centre) + 32).astype(np.float32).astype(float)
    vertices, triangles = brush_faces(normals, distances)
    assert is_closed(triangles)
    assert (vertices @ normals.T <= distances + 0.1).all()
    assert 4 / 3 * np.pi * 31**3 < volume(vertices - centre, triangles) <= 64.1**3


@seeds(40)
def test_a_brush_with_planes_that_are_nearly_those_of_a_box_is_the_same_everywhere(seed):
    rng = np.random.default_rng(seed)
    sides = np.concatenate([np.eye(3), -np.eye(3)])
    normals = np.concatenate([sides, sides[rng.integers(6, size=8)] + rng.normal(0, 0.003, (8, 3))])
    normals = (normals / np.linalg.norm(normals, axis=1)[:, None]).astype(np.float32).astype(float)
    centre = rng.integers(-4000, 4000, 3)
    (vertices, triangles), (there, others) = (brush_faces(normals, normals @ at + 32) for at in (np.zeros(3), centre))
    assert (vertices @ normals.T <= 32 + 0.1).all()
    assert ((there - centre) @ normals.T <= 32 + 0.1).all()
    assert volume(vertices, triangles) == pytest.approx(volume(there - centre, others), abs=64 * 64 * 0.05)


@pytest.mark.parametrize("flat", [0.0, -1.0])
def test_a_brush_without_volume_has_no_faces(flat):
    normals = np.array([n for axis in np.eye(3) for n in (axis, -axis)])
    assert len(brush_faces(normals, np.array([8, 8, 8, 8, flat, 0]))[1]) == 0
    assert len(brush_faces(normals[:5], np.ones(5))[1]) == 0
    assert len(brush_faces(normals[:0], np.ones(0))[1]) == 0


@pytest.mark.parametrize("error", [0.1, 1.0, 10.0])
def test_the_triangles_of_a_curved_patch_lie_within_the_error_of_it(error):
    control = np.array([[[0, y, 0], [64, y, 0], [64, y, 64]] for y in (0, 50, 100)], float)
    vertices, triangles = patch_faces(control, np.array([-1.0, 0, 1]), error)
    middles = vertices[triangles].mean(axis=1)
    t = np.linspace(0, 1, 2001)
    curve = np.column_stack([64 * (1 - (1 - t) ** 2), 64 * t**2])
    distance = np.sqrt(((middles[:, None, [0, 2]] - curve) ** 2).sum(axis=2)).min(axis=1)
    assert distance.max() <= error + 1e-3
    normals = np.cross(*(vertices[triangles[:, k]] - vertices[triangles[:, 0]] for k in (1, 2)))
    assert (normals @ [-1.0, 0, 1] > 0).all()


def test_a_pipe_is_seen_from_inside_where_its_normals_point_inward():
    ring = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0)]
    control = np.array([[(x, along, z) for x, z in ring] for along in (0, 5, 10)], float)
    inward = -control * [1, 0, 1]
    vertices, triangles = patch_faces(control, inward, 0.01)
    middles = vertices[triangles].mean(axis=1) * [1, 0, 1]
    normals = np.cross(*(vertices[triangles[:, k]] - vertices[triangles[:, 0]] for k in (1, 2)))
    assert (np.einsum("ij,ij->i", normals, middles) < 0).all()


@pytest.mark.data
@pytest.mark.parametrize("name", ["czest2ctf", "oa_shouse"])
def test_a_real_level_has_the_hull_that_the_game_tools_give(data, name):
    level = load_bsp(data / "quake" / f"{name}.bsp")
    known = load_mesh(data / "quake" / f"{name}.obj")
    np.testing.assert_allclose(level.mesh.bounds, known.bounds, atol=0.1)
    for kind in ("solid", "clip", "sky", "patch"):
        areas = [mesh.areas[mesh.materials == mesh.material_names.index(kind)].sum() for mesh in (level.mesh, known)]
        assert areas[0] == pytest.approx(areas[1], rel=0.005)
    listed = json.loads((data / "quake" / f"{name}.points.json").read_text())["points"]
    places = {(point.kind, *np.round(point.position, 1).tolist()) for point in level.points}
    assert {(point["kind"], *np.round(point["pos"], 1).tolist()) for point in listed} <= places


@pytest.mark.data
def test_players_of_every_real_level_start_above_ground(data):
    files = sorted((data / "quake").glob("*.bsp"))
    assert len(files) >= 7
    for file in files:
        level = load_bsp(file)
        corners = level.mesh.corners
        starts = [point.position for point in level.points if point.kind == "info_player_deathmatch"]
        assert starts
        # A player's feet are 24 below its origin; what is set higher falls.
        assert all(20 < ground_below(corners, start) <= 130 for start in starts)


def ground_below(corners, point):
    """Distance straight down from a point to the nearest triangle."""
    a, b, c = (corners[:, k, :2] - point[:2] for k in range(3))
    w = np.stack([p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0] for p, q in ((b, c), (c, a), (a, b))], axis=1)
    inside = ((w >= -1e-6).all(axis=1) | (w <= 1e-6).all(axis=1)) & (np.abs(w.sum(axis=1)) > 1e-9)
    heights = (w[inside] * corners[inside, :, 2]).sum(axis=1) / w[inside].sum(axis=1)
    below = point[2] - heights[heights <= point[2]]
    return below.min() if len(below) else np.inf
