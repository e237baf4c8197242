"""The real terrain of the weighted-regions benchmark: preparation, memory, and query times by number of triangles."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path as File
from typing import Any

import numpy as np

from benchmarks.harness import WrongAnswerError
from wayfold.geometry import Mesh
from wayfold.terrain import Terrain

Row = dict[str, Any]

TILE = File("terrain") / "honolulu_tile.npz"
GRAPHS = ("dual", "refined")

LAND_COVER = {
    "Airport": 1.5,
    "Asphalt": 1.0,
    "Canal": 20.0,
    "Cemetery": 2.5,
    "Dirt": 3.0,
    "Freeway": 1.0,
    "GolfCourse": 2.5,
    "Grassland": 3.0,
    "Industrial": 2.0,
    "Lake": np.inf,
    "MixedForest": 8.0,
    "Ocean": np.inf,
    "Railroad": 2.0,
    "Road": 1.2,
    "Sand": 4.0,
    "Scrub": 6.0,
    "Stream": 15.0,
    "Town": 2.0,
    "Urban": 2.0,
}
"""Weights of the land cover of the real terrain: what a walker may think of it."""


def scale(file: File, queries: int, progress: Callable[[str], None]) -> list[Row]:
    """The middle of the real terrain, ever more of it: preparation and query times."""
    rows = []
    for part in (0.125, 0.25, 0.5, 0.75, 1.0):
        progress(f"real terrain, {part:g} of each side")
        mesh = real_mesh(file, part)
        terrain, prepared = prepare(mesh)
        ends = random_ends(terrain, queries)
        row: Row = {
            "given": len(mesh),
            "with_area": int((mesh_areas(mesh) > 0).sum()),
            "triangles": terrain.num_triangles,
            "prepared_s": prepared,
        }
        for graph in GRAPHS:
            progress(f"real terrain, {terrain.num_triangles:,} triangles, {graph}")
            terrain.path(*ends[0], graph=graph)
            times, paths = [], []
            for pair in ends:
                begin = time.perf_counter()
                paths.append(terrain.path(*pair, graph=graph))
                times.append(time.perf_counter() - begin)
            row[f"{graph}_ms"] = float(np.mean(times)) * 1e3
            row[f"{graph}_most_ms"] = float(np.max(times)) * 1e3
            row[f"{graph}_cost"] = float(np.mean([checked(terrain, path) for path in paths if path]))
            row["found"] = sum(map(bool, paths))
        over = [path.cost / path.lower_bound - 1 for path in paths[:3] if path and path.lower_bound]
        row["bound_over"] = float(np.mean(over))
        rows.append(row)
    return rows


def checked(terrain: Terrain, path: Any) -> float:
    """The cost of a path, once it agrees with the integral along its line."""
    exact = terrain.cost(path.points)
    if not np.isclose(path.cost, exact, rtol=1e-9):
        raise WrongAnswerError(f"a path costs {path.cost!r}, the integral along it is {exact!r}")
    return float(path.cost)


def prepare(mesh: Mesh) -> tuple[Terrain, float]:
    """The terrain of a mesh, ready for queries with both graphs, and how many seconds that took."""
    begin = time.perf_counter()
    terrain = Terrain.from_mesh(mesh, {name: LAND_COVER[name] for name in mesh.material_names})
    for graph in GRAPHS:
        terrain._routes(graph, 0.0)
    return terrain, time.perf_counter() - begin


def alone(file: File) -> Row:
    """Preparation of the whole terrain in a process of its own: seconds and peak memory with one query of each kind."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.real_terrain", str(file)],
        check=True,
        capture_output=True,
        text=True,
    )
    found: Row = json.loads(done.stdout)
    return found


def _measure(file: str) -> Row:
    import resource

    terrain, seconds = prepare(real_mesh(File(file)))
    for graph in GRAPHS:
        terrain.path(*random_ends(terrain, 1)[0], graph=graph)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"triangles": terrain.num_triangles, "prepared_s": seconds, "peak_mb": peak}


def mesh_areas(mesh: Mesh) -> Any:
    """Areas of a mesh's triangles seen from above."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k], :2] for k in range(3))
    return np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2


def real_mesh(file: File, part: float = 1.0) -> Mesh:
    """The real terrain, or the middle of it: `part` of each side."""
    with np.load(file) as arrays:
        vertices, triangles = arrays["vertices"].astype(np.float64), arrays["triangles"]
        materials, names = arrays["material"], [str(name) for name in arrays["names"]]
    low, high = vertices[:, :2].min(axis=0), vertices[:, :2].max(axis=0)
    middle, half = (low + high) / 2, (high - low) / 2 * part
    centres = vertices[triangles].mean(axis=1)[:, :2]
    inside = (np.abs(centres - middle) <= half).all(axis=1)
    return Mesh(vertices, triangles[inside], materials[inside], names)


def random_ends(terrain: Terrain, count: int, seed: int = 1) -> list[Any]:
    """Starts and goals across a terrain that do not lie in obstacles."""
    rng = np.random.default_rng(seed)
    ends: list[Any] = []
    while len(ends) < count:
        pair = rng.uniform(terrain.bounds[:2], terrain.bounds[2:], (2, 2))
        places = terrain.locate(pair)
        if (places >= 0).all() and np.isfinite(terrain.triangle_weights[places]).all():
            ends.append(pair)
    return ends


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1])))
