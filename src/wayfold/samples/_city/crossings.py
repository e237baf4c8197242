"""Ways for walkers to cross a street on another level: underpasses with stairs, footbridges with stairs in flights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.samples._builder import STEP, TREAD, Builder
from wayfold.samples._city.buildings import rectangle
from wayfold.samples._city.site import Site

Array = NDArray[np.float64]

_WIDE = 3.0
_HEADROOM = 2.6
_COVER = 0.7
"""Ground between the ceiling of an underpass and the road, metres."""
_DECK = 5.4
"""Height of a footbridge above the road, metres."""


@dataclass(frozen=True)
class Crossing:
    """A straight way across a street: `middle` on the street, unit direction `across`, where its two ends lie."""

    kind: str
    middle: Array
    across: Array
    starts: tuple[float, float]
    """Distance from the middle at which the stairs begin, on the side `across` points to and on the other."""
    runs: tuple[float, float]
    """Length of the stairs on both sides."""
    level: float
    """Height of the tunnel floor or of the deck."""

    def well(self, side: int, extra: float = 0.0) -> Any:
        """Ground that the stairs on one side take, lengthened by `extra` at the far end and widened by it."""
        way = self.across * (1 if side == 0 else -1)
        start, run = self.starts[side], self.runs[side]
        return rectangle(self.middle + way * (start + (run + extra) / 2), way, run + extra, _WIDE + extra)


def plan_crossing(site: Site, kind: str, middle: Array, across: Array, setback: tuple[float, float]) -> Crossing:
    """Heights and lengths of a crossing whose stairs begin `setback` from the middle of the street."""
    span = np.linspace(-setback[1], setback[0], 9)[:, None]
    road = site.terrain(middle + span * across)
    level = float(road.min() - _COVER - _HEADROOM) if kind == "underpass" else float(road.max() + _DECK)
    runs = []
    for way, start in ((across, setback[0]), (-across, setback[1])):
        run = 8.0
        for _ in range(4):
            ground = float(site.terrain.pavement((middle + way * (start + run))[None])[0])
            steps = int(np.ceil(abs(ground - level) / STEP - 1e-9))
            run = (steps - 1) * TREAD + (1.2 - TREAD) * (kind == "footbridge")
        runs.append(run)
    return Crossing(kind, middle, across, setback, (runs[0], runs[1]), level)


def build_crossing(site: Site, crossing: Crossing) -> None:
    """Stairs on both sides and what joins them."""
    for side in (0, 1):
        way = crossing.across * (1 if side == 0 else -1)
        near = crossing.middle + way * crossing.starts[side]
        far = near + way * crossing.runs[side]
        ground = float(site.terrain.pavement(far[None])[0])
        if crossing.kind == "underpass":
            site.build.stairs([*far, ground], -way, _WIDE, ground - crossing.level, foot=0.3)
            _well(site, crossing, side, way, near, far)
        else:
            site.build.stairs([*near, crossing.level], way, _WIDE, crossing.level - ground, flights=2, foot=0.6)
    if crossing.kind == "underpass":
        _tunnel(site.build, crossing)
    else:
        _span(site.build, crossing)


def _ends(crossing: Crossing) -> tuple[Array, Array, Array]:
    """Both ends of the level part and the vector from its middle line to its left edge."""
    first = crossing.middle - crossing.across * crossing.starts[1]
    last = crossing.middle + crossing.across * crossing.starts[0]
    return first, last, np.array([-crossing.across[1], crossing.across[0]]) * (_WIDE / 2)


def _tunnel(build: Builder, crossing: Crossing) -> None:
    """Floor, ceiling and side walls below the street."""
    first, last, left = _ends(crossing)
    low = [np.array([*p, crossing.level]) for p in (first - left, last - left, last + left, first + left)]
    high = [p + np.array([0, 0, _HEADROOM]) for p in low]
    build.quads(low[0], low[1], low[2], low[3], "tunnel")
    build.quads(high[3], high[2], high[1], high[0], "ceiling")
    build.quads(low[1], low[0], high[0], high[1], "wall")
    build.quads(low[3], low[2], high[2], high[3], "wall")


def _well(site: Site, crossing: Crossing, side: int, way: Array, near: Array, far: Array) -> None:
    """The open pit of the stairs: walls down to the floor on three sides and railings around the rim."""
    build = site.build
    left = np.array([-way[1], way[0]]) * (_WIDE / 2)
    rim = np.array([far - left, near - left, near + left, far + left])
    top = np.column_stack([rim, site.terrain.pavement(rim)])
    bottom = top.copy()
    bottom[:, 2] = crossing.level - 0.3
    bottom[1:3, 2] = crossing.level
    lintel = top[1:3].copy()
    lintel[:, 2] = crossing.level + _HEADROOM
    # faces look into the pit
    build.quads(bottom[0], bottom[1], top[1], top[0], "wall")
    build.quads(bottom[2], bottom[3], top[3], top[2], "wall")
    build.quads(lintel[0], lintel[1], top[2], top[1], "wall")
    build.quads(bottom[3], bottom[0], top[0], top[3], "wall")
    out = left / (_WIDE / 2) * 0.2
    run = far - near
    for corner, edge, thick in (
        (near + left, run, out),
        (near - left - out, run, out),
        (near - left - out - way * 0.2, 2 * left + 2 * out, way * 0.2),
    ):
        base = float(site.terrain.pavement(near[None])[0])
        far_base = float(site.terrain.pavement(far[None])[0])
        u, v = (edge, thick) if edge[0] * thick[1] - edge[1] * thick[0] > 0 else (thick, edge)
        origin = [*corner, min(base, far_base) - 0.4]
        build.boxes(origin, [*u, 0], [*v, 0], [0, 0, abs(base - far_base) + 1.4], "rail")


def _span(build: Builder, crossing: Crossing) -> None:
    """Deck of a footbridge with railings."""
    first, last, left = _ends(crossing)
    ahead, side = np.array([*(last - first), 0.0]), np.array([*left, 0.0]) * 2
    origin = np.array([*(first - left), crossing.level - 0.35])
    build.boxes(origin, ahead, side, [0, 0, 0.35], "bridge")
    rail = side / _WIDE * 0.15
    for corner in (origin, origin + side - rail):
        build.boxes(corner + np.array([0, 0, 0.35]), ahead, rail, [0, 0, 1.1], "rail")
