from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from wayfold.core.archive import read_archive, write_archive
from wayfold.errors import FormatError, ParameterError, VersionError, WayfoldError

ARRAYS = {
    "points": np.arange(12, dtype=np.float32).reshape(4, 3),
    "levels/0/targets": np.array([3, 1, 2], np.int32),
    "none": np.empty((0, 3), np.float64),
    "one": np.array(7.5),
    "flags": np.array([True, False]),
    "names": np.array(["wall", "floor"]),
    "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "big": np.arange(3, dtype=">i4"),
}
META = {"agent": {"radius": 0.4, "motions": [1, 2]}, "note": "é"}


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "a.wayfold"
    write_archive(file, "graph", ARRAYS, META)
    return file


def members(file):
    with zipfile.ZipFile(file) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def rezip(file, contents, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in contents:
            archive.writestr(name, content)


def npy(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def test_what_is_written_is_read_back(file):
    archive = read_archive(file, "graph")
    assert (archive.kind, archive.meta) == ("graph", META)
    assert archive.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert archive.arrays[name].dtype == array.dtype.newbyteorder("<")
        assert archive.arrays[name].shape == array.shape
        assert (archive.arrays[name] == array).all()


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.from_regex(r"[a-z_][a-z_.\-]{0,6}", fullmatch=True),
        hnp.arrays(
            st.one_of(hnp.boolean_dtypes(), hnp.integer_dtypes(), hnp.floating_dtypes(), hnp.complex_number_dtypes()),
            hnp.array_shapes(min_dims=0, min_side=0, max_side=4),
        ),
        max_size=4,
    )
)
def test_any_arrays_are_read_back(tmp_path, arrays):
    write_archive(tmp_path / "b.wayfold", "any", arrays)
    read = read_archive(tmp_path / "b.wayfold").arrays
    assert read.keys() == arrays.keys()
    for name in arrays:
        np.testing.assert_array_equal(read[name], arrays[name])


def test_arrays_are_aligned_and_mapped(file):
    for array in read_archive(file).arrays.values():
        assert type(array) is np.ndarray
        assert array.flags.writeable
        if array.size:
            assert array.ctypes.data % 64 == 0
            assert not array.flags.owndata


def test_writing_to_an_array_does_not_reach_the_file(file):
    array = read_archive(file).arrays["points"]
    array[:] = -1
    assert read_archive(file).arrays["points"][0, 1] == 1


def test_the_same_arrays_give_the_same_bytes_in_any_order(file, tmp_path):
    write_archive(tmp_path / "b.wayfold", "graph", dict(reversed(ARRAYS.items())), META)
    assert (tmp_path / "b.wayfold").read_bytes() == file.read_bytes()


def test_zip_and_numpy_read_the_members(file):
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
    assert np.load(file)["points"].tolist() == ARRAYS["points"].tolist()


def test_another_kind_is_refused_and_named(file):
    with pytest.raises(FormatError, match="holds a 'graph', not a 'navmesh'"):
        read_archive(file, "navmesh")


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("../x", np.zeros(1)),
        ("/x", np.zeros(1)),
        ("a//b", np.zeros(1)),
        (".x", np.zeros(1)),
        ("", np.zeros(1)),
        ("é", np.zeros(1)),
        ("a b", np.zeros(1)),
        ("x", np.array([object()])),
        ("x", np.zeros(2, [("a", "i4")])),
        ("x", np.array("2024-01-01", "M8[D]")),
    ],
)
def test_what_cannot_be_stored_is_refused_and_nothing_is_written(tmp_path, name, array):
    with pytest.raises(ParameterError):
        write_archive(tmp_path / "b.wayfold", "graph", {name: array})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("meta", [{"a": object()}, {"a": float("nan")}, {"a": np.zeros(2)}])
def test_meta_that_json_does_not_hold_is_refused(tmp_path, meta):
    with pytest.raises(ParameterError, match="meta"):
        write_archive(tmp_path / "b.wayfold", "graph", {}, meta)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_archive_and_nothing_else(file):
    before = file.read_bytes()
    with pytest.raises(ParameterError):
        write_archive(file, "graph", {"x": np.array([None])})
    with pytest.raises(FormatError, match="cannot be written"):
        write_archive(file.parent / "none" / "b.wayfold", "graph", {})
    (file.parent / "folder").mkdir()
    with pytest.raises(FormatError, match="cannot be written"):
        write_archive(file.parent / "folder", "graph", {})
    assert file.read_bytes() == before
    assert sorted(path.name for path in file.parent.iterdir()) == ["a.wayfold", "folder"]


def test_a_new_archive_replaces_the_old_one_that_is_still_mapped(file):
    mapped = read_archive(file).arrays["points"]
    write_archive(file, "graph", {"points": np.zeros(3)})
    assert mapped.tolist() == ARRAYS["points"].tolist()
    assert read_archive(file).arrays["points"].tolist() == [0, 0, 0]


@pytest.mark.parametrize("version", [1, 3, 0, "2", True, None, 2.0])
def test_an_unknown_version_is_refused_as_such(file, version):
    contents = members(file)
    manifest = json.loads(contents["manifest.json"]) | {"version": version}
    rezip(file, [*(contents | {"manifest.json": json.dumps(manifest)}).items()])
    with pytest.raises(VersionError, match="version"):
        read_archive(file)


def forged(change):
    """Contents of an archive with one array, changed."""
    buffer = npy(np.arange(4, dtype=np.int32))
    entry = {"dtype": "<i4", "shape": [4], "sha256": ""}
    contents = {"manifest.json": {"version": 2, "kind": "k", "meta": {}, "members": {"x": entry}}, "x.npy": buffer}
    change(contents)
    contents["manifest.json"] = json.dumps(contents["manifest.json"])
    return list(contents.items())


def in_manifest(**entry):
    return lambda contents: contents["manifest.json"]["members"]["x"].update(entry)


def as_data(data):
    return lambda contents: contents.update({"x.npy": data})


def test_a_forged_archive_that_tells_the_truth_is_read_unverified(tmp_path):
    rezip(tmp_path / "b.wayfold", forged(lambda contents: None))
    assert read_archive(tmp_path / "b.wayfold", verify=False).arrays["x"].tolist() == [0, 1, 2, 3]
    with pytest.raises(FormatError, match="checksum"):
        read_archive(tmp_path / "b.wayfold")


@pytest.mark.parametrize(
    "change",
    [
        in_manifest(dtype="<f4"),
        in_manifest(shape=[2, 2]),
        in_manifest(shape=[10**12]),
        in_manifest(shape="x"),
        lambda contents: contents["manifest.json"]["members"].update(y={}),
        lambda contents: contents["manifest.json"]["members"].clear(),
        lambda contents: contents["manifest.json"].update(members=[]),
        lambda contents: contents["manifest.json"].update(meta=[]),
        lambda contents: contents["manifest.json"].update(kind=3),
        lambda contents: contents["manifest.json"].pop("kind"),
        lambda contents: contents.update({"manifest.json": []}),
        lambda contents: contents.update({"../evil.npy": b""}),
        lambda contents: contents.update({"readme.txt": b""}),
        as_data(npy(np.arange(4, dtype=np.int32))[:-1]),
        as_data(npy(np.arange(4, dtype=np.int32)) + b"\0"),
        as_data(npy(np.array([None] * 4), allow_pickle=True)),
        as_data(npy(np.asfortranarray(np.zeros((2, 2), np.int32)))),
        as_data(b"\x93NUMPY\x03\0" + npy(np.arange(4, dtype=np.int32))[8:]),
        as_data(npy(np.arange(4, dtype=np.int32)).replace(b"(4,)", b"(-4,)")),
        as_data(b""),
    ],
)
def test_an_archive_that_lies_is_refused_even_unverified(tmp_path, change):
    file = tmp_path / "b.wayfold"
    rezip(file, forged(change))
    with pytest.raises(FormatError) as caught:
        read_archive(file, verify=False)
    assert caught.value.file == str(file)


def test_compressed_and_doubled_members_are_refused(file):
    contents = list(members(file).items())
    rezip(file, contents, zipfile.ZIP_DEFLATED)
    with pytest.raises(FormatError, match="compressed"):
        read_archive(file)
    with pytest.warns(UserWarning, match="Duplicate"):
        rezip(file, [*contents, contents[-1]])
    with pytest.raises(FormatError, match="twice"):
        read_archive(file)


def test_a_truncated_archive_is_refused(file):
    whole = file.read_bytes()
    for kept in range(0, len(whole), 97):
        file.write_bytes(whole[:kept])
        with pytest.raises(FormatError):
            read_archive(file)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_damaged_archive_is_refused_or_gives_the_same_arrays(tmp_path, data):
    file = tmp_path / "b.wayfold"
    write_archive(file, "graph", ARRAYS, META)
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    file.write_bytes(content)
    try:
        archive = read_archive(file)
    except WayfoldError as error:
        assert str(file) in str(error)  # noqa: PT017 - reading is as good an end
        return
    assert archive.meta == META
    assert all((archive.arrays[name] == array).all() for name, array in ARRAYS.items())
