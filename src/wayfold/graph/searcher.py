"""Queries over any search space, and their scratch memory: borrowed for one query, returned after it, never cleared."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.core import batches, checks
from wayfold.core.arrays import offsets_of
from wayfold.core.locks import Portable
from wayfold.graph import search_kernels
from wayfold.graph.search_kernels import SearchState
from wayfold.path import Path, Paths, Status

NO_NODES = np.empty(0, np.int32)
UNLIMITED = float(search_kernels.UNLIMITED)
NO_BUDGET = np.iinfo(np.int64).max
_STATUS = (Status.FOUND, Status.UNREACHABLE, Status.PARTIAL, Status.BUDGET_EXHAUSTED)
# A query of a batch takes from microseconds to tens of milliseconds: chunks of this size keep the threads evenly busy,
# and Ctrl-C waits for no more than one of them.
_CHUNK = 16

Points = Callable[[NDArray[np.int32]], NDArray[Any]]
Smoother = Callable[[Path], Path]


def check_budget(budget: int | None) -> int:
    """A node budget for the kernels; None is no limit."""
    return NO_BUDGET if budget is None else checks.whole(budget, "budget", low=1)


def run(workspaces: Workspaces, call: Callable[[search_kernels.SearchState], tuple[Any, ...]]) -> Any:
    """Run a search kernel with a borrowed state, again with a larger heap as long as the heap is too small.

    `call(state)` returns a tuple that begins with the status; the result is the state (to be given back by the
    caller) before that tuple.
    """
    state = workspaces.take()
    answer = call(state)
    while answer[0] == search_kernels.HEAP_FULL:
        state = workspaces.larger(state)
        answer = call(state)
    return (state, *answer)


def one(
    space: Any,
    workspaces: Workspaces,
    start: int,
    goal: int,
    *,
    scale: float,
    points: Points,
    budget: int = NO_BUDGET,
    partial: bool = False,
    smoother: Smoother | None = None,
) -> Path:
    """The path from node `start` to node `goal` of a search space."""
    state, status, end, settled = run(
        workspaces,
        lambda state: search_kernels.search(
            space, state, start, goal, scale, search_kernels.UNLIMITED, NO_NODES, budget, partial
        ),
    )
    if end < 0:
        workspaces.give(state)
        return Path(_STATUS[status], expanded=settled)
    nodes = trail(state, end)
    cost = float(state.cost[end])
    workspaces.give(state)
    return Path(_STATUS[status], points, nodes=nodes, cost=cost, expanded=settled, smoother=smoother)


def costs_from(
    space: Any, workspaces: Workspaces, source: int, wanted: NDArray[np.int32] | None = None, limit: float = UNLIMITED
) -> NDArray[np.float64]:
    """Costs of the cheapest paths from one node to all, or to the `wanted` ones; infinite beyond `limit`."""
    state = _search_all(space, workspaces, source, NO_NODES if wanted is None else wanted, limit)
    picked: Any = slice(None) if wanted is None else wanted
    result = np.where(was_settled(state, picked), state.cost[picked], np.inf)
    workspaces.give(state)
    return result


def tree_from(space: Any, workspaces: Workspaces, source: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Costs of the cheapest paths from one node to all, and the node before each on its path."""
    state = _search_all(space, workspaces, source, NO_NODES, UNLIMITED)
    settled = was_settled(state, slice(None))
    costs, parents = np.where(settled, state.cost, np.inf), np.where(settled, state.parent, np.int32(-1))
    workspaces.give(state)
    return costs, parents


def settled_nodes(space: Any, workspaces: Workspaces, start: int, goal: int, scale: float) -> NDArray[np.int64]:
    """The nodes that the search for one path settles."""
    state, *_ = run(
        workspaces,
        lambda state: search_kernels.search(
            space, state, start, goal, scale, search_kernels.UNLIMITED, NO_NODES, NO_BUDGET, False
        ),
    )
    nodes = np.flatnonzero(was_settled(state, slice(None)))
    workspaces.give(state)
    return nodes


def _search_all(
    space: Any, workspaces: Workspaces, source: int, wanted: NDArray[np.int32], limit: float
) -> search_kernels.SearchState:
    state: search_kernels.SearchState = run(
        workspaces, lambda state: search_kernels.search(space, state, source, -1, 0.0, limit, wanted, NO_BUDGET, False)
    )[0]
    return state


def was_settled(state: search_kernels.SearchState, picked: Any) -> NDArray[np.bool_]:
    """Which of the picked nodes the last search settled."""
    return np.asarray((state.stamp[picked] > int(state.clock[0])) & (state.place[picked] < 0))


def both_ways(
    space: Any,
    back: Any,
    workspaces: Workspaces,
    start: int,
    goal: int,
    *,
    points: Points,
    budget: int = NO_BUDGET,
) -> Path:
    """The path between two nodes, searched from both ends; `back` is the space with every edge turned round."""
    ahead, behind = workspaces.take(), workspaces.take()
    while True:
        status, meeting, settled, cost = search_kernels.search_both_ways(
            space, back, ahead, behind, start, goal, budget
        )
        if status != search_kernels.HEAP_FULL:
            break
        ahead, behind = workspaces.larger(ahead), workspaces.larger(behind)
    path = Path(_STATUS[status], expanded=settled)
    if meeting >= 0:
        nodes = np.concatenate([trail(ahead, meeting), trail(behind, meeting)[-2::-1]])
        path = Path(Status.FOUND, points, nodes=nodes, cost=cost, expanded=settled)
    workspaces.give(ahead)
    workspaces.give(behind)
    return path


def trail(state: search_kernels.SearchState, end: int) -> NDArray[np.int32]:
    """Nodes from the start of the last search to `end`."""
    nodes = np.empty(search_kernels.trail_length(state.parent, end), np.int32)
    search_kernels.trail(state.parent, end, nodes)
    return nodes


def many(
    space: Any,
    workspaces: Workspaces,
    starts: NDArray[np.int32],
    goals: NDArray[np.int32],
    *,
    scale: float,
    points: Points,
    possible: NDArray[np.bool_],
    budget: int = NO_BUDGET,
    partial: bool = False,
    workers: int | None = None,
    smoother: Smoother | None = None,
) -> Paths:
    """The paths of many queries, in parallel; queries that are not `possible` are unreachable without a search."""
    count = len(starts)
    answers = search_kernels.Answers(
        statuses=np.full(count, Status.UNREACHABLE.value, np.uint8),
        costs=np.full(count, np.inf),
        expanded=np.zeros(count, np.int64),
        lengths=np.zeros(count, np.int64),
    )
    queries = np.flatnonzero(possible)
    trails: dict[int, NDArray[np.int32]] = {}

    def work(first: int, last: int) -> None:
        state = workspaces.take()
        nodes = np.empty(1024, np.int32)
        used = 0
        while first < last:
            done, used, status = search_kernels.search_many(
                space, state, queries[first:last], starts, goals, scale, NO_NODES, budget, partial, answers, nodes, used
            )
            first += done
            if status == search_kernels.HEAP_FULL:
                state = workspaces.larger(state)
            elif first < last:
                nodes = np.resize(nodes, 2 * nodes.size)
        workspaces.give(state)
        trails[last] = nodes[:used].copy()

    batches.run_chunks(work, queries.size, workers=workers, chunk=_CHUNK)
    offsets = offsets_of(answers.lengths)
    nodes = np.concatenate([NO_NODES, *(trails[last] for last in sorted(trails))])
    return Paths(answers.statuses, answers.costs, answers.expanded, offsets, nodes, points, smoother)


class Workspaces(Portable):
    """A pool of search states for graphs of one size, so that any number of threads may search at once.

    A state takes 18 bytes a node and its heap 12 bytes an entry. The heap begins with room for an eighth of the nodes
    and doubles when a search needs more: 24 bytes a node in all while no search has had more than half of the nodes
    open at once (graphs laid out in space stay far below), 30 at the very most.

    Parameters
    ----------
    nodes : int, >= 0
        Number of nodes of the searched space.
    """

    _OWN = (("_free", deque),)

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes
        # append and pop of a deque are atomic, so threads need no lock of ours
        self._free: deque[SearchState] = deque()

    def take(self) -> SearchState:
        """A state that nobody else uses; hand it back with `give`."""
        try:
            return self._free.pop()
        except IndexError:
            return self.new(min(self.nodes, 64 + self.nodes // 8))

    def give(self, state: SearchState) -> None:
        """Return a state for reuse."""
        self._free.append(state)

    def larger(self, state: SearchState) -> SearchState:
        """The same state with twice the room in its heap; the old one must not be used any more."""
        capacity = min(self.nodes, 2 * state.keys.size)
        return state._replace(keys=np.empty(capacity, np.float64), nodes=np.empty(capacity, np.int32))

    def new(self, capacity: int) -> SearchState:
        """A state with so much room in its heap."""
        return SearchState(
            cost=np.empty(self.nodes, np.float64),
            parent=np.empty(self.nodes, np.int32),
            stamp=np.zeros(self.nodes, np.uint16),
            place=np.empty(self.nodes, np.int32),
            keys=np.empty(capacity, np.float64),
            nodes=np.empty(capacity, np.int32),
            clock=np.zeros(1, np.int64),
        )

    @property
    def nbytes(self) -> int:
        """Bytes of all states that are not lent out."""
        return sum(_bytes(state) for state in list(self._free))

    @property
    def search_bytes(self) -> int:
        """Bytes that one search takes: the largest state so far, or a new one where there has been no search."""
        state = self.take()
        self.give(state)
        return max(_bytes(state) for state in list(self._free))


def _bytes(state: SearchState) -> int:
    return sum(array.nbytes for array in state)
