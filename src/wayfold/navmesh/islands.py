"""Which connected islands of a tiled world stay (paper 002, section III.A: unreachable ones are removed).

An *islet* is a connected part of one tile. Islets and the joints between them at tile borders are far fewer than
polygons, and those of a tile change only with the tile: so components are found again in no time after a rebuild.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfold.errors import OffMapError
from wayfold.navmesh import _ground_kernels
from wayfold.navmesh.joining import POLYGONS, Joined
from wayfold.navmesh.layout import Layout, join
from wayfold.navmesh.settings import Settings
from wayfold.navmesh.splicing import Splice

Keep = str | NDArray[np.float64]
ISLETS, JOINTS = 1, 2


class Islets(NamedTuple):
    """The islets of a world, kept or not, numbered by their lowest polygons."""

    islet: NDArray[np.int32]
    """(p,) of each polygon that the tiles have."""
    areas: NDArray[np.float64]
    """(i,) square metres."""
    joints: NDArray[np.int32]
    """(j, 2) islets on both sides of a border between tiles, the lower first, in ascending order of these."""
    bounds: NDArray[np.int64]
    """(tiles + 1, 3): first polygon, islet and joint of each tile."""

    @property
    def components(self) -> NDArray[np.int32]:
        """The component of each islet, numbered by their lowest islets."""
        ends = np.cumsum(np.bincount(self.joints[:, 0], minlength=len(self.areas)))
        return join(np.append(np.zeros(1, np.int64), ends), np.ascontiguousarray(self.joints[:, 1]))

    def spliced(self, splice: Splice, fresh: Islets) -> Islets:
        """The islets after some tiles were changed."""
        return Islets(
            splice.numbers(POLYGONS, ISLETS, self.islet, fresh.islet),
            splice.plain(ISLETS, self.areas, fresh.areas),
            splice.numbers(JOINTS, ISLETS, self.joints, fresh.joints),
            splice.new,
        )


def find_islets(joined: Joined, areas: NDArray[np.float64]) -> Islets:
    """The islets of a mesh of tiles; `areas` (p,) are those of its polygons."""
    ground, first = joined.ground, joined.bounds[:, POLYGONS]
    tile = np.repeat(np.arange(len(first) - 1), np.diff(first))
    owners = np.repeat(np.arange(len(tile)), np.diff(ground.offsets))
    ahead = ground.neighbours
    across = (ahead >= 0) & (tile[ahead] != tile[owners]) if len(tile) else np.zeros(0, np.bool_)
    islet = join(ground.offsets, np.where(across, -1, ahead).astype(np.int32))
    edges = np.flatnonzero(across & (tile[ahead] > tile[owners])) if len(tile) else np.zeros(0, np.int64)
    joints = np.column_stack([islet[owners[edges]], islet[ahead[edges]]])
    joints = np.ascontiguousarray(joints[np.argsort(joints[:, 0], kind="stable")])
    count = int(islet.max(initial=-1)) + 1
    # Islets are numbered by their lowest polygons, so tile by tile too.
    islets = np.append(0, np.maximum.accumulate(islet) + 1)[first]
    bounds = np.column_stack([first, islets, np.searchsorted(joints[:, 0], islets)])
    sizes = np.asarray(np.bincount(islet, weights=areas, minlength=count), np.float64)
    return Islets(islet, sizes, joints, bounds)


def stay(
    components: NDArray[np.int32], islets: Islets, settings: Settings, keep: Keep, mesh: Layout
) -> NDArray[np.bool_]:
    """Which components stay: those that are large enough; of these all, the largest, or the ones with seeds.

    `mesh` has the polygons of all tiles; only seeds are looked up on it.
    """
    assert settings.min_region is not None
    sizes = np.bincount(components, weights=islets.areas)
    large = sizes >= 0.999 * settings.min_region
    if isinstance(keep, str):
        if keep == "largest" and len(sizes):
            large &= np.arange(len(sizes)) == np.argmax(sizes)
        return np.asarray(large)
    found = np.empty(len(keep), np.int32)
    _ground_kernels.locate(
        mesh.ground, mesh.cells, np.empty(0, np.uint8), mesh.frame.local(keep), mesh.near, 1.0, np.inf, False, 0,
        len(keep), found, np.empty((len(keep), 3)),
    )  # fmt: skip
    if (found < 0).any():
        seed = keep[int(np.argmax(found < 0))]
        raise OffMapError(
            f"the seed ({seed[0]:g}, {seed[1]:g}, {seed[2]:g}) is more than 1 m away from walkable ground"
        )
    seeded = np.zeros(len(sizes), np.bool_)
    seeded[components[islets.islet[found]]] = True
    return np.asarray(large & seeded)
