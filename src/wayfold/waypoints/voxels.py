"""Voxel maps as volumetric waypoint graphs: free space cut into boxes, waypoints in them and in their openings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold import _check
from wayfold._schema import Array, Parts, Schema, Value
from wayfold.agent import Motion
from wayfold.errors import OffMapError, ParameterError
from wayfold.formats import Map3D
from wayfold.graph import Graph
from wayfold.path import Path
from wayfold.waypoints import _voxel_kernels
from wayfold.waypoints.regions import Regions, grid_boxes
from wayfold.waypoints.waypoints import Place, WaypointGraph

_LARGEST_REGION = 1 << 20  # voxels along a side
_OPENINGS = 4  # of a box, in the mean, for which there is room at once
_FULL = 12  # up to so many openings of a box are all joined with each other


def _voxels_fit(parts: Parts) -> None:
    """There are as many bits as voxels, and the last byte is filled with zeros; the graph is built again from them."""
    voxels, packed = math.prod(parts.meta["shape"]), parts.arrays["blocked"]
    if len(packed) != -(-voxels // 8) or (voxels % 8 and packed[-1] & (0xFF >> voxels % 8)):
        raise ValueError(f"there must be a bit for each of {voxels} voxels")


class VoxelSight:
    """Straight lines from a point through free voxels, and to everywhere in the free boxes (k, 6) that it touches."""

    def __init__(self, blocked: NDArray[np.bool_], point: NDArray[np.float64], boxes: NDArray[np.int32]) -> None:
        self._blocked = blocked
        self._from = tuple(point.tolist())
        self._low, self._high = boxes[:, :3] - 0.5, boxes[:, 3:] - 0.5

    def sees(self, position: NDArray[np.float64]) -> bool:
        """Whether the line to a position meets free voxels only."""
        return bool(_voxel_kernels.line_free(self._blocked, self._from, tuple(position.tolist())))

    def meets(self, other: VoxelSight) -> bool:
        """Whether the line to where another one starts meets free voxels only, or stays in one of the boxes."""
        inside = ((self._low <= other._from) & (other._from <= self._high)).all(axis=1).any()
        return bool(inside or _voxel_kernels.line_free(self._blocked, self._from, other._from))

    def furthest(self, positions: NDArray[np.float64], count: int) -> int:
        """The last of the first `count` positions that a free line leads to, -1 for none."""
        return int(_voxel_kernels.furthest_free(self._blocked, self._from, positions, count))


@_check.checked
class VoxelWaypoints(WaypointGraph):
    """A waypoint graph over a voxel map, for characters that fly (`Motion.VOLUMETRIC`).

    Each block of voxels is a region. Its free voxels are cut into boxes; the middle of a box is a local waypoint, and
    so is the middle of every face that two boxes share (a boundary waypoint where they lie in different regions). A
    straight line inside a box is free, so a path exists exactly when one exists from voxel face to voxel face, which is
    what the benchmark's 26 moves come down to. Voxel (x, y, z) has its middle at the point (x, y, z).
    """

    blocked: NDArray[np.bool_]
    numbers: NDArray[np.int32]
    region_size: int
    _boxes: NDArray[np.int32]  # (b, 6) free boxes, by region
    _homes: NDArray[np.int32]  # (b,) the region of each

    @classmethod
    def from_voxels(cls, world: Map3D | ArrayLike, *, region_size: int = 16) -> VoxelWaypoints:
        """Build the graph.

        Parameters
        ----------
        world : Map3D, or (X, Y, Z) array_like of bool
            True where blocked.
        region_size : int, voxels, >= 2
            Side of the regions.
        """
        if isinstance(world, Map3D):
            blocked = world.dense()
        else:
            given = _check.numbers(world, "world", "a Map3D or an (X, Y, Z) array of truth values", bools=True)
            blocked = _check.clean(given.astype(np.bool_, copy=False))
        if blocked.ndim != 3 or blocked.size == 0:
            raise ParameterError(f"a voxel map has three dimensions, not shape {blocked.shape}")
        size = _check.whole(region_size, "region_size", low=2, high=_LARGEST_REGION)
        every = np.arange(np.prod(_regions_along(blocked.shape, size)), dtype=np.int64)
        return cls._assembled(blocked, size, *_boxes(blocked, size, every))

    def rebuilt(self, blocked: NDArray[np.bool_]) -> VoxelWaypoints:
        """The graph after some voxels have changed, array by array that of `from_voxels`; this one stays as it is.

        Only regions with changed voxels are cut into boxes again; the boxes are joined anew.

        Parameters
        ----------
        blocked : (X, Y, Z) bool array
            As large as the present one; it is kept, not copied.

        Raises
        ------
        OffMapError
            When every voxel is blocked.
        """
        given = _check.numbers(blocked, "blocked", "an array of truth values", bools=True)
        if given.shape != self.blocked.shape or given.dtype != np.bool_:
            raise ParameterError(f"the voxels must be bool of shape {self.blocked.shape}, as before")
        blocked = _check.clean(given)
        size = self.region_size
        other = blocked != self.blocked
        layers = np.flatnonzero(other.any(axis=(1, 2)))
        changed = np.argwhere(other[layers])
        changed[:, 0] = layers[changed[:, 0]]
        changed //= size
        shape = _regions_along(blocked.shape, size)
        touched = np.unique((changed[:, 0] * shape[1] + changed[:, 1]) * shape[2] + changed[:, 2])
        fresh, homes = _boxes(blocked, size, touched)
        kept = ~np.isin(self._homes, touched)
        boxes, regions = np.concatenate([self._boxes[kept], fresh]), np.concatenate([self._homes[kept], homes])
        order = np.argsort(regions, kind="stable")
        return type(self)._assembled(blocked, size, np.ascontiguousarray(boxes[order]), regions[order])

    @classmethod
    def _assembled(
        cls, blocked: NDArray[np.bool_], size: int, boxes: NDArray[np.int32], regions: NDArray[np.int32]
    ) -> VoxelWaypoints:
        """The graph of free boxes, which are sorted by region."""
        if not len(boxes):
            raise OffMapError("every voxel is blocked: there is no place for a waypoint")
        shape = _regions_along(blocked.shape, size)
        numbers = np.full(blocked.shape, -1, np.int32)
        _voxel_kernels.box_numbers(boxes, 0, numbers)
        graph, of = _join(boxes, regions, *_openings(boxes, numbers))
        cut = grid_boxes(np.full(3, -0.5), np.full(3, float(size)), shape)
        result = cls(graph, Regions.from_pairs(cut, of, shape))
        result.blocked = blocked
        result.numbers = numbers
        result.region_size = size
        result._boxes = boxes
        result._homes = regions
        return result

    @property
    def default_motions(self) -> Motion:
        """Flying."""
        return Motion.VOLUMETRIC

    def place(self, where: Any, motions: Motion, name: str) -> Place:
        """A start or goal; it enters the graph in the middle of the box that it lies in, to where the way is free.

        A point on a border belongs to every voxel that touches it.

        Raises
        ------
        OffMapError
            When the point lies outside the map, or only in blocked voxels.
        """
        if isinstance(where, (int, np.integer)) and not isinstance(where, bool):
            return super().place(where, motions, name)
        point = _check.point3(where, name)
        first = np.maximum(np.ceil(point - 0.5), 0).astype(np.int64)
        last = np.minimum(np.floor(point + 0.5) + 1, self.blocked.shape).astype(np.int64)
        if (first >= last).any():
            raise OffMapError(f"{name} {point.tolist()} lies outside the map of {self.blocked.shape} voxels")
        numbers = self.numbers[tuple(slice(a, b) for a, b in zip(first, last, strict=True))]
        number = int(numbers.max())
        if number < 0:
            raise OffMapError(f"{name} {point.tolist()} lies in a blocked voxel")
        touched = np.unique(numbers[numbers >= 0])
        return Place(name, point, VoxelSight(self.blocked, point, self._boxes[touched]), number)

    def _smoother(self, motions: Motion) -> Callable[[Path], Path]:
        return self._smooth

    _SCHEMA = Schema(
        "voxel-waypoints",
        {"blocked": Array("uint8", ("bytes",), "whether each voxel is blocked, eight to a byte")},
        {
            "shape": Value(list, "voxels along x, y and z", each=Value(int, "", 1, 2**31 - 1), length=3),
            "region_size": Value(int, "voxels along a region", 2, 2**31 - 1),
        },
        checks=(_voxels_fit,),
    )

    def _to_parts(self) -> Parts:
        meta = {"shape": list(self.blocked.shape), "region_size": self.region_size}
        return Parts({"blocked": np.packbits(self.blocked.reshape(-1))}, meta)

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        shape = tuple(parts.meta["shape"])
        bits = np.unpackbits(parts.arrays["blocked"], count=math.prod(shape))
        made: Any = cls.from_voxels(bits.reshape(shape).astype(np.bool_), region_size=parts.meta["region_size"])
        return made  # type: ignore[no-any-return]

    def _smooth(self, path: Path) -> Path:
        points = path.points
        # Forwards and backwards: what one direction misses the other finds.
        for _ in range(2):
            kept = np.empty(len(points), np.int64)
            count = _voxel_kernels.voxel_shortcuts(self.blocked, points, kept)
            points = np.ascontiguousarray(points[kept[:count]][::-1])
        length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
        return Path(path.status, points, cost=length, expanded=path.expanded, timings=path.timings)


def _regions_along(voxels: tuple[int, ...], size: int) -> tuple[int, int, int]:
    """Numbers of regions along the axes."""
    x, y, z = (-(-side // size) for side in voxels)
    return x, y, z


def _boxes(
    blocked: NDArray[np.bool_], size: int, wanted: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Free boxes of some regions, region by region, and the region of each."""
    taken = np.zeros(blocked.shape, np.bool_)
    room = np.empty((math.prod(min(size, side) for side in blocked.shape), 6), np.int32)
    found, regions = [np.empty((0, 6), np.int32)], [np.empty(0, np.int32)]
    for region in wanted.tolist():
        cell = np.unravel_index(region, _regions_along(blocked.shape, size))
        low = tuple(int(c) * size for c in cell)
        high = tuple(min(at + size, side) for at, side in zip(low, blocked.shape, strict=True))
        count = _voxel_kernels.free_boxes(blocked, taken, low, high, room)
        found.append(room[:count].copy())
        regions.append(np.full(count, region, np.int32))
    return np.concatenate(found), np.concatenate(regions)


def _openings(boxes: NDArray[np.int32], numbers: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    room, count = _OPENINGS * len(boxes), -1
    while count < 0 or count > room:
        room = max(room, count)
        pairs, places = np.empty((room, 2), np.int32), np.empty((room, 3), np.float32)
        count = int(_voxel_kernels.openings(boxes, numbers, pairs, places))
    return pairs[:count].copy(), places[:count].copy()


def _join(
    boxes: NDArray[np.int32], regions: NDArray[np.int32], pairs: NDArray[np.int32], places: NDArray[np.float32]
) -> tuple[Graph, NDArray[np.int32]]:
    """The graph of box middles and openings, and the regions of each."""
    count = len(boxes)
    middles = ((boxes[:, :3] + boxes[:, 3:] - 1) / 2).astype(np.float32)
    doors = count + np.arange(len(pairs))
    owner = np.concatenate([pairs[:, 0], pairs[:, 1]])
    door = np.concatenate([doors, doors])
    edges = [np.column_stack([owner, door])]
    order = np.lexsort((door, owner))
    owner, door = owner[order], door[order]
    degree = np.bincount(owner, minlength=count)
    start = np.cumsum(degree) - degree
    for gap in range(1, _FULL):
        # Openings of one box that stand `gap` apart in its list.
        place = np.arange(len(owner)) - start[owner]
        small = (degree[owner] <= _FULL) & (place + gap < degree[owner])
        at = np.flatnonzero(small)
        edges.append(np.column_stack([door[at], door[at + gap]]))
    of = np.full((count + len(pairs), 2), -1, np.int32)
    of[:count, 0] = regions
    of[count:, 0] = regions[pairs[:, 0]]
    across = regions[pairs[:, 0]] != regions[pairs[:, 1]]
    of[count:, 1][across] = regions[pairs[across, 1]]
    joined = np.concatenate(edges)
    kinds = np.full(len(joined), int(Motion.VOLUMETRIC), np.uint8)
    return Graph.from_edges(np.concatenate([middles, places]), joined, motions=kinds), of
