"""What each option of the sparse grid beyond Sturtevant 2011 costs and gains against the grid without it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import WrongAnswerError
from wayfold.grid import SparseGrid

Step = Callable[[str], None]
Cells = NDArray[np.int64]

_ROUNDS = 7


def options(files: list[Path], strip: Callable[[SparseGrid], Cells], progress: Step) -> list[dict[str, Any]]:
    """Each option off and on: rows of option, what is measured, off, on, and which of the two is the default."""
    rows: list[dict[str, Any]] = []

    def row(option: str, what: str, off: float, on: float, default: str) -> None:
        rows.append({"option": option, "measured": what, "off": off, "on": on, "default": default})

    totals: dict[str, list[float]] = {}
    for file in files:
        progress(f"options, {file.stem}")
        for name, value in _on_map(file, strip).items():
            totals.setdefault(name, []).append(value)
    mean = {name: float(np.mean(values)) for name, values in totals.items()}
    row("merge", "regions after 99 cells were cut and added", mean["regions apart"], mean["regions merged"], "on")
    row("merge", "ms to add 99 cells", mean["add apart"], mean["add merged"], "on")
    row("trim", "bytes of the live arrays", mean["bytes whole"], mean["bytes trimmed"], "on")
    row("trim", "ms to cut 99 cells", mean["cut whole"], mean["cut trimmed"], "on")
    row("trim", "ms to add 99 cells", mean["add whole"], mean["add trimmed"], "on")
    row("share", "bytes of cells (off: trimmed) in grids as large as sectors", mean["boxes"], mean["shared"], "off")
    row("share", "bytes of cells (off: trimmed) in boxes, with owners", mean["boxes"], mean["shared boxes"], "off")
    row("reserve", "ms to cut and add 99 cells, first time", mean["first edit"], mean["first edit reserved"], "off")
    row("reserve", "arrays made anew by that", mean["made anew"], mean["made anew reserved"], "off")
    progress("options, drops and links")
    for option, what, off, on in _on_terraces():
        row(option, what, off, on, "off")
    return rows


def _on_map(file: Path, strip: Callable[[SparseGrid], Cells]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, option in (("merged", {}), ("apart", {"merge": False}), ("trimmed", {}), ("whole", {"trim": False})):
        grid = SparseGrid.from_movingai(file, **option)
        cells = strip(grid)
        found[f"bytes {name}"] = grid.nbytes
        found[f"cut {name}"], found[f"add {name}"] = edit_times(grid, cells)
        found[f"regions {name}"] = grid.num_regions
    grid = SparseGrid.from_movingai(file)
    found["boxes"] = grid.memory(trimmed=True).cells
    found["shared"], found["shared boxes"] = shared_bytes(grid)
    for name, reserved in (("", False), (" reserved", True)):
        grid = SparseGrid.from_movingai(file)
        cells = strip(grid)
        if reserved:
            grid.reserve(16 * len(cells) + 4096, regions=256, edges=4096)
        arrays = [id(array) for array in grid._store if isinstance(array, np.ndarray)]
        found[f"first edit{name}"] = sum(edit_times(grid, cells, rounds=1))
        now = [id(array) for array in grid._store if isinstance(array, np.ndarray)]
        found[f"made anew{name}"] = sum(a != b for a, b in zip(arrays, now, strict=True))
    return found


def edit_times(grid: SparseGrid, cells: Cells, rounds: int = _ROUNDS) -> tuple[float, float]:
    """Least milliseconds of some rounds to remove cells and to add them again."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        grid.remove(cells)
        between = time.perf_counter()
        grid.add(cells)
        times.append((between - begin, time.perf_counter() - between))
    cut, add = 1e3 * np.min(times, axis=0)
    return float(cut), float(add)


def shared_bytes(grid: SparseGrid) -> tuple[int, int]:
    """Bytes of cells when regions of a sector whose cells lie side by side share a grid, as Sturtevant 2011 proposes.

    In grids as large as a sector, without anything that says whose a cell is; and in grids trimmed to the box of the
    regions that share them, with a byte a cell that says it where there are several. Regions share with the first ones
    that they can share with.
    """
    table = grid.regions()
    size = grid.sector_size
    columns = [set[tuple[int, int]]() for _ in range(len(table.centres))]
    for (x, y, _), region in zip(table.cells.tolist(), table.region.tolist(), strict=True):
        columns[region].add((x, y))
    sectors: dict[tuple[int, int], list[tuple[int, set[tuple[int, int]]]]] = {}
    for (x, y, _), own in zip(table.centres.tolist(), columns, strict=True):
        shared = sectors.setdefault((x // size, y // size), [])
        for at, (members, others) in enumerate(shared):
            if not others & own:
                shared[at] = (members + 1, others | own)
                break
        else:
            shared.append((1, own))
    whole, boxes = 0, 0
    for grids in sectors.values():
        for members, own in grids:
            x, y = zip(*own, strict=True)
            area = (max(x) - min(x) + 1) * (max(y) - min(y) + 1)
            whole += 2 * size * size
            boxes += (3 if members > 1 else 2) * area
    return whole, boxes


def terraces(side: int = 192, height: int = 6) -> Cells:
    """Terraces that lead down from west to east, each a wall higher than a step above the next, with a ramp each."""
    x, y = np.meshgrid(np.arange(side), np.arange(side))
    terrace = x // 32
    z = -height * terrace
    ramp = (y >= side - 8) & (x % 32 < height)
    z = np.where(ramp & (terrace > 0), z + height - 1 - x % 32, z)
    return np.column_stack([x.ravel(), y.ravel(), z.ravel()])


def _on_terraces() -> list[tuple[str, str, float, float]]:
    """Drops and links: what they cost a search that has no use for them, and what they gain one that has."""
    cells = terraces()
    side = int(cells[:, 0].max()) + 1
    lowest = int(cells[:, 2].min())
    start, goal = (0, 0, 0), (side - 1, 0, lowest)
    grids = {
        name: SparseGrid.from_cells(cells, drop=8 if name == "steep" else 0) for name in ("plain", "steep", "linked")
    }
    for x in range(32, side, 32):
        grids["linked"].add_link((x, 0, -6 * (x // 32)), (x - 1, 0, 6 - 6 * (x // 32)))
    took: dict[str, list[float]] = {name: [] for name in grids}
    for _ in range(_ROUNDS + 1):
        for name, grid in grids.items():
            begin = time.perf_counter()
            settled = grid.path((0, 0, 0), (24, side - 1, 0), exact=True).expanded
            took[name].append((time.perf_counter() - begin) / settled)
    strip = cells[(cells[:, 0] == 40) & (cells[:, 1] < 99)]
    times = {}
    for name, grid in grids.items():
        down, back = (grid.path(*ends, exact=True) for ends in ((start, goal), (goal, start)))
        if not down or not back:
            raise WrongAnswerError(f"the terraces with {name} edges are not connected")
        times[name] = (down.cost, back.cost, 1e9 * min(took[name][1:]), sum(edit_times(grid, strip)))
    rows = []
    for option, name in (("drop", "steep"), ("links", "linked")):
        for at, what in enumerate(
            ("cost of the way down", "cost of the way up", "ns for each settled cell", "ms to cut and add 99 cells")
        ):
            rows.append((option, f"{what}, terraces", times["plain"][at], times[name][at]))
    return rows
