"""Subregion graphs in `.wayfold` files: as small as they can be, and sure of the waypoint graph they belong to."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfold import _archive, _check
from wayfold.agent import ALL_MOTIONS, Motion, check_motions
from wayfold.errors import FormatError, WayfoldError
from wayfold.subregions._build import COSTS, Abstraction
from wayfold.waypoints import WaypointGraph

if TYPE_CHECKING:
    from wayfold.subregions.subregions import SubregionGraph

_KIND = "subregion-graph"
_EDGES_TOO = "edges-"  # begins fingerprints of whole graphs; older ones left out where edges lead and what they cost


def fingerprint(waypoints: WaypointGraph) -> str:
    """A text that two waypoint graphs share only when their waypoints, regions and edges are the same.

    Edges are the same when they lead to the same waypoints for the same motions at the same costs; the spare slots that
    edits leave in the rows do not count, nor does the order of edges within a row.
    """
    graph = waypoints.graph
    sources = np.repeat(np.arange(graph.num_nodes, dtype=np.int32), np.diff(graph.offsets))
    every = np.uint8(ALL_MOTIONS)
    motions = np.full(graph.targets.size, every) if graph.motions is None else graph.motions
    costs = np.zeros(0, np.float32) if graph.costs is None else graph.costs
    columns: list[NDArray[Any]] = (
        [sources, graph.targets, motions, costs] if costs.size else [sources, graph.targets, motions]
    )
    if (motions == 0).any():
        columns = [column[motions > 0] for column in columns]
    if not _ascending(columns):
        order = np.lexsort(columns[::-1])
        columns = [column[order] for column in columns]
    digest = hashlib.sha256(b"lengths" if graph.costs is None else b"costs")
    for array in (graph.points, waypoints.layout.of, *columns):
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return _EDGES_TOO + digest.hexdigest()


def _ascending(columns: list[NDArray[Any]]) -> bool:
    """Whether rows of several columns stand in order, the first column before the second."""
    undecided = np.ones(max(len(columns[0]) - 1, 0), np.bool_)
    for column in columns:
        if (undecided & (column[1:] < column[:-1])).any():
            return False
        undecided &= column[1:] == column[:-1]
    return True


def notes_edges(text: str | None) -> bool:
    """Whether a fingerprint is one of a whole graph."""
    return text is not None and text.startswith(_EDGES_TOO)


def save(subregions: SubregionGraph, file: str | os.PathLike[str]) -> None:
    """See `SubregionGraph.save`."""
    parts = subregions.abstraction()
    if parts.fingerprint is None and subregions.waypoints is not None:
        parts.fingerprint = fingerprint(subregions.waypoints)
    number = np.uint16 if parts.labels.dtype == np.uint16 else np.int32
    arrays: dict[str, Any] = {
        "labels": parts.labels,
        "centroids": parts.centroids,
        "homes": parts.homes,
        "pairs": parts.pairs.astype(number),
        "lengths": parts.lengths,
        "counts": parts.counts.astype(np.uint32),
    }
    meta = {
        "motions": int(subregions.motions),
        "cost": subregions.cost,
        "seed": subregions.seed,
        "waypoints": parts.fingerprint,
    }
    _archive.write_archive(file, _KIND, arrays, meta)


def load(file: str | os.PathLike[str]) -> tuple[Motion, str, int, Abstraction]:
    """What `SubregionGraph` is made of, checked."""
    archive = _archive.read_archive(file, _KIND)
    try:
        motions = check_motions(archive.meta["motions"])
        cost, seed, belongs = archive.meta["cost"], archive.meta["seed"], archive.meta["waypoints"]
        arrays = archive.arrays
        parts = Abstraction(
            arrays["labels"],
            np.ascontiguousarray(arrays["homes"], np.int32),
            np.ascontiguousarray(arrays["centroids"], np.float64),
            np.ascontiguousarray(arrays["pairs"], np.int32).reshape(-1, 2),
            np.ascontiguousarray(arrays["lengths"], np.float32).reshape(-1, 3),
            np.ascontiguousarray(arrays["counts"], np.int64),
            belongs,
        )
    except KeyError as error:
        raise FormatError(f"the archive has no {error}", file) from None
    except WayfoldError as error:
        raise FormatError(str(error), file) from None
    labels = parts.labels
    if labels.dtype not in (np.uint16, np.int32) or labels.ndim != 1:
        raise FormatError("the labels are not what they should be", file)
    known = labels[labels != np.iinfo(labels.dtype).max]
    if known.size and not 0 <= known.min() <= known.max() < parts.count:
        raise FormatError("a label names a subregion that is not there", file)
    alike = len(parts.pairs) == len(parts.lengths) == len(parts.counts) and len(parts.homes) == len(parts.centroids)
    if not alike or (parts.pairs.size and not 0 <= parts.pairs.min() <= parts.pairs.max() < parts.count):
        raise FormatError("a connection names a subregion that is not there", file)
    try:
        _check.costs(parts.lengths.ravel(), "lengths")
    except WayfoldError as error:
        raise FormatError(str(error), file) from None
    if cost not in COSTS or not isinstance(seed, int) or not isinstance(belongs, str):
        raise FormatError("cost, seed or fingerprint are not what they should be", file)
    return motions, cost, seed, parts
