"""Whatever is in a file: it loads, or a `WayfoldError` says why not. Nothing else is raised."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.draws import SEED
from tests.formats import samples
from tests.limited import run_cases
from wayfold import formats
from wayfold.errors import FormatError, WayfoldError

LOADERS = {
    ".map": formats.load_map,
    ".scen": formats.load_scen,
    ".3dmap": formats.load_map3d,
    ".3dscen": formats.load_scen3d,
    ".geojson": formats.load_geojson,
    ".wayfold": formats.read_archive,
}


def loader(name):
    return LOADERS.get(os.path.splitext(name)[1], formats.load_mesh)


@st.composite
def damaged(draw, content):
    """The content with a few bytes overwritten, cut out, doubled or inserted, or its end cut off."""
    data = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        size = draw(st.integers(1, 40))
        how = draw(st.sampled_from(["flip", "digit", "cut", "double", "insert", "end"]))
        if how == "flip" and at < len(data):
            data[at] ^= draw(st.integers(1, 255))
        elif how == "digit":
            data[at : at + 1] = draw(
                st.sampled_from([b"-1", b"0", b"nan", b"9" * 12, b"1e999", b"[", b'"', b"\n", b" "])
            )
        elif how == "cut":
            del data[at : at + size]
        elif how == "double":
            data[at:at] = data[at : at + size]
        elif how == "insert":
            data[at:at] = draw(st.binary(max_size=8))
        elif how == "end":
            del data[at:]
    return bytes(data)


@pytest.mark.parametrize("name", samples.FILES)
def test_damaged_files_load_or_raise_one_of_our_errors(name):
    load = loader(name)

    @settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
    @given(damaged(samples.FILES[name]))
    def attempt(content):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / name
            file.write_bytes(content)
            try:
                load(file)
            except WayfoldError as error:
                assert str(file) in str(error)  # noqa: PT017 - loading is as good an end
            assert os.listdir(folder) == [name]

    attempt()


@pytest.mark.kernels
@pytest.mark.property
def test_maps_of_changed_files_are_built_or_refused(tmp_path):
    told = run_cases("tests.formats.fuzz", tmp_path, 100_000 * SEED, 400)
    assert "refused" in told
    assert "built" in told


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_maps_of_thousands_of_changed_files_are_built_or_refused(tmp_path, part):
    run_cases("tests.formats.fuzz", tmp_path, 100_000 * SEED + 1500 * (part + 1), 1500)


@pytest.mark.long
def test_changed_files_make_no_kernel_leave_its_arrays(tmp_path):
    run_cases("tests.formats.fuzz", tmp_path, 100_000 * SEED + 10_000, 1500, NUMBA_BOUNDSCHECK="1")


LARGE = ["-1e308", "1e307", "1e300", "1.1e12", "NaN", "-Infinity", "1e999", "9" * 400]


@pytest.mark.parametrize("value", LARGE)
@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("a.geojson", r"\[\[\["),
        ("a.obj", "v "),
        ("text.ply", "end_header\n"),
        ("text.stl", "vertex "),
        ("a.city.json", '"vertices": \\[\\['),
    ],
)
def test_coordinates_that_the_geometry_cannot_carry_are_refused_by_name(tmp_path, name, before, value):
    value = value.replace("1.1e12", "1.1e16") if name == "a.city.json" else value  # in millimetres
    text, replaced = re.subn(f"({before})[-0-9.e]+", rf"\g<1>{value}", samples.FILES[name].decode(), count=1)
    assert replaced == 1
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(FormatError) as caught:
        loader(name)(file)
    assert caught.value.file == str(file)


@pytest.mark.parametrize("value", [1e12, -1e12])
def test_the_largest_coordinates_are_read(tmp_path, value):
    file = tmp_path / "a.obj"
    file.write_text(f"v 0 0 0\nv {value} 0 0\nv 0 1 0\nf 1 2 3\n")
    assert formats.load_mesh(file).vertices[1, 0] == value


@pytest.mark.parametrize("depth", [40, 2000, 200_000])
def test_deep_nesting_is_refused(tmp_path, depth):
    file = tmp_path / "a.geojson"
    for text in ("[" * depth + "]" * depth, '{"type":"GeometryCollection","geometries":[' * depth + "]}" * depth):
        file.write_text(text)
        with pytest.raises(FormatError):
            formats.load_geojson(file)


@pytest.mark.parametrize("name", [*samples.FILES, "a.wayfold"])
@pytest.mark.parametrize("content", [b"", b"\0" * 300, b"\xff\xfe\xfd\xfc" * 100, b"\n\n\n", b"{}", b"9" * 5000])
def test_what_is_no_such_file_at_all_is_refused_by_name(tmp_path, name, content):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        loader(name)(file)
    assert caught.value.file == str(file)


@pytest.mark.parametrize("name", [*samples.FILES, "a.wayfold"])
def test_a_missing_file_and_a_folder_are_refused_by_name(tmp_path, name):
    (tmp_path / name).mkdir()
    for file in (tmp_path / "none" / name, tmp_path / name):
        with pytest.raises(FormatError) as caught:
            loader(name)(file)
        assert caught.value.file == str(file)


def test_importing_the_room_imports_no_library():
    code = "import sys, wayfold.formats; print(*{'numpy', 'trimesh', 'shapely', 'scipy', 'numba'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""


def test_every_public_name_is_there():
    assert all(getattr(formats, name) is not None for name in formats.__all__)
    assert dir(formats) == sorted(formats.__all__)
    with pytest.raises(AttributeError):
        formats.load_dreams  # noqa: B018
