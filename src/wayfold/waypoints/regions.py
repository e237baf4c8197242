"""Regions: the boxes that space is cut into (Wardhana et al. 2015, sections 3 and 5.3), uniform or adaptive.

A point inside one box is local to it. A point on the face between two boxes belongs to both; where more than two boxes
meet (on an edge or a corner of the grid), it belongs to the box above it and to the one below across the first axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.core import checks
from wayfold.core.arrays import offsets_of
from wayfold.errors import ParameterError

Boxes = NDArray[np.float64]
Pairs = NDArray[np.int32]
_MOST_REGIONS = 1 << 26


@dataclass(frozen=True)
class Regions:
    """A cut of space into boxes, and the boxes of each waypoint.

    Attributes
    ----------
    boxes : (k, 6) float64, metres
        Low corner, then high corner of each region.
    of : (n, 2) int32
        Regions of each waypoint; the second is -1 for a local waypoint.
    shape : (3,) tuple of int, or None
        Regions along x, y and z of a uniform cut; None for an adaptive one.
    offsets : (k + 1,) int64
        The waypoints of region r are ``members[offsets[r]:offsets[r + 1]]``.
    members : (t,) int32
        Waypoints by region, ascending; a boundary waypoint stands in both of its regions.
    """

    boxes: Boxes
    of: Pairs
    shape: tuple[int, int, int] | None
    offsets: NDArray[np.int64]
    members: NDArray[np.int32]

    @classmethod
    def from_pairs(cls, boxes: Boxes, of: Pairs, shape: tuple[int, int, int] | None) -> Regions:
        """Regions whose waypoints are known."""
        count = len(boxes)
        nodes = np.arange(len(of), dtype=np.int32)
        second = of[:, 1] >= 0
        owners = np.concatenate([of[:, 0], of[second, 1]])
        listed = np.concatenate([nodes, nodes[second]])
        order = np.lexsort((listed, owners))
        sizes = np.bincount(owners, minlength=count)
        offsets = offsets_of(sizes)
        return cls(boxes, of, shape, offsets, np.ascontiguousarray(listed[order]))

    def waypoints_in(self, regions: NDArray[np.int64]) -> NDArray[np.int32]:
        """The waypoints of some regions, one region after the other; those of several stand in each."""
        parts = [self.members[self.offsets[region] : self.offsets[region + 1]] for region in regions]
        return np.concatenate([np.empty(0, np.int32), *parts])

    def __len__(self) -> int:
        return len(self.boxes)


def uniform(points: NDArray[np.float64], shape: tuple[int, int, int]) -> Regions:
    """The bounding box of the points cut into rx x ry x rz regions (Wardhana et al. 2015, section 5.3)."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = np.where(high > low, high - low, 1.0) / shape
    return uniform_boxes(points, low, size, shape)


def uniform_boxes(
    points: NDArray[np.float64], low: NDArray[np.float64], size: NDArray[np.float64], shape: tuple[int, int, int]
) -> Regions:
    """Regions of one size from a low corner; points on an inner face belong to both sides."""
    most = np.array(shape) - 1
    planes = [low[d] + size[d] * np.arange(shape[d] + 1) for d in range(3)]
    cell = np.stack([np.searchsorted(planes[d], points[:, d], side="right") - 1 for d in range(3)], axis=1)
    cell = np.clip(cell, 0, most)
    first = _number(cell, shape)
    second = np.full(len(points), -1, np.int64)
    for d in (2, 1, 0):
        on_face = (cell[:, d] > 0) & (points[:, d] == planes[d][cell[:, d]])
        below = cell.copy()
        below[:, d] -= 1
        second[on_face] = _number(below, shape)[on_face]
    return Regions.from_pairs(grid_boxes(low, size, shape), _pairs(first, second), shape)


def grid_boxes(low: NDArray[np.float64], size: NDArray[np.float64], shape: tuple[int, int, int]) -> Boxes:
    """The boxes of a uniform cut, x slowest."""
    cells = np.stack(np.meshgrid(*(np.arange(n) for n in shape), indexing="ij"), axis=-1).reshape(-1, 3)
    return np.concatenate([low + size * cells, low + size * (cells + 1)], axis=1)


def adaptive(points: NDArray[np.float64], most: int) -> Regions:
    """An octree with at most `most` points a leaf (Wardhana et al. 2015, section 8), unless they lie in one place."""
    low, high = points.min(axis=0), points.max(axis=0)
    side = float((high - low).max()) or 1.0
    least = side * 2.0**-20  # points closer together than that may stay in one leaf
    first = np.zeros(len(points), np.int64)
    second = np.full(len(points), -1, np.int64)
    boxes: list[NDArray[np.float64]] = []
    # Each entry: a cube, the points inside it, and the points that touch it from the other side of a face.
    waiting = [(low, side, np.arange(len(points)), np.empty(0, np.int64))]
    while waiting:
        corner, side, inside, touching = waiting.pop()
        if len(inside) <= most or side < least:
            first[inside] = len(boxes)
            fresh = touching[second[touching] < 0]
            second[fresh] = len(boxes)
            boxes.append(np.concatenate([corner, corner + side]))
            continue
        middle = corner + side / 2
        octant = (points[inside] >= middle) @ np.array([1, 2, 4])
        for child in range(8):
            bits = np.array([child & 1, child >> 1 & 1, child >> 2 & 1])
            own = inside[octant == child]
            across = _touching(points, np.concatenate([inside, touching]), middle, bits, own)
            waiting.append((np.where(bits, middle, corner), side / 2, own, across))
    return Regions.from_pairs(np.array(boxes), _pairs(first, second), None)


def _touching(
    points: NDArray[np.float64],
    among: NDArray[np.int64],
    middle: NDArray[np.float64],
    bits: NDArray[np.int64],
    own: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Points of `among` that touch an octant without being its own: on its low or high side of the middle planes."""
    where = points[among]
    fits = np.where(bits, where >= middle, where <= middle).all(axis=1)
    return np.setdiff1d(among[fits], own)


def _number(cell: NDArray[np.int64], shape: tuple[int, int, int]) -> NDArray[np.int64]:
    return np.asarray((cell[:, 0] * shape[1] + cell[:, 1]) * shape[2] + cell[:, 2])


def _pairs(first: NDArray[np.int64], second: NDArray[np.int64]) -> Pairs:
    return np.ascontiguousarray(np.column_stack([first, second]).astype(np.int32))


def usual_shape(points: NDArray[np.float64]) -> tuple[int, int, int]:
    """Cubes that hold about 70 points each, as in the paper's graphs, counting only cubes that hold any."""
    extent = np.maximum(np.ptp(points, axis=0), 1e-9)
    wanted = max(1, len(points) // 70)
    side = float(extent.max())
    shape = np.ones(3, np.int64)
    while True:
        shape = np.maximum(1, np.ceil(extent / side)).astype(np.int64)
        if int(shape.prod()) >= _MOST_REGIONS // 8:
            break
        cells = np.minimum((points - points.min(axis=0)) / (extent / shape), shape - 1).astype(np.int64)
        filled = len(np.unique((cells[:, 0] * shape[1] + cells[:, 1]) * shape[2] + cells[:, 2]))
        if filled >= wanted:
            break
        side /= 1.25
    return int(shape[0]), int(shape[1]), int(shape[2])


def check_shape(regions: Any) -> tuple[int, int, int]:
    """Numbers of regions along each axis that a user gave."""
    try:
        rx, ry, rz = regions
    except (TypeError, ValueError):
        raise ParameterError(f"regions must be three whole numbers (rx, ry, rz), not {checks.shown(regions)}") from None
    shape = tuple(checks.whole(number, "regions", low=1, high=1 << 20) for number in (rx, ry, rz))
    if shape[0] * shape[1] * shape[2] > _MOST_REGIONS:
        raise ParameterError(f"at most {_MOST_REGIONS} regions, not {shape[0] * shape[1] * shape[2]}")
    return shape[0], shape[1], shape[2]
