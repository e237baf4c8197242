"""The voxel pipeline of paper 002, section III.A, for one tile: five steps, each a function of its own.

1. `heightfield`: triangles become solid spans;
2. `walkable_space`: filters leave the ground that the agent can stand on, eroded by its radius;
3. `regions`: the watershed transform;
4. `contours`: rims, simplified;
5. `polygons`: convex polygons with their neighbours, and the surfaces that give heights between their corners.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.navmesh import (
    _compact_kernels,
    _contour_kernels,
    _detail_kernels,
    _field_kernels,
    _polygon_kernels,
    _region_kernels,
    _tile_kernels,
    _trace_kernels,
    _zone_kernels,
)
from wayfold.navmesh._zone_kernels import Zones
from wayfold.navmesh.settings import AgentVoxels, Settings
from wayfold.navmesh.zones import NO_ZONES

Frame = _field_kernels.Frame
_MOST_MERGES = 64  # rounds; a dozen is a lot


class Triangles(NamedTuple):
    """What is rasterised."""

    vertices: NDArray[np.float64]
    """(n, 3), metres."""
    triangles: NDArray[np.int32]
    """(m, 3)."""
    kinds: NDArray[np.uint8]
    """(m,) area kinds, 0 for never walkable; empty for 1 everywhere."""
    flattest: float
    """Height of the unit normal from which a triangle can be walked on."""
    zones: Zones = NO_ZONES
    """Where the ground is of another kind, or closed."""


class Contours(NamedTuple):
    """Simplified rims as `polygons` takes them."""

    loops: _trace_kernels.Loops
    edge_at: NDArray[np.int32]
    corners: _contour_kernels.Corners
    keep: NDArray[np.uint8]
    outline: NDArray[np.int32]


def heightfield(
    triangles: Triangles, chosen: NDArray[np.int32], frame: Frame, agent: AgentVoxels
) -> _field_kernels.Field:
    """Step 1: the solid spans of the chosen triangles."""
    spans = _field_kernels.rasterise(*triangles[:3], chosen, triangles.flattest, frame)
    return _field_kernels.Field(*_field_kernels.merge_spans(*spans, frame.width * frame.depth, agent.climb))


def walkable_space(
    field: _field_kernels.Field, frame: Frame, agent: AgentVoxels, zones: Zones = NO_ZONES
) -> _compact_kernels.Open:
    """Step 2: filters for low obstacles, ledges and low ceilings, links between neighbours, erosion by the radius.

    Zones that close ground do so before the erosion, as a wall would; the others mark what is left.
    """
    _field_kernels.filter_low_obstacles(field, agent.climb)
    _field_kernels.filter_ledges(field, frame.width, frame.depth, agent.height, agent.climb)
    _field_kernels.filter_low_ceilings(field, agent.height)
    links = _compact_kernels.open_space(field, frame.width, frame.depth, agent.height, agent.climb)
    space = _compact_kernels.Open(*links)
    size = space.kind.size
    if len(zones.kinds):
        _zone_kernels.mark(space, frame, agent.height, zones, True)
    if agent.radius > 0:
        _compact_kernels.erode(
            space.links, space.kind, np.empty(size, np.uint8), np.empty(size, np.int32), agent.radius
        )
    if len(zones.kinds):
        _zone_kernels.mark(space, frame, agent.height, zones, False)
    return space


def regions(
    space: _compact_kernels.Open, frame: Frame, border: int, settings: Settings
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Step 3: the region of each span (0 none, negative in the border), and the column of each span."""
    size = space.kind.size
    columns = np.repeat(np.arange(frame.width * frame.depth, dtype=np.int32), np.diff(space.offsets))
    region = np.empty(size, np.int32)
    _region_kernels.paint_border(space.offsets, region, frame.width, frame.depth, border)
    distance, blurred = np.empty(size, np.int32), np.empty(size, np.int32)
    _compact_kernels.rim_distance(space.links, space.kind, distance)
    highest = _compact_kernels.blur(space.links, distance, blurred)
    count = _region_kernels.watershed(space, columns, blurred, highest, region)
    assert settings.min_region is not None
    assert settings.merge_region is not None
    _region_kernels.drop_small_regions(space, region, count, settings.cells(settings.min_region))
    small = settings.cells(settings.merge_region)
    for _ in range(_MOST_MERGES):
        loops, _ = _trace_kernels.trace(space.links, region)
        if _region_kernels.merge_regions(space, region, loops, count, small) == 0:
            break
    return region, columns


def contours(
    space: _compact_kernels.Open,
    region: NDArray[np.int32],
    columns: NDArray[np.int32],
    frame: Frame,
    height: int,
    settings: Settings,
) -> Contours:
    """Step 4: the rims of all regions, simplified so that neighbours fit together."""
    loops, edge_at = _trace_kernels.trace(space.links, region)
    corners, keep = _contour_kernels.join_corners(loops, edge_at, space.links, space.floor, columns, frame.width)
    outline = _contour_kernels.outlines(loops, corners, region)
    longest = settings.max_edge / settings.cell_size
    _contour_kernels.simplify(loops, corners, keep, space, settings.max_error, settings.max_bulge, longest)
    _contour_kernels.untangle(loops, corners, keep, outline, height)
    return Contours(loops, edge_at, corners, keep, outline)


def polygons(
    rims: Contours, space: _compact_kernels.Open, region: NDArray[np.int32], frame: Frame, settings: Settings
) -> tuple[_tile_kernels.Mesh, _detail_kernels.Detail]:
    """Step 5: the tile's convex polygons, and the surfaces that follow the ground between their corners."""
    loops, edge_at, corners, keep, outline = rims
    pieces, _ = _polygon_kernels.polygonise(loops, corners, keep, outline, region, settings.max_corners)
    mesh = _tile_kernels.tile_mesh(pieces, loops, corners, keep, edge_at, space, region, frame)
    detail = _detail_kernels.detail_surfaces(mesh, pieces.region, space, region, frame, settings.detail_error)
    return mesh, detail


def build_tile(
    triangles: Triangles,
    chosen: NDArray[np.int32],
    frame: Frame,
    border: int,
    agent: AgentVoxels,
    settings: Settings,
    clock: Callable[[str], None] | None = None,
) -> tuple[_tile_kernels.Mesh, _detail_kernels.Detail] | None:
    """All five steps for one tile; None where there is nothing to stand on. `clock` is told the end of each step."""
    tell = clock or _nothing
    field = heightfield(triangles, chosen, frame, agent)
    tell("heightfield")
    space = walkable_space(field, frame, agent, triangles.zones)
    tell("walkable space")
    if not space.kind.any():
        return None
    region, columns = regions(space, frame, border, settings)
    tell("regions")
    rims = contours(space, region, columns, frame, agent.height, settings)
    tell("contours")
    if rims.loops.span.size == 0:
        return None
    result = polygons(rims, space, region, frame, settings)
    tell("polygons and detail")
    return result if len(result[0].kinds) else None


def _nothing(step: str) -> None:
    pass
