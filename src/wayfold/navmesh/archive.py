"""Navigation meshes in `.wayfold` files: the polygons, the links, and the tiles that a rebuild needs.

The mesh of polygons is what queries walk on, and its tiles are what edits put together again; a file holds both, and
what joins them (which polygons are whose tile's), so that the first edit after loading is as quick as any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold.agent import AGENT_VALUES, agent_from_meta, agent_to_meta
from wayfold.core import checks
from wayfold.core.schema import Array, Parts, Schema, Value
from wayfold.geometry.frame import Frame
from wayfold.links import Link
from wayfold.navmesh import _interval_kernels, tiles
from wayfold.navmesh._ground_kernels import PolyMesh
from wayfold.navmesh.building import (
    EDGES,
    ISLETS,
    JOINTS,
    POINTS,
    POLYGONS,
    TRIANGLES,
    VERTICES,
    Built,
    Islets,
    lane_doors,
)
from wayfold.navmesh.pipeline import SMALLEST_CELL, Settings
from wayfold.navmesh.snapshot import MeshSnapshot
from wayfold.navmesh.tiles import Flat, bases, concatenate, in_rows
from wayfold.navmesh.topology import Topology

_FAR = checks.LARGEST
_FLAT = {name: f"tiles/{'kinds' if name == 'areas' else name}" for name in Flat._fields}
_ISLETS = {name: f"islets/{'areas' if name == 'sizes' else name}" for name in Islets._fields}
"""Names of arrays in files, which outlive those in the code."""


# --- what a file holds ---------------------------------------------------------------------------------------------


def neighbours_match(parts: Parts) -> None:
    """Polygons name each other as neighbours across the same edge; no two corners in a row are one vertex."""
    ground = _ground(parts.arrays)
    polygons, edges = len(ground.offsets) - 1, len(ground.corners)
    after = np.arange(1, edges + 1)
    after[ground.offsets[1:] - 1] = ground.offsets[:-1]
    if (ground.corners == ground.corners[after]).any():
        raise ValueError("a polygon has the same corner twice")
    twins = np.empty(edges, np.int32)
    if _interval_kernels.twin_edges(ground.offsets, ground.corners, ground.neighbours, 0, polygons, twins):
        raise ValueError("neighbours must name each other across the same edge")


def links_whole(parts: Parts) -> None:
    """Links have all of numbers, kinds and the next number, or nothing of it; numbers rise and stay below the next."""
    there = {"link_ids" in parts.arrays, *(name in parts.meta for name in ("link_kinds", "next_link"))}
    if len(there) > 1:
        raise ValueError("numbers and kinds of links are there in part only")
    if not there.pop():
        return
    numbers = parts.arrays["link_ids"]
    if len(parts.meta["link_kinds"]) != len(numbers):
        raise ValueError(f"there should be {len(numbers)} kinds of links")
    if (np.diff(numbers, append=parts.meta["next_link"]) <= 0).any():
        raise ValueError("numbers of links must rise, and be below the next one")


def tiles_whole(parts: Parts) -> None:
    """All of a build is there or nothing of it, for as many tiles as the grid has."""
    arrays, meta = parts.arrays, parts.meta
    names = {*_FLAT.values(), *_ISLETS.values(), "islets/kept", "tiles/bounds"}
    names |= {"tiles/seeds"} if meta.get("keep") == "seeds" else set()
    extra = {name for name in arrays if name.startswith(("tiles/", "islets/"))}
    facts = {"agent", "settings", "grid", "keep"}
    if extra != (names if "grid" in meta else set()) or facts & meta.keys() not in (set(), facts):
        raise ValueError("what a rebuild needs is there in part only")
    if "grid" not in meta:
        return
    grid, agent, settings = _grid(meta["grid"]), agent_from_meta(meta["agent"]), Settings(**meta["settings"])
    tiles.check_grid(grid, agent, settings)
    if len(arrays["tiles/counts"]) != grid.count:
        raise ValueError(f"there should be {grid.count} tiles")
    if Frame(tuple(arrays["frame"][:3].tolist()), float(arrays["frame"][3])) != grid.local_frame:
        raise ValueError("the frame of the mesh is not that of its tiles")


def tiles_refer_inwards(parts: Parts) -> None:
    """Edges, doors and surfaces of a tile name vertices, polygons, edges and points of the same tile."""
    if "grid" not in parts.meta:
        return
    flat = _flat(parts.arrays)
    counts, polygons = flat.counts, flat.polygons
    ends = bases(counts)
    counted = (flat.heights, polygons, flat.edges, flat.doors, flat.surface, flat.triangles)
    if ends[-1].tolist() != [len(array) for array in counted]:
        raise ValueError("the counts of the tiles are not those of their arrays")
    for column, what in ((0, 2), (1, 4), (2, 5)):
        if not (_summed(polygons[:, column], ends[:, 1]) == counts[:, what]).all():
            raise ValueError("the polygons of a tile have other edges or surfaces than it")
    tile = np.repeat(np.arange(len(counts)), counts[:, 2])
    _inside(flat.edges[:, 0], 0, counts[tile, 0], "a tile's edges")
    _inside(flat.edges[:, 1], -1, counts[tile, 1], "a tile's edges")
    _inside(flat.triangles, 0, np.repeat(polygons[:, 1], polygons[:, 2])[:, None], "a polygon's surface")
    tile = np.repeat(np.arange(len(counts)), counts[:, 3])
    _inside(flat.doors[:, 5], 0, counts[tile, 1], "a tile's doors")
    _inside(flat.doors[:, 6], 0, counts[tile, 2], "a tile's doors")


def doors_lie_on_edges(parts: Parts) -> None:
    """Doors are stretches of edges along x or y, those of an edge on one side of it; on a line they do not overlap."""
    if "grid" not in parts.meta:
        return
    flat = _flat(parts.arrays)
    counts, doors = flat.counts, flat.doors.astype(np.int64)
    ends = bases(counts)
    tile = np.repeat(np.arange(len(counts)), counts[:, 3])
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(flat.polygons[:, 0], dtype=np.int64)])
    after = np.arange(1, len(flat.edges) + 1)
    after[offsets[1:] - 1] = offsets[:-1]
    edge = doors[:, 6] + ends[tile, 2]
    where = flat.lattice.astype(np.int64)
    first = where[flat.edges[edge, 0] + ends[tile, 0]]
    last = where[flat.edges[after[edge], 0] + ends[tile, 0]]
    turn = doors[:, 0] & 1  # 0 along y, 1 along x
    rows = np.arange(len(doors))
    low, high = np.minimum(first, last)[rows, 1 - turn], np.maximum(first, last)[rows, 1 - turn]
    along = first[rows, turn] == last[rows, turn]
    if not (along & (low <= doors[:, 3]) & (doors[:, 3] < doors[:, 4]) & (doors[:, 4] <= high)).all():
        raise ValueError("a door does not lie on its edge")
    order = np.argsort(edge, kind="stable")
    side = doors[order, 0] & 3
    if ((edge[order][1:] == edge[order][:-1]) & (side[1:] != side[:-1])).any():
        raise ValueError("an edge has doors on both of its sides")
    for lists in (np.column_stack([tile, doors]), *(np.insert(part, 0, 0, axis=1) for part in lane_doors(flat.doors))):
        keys, same = lists[:, :4], np.ones(max(len(lists) - 1, 0), np.bool_)
        for key in keys.T:
            if (same & (key[1:] < key[:-1])).any():
                raise ValueError("the doors of a tile are not in order")
            same &= key[1:] == key[:-1]
        if (same & (lists[1:, 4] < lists[:-1, 5])).any():
            raise ValueError("the doors of a tile overlap")


def islets_fit(parts: Parts) -> None:
    """Islets, joints and polygons are numbered tile by tile; the mesh has the polygons of the islets that are kept."""
    if "grid" not in parts.meta:
        return
    arrays = parts.arrays
    islets, bounds, ground = _islets(arrays), arrays["tiles/bounds"], _ground(arrays)
    counts, polygons = arrays["tiles/counts"], len(arrays["tiles/polygons"])
    sizes = [polygons, len(islets.sizes), len(islets.joints)]
    _rises(islets.bounds, sizes)
    if not (np.diff(islets.bounds[:, POLYGONS]) == counts[:, 1]).all() or len(islets.islet) != polygons:
        raise ValueError("the islands are not those of the tiles")
    mine = np.repeat(np.arange(len(counts)), counts[:, 1])
    first, last = islets.bounds[mine, ISLETS], islets.bounds[mine + 1, ISLETS]
    joined = np.repeat(np.arange(len(counts)), np.diff(islets.bounds[:, JOINTS]))
    joints = islets.joints
    low, high = islets.bounds[joined, ISLETS], islets.bounds[joined + 1, ISLETS]
    right = ((first <= islets.islet) & (islets.islet < last)).all()
    right &= ((low <= joints[:, 0]) & (joints[:, 0] < high) & (high <= joints[:, 1])).all()
    if not right or (joints[1:, 0] < joints[:-1, 0]).any():
        raise ValueError("an island of a tile lies in another one")
    _rises(
        bounds,
        [
            len(ground.offsets) - 1,
            len(ground.corners),
            len(ground.vertices),
            len(ground.surface_points),
            len(ground.surface_triangles),
        ],
    )
    kept = arrays["islets/kept"][islets.islet]
    held = _summed(kept, islets.bounds[:, POLYGONS]) == np.diff(bounds[:, POLYGONS])
    fits = held.all() and (ground.offsets[bounds[:, POLYGONS]] == bounds[:, EDGES]).all()
    if not fits or not (ground.surface_offsets[bounds[:, POLYGONS]] == bounds[:, TRIANGLES]).all():
        raise ValueError("the mesh does not have the polygons of its tiles")


def tiles_touch(parts: Parts) -> None:
    """A polygon's corners and neighbours are of its own tile or of one beside it, its surface is of its own."""
    if "grid" not in parts.meta:
        return
    bounds, ground, columns = parts.arrays["tiles/bounds"], _ground(parts.arrays), _grid(parts.meta["grid"]).columns
    owner = [np.repeat(np.arange(len(bounds) - 1), np.diff(bounds[:, what])) for what in range(5)]
    for numbers, what, of in (
        (ground.corners, VERTICES, EDGES),
        (ground.neighbours, POLYGONS, EDGES),
        (ground.surface_triangles, POINTS, TRIANGLES),
    ):
        tile = owner[of][:, None] if numbers.ndim == 2 else owner[of]
        if not len(numbers):
            continue
        other = np.where(numbers >= 0, owner[what][numbers], tile)
        near = np.maximum(np.abs(other % columns - tile % columns), np.abs(other // columns - tile // columns))
        if near.max() > (0 if what == POINTS else 1):
            raise ValueError("a polygon refers to a tile that does not touch its own")


_HERE: Any = {"optional": True}  # in built meshes
SCHEMA = Schema(
    "navmesh",
    {
        "ground/vertices": Array("float64", ("vertices", 3), "metres from the frame's origin", -_FAR, _FAR),
        "ground/offsets": Array("int64", ("polygons + 1",), "edges of each polygon", rises="edges", least_rise=3),
        "ground/corners": Array("int32", ("edges",), "the vertex that each edge begins at", refers="vertices"),
        "ground/neighbours": Array("int32", ("edges",), "the polygon beyond each edge", -1, refers="polygons"),
        "ground/surface_points": Array("float64", ("points", 3), "metres from the frame's origin", -_FAR, _FAR),
        "ground/surface_offsets": Array("int64", ("polygons + 1",), "triangles of each polygon", rises="triangles"),
        "ground/surface_triangles": Array("int32", ("triangles", 3), "corners of the surface", refers="points"),
        "kinds": Array("uint8", ("polygons",), "kind of area of each polygon"),
        "frame": Array("float64", (4,), "origin x, y, z and extent, metres", -_FAR, _FAR),
        "links": Array("float64", ("links", 2, 3), "ends of links as they were given, metres", -_FAR, _FAR),
        "link_costs": Array("float64", ("links",), "costs of links", 0.0, checks.LARGEST_COST),
        "link_one_way": Array("bool", ("links",), "whether a link leads one way only"),
        "link_ids": Array("int64", ("links",), "numbers of links, rising", 0, 2**53, optional=True),
        "tiles/counts": Array(
            "int64", ("tiles", 6), "vertices, polygons, edges, doors, surface points and triangles of each tile",
            0, 2**31 - 1, **_HERE,
        ),
        "tiles/lattice": Array("int32", ("tile vertices", 2), "place of each vertex on the lattice", **_HERE),
        "tiles/heights": Array("float32", ("tile vertices",), "metres above the origin", -_FAR, _FAR, **_HERE),
        "tiles/polygons": Array(
            "int32", ("tile polygons", 3), "edges, surface points and triangles of each polygon", 0, **_HERE
        ),
        "tiles/kinds": Array("uint8", ("tile polygons",), "kind of area of each polygon", **_HERE),
        "tiles/edges": Array("int32", ("tile edges", 2), "start vertex and neighbour in the tile", -1, **_HERE),
        "tiles/doors": Array(
            "int32", ("doors", 7), "side, floors, place along it from and to, polygon, edge: where tiles meet", **_HERE
        ),
        "tiles/surface": Array("int32", ("tile points", 2), "place of each surface point, doubled lattice", **_HERE),
        "tiles/surface_heights": Array("float32", ("tile points",), "metres above the origin", -_FAR, _FAR, **_HERE),
        "tiles/triangles": Array("int32", ("tile triangles", 3), "points of the polygon's surface", 0, **_HERE),
        "tiles/bounds": Array(
            "int64", ("tiles + 1", 5), "first polygon, edge, vertex, surface point and triangle of each tile", **_HERE
        ),
        "tiles/seeds": Array("float64", (".seeds", 3), "what islands must hold to stay, metres", -_FAR, _FAR, **_HERE),
        "islets/islet": Array("int32", ("tile polygons",), "connected part of its tile", refers="islets", **_HERE),
        "islets/areas": Array("float64", ("islets",), "square metres", 0.0, _FAR**2, **_HERE),
        "islets/joints": Array("int32", ("joints", 2), "parts that touch across a border", refers="islets", **_HERE),
        "islets/bounds": Array("int64", ("tiles + 1", 3), "first polygon, part and joint of each tile", **_HERE),
        "islets/kept": Array("bool", ("islets",), "whether a part stays in the mesh", **_HERE),
    },
    {
        "link_kinds": Value(list, "free text for each link", each=Value(str, ""), optional=True),
        "next_link": Value(int, "the number of the next link", 0, 2**53, optional=True),
        "agent": Value(dict, "whom a built mesh is for", optional=True, fields=AGENT_VALUES),
        "settings": Value(
            dict, "how it was built", optional=True,
            fields={
                "cell_size": Value(float, "metres", SMALLEST_CELL, _FAR),
                "cell_height": Value(float, "metres", SMALLEST_CELL, _FAR),
                "tile_size": Value(int, "columns", 0, 4096),
                "min_region": Value(float, "square metres", 0.0, _FAR**2),
                "merge_region": Value(float, "square metres", 0.0, _FAR**2),
                "max_edge": Value(float, "metres", 0.0, _FAR),
                "max_error": Value(float, "cells", 0.5, 10.0),
                "max_bulge": Value(float, "cells", 0.1, 10.0),
                "max_corners": Value(int, "corners of a polygon", 3, 64),
                "detail_error": Value(float, "metres", 0.0, _FAR),
            },
        ),
        "grid": Value(
            dict, "how the world is cut into tiles", optional=True,
            fields={
                "origin": Value(list, "x, y, z, metres", each=Value(float, "", -_FAR, _FAR), length=3),
                "cell_size": Value(float, "metres", SMALLEST_CELL, _FAR),
                "cell_height": Value(float, "metres", SMALLEST_CELL, _FAR),
                "width": Value(int, "columns", 1, 2**34),
                "depth": Value(int, "columns", 1, 2**34),
                "tile": Value(int, "columns, 0 for one tile", 0, 4096),
                "border": Value(int, "columns", 0, 2**16),
                "parts": Value(int, "steps of the lattice in a column", 1, 2**16),
            },
        ),
        "keep": Value(str, "which islands stay", among=("all", "largest", "seeds"), optional=True),
    },
    checks=(
        neighbours_match,
        links_whole,
        tiles_whole,
        tiles_refer_inwards,
        doors_lie_on_edges,
        islets_fit,
        tiles_touch,
    ),
)  # fmt: skip


# --- to and from it ------------------------------------------------------------------------------------------------


def to_parts(snapshot: MeshSnapshot) -> Parts:
    """A mesh with its links, and with its tiles where it was built."""
    links = snapshot.links
    arrays: dict[str, NDArray[Any]] = {f"ground/{key}": value for key, value in snapshot.ground._asdict().items()}
    arrays["kinds"] = snapshot.areas
    arrays["frame"] = np.array([*snapshot.frame.origin, snapshot.frame.extent])
    arrays["links"] = np.array([[link.start, link.end] for link in links], np.float64).reshape(-1, 2, 3)
    arrays["link_costs"] = np.array([link.cost for link in links], np.float64)
    arrays["link_one_way"] = np.array([not link.both_ways for link in links], np.bool_)
    arrays["link_ids"] = np.array([link.id for link in links], np.int64)
    meta: dict[str, Any] = {"link_kinds": [link.kind for link in links], "next_link": snapshot.next_link}
    built = snapshot.built
    if built is None:
        return Parts(arrays, meta)
    arrays |= {_FLAT[name]: array for name, array in concatenate(built.rows)._asdict().items()}
    arrays |= {_ISLETS[name]: array for name, array in built.islets._asdict().items()}
    arrays |= {"islets/kept": built.kept, "tiles/bounds": built.bounds}
    meta |= {"settings": asdict(built.settings), "grid": asdict(built.grid), "keep": built.keep}
    meta["grid"]["origin"] = list(built.grid.origin)
    meta["agent"] = agent_to_meta(built.agent)
    if not isinstance(built.keep, str):
        arrays["tiles/seeds"] = built.keep
        meta["keep"] = "seeds"
    return Parts(arrays, meta)


def from_parts(parts: Parts) -> MeshSnapshot:
    """The mesh."""
    arrays, meta = parts.arrays, parts.meta
    x, y, z, extent = arrays["frame"].tolist()
    if extent < 0.0:
        raise ValueError("the extent of the frame is below 0")
    built = None
    if "grid" in meta:
        keep = arrays["tiles/seeds"] if meta["keep"] == "seeds" else meta["keep"]
        grid = _grid(meta["grid"])
        rows = in_rows(_flat(arrays), grid.columns)
        kept, bounds = arrays["islets/kept"], arrays["tiles/bounds"]
        settings, agent = Settings(**meta["settings"]), agent_from_meta(meta["agent"])
        built = Built(agent, settings, grid, rows, keep, _islets(arrays), kept, bounds)
    topology = Topology(_ground(arrays), arrays["kinds"], Frame((x, y, z), extent))
    # Files from before links had ids and kinds number them as they come.
    count = len(arrays["links"])
    links = zip(
        arrays["link_ids"].tolist() if "link_ids" in arrays else range(count),
        arrays["links"].tolist(),
        arrays["link_costs"].tolist(),
        meta.get("link_kinds", [""] * count),
        arrays["link_one_way"].tolist(),
        strict=True,
    )
    given = tuple(
        Link(number, tuple(start), tuple(end), cost, kind, not one_way)
        for number, (start, end), cost, kind, one_way in links
    )
    return MeshSnapshot(topology, built).with_links(given, meta.get("next_link", count))


def _ground(arrays: Mapping[str, NDArray[Any]]) -> PolyMesh:
    return PolyMesh(*(arrays[f"ground/{name}"] for name in PolyMesh._fields))


def _flat(arrays: Mapping[str, NDArray[Any]]) -> Flat:
    return Flat(*(arrays[name] for name in _FLAT.values()))


def _islets(arrays: Mapping[str, NDArray[Any]]) -> Islets:
    return Islets(*(arrays[name] for name in _ISLETS.values()))


def _grid(facts: Mapping[str, Any]) -> tiles.TileGrid:
    return tiles.TileGrid(**{**facts, "origin": tuple(float(value) for value in facts["origin"])})


def _summed(values: NDArray[Any], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums of the values between each two ends."""
    return np.diff(np.concatenate([np.zeros(1, np.int64), np.cumsum(values, dtype=np.int64)])[ends])


def _inside(values: NDArray[Any], low: int, count: NDArray[Any], what: str) -> None:
    if not ((values >= low) & (values < count)).all():
        raise ValueError(f"{what} refer to something that is not there")


def _rises(bounds: NDArray[np.int64], sizes: list[int]) -> None:
    if bounds[0].any() or bounds[-1].tolist() != sizes or (np.diff(bounds, axis=0) < 0).any():
        raise ValueError(f"the bounds of the tiles must rise from 0 to {sizes}")
