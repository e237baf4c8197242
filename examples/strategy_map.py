"""Routes over a 0 A.D. map: land cover by texture, slopes dear, water and cliffs blocked; writes a picture.

python examples/strategy_map.py DATA_FOLDER/terrain/0ad/acropolis_bay_2p.npz map.png
"""

from __future__ import annotations

import sys

import numpy as np

from wayfold import Terrain
from wayfold.view import pictures
from wayfold.view.terrain import draw_terrain

TILE = 4.0  # metres
# The first word that a texture's name contains decides.
WEIGHTS = {"road": 1.0, "path": 1.0, "cliff": 12.0, "rock": 6.0, "forest": 4.0, "sand": 2.5, "dirt": 1.5, "grass": 2.0}


def weight_of(texture: str) -> float:
    return next((weight for word, weight in WEIGHTS.items() if word in texture), 2.0)


def main(file: str, out: str) -> None:
    with np.load(file) as world:
        heights, cover, water = world["height"], world["tex"], float(world["water"])
        weights = np.array([weight_of(str(name)) for name in world["names"]])
    # Textures of one weight are one kind of ground.
    kinds, number = np.unique(weights, return_inverse=True)
    terrain = Terrain.from_heights(
        heights, number[cover], kinds.tolist(), cell=TILE, steepest=50.0, water=water, slope_classes=3
    )
    print(terrain)
    rng = np.random.default_rng(0)
    for _ in range(100):
        ends = rng.uniform(terrain.bounds[:2], terrain.bounds[2:], (2, 2))
        if not np.isfinite(terrain.triangle_weights[terrain.locate(ends)]).all():
            continue
        paths = {graph: terrain.path(*ends, graph=graph) for graph in ("dual", "dual-extra", "refined")}
        if all(paths.values()) and paths["refined"].length > 400:
            break
    for graph, path in paths.items():
        print(f"{graph}: {path.length:.0f} m, cost {path.cost:.0f}")
    pictures.save(draw_terrain(terrain, paths), out)


if __name__ == "__main__":
    main(*sys.argv[1:3])
