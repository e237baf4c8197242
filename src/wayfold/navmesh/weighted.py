"""Cheapest paths where kinds of area cost differently.

The quick corridor is widened, ring by ring, as far as time allows (a small mesh is in it as a whole). A search over
points of its portals finds the best of all corridors in it, and then the crossings move to where the path is cheapest.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from wayfold.geometry._chain_kernels import Chain, Newton
from wayfold.geometry.frame import SAME_LENGTH
from wayfold.graph import _kernels as graph_kernels
from wayfold.graph import searcher
from wayfold.navmesh import _bound_kernels, _price_kernels, _weighted_kernels, queries
from wayfold.navmesh._weighted_kernels import Crossings, Line
from wayfold.navmesh.scratch import Room, search_room
from wayfold.navmesh.state import Rates, State
from wayfold.path import Path, Status

Point = NDArray[np.float64]

_STEPS = 250_000
"""Points on portals times points on a portal, about: what one search may cost."""
_DOORS = 6_000
"""Doors (sides of portals) of the region that is searched first."""


_BOUND_STEPS = 400_000
"""The same for the search of a lower bound."""
_CELLS = 32
"""Intervals that a portal is cut into at most for a lower bound."""


def _shares(finer: int) -> NDArray[np.float64]:
    """Points on a portal, denser towards its ends, where paths pass by corners."""
    half = 0.5 * (np.arange(1, finer + 1) / finer) ** 2
    return np.concatenate([[0.0], half, 1.0 - half[-2::-1], [1.0]])


_SHARES = tuple(_shares(finer) for finer in (1, 2, 3, 4, 6))


def cheapest(state: State, first: int, last: int, start: Point, goal: Point, rates: Rates, budget: int) -> Path:
    """A path that is as cheap as any that was looked at, never dearer than the corridor's."""
    best = queries.corridor(state, first, last, start, goal, rates, budget)
    if not best.found:
        return best
    expanded = best.expanded
    seeds, doors = best.nodes, _DOORS
    while True:
        path, whole, fine = _refined(state, first, last, start, goal, rates, budget - expanded, seeds, doors)
        expanded += path.expanded
        if path.cost < best.cost:
            best = path
        if not path.found or whole or fine:
            break
        seeds, doors = best.nodes, doors // 4
    best.expanded = expanded
    best._lower_bound = partial(lower_bound, state, first, last, start, goal, rates, best.cost)
    return best


def lower_bound(state: State, first: int, last: int, start: Point, goal: Point, rates: Rates, known: float) -> float:
    """Cost that no path from start to goal can be below; `known` is that of one path."""
    ground, layout, links = state.ground, state.layout, state.links
    portals = layout.portals
    count = len(portals.edges)
    cells = int(np.clip(np.sqrt(_BOUND_STEPS / max(1, count)), 1, _CELLS))
    ends = np.empty((count, cells + 1, 2))
    _bound_kernels.cut(ground, layout.twins, portals, np.linspace(0.0, 1.0, cells + 1), ends)
    memory = search_room(2 * count * cells + 2 + len(links.costs))[0]
    bound = _bound_kernels.bound(
        portals, queries.prices_of(state, rates), links, ends, memory, first, start[0], start[1], last, goal[0],
        goal[1], known,
    )  # fmt: skip
    straight = queries.link_scale(state, rates.lowest) * float(np.hypot(*(goal[:2] - start[:2])))
    return min(known, max(straight, float(bound) * (1.0 - SAME_LENGTH)))


def _refined(
    state: State,
    first: int,
    last: int,
    start: Point,
    goal: Point,
    rates: Rates,
    budget: int,
    seeds: NDArray[np.int32],
    doors: int,
) -> tuple[Path, bool, bool]:
    """The cheapest path in a region around some polygons; whether nothing is gained by a smaller region."""
    ground, layout, links = state.ground, state.layout, state.links
    portals, twins = layout.portals, layout.twins
    prices = queries.prices_of(state, rates)
    rooms = state.rooms
    room = rooms.take()
    region = room.region
    polygons, count = _weighted_kernels.widen(portals, prices, links, seeds, doors, region)
    shares = next((s for s in reversed(_SHARES) if count * s.size * s.size <= _STEPS), _SHARES[0])
    nodes = count * shares.size + 2 + len(links.costs)
    if nodes > room.via.size:
        room = Room(region, *search_room(nodes + nodes // 4))
    crossings = Crossings(shares, room.places, room.via)
    scale = queries.link_scale(state, rates.lowest)
    status, settled = _weighted_kernels.search_crossings(
        ground, twins, portals, prices, links, region, crossings, count, room.state, first, start[0], start[1],
        last, goal[0], goal[1], scale, budget,
    )  # fmt: skip
    path = Path(Status.UNREACHABLE, expanded=settled)
    if status == graph_kernels.FOUND:
        trail = searcher.trail(room.state, count * shares.size + 1)
        capacity = 2 * len(trail) + 2
        ints = np.empty((4, capacity), np.int32)
        floats = np.empty((9, capacity))
        chain = Chain(ints[0], ints[1], floats[0], np.empty(capacity, np.int32), floats[1], floats[2],
                      np.empty(capacity, np.bool_))  # fmt: skip
        line = Line(np.empty((capacity, 3)), ints[2], ints[3], floats[3], np.empty((2, 2)))
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
    rooms.give(room)
    return path, polygons == state.num_polygons, shares.size >= 9
