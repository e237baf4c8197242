"""Information per region (Hale et al. 2008): attached objects, what is visible from a region, nearest objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.core.arrays import offsets_of
from wayfold.errors import ParameterError
from wayfold.floorplan import _query_kernels

if TYPE_CHECKING:
    from wayfold.floorplan.decomposition import Decomposition


class Information:
    """Objects in the regions of a decomposition.

    Agents need to reason in depth only about the region they are in, and perhaps the neighbouring ones.

    Attributes
    ----------
    points : (t, 3) float64 array
        Places of the objects.
    names : tuple of t
        What they are; any values.
    regions : (t,) int32 array
        Where they are, -1 for those that an obstacle has buried; on a border, one of the regions they touch.
    """

    def __init__(self, cut: Decomposition) -> None:
        self._cut = cut
        self.points: NDArray[np.float64] = np.empty((0, 3))
        self.names: tuple[Any, ...] = ()
        self.regions: NDArray[np.int32] = np.empty(0, np.int32)
        self._touched: list[NDArray[np.int32]] = []
        self._doors: _query_kernels.Doors | None = None
        self._seen_by: dict[int, NDArray[np.bool_]] = {}

    def attach(self, points: ArrayLike, names: Sequence[Any] | None = None) -> NDArray[np.int32]:
        """Add objects and return their regions.

        Parameters
        ----------
        points : (t, 2) or (t, 3) array_like
        names : sequence of t values, optional
            Their numbers by default.
        """
        where = checks.points3(points)
        labels = tuple(range(len(self.names), len(self.names) + len(where))) if names is None else tuple(names)
        if len(labels) != len(where):
            raise ParameterError(f"names and points must have the same length (got {len(labels)} and {len(where)})")
        found = np.asarray(self._cut.locate(where if np.shape(points)[1] == 3 else where[:, :2]), np.int32)
        self._touched += self._cut._touching(self._cut.frame.local(where), found)
        self.points = np.concatenate([self.points, where])
        self.names += labels
        self.regions = np.concatenate([self.regions, found])
        return found

    def in_region(self, region: int) -> list[Any]:
        """Names of the objects in a region or on its border; each of them sees every point of it, as it is convex."""
        number = self._cut._region(region)
        return [self.names[k] for k, touched in enumerate(self._touched) if number in touched]

    def visible_from(self, region: int) -> list[Any]:
        """Names of the objects seen from somewhere in a region: all that are in it, and others through gateways."""
        number = self._cut._region(region)
        visible = []
        for k in np.flatnonzero(self.regions >= 0).tolist():
            if k not in self._seen_by:
                self._seen_by[k] = self._see(self._cut.frame.local(self.points[k]), self._touched[k])[0]
            if self._seen_by[k][number]:
                visible.append(self.names[k])
        return visible

    def visible_at(self, point: ArrayLike) -> list[Any]:
        """Names of the objects in line of sight of a point."""
        place = self._cut._place(point, "point")
        _, visible = self._see(place.local, place.regions)
        return [self.names[k] for k in np.flatnonzero(visible)]

    def regions_seen(self, point: ArrayLike) -> NDArray[np.int64]:
        """Regions of which some part can be seen from a point."""
        place = self._cut._place(point, "point")
        return np.flatnonzero(self._see(place.local, place.regions)[0])

    def nearest(self, point: ArrayLike, count: int = 1) -> list[tuple[Any, float]]:
        """Return the objects nearest by walking, each with the length of the walk (`Decomposition.path`) in metres.

        Objects are tried in the order of their straight distance, which no walk is shorter than, until no further one
        can be among the nearest. Objects that cannot be reached are left out.
        """
        count = checks.whole(count, "count", low=1)
        where = self._cut._place(point, "point").point
        away = np.linalg.norm(self.points - where, axis=1)
        best: list[tuple[float, int]] = []
        for k in np.argsort(away, kind="stable").tolist():
            if self.regions[k] < 0:
                continue
            if len(best) == count and away[k] >= best[-1][0]:
                break
            path = self._cut.path(where, self.points[k])
            if path:
                best = sorted([*best, (path.length, k)])[:count]
        return [(self.names[k], length) for length, k in best]

    def _see(
        self, point: NDArray[np.float64], regions: NDArray[np.int32]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """What is seen from a local point that touches these regions: regions, and objects."""
        doors = self._doors = self._doors or self._make_doors()
        # An object on a border is a target in every region that it touches.
        owners = np.concatenate([np.empty(0, np.int32), *self._touched]).astype(np.int32)
        numbers = np.repeat(np.arange(len(self._touched)), [len(touched) for touched in self._touched])
        order = np.argsort(owners, kind="stable")
        owners, numbers = owners[order], numbers[order]
        targets = np.ascontiguousarray(self._cut.frame.local(self.points[numbers])[:, :2])
        seen, visible = np.zeros(self._cut.num_regions, np.bool_), np.zeros(len(owners), np.bool_)
        room = 256
        for region in regions.tolist():
            while True:
                stack, cones = np.empty((room, 2), np.int32), np.empty((room, 4))
                if _query_kernels.see(doors, point[0], point[1], region, targets, owners, seen, visible, stack, cones):
                    break
                room *= 4
        objects = np.zeros(len(self._touched), np.bool_)
        objects[numbers[visible]] = True
        return seen, objects

    def _make_doors(self) -> _query_kernels.Doors:
        pairs, segments = self._cut.gateways.pairs, self._cut.gateways.local
        leaving = np.concatenate([pairs[:, 0], pairs[:, 1]])
        order = np.argsort(leaving, kind="stable")
        offsets = offsets_of(np.bincount(leaving, minlength=self._cut.num_regions))
        sides = np.concatenate([segments[:, [2, 3, 0, 1]], segments])
        regions = np.concatenate([pairs[:, 1], pairs[:, 0]])
        return _query_kernels.Doors(
            offsets.astype(np.int64), np.ascontiguousarray(regions[order]), np.ascontiguousarray(sides[order])
        )
