"""Worlds of cells, and meshes as cells: the sparse grid, whose edits take less than a millisecond (Sturtevant 2011)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.core.arrays import offsets_of
from wayfold.core.locks import ReadersWriter
from wayfold.errors import EditError, OffMapError
from wayfold.field import Field
from wayfold.geometry.shapes import Shape
from wayfold.graph import search_kernels
from wayfold.grid import SparseGrid
from wayfold.map import Edits, off_map
from wayfold.path import Path, Status
from wayfold.world.places import At, Places
from wayfold.world.planner import Notes, Planner, Points

_T = TypeVar("_T")
_MOST_EFFECTS = 7
_NEAR = 10.0
"""Cells within which `nearest` looks in a world of cells, where agents have no size."""
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


class CellPlanner(Planner):
    """Plans on a sparse grid.

    Paths lead over the middles of cells and cost what the grid counts: their length seen from above in steps to the 8
    neighbours. `Path.smooth` pulls them straight. A block takes away the cells in whose middle the agent would touch
    it; a cost is put on cells as area effects. Edits change the grid in place while no query runs.
    """

    map_name = "sparse-grid"

    def __init__(
        self,
        agent: Agent,
        accelerator: str,
        notes: Notes,
        lock: ReadersWriter,
        *,
        grid: SparseGrid,
        kinds: NDArray[np.uint8] | None,
    ) -> None:
        """Not for users; `kinds` (rows, columns) are those of a world of cells, 0 where there is none."""
        super().__init__(agent, accelerator, notes, lock)
        self._grid = grid
        self._kinds = kinds
        self._places = Places(grid, agent if kinds is None else None)
        self._held = np.zeros(len(self._places), np.int32)  # blocks on each cell
        self._there = np.ones(len(self._places), np.bool_)
        self._any_height = float("nan") if kinds is None else 0.0

    @property
    def map(self) -> SparseGrid:
        """The grid. Do not modify it directly."""
        return self._grid

    @property
    def accelerator(self) -> AbstractGraph | None:
        """The abstract graph of the grid, where it is used."""
        if self.accelerator_name == "none":
            return None
        return AbstractGraph(self._grid.num_regions, self._grid.num_abstract_edges)

    @property
    def nbytes(self) -> int:
        """Bytes of the grid and of the list of the world's own cells."""
        return self._grid.nbytes + self._places.index.nbytes + self._held.nbytes + self._there.nbytes

    # --- queries -----------------------------------------------------------------------------------------------------

    def _path(self, start: Any, goal: Any, exact: bool) -> Path:
        return self._search(start, goal, exact=exact or self.accelerator_name == "none")

    def _plain(self, start: Any, goal: Any) -> Path:
        return self._search(start, goal, exact=True)

    def _search(self, start: Any, goal: Any, *, exact: bool) -> Path:
        return self._placed(self._ask(self._grid.path, *self._ends(start, goal), exact=exact), smoother=True)

    def _paths(self, starts: Points, goals: Points, workers: int | None) -> Sequence[Path]:
        first = self._cells(self._places.find(starts, self._there, "starts"))
        last = self._cells(self._places.find(goals, self._there, "goals"))
        found = self._ask(self._grid.paths, first, last, exact=self.accelerator_name == "none", workers=workers)
        return [self._placed(path, smoother=True) for path in found]

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
        with self._reading():
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
            where[2] = self._any_height
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

    def _reachable(self, start: Any, goal: Any) -> bool:
        return bool(self._ask(self._grid.reachable, *self._ends(start, goal)))

    def _islands(self) -> tuple[NDArray[np.float64], str]:
        at = np.flatnonzero(self._there)
        return self._sizes(self._components(self._cells(at))), "cells"

    def _island_of(self, start: Any, goal: Any) -> tuple[int, int]:
        # Numbers of components may have gaps: ranks of those with cells are what `_islands` counts.
        labels = self._components(self._cells(np.flatnonzero(self._there)))
        own = self._components(self._ends(start, goal))
        first, last = np.searchsorted(np.unique(labels), own).tolist()
        return first, last

    def _components(self, cells: NDArray[Any]) -> NDArray[np.int32]:
        return self._ask(self._grid.component_of, cells)

    @staticmethod
    def _sizes(labels: NDArray[Any]) -> NDArray[np.float64]:
        return np.unique(labels, return_counts=True)[1].astype(np.float64)

    def _nearest(self, point: Points) -> Points:
        body = self._places.agent
        most = _NEAR if body is None else max(10.0 * max(body.radius, body.height), 2.0 * float(self._places.scale[0]))
        at = self._places.nearest(point, self._there, most, most)
        if at < 0:
            raise off_map(point[np.isfinite(point)], f"has no cell within {most:g} {'cells' if body is None else 'm'}")
        return np.asarray(self._places.middles(np.array([at]))[0])

    def _expanded(self, start: Any, goal: Any) -> Points:
        exact = self.accelerator_name == "none"
        cells = self._ask(self._grid.expanded, *self._ends(start, goal), exact=exact)
        return np.asarray(cells * self._places.scale + self._places.origin)

    def _field(self, goal: Any) -> Field:
        at, there = self._at(goal, "goal"), self._there.copy()
        cells = self._cells(np.flatnonzero(there))
        costs, following = self._ask(self._grid.costs_to, self._places.index.cells(np.array([at]))[0], cells)
        field = CellField(self._places, at, there, costs, following)
        field._any_height = self._any_height
        return field

    def _random_points(self, count: int, seed: int) -> Points:
        at = np.flatnonzero(self._there)
        if not at.size:
            raise off_map(self._places.origin, "and every other place is blocked")
        labels = self._components(self._cells(at))
        largest = at[labels == np.argmax(np.bincount(labels))]
        return self._places.middles(np.random.default_rng(seed).choice(largest, count))

    # --- changes -----------------------------------------------------------------------------------------------------

    def _prepare(self, before: Edits, after: Edits, shape: Shape) -> CellChange:
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

    def _commit(self, prepared: CellChange) -> None:
        grid, index = self._grid, self._places.index
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
