"""Compares the answers of a changed world with those of the world as it was, and counts the comparisons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wayfold.errors import OffMapError, WayfoldError

EXACT = 1e-9
"""Of the extent: what sums of a path's lengths may differ by where the map is exact. Far above rounding (some 1e-14),
far below any length that a corner or a door makes a difference of."""


@dataclass(frozen=True)
class Answer:
    """What one query gave: whether there is a way, what it costs, how long it is, its corners, and how far it turns."""

    found: bool
    cost: float
    length: float
    corners: int
    turning: float = 0.0  # radians, all turns seen from above
    bound: float | None = None  # certified lower bound of the cost, where it was asked for

    def __repr__(self):
        return f"{self.cost!r} m in {self.corners} points" if self.found else "no way"


def ask(query, *ends, bound=False):
    """The answer of ``query(start, goal)``, with its lower bound if wanted; None where an end is not on the map."""
    try:
        path = query(*ends)
    except OffMapError:
        return None
    least = path.lower_bound if bound and path else None
    return Answer(bool(path), float(path.cost), float(path.length), len(path.points), turning(path.points), least)


def turning(points):
    """Sum of the turns of a polyline, radians, seen from above."""
    steps = np.diff(points[:, :2], axis=0)
    steps = steps[np.hypot(*steps.T) > 0]
    angles = np.diff(np.arctan2(steps[:, 1], steps[:, 0]))
    return float(np.abs((angles + np.pi) % (2 * np.pi) - np.pi).sum())


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


def grown_tolerance(before, after, away):
    """How far two lengths may differ on maps that know walls only to a distance `away`, metres.

    A taut string around walls that are grown by a distance is longer by that distance times its turns, in radians. A
    string that was straight may turn once each way where the walls reach it.
    """
    return away * (max(before.turning, after.turning) + np.pi)


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


def within_bounds(before, after, scale, tolerance, *, what):
    """One sentence for each answer that costs less than the bound that the other world certifies for it.

    `tolerance` gets the two answers: by how much the worlds themselves differ.
    """
    wrong = []
    for number, (a, b) in enumerate(zip(before, after, strict=True)):
        if a is None and b is None:
            continue
        if a is None or b is None or a.found != b.found:
            wrong.append(f"{what}, query {number}: {a} became {b}")
        elif a.found and b.bound is not None and b.bound > a.cost * scale + tolerance(a, b):
            wrong.append(f"{what}, query {number}: {a} times {scale:g} is below the certified {b.bound}")
        elif a.found and a.bound is not None and a.bound * scale > b.cost + tolerance(a, b):
            wrong.append(f"{what}, query {number}: {b} is below the certified {a.bound} times {scale:g}")
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


def attempt(wrong, what, make, *arguments):
    """What ``make(*arguments)`` gives; None, and one sentence more, where a changed world is refused."""
    try:
        return make(*arguments)
    except (WayfoldError, ValueError, IndexError) as error:
        wrong.append(f"{what}: refused, {type(error).__name__}: {error}")
        return None


def verdict(wrong):
    """Fail with the first wrong answers and their number."""
    assert not wrong, f"{len(wrong)} wrong answers:\n" + "\n".join(wrong[:12])
