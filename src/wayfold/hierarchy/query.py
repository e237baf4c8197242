"""Queries over levels: the five phases of paper 002, section III.C, for one path or many."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold import _threads
from wayfold.graph import _kernels as graph_kernels
from wayfold.graph.searcher import NO_NODES
from wayfold.graph.workspace import Workspaces
from wayfold.hierarchy import _kernels
from wayfold.hierarchy.levels import Levels
from wayfold.hierarchy.topology import LANDMARKS
from wayfold.path import Path, Paths, Status

Points = Callable[[NDArray[np.int32]], NDArray[Any]]
PHASES = ("find", "connect", "search", "subpaths", "delete")
_CHUNK = 256


class Queries:
    """Queries over some levels, from any number of threads at once; scratch memory is kept for reuse.

    Parameters
    ----------
    levels : Levels
    largest : int
        Places of the largest part that a start or goal is linked in.
    """

    def __init__(self, levels: Levels, largest: int) -> None:
        self.levels = levels
        self._largest = largest
        self._free: deque[tuple[int, _kernels.Query]] = deque()

    def one(self, start: int, goal: int, *, top: int, single: bool, points: Points) -> Path:
        """The path between two nodes.

        Parameters
        ----------
        top : int, >= 1
            Highest level to use.
        single : bool
            Whether only this level is used, as in the paper, with S and G linked to its portals.
        """
        levels = self.levels
        overlay, back = levels.overlay, levels.backward
        arrays = tuple(overlay)
        level = top if single else 1
        first, last = int(levels.rank[start]), int(levels.rank[goal])
        query = self._take()
        while True:
            began = perf_counter()
            _kernels.find(overlay.starts, overlay.level_starts, level, single, first, last, query.near, query.linked)
            found = perf_counter()
            scratch = _plain(query)
            full = _kernels.connect(
                overlay.offsets, overlay.targets, overlay.costs, scratch[1], first, query.linked[0], NO_NODES
            ) or _kernels.connect(back.offsets, back.targets, back.costs, scratch[2], last, query.linked[1], NO_NODES)
            connected = perf_counter()
            status, end, settled, _ = (
                (graph_kernels.HEAP_FULL, -1, 0, 0.0)
                if full
                else _kernels.search_levels(arrays, scratch, top, levels.one_way, level, levels.scale)
            )
            if status != graph_kernels.HEAP_FULL:
                break
            query = _larger(query)
        searched = perf_counter()
        path = Path(Status.UNREACHABLE, expanded=settled)
        if status == graph_kernels.FOUND:
            count, cost = _kernels.obtain(arrays, scratch, top, end)
            while count < 0:
                query = query._replace(out=np.empty(2 * query.out.size, np.int32))
                count, cost = _kernels.obtain(arrays, _plain(query), top, end)
            nodes = levels.partition.order[query.out[:count]]
            path = Path(Status.FOUND, points, nodes=nodes, cost=cost, expanded=settled)
        self._give(query)
        ended = perf_counter()
        # Nothing was inserted, so nothing is deleted: the fifth phase is there for the paper's sake.
        times = (found - began, connected - found, searched - connected, ended - searched, 0.0)
        path.timings = dict(zip(PHASES, times, strict=True))
        return path

    def many(
        self,
        starts: NDArray[np.int32],
        goals: NDArray[np.int32],
        *,
        possible: NDArray[np.bool_],
        points: Points,
        workers: int | None = None,
    ) -> Paths:
        """The paths of many queries over all levels, in parallel; those not `possible` are unreachable."""
        levels = self.levels
        arrays = tuple(levels.overlay)
        back = (levels.backward.offsets, levels.backward.targets, levels.backward.costs)
        first, last = levels.rank[starts], levels.rank[goals]
        count = len(starts)
        answers = graph_kernels.Answers(
            statuses=np.full(count, Status.UNREACHABLE.value, np.uint8),
            costs=np.full(count, np.inf),
            expanded=np.zeros(count, np.int64),
            lengths=np.zeros(count, np.int64),
        )
        # Queries to one goal, or from one start to goals in one part, stand together: they share links and memory.
        queries = np.flatnonzero(possible)
        queries = queries[np.lexsort((first[queries], last[queries]))]
        pieces: dict[int, NDArray[np.int32]] = {}

        def work(begin: int, end: int) -> None:
            query = self._take()
            nodes = np.empty(64 * (end - begin), np.int32)
            used, at = 0, begin
            while at < end:
                done, used, status = _kernels.answer_many(
                    arrays,
                    back,
                    _plain(query),
                    levels.partition.levels,
                    levels.one_way,
                    queries[at:end],
                    first,
                    last,
                    levels.scale,
                    NO_NODES,
                    answers,
                    nodes,
                    used,
                )
                at += done
                if status == graph_kernels.HEAP_FULL:
                    query = _larger(query)
                elif status == _kernels.NO_ROOM:
                    nodes = np.resize(nodes, 2 * nodes.size)
                    if query.out.size < nodes.size:
                        query = query._replace(out=np.empty(nodes.size, np.int32))
            self._give(query)
            pieces[begin] = nodes[:used].copy()

        _threads.run_chunks(work, queries.size, workers=workers, chunk=_CHUNK)
        offsets = np.concatenate([[0], np.cumsum(answers.lengths)])
        places = np.concatenate([NO_NODES, *(pieces[begin] for begin in sorted(pieces))])
        nodes = np.empty(places.size, np.int32)
        lengths = answers.lengths[queries]
        # The pieces are in the order of `queries`: bring every path to where its query stands.
        ends = np.cumsum(lengths)
        moved = np.repeat(offsets[queries] - (ends - lengths), lengths) + np.arange(places.size)
        nodes[moved] = levels.partition.order[places]
        return Paths(answers.statuses, answers.costs, answers.expanded, offsets, nodes, points)

    @property
    def nbytes(self) -> int:
        """Bytes of the scratch memory that is kept for reuse."""
        return sum(
            array.nbytes
            for _, query in list(self._free)
            for array in (*query.state, *query.ahead, *query.behind, *query[3:])
        )

    def _take(self) -> _kernels.Query:
        try:
            version, query = self._free.pop()
        except IndexError:
            return self._new()
        if version != self.levels.version:
            query.linked[:, 0] = -1  # links of earlier costs
        return query

    def _give(self, query: _kernels.Query) -> None:
        self._free.append((self.levels.version, query))

    def _new(self) -> _kernels.Query:
        count = self.levels.partition.levels
        portals = self.levels.overlay.places.size
        inside = Workspaces(self._largest)
        return _kernels.Query(
            state=Workspaces(max(1, portals)).take(),
            ahead=inside.take(),
            behind=inside.take(),
            near=np.zeros((count + 1, 2), np.int32),
            marks=np.zeros(LANDMARKS),
            linked=np.full((2, 3), -1, np.int64),
            trail=np.empty(portals + 1, np.int32),
            frames=np.zeros((count + 2, 5), np.int64),
            out=np.empty(4096, np.int32),
        )


def _plain(query: _kernels.Query) -> tuple[Any, ...]:
    """The scratch memory as plain tuples, which kernels take faster; see `_kernels.opened`."""
    return (tuple(query.state), tuple(query.ahead), tuple(query.behind), *query[3:])


def _larger(query: _kernels.Query) -> _kernels.Query:
    """The same scratch memory with larger heaps; links are made again."""
    query.linked[:, 0] = -1
    states: dict[str, Any] = {}
    for name in ("state", "ahead", "behind"):
        state = getattr(query, name)
        states[name] = Workspaces(state.cost.size).larger(state)
    return query._replace(**states)
