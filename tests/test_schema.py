"""The schema of saved files: what does not fit is refused with a sentence, on reading and on writing."""

import numpy as np
import pytest

from wayfold._archive import Archive, write_archive
from wayfold._schema import Array, Schema, Value
from wayfold.errors import FormatError

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
    {"seed": Value(int, "seed", low=0), "scale": Value((float, type(None)), "scale", optional=True, low=0.5)},
)


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
    SCHEMA.write(tmp_path / "a", arrays, {"seed": 3, "scale": 1})
    read = SCHEMA.read(tmp_path / "a")
    assert read.meta == {"seed": 3, "scale": 1}
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
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, forge):
    arrays, meta = good(), {"seed": 3}
    forge(arrays, meta)
    write_archive(tmp_path / "a", "thing", arrays, meta)  # signed as it should be
    with pytest.raises(FormatError) as told:
        SCHEMA.read(tmp_path / "a")
    assert len(str(told.value)) < 200 + len(str(tmp_path))
    with pytest.raises(ValueError):  # noqa: PT011 - by us, before anything is written
        SCHEMA.write(tmp_path / "b", arrays, meta)
    assert not (tmp_path / "b").exists()


def test_a_rule_of_its_own_is_checked_last(tmp_path):
    def rule(archive: Archive):
        if archive.meta["seed"] == 4:
            raise ValueError("four is no seed")

    schema = Schema("thing", SCHEMA.arrays, SCHEMA.values, rule)
    write_archive(tmp_path / "a", "thing", good(), {"seed": 4})
    with pytest.raises(FormatError, match="four is no seed"):
        schema.read(tmp_path / "a")


def test_the_documentation_shows_every_line():
    table = SCHEMA.table()
    assert "| `offsets` | int64 | (n + 1,) | rows; offsets from 0 to m, never falling |" in table
    assert "| `parents` | int32 or int64 | (n,) | nodes; -1 or 0 to n - 1 |" in table
    assert "| `scale` (meta) | float or null | | scale; may be missing |" in table
