"""From a user's arrays to the rows of a `Graph`: checks, compressed rows, and their reverse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.agent import ALL_MOTIONS
from wayfold.core import checks
from wayfold.core.arrays import offsets_of
from wayfold.errors import GeometryError, ParameterError
from wayfold.graph import csr_kernels

# Edges handled at a time: large enough to hide the call, small enough that copies do not count.
_BLOCK = 1 << 20
_MOST_NODES = np.iinfo(np.int32).max

Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | None, NDArray[np.uint8] | None]


def check_points(points: ArrayLike) -> NDArray[np.float64]:
    """Node positions as the graph stores them, in an array of its own."""
    array = checks.numbers(points, "points", "numbers of shape (n, 2) or (n, 3)")
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise ParameterError(f"points must have shape (n, 2) or (n, 3), not {array.shape}")
    if not 0 < len(array) <= _MOST_NODES:
        raise ParameterError(f"a graph has from 1 to {_MOST_NODES} nodes, not {len(array)}")
    where = np.zeros((len(array), 3))
    where[:, : array.shape[1]] = array
    _check_places(where)
    return where


def _check_places(points: NDArray[np.float64]) -> None:
    """Refuse positions that are not finite or too large; NaN fails both comparisons."""
    if points.min() >= -checks.LARGEST and points.max() <= checks.LARGEST:
        return
    node = int(np.argmin((np.abs(points) <= checks.LARGEST).all(axis=1)))
    what = f"lies beyond {checks.LARGEST:g} m" if np.isfinite(points[node]).all() else "is not finite"
    raise GeometryError(f"points[{node}] {what}: {points[node].tolist()}")


def rows_from_edges(
    nodes: int, edges: ArrayLike, costs: ArrayLike | None, motions: ArrayLike | None, directed: bool
) -> Rows:
    """Compressed rows of an edge list: count, fill, sort."""
    pairs = checks.numbers(edges, "edges", "pairs of node numbers of shape (m, 2)")
    if pairs.size == 0:
        pairs = np.empty((0, 2), np.int32)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ParameterError(f"edges must have shape (m, 2), not {pairs.shape}")
    if pairs.dtype.kind not in "iu":
        raise ParameterError(f"edges must be whole node numbers, not {pairs.dtype}")
    price = None if costs is None else _column(costs, len(pairs), "costs", "iuf")
    kinds = None if motions is None else _column(motions, len(pairs), "motions", "iu")
    counts = np.zeros(nodes + 1, np.int64)
    for block in _blocks(len(pairs)):
        csr_kernels.count_block(_edge_block(pairs, block, nodes), directed, counts[:-1])
        if price is not None:
            checks.costs(price[block], first=block.start)
        _check_motions(kinds, block)
    size = int(counts.sum())
    # counts becomes the first free slot of each row, and after filling the end of each row: the offsets.
    np.cumsum(counts[:-1], out=counts[1:])
    counts[0] = 0
    out_targets = np.empty(size, np.int32)
    out_costs = np.empty(0 if price is None else size, np.float32)
    out_motions = np.empty(0 if kinds is None else size, np.uint8)
    cursor = counts[:-1].copy()
    for block in _blocks(len(pairs)):
        csr_kernels.fill_block(
            _edge_block(pairs, block, nodes),
            np.empty(0, np.float32) if price is None else np.ascontiguousarray(price[block], np.float32),
            np.empty(0, np.uint8) if kinds is None else np.ascontiguousarray(kinds[block], np.uint8),
            directed,
            cursor,
            out_targets,
            out_costs,
            out_motions,
        )
    csr_kernels.sort_rows(counts, out_targets, out_costs, out_motions)
    return counts, out_targets, None if price is None else out_costs, None if kinds is None else out_motions


def _blocks(count: int) -> list[slice]:
    return [slice(first, first + _BLOCK) for first in range(0, count, _BLOCK)]


def _column(values: ArrayLike, count: int, name: str, kinds: str) -> NDArray[Any]:
    array = checks.numbers(values, name)
    if array.shape != (count,):
        raise ParameterError(f"{name} must hold one value for each of the {count} edges, not shape {array.shape}")
    if count and array.dtype.kind not in kinds:
        raise ParameterError(f"{name} must be {'whole ' if 'f' not in kinds else ''}numbers, not {array.dtype}")
    return array


def _edge_block(pairs: NDArray[Any], block: slice, nodes: int) -> NDArray[np.int32]:
    part = pairs[block]
    bad = (part < 0) | (part >= nodes)
    if bad.any():
        edge = int(np.argmax(bad.any(axis=1)))
        raise ParameterError(
            f"edges[{block.start + edge}] names a node outside 0 to {nodes - 1}: {part[edge].tolist()}"
        )
    return np.ascontiguousarray(part, np.int32)


def _check_motions(motions: NDArray[Any] | None, block: slice) -> None:
    if motions is None:
        return
    bad = (motions[block] < 1) | (motions[block] > int(ALL_MOTIONS))
    if bad.any():
        edge = block.start + int(np.argmax(bad))
        raise ParameterError(f"motions[{edge}] must be Motion bits from 1 to {int(ALL_MOTIONS)}, not {motions[edge]}")


def check_rows(
    points: NDArray[Any],
    offsets: NDArray[Any],
    targets: NDArray[Any],
    costs: NDArray[Any] | None,
    motions: NDArray[Any] | None,
) -> None:
    """Refuse rows that a kernel could read beyond, and costs that no search may see; the arrays stay as they are."""
    given = {"points": points, "offsets": offsets, "targets": targets, "costs": costs, "motions": motions}
    kinds = {"points": np.float64, "offsets": np.int64, "targets": np.int32, "costs": np.float32, "motions": np.uint8}
    for name, array in given.items():
        if array is None and name in ("costs", "motions"):
            continue
        if not isinstance(array, np.ndarray) or array.dtype != kinds[name] or not array.flags.c_contiguous:
            raise ParameterError(
                f"{name} must be a C-contiguous {np.dtype(kinds[name])} array, not {checks.shown(array)}"
            )
    if points.ndim != 2 or points.shape[1] != 3 or not len(points):
        raise ParameterError(f"points must have shape (n, 3) with at least one node, not {points.shape}")
    if offsets.shape != (len(points) + 1,) or targets.ndim != 1:
        raise ParameterError(f"offsets must have shape ({len(points) + 1},), not {offsets.shape}")
    for name in ("costs", "motions"):
        column = given[name]
        if column is not None and column.shape != targets.shape:
            raise ParameterError(f"{name} must have shape {targets.shape}, not {column.shape}")
    if offsets[0] != 0 or offsets[-1] != targets.size or (np.diff(offsets) < 0).any():
        raise ParameterError(f"offsets must rise from 0 to the number of edges, {targets.size}")
    if targets.size and (targets.min() < 0 or targets.max() >= len(points)):
        raise ParameterError(f"targets must be nodes from 0 to {len(points) - 1}")
    _check_places(points)
    if costs is not None:
        checks.costs(costs)


def cost_scale(
    offsets: NDArray[np.int64], targets: NDArray[np.int32], costs: NDArray[np.float32], points: NDArray[np.float64]
) -> float:
    """Lowest cost per metre of any edge, which makes the straight distance a lower bound."""
    return float(csr_kernels.cost_scale(offsets, targets, costs, points))


def turn_round(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    costs: NDArray[np.float32] | None,
    motions: NDArray[np.uint8] | None,
) -> Rows:
    """Rows of the graph with every edge reversed."""
    counts = np.bincount(targets, minlength=offsets.size - 1)
    starts = offsets_of(counts)
    price = np.empty(0, np.float32) if costs is None else costs
    kinds = np.empty(0, np.uint8) if motions is None else motions
    out_targets, out_costs, out_motions = np.empty_like(targets), np.empty_like(price), np.empty_like(kinds)
    csr_kernels.turn_round(offsets, targets, price, kinds, starts[:-1].copy(), out_targets, out_costs, out_motions)
    return starts, out_targets, None if costs is None else out_costs, None if motions is None else out_motions


def label_filter(nodes: int, labels: NDArray[Any], allowed: ArrayLike) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """The filter of the filtered A*: a label for each node, and for each label whether it is allowed."""
    by_node = checks.numbers(labels, "labels")
    if by_node.shape != (nodes,) or by_node.dtype.kind not in "iu":
        raise ParameterError(f"labels must be one whole number for each of the {nodes} nodes, not {by_node.shape}")
    if by_node.min() < 0:
        raise ParameterError(f"labels must be at least 0, not {by_node.min()}")
    count = int(by_node.max()) + 1
    if by_node.dtype not in (np.uint16, np.int32):
        by_node = by_node.astype(np.uint16 if count <= 1 << 16 else np.int32)
    chosen = checks.numbers(allowed, "allowed", "a list of labels, or one truth value for each label", bools=True)
    if chosen.size == 0:
        chosen = chosen.astype(np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "biu":
        raise ParameterError("allowed must be a list of labels, or one truth value for each label")
    mask = np.zeros(count, np.uint8)
    if chosen.dtype.kind == "b":
        if chosen.size < count:
            raise ParameterError(f"allowed has {chosen.size} truth values, but there are {count} labels")
        mask[:] = chosen[:count]
    else:
        if chosen.size and chosen.min() < 0:
            raise ParameterError(f"allowed names a label below 0: {chosen.min()}")
        mask[chosen[chosen < count]] = 1
    return np.ascontiguousarray(by_node), mask
