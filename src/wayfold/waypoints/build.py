"""`WaypointGraph.build`: regions one by one, in parallel, with the same result whatever the number of threads."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import Agent, Motion
from wayfold.core import checks
from wayfold.core.arrays import offsets_of
from wayfold.core.batches import run_chunks
from wayfold.errors import GeometryError, ParameterError
from wayfold.geometry import Mesh
from wayfold.geometry.bvh_kernels import collect_overlapping
from wayfold.graph import Graph
from wayfold.graph.build import turn_round
from wayfold.waypoints import _kernels, _place_kernels
from wayfold.waypoints.narrow import (
    Narrow,
    corner_places,
    crease_places,
    narrow_places,
    on_planes,
    plane_places,
    ridge_places,
    ridges_of,
    wall_places,
)
from wayfold.waypoints.regions import Regions, grid_boxes
from wayfold.waypoints.surroundings import Body, Surroundings

_COLUMNS = 6  # verticals along each side of a region that look for floors
LEVELS = 3  # free places along each side of a region that has triangles, and of every face
_EMPTY_LEVELS = 2  # free places along each side of an empty region
_MOST = 1024  # waypoints of one region, with those on its faces
_HITS = 64  # floors on one vertical
_FINE = 1 << 14  # positions of a walker that are tried in one region
_CORNER_SHARE = 160  # corners and openings that are tried in one region
_WALL_SHARE = 1000  # places beside walls and ceilings that are tried in one region
_FACE_SHARE = 400  # places beside walls and ceilings that are tried on one face
_RIM_SHARE = 400  # places above the rims of roofs and balconies that are tried in one region
_NARROW_SHARE = 4000  # places in openings that are tried in one region or on one face
_LEAST_ISLAND = 6  # waypoints that lead nowhere else, to be worth walking or climbing between
_MOST_REGIONS = 1 << 24

Progress = Callable[[int, int], None]


class Placed(NamedTuple):
    """Waypoints of one region or face."""

    points: NDArray[np.float32]
    motions: NDArray[np.uint8]


class Spots(NamedTuple):
    """Places that matter, for each region (k, 3) float64; rims (k, 6)."""

    corners: list[NDArray[np.float64]]  # beside corners and in openings
    walls: list[NDArray[np.float64]]  # beside walls, ceilings and their outer edges
    rims: list[NDArray[np.float64]]  # above and beside the rims of what walls carry
    narrow: list[NDArray[np.float64]]  # in openings and in front of them, the narrowest first
    faces: list[list[NDArray[np.float64]]]  # for each axis: beside walls, on the face to the next region
    face_rims: list[list[NDArray[np.float64]]]  # for each axis: on the way over a rim, on that face
    face_narrow: list[list[NDArray[np.float64]]]  # for each axis: in openings, on that face


class Cut(NamedTuple):
    """How space is cut."""

    low: NDArray[np.float64]
    size: float
    shape: tuple[int, int, int]


class Edges(NamedTuple):
    """Edges of one region, as places in its list of waypoints."""

    starts: NDArray[np.uint16]
    ends: NDArray[np.uint16]
    motions: NDArray[np.uint8]


def cut_space(mesh: Mesh, agent: Agent, region_size: float) -> Cut:
    """Cubes that cover the mesh and the free height above it."""
    low, high = mesh.bounds
    extent = high - low
    extent[2] += agent.height + agent.climb
    shape = np.maximum(1, np.ceil(extent / region_size)).astype(np.int64)
    if float(shape.astype(float).prod()) > _MOST_REGIONS:
        raise ParameterError(
            f"region_size {region_size:g} m cuts the mesh into {' x '.join(map(str, shape))} regions, more than"
            f" {_MOST_REGIONS}: use larger regions"
        )
    corner = low - (shape * region_size - extent) / 2
    corner[2] = low[2] - min(0.5, 0.01 * region_size)
    # Faces lie where float32 has a number, so that boundary waypoints lie on them exactly.
    return Cut(corner.astype(np.float32).astype(np.float64), region_size, (int(shape[0]), int(shape[1]), int(shape[2])))


def build(
    mesh: Mesh,
    agent: Agent,
    region_size: float,
    motions: Motion,
    closed: Mesh | None,
    workers: int | None,
    progress: Progress | None,
) -> tuple[Graph, Regions, Surroundings, dict[str, float]]:
    """Place waypoints, join them, and say how many seconds each stage took."""
    size = checks.number(region_size, "region_size", low=0.0, open_low=True, high=checks.LARGEST)
    least = max(4.0 * agent.radius, 2.0 * agent.height)
    if size < least:
        raise ParameterError(
            f"region_size must be at least {least:g} m for an agent of radius {agent.radius:g} and height"
            f" {agent.height:g} m, not {size:g}"
        )
    clock = [time.perf_counter()]
    surroundings = Surroundings(mesh, agent, closed)
    cut = cut_space(surroundings.local_mesh, agent, size)
    spots = _spots(surroundings, cut, motions, workers)
    clock.append(time.perf_counter())
    count = cut.shape[0] * cut.shape[1] * cut.shape[2]
    total = 3 * count
    done = [0]

    def step(items: int) -> None:
        done[0] += items
        if progress is not None:
            progress(done[0], total)

    locals_, faces, empty = _place(surroundings, cut, spots, int(motions), workers, step)
    points, waypoint_motions, of, nodes = _number(locals_, faces, cut)
    if not len(points):
        raise GeometryError(
            f"no waypoint fits: there is no place in the mesh for an agent of radius {agent.radius:g} and height"
            f" {agent.height:g} m with the motions {motions!r}"
        )
    clock.append(time.perf_counter())
    edges = _join(surroundings, points, waypoint_motions, of, nodes, empty, int(motions), workers, step)
    clock.append(time.perf_counter())
    graph = _assemble(surroundings.frame.world(points.astype(np.float64)), nodes, edges)
    corner = surroundings.frame.world(cut.low)
    regions = Regions.from_pairs(grid_boxes(corner, np.full(3, cut.size), cut.shape), of, cut.shape)
    clock.append(time.perf_counter())
    names = ("index", "waypoints", "edges", "rows")
    return graph, regions, surroundings, dict(zip(names, np.diff(clock).tolist(), strict=True))


def _spots(surroundings: Surroundings, cut: Cut, motions: Motion, workers: int | None) -> Spots:
    """Places that matter in the mesh, by region."""
    mesh, body = surroundings.local_mesh, surroundings.body
    narrow = Narrow(np.empty((0, 3)), np.empty(0))
    if motions & Motion.VOLUMETRIC:
        narrow = narrow_places(surroundings, mesh, widest_missed(cut, body), workers=workers)
    spacing = 0.4 * cut.size / _COLUMNS
    ridges = ridges_of(mesh, body.cosine)
    around, rims = ridge_places(mesh, ridges, body.offset, body.lift, body.cosine, spacing)
    creases = crease_places(mesh, body.offset, body.cosine, spacing)
    beside = np.concatenate([wall_places(mesh, body.offset, body.cosine, spacing), around, creases])
    faces, face_rims, face_narrow = [], [], []
    planes = [levels[1:-1] for levels in planes_of(cut)]
    for axis, levels in enumerate(planes):
        found, over = plane_places(mesh, ridges, beside, rims, body.offset, body.cosine, spacing, axis, levels)
        faces.append(_by_region(found.places, cut, _FACE_SHARE, (axis, found.plane)))
        face_rims.append(_by_region(over.places, cut, _FACE_SHARE, (axis, over.plane)))
        places, plane = on_planes(surroundings, narrow, axis, planes, workers)
        face_narrow.append(_by_region(places, cut, _NARROW_SHARE, (axis, plane)))
    return Spots(
        _by_region(corner_places(mesh, body.offset, 8.0 * body.lift), cut, _CORNER_SHARE),
        _by_region(beside, cut, _WALL_SHARE),
        _by_region(rims, cut, _RIM_SHARE),
        _by_region(narrow.centres, cut, _NARROW_SHARE),
        faces,
        face_rims,
        face_narrow,
    )


def widest_missed(cut: Cut, body: Body) -> float:
    """Width of openings up to which none of the lattice of free places may be in them, metres.

    In wider ones a body has room in a circle that no square of the lattice fits around.
    """
    return math.sqrt(2.0) * cut.size / LEVELS + 2.0 * body.radius


def _by_region(
    places: NDArray[np.float64], cut: Cut, most: int, layer: tuple[int, NDArray[np.int64]] | None = None
) -> list[NDArray[np.float64]]:
    """Places (in the first three columns) of each region, at most so many, spread evenly over the list.

    With an axis and `layer`s along it, which are known for places on faces, those count.
    """
    cell = np.floor((places[:, :3] - cut.low) / cut.size).astype(np.int64)
    if layer is not None:
        cell[:, layer[0]] = layer[1]
    fits = ((cell >= 0) & (cell < cut.shape)).all(axis=1)
    places, cell = places[fits], cell[fits]
    region = (cell[:, 0] * cut.shape[1] + cell[:, 1]) * cut.shape[2] + cell[:, 2]
    order = np.argsort(region, kind="stable")
    count = cut.shape[0] * cut.shape[1] * cut.shape[2]
    bounds = offsets_of(np.bincount(region, minlength=count))
    result = []
    for at in range(count):
        own = order[bounds[at] : bounds[at + 1]]
        if len(own) > most:
            own = own[np.linspace(0, len(own) - 1, most).astype(np.int64)]
        result.append(np.ascontiguousarray(places[own]))
    return result


def _corner_of(cut: Cut, region: int) -> tuple[int, int, int]:
    rest, z = divmod(region, cut.shape[2])
    x, y = divmod(rest, cut.shape[1])
    return x, y, z


def planes_of(cut: Cut) -> list[NDArray[np.float64]]:
    """Coordinates of the faces along each axis, as float32 stores them."""
    return [(cut.low[d] + cut.size * np.arange(cut.shape[d] + 1)).astype(np.float32).astype(float) for d in range(3)]


def _place(
    surroundings: Surroundings,
    cut: Cut,
    spots: Spots,
    motions: int,
    workers: int | None,
    step: Callable[[int], None],
) -> tuple[list[Placed], dict[tuple[int, int], Placed], NDArray[np.bool_]]:
    """Waypoints of every region and of every inner face (by region and axis), and which regions are empty."""
    count = len(spots.corners)
    planes = planes_of(cut)
    locals_: list[Any] = [None] * count
    faces: dict[tuple[int, int], Placed] = {}
    empty = np.zeros(count, np.bool_)
    body = surroundings.body
    grown = body.radius + body.top + body.lift
    strides = (cut.shape[1] * cut.shape[2], cut.shape[2], 1)

    def box(region: int) -> tuple[tuple[int, int, int], Any, Any]:
        cell = _corner_of(cut, region)
        low = tuple(planes[d][cell[d]] for d in range(3))
        return cell, low, tuple(planes[d][cell[d] + 1] for d in range(3))

    def place_faces(first: int, last: int) -> None:
        world, scratch, points, waypoint_motions = surroundings.world(), new_scratch(), *new_room()
        for region in range(first, last):
            cell, low, high = box(region)
            for axis in range(3):
                if cell[axis] + 1 < cut.shape[axis]:
                    corner = tuple(high[d] if d == axis else low[d] for d in range(3))
                    found = _place_kernels.place_face(
                        world,
                        body,
                        axis,
                        corner,
                        high,
                        motions,
                        _COLUMNS,
                        LEVELS,
                        spots.faces[axis][region],
                        spots.face_rims[axis][region],
                        spots.face_narrow[axis][region],
                        scratch,
                        points,
                        waypoint_motions,
                    )
                    faces[region, axis] = Placed(points[:found].copy(), waypoint_motions[:found].copy())

    def place_locals(first: int, last: int) -> None:
        world, scratch, points, waypoint_motions = surroundings.world(), new_scratch(), *new_room()
        nothing = np.empty(0, np.int32)
        for region in range(first, last):
            cell, low, high = box(region)
            around = tuple(float(v - grown) for v in low), tuple(float(v + grown) for v in high)
            empty[region] = not collect_overlapping(world.tree, world.stack, *around, nothing)
            given = 0
            for axis in range(3):
                for key in ((region, axis), (region - strides[axis], axis)):
                    face = faces.get(key) if key[0] == region or cell[axis] > 0 else None
                    if face is not None:
                        points[given : given + len(face.motions)] = face.points
                        waypoint_motions[given : given + len(face.motions)] = face.motions
                        given += len(face.motions)
            columns, levels = (1, _EMPTY_LEVELS) if empty[region] else (_COLUMNS, LEVELS)
            wanted = motions & Motion.VOLUMETRIC if empty[region] else motions
            found = _place_kernels.place_region(
                world,
                body,
                low,
                high,
                int(wanted),
                columns,
                levels,
                spots.corners[region],
                spots.walls[region],
                spots.rims[region],
                spots.narrow[region],
                scratch,
                points,
                waypoint_motions,
                given,
            )
            locals_[region] = Placed(points[given:found].copy(), waypoint_motions[given:found].copy())

    run_chunks(place_faces, count, workers=workers, chunk=4, progress=step)
    run_chunks(place_locals, count, workers=workers, chunk=4, progress=step)
    return locals_, faces, empty


def new_scratch() -> _place_kernels.PlaceScratch:
    """Return scratch memory for placing the waypoints of one region."""
    return _place_kernels.PlaceScratch(
        np.empty(_HITS),
        np.empty(_HITS, np.int32),
        np.empty((_FINE, 3), np.float32),
        np.empty(_FINE, np.uint8),
        np.empty(_FINE, np.int32),
        np.empty(_MOST + 1, np.int32),
    )


def new_room() -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Return arrays for the waypoints of one region: points and their motions."""
    return np.empty((_MOST, 3), np.float32), np.empty(_MOST, np.uint8)


def _number(
    locals_: list[Placed], faces: dict[tuple[int, int], Placed], cut: Cut
) -> tuple[NDArray[np.float32], NDArray[np.uint8], NDArray[np.int32], list[NDArray[np.int32]]]:
    """Number the waypoints region by region: points, motions, regions of each, and the waypoints of each region."""
    strides = (cut.shape[1] * cut.shape[2], cut.shape[2], 1)
    parts: list[Placed] = []
    owners: list[tuple[int, int, int]] = []
    members: list[list[NDArray[np.int32]]] = [[] for _ in locals_]
    start = 0
    for region, local in enumerate(locals_):
        for axis in range(-1, 3):
            placed = local if axis < 0 else faces.get((region, axis))
            if placed is None:
                continue
            other = -1 if axis < 0 else region + strides[axis]
            ids = np.arange(start, start + len(placed.motions), dtype=np.int32)
            start += len(ids)
            parts.append(placed)
            owners.append((region, other, len(ids)))
            members[region].append(ids)
            if other >= 0:
                members[other].append(ids)
    points = np.concatenate([part.points for part in parts])
    motions = np.concatenate([part.motions for part in parts])
    rows = np.array(owners, np.int64)
    of = np.repeat(rows[:, :2], rows[:, 2], axis=0).astype(np.int32)
    nodes = [np.sort(np.concatenate([np.empty(0, np.int32), *ids])) for ids in members]
    return points, motions, np.ascontiguousarray(of), nodes


def _join(
    surroundings: Surroundings,
    points: NDArray[np.float32],
    waypoint_motions: NDArray[np.uint8],
    of: NDArray[np.int32],
    nodes: list[NDArray[np.int32]],
    empty: NDArray[np.bool_],
    motions: int,
    workers: int | None,
    step: Callable[[int], None],
) -> list[Edges]:
    """Edges of every region."""
    edges: list[Any] = [None] * len(nodes)
    most = max(len(ids) for ids in nodes)
    room = most * (most - 1) // 2

    def work(first: int, last: int) -> None:
        world = surroundings.world()
        scratch = np.empty(room, np.uint16), np.empty(room, np.uint16), np.empty(room, np.uint8)
        group, met = np.empty(most, np.int32), np.empty(most, np.bool_)
        for region in range(first, last):
            count = _kernels.region_edges(
                world,
                surroundings.body,
                points,
                nodes[region],
                of,
                region,
                waypoint_motions,
                motions,
                bool(empty[region]),
                *scratch,
            )
            for motion in (Motion.SURFACE, Motion.ADHESIVE):
                if motions & Motion.ADHESIVE and not empty[region]:
                    count = _kernels.drop_islands(
                        nodes[region], of, waypoint_motions, int(motion), _LEAST_ISLAND, *scratch, count, group, met
                    )
            starts, ends, edge_motions = scratch
            edges[region] = Edges(starts[:count].copy(), ends[:count].copy(), edge_motions[:count].copy())

    run_chunks(work, len(nodes), workers=workers, chunk=4, progress=step)
    return edges


def _assemble(points: NDArray[np.float64], nodes: list[NDArray[np.int32]], edges: list[Edges]) -> Graph:
    """Compressed rows of all edges, sorted, freeing each region's list on the way."""
    counts = np.zeros(len(points), np.int64)
    for ids, part in zip(nodes, edges, strict=True):
        _place_kernels.count_rows(ids, part.starts, part.ends, counts)
    offsets = offsets_of(counts)
    targets = np.empty(int(offsets[-1]), np.int32)
    motions = np.empty(int(offsets[-1]), np.uint8)
    cursor = offsets[:-1].copy()
    for at, ids in enumerate(nodes):
        part = edges[at]
        _place_kernels.fill_rows(ids, part.starts, part.ends, part.motions, cursor, targets, motions)
        edges[at] = Edges(part.starts[:0], part.ends[:0], part.motions[:0])
    # Turning every edge round lists the sources of each row in ascending order: a sort by counting.
    offsets, targets, _, row_motions = turn_round(offsets, targets, None, motions)
    return Graph(points, offsets, targets, None, row_motions)
