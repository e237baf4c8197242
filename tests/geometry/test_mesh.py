import subprocess
import sys

import numpy as np
import pytest

from wayfold.errors import GeometryError
from wayfold.geometry import Mesh

corners = [(0, 0, 0), (4, 0, 0), (0, 3, 0), (9, 9, 9)]


def test_a_mesh_knows_its_areas_normals_and_the_box_of_the_corners_it_uses():
    mesh = Mesh(corners, [(0, 1, 2), (0, 2, 1), (1, 1, 2)])
    assert mesh.areas.tolist() == [6, 6, 0]
    assert mesh.normals.tolist() == [[0, 0, 1], [0, 0, -1], [0, 0, 0]]
    assert mesh.bounds.tolist() == [[0, 0, 0], [4, 3, 0]]
    assert mesh.nbytes == 4 * 3 * 8 + 3 * 3 * 4


@pytest.mark.parametrize(
    ("vertices", "triangles", "sentence"),
    [
        ([(0, 0, np.nan), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], r"vertices\[0\] is not finite"),
        (corners, np.empty((0, 3), int), "at least one"),
        (corners, [(0, 1, 4)], "triangle 0 names a vertex outside 0 to 3"),
        (corners, [(0, 1, -1)], "triangle 0 names a vertex outside 0 to 3"),
        (corners, [(0.0, 1.0, 2.0)], "whole vertex numbers"),
    ],
)
def test_a_mesh_that_cannot_be_is_refused(vertices, triangles, sentence):
    with pytest.raises(GeometryError, match=sentence):
        Mesh(vertices, triangles)


def test_meshes_put_together_keep_their_materials_by_name():
    grass = Mesh(corners, [(0, 1, 2)], [0], ["grass"])
    both = Mesh(corners, [(0, 1, 2), (0, 1, 3)], [0, 1], ["rock", "grass"])
    joined = Mesh.concatenate([grass, both])
    assert joined.triangles.tolist() == [[0, 1, 2], [4, 5, 6], [4, 5, 7]]
    assert [joined.material_names[k] for k in joined.materials] == ["grass", "rock", "grass"]


@pytest.mark.parametrize("materials", [[-1], [1 << 16], [10**7], [2**31]])
def test_materials_are_numbered_within_their_range(materials):
    with pytest.raises(GeometryError, match="materials are numbered from 0 to 65535"):
        Mesh(corners, [(0, 1, 2)], materials)
    assert Mesh(corners, [(0, 1, 2)], [(1 << 16) - 1]).materials.tolist() == [65535]


def test_importing_the_room_does_not_load_the_compiler():
    code = "import sys, wayfold.geometry as g; g.Mesh; assert 'numba' not in sys.modules; g.voxelise; g.polygon.area"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_room_has_nothing_that_it_does_not_name():
    import wayfold.geometry

    assert dir(wayfold.geometry) == ["Mesh", "TriangleIndex", "Voxels", "polygon", "voxelise"]
    with pytest.raises(AttributeError, match="no attribute 'triangulate'"):
        wayfold.geometry.triangulate  # noqa: B018


def test_a_mesh_without_a_material_has_the_other_triangles():
    mesh = Mesh(corners, [(0, 1, 2), (0, 1, 3), (1, 2, 3)], [0, 1, 0], ["rock", "water"])
    dry = mesh.without("water", "lava")
    assert dry.triangles.tolist() == [[0, 1, 2], [1, 2, 3]]
    assert dry.materials.tolist() == [0, 0]
    assert mesh.without("lava") is mesh
    with pytest.raises(GeometryError, match="at least one"):
        mesh.without("rock", "water")
