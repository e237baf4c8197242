"""Gateways: the segments of border that two regions share (paper 004, "common gateways")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Gateways:
    """Gateways in arrays; gateway g joins regions ``pairs[g]``, and the first of them lies to the left of its segment.

    Attributes
    ----------
    pairs : (g, 2) int32 array
    segments : (g, 4) float64 array
        ax, ay, bx, by
    edges : (g, 2) int64 array
        The edge of each of the two regions that the gateway lies on: the number of the corner where it begins.
    """

    pairs: NDArray[np.int32]
    segments: Floats
    edges: NDArray[np.int64]

    @property
    def midpoints(self) -> Floats:
        """Middle of each gateway, (g, 2)."""
        return 0.5 * (self.segments[:, :2] + self.segments[:, 2:])

    @property
    def widths(self) -> Floats:
        """Length of each gateway, (g,), metres."""
        return np.asarray(np.hypot(*(self.segments[:, 2:] - self.segments[:, :2]).T))

    def __len__(self) -> int:
        return len(self.pairs)


def find(
    corners: Floats,
    offsets: NDArray[np.int64],
    levels: NDArray[np.int32],
    meets: NDArray[np.bool_],
    least: float,
    near: float,
) -> Gateways:
    """All gateways between convex regions that do not overlap.

    Parameters
    ----------
    corners, offsets
        Corners of the regions in compressed rows, counter-clockwise.
    levels : (r,) int32 array
        The floor or transition area that each region lies in.
    meets : (l, l) bool array
        Which levels may share gateways.
    least : float, metres
        Shorter borders are no gateways.
    near : float, metres
        How far two edges may lie apart and still be the same border.
    """
    if len(corners) == 0:
        return Gateways(np.empty((0, 2), np.int32), np.empty((0, 4)), np.empty((0, 2), np.int64))
    counts = np.diff(offsets)
    owner = np.repeat(np.arange(len(counts)), counts)
    following = np.arange(1, len(corners) + 1)
    following[offsets[1:] - 1] = offsets[:-1]
    begin, end = corners, corners[following]
    lines = shapely.linestrings(np.stack([begin, end], axis=1))
    tree = shapely.STRtree(lines)
    low, high = np.minimum(begin, end) - near, np.maximum(begin, end) + near
    i, j = tree.query(shapely.box(low[:, 0], low[:, 1], high[:, 0], high[:, 1]))
    mine = (owner[i] < owner[j]) & meets[levels[owner[i]], levels[owner[j]]]
    i, j = i[mine], j[mine]
    along = end[i] - begin[i]
    length = np.hypot(*along.T)
    along = along / length[:, None]
    across = np.column_stack([-along[:, 1], along[:, 0]])
    # In the frame of edge i, the other edge runs backwards from (t0, d0) to (t1, d1).
    t0, d0 = ((begin[j] - begin[i]) * along).sum(axis=1), ((begin[j] - begin[i]) * across).sum(axis=1)
    t1, d1 = ((end[j] - begin[i]) * along).sum(axis=1), ((end[j] - begin[i]) * across).sum(axis=1)
    first, last = np.maximum(t1, 0.0), np.minimum(t0, length)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (d1 - d0) / (t1 - t0)
        apart = np.maximum(np.abs(d0 + (first - t0) * slope), np.abs(d0 + (last - t0) * slope))
        shared = (last - first > least) & (apart <= near)
    i, j, first, last, along = i[shared], j[shared], first[shared], last[shared], along[shared]
    pairs = np.column_stack([owner[i], owner[j]]).astype(np.int32)
    segments = np.hstack([begin[i] + first[:, None] * along, begin[i] + last[:, None] * along])
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    edges = np.column_stack([i, j]).astype(np.int64)
    return Gateways(pairs[order], np.ascontiguousarray(segments[order]), edges[order])
