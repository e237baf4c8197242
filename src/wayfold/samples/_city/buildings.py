"""Buildings: boxes, L and U shapes, courtyards with gateways, towers with setbacks, pitched roofs, arcades, terraces.

Each maker takes the footprint that a plot allows and returns the part of the ground that it stands on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from wayfold.samples._builder import STEP, TREAD, ring_of
from wayfold.samples._city.streets import Site

Array = NDArray[np.float64]

STOREY = 3.4
"""Height of one storey in metres: twenty steps."""
_SUNK = 1.2
"""How far walls go below the lowest ground at their foot."""


def shrink(polygon: Any, distance: float) -> Any:
    """A polygon with its sides moved inwards; its corners stay sharp. The largest part, possibly empty."""
    inner = polygon.buffer(-distance, join_style="mitre")
    parts = shapely.get_parts(inner)
    return max(parts, key=lambda part: float(part.area)) if len(parts) else Polygon()


def frame(polygon: Any) -> tuple[Array, Array, float, float]:
    """Middle, unit direction of the long side, length and breadth of the tightest rectangle around a polygon."""
    box = np.asarray(shapely.get_coordinates(shapely.oriented_envelope(polygon)))[:4]
    sides = box[1:3] - box[0:2]
    length = np.hypot(sides[:, 0], sides[:, 1])
    long = int(length[1] > length[0])
    return box.mean(axis=0), sides[long] / length[long], float(length[long]), float(length[1 - long])


def rectangle(middle: Array, along: Array, length: float, breadth: float) -> Any:
    """A rectangle by its middle, the unit direction of its length and its sides."""
    half, side = along * (length / 2), np.array([-along[1], along[0]]) * (breadth / 2)
    return Polygon([middle - half - side, middle + half - side, middle + half + side, middle - half + side])


def raise_building(site: Site, plot: Any, central: float) -> Any:
    """Put some building on a plot; `central` (0 to 1) makes tall ones likelier. Returns the ground it takes."""
    rng = site.rng
    middle, along, length, breadth = frame(plot)
    storeys = int(rng.integers(2, 6)) + int(central * rng.integers(0, 6))
    tower = rng.random() < 0.1 + 0.5 * central**2
    chance = rng.random()
    if tower and breadth > 14 and site.tallest > 30:
        return _tower(site, plot, central)
    if breadth > 26 and chance < 0.6:
        return _courtyard(site, plot, storeys, along)
    if 15 < length < 40 and breadth > 10 and chance < 0.09:
        return _terrace_house(site, plot, middle, along)
    if len(ring_of(plot)) == 4 and breadth < 15 and chance < 0.7:
        return _pitched(site, plot, min(storeys, 4), hipped=chance < 0.3)
    if breadth > 13 and chance < 0.55:
        return _notched(site, plot, storeys, middle, along, length, breadth)
    if breadth > 11 and chance > 0.88:
        return _arcade(site, plot, storeys)
    low, high = site.ground(plot)
    _flat(site, plot, low - _SUNK, high + storeys * STOREY)
    return plot


def _flat(site: Site, polygon: Any, low: float, high: float, *, under: str = "") -> None:
    """A volume with a flat roof behind a parapet."""
    inner = polygon.buffer(-0.35, join_style="mitre")
    if inner.is_empty or inner.geom_type != "Polygon":
        site.volume(polygon, low, high, under=under)
        return
    build = site.build
    build.walls(polygon, low, high + 1.0, "wall")
    build.polygon(polygon.difference(inner), high + 1.0, "wall")
    build.walls(inner, high, high + 1.0, "wall", inward=True)
    build.polygon(inner, high, "roof")
    if under:
        build.polygon(polygon, low, under, up=False)
    site.remember(polygon, low, high)
    site.roofs.append((ring_of(inner), high))


def _tower(site: Site, plot: Any, central: float) -> Any:
    """A base and one to three tiers, each set back from the one below."""
    rng = site.rng
    low, high = site.ground(plot)
    height = site.tallest * float(rng.uniform(0.25, 0.55) + 0.5 * central * rng.random())
    tiers = [plot]
    for _ in range(int(rng.integers(1, 4))):
        following = shrink(tiers[-1], float(rng.uniform(1.5, 4.0)))
        if following.is_empty or frame(following)[3] < 9:
            break
        tiers.append(following)
    share = np.sort(rng.uniform(0.15, 0.85, len(tiers) - 1))
    tops = high + height * np.concatenate([share, [1.0]])
    floor = low - _SUNK
    for k, (tier, top) in enumerate(zip(tiers, tops, strict=True)):
        if k + 1 < len(tiers):
            site.build.walls(tier, floor, top, "wall")
            site.build.polygon(tier.difference(tiers[k + 1]), top, "terrace")
            site.remember(tier, floor, top)
        else:
            _flat(site, tier, floor, top)
        floor = top
    return plot


def _courtyard(site: Site, plot: Any, storeys: int, along: Array) -> Any:
    """A ring of building around a court, which is entered through gateways under the upper floors."""
    court = shrink(plot, 9.0)
    if court.is_empty or court.area < 40:
        low, high = site.ground(plot)
        _flat(site, plot, low - _SUNK, high + storeys * STOREY)
        return plot
    low, high = site.ground(plot)
    gate = rectangle(np.asarray(court.centroid.coords[0]), along, 400.0, 4.0)
    ring = plot.difference(court)
    ground = ring.difference(gate)
    for part in shapely.get_parts(ground):
        site.build.walls(part, low - _SUNK, high + 4.0, "wall")
    top = high + max(storeys, 3) * STOREY
    site.build.polygon(ring.intersection(gate), high + 4.0, "ceiling", up=False)
    # the walls above the gateway start where the ground floor ends
    _flat_ring(site, ring, high + 4.0, top)
    return ground


def _flat_ring(site: Site, ring: Any, low: float, high: float) -> None:
    """Upper floors of a building around a court."""
    site.build.walls(ring, low, high, "wall")
    site.build.polygon(ring, high, "roof")
    site.remember(Polygon(ring.exterior), low, high)


def _notched(site: Site, plot: Any, storeys: int, middle: Array, along: Array, length: float, breadth: float) -> Any:
    """An L (a corner missing) or a U (a bay missing)."""
    rng = site.rng
    side = np.array([-along[1], along[0]]) * rng.choice([-1.0, 1.0])
    if rng.random() < 0.5:
        corner = middle + along * rng.choice([-1.0, 1.0]) * length / 2 + side * breadth / 2
        cut = rectangle(corner, along, length * rng.uniform(0.8, 1.1), breadth * rng.uniform(0.8, 1.1))
    else:
        cut = rectangle(middle + side * breadth / 2, along, length * rng.uniform(0.3, 0.45), breadth)
    shape = plot.difference(cut)
    if shape.geom_type != "Polygon" or shape.area < 50:
        shape = plot
    low, high = site.ground(shape)
    _flat(site, shape, low - _SUNK, high + storeys * STOREY)
    return shape


def _pitched(site: Site, plot: Any, storeys: int, *, hipped: bool) -> Any:
    """A house with a gabled or hipped roof over a four-sided plan."""
    ring = ring_of(plot)
    sides = np.hypot(*(np.roll(ring, -1, axis=0) - ring).T)
    if sides[1] + sides[3] > sides[0] + sides[2]:
        ring = np.roll(ring, -1, axis=0)
        sides = np.roll(sides, -1)
    low, high = site.ground(plot)
    eaves = high + storeys * STOREY
    site.build.walls(plot, low - _SUNK, eaves, "wall")
    site.remember(plot, low - _SUNK, eaves)
    corner = np.column_stack([ring, np.full(4, eaves)])
    rise = [0, 0, 0.36 * min(sides[1], sides[3])]
    first, second = (corner[1] + corner[2]) / 2 + rise, (corner[3] + corner[0]) / 2 + rise
    if hipped:
        inward = 0.5 * min(sides[1], sides[3]) / max(sides[0], sides[2])
        first, second = first + (second - first) * min(inward, 0.45), second + (first - second) * min(inward, 0.45)
    build = site.build
    build.quads(corner[0], corner[1], first, second, "roof")
    build.quads(corner[2], corner[3], second, first, "roof")
    build.triangles([[corner[1], corner[2], first], [corner[3], corner[0], second]], "roof" if hipped else "wall")
    return plot


def _arcade(site: Site, plot: Any, storeys: int) -> Any:
    """Upper floors that stand out over a covered walk, carried by columns at the edge."""
    core = shrink(plot, 3.2)
    low, high = site.ground(plot)
    if core.is_empty or frame(core)[3] < 4:
        _flat(site, plot, low - _SUNK, high + storeys * STOREY)
        return plot
    ceiling = high + 4.2
    site.build.walls(core, low - _SUNK, ceiling, "wall")
    _flat(site, plot, ceiling, ceiling + max(storeys - 1, 2) * STOREY, under="ceiling")
    line = shrink(plot, 0.5).exterior
    count = max(4, int(line.length / 8.0))
    spots = np.asarray(
        shapely.get_coordinates(shapely.line_interpolate_point(line, np.arange(count) * line.length / count))
    )
    foot = np.column_stack([spots, np.full(count, low - 0.5)])
    site.build.prisms(foot, 0.3, ceiling - low + 0.5, 4, "column")
    return core


def _terrace_house(site: Site, plot: Any, middle: Array, along: Array) -> Any:
    """A house with a roof terrace behind a parapet that outdoor stairs lead up to, in two or more flights."""
    house = _inscribed(plot, middle, along)
    if house is None:
        low, high = site.ground(plot)
        _flat(site, plot, low - _SUNK, high + 2 * STOREY)
        return plot
    centre, long, broad = house
    side = np.array([-along[1], along[0]])
    wide = 1.6
    body = rectangle(centre + side * (wide / 2), along, long, broad - wide)
    low, high = site.ground(body)
    foot_end = centre + along * (long / 2 - 0.2) - side * (broad / 2 - wide / 2)
    floor = float(site.terrain.pavement(foot_end[None])[0])
    storeys = 2 if (long - 3.0) > 2 * STOREY / STEP * TREAD + 1.2 else 1
    top = max(high, floor) + storeys * STOREY
    fall = top - floor
    steps = int(np.ceil(fall / STEP - 1e-9))
    run = (steps - 1) * TREAD + (1.2 - TREAD) * (storeys - 1)
    if run > long - 1.6:
        _flat(site, body, low - _SUNK, top)
        return body
    build = site.build
    build.walls(body, low - _SUNK, top, "wall")
    build.polygon(body, top, "terrace")
    site.remember(body, low - _SUNK, top)
    upper = foot_end - along * run
    build.stairs([*upper, top], along, wide, fall, flights=storeys, foot=1.0)
    # a landing beside the roof's edge, level with it, from which one steps over onto the terrace
    corner = upper - along * 1.4 - side * (wide / 2)
    build.boxes([*corner, low - _SUNK], [*(along * 1.4), 0], [*(side * wide), 0], [0, 0, top - low + _SUNK], "stairs")
    _parapet(site, body, top, upper - along * 0.7 + side * (wide / 2))
    shaft = rectangle(upper + along * (run - 1.4) / 2, along, run + 1.4, wide + 0.02)
    return shapely.union_all([body, shaft], grid_size=1e-4)


def _parapet(site: Site, body: Any, top: float, gap: Array) -> None:
    """Walls a metre high along the edge of a roof, open around `gap`."""
    opening = shapely.Point(gap).buffer(0.7)
    rim = shapely.difference(body.difference(body.buffer(-0.25, join_style="mitre")), opening)
    for part in shapely.get_parts(rim):
        site.build.extrude(part, top, top + 1.0, "wall", "wall")


def _inscribed(plot: Any, middle: Array, along: Array) -> tuple[Array, float, float] | None:
    """Middle, length and breadth of a good-sized rectangle along `along` within a plot, if there is one."""
    _, _, length, breadth = frame(plot)
    for share in (1.0, 0.92, 0.84, 0.76, 0.68):
        trial = rectangle(middle, along, length * share - 0.1, breadth * share - 0.1)
        if plot.buffer(0.01).contains(trial) and breadth * share > 8:
            return middle, length * share - 0.1, breadth * share - 0.1
    return None
