"""A mesh that differs from another one in a rectangle of tiles: the rest is carried over, renumbered.

Everything is numbered tile by tile, so a change moves the numbers of all later tiles by the same amount. Copying is
what a rebuild costs then; nothing is stitched, sorted or searched again outside the rectangle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.navmesh import _ground_kernels, _splice_kernels
from wayfold.navmesh._corridor_kernels import Portals
from wayfold.navmesh._ground_kernels import Cells, Ground
from wayfold.navmesh.joining import EDGES, POINTS, POLYGONS, TRIANGLES, VERTICES, Joined
from wayfold.navmesh.layout import Layout
from wayfold.navmesh.rectangle import Rectangle

Counts = NDArray[np.int64]
PORTALS, DOORS = 5, 6


class Splice:
    """How numbers of an old mesh move to the new one.

    Parameters
    ----------
    old : (tiles + 1, k) int64 array
        First polygon, edge, ... of each tile in the old mesh.
    fresh : (some tiles + 1, k) int64 array
        The same in a mesh of the tiles of `around` alone.
    changed : Rectangle
        Tiles that are taken from the fresh mesh.
    around : Rectangle
        Tiles of the fresh mesh: at least one more than `changed` on each side, as far as the world goes.
    columns : int
        Tiles in a row of the world.
    """

    def __init__(self, old: Counts, fresh: Counts, changed: Rectangle, around: Rectangle, columns: int) -> None:
        self.old, self.fresh = old, fresh
        tiles = around.numbers(columns)
        mine = changed.numbers(columns)
        counts = np.diff(old, axis=0)
        counts[mine] = np.diff(fresh, axis=0)[np.searchsorted(tiles, mine)]
        self.new = np.zeros_like(old)
        np.cumsum(counts, axis=0, out=self.new[1:])
        self.tiles = tiles
        # Stretches of tiles: (first, one past the last, first in the fresh mesh or -1 where they are carried over).
        self.stretches: list[tuple[int, int, int]] = []
        at = 0
        for row in range(changed.rows):
            first = (changed.y + row) * columns + changed.x
            last = first + changed.columns
            self.stretches += [(at, first, -1), (first, last, int(np.searchsorted(tiles, first)))]
            at = last
        self.stretches.append((at, len(old) - 1, -1))
        # Runs of numbers that move by the same amount: carried stretches, and each changed tile on its own.
        cuts = [0]
        gone: list[int] = []
        self._run_of: dict[int, int] = {}
        for first, last, source in self.stretches:
            if source < 0:
                self._run_of[first] = len(gone)
                cuts.append(last)
                gone.append(0)
            else:
                cuts += range(first + 1, last + 1)
                gone += [1] * (last - first)
        self.cuts = np.array(cuts)
        self.gone = np.array(gone, np.uint8)

    def starts(self, what: int) -> tuple[Counts, Counts]:
        """Where the runs of a kind of number begin, and by how much each moves."""
        return self.old[self.cuts, what], self.new[self.cuts[:-1], what] - self.old[self.cuts[:-1], what]

    def plain(self, what: int, old: NDArray[Any], fresh: NDArray[Any]) -> NDArray[Any]:
        """An array with one row for each item of a kind, without numbers in it."""
        result = np.empty((int(self.new[-1, what]), *old.shape[1:]), old.dtype)
        for first, last, source in self.stretches:
            part = result[self.new[first, what] : self.new[last, what]]
            if source < 0:
                part[...] = old[self.old[first, what] : self.old[last, what]]
            else:
                part[...] = self._fresh(what, fresh, first, last, source)
        return result

    def offsets(self, what: int, into: int, old: Counts, fresh: Counts) -> Counts:
        """First item of kind `into` of each item of kind `what`, and one more."""
        result = np.empty(int(self.new[-1, what]) + 1, np.int64)
        for first, last, source in self.stretches:
            part = result[self.new[first, what] : self.new[last, what]]
            if source < 0:
                rows = old[self.old[first, what] : self.old[last, what]]
                np.add(rows, self.new[first, into] - self.old[first, into], out=part)
            else:
                rows = self._fresh(what, fresh, first, last, source)
                np.add(rows, self.new[first, into] - self.fresh[source, into], out=part)
        result[-1] = self.new[-1, into]
        return result

    def numbers(self, what: int, into: int, old: NDArray[np.int32], fresh: NDArray[np.int32]) -> NDArray[np.int32]:
        """Numbers of kind `into` (-1 for none) in an array with one row for each item of kind `what`."""
        result = np.empty((int(self.new[-1, what]), *old.shape[1:]), np.int32)
        starts, shifts = self.starts(into)
        world = self.world(into)
        for first, last, source in self.stretches:
            part = result[self.new[first, what] : self.new[last, what]]
            if source < 0:
                rows = old[self.old[first, what] : self.old[last, what]]
                _splice_kernels.carry(rows.ravel(), starts, shifts, self._run_of[first], part.ravel())
            else:
                part[...] = world[self._fresh(what, fresh, first, last, source)]
        return result

    def world(self, into: int) -> NDArray[np.int32]:
        """The new number of each number of the fresh mesh; the last entry stands for -1."""
        counts = np.diff(self.fresh[:, into])
        shifts = self.new[self.tiles, into] - self.fresh[:-1, into]
        numbers = np.arange(self.fresh[-1, into]) + np.repeat(shifts, counts)
        return np.append(numbers, -1).astype(np.int32)

    def _fresh(self, what: int, fresh: NDArray[Any], first: int, last: int, source: int) -> NDArray[Any]:
        return fresh[self.fresh[source, what] : self.fresh[source + last - first, what]]


def splice_layout(
    bounds: Counts,
    old: Layout,
    fresh: Joined,
    changed: Rectangle,
    around: Rectangle,
    columns: int,
    components: NDArray[np.int32],
) -> tuple[Counts, Layout]:
    """The new mesh, with everything that the old one had already derived, and where its tiles begin."""
    part = Layout(fresh.ground, fresh.kinds, old.frame)
    had = old.__dict__
    firsts, freshest = [bounds], [fresh.bounds]
    if "portals" in had:
        for layout, of_tiles in ((old, firsts), (part, freshest)):
            polygons = of_tiles[0][:, POLYGONS]
            of_tiles += [layout.portals.firsts[polygons, None], layout.portals.rows[polygons, None]]
    splice = Splice(np.hstack(firsts), np.hstack(freshest), changed, around, columns)
    before, after = old.ground, fresh.ground
    jobs: dict[str, Callable[[], Any]] = {
        "vertices": lambda: splice.plain(VERTICES, before.vertices, after.vertices),
        "offsets": lambda: splice.offsets(POLYGONS, EDGES, before.offsets, after.offsets),
        "corners": lambda: splice.numbers(EDGES, VERTICES, before.corners, after.corners),
        "neighbours": lambda: splice.numbers(EDGES, POLYGONS, before.neighbours, after.neighbours),
        "surface_points": lambda: splice.plain(POINTS, before.surface_points, after.surface_points),
        "surface_offsets": lambda: splice.offsets(POLYGONS, TRIANGLES, before.surface_offsets, after.surface_offsets),
        "surface_triangles": lambda: splice.numbers(
            TRIANGLES, POINTS, before.surface_triangles, after.surface_triangles
        ),
        "kinds": lambda: splice.plain(POLYGONS, old.kinds, fresh.kinds),
    }
    if "centres" in had:
        jobs["centres"] = lambda: splice.plain(POLYGONS, old.centres, part.centres)
    if "areas" in had:
        jobs["areas"] = lambda: splice.plain(POLYGONS, old.areas, part.areas)
    if "twins" in had:
        jobs["twins"] = lambda: splice.numbers(EDGES, EDGES, old.twins, part.twins)
    if "dented" in had:
        jobs["dented"] = lambda: splice.plain(POLYGONS, old.dented, part.dented)
    if "turns" in had:
        jobs["turns"] = lambda: splice.plain(VERTICES, old.turns, part.turns)
    if "portals" in had:
        one, two = old.portals, part.portals
        jobs["firsts"] = lambda: splice.offsets(POLYGONS, PORTALS, one.firsts, two.firsts)
        jobs["rows"] = lambda: splice.offsets(POLYGONS, DOORS, one.rows, two.rows)
        jobs["doors"] = lambda: splice.numbers(DOORS, PORTALS, one.doors, two.doors)
        jobs["edges"] = lambda: splice.numbers(PORTALS, EDGES, one.edges, two.edges)
        jobs["sides"] = lambda: splice.numbers(PORTALS, POLYGONS, one.sides, two.sides)
        jobs["middles"] = lambda: splice.plain(PORTALS, one.middles, two.middles)
    if "cells" in had:
        jobs["cells"] = lambda: _carry_cells(splice, old, fresh.ground)
    # One after the other: threads would only wait for each other's fresh memory.
    done: dict[str, Any] = {name: job() for name, job in jobs.items()}
    new = Layout(Ground(*(done[name] for name in Ground._fields)), done["kinds"], old.frame)
    derived: dict[str, Any] = {
        name: done[name] for name in ("areas", "centres", "twins", "dented", "turns", "cells") if name in done
    }
    if "portals" in had:
        derived["portals"] = Portals(*(done[name] for name in Portals._fields))
    new.__dict__.update(derived, components=components)
    new.kept = _kept(splice, before, after)
    return np.ascontiguousarray(splice.new[:, : bounds.shape[1]]), new


def _kept(splice: Splice, old: Ground, fresh: Ground) -> NDArray[np.int32]:
    """The old polygon of each new one, -1 where there is none."""
    kept = np.empty(int(splice.new[-1, POLYGONS]), np.int32)
    for first, last, source in splice.stretches:
        if source < 0:
            kept[splice.new[first, POLYGONS] : splice.new[last, POLYGONS]] = np.arange(
                *splice.old[[first, last], POLYGONS], dtype=np.int32
            )
            continue
        for tile in range(first, last):
            at = source + tile - first
            ranges = (*splice.old[[tile, tile + 1], POLYGONS].tolist(), *splice.fresh[[at, at + 1], POLYGONS].tolist())
            _splice_kernels.match(old, fresh, *ranges, kept[splice.new[tile, POLYGONS] :])
    return kept


def _carry_cells(splice: Splice, old: Layout, fresh: Ground) -> Cells:
    """The spatial index over the same grid of cells."""
    cells = old.cells
    starts, shifts = splice.starts(POLYGONS)
    window = np.array([cells.columns, -1, cells.rows, -1])
    chosen = [np.empty(0, np.int32)]
    for first, last, source in splice.stretches:
        if source >= 0:
            low, high = splice.fresh[[source, source + last - first], POLYGONS].tolist()
            chosen.append(np.arange(low, high, dtype=np.int32))
            _splice_kernels.cell_window(fresh, low, high, cells, window)
            _splice_kernels.cell_window(old.ground, *splice.old[[first, last], POLYGONS].tolist(), cells, window)
    mine = np.concatenate(chosen)
    if not len(mine) and window[1] < 0:
        return cells
    first_row, last_row = int(window[2]), int(window[3]) + 1
    top, bottom = first_row * cells.columns, last_row * cells.columns
    # Zeroed pages that nobody looks at cost nothing: only the window is touched.
    counts, slots, cursors = (np.zeros(len(cells.offsets), np.int64) for _ in range(3))
    _ground_kernels.fill_cells(fresh, cells, mine, counts, np.empty(0, np.int32))
    used = 0
    for row in range(first_row, last_row):
        low, high = row * cells.columns + int(window[0]), row * cells.columns + int(window[1]) + 1
        slots[low] = used
        slots[low + 1 : high + 1] = used + np.cumsum(counts[low:high])
        used = int(slots[high])
        cursors[low:high] = slots[low:high]
    entries = np.empty(used, np.int32)
    _ground_kernels.fill_cells(fresh, cells, mine, cursors, entries)
    polygons = np.empty(len(cells.polygons) + used, np.int32)
    offsets = np.empty_like(cells.offsets)
    # Rows of cells before and after those with changes are carried over as they are.
    head, tail = cells.polygons[: cells.offsets[top]], cells.polygons[cells.offsets[bottom] :]
    offsets[:top] = cells.offsets[:top]
    _splice_kernels.carry(head, starts, shifts, 0, polygons[: len(head)])
    end = _splice_kernels.carry_cells(
        cells.offsets[top : bottom + 1], cells.polygons, starts, shifts, splice.gone, window, cells.columns,
        slots[top : bottom + 1], splice.world(POLYGONS)[entries], offsets[top:bottom], polygons,
    )  # fmt: skip
    np.add(cells.offsets[bottom:], end - cells.offsets[bottom], out=offsets[bottom:])
    _splice_kernels.carry(tail, starts, shifts, len(shifts) - 1, polygons[end : end + len(tail)])
    return cells._replace(offsets=offsets, polygons=polygons[: end + len(tail)])
