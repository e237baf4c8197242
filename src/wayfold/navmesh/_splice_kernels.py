# mypy: ignore-errors
"""Arrays of a mesh carried over to a mesh that differs in a few tiles: numbers move by as much as their tile does."""

import numpy as np

from wayfold.core.jit import inline, kernel

_BLOCK = 1024


@inline
def _run(starts, number):
    """The run that a number belongs to."""
    low, high = 0, starts.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if starts[middle] <= number:
            low = middle
        else:
            high = middle
    return low


@inline
def _shift_block(values, low, high, shift, out):
    """Move the numbers from `low` to `high`; returns how many others there are that are not -1."""
    others = 0
    for at in range(values.size):
        value = values[at]
        mine = low <= value <= high
        out[at] = value + (shift if mine else 0)
        others += 0 if mine or value < 0 else 1
    return others


@kernel
def carry(values, starts, shifts, run, out):
    """Old numbers as new ones; -1 stays.

    Numbers from ``starts[r]`` to ``starts[r + 1] - 1`` move by ``shifts[r]``; most of `values` are of run `run`.
    """
    low, high, shift = np.int32(starts[run]), np.int32(starts[run + 1] - 1), np.int32(shifts[run])
    for first in range(0, values.size, _BLOCK):
        last = min(first + _BLOCK, values.size)
        # Written so that it is compiled for several numbers at a time; then again where that was wrong.
        if _shift_block(values[first:last], low, high, shift, out[first:last]) > 0:
            for at in range(first, last):
                value = values[at]
                out[at] = value if value < 0 else value + shifts[_run(starts, value)]


@kernel
def match(old, fresh, first, last, fresh_first, fresh_last, kept):
    """Write which of the old polygons `first` to `last` - 1 each of some fresh ones is, corner by corner; -1 for none.

    `kept` (k,) int32 is for the fresh polygons from `fresh_first` on.
    """
    for polygon in range(fresh_first, fresh_last):
        begin = fresh.offsets[polygon]
        corners = fresh.offsets[polygon + 1] - begin
        kept[polygon - fresh_first] = -1
        for other in range(first, last):
            other_begin = old.offsets[other]
            if old.offsets[other + 1] - other_begin != corners:
                continue
            same = 0
            while same < corners:
                a, b = old.corners[other_begin + same], fresh.corners[begin + same]
                if (
                    old.vertices[a, 0] != fresh.vertices[b, 0]
                    or old.vertices[a, 1] != fresh.vertices[b, 1]
                    or old.vertices[a, 2] != fresh.vertices[b, 2]
                ):
                    break
                same += 1
            if same == corners:
                kept[polygon - fresh_first] = other
                break


@kernel
def carry_cells(offsets, polygons, starts, shifts, gone, window, columns, slots, fresh, out_offsets, out_polygons):
    """Rows of a spatial index with the polygons of some runs taken out and fresh ones put in.

    Polygons stay in ascending order within each cell.

    Parameters
    ----------
    offsets, polygons :
        The old index; `offsets` only of the rows of cells of the window.
    starts, shifts :
        As for `carry`, of polygons.
    gone : (runs,) uint8
        1 where the old polygons of a run are taken out.
    window : (4,) int64
        First and last column and row of cells where polygons go or come.
    slots : (cells + 1,) int64
        Where the fresh polygons of each cell of these rows begin in `fresh`; looked at only inside the window.
    out_offsets, out_polygons :
        The new index, of which these rows are filled in. Returns where they end in `out_polygons`.
    """
    used = offsets[0]
    run = 0
    for row in range((offsets.size - 1) // columns):
        for column in range(columns):
            cell = row * columns + column
            out_offsets[cell] = used
            first, last = offsets[cell], offsets[cell + 1]
            if not window[0] <= column <= window[1]:
                for k in range(first, last):
                    polygon = polygons[k]
                    if polygon < starts[run] or polygon >= starts[run + 1]:
                        run = _run(starts, polygon)
                    out_polygons[used] = polygon + shifts[run]
                    used += 1
                continue
            at, end = slots[cell], slots[cell + 1]
            for k in range(first, last):
                polygon = polygons[k]
                run = _run(starts, polygon)
                if gone[run]:
                    continue
                moved = polygon + shifts[run]
                while at < end and fresh[at] < moved:
                    out_polygons[used] = fresh[at]
                    used += 1
                    at += 1
                out_polygons[used] = moved
                used += 1
            while at < end:
                out_polygons[used] = fresh[at]
                used += 1
                at += 1
    return used


@kernel
def cell_window(ground, first, last, cells, window):
    """Widen a window of cells so that it holds the boxes of the polygons `first` to `last` - 1."""
    for polygon in range(first, last):
        for k in range(ground.offsets[polygon], ground.offsets[polygon + 1]):
            vertex = ground.corners[k]
            column = int(min(2e9, max(-2e9, np.floor((ground.vertices[vertex, 0] - cells.x) / cells.size))))
            row = int(min(2e9, max(-2e9, np.floor((ground.vertices[vertex, 1] - cells.y) / cells.size))))
            column, row = min(cells.columns - 1, max(0, column)), min(cells.rows - 1, max(0, row))
            window[0], window[1] = min(window[0], column), max(window[1], column)
            window[2], window[3] = min(window[2], row), max(window[3], row)
