"""Gateways: the segments of border that two regions share (paper 004, "common gateways")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold.core.arrays import distinct

if TYPE_CHECKING:
    from wayfold.floorplan.decomposition import Decomposition

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Gateways:
    """Gateways in arrays; gateway g joins regions ``pairs[g]``, and the first of them lies to the left of its segment.

    Attributes
    ----------
    pairs : (g, 2) int32 array
    segments : (g, 4) float64 array
        ax, ay, bx, by. Gateways that end at the same corner have the same coordinates there, to the last digit.
    local : (g, 4) float64 array
        The segments relative to the frame of the decomposition.
    """

    pairs: NDArray[np.int32]
    segments: Floats
    local: Floats

    @property
    def midpoints(self) -> Floats:
        """Middle of each gateway, (g, 2)."""
        return 0.5 * (self.segments[:, :2] + self.segments[:, 2:])

    @property
    def widths(self) -> Floats:
        """Length of each gateway, (g,), metres."""
        return np.asarray(np.hypot(*(self.local[:, 2:] - self.local[:, :2]).T))

    def __len__(self) -> int:
        return len(self.pairs)


class Contacts(NamedTuple):
    """Where edges of two regions run along each other; a border with a corner in its middle is two contacts."""

    pairs: NDArray[np.int32]
    """(k, 2), the regions."""
    segments: Floats
    """(k, 4), local; the first region lies to the left."""
    edges: NDArray[np.int64]
    """(k, 2), the edge of each region: the number of the corner where it begins."""
    slack: Floats
    """(k,), how far the two edges may lie apart."""


def contacts(cut: Decomposition) -> Contacts:
    """The contacts within each level, and those over the passages between levels."""
    near = cut.border_rounding
    found = [_find(cut.local_corners, cut.offsets, cut.region_levels, None, near, near)]
    slack = max(near, cut.slack)
    for passage in cut.passages:
        wanted = passage.floor, passage.transition
        # Corners that differ by the slack make no gateway.
        both = _find(cut.local_corners, cut.offsets, cut.region_levels, wanted, 4.0 * cut.slack, slack)
        found.append(both if passage.mouth is None else _within(both, passage.mouth, 4.0 * slack))
    pairs = np.concatenate([part.pairs for part in found])
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    parts = (np.concatenate([part[k] for part in found])[order] for k in range(4))
    return Contacts(*parts)


class Ends(NamedTuple):
    """The vertices that gateways begin and end at."""

    pairs: NDArray[np.int32]
    numbers: NDArray[np.int64]


def merged(pairs: NDArray[np.int32], vertices: Floats, ends: NDArray[np.int64], least: float) -> Ends:
    """One gateway for each pair of regions whose contacts, from end to end, are longer than `least`.

    Parameters
    ----------
    pairs : (k, 2) int32 array
        Regions of each contact.
    vertices : (n, 2) array
    ends : (k, 2) int64 array
        The vertices that contacts begin and end at.
    """
    if not len(pairs):
        return Ends(pairs, ends)
    different, _, group, _ = distinct(pairs)
    begin, end = vertices[ends[:, 0]], vertices[ends[:, 1]]

    def last_of(values: Floats) -> NDArray[np.int64]:
        """The contact with the largest value, for each pair."""
        order = np.lexsort((values, group))
        return np.asarray(order[np.append(np.flatnonzero(np.diff(group[order])), len(order) - 1)])

    # Two convex regions touch along one line: from the first end of a contact to the last.
    longest = last_of(np.hypot(*(end - begin).T))[group]
    along, origin = (end - begin)[longest], begin[longest]
    lowest = last_of(-((begin - origin) * along).sum(axis=1))
    highest = last_of(((end - origin) * along).sum(axis=1))
    numbers = np.column_stack([ends[lowest, 0], ends[highest, 1]])
    wide = np.hypot(*(vertices[numbers[:, 1]] - vertices[numbers[:, 0]]).T) > least
    return Ends(different[wide], numbers[wide])


def _within(gateways: Contacts, mouth: Floats, near: float) -> Contacts:
    """Contacts cut down to the longest part of each that lies along the segments of a mouth."""
    kept, segments = [], []
    for number, (ax, ay, bx, by) in enumerate(gateways.segments.tolist()):
        length = float(np.hypot(bx - ax, by - ay))
        along = np.array([bx - ax, by - ay]) / length
        away = mouth.reshape(-1, 2, 2) - (ax, ay)
        t = away @ along
        aside = np.abs(away @ np.array([-along[1], along[0]])).max(axis=1)
        parts = np.sort(t[aside <= near], axis=1).clip(0.0, length)
        begin = end = best_begin = best_end = 0.0
        for low, high in parts[np.argsort(parts[:, 0])].tolist():
            if low > end + near:
                begin = low
            end = max(end, high)
            if end - begin > best_end - best_begin:
                best_begin, best_end = begin, end
        if best_end - best_begin > near:
            kept.append(number)
            start = np.array([ax, ay])
            segments.append(np.concatenate([start + best_begin * along, start + best_end * along]))
    cut = np.array(segments).reshape(-1, 4)
    return Contacts(gateways.pairs[kept], cut, gateways.edges[kept], gateways.slack[kept])


def _find(
    corners: Floats,
    offsets: NDArray[np.int64],
    levels: NDArray[np.int32],
    between: tuple[int, int] | None,
    least: float,
    near: float,
) -> Contacts:
    """The contacts between convex regions that do not overlap.

    Parameters
    ----------
    corners, offsets
        Corners of the regions in compressed rows, counter-clockwise.
    levels : (r,) int32 array
        The floor or transition area that each region lies in.
    between : two levels, optional
        Only between regions of these; within each level by default.
    least : float, metres
        Shorter ones are none.
    near : float, metres
        How far two edges may lie apart and still be the same border.
    """
    if len(corners) == 0:
        return Contacts(np.empty((0, 2), np.int32), np.empty((0, 4)), np.empty((0, 2), np.int64), np.empty(0))
    counts = np.diff(offsets)
    owner = np.repeat(np.arange(len(counts)), counts)
    following = np.arange(1, len(corners) + 1)
    following[offsets[1:] - 1] = offsets[:-1]
    begin, end = corners, corners[following]
    lines = shapely.linestrings(np.stack([begin, end], axis=1))
    tree = shapely.STRtree(lines)
    low, high = np.minimum(begin, end) - near, np.maximum(begin, end) + near
    i, j = tree.query(shapely.box(low[:, 0], low[:, 1], high[:, 0], high[:, 1]))
    here, there = levels[owner[i]], levels[owner[j]]
    # Regions are numbered by level, so the lower level of two has the lower region.
    mine = (here == there) if between is None else (here == min(between)) & (there == max(between))
    mine &= owner[i] < owner[j]
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
    return Contacts(pairs[order], segments[order], edges[order], np.full(len(pairs), near))
