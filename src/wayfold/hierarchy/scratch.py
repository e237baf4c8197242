"""Scratch memory of queries, with the links of starts and goals that later queries may share."""

from __future__ import annotations

from typing import Any

import numpy as np

from wayfold.graph._kernels import SearchState
from wayfold.graph.workspace import Workspaces
from wayfold.hierarchy import _kernels
from wayfold.hierarchy.levels import Levels
from wayfold.hierarchy.topology import LANDMARKS

# Starts, and goals, whose links a thread keeps: squads that go to a few places; fewer where parts are large.
MOST_LINKS = 16
_LINKED_PLACES = 1 << 16

State = tuple[Any, ...]


class Links:
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


class Scratch:
    """Scratch memory of one query at a time."""

    def __init__(self, levels: Levels, largest: int) -> None:
        count = levels.partition.levels
        portals = levels.overlay.places.size
        self.version = levels.version
        self.largest = largest
        self.links = Links(largest), Links(largest)
        inside = Workspaces(largest)
        self.query = _kernels.Query(
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

    def plain(self, ahead: State | None = None, behind: State | None = None) -> tuple[Any, ...]:
        """All of it as plain tuples, which kernels take faster (see `_kernels.opened`), with links or without."""
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
            self.links = Links(self.largest), Links(self.largest)
            self.query.linked[:, 0] = -1

    @property
    def nbytes(self) -> int:
        """Bytes of it."""
        query = self.query
        arrays = (*query.state, *query.ahead, *query.behind, *query[3:])
        return sum(array.nbytes for array in arrays) + sum(links.nbytes for links in self.links)
