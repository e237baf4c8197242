"""Street furniture: trees, lamp posts, balconies and roof plant, as many as the wanted number of triangles allows."""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray

from wayfold.samples._builder import lift
from wayfold.samples._city.site import Site

Array = NDArray[np.float64]

_TREE, _LAMP, _BALCONY, _PLANT = 32, 18, 10, 10
"""Triangles of one piece of each kind (a balcony has no back, a plant room no underside)."""
_FLOOR = 3.4


def furnish(site: Site, triangles: int) -> None:
    """Add details worth about `triangles` triangles: first trees and lamps, then roof plant, then balconies."""
    rng = site.rng
    trees = _some(rng, site.trees, int(0.45 * triangles) // _TREE)
    lamps = _some(rng, site.lamps, int(0.15 * triangles) // _LAMP)
    left = triangles - _plant_trees(site, trees) - _stand_lamps(site, lamps)
    left -= _roof_plant(site, left // 4 // _PLANT)
    _balconies(site, left // _BALCONY)


def _some(rng: np.random.Generator, places: list[Array], count: int) -> Array:
    """At most `count` of the places, in random order."""
    every = np.concatenate(places) if places else np.empty((0, 2))
    return np.asarray(every[rng.permutation(len(every))[: max(0, count)]])


def _plant_trees(site: Site, spots: Array) -> int:
    """Trees whose crowns begin above head height; returns the triangles used."""
    before, build = site.build.count, site.build
    foot = lift(spots, site.terrain.pavement)
    size = site.rng.uniform(0.8, 1.4, len(spots))
    trunk = 3.2 * size
    build.prisms(foot - [0, 0, 0.3], 0.18 * size, trunk + 0.3, 4, "trunk", taper=0.8)
    waist = foot + np.column_stack([np.zeros((len(spots), 2)), trunk + 1.0 * size])
    build.prisms(waist, 2.0 * size, 3.4 * size, 6, "tree", taper=0.0)
    # the lower half of the crown: the same pyramid, shallow and upside down
    around = np.arange(6) * (np.pi / 3)
    ring = np.column_stack([np.cos(around), np.sin(around), np.zeros(6)])
    rim = waist[:, None] + ring * (2.0 * size)[:, None, None]
    tip = np.broadcast_to((waist - np.array([0, 0, 1.0]) * size[:, None])[:, None], rim.shape)
    build.triangles(np.stack([rim, tip, np.roll(rim, -1, axis=1)], axis=2), "tree")
    return site.build.count - before


def _stand_lamps(site: Site, spots: Array) -> int:
    """Thin posts with a lantern on top."""
    before = site.build.count
    foot = lift(spots, site.terrain.pavement) - [0, 0, 0.2]
    site.build.prisms(foot, 0.1, 5.2, 3, "lamp")
    site.build.prisms(foot + np.array([0, 0, 5.2]), 0.35, 0.5, 3, "lamp", taper=0.5)
    return site.build.count - before


def _roof_plant(site: Site, count: int) -> int:
    """Boxes on flat roofs, well inside the parapet."""
    before, rng = site.build.count, site.rng
    if not site.roofs or count <= 0:
        return 0
    chosen = rng.integers(0, len(site.roofs), count)
    corner = np.array([site.roofs[k][0].min(axis=0) for k in chosen])
    span = np.array([site.roofs[k][0].max(axis=0) for k in chosen]) - corner
    size = rng.uniform(1.0, 3.0, (count, 3)) * [1, 1, 0.8]
    origin = corner + rng.uniform(0, 1, (count, 2)) * np.maximum(span - size[:, :2], 0.0)
    boxes = shapely.box(origin[:, 0], origin[:, 1], origin[:, 0] + size[:, 0], origin[:, 1] + size[:, 1])
    roofs = np.array([shapely.Polygon(ring) for ring, _ in site.roofs])
    good = shapely.contains(roofs[chosen], boxes)
    base = np.column_stack([origin, [site.roofs[k][1] for k in chosen]])[good]
    u, v, w = (np.where(np.arange(3) == axis, size[good], 0.0) for axis in range(3))
    site.build.boxes(base, u, v, w, "roof", skip="bottom")
    return site.build.count - before


def _balconies(site: Site, count: int) -> None:
    """Ledges on facades, at storeys above the first, from 3.4 m above the highest pavement on."""
    if not site.facades or count <= 0:
        return
    walls = np.concatenate(site.facades)
    length = np.hypot(walls[:, 2] - walls[:, 0], walls[:, 3] - walls[:, 1])
    foot = np.maximum(site.terrain.pavement(walls[:, :2]), site.terrain.pavement(walls[:, 2:4]))
    foot = np.maximum(foot, walls[:, 4])
    storeys = np.floor((walls[:, 5] - foot - 1.5) / _FLOOR).astype(int)
    bays = np.floor((length - 1.0) / 4.0).astype(int)
    places = np.maximum(storeys, 0) * np.maximum(bays, 0)
    total = int(places.sum())
    if total == 0:
        return
    pick = site.rng.permutation(total)[:count]
    ends = np.cumsum(places)
    wall = np.searchsorted(ends, pick, side="right")
    rest = pick - (ends - places)[wall]
    bay, storey = rest % bays[wall], rest // bays[wall] + 1
    ahead = (walls[wall, 2:4] - walls[wall, :2]) / length[wall, None]
    out = np.column_stack([ahead[:, 1], -ahead[:, 0]])
    middle = (bay + 0.5) * (length[wall] / bays[wall])
    corner = walls[wall, :2] + ahead * (middle - 1.2)[:, None] + out * 0.8
    origin = np.column_stack([corner, foot[wall] + storey * _FLOOR - 0.2])
    flat = np.zeros((len(pick), 1))
    along = np.column_stack([ahead * 2.4, flat])
    inward = np.column_stack([-out * 0.8, flat])
    up = np.tile([0.0, 0.0, 0.9], (len(pick), 1))
    a, b, c, d = origin, origin + along, origin + along + inward, origin + inward
    build = site.build
    build.quads(a, b, b + up, a + up, "balcony")
    build.quads(b, c, c + up, b + up, "balcony")
    build.quads(d, a, a + up, d + up, "balcony")
    build.quads(a + up, b + up, c + up, d + up, "balcony")
    build.quads(d, c, b, a, "balcony")
