"""Shortcuts: corners of a path that a straight walk over open ground can do without."""

from __future__ import annotations

import numpy as np

from wayfold.navmesh import _ground_kernels
from wayfold.navmesh.places import Points, Version, find
from wayfold.navmesh.state import Rates
from wayfold.path import Path

_AHEAD = 16  # corners that are tried at most, so that a path of many takes no longer for each
_ROOM = 1024  # pieces that one straight walk may branch into at vertices; one that needs more is not taken
_NEAR = 1e-3  # metres between the end of a walk and the corner that it was meant for: else it is on another floor


def straightened(now: Version, rates: Rates, path: Path) -> Path:
    """A path on a mesh without the corners that a straight walk from an earlier one passes by.

    It is never longer. Where kinds of area cost differently, or where there are links, which a straight line would
    leave, it stays as it is.
    """
    state, points = now.state, path.points
    if len(points) < 3 or not rates.even or len(state.links.costs):
        return path
    polygons, places, _ = find(now, points, None, None, shut=state.shut(rates.closed))
    plane = state.plane(rates.closed)
    rows = state.surround(polygons, places, rates.closed)
    pieces = np.array([row[0] if len(row) else 0 for row in rows], np.int32)
    starts = np.ascontiguousarray(rows[0] if len(rows[0]) else pieces[:1])
    kept = np.empty(len(points), np.int64)
    count = _ground_kernels.shortcuts(
        state.ground, plane, starts, pieces, state.frame.local(points), _AHEAD, _NEAR, state.layout.near,
        np.empty(_ROOM, np.int32), kept,
    )  # fmt: skip
    line = points[kept[:count]]
    cost = rates.lowest * _across(line)
    return Path(path.status, line, cost=cost, expanded=path.expanded, timings=path.timings)


def _across(points: Points) -> float:
    """Length seen from above, which is what a metre of ground is counted by."""
    return float(np.hypot(*np.diff(points[:, :2], axis=0).T).sum())
