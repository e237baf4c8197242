"""Meshes as sets of cells: every cell of a cubic lattice that a triangle touches, and no others."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks
from wayfold.core.batches import run_chunks
from wayfold.core.locks import Portable
from wayfold.errors import ParameterError
from wayfold.geometry import voxel_kernels
from wayfold.geometry.mesh import Mesh

Cells = NDArray[np.int32]

_MOST_ENTRIES = 2**28  # cells, counted for each triangle that touches them; 16 bytes each while they are sorted
_MOST_INDEX = 2**31 - 2
_SLACK = 4e-15  # of the largest cell number; several times what rounding can do to a coordinate in cells


@checks.checked
class Voxels(Portable):
    """A sparse set of cubic cells, as `voxelise` makes it.

    Cell (x, y, z) is the closed box from ``origin + cell * (x, y, z)``, one cell wide.

    Parameters
    ----------
    cells : (k, 3) int32
        The cells, unique, sorted by x, then y, then z. At least one; numbers may be negative.
    origin : (3,) float64, metres
        Low corner of cell (0, 0, 0).
    cell : float, metres, > 0
        Width of a cell.

    Attributes
    ----------
    low : (3,) int64
        Lowest cell number along each axis.
    shape : (3,) tuple of int
        Number of cells along each axis from the lowest to the highest.

    Examples
    --------
    >>> slab = Mesh([(0, 0, 0), (3, 0, 0), (3, 2, 0), (0, 2, 0)], [(0, 1, 2), (0, 2, 3)])
    >>> cells = voxelise(slab, 1.0, origin=(0, 0, -0.5))
    >>> cells
    <Voxels: 20 cells of 1 m in 5 x 4 x 1>
    >>> cells.cells[:2].tolist(), cells.low.tolist()
    ([[-1, -1, 0], [-1, 0, 0]], [-1, -1, 0])
    """

    def __init__(self, cells: Cells, origin: NDArray[np.float64], cell: float) -> None:
        self.cells = cells
        self.origin = origin
        self.cell = cell
        columns = [cells[:, d] for d in range(3)]  # one by one: numpy is ten times slower on all three at once
        self.low = np.array([column.min() for column in columns], np.int64)
        x, y, z = (int(column.max()) - int(low) + 1 for column, low in zip(columns, self.low, strict=True))
        self.shape = (x, y, z)

    @property
    def nbytes(self) -> int:
        """Bytes held by the cells."""
        return self.cells.nbytes

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        return f"<Voxels: {len(self)} cells of {self.cell:g} m in {' x '.join(map(str, self.shape))}>"

    def dense(self, *, limit: int = 2**30) -> NDArray[np.bool_]:
        """Return all cells from the lowest to the highest as one bool array.

        Parameters
        ----------
        limit : int, bytes, >= 1
            Largest array to make.

        Returns
        -------
        array of shape `shape`
            Entry ``[c - low]`` says whether cell c is marked.

        Raises
        ------
        ParameterError
            When it would be larger than `limit`.

        Examples
        --------
        >>> ramp = Mesh([(0, 0, 0), (3, 0, 3), (3, 1, 3), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> voxelise(ramp, 1.0).dense().any(axis=1).astype(int).tolist()  # from the side
        [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]
        """
        limit = checks.whole(limit, "limit", low=1)
        size = self.shape[0] * self.shape[1] * self.shape[2]
        if size > limit:
            raise ParameterError(
                f"a dense array of {' x '.join(map(str, self.shape))} cells has {size} bytes, more than the limit of"
                f" {limit}; use larger cells, the sparse cells, or a higher limit"
            )
        filled = np.zeros(self.shape, np.bool_)
        filled[tuple((self.cells - self.low).T)] = True
        return filled

    @cached_property
    def _codes(self) -> NDArray[np.int64]:
        """One ascending number for each cell."""
        return _encode(self.cells - self.low, self.shape)

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Return whether the cell of each point is marked; a point on a face is in the cell above it.

        Parameters
        ----------
        points : (q, 3) array_like, metres
            Anywhere; outside all cells nothing is marked.

        Returns
        -------
        (q,) bool

        Examples
        --------
        >>> slab = Mesh([(0, 0, 0), (3, 0, 0), (3, 2, 0), (0, 2, 0)], [(0, 1, 2), (0, 2, 3)])
        >>> voxelise(slab, 0.5).contains([(1, 1, 0), (1, 1, 0.2), (1, 1, 0.3), (9, 9, 9)]).tolist()
        [True, True, False, False]
        """
        places = np.floor((checks.points3(points, largest=np.inf) - self.origin) / self.cell) - self.low
        inside = ((places >= 0) & (places < self.shape)).all(axis=1)
        codes = _encode(places[inside].astype(np.int64), self.shape)
        slots = np.minimum(np.searchsorted(self._codes, codes), len(self) - 1)
        marked = np.zeros(len(places), np.bool_)
        marked[inside] = self._codes[slots] == codes
        return marked


@checks.checked
def voxelise(mesh: Mesh, cell: float, *, origin: ArrayLike | None = None, workers: int | None = None) -> Voxels:
    """Return every cell whose closed box touches a triangle: conservative, so nothing slips through.

    Parameters
    ----------
    mesh : Mesh
        What to fill; its surface only, not what it encloses.
    cell : float, metres, > 0
        Width of the cells; on large surfaces half of it marks about four times as many.
    origin : (3,) array_like, metres, optional
        A corner of the lattice, the low corner of cell (0, 0, 0). The default is half a cell below the mesh, so that
        numbers start at 0 and flat floors at the very bottom lie inside cells and not on the faces between two.
    workers : int, >= 1, optional
        Threads.

    Returns
    -------
    Voxels
        A triangle in a face between two cells marks both. Where rounding could go either way a cell is marked.

    Raises
    ------
    ParameterError
        When the cells are so small that their numbers or the memory for them (4 GiB while sorting) would run over.

    Notes
    -----
    Memory is 16 bytes for each triangle and for each cell that a triangle touches, however large the box around them.

    Examples
    --------
    >>> slab = Mesh([(0, 0, 0), (3, 0, 0), (3, 2, 0), (0, 2, 0)], [(0, 1, 2), (0, 2, 3)])
    >>> voxelise(slab, 1.0), len(voxelise(slab, 0.5))
    (<Voxels: 12 cells of 1 m in 4 x 3 x 1>, 35)
    >>> voxelise(slab, 1.0, origin=(0, 0, 0)).shape  # the floor lies in the faces between two layers
    (5, 4, 2)
    """
    width = checks.number(cell, "cell", low=0.0, open_low=True)
    corner = mesh.bounds[0] - 0.5 * width if origin is None else checks.point3(origin, "origin")
    with np.errstate(over="ignore"):
        extent = (mesh.bounds - corner) / width
    if not (np.abs(extent) < _MOST_INDEX).all():
        least = float(np.abs(mesh.bounds - corner).max()) / _MOST_INDEX
        raise ParameterError(f"cells of {width:g} m have numbers beyond 32 bits; use a cell of at least {least:.2g} m")
    slack = _SLACK * max(1.0, float(np.abs(extent).max()), float(np.abs(mesh.bounds).max()) / width)
    low = np.floor(extent[0]).astype(np.int64) - 2  # with room for slack and rounding
    shape = np.ceil(extent[1]).astype(np.int64) + 2 - low
    if float(shape.astype(np.float64).prod()) > 2.0**62:
        raise ParameterError(
            f"a lattice of {' x '.join(map(str, shape.tolist()))} cells is too large to number; use a cell above"
            f" {width:g} m"
        )
    corners = (mesh.corners - corner) / width
    # A plane cuts a cube in at most sqrt 2 of its face, and a line runs through a cell at each step of its main axis:
    # fewer cells than these cannot cover the mesh, so there is no need to count them one by one.
    _refuse_above_limit(float((mesh.areas / width).sum()) / (np.sqrt(2.0) * width), width)
    _refuse_above_limit(float((corners.max(axis=1) - corners.min(axis=1)).max(axis=1).sum()), width)
    counts = np.empty(len(corners), np.int64)
    offsets = np.zeros(len(corners) + 1, np.int64)
    codes = np.empty(0, np.int64)

    def work(first: int, last: int) -> None:
        voxel_kernels.touched_cells(corners, slack, low, shape, offsets, first, last, counts, codes)

    run_chunks(work, len(corners), workers=workers, chunk=4096)
    _refuse_above_limit(float(counts.sum()), width)
    np.cumsum(counts, out=offsets[1:])
    codes = np.empty(offsets[-1], np.int64)
    run_chunks(work, len(corners), workers=workers, chunk=4096)
    codes = voxel_kernels.sort_codes(codes, np.empty_like(codes), int(shape.prod()))
    cells = np.empty((1 + int(np.count_nonzero(codes[1:] != codes[:-1])), 3), np.int32)
    voxel_kernels.decode_cells(codes, low, shape, cells)
    return Voxels(cells, corner, width)


def _refuse_above_limit(entries: float, width: float) -> None:
    if entries > _MOST_ENTRIES:
        better = width * np.sqrt(entries / _MOST_ENTRIES)
        raise ParameterError(
            f"cells of {width:g} m would be touched {entries:.3g} times, more than {_MOST_ENTRIES:.3g};"
            f" use a cell of about {better:.2g} m or more, or cut the mesh into parts"
        )


def _encode(places: NDArray[np.int64], shape: tuple[int, int, int]) -> NDArray[np.int64]:
    """Row-major number of (k, 3) int64 places in an array of `shape`."""
    return np.asarray((places[:, 0] * shape[1] + places[:, 1]) * shape[2] + places[:, 2])
