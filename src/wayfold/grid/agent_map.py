"""The sparse grid as an agent of a world uses it, in a world of cells or of triangles (Sturtevant 2011)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.core.arrays import offsets_of
from wayfold.core.locks import ReadersWriter, still
from wayfold.errors import EditError, OffMapError
from wayfold.field import Field
from wayfold.geometry.shapes import Shape
from wayfold.graph import search_kernels
from wayfold.grid.sources import CellIndex
from wayfold.grid.sparse import SparseGrid
from wayfold.map import AgentMap, Edits, off_map, why_apart
from wayfold.path import Path, Paths, Status

Points = NDArray[np.float64]
At = NDArray[np.int64]

_T = TypeVar("_T")
_MOST_EFFECTS = 7
_NEAR = 10.0
"""Cells within which `nearest` looks in a world of cells, where agents have no size."""
_ASIDE = 1.5
"""Cells of a mesh end before walls: a point so many cells beside the middle of one is at it."""
_NONE = np.empty(0, np.int64)


@dataclass(frozen=True)
class AbstractGraph:
    """The regions of a sparse grid, which are a part of it: edits keep them up to date."""

    num_regions: int
    num_edges: int

    @property
    def nbytes(self) -> int:
        """Bytes of its records inside the grid."""
        return 12 * self.num_regions + 4 * self.num_edges

    def __repr__(self) -> str:
        return f"<AbstractGraph: {self.num_regions} regions, {self.num_edges} edges, inside the grid>"


class CellChange(NamedTuple):
    """What an edit does to the cells; all by their place among those of the world without edits."""

    touched: At = _NONE
    """Cells that a block begins or ceases to hold."""
    sign: int = 0
    gone: At = _NONE
    back: At = _NONE
    dear: At = _NONE
    """Cells that are there after the edit and whose area effects may change."""
    effects: NDArray[np.int64] = _NONE
    """How many each of them has then."""


class Places:
    """The cells that a grid has without edits, numbered by row, column and height.

    Parameters
    ----------
    grid : SparseGrid
        As it was built; later edits of it do not matter.
    agent : Agent or None
        Whose mesh the cells were found in; None in a world of cells.
    """

    def __init__(self, grid: SparseGrid, agent: Agent | None) -> None:
        self.index = CellIndex(grid.cells)
        self.origin, self.scale = np.array(grid.origin), np.array(grid.scale)
        self.agent = agent
        self.half = float(self.scale[2]) / 2
        """Half the height of a level: how far the ground may lie from the middle of its cell."""

    def __len__(self) -> int:
        return len(self.index)

    def middles(self, at: At | slice) -> Points:
        """(k, 3) middles of cells in the world."""
        return np.asarray(self.index.cells(at) * self.scale + self.origin)

    def cells(self, points: Points) -> NDArray[np.int64]:
        """(k, 3) cells in which points lie, whether they are there or not."""
        return np.floor((points - self.origin) / self.scale + 0.5).astype(np.int64)

    def around(self, bounds: Points, radius: float) -> At:
        """The cells whose middle, seen from above, lies in a box or within a distance of it."""
        low, high = ((corner[:2] - self.origin[:2]) / self.scale[:2] for corner in bounds)
        grown = radius / self.scale[:2] + 1e-6
        return self.index.within(low - grown, high + grown)

    def find(self, points: Points, there: NDArray[np.bool_], name: str) -> At:
        """The cell that each point is at.

        Parameters
        ----------
        points : (q, 3) float64 array
            In a world of cells they are rounded; in a mesh the nearest cell counts, within 1.5 cells sideways and the
            agent's height. A height that is not a number stands for any.
        there : (n,) bool array
            Which cells are there now.
        name : str
            What the points are called in errors.
        """
        if self.agent is None:
            found = self.index.find(self.cells(np.clip(points, -1e9, 1e9)))
            found[found >= 0] = np.where(there[found[found >= 0]], found[found >= 0], -1)
        else:
            max_distance = _ASIDE * float(self.scale[0])
            max_height = max(self.agent.height, 4 * self.half)
            found = np.array([self.nearest(point, there, max_distance, max_height) for point in points], np.int64)
        if len(found) and found.min() < 0:
            bad = int(np.argmin(found))
            where = points[bad][np.isfinite(points[bad])]
            which = name if len(points) == 1 else f"{name}[{bad}]"
            raise off_map(where, f"({which}) is not a cell of the grid", 1e3 * float(self.scale.min()))
        return found

    def nearest(self, point: Points, there: NDArray[np.bool_], max_distance: float, max_height: float) -> int:
        """The nearest cell within a distance sideways and one up or down, metres; -1 for none."""
        box = np.array([point - max_distance, point + max_distance])
        at = self.around(box, 0.0)
        at = at[there[at]]
        apart = self.middles(at) - point
        if np.isnan(point[2]):
            apart[:, 2] = 0.0
        aside = (apart[:, :2] ** 2).sum(axis=1)
        near = np.flatnonzero((aside <= max_distance * max_distance * (1 + 1e-9)) & (np.abs(apart[:, 2]) <= max_height))
        if not near.size:
            return -1
        return int(at[near[np.argmin(aside[near] + apart[near, 2] ** 2)]])


class CellMap(AgentMap):
    """A sparse grid for one agent.

    Paths lead over the middles of cells and cost what the grid counts: their length seen from above in steps to the 8
    neighbours. `Path.smooth` pulls them straight. A block takes away the cells in whose middle the agent would touch
    it; a cost is put on cells as area effects. Edits change the grid in place while no query runs.

    Parameters
    ----------
    grid : SparseGrid
    kinds : (rows, columns) uint8 array or None
        Those of a world of cells, 0 where there is none; None for the cells of a mesh.
    abstract : bool
        Whether quick paths go over regions.
    lock : ReadersWriter
        Holds off edits of the world; paths are smoothed in the world as it is then.
    """

    in_place = True

    def __init__(
        self, agent: Agent, grid: SparseGrid, kinds: NDArray[np.uint8] | None, abstract: bool, lock: ReadersWriter
    ) -> None:
        super().__init__(agent)
        self._grid = grid
        self._kinds = kinds
        self._abstract = abstract
        self._lock = lock
        self._places = Places(grid, agent if kinds is None else None)
        self._held = np.zeros(len(self._places), np.int32)  # blocks on each cell
        self._there = np.ones(len(self._places), np.bool_)
        self._change = CellChange()  # what `succeed` is to do
        self.any_height = float("nan") if kinds is None else 0.0

    @property
    def map(self) -> SparseGrid:
        """The grid. Do not modify it directly."""
        return self._grid

    @property
    def accelerator(self) -> AbstractGraph | None:
        """The abstract graph of the grid, where it is used."""
        return AbstractGraph(self._grid.num_regions, self._grid.num_abstract_edges) if self._abstract else None

    @property
    def nbytes(self) -> int:
        """Bytes of the grid and of the list of the world's own cells."""
        return self._grid.nbytes + self._places.index.nbytes + self._held.nbytes + self._there.nbytes

    # --- queries -----------------------------------------------------------------------------------------------------

    def path(self, start: Any, goal: Any, *, exact: bool = False) -> Path:
        """A path over cells; `exact` is the shortest over them."""
        exact = exact or not self._abstract
        return self._placed(self._ask(self._grid.path, *self._ends(start, goal), exact=exact), smoother=True)

    def plain(self, start: Any, goal: Any) -> Path:
        """The shortest path over cells."""
        return self.path(start, goal, exact=True)

    def paths(self, starts: Points, goals: Points, *, exact: bool = False, workers: int | None = None) -> Paths:
        """The paths of many queries."""
        first = self._cells(self._places.find(starts, self._there, "starts"))
        last = self._cells(self._places.find(goals, self._there, "goals"))
        found = self._ask(self._grid.paths, first, last, exact=exact or not self._abstract, workers=workers)
        return Paths.of([self._placed(path, smoother=True) for path in found])

    def _placed(self, path: Path, *, smoother: bool = False) -> Path:
        """A path of the grid in the world's coordinates; without nodes, which lose their meaning with an edit."""
        if not path:
            return path
        points = path.points * self._places.scale + self._places.origin
        return Path(
            path.status,
            points,
            cost=path.cost * float(self._places.scale[0]),
            expanded=path.expanded,
            timings=path.timings,
            smoother=self._smooth if smoother else None,
        )

    def _smooth(self, path: Path) -> Path:
        """The path pulled straight in the world as it is now, or as it is if an edit took cells from it."""
        with self._lock.reading(), still(self._grid):
            cells = self._places.cells(path.points)
            whole = Path(path.status, cells, expanded=path.expanded, timings=path.timings)
            pulled = self._grid.smooth(whole)
            return path if pulled is whole else self._placed(pulled)

    def _ends(self, start: Any, goal: Any) -> NDArray[np.int64]:
        """Cells of a start and a goal, (2, 3)."""
        return self._cells(np.array([self._at(start, "start"), self._at(goal, "goal")]))

    def _at(self, point: Any, name: str) -> int:
        """The cell of a point."""
        where = checks.point3(point, name)
        if np.size(point) == 2:
            where[2] = self.any_height
        return int(self._places.find(where[None], self._there, name)[0])

    def _cells(self, at: At) -> NDArray[np.int64]:
        return self._places.index.cells(at)

    @staticmethod
    def _ask(method: Callable[..., _T], *args: Any, **kwargs: Any) -> _T:
        """Ask the grid about cells that are in it, unless somebody has taken them away behind the world's back."""
        try:
            return method(*args, **kwargs)
        except OffMapError as error:
            raise EditError(f"{error} any more: take cells away with World.block, not from its map") from None

    def reachable(self, start: Any, goal: Any) -> bool:
        """Whether cells join two points."""
        return bool(self._ask(self._grid.reachable, *self._ends(start, goal)))

    def islands(self) -> tuple[NDArray[np.float64], str]:
        """Cells of the connected parts."""
        at = np.flatnonzero(self._there)
        return self._sizes(self._components(self._cells(at))), "cells"

    def why(self, start: Points, goal: Points) -> str:
        """On which islands start and goal are."""
        # Numbers of components may have gaps: ranks of those with cells are what `islands` counts.
        labels = self._components(self._cells(np.flatnonzero(self._there)))
        own = self._components(self._ends(start, goal))
        first, last = np.searchsorted(np.unique(labels), own).tolist()
        return why_apart(first, last, *self.islands())

    def _components(self, cells: NDArray[Any]) -> NDArray[np.int32]:
        return self._ask(self._grid.component_of, cells)

    @staticmethod
    def _sizes(labels: NDArray[Any]) -> NDArray[np.float64]:
        return np.unique(labels, return_counts=True)[1].astype(np.float64)

    def nearest(self, point: Points) -> Points:
        """The middle of the nearest cell, within ten times the agent's size, or ten cells."""
        body = self._places.agent
        most = _NEAR if body is None else max(10.0 * max(body.radius, body.height), 2.0 * float(self._places.scale[0]))
        at = self._places.nearest(point, self._there, most, most)
        if at < 0:
            raise off_map(point[np.isfinite(point)], f"has no cell within {most:g} {'cells' if body is None else 'm'}")
        return np.asarray(self._places.middles(np.array([at]))[0])

    def expanded(self, start: Any, goal: Any) -> Points:
        """Middles of the cells, or of regions, that a quick query settles."""
        cells = self._ask(self._grid.expanded, *self._ends(start, goal), exact=not self._abstract)
        return np.asarray(cells * self._places.scale + self._places.origin)

    def field(self, goal: Any) -> Field:
        """The ways over cells to one goal."""
        at, there = self._at(goal, "goal"), self._there.copy()
        cells = self._cells(np.flatnonzero(there))
        costs, following = self._ask(self._grid.costs_to, self._places.index.cells(np.array([at]))[0], cells)
        field = CellField(self._places, at, there, costs, following)
        field._any_height = self.any_height
        return field

    def random_points(self, count: int, *, seed: int = 0) -> Points:
        """Middles of cells of the largest connected part."""
        at = np.flatnonzero(self._there)
        if not at.size:
            raise off_map(self._places.origin, "and every other place is blocked")
        labels = self._components(self._cells(at))
        largest = at[labels == np.argmax(np.bincount(labels))]
        return self._places.middles(np.random.default_rng(seed).choice(largest, count))

    # --- changes -----------------------------------------------------------------------------------------------------

    def changed(self, edits: Edits) -> CellMap:
        """The map that `succeed` makes of this one: what an edit changes is worked out here, while queries go on."""
        after = copy.copy(self)
        after._change = self._prepared(edits)
        after.edits = edits
        return after

    def _prepared(self, after: Edits) -> CellChange:
        """What an edit changes."""
        before, shape = self.edits, self.edits.step_to(after)
        effects = [(zone, self._effects_for(cost)) for zone, cost in after.costs]
        body = self._places.agent
        radius, height = (0.0, 0.0) if body is None else (body.radius, body.height)
        half = self._places.half
        at = self._places.around(shape.bounds, radius)
        middles = self._places.middles(at)
        if len(after.blocks) != len(before.blocks):
            at = at[shape.hit_at(middles, radius=radius, below=half, above=max(height, half))]
            if len(after.blocks) > len(before.blocks):
                return CellChange(at, 1, gone=at[self._there[at]])
            back = at[self._held[at] == 1]
            return CellChange(at, -1, back=back, dear=back, effects=self._effects_at(back, effects))
        inside = shape.hit_at(middles, below=half, above=half)
        dear = at[inside & self._there[at]]
        return CellChange(dear=dear, effects=self._effects_at(dear, effects))

    def _effects_for(self, cost: float) -> int:
        """Number of area effects that make a metre cost so much."""
        each = self._grid.effect_cost
        count = round((cost - 1.0) / each) if each > 0 else 0
        if not 1 <= count <= _MOST_EFFECTS or abs(1.0 + count * each - cost) > 1e-9 * cost:
            known = ", ".join(f"{1 + each * n:g}" for n in range(1, _MOST_EFFECTS + 1)) if each > 0 else "none"
            raise EditError(
                f"this sparse grid knows the costs {known}, not {cost:g}: ask for a planner with another effect_cost"
            )
        return count

    def _effects_at(self, at: At, costs: list[tuple[Shape, int]]) -> NDArray[np.int64]:
        """How many area effects cells have; where zones overlap the later one counts."""
        result = np.zeros(len(at), np.int64)
        middles = self._places.middles(at)
        for zone, count in costs:
            result[zone.hit_at(middles, below=self._places.half, above=self._places.half)] = count
        return result

    def succeed(self, before: AgentMap) -> None:
        """Change the grid, while no query runs."""
        grid, index = self._grid, self._places.index
        prepared, self._change = self._change, CellChange()
        self._held[prepared.touched] += prepared.sign
        self._there[prepared.gone] = False
        self._there[prepared.back] = True
        gone, back = index.cells(prepared.gone), index.cells(prepared.back)
        grid.remove(gone[grid.contains(gone)])
        back = back[~grid.contains(back)]
        kinds = np.zeros(len(back), np.uint8) if self._kinds is None else self._kinds[back[:, 1], back[:, 0]] - 1
        for kind in np.unique(kinds).tolist():
            grid.add(back[kinds == kind], kind=kind)
        if prepared.dear.size:
            cells = index.cells(prepared.dear)
            there = grid.contains(cells)
            cells = cells[there]
            more = prepared.effects[there] - grid.effects(cells)
            grid.remove_effect(np.repeat(cells, np.maximum(-more, 0), axis=0))
            grid.add_effect(np.repeat(cells, np.maximum(more, 0), axis=0))


class CellField(Field):
    """Ways over cells to one goal: the cheapest that the grid has, whatever the accelerator."""

    def __init__(
        self,
        places: Places,
        goal: int,
        there: NDArray[np.bool_],
        costs: NDArray[np.float64],
        following: NDArray[np.int32],
    ) -> None:
        super().__init__(places.middles(np.array([goal]))[0])
        self._places = places
        self._there = there
        # By cells of the world, not by those that are there: the next edit may take some away.
        own = np.flatnonzero(there)
        self._costs = np.full(len(there), np.inf)
        self._costs[own] = costs * float(places.scale[0])
        self._next = np.full(len(there), -1, np.int32)
        self._next[own] = np.append(own, -1)[following]

    def _at(self, points: Points) -> At:
        return self._places.find(points, self._there, "starts")

    def _paths(self, starts: Points) -> Sequence[Path]:
        at = self._at(starts)
        costs = self._costs[at]
        ends = np.where(np.isfinite(costs), at, -1).astype(np.int32)
        lengths = np.empty(len(at), np.int64)
        search_kernels.trail_lengths(self._next, ends, lengths)
        offsets = offsets_of(lengths)
        trails = np.empty(int(offsets[-1]), np.int32)
        search_kernels.trails(self._next, ends, offsets, trails)
        points = self._places.middles(trails.astype(np.int64))
        return [
            Path(Status.FOUND, points[begin:end], cost=float(cost)) if end > begin else Path(Status.UNREACHABLE)
            for cost, begin, end in zip(costs, offsets[:-1], offsets[1:], strict=True)
        ]

    def cost(self, points: ArrayLike) -> NDArray[np.float64]:
        """(q,) what the path from each point costs, infinite where there is none."""
        return self._costs[self._at(checks.points3(points, "points", self._any_height))]
