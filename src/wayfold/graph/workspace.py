"""Scratch memory of searches: borrowed for one query, returned after it, never cleared."""

from __future__ import annotations

from collections import deque

import numpy as np

from wayfold.core.locks import Portable
from wayfold.graph._kernels import SearchState


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
            return self._new(min(self.nodes, 64 + self.nodes // 8))

    def give(self, state: SearchState) -> None:
        """Return a state for reuse."""
        self._free.append(state)

    def larger(self, state: SearchState) -> SearchState:
        """The same state with twice the room in its heap; the old one must not be used any more."""
        capacity = min(self.nodes, 2 * state.keys.size)
        return state._replace(keys=np.empty(capacity, np.float64), nodes=np.empty(capacity, np.int32))

    def _new(self, capacity: int) -> SearchState:
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
