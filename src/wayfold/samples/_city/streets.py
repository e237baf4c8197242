"""The site of a city: rolling ground, streets and the faces between them, and the river with its bridges.

Every face (block, river reach, the outside) gets a corner at each of its nodes, set back from the streets.
Carriageways are the bands between the corners of the two faces of an edge, crossings the polygons between the
corners around a node: neighbours share their points, so there is no crack anywhere.

The promenade passes under every bridge, so there are two walkable levels there. It lies a metre above the water:
who walks cannot step onto the water, who swims or sails has it for himself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shapely import Polygon

from wayfold.samples._builder import STEP, TREAD, Builder, lift, ring_of

Array = NDArray[np.float64]


@dataclass
class Site:
    """A city under construction."""

    build: Builder
    rng: np.random.Generator
    terrain: RollingGround
    size: tuple[float, float]
    tallest: float
    """Height of the tallest towers above the ground, metres."""
    facades: list[Array] = field(default_factory=list)
    """(k, 6) arrays: both ends of a wall's foot (x, y, x, y), heights of its foot and top."""
    roofs: list[tuple[Array, float]] = field(default_factory=list)
    """Ring and height of the flat roofs that carry plant rooms and the like."""
    trees: list[Array] = field(default_factory=list)
    """(n, 2) places for trees."""
    lamps: list[Array] = field(default_factory=list)
    """(n, 2) places for lamp posts."""

    def volume(self, polygon: Any, low: float, high: float, *, roof: str = "roof", under: str = "") -> None:
        """A block of building between two heights; its walls are remembered as facades."""
        self.build.extrude(polygon, low, high, "wall", roof, under)
        self.remember(polygon, low, high)

    def remember(self, polygon: Any, low: float, high: float) -> None:
        """Note the outer walls of a volume as facades."""
        ring = ring_of(polygon)
        count = len(ring)
        heights = np.broadcast_to([low, high], (count, 2))
        self.facades.append(np.column_stack([ring, np.roll(ring, -1, axis=0), heights]))

    def ground(self, polygon: Any) -> tuple[float, float]:
        """Lowest and highest pavement under the corners of a polygon."""
        z = self.terrain.pavement(ring_of(polygon))
        return float(z.min()), float(z.max())


BANK = 4.4
"""Height of the river banks above the water (z = 0), metres."""
KERB = 0.12
"""Height of the pavement above the road, metres."""
_GRADE = 0.11
"""Steepest ground of the waves alone: streets stay well below 10 degrees."""


@dataclass(frozen=True)
class RollingGround:
    """Height of the road surface at any position."""

    waves: Array
    """(k, 4): wave vector x and y in radians per metre, phase, amplitude."""
    river_x: Array
    """x of the river's middle at the heights `river_y`; empty when there is no river."""
    river_y: Array
    level: float
    """Distance from the middle of the river within which the ground is level, metres."""

    def __call__(self, points: Array) -> Array:
        """Height of the road surface, (n,), at (n, 2) positions."""
        phase = points @ self.waves[:, :2].T + self.waves[:, 2]
        hills = np.sin(phase) @ self.waves[:, 3]
        if self.river_x.size:
            off = np.abs(points[:, 0] - np.interp(points[:, 1], self.river_y, self.river_x)) - self.level
            fade = np.clip(off / 200.0, 0.0, 1.0)
            hills = hills * (fade * fade * (3 - 2 * fade))
        return np.asarray(BANK + hills)

    def pavement(self, points: Array) -> Array:
        """Height of the pavement, a kerb above the road."""
        return self(points) + KERB


def make_terrain(
    rng: np.random.Generator, size: tuple[float, float], river: tuple[Array, Array, float]
) -> RollingGround:
    """Waves whose slopes add up to at most `_GRADE`, over a level strip along the river."""
    count = 6
    length = rng.uniform(0.6, 1.8, count) * np.clip(max(size), 250.0, 900.0)
    turn = rng.uniform(0, 2 * np.pi, count)
    number = 2 * np.pi / length
    share = rng.dirichlet(np.ones(count)) * _GRADE
    # near the river the fade adds amplitude * 1.5 / 200 m of slope, so amplitudes are kept below 6 m in all
    amplitude = share / number
    amplitude *= min(1.0, 6.0 / amplitude.sum())
    waves = np.column_stack([np.cos(turn) * number, np.sin(turn) * number, rng.uniform(0, 2 * np.pi, count), amplitude])
    return RollingGround(waves, *river)


Edge = tuple[int, int]


@dataclass
class Face:
    """A region between streets; `nodes` counter-clockwise, `corners` its points at the edge of the carriageway."""

    nodes: list[int]
    corners: Array
    pieces: list[int]
    """Number of equal parts into which the side from corner k to the next is cut."""
    kind: str = "block"


@dataclass
class Streets:
    """Nodes, edges with half widths, and faces."""

    points: Array
    widths: dict[Edge, float]
    """Half width of each edge (lower node first), metres."""
    columns: int
    rows: int
    river: int
    """Column of cells that holds the river, -1 when there is none."""
    bridges: list[int] = field(default_factory=list)
    """Rows at which a street crosses the river."""
    faces: list[Face] = field(default_factory=list)
    face_of: dict[Edge, int] = field(default_factory=dict)
    """Face on the left of each directed edge."""
    cut: float = 12.0

    def node(self, column: int, row: int) -> int:
        """Number of a lattice node."""
        return row * (self.columns + 1) + column

    def corner(self, face: int, node: int) -> Array:
        """Corner of a face at one of its nodes."""
        this = self.faces[face]
        return np.asarray(this.corners[this.nodes.index(node)])

    def pieces(self, a: int, b: int) -> int:
        """Number of parts into which an edge is cut along its length."""
        return max(1, round(float(np.hypot(*(self.points[a] - self.points[b]))) / self.cut))


def inset(ring: Array, widths: Array) -> Array:
    """Corners of a counter-clockwise ring whose side k moves inwards by ``widths[k]``."""
    along = np.roll(ring, -1, axis=0) - ring
    along /= np.hypot(along[:, 0], along[:, 1])[:, None]
    inward = np.column_stack([-along[:, 1], along[:, 0]])
    before, inward_before, width_before = np.roll(along, 1, 0), np.roll(inward, 1, 0), np.roll(widths, 1)
    cross = before[:, 0] * along[:, 1] - before[:, 1] * along[:, 0]
    straight = np.abs(cross) < 0.12
    # both offset lines meet at ring + s * before + width_before * inward_before
    gap = inward * widths[:, None] - inward_before * width_before[:, None]
    s = (gap[:, 0] * along[:, 1] - gap[:, 1] * along[:, 0]) / np.where(straight, 1.0, cross)
    meeting = ring + inward_before * width_before[:, None] + before * s[:, None]
    bisector = inward + inward_before
    bisector /= np.hypot(bisector[:, 0], bisector[:, 1])[:, None]
    plain = ring + bisector * np.maximum(widths, width_before)[:, None]
    return np.where(straight[:, None], plain, meeting)


def _lines(rng: np.random.Generator, length: float, pitch: float, margin: float, bend: float) -> Array:
    """Positions of the lattice lines from `margin` to `length` - `margin`, unevenly spaced about `pitch`."""
    count = max(1, round((length - 2 * margin) / pitch))
    gaps = 1 + bend * rng.uniform(-0.28, 0.35, count)
    return margin + np.concatenate([[0.0], np.cumsum(gaps) / gaps.sum()]) * (length - 2 * margin)


def make_streets(
    rng: np.random.Generator, size: tuple[float, float], pitch: float, river: bool, *, cut: float
) -> Streets:
    """Lay out a network over ``size[0]`` x ``size[1]`` metres; the outer streets touch its border exactly.

    A layout in which the streets leave no room for a block is drawn again, each time with fewer bends.
    """
    streets = _draw(rng, size, pitch, river, cut, 1.0)
    for bend in (1.0, 0.7, 0.4, 0.0):
        if _sound(streets):
            break
        streets = _draw(rng, size, pitch, river, cut, bend)
    return streets


def _sound(streets: Streets) -> bool:
    """Whether every side of every face runs along its street, and every face has room inside."""
    for face in streets.faces:
        ring = streets.points[face.nodes]
        side, street = (np.roll(points, -1, axis=0) - points for points in (face.corners, ring))
        if (np.einsum("ij,ij->i", side, street) <= 0).any():
            return False
        if face.kind == "block" and not (Polygon(face.corners).is_valid and Polygon(face.corners).area > 60):
            return False
    return True


def _draw(
    rng: np.random.Generator, size: tuple[float, float], pitch: float, river: bool, cut: float, bend: float
) -> Streets:
    """One network; `bend` (0 to 1) is how uneven and crooked it is."""
    margin = 5.0
    x, y = _lines(rng, size[0], pitch, margin, bend), _lines(rng, size[1], pitch, margin, bend)
    columns, rows = len(x) - 1, len(y) - 1
    channel = -1
    if river and columns >= 3:
        channel = int(rng.integers(columns // 3, max(columns // 3 + 1, (2 * columns + 2) // 3)))
        x = _widen(x, channel, float(np.clip(0.65 * pitch, 46.0, 80.0)))
    half_x, half_y = (np.where(rng.random(n + 1) < 0.3, 7.5, 5.0) for n in (columns, rows))
    for half in (half_x, half_y):
        half[[0, -1]] = margin
    if channel >= 0:
        half_x[channel : channel + 2] = 5.0
    points = _bend(rng, x, y, channel, bend)
    streets = Streets(points, {}, columns, rows, channel, cut=cut)
    widths = streets.widths
    for row in range(rows + 1):
        for column in range(columns + 1):
            here = streets.node(column, row)
            if column < columns:
                widths[here, streets.node(column + 1, row)] = float(half_y[row])
            if row < rows:
                widths[here, streets.node(column, row + 1)] = float(half_x[column])
    taken = np.zeros((rows, columns), bool)
    if channel >= 0:
        taken[:, channel] = True
        _bridge(rng, streets)
    if bend > 0:
        _diagonal(rng, streets, taken)
    _merge(rng, streets, taken)
    _trace(streets)
    return streets


def _widen(x: Array, channel: int, width: float) -> Array:
    """Give the river's column its width at the cost or to the gain of the others."""
    gaps = np.diff(x)
    short = width - gaps[channel]
    others = np.arange(len(gaps)) != channel
    gaps[others] *= 1 - short / gaps[others].sum()
    gaps[channel] += short
    return np.asarray(x[0] + np.concatenate([[0.0], np.cumsum(gaps)]))


def _bend(rng: np.random.Generator, x: Array, y: Array, channel: int, bend: float) -> Array:
    """Lattice nodes, pushed off their lines by long waves and a little at random; the border stays straight."""
    grid_x, grid_y = np.meshgrid(x, y)
    small = min(np.diff(x).min(), np.diff(y).min())
    span_x, span_y = x[-1] - x[0], y[-1] - y[0]
    phase = rng.uniform(0, 2 * np.pi, 4)
    u, v = (grid_x - x[0]) / span_x, (grid_y - y[0]) / span_y
    free_x, free_y = np.clip(4 * u * (1 - u), 0, 1), np.clip(4 * v * (1 - v), 0, 1)
    sway = 0.55 * small * bend
    # one wave for all columns keeps neighbouring lines apart; it also makes the river meander
    push_x = sway * np.sin(2 * np.pi * 1.3 * v + phase[0]) + 0.4 * sway * np.sin(2 * np.pi * 3.1 * v + phase[1])
    push_y = sway * np.sin(2 * np.pi * 1.1 * u + phase[2]) + 0.4 * sway * np.sin(2 * np.pi * 2.7 * u + phase[3])
    jitter = rng.uniform(-0.09, 0.09, (2, *grid_x.shape)) * small * bend
    if channel >= 0:
        jitter[0][:, channel : channel + 2] = 0.0
        jitter[1][:, channel + 1] = jitter[1][:, channel]
        push_y[:, channel + 1] = push_y[:, channel]
        free_y[:, channel + 1] = free_y[:, channel]
    moved_x = grid_x + (push_x + jitter[0]) * np.sqrt(free_x)
    if channel >= 0:
        # the two banks keep their distance
        moved_x[:, channel + 1] = moved_x[:, channel] + (x[channel + 1] - x[channel])
    moved_y = grid_y + (push_y + jitter[1]) * np.sqrt(free_y)
    return np.column_stack([moved_x.ravel(), moved_y.ravel()])


def _bridge(rng: np.random.Generator, streets: Streets) -> None:
    """Keep the streets over the river at both ends and at every second or third row; drop the others."""
    row, kept = 0, [0]
    while row < streets.rows:
        row = min(streets.rows, row + int(rng.integers(2, 4)))
        if streets.rows - row == 1:
            row = streets.rows
        kept.append(row)
    streets.bridges = kept
    for row in range(streets.rows + 1):
        edge = (streets.node(streets.river, row), streets.node(streets.river + 1, row))
        if row in kept:
            streets.widths[edge] = 5.0 if row in (0, streets.rows) else 5.5
        else:
            del streets.widths[edge]


def _diagonal(rng: np.random.Generator, streets: Streets, taken: NDArray[np.bool_]) -> None:
    """One avenue that runs diagonally through three or more cells, where there is room for it."""
    if streets.rows < 3 or streets.columns < 4:
        return
    for _ in range(1 + streets.rows * streets.columns // 150):
        column, row = int(rng.integers(streets.columns)), int(rng.integers(streets.rows))
        step = 1 if rng.random() < 0.5 else -1
        for _ in range(int(rng.integers(3, 9))):
            if not (0 <= column < streets.columns and 0 <= row < streets.rows) or taken[row, column]:
                break
            low = row if step > 0 else row + 1
            ends = (streets.node(column, low), streets.node(column + 1, low + step))
            streets.widths[min(ends), max(ends)] = 6.5
            taken[row, column] = True
            column, row = column + 1, row + step


def _merge(rng: np.random.Generator, streets: Streets, taken: NDArray[np.bool_]) -> None:
    """Remove some inner edges, so that pairs of cells become one long block."""
    for row, column in np.argwhere(~taken):
        if taken[row, column] or rng.random() > 0.22:
            continue
        if rng.random() < 0.5 and column + 1 < streets.columns and not taken[row, column + 1]:
            edge = (streets.node(column + 1, row), streets.node(column + 1, row + 1))
            taken[row, column : column + 2] = True
        elif row + 1 < streets.rows and not taken[row + 1, column]:
            edge = (streets.node(column, row + 1), streets.node(column + 1, row + 1))
            taken[row : row + 2, column] = True
        else:
            continue
        del streets.widths[edge]


def _trace(streets: Streets) -> None:
    """Find the faces of the network by turning right-most at each node."""
    around: dict[int, list[int]] = {}
    for a, b in streets.widths:
        around.setdefault(a, []).append(b)
        around.setdefault(b, []).append(a)
    points = streets.points
    for node, others in around.items():
        others.sort(key=lambda other, at=node: float(np.arctan2(*(points[other] - points[at])[::-1])))  # type: ignore[misc]
    for start in sorted((*streets.widths, *((b, a) for a, b in streets.widths))):
        if start in streets.face_of:
            continue
        here, nodes = start, []
        while here not in streets.face_of:
            streets.face_of[here] = len(streets.faces)
            nodes.append(here[0])
            others = around[here[1]]
            here = (here[1], others[others.index(here[0]) - 1])
        following = [*nodes[1:], nodes[0]]
        widths = np.array([streets.widths[min(e), max(e)] for e in zip(nodes, following, strict=True)])
        ring = points[nodes]
        pieces = [streets.pieces(a, b) for a, b in zip(nodes, following, strict=True)]
        area = float(np.sum(ring[:, 0] * np.roll(ring[:, 1], -1) - np.roll(ring[:, 0], -1) * ring[:, 1]))
        kind = "outside" if area < 0 else "block"
        if area > 0 and streets.river >= 0 and _in_river(streets, nodes):
            kind = "river"
        streets.faces.append(Face(nodes, inset(ring, widths), pieces, kind))


def _in_river(streets: Streets, nodes: list[int]) -> bool:
    """Whether a face lies between the banks: it has nodes on both and no others."""
    column = {node % (streets.columns + 1) for node in nodes}
    return column == {streets.river, streets.river + 1}


def pave(build: Builder, streets: Streets, terrain: RollingGround) -> None:
    """Carriageways and crossings; streets over the river are left to the bridges."""
    for a, b in streets.widths:
        if streets.river >= 0 and {a % (streets.columns + 1), b % (streets.columns + 1)} == {
            streets.river,
            streets.river + 1,
        }:
            continue
        left, right = streets.face_of[a, b], streets.face_of[b, a]
        along = np.linspace(0, 1, streets.pieces(a, b) + 1)[:, None]
        band = [
            lift(streets.corner(face, a) * (1 - along) + streets.corner(face, b) * along, terrain)
            for face in (right, left)
        ]
        build.strip(band[0], band[1], "road")
    meeting: dict[int, list[int]] = {}
    for (a, _), face in streets.face_of.items():
        meeting.setdefault(a, []).append(face)
    for node, faces in meeting.items():
        ring = np.array([streets.corner(face, node) for face in faces])
        if len(ring) < 3:
            continue
        middle = ring.mean(axis=0)
        ring = ring[np.argsort(np.arctan2(ring[:, 1] - middle[1], ring[:, 0] - middle[0]), kind="stable")]
        build.fan(lift(middle[None], terrain)[0], lift(ring, terrain), "road")


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
