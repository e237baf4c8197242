from __future__ import annotations

import numpy as np
import pytest

from tests.formats import samples
from wayfold.errors import FormatError, ParameterError, VersionError
from wayfold.formats import (
    Map3D,
    MovingAiMap,
    Scenarios,
    Scenarios3D,
    load_map,
    load_map3d,
    load_scen,
    load_scen3d,
    save_map,
    save_map3d,
    save_scen,
    save_scen3d,
)

HEADER = b"type octile\nheight 2\nwidth 3\nmap\n"


def write(folder, name, content):
    file = folder / name
    file.write_bytes(content)
    return file


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_map_is_its_characters_row_by_row_with_either_line_end(tmp_path, end):
    grid = load_map(write(tmp_path, "a.map", samples.MAP.replace(b"\n", end)))
    assert (grid.height, grid.width, grid.weighted) == (3, 5, False)
    assert [bytes(row) for row in grid.cells] == [b".GS@.", b"TOW.W", b"....."]
    assert grid.kinds.tolist() == [[1, 1, 1, 0, 1], [0, 0, 2, 1, 2], [1, 1, 1, 1, 1]]


def test_the_last_row_may_lack_its_line_end(tmp_path):
    assert load_map(write(tmp_path, "a.map", samples.MAP.rstrip())).height == 3


def test_in_a_weighted_map_every_terrain_letter_is_ground(tmp_path):
    grid = load_map(write(tmp_path, "a.map", HEADER + b"GOA\nP@T\n"))
    assert grid.weighted
    assert grid.kinds.tolist() == [[1, 1, 1], [1, 0, 0]]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"hello\n", 1),
        (b"type hexagonal\nheight 2\nwidth 3\nmap\n", 1),
        (b"type octile\nheight -2\nwidth 3\nmap\n...\n...\n", 2),
        (b"type octile\nheight 0\nwidth 3\nmap\n", 2),
        (b"type octile\nheight 2\nheight 3\nmap\n", 3),
        (b"type octile\nheight 2\nwidth 1000000000000\nmap\n...\n", 3),
        (b"type octile\nheight 2\n", 3),
        (HEADER, 5),
        (HEADER + b"...\n", 6),
        (HEADER + b"...\n...\n...\n", 7),
        (HEADER + b"...\n....\n", 6),
        (HEADER + b"...\n..\xff\n", 6),
        (b"type octile\nheight 999999999\nwidth 999999999\nmap\n...\n", 6),
    ],
)
def test_a_wrong_map_is_refused_with_its_line(tmp_path, content, line):
    file = write(tmp_path, "a.map", content)
    with pytest.raises(FormatError) as caught:
        load_map(file)
    assert (caught.value.file, caught.value.line) == (str(file), line)


def test_a_saved_map_loads_as_it_was(tmp_path):
    grid = load_map(write(tmp_path, "a.map", samples.MAP))
    save_map(grid, tmp_path / "b.map")
    assert (tmp_path / "b.map").read_bytes() == samples.MAP
    save_map(np.array([[True, False]]), tmp_path / "c.map")
    assert bytes(load_map(tmp_path / "c.map").cells) == b".@"
    with pytest.raises(ParameterError):
        save_map(np.array([[7, 8]], np.uint8), tmp_path / "d.map")
    assert not (tmp_path / "d.map").exists()


def test_scenarios_are_arrays_and_rows(tmp_path):
    scenarios = load_scen(write(tmp_path, "a.scen", samples.SCEN))
    assert isinstance(scenarios, Scenarios)
    assert scenarios.starts.tolist() == [[0, 0], [4, 0]]
    assert scenarios.goals.tolist() == [[4, 2], [0, 0]]
    assert scenarios.lengths.tolist() == [5.65685, 7.5]
    assert scenarios.map == ("arena.map", "maps/b.map")
    assert len(scenarios) == 2
    assert scenarios[-1] == (3, "maps/b.map", 5, 3, (4, 0), (0, 0), 7.5)
    assert list(scenarios[1:]) == [scenarios[1]]
    with pytest.raises(IndexError):
        scenarios[2]


def test_saved_scenarios_load_as_they_were(tmp_path):
    scenarios = load_scen(write(tmp_path, "a.scen", samples.SCEN))
    save_scen(scenarios, tmp_path / "b.scen")
    assert list(load_scen(tmp_path / "b.scen")) == list(scenarios)


def test_a_scenario_file_without_rows_has_none(tmp_path):
    assert len(load_scen(write(tmp_path, "a.scen", b"version 1\n"))) == 0


GOOD = b"0 a.map 5 3 0 0 4 2 5.5\n"


@pytest.mark.parametrize(
    "row",
    [
        b"0 a.map 5 3 0 0 4 2",
        b"0 a.map 5 3 0 0 4 2 5.5 6",
        b"0 a.map 5 3 0 0 5 2 5.5",
        b"0 a.map 5 3 0 -1 4 2 5.5",
        b"0 a.map 5 3 0 0 4 2 nan",
        b"0 a.map 5 3 0 0 4 2 inf",
        b"0 a.map 5 3 0 0 4 2 -1",
        b"0 a.map 5 3 0 0.5 4 2 1",
        b"0 a.map 1_000 3 0 0 4 2 1",
        b"0 a.map 99999999999999999999999 3 0 0 4 2 1",
        b"0 a.map 3000000000 3 0 0 4 2 1",
        b"0 \xff\xfe 5 3 0 0 4 2 1",
    ],
)
def test_a_wrong_scenario_is_refused_with_its_line(tmp_path, row):
    file = write(tmp_path, "a.scen", b"version 1\n" + GOOD + b"\n" + row + b"\n" + GOOD)
    with pytest.raises(FormatError) as caught:
        load_scen(file)
    assert (caught.value.file, caught.value.line) == (str(file), 4)


def test_another_scenario_version_is_refused_as_such(tmp_path):
    for load, name in ((load_scen, "a.scen"), (load_scen3d, "a.3dscen")):
        with pytest.raises(VersionError, match="version '2'"):
            load(write(tmp_path, name, b"version 2\n"))


def test_a_voxel_map_is_its_size_and_its_blocked_voxels(tmp_path):
    voxels = load_map3d(write(tmp_path, "a.3dmap", samples.MAP3D))
    assert voxels.shape.tolist() == [4, 5, 6]
    assert voxels.blocked.tolist() == [[0, 0, 0], [3, 4, 5], [1, 2, 3]]
    dense = voxels.dense()
    assert dense.shape == (4, 5, 6)
    assert np.argwhere(dense).tolist() == [[0, 0, 0], [1, 2, 3], [3, 4, 5]]
    save_map3d(voxels, tmp_path / "b.3dmap")
    assert (tmp_path / "b.3dmap").read_bytes() == samples.MAP3D


def test_a_dense_array_over_the_limit_is_refused():
    huge = Map3D(np.array([2**30, 2**30, 2**30], np.int32), np.empty((0, 3), np.int32))
    with pytest.raises(ParameterError, match="over the limit"):
        huge.dense()


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"voxels 4 5 6\n", 1),
        (b"voxel 4 5\n", 1),
        (b"voxel 4 5 -6\n", 1),
        (b"voxel 4 5 1000000000000\n", 1),
        (b"voxel 4 5 6\n0 0 0\n0 0\n", 3),
        (b"voxel 4 5 6\n0 0 0\n\n0 0 6\n", 4),
        (b"voxel 4 5 6\n0 0 -1\n", 2),
        (b"voxel 4 5 6\n0 0 x\n", 2),
    ],
)
def test_a_wrong_voxel_map_is_refused_with_its_line(tmp_path, content, line):
    file = write(tmp_path, "a.3dmap", content)
    with pytest.raises(FormatError) as caught:
        load_map3d(file)
    assert (caught.value.file, caught.value.line) == (str(file), line)


def test_3d_scenarios_are_arrays_and_rows_and_load_as_saved(tmp_path):
    file = write(tmp_path, "a.3dscen", samples.SCEN3D)
    scenarios = load_scen3d(file)
    assert scenarios.map == "box.3dmap"
    assert scenarios[0] == ((0, 1, 2), (3, 4, 5), 5.19615242, 1.0)
    assert scenarios.ratios.tolist() == [1.0, 1.5]
    save_scen3d(scenarios, tmp_path / "b.3dscen")
    again = load_scen(tmp_path / "b.3dscen")
    assert isinstance(again, Scenarios3D)
    assert list(again) == list(scenarios)
    assert list(again[:1]) == [scenarios[0]]


@pytest.mark.parametrize("name", ["", "a\nb", " a", "\ud800"])
def test_names_of_maps_that_a_file_would_not_give_back_are_refused_before_it_is_written(tmp_path, name):
    flat = Scenarios([0], (name,), [3], [2], [(0, 0)], [(2, 1)], [2.5])
    with pytest.raises(ParameterError, match="name of a map"):
        save_scen(flat, tmp_path / "a.scen")
    with pytest.raises(ParameterError, match="name of the map"):
        save_scen3d(Scenarios3D(name, [(0, 0, 0)], [(2, 0, 0)], [2.5], [1.25]), tmp_path / "a.3dscen")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("row", [b"1 2 3 4 5 6 7", b"1 2 3 4 5 6 nan 1", b"1 2 3 4 5 -6 1 1", b"1 2 3 4 5 x 1 1"])
def test_a_wrong_3d_scenario_is_refused_with_its_line(tmp_path, row):
    with pytest.raises(FormatError) as caught:
        load_scen3d(write(tmp_path, "a.3dscen", samples.SCEN3D + row))
    assert caught.value.line == 5


@pytest.mark.data
def test_every_real_map_and_scenario_loads_and_starts_on_ground(data):
    maps = {file.name: load_map(file) for file in sorted((data / "movingai").glob("*/*.map"))}
    assert len(maps) >= 167
    queries = 0
    for file in sorted((data / "movingai").glob("*/*.scen")):
        scenarios = load_scen(file)
        kinds = maps[file.stem].kinds
        assert kinds.shape == (scenarios.height[0], scenarios.width[0])
        reachable = scenarios.lengths > 0
        for cells in (scenarios.starts[reachable], scenarios.goals[reachable]):
            assert (kinds[cells[:, 1], cells[:, 0]] > 0).all()
        queries += len(scenarios)
    assert queries >= 159_465


@pytest.mark.data
def test_real_weighted_maps_are_passable_everywhere(data):
    for file in (data / "movingai" / "weighted").glob("*.map"):
        grid = load_map(file)
        assert grid.weighted
        assert (grid.kinds == 1).all()


@pytest.mark.data
def test_real_voxel_scenarios_start_and_end_in_free_voxels(data):
    files = sorted((data / "movingai").glob("*/*.3dmap"))
    assert len(files) >= 10
    for file in files:
        free = ~load_map3d(file).dense()
        scenarios = load_scen3d(file.with_name(file.name + ".3dscen"))
        assert free[tuple(scenarios.starts.T)].all()
        assert free[tuple(scenarios.goals.T)].all()


def test_maps_and_scenarios_of_the_user_s_own_are_checked_where_they_are_made():
    assert Map3D((6, 5, 4), []).dense().shape == (6, 5, 4)
    assert Map3D([2, 2, 2], [(1, 1, 1)]).dense().sum() == 1
    for shape, blocked in (
        ((6, 5), []),
        ((0, 1, 1), []),
        ((2, 2, 2), [(2, 0, 0)]),
        ((2, 2, 2), [(-1, 0, 0)]),
        ("abc", []),
    ):
        with pytest.raises(ParameterError):
            Map3D(shape, blocked)
    assert MovingAiMap([[46, 64]]).width == 2
    for cells in ([], [46, 64], [[300]], [["."]], None):
        with pytest.raises(ParameterError):
            MovingAiMap(cells)
    one = Scenarios([0], ["a.map"], [4], [4], [(0, 0)], [(3, 3)], [4.2])
    assert one[0].goal == (3, 3)
    with pytest.raises(ParameterError, match="goals must hold 1 queries"):
        Scenarios([0], ["a.map"], [4], [4], [(0, 0)], [(3, 3), (1, 1)], [4.2])
    assert Scenarios3D("a", [(0, 0, 0)], [(1, 1, 1)], [1.7], [1.0])[0].length == 1.7
    with pytest.raises(ParameterError):
        Scenarios3D("a", [(0, 0)], [(1, 1, 1)], [1.7], [1.0])
