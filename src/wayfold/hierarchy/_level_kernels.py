# mypy: ignore-errors
"""The levels as the searches see them.

Nodes are numbered part by part, so that every part is a range of *places*; `Partition.order` leads back to the graph's
numbers. The nodes at the ends of edges between parts are *portals*; they have numbers of their own, those of the
highest level first, so that a search over the levels touches little memory.
"""

from typing import NamedTuple

import numpy as np

from wayfold.core.jit import implements, inline
from wayfold.graph._kernels import cost, distance, slots, target

ROUNDING = 2.0**-44  # of a distance from a landmark: more than what the sum of its arcs is rounded by


class Overlay(NamedTuple):
    """All levels in one pool of arcs.

    Arcs 0 to m - 1 are the edges of the graph, from place to place. The others lead from portal to portal. A portal of
    height h has rows 1 to h, one for each level: the inter-edges that leave its part and the intra-edges within it.
    """

    offsets: np.ndarray  # (n + 1,) int32, the edges of a place
    targets: np.ndarray  # (arcs,) int32
    costs: np.ndarray  # (arcs,) float32
    subs: np.ndarray  # (arcs - m,) int32, where the sub-path of an intra-edge is in `steps`; -1 for an inter-edge
    steps: np.ndarray  # (s,) uint16, sub-paths: how many members of the part they pass, then these
    places: np.ndarray  # (p,) int32, the place of a portal
    heights: np.ndarray  # (p,) uint8, highest level at which it is a portal, from 1
    rows: np.ndarray  # (p + 1,) int32, first row of a portal
    row_first: np.ndarray  # (r,) int32, first arc of a row; -1 while an update has set its part aside
    row_last: np.ndarray  # (r,) int32, one past its last arc
    row_base: np.ndarray  # (r,) int32, where the members of its part begin: a place (level 1), or an index of `members`
    members: np.ndarray  # (r,) int32, the portals of level 1, of level 2, ..., by place within a level
    starts: np.ndarray  # (parts of all levels + levels,) int32, first place of each part, and n at the end of a level
    level_starts: np.ndarray  # (levels + 2,) int32, where each level from 1 begins in `starts`
    landmarks: np.ndarray  # (p, k) float64, distance from each landmark of the portal's component


class Multilevel(NamedTuple):
    """One query's view of the levels: each portal uses the highest of its levels whose part does not hold the goal.

    The start needs no such care: a portal in its part leads out of the part by the part's own arcs.
    """

    overlay: Overlay
    near: np.ndarray  # (levels + 1, 2) int32, range of places of the goal's part at each level from 1
    marks: np.ndarray  # (k,) float64, the goal's distance from each landmark
    top: int  # highest level to use
    one_way: bool  # whether edges are one-way, so that distances from landmarks bound costs on one side only


@implements(slots, Multilevel)
def _(space, node):
    overlay = space.overlay
    row = overlay.rows[node] + level_of(overlay, space.near, space.top, node) - 1
    return overlay.row_first[row], overlay.row_last[row]


@implements(target, Multilevel)
def _(space, node, slot):
    return space.overlay.targets[slot]


@implements(cost, Multilevel)
def _(space, node, slot, successor):
    return np.float64(space.overlay.costs[slot])


@implements(distance, Multilevel)
def _(space, node, goal):
    landmarks = space.overlay.landmarks
    best = 0.0
    for mark in range(landmarks.shape[1]):
        bound = space.marks[mark] - landmarks[node, mark]
        if not space.one_way:
            bound = abs(bound)
        # Between two large distances that are nearly the same there is nothing but rounding.
        bound -= ROUNDING * space.marks[mark]
        if bound > best:
            best = bound
    return best


@inline
def level_of(overlay, near, top, node):
    """The level at which a portal is used: the highest, up to `top`, whose part does not hold the goal, at least 1.

    A part that an update has set aside is not used either: the level below leads through it.
    """
    level = min(np.int64(overlay.heights[node]), top)
    place = overlay.places[node]
    row = overlay.rows[node] - 1
    while level > 1 and (near[level, 0] <= place < near[level, 1] or overlay.row_first[row + level] < 0):
        level -= 1
    return level


@inline
def first_portal(overlay, place):
    """Index of `members` of the first portal at a place or behind it; the portals of level 1 come first there."""
    low, high = 0, overlay.places.size
    while low < high:
        middle = (low + high) >> 1
        if overlay.places[overlay.members[middle]] < place:
            low = middle + 1
        else:
            high = middle
    return low


class OnGround(NamedTuple):
    """The graph's edges inside one part; its nodes are the part's places, numbered from 0."""

    offsets: np.ndarray  # (n + 1,) int32
    targets: np.ndarray  # (arcs,) int32
    costs: np.ndarray  # (arcs,) float32
    first: int  # the part's range of places
    last: int


@implements(slots, OnGround)
def _(space, node):
    return space.offsets[space.first + node], space.offsets[space.first + node + 1]


@implements(target, OnGround)
def _(space, node, slot):
    place = np.int64(space.targets[slot])
    return place - space.first if space.first <= place < space.last else np.int64(-1)


@implements(cost, OnGround)
def _(space, node, slot, successor):
    return np.float64(space.costs[slot])


@implements(distance, OnGround)
def _(space, node, goal):
    return 0.0
