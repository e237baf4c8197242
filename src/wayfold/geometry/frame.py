"""Where a world lies and how large it is: its local origin, the package's few tolerances, and points meant to be one.

Float64 keeps 16 digits of a coordinate. A world in metres of a national grid spends seven of them on where it lies, and
products of coordinates lose as many again. So maps keep coordinates relative to a `Frame` and give them back as they
came. Decisions about given points are exact (`predicate_kernels`); a tolerance is only for points that were computed,
is one of those below, and is relative to the extent of the world or to a length in it, never to where the world lies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfold.core import checks

ROUNDING = 2.0**-44
"""Of the extent: how far a computed point (a crossing, a foot of a perpendicular) may lie from the true one, 6e-14."""

_LAST_DIGITS = 2.0**-51
"""Of a coordinate: twice the rounding of a point as it is given."""

SAME_LENGTH = 1e-11
"""Relative difference of two lengths or costs that counts as none: the rounding of long sums."""

LARGEST = checks.LARGEST
"""Metres: the largest coordinate that readers and makers of maps accept, so that no square or product overflows."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A local origin and the extent of a world.

    Attributes
    ----------
    origin : (x, y, z)
        Whole metres, chosen axis by axis so that taking it away and adding it again gives every coordinate back as it
        was; 0 where the world lies around 0.
    extent : float
        Length of the longest side of the world's box, in metres.
    """

    origin: tuple[float, float, float]
    extent: float

    @classmethod
    def of(cls, points: ArrayLike) -> Frame:
        """Frame of a world with these points, (n, 2) or (n, 3); heights that are not given are 0."""
        array = np.asarray(points, dtype=np.float64)
        if not len(array):
            return cls((0.0, 0.0, 0.0), 0.0)
        low, high = array.min(axis=0), array.max(axis=0)
        origin = [_origin(array[:, axis], low[axis], high[axis]) for axis in range(array.shape[1])]
        origin += [0.0] * (3 - len(origin))
        return cls((origin[0], origin[1], origin[2]), float((high - low).max()))

    @property
    def rounding(self) -> float:
        """Metres by which a computed point may be off; see `ROUNDING`."""
        return ROUNDING * self.extent

    @property
    def digits(self) -> float:
        """Metres by which points may be off as they are given: their last digits, which far away are coarser."""
        return _LAST_DIGITS * (max(map(abs, self.origin)) + self.extent)

    @property
    def near(self) -> float:
        """Metres by which a point that is meant to be on a border may lie beside it."""
        return self.rounding + self.digits

    def local(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points of shape (..., 2) or (..., 3) relative to the origin; a new array."""
        return np.asarray(points - np.array(self.origin[: points.shape[-1]]))

    def world(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Local points as the user knows them; a new array."""
        return np.asarray(points + np.array(self.origin[: points.shape[-1]]))


def _origin(values: NDArray[np.float64], low: float, high: float) -> float:
    """Whole metres near the middle of `values` where that loses no digit of them, else 0."""
    middle = float(np.rint(low + 0.5 * (high - low)))
    # Around 0 nothing is gained, and small numbers would lose digits.
    if low <= 0.0 <= high or not np.isfinite(middle):
        return 0.0
    return middle if bool(((values - middle) + middle == values).all()) else 0.0


def same_points(points: NDArray[np.float64], near: float) -> NDArray[np.float64]:
    """Points (n, d), with the first of those that are at most `near` metres apart, also by way of others, for each."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    if not len(points):
        return points
    pairs = cKDTree(points).query_pairs(near, output_type="ndarray")
    if not len(pairs):
        return points
    links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(points), len(points)))
    _, labels = connected_components(links, directed=False)
    _, first = np.unique(labels, return_index=True)
    return np.asarray(points[first[labels]])
