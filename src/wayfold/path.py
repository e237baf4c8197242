"""What every planner answers: one `Path`, or many of them as `Paths`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from wayfold.core import checks
from wayfold.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Status(Enum):
    """How a query ended: `Path.status`.

    >>> from wayfold import Graph
    >>> roads = Graph.from_edges([(0, 0), (1, 0), (9, 0)], [(0, 1)])
    >>> roads.path(0, 2).status
    <Status.UNREACHABLE: 1>
    >>> roads.path(0, 2, partial=True).status is Status.PARTIAL
    True
    """

    FOUND = 0
    """The path leads from the start to the goal."""
    UNREACHABLE = 1
    """No path exists for this agent."""
    PARTIAL = 2
    """The goal was not reached; the path leads to the reached place that is nearest to it."""
    BUDGET_EXHAUSTED = 3
    """The node budget ran out before the goal was reached, and no partial path was asked for."""


_STATUSES = tuple(Status)
_WHY = {
    Status.FOUND: "",
    Status.UNREACHABLE: "no way leads from the start to the goal",
    Status.PARTIAL: "the goal was not reached",
    Status.BUDGET_EXHAUSTED: "the node budget ran out before the goal was reached",
}
_EMPTY_NODES = np.empty(0, np.int32)
_EMPTY_NODES.setflags(write=False)


@checks.checked
class Path:
    """The answer to one query; it is true where it leads from the start to the goal.

    Attributes
    ----------
    status : Status
        How the query ended.
    nodes : (k,) int32 array
        Nodes of the searched graph along the path; empty where the planner has no nodes or nothing was found.
    cost : float
        Cost in the planner's unit (metres, unless costs were given); infinity without a path.
    expanded : int
        Nodes that the search settled.
    timings : dict
        Seconds by phase, where the planner measures them.

    Examples
    --------
    >>> from wayfold import Graph
    >>> roads = Graph.from_edges([(0, 0), (3, 4), (3, 9), (50, 50)], [(0, 1), (1, 2)])
    >>> path = roads.path(0, 2)
    >>> path.length, path.points.tolist()
    (10.0, [[0.0, 0.0, 0.0], [3.0, 4.0, 0.0], [3.0, 9.0, 0.0]])
    >>> if not (path := roads.path(0, 3)):
    ...     print(path.why)
    no way leads from the start to the goal
    """

    __slots__ = (
        "_length", "_lower_bound", "_points", "_smoother", "_why", "cost", "expanded", "nodes", "status", "timings",
    )  # fmt: skip

    def __init__(
        self,
        status: Status,
        points: NDArray[Any] | Callable[[NDArray[np.int32]], NDArray[Any]] | None = None,
        *,
        nodes: NDArray[np.int32] = _EMPTY_NODES,
        cost: float = float("inf"),
        expanded: int = 0,
        timings: dict[str, float] | None = None,
        lower_bound: float | Callable[[], float | None] | None = None,
        smoother: Callable[[Path], Path] | None = None,
        why: str | Callable[[], str] = "",
    ) -> None:
        self.status = status
        self.nodes = nodes
        self.cost = cost
        self.expanded = expanded
        self.timings = {} if timings is None else timings
        self._lower_bound = lower_bound
        self._points = points
        self._length: float | None = None
        self._smoother = smoother
        self._why = why

    @property
    def found(self) -> bool:
        """Whether the path leads from the start to the goal."""
        return self.status is Status.FOUND

    def __bool__(self) -> bool:
        return self.status is Status.FOUND

    @property
    def points(self) -> NDArray[np.float64]:
        """Corners of the path, a (k, 3) float64 array in the planner's unit; empty without a path."""
        points = self._points
        if callable(points):
            points = points(self.nodes)
        if points is None:
            points = np.empty((0, 3))
        points = self._points = np.ascontiguousarray(points, dtype=np.float64).reshape(-1, 3)
        return points

    @property
    def length(self) -> float:
        """Euclidean length along `points`; infinity without a path."""
        if self._length is None:
            points = self.points
            steps = np.diff(points, axis=0)
            self._length = float(np.sqrt((steps * steps).sum(axis=1)).sum()) if len(points) else float("inf")
        return self._length

    @property
    def lower_bound(self) -> float | None:
        """A certified lower bound on the optimal cost, None where none is known; computed when first asked for."""
        if callable(self._lower_bound):
            self._lower_bound = self._lower_bound()
        return self._lower_bound

    @property
    def why(self) -> str:
        """Why there is no path, in a sentence without a full stop; empty where there is one.

        Worked out when first asked for, for the world as it was when the path was. Planners of a `World` and
        navigation meshes tell more than the status.
        """
        if callable(self._why):
            self._why = self._why()
        return self._why or _WHY[self.status]

    @property
    def has_smoother(self) -> bool:
        """Whether `smooth` can be asked for, however many corners the path has."""
        return self._smoother is not None

    def amend(
        self,
        *,
        points: NDArray[Any] | None = None,
        smoother: Callable[[Path], Path] | None = None,
        lower_bound: float | Callable[[], float | None] | None = None,
        why: str | Callable[[], str] | None = None,
    ) -> Path:
        """Add what the map knows and the search did not, and return the path; what is None stays as it is.

        For maps, before they give a path away. The parameters are those of `Path` itself; functions are called when
        somebody asks for what they give.

        >>> path = Path(Status.UNREACHABLE).amend(why="the door is closed")
        >>> path.why
        'the door is closed'
        """
        if points is not None:
            self._points, self._length = points, None
        if smoother is not None:
            self._smoother = smoother
        if lower_bound is not None:
            self._lower_bound = lower_bound
        if why is not None and self.status is Status.UNREACHABLE and not self._why:
            self._why = why
        return self

    def smooth(self) -> Path:
        """Return a shorter path with fewer corners that is as legal as this one.

        A path without a corner between its ends is given back as it is.

        Raises
        ------
        ParameterError
            When nothing is known of the space between its nodes: the planner has only nodes and edges, costs differ
            from place to place, or the path comes from another process.

        Examples
        --------
        >>> from wayfold import FloorPlan
        >>> room = FloorPlan([(0, 0), (10, 0), (10, 4), (0, 4)], [[(4, 0), (6, 0), (6, 3), (4, 3)]]).decompose()
        >>> path = room.path((1, 1), (9, 1), smooth=False)
        >>> short = path.smooth()
        >>> len(path.points), len(short.points)
        (5, 4)
        >>> bool(short.length < path.length)
        True
        """
        if len(self.points) <= 2:
            return self
        if self._smoother is None:
            raise ParameterError(
                "this path cannot be smoothed: its planner knows nothing of the space between its nodes, "
                "or it comes from another process"
            )
        return self._smoother(self)

    def to_dict(self) -> dict[str, Any]:
        """The path as plain values that JSON holds; an infinite length or cost is None.

        >>> path = Path(Status.FOUND, np.array([(0.0, 0.0, 0.0), (3.0, 4.0, 0.0)]), cost=5.0)
        >>> path.to_dict()["points"], path.to_dict()["length"]
        ([[0.0, 0.0, 0.0], [3.0, 4.0, 0.0]], 5.0)
        >>> Path(Status.UNREACHABLE).to_dict()["cost"] is None
        True
        """
        return {
            **self._facts(),
            "points": self.points.tolist(),
            "nodes": self.nodes.tolist(),
            "expanded": int(self.expanded),
            "lower_bound": _finite(self.lower_bound),
            "timings": {name: float(seconds) for name, seconds in self.timings.items()},
        }

    def to_geojson(self) -> dict[str, Any]:
        """The path as a GeoJSON Feature: a LineString with `status`, `found`, `length`, `cost` and `why` as properties.

        Positions are `points` as they are, in metres. GeoJSON has no line of one position: a path that stays
        where it starts has its point twice, and without a path the geometry is None.

        >>> path = Path(Status.FOUND, np.array([(0.0, 0.0, 0.0), (3.0, 4.0, 0.0)]), cost=5.0)
        >>> path.to_geojson()["geometry"]
        {'type': 'LineString', 'coordinates': [[0.0, 0.0, 0.0], [3.0, 4.0, 0.0]]}
        """
        positions = self.points.tolist()
        if len(positions) == 1:
            positions *= 2
        line = {"type": "LineString", "coordinates": positions} if positions else None
        return {"type": "Feature", "geometry": line, "properties": self._facts()}

    def _facts(self) -> dict[str, Any]:
        facts = {"length": _finite(self.length), "cost": _finite(self.cost)}
        return {"status": self.status.name, "found": self.found, **facts, "why": self.why}

    def __reduce__(self) -> tuple[Any, ...]:
        # For pickles, as a path without its map: points, bound and reason are worked out, the smoother stays behind.
        bound = self.lower_bound
        return _path, (self.status, self.points, self.nodes, self.cost, self.expanded, self.timings, bound, self.why)

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draw the path seen from above, with a dot at its start and a square at its goal; return the axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure with equal scales by default.
        **style
            Passed to matplotlib's ``plot`` for the line, such as ``color`` or ``linewidth``.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> path = Path(Status.FOUND, np.array([(0.0, 0.0, 0.0), (3.0, 4.0, 0.0)]))
        >>> ax = path.plot(Figure().add_subplot(), linestyle="--")
        >>> [line.get_linestyle() for line in ax.lines]  # the path, its start, its goal
        ['--', 'None', 'None']
        """
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.figure().add_subplot()
            ax.set_aspect("equal")
        points = self.points
        ax.plot(points[:, 0], points[:, 1], **{"color": "#d1495b", "linewidth": 2.0, **style})
        if len(points):
            ax.plot(points[0, 0], points[0, 1], "o", color="#2b9348")
            ax.plot(points[-1, 0], points[-1, 1], "s", color="#d1495b")
        return ax

    def __repr__(self) -> str:
        if self.status in (Status.FOUND, Status.PARTIAL):
            return f"<Path {self.status.name}: {len(self.nodes) or len(self.points)} nodes, cost {self.cost:.6g}>"
        return f"<Path {self.status.name}>"


def _finite(value: float | None) -> float | None:
    """A number that JSON holds, None for what is infinite or unknown."""
    return None if value is None or not np.isfinite(value) else float(value)


def _path(
    status: Status,
    points: NDArray[Any],
    nodes: NDArray[np.int32],
    cost: float,
    expanded: int,
    timings: dict[str, float],
    lower_bound: float | None,
    why: str,
) -> Path:
    """A path out of a pickle."""
    return Path(
        status, points, nodes=nodes, cost=cost, expanded=expanded, timings=timings, lower_bound=lower_bound, why=why
    )


class Paths(Sequence[Path]):
    """The answers to many queries, kept in arrays; ``paths[i]`` is the `Path` of query i.

    The parameters are for maps, which make these. Points of the paths are found from their nodes by a function, or
    lie in one array like the nodes: where a map may change, its nodes lose their meaning, but its paths do not.

    Attributes
    ----------
    statuses : (q,) uint8 array
        ``Status(value)`` of each query.
    costs : (q,) float64 array
        Infinity without a path.
    expanded : (q,) int64 array
        Nodes that each search settled.
    nodes : (total,) int32 array
        The nodes of all paths one after the other; those of query i are ``nodes[offsets[i]:offsets[i + 1]]``.
    offsets : (q + 1,) int64 array
        Where the nodes of each path begin.

    Examples
    --------
    >>> from wayfold import Graph
    >>> roads = Graph.from_edges([(0, 0), (3, 4), (3, 9), (50, 50)], [(0, 1), (1, 2)])
    >>> paths = roads.paths([0, 1, 3], 2)
    >>> paths.costs.tolist(), paths.found.tolist()
    ([10.0, 5.0, inf], [True, True, False])
    >>> paths[0].nodes.tolist(), paths.nodes[paths.offsets[1] : paths.offsets[2]].tolist()
    ([0, 1, 2], [1, 2])
    """

    def __init__(
        self,
        statuses: NDArray[np.uint8],
        costs: NDArray[np.float64],
        expanded: NDArray[np.int64],
        offsets: NDArray[np.int64],
        nodes: NDArray[np.int32],
        points: Callable[[NDArray[np.int32]], NDArray[Any]] | NDArray[Any],
        smoother: Callable[[Path], Path] | None = None,
        why: Callable[[int], str] | Sequence[str] | None = None,
        *,
        details: Sequence[Path] | None = None,
    ) -> None:
        self.statuses = statuses
        self.costs = costs
        self.expanded = expanded
        self.offsets = offsets
        self.nodes = nodes
        self._points = points
        self._smoother = smoother
        self._why = why
        self._details = details

    @classmethod
    def of(cls, paths: Sequence[Path]) -> Paths:
        """Paths that were planned one by one, as one sequence over flat arrays, which they share from then on.

        >>> both = Paths.of([Path(Status.FOUND, np.zeros((2, 3)), cost=0.0), Path(Status.UNREACHABLE)])
        >>> both.found.tolist(), len(both[0].points)
        ([True, False], 2)
        """
        statuses = np.array([path.status.value for path in paths], np.uint8)
        costs = np.array([path.cost for path in paths], np.float64)
        expanded = np.array([path.expanded for path in paths], np.int64)
        some, others = [_EMPTY_NODES, *(path.nodes for path in paths)], [np.empty((0, 3)), *(p.points for p in paths)]
        offsets, corners = (np.cumsum([len(part) for part in parts]).astype(np.int64) for parts in (some, others))
        nodes, points = np.concatenate(some).astype(np.int32), np.concatenate(others)
        for at, path in enumerate(paths):
            path.nodes = nodes[offsets[at] : offsets[at + 1]]
            path._points = points[corners[at] : corners[at + 1]]
        return cls(statuses, costs, expanded, offsets, nodes, points, details=paths)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._details is not None:
            return Paths.of, (list(self),)
        points = self._points(self.nodes) if callable(self._points) else self._points
        whys = [path.why for path in self] if self._why is not None else None
        return Paths, (self.statuses, self.costs, self.expanded, self.offsets, self.nodes, points, None, whys)

    def amend(self, *, why: Callable[[int], str]) -> Paths:
        """Add what tells why a query has no path, by its number, where the search left it open; return the paths.

        >>> Paths.of([Path(Status.UNREACHABLE)]).amend(why=lambda query: f"query {query} is shut in")[0].why
        'query 0 is shut in'
        """
        if self._why is None:
            self._why = why
        return self

    @property
    def found(self) -> NDArray[np.bool_]:
        """Which queries found a path to their goal."""
        return np.asarray(self.statuses == Status.FOUND.value)

    def __len__(self) -> int:
        return len(self.statuses)

    @overload
    def __getitem__(self, index: int) -> Path: ...
    @overload
    def __getitem__(self, index: slice) -> list[Path]: ...
    def __getitem__(self, index: int | slice) -> Path | list[Path]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        why: str | Callable[[], str] = ""
        if self._why is not None and self.statuses[i] == Status.UNREACHABLE.value:
            why = partial(self._why, i) if callable(self._why) else self._why[i]
        if self._details is not None:
            path = self._details[i]
            path._why = path._why or why
            return path
        part = slice(self.offsets[i], self.offsets[i + 1])
        return Path(
            _STATUSES[self.statuses[i]],
            self._points if callable(self._points) else self._points[part],
            nodes=self.nodes[part],
            cost=float(self.costs[i]),
            expanded=int(self.expanded[i]),
            smoother=self._smoother,
            why=why,
        )

    def __repr__(self) -> str:
        return f"<Paths: {len(self)} queries, {int(self.found.sum())} found>"
