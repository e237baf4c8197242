"""Checks of what enters a hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.errors import ParameterError
from wayfold.graph import Graph
from wayfold.hierarchy import _customise_kernels

_ROUNDING = 8.0 * float(np.finfo(np.float32).eps)  # of a cost that was computed in both directions


def graph_of(thing: Any) -> Graph:
    """A graph, or the graph of a map."""
    graph = thing if isinstance(thing, Graph) else getattr(thing, "graph", None)
    if callable(graph):
        graph = graph()
    if isinstance(graph, tuple):  # a grid also says which node each cell is
        graph = graph[0]
    if not isinstance(graph, Graph):
        raise ParameterError(f"a hierarchy is built over a Graph or a map that has one, not a {type(thing).__name__}")
    return graph


def check_costs(costs: ArrayLike, graph: Graph) -> NDArray[np.float32]:
    """A cost for each slot of the graph."""
    prices = checks.floats(costs, "costs")
    if prices.shape != graph.targets.shape:
        raise ParameterError(f"costs must have shape {graph.targets.shape} like graph.targets, not {prices.shape}")
    checks.costs(prices)
    kept = prices.astype(np.float32)
    if not graph.directed:
        _check_both_ways(kept, graph)
    return kept


def _check_both_ways(prices: NDArray[np.float32], graph: Graph) -> None:
    """Refuse costs that differ, by more than rounding, between the two directions of an undirected edge."""
    sources = np.repeat(np.arange(graph.num_nodes, dtype=np.int32), np.diff(graph.offsets))
    there, back = np.lexsort((prices, graph.targets, sources)), np.lexsort((prices, sources, graph.targets))
    with np.errstate(invalid="ignore"):
        alike = np.abs(prices[there] - prices[back]) <= _ROUNDING * prices[there]
    differ = ~alike & (prices[there] != prices[back])
    if differ.any():
        slot = int(there[np.argmax(differ)])
        raise ParameterError(
            f"costs[{slot}] differs from that of the way back, from node {graph.targets[slot]} to node {sources[slot]}:"
            " an undirected graph needs the same cost in both directions"
        )


def edge_slots(graph: Graph, pairs: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Slots of the graph that join the node pairs, parallel edges included, and the pair that each belongs to."""
    most = int((graph.offsets[pairs[:, 0] + 1] - graph.offsets[pairs[:, 0]]).sum())
    slots, owners = np.empty(most, np.int64), np.empty(most, np.int64)
    count = _customise_kernels.find_slots(graph.offsets, graph.targets, np.ascontiguousarray(pairs), slots, owners)
    return slots[:count], owners[:count]


def check_update(graph: Graph, edges: ArrayLike, costs: ArrayLike) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Node pairs and their new costs, as `Hierarchy.update` takes them."""
    pairs = node_numbers(graph, edges, "edges")
    if pairs.size == 0:
        pairs = np.empty((0, 2), np.int32)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ParameterError(f"edges must have shape (k, 2), not {pairs.shape}")
    prices = checks.floats(costs, "costs")
    if prices.shape not in ((), (len(pairs),)):
        raise ParameterError(f"costs must be one number, or one for each of the {len(pairs)} edges")
    prices = np.broadcast_to(prices, (len(pairs),))
    checks.costs(prices)
    return pairs, prices.astype(np.float32)


def changed_slots(
    graph: Graph, edges: ArrayLike, costs: ArrayLike
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float32]]:
    """The slots that `Hierarchy.update` changes, with the node that each belongs to and its new cost."""
    pairs, prices = check_update(graph, edges, costs)
    if not graph.directed:
        pairs, prices = np.stack([pairs, pairs[:, ::-1]], axis=1).reshape(-1, 2), np.repeat(prices, 2)
    slots, owners = edge_slots(graph, pairs)
    found = np.zeros(len(pairs), np.bool_)
    found[owners] = True
    if not found.all():
        a, b = pairs[np.argmin(found)]
        raise ParameterError(f"there is no edge from node {a} to node {b} to update")
    # Of an edge that is named twice the last cost counts.
    slots, last = np.unique(slots[::-1], return_index=True)
    owners = owners[::-1][last]
    return pairs[owners, 0], slots, prices[owners]


def node_number(graph: Graph, node: int, name: str) -> int:
    """A node of the graph, or an error that says why it is none."""
    return checks.node(node, name, graph.num_nodes)


def node_numbers(graph: Graph, nodes: ArrayLike, name: str) -> NDArray[np.int32]:
    """Nodes of the graph, or an error that says why they are none."""
    return checks.nodes(nodes, name, graph.num_nodes)
