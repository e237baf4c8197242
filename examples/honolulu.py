"""Routes over the real terrain of Honolulu, weighted by its land cover; writes a picture.

python examples/honolulu.py DATA_FOLDER honolulu.png
"""

from __future__ import annotations

import sys
from pathlib import Path

from wayfold import Terrain
from wayfold.bench.real_terrain import LAND_COVER, random_ends, real_mesh
from wayfold.view import pictures
from wayfold.view.terrain import draw_terrain


def main(data: str, out: str) -> None:
    mesh = real_mesh(Path(data) / "terrain" / "honolulu_tile.npz")
    terrain = Terrain.from_mesh(mesh, LAND_COVER)
    start, goal = next(pair for pair in random_ends(terrain, 50) if terrain.path(*pair, graph="dual"))
    paths = {graph: terrain.path(start, goal, graph=graph) for graph in ("dual", "dual-extra", "refined")}
    for graph, path in paths.items():
        print(f"{graph}: {path.length / 1000:.2f} km, cost {path.cost:.0f}")
    pictures.save(draw_terrain(terrain, paths), out)


if __name__ == "__main__":
    main(*sys.argv[1:3])
