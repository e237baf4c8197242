"""Memory of the sparse grid and its edits: arrays made, grown and squeezed; what enters is checked here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.errors import EditError, ParameterError
from wayfold.grid import _edit_kernels, _search_kernels
from wayfold.grid import _edit_kernels as answers
from wayfold.grid import _store_kernels as layout
from wayfold.links import Link

if TYPE_CHECKING:
    from wayfold.grid.sparse import SparseGrid

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


FOR_EDITS = (16, 64, 512)  # regions, granules and edges to spare, so that the next edits of a small grid need no more


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
        (gaps > 32 and 4 * gaps > frame[layout.GRANULE_TAIL]) or (edges > 1024 and 2 * edges > frame[layout.EDGE_TAIL])
    )


class GridScratch:
    """Scratch of edits, kept between them as long as it is large enough."""

    def __init__(self) -> None:
        self._work: _edit_kernels.Work | None = None

    def take(self, cells: int, regions: int, *, bulk: bool = False) -> _edit_kernels.Work:
        """Scratch for an edit of so many cells in a grid with room for so many regions."""
        entries = 0 if bulk else 1 << (16 * cells - 1).bit_length()
        columns = 700 if bulk else 9 * cells + 700
        work = self._work
        if work is None or work.table.size != entries or len(work.columns) < columns or work.touched.size < regions:
            work = _edit_kernels.Work(
                state=np.zeros(_edit_kernels.STATE_SIZE, np.int64),
                table=np.zeros(entries, np.int64),
                columns=np.zeros((columns, 4), np.int32),
                touched=np.zeros(regions + 16, np.int32),
                labels=np.zeros(256, np.int16),
                queue=np.zeros(256, np.int16),
                spots=np.zeros(8, np.int64),
            )
            self._work = None if cells > 4096 or bulk else work
        work.state[:] = 0
        return work


def more_touched(work: _edit_kernels.Work, regions: int) -> _edit_kernels.Work:
    """The same scratch, in the middle of an edit, for a grid with room for so many regions."""
    if work.touched.size >= regions:
        return work
    return work._replace(touched=np.concatenate([work.touched, np.zeros(regions - work.touched.size, np.int32)]))


_CHUNK = 8192  # cells an edit: larger batches are checked as a whole and then applied in chunks of this size

_WRONG = {
    answers.ALREADY_THERE: "is already there: only new cells can be added",
    answers.NOT_THERE: "is not there",
    answers.TWICE: "is listed twice",
    answers.TOO_HIGH: "has a height beyond int16",
    answers.TOO_FAR: "lies beyond 2**30",
    answers.TOO_MANY: "has 7 area effects already: no more fit",
    answers.TOO_FEW: "has no area effect to remove",
}

Cells = NDArray[np.int64]
Kinds = NDArray[np.uint8]


class Editor:
    """The arrays of one grid and everything that changes them.

    Parameters
    ----------
    store : Store
    merge : bool
        Whether regions unite when an added cell joins them.
    """

    def __init__(self, store: layout.Store, merge: bool) -> None:
        self.store = store
        self.merge = merge
        self.version = 0  # counts what may have changed nodes
        self._scratch = GridScratch()

    def set_frame(self, columns: int, rows: int) -> None:
        """Give an empty grid a rectangle of sectors that begins at the origin."""
        if columns * rows > MOST_SECTORS:
            raise ParameterError(f"{columns} x {rows} sectors are more than {MOST_SECTORS}: use several grids")
        self.store.frame[:4] = 0, 0, columns, rows
        self.store = self.store._replace(sectors=np.full(columns * rows, -1, np.int32))

    def fill(self, cells: Cells, kinds: Kinds) -> None:
        """Fill an empty grid, sector by sector, so that each one's blocks are settled before the next begins."""
        if not len(cells):
            return
        size = self.store.size
        if np.abs(cells[:, :2]).max() < _edit_kernels.FARTHEST:
            sx, sy = cells[:, 0] // size, cells[:, 1] // size
            key = (sy - sy.min()) * (sx.max() - sx.min() + 1) + sx - sx.min()
            order = np.argsort(key, kind="stable")
            cells, kinds = cells[order], kinds[order] if kinds.size > 1 else kinds
        self._apply(cells, True, kinds, True)
        self.store = squeezed(self.store)

    def edit(self, cells: Cells, adding: bool, kinds: Kinds) -> None:
        """Add or remove cells, all or none."""
        count = len(cells)
        self.version += 1
        if count > _CHUNK:
            self.check(cells, adding)
            for first in range(0, count, _CHUNK):
                self._apply(cells[first : first + _CHUNK], adding, kinds, False)
        elif count:
            self._apply(cells, adding, kinds, False)
        if wasteful(self.store):
            self.store = squeezed(self.store, spare=FOR_EDITS)

    def compact(self) -> None:
        """Squeeze all gaps out of the pools."""
        self.version += 1
        self.store = squeezed(self.store)

    def check(self, cells: Cells, adding: bool) -> None:
        """Raise the error that an edit would raise, or make the rectangle of sectors large enough for it."""
        work = self._scratch.take(len(cells), self.store.base.size)
        self._run(work, cells, False, lambda work: _edit_kernels.check(self.store, work, cells, adding))

    def change_effects(self, cells: Cells, change: int) -> None:
        """Add to the effect counts of cells, of all or none."""
        state = np.zeros(answers.STATE_SIZE, np.int64)
        status = _edit_kernels.change_effects(self.store, state, cells, change)
        if status != answers.DONE:
            raise _error(status, int(state[answers.WRONG]), cells)

    def reserve(self, cells: int, regions: int, edges: int) -> None:
        """Make room for more in the pools."""
        frame = self.store.frame
        self.store = resized(
            self.store,
            regions=int(frame[layout.REGION_TAIL]) + checks.whole(regions, "regions", low=0),
            granules=int(frame[layout.GRANULE_TAIL]) + -(-checks.whole(cells, "cells", low=0) // layout.GRANULE),
            edges=int(frame[layout.EDGE_TAIL]) + checks.whole(edges, "edges", low=0),
        )

    def _apply(self, cells: Cells, adding: bool, kinds: Kinds, bulk: bool) -> None:
        work = self._scratch.take(len(cells), self.store.base.size, bulk=bulk)
        edit, merge = _edit_kernels.edit, self.merge
        self._run(work, cells, bulk, lambda work: edit(self.store, work, cells, kinds, adding, merge, bulk))

    def _run(self, work: answers.Work, cells: Cells, bulk: bool, call: Callable[[answers.Work], int]) -> None:
        """Run an edit kernel, with more memory as long as it asks for it, and turn what is wrong into an error."""
        while (status := call(work)) != answers.DONE:
            if status == answers.GROW and work.state[answers.CROWDED]:
                work.state[answers.CROWDED] = 0
                self.store = indexed(self.store)
            elif status == answers.GROW:
                self.store = grown(self.store, 2 if bulk else 16)
                work = more_touched(work, self.store.base.size)
            elif status == answers.GROW_SECTORS:
                self.store = reframed(self.store, *work.state[answers.LOW_X : answers.HIGH_Y + 1].tolist())
            else:
                raise _error(status, int(work.state[answers.WRONG]), cells)


def _error(status: int, at: int, cells: Cells) -> EditError:
    return EditError(f"cells[{at}] {tuple(cells[at].tolist())} {_WRONG[status]}; the grid is unchanged")


def check_cells(cells: ArrayLike) -> Cells:
    """Whole cells as an (n, 3) int64 array."""
    array = checks.numbers(cells, "cells", "whole cells of shape (n, 2) or (n, 3)")
    if array.size == 0:
        return np.empty((0, 3), np.int64)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise ParameterError(f"cells must have shape (n, 2) or (n, 3), not {array.shape}")
    if array.dtype.kind not in "iu":
        array = checks.points3(array, "cells")
        fine = (array == np.floor(array)).all(axis=1) & (np.abs(array) < 2**53).all(axis=1)
        if not fine.all():
            raise ParameterError(f"cells[{int(np.argmin(fine))}] is not whole: {array[np.argmin(fine)].tolist()}")
        return array.astype(np.int64)
    array = checks.wholes(array, "cells")
    if array.shape[1] == 2:
        array = np.column_stack([array, np.zeros(len(array), np.int64)])
    return array


def check_kinds(kinds: ArrayLike | None, count: int) -> Kinds:
    """Kinds of cells as a uint8 array; a single 0 for none."""
    if kinds is None:
        return np.zeros(1, np.uint8)
    array = checks.numbers(kinds, "kinds", bools=True)
    whole = array.dtype.kind in "biu" or not count
    if array.shape != (count,) or not whole or (count and (array.min() < 0 or array.max() > 254)):
        raise ParameterError(f"kinds must be {count} whole numbers from 0 to 254")
    return array.astype(np.uint8)


def octile(ends: NDArray[Any]) -> NDArray[np.float64]:
    """(k,) cost of the cheapest way over free cells between the columns of pairs of cells (k, 2, 3)."""
    across = np.abs(ends[:, 0, :2] - ends[:, 1, :2]).astype(np.float64)
    return np.asarray(across.max(axis=1) + (np.sqrt(2.0) - 1.0) * across.min(axis=1))


class LinkTable:
    """Links between cells by their coordinates, and as kernels see them while both of their cells are there.

    A link is one row, or two where it leads both ways: there and back, one after the other. Rows ascend by `ids`.
    """

    def __init__(self, grid: SparseGrid) -> None:
        self.grid = grid
        self.ends = np.empty((0, 2, 3), np.int64)  # from, to
        self.costs = np.empty(0)
        self.ids = np.empty(0, np.int64)
        self.kinds: dict[int, str] = {}  # of the links that have one
        self.next_id = 0
        self._found: tuple[int, int, _search_kernels.CellLinks] | None = None
        self._changes = 0

    @property
    def version(self) -> tuple[int, int]:
        """Changes whenever other links may be usable; constant as long as there are none."""
        return (self._changes, self.grid._editor.version if len(self.costs) else 0)

    @property
    def one_way(self) -> bool:
        """Whether some link leads one way only."""
        return len(self.ids) != 2 * len(np.unique(self.ids))

    def add(self, start: NDArray[np.int64], end: NDArray[np.int64], cost: float, kind: str, both_ways: bool) -> int:
        """Add a link and return its id; `EditError` when there is one already."""
        pairs = [(start, end), (end, start)] if both_ways else [(start, end)]
        if any(self._where(*pair).any() for pair in pairs):
            raise EditError(f"there is already a link between {tuple(start.tolist())} and {tuple(end.tolist())}")
        rows, number = len(pairs), self.next_id
        self._set(
            np.concatenate([self.ends, np.array(pairs)]),
            np.append(self.costs, [cost] * rows),
            np.append(self.ids, [number] * rows),
        )
        if kind:
            self.kinds[number] = kind
        self.next_id += 1
        return number

    def remove(self, number: int) -> None:
        """Remove a link; `EditError` when there is none with this id."""
        gone = self.ids == number
        if not gone.any():
            raise EditError(f"there is no link {number}")
        self._keep(~gone)

    def remove_between(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> None:
        """Remove the links between two cells, in both directions; `EditError` when there is none."""
        gone = self._where(a, b) | self._where(b, a)
        if not gone.any():
            raise EditError(f"there is no link between {tuple(a.tolist())} and {tuple(b.tolist())}")
        self._keep(~gone)

    def restore(
        self,
        ends: NDArray[np.int64],
        costs: NDArray[np.float64],
        ids: NDArray[np.int64],
        kinds: list[str],
        next_id: int,
    ) -> None:
        """Take the links of a file; `kinds` are those of its rows, or none."""
        self._set(ends, costs, ids)
        self.kinds = {number: kind for number, kind in zip(ids.tolist(), kinds, strict=False) if kind}
        self.next_id = next_id

    def listed(self) -> tuple[Link, ...]:
        """All links, also those that rest, in the order in which they were added."""
        _, first, rows = np.unique(self.ids, return_index=True, return_counts=True)
        return tuple(
            Link(number, tuple(start), tuple(end), cost, self.kinds.get(number, ""), count == 2)
            for number, (start, end), cost, count in zip(
                self.ids[first].tolist(),
                self.ends[first].tolist(),
                self.costs[first].tolist(),
                rows.tolist(),
                strict=True,
            )
        )

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        self._set(self.ends[kept], self.costs[kept], self.ids[kept])
        left = set(self.ids.tolist())
        self.kinds = {number: kind for number, kind in self.kinds.items() if number in left}

    def _set(self, ends: NDArray[np.int64], costs: NDArray[np.float64], ids: NDArray[np.int64]) -> None:
        self.ends, self.costs, self.ids = ends, costs, ids
        self._changes += 1

    def _where(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray((self.ends == np.array([a, b])).all(axis=(1, 2)))

    def arrays(self) -> _search_kernels.CellLinks:
        """The links whose cells are both there."""
        version = self.version
        if self._found is None or self._found[:2] != version:
            grid = self.grid
            nodes = [grid._nodes(np.ascontiguousarray(self.ends[:, side])) for side in range(2)]
            there = (nodes[0] >= 0) & (nodes[1] >= 0)
            sources, ends, costs = nodes[0][there], nodes[1][there], self.costs[there]
            order = np.lexsort((ends, sources))
            from_region, to_region = grid._store.owners[sources >> 4], grid._store.owners[ends >> 4]
            region_order = np.lexsort((to_region, from_region))
            links = _search_kernels.CellLinks(
                sources[order],
                ends[order],
                costs[order],
                from_region[region_order],
                to_region[region_order],
                costs[region_order],
            )
            self._found = (*version, links)
        return self._found[2]


class Memory(NamedTuple):
    """Bytes of a sparse grid as Sturtevant 2011 counts them: 4 a sector, 12 a region, 4 an abstract edge, 2 a cell.

    >>> from wayfold import SparseGrid
    >>> used = SparseGrid.from_cells([(0, 0, 0), (1, 0, 0), (40, 0, 0)]).memory()
    >>> used.regions, used.cells, used.total
    (24, 1024, 1060)
    """

    sectors: int
    regions: int
    edges: int
    cells: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.sectors + self.regions + self.edges + self.cells


class RegionTable(NamedTuple):
    """The regions of a grid: their cells, centres and abstract edges. Their order carries no meaning.

    >>> from wayfold import SparseGrid
    >>> table = SparseGrid.from_cells([(x, 0, 0) for x in range(20)], sector_size=16).regions()
    >>> sorted(table.free.tolist()), table.edges.tolist(), table.supports.tolist()
    ([4, 16], [[0, 1], [1, 0]], [1, 1])
    """

    cells: NDArray[np.int64]
    """(n, 3), all cells."""
    region: NDArray[np.int32]
    """(n,), region of each cell."""
    bits: NDArray[np.uint8]
    """(n,), movement bits of each cell: bit 0 is east, 1 south-east, ... clockwise where rows go down."""
    centres: NDArray[np.int64]
    """(r, 3), centre cell of each region."""
    bases: NDArray[np.int64]
    """(r,), base height."""
    free: NDArray[np.int64]
    """(r,), number of cells."""
    effects: NDArray[np.int64]
    """(r,), sum of the effect counts of the cells."""
    edges: NDArray[np.int32]
    """(e, 2), abstract edges: from region, to region."""
    supports: NDArray[np.int64]
    """(e,), number of grid edges of each abstract edge."""
