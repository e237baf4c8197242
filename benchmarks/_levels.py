"""Real 3D levels as sparse grids: which players can walk to each other, and what it takes where they cannot."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import Agent
from wayfold.core.arrays import distinct
from wayfold.errors import OffMapError
from wayfold.formats import Carrier, SpawnPoint, load_bsp, load_mesh
from wayfold.geometry import Mesh, TriangleIndex
from wayfold.grid import SparseGrid

PLAYER = Agent(radius=15.0, height=56.0, climb=18.0, slope=math.degrees(math.acos(0.7)))
"""The player of Quake 3, in its units."""
RECAST = Agent(radius=0.6, height=2.0, climb=0.9, slope=45.0)
"""The agent of Recast's samples, in metres."""
JUMP = 45.0
"""Units that a Quake 3 player jumps: 270 units a second up against a gravity of 800."""
LEAP = 200.0
"""Units that it gets across a gap by a running jump at 320 units a second, a little less than 0.675 s take it."""
PASSABLE = ("water", "lava", "slime", "mesh")
"""Groups of level files that players pass through (`mesh` is decoration)."""

_SPAWNS = (
    "info_player_deathmatch",
    "info_player_start",
    *(f"team_CTF_{team}{what}" for team in ("red", "blue") for what in ("player", "spawn")),
)
_ITEMS = ("item_", "weapon_", "ammo_", "holdable_", "misc_teleporter_dest", "target_position", "domination_")
_CELL = 8.0
_TRIES = 32  # leaps of each kind from one component to another that are tried
WAYS = ("walk", "fall", "jump", "leap", "carried")
"""Ways to get about; each one in the table comes on top of those before it."""


class QuakeLevel(NamedTuple):
    """A level with what a player collides with, the places that it names, and what carries players."""

    name: str
    mesh: Mesh
    points: list[SpawnPoint]
    carriers: list[Carrier]

    def places(self, *kinds: str) -> NDArray[np.float64]:
        """Positions of the named places whose kind begins with one of some words."""
        return np.array([point.position for point in self.points if point.kind.startswith(kinds)]).reshape(-1, 3)

    @property
    def spawns(self) -> NDArray[np.float64]:
        """Where players appear."""
        return self.places(*_SPAWNS)


def level_files(data: Path) -> list[Path]:
    """All Quake levels of the data folder."""
    return sorted(file for file in (data / "quake").iterdir() if file.suffix in (".bsp", ".obj"))


def read_level(file: Path) -> QuakeLevel:
    """A `.bsp` level, or collision hulls as `.obj` with the named places beside them."""
    if file.suffix == ".bsp":
        level = load_bsp(file)
        return QuakeLevel(file.name, level.mesh, level.points, level.carriers)
    listed = json.loads(file.with_suffix(".points.json").read_text(encoding="utf-8"))["points"]
    points = [SpawnPoint(point["kind"], np.array(point["pos"], float), 0.0) for point in listed]
    return QuakeLevel(file.name, load_mesh(file, up="z").without(*PASSABLE), points, [])


def level_grid(level: QuakeLevel) -> SparseGrid:
    """The cells of a level that are connected to a place that it names: no roofs, nothing inside of solids."""
    ends = [carrier.target for carrier in level.carriers if carrier.kind == "trigger_teleport"]
    seeds = np.concatenate([level.places(*_SPAWNS, *_ITEMS), np.array(ends).reshape(-1, 3)])
    return SparseGrid.from_mesh(level.mesh, PLAYER, _CELL, seeds=seeds)


class Moves(NamedTuple):
    """One-way moves between cells of different components that are no steps."""

    sources: NDArray[np.int64]  # (k, 3), cells
    ends: NDArray[np.int64]  # (k, 3)
    ways: NDArray[np.int64]  # (k,), numbers of WAYS


def moves(level: QuakeLevel, grid: SparseGrid) -> Moves:
    """What else than walking leads from component to component of a level: of each way at most one for each pair.

    A fall leads over an edge to the floor below, a jump onto something at most `JUMP` higher, a leap across a gap of at
    most `LEAP`; each counts only where the player has room all along. Carriers are jump pads and teleporters.
    """
    cells = grid.cells
    component = grid.component_of(cells)
    index = TriangleIndex(level.mesh)
    level_height = float(grid.scale[2])
    near = math.ceil(2.0 * PLAYER.radius / _CELL)
    found = [(np.empty((0, 3), np.int64), np.empty((0, 3), np.int64), np.empty(0, np.int64))]
    seen: set[tuple[int, int, int]] = set()
    columns = _Columns(cells)
    for away in range(1, int(LEAP / _CELL) + 1):
        for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)):
            below = columns.highest(cells + np.array([dx * away, dy * away, int(JUMP / level_height)]))
            source = np.flatnonzero((below >= 0) & (component[below] != component))
            end = below[source]
            rise = (cells[end, 2] - cells[source, 2]) * level_height
            way = np.where(away > near, 3, np.where(rise > 0, 2, 1))
            pair = (component[source].astype(np.int64) << 34) | (component[end].astype(np.int64) << 4) | way
            for number, tries in _groups(pair, _TRIES):
                key = (int(component[source[tries[0]]]), int(component[end[tries[0]]]), int(number & 15))
                if key in seen or any((key[0], key[1], lower) in seen for lower in range(1, key[2])):
                    continue
                fine = tries[_has_room(index, grid.to_world(cells[source[tries]]), grid.to_world(cells[end[tries]]))]
                if len(fine):
                    seen.add(key)
                    found.append((cells[source[fine[:1]]], cells[end[fine[:1]]], way[fine[:1]]))
    for carrier in level.carriers:
        inside, landing = _carried(grid, cells, carrier, _flown_into(carrier, level.carriers))
        starts = inside[np.unique(component[inside], return_index=True)[1]]
        found.append((cells[starts], np.repeat(landing[None], len(starts), axis=0), np.full(len(starts), 4)))
    return Moves(*(np.concatenate(part) for part in zip(*found, strict=True)))


class _Columns:
    """The cells of a grid by column and height."""

    def __init__(self, cells: NDArray[np.int64]) -> None:
        self.low = cells.min(axis=0) - 64
        self.size = cells.max(axis=0) - self.low + 128
        self.codes = self._code(cells)
        self.order = np.argsort(self.codes)
        self.sorted = self.codes[self.order]

    def _code(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        x, y, z = (cells - self.low).T
        return np.asarray((y * self.size[0] + x) * self.size[2] + z)

    def highest(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """The highest cell in the column of each cell that does not lie above it, -1 for none."""
        inside = ((cells >= self.low) & (cells < self.low + self.size)).all(axis=1)
        codes = self._code(np.where(inside[:, None], cells, self.low))
        at = np.searchsorted(self.sorted, codes, side="right") - 1
        same = inside & (at >= 0) & (self.sorted[at] // self.size[2] == codes // self.size[2])
        return np.where(same, self.order[at], -1)


def _groups(keys: NDArray[np.int64], most: int) -> list[tuple[int, NDArray[np.int64]]]:
    """Some places of each key, spread over all of them."""
    order = np.argsort(keys, kind="stable")
    values, firsts, counts = np.unique(keys[order], return_index=True, return_counts=True)
    spread = [np.unique(np.linspace(0, count - 1, min(most, count)).astype(int)) for count in counts]
    return [(int(v), order[first + part]) for v, first, part in zip(values, firsts, spread, strict=True)]


def _has_room(index: TriangleIndex, a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether a player has room to rise from a to the higher of two places, get across, and fall to b."""
    top = np.maximum(a[:, 2], b[:, 2])
    free = np.ones(len(a), np.bool_)
    low, high = PLAYER.height / 2.0, PLAYER.height - PLAYER.radius
    for first, last, from_height, to_height in (
        (a, a, a[:, 2] + low, top + high),
        (a, b, top + low, top + low),
        (a, b, top + high, top + high),
        (b, b, b[:, 2] + low, top + high),
    ):
        start, end = first.copy(), last.copy()
        start[:, 2], end[:, 2] = from_height, to_height
        free &= index.clear(start, end, PLAYER.radius * 0.99)
    return free


def _flown_into(carrier: Carrier, others: list[Carrier]) -> NDArray[np.float64]:
    """Where a carrier leads in the end: a jump pad may throw players into a teleporter that hangs in the air."""
    for other in others:
        beside = np.maximum(other.box[0] - carrier.target, carrier.target - other.box[1])
        if carrier.kind == "trigger_push" and other.kind == "trigger_teleport" and beside.max() <= 2.0 * PLAYER.radius:
            return other.target
    return carrier.target


def _carried(
    grid: SparseGrid, cells: NDArray[np.int64], carrier: Carrier, target: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of the cells from which a carrier takes players, and the cell to which it does."""
    feet = grid.to_world(cells)
    low, high = carrier.box - [[PLAYER.radius, PLAYER.radius, PLAYER.height], [-PLAYER.radius, -PLAYER.radius, 0.0]]
    inside = np.flatnonzero(((feet >= low) & (feet <= high)).all(axis=1))
    try:
        landing = grid.to_cells(target[None], max_distance=8.0)[0]
    except OffMapError:  # it leads to where nobody can stand
        return inside[:0], np.zeros(3, np.int64)
    return inside, landing


def groups(component: NDArray[np.int32], links: NDArray[np.int64], spawns: NDArray[np.int32]) -> list[int]:
    """Sizes of the groups of spawns when links (k, 2) join components, be it in one direction only."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = int(component.max()) + 1
    graph = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(count, count))
    _, labels = connected_components(graph, directed=False)
    return sorted(np.unique(labels[spawns], return_counts=True)[1].tolist(), reverse=True)


def recast_facts(file: Path) -> dict[str, Any]:
    """What a sample of Recast is as a sparse grid, with the part that is connected to its largest component."""
    mesh = load_mesh(file, up="y")
    begin = time.perf_counter()
    grid = SparseGrid.from_mesh(mesh, RECAST, 0.3)
    seconds = time.perf_counter() - begin
    cells = grid.cells
    sizes = np.bincount(grid.component_of(cells))
    stacked = distinct(cells[:, :2]).counts
    return {
        "level": file.name,
        "triangles": len(mesh),
        "cells": grid.num_cells,
        "floors": int(stacked.max()),
        "regions": grid.num_regions,
        "bytes": grid.nbytes,
        "build_seconds": seconds,
        "largest_component": float(sizes.max() / sizes.sum()),
    }


def level_facts(file: Path) -> dict[str, Any]:
    """What a level is as a sparse grid, and the groups of players by the ways in which they may get about."""
    level = read_level(file)
    begin = time.perf_counter()
    grid = level_grid(level)
    seconds = time.perf_counter() - begin
    other = moves(level, grid)
    cells = grid.cells
    component = grid.component_of(cells)
    links = np.column_stack([grid.component_of(other.sources), grid.component_of(other.ends)]).astype(np.int64)
    at = grid.component_of(grid.to_cells(level.spawns, max_distance=4.0))
    stacked = distinct(cells[:, :2]).counts
    return {
        "level": level.name,
        "triangles": len(level.mesh),
        "cells": grid.num_cells,
        "floors": int(stacked.max()),
        "regions": grid.num_regions,
        "bytes": grid.nbytes,
        "build_seconds": seconds,
        "spawns": len(at),
        "groups": {way: groups(component, links[other.ways <= number], at) for number, way in enumerate(WAYS)},
        "carriers": len(level.carriers),
    }
