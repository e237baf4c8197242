"""`Link`: what a map tells about a way that a user has added to it."""

from __future__ import annotations

from typing import NamedTuple


class Link(NamedTuple):
    """A way between two places that need not be neighbours, as `add_link` made it: a ladder, a jump, a lift.

    >>> link = Link(0, start=(0, 0, 0), end=(0, 0, 12), cost=12.0, kind="ladder", both_ways=True)
    >>> link.kind, link.cost
    ('ladder', 12.0)
    """

    id: int
    """What `add_link` returned and `remove_link` takes; it stays with the map when that is saved."""
    start: tuple[float, float, float]
    """(x, y, z) where it begins, in the coordinates of the map."""
    end: tuple[float, float, float]
    """(x, y, z) where it leads to."""
    cost: float
    """What it costs, in the map's unit."""
    kind: str
    """What its maker called it; free text that means nothing to the map."""
    both_ways: bool
    """Whether it also leads from `end` to `start`."""
