"""The schema of saved files: what does not fit is refused with a sentence, on reading and on writing."""

import numpy as np
import pytest

from wayfold.core.archive import read_archive, write_archive
from wayfold.core.schema import Array, Parts, Savable, Schema, Value
from wayfold.errors import FormatError, ParameterError

SCHEMA = Schema(
    "thing",
    {
        "points": Array("float64", ("n", 3), "positions in metres", low=-1e12, high=1e12),
        "offsets": Array("int64", ("n + 1",), "rows", rises="m"),
        "targets": Array("int32", ("m",), "nodes", refers="n"),
        "parents": Array("int32|int64", ("n",), "nodes", refers="n", low=-1),
        "costs": Array("float32", ("m",), "costs", low=0.0, finite=False, optional=True),
        "names": Array("U", ("k",), "names", optional=True),
        "levels/*": Array("uint8", (".own",), "levels", high=3),
    },
    {
        "seed": Value(int, "seed", low=0),
        "scale": Value((float, type(None)), "scale", optional=True, low=0.5),
        "agent": Value(dict, "who", optional=True, fields={"radius": Value(float, "metres", low=0)}),
        "steps": Value(list, "three", optional=True, each=Value(int, "", low=1), length=3),
        "way": Value((int, str), "which", optional=True, low=1, among=("auto",)),
    },
    {"n": 1},
)


class Thing(Savable):
    _SCHEMA = SCHEMA

    def __init__(self, arrays, meta):
        self.parts = Parts(arrays, meta)

    def _to_parts(self):
        return self.parts

    @classmethod
    def _from_parts(cls, parts):
        return cls(*parts)


def good():
    return {
        "points": np.zeros((2, 3)),
        "offsets": np.array([0, 1, 3]),
        "targets": np.array([1, 0, 1], np.int32),
        "parents": np.array([-1, 0], np.int32),
        "levels/0": np.array([3, 1], np.uint8),
        "levels/1": np.array([0], np.uint8),
    }


def test_what_fits_is_written_and_read(tmp_path):
    arrays = good() | {"costs": np.array([0.0, np.inf, 2.0], np.float32), "names": np.array(["wall"])}
    meta = {"seed": 3, "scale": 1, "agent": {"radius": 0.5}, "steps": [1, 2, 3], "way": "auto"}
    Thing(arrays, meta).save(tmp_path / "a")
    read = Thing.load(tmp_path / "a").parts
    assert read.meta == meta
    assert all((read.arrays[name] == array).all() for name, array in arrays.items())


def change(name, value):
    return lambda arrays, meta: arrays.update({name: np.asarray(value)})


def poke(name, index, value):
    def do(arrays, meta):
        arrays[name] = arrays[name].copy()
        arrays[name][index] = value

    return do


@pytest.mark.parametrize(
    "forge",
    [
        poke("points", (0, 0), np.nan),
        poke("points", (0, 0), np.inf),
        poke("points", (1, 2), 1e13),
        poke("offsets", 0, 1),
        poke("offsets", 1, 5),
        poke("offsets", 1, -1),
        poke("offsets", 2, 2),
        poke("targets", 0, 2),
        poke("targets", 0, -1),
        poke("parents", 0, -2),
        poke("parents", 0, 2),
        poke("levels/0", 0, 4),
        change("points", np.zeros((3, 3))),
        change("points", np.zeros((2, 2))),
        change("points", np.zeros((2, 3), np.float32)),
        change("offsets", np.array([], np.int64)),
        change("targets", np.array([1, 0, 1])),
        change("costs", np.array([-1, 0, 0], np.float32)),
        change("costs", np.array([np.nan, 0, 0], np.float32)),
        change("costs", np.array([0, 0], np.float32)),
        change("more", np.zeros(2)),
        change("names", np.zeros(2)),
        lambda arrays, meta: arrays.pop("targets"),
        lambda arrays, meta: meta.pop("seed"),
        lambda arrays, meta: meta.update(seed=-1),
        lambda arrays, meta: meta.update(seed=True),
        lambda arrays, meta: meta.update(seed="3"),
        lambda arrays, meta: meta.update(seed=10**400),
        lambda arrays, meta: meta.update(scale=0.1),
        lambda arrays, meta: meta.update(other=1),
        lambda arrays, meta: meta.update(agent={}),
        lambda arrays, meta: meta.update(agent={"radius": -1.0}),
        lambda arrays, meta: meta.update(agent={"radius": 1.0, "name": "x"}),
        lambda arrays, meta: meta.update(agent=[1.0]),
        lambda arrays, meta: meta.update(steps=[1, 2]),
        lambda arrays, meta: meta.update(steps=[1, 2, 0]),
        lambda arrays, meta: meta.update(steps=[1, 2, "3"]),
        lambda arrays, meta: meta.update(way="other"),
        lambda arrays, meta: meta.update(way=0),
        lambda arrays, meta: arrays.update(
            points=np.zeros((0, 3)),
            offsets=np.zeros(1, np.int64),
            targets=np.zeros(0, np.int32),
            parents=np.zeros(0, np.int32),
        ),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, forge):
    arrays, meta = good(), {"seed": 3}
    forge(arrays, meta)
    write_archive(tmp_path / "a", "thing", arrays, meta)  # signed as it should be
    with pytest.raises(FormatError) as told:
        Thing.load(tmp_path / "a")
    assert len(str(told.value)) < 200 + len(str(tmp_path))
    with pytest.raises(ParameterError, match="cannot be saved"):
        Thing(arrays, meta).save(tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_relations_are_checked_last(tmp_path):
    def four_is_no_seed(parts):
        """Four is no seed."""
        if parts.meta["seed"] == 4:
            raise ValueError("four is no seed")

    class Other(Thing):
        _SCHEMA = Schema("thing", SCHEMA.arrays, SCHEMA.values, checks=(four_is_no_seed,))

    Other(good(), {"seed": 3}).save(tmp_path / "a")
    with pytest.raises(ParameterError, match="four is no seed"):
        Other(good(), {"seed": 4}).save(tmp_path / "a")
    write_archive(tmp_path / "a", "thing", good(), {"seed": 4})
    with pytest.raises(FormatError, match="four is no seed"):
        Other.load(tmp_path / "a")
    assert "- Four is no seed." in Other._SCHEMA.table()


def test_offsets_that_must_rise_by_more_do(tmp_path):
    class Rows(Thing):
        _SCHEMA = Schema(
            "rows", {"ends": Array("int64", ("k + 1",), "", rises="m", least_rise=3), "of": Array("int8", ("m",), "")}
        )

    Rows({"ends": np.array([0, 3, 7]), "of": np.zeros(7, np.int8)}, {}).save(tmp_path / "a")
    with pytest.raises(ParameterError, match="must rise"):
        Rows({"ends": np.array([0, 2, 7]), "of": np.zeros(7, np.int8)}, {}).save(tmp_path / "a")


def test_arrays_stay_on_disk_and_can_be_written_to(tmp_path):
    Thing(good(), {"seed": 3}).save(tmp_path / "a")
    points = Thing.load(tmp_path / "a").parts.arrays["points"]
    points[:] = 7.0
    assert not points.flags.owndata
    assert (read_archive(tmp_path / "a").arrays["points"] == 0.0).all()


def test_the_documentation_shows_every_line():
    table = SCHEMA.table()
    assert "| `offsets` | int64 | (n + 1,) | rows; offsets from 0 to m, never falling |" in table
    assert "| `parents` | int32 or int64 | (n,) | nodes; -1 or 0 to n - 1 |" in table
    assert "| `scale` (meta) | float or null | | scale; at least 0.5; may be missing |" in table
    assert "| `agent.radius` (meta) | float | | metres; at least 0 |" in table


@pytest.mark.parametrize("odd", [(2**63 - 1, -1), (2**63 - 1, -(2**63)), (-1, 2), (1, 4), (2, 1)])
@pytest.mark.parametrize("least_rise", [0, 1])
def test_offsets_rise_however_large_their_numbers_are(tmp_path, odd, least_rise):
    class Rows(Thing):
        _SCHEMA = Schema(
            "rows",
            {
                "offsets": Array("int64", ("n + 1",), "rows", rises="m", least_rise=least_rise),
                "targets": Array("uint8", ("m",), "what is in them"),
            },
            {},
        )

    Rows({"offsets": np.array([0, 1, 2, 3]), "targets": np.zeros(3, np.uint8)}, {}).save(tmp_path / "a")
    with pytest.raises(ParameterError, match="must rise"):
        Rows({"offsets": np.array([0, *odd, 3]), "targets": np.zeros(3, np.uint8)}, {}).save(tmp_path / "b")
