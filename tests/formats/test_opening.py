"""`wayfold.open` and `sniff`: content first, name second, and a sentence for what is neither."""

from __future__ import annotations

import gzip
import json
import lzma

import pytest

import wayfold
from tests.formats import samples
from wayfold import Graph, Mesh, NavMesh, formats
from wayfold.errors import FormatError, ParameterError, WayfoldError

POLYGONS = b"mesh\n2\n4 1\n0 0 1 0\n9 0 1 0\n9 9 1 0\n0 9 1 0\n4 0 1 2 3 -1 -1 -1 -1\n"
CONTENTS = {
    "obj": samples.obj(),
    "ply": samples.ply_binary(),
    "stl": samples.stl_binary(),
    "glb": samples.glb(),
    "gltf": samples.gltf(),
    "bsp": samples.bsp(),
    "cityjson": samples.cityjson(),
    "geojson": samples.geojson(),
    "map": samples.MAP,
    "3dmap": samples.MAP3D,
    "scen": samples.SCEN,
    "3dscen": samples.SCEN3D,
    "mesh": POLYGONS,
    "wayfold": None,
}
"""A file of every kind; None is made in the fixture."""
OTHERS = {"stl text": ("stl", samples.stl_text()), "ply text": ("ply", samples.ply_text())}
TEXTS = ("obj", "gltf", "cityjson", "geojson", "map", "3dmap", "scen", "3dscen", "mesh")
HOLDS = {
    "geojson": list, "map": formats.MovingAiMap, "3dmap": formats.Map3D, "scen": formats.Scenarios,
    "3dscen": formats.Scenarios3D, "mesh": NavMesh, "wayfold": Graph,
}  # fmt: skip


@pytest.fixture
def content(request, tmp_path):
    kind, data = OTHERS.get(request.param) or (request.param, CONTENTS[request.param])
    if data is None:
        Graph.from_edges([(0, 0), (1, 0)], [(0, 1)]).save(tmp_path / "made")
        data = (tmp_path / "made").read_bytes()
    return kind, data


def test_every_kind_has_a_file_here():
    assert CONTENTS.keys() == formats.KINDS.keys()


@pytest.mark.parametrize("content", [*CONTENTS, *OTHERS], indirect=True)
@pytest.mark.parametrize(
    "name", ["right", "WRONG.xyz", "wrong.map", "wrong.obj", "wrong.json", "wrong.wayfold", "none"]
)
def test_a_file_opens_under_a_right_name_a_wrong_one_and_one_without_an_ending(tmp_path, content, name):
    kind, data = content
    file = tmp_path / (f"right{formats.KINDS[kind].endings[0]}" if name == "right" else name)
    file.write_bytes(data)
    assert formats.sniff(file) == kind
    assert isinstance(wayfold.open(file), HOLDS.get(kind, Mesh))


@pytest.mark.parametrize("content", [*TEXTS, *OTHERS], indirect=True)
@pytest.mark.parametrize("name", ["right", "none"])
def test_text_may_have_a_byte_order_mark_and_crlf(tmp_path, content, name):
    kind, data = content
    file = tmp_path / (f"right{formats.KINDS[kind].endings[0]}" if name == "right" else name)
    file.write_bytes(b"\xef\xbb\xbf" + data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    assert formats.sniff(file) == kind
    assert isinstance(wayfold.open(file), HOLDS.get(kind, Mesh))


@pytest.mark.parametrize("content", [kind for kind in [*CONTENTS, *OTHERS] if kind != "wayfold"], indirect=True)
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
@pytest.mark.parametrize("name", ["a.gz", "a"])
def test_compressed_files_open_whatever_they_are_called(tmp_path, content, pack, name):
    kind, data = content
    (tmp_path / name).write_bytes(pack(data))
    assert formats.sniff(tmp_path / name) == kind
    assert isinstance(wayfold.open(tmp_path / name), HOLDS.get(kind, Mesh))


def test_the_word_that_decides_may_stand_at_the_end_of_a_large_json_file(tmp_path):
    tree = json.loads(samples.geojson())
    late = {"note": ["x" * 100] * 1000, **{key: tree[key] for key in ("features", "type")}}
    (tmp_path / "a").write_text(json.dumps(late))
    assert formats.sniff(tmp_path / "a") == "geojson"
    nested = {"extras": {"type": "CityJSON", "asset": []}, **tree}
    (tmp_path / "a").write_text(json.dumps(nested))
    assert formats.sniff(tmp_path / "a") == "geojson"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"ab", "text that starts with 'ab', and its name has no ending: Wayfold opens .obj"),
        (bytes(range(128, 256)) * 40, "binary data that starts with 80 81 82"),
        ("v 0 0 0\n".encode("utf-16"), "UTF-16 text"),
        (b"{}", "JSON that is neither CityJSON, nor GeoJSON, nor glTF"),
        (b"[1, 2]", "JSON that is neither CityJSON, nor GeoJSON, nor glTF"),
        (b'{"type": \n nothing}', ":2: not JSON"),
        (b"\x1f\x8b nothing", "damaged compressed file"),
        (b"PK\3\4 nothing", "not a whole Wayfold archive"),
        (b"# only\n# comments\n", "text that starts with"),
        (b"MeshVersionFormatted 1\n", "text that starts with"),
    ],
)
def test_what_is_no_level_is_refused_with_one_sentence_that_says_what_was_found(tmp_path, data, words):
    file = tmp_path / "level"
    file.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        wayfold.open(file)
    assert words in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_damaged_file_is_reported_by_the_reader_of_its_ending(tmp_path):
    for name, words in {"a.map": "expected 'type'", "a.glb": "not a binary glTF", "a.mesh": "not a .mesh file"}.items():
        (tmp_path / name).write_bytes(b"ab")
        with pytest.raises(FormatError, match=words):
            wayfold.open(tmp_path / name)


def test_missing_files_folders_and_wrong_names_are_refused(tmp_path):
    with pytest.raises(FormatError, match="no such file"):
        wayfold.open(tmp_path / "none.obj")
    with pytest.raises(FormatError, match="cannot be read"):
        wayfold.open(tmp_path)
    with pytest.raises(ParameterError, match="names a file"):
        wayfold.open(3)


def test_samples_open_with_their_options():
    assert isinstance(wayfold.open("sample:rooms", seed=1), wayfold.samples.Plan)
    assert formats.sniff("sample:rooms") == "sample"
    with pytest.raises(ParameterError, match="atlantis"):
        wayfold.open("sample:atlantis")
    with pytest.raises(ParameterError, match="has no option"):
        wayfold.open("sample:rooms", colour=3)


def test_options_are_refused_where_they_mean_nothing(tmp_path):
    (tmp_path / "a.map").write_bytes(samples.MAP)
    for options, words in (({"up": "y"}, "up is for meshes"), ({"seed": 1}, "unknown option 'seed'")):
        with pytest.raises(ParameterError, match=words) as caught:
            wayfold.open(tmp_path / "a.map", **options)
        assert "a MovingAI map" in str(caught.value)
    with pytest.raises(ParameterError, match="up"):
        wayfold.open("sample:rooms", up="y")


def test_up_turns_meshes(tmp_path):
    (tmp_path / "a").write_bytes(samples.obj())
    assert (
        wayfold.open(tmp_path / "a", up="y").bounds.tolist() == formats.load_mesh(tmp_path / "a", "y").bounds.tolist()
    )


@pytest.mark.parametrize(("read", "kind"), [(formats.load_mesh, "map"), (NavMesh.read, "map"), (NavMesh.read, "stl")])
def test_readers_of_one_kind_name_what_they_found_instead(tmp_path, read, kind):
    (tmp_path / "a.obj").write_bytes(CONTENTS[kind])
    with pytest.raises(FormatError, match=f"holds {formats.KINDS[kind].title}"):
        read(tmp_path / "a.obj")


@pytest.mark.parametrize("kind", [kind for kind in CONTENTS if CONTENTS[kind]])
@pytest.mark.parametrize("size", [1, 2, 5, 30, 90])
def test_the_beginning_of_a_file_opens_or_is_refused(tmp_path, kind, size):
    for name in ("a", f"a{formats.KINDS[kind].endings[0]}"):
        (tmp_path / name).write_bytes(CONTENTS[kind][:size])
        try:
            wayfold.open(tmp_path / name)
        except WayfoldError as error:
            assert name in str(error)  # noqa: PT017 - opening is as good an end
