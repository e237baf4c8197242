"""Graphs in `.wayfold` files, on their own and as a part of what is built over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import ALL_MOTIONS
from wayfold.core import checks
from wayfold.core.schema import Array, Parts, Schema, Value
from wayfold.graph import csr_kernels

if TYPE_CHECKING:
    from wayfold.graph.graph import Graph

_Graph = TypeVar("_Graph", bound="Graph")

ARRAYS = {
    "points": Array(
        "float64|float32", ("nodes", 3), "positions of the nodes, metres", low=-checks.LARGEST, high=checks.LARGEST
    ),
    "offsets": Array("int64", ("nodes + 1",), "the edges of each node", rises="edges"),
    "targets": Array("int32", ("edges",), "the node that each edge leads to", refers="nodes"),
    "costs": Array(
        "float32", ("edges",), "cost of each edge", low=0.0, high=checks.LARGEST_COST, finite=False, optional=True
    ),
    "motions": Array("uint8", ("edges",), "Motion bits of each edge", low=1, high=int(ALL_MOTIONS), optional=True),
}
DIRECTED = Value(bool, "whether edges are one-way")
_WRONG = {
    csr_kernels.UNSORTED: "the targets of a row do not ascend",
    csr_kernels.ONE_WAY: "an edge of an undirected graph stands in one of its two rows only",
}


def rows_fit(parts: Parts) -> None:
    """The targets of each row ascend; edges of an undirected graph stand in the rows of both of their ends."""
    offsets, targets = parts.arrays["offsets"], parts.arrays["targets"]
    directed = bool(parts.meta.get("directed", False))
    found = csr_kernels.judge_rows(offsets, targets, directed, offsets[:-1].copy())
    if found != csr_kernels.FINE:
        raise ValueError(_WRONG[found])


SCHEMA = Schema("graph", ARRAYS, {"directed": DIRECTED}, {"nodes": 1}, (rows_fit,))


def graph_arrays(graph: Graph) -> dict[str, NDArray[Any]]:
    """The arrays of a graph as `.wayfold` files name them: sorted rows, without slots that no motion may use."""
    offsets = graph.offsets
    rows: dict[str, NDArray[Any]] = {"targets": graph.targets}
    if graph.costs is not None:
        rows["costs"] = graph.costs
    if graph.motions is not None:
        rows["motions"] = graph.motions
        if not graph.motions.all():
            used = graph.motions > 0
            offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(used, dtype=np.int64)])[offsets]
            rows = {name: array[used] for name, array in rows.items()}
    if csr_kernels.judge_rows(offsets, rows["targets"], True, offsets[:-1].copy()) != csr_kernels.FINE:
        rows = {name: array.copy() for name, array in rows.items()}
        costs, motions = rows.get("costs", np.empty(0, np.float32)), rows.get("motions", np.empty(0, np.uint8))
        csr_kernels.sort_rows(offsets, rows["targets"], costs, motions)
    return {"points": graph.points, "offsets": offsets, **rows}


def graph_of(kind: type[_Graph], parts: Parts) -> _Graph:
    """The graph among the parts of something."""
    arrays = parts.arrays
    return kind(
        arrays["points"],
        arrays["offsets"],
        arrays["targets"],
        arrays.get("costs"),
        arrays.get("motions"),
        directed=bool(parts.meta.get("directed", False)),
    )
