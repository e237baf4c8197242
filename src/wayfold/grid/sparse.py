"""`SparseGrid`: cells only where something can walk, on any number of floors, and an abstract graph over them.

After Sturtevant 2011, "A Sparse Grid Representation for Dynamic Three-Dimensional Worlds". The world is divided into
square sectors; in each sector the cells that are connected within it form regions; the edges between regions form the
abstract graph. Every edit updates cells, regions and abstract edges, in well under a millisecond. A file holds the
cells only: regions and abstract edges are quicker to compute than to check.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Self

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
from wayfold.grid._cells import nearest_cells, random_cells
from wayfold.grid._edit_kernels import FARTHEST
from wayfold.grid._store import Editor, Memory, RegionTable, check_cells, check_kinds, octile
from wayfold.grid.query import GridQueries
from wayfold.links import Link
from wayfold.path import Path, Paths

WAYS = ("regular", "naive", "smart", "1-bit", "8-bit")
MOST_LINKS = 2**53  # that a grid ever has
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


def links_are_whole(parts: Parts) -> None:
    """Links ascend by their number; one that leads both ways is there and back at one cost, one after the other."""
    ends, costs = parts.arrays["links"], parts.arrays["link_costs"]
    ids, kinds = parts.arrays.get("link_ids", np.arange(len(ends))), parts.meta.get("link_kinds", [])
    if (np.diff(ids) < 0).any() or (len(ids) > 2 and (ids[2:] == ids[:-2]).any()):
        raise ValueError("the numbers of the links do not ascend")
    back = np.flatnonzero(ids[1:] == ids[:-1])
    if not (np.array_equal(ends[back], ends[back + 1, ::-1]) and np.array_equal(costs[back], costs[back + 1])):
        raise ValueError("the two directions of a link do not fit each other")
    if len(ids) and not ids[-1] < parts.meta.get("next_link", len(ids)):
        raise ValueError("the number of the next link is taken")
    if kinds and (len(kinds) != len(ids) or any(kinds[at] != kinds[at + 1] for at in back.tolist())):
        raise ValueError("the kinds of the links do not fit the links")


SCHEMA = Schema(
    "sparse-grid",
    {
        "columns": Array("int32", ("cells", 2), "column and row of each cell", 1 - FARTHEST, FARTHEST - 1),
        "levels": Array("int16", ("cells",), "level of each cell"),
        "kinds": Array("uint8", ("cells",), "kind of each cell, 0 where missing", high=254, optional=True),
        "effects": Array("uint8", ("cells",), "area effects on each cell, 0 where missing", high=7, optional=True),
        "links": Array("int64", ("links", 2, 3), "the cells that one-way links lead from and to", -(2**31), 2**31),
        "link_costs": Array("float64", ("links",), "costs of the links", 0.0, checks.LARGEST_COST),
        "link_ids": Array(
            "int64",
            ("links",),
            "number of each link, the same for both of its directions",
            0,
            MOST_LINKS,
            optional=True,
        ),
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
        "link_kinds": Value(list, "what the links are called", each=Value(str, ""), optional=True),
        "next_link": Value(int, "number of the link that is added next", 1, MOST_LINKS + 1, optional=True),
    },
    checks=(cells_ascend, links_cost_enough, links_are_whole),
)


@checks.checked
class SparseGrid(Savable):
    """A grid of walkable cells (x, y, z) over several floors that can be edited at any time.

    Parameters
    ----------
    sector_size : int, cells, 2 to 16
        Side of a sector.
    successors : "8-bit", "1-bit", "smart", "naive" or "regular"
        How successors are generated (Sturtevant 2011, table 1); all give the same. "8-bit" is the fastest and takes a
        byte a cell more, "1-bit" takes a bit.
    max_step : int, levels, >= 0
        Highest step up or down between neighbouring cells.
    trim : bool
        Store only the bounding box of each region instead of the whole sector.
    merge : bool
        Unite regions of a sector when an added cell joins them (Sturtevant 2011 leaves them apart).
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

    Examples
    --------
    >>> corridor = SparseGrid.from_cells([(x, 0, 0) for x in range(6)])
    >>> corridor.remove([(3, 0, 0)])
    >>> corridor.path((0, 0, 0), (5, 0, 0)).found
    False
    >>> corridor.add([(3, 0, 1)])
    >>> corridor.path((0, 0, 0), (5, 0, 0)).points[:, 2].tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
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

        Ground is of kind 0 and water of kind 1: ground connects to ground, water to water. `options` are those
        of `SparseGrid`.

        >>> from wayfold import formats
        >>> formats.save_map(np.array([[*b"..W"], [*b".@W"]], np.uint8), "shore.map")
        >>> shore = SparseGrid.from_movingai("shore.map", sector_size=8)
        >>> shore.num_cells, shore.reachable((0, 0), (2, 0))
        (5, False)
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
        """Create a grid from a list of cells.

        Parameters
        ----------
        cells : (n, 3) or (n, 2) array_like of int
            Each once; a missing z is 0.
        sector_size : int, cells, 2 to 16
        kinds : (n,) array_like of int, 0 to 254, optional
            Kind of each cell; 0 by default.
        **options
            As for `SparseGrid`.

        Examples
        --------
        >>> floors = [(0, 0, 0), (1, 0, 0), (1, 0, 5)]
        >>> grid = SparseGrid.from_cells(floors, max_step=2)
        >>> grid.successors((0, 0, 0)).tolist()
        [[1, 0, 0]]
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
        """Create a grid from a raster of heights, one cell each: x is the column, y the row.

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

        Examples
        --------
        >>> cliff = SparseGrid.from_heightmap([[0.0, 0.4, 3.0], [0.1, 0.6, float("nan")]], level=0.5)
        >>> cliff.cells.tolist()
        [[0, 0, 0], [1, 0, 0], [2, 0, 6], [0, 1, 0], [1, 1, 1]]
        >>> cliff.reachable((0, 0, 0), (1, 1, 1)), cliff.reachable((0, 0, 0), (2, 0, 6))
        (True, False)
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
        """Create a grid of the cells of a mesh on which an agent can stand, on every floor.

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
            Its `origin` and `scale` say where cells lie in metres: `to_world` and `to_cells` convert.

        Examples
        --------
        >>> square = Mesh([(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> grid = SparseGrid.from_mesh(square, Agent(radius=0.3), cell=1.0)
        >>> grid.num_cells
        16
        >>> grid.to_world(grid.to_cells([(0.2, 3.9)]))[:, :2].tolist()
        [[0.5, 3.5]]
        """
        from wayfold.grid import sources

        if "max_step" in options:
            raise ParameterError("from_mesh takes max_step from the agent's climb: leave it out")
        cells, step, origin, scale = sources.mesh_cells(mesh, agent or Agent(), cell, level, stage(progress, "cells"))
        grid = cls.from_cells(cells, sector_size, max_step=step, **options)
        grid.origin, grid.scale = origin, scale
        if seeds is not None:
            near = grid.to_cells(seeds, max_distance=sources.SEED_DISTANCE + (agent or Agent()).radius / cell)
            grid = cls.from_cells(sources.connected_cells(grid, near), sector_size, max_step=step, **options)
            grid.origin, grid.scale = origin, scale
        return grid

    origin: NDArray[np.float64] = np.zeros(3)
    """Metres of the middle of cell (0, 0, 0), where the grid was made from a mesh."""
    scale: NDArray[np.float64] = np.ones(3)
    """Metres of a cell's sides and of a level."""

    def to_world(self, cells: ArrayLike) -> NDArray[np.float64]:
        """Return the middle of each cell in metres, (k, 3), such as those of the points of a path.

        A grid that was not made from a mesh counts in cells: they come back unchanged.

        >>> square = Mesh([(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> grid = SparseGrid.from_mesh(square, cell=0.5)
        >>> path = grid.path(*grid.to_cells([(1.1, 1.1), (2.9, 1.1)]))
        >>> grid.to_world(path.points)[[0, -1], :2].tolist()
        [[1.25, 1.25], [2.75, 1.25]]
        """
        return np.asarray(checks.points3(cells, "cells") * self.scale + self.origin)

    @reads
    @checks.renamed(reach="max_distance")
    def to_cells(self, points: ArrayLike, *, max_distance: float = 2.0) -> NDArray[np.int64]:
        """Return the cell that stands for each point, (q, 3): the nearest one below it, or else above it.

        Parameters
        ----------
        points : (q, 2) or (q, 3) array_like, metres
        max_distance : float, cells, >= 0
            Farthest that a cell may lie from its point, sideways; heights do not matter.

        Raises
        ------
        OffMapError
            When there is no cell near a point.

        Examples
        --------
        >>> square = Mesh([(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> grid = SparseGrid.from_mesh(square, cell=0.5)
        >>> grid.to_cells([(1.1, 1.9, 0.0), (2.9, 1.1, 2.5)])[:, :2].tolist()
        [[2, 3], [5, 2]]
        """
        from wayfold.grid import sources

        wanted = checks.points3(points, "points")
        return sources.nearest_cells(self, (wanted - self.origin) / self.scale, wanted, max_distance)

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
        """Return the grid's size in bytes as Sturtevant 2011 counts it, with a whole sector of cells for each region.

        `nbytes` is what the arrays really take.

        Parameters
        ----------
        trimmed : bool
            Count only the bounding box of each region's cells.

        Examples
        --------
        >>> grid = SparseGrid.from_cells([(0, 0, 0), (1, 0, 0), (40, 0, 0)])
        >>> grid.memory().total, grid.memory(trimmed=True).total
        (1060, 42)
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

    @property
    @reads
    def bounds(self) -> NDArray[np.float64]:
        """Lowest and highest x, y and z of the cells, (2, 3), in cell coordinates; NaN without cells.

        >>> SparseGrid.from_cells([(3, 1, 0), (2, 5, 7)]).bounds.tolist()
        [[2.0, 1.0, 0.0], [3.0, 5.0, 7.0]]
        """
        cells = self._planner.cells_of(self._planner.all_nodes()).astype(np.float64)
        if not len(cells):
            return np.full((2, 3), np.nan)
        return np.array([cells.min(axis=0), cells.max(axis=0)])

    @reads
    def nearest(self, points: ArrayLike, *, max_distance: float | None = None) -> NDArray[np.float64]:
        """Return the cell nearest to each point; of equally near ones the first by row, column and height.

        Distances count the sides of cells as `scale` has them: metres where the grid was made from a mesh, else cells.
        See `to_cells` for points in metres.

        Parameters
        ----------
        points : (q, 2) or (q, 3) array_like, or one point
            Cell coordinates, anywhere; a missing z is 0.
        max_distance : float, >= 0, optional
            Farthest that a cell may lie from its point; any distance by default.

        Returns
        -------
        (q, 3) float64 array with rows of NaN for points without a cell, or (3,) for one point

        Raises
        ------
        OffMapError
            When one point is asked for that has no cell.

        Examples
        --------
        >>> grid = SparseGrid.from_cells([(0, 0, 0), (9, 0, 0)])
        >>> grid.nearest((6.5, 1.0)).tolist()
        [9.0, 0.0, 0.0]
        """

        def search(where: NDArray[np.float64], limit: float, found: NDArray[np.float64]) -> None:
            _search_kernels.nearest_cells(self._store, where, np.array(self.scale, np.float64), limit, found)

        return nearest_cells(points, max_distance, search)

    @reads
    def reachable(self, starts: ArrayLike, goals: ArrayLike) -> Any:
        """Return whether there is a path, from the components of the regions.

        One-way edges and links count in their direction only.

        Parameters
        ----------
        starts, goals : (q, 2) or (q, 3) array_like, or one cell
            Cells that are there; one start serves many goals, and one goal many starts.

        Returns
        -------
        (q,) bool array, or a bool for one start and goal

        Examples
        --------
        >>> grid = SparseGrid.from_cells([(0, 0, 0), (1, 0, 0), (9, 0, 0)])
        >>> slide = grid.add_link((9, 0), (0, 0), both_ways=False)
        >>> grid.reachable((9, 0), (1, 0)), grid.reachable((1, 0), (9, 0))
        (True, False)
        """
        first, last, single = checks.ends(starts, goals, largest=np.inf)
        if single:
            return self._planner.joined(*self._planner.ends(starts, goals))
        return self._planner.reachable(self._planner.nodes_of(first, "starts"), self._planner.nodes_of(last, "goals"))

    @reads
    def component_of(self, cells: ArrayLike) -> NDArray[np.int32]:
        """Return the number of the component that each cell is in, (q,).

        No path joins cells of different components. Cells of one are joined, unless the edges or links between them
        lead one way only: see `reachable`. Numbers may have gaps, and are valid until the next edit.

        >>> grid = SparseGrid.from_cells([(0, 0, 0), (1, 0, 0), (9, 0, 0)])
        >>> here, beside, away = grid.component_of([(0, 0), (1, 0), (9, 0)]).tolist()
        >>> here == beside, here == away
        (True, False)
        """
        nodes = self._planner.nodes_of(cells, "cells")
        return np.asarray(self._planner.components()[self._store.owners[nodes >> 4]])

    @reads
    def random_points(
        self, count: int, *, seed: int = 0, near: ArrayLike | None = None, radius: float | None = None
    ) -> NDArray[np.float64]:
        """Draw (count, 3) cells, each as likely as any other; one may be drawn more than once.

        Parameters
        ----------
        count : int, 0 to 10,000,000
        seed : int, >= 0
        near : (x, y) or (x, y, z), optional
            Only cells within `radius` of this point, in cell coordinates.
        radius : float, >= 0
            With `near` only; metres where the grid was made from a mesh, else cells.

        Examples
        --------
        >>> grid = SparseGrid.from_cells([(0, 0, 0), (1, 0, 0), (9, 0, 0)])
        >>> grid.random_points(2, near=(8, 1), radius=2.0).tolist()
        [[9.0, 0.0, 0.0], [9.0, 0.0, 0.0]]
        """
        return random_cells(self.cells, self.scale, count, seed, near, radius)

    @reads
    def contains(self, cells: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each cell, (q, 2) or (q, 3), is there; a missing z is 0.

        >>> SparseGrid.from_cells([(0, 0, 0), (0, 0, 5)]).contains([(0, 0, 0), (0, 0, 1), (0, 0, 5)]).tolist()
        [True, False, True]
        """
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
        """Return the number of area effects on each cell, (q,), 0 to 7.

        >>> grid = SparseGrid.from_cells([(x, 0, 0) for x in range(4)])
        >>> grid.add_effect([(1, 0, 0), (2, 0, 0), (2, 0, 0)])
        >>> grid.effects(grid.cells).tolist()
        [0, 1, 2, 0]
        """
        nodes = self._planner.nodes_of(cells, "cells")
        return (self._store.cells[nodes] >> 13).astype(np.int64)

    @reads
    def successors(self, cell: ArrayLike) -> NDArray[np.int64]:
        """Return the cells that one step leads to, clockwise from the east (where rows go down), then those of links.

        >>> grid = SparseGrid.from_cells([(0, 0, 0), (1, 0, 1), (0, 1, 3), (9, 9, 9)])
        >>> lift = grid.add_link((0, 0, 0), (9, 9, 9), kind="lift")
        >>> grid.successors((0, 0, 0)).tolist()
        [[1, 0, 1], [9, 9, 9]]
        """
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
    @checks.renamed(abstract=("exact", checks.opposite("abstract")))
    def path(
        self,
        start: ArrayLike,
        goal: ArrayLike,
        *,
        exact: bool = False,
        smooth: bool = False,
        trim: float = 0.0,
        budget: int | None = None,
        partial: bool = False,
    ) -> Path:
        """Find a path between two cells.

        Parameters
        ----------
        start, goal : (x, y) or (x, y, z)
            Cells that are there; a missing z is 0.
        exact : bool
            Search the cells for the cheapest path. Otherwise plan over regions first and refine the route to cells:
            fast, and a few per cent dearer.
        smooth : bool
            Pull the path straight where the cells allow it and no area effect is entered (`Path.smooth`).
        trim : float, 0 to 0.9
            Share of each refined leg that is dropped before the next one is planned: shorter paths, more cells settled.
        budget : int, >= 1, optional
            Settle at most this many cells (``exact=True`` only); no limit by default.
        partial : bool
            Without a way to the goal (or without budget for it) return the path to the reached cell nearest to it
            (``exact=True`` only).

        Returns
        -------
        Path
            `points` are cell coordinates, `expanded` counts settled cells, `timings` has the phases.

        Examples
        --------
        >>> grid = SparseGrid.from_cells([(0, 0, 0), (1, 0, 1), (2, 0, 2), (2, 1, 2)])
        >>> grid.path((0, 0, 0), (2, 1, 2), exact=True).points.tolist()
        [[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [2.0, 0.0, 2.0], [2.0, 1.0, 2.0]]
        """
        first, last = self._planner.ends(start, goal)
        share = checks.number(trim, "trim", low=0.0, high=0.9)
        return self._planner.path(first, last, exact=exact, smooth=smooth, trim=share, budget=budget, partial=partial)

    @reads
    @checks.renamed(abstract=("exact", checks.opposite("abstract")))
    def paths(
        self,
        starts: ArrayLike,
        goals: ArrayLike,
        *,
        exact: bool = False,
        smooth: bool = False,
        budget: int | None = None,
        partial: bool = False,
        workers: int | None = None,
    ) -> Paths:
        """Find the paths of many queries, in parallel.

        Parameters
        ----------
        starts, goals : (q, 2) or (q, 3) array_like
            Cells that are there, one goal for each start.
        exact, smooth, budget, partial
            As for `path`; the budget is that of each query.
        workers : int, >= 1, optional
            Threads, all cores by default.

        Examples
        --------
        >>> grid = SparseGrid.from_cells([(x, y, 0) for x in range(4) for y in range(4)])
        >>> grid.paths([(0, 0), (3, 0)], [(3, 0), (3, 3)], exact=True).costs.tolist()
        [3.0, 3.0]
        """
        first, last = self._planner.nodes_of(starts, "starts"), self._planner.nodes_of(goals, "goals")
        checks.same_length(first, last)
        return self._planner.paths(
            first, last, exact=exact, smooth=smooth, budget=budget, partial=partial, workers=workers
        )

    @reads
    @checks.renamed(abstract=("exact", checks.opposite("abstract")))
    def replan(self, path: Path, *, exact: bool = False, smooth: bool = False) -> Path:
        """Bring an earlier path up to date after edits: what can still be walked of it is kept, the rest planned anew.

        It is kept even where an edit has opened a cheaper way.

        Parameters
        ----------
        path : Path
            A path of this grid that was found (its `points` count, its nodes do not).
        exact, smooth : bool
            How the new part is planned, as for `path`.

        Raises
        ------
        OffMapError
            When the start or the goal is not a cell any more.

        Examples
        --------
        >>> grid = SparseGrid.from_cells([(x, y, 0) for x in range(5) for y in range(2)])
        >>> path = grid.path((0, 0), (4, 0), exact=True)
        >>> grid.remove([(2, 0, 0)])
        >>> grid.replan(path).points[:, :2].astype(int).tolist()
        [[0, 0], [1, 0], [1, 1], [2, 1], [3, 1], [3, 0], [4, 0]]
        """
        if not len(path.points):
            raise ParameterError("a path that was not found cannot be replanned: ask for a new one")
        return self._planner.replan(path, exact=exact, smooth=smooth)

    @reads
    def smooth(self, path: Path) -> Path:
        """Pull a path straight where the cells allow it and no area effect is entered.

        Parameters
        ----------
        path : Path
            Whose `points` are cells of this grid, as those of `path` are.

        Returns
        -------
        Path
            With fewer points and at most the same cost; the path itself where an edit has broken it.

        Examples
        --------
        >>> grid = SparseGrid.from_cells([(x, y, 0) for x in range(5) for y in range(3)])
        >>> path = grid.path((0, 0), (4, 2), exact=True)
        >>> straight = grid.smooth(path)
        >>> len(path.points), len(straight.points), path.cost > straight.cost
        (5, 2, True)
        """
        if not len(path.points):
            raise ParameterError("a path that was not found cannot be smoothed: ask for a new one")
        return self._planner.pull(path)

    @reads
    def expanded(self, start: ArrayLike, goal: ArrayLike, *, exact: bool = False) -> NDArray[np.int64]:
        """Return the cells that the search for a path settles, (k, 3), in no meaningful order, for pictures.

        >>> grid = SparseGrid.from_cells([(x, 0, 0) for x in range(9)])
        >>> len(grid.expanded((0, 0), (8, 0), exact=True))
        9
        """
        nodes = self._planner.settled(*self._planner.ends(start, goal), exact=exact)
        return self._planner.cells_of(nodes.astype(np.int32))

    @reads
    def costs_to(self, goal: ArrayLike, cells: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Find the cheapest ways from many cells to one by a single search, over steps only: links are left out.

        Parameters
        ----------
        goal : (x, y) or (x, y, z)
            A cell that is there.
        cells : (q, 2) or (q, 3) array_like
            Cells that are there, each once.

        Returns
        -------
        costs : (q,) float64 array
            Cost of the way from each cell, infinite where there is none.
        following : (q,) int32 array
            Which of the cells is next on the way; -1 at the goal, without a way, and where the next is not among them.

        Raises
        ------
        ParameterError
            In a grid with drops, whose steps cannot all be taken back.

        Examples
        --------
        >>> grid = SparseGrid.from_cells([(x, 0, 0) for x in range(4)])
        >>> costs, following = grid.costs_to((0, 0), grid.cells)
        >>> costs.tolist(), following.tolist()
        ([0.0, 1.0, 2.0, 3.0], [-1, 0, 1, 2])
        """
        if self.drop:
            raise ParameterError(f"costs_to needs steps that lead both ways: this grid has drops of up to {self.drop}")
        target = int(self._planner.nodes_of(checks.point3(goal, "goal", largest=np.inf)[None], "goal")[0])
        nodes = self._planner.nodes_of(cells, "cells")
        costs, parents = self._planner.costs_to(target)
        number = np.full(len(costs) + 1, -1, np.int32)  # the last one is for nodes without a next one
        number[nodes] = np.arange(len(nodes), dtype=np.int32)
        return costs[nodes], number[parents[nodes]]

    @reads
    def regions(self) -> RegionTable:
        """Return all regions with their cells and abstract edges, for pictures and checks.

        >>> grid = SparseGrid.from_cells([(x, 0, 0) for x in range(20)], sector_size=16)
        >>> table = grid.regions()
        >>> sorted(table.free.tolist()), table.supports.tolist()
        ([4, 16], [1, 1])
        """
        return self._planner.region_table()

    # --- files -----------------------------------------------------------------------------------------------

    _SCHEMA = SCHEMA

    @reads
    def _to_parts(self) -> Parts:
        store, links = self._store, self._planner.links
        nodes = self._planner.all_nodes()
        cells = self._planner.cells_of(nodes)
        order = np.lexsort((cells[:, 2], cells[:, 0], cells[:, 1]))
        nodes, cells = nodes[order], cells[order]
        arrays: dict[str, Any] = {
            "columns": cells[:, :2].astype(np.int32),
            "levels": cells[:, 2].astype(np.int16),
            "links": links.ends,
            "link_costs": links.costs,
            "origin": np.array(self.origin, np.float64),
            "scale": np.array(self.scale, np.float64),
        }
        kinds, effects = store.kind[store.owners[nodes >> 4]], (store.cells[nodes] >> 13).astype(np.uint8)
        arrays |= {name: values for name, values in (("kinds", kinds), ("effects", effects)) if values.any()}
        meta = {
            "sector_size": self.sector_size,
            "successors": self.successor_way,
            "max_step": self.max_step,
            "trim": self.trim,
            "merge": self.merge,
            "drop": self.drop,
            "effect_cost": self.effect_cost,
        }
        if len(links.ids):
            arrays["link_ids"] = links.ids
        if links.kinds:
            meta["link_kinds"] = [links.kinds.get(number, "") for number in links.ids.tolist()]
        if links.next_id:
            meta["next_link"] = links.next_id
        return Parts(arrays, meta)

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        arrays, meta = parts.arrays, dict(parts.meta)
        cells = np.column_stack([arrays["columns"], arrays["levels"]]).astype(np.int64)
        ids = arrays.get("link_ids", np.arange(len(arrays["links"])))  # files of before have no numbers
        kinds, next_id = meta.pop("link_kinds", []), meta.pop("next_link", len(ids))
        grid = cls(**meta)
        grid.origin, grid.scale = arrays["origin"], arrays["scale"]
        grid._editor.fill(cells, arrays.get("kinds", np.zeros(1, np.uint8)))
        if "effects" in arrays:
            grid._editor.change_effects(np.repeat(cells, arrays["effects"], axis=0), 1)
        grid._planner.links.restore(arrays["links"], arrays["link_costs"], ids, kinds, next_id)
        return grid

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

        Examples
        --------
        >>> gap = SparseGrid.from_cells([(0, 0, 0), (1, 0, 0), (3, 0, 0)])
        >>> gap.add([(2, 0, 1)])
        >>> gap.path((0, 0), (3, 0)).points[:, 2].tolist()
        [0.0, 0.0, 1.0, 0.0]
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

        Examples
        --------
        >>> grid = SparseGrid.from_cells([(x, 0, 0) for x in range(4)])
        >>> grid.remove([(1, 0, 0), (2, 0, 0)])
        >>> grid.num_cells, grid.reachable((0, 0), (3, 0))
        (2, False)
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

        Examples
        --------
        >>> grid = SparseGrid.from_cells([(x, 0, 0) for x in range(4)], effect_cost=0.5)
        >>> grid.add_effect([(1, 0, 0), (2, 0, 0), (2, 0, 0)])
        >>> grid.path((0, 0), (3, 0), exact=True).cost
        4.5
        """
        self._editor.change_effects(check_cells(cells), 1)

    @writes
    def remove_effect(self, cells: ArrayLike) -> None:
        """Take one area effect off cells (off a cell that is listed twice, two).

        Raises
        ------
        EditError
            When a cell is not there or has no effect. Nothing is changed.

        Examples
        --------
        >>> grid = SparseGrid.from_cells([(x, 0, 0) for x in range(4)])
        >>> grid.add_effect([(1, 0, 0), (2, 0, 0)])
        >>> grid.remove_effect([(2, 0, 0)])
        >>> grid.effects([(1, 0, 0), (2, 0, 0)]).tolist()
        [1, 0]
        """
        self._editor.change_effects(check_cells(cells), -1)

    @writes
    @checks.renamed(a="start", b="end")
    def add_link(
        self,
        start: ArrayLike,
        end: ArrayLike,
        *,
        cost: float | None = None,
        kind: str = "",
        both_ways: bool = True,
    ) -> int:
        """Join two cells that need not be neighbours (a ladder, a lift, a walkable wall) and return the link's id.

        Parameters
        ----------
        start, end : (x, y) or (x, y, z)
            Two cells that are there. While one of them is removed the link rests; it is back when the cell is.
        cost : float, optional
            At least the octile distance of the two columns, which plus one for each level is the default; at most 1e28.
            Area effects on the cell that the link leads to multiply it, as they do a step's.
        kind : str
            What `links` calls it: free text that means nothing to the search.
        both_ways : bool
            Whether it also leads from `end` to `start`.

        Raises
        ------
        EditError
            When there is a link between the two cells already. Nothing is changed.

        Examples
        --------
        >>> grid = SparseGrid.from_cells([(0, 0, 0), (0, 0, 12)])
        >>> ladder = grid.add_link((0, 0, 0), (0, 0, 12), kind="ladder")
        >>> grid.path((0, 0, 0), (0, 0, 12)).cost, grid.links[0].kind
        (12.0, 'ladder')
        >>> grid.remove_link(ladder)
        """
        ends = np.array([checks.point3(start, "start"), checks.point3(end, "end")])
        self._planner.nodes_of(ends, "link")
        first, second = ends.astype(np.int64)
        least = float(octile(ends[None])[0])
        levels = float(abs(first[2] - second[2]))
        price = least + levels if cost is None else checks.number(cost, "cost", low=least, high=checks.LARGEST_COST)
        return self._planner.links.add(first, second, price, kind, bool(both_ways))

    @writes
    @checks.renamed(a="link", b="end")
    def remove_link(self, link: int | ArrayLike, end: ArrayLike | None = None) -> None:
        """Remove a link by its id, or all links between two cells.

        Parameters
        ----------
        link : int, or (x, y) or (x, y, z)
            What `add_link` returned; or one of two cells, all links between which are removed.
        end : (x, y) or (x, y, z)
            The other cell, with a first one only.

        Raises
        ------
        EditError
            When there is no such link. Nothing is changed.

        Examples
        --------
        >>> grid = SparseGrid.from_cells([(0, 0, 0), (0, 0, 12), (0, 0, 24)])
        >>> lift = grid.add_link((0, 0, 0), (0, 0, 24), kind="lift")
        >>> ladder = grid.add_link((0, 0, 0), (0, 0, 12), kind="ladder")
        >>> grid.remove_link(lift)
        >>> grid.remove_link((0, 0, 0), (0, 0, 12))
        >>> grid.links
        ()
        """
        if end is None:
            self._planner.links.remove(checks.whole(link, "link", low=0))
            return
        ends = np.array([checks.point3(link, "link"), checks.point3(end, "end")]).astype(np.int64)
        self._planner.links.remove_between(ends[0], ends[1])

    @property
    @reads
    def links(self) -> tuple[Link, ...]:
        """All links in the order in which they were added, also those that rest; `start` and `end` are cells."""
        return self._planner.links.listed()

    @writes
    def reserve(self, cells: int = 0, *, regions: int = 0, edges: int = 0) -> None:
        """Make room in the pools, so that edits allocate nothing until it is used up.

        Cells beyond the rectangle of sectors that there are still enlarge its table, by 4 bytes a sector.

        Parameters
        ----------
        cells : int, >= 0
            Room for so many more cells in the boxes of regions; a region that grows moves to a larger block.
        regions, edges : int, >= 0
            Room for so many more regions and abstract edges.

        Examples
        --------
        >>> grid = SparseGrid.from_cells([(0, 0, 0), (200, 0, 0)])
        >>> grid.reserve(cells=10_000, regions=100, edges=500)
        >>> before = grid.nbytes
        >>> grid.add([(x, 0, 0) for x in range(1, 200)])
        >>> grid.nbytes == before
        True
        """
        self._editor.reserve(cells, regions, edges)

    @writes
    def compact(self) -> None:
        """Squeeze all gaps out of the pools; edits do so themselves once a quarter of a pool is gaps.

        >>> grid = SparseGrid.from_cells([(0, 0, 0)])
        >>> grid.reserve(cells=10_000)
        >>> before = grid.nbytes
        >>> grid.compact()
        >>> grid.nbytes < before
        True
        """
        self._editor.compact()
