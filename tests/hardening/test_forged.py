"""Files with right checksums and lying contents are refused, or hold an object that answers: see `forge`."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import wayfold
from tests.draws import SEED
from tests.hardening import forge, things
from tests.limited import run_cases
from wayfold.core.archive import read_archive, write_archive
from wayfold.errors import FormatError, WayfoldError
from wayfold.formats.load import _KINDS

pytestmark = pytest.mark.kernels


@pytest.mark.property
def test_forged_files_are_refused_or_answer(tmp_path):
    told = run_cases("tests.hardening.forge", tmp_path, 100_000 * SEED, 320)
    assert "refused" in told
    assert "used and saved" in told


@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
def test_five_thousand_forged_files_are_refused_or_answer(tmp_path, part):
    run_cases("tests.hardening.forge", tmp_path, 100_000 * SEED + 1000 * (part + 1), 1000)


@pytest.mark.long
def test_forged_files_make_no_kernel_leave_its_arrays(tmp_path):
    run_cases("tests.hardening.forge", tmp_path, 100_000 * SEED + 10_000, 1000, NUMBA_BOUNDSCHECK="1")


@pytest.mark.parametrize("name", things.SAVED)
def test_honest_objects_answer_what_the_forger_asks(name):
    kind = things.SAVED[name]
    thing = kind.make()
    answers = 0
    for job in kind.ask(thing):
        with contextlib.suppress(WayfoldError):
            things.judge(job())
            answers += 1
    assert answers > 2
    for job in kind.edit(thing) if kind.edit else ():
        with contextlib.suppress(WayfoldError):
            job()
            answers += 100
    assert (answers > 100) == (kind.edit is not None)


def test_some_forgeries_are_refused_and_some_are_not(tmp_path):
    things.terrain().save(tmp_path / "a.wayfold")
    saved = read_archive(tmp_path / "a.wayfold")
    refused = 0
    for seed in range(40):
        forge.forge(seed, {"terrain": saved}, tmp_path / "b.wayfold")
        try:
            wayfold.load(tmp_path / "b.wayfold")
        except FormatError:
            refused += 1
    assert 20 < refused < 40


def test_every_kind_of_file_is_forged():
    assert {type(kind.make()).__name__ for kind in things.SAVED.values()} == {name for _, name in _KINDS.values()}


# What was found once, each as it was.


def forged(tmp_path, thing, change):
    thing.save(tmp_path / "honest.wayfold")
    saved = read_archive(tmp_path / "honest.wayfold")
    arrays = {name: array.copy() for name, array in saved.arrays.items()}
    change(arrays, saved.meta)
    write_archive(tmp_path / "forged.wayfold", saved.kind, arrays, saved.meta)
    with pytest.raises(FormatError):
        wayfold.load(tmp_path / "forged.wayfold")


def put(name, at, value):
    def change(arrays, meta):
        arrays[name][at] = value

    return change


def told(*keys, value):
    def change(arrays, meta):
        for key in keys[:-1]:
            meta = meta[key]
        meta[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("terrain", put("triangles", (0, 0), 10**9)),
        ("terrain", put("triangles", (0, 0), -1)),
        ("terrain", put("weights", 0, -1.0)),
        ("terrain", put("weights", 0, np.nan)),
        ("sparse grid", put("columns", (0, 0), 2**30)),
        ("sparse grid", put("effects", 0, 200)),
        ("sparse grid", put("link_costs", 0, -1.0)),
        ("sparse grid", put("links", (0, 0, 0), 2**62)),
        ("graph", put("targets", 0, 30)),
        ("graph", put("offsets", 1, -5)),
        ("graph", put("costs", 0, -1.0)),
        ("hierarchy", put("order", 0, 5)),
        ("navmesh", put("ground/neighbours", 0, 10**6)),
        ("navmesh", put("tiles/doors", (0, 6), 10**6)),
        ("navmesh", told("settings", "cell_size", value=1e-320)),
        ("navmesh", told("grid", "width", value=2**33)),
        ("voxels", told("region_size", value=10**400)),
        ("voxels", told("shape", 0, value=10**9)),
        ("subregions", put("labels", 0, 60000)),
        ("waypoints", put("regions", (0, 0), -1)),
        ("decomposition", put("plan_rings", 1, 10**6)),
    ],
)
def test_what_ended_the_process_is_refused(tmp_path, name, change):
    forged(tmp_path, things.SAVED[name].make(), change)
