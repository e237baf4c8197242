"""Memory of the sparse grid: the arrays of a `Store` made, grown and squeezed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.errors import ParameterError
from wayfold.grid import _edit_kernels, _link_kernels
from wayfold.grid import _store_kernels as layout

MOST_SECTORS = 2**27  # 512 MB of sectors: cells that far apart want several grids
_MOST_GRANULES = 2**24  # what the record of a region can point to
_MOST_EDGES = 2**29

_OF_REGIONS = {
    "base": np.int16,
    "centre": np.uint8,
    "free": np.uint8,
    "edges": np.uint32,
    "grid": np.uint32,
    "follow": np.int32,
    "sector_x": np.int32,
    "sector_y": np.int32,
    "ordinal": np.uint16,
    "box": np.uint16,
    "kind": np.uint8,
    "count": np.uint16,
    "room": np.uint8,
    "marks": np.int32,
    "touch": np.uint8,
}
INDEX = ("shelves", "on_shelf", "tails")  # only crowded grids have it
# Values of places that were never used.
_EMPTY: dict[str, Any] = {"kind": layout.FREE_KIND, "marks": -1, "cells": layout.NO_CELL, "owners": -1}


def new_store(
    size: int,
    step: int,
    drop: int,
    way: int,
    trim: bool,
    *,
    frame: tuple[int, int, int, int] = (0, 0, 0, 0),
    regions: int = 0,
    granules: int = 0,
    edges: int = 0,
) -> layout.Store:
    """An empty grid with room for so much; `frame` is the rectangle of sectors: left, top, columns, rows."""
    numbers = np.zeros(layout.FRAME_SIZE, np.int64)
    numbers[:4] = frame
    numbers[layout.FREE_REGION] = -1
    cells = granules * layout.GRANULE
    arrays: dict[str, Any] = {
        "records": np.empty(edges, np.uint32),
        "cells": np.full(cells, layout.NO_CELL, np.uint16),
        "owners": np.full(granules, -1, np.int32),
        **{name: np.full(regions, _EMPTY.get(name, 0), dtype) for name, dtype in _OF_REGIONS.items()},
    }
    return layout.Store(
        **{name: np.empty(0, np.int32) for name in INDEX},
        sectors=np.full(frame[2] * frame[3], -1, np.int32),
        free_blocks=np.full(layout.LARGEST_BLOCK + 1, -1, np.int32),
        free_lists=np.full(16, -1, np.int32),
        frame=numbers,
        size=size,
        step=step,
        drop=drop,
        way=way,
        trim=trim,
        **arrays,
    )


def nbytes(store: layout.Store) -> int:
    """Bytes of all arrays of a grid."""
    return sum(array.nbytes for array in store if isinstance(array, np.ndarray))


def resized(store: layout.Store, *, regions: int = 0, granules: int = 0, edges: int = 0) -> layout.Store:
    """The same grid with at least so much room in its pools."""
    changes: dict[str, Any] = {}
    if regions > store.base.size:
        if regions > _MOST_GRANULES:  # each has one at least
            raise ParameterError(f"a sparse grid has room for {_MOST_GRANULES} regions, not for more")
        for name, dtype in _OF_REGIONS.items():
            changes[name] = _longer(getattr(store, name), regions, dtype, _EMPTY.get(name, 0))
    if granules > store.owners.size:
        if granules > _MOST_GRANULES:
            raise ParameterError(f"a sparse grid has room for {_MOST_GRANULES * layout.GRANULE} cells, not for more")
        cells = granules * layout.GRANULE
        changes["owners"] = _longer(store.owners, granules, np.int32, -1)
        changes["cells"] = _longer(store.cells, cells, np.uint16, layout.NO_CELL)
    if edges > store.records.size:
        if edges > _MOST_EDGES:
            raise ParameterError(f"a sparse grid has room for {_MOST_EDGES} abstract edges, not for more")
        changes["records"] = _longer(store.records, edges, np.uint32, 0)
    larger = store._replace(**changes)
    return indexed(larger) if store.shelves.size and "base" in changes else larger


def indexed(store: layout.Store) -> layout.Store:
    """The same grid with shelves for its regions."""
    places = 1 << max(6, (2 * store.base.size).bit_length())
    fresh = store._replace(
        shelves=np.full(places, -1, np.int32),
        on_shelf=np.full(2 * store.base.size, -1, np.int32),
        tails=np.full(store.sectors.size, -1, np.int32),
    )
    _edit_kernels.shelve(fresh)
    return fresh


def _sector_of(store: layout.Store, regions: NDArray[np.int64]) -> NDArray[np.int64]:
    left, top, columns, _ = (int(value) for value in store.frame[:4])
    return np.asarray((store.sector_y[regions].astype(np.int64) - top) * columns + store.sector_x[regions] - left)


def indexed_if_crowded(store: layout.Store) -> layout.Store:
    """The same grid, with shelves where a sector has many regions."""
    sector = _sector_of(store, np.flatnonzero(store.kind != layout.FREE_KIND))
    if len(sector) <= layout.CROWD or np.unique(sector, return_counts=True)[1].max() <= layout.CROWD:
        return store
    return indexed(store)


def _longer(array: NDArray[Any], size: int, dtype: Any, fill: int) -> NDArray[Any]:
    result = np.empty(size, dtype)
    result[: array.size] = array
    result[array.size :] = fill
    return result


def grown(store: layout.Store, share: int) -> layout.Store:
    """The same grid with more room wherever an edit may have run out of it: a 1 / `share` more, and a little."""
    frame = store.frame
    sizes = {}
    if frame[layout.FREE_REGION] < 0 and frame[layout.REGION_TAIL] == store.base.size:
        sizes["regions"] = store.base.size + max(8, store.base.size // share)
    if store.owners.size - frame[layout.GRANULE_TAIL] < layout.LARGEST_BLOCK:
        most = store.owners.size + max(32, store.owners.size // share)
        sizes["granules"] = max(min(most, _MOST_GRANULES), store.owners.size + layout.LARGEST_BLOCK)
    if not sizes:
        sizes["edges"] = store.records.size + max(512, store.records.size // share)
    return resized(store, **sizes)


def reframed(store: layout.Store, low_x: int, low_y: int, high_x: int, high_y: int) -> layout.Store:
    """The same grid with a rectangle of sectors that also covers another one; a side that grows at least doubles."""
    left, top, columns, rows = (int(value) for value in store.frame[:4])
    for doubling in (True, False):  # doubling may be too much where covering is not
        new_left, new_columns = _covering(left, columns, low_x, high_x + 1, doubling)
        new_top, new_rows = _covering(top, rows, low_y, high_y + 1, doubling)
        if new_columns * new_rows <= MOST_SECTORS:
            break
    else:
        raise ParameterError(
            f"the cells spread over {new_columns} x {new_rows} sectors, more than {MOST_SECTORS}: use several grids"
        )
    sectors = np.full((new_rows, new_columns), -1, np.int32)
    x, y = left - new_left, top - new_top
    sectors[y : y + rows, x : x + columns] = store.sectors.reshape(rows, columns)
    store.frame[:4] = new_left, new_top, new_columns, new_rows
    larger = store._replace(sectors=sectors.ravel())
    return indexed(larger) if store.shelves.size else larger


def _covering(first: int, count: int, low: int, high: int, doubling: bool) -> tuple[int, int]:
    """First and number of a row of sectors that covers what it has and `low` to `high`."""
    if count == 0:
        return low, high - low
    begin, end = min(first, low), max(first + count, high)
    if doubling and begin < first:
        begin = min(begin, first - count)
    if doubling and end > first + count:
        end = max(end, first + 2 * count)
    return begin, end - begin


FOR_EDITS = (16, 96, 512)  # regions, granules and edges to spare, so that the next edits of a small grid need no more


def squeezed(store: layout.Store, *, spare: tuple[int, int, int] = (0, 0, 0)) -> layout.Store:
    """The same grid without gaps, in the order of its sectors, with a 32nd of room to spare.

    `spare` is the least room for regions, granules and edges.
    Nodes and region numbers change; cells, edges and regions do not.
    """
    frame = store.frame
    _, granules, places = _edit_kernels.measure(store)
    regions = int(frame[layout.REGIONS])
    fresh = new_store(
        store.size,
        store.step,
        store.drop,
        store.way,
        store.trim,
        regions=regions + max(spare[0], regions // 32),
        granules=min(granules + max(spare[1], granules // 32), _MOST_GRANULES),
        edges=places + max(spare[2], places // 32),
    )
    fresh = fresh._replace(sectors=np.full_like(store.sectors, -1))
    kept = [0, 1, 2, 3, layout.CELLS, layout.REGIONS, layout.EDGES, layout.STRUCTURE]
    fresh.frame[kept] = frame[kept]
    fresh.frame[layout.STRUCTURE] += 1  # region numbers are others now
    _edit_kernels.compact(store, fresh)
    return indexed_if_crowded(fresh)


def wasteful(store: layout.Store) -> bool:
    """Whether a quarter of a pool lies in gaps, and more of them than one edit of a small grid makes."""
    frame = store.frame
    gaps = frame[layout.FREE_GRANULES]
    edges = frame[layout.FREE_EDGES]
    return bool(
        (gaps > 128 and 4 * gaps > frame[layout.GRANULE_TAIL]) or (edges > 4096 and 2 * edges > frame[layout.EDGE_TAIL])
    )


class Scratch:
    """Scratch of edits, kept between them as long as it is large enough."""

    def __init__(self) -> None:
        self._work: _link_kernels.Work | None = None

    def take(self, cells: int, regions: int, *, bulk: bool = False) -> _link_kernels.Work:
        """Scratch for an edit of so many cells in a grid with room for so many regions."""
        entries = 0 if bulk else 1 << (16 * cells - 1).bit_length()
        columns = 700 if bulk else 9 * cells + 700
        work = self._work
        if work is None or work.table.size != entries or len(work.columns) < columns or work.touched.size < regions:
            work = _link_kernels.Work(
                state=np.zeros(_link_kernels.STATE_SIZE, np.int64),
                table=np.empty(entries, np.int64),
                columns=np.empty((columns, 4), np.int32),
                touched=np.empty(regions + 16, np.int32),
                labels=np.empty(256, np.int16),
                queue=np.empty(256, np.int16),
                spots=np.empty(8, np.int64),
            )
            self._work = None if cells > 4096 or bulk else work
        work.state[:] = 0
        return work


def more_touched(work: _link_kernels.Work, regions: int) -> _link_kernels.Work:
    """The same scratch, in the middle of an edit, for a grid with room for so many regions."""
    if work.touched.size >= regions:
        return work
    return work._replace(touched=np.concatenate([work.touched, np.empty(regions - work.touched.size, np.int32)]))
