"""The river: water between quays with a promenade on each side, stairs and ramps down to it, bridges across.

The promenade passes under every bridge, so there are two walkable levels there. It lies a metre above the water:
who walks cannot step onto the water, who swims or sails has it for himself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayfold.samples._builder import STEP, TREAD, Builder, lift
from wayfold.samples._city.streets import Streets
from wayfold.samples._city.terrain import BANK, KERB

Array = NDArray[np.float64]

PROMENADE = 1.0
"""Height of the promenade above the water, metres."""
QUAY = 4.0
"""Width of the pavement between the bank street and the quay wall, metres."""
_WALK = 5.0
"""Width of the promenade, metres."""
_TOP = BANK + KERB
_THICK = 0.5
_RISE = 0.8
"""How much a bridge's middle lies above its ends, metres."""
_RAIL = (0.2, 1.0)
"""Thickness and height of a railing wall, metres."""


def _across(left: Array, right: Array) -> list[Array]:
    """Lines along the river between bank polylines (n, 2): bank, quay, water edge, and the same on the other side."""
    over = right - left
    over /= np.hypot(over[:, 0], over[:, 1])[:, None]
    return [
        left,
        left + over * QUAY,
        left + over * (QUAY + _WALK),
        right - over * (QUAY + _WALK),
        right - over * QUAY,
        right,
    ]


def _bed(build: Builder, lines: list[Array]) -> None:
    """Quay walls, promenades and water along one stretch."""
    flow = [lines[4], lines[1][::-1]]
    brink = [lines[3], lines[2][::-1]]
    for quay, edge in zip(flow, brink, strict=True):
        build.strip(lift(quay, _TOP), lift(quay, PROMENADE), "wall")
        build.strip(lift(quay, PROMENADE), lift(edge, PROMENADE), "pavement")
        build.strip(lift(edge, PROMENADE), lift(edge, -1.0), "wall")
    build.strip(lift(lines[3], 0.0), lift(lines[2], 0.0), "water")


def build_river(build: Builder, streets: Streets, rng: np.random.Generator) -> None:
    """All reaches of the river and all bridges over it."""
    left, right = streets.river, streets.river + 1
    for low, high in zip(streets.bridges[:-1], streets.bridges[1:], strict=True):
        face = streets.face_of[streets.node(left, low), streets.node(right, low)]
        bank = [
            np.array([streets.corner(face, streets.node(column, row)) for row in range(low, high + 1)])
            for column in (left, right)
        ]
        _reach(build, streets, bank[0], bank[1], low, rng)
    for row in streets.bridges:
        a, b = streets.node(left, row), streets.node(right, row)
        above, below = streets.face_of[a, b], streets.face_of[b, a]
        ends = [np.array([streets.corner(face, node) for face in (below, above)]) for node in (a, b)]
        lines = _across(ends[0], ends[1])
        _bed(build, lines)
        _deck(build, lines)


def _reach(build: Builder, streets: Streets, left: Array, right: Array, low: int, rng: np.random.Generator) -> None:
    """The stretch between two bridges: bank corners (n, 2) of the rows from `low` on."""
    lines = _across(left, right)
    fine = []
    for line in lines:
        parts = [
            streets.pieces(streets.node(streets.river, low + k), streets.node(streets.river, low + k + 1))
            for k in range(len(left) - 1)
        ]
        place = np.concatenate([k + np.arange(n) / n for k, n in enumerate(parts)] + [[len(left) - 1.0]])
        fine.append(np.column_stack([np.interp(place, np.arange(len(line)), line[:, axis]) for axis in (0, 1)]))
    _bed(build, fine)
    for bank, quay in ((fine[0][::-1], fine[1][::-1]), (fine[5], fine[4])):
        build.strip(lift(bank, BANK), lift(bank, _TOP), "kerb")
        build.strip(lift(bank, _TOP), lift(quay, _TOP), "pavement")
    for quay in (lines[4], lines[1][::-1]):
        for k in range(len(quay) - 1):
            _descents(build, quay[k], quay[k + 1], rng)


def _descents(build: Builder, start: Array, end: Array, rng: np.random.Generator) -> None:
    """Stairs, or stairs and a ramp, along the quay wall from `start` to `end` (water on the left); railings."""
    length = float(np.hypot(*(end - start)))
    along = (end - start) / length
    water = np.array([-along[1], along[0]])
    fall = _TOP - PROMENADE
    wide, land, run = 2.0, 1.6, fall * 9.0
    steps = int(np.ceil(fall / STEP))
    stair = (steps - 2) * TREAD + 1.2
    gaps: list[tuple[float, float]] = []
    if length > stair + land + 4.0:
        at = 2.0 + float(rng.uniform(0, 0.2)) * (length - stair - land - 4.0)
        _landing(build, start + along * at, along, water, land, wide)
        top = start + along * (at + land) + water * wide / 2
        build.stairs([*top, _TOP], along, wide, fall, flights=2)
        gaps.append((at, at + land))
        beyond = at + land + stair + 1.5
        if length > beyond + run + land + 2.0:
            _landing(build, start + along * (length - 2.0 - land), along, water, land, wide)
            top = start + along * (length - 2.0 - land) + water * wide / 2
            build.ramp([*top, _TOP], -along, wide, fall, run, "ramp")
            gaps.append((length - 2.0 - land, length - 2.0))
    thick, tall = _RAIL
    solid = [0.0, *(edge for gap in gaps for edge in gap), length]
    for a, b in zip(solid[::2], solid[1::2], strict=True):
        corner = [*(start + along * a - water * thick), _TOP - 0.1]
        build.boxes(corner, [*(along * (b - a)), 0], [*(water * thick), 0], [0, 0, tall + 0.1], "rail")


def _landing(build: Builder, corner: Array, along: Array, water: Array, length: float, width: float) -> None:
    """A block against the quay wall, level with the pavement."""
    build.boxes(
        [*corner, PROMENADE - 0.3],
        [*(along * length), 0],
        [*(water * width), 0],
        [0, 0, _TOP - PROMENADE + 0.3],
        "pavement",
    )


def _deck(build: Builder, lines: list[Array]) -> None:
    """A bridge: road with raised pavements and railings, arched between the quays, level on the banks."""
    near = np.array([line[0] for line in lines])
    far = np.array([line[1] for line in lines])
    spans = np.linspace(0, 1, 9)[:, None]
    rail = [np.vstack([side[0], side[1] * (1 - spans) + side[4] * spans, side[5]]) for side in (near, far)]
    arch = BANK + np.concatenate([[0.0], 4 * _RISE * spans[:, 0] * (1 - spans[:, 0]), [0.0]])
    breadth = np.hypot(*(rail[1][0] - rail[0][0]))
    walk = 2.0 / breadth

    def line(share: float, height: Array | float) -> Array:
        return np.column_stack([rail[0] * (1 - share) + rail[1] * share, np.broadcast_to(height, arch.shape)])

    high = arch + KERB
    build.strip(line(0, high), line(walk, high), "pavement")
    build.strip(line(walk, arch), line(1 - walk, arch), "bridge")
    build.strip(line(1 - walk, high), line(1, high), "pavement")
    build.strip(line(walk, high), line(walk, arch), "kerb")
    build.strip(line(1 - walk, arch), line(1 - walk, high), "kerb")
    for end in (0, -1):
        for a, b in ((0.0, walk), (1 - walk, 1.0)):
            foot, top = (np.array([line(a, z)[end], line(b, z)[end]]) for z in (arch, high))
            order = slice(None) if end else slice(None, None, -1)
            build.strip(foot[order], top[order], "kerb")
    inner = slice(1, -1)
    under = arch[inner] - _THICK
    build.strip(
        line(1, 0.0)[inner, :2] @ np.eye(2, 3) + [0, 0, 1] * under[:, None],
        line(0, 0.0)[inner, :2] @ np.eye(2, 3) + [0, 0, 1] * under[:, None],
        "bridge",
    )
    thick, tall = _RAIL
    for share, inside in ((0.0, thick / breadth), (1.0, 1 - thick / breadth)):
        outer, top = line(share, high + tall)[inner], line(inside, high + tall)[inner]
        foot = line(inside, high)[inner]
        low = outer.copy()
        low[:, 2] = under
        forward = 1 if share == 0 else -1
        build.strip(low[::forward], outer[::forward], "bridge")
        build.strip(outer[::forward], top[::forward], "rail")
        build.strip(top[::forward], foot[::forward], "rail")
        for end in (0, -1):
            corners = [foot[end], outer[end] * [1, 1, 0] + [0, 0, foot[end][2]], outer[end], top[end]]
            turned = corners if (end == 0) == (share == 0) else corners[::-1]
            build.quads(turned[0], turned[1], turned[2], turned[3], "rail")
    across = (far[1] - near[1]) / breadth
    middle = (near[1] + near[4] + far[1] + far[4]) / 4
    for side in (-1, 1):
        along = (near[4] - near[1]) / np.hypot(*(near[4] - near[1]))
        centre = middle + along * side * 0.22 * np.hypot(*(near[4] - near[1]))
        corner = centre - along * 0.6 - across * (0.4 * breadth)
        build.boxes(
            [*corner, -1.5],
            [*(along * 1.2), 0],
            [*(across * 0.8 * breadth), 0],
            [0, 0, 1.9 + BANK],
            "wall",
            skip="bottom",
        )
