"""City blocks: pavement, plots with buildings, parks and podiums, crossings on other levels, street furniture."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon

from wayfold.samples._builder import STEP, TREAD, Builder, lift, ring_of, subdivide
from wayfold.samples._city.buildings import frame, raise_building, rectangle, shrink
from wayfold.samples._city.streets import KERB, Face, Site, Streets, inset

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


_TREE, _LAMP, _BALCONY, _PLANT = 32, 18, 10, 10
"""Triangles of one piece of each kind (a balcony has no back, a plant room no underside)."""
_FLOOR = 3.4


def furnish(site: Site, triangles: int) -> None:
    """Add details worth about `triangles` triangles: first trees and lamps, then roof plant, then balconies."""
    rng = site.rng
    trees = _some(rng, site.trees, int(0.45 * triangles) // _TREE)
    lamps = _some(rng, site.lamps, int(0.15 * triangles) // _LAMP)
    left = triangles - _plant_trees(site, trees) - _stand_lamps(site, lamps)
    left -= _roof_plant(site, left // 4 // _PLANT)
    _balconies(site, left // _BALCONY)


def _some(rng: np.random.Generator, places: list[Array], count: int) -> Array:
    """At most `count` of the places, in random order."""
    every = np.concatenate(places) if places else np.empty((0, 2))
    return np.asarray(every[rng.permutation(len(every))[: max(0, count)]])


def _plant_trees(site: Site, spots: Array) -> int:
    """Trees whose crowns begin above head height; returns the triangles used."""
    before, build = site.build.count, site.build
    foot = lift(spots, site.terrain.pavement)
    size = site.rng.uniform(0.8, 1.4, len(spots))
    trunk = 3.2 * size
    build.prisms(foot - [0, 0, 0.3], 0.18 * size, trunk + 0.3, 4, "trunk", taper=0.8)
    waist = foot + np.column_stack([np.zeros((len(spots), 2)), trunk + 1.0 * size])
    build.prisms(waist, 2.0 * size, 3.4 * size, 6, "tree", taper=0.0)
    # the lower half of the crown: the same pyramid, shallow and upside down
    around = np.arange(6) * (np.pi / 3)
    ring = np.column_stack([np.cos(around), np.sin(around), np.zeros(6)])
    rim = waist[:, None] + ring * (2.0 * size)[:, None, None]
    tip = np.broadcast_to((waist - np.array([0, 0, 1.0]) * size[:, None])[:, None], rim.shape)
    build.triangles(np.stack([rim, tip, np.roll(rim, -1, axis=1)], axis=2), "tree")
    return site.build.count - before


def _stand_lamps(site: Site, spots: Array) -> int:
    """Thin posts with a lantern on top."""
    before = site.build.count
    foot = lift(spots, site.terrain.pavement) - [0, 0, 0.2]
    site.build.prisms(foot, 0.1, 5.2, 3, "lamp")
    site.build.prisms(foot + np.array([0, 0, 5.2]), 0.35, 0.5, 3, "lamp", taper=0.5)
    return site.build.count - before


def _roof_plant(site: Site, count: int) -> int:
    """Boxes on flat roofs, well inside the parapet."""
    before, rng = site.build.count, site.rng
    if not site.roofs or count <= 0:
        return 0
    chosen = rng.integers(0, len(site.roofs), count)
    corner = np.array([site.roofs[k][0].min(axis=0) for k in chosen])
    span = np.array([site.roofs[k][0].max(axis=0) for k in chosen]) - corner
    size = rng.uniform(1.0, 3.0, (count, 3)) * [1, 1, 0.8]
    origin = corner + rng.uniform(0, 1, (count, 2)) * np.maximum(span - size[:, :2], 0.0)
    boxes = shapely.box(origin[:, 0], origin[:, 1], origin[:, 0] + size[:, 0], origin[:, 1] + size[:, 1])
    roofs = np.array([shapely.Polygon(ring) for ring, _ in site.roofs])
    good = shapely.contains(roofs[chosen], boxes)
    base = np.column_stack([origin, [site.roofs[k][1] for k in chosen]])[good]
    u, v, w = (np.where(np.arange(3) == axis, size[good], 0.0) for axis in range(3))
    site.build.boxes(base, u, v, w, "roof", skip="bottom")
    return site.build.count - before


def _balconies(site: Site, count: int) -> None:
    """Ledges on facades, at storeys above the first, from 3.4 m above the highest pavement on."""
    if not site.facades or count <= 0:
        return
    walls = np.concatenate(site.facades)
    length = np.hypot(walls[:, 2] - walls[:, 0], walls[:, 3] - walls[:, 1])
    foot = np.maximum(site.terrain.pavement(walls[:, :2]), site.terrain.pavement(walls[:, 2:4]))
    foot = np.maximum(foot, walls[:, 4])
    storeys = np.floor((walls[:, 5] - foot - 1.5) / _FLOOR).astype(int)
    bays = np.floor((length - 1.0) / 4.0).astype(int)
    places = np.maximum(storeys, 0) * np.maximum(bays, 0)
    total = int(places.sum())
    if total == 0:
        return
    pick = site.rng.permutation(total)[:count]
    ends = np.cumsum(places)
    wall = np.searchsorted(ends, pick, side="right")
    rest = pick - (ends - places)[wall]
    bay, storey = rest % bays[wall], rest // bays[wall] + 1
    ahead = (walls[wall, 2:4] - walls[wall, :2]) / length[wall, None]
    out = np.column_stack([ahead[:, 1], -ahead[:, 0]])
    middle = (bay + 0.5) * (length[wall] / bays[wall])
    corner = walls[wall, :2] + ahead * (middle - 1.2)[:, None] + out * 0.8
    origin = np.column_stack([corner, foot[wall] + storey * _FLOOR - 0.2])
    flat = np.zeros((len(pick), 1))
    along = np.column_stack([ahead * 2.4, flat])
    inward = np.column_stack([-out * 0.8, flat])
    up = np.tile([0.0, 0.0, 0.9], (len(pick), 1))
    a, b, c, d = origin, origin + along, origin + along + inward, origin + inward
    build = site.build
    build.quads(a, b, b + up, a + up, "balcony")
    build.quads(b, c, c + up, b + up, "balcony")
    build.quads(d, a, a + up, d + up, "balcony")
    build.quads(a + up, b + up, c + up, d + up, "balcony")
    build.quads(d, c, b, a, "balcony")


PAVEMENT = 3.2
"""Width of the pavement around a block, metres."""


def build_blocks(site: Site, streets: Streets, plot_area: float) -> None:
    """Everything inside the kerbs of all blocks."""
    insides = {number: _inner(face) for number, face in enumerate(streets.faces) if face.kind == "block"}
    inner = {number: ring for number, ring in insides.items() if ring is not None}
    kinds = _zone(site, inner)
    crossings = _choose_crossings(site, streets, inner)
    for number, face in enumerate(streets.faces):
        if face.kind != "block":
            continue
        outer = subdivide(face.corners, face.pieces)
        build = site.build
        build.strip(lift(outer, site.terrain), lift(outer, site.terrain.pavement), "kerb", closed=True)
        ring = inner.get(number)
        if ring is None:
            build.polygon(Polygon(outer), site.terrain.pavement, "pavement")
            continue
        fine = subdivide(ring, face.pieces)
        build.strip(lift(outer, site.terrain.pavement), lift(fine, site.terrain.pavement), "pavement", closed=True)
        _line_street(site, face, ring)
        here = [(crossing, side) for crossing, *sides in crossings for side in (0, 1) if sides[side] == number]
        _fill(site, kinds[number], fine, here, plot_area)
    for crossing, _, _ in crossings:
        build_crossing(site, crossing)


def _inner(face: Face) -> Array | None:
    """Corners of a block inside its pavement, or None where the block is too small for an inside."""
    ring = inset(face.corners, np.full(len(face.corners), PAVEMENT))
    shape, outer = Polygon(ring), Polygon(face.corners)
    if not shape.is_valid or not shape.exterior.is_ccw or shape.area < 150 or not outer.contains(shape):
        return None
    return ring


def _zone(site: Site, inner: dict[int, Array]) -> dict[int, str]:
    """What each block is: mostly built, some parks, squares and podiums, at least one of each where there is room."""
    rng = site.rng
    numbers = list(inner)
    rng.shuffle(numbers)
    kinds = dict.fromkeys(numbers, "built")
    spare = [n for n in numbers if frame(Polygon(inner[n]))[3] > 24]
    podium = [n for n in spare if frame(Polygon(inner[n]))[3] > 40]
    modest = sorted(spare, key=lambda n: float(Polygon(inner[n]).area))[: len(spare) // 2]
    for wanted, share, among in (("podium", 0.06, podium), ("park", 0.1, spare), ("square", 0.08, modest)):
        free = [n for n in among if kinds[n] == "built"]
        count = max(1, round(share * len(numbers))) if len(numbers) > 3 else 0
        for number in free[:count]:
            kinds[number] = wanted
    return kinds


def _choose_crossings(site: Site, streets: Streets, inner: dict[int, Array]) -> list[tuple[Crossing, int, int]]:
    """Underpasses and footbridges at mid-block, at most one for each block and about one for every six."""
    rng = site.rng
    edges = list(streets.widths)
    rng.shuffle(edges)
    wanted = max(2, len(inner) // 6)
    used: set[int] = set()
    found: list[tuple[Crossing, int, int]] = []
    for a, b in edges:
        left, right = streets.face_of[a, b], streets.face_of[b, a]
        if left not in inner or right not in inner or left in used or right in used or len(found) >= wanted:
            continue
        along = streets.points[b] - streets.points[a]
        along /= np.hypot(*along)
        across = np.array([-along[1], along[0]])
        corners = [streets.corner(face, node) for face in (left, right) for node in (a, b)]
        middle = np.mean(corners, axis=0)
        # both sides of the street are straight between corners; measure to the nearer edge of each inside
        back = tuple(
            float(np.abs((streets.corner(face, a) - middle) @ across)) + PAVEMENT + 0.8 for face in (left, right)
        )
        kind = "underpass" if len(found) % 2 == 0 else "footbridge"
        crossing = plan_crossing(site, kind, middle, across, (back[0], back[1]))
        if all(
            Polygon(inner[face]).buffer(-0.3).contains(crossing.well(side, 2.2))
            for side, face in enumerate((left, right))
        ):
            found.append((crossing, left, right))
            used |= {left, right}
    return found


def _line_street(site: Site, face: Face, ring: Array) -> None:
    """Places for trees and lamp posts along the kerb."""
    for k in range(len(ring)):
        a, b = face.corners[k], face.corners[(k + 1) % len(ring)]
        length = float(np.hypot(*(b - a)))
        count = int(length / 9.0)
        if count < 2:
            continue
        inward = np.array([-(b - a)[1], (b - a)[0]]) / length
        share = ((np.arange(count) + 0.5) / count)[:, None]
        spots = a + (b - a) * share + inward * 0.7
        site.trees.append(spots[::2])
        site.lamps.append(spots[1::2])


def _fill(site: Site, kind: str, ring: Array, crossings: list[tuple[Crossing, int]], plot_area: float) -> None:
    """The inside of one block; `ring` is its edge with all points that the pavement has."""
    inside = Polygon(ring)
    # buildings and lawns need the block's corners only, not the points between them
    plain = inside.simplify(0.02)
    wells = [crossing.well(side) for crossing, side in crossings]
    kept = [crossing.well(side, 2.2) for crossing, side in crossings]
    if kind == "park":
        _park(site, inside, wells, kept)
        return
    if kind == "square":
        taken = _square(site, plain, kept)
    elif kind == "podium":
        taken = _podium(site, plain, kept)
    else:
        taken = _built(site, plain, kept, plot_area)
    ground = inside.difference(shapely.union_all([*taken, *wells])) if taken or wells else inside
    material = "pavement" if kind != "built" or site.rng.random() < 0.6 else "grass"
    site.build.polygon(ground, site.terrain.pavement, material)


def _split(polygon: Any, area: float, rng: np.random.Generator) -> list[Any]:
    """Plots of about `area` square metres: cut the polygon across its long side until the parts are small."""
    open_parts, plots = [polygon], []
    while open_parts:
        part = open_parts.pop()
        middle, along, length, breadth = frame(part)
        if part.area < area * rng.uniform(0.8, 1.8) or length < 20:
            plots.append(part)
            continue
        cut = middle + along * length * rng.uniform(-0.12, 0.12)
        for way in (-1, 1):
            half = rectangle(cut + along * way * length, along, 2 * length, 4 * breadth)
            open_parts += [p for p in shapely.get_parts(part.intersection(half)) if p.geom_type == "Polygon"]
    return plots


def _built(site: Site, inside: Any, kept: list[Any], plot_area: float) -> list[Any]:
    """Buildings on plots with alleys between; plots without a street become yards with trees."""
    taken = []
    centre = np.array(site.size) / 2
    for plot in _split(inside, plot_area, site.rng):
        room = shrink(plot, float(site.rng.uniform(0.9, 1.7)))
        if room.is_empty or room.area < 60 or frame(room)[3] < 6.5:
            continue
        if any(room.intersects(well) for well in kept):
            continue
        if plot.distance(inside.exterior) > 1.0 and site.rng.random() < 0.7:
            site.trees.append(np.array([plot.centroid.coords[0]]))
            continue
        away = np.hypot(*((np.array(plot.centroid.coords[0]) - centre) / centre))
        taken.append(raise_building(site, room, float(np.clip(1 - away, 0, 1))))
    return taken


def _park(site: Site, inside: Any, wells: list[Any], kept: list[Any]) -> None:
    """Lawn with a hill or a pond in the middle, a path around it, trees."""
    core = shrink(inside.simplify(0.02), 9.0 if not kept else 18.0)
    build, terrain, rng = site.build, site.terrain, site.rng
    if (
        core.is_empty
        or core.area < max(200, 0.97 * core.convex_hull.area)
        or any(core.intersects(well) for well in kept)
    ):
        build.polygon(inside.difference(shapely.union_all(wells)), terrain.pavement, "grass")
        _scatter(site, inside, kept)
        return
    edge = ring_of(core)
    edge = subdivide(edge, np.maximum(1, np.rint(np.hypot(*(np.roll(edge, -1, 0) - edge).T) / 8.0)).astype(int))
    core = Polygon(edge)
    build.polygon(inside.difference(shapely.union_all([core, *wells])), terrain.pavement, "grass")
    middle = np.asarray(core.representative_point().coords[0])
    pond = rng.random() < 0.4
    reach = float(np.hypot(*(edge - middle).T).min())
    bump = -1.4 if pond else min(3.0, 0.22 * reach)
    base = terrain.pavement(edge)
    level = float(terrain.pavement(middle[None])[0])
    shares = np.array([0.0, 0.12, 0.35, 0.6, 0.85, 1.0])
    rings = []
    for share in shares:
        ring = edge + (middle - edge) * share
        lifted = base * (1 - share) + level * share + bump * (3 * share**2 - 2 * share**3)
        rings.append(np.column_stack([ring, lifted]))
    for k, (outer, inner) in enumerate(pairwise(rings[:-1])):
        build.strip(outer, inner, "pavement" if k == 0 else "grass", closed=True)
    build.fan(rings[-1][0], rings[-2], "grass")
    if pond:
        flat = np.column_stack([(edge + (middle - edge) * 0.42), np.full(len(edge), float(base.min()) - 0.75)])
        build.fan([*middle, float(base.min()) - 0.75], flat, "water")
    _scatter(site, inside, [*kept, core])


def _scatter(site: Site, inside: Any, kept: list[Any]) -> None:
    """Places for trees at random, clear of what is kept."""
    low, high = np.array(inside.bounds[:2]), np.array(inside.bounds[2:])
    spots = site.rng.uniform(low, high, (max(6, int(inside.area / 70)), 2))
    points = shapely.points(spots)
    good = shapely.contains(inside.buffer(-1.5), points)
    for shape in kept:
        good &= ~shapely.intersects(shape, points)
    site.trees.append(spots[good])


def _square(site: Site, inside: Any, kept: list[Any]) -> list[Any]:
    """A monument on steps, with trees around; steps are 0.17 m and a metre deep."""
    middle = np.asarray(inside.representative_point().coords[0])
    turn = site.rng.uniform(0, np.pi)
    along = np.array([np.cos(turn), np.sin(turn)])
    steps = [rectangle(middle, along, 9.0 - 2.0 * k, 9.0 - 2.0 * k) for k in range(3)]
    _scatter(site, inside, [*kept, rectangle(middle, along, 22, 22)])
    if any(steps[0].intersects(well) for well in kept) or not inside.contains(steps[0]):
        return []
    low, high = site.ground(steps[0])
    build = site.build
    for k, step in enumerate(steps):
        top = high + STEP * (k + 1)
        build.walls(step, low - 0.3 if k == 0 else top - STEP, top, "stairs")
        inner = steps[k + 1] if k < 2 else rectangle(middle, along, 2.0, 2.0)
        build.polygon(step.difference(inner), top, "stairs")
    build.prisms([[*middle, high + 3 * STEP - 0.1]], 2.0 / np.sqrt(2) * 0.99, 7.0, 4, "wall", taper=0.6)
    return [steps[0]]


def _podium(site: Site, inside: Any, kept: list[Any]) -> list[Any]:
    """A raised deck with towers on it; stairs lead up from every side that is long enough, a ramp along one."""
    deck = shrink(inside, 9.0)
    if deck.is_empty or frame(deck)[3] < 20:
        return _built(site, inside, kept, 600.0)
    build, terrain = site.build, site.terrain
    low, high = site.ground(deck)
    top = high + 18 * STEP
    taken = [deck]
    ring = ring_of(deck)
    for k in range(len(ring)):
        a, b = ring[k], ring[(k + 1) % len(ring)]
        length = float(np.hypot(*(b - a)))
        along = (b - a) / length
        out = np.array([along[1], -along[0]])
        if length < 14:
            continue
        place = a + along * length * 0.3
        taken += _flight(site, place, out, top, kept)
        run = 9.0 * (top - low)
        if k == 0 and length * 0.65 > run + 5:
            start = a + along * (length - 2.5) + out * 1.25
            landing = rectangle(start, along, 2.5, 2.5)
            foot = start - along * (1.25 + run)
            fall = top - float(terrain.pavement(foot[None])[0])
            way = rectangle(start - along * (run + 1.25) / 2, along, run + 2.5 + 1.25, 2.7)
            if not any(way.intersects(well) for well in kept) and inside.contains(way):
                site.build.extrude(landing, low - 0.5, top, "wall", "pavement")
                build.ramp([*(start - along * 1.25), top], -along, 2.5, fall, run, "ramp")
                taken.append(rectangle(start - along * run / 2, along, run + 2.5, 2.5).buffer(0.01, join_style="mitre"))
    build.walls(deck, low - 1.0, top, "wall")
    towers = [shrink(plot, 3.0) for plot in _split(shrink(deck, 4.0), 900.0, site.rng)]
    towers = [tower for tower in towers if not tower.is_empty and frame(tower)[3] > 8]
    for tower in towers:
        site.volume(tower, top, top + site.tallest * float(site.rng.uniform(0.3, 0.9)))
    build.polygon(deck.difference(shapely.union_all(towers)) if towers else deck, top, "pavement")
    return taken


def _flight(site: Site, place: Array, out: Array, top: float, kept: list[Any]) -> list[Any]:
    """Broad stairs in two flights from the top of a wall at `place` down to the ground in the direction `out`."""
    run = 7.0
    for _ in range(4):
        ground = float(site.terrain.pavement((place + out * run)[None])[0])
        steps = int(np.ceil((top - ground) / STEP - 1e-9))
        run = (steps - 1) * TREAD + (1.2 - TREAD)
    shape = rectangle(place + out * (run / 2), out, run, 5.0)
    if run > 8.6 or any(shape.intersects(well) for well in kept):
        return []
    site.build.stairs([*place, top], out, 5.0, top - ground, flights=2, foot=KERB + 0.5)
    return [rectangle(place + out * (run / 2 - 0.2), out, run + 0.4, 5.0)]
