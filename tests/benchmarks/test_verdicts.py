from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.verdicts import Listing, Row, Rule, Table, Tally, at_least, at_most, equal, within
from wayfold.core.text import plain, show, to_json
from wayfold.errors import ParameterError

figures = st.floats(-1e6, 1e6)


@given(figures, figures)
def test_a_rule_holds_exactly_when_its_words_are_true(bound, value):
    assert at_most(bound).holds(value) == (value <= bound)
    assert at_least(bound).holds(value) == (value >= bound)
    assert equal(bound).holds(value) == (value == bound)


@given(st.floats(1.0, 1e6), st.floats(0.0, 0.5), st.floats(0.0, 2.0))
def test_within_holds_up_to_its_slack_on_both_sides(bound, slack, share):
    rule = within(bound, slack)
    assert rule.holds(bound)
    for sign in (-1, 1):
        away = share - slack
        if abs(away) > 1e-9:
            assert rule.holds(bound * (1 + sign * share)) == (away < 0)


def test_what_is_not_a_number_keeps_no_rule():
    for rule in (at_most(1), at_least(1), within(1, 0.5), equal(1)):
        assert not rule.holds(math.nan)


def test_rules_say_themselves_and_refuse_nonsense():
    assert str(at_most(0.8)) == "at most 0.8"
    assert str(within(91_362, 0.01)) == "within 1 % of 91,362"
    for wrong in (("about", 1.0, 0.0), ("at most", math.inf, 0.0), ("within", 1.0, -0.1), ("within", 1.0, math.nan)):
        with pytest.raises(ParameterError):
            Rule(*wrong)


def test_a_verdict_follows_from_the_rule_and_the_figure_alone():
    assert Row("a", 10.0, 5.0, at_most(5)).verdict == "met"
    assert Row("a", 10.0, 5.1, at_most(5)).verdict == "missed"
    assert Row("a", 10.0, None, at_most(5)).verdict == "not measured"
    assert Row("a", 10.0, 5.0).verdict == ""


def test_the_ratio_is_ours_by_the_paper_s():
    assert Row("a", 10.0, 5.0).ratio == 0.5
    assert Row("a", None, 5.0).ratio is None
    assert Row("a", 10.0, None).ratio is None
    assert Row("a", 0.0, 5.0).ratio is None


def test_tables_count_their_verdicts_and_name_what_was_missed():
    table = Table(
        "T",
        [Row("a", 1.0, 2.0, at_most(1)), Row("b", 1.0, 1.0, at_most(1)), Row("c", 1, None, equal(1)), Row("d", 1, 1)],
    )
    tally = Tally.of([table, Listing("L", ("x",), [(1,)])])
    assert (tally.met, tally.missed, tally.not_measured) == (1, 1, 1)
    assert tally.missed_rows == ["T: a, 2 where at most 1 is asked"]
    assert table.cells()[0] == ("a", "1", "2", "2x", "at most 1", "missed")
    stored = json.loads(to_json(table.as_dict()))
    assert stored["rows"][0]["rule"] == {"kind": "at most", "bound": 1.0, "slack": 0.0}
    assert [row["verdict"] for row in stored["rows"]] == ["missed", "met", "not measured", ""]


def test_values_are_shown_for_people_and_plain_for_json():
    assert show(1234567) == "1,234,567"
    assert show(None) == ""
    assert show([1, 0.5]) == "1, 0.5"
    assert plain({1: (math.inf, math.nan, 2.0)}) == {"1": [None, None, 2.0]}
