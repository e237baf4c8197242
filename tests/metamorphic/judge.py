"""Compares the answers of a changed world with those of the world as it was, and counts the comparisons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wayfold.errors import OffMapError

EXACT = 1e-9
"""Of the extent: what sums of a path's lengths may differ by where the map is exact. Far above rounding (some 1e-14),
far below any length that a corner or a door makes a difference of."""


@dataclass(frozen=True)
class Answer:
    """What one query gave: whether there is a way, what it costs, how long it is, and its number of corners."""

    found: bool
    cost: float
    length: float
    corners: int
    bound: float | None = None

    def __repr__(self):
        return f"{self.cost!r} m in {self.corners} points" if self.found else "no way"


def ask(query, *ends):
    """The answer of ``query(start, goal)``; None where an end is not on the map."""
    try:
        path = query(*ends)
    except OffMapError:
        return None
    return Answer(bool(path), float(path.cost), float(path.length), len(path.points))


def rounding(points):
    """Metres by which coordinates of this size are rounded when they are placed: an ulp of the largest."""
    return float(np.spacing(np.abs(points).max()))


def exact_tolerance(before, after, extent, points, moved=0.0):
    """How far two lengths of an exact map may differ.

    `EXACT` of the extent, and for every corner of both paths twice what the placement's rounding and a change of the
    borders may have moved it by, sideways and along, on the two stretches that meet there.
    """
    corners = before.corners + after.corners
    return EXACT * extent + 4 * corners * (rounding(points) + moved)


def wrong_answers(before, after, scale, tolerance, *, what):
    """One sentence for each wrong answer; `tolerance` gets the two answers of a query."""
    wrong = []
    for number, (a, b) in enumerate(zip(before, after, strict=True)):
        if a is None and b is None:
            continue
        if a is None or b is None or a.found != b.found:
            wrong.append(f"{what}, query {number}: {a} became {b}")
        elif a.found and not abs(a.cost * scale - b.cost) <= tolerance(a, b):
            wrong.append(f"{what}, query {number}: {a} times {scale:g} became {b}, more than {tolerance(a, b):.3g} off")
    return wrong


def dearer_than(best, answers, tolerance, *, what):
    """One sentence for each answer of a quick search that differs in `found` or is cheaper than the exact one."""
    wrong = []
    for number, (a, b) in enumerate(zip(best, answers, strict=True)):
        if a is None and b is None:
            continue
        if a is None or b is None or a.found != b.found:
            wrong.append(f"{what}, query {number}: exact says {a}, quick {b}")
        elif a.found and b.cost < a.cost - tolerance(a, b):
            wrong.append(f"{what}, query {number}: quick {b} is cheaper than exact {a}")
    return wrong


def verdict(wrong):
    """Fail with the first wrong answers and their number."""
    assert not wrong, f"{len(wrong)} wrong answers:\n" + "\n".join(wrong[:12])
