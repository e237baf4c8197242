"""The tables of Sturtevant 2011 (sparse grid, 2011) on the Dragon Age maps, beside ours, and what goes beyond them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import _grid_options, _levels
from benchmarks.harness import WrongAnswerError
from benchmarks.real_data import RealData
from benchmarks.tables.sparse_grid import EDITS, WAYS
from wayfold.formats import Scenarios, load_map, load_scen
from wayfold.grid import DenseGrid, SparseGrid, _dense_kernels, _search_kernels, _warm

SECTORS = (8, 12, 16)
_STRIP = 99

Step = Callable[[str], None]


def run(data: RealData, *, full: bool, progress: Step) -> dict[str, Any]:
    """Measure everything; `full` takes all maps and more queries, otherwise every tenth map."""
    files = data.find("movingai/dao/*.map", "memory, Tables 1 and 2, planning and options on Dragon Age maps")
    some = files if full else files[::10]
    progress("compiling")
    _warm.warm()
    return {
        "maps": len(files),
        "memory": memory(files, progress) if files else [],
        "table_1": [successors(some, size, progress) for size in SECTORS] if files else [],
        "table_2": [edits(some, size, progress) for size in SECTORS] if files else [],
        "planning": planning(some, 20 if full else 8, progress) if files else None,
        "options": _grid_options.options(some if full else some[::4], strip, progress) if files else [],
        "levels": levels(data, full, progress),
        "large": large(16_384 if full else 2_048, progress),
    }


def levels(data: RealData, full: bool, progress: Step) -> list[dict[str, Any]]:
    """Real 3D: the samples of Recast and all Quake levels (only smaller ones with their carriers, unless `full`)."""
    found = []
    for name in ("nav_test", "dungeon"):
        progress(f"level {name}")
        sample = data.file(f"recast/{name}.obj", f"the level {name}")
        if sample is not None:
            found.append(_levels.recast_facts(sample))
    quake = data.find("quake/*.bsp", "Quake levels")
    for file in _levels.level_files(quake[0].parents[1]) if quake else []:
        if full or (file.suffix == ".bsp" and file.stat().st_size < 1 << 21):
            progress(f"level {file.name}")
            found.append(_levels.level_facts(file))
    return found


def memory(files: list[Path], progress: Step) -> list[dict[str, Any]]:
    """Bytes of every map by sector size: the paper's accounting, trimmed to boxes, and the live arrays."""
    tables = []
    for size in (12, 16):
        rows: list[dict[str, Any]] = []
        for file in files:
            progress(f"memory, sector {size}, {file.stem}")
            grid = SparseGrid.from_movingai(file, size)
            kinds = load_map(file).kinds
            rows.append(
                {
                    "map": file.stem,
                    "regular": 2 * kinds.size,
                    "paper": grid.memory().total,
                    "trimmed": grid.memory(trimmed=True).total,
                    "nbytes": grid.nbytes,
                }
            )
        ratios = np.array([row["nbytes"] / row["paper"] for row in rows])
        facts: dict[str, Any] = {
            "sector": size,
            "rows": rows,
            "nbytes_ratio": float(sum(row["nbytes"] for row in rows) / sum(row["paper"] for row in rows)),
            "nbytes_ratio_largest": float(ratios.max()),
            "maps_over_1.3": int((ratios > 1.3).sum()),
        }
        for name in ("paper", "trimmed", "nbytes"):
            values = [row[name] for row in rows]
            facts[name] = {"average": float(np.mean(values)), "maximum": max(values)}
        tables.append(facts)
    return tables


def successors(files: list[Path], size: int, progress: Step, rounds: int = 5) -> dict[str, Any]:
    """Table 1: time to generate all successors of all cells, as a ratio to the regular grid in the same round."""
    seconds = np.zeros((rounds + 1, 1 + len(WAYS)))
    out, spots = np.empty(8, np.int32), np.empty(8, np.int64)
    cells = 0
    for file in files:
        progress(f"successors, sector {size}, {file.stem}")
        dense = DenseGrid.from_movingai(file)
        rows, columns = np.nonzero(dense.kinds)
        nodes = (rows * dense.width + columns).astype(np.int32)
        where = np.column_stack([columns, rows, np.zeros_like(rows)]).astype(np.int64)
        grids = [SparseGrid.from_movingai(file, size, successors=way) for way in WAYS]
        states = [(grid._store, grid._nodes(where)) for grid in grids]
        cells += len(nodes)
        for turn in range(rounds + 1):
            begin = time.perf_counter()
            _, expected = _dense_kernels.sum_successors(dense._space, nodes, out)
            seconds[turn, 0] += time.perf_counter() - begin
            for at, (store, ids) in enumerate(states):
                begin = time.perf_counter()
                _, count = _search_kernels.sum_successors(store, ids, out, spots)
                seconds[turn, at + 1] += time.perf_counter() - begin
                if count != expected:
                    raise WrongAnswerError(f"{WAYS[at]} found {count} successors on {file.stem}, not {expected}")
    ratios = np.median(seconds[1:, 1:] / seconds[1:, :1], axis=0)
    return {
        "sector": size,
        "regular_ns": float(np.median(seconds[1:, 0]) / cells * 1e9),
        "ratios": dict(zip(WAYS, ratios.tolist(), strict=True)),
    }


def strip(grid: SparseGrid) -> NDArray[np.int64]:
    """99 cells in a row in the middle of a map, or where the middle row has fewer, more from the rows nearest to it."""
    cells = grid.cells
    middle = (cells[:, 1].min() + cells[:, 1].max()) // 2
    order = np.lexsort((cells[:, 0], cells[:, 1], np.abs(cells[:, 1] - middle)))
    return np.ascontiguousarray(cells[order][:_STRIP])


def edits(files: list[Path], size: int, progress: Step, repeats: int = 7) -> dict[str, Any]:
    """Table 2: milliseconds to cut 99 cells out of the middle of each map and to add them again, called from Python.

    Each map's time is the least of some repeats, so that what else the machine does is not measured.
    """
    cut, add = [], []
    for file in files:
        progress(f"edits, sector {size}, {file.stem}")
        grid = SparseGrid.from_movingai(file, size)
        cells = strip(grid)
        regions, edges = grid.num_regions, grid.num_abstract_edges
        times = []
        for _ in range(repeats):
            begin = time.perf_counter()
            grid.remove(cells)
            between = time.perf_counter()
            grid.add(cells)
            times.append((between - begin, time.perf_counter() - between))
            if (grid.num_regions, grid.num_abstract_edges) != (regions, edges):
                raise WrongAnswerError(f"{file.stem} is not as it was after its cells were cut and added again")
        cut.append(1e3 * min(pair[0] for pair in times))
        add.append(1e3 * min(pair[1] for pair in times))
    ours = (float(np.mean(cut)), max(cut), float(np.mean(add)), max(add))
    return {
        "sector": size,
        "ours": dict(zip(EDITS, ours, strict=True)),
    }


def planning(files: list[Path], queries: int, progress: Step) -> dict[str, Any]:
    """Exact and abstract planning on scenarios across all buckets, each answer checked against the listed optimum."""
    rows = []
    unreachable = 0
    for file in files:
        progress(f"planning, {file.stem}")
        grid = SparseGrid.from_movingai(file)
        scenarios = load_scen(file.with_name(file.name + ".scen"))
        assert isinstance(scenarios, Scenarios)
        chosen = np.unique(np.linspace(0, len(scenarios) - 1, queries).astype(int))
        for at in np.union1d(chosen, np.flatnonzero(scenarios.lengths == 0)[:20]):
            start, goal, length = scenarios.starts[at], scenarios.goals[at], float(scenarios.lengths[at])
            begin = time.perf_counter()
            exact = grid.path(start, goal, exact=True)
            first = time.perf_counter()
            abstract = grid.path(start, goal, smooth=True)
            second = time.perf_counter()
            trimmed = grid.path(start, goal, smooth=True, trim=0.5)
            if exact.found != abstract.found:
                raise WrongAnswerError(f"{file.stem}, query {at}: exact and abstract planning disagree")
            if length == 0.0:
                unreachable += not exact.found
                continue
            if abs(exact.cost - length) > max(1e-4, 0.51 * 10 ** (math.floor(math.log10(length)) - 5)):
                raise WrongAnswerError(f"{file.stem}, query {at}: {exact.cost} where {length} is listed")
            took = first - begin, second - first
            settled = exact.expanded, abstract.expanded
            lengths = abstract.cost / length, trimmed.cost / length
            rows.append((int(scenarios.bucket[at]), *settled, *took, *lengths, trimmed.expanded))
    table = np.array(rows)
    far = table[table[:, 0] > 100]
    facts: dict[str, Any] = {"queries": len(table), "unreachable": unreachable, "over_100": len(far)}
    if len(far):
        facts |= {
            "fewer_cells": float(far[:, 1].sum() / far[:, 2].sum()),
            "time_ratio": float(far[:, 4].sum() / far[:, 3].sum()),
            "length": float(far[:, 5].mean()),
            "length_trimmed": float(far[:, 6].mean()),
            "fewer_cells_trimmed": float(far[:, 1].sum() / far[:, 7].sum()),
        }
    facts["length_all"] = float(table[:, 5].mean())
    facts["length_quantiles"] = dict(
        zip(("5%", "50%", "95%", "100%"), np.quantile(table[:, 5], [0.05, 0.5, 0.95, 1.0]).tolist(), strict=True)
    )
    facts["lengths"] = table[:, 5].tolist()
    return facts


def large(side: int, progress: Step) -> dict[str, Any]:
    """A square world of which 5 % can be walked on, in winding roads: built, edited, and its bytes a cell."""
    progress(f"a world of {side} x {side} cells")
    cells = roads(side, 0.05)
    begin = time.perf_counter()
    grid = SparseGrid.from_cells(cells)
    built = time.perf_counter()
    cut = cells[len(cells) // 2 : len(cells) // 2 + _STRIP]
    times = []
    for _ in range(5):
        start = time.perf_counter()
        grid.remove(cut)
        grid.add(cut)
        times.append(time.perf_counter() - start)
    return {
        "side": side,
        "cells": len(cells),
        "build_seconds": built - begin,
        "edit_ms": 1e3 * min(times),
        "bytes_per_cell": grid.nbytes / len(cells),
        "bytes": grid.nbytes,
    }


def roads(side: int, share: float, width: int = 12) -> NDArray[np.int64]:
    """Cells of winding roads from edge to edge that cover about a share of a square world, each cell once."""
    rng = np.random.default_rng(1)
    count = max(1, round(share * side / width))
    along = np.arange(side)
    codes = []
    for at in range(count):
        wave = rng.uniform(0.2, 0.8) * side + side / 8 * np.sin(along * rng.uniform(1, 6) * 2 * np.pi / side)
        across = np.clip(wave.astype(np.int64)[:, None] + np.arange(width), 0, side - 1)
        codes.append((along[:, None] * side + across if at % 2 else across * side + along[:, None]).ravel())
    code = np.unique(np.concatenate(codes))
    return np.column_stack([code % side, code // side, np.zeros_like(code)])
