from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks import harness, peers
from benchmarks.harness import Contender, WrongAnswerError, compare, same_costs
from wayfold import Graph
from wayfold.core.text import to_json
from wayfold.graph.graph import edge_list


def test_every_contender_runs_once_a_round_after_one_warm_up_in_turn():
    calls = []
    contenders = [Contender(name, lambda name=name: calls.append(name)) for name in "ab"]
    checked = []
    result = compare("order", contenders, lambda name, answer: checked.append(name), rounds=3)
    assert calls == checked == ["a", "b"] * 4
    assert [timing.name for timing in result.timings] == ["a", "b"]
    assert all(len(timing.seconds) == 3 for timing in result.timings)
    assert result.timings[0].ratios == [1.0, 1.0, 1.0]


def test_a_wrong_answer_ends_the_benchmark():
    check = same_costs(np.array([1.0, 2.0]), relative=1e-6)
    check("right", [1.0, 2.0 + 1e-7])
    with pytest.raises(WrongAnswerError, match=r"wrong answered .*2\.1.* for query 1"):
        compare("wrong", [Contender("wrong", lambda: [1.0, 2.1])], check)
    with pytest.raises(WrongAnswerError):
        check("short", [1.0])
    with pytest.raises(WrongAnswerError):
        check("nothing", [1.0, float("nan")])


def test_a_comparison_is_json_with_ratios_and_facts_and_the_machine_is_known():
    comparison = compare("one", [Contender("a", list, work=2)], lambda name, answer: None, rounds=2, facts={"n": 3})
    report = json.loads(to_json(comparison.as_dict()))
    (row,) = report["rows"]
    assert row["ratio"] == 1.0
    assert report["facts"] == {"n": 3}
    where = harness.machine("pytest")
    assert where.cores >= 1
    assert "pytest" in where.libraries


def small_task():
    rng = np.random.default_rng(3)
    points = rng.random((60, 3)) * 10
    edges = np.column_stack([np.arange(59), np.arange(1, 60)])
    edges = np.concatenate([edges, rng.integers(0, 60, (80, 2))])
    edges = edges[edges[:, 0] != edges[:, 1]]
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    graph = Graph.from_edges(points, edges)
    assert len(edge_list(graph)[0]) == len(edges)
    return peers.Task("small", graph, np.arange(10), np.arange(50, 60))


@pytest.mark.parametrize("peer", peers.GRAPHS)
def test_every_peer_gives_the_same_costs(peer):
    pytest.importorskip(peer)
    result = peers.run(small_task(), peers=(peer,), rounds=1)
    assert [timing.name for timing in result.timings] == ["wayfold", peer]
    assert result.facts["queries"] == 10
