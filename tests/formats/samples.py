"""Small valid files of every format, as bytes, made here and not by the package."""

from __future__ import annotations

import base64
import gzip
import json
import lzma
import struct

CUBE_POINTS = [(x, y, z) for x in (0, 2) for y in (0, 3) for z in (0, 5)]
CUBE_QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
CUBE_TRIANGLES = [t for a, b, c, d in CUBE_QUADS for t in ((a, b, c), (a, c, d))]


def _words(numbers) -> str:
    return " ".join(map(str, numbers))


def obj() -> bytes:
    text = "# a box\nmtllib none.mtl\n"
    text += "".join(f"v {x} {y} {z}.0\n" for x, y, z in CUBE_POINTS) + "vn 0 0 1\n"
    text += "usemtl stone\n" + "".join("f " + " ".join(f"{k + 1}/1/1" for k in quad) + "\n" for quad in CUBE_QUADS[:3])
    return (text + "usemtl grass\n" + "".join(f"f {_words(k - 8 for k in q)}\n" for q in CUBE_QUADS[3:])).encode()


def ply_text() -> bytes:
    text = "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n"
    text += "element face 6\nproperty list uchar int vertex_indices\nend_header\n"
    text += "".join(f"{_words(p)}\n" for p in CUBE_POINTS) + "".join(f"4 {_words(q)}\n" for q in CUBE_QUADS)
    return text.encode()


def ply_binary() -> bytes:
    text = b"ply\nformat binary_little_endian 1.0\nelement vertex 8\nproperty float x\nproperty float y\n"
    text += b"property float z\nelement face 12\nproperty list uchar int vertex_indices\nend_header\n"
    text += b"".join(struct.pack("<3f", *p) for p in CUBE_POINTS)
    return text + b"".join(struct.pack("<B3i", 3, *t) for t in CUBE_TRIANGLES)


def stl_binary() -> bytes:
    facets = [struct.pack("<12fH", 0, 0, 0, *(c for k in t for c in CUBE_POINTS[k]), 0) for t in CUBE_TRIANGLES]
    return bytes(80) + struct.pack("<I", len(facets)) + b"".join(facets)


def stl_text() -> bytes:
    text = "solid box\n"
    for triangle in CUBE_TRIANGLES:
        corners = "".join(f"vertex {_words(CUBE_POINTS[k])}\n" for k in triangle)
        text += f"facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet\n"
    return (text + "endsolid box\n").encode()


def _gltf_tree() -> tuple[dict, bytes]:
    points = b"".join(struct.pack("<3f", *p) for p in CUBE_POINTS)
    corners = b"".join(struct.pack("<3H", *t) for t in CUBE_TRIANGLES)
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [{"mesh": 0, "name": "here"}, {"mesh": 0, "name": "there", "translation": [10, 0, 0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
        "materials": [{"name": "stone"}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3", "min": [0, 0, 0], "max": [2, 3, 5]},
            {"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": len(points)},
            {"buffer": 0, "byteOffset": len(points), "byteLength": len(corners)},
        ],
        "buffers": [{"byteLength": len(points) + len(corners)}],
    }
    return tree, points + corners


def glb() -> bytes:
    tree, body = _gltf_tree()
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    total = 12 + 8 + len(text) + 8 + len(body)
    head = struct.pack("<4sII", b"glTF", 2, total) + struct.pack("<I4s", len(text), b"JSON") + text
    return head + struct.pack("<I4s", len(body), b"BIN\0") + body


def gltf(claim: int | None = None) -> bytes:
    tree, body = _gltf_tree()
    tree["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(body).decode()
    if claim is not None:
        tree["accessors"][0] = {"componentType": 5126, "count": claim, "type": "VEC3"}
    return json.dumps(tree).encode()


def cityjson() -> bytes:
    """A floor 10 x 10 m with a hole of 2 x 2 m, and a box with a roof, at 84,000 / 447,000 m."""
    square = [[0, 0, 0], [10000, 0, 0], [10000, 10000, 0], [0, 10000, 0]]
    hole = [[4000, 4000, 0], [4000, 6000, 0], [6000, 6000, 0], [6000, 4000, 0]]
    box = [[20000 + x * 1000, y * 1000, z * 1000] for x, y, z in CUBE_POINTS]
    quads = [[[8 + k for k in quad]] for quad in CUBE_QUADS]
    semantics = {"surfaces": [{"type": "WallSurface"}, {"type": "RoofSurface"}], "values": [[0, 0, 0, 0, None, 1]]}
    tree = {
        "type": "CityJSON",
        "version": "2.0",
        "transform": {"scale": [0.001] * 3, "translate": [84000.25, 447000.5, -1.0]},
        "vertices": square + hole + box,
        "CityObjects": {
            "floor": {
                "type": "Road",
                "geometry": [{"type": "MultiSurface", "lod": "1", "boundaries": [[[0, 1, 2, 3], [4, 5, 6, 7]]]}],
            },
            "house": {
                "type": "Building",
                "geometry": [
                    {"type": "MultiSurface", "lod": "0", "boundaries": [[[8, 10, 14]]]},
                    {"type": "Solid", "lod": "1.2", "boundaries": [quads], "semantics": semantics},
                ],
            },
        },
    }
    return json.dumps(tree).encode()


def geojson() -> bytes:
    def square(x: float, size: float) -> list[list[float]]:
        return [[x, 0], [x + size, 0], [x + size, size], [x, size], [x, 0]]

    hole = [[1, 1], [1, 2], [2, 2], [2, 1], [1, 1]]
    shapes = [
        {"type": "Polygon", "coordinates": [square(0, 4), hole]},
        {"type": "MultiPolygon", "coordinates": [[square(10, 1)], [square(20, 2)]]},
        {"type": "GeometryCollection", "geometries": [{"type": "Point", "coordinates": [0, 0]}]},
        None,
    ]
    features = [{"type": "Feature", "properties": {"weight": k}, "geometry": s} for k, s in enumerate(shapes)]
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()


def bsp(entities: str | None = None, patch: tuple[int, int] = (3, 3)) -> bytes:
    """A level of one solid box (0..64, 0..64, -16..0), a clip box above it, a flat patch, and a door as model 1."""
    if entities is None:
        entities = (
            '{\n"classname" "worldspawn"\n}\n{\n"classname" "info_player_start"\n"origin" "32 16 24"\n"angle" "90"\n}\n'
        )
        entities += '{\n"classname" "func_door"\n"model" "*1"\n"origin" "200 0 0"\n}\n'
    boxes = [((0, 0, -16), (64, 64, 0)), ((0, 0, 100), (64, 64, 108)), ((0, 0, 0), (8, 8, 8))]
    planes, sides, brushes = b"", b"", b""
    for number, (low, high) in enumerate(boxes):
        for axis in range(3):
            for sign, value in ((1, high[axis]), (-1, -low[axis])):
                normal = [0.0, 0.0, 0.0]
                normal[axis] = sign
                sides += struct.pack("<2i", len(planes) // 16, 0)
                planes += struct.pack("<4f", *normal, value)
        brushes += struct.pack("<3i", 6 * number, 6, (0, 1, 0)[number])
    textures = b"".join(struct.pack("<64s2i", n, 0, c) for n, c in ((b"stone", 1), (b"clip", 0x10000), (b"fog", 64)))
    vertices = b"".join(
        struct.pack("<3f4f3f4B", 16 * x, 16 * y, 50, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0)
        for y in range(3)
        for x in range(3)
    )
    face = struct.pack("<5i19i2i", 0, -1, 2, 0, 9, *[0] * 19, *patch)
    models = struct.pack("<6f4i", *[0] * 6, 0, 1, 0, 2) + struct.pack("<6f4i", *[0] * 6, 1, 0, 2, 1)
    lumps = {
        0: entities.encode() + b"\0",
        1: textures,
        2: planes,
        7: models,
        8: brushes,
        9: sides,
        10: vertices,
        13: face,
    }
    header, body = b"IBSP" + struct.pack("<i", 46), b""
    for number in range(17):
        lump = lumps.get(number, b"")
        header += struct.pack("<2i", 144 + len(body), len(lump))
        body += lump + bytes(-len(lump) % 4)
    return header + body


MAP = b"type octile\nheight 3\nwidth 5\nmap\n.GS@.\nTOW.W\n.....\n"
SCEN = b"version 1\n0\tarena.map\t5\t3\t0\t0\t4\t2\t5.65685\n\n3 maps/b.map 5 3 4 0 0 0 7.5\r\n"
MAP3D = b"voxel 4 5 6\n0 0 0\n3 4 5\n1 2 3\n"
SCEN3D = b"version 1\nbox.3dmap\n0 1 2 3 4 5 5.19615242 1.0\n3 3 3 3 3 4 1 1.5\n"

FILES = {
    "a.map": MAP,
    "a.scen": SCEN,
    "a.3dmap": MAP3D,
    "a.3dscen": SCEN3D,
    "a.obj": obj(),
    "a.obj.gz": gzip.compress(obj(), mtime=0),
    "a.obj.xz": lzma.compress(obj()),
    "text.ply": ply_text(),
    "binary.ply": ply_binary(),
    "text.stl": stl_text(),
    "binary.stl": stl_binary(),
    "a.glb": glb(),
    "a.gltf": gltf(),
    "a.city.json": cityjson(),
    "a.geojson": geojson(),
    "a.bsp": bsp(),
}
"""One valid file of each format."""
