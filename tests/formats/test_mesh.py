from __future__ import annotations

import gzip
import lzma
import tracemalloc

import numpy as np
import pytest

from tests.formats import samples
from wayfold.errors import FormatError, ParameterError
from wayfold.formats import load_mesh, save_mesh
from wayfold.geometry import Mesh

BOX = Mesh(samples.CUBE_POINTS, samples.CUBE_TRIANGLES, [0] * 6 + [1] * 6, ["stone", "grass"])


def write(folder, name, content):
    file = folder / name
    file.write_bytes(content)
    return file


def volume(mesh):
    """Signed volume: positive when all triangles look outward."""
    a, b, c = mesh.corners.transpose(1, 0, 2)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize("name", ["a.obj", "a.obj.gz", "a.obj.xz"])
def test_an_obj_keeps_order_and_materials(tmp_path, name):
    mesh = load_mesh(write(tmp_path, name, samples.FILES[name]))
    assert mesh.vertices.tolist() == [list(point) for point in samples.CUBE_POINTS]
    assert mesh.triangles.tolist() == [list(triangle) for triangle in samples.CUBE_TRIANGLES]
    assert mesh.materials.tolist() == [0] * 6 + [1] * 6
    assert mesh.material_names == ("stone", "grass")


@pytest.mark.parametrize("name", ["text.ply", "binary.ply", "text.stl", "binary.stl"])
def test_ply_and_stl_load_the_box(tmp_path, name):
    mesh = load_mesh(write(tmp_path, name, samples.FILES[name]))
    assert len(mesh) == 12
    assert mesh.bounds.tolist() == [[0, 0, 0], [2, 3, 5]]
    assert volume(mesh) == pytest.approx(30)


@pytest.mark.parametrize("name", ["a.glb", "a.gltf"])
def test_gltf_is_y_up_and_its_nodes_are_moved_to_their_places(tmp_path, name):
    file = write(tmp_path, name, samples.FILES[name])
    mesh = load_mesh(file)
    assert mesh.bounds.tolist() == [[0, -5, 0], [12, 0, 3]]
    assert volume(mesh) == pytest.approx(60)
    assert mesh.material_names == ("stone",)
    assert load_mesh(file, up="z").bounds.tolist() == [[0, 0, 0], [12, 3, 5]]


def test_y_up_is_turned_to_z_up(tmp_path):
    file = write(tmp_path, "a.obj", b"v 1 2 3\nv 4 2 3\nv 1 9 3\nf 1 2 3\n")
    assert load_mesh(file, up="y").vertices.tolist() == [[1, -3, 2], [4, -3, 2], [1, -3, 9]]
    assert load_mesh(file, "z").vertices.tolist() == [[1, 2, 3], [4, 2, 3], [1, 9, 3]]
    with pytest.raises(ParameterError):
        load_mesh(file, up="x")


def test_obj_faces_with_continued_lines_comments_colours_and_counting_back(tmp_path):
    text = b"v 0 0 0 1 0 0\r\n v\t1 0 0\nv 1 1 \\\n0 # corner\nv 0 1 0 1.0\n\ng floor\nf -4//1 -3 -2\nf 1 3 4\n"
    mesh = load_mesh(write(tmp_path, "a.obj", text))
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.material_names == ("floor",)


def test_faces_before_the_first_material_have_a_nameless_one(tmp_path):
    mesh = load_mesh(write(tmp_path, "a.obj", b"v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\nusemtl sand\nf 1 2 3\n"))
    assert (mesh.material_names, mesh.materials.tolist()) == (("", "sand"), [0, 1])


@pytest.mark.parametrize("turn", range(6))
def test_a_concave_polygon_is_cut_inside_whatever_corner_it_starts_at(tmp_path, turn):
    ring = [(0, 0), (4, 0), (4, 4), (3, 1), (1, 1), (0, 4)]
    ring = ring[turn:] + ring[:turn]
    text = "".join(f"v {x} {y} 7\n" for x, y in ring) + "f 1 2 3 4 5 6\n"
    mesh = load_mesh(write(tmp_path, "a.obj", text.encode()))
    assert len(mesh) == 4
    assert mesh.areas.sum() == pytest.approx(7)
    assert (mesh.normals[:, 2] > 0).all()


def test_a_polygon_that_crosses_itself_is_cut_at_the_crossing(tmp_path):
    text = b"v 0 0 0\nv 6 0 0\nv 6 2 0\nv 3 -1 0\nv 0 2 0\nf 1 2 3 4 5\n"
    mesh = load_mesh(write(tmp_path, "a.obj", text))
    assert len(mesh.vertices) > 5
    assert mesh.areas.sum() == pytest.approx(2 + 2 + 1)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"v 0 0 0\nv 1 0\nv 1 1 0\nf 1 2 3\n", 2),
        (b"v 0 0 0\nv 1 0 nan\nv 1 1 0\nf 1 2 3\n", 2),
        (b"v 0 0 0\nv 1 0 1_0\nv 1 1 0\nf 1 2 3\n", 2),
        (b"v 0 0 0\nv 1 0 0 \\\n\nv 1 1 v\nf 1 2 3\n", 4),
        (b"v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2\n", 4),
        (b"v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 4\n", 4),
        (b"v 0 0 0\nv 1 0 0\nv 1 1 0\n\nf 0 1 2\n", 5),
        (b"v 0 0 0\nv 1 0 0\nf -1 -2 -3\nv 1 1 0\n", 3),
        (b"v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 99999999999999999999\n", 4),
        (b"v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3.5\n", 4),
        (b"v 0 0 0\n\xff\xfe\n", None),
    ],
)
def test_a_wrong_obj_is_refused_with_its_line(tmp_path, text, line):
    file = write(tmp_path, "a.obj", text)
    with pytest.raises(FormatError) as caught:
        load_mesh(file)
    assert (caught.value.file, caught.value.line) == (str(file), line)


@pytest.mark.parametrize("name", ["wet\nf 1 2 3", "a #b", "#b", "a\\", " a", "a ", "\ud800"])
def test_names_that_an_obj_would_not_give_back_are_refused_before_it_is_written(tmp_path, name):
    mesh = Mesh(BOX.vertices, BOX.triangles, BOX.materials, ["plain", name])
    file = tmp_path / "a.obj"
    with pytest.raises(ParameterError, match="name of a material"):
        save_mesh(mesh, file)
    assert not file.exists()


@pytest.mark.parametrize("name", ["wet sand", "a#b", "a\\b", "Gras\u00e4"])
def test_an_obj_gives_back_the_names_of_materials(tmp_path, name):
    save_mesh(Mesh(BOX.vertices, BOX.triangles, BOX.materials, ["plain", name]), tmp_path / "a.obj")
    assert load_mesh(tmp_path / "a.obj").material_names == ("plain", name)


@pytest.mark.parametrize("suffix", ["obj", "ply", "stl", "glb"])
def test_a_saved_mesh_loads_as_it_was(tmp_path, suffix):
    mesh = Mesh(BOX.vertices / 3, BOX.triangles, BOX.materials, BOX.material_names)
    file = tmp_path / f"a.{suffix}"
    save_mesh(mesh, file)
    again = load_mesh(file)
    exact = suffix in ("obj", "ply")
    np.testing.assert_allclose(again.corners, mesh.corners, rtol=0, atol=0 if exact else 1e-6)
    if suffix in ("obj", "glb"):
        assert again.materials.tolist() == mesh.materials.tolist()
        assert again.material_names == mesh.material_names
    first = file.read_bytes()
    save_mesh(mesh, file)
    assert file.read_bytes() == first
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("suffix", ["obj", "ply", "stl", "glb"])
@pytest.mark.parametrize("shift", [(390_000.3, 5_820_000.7, 91.1), (1e7, -1e7, 0.1), (-0.7, 3e6, 2000.5)])
def test_a_mesh_keeps_its_shape_in_files_wherever_it_lies(tmp_path, suffix, shift):
    mesh = Mesh(BOX.vertices / 3 + np.array(shift), BOX.triangles)
    file = tmp_path / f"a.{suffix}"
    save_mesh(mesh, file)
    extent = np.ptp(mesh.vertices, axis=0).max()
    atol = {"obj": 0.0, "ply": 0.0, "stl": 1e-6 * extent, "glb": 2.0**-23 * extent}[suffix]
    np.testing.assert_allclose(load_mesh(file).corners, mesh.corners, rtol=0, atol=atol)


def test_coordinates_written_as_text_are_read_with_every_digit_whatever_type_a_ply_names(tmp_path):
    for kind in ("float", "float32", "double"):
        rows = "".join(f"property {kind} {axis}\n" for axis in "xyz")
        head = f"ply\nformat ascii 1.0\nelement vertex 3\n{rows}element face 1\n"
        text = head + "property list uchar int vertex_indices\nend_header\n"
        text += "390000.3 5820000.7 1.5\n390011.1 5820000.3 2.25\n390011.1 5820007.9 3.123456789\n3 0 1 2\n"
        mesh = load_mesh(write(tmp_path, "a.ply", text.encode()))
        assert mesh.vertices[2].tolist() == [390011.1, 5820007.9, 3.123456789], kind


def test_a_mesh_is_not_written_to_an_unknown_format_or_folder(tmp_path):
    with pytest.raises(ParameterError, match=r"\.fbx"):
        save_mesh(BOX, tmp_path / "a.fbx")
    with pytest.raises(FormatError, match="cannot be written"):
        save_mesh(BOX, tmp_path / "none" / "a.obj")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(FormatError, match="Wayfold opens"):
        load_mesh(write(tmp_path, "a.fbx", b"x"))


TRUNCATED = [name for name in samples.FILES if name.endswith((".ply", ".stl", ".glb", ".gltf", ".gz", ".xz", ".bsp"))]


@pytest.mark.parametrize("name", TRUNCATED)
def test_a_truncated_mesh_is_refused(tmp_path, name):
    whole = samples.FILES[name]
    for kept in (0, 1, 10, len(whole) // 2, len(whole) - 16):
        with pytest.raises(FormatError):
            load_mesh(write(tmp_path, name, whole[:kept]))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.ply", samples.ply_text().replace(b"vertex 8", b"vertex 1000000000000")),
        ("a.ply", samples.ply_text().replace(b"face 6", b"face 1000000000000")),
        ("a.ply", samples.ply_binary().replace(b"vertex 8", b"vertex 1000000000000")),
        ("a.stl", samples.stl_binary()[:80] + b"\xff\xff\xff\xff" + samples.stl_binary()[84:]),
        ("a.gltf", samples.gltf(claim=10**9)),
        ("a.gltf", samples.gltf(claim=10**30)),
        ("a.gltf", samples.gltf(claim=-5)),
        ("a.obj.xz", lzma.compress(bytes(1 << 26), preset=0)),
        ("a.obj.gz", gzip.compress(bytes(1 << 20)) * 64),
        ("a.bsp", samples.bsp(patch=(2**30 + 1, 2**30 + 1))),
        ("a.bsp", samples.bsp(patch=(-3, -3))),
    ],
)
def test_sizes_that_a_file_only_claims_are_not_allocated(tmp_path, name, content):
    file = write(tmp_path, name, content)
    with pytest.raises(FormatError):
        load_mesh(write(tmp_path, "b" + name[1:], b"x"))  # imports are not part of what is measured
    tracemalloc.start()
    try:
        with pytest.raises(FormatError):
            load_mesh(file)
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()


def test_a_buffer_that_is_not_there_is_named(tmp_path):
    content = b'{"asset": {"version": "2.0"}, "buffers": [{"byteLength": 9, "uri": "box.bin"}]}'
    with pytest.raises(FormatError, match=r"box\.bin"):
        load_mesh(write(tmp_path, "a.gltf", content))


@pytest.mark.data
def test_the_real_city_loads_whole_and_in_order(data):
    mesh = load_mesh(data / "city" / "city.obj.xz", up="y")
    assert (len(mesh.vertices), len(mesh)) == (327_549, 554_893)
    assert mesh.vertices[0].tolist() == [818.8629, -1883.1252, -3.7668]
    np.testing.assert_allclose((mesh.bounds[1] - mesh.bounds[0])[:2], [2338.9, 2832.48], atol=0.1)


@pytest.mark.data
def test_every_real_obj_loads(data):
    files = sorted(data.glob("*/*.obj"))
    assert len(files) >= 10
    for file in files:
        mesh = load_mesh(file, up="z" if file.parent.name == "quake" else "y")
        assert mesh.areas.sum() > 0
