"""The street network: a bent lattice of streets with avenues, merged blocks and diagonals, and the faces between.

Every face (block, river reach, the outside) gets a corner at each of its nodes, set back from the streets.
Carriageways are the bands between the corners of the two faces of an edge, crossings the polygons between the
corners around a node: neighbours share their points, so there is no crack anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from shapely import Polygon

from wayfold.samples._builder import Builder, lift
from wayfold.samples._city.terrain import Terrain

Array = NDArray[np.float64]
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


def pave(build: Builder, streets: Streets, terrain: Terrain) -> None:
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
