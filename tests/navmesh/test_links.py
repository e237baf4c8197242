"""Links of a navigation mesh: what is given is given back, ids are used once, and removing undoes adding."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfold
from tests.navmesh.strategies import box, floor, mesh_of
from wayfold import Agent, Box, NavMesh, World
from wayfold.core.archive import read_archive, write_archive
from wayfold.errors import EditError, FormatError, ParameterError

COLUMNS = 5


def islands():
    """Squares in a row, none of which touches another."""
    corners = [(3 * k + x, y) for k in range(COLUMNS) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    return NavMesh.from_polygons(corners, np.arange(4 * COLUMNS).reshape(-1, 4))


def middle(k):
    return 3 * k + 0.5, 0.5, 0.0


def reaches(mesh):
    return [[mesh.path(middle(a), middle(b)).cost for b in range(COLUMNS)] for a in range(COLUMNS)]


def test_links_are_given_back_as_they_were_given():
    mesh = islands()
    ladder = mesh.add_link(middle(0)[:2], middle(1), cost=2.5, kind="ladder", both_ways=False)
    walk = mesh.add_link(middle(1), middle(2))
    assert mesh.num_links == 2
    first, second = mesh.links
    assert first == (ladder, middle(0), middle(1), 2.5, "ladder", False)
    assert second == (walk, middle(1), middle(2), 3.0, "", True)
    assert first.id != second.id
    assert (first.start, first.end, first.cost, first.kind, first.both_ways) == tuple(first)[1:]


LINKS = st.tuples(st.integers(0, COLUMNS - 1), st.integers(0, COLUMNS - 1), st.booleans())


@given(st.lists(st.one_of(LINKS, st.integers(0, 9)), max_size=12))
def test_ids_are_used_once_and_removing_a_link_leaves_the_mesh_without_it(steps):
    """A step adds a link or removes the one with a number, if there is one."""
    mesh, left, used = islands(), {}, []
    for step in steps:
        if isinstance(step, tuple):
            a, b, both = step
            number = mesh.add_link(middle(a), middle(b), cost=1.0, both_ways=both)
            used.append(number)
            left[number] = step
        elif step in left:
            mesh.remove_link(step)
            del left[step]
        else:
            with pytest.raises(EditError, match=f"no link {step}"):
                mesh.remove_link(step)
    assert all(a < b for a, b in pairwise(used))
    assert [link.id for link in mesh.links] == list(left)
    fresh = islands()
    for a, b, both in left.values():
        fresh.add_link(middle(a), middle(b), cost=1.0, both_ways=both)
    assert reaches(mesh) == reaches(fresh)


def test_clearing_links_does_not_free_their_ids():
    mesh = islands()
    first = mesh.add_link(middle(0), middle(1))
    mesh.clear_links()
    assert mesh.links == ()
    assert mesh.add_link(middle(0), middle(1)) > first


@pytest.mark.parametrize("travel", ["file", "pickle", "copy"])
def test_links_travel_with_the_mesh_and_ids_go_on(travel, tmp_path):
    mesh = islands()
    gone = mesh.add_link(middle(2), middle(3))
    kept = mesh.add_link(middle(0), middle(1), cost=0.5, kind="Sprung \N{MUSICAL SYMBOL G CLEF}", both_ways=False)
    mesh.remove_link(gone)
    if travel == "file":
        mesh.save(tmp_path / "mesh.wayfold")
        other = wayfold.load(tmp_path / "mesh.wayfold")
    else:
        other = pickle.loads(pickle.dumps(mesh)) if travel == "pickle" else copy.deepcopy(mesh)
    assert other.links == mesh.links
    assert other.add_link(middle(3), middle(4)) == mesh.add_link(middle(3), middle(4)) > kept
    other.remove_link(kept)
    assert len(other.links) == 1
    assert len(mesh.links) == 2


def test_ids_survive_a_rebuild_and_links_without_ground_are_gone():
    ground = mesh_of(floor(0, 0, 12, 6))
    mesh = NavMesh.build(ground, Agent(), cell_size=0.3, tile_size=16)
    lost = mesh.add_link((2, 3, 0), (6, 5, 0))
    kept = mesh.add_link((6, 1, 0), (11, 5, 0), kind="jump")
    mesh.rebuild([(1, 2, 0), (3, 4, 3)], mesh_of(floor(0, 0, 12, 6), box((1, 2, 0), (3, 4, 3))))
    assert [(link.id, link.kind) for link in mesh.links] == [(kept, "jump")]
    with pytest.raises(EditError):
        mesh.remove_link(lost)
    assert mesh.changed([(1, 2, 0), (3, 4, 3)], ground).add_link((2, 3, 0), (6, 5, 0)) > kept
    mesh.remove_link(kept)


def test_ids_survive_an_edit_of_a_world():
    world = World.from_mesh(mesh_of(floor(0, 0, 12, 6)), cache=False)
    planner = world.planner(Agent())
    first = planner.map.add_link((1, 1, 0), (11, 5, 0), cost=0.0)
    world.block(Box((5, 2, -1), (6, 3, 2)))
    second = planner.map.add_link((1, 5, 0), (11, 1, 0), cost=0.0)
    assert second > first
    planner.map.remove_link(first)
    assert planner.path((1, 1, 0), (11, 5, 0)).cost > 2.0
    assert planner.path((1, 5, 0), (11, 1, 0)).cost == 0.0


def forged(mesh, file, change):
    mesh.save(file)
    archive = read_archive(file)
    arrays, meta = dict(archive.arrays), dict(archive.meta)
    change(arrays, meta)
    write_archive(file, "navmesh", arrays, meta)
    return file


def test_files_from_before_links_had_ids_can_be_read(tmp_path):
    mesh = islands()
    mesh.remove_link(mesh.add_link(middle(0), middle(1)))
    mesh.add_link(middle(0), middle(1), cost=1.5)

    def age(arrays, meta):
        del arrays["link_ids"], meta["link_kinds"], meta["next_link"]

    loaded = wayfold.load(forged(mesh, tmp_path / "old.wayfold", age))
    assert loaded.links == ((0, middle(0), middle(1), 1.5, "", True),)
    assert loaded.add_link(middle(1), middle(2)) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, meta: meta.update(next_link=1),
        lambda arrays, meta: meta.update(link_kinds=["one"]),
        lambda arrays, meta: meta.pop("next_link"),
        lambda arrays, meta: arrays.update(link_ids=np.array([1, 1])),
    ],
)
def test_files_whose_ids_do_not_fit_are_refused(change, tmp_path):
    mesh = islands()
    mesh.add_link(middle(0), middle(1))
    mesh.add_link(middle(1), middle(2))
    with pytest.raises(FormatError, match="links"):
        wayfold.load(forged(mesh, tmp_path / "forged.wayfold", change))


@pytest.mark.parametrize("wrong", ["a", None, 1.5, -1])
def test_what_is_no_id_gets_a_sentence(wrong):
    mesh = islands()
    with pytest.raises(ParameterError, match="id"):
        mesh.remove_link(wrong)
    with pytest.raises(ParameterError, match="kind"):
        mesh.add_link(middle(0), middle(1), kind=3)
