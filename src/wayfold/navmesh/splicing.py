"""A mesh that differs from another one in a rectangle of tiles: the rest is carried over, renumbered.

Everything is numbered tile by tile, so a change moves the numbers of all later tiles by the same amount. Copying is
what a rebuild costs then; nothing is stitched, sorted or searched again outside the rectangle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.navmesh import _ground_kernels, _splice_kernels
from wayfold.navmesh._ground_kernels import Cells, Ground
from wayfold.navmesh.joining import EDGES, POINTS, POLYGONS, TRIANGLES, VERTICES, Joined
from wayfold.navmesh.layout import Layout, number_portals
from wayfold.navmesh.rectangle import Rectangle

Counts = NDArray[np.int64]


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
        gone = []
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

    def ranges(self, what: int) -> list[tuple[int, int]]:
        """Which new items were not carried over."""
        return [(int(self.new[a, what]), int(self.new[b, what])) for a, b, source in self.stretches if source >= 0]


def splice_ground(splice: Splice, old: Ground, fresh: Ground) -> Ground:
    """The arrays of the new mesh."""
    return Ground(
        splice.plain(VERTICES, old.vertices, fresh.vertices),
        splice.offsets(POLYGONS, EDGES, old.offsets, fresh.offsets),
        splice.numbers(EDGES, VERTICES, old.corners, fresh.corners),
        splice.numbers(EDGES, POLYGONS, old.neighbours, fresh.neighbours),
        splice.plain(POINTS, old.surface_points, fresh.surface_points),
        splice.offsets(POLYGONS, TRIANGLES, old.surface_offsets, fresh.surface_offsets),
        splice.numbers(TRIANGLES, POINTS, old.surface_triangles, fresh.surface_triangles),
    )


def splice_layout(splice: Splice, old: Layout, fresh: Joined, components: NDArray[np.int32]) -> Layout:
    """The new mesh, with everything that the old one had already derived."""
    part = Layout(fresh.ground, fresh.kinds)
    new = Layout(splice_ground(splice, old.ground, fresh.ground), splice.plain(POLYGONS, old.kinds, fresh.kinds))
    made: dict[str, Any] = {"components": components}
    had = old.__dict__
    if "areas" in had:
        made["areas"] = splice.plain(POLYGONS, old.areas, part.areas)
    if "twins" in had:
        made["twins"] = splice.numbers(EDGES, EDGES, old.twins, part.twins)
    if "portals" in had:
        made["portals"] = number_portals(new.ground, made["twins"])
        _carry_middles(splice, old, made["portals"].edges, made["portals"].middles, part)
    if "turns" in had:
        made["turns"] = splice.plain(VERTICES, old.turns, part.turns)
    if "cells" in had:
        made["cells"] = _carry_cells(splice, old, new)
    new.__dict__.update(made)
    return new


def _carry_middles(
    splice: Splice, old: Layout, edges: NDArray[np.int32], middles: NDArray[np.float32], part: Layout
) -> None:
    """Middles of portals: a tile's portals follow its edges."""
    for first, last, source in splice.stretches:
        low, high = np.searchsorted(edges, splice.new[[first, last], EDGES])
        if source < 0:
            begin = int(np.searchsorted(old.portals.edges, splice.old[first, EDGES]))
            middles[low:high] = old.portals.middles[begin : begin + high - low]
        else:
            begin = int(np.searchsorted(part.portals.edges, splice.fresh[source, EDGES]))
            middles[low:high] = part.portals.middles[begin : begin + high - low]


def _carry_cells(splice: Splice, old: Layout, new: Layout) -> Cells:
    """The spatial index over the same grid of cells."""
    cells = old.cells
    starts, shifts = splice.starts(POLYGONS)
    window = np.array([cells.columns, -1, cells.rows, -1])
    chosen = [np.empty(0, np.int32)]
    for first, last, source in splice.stretches:
        if source >= 0:
            low, high = splice.new[[first, last], POLYGONS].tolist()
            chosen.append(np.arange(low, high, dtype=np.int32))
            _splice_kernels.cell_window(new.ground, low, high, cells, window)
            before = splice.old[[first, last], POLYGONS].tolist()
            _splice_kernels.cell_window(old.ground, *before, cells, window)
    mine = np.concatenate(chosen)
    count = len(cells.offsets) - 1
    # Zeroed pages that nobody looks at cost nothing: only the window is touched.
    counts, slots, cursors = (np.zeros(count + 1, np.int64) for _ in range(3))
    _ground_kernels.fill_cells(new.ground, cells, mine, counts, np.empty(0, np.int32))
    used = 0
    for row in range(int(window[2]), int(window[3]) + 1):
        low, high = row * cells.columns + int(window[0]), row * cells.columns + int(window[1]) + 1
        slots[low] = used
        slots[low + 1 : high + 1] = used + np.cumsum(counts[low:high])
        used = int(slots[high])
        cursors[low:high] = slots[low:high]
    fresh = np.empty(used, np.int32)
    _ground_kernels.fill_cells(new.ground, cells, mine, cursors, fresh)
    polygons = np.empty(len(cells.polygons) + used, np.int32)
    offsets = np.empty(count + 1, np.int64)
    size = _splice_kernels.carry_cells(
        cells.offsets, cells.polygons, starts, shifts, splice.gone, window, cells.columns, slots, fresh, offsets,
        polygons,
    )  # fmt: skip
    return cells._replace(offsets=offsets, polygons=polygons[:size])
