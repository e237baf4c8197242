"""Cheapest paths where kinds of area cost differently.

The quick corridor is widened, ring by ring, as far as time allows (a small mesh is in it as a whole). A search over
points of its portals finds the best of all corridors in it, and then the crossings move to where the path is cheapest.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.geometry._chain_kernels import Chain, Newton
from wayfold.geometry.frame import SAME_LENGTH
from wayfold.graph import _kernels as graph_kernels
from wayfold.graph import searcher
from wayfold.navmesh import _bound_kernels, _price_kernels, _weighted_kernels, queries
from wayfold.navmesh._bound_kernels import Intervals
from wayfold.navmesh._weighted_kernels import Crossings, Line
from wayfold.navmesh.scratch import Room, search_room
from wayfold.navmesh.state import Rates, State
from wayfold.path import Path, Status

Point = NDArray[np.float64]

_STEPS = 250_000
"""Points on portals times points on a portal, about: what one search may cost."""
_DOORS = (48_000, 6_000)
"""Doors (sides of portals) of the regions that are searched: a wide one, and a narrow one with more points."""
_FINE = 9
"""Points on a portal that are enough."""
_BOUND_STEPS = 4_000_000
"""Intervals of portals times intervals of a portal, about, in the search of a lower bound."""
_CELLS = 20
"""Intervals that half a portal is cut into at most for a lower bound."""
_GRADE = 1.5
"""How much shorter intervals are towards the ends of a portal."""


def _shares(finer: int) -> NDArray[np.float64]:
    """Points on a portal, denser towards its ends, where paths pass by corners."""
    half = 0.5 * (np.arange(1, finer + 1) / finer) ** 2
    return np.concatenate([[0.0], half, 1.0 - half[-2::-1], [1.0]])


_SHARES = tuple(_shares(finer) for finer in (1, 2, 3, 4, 6, 8, 12, 16))


class Query(NamedTuple):
    """What is asked for."""

    state: State
    rates: Rates
    starts: NDArray[np.int32]
    """Open polygons that hold the start."""
    goals: NDArray[np.int32]
    start: Point
    goal: Point


def cheapest(query: Query, quick: Path, budget: int) -> Path:
    """A path as cheap as any that was looked at, never dearer than `quick`, the path through a corridor."""
    best = quick
    if not best.found:
        return best
    expanded = best.expanded
    for doors in _DOORS:
        path, fine = _refined(query, budget - expanded, best.nodes, doors)
        expanded += path.expanded
        if path.cost < best.cost:
            best = path
        if not path.found or fine:
            break
    best.expanded = expanded
    best._lower_bound = partial(lower_bound, query, best.cost)
    return best


def lower_bound(query: Query, known: float) -> float:
    """Cost that no path from start to goal can be below; `known` is that of one path."""
    state, start, goal = query.state, query.start, query.goal
    layout, links, portals = state.layout, state.links, state.layout.portals
    count = len(portals.edges)
    cells = 2 * int(np.clip(np.sqrt(_BOUND_STEPS / max(1, count)) / 2, 1, _CELLS))
    half = 0.5 * (np.arange(cells // 2 + 1) / (cells // 2)) ** _GRADE
    intervals = Intervals(np.empty((count, cells + 1, 2)), np.empty(count * cells))
    _bound_kernels.cut(state.ground, layout.twins, portals, np.concatenate([half, 1.0 - half[-2::-1]]), intervals)
    memory = search_room(count * cells + 2 + len(links.costs))[0]
    prices = queries.prices_of(state, query.rates)
    ends = query.starts, start[0], start[1], query.goals, goal[0], goal[1]
    _bound_kernels.tilt(portals, prices, links, intervals, memory, *ends)
    _bound_kernels.level(portals, prices, intervals)
    bound = _bound_kernels.bound(portals, prices, links, intervals, memory, *ends, known)
    straight = queries.link_scale(state, query.rates.lowest) * float(np.hypot(*(goal[:2] - start[:2])))
    return min(known, max(straight, float(bound)) * (1.0 - SAME_LENGTH))


def _refined(query: Query, budget: int, seeds: NDArray[np.int32], doors: int) -> tuple[Path, bool]:
    """The cheapest path in a region around some polygons, and whether it was searched with points enough."""
    state, start, goal = query.state, query.start, query.goal
    ground, twins, portals, links = state.ground, state.layout.twins, state.layout.portals, state.links
    prices = queries.prices_of(state, query.rates)
    room = state.rooms.take()
    region = room.region
    seeds = np.concatenate([seeds, query.starts, query.goals])
    polygons, count = _weighted_kernels.widen(portals, prices, links, seeds, doors, region)
    shares = next((s for s in reversed(_SHARES) if count * s.size * s.size <= _STEPS), _SHARES[0])
    nodes = count * shares.size + 2 + len(links.costs)
    if nodes > room.via.size:
        room = Room(region, *search_room(nodes + nodes // 4))
    crossings = Crossings(shares, room.share, room.places, room.via)
    scale = queries.link_scale(state, query.rates.lowest)
    status, settled = _weighted_kernels.search_crossings(
        ground, twins, portals, prices, links, region, crossings, polygons, count, room.state,
        query.starts, start[0], start[1], query.goals, goal[0], goal[1], scale, budget,
    )  # fmt: skip
    path = Path(Status.UNREACHABLE, expanded=settled)
    if status == graph_kernels.FOUND:
        trail = searcher.trail(room.state, count * shares.size + 1)
        capacity = 2 * len(trail) + 2
        ints, floats = np.empty((5, capacity), np.int32), np.empty((9, capacity))
        chain = Chain(ints[0], ints[1], floats[0], ints[2], floats[1], floats[2], np.empty(capacity, np.bool_))
        line = Line(np.empty((capacity, 3)), ints[3], ints[4], floats[3], np.empty((2, 2)))
        way = np.empty(len(trail) + 1, np.int32)
        used, passed = _weighted_kernels.lay(
            ground, twins, portals, prices, links, region, crossings, count, trail, start, goal, chain, line, way
        )
        used, cost = _weighted_kernels.refine(
            ground, prices, links, chain, used, Newton(*floats[4:9]), line, start, goal, _price_kernels.new_front()
        )
        if cost < np.inf:
            path = Path(Status.FOUND, line.points[:used], nodes=way[:passed], cost=cost, expanded=settled)
    _weighted_kernels.leave(region, polygons, count)
    state.rooms.give(room)
    return path, shares.size >= _FINE
