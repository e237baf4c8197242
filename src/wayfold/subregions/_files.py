"""Subregion graphs in `.wayfold` files: as small as they can be, and sure of the waypoint graph they belong to."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import ALL_MOTIONS, Motion
from wayfold.core import checks
from wayfold.core.schema import Array, Parts, Schema, Value
from wayfold.subregions._build import COSTS, Abstraction
from wayfold.waypoints import WaypointGraph

if TYPE_CHECKING:
    from wayfold.subregions.subregions import SubregionGraph

_SubregionGraph = TypeVar("_SubregionGraph", bound="SubregionGraph")


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
    return digest.hexdigest()


def _ascending(columns: list[NDArray[Any]]) -> bool:
    """Whether rows of several columns stand in order, the first column before the second."""
    undecided = np.ones(max(len(columns[0]) - 1, 0), np.bool_)
    for column in columns:
        if (undecided & (column[1:] < column[:-1])).any():
            return False
        undecided &= column[1:] == column[:-1]
    return True


def labels_fit(parts: Parts) -> None:
    """Labels are subregions, or the highest number of the dtype for none; every subregion has a waypoint."""
    labels, count = parts.arrays["labels"], len(parts.arrays["homes"])
    known = labels[labels != np.iinfo(labels.dtype).max]
    if known.size and not 0 <= known.min() <= known.max() < count:
        raise ValueError("a label names a subregion that is not there")
    if not np.bincount(known, minlength=count).all():
        raise ValueError("a subregion has no waypoint")


def pairs_ascend(parts: Parts) -> None:
    """Connections stand in ascending order, each once and the lower subregion first; of the lengths too."""
    pairs, lengths = parts.arrays["pairs"].astype(np.int64), parts.arrays["lengths"]
    numbers = pairs[:, 0] << 32 | pairs[:, 1]
    if (pairs[:, 0] >= pairs[:, 1]).any() or (numbers[1:] <= numbers[:-1]).any():
        raise ValueError("a connection is there twice, or the connections are not in order")
    if (lengths[:, 0] > lengths[:, 2]).any():
        raise ValueError("the shortest edge of a connection is longer than its longest")


SCHEMA = Schema(
    "subregion-graph",
    {
        "labels": Array("uint16|int32", ("waypoints",), "subregion of each waypoint"),
        "homes": Array("int32", ("subregions",), "region of each subregion", 0),
        "centroids": Array("float64", ("subregions", 3), "middles, metres", -checks.LARGEST, checks.LARGEST),
        "pairs": Array("uint16|int32", ("connections", 2), "subregions that are connected", refers="subregions"),
        "lengths": Array(
            "float32", ("connections", 3), "shortest, average and longest edge", 0.0, checks.LARGEST_COST, finite=False
        ),
        "counts": Array("uint32", ("connections",), "edges between the two", 1),
    },
    {
        "motions": Value(int, "Motion bits of the character", 1, int(ALL_MOTIONS)),
        "cost": Value(str, "cost scheme of the connections", among=COSTS),
        "seed": Value(int, "processing order", 0, 2**63 - 1),
        "waypoints": Value(str, "fingerprint of the waypoint graph"),
    },
    {"waypoints": 1},
    (labels_fit, pairs_ascend),
)


def to_parts(subregions: SubregionGraph) -> Parts:
    """Subregions and labels, without the waypoint graph."""
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
    return Parts(arrays, meta)


def from_parts(kind: type[_SubregionGraph], parts: Parts) -> _SubregionGraph:
    """The subregion graph, without the waypoint graph."""
    arrays, meta = parts.arrays, parts.meta
    found = Abstraction(
        arrays["labels"],
        arrays["homes"],
        arrays["centroids"],
        arrays["pairs"].astype(np.int32),
        arrays["lengths"],
        arrays["counts"].astype(np.int64),
        meta["waypoints"],
    )
    return kind(None, Motion(meta["motions"]), meta["cost"], meta["seed"], found)


def belong(parts: Abstraction, waypoints: WaypointGraph) -> bool:
    """Whether every label is of a subregion in a region of its waypoint; a fingerprint can be copied from elsewhere."""
    if len(parts.labels) != waypoints.num_waypoints or parts.homes.max(initial=-1) >= waypoints.num_regions:
        return False
    known = np.flatnonzero(parts.labels != np.iinfo(parts.labels.dtype).max)
    home = parts.homes[parts.labels[known]]
    return bool((waypoints.layout.of[known] == home[:, None]).any(axis=1).all())
