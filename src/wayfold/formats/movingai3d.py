"""Voxel maps and scenarios of the MovingAI 3D benchmarks: `.3dmap` and `.3dscen`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from wayfold.core import checks
from wayfold.core.archive import File, replacing
from wayfold.errors import FormatError, ParameterError, VersionError
from wayfold.formats._text import columns, finite_numbers, read_bytes, shown, whole_numbers

_COLUMNS = 8


@checks.checked
@dataclass(frozen=True, eq=False)
class Map3D:
    """A voxel map: everything is free but the blocked voxels.

    Attributes
    ----------
    shape : (3,) int32 array
        Voxels along x, y, z.
    blocked : (n, 3) int32 array
        Blocked voxels (x, y, z), in the order of the file.
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
        """A boolean array of `shape` that is True where blocked.

        Parameters
        ----------
        limit : int, voxels
            A larger map raises a `ParameterError` instead of filling the memory (one byte for each voxel).
        """
        limit = checks.whole(limit, "limit", low=1)
        size = tuple(self.shape.tolist())
        if np.prod(size, dtype=object) > limit:
            raise ParameterError(f"a dense array of {size[0]} x {size[1]} x {size[2]} voxels is over the limit {limit}")
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
            raise ParameterError(f"{name} must hold {count} queries, not be of shape {array.shape}")
        if array.size and not (array.min() >= 0 and (name in numbers or array.max() < 1 << 31)):
            raise ParameterError(f"{name} must be 0 or more, and cells below 2^31")
        object.__setattr__(scenarios, name, array.astype(np.int32) if name in cells else array)


class Scenario3D(NamedTuple):
    """One query of a 3D benchmark: from the voxel `start` to the voxel `goal`, both (x, y, z)."""

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
    """
    lines = read_bytes(file).split(b"\n")
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
    """Write a MovingAI voxel map."""
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
    """
    lines = read_bytes(file).split(b"\n")
    check_version(file, lines[0])
    name = lines[1].strip() if len(lines) > 1 else b""
    try:
        spelled = name.decode()
    except UnicodeDecodeError:
        raise FormatError(f"map name {shown(name)} is not UTF-8", file, 2) from None
    if not spelled:
        raise FormatError("expected the name of the map", file, 2)
    try:
        return _scenarios(spelled, lines[2:])
    except (ValueError, OverflowError):
        for number, line in enumerate(lines[2:], 3):
            try:
                _scenarios(spelled, [line])
            except (ValueError, OverflowError):
                raise FormatError(
                    f"a 3D scenario is start x y z, goal x y z, length, ratio, all >= 0, not {shown(line)}",
                    file,
                    number,
                ) from None
        raise  # pragma: no cover - the line that fails together fails alone


def _scenarios(name: str, lines: list[bytes]) -> Scenarios3D:
    """The lines as arrays; a `ValueError` or `OverflowError` when one of them is wrong."""
    words = columns(lines, _COLUMNS)
    ends = np.stack([whole_numbers(column) for column in words[:6]], axis=1)
    lengths, ratios = (finite_numbers(column) for column in words[6:])
    if (ends < 0).any() or (ends >= 1 << 31).any() or (lengths < 0).any() or (ratios < 0).any():
        raise ValueError("a value is out of range")
    starts, goals = (np.ascontiguousarray(ends[:, k : k + 3], np.int32) for k in (0, 3))
    return Scenarios3D(name, starts, goals, lengths, ratios)


@checks.checked
def save_scen3d(scenarios: Scenarios3D, file: File) -> None:
    """Write a MovingAI 3D scenario file; lengths keep every digit."""
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
        raise VersionError(f"scenario version {shown(words[1])} is not one that is read here (1)", file, 1)
