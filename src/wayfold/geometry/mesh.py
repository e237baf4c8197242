"""Triangle meshes: what every map is built from. z is up, units are metres unless a file says otherwise."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.core.locks import Portable
from wayfold.errors import GeometryError

MOST_MATERIALS = 1 << 16
"""Materials that a mesh may number; what looks them up has an entry for each."""


@checks.checked
class Mesh(Portable):
    """Triangles in space: what maps are built from. Its arrays must not be changed.

    Parameters
    ----------
    vertices : (n, 3) array_like, metres
        Coordinates within 1e12 of 0, z up.
    triangles : (m, 3) array_like of int
        Vertex numbers, counter-clockwise seen from outside. At least one.
    materials : (m,) array_like of int, optional
        A material number for each triangle, from 0 to 65,535.
    material_names : sequence of str, optional
        Names of the materials 0, 1, 2, ... such as "water"; worlds close them and set their costs by name.

    Raises
    ------
    GeometryError
        When a coordinate is not finite or too large, a triangle names a vertex that is not there, a material has a
        number out of range, or there is nothing.

    Examples
    --------
    >>> tent = Mesh([(0, 0, 0), (4, 0, 0), (2, 3, 2), (2, -3, 2)], [(0, 1, 2), (1, 0, 3)], [0, 1], ["cloth", "net"])
    >>> tent
    <Mesh: 2 triangles, 4 x 6 x 2 m>
    >>> tent.areas.round(3).tolist(), tent.bounds.tolist()
    ([7.211, 7.211], [[0.0, -3.0, 0.0], [4.0, 3.0, 2.0]])
    """

    def __init__(
        self,
        vertices: ArrayLike,
        triangles: ArrayLike,
        materials: ArrayLike | None = None,
        material_names: tuple[str, ...] | list[str] = (),
    ) -> None:
        self.vertices: NDArray[np.float64] = checks.points3(vertices, "vertices")
        corners = checks.numbers(triangles, "triangles", "whole vertex numbers of shape (m, 3)")
        if corners.ndim != 2 or corners.shape[1] != 3 or corners.size == 0:
            raise GeometryError(f"a mesh needs triangles of shape (m, 3), at least one, not {corners.shape}")
        if corners.dtype.kind not in "iu":
            raise GeometryError(f"triangles must be whole vertex numbers, not {corners.dtype}")
        if corners.min() < 0 or corners.max() >= len(self.vertices):
            wrong = int(np.argmax(((corners < 0) | (corners >= len(self.vertices))).any(axis=1)))
            raise GeometryError(
                f"triangle {wrong} names a vertex outside 0 to {len(self.vertices) - 1}: {corners[wrong].tolist()}"
            )
        self.triangles: NDArray[np.int32] = checks.clean(corners.astype(np.int32, copy=False))
        self.materials: NDArray[np.int32] | None = None
        if materials is not None:
            kinds = checks.numbers(materials, "materials")
            if kinds.shape != (len(corners),) or kinds.dtype.kind not in "iu":
                raise GeometryError(
                    f"materials must be one whole number for each of the {len(corners)} triangles, not {kinds.shape}"
                )
            if kinds.min() < 0 or kinds.max() >= MOST_MATERIALS:
                raise GeometryError(
                    f"materials are numbered from 0 to {MOST_MATERIALS - 1}, not from {kinds.min()} to {kinds.max()}"
                )
            self.materials = checks.clean(kinds.astype(np.int32, copy=False))
        self.material_names = tuple(checks.text(name, "a name in material_names") for name in material_names)

    @cached_property
    def bounds(self) -> NDArray[np.float64]:
        """Lowest and highest corner of the box around all used vertices, shape (2, 3)."""
        used = self.vertices[self.triangles.ravel()]
        return np.array([used.min(axis=0), used.max(axis=0)])

    @property
    def corners(self) -> NDArray[np.float64]:
        """Corner coordinates of every triangle, a new (m, 3, 3) array."""
        return self.vertices[self.triangles]

    @cached_property
    def normals(self) -> NDArray[np.float64]:
        """Unit normals, (m, 3); zero for triangles without area."""
        a, b, c = (self.vertices[self.triangles[:, k]] for k in range(3))
        normal = np.cross(b - a, c - a)
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        return np.asarray(np.divide(normal, length, out=np.zeros_like(normal), where=length > 0))

    @property
    def areas(self) -> NDArray[np.float64]:
        """Area of each triangle in square metres, (m,)."""
        a, b, c = (self.vertices[self.triangles[:, k]] for k in range(3))
        return np.asarray(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))

    @property
    def nbytes(self) -> int:
        """Bytes held by the mesh's own arrays."""
        materials = 0 if self.materials is None else self.materials.nbytes
        return self.vertices.nbytes + self.triangles.nbytes + materials

    def __len__(self) -> int:
        return len(self.triangles)

    def __repr__(self) -> str:
        size = self.bounds[1] - self.bounds[0]
        return f"<Mesh: {len(self)} triangles, {size[0]:.4g} x {size[1]:.4g} x {size[2]:.4g} m>"

    def without(self, *names: str) -> Mesh:
        """Return the mesh without the triangles of some materials, such as water.

        Parameters
        ----------
        *names : str
            Names of materials; unknown ones are ignored.

        Raises
        ------
        GeometryError
            When no triangle is left.

        Examples
        --------
        >>> tent = Mesh([(0, 0, 0), (4, 0, 0), (2, 3, 2), (2, -3, 2)], [(0, 1, 2), (1, 0, 3)], [0, 1], ["cloth", "net"])
        >>> tent.without("net", "rope").areas.round(3).tolist()
        [7.211]
        """
        for name in names:
            checks.text(name, "a name of a material")
        gone = [number for number, name in enumerate(self.material_names) if name in names]
        if self.materials is None or not gone:
            return self
        kept = ~np.isin(self.materials, gone)
        return Mesh(self.vertices, self.triangles[kept], self.materials[kept], self.material_names)

    @classmethod
    def concatenate(cls, meshes: list[Mesh] | tuple[Mesh, ...]) -> Mesh:
        """Return one mesh with the triangles of all of them, in order.

        Parameters
        ----------
        meshes : sequence of Mesh
            At least one. Materials are numbered anew by name; where a mesh has none, the result has none.

        Examples
        --------
        >>> tent = Mesh([(0, 0, 0), (4, 0, 0), (2, 3, 2), (2, -3, 2)], [(0, 1, 2), (1, 0, 3)], [0, 1], ["cloth", "net"])
        >>> camp = Mesh.concatenate([tent, Mesh(tent.vertices + [10, 0, 0], tent.triangles, [0, 0], ["net"])])
        >>> len(camp), camp.materials.tolist(), camp.material_names
        (4, [0, 1, 1, 1], ('cloth', 'net'))
        """
        for mesh in meshes:
            checks.instance(mesh, "each of meshes", Mesh)
        if not len(meshes):
            raise GeometryError("there is no mesh to concatenate")
        starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
        vertices = np.concatenate([mesh.vertices for mesh in meshes])
        triangles = np.concatenate([mesh.triangles + start for mesh, start in zip(meshes, starts, strict=False)])
        if any(mesh.materials is None for mesh in meshes):
            return cls(vertices, triangles)
        names: dict[str, int] = {}
        kinds = []
        for mesh in meshes:
            assert mesh.materials is not None
            count = int(mesh.materials.max()) + 1
            own = list(mesh.material_names) + [f"material {k}" for k in range(len(mesh.material_names), count)]
            renumber = np.array([names.setdefault(name, len(names)) for name in own], np.int32)
            kinds.append(renumber[mesh.materials])
        return cls(vertices, triangles, np.concatenate(kinds), tuple(names))
