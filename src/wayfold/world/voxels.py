"""Worlds of voxels: free space cut into boxes, for flyers, with subregions over them (Wardhana et al. 2015)."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold.agent import Agent
from wayfold.core import checks
from wayfold.errors import EditError, OffMapError
from wayfold.geometry.shapes import Shape
from wayfold.map import AgentMap, Edits
from wayfold.subregions import SubregionGraph
from wayfold.waypoints import VoxelWaypoints, voxels
from wayfold.waypoints.voxels import Patch
from wayfold.world.roaming import RoamingMap

Voxels = NDArray[np.bool_]
Part = tuple[slice, slice, slice]


class VoxelChange(NamedTuple):
    """What an edit does to the graph."""

    zones: Edits
    patch: Patch | None
    prices: Any
    """What zones change: all `Prices` with the first of them, then the edges that cost something else, and what."""


class VoxelMap(RoamingMap):
    """Voxels for one agent: waypoints in the free space, and subregions over them.

    A block closes the voxels whose middles lie in it. The regions that it touches are cut into boxes again, and what is
    joined with them changes in place while no query runs. Where zones have costs the waypoints are searched without the
    accelerator.

    Parameters
    ----------
    own : (X, Y, Z) bool array
        What the map itself has blocked.
    accelerator : "subregions" or "none"
    """

    def __init__(self, agent: Agent, waypoints: VoxelWaypoints, own: Voxels, accelerator: str) -> None:
        built = SubregionGraph.build(waypoints, agent.motions) if accelerator == "subregions" else None
        super().__init__(agent, waypoints, built)
        self._own = own

    def _prepared(self, after: Edits, shape: Shape) -> VoxelChange:
        waypoints = self._waypoints
        assert isinstance(waypoints, VoxelWaypoints)
        part = part_of(shape, self._own.shape)
        closed = self._own[part].copy()
        first, last = np.array([(side.start, side.stop - 1) for side in part]).T
        for block in after.blocks:
            low, high = block.bounds
            if (low <= last).all() and (high >= first).all():
                closed |= inside(block, part, self._own.shape)
        try:
            patch = voxels.patch(waypoints, part, closed)
        except OffMapError:
            raise EditError(f"{checks.shown(shape)} would leave no voxel free; nothing was changed") from None
        return VoxelChange(after, patch, self._changed_prices(self.edits, after))

    def succeed(self, before: AgentMap) -> None:
        """Change the voxels and the graph, while no query runs."""
        waypoints, prepared = self._waypoints, self._change
        assert isinstance(waypoints, VoxelWaypoints)
        self._change = None
        if prepared.patch is not None:
            for edit in voxels.apply(waypoints, prepared.patch):
                self._repair(edit)
            self._trim()
        self._set_prices(prepared.zones, prepared.prices)

    def refreshed(self) -> VoxelMap:
        """The map with waypoints numbered anew, without those that edits have removed."""
        waypoints = self._waypoints
        assert isinstance(waypoints, VoxelWaypoints)
        if not waypoints.removed.any() and waypoints.num_waypoints == waypoints.built:
            return self
        fresh = copy.copy(self)
        fresh._waypoints = VoxelWaypoints.from_voxels(waypoints.blocked, region_size=waypoints.region_size)
        fresh._rebuild()
        return fresh


def part_of(shape: Shape, size: tuple[int, ...]) -> Part:
    """The voxels whose middles lie in the box around a shape."""
    low, high = shape.bounds
    first = np.clip(np.ceil(low), 0, size).astype(int)
    last = np.clip(np.floor(high) + 1, first, size).astype(int)
    x, y, z = (slice(int(a), int(b)) for a, b in zip(first, last, strict=True))
    return x, y, z


def inside(shape: Shape, part: Part, size: tuple[int, ...]) -> Voxels:
    """Which voxels of a part have their middles in a shape: as `Shape.contains`, layer by layer alike."""
    x, y, z = (np.arange(side.start, side.stop) for side in part)
    level = (z >= shape.low) & (z < shape.high)
    own = part_of(shape, size)
    columns = np.zeros((len(x), len(y)), np.bool_)
    near_x, near_y = ((a >= side.start) & (a < side.stop) for a, side in zip((x, y), own[:2], strict=True))
    if level.any() and near_x.any() and near_y.any():
        where = np.ix_(near_x, near_y)
        columns[where] = shapely.intersects_xy(shape.polygon, x[near_x][:, None], y[near_y][None, :])
    return np.asarray(columns[:, :, None] & level)
