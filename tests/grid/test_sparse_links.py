from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wayfold
from wayfold import SparseGrid, Status
from wayfold.core.schema import restored
from wayfold.errors import EditError, FormatError, OffMapError, ParameterError
from wayfold.links import Link

pytestmark = pytest.mark.kernels

LOW, HIGH = (30, 5, 0), (30, 5, 12)


def two_floors():
    cells = [(x, y, z) for z in (0, 12) for y in range(10) for x in range(40)]
    return SparseGrid.from_cells(cells, 8)


def test_a_ladder_joins_floors_for_exact_and_abstract_planning():
    grid = two_floors()
    start, goal = (0, 5, 0), (0, 5, 12)
    assert grid.path(start, goal).status is Status.UNREACHABLE
    grid.add_link(LOW, HIGH)
    for path in (grid.path(start, goal, exact=True), grid.path(start, goal), grid.path(start, goal, smooth=True)):
        assert path.found
        assert path.cost == pytest.approx(30 + 12 + 30, rel=0.1)
        points = [tuple(point) for point in path.points.astype(int).tolist()]
        assert points[points.index(LOW) + 1] == HIGH
    assert grid.path(start, goal, exact=True).cost == 72
    assert HIGH in [tuple(cell) for cell in grid.successors(LOW).tolist()]
    grid.remove_link(HIGH, LOW)
    assert grid.path(start, goal).status is Status.UNREACHABLE


def test_a_link_rests_while_one_of_its_cells_is_gone():
    grid = two_floors()
    grid.add_link(LOW, HIGH, cost=3)
    path = grid.path((0, 5, 0), (0, 5, 12))
    grid.remove([HIGH])
    assert not grid.path((0, 5, 0), (0, 5, 12), exact=True)
    assert not grid.replan(path)
    grid.add([HIGH])
    again = grid.replan(path)
    assert again.cost == path.cost
    assert again.expanded == 0
    grid.compact()
    assert grid.path((0, 5, 0), (0, 5, 12), exact=True).cost == 63


def test_a_link_may_lead_one_way_only(tmp_path):
    grid = two_floors()
    grid.add_link(HIGH, LOW, both_ways=False)
    grid.save(tmp_path / "slide.wayfold")
    for world in (grid, wayfold.load(tmp_path / "slide.wayfold")):
        assert world.path(HIGH, LOW).cost == 12
        assert world.path(LOW, HIGH).status is Status.UNREACHABLE
        assert world.path(LOW, HIGH, exact=True).status is Status.UNREACHABLE


def test_a_short_cut_is_taken_when_it_pays():
    grid = SparseGrid.from_cells([(x, y, 0) for y in range(30) for x in range(30) if x == 0 or x == 29 or y == 29], 8)
    plain = grid.path((0, 0), (29, 0), exact=True).cost
    grid.add_link((0, 0), (29, 0), cost=40)
    assert grid.path((0, 0), (29, 0), exact=True).cost == 40 < plain
    grid.add_effect([(29, 0)])
    assert grid.path((0, 0), (29, 0), exact=True).cost == 80


def test_wrong_links_get_a_sentence():
    grid = two_floors()
    with pytest.raises(OffMapError, match="link"):
        grid.add_link(LOW, (30, 5, 3))
    with pytest.raises(ParameterError, match="cost must be at least"):
        grid.add_link((0, 0, 0), (9, 0, 0), cost=2)
    with pytest.raises(EditError, match="no link"):
        grid.remove_link(LOW, HIGH)
    grid.add_link(LOW, HIGH)
    with pytest.raises(EditError, match="already a link"):
        grid.add_link(HIGH, LOW, both_ways=False)
    assert np.isfinite(grid.path(LOW, HIGH).cost)


def test_area_effects_multiply_the_cost_of_a_link_that_leads_onto_them_as_they_do_a_steps():
    grid = SparseGrid.from_cells([(0, 0, 0), (1, 0, 0), (9, 0, 0)], effect_cost=0.5)
    grid.add_link((0, 0), (9, 0), cost=10.0)
    grid.add_effect([(9, 0), (9, 0), (1, 0)])
    for exact in (True, False):
        assert grid.path((0, 0), (9, 0), exact=exact).cost == pytest.approx(10.0 * (1 + 2 * 0.5))
        assert grid.path((9, 0), (0, 0), exact=exact).cost == pytest.approx(10.0)
        assert grid.path((0, 0), (1, 0), exact=exact).cost == pytest.approx(1 + 0.5)


def test_a_cell_of_another_kind_between_two_cells_does_not_keep_them_apart():
    grid = SparseGrid.from_cells([(0, 0, 0), (1, 0, 1), (1, 0, 2)], kinds=[0, 1, 0], max_step=2)
    assert grid.successors((0, 0, 0)).tolist() == [[1, 0, 2]]
    assert grid.successors((1, 0, 2)).tolist() == [[0, 0, 0]]
    assert grid.successors((1, 0, 1)).tolist() == []
    # Of the same kind it is the nearer one, and the other one has no neighbour.
    grid = SparseGrid.from_cells([(0, 0, 0), (1, 0, 1), (1, 0, 2)], max_step=2)
    assert grid.successors((0, 0, 0)).tolist() == [[1, 0, 1]]
    assert grid.successors((1, 0, 2)).tolist() == []


def test_a_link_joins_cells_of_different_kinds():
    grid = SparseGrid.from_cells([(0, 0, 0), (5, 0, 0)], kinds=[0, 1])
    assert not grid.path((0, 0), (5, 0)).found
    grid.add_link((0, 0), (5, 0), cost=6.0)
    assert grid.path((0, 0), (5, 0)).cost == pytest.approx(6.0)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_links_are_told_and_removed_by_their_ids_which_no_other_link_ever_gets(tmp_path_factory, data):
    cells = [(x, 3 * y, 0) for x in range(4) for y in range(2)]
    grid, known, gone, file = SparseGrid.from_cells(cells), {}, set(), tmp_path_factory.mktemp("links") / "g.wayfold"
    for _ in range(data.draw(st.integers(1, 12))):
        what = data.draw(st.sampled_from(["add", "add", "remove", "remove by cells", "save", "rest"]))
        start, end = (data.draw(st.sampled_from(cells)) for _ in range(2))
        taken = {(link.start, link.end) for link in known.values()}
        taken |= {(link.end, link.start) for link in known.values() if link.both_ways}
        if what == "add":
            both, kind = data.draw(st.booleans()), data.draw(st.sampled_from(["", "jump", "\0"]))
            if start == end or (start, end) in taken or (both and (end, start) in taken):
                continue
            number = grid.add_link(start, end, cost=20.0 + len(known), kind=kind, both_ways=both)
            assert number not in gone | known.keys()
            known[number] = Link(number, start, end, 20.0 + len(known), kind, both)
        elif what == "remove" and known:
            number = data.draw(st.sampled_from(sorted(known)))
            grid.remove_link(number)
            with pytest.raises(EditError, match=f"no link {number}"):
                grid.remove_link(number)
            gone.add(number)
            del known[number]
        elif what == "remove by cells" and {(start, end), (end, start)} & taken:
            grid.remove_link(start, end)
            between = {number for number, link in known.items() if {link.start, link.end} == {start, end}}
            gone |= between
            known = {number: link for number, link in known.items() if number not in between}
        elif what == "save":
            grid.save(file)
            grid = SparseGrid.load(file)
        elif what == "rest":
            grid.remove([cells[0]])
            assert grid.links == tuple(known.values())
            grid.add([cells[0]])
        assert grid.links == tuple(known.values())


@pytest.mark.parametrize(
    ("arrays", "meta"),
    [
        ({"link_ids": [1, 1, 0]}, {}),
        ({"link_ids": [0, 0, 0]}, {}),
        ({"link_ids": [0, 1, 1]}, {}),
        ({"link_ids": [0, 0, 2]}, {}),
        ({}, {"link_kinds": ["a", "b", ""]}),
        ({}, {"link_kinds": ["a", "a"]}),
    ],
)
def test_files_with_links_that_contradict_themselves_are_refused(arrays, meta):
    grid = two_floors()
    grid.add_link(LOW, HIGH)
    grid.add_link((0, 0, 0), (9, 0, 0), both_ways=False)
    parts = grid._to_parts()
    parts.arrays.update({name: np.array(values, np.int64) for name, values in arrays.items()})
    parts.meta.update(meta)
    with pytest.raises(FormatError, match="link"):
        restored(SparseGrid, parts)


def test_links_of_files_without_ids_get_some():
    grid = two_floors()
    grid.add_link(LOW, HIGH, cost=14.0)
    parts = grid._to_parts()
    del parts.arrays["link_ids"], parts.meta["next_link"]
    again = restored(SparseGrid, parts)
    assert again.links == (Link(0, LOW, HIGH, 14.0, "", False), Link(1, HIGH, LOW, 14.0, "", False))
    assert again.add_link((0, 0, 0), (9, 0, 0)) == 2


@pytest.mark.parametrize("former", [{"a": LOW}, {"b": HIGH}, {"a": LOW, "b": HIGH}])
def test_former_names_of_ends_work_and_warn(former):
    grid, ends = two_floors(), {"start": LOW, "end": HIGH}
    rest = {name: cell for name, cell in ends.items() if cell not in former.values()}
    with pytest.warns(DeprecationWarning, match="add_link: .= is now"):
        number = grid.add_link(**former, **rest)
    assert grid.links == (Link(number, LOW, HIGH, 12.0, "", True),)
    rest = {{"start": "link"}.get(name, name): cell for name, cell in rest.items()}
    with pytest.warns(DeprecationWarning, match="remove_link: .= is now"):
        grid.remove_link(**former, **rest)
    assert grid.links == ()
