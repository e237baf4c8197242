"""Maps and scenarios of the MovingAI benchmarks (movingai.com): `.map`, `.map.scen`, `.3dmap` and `.3dscen`.

x is the column, y the row, and the origin is the top left cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.core.archive import File, replacing
from wayfold.core.locks import Portable
from wayfold.errors import FormatError, ParameterError, VersionError
from wayfold.formats.opening import sniff
from wayfold.formats.text import check_line, columns, finite_numbers, read_text, shown, whole_numbers

BLOCKED, GROUND, WATER = 0, 1, 2
"""Values of `MovingAiMap.kinds`."""

_CELLS = np.zeros(256, bool)
_CELLS[list(b".@ABCDEFGHIJKLMNOPQRSTUVWXYZ")] = True
_PLAIN = np.zeros(256, bool)
_PLAIN[list(b".@GOSTW")] = True
_COLUMNS = 9


@dataclass(frozen=True, eq=False)
class MovingAiMap(Portable):
    """A MovingAI grid map, as `load_map` reads it.

    Attributes
    ----------
    cells : (height, width) uint8 array
        The characters of the file as numbers, row by row from the top.

    Examples
    --------
    >>> room = MovingAiMap([list(b"..@."), list(b".W@.")])
    >>> room.width, room.height
    (4, 2)
    >>> room.kinds.tolist()
    [[1, 1, 0, 1], [1, 2, 0, 1]]
    """

    cells: NDArray[np.uint8]

    def __post_init__(self) -> None:
        cells: NDArray[Any] = self.cells
        if not isinstance(cells, np.ndarray) or cells.dtype != np.uint8:
            cells = checks.wholes(cells, "cells")
            if cells.size and not (cells.min() >= 0 and cells.max() <= 255):
                raise ParameterError("cells must be characters from 0 to 255")
        if cells.ndim != 2 or not cells.size:
            raise ParameterError(f"cells must be an array (height, width) with at least one cell, not {cells.shape}")
        object.__setattr__(self, "cells", np.ascontiguousarray(cells, np.uint8))

    @property
    def height(self) -> int:
        """Rows."""
        return len(self.cells)

    @property
    def width(self) -> int:
        """Columns."""
        return int(self.cells.shape[1])

    @cached_property
    def weighted(self) -> bool:
        """Whether letters stand for kinds of terrain: the map has letters that plain maps do not have."""
        return not bool(_PLAIN[self.cells].all())

    @property
    def kinds(self) -> NDArray[np.uint8]:
        """What each cell is, (height, width) uint8: 0 blocked, 1 ground, 2 water.

        In a plain map ``. G S`` are ground, ``W`` is water and ``@ O T`` are blocked. In a `weighted` map the letters
        A to P are kinds of terrain with costs that the file does not give: all of them, ``G`` and ``O`` too, are
        ground, as is every other letter but ``T`` and ``W``.
        """
        table = np.zeros(256, np.uint8)
        table[list(b".GS")] = GROUND
        if self.weighted:
            table[ord("A") : ord("Z") + 1] = GROUND
            table[ord("T")] = BLOCKED
        table[ord("W")] = WATER
        return np.asarray(table[self.cells])

    def __repr__(self) -> str:
        return f"<MovingAiMap: {self.width} x {self.height}{', weighted' if self.weighted else ''}>"


class Scenario(NamedTuple):
    """One query of a benchmark: from the cell `start` to the cell `goal`, both (x, y).

    >>> query = Scenario(0, "room.map", 3, 2, start=(0, 0), goal=(2, 1), length=2.414)
    >>> query.start, query.length
    ((0, 0), 2.414)
    """

    bucket: int
    map: str
    width: int
    height: int
    start: tuple[int, int]
    goal: tuple[int, int]
    length: float
    """Length of a shortest path with 8 neighbours; also 0 where the file gives none."""


@dataclass(frozen=True, eq=False)
class Scenarios(Sequence[Scenario]):
    """The queries of a scenario file, in arrays; ``scenarios[i]`` is query i as a `Scenario`.

    Attributes
    ----------
    bucket : (q,) int32 array
        Group of queries of like length.
    map : tuple of q str
        Name of the map file as the scenario file spells it.
    width, height : (q,) int32 arrays
        Size of the map, cells.
    starts, goals : (q, 2) int32 arrays
        Cells (x, y).
    lengths : (q,) float64 array
        Length of a shortest path with 8 neighbours (1 and sqrt 2); also 0 where the file gives none.

    Examples
    --------
    >>> queries = Scenarios([0, 0], ("room.map",) * 2, [3, 3], [2, 2], [(0, 0), (0, 1)], [(2, 1), (1, 1)], [2.5, 1.0])
    >>> queries
    <Scenarios: 2 queries on 1 maps>
    >>> queries[0].start, queries[0].goal, queries[1:].lengths.tolist()
    ((0, 0), (2, 1), [1.0])
    >>> [query.length for query in queries if query.start == (0, 0)]
    [2.5]
    """

    bucket: NDArray[np.int32]
    map: tuple[str, ...]
    width: NDArray[np.int32]
    height: NDArray[np.int32]
    starts: NDArray[np.int32]
    goals: NDArray[np.int32]
    lengths: NDArray[np.float64]

    def __post_init__(self) -> None:
        checks.several(self.map, "map")
        names = tuple(checks.text(name, "each of map") for name in self.map)
        object.__setattr__(self, "map", names)
        cells = {"bucket": 1, "width": 1, "height": 1, "starts": 2, "goals": 2}
        check_columns(self, len(names), cells=cells, numbers=("lengths",))

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, index: int) -> Scenario: ...
    @overload
    def __getitem__(self, index: slice) -> Scenarios: ...
    def __getitem__(self, index: int | slice) -> Scenario | Scenarios:
        if isinstance(index, slice):
            rest = (self.width[index], self.height[index], self.starts[index], self.goals[index], self.lengths[index])
            return Scenarios(self.bucket[index], self.map[index], *rest)
        i = range(len(self))[index]
        start, goal = self.starts[i].tolist(), self.goals[i].tolist()
        return Scenario(
            int(self.bucket[i]),
            self.map[i],
            int(self.width[i]),
            int(self.height[i]),
            (start[0], start[1]),
            (goal[0], goal[1]),
            float(self.lengths[i]),
        )

    def __iter__(self) -> Iterator[Scenario]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<Scenarios: {len(self)} queries on {len(set(self.map))} maps>"


@checks.checked
def load_map(file: File) -> MovingAiMap:
    """Read a MovingAI grid map (`.map`), with LF or CRLF line ends.

    Raises
    ------
    FormatError
        With the line, when the header or a row is invalid.

    Examples
    --------
    >>> save_map([[True, True, False], [True, True, True]], "room.map")
    >>> room = load_map("room.map")
    >>> room, int((room.kinds == GROUND).sum())
    (<MovingAiMap: 3 x 2>, 5)
    """
    lines = read_text(file).split(b"\n")
    header: dict[bytes, bytes] = {}
    for number, line in enumerate(lines[:4], 1):
        words = line.split()
        key = words[0].lower() if words else b""
        if key == b"map" and len(words) == 1 and number == 4:
            break
        if key not in (b"type", b"height", b"width") or len(words) != 2 or key in header:
            raise FormatError(f"expected 'type', 'height', 'width', then 'map', not {shown(line)}", file, number)
        header[key] = words[1]
        if key == b"type" and words[1] not in (b"octile", b"tile"):
            raise FormatError(f"map type {shown(words[1])} is not 'octile'", file, number)
        if key != b"type" and not (words[1].isdigit() and len(words[1]) < 10 and int(words[1])):
            raise FormatError(f"{key.decode()} must be a whole number above 0, not {shown(words[1])}", file, number)
    else:
        raise FormatError("the header ends before 'map'", file, min(len(lines), 4))
    height, width = int(header[b"height"]), int(header[b"width"])
    rows = lines[4:]
    while rows and not rows[-1].strip():
        rows.pop()
    if len(rows) != height:
        first = 5 + min(len(rows), height)
        raise FormatError(f"the header promises {height} rows but there are {len(rows)}", file, first)
    rows = [row.rstrip(b"\r") for row in rows]
    for number, row in enumerate(rows, 5):
        if len(row) != width:
            raise FormatError(f"the header promises {width} cells in a row but there are {len(row)}", file, number)
    cells = np.frombuffer(b"".join(rows), np.uint8).reshape(height, width)
    unknown = ~_CELLS[cells]
    if unknown.any():
        y, x = divmod(int(np.argmax(unknown)), width)
        raise FormatError(f"cell {x} of the row is {shown(bytes([cells[y, x]]))}, not a map character", file, 5 + y)
    return MovingAiMap(cells)


@checks.checked
def save_map(cells: MovingAiMap | ArrayLike, file: File) -> None:
    """Write a MovingAI grid map.

    Parameters
    ----------
    cells : MovingAiMap or (height, width) array_like
        Characters as numbers (uint8), or booleans: True is ground (``.``), False blocked (``@``).
    file : path

    Examples
    --------
    >>> from pathlib import Path
    >>> save_map([[True, True, False], [True, True, True]], "room.map")
    >>> print(Path("room.map").read_text())
    type octile
    height 2
    width 3
    map
    ..@
    ...
    """
    given = cells.cells if isinstance(cells, MovingAiMap) else cells
    array = checks.numbers(given, "cells", "a (height, width) array of booleans or of map characters", bools=True)
    if array.dtype == bool:
        array = np.where(array, ord("."), ord("@")).astype(np.uint8)
    if array.ndim != 2 or array.size == 0 or array.dtype != np.uint8 or not _CELLS[array].all():
        raise ParameterError("cells must be a (height, width) array of booleans or of map characters as uint8")
    height, width = array.shape
    ends = np.full((height, 1), ord("\n"), np.uint8)
    with replacing(file) as handle:
        handle.write(b"type octile\nheight %d\nwidth %d\nmap\n" % (height, width))
        handle.write(np.hstack([array, ends]).tobytes())


@checks.checked
def load_scen(file: File) -> Scenarios | Scenarios3D:
    """Read a MovingAI scenario file: `Scenarios` of a `.scen`, `Scenarios3D` of a `.3dscen`, as its content says.

    Raises
    ------
    VersionError
        When its version is not 1.
    FormatError
        With the line, when a row is not bucket, map, width, height, start x, start y, goal x, goal y, length, or a
        cell lies outside the map.

    Examples
    --------
    >>> queries = Scenarios([0, 0], ("room.map",) * 2, [3, 3], [2, 2], [(0, 0), (0, 1)], [(2, 1), (1, 1)], [2.5, 1.0])
    >>> save_scen(queries, "room.map.scen")
    >>> for query in load_scen("room.map.scen"):
    ...     print(query.start, query.goal, query.length)
    (0, 0) (2, 1) 2.5
    (0, 1) (1, 1) 1.0
    """
    if sniff(file) == "3dscen":
        return load_scen3d(file)
    lines = read_text(file).split(b"\n")
    check_version(file, lines[0])
    try:
        return _scenarios(lines[1:])
    except (ValueError, OverflowError):
        for number, line in enumerate(lines[1:], 2):
            _check_line(file, number, line)
        raise  # pragma: no cover - the line that fails together fails alone


@checks.checked
def save_scen(scenarios: Scenarios, file: File) -> None:
    """Write a MovingAI scenario file (`.scen`); lengths keep every digit.

    Raises
    ------
    ParameterError
        When the name of a map is empty or contains white space.
    FormatError
        When the file cannot be written.

    Examples
    --------
    >>> queries = Scenarios([0, 0], ("room.map",) * 2, [3, 3], [2, 2], [(0, 0), (0, 1)], [(2, 1), (1, 1)], [2.5, 1.0])
    >>> from pathlib import Path
    >>> save_scen(queries, "room.map.scen")
    >>> Path("room.map.scen").read_text().splitlines()[1].split()
    ['0', 'room.map', '3', '2', '0', '0', '2', '1', '2.5']
    """
    for name in scenarios.map:
        check_line(name, "the name of a map")
        if name.split() != [name]:
            raise ParameterError(f"the name of a map must not contain white space: {checks.shown(name)}")
    with replacing(file) as handle:
        handle.write(b"version 1\n")
        for row in scenarios:
            words = (row.bucket, row.map, row.width, row.height, *row.start, *row.goal, repr(row.length))
            handle.write(("\t".join(map(str, words)) + "\n").encode())


def _scenarios(lines: list[bytes]) -> Scenarios:
    """The lines as arrays; a `ValueError` or `OverflowError` when one of them is wrong."""
    words = columns(lines, _COLUMNS)
    lengths = finite_numbers(words[8])
    spelled = {name: name.decode() for name in set(words[1])}  # one string for each map, not one for each row
    numbers = np.empty((len(lengths), 7), np.int64)
    for k, column in enumerate([words[0], *words[2:8]]):
        numbers[:, k] = whole_numbers(column)
    xs, ys = numbers[:, 3::2], numbers[:, 4::2]
    inside = (xs >= 0) & (xs < numbers[:, 1:2]) & (ys >= 0) & (ys < numbers[:, 2:3])
    if not inside.all() or (lengths < 0).any() or (numbers < 0).any() or (numbers >= 1 << 31).any():
        raise ValueError("a value is out of range")
    small = numbers.astype(np.int32)
    bucket, width, height = (np.ascontiguousarray(small[:, k]) for k in range(3))
    starts, goals = np.ascontiguousarray(small[:, 3:5]), np.ascontiguousarray(small[:, 5:7])
    return Scenarios(bucket, tuple(spelled[name] for name in words[1]), width, height, starts, goals, lengths)


def _check_line(file: File, number: int, line: bytes) -> None:
    """Raise the error of one line, if it has one."""
    words = line.split()
    if len(words) not in (0, _COLUMNS):
        raise FormatError(f"a scenario has {_COLUMNS} columns, not {len(words)}", file, number)
    try:
        _scenarios([line])
    except UnicodeDecodeError:
        raise FormatError(f"map name {shown(words[1])} is not UTF-8", file, number) from None
    except (ValueError, OverflowError):
        raise FormatError(
            "a scenario is bucket, map, width, height, start x y, goal x y inside the map, length >= 0, not "
            f"{shown(line.strip())}",
            file,
            number,
        ) from None


_COLUMNS_3D = 8


@checks.checked
@dataclass(frozen=True, eq=False)
class Map3D:
    """A MovingAI voxel map, in which everything but the blocked voxels is free.

    Attributes
    ----------
    shape : (3,) int32 array
        Voxels along x, y, z.
    blocked : (n, 3) int32 array
        Blocked voxels (x, y, z), in the order of the file.

    Examples
    --------
    >>> voxels = Map3D([3, 2, 2], [(1, 0, 0), (1, 1, 0)])
    >>> voxels
    <Map3D: 3 x 2 x 2, 2 blocked>
    >>> voxels.blocked[voxels.blocked[:, 2] == 0].tolist()  # on the ground
    [[1, 0, 0], [1, 1, 0]]
    """

    shape: NDArray[np.int32]
    blocked: NDArray[np.int32]

    def __post_init__(self) -> None:
        size = checks.wholes(self.shape, "shape")
        if size.shape != (3,) or not (size.min() >= 1 and size.max() < 1 << 31):
            raise ParameterError(f"shape must be three whole numbers above 0, not {checks.shown(self.shape)}")
        voxels = checks.wholes(self.blocked, "blocked")
        voxels = voxels if voxels.size else np.empty((0, 3), np.int32)
        if voxels.ndim != 2 or voxels.shape[1] != 3 or (voxels < 0).any() or (voxels >= size).any():
            raise ParameterError(f"blocked must be voxels (n, 3) inside {' x '.join(map(str, size.tolist()))}")
        object.__setattr__(self, "shape", size.astype(np.int32))
        object.__setattr__(self, "blocked", np.ascontiguousarray(voxels, np.int32))

    def dense(self, limit: int = 1 << 30) -> NDArray[np.bool_]:
        """Return a boolean array of `shape` that is True where blocked; it takes one byte for each voxel.

        Parameters
        ----------
        limit : int, voxels
            A larger map raises a `ParameterError` instead of filling the memory.

        Examples
        --------
        >>> voxels = Map3D([3, 2, 2], [(1, 0, 0), (1, 1, 0)])
        >>> voxels.dense().sum(axis=2).tolist()  # blocked voxels of each column
        [[0, 0], [1, 1], [0, 0]]
        >>> Map3D([3000, 3000, 3000], []).dense()
        Traceback (most recent call last):
            ...
        wayfold.errors.ParameterError: a dense array of 3000 x 3000 x 3000 voxels is over the limit of 1073741824
        """
        limit = checks.whole(limit, "limit", low=1)
        size = tuple(self.shape.tolist())
        if np.prod(size, dtype=object) > limit:
            raise ParameterError(
                f"a dense array of {size[0]} x {size[1]} x {size[2]} voxels is over the limit of {limit}"
            )
        array = np.zeros(size, bool)
        array[tuple(self.blocked.T)] = True
        return array

    def __repr__(self) -> str:
        x, y, z = self.shape.tolist()
        return f"<Map3D: {x} x {y} x {z}, {len(self.blocked)} blocked>"


def check_columns(scenarios: Any, count: int, *, cells: Mapping[str, int], numbers: Sequence[str]) -> None:
    """Make arrays of what holds `count` queries: cells of so many coordinates (1: a column), and numbers."""
    for name in (*cells, *numbers):
        given, wide = getattr(scenarios, name), cells.get(name, 1)
        array = checks.wholes(given, name) if name in cells else checks.floats(given, name)
        if array.shape != ((count,) if wide == 1 else (count, wide)):
            raise ParameterError(f"{name} must hold {count} queries, not shape {array.shape}")
        if array.size and not (array.min() >= 0 and (name in numbers or array.max() < 1 << 31)):
            raise ParameterError(f"{name} must be at least 0, and cells below 2^31")
        object.__setattr__(scenarios, name, array.astype(np.int32) if name in cells else array)


class Scenario3D(NamedTuple):
    """One query of a 3D benchmark: from the voxel `start` to the voxel `goal`, both (x, y, z).

    >>> query = Scenario3D(start=(0, 0, 0), goal=(2, 0, 0), length=2.828, ratio=1.414)
    >>> query.goal, query.ratio > 1  # there is something in the way
    ((2, 0, 0), True)
    """

    start: tuple[int, int, int]
    goal: tuple[int, int, int]
    length: float
    """Length of a shortest path with 26 neighbours."""
    ratio: float
    """That length over the length without obstacles."""


@dataclass(frozen=True, eq=False)
class Scenarios3D(Sequence[Scenario3D]):
    """The queries of a 3D scenario file, in arrays; ``scenarios[i]`` is query i as a `Scenario3D`.

    Attributes
    ----------
    map : str
        Name of the map file.
    starts, goals : (q, 3) int32 arrays
        Voxels (x, y, z).
    lengths : (q,) float64 array
        Length of a shortest path with 26 neighbours (1, sqrt 2, sqrt 3).
    ratios : (q,) float64 array
        That length over the length without obstacles.

    Examples
    --------
    >>> queries = Scenarios3D("hut.3dmap", [(0, 0, 0), (0, 1, 1)], [(2, 0, 0), (2, 1, 1)], [2.5, 2.0], [1.25, 1.0])
    >>> queries
    <Scenarios3D: 2 queries on hut.3dmap>
    >>> queries.lengths[queries.ratios > 1].tolist(), queries[1].goal
    ([2.5], (2, 1, 1))
    """

    map: str
    starts: NDArray[np.int32]
    goals: NDArray[np.int32]
    lengths: NDArray[np.float64]
    ratios: NDArray[np.float64]

    def __post_init__(self) -> None:
        checks.text(self.map, "map")
        check_columns(self, len(self.lengths), cells={"starts": 3, "goals": 3}, numbers=("lengths", "ratios"))

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, index: int) -> Scenario3D: ...
    @overload
    def __getitem__(self, index: slice) -> Scenarios3D: ...
    def __getitem__(self, index: int | slice) -> Scenario3D | Scenarios3D:
        if isinstance(index, slice):
            rest = (self.starts[index], self.goals[index], self.lengths[index], self.ratios[index])
            return Scenarios3D(self.map, *rest)
        i = range(len(self))[index]
        start, goal = self.starts[i].tolist(), self.goals[i].tolist()
        return Scenario3D(
            (start[0], start[1], start[2]), (goal[0], goal[1], goal[2]), float(self.lengths[i]), float(self.ratios[i])
        )

    def __iter__(self) -> Iterator[Scenario3D]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<Scenarios3D: {len(self)} queries on {self.map}>"


@checks.checked
def load_map3d(file: File) -> Map3D:
    """Read a MovingAI voxel map (`.3dmap`).

    Raises
    ------
    FormatError
        With the line, when the header is not ``voxel X Y Z`` or a row is not a voxel inside the map.

    Examples
    --------
    >>> voxels = Map3D([3, 2, 2], [(1, 0, 0), (1, 1, 0)])
    >>> save_map3d(voxels, "hut.3dmap")
    >>> load_map3d("hut.3dmap").blocked.tolist()
    [[1, 0, 0], [1, 1, 0]]
    """
    lines = read_text(file).split(b"\n")
    words = lines[0].split()
    if len(words) != 4 or words[0].lower() != b"voxel":
        raise FormatError(f"expected 'voxel X Y Z', not {shown(lines[0])}", file, 1)
    if not all(word.isdigit() and len(word) < 10 and int(word) for word in words[1:]):
        raise FormatError(f"sizes must be whole numbers above 0, not {shown(lines[0])}", file, 1)
    shape = np.array([int(word) for word in words[1:]], np.int32)
    try:
        blocked = _voxels(lines[1:], shape)
    except (ValueError, OverflowError):
        for number, line in enumerate(lines[1:], 2):
            try:
                _voxels([line], shape)
            except (ValueError, OverflowError):
                raise FormatError(f"expected a voxel x y z inside the map, not {shown(line)}", file, number) from None
        raise  # pragma: no cover - the line that fails together fails alone
    return Map3D(shape, blocked)


def _voxels(lines: list[bytes], shape: NDArray[np.int32]) -> NDArray[np.int32]:
    """The lines as voxels inside `shape`; a `ValueError` or `OverflowError` when one of them is none."""
    voxels = np.stack([whole_numbers(column) for column in columns(lines, 3)], axis=1)
    if (voxels < 0).any() or (voxels >= shape).any():
        raise ValueError("a voxel lies outside the map")
    return voxels.astype(np.int32)


@checks.checked
def save_map3d(voxels: Map3D, file: File) -> None:
    """Write a MovingAI voxel map (`.3dmap`).

    Raises
    ------
    FormatError
        When the file cannot be written.

    Examples
    --------
    >>> voxels = Map3D([3, 2, 2], [(1, 0, 0), (1, 1, 0)])
    >>> from pathlib import Path
    >>> save_map3d(voxels, "hut.3dmap")
    >>> print(Path("hut.3dmap").read_text())
    voxel 3 2 2
    1 0 0
    1 1 0
    """
    with replacing(file) as handle:
        handle.write(b"voxel %d %d %d\n" % tuple(voxels.shape.tolist()))
        handle.writelines(b"%d %d %d\n" % tuple(voxel) for voxel in voxels.blocked.tolist())


@checks.checked
def load_scen3d(file: File) -> Scenarios3D:
    """Read a MovingAI 3D scenario file (`.3dscen`).

    Raises
    ------
    VersionError
        When its version is not 1.
    FormatError
        With the line, when there is no map name or a row is not start x y z, goal x y z, length, ratio.

    Examples
    --------
    >>> queries = Scenarios3D("hut.3dmap", [(0, 0, 0), (0, 1, 1)], [(2, 0, 0), (2, 1, 1)], [2.5, 2.0], [1.25, 1.0])
    >>> save_scen3d(queries, "hut.3dscen")
    >>> load_scen3d("hut.3dscen")[0]
    Scenario3D(start=(0, 0, 0), goal=(2, 0, 0), length=2.5, ratio=1.25)
    """
    lines = read_text(file).split(b"\n")
    check_version(file, lines[0])
    name = lines[1].strip() if len(lines) > 1 else b""
    try:
        spelled = name.decode()
    except UnicodeDecodeError:
        raise FormatError(f"map name {shown(name)} is not UTF-8", file, 2) from None
    if not spelled:
        raise FormatError("expected the name of the map", file, 2)
    try:
        return _scenarios_3d(spelled, lines[2:])
    except (ValueError, OverflowError):
        for number, line in enumerate(lines[2:], 3):
            try:
                _scenarios_3d(spelled, [line])
            except (ValueError, OverflowError):
                raise FormatError(
                    f"a 3D scenario is start x y z, goal x y z, length, ratio, all >= 0, not {shown(line)}",
                    file,
                    number,
                ) from None
        raise  # pragma: no cover - the line that fails together fails alone


def _scenarios_3d(name: str, lines: list[bytes]) -> Scenarios3D:
    """The lines as arrays; a `ValueError` or `OverflowError` when one of them is wrong."""
    words = columns(lines, _COLUMNS_3D)
    ends = np.stack([whole_numbers(column) for column in words[:6]], axis=1)
    lengths, ratios = (finite_numbers(column) for column in words[6:])
    if (ends < 0).any() or (ends >= 1 << 31).any() or (lengths < 0).any() or (ratios < 0).any():
        raise ValueError("a value is out of range")
    starts, goals = (np.ascontiguousarray(ends[:, k : k + 3], np.int32) for k in (0, 3))
    return Scenarios3D(name, starts, goals, lengths, ratios)


@checks.checked
def save_scen3d(scenarios: Scenarios3D, file: File) -> None:
    """Write a MovingAI 3D scenario file (`.3dscen`); lengths and ratios keep every digit.

    Raises
    ------
    ParameterError
        When the name of the map is not one line of text.
    FormatError
        When the file cannot be written.

    Examples
    --------
    >>> queries = Scenarios3D("hut.3dmap", [(0, 0, 0), (0, 1, 1)], [(2, 0, 0), (2, 1, 1)], [2.5, 2.0], [1.25, 1.0])
    >>> from pathlib import Path
    >>> save_scen3d(queries, "hut.3dscen")
    >>> print(Path("hut.3dscen").read_text())
    version 1
    hut.3dmap
    0 0 0 2 0 0 2.5 1.25
    0 1 1 2 1 1 2.0 1.0
    """
    check_line(scenarios.map, "the name of the map")
    with replacing(file) as handle:
        handle.write(f"version 1\n{scenarios.map}\n".encode())
        for row in scenarios:
            words = (*row.start, *row.goal, repr(row.length), repr(row.ratio))
            handle.write((" ".join(map(str, words)) + "\n").encode())


def check_version(file: File, line: bytes) -> None:
    """Raise unless the first line of a scenario file is ``version 1``."""
    words = line.split()
    if len(words) != 2 or words[0].lower() != b"version":
        raise FormatError(f"expected 'version 1', not {shown(line)}", file, 1)
    if words[1] not in (b"1", b"1.0"):
        raise VersionError(f"scenario version {shown(words[1])} is not supported; use version 1", file, 1)
