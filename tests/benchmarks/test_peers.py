from __future__ import annotations

import heapq
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.harness import WrongAnswerError
from benchmarks.peers import LIBRARIES, Library, absent, graphs, grids, polygons, recast
from benchmarks.peers.libraries import check_names
from benchmarks.tables import peers as tables
from wayfold.errors import ParameterError

RULES = {"movingai": grids.MOVINGAI, "corners": grids.ANY_CORNER, "king": grids.KING, "warframe": grids.WARFRAME}


def slow_steps(free, rule):
    """Every step by the words of the rule, cell by cell."""
    found = {}
    for cell in itertools.product(*map(range, free.shape)):
        for way in itertools.product((-1, 0, 1), repeat=free.ndim):
            goal = tuple(a + b for a, b in zip(cell, way, strict=True))
            if not any(way) or not all(0 <= x < size for x, size in zip(goal, free.shape, strict=True)):
                continue
            box = itertools.product(*({a, b} for a, b in zip(cell, goal, strict=True)))
            passed = [cell, goal] if rule.corners else list(box)
            if all(free[other] for other in passed):
                found[cell, goal] = rule.costs[sum(map(abs, way)) - 1]
    return found


@pytest.mark.parametrize("name", RULES)
@given(data=st.data())
def test_the_steps_of_a_rule_are_those_of_its_words(name, data):
    rule = RULES[name]
    dimensions = 3 if len(rule.costs) == 3 else 2
    shape = data.draw(st.tuples(*[st.integers(1, 4)] * dimensions))
    cells = data.draw(st.lists(st.booleans(), min_size=math.prod(shape), max_size=math.prod(shape)))
    free = np.array(cells).reshape(shape)
    sources, targets, costs = rule.steps(free)
    found = {}
    for a, b, cost in zip(sources, targets, costs, strict=True):
        start, goal = (tuple(int(x) for x in np.unravel_index(end, shape)) for end in (a, b))
        found[start, goal] = found[goal, start] = cost
    assert len(found) == 2 * len(sources)
    assert found == slow_steps(free, rule)


@pytest.mark.parametrize("name", [*grids.PLANE, *grids.SPACE])
def test_every_grid_library_gives_the_costs_of_its_rule(name):
    if not LIBRARIES[name].installed:
        pytest.skip(f"{name} is not installed")
    grid = grids.space(3, side=8) if name in grids.SPACE else grids.plane(None, 3)
    result = grids.compare_with(name, grid, rounds=1)
    assert result.timings[-1].name == name
    assert result.facts["rule"].startswith("Rule:")


def test_wayfold_alone_gives_the_costs_of_every_rule():
    grid = grids.plane(None, 4)
    for rule in (grids.MOVINGAI, grids.ANY_CORNER, grids.SEVENTY, grids.KING):
        steps = rule.steps(grid.free)
        expected = grids._oracle(grid, *steps)
        for contender in grids._ours(grid, rule, *steps):
            assert np.allclose(contender.run(), expected, rtol=1e-6)


def test_a_path_that_jumps_or_stands_still_is_refused():
    assert grids._cost(grids.MOVINGAI, [(0, 0), (1, 1), (1, 2)]) == pytest.approx(1 + math.sqrt(2))
    assert grids._cost(grids.MOVINGAI, [(0, 0)]) == 0
    for wrong in ([(0, 0), (2, 0)], [(0, 0), (0, 0)]):
        with pytest.raises(WrongAnswerError):
            grids._cost(grids.MOVINGAI, wrong)


def slow_shortest(place, pair):
    """Dijkstra over everything that sees each other, with segments sampled point by point."""
    import shapely

    corners = [tuple(corner) for obstacle in place.obstacles for corner in shapely.get_coordinates(obstacle)[:-1]]
    nodes = [tuple(pair[0]), tuple(pair[1]), *corners]
    solid = [obstacle.buffer(-1e-6) for obstacle in place.obstacles]

    def sees(a, b):
        line = np.linspace(a, b, 400)
        return not any(shapely.contains_xy(part, line[:, 0], line[:, 1]).any() for part in solid)

    best, heap = {0: 0.0}, [(0.0, 0)]
    while heap:
        cost, node = heapq.heappop(heap)
        if node == 1:
            return cost
        for other in range(len(nodes)):
            length = cost + math.dist(nodes[node], nodes[other])
            if length < best.get(other, math.inf) and sees(nodes[node], nodes[other]):
                best[other] = length
                heapq.heappush(heap, (length, other))
    return math.inf


def test_the_oracle_among_polygons_agrees_with_a_slower_one():
    place = polygons.place(3, 4)
    found = polygons.shortest(place)
    for length, pair in zip(found, place.ends, strict=True):
        assert length == pytest.approx(slow_shortest(place, pair), rel=1e-4)


@pytest.mark.parametrize("name", polygons.PEERS)
def test_every_polygon_library_gives_the_shortest_lengths(name):
    if not LIBRARIES[name].installed:
        pytest.skip(f"{name} is not installed")
    result = polygons.run(polygons.place(3, 3), (name,), rounds=1)
    assert [timing.name for timing in result.timings] == ["wayfold NavMesh", name]


def test_libraries_that_are_not_there_are_told_with_what_to_install(monkeypatch):
    monkeypatch.setitem(LIBRARIES, "tcod", Library("tcod", "no_such_module_at_all", "pip install tcod"))
    assert absent(["tcod", "scipy"]) == {"tcod": "not installed: pip install tcod"}
    grid = grids.space(2, side=6)
    assert grids.compare_with("tcod", grid, rounds=1) is None
    for name in polygons.PEERS:
        monkeypatch.setitem(LIBRARIES, name, Library(name, "no_such_module_at_all", f"pip install {name}"))
    assert polygons.run(polygons.place(2, 1), polygons.PEERS, rounds=1) is None
    monkeypatch.setitem(LIBRARIES, "networkx", Library("networkx", "no_such_module_at_all", "pip install networkx"))
    result = graphs.run(graphs.sample(60.0, 3), peers=("networkx", "scipy"), rounds=1)
    assert [timing.name for timing in result.timings] == ["wayfold", "scipy"]
    found = {"comparisons": [result.as_dict()], "absent": absent(["tcod", "networkx"])}
    listing = tables.tables(found)[-1]
    assert ("networkx", "not installed: pip install networkx") in listing.cells()


def test_unknown_peers_are_refused():
    check_names(["scipy", "recast"], ("recast",))
    with pytest.raises(ParameterError, match="unknown peer 'boost'"):
        check_names(["boost"])


def test_without_a_compiler_there_is_no_recast(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with recast.library() as loaded:
        assert loaded is None


def test_recast_and_wayfold_agree_where_recast_is_installed():
    with recast.library() as loaded:
        if loaded is None:
            pytest.skip(recast.INSTALL)
        built, walked = recast.run(loaded, None, queries=10, rounds=1)
    assert [timing.name for timing in built.timings] == ["wayfold NavMesh", "recast"]
    assert walked.facts["mean_shortest"] > 0


@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_a_library_that_is_faster_is_a_rule_that_is_missed(ratio):
    rows = [{"name": "wayfold", "median_ms": 1.0, "ratio": 1.0}, {"name": "other", "median_ms": ratio, "ratio": ratio}]
    (table,) = tables.tables({"comparisons": [{"title": "T", "rows": rows, "facts": {}}], "absent": {}})
    assert [row.verdict for row in table.rows] == ["", "", "met" if ratio >= 1 else "missed"]
