"""Graphs to and from networkx and scipy.sparse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.core.arrays import distinct
from wayfold.errors import MissingDependencyError, ParameterError

if TYPE_CHECKING:
    from wayfold.graph.graph import Graph


@checks.checked
class Conversions:
    """The part of `Graph` that speaks to other libraries."""

    @classmethod
    def from_networkx(cls, graph: Any, *, points: str = "pos", weight: str | None = "weight") -> Graph:
        """A graph from a networkx graph; nodes are numbered in networkx's order.

        Parameters
        ----------
        graph : networkx Graph, DiGraph, MultiGraph or MultiDiGraph
        points : str
            Node attribute with the position, (x, y) or (x, y, z). Nodes may all lack it: they then lie at the origin.
        weight : str or None
            Edge attribute with the cost; None, or no edge that has it, for the Euclidean length.
        """
        return from_networkx(cls, graph, points, weight)  # type: ignore[arg-type]

    def to_networkx(self) -> Any:
        """A networkx Graph or DiGraph (MultiGraph where edges are parallel) with `pos` and `weight` attributes."""
        return to_networkx(self)  # type: ignore[arg-type]

    @classmethod
    def from_scipy(cls, matrix: Any, points: ArrayLike | None = None, *, directed: bool | None = None) -> Graph:
        """A graph from a sparse matrix of costs.

        Parameters
        ----------
        matrix : (n, n) scipy.sparse array
            Every stored entry is the cost of an edge from row to column: a stored zero is an edge that costs nothing,
            an infinite one is blocked, and entries that are stored twice are parallel edges.
        points : (n, 2) or (n, 3) array_like, optional
            Positions; without them all nodes lie at the origin and A* has no heuristic.
        directed : bool, optional
            By default a symmetric matrix (every stored entry has its like on the other side of the diagonal) gives an
            undirected graph, any other a directed one.
        """
        return from_scipy(cls, matrix, points, directed)  # type: ignore[arg-type]

    def to_scipy(self) -> Any:
        """A (n, n) float64 csr_array of costs; parallel edges stay separate entries until scipy sums them.

        An undirected edge is stored in both directions, a loop once.
        """
        return to_scipy(self)  # type: ignore[arg-type]


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise MissingDependencyError("networkx is not installed: pip install networkx") from None
    return networkx


def from_networkx(kind: type[Graph], graph: Any, points: str, weight: str | None) -> Graph:
    """See `Graph.from_networkx`."""
    networkx = _networkx()
    if not isinstance(graph, networkx.Graph):
        raise ParameterError(f"graph must be a graph of networkx, not {checks.shown(graph)}")
    number = {node: at for at, node in enumerate(graph.nodes)}
    positions = [data.get(points) for _, data in graph.nodes(data=True)]
    missing = sum(position is None for position in positions)
    if missing and missing != len(positions):
        name = list(graph.nodes)[[position is None for position in positions].index(True)]
        raise ParameterError(f"node {checks.shown(name)} has no attribute {checks.shown(points)}, but others have")
    where: ArrayLike = np.zeros((len(number), 3)) if missing else positions  # type: ignore[assignment]
    edges = np.array([(number[a], number[b]) for a, b in graph.edges()], np.int64).reshape(-1, 2)
    costs = None
    if weight is not None:
        found = [data.get(weight) for _, _, data in graph.edges(data=True)]
        lacking = sum(cost is None for cost in found)
        if lacking and lacking != len(found):
            raise ParameterError(f"{lacking} of {len(found)} edges have no attribute {checks.shown(weight)}")
        costs = None if lacking == len(found) else checks.floats(found, f"the {checks.shown(weight)} of the edges")
    return kind.from_edges(where, edges, costs=costs, directed=graph.is_directed())


def edge_list(graph: Graph, *, both: bool = False) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(m, 2) node pairs of the edges and the slot that each came from; undirected ones in `both` directions or once.

    A loop counts once, though it stands twice in its row, and a spare slot of an editable graph does not count.
    """
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    used = np.ones(graph.targets.size, np.bool_) if graph.motions is None else graph.motions > 0
    if graph.directed:
        kept = used
    else:
        kept = used & ((sources != graph.targets) if both else (sources < graph.targets))
        kept[np.flatnonzero(used & (sources == graph.targets))[::2]] = True
    slots = np.flatnonzero(kept)
    return np.column_stack([sources[slots], graph.targets[slots]]), slots


def edge_costs(graph: Graph) -> NDArray[np.float64]:
    """Cost of every slot, Euclidean where the graph stores none."""
    if graph.costs is not None:
        return graph.costs.astype(np.float64)
    sources = np.repeat(np.arange(graph.num_nodes), np.diff(graph.offsets))
    steps = graph.points[sources] - graph.points[graph.targets]
    return np.asarray(np.sqrt((steps * steps).sum(axis=1)))


def to_networkx(graph: Graph) -> Any:
    """See `Graph.to_networkx`."""
    networkx = _networkx()
    pairs, slots = edge_list(graph)
    parallel = len(distinct(pairs).rows) != len(pairs)
    kinds = {
        (False, False): networkx.Graph,
        (True, False): networkx.DiGraph,
        (False, True): networkx.MultiGraph,
        (True, True): networkx.MultiDiGraph,
    }
    result = kinds[graph.directed, parallel]()
    result.add_nodes_from((node, {"pos": tuple(point)}) for node, point in enumerate(graph.points.tolist()))
    costs = edge_costs(graph)[slots]
    result.add_weighted_edges_from((a, b, cost) for (a, b), cost in zip(pairs.tolist(), costs.tolist(), strict=True))
    return result


def from_scipy(kind: type[Graph], matrix: Any, points: ArrayLike | None, directed: bool | None) -> Graph:
    """See `Graph.from_scipy`."""
    import scipy.sparse

    try:
        rows = scipy.sparse.coo_array(matrix)
    except Exception:  # of whatever kind scipy finds wrong with it
        raise ParameterError(f"matrix must be a sparse matrix of numbers, not {checks.shown(matrix)}") from None
    if rows.ndim != 2:
        raise ParameterError(f"a graph needs a square matrix of at least one node, not {rows.shape}")
    if rows.shape[0] != rows.shape[1] or rows.shape[0] == 0:
        raise ParameterError(f"a graph needs a square matrix of at least one node, not {rows.shape}")
    first, second = (np.asarray(line, np.int64) for line in rows.coords)
    values = checks.floats(rows.data, "the entries of the matrix")
    # Stored entries are compared, not values: what is not stored and a stored zero are both 0 to scipy.
    there, back = np.lexsort((values, second, first)), np.lexsort((values, first, second))
    alike = ((first, second), (second, first), (values, values))
    symmetric = all(np.array_equal(one[there], other[back]) for one, other in alike)
    if directed is None:
        directed = not symmetric
    if not directed and not symmetric:
        raise ParameterError("an undirected graph needs a symmetric matrix: costs differ between the two directions")
    edges = np.column_stack([first, second])
    if not directed:
        once = first <= second
        edges, values = edges[once], values[once]
    where = np.zeros((rows.shape[0], 3)) if points is None else points
    return kind.from_edges(where, edges, costs=values, directed=directed)


def to_scipy(graph: Graph) -> Any:
    """See `Graph.to_scipy`."""
    import scipy.sparse

    shape = (graph.num_nodes, graph.num_nodes)
    pairs, slots = edge_list(graph, both=True)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(pairs[:, 0], minlength=graph.num_nodes))])
    return scipy.sparse.csr_array((edge_costs(graph)[slots], pairs[:, 1], offsets), shape=shape)
