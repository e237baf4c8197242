"""The fuzzer of level files: values and structure of small files of every format are changed, then maps are built.

``python -m tests.formats.fuzz FIRST COUNT FOLDER`` runs the cases with the seeds from FIRST on. Before each case its
number and what was done are written to FOLDER/log. Allowed ends are a `WayfoldError`, and maps that answer.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import lzma
import re
import struct
import sys
import warnings
from pathlib import Path

import numpy as np
import shapely
import shapely.affinity

from tests.formats import samples
from tests.limited import each_case
from wayfold import Agent, Box, DenseGrid, FloorPlan, Motion, NavMesh, SparseGrid, Terrain, World, formats
from wayfold.errors import WayfoldError
from wayfold.waypoints import VoxelWaypoints

NUMBERS = (
    "0", "-0.0", "1", "-1", "2", "0.5", "1e-320", "1e-160", "1e-30", "1e6", "1e9", "1e12", "1.1e12", "1e38", "1e300",
    "1e307", "-1e308", "1e999", "NaN", "Infinity", "-Infinity", "nan", "inf", "9" * 12, "9" * 400, "2147483648",
    "-2147483649", "0x10", "1_000", "1e", "--1", "",
)  # fmt: skip
WORDS = (*NUMBERS, "null", "true", '"x"', "[]", "{}", "[[[[]]]]", "\0", "é", "x" * 5000)
BITS = (0, 1, -1, 2**31 - 1, -(2**31), 0x7F800000, 0x7FC00000, 0x7F7FFFFF, 0x00000001, 0x4E6E6B28, 10**6)
DEEP = 100_000


def overlaps():
    """A floor with areas that overlap, touch and cross it, with weights and roles."""
    rng = np.random.default_rng(3)
    features = []
    for number in range(7):
        x, y = rng.integers(0, 20, 2).tolist()
        shape = shapely.box(-5, -5, 25, 25) if number == 0 else shapely.box(x, y, x + 3 * number, y + 4)
        if number % 3 == 2:
            shape = shapely.affinity.rotate(shape, 30)
        facts = {"weight": 1.0 + number, "name": f"{number}", "role": "obstacle" if number else "boundary"}
        features.append({"type": "Feature", "properties": facts, "geometry": shapely.geometry.mapping(shape)})
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()


FILES = {**samples.FILES, "overlaps.geojson": overlaps()}


# --- what is changed -----------------------------------------------------------------------------------------------


def change_text(rng, content):
    """A few numbers or words of a text replaced, or lines left out, doubled, exchanged."""
    text = content.decode("latin-1")
    if rng.random() < 0.7:
        spots = list(re.finditer(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text))
        for _ in range(int(rng.integers(1, 4))):
            spot = spots[rng.integers(len(spots))]
            words = NUMBERS if rng.random() < 0.8 else WORDS
            text = text[: spot.start()] + words[rng.integers(len(words))] + text[spot.end() :]
            spots = list(re.finditer(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text)) or spots
        return text.encode("utf-8", "replace")
    lines = text.split("\n")
    a, b = rng.integers(len(lines), size=2)
    how = rng.integers(4)
    if how == 0:
        del lines[a]
    elif how == 1:
        lines[a:a] = lines[min(a, b) : max(a, b) + 1]
    elif how == 2:
        lines[a], lines[b] = lines[b], lines[a]
    else:
        lines[a] = lines[a][: rng.integers(len(lines[a]) + 1)]
    return "\n".join(lines).encode("latin-1", "replace")


def change_words(rng, content):
    """A few numbers of a binary file replaced."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(max(1, len(data) - 8)))
        at -= at % 4 if rng.random() < 0.7 else 0
        if rng.random() < 0.7:
            struct.pack_into("<I", data, at, BITS[rng.integers(len(BITS))] & 0xFFFFFFFF)
        else:
            struct.pack_into("<d", data, at, [1e308, -1e308, np.nan, np.inf, 1e13, 1e-310, 0.0][rng.integers(7)])
    return bytes(data)


def change_tree(rng, content):
    """Something in a JSON text replaced, left out, doubled, or nested more deeply."""
    tree = json.loads(content)
    spots = list(places(tree))
    for _ in range(int(rng.integers(1, 4))):
        where, key = spots[rng.integers(len(spots))]
        if (key not in where) if isinstance(where, dict) else (key >= len(where)):
            continue
        how = rng.random()
        if how < 0.6:
            odd = [0, -1, 1, 0.5, 1e-320, 1e-160, 1e6, 1e9, 1e12, 1.1e12, 1e300, 1e307, -1e308, float("nan"),
                   float("inf"), 10**400, 2**63, None, True, "x", "", [], {}, [[]], [1, 2]]  # fmt: skip
            where[key] = odd[rng.integers(len(odd))]
        elif how < 0.7:
            del where[key]
        elif how < 0.8 and isinstance(where, list):
            where.insert(key, where[key])
        elif how < 0.85 and isinstance(where, list):
            where.reverse()
        elif how < 0.9:
            where[key] = [where[key]]
        else:
            other, its = spots[rng.integers(len(spots))]
            with contextlib.suppress(KeyError, IndexError):
                where[key] = other[its]
    try:
        text = json.dumps(tree)
    except (ValueError, RecursionError):  # nested in itself
        return content
    if rng.random() < 0.02:
        text = text.replace("[", "[" * DEEP, 1)
    return text.encode()


def places(tree):
    """Every place in a tree: its container and its key."""
    for key, value in list(tree.items() if isinstance(tree, dict) else enumerate(tree)):
        yield tree, key
        if isinstance(value, (dict, list)):
            yield from places(value)


def damage(rng, content):
    """Bytes overwritten, cut out, doubled or cut off."""
    data = bytearray(content)
    at, size = int(rng.integers(len(data))), int(rng.integers(1, 40))
    how = rng.integers(4)
    if how == 0:
        data[at] ^= int(rng.integers(1, 256))
    elif how == 1:
        del data[at : at + size]
    elif how == 2:
        data[at:at] = data[at : at + size]
    else:
        del data[at:]
    return bytes(data)


TREES = (".json", ".gltf", ".geojson")
BINARY = (".bsp", ".glb", "binary.ply", "binary.stl")


def changed(rng, name):
    """A sample file of a name, changed."""
    content = FILES[name]
    for packed, unpack, pack in ((".gz", gzip.decompress, gzip.compress), (".xz", lzma.decompress, lzma.compress)):
        if name.endswith(packed):
            return damage(rng, content) if rng.random() < 0.3 else pack(change_text(rng, unpack(content)))
    if rng.random() < 0.15:
        return damage(rng, content)
    if name.endswith(TREES) and rng.random() < 0.9:
        return change_tree(rng, content)
    return (change_words if name.endswith(BINARY) else change_text)(rng, content)


# --- what is built -------------------------------------------------------------------------------------------------


def build(name, file):
    """Load a file and build every map of it; raises what is no `WayfoldError`."""
    tries = []
    if name.endswith(".geojson"):
        tries += [lambda: Terrain.from_geojson(file, default=1.0), lambda: Terrain.from_geojson(file)]
        tries += [lambda: Terrain([(feature.polygon, 2.0) for feature in formats.load_geojson(file)])]
        tries += [lambda: cut(formats.load_geojson(file)), lambda: FloorPlan.from_geojson(file).decompose()]
    elif name.endswith(".map"):
        tries += [lambda: DenseGrid.from_movingai(file), lambda: SparseGrid.from_movingai(file)]
        tries += [lambda: FloorPlan.from_movingai(file).decompose("hertel-mehlhorn")]
    elif name.endswith(".3dmap"):
        tries += [lambda: VoxelWaypoints.from_voxels(formats.load_map3d(file).dense(1 << 20))]
    elif name.endswith("scen"):
        tries += [lambda: list(formats.load_scen(file))]
    else:
        tries += [lambda: walk(formats.load_mesh(file))]
    if not name.endswith("scen"):
        tries += [lambda: live(World.open(file, cache=False))]
    built = 0
    for attempt in tries:
        with contextlib.suppress(WayfoldError):
            ask(attempt())
            built += 1
    return "built" if built else "refused"


def cut(features):
    shapes = sorted((feature.polygon for feature in features), key=lambda shape: -shape.area)
    return FloorPlan(shapes[0], shapes[1:]).decompose()


def walk(mesh):
    """A navigation mesh and a sparse grid with cells as large as the mesh allows: large worlds are no error."""
    assert np.isfinite(mesh.normals).all()
    assert np.isfinite(mesh.areas).all()
    size = max(float((mesh.bounds[1] - mesh.bounds[0]).max()), 1e-6)
    agent = Agent(radius=size / 64, height=size / 32, climb=size / 64)
    with contextlib.suppress(WayfoldError):
        ask(SparseGrid.from_mesh(mesh, agent, cell=size / 64))
    return NavMesh.build(mesh, agent, cell_size=size / 64, cell_height=size / 128, workers=1)


def live(world):
    """Plan in a world with an agent of its size and with the usual one, block something in it, and plan again."""
    low, high = world.bounds
    assert np.isfinite(low).all()
    assert np.isfinite(high).all()
    size = max(float((high - low).max()), 1e-6)
    tries = [(Agent(), {})] if world.kind != "mesh" or size < 100 else []  # a large world takes its time
    if world.kind == "mesh":
        small = {"radius": size / 64, "height": size / 32, "climb": size / 64}
        tries += [
            (Agent(**small), {"cell_size": size / 64, "cell_height": size / 128}),
            (Agent(**small), {"map": "sparse-grid", "cell": size / 64}),
            (Agent(**small, motions=Motion.VOLUMETRIC), {"region_size": size / 2}),
            (Agent(**small, motions=Motion.SURFACE | Motion.ADHESIVE), {"region_size": size / 2}),
        ]
    elif world.kind == "terrain":
        tries += [(Agent(radius=size / 200), {}), (Agent(radius=0.0), {"graph": "dual"})]
    shape = Box(low + 0.4 * (high - low) - 0.01 * size, low + 0.5 * (high - low) + 0.01 * size)
    for agent, settings in tries:
        with contextlib.suppress(WayfoldError):
            use(world.planner(agent, **settings))
    with contextlib.suppress(WayfoldError):
        world.block(shape)
        world.set_cost(Box(low - 0.1 * size, low + 0.3 * (high - low)), 2.0)
        for planner in world.planners:
            with contextlib.suppress(WayfoldError):
                use(planner)
        world.unblock(shape)
    return world


def use(planner):
    """A few questions to a planner."""
    ends = planner.random_points(2, seed=1)
    assert np.isfinite(ends).all()
    path = planner.path(*ends)
    assert path.cost >= 0
    assert np.isfinite(path.points).all()
    low, high = planner.world.bounds
    sides = (high - low)[:2]
    if sides.min() > 1e-6 * sides.max():  # not where the map is a line to the last digits of its length
        assert path.found == planner.reachable(*ends)
    planner.nearest(ends.mean(axis=0))
    planner.explain()


def ask(made):
    """A few questions to a map."""
    if isinstance(made, Terrain):
        low, high = np.array(made.bounds[:2]), np.array(made.bounds[2:])
        path = made.path(low + 0.3 * (high - low), low + 0.7 * (high - low))
        assert path.cost >= 0
    elif isinstance(made, NavMesh):
        ends = made.graph.points
        path = made.path(ends[0], ends[-1])
        assert path.cost >= 0
    elif isinstance(made, (DenseGrid, SparseGrid)):
        cells = made.cells if isinstance(made, SparseGrid) else np.argwhere(made.kinds)[:, ::-1]
        if len(cells):
            assert made.path(cells[0], cells[-1]).cost >= 0
    elif hasattr(made, "centres") and len(made.centres):
        assert made.path(made.centres[0], made.centres[-1]).cost >= 0
        assert shapely.is_valid(made.plan.free)


def main(first, count, folder):
    """Run cases, each within limits; prints those that end as they must not, and ends with status 1 then."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    folder = Path(folder)
    names = sorted(FILES)
    for name in names:  # compiles what the cases need, without limits
        (folder / name).write_bytes(FILES[name])
        build(name, folder / name)

    def make(seed):
        rng = np.random.default_rng(seed)
        name = names[seed % len(names)] if seed % 3 else "overlaps.geojson"
        file = folder / f"changed-{name}"
        file.write_bytes(changed(rng, name))
        return name, (name, file)

    each_case(folder, first, count, make, build)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
