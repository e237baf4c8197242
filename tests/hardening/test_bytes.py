"""The same object saves the same bytes, wherever it is made, and nothing that was not computed."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import wayfold
from tests.hardening import things

MARK = 0x5A

# What is left in freed memory: numpy's own cache of small arrays, and what malloc gives out again, which glibc fills
# with the complement of MALLOC_PERTURB_.
SCRIPT = """
    import sys
    import numpy as np
    from tests.hardening import things
    from wayfold.core.archive import write_archive

    def litter():
        mark = int(sys.argv[2])
        for size in (*range(1, 1024, 3), *(1 << k for k in range(10, 22))):
            left = [np.full(size, mark, np.uint8) for _ in range(8)]
            del left

    litter()
    write_archive(f"{sys.argv[1]}/careless", "any", {f"{k}": np.empty(100 + k, np.uint8) for k in range(50)})
    for name, kind in things.SAVED.items():
        litter()
        thing = kind.make()
        litter()
        thing.save(f"{sys.argv[1]}/{name}")
"""


def saved_by_a_process(folder, mark):
    folder.mkdir()
    environment = {**os.environ, "MALLOC_PERTURB_": str(255 - mark), "PYTHONHASHSEED": str(mark)}
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(folder), str(mark)]
    subprocess.run(command, check=True, env=environment)
    return {name: (folder / name).read_bytes() for name in (*things.SAVED, "careless")}


def test_two_processes_save_the_same_bytes_and_nothing_from_freed_memory(tmp_path):
    one, two = saved_by_a_process(tmp_path / "one", MARK), saved_by_a_process(tmp_path / "two", MARK + 1)
    careless = one.pop("careless"), two.pop("careless")
    assert careless[0] != careless[1]
    assert bytes([MARK] * 16) in careless[0]
    for name, content in one.items():
        assert content == two[name], name
        assert bytes([MARK] * 16) not in content, name


@pytest.mark.parametrize("name", things.SAVED)
def test_saving_twice_and_saving_what_was_loaded_give_the_same_bytes(tmp_path, name):
    thing = things.SAVED[name].make()
    thing.save(tmp_path / "a")
    thing.save(tmp_path / "b")
    wayfold.load(tmp_path / "a").save(tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


@pytest.mark.parametrize("name", things.SAVED)
def test_what_was_loaded_answers_as_what_was_saved(tmp_path, name):
    kind = things.SAVED[name]
    thing = kind.make()
    thing.save(tmp_path / "a")
    again = wayfold.load(tmp_path / "a")
    if kind.attach is not None:
        again.attach(thing.waypoints)
    for one, two in zip(kind.ask(thing), kind.ask(again), strict=True):
        assert told(one) == told(two)


def told(job):
    """An answer as something that can be compared; of a path its cost, where it leads and how far.

    A terrain is grown for discs from before it was painted: a path has the same course there, but other corners on it.
    """
    try:
        answer = job()
    except wayfold.errors.WayfoldError as error:
        return str(error)
    if hasattr(answer, "points"):
        steps = np.linalg.norm(np.diff(answer.points, axis=0), axis=1).sum()
        return np.round([*np.ravel(answer.cost), steps], 9).tolist(), answer.points[
            [0, -1][: len(answer.points)]
        ].tolist()
    if isinstance(answer, list):
        return [told(lambda one=one: one) for one in answer]
    return np.asarray(answer).tolist() if isinstance(answer, (int, float, np.ndarray, np.generic)) else type(answer)


def test_edited_waypoints_are_saved_without_their_spare_room(tmp_path):
    edited = things.edited_waypoints()
    edited.save(tmp_path / "a")
    again = wayfold.load(tmp_path / "a")
    assert (again.num_edges, again.built) == (edited.num_edges, edited.built)
    assert (again.removed == edited.removed).all()
    assert again.removed[29]
    assert again.graph.motions.all()
    assert again.update([(0, 2)], costs=[1.0]).added


PICKLED = """
    import pickle, sys
    from tests.hardening import things
    from wayfold.errors import WayfoldError

    for name in ("sparse grid", "edited waypoints", "subregions"):
        kind = things.SAVED[name]
        thing = kind.make()
        for job in kind.edit(thing):
            try:
                job()
            except WayfoldError:
                pass
        assert bytes([int(sys.argv[1])] * 64) not in pickle.dumps(thing), name
"""


def test_pickles_of_edited_objects_hold_nothing_from_freed_memory():
    environment = {**os.environ, "MALLOC_PERTURB_": str(255 - MARK)}
    subprocess.run([sys.executable, "-c", textwrap.dedent(PICKLED), str(MARK)], check=True, env=environment)
