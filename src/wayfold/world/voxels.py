"""Worlds of voxels: free space cut into boxes, for flyers, with subregions over them (paper 000)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold import _check
from wayfold._locks import ReadersWriter
from wayfold.agent import Agent
from wayfold.errors import EditError, OffMapError
from wayfold.graph import Graph
from wayfold.subregions import SubregionGraph
from wayfold.waypoints import VoxelWaypoints
from wayfold.world import edges
from wayfold.world.planner import Notes, Zones
from wayfold.world.roaming import RoamingPlanner
from wayfold.world.shapes import Shape

Voxels = NDArray[np.bool_]
Part = tuple[slice, slice, slice]


class Flying(NamedTuple):
    """The voxels at one moment and what plans in them; nothing in it changes."""

    waypoints: VoxelWaypoints
    fast: SubregionGraph | None
    costs: tuple[tuple[Shape, float], ...]
    priced: Graph | None


class VoxelPlanner(RoamingPlanner):
    """Plans through voxels.

    A block closes the voxels whose middles lie in it. The regions that it touches are cut into boxes again beside the
    old graph, which the new one replaces as a whole. Where zones have costs the waypoints are searched without the
    accelerator.

    Parameters
    ----------
    own : (X, Y, Z) bool array
        What the map itself has blocked.
    """

    map_name = "voxels"

    def __init__(
        self,
        agent: Agent,
        accelerator: str,
        notes: Notes,
        lock: ReadersWriter,
        *,
        waypoints: VoxelWaypoints,
        own: Voxels,
    ) -> None:
        fast = SubregionGraph.build(waypoints, agent.motions) if accelerator == "subregions" else None
        super().__init__(agent, accelerator, notes, lock, waypoints=waypoints, fast=fast)
        self._own = own
        self._now = Flying(waypoints, fast, (), None)

    def _prepare(self, before: Zones, after: Zones, shape: Shape) -> Any:
        now = self._now
        waypoints, fast = now.waypoints, now.fast
        part = part_of(shape, self._own.shape)
        closed = self._own[part].copy()
        for block in after.blocks:
            closed |= inside(block, part, self._own.shape)
        if (closed != waypoints.blocked[part]).any():
            blocked = waypoints.blocked.copy()
            blocked[part] = closed
            try:
                waypoints = waypoints.rebuilt(blocked)
            except OffMapError:
                raise EditError(f"{_check.shown(shape)} would leave no voxel free; nothing was changed") from None
            fast = None if fast is None else SubregionGraph.build(waypoints, self.agent.motions)
        priced = now.priced
        if waypoints is not now.waypoints or after.costs != now.costs:
            priced = edges.priced(waypoints.graph, after.costs) if after.costs else None
        return Flying(waypoints, fast, after.costs, priced)

    def _commit(self, prepared: Any) -> None:
        self._now = prepared
        self._waypoints = prepared.waypoints
        self._fast = prepared.fast
        self._priced = prepared.priced
        self._zones = Zones((), prepared.costs)  # blocks are in the voxels


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
