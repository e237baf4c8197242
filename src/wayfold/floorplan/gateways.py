"""Gateways, the segments of border that two regions share (Hale et al. 2008), and the mesh that regions share.

Corners of regions are computed, so those of two regions at the same place may differ in their last digits. Here they
become one vertex, before anything asks where a way passes: the funnel through gateways and the exact search over the
mesh then see the same corners, to the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold.core.arrays import distinct, offsets_of
from wayfold.errors import OffMapError
from wayfold.floorplan import building

if TYPE_CHECKING:
    from wayfold.floorplan.decomposition import Decomposition
    from wayfold.navmesh import NavMesh

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


def gaps(rings: list[Floats], near: float) -> list[Any]:
    """What lies between edges of regions that run along each other at most `near` metres apart, as polygons."""
    corners = np.concatenate([np.empty((0, 2)), *rings])
    offsets = offsets_of([len(ring) for ring in rings])
    found = _find(corners, offsets, np.zeros(len(rings), np.int32), None, near, near)
    following = np.arange(1, len(corners) + 1)
    following[offsets[1:] - 1] = offsets[:-1]
    other = found.edges[:, 1]
    begin, along = corners[other], corners[following[other]] - corners[other]
    here = found.segments.reshape(-1, 2, 2)
    part = ((here - begin[:, None]) * along[:, None]).sum(axis=2) / (along * along).sum(axis=1)[:, None]
    there = begin[:, None] + part.clip(0.0, 1.0)[:, :, None] * along[:, None]
    between = shapely.convex_hull(shapely.multipoints(np.concatenate([here, there], axis=1)))
    return list(between[shapely.area(between) > 0.0])


NEAR = 0.75  # of the rounding of borders: corners closer than this are one vertex; given ones never are


class RegionTopology(NamedTuple):
    """Regions over common vertices."""

    vertices: Floats
    """(n, 2), local."""
    rings: list[NDArray[np.int64]]
    """Vertex numbers of each region, counter-clockwise, with the ends of the borders on its edges."""
    regions: NDArray[np.int64]
    """(n,), a region at each vertex."""
    gateways: Gateways
    ends: NDArray[np.int64]
    """(g, 2), vertices that gateways begin and end at."""


def topology(cut: Decomposition) -> RegionTopology:
    """The common vertices and the gateways of a decomposition's regions."""
    from scipy.spatial import cKDTree

    corners = cut.local_corners
    found = contacts(cut)
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
    arcs = [rows.reshape(2, -1).T, np.column_stack([inner, len(edge) - len(inner) + np.arange(len(inner))])]
    for level in np.unique(levels[rows[slack > cut.border_rounding]]).tolist():
        own = np.flatnonzero(cut.region_levels[owner] == level)
        ends = rows[(slack > cut.border_rounding) & (levels[rows] == level)]
        away, nearest = cKDTree(corners[own]).query(where[ends])
        reached = away <= cut.slack
        arcs.append(np.column_stack([ends[reached], own[nearest[reached]]]))
    same = _same(where, levels, np.concatenate(arcs), NEAR * cut.border_rounding)
    used, numbers = np.unique(same, return_inverse=True)
    vertices = where[used]
    order = np.lexsort((part.clip(0.0, 1.0), edge))
    rings = []
    sizes = np.bincount(owner[edge], minlength=cut.num_regions)
    for row in np.split(order, np.cumsum(sizes)[:-1]) if cut.num_regions else ():
        ring = numbers[row]
        _, first = np.unique(ring, return_index=True)
        rings.append(ring[np.sort(first)])
    ends = merged(found.pairs, vertices, numbers[rows[: 2 * count]].reshape(-1, 2), cut.epsilon)
    segments = vertices[ends.numbers].reshape(-1, 4)
    gateways = Gateways(ends.pairs, cut.frame.world(segments.reshape(-1, 2)).reshape(-1, 4), segments)
    return RegionTopology(vertices, rings, owner[edge[used]], gateways, ends.numbers)


def _across(
    found: Contacts, edge: NDArray[np.int64], where: Floats, loose: NDArray[np.bool_]
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
            found = building.heights_at(level.ground, shared.vertices[here], result[here])
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
    for region in np.flatnonzero(cut.apart).tolist():  # it keeps its own corners, and nobody else has them
        own = np.arange(cut.offsets[region], cut.offsets[region + 1])
        polygons[region] = len(vertices) + np.arange(len(own))
        level = np.full(len(own), cut.heights[region])
        vertices = np.concatenate([vertices, np.column_stack([cut.local_corners[own], level])])
    return vertices if local else cut.frame.world(vertices), [ring.astype(np.int32) for ring in polygons]


def apart(cut: Decomposition) -> NDArray[np.bool_]:
    """Regions no wider than rounding: without an area over the common vertices, or on the same side of a larger one."""
    rings = cut.topology.rings
    found = np.array([len(ring) < 3 for ring in rings], np.bool_)
    owner: dict[tuple[int, int], int] = {}
    for region in np.argsort(-cut.region_areas, kind="stable").tolist():
        ring = rings[region].tolist()
        edges = list(zip(ring, ring[1:] + ring[:1], strict=True))
        if len(ring) >= 3 and any(edge in owner for edge in edges):
            found[region] = True
        elif len(ring) >= 3:
            owner.update(dict.fromkeys(edges, region))
    return found


def navmesh(cut: Decomposition, *, local: bool = False, closed: Sequence[int] = ()) -> NavMesh:
    """The regions as a mesh, some gateways being `closed`.

    They are convex already, up to rounding, which `NavMesh.from_polygons` would not take.
    """
    from wayfold.navmesh import NavMesh, polygons

    vertices, rings = shared_corners(cut, local=local)
    if not rings:
        raise OffMapError("the plan has no free space, so there is no navigation mesh")
    offsets = offsets_of([len(ring) for ring in rings])
    corners = np.concatenate(rings)
    beyond = polygons.border(offsets, corners)
    # Borders that are too short for a gateway are closed here too.
    owner = np.repeat(np.arange(len(rings)), np.diff(offsets))
    pairs = np.delete(cut.gateways.pairs.astype(np.int64), np.array(closed, np.int64), axis=0)
    keys = np.minimum(owner, beyond) * len(rings) + np.maximum(owner, beyond)
    beyond[~np.isin(keys, pairs[:, 0] * len(rings) + pairs[:, 1])] = -1
    ground = polygons.bare(vertices, offsets, corners, beyond)
    return NavMesh(ground, np.ones(len(rings), np.uint8))


def _same(where: Floats, level: NDArray[np.int32], arcs: NDArray[np.int64], near: float) -> NDArray[np.int64]:
    """For each point the first that it is one with: those of a level that are near, and those that are linked."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    count = len(where)
    apart = 1e3 * (near + np.abs(where).max(initial=0.0))
    close = cKDTree(np.column_stack([where, level * apart])).query_pairs(near, output_type="ndarray")
    arcs = np.concatenate([close, arcs])
    graph = coo_array((np.ones(len(arcs)), (arcs[:, 0], arcs[:, 1])), shape=(count, count))
    number, labels = connected_components(graph, directed=False)
    first = np.full(number, count)
    np.minimum.at(first, labels, np.arange(count))
    return np.asarray(first[labels])
