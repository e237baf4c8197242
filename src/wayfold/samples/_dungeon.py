"""Dungeons: rooms and corridors cut out of rock on several floors, joined by stairs, all reached on foot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayfold.core import checks
from wayfold.errors import ParameterError
from wayfold.geometry import Mesh
from wayfold.samples._builder import Builder

Cells = NDArray[np.bool_]

_CELL = 0.5
"""Side of a cell in metres: walls are at least this thick."""
_STOREY, _CEILING, _DOOR = 4.25, 3.4, 2.3
"""Height from floor to floor, of the ceilings and of the doors, metres: 25 steps of 0.17 m from floor to floor."""
_STAIR_CELLS = (15, 4)
"""Length and width of a flight of stairs in cells: 25 risers take 24 treads of 0.3 m."""


@dataclass(frozen=True)
class _Room:
    """A rectangle of cells: first column and row, columns and rows."""

    x: int
    y: int
    wide: int
    tall: int

    @property
    def middle(self) -> tuple[int, int]:
        return self.x + self.wide // 2, self.y + self.tall // 2


@checks.checked
def dungeon(seed: int = 0, floors: int = 3, *, size: tuple[float, float] = (48.0, 36.0)) -> Mesh:
    """Return a dungeon: rooms, corridors, doors, columns and stairs over several floors, all reached on foot.

    Parameters
    ----------
    seed : int, >= 0
        The same seed and options give the same mesh, byte for byte.
    floors : int, 1 to 50
        Number of floors; floor k lies at z = 4.25 k metres.
    size : (float, float), metres, each from 24 to 500
        Extent of each floor along x and y.

    Examples
    --------
    >>> dungeon(floors=2, size=(24, 24)).bounds[:, 2].tolist()
    [0.0, 7.65]
    """
    seed = checks.whole(seed, "seed", low=0)
    floors = checks.whole(floors, "floors", low=1, high=50)
    try:
        width, depth = size
    except (TypeError, ValueError):
        raise ParameterError(f"size must be two lengths in metres, not {checks.shown(size)}") from None
    width = checks.number(width, "size[0]", low=24, high=500)
    depth = checks.number(depth, "size[1]", low=24, high=500)
    rng = np.random.default_rng(seed)
    shape = int(depth / _CELL), int(width / _CELL)
    build = Builder()
    holes = [np.zeros(shape, bool) for _ in range(floors + 1)]
    layouts = [_layout(rng, shape) for _ in range(floors)]
    for floor in range(floors - 1):
        # stairs take turns between the left and the right, so that floors must be crossed
        flight = _flight(rng, shape, floor % 2)
        for level in (floor, floor + 1):
            _join(layouts[level], flight)
        holes[floor + 1][
            flight.y + 2 : flight.y + 2 + _STAIR_CELLS[1], flight.x + 3 : flight.x + 3 + _STAIR_CELLS[0]
        ] = True
        low = (flight.x + 3) * _CELL, (flight.y + 2 + _STAIR_CELLS[1] / 2) * _CELL
        top = [low[0] + _STAIR_CELLS[0] * _CELL, low[1], (floor + 1) * _STOREY]
        build.stairs(top, (-1.0, 0.0), _STAIR_CELLS[1] * _CELL, _STOREY, foot=0.0)
    for floor, layout in enumerate(layouts):
        _raise(build, rng, layout, holes[floor], holes[floor + 1], floor * _STOREY)
    return build.mesh()


@dataclass
class _Layout:
    """One floor: what is hollow, what of that is a low doorway, and the rooms."""

    hollow: Cells
    low: Cells
    rooms: list[_Room]


def _layout(rng: np.random.Generator, shape: tuple[int, int]) -> _Layout:
    """Split the floor until the parts are room-sized, put a room into each, and join neighbours by corridors."""
    layout = _Layout(np.zeros(shape, bool), np.zeros(shape, bool), [])
    _divide(rng, layout, _Room(1, 1, shape[1] - 2, shape[0] - 2))
    for room in layout.rooms:
        layout.hollow[room.y : room.y + room.tall, room.x : room.x + room.wide] = True
    return layout


def _divide(rng: np.random.Generator, layout: _Layout, part: _Room) -> _Room:
    """Lay out one part; returns a room of it to which a corridor may lead."""
    across = part.wide >= part.tall
    length = part.wide if across else part.tall
    if length < 32 or (length < 44 and rng.random() < 0.3):
        wide = max(8, int(part.wide * rng.uniform(0.6, 0.95)) - 2)
        tall = max(8, int(part.tall * rng.uniform(0.6, 0.95)) - 2)
        x = part.x + 1 + int(rng.integers(0, max(1, part.wide - wide - 1)))
        y = part.y + 1 + int(rng.integers(0, max(1, part.tall - tall - 1)))
        room = _Room(x, y, min(wide, part.wide - 2), min(tall, part.tall - 2))
        layout.rooms.append(room)
        return room
    cut = int(length * rng.uniform(0.4, 0.6))
    if across:
        halves = _Room(part.x, part.y, cut, part.tall), _Room(part.x + cut, part.y, part.wide - cut, part.tall)
    else:
        halves = _Room(part.x, part.y, part.wide, cut), _Room(part.x, part.y + cut, part.wide, part.tall - cut)
    first, second = (_divide(rng, layout, half) for half in halves)
    _corridor(layout, first.middle, second.middle)
    return first if rng.random() < 0.5 else second


def _corridor(layout: _Layout, start: tuple[int, int], end: tuple[int, int]) -> None:
    """A bent corridor four cells wide and as low as a door, first along x and then along y."""
    x0, x1 = sorted((start[0], end[0]))
    y0, y1 = sorted((start[1], end[1]))
    for rows, columns in (
        (slice(start[1] - 2, start[1] + 2), slice(x0 - 2, x1 + 2)),
        (slice(y0 - 2, y1 + 2), slice(end[0] - 2, end[0] + 2)),
    ):
        layout.low[rows, columns] = True
        layout.hollow[rows, columns] = True


def _flight(rng: np.random.Generator, shape: tuple[int, int], side: int) -> _Room:
    """A stairwell: the flight with space around it, in the left or right half of the floor."""
    wide, tall = _STAIR_CELLS[0] + 8, _STAIR_CELLS[1] + 4
    half = shape[1] // 2
    x = (
        int(rng.integers(1, max(2, half - wide)))
        if side == 0
        else int(rng.integers(min(half, shape[1] - wide - 2), shape[1] - wide - 1))
    )
    return _Room(x, int(rng.integers(1, shape[0] - tall - 1)), wide, tall)


def _join(layout: _Layout, flight: _Room) -> None:
    """Hollow out a stairwell and lead a corridor from it to the nearest room."""
    layout.hollow[flight.y : flight.y + flight.tall, flight.x : flight.x + flight.wide] = True
    landing = flight.x + flight.wide - 3, flight.y + flight.tall // 2
    nearest = min(layout.rooms, key=lambda r: abs(r.middle[0] - landing[0]) + abs(r.middle[1] - landing[1]))
    _corridor(layout, nearest.middle, landing)
    layout.rooms.append(flight)


def _raise(build: Builder, rng: np.random.Generator, layout: _Layout, hole: Cells, above: Cells, base: float) -> None:
    """Floor, ceiling and walls of one floor; `hole` opens its floor, `above` its ceiling."""
    hollow = layout.hollow
    low = layout.low.copy()
    for room in layout.rooms:
        low[room.y : room.y + room.tall, room.x : room.x + room.wide] = False
    high = hollow & ~low
    _slabs(build, hollow & ~hole, base, "floor", up=True)
    _slabs(build, high & ~above, base + _CEILING, "ceiling", up=False)
    _slabs(build, low & hollow & ~above, base + _DOOR, "ceiling", up=False)
    _sides(build, hollow, base, base + _DOOR)
    _sides(build, high, base + _DOOR, base + _CEILING)
    _sides(build, above, base + _CEILING, base + _STOREY)
    _columns(build, rng, layout, hole, above, base)


def _columns(build: Builder, rng: np.random.Generator, layout: _Layout, hole: Cells, above: Cells, base: float) -> None:
    """Columns in large rooms, off the corridors and the stairs."""
    for room in layout.rooms:
        if min(room.wide, room.tall) < 14 or rng.random() < 0.3:
            continue
        for x in (room.x + room.wide // 4, room.x + 3 * room.wide // 4):
            for y in (room.y + room.tall // 4, room.y + 3 * room.tall // 4):
                around = slice(max(0, y - 3), y + 4), slice(max(0, x - 3), x + 4)
                if layout.low[around].any() or hole[around].any() or above[around].any():
                    continue
                build.prisms([[x * _CELL, y * _CELL, base]], 0.4, _CEILING, 8, "column")


def _slabs(build: Builder, cells: Cells, height: float, material: str, *, up: bool) -> None:
    """Level faces over the cells, merged to large rectangles."""
    boxes = np.array(_rectangles(cells), float).reshape(-1, 4) * _CELL
    x0, y0, x1, y1 = boxes.T
    z = np.full(len(boxes), height)
    ring = [np.column_stack(p) for p in ((x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z))]
    a, b, c, d = ring if up else ring[::-1]
    build.quads(a, b, c, d, material)


def _rectangles(cells: Cells) -> list[tuple[int, int, int, int]]:
    """Rectangles (x0, y0, x1, y1) that cover the cells once: each grows right and then up as far as it can."""
    left = cells.copy()
    found = []
    for y, x in np.argwhere(cells):
        if not left[y, x]:
            continue
        x1 = x + 1
        while x1 < cells.shape[1] and left[y, x1]:
            x1 += 1
        y1 = y + 1
        while y1 < cells.shape[0] and left[y1, x:x1].all():
            y1 += 1
        left[y:y1, x:x1] = False
        found.append((int(x), int(y), int(x1), int(y1)))
    return found


def _sides(build: Builder, inside: Cells, low: float, high: float) -> None:
    """Walls between cells that are inside and cells that are not, seen from inside, merged to long strips."""
    padded = np.pad(inside, 1)
    for axis in (0, 1):
        for way in (1, -1):
            border = padded & ~np.roll(padded, -way, axis)
            _wall_runs(build, border[1:-1, 1:-1], axis, way, low, high)


def _wall_runs(build: Builder, border: Cells, axis: int, way: int, low: float, high: float) -> None:
    """Strips along runs of border cells; `axis` is the one that the wall blocks, `way` its side of the cell."""
    lines = border if axis == 0 else border.T
    change = np.diff(np.pad(lines.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    row, start = np.nonzero(change == 1)
    _, stop = np.nonzero(change == -1)
    offset = (row + (way > 0)) * _CELL
    ends = [start * _CELL, stop * _CELL]
    # the rock lies on the far side: a wall is seen from the right of its run
    if (way > 0) != (axis == 0):
        ends.reverse()
    a, b = (np.column_stack([end, offset] if axis == 0 else [offset, end]) for end in ends)
    heights = [np.full((len(a), 1), z) for z in (low, high)]
    build.quads(
        np.hstack([a, heights[0]]),
        np.hstack([b, heights[0]]),
        np.hstack([b, heights[1]]),
        np.hstack([a, heights[1]]),
        "wall",
    )
