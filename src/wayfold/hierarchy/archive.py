"""Hierarchies in `.wayfold` files: the graph with its costs, and the partition; loading makes the arcs again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfold import _archive
from wayfold.errors import FormatError, WayfoldError
from wayfold.graph import Graph
from wayfold.graph._build import graph_arrays
from wayfold.hierarchy.partition import Partition

if TYPE_CHECKING:
    from wayfold.hierarchy.hierarchy import Hierarchy


def save(hierarchy: Hierarchy, file: str | os.PathLike[str]) -> None:
    """Write a hierarchy with the graph and its present costs."""
    graph, parts = hierarchy.graph, hierarchy.partition
    arrays = {**graph_arrays(graph), "order": parts.order}
    for level, starts in enumerate(parts.starts, start=1):
        arrays[f"starts/{level}"] = starts
    meta = {
        "directed": graph.directed,
        "merge": hierarchy.merge,
        "levels": hierarchy._most_levels,
        "parts": parts.levels,
        "seed": hierarchy._seed,
        "exact": hierarchy.exact,
        "top": hierarchy._default_top[hierarchy.exact],
        "near": hierarchy._near,
    }
    _archive.write_archive(file, "hierarchy", arrays, meta)


def load(kind: type[Hierarchy], file: str | os.PathLike[str]) -> Hierarchy:
    """Read a hierarchy; its arcs are made again from the costs, which is quicker than checking those of a file."""
    stored = _archive.read_archive(file, "hierarchy")
    arrays, meta = stored.arrays, stored.meta
    for array in arrays.values():
        array.setflags(write=True)  # copy-on-write: the file stays as it is
    try:
        graph = Graph(
            arrays["points"],
            arrays["offsets"],
            arrays["targets"],
            arrays.get("costs"),
            arrays.get("motions"),
            directed=bool(meta["directed"]),
        )
        parts = Partition(arrays["order"], [arrays[f"starts/{level}"] for level in range(1, int(meta["parts"]) + 1)])
        _check_partition(parts, graph.num_nodes)
        merge = meta["merge"] if meta["merge"] == "auto" else int(meta["merge"])
        hierarchy = kind(graph, merge, int(meta["levels"]), int(meta["seed"]), bool(meta["exact"]), parts)
        hierarchy._default_top[hierarchy.exact] = min(int(meta["top"]), parts.levels)
        hierarchy._near = float(meta["near"])
    except KeyError as error:
        raise FormatError(f"the archive has no {error.args[0]!r}", file) from None
    except (WayfoldError, TypeError, ValueError) as error:
        raise FormatError(str(error), file) from None
    return hierarchy


def _check_partition(parts: Partition, nodes: int) -> None:
    """Refuse numbers that a kernel could read beyond."""
    order = parts.order
    if order.dtype != np.int32 or order.shape != (nodes,) or not (np.sort(order) == np.arange(nodes)).all():
        raise ValueError("the order of the nodes is not a permutation of them")
    below: NDArray[Any] = np.arange(nodes + 1)
    for starts in parts.starts:
        rising = starts.size >= 2 and starts[0] == 0 and starts[-1] == nodes and (np.diff(starts) > 0).all()
        if starts.dtype != np.int32 or starts.ndim != 1 or not rising or not np.isin(starts, below).all():
            raise ValueError("the parts of a level are not ranges that hold whole parts of the level below")
        below = starts
