"""Off-road routing: the cheapest ways over ground that costs more in some places than in others.

Run it: ``python examples/off_road.py [picture.png [TERRAIN.npz]]``. The file is real terrain or a map of 0 A.D.
"""

import sys

import numpy as np
from scipy.ndimage import gaussian_filter

from wayfold import Mesh, Terrain
from wayfold.view import pictures, terrain

TEXTURES = {"road": 1.0, "path": 1.0, "cliff": 12.0, "rock": 6.0, "forest": 4.0, "sand": 2.5, "dirt": 1.5, "": 2.0}
LAND = {"Asphalt": 1.0, "Road": 1.2, "Scrub": 6.0, "MixedForest": 8.0, "Stream": 15.0, "Lake": np.inf, "Ocean": np.inf}


def made_up(size: int) -> Terrain:
    """Hills with forests on them and a winding road, `size` cells of 10 m along each side."""
    rng = np.random.default_rng(1)
    heights = 4.0 * size * gaussian_filter(rng.standard_normal((size + 1, size + 1)), size / 10)
    cover = (gaussian_filter(rng.standard_normal((size, size)), size / 16) > 0.0).astype(int)  # 0 meadow, 1 forest
    row, column = np.indices(cover.shape)
    cover[np.abs(row - size / 2 - size / 6 * np.sin(column * 7 / size)) < 1.2] = 2  # the road
    return Terrain.from_heights(heights, cover, [3.0, 8.0, 1.0], cell=10.0, steepest=35.0, slope_classes=3)


def from_file(file: str) -> Terrain:  # the first word that a texture's name contains decides its weight
    with np.load(file) as world:
        if "tex" not in world:
            mesh = Mesh(world["vertices"], world["triangles"], world["material"], list(map(str, world["names"])))
            return Terrain.from_mesh(mesh, {name: LAND.get(name, 2.5) for name in mesh.material_names})
        weights = [next(w for word, w in TEXTURES.items() if word in str(name)) for name in world["names"]]
        kinds, cover = np.unique(np.array(weights)[world["tex"]], return_inverse=True)  # textures of one weight are one
        options = {"cell": 4.0, "steepest": 50.0, "water": float(world["water"]), "slope_classes": 3}
        return Terrain.from_heights(world["height"], cover.reshape(world["tex"].shape), kinds.tolist(), **options)


def main(picture: str | None = None, file: str | None = None, *, size: int = 60) -> dict[str, float]:
    print(f"reading {file}" if file else "making hills, forests and a road")
    land = from_file(file) if file else made_up(size)
    low, high = np.split(np.array(land.bounds), 2)
    print(f"{land.num_triangles:,} triangles, {(high - low).round() / 1000} km")
    places = np.random.default_rng(0).uniform(low, high, (200, 2))
    places = places[np.isfinite(land.triangle_weights[land.locate(places)])]
    start = places[places.sum(axis=1).argmin()]
    far = places[np.argsort(-np.linalg.norm(places - start, axis=1))]
    goal = next(place for place in far if land.path(start, place, graph="dual"))  # the farthest within reach
    paths = {graph: land.path(start, goal, graph=graph) for graph in ("dual", "dual-extra", "refined")}
    for graph, path in paths.items():
        print(f"{graph:>10}: {path.length / 1000:.2f} km, as dear as {path.cost / 1000:.2f} km of road")
    if picture is not None:
        pictures.save(terrain.draw_terrain(land, paths), picture)
        print("drawn:", picture)
    return {graph: path.cost for graph, path in paths.items()}


if __name__ == "__main__":
    print(__doc__) if "-" in {word[:1] for word in sys.argv[1:]} else main(*sys.argv[1:3])
