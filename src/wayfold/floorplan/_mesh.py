"""The regions of a decomposition as polygons that share whole edges, as navigation meshes want them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wayfold.errors import OffMapError

if TYPE_CHECKING:
    from wayfold.floorplan.decomposition import Decomposition
    from wayfold.navmesh import NavMesh

Floats = NDArray[np.float64]


def shared_corners(cut: Decomposition) -> tuple[Floats, list[NDArray[np.int32]]]:
    """Vertices (n, 3) and polygons whose edges match from end to end: ends of gateways become corners of both sides.

    Where stairs meet a floor, the two share vertices at the height of the floor.
    """
    corners, gateways = cut.corners, cut.gateways
    owner = np.repeat(np.arange(cut.num_regions), np.diff(cut.offsets))
    following = np.arange(1, len(corners) + 1)
    following[cut.offsets[1:] - 1] = cut.offsets[:-1]
    # One row for each corner, and for each gateway two on the edges of both of its regions.
    ends = gateways.segments.reshape(-1, 2, 2)
    edge = np.concatenate([np.arange(len(corners)), np.repeat(gateways.edges.T.ravel(), 2)])
    where = np.concatenate([corners, ends.reshape(-1, 2), ends.reshape(-1, 2)])
    along = corners[following[edge]] - corners[edge]
    part = ((where - corners[edge]) * along).sum(axis=1) / (along * along).sum(axis=1)
    part[: len(corners)] = 0.0
    gate = np.concatenate([np.full(len(corners), -1), np.tile(np.repeat(np.arange(len(gateways)), 2), 2)])
    same = _same(where, cut.region_levels[owner[edge]], gate, cut.epsilon * 2.0**-8)
    used, numbers = np.unique(same, return_inverse=True)
    heights = cut.heights[owner[edge[used]]]
    heights[gate[used] >= 0] = cut.gateway_heights[gate[used][gate[used] >= 0]]
    order = np.lexsort((part.clip(0.0, 1.0), edge))
    vertices = np.column_stack([where[used], heights])
    polygons = []
    for region, rows in enumerate(np.split(order, np.cumsum(np.bincount(owner[edge], minlength=cut.num_regions))[:-1])):
        ring = numbers[rows]
        _, first = np.unique(ring, return_index=True)
        ring = ring[np.sort(first)]
        if len(ring) < 3:  # no wider than rounding: it keeps its own corners, and nobody else has them
            own = np.arange(cut.offsets[region], cut.offsets[region + 1])
            ring = len(vertices) + np.arange(len(own))
            vertices = np.concatenate([vertices, np.column_stack([corners[own], cut.heights[owner[own]]])])
        polygons.append(ring.astype(np.int32))
    return vertices, polygons


def navmesh(cut: Decomposition) -> NavMesh:
    """The regions as a mesh. They are convex already, up to rounding, which `NavMesh.from_polygons` would not take."""
    from wayfold.navmesh import NavMesh, polygons

    vertices, rings = shared_corners(cut)
    if not rings:
        raise OffMapError("the plan has no free space, so there is no navigation mesh")
    offsets = np.concatenate([[0], np.cumsum([len(ring) for ring in rings])]).astype(np.int64)
    corners = np.concatenate(rings)
    ground = polygons.bare(vertices, offsets, corners, polygons.border(offsets, corners))
    return NavMesh(ground, np.ones(len(rings), np.uint8))


def _same(where: Floats, level: NDArray[np.int32], gate: NDArray[np.int64], near: float) -> NDArray[np.int64]:
    """For each point the first that it is one with: those of a level that are near, and both sides of a gateway."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    count = len(where)
    apart = 1e3 * (1.0 + np.abs(where).max(initial=0.0))
    close = cKDTree(np.column_stack([where, level * apart])).query_pairs(near, output_type="ndarray")
    sides = np.flatnonzero(gate >= 0).reshape(2, -1).T
    links = np.concatenate([close, sides])
    graph = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(count, count))
    number, labels = connected_components(graph, directed=False)
    first = np.full(number, count)
    np.minimum.at(first, labels, np.arange(count))
    return np.asarray(first[labels])
