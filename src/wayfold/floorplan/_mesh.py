"""What regions share: vertices that are the same for all regions around them, gateways, and a navigation mesh.

Corners of regions are computed, so those of two regions at the same place may differ in their last digits. Here they
become one vertex, before anything asks where a way passes: the funnel through gateways and the exact search over the
mesh then see the same corners, to the last digit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.errors import OffMapError
from wayfold.floorplan import _gateways, _transitions

if TYPE_CHECKING:
    from wayfold.floorplan.decomposition import Decomposition
    from wayfold.navmesh import NavMesh

Floats = NDArray[np.float64]
_NEAR = 0.75  # of the rounding of borders: corners closer than this are one vertex; given ones never are


class Topology(NamedTuple):
    """Regions over common vertices."""

    vertices: Floats
    """(n, 2), local."""
    rings: list[NDArray[np.int64]]
    """Vertex numbers of each region, counter-clockwise, with the ends of the borders on its edges."""
    regions: NDArray[np.int64]
    """(n,), a region at each vertex."""
    gateways: _gateways.Gateways
    ends: NDArray[np.int64]
    """(g, 2), vertices that gateways begin and end at."""


def topology(cut: Decomposition) -> Topology:
    """The common vertices and the gateways of a decomposition's regions."""
    from scipy.spatial import cKDTree

    corners = cut.local_corners
    found = _gateways.contacts(cut)
    count = len(found.pairs)
    owner = np.repeat(np.arange(cut.num_regions), np.diff(cut.offsets))
    following = np.arange(1, len(corners) + 1)
    following[cut.offsets[1:] - 1] = cut.offsets[:-1]
    # One row for each corner, and for each contact two on the edges of both of its regions.
    tips = found.segments.reshape(-1, 2)
    edge = np.concatenate([np.arange(len(corners)), np.repeat(found.edges.T.ravel(), 2)])
    where = np.concatenate([corners, tips, tips])
    along = corners[following[edge]] - corners[edge]
    part = ((where - corners[edge]) * along).sum(axis=1) / (along * along).sum(axis=1)
    part[: len(corners)] = 0.0
    rows = len(corners) + np.arange(4 * count)
    slack = np.tile(np.repeat(found.slack, 2), 2)
    inner, beside = _across(found, edge, where, slack[: 2 * count : 2] > cut.border_rounding)
    edge, where = np.concatenate([edge, beside]), np.concatenate([where, where[inner]])
    away = where[-len(inner) :] - corners[beside] if len(inner) else np.empty((0, 2))
    along = corners[following[beside]] - corners[beside]
    part = np.concatenate([part, (away * along).sum(axis=1) / (along * along).sum(axis=1)])
    levels = cut.region_levels[owner[edge]]
    # Both sides of a contact are one, and where floors meet transitions one with the corners that are there.
    links = [rows.reshape(2, -1).T, np.column_stack([inner, len(edge) - len(inner) + np.arange(len(inner))])]
    for level in np.unique(levels[rows[slack > cut.border_rounding]]).tolist():
        own = np.flatnonzero(cut.region_levels[owner] == level)
        ends = rows[(slack > cut.border_rounding) & (levels[rows] == level)]
        away, nearest = cKDTree(corners[own]).query(where[ends])
        reached = away <= cut.slack
        links.append(np.column_stack([ends[reached], own[nearest[reached]]]))
    same = _same(where, levels, np.concatenate(links), _NEAR * cut.border_rounding)
    used, numbers = np.unique(same, return_inverse=True)
    vertices = where[used]
    order = np.lexsort((part.clip(0.0, 1.0), edge))
    rings = []
    sizes = np.bincount(owner[edge], minlength=cut.num_regions)
    for row in np.split(order, np.cumsum(sizes)[:-1]) if cut.num_regions else ():
        ring = numbers[row]
        _, first = np.unique(ring, return_index=True)
        rings.append(ring[np.sort(first)])
    ends = _gateways.merged(found.pairs, vertices, numbers[rows[: 2 * count]].reshape(-1, 2), cut.epsilon)
    segments = vertices[ends.numbers].reshape(-1, 4)
    gateways = _gateways.Gateways(ends.pairs, cut.frame.world(segments.reshape(-1, 2)).reshape(-1, 4), segments)
    return Topology(vertices, rings, owner[edge[used]], gateways, ends.numbers)


def _across(
    found: _gateways.Contacts, edge: NDArray[np.int64], where: Floats, loose: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows that lie within a `loose` contact on one of its edges, and the edge on its other side that lacks them.

    Along a mouth a floor may have a corner where the stairs have none: of a region narrower than the slack between the
    two. Without that corner on both sides the two would have no edge in common.
    """
    rows: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    beside: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    for contact in np.flatnonzero(loose).tolist():
        begin, end = found.segments[contact].reshape(2, 2)
        for own, other in (found.edges[contact], found.edges[contact][::-1]):
            here = np.flatnonzero(edge == own)
            share = ((where[here] - begin) @ (end - begin)) / ((end - begin) @ (end - begin))
            inside = here[(share > 0.0) & (share < 1.0)]
            rows.append(inside)
            beside.append(np.full(len(inside), other))
    return np.concatenate(rows), np.concatenate(beside)


def heights(cut: Decomposition) -> Floats:
    """The height of the ground at each vertex, (n,); where stairs begin or end it is that of the floor."""
    shared = cut.topology
    result = cut.heights[shared.regions]
    for number, level in enumerate(cut.levels):
        here = np.flatnonzero(cut.region_levels[shared.regions] == number)
        if len(level.ground) and len(here):
            found = _transitions.heights_at(level.ground, shared.vertices[here], result[here])
            result[here] = np.where(np.isnan(found), result[here], found)
    mouths = cut.is_mouth
    result[shared.ends[mouths]] = cut.gateway_heights[mouths, None]
    return np.asarray(result)


def shared_corners(cut: Decomposition, *, local: bool = False) -> tuple[Floats, list[NDArray[np.int32]]]:
    """Vertices (n, 3) and polygons whose edges match from end to end: ends of gateways become corners of both sides.

    Where stairs meet a floor, the two share vertices at the height of the floor.
    """
    shared = cut.topology
    vertices = np.column_stack([shared.vertices, cut.vertex_heights])
    polygons = list(shared.rings)
    for region in _apart(cut, shared.rings):  # it keeps its own corners, and nobody else has them
        own = np.arange(cut.offsets[region], cut.offsets[region + 1])
        polygons[region] = len(vertices) + np.arange(len(own))
        level = np.full(len(own), cut.heights[region])
        vertices = np.concatenate([vertices, np.column_stack([cut.local_corners[own], level])])
    return vertices if local else cut.frame.world(vertices), [ring.astype(np.int32) for ring in polygons]


def _apart(cut: Decomposition, rings: list[NDArray[np.int64]]) -> list[int]:
    """Regions no wider than rounding: without an area over the common vertices, or on the same side of a larger one."""
    found = [region for region, ring in enumerate(rings) if len(ring) < 3]
    owner: dict[tuple[int, int], int] = {}
    areas = cut.areas
    for region in np.argsort(-areas, kind="stable").tolist():
        ring = rings[region].tolist()
        edges = list(zip(ring, ring[1:] + ring[:1], strict=True))
        if len(ring) >= 3 and any(edge in owner for edge in edges):
            found.append(region)
        elif len(ring) >= 3:
            owner.update(dict.fromkeys(edges, region))
    return found


def navmesh(cut: Decomposition, *, local: bool = False) -> NavMesh:
    """The regions as a mesh. They are convex already, up to rounding, which `NavMesh.from_polygons` would not take."""
    from wayfold.navmesh import NavMesh, polygons

    vertices, rings = shared_corners(cut, local=local)
    if not rings:
        raise OffMapError("the plan has no free space, so there is no navigation mesh")
    offsets = np.concatenate([[0], np.cumsum([len(ring) for ring in rings])]).astype(np.int64)
    corners = np.concatenate(rings)
    beyond = polygons.border(offsets, corners)
    # Borders that are too short for a gateway are closed here too.
    owner = np.repeat(np.arange(len(rings)), np.diff(offsets))
    pairs = cut.gateways.pairs.astype(np.int64)
    keys = np.minimum(owner, beyond) * len(rings) + np.maximum(owner, beyond)
    beyond[~np.isin(keys, pairs[:, 0] * len(rings) + pairs[:, 1])] = -1
    ground = polygons.bare(vertices, offsets, corners, beyond)
    return NavMesh(ground, np.ones(len(rings), np.uint8))


def _same(where: Floats, level: NDArray[np.int32], links: NDArray[np.int64], near: float) -> NDArray[np.int64]:
    """For each point the first that it is one with: those of a level that are near, and those that are linked."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    count = len(where)
    apart = 1e3 * (near + np.abs(where).max(initial=0.0))
    close = cKDTree(np.column_stack([where, level * apart])).query_pairs(near, output_type="ndarray")
    links = np.concatenate([close, links])
    graph = coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(count, count))
    number, labels = connected_components(graph, directed=False)
    first = np.full(number, count)
    np.minimum.at(first, labels, np.arange(count))
    return np.asarray(first[labels])
