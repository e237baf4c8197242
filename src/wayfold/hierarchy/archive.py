"""Hierarchies in `.wayfold` files: the graph with its costs, and the partition; loading makes the arcs again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wayfold.core import checks
from wayfold.core.schema import Array, Parts, Schema, Value
from wayfold.graph import Graph, _files
from wayfold.hierarchy.choice import MOST_LEVELS, MOST_MERGED
from wayfold.hierarchy.partition import Partition

if TYPE_CHECKING:
    from wayfold.hierarchy.hierarchy import Hierarchy

_Hierarchy = TypeVar("_Hierarchy", bound="Hierarchy")


def parts_nest(parts: Parts) -> None:
    """`order` is a permutation of the nodes; the parts of a level are ranges of it and hold whole parts of the last."""
    order = parts.arrays["order"]
    seen = np.zeros(order.size, np.bool_)
    seen[order] = True
    if not seen.all():
        raise ValueError("the order of the nodes is not a permutation of them")
    levels = parts.meta["parts"]
    if {name for name in parts.arrays if name.startswith("starts/")} != {f"starts/{k + 1}" for k in range(levels)}:
        raise ValueError(f"there must be starts of {levels} levels")
    below: NDArray[Any] = np.arange(order.size + 1)
    for level in range(levels):
        starts = parts.arrays[f"starts/{level + 1}"]
        rising = starts.size >= 2 and starts[0] == 0 and starts[-1] == order.size and (np.diff(starts) > 0).all()
        if not rising or not np.isin(starts, below).all():
            raise ValueError("the parts of a level are not ranges that hold whole parts of the level below")
        below = starts


SCHEMA = Schema(
    "hierarchy",
    {
        **_files.ARRAYS,
        "order": Array("int32", ("nodes",), "the node at each place", refers="nodes"),
        "starts/*": Array("int32", (".parts",), "first place of each part of a level, and the number of nodes"),
    },
    {
        "directed": _files.DIRECTED,
        "merge": Value((int, str), "nodes that one of the next level stands for", 2, MOST_MERGED, among=("auto",)),
        "levels": Value(int, "most levels", 1, MOST_LEVELS),
        "parts": Value(int, "levels that there are", 0, MOST_LEVELS),
        "seed": Value(int, "seed of the partition", 0, 2**31 - 1),
        "exact": Value(bool, "whether paths are shortest ones by default"),
        "top": Value(int, "highest level that queries use", 0, MOST_LEVELS),
        "near": Value(float, "metres below which plain A* is tried first", 0.0, 8 * checks.LARGEST),
    },
    {"nodes": 1},
    (_files.rows_fit, parts_nest),
)


def to_parts(hierarchy: Hierarchy) -> Parts:
    """A hierarchy with the graph and its present costs."""
    graph, partition = hierarchy.graph, hierarchy.partition
    arrays = {**_files.graph_arrays(graph), "order": partition.order}
    for level, starts in enumerate(partition.starts, start=1):
        arrays[f"starts/{level}"] = starts
    meta = {
        "directed": graph.directed,
        "merge": hierarchy.merge,
        "levels": hierarchy._most_levels,
        "parts": partition.levels,
        "seed": hierarchy._seed,
        "exact": hierarchy.exact,
        "top": hierarchy._default_top[hierarchy.exact],
        "near": hierarchy._near,
    }
    return Parts(arrays, meta)


def from_parts(kind: type[_Hierarchy], parts: Parts) -> _Hierarchy:
    """The hierarchy; its arcs are made again from the costs, which is quicker than checking those of a file."""
    meta = parts.meta
    graph = _files.graph_of(Graph, parts)
    partition = Partition(parts.arrays["order"], [parts.arrays[f"starts/{k + 1}"] for k in range(meta["parts"])])
    hierarchy = kind(graph, meta["merge"], meta["levels"], meta["seed"], meta["exact"], partition)
    hierarchy._default_top[hierarchy.exact] = min(meta["top"], partition.levels)
    hierarchy._near = float(meta["near"])
    return hierarchy
