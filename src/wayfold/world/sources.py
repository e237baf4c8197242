"""What a world is made of, and where it comes from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfold import formats
from wayfold.core import checks
from wayfold.core.locks import Portable
from wayfold.errors import FormatError, ParameterError
from wayfold.formats import Map3D, MovingAiMap, opening
from wayfold.geometry import Mesh
from wayfold.samples import Plan, Scene
from wayfold.terrain import Terrain
from wayfold.world.cache import fingerprint

File = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Source(Portable):
    """The geometry of a world; one of the four is there.

    Attributes
    ----------
    kind : "mesh", "cells", "voxels" or "terrain"
    """

    kind: str
    mesh: Mesh | None = None
    cells: NDArray[np.uint8] | None = None
    voxels: NDArray[np.bool_] | None = None
    terrain: Terrain | None = None

    @cached_property
    def content(self) -> str:
        """A digest of the geometry."""
        if self.mesh is not None:
            mesh = self.mesh
            names = np.array([",".join(mesh.material_names)])
            return fingerprint(mesh.vertices, mesh.triangles, mesh.materials, names)
        if self.terrain is not None:
            return fingerprint(self.terrain.vertices, self.terrain.triangles, self.terrain.triangle_weights)
        return fingerprint(self.cells, self.voxels)

    @cached_property
    def bounds(self) -> NDArray[np.float64]:
        """(2, 3) the box around it; cells and voxels have their middles at whole numbers."""
        if self.mesh is not None:
            return self.mesh.bounds
        if self.terrain is not None:
            x0, y0, x1, y1 = self.terrain.bounds
            return np.array([[x0, y0, 0.0], [x1, y1, 0.0]])
        if self.cells is not None:
            depth, width = self.cells.shape
            return np.array([[-0.5, -0.5, -0.5], [width - 0.5, depth - 0.5, 0.5]])
        assert self.voxels is not None
        return np.array([[-0.5] * 3, [side - 0.5 for side in self.voxels.shape]])


_GEOMETRIES = (Mesh, Terrain, Scene, Plan, MovingAiMap, Map3D)


def of(world: Any) -> Source:
    """A source from a mesh, a map, a sample or a terrain."""
    if isinstance(world, Mesh):
        return Source("mesh", mesh=world)
    if isinstance(world, Terrain):
        return Source("terrain", terrain=world)
    if isinstance(world, Scene):
        return Source("terrain", terrain=Terrain.from_scene(world))
    if isinstance(world, Plan):
        return (
            Source("mesh", mesh=world.mesh())
            if world.cells is None
            else Source("cells", cells=world.cells.astype(np.uint8))
        )
    if isinstance(world, MovingAiMap):
        return Source("cells", cells=world.kinds)
    if isinstance(world, Map3D):
        return Source("voxels", voxels=world.dense())
    raise ParameterError(
        f"a world is made of a Mesh, a MovingAI map (2D or 3D), a Terrain or a sample, not of a {type(world).__name__}"
    )


def read(file: File, up: Any, options: dict[str, Any]) -> Source:
    """A source from whatever `wayfold.open` reads, as long as it is a geometry."""
    if formats.sniff(file) == "geojson":
        if up is not None:
            raise ParameterError(f"up is for meshes: {os.fspath(file)} holds {formats.KINDS['geojson'].title}")
        return of(Terrain.from_geojson(file, **options))
    held = opening.open(file, up=up, **options)
    if not isinstance(held, _GEOMETRIES):
        raise FormatError(
            f"holds {checks.a_type(held)}, which is no geometry to make a world of: open the level that it was made "
            "from, or use wayfold.open",
            file,
        )
    return of(held)
