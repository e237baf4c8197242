"""`SparseGrid`: cells only where something can walk, on any number of floors, with an abstract graph that stays right.

Whether regions and abstract edges belong to the cells is harder to check than to work out.

After Sturtevant 2011, "A Sparse Grid Representation for Dynamic Three-Dimensional Worlds". The world is divided into
square sectors; in each sector the cells that are connected within it form regions; the edges between regions form the
abstract graph. Cells, regions and abstract edges are kept right by every edit, in well under a millisecond.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.core.arrays import distinct
from wayfold.core.interrupts import interruptible
from wayfold.core.locks import ReadersWriter, reads, writes
from wayfold.core.progress import stage
from wayfold.core.schema import Array, Parts, Savable, Schema, Value
from wayfold.errors import ParameterError
from wayfold.formats import load_map
from wayfold.geometry import Mesh
from wayfold.grid import _edit_kernels, _search_kernels, _store
from wayfold.grid import _store_kernels as layout
from wayfold.grid._edit_kernels import FARTHEST
from wayfold.grid._store import Editor, Memory, RegionTable, check_cells, check_kinds, octile
from wayfold.grid.query import GridQueries
from wayfold.path import Path, Paths

if TYPE_CHECKING:
    pass

_SparseGrid = TypeVar("_SparseGrid", bound="SparseGrid")

WAYS = ("regular", "naive", "smart", "1-bit", "8-bit")
_ROUNDING = 1e-9  # of a link's cost


def cells_ascend(parts: Parts) -> None:
    """Cells stand in ascending order of row, column and level, each once."""
    columns, levels = parts.arrays["columns"], parts.arrays["levels"]
    x, y = columns[:, 0], columns[:, 1]
    above = (y[1:] == y[:-1]) & (x[1:] == x[:-1]) & (levels[1:] > levels[:-1])
    beside = (y[1:] == y[:-1]) & (x[1:] > x[:-1])
    if not ((y[1:] > y[:-1]) | beside | above).all():
        raise ValueError("a cell is there twice, or the cells are not in order")


def links_cost_enough(parts: Parts) -> None:
    """A link costs at least the octile distance that it leads over; between two cells there is one each way at most."""
    ends, costs = parts.arrays["links"], parts.arrays["link_costs"]
    if not (costs >= octile(ends) * (1.0 - _ROUNDING)).all():
        raise ValueError("a link costs less than the distance that it leads over")
    if len(distinct(ends.reshape(-1, 6)).rows) != len(ends):
        raise ValueError("a link is there twice")


SCHEMA = Schema(
    "sparse-grid",
    {
        "columns": Array("int32", ("cells", 2), "column and row of each cell", 1 - FARTHEST, FARTHEST - 1),
        "levels": Array("int16", ("cells",), "level of each cell"),
        "kinds": Array("uint8", ("cells",), "kind of each cell, 0 where missing", high=254, optional=True),
        "effects": Array("uint8", ("cells",), "area effects on each cell, 0 where missing", high=7, optional=True),
        "links": Array("int64", ("links", 2, 3), "the cells that one-way links lead from and to", -(2**31), 2**31),
        "link_costs": Array("float64", ("links",), "costs of the links", 0.0, checks.LARGEST_COST),
        "origin": Array("float64", (3,), "metres of cell (0, 0, 0)", -checks.LARGEST, checks.LARGEST),
        "scale": Array("float64", (3,), "metres of a cell and of a level", 1e-12, checks.LARGEST),
    },
    {
        "sector_size": Value(int, "cells along a sector", 2, 16),
        "successors": Value(str, "how successors are generated", among=WAYS),
        "max_step": Value(int, "highest step, levels", 0, 32767),
        "trim": Value(bool, "whether only the boxes of regions are kept"),
        "merge": Value(bool, "whether regions unite"),
        "drop": Value(int, "deepest drop, levels", 0, 65535),
        "effect_cost": Value(float, "cost of an area effect", 0.0, checks.LARGEST_COST),
    },
    checks=(cells_ascend, links_cost_enough),
)


def to_parts(grid: SparseGrid) -> Parts:
    """The cells of a grid and what is on them."""
    store, links = grid._store, grid._planner.links
    nodes = grid._planner.all_nodes()
    cells = grid._planner.cells_of(nodes)
    order = np.lexsort((cells[:, 2], cells[:, 0], cells[:, 1]))
    nodes, cells = nodes[order], cells[order]
    arrays: dict[str, Any] = {
        "columns": cells[:, :2].astype(np.int32),
        "levels": cells[:, 2].astype(np.int16),
        "links": links.ends,
        "link_costs": links.costs,
        "origin": np.array(grid.origin, np.float64),
        "scale": np.array(grid.scale, np.float64),
    }
    kinds, effects = store.kind[store.owners[nodes >> 4]], (store.cells[nodes] >> 13).astype(np.uint8)
    arrays |= {name: values for name, values in (("kinds", kinds), ("effects", effects)) if values.any()}
    meta = {
        "sector_size": grid.sector_size,
        "successors": grid.successor_way,
        "max_step": grid.max_step,
        "trim": grid.trim,
        "merge": grid.merge,
        "drop": grid.drop,
        "effect_cost": grid.effect_cost,
    }
    return Parts(arrays, meta)


def from_parts(kind: type[_SparseGrid], parts: Parts) -> _SparseGrid:
    """The grid, with regions and abstract edges made anew."""
    arrays = parts.arrays
    cells = np.column_stack([arrays["columns"], arrays["levels"]]).astype(np.int64)
    grid = kind(**parts.meta)
    grid.origin, grid.scale = arrays["origin"], arrays["scale"]
    grid._editor.fill(cells, arrays.get("kinds", np.zeros(1, np.uint8)))
    if "effects" in arrays:
        grid._editor.change_effects(np.repeat(cells, arrays["effects"], axis=0), 1)
    grid._planner.links.restore(arrays["links"], arrays["link_costs"])
    return grid


@checks.checked
class SparseGrid(Savable):
    """A grid of walkable cells (x, y, z) over several floors that can be edited at any time.

    Parameters
    ----------
    sector_size : int, cells, 2 to 16
        Side of a sector.
    successors : "8-bit", "1-bit", "smart", "naive" or "regular"
        How successors are generated (Table 1 of the paper); all give the same. "8-bit" is the fastest and takes a byte
        a cell more, "1-bit" takes a bit.
    max_step : int, levels, >= 0
        Highest step up or down between neighbouring cells.
    trim : bool
        Store only the bounding box of each region instead of the whole sector.
    merge : bool
        Unite regions of a sector when an added cell joins them (the paper leaves them apart).
    drop : int, levels, 0 for none
        How far down a cell may be left to a straight neighbour where it cannot be climbed back: one-way edges.
    effect_cost : float, >= 0
        What each area effect on a cell adds to the cost of a step or a link onto it, as a multiple of the step's length
        or the link's cost.

    Notes
    -----
    A cell is three integers: x and y within +-2**30, z (levels) within int16. A step to one of the 8 neighbouring
    columns costs 1, a diagonal one sqrt 2; levels cost nothing. Cells have a kind, and only cells of the same kind are
    linked. Two cells of neighbouring columns are linked when each is the nearest cell of its kind in its column to the
    other, within `max_step`: cells of other kinds between them do not count. A diagonal is linked only where both cells
    beside it are linked to both of its ends. Links that `add_link` makes join cells of any kinds.

    Any number of threads may query it, also while another one edits it: a query sees the grid as it was before an edit
    or as it is after it. Nodes in paths are valid until the next edit.
    """

    def __init__(
        self,
        sector_size: int = 16,
        *,
        successors: str = "8-bit",
        max_step: int = 1,
        trim: bool = True,
        merge: bool = True,
        drop: int = 0,
        effect_cost: float = 1.0,
    ) -> None:
        checks.choice(successors, "successors", WAYS)
        self.sector_size = checks.whole(sector_size, "sector_size", low=2, high=16)
        self.max_step = checks.whole(max_step, "max_step", low=0, high=32767)
        self.drop = checks.whole(drop, "drop", low=0, high=65535)
        if 0 < self.drop <= self.max_step:
            raise ParameterError(f"drop must be above max_step ({self.max_step}) or 0, not {drop}")
        self.successor_way = successors
        self.merge = bool(merge)
        self.trim = bool(trim)
        self.effect_cost = checks.number(effect_cost, "effect_cost", low=0.0)
        way = WAYS.index(successors)
        store = _store.new_store(self.sector_size, self.max_step, self.drop, way, self.trim)
        self._lock = ReadersWriter()
        self._editor = Editor(store, self.merge)
        self._planner = GridQueries(self)

    # --- sources ---------------------------------------------------------------------------------------------

    @classmethod
    def from_movingai(cls, file: str | os.PathLike[str], sector_size: int = 16, **options: Any) -> SparseGrid:
        """Read a MovingAI `.map` file: x is the column, y the row, z is 0.

        Ground is of kind 0 and water of kind 1: ground connects to ground, water to water.
        """
        kinds = load_map(file).kinds
        y, x = np.nonzero(kinds)
        grid = cls(sector_size, **options)
        size = grid.sector_size
        grid._editor.set_frame(-(-kinds.shape[1] // size), -(-kinds.shape[0] // size))
        grid._editor.fill(np.column_stack([x, y, np.zeros_like(x)]), check_kinds(kinds[y, x] - 1, len(x)))
        return grid

    @classmethod
    def from_cells(
        cls, cells: ArrayLike, sector_size: int = 16, *, kinds: ArrayLike | None = None, **options: Any
    ) -> SparseGrid:
        """A grid of listed cells.

        Parameters
        ----------
        cells : (n, 3) or (n, 2) array_like of int
            Each once; a missing z is 0.
        sector_size : int, cells, 2 to 16
        kinds : (n,) array_like of int, 0 to 254, optional
            Kind of each cell; 0 by default.
        **options
            As for `SparseGrid`.
        """
        grid = cls(sector_size, **options)
        array = check_cells(cells)
        grid._editor.fill(array, check_kinds(kinds, len(array)))
        return grid

    @classmethod
    def from_heightmap(
        cls,
        z: ArrayLike,
        passable: ArrayLike | None = None,
        sector_size: int = 16,
        *,
        level: float = 1.0,
        **options: Any,
    ) -> SparseGrid:
        """A grid from heights by row and column.

        Parameters
        ----------
        z : (rows, columns) array_like
            Heights, in any unit; NaN is impassable.
        passable : (rows, columns) array_like of bool, optional
            Which cells there are; all by default.
        sector_size : int, cells, 2 to 16
        level : float, > 0
            Height of one level in the unit of `z`; `max_step` counts levels.
        **options
            As for `SparseGrid`.
        """
        from wayfold.grid import sources

        return cls.from_cells(sources.heightmap_cells(z, passable, level), sector_size, **options)

    @classmethod
    @interruptible
    def from_mesh(
        cls,
        mesh: Mesh,
        agent: Agent | None = None,
        cell: float = 0.5,
        sector_size: int = 16,
        *,
        level: float | None = None,
        seeds: ArrayLike | None = None,
        progress: Callable[[str, int, int], None] | None = None,
        **options: Any,
    ) -> SparseGrid:
        """The cells of a mesh on which an agent can stand, on every floor.

        Parameters
        ----------
        mesh : Mesh
            Any triangles, z up; surfaces that face up within the agent's slope carry it.
        agent : Agent, optional
            Its radius, height, climb and slope; the default agent when it is not given.
        cell : float, metres, 1e-9 to 1e12
            Side of a cell.
        sector_size : int, cells, 2 to 16
        level : float, metres, 6.25e-11 to 1e12, optional
            Height of one level; a quarter of the agent's climb (but at least a sixteenth of a cell) by default.
            `max_step` follows from the agent's climb.
        seeds : (k, 3) array_like, metres, optional
            Keep only the cells that are connected to those nearest to these points: without it, the tops of roofs and
            what is enclosed in solids are cells too.
        progress : callable, optional
            Called as ``progress(what, done, total)`` with rows of cells.
        **options
            As for `SparseGrid`, but `max_step`.

        Returns
        -------
        SparseGrid
            Its `origin` and `scale` lead from cells to metres: see `to_world` and `to_cells`.
        """
        from wayfold.grid import sources

        if "max_step" in options:
            raise ParameterError("from_mesh takes max_step from the agent's climb: leave it out")
        cells, step, origin, scale = sources.mesh_cells(mesh, agent or Agent(), cell, level, stage(progress, "cells"))
        grid = cls.from_cells(cells, sector_size, max_step=step, **options)
        grid.origin, grid.scale = origin, scale
        if seeds is not None:
            near = grid.to_cells(seeds, reach=sources.SEED_REACH + (agent or Agent()).radius / cell)
            grid = cls.from_cells(sources.connected_cells(grid, near), sector_size, max_step=step, **options)
            grid.origin, grid.scale = origin, scale
        return grid

    origin: NDArray[np.float64] = np.zeros(3)
    """Metres of the middle of cell (0, 0, 0), where the grid was made from a mesh."""
    scale: NDArray[np.float64] = np.ones(3)
    """Metres of a cell's sides and of a level."""

    def to_world(self, cells: ArrayLike) -> NDArray[np.float64]:
        """Metres of the middle of cells, (k, 3), such as the points of a path."""
        return np.asarray(checks.points3(cells, "cells") * self.scale + self.origin)

    @reads
    def to_cells(self, points: ArrayLike, *, reach: float = 2.0) -> NDArray[np.int64]:
        """The cell nearest to each point in metres, within `reach` cells sideways; (q, 3).

        Cells below a point come before cells above it, whatever the distance.

        Raises
        ------
        OffMapError
            When there is no cell near a point.
        """
        from wayfold.grid import sources

        wanted = checks.points3(points, "points")
        return sources.nearest_cells(self, (wanted - self.origin) / self.scale, wanted, reach)

    # --- what there is ---------------------------------------------------------------------------------------

    @property
    def num_cells(self) -> int:
        """Number of cells."""
        return int(self._store.frame[layout.CELLS])

    @property
    def num_regions(self) -> int:
        """Number of regions."""
        return int(self._store.frame[layout.REGIONS])

    @property
    def num_abstract_edges(self) -> int:
        """Number of abstract edges, each direction counted: as many as are stored."""
        return int(self._store.frame[layout.EDGES])

    @property
    @reads
    def cells(self) -> NDArray[np.int64]:
        """All cells, (n, 3), sorted by row, column and height."""
        found = self._planner.cells_of(self._planner.all_nodes())
        return found[np.lexsort((found[:, 2], found[:, 0], found[:, 1]))]

    @reads
    def memory(self, *, trimmed: bool = False) -> Memory:
        """Bytes as the paper counts them, with every region's grid as large as a sector.

        Parameters
        ----------
        trimmed : bool
            Count only the bounding box of each region's cells.
        """
        store = self._store
        cells = self.num_regions * self.sector_size**2
        if trimmed:
            cells = int(_edit_kernels.measure(store)[0])
        return Memory(4 * store.sectors.size, 12 * self.num_regions, 4 * self.num_abstract_edges, 2 * cells)

    @property
    def nbytes(self) -> int:
        """Bytes of the live arrays, room to spare included, without search workspaces and caches."""
        return _store.nbytes(self._store)

    @reads
    def contains(self, cells: ArrayLike) -> NDArray[np.bool_]:
        """Whether each cell, (q, 2) or (q, 3), is there."""
        array = checks.numbers(cells, "cells", "cells of shape (q, 2) or (q, 3)")
        if array.dtype.kind == "f" and array.size:
            points = checks.points3(array, "cells", largest=np.inf)
            whole = (points == np.floor(points)).all(axis=1) & (np.abs(points) < 2**31).all(axis=1)
            result = np.zeros(len(points), np.bool_)
            result[whole] = self._nodes(points[whole].astype(np.int64)) >= 0
            return result
        return np.asarray(self._nodes(check_cells(array)) >= 0)

    @reads
    def effects(self, cells: ArrayLike) -> NDArray[np.int64]:
        """Number of area effects on each cell."""
        nodes = self._planner.nodes_of(cells, "cells")
        return (self._store.cells[nodes] >> 13).astype(np.int64)

    @reads
    def successors(self, cell: ArrayLike) -> NDArray[np.int64]:
        """Cells that one step leads to, (k, 3), clockwise from the east (where rows go down), then those of links."""
        node = int(self._planner.nodes_of(checks.point3(cell, "cell", largest=np.inf)[None], "cell")[0])
        nodes = np.empty(8, np.int32)
        _search_kernels.sparse_successors(self._store, node, nodes, np.empty(8, np.int64))
        links = self._planner.links.arrays()
        nodes = np.concatenate([nodes[nodes >= 0], links.ends[links.sources == node]])
        return self._planner.cells_of(nodes)

    @property
    def _store(self) -> layout.Store:
        return self._editor.store

    def _nodes(self, cells: NDArray[np.int64]) -> NDArray[np.int32]:
        nodes = np.empty(len(cells), np.int32)
        _edit_kernels.locate_all(self._store, cells, nodes)
        return nodes

    # --- queries ---------------------------------------------------------------------------------------------

    @reads
    def path(
        self,
        start: ArrayLike,
        goal: ArrayLike,
        *,
        abstract: bool = True,
        smooth: bool = False,
        trim: float = 0.0,
        budget: int | None = None,
        partial: bool = False,
    ) -> Path:
        """A path between two cells.

        Parameters
        ----------
        start, goal : (x, y) or (x, y, z)
            Cells that are there; a missing z is 0.
        abstract : bool
            Plan over regions first and refine the route to cells: fast, a few per cent above the cheapest. Otherwise
            search the cells for the cheapest path.
        smooth : bool
            Pull the path straight where the cells allow it and no area effect is entered (`Path.smooth`).
        trim : float, 0 to 0.9
            Share of each refined leg that is dropped before the next one is planned: shorter paths, more cells settled.
        budget : int, >= 1, optional
            Settle at most this many cells (``abstract=False`` only).
        partial : bool
            Without a way to the goal (or without budget for it) give the path to the reached cell nearest to it
            (``abstract=False`` only).

        Returns
        -------
        Path
            `points` are cell coordinates, `expanded` counts settled cells, `timings` has the phases.
        """
        first = int(self._planner.nodes_of(checks.point3(start, "start", largest=np.inf)[None], "start")[0])
        last = int(self._planner.nodes_of(checks.point3(goal, "goal", largest=np.inf)[None], "goal")[0])
        share = checks.number(trim, "trim", low=0.0, high=0.9)
        return self._planner.path(
            first, last, abstract=abstract, smooth=smooth, trim=share, budget=budget, partial=partial
        )

    @reads
    def paths(
        self,
        starts: ArrayLike,
        goals: ArrayLike,
        *,
        abstract: bool = True,
        smooth: bool = False,
        workers: int | None = None,
    ) -> Paths:
        """Paths of many queries, in parallel; `starts` and `goals` are (q, 2) or (q, 3) cells."""
        first, last = self._planner.nodes_of(starts, "starts"), self._planner.nodes_of(goals, "goals")
        checks.same_length(first, last)
        return self._planner.paths(first, last, abstract=abstract, smooth=smooth, workers=workers)

    @reads
    def replan(self, path: Path, *, abstract: bool = True, smooth: bool = False) -> Path:
        """A path from an earlier one after edits: what can still be walked of it is kept, the rest planned anew.

        Parameters
        ----------
        path : Path
            A path of this grid that was found (its `points` count, its nodes do not).
        abstract, smooth : bool
            How the new part is planned, as for `path`.

        Raises
        ------
        OffMapError
            When the start or the goal is not a cell any more.
        """
        if not len(path.points):
            raise ParameterError("a path that was not found cannot be replanned: ask for a new one")
        return self._planner.replan(path, abstract=abstract, smooth=smooth)

    @reads
    def regions(self) -> RegionTable:
        """All regions with their cells and abstract edges, for pictures and checks."""
        return self._planner.region_table()

    # --- files -----------------------------------------------------------------------------------------------

    _SCHEMA = SCHEMA

    @reads
    def _to_parts(self) -> Parts:
        return to_parts(self)

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        return from_parts(cls, parts)

    def __repr__(self) -> str:
        return f"<SparseGrid: {self.num_cells} cells, {self.num_regions} regions, {self.nbytes / 1e6:.3g} MB>"

    # --- edits -------------------------------------------------------------------------------------------------------

    @writes
    def add(self, cells: ArrayLike, *, kind: int = 0) -> None:
        """Add cells; edges, regions and abstract edges follow.

        Parameters
        ----------
        cells : (n, 3) or (n, 2) array_like of int
        kind : int, 0 to 254
            Only cells of the same kind are linked.

        Raises
        ------
        EditError
            When a cell is already there, is listed twice or has a height beyond int16. Nothing is changed.
        """
        kinds = np.array([checks.whole(kind, "kind", low=0, high=254)], np.uint8)
        self._editor.edit(check_cells(cells), True, kinds)

    @writes
    def remove(self, cells: ArrayLike) -> None:
        """Remove cells; edges, regions and abstract edges follow.

        Raises
        ------
        EditError
            When a cell is not there or is listed twice. Nothing is changed.
        """
        self._editor.edit(check_cells(cells), False, np.zeros(1, np.uint8))

    @writes
    def add_effect(self, cells: ArrayLike) -> None:
        """Put one more area effect on cells (on a cell that is listed twice, two); at most 7 fit on a cell.

        Every step and every link that leads onto a cell with k effects costs ``1 + k * effect_cost`` times as much.

        Raises
        ------
        EditError
            When a cell is not there or would have more than 7 effects. Nothing is changed.
        """
        self._editor.change_effects(check_cells(cells), 1)

    @writes
    def remove_effect(self, cells: ArrayLike) -> None:
        """Take one area effect off cells.

        Raises
        ------
        EditError
            When a cell is not there or has no effect. Nothing is changed.
        """
        self._editor.change_effects(check_cells(cells), -1)

    @writes
    def add_link(self, a: ArrayLike, b: ArrayLike, *, cost: float | None = None, both_ways: bool = True) -> None:
        """Join two cells that need not be neighbours: a ladder, a lift, a walkable wall.

        Parameters
        ----------
        a, b : (x, y) or (x, y, z)
            Two cells that are there. While one of them is removed the link rests; it is back when the cell is.
        cost : float, optional
            At least the octile distance of the two columns, which plus one for each level is the default; at most 1e28.
            Area effects on the cell that the link leads to multiply it, as they do a step's.
        both_ways : bool
            Whether it also leads from `b` to `a`.
        """
        ends = np.array([checks.point3(a, "a"), checks.point3(b, "b")])
        self._planner.nodes_of(ends, "link")
        first, second = ends.astype(np.int64)
        least = float(octile(ends[None])[0])
        levels = float(abs(first[2] - second[2]))
        price = least + levels if cost is None else checks.number(cost, "cost", low=least, high=checks.LARGEST_COST)
        self._planner.links.add(first, second, price, bool(both_ways))

    @writes
    def remove_link(self, a: ArrayLike, b: ArrayLike) -> None:
        """Remove the link between two cells, whichever way it leads."""
        ends = np.array([checks.point3(a, "a"), checks.point3(b, "b")]).astype(np.int64)
        self._planner.links.remove(ends[0], ends[1])

    @writes
    def reserve(self, cells: int = 0, *, regions: int = 0, edges: int = 0) -> None:
        """Make room in the pools, so that edits allocate nothing until it is used up.

        Parameters
        ----------
        cells : int, >= 0
            Room for so many more cells in the boxes of regions; a region that grows moves to a larger block.
        regions, edges : int, >= 0
            Room for so many more regions and abstract edges.
        """
        self._editor.reserve(cells, regions, edges)

    @writes
    def compact(self) -> None:
        """Squeeze all gaps out of the pools; edits do so themselves once a quarter of a pool is gaps."""
        self._editor.compact()
