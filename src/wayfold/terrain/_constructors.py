"""The constructors of `Terrain` from scenes, files, rasters and meshes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.errors import ParameterError
from wayfold.geometry import Mesh
from wayfold.terrain import _sources
from wayfold.terrain.ground import Array, Ground

if TYPE_CHECKING:
    from wayfold.samples import Scene


@checks.checked
class FromSources:
    """What `Terrain` can be made from besides regions."""

    def __init__(
        self,
        regions: Iterable[Sequence[Any]],
        *,
        default: float | None = None,
        bounds: Sequence[float] | None = None,
    ) -> None:
        raise NotImplementedError

    @classmethod
    def _from_ground(cls, ground: Ground, kinds: NDArray[np.int32], names: tuple[str, ...], weights: Array) -> Self:
        raise NotImplementedError

    @classmethod
    def from_scene(cls, scene: Scene) -> Self:
        """The terrain of a `samples.Scene`: scene1, forest or zigzag."""
        return cls(scene.regions, default=scene.default, bounds=scene.bounds)

    @classmethod
    def from_geojson(
        cls,
        file: str | os.PathLike[str],
        *,
        weight: str = "weight",
        name: str = "name",
        weights: Mapping[str, float] | None = None,
        default: float | None = None,
        bounds: Sequence[float] | None = None,
    ) -> Self:
        """Read polygons from a GeoJSON file, in the order of the file.

        Parameters
        ----------
        file : path
        weight, name : str
            Properties with the weight (a number, or null for an obstacle) and the name of a region.
        weights : mapping of name to weight, optional
            Weights by name, for features without a weight of their own.
        default, bounds
            As for `Terrain`.
        """
        return cls(_sources.geojson_regions(file, weight, name, weights or {}), default=default, bounds=bounds)

    @classmethod
    def from_raster(
        cls,
        weights: ArrayLike,
        *,
        cell: float = 1.0,
        origin: tuple[float, float] = (0.0, 0.0),
        names: Mapping[float, str] | None = None,
    ) -> Self:
        """A terrain from an array of weights, one for each square cell.

        Parameters
        ----------
        weights : (rows, columns) array_like, > 0
            Infinity is an obstacle. Cell (row, column) covers x from ``column * cell`` and y from ``row * cell`` on.
        cell : float, metres, 1e-9 to 1e12
            Side of a cell.
        origin : (x, y), metres
            Corner of cell (0, 0).
        names : mapping of weight to name, optional
            Names for `with_weights`; by default the weight itself.
        """
        array = _sources.check_raster(weights)
        values, kinds = np.unique(array, return_inverse=True)
        labels = tuple(
            checks.text((names or {}).get(float(value), f"{value:g}"), "a name in names") for value in values
        )
        return cls._from_cells(kinds.reshape(array.shape), labels, values, cell, origin)

    @classmethod
    def from_movingai(cls, file: str | os.PathLike[str], weights: Mapping[str, float] | None = None) -> Self:
        """A terrain from a MovingAI map; x is the column and y the row, each cell one unit.

        Parameters
        ----------
        file : path
            A `.map` file, plain or with letters for kinds of terrain.
        weights : mapping of one-letter names to weights, optional
            In a map with kinds of terrain A weighs 1, B 2, and so on by default; ``T`` and ``@`` are obstacles. In a
            plain map ``. G S`` weigh 1, ``W`` (water) 4, and the rest are obstacles.
        """
        cells, labels, values = _sources.movingai_cells(file, weights or {})
        return cls._from_cells(cells, labels, values, 1.0, (0.0, 0.0))

    @classmethod
    def from_heights(
        cls,
        heights: ArrayLike,
        cover: ArrayLike,
        weights: Mapping[int, float] | Sequence[float],
        *,
        cell: float = 1.0,
        origin: tuple[float, float] = (0.0, 0.0),
        names: Sequence[str] | None = None,
        steepest: float = 60.0,
        water: float | None = None,
        slope_classes: int = 6,
    ) -> Self:
        """A terrain from a height map and the land cover of its cells.

        Parameters
        ----------
        heights : (rows + 1, columns + 1) array_like, metres
            Heights of the cells' corners.
        cover : (rows, columns) array_like of int, >= 0
            Land cover of each cell.
        weights : mapping or sequence
            Weight of each land cover on level ground.
        cell, origin
            As for `from_raster`.
        names : sequence of str, optional
            Names of the land covers.
        steepest : float, degrees, 0 to 90
            Cells that are steeper are obstacles.
        water : float, metres, optional
            Cells that lie below this height in the middle are obstacles.
        slope_classes : int, 1 to 32
            Slopes are told apart in this many steps. A cell's weight is that of its cover times the length of the
            steepest line on it by the length of that line on the map.
        """
        cells, labels, values = _sources.height_cells(
            heights, cover, weights, cell, names, steepest, water, slope_classes
        )
        return cls._from_cells(cells, labels, values, cell, origin)

    @classmethod
    def from_mesh(cls, mesh: Mesh, weights: Mapping[str, float] | Sequence[float], *, default: float = 1.0) -> Self:
        """A terrain from a triangle mesh seen from above, with a weight for each material.

        Parameters
        ----------
        mesh : Mesh
            With materials. Triangles without area seen from above are left out; where triangles overlap the last wins.
        weights : mapping of material name to weight, or sequence by material number
        default : float, > 0
            Weight of materials that `weights` does not name.
        """
        shapes, kinds, names, values = _sources.mesh_regions(mesh, weights, default)
        ground, owners = _sources.painted_ground(shapes, None)
        return cls._from_ground(ground, kinds[owners].astype(np.int32), names, values)

    @classmethod
    def _from_cells(
        cls, cells: NDArray[Any], names: tuple[str, ...], weights: Array, cell: float, origin: tuple[float, float]
    ) -> Self:
        side = checks.number(cell, "cell", low=checks.SMALLEST, high=checks.LARGEST)
        corner = checks.floats(origin, "origin", "(x, y)")
        if corner.shape != (2,):
            raise ParameterError(f"origin must be (x, y), not {checks.shown(origin)}")
        checks.finite(corner, "origin", np.inf)
        ground, kinds = _sources.triangulate_cells(cells, side, (float(corner[0]), float(corner[1])))
        return cls._from_ground(ground, kinds, names, weights)
