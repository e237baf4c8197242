"""`Tree`: the cheapest paths from every node to one, found by one search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.core.arrays import offsets_of
from wayfold.errors import ParameterError
from wayfold.graph import search_kernels, searcher
from wayfold.path import Path, Paths, Status

if TYPE_CHECKING:
    from wayfold.graph.graph import Graph


@checks.checked
class Tree:
    """Cheapest paths from all nodes of a graph to one goal; `Graph.tree` makes it.

    It takes 12 bytes a node and shares nothing that queries change, so any number of threads may ask it.

    Attributes
    ----------
    goal : int
    costs : (n,) float64 array
        Cost from each node to the goal, infinite where there is no way.
    parents : (n,) int32 array
        The next node on the way to the goal; -1 at the goal and where there is no way.

    Examples
    --------
    >>> from wayfold import Graph
    >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4), (9, 9)], [(0, 1), (1, 2)])
    >>> home = roads.tree(0)
    >>> home.costs.tolist(), home.parents.tolist()
    ([0.0, 3.0, 7.0, inf], [-1, 0, 1, -1])
    """

    def __init__(self, graph: Graph, goal: int, motions: int) -> None:
        self.goal = checks.node(goal, "goal", graph.num_nodes)
        usable = checks.whole(motions, "motions", low=1, high=255)
        self._graph = graph
        self.costs, self.parents = searcher.tree_from(graph.reversed()._space(usable), graph.workspaces, self.goal)

    def path(self, start: int) -> Path:
        """Return the cheapest path from a node to the goal, without a search.

        Parameters
        ----------
        start : int, 0 to n - 1

        Returns
        -------
        Path
            With `nodes`; status UNREACHABLE where there is no way.

        Examples
        --------
        >>> from wayfold import Graph
        >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4), (9, 9)], [(0, 1), (1, 2)])
        >>> home = roads.tree(0)
        >>> home.path(2).nodes.tolist(), home.path(3).found
        ([2, 1, 0], False)
        """
        return self.paths([start])[0]

    def paths(self, starts: ArrayLike) -> Paths:
        """Return the cheapest paths from many nodes to the goal, without a search.

        Parameters
        ----------
        starts : (q,) array_like of int, 0 to n - 1

        Returns
        -------
        Paths
            With the status UNREACHABLE where there is no way.

        Examples
        --------
        >>> from wayfold import Graph
        >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4), (9, 9)], [(0, 1), (1, 2)])
        >>> roads.tree(0).paths([2, 3, 0]).costs.tolist()
        [7.0, inf, 0.0]
        """
        nodes = np.atleast_1d(self._graph._nodes(starts, "starts"))
        if nodes.ndim != 1:
            raise ParameterError(f"starts must have shape (q,), not {nodes.shape}")
        found = np.isfinite(self.costs[nodes])
        trails, offsets = self.trails(np.where(found, nodes, -1).astype(np.int32))
        statuses = np.where(found, Status.FOUND.value, Status.UNREACHABLE.value).astype(np.uint8)
        none = np.zeros(len(nodes), np.int64)
        return Paths(statuses, self.costs[nodes], none, offsets, trails, self._graph._points_of)

    def trails(self, nodes: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the ways from nodes to the goal in flat arrays, for kernels.

        Parameters
        ----------
        nodes : (q,) array_like of int
            Nodes to start from, with a way to the goal; -1 for none.

        Returns
        -------
        trails : (total,) int32 array
            The nodes of all ways one after the other, each from its start to the goal.
        offsets : (q + 1,) int64 array
            Where each way begins.

        Examples
        --------
        >>> from wayfold import Graph
        >>> roads = Graph.from_edges([(0, 0), (3, 0), (3, 4), (9, 9)], [(0, 1), (1, 2)])
        >>> nodes, offsets = roads.tree(0).trails([2, -1, 1])
        >>> nodes.tolist(), offsets.tolist()
        ([2, 1, 0, 1, 0], [0, 3, 3, 5])
        """
        nodes = np.atleast_1d(checks.wholes(nodes, "nodes"))
        checks.nodes(nodes[nodes != -1], "nodes", self._graph.num_nodes)
        nodes = nodes.ravel().astype(np.int32)
        lengths = np.empty(len(nodes), np.int64)
        search_kernels.trail_lengths(self.parents, nodes, lengths)
        offsets = offsets_of(lengths)
        trails = np.empty(int(offsets[-1]), np.int32)
        search_kernels.trails(self.parents, nodes, offsets, trails)
        return trails, offsets
