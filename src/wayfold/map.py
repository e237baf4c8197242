"""`Map`: what every map offers, and `Edits`: what a world has changed of it."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import Agent
from wayfold.core import text
from wayfold.core.batches import run_chunks
from wayfold.core.locks import Portable
from wayfold.errors import EditError, OffMapError
from wayfold.field import Field
from wayfold.geometry.shapes import Shape
from wayfold.links import Link
from wayfold.path import Path, Paths

Points = NDArray[np.float64]


@dataclass(frozen=True)
class Edits:
    """All that differs from the world as it was built: closed shapes, and shapes in which a metre costs something else.

    >>> from wayfold import Box
    >>> Edits(blocks=(Box((0, 0, 0), (1, 1, 2)),)).costs
    ()
    """

    blocks: tuple[Shape, ...] = ()
    """Each once, however often it is blocked."""
    costs: tuple[tuple[Shape, float], ...] = ()
    """In the order in which they were set; where they overlap the later one counts."""

    def step_to(self, after: Edits) -> Shape:
        """Return the shape in which `after` differs, one edit later.

        >>> from wayfold import Box
        >>> box = Box((0, 0, 0), (1, 1, 2))
        >>> Edits().step_to(Edits(costs=((box, 3.0),))) == box
        True
        """
        blocks = set(self.blocks) ^ set(after.blocks)
        costs = {shape for shape, _ in set(self.costs) ^ set(after.costs)}
        if not blocks | costs and self.costs != after.costs:
            costs = {after.costs[-1][0]}  # set to what it was, and so the latest now
        if len(blocks | costs) != 1:
            raise EditError(f"a map is changed by one edit at a time, not by {len(blocks | costs)}")
        return next(iter(blocks | costs))


class Map(Protocol):
    """What every map offers; `World` and crowds know nothing else of one.

    Points are (x, y[, z]) in metres, or nodes where a map says so. Queries take the map as it is when they begin: any
    number of threads may ask while another one edits.

    >>> from wayfold import Map, Mesh, NavMesh
    >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
    >>> ground: Map = NavMesh.build(square)
    >>> round(ground.path((2, 5), (8, 5)).cost, 3)
    6.0
    """

    def path(
        self, start: Any, goal: Any, *, exact: bool = ..., budget: int | None = None, partial: bool = False
    ) -> Path:
        """Return a path; `exact` asks for the shortest one that the map knows instead of the quick one."""

    def paths(self, starts: Any, goals: Any, *, exact: bool = ..., workers: int | None = None) -> Paths:
        """Return the paths of many queries, planned on all cores."""

    def field(self, goal: Any) -> Field:
        """Search once from a goal, for the paths of any number of starts."""

    def nearest(self, points: ArrayLike, *, max_distance: float | None = None) -> Points:
        """Return the nearest place on the map for one point or many; NaN where there is none in that distance."""

    def reachable(self, starts: Any, goals: Any) -> Any:
        """Tell whether paths exist, for one pair or many, without a search."""

    def random_points(
        self, count: int, *, seed: int = 0, near: ArrayLike | None = None, radius: float | None = None
    ) -> Points:
        """Draw places on the map."""

    def add_link(
        self, start: ArrayLike, end: ArrayLike, *, cost: float | None = None, kind: str = "", both_ways: bool = ...
    ) -> int:
        """Add a way between two places, such as a ladder; return its id."""

    def remove_link(self, id: int, /) -> None:
        """Take a link away again."""

    @property
    def links(self) -> tuple[Link, ...]:
        """The links that have been added."""

    def changed(self, edits: Edits, /) -> Self:
        """Return the map after all of `edits`, instead of those that it has; what stays the same is shared."""

    @property
    def bounds(self) -> Points:
        """(2, 3) low and high corner of the box around it, metres."""

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""

    def save(self, file: str | os.PathLike[str], /) -> None:
        """Write it to a file that `wayfold.load` opens."""


class AgentMap(Portable, ABC):
    """A map as one agent of a world uses it: with the agent's size and costs, and the accelerator of its quick paths.

    Its points are (x, y, z) of the world, in metres. `changed` makes the map after an edit, beside running queries, and
    `succeed` puts it in the place of the one before, while no query runs.

    Parameters
    ----------
    agent : Agent
    edits : Edits, optional
        What the world has changed of it.
    """

    any_height: float = 0.0
    """The height of points that are given without one: NaN stands for any, where ground is looked for."""
    in_place: bool = False
    """Whether `succeed` changes in place what its predecessor holds, so that a query has to hold off edits."""

    def __init__(self, agent: Agent, edits: Edits | None = None) -> None:
        self.agent = agent
        self.edits = Edits() if edits is None else edits

    @property
    @abstractmethod
    def map(self) -> Any:
        """The map that users see: a `NavMesh`, `WaypointGraph`, `SparseGrid` or `Terrain`."""

    @property
    def accelerator(self) -> Any:
        """What makes quick paths quick, None where nothing does."""
        return None

    # --- queries -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def path(self, start: Any, goal: Any, *, exact: bool = False) -> Path:
        """Return a path, quick or exact."""

    def plain(self, start: Any, goal: Any) -> Path:
        """Return the path that A* finds without the accelerator."""
        return self.path(start, goal)

    def paths(self, starts: Points, goals: Points, *, exact: bool = False, workers: int | None = None) -> Paths:
        """Return the paths of many queries, (q, 3) points each; each is what `path` gives."""
        found: list[Any] = [None] * len(starts)

        def work(begin: int, end: int) -> None:
            for at in range(begin, end):
                found[at] = self.path(starts[at], goals[at], exact=exact)

        run_chunks(work, len(starts), workers=workers, chunk=16)
        return Paths.of(found)

    @abstractmethod
    def field(self, goal: Any) -> Field:
        """Search once from a goal, for the paths of any number of starts."""

    @abstractmethod
    def reachable(self, start: Any, goal: Any) -> bool:
        """Tell whether there is a path, without a search."""

    @abstractmethod
    def nearest(self, point: Points) -> Points:
        """Return the nearest place, (3,); raise `OffMapError` where none is near enough for the agent's size."""

    @abstractmethod
    def random_points(self, count: int, *, seed: int = 0) -> Points:
        """Draw places in the largest connected part."""

    @abstractmethod
    def expanded(self, start: Any, goal: Any) -> Points:
        """Return where the nodes lie that a quick query settles, (k, 3)."""

    def drape(self, points: Points, spacing: float) -> Points:
        """Return the points of a path with more between them that follow the ground."""
        return points

    # --- what it is --------------------------------------------------------------------------------------------------

    def islands(self) -> tuple[NDArray[np.float64], str]:
        """Return the sizes of the connected parts and their unit; none where it would take long to tell."""
        return np.empty(0), ""

    @abstractmethod
    def why(self, start: Points, goal: Points) -> str:
        """Tell why there is no way between two points that are on the map."""

    def remark(self) -> str:
        """Tell what else is worth knowing of the accelerator, in a sentence, or nothing."""
        return ""

    @property
    def nbytes(self) -> int:
        """Bytes of the map and what belongs to it, without the accelerator."""
        return int(self.map.nbytes)

    # --- changes -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def changed(self, edits: Edits) -> AgentMap:
        """Return the map after one edit more, or itself; raise before anything is changed."""

    def succeed(self, before: AgentMap) -> None:
        """Take the place of the map that this one was made from; must not fail."""

    def latest(self) -> AgentMap:
        """Return the same map with what users have changed of `map` by themselves, such as links; often itself."""
        return self

    def refreshed(self) -> AgentMap:
        """Return the same map as if it had been built after its edits, as fast as it can be; often itself."""
        return self


def sized(size: float, unit: str) -> str:
    """Return the size of a connected part in words.

    >>> sized(12.34, "m2"), sized(7, "cells")
    ('12.3 m2', '7 cells')
    """
    return f"{size:.1f} {unit}" if unit == "m2" else f"{int(size)} {unit}"


def why_apart(first: int, last: int, sizes: NDArray[np.float64], unit: str) -> str:
    """Tell why there is no way between two connected parts, by their places in `sizes`; -1 for a place in none.

    Parts are numbered by size, the largest first, as `Planner.explain` counts them.

    >>> why_apart(1, 0, np.array([3.0, 8.0]), "cells")
    'start is on island 1 (8 cells), goal on island 2 (3 cells); no way for this agent joins them'
    """
    if min(first, last) < 0 or first == last:
        return "no way for this agent leads from the start to the goal"
    number = np.empty(len(sizes), np.int64)
    number[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    one, two = (f"island {number[at] + 1} ({sized(sizes[at], unit)})" for at in (first, last))
    return f"start is on {one}, goal on {two}; no way for this agent joins them"


def off_map(point: ArrayLike, what: str, extent: float = 50.0) -> OffMapError:
    """The error for a point that nothing is near, in a world of some extent."""
    return OffMapError(f"({text.place(point, extent)}) {what}")
