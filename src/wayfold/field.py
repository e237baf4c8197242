"""`Field`: what one search from a goal tells about every start."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.core.locks import Portable
from wayfold.path import Path, Paths, Status

Points = NDArray[np.float64]


def with_reasons(paths: Sequence[Path], reason: Callable[[int], Callable[[], str]]) -> Sequence[Path]:
    """The same paths, of which those without a way can tell why; ``reason(at)`` gives what tells it."""
    if isinstance(paths, Paths):
        return paths.amend(why=lambda at: reason(at)())
    for at, path in enumerate(paths):
        path.amend(why=reason(at) if path.status is Status.UNREACHABLE else None)
    return paths


@checks.checked
class Field(Portable, ABC):
    """Paths from everywhere to one goal; `Planner.field` makes it.

    It belongs to the world as it was then, and any number of threads may ask it. A copy, or what a pickle of it gives,
    has no planner, which could tell more about why there is no way.

    Attributes
    ----------
    goal : (3,) float64 array, metres

    >>> from wayfold import Mesh, World
    >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
    >>> field = World.from_mesh(square, cache=False).field((8, 5, 0))
    >>> field.cost([(2, 5, 0), (5, 5, 0)]).round(3).tolist()
    [6.0, 3.0]
    >>> field.direction([(2, 5, 0)]).round(3).tolist()
    [[1.0, 0.0, 0.0]]
    """

    _OWN = (("_reason", lambda: None),)
    _any_height = 0.0
    """Height of points that have none."""

    _reason: Callable[[Points], Callable[[], str]] | None = None
    """Gives what tells why no way leads from a point to the goal; of the planner that made the field."""

    def __init__(self, goal: Points) -> None:
        self.goal = goal

    @abstractmethod
    def _paths(self, starts: Points) -> Sequence[Path]:
        """Paths from many starts."""

    def path(self, start: ArrayLike) -> Path:
        """The path from a point to the goal.

        >>> from wayfold import Mesh, World
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> field = World.from_mesh(square, cache=False).field((8, 5, 0))
        >>> round(field.path((2, 5, 0)).length, 3)
        6.0
        """
        return self._explained(checks.point3(start, "start", self._any_height)[None])[0]

    def paths(self, starts: ArrayLike) -> Sequence[Path]:
        """The paths from many points, (q, 3), to the goal.

        >>> from wayfold import Mesh, World
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> field = World.from_mesh(square, cache=False).field((8, 5, 0))
        >>> len(field.paths([(2, 5, 0), (5, 5, 0)]))
        2
        """
        return self._explained(checks.points3(starts, "starts", self._any_height))

    def _explained(self, starts: Points) -> Sequence[Path]:
        """Paths that can tell why there is no way."""
        paths, reason = self._paths(starts), self._reason
        return paths if reason is None else with_reasons(paths, lambda at: reason(starts[at]))

    def cost(self, points: ArrayLike) -> NDArray[np.float64]:
        """(q,) what the path from each point costs, infinite where there is none.

        >>> from wayfold import Mesh, World
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> field = World.from_mesh(square, cache=False).field((8, 5, 0))
        >>> field.cost([(2, 5, 0), (8, 5, 0)]).round(3).tolist()
        [6.0, 0.0]
        """
        return np.array([path.cost for path in self.paths(points)])

    def direction(self, points: ArrayLike) -> Points:
        """(q, 3) unit vectors along which the paths begin; zero at the goal and where there is no path.

        >>> from wayfold import Mesh, World
        >>> square = Mesh([(0, 0, 0), (10, 0, 0), (10, 10, 0), (0, 10, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> field = World.from_mesh(square, cache=False).field((8, 5, 0))
        >>> field.direction([(2, 5, 0), (8, 5, 0)]).round(3).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
        """
        where = checks.points3(points, "points", self._any_height)
        result = np.zeros((len(where), 3))
        for at, path in enumerate(self._paths(where)):
            steps = np.diff(path.points, axis=0)
            lengths = np.sqrt((steps * steps).sum(axis=1))
            moving = np.flatnonzero(lengths > 0)
            if path and moving.size:
                result[at] = steps[moving[0]] / lengths[moving[0]]
        return result
