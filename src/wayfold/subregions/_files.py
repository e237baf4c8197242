"""Subregion graphs in `.wayfold` files: as small as they can be, and sure of the waypoint graph they belong to."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from wayfold import _archive
from wayfold.agent import Motion, check_motions
from wayfold.errors import FormatError, WayfoldError
from wayfold.subregions._build import COSTS, Abstraction
from wayfold.waypoints import WaypointGraph

if TYPE_CHECKING:
    from wayfold.subregions.subregions import SubregionGraph

_KIND = "subregion-graph"


def fingerprint(waypoints: WaypointGraph) -> str:
    """A number that two waypoint graphs share only when their waypoints and regions are the same."""
    digest = hashlib.sha256()
    for array in (waypoints.graph.points, waypoints.graph.offsets, waypoints.layout.of):
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()


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
            np.ascontiguousarray(arrays["centroids"], np.float32),
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
    if cost not in COSTS or not isinstance(seed, int) or not isinstance(belongs, str):
        raise FormatError("cost, seed or fingerprint are not what they should be", file)
    return motions, cost, seed, parts
