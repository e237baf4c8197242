"""Queries over levels: the five phases of Fuentes 2015, section III.C, for one path or many, and their scratch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.core import batches
from wayfold.core.arrays import offsets_of
from wayfold.core.locks import Portable
from wayfold.graph import search_kernels as graph_kernels
from wayfold.graph.search_kernels import SearchState
from wayfold.graph.searcher import NO_NODES, Workspaces, was_settled
from wayfold.hierarchy import _query_kernels
from wayfold.hierarchy.levels import LANDMARKS, Levels
from wayfold.path import Path, Paths, Status

Points = Callable[[NDArray[np.int32]], NDArray[Any]]
PHASES = ("find", "connect", "search", "subpaths", "delete")
_CHUNK = 256


class Queries(Portable):
    """Queries over some levels, from any number of threads at once; scratch memory is kept for reuse.

    Parameters
    ----------
    levels : Levels
    largest : int
        Places of the largest part that a start or goal is linked in.
    """

    _OWN = (("_free", deque),)

    def __init__(self, levels: Levels, largest: int) -> None:
        self.levels = levels
        self._largest = largest
        # append and pop of a deque are atomic, so threads need no lock of ours
        self._free: deque[LevelScratch] = deque()

    def one(
        self,
        start: int,
        goal: int,
        *,
        top: int,
        single: bool,
        points: Points,
        settled_nodes: list[NDArray[np.int32]] | None = None,
    ) -> Path:
        """The path between two nodes.

        Parameters
        ----------
        top : int, >= 1
            Highest level to use.
        single : bool
            Whether only this level is used, as in the paper, with S and G linked to its portals.
        settled_nodes : list, optional
            Gets the nodes of the portals that the search settles.
        """
        levels = self.levels
        overlay, back = levels.overlay, levels.backward
        arrays = tuple(overlay)
        level = top if single else 1
        first, last = int(levels.rank[start]), int(levels.rank[goal])
        scratch = self._take()
        linked, links = scratch.query.linked, scratch.links
        while True:
            began = perf_counter()
            _query_kernels.find(
                overlay.starts, overlay.level_starts, level, single, first, last, scratch.query.near, linked
            )
            found = perf_counter()
            ahead, known = links[0].take(level, first)
            linked[0, 0] = first if known else -1
            behind, known = links[1].take(level, last)
            linked[1, 0] = last if known else -1
            full = _query_kernels.connect(
                (overlay.offsets, overlay.targets, overlay.costs),
                (back.offsets, back.targets, back.costs),
                ahead,
                behind,
                first,
                last,
                linked,
                NO_NODES,
            )
            connected = perf_counter()
            if full:
                links[0].enlarge(level, first)
                links[1].enlarge(level, last)
                continue
            query = scratch.plain(ahead, behind)
            status, end, settled, _ = _query_kernels.search_levels(
                arrays, query, top, levels.one_way, level, levels.scale
            )
            if status != graph_kernels.HEAP_FULL:
                break
            scratch.enlarge()
        searched = perf_counter()
        if settled_nodes is not None and settled:
            portals = was_settled(scratch.query.state, slice(None))
            settled_nodes.append(levels.partition.order[overlay.places[portals[: overlay.places.size]]])
        path = Path(Status.UNREACHABLE, expanded=settled)
        if status == graph_kernels.FOUND:
            count, cost = _query_kernels.obtain(arrays, query, top, end)
            while count < 0:
                scratch.enlarge_out(2 * scratch.query.out.size)
                count, cost = _query_kernels.obtain(arrays, scratch.plain(ahead, behind), top, end)
            nodes = levels.partition.order[scratch.query.out[:count]]
            path = Path(Status.FOUND, points, nodes=nodes, cost=cost, expanded=settled)
        self._free.append(scratch)
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
            scratch = self._take()
            scratch.query.linked[:, 0] = -1
            nodes = np.empty(64 * (end - begin), np.int32)
            used, done = 0, begin
            while done < end:
                answered, used, status = _query_kernels.answer_many(
                    arrays,
                    back,
                    scratch.plain(),
                    levels.partition.levels,
                    levels.one_way,
                    queries[done:end],
                    first,
                    last,
                    levels.scale,
                    NO_NODES,
                    answers,
                    nodes,
                    used,
                )
                done += answered
                if status == graph_kernels.HEAP_FULL:
                    scratch.enlarge()
                elif status == _query_kernels.NO_ROOM:
                    nodes = np.resize(nodes, 2 * nodes.size)
                    scratch.enlarge_out(nodes.size)
            self._free.append(scratch)
            pieces[begin] = nodes[:used].copy()

        batches.run_chunks(work, queries.size, workers=workers, chunk=_CHUNK)
        offsets = offsets_of(answers.lengths)
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
        return sum(scratch.nbytes for scratch in list(self._free))

    def _take(self) -> LevelScratch:
        try:
            scratch = self._free.pop()
        except IndexError:
            return LevelScratch(self.levels, self._largest)
        scratch.renew(self.levels.version)
        return scratch


# Starts, and goals, whose links a thread keeps: squads that go to a few places; fewer where parts are large.
MOST_LINKS = 16
_LINKED_PLACES = 1 << 16

State = tuple[Any, ...]


class PortalLinks:
    """Links of the starts, or of the goals, of the latest queries: characters who share one share its link.

    Parameters
    ----------
    places : int
        Places of the largest part that is linked in.
    """

    def __init__(self, places: int) -> None:
        self._workspaces = Workspaces(places)
        self._most = int(np.clip(_LINKED_PLACES // places, 1, MOST_LINKS))
        # From (level, place) to the search state, the one that was asked for last at the end.
        self._found: dict[tuple[int, int], State] = {}

    def take(self, level: int, place: int) -> tuple[State, bool]:
        """The link of a place in its part of a level, or a state for a new one, and whether it is known."""
        state = self._found.pop((level, place), None)
        known = state is not None
        if state is None:
            full = len(self._found) == self._most
            state = self._found.pop(next(iter(self._found))) if full else tuple(self._workspaces.take())
        self._found[level, place] = state
        return state, known

    def enlarge(self, level: int, place: int) -> None:
        """Forget a link whose heap was too small, and give the next one a larger heap."""
        state = SearchState(*self._found.pop((level, place)))
        self._workspaces.give(self._workspaces.larger(state))

    @property
    def nbytes(self) -> int:
        """Bytes of all links."""
        return sum(array.nbytes for state in self._found.values() for array in state)


class LevelScratch:
    """Scratch memory of one query at a time."""

    def __init__(self, levels: Levels, largest: int) -> None:
        count = levels.partition.levels
        portals = levels.overlay.places.size
        self.version = levels.version
        self.largest = largest
        self.links = PortalLinks(largest), PortalLinks(largest)
        inside = Workspaces(largest)
        self.query = _query_kernels.QueryScratch(
            state=Workspaces(max(1, portals)).take(),
            ahead=inside.take(),
            behind=inside.take(),
            near=np.zeros((count + 1, 2), np.int32),
            marks=np.zeros((2, LANDMARKS)),
            linked=np.full((2, 3), -1, np.int64),
            trail=np.empty(portals + 1, np.int32),
            frames=np.zeros((count + 2, 5), np.int64),
            out=np.empty(4096, np.int32),
        )

    def plain(self, ahead: State | None = None, behind: State | None = None) -> tuple[Any, ...]:
        """All of it as plain tuples, which kernels take faster (see `_query_kernels.opened`), with links or without."""
        query = self.query
        return (
            tuple(query.state),
            ahead or tuple(query.ahead),
            behind or tuple(query.behind),
            *query[3:],
        )

    def enlarge(self) -> None:
        """Larger heaps; links in `query` are made again."""
        query = self.query
        query.linked[:, 0] = -1
        states: dict[str, Any] = {
            name: Workspaces(state.cost.size).larger(state)
            for name, state in (("state", query.state), ("ahead", query.ahead), ("behind", query.behind))
        }
        self.query = query._replace(**states)

    def enlarge_out(self, room: int) -> None:
        """More room for a path."""
        if self.query.out.size < room:
            self.query = self.query._replace(out=np.empty(room, np.int32))

    def renew(self, version: int) -> None:
        """Forget links that were made with other costs."""
        if version != self.version:
            self.version = version
            self.links = PortalLinks(self.largest), PortalLinks(self.largest)
            self.query.linked[:, 0] = -1

    @property
    def nbytes(self) -> int:
        """Bytes of it."""
        query = self.query
        arrays = (*query.state, *query.ahead, *query.behind, *query[3:])
        return sum(array.nbytes for array in arrays) + sum(links.nbytes for links in self.links)
