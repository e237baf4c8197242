"""Rows with a verdict: the paper's figure, ours, and a rule that is evaluated, never a word that is typed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from wayfold.core.text import show
from wayfold.errors import ParameterError

MET, MISSED, NOT_MEASURED, NO_RULE = "met", "missed", "not measured", ""
"""The verdicts. A row without a rule has none: it is shown for its own sake."""


@dataclass(frozen=True)
class Rule:
    """What a figure has to be.

    Parameters
    ----------
    kind : "at most", "at least", "within" or "equal"
    bound : float
    slack : float, >= 0
        Only for "within": the relative distance from `bound` that is allowed.
    """

    kind: Literal["at most", "at least", "within", "equal"]
    bound: float
    slack: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in _HOLDS:
            raise ParameterError(f"a rule is one of {', '.join(_HOLDS)}, not {self.kind!r}")
        if not math.isfinite(self.bound) or not self.slack >= 0.0:
            raise ParameterError(f"a rule needs a finite bound and a slack of at least 0: {self.bound}, {self.slack}")

    def holds(self, value: float) -> bool:
        """Whether a figure keeps the rule; NaN keeps none."""
        return bool(_HOLDS[self.kind](self, value))

    def __str__(self) -> str:
        if self.kind == "within":
            return f"within {100 * self.slack:g} % of {show(self.bound)}"
        return f"{self.kind} {show(self.bound)}"


_HOLDS = {
    "at most": lambda rule, value: value <= rule.bound,
    "at least": lambda rule, value: value >= rule.bound,
    "within": lambda rule, value: abs(value - rule.bound) <= rule.slack * abs(rule.bound),
    "equal": lambda rule, value: value == rule.bound,
}


def at_most(bound: float) -> Rule:
    """Keeps to figures up to `bound`."""
    return Rule("at most", float(bound))


def at_least(bound: float) -> Rule:
    """Keeps to figures from `bound` on."""
    return Rule("at least", float(bound))


def within(bound: float, slack: float) -> Rule:
    """Keeps to figures that differ from `bound` by at most `slack` of it."""
    return Rule("within", float(bound), float(slack))


def equal(bound: float) -> Rule:
    """Keeps to `bound` itself."""
    return Rule("equal", float(bound))


@dataclass(frozen=True)
class Row:
    """One line of a table of a paper.

    Parameters
    ----------
    what : str
        What is measured, with its unit.
    paper : float, optional
        The paper's figure, where it has one.
    ours : float, optional
        None when it was not measured in this run.
    rule : Rule, optional
        Without a rule there is no verdict.
    """

    what: str
    paper: float | None
    ours: float | None
    rule: Rule | None = None

    @property
    def ratio(self) -> float | None:
        """Ours by the paper's."""
        if self.paper is None or self.ours is None or self.paper == 0:
            return None
        return self.ours / self.paper

    @property
    def verdict(self) -> str:
        """What the rule says of our figure."""
        if self.rule is None:
            return NO_RULE
        if self.ours is None:
            return NOT_MEASURED
        return MET if self.rule.holds(self.ours) else MISSED


@dataclass(frozen=True)
class Table:
    """A table of a paper with verdicts."""

    title: str
    rows: Sequence[Row]
    note: str = ""

    columns = ("", "paper", "ours", "ratio", "rule", "verdict")

    def cells(self) -> list[tuple[str, ...]]:
        """The table as text."""
        return [
            (
                row.what,
                show(row.paper),
                show(row.ours),
                "" if row.ratio is None else f"{row.ratio:.3g}x",
                "" if row.rule is None else str(row.rule),
                row.verdict,
            )
            for row in self.rows
        ]

    def as_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        rows = [
            {
                "what": row.what,
                "paper": row.paper,
                "ours": row.ours,
                "ratio": row.ratio,
                "rule": None if row.rule is None else vars(row.rule),
                "verdict": row.verdict,
            }
            for row in self.rows
        ]
        return {"title": self.title, "note": self.note, "rows": rows}


@dataclass(frozen=True)
class Listing:
    """Figures without a verdict: what a reader wants to see beside the tables."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""

    def cells(self) -> list[tuple[str, ...]]:
        """The listing as text."""
        return [tuple(show(value) for value in row) for row in self.rows]

    def as_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "title": self.title,
            "note": self.note,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
        }


@dataclass(frozen=True)
class Headline:
    """A row that stands on the first page of a report.

    Parameters
    ----------
    table, row : str
        How the table's title and the row's text begin; the first row that fits both is taken.
    text : str
        What the row says to a reader who has not seen its table.
    """

    table: str
    row: str
    text: str

    def names(self, table: Table, row: Row) -> bool:
        """Whether it means this row of this table."""
        return table.title.startswith(self.table) and row.what.startswith(self.row)


@dataclass
class Tally:
    """How many rows of some tables have which verdict."""

    met: int = 0
    missed: int = 0
    not_measured: int = 0
    missed_rows: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, tables: Sequence[Table | Listing]) -> Tally:
        """Count the verdicts of some tables."""
        tally = cls()
        for table in tables:
            if not isinstance(table, Table):
                continue
            for row in table.rows:
                tally.met += row.verdict == MET
                tally.not_measured += row.verdict == NOT_MEASURED
                if row.verdict == MISSED:
                    tally.missed += 1
                    tally.missed_rows.append(f"{table.title}: {row.what}, {show(row.ours)} where {row.rule} is asked")
        return tally
