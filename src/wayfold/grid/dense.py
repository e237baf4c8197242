"""The regular grid: every cell stored, successors computed from the cells around. The baseline of the sparse grid.

Eight neighbours, a diagonal only where both orthogonal cells are free (the rule of Sturtevant 2011 and of the MovingAI
benchmarks). It is searched as it is, without building a graph.
"""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks, text
from wayfold.core.schema import Array, Parts, Savable, Schema
from wayfold.errors import OffMapError, ParameterError
from wayfold.formats import load_map
from wayfold.graph import Graph, searcher
from wayfold.graph import search_kernels as graph_kernels
from wayfold.graph.searcher import Workspaces
from wayfold.grid import _dense_kernels
from wayfold.grid._cells import nearest_cells, random_cells
from wayfold.path import Path, Paths, Status


@checks.checked
class DenseGrid(Savable):
    """A grid of cells that are blocked or of some kind; cells connect to neighbours of the same kind.

    Parameters
    ----------
    kinds : (height, width) array_like of bool or int, 0 to 255
        0 or False is blocked. In a MovingAI map 1 is ground and 2 is water. At most 2**31 - 1 cells.

    Notes
    -----
    A cell is (x, y) or (x, y, 0): x the column, y the row, both from 0. A step costs 1, a diagonal one sqrt 2. One
    byte a cell is stored, 4 more once components are known, and a search takes up to 24.

    Examples
    --------
    >>> grid = DenseGrid([[1, 1, 1], [1, 0, 1], [1, 1, 1]])
    >>> grid.path((0, 1), (2, 1)).points.tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 1.0, 0.0]]
    >>> grid
    <DenseGrid: 3 x 3 cells, 8 free>
    """

    def __init__(self, kinds: ArrayLike) -> None:
        array = checks.numbers(kinds, "kinds", "an array of truth values or whole numbers", bools=True)
        if array.ndim != 2 or array.size == 0:
            raise ParameterError(f"kinds must have shape (height, width) with at least one cell, not {array.shape}")
        if array.dtype.kind not in "biu":
            raise ParameterError(f"kinds must be truth values or whole numbers, not {array.dtype}")
        if array.size > np.iinfo(np.int32).max:
            raise ParameterError(f"a dense grid holds at most {np.iinfo(np.int32).max} cells, not {array.size}")
        if array.dtype.kind != "b" and (array.min() < 0 or array.max() > 255):
            raise ParameterError(f"kinds must be from 0 to 255, not {array.min()} to {array.max()}")
        self.kinds: NDArray[np.uint8] = checks.clean(array.astype(np.uint8, copy=False))
        self._space = _dense_kernels.DenseSpace(self.kinds)
        self._workspaces = Workspaces(self.kinds.size)
        self._components: NDArray[np.int32] | None = None

    @classmethod
    def from_movingai(cls, file: str | os.PathLike[str]) -> DenseGrid:
        """Read a MovingAI `.map` file: ground connects to ground, water to water.

        >>> from wayfold import formats
        >>> formats.save_map(np.array([[*b"..W"], [*b".@W"]], np.uint8), "shore.map")
        >>> shore = DenseGrid.from_movingai("shore.map")
        >>> shore.reachable((0, 0), (1, 0)), shore.reachable((0, 0), (2, 0))
        (True, False)
        """
        return cls(load_map(file).kinds)

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.kinds.shape[1])

    @property
    def height(self) -> int:
        """Number of rows."""
        return int(self.kinds.shape[0])

    @property
    def num_cells(self) -> int:
        """Number of cells that are not blocked."""
        return int(np.count_nonzero(self.kinds))

    @property
    def nbytes(self) -> int:
        """Bytes of the stored grid, without components and search workspaces."""
        return self.kinds.nbytes

    @property
    def search_bytes(self) -> int:
        """Bytes of scratch memory that one search at a time takes."""
        return self._workspaces.search_bytes

    @property
    def components(self) -> NDArray[np.int32]:
        """The connected component of each cell, (height, width), computed once; a blocked cell is alone in its own."""
        if self._components is None:
            labels = np.empty(self.kinds.size, np.int32)
            graph_kernels.label_components(self._space, labels)
            labels.setflags(write=False)
            self._components = labels
        return self._components.reshape(self.kinds.shape)

    def contains(self, cells: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each cell, (q, 2) or (q, 3), is a whole cell inside the grid that is not blocked.

        >>> DenseGrid([[1, 1, 1], [1, 0, 1]]).contains([(0, 0), (1, 1), (9, 9), (0.5, 0)]).tolist()
        [True, False, False, False]
        """
        array = checks.points3(cells, "cells", largest=np.inf)
        x, y = array[:, 0], array[:, 1]
        whole = (array == np.floor(array)).all(axis=1) & (array[:, 2] == 0)
        inside = whole & (x >= 0) & (x < self.width) & (y >= 0) & (y < self.height)
        result = np.zeros(len(array), np.bool_)
        result[inside] = self.kinds[y[inside].astype(int), x[inside].astype(int)] != 0
        return result

    @property
    def bounds(self) -> NDArray[np.float64]:
        """First and last cell, (2, 3), in cell coordinates.

        >>> DenseGrid([[1, 1, 1], [1, 0, 1]]).bounds.tolist()
        [[0.0, 0.0, 0.0], [2.0, 1.0, 0.0]]
        """
        return np.array([[0.0, 0.0, 0.0], [self.width - 1.0, self.height - 1.0, 0.0]])

    def nearest(self, points: ArrayLike, *, max_distance: float | None = None) -> NDArray[np.float64]:
        """Return the free cell nearest to each point; of equally near ones the first by row and column.

        Parameters
        ----------
        points : (q, 2) or (q, 3) array_like, or one point
            Cell coordinates, anywhere.
        max_distance : float, cells, >= 0, optional
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
        >>> DenseGrid([[1, 0, 0], [0, 0, 1]]).nearest((1.6, 0.3)).tolist()
        [2.0, 1.0, 0.0]
        """
        return nearest_cells(
            points, max_distance, lambda where, limit, out: _dense_kernels.nearest_free(self.kinds, where, limit, out)
        )

    def reachable(self, starts: ArrayLike, goals: ArrayLike) -> Any:
        """Return whether there is a path, without a search.

        Parameters
        ----------
        starts, goals : (q, 2) or (q, 3) array_like, or one cell
            Cells that are not blocked; one start serves many goals, and one goal many starts.

        Returns
        -------
        (q,) bool array, or a bool for one start and goal

        Examples
        --------
        >>> DenseGrid([[1, 1, 0, 1]]).reachable((0, 0), [(1, 0), (3, 0)]).tolist()
        [True, False]
        """
        first, last, single = checks.ends(starts, goals, largest=np.inf)
        flat = self.components.ravel()
        found = flat[self._nodes(first, "starts")] == flat[self._nodes(last, "goals")]
        return bool(found[0]) if single else np.asarray(found)

    def random_points(
        self, count: int, *, seed: int = 0, near: ArrayLike | None = None, radius: float | None = None
    ) -> NDArray[np.float64]:
        """Draw (count, 3) free cells, each as likely as any other; one may be drawn more than once.

        Parameters
        ----------
        count : int, 0 to 10,000,000
        seed : int, >= 0
        near : (x, y) or (x, y, z), optional
            Only cells within `radius` of this point, in cell coordinates.
        radius : float, cells, >= 0
            With `near` only.

        Examples
        --------
        >>> field = DenseGrid(np.ones((20, 20), np.uint8))
        >>> cells = field.random_points(100, seed=4, near=(5, 5), radius=3)
        >>> bool((np.hypot(cells[:, 0] - 5, cells[:, 1] - 5) <= 3).all())
        True
        """
        y, x = np.nonzero(self.kinds)
        cells = np.column_stack([x, y, np.zeros_like(x)])
        return random_cells(cells, np.ones(3), count, seed, near, radius)

    def successors(self, cell: ArrayLike) -> NDArray[np.int64]:
        """Return the cells that one step leads to, (k, 3), clockwise from the east (where rows go down).

        A diagonal step needs both cells beside it to be of the same kind: nothing squeezes past a corner.

        >>> grid = DenseGrid([[1, 1, 1], [1, 0, 1], [1, 1, 1]])
        >>> grid.successors((0, 0)).tolist()
        [[1, 0, 0], [0, 1, 0]]
        >>> grid.successors((1, 0)).tolist()
        [[2, 0, 0], [0, 0, 0]]
        """
        node = self._node(cell, "cell")
        nodes = np.empty(8, np.int32)
        _dense_kernels.successors(self._space, node, nodes)
        return self._cells(nodes[nodes >= 0]).astype(np.int64)

    def path(
        self,
        start: ArrayLike,
        goal: ArrayLike,
        *,
        smooth: bool = False,
        budget: int | None = None,
        partial: bool = False,
    ) -> Path:
        """Find the shortest path between two cells, by A* with the octile distance.

        Parameters
        ----------
        start, goal : (x, y) or (x, y, 0)
            Cells that are not blocked.
        smooth : bool
            Pull the path straight where the cells allow it (`Path.smooth`).
        budget : int, >= 1, optional
            Settle at most this many cells; no limit by default.
        partial : bool
            Without a way to the goal (or without budget for it) return the path to the reached cell nearest to it.

        Returns
        -------
        Path
            `points` are cell coordinates, `nodes` are ``y * width + x``.

        Examples
        --------
        >>> grid = DenseGrid([[1, 1, 1, 1, 1], [1, 1, 0, 1, 1]])
        >>> path = grid.path((0, 1), (4, 1))
        >>> round(path.cost, 3), path.nodes.tolist()
        (4.828, [5, 1, 2, 3, 9])
        >>> grid.path((0, 1), (4, 1), smooth=True).points.tolist()
        [[0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [4.0, 1.0, 0.0]]
        >>> DenseGrid([[1, 1, 0, 1]]).path((0, 0), (3, 0), partial=True).points.tolist()
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
        """
        first, last = self._node(start, "start"), self._node(goal, "goal")
        limit = searcher.check_budget(budget)
        flat = self.components.ravel()
        if flat[first] != flat[last] and not partial:
            return Path(Status.UNREACHABLE)
        path = searcher.one(
            self._space,
            self._workspaces,
            first,
            last,
            scale=1.0,
            points=self._cells,
            budget=limit,
            partial=partial,
            smoother=self._pull,
        )
        return path.smooth() if smooth else path

    def paths(
        self,
        starts: ArrayLike,
        goals: ArrayLike,
        *,
        budget: int | None = None,
        partial: bool = False,
        workers: int | None = None,
    ) -> Paths:
        """Find the shortest paths of many queries, in parallel.

        Parameters
        ----------
        starts, goals : (q, 2) or (q, 3) array_like
            Cells that are not blocked, one goal for each start.
        budget, partial
            As for `path`; the budget is that of each query.
        workers : int, >= 1, optional
            Threads, all cores by default. The result does not depend on it.

        Examples
        --------
        >>> grid = DenseGrid([[1, 1, 1], [0, 0, 1], [1, 0, 1]])
        >>> answers = grid.paths([(0, 0), (0, 0)], [(2, 2), (0, 2)])
        >>> answers.costs.tolist(), answers.found.tolist()
        ([4.0, inf], [True, False])
        """
        first, last = self._nodes(starts, "starts"), self._nodes(goals, "goals")
        checks.same_length(first, last)
        flat = self.components.ravel()
        possible = np.ones(first.size, np.bool_) if partial else flat[first] == flat[last]
        return searcher.many(
            self._space,
            self._workspaces,
            first,
            last,
            scale=1.0,
            points=self._cells,
            possible=possible,
            budget=searcher.check_budget(budget),
            partial=partial,
            workers=workers,
            smoother=self._pull,
        )

    def graph(self) -> tuple[Graph, NDArray[np.int32]]:
        """Return the free cells as a graph with Euclidean costs, for accelerators and comparisons.

        Returns
        -------
        graph : Graph
            Nodes are numbered row by row; their points are cell coordinates.
        numbers : (height, width) int32 array
            The node of each cell, -1 where it is blocked.

        Examples
        --------
        >>> graph, numbers = DenseGrid([[1, 1, 0], [0, 1, 1]]).graph()
        >>> numbers.tolist()
        [[0, 1, -1], [-1, 2, 3]]
        >>> graph.path(numbers[0, 0], numbers[1, 2]).cost
        3.0
        """
        kinds = self.kinds
        numbers = np.full(kinds.shape, -1, np.int32)
        free = kinds != 0
        numbers[free] = np.arange(np.count_nonzero(free), dtype=np.int32)
        east = free[:, :-1] & (kinds[:, :-1] == kinds[:, 1:])
        south = free[:-1] & (kinds[:-1] == kinds[1:])
        # Both diagonals of a square are open when its four cells are of one kind.
        square = east[:-1] & east[1:] & south[:, :-1]
        pairs = (
            (numbers[:, :-1][east], numbers[:, 1:][east]),
            (numbers[:-1][south], numbers[1:][south]),
            (numbers[:-1, :-1][square], numbers[1:, 1:][square]),
            (numbers[:-1, 1:][square], numbers[1:, :-1][square]),
        )
        edges = np.concatenate([np.column_stack(pair) for pair in pairs])
        y, x = np.nonzero(free)
        return Graph.from_edges(np.column_stack([x, y]), edges), numbers

    _SCHEMA = Schema(
        "dense-grid",
        {"kinds": Array("uint8", ("rows", "columns"), "kind of each cell, 0 where it is blocked")},
        least={"rows": 1, "columns": 1},
    )

    def _to_parts(self) -> Parts:
        return Parts({"kinds": self.kinds}, {})

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        return cls(parts.arrays["kinds"])

    def __repr__(self) -> str:
        return f"<DenseGrid: {self.width} x {self.height} cells, {self.num_cells} free>"

    def _cells(self, nodes: NDArray[np.int32]) -> NDArray[np.int32]:
        y, x = np.divmod(nodes, np.int32(self.width))
        return np.column_stack([x, y, np.zeros_like(x)])

    def _node(self, cell: ArrayLike, name: str) -> int:
        return int(self._nodes(checks.point3(cell, name, largest=np.inf)[None], name)[0])

    def _nodes(self, cells: ArrayLike, name: str) -> NDArray[np.int32]:
        given = checks.floats(cells, name, "cells of shape (q, 2) or (q, 3)")
        array = checks.points3(given, name, largest=np.inf) if given.size else np.empty((0, 3))
        free = self.contains(array) if len(array) else np.empty(0, np.bool_)
        if not free.all():
            cell = array[np.argmin(free)]
            inside = 0 <= cell[0] < self.width and 0 <= cell[1] < self.height and cell[2] == 0
            where = "is blocked or not a whole cell" if inside else f"is outside {self.width} x {self.height} cells"
            raise OffMapError(f"{name} ({text.place(cell)}) {where}")
        return (array[:, 1] * self.width + array[:, 0]).astype(np.int32)

    def _pull(self, path: Path) -> Path:
        cells = np.ascontiguousarray(self._cells(path.nodes)[:, :2])
        corners = np.empty(len(cells), np.int32)
        kept = corners[: _dense_kernels.pull_straight(self._space, path.nodes, cells, corners)]
        pulled = Path(path.status, self._cells, nodes=path.nodes[kept], expanded=path.expanded, timings=path.timings)
        pulled.cost = pulled.length
        return pulled
